/* SPDX-License-Identifier: MIT */
/* completion.h: scripts that complete the tool's words in a shell, made from its tables. */
#ifndef CAROM_CLI_COMPLETION_H
#define CAROM_CLI_COMPLETION_H

#include "cli/command.h"

/* What there is to complete. */
typedef struct completion_words {
    const char *program;                /* "carom" */
    const cli_command *const *commands; /* terminated by NULL; of a program with one command: it */
    bool is_named;                      /* the command is the first argument */
    const arg_option *common;           /* options of every command */
    size_t common_count;
} completion_words;

/* Prints the script for a shell: "bash", "zsh" or "fish". False: for another. */
bool completion_print(FILE *out, const char *shell, const completion_words *words);

#endif
