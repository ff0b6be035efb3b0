/* SPDX-License-Identifier: MIT */
/* Windows 10 and later, for the tool.
 *
 * Interrupts come in a thread of their own here. It stops the main thread while it handles one, so
 * that all is as with signals elsewhere: what the main thread does is either before or after. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#endif
#include "cli/platform.h"

#if defined(_WIN32)
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include <shellapi.h>

/* A name in UTF-16, to be freed; NULL without memory or when it is not UTF-8. */
static wchar_t *widen(const char *name) {
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, NULL, 0);
    wchar_t *wide = length > 0 ? malloc((size_t)length * sizeof(*wide)) : NULL;
    if (wide != NULL)
        (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide, length);
    else
        errno = length > 0 ? ENOMEM : EILSEQ;
    return wide;
}

static char *narrow(const wchar_t *wide) {
    int length = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *name = length > 0 ? malloc((size_t)length) : NULL;
    if (name != NULL) (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, length, NULL, NULL);
    return name;
}

/* The arguments live as long as the process. */
void platform_return_large_blocks(void) {
}

void platform_begin(int *argc, char ***argv) {
    int count = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **list = wide != NULL ? calloc((size_t)count + 1, sizeof(*list)) : NULL;
    bool good = list != NULL;
    for (int i = 0; i < count && good; ++i) good = (list[i] = narrow(wide[i])) != NULL;
    if (good) {
        *argc = count;
        *argv = list;
    }
    if (wide != NULL) (void)LocalFree(wide);
    for (int stream = 0; stream < 3; ++stream) (void)_setmode(stream, _O_BINARY);
    (void)SetConsoleOutputCP(CP_UTF8);
}

/* ---- Streams --------------------------------------------------------------------------------- */

bool platform_is_terminal(int descriptor) {
    HANDLE console = (HANDLE)_get_osfhandle(descriptor);
    DWORD mode;
    if (!_isatty(descriptor) || !GetConsoleMode(console, &mode)) return false;
    (void)SetConsoleMode(console, mode | 0x0004); /* ENABLE_VIRTUAL_TERMINAL_PROCESSING */
    return true;
}

/* The bytes go through a temporary file, which the system keeps in memory where it can and removes
 * when it is closed. */
bool platform_open_memory(platform_memory *memory) {
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    *memory = (platform_memory){0};
    if (GetTempPathW(MAX_PATH, folder) == 0 || GetTempFileNameW(folder, L"car", 0, path) == 0) {
        errno = EACCES;
        return false;
    }
    memory->file = _wfopen(path, L"w+bTD"); /* temporary, deleted when it is closed */
    return memory->file != NULL;
}

bool platform_close_memory(platform_memory *memory) {
    FILE *file = memory->file;
    if (file == NULL) return false;
    memory->file = NULL;
    bool good = fflush(file) == 0 && !ferror(file);
    int64_t size = good ? _ftelli64(file) : 0;
    memory->size = (size_t)size;
    memory->bytes = good ? malloc(memory->size + 1) : NULL;
    good = memory->bytes != NULL && _fseeki64(file, 0, SEEK_SET) == 0 &&
           fread(memory->bytes, 1, memory->size, file) == memory->size;
    if (memory->bytes != NULL) memory->bytes[good ? memory->size : 0] = '\0';
    (void)fclose(file);
    return good;
}

bool platform_has_filters(void) {
    return false;
}

FILE *platform_open_filter(const platform_filter *filter) {
    (void)filter;
    errno = ENOTSUP;
    return NULL;
}

FILE *platform_stream_over(int descriptor, const char *mode) {
    char binary[16];
    snprintf(binary, sizeof(binary), "%.12s%s", mode, strchr(mode, 'b') != NULL ? "" : "b");
    return _fdopen(descriptor, binary);
}

int platform_open_stream(const char *path) {
    return carom_os_open_pipe(path);
}

int platform_descriptor(FILE *stream) {
    return _fileno(stream);
}

int64_t platform_tell(FILE *stream) {
    return _ftelli64(stream);
}

bool platform_truncate(FILE *stream, int64_t size) {
    return _chsize_s(_fileno(stream), size) == 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool may(const char *path, int how) {
    wchar_t *wide = widen(path);
    bool good = wide != NULL && _waccess(wide, how) == 0;
    free(wide);
    return good;
}

bool platform_may_read(const char *path) {
    return may(path, 4);
}

bool platform_may_write(const char *folder) {
    return may(folder, 2);
}

bool platform_make_folder(const char *path) {
    wchar_t *wide = widen(path);
    bool good = wide != NULL && _wmkdir(wide) == 0;
    free(wide);
    return good;
}

bool platform_make_temporary_folder(char *path, size_t size) {
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    if (GetTempPathW(MAX_PATH, folder) == 0 || GetTempFileNameW(folder, L"car", 0, name) == 0 ||
        !DeleteFileW(name) || _wmkdir(name) != 0) {
        errno = EACCES;
        return false;
    }
    return WideCharToMultiByte(CP_UTF8, 0, name, -1, path, (int)size, NULL, NULL) > 0;
}

bool platform_remove_folder(const char *path) {
    wchar_t *wide = widen(path);
    bool good = wide != NULL && _wrmdir(wide) == 0;
    free(wide);
    return good;
}

void platform_trim_memory(void) {
    (void)_heapmin();
}

/* ---- Programs -------------------------------------------------------------------------------- */

bool platform_program_path(char *path, size_t size) {
    wchar_t wide[PLATFORM_LONGEST_PATH];
    DWORD length = GetModuleFileNameW(NULL, wide, PLATFORM_LONGEST_PATH);
    if (length == 0 || length >= PLATFORM_LONGEST_PATH) return false;
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL) > 0;
}

/* Quotes as CommandLineToArgvW reads it: backslashes count only before a quotation mark. */
static wchar_t *put_quoted(wchar_t *to, const wchar_t *word) {
    *to++ = L'"';
    for (;; ++word) {
        size_t slashes = 0;
        for (; *word == L'\\'; ++word) ++slashes;
        bool doubled = *word == L'"' || *word == L'\0';
        for (size_t i = 0; i < (doubled ? 2 * slashes : slashes); ++i) *to++ = L'\\';
        if (*word == L'\0') break;
        if (*word == L'"') *to++ = L'\\';
        *to++ = *word;
    }
    *to++ = L'"';
    return to;
}

/* The words as one command line, to be freed. */
static wchar_t *join_words(char **argv) {
    size_t space = 1;
    for (size_t i = 0; argv[i] != NULL; ++i) space += 2 * strlen(argv[i]) + 3;
    wchar_t *line = malloc(space * sizeof(*line)), *to = line;
    for (size_t i = 0; argv[i] != NULL && line != NULL; ++i) {
        wchar_t *word = widen(argv[i]);
        if (word == NULL) {
            free(line);
            return NULL;
        }
        if (i != 0) *to++ = L' ';
        to = put_quoted(to, word);
        free(word);
    }
    if (line != NULL) *to = L'\0';
    return line;
}

void platform_start(const char *program, char **argv) {
    STARTUPINFOW start = {.cb = sizeof(start)};
    PROCESS_INFORMATION process;
    wchar_t *line = join_words(argv), *wide = widen(program), path[PLATFORM_LONGEST_PATH];
    DWORD code = 1;
    bool good = line != NULL && wide != NULL &&
                SearchPathW(NULL, wide, L".exe", PLATFORM_LONGEST_PATH, path, NULL) != 0 &&
                CreateProcessW(path, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process);
    free(line);
    free(wide);
    if (!good) return;
    (void)SetConsoleCtrlHandler(NULL, TRUE); /* interrupts are the program's matter now */
    (void)WaitForSingleObject(process.hProcess, INFINITE);
    (void)GetExitCodeProcess(process.hProcess, &code);
    platform_end((int)code);
}

bool platform_open_page(const char *path) {
    wchar_t *wide = widen(path);
    bool good =
        wide != NULL && (INT_PTR)ShellExecuteW(NULL, L"open", wide, NULL, NULL, SW_SHOWNORMAL) > 32;
    free(wide);
    return good;
}

/* ---- Time ------------------------------------------------------------------------------------ */

bool platform_utc(time_t at, struct tm *utc) {
    return gmtime_s(utc, &at) == 0;
}

static double seconds_of(FILETIME kernel, FILETIME user) {
    uint64_t sum = ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                   ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime);
    return 1e-7 * (double)sum;
}

double platform_process_seconds(void) {
    FILETIME begun, ended, kernel = {0}, user = {0};
    (void)GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user);
    return seconds_of(kernel, user);
}

double platform_thread_seconds(void) {
    FILETIME begun, ended, kernel = {0}, user = {0};
    (void)GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user);
    return seconds_of(kernel, user);
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

#define CONTROL_C 2 /* as SIGINT and SIGTERM elsewhere */
#define CLOSED    15

static HANDLE main_thread;
static DWORD main_id;
static void (*signal_told)(int number);
static void (*timer_told)(void);
static SRWLOCK handling = SRWLOCK_INIT;
static volatile LONG timer_milliseconds;

static void stop_main(void) {
    CONTEXT context = {.ContextFlags = CONTEXT_INTEGER};
    AcquireSRWLockExclusive(&handling);
    (void)SuspendThread(main_thread);
    (void)GetThreadContext(main_thread, &context); /* returns when it stands still */
}

static void let_main_go_on(void) {
    (void)ResumeThread(main_thread);
    ReleaseSRWLockExclusive(&handling);
}

/* Runs in a thread that the system makes. When the console is closed, the process ends as soon as
 * this returns: so it does not. */
static BOOL WINAPI on_console(DWORD event) {
    stop_main();
    signal_told(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? CONTROL_C : CLOSED);
    let_main_go_on();
    while (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
    return TRUE;
}

static DWORD WINAPI run_timer(void *argument) {
    (void)argument;
    while (timer_milliseconds != 0) {
        Sleep((DWORD)timer_milliseconds);
        stop_main();
        timer_told();
        let_main_go_on();
    }
    return 0;
}

void platform_catch_signals(void (*on_signal)(int number), void (*on_timer)(void)) {
    bool first = signal_told == NULL;
    signal_told = on_signal;
    timer_told = on_timer;
    if (!first) return;
    main_id = GetCurrentThreadId();
    main_thread = OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT, FALSE, main_id);
    if (main_thread != NULL) (void)SetConsoleCtrlHandler(on_console, TRUE);
}

void platform_start_timer(int milliseconds) {
    if (InterlockedExchange(&timer_milliseconds, milliseconds) != 0) return;
    HANDLE timer = CreateThread(NULL, 0, run_timer, NULL, 0, NULL);
    if (timer != NULL) (void)CloseHandle(timer);
}

void platform_interrupt_self(void) {
    signal_told(CONTROL_C);
}

void platform_say(int descriptor, const char *text, size_t length) {
    DWORD written;
    (void)WriteFile((HANDLE)_get_osfhandle(descriptor), text, (DWORD)length, &written, NULL);
}

/* Other threads may hold locks that an orderly end would wait for. */
_Noreturn void platform_end(int code) {
    (void)TerminateProcess(GetCurrentProcess(), (UINT)code);
    for (;;) Sleep(INFINITE);
}

#endif
