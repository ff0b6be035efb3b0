/* SPDX-License-Identifier: MIT */
/* Linux (glibc, musl), macOS, the BSDs and WASI, for the tool. */
#if !defined(_WIN32)
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE
#else
#define _GNU_SOURCE
#endif
#endif
#include "cli/platform.h"

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if !defined(__wasi__)
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif
#if defined(__FreeBSD__) || defined(__DragonFly__)
#include <sys/sysctl.h>
#endif

#define PIPE_PIECE 512 /* bytes; PIPE_BUF is at least that everywhere */

#define LARGE_BLOCK (2 << 20) /* bytes: those that the library offers for huge pages */

void platform_return_large_blocks(void) {
#if defined(__GLIBC__)
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK); /* else it grows up to 32 MiB */
#endif
}

void platform_begin(int *argc, char ***argv) {
    (void)argc, (void)argv;
}

/* ---- Streams --------------------------------------------------------------------------------- */

bool platform_is_terminal(int descriptor) {
    return isatty(descriptor) != 0;
}

bool platform_open_memory(platform_memory *memory) {
    *memory = (platform_memory){0};
    memory->file = open_memstream(&memory->bytes, &memory->size);
    return memory->file != NULL;
}

bool platform_close_memory(platform_memory *memory) {
    bool good = memory->file != NULL && fclose(memory->file) == 0 && memory->bytes != NULL;
    memory->file = NULL;
    return good;
}

#if defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) ||     \
    defined(__OpenBSD__) || defined(__DragonFly__)

bool platform_has_filters(void) {
    return true;
}

#if defined(__linux__)
typedef ssize_t put_result;
typedef size_t put_size;
#else
typedef int put_result;
typedef int put_size;
#endif

static put_result filter_put(void *cookie, const char *bytes, put_size size) {
    const platform_filter *filter = cookie;
    return (put_result)filter->put(filter->user, bytes, (size_t)size);
}

static int filter_end(void *cookie) {
    platform_filter *filter = cookie;
    int code = filter->end(filter->user);
    free(filter);
    return code;
}

FILE *platform_open_filter(const platform_filter *filter) {
    platform_filter *own = malloc(sizeof(*own));
    if (own == NULL) return NULL;
    *own = *filter;
#if defined(__linux__)
    cookie_io_functions_t functions = {.write = filter_put, .close = filter_end};
    FILE *file = fopencookie(own, "w", functions);
#else
    FILE *file = funopen(own, NULL, filter_put, NULL, filter_end);
#endif
    if (file == NULL) free(own);
    return file;
}

#else

bool platform_has_filters(void) {
    return false;
}

FILE *platform_open_filter(const platform_filter *filter) {
    (void)filter;
    errno = ENOTSUP;
    return NULL;
}

#endif

FILE *platform_stream_over(int descriptor, const char *mode) {
    return fdopen(descriptor, mode);
}

int platform_open_stream(const char *path) {
    return open(path, O_WRONLY | O_CLOEXEC);
}

int platform_descriptor(FILE *stream) {
    return fileno(stream);
}

int64_t platform_tell(FILE *stream) {
    return (int64_t)ftello(stream);
}

bool platform_truncate(FILE *stream, int64_t size) {
    return ftruncate(fileno(stream), (off_t)size) == 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

bool platform_may_read(const char *path) {
    return access(path, R_OK) == 0;
}

bool platform_may_write(const char *folder) {
    return access(folder, W_OK) == 0;
}

bool platform_make_folder(const char *path) {
    return mkdir(path, 0777) == 0;
}

bool platform_make_temporary_folder(char *path, size_t size) {
    snprintf(path, size, "/tmp/carom-XXXXXX");
#if defined(__wasi__)
    return false;
#else
    return mkdtemp(path) != NULL;
#endif
}

bool platform_remove_folder(const char *path) {
    return rmdir(path) == 0;
}

void platform_trim_memory(void) {
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

/* ---- Programs -------------------------------------------------------------------------------- */

bool platform_program_path(char *path, size_t size) {
#if defined(__APPLE__)
    uint32_t length = (uint32_t)size;
    return _NSGetExecutablePath(path, &length) == 0;
#elif defined(__FreeBSD__) || defined(__DragonFly__)
    int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
    return sysctl(name, 4, path, &size, NULL, 0) == 0;
#elif defined(__linux__) || defined(__NetBSD__)
#if defined(__linux__)
    static const char self[] = "/proc/self/exe";
#else
    static const char self[] = "/proc/curproc/exe";
#endif
    ssize_t length = readlink(self, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
#else
    (void)path, (void)size; /* OpenBSD and WASI do not say */
    return false;
#endif
}

#if defined(__wasi__)

void platform_start(const char *program, char **argv) {
    (void)program, (void)argv;
    errno = ENOTSUP;
}

bool platform_open_page(const char *path) {
    (void)path;
    return false;
}

#else

void platform_start(const char *program, char **argv) {
    (void)execvp(program, argv);
}

bool platform_open_page(const char *path) {
#if defined(__APPLE__)
    static const char opener[] = "open";
#else
    static const char opener[] = "xdg-open";
#endif
    char absolute[PLATFORM_LONGEST_PATH];
    if (!carom_os_real_path(path, absolute, sizeof(absolute))) return false;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        for (int stream = 0; stream < 3 && nothing >= 0; ++stream) (void)dup2(nothing, stream);
        (void)setsid();
        (void)execlp(opener, opener, absolute, (char *)NULL);
        _exit(127);
    }
    return child > 0;
}

#endif

/* ---- Time ------------------------------------------------------------------------------------ */

bool platform_utc(time_t at, struct tm *utc) {
    return gmtime_r(&at, utc) != NULL;
}

#if defined(__wasi__)

double platform_process_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double platform_thread_seconds(void) {
    return platform_process_seconds();
}

#else

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double platform_process_seconds(void) {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double platform_thread_seconds(void) {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif

/* ---- Interrupts ------------------------------------------------------------------------------ */

#if defined(__wasi__) /* has no signals: nothing interrupts */

static void (*told)(int number);

void platform_catch_signals(void (*on_signal)(int number), void (*on_timer)(void)) {
    told = on_signal;
    (void)on_timer;
}

void platform_start_timer(int milliseconds) {
    (void)milliseconds;
}

void platform_interrupt_self(void) {
    told(2);
}

void platform_say(int descriptor, const char *text, size_t length) {
    (void)write(descriptor, text, length);
}

#else

static pthread_t main_thread;
static void (*signal_told)(int number);
static void (*timer_told)(void);

/* Handlers work in the main thread: one that runs in another thread (a driver's, say; the library's
 * workers take no signals) passes the signal on. They call async-signal-safe functions only. */
static void on_system_signal(int number) {
    if (!pthread_equal(pthread_self(), main_thread))
        (void)pthread_kill(main_thread, number);
    else if (number == SIGALRM)
        timer_told();
    else
        signal_told(number);
}

/* Without SA_RESTART, so that a read that waits for a terminal or a pipe returns. */
static void handle(int number) {
    struct sigaction action = {.sa_handler = on_system_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void platform_catch_signals(void (*on_signal)(int number), void (*on_timer)(void)) {
    struct sigaction before;
    main_thread = pthread_self();
    signal_told = on_signal;
    timer_told = on_timer;
    handle(SIGALRM);
    handle(SIGINT);
    handle(SIGTERM);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) handle(SIGHUP);
}

/* It repeats, so that a write to a pipe without a reader returns, however late it began. */
void platform_start_timer(int milliseconds) {
    const struct timeval time = {.tv_usec = 1000 * milliseconds};
    const struct itimerval grace = {.it_value = time, .it_interval = time};
    (void)setitimer(ITIMER_REAL, &grace, NULL);
}

void platform_interrupt_self(void) {
    (void)raise(SIGINT);
}

/* A reader that has stopped reading must not block the process. A pipe with enough space takes a
 * piece of PIPE_BUF bytes at once; after 0.02 s without space the write is abandoned. */
void platform_say(int descriptor, const char *text, size_t length) {
    while (length != 0) {
        struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
        if (poll(&ready, 1, 20) <= 0) return;
        ssize_t written = write(descriptor, text, length < PIPE_PIECE ? length : PIPE_PIECE);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

#endif

_Noreturn void platform_end(int code) {
    _exit(code);
}

#endif
