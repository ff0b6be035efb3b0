/* SPDX-License-Identifier: MIT */
/* carom query, as a user runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

static void boxes_are_related(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.ply"), 0);
    assert_int_equal(carom("make box --size 0.5 -o small.ply"), 0);
    assert_int_equal(carom("query box.ply box.ply --json --pose 1.5,0.5,0.25,1,0,0,0"), 0);
    assert_said(
        "\"relation\": \"overlapping\", \"colliding\": true, \"distance\": 0, "
        "\"distance_lower\": 0, \"distance_upper\": 0, \"volume\": 1.3125, \"volume_lower\": 1.31");
    assert_said("\"volume_upper\": 1.31");
    assert_said("\"force\": [2.625, 0.875, 0.75");
    assert_said("\"torque\": [");
    assert_said("\"force_error\": ");
    assert_said("\"torque_error\": ");
    assert_said("\"area_error\": ");
    assert_said("\"centroid_error\": ");
    assert_said("\"query_s\": ");
    assert_int_equal(carom("query box.ply small.ply --json"), 0);
    assert_said("\"relation\": \"b-inside-a\"");
    assert_int_equal(carom("query small.ply box.ply --json"), 0);
    assert_said("\"relation\": \"a-inside-b\"");
    assert_int_equal(carom("query box.ply box.ply --json --pose 5,0,0,1,0,0,0"), 0);
    assert_said("\"relation\": \"apart\", \"colliding\": false, \"distance\": 3, "
                "\"distance_lower\": 2.99999999999999");
    assert_said("\"distance_upper\": 3.0000000000000");
    assert_said("\"volume\": 0, \"volume_lower\": 0, \"volume_upper\": 0, \"force\": [0, 0, 0], "
                "\"torque\": [0, 0, 0]");
    assert_said("\"force_error\": 0, \"torque_error\": 0, \"area_error\": 0, "
                "\"centroid_error\": null");
    /* a matrix may scale */
    assert_int_equal(carom("query box.ply box.ply --json --pose 2,0,0,0,0,2,0,0,0,0,2,0"), 0);
    assert_said("\"relation\": \"a-inside-b\"");
}

static void words_are_for_people(void **state) {
    (void)state;
    assert_int_equal(carom("make torus -o ring.ply"), 0);
    assert_int_equal(carom("make box -o bar.ply"), 0);
    assert_int_equal(carom("query ring.ply bar.ply --patches --pose 9,0,0,0,0,0.1,0,0,0,0,0.1,0"),
                     0);
    assert_said("ring.ply and bar.ply: overlapping\n  volume ");
    assert_said("  2 pieces\n    volume ");
    assert_said("answered in ");
    assert_int_equal(carom("query ring.ply bar.ply --pose 0,0,3,1,0,0,0 --engine exact"), 0);
    assert_said("ring.ply and bar.ply: apart\n  distance  1.6");
    assert_int_equal(carom("query bar.ply bar.ply"), 0);
    assert_said("faces lie in one another: the force jumps here and is the mean of both sides");
    assert_int_equal(carom("query ring.ply bar.ply --patches --json"), 0);
    assert_said("\"patches\": [{\"volume\": ");
}

/* A deforms: each frame is answered as if it were A. */
static void frames_are_followed(void **state) {
    (void)state;
    static const char *const engines[] = {"exact", "tree", "balls"};
    char line[256];
    assert_int_equal(carom("make box -o box.ply"), 0);
    assert_int_equal(carom("make box --size 3 -o large.ply"), 0);
    assert_int_equal(carom("make torus -o ring.ply"), 0);
    for (int i = 0; i < 3; ++i) {
        snprintf(line, sizeof(line),
                 "query box.ply box.ply --pose 2.25,0,0,1,0,0,0 --engine %s --spheres 40 "
                 "--frames large.ply --frames box.ply --check",
                 engines[i]);
        assert_int_equal(carom(line), CLI_YES); /* in one frame */
        assert_said("large.ply: overlapping, volume ");
        assert_said(i == 0 ? "\nbox.ply: apart, distance 0.25; followed in " : "\nbox.ply: ");
    }
    assert_int_equal(carom("query box.ply box.ply --pose 2.25,0,0,1,0,0,0 --frames large.ply "
                           "--json -o frames.html"),
                     0);
    assert_said("\"relation\": \"apart\"");
    assert_said("\"frames\": [{\"file\": \"large.ply\", \"relation\": \"overlapping\", "
                "\"colliding\": true, \"distance\": 0, \"distance_lower\": 0, "
                "\"distance_upper\": 0, \"volume\": 7, ");
    assert_int_equal(carom("query box.ply box.ply --frames ring.ply"), cli_code(CAROM_BAD_INPUT));
    assert_said("a frame has the vertices and faces of A");
    assert_int_equal(carom("query box.ply box.ply --frames none.ply"), cli_code(CAROM_IO));
    assert_int_equal(carom("pack box.ply -n 20 -o packed.ply"), 0);
    assert_int_equal(carom("query packed.ply box.ply --engine balls --frames box.ply"),
                     cli_code(CAROM_BAD_INPUT));
    assert_said("A of --frames must be a mesh");
}

/* A table of many poses has the numbers of each alone, for any number of threads. */
static void poses_are_answered_in_a_table(void **state) {
    (void)state;
    static const char *const engines[] = {"exact", "tree", "balls"};
    char line[1024];
    write_file("poses.txt", "tx ty tz qw qx qy qz\n# moved aside\n2.25,0.5,0.25,1,0,0,0\n"
                            "\n1.5 0.5 0.25 1 0 0 0\n0.1;0.2;0.3;0.5;0.5;0.5;0.5\n");
    write_file("one.txt", "1.5,0.5,0.25,1,0,0,0\n");
    assert_int_equal(carom("query box.ply box.ply --poses poses.txt -o table.csv --check"),
                     CLI_YES);
    assert_said("box.ply and box.ply in 3 poses: 1 apart, 2 overlapping");
    assert_int_equal(shell("cat table.csv"), 0);
    assert_said("index,relation,distance,");
    assert_said("\n0,apart,0.25,");
    assert_said("\n1,overlapping,0,0,0,1.3125,");
    for (int i = 0; i < 3; ++i) {
        snprintf(line, sizeof(line),
                 "\"$carom\" query box.ply box.ply --poses poses.txt --engine %s --spheres 40 -o "
                 "table.csv && \"$carom\" query box.ply box.ply --poses poses.txt --engine %s "
                 "--spheres 40 --threads 1 -o again.csv && cmp table.csv again.csv && \"$carom\" "
                 "query box.ply box.ply --poses one.txt --engine %s --spheres 40 -o one.csv && "
                 "sed -n 's/^1,//p' table.csv >a.txt && sed -n 's/^0,//p' one.csv >b.txt && "
                 "cmp a.txt b.txt && \"$carom\" query box.ply box.ply --pose "
                 "1.5,0.5,0.25,1,0,0,0 --engine %s --spheres 40 --json >one.json && for n in $(sed "
                 "'s/^[^,]*,//; s/,,/,/g; s/,/ /g' a.txt); do grep -q -e \"[ [,]$n[],}]\" "
                 "one.json || exit 9; done",
                 engines[i], engines[i], engines[i], engines[i]);
        assert_int_equal(shell(line), 0);
    }
    assert_int_equal(carom("query box.ply box.ply --poses poses.txt --engine auto --json"), 0);
    assert_said("\"poses\": 3, \"relations\": {\"apart\": 1, \"touching\": 0, "
                "\"overlapping\": 2, ");
    assert_int_equal(carom("query box.ply box.ply --poses poses.txt -o - 2>words"), 0);
    assert_said("index,relation,distance,");
}

static void poses_have_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
        int code;
    } rows[] = {
        {"--poses bad.txt", "bad.txt: line 2: should be 7 finite numbers", CLI_INPUT},
        {"--poses zero.txt", "zero.txt: pose 1: the quaternion is zero", CLI_INPUT},
        {"--poses none.txt", "none.txt: ", CLI_INPUT},
        {"--poses one.txt -o x.html", "writes a table", CLI_USAGE},
        {"--poses one.txt --pose 1,0,0,1,0,0,0", "--poses goes without", CLI_USAGE},
        {"--poses one.txt --shard 1/2", "--shard needs -o FILE.csv", CLI_USAGE},
        {"--poses one.txt --shard 1/2 --engine auto -o x.csv", "by name", CLI_USAGE},
        {"--shard 1/2 -o x.csv", "--shard is for --poses", CLI_USAGE},
        {"--poses one.txt --resume", "--resume is for --shard", CLI_USAGE},
        {"-o x.csv", "-o FILE.csv is the table of --poses", CLI_USAGE},
    };
    write_file("bad.txt", "1,2,3,1,0,0,0\n1,2,3\n");
    write_file("zero.txt", "1,2,3,1,0,0,0\n1,2,3,0,0,0,0\n");
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char line[256];
        snprintf(line, sizeof(line), "query box.ply box.ply %s", rows[i].line);
        assert_int_equal(carom(line), rows[i].code);
        assert_said(rows[i].words);
    }
    assert_int_equal(shell("test ! -e x.csv"), 0);
}

static void check_is_the_exit_code(void **state) {
    (void)state;
    assert_int_equal(carom("query box.ply box.ply --check"), CLI_YES);
    assert_int_equal(carom("query box.ply box.ply --check --pose 2,2,2,1,0,0,0"), CLI_YES);
    assert_said("touching");
    assert_int_equal(carom("query box.ply box.ply --check --pose 2.1,0,0,1,0,0,0"), CLI_OK);
}

static void balls_compare_packings(void **state) {
    (void)state;
    assert_int_equal(carom("make torus -o hoop.ply"), 0);
    assert_int_equal(carom("pack hoop.ply -n 60 -o spheres.ply"), 0);
    assert_int_equal(carom("query hoop.ply spheres.ply --engine balls --spheres 60"), 0);
    assert_said("hoop.ply and spheres.ply: overlapping\n  volume ");
    assert_int_equal(carom("query spheres.ply spheres.ply --engine balls --pose 9,0,0,1,0,0,0 "
                           "--check --json"),
                     CLI_OK);
    assert_said("\"relation\": \"apart\", \"colliding\": false, \"distance\": null");
    assert_int_equal(carom("query spheres.ply spheres.ply --engine balls --pose "
                           "2,0,0,0,0,2,0,0,0,0,2,0 --check"),
                     CLI_YES);
    assert_int_equal(carom("query spheres.ply spheres.ply --engine balls --pose "
                           "2,0,0,0,0,1,0,0,0,0,1,0"),
                     CLI_INPUT);
    assert_int_equal(carom("query spheres.ply spheres.ply --engine balls --patches"), CLI_USAGE);
}

static void mistakes_are_answered_in_words(void **state) {
    (void)state;
    assert_int_equal(carom("make cloth --detail 4 -o sheet.ply"), 0);
    assert_int_equal(carom("query box.ply sheet.ply"), CLI_INPUT);
    assert_said("sheet.ply: the mesh is not closed: 16 edges have one face only");
    assert_int_equal(carom("query box.ply"), CLI_USAGE);
    assert_int_equal(carom("query box.ply box.ply --engine magic"), CLI_USAGE);
    assert_int_equal(carom("query box.ply box.ply --pose 1,2"), CLI_USAGE);
    assert_int_equal(carom("query box.ply nothing.ply"), CLI_INPUT);
}

/* Writes a box, facing inward or outward; `first` vertices are in the file before it. */
static void put_box(FILE *file, const double low[3], const double high[3], bool inward, int first) {
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                     {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                     {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int v = 0; v < 8; ++v)
        fprintf(file, "v %g %g %g\n", v & 1 ? high[0] : low[0], v & 2 ? high[1] : low[1],
                v & 4 ? high[2] : low[2]);
    for (int i = 0; i < 12; ++i)
        fprintf(file, "f %d %d %d\n", first + 1 + faces[i][inward ? 2 : 0], first + 1 + faces[i][1],
                first + 1 + faces[i][inward ? 0 : 2]);
}

static double number_said(const char *key) {
    const char *at = strstr(said, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* A box and one inside out that share an edge, and a probe in the latter. */
static void volumes_below_zero_have_bounds(void **state) {
    (void)state;
    const double boxes[3][2][3] = {
        {{0, 0, 0}, {3, 3, 3}}, {{3, 3, 0}, {4, 4, 3}}, {{3.25, 3.25, 1}, {3.75, 3.75, 2}}};
    char path[512];
    snprintf(path, sizeof(path), "%s/edge.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    put_box(file, boxes[0][0], boxes[0][1], false, 0);
    put_box(file, boxes[1][0], boxes[1][1], true, 8);
    fclose(file);
    snprintf(path, sizeof(path), "%s/probe.obj", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    put_box(file, boxes[2][0], boxes[2][1], false, 0);
    fclose(file);
    assert_int_equal(carom("query edge.obj probe.obj --json"), 0);
    assert_said("\"relation\": \"b-inside-a\"");
    assert_said("\"by_winding\": true");
    double volume = number_said("\"volume\": "), lower = number_said("\"volume_lower\": ");
    assert_true(lower <= -0.25 && lower >= -0.25 - 1e-12 && lower <= volume);
    assert_true(volume <= number_said("\"volume_upper\": "));
    assert_int_equal(carom("query edge.obj probe.obj --patches"), 0);
    assert_said("counts twice or negatively");
    assert_said("1 piece");
}

static void packings_are_compared(void **state) {
    (void)state;
    assert_int_equal(carom("make torus --detail 24 -o ring.ply"), 0);
    assert_int_equal(carom("pack ring.ply -n 300 --fast -o balls.ply"), 0);
    assert_int_equal(carom("query ring.ply ring.ply --json --pose 1,0,0.1,1,0,0,0"), 0);
    double exact = number_said("\"volume\": ");
    const char *const inputs[] = {"balls.ply balls.ply", "ring.ply ring.ply --spheres 300",
                                  "balls.ply ring.ply --spheres 300"};
    for (size_t i = 0; i < COUNT_OF(inputs); ++i) {
        char text[256];
        snprintf(text, sizeof(text), "query %s --engine tree --json --pose 1,0,0.1,1,0,0,0",
                 inputs[i]);
        assert_int_equal(carom(text), 0);
        assert_said("\"engine\": \"tree\", \"relation\": \"overlapping\"");
        assert_true(number_said("\"volume_lower\": ") <= exact);
        assert_true(number_said("\"volume_upper\": ") >= exact);
    }
    assert_int_equal(carom("query balls.ply balls.ply --engine tree --pose 5,0,0,1,0,0,0"), 0);
    assert_said("apart");
    assert_said("distance");
    assert_int_equal(carom("query balls.ply balls.ply --engine tree --check --json"
                           " --pose 0.5,0,0,1,0,0.5,0,0,0,0,0.5,0"),
                     1); /* half the size: a matrix with one scale */
    assert_int_equal(carom("query balls.ply balls.ply --engine tree"
                           " --pose 0.5,0.1,0,1,0,0.5,0,0,0,0,0.5,0"),
                     3);
    assert_said("no rotation");
    assert_int_equal(carom("query balls.ply balls.ply --engine tree --patches"), 2);
    assert_int_equal(carom("query balls.ply balls.ply --engine tree --spheres 0"), 2);
    assert_int_equal(carom("query balls.ply balls.ply --engine tree --budget 1e15 --json"), 0);
    assert_said("\"partial\": false");
    assert_int_equal(carom("query ring.ply ring.ply --engine auto --json"), 0);
    assert_said("\"engine\": \"exact\", \"reason\": \"it is exact, and ");
    assert_int_equal(carom("query balls.ply ring.ply --spheres 300 --engine auto --json"), 0);
    assert_said("\"engine\": \"tree\", \"reason\": \"there are no meshes of both");
    assert_int_equal(carom("query ring.ply ring.ply --spheres 50 --engine auto --budget 1"), 0);
    assert_said("engine    tree: it ends in time");
    assert_int_equal(carom("query ring.ply ring.ply --engine auto --patches"), 0);
    assert_said("engine    exact: --patches needs it");
    assert_int_equal(carom("pack ring.ply --error 0.2 --fast --json"), 0);
    assert_true(number_said("\"error\": ") <= 0.2);
    assert_int_equal(carom("pack ring.ply --error 0.2 --no-shares"), 2);
    assert_int_equal(carom("pack ring.ply --error=-1"), 2);
}

static void packings_beyond_their_range_are_refused(void **state) {
    (void)state;
    static const char *const engines[] = {"tree", "balls"};
    for (int i = 0; i < 2; ++i) {
        char line[256];
        assert_int_equal(carom("make box --size 1e-100 -o tiny.obj"), 0);
        assert_int_equal(carom("make box --size 1e80 -o huge.obj"), 0);
        snprintf(line, sizeof(line), "query tiny.obj tiny.obj --spheres 50 --engine %s",
                 engines[i]);
        assert_int_equal(carom(line), CLI_INPUT);
        assert_said("scale it to between 2^-300 and 2^300");
        snprintf(line, sizeof(line), "query huge.obj huge.obj --spheres 50 --engine %s",
                 engines[i]);
        assert_int_equal(carom(line), CLI_INPUT);
        assert_said("sizes must be between 2^-200 and 2^200");
    }
}

int main(void) {
    if (!cli_run_begin("cli_query")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_below_zero_have_bounds),
        cmocka_unit_test(boxes_are_related),
        cmocka_unit_test(words_are_for_people),
        cmocka_unit_test(frames_are_followed),
        cmocka_unit_test(poses_are_answered_in_a_table),
        cmocka_unit_test(poses_have_mistakes),
        cmocka_unit_test(check_is_the_exit_code),
        cmocka_unit_test(balls_compare_packings),
        cmocka_unit_test(mistakes_are_answered_in_words),
        cmocka_unit_test(packings_are_compared),
        cmocka_unit_test(packings_beyond_their_range_are_refused),
    };
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
