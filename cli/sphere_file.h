/* SPDX-License-Identifier: MIT */
/* sphere_file.h: the spheres of a planner, link by link, from the text of a cuRobo or XRDF file. */
#ifndef CAROM_CLI_SPHERE_FILE_H
#define CAROM_CLI_SPHERE_FILE_H

#include "carom/carom.h"

/* The spheres of a link. */
typedef struct sphere_set {
    char name[CAROM_URDF_NAME_SIZE];
    carom_ball *balls;
    uint64_t count, capacity;
} sphere_set;

/* All zero but its name is an empty one. */
typedef struct sphere_file {
    const char *name; /* for messages */
    sphere_set *sets;
    uint64_t count, capacity;
    char message[320]; /* of CAROM_BAD_FILE: "NAME:LINE: WHY" */
} sphere_file;

/* Reads a text that ends with a zero byte, text[size]. Spheres with a negative radius are
 * switched off and left out. After a failure what was read before is there, and to be freed.
 * CAROM_BAD_FILE, CAROM_NO_MEMORY. */
carom_status sphere_file_read(sphere_file *file, const char *text, size_t size);

/* The same piece by piece: a link, of a line of the file, then its spheres. */
carom_status sphere_file_add_set(sphere_file *file, uint64_t line, const char *name, size_t length);
carom_status sphere_file_add(sphere_file *file, carom_ball ball);

/* Keeps a message; returns CAROM_BAD_FILE. */
carom_status sphere_file_fail(sphere_file *file, uint64_t line, const char *why);

void sphere_file_free(sphere_file *file);

#endif
