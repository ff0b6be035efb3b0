/* SPDX-License-Identifier: MIT */
/* carom pairs --points, --mark, --crossing and --within, carom distance and rays, as run by users.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

/* Face 0 is crossed by face 1 and touched by the corner of face 2; face 3 is 2 above it. */
static const char faces[] = "v 0 0 0\nv 4 0 0\nv 0 4 0\n"
                            "v 1 1 -1\nv 1 1 1\nv 2 1 1\n"
                            "v 2 0.5 0\nv 2 0.5 -3\nv 3 0.5 -3\n"
                            "v 0 0 2\nv 4 0 2\nv 0 4 2\n"
                            "f 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n";

static void pairs_say_where(void **state) {
    (void)state;
    char text[4096];
    write_file("faces.obj", faces);
    assert_int_equal(carom("pairs faces.obj -o p.csv"), 0);
    read_file("p.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n0,2\n");
    assert_int_equal(carom("pairs faces.obj --points -o p.csv --json"), 0);
    assert_said("\"lines\": 2");
    read_file("p.csv", text, sizeof(text));
    assert_string_equal(text, "0,1,1.5,1,0,1,1,0\n0,2,2,0.5,0,2,0.5,0\n");
    assert_int_equal(carom("pairs faces.obj --crossing --check"), CLI_YES);
    assert_said("faces.obj: 1 pair of faces cross\n");
    assert_int_equal(carom("pairs faces.obj --crossing -o p.csv"), 0);
    read_file("p.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n");
    /* of two meshes, the second 2 higher: its face 0 lies in face 3 */
    assert_int_equal(
        carom("pairs faces.obj faces.obj --pose 0,0,2,1,0,0,0 --crossing --points -o p.csv"), 0);
    read_file("p.csv", text, sizeof(text));
    assert_non_null(strstr(text, "\n3,0,0,0,2,4,0,2\n3,0,4,0,2,0,4,2\n3,0,0,4,2,0,0,2\n"
                                 "3,1,1.5,1,2,1,1,2\n"));
}

static void pairs_are_found_within_a_distance(void **state) {
    (void)state;
    char text[4096];
    write_file("faces.obj", faces);
    assert_int_equal(carom("pairs faces.obj --within 2 -o p.csv"), 0);
    read_file("p.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n0,2\n0,3\n1,2\n1,3\n2,3\n");
    assert_said("6 pairs of faces are within 2\n");
    assert_int_equal(carom("pairs faces.obj --within 1.9999999999999998 --json"), 0);
    assert_said("\"pairs\": 4, ");
    assert_said("\"within\": 1.9999999999999998");
    assert_int_equal(carom("pairs faces.obj --within 0 --json --check"), CLI_YES);
    assert_said("\"pairs\": 2, ");
    assert_int_equal(
        carom("pairs faces.obj faces.obj --pose 0,0,9,1,0,0,0 --within 4 --points -o p.csv"), 0);
    read_file("p.csv", text, sizeof(text));
    assert_string_equal(text, "3,2,2,0.5,2,2,0.5,6\n");
}

/* The marked mesh, which is binary, as text. */
static void read_marked(char *text, size_t size) {
    assert_int_equal(carom("convert m.ply text.ply --format ply-ascii"), 0);
    read_file("text.ply", text, size);
}

static void faces_of_pairs_are_marked(void **state) {
    (void)state;
    char text[4096];
    write_file("faces.obj", faces);
    assert_int_equal(carom("pairs faces.obj --crossing --mark m.ply"), 0);
    assert_said("marked in m.ply\n");
    read_marked(text, sizeof(text));
    assert_non_null(strstr(text, "element vertex 12\nproperty double x\n")); /* as OBJ has them */
    assert_non_null(strstr(text, "3 0 1 2 220 30 30\n3 3 4 5 220 30 30\n"
                                 "3 6 7 8 200 200 200\n3 9 10 11 200 200 200\n"));
    assert_int_equal(carom("info m.ply --json"), 0);
    assert_said("\"faces\": 4");
    /* float32 stays float32, and the file is binary */
    assert_int_equal(carom("convert faces.obj faces.stl"), 0);
    assert_int_equal(carom("pairs faces.stl --mark m.ply"), 0);
    read_file("m.ply", text, sizeof(text));
    assert_non_null(strstr(text, "ply\nformat binary_little_endian 1.0\n"));
    assert_non_null(strstr(text, "property float x\n"));
    /* both meshes, the second moved: a half turn about x and 1 up */
    assert_int_equal(
        carom("pairs faces.obj faces.obj --pose 0,0,1,0,1,0,0 --mark m.ply --json --crossing"), 0);
    assert_said("\"mark\": \"m.ply\"");
    read_marked(text, sizeof(text));
    assert_non_null(strstr(text, "element vertex 24\n"));
    assert_non_null(strstr(text, "\n2 -0.5 4\n"));
    /* polygons, by triangle */
    write_file("square.obj", "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 1 2 -1\nv 1 2 1\nv 1.5 2 1\n"
                             "f 1 2 3 4\nf 5 6 7\n");
    assert_int_equal(carom("pairs square.obj --mark m.ply"), 0);
    read_marked(text, sizeof(text));
    assert_non_null(strstr(text, "4 0 1 2 3 220 30 30\n3 4 5 6 220 30 30\n"));
    assert_int_equal(carom("pairs square.obj --fan --mark m.ply"), 0);
    read_marked(text, sizeof(text));
    assert_non_null(strstr(text, "3 0 1 2 200 200 200\n3 0 2 3 220 30 30\n3 4 5 6 220 30 30\n"));
}

static void what_does_not_go_together_is_refused(void **state) {
    (void)state;
    write_file("faces.obj", faces);
    assert_int_equal(carom("pairs faces.obj --within -1"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --within nan"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --within 1 --crossing"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --within 1 --method grid"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --points"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --mark - -o -"), CLI_USAGE);
    assert_int_equal(carom("pairs faces.obj --mark no/such/folder/m.ply"), CLI_INPUT);
    assert_int_equal(carom("distance faces.obj"), CLI_USAGE);
    assert_int_equal(carom("distance faces.obj p.csv --nearest"), CLI_USAGE);
    assert_int_equal(carom("distance faces.obj no.csv"), CLI_INPUT);
    assert_said("no.csv");
    write_file("bad.csv", "0,0,0\n1,2\n");
    assert_int_equal(carom("distance faces.obj bad.csv"), CLI_INPUT);
    assert_said("bad.csv: line 2: should be three finite numbers");
    write_file("bad.csv", "0,0,0\n1,2,3,4\n");
    assert_int_equal(carom("distance faces.obj bad.csv"), CLI_INPUT);
    write_file("bad.csv", "0,0,inf\n");
    assert_int_equal(carom("distance faces.obj bad.csv"), CLI_INPUT);
}

static void distances_are_signed(void **state) {
    (void)state;
    char text[4096];
    double d[4];
    write_file("cube.obj", "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\n"
                           "v -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    write_file("points.csv", "x,y,z\n0,0,0\n# a comment\n\n0 0 3\n9,0,0\r\n0,\t0,-9\n");
    assert_int_equal(carom("distance cube.obj points.csv -o d.csv --json"), 0);
    assert_said("\"points\": 4, \"inside\": 1, ");
    assert_said("\"balanced\": true");
    read_file("d.csv", text, sizeof(text));
    assert_int_equal(sscanf(text, "%lf\n%lf\n%lf\n%lf", &d[0], &d[1], &d[2], &d[3]), 4);
    assert_true(d[0] == -1.0 && d[1] == 2.0 && d[2] == 8.0 && d[3] == 8.0);
    assert_int_equal(carom("distance cube.obj points.csv"), 0);
    assert_said("cube.obj: 4 points, 1 inside, distances ");
    assert_int_equal(shell("printf '0 0 3\\n' | $carom distance cube.obj - -o - --nearest -q"), 0);
    assert_said("2,1,0,0,1\n");
    assert_int_equal(shell("printf '0 0 3\\n0.5 0 0\\n1 0 0\\n' | $carom distance cube.obj - -o - "
                           "--nearest --winding -q"),
                     0);
    assert_said("2,0,1,0,0,1\n-0.5,1,3,1,0,0\n0,,3,1,0,0\n");
    assert_int_equal(carom("distance cube.obj points.csv --winding"), CLI_USAGE);
    write_file("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_int_equal(shell("printf '9 9 9\\n' | $carom distance open.obj - -o - --winding -q"), 0);
    assert_said(",-0.000");
    assert_int_equal(carom("distance open.obj points.csv"), 0);
    assert_said("generalised winding number");
    write_file("none.csv", "");
    assert_int_equal(carom("distance cube.obj none.csv --json"), 0);
    assert_said("\"points\": 0, \"inside\": 0, \"least\": null");
}

static void rays_meet_faces(void **state) {
    (void)state;
    char text[4096];
    write_file("cube.obj", "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\n"
                           "v -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    write_file("rays.csv", "x,y,z,dx,dy,dz\n0,0,0,0,0,2\n# a comment\n\n0 0 -3 0 0 1\n"
                           "9,0,0,1,0,0\r\n-3,\t0,1,1,0,0\n");
    assert_int_equal(carom("rays cube.obj rays.csv -o h.csv --json"), 0);
    assert_said("\"rays\": 4, \"hits\": 3, ");
    read_file("h.csv", text, sizeof(text)); /* the last one lies in a face, through two edges */
    assert_string_equal(text, "1,0.5,0,0,1,0,0,-1\n0,2,0,0,-1,0,0,-1\n,inf\n"
                              "1,2,-1,0,1,0,0,1\n");
    assert_int_equal(carom("rays cube.obj rays.csv --all -o a.csv --json"), 0);
    assert_said("\"rays\": 4, \"hits\": 3, \"faces\": 6, ");
    read_file("a.csv", text, sizeof(text));
    const char *const expected = "0,1,0.5,0,0,1,0,0,-1\n1,0,2,0,0,-1,0,0,-1\n"
                                 "1,1,4,0,0,1,0,0,-1\n3,1,2,-1,0,1,0,0,1\n";
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    assert_int_equal(carom("rays cube.obj rays.csv --all"), 0);
    assert_said("cube.obj: 4 rays, 3 meet a face; 6 faces in all");
    assert_int_equal(shell("printf '0 0 -3 0 0 1\n' | $carom rays cube.obj - -o - -q"), 0);
    assert_said("0,2,0,0,-1,0,0,-1\n");
    assert_int_equal(carom("rays cube.obj rays.csv --length 1.5"), 0);
    assert_said("cube.obj: 4 rays, 1 meets a face");
    write_file("none.csv", "");
    assert_int_equal(carom("rays cube.obj none.csv --json"), 0);
    assert_said("\"rays\": 0, \"hits\": 0");
}

static void rays_that_are_none_are_refused(void **state) {
    (void)state;
    write_file("faces.obj", faces);
    write_file("fine.csv", "0,0,0,1,0,0\n");
    assert_int_equal(carom("rays faces.obj"), CLI_USAGE);
    assert_int_equal(carom("rays faces.obj fine.csv --length 0"), CLI_USAGE);
    assert_int_equal(carom("rays faces.obj fine.csv --length -1"), CLI_USAGE);
    assert_int_equal(carom("rays faces.obj fine.csv -o x.glb"), CLI_USAGE);
    assert_int_equal(carom("rays faces.obj no.csv"), CLI_INPUT);
    assert_said("no.csv");
    static const char *const bad[] = {"0,0,0\n",           "0,0,0,1,0,0,7\n", "0,0,0,1,0,inf\n",
                                      "0,0,0,1,0,1e999\n", "0,0,0,one,0,0\n", "0,0,0,1,0,0x\n"};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        char text[128];
        snprintf(text, sizeof(text), "0,0,0,1,0,0\n%s", bad[i]);
        write_file("bad.csv", text);
        assert_int_equal(carom("rays faces.obj bad.csv -o left.csv"), CLI_INPUT);
        assert_said("bad.csv: line 2: should be 6 finite numbers");
        assert_int_equal(shell("test -e left.csv"), 1);
    }
    write_file("bad.csv", "1,2,3,0,0,0\n");
    assert_int_equal(carom("rays faces.obj bad.csv -o left.csv"), CLI_INPUT);
    assert_said("direction");
    assert_int_equal(shell("test -e left.csv"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_say_where),
        cmocka_unit_test(pairs_are_found_within_a_distance),
        cmocka_unit_test(faces_of_pairs_are_marked),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(distances_are_signed),
        cmocka_unit_test(rays_meet_faces),
        cmocka_unit_test(rays_that_are_none_are_refused),
    };
    if (!cli_run_begin("where")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("cli_where", tests, NULL, NULL));
}
