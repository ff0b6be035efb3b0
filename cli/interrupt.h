/* SPDX-License-Identifier: MIT */
/* interrupt.h: how the tool handles Ctrl-C. */
#ifndef CAROM_CLI_INTERRUPT_H
#define CAROM_CLI_INTERRUPT_H

#include <stdbool.h>

/* Installs the handlers. From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup
 * does) request that the current work stop. If the work does not react within a short time, or a
 * second signal comes, the process is terminated: the files registered below are removed, stderr
 * says "interrupted", and the exit code is interrupt_exit_code. May be called more than once. */
void interrupt_catch(void);

/* Whether a signal has come. False again after interrupt_let_finish. */
bool interrupt_seen(void);

/* 128 + the signal's number, as shells report it: 130 for Ctrl-C. 0 before any signal. */
int interrupt_exit_code(void);

/* To be called when the signal has been noticed and the remaining work is short and must not be
 * cancelled, such as saving results: progress callbacks no longer cancel, and only a second signal
 * terminates the process. */
void interrupt_let_finish(void);

/* To be called when the library has been told to stop and has files of its own to remove: the
 * process is no longer terminated by the timer, only by a second signal. */
void interrupt_wait_for_library(void);

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
