/* SPDX-License-Identifier: MIT */
/* Convex bodies on the GPU give the CPU's results, byte for byte: all kinds of shapes, hulls small
 * and large, at all scales, apart, touching and deep, with every start, search and hint; from host
 * memory and from device memory. Skipped where there is no device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/test.h"

#define BODIES 400u
#define PAIRS  3000u
#define ROUNDS 60

TEST_BACKENDS

static uint64_t compared, overlapping;

static int report(void **state) {
    print_message("%llu results compared, %llu of overlapping pairs\n",
                  (unsigned long long)compared, (unsigned long long)overlapping);
    return tear_down(state);
}

/* ---- shapes and poses ------------------------------------------------------------------------ */

#define HULLS 8u
static carom_hull *hulls[HULLS];

/* Made with the context of the device; the CPU can use them, too. */
static void make_hulls(carom_random *random) {
    static const uint32_t sizes[HULLS] = {1, 2, 4, 8, 32, 97, 300, 1500};
    static carom_vec3 points[1500];
    for (uint32_t h = 0; h < HULLS; ++h) {
        for (uint32_t i = 0; i < sizes[h]; ++i) {
            double x = carom_random_normal(random), y = carom_random_normal(random);
            double z = carom_random_normal(random), length = sqrt(x * x + y * y + z * z);
            points[i] = (carom_vec3){x / length, y / length, z / length};
            if (h == 3) /* a cube, whose faces are coplanar */
                points[i] = (carom_vec3){i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        }
        const carom_hull_def def = {
            .mesh = &(carom_mesh_view){.positions = points, .vertex_count = sizes[h]}};
        assert_ok(cuda, carom_hull_create(cuda, &def, &hulls[h]));
    }
}

static void free_hulls(void) {
    for (uint32_t h = 0; h < HULLS; ++h) carom_hull_destroy(hulls[h]);
}

static carom_convex random_shape(carom_random *random, double size) {
    carom_convex s = {
        .kind = (carom_convex_kind)(carom_random_next(random) % CAROM_CONVEX_KIND_SUPPORT)};
    if (carom_random_next(random) % 3 == 0) s.kind = CAROM_CONVEX_KIND_HULL;
    s.half = (carom_vec3){size * carom_random_between(random, 0.2, 1.0),
                          size * carom_random_between(random, 0.2, 1.0),
                          size * carom_random_between(random, 0.2, 1.0)};
    if (carom_random_next(random) % 8 == 0) s.half.z = 0.0;
    s.radius = size * carom_random_between(random, 0.1, 1.0);
    s.half_height = size * carom_random_between(random, 0.0, 1.0);
    if (carom_random_next(random) % 4 == 0)
        s.margin = size * carom_random_between(random, 0.0, 0.3);
    if (s.kind == CAROM_CONVEX_KIND_HULL)
        s.borrowed_hull = hulls[carom_random_next(random) % HULLS];
    return s;
}

static carom_pose random_pose(carom_random *random, double far) {
    carom_pose p = {{carom_random_normal(random), carom_random_normal(random),
                     carom_random_normal(random), carom_random_normal(random)},
                    {carom_random_between(random, -far, far),
                     carom_random_between(random, -far, far),
                     carom_random_between(random, -far, far)}};
    uint64_t kind = carom_random_next(random) % 8;
    if (kind == 0) p.q = (carom_quat){0, 0, 0, 0};
    if (kind == 1) p.t = (carom_vec3){0, 0, 0};
    if (kind == 2) p.t = (carom_vec3){rint(p.t.x), rint(p.t.y), 0};
    return p;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Bodies and the pairs of them that are tested. */
typedef struct body {
    const carom_convex *shape;
    carom_pose pose;
} body;

enum { MEET, DISTANCE, DEPTH, QUESTIONS };
static const char *const question_names[QUESTIONS] = {"meet", "distance", "depth"};

static void assert_same(const carom_convex_result *expected, const carom_convex_result *found,
                        const carom_convex_pair *posed_pairs, uint64_t count, int question) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_convex_result *e = &expected[i], *f = &found[i];
        overlapping += e->relation == CAROM_RELATION_OVERLAPPING ? 1 : 0;
        if (memcmp(e, f, sizeof(*e)) == 0) continue;
        fail_msg("question %s, pair %llu of %s and %s: %s %.17g %.17g error %g, %u iterations, %u "
                 "supports; not %s %.17g %.17g error %g, %u, %u",
                 question_names[question], (unsigned long long)i,
                 carom_convex_kind_name(posed_pairs[i].a->kind),
                 carom_convex_kind_name(posed_pairs[i].b->kind), carom_relation_name(f->relation),
                 f->distance, f->depth, f->error, f->iterations, f->supports,
                 carom_relation_name(e->relation), e->distance, e->depth, e->error, e->iterations,
                 e->supports);
    }
    compared += count;
}

static carom_convex shapes[BODIES];
static body bodies[BODIES];
static carom_pair pairs[PAIRS];
static carom_convex_pair posed_pairs[2][PAIRS]; /* of the CPU and of the device */
static carom_convex_hint hints[2][PAIRS];

static carom_convex_query_def make_batch(carom_random *random, int round) {
    static const double scales[] = {1.0, 1.0, 1.0, 1e-30, 1e30, 1e-290, 1e280};
    double scale = scales[round % (int)COUNT_OF(scales)];
    for (uint32_t i = 0; i < BODIES; ++i) {
        shapes[i] = random_shape(random, scale);
        bodies[i] = (body){&shapes[i % 7 == 0 ? i / 2 : i],
                           random_pose(random, scale * (round % 3 == 0 ? 0.7 : 2.5))};
    }
    for (uint32_t i = 0; i < PAIRS; ++i)
        pairs[i] = (carom_pair){(uint32_t)(carom_random_next(random) % BODIES),
                                (uint32_t)(carom_random_next(random) % BODIES)};
    return (carom_convex_query_def){
        .start = (carom_convex_start)(round / 3 % CAROM_CONVEX_START_COUNT),
        .search = (carom_convex_search)(round / 2 % CAROM_CONVEX_SEARCH_COUNT)};
}

/* Queries both, and compares. */
static void query_both(const carom_convex_query_def *def, int question, bool hinted) {
    static carom_convex_result results[2][PAIRS];
    static bool meet[2][PAIRS];
    carom_context *contexts[2] = {cpu, cuda};
    for (int k = 0; k < 2; ++k) {
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const body *a = &bodies[pairs[i].a], *b = &bodies[pairs[i].b];
            posed_pairs[k][i] = (carom_convex_pair){a->shape, b->shape, a->pose, b->pose,
                                                    hinted ? &hints[k][i] : NULL};
        }
        memset(results[k], k == 0 ? 0xA5 : 0x5A, sizeof(results[k]));
        if (question == MEET)
            assert_ok(contexts[k],
                      carom_convex_meet_batch(contexts[k], posed_pairs[k], PAIRS, def, meet[k]));
        else
            assert_ok(contexts[k], (question == DISTANCE ? carom_convex_distance_batch
                                                         : carom_convex_depth_batch)(
                                       contexts[k], posed_pairs[k], PAIRS, def, results[k]));
    }
    if (question == MEET) {
        assert_memory_equal(meet[0], meet[1], sizeof(meet[0]));
        compared += PAIRS;
    } else {
        assert_same(results[0], results[1], posed_pairs[0], PAIRS, question);
    }
    if (hinted) assert_memory_equal(hints[0], hints[1], sizeof(hints[0]));
}

static void batches_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {2025};
    make_hulls(&random);
    for (int round = 0; round < TEST_CASES(ROUNDS); ++round) {
        carom_convex_query_def def = make_batch(&random, round);
        bool hinted = round % 4 == 3;
        memset(hints, 0, sizeof(hints));
        for (int turn = 0; turn < (hinted ? 3 : 1); ++turn) {
            query_both(&def, round % QUESTIONS, hinted);
            for (uint32_t i = 0; hinted && i < BODIES; ++i) /* a little farther on */
                bodies[i].pose.t.x += 1e-3 * fabs(bodies[i].pose.t.x);
        }
    }
    free_hulls();
}

/* All pairs of small hulls alone: the kernel that knows of nothing else. */
static void small_hulls_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {4};
    make_hulls(&random);
    for (int round = 0; round < TEST_CASES(ROUNDS); ++round) {
        carom_convex_query_def def = make_batch(&random, round);
        for (uint32_t i = 0; i < BODIES; ++i)
            shapes[i] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL,
                                       .borrowed_hull = hulls[carom_random_next(&random) % 5],
                                       .margin = i % 5 == 0 ? 0.1 : 0.0};
        for (uint32_t i = 0; i < BODIES; ++i) bodies[i].pose = random_pose(&random, 1.4);
        query_both(&def, round % QUESTIONS, false);
    }
    free_hulls();
}

static void single_pairs_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {55};
    make_hulls(&random);
    for (int i = 0; i < TEST_CASES(300); ++i) {
        carom_convex a = random_shape(&random, 1.0), b = random_shape(&random, 1.0);
        carom_pose pose = random_pose(&random, 1.5);
        carom_convex_result expected, found;
        bool meet[2];
        memset(&expected, 0, sizeof(expected));
        assert_ok(cpu, carom_convex_depth(cpu, &a, NULL, &b, &pose, NULL, &expected));
        assert_ok(cuda, carom_convex_depth(cuda, &a, NULL, &b, &pose, NULL, &found));
        assert_memory_equal(&expected, &found, sizeof(found));
        assert_ok(cpu, carom_convex_distance(cpu, &a, &pose, &b, NULL, NULL, &expected));
        assert_ok(cuda, carom_convex_distance(cuda, &a, &pose, &b, NULL, NULL, &found));
        assert_memory_equal(&expected, &found, sizeof(found));
        assert_ok(cpu, carom_convex_meet(cpu, &a, &pose, &b, NULL, NULL, &meet[0]));
        assert_ok(cuda, carom_convex_meet(cuda, &a, &pose, &b, NULL, NULL, &meet[1]));
        assert_int_equal(meet[0], meet[1]);
        compared += 3;
    }
    free_hulls();
}

/* ---- contact points -------------------------------------------------------------------------- */

#define PRISM_SIDES 40u

/* A prism, whose ends have very many corners. */
static carom_hull *make_prism(void) {
    carom_vec3 points[2 * PRISM_SIDES];
    carom_hull *prism;
    for (uint32_t i = 0; i < PRISM_SIDES; ++i) {
        double angle = 2.0 * 3.14159265358979 * i / PRISM_SIDES;
        points[i] = (carom_vec3){cos(angle), sin(angle), -0.5};
        points[PRISM_SIDES + i] = (carom_vec3){cos(angle), sin(angle), 0.5};
    }
    const carom_hull_def def = {
        .mesh = &(carom_mesh_view){.positions = points, .vertex_count = 2 * PRISM_SIDES}};
    assert_ok(cuda, carom_hull_create(cuda, &def, &prism));
    return prism;
}

/* Bodies whose faces lie on each other: lengths of halves, turns by right angles, and a little off.
 */
static void make_piles(carom_random *random, carom_hull *prism, double scale) {
    for (uint32_t i = 0; i < BODIES; ++i) {
        shapes[i] = random_shape(random, scale);
        if (i % 3 == 0) shapes[i].kind = CAROM_CONVEX_KIND_BOX;
        for (double *h = &shapes[i].half.x; h <= &shapes[i].half.z; ++h)
            *h = scale * 0.25 * (double)(carom_random_next(random) % 5);
        if (i % 5 == 1)
            shapes[i] = (carom_convex){
                .kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hulls[3], .margin = 0};
        if (i % 7 == 2)
            shapes[i] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = prism};
        carom_pose pose = {.q = {1.0, (double)(carom_random_next(random) % 3) - 1.0,
                                 (double)(carom_random_next(random) % 3) - 1.0, 0.0}};
        for (double *t = &pose.t.x; t <= &pose.t.z; ++t)
            *t = scale * 0.5 * (double)(carom_random_next(random) % 5);
        if (i % 4 == 0) pose.t.z *= 1.0 + carom_random_between(random, -1e-3, 1e-3);
        if (i % 11 == 0) pose = random_pose(random, scale);
        bodies[i] = (body){&shapes[i], pose};
    }
    for (uint32_t i = 0; i < PAIRS; ++i)
        pairs[i] = (carom_pair){(uint32_t)(carom_random_next(random) % BODIES),
                                (uint32_t)(carom_random_next(random) % BODIES)};
}

static void *to_device(const void *from, uint64_t bytes) {
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, from, bytes));
    return memory;
}

/* The manifolds of all pairs, from device memory. */
static void manifolds_of(double reach, const carom_convex_query_def *def,
                         carom_convex_manifold *found) {
    static carom_pose poses[BODIES];
    static uint32_t shape_of[BODIES];
    for (uint32_t i = 0; i < BODIES; ++i) {
        poses[i] = bodies[i].pose;
        shape_of[i] = (uint32_t)(bodies[i].shape - shapes);
    }
    const carom_cuda_convex_shapes_def of_shapes = {.shapes = shapes, .count = BODIES};
    carom_cuda_convex_bodies on_device = {.count = BODIES};
    carom_cuda_convex_manifolds manifolds = {0};
    carom_cuda_convex_shapes *prepared;
    assert_ok(cuda, carom_cuda_convex_shapes_create(cuda, &of_shapes, &prepared));
    void *memory[3] = {to_device(poses, sizeof(poses)), to_device(shape_of, sizeof(shape_of)),
                       to_device(pairs, sizeof(pairs))};
    on_device.shapes = prepared;
    on_device.poses = memory[0];
    on_device.shape_of = memory[1];
    const carom_cuda_pairs given = {.data = memory[2], .count = PAIRS, .capacity = PAIRS};
    assert_ok(cuda,
              carom_cuda_convex_contacts_batch(cuda, &on_device, &given, reach, def, &manifolds));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_int_equal(manifolds.count, PAIRS);
    assert_ok(cuda, carom_cuda_read(cuda, found, manifolds.data, PAIRS * sizeof(*found)));
    carom_cuda_convex_manifolds_free(cuda, &manifolds);
    carom_cuda_convex_shapes_destroy(prepared);
    for (int i = 0; i < 3; ++i) carom_cuda_release(cuda, memory[i]);
}

static void contact_points_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const double scales[] = {1.0, 1.0, 1e-100, 1e100, 1e-290, 1e280};
    static carom_convex_manifold found[PAIRS];
    uint64_t by_count[CAROM_CONVEX_MOST_CONTACTS + 1] = {0};
    carom_random random = {1974};
    make_hulls(&random);
    carom_hull *prism = make_prism();
    for (int round = 0; round < TEST_CASES(ROUNDS); ++round) {
        double scale = scales[round % (int)COUNT_OF(scales)];
        double reach = round % 3 == 0 ? 0.0 : round % 3 == 1 ? 0.1 * scale : 3.0 * scale;
        const carom_convex_query_def def = {
            .search = (carom_convex_search)(round / 2 % CAROM_CONVEX_SEARCH_COUNT)};
        make_piles(&random, prism, scale);
        manifolds_of(reach, &def, found);
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const body *a = &bodies[pairs[i].a], *b = &bodies[pairs[i].b];
            carom_convex_manifold expected, single;
            assert_ok(cpu, carom_convex_contacts(cpu, a->shape, &a->pose, b->shape, &b->pose, reach,
                                                 &def, &expected));
            if (memcmp(&expected, &found[i], sizeof(expected)) != 0)
                fail_msg("round %d, pair %u of %s and %s: %u points, not %u", round, i,
                         carom_convex_kind_name(a->shape->kind),
                         carom_convex_kind_name(b->shape->kind), found[i].count, expected.count);
            ++by_count[expected.count];
            ++compared;
            if (i % 64 != 0) continue;
            assert_ok(cuda, carom_convex_contacts(cuda, a->shape, &a->pose, b->shape, &b->pose,
                                                  reach, &def, &single));
            assert_memory_equal(&expected, &single, sizeof(single));
        }
    }
    for (uint32_t k = 0; k <= CAROM_CONVEX_MOST_CONTACTS; ++k) assert_true(by_count[k] != 0);
    carom_hull_destroy(prism);
    free_hulls();
}

/* ---- device memory: boxes to contacts -------------------------------------------------------- */

static void the_pipeline_is_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 3000, SHAPES = 40 };
    static carom_pose poses[COUNT];
    static uint32_t shape_of[COUNT];
    static carom_bounds boxes[COUNT];
    static body all[COUNT];
    carom_random random = {808};
    make_hulls(&random);
    for (uint32_t i = 0; i < SHAPES; ++i) shapes[i] = random_shape(&random, 1.0);
    for (uint32_t i = 0; i < COUNT; ++i) {
        poses[i] = random_pose(&random, 9.0);
        for (double *t = &poses[i].t.x; t <= &poses[i].t.z; ++t)
            if (*t == 0.0) *t = carom_random_between(&random, -9.0, 9.0);
        shape_of[i] = (uint32_t)(carom_random_next(&random) % SHAPES);
        all[i] = (body){&shapes[shape_of[i]], poses[i]};
    }
    carom_cuda_convex_bodies on_device = {.count = COUNT};
    carom_cuda_convex_shapes *prepared;
    const carom_cuda_convex_shapes_def of_shapes = {.shapes = shapes, .count = SHAPES};
    assert_ok(cuda, carom_cuda_convex_shapes_create(cuda, &of_shapes, &prepared));
    on_device.shapes = prepared;
    void *memory[3] = {to_device(poses, sizeof(poses)), to_device(shape_of, sizeof(shape_of)),
                       to_device(boxes, sizeof(boxes))};
    on_device.poses = memory[0];
    on_device.shape_of = memory[1];
    carom_broad *broad;
    const carom_broad_def def = {.boxes = boxes, .box_count = COUNT};
    carom_cuda_pairs device_pairs = {0};
    carom_cuda_convex_results results = {0};
    carom_cuda_frame *frame;
    assert_ok(cuda, carom_broad_create(cuda, &def, &broad));
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, carom_cuda_convex_boxes(cuda, &on_device, memory[2]));
    assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory[2], COUNT));
    assert_ok(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_SORTED, &device_pairs));
    assert_ok(cuda, carom_cuda_convex_depth_batch(cuda, &on_device, &device_pairs, NULL, &results));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    uint64_t met = 0;
    for (int run = 0; run < 3; ++run) {
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_int_equal(results.count, device_pairs.count);
        assert_true(results.count > COUNT / 4);
        uint64_t count = results.count;
        carom_pair *list = malloc(count * sizeof(*list));
        carom_convex_result *found = malloc(count * sizeof(*found));
        carom_convex_result *expected = malloc(count * sizeof(*expected));
        carom_convex_pair *of_list = calloc(count, sizeof(*of_list));
        assert_true(list != NULL && found != NULL && expected != NULL && of_list != NULL);
        assert_ok(cuda, carom_cuda_read(cuda, list, device_pairs.data, count * sizeof(*list)));
        assert_ok(cuda, carom_cuda_read(cuda, found, results.data, count * sizeof(*found)));
        for (uint64_t i = 0; i < count; ++i)
            of_list[i] = (carom_convex_pair){.a = all[list[i].a].shape,
                                             .b = all[list[i].b].shape,
                                             .pose_a = all[list[i].a].pose,
                                             .pose_b = all[list[i].b].pose};
        assert_ok(cpu, carom_convex_depth_batch(cpu, of_list, count, NULL, expected));
        assert_same(expected, found, of_list, count, DEPTH);
        met = 0;
        for (uint64_t i = 0; i < count; ++i)
            met += expected[i].relation != CAROM_RELATION_APART ? 1 : 0;
        free(list);
        free(found);
        free(expected);
        free(of_list);
    }
    /* pairs of a finished call */
    uint64_t bytes = results.count * sizeof(carom_convex_result), were = results.count;
    carom_convex_result *before = malloc(bytes), *after = malloc(bytes);
    assert_true(before != NULL && after != NULL);
    assert_ok(cuda, carom_cuda_read(cuda, before, results.data, bytes));
    assert_ok(cuda, carom_cuda_convex_depth_batch(cuda, &on_device, &device_pairs, NULL, &results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_int_equal(results.count, were);
    assert_ok(cuda, carom_cuda_read(cuda, after, results.data, bytes));
    assert_memory_equal(before, after, bytes);
    free(before);
    free(after);
    /* no pair that meets is missing: all pairs, by the CPU */
    carom_cuda_read(cuda, boxes, memory[2], sizeof(boxes));
    uint64_t intersecting = 0;
    for (uint32_t a = 0; a < COUNT; ++a)
        for (uint32_t b = a + 1; b < COUNT; ++b) {
            double x = poses[a].t.x - poses[b].t.x, y = poses[a].t.y - poses[b].t.y;
            double z = poses[a].t.z - poses[b].t.z;
            bool meet = false; /* no shape reaches farther than 2.8 from its origin */
            if (x * x + y * y + z * z > 32.0) continue;
            assert_ok(cpu, carom_convex_meet(cpu, all[a].shape, &poses[a], all[b].shape, &poses[b],
                                             NULL, &meet));
            intersecting += meet ? 1 : 0;
        }
    assert_int_equal(met, intersecting);
    /* what only the device sees */
    poses[3].t.y = NAN;
    assert_ok(cuda, carom_cuda_write(cuda, memory[0], poses, sizeof(poses)));
    assert_ok(cuda, carom_cuda_convex_boxes(cuda, &on_device, memory[2]));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 bodies");
    const carom_pair wrong = {1, COUNT};
    void *own = to_device(&wrong, sizeof(wrong));
    const carom_cuda_pairs given = {.data = own, .count = 1, .capacity = 1};
    assert_ok(cuda, carom_cuda_convex_meet_batch(cuda, &on_device, &given, NULL, &results));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "not there");
    carom_cuda_release(cuda, own);
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &device_pairs);
    carom_cuda_convex_results_free(cuda, &results);
    for (int i = 0; i < 3; ++i) carom_cuda_release(cuda, memory[i]);
    carom_cuda_convex_shapes_destroy(prepared);
    carom_broad_destroy(broad);
    free_hulls();
}

#define SCATTERED 1200u

static carom_pose scattered_poses[SCATTERED];
static uint32_t scattered_shape_of[SCATTERED];
static const carom_convex scattered_shapes[2] = {
    {.kind = CAROM_CONVEX_KIND_BOX, .half = {100.0, 100.0, 1.0}},
    {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0},
};

/* Spheres on a plate, scattered over it. */
static void scatter(void) {
    for (uint32_t i = 1; i < SCATTERED; ++i) {
        uint32_t at = i * 7919u % SCATTERED;
        scattered_shape_of[i] = 1;
        scattered_poses[i].t =
            (carom_vec3){2.5 * (at % 40) - 50.0, 2.5 * (at / 40) - 50.0, 1.5 + 1e-4 * i};
    }
}

/* Results of pairs in order, which are here too, with their depths in manifolds. */
static void check_scattered(const carom_cuda_pairs *in_order,
                            const carom_cuda_convex_results *distances,
                            const carom_cuda_convex_manifolds *manifolds) {
    static carom_pair list[2 * SCATTERED];
    static carom_convex_pair of_list[2 * SCATTERED];
    static carom_convex_result found[2 * SCATTERED], expected[2 * SCATTERED];
    static carom_convex_manifold contacts[2 * SCATTERED];
    uint64_t count = in_order->count;
    assert_true(count >= SCATTERED - 1 && count <= 2 * SCATTERED);
    assert_true(distances->count == count && manifolds->count == count);
    assert_ok(cuda, carom_cuda_read(cuda, list, in_order->data, count * sizeof(*list)));
    for (uint64_t i = 0; i < count; ++i) {
        assert_true(i == 0 || list[i - 1].a < list[i].a ||
                    (list[i - 1].a == list[i].a && list[i - 1].b < list[i].b));
        of_list[i] = (carom_convex_pair){.a = &scattered_shapes[scattered_shape_of[list[i].a]],
                                         .b = &scattered_shapes[scattered_shape_of[list[i].b]],
                                         .pose_a = scattered_poses[list[i].a],
                                         .pose_b = scattered_poses[list[i].b]};
    }
    memset(expected, 0, sizeof(expected));
    assert_ok(cuda, carom_cuda_read(cuda, found, distances->data, count * sizeof(*found)));
    assert_ok(cpu, carom_convex_distance_batch(cpu, of_list, count, NULL, expected));
    assert_same(expected, found, of_list, count, DISTANCE);
    assert_ok(cuda, carom_cuda_read(cuda, contacts, manifolds->data, count * sizeof(*contacts)));
    for (uint64_t i = 0; i < count; ++i) found[i] = contacts[i].result;
    assert_ok(cpu, carom_convex_depth_batch(cpu, of_list, count, NULL, expected));
    assert_same(expected, found, of_list, count, DEPTH);
}

/* The pairs of a body with more than 1,024 partners are sorted when the work is finished: what
 * reads them is made anew. */
static void pairs_that_are_sorted_late_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static carom_bounds boxes[SCATTERED];
    carom_cuda_convex_bodies on_device = {.count = SCATTERED};
    carom_cuda_convex_shapes *prepared;
    const carom_cuda_convex_shapes_def of_shapes = {.shapes = scattered_shapes, .count = 2};
    assert_ok(cuda, carom_cuda_convex_shapes_create(cuda, &of_shapes, &prepared));
    scatter();
    void *memory[3] = {to_device(scattered_poses, sizeof(scattered_poses)),
                       to_device(scattered_shape_of, sizeof(scattered_shape_of)),
                       to_device(boxes, sizeof(boxes))};
    on_device.shapes = prepared;
    on_device.poses = memory[0];
    on_device.shape_of = memory[1];
    carom_broad *broad;
    const carom_broad_def def = {.boxes = boxes, .box_count = SCATTERED};
    carom_cuda_pairs in_order = {0};
    carom_cuda_convex_results distances = {0};
    carom_cuda_convex_manifolds manifolds = {0};
    carom_cuda_frame *frame;
    assert_ok(cuda, carom_broad_create(cuda, &def, &broad));
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, carom_cuda_convex_boxes(cuda, &on_device, memory[2]));
    assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory[2], SCATTERED));
    assert_ok(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_SORTED, &in_order));
    assert_ok(cuda,
              carom_cuda_convex_distance_batch(cuda, &on_device, &in_order, NULL, &distances));
    assert_ok(cuda,
              carom_cuda_convex_contacts_batch(cuda, &on_device, &in_order, 1.0, NULL, &manifolds));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    for (int run = 0; run < 2; ++run) {
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        check_scattered(&in_order, &distances, &manifolds);
    }
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &in_order);
    carom_cuda_convex_results_free(cuda, &distances);
    carom_cuda_convex_manifolds_free(cuda, &manifolds);
    for (int i = 0; i < 3; ++i) carom_cuda_release(cuda, memory[i]);
    carom_cuda_convex_shapes_destroy(prepared);
    carom_broad_destroy(broad);
}

/* ---- backends -------------------------------------------------------------------------------- */

static carom_vec3 support(void *user, const carom_vec3 *d) {
    (void)user;
    return (carom_vec3){d->x > 0, 0, 0};
}

static void what_cuda_cannot_do_is_said(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_vec3 point = {1, 2, 3};
    const carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = &point, .vertex_count = 1}};
    carom_hull *hull;
    carom_convex_result result;
    carom_convex_manifold manifold;
    assert_ok(cpu, carom_hull_create(cpu, &def, &hull));
    const carom_convex on_cpu = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull}, ball = {0};
    const carom_convex called = {
        .kind = CAROM_CONVEX_KIND_SUPPORT, .support = support, .support_ball = {{0, 0, 0}, 1.0}};
    assert_fails(cuda, carom_convex_depth(cuda, &on_cpu, NULL, &ball, NULL, NULL, &result),
                 CAROM_UNSUPPORTED, "made on cpu");
    assert_fails(cuda, carom_convex_depth(cuda, &called, NULL, &ball, NULL, NULL, &result),
                 CAROM_UNSUPPORTED, "support function");
    assert_fails(cuda,
                 carom_convex_contacts(cuda, &called, NULL, &ball, NULL, 0.0, NULL, &manifold),
                 CAROM_UNSUPPORTED, "support function");
    assert_fails(cuda, carom_convex_contacts(cuda, &ball, NULL, &ball, NULL, -1.0, NULL, &manifold),
                 CAROM_BAD_INPUT, "reach");
    carom_hull_destroy(hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_the_same),
        cmocka_unit_test(small_hulls_are_the_same),
        cmocka_unit_test(single_pairs_are_the_same),
        cmocka_unit_test(the_pipeline_is_the_same),
        cmocka_unit_test(pairs_that_are_sorted_late_are_the_same),
        cmocka_unit_test(contact_points_are_the_same),
        cmocka_unit_test(what_cuda_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("convex_cuda", tests, set_up, report);
}
