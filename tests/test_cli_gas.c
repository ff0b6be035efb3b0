/* SPDX-License-Identifier: MIT */
/* carom gas, as a user runs it; its trajectories are read strictly by the convention of extended
 * XYZ: a line with the count, a line of key=value with the lattice and the columns, the rows.
 * One thread. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

/* ---- reading extended XYZ -------------------------------------------------------------------- */

typedef struct column {
    char name[16], type;
    int width;
} column;

typedef struct frame {
    long count;
    double lattice[9], time;
    bool periodic[3];
    column columns[8];
    int column_count;
} frame;

static char *cursor; /* into the file's text */

static char *take_line(void) {
    char *line = cursor, *end = strchr(cursor, '\n');
    assert_non_null(end); /* every line is ended */
    *end = '\0';
    cursor = end + 1;
    return line;
}

static double take_number(char **at) {
    char *end;
    assert_true(**at == '-' || isdigit((unsigned char)**at)); /* no blanks before, no nan, no inf */
    double value = strtod(*at, &end);
    assert_true(end != *at && isfinite(value));
    *at = end;
    return value;
}

static void take_char(char **at, char wanted) {
    assert_int_equal(**at, wanted);
    ++*at;
}

/* name:T:n, joined by colons. */
static void read_columns(frame *f, char *text) {
    for (char *at = text;; ++at) {
        column *c = &f->columns[f->column_count++];
        size_t length = strcspn(at, ":");
        assert_in_range(length, 1, sizeof(c->name) - 1);
        memcpy(c->name, at, length);
        c->name[length] = '\0';
        at += length;
        take_char(&at, ':');
        c->type = *at++;
        assert_non_null(strchr("SRIL", c->type));
        take_char(&at, ':');
        c->width = (int)take_number(&at);
        if (*at == '\0') return;
        assert_int_equal(*at, ':');
        assert_true(f->column_count < 8);
    }
}

static void read_value(frame *f, const char *key, char *value) {
    if (strcmp(key, "Lattice") == 0) {
        for (int i = 0; i < 9; ++i) {
            if (i > 0) take_char(&value, ' ');
            f->lattice[i] = take_number(&value);
        }
        assert_int_equal(*value, '\0');
    } else if (strcmp(key, "pbc") == 0) {
        assert_int_equal(strlen(value), 5);
        for (int axis = 0; axis < 3; ++axis) {
            char c = value[2 * axis];
            assert_true(c == 'T' || c == 'F');
            f->periodic[axis] = c == 'T';
        }
        assert_true(value[1] == ' ' && value[3] == ' ');
    } else if (strcmp(key, "Properties") == 0) {
        read_columns(f, value);
    } else if (strcmp(key, "Time") == 0) {
        f->time = take_number(&value);
        assert_int_equal(*value, '\0');
    } else {
        assert_string_equal(key, "Origin");
        assert_string_equal(value, "0 0 0");
    }
}

/* key=value or key="value with blanks", one blank between them; each key once. */
static void read_comment(frame *f, char *at) {
    char seen[256] = " ";
    for (;;) {
        char *key = at, *value;
        at += strcspn(at, "=");
        take_char(&at, '=');
        at[-1] = '\0';
        char once[64];
        snprintf(once, sizeof(once), " %s ", key);
        assert_null(strstr(seen, once));
        strcat(seen, once + 1);
        bool quoted = *at == '"';
        value = quoted ? ++at : at;
        at += strcspn(at, quoted ? "\"" : " ");
        if (quoted) take_char(&at, '"'), at[-1] = '\0';
        bool last = *at == '\0';
        if (!last) take_char(&at, ' '), at[-1] = '\0';
        read_value(f, key, value);
        if (last) break;
    }
    static const char *const keys[] = {" Lattice ", " Properties ", " pbc ", " Time "};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) assert_non_null(strstr(seen, keys[i]));
}

/* One row, all its columns; numbers in the order they stand. */
static void read_row(const frame *f, char *at, double *numbers) {
    for (int c = 0, n = 0; c < f->column_count; ++c)
        for (int k = 0; k < f->columns[c].width; ++k) {
            if (c + k > 0) take_char(&at, ' ');
            if (f->columns[c].type == 'S') {
                size_t length = strcspn(at, " ");
                assert_true(length > 0);
                at += length;
            } else {
                numbers[n++] = take_number(&at);
            }
            if (c == f->column_count - 1 && k == f->columns[c].width - 1)
                assert_int_equal(*at, '\0');
        }
}

static void read_head(frame *f) {
    *f = (frame){0};
    char *line = take_line(), *end;
    f->count = strtol(line, &end, 10);
    assert_true(end != line && *end == '\0' && f->count >= 0);
    read_comment(f, take_line());
}

/* ---- trajectories ---------------------------------------------------------------------------- */

typedef struct expected {
    const char *file;
    long count, frames;
    carom_vec3 edges;
    bool periodic[3];
    const double *radii;
    double from, length;
} expected;

/* Every frame: the box, the columns, all inside, none overlapping, times evenly from start to end.
 */
static void check_trajectory(const expected *e) {
    static char text[1 << 21];
    static double rows[256][7];
    const double edges[3] = {e->edges.x, e->edges.y, e->edges.z};
    read_file(e->file, text, sizeof(text));
    cursor = text;
    for (long n = 0; n < e->frames; ++n) {
        frame f;
        read_head(&f);
        assert_int_equal(f.count, e->count);
        for (int i = 0; i < 9; ++i) assert_true(f.lattice[i] == (i % 4 == 0 ? edges[i / 4] : 0.0));
        static const column columns[] = {
            {"species", 'S', 1}, {"pos", 'R', 3}, {"velo", 'R', 3}, {"radius", 'R', 1}};
        assert_int_equal(f.column_count, COUNT_OF(columns));
        for (size_t c = 0; c < COUNT_OF(columns); ++c) {
            assert_string_equal(f.columns[c].name, columns[c].name);
            assert_int_equal(f.columns[c].type, columns[c].type);
            assert_int_equal(f.columns[c].width, columns[c].width);
        }
        double share = e->frames > 1 ? (double)n / (double)(e->frames - 1) : 1.0;
        assert_true(fabs(f.time - (e->from + e->length * share)) < 1e-9);
        for (long i = 0; i < f.count; ++i) {
            double *row = rows[i], r = e->radii[i];
            read_row(&f, take_line(), row);
            assert_true(fabs(row[6] / r - 1.0) < 1e-8);
            for (int axis = 0; axis < 3; ++axis) {
                double margin = e->periodic[axis] ? 0.0 : r - 1e-7;
                assert_true(f.periodic[axis] == e->periodic[axis]);
                assert_true(row[axis] >= margin && row[axis] <= edges[axis] - margin);
            }
            for (long k = 0; k < i; ++k) {
                double square = 0.0, reach = r + e->radii[k];
                for (int axis = 0; axis < 3; ++axis) {
                    double d = fabs(row[axis] - rows[k][axis]);
                    if (e->periodic[axis]) d = fmin(d, edges[axis] - d);
                    square += d * d;
                }
                assert_true(sqrt(square) > reach - 1e-7);
            }
        }
    }
    assert_int_equal(*cursor, '\0');
}

static void trajectories_are_extended_xyz(void **state) {
    (void)state;
    double radii[100], edge = 10.0;
    for (int i = 0; i < 100; ++i) radii[i] = 0.5;
    expected e = {"run.xyz", 100, 7, {edge, edge, edge}, {true, true, true}, radii, 0.0, 3.0};
    assert_int_equal(carom("gas -n 100 --box 10 --radius 0.5 --periodic --time 3 --frames 7 -o "
                           "run.xyz"),
                     0);
    check_trajectory(&e);
    for (int axis = 0; axis < 3; ++axis) e.periodic[axis] = false;
    e.frames = 100; /* what is written when nothing is said */
    assert_int_equal(carom("gas -n 100 --box 10 --radius 0.5 --time 3 -o run.xyz"), 0);
    check_trajectory(&e);
    e.frames = 1, e.from = 0.5;
    assert_int_equal(carom("gas -n 100 --box 10 --radius 0.5 --warm 0.5 --time 3 --frames 1 -o "
                           "run.xyz"),
                     0);
    check_trajectory(&e);
}

/* A gas made elsewhere: three unlike edges, walls along one axis, radii of all sizes, ids missing.
 */
static void resumed_boxes_are_told_as_they_are(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_def def = {.edges = {5.0, 7.5, 12.25}, .periodic = {true, false, true}};
    carom_gas_sphere spheres[40];
    double radii[40];
    uint32_t dead = 7;
    carom_random random = {4};
    for (int i = 0; i < 40; ++i) {
        spheres[i] = (carom_gas_sphere){.radius = 0.05 + 0.01 * i};
        spheres[i].position =
            (carom_vec3){0.7 + 1.2 * (i % 4), 0.7 + 1.4 * (i / 4 % 5), 1.0 + 5.0 * (i / 20)};
        spheres[i].velocity =
            (carom_vec3){carom_random_normal(&random), carom_random_normal(&random),
                         carom_random_normal(&random)};
    }
    carom_gas *gas;
    char path[600];
    snprintf(path, sizeof(path), "%s/made.gas", folder);
    assert_ok(context, carom_gas_create(context, &def, spheres, 40, &gas));
    assert_ok(context, carom_gas_remove(context, gas, &dead, 1));
    assert_ok(context, carom_gas_advance(context, gas, 0.25, NULL, NULL));
    assert_ok(context, carom_gas_save(context, gas, path));
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    for (int i = 0; i < 39; ++i) radii[i] = spheres[i < 7 ? i : i + 1].radius;
    expected e = {"run.xyz",           39,    12,   {def.edges.x, def.edges.y, def.edges.z},
                  {true, false, true}, radii, 0.25, 2.0};
    assert_int_equal(carom("gas --resume made.gas --time 2 --frames 12 -o run.xyz"), 0);
    check_trajectory(&e);
}

/* ---- the rest of the command ----------------------------------------------------------------- */

static void a_run_in_two_is_a_run_in_one(void **state) {
    (void)state;
    static char one[1 << 16], two[1 << 16];
    assert_int_equal(carom("gas -n 50 --periodic --time 2 --save half.gas"), 0);
    assert_int_equal(carom("gas --resume half.gas --time 2 --frames 1 -o two.xyz"), 0);
    assert_int_equal(carom("gas -n 50 --periodic --time 4 --frames 1 -o one.xyz"), 0);
    read_file("one.xyz", one, sizeof(one));
    read_file("two.xyz", two, sizeof(two));
    assert_string_equal(one, two);
}

static void misuse_gets_a_sentence(void **state) {
    (void)state;
    assert_int_equal(carom("gas -n 50 --time 1 --save half.gas"), 0);
    assert_int_equal(carom("gas --resume half.gas --loss 0.5"), CLI_USAGE);
    assert_said("--resume brings its own spheres");
    assert_int_equal(carom("gas --time -1"), CLI_USAGE);
    assert_int_equal(carom("gas --box 5 --radius 1 --fraction 0.2"), CLI_USAGE);
    assert_said("only two can be given");
    assert_int_equal(carom("gas --fraction 0.8"), CLI_USAGE);
    assert_said("do not fit");
    assert_int_equal(carom("gas --resume nothing.gas"), CLI_INPUT);
    assert_said("nothing.gas");
    assert_int_equal(carom("gas -n 10 --time 1 -o nowhere/run.xyz"), CLI_INPUT);
    assert_said("nowhere/run.xyz");
    assert_int_not_equal(carom("gas -n 10 --time 1 --save nowhere/x.gas"), 0);
    assert_said("nowhere/x.gas");
    assert_int_equal(carom("gas -n 10 --loss 2"), CLI_INPUT);
    assert_said("loss");
}

/* ---- what is typed is meant ------------------------------------------------------------------ */

/* The number behind a key of the JSON object. */
static double json_value(const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char *at = strstr(said, quoted);
    if (at == NULL) fail_msg("no %s in %s", key, said);
    return strtod(at + strlen(quoted), NULL);
}

static void zero_is_a_value(void **state) {
    (void)state;
    static char text[1 << 16];
    assert_int_equal(carom("gas --time 0 --json"), 0);
    assert_true(json_value("time") == 0.0 && json_value("collisions") == 0.0);
    assert_true(json_value("spheres") == 1000.0);
    assert_int_equal(carom("gas -n 20 --time 0 -o still.xyz"), 0);
    read_file("still.xyz", text, sizeof(text));
    assert_int_equal(strncmp(text, "20\nLattice", 10), 0);
    assert_null(strstr(text + 10, "Lattice")); /* the start is the end: one frame */
    assert_int_equal(carom("gas -n 0 --box 5 --json"), 0);
    assert_true(json_value("spheres") == 0.0 && json_value("time") == 10.0);
    assert_said("\"mean_free_path\": null");
    assert_int_equal(carom("gas -n 0"), CLI_USAGE);
    assert_said("--box");
    assert_int_equal(carom("gas --speed 0 --json"), 0);
    assert_true(json_value("energy") == 0.0 && json_value("collisions") == 0.0);
    assert_int_equal(carom("gas --fraction 0"), CLI_USAGE);
    assert_int_equal(carom("gas --radius 0"), CLI_USAGE);
    assert_int_equal(carom("gas --box 0"), CLI_USAGE);
    assert_int_equal(carom("gas --cell 0"), CLI_USAGE);
    assert_int_equal(carom("gas --frames 0 -o none.xyz"), CLI_USAGE);
    assert_int_equal(carom("gas -n 40 --seed 0 --time 1 --json --periodic"), 0);
    double zero = json_value("crossings"), virial = json_value("z");
    assert_int_equal(carom("gas -n 40 --seed 1 --time 1 --json --periodic"), 0);
    assert_true(zero != json_value("crossings") || virial != json_value("z"));
}

/* What does not fit says which count would, and that does. */
static void what_does_not_fit_says_what_would(void **state) {
    (void)state;
    static const char *const boxes[] = {
        "--box 5 --radius 0.5",    "--box 5 --radius 0.5 --periodic",  "--box 40 --radius 0.7",
        "--box 2 --radius 0.45",   "--box 40 --radius 0.7 --periodic", "--box 1e-40 --radius 1e-41",
        "--box 1e40 --radius 1e39"};
    for (size_t i = 0; i < COUNT_OF(boxes); ++i) {
        char line[256];
        snprintf(line, sizeof(line), "gas -n 100k %s", boxes[i]);
        assert_int_equal(carom(line), CLI_USAGE);
        const char *at = strstr(said, "on a lattice; ");
        if (at == NULL) fail_msg("%s", said);
        unsigned long long most = strtoull(at + strlen("on a lattice; "), NULL, 10);
        assert_true(most >= 4);
        snprintf(line, sizeof(line), "gas -n %llu %s --time 0", most, boxes[i]);
        assert_int_equal(carom(line), 0);
    }
    assert_int_equal(carom("gas -n 5 --box 1 --radius 0.45"), CLI_USAGE);
    assert_said("not even four");
}

static void every_extreme_ends(void **state) {
    (void)state;
    static const char *const options[] = {"--radius", "--box",   "--fraction", "--speed",
                                          "--time",   "--warm",  "--loss",     "--cell",
                                          "-n",       "--frames"};
    static const char *const values[] = {"0",      "5e-324", "1e-310",
                                         "1e-300", "1e-60",  "1e60",
                                         "1e100",  "1e300",  "1.7976931348623157e308",
                                         "-1"};
    for (size_t i = 0; i < COUNT_OF(options); ++i)
        for (size_t k = 0; k < COUNT_OF(values); ++k) {
            char line[256];
            snprintf(line, sizeof(line), "gas -n 20 %s %s --json -o extreme.xyz", options[i],
                     values[k]);
            int code = carom(line);
            if (code != 0 && code != CLI_USAGE && code != CLI_INPUT)
                fail_msg("%s: %d: %s", line, code, said);
            assert_not_said("inf\n");
            assert_not_said(": nan");
            assert_said("\"schema\": \"carom/1\", \"command\": \"gas\"");
        }
}

/* Its own rate, not that of all that was measured. */
static void a_resumed_run_tells_its_own_speed(void **state) {
    (void)state;
    assert_int_equal(carom("gas -n 400 --periodic --time 5 --save long.gas --json"), 0);
    double collisions = json_value("collisions"), z = json_value("z");
    assert_int_equal(carom("gas --resume long.gas --time 0 --json"), 0);
    assert_said("\"inputs\": [\"long.gas\"]");
    assert_true(json_value("collisions") == 0.0 && json_value("events_per_second") == 0.0);
    assert_true(json_value("z") == z && json_value("measured_time") == 5.0);
    assert_int_equal(carom("gas --resume long.gas --time 1 --json"), 0);
    assert_true(json_value("collisions") < 0.5 * collisions && json_value("time") == 1.0);
    double rate = json_value("events") / json_value("query_s");
    assert_true(fabs(json_value("events_per_second") / rate - 1.0) < 1e-9);
    assert_true(json_value("prepare_s") > 0.0);
}

/* ---- nothing is lost ------------------------------------------------------------------------- */

/* Interrupts `carom gas` after a while; returns its exit code. On a busy machine the signal may
 * come before the tool listens or has anything: once more, later. */
static int interrupt_gas(const char *arguments) {
    int code = 0;
    for (double seconds = 0.4; seconds < 8.0; seconds *= 2.0) {
        char command[1024];
        snprintf(command, sizeof(command),
                 "timeout --preserve-status -s INT %g '%s/carom' gas %s 2>&1", seconds,
                 CAROM_BINARY_DIR, arguments);
        code = shell(command);
        if (code == 130 && strstr(said, "interrupted at time 0;") == NULL) break;
    }
    return code;
}

static void an_interrupted_run_keeps_what_it_has(void **state) {
    (void)state;
    static char text[1 << 22];
    assert_int_equal(
        interrupt_gas("-n 300 --periodic --time 1e6 --frames 1e6 -o cut.xyz --save cut.gas"), 130);
    assert_said("carom: interrupted at time ");
    assert_said("the gas is saved in 'cut.gas'");
    assert_said("of 1000000 frames");
    assert_int_equal(shell("ls -a | grep part"), 1);
    read_file("cut.xyz", text, sizeof(text));
    cursor = text; /* frames are whole, but for what this buffer cuts off */
    for (int n = 0; n < 20 && *cursor != '\0'; ++n) {
        frame f;
        double row[7];
        read_head(&f);
        assert_int_equal(f.count, 300);
        for (long i = 0; i < f.count; ++i) read_row(&f, take_line(), row);
    }
    assert_int_equal(shell("test $(($(wc -l < cut.xyz) % 302)) -eq 0"), 0);
    assert_int_equal(carom("gas --resume cut.gas --time 0.1 --json"), 0);
    assert_true(json_value("spheres") == 300.0);
    /* Packed ones too. */
    if (shell("command -v gzip") == 0 &&
        interrupt_gas("-n 300 --time 1e6 --frames 1e6 -o cut.xyz.gz") == 130 &&
        strstr(said, "no lists") == NULL) {
        assert_said("cut.xyz.gz' has");
        assert_int_equal(shell("gzip -t cut.xyz.gz"), 0);
        assert_int_equal(shell("test $(($(gzip -dc cut.xyz.gz | wc -l) % 302)) -eq 0"), 0);
    }
    /* JSON is still one object. */
    assert_int_equal(interrupt_gas("-n 300 --time 1e9 --json -q --save cut.gas 2>/dev/null"), 130);
    assert_said("\"error\": \"interrupted at time ");
    assert_null(strstr(strstr(said, "schema") + 1, "schema"));
}

/* Files of an earlier run stay when there is no room for new ones. */
static void a_full_disk_leaves_the_old_files(void **state) {
    (void)state;
    static char before[1 << 16], after[1 << 16];
    assert_int_equal(carom("gas -n 30 --time 1 --frames 2 -o old.xyz --save old.gas"), 0);
    read_file("old.xyz", before, sizeof(before));
    assert_int_equal(shell("cp old.gas kept.gas"), 0);
    char command[512];
    static const char *const lines[] = {"-n 500 --time 1 -o old.xyz",
                                        "-n 500 --time 1 --save old.gas",
                                        "-n 500 --time 1 --frames 3 -o old.xyz --save old.gas"};
    for (size_t i = 0; i < COUNT_OF(lines); ++i) {
        snprintf(command, sizeof(command), "trap '' XFSZ; ulimit -f 8; '%s/carom' gas %s 2>&1",
                 CAROM_BINARY_DIR, lines[i]);
        int code = shell(command);
        if (code != CLI_INPUT && code != CLI_MACHINE) fail_msg("%d: %s", code, said);
        assert_said("old.");
        assert_int_equal(shell("ls -a | grep part"), 1);
        assert_int_equal(shell("cmp old.gas kept.gas"), 0);
        read_file("old.xyz", after, sizeof(after));
        assert_string_equal(before, after);
    }
    assert_int_equal(carom("gas -n 500 --time 1 -o /dev/full"), CLI_INPUT);
    /* A place that cannot be written to is told before the run, not after it. */
    assert_int_equal(carom("gas -n 500 --time 1e9 --save nowhere/x.gas"), CLI_INPUT);
    assert_int_equal(carom("gas -n 500 --time 1e9 --save x.gas.gz"), CLI_USAGE);
}

/* A run that fails keeps its frames. */
static void a_run_that_fails_keeps_its_frames(void **state) {
    (void)state;
    assert_int_equal(carom("gas -n 30 --loss 1 --fraction 0.4 --time 1e4 --frames 200 -o lost.xyz"),
                     CLI_INPUT);
    assert_said("inelastic collapse");
    assert_int_equal(shell("test $(($(wc -l < lost.xyz) % 32)) -eq 0 -a -s lost.xyz"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_are_extended_xyz),
        cmocka_unit_test(resumed_boxes_are_told_as_they_are),
        cmocka_unit_test(a_run_in_two_is_a_run_in_one),
        cmocka_unit_test(misuse_gets_a_sentence),
        cmocka_unit_test(zero_is_a_value),
        cmocka_unit_test(what_does_not_fit_says_what_would),
        cmocka_unit_test(every_extreme_ends),
        cmocka_unit_test(a_resumed_run_tells_its_own_speed),
        cmocka_unit_test(an_interrupted_run_keeps_what_it_has),
        cmocka_unit_test(a_full_disk_leaves_the_old_files),
        cmocka_unit_test(a_run_that_fails_keeps_its_frames),
    };
    if (!cli_run_begin("gas")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("carom gas", tests, NULL, NULL));
}
