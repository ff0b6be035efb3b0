/* SPDX-License-Identifier: MIT */
/* Of YAML what cuRobo and XRDF files use is read, line by line: a map `collision_spheres` or
 * `spheres` of links, each with a list of items that have a `center` of three numbers in
 * brackets and a `radius`, in block or flow style. Anything else there is refused with its line. */
#include "cli/sphere_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sets ------------------------------------------------------------------------------------ */

carom_status sphere_file_fail(sphere_file *file, uint64_t line, const char *why) {
    snprintf(file->message, sizeof(file->message), "%.200s:%" PRIu64 ": %s", file->name, line, why);
    return CAROM_BAD_FILE;
}

carom_status sphere_file_add_set(sphere_file *file, uint64_t line, const char *name,
                                 size_t length) {
    if (length >= CAROM_URDF_NAME_SIZE)
        return sphere_file_fail(file, line, "the name of a link has more than 255 bytes");
    if (file->count == file->capacity) {
        uint64_t capacity = 2 * file->capacity + 16;
        sphere_set *sets = realloc(file->sets, capacity * sizeof(*sets));
        if (sets == NULL) return CAROM_NO_MEMORY;
        file->sets = sets;
        file->capacity = capacity;
    }
    sphere_set *set = &file->sets[file->count++];
    *set = (sphere_set){.count = 0};
    memcpy(set->name, name, length);
    return CAROM_OK;
}

carom_status sphere_file_add(sphere_file *file, carom_ball ball) {
    sphere_set *set = &file->sets[file->count - 1];
    if (set->count == set->capacity) {
        uint64_t capacity = 2 * set->capacity + 16;
        carom_ball *balls = realloc(set->balls, capacity * sizeof(*balls));
        if (balls == NULL) return CAROM_NO_MEMORY;
        set->balls = balls;
        set->capacity = capacity;
    }
    set->balls[set->count++] = ball;
    return CAROM_OK;
}

void sphere_file_free(sphere_file *file) {
    for (uint64_t i = 0; i < file->count; ++i) free(file->sets[i].balls);
    free(file->sets);
    file->sets = NULL;
    file->count = file->capacity = 0;
}

/* ---- YAML ------------------------------------------------------------------------------------ */

typedef struct yaml {
    sphere_file *file;
    const char *line; /* not terminated */
    size_t length, indent;
    uint64_t number;
    size_t base, links; /* indents of the map, and of the names of links; SIZE_MAX: not known */
    bool inside, has_centre, has_radius, has_item;
    carom_ball ball;
} yaml;

/* Takes an item that is complete; one that lacks something is refused. */
static carom_status end_item(yaml *y) {
    bool complete = y->has_centre && y->has_radius, has_item = y->has_item;
    y->has_item = y->has_centre = y->has_radius = false;
    if (!has_item) return CAROM_OK;
    if (!complete)
        return sphere_file_fail(y->file, y->number,
                                "a sphere before this line lacks its center or radius");
    /* cuRobo switches spheres off by a negative radius. */
    return y->ball.radius < 0.0 ? CAROM_OK : sphere_file_add(y->file, y->ball);
}

static bool read_numbers(const char **at, const char *end, double *numbers, int count) {
    for (int i = 0; i < count; ++i) {
        char *after;
        while (*at < end && strchr(" \t,[", **at) != NULL) ++*at;
        numbers[i] = *at < end ? strtod(*at, &after) : HUGE_VAL;
        if (*at >= end || after == *at || after > end || !(fabs(numbers[i]) <= 1e100)) return false;
        *at = after;
    }
    return true;
}

/* The keys of a sphere on one line: center: [x, y, z] and radius: r, in any order. */
static carom_status read_keys(yaml *y, const char *at, const char *end) {
    while (at < end) {
        while (at < end && strchr(" \t{},\"'", *at) != NULL) ++at;
        if (at >= end) break;
        bool centre = end - at > 6 && strncmp(at, "center", 6) == 0;
        bool radius = end - at > 6 && strncmp(at, "radius", 6) == 0;
        double n[3] = {0.0, 0.0, 0.0};
        if (!centre && !radius)
            return sphere_file_fail(y->file, y->number,
                                    "a sphere has a center and a radius, nothing else");
        if (centre ? y->has_centre : y->has_radius)
            return sphere_file_fail(y->file, y->number,
                                    "a sphere has two centers or radii; each begins with -");
        at += 6;
        while (at < end && strchr(" \t\"':", *at) != NULL) ++at;
        if (!read_numbers(&at, end, n, centre ? 3 : 1))
            return sphere_file_fail(y->file, y->number,
                                    centre ? "center takes three numbers in brackets, on one line"
                                           : "radius takes a number");
        if (centre) {
            while (at < end && *at != ']') ++at;
            at += at < end ? 1 : 0;
            y->ball.centre = (carom_vec3){n[0], n[1], n[2]};
            y->has_centre = true;
        } else {
            y->ball.radius = n[0];
            y->has_radius = true;
        }
    }
    return CAROM_OK;
}

/* The length of a key without quotes; 0: the line is no `key:`. */
static size_t key_of(const yaml *y, const char **key) {
    const char *at = y->line + y->indent, *end = y->line + y->length;
    const char *colon = at;
    while (colon < end && *colon != ':') ++colon;
    if (colon == end || *at == '-' || *at == '{') return 0;
    *key = at;
    size_t length = (size_t)(colon - at);
    if (length >= 2 && (*at == '"' || *at == '\'')) {
        ++*key;
        length -= 2;
    }
    return length;
}

static carom_status read_line(yaml *y) {
    const char *key = y->line, *end = y->line + y->length;
    size_t length = key_of(y, &key);
    if (!y->inside) {
        bool begins = (length == 17 && memcmp(key, "collision_spheres", 17) == 0) ||
                      (length == 7 && memcmp(key, "spheres", 7) == 0);
        if (!begins) return CAROM_OK;
        if (end[-1] != ':')
            return sphere_file_fail(y->file, y->number,
                                    "the spheres are in another file; give that one");
        y->inside = true;
        y->base = y->indent;
        return CAROM_OK;
    }
    if (y->indent <= y->base) {
        y->inside = false;
        return end_item(y);
    }
    if (y->links == SIZE_MAX) y->links = y->indent;
    if (y->indent == y->links && length != 0) {
        carom_status status = end_item(y);
        bool is_empty = end[-1] == ']' && end[-2] == '[';
        if (status == CAROM_OK && end[-1] != ':' && !is_empty)
            status =
                sphere_file_fail(y->file, y->number, "the name of a link should end in a colon");
        return status != CAROM_OK ? status : sphere_file_add_set(y->file, y->number, key, length);
    }
    const char *at = y->line + y->indent;
    if (y->file->count == 0)
        return sphere_file_fail(y->file, y->number, "a sphere comes before the name of a link");
    if (*at == '-') {
        carom_status status = end_item(y);
        if (status != CAROM_OK) return status;
        y->has_item = true;
        ++at;
    }
    if (!y->has_item) return sphere_file_fail(y->file, y->number, "a sphere should begin with -");
    return read_keys(y, at, end);
}

carom_status sphere_file_read(sphere_file *file, const char *text, size_t size) {
    yaml y = {.file = file, .links = SIZE_MAX};
    carom_status status = CAROM_OK;
    for (const char *at = text, *end = text + size; at < end && status == CAROM_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *comment = memchr(at, '#', (size_t)((stop != NULL ? stop : end) - at));
        const char *last = comment != NULL ? comment : stop != NULL ? stop : end;
        y.line = at;
        ++y.number;
        while (last > at && strchr(" \t\r", last[-1]) != NULL && last[-1] != '\0') --last;
        y.length = (size_t)(last - at);
        for (y.indent = 0; y.indent < y.length && at[y.indent] == ' ';) ++y.indent;
        if (y.indent < y.length) status = read_line(&y);
        at = stop != NULL ? stop + 1 : end;
    }
    if (status == CAROM_OK) status = end_item(&y);
    if (status == CAROM_OK && file->count == 0)
        status = sphere_file_fail(file, y.number,
                                  "there is no map collision_spheres (cuRobo) or spheres");
    return status;
}
