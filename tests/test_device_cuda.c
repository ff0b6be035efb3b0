/* SPDX-License-Identifier: MIT */
/* What becomes of a context whose device has no memory left, or is lost: calls return a status that
 * says so; memory that is there again is used, a lost device stays lost. Memory is given back on
 * request. Skipped where there is no device. One thread. */
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t scratch_of(carom_context *context) {
    carom_context_info info;
    assert_ok(context, carom_context_get_info(context, &info));
    return info.scratch_bytes;
}

static uint64_t cloth_vertices; /* of the last one */

static carom_soup *make_cloth(carom_context *context, uint64_t detail) {
    const carom_shape_def shape = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh_view view = {0};
    carom_soup *soup;
    carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    cloth_vertices = view.vertex_count;
    carom_mesh_destroy(mesh);
    return soup;
}

static void memory_is_given_back(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    uint64_t count, again;
    carom_soup *soup = make_cloth(cuda, 100);
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &count));
    assert_true(count != 0 && scratch_of(cuda) != 0);
    assert_ok(cuda, carom_context_trim(cuda));
    assert_int_equal(scratch_of(cuda), 0);
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &again));
    assert_int_equal(count, again);
    carom_soup_destroy(soup);
}

#define MOST_BLOCKS 64
#define LARGEST     (UINT64_C(1) << 38) /* bytes: more than devices have */
#define SMALLEST    (UINT64_C(1) << 20)

/* Takes all memory of the device; how many blocks. */
static int take_all(void *blocks[MOST_BLOCKS]) {
    int used = 0;
    assert_ok(cuda, carom_context_trim(cuda));
    for (uint64_t bytes = LARGEST; bytes >= SMALLEST && used < MOST_BLOCKS;) {
        carom_status status = carom_cuda_allocate(cuda, bytes, &blocks[used]);
        if (status == CAROM_OK) {
            ++used;
            continue;
        }
        assert_int_equal(status, CAROM_NO_MEMORY);
        assert_non_null(strstr(carom_context_message(cuda), "no device memory"));
        bytes /= 2;
    }
    return used;
}

/* All memory of the device is taken, then given back. */
static void memory_runs_out(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    void *blocks[MOST_BLOCKS];
    uint64_t count, again;
    carom_soup *soup = make_cloth(cuda, 300);
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &count));
    int used = take_all(blocks);
    assert_fails(cuda, carom_soup_self_count(cuda, soup, &again), CAROM_NO_MEMORY,
                 "no device memory");
    assert_fails(cuda, carom_soup_self_count(cuda, soup, &again), CAROM_NO_MEMORY,
                 "no device memory");
    while (used > 0) carom_cuda_release(cuda, blocks[--used]);
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &again));
    assert_int_equal(count, again);
    carom_soup_destroy(soup);
}

/* What one search keeps for reuse does not stay in the way of another for ever. */
static void memory_kept_for_reuse_is_there_for_others(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    void *blocks[MOST_BLOCKS];
    carom_pairs pairs = {0};
    carom_soup_near_pairs near = {0};
    carom_soup *soup = make_cloth(cuda, 60);
    assert_ok(cuda, carom_soup_self_near(cuda, soup, 0.01, &near));
    assert_ok(cuda, carom_soup_self_pairs(cuda, soup, &pairs));
    uint64_t near_count = near.count, pair_count = pairs.count, kept = scratch_of(cuda);
    int used = take_all(blocks); /* gives all back first */
    carom_cuda_release(cuda, blocks[--used]);
    while (scratch_of(cuda) == 0 && used > 0) { /* as much as one of the two needs */
        carom_status status = carom_soup_self_near(cuda, soup, 0.01, &near);
        if (status == CAROM_OK) break;
        assert_int_equal(status, CAROM_NO_MEMORY);
        assert_int_equal(scratch_of(cuda), 0);
        carom_cuda_release(cuda, blocks[--used]);
    }
    assert_int_equal(near.count, near_count);
    for (int i = 0; i < 2; ++i) { /* where there is none left, the second call has what was kept */
        carom_status status = carom_soup_self_pairs(cuda, soup, &pairs);
        if (status == CAROM_OK) break;
        assert_true(status == CAROM_NO_MEMORY && i == 0);
    }
    assert_int_equal(pairs.count, pair_count);
    assert_true(kept != 0);
    while (used > 0) carom_cuda_release(cuda, blocks[--used]);
    carom_pairs_free(&pairs);
    carom_soup_near_pairs_free(&near);
    carom_soup_destroy(soup);
}

static carom_tree *make_tree(carom_context *context) {
    carom_tree *tree;
    carom_packing *packing = packing_of_shape(cpu, CAROM_SHAPE_TORUS, 24, 300, NULL);
    const carom_tree_def def = {.packing = packing};
    assert_ok(context, carom_tree_create(context, &def, &tree));
    carom_packing_destroy(packing);
    return tree;
}

static void trees_run_out_of_memory(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    void *blocks[MOST_BLOCKS];
    carom_tree *on_cpu = make_tree(cpu), *tree = make_tree(cuda);
    const carom_pose beside = {.t = {5.0, 0.0, 0.0}};
    carom_tree_gap gap, gap_again;
    carom_packing_overlap overlap, overlap_again;
    int used = take_all(blocks);
    for (int i = 0; i < 2; ++i) {
        assert_fails(cuda, carom_tree_distance(cuda, tree, NULL, tree, &beside, NULL, &gap_again),
                     CAROM_NO_MEMORY, "no device memory");
        assert_fails(cuda, carom_tree_overlap(cuda, tree, NULL, tree, NULL, NULL, &overlap_again),
                     CAROM_NO_MEMORY, "no device memory");
    }
    while (used > 0) carom_cuda_release(cuda, blocks[--used]);
    assert_ok(cpu, carom_tree_distance(cpu, on_cpu, NULL, on_cpu, &beside, NULL, &gap));
    assert_ok(cuda, carom_tree_distance(cuda, tree, NULL, tree, &beside, NULL, &gap_again));
    assert_memory_equal(&gap, &gap_again, sizeof(gap));
    assert_ok(cpu, carom_tree_overlap(cpu, on_cpu, NULL, on_cpu, NULL, NULL, &overlap));
    assert_ok(cuda, carom_tree_overlap(cuda, tree, NULL, tree, NULL, NULL, &overlap_again));
    assert_memory_equal(&overlap, &overlap_again, sizeof(overlap));
    carom_tree_destroy(tree);
    carom_tree_destroy(on_cpu);
}

/* The last test: nothing on the device works in this process afterwards. */
static void a_lost_device_stays_lost(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    uint64_t count;
    carom_soup *soup = make_cloth(cuda, 30);
    carom_tree *tree = make_tree(cuda);
    carom_tree_gap gap;
    carom_cuda_impacts impacts = {0};
    /* an address that no allocation has */
    const carom_cuda_positions nowhere = {(const void *)(uintptr_t)4096, CAROM_SCALAR_FLOAT32,
                                          cloth_vertices};
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &count));
    carom_status status = carom_cuda_soup_self_impacts(cuda, soup, &nowhere, &impacts);
    if (status == CAROM_OK) status = carom_cuda_finish(cuda);
    assert_int_equal(status, CAROM_NO_DEVICE);
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_NO_DEVICE, "was lost for this process");
    assert_fails(cuda, carom_soup_self_count(cuda, soup, &count), CAROM_NO_DEVICE,
                 "was lost for this process");
    void *memory;
    assert_fails(cuda, carom_cuda_allocate(cuda, 4, &memory), CAROM_NO_DEVICE, "was lost");
    assert_fails(cuda, carom_tree_distance(cuda, tree, NULL, tree, NULL, NULL, &gap),
                 CAROM_NO_DEVICE, "was lost");
    carom_cuda_impacts_free(cuda, &impacts);
    carom_tree_destroy(tree);
    carom_soup_destroy(soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_given_back),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(memory_kept_for_reuse_is_there_for_others),
        cmocka_unit_test(trees_run_out_of_memory),
        cmocka_unit_test(a_lost_device_stays_lost),
    };
    return cmocka_run_group_tests_name("device_cuda", tests, set_up, tear_down);
}
