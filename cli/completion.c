/* SPDX-License-Identifier: MIT */
/* Completion in shells: `carom completion bash`, zsh or fish prints a script with every command,
 * every option and the names that options and arguments take, from the tables that the parser and
 * the help use. A command that starts another program has that program's words: its script lies
 * beside.
 *
 * Texts of the tables are data in three languages of shells: all are in single quotes. */
#include "cli/completion.h"

#include <string.h>

/* What a value or an argument may be. */
typedef enum completion_kind { WORD_NONE, WORD_CHOICE, WORD_FILE } completion_kind;

/* The endings of the main output of a command, or NULL. */
static const char *(*endings_of(const cli_command *command))(int index) {
    for (size_t i = 0; i < command->option_count; ++i)
        if (command->options[i].kind == ARG_OUTPUT && command->options[i].letter == 'o')
            return command->options[i].choice;
    return command->endings;
}

/* The names that the value of an option takes, or NULL: choices, and of --format the endings of
 * what it is about. */
static const char *(*choices_of(const cli_command *command, const arg_option *option))(int index) {
    if (option->kind == ARG_CHOICE) return option->choice;
    bool format =
        command != NULL && option->kind == ARG_TEXT && strcmp(option->name, "--format") == 0;
    return format ? endings_of(command) : NULL;
}

static completion_kind kind_of_value(const cli_command *command, const arg_option *option) {
    if (option->kind == ARG_INPUT || option->kind == ARG_OUTPUT) return WORD_FILE;
    return choices_of(command, option) != NULL ? WORD_CHOICE : WORD_NONE;
}

static completion_kind kind_of_arguments(const cli_command *command) {
    return command->words != NULL ? WORD_CHOICE : command->most > 0 ? WORD_FILE : WORD_NONE;
}

/* Prints the text with a backslash before each of the `special` characters, as part of a text in
 * single quotes. */
static void print_text(FILE *out, const char *text, const char *special) {
    for (; *text != '\0'; ++text) {
        if (strchr(special, *text) != NULL) putc('\\', out);
        fputs(*text == '\'' ? "'\\''" : (char[2]){*text, '\0'}, out);
    }
}

static void print_choices(FILE *out, const char *(*choice)(int index)) {
    for (int i = 0; choice(i) != NULL; ++i) {
        if (i > 0) putc(' ', out);
        print_text(out, choice(i), "");
    }
}

static void print_head(FILE *out, const completion_words *words, const char *shell) {
    fprintf(out, "# Completion of %s %s in %s, printed by `%s completion %s`.\n", words->program,
            carom_build_get()->version, shell, words->program, shell);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void print_bash_options(FILE *out, const arg_option *options, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, " %s", options[i].name);
        if (options[i].letter != 0) fprintf(out, " -%c", options[i].letter);
    }
}

/* Cases for the options whose values are files or names; other values are the user's. */
static void print_bash_values(FILE *out, const cli_command *command, const arg_option *options,
                              size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const arg_option *option = &options[i];
        if (option->kind == ARG_FLAG) continue;
        fprintf(out, "    '%s %s'", command != NULL ? command->name : "", option->name);
        if (option->letter != 0)
            fprintf(out, "|'%s -%c'", command != NULL ? command->name : "", option->letter);
        switch (kind_of_value(command, option)) {
        case WORD_NONE:
            fputs(") return ;;\n", out);
            break;
        case WORD_CHOICE:
            fputs(") words='", out);
            print_choices(out, choices_of(command, option));
            fputs("' ;;\n", out);
            break;
        case WORD_FILE:
            fputs(") files=yes ;;\n", out);
            break;
        }
    }
}

static void print_bash_command(FILE *out, const cli_command *command) {
    fprintf(out, "    '%s')\n        options+='", command->name);
    print_bash_options(out, command->options, command->option_count);
    fputs("'\n", out);
    if (kind_of_arguments(command) == WORD_CHOICE) {
        fputs("        words='", out);
        print_choices(out, command->words);
        fputs("'\n", out);
    }
    if (kind_of_arguments(command) == WORD_FILE) fputs("        files=yes\n", out);
    if (command->starts != NULL)
        fprintf(out,
                "        declare -F _carom_bench >/dev/null || . \"${BASH_SOURCE[0]%%/*}/%s\" "
                "2>/dev/null\n"
                "        declare -F _carom_bench >/dev/null && _carom_bench && return\n",
                command->starts);
    fputs("        ;;\n", out);
}

/* The function's name: that of the program, as a name in the shell. */
static const char *function_of(const completion_words *words) {
    return words->is_named ? "_carom" : "_carom_bench";
}

static void print_bash(FILE *out, const completion_words *words) {
    print_head(out, words, "bash");
    fprintf(out,
            "%s() {\n"
            "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
            "    local command='%s' words='' files='' options='",
            function_of(words), words->is_named ? "" : words->commands[0]->name);
    print_bash_options(out, words->common, words->common_count);
    /* The shell divides --name=value into three words. */
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    if [ \"$current\" = = ]; then current=''\n"
          "    elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n",
          out);
    if (words->is_named) fputs("    [ \"$COMP_CWORD\" -gt 1 ] && command=${COMP_WORDS[1]}\n", out);
    fputs("    case \"$command\" in\n", out);
    if (words->is_named) {
        fputs("    ''|-*) command='' words='help", out);
        for (size_t i = 0; words->commands[i] != NULL; ++i)
            fprintf(out, " %s", words->commands[i]->name);
        fputs("' ;;\n    help) [ \"$COMP_CWORD\" -gt 2 ] || words='", out);
        for (size_t i = 0; words->commands[i] != NULL; ++i)
            fprintf(out, "%s%s", i > 0 ? " " : "", words->commands[i]->name);
        fputs("' ;;\n", out);
    }
    for (size_t i = 0; words->commands[i] != NULL; ++i) print_bash_command(out, words->commands[i]);
    fputs("    esac\n"
          "    if [[ $current = -* ]]; then words=$options files=''\n"
          "    elif [[ $before = -* ]]; then\n"
          "    case \"$command $before\" in\n",
          out);
    for (size_t i = 0; words->commands[i] != NULL; ++i)
        print_bash_values(out, words->commands[i], words->commands[i]->options,
                          words->commands[i]->option_count);
    fputs("    *) case \" $before\" in\n", out);
    print_bash_values(out, NULL, words->common, words->common_count);
    fputs(
        "    esac ;;\n    esac\n    fi\n"
        "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); fi\n"
        "    if [ -z \"$words$COMPREPLY\" ] && [ -n \"$files\" ]; then\n"
        "        compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
        "    fi\n"
        "}\n",
        out);
    fprintf(out, "complete -F %s %s\n", function_of(words), words->program);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

#define ZSH_SPECIAL "\\[]:"

static void print_zsh_value(FILE *out, const cli_command *command, const arg_option *option) {
    if (option->kind == ARG_FLAG) return;
    putc(':', out);
    print_text(out, option->value, ZSH_SPECIAL);
    putc(':', out);
    completion_kind kind = kind_of_value(command, option);
    if (kind == WORD_FILE) fputs("_files", out);
    if (kind != WORD_CHOICE) return;
    putc('(', out);
    print_choices(out, choices_of(command, option));
    putc(')', out);
}

static void print_zsh_option(FILE *out, const cli_command *command, const arg_option *option,
                             bool is_letter) {
    fputs("        '", out);
    if (option->letter != 0) fprintf(out, "(-%c %s)", option->letter, option->name);
    if (is_letter)
        fprintf(out, "-%c%s", option->letter, option->kind == ARG_FLAG ? "" : "+");
    else
        fprintf(out, "%s%s", option->name, option->kind == ARG_FLAG ? "" : "=");
    putc('[', out);
    print_text(out, option->help, ZSH_SPECIAL);
    putc(']', out);
    print_zsh_value(out, command, option);
    fputs("'\n", out);
}

static void print_zsh_options(FILE *out, const cli_command *command, const arg_option *options,
                              size_t count) {
    for (size_t i = 0; i < count; ++i) {
        print_zsh_option(out, command, &options[i], false);
        if (options[i].letter != 0) print_zsh_option(out, command, &options[i], true);
    }
}

static void print_zsh_arguments(FILE *out, const cli_command *command) {
    print_zsh_options(out, command, command->options, command->option_count);
    switch (kind_of_arguments(command)) {
    case WORD_NONE:
        break;
    case WORD_CHOICE:
        fputs("        '*:name:(", out);
        print_choices(out, command->words);
        fputs(")'\n", out);
        break;
    case WORD_FILE:
        fputs("        '*:file:_files'\n", out);
        break;
    }
}

static void print_zsh(FILE *out, const completion_words *words) {
    fprintf(out, "#compdef %s\n", words->program);
    print_head(out, words, "zsh");
    fputs("local -a common commands specs\ncommon=(\n", out);
    print_zsh_options(out, NULL, words->common, words->common_count);
    fputs(")\n", out);
    if (!words->is_named) {
        fputs("specs=(\n", out);
        print_zsh_arguments(out, words->commands[0]);
        fputs(")\n_arguments -S $specs $common\n", out);
        return;
    }
    fputs("commands=(\n", out);
    for (size_t i = 0; words->commands[i] != NULL; ++i) {
        fprintf(out, "    '%s:", words->commands[i]->name);
        print_text(out, words->commands[i]->summary, "\\");
        fputs("'\n", out);
    }
    fputs("    'help:about a command'\n)\n"
          "if (( CURRENT == 2 )); then\n"
          "    if [[ $words[2] = -* ]]; then _arguments -S $common\n"
          "    else _describe -t commands command commands; fi\n"
          "    return\n"
          "fi\n"
          "shift words\n"
          "(( CURRENT-- ))\n"
          "case $words[1] in\n"
          "help) _describe -t commands command commands; return ;;\n",
          out);
    for (size_t i = 0; words->commands[i] != NULL; ++i) {
        const cli_command *command = words->commands[i];
        fprintf(out, "%s)\n", command->name);
        if (command->starts != NULL)
            fprintf(out, "    _%s 2>/dev/null && return\n", command->starts);
        fputs("    specs=(\n", out);
        print_zsh_arguments(out, command);
        fputs("    ) ;;\n", out);
    }
    fputs("*) specs=('*:file:_files') ;;\nesac\n_arguments -S $specs $common\n", out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void print_fish_begin(FILE *out, const completion_words *words, const cli_command *command) {
    fprintf(out, "complete -c %s", words->program);
    if (command != NULL && words->is_named)
        fprintf(out, " -n '__fish_seen_subcommand_from %s'", command->name);
}

static void print_fish_options(FILE *out, const completion_words *words, const cli_command *command,
                               const arg_option *options, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const arg_option *option = &options[i];
        print_fish_begin(out, words, command);
        fprintf(out, " -l %s", option->name + 2);
        if (option->letter != 0) fprintf(out, " -s %c", option->letter);
        if (option->kind != ARG_FLAG)
            fputs(kind_of_value(command, option) == WORD_FILE ? " -r -F" : " -x", out);
        if (kind_of_value(command, option) == WORD_CHOICE) {
            fputs(" -a '", out);
            print_choices(out, choices_of(command, option));
            putc('\'', out);
        }
        fputs(" -d '", out);
        /* In fish a backslash in single quotes protects itself and the quote. */
        for (const char *at = option->help; *at != '\0'; ++at)
            fprintf(out, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
        fputs("'\n", out);
    }
}

static void print_fish_arguments(FILE *out, const completion_words *words,
                                 const cli_command *command) {
    completion_kind kind = kind_of_arguments(command);
    if (kind == WORD_NONE && command->starts == NULL) return;
    print_fish_begin(out, words, command);
    if (command->starts != NULL) {
        fprintf(out, " -a '(complete -C \"%s \"(commandline -ct))'\n", command->starts);
        return;
    }
    if (kind == WORD_FILE) {
        fputs(" -F\n", out);
        return;
    }
    fputs(" -a '", out);
    print_choices(out, command->words);
    fputs("'\n", out);
}

static void print_fish(FILE *out, const completion_words *words) {
    print_head(out, words, "fish");
    fprintf(out, "complete -c %s -f\n", words->program);
    for (size_t i = 0; words->commands[i] != NULL && words->is_named; ++i) {
        fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '", words->program,
                words->commands[i]->name);
        for (const char *at = words->commands[i]->summary; *at != '\0'; ++at)
            fprintf(out, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
        fputs("'\n", out);
    }
    if (words->is_named) {
        fprintf(out, "complete -c %s -n __fish_use_subcommand -a help -d 'about a command'\n",
                words->program);
        fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from help' -a '", words->program);
        for (size_t i = 0; words->commands[i] != NULL; ++i)
            fprintf(out, "%s%s", i > 0 ? " " : "", words->commands[i]->name);
        fputs("'\n", out);
    }
    print_fish_options(out, words, NULL, words->common, words->common_count);
    for (size_t i = 0; words->commands[i] != NULL; ++i) {
        const cli_command *command = words->commands[i];
        print_fish_options(out, words, command, command->options, command->option_count);
        print_fish_arguments(out, words, command);
    }
}

bool completion_print(FILE *out, const char *shell, const completion_words *words) {
    static const struct {
        const char *name;
        void (*print)(FILE *out, const completion_words *words);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); ++i) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print(out, words);
        return true;
    }
    return false;
}
