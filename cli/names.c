/* SPDX-License-Identifier: MIT */
/* Names are made different in one pass, as they come: a name that is taken gets the number of its
 * part, again and again until it is free, which ends because it grows. A hash table finds taken
 * names, in the form in which they must differ: as they are, or in lower case. */
#include "cli/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define FEWEST_SLOTS   64u
#define LONGEST_NUMBER 24u /* bytes of _N and the zero */

/* ---- The table ------------------------------------------------------------------------------- */

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* FNV-1a, mixed by the finaliser of splitmix64. */
static uint64_t hash_of(const names *list, const char *name) {
    uint64_t z = UINT64_C(0xCBF29CE484222325);
    for (; *name != '\0'; ++name) {
        z ^= (unsigned char)(list->kind == NAMES_FILE ? lower(*name) : *name);
        z *= UINT64_C(0x100000001B3);
    }
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ (z >> 31);
}

static bool is_same(const names *list, const char *a, const char *b) {
    if (list->kind == NAMES_TEXT) return strcmp(a, b) == 0;
    while (*a != '\0' && lower(*a) == lower(*b)) ++a, ++b;
    return *a == *b;
}

/* The slot of the name, or the empty one where it belongs. */
static uint64_t *find_slot(const names *list, const char *name) {
    uint64_t slot = hash_of(list, name) & (list->slot_count - 1);
    while (list->slots[slot] != 0 && !is_same(list, list->data[list->slots[slot] - 1], name))
        slot = (slot + 1) & (list->slot_count - 1);
    return &list->slots[slot];
}

/* Makes space for one more name. */
static bool reserve(names *list) {
    if (list->count == list->capacity) {
        uint64_t capacity = 2 * list->capacity + 16;
        char **data = realloc(list->data, (size_t)capacity * sizeof(*data));
        if (data == NULL) return false;
        list->data = data;
        list->capacity = capacity;
    }
    if (2 * (list->count + 1) <= list->slot_count) return true;
    uint64_t count = list->slot_count != 0 ? 2 * list->slot_count : FEWEST_SLOTS;
    uint64_t *slots = calloc((size_t)count, sizeof(*slots));
    if (slots == NULL) return false;
    free(list->slots);
    list->slots = slots;
    list->slot_count = count;
    for (uint64_t i = 0; i < list->count; ++i) *find_slot(list, list->data[i]) = i + 1;
    return true;
}

/* ---- Allowed names --------------------------------------------------------------------------- */

static void trim(char *name, const char *blanks) {
    size_t length = strlen(name), skipped = strspn(name, " ");
    while (length > skipped && strchr(blanks, name[length - 1]) != NULL) --length;
    memmove(name, name + skipped, length - skipped);
    name[length - skipped] = '\0';
}

/* Text that every format allows: at most three bytes for each of the original. */
static void put_text(const char *original, char *to) {
    while (*original != '\0') {
        text_character c = text_next(&original);
        strcpy(to, c.bytes);
        to += strlen(c.bytes);
    }
    *to = '\0';
}

static bool is_of_file(const text_character *c) {
    return c->bytes[1] != '\0' ? strcmp(c->bytes, TEXT_REPLACEMENT) != 0
                               : strchr("/\\:*?\"<>|", c->bytes[0]) == NULL;
}

/* CON, com1, NUL.txt and the like open a device on Windows. */
static bool is_device(const char *name) {
    static const char *const devices[] = {"con", "prn", "aux", "nul"};
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]) && length == 3; ++i)
        if (text_compare_caseless_n(name, devices[i], 3) == 0) return true;
    return length == 4 &&
           (text_compare_caseless_n(name, "com", 3) == 0 ||
            text_compare_caseless_n(name, "lpt", 3) == 0) &&
           name[3] >= '0' && name[3] <= '9';
}

/* Changes text into the name of a file, or part of one. True where it must have a number. */
static bool make_file_name(char *name) {
    char *to = name;
    bool numbered = false;
    for (const char *at = name; *at != '\0';) {
        text_character c = text_next(&at);
        if (!is_of_file(&c)) strcpy(c.bytes, "_");
        numbered = numbered || c.bytes[1] != '\0';
        memmove(to, c.bytes, strlen(c.bytes));
        to += strlen(c.bytes);
    }
    *to = '\0';
    name[text_prefix(name, NAMES_FILE_BYTES)] = '\0';
    trim(name, " .");                                               /* Windows drops these */
    if (*name != '\0' && strchr(".-~", *name) != NULL) *name = '_'; /* hidden, an option, a home */
    if (is_device(name)) {
        memmove(name + 1, name, strlen(name) + 1);
        *name = '_';
    }
    return numbered;
}

const char *names_add(names *list, const char *original, uint64_t number) {
    size_t size = 3 * strlen(original) + 8;
    char *name = malloc(size + LONGEST_NUMBER);
    if (name == NULL || !reserve(list)) {
        free(name);
        return NULL;
    }
    put_text(original, name);
    trim(name, " ");
    bool numbered = list->kind == NAMES_FILE && make_file_name(name);
    if (*name == '\0') {
        strcpy(name, "part");
        numbered = true;
    }
    while (numbered || *find_slot(list, name) != 0) {
        size_t length = strlen(name);
        char *longer = realloc(name, length + LONGEST_NUMBER);
        if (longer == NULL) {
            free(name);
            return NULL;
        }
        name = longer;
        snprintf(name + length, LONGEST_NUMBER, "_%llu", (unsigned long long)number);
        numbered = false;
    }
    *find_slot(list, name) = list->count + 1;
    list->data[list->count++] = name;
    return name;
}

void names_free(names *list) {
    for (uint64_t i = 0; i < list->count; ++i) free(list->data[i]);
    free(list->data);
    free(list->slots);
    *list = (names){0};
}
