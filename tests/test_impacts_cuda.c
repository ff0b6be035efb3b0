/* SPDX-License-Identifier: MIT */
/* Impacts on the GPU have the CPU's bytes: lattice soups with contact everywhere and of all scales,
 * every shape deformed, two soups, changes, dense motions; all impacts and the first. Skipped where
 * there is no device. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared, impacts_seen, host_items, candidates;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu searches with %llu impacts are those of the CPU; %llu of %llu motions "
                      "were decided on the host\n",
                      (unsigned long long)compared, (unsigned long long)impacts_seen,
                      (unsigned long long)host_items, (unsigned long long)candidates);
    return tear_down(state);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Without padding. */
static bool same_impact(const carom_soup_impact *x, const carom_soup_impact *y) {
    return x->kind == y->kind && x->face_a == y->face_a && x->face_b == y->face_b &&
           memcmp(x->a, y->a, sizeof(x->a)) == 0 && memcmp(x->b, y->b, sizeof(x->b)) == 0 &&
           memcmp(&x->time, &y->time, sizeof(x->time)) == 0;
}

static void assert_same_impact(const char *what, uint64_t at, const carom_soup_impact *found,
                               const carom_soup_impact *expected) {
    if (same_impact(found, expected)) return;
    fail_msg("%s %llu is %d of faces %u and %u in [%.17g, %.17g], not %d of %u and %u in [%.17g, "
             "%.17g]",
             what, (unsigned long long)at, (int)found->kind, found->face_a, found->face_b,
             found->time.lower, found->time.upper, (int)expected->kind, expected->face_a,
             expected->face_b, expected->time.lower, expected->time.upper);
}

static void assert_same_list(const carom_soup_impacts *found, const carom_soup_impacts *expected) {
    carom_work work;
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    for (uint64_t i = 0; i < found->count && i < expected->count; ++i)
        assert_same_impact("impact", i, &found->data[i], &expected->data[i]);
    assert_int_equal(found->count, expected->count);
    ++compared;
    impacts_seen += found->count;
    host_items += work.undecided;
    candidates += work.candidates;
}

static carom_soup_impacts found, expected;

static void assert_self_same(const both *b, const carom_mesh_view *end) {
    carom_soup_impact one, first;
    assert_ok(cpu, carom_soup_self_impacts(cpu, b->cpu, end, &expected));
    assert_ok(cuda, carom_soup_self_impacts(cuda, b->cuda, end, &found));
    assert_same_list(&found, &expected);
    assert_ok(cpu, carom_soup_self_first_impact(cpu, b->cpu, end, &first));
    assert_ok(cuda, carom_soup_self_first_impact(cuda, b->cuda, end, &one));
    assert_same_impact("first impact", 0, &one, &first);
}

static void assert_cross_same(const both *a, const carom_mesh_view *end_a, const both *b,
                              const carom_mesh_view *end_b) {
    carom_soup_impact one, first;
    assert_ok(cpu, carom_soup_cross_impacts(cpu, a->cpu, end_a, b->cpu, end_b, &expected));
    assert_ok(cuda, carom_soup_cross_impacts(cuda, a->cuda, end_a, b->cuda, end_b, &found));
    assert_same_list(&found, &expected);
    assert_ok(cpu, carom_soup_cross_first_impact(cpu, a->cpu, end_a, b->cpu, end_b, &first));
    assert_ok(cuda, carom_soup_cross_first_impact(cuda, a->cuda, end_a, b->cuda, end_b, &one));
    assert_same_impact("first impact", 0, &one, &first);
}

/* ---- Lattice soups --------------------------------------------------------------------------- */

static carom_mesh_view view_of(lattice_soup *soup, bool floats) {
    return floats ? lattice_view_floats(soup) : lattice_view(soup);
}

/* The soup elsewhere, so that every vertex moves by a few units at most. */
static void make_end(carom_random *random, const lattice_soup *soup, int kind, lattice_soup *end) {
    *end = *soup;
    if (kind == 0) lattice_shake(random, end);
    for (uint32_t v = 0; kind != 0 && v < end->vertices; ++v)
        for (int k = 0; k < 3; ++k)
            end->xyz[v][k] += (double)(carom_random_next(random) % 3) - 1.0 + (kind == 2 ? 2.0 : 0);
}

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two, one_end, two_end;
    carom_random random = {81};
    for (int i = 0; i < TEST_CASES(2400); ++i) {
        double scale = both_scale(i);
        double by = i % 7 == 3 ? 0.1 : i % 11 == 1 ? 1e10 : 0.0;
        bool floats = i % 2 == 0 && scale == 1.0 && by == 0.0;
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        make_end(&random, &one, i / 2 % 3, &one_end);
        make_end(&random, &two, i / 4 % 3, &two_end);
        lattice_soup *all[] = {&one, &two, &one_end, &two_end};
        for (int k = 0; k < 4; ++k) lattice_move(all[k], by, scale);
        carom_mesh_view start_a = view_of(&one, floats), start_b = view_of(&two, floats);
        carom_mesh_view end_a =
            view_of(&one_end, floats || (i % 5 == 1 && scale == 1.0 && by == 0));
        carom_mesh_view end_b = view_of(&two_end, floats);
        both a = both_create(cpu, cuda, &(carom_soup_def){.mesh = &start_a, .fan = i % 5 == 0});
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &start_b});
        assert_self_same(&a, &end_a);
        assert_cross_same(&a, &end_a, &b, i % 4 == 1 ? NULL : &end_b);
        assert_cross_same(&b, NULL, &a, &end_a);
        both_destroy(&a);
        both_destroy(&b);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define MOST_VERTICES 200000u
static double moved[MOST_VERTICES][3];
static float moved_floats[MOST_VERTICES][3];

/* Every vertex in a direction of its own, and all of them along x. */
static carom_mesh_view move_view(carom_random *random, const carom_mesh_view *view, double by,
                                 double along) {
    carom_mesh_view end = {.scalar = view->scalar, .vertex_count = view->vertex_count};
    const uint64_t count = view->vertex_count;
    assert_true(count <= MOST_VERTICES);
    for (uint64_t v = 0; v < count; ++v)
        for (int k = 0; k < 3; ++k) {
            uint64_t at = 3 * v + (uint64_t)k;
            double x = view->scalar == CAROM_SCALAR_FLOAT32
                           ? (double)((const float *)view->positions)[at]
                           : ((const double *)view->positions)[at];
            x += carom_random_between(random, -by, by) + (k == 0 ? along : 0.0);
            moved[v][k] = x;
            moved_floats[v][k] = (float)x;
        }
    end.positions = view->scalar == CAROM_SCALAR_FLOAT32 ? (const void *)moved_floats : moved;
    return end;
}

/* The faces of a view at other positions. */
static carom_mesh_view *with_faces(const carom_mesh_view *at, const carom_mesh_view *faces) {
    static carom_mesh_view view;
    view = *faces;
    view.positions = at->positions;
    view.parts = NULL;
    view.part_names = NULL;
    view.part_count = 0;
    return &view;
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {82};
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 4; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .polygons = variant % 2 == 1,
                                           .scalar = variant < 2 ? CAROM_SCALAR_FLOAT32
                                                                 : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
            carom_mesh_view end = move_view(&random, &view, 0.001, 0.03125);
            both other = both_create(cpu, cuda, &(carom_soup_def){.mesh = with_faces(&end, &view)});
            const double by[] = {0.0, 0.002, 0.02};
            for (int i = 0; i < 3; ++i) {
                end = move_view(&random, &view, by[i], 0.0625 * i);
                assert_self_same(&b, &end);
                assert_cross_same(&b, &end, &other, NULL);
            }
            both_destroy(&other);
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

/* ---- A cloth that moves far, lists that grow ------------------------------------------------- */

static void cloths_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {83};
    for (int variant = 0; variant < 2; ++variant) {
        const carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                                       .detail = 100,
                                       .scalar = variant == 0 ? CAROM_SCALAR_FLOAT32
                                                              : CAROM_SCALAR_FLOAT64};
        carom_mesh *mesh;
        carom_mesh_view view;
        assert_ok(cpu, carom_shape_make(cpu, &shape, &mesh));
        assert_ok(cpu, carom_mesh_get_view(mesh, &view));
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        const double edges[] = {0.2, 1.0, 6.0, 40.0};
        for (int i = 0; i < (int)COUNT_OF(edges); ++i) {
            carom_mesh_view end = move_view(&random, &view, edges[i] / 100.0, i == 2 ? 3.0 : 0.0);
            assert_self_same(&b, &end);
        }
        both_destroy(&b);
        carom_mesh_destroy(mesh);
    }
}

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup, end;
    carom_random random = {84};
    for (int i = 0; i < TEST_CASES(200); ++i) {
        lattice_make(&random, &soup);
        carom_mesh_view view = lattice_view(&soup);
        if (view.face_count < 2) continue;
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        for (int change = 0; change < 3; ++change) {
            uint32_t face = (uint32_t)(carom_random_next(&random) % view.face_count);
            lattice_shake(&random, &soup);
            view = lattice_view(&soup);
            if (change > 0) {
                assert_ok(cpu, carom_soup_update(cpu, b.cpu, &view));
                assert_ok(cuda, carom_soup_update(cuda, b.cuda, &view));
            }
            if (change == 1) {
                assert_ok(cpu, carom_soup_remove(cpu, b.cpu, &face, 1));
                assert_ok(cuda, carom_soup_remove(cuda, b.cuda, &face, 1));
            }
            make_end(&random, &soup, change, &end);
            view = lattice_view(&end);
            assert_self_same(&b, &view);
        }
        both_destroy(&b);
    }
}

/* ---- Input and results on the device --------------------------------------------------------- */

typedef struct on_device {
    carom_context *context;
    both soup;
    void *start, *end, *distances;
    carom_cuda_positions starts, ends;
    carom_cuda_impacts impacts, near;
    carom_soup_impact first;
} on_device;

#define DEVICE_REACH 0.02

static on_device make_on_device(carom_context *context, const carom_mesh_view *view,
                                const carom_mesh_view *end) {
    uint64_t size = view->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double);
    uint64_t bytes = 3 * size * view->vertex_count;
    on_device d = {.context = context};
    assert_ok(cpu, carom_soup_create(cpu, &(carom_soup_def){.mesh = view}, &d.soup.cpu));
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = view}, &d.soup.cuda));
    assert_ok(context, carom_cuda_allocate(context, bytes, &d.start));
    assert_ok(context, carom_cuda_allocate(context, bytes, &d.end));
    assert_ok(context,
              carom_cuda_allocate(context, sizeof(double) * view->vertex_count, &d.distances));
    assert_ok(context, carom_cuda_write(context, d.start, view->positions, bytes));
    assert_ok(context, carom_cuda_write(context, d.end, end->positions, bytes));
    d.starts = (carom_cuda_positions){d.start, view->scalar, view->vertex_count};
    d.ends = (carom_cuda_positions){d.end, view->scalar, view->vertex_count};
    return d;
}

static void destroy_on_device(on_device *d) {
    carom_cuda_impacts_free(d->context, &d->impacts);
    carom_cuda_impacts_free(d->context, &d->near);
    carom_cuda_release(d->context, d->start);
    carom_cuda_release(d->context, d->end);
    carom_cuda_release(d->context, d->distances);
    both_destroy(&d->soup);
}

static void assert_device_list(const on_device *d, const carom_cuda_impacts *list,
                               const carom_soup_impact *truth, uint64_t count) {
    carom_soup_impact *read = malloc((list->count + 1) * sizeof(*read));
    assert_non_null(read);
    assert_ok(d->context,
              carom_cuda_read(d->context, read, list->data, list->count * sizeof(*read)));
    for (uint64_t i = 0; i < count && i < list->count; ++i)
        assert_same_impact("result", i, &read[i], &truth[i]);
    assert_int_equal(list->count, count);
    free(read);
}

/* Compares the results of both lists, the first impact and the distances with the CPU's. */
static void assert_device_same(const on_device *d, const carom_mesh_view *end) {
    carom_soup_impact first;
    carom_soup_near_pairs near = {0};
    uint64_t count = d->starts.count;
    double *truth = malloc((count + 1) * sizeof(*truth)),
           *read = malloc((count + 1) * sizeof(*read));
    assert_true(truth != NULL && read != NULL);
    assert_ok(cpu, carom_soup_self_impacts(cpu, d->soup.cpu, end, &expected));
    assert_ok(cpu, carom_soup_self_first_impact(cpu, d->soup.cpu, end, &first));
    assert_ok(cpu, carom_soup_self_near(cpu, d->soup.cpu, DEVICE_REACH, &near));
    assert_ok(cpu, carom_soup_self_safe_distances(cpu, d->soup.cpu, DEVICE_REACH, 0.0, truth));
    assert_device_list(d, &d->impacts, expected.data, expected.count);
    assert_device_list(d, &d->near, (const carom_soup_impact *)(const void *)near.data, near.count);
    assert_same_impact("first impact", 0, &d->first, &first);
    assert_ok(d->context, carom_cuda_read(d->context, read, d->distances, count * sizeof(*read)));
    assert_memory_equal(read, truth, count * sizeof(*read));
    carom_soup_near_pairs_free(&near);
    free(truth);
    free(read);
}

static carom_status queue(on_device *d, int which) {
    carom_status status = carom_cuda_soup_update(d->context, d->soup.cuda, &d->starts);
    if (status != CAROM_OK) return status;
    if (which == 0)
        return carom_cuda_soup_self_impacts(d->context, d->soup.cuda, &d->ends, &d->impacts);
    if (which == 1)
        return carom_cuda_soup_self_first_impact(d->context, d->soup.cuda, &d->ends, &d->first);
    if (which == 2)
        return carom_cuda_soup_self_near(d->context, d->soup.cuda, DEVICE_REACH, &d->near);
    return carom_cuda_soup_self_safe_distances(d->context, d->soup.cuda, DEVICE_REACH, 0.0,
                                               d->distances);
}

static uint64_t scratch_of(carom_context *context) {
    carom_context_info info;
    assert_ok(context, carom_context_get_info(context, &info));
    return info.scratch_bytes;
}

/* Queued one behind the other, then as frames many times without growth, then after all memory was
 * given back. */
static void results_stay_on_the_device(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {85};
    const carom_shape_def shape = {
        .shape = CAROM_SHAPE_CLOTH, .detail = 60, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_cuda_frame *frames[4], *refused;
    assert_ok(cpu, carom_shape_make(cpu, &shape, &mesh));
    assert_ok(cpu, carom_mesh_get_view(mesh, &view));
    carom_mesh_view end = move_view(&random, &view, 0.01, 0.0);
    on_device d = make_on_device(cuda, &view, &end);
    for (int i = 0; i < 4; ++i) assert_ok(cuda, queue(&d, i));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_device_same(&d, &end);
    /* A search that repeats itself does not see an update that was queued after it. */
    carom_soup_impact first = d.first;
    memset(&d.first, 0, sizeof(d.first));
    assert_ok(cuda, queue(&d, 1));
    assert_ok(cuda, carom_cuda_soup_update(cuda, d.soup.cuda, &d.ends));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_same_impact("first impact before an update", 0, &d.first, &first);
    for (int i = 0; i < 4; ++i) {
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, queue(&d, i));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frames[i]));
    }
    uint64_t before = 0;
    for (int round = 0; round < TEST_CASES(10000); ++round) {
        if (round == 3) before = scratch_of(cuda);
        if (round == 5) assert_ok(cuda, carom_context_trim(cuda));
        if (round == 5) assert_int_equal(scratch_of(cuda), 0);
        for (int i = 0; i < 4; ++i) {
            assert_ok(cuda, carom_cuda_frame_run(cuda, frames[i]));
            assert_ok(cuda, carom_cuda_finish(cuda));
        }
        if (round == 0 || round == 5) assert_device_same(&d, &end);
    }
    assert_true(scratch_of(cuda) <= before);
    assert_device_same(&d, &end);
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, queue(&d, 0));
    assert_fails(cuda, carom_cuda_soup_self_near(cuda, d.soup.cuda, DEVICE_REACH, &d.near),
                 CAROM_UNSUPPORTED, "at most one search");
    assert_fails(cuda, queue(&d, 2), CAROM_UNSUPPORTED, "record the change first");
    assert_ok(cuda, carom_cuda_frame_end(cuda, &refused));
    carom_cuda_frame_destroy(refused);
    for (int i = 0; i < 4; ++i) carom_cuda_frame_destroy(frames[i]);
    d.ends.count = 3;
    assert_fails(cuda, queue(&d, 0), CAROM_BAD_INPUT, "its end positions 3");
    destroy_on_device(&d);
    carom_mesh_destroy(mesh);
}

/* Two contexts on threads of their own, each with soups of its own and the other's. */
#define THREAD_ROUNDS 200

typedef struct thread_task {
    carom_context *context;
    carom_soup *soups[2];
    carom_mesh_view ends[2];
    uint64_t counts[2];
    double lower[2];
    bool good;
} thread_task;

static void *run_thread(void *argument) {
    thread_task *t = argument;
    carom_soup_impacts all = {0};
    carom_soup_impact first;
    t->good = true;
    for (int i = 0; i < TEST_CASES(THREAD_ROUNDS * 8) && t->good; ++i) {
        int k = i % 2;
        t->good = carom_soup_self_impacts(t->context, t->soups[k], &t->ends[k], &all) == CAROM_OK &&
                  all.count == t->counts[k] &&
                  carom_soup_self_first_impact(t->context, t->soups[k], &t->ends[k], &first) ==
                      CAROM_OK &&
                  first.time.lower == t->lower[k];
    }
    carom_soup_impacts_free(&all);
    return NULL;
}

static void contexts_run_on_two_threads(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {86};
    static float ends[2][4000][3];
    thread_task tasks[2];
    carom_mesh *meshes[2];
    both soups[2];
    pthread_t threads[2];
    const carom_context_def def = {.backend = CAROM_BACKEND_CUDA, .threads = 1};
    memset(tasks, 0, sizeof(tasks));
    for (int i = 0; i < 2; ++i) {
        const carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                                       .detail = 30u + 20u * (unsigned)i,
                                       .scalar = CAROM_SCALAR_FLOAT32};
        carom_mesh_view view;
        carom_soup_impact first;
        assert_ok(cpu, carom_shape_make(cpu, &shape, &meshes[i]));
        assert_ok(cpu, carom_mesh_get_view(meshes[i], &view));
        assert_true(view.vertex_count <= COUNT_OF(ends[0]));
        carom_mesh_view end = move_view(&random, &view, 0.03, 0.0);
        memcpy(ends[i], end.positions, 3 * sizeof(float) * view.vertex_count);
        end.positions = ends[i];
        soups[i] = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        assert_ok(cpu, carom_soup_self_impacts(cpu, soups[i].cpu, &end, &expected));
        assert_ok(cpu, carom_soup_self_first_impact(cpu, soups[i].cpu, &end, &first));
        for (int k = 0; k < 2; ++k) {
            tasks[k].soups[i] = soups[i].cuda;
            tasks[k].ends[i] = end;
            tasks[k].counts[i] = expected.count;
            tasks[k].lower[i] = first.time.lower;
        }
    }
    for (int k = 0; k < 2; ++k) assert_ok(NULL, carom_context_create(&def, &tasks[k].context));
    for (int k = 0; k < 2; ++k)
        assert_int_equal(pthread_create(&threads[k], NULL, run_thread, &tasks[k]), 0);
    for (int k = 0; k < 2; ++k) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < 2; ++k) {
        assert_true(tasks[k].good);
        carom_context_destroy(tasks[k].context);
        both_destroy(&soups[k]);
        carom_mesh_destroy(meshes[k]);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double at[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double bad[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view view = {
        .positions = at, .vertex_count = 3, .corners = corners, .face_count = 1};
    carom_mesh_view end = {.positions = at, .vertex_count = 4};
    carom_soup_impact one;
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    both none = both_create(cpu, cuda, &(carom_soup_def){0});
    assert_fails(cuda, carom_soup_self_impacts(cuda, b.cuda, &end, &found), CAROM_BAD_INPUT,
                 "has 3 vertices, its end positions 4");
    end = (carom_mesh_view){.positions = bad, .vertex_count = 3};
    bad[1][2] = (double)NAN;
    assert_fails(cuda, carom_soup_self_first_impact(cuda, b.cuda, &end, &one), CAROM_BAD_INPUT,
                 "finite");
    assert_fails(cuda, carom_soup_self_impacts(cuda, b.cpu, &end, &found), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cpu, carom_soup_self_impacts(cpu, b.cuda, &end, &found), CAROM_UNSUPPORTED,
                 "made on cuda");
    bad[1][2] = 0.5;
    assert_self_same(&b, &end);
    assert_cross_same(&b, &end, &none, NULL);
    assert_cross_same(&none, NULL, &none, NULL);
    both_destroy(&b);
    both_destroy(&none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same), cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(cloths_are_the_same),        cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(results_stay_on_the_device), cmocka_unit_test(contexts_run_on_two_threads),
        cmocka_unit_test(bad_input_is_refused),
    };
    int failed = cmocka_run_group_tests_name("impacts_cuda", tests, set_up, report);
    carom_soup_impacts_free(&found);
    carom_soup_impacts_free(&expected);
    return failed;
}
