/* SPDX-License-Identifier: MIT */
/* carom kfree, as a user runs it. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

static double number_of(const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char *at = strstr(said, quoted);
    if (at == NULL) fail_msg("no %s in:\n%s", key, said);
    return strtod(at + strlen(quoted), NULL);
}

/* A large square, a small triangle that touches it, one a little above it, and one without area. */
static const char few_faces[] = "v 0 0 0\nv 8 0 0\nv 8 8 0\nv 0 8 0\n"
                                "v 8 8 0\nv 9 8 0\nv 9 9 0\n"
                                "v 2 2 .125\nv 3 2 .125\nv 2 3 .125\n"
                                "f 1 2 3 4\nf 5 6 7\nf 8 9 10\nf 8 9 9\n";

static void faces_are_counted_and_written(void **state) {
    (void)state;
    char text[256];
    write_file("few.obj", few_faces);
    assert_int_equal(carom("kfree few.obj --json -o few.csv"), 0);
    static const char *const keys[] = {"\"inputs\": [\"few.obj\"], \"k\": 2, ",
                                       "\"mean\": 0.66666666666666663",
                                       "\"worst_face\": 1, ",
                                       "\"neighbours\": 0.5",
                                       "\"height\": 3.00000",
                                       "\"deviation\": ",
                                       "\"least\": 0",
                                       "\"quartile_1\": 0",
                                       "\"median\": 1",
                                       "\"quartile_3\": 1",
                                       "\"percentile_90\": 1",
                                       "\"percentile_99\": 1",
                                       "\"most\": 1",
                                       "\"total\": 2",
                                       "\"worst_neighbours\": 1",
                                       "\"faces\": 3",
                                       "\"degenerate\": 1",
                                       "\"bound\": 9",
                                       "\"published_bound\": 84",
                                       "\"output\": \"few.csv\"}"};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) assert_said(keys[i]);
    read_file("few.csv", text, sizeof(text));
    assert_string_equal(text, "0,0\n1,1\n2,1\n3,0\n");
    assert_int_equal(carom("kfree few.obj"), 0);
    assert_said("few.obj: 2-free\n");
    assert_said("face 1 counts 1 larger ones within d/4, 1 of them neighbours");
    assert_said("over 3 faces");
    assert_said("1 without area left out");
    assert_said("50.0 % of all counted share a vertex");

    /* not welded, the corner is no vertex of both */
    assert_int_equal(carom("kfree few.obj --json --no-weld"), 0);
    assert_said("\"neighbours\": 0,");
    assert_int_equal(carom("kfree few.obj --json --fan -o /dev/stdout"), 0);
    assert_said("0,1\n1,1\n2,2\n3,2\n4,0\n");
    assert_int_equal(carom("kfree few.obj --json --as-segments"), 0);
    assert_said("\"faces\": 4");
}

/* Of a number in the object of that key. */
static double number_in(const char *object, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": {", object);
    const char *at = strstr(said, quoted);
    if (at == NULL) fail_msg("no %s in:\n%s", object, said);
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = strstr(at, quoted);
    if (at == NULL) fail_msg("no %s in %s in:\n%s", key, object, said);
    return strtod(at + strlen(quoted), NULL);
}

/* A prism of radius 10: long thin triangles around, and two polygons. */
static void write_prism(const char *name, int sides, double length) {
    static char text[1 << 16];
    size_t used = 0;
    for (int i = 0; i < 2 * sides; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "v %.17g %.17g %g\n",
                             10.0 * cos(6.283185307179586 * i / sides),
                             10.0 * sin(6.283185307179586 * i / sides), i < sides ? 0.0 : length);
    for (int i = 0; i < sides; ++i) {
        int a = i + 1, b = (i + 1) % sides + 1;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "f %d %d %d\nf %d %d %d\n", a, b,
                                 b + sides, a, b + sides, a + sides);
    }
    for (int end = 0; end < 2; ++end) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "f");
        for (int i = 0; i < sides; ++i)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " %d",
                                     end == 0 ? sides - i : sides + 1 + i);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
    }
    write_file(name, text);
}

static void long_faces_are_split(void **state) {
    (void)state;
    write_prism("prism.obj", 16, 40.0);
    assert_int_equal(carom("kfree prism.obj --split 10 --split-to split.obj --json"), 0);
    double k = number_in("split", "k"), faces = number_in("split", "faces");
    double height = number_in("split", "height"), bound = number_in("split", "bound");
    assert_true(k < 0.75 * number_in("triangles", "k"));
    assert_true(faces > number_in("triangles", "faces"));
    assert_true(faces <= 4.0 * number_in("triangles", "faces"));
    assert_true(height <= number_in("triangles", "height"));
    assert_int_equal(carom("kfree split.obj --json"), 0); /* the file has what was said of it */
    assert_true(number_of("k") == k && number_of("faces") == faces);
    assert_true(number_of("height") == height && number_of("bound") == bound);

    /* The surface is the same: closed, with the volume and area that it had. */
    assert_int_equal(carom("info prism.obj --json"), 0);
    double volume = number_of("volume"), area = number_of("area");
    assert_int_equal(carom("info split.obj --json"), 0);
    assert_said("\"closed\": true");
    assert_true(fabs(number_of("volume") - volume) <= 1e-12 * fabs(volume));
    assert_true(fabs(number_of("area") - area) <= 1e-12 * area);

    /* What is no denser than requested stays as it is, and so does an empty mesh. */
    assert_int_equal(carom("kfree prism.obj --split 1000 --json"), 0);
    assert_true(number_in("split", "faces") == number_in("triangles", "faces"));
    write_file("none.obj", "v 0 0 0\n");
    assert_int_equal(carom("kfree none.obj --split 5 --json"), 0);
    assert_true(number_in("split", "k") == 0.0);
    assert_int_equal(carom("kfree prism.obj --split 10"), 0);
    assert_said("  split        ");
    assert_int_equal(carom("kfree prism.obj --split 0"), CLI_USAGE);
    assert_int_equal(carom("kfree prism.obj --split-to x.obj"), CLI_USAGE);
    assert_int_equal(carom("kfree prism.obj --split 9 --split-to nowhere/x.obj"), CLI_INPUT);
}

/* A soup of the mesh in a file. */
static carom_soup *soup_of(carom_context *context, const char *path, carom_mesh **mesh,
                           carom_mesh_view *view) {
    char file[512];
    carom_soup *soup = NULL;
    const carom_soup_def def = {.mesh = view};
    snprintf(file, sizeof(file), "%s/%s", folder, path);
    assert_int_equal(carom_mesh_load(context, file, CAROM_MESH_FORMAT_GUESS, mesh), CAROM_OK);
    assert_int_equal(carom_mesh_get_view(*mesh, view), CAROM_OK);
    assert_int_equal(carom_soup_create(context, &def, &soup), CAROM_OK);
    return soup;
}

/* The largest distance of points of one mesh from another: on a grid in every triangle. */
static double farthest(carom_context *context, const carom_mesh_view *from, const carom_soup *to) {
    enum { STEPS = 8 };
    double most = 0.0;
    const double *p = from->positions;
    for (uint64_t f = 0; f < from->face_count; ++f)
        for (int i = 0; i <= STEPS; ++i)
            for (int j = 0; i + j <= STEPS; ++j) {
                const uint32_t *c = &from->corners[3 * f];
                double x[3], u = (double)i / STEPS, v = (double)j / STEPS;
                for (uint32_t k = 0; k < 3; ++k)
                    x[k] = p[3 * c[0] + k] + u * (p[3 * c[1] + k] - p[3 * c[0] + k]) +
                           v * (p[3 * c[2] + k] - p[3 * c[0] + k]);
                carom_hit hit;
                const carom_vec3 point = {x[0], x[1], x[2]};
                assert_int_equal(carom_soup_closest_points(context, to, &point, 1, &hit), CAROM_OK);
                most = fmax(most, hit.distance);
            }
    return most;
}

/* Edges are collapsed and flipped: k falls by more than by splitting, and the surface moves by no
 * more than what is said, in both directions. */
static void edges_are_collapsed_and_flipped(void **state) {
    (void)state;
    static const struct {
        const char *make, *tolerance;
        double tolerated, share; /* of k that is left at most */
    } cases[] = {{"cylinder --detail 64", "0", 0.0, 0.5},
                 {"cylinder --detail 64", "0.1", 0.1, 0.4},
                 {"globe --detail 40", "0.05", 0.05, 0.8},
                 {"cylinder --detail 64 --size 1e-100", "1e-101", 1e-101, 0.4},
                 {"cylinder --detail 64 --size 1e100", "1e99", 1e99, 0.4}};
    carom_context *context = NULL;
    assert_int_equal(carom_context_create(NULL, &context), CAROM_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char command[160];
        carom_mesh *mesh[2] = {NULL, NULL};
        carom_mesh_view view[2];
        snprintf(command, sizeof(command), "make %s -o before.obj", cases[i].make);
        assert_int_equal(carom(command), 0);
        snprintf(command, sizeof(command),
                 "kfree before.obj --split 8 --tolerance %s --split-to after.obj --json",
                 cases[i].tolerance);
        assert_int_equal(carom(command), 0);
        double moved = number_of("moved"), k = number_in("split", "k");
        assert_true(moved >= 0.0 && moved <= cases[i].tolerated);
        assert_true(k <= cases[i].share * number_in("triangles", "k"));
        assert_int_equal(carom("info after.obj --pairs --json"), 0);
        assert_said("\"closed\": true");
        assert_said("\"oriented\": true");
        assert_said("\"pairs\": 0");
        double size = i == 3 ? 1e-100 : i == 4 ? 1e100 : 1.0;
        carom_soup *before = soup_of(context, "before.obj", &mesh[0], &view[0]);
        carom_soup *after = soup_of(context, "after.obj", &mesh[1], &view[1]);
        assert_true(farthest(context, &view[0], after) <= moved + 1e-14 * size);
        assert_true(farthest(context, &view[1], before) <= moved + 1e-14 * size);
        for (int m = 0; m < 2; ++m) carom_mesh_destroy(mesh[m]);
        carom_soup_destroy(before);
        carom_soup_destroy(after);
    }
    carom_context_destroy(context);
    assert_int_equal(carom("kfree before.obj --split 8 --tolerance -2"), CLI_USAGE);
    assert_int_equal(carom("kfree before.obj --tolerance 1"), CLI_USAGE);
    assert_int_equal(carom("make box -o box.obj"), 0);
    assert_int_equal(carom("kfree box.obj --split 1 --tolerance 1e9"),
                     0); /* nothing falls together */
    assert_said("  moved        ");
}

/* Boundaries, edges of three faces and a tetrahedron stay what they are under any tolerance. */
static void what_a_collapse_would_break_stays(void **state) {
    (void)state;
    write_file("tetrahedron.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 .01\n"
                                  "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write_file("three.obj", "v 0 0 0\nv 1 0 0\nv .5 1 0\nv .5 -1 0\nv .5 0 1\n"
                            "f 1 2 3\nf 2 1 4\nf 1 2 5\n");
    static const char *const names[] = {"tetrahedron.obj", "three.obj"};
    for (int i = 0; i < 2; ++i) {
        char command[160];
        snprintf(command, sizeof(command), "kfree %s --split 1 --tolerance 100 --json", names[i]);
        assert_int_equal(carom(command), 0);
        assert_true(number_in("split", "faces") >= number_in("triangles", "faces"));
    }
}

static void info_says_the_same(void **state) {
    (void)state;
    assert_int_equal(carom("make knot -o knot.ply --polygons"), 0);
    assert_int_equal(carom("kfree knot.ply --json"), 0);
    double k = number_of("k"), height = number_of("height");
    assert_true(k > 2.0 && height > 0.0);
    assert_int_equal(carom("info knot.ply --json --k"), 0);
    assert_true(number_of("k") == k && number_of("height") == height);
    assert_int_equal(carom("info knot.ply --json"), 0);
    assert_said("\"k\": null, \"height\": null, ");
    assert_int_equal(carom("info knot.ply"), 0);
    assert_not_said("larger ones within d/4");
    assert_int_equal(carom("info knot.ply --k"), 0);
    assert_said("larger ones within d/4");
    write_file("points.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    assert_int_equal(carom("info points.obj --json --k"), 0);
    assert_said("\"k\": null, \"height\": null, ");
    assert_int_equal(carom("kfree points.obj"), 0);
    assert_said("no faces with area");
    assert_int_equal(carom("kfree points.obj --json"), 0);
    assert_said("\"k\": 0, \"mean\": 0, \"worst_face\": null,");
    write_file("huge.obj", "v 0 0 0\nv 1e308 0 0\nv 0 1e308 0\nf 1 2 3\n");
    assert_int_equal(carom("info huge.obj --json --k"), 0);
    assert_said("\"k\": null, \"height\": null, ");
}

static void any_threads_write_the_same_bytes(void **state) {
    (void)state;
    char command[600];
    assert_int_equal(carom("make cloth --detail 120 -o cloth.ply --polygons"), 0);
    assert_int_equal(carom("kfree cloth.ply -o 1.csv --threads 1"), 0);
    assert_int_equal(carom("kfree cloth.ply -o 8.csv --threads 8 --isa baseline"), 0);
    snprintf(command, sizeof(command), "cmp '%s/1.csv' '%s/8.csv'", folder, folder);
    assert_int_equal(system(command), 0);
}

static void mistakes_are_answered_in_words(void **state) {
    (void)state;
    assert_int_equal(carom("kfree"), CLI_USAGE);
    assert_said("an argument is missing");
    assert_int_equal(carom("kfree nothing.ply"), CLI_INPUT);
    assert_said("nothing.ply");
    assert_int_equal(carom("kfree huge.obj --json"), CLI_INPUT);
    assert_said("\"error\": \"huge.obj: a coordinate is beyond 2^1020");
    assert_int_equal(carom("kfree cloth.ply -o no/such/x.csv --json"), CLI_INPUT);
    assert_said("\"error\": \"cannot write 'no/such/x.csv'");
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(carom("kfree cloth.ply -o /dev/full"), CLI_MACHINE);
        assert_said("cannot finish '/dev/full'");
    }
    assert_int_equal(carom("kfree --help"), 0);
    assert_said("--as-segments");
}

int main(void) {
    if (!cli_run_begin("cli_kfree")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_counted_and_written),
        cmocka_unit_test(long_faces_are_split),
        cmocka_unit_test(edges_are_collapsed_and_flipped),
        cmocka_unit_test(what_a_collapse_would_break_stays),
        cmocka_unit_test(info_says_the_same),
        cmocka_unit_test(any_threads_write_the_same_bytes),
        cmocka_unit_test(mistakes_are_answered_in_words),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_kfree", tests, NULL, NULL));
}
