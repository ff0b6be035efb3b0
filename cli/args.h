/* SPDX-License-Identifier: MIT */
/* args.h: command-line options described by tables. Parsing and --help use the same tables. */
#ifndef CAROM_CLI_ARGS_H
#define CAROM_CLI_ARGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum arg_kind {
    ARG_FLAG,   /* bool */
    ARG_TEXT,   /* const char * */
    ARG_LIST,   /* arg_list: a text each time that it is given */
    ARG_INPUT,  /* const char *: a file that is read */
    ARG_OUTPUT, /* const char *: a file that is written; the tool refuses one that it reads, too */
    ARG_COUNT,  /* uint64_t: 12, 10k, 2.5M, 1e6, exactly; k, M, G are powers of 1000 */
    ARG_SOME,   /* the same from 1 on: 0 would mean that the option is not given */
    ARG_NUMBER, /* double, finite */
    ARG_SIZE,   /* double, finite, above 0 */
    ARG_CHOICE  /* int: index of the choice */
} arg_kind;

#define ARG_MOST_LIST 24 /* times */

typedef struct arg_list {
    size_t count;
    const char *values[ARG_MOST_LIST];
} arg_list;

typedef struct arg_option {
    const char *name; /* "--threads" */
    char letter;      /* 'o' for -o, or 0 */
    arg_kind kind;
    size_t offset;     /* offset of the value in the command's option struct */
    const char *value; /* the value's name in help: "N" */
    const char *help;
    const char *(*choice)(int index); /* ARG_CHOICE: the names, NULL after the last. ARG_OUTPUT: the
                                         endings of its formats (endings.h) */
} arg_option;

/* Defines type_choice, which gives the first `count` names of an enum of the library. */
#define ARG_CHOICES(type, count)                                                                   \
    static const char *type##_choice(int index) {                                                  \
        return index < (int)(count) ? type##_name((type)index) : NULL;                             \
    }                                                                                              \
    struct type##_choice

/* Default values that mark an option as not given. No user would give them. */
#define ARG_NO_COUNT  UINT64_MAX
#define ARG_NO_NUMBER ((double)NAN)

/* A table and the struct its values go to. */
typedef struct arg_set {
    const arg_option *options;
    size_t count;
    void *values;
} arg_set;

typedef struct arg_result {
    size_t count;      /* positional arguments, moved to the front of argv */
    char message[256]; /* why parsing failed, or empty */
} arg_result;

/* Reads options at any position until "--". The other arguments are positional and moved to the
 * front of argv. A value may follow as "--name value", "--name=value", "-o value" or "-ovalue".
 * Returns false with a message at the first argument that fits no table. */
bool args_parse(const arg_set *sets, size_t set_count, size_t argc, char **argv,
                arg_result *result);

void args_print_help(FILE *out, const arg_option *options, size_t count);

/* Reads the whole text as a number: no trailing characters, no NaN or infinity, and no nonzero text
 * that rounds to 0. */
bool args_read_number(const char *text, double *value);
bool args_read_count(const char *text, uint64_t *value);

/* The name in `names` (terminated by NULL) nearest to a mistyped word, or NULL when none is
 * near. */
const char *args_did_you_mean(const char *word, const char *const *names);

#endif
