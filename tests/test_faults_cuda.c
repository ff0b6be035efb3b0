/* SPDX-License-Identifier: MIT */
/* Each allocation of device memory fails once, and the device is lost in each kernel, while scenes
 * with meshes, sphere trees, solids, and points of soups are prepared and searched: a status says
 * so, nothing stays queued that refers to what is destroyed, all memory is given back, and where
 * there is memory again the answers are those of the CPU. Only in the emulator, which has faults on
 * request (CAROM_EMULATED_FAULT). One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "carom/cuda.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static bool emulated(void) {
    char line[256] = "";
    return cuda != NULL && carom_cuda_describe(line, sizeof(line)) &&
           strstr(line, "emulated") != NULL;
}

static void set_fault(const char *kind, unsigned n) {
    char text[32];
    snprintf(text, sizeof(text), "%s %u", kind, n);
    assert_int_equal(setenv("CAROM_EMULATED_FAULT", text, 1), 0);
}

static bool fired(void) {
    const char *text = getenv("CAROM_EMULATED_FAULT");
    return text != NULL && strcmp(text, "fired") == 0;
}

/* ---- What is prepared and searched ----------------------------------------------------------- */

#define MOST_BYTES 65536u

/* Results, one behind the other. */
typedef struct answers {
    unsigned char bytes[MOST_BYTES];
    uint64_t used;
} answers;

static void keep(answers *all, const void *from, uint64_t bytes) {
    assert_true(bytes <= MOST_BYTES - all->used);
    if (bytes != 0) memcpy(all->bytes + all->used, from, (size_t)bytes);
    all->used += bytes;
}

/* All that a scenario may have; what is NULL is not there. */
typedef struct things {
    carom_scene *scene;
    carom_soup *soup;
    carom_solid *solids[2];
    carom_tree *tree;
    carom_scene_contacts contacts;
    carom_soup_ray_hits hits;
} things;

static void destroy_things(things *t) {
    carom_scene_destroy(t->scene);
    carom_soup_destroy(t->soup);
    carom_solid_destroy(t->solids[0]);
    carom_solid_destroy(t->solids[1]);
    carom_tree_destroy(t->tree);
    carom_scene_contacts_free(&t->contacts);
    carom_soup_ray_hits_free(&t->hits);
    *t = (things){0};
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        carom_status status_ = (call);                                                             \
        if (status_ != CAROM_OK) return status_;                                                   \
    } while (0)

static carom_mesh *torus, *grid;
static carom_mesh_view torus_view, grid_view;
static carom_packing *packing;

static carom_status make_scene(carom_context *context, things *t) {
    const carom_pose poses[] = {{{1, 0, 0, 0}, {0.1, 0.2, 0.3}},
                                {{1, 0.5, 0, 0}, {0.4, 0.2, 0.3}},
                                {{1, 0, 0, 0}, {0.2, 0.1, 0.6}},
                                {{1, 0, 0, 0}, {0.3, 0.3, 0.3}}};
    const carom_scene_def def = {.reach = 0.05};
    TRY(carom_scene_create(context, &def, &t->scene));
    TRY(carom_soup_create(context, &(carom_soup_def){.mesh = &grid_view}, &t->soup));
    TRY(carom_solid_create(context, &(carom_solid_def){.mesh = &torus_view}, &t->solids[0]));
    const carom_scene_object_def objects[] = {
        {.kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = t->solids[0], .pose = poses[0]},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = t->solids[0], .pose = poses[1]},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = t->soup, .pose = poses[2]},
        {.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.1, 0.2, 0.1}}, .pose = poses[3]}};
    return carom_scene_add(context, t->scene, objects, COUNT_OF(objects), NULL);
}

static carom_status run_scene(carom_context *context, things *t, answers *found) {
    const uint32_t id = 3;
    const carom_pose poses[2] = {{{1, 0, 0, 0}, {0.3, 0.3, 0.3}},
                                 {{1, 0, 0, 0}, {0.25, 0.35, 0.3}}};
    for (int step = 0; step < 2; ++step) {
        TRY(carom_scene_move(context, t->scene, &id, &poses[step], 1));
        TRY(carom_scene_step(context, t->scene, &t->contacts, NULL, NULL));
        keep(found, t->contacts.data, t->contacts.count * sizeof(*t->contacts.data));
    }
    return CAROM_OK;
}

static carom_status make_tree(carom_context *context, things *t) {
    return carom_tree_create(context, &(carom_tree_def){.packing = packing, .mesh = &torus_view},
                             &t->tree);
}

static carom_status run_tree(carom_context *context, things *t, answers *found) {
    const carom_tree_query_def exact = {.exact_distance = true};
    const carom_pose beside = {{1, 0, 0, 0}, {5, 0, 0}}, in = {{1, 0, 0, 0}, {0.2, 0, 0}};
    carom_tree_result result;
    bool meet;
    TRY(carom_tree_meet(context, t->tree, NULL, t->tree, &in, NULL, &meet));
    keep(found, &meet, sizeof(meet));
    TRY(carom_tree_query(context, t->tree, NULL, t->tree, &beside, &exact, &result));
    keep(found, &result, sizeof(result));
    TRY(carom_tree_query(context, t->tree, NULL, t->tree, &in, &exact, &result));
    keep(found, &result, sizeof(result));
    return CAROM_OK;
}

static carom_status make_solids(carom_context *context, things *t) {
    for (int i = 0; i < 2; ++i)
        TRY(carom_solid_create(context, &(carom_solid_def){.mesh = &torus_view}, &t->solids[i]));
    return CAROM_OK;
}

static carom_status run_solids(carom_context *context, things *t, answers *found) {
    const carom_pose in = {{1, 0.25, 0, 0}, {0.2, 0, 0}};
    const carom_solid_query_def def = {.distance = true};
    carom_solid_result result;
    TRY(carom_solid_overlap(context, t->solids[0], NULL, t->solids[1], &in, &def, &result));
    keep(found, &result, sizeof(result));
    return CAROM_OK;
}

static carom_status make_soup(carom_context *context, things *t) {
    return carom_soup_create(context, &(carom_soup_def){.mesh = &torus_view}, &t->soup);
}

#define QUERIES 40u

static carom_status run_soup(carom_context *context, things *t, answers *found) {
    carom_vec3 points[QUERIES];
    carom_ray rays[QUERIES];
    double distances[QUERIES];
    carom_hit hits[QUERIES];
    for (uint32_t i = 0; i < QUERIES; ++i) {
        points[i] = (carom_vec3){0.125 * (i % 5), 0.125 * (i % 7), 0.0625 * (i % 3)};
        rays[i] = (carom_ray){.origin = points[i], .direction = {1, 0.25 * (i % 3), 0}};
    }
    TRY(carom_soup_signed_distances(context, t->soup, points, QUERIES, distances, hits));
    keep(found, distances, sizeof(distances));
    keep(found, hits, sizeof(hits));
    TRY(carom_soup_query_rays(context, t->soup, rays, QUERIES, &t->hits));
    keep(found, t->hits.data, t->hits.count * sizeof(*t->hits.data));
    return CAROM_OK;
}

typedef struct scenario {
    const char *name;
    carom_status (*make)(carom_context *context, things *t);
    carom_status (*run)(carom_context *context, things *t, answers *found);
} scenario;

static const scenario scenarios[] = {{"scene", make_scene, run_scene},
                                     {"tree", make_tree, run_tree},
                                     {"solids", make_solids, run_solids},
                                     {"soup", make_soup, run_soup}};

/* ---- Faults ---------------------------------------------------------------------------------- */

static answers expected, got;

static void make_input(void) {
    const carom_shape_def shapes[2] = {{.shape = CAROM_SHAPE_TORUS, .detail = 5, .size = 0.5},
                                       {.shape = CAROM_SHAPE_GRID, .detail = 2, .size = 1.0}};
    torus = shape_mesh(cpu, &shapes[0], &torus_view);
    grid = shape_mesh(cpu, &shapes[1], &grid_view);
    const carom_packing_def def = {.mesh = &torus_view, .count = 60};
    assert_ok(cpu, carom_packing_create(cpu, &def, &packing));
}

static void free_input(void) {
    carom_mesh_destroy(torus);
    carom_mesh_destroy(grid);
    carom_packing_destroy(packing);
}

static uint64_t unused_bytes(carom_context *context) {
    uint64_t bytes;
    assert_ok(context, carom_device_free_bytes(context, &bytes));
    return bytes;
}

/* With one fault; whether it happened. */
static bool try_with(const scenario *s, const char *kind, unsigned n, carom_status says) {
    uint64_t before = unused_bytes(cuda);
    carom_context *context = test_context_cuda(1);
    things t = {0};
    got.used = 0;
    set_fault(kind, n);
    carom_status status = s->make(context, &t);
    const bool made = status == CAROM_OK;
    if (made) status = s->run(context, &t, &got);
    bool happened = fired();
    if (status != CAROM_OK && (!happened || status != says))
        fail_msg("%s, %s %u: %s: %s", s->name, kind, n, carom_status_name(status),
                 carom_context_message(context));
    if (status == CAROM_NO_DEVICE)
        assert_fails(context, carom_cuda_finish(context), CAROM_NO_DEVICE, "was lost");
    if (says == CAROM_NO_DEVICE && happened) assert_int_equal(status, CAROM_NO_DEVICE);
    if (status == CAROM_NO_MEMORY) { /* again, with what was prepared or anew */
        if (!made || n % 2 == 0) {
            destroy_things(&t);
            assert_ok(context, carom_cuda_finish(context));
            assert_ok(context, s->make(context, &t));
        }
        got.used = 0;
        assert_ok(context, status = s->run(context, &t, &got));
    }
    if (status == CAROM_OK) {
        if (got.used != expected.used || memcmp(got.bytes, expected.bytes, got.used) != 0)
            fail_msg("%s, %s %u: the answers are not the CPU's", s->name, kind, n);
    }
    (void)unsetenv("CAROM_EMULATED_FAULT");
    destroy_things(&t);
    if (says != CAROM_NO_DEVICE) assert_ok(context, carom_cuda_finish(context));
    carom_context_destroy(context);
    /* a lost device gives nothing back, and here it is there again only afterwards */
    if (says != CAROM_NO_DEVICE) assert_int_equal(unused_bytes(cuda), before);
    return happened;
}

static void try_all(const char *kind, carom_status says) {
    make_input();
    for (uint32_t i = 0; i < COUNT_OF(scenarios); ++i) {
        const scenario *s = &scenarios[i];
        things t = {0};
        unsigned n = 1, tried = 0;
        expected.used = 0;
        assert_ok(cpu, s->make(cpu, &t));
        assert_ok(cpu, s->run(cpu, &t, &expected));
        destroy_things(&t);
        assert_false(try_with(s, "no fault", 1, says));
        for (; try_with(s, kind, n, says); ++tried) n += 1 + (TEST_FEW_CASES ? n / 4 : 0);
        print_message("%s: %u faults, the last one at %s %u\n", s->name, tried, kind, n);
        assert_true(tried >= 4);
    }
    free_input();
}

static void memory_runs_out_anywhere(void **state) {
    (void)state;
    if (!emulated()) skip();
    try_all("malloc", CAROM_NO_MEMORY);
}

static void the_device_is_lost_anywhere(void **state) {
    (void)state;
    if (!emulated()) skip();
    try_all("launch", CAROM_NO_DEVICE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out_anywhere),
        cmocka_unit_test(the_device_is_lost_anywhere),
    };
    return cmocka_run_group_tests_name("faults_cuda", tests, set_up, tear_down);
}
