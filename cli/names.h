/* SPDX-License-Identifier: MIT */
/* names.h: the names under which parts are written: all different, and allowed where they go. */
#ifndef CAROM_CLI_NAMES_H
#define CAROM_CLI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum names_kind {
    NAMES_TEXT = 0, /* keys of YAML, links of URDF, cells of CSV, titles of reports */
    NAMES_FILE      /* names of files, or parts of them, on every file system */
} names_kind;

/* A list of names that differ. Initialise with {0} or {.kind = NAMES_FILE}. */
typedef struct names {
    names_kind kind;
    char **data; /* each stays where it is until names_free */
    uint64_t count, capacity;
    uint64_t *slots; /* a hash table, at most half full: the index of a name plus one */
    uint64_t slot_count;
} names;

/* Appends the name under which a part is written. The rules are those of the library's OBJ writer:
 * blanks at both ends are cut off; part 3 is called part_3 where it has no name, and NAME_3 where
 * an earlier part is called NAME. Characters that text formats do not allow are replaced (text.h).
 *
 * Names of files keep no character that some file system forbids, are at most NAMES_FILE_BYTES long
 * before a number is added, are never the name of a device of Windows, and differ also where case
 * is not told apart. Those with characters beyond ASCII always have the number: what is the same
 * name then depends on the file system.
 *
 * Returns the name, or NULL when there is no memory. */
const char *names_add(names *list, const char *original, uint64_t number);

void names_free(names *list);

#define NAMES_FILE_BYTES 100u /* of the 255 that file systems allow; the rest is the caller's */

#endif
