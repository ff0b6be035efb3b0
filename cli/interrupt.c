/* SPDX-License-Identifier: MIT */
/* Handling of Ctrl-C in two steps. The first signal sets a flag that the progress callback returns,
 * so that the library ends its call normally, drafts are removed where they were made, and results
 * are kept where a command keeps them. Some work has no callback (a benchmark, a call between two
 * reports, a write to a pipe without a reader), so the same signal starts a timer. When it expires,
 * the handler removes the tool's drafts and terminates the process, unless there are results to
 * keep. What the system lets handlers do is in platform.h.
 *
 * The flag is read by interrupt_seen alone. So a signal that comes at any moment has the effect of
 * one that comes at the next call of interrupt_seen, and tests that inject one at each of these
 * calls in turn (CAROM_INTERRUPT_AT) try every moment there is. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/platform.h"

/* The time that work gets to end normally. Callbacks come every 0.05 s; the manual promises 0.2
 * s. */
#define GRACE_MILLISECONDS 150

#define MOST_FILES   8
#define LONGEST_PATH 4200
#define LONGEST_TEXT 8192

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

static void tell_calls(void) {
    fprintf(stderr, "%llu points\n", calls);
}

static void begin_injection(void) {
    if (injected != NULL) return;
    injected = getenv("CAROM_INTERRUPT_AT");
    if (injected == NULL) return;
    read_next();
    if (next_at == 0) (void)atexit(tell_calls);
}

static void inject(void) {
    if (injected == NULL) return;
    for (++calls; next_at == calls; read_next()) platform_interrupt_self();
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void end_process(void) {
    static const char words[] = "carom: interrupted\n";
    for (int i = 0; i < MOST_FILES; ++i)
        if (file_is_used[i]) (void)carom_os_remove(files[i]);
    if (!told) {
        platform_say(PLATFORM_STDERR, words, sizeof(words) - 1);
        platform_say(PLATFORM_STDOUT, last_words, (size_t)last_words_length);
    }
    platform_end(128 + signal_seen);
}

static void end_unless_held(void) {
    end_is_due = 1;
    if (held == 0) end_process();
}

static void on_timer(void) {
    grace_is_over = 1;
    if (!finishing && !keeping) end_unless_held();
}

/* timeout(1), and a shell that ends a job, send the signal to the process and to its group: the
 * same process gets it twice within microseconds. So signals within the time of grace are one. */
static void on_signal(int number) {
    if (signal_seen == 0) {
        signal_seen = number;
        if (!interrupt_is_injected()) platform_start_timer(GRACE_MILLISECONDS);
    } else if (grace_is_over) {
        end_unless_held();
    }
}

/* ---- Interface ------------------------------------------------------------------------------- */

void interrupt_catch(void) {
    begin_injection();
    platform_catch_signals(on_signal, on_timer);
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
