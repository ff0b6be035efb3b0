/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of cuda.h. They come before the question of a device, so that a
 * context of the CPU finds them. One thread. */
#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_soup *soup;
static carom_broad *broad;

static int set_up(void **state) {
    (void)state;
    context = bugs_context();
    return carom_soup_create(context, NULL, &soup) != CAROM_OK ||
           carom_broad_create(context, NULL, &broad) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_soup_destroy(soup);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void memory_and_frames(void **state) {
    (void)state;
    void *memory = NULL;
    char bytes[4];
    carom_cuda_frame *frame = NULL;
    carom_cuda_steps steps;
    carom_cuda_order order;
    carom_cuda_pairs pairs = {0};
    BUG(carom_cuda_finish, context, BAD_CONTEXT);
    BUG(carom_cuda_allocate, context, BAD_CONTEXT, 4, &memory);
    BUG(carom_cuda_allocate, device_memory, context, 4, NULL);
    BUG_VOID(carom_cuda_release, context, BAD_CONTEXT, NULL);
    FINE_VOID(carom_cuda_release, device_memory, context, NULL);
    BUG(carom_cuda_write, context, BAD_CONTEXT, bytes, bytes, 4);
    BUG(carom_cuda_write, to, context, NULL, bytes, 4);
    BUG(carom_cuda_write, from, context, bytes, NULL, 4);
    BUG(carom_cuda_read, context, BAD_CONTEXT, bytes, bytes, 4);
    BUG(carom_cuda_read, to, context, NULL, bytes, 4);
    BUG(carom_cuda_read, from, context, bytes, NULL, 4);
    BUG(carom_cuda_frame_begin, context, BAD_CONTEXT);
    BUG(carom_cuda_frame_end, context, BAD_CONTEXT, &frame);
    BUG(carom_cuda_frame_end, frame, context, NULL);
    BUG(carom_cuda_frame_run, context, BAD_CONTEXT, (carom_cuda_frame *)(void *)bytes);
    BUG(carom_cuda_frame_run, frame, context, NULL);
    FINE_VOID(carom_cuda_frame_destroy, frame, NULL);
    BUG(carom_cuda_set_timing, context, BAD_CONTEXT, true);
    BUG(carom_cuda_get_steps, context, BAD_CONTEXT, &steps);
    BUG(carom_cuda_get_steps, steps, context, NULL);
    BUG_VOID(carom_cuda_pairs_free, context, BAD_CONTEXT, &pairs);
    BUG_VOID(carom_cuda_pairs_free, pairs, context, NULL);
    FINE_VOID(carom_cuda_order_name, order, (carom_cuda_order)99);
    BUG_VOID(carom_cuda_order_from_name, name, NULL, &order);
    BUG_VOID(carom_cuda_order_from_name, order, "any", NULL);
}

static void soups(void **state) {
    (void)state;
    carom_solid *solid = (carom_solid *)(void *)soup; /* is not read */
    carom_cuda_positions view = {0}, bad = {.scalar = (carom_scalar)7}, nowhere = {.count = 3};
    carom_cuda_pairs pairs = {0};
    const carom_cuda_order sorted = CAROM_CUDA_ORDER_SORTED, none = (carom_cuda_order)7;
    BUG(carom_cuda_soup_update, context, BAD_CONTEXT, soup, &view);
    BUG(carom_cuda_soup_update, soup, context, NULL, &view);
    BUG(carom_cuda_soup_update, positions, context, soup, NULL);
    BUG(carom_cuda_soup_update, positions, context, soup, &bad);
    BUG(carom_cuda_soup_update, positions, context, soup, &nowhere);
    BUG(carom_cuda_solid_update, context, BAD_CONTEXT, solid, &view, NULL);
    BUG(carom_cuda_solid_update, solid, context, NULL, &view, NULL);
    BUG(carom_cuda_solid_update, positions, context, solid, NULL, NULL);
    BUG(carom_cuda_solid_update, positions, context, solid, &bad, NULL);
    BUG(carom_cuda_solid_update, positions, context, solid, &nowhere, NULL);
    FINE(carom_cuda_solid_update, host_items, context, solid, &view, NULL);
    BUG(carom_cuda_soup_self_pairs, context, BAD_CONTEXT, soup, sorted, &pairs);
    BUG(carom_cuda_soup_self_pairs, soup, context, NULL, sorted, &pairs);
    BUG(carom_cuda_soup_self_pairs, order, context, soup, none, &pairs);
    BUG(carom_cuda_soup_self_pairs, pairs, context, soup, sorted, NULL);
    BUG(carom_cuda_soup_cross_pairs, context, BAD_CONTEXT, soup, NULL, soup, NULL, sorted, &pairs);
    BUG(carom_cuda_soup_cross_pairs, a, context, NULL, NULL, soup, NULL, sorted, &pairs);
    FINE(carom_cuda_soup_cross_pairs, pose_a, context, soup, NULL, soup, NULL, sorted, &pairs);
    BUG(carom_cuda_soup_cross_pairs, b, context, soup, NULL, NULL, NULL, sorted, &pairs);
    FINE(carom_cuda_soup_cross_pairs, pose_b, context, soup, NULL, soup, NULL, sorted, &pairs);
    BUG(carom_cuda_soup_cross_pairs, order, context, soup, NULL, soup, NULL, none, &pairs);
    BUG(carom_cuda_soup_cross_pairs, pairs, context, soup, NULL, soup, NULL, sorted, NULL);
}

static void impacts(void **state) {
    (void)state;
    carom_cuda_positions end = {0}, bad = {.scalar = (carom_scalar)7}, nowhere = {.count = 3};
    carom_cuda_impacts found = {0};
    carom_soup_impact first;
    double distances[1];
    BUG(carom_cuda_soup_self_impacts, context, BAD_CONTEXT, soup, &end, &found);
    BUG(carom_cuda_soup_self_impacts, soup, context, NULL, &end, &found);
    BUG(carom_cuda_soup_self_impacts, end, context, soup, NULL, &found);
    BUG(carom_cuda_soup_self_impacts, end, context, soup, &bad, &found);
    BUG(carom_cuda_soup_self_impacts, end, context, soup, &nowhere, &found);
    BUG(carom_cuda_soup_self_impacts, impacts, context, soup, &end, NULL);
    BUG(carom_cuda_soup_cross_impacts, context, BAD_CONTEXT, soup, &end, soup, NULL, &found);
    BUG(carom_cuda_soup_cross_impacts, a, context, NULL, &end, soup, NULL, &found);
    FINE(carom_cuda_soup_cross_impacts, end_a, context, soup, NULL, soup, NULL, &found);
    BUG(carom_cuda_soup_cross_impacts, b, context, soup, NULL, NULL, NULL, &found);
    FINE(carom_cuda_soup_cross_impacts, end_b, context, soup, &end, soup, NULL, &found);
    BUG(carom_cuda_soup_cross_impacts, end_b, context, soup, &end, soup, &bad, &found);
    BUG(carom_cuda_soup_cross_impacts, impacts, context, soup, NULL, soup, &end, NULL);
    BUG(carom_cuda_soup_self_first_impact, context, BAD_CONTEXT, soup, &end, &first);
    BUG(carom_cuda_soup_self_first_impact, soup, context, NULL, &end, &first);
    BUG(carom_cuda_soup_self_first_impact, end, context, soup, NULL, &first);
    BUG(carom_cuda_soup_self_first_impact, impact, context, soup, &end, NULL);
    BUG(carom_cuda_soup_cross_first_impact, context, BAD_CONTEXT, soup, &end, soup, NULL, &first);
    BUG(carom_cuda_soup_cross_first_impact, a, context, NULL, &end, soup, NULL, &first);
    FINE(carom_cuda_soup_cross_first_impact, end_a, context, soup, NULL, soup, NULL, &first);
    BUG(carom_cuda_soup_cross_first_impact, b, context, soup, NULL, NULL, NULL, &first);
    FINE(carom_cuda_soup_cross_first_impact, end_b, context, soup, &end, soup, NULL, &first);
    BUG(carom_cuda_soup_cross_first_impact, impact, context, soup, &end, soup, NULL, NULL);
    BUG(carom_cuda_soup_self_near, context, BAD_CONTEXT, soup, 1.0, &found);
    BUG(carom_cuda_soup_self_near, soup, context, NULL, 1.0, &found);
    BUG(carom_cuda_soup_self_near, pairs, context, soup, 1.0, NULL);
    BUG(carom_cuda_soup_self_safe_distances, context, BAD_CONTEXT, soup, 1.0, 0.0, distances);
    BUG(carom_cuda_soup_self_safe_distances, soup, context, NULL, 1.0, 0.0, distances);
    BUG(carom_cuda_soup_self_safe_distances, device_distances, context, soup, 1.0, 0.0, NULL);
    carom_cuda_segments cut = {0};
    carom_cuda_pairs some = {0};
    BUG(carom_cuda_soup_self_segments, context, BAD_CONTEXT, soup, &some, &cut);
    BUG(carom_cuda_soup_self_segments, soup, context, NULL, &some, &cut);
    BUG(carom_cuda_soup_self_segments, pairs, context, soup, NULL, &cut);
    BUG(carom_cuda_soup_self_segments, segments, context, soup, &some, NULL);
    BUG(carom_cuda_soup_cross_segments, context, BAD_CONTEXT, soup, NULL, soup, NULL, &some, &cut);
    BUG(carom_cuda_soup_cross_segments, a, context, NULL, NULL, soup, NULL, &some, &cut);
    BUG(carom_cuda_soup_cross_segments, b, context, soup, NULL, NULL, NULL, &some, &cut);
    FINE(carom_cuda_soup_cross_segments, pose_a, context, soup, NULL, soup, NULL, &some, &cut);
    FINE(carom_cuda_soup_cross_segments, pose_b, context, soup, NULL, soup, NULL, &some, &cut);
    BUG(carom_cuda_soup_cross_segments, pairs, context, soup, NULL, soup, NULL, NULL, &cut);
    BUG(carom_cuda_soup_cross_segments, segments, context, soup, NULL, soup, NULL, &some, NULL);
    BUG_VOID(carom_cuda_segments_free, context, BAD_CONTEXT, &cut);
    BUG_VOID(carom_cuda_segments_free, segments, context, NULL);
    BUG_VOID(carom_cuda_impacts_free, context, BAD_CONTEXT, &found);
    BUG_VOID(carom_cuda_impacts_free, impacts, context, NULL);
}

static void distances_of_soups(void **state) {
    (void)state;
    carom_soup_gap gap;
    bool meet;
    BUG(carom_cuda_soup_cross_distance, context, BAD_CONTEXT, soup, NULL, soup, NULL, 1, 0.0, &gap);
    BUG(carom_cuda_soup_cross_distance, a, context, NULL, NULL, soup, NULL, 1, 0.0, &gap);
    FINE(carom_cuda_soup_cross_distance, device_poses_a, context, soup, NULL, soup, NULL, 1, 0.0,
         &gap);
    BUG(carom_cuda_soup_cross_distance, b, context, soup, NULL, NULL, NULL, 1, 0.0, &gap);
    FINE(carom_cuda_soup_cross_distance, device_poses_b, context, soup, NULL, soup, NULL, 1, 0.0,
         &gap);
    BUG(carom_cuda_soup_cross_distance, device_gaps, context, soup, NULL, soup, NULL, 1, 0.0, NULL);
    BUG(carom_cuda_soup_cross_meet, context, BAD_CONTEXT, soup, NULL, soup, NULL, 1, &meet);
    BUG(carom_cuda_soup_cross_meet, a, context, NULL, NULL, soup, NULL, 1, &meet);
    FINE(carom_cuda_soup_cross_meet, device_poses_a, context, soup, NULL, soup, NULL, 1, &meet);
    BUG(carom_cuda_soup_cross_meet, b, context, soup, NULL, NULL, NULL, 1, &meet);
    FINE(carom_cuda_soup_cross_meet, device_poses_b, context, soup, NULL, soup, NULL, 1, &meet);
    BUG(carom_cuda_soup_cross_meet, device_meet, context, soup, NULL, soup, NULL, 1, NULL);
}

static void points_and_rays(void **state) {
    (void)state;
    const carom_vec3 point = {0.0, 0.0, 0.0};
    const carom_ray ray = {.direction = {1.0, 0.0, 0.0}};
    carom_hit hit;
    BUG(carom_cuda_soup_closest_points, context, BAD_CONTEXT, soup, &point, 1, &hit);
    BUG(carom_cuda_soup_closest_points, soup, context, NULL, &point, 1, &hit);
    BUG(carom_cuda_soup_closest_points, device_points, context, soup, NULL, 1, &hit);
    BUG(carom_cuda_soup_closest_points, device_hits, context, soup, &point, 1, NULL);
    int32_t winding;
    double distance;
    BUG(carom_cuda_soup_winding, context, BAD_CONTEXT, soup, &point, 1, &winding);
    BUG(carom_cuda_soup_winding, soup, context, NULL, &point, 1, &winding);
    BUG(carom_cuda_soup_winding, device_points, context, soup, NULL, 1, &winding);
    BUG(carom_cuda_soup_winding, device_windings, context, soup, &point, 1, NULL);
    BUG(carom_cuda_soup_winding_fractions, context, BAD_CONTEXT, soup, &point, 1, &distance);
    BUG(carom_cuda_soup_winding_fractions, soup, context, NULL, &point, 1, &distance);
    BUG(carom_cuda_soup_winding_fractions, device_points, context, soup, NULL, 1, &distance);
    BUG(carom_cuda_soup_winding_fractions, device_windings, context, soup, &point, 1, NULL);
    BUG(carom_cuda_soup_signed_distances, context, BAD_CONTEXT, soup, &point, 1, &distance, &hit);
    BUG(carom_cuda_soup_signed_distances, soup, context, NULL, &point, 1, &distance, &hit);
    BUG(carom_cuda_soup_signed_distances, device_points, context, soup, NULL, 1, &distance, &hit);
    BUG(carom_cuda_soup_signed_distances, device_distances, context, soup, &point, 1, NULL, &hit);
    BUG(carom_cuda_soup_signed_distances, device_hits, context, soup, &point, 1, &distance, NULL);
    BUG(carom_cuda_soup_cast_rays, context, BAD_CONTEXT, soup, &ray, 1, &hit);
    BUG(carom_cuda_soup_cast_rays, soup, context, NULL, &ray, 1, &hit);
    BUG(carom_cuda_soup_cast_rays, device_rays, context, soup, NULL, 1, &hit);
    BUG(carom_cuda_soup_cast_rays, device_hits, context, soup, &ray, 1, NULL);
    carom_cuda_ray_hits all = {0};
    BUG(carom_cuda_soup_query_rays, context, BAD_CONTEXT, soup, &ray, 1, &all);
    BUG(carom_cuda_soup_query_rays, soup, context, NULL, &ray, 1, &all);
    BUG(carom_cuda_soup_query_rays, device_rays, context, soup, NULL, 1, &all);
    BUG(carom_cuda_soup_query_rays, hits, context, soup, &ray, 1, NULL);
    BUG_VOID(carom_cuda_ray_hits_free, context, BAD_CONTEXT, &all);
    BUG_VOID(carom_cuda_ray_hits_free, hits, context, NULL);
}

static void packings(void **state) {
    (void)state;
    static const char ply[] =
        "ply\nformat ascii 1.0\ncomment shares\nelement vertex 1\nproperty double x\n"
        "property double y\nproperty double z\nproperty double radius\n"
        "property double secondary\nproperty double cover\nproperty double void\n"
        "property uint face\nend_header\n0 0 0 1 1.1 1.2 0.1 0\n";
    carom_packing *packing;
    carom_balls *balls;
    carom_packing_overlap o;
    carom_cuda_pairs pairs = {0};
    const carom_cuda_order sorted = CAROM_CUDA_ORDER_SORTED, none = (carom_cuda_order)7;
    const carom_balls_pair_kind inner = CAROM_BALLS_PAIR_KIND_INNER,
                                odd = CAROM_BALLS_PAIR_KIND_COUNT;
    assert_ok(context, carom_packing_load_memory(context, ply, sizeof(ply) - 1,
                                                 CAROM_PACKING_FORMAT_GUESS, "one", &packing));
    const carom_balls_def def = {.packing = packing};
    assert_ok(context, carom_balls_create(context, &def, &balls));
    BUG(carom_cuda_balls_overlap, context, BAD_CONTEXT, balls, NULL, balls, NULL, 1, NULL, &o);
    BUG(carom_cuda_balls_overlap, a, context, NULL, NULL, balls, NULL, 1, NULL, &o);
    FINE(carom_cuda_balls_overlap, device_poses_a, context, balls, NULL, balls, NULL, 1, NULL, &o);
    BUG(carom_cuda_balls_overlap, b, context, balls, NULL, NULL, NULL, 1, NULL, &o);
    FINE(carom_cuda_balls_overlap, device_poses_b, context, balls, NULL, balls, NULL, 1, NULL, &o);
    FINE(carom_cuda_balls_overlap, def, context, balls, NULL, balls, NULL, 1, NULL, &o);
    BUG(carom_cuda_balls_overlap, device_overlaps, context, balls, NULL, balls, NULL, 1, NULL,
        NULL);
    BUG(carom_cuda_balls_pairs, context, BAD_CONTEXT, balls, NULL, balls, NULL, inner, sorted, NULL,
        &pairs);
    BUG(carom_cuda_balls_pairs, a, context, NULL, NULL, balls, NULL, inner, sorted, NULL, &pairs);
    FINE(carom_cuda_balls_pairs, device_pose_a, context, balls, NULL, balls, NULL, inner, sorted,
         NULL, &pairs);
    BUG(carom_cuda_balls_pairs, b, context, balls, NULL, NULL, NULL, inner, sorted, NULL, &pairs);
    FINE(carom_cuda_balls_pairs, device_pose_b, context, balls, NULL, balls, NULL, inner, sorted,
         NULL, &pairs);
    FINE(carom_cuda_balls_pairs, def, context, balls, NULL, balls, NULL, inner, sorted, NULL,
         &pairs);
    BUG(carom_cuda_balls_pairs, kind, context, balls, NULL, balls, NULL, odd, sorted, NULL, &pairs);
    BUG(carom_cuda_balls_pairs, order, context, balls, NULL, balls, NULL, inner, none, NULL,
        &pairs);
    BUG(carom_cuda_balls_pairs, pairs, context, balls, NULL, balls, NULL, inner, sorted, NULL,
        NULL);
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
}

static void sphere_trees(void **state) {
    (void)state;
    static const char ply[] =
        "ply\nformat ascii 1.0\ncomment shares\nelement vertex 1\nproperty double x\n"
        "property double y\nproperty double z\nproperty double radius\n"
        "property double secondary\nproperty double cover\nproperty double void\n"
        "property uint face\nend_header\n0 0 0 1 1.1 1.2 0.1 0\n";
    carom_packing *packing;
    carom_tree *t;
    carom_tree_gap gap;
    carom_packing_overlap o;
    bool meet;
    assert_ok(context, carom_packing_load_memory(context, ply, sizeof(ply) - 1,
                                                 CAROM_PACKING_FORMAT_GUESS, "one", &packing));
    const carom_tree_def def = {.packing = packing};
    assert_ok(context, carom_tree_create(context, &def, &t));
    BUG(carom_cuda_tree_meet, context, BAD_CONTEXT, t, NULL, t, NULL, 1, NULL, &meet);
    BUG(carom_cuda_tree_meet, a, context, NULL, NULL, t, NULL, 1, NULL, &meet);
    FINE(carom_cuda_tree_meet, device_poses_a, context, t, NULL, t, NULL, 1, NULL, &meet);
    BUG(carom_cuda_tree_meet, b, context, t, NULL, NULL, NULL, 1, NULL, &meet);
    FINE(carom_cuda_tree_meet, device_poses_b, context, t, NULL, t, NULL, 1, NULL, &meet);
    FINE(carom_cuda_tree_meet, def, context, t, NULL, t, NULL, 1, NULL, &meet);
    BUG(carom_cuda_tree_meet, device_meet, context, t, NULL, t, NULL, 1, NULL, NULL);
    BUG(carom_cuda_tree_distance, context, BAD_CONTEXT, t, NULL, t, NULL, 1, NULL, &gap);
    BUG(carom_cuda_tree_distance, a, context, NULL, NULL, t, NULL, 1, NULL, &gap);
    FINE(carom_cuda_tree_distance, device_poses_a, context, t, NULL, t, NULL, 1, NULL, &gap);
    BUG(carom_cuda_tree_distance, b, context, t, NULL, NULL, NULL, 1, NULL, &gap);
    FINE(carom_cuda_tree_distance, device_poses_b, context, t, NULL, t, NULL, 1, NULL, &gap);
    FINE(carom_cuda_tree_distance, def, context, t, NULL, t, NULL, 1, NULL, &gap);
    BUG(carom_cuda_tree_distance, device_gaps, context, t, NULL, t, NULL, 1, NULL, NULL);
    BUG(carom_cuda_tree_overlap, context, BAD_CONTEXT, t, NULL, t, NULL, 1, NULL, &o);
    BUG(carom_cuda_tree_overlap, a, context, NULL, NULL, t, NULL, 1, NULL, &o);
    FINE(carom_cuda_tree_overlap, device_poses_a, context, t, NULL, t, NULL, 1, NULL, &o);
    BUG(carom_cuda_tree_overlap, b, context, t, NULL, NULL, NULL, 1, NULL, &o);
    FINE(carom_cuda_tree_overlap, device_poses_b, context, t, NULL, t, NULL, 1, NULL, &o);
    FINE(carom_cuda_tree_overlap, def, context, t, NULL, t, NULL, 1, NULL, &o);
    BUG(carom_cuda_tree_overlap, device_overlaps, context, t, NULL, t, NULL, 1, NULL, NULL);
    carom_tree_destroy(t);
    carom_packing_destroy(packing);
}

static void boxes(void **state) {
    (void)state;
    carom_cuda_pairs pairs = {0};
    const carom_bounds box = {{0, 0, 0}, {1, 1, 1}};
    const carom_cuda_order sorted = CAROM_CUDA_ORDER_SORTED, none = (carom_cuda_order)7;
    BUG(carom_cuda_broad_update, context, BAD_CONTEXT, broad, &box, 1);
    BUG(carom_cuda_broad_update, broad, context, NULL, &box, 1);
    BUG(carom_cuda_broad_update, borrowed_device_boxes, context, broad, NULL, 1);
    BUG(carom_cuda_broad_pairs, context, BAD_CONTEXT, broad, sorted, &pairs);
    BUG(carom_cuda_broad_pairs, broad, context, NULL, sorted, &pairs);
    BUG(carom_cuda_broad_pairs, order, context, broad, none, &pairs);
    BUG(carom_cuda_broad_pairs, pairs, context, broad, sorted, NULL);
}

#define CONVEX_BATCH(function)                                                                     \
    do {                                                                                           \
        BUG(function, context, BAD_CONTEXT, &none, &pairs, NULL, &results);                        \
        BUG(function, bodies, context, NULL, &pairs, NULL, &results);                              \
        BUG(function, bodies, context, &no_shapes, &pairs, NULL, &results);                        \
        BUG(function, pairs, context, &none, NULL, NULL, &results);                                \
        BUG(function, def, context, &none, &pairs, &bad, &results);                                \
        BUG(function, def, context, &none, &pairs, &hinted, &results);                             \
        BUG(function, results, context, &none, &pairs, NULL, NULL);                                \
    } while (0)

static void convex_bodies(void **state) {
    (void)state;
    const carom_convex ball = {0}, unknown = {.kind = (carom_convex_kind)99};
    const carom_pose pose = {{1, 0, 0, 0}, {0, 0, 0}};
    carom_cuda_convex_shapes *shapes;
    carom_cuda_pairs pairs = {0};
    carom_cuda_convex_results results = {0};
    carom_bounds box;
    const carom_cuda_convex_bodies none = {0}, no_shapes = {.poses = &pose, .count = 1};
    carom_convex_hint hint = {0};
    const carom_convex_query_def bad = {.start = (carom_convex_start)99}, hinted = {.hint = &hint};
    const carom_cuda_convex_shapes_def def = {.shapes = &ball, .count = 1}, nowhere = {.count = 1};
    const carom_cuda_convex_shapes_def odd = {.shapes = &unknown, .count = 1};
    BUG(carom_cuda_convex_shapes_create, context, BAD_CONTEXT, &def, &shapes);
    BUG(carom_cuda_convex_shapes_create, def, context, &nowhere, &shapes);
    BUG(carom_cuda_convex_shapes_create, def, context, &odd, &shapes);
    FINE(carom_cuda_convex_shapes_create, def, context, NULL, &shapes);
    BUG(carom_cuda_convex_shapes_create, shapes, context, &def, NULL);
    FINE_VOID(carom_cuda_convex_shapes_destroy, shapes, NULL);
    BUG(carom_cuda_convex_boxes, context, BAD_CONTEXT, &none, &box);
    BUG(carom_cuda_convex_boxes, bodies, context, NULL, &box);
    BUG(carom_cuda_convex_boxes, bodies, context, &no_shapes, &box);
    FINE(carom_cuda_convex_boxes, device_boxes, context, &none, NULL);
    BUG_VOID(carom_cuda_convex_results_free, context, BAD_CONTEXT, &results);
    BUG_VOID(carom_cuda_convex_results_free, results, context, NULL);
    CONVEX_BATCH(carom_cuda_convex_meet_batch);
    CONVEX_BATCH(carom_cuda_convex_distance_batch);
    CONVEX_BATCH(carom_cuda_convex_depth_batch);
    carom_cuda_convex_manifolds found = {0};
    BUG(carom_cuda_convex_contacts_batch, context, BAD_CONTEXT, &none, &pairs, 0.0, NULL, &found);
    BUG(carom_cuda_convex_contacts_batch, bodies, context, NULL, &pairs, 0.0, NULL, &found);
    BUG(carom_cuda_convex_contacts_batch, bodies, context, &no_shapes, &pairs, 0.0, NULL, &found);
    BUG(carom_cuda_convex_contacts_batch, pairs, context, &none, NULL, 0.0, NULL, &found);
    BUG(carom_cuda_convex_contacts_batch, def, context, &none, &pairs, 0.0, &bad, &found);
    BUG(carom_cuda_convex_contacts_batch, def, context, &none, &pairs, 0.0, &hinted, &found);
    BUG(carom_cuda_convex_contacts_batch, manifolds, context, &none, &pairs, 0.0, NULL, NULL);
    BUG_VOID(carom_cuda_convex_manifolds_free, context, BAD_CONTEXT, &found);
    BUG_VOID(carom_cuda_convex_manifolds_free, manifolds, context, NULL);
}

static void scenes(void **state) {
    (void)state;
    const carom_pose pose = {{1, 0, 0, 0}, {0, 0, 0}};
    carom_scene *scene;
    carom_cuda_scene_contacts contacts = {0};
    carom_cuda_pairs begun = {0}, ended = {0};
    assert_ok(context, carom_scene_create(context, NULL, &scene));
    BUG(carom_cuda_scene_move, context, BAD_CONTEXT, scene, &pose, 1);
    BUG(carom_cuda_scene_move, scene, context, NULL, &pose, 1);
    BUG(carom_cuda_scene_move, device_poses, context, scene, NULL, 1);
    BUG(carom_cuda_scene_step, context, BAD_CONTEXT, scene, &contacts, &begun, &ended);
    BUG(carom_cuda_scene_step, scene, context, NULL, &contacts, &begun, &ended);
    FINE(carom_cuda_scene_step, contacts, context, scene, NULL, &begun, &ended);
    FINE(carom_cuda_scene_step, begun, context, scene, &contacts, NULL, &ended);
    FINE(carom_cuda_scene_step, ended, context, scene, &contacts, &begun, NULL);
    BUG_VOID(carom_cuda_scene_contacts_free, context, BAD_CONTEXT, &contacts);
    BUG_VOID(carom_cuda_scene_contacts_free, contacts, context, NULL);
    carom_scene_destroy(scene);
}

static void robots(void **state) {
    (void)state;
    static uint64_t no_copy[64]; /* never read as one: the context has no device */
    const carom_robot_link link = {.name = "base"};
    const carom_robot_def def = {.links = &link, .link_count = 1};
    carom_robot *robot;
    carom_cuda_robot *copy, *given = (carom_cuda_robot *)(void *)no_copy;
    carom_cuda_robot_info info;
    carom_robot_result result;
    carom_robot_gap gap;
    carom_robot_motion_result motion;
    const double q = 0.0;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    BUG(carom_cuda_robot_create, context, BAD_CONTEXT, robot, &copy);
    BUG(carom_cuda_robot_create, borrowed_robot, context, NULL, &copy);
    BUG(carom_cuda_robot_create, copy, context, robot, NULL);
    BUG(carom_cuda_robot_update, context, BAD_CONTEXT, given);
    BUG(carom_cuda_robot_update, copy, context, NULL);
    FINE_VOID(carom_cuda_robot_destroy, copy, NULL);
    BUG(carom_cuda_robot_get_info, copy, NULL, &info);
    BUG(carom_cuda_robot_get_info, info, given, NULL);
    BUG(carom_cuda_robot_check, context, BAD_CONTEXT, given, &q, 1, NULL, &result);
    BUG(carom_cuda_robot_check, copy, context, NULL, &q, 1, NULL, &result);
    FINE(carom_cuda_robot_check, device_configurations, context, given, NULL, 0, NULL, &result);
    FINE(carom_cuda_robot_check, query, context, given, &q, 1, NULL, &result);
    BUG(carom_cuda_robot_check, device_results, context, given, &q, 1, NULL, NULL);
    BUG(carom_cuda_robot_clearance, context, BAD_CONTEXT, given, &q, 1, NULL, &gap);
    BUG(carom_cuda_robot_clearance, copy, context, NULL, &q, 1, NULL, &gap);
    FINE(carom_cuda_robot_clearance, device_configurations, context, given, NULL, 0, NULL, &gap);
    FINE(carom_cuda_robot_clearance, query, context, given, &q, 1, NULL, &gap);
    BUG(carom_cuda_robot_clearance, device_gaps, context, given, &q, 1, NULL, NULL);
    BUG(carom_cuda_robot_motion, context, BAD_CONTEXT, given, &q, &q, 1, NULL, &motion);
    BUG(carom_cuda_robot_motion, copy, context, NULL, &q, &q, 1, NULL, &motion);
    FINE(carom_cuda_robot_motion, device_from, context, given, NULL, &q, 0, NULL, &motion);
    FINE(carom_cuda_robot_motion, device_to, context, given, &q, NULL, 0, NULL, &motion);
    FINE(carom_cuda_robot_motion, query, context, given, &q, &q, 1, NULL, &motion);
    BUG(carom_cuda_robot_motion, device_results, context, given, &q, &q, 1, NULL, NULL);
    carom_robot_destroy(robot);
}

static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {"cuda.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) >= 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_frames),
        cmocka_unit_test(soups),
        cmocka_unit_test(impacts),
        cmocka_unit_test(distances_of_soups),
        cmocka_unit_test(points_and_rays),
        cmocka_unit_test(packings),
        cmocka_unit_test(sphere_trees),
        cmocka_unit_test(boxes),
        cmocka_unit_test(convex_bodies),
        cmocka_unit_test(scenes),
        cmocka_unit_test(robots),
        cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests_name("cuda_bugs", tests, set_up, tear_down);
}
