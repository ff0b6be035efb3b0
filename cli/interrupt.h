/* SPDX-License-Identifier: MIT */
/* interrupt.h: what Ctrl-C does to the tool. */
#ifndef CAROM_CLI_INTERRUPT_H
#define CAROM_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup does) ask the work under
 * way to stop. Work that does not hear it within a moment, or a second signal, ends the process:
 * the files named below are removed, stderr says "interrupted", and the exit code is
 * interrupt_exit_code. May be called more than once. */
void interrupt_catch(void);

/* Has a signal come? False again after interrupt_let_finish. */
bool interrupt_seen(void);

/* 128 + the number of the signal, as shells report it: 130 for Ctrl-C. 0 before any signal. */
int interrupt_exit_code(void);

/* The signal has been heard and what is left to do is short and must not be cancelled, such as
 * saving what there is: progress callbacks no longer cancel, and only a second signal ends the
 * process. */
void interrupt_let_finish(void);

/* The library has been told to stop and does so soon by itself, with files of its own to remove:
 * the process is no longer ended when the time is over, only by a second signal. */
void interrupt_wait_for_library(void);

/* The command has said that it was interrupted; nothing is left to be said at a forced end. */
void interrupt_was_told(void);

/* A file that is not whole yet: removed at a forced end. The text is copied; at most eight at a
 * time, more are not remembered. */
void interrupt_add_file(const char *path);
void interrupt_drop_file(const char *path);

/* What a forced end prints on the standard output, such as a JSON object: copied; NULL: nothing. */
void interrupt_set_last_words(const char *text);

#endif
