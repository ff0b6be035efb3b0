/* SPDX-License-Identifier: MIT */
/* interrupt.h: how the tool handles Ctrl-C. */
#ifndef CAROM_CLI_INTERRUPT_H
#define CAROM_CLI_INTERRUPT_H

#include <stdbool.h>

/* Installs the handlers. From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup
 * does) request that the current work stop. If the work does not react within a short time, or
 * another signal comes after that time, the process is terminated: the files registered below are
 * removed, stderr says "interrupted", and the exit code is interrupt_exit_code. May be called more
 * than once. */
void interrupt_catch(void);

/* Whether a signal has come. False again after interrupt_let_finish. */
bool interrupt_seen(void);

/* Whether the environment variable CAROM_INTERRUPT_AT is set, a list of counts in ascending order
 * with commas between them: for each count n, SIGINT is raised within the nth call of
 * interrupt_seen; "0" raises none, and the number of calls is printed to stderr at the end. No
 * clock has a part then: the process is never terminated by the timer, and contexts are to be
 * created with a negative progress_interval. For tests. */
bool interrupt_is_injected(void);

/* 128 + the signal's number, as shells report it: 130 for Ctrl-C. 0 before any signal. */
int interrupt_exit_code(void);

/* To be called when the signal has been noticed and the remaining work is short and must not be
 * cancelled, such as saving results: progress callbacks no longer cancel, and only a second signal
 * terminates the process. */
void interrupt_let_finish(void);

/* While there are results to keep: the process is not terminated by the timer, only by a second
 * signal. The work must call interrupt_seen often and end with interrupt_let_finish. */
void interrupt_keep_results(bool keep);

/* Between these two calls the process is not terminated at all: a file has been created that is not
 * registered yet, or the library writes a file, whose draft it removes itself as soon as the
 * progress callback cancels it. A termination that was due happens at the release. May be
 * nested. */
void interrupt_hold(void);
void interrupt_release(void);

/* The command has reported the interruption; a forced termination prints nothing more. */
void interrupt_was_told(void);

/* Registers an unfinished file: removed at a forced termination. The text is copied. At most eight
 * at a time; further ones are not registered. */
void interrupt_add_file(const char *path);
void interrupt_drop_file(const char *path);

/* What a forced termination prints on the standard output, such as a JSON object. The text is
 * copied; NULL: nothing. */
void interrupt_set_last_words(const char *text);

#endif
