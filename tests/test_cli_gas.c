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
    column columns[16];
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
        assert_true(f->column_count < 16);
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
    long missing; /* the id that is not there; or 0 */
} expected;

/* Every frame: the box, the columns, all inside, none overlapping, times evenly from start to end.
 */
static void check_trajectory(const expected *e) {
    static char text[1 << 21];
    static double rows[256][9];
    const double edges[3] = {e->edges.x, e->edges.y, e->edges.z};
    read_file(e->file, text, sizeof(text));
    cursor = text;
    for (long n = 0; n < e->frames; ++n) {
        frame f;
        read_head(&f);
        assert_int_equal(f.count, e->count);
        for (int i = 0; i < 9; ++i) assert_true(f.lattice[i] == (i % 4 == 0 ? edges[i / 4] : 0.0));
        static const column columns[] = {{"species", 'S', 1}, {"pos", 'R', 3},  {"velo", 'R', 3},
                                         {"radius", 'R', 1},  {"mass", 'R', 1}, {"id", 'I', 1}};
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
            assert_true(row[6] == r && row[7] == 1.0);
            assert_true(row[8] == (double)(i + (e->missing != 0 && i >= e->missing)));
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
    expected e = {"run.xyz", 100, 7, {edge, edge, edge}, {true, true, true}, radii, 0.0, 3.0, 0};
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
    def.spheres = spheres;
    def.sphere_count = 40;
    assert_ok(context, carom_gas_create(context, &def, &gas));
    assert_ok(context, carom_gas_remove(context, gas, &dead, 1));
    assert_ok(context, carom_gas_advance(context, gas, 0.25, NULL, NULL));
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, path));
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    for (int i = 0; i < 39; ++i) radii[i] = spheres[i < 7 ? i : i + 1].radius;
    expected e = {
        "run.xyz", 39,  12, {def.edges.x, def.edges.y, def.edges.z}, {true, false, true}, radii,
        0.25,      2.0, 7};
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

static void misuse_gets_a_message(void **state) {
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

/* Also where the lattice is a single layer between two walls. */
static void few_spheres_start_inside(void **state) {
    (void)state;
    static const char *const calls[] = {"-n 1",
                                        "-n 2",
                                        "-n 3",
                                        "-n 4",
                                        "-n 1 --fraction 0.11",
                                        "-n 2 --fraction 0.2",
                                        "-n 2 --fraction 0.2 --periodic"};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
        char line[96];
        snprintf(line, sizeof(line), "gas %s --time 1", calls[i]);
        if (carom(line) != 0) fail_msg("%s: %s", line, said);
    }
}

static void every_extreme_ends(void **state) {
    (void)state;
    static const char *const options[] = {
        "--radius", "--box",       "--fraction",      "--speed",  "--time",
        "--warm",   "--loss",      "--cell",          "-n",       "--frames",
        "--mass",   "--wall-loss", "--elastic-below", "--cutoff", "--tick"};
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
    /* A path that cannot be written to is told before the run, not after it. */
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

/* ---- spheres of a file ----------------------------------------------------------------------- */

/* What is written reads back as the same spheres, bit for bit, also through a pipe and packed. */
static void what_is_written_is_a_start(void **state) {
    (void)state;
    static char one[1 << 18], two[1 << 18];
    static const char mixed[] = "-n 200 --mixture 3:.5:2,1:.2:.25,1:.9 --edges 8,14,30 --walls xz "
                                "--gravity 0,.1,-1 --time 3";
    static const char *const lines[] = {"-n 200 --fraction 0.3 --periodic --time 3", mixed,
                                        "-n 1 --box 3 --time 1"};
    for (size_t i = 0; i < COUNT_OF(lines); ++i) {
        char line[512];
        snprintf(line, sizeof(line), "gas %s --frames 3 -o first.xyz", lines[i]);
        assert_int_equal(carom(line), 0);
        assert_int_equal(carom("gas --start first.xyz --time 0 -o again.xyz"), 0);
        assert_int_equal(shell("n=$(head -1 first.xyz); tail -n $((n + 1)) first.xyz | "
                               "sed 's/ Time=.*//' >1; sed '1d; s/ Time=.*//' again.xyz >2; "
                               "cmp 1 2"),
                         0);
        read_file("1", one, sizeof(one));
        read_file("2", two, sizeof(two));
        assert_true(strlen(one) > 100);
        assert_string_equal(one, two);
        assert_int_equal(shell("\"$carom\" gas --start - --time 0 -o 3.xyz <first.xyz && "
                               "cmp 3.xyz again.xyz"),
                         0);
        assert_int_equal(shell("\"$carom\" gas --start first.xyz --start-frame 0 --time 0 -o 4.xyz "
                               "&& n=$(head -1 4.xyz) && tail -n $n 4.xyz >4 && head -n "
                               "$((n + 2)) first.xyz | tail -n $n | cmp - 4"),
                         0);
    }
    if (shell("command -v gzip && gzip -k first.xyz") == 0 &&
        carom("gas --start first.xyz.gz --time 0 -o 5.xyz") == 0)
        assert_int_equal(shell("cmp 5.xyz again.xyz"), 0);
}

/* Copies of a box are side by side, in the order of x, y, z, and move differently. */
static void copies_fill_a_larger_box(void **state) {
    (void)state;
    static char text[1 << 16];
    double edges[3], x[2 * 3 * 20][3], v[2 * 3 * 20][3], r[2 * 3 * 20];
    assert_int_equal(carom("gas -n 20 --periodic --edges 4,5,6 --fraction .2 --time 1 -o one.xyz"),
                     0);
    assert_int_equal(carom("gas --start one.xyz --copies 2,1,3 --time 0 -o six.xyz"), 0);
    assert_int_equal(carom("gas --start one.xyz --copies 2,1,3 --seed 1 --time 0 -o same.xyz"), 0);
    assert_int_equal(carom("gas --start one.xyz --copies 2,1,3 --seed 2 --time 0 -o other.xyz"), 0);
    assert_int_equal(shell("cmp six.xyz same.xyz"), 0);
    assert_int_not_equal(shell("cmp six.xyz other.xyz"), 0);
    read_file("six.xyz", text, sizeof(text));
    const char *box = strstr(text, "Lattice=\"");
    assert_non_null(box);
    assert_int_equal(
        sscanf(box, "Lattice=\"%lf 0 0 0 %lf 0 0 0 %lf\"", &edges[0], &edges[1], &edges[2]), 3);
    assert_true(edges[0] == 8.0 && edges[1] == 5.0 && edges[2] == 18.0);
    const char *line = strchr(strchr(text, '\n') + 1, '\n');
    for (int i = 0; i < 120; ++i, line = strchr(line, '\n')) {
        int id;
        assert_int_equal(sscanf(++line, "%*s %lf %lf %lf %lf %lf %lf %lf %*f %d", &x[i][0],
                                &x[i][1], &x[i][2], &v[i][0], &v[i][1], &v[i][2], &r[i], &id),
                         8);
        assert_int_equal(id, i);
    }
    for (int i = 0; i < 120; ++i) {
        const double shift[3] = {4.0 * (i / 20 % 2), 0.0, 6.0 * (i / 40)};
        for (int axis = 0; axis < 3; ++axis)
            assert_true(fabs(x[i][axis] - x[i % 20][axis] - shift[axis]) < 1e-14);
        assert_true(r[i] == r[i % 20]);
        assert_true(i < 20 || v[i][0] != v[i % 20][0]);
    }
    assert_int_equal(carom("gas --start one.xyz --copies 1000000,1000000,1 --time 0"), CLI_INPUT);
    assert_said("more than the 134217727 spheres");
}

/* The same three spheres in every format: the same events. */
static void formats_agree(void **state) {
    (void)state;
    static char one[1 << 16], two[1 << 16];
    write_file("a.xyz", "3\n"
                        "Lattice=\"10 0 0 0 11 0 0 0 12\" pbc=\"T T F\" "
                        "Properties=species:S:1:pos:R:3:vel:R:3:radius:R:1:spin:R:2\n"
                        "1 1 5 6 1 0 0 0.5 0 0\n2 5 5 6.25 -1 0.125 0 0.5 0 0\n"
                        "1 8 2 3 0.5 1 -1 1 0 0\n");
    write_file("a.dump", "ITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp ff\n"
                         "-1 9\n2 13\n0 12\nITEM: ATOMS id type xu yu zu vx vy vz radius c_x\n"
                         "9 1 7 4 3 0.5 1 -1 1 8\n4 1 0 7 6 1 0 0 0.5 8\n"
                         "5 2 4 7 6.25 -1 0.125 0 0.5 8\n");
    write_file("scaled.lammpstrj", "ITEM: UNITS\nlj\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\n"
                                   "ITEM: BOX BOUNDS pp pp ff\n0 16\n0 16\n0 16\n"
                                   "ITEM: ATOMS id xs ys zs\n1 0.5 0.25 0.125\n"
                                   "2 0.75 0.75 0.75\n3 0.25 0.25 0.25\n");
    write_file("a.data",
               "title\n\n3 atoms # three\n2 atom types\n\n-1 9 xlo xhi\n2 13 ylo yhi\n"
               "0 12 zlo zhi\n0 0 0 xy xz yz\n\nMasses\n\n1 1\n2 1\n\nPair Coeffs\n\n1 2 3\n2 2 "
               "3\n\nAtoms # atomic\n\n9 1 7 4 3 0 0 0\n4 1 0 7 6 0 0 0\n5 2 4 7 6.25 0 0 "
               "0\n\nVelocities\n\n5 -1 0.125 0\n4 1 0 0\n9 0.5 1 -1\n");
    assert_int_equal(carom("gas --start a.xyz --time 20 --events xyz.csv"), 0);
    assert_int_equal(carom("gas --start a.dump --time 20 --events dump.csv"), 0);
    read_file("xyz.csv", one, sizeof(one));
    assert_non_null(strstr(one, ",pair,0,1\n"));
    assert_non_null(strstr(one, ",wall,2,4\n"));
    assert_int_equal(shell("sed -E 's/,4,5$/,0,1/; s/,4,9$/,0,2/; s/,5,9$/,1,2/; "
                           "s/wall,4,/wall,0,/; s/wall,5,/wall,1,/; s/wall,9,/wall,2,/' dump.csv "
                           ">named.csv"),
                     0);
    read_file("named.csv", two, sizeof(two));
    assert_string_equal(one, two);
    assert_int_equal(carom("gas --start scaled.lammpstrj --radius 0.5 --seed 3 --time 0 "
                           "-o scaled.xyz"),
                     0);
    read_file("scaled.xyz", two, sizeof(two));
    assert_non_null(strstr(two, "\nS 8 4 2 "));
    assert_non_null(strstr(two, "\nS 12 12 12 "));
    assert_non_null(strstr(two, " 0.5 1 3\n"));
    /* radii from the command line: the third sphere is smaller now */
    assert_int_equal(carom("gas --start a.data --radius 0.5 --walls z --time 0 -o data.xyz"), 0);
    assert_int_equal(carom("gas --start a.dump --radius 0.5 --time 0 -o dump.xyz"), 0);
    assert_int_equal(shell("cmp data.xyz dump.xyz"), 0);
    /* diameter and density: half of 2, and 3 / (4 pi) times the volume of radius 1 */
    write_file("ball.data",
               "title\n\n2 atoms\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nAtoms\n\n"
               "1 1 2 0.238732414637843 5 5 5\n2 1 2 0.238732414637843 1 1 1\n\n"
               "Velocities\n\n1 1 0 0 0 0 0\n2 0 0 0 0 0 0\n");
    assert_int_equal(carom("gas --start ball.data --time 0 --json -o ball.xyz"), 0);
    assert_true(fabs(json_value("energy") - 0.5) < 1e-12);
    assert_int_equal(shell("grep -q '^1 5 5 5 1 0 0 1 ' ball.xyz"), 0);
    /* EDMD: no velocities, periodic, frames one after the other */
    write_file("a.sph", "# start\n2\n4 5 6\na 1 1 1 0.5\nb -1 1 1 0.25\n"
                        "2\n4 5 6\na 2 1 1 0.5\nb -1 3 9 0.25\n");
    assert_int_equal(carom("gas --start a.sph --time 0 -o sph.xyz"), 0);
    assert_int_equal(shell("grep -q '^a 2 1 1 ' sph.xyz && grep -q '^b 3 3 3 ' sph.xyz && grep -q "
                           "'pbc=\"T T T\"' sph.xyz"),
                     0);
    assert_int_equal(carom("gas --start a.sph --start-frame 0 --time 0 -o sph.xyz"), 0);
    assert_int_equal(shell("grep -q '^a 1 1 1 ' sph.xyz"), 0);
    assert_int_equal(shell("cp a.sph nameless; cp a.data nameless2; cp a.dump x.sph"), 0);
    assert_int_equal(carom("gas --start nameless --time 0"), 0);
    assert_int_equal(carom("gas --start nameless2 --radius 0.1 --time 0"), 0);
    assert_int_equal(carom("gas --start x.sph --time 0"), 0);
}

/* Every mistake is named with its file and line. */
static void bad_starts_are_named(void **state) {
    (void)state;
#define HEAD "Lattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R:3:radius:R:1"
    static const struct {
        const char *file, *text, *words;
    } cases[] = {
        {"a.xyz", "2\n" HEAD "\n1 1 1 1\n1 1\n", "a.xyz:4: the row has 2 columns, 4 are announced"},
        {"a.xyz", "2\n" HEAD "\n1 1 1 1\n5 5 nan 1\n", "a.xyz:4: z: \"nan\" is no finite number"},
        {"a.xyz", "2\n" HEAD "\n1 1 1 1\n5 5 5 0\n", "a.xyz:4: radius: 0 is not above 0"},
        {"a.xyz", "2\n" HEAD "\n1 1 1 1\n", "a.xyz:4: the file ends after 1 of 2 rows"},
        {"a.xyz", "1\n" HEAD "\n1 1 1 1\n2\n" HEAD "\n1 1 1 1\n", "--start-frame 0 takes the last"},
        {"a.xyz", "1\n" HEAD "\n1 1 1 1\n5 5 5 1\n",
         "a.xyz:4: the number of spheres must be alone in its line; does"},
        {"a.xyz", "2\n" HEAD "\n1 1 1 1\n2 1 1 1\n", "a.xyz:3 and 4: spheres 0 and 1 overlap"},
        {"a.xyz", "two\n" HEAD "\n", "a.xyz:1: number of spheres: \"two\" is no count"},
        {"a.xyz", "999999999999\n" HEAD "\n", "a gas has at most"},
        {"a.xyz", "1\nLattice=\"9 1 0 0 9 0 0 0 9\"\n", "a.xyz:2: the box is tilted"},
        {"a.xyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\n", "a.xyz:2: a quote or bracket is not closed"},
        {"a.xyz", "1\nLattice=\"9 0 0\"\n", "a.xyz:2: Lattice takes 9 finite numbers"},
        {"a.xyz", "1\nLattice=\"9 0 0 0 0 0 0 0 9\"\n", "a.xyz:2: the box is 0 wide along y"},
        {"a.xyz", "1\nProperties=pos:R:3:radius:R:1\n1 1 1 1\n", "give it with --box or --edges"},
        {"a.xyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nA 1 1 1\n", "give one for all with --radius"},
        {"a.xyz", "1\nProperties=species:S:1\nA\n", "no positions"},
        {"a.xyz", "1\nProperties=pos:R:900\nA\n", "the width of pos"},
        {"a.xyz", "1\n" HEAD " pbc=\"F F F\"\n1 0.5 1 1\n",
         "a.xyz:3: sphere 0 at y = 0.5 with radius 1 extends through the wall"},
        {"a.sph", "1\n4 4\na 1 1 1 1\n", "a.sph:2: the three edges of the box must follow"},
        {"a.sph", "2\n4 4 4\na 1 1 1 1\n", "a.sph:4: the file ends after 1 of 2 rows"},
        {"a.dump", "ITEM: TIMESTEP\n1\nITEM: ATOMS id x y z\n", "must come first"},
        {"a.dump", "ITEM: NUMBER OF ATOMS\n1\n", "ends inside the head of frame 0"},
        {"a.dump",
         "ITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS id x y z "
         "radius\n3 1 1 1 1\n3 5 5 5 1\n",
         "a.dump:9: the id 3 is also that of line 8"},
        {"a.dump", "ITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS xy xz yz pp pp pp\n0 9 1\n",
         "tilted"},
        {"a.data", "t\n\n2 atoms\n\nAtoms # atomic\n\n1 1 0 0 0\n", "ends after 1 of 2 atoms"},
        {"a.data", "t\n\n1 atoms\n\nAtoms # dipole\n\n1 1 0 0 0\n",
         "a.data:7: the atom style dipole"},
        {"a.data", "t\n\n1 atoms\n\nAtoms\n\n1 1 0 0 0 0\n", "leave the atom style open"},
        {"a.data", "t\n\n1 atoms\n\nAtoms # atomic\n\n1 1 0 0 0\n\nVelocities\n\n2 0 0 0\n",
         "a.data:7: sphere 1 has no velocity"},
        {"a.data", "t\n\n1 atoms\n\nMasses\n\n2 1\n\nAtoms # atomic\n\n1 1 0 0 0\n",
         "type 1 has no mass"},
        {"a.txt", "", "a.txt: is empty"},
        {"a.txt", "hello\nworld\n", "--from tells which"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        char line[128];
        write_file(cases[i].file, cases[i].text);
        snprintf(line, sizeof(line), "gas --start %s --time 0", cases[i].file);
        int code = carom(line);
        if (code != CLI_INPUT && code != CLI_MACHINE) fail_msg("%zu: %d: %s", i, code, said);
        if (strstr(said, cases[i].words) == NULL)
            fail_msg("%zu: no \"%s\" in: %s", i, cases[i].words, said);
    }
#undef HEAD
    static const char *const misuses[][2] = {
        {"gas --start a.xyz -n 5", "--start brings its own spheres"},
        {"gas --start a.xyz --resume a.gas", "two starts"},
        {"gas --from xyz", "belong to --start"},
        {"gas --copies 2,2,2", "--copies repeats"},
        {"gas --start a.xyz --copies 2,2", "--copies takes three whole numbers"},
        {"gas --start a.xyz --copies 2,0,2", "--copies takes three whole numbers"},
        {"gas --start a.xyz --copies 1.5,2,2", "--copies takes three whole numbers"},
        {"gas --gr-step 1", "belong to --gr"},
        {"gas --edges 1,2", "--edges takes three numbers"},
        {"gas --edges 1,2,3,4", "--edges takes three numbers"},
        {"gas --edges 1,-2,3", "above 0"},
        {"gas --edges 9,9,9 --box 9", "two boxes"},
        {"gas --gravity down", "--gravity takes three numbers"},
        {"gas --walls xx", "--walls takes some of the letters"},
        {"gas --walls z --periodic", "choose one"},
        {"gas --mixture 1:0", "--mixture takes up to 8 kinds"},
        {"gas --mixture 1:1:1:1", "--mixture takes up to 8 kinds"},
        {"gas --mixture 1:1,", "--mixture takes up to 8 kinds"},
        {"gas --mixture 1:1 --radius 2", "--mixture has its own"},
        {"gas --events - -o -", "only one can go to the standard output"},
        {"gas --events - --json", "choose one"},
        {"gas -n 1 --box 9 --gr g.csv", "--gr needs two spheres"},
        {"gas --gr g.csv --gr-range 1e9", "--gr-range 1e+09 is more than"},
        {"gas --gr g.csv --gr-step 1e-9", "bins of a range"}};
    for (size_t i = 0; i < COUNT_OF(misuses); ++i) {
        if (carom(misuses[i][0]) != CLI_USAGE || strstr(said, misuses[i][1]) == NULL)
            fail_msg("%s: %s", misuses[i][0], said);
    }
    assert_int_equal(carom("gas --start none.xyz"), CLI_INPUT);
    assert_said("none.xyz: cannot be read: ");
    assert_int_equal(carom("gas --start ."), CLI_INPUT);
    assert_int_equal(carom("gas -n 20 --time 0 -o v.xyz"), 0);
    assert_int_equal(carom("gas --start v.xyz --seed 2"), CLI_INPUT);
    assert_said("has velocities");
    assert_int_equal(carom("gas --start v.xyz --start-frame 4"), CLI_INPUT);
    assert_said("v.xyz: has no frame 4; the last is 0");
}

/* ---- events, mixtures, forces ---------------------------------------------------------------- */

/* The rows are the events that the library gives, in their order. */
static void events_are_all_there(void **state) {
    (void)state;
    static char text[1 << 21];
    assert_int_equal(carom("gas -n 60 --time 4 --frames 5 -o e.xyz --events e.csv --json"), 0);
    double events = json_value("events"), hits = json_value("wall_hits");
    read_file("e.csv", text, sizeof(text));
    cursor = text;
    assert_string_equal(take_line(), "time,kind,a,b");
    double last = 0.0, rows = 0.0, walls = 0.0;
    while (*cursor != '\0') {
        char kind[8], again[64];
        double time;
        unsigned a, b;
        char *line = take_line();
        assert_int_equal(sscanf(line, "%lf,%4[a-z],%u,%u", &time, kind, &a, &b), 4);
        snprintf(again, sizeof(again), "%.17g,%s,%u,%u", time, kind, a, b);
        assert_string_equal(line, again);
        assert_true(time >= last && time <= 4.0 && a < 60);
        if (strcmp(kind, "wall") == 0)
            assert_true(++walls > 0.0 && b < 6);
        else
            assert_true(a < b && b < 60);
        last = time;
        ++rows;
    }
    assert_true(rows == events && walls == hits && walls > 0.0);
    /* The division into frames changes no event; without events there is a head. */
    assert_int_equal(carom("gas -n 60 --time 4 --events f.csv"), 0);
    assert_int_equal(shell("cmp e.csv f.csv"), 0);
    assert_int_equal(carom("gas -n 60 --speed 0 --events none.csv"), 0);
    read_file("none.csv", text, sizeof(text));
    assert_string_equal(text, "time,kind,a,b\n");
    assert_int_equal(carom("gas -n 60 --events /dev/full"), CLI_INPUT);
}

static void mixtures_have_their_shares(void **state) {
    (void)state;
    assert_int_equal(carom("gas -n 101 --mixture 2:0.5,1:0.25:0.125 --time 1 --json --periodic "
                           "--fraction 0.2 --frames 1 -o m.xyz"),
                     0);
    assert_true(fabs(json_value("fraction") - 0.2) < 0.002);
    assert_true(fabs(json_value("energy") / (1.5 * 101) - 1.0) < 1e-9); /* temperature 1 */
    assert_int_equal(shell("test $(grep -c '^A .* 0.5 1 ' m.xyz) -eq 67 -a $(grep -c '^B .* 0.25 "
                           "0.125 ' m.xyz) -eq 34"),
                     0);
    assert_int_equal(carom("gas -n 50 --mass 4 --time 0 --json"), 0);
    assert_true(fabs(json_value("energy") / 75.0 - 1.0) < 1e-9);
    assert_int_equal(carom("gas -n 500 --mixture 1:5,1:0.1 --fraction 0.1 --time 0"), CLI_OK);
    /* The small ones do not fit the lattice of the large ones: they are put between. */
    assert_int_equal(carom("gas -n 1001 --mixture 1:1,1000:0.001 --fraction 0.1 --time 0.1 --json "
                           "--frames 1 -o m.xyz"),
                     0);
    assert_true(fabs(json_value("fraction") - 0.1) < 1e-9 && json_value("events") > 0.0);
    assert_true(json_value("threads_used") == 1.0 && json_value("overlap") == 0.0);
    assert_int_equal(shell("test $(grep -c '^A .* 1 1 ' m.xyz) -eq 1 -a $(grep -c '^B .* 0.001 1 ' "
                           "m.xyz) -eq 1000"),
                     0);
    assert_int_equal(carom("gas -n 5000 --mixture 1:1,4999:0.05 --fraction 0.3 --time 0"), CLI_OK);
    assert_int_equal(carom("gas -n 500 --mixture 1:1,99:0.1 --fraction 0.8 --time 0"), CLI_USAGE);
    assert_said("do not fit");
}

static void boxes_and_forces_reach_the_engine(void **state) {
    (void)state;
    write_file("one.xyz", "1\nLattice=\"4 0 0 0 4 0 0 0 40\" pbc=\"T T F\" "
                          "Properties=pos:R:3:velo:R:3:radius:R:1\n2 2 21 0 0 0 1\n");
    /* falls by 20 under 10: at the floor after 2, with speed 20, and back with half of it */
    assert_int_equal(carom("gas --start one.xyz --gravity 0,0,-10 --wall-loss 0.5 --time 2.5 "
                           "--events fall.csv --frames 1 -o fall.xyz --json"),
                     0);
    assert_said("\"energy_drift\": null");
    assert_true(json_value("wall_hits") == 1.0);
    assert_true(fabs(json_value("energy") - 0.5 * 5.0 * 5.0) < 1e-9);
    assert_int_equal(shell("grep -q '^2,wall,0,4$' fall.csv || grep -qE "
                           "'^(1.99999|2.00000)[0-9]*,wall,0,4$' fall.csv"),
                     0);
    assert_int_equal(carom("gas -n 200 --edges 5,10,40 --walls y --fraction 0.1 --time 0 -o e.xyz"),
                     0);
    assert_said("packing fraction 0.1\n");
    assert_int_equal(shell("grep -q 'Lattice=\"5 0 0 0 10 0 0 0 40\".*pbc=\"T F T\"' e.xyz"), 0);
    assert_int_equal(carom("gas -n 200 --edges 5,10,40 --radius 3"), CLI_USAGE);
    assert_said("a box of edges 5, 10 and 40");
    assert_int_equal(carom("gas -n 50 --loss 0.9 --elastic-below 0.5 --fraction 0.1 --time 20"), 0);
    /* the tick changes the last digits, the cutoff nothing */
    assert_int_equal(
        carom("gas -n 256 --periodic --fraction 0.5 --method neighbours --events 1.csv "
              "--time 0.5"),
        0);
    assert_int_equal(
        carom("gas -n 256 --periodic --fraction 0.5 --method neighbours --events 2.csv "
              "--time 0.5 --cutoff 1.6"),
        0);
    assert_int_equal(shell("cmp 1.csv 2.csv"), 0);
    assert_int_equal(carom("gas -n 300 --tick 1e-10 --time 0.5"), 0);
}

/* ---- the radial distribution function -------------------------------------------------------- */

#define MOST_BINS 4096

static size_t read_gr(const char *file, double *r, double *g) {
    static char text[1 << 18];
    size_t count = 0;
    read_file(file, text, sizeof(text));
    cursor = text;
    assert_string_equal(take_line(), "r,g");
    for (; *cursor != '\0'; ++count) {
        char *at = take_line();
        assert_true(count < MOST_BINS);
        r[count] = take_number(&at);
        take_char(&at, ',');
        g[count] = take_number(&at);
        assert_int_equal(*at, '\0');
    }
    return count;
}

#define SIDE 8

/* Simple cubic: 6, 12, 8, 6, 24, 24 neighbours at the roots of 1, 2, 3, 4, 5, 6. Periodic the count
 * is exact; between walls every pair is weighted, by the same share of all that are there. */
static void the_lattice_has_its_shells(void **state) {
    (void)state;
    static char text[1 << 16];
    static double r[MOST_BINS], g[MOST_BINS];
    static const double neighbours[] = {0, 6, 12, 8, 6, 24, 24, 0, 12, 30};
    const double step = 0.05, n = SIDE * SIDE * SIDE;
    int length = sprintf(text,
                         "%d\nLattice=\"8 0 0 0 8 0 0 0 8\" pbc=\"T T T\" "
                         "Properties=pos:R:3:radius:R:1\n",
                         SIDE * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i)
        length += sprintf(text + length, "%g %g %g 0.25\n", 0.5 + i % SIDE, 0.5 + i / SIDE % SIDE,
                          0.5 + i / SIDE / SIDE);
    write_file("cubic.xyz", text);
    assert_int_equal(carom("gas --start cubic.xyz --time 0 --gr cubic.csv --gr-step 0.05 "
                           "--gr-range 3.05"),
                     0);
    size_t count = read_gr("cubic.csv", r, g);
    assert_int_equal(count, 61);
    for (size_t k = 0; k < count; ++k) {
        double wanted = 0.0, low = (double)k * step, high = low + step;
        assert_true(fabs(r[k] - (low + 0.5 * step)) < 1e-12);
        for (int s = 1; s < 10; ++s)
            if (sqrt(s) >= low * (1.0 - 1e-12) && sqrt(s) < high * (1.0 - 1e-12))
                wanted += neighbours[s];
        double shell_volume = 4.0 / 3.0 * acos(-1.0) * (high * high * high - low * low * low);
        wanted *= 0.5 * n / (0.5 * n * (n - 1.0) * shell_volume / 512.0);
        assert_true(fabs(g[k] - wanted) <= 1e-9 * wanted);
    }
    /* With walls along z: the weight of a pair is 1 / (1 - |z| / 7.5): centres reach that far. */
    assert_int_equal(carom("gas --start cubic.xyz --walls z --time 0 --gr walls.csv --gr-step 0.05 "
                           "--gr-range 1.5"),
                     0);
    count = read_gr("walls.csv", r, g);
    double pairs = 2.0 * n + (n - 64.0) / (1.0 - 1.0 / 7.5), low = 1.0, high = 1.05;
    double shell_volume = 4.0 / 3.0 * acos(-1.0) * (high * high * high - low * low * low);
    assert_true(fabs(g[20] / (pairs / (0.5 * n * (n - 1.0) * shell_volume / 480.0)) - 1.0) < 1e-9);
}

/* Least squares of a parabola in x = r - 1 over the first bins; its value at contact. */
static double extrapolate(const double *r, const double *g, size_t first, size_t count) {
    double m[3][4] = {{0}};
    for (size_t k = first; k < first + count; ++k) {
        double p[3] = {1.0, r[k] - 1.0, (r[k] - 1.0) * (r[k] - 1.0)};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) m[i][j] += p[i] * p[j];
            m[i][3] += p[i] * g[k];
        }
    }
    for (int i = 0; i < 3; ++i) /* positive definite: no pivots needed */
        for (int k = 0; k < 3; ++k) {
            double factor = m[k][i] / m[i][i];
            for (int j = 0; j < 4 && k != i; ++j) m[k][j] -= factor * m[i][j];
        }
    return m[0][3] / m[0][0];
}

/* Carnahan and Starling: (1 - f / 2) / (1 - f)^3 at contact, and Z = 1 + 4 f g. The statistical
 * error of the extrapolated value is some 1 %. */
static void contact_is_carnahan_and_starlings(void **state) {
    (void)state;
    static double r[MOST_BINS], g[MOST_BINS];
    static const double fractions[] = {0.1, 0.3, 0.45};
    for (size_t i = 0; i < COUNT_OF(fractions); ++i) {
        char line[256];
        double f = fractions[i], wanted = (1.0 - 0.5 * f) / ((1.0 - f) * (1.0 - f) * (1.0 - f));
        snprintf(line, sizeof(line),
                 "gas -n 864 --fraction %g --periodic --warm 5 --time 40 --frames 100 --gr c.csv "
                 "--json",
                 f);
        assert_int_equal(carom(line), 0);
        double z = json_value("z");
        assert_true(json_value("samples") == 100.0);
        size_t count = read_gr("c.csv", r, g);
        assert_true(count > 200 && fabs(r[50] - 1.01) < 1e-12 && g[48] == 0.0);
        double contact = extrapolate(r, g, 50, 15);
        if (fabs(contact / wanted - 1.0) > 0.05) fail_msg("%g: %g, not %g", f, contact, wanted);
        if (fabs(contact / ((z - 1.0) / (4.0 * f)) - 1.0) > 0.05) fail_msg("%g: Z %g", f, z);
    }
    /* Far apart there is no order: 1, periodic and between walls. */
    assert_int_equal(carom("gas -n 3000 --fraction 0.05 --warm 5 --time 20 --frames 20 --gr w.csv"),
                     0);
    assert_said("pairs near walls are weighted");
    size_t count = read_gr("w.csv", r, g);
    double mean = 0.0;
    for (size_t k = count / 2; k < count; ++k) mean += g[k] / (double)(count - count / 2);
    if (fabs(mean - 1.0) > 0.03) fail_msg("%g", mean);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_are_extended_xyz),
        cmocka_unit_test(resumed_boxes_are_told_as_they_are),
        cmocka_unit_test(a_run_in_two_is_a_run_in_one),
        cmocka_unit_test(misuse_gets_a_message),
        cmocka_unit_test(zero_is_a_value),
        cmocka_unit_test(what_does_not_fit_says_what_would),
        cmocka_unit_test(few_spheres_start_inside),
        cmocka_unit_test(every_extreme_ends),
        cmocka_unit_test(a_resumed_run_tells_its_own_speed),
        cmocka_unit_test(a_full_disk_leaves_the_old_files),
        cmocka_unit_test(a_run_that_fails_keeps_its_frames),
        cmocka_unit_test(what_is_written_is_a_start),
        cmocka_unit_test(copies_fill_a_larger_box),
        cmocka_unit_test(formats_agree),
        cmocka_unit_test(bad_starts_are_named),
        cmocka_unit_test(events_are_all_there),
        cmocka_unit_test(mixtures_have_their_shares),
        cmocka_unit_test(boxes_and_forces_reach_the_engine),
        cmocka_unit_test(the_lattice_has_its_shells),
        cmocka_unit_test(contact_is_carnahan_and_starlings),
    };
    if (!cli_run_begin("gas")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("carom gas", tests, NULL, NULL));
}
