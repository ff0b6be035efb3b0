/* SPDX-License-Identifier: MIT */
/* Where the meshes of a robot are. A package is looked for in this order, and the first file that
 * is
 * there is taken:
 *   1. packages of the def, NAME=FOLDER: FOLDER/PATH, and nowhere else;
 *   2. each folder D of package_path: D/NAME/PATH, or D/PATH where D is the package itself;
 *   3. each folder D of prefix_path (ROS 2): D/share/NAME/PATH;
 *   4. the folders above the URDF file, up to 8 of them: D/NAME/PATH, and D/PATH where D is the
 *      folder of the file, is called NAME, or has a package.xml.
 *
 * Other names are paths from the folder of the URDF file. These, and absolute ones, must lie in
 * that
 * folder, in a folder of `packages`, or in the nearest folder above with a package.xml, after "."
 * and
 * ".." are taken out; a path in a package may not lead out of it. So no text of a robot can name a
 * file elsewhere, nor one without the ending of a mesh. */
#include <stdio.h>
#include <string.h>

#include "base/platform.h"
#include "robot/robot_urdf.h"

#define PACKAGES_SCHEME     "package://"
#define PACKAGES_MOST_ABOVE 8  /* folders above the URDF file */
#define PACKAGES_MOST_DEPTH 64 /* components of a path */

/* A search for one file. */
typedef struct packages_search {
    const char *name; /* of the package; not terminated */
    size_t name_length;
    const char *inside; /* the path in the package, without a leading slash */
    char *path;         /* that is tried, and at the end the one that was found */
    size_t size;
    bool found;
    char folders[320]; /* that were looked into, "A, B and 3 more" */
    size_t folders_length, unnamed;
} packages_search;

/* ---- Messages -------------------------------------------------------------------------------- */

/* Copies text for a message: what is not printable ASCII becomes '?', as names come from files. */
static void packages_clean(char *to, size_t size, const char *text, size_t length) {
    size_t count = CAROM_MIN(length, size - 1);
    for (size_t i = 0; i < count; ++i) to[i] = text[i] >= 32 && text[i] < 127 ? text[i] : '?';
    to[count] = '\0';
}

static void packages_note(packages_search *s, const char *folder, size_t length) {
    char clean[256];
    if (s->found) return;
    packages_clean(clean, sizeof(clean), length != 0 ? folder : "/", CAROM_MAX(length, 1));
    size_t left = sizeof(s->folders) - s->folders_length;
    int written = s->unnamed != 0 || length >= sizeof(clean)
                      ? (int)left
                      : snprintf(s->folders + s->folders_length, left, "%s%s",
                                 s->folders_length != 0 ? ", " : "", clean);
    if (written > 0 && (size_t)written < left) {
        s->folders_length += (size_t)written;
        return;
    }
    s->folders[s->folders_length] = '\0';
    ++s->unnamed;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static bool packages_is_slash(char c) {
    return c == '/' || carom_os_is_separator(c);
}

static size_t packages_component(const char *path) {
    size_t length = 0;
    while (path[length] != '\0' && !packages_is_slash(path[length])) ++length;
    return length;
}

/* Robots written on Windows may have backslashes in the names of meshes: where those are no
 * separators and no file is called so, they stand for slashes. False: there are none. */
static bool packages_turn_slashes(char *path) {
    bool turned = false;
    for (; *path != '\0'; ++path)
        if (*path == '\\') {
            *path = '/';
            turned = true;
        }
    return turned;
}

/* Takes "." and ".." out of a path, in place; false where it leads above its beginning. */
static bool packages_normalise(char *path) {
    char *starts[PACKAGES_MOST_DEPTH], *to = path, *from = path;
    size_t depth = 0;
    while (packages_is_slash(*from)) *to++ = *from++;
    while (*from != '\0') {
        size_t length = packages_component(from);
        bool is_up = length == 2 && memcmp(from, "..", 2) == 0;
        if (is_up) {
            if (depth == 0) return false;
            to = starts[--depth];
        } else if (length != 0 && !(length == 1 && *from == '.')) {
            if (depth == PACKAGES_MOST_DEPTH) return false;
            starts[depth++] = to;
            if (to > path && !packages_is_slash(to[-1])) *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
        while (packages_is_slash(*from)) ++from;
    }
    *to = '\0';
    return true;
}

/* Whether a path lies in a folder, both normalised. */
static bool packages_is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && packages_is_slash(folder[length - 1])) --length;
    return strncmp(path, folder, length) == 0 && packages_is_slash(path[length]);
}

static bool packages_exists(const char *path) {
    carom_os_file_info info;
    return carom_os_file_info_of(path, &info);
}

/* A path with its links followed and slashes between folders; false where it is not known. */
static bool packages_real(const char *path, char real[CAROM_URDF_PATH_SIZE]) {
    if (!carom_os_real_path(path, real, CAROM_URDF_PATH_SIZE)) return false;
    for (char *at = real; *at != '\0'; ++at)
        if (carom_os_is_separator(*at)) *at = '/';
    return true;
}

/* The bytes of a path before the name at its end. */
static size_t packages_folder_size(const char *path) {
    return (size_t)(carom_os_file_name(path) - path);
}

/* The folder of the URDF file, with its links followed; false where it is not known. */
static bool packages_folder(const carom_urdf *urdf, char folder[CAROM_URDF_PATH_SIZE]) {
    char given[CAROM_URDF_PATH_SIZE];
    if (urdf->path == NULL) return false;
    size_t length = packages_folder_size(urdf->path);
    if (length >= sizeof(given)) return false;
    snprintf(given, sizeof(given), "%.*s", (int)length, urdf->path);
    return packages_real(length != 0 ? given : ".", folder);
}

/* Whether a folder, or one above it, is a package with package.xml that a path lies in. */
static bool packages_is_in_own(const char *path, const char *folder) {
    char above[CAROM_URDF_PATH_SIZE], file[CAROM_URDF_PATH_SIZE + 16];
    snprintf(above, sizeof(above), "%s", folder);
    for (int up = 0; up < PACKAGES_MOST_ABOVE; ++up) {
        snprintf(file, sizeof(file), "%s/package.xml", above);
        if (packages_exists(file)) return packages_is_below(path, above);
        char *slash = strrchr(above, '/');
        if (slash == NULL || slash == above) return false;
        *slash = '\0';
    }
    return false;
}

/* The next line NAME=FOLDER at *text; false at the end. */
typedef struct packages_line {
    const char *name, *folder;
    size_t name_length, folder_length;
} packages_line;

static bool packages_next_line(const char **text, packages_line *line) {
    while (*text != NULL && **text != '\0') {
        const char *at = *text;
        size_t length = strcspn(at, "\n");
        const char *equals = memchr(at, '=', length);
        *text = at + length + (at[length] == '\n' ? 1 : 0);
        if (equals == NULL) continue;
        *line = (packages_line){.name = at,
                                .name_length = (size_t)(equals - at),
                                .folder = equals + 1,
                                .folder_length = length - (size_t)(equals - at) - 1};
        return true;
    }
    return false;
}

static bool packages_is_in_given(const carom_urdf *urdf, const char *path) {
    const char *text = urdf->packages;
    packages_line line;
    while (packages_next_line(&text, &line)) {
        char given[CAROM_URDF_PATH_SIZE], real[CAROM_URDF_PATH_SIZE];
        snprintf(given, sizeof(given), "%.*s",
                 (int)CAROM_MIN(line.folder_length, sizeof(given) - 1), line.folder);
        if (packages_real(given, real) && packages_is_below(path, real)) return true;
    }
    return false;
}

static bool packages_is_mesh(const char *path) {
    static const char *const endings[] = {"stl",  "obj", "ply", "off", "dae", "glb",
                                          "gltf", "3mf", "3ds", "fbx", "x",   "wrl"};
    size_t size = strlen(path);
    if (size > 3 && strcmp(path + size - 3, ".gz") == 0) size -= 3;
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); ++i) {
        size_t length = strlen(endings[i]), k = 0;
        if (size < length + 2 || path[size - length - 1] != '.') continue;
        while (k < length && (path[size - length + k] | 0x20) == (endings[i][k] | 0x20)) ++k;
        if (k == length) return true;
    }
    return false;
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* Tries FOLDER/MIDDLE/PATH, where the middle may be empty. A path that is too long is none. */
static void packages_try(packages_search *s, const char *folder, size_t length, const char *middle,
                         size_t middle_length) {
    if (s->found || length >= CAROM_URDF_PATH_SIZE) return;
    int written = snprintf(s->path, s->size, "%.*s/%.*s%s%s", (int)length, folder,
                           (int)middle_length, middle, middle_length != 0 ? "/" : "", s->inside);
    s->found = written > 0 && (size_t)written < s->size && packages_exists(s->path);
}

static void packages_try_named(packages_search *s, const char *folder, size_t length) {
    packages_note(s, folder, length);
    packages_try(s, folder, length, s->name, s->name_length);
}

/* Whether a folder's last component is the name of the package. */
static bool packages_is_called(const packages_search *s, const char *folder, size_t length) {
    while (length > 1 && packages_is_slash(folder[length - 1])) --length;
    return length > s->name_length && packages_is_slash(folder[length - s->name_length - 1]) &&
           memcmp(folder + length - s->name_length, s->name, s->name_length) == 0;
}

/* The folders of a list of the environment. */
static void packages_try_list(packages_search *s, const char *at, const char *share) {
    while (at != NULL && *at != '\0' && !s->found) {
        size_t length = strcspn(at, carom_os_list_separator);
        char folder[CAROM_URDF_PATH_SIZE];
        int written = snprintf(folder, sizeof(folder), "%.*s%s", (int)length, at, share);
        size_t whole = written > 0 ? (size_t)written : 0;
        if (length != 0 && whole < sizeof(folder)) {
            while (whole > 1 && packages_is_slash(folder[whole - 1])) --whole;
            packages_try_named(s, folder, whole);
            if (packages_is_called(s, folder, whole)) packages_try(s, folder, whole, "", 0);
        }
        at += length + (at[length] != '\0' ? 1 : 0);
    }
}

/* The folder of the file and those above. */
static void packages_try_above(packages_search *s, const carom_urdf *urdf) {
    char folder[CAROM_URDF_PATH_SIZE], real[CAROM_URDF_PATH_SIZE];
    char file[CAROM_URDF_PATH_SIZE + 16];
    bool has_real = packages_folder(urdf, real);
    size_t before = urdf->path != NULL ? packages_folder_size(urdf->path) : 0;
    size_t length = before != 0 ? before - 1 : 1; /* without the separator */
    if (urdf->path == NULL || length + 3 * PACKAGES_MOST_ABOVE >= sizeof(folder)) return;
    memcpy(folder, before != 0 ? urdf->path : ".", length);
    for (int up = 0; up < PACKAGES_MOST_ABOVE && !s->found; ++up) {
        folder[length] = '\0';
        packages_try_named(s, folder, length);
        snprintf(file, sizeof(file), "%s/package.xml", folder);
        if (up == 0 || (has_real && packages_is_called(s, real, strlen(real))) ||
            packages_exists(file))
            packages_try(s, folder, length, "", 0);
        if (has_real) { /* the root has nothing above */
            char *last = strrchr(real, '/');
            if (last == NULL || last[1] == '\0') return;
            *last = '\0';
        }
        memcpy(folder + length, "/..", 3);
        length += 3;
    }
}

/* Where the def says; false where it does not name the package. */
static bool packages_try_given(packages_search *s, const char *text) {
    packages_line line;
    while (packages_next_line(&text, &line)) {
        if (line.name_length != s->name_length || memcmp(line.name, s->name, s->name_length) != 0)
            continue;
        packages_note(s, line.folder, line.folder_length);
        packages_try(s, line.folder, line.folder_length, "", 0);
        return true;
    }
    return false;
}

static carom_status packages_not_found(carom_context *context, const packages_search *s,
                                       const char *path, const char *uri, bool is_given) {
    char clean[160], name[64], more[32] = "";
    packages_clean(clean, sizeof(clean), uri, strlen(uri));
    packages_clean(name, sizeof(name), s->name, s->name_length);
    if (s->unnamed != 0) snprintf(more, sizeof(more), " and %zu more", s->unnamed);
    return carom_fail(context, CAROM_IO,
                      is_given
                          ? "%.80s: %s is not in %s%s, where --package %s says; give its folder"
                          : "%.80s: %s is not in %s%s; give --package %s=FOLDER, or set "
                            "ROS_PACKAGE_PATH",
                      path, clean, s->folders, more, name);
}

static carom_status packages_leads_out(carom_context *context, const char *file) {
    return carom_fail(context, CAROM_BAD_FILE,
                      "%.80s: a mesh is named " PACKAGES_SCHEME
                      "..., and its path leads out of the package; nothing outside is read",
                      file);
}

/* Looks everywhere; true where the def names the folder of the package. */
static bool packages_try_all(packages_search *s, const carom_urdf *urdf) {
    if (packages_try_given(s, urdf->packages)) return true;
    packages_try_list(s, urdf->package_path, "");
    packages_try_list(s, urdf->prefix_path, "/share");
    packages_try_above(s, urdf);
    return false;
}

static carom_status packages_find(carom_context *context, const carom_urdf *urdf, const char *file,
                                  const char *uri, char *path, size_t size) {
    char inside[CAROM_URDF_PATH_SIZE];
    const char *rest = uri + strlen(PACKAGES_SCHEME);
    rest += strspn(rest, "/"); /* some write package:/// */
    packages_search s = {.name = rest,
                         .name_length = strcspn(rest, "/"),
                         .path = path,
                         .size = size,
                         .inside = inside};
    snprintf(inside, sizeof(inside), "%s",
             rest + s.name_length + strspn(rest + s.name_length, "/"));
    if (s.name_length == 0 || *inside == '\0')
        return carom_fail(context, CAROM_BAD_FILE,
                          "%.80s: a mesh is named " PACKAGES_SCHEME
                          "..., which is not package://NAME/PATH",
                          file);
    bool is_dots = s.name_length <= 2 && strncmp(rest, "..", s.name_length) == 0;
    bool is_path = packages_component(rest) < s.name_length; /* a separator of this system */
    if (is_dots || is_path || !packages_normalise(inside) || *inside == '\0')
        return packages_leads_out(context, file);
    bool is_given = packages_try_all(&s, urdf);
    if (!s.found && packages_turn_slashes(inside)) {
        if (!packages_normalise(inside) || *inside == '\0')
            return packages_leads_out(context, file);
        s.folders_length = s.unnamed = 0;
        is_given = packages_try_all(&s, urdf);
    }
    return s.found ? CAROM_OK : packages_not_found(context, &s, file, uri, is_given);
}

/* A path from the folder of the file, or an absolute one. */
static carom_status packages_find_beside(carom_context *context, const carom_urdf *urdf,
                                         const char *file, const char *uri, char *path,
                                         size_t size) {
    char folder[CAROM_URDF_PATH_SIZE], name[CAROM_URDF_PATH_SIZE], clean[160];
    const char *inside = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
    bool is_absolute = packages_is_slash(*inside) || (*inside != '\0' && inside[1] == ':');
    if (inside != uri && *inside == '/' && !packages_is_slash(inside[1]) &&
        carom_os_is_absolute(inside + 1))
        ++inside; /* file:///C:/name */
    snprintf(name, sizeof(name), "%s", inside);
    packages_clean(clean, sizeof(clean), uri, strlen(uri));
    if (!packages_folder(urdf, folder))
        return carom_fail(context, CAROM_IO,
                          "%.80s: the folder of the robot is not known, so %s cannot be found",
                          file, clean);
    for (bool again = true; again;) {
        int written = is_absolute ? snprintf(path, size, "%s", name)
                                  : snprintf(path, size, "%s/%s", folder, name);
        if (written < 0 || (size_t)written >= size)
            return carom_fail(context, CAROM_BAD_FILE, "%.80s: a mesh has a name of %zu bytes",
                              file, strlen(uri));
        bool is_inside = packages_normalise(path) &&
                         (packages_is_below(path, folder) || packages_is_in_own(path, folder) ||
                          packages_is_in_given(urdf, path));
        again = !(is_inside && packages_exists(path)) && packages_turn_slashes(name);
        if (is_inside && !again) return CAROM_OK;
    }
    return carom_fail(context, CAROM_BAD_FILE,
                      "%.80s: the mesh %s leads out of the folder of the robot; nothing outside is "
                      "read: move it, or give --package NAME=FOLDER with its folder",
                      file, clean);
}

carom_status carom_urdf_find_file(carom_context *context, const carom_urdf *urdf, const char *uri,
                                  char *path, size_t size) {
    const char *file = urdf->path != NULL ? urdf->path : "robot";
    char clean[160];
    bool is_package = strncmp(uri, PACKAGES_SCHEME, strlen(PACKAGES_SCHEME)) == 0;
    CAROM_TRY(is_package ? packages_find(context, urdf, file, uri, path, size)
                         : packages_find_beside(context, urdf, file, uri, path, size));
    if (packages_is_mesh(path)) return CAROM_OK;
    packages_clean(clean, sizeof(clean), uri, strlen(uri));
    return carom_fail(context, CAROM_BAD_FILE,
                      "%.80s: %s has no ending of a mesh (stl, obj, ply, off, dae, glb, 3mf ...); "
                      "it is not read",
                      file, clean);
}
