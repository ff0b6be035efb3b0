/* SPDX-License-Identifier: MIT */
/* carom close and carom info --holes, as a user runs them. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cli_run.h"

/* A box without its lid, as polygons. */
static const char open_box[] = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\n"
                               "v 0 2 2\nf 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static void a_box_is_closed(void **state) {
    (void)state;
    write_file("open.obj", open_box);
    assert_int_equal(carom("close open.obj -o closed.obj --json"), 0);
    static const char *const keys[] = {
        "\"command\": \"close\"",  "\"loops\": 1",     "\"filled\": 1",    "\"left\": 0",
        "\"new_pairs\": 0",        "\"new_faces\": 2", "\"closed\": true", "\"open_edges\": 0",
        "\"outcome\": \"filled\"", "\"length\": 8",    "\"edges\": 4",     "\"centre\": [1, 1, 2]"};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) assert_said(keys[i]);
    assert_int_equal(carom("info closed.obj --json --holes --pairs"), 0);
    assert_said("\"faces\": 7");
    assert_said("\"volume\": 8");
    assert_said("\"holes\": {\"loops\": []");
    assert_said("\"pairs\": 0");
    assert_int_equal(carom("close open.obj -o closed.stl"), 0);
    assert_said("1 hole, 1 filled with 2 faces, 0 left; 0 new pairs; closed");
    assert_int_equal(carom("close closed.stl -o again.ply --check"), 0);
    assert_said("0 holes");
    assert_int_equal(shell("\"$carom\" close - -o - --format off <open.obj 2>words | head -1"), 0);
    assert_said("OFF");
}

static void what_is_left_is_named(void **state) {
    (void)state;
    assert_int_equal(carom("make grid --detail 3 -o sheet.ply"), 0);
    assert_int_equal(carom("close sheet.ply -o same.ply --check"), 1);
    assert_said("1 hole, 0 filled with 0 faces, 1 left");
    assert_said("from vertex 0: no triangles were found that cross nothing");
    assert_int_equal(carom("close sheet.ply -o same.ply --max-edges 11 --json"), 0);
    assert_said("\"outcome\": \"long\"");
    assert_int_equal(carom("info sheet.ply --holes"), 0);
    assert_said("boundary loops                1");
    assert_said("12 edges, 8 long, about ");
    assert_int_equal(carom("info sheet.ply --json"), 0);
    assert_said("\"holes\": null");
    assert_said("\"pairs\": null");
}

/* Two faces that go different ways round, a fan of three at an edge, faces that cross. */
static void info_lists_all_defects(void **state) {
    (void)state;
    write_file("bad.obj", "v 0 0 0\nv 2 0 0\nv 1 2 0\nv 1 -2 0\nv 1 0 3\nv 1 -4 0\nv 1 1 -1\n"
                          "v 1.5 1 1\nv 0.5 1 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\nf 4 2 6\nf 7 8 9\n");
    assert_int_equal(carom("info bad.obj --holes --pairs"), 0);
    assert_said("non-manifold edges            1");
    assert_said("0 1\n");
    assert_said("chains, which do not close");
    assert_said("flipped faces");
    assert_said("of faces meet, the first 0 and 4");
    assert_int_equal(carom("info bad.obj --holes --pairs --json"), 0);
    assert_said("\"nonmanifold_edges\": [[0, 1]]");
}

static void marks_are_written(void **state) {
    (void)state;
    write_file("open.obj", open_box);
    assert_int_equal(carom("close open.obj --mark new.ply"), 0);
    assert_int_equal(carom("info new.ply --json"), 0);
    assert_said("\"faces\": 7");
    assert_int_equal(carom("close open.obj -o c.ply --mark new.html"), 0);
    assert_int_equal(carom("close open.obj -o c.ply --mark new.glb"), 0);
    assert_int_equal(shell("grep -c '1 of 1 holes filled' new.html && grep -ac 'hole 0' new.glb"),
                     0);
    assert_int_equal(carom("info open.obj --mark all.ply"), 0);
    assert_int_equal(carom("info open.obj --mark all.glb -o other.html"), 0);
    assert_int_equal(shell("grep -ac 'boundary loops' all.glb"), 0);
    assert_int_equal(carom("info open.obj open.obj --mark all.ply"), 2);
    assert_said("a PLY file holds one mesh");
    assert_int_equal(carom("info open.obj --mark all.txt"), 2);
    assert_int_equal(carom("info open.obj --mark -"), 2);
}

static void misuse_is_explained(void **state) {
    (void)state;
    write_file("open.obj", open_box);
    assert_int_equal(carom("close open.obj"), 2);
    assert_said("where does the mesh go? -o FILE");
    assert_int_equal(carom("close open.obj -o -"), 3); /* needs --format */
    assert_int_equal(carom("close open.obj -o x.step"), 2);
    assert_int_equal(carom("close open.obj -o x.ply --max-edges -1"), 2);
    assert_int_equal(carom("close none.obj -o x.ply"), 3);
    assert_said("none.obj");
    assert_int_equal(carom("close open.obj open.obj -o x.ply"), 2);
}

/* Parts keep their names and get their new faces; one can be closed alone. */
static void parts_are_kept(void **state) {
    (void)state;
    char text[2048] = "o left\n";
    snprintf(text + 7, sizeof(text) - 7,
             "%so <b>\nv 3 0 0\nv 5 0 0\nv 5 2 0\nv 3 2 0\nv 3 0 2\nv 5 0 2\nv 5 2 2\nv 3 2 2\n"
             "f 12 11 10 9\nf 9 10 14 13\nf 10 11 15 14\nf 11 12 16 15\nf 12 9 13 16\n",
             open_box);
    write_file("two.obj", text);
    assert_int_equal(carom("close two.obj -o two.ply --json"), 0);
    assert_said("\"loops\": 2, \"filled\": 2");
    assert_int_equal(carom("info two.ply --json"), 0);
    assert_said("{\"name\": \"<b>\", \"faces\": 7, \"closed\": true, \"volume\": 8}");
    assert_int_equal(carom("close two.obj -o one.ply --part '<b>' --json"), 0);
    assert_said("\"loops\": 1, \"filled\": 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_closed),        cmocka_unit_test(what_is_left_is_named),
        cmocka_unit_test(info_lists_all_defects), cmocka_unit_test(marks_are_written),
        cmocka_unit_test(misuse_is_explained),    cmocka_unit_test(parts_are_kept),
    };
    if (!cli_run_begin("close")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("cli_close", tests, NULL, NULL));
}
