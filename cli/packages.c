/* SPDX-License-Identifier: MIT */
/* A package is looked for in this order, and the first file that can be read is taken:
 *   1. --package NAME=FOLDER: FOLDER/PATH, and nowhere else;
 *   2. each folder D of ROS_PACKAGE_PATH: D/NAME/PATH, or D/PATH where D is the package itself;
 *   3. each folder D of AMENT_PREFIX_PATH (ROS 2): D/share/NAME/PATH;
 *   4. the folders above the URDF file, up to 8 of them: D/NAME/PATH and D/PATH. */
#include "cli/packages.h"

#include <stdlib.h>
#include <string.h>

#include "cli/platform.h"
#include "cli/text.h"

#define PACKAGE_SCHEME "package://"
#define PATH_SIZE      4096u /* bytes of a path, as Linux has it */
#define MOST_ABOVE     8     /* folders above the URDF file */

/* A search for one file. */
typedef struct search {
    const char *name; /* of the package; not terminated */
    size_t name_length;
    const char *inside; /* the path in the package, without a leading slash */
    char *path;         /* that is tried, and at the end the one that was found */
    size_t size;
    bool found;
    char folders[320]; /* that were looked into, "A, B and 3 more" */
    size_t folders_length, folder_count, unnamed;
} search;

const char *packages_misuse(const arg_list *packages, char *message, size_t size) {
    for (size_t i = 0; i < packages->count; ++i) {
        const char *value = packages->values[i], *equals = strchr(value, '=');
        if (equals == NULL || equals == value || equals[1] == '\0' ||
            memchr(value, '/', (size_t)(equals - value)) != NULL) {
            snprintf(message, size, "--package takes NAME=FOLDER, not '%.80s'", value);
            return message;
        }
        for (size_t k = 0; k < i; ++k)
            if (strncmp(packages->values[k], value, (size_t)(equals - value) + 1) == 0) {
                snprintf(message, size, "--package %.*s is given twice",
                         (int)(equals - value < 80 ? equals - value : 80), value);
                return message;
            }
    }
    return NULL;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Appends text, with characters replaced that no terminal should get; false where it is too long,
 * and then nothing is appended. */
static bool append(char *to, size_t size, size_t *length, const char *text, size_t count) {
    size_t at = *length;
    char bytes[PATH_SIZE];
    snprintf(bytes, sizeof(bytes), "%.*s", (int)(count < PATH_SIZE ? count : PATH_SIZE - 1), text);
    for (const char *from = bytes;;) {
        text_character c = text_next(&from);
        size_t added = strlen(c.bytes);
        if (added == 0) break;
        if (at + added >= size) {
            to[*length] = '\0';
            return false;
        }
        memcpy(to + at, c.bytes, added);
        at += added;
    }
    to[at] = '\0';
    *length = at;
    return true;
}

static void note_folder(search *s, const char *folder, size_t length) {
    size_t before = s->folders_length;
    if (length == 0) return;
    ++s->folder_count;
    bool fits = s->unnamed == 0 &&
                (s->folders_length == 0 ||
                 append(s->folders, sizeof(s->folders), &s->folders_length, ", ", 2)) &&
                append(s->folders, sizeof(s->folders), &s->folders_length, folder, length);
    if (fits) return;
    s->folders_length = before;
    s->folders[before] = '\0';
    ++s->unnamed;
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* Tries FOLDER/MIDDLE/PATH, where the middle may be empty. A path that is too long is none. */
static void try_path(search *s, const char *folder, size_t length, const char *middle,
                     size_t middle_length) {
    if (s->found || length >= PATH_SIZE) return;
    int written = snprintf(s->path, s->size, "%.*s/%.*s%s%s", (int)length, folder,
                           (int)middle_length, middle, middle_length != 0 ? "/" : "", s->inside);
    s->found = written > 0 && (size_t)written < s->size && platform_may_read(s->path);
}

static void try_named(search *s, const char *folder, size_t length) {
    if (!s->found) note_folder(s, folder, length);
    try_path(s, folder, length, s->name, s->name_length);
}

/* The folders of a list of the environment. */
static void try_list(search *s, const char *variable, const char *share) {
    const char *at = getenv(variable);
    while (at != NULL && *at != '\0' && !s->found) {
        size_t length = strcspn(at, platform_list_separator);
        char folder[PATH_SIZE];
        int written = snprintf(folder, sizeof(folder), "%.*s%s", (int)length, at, share);
        size_t whole = written > 0 ? (size_t)written : 0;
        while (whole > 1 && carom_os_is_separator(folder[whole < PATH_SIZE ? whole - 1 : 0]))
            --whole;
        if (length != 0 && whole < sizeof(folder)) {
            try_named(s, folder, whole);
            bool itself = whole > s->name_length &&
                          carom_os_is_separator(folder[whole - s->name_length - 1]) &&
                          memcmp(folder + whole - s->name_length, s->name, s->name_length) == 0;
            if (itself) try_path(s, folder, whole, "", 0);
        }
        at += length + (at[length] != '\0');
    }
}

static void try_above(search *s, const char *urdf) {
    char folder[PATH_SIZE];
    size_t before = (size_t)(carom_os_file_name(urdf) - urdf); /* with the separator */
    size_t length = before != 0 ? before - 1 : 1;
    if (length + 3 * MOST_ABOVE >= sizeof(folder)) return;
    memcpy(folder, before != 0 ? urdf : ".", length);
    for (int up = 0; up < MOST_ABOVE && !s->found; ++up) {
        folder[length] = '\0';
        try_named(s, folder, length);
        try_path(s, folder, length, "", 0);
        memcpy(folder + length, "/..", 3);
        length += 3;
    }
}

/* Where --package says; false where it does not name the package. */
static bool try_option(search *s, const arg_list *packages) {
    for (size_t i = 0; packages != NULL && i < packages->count; ++i) {
        const char *value = packages->values[i], *equals = strchr(value, '=');
        if ((size_t)(equals - value) != s->name_length ||
            strncmp(value, s->name, s->name_length) != 0)
            continue;
        note_folder(s, equals + 1, strlen(equals + 1));
        try_path(s, equals + 1, strlen(equals + 1), "", 0);
        return true;
    }
    return false;
}

static carom_status say_not_found(cli *cli, const search *s, const char *urdf, const char *uri,
                                  bool by_option) {
    char clean[160] = "", name[64] = "";
    size_t length = 0, name_length = 0;
    size_t most = text_prefix(uri, sizeof(clean) - 1);
    while (most > 0 && !append(clean, sizeof(clean), &length, uri, most)) most /= 2;
    (void)append(name, sizeof(name), &name_length, s->name, s->name_length);
    int at = snprintf(cli->message, sizeof(cli->message), "%.80s: %s is not in %.250s", urdf, clean,
                      s->folders);
    if (s->unnamed != 0 && at > 0 && (size_t)at < sizeof(cli->message))
        at += snprintf(cli->message + at, sizeof(cli->message) - (size_t)at, " and %zu more",
                       s->unnamed);
    if (at > 0 && (size_t)at < sizeof(cli->message))
        snprintf(cli->message + at, sizeof(cli->message) - (size_t)at,
                 by_option ? ", where --package %s says; give its folder"
                           : "; give --package %s=FOLDER, or set ROS_PACKAGE_PATH",
                 *name != '\0' ? name : "NAME");
    return CAROM_IO;
}

static carom_status find_package(cli *cli, const arg_list *packages, const char *urdf,
                                 const char *uri, char *path, size_t size) {
    const char *rest = uri + strlen(PACKAGE_SCHEME);
    rest += strspn(rest, "/"); /* some write package:/// */
    search s = {.name = rest, .name_length = strcspn(rest, "/"), .path = path, .size = size};
    s.inside = rest + s.name_length + strspn(rest + s.name_length, "/");
    if (s.name_length == 0 || *s.inside == '\0') {
        snprintf(cli->message, sizeof(cli->message),
                 "%.80s: a mesh is named %s..., which is not package://NAME/PATH", urdf,
                 PACKAGE_SCHEME);
        return CAROM_BAD_FILE;
    }
    bool by_option = try_option(&s, packages);
    if (!by_option) {
        try_list(&s, "ROS_PACKAGE_PATH", "");
        try_list(&s, "AMENT_PREFIX_PATH", "/share");
        try_above(&s, urdf);
    }
    return s.found ? CAROM_OK : say_not_found(cli, &s, urdf, uri, by_option);
}

carom_status packages_find(cli *cli, const arg_list *packages, const char *urdf, const char *uri,
                           char *path, size_t size) {
    const char *inside = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
    size_t folder = (size_t)(carom_os_file_name(urdf) - urdf); /* with the separator */
    int written;
    if (inside != uri && *inside == '/' && !carom_os_is_separator(inside[1]) &&
        carom_os_is_absolute(inside + 1))
        ++inside; /* file:///C:/name */
    if (strncmp(uri, PACKAGE_SCHEME, strlen(PACKAGE_SCHEME)) == 0)
        return find_package(cli, packages, urdf, uri, path, size);
    if (carom_os_is_absolute(inside))
        written = snprintf(path, size, "%s", inside);
    else
        written = snprintf(path, size, "%.*s%s", (int)folder, urdf, inside);
    if (written > 0 && (size_t)written < size) return CAROM_OK;
    snprintf(cli->message, sizeof(cli->message), "%.80s: a mesh has a name of %zu bytes", urdf,
             strlen(uri));
    return CAROM_BAD_FILE;
}
