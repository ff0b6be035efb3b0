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
    CLI_MACHINE = 4 /* no memory, no device, a standard output that cannot be written */
    /* 128 + a signal's number: interrupted by it (130: Ctrl-C) */
};

/* The `schema` of every JSON object; the number grows when a key changes its meaning. */
#define CLI_SCHEMA "carom/1"

/* What every command has at hand. */
typedef struct cli {
    bool json, help, version, quiet;
    uint64_t threads; /* 0: all */
    int isa;          /* a carom_isa */
    int device;       /* a carom_backend */
    carom_context *context;
    bar bar;
    const char *name; /* of the command, as typed */
    char **inputs;    /* the files that it reads: the first of its arguments */
    size_t input_count;
    bool failed;       /* a failure was told that no other one may follow */
    char message[512]; /* about the last failure of the tool's own, which no context knows; or "" */
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
    /* Returns an exit code. `options` is that struct, with the defaults where nothing was given. */
    int (*run)(cli *cli, const void *options, size_t count, char **arguments);
    const void *defaults; /* such a struct, so that 0 can be a value; NULL: all zero */
    size_t inputs;        /* so many of the arguments, the first, are files that it reads; "-" among
                             them is the standard input */
    bool on_cuda;         /* knows --device cuda; others refuse it */
} cli_command;

#define CLI_LARGEST_OPTIONS 512

extern const cli_command *const cli_commands[]; /* ended by NULL */
extern const cli_command cli_bench, cli_convert, cli_demo, cli_gas, cli_info, cli_kfree, cli_make,
    cli_pairs, cli_query;

/* The whole tool but for the process around it: returns the exit code. Changes the order of argv.
 */
int cli_main(size_t argc, char **argv);

/* Begins the one JSON object of --json on the standard output: schema, command and inputs. */
json cli_begin_json(const cli *cli);
void cli_end_json(json *j);

/* What the last failure was: the tool's own message, the context's, or the name of the status. */
const char *cli_sentence(const cli *cli, carom_status status);

/* Prints the failure of a call, by cli_sentence, and returns the exit code it means. */
int cli_fail(cli *cli, carom_status status);

/* The same for a failure of the tool's own, which no context has a message for. */
int cli_fail_with(cli *cli, carom_status status, const char *message);

/* What a failure means for the exit code; nothing is printed. */
int cli_code(carom_status status);

/* Prints a message about wrong use of `command` (NULL: of carom) and returns CLI_USAGE. */
int cli_misuse(const cli *cli, const cli_command *command, const char *message);

#endif
