/* SPDX-License-Identifier: MIT */
/* Parts, as a user sees them: carom info lists them, --part selects one, and carom pairs
 * --by-part counts the pairs of each two. The clash tables of the shared assemblies are the truth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"
#include "tests/support/models.h"

/* Two tetrahedra that touch in the vertex (1, 0, 0), and an open face through the first. */
static const char assembly[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                               "v 1 0 0\nv 2 0 0\nv 1 1 0\nv 1 0 1\n"
                               "v 0.1 0.1 -1\nv 0.1 0.1 2\nv 0.2 0.1 2\n"
                               "o left one\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
                               "o right\nf 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"
                               "o cut\nf 9 10 11\n";

static void info_lists_parts(void **state) {
    (void)state;
    write_file("asm.obj", assembly);
    assert_int_equal(carom("info asm.obj"), 0);
    assert_said("  parts                         3\n");
    assert_said("       0            4 faces, closed   left one\n");
    assert_said("       1            4 faces, closed   right\n");
    assert_said("       2            1 faces, open     cut\n");
    assert_int_equal(carom("info asm.obj --json"), 0);
    assert_said("\"metres\": null, \"parts\": [{\"name\": \"left one\", \"faces\": 4, \"closed\": "
                "true, \"volume\": 0.16666666666666666}, ");
    assert_said("{\"name\": \"cut\", \"faces\": 1, \"closed\": false, \"volume\": null}]");
    assert_int_equal(carom("make box -o box.off"), 0);
    assert_int_equal(carom("info box.off"), 0); /* one part without a name is not worth a line */
    assert_not_said("parts");
    assert_int_equal(carom("info box.off --json"), 0);
    assert_said("\"parts\": []");
    assert_int_equal(shell("for i in $(seq 50); do printf 'v 0 0 0\\nv 1 0 0\\nv 0 1 0\\n"
                           "o n%d\\nf -1 -2 -3\\n' $i; done > many.obj"),
                     0);
    assert_int_equal(carom("info many.obj"), 0);
    assert_said("      39            1 faces, open     n40\n  ... and 10 more; --json lists them");
    assert_int_equal(carom("info many.obj --json"), 0);
    assert_said("{\"name\": \"n50\", ");
}

static void one_part_is_selected(void **state) {
    (void)state;
    write_file("asm.obj", assembly);
    assert_int_equal(carom("info asm.obj --part 'left one' --json"), 0);
    assert_said("\"vertices\": 4, ");
    assert_said("\"closed\": true");
    assert_said("\"parts\": [{\"name\": \"left one\", \"faces\": 4, ");
    assert_int_equal(carom("info asm.obj --part 2 --json"), 0);
    assert_said("\"vertices\": 3, ");
    assert_int_equal(carom("convert asm.obj right.stl --part right --format stl-ascii"), 0);
    assert_said("right.stl: 4 vertices, 4 faces");
    assert_int_equal(carom("info right.stl --json"), 0);
    assert_said("\"parts\": [{\"name\": \"right\"");
    assert_int_equal(carom("query asm.obj asm.obj --part 'left one' --part-b right --json"), 0);
    assert_said("\"relation\": \"touching\"");
    assert_int_equal(carom("pairs asm.obj asm.obj --part cut --part-b 0 --json"), 0);
    assert_said("\"pairs\": 2, ");
    assert_int_equal(carom("pairs asm.obj --part right --json"), 0);
    assert_said("\"pairs\": 0, ");

    write_file("colours.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty int x\nproperty "
                              "int y\nproperty int z\nproperty uchar red\nelement face 2\n"
                              "property list uchar int vertex_indices\nproperty int part\n"
                              "property int id\nend_header\n0 0 0 1\n1 0 0 2\n0 1 0 3\n"
                              "1 1 0 4\n3 0 1 2 0 5\n3 1 3 2 1 6\n");
    assert_int_equal(carom("convert colours.ply one.ply --format ply-ascii --part 1"), 0);
    char text[512];
    read_file("one.ply", text, sizeof(text));
    assert_non_null(strstr(text, "end_header\n1 0 0 2\n1 1 0 4\n0 1 0 3\n3 0 1 2 6\n"));
    assert_int_equal(carom("info asm.obj --part nut"), CLI_INPUT);
    assert_said("asm.obj: no part is called nut, and the numbers go from 0 to 2; carom info lists "
                "them");
    assert_int_equal(carom("info asm.obj --part 3"), CLI_INPUT);
    assert_int_equal(carom("info asm.obj --part ''"), CLI_INPUT);
    assert_int_equal(carom("pairs asm.obj --part-b 1"), CLI_USAGE);
    assert_said("--part-b selects from the second mesh, and there is none");
    write_file("same.stl", "solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n"
                           "endsolid\nsolid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
                           "endfacet\nendsolid\n");
    assert_int_equal(carom("convert same.stl x.obj --part a"), CLI_INPUT);
    assert_said("same.stl: 2 parts are called a, the first is number 0; give a number");
    assert_int_equal(carom("convert same.stl x.obj --part 1"), 0);
}

static void pairs_are_counted_by_part(void **state) {
    (void)state;
    write_file("asm.obj", assembly);
    /* welded as one mesh, the tetrahedra share a vertex; by part, faces there touch: 3 x 3 */
    assert_int_equal(carom("pairs asm.obj --json"), 0);
    assert_said("\"pairs\": 2, ");
    assert_int_equal(carom("pairs asm.obj --by-part --json"), 0);
    assert_said("\"pairs\": 11, ");
    assert_said("\"parts\": [{\"a\": 0, \"name_a\": \"left one\", \"b\": 1, \"name_b\": \"right\", "
                "\"pairs\": 9}, {\"a\": 0, \"name_a\": \"left one\", \"b\": 2, \"name_b\": "
                "\"cut\", \"pairs\": 2}]");
    assert_int_equal(carom("pairs asm.obj --by-part"), 0);
    assert_said("asm.obj: 11 pairs of faces meet\n         pairs  parts\n");
    assert_said("             9  0 left one, 1 right\n             2  0 left one, 2 cut\n");
    assert_int_equal(carom("pairs asm.obj asm.obj --by-part --json --part right"), 0);
    assert_said("\"parts\": [{\"a\": 0, \"name_a\": \"right\", \"b\": 0, \"name_b\": \"left "
                "one\", \"pairs\": 9}, {\"a\": 0, \"name_a\": \"right\", \"b\": 1, ");
    assert_int_equal(carom("make box --polygons -o box.obj"), 0); /* without parts: one */
    assert_int_equal(carom("pairs box.obj box.obj --by-part --fan --pose 0.5,0,0,1,0,0,0"), 0);
    assert_said("  0, 0\n");
    assert_int_equal(carom("pairs asm.obj --by-part --check -o list.csv"), CLI_YES);
    assert_int_equal(shell("test $(wc -l < list.csv) -eq 11"), 0);
}

/* ---- the truth ------------------------------------------------------------------------------- */

/* The number that follows the key at *at, which is moved there; false at the end. */
static bool next_number(const char **at, const char *key, unsigned long long *value) {
    *at = strstr(*at, key);
    if (*at == NULL) return false;
    *at += strlen(key);
    *value = strtoull(*at, NULL, 10);
    return true;
}

static void clash_tables_are_the_true_ones(void **state) {
    (void)state;
    static const char *const scenes[] = {"2CylinderEngine", "buggy_474k", "hand_bones",
                                         "leg_muscle", "panda_robot"};
    if (test_shared_folder() == NULL) skip();
    for (size_t i = 0; i < COUNT_OF(scenes); ++i) {
        char text[2048], *cells[4];
        snprintf(text, sizeof(text), "pairs --by-part --json '%s/models/scenes/%s_parts.ply.gz'",
                 test_shared_folder(), scenes[i]);
        assert_int_equal(carom(text), 0);
        snprintf(text, sizeof(text), "truth/clash_%s_parts.csv", scenes[i]);
        FILE *truth = models_open_text(text);
        assert_non_null(fgets(text, sizeof(text), truth));
        const char *at = strstr(said, "\"parts\": [");
        assert_non_null(at);
        unsigned long long a, b, pairs;
        while (next_number(&at, "\"a\": ", &a)) {
            assert_true(next_number(&at, "\"b\": ", &b));
            assert_true(next_number(&at, "\"pairs\": ", &pairs));
            if (a == b) continue; /* a part with itself */
            assert_non_null(fgets(text, sizeof(text), truth));
            assert_int_equal(models_cut_line(text, cells, 4), 3);
            assert_int_equal(a, strtoull(cells[0], NULL, 10));
            assert_int_equal(b, strtoull(cells[1], NULL, 10));
            assert_int_equal(pairs, strtoull(cells[2], NULL, 10));
        }
        assert_null(fgets(text, sizeof(text), truth));
        fclose(truth);
    }
}

int main(void) {
    if (!cli_run_begin("cli_parts")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_lists_parts),
        cmocka_unit_test(one_part_is_selected),
        cmocka_unit_test(pairs_are_counted_by_part),
        cmocka_unit_test(clash_tables_are_the_true_ones),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_parts", tests, NULL, NULL));
}
