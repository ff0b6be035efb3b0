/* SPDX-License-Identifier: MIT */
/* Balls: two sets of spheres on a small lattice, which may touch, nest and coincide, in grids of
 * any hash and size. Each operation poses them or replaces one set. The structure is valid after
 * it, and the overlap is that of all pairs, bit for bit. */
#include "fuzz/oracle.h"

#include "balls/balls.h"
#include "tests/support/packing_oracle.c"

#define MOST_SPHERES 24u
#define MOST_STEPS   12

typedef struct set {
    carom_packing *packing;
    carom_balls *balls;
} set;

/* Radii are powers of two up to 2^15 apart, so that there are several levels. */
static uint32_t make_spheres(fuzz_bytes *bytes, carom_packing_sphere *spheres) {
    uint32_t count = 1 + fuzz_below(bytes, MOST_SPHERES);
    double size = ldexp(1.0, (int)fuzz_below(bytes, 61) - 30);
    for (uint32_t i = 0; i < count; ++i) {
        carom_packing_sphere *s = &spheres[i];
        memset(s, 0, sizeof(*s));
        s->centre.x = size * ((double)fuzz_below(bytes, 9) - 4.0);
        s->centre.y = size * ((double)fuzz_below(bytes, 9) - 4.0);
        s->centre.z = size * ((double)fuzz_below(bytes, 9) - 4.0);
        s->radius = size * ldexp(1.0, 1 - (int)fuzz_below(bytes, 16));
        s->secondary = s->radius * (0.875 + 0.125 * fuzz_below(bytes, 6));
        s->cover = s->radius * (1.0 + 0.125 * fuzz_below(bytes, 8));
        s->void_volume = s->radius * fuzz_below(bytes, 4);
    }
    return count;
}

static carom_pose make_pose(fuzz_bytes *bytes) {
    double unit = ldexp(1.0, (int)fuzz_below(bytes, 61) - 30);
    carom_pose pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    pose.q.x = 0.25 * fuzz_below(bytes, 5);
    pose.q.y = 0.25 * fuzz_below(bytes, 5);
    pose.q.z = 0.25 * fuzz_below(bytes, 5);
    pose.t.x = unit * ((double)fuzz_below(bytes, 9) - 4.0);
    pose.t.y = unit * ((double)fuzz_below(bytes, 9) - 4.0);
    pose.t.z = unit * ((double)fuzz_below(bytes, 9) - 4.0);
    return pose;
}

static void compare(carom_context *context, fuzz_bytes *bytes, const set *a, const set *b) {
    carom_pose pose_a = make_pose(bytes), pose_b = make_pose(bytes);
    carom_balls_query_def def = {.scale_a = 0.5 * fuzz_below(bytes, 5),
                                 .scale_b = 0.75 * fuzz_below(bytes, 3)};
    carom_packing_overlap expected, overlap;
    uint64_t count;
    packing_oracle_overlap(context, a->packing, &pose_a, def.scale_a, b->packing, &pose_b,
                           def.scale_b, &expected);
    FUZZ_CHECK(carom_balls_overlap(context, a->balls, &pose_a, b->balls, &pose_b, &def, &overlap) ==
               CAROM_OK);
    FUZZ_CHECK(memcmp(&overlap, &expected, sizeof(overlap)) == 0);
    FUZZ_CHECK(carom_balls_count(context, a->balls, &pose_a, b->balls, &pose_b,
                                 CAROM_BALLS_PAIR_KIND_INNER, &def, &count) == CAROM_OK);
    FUZZ_CHECK(count == expected.inner_pairs);
}

static void replace(carom_context *context, fuzz_bytes *bytes, set *s) {
    carom_packing_sphere spheres[MOST_SPHERES];
    uint32_t count = make_spheres(bytes, spheres);
    carom_packing *packing = packing_of_spheres(context, spheres, count, 1.0);
    carom_packing_destroy(s->packing);
    s->packing = packing;
    FUZZ_CHECK(carom_balls_update(context, s->balls, packing->spheres, count,
                                  packing->info.volume) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_balls_validate(s->balls));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    carom_context_def def = {.threads = 1};
    carom_context *context;
    set sets[2];
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    for (int i = 0; i < 2; ++i) {
        carom_packing_sphere spheres[MOST_SPHERES];
        carom_balls_def of = {NULL,
                              {.hash = (carom_grid_hash)fuzz_below(&bytes, CAROM_GRID_HASH_COUNT),
                               .buckets = fuzz_below(&bytes, 17),
                               .cell_scale = 0.5 * fuzz_below(&bytes, 5)}};
        uint32_t count = make_spheres(&bytes, spheres);
        of.packing = sets[i].packing = packing_of_spheres(context, spheres, count, 1.0);
        FUZZ_CHECK(carom_balls_create(context, &of, &sets[i].balls) == CAROM_OK);
        FUZZ_CHECK_VALID(carom_balls_validate(sets[i].balls));
    }
    for (int step = 0; step < MOST_STEPS && (step == 0 || bytes.left != 0); ++step) {
        if (fuzz_below(&bytes, 3) == 2)
            replace(context, &bytes, &sets[fuzz_below(&bytes, 2)]);
        else
            compare(context, &bytes, &sets[0], &sets[1]);
    }
    for (int i = 0; i < 2; ++i) {
        carom_balls_destroy(sets[i].balls);
        carom_packing_destroy(sets[i].packing);
    }
    carom_context_destroy(context);
    return 0;
}
