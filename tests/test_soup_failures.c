/* SPDX-License-Identifier: MIT */
/* A change of a soup that fails has not happened. Each change is made to fail at every allocation,
 * and cancelled at every call of the progress callback: whatever the soup says of itself afterwards
 * is what it said before; it answers as before, or refuses all questions with the status of the
 * failure (update and remove alone) until a change succeeds, and then answers as before; and the
 * same change, made again, gives what it gives to a soup that never failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "tests/support/test.h"

/* ---- failing on demand ----------------------------------------------------------------------- */

/* An allocator of which one allocation fails, or one and all later ones. */
typedef struct failing {
    _Atomic uint64_t calls, live; /* workers allocate, too */
    uint64_t fail_at;
    bool and_later;
} failing;

static void *failing_allocate(void *user, size_t size, size_t alignment) {
    failing *f = user;
    uint64_t call = ++f->calls;
    if (f->fail_at != 0 && (call == f->fail_at || (f->and_later && call > f->fail_at))) return NULL;
    void *pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (pointer != NULL) ++f->live;
    return pointer;
}

static void failing_release(void *user, void *pointer) {
    failing *f = user;
    --f->live;
    free(pointer);
}

/* A callback that cancels at one of its calls. */
typedef struct cancelling {
    uint64_t calls, cancel_at;
} cancelling;

static bool cancel(void *user, const char *what, double fraction) {
    cancelling *c = user;
    assert_true(strlen(what) > 0 && fraction >= 0.0 && fraction <= 1.0);
    return ++c->calls == c->cancel_at;
}

/* ---- what a soup says ------------------------------------------------------------------------ */

typedef struct answers {
    carom_soup_info info; /* without bytes, which may change */
    carom_status status;  /* of all queries; what follows is there for CAROM_OK alone */
    uint64_t hash;
} answers;

static uint64_t hash_pairs(const carom_pairs *pairs, uint64_t seed) {
    return pairs->count != 0 ? test_hash(pairs->data, pairs->count * sizeof(*pairs->data), seed)
                             : seed + 1;
}

/* Queries in one thread without callback, so that queries change nothing here. */
static answers query(carom_context *context, const carom_soup *soup, carom_soup_method method) {
    carom_pairs pairs = {0};
    const carom_pose pose = {.t = {0.25, 0.125, 0.5}};
    const carom_vec3 point = {0.1, 0.2, 0.3};
    answers a;
    carom_hit hit;
    uint64_t count = 0, bound = 0;
    bool any = false;
    memset(&a, 0, sizeof(a));
    memset(&hit, 0, sizeof(hit));
    assert_ok(context, carom_soup_get_info(soup, &a.info));
    a.info.bytes = 0;
    a.status = carom_soup_self_pairs(context, soup, &pairs);
    carom_status others[5] = {carom_soup_self_count(context, soup, &count), 0, 0, 0, 0};
    if (a.status == CAROM_OK) a.hash = hash_pairs(&pairs, count);
    others[1] = carom_soup_self_meet(context, soup, &any);
    others[2] = carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs);
    if (a.status == CAROM_OK) a.hash = hash_pairs(&pairs, a.hash);
    carom_pairs_free(&pairs);
    others[3] = carom_soup_self_bound(context, soup, &bound);
    others[4] = method != CAROM_SOUP_METHOD_GRID
                    ? carom_soup_closest_points(context, soup, &point, 1, &hit)
                    : a.status;
    for (int i = 0; i < 5; ++i) assert_int_equal(others[i], a.status);
    if (a.status != CAROM_OK) {
        assert_non_null(strstr(carom_context_message(context), "has to be changed again"));
        return a;
    }
    const uint64_t words[4] = {count, any, bound, hit.face};
    a.hash = test_hash(words, sizeof(words), a.hash);
    a.hash = test_hash(&hit.distance, sizeof(hit.distance), a.hash);
    return a;
}

static void assert_same(const answers *a, const answers *b, const char *what, uint64_t at) {
    if (memcmp(&a->info, &b->info, sizeof(a->info)) != 0 || a->status != b->status ||
        a->hash != b->hash)
        fail_msg("%s, failure %llu: the soup is another one", what, (unsigned long long)at);
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef enum change {
    UPDATE,
    UPDATE_FLOATS,
    ADD,
    ADD_FLOATS,
    ADD_POLYGONS,
    REMOVE,
    CHANGES
} change;
static const char *const change_names[CHANGES] = {"update",     "update with floats", "add",
                                                  "add floats", "add polygons",       "remove"};

typedef struct scene {
    carom_mesh *start, *more, *polygons;
    carom_mesh_view start_view, more_view, polygon_view;
    carom_mesh_view moved, moved_floats, more_floats;
    double *moved_xyz; /* the positions of these views */
    float *moved_floats_xyz, *more_floats_xyz;
    uint32_t removed[5];
} scene;

static float *view_floats(const carom_mesh_view *view, carom_mesh_view *floats) {
    float *xyz = malloc(3 * view->vertex_count * sizeof(*xyz));
    assert_non_null(xyz);
    const double *from = view->positions;
    for (uint64_t i = 0; i < 3 * view->vertex_count; ++i) xyz[i] = (float)from[i];
    *floats = *view;
    floats->positions = xyz;
    floats->scalar = CAROM_SCALAR_FLOAT32;
    floats->stride = 0;
    return xyz;
}

static void scene_make(carom_context *context, scene *s) {
    const carom_shape_def start = {.shape = CAROM_SHAPE_CLOTH, .detail = 12};
    const carom_shape_def more = {.shape = CAROM_SHAPE_SPHERE, .detail = 2, .size = 0.5};
    const carom_shape_def polygons = {.shape = CAROM_SHAPE_CHAZELLE, .detail = 3, .polygons = true};
    assert_ok(context, carom_shape_make(context, &start, &s->start));
    assert_ok(context, carom_shape_make(context, &more, &s->more));
    assert_ok(context, carom_shape_make(context, &polygons, &s->polygons));
    assert_ok(context, carom_mesh_get_view(s->start, &s->start_view));
    assert_ok(context, carom_mesh_get_view(s->more, &s->more_view));
    assert_ok(context, carom_mesh_get_view(s->polygons, &s->polygon_view));
    double *moved = malloc(3 * s->start_view.vertex_count * sizeof(*moved));
    assert_non_null(moved);
    const double *from = s->start_view.positions;
    for (uint64_t i = 0; i < 3 * s->start_view.vertex_count; ++i)
        moved[i] = i % 3 == 2 ? 0.5 * from[i] : from[i];
    for (int i = 0; i < 9; ++i) moved[i] = 0.0; /* some faces lose their area */
    s->moved = s->start_view;
    s->moved.positions = s->moved_xyz = moved;
    s->moved_floats_xyz = view_floats(&s->moved, &s->moved_floats);
    s->more_floats_xyz = view_floats(&s->more_view, &s->more_floats);
    const uint32_t removed[5] = {3, 17, 3, 0, 40}; /* one of them twice */
    memcpy(s->removed, removed, sizeof(removed));
}

static void scene_free(scene *s) {
    carom_mesh_destroy(s->start);
    carom_mesh_destroy(s->more);
    carom_mesh_destroy(s->polygons);
    free(s->moved_xyz);
    free(s->moved_floats_xyz);
    free(s->more_floats_xyz);
}

#define UNTOUCHED 4711u

static carom_status make_change(carom_context *context, carom_soup *soup, const scene *s,
                                change which, uint32_t *first) {
    *first = UNTOUCHED;
    switch (which) {
    case UPDATE:
        return carom_soup_update(context, soup, &s->moved);
    case UPDATE_FLOATS:
        return carom_soup_update(context, soup, &s->moved_floats);
    case ADD:
        return carom_soup_add(context, soup, &s->more_view, first);
    case ADD_FLOATS:
        return carom_soup_add(context, soup, &s->more_floats, first);
    case ADD_POLYGONS:
        return carom_soup_add(context, soup, &s->polygon_view, first);
    default:
        return carom_soup_remove(context, soup, s->removed, 5);
    }
}

static bool is_add(change which) {
    return which == ADD || which == ADD_FLOATS || which == ADD_POLYGONS;
}

/* ---- the trial ------------------------------------------------------------------------------- */

/* A soup with a history: some faces are dead, so that marks of the dead have to be kept, too. */
static carom_soup *make_soup(carom_context *context, const scene *s, const carom_soup_def *def) {
    carom_soup_def full = *def;
    carom_soup *soup;
    const uint32_t dead[2] = {0, 100};
    full.mesh = &s->start_view;
    assert_ok(context, carom_soup_create(context, &full, &soup));
    assert_ok(context, carom_soup_remove(context, soup, dead, 2));
    return soup;
}

/* What the change failed with is `status`. */
static void check_failed(carom_context *querying, carom_context *context, carom_soup *soup,
                         const scene *s, const carom_soup_def *def, change which,
                         carom_status status, uint32_t first, const answers *before,
                         const answers *after, uint64_t at) {
    const char *what = change_names[which];
    assert_int_equal(context->progress.depth, 0);
    assert_int_equal(first, UNTOUCHED);
    answers now = query(querying, soup, def->method);
    assert_memory_equal(&now.info, &before->info, sizeof(now.info));
    if (now.status != CAROM_OK) {
        if (is_add(which)) fail_msg("%s, failure %llu: lost", what, (unsigned long long)at);
        assert_int_equal(now.status, status);
        /* any change mends it */
        assert_ok(context, carom_soup_remove(context, soup, NULL, 0));
        now = query(querying, soup, def->method);
    }
    assert_same(&now, before, what, at);
    assert_ok(context, make_change(context, soup, s, which, &first));
    now = query(querying, soup, def->method);
    assert_same(&now, after, what, at);
}

static void try_change(carom_context *querying, const scene *s, const carom_soup_def *def,
                       change which, uint32_t threads, uint64_t *failures, uint64_t *losses) {
    failing memory = {0};
    cancelling callback = {0};
    carom_context_def context_def = {.threads = threads,
                                     .allocator = {failing_allocate, failing_release, &memory},
                                     .progress = cancel,
                                     .progress_user = &callback,
                                     .progress_interval = 1e300}; /* no clock */
    carom_context *context;
    uint32_t first;
    assert_ok(NULL, carom_context_create(&context_def, &context));
    carom_soup *soup = make_soup(context, s, def);
    answers before = query(querying, soup, def->method);
    assert_ok(context, make_change(context, soup, s, which, &first));
    assert_true(is_add(which) ? first == before.info.faces : first == UNTOUCHED);
    answers after = query(querying, soup, def->method);
    assert_true(before.status == CAROM_OK && after.status == CAROM_OK && before.hash != after.hash);
    carom_soup_destroy(soup);
    /* 0: one allocation fails; 1: all from there on; 2: cancelled */
    for (int how = 0; how < 3; ++how) {
        for (uint64_t at = 1;; ++at) {
            soup = make_soup(context, s, def);
            assert_ok(context, carom_context_trim(context)); /* scratch has to be taken, too */
            memory.calls = callback.calls = 0;
            memory.fail_at = how < 2 ? at : 0;
            memory.and_later = how == 1;
            callback.cancel_at = how == 2 ? at : 0;
            carom_status status = make_change(context, soup, s, which, &first);
            bool reached = how < 2 ? memory.calls >= at : callback.calls >= at;
            memory.fail_at = callback.cancel_at = 0;
            if (status != CAROM_OK) {
                assert_int_equal(status, how < 2 ? CAROM_NO_MEMORY : CAROM_CANCELLED);
                answers now = query(querying, soup, def->method);
                ++*failures;
                *losses += now.status != CAROM_OK ? 1 : 0;
                check_failed(querying, context, soup, s, def, which, status, first, &before, &after,
                             at);
            } else { /* it could do without, or there was nothing left to fail */
                answers now = query(querying, soup, def->method);
                assert_same(&now, &after, change_names[which], at);
            }
            carom_soup_destroy(soup);
            if (!reached) break;
        }
    }
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
}

static void a_failed_change_has_not_happened(void **state) {
    (void)state;
    static const carom_soup_def defs[] = {
        {.method = CAROM_SOUP_METHOD_AUTO},
        {.method = CAROM_SOUP_METHOD_TREE, .rigid = true},
        {.method = CAROM_SOUP_METHOD_GRID},
        {.method = CAROM_SOUP_METHOD_GRID, .grid = {.hash = CAROM_GRID_HASH_PERFECT}, .fan = true},
        {.method = CAROM_SOUP_METHOD_AUTO,
         .work_budget = 1,
         .degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT}};
    carom_context *querying = test_context(1);
    scene s;
    uint64_t failures = 0, losses = 0;
    scene_make(querying, &s);
    for (size_t i = 0; i < COUNT_OF(defs); ++i)
        for (int which = 0; which < CHANGES; ++which)
            for (uint32_t threads = 1; threads <= 3; threads += 2)
                if (TEST_ALL_CASES || (i + (size_t)which + threads / 2) % 2 == 0)
                    try_change(querying, &s, &defs[i], (change)which, threads, &failures, &losses);
    assert_true(failures > 500 && losses > 50 && losses < failures);
    if (TEST_ALL_CASES) assert_true(failures > 1000 && losses > 100);
    scene_free(&s);
    carom_context_destroy(querying);
}

/* ---- creating -------------------------------------------------------------------------------- */

/* Creating fails in the same ways and leaves nothing. */
static void a_failed_create_leaves_nothing(void **state) {
    (void)state;
    carom_context *querying = test_context(1);
    scene s;
    scene_make(querying, &s);
    failing memory = {0};
    cancelling callback = {0};
    for (int which = 0; which < 6; ++which) {
        const carom_soup_def soup_def = {.mesh = which == 1 ? &s.polygon_view : &s.start_view,
                                         .method = which == 2 ? CAROM_SOUP_METHOD_GRID
                                                              : CAROM_SOUP_METHOD_AUTO,
                                         .rigid = which == 3};
        const carom_solid_def solid_def = {.mesh = which == 4 ? &s.more_view : &s.polygon_view};
        for (int how = 0; how < 3; ++how) {
            for (uint64_t at = 1;; ++at) {
                carom_context_def def = {.threads = 1 + (uint32_t)(at % 2),
                                         .allocator = {failing_allocate, failing_release, &memory},
                                         .progress = cancel,
                                         .progress_user = &callback,
                                         .progress_interval = 1e300}; /* no clock */
                carom_context *context;
                carom_soup *soup = (carom_soup *)querying; /* any pointer that is not NULL */
                carom_solid *solid = (carom_solid *)querying;
                memory.fail_at = callback.cancel_at = 0;
                assert_ok(NULL, carom_context_create(&def, &context));
                memory.calls = callback.calls = 0;
                memory.fail_at = how < 2 ? at : 0;
                memory.and_later = how == 1;
                callback.cancel_at = how == 2 ? at : 0;
                uint64_t live = memory.live;
                carom_status status = which < 4 ? carom_soup_create(context, &soup_def, &soup)
                                                : carom_solid_create(context, &solid_def, &solid);
                bool reached = how < 2 ? memory.calls >= at : callback.calls >= at;
                memory.fail_at = callback.cancel_at = 0;
                if (status != CAROM_OK) {
                    assert_int_equal(status, how < 2 ? CAROM_NO_MEMORY : CAROM_CANCELLED);
                    assert_true(which < 4 ? soup == NULL : solid == NULL);
                    assert_int_equal(context->progress.depth, 0);
                    assert_ok(context, carom_context_trim(context));
                    assert_true(memory.live <= live + 1); /* the threads, which stay */
                } else if (which < 4) {
                    carom_soup_destroy(soup);
                } else {
                    carom_solid_destroy(solid);
                }
                carom_context_destroy(context);
                assert_int_equal(memory.live, 0);
                if (!reached) break;
            }
        }
    }
    scene_free(&s);
    carom_context_destroy(querying);
}

/* ---- all hits of rays ------------------------------------------------------------------------ */

/* Faces above each other: more of them than a worker has space for at first. */
#define STORIES 300u
#define RAYS    40u

static carom_status query_stories(carom_context *context, const carom_soup *soup,
                                  carom_soup_ray_hits *hits) {
    carom_ray rays[RAYS];
    for (uint32_t i = 0; i < RAYS; ++i)
        rays[i] =
            (carom_ray){.origin = {0.25 / (1.0 + i), 0.25, -1.0}, .direction = {0.0, 0.0, 1.0}};
    return carom_soup_query_rays(context, soup, rays, RAYS, hits);
}

static carom_soup *stories_make(carom_context *context) {
    static double xyz[9 * STORIES];
    static uint32_t corners[3 * STORIES];
    for (uint32_t f = 0; f < STORIES; ++f) {
        const double face[9] = {0.0, 0.0, f, 1.0, 0.0, f, 0.0, 1.0, f};
        memcpy(xyz + 9 * f, face, sizeof(face));
        for (uint32_t k = 0; k < 3; ++k) corners[3 * f + k] = 3 * f + k;
    }
    const carom_mesh_view view = {
        .positions = xyz, .vertex_count = 3 * STORIES, .corners = corners, .face_count = STORIES};
    const carom_soup_def def = {.mesh = &view};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    return soup;
}

static void failed_queries_of_rays_can_be_repeated(void **state) {
    (void)state;
    failing memory = {0};
    cancelling callback = {0};
    uint64_t failures = 0, hash = 0;
    for (int how = 0; how < 3; ++how)
        for (uint64_t at = 1;; ++at) {
            carom_context_def def = {.threads = 1 + (uint32_t)(at % 2),
                                     .allocator = {failing_allocate, failing_release, &memory},
                                     .progress = cancel,
                                     .progress_user = &callback,
                                     .progress_interval = how < 2 ? 1e300 : -1.0}; /* no clock */
            carom_context *context;
            carom_soup_ray_hits hits = {0};
            memory.fail_at = callback.cancel_at = 0;
            assert_ok(NULL, carom_context_create(&def, &context));
            carom_soup *soup = stories_make(context);
            memory.calls = callback.calls = 0;
            memory.fail_at = how < 2 ? at : 0;
            memory.and_later = how == 1;
            callback.cancel_at = how == 2 ? at : 0;
            carom_status status = query_stories(context, soup, &hits);
            memory.fail_at = callback.cancel_at = 0;
            if (status != CAROM_OK) {
                ++failures;
                assert_int_equal(status, how < 2 ? CAROM_NO_MEMORY : CAROM_CANCELLED);
                assert_int_equal(hits.count, 0);
            }
            assert_ok(context, query_stories(context, soup, &hits));
            assert_int_equal(hits.count, STORIES * RAYS);
            uint64_t found = test_hash(hits.data, hits.count * sizeof(*hits.data), 0);
            assert_true(hash == 0 || hash == found);
            hash = found;
            carom_soup_ray_hits_free(&hits);
            carom_soup_destroy(soup);
            carom_context_destroy(context);
            assert_int_equal(memory.live, 0);
            if (status == CAROM_OK) break;
        }
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_queries_of_rays_can_be_repeated),
        cmocka_unit_test(a_failed_change_has_not_happened),
        cmocka_unit_test(a_failed_create_leaves_nothing),
    };
    return cmocka_run_group_tests_name("soup_failures", tests, NULL, NULL);
}
