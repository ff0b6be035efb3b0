/* SPDX-License-Identifier: MIT */
/* carom hulls, as a user runs it. */
#include "cli/command.h"
#include "tests/support/cli_run.h"

static void boxes_are_related(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.ply"), 0);
    assert_int_equal(carom("hulls box.ply box.ply --json --pose 5,0,0,1,0,0,0"), 0);
    assert_said("\"relation\": \"apart\", \"colliding\": false, \"distance\": 3, \"depth\": 0");
    assert_said("\"normal\": [1, 0, 0");
    assert_said("\"witness_a\": [1, ");
    assert_said("\"witness_b\": [4, ");
    assert_said("\"iterations\": ");
    assert_said("\"error\": ");
    assert_said("\"query_s\": ");
    assert_int_equal(carom("hulls box.ply box.ply --json --pose 1.5,0.5,0.25,1,0,0,0"), 0);
    assert_said("\"relation\": \"overlapping\", \"colliding\": true, \"distance\": 0, "
                "\"depth\": 0.5");
    assert_int_equal(carom("hulls box.ply box.ply --margin 1 --json --pose 5,0,0,1,0,0,0"), 0);
    assert_said("\"distance\": 1, ");
    assert_int_equal(carom("hulls box.ply box.ply --check --pose 2,0,0,1,0,0,0"), CLI_YES);
    assert_said("touching");
    assert_int_equal(carom("hulls box.ply box.ply --check --pose 3,0,0,1,0,0,0"), 0);
    assert_said("distance  1,");
}

static void hulls_are_written(void **state) {
    (void)state;
    assert_int_equal(carom("make torus -o torus.ply"), 0);
    assert_int_equal(carom("hulls torus.ply -o hull.ply"), 0);
    assert_said("solid");
    assert_int_equal(carom("info hull.ply"), 0);
    assert_said("closed");
    assert_int_equal(carom("hulls torus.ply hull.ply --json"), 0);
    assert_said("\"relation\": \"overlapping\"");
    /* Vertices of a hull are vertices of the mesh: float32 stays float32. */
    assert_int_equal(carom("convert torus.ply --float32 narrow.ply"), 0);
    assert_int_equal(carom("hulls narrow.ply -o hull.ply"), 0);
    assert_int_equal(carom("info hull.ply"), 0);
    assert_said("float32");
}

static void mistakes_are_explained(void **state) {
    (void)state;
    assert_int_equal(carom("hulls"), CLI_USAGE);
    assert_int_equal(carom("hulls none.ply"), CLI_INPUT);
    assert_said("none.ply");
    assert_int_equal(carom("hulls box.ply box.ply --margin -1"), CLI_USAGE);
    assert_said("--margin");
    assert_int_equal(carom("hulls box.ply -o hull.xyz"), CLI_USAGE);
    assert_said("hull.xyz: end the name in .obj, .ply, .stl, .off, .html, .glb or .png");
}

int main(void) {
    if (!cli_run_begin("cli_hulls")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_related),
        cmocka_unit_test(hulls_are_written),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
