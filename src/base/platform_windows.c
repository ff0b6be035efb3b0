/* SPDX-License-Identifier: MIT */
/* Windows 10 and later. Threads are the system's own (slim locks, condition variables), so that no
 * library of threads has to be shipped. File names are converted from UTF-8 to UTF-16, which every
 * call of the system takes, whatever the code page is. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#endif
#include "base/platform.h"

#if defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <malloc.h>
#include <process.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "carom/base.h"

#define PLATFORM_LONGEST_NAME 4096 /* UTF-16 units, with the terminating zero */

/* ---- Time ------------------------------------------------------------------------------------ */

double carom_time_seconds(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    int64_t whole = now.QuadPart / frequency.QuadPart, rest = now.QuadPart % frequency.QuadPart;
    return (double)whole + (double)rest / (double)frequency.QuadPart;
}

/* ---- Threads --------------------------------------------------------------------------------- */

_Static_assert(sizeof(carom_os_mutex) == sizeof(SRWLOCK), "one pointer");
_Static_assert(sizeof(carom_os_condition) == sizeof(CONDITION_VARIABLE), "one pointer");
_Static_assert(sizeof(carom_os_once) == sizeof(INIT_ONCE), "one pointer");

static unsigned __stdcall run_windows_thread(void *argument) {
    const carom_os_thread *thread = argument;
    thread->run(thread->argument);
    return 0;
}

bool carom_os_thread_start(carom_os_thread *thread, carom_os_thread_fn *run, void *argument) {
    thread->run = run;
    thread->argument = argument;
    thread->handle = (void *)_beginthreadex(NULL, 0, run_windows_thread, thread, 0, NULL);
    return thread->handle != NULL;
}

void carom_os_thread_join(carom_os_thread *thread) {
    (void)WaitForSingleObject(thread->handle, INFINITE);
    (void)CloseHandle(thread->handle);
}

void carom_os_mutex_create(carom_os_mutex *mutex) {
    InitializeSRWLock((SRWLOCK *)mutex);
}

void carom_os_mutex_destroy(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_mutex_lock(carom_os_mutex *mutex) {
    AcquireSRWLockExclusive((SRWLOCK *)mutex);
}

void carom_os_mutex_unlock(carom_os_mutex *mutex) {
    ReleaseSRWLockExclusive((SRWLOCK *)mutex);
}

void carom_os_condition_create(carom_os_condition *condition) {
    InitializeConditionVariable((CONDITION_VARIABLE *)condition);
}

void carom_os_condition_destroy(carom_os_condition *condition) {
    (void)condition;
}

void carom_os_condition_wait(carom_os_condition *condition, carom_os_mutex *mutex) {
    (void)SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
}

void carom_os_condition_wait_for(carom_os_condition *condition, carom_os_mutex *mutex,
                                 uint32_t milliseconds) {
    (void)SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, milliseconds,
                                    0);
}

void carom_os_condition_wake_one(carom_os_condition *condition) {
    WakeConditionVariable((CONDITION_VARIABLE *)condition);
}

void carom_os_condition_wake_all(carom_os_condition *condition) {
    WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
}

static BOOL CALLBACK run_once(INIT_ONCE *once, void *parameter, void **context) {
    (void)once, (void)context;
    void (*run)(void);
    memcpy(&run, parameter, sizeof(run));
    run();
    return TRUE;
}

void carom_os_run_once(carom_os_once *once, void (*run)(void)) {
    (void)InitOnceExecuteOnce((INIT_ONCE *)once, run_once, &run, NULL);
}

bool carom_os_at_fork(void (*in_child)(void)) {
    (void)in_child;
    return true;
}

long carom_os_processors(void) {
    DWORD_PTR of_process, of_system;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &of_process, &of_system)) return 0;
    long count = 0;
    for (; of_process != 0; of_process &= of_process - 1) ++count;
    return count; /* 0: it is in several groups, each of 64 processors at most */
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void *carom_os_aligned_allocate(size_t alignment, size_t size) {
    return _aligned_malloc(size, alignment);
}

void carom_os_aligned_free(void *pointer) {
    _aligned_free(pointer);
}

void carom_os_use_huge_pages(void *pointer, size_t size) {
    (void)pointer, (void)size; /* they need a privilege that users do not have */
}

size_t carom_os_available_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof(status)};
    if (!GlobalMemoryStatusEx(&status)) return SIZE_MAX;
    return status.ullAvailPageFile < SIZE_MAX ? (size_t)status.ullAvailPageFile : SIZE_MAX;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* A name in UTF-16; no heap, as handlers of interrupts use it too. */
static bool platform_widen(const char *name, wchar_t wide[PLATFORM_LONGEST_NAME]) {
    int length =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide, PLATFORM_LONGEST_NAME);
    if (length > 0) return true;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
    return false;
}

static bool platform_fail(void) {
    static const struct {
        DWORD system;
        int number;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},   {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},     {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC}, {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_ALREADY_EXISTS, EEXIST},   {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}};
    DWORD error = GetLastError();
    errno = EACCES;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (known[i].system == error) errno = known[i].number;
    return false;
}

const char carom_os_list_separator[2] = ";";

bool carom_os_is_separator(char c) {
    return c == '/' || c == '\\';
}

/* C:name is a name in the current folder of a drive. */
static bool has_drive(const char *path) {
    return ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) &&
           path[1] == ':';
}

const char *carom_os_file_name(const char *path) {
    const char *name = has_drive(path) ? path + 2 : path;
    for (const char *at = name; *at != '\0'; ++at)
        if (carom_os_is_separator(*at)) name = at + 1;
    return name;
}

bool carom_os_is_absolute(const char *path) {
    return carom_os_is_separator(path[0]) || has_drive(path);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

void *carom_os_library_open(const char *name, char *why, size_t size) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    HMODULE library = platform_widen(name, wide) ? LoadLibraryW(wide) : NULL;
    if (library == NULL) snprintf(why, size, "%s does not load (error %lu)", name, GetLastError());
    return library;
}

void *carom_os_library_find(void *library, const char *symbol) {
    FARPROC found = GetProcAddress(library, symbol);
    void *pointer;
    memcpy(&pointer, &found, sizeof(pointer));
    return pointer;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool take_handle(HANDLE file, carom_os_file_info *info) {
    BY_HANDLE_FILE_INFORMATION found;
    DWORD type = GetFileType(file);
    *info = (carom_os_file_info){.kind = type == FILE_TYPE_CHAR   ? CAROM_OS_FILE_DEVICE
                                         : type == FILE_TYPE_PIPE ? CAROM_OS_FILE_PIPE
                                                                  : CAROM_OS_FILE_REGULAR};
    if (type != FILE_TYPE_DISK) return true;
    if (!GetFileInformationByHandle(file, &found)) return platform_fail();
    if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) info->kind = CAROM_OS_FILE_FOLDER;
    if (info->kind == CAROM_OS_FILE_REGULAR)
        info->size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
    info->volume = found.dwVolumeSerialNumber;
    info->number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    return true;
}

static HANDLE platform_open_for_info(const char *path) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    if (!platform_widen(path, wide)) return INVALID_HANDLE_VALUE;
    HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE) (void)platform_fail();
    return file;
}

bool carom_os_file_info_of(const char *path, carom_os_file_info *info) {
    HANDLE file = platform_open_for_info(path);
    if (file == INVALID_HANDLE_VALUE) return false;
    bool good = take_handle(file, info);
    (void)CloseHandle(file);
    return good;
}

bool carom_os_descriptor_info(int descriptor, carom_os_file_info *info) {
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    return file != INVALID_HANDLE_VALUE && take_handle(file, info);
}

static int platform_open(const char *path, int flags) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    if (!platform_widen(path, wide)) return -1;
    return _wopen(wide, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

/* A folder cannot be opened here: errno is EISDIR, so that the message is the same as elsewhere. */
int carom_os_open_input(const char *path) {
    carom_os_file_info info;
    int descriptor = platform_open(path, _O_RDONLY);
    if (descriptor < 0 && errno == EACCES && carom_os_file_info_of(path, &info) &&
        info.kind == CAROM_OS_FILE_FOLDER)
        errno = EISDIR;
    return descriptor;
}

int carom_os_open_pipe(const char *path) {
    return platform_open(path, _O_WRONLY);
}

int carom_os_open_new(const char *path) {
    return platform_open(path, _O_WRONLY | _O_CREAT | _O_EXCL);
}

int carom_os_close(int descriptor) {
    return _close(descriptor);
}

int64_t carom_os_read(int descriptor, void *bytes, size_t size) {
    return _read(descriptor, bytes, size < INT_MAX ? (unsigned)size : INT_MAX);
}

int64_t carom_os_write(int descriptor, const void *bytes, size_t size) {
    return _write(descriptor, bytes, size < INT_MAX ? (unsigned)size : INT_MAX);
}

int64_t carom_os_read_at(int descriptor, void *bytes, size_t size, uint64_t offset) {
    if (_lseeki64(descriptor, (int64_t)offset, SEEK_SET) < 0) return -1;
    return carom_os_read(descriptor, bytes, size);
}

int64_t carom_os_write_at(int descriptor, const void *bytes, size_t size, uint64_t offset) {
    if (_lseeki64(descriptor, (int64_t)offset, SEEK_SET) < 0) return -1;
    return carom_os_write(descriptor, bytes, size);
}

/* Names that are tried for a temporary file: as many processes may begin in the same moment. */
#define PLATFORM_MOST_TEMPORARY 1000u

int carom_os_open_temporary(const char *folder) {
    char path[PLATFORM_LONGEST_NAME];
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    for (unsigned n = 0; n < PLATFORM_MOST_TEMPORARY; ++n) {
        int length =
            snprintf(path, sizeof(path), "%s/carom-%lx-%u", folder, (unsigned long)now.LowPart, n);
        if (length < 0 || (size_t)length >= sizeof(path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        /* _O_TEMPORARY: the system removes the file when its last descriptor is closed. */
        int descriptor = platform_open(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

void carom_os_temporary_folder(char *to, size_t size) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    DWORD length = GetTempPathW(PLATFORM_LONGEST_NAME, wide);
    if (length == 0 || length >= PLATFORM_LONGEST_NAME ||
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, to, (int)size, NULL, NULL) <= 0)
        snprintf(to, size, ".");
}

/* Only pipes can be asked; a pipe whose writer has gone is ready, to be read to its end. */
bool carom_os_wait_input(int descriptor, int milliseconds) {
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    if (GetFileType(file) != FILE_TYPE_PIPE) return true;
    for (int waited = 0;; ++waited) {
        DWORD bytes = 0;
        if (!PeekNamedPipe(file, NULL, 0, NULL, &bytes, NULL) || bytes != 0) return true;
        if (waited >= milliseconds) return false;
        Sleep(1);
    }
}

bool carom_os_wait_output(int descriptor, int milliseconds) {
    (void)descriptor, (void)milliseconds; /* writing waits here */
    return true;
}

void carom_os_sleep(int milliseconds) {
    Sleep((DWORD)milliseconds);
}

void carom_os_set_mode(int descriptor, uint32_t mode) {
    (void)descriptor, (void)mode; /* a new file inherits the rights of its folder */
}

bool carom_os_replace(const char *from, const char *to) {
    wchar_t wide_from[PLATFORM_LONGEST_NAME], wide_to[PLATFORM_LONGEST_NAME];
    if (!platform_widen(from, wide_from) || !platform_widen(to, wide_to)) return false;
    return MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING) || platform_fail();
}

bool carom_os_remove(const char *path) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    return platform_widen(path, wide) && (DeleteFileW(wide) || platform_fail());
}

bool carom_os_real_path(const char *path, char *to, size_t size) {
    wchar_t wide[PLATFORM_LONGEST_NAME];
    HANDLE file = platform_open_for_info(path);
    if (file == INVALID_HANDLE_VALUE) return false;
    DWORD length = GetFinalPathNameByHandleW(file, wide, PLATFORM_LONGEST_NAME, 0);
    (void)CloseHandle(file);
    if (length == 0 || length >= PLATFORM_LONGEST_NAME) {
        errno = ENAMETOOLONG;
        return false;
    }
    /* \\?\C:\name, and \\?\UNC\server\name, which stays. */
    const wchar_t *from =
        wcsncmp(wide, L"\\\\?\\", 4) == 0 && wcsncmp(wide + 4, L"UNC\\", 4) != 0 ? wide + 4 : wide;
    if (WideCharToMultiByte(CP_UTF8, 0, from, -1, to, (int)size, NULL, NULL) > 0) return true;
    errno = ENAMETOOLONG;
    return false;
}

FILE *carom_os_stream(const char *path, const char *mode) {
    wchar_t wide[PLATFORM_LONGEST_NAME], wide_mode[16];
    size_t length = strlen(mode);
    if (!platform_widen(path, wide) || length > 12) return NULL;
    for (size_t i = 0; i < length; ++i) wide_mode[i] = (wchar_t)mode[i];
    wcscpy(wide_mode + length, strchr(mode, 'b') != NULL ? L"" : L"b");
    return _wfopen(wide, wide_mode);
}

void *carom_os_map(int descriptor, size_t size) {
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping == NULL) return NULL;
    void *at = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
    (void)CloseHandle(mapping); /* the view keeps it */
    return at;
}

void carom_os_unmap(void *pointer, size_t size) {
    (void)size;
    (void)UnmapViewOfFile(pointer);
}

#endif
