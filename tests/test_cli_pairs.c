/* SPDX-License-Identifier: MIT */
/* carom pairs, as a user runs it; and --pose, read strictly. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/pose.h"
#include "tests/support/cli_run.h"

/* Three triangles and a segment: 0 and 1 cross, 2 is apart, 3 has no area and touches 2. */
static const char four_faces[] = "v 0 0 0\nv 4 0 0\nv 0 4 0\n"
                                 "v 1 1 -1\nv 1 1 1\nv 2 1 1\n"
                                 "v 9 9 9\nv 9 8 9\nv 8 9 9\n"
                                 "v 9 9 9\nv 9 9 10\nv 9 9 11\n"
                                 "f 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n";

static void pairs_are_listed_counted_and_written(void **state) {
    (void)state;
    char text[256];
    write_file("four.obj", four_faces);
    assert_int_equal(carom("pairs four.obj"), 0);
    assert_said("four.obj: 2 pairs of faces meet, 1 of them faces without area");
    assert_said("         0          1\n           3          3\n");
    assert_said("prepared in");
    assert_int_equal(carom("pairs four.obj --json -o four.csv"), 0);
    assert_said("\"pairs\": 2, \"prepare_s\": ");
    assert_said("\"query_s\": ");
    assert_said("\"candidates\": ");
    assert_said("\"degenerate\": 1");
    assert_said("\"output\": \"four.csv\"}");
    read_file("four.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n3,3\n");
    assert_int_equal(carom("pairs four.obj -o /dev/stdout --quiet"), 0);
    assert_said("0,1\n3,3\n");

    /* as a segment the fourth meets the third where they have a common vertex: only there */
    assert_int_equal(carom("pairs four.obj --as-segments --json"), 0);
    assert_said("\"pairs\": 1, ");
    assert_int_equal(carom("pairs four.obj --as-segments --no-weld -o four.csv"), 0);
    read_file("four.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n2,3\n");
    assert_int_equal(carom("pairs four.obj four.obj --json"), 0); /* 0 and 1, 2 with itself */
    assert_said("\"pairs\": 5, ");
    assert_int_equal(carom("pairs four.obj four.obj --json --as-segments"), 0);
    assert_said("\"pairs\": 8, ");
}

static void check_is_the_exit_code(void **state) {
    (void)state;
    assert_int_equal(carom("make sphere -o ball.ply"), 0);
    assert_int_equal(carom("pairs ball.ply --check"), CLI_OK);
    assert_said("ball.ply: 0 pairs of faces meet\n");
    assert_int_equal(carom("pairs ball.ply ball.ply --check"), CLI_YES);
    assert_int_equal(carom("pairs ball.ply ball.ply"), CLI_OK);
    assert_int_equal(carom("pairs ball.ply ball.ply --check --json --pose 3,0,0,1,0,0,0"), CLI_OK);
    assert_said("\"pairs\": 0, ");
    assert_not_said("degenerate");
    assert_int_equal(carom("make cloth --detail 100 -o cloth.ply --float32"), 0);
    assert_int_equal(carom("pairs cloth.ply --check --json -o cloth.csv"), CLI_YES);
    assert_said("\"pairs\": 5440, ");
    char line[64], path[512];
    unsigned count = 0, a, b, last_a = 0, last_b = 0;
    snprintf(path, sizeof(path), "%s/cloth.csv", folder);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    for (; fgets(line, sizeof(line), in) != NULL; ++count) {
        assert_int_equal(sscanf(line, "%u,%u\n", &a, &b), 2);
        assert_true(a < b && (a > last_a || (a == last_a && b > last_b) || count == 0));
        last_a = a;
        last_b = b;
    }
    fclose(in);
    assert_int_equal(count, 5440);
}

/* Seven numbers move B rigidly, twelve by any matrix; both mean the same where they say the same.
 */
static void poses_move_the_second_mesh(void **state) {
    (void)state;
    static const struct {
        const char *rigid, *matrix;
    } same[] = {{"0,0,0,1,0,0,0", "1,0,0,0,0,1,0,0,0,0,1,0"},
                {"0.5,0.25,1,2,0,0,0", "1,0,0,0.5,0,1,0,0.25,0,0,1,1"},
                {"1,0,0,0,0,0,1", "-1,0,0,1,0,-1,0,0,0,0,1,0"}, /* half a turn around z */
                {"0,0,.75,0,1,0,0", "1,0,0,0,0,-1,0,0,0,0,-1,.75"}};
    char first[4096], second[4096], line[512];
    assert_int_equal(carom("make box -o box.off --polygons --detail 2"), 0);
    assert_int_equal(carom("make torus -o torus.obj --detail 12"), 0);
    for (size_t i = 0; i < COUNT_OF(same); ++i) {
        snprintf(line, sizeof(line), "pairs box.off torus.obj --pose %s -o 1.csv", same[i].rigid);
        assert_int_equal(carom(line), 0);
        snprintf(line, sizeof(line), "pairs box.off torus.obj -o 2.csv --pose=%s", same[i].matrix);
        assert_int_equal(carom(line), 0);
        read_file("1.csv", first, sizeof(first));
        read_file("2.csv", second, sizeof(second));
        assert_true(strlen(first) > 4);
        assert_string_equal(first, second);
    }
    assert_int_equal(carom("pairs box.off torus.obj --pose 2.2,0,0,1,0,0,0 --json"), 0);
    assert_not_said("\"pairs\": 0,");
    assert_int_equal(carom("pairs box.off torus.obj --pose .1,0,0,9,0,.1,0,0,0,0,.1,0 --json"), 0);
    assert_said("\"pairs\": 0,");
}

/* Polygons by their own numbers, or fans by those of their triangles. */
static void polygons_keep_their_numbers(void **state) {
    (void)state;
    char text[4096];
    write_file("quads.off", "OFF\n9 3 0\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n"
                            "1 1 -1\n1 1 1\n1.5 1 1\n3 3 3\n4 3 3\n"
                            "4 0 1 2 3\n3 4 5 6\n3 6 7 8\n");
    assert_int_equal(carom("pairs quads.off -o quads.csv"), 0);
    read_file("quads.csv", text, sizeof(text));
    assert_string_equal(text, "0,1\n");
    assert_int_equal(carom("pairs quads.off -o quads.csv --fan"), 0);
    read_file("quads.csv", text, sizeof(text));
    assert_string_equal(text, "0,2\n1,2\n");
}

static void any_threads_write_the_same_bytes(void **state) {
    (void)state;
    assert_int_equal(carom("make cloth --detail 120 -o big.ply --polygons"), 0);
    assert_int_equal(carom("pairs big.ply -o 1.csv --threads 1"), 0);
    assert_int_equal(carom("pairs big.ply -o 8.csv --threads 8 --isa baseline"), 0);
    char command[600];
    snprintf(command, sizeof(command), "cmp '%s/1.csv' '%s/8.csv'", folder, folder);
    assert_int_equal(system(command), 0);
}

static void any_method_writes_the_same_bytes(void **state) {
    (void)state;
    static const char *const ways[] = {
        "--method tree", "--method grid", "--method grid --hash djb2",
        "--method grid --hash=morton --threads 3", "--method grid --hash perfect"};
    char command[1200];
    assert_int_equal(carom("make cloth --detail 80 -o sheet.ply"), 0);
    assert_int_equal(carom("pairs sheet.ply -o auto.csv --method auto"), 0);
    assert_not_said("possible");
    assert_int_equal(carom("pairs sheet.ply sheet.ply --pose .1,0,0,3,1,0,0 -o two.csv"), 0);
    for (size_t i = 0; i < COUNT_OF(ways); ++i) {
        snprintf(command, sizeof(command), "pairs sheet.ply -o way.csv %s", ways[i]);
        assert_int_equal(carom(command), 0);
        if (i > 0) assert_said("candidates were possible\n");
        snprintf(command, sizeof(command), "cmp '%s/auto.csv' '%s/way.csv'", folder, folder);
        assert_int_equal(system(command), 0);
        snprintf(command, sizeof(command),
                 "pairs sheet.ply sheet.ply --pose .1,0,0,3,1,0,0 --json -o way.csv %s", ways[i]);
        assert_int_equal(carom(command), 0);
        if (i > 0) assert_said("\"bound\": ");
        snprintf(command, sizeof(command), "cmp '%s/two.csv' '%s/way.csv'", folder, folder);
        assert_int_equal(system(command), 0);
    }
}

static void mistakes_are_answered_in_words(void **state) {
    (void)state;
    assert_int_equal(carom("pairs four.obj --method gird"), CLI_USAGE);
    assert_said("grid");
    assert_int_equal(carom("pairs"), CLI_USAGE);
    assert_said("an argument is missing");
    assert_int_equal(carom("pairs a b c"), CLI_USAGE);
    assert_int_equal(carom("pairs ball.ply --pose 0,0,0,1,0,0,0"), CLI_USAGE);
    assert_said("there is none");
    assert_int_equal(carom("pairs ball.ply ball.ply --pose 0,0,0"), CLI_USAGE);
    assert_said("has 3 numbers; it takes 7");
    assert_int_equal(carom("pairs ball.ply ball.ply --pose 0,0,x,1,0,0,0"), CLI_USAGE);
    assert_said("'x' is no number");
    assert_int_equal(carom("pairs nothing.ply"), CLI_INPUT);
    assert_said("nothing.ply");
    assert_int_equal(carom("pairs ball.ply nothing.ply --json"), CLI_INPUT);
    assert_said("\"error\": ");
    assert_int_equal(
        carom("pairs ball.ply ball.ply --pose 1e308,1e308,1e308,1e308,0,0,0,0,0,0,0,0"), CLI_INPUT);
    assert_int_equal(carom("pairs ball.ply -o no/such/folder/x.csv"), CLI_INPUT);
    assert_said("cannot write 'no/such/folder/x.csv'");
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(carom("pairs cloth.ply -o /dev/full"), CLI_MACHINE);
        assert_said("cannot finish '/dev/full'");
    }
    assert_int_equal(carom("pairs --help"), 0);
    assert_said("--as-segments");
}

/* ---- --pose ---------------------------------------------------------------------------------- */

static void poses_are_read_strictly(void **state) {
    (void)state;
    pose_arg pose;
    char message[128] = "";
    assert_true(pose_read(NULL, &pose, message, sizeof(message)));
    assert_false(pose.is_matrix);
    assert_true(pose.pose.q.w == 0.0 && pose.pose.t.x == 0.0);
    assert_true(pose_read("1,-2,3e-1,4,.5,6,7", &pose, message, sizeof(message)));
    assert_false(pose.is_matrix);
    assert_true(pose.pose.t.x == 1.0 && pose.pose.t.y == -2.0 && pose.pose.t.z == 0.3);
    assert_true(pose.pose.q.w == 4.0 && pose.pose.q.x == 0.5 && pose.pose.q.y == 6.0 &&
                pose.pose.q.z == 7.0);
    assert_true(pose_read("0,1,2,3,4,5,6,7,8,9,10,11", &pose, message, sizeof(message)));
    assert_true(pose.is_matrix);
    for (int i = 0; i < POSE_NUMBERS; ++i) assert_true(pose.matrix[i] == (double)i);
    assert_string_equal(message, "");
    static const char *const bad[] = {"",
                                      "1",
                                      "1,2,3,4,5,6",
                                      "1,2,3,4,5,6,7,8",
                                      "1,2,3,4,5,6,7,",
                                      ",1,2,3,4,5,6",
                                      "1,2,3, 4,5,6,7",
                                      "1,2,3,nan,5,6,7",
                                      "1,2,3,1e999,5,6,7",
                                      "1,2,3,0,0,0,0",
                                      "1;2;3;4;5;6;7",
                                      "1,1,1,1,1,1,1,1,1,1,1,1,1"};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        message[0] = '\0';
        assert_false(pose_read(bad[i], &pose, message, sizeof(message)));
        if (strstr(message, "--pose") == NULL) fail_msg("'%s': '%s'", bad[i], message);
    }
}

int main(void) {
    if (!cli_run_begin("cli_pairs")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_listed_counted_and_written),
        cmocka_unit_test(check_is_the_exit_code),
        cmocka_unit_test(poses_move_the_second_mesh),
        cmocka_unit_test(polygons_keep_their_numbers),
        cmocka_unit_test(any_threads_write_the_same_bytes),
        cmocka_unit_test(any_method_writes_the_same_bytes),
        cmocka_unit_test(mistakes_are_answered_in_words),
        cmocka_unit_test(poses_are_read_strictly),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_pairs", tests, NULL, NULL));
}
