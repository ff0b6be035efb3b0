/* SPDX-License-Identifier: MIT */
/* Files of packings: what is written is read back exactly; other files and bad ones; `carom pack`
 * as a user runs it, with the checker on its files. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"
#include "tests/support/pack_check.h"
#include "tests/support/shapes.h"

static carom_context *context;

static carom_packing *make_packing(void) {
    const carom_shape_def cone = {.shape = CAROM_SHAPE_CONE, .detail = 9};
    return shape_packing(context, &cone, &(carom_packing_def){.count = 20});
}

static void ply_is_read_back_exactly(void **state) {
    (void)state;
    carom_packing *packing = make_packing(), *again;
    carom_bytes bytes = {0};
    carom_packing_spheres a = {0}, b = {0};
    carom_packing_info i, k;
    assert_ok(context,
              carom_packing_save_memory(context, packing, CAROM_PACKING_FORMAT_PLY, &bytes));
    assert_ok(context, carom_packing_load_memory(context, bytes.data, bytes.count,
                                                 CAROM_PACKING_FORMAT_GUESS, NULL, &again));
    assert_ok(context, carom_packing_list_spheres(context, packing, &a));
    assert_ok(context, carom_packing_list_spheres(context, again, &b));
    assert_ok(context, carom_packing_get_info(packing, &i));
    assert_ok(context, carom_packing_get_info(again, &k));
    assert_int_equal(a.count, b.count);
    for (uint64_t s = 0; s < a.count; ++s) {
        const carom_packing_sphere *p = &a.data[s], *q = &b.data[s];
        assert_true(p->centre.x == q->centre.x && p->centre.y == q->centre.y &&
                    p->centre.z == q->centre.z && p->radius == q->radius &&
                    p->secondary == q->secondary && p->cover == q->cover &&
                    p->void_volume == q->void_volume && p->face == q->face && p->depth == q->depth);
    }
    assert_true(i.volume == k.volume && i.fill == k.fill && i.empty_radius == k.empty_radius &&
                i.least_radius == k.least_radius && i.shares == k.shares &&
                i.complete == k.complete && i.bounds.high.z == k.bounds.high.z);
    carom_packing_spheres_free(&a);
    carom_packing_spheres_free(&b);
    carom_packing_destroy(packing);
    carom_packing_destroy(again);
    /* Cut anywhere, it is an error or a packing of fewer digits, but never a crash. */
    for (uint64_t size = 0; size + 1 < bytes.count; size += 1 + size / 64) {
        carom_status status = carom_packing_load_memory(
            context, bytes.data, size, CAROM_PACKING_FORMAT_GUESS, "cut.ply", &again);
        assert_true(status == CAROM_BAD_FILE || status == CAROM_OK);
        carom_packing_destroy(again);
    }
    carom_bytes_free(&bytes);
}

static void other_files_are_read_or_refused(void **state) {
    (void)state;
    static const char binary[] = "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 2\r\n"
                                 "property uchar red\r\nproperty float x\r\nproperty float y\r\n"
                                 "property float z\r\nproperty float radius\r\nend_header\r\n";
    char file[512];
    size_t size = sizeof(binary) - 1;
    memcpy(file, binary, size);
    for (int i = 0; i < 2; ++i) {
        float row[4] = {(float)i, 2.0f, 3.0f, 0.5f + (float)i};
        file[size++] = 7;
        memcpy(file + size, row, sizeof(row));
        size += sizeof(row);
    }
    carom_packing *packing;
    carom_packing_spheres spheres = {0};
    for (int format = CAROM_PACKING_FORMAT_CSV; format < CAROM_PACKING_FORMAT_COUNT; ++format) {
        assert_fails(context,
                     carom_packing_load_memory(context, file, size, (carom_packing_format)format,
                                               "b.ply", &packing),
                     CAROM_UNSUPPORTED, "b.ply: packings are read from PLY");
        assert_null(packing);
    }
    assert_ok(context, carom_packing_load_memory(context, file, size, CAROM_PACKING_FORMAT_PLY,
                                                 "b.csv", &packing));
    carom_packing_destroy(packing);
    assert_ok(context, carom_packing_load_memory(context, file, size, CAROM_PACKING_FORMAT_GUESS,
                                                 "b.ply", &packing));
    assert_ok(context, carom_packing_list_spheres(context, packing, &spheres));
    assert_int_equal(spheres.count, 2);
    assert_true(spheres.data[0].radius == 1.5 && spheres.data[0].centre.x == 1.0);
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    assert_fails(context,
                 carom_packing_load_memory(context, file, size - 1, CAROM_PACKING_FORMAT_GUESS,
                                           "b.ply", &packing),
                 CAROM_BAD_FILE, "b.ply: line ");
    static const char *const bad[][2] = {
        {"solid", "does not begin with ply"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
         "x, y, z and radius"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
         "property float z\nproperty float radius\nend_header\n1 2 3 0\n",
         "radius of 0"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
         "property float z\nproperty float radius\nend_header\n1 2 x 1\n",
         "is not a number"},
        {"ply\nformat ascii 1.0\nelement vertex 99999999\nproperty float x\nproperty float y\n"
         "property float z\nproperty float radius\nend_header\n1 2 3 1\n",
         "ends before"},
        {"ply\nformat ascii 1.0\nelement face 1\nend_header\n", "first element"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); ++i)
        assert_fails(context,
                     carom_packing_load_memory(context, bad[i][0], strlen(bad[i][0]),
                                               CAROM_PACKING_FORMAT_GUESS, "bad.ply", &packing),
                     CAROM_BAD_FILE, bad[i][1]);
    assert_fails(
        context,
        carom_packing_load(context, "/nowhere/x.ply", CAROM_PACKING_FORMAT_GUESS, &packing),
        CAROM_IO, "cannot be opened");
}

static void the_tool_packs_and_its_files_hold(void **state) {
    (void)state;
    assert_int_equal(carom("make torus --detail 16 -o torus.ply"), 0);
    assert_int_equal(carom("pack torus.ply -n 40 -o s.ply --cells c.csv --json"), 0);
    assert_said("\"spheres\": 40");
    assert_said("\"method\": \"octree\"");
    assert_said("\"complete\": true");
    char line[1200];
    snprintf(line, sizeof(line), "%s/tests/pack_check torus.ply s.ply c.csv", CAROM_BINARY_DIR);
    assert_int_equal(shell(line), 0);
    assert_said("proved");
    assert_int_equal(shell("sed -i 's/^\\(-*[0-9.e-]* [^ ]* [^ ]*\\) 0\\.3/\\1 0.4/' s.ply"), 0);
    assert_int_equal(shell(line), 1);
    assert_said("WRONG");
    assert_int_equal(carom("pack torus.ply -n 5 -o s.sph"), 0);
    assert_int_equal(shell("wc -l < s.sph; head -1 s.sph"), 0);
    assert_said("7\n2 5");
    assert_int_equal(carom("pack torus.ply -n 5 -o s.csv"), 0);
    assert_int_equal(shell("wc -l < s.csv; head -1 s.csv"), 0);
    assert_said("6\nx,y,z,radius,");
    assert_int_equal(carom("pack torus.ply -n 5 -o - --format xyzr"), 0);
    assert_int_equal(carom("pack torus.ply --voxels 8 --method greedy"), 0);
    assert_said("no space for more");
    assert_int_equal(carom("pack torus.ply --method prototype -n 7 --seed 3 --no-shares"), 0);
    assert_said("7 spheres");
    assert_int_equal(carom("pack torus.ply --fill 2"), CLI_INPUT);
    assert_said("fill");
    assert_int_equal(carom("pack torus.ply --cells c.csv --no-shares"), CLI_USAGE);
    assert_int_equal(carom("pack torus.ply -n 5 -o /nowhere/x.ply"), CLI_MACHINE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_is_read_back_exactly),
        cmocka_unit_test(other_files_are_read_or_refused),
        cmocka_unit_test(the_tool_packs_and_its_files_hold),
    };
    if (!cli_run_begin("pack")) return 1;
    context = test_context(2);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    carom_context_destroy(context);
    return cli_run_end(failed);
}
