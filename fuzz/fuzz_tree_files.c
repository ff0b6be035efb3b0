/* SPDX-License-Identifier: MIT */
/* Files of sphere trees: that of a small tree with a surface, with some bytes changed, or cut
 * short. What is accepted is valid, and queries of it stay within their arrays and end. */
#include <math.h>

#include "fuzz/oracle.h"

#include "tests/support/shapes.c"
#include "tree/tree.h"

/* The file that is changed: made once. */
static const carom_bytes *make_file(carom_context *context) {
    static carom_bytes file;
    if (file.count != 0) return &file;
    carom_mesh *mesh;
    carom_packing *packing = packing_of_shape(context, CAROM_SHAPE_TORUS, 12, 60, &mesh);
    carom_mesh_view view = {0};
    carom_tree_def def = {.mesh = &view, .packing = packing, .arity = 3};
    carom_tree *tree;
    FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
    FUZZ_CHECK(carom_tree_create(context, &def, &tree) == CAROM_OK);
    FUZZ_CHECK(carom_tree_save_memory(context, tree, CAROM_TREE_FORMAT_GUESS, &file) == CAROM_OK);
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return &file;
}

static void run_query(carom_context *context, const carom_tree *tree, const carom_tree *other,
                      fuzz_bytes *bytes) {
    carom_pose pose = {{1, 0, fuzz_below(bytes, 4), 0},
                       {fuzz_below(bytes, 8) / 4.0, fuzz_below(bytes, 8) / 4.0, 0}};
    carom_tree_query_def def = {.narrow_limits = true, .flip = true, .work_budget = 10000};
    carom_tree_result answer;
    carom_tree_gap gap;
    carom_numbers faces[2] = {{0}, {0}};
    (void)carom_tree_query(context, tree, NULL, other, &pose, &def, &answer);
    def.exact_distance = true;
    (void)carom_tree_distance(context, tree, NULL, other, &pose, &def, &gap);
    (void)carom_tree_faces(context, other, NULL, tree, &pose, &def, &faces[0], &faces[1]);
    carom_numbers_free(&faces[0]);
    carom_numbers_free(&faces[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    carom_context_def def = {.threads = 1};
    carom_context *context;
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    const carom_bytes *file = make_file(context);
    uint8_t *copy = malloc(file->count);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, file->data, file->count);
    uint64_t length = file->count;
    carom_tree *tree, *whole;
    FUZZ_CHECK(carom_tree_load_memory(context, copy, length, CAROM_TREE_FORMAT_GUESS, NULL,
                                      &whole) == CAROM_OK);
    uint32_t changes = fuzz_below(&bytes, 8);
    if (changes == 7) length = fuzz_below(&bytes, 256) * 256 % (length + 1);
    for (uint32_t i = 0; i < changes; ++i) {
        uint64_t at = fuzz_below(&bytes, 256);
        at = (at << 8 | fuzz_below(&bytes, 256)) << 8 | fuzz_below(&bytes, 256);
        copy[at % file->count] = (uint8_t)fuzz_below(&bytes, 256);
    }
    if (carom_tree_load_memory(context, copy, length, CAROM_TREE_FORMAT_GUESS, NULL, &tree) ==
        CAROM_OK) {
        FUZZ_CHECK_VALID(carom_tree_validate(tree));
        run_query(context, tree, whole, &bytes);
        run_query(context, whole, tree, &bytes);
        carom_tree_destroy(tree);
    }
    carom_tree_destroy(whole);
    free(copy);
    carom_context_destroy(context);
    return 0;
}
