/* SPDX-License-Identifier: MIT */
/* command.h: the interface of a sub-command. Each has its own file cli/X.c, which defines
 * `const cli_command cli_X`; the build finds it there. */
#ifndef CAROM_CLI_COMMAND_H
#define CAROM_CLI_COMMAND_H

#include "carom/carom.h"
#include "cli/args.h"
#include "cli/bar.h"
#include "cli/files.h"
#include "cli/json.h"

/* Exit codes, documented in carom.1. */
enum {
    CLI_OK = 0,
    CLI_YES = 1,    /* with --check only: "yes, they collide", or "no, that was not reached" */
    CLI_USAGE = 2,  /* the command line is wrong */
    CLI_INPUT = 3,  /* a file or value cannot be used */
    CLI_MACHINE = 4 /* no memory, no device, or standard output cannot be written */
    /* 128 + a signal's number: interrupted by it (130: Ctrl-C) */
};

/* The `schema` of every JSON object; its number increases when a key changes its meaning. */
#define CLI_SCHEMA "carom/1"

/* The state that every command receives. */
typedef struct cli {
    bool json, help, version, quiet, open;
    uint64_t threads;     /* 0: all */
    uint64_t limit_input; /* bytes of one file, unpacked */
    int isa;              /* a carom_isa */
    int device;           /* a carom_backend */
    carom_context *context;
    bar bar;
    const char *name;                  /* of the command, as given */
    char *line;                        /* the whole call; NULL: there was no memory */
    const char *page;                  /* that was written, for --open; NULL: none */
    const struct cli_command *command; /* the one that runs; or NULL */
    char **inputs;                     /* the files that it reads: the first of its arguments */
    size_t input_count;
    char up;           /* the axis of the first mesh that points up: 'y' or 'z'; 0: none was read */
    double metres;     /* the length of its unit; 0: not known */
    files files;       /* that were read or written so far */
    bool failed;       /* a failure was reported; no other one may follow */
    bool blamed;       /* a failure that is no consequence of a signal was reported */
    char message[512]; /* the tool's own last failure, which no context knows; or "" */
} cli;

typedef struct cli_command {
    int order; /* position in the list of commands; the build reads it (cmake/lists.cmake) */
    const char *name;
    const char *arguments; /* "MESH [-o FILE]": follows the name in the usage line */
    const char *summary;   /* one line for the list of commands */
    const char *details;   /* paragraphs for the command's help, or NULL */
    const arg_option *options;
    size_t option_count;
    size_t options_size; /* of the struct that the options' offsets refer to */
    size_t fewest, most; /* number of positional arguments */
    /* Returns an exit code. `options` is that struct, with defaults where an option was not
     * given. */
    int (*run)(cli *cli, const void *options, size_t count, char **arguments);
    const void *defaults; /* such a struct, so that 0 can be a value; NULL: all zero */
    size_t inputs;        /* number of leading arguments that are files to read; "-" among them is
                             the standard input */
    size_t outputs;       /* number of arguments after these that are files to write */
    const char *(*endings)(int index); /* of these: their formats (endings.h) */
    const char *(*words)(int index);   /* the names that its arguments take, NULL after the last; or
                                          NULL, then they are files (completion.h) */
    bool on_cuda;                      /* supports --device cuda; others refuse it */
    bool makes_page;                   /* always writes a page, whatever its options are */
    const char *program; /* the name of the program whose only command it is; NULL: "carom NAME" */
    const char *starts;  /* the program beside this one that is given all arguments instead; or
                             NULL */
} cli_command;

#define CLI_LARGEST_OPTIONS 1024

/* All commands by their order, terminated by NULL: the list is made by the build. */
extern const cli_command *const cli_commands[];

/* Runs the tool, except for process setup; returns the exit code. Changes the order of argv. */
int cli_main(size_t argc, char **argv);

/* The same for a program that has one command and does not name it. */
int cli_main_of(const cli_command *command, size_t argc, char **argv);

/* Begins the single JSON object of --json on the standard output: schema, command and inputs. */
json cli_begin_json(const cli *cli);
void cli_end_json(json *j);

/* The beginning of that object, for files of JSON: it is open then. */
void cli_put_envelope(const cli *cli, json *j);

/* Describes the last failure: the tool's own message, the context's, or the name of the status. */
const char *cli_message(const cli *cli, carom_status status);

/* Puts the name of a file in front of the context's message where the status is a failure of input,
 * and the message does not begin with it; the status. */
carom_status cli_of_file(cli *cli, const char *path, carom_status status);

/* Prints the failure of a call, as cli_message describes it, and returns its exit code. */
int cli_fail(cli *cli, carom_status status);

/* The same for a failure of the tool itself, for which no context has a message. */
int cli_fail_with(cli *cli, carom_status status, const char *message);

/* The exit code for a status; prints nothing. */
int cli_code(carom_status status);

/* Prints a message about incorrect use of the command and returns CLI_USAGE. */
int cli_misuse(const cli *cli, const char *message);

#endif
