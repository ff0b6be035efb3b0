/* SPDX-License-Identifier: MIT */
/* Handling of Ctrl-C in two steps. The first signal sets a flag that the progress callback returns,
 * so that the library ends its call normally, drafts are removed where they were made, and results
 * are kept where a command keeps them. Some work has no callback (a benchmark, a call between two
 * reports, a write to a pipe without a reader), so the same signal starts a timer. When it expires,
 * the handler removes the tool's drafts and terminates the process, unless there are results to
 * keep. Handlers call async-signal-safe functions only, and work in the main thread: one that runs
 * in another thread (a driver's, say; the library's workers take no signals) passes the signal on.
 *
 * The flag is read by interrupt_seen alone. So a signal that comes at any moment has the effect of
 * one that comes at the next call of interrupt_seen, and tests that inject one at each of these
 * calls in turn (CAROM_INTERRUPT_AT) try every moment there is. */
#define _XOPEN_SOURCE 700
#include "cli/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The time that work gets to end normally. Callbacks come every 0.05 s; the manual promises 0.2
 * s. */
#define GRACE_MICROSECONDS 150000

#define MOST_FILES   8
#define LONGEST_PATH 4200
#define LONGEST_TEXT 8192
#define PIPE_PIECE   512 /* bytes; PIPE_BUF is at least that everywhere */

static pthread_t main_thread;
static volatile sig_atomic_t signal_seen, told, finishing, keeping;
static volatile sig_atomic_t grace_is_over; /* a further signal terminates the process */
static volatile sig_atomic_t held;          /* depth of interrupt_hold */
static volatile sig_atomic_t end_is_due;    /* requested while it was held */
static volatile sig_atomic_t file_is_used[MOST_FILES];
static char files[MOST_FILES][LONGEST_PATH];
static volatile sig_atomic_t last_words_length;
static char last_words[LONGEST_TEXT];

/* ---- Injected signals ------------------------------------------------------------------------ */

static const char *injected;              /* the rest of the list; NULL: none */
static unsigned long long calls, next_at; /* of interrupt_seen; 0: no more */

bool interrupt_is_injected(void) {
    return injected != NULL;
}

static void read_next(void) {
    char *end;
    next_at = strtoull(injected, &end, 10);
    injected = *end == ',' ? end + 1 : end;
}

static void begin_injection(void) {
    if (injected != NULL) return;
    injected = getenv("CAROM_INTERRUPT_AT");
    if (injected != NULL) read_next();
}

static void inject(void) {
    if (injected == NULL) return;
    for (++calls; next_at == calls; read_next()) (void)raise(SIGINT);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

/* A reader that has stopped reading must not block the process. A pipe with enough space takes a
 * piece of PIPE_BUF bytes at once; after 0.02 s without space the write is abandoned. */
static void say(int descriptor, const char *text, size_t length) {
    while (length != 0) {
        struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
        if (poll(&ready, 1, 20) <= 0) return;
        ssize_t written = write(descriptor, text, length < PIPE_PIECE ? length : PIPE_PIECE);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

static void end_process(void) {
    static const char words[] = "carom: interrupted\n";
    for (int i = 0; i < MOST_FILES; ++i)
        if (file_is_used[i]) (void)unlink(files[i]);
    if (!told) {
        say(STDERR_FILENO, words, sizeof(words) - 1);
        say(STDOUT_FILENO, last_words, (size_t)last_words_length);
    }
    _exit(128 + signal_seen);
}

static void end_unless_held(void) {
    end_is_due = 1;
    if (held == 0) end_process();
}

/* Whether this is another thread than the main one, which then gets the signal. */
static bool passed_on(int number) {
    if (pthread_equal(pthread_self(), main_thread)) return false;
    (void)pthread_kill(main_thread, number);
    return true;
}

static void on_alarm(int number) {
    if (passed_on(number)) return;
    grace_is_over = 1;
    if (!finishing && !keeping) end_unless_held();
}

/* The timer repeats, so that a write to a pipe without a reader returns, however late it began. */
static void start_timer(void) {
    const struct timeval time = {.tv_usec = GRACE_MICROSECONDS};
    const struct itimerval grace = {.it_value = time, .it_interval = time};
    (void)setitimer(ITIMER_REAL, &grace, NULL);
}

/* timeout(1), and a shell that ends a job, send the signal to the process and to its group: the
 * same process gets it twice within microseconds. So signals within the time of grace are one. */
static void on_signal(int number) {
    if (passed_on(number)) return;
    if (signal_seen == 0) {
        signal_seen = number;
        if (!interrupt_is_injected()) start_timer();
    } else if (grace_is_over) {
        end_unless_held();
    }
}

/* ---- Interface ------------------------------------------------------------------------------- */

/* Without SA_RESTART, so that a read that waits for a terminal or a pipe returns. */
static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void interrupt_catch(void) {
    struct sigaction before;
    main_thread = pthread_self();
    begin_injection();
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        handle(SIGHUP, on_signal);
}

bool interrupt_seen(void) {
    inject();
    return signal_seen != 0 && !finishing;
}

int interrupt_exit_code(void) {
    return signal_seen != 0 ? 128 + signal_seen : 0;
}

void interrupt_let_finish(void) {
    finishing = 1;
}

void interrupt_keep_results(bool keep) {
    keeping = keep;
}

void interrupt_hold(void) {
    ++held;
}

void interrupt_release(void) {
    if (--held == 0 && end_is_due) end_process();
}

void interrupt_was_told(void) {
    told = 1;
}

void interrupt_add_file(const char *path) {
    size_t length = strlen(path);
    if (length >= LONGEST_PATH) return;
    for (int i = 0; i < MOST_FILES; ++i) {
        if (file_is_used[i]) continue;
        memcpy(files[i], path, length + 1);
        file_is_used[i] = 1;
        return;
    }
}

void interrupt_drop_file(const char *path) {
    for (int i = 0; i < MOST_FILES; ++i)
        if (file_is_used[i] && strcmp(files[i], path) == 0) file_is_used[i] = 0;
}

void interrupt_set_last_words(const char *text) {
    size_t length = text != NULL ? strlen(text) : 0;
    last_words_length = 0;
    if (length == 0 || length > LONGEST_TEXT) return;
    memcpy(last_words, text, length);
    last_words_length = (sig_atomic_t)length;
}
