/* SPDX-License-Identifier: MIT */
/* carom toi, as a user runs it. One thread. */
#include <stdio.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

static void boxes_meet_on_their_way(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.ply"), 0);
    /* surfaces 2 apart meet when the centres are: at 0.3 of the way from 5 to -5 */
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 "
                           "--tolerance 1e-9 --json"),
                     0);
    assert_said("\"hit\": true, \"time\": 0.29999999");
    assert_said("\"face_a\": ");
    assert_said("\"steps\": ");
    assert_said("\"query_s\": ");
    assert_int_equal(carom("toi box.ply box.ply --hulls --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 "
                           "--tolerance 1e-9 --check --json"),
                     CLI_YES);
    assert_said("\"hit\": true, \"time\": 0.29999999");
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to 5,9,0,1,0,1,0 --check"),
                     0);
    assert_said("they do not meet");
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 "
                           "--separation 1"),
                     0);
    assert_said("they meet at time 0.19999");
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 --hulls "
                           "--separation 1"),
                     0);
    assert_said("they meet at time 0.19999");
    assert_int_equal(carom("toi box.ply --end box.ply --separation 1"), CLI_USAGE);
    assert_int_equal(carom("toi box.ply box.ply --separation -1"), CLI_USAGE);
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0"), 0);
    assert_said("they meet at time 0.");
}

static void any_scale_will_do(void **state) {
    (void)state;
    static const char *const sizes[] = {"1e-100", "1e100"};
    for (int i = 0; i < 2; ++i) {
        char line[256];
        snprintf(line, sizeof(line), "make box --size %s -o scaled.obj", sizes[i]);
        assert_int_equal(carom(line), 0);
        for (int hulls = 0; hulls < 2; ++hulls) {
            snprintf(line, sizeof(line),
                     "toi scaled.obj scaled.obj --pose 5%s,0,0,1,0,0,0 --to -5%s,0,0,1,0,0,0 %s",
                     sizes[i] + 1, sizes[i] + 1, hulls != 0 ? "--hulls" : "");
            assert_int_equal(carom(line), 0);
            assert_said("they meet at time 0.29999");
        }
    }
}

static void a_mesh_deforms(void **state) {
    (void)state;
    write_file("from.off",
               "OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 1\n0 1 1\n3 0 1 2\n3 3 4 5\n");
    write_file("to.off",
               "OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 -3\n1 0 -3\n0 1 -3\n3 0 1 2\n3 3 4 5\n");
    assert_int_equal(carom("toi from.off --end to.off --json --check"), CLI_YES);
    assert_said("\"hit\": true, \"impacts\": ");
    assert_said("\"lower\": 0.25, \"upper\": 0.25");
    assert_int_equal(carom("toi from.off --end to.off -o -"), 0);
    assert_said("vertex-face,0,1,0.25,0.25\n");
    assert_said("edge-edge,0,1,0.25,0.25\n");
    assert_int_equal(carom("toi from.off --end from.off --check"), 0);
    assert_said("no impacts");
}

/* From the files of a_mesh_deforms: a triangle falls by 4 onto another, 1 below it. */
static void a_mesh_moves_as_far_as_is_safe(void **state) {
    (void)state;
    assert_int_equal(carom("toi from.off --end to.off --step --separation 0.5 --json --check"),
                     CLI_YES);
    assert_said("\"hit\": true, \"step\": 0.12499"); /* within 2^-20 of the extent of 1/8 */
    assert_said("\"lower\": 0.5");
    assert_int_equal(carom("toi from.off --end from.off --step"), 0);
    assert_said("all the way");
    assert_int_equal(carom("toi from.off --near 1 -o -"), 0);
    assert_said("vertex-face,0,1,");
    assert_said("edge-edge,0,1,");
    assert_said("15 pairs are near, the nearest 1 apart");
    assert_int_equal(carom("toi from.off --near 0.999 --check"), 0);
    assert_said("nothing is near");
}

static void misuse_is_explained(void **state) {
    (void)state;
    assert_int_equal(carom("toi box.ply --near -1"), CLI_USAGE);
    assert_said("negative");
    assert_int_equal(carom("toi box.ply box.ply --near 1"), CLI_USAGE);
    assert_int_equal(carom("toi box.ply box.ply --step"), CLI_USAGE);
    assert_int_equal(carom("toi from.off --end to.off --step -o o.csv"), CLI_USAGE);
    assert_said("--step is shown as .html");
    assert_int_equal(carom("toi box.ply"), CLI_USAGE);
    assert_said("--end");
    assert_int_equal(carom("toi box.ply box.ply --to 1,2"), CLI_USAGE);
    assert_said("--to has 2 numbers");
    assert_int_equal(carom("toi box.ply box.ply --end box.ply"), CLI_USAGE);
    assert_int_equal(carom("toi box.ply box.ply --tolerance -1"), CLI_USAGE);
    assert_said("tolerance");
    assert_int_equal(carom("toi box.ply box.ply --to 2,0,0,0,0,1,0,0,0,0,1,0"), CLI_INPUT);
    assert_said("rotation");
    assert_int_equal(carom("toi from.off --end box.ply"), CLI_INPUT);
    assert_said("vertices");
}

int main(void) {
    if (!cli_run_begin("cli_toi")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_meet_on_their_way), cmocka_unit_test(any_scale_will_do),
        cmocka_unit_test(a_mesh_deforms),          cmocka_unit_test(a_mesh_moves_as_far_as_is_safe),
        cmocka_unit_test(misuse_is_explained),
    };
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
