/* SPDX-License-Identifier: MIT */
/* command.h: what a sub-command is. Each lives in a file of its own and is listed in commands.c. */
#ifndef CAROM_CLI_COMMAND_H
#define CAROM_CLI_COMMAND_H

#include "carom/carom.h"
#include "cli/args.h"
#include "cli/bar.h"
#include "cli/json.h"

/* Exit codes, documented in carom.1. */
enum {
    CLI_OK = 0,
    CLI_YES = 1,    /* "yes, they collide", with --check only */
    CLI_USAGE = 2,  /* the command line is wrong */
    CLI_INPUT = 3,  /* a file or value cannot be used */
    CLI_MACHINE = 4 /* no memory, no device, cancelled */
};

/* What every command has at hand. */
typedef struct cli {
    bool json, help, version, quiet;
    uint64_t threads;
    int isa;    /* a carom_isa */
    int device; /* a carom_backend */
    carom_context *context;
    bar bar;
} cli;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MESH [-o FILE]": after the name in the usage line */
    const char *summary;   /* one line for the list of commands */
    const char *details;   /* paragraphs for its own help, or NULL */
    const arg_option *options;
    size_t option_count;
    size_t options_size; /* of the struct the options' places are in */
    size_t fewest, most; /* positional arguments */
    /* Returns an exit code. `options` is that struct, zero where nothing was given. */
    int (*run)(cli *cli, const void *options, size_t count, char **arguments);
} cli_command;

#define CLI_LARGEST_OPTIONS 512

extern const cli_command *const cli_commands[]; /* ended by NULL */
extern const cli_command cli_bench, cli_convert, cli_demo, cli_gas, cli_info, cli_kfree, cli_make,
    cli_pairs, cli_query;

/* The whole tool but for the process around it: returns the exit code. Changes the order of argv.
 */
int cli_main(size_t argc, char **argv);

/* Prints the failure of a call (the context's sentence) and returns the exit code it means. */
int cli_fail(cli *cli, carom_status status);

/* The same for a failure of the tool's own, which no context has a sentence for. */
int cli_fail_with(cli *cli, carom_status status, const char *sentence);

/* Prints a sentence about wrong use of `command` (NULL: of carom) and returns CLI_USAGE. */
int cli_misuse(const cli *cli, const cli_command *command, const char *sentence);

#endif
