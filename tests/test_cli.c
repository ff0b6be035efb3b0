/* SPDX-License-Identifier: MIT */
/* The tool as a user meets it: exit codes, messages, help, JSON. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/command.h"
#include "tests/support/cli_run.h"

static void help_names_every_command(void **state) {
    (void)state;
    static const char *const ways[] = {"--help", "help", "-h"};
    for (size_t i = 0; i < COUNT_OF(ways); ++i) {
        assert_int_equal(carom(ways[i]), CLI_OK);
        assert_said("usage: carom COMMAND");
        for (size_t c = 0; cli_commands[c] != NULL; ++c) assert_said(cli_commands[c]->summary);
    }
    assert_int_equal(carom(""), CLI_USAGE);
    assert_said("usage: carom COMMAND");
}

static void every_command_has_its_help(void **state) {
    (void)state;
    char arguments[128];
    for (size_t c = 0; cli_commands[c] != NULL; ++c) {
        const cli_command *command = cli_commands[c];
        assert_true(command->options_size <= CLI_LARGEST_OPTIONS);
        snprintf(arguments, sizeof(arguments), "%s --help", command->name);
        assert_int_equal(carom(arguments), CLI_OK);
        for (size_t i = 0; i < command->option_count; ++i) assert_said(command->options[i].name);
        snprintf(arguments, sizeof(arguments), "help %s", command->name);
        assert_int_equal(carom(arguments), CLI_OK);
        assert_said(command->summary);
    }
}

static void version_tells_what_the_build_is_made_of(void **state) {
    (void)state;
    const carom_build *build = carom_build_get();
    assert_int_equal(carom("--version"), CLI_OK);
    assert_said(build->version);
    assert_said(build->commit);
    assert_said(build->compiler);
    assert_said("threads");
    assert_said("CUDA");
    assert_int_equal(carom("--version --json"), CLI_OK);
    assert_said("{\"schema\": \"carom/1\", \"command\": \"version\", \"version\": \"");
    assert_said("\"instruction_set\": \"");
}

static void mistakes_are_answered_with_the_nearest_word(void **state) {
    (void)state;
    assert_int_equal(carom("bnech"), CLI_USAGE);
    assert_said("did you mean `carom bench`?");
    assert_int_equal(carom("frobnicate"), CLI_USAGE);
    assert_said("unknown command 'frobnicate'\n");
    assert_int_equal(carom("help demmo"), CLI_USAGE);
    assert_said("did you mean `carom demo`?");
    assert_int_equal(carom("bench --quik"), CLI_USAGE);
    assert_said("did you mean --quick?");
    assert_int_equal(carom("bench bsae"), CLI_USAGE);
    assert_said("did you mean base?");
    assert_int_equal(carom("demo surplus"), CLI_USAGE);
    assert_said("'surplus' is one argument too many");
    assert_int_equal(carom("bench --rounds many"), CLI_USAGE);
    assert_said("whole number");
    assert_int_equal(carom("bench --rounds"), CLI_USAGE);
    assert_said("needs a value");
    assert_int_equal(carom("--json bench"), CLI_USAGE);
    assert_said("the command comes first");
    assert_int_equal(carom("--isa=mmx"), CLI_USAGE);
    assert_said("best or baseline or avx2 or avx512");
}

/* That each shell completes every word: scripts/check_completion.sh. */
static void completion_is_printed_for_each_shell(void **state) {
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    char call[64];
    for (size_t i = 0; i < COUNT_OF(shells); ++i) {
        snprintf(call, sizeof(call), "completion %s", shells[i]);
        assert_int_equal(carom(call), CLI_OK);
        assert_said(call);
        for (size_t k = 0; cli_commands[k] != NULL; ++k) assert_said(cli_commands[k]->name);
    }
    assert_int_equal(carom("bench completion bash"), CLI_OK);
    assert_said("complete -F _carom_bench carom-bench\n");
    static const char *const wrong[] = {"completion", "completion tcsh", "completion bash zsh",
                                        "bench completion tcsh"};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        assert_int_equal(carom(wrong[i]), CLI_USAGE);
        assert_said("the name of a shell: bash, zsh or fish");
    }
}

static void failures_of_the_machine_are_code_4(void **state) {
    (void)state;
    char cuda[256];
    if (carom_cuda_describe(cuda, sizeof(cuda))) skip();
    assert_int_equal(carom("demo --device cuda"), CLI_MACHINE);
    assert_said("no CUDA device");
    assert_int_equal(carom("demo --device cuda --json"), CLI_MACHINE);
    assert_said("{\"schema\": \"carom/1\", \"command\": \"demo\", \"error\": \"no CUDA device");
}

static void bad_values_are_code_3(void **state) {
    (void)state;
    assert_int_equal(carom("bench --list --threads 300"), CLI_INPUT);
    assert_said("at most 256");
    assert_int_equal(carom("demo -o /dev/null/nowhere"), CLI_INPUT);
    assert_said("cannot write to '/dev/null/nowhere'");
}

/* With --json the standard output is one object, whatever went wrong. */
static void the_environment_gives_the_threads(void **state) {
    (void)state;
    assert_int_equal(shell("CAROM_THREADS=3 \"$carom\" --version"), CLI_OK);
    assert_said("threads           3");
    for (const char *const *line =
             (const char *const[]){"CAROM_THREADS=0 \"$carom\" --version 2>&1",
                                   "CAROM_THREADS=257 \"$carom\" make sphere -o s.ply 2>&1",
                                   "CAROM_THREADS=two \"$carom\" make sphere -o s.ply --json",
                                   NULL};
         *line != NULL; ++line) {
        assert_int_equal(shell(*line), CLI_INPUT);
        assert_said("CAROM_THREADS is");
        assert_said("give a number from 1 to 256");
    }
    assert_int_equal(shell("CAROM_THREADS=two \"$carom\" make sphere -o s.ply -j 1"), CLI_OK);
}

static void every_failure_is_an_object_with_json(void **state) {
    (void)state;
    static const char *const wrong[] = {"frobnicate --json",
                                        "info --json",
                                        "bench --quik --json",
                                        "make torus --detail --json",
                                        "make ring --json -o x.off",
                                        "info no-such-file --json",
                                        "demo -o /dev/null/nowhere --json"};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        int code = carom(wrong[i]);
        assert_true(code == CLI_USAGE || code == CLI_INPUT);
        const char *object = strstr(said, "{\"schema\": \"carom/1\", \"command\": \"");
        if (object == NULL) fail_msg("%s: %s", wrong[i], said);
        assert_said("\"error\": \"");
        assert_said("\"status\": \"");
        assert_string_equal(strrchr(object, '}'), "}\n");
        assert_null(strstr(object + 10, "\"schema\""));
    }
}

static void a_full_disk_is_noticed(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    assert_int_equal(carom("bench --list >/dev/full"), CLI_MACHINE);
    assert_int_equal(carom("--help >/dev/full"), CLI_MACHINE);
    assert_int_equal(carom("--version >/dev/full"), CLI_MACHINE);
}

static void the_demo_writes_its_page(void **state) {
    (void)state;
    if (TEST_SANITIZED) skip(); /* engines have tests of their own for sanitizers */
    char arguments[512], path[512];
    snprintf(path, sizeof(path), "%s/Testing/demo/index.html", CAROM_BINARY_DIR);
    snprintf(arguments, sizeof(arguments), "demo -o %s/Testing/demo", CAROM_BINARY_DIR);
    remove(path);
    assert_int_equal(carom(arguments), CLI_OK);
    assert_said("file:///");
    assert_said("Testing/demo/index.html\n");
    size_t size = 1 << 26; /* enough for a page whose pictures are stored, as without zlib */
    char *text = malloc(size);
    assert_non_null(text);
    read_file(path, text, size);
    size_t length = strlen(text);
    assert_true(length > 8 && length < size - 1);
    assert_non_null(strstr(text, "<section id=\"drag\" class=\"opening\">"));
    assert_non_null(strstr(text, "<section id=\"machine\">"));
    assert_non_null(strstr(text, "<svg"));
    assert_string_equal(text + length - 8, "</html>\n");
    free(text);
    strcat(path, ".part");
    assert_int_not_equal(access(path, F_OK), 0);
}

static void benchmarks_give_rows(void **state) {
    (void)state;
    assert_int_equal(carom("bench --list"), CLI_OK);
    assert_said("base");
    assert_int_equal(carom("bench base --quick --rounds 1 --json --threads 2"), CLI_OK);
    assert_said("\"command\": \"bench\", \"rows\": [{\"benchmark\": \"base\"");
    assert_said("\"wrong\": false");
    assert_null(strstr(said, "\"wrong\": true"));
}

/* ---- the parts ------------------------------------------------------------------------------- */

static void numbers_are_read_strictly(void **state) {
    (void)state;
    double number;
    uint64_t count;
    assert_true(args_read_number("-1.5e3", &number) && number == -1500.0);
    static const char *const bad_numbers[] = {"", " 1", "1 ", "nan", "inf", "1e999", "0x", "1,5"};
    for (size_t i = 0; i < COUNT_OF(bad_numbers); ++i)
        assert_false(args_read_number(bad_numbers[i], &number));
    assert_true(args_read_count("10k", &count) && count == 10000);
    assert_true(args_read_count("18446744073709551615", &count) && count == UINT64_MAX);
    static const char *const bad_counts[] = {
        "", "-1", "+1", "1.5", "1kk", "10x", "99999999999999999999", "18446744073709552k"};
    for (size_t i = 0; i < COUNT_OF(bad_counts); ++i)
        assert_false(args_read_count(bad_counts[i], &count));
}

static void the_nearest_word_is_found(void **state) {
    (void)state;
    static const char *const names[] = {"pairs", "pack", "query", "bench", NULL};
    assert_string_equal(args_did_you_mean("pair", names), "pairs");
    assert_string_equal(args_did_you_mean("apirs", names), "pairs");
    assert_string_equal(args_did_you_mean("qeury", names), "query");
    assert_string_equal(args_did_you_mean("ben", names), "bench");
    assert_null(args_did_you_mean("xyzzy", names));
    assert_null(args_did_you_mean("", names));
    assert_null(args_did_you_mean(
        "a-word-that-is-far-longer-than-any-command-could-ever-sensibly-be", names));
}

static void json_escapes_what_it_must(void **state) {
    (void)state;
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");
    assert_non_null(out);
    json j = {out, false};
    json_begin_object(&j, NULL);
    json_text(&j, "a\"b", "tab\t slash\\ \xC3\xA9 \xFF \xED\xA0\x80");
    json_begin_array(&j, "list");
    json_number(&j, NULL, 0.1);
    json_number(&j, NULL, 1.0 / 0.0);
    json_count(&j, NULL, UINT64_MAX);
    json_bool(&j, NULL, true);
    json_null(&j, NULL);
    json_begin_object(&j, NULL);
    json_end_object(&j);
    json_end_array(&j);
    json_text(&j, "none", NULL);
    json_end_object(&j);
    fclose(out);
    assert_string_equal(text, "{\"a\\\"b\": \"tab\\u0009 slash\\\\ \xC3\xA9 \xEF\xBF\xBD "
                              "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\", \"list\": "
                              "[0.10000000000000001, null, 18446744073709551615, true, null, {}], "
                              "\"none\": null}");
}

int main(void) {
    if (!cli_run_begin("cli")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_names_every_command),
        cmocka_unit_test(every_command_has_its_help),
        cmocka_unit_test(version_tells_what_the_build_is_made_of),
        cmocka_unit_test(mistakes_are_answered_with_the_nearest_word),
        cmocka_unit_test(completion_is_printed_for_each_shell),
        cmocka_unit_test(failures_of_the_machine_are_code_4),
        cmocka_unit_test(bad_values_are_code_3),
        cmocka_unit_test(the_environment_gives_the_threads),
        cmocka_unit_test(every_failure_is_an_object_with_json),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(the_demo_writes_its_page),
        cmocka_unit_test(benchmarks_give_rows),
        cmocka_unit_test(numbers_are_read_strictly),
        cmocka_unit_test(the_nearest_word_is_found),
        cmocka_unit_test(json_escapes_what_it_must),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli", tests, NULL, NULL));
}
