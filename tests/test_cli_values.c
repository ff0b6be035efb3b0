/* SPDX-License-Identifier: MIT */
/* The tool means what is typed: every option with values that tools like to take for others; zero,
 * 1e6, -, .gz; and the one JSON object that every command prints. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/command.h"
#include "tests/support/cli_run.h"

/* ---- counts ---------------------------------------------------------------------------------- */

static void counts_are_exact_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"000", 0},
                {"0.0", 0},
                {"0e9", 0},
                {"7", 7},
                {"007", 7},
                {"10k", 10000},
                {"2.5k", 2500},
                {"1.25M", 1250000},
                {"3G", 3000000000},
                {"1e6", 1000000},
                {"1E6", 1000000},
                {"1e+6", 1000000},
                {"1.5e1", 15},
                {"0.05e2", 5},
                {"120e-1", 12},
                {"1000000e-6", 1},
                {"0.001k", 1},
                {"10.000", 10},
                {"18446744073709551615", UINT64_MAX},
                {"18446744073709551.615k", UINT64_MAX},
                {"1.8446744073709551615e19", UINT64_MAX},
                {"1e19", UINT64_C(10000000000000000000)}};
    static const char *const bad[] = {"",
                                      "-",
                                      "-0",
                                      "-1",
                                      "+1",
                                      "1.5",
                                      "1.",
                                      ".5k",
                                      "1e",
                                      "1e+",
                                      "e6",
                                      "1e-1",
                                      "15e-1",
                                      "1e20",
                                      "2e19",
                                      "1e999",
                                      "1kk",
                                      "1ek",
                                      "1e3k",
                                      "1 ",
                                      " 1",
                                      "0x10",
                                      "nan",
                                      "inf",
                                      "1,5",
                                      "1e6.5",
                                      "1_0",
                                      "1.5.5k",
                                      "18446744073709551616",
                                      "18446744073709551.616k",
                                      "0.5",
                                      "0.0005k",
                                      "1m",
                                      "1K"};
    uint64_t count;
    for (size_t i = 0; i < COUNT_OF(good); ++i)
        if (!args_read_count(good[i].text, &count) || count != good[i].value)
            fail_msg("'%s'", good[i].text);
    for (size_t i = 0; i < COUNT_OF(bad); ++i)
        if (args_read_count(bad[i], &count))
            fail_msg("'%s' is %llu", bad[i], (unsigned long long)count);
    /* every whole number in every notation */
    carom_random random = {1};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        uint64_t value = carom_random_next(&random) >> (carom_random_next(&random) % 64);
        char text[64], moved[64];
        int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        int at = 1 + (int)(carom_random_next(&random) % (uint64_t)length);
        snprintf(moved, sizeof(moved), "%.*s%s%se%d", at, text, at < length ? "." : "", text + at,
                 length - at);
        if (!args_read_count(text, &count) || count != value) fail_msg("'%s'", text);
        if (!args_read_count(moved, &count) || count != value) fail_msg("'%s'", moved);
    }
    double number;
    assert_true(args_read_number("0", &number) && number == 0.0);
    assert_true(args_read_number("1e6", &number) && number == 1e6);
    assert_true(args_read_number("0e999", &number) && number == 0.0);
    assert_false(args_read_number("1e-999", &number)); /* not zero as typed */
}

/* ---- every option ---------------------------------------------------------------------------- */

/* With --json the standard output is one object, whatever comes: no more, no less. */
static void check_object(const char *line, int code) {
    int objects = 0;
    for (const char *at = said;
         (at = strstr(at, "{\"schema\": \"carom/1\", \"command\": \"")) != NULL; ++at)
        ++objects;
    if (objects != 1) fail_msg("%s: %d objects: %s", line, objects, said);
    bool failed = strstr(said, "\"error\": \"") != NULL;
    if (failed != (code > CLI_YES)) fail_msg("%s: code %d: %s", line, code, said);
    assert_string_equal(strrchr(said, '}'), "}\n");
}

static void every_option_is_walked(void **state) {
    (void)state;
    static const struct {
        const char *command, *arguments;
    } bases[] = {{"info", "t.ply"},           {"make", "torus -o o.ply"}, {"make", "knot -o o.ply"},
                 {"make", "shards -o o.off"}, {"convert", "t.ply o.off"}, {"pairs", "t.ply b.ply"},
                 {"kfree", "t.ply"},          {"query", "t.ply b.ply"},   {"bench", "--list"}};
    static const char *const wrong_counts[] = {"-1", "''", "1e30", "nan", "-", "0.5", "1e-3"};
    static const char *const wrong_numbers[] = {"''", "nan", "inf", "-", "1e999", "1e-999", "10k"};
    static const char *const wrong_choices[] = {"0", "''", "-"};
    char line[256];
    assert_int_equal(carom("make torus --detail 6 -o t.ply"), 0);
    assert_int_equal(carom("make box -o b.ply"), 0);
    for (size_t b = 0; b < COUNT_OF(bases); ++b)
        for (size_t c = 0; cli_commands[c] != NULL; ++c) {
            const cli_command *command = cli_commands[c];
            if (strcmp(command->name, bases[b].command) != 0) continue;
            for (size_t i = 0; i < command->option_count; ++i) {
                const arg_option *option = &command->options[i];
                bool counts = option->kind == ARG_COUNT || option->kind == ARG_SOME;
                const char *const *values = counts                       ? wrong_counts
                                            : option->kind == ARG_CHOICE ? wrong_choices
                                                                         : wrong_numbers;
                size_t count = counts                       ? COUNT_OF(wrong_counts)
                               : option->kind == ARG_CHOICE ? COUNT_OF(wrong_choices)
                                                            : COUNT_OF(wrong_numbers);
                if (option->kind == ARG_FLAG || option->kind == ARG_TEXT ||
                    option->kind == ARG_LIST || option->kind == ARG_INPUT ||
                    option->kind == ARG_OUTPUT)
                    continue;
                for (size_t v = 0; v < count; ++v) {
                    snprintf(line, sizeof(line), "%s %s %s=%s --json -j 1", command->name,
                             bases[b].arguments, option->name, values[v]);
                    int code = carom(line);
                    if (code != CLI_USAGE) fail_msg("%s: code %d: %s", line, code, said);
                    check_object(line, code);
                    assert_said(option->name);
                    if (b == 2 || b == 3) break; /* the same table again: once is enough */
                }
            }
        }
}

/* Where the library takes 0 for "what is usual", the tool takes it for 0. */
static void zero_is_a_value(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
    } refused[] = {{"make torus -o z.ply --size 0", "--size takes a number above 0"},
                   {"make torus -o z.ply --size -0", "--size takes a number above 0"},
                   {"make torus -o z.ply --ratio 0", "--ratio takes a number above 0"},
                   {"make torus -o z.ply --detail 0", "--detail of a torus takes 1 or more"},
                   {"make chain -o z.ply --parts 0", "--parts of a chain takes 1 or more"},
                   {"make knot -o z.ply --around 0", "--around of a knot takes 1 or more"},
                   {"make knot -o z.ply --through 0", "--through of a knot takes 1 or more"},
                   {"make cloth -o z.ply --seed 0", "--seed of a cloth takes 1 or more"},
                   {"make sphere -o z.ply --seed 7", "a sphere has no --seed"},
                   {"make grid -o z.ply --phase 1", "a grid has no --phase"},
                   {"make box -o z.ply --parts 7", "a box has no --parts"},
                   {"make grid -o z.ply --ratio 0.5", "a grid has no --ratio"},
                   {"info t.ply --threads 0", "--threads takes 1 or more"},
                   {"pairs t.ply --repeat 0", "--repeat takes 1 to 1000000"},
                   {"kfree t.ply --repeat 0", "--repeat takes 1 to 1000000"},
                   {"query t.ply b.ply --repeat 0", "--repeat takes 1 to 1000000"},
                   {"bench base --rounds 0", "--rounds takes 1 to 100000"},
                   {"pairs t.ply -o ''", "the name of the output is empty"},
                   {"convert t.ply ''", "the name of the output is empty"},
                   {"make torus -o ''", "the name of the output is empty"},
                   {"pairs t.ply -o --json", "--output needs a value"},
                   {"demo -o -", "-o takes a folder"},
                   {"pack t.ply -n 0", "--count takes a whole number from 1 on"},
                   {"pack t.ply --voxels 0", "--voxels takes a whole number from 1 on"},
                   {"pack t.ply --radius 0", "--radius takes a number above 0"},
                   {"pack t.ply --fill 0", "--fill takes a number above 0"},
                   {"pack t.ply --error 0", "--error takes a number above 0"},
                   {"pack t.ply --outer --distance 0", "--distance takes a number above 0"}};
    for (size_t i = 0; i < COUNT_OF(refused); ++i) {
        int code = carom(refused[i].line);
        if (code != CLI_USAGE) fail_msg("%s: code %d: %s", refused[i].line, code, said);
        assert_said(refused[i].words);
    }
    assert_int_equal(shell("test -e z.ply"), 1);
    /* a seed of 0 is one among others, and the usual one is told */
    assert_int_equal(carom("make shards -o s0.off --seed 0 --parts 4"), 0);
    assert_int_equal(carom("make shards -o s1.off --seed 1 --parts 4"), 0);
    assert_int_equal(shell("cmp -s s0.off s1.off"), 1);
    assert_int_equal(carom("make cloth -o c0.ply --detail 5"), 0);
    assert_int_equal(carom("make cloth -o c1.ply --detail 5 --seed 12345"), 0);
    assert_int_equal(shell("cmp c0.ply c1.ply"), 0);
    assert_int_equal(carom("info ''"), CLI_INPUT);
    assert_said("the name of a mesh file is empty");
}

/* What the library says of a mesh names no file: the tool does. */
static void failures_name_the_file(void **state) {
    (void)state;
    static const char *const calls[] = {"pack FILE -n 5",
                                        "pack FILE --outer -n 5",
                                        "view FILE -o v.html",
                                        "query FILE t.ply",
                                        "query t.ply FILE",
                                        "query FILE t.ply --engine tree --spheres 9",
                                        "query t.ply FILE --engine balls --spheres 9"};
    assert_int_equal(carom("make torus --detail 6 -o t.ply"), 0);
    assert_int_equal(shell("printf 'v 0 0 0\\nv 1 0 0\\nv 0 1 0\\n' >bare.obj"), 0);
    for (size_t i = 0; i < COUNT_OF(calls); ++i) {
        char line[128];
        const char *at = strstr(calls[i], "FILE");
        snprintf(line, sizeof(line), "%.*sbare.obj%s", (int)(at - calls[i]), calls[i], at + 4);
        int code = carom(line);
        if (code != CLI_INPUT || strstr(said, "bare.obj: ") == NULL || strstr(said, "face") == NULL)
            fail_msg("%s: code %d: %s", line, code, said);
    }
    assert_int_equal(shell("printf 'v 1e308 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 2 3\\n' >far.obj"), 0);
    assert_int_equal(carom("hulls far.obj"), CLI_INPUT);
    assert_said("carom: far.obj: vertex 0");
    assert_int_equal(carom("toi t.ply far.obj --hulls"), CLI_INPUT);
    assert_said("carom: far.obj: vertex 0");
}

/* A command or shape is guessed only where most of its letters are there. */
static void guesses_are_near(void **state) {
    (void)state;
    assert_int_equal(carom("foo"), CLI_USAGE);
    assert_null(strstr(said, "did you mean"));
    assert_int_equal(carom("gsa"), CLI_USAGE);
    assert_said("did you mean `carom gas`?");
    assert_int_equal(carom("paris"), CLI_USAGE);
    assert_said("did you mean `carom pairs`?");
    assert_int_equal(carom("query t.ply"), CLI_USAGE);
    assert_said("an argument is missing: A B");
}

static void large_counts_have_many_notations(void **state) {
    (void)state;
    assert_int_equal(carom("make grid --detail 1e2 -o 1.ply"), 0);
    assert_int_equal(carom("make grid --detail 0.1k -o 2.ply"), 0);
    assert_int_equal(carom("make grid --detail 100 -o 3.ply"), 0);
    assert_int_equal(shell("cmp 1.ply 2.ply && cmp 2.ply 3.ply"), 0);
    assert_int_equal(carom("make grid --detail 1e6 -o 1.ply"), CLI_INPUT);
    assert_said("1000002000001 vertices");
    assert_int_equal(carom("make shards --seed 1e6 --parts 3 -o 1.ply"), 0);
    assert_int_equal(carom("make shards --seed 1000000 --parts 3 -o 2.ply"), 0);
    assert_int_equal(shell("cmp 1.ply 2.ply"), 0);
}

/* ---- - and .gz ------------------------------------------------------------------------------- */

static void a_dash_is_the_standard_input_or_output(void **state) {
    (void)state;
    static const char *const formats[] = {"obj", "ply",       "ply-big", "ply-ascii",
                                          "stl", "stl-ascii", "off"};
    char line[512];
    for (size_t i = 0; i < COUNT_OF(formats); ++i) {
        const char *f = formats[i];
        snprintf(line, sizeof(line),
                 "\"$carom\" make knot --float32 -o file --format %s 2>&1 && "
                 "\"$carom\" make knot --float32 -o - --format %s 2>words | cmp - file && "
                 "grep -q 'a knot of' words && \"$carom\" info file --from %.3s >1 && "
                 "\"$carom\" info - <file >2 && tail -n +2 1 >3 && tail -n +2 2 | cmp - 3 "
                 "2>&1",
                 f, f, f);
        if (shell(line) != 0) fail_msg("%s: %s", line, said);
        snprintf(line, sizeof(line),
                 "\"$carom\" convert - - --format off <file 2>/dev/null >1 && \"$carom\" convert "
                 "file 2 --from %.3s --format off >/dev/null && cmp 1 2 2>&1",
                 f);
        if (shell(line) != 0) fail_msg("%s: %s", line, said);
    }
    /* a list, and nothing else, goes to the standard output */
    assert_int_equal(carom("make cloth --detail 50 -o c.ply"), 0);
    assert_int_equal(carom("pairs c.ply -o c.csv"), 0);
    assert_int_equal(shell("\"$carom\" pairs - -o - <c.ply 2>words | cmp - c.csv 2>&1"), 0);
    assert_int_equal(shell("grep 'pairs of faces meet' words"), 0);
    assert_int_equal(carom("kfree c.ply -o c.csv"), 0);
    assert_int_equal(shell("\"$carom\" kfree - -o - <c.ply 2>words | cmp - c.csv 2>&1"), 0);
    assert_int_equal(shell("\"$carom\" query - b.ply --json <b.ply 2>&1"), 0);
    assert_said("\"inputs\": [\"-\", \"b.ply\"]");
#ifdef CAROM_HAVE_ZLIB
    assert_int_equal(shell("gzip -c c.ply | \"$carom\" info - --json 2>&1"), 0);
    assert_said("\"format\": \"ply\"");
#else
    assert_int_equal(shell("gzip -c c.ply | \"$carom\" info - --json 2>&1"), CLI_INPUT);
    assert_said("gzip");
#endif
    /* what cannot be is said */
    assert_int_equal(carom("pairs - -"), CLI_USAGE);
    assert_said("can be read only once");
    assert_int_equal(carom("pairs c.ply -o - --json"), CLI_USAGE);
    assert_said("both go to the standard output");
    assert_int_equal(carom("make torus -o -"), CLI_INPUT);
    assert_said("give --format");
    assert_int_equal(carom("info -"), CLI_INPUT);
    assert_said("standard input: ");
    assert_int_equal(shell("printf 'OFF\\n3 0 0\\n' | \"$carom\" info - 2>&1"), CLI_INPUT);
    assert_said("standard input: line 2: 3 vertices are promised");
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(shell("\"$carom\" make torus -o - --format ply 2>&1 >/dev/full"),
                         CLI_MACHINE);
        assert_said("cannot write to the standard output");
        assert_int_equal(shell("\"$carom\" pairs c.ply -o - 2>&1 >/dev/full"), CLI_MACHINE);
    }
}

static void names_that_end_in_gz_are_compressed(void **state) {
    (void)state;
#ifndef CAROM_HAVE_ZLIB
    assert_int_equal(carom("pairs c.ply -o p.csv.gz"), CLI_INPUT);
    assert_said("gzip");
#else
    assert_int_equal(carom("pairs c.ply -o p.csv"), 0);
    assert_int_equal(carom("pairs c.ply -o p.csv.gz"), 0);
    assert_int_equal(shell("gzip -dc p.csv.gz | cmp - p.csv 2>&1"), 0);
    assert_int_equal(carom("kfree c.ply -o k.csv"), 0);
    assert_int_equal(carom("kfree c.ply -o k.csv.gz"), 0);
    assert_int_equal(shell("gzip -dc k.csv.gz | cmp - k.csv 2>&1"), 0);
    assert_int_equal(carom("make torus -o t.obj"), 0);
    assert_int_equal(carom("make torus -o t.obj.gz"), 0);
    assert_int_equal(shell("gzip -dc t.obj.gz | cmp - t.obj 2>&1"), 0);
#endif
    assert_int_equal(shell("ls | grep part"), 1); /* drafts are gone */
}

/* ---- the one object -------------------------------------------------------------------------- */

static void every_command_has_one_frame(void **state) {
    (void)state;
    static const struct {
        const char *line, *frame, *more;
    } rows[] = {
        {"info t.ply", "\"command\": \"info\", \"inputs\": [\"t.ply\"], \"meshes\": [{\"file\": ",
         "\"prepare_s\": "},
        {"info t.ply b.ply",
         "\"inputs\": [\"t.ply\", \"b.ply\"], \"meshes\": [{\"file\": ", "\"query_s\": "},
        {"make torus -o o.ply", "\"command\": \"make\", \"file\": \"o.ply\"", "\"prepare_s\": "},
        {"convert t.ply o.off",
         "\"command\": \"convert\", \"inputs\": [\"t.ply\"], \"file\": ", "\"write_s\": "},
        {"pairs t.ply", "\"command\": \"pairs\", \"inputs\": [\"t.ply\"], \"pairs\": 0",
         "\"query_s\": "},
        {"pairs t.ply b.ply", "\"inputs\": [\"t.ply\", \"b.ply\"], \"pairs\": ", "\"prepare_s\": "},
        {"kfree t.ply",
         "\"command\": \"kfree\", \"inputs\": [\"t.ply\"], \"k\": ", "\"query_s\": "},
        {"query t.ply b.ply", "\"command\": \"query\", \"inputs\": [\"t.ply\", \"b.ply\"], ",
         "\"query_s\": "},
        {"query t.ply b.ply --repeat 3", "\"command\": \"query\"", "\"repeat\": 3"},
        {"pairs t.ply --repeat 1e1", "\"command\": \"pairs\"", "\"repeat\": 10"},
        {"kfree t.ply --repeat 2", "\"command\": \"kfree\"", "\"repeat\": 2"},
        {"bench --list", "\"command\": \"bench\", \"benchmarks\": [", "base"},
        {"info --help", "\"command\": \"info\", \"help\": \"carom info: ", "--no-weld"},
        {"--help", "\"command\": \"carom\", \"help\": \"carom: ", "usage"},
        {"--version", "\"command\": \"version\", \"version\": ", "commit"},
    };
    char line[256];
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        snprintf(line, sizeof(line), "%s --json", rows[i].line);
        int code = carom(line);
        if (code != CLI_OK) fail_msg("%s: code %d: %s", line, code, said);
        check_object(line, code);
        assert_said(rows[i].frame);
        assert_said(rows[i].more);
        assert_not_said("_ms\"");
        assert_not_said("_us\"");
    }
}

static void failures_have_the_same_frame(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *frame;
    } rows[] = {
        {"nonsense", CLI_USAGE, "\"command\": \"nonsense\", \"error\": "},
        {"info", CLI_USAGE, "\"command\": \"info\", \"error\": "},
        {"", CLI_USAGE, "\"command\": \"carom\", \"error\": "},
        {"info none.ply", CLI_INPUT, "\"inputs\": [\"none.ply\"], \"error\": "},
        {"pairs t.ply none.ply", CLI_INPUT, "\"inputs\": [\"t.ply\", \"none.ply\"], \"error\": "},
        {"pairs t.ply -o no/such/x.csv", CLI_INPUT, "\"inputs\": [\"t.ply\"], \"error\": "},
        {"make torus -o o.xyz", CLI_USAGE, "\"command\": \"make\", \"error\": "}};
    char line[256];
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        snprintf(line, sizeof(line), "%s --json", rows[i].line);
        int code = carom(line);
        if (code != rows[i].code) fail_msg("%s: code %d: %s", line, code, said);
        check_object(line, code);
        assert_said(rows[i].frame);
        assert_said("\"status\": \"");
    }
    /* one bad file does not hide the others */
    assert_int_equal(carom("info none.ply t.ply --json"), CLI_INPUT);
    check_object("info none.ply t.ply", CLI_INPUT);
    assert_said("\"meshes\": [{\"file\": \"none.ply\", \"error\": ");
    assert_said("{\"file\": \"t.ply\", \"format\": \"ply\"");
}

/* ---- devices, and files that are no meshes --------------------------------------------------- */

static void a_device_is_used_or_refused(void **state) {
    (void)state;
    char cuda[256];
    bool have = carom_cuda_describe(cuda, sizeof(cuda));
    static const char *const lines[] = {"info t.ply", "make torus -o x.ply",
                                        "query t.ply b.ply --engine tree", "bench base --quick"};
    char line[256];
    for (size_t i = 0; i < COUNT_OF(lines); ++i) {
        snprintf(line, sizeof(line), "%s --device cuda --json", lines[i]);
        int code = carom(line);
        if (code != (have ? CLI_INPUT : CLI_MACHINE)) fail_msg("%s: code %d: %s", line, code, said);
        check_object(line, code);
        if (have) assert_said("cannot run on cuda; leave --device out");
    }
    assert_int_equal(shell("test -e x.ply"), 1);
    static const char *const on_cuda[] = {"pairs t.ply",
                                          "kfree t.ply",
                                          "query t.ply t.ply --engine balls --spheres 100",
                                          "query t.ply t.ply",
                                          "boxes -n 500",
                                          "hulls t.ply b.ply",
                                          "distance t.ply p.csv",
                                          "rays t.ply r.csv",
                                          "rays t.ply r.csv --all"};
    assert_int_equal(shell("echo 0,0,0 > p.csv; echo 0,0,0,1,0,0 > r.csv"), 0);
    for (size_t i = 0; i < COUNT_OF(on_cuda); ++i) {
        snprintf(line, sizeof(line), "%s --device cuda --json", on_cuda[i]);
        int code = carom(line);
        if (code != (have ? CLI_OK : CLI_MACHINE))
            fail_msg("%s on cuda: code %d: %s", line, code, said);
    }
}

static void lost_faces_and_cad_files_are_told(void **state) {
    (void)state;
    write_file("part.step", "ISO-10303-21;\nHEADER;\n");
    assert_int_equal(carom("info part.step"), CLI_INPUT);
    assert_said("part.step: STEP holds the exact surfaces of a CAD program");
    assert_said("as STL or OBJ");
    assert_int_equal(carom("convert part.step part.stl"), CLI_INPUT);
    assert_said("FreeCAD");
    write_file("more.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 2 1 0\n");
    assert_int_equal(carom("pairs more.off"), CLI_INPUT);
    assert_said("more.off: line 7: \"3\" follows the last of the 1 faces");
    write_file("few.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2\n");
    assert_int_equal(carom("convert few.obj few.off"), CLI_OK);
    assert_said("few.obj: 1 face with fewer than three corners left out");
    /* an empty mesh through every format and back */
    write_file("none.off", "OFF\n0 0 0\n");
    assert_int_equal(shell("for f in obj ply stl off; do \"$carom\" convert none.off e.$f && "
                           "\"$carom\" convert e.$f again.off && cmp none.off again.off || exit 1; "
                           "done 2>&1"),
                     0);
    assert_int_equal(shell("\"$carom\" convert none.off - --format obj 2>/dev/null | \"$carom\" "
                           "info - --json 2>&1"),
                     0);
    assert_said("\"format\": \"obj\", \"vertices\": 0");
}

int main(void) {
    if (!cli_run_begin("cli_values")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_numbers),
        cmocka_unit_test(every_option_is_walked),
        cmocka_unit_test(zero_is_a_value),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(guesses_are_near),
        cmocka_unit_test(large_counts_have_many_notations),
        cmocka_unit_test(a_dash_is_the_standard_input_or_output),
        cmocka_unit_test(names_that_end_in_gz_are_compressed),
        cmocka_unit_test(every_command_has_one_frame),
        cmocka_unit_test(failures_have_the_same_frame),
        cmocka_unit_test(a_device_is_used_or_refused),
        cmocka_unit_test(lost_faces_and_cad_files_are_told),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_values", tests, NULL, NULL));
}
