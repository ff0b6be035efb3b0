/* SPDX-License-Identifier: MIT */
/* From argv to a command: global options, help, version, the context, the exit code. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/platform.h"
#include "cli_commands.h"

ARG_CHOICES(carom_isa, CAROM_ISA_COUNT);
ARG_CHOICES(carom_backend, CAROM_BACKEND_COUNT);

static const arg_option global_options[] = {
    {"--help", 'h', ARG_FLAG, offsetof(cli, help), NULL, "show this help", NULL},
    {"--json", 0, ARG_FLAG, offsetof(cli, json), NULL, "print one JSON object", NULL},
    {"--threads", 'j', ARG_COUNT, offsetof(cli, threads), "N", "use N threads, 1 to 256 (all)",
     NULL},
    {"--device", 0, ARG_CHOICE, offsetof(cli, device), "NAME", "cpu or cuda (cpu)",
     carom_backend_choice},
    {"--isa", 0, ARG_CHOICE, offsetof(cli, isa), "NAME", "best, baseline, avx2 or avx512 (best)",
     carom_isa_choice},
    {"--limit-input", 0, ARG_COUNT, offsetof(cli, limit_input), "BYTES",
     "refuse a file or pipe beyond this size, unpacked (64G)", NULL},
    {"--open", 0, ARG_FLAG, offsetof(cli, open), NULL,
     "open the page that is written (.html) in the browser", NULL},
    {"--quiet", 'q', ARG_FLAG, offsetof(cli, quiet), NULL, "no progress bar", NULL},
    {"--version", 0, ARG_FLAG, offsetof(cli, version), NULL, "what this build is made of", NULL},
};
#define GLOBAL_COUNT (sizeof(global_options) / sizeof(global_options[0]))

/* ---- Help and version ------------------------------------------------------------------------ */

static void print_help(FILE *out) {
    fputs("carom: 3D collision detection with exact or bounded answers\n\n"
          "usage: carom COMMAND [ARGUMENTS] [OPTIONS]\n\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; ++i)
        fprintf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\noptions of every command:\n", out);
    args_print_help(out, global_options, GLOBAL_COUNT);
    fputs("\n`carom COMMAND --help` tells more about one; `man carom` has it all.\n", out);
}

/* How a command is called. */
static const char *call_of(const cli_command *command, char call[32]) {
    if (command->program != NULL) return command->program;
    snprintf(call, 32, "carom %s", command->name);
    return call;
}

static void print_command_help(FILE *out, const cli_command *command) {
    char call[32];
    const char *name = call_of(command, call);
    fprintf(out, "%s: %s\n\nusage: %s%s%s\n", name, command->summary, name,
            command->arguments[0] != '\0' ? " " : "", command->arguments);
    if (command->details != NULL) fprintf(out, "\n%s\n", command->details);
    if (command->option_count != 0) fputs("\noptions:\n", out);
    args_print_help(out, command->options, command->option_count);
    fputs("\noptions of every command:\n", out);
    args_print_help(out, global_options, GLOBAL_COUNT);
}

/* Prints help as it is, or as the text of a JSON object. */
static int show_help(cli *cli, const cli_command *command) {
    platform_memory text = {0};
    if (cli->json && !platform_open_memory(&text))
        return cli_fail_with(cli, CAROM_NO_MEMORY, "no memory for the help");
    FILE *out = cli->json ? text.file : stdout;
    if (command != NULL)
        print_command_help(out, command);
    else
        print_help(out);
    if (!cli->json) return CLI_OK;
    bool whole = platform_close_memory(&text);
    if (whole) {
        json j = cli_begin_json(cli);
        json_text(&j, "help", text.bytes);
        cli_end_json(&j);
    }
    free(text.bytes);
    return whole ? CLI_OK : cli_fail_with(cli, CAROM_NO_MEMORY, "no memory for the help");
}

static int print_version(cli *cli) {
    const carom_build *build = carom_build_get();
    carom_context *context;
    carom_context_info info = {0};
    carom_status status = carom_context_create(NULL, &context);
    if (status != CAROM_OK) return cli_fail(cli, status);
    (void)carom_context_get_info(context, &info);
    carom_context_destroy(context);
    char cuda[256];
    bool have_cuda = carom_cuda_describe(cuda, sizeof(cuda));
    if (cli->json) {
        cli->name = "version";
        json j = cli_begin_json(cli);
        json_text(&j, "version", build->version);
        json_text(&j, "commit", build->commit);
        json_text(&j, "compiler", build->compiler);
        json_text(&j, "instruction_sets", build->instruction_sets);
        json_text(&j, "instruction_set", carom_isa_name(info.isa));
        json_count(&j, "threads", info.threads);
        json_text(&j, "cuda", have_cuda ? cuda : NULL);
        cli_end_json(&j);
    } else {
        printf("carom %s\n", build->version);
        printf("commit            %s\n", build->commit);
        printf("compiler          %s\n", build->compiler);
        printf("instruction sets  %s; here: %s\n", build->instruction_sets,
               carom_isa_name(info.isa));
        printf("threads           %u\n", info.threads);
        printf("CUDA              %s\n", cuda);
    }
    return CLI_OK;
}

/* ---- JSON object ----------------------------------------------------------------------------- */

void cli_put_envelope(const cli *cli, json *j) {
    json_begin_object(j, NULL);
    json_text(j, "schema", CLI_SCHEMA);
    json_text(j, "command", cli->name);
    if (cli->input_count == 0) return;
    json_begin_array(j, "inputs");
    for (size_t i = 0; i < cli->input_count; ++i) json_text(j, NULL, cli->inputs[i]);
    json_end_array(j);
}

json cli_begin_json(const cli *cli) {
    json j = {stdout, false};
    interrupt_set_last_words(NULL); /* from here on the object is printed normally */
    cli_put_envelope(cli, &j);
    return j;
}

void cli_end_json(json *j) {
    json_end_object(j);
    putc('\n', j->out);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void end_json_failure(json *j, const char *message, const char *status) {
    json_text(j, "error", message);
    json_text(j, "status", status);
    cli_end_json(j);
}

static void print_json_failure(const cli *cli, const char *message, const char *status) {
    json j = cli_begin_json(cli);
    end_json_failure(&j, message, status);
}

int cli_misuse(const cli *cli, const char *message) {
    char call[32];
    const char *name = cli->command != NULL ? call_of(cli->command, call) : NULL;
    if (name != NULL)
        fprintf(stderr, "%s: %s\n`%s --help` tells how to use it\n", name, message, name);
    else
        fprintf(stderr, "carom: %s\n`carom --help` tells how to use it\n", message);
    if (cli->json) print_json_failure(cli, message, "wrong use");
    return CLI_USAGE;
}

#define INTERRUPTED "interrupted"

static int code_of(carom_status status) {
    bool machine = status == CAROM_CANCELLED || status == CAROM_INVALID ||
                   status == CAROM_NO_MEMORY || status == CAROM_NO_DEVICE;
    return machine ? CLI_MACHINE : CLI_INPUT;
}

int cli_code(carom_status status) {
    return interrupt_seen() ? interrupt_exit_code() : code_of(status);
}

/* After a signal every failure is a consequence of it: a call was cancelled, or a read returned. */
int cli_fail_with(cli *cli, carom_status status, const char *message) {
    bool interrupted = interrupt_seen();
    int code = interrupted ? interrupt_exit_code() : code_of(status);
    if (cli->failed) return code;
    cli->failed = interrupted || cli->json;
    cli->blamed = cli->blamed || !interrupted;
    if (interrupted) {
        interrupt_was_told();
        message = INTERRUPTED;
        status = CAROM_CANCELLED;
    }
    bar_clear(&cli->bar);
    fprintf(stderr, "carom: %s\n", message);
    if (cli->json) print_json_failure(cli, message, carom_status_name(status));
    return code;
}

const char *cli_message(const cli *cli, carom_status status) {
    if (*cli->message != '\0') return cli->message;
    const char *message = carom_context_message(cli->context);
    return *message != '\0' ? message : carom_status_name(status);
}

carom_status cli_of_file(cli *cli, const char *path, carom_status status) {
    const char *message = carom_context_message(cli->context);
    if (status == CAROM_OK || code_of(status) != CLI_INPUT || *cli->message != '\0' ||
        *message == '\0' || strncmp(message, path, strlen(path)) == 0)
        return status;
    snprintf(cli->message, sizeof(cli->message), "%.200s: %.290s", path, message);
    return status;
}

int cli_fail(cli *cli, carom_status status) {
    return cli_fail_with(cli, status, cli_message(cli, status));
}

/* Prepares the output for the case that a signal handler has to terminate the process. */
static void prepare_last_words(const cli *cli) {
    platform_memory text;
    if (!cli->json || !platform_open_memory(&text)) return;
    json j = {text.file, false};
    cli_put_envelope(cli, &j);
    end_json_failure(&j, INTERRUPTED, carom_status_name(CAROM_CANCELLED));
    if (platform_close_memory(&text)) interrupt_set_last_words(text.bytes);
    free(text.bytes);
}

/* ---- Running a command ----------------------------------------------------------------------- */

static const cli_command *find_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; ++i)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

static int unknown_command(const cli *cli, const char *name) {
    const char *names[64];
    size_t count = 0;
    for (; cli_commands[count] != NULL && count < 62; ++count)
        names[count] = cli_commands[count]->name;
    names[count++] = "help";
    names[count] = NULL;
    const char *near = args_did_you_mean(name, names);
    char message[256];
    snprintf(message, sizeof(message),
             near != NULL ? "unknown command '%.80s'; did you mean `carom %s`?"
                          : "unknown command '%.80s'",
             name, near);
    return cli_misuse(cli, message);
}

/* Refuses before any work: never computes on another device than the one requested. */
static int refuse_cuda(cli *cli) {
    char message[160];
    snprintf(message, sizeof(message),
             "carom %s cannot run on cuda; leave --device out to run it on the CPU",
             cli->command->name);
    return cli_fail_with(cli, CAROM_UNSUPPORTED, message);
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define MOST_OUTPUTS 8 /* of one command; gas has four */

/* The files that options or arguments of a command name. */
typedef struct named_file {
    const char *option, *path; /* an argument has no option */
    endings *known;            /* its formats */
    bool is_main;              /* the one that --format is about */
} named_file;

static const char *path_of(const arg_option *option, const void *options) {
    const char *path;
    memcpy(&path, (const char *)options + option->offset, sizeof(path));
    return path;
}

static int refuse_output(const cli *cli, named_file file, const char *reason) {
    char message[400];
    snprintf(message, sizeof(message), "%s%s%.200s: %s; give another name",
             file.option != NULL ? file.option : "", file.option != NULL ? " " : "", file.path,
             reason);
    return cli_misuse(cli, message);
}

/* Whether a command has --format, and its value: NULL where it was not given. Values that are
 * choices are checked by the parser; theirs is "". */
static bool find_format(const cli_command *command, const void *options, const char **format) {
    *format = NULL;
    for (size_t i = 0; i < command->option_count; ++i) {
        const arg_option *option = &command->options[i];
        int choice = 0;
        if (strcmp(option->name, "--format") != 0) continue;
        if (option->kind == ARG_TEXT)
            *format = path_of(option, options);
        else
            memcpy(&choice, (const char *)options + option->offset, sizeof(choice));
        if (choice != 0) *format = "";
        return true;
    }
    return false;
}

/* Refuses before any work a name that tells no format, --format without an output, and --open
 * without a page. */
static int check_endings(const cli *cli, const void *options, const named_file *outputs,
                         size_t count) {
    const char *format;
    bool has_format = find_format(cli->command, options, &format), has_main = false;
    bool has_page = cli->command->makes_page;
    char message[512], list[160];
    for (size_t i = 0; i < count; ++i) {
        const named_file *o = &outputs[i];
        const char *chosen = o->is_main ? format : NULL;
        has_main = has_main || o->is_main;
        if (o->known == NULL || *o->path == '\0') continue;
        const char *found = endings_format(o->path, chosen, o->known);
        has_page = has_page || endings_is(found, "html");
        if (found != NULL || (chosen != NULL && *chosen == '\0')) continue;
        endings_list(o->known, list, sizeof(list));
        if (chosen != NULL)
            snprintf(message, sizeof(message), "--format %.40s is not known here; it takes %s",
                     chosen, list);
        else
            snprintf(message, sizeof(message), "%s%s%.200s: end the name in %s%s",
                     o->option != NULL ? o->option : "", o->option != NULL ? " " : "", o->path,
                     list, has_format && o->is_main ? ", or give --format" : "");
        return cli_misuse(cli, message);
    }
    if (format != NULL && !has_main)
        return cli_misuse(cli, "--format is that of -o FILE, which is missing; -o - writes to the "
                               "standard output");
    if (cli->open && !has_page)
        return cli_misuse(cli, "--open opens a page; give -o with a name that ends in .html");
    return CLI_OK;
}

/* Refuses before any work to replace a file that is read, and to write one file twice. */
static int check_files(cli *cli, const void *options, size_t count, char **arguments) {
    const cli_command *command = cli->command;
    named_file outputs[MOST_OUTPUTS];
    size_t output_count = 0;
    bool good = true;
    for (size_t i = 0; i < cli->input_count; ++i)
        good = files_add(&cli->files, cli->inputs[i], false) && good;
    for (size_t i = 0; i < command->option_count; ++i) {
        const arg_option *option = &command->options[i];
        if (option->kind == ARG_INPUT)
            good = files_add(&cli->files, path_of(option, options), false) && good;
        if (option->kind == ARG_OUTPUT && path_of(option, options) != NULL &&
            output_count < MOST_OUTPUTS)
            outputs[output_count++] = (named_file){option->name, path_of(option, options),
                                                   option->choice, option->letter == 'o'};
    }
    for (size_t i = command->inputs; i < command->inputs + command->outputs && i < count; ++i)
        if (output_count < MOST_OUTPUTS)
            outputs[output_count++] = (named_file){NULL, arguments[i], command->endings, true};
    if (!good) return cli_fail_with(cli, CAROM_NO_MEMORY, "no memory for the names of files");
    for (size_t i = 0; i < output_count; ++i) {
        const char *reason = files_refuse(&cli->files, outputs[i].path);
        for (size_t k = 0; k < i && reason == NULL; ++k)
            if (files_same(outputs[k].path, outputs[i].path))
                reason = "another result of this call is written to it";
        if (reason != NULL) return refuse_output(cli, outputs[i], reason);
    }
    return check_endings(cli, options, outputs, output_count);
}

/* Starts what opens files on this system, and goes on. A page that cannot be opened is no failure:
 * it was written. */
static void open_page(const char *path) {
    fflush(stdout);
    fprintf(stderr,
            platform_open_page(path) ? "carom: opening %s\n"
                                     : "carom: %s is written but cannot be opened\n",
            path);
}

static int run_command(cli *cli, const void *options, size_t count, char **arguments) {
    const cli_command *command = cli->command;
    if (cli->threads == 0)
        return cli_misuse(cli, "--threads takes 1 or more; without it, all are used");
    if (cli->threads == ARG_NO_COUNT) cli->threads = 0;
    if (cli->threads > UINT32_MAX) return cli_misuse(cli, "--threads is too large");
    if (cli->limit_input == 0) return cli_misuse(cli, "--limit-input takes 1 or more bytes");
    size_t standard_inputs = 0;
    for (size_t i = 0; i < cli->input_count; ++i)
        standard_inputs += strcmp(cli->inputs[i], "-") == 0;
    if (standard_inputs > 1) return cli_misuse(cli, "the standard input, -, can be read only once");
    int refused = check_files(cli, options, count, arguments);
    if (refused != CLI_OK) return refused;
    interrupt_catch();
    prepare_last_words(cli);
    cli->bar.visible = !cli->quiet && platform_is_terminal(PLATFORM_STDERR);
    carom_context_def def = {.threads = (uint32_t)cli->threads,
                             .backend = (carom_backend)cli->device,
                             .isa = (carom_isa)cli->isa,
                             .progress = bar_progress,
                             .progress_user = &cli->bar,
                             .input_limit = cli->limit_input,
                             .progress_interval = interrupt_is_injected() ? -1.0 : 0.0};
    carom_status status = carom_context_create(&def, &cli->context);
    int code = status != CAROM_OK ? cli_fail(cli, status)
               : cli->device == CAROM_BACKEND_CUDA && !command->on_cuda
                   ? refuse_cuda(cli)
                   : command->run(cli, options, count, arguments);
    bar_clear(&cli->bar);
    carom_context_destroy(cli->context);
    if (cli->open && cli->page != NULL && (code == CLI_OK || code == CLI_YES)) open_page(cli->page);
    return code;
}

/* Handles `carom help` and `carom help COMMAND`. */
static int help_command(cli *cli, size_t count, char **arguments) {
    if (count == 0) return show_help(cli, NULL);
    const cli_command *command = find_command(arguments[0]);
    if (command == NULL) return unknown_command(cli, arguments[0]);
    return show_help(cli, command);
}

/* Handles `carom completion SHELL`, which the build calls and the help does not name. */
static int completion_command(cli *cli, const completion_words *words, size_t argc, char **argv) {
    if (argc == 1 && completion_print(stdout, argv[0], words)) return CLI_OK;
    cli->command = words->is_named ? NULL : words->commands[0];
    return cli_misuse(cli, "completion takes the name of a shell: bash, zsh or fish");
}

/* The parser stops at the first mistake, but --json may come after it. */
static void look_for_json(cli *cli, size_t argc, char **argv) {
    for (size_t i = 0; i < argc; ++i)
        if (strcmp(argv[i], "--json") == 0) cli->json = true;
}

/* Handles calls without a command: help, version, or a mistake. */
static int run_bare(cli *cli, size_t argc, char **argv) {
    arg_set set = {global_options, GLOBAL_COUNT, cli};
    arg_result parsed;
    if (argv[0][0] != '-' && strcmp(argv[0], "help") != 0) {
        look_for_json(cli, argc, argv);
        return unknown_command(cli, argv[0]);
    }
    if (!args_parse(&set, 1, argc, argv, &parsed)) {
        look_for_json(cli, argc, argv);
        return cli_misuse(cli, parsed.message);
    }
    if (cli->version) return print_version(cli);
    if (parsed.count != 0 && strcmp(argv[0], "help") == 0)
        return help_command(cli, parsed.count - 1, argv + 1);
    if (parsed.count != 0) return cli_misuse(cli, "the command comes first, then its options");
    if (cli->help) return show_help(cli, NULL);
    if (cli->json) return cli_misuse(cli, "a command is missing");
    print_help(stderr);
    return CLI_USAGE;
}

static int run_named(cli *cli, size_t argc, char **argv) {
    const cli_command *command = cli->command;
    union {
        max_align_t align;
        char bytes[CLI_LARGEST_OPTIONS];
    } options;
    memset(&options, 0, sizeof(options));
    if (command->defaults != NULL) memcpy(&options, command->defaults, command->options_size);
    arg_set sets[2] = {{global_options, GLOBAL_COUNT, cli},
                       {command->options, command->option_count, &options}};
    arg_result parsed;
    if (!args_parse(sets, 2, argc, argv, &parsed)) {
        look_for_json(cli, argc, argv);
        return cli_misuse(cli, parsed.message);
    }
    if (cli->version) return print_version(cli);
    if (cli->help) return show_help(cli, command);
    if (parsed.count < command->fewest) {
        char missing[256];
        const char *optional = strstr(command->arguments, " [");
        int length = optional != NULL ? (int)(optional - command->arguments) : -1;
        snprintf(missing, sizeof(missing), "an argument is missing: %.*s", length,
                 command->arguments);
        return cli_misuse(cli, missing);
    }
    if (parsed.count > command->most) {
        char message[128];
        snprintf(message, sizeof(message), "'%.80s' is one argument too many", argv[command->most]);
        return cli_misuse(cli, message);
    }
    cli->inputs = argv;
    cli->input_count = parsed.count < command->inputs ? parsed.count : command->inputs;
    return run_command(cli, &options, parsed.count, argv);
}

/* The program lies beside this one, or is found as the shell would find it. */
static int start_program(cli *cli, char **arguments) {
    const char *name = cli->command->starts;
    char path[PLATFORM_LONGEST_PATH + 64], message[160];
    char **argv = arguments - 1; /* the name of the command, which the program's own replaces */
    if (!platform_program_path(path, PLATFORM_LONGEST_PATH)) path[0] = '\0';
    size_t folder = (size_t)(carom_os_file_name(path) - path);
    argv[0] = path;
    if (folder != 0) {
        strcpy(path + folder, name);
        platform_start(path, argv);
    }
    platform_start(name, argv);
    snprintf(message, sizeof(message),
             "cannot start %s, which has the benchmarks; it is built and installed beside carom",
             name);
    return cli_fail_with(cli, CAROM_IO, message);
}

/* What remains when the command is done: its exit code, unless the output is incomplete. */
static int finish(cli *cli, int code) {
    files_free(&cli->files);
    free(cli->line);
    if (!cli->blamed && (code == CLI_INPUT || code == CLI_MACHINE) && interrupt_seen())
        code = interrupt_exit_code();
    bool unwritten = fflush(stdout) != 0 || ferror(stdout);
    if (unwritten && !interrupt_seen()) { /* a signal may have ended a write */
        fputs("carom: cannot write to the standard output\n", stderr);
        if (code == CLI_OK || code == CLI_YES) code = CLI_MACHINE;
    }
    return code;
}

/* Options that change nothing about a result. */
static bool is_manner(const char *word) {
    return strcmp(word, "--json") == 0 || strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0 ||
           strcmp(word, "--open") == 0;
}

/* The call as one text, for results; words with other than plain characters are quoted as shells
 * do. */
static char *join_line(const char *program, size_t argc, char **argv) {
    platform_memory line;
    if (!platform_open_memory(&line)) return NULL;
    FILE *out = line.file;
    fputs(program, out);
    for (size_t i = 0; i < argc; ++i) {
        if (is_manner(argv[i])) continue;
        bool plain = *argv[i] != '\0' &&
                     strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-.,:=/+@%") == strlen(argv[i]);
        fputs(plain ? " " : " '", out);
        for (const char *at = argv[i]; *at != '\0'; ++at)
            fputs(*at == '\'' ? "'\\''" : (char[2]){*at, '\0'}, out);
        if (!plain) putc('\'', out);
    }
    if (platform_close_memory(&line)) return line.bytes;
    free(line.bytes);
    return NULL;
}

static cli cli_begin(const char *name) {
    return (cli){.threads = ARG_NO_COUNT, .limit_input = CAROM_DEFAULT_INPUT_LIMIT, .name = name};
}

int cli_main_of(const cli_command *command, size_t argc, char **argv) {
    cli cli = cli_begin(command->name);
    cli.command = command;
    if (argc > 0 && strcmp(argv[0], "completion") == 0) {
        const cli_command *const commands[] = {command, NULL};
        completion_words words = {command->program, commands, false, global_options, GLOBAL_COUNT};
        return finish(&cli, completion_command(&cli, &words, argc - 1, argv + 1));
    }
    return finish(&cli, run_named(&cli, argc, argv));
}

int cli_main(size_t argc, char **argv) {
    cli cli = cli_begin("carom");
    if (argc == 0) {
        print_help(stderr);
        return CLI_USAGE;
    }
    cli.line = join_line("carom", argc, argv);
    if (argv[0][0] != '-') cli.name = argv[0];
    if (strcmp(argv[0], "completion") == 0) {
        completion_words words = {"carom", cli_commands, true, global_options, GLOBAL_COUNT};
        return finish(&cli, completion_command(&cli, &words, argc - 1, argv + 1));
    }
    cli.command = find_command(argv[0]);
    if (cli.command == NULL) return finish(&cli, run_bare(&cli, argc, argv));
    if (cli.command->starts != NULL) return finish(&cli, start_program(&cli, argv + 1));
    return finish(&cli, run_named(&cli, argc - 1, argv + 1));
}
