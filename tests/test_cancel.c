/* SPDX-License-Identifier: MIT */
/* Every call that reports progress is cancelled at each call of the callback in turn: it returns
 * CAROM_CANCELLED with a message that names the phase, keeps no memory, closes its phases, and
 * the context and the structures answer the next call as if nothing had been. No clock decides when
 * the callback is called: at every occasion, or at the ends of phases alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/progress.h"
#include "tests/support/shapes.h"

#define AT_EVERY_OCCASION (-1.0) /* progress_interval */
#define AT_ENDS_ALONE     1e300  /* seconds */

typedef struct listener {
    uint64_t calls, cancel_at;
    char what[64];
    double fraction;
    uint64_t phases;
} listener;

/* Phases go from 0 to 1 without falling back, one after the other. */
static bool listen(void *user, const char *what, double fraction) {
    listener *l = user;
    bool begins = fraction == 0.0 && (l->calls == 0 || l->fraction == 1.0);
    if (!begins) {
        assert_string_equal(what, l->what);
        assert_true(fraction >= l->fraction && fraction <= 1.0);
    }
    l->phases += begins ? 1 : 0;
    snprintf(l->what, sizeof(l->what), "%s", what);
    l->fraction = fraction;
    return ++l->calls == l->cancel_at;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static carom_mesh_view cloth, sphere, polygons;
static carom_soup *tree, *rigid, *grid, *small_budget, *of_sphere, *of_polygons, *speck;
static carom_solid *ball, *star;
static carom_pairs pairs;
static carom_numbers numbers;
static carom_solid_patches patches;
static carom_solid_vertex_forces on_ball, on_star;
static carom_soup_segments segments;
static carom_bytes bytes;
static const carom_pose beside = {.t = {0.25, 0.125, 0.0625}}, above = {.t = {0.0, 0.0, 9.0}};
static const carom_pose far = {.t = {0x1p60, 0.0, 0.0}};

typedef carom_status call_fn(carom_context *context, uint64_t *hash);

static uint64_t hash_of_pairs(void) {
    return pairs.count == 0 ? 1 : test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0);
}

static bool add_pairs(void *user, const carom_pair *some, uint64_t count) {
    uint64_t *hash = user;
    *hash = test_hash(some, count * sizeof(*some), *hash);
    return false;
}

#define SOUP_CALLS(name)                                                                           \
    static carom_status name##_pairs(carom_context *context, uint64_t *hash) {                     \
        carom_status status = carom_soup_self_pairs(context, name, &pairs);                        \
        *hash = hash_of_pairs();                                                                   \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_count(carom_context *context, uint64_t *hash) {                     \
        return carom_soup_self_count(context, name, hash);                                         \
    }                                                                                              \
    static carom_status name##_any(carom_context *context, uint64_t *hash) {                       \
        bool any = false;                                                                          \
        carom_status status = carom_soup_self_meet(context, name, &any);                           \
        *hash = any;                                                                               \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_each(carom_context *context, uint64_t *hash) {                      \
        *hash = 0;                                                                                 \
        return carom_soup_self_each(context, name, add_pairs, hash);                               \
    }                                                                                              \
    static carom_status name##_cross(carom_context *context, uint64_t *hash) {                     \
        carom_status status = carom_soup_cross_pairs(context, name, NULL, name, &beside, &pairs);  \
        *hash = hash_of_pairs();                                                                   \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_cross_count(carom_context *context, uint64_t *hash) {               \
        return carom_soup_cross_count(context, name, NULL, name, &beside, hash);                   \
    }                                                                                              \
    static carom_status name##_cross_each(carom_context *context, uint64_t *hash) {                \
        *hash = 0;                                                                                 \
        return carom_soup_cross_each(context, name, NULL, name, &beside, add_pairs, hash);         \
    }                                                                                              \
    static carom_status name##_cross_any(carom_context *context, uint64_t *hash) {                 \
        bool any = false;                                                                          \
        carom_status status = carom_soup_cross_meet(context, name, NULL, name, &above, &any);      \
        *hash = any;                                                                               \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_bound(carom_context *context, uint64_t *hash) {                     \
        return carom_soup_cross_bound(context, name, name, hash);                                  \
    }                                                                                              \
    static carom_status name##_self_bound(carom_context *context, uint64_t *hash) {                \
        return carom_soup_self_bound(context, name, hash);                                         \
    }

SOUP_CALLS(tree)
SOUP_CALLS(rigid)
SOUP_CALLS(grid)
SOUP_CALLS(small_budget)

/* A margin between the size of a face and that of the cloth. */
#define MARGIN 0.0625

#define WITHIN_CALLS(name)                                                                         \
    static carom_status name##_within(carom_context *context, uint64_t *hash) {                    \
        carom_status status = carom_soup_self_pairs_within(context, name, MARGIN, &pairs);         \
        *hash = hash_of_pairs();                                                                   \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_within_count(carom_context *context, uint64_t *hash) {              \
        return carom_soup_self_count_within(context, name, MARGIN, hash);                          \
    }                                                                                              \
    static carom_status name##_within_any(carom_context *context, uint64_t *hash) {                \
        bool any = false;                                                                          \
        carom_status status = carom_soup_self_meet_within(context, name, 0.0, &any);               \
        *hash = any;                                                                               \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_within_each(carom_context *context, uint64_t *hash) {               \
        *hash = 0;                                                                                 \
        return carom_soup_self_each_within(context, name, MARGIN, add_pairs, hash);                \
    }                                                                                              \
    static carom_status name##_cross_within(carom_context *context, uint64_t *hash) {              \
        carom_status status =                                                                      \
            carom_soup_cross_pairs_within(context, name, NULL, name, &beside, MARGIN, &pairs);     \
        *hash = hash_of_pairs();                                                                   \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_cross_within_count(carom_context *context, uint64_t *hash) {        \
        return carom_soup_cross_count_within(context, name, NULL, name, &beside, MARGIN, hash);    \
    }                                                                                              \
    static carom_status name##_cross_within_any(carom_context *context, uint64_t *hash) {          \
        bool any = false;                                                                          \
        carom_status status =                                                                      \
            carom_soup_cross_meet_within(context, name, NULL, name, &above, MARGIN, &any);         \
        *hash = any;                                                                               \
        return status;                                                                             \
    }                                                                                              \
    static carom_status name##_cross_within_each(carom_context *context, uint64_t *hash) {         \
        *hash = 0;                                                                                 \
        return carom_soup_cross_each_within(context, name, NULL, name, &beside, MARGIN, add_pairs, \
                                            hash);                                                 \
    }

WITHIN_CALLS(tree)
WITHIN_CALLS(rigid)
WITHIN_CALLS(of_polygons)

/* All pairs of the first faces of two soups, for the calls that take pairs. */
#define GIVEN 400
static const carom_pair *given(void) {
    static carom_pair all[GIVEN];
    for (uint32_t i = 0; i < GIVEN; ++i) all[i] = (carom_pair){i / 20, 20 + i % 20};
    return all;
}

static carom_status gaps_of(carom_context *context, bool cross, uint64_t *hash) {
    static carom_soup_gap gaps[GIVEN];
    memset(gaps, 0, sizeof(gaps));
    carom_status status =
        cross ? carom_soup_cross_gaps(context, tree, NULL, rigid, &beside, given(), GIVEN, gaps)
              : carom_soup_self_gaps(context, tree, given(), GIVEN, gaps);
    *hash = 0;
    for (int i = 0; i < GIVEN; ++i)
        *hash = test_hash(&gaps[i].distance, sizeof(gaps[i].distance), *hash);
    return status;
}

static carom_status self_gaps(carom_context *context, uint64_t *hash) {
    return gaps_of(context, false, hash);
}

static carom_status cross_gaps(carom_context *context, uint64_t *hash) {
    return gaps_of(context, true, hash);
}

static carom_status segments_of(carom_context *context, bool cross, uint64_t *hash) {
    carom_status status =
        cross
            ? carom_soup_cross_segments(context, tree, NULL, rigid, NULL, given(), GIVEN, &segments)
            : carom_soup_self_segments(context, tree, given(), GIVEN, &segments);
    *hash = segments.count == 0
                ? 0
                : test_hash(segments.data, segments.count * sizeof(*segments.data), 0);
    return status;
}

static carom_status self_segments(carom_context *context, uint64_t *hash) {
    return segments_of(context, false, hash);
}

static carom_status cross_segments(carom_context *context, uint64_t *hash) {
    return segments_of(context, true, hash);
}

static carom_status distance_of(carom_context *context, const carom_soup *a, const carom_pose *pose,
                                uint64_t *hash) {
    carom_soup_gap gap;
    memset(&gap, 0, sizeof(gap));
    carom_status status = carom_soup_cross_distance(context, a, NULL, a, pose, 0.0, &gap);
    *hash = test_hash(&gap.distance, sizeof(gap.distance), gap.face_a);
    return status;
}

/* Every vertex of the cloth goes to where the next one is. */
static carom_status self_impacts(carom_context *context, uint64_t *hash) {
    carom_mesh_view end = cloth;
    size_t size = 3 * (cloth.scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    char *moved = malloc(cloth.vertex_count * size);
    assert_non_null(moved);
    memcpy(moved, (const char *)cloth.positions + size, (cloth.vertex_count - 1) * size);
    memcpy(moved + (cloth.vertex_count - 1) * size, cloth.positions, size);
    end.positions = moved;
    carom_soup_impact first;
    memset(&first, 0, sizeof(first));
    carom_status status = carom_soup_self_first_impact(context, tree, &end, &first);
    *hash = test_hash(&first.time.lower, sizeof(first.time.lower), (uint64_t)first.kind);
    free(moved);
    return status;
}

static carom_status self_near(carom_context *context, uint64_t *hash) {
    carom_soup_near_pairs near = {0};
    carom_status status = carom_soup_self_near(context, tree, 0.02, &near);
    *hash =
        test_hash(near.data, status == CAROM_OK ? near.count * sizeof(*near.data) : 0, near.count);
    carom_soup_near_pairs_free(&near);
    return status;
}

static carom_status rigid_toi(carom_context *context, uint64_t *hash) {
    carom_motion motion = {.from = above, .to = {.q = {1.0, 1.0, 0.0, 0.0}, .t = {0.0, 0.0, -9.0}}};
    carom_advance toi;
    memset(&toi, 0, sizeof(toi));
    carom_status status =
        carom_soup_cross_advance(context, rigid, NULL, rigid, &motion, NULL, &toi);
    *hash = test_hash(&toi.time, sizeof(toi.time), toi.steps);
    return status;
}

static carom_status distance(carom_context *context, uint64_t *hash) {
    return distance_of(context, tree, &above, hash);
}

static carom_status distance_rigid(carom_context *context, uint64_t *hash) {
    return distance_of(context, rigid, &above, hash);
}

static carom_status distance_far(carom_context *context, uint64_t *hash) {
    return distance_of(context, of_sphere, &far, hash);
}

/* Compared all with all: sizes too far apart for boxes. */
static carom_status extreme_pairs(carom_context *context, uint64_t *hash) {
    carom_status status = carom_soup_cross_pairs(context, of_sphere, NULL, speck, NULL, &pairs);
    *hash = hash_of_pairs();
    return status;
}

static carom_status k_free(carom_context *context, uint64_t *hash) {
    carom_kfree k;
    carom_status status = carom_kfree_measure(context, tree, &k, &numbers);
    *hash = k.total;
    return status;
}

#define POINTS 40
static const carom_vec3 *points(void) {
    static carom_vec3 p[POINTS];
    for (int i = 0; i < POINTS; ++i) p[i] = (carom_vec3){0.01 * i, 0.3 - 0.02 * i, 0.05 * i};
    return p;
}

static carom_status closest(carom_context *context, uint64_t *hash) {
    static carom_hit hits[POINTS];
    carom_status status = carom_soup_closest_points(context, of_sphere, points(), POINTS, hits);
    *hash = 0;
    for (int i = 0; i < POINTS; ++i) *hash = 31 * *hash + hits[i].face;
    return status;
}

static carom_status rays(carom_context *context, uint64_t *hash) {
    static carom_hit hits[POINTS];
    carom_ray some[POINTS];
    for (int i = 0; i < POINTS; ++i)
        some[i] = (carom_ray){.origin = points()[i], .direction = {1.0, 0.5, 0.1}};
    carom_status status = carom_soup_cast_rays(context, of_sphere, some, POINTS, hits);
    *hash = 0;
    for (int i = 0; i < POINTS; ++i) *hash = 31 * *hash + hits[i].face;
    return status;
}

static carom_status all_rays(carom_context *context, uint64_t *hash) {
    carom_soup_ray_hits hits = {0};
    carom_ray some[POINTS];
    for (int i = 0; i < POINTS; ++i)
        some[i] = (carom_ray){.origin = points()[i], .direction = {1.0, 0.5, 0.1}};
    carom_status status = carom_soup_query_rays(context, of_sphere, some, POINTS, &hits);
    *hash = test_hash(hits.data, hits.count * sizeof(*hits.data), 0);
    carom_soup_ray_hits_free(&hits);
    return status;
}

static carom_status winding(carom_context *context, uint64_t *hash) {
    static int32_t windings[POINTS];
    carom_status status = carom_soup_winding(context, of_sphere, points(), POINTS, windings);
    *hash = test_hash(windings, sizeof(windings), 0);
    return status;
}

static carom_status fractions(carom_context *context, uint64_t *hash) {
    static double values[POINTS];
    carom_status status = carom_soup_winding_fractions(context, tree, points(), POINTS, values);
    *hash = test_hash(values, sizeof(values), 0);
    return status;
}

static carom_status signed_distances(carom_context *context, uint64_t *hash) {
    static double values[POINTS];
    carom_status status =
        carom_soup_signed_distances(context, of_sphere, points(), POINTS, values, NULL);
    *hash = test_hash(values, sizeof(values), 0);
    return status;
}

static carom_status overlap_of(carom_context *context, const carom_solid *b, const carom_pose *pose,
                               uint64_t *hash) {
    carom_solid_result overlap;
    memset(&overlap, 0, sizeof(overlap));
    const carom_solid_query_def def = {.distance = true};
    carom_status status = carom_solid_overlap(context, ball, NULL, b, pose, &def, &overlap);
    *hash = test_hash(&overlap.volume, sizeof(double), overlap.pairs);
    *hash = test_hash(&overlap.distance, sizeof(double), *hash);
    return status;
}

static carom_status overlap(carom_context *context, uint64_t *hash) {
    return overlap_of(context, star, &beside, hash);
}

static carom_status overlap_same(carom_context *context, uint64_t *hash) {
    return overlap_of(context, ball, NULL, hash);
}

static carom_status overlap_apart(carom_context *context, uint64_t *hash) {
    return overlap_of(context, star, &above, hash);
}

static carom_status overlap_far(carom_context *context, uint64_t *hash) {
    return overlap_of(context, ball, &far, hash);
}

static carom_status pieces(carom_context *context, uint64_t *hash) {
    carom_status status = carom_solid_overlap_patches(context, ball, NULL, star, &beside, &patches);
    *hash =
        patches.count == 0 ? 0 : test_hash(patches.data, patches.count * sizeof(*patches.data), 0);
    return status;
}

static carom_status forces(carom_context *context, uint64_t *hash) {
    carom_status status =
        carom_solid_overlap_gradient(context, ball, NULL, star, &beside, &on_ball, &on_star);
    *hash =
        on_ball.count == 0 ? 0 : test_hash(on_ball.data, on_ball.count * sizeof(*on_ball.data), 0);
    return status;
}

static carom_status create_soup(carom_context *context, uint64_t *hash) {
    carom_soup *soup = NULL;
    const carom_soup_def def = {.mesh = &polygons, .rigid = true};
    carom_status status = carom_soup_create(context, &def, &soup);
    *hash = soup != NULL;
    carom_soup_destroy(soup);
    return status;
}

static carom_status create_solid(carom_context *context, uint64_t *hash) {
    carom_solid *solid = NULL;
    const carom_solid_def def = {.mesh = &polygons};
    carom_status status = carom_solid_create(context, &def, &solid);
    *hash = solid != NULL;
    carom_solid_destroy(solid);
    return status;
}

/* Each call updates to the positions that the solid has: cancelled or not, it stays the same. */
static carom_status update_solid(carom_context *context, uint64_t *hash) {
    carom_solid_info info;
    memset(&info, 0, sizeof(info));
    carom_status status = carom_solid_update(context, ball, &sphere);
    (void)carom_solid_get_info(ball, &info);
    *hash = test_hash(&info.volume, sizeof(info.volume), info.triangles);
    return status;
}

static carom_status weld(carom_context *context, uint64_t *hash) {
    carom_mesh *mesh = NULL;
    carom_status status = carom_mesh_weld(context, &cloth, &mesh);
    *hash = mesh != NULL;
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status inspect(carom_context *context, uint64_t *hash) {
    carom_mesh_report report;
    carom_status status = carom_mesh_inspect(context, &polygons, &report);
    *hash = status == CAROM_OK ? test_hash(&report, sizeof(report), 0) : 0;
    return status;
}

static carom_status triangulate(carom_context *context, uint64_t *hash) {
    carom_mesh *mesh = NULL;
    carom_status status = carom_mesh_triangulate(context, &polygons, NULL, &mesh, &numbers);
    *hash = mesh != NULL;
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status close_holes(carom_context *context, uint64_t *hash) {
    carom_mesh *mesh = NULL;
    carom_repair_result result = {0};
    carom_mesh_view open = sphere;
    open.face_count -= 40;
    carom_status status = carom_repair_close(context, &open, NULL, &mesh, &result, NULL, &numbers);
    *hash = mesh != NULL ? result.filled : 0;
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status list_defects(carom_context *context, uint64_t *hash) {
    carom_status status = carom_repair_list_vertices(context, &cloth, &numbers);
    if (status == CAROM_OK) status = carom_repair_list_flipped(context, &cloth, &numbers, NULL);
    *hash = numbers.count;
    return status;
}

static carom_status save_and_load(carom_context *context, uint64_t *hash) {
    carom_mesh *mesh = NULL;
    carom_status status = carom_mesh_save_memory(context, &sphere, CAROM_MESH_FORMAT_OBJ, &bytes);
    if (status == CAROM_OK)
        status = carom_mesh_load_memory(context, bytes.data, bytes.count, CAROM_MESH_FORMAT_OBJ,
                                        NULL, &mesh);
    *hash = mesh != NULL;
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status shapes(carom_context *context, uint64_t *hash) {
    carom_status status = CAROM_OK;
    *hash = 0;
    for (int i = 0; i < CAROM_SHAPE_COUNT && status == CAROM_OK; ++i) {
        carom_mesh *mesh = NULL;
        const carom_shape_def def = {.shape = (carom_shape)i, .parts = 4};
        status = carom_shape_make(context, &def, &mesh);
        *hash += mesh != NULL ? 1 : 0;
        carom_mesh_destroy(mesh);
    }
    const carom_shape_def saved = {.shape = CAROM_SHAPE_CLOTH};
    if (status == CAROM_OK)
        status = carom_shape_save(context, &saved, CAROM_MESH_FORMAT_PLY, "/dev/null");
    return status;
}

#define ALL_OF(name)                                                                               \
    {#name " self_pairs", name##_pairs}, {#name " self_count", name##_count},                      \
        {#name " self_any", name##_any}, {#name " self_each", name##_each},                        \
        {#name " cross_pairs", name##_cross}, {#name " cross_any", name##_cross_any},              \
        {#name " cross_count", name##_cross_count}, {#name " cross_each", name##_cross_each},      \
        {#name " bound", name##_bound}, {                                                          \
#name " self_bound", name##_self_bound                                                     \
    }

#define ALL_WITHIN(name)                                                                           \
    {#name " self_within", name##_within}, {#name " self_within_count", name##_within_count},      \
        {#name " self_within_any", name##_within_any},                                             \
        {#name " self_within_each", name##_within_each},                                           \
        {#name " cross_within", name##_cross_within},                                              \
        {#name " cross_within_count", name##_cross_within_count},                                  \
        {#name " cross_within_any", name##_cross_within_any}, {                                    \
#name " cross_within_each", name##_cross_within_each                                       \
    }

static const struct {
    const char *name;
    call_fn *call;
} calls[] = {
    ALL_OF(tree),
    ALL_OF(rigid),
    ALL_OF(grid),
    ALL_OF(small_budget),
    ALL_WITHIN(tree),
    ALL_WITHIN(rigid),
    ALL_WITHIN(of_polygons),
    {"self_gaps", self_gaps},
    {"cross_gaps", cross_gaps},
    {"self_segments", self_segments},
    {"cross_segments", cross_segments},
    {"self_impacts", self_impacts},
    {"self_near", self_near},
    {"time of impact", rigid_toi},
    {"distance", distance},
    {"distance of rigid soups", distance_rigid},
    {"distance far away", distance_far},
    {"pairs of a speck and a planet", extreme_pairs},
    {"k_free", k_free},
    {"closest_points", closest},
    {"cast_rays", rays},
    {"query_rays", all_rays},
    {"winding", winding},
    {"winding_fractions", fractions},
    {"signed_distances", signed_distances},
    {"overlap", overlap},
    {"overlap with itself", overlap_same},
    {"overlap apart", overlap_apart},
    {"overlap far away", overlap_far},
    {"patches", pieces},
    {"gradient", forces},
    {"soup_create", create_soup},
    {"solid_create", create_solid},
    {"solid_update", update_solid},
    {"weld", weld},
    {"inspect", inspect},
    {"triangulate", triangulate},
    {"close", close_holes},
    {"defects", list_defects},
    {"save and load", save_and_load},
    {"shape_make", shapes},
};

/* ---- cancelling each ------------------------------------------------------------------------- */

static void forget_results(void) {
    carom_pairs_free(&pairs);
    carom_numbers_free(&numbers);
    carom_solid_patches_free(&patches);
    carom_solid_vertex_forces_free(&on_ball);
    carom_solid_vertex_forces_free(&on_star);
    carom_soup_segments_free(&segments);
    carom_bytes_free(&bytes);
}

/* Of calls with more occasions than that, so many are tried, and the last one. */
#define MOST_TRIES (TEST_FEW_CASES ? 3 : 12)

static void cancel_call(size_t which, uint32_t threads, double interval) {
    const char *name = calls[which].name;
    test_memory memory = {0};
    listener l = {0};
    carom_context *context;
    carom_context_def def = {.threads = threads,
                             .allocator = test_allocator(&memory),
                             .progress = listen,
                             .progress_user = &l,
                             .progress_interval = interval};
    uint64_t expected, hash;
    assert_ok(NULL, carom_context_create(&def, &context));
    assert_ok(context, calls[which].call(context, &expected));
    if (l.phases == 0 || l.fraction != 1.0) fail_msg("%s: no progress to its end", name);
    forget_results();
    uint64_t total = l.calls, step = total / MOST_TRIES + 1;
    for (uint64_t at = 1; at <= total; at = at < total && at + step > total ? total : at + step) {
        l = (listener){.cancel_at = at};
        carom_status status = calls[which].call(context, &hash);
        if (status != CAROM_CANCELLED || l.calls != at)
            fail_msg("%s: cancelled at %u of %u: %s after %u calls", name, (unsigned)at,
                     (unsigned)total, carom_status_name(status), (unsigned)l.calls);
        assert_non_null(strstr(carom_context_message(context), l.what));
        assert_int_equal(context->progress.depth, 0);
        assert_false(carom_progress_cancelled(context));
        forget_results();
        l = (listener){0};
        assert_ok(context, calls[which].call(context, &hash));
        if (hash != expected) fail_msg("%s: another answer after cancelling", name);
        forget_results();
    }
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
}

static void every_call_can_be_cancelled(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(calls); ++i)
        for (uint32_t threads = 1; threads <= 3; ++threads)
            if (threads == 2 || !TEST_FEW_CASES) cancel_call(i, threads, AT_ENDS_ALONE);
}

/* On one thread, so that the occasions are the same ones each time. */
static void every_call_can_be_cancelled_within_a_phase(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip();
    for (size_t i = 0; i < COUNT_OF(calls); ++i) cancel_call(i, 1, AT_EVERY_OCCASION);
}

/* ---- inside long ranges ---------------------------------------------------------------------- */

/* More occasions than there are between ranges, cells and windows. */
#define OCCASIONS_WITHIN 40

/* Some 25 million pairs of one range, of one cell and of one window: the callback is called within
 * each, long before they are all done. */
static void long_work_is_stopped_in_its_middle(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread */
    enum { COUNT = 7000 };
    double(*xyz)[3] = malloc(3 * COUNT * sizeof(*xyz));
    uint32_t *corners = malloc(3 * COUNT * sizeof(*corners));
    assert_true(xyz != NULL && corners != NULL);
    carom_random random = {5};
    for (int i = 0; i < 3 * COUNT; ++i) {
        corners[i] = (uint32_t)i;
        for (int k = 0; k < 3; ++k) xyz[i][k] = carom_random_between(&random, -1.0, 1.0);
    }
    carom_soup_def def = {
        .mesh = &(carom_mesh_view){
            .positions = xyz, .vertex_count = 3 * COUNT, .corners = corners, .face_count = COUNT}};
    listener l = {0};
    carom_context_def context_def = {.threads = 1,
                                     .progress = listen,
                                     .progress_user = &l,
                                     .progress_interval = AT_EVERY_OCCASION};
    carom_context *context;
    assert_ok(NULL, carom_context_create(&context_def, &context));
    for (int method = CAROM_SOUP_METHOD_TREE; method <= CAROM_SOUP_METHOD_GRID; ++method) {
        carom_soup *soup;
        carom_work work;
        bool any;
        def.method = (carom_soup_method)method;
        assert_ok(context, carom_soup_create(context, &def, &soup));
        bool has_tree = method == CAROM_SOUP_METHOD_TREE;
        for (int query = 0; query < (has_tree ? 10 : 6); ++query) {
            const carom_pose pose = {.t = {0.25, 0.0, 0.0}};
            uint64_t count;
            l = (listener){.cancel_at = OCCASIONS_WITHIN};
            carom_status status =
                query == 0   ? carom_soup_self_pairs(context, soup, &pairs)
                : query == 1 ? carom_soup_self_count(context, soup, &count)
                : query == 2 ? carom_soup_self_each(context, soup, add_pairs, &count)
                : query == 3 ? carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs)
                : query == 4 ? carom_soup_cross_count(context, soup, NULL, soup, &pose, &count)
                : query == 5
                    ? carom_soup_cross_each(context, soup, NULL, soup, &pose, add_pairs, &count)
                : query == 6 ? carom_soup_self_pairs_within(context, soup, MARGIN, &pairs)
                : query == 7 ? carom_soup_self_each_within(context, soup, MARGIN, add_pairs, &count)
                : query == 8 ? carom_soup_cross_pairs_within(context, soup, NULL, soup, &pose,
                                                             MARGIN, &pairs)
                             : carom_soup_cross_each_within(context, soup, NULL, soup, &pose,
                                                            MARGIN, add_pairs, &count);
            assert_int_equal(status, CAROM_CANCELLED);
            assert_int_equal(l.calls, OCCASIONS_WITHIN);
            assert_true(l.fraction < 1.0);
        }
        l = (listener){0};
        assert_ok(context, carom_soup_self_meet(context, soup, &any));
        assert_ok(context, carom_context_get_work(context, &work));
        assert_true(any && work.candidates > 0);
        carom_soup_destroy(soup);
    }
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
    free(xyz);
    free(corners);
}

/* ---- phases ---------------------------------------------------------------------------------- */

static carom_status do_nothing(void *argument, carom_range range) {
    (void)range;
    carom_context *context = argument;
    return context == NULL ? CAROM_BAD_INPUT : CAROM_OK;
}

static carom_status nested(carom_context *context, void *argument) {
    carom_progress_begin(context, "outer", 10);
    carom_status status = carom_parallel_phase(context, "inner", 1000, 1, do_nothing, argument);
    return carom_progress_finish(context, status);
}

static void a_phase_inside_another_is_silent(void **state) {
    (void)state;
    listener l = {0};
    carom_context_def def = {
        .threads = 2, .progress = listen, .progress_user = &l, .progress_interval = AT_ENDS_ALONE};
    carom_context *context;
    assert_ok(NULL, carom_context_create(&def, &context));
    assert_ok(context, nested(context, context));
    assert_true(l.phases == 1 && l.fraction == 1.0);
    assert_string_equal(l.what, "outer");
    l = (listener){0}; /* a failure inside is no end of the work */
    assert_int_equal(nested(context, NULL), CAROM_BAD_INPUT);
    assert_true(l.calls == 1 && context->progress.depth == 0);
    l = (listener){.cancel_at = 1};
    assert_fails(context, nested(context, context), CAROM_CANCELLED, "callback: outer");
    assert_int_equal(context->progress.depth, 0);
    l = (listener){0};
    assert_ok(context, nested(context, context));
    carom_context_destroy(context);
}

/* ---- structures ------------------------------------------------------------------------------ */

static carom_mesh *meshes[4];

static int set_up(void **state) {
    (void)state;
    static const carom_shape_def shapes[4] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 16},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 3},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 3, .polygons = true},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 2, .size = 0x1p-60}};
    carom_mesh_view tiny, *views[4] = {&cloth, &sphere, &polygons, &tiny};
    carom_context *context = test_context(2);
    for (int i = 0; i < 4; ++i) {
        meshes[i] = shape_mesh(context, &shapes[i], views[i]);
    }
    carom_soup_def def = {.mesh = &cloth, .method = CAROM_SOUP_METHOD_TREE};
    assert_ok(context, carom_soup_create(context, &def, &tree));
    def = (carom_soup_def){.mesh = &cloth, .rigid = true};
    assert_ok(context, carom_soup_create(context, &def, &rigid));
    def = (carom_soup_def){.mesh = &cloth, .method = CAROM_SOUP_METHOD_GRID};
    assert_ok(context, carom_soup_create(context, &def, &grid));
    def = (carom_soup_def){.mesh = &cloth, .work_budget = 1};
    assert_ok(context, carom_soup_create(context, &def, &small_budget));
    def = (carom_soup_def){.mesh = &sphere};
    assert_ok(context, carom_soup_create(context, &def, &of_sphere));
    def = (carom_soup_def){.mesh = &polygons};
    assert_ok(context, carom_soup_create(context, &def, &of_polygons));
    def = (carom_soup_def){.mesh = &tiny};
    assert_ok(context, carom_soup_create(context, &def, &speck));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &sphere}, &ball));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &polygons}, &star));
    carom_context_destroy(context);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_soup *soups[] = {tree, rigid, grid, small_budget, of_sphere, of_polygons, speck};
    for (size_t i = 0; i < COUNT_OF(soups); ++i) carom_soup_destroy(soups[i]);
    carom_solid_destroy(ball);
    carom_solid_destroy(star);
    for (int i = 0; i < 4; ++i) carom_mesh_destroy(meshes[i]);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_can_be_cancelled),
        cmocka_unit_test(every_call_can_be_cancelled_within_a_phase),
        cmocka_unit_test(long_work_is_stopped_in_its_middle),
        cmocka_unit_test(a_phase_inside_another_is_silent),
    };
    return cmocka_run_group_tests_name("cancel", tests, set_up, tear_down);
}
