/* SPDX-License-Identifier: MIT */
/* Sphere trees: two packings of a few spheres on a small lattice, which may overlap, nest and
 * coincide, in poses on it. Trees by every method are valid, and their overlaps are those of all
 * pairs of spheres, their distances the least of all gaps. */
#include <math.h>

#include "fuzz/oracle.h"

#include "tests/support/packing_oracle.c"
#include "tree/tree.h"

#define MOST_SPHERES 40u

static carom_packing *take_packing(carom_context *context, fuzz_bytes *bytes) {
    carom_packing_sphere spheres[MOST_SPHERES];
    uint32_t count = 1 + fuzz_below(bytes, MOST_SPHERES);
    memset(spheres, 0, sizeof(spheres));
    for (uint32_t i = 0; i < count; ++i) {
        carom_packing_sphere *s = &spheres[i];
        s->centre = carom_vec(fuzz_below(bytes, 16), fuzz_below(bytes, 16), fuzz_below(bytes, 16));
        uint32_t radii = fuzz_below(bytes, 256);
        s->radius = (1 + radii % 4) / 2.0;
        s->secondary = s->radius * (7 + radii / 4 % 4) / 8.0;
        s->cover = s->radius * (8 + radii / 16 % 8) / 8.0;
        s->void_volume = radii % 5;
        s->depth = s->radius * (1 + radii / 64);
    }
    return packing_of_spheres(context, spheres, count, 5000.0);
}

static carom_pose take_pose(fuzz_bytes *bytes) {
    uint8_t q = (uint8_t)fuzz_below(bytes, 256);
    return (carom_pose){{q & 3, q >> 2 & 3, q >> 4 & 3, q >> 6},
                        {fuzz_below(bytes, 32), fuzz_below(bytes, 32), fuzz_below(bytes, 32)}};
}

/* The least gap of inner balls. */
static double least_gap(const carom_packing *a, const carom_spheres_transform *transform_a,
                        const carom_packing *b, const carom_spheres_transform *transform_b) {
    double least = HUGE_VAL;
    for (uint64_t i = 0; i < a->info.spheres; ++i) {
        carom_spheres_posed p = posed(transform_a, a, i);
        for (uint64_t j = 0; j < b->info.spheres; ++j) {
            carom_spheres_posed q = posed(transform_b, b, j);
            double d = carom_vec_length(carom_vec_sub(q.centre, p.centre));
            double gap = d - (p.radius + q.radius);
            least = gap < least ? gap : least;
        }
    }
    return least;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    carom_context_def def = {.threads = 1};
    carom_context *context;
    carom_packing *packing[2];
    carom_tree *tree[2];
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    uint32_t kinds = fuzz_below(&bytes, 256);
    for (int i = 0; i < 2; ++i) {
        carom_tree_def one = {.method = (carom_tree_method)((kinds >> (2 * i) & 3) % 3),
                              .arity = 2 + (kinds >> 4 & 7) * 2};
        one.packing = packing[i] = take_packing(context, &bytes);
        FUZZ_CHECK(carom_tree_create(context, &one, &tree[i]) == CAROM_OK);
        FUZZ_CHECK_VALID(carom_tree_validate(tree[i]));
    }
    while (bytes.left != 0) {
        carom_pose pose[2] = {take_pose(&bytes), take_pose(&bytes)};
        carom_packing_overlap expected, overlap;
        carom_tree_query_def narrow = {.narrow_limits = true};
        carom_tree_gap gap;
        packing_oracle_overlap(context, packing[0], &pose[0], 0.0, packing[1], &pose[1], 0.0,
                               &expected);
        FUZZ_CHECK(carom_tree_overlap(context, tree[0], &pose[0], tree[1], &pose[1], NULL,
                                      &overlap) == CAROM_OK);
        FUZZ_CHECK(memcmp(&overlap, &expected, sizeof(overlap)) == 0);
        FUZZ_CHECK(carom_tree_overlap(context, tree[0], &pose[0], tree[1], &pose[1], &narrow,
                                      &overlap) == CAROM_OK);
        FUZZ_CHECK(overlap.volume.value == expected.volume.value &&
                   overlap.volume.upper <= expected.volume.upper &&
                   overlap.volume.lower <= overlap.volume.upper);
        FUZZ_CHECK(carom_tree_distance(context, tree[0], &pose[0], tree[1], &pose[1], NULL, &gap) ==
                   CAROM_OK);
        carom_spheres_transform transform[2];
        for (int i = 0; i < 2; ++i)
            transform[i] = carom_spheres_transform_make(&tree[i]->extent, &pose[i], 0.0);
        double least = least_gap(packing[0], &transform[0], packing[1], &transform[1]);
        FUZZ_CHECK(least > 0.0 ? gap.distance.value == least : gap.distance.upper == 0.0);
        FUZZ_CHECK(gap.distance.lower <= gap.distance.upper);
    }
    for (int i = 0; i < 2; ++i) {
        carom_tree_destroy(tree[i]);
        carom_packing_destroy(packing[i]);
    }
    carom_context_destroy(context);
    return 0;
}
