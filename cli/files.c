/* SPDX-License-Identifier: MIT */
/* Files that are read and written. A file that is not there yet is known by its folder and its name
 * in it. Devices, pipes and the standard streams hold nothing that could be lost. */
#include "cli/files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/platform.h"

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

static bool find(const char *path, file_identity *found) {
    carom_os_file_info info;
    if (is_standard(path) || !carom_os_file_info_of(path, &info) ||
        info.kind != CAROM_OS_FILE_REGULAR)
        return false;
    *found = (file_identity){.volume = info.volume, .number = info.number};
    return true;
}

static bool is_equal(const file_identity *a, const file_identity *b) {
    return a->volume == b->volume && a->number == b->number;
}

bool files_add(files *list, const char *path, bool written) {
    file_identity one;
    if (path == NULL || !find(path, &one)) return true;
    one.written = written;
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 16;
        file_identity *data = realloc(list->data, capacity * sizeof(*data));
        if (data == NULL) return false;
        list->data = data;
        list->capacity = capacity;
    }
    list->data[list->count++] = one;
    return true;
}

const char *files_refuse(const files *list, const char *path) {
    file_identity one;
    if (!find(path, &one)) return NULL;
    for (size_t i = 0; i < list->count; ++i)
        if (is_equal(&list->data[i], &one))
            return list->data[i].written ? "this call has just written it"
                                         : "it is read by this call, and would be replaced";
    return NULL;
}

/* The folder of a path, and the name in it. */
static bool find_folder(const char *path, file_identity *found, const char **name) {
    carom_os_file_info info;
    size_t length = (size_t)(carom_os_file_name(path) - path);
    char *folder = malloc(length + 2);
    if (folder == NULL) return false;
    memcpy(folder, length != 0 ? path : ".", length != 0 ? length : 1);
    folder[length != 0 ? length : 1] = '\0';
    bool good = carom_os_file_info_of(folder, &info);
    free(folder);
    if (!good) return false;
    *found = (file_identity){.volume = info.volume, .number = info.number};
    *name = path + length;
    return true;
}

bool files_same(const char *a, const char *b) {
    file_identity x, y;
    carom_os_file_info info;
    const char *name_a, *name_b;
    if (find(a, &x)) return find(b, &y) && is_equal(&x, &y);
    if (is_standard(a) || is_standard(b) || carom_os_file_info_of(a, &info)) return false;
    return find_folder(a, &x, &name_a) && find_folder(b, &y, &name_b) && is_equal(&x, &y) &&
           strcmp(name_a, name_b) == 0;
}

void files_free(files *list) {
    free(list->data);
    *list = (files){0};
}
