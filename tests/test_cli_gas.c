/* SPDX-License-Identifier: MIT */
/* carom gas, as a user runs it; its trajectories are read strictly by the convention of extended
 * XYZ: a line with the count, a line of key=value with the lattice and the columns, the rows. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_are_extended_xyz),
        cmocka_unit_test(resumed_boxes_are_told_as_they_are),
        cmocka_unit_test(a_run_in_two_is_a_run_in_one),
        cmocka_unit_test(misuse_gets_a_sentence),
    };
    if (!cli_run_begin("gas")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("carom gas", tests, NULL, NULL));
}
