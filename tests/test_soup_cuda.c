/* SPDX-License-Identifier: MIT */
/* Soups on the GPU give the CPU's pairs, byte for byte: lattice soups, every shape, polygons,
 * segments, poses, changes; from host memory, from device memory and as recorded frames. Skipped
 * where there is no device; only what needs none is then tested. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#define LATTICES 3000

TEST_BACKENDS

/* ---- both backends --------------------------------------------------------------------------- */

typedef struct both {
    carom_soup *cpu, *cuda;
} both;

static both make(const carom_soup_def *def) {
    both b;
    assert_ok(cpu, carom_soup_create(cpu, def, &b.cpu));
    assert_ok(cuda, carom_soup_create(cuda, def, &b.cuda));
    return b;
}

static void destroy(both *b) {
    carom_soup_destroy(b->cpu);
    carom_soup_destroy(b->cuda);
}

static void assert_same(const carom_pairs *expected, const carom_pairs *found) {
    assert_int_equal(found->count, expected->count);
    for (uint64_t i = 0; i < expected->count; ++i)
        if (found->data[i].a != expected->data[i].a || found->data[i].b != expected->data[i].b)
            fail_msg("pair %llu is (%u, %u), not (%u, %u)", (unsigned long long)i, found->data[i].a,
                     found->data[i].b, expected->data[i].a, expected->data[i].b);
}

typedef struct stream {
    const carom_pairs *expected;
    uint64_t at;
} stream;

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    stream *s = user;
    assert_true(s->at + count <= s->expected->count);
    assert_memory_equal(pairs, s->expected->data + s->at, count * sizeof(*pairs));
    s->at += count;
    return false;
}

/* All queries of one soup, or of two. */
static void assert_self_same(const both *b) {
    static carom_pairs expected, found;
    uint64_t count;
    bool any;
    assert_ok(cpu, carom_soup_self_pairs(cpu, b->cpu, &expected));
    assert_ok(cuda, carom_soup_self_pairs(cuda, b->cuda, &found));
    assert_same(&expected, &found);
    assert_ok(cuda, carom_soup_self_count(cuda, b->cuda, &count));
    assert_int_equal(count, expected.count);
    assert_ok(cuda, carom_soup_self_meet(cuda, b->cuda, &any));
    assert_int_equal(any, expected.count != 0);
    stream s = {&expected, 0};
    assert_ok(cuda, carom_soup_self_each(cuda, b->cuda, receive, &s));
    assert_int_equal(s.at, expected.count);
}

static void assert_cross_same(const both *a, const carom_pose *pose_a, const both *b,
                              const carom_pose *pose_b) {
    static carom_pairs expected, found;
    uint64_t count;
    bool any;
    assert_ok(cpu, carom_soup_cross_pairs(cpu, a->cpu, pose_a, b->cpu, pose_b, &expected));
    assert_ok(cuda, carom_soup_cross_pairs(cuda, a->cuda, pose_a, b->cuda, pose_b, &found));
    assert_same(&expected, &found);
    assert_ok(cuda, carom_soup_cross_count(cuda, a->cuda, pose_a, b->cuda, pose_b, &count));
    assert_int_equal(count, expected.count);
    assert_ok(cuda, carom_soup_cross_meet(cuda, a->cuda, pose_a, b->cuda, pose_b, &any));
    assert_int_equal(any, expected.count != 0);
    stream s = {&expected, 0};
    assert_ok(cuda, carom_soup_cross_each(cuda, a->cuda, pose_a, b->cuda, pose_b, receive, &s));
    assert_int_equal(s.at, expected.count);
}

static carom_pose random_pose(carom_random *random, double far) {
    carom_pose pose = {{carom_random_normal(random), carom_random_normal(random),
                        carom_random_normal(random), carom_random_normal(random)},
                       {carom_random_between(random, -far, far),
                        carom_random_between(random, -far, far),
                        carom_random_between(random, -far, far)}};
    return pose;
}

/* ---- lattice soups --------------------------------------------------------------------------- */

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    carom_random random = {2016};
    const double scales[] = {1.0, 0x1p-140, 0x1p130, 3.0, 0x1p-1000, 0x1p900};
    for (int i = 0; i < TEST_CASES(LATTICES); ++i) {
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        double scale = i % 3 == 0 ? scales[i / 3 % (int)COUNT_OF(scales)] : 1.0;
        lattice_move(&one, 0.0, scale);
        lattice_move(&two, 0.0, scale);
        bool floats = i % 2 == 0 && scale == 1.0;
        carom_soup_def def = {
            .mesh = (carom_mesh_view[]){floats ? lattice_view_floats(&one) : lattice_view(&one)},
            .degenerate =
                i % 4 == 3 ? CAROM_SOUP_DEGENERATE_AS_SEGMENT : CAROM_SOUP_DEGENERATE_ALONE,
            .fan = i % 5 == 0};
        both a = make(&def);
        def.mesh =
            (carom_mesh_view[]){floats || (i % 7 == 0 && scale == 1.0) ? lattice_view_floats(&two)
                                                                       : lattice_view(&two)};
        both b = make(&def);
        assert_self_same(&a);
        if (i % 3 == 1) { /* the same by grid, of every hash and density */
            def.method = CAROM_SOUP_METHOD_GRID;
            def.grid = (carom_grid_def){.hash = (carom_grid_hash)(i / 3 % 3),
                                        .buckets = i % 2 == 0 ? 0 : 1u + (uint32_t)i % 20u,
                                        .cell_scale = i % 5 == 0 ? 0.5 : 0.0};
            destroy(&b);
            b = make(&def);
            assert_self_same(&b);
        }
        assert_cross_same(&a, NULL, &b, NULL);
        carom_pose pose = random_pose(&random, 2.0 * scale);
        if (isfinite(4.0 * scale)) assert_cross_same(&a, NULL, &b, &pose);
        destroy(&a);
        destroy(&b);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {7};
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 4; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .polygons = variant % 2 == 1,
                                           .scalar = variant < 2 ? CAROM_SCALAR_FLOAT32
                                                                 : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both a = make(&def);
            assert_self_same(&a);
            assert_cross_same(&a, NULL, &a, NULL);
            for (int i = 0; i < 3; ++i) {
                carom_pose pose_a = random_pose(&random, 0.3), pose_b = random_pose(&random, 0.3);
                assert_cross_same(&a, &pose_a, &a, &pose_b);
            }
            def.method = CAROM_SOUP_METHOD_GRID;
            both by_grid = make(&def);
            assert_self_same(&by_grid);
            carom_pose pose = random_pose(&random, 0.3);
            assert_cross_same(&by_grid, NULL, &a, &pose);
            destroy(&by_grid);
            destroy(&a);
            carom_mesh_destroy(mesh);
        }
}

/* The pairs of shapes as hashes: a machine without a device checks its side of the comparison. */
static void hashes_are_golden(void **state) {
    (void)state;
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int crossed = 0; crossed < 2; ++crossed) {
            char name[64];
            carom_pairs pairs = {0};
            const carom_shape_def shape = {.shape = (carom_shape)s, .scalar = CAROM_SCALAR_FLOAT32};
            const carom_pose pose = {{1.0, 0.25, -0.5, 0.125}, {0.0625, -0.125, 0.25}};
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            snprintf(name, sizeof(name), "%s-%s", carom_shape_name((carom_shape)s),
                     crossed != 0 ? "cross" : "self");
            for (int device = 0; device < (cuda != NULL ? 2 : 1); ++device) {
                carom_context *context = device == 0 ? cpu : cuda;
                carom_soup *soup;
                assert_ok(context, carom_soup_create(context, &def, &soup));
                if (crossed != 0)
                    assert_ok(context,
                              carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs));
                else
                    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
                test_golden("soup_cuda.txt", name,
                            test_hash(pairs.data, pairs.count * sizeof(*pairs.data), pairs.count));
                carom_soup_destroy(soup);
            }
            carom_pairs_free(&pairs);
            carom_mesh_destroy(mesh);
        }
}

/* Lists that outgrow their first sizes, and faces with very many partners. */
static void dense_inputs_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { TRIANGLES = 1500 };
    static float positions[3 * TRIANGLES][3];
    static uint32_t corners[3 * TRIANGLES];
    carom_random random = {99};
    for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) {
        corners[i] = i;
        for (int k = 0; k < 3; ++k)
            positions[i][k] = (float)carom_random_between(&random, -1.0, 1.0);
    }
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = positions,
                                                     .scalar = CAROM_SCALAR_FLOAT32,
                                                     .vertex_count = 3 * TRIANGLES,
                                                     .corners = corners,
                                                     .face_count = TRIANGLES}};
    both dense = make(&def);
    assert_self_same(&dense);
    destroy(&dense);
    for (int k = 0; k < 3; ++k) positions[0][k] = k == 0 ? -1e6f : 0.1f; /* a giant triangle */
    positions[1][0] = 1e6f;
    positions[2][1] = 1e6f;
    for (uint32_t i = 3; i < 3 * TRIANGLES; ++i)
        for (int k = 0; k < 3; ++k) positions[i][k] *= i % 3 == 0 ? 1.0f : 1.01f;
    both giant = make(&def);
    assert_self_same(&giant);
    destroy(&giant);
}

/* Two contexts with work under way at once, on streams of their own. */
static void contexts_do_not_disturb_each_other(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_context_def def = {.backend = CAROM_BACKEND_CUDA, .threads = 1};
    carom_context *other;
    carom_soup *soups[2];
    carom_cuda_pairs pairs[2] = {{0}, {0}};
    uint64_t expected[2];
    assert_ok(NULL, carom_context_create(&def, &other));
    carom_context *contexts[2] = {cuda, other};
    for (int i = 0; i < 2; ++i) {
        const carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                                       .detail = 60u + 40u * (unsigned)i};
        carom_mesh_view view = {0};
        carom_soup_def of_soup = {.mesh = &view};
        carom_soup *on_cpu;
        carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
        assert_ok(contexts[i], carom_soup_create(contexts[i], &of_soup, &soups[i]));
        assert_ok(cpu, carom_soup_create(cpu, &of_soup, &on_cpu));
        assert_ok(cpu, carom_soup_self_count(cpu, on_cpu, &expected[i]));
        carom_soup_destroy(on_cpu);
        carom_mesh_destroy(mesh);
    }
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 2; ++i) /* each searches the soup of the other now and then */
            assert_ok(contexts[i], carom_cuda_soup_self_pairs(contexts[i], soups[(i + round) % 2],
                                                              CAROM_CUDA_ORDER_ANY, &pairs[i]));
        for (int i = 0; i < 2; ++i) {
            assert_ok(contexts[i], carom_cuda_finish(contexts[i]));
            assert_int_equal(pairs[i].count, expected[(i + round) % 2]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        carom_cuda_pairs_free(contexts[i], &pairs[i]);
        carom_soup_destroy(soups[i]);
    }
    carom_context_destroy(other);
}

/* Several searches queued at once, whose pairs are sorted after all of them are done. */
static void queued_searches_keep_their_pairs(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { SOUPS = 3 };
    both soups[SOUPS];
    carom_cuda_pairs pairs[SOUPS] = {{0}};
    carom_pairs expected = {0}, found = {0};
    for (int i = 0; i < SOUPS; ++i) {
        const carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                                       .polygons = true,
                                       .seed = (uint64_t)i,
                                       .detail = 40u + 10u * (unsigned)i};
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view};
        carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
        soups[i] = make(&def);
        carom_mesh_destroy(mesh);
    }
    for (int i = 0; i < SOUPS; ++i)
        assert_ok(cuda, carom_cuda_soup_self_pairs(cuda, soups[i].cuda, CAROM_CUDA_ORDER_SORTED,
                                                   &pairs[i]));
    assert_ok(cuda, carom_cuda_finish(cuda));
    for (int i = 0; i < SOUPS; ++i) {
        assert_ok(cpu, carom_soup_self_pairs(cpu, soups[i].cpu, &expected));
        assert_true(expected.count != 0);
        found.count = found.capacity = pairs[i].count;
        found.data = malloc(pairs[i].count * sizeof(carom_pair) + 1);
        assert_non_null(found.data);
        assert_ok(cuda, carom_cuda_read(cuda, found.data, pairs[i].data,
                                        pairs[i].count * sizeof(carom_pair)));
        assert_same(&expected, &found);
        free(found.data);
        carom_cuda_pairs_free(cuda, &pairs[i]);
        destroy(&soups[i]);
    }
    carom_pairs_free(&expected);
}

static void nothing_is_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    carom_soup_def def = {0};
    both none = make(&def);
    def.mesh = &(carom_mesh_view){
        .positions = corner, .vertex_count = 3, .corners = corners, .face_count = 1};
    both one = make(&def);
    assert_self_same(&none);
    assert_self_same(&one);
    assert_cross_same(&none, NULL, &none, NULL);
    assert_cross_same(&none, NULL, &one, NULL);
    assert_cross_same(&one, NULL, &none, NULL);
    assert_cross_same(&one, NULL, &one, NULL);
    destroy(&none);
    destroy(&one);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup, more;
    carom_random random = {5};
    for (int i = 0; i < TEST_CASES(200); ++i) {
        lattice_make(&random, &soup);
        carom_mesh_view mesh_view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &mesh_view};
        both b = make(&def);
        carom_soup_info info, info_cuda;
        for (int change = 0; change < 6; ++change) {
            assert_ok(cpu, carom_soup_get_info(b.cpu, &info));
            if (change % 3 == 0 && change == 0) {
                lattice_shake(&random, &soup);
                mesh_view = lattice_view(&soup);
                assert_ok(cpu, carom_soup_update(cpu, b.cpu, &mesh_view));
                assert_ok(cuda, carom_soup_update(cuda, b.cuda, &mesh_view));
            } else if (change % 3 == 1) {
                uint32_t first, first_cuda;
                lattice_make(&random, &more);
                carom_mesh_view view =
                    change == 1 ? lattice_view_floats(&more) : lattice_view(&more);
                assert_ok(cpu, carom_soup_add(cpu, b.cpu, &view, &first));
                assert_ok(cuda, carom_soup_add(cuda, b.cuda, &view, &first_cuda));
                assert_int_equal(first, first_cuda);
            } else {
                uint32_t face = (uint32_t)(carom_random_next(&random) % info.faces);
                assert_ok(cpu, carom_soup_remove(cpu, b.cpu, &face, 1));
                assert_ok(cuda, carom_soup_remove(cuda, b.cuda, &face, 1));
            }
            assert_self_same(&b);
            assert_ok(cpu, carom_soup_get_info(b.cpu, &info));
            assert_ok(cuda, carom_soup_get_info(b.cuda, &info_cuda));
            assert_int_equal(info.live, info_cuda.live);
            assert_int_equal(info.degenerate_faces, info_cuda.degenerate_faces);
        }
        destroy(&b);
    }
}

/* ---- device memory and frames ---------------------------------------------------------------- */

static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { CLOTHS = 3 };
    carom_mesh *meshes[CLOTHS];
    carom_mesh_view views[CLOTHS];
    carom_cuda_positions on_device[CLOTHS];
    void *positions[CLOTHS];
    carom_cuda_frame *frames[CLOTHS];
    carom_cuda_pairs sorted = {0}, any = {0};
    carom_pairs expected = {0}, found = {0};
    for (int i = 0; i < CLOTHS; ++i) {
        const carom_shape_def shape = {
            .shape = CAROM_SHAPE_CLOTH, .seed = (uint64_t)i, .scalar = CAROM_SCALAR_FLOAT32};
        meshes[i] = shape_mesh(cpu, &shape, &views[i]);
        uint64_t bytes = views[i].vertex_count * 3 * sizeof(float);
        assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &positions[i]));
        assert_ok(cuda, carom_cuda_write(cuda, positions[i], views[i].positions, bytes));
        on_device[i] = (carom_cuda_positions){positions[i], views[i].scalar, views[i].vertex_count};
    }
    carom_soup_def def = {.mesh = &views[0]};
    both b = make(&def);
    for (int i = 0; i < CLOTHS; ++i) {
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &on_device[i]));
        assert_ok(cuda, carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_SORTED, &sorted));
        assert_ok(cuda, carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_ANY, &any));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frames[i]));
    }
    for (int round = 0; round < 30; ++round) {
        int i = round * 7 % CLOTHS;
        bool as_frame = round % 4 != 3;
        if (as_frame) {
            assert_ok(cuda, carom_cuda_frame_run(cuda, frames[i]));
        } else {
            assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &on_device[i]));
            assert_ok(cuda,
                      carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_SORTED, &sorted));
        }
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &views[i]));
        assert_ok(cpu, carom_soup_self_pairs(cpu, b.cpu, &expected));
        found.count = found.capacity = sorted.count;
        found.data = malloc(sorted.count * sizeof(carom_pair) + 1);
        assert_non_null(found.data);
        assert_ok(cuda, carom_cuda_read(cuda, found.data, sorted.data,
                                        sorted.count * sizeof(carom_pair)));
        assert_same(&expected, &found);
        free(found.data);
        if (as_frame) assert_int_equal(any.count, expected.count);
    }
    /* faces added after an update in device memory: its positions are not lost */
    uint32_t first;
    assert_ok(cuda, carom_soup_add(cuda, b.cuda, &views[1], &first));
    assert_ok(cpu, carom_soup_add(cpu, b.cpu, &views[1], &first));
    assert_self_same(&b);
    for (int i = 0; i < CLOTHS; ++i) {
        carom_cuda_frame_destroy(frames[i]);
        carom_cuda_release(cuda, positions[i]);
        carom_mesh_destroy(meshes[i]);
    }
    carom_cuda_pairs_free(cuda, &sorted);
    carom_cuda_pairs_free(cuda, &any);
    carom_pairs_free(&expected);
    destroy(&b);
}

/* Triangles that all cross each other, or with `apart` none. */
#define CROSSED 400u
static void crossed_triangles(bool apart, float (*xyz)[3]) {
    for (uint32_t i = 0; i < CROSSED; ++i) {
        float angle = (float)i * 0.0078f, up = apart ? 10.0f * (float)i : 0.0f;
        float c = 1.0f - 0.5f * angle * angle, s = angle - angle * angle * angle / 6.0f;
        const float corners[3][3] = {{c, s, up}, {-c, -s, up}, {0.0f, 0.0f, up + 1.0f}};
        memcpy(xyz[3 * i], corners, sizeof(corners));
    }
}

/* A search that has to be repeated sees the positions that it was queued with: those of an update
 * queued after it are not there yet. */
static void repeated_searches_see_their_positions(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static float crossed[3 * CROSSED][3], apart[3 * CROSSED][3];
    static uint32_t corners[3 * CROSSED];
    for (uint32_t i = 0; i < 3 * CROSSED; ++i) corners[i] = i;
    crossed_triangles(false, crossed);
    crossed_triangles(true, apart);
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = crossed,
                                                     .scalar = CAROM_SCALAR_FLOAT32,
                                                     .vertex_count = 3 * CROSSED,
                                                     .corners = corners,
                                                     .face_count = CROSSED}};
    /* lists of a new context are short */
    carom_context *fresh = test_context_cuda(1);
    carom_soup *soup;
    void *memory;
    carom_cuda_pairs before = {0}, after = {0}, none = {0};
    carom_cuda_frame *frame;
    assert_ok(fresh, carom_soup_create(fresh, &def, &soup));
    assert_ok(fresh, carom_cuda_allocate(fresh, sizeof(apart), &memory));
    assert_ok(fresh, carom_cuda_write(fresh, memory, apart, sizeof(apart)));
    const carom_cuda_positions positions = {memory, CAROM_SCALAR_FLOAT32, 3 * CROSSED};
    assert_ok(fresh, carom_cuda_soup_self_pairs(fresh, soup, CAROM_CUDA_ORDER_SORTED, &before));
    assert_ok(fresh, carom_cuda_soup_update(fresh, soup, &positions));
    assert_ok(fresh, carom_cuda_soup_self_pairs(fresh, soup, CAROM_CUDA_ORDER_SORTED, &after));
    assert_ok(fresh, carom_cuda_finish(fresh));
    assert_int_equal(before.count, CROSSED * (CROSSED - 1) / 2);
    assert_int_equal(after.count, 0);
    /* A frame could not be repeated either. */
    assert_ok(fresh, carom_cuda_frame_begin(fresh));
    assert_ok(fresh, carom_cuda_soup_self_pairs(fresh, soup, CAROM_CUDA_ORDER_ANY, &none));
    assert_fails(fresh, carom_cuda_soup_update(fresh, soup, &positions), CAROM_UNSUPPORTED,
                 "record the change first");
    assert_ok(fresh, carom_cuda_frame_end(fresh, &frame));
    assert_ok(fresh, carom_cuda_frame_run(fresh, frame));
    assert_ok(fresh, carom_cuda_soup_update(fresh, soup, &positions));
    assert_ok(fresh, carom_cuda_finish(fresh));
    assert_int_equal(none.count, 0);
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(fresh, &before);
    carom_cuda_pairs_free(fresh, &after);
    carom_cuda_pairs_free(fresh, &none);
    carom_cuda_release(fresh, memory);
    carom_soup_destroy(soup);
    carom_context_destroy(fresh);
}

/* A frame with an update that runs after an update of the host: what is then added or copied has
 * the positions of the frame. */
static void frames_run_after_updates_of_the_host(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { CLOTHS = 3 };
    carom_mesh *meshes[CLOTHS];
    carom_mesh_view views[CLOTHS];
    carom_cuda_frame *frame;
    carom_cuda_pairs pairs = {0};
    void *memory;
    for (int i = 0; i < CLOTHS; ++i) {
        const carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                                       .detail = 12,
                                       .seed = (uint64_t)i,
                                       .scalar = CAROM_SCALAR_FLOAT32};
        meshes[i] = shape_mesh(cpu, &shape, &views[i]);
    }
    uint64_t bytes = views[1].vertex_count * 3 * sizeof(float);
    both b = make(&(carom_soup_def){.mesh = &views[0]});
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, views[1].positions, bytes));
    const carom_cuda_positions positions = {memory, views[1].scalar, views[1].vertex_count};
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &positions));
    assert_ok(cuda, carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_SORTED, &pairs));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    assert_self_same(&b); /* a frame that has not run has changed nothing */
    assert_ok(cuda, carom_soup_update(cuda, b.cuda, &views[2]));
    assert_ok(cpu, carom_soup_update(cpu, b.cpu, &views[2]));
    assert_self_same(&b);
    assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cpu, carom_soup_update(cpu, b.cpu, &views[1]));
    assert_self_same(&b);
    carom_soup_gap gaps[2]; /* of soups in contact, from the copy that the soup keeps */
    assert_ok(cuda,
              carom_soup_cross_distance(cuda, b.cuda, NULL, b.cuda, NULL, INFINITY, &gaps[1]));
    assert_ok(cpu, carom_soup_cross_distance(cpu, b.cpu, NULL, b.cpu, NULL, INFINITY, &gaps[0]));
    assert_memory_equal(&gaps[0], &gaps[1], sizeof(gaps[0]));
    uint32_t first;
    assert_ok(cuda, carom_soup_add(cuda, b.cuda, &views[0], &first));
    assert_ok(cpu, carom_soup_add(cpu, b.cpu, &views[0], &first));
    assert_self_same(&b);
    assert_fails(cuda, carom_cuda_frame_run(cuda, frame), CAROM_BAD_INPUT, "record the frame anew");
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &pairs);
    carom_cuda_release(cuda, memory);
    for (int i = 0; i < CLOTHS; ++i) carom_mesh_destroy(meshes[i]);
    destroy(&b);
}

/* A frame recorded for positions in floats does not read them as doubles. */
static void frames_keep_their_scalar(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static float crossed[3 * CROSSED][3];
    static double doubles[3 * CROSSED][3];
    static uint32_t corners[3 * CROSSED];
    for (uint32_t i = 0; i < 3 * CROSSED; ++i) corners[i] = i;
    crossed_triangles(true, crossed);
    for (uint32_t i = 0; i < 9 * CROSSED; ++i)
        doubles[i / 3][i % 3] = (double)crossed[i / 3][i % 3];
    const carom_mesh_view view = {.positions = crossed,
                                  .scalar = CAROM_SCALAR_FLOAT32,
                                  .vertex_count = 3 * CROSSED,
                                  .corners = corners,
                                  .face_count = CROSSED};
    const carom_mesh_view twice = {.positions = doubles, .vertex_count = 3 * CROSSED};
    carom_soup *soup;
    carom_cuda_frame *frame;
    carom_cuda_pairs pairs = {0};
    void *memory;
    assert_ok(cuda, carom_soup_create(cuda, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(crossed), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, crossed, sizeof(crossed)));
    const carom_cuda_positions positions = {memory, CAROM_SCALAR_FLOAT32, 3 * CROSSED};
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, carom_cuda_soup_update(cuda, soup, &positions));
    assert_ok(cuda, carom_cuda_soup_self_pairs(cuda, soup, CAROM_CUDA_ORDER_ANY, &pairs));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_soup_update(cuda, soup, &twice));
    assert_fails(cuda, carom_cuda_frame_run(cuda, frame), CAROM_BAD_INPUT,
                 "1200 vertices of float32");
    assert_ok(cuda, carom_cuda_finish(cuda));
    crossed_triangles(false, crossed);
    const carom_mesh_view floats = {
        .positions = crossed, .scalar = CAROM_SCALAR_FLOAT32, .vertex_count = 3 * CROSSED};
    assert_ok(cuda, carom_soup_update(cuda, soup, &floats));
    assert_ok(cuda, carom_cuda_write(cuda, memory, crossed, sizeof(crossed)));
    assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_int_equal(pairs.count, CROSSED * (CROSSED - 1) / 2);
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &pairs);
    carom_cuda_release(cuda, memory);
    carom_soup_destroy(soup);
}

static void bad_positions_are_reported(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    float positions[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = positions,
                                                     .scalar = CAROM_SCALAR_FLOAT32,
                                                     .vertex_count = 3,
                                                     .corners = corners,
                                                     .face_count = 1}};
    carom_soup *soup;
    void *memory;
    uint64_t count;
    assert_ok(cuda, carom_soup_create(cuda, &def, &soup));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(positions), &memory));
    positions[1][2] = NAN;
    assert_ok(cuda, carom_cuda_write(cuda, memory, positions, sizeof(positions)));
    carom_cuda_positions view = {memory, def.mesh->scalar, def.mesh->vertex_count};
    assert_ok(cuda, carom_cuda_soup_update(cuda, soup, &view));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "not finite");
    positions[1][2] = 0.0f;
    assert_ok(cuda, carom_cuda_write(cuda, memory, positions, sizeof(positions)));
    assert_ok(cuda, carom_cuda_soup_update(cuda, soup, &view));
    assert_ok(cuda, carom_soup_self_count(cuda, soup, &count));
    assert_int_equal(count, 0);
    const carom_pose far = {{1, 0, 0, 0}, {DBL_MAX, 0, 0}}, nan = {{1, 0, 0, 0}, {NAN, 0, 0}};
    assert_ok(cuda, carom_soup_cross_count(cuda, soup, &far, soup, NULL, &count));
    assert_fails(cuda, carom_soup_cross_count(cuda, soup, &nan, soup, NULL, &count),
                 CAROM_BAD_INPUT, "finite");
    view.count = 2;
    assert_fails(cuda, carom_cuda_soup_update(cuda, soup, &view), CAROM_BAD_INPUT, "3 vertices");
    carom_cuda_release(cuda, memory);
    carom_soup_destroy(soup);
}

/* ---- what the GPU cannot do ------------------------------------------------------------------ */

static void the_rest_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_soup *soup, *grid, *other;
    uint64_t bound;
    carom_pairs pairs = {0};
    const carom_soup_def by_grid = {.method = CAROM_SOUP_METHOD_GRID,
                                    .grid = {.hash = CAROM_GRID_HASH_PERFECT}};
    assert_fails(cuda, carom_soup_create(cuda, &by_grid, &grid), CAROM_UNSUPPORTED, "perfect");
    assert_null(grid);
    assert_ok(cuda, carom_soup_create(cuda, NULL, &soup));
    assert_ok(cpu, carom_soup_create(cpu, NULL, &other));
    assert_fails(cuda, carom_soup_self_bound(cuda, soup, &bound), CAROM_UNSUPPORTED, "cuda");
    assert_fails(cpu, carom_soup_self_pairs(cpu, soup, &pairs), CAROM_UNSUPPORTED, "made on cuda");
    assert_fails(cuda, carom_soup_self_pairs(cuda, other, &pairs), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cuda, carom_soup_cross_pairs(cuda, soup, NULL, other, NULL, &pairs),
                 CAROM_UNSUPPORTED, "made on cpu");
    carom_soup_destroy(soup);
    carom_soup_destroy(other);
}

static bool append(void *user, const carom_pair *pairs, uint64_t count) {
    carom_pairs *all = user;
    assert_true(all->count + count <= all->capacity);
    memcpy(all->data + all->count, pairs, count * sizeof(*pairs));
    all->count += count;
    return false;
}

/* A mesh that is searched in parts, by the GPU and by the CPU. */
static void parts_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static carom_pair space[2][200000];
    carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH, .detail = 100};
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(cpu, carom_shape_make(cpu, &cloth, &mesh));
    assert_ok(cpu, carom_mesh_get_view(mesh, &view));
    for (int i = 0; i < 12; ++i) {
        carom_pairs expected = {.data = space[0], .capacity = 200000};
        carom_pairs found = {.data = space[1], .capacity = 200000};
        carom_parts_def def = {.a.mesh = &view,
                               .b.mesh = &view,
                               .memory = CAROM_PARTS_LEAST_MEMORY,
                               .part_faces = i % 3 == 0 ? 0 : 700,
                               .cross = i % 4 == 1,
                               .pose_b.t.x = 0.1,
                               .boxes = i % 4 == 3,
                               .within = i % 4 == 2,
                               .reach = 0.002};
        assert_ok(cpu, carom_parts_pairs(cpu, &def, append, &expected, NULL));
        assert_ok(cuda, carom_parts_pairs(cuda, &def, append, &found, NULL));
        assert_true(expected.count != 0);
        assert_same(&expected, &found);
    }
    carom_mesh_destroy(mesh);
}

static void without_a_device_calls_say_so(void **state) {
    (void)state;
    void *memory;
    carom_cuda_frame *frame;
    carom_cuda_steps steps;
    assert_fails(cpu, carom_cuda_finish(cpu), CAROM_UNSUPPORTED, "backend cuda");
    assert_fails(cpu, carom_cuda_allocate(cpu, 1, &memory), CAROM_UNSUPPORTED, "backend cuda");
    assert_fails(cpu, carom_cuda_frame_begin(cpu), CAROM_UNSUPPORTED, "backend cuda");
    assert_fails(cpu, carom_cuda_frame_end(cpu, &frame), CAROM_UNSUPPORTED, "backend cuda");
    assert_fails(cpu, carom_cuda_set_timing(cpu, true), CAROM_UNSUPPORTED, "backend cuda");
    test_asserts_begin(); /* a getter leaves no message */
    assert_int_equal(carom_cuda_get_steps(cpu, &steps), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 1);
    assert_null(memory);
    assert_null(frame);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(hashes_are_golden),
        cmocka_unit_test(dense_inputs_are_the_same),
        cmocka_unit_test(queued_searches_keep_their_pairs),
        cmocka_unit_test(nothing_is_the_same),
        cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(repeated_searches_see_their_positions),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(frames_run_after_updates_of_the_host),
        cmocka_unit_test(frames_keep_their_scalar),
        cmocka_unit_test(bad_positions_are_reported),
        cmocka_unit_test(parts_are_the_same),
        cmocka_unit_test(the_rest_is_refused),
        cmocka_unit_test(contexts_do_not_disturb_each_other),
        cmocka_unit_test(without_a_device_calls_say_so),
    };
    return cmocka_run_group_tests_name("soup_cuda", tests, set_up, tear_down);
}
