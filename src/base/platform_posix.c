/* SPDX-License-Identifier: MIT */
/* Linux (glibc, musl), macOS, the BSDs and WASI. Where one of them lacks something, it is said
 * beside it. */
#if !defined(_WIN32)
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE
#else
#define _GNU_SOURCE
#endif
#endif
#include "base/platform.h"

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "carom/base.h"

#if defined(__wasi__)
#define PLATFORM_HAS_SIGNALS   0
#define PLATFORM_HAS_MAPPINGS  0
#define PLATFORM_HAS_LIBRARIES 0
#else
#define PLATFORM_HAS_SIGNALS   1
#define PLATFORM_HAS_MAPPINGS  1
#define PLATFORM_HAS_LIBRARIES 1
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#endif

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif

/* ---- Time ------------------------------------------------------------------------------------ */

double carom_time_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Threads --------------------------------------------------------------------------------- */

#if PLATFORM_HAS_SIGNALS

static void *run_posix_thread(void *argument) {
    const carom_os_thread *thread = argument;
    thread->run(thread->argument);
    return NULL;
}

/* Threads inherit the signal mask of their creator. Returns the creator's. */
static sigset_t block_signals(void) {
    static const int taken[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t blocked, before;
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); ++i)
        (void)sigdelset(&blocked, taken[i]);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
    return before;
}

bool carom_os_thread_start(carom_os_thread *thread, carom_os_thread_fn *run, void *argument) {
    thread->run = run;
    thread->argument = argument;
    sigset_t before = block_signals();
    bool started = pthread_create(&thread->handle, NULL, run_posix_thread, thread) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void carom_os_thread_join(carom_os_thread *thread) {
    (void)pthread_join(thread->handle, NULL);
}

void carom_os_mutex_create(carom_os_mutex *mutex) {
    (void)pthread_mutex_init(mutex, NULL);
}

void carom_os_mutex_destroy(carom_os_mutex *mutex) {
    (void)pthread_mutex_destroy(mutex);
}

void carom_os_mutex_lock(carom_os_mutex *mutex) {
    (void)pthread_mutex_lock(mutex);
}

void carom_os_mutex_unlock(carom_os_mutex *mutex) {
    (void)pthread_mutex_unlock(mutex);
}

void carom_os_condition_create(carom_os_condition *condition) {
    (void)pthread_cond_init(condition, NULL);
}

void carom_os_condition_destroy(carom_os_condition *condition) {
    (void)pthread_cond_destroy(condition);
}

void carom_os_condition_wait(carom_os_condition *condition, carom_os_mutex *mutex) {
    (void)pthread_cond_wait(condition, mutex);
}

void carom_os_condition_wait_for(carom_os_condition *condition, carom_os_mutex *mutex,
                                 uint32_t milliseconds) {
    struct timespec until;
    if (clock_gettime(CLOCK_REALTIME, &until) != 0) {
        (void)pthread_cond_wait(condition, mutex);
        return;
    }
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        ++until.tv_sec;
    }
    (void)pthread_cond_timedwait(condition, mutex, &until);
}

void carom_os_condition_wake_one(carom_os_condition *condition) {
    (void)pthread_cond_signal(condition);
}

void carom_os_condition_wake_all(carom_os_condition *condition) {
    (void)pthread_cond_broadcast(condition);
}

void carom_os_run_once(carom_os_once *once, void (*run)(void)) {
    (void)pthread_once(once, run);
}

bool carom_os_at_fork(void (*in_child)(void)) {
    return pthread_atfork(NULL, NULL, in_child) == 0;
}

long carom_os_processors(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

#endif /* those of WASI are in platform_wasm.c */

/* ---- Memory ---------------------------------------------------------------------------------- */

#if !defined(__wasi__) /* where threads share an allocator without locks: platform_wasm.c */

void *carom_os_aligned_allocate(size_t alignment, size_t size) {
    return aligned_alloc(alignment, size);
}

void carom_os_aligned_free(void *pointer) {
    free(pointer);
}

#endif

void carom_os_use_huge_pages(void *pointer, size_t size) {
#if defined(MADV_HUGEPAGE)
    (void)madvise(pointer, size, MADV_HUGEPAGE); /* failure does no harm */
#else
    (void)pointer, (void)size;
#endif
}

/* Linux alone gives addresses for more memory than it has, and kills the process when the pages are
 * used. */
size_t carom_os_available_memory(void) {
    size_t available = SIZE_MAX, swap = 0;
#if defined(__linux__)
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL) return SIZE_MAX;
    char line[128];
    unsigned long long kilobytes;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            available = (size_t)kilobytes << 10;
        else if (sscanf(line, "SwapFree: %llu kB", &kilobytes) == 1)
            swap = (size_t)kilobytes << 10;
    }
    (void)fclose(file);
#endif
    return available < SIZE_MAX - swap ? available + swap : SIZE_MAX;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

#if PLATFORM_HAS_LIBRARIES

void *carom_os_library_open(const char *name, char *why, size_t size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
    const char *error = dlerror(); /* names the library or the dependency that is missing */
    if (error != NULL)
        snprintf(why, size, "%s", error);
    else
        snprintf(why, size, "%s does not load", name);
    return NULL;
}

void *carom_os_library_find(void *library, const char *symbol) {
    return dlsym(library, symbol);
}

#else

void *carom_os_library_open(const char *name, char *why, size_t size) {
    snprintf(why, size, "%s: this system loads no libraries", name);
    return NULL;
}

void *carom_os_library_find(void *library, const char *symbol) {
    (void)library, (void)symbol;
    return NULL;
}

#endif

/* ---- Names of files -------------------------------------------------------------------------- */

const char carom_os_list_separator[2] = ":";

bool carom_os_is_separator(char c) {
    return c == '/';
}

const char *carom_os_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool carom_os_is_absolute(const char *path) {
    return path[0] == '/';
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void take_stat(const struct stat *from, carom_os_file_info *to) {
    to->kind = S_ISREG(from->st_mode)                             ? CAROM_OS_FILE_REGULAR
               : S_ISDIR(from->st_mode)                           ? CAROM_OS_FILE_FOLDER
               : S_ISCHR(from->st_mode) || S_ISBLK(from->st_mode) ? CAROM_OS_FILE_DEVICE
                                                                  : CAROM_OS_FILE_PIPE;
    to->size = S_ISREG(from->st_mode) && from->st_size > 0 ? (uint64_t)from->st_size : 0;
    to->mode = (uint32_t)from->st_mode & 0777u;
    to->volume = (uint64_t)from->st_dev;
    to->number = (uint64_t)from->st_ino;
}

bool carom_os_file_info_of(const char *path, carom_os_file_info *info) {
    struct stat found;
    if (stat(path, &found) != 0) return false;
    take_stat(&found, info);
    return true;
}

bool carom_os_descriptor_info(int descriptor, carom_os_file_info *info) {
    struct stat found;
    if (fstat(descriptor, &found) != 0) return false;
    take_stat(&found, info);
    return true;
}

/* Without O_NONBLOCK, opening a pipe waits for the other end and cannot be cancelled. */
int carom_os_open_input(const char *path) {
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

int carom_os_open_pipe(const char *path) {
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

int carom_os_open_new(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

int carom_os_close(int descriptor) {
    return close(descriptor);
}

int64_t carom_os_read(int descriptor, void *bytes, size_t size) {
    return read(descriptor, bytes, size);
}

int64_t carom_os_write(int descriptor, const void *bytes, size_t size) {
    return write(descriptor, bytes, size);
}

int64_t carom_os_read_at(int descriptor, void *bytes, size_t size, uint64_t offset) {
    return pread(descriptor, bytes, size, (off_t)offset);
}

int64_t carom_os_write_at(int descriptor, const void *bytes, size_t size, uint64_t offset) {
    return pwrite(descriptor, bytes, size, (off_t)offset);
}

/* Names that are tried for a temporary file: as many processes may begin in the same moment. */
#define PLATFORM_MOST_TEMPORARY 1000u

/* The name is removed at once, so that no signal and no crash can leave the file behind. */
int carom_os_open_temporary(const char *folder) {
    char path[PATH_MAX];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (unsigned n = 0; n < PLATFORM_MOST_TEMPORARY; ++n) {
        int length =
            snprintf(path, sizeof(path), "%s/carom-%lx-%u", folder, (unsigned long)now.tv_nsec, n);
        if (length < 0 || (size_t)length >= sizeof(path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (descriptor >= 0) (void)unlink(path);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

void carom_os_temporary_folder(char *to, size_t size) {
    const char *folder = getenv("TMPDIR");
    snprintf(to, size, "%s", folder != NULL && *folder != '\0' ? folder : "/tmp");
}

bool carom_os_wait_input(int descriptor, int milliseconds) {
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    return poll(&ready, 1, milliseconds) > 0;
}

bool carom_os_wait_output(int descriptor, int milliseconds) {
    struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
    return poll(&ready, 1, milliseconds) > 0;
}

void carom_os_sleep(int milliseconds) {
    (void)poll(NULL, 0, milliseconds);
}

void carom_os_set_mode(int descriptor, uint32_t mode) {
#if defined(__wasi__)
    (void)descriptor, (void)mode;
#else
    (void)fchmod(descriptor, (mode_t)mode);
#endif
}

bool carom_os_replace(const char *from, const char *to) {
    return rename(from, to) == 0;
}

bool carom_os_remove(const char *path) {
    return unlink(path) == 0;
}

bool carom_os_real_path(const char *path, char *to, size_t size) {
#if defined(__wasi__) /* older libraries lack realpath; there are no links to follow */
    char *found = strdup(path);
#else
    char *found = realpath(path, NULL);
#endif
    bool fits = found != NULL && strlen(found) < size;
    if (found != NULL && !fits) errno = ENAMETOOLONG;
    if (fits) strcpy(to, found);
    free(found);
    return fits;
}

FILE *carom_os_stream(const char *path, const char *mode) {
    return fopen(path, mode);
}

#if PLATFORM_HAS_MAPPINGS

void *carom_os_map(int descriptor, size_t size) {
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    return at != MAP_FAILED ? at : NULL;
}

void carom_os_unmap(void *pointer, size_t size) {
    (void)munmap(pointer, size);
}

#else

void *carom_os_map(int descriptor, size_t size) {
    (void)descriptor, (void)size;
    return NULL;
}

void carom_os_unmap(void *pointer, size_t size) {
    (void)pointer, (void)size;
}

#endif

#endif
