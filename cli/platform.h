/* SPDX-License-Identifier: MIT */
/* platform.h: what the tool asks of the system beyond src/base/platform.h: its arguments,
 * terminals, interrupts, other programs. platform_posix.c and platform_windows.c implement it. */
#ifndef CAROM_CLI_PLATFORM_H
#define CAROM_CLI_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/platform.h"

/* Checks the arguments of a function that formats; C99's formats, whatever the system's library. */
#if defined(__clang__)
#define PLATFORM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__)
#define PLATFORM_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define PLATFORM_PRINTF(text, first)
#endif

#define PLATFORM_LONGEST_PATH 4096 /* bytes, with the terminating zero */

/* To be called first in main. Makes the arguments UTF-8 and the standard streams plain bytes where
 * the system has it otherwise. */
void platform_begin(int *argc, char ***argv);

/* From now on large blocks of memory go back to the system when they are freed, where the C library
 * can be told so. For work that allocates such blocks seldom: kept ones would lie in pieces between
 * others, and double the memory of a gas on several threads. */
void platform_return_large_blocks(void);

/* ---- Streams --------------------------------------------------------------------------------- */

/* Descriptors of the standard streams, on every system. */
#define PLATFORM_STDIN  0
#define PLATFORM_STDOUT 1
#define PLATFORM_STDERR 2

/* Whether a descriptor is a terminal, which then takes the escape codes of the progress bar. */
bool platform_is_terminal(int descriptor);

/* A stream whose bytes are kept in memory. close_memory sets bytes, to be freed, and size; false
 * when there was no memory for all of it. */
typedef struct platform_memory {
    FILE *file;
    char *bytes;
    size_t size;
} platform_memory;
bool platform_open_memory(platform_memory *memory);
bool platform_close_memory(platform_memory *memory);

/* A stream that passes its bytes to functions: `put` returns how many it took, `end` 0 when all is
 * well. NULL with ENOTSUP where there is no such thing: platform_has_filters is then false. */
typedef struct platform_filter {
    int64_t (*put)(void *user, const char *bytes, size_t size);
    int (*end)(void *user);
    void *user;
} platform_filter;
bool platform_has_filters(void);
FILE *platform_open_filter(const platform_filter *filter);

/* A stream over an open file, without conversions of line ends; its descriptor; its position; its
 * end moved back. */
FILE *platform_stream_over(int descriptor, const char *mode);
int platform_descriptor(FILE *stream);
/* Opens a pipe or a device for writing; waits until a pipe has a reader. -1 on failure. */
int platform_open_stream(const char *path);
int64_t platform_tell(FILE *stream);
bool platform_truncate(FILE *stream, int64_t size);

/* ---- Files ----------------------------------------------------------------------------------- */

bool platform_may_read(const char *path);
bool platform_may_write(const char *folder);
bool platform_make_folder(const char *path);
/* Makes a new folder for temporary files; its path. */
bool platform_make_temporary_folder(char *path, size_t size);
bool platform_remove_folder(const char *path);

/* Gives memory that was freed back to the system, where the C library has kept it. */
void platform_trim_memory(void);

/* ---- Programs -------------------------------------------------------------------------------- */

/* The path of this program. */
bool platform_program_path(char *path, size_t size);

/* Replaces this process by the program at a path, or the one that the shell would find. Returns
 * only when it cannot start; where processes cannot be replaced, waits for it and ends with its
 * exit code. */
void platform_start(const char *program, char **argv);

/* Shows a file in what the user opens such files with, and goes on; false when it cannot. */
bool platform_open_page(const char *path);

/* ---- Time ------------------------------------------------------------------------------------ */

bool platform_utc(time_t at, struct tm *utc);
/* Seconds of processor time of this process, and of this thread. */
double platform_process_seconds(void);
double platform_thread_seconds(void);

/* ---- Interrupts ------------------------------------------------------------------------------ */

/* Has `on_signal` called when the user or the system wants the process to end, with the number that
 * shells add to 128, and `on_timer` when the timer expires. The main thread stands still meanwhile;
 * they may call carom_os_remove, platform_say, platform_start_timer and platform_end, and write
 * variables of type volatile sig_atomic_t. May be called more than once, by the main thread. */
void platform_catch_signals(void (*on_signal)(int number), void (*on_timer)(void));

/* Expires after that time, and again and again. */
void platform_start_timer(int milliseconds);

/* As if the user had pressed Ctrl-C; returns when it was handled. */
void platform_interrupt_self(void);

/* Writes to a descriptor; gives up if its reader has stopped reading. */
void platform_say(int descriptor, const char *text, size_t length);

/* Ends the process at once. */
_Noreturn void platform_end(int code);

#endif
