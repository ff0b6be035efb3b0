/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over files and folders of inputs, so that every input that ever mattered is
 * an ordinary test. Usage: replay_X FILE-OR-FOLDER... */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

static int failed;

static void replay_file(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        failed = 1;
        return;
    }
    size_t size = 0, capacity = 1 << 16;
    uint8_t *bytes = malloc(capacity);
    for (size_t got = 1; bytes != NULL && got != 0; size += got) {
        if (size == capacity) {
            uint8_t *more = realloc(bytes, capacity *= 2);
            if (more == NULL) free(bytes);
            bytes = more;
        }
        got = bytes != NULL ? fread(bytes + size, 1, capacity - size, file) : 0;
    }
    fclose(file);
    if (bytes == NULL) {
        failed = 1;
        return;
    }
    /* A block of exactly this size, so that sanitizers see every read past the end. */
    uint8_t *exact = malloc(size != 0 ? size : 1);
    if (exact != NULL) {
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
        ++*count;
    }
    free(exact);
    free(bytes);
}

static void replay(const char *path, size_t *count) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
            char inner[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
            replay(inner, count);
        }
        if (folder != NULL) closedir(folder);
    } else {
        replay_file(path, count);
    }
}

int main(int argc, char **argv) {
    size_t count = 0;
    for (int i = 1; i < argc; ++i) replay(argv[i], &count);
    printf("%zu inputs replayed\n", count);
    return failed != 0 || count == 0;
}
