/* SPDX-License-Identifier: MIT */
/* platform.h: all that systems do differently, behind one set of functions, carom_os_*.
 *
 * platform_posix.c implements it for Linux (glibc, musl), macOS, the BSDs and WASI, platform_wasm.c
 * the threads of WASI, platform_windows.c Windows. Macros and headers of systems are in these
 * files, in those of the tool with the same names (cli/), and nowhere else
 * (scripts/check_platform.sh).
 *
 * File names are UTF-8 on every system. Functions that return -1, NULL or false for a failure of
 * the system set errno. */
#ifndef CAROM_SRC_BASE_PLATFORM_H
#define CAROM_SRC_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(_WIN32)
/* SRWLOCK, CONDITION_VARIABLE, INIT_ONCE: each is a pointer that begins as NULL. */
typedef struct carom_os_mutex {
    void *lock;
} carom_os_mutex;
typedef struct carom_os_condition {
    void *variable;
} carom_os_condition;
typedef struct carom_os_once {
    void *state;
} carom_os_once;
typedef void *carom_os_thread_handle;
#define CAROM_OS_ONCE_INIT                                                                         \
    { NULL }
#elif defined(__wasi__)
/* Words that are waited for, with threads (wasm atomics); without, nothing is locked. */
typedef struct carom_os_mutex {
    uint32_t state;
} carom_os_mutex;
typedef struct carom_os_condition {
    uint32_t round;
} carom_os_condition;
typedef struct carom_os_once {
    uint32_t state;
} carom_os_once;
typedef uint32_t carom_os_thread_handle;
#define CAROM_OS_ONCE_INIT                                                                         \
    { 0 }
#else
#include <pthread.h>
typedef pthread_mutex_t carom_os_mutex;
typedef pthread_cond_t carom_os_condition;
typedef pthread_once_t carom_os_once;
typedef pthread_t carom_os_thread_handle;
#define CAROM_OS_ONCE_INIT PTHREAD_ONCE_INIT
#endif

/* ---- Threads --------------------------------------------------------------------------------- */

typedef void carom_os_thread_fn(void *argument);

/* Stays where it is from start to join. */
typedef struct carom_os_thread {
    carom_os_thread_handle handle;
    carom_os_thread_fn *run;
    void *argument;
} carom_os_thread;

/* The thread takes no signal that is sent to the process, so that its handlers run in its own
 * threads; what the thread itself causes, and what profilers send to it, it takes. */
bool carom_os_thread_start(carom_os_thread *thread, carom_os_thread_fn *run, void *argument);
void carom_os_thread_join(carom_os_thread *thread);

void carom_os_mutex_create(carom_os_mutex *mutex);
void carom_os_mutex_destroy(carom_os_mutex *mutex);
void carom_os_mutex_lock(carom_os_mutex *mutex);
void carom_os_mutex_unlock(carom_os_mutex *mutex);

void carom_os_condition_create(carom_os_condition *condition);
void carom_os_condition_destroy(carom_os_condition *condition);
void carom_os_condition_wait(carom_os_condition *condition, carom_os_mutex *mutex);
/* Waits that many milliseconds at most. */
void carom_os_condition_wait_for(carom_os_condition *condition, carom_os_mutex *mutex,
                                 uint32_t milliseconds);
void carom_os_condition_wake_one(carom_os_condition *condition);
void carom_os_condition_wake_all(carom_os_condition *condition);

void carom_os_run_once(carom_os_once *once, void (*run)(void));

/* Has `in_child` called in every forked child from now on; false if out of memory. Systems without
 * fork return true. */
bool carom_os_at_fork(void (*in_child)(void));

/* Processors that this process may use; 0 where the system does not say. */
long carom_os_processors(void);

/* Tells the processor that this thread waits for another one. */
static inline void carom_os_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The size is a multiple of the alignment, which is a power of two. */
void *carom_os_aligned_allocate(size_t alignment, size_t size);
void carom_os_aligned_free(void *pointer);

/* A hint: large pages for this block, which begins and ends at one. */
void carom_os_use_huge_pages(void *pointer, size_t size);

/* Bytes that programs can still use without the system killing one of them; SIZE_MAX where it does
 * not say. */
size_t carom_os_available_memory(void);

/* ---- Libraries ------------------------------------------------------------------------------- */

/* Opens a shared library; on failure NULL, and the reason. */
void *carom_os_library_open(const char *name, char *why, size_t size);
void *carom_os_library_find(void *library, const char *symbol);

/* ---- Names of files -------------------------------------------------------------------------- */

/* Whether a character ends the name of a folder in a path: / and, on Windows, the backslash, which
 * elsewhere is a character of names like any other. */
bool carom_os_is_separator(char c);

/* The name at the end of a path, without its folders: all that follows the last separator or, on
 * Windows, the name of a drive (C:). */
const char *carom_os_file_name(const char *path);

/* Whether a path says where it begins, so that it can not follow the name of a folder. */
bool carom_os_is_absolute(const char *path);

/* Stands between the folders of a list in the environment, such as PATH. */
extern const char carom_os_list_separator[2];

/* ---- Files ----------------------------------------------------------------------------------- */

typedef enum carom_os_file_kind {
    CAROM_OS_FILE_REGULAR,
    CAROM_OS_FILE_FOLDER,
    CAROM_OS_FILE_DEVICE, /* terminals too */
    CAROM_OS_FILE_PIPE    /* or a socket */
} carom_os_file_kind;

typedef struct carom_os_file_info {
    carom_os_file_kind kind;
    uint64_t size;           /* of a regular file; else 0 */
    uint32_t mode;           /* permissions; 0 where the system has others */
    uint64_t volume, number; /* equal for two names of one file */
} carom_os_file_info;

bool carom_os_file_info_of(const char *path, carom_os_file_info *info);
bool carom_os_descriptor_info(int descriptor, carom_os_file_info *info);

/* Open for reading; to a pipe or device for writing; as a new file, which must not be there (errno
 * EEXIST). They never wait: a pipe without a reader gives ENXIO. */
int carom_os_open_input(const char *path);
int carom_os_open_pipe(const char *path);
int carom_os_open_new(const char *path);
int carom_os_close(int descriptor);

/* As read and write: -1 with EINTR or EAGAIN is to be tried again. */
int64_t carom_os_read(int descriptor, void *bytes, size_t size);
int64_t carom_os_write(int descriptor, const void *bytes, size_t size);

/* The same at a offset of a regular file; the offset of later reads and writes is undefined. */
int64_t carom_os_read_at(int descriptor, void *bytes, size_t size, uint64_t offset);
int64_t carom_os_write_at(int descriptor, const void *bytes, size_t size, uint64_t offset);

/* Opens a new file in a folder, for reading and writing, that no name leads to: it is gone when it
 * is closed or the process ends, however that ends. */
int carom_os_open_temporary(const char *folder);

/* The folder for temporary files: TMPDIR, or what the system has. */
void carom_os_temporary_folder(char *to, size_t size);

/* Waits until a descriptor can be read or written, that many milliseconds at most; false if it
 * cannot yet. */
bool carom_os_wait_input(int descriptor, int milliseconds);
bool carom_os_wait_output(int descriptor, int milliseconds);
void carom_os_sleep(int milliseconds);

/* Gives an open file the permissions of another. */
void carom_os_set_mode(int descriptor, uint32_t mode);

/* Replaces `to` in one step. */
bool carom_os_replace(const char *from, const char *to);
bool carom_os_remove(const char *path);

/* The path of the file that a path leads to, with its links followed. */
bool carom_os_real_path(const char *path, char *to, size_t size);

/* As fopen, without conversions of line ends. */
FILE *carom_os_stream(const char *path, const char *mode);

/* Maps a whole file, for reading only; NULL where that cannot be. */
void *carom_os_map(int descriptor, size_t size);
void carom_os_unmap(void *pointer, size_t size);

#endif
