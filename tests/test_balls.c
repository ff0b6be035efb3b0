/* SPDX-License-Identifier: MIT */
/* Balls give the overlap of packings as it is defined, bit for bit: all hashes, tables and cells,
 * threads and instruction sets, scales, poses and sizes; updates equal new structures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balls/balls.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

/* Of packings that take most of the time. */
#define SPHERES (TEST_FEW_CASES ? 100u : 1500u)

static carom_balls *balls_of(carom_context *with, const carom_packing *packing,
                             const carom_balls_def *def) {
    carom_balls *balls = NULL;
    carom_balls_def of = {0};
    if (def != NULL) of = *def;
    of.packing = packing;
    assert_ok(with, carom_balls_create(with, &of, &balls));
    assert_valid(carom_balls_validate(balls));
    return balls;
}

static void assert_same(const carom_packing_overlap *o, const carom_packing_overlap *expected) {
    if (memcmp(o, expected, sizeof(*o)) == 0) return;
    fail_msg("relation %d %d, volume %.17g %.17g, lower %.17g %.17g, upper %.17g %.17g, pairs %llu "
             "%llu, inner %llu %llu, flagged %llu %llu and %llu %llu",
             o->relation, expected->relation, o->volume.value, expected->volume.value,
             o->volume.lower, expected->volume.lower, o->volume.upper, expected->volume.upper,
             (unsigned long long)o->pairs, (unsigned long long)expected->pairs,
             (unsigned long long)o->inner_pairs, (unsigned long long)expected->inner_pairs,
             (unsigned long long)o->flagged_a, (unsigned long long)expected->flagged_a,
             (unsigned long long)o->flagged_b, (unsigned long long)expected->flagged_b);
}

/* The bound is for poses whose rounding is small against the balls. */
static bool extreme;

/* Computes everything that a query of balls can answer. */
static void check_all(carom_context *with, const carom_packing *pa, const carom_balls *a,
                      const carom_pose *pose_a, const carom_packing *pb, const carom_balls *b,
                      const carom_pose *pose_b, double scale_a, double scale_b) {
    carom_packing_overlap expected, o;
    carom_balls_query_def def = {.scale_a = scale_a, .scale_b = scale_b};
    packing_oracle_overlap(context, pa, pose_a, scale_a, pb, pose_b, scale_b, &expected);
    memset(&o, 0xA5, sizeof(o));
    assert_ok(with, carom_balls_overlap(with, a, pose_a, b, pose_b, &def, &o));
    assert_same(&o, &expected);
    def.skip_limits = true;
    assert_ok(with, carom_balls_overlap(with, a, pose_a, b, pose_b, &def, &o));
    assert_true(o.volume.value == expected.volume.value && o.volume.lower == 0.0);
    assert_memory_equal(&o.force, &expected.force, sizeof(o.force));
    assert_memory_equal(&o.torque, &expected.torque, sizeof(o.torque));
    assert_true(o.volume.upper >= expected.volume.upper && o.flagged_a == 0);
    assert_int_equal(o.relation, o.pairs != 0 ? CAROM_RELATION_TOUCHING : CAROM_RELATION_APART);
    const uint64_t counts[] = {expected.pairs, expected.inner_pairs};
    for (int kind = 0; kind < CAROM_BALLS_PAIR_KIND_COUNT; ++kind) {
        uint64_t count = 77;
        bool any;
        carom_balls_most most;
        assert_ok(with, carom_balls_count(with, a, pose_a, b, pose_b, (carom_balls_pair_kind)kind,
                                          &def, &count));
        assert_ok(with, carom_balls_meet(with, a, pose_a, b, pose_b, (carom_balls_pair_kind)kind,
                                         &def, &any));
        assert_int_equal(any, count != 0);
        if (kind < 2) assert_int_equal(count, counts[kind]);
        assert_int_equal(expected.flagged_a != 0 || kind < 2, count != 0 || kind < 2);
        assert_ok(with, carom_balls_bound(with, a, b, (carom_balls_pair_kind)kind, &def, &most));
        if (!extreme) assert_true(count <= most.pairs);
    }
}

/* ---- Equality with the definition ------------------------------------------------------------ */

static void random_packings(void **state) {
    (void)state;
    carom_random random = {21};
    for (int n = 0; n < TEST_CASES(600); ++n) {
        double size = n % 4 == 0 ? ldexp(1.0, n % 301 - 150) : 1.0;
        carom_packing *pa = packing_random(context, &random, 1 + (uint32_t)n % 200, size);
        carom_packing *pb = packing_random(context, &random, 1 + (uint32_t)n % 150, size);
        carom_balls_def def = {NULL,
                               {.hash = (carom_grid_hash)(n % CAROM_GRID_HASH_COUNT),
                                .buckets = n % 3 == 0 ? 1u + (uint32_t)n % 16 : 0,
                                .cell_scale = n % 5 == 0 ? ldexp(0.5, n / 5 % 5) : 0.0}};
        carom_balls *a = balls_of(context, pa, n % 7 == 0 ? NULL : &def);
        carom_balls *b = balls_of(context, pb, &def);
        for (int k = 0; k < 3; ++k) {
            carom_pose pose_a = packing_random_pose(&random, k == 2 ? 100.0 * size : 0.0);
            carom_pose pose_b = packing_random_pose(&random, size * ldexp(1.0, k - n % 9));
            double scale_a = 0.0, scale_b = 0.0;
            if (k == 1) scale_b = carom_random_between(&random, 0.25, 4.0);
            if (k == 2) scale_a = ldexp(1.0, n % 7 - 3);
            if (k == 2) pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
            check_all(context, pa, a, k == 0 ? NULL : &pose_a, pb, b, &pose_b, scale_a, scale_b);
        }
        check_all(context, pa, a, NULL, pa, a, NULL, 0.0, 0.0);
        carom_balls_destroy(a);
        carom_balls_destroy(b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
}

/* Far apart in size or position: floats cannot tell. */
static void extreme_poses(void **state) {
    (void)state;
    carom_random random = {22};
    for (int n = 0; n < TEST_CASES(200); ++n) {
        carom_packing *pa = packing_random(context, &random, 30, 1.0);
        carom_packing *pb = packing_random(context, &random, 30, 1.0);
        carom_balls *a = balls_of(context, pa, NULL), *b = balls_of(context, pb, NULL);
        double far = ldexp(1.0, n % 60);
        extreme = n % 60 > 20;
        carom_pose pose_a = packing_random_pose(&random, far);
        carom_pose pose_b = packing_random_pose(&random, 1.0);
        pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
        check_all(context, pa, a, &pose_a, pb, b, &pose_b, 0.0, 0.0);
        check_all(context, pa, a, &pose_b, pb, b, NULL, 1.0 / far, 0.0);
        check_all(context, pa, a, NULL, pb, b, &pose_b, 0.0, far);
        extreme = false;
        carom_balls_destroy(a);
        carom_balls_destroy(b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
}

/* Packings of solids, on every instruction set, with one thread and several. */
static void packings_of_solids(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT, CAROM_SHAPE_BOX};
    carom_random random = {23};
    carom_packing *p[3];
    for (int i = 0; i < 3; ++i)
        p[i] = packing_of_shape(context, shapes[i], 0, SPHERES - SPHERES / 4 * (uint64_t)i, NULL);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        carom_context *with = test_context_isa(1 + (uint32_t)isa % 3, (carom_isa)isa);
        if (with == NULL) continue;
        for (int hash = 0; hash < CAROM_GRID_HASH_COUNT; ++hash) {
            carom_balls_def def = {NULL, {.hash = (carom_grid_hash)hash}};
            carom_balls *balls[3];
            for (int i = 0; i < 3; ++i) balls[i] = balls_of(with, p[i], &def);
            for (int n = 0; n < TEST_CASES(8); ++n) {
                int i = n % 3, j = (n + n / 3) % 3;
                carom_pose pose = packing_random_pose(&random, 0.2 * (n % 6));
                check_all(with, p[i], balls[i], NULL, p[j], balls[j], n == 0 ? NULL : &pose, 0.0,
                          n % 4 == 3 ? 1.5 : 0.0);
            }
            for (int i = 0; i < 3; ++i) carom_balls_destroy(balls[i]);
        }
        carom_context_destroy(with);
    }
    for (int i = 0; i < 3; ++i) carom_packing_destroy(p[i]);
}

/* The same bytes on every machine. */
/* The hash of an overlap as it was laid out when the golden file was written: the estimate before
 * its limits, and zeros where the compiler leaves gaps. */
static uint64_t hash_overlap(const carom_packing_overlap *o, uint64_t hash) {
    struct {
        uint32_t relation, gap;
        double volume, lower, upper;
        carom_vec3 vectors[5];
        uint64_t counts[4], partial;
    } old;
    memset(&old, 0, sizeof(old));
    old.relation = (uint32_t)o->relation;
    old.volume = o->volume.value;
    old.lower = o->volume.lower;
    old.upper = o->volume.upper;
    const carom_vec3 vectors[5] = {o->centroid, o->force, o->torque, o->pivot, o->direction_2009};
    memcpy(old.vectors, vectors, sizeof(vectors));
    const uint64_t counts[4] = {o->pairs, o->inner_pairs, o->flagged_a, o->flagged_b};
    memcpy(old.counts, counts, sizeof(counts));
    old.partial = o->partial ? 1 : 0;
    return test_hash_numbers(&old, sizeof(old), "4*2 8*23", hash);
}

static void results_have_golden_hashes(void **state) {
    (void)state;
    carom_random random = {31};
    carom_packing *p[2] = {packing_random(context, &random, 400, 1.0), NULL};
    p[1] = packing_random(context, &random, 400, 1.0);
    carom_balls *balls[2] = {balls_of(context, p[0], NULL), balls_of(context, p[1], NULL)};
    uint64_t hash = 0;
    for (int n = 0; n < 40; ++n) {
        carom_pose pose = packing_random_pose(&random, 0.05 * n);
        carom_packing_overlap o;
        assert_ok(context, carom_balls_overlap(context, balls[n % 2], NULL, balls[n / 2 % 2], &pose,
                                               NULL, &o));
        hash = hash_overlap(&o, hash);
    }
    test_golden("balls.txt", "overlaps", hash);
    for (int i = 0; i < 2; ++i) {
        carom_balls_destroy(balls[i]);
        carom_packing_destroy(p[i]);
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether two spheres of packings are a pair, by the words of pack.h. */
static bool is_pair(const carom_packing_sphere *a, const carom_packing_sphere *b,
                    carom_balls_pair_kind kind) {
    carom_vec3 d = carom_vec_sub(a->centre, b->centre);
    double sum = kind == CAROM_BALLS_PAIR_KIND_INNER       ? a->radius + b->radius
                 : kind == CAROM_BALLS_PAIR_KIND_SECONDARY ? a->secondary + b->secondary
                                                           : a->cover + b->cover;
    double squared = carom_vec_dot(d, d);
    return kind == CAROM_BALLS_PAIR_KIND_COVER ? squared <= sum * sum * (1.0 + 1e-12)
                                               : squared < sum * sum;
}

static void pairs_are_those_of_all_with_all(void **state) {
    (void)state;
    carom_random random = {24};
    carom_pairs pairs = {0};
    for (int n = 0; n < TEST_CASES(100); ++n) {
        carom_packing *pa = packing_random(context, &random, 120, 1.0);
        carom_packing *pb = packing_random(context, &random, 120, 1.0);
        carom_balls *a = balls_of(context, pa, NULL), *b = balls_of(context, pb, NULL);
        for (int kind = 0; kind < CAROM_BALLS_PAIR_KIND_COUNT; ++kind) {
            uint64_t at = 0;
            assert_ok(context, carom_balls_pairs(context, a, NULL, b, NULL,
                                                 (carom_balls_pair_kind)kind, NULL, &pairs));
            for (uint32_t i = 0; i < pa->info.spheres; ++i)
                for (uint32_t j = 0; j < pb->info.spheres; ++j) {
                    bool is = at < pairs.count && pairs.data[at].a == i && pairs.data[at].b == j;
                    assert_int_equal(
                        is, is_pair(&pa->spheres[i], &pb->spheres[j], (carom_balls_pair_kind)kind));
                    at += is;
                }
            assert_int_equal(at, pairs.count);
            carom_pair few[3];
            carom_pairs own = {.data = few, .capacity = 3, .owner = CAROM_OWNER_CALLER};
            carom_status status = carom_balls_pairs(context, a, NULL, b, NULL,
                                                    (carom_balls_pair_kind)kind, NULL, &own);
            assert_int_equal(status, pairs.count > 3 ? CAROM_MORE : CAROM_OK);
            assert_int_equal(own.count, pairs.count);
        }
        carom_balls_destroy(a);
        carom_balls_destroy(b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
    carom_pairs_free(&pairs);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

static void many_are_one_by_one(void **state) {
    (void)state;
    enum { OBJECTS = 6, PAIRS = 40 };
    carom_random random = {25};
    carom_packing *p[OBJECTS];
    carom_balls *balls[OBJECTS];
    static carom_balls_pair pairs[PAIRS];
    static carom_packing_overlap overlaps[PAIRS];
    for (int i = 0; i < OBJECTS; ++i) {
        p[i] = packing_random(context, &random, 300, 1.0);
        balls[i] = balls_of(context, p[i], NULL);
    }
    for (int n = 0; n < PAIRS; ++n) {
        carom_balls_pair *m = &pairs[n];
        m->a = balls[n % OBJECTS];
        m->b = balls[n / OBJECTS % OBJECTS];
        if (n % 2 == 0) m->pose_a = packing_random_pose(&random, 1.0);
        m->pose_b = packing_random_pose(&random, 1.0);
        m->scale_b = n % 5 == 0 ? 1.7 : 0.0;
    }
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        carom_context *with = test_context(threads);
        for (int estimate = 0; estimate < 2; ++estimate) {
            const carom_balls_query_def all = {.skip_limits = estimate != 0};
            assert_ok(with, carom_balls_overlap_batch(with, pairs, PAIRS, &all, overlaps));
            for (int n = 0; n < PAIRS; ++n) {
                const carom_balls_pair *m = &pairs[n];
                carom_balls_query_def def = {m->scale_a, m->scale_b, estimate != 0};
                carom_packing_overlap o;
                assert_ok(with,
                          carom_balls_overlap(with, m->a, &m->pose_a, m->b, &m->pose_b, &def, &o));
                assert_same(&overlaps[n], &o);
            }
        }
        assert_ok(with, carom_balls_overlap_batch(with, NULL, 0, NULL, NULL));
        pairs[7].scale_a = -1.0;
        assert_fails(with, carom_balls_overlap_batch(with, pairs, PAIRS, NULL, overlaps),
                     CAROM_BAD_INPUT, "pair 7");
        pairs[7].scale_a = 0.0;
        carom_context_destroy(with);
    }
    for (int i = 0; i < OBJECTS; ++i) {
        carom_balls_destroy(balls[i]);
        carom_packing_destroy(p[i]);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Arrays of two grids are the same. */
static void assert_same_grid(const carom_balls *a, const carom_balls *b) {
    const carom_balls_view *v = &a->grid.view, *w = &b->grid.view;
    assert_int_equal(v->count, w->count);
    assert_memory_equal(v->spheres, w->spheres, v->count * sizeof(*v->spheres));
    assert_int_equal(v->table.bucket_count, w->table.bucket_count);
    assert_memory_equal(v->starts, w->starts, (v->table.bucket_count + 1u) * sizeof(*v->starts));
    assert_memory_equal(v->blocks, w->blocks,
                        v->starts[v->table.bucket_count] * sizeof(*v->blocks));
}

static void updates_equal_new_grids(void **state) {
    (void)state;
    carom_random random = {26};
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        carom_context *with = test_context(threads);
        carom_packing *first = packing_random(with, &random, 200, 1.0);
        carom_balls *balls = balls_of(with, first, NULL);
        for (int n = 0; n < TEST_CASES(60); ++n) {
            carom_packing *next = packing_random(with, &random, 1 + 10 * ((uint32_t)n % 40), 1.0);
            uint64_t count = next->info.spheres;
            carom_packing_sphere *spheres = malloc(count * sizeof(*spheres));
            assert_non_null(spheres);
            memcpy(spheres, next->spheres, count * sizeof(*spheres));
            for (uint64_t i = 0; i < count && n % 2 == 0; ++i) { /* tenfold radii, moved */
                double by = carom_random_between(&random, 0.5, 10.0);
                spheres[i].radius *= by;
                spheres[i].cover *= by;
                spheres[i].secondary *= by;
                spheres[i].centre.x += 3.0;
            }
            memcpy(next->spheres, spheres, count * sizeof(*spheres));
            assert_ok(with, carom_balls_update(with, balls, spheres, count, next->info.volume));
            assert_valid(carom_balls_validate(balls));
            carom_balls *made = balls_of(with, next, NULL);
            assert_same_grid(balls, made);
            carom_pose pose = packing_random_pose(&random, 1.0);
            check_all(with, next, balls, NULL, next, made, &pose, 0.0, 0.0);
            carom_balls_destroy(made);
            /* What fails changes nothing. */
            spheres[count / 2].cover = 0.0;
            assert_fails(with, carom_balls_update(with, balls, spheres, count, 0.0),
                         CAROM_BAD_INPUT, "cover");
            check_all(with, next, balls, NULL, next, balls, &pose, 0.0, 0.0);
            free(spheres);
            carom_packing_destroy(next);
        }
        assert_fails(with, carom_balls_update(with, balls, NULL, 0, 0.0), CAROM_BAD_INPUT,
                     "no spheres");
        carom_balls_destroy(balls);
        carom_packing_destroy(first);
        carom_context_destroy(with);
    }
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Inner pairs of packings of solids keep to Theorem 3.2, and the bound is not far off. */
static void bounds_hold_and_mean_something(void **state) {
    (void)state;
    carom_packing *p = packing_of_shape(context, CAROM_SHAPE_KNOT, 0, SPHERES, NULL);
    carom_balls *balls = balls_of(context, p, NULL);
    carom_random random = {27};
    for (int kind = 0; kind < CAROM_BALLS_PAIR_KIND_COUNT; ++kind) {
        carom_balls_most most;
        uint64_t worst = 0, count;
        assert_ok(context, carom_balls_bound(context, balls, balls, (carom_balls_pair_kind)kind,
                                             NULL, &most));
        assert_int_equal(most.disjoint, 27 * 2 * p->info.spheres);
        for (int n = 0; n < TEST_CASES(40); ++n) {
            carom_pose pose = packing_random_pose(&random, 0.05 * n);
            assert_ok(context, carom_balls_count(context, balls, NULL, balls, n == 0 ? NULL : &pose,
                                                 (carom_balls_pair_kind)kind, NULL, &count));
            if (kind == CAROM_BALLS_PAIR_KIND_INNER) assert_true(count <= most.disjoint);
            worst = CAROM_MAX(count, worst);
        }
        assert_true(worst <= most.pairs && most.pairs <= 50 * worst);
    }
    carom_balls_destroy(balls);
    carom_packing_destroy(p);
}

/* ---- Memory and input ------------------------------------------------------------------------ */

static carom_status create_and_query(carom_allocator allocator, void *argument) {
    const carom_packing *packing = argument;
    carom_context *with = NULL;
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_status status = carom_context_create(&def, &with);
    carom_balls *balls = NULL;
    carom_packing_overlap o;
    carom_pairs pairs = {0};
    carom_balls_def perfect = {packing, {.hash = CAROM_GRID_HASH_PERFECT}};
    if (status == CAROM_OK) status = carom_balls_create(with, &perfect, &balls);
    if (status == CAROM_OK)
        status = carom_balls_update(with, balls, packing->spheres, packing->info.spheres, 0.0);
    if (status == CAROM_OK) status = carom_balls_overlap(with, balls, NULL, balls, NULL, NULL, &o);
    if (status == CAROM_OK)
        status = carom_balls_pairs(with, balls, NULL, balls, NULL, CAROM_BALLS_PAIR_KIND_SECONDARY,
                                   NULL, &pairs);
    carom_balls_pair pair = {.a = balls, .b = balls};
    if (status == CAROM_OK) status = carom_balls_overlap_batch(with, &pair, 1, false, &o);
    carom_pairs_free(&pairs);
    carom_balls_destroy(balls);
    carom_context_destroy(with);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    carom_random random = {28};
    carom_packing *packing = packing_random(context, &random, 90, 1.0);
    test_allocation_failures(create_and_query, packing);
    carom_packing_destroy(packing);
}

typedef struct listener {
    int calls, cancel_at;
} listener;

static bool listen(void *user, const char *what, double fraction) {
    listener *l = user;
    (void)what, (void)fraction;
    return ++l->calls == l->cancel_at;
}

/* One of the calls that take time. */
static carom_status long_call(carom_context *with, int which, const carom_packing *p,
                              carom_balls *balls, carom_pairs *pairs) {
    carom_packing_overlap o, three[3];
    carom_balls *made = NULL;
    carom_balls_most most;
    carom_balls_def def = {p, {.hash = CAROM_GRID_HASH_PERFECT}};
    carom_balls_pair batch[3] = {{.a = balls, .b = balls}, {.a = balls, .b = balls}};
    batch[2] = batch[1];
    carom_status status;
    switch (which) {
    case 0:
        status = carom_balls_create(with, &def, &made);
        assert_true((status == CAROM_OK) == (made != NULL));
        carom_balls_destroy(made);
        return status;
    case 1:
        return carom_balls_update(with, balls, p->spheres, p->info.spheres, p->info.volume);
    case 2:
        return carom_balls_overlap(with, balls, NULL, balls, NULL, NULL, &o);
    case 3:
        return carom_balls_overlap_batch(with, batch, 3, NULL, three);
    case 4:
        return carom_balls_pairs(with, balls, NULL, balls, NULL, CAROM_BALLS_PAIR_KIND_COVER, NULL,
                                 pairs);
    default:
        return carom_balls_bound(with, balls, balls, CAROM_BALLS_PAIR_KIND_COVER, NULL, &most);
    }
}

static void calls_can_be_cancelled(void **state) {
    (void)state;
    carom_random random = {32};
    test_memory memory = {0};
    listener l = {0, 0};
    carom_context_def def = {.threads = 1,
                             .allocator = test_allocator(&memory),
                             .progress = listen,
                             .progress_user = &l,
                             .progress_interval = -1.0};
    carom_context *with;
    assert_ok(NULL, carom_context_create(&def, &with));
    carom_packing *p = packing_random(context, &random, 300, 1.0);
    carom_balls *balls = balls_of(with, p, NULL);
    carom_pairs pairs = {0};
    for (int which = 0; which < 6; ++which) {
        carom_status status = CAROM_CANCELLED;
        for (l.cancel_at = 1; status != CAROM_OK; ++l.cancel_at) {
            l.calls = 0;
            status = long_call(with, which, p, balls, &pairs);
            assert_true(status == CAROM_OK || status == CAROM_CANCELLED);
            assert_true(l.cancel_at < 100);
            assert_valid(carom_balls_validate(balls));
        }
        assert_true(l.cancel_at > 2); /* it was cancelled once at least */
        l.cancel_at = 0;
        check_all(with, p, balls, NULL, p, balls, NULL, 0.0, 0.0);
    }
    carom_pairs_free(&pairs);
    carom_balls_destroy(balls);
    carom_packing_destroy(p);
    carom_context_destroy(with);
    assert_int_equal(memory.live, 0);
}

static void warm_queries_allocate_nothing(void **state) {
    (void)state;
    carom_random random = {29};
    for (uint32_t threads = 1; threads <= 2; ++threads) {
        carom_context *with = test_context(threads);
        carom_packing *p = packing_random(with, &random, 200, 1.0);
        carom_balls *balls = balls_of(with, p, NULL);
        carom_packing_overlap o;
        uint64_t before = 0;
        for (int n = 0; n < 12; ++n) {
            carom_pose pose = packing_random_pose(&random, 0.1);
            if (n == 8) before = test_malloc_count();
            assert_ok(with, carom_balls_overlap(with, balls, NULL, balls, &pose, NULL, &o));
            assert_ok(with, carom_balls_update(with, balls, p->spheres, p->info.spheres, 0.0));
        }
        if (threads == 1) assert_int_equal(test_malloc_count(), before);
        carom_balls_destroy(balls);
        carom_packing_destroy(p);
        carom_context_destroy(with);
    }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    carom_packing_sphere s = {.radius = 1.0, .secondary = 1.0, .cover = 1.0};
    carom_packing *p = packing_of_spheres(context, &s, 1, 4.0);
    carom_balls *balls = balls_of(context, p, NULL), *none = NULL;
    carom_packing_overlap o;
    carom_balls_def bad = {p, {.cell_scale = 100.0}};
    assert_fails(context, carom_balls_create(context, &bad, &none), CAROM_BAD_INPUT, "cell_scale");
    assert_null(none);
    carom_balls_query_def def = {.scale_a = -1.0};
    assert_fails(context, carom_balls_overlap(context, balls, NULL, balls, NULL, &def, &o),
                 CAROM_BAD_INPUT, "scale");
    carom_pose pose = {{1, 0, 0, 0}, {(double)NAN, 0, 0}};
    assert_fails(context, carom_balls_overlap(context, balls, &pose, balls, NULL, NULL, &o),
                 CAROM_BAD_INPUT, "pose");
    assert_fails(context, carom_balls_update(context, balls, &s, 1, (double)NAN), CAROM_BAD_INPUT,
                 "volume");
    s.centre.x = HUGE_VAL;
    assert_fails(context, carom_balls_update(context, balls, &s, 1, 0.0), CAROM_BAD_INPUT,
                 "finite");
    carom_packing without = *p;
    without.info.shares = false;
    bad = (carom_balls_def){.packing = &without};
    assert_fails(context, carom_balls_create(context, &bad, &none), CAROM_BAD_INPUT, "shares");
    carom_balls_destroy(balls);
    carom_packing_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_packings),
        cmocka_unit_test(extreme_poses),
        cmocka_unit_test(packings_of_solids),
        cmocka_unit_test(results_have_golden_hashes),
        cmocka_unit_test(pairs_are_those_of_all_with_all),
        cmocka_unit_test(many_are_one_by_one),
        cmocka_unit_test(updates_equal_new_grids),
        cmocka_unit_test(bounds_hold_and_mean_something),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(calls_can_be_cancelled),
        cmocka_unit_test(warm_queries_allocate_nothing),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
