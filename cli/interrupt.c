/* SPDX-License-Identifier: MIT */
/* Handling of Ctrl-C in two steps. The first signal sets a flag that the progress callback returns,
 * so that the library ends its call normally and drafts are removed where they were made. Some work
 * has no callback (a benchmark, a call between two reports, a write to a pipe without a reader), so
 * the same signal starts a timer. When it expires, the handler removes the tool's drafts and
 * terminates the process. Handlers call async-signal-safe functions only. */
#define _XOPEN_SOURCE 700
#include "cli/interrupt.h"

#include <poll.h>
#include <signal.h>
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

static volatile sig_atomic_t signal_seen, told, finishing;
static volatile sig_atomic_t file_is_used[MOST_FILES];
static char files[MOST_FILES][LONGEST_PATH];
static volatile sig_atomic_t last_words_length;
static char last_words[LONGEST_TEXT];

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

static void on_alarm(int number) {
    (void)number;
    if (!finishing) end_process();
}

static void on_signal(int number) {
    if (signal_seen != 0) end_process();
    signal_seen = number;
    struct itimerval grace = {.it_value = {.tv_usec = GRACE_MICROSECONDS}};
    (void)setitimer(ITIMER_REAL, &grace, NULL);
}

/* Without SA_RESTART, so that a read that waits for a terminal or a pipe returns. */
static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void interrupt_catch(void) {
    struct sigaction before;
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        handle(SIGHUP, on_signal);
}

bool interrupt_seen(void) {
    return signal_seen != 0 && !finishing;
}

int interrupt_exit_code(void) {
    return signal_seen != 0 ? 128 + signal_seen : 0;
}

void interrupt_let_finish(void) {
    finishing = 1;
}

void interrupt_wait_for_library(void) {
    struct itimerval never = {0};
    (void)setitimer(ITIMER_REAL, &never, NULL);
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
