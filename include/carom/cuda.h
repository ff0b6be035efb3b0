/* SPDX-License-Identifier: MIT */
/* cuda.h: work whose input and results stay on the GPU.
 *
 * A context of backend CAROM_BACKEND_CUDA computes what has a GPU version on the GPU, through the
 * same calls as on the CPU and with the same results; other calls return CAROM_UNSUPPORTED. Those
 * calls take arrays of the host and wait for their results. The calls in this header do not wait:
 *
 *   carom_cuda_soup_update(context, soup, &positions);      positions in device memory
 *   carom_cuda_soup_self_pairs(context, soup, order, &pairs);
 *   ...                                                     other work on the same stream
 *   carom_cuda_finish(context);                             pairs.data and pairs.count are there
 *
 * Rules for all calls that do not wait:
 *   - Work is queued on the context's stream, in the order of the calls.
 *   - Device memory that they are given, and structs for results, must stay until
 *     carom_cuda_finish.
 *   - What is in device memory is said by a type carom_cuda_* or by a name device_*.
 *   - Memory is only taken when there is not enough from earlier calls. Where a result or a list of
 *     candidates turns out larger than its memory, carom_cuda_finish takes more and repeats the
 *     queued work: nothing is lost, and later calls of the same size do not wait for memory.
 *
 * A sequence of calls that is repeated can be recorded as a frame and run as one CUDA graph.
 *
 * What a context of backend cuda computes on the GPU, by engine:
 *   soup     create, update, self_pairs, cross_pairs, count, meet: all of it; in device memory here
 *            the same within a margin; self_segments, cross_segments; these in device memory here
 *            self_impacts, cross_impacts, first_impact, near, safe_step, safe_distances; impacts
 *            and what is near in device memory here
 *            closest_points, cast_rays, query_rays, winding, winding_fractions, signed_distances;
 *            in device memory here
 *            cross_distance, cross_meet_batch, cross_distance_batch, self_gaps, cross_gaps; the
 *            first two, in many poses, in device memory here
 *   kfree    measure
 *   parts    pairs, part by part
 *   solid    create, update, overlap, overlap_batch: faces that meet and their terms, distances;
 *            update in device memory here
 *   convex   meet, distance, depth and their batches, contacts; in device memory here
 *   broad    create, changes, commit, step, pairs; in device memory here
 *   pack     create by method OCTREE, closed meshes
 *   tree     create, update, load, meet, distance (of faces: exact_distance), overlap, query, and
 *            their batches, without budgets; in device memory here
 *   balls    create, update, overlap, overlap_batch, pairs, count, meet; in device memory here
 *   scene    create, add, move, remove, set_filters, set_ignored, step, of convex objects, soups
 *            and solids; poses and contacts in device memory here
 *   robot    check, clearance, motion, of robots that were prepared with a context of the CPU; in
 *            device memory here
 * cover, gas and everything else: CAROM_UNSUPPORTED.
 *
 * All of this header is experimental: it may still change between minor versions. */
#ifndef CAROM_CUDA_H
#define CAROM_CUDA_H

#include "carom/balls.h"
#include "carom/broad.h"
#include "carom/convex.h"
#include "carom/mesh.h"
#include "carom/robot.h"
#include "carom/scene.h"
#include "carom/solid.h"
#include "carom/soup_motion.h"
#include "carom/soup_points.h"
#include "carom/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waits for all queued work and completes its results. Bad input that is only found on the device,
 * such as positions that are not finite, is reported here. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_finish(carom_context *context);

/* ---- Device memory --------------------------------------------------------------------------- */

/* Programs with a CUDA runtime of their own need none of these: any device pointer will do. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_allocate(carom_context *context,
                                                              uint64_t bytes, void **device_memory);
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_release(carom_context *context, void *device_memory);
/* Copies from the host to the device, and back. Wait for the copy and for all earlier work. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_write(carom_context *context, void *to,
                                                           const void *from, uint64_t bytes);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_read(carom_context *context, void *to,
                                                          const void *from, uint64_t bytes);

/* ---- Results on the device ------------------------------------------------------------------- */

/* The order of pairs in device memory. */
typedef enum carom_cuda_order {
    CAROM_CUDA_ORDER_SORTED = 0, /* as on the CPU: by (a, b) */
    CAROM_CUDA_ORDER_ANY,        /* in no particular order, which may differ from run to run */
    CAROM_CUDA_ORDER_COUNT
} carom_cuda_order;

/* "sorted", "any". */
CAROM_EXPERIMENTAL CAROM_API const char *carom_cuda_order_name(carom_cuda_order order);
CAROM_EXPERIMENTAL CAROM_API bool carom_cuda_order_from_name(const char *name,
                                                             carom_cuda_order *order);

/* Pairs in device memory. Start with `{0}`. Carom owns the memory and reuses it in the next call.
 */
typedef struct carom_cuda_pairs {
    carom_pair *data;       /* on the device */
    uint64_t *device_count; /* valid once the queued work is done, until the next call */
    uint64_t count;         /* set by carom_cuda_finish */
    uint64_t capacity;
    void *memory; /* Carom's own record */
} carom_cuda_pairs;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_pairs_free(carom_context *context,
                                                        carom_cuda_pairs *pairs);

/* ---- Soups ----------------------------------------------------------------------------------- */

/* Positions of vertices in device memory: packed, x, y, z of each. */
typedef struct carom_cuda_positions {
    const void *data;
    carom_scalar scalar; /* 0: doubles */
    uint64_t count;      /* of vertices */
} carom_cuda_positions;

/* carom_soup_update with positions in device memory, as many and of the scalar with which the soup
 * was created: else CAROM_BAD_INPUT.
 * - Queries of the soup that are queued are finished first, as they may have to be repeated. So in
 *   a frame an update stands before all queries of its soup: else CAROM_UNSUPPORTED. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_update(
    carom_context *context, carom_soup *soup, const carom_cuda_positions *positions);

/* carom_soup_self_pairs and carom_soup_cross_pairs with the result in device memory. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_self_pairs(carom_context *context,
                                                                     const carom_soup *soup,
                                                                     carom_cuda_order order,
                                                                     carom_cuda_pairs *pairs);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_pairs(
    carom_context *context, const carom_soup *a, const carom_pose *pose_a, const carom_soup *b,
    const carom_pose *pose_b, carom_cuda_order order, carom_cuda_pairs *pairs);

/* Segments in device memory. Start with `{0}`. Carom owns the memory and reuses it in the next
 * call. */
typedef struct carom_cuda_segments {
    carom_soup_segment *data; /* on the device */
    uint64_t count;           /* set by carom_cuda_finish */
    uint64_t capacity;
    uint64_t host_items; /* pairs that were cut on the host; set with the count */
    void *memory;        /* Carom's own record */
} carom_cuda_segments;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_segments_free(carom_context *context,
                                                           carom_cuda_segments *segments);

/* carom_soup_self_segments and carom_soup_cross_segments with pairs and segments in device memory.
 * The pairs are those of an earlier call, queued or not; or the caller's own, with data, count and
 * capacity set and the other fields 0.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT where a pair names a face that is not there.
 * - One of these searches is queued at a time: a second one finishes the first, and a frame has at
 *   most one, else CAROM_UNSUPPORTED. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_soup_self_segments(carom_context *context, const carom_soup *soup,
                              const carom_cuda_pairs *pairs, carom_cuda_segments *segments);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_segments(
    carom_context *context, const carom_soup *a, const carom_pose *pose_a, const carom_soup *b,
    const carom_pose *pose_b, const carom_cuda_pairs *pairs, carom_cuda_segments *segments);

/* ---- Impacts, and what is near --------------------------------------------------------------- */

/* Impacts or near pairs in device memory. Start with `{0}`. Carom owns the memory and reuses it in
 * the next call. */
typedef struct carom_cuda_impacts {
    carom_soup_impact *data; /* on the device */
    uint64_t count;          /* set by carom_cuda_finish */
    uint64_t capacity;
    uint64_t host_items; /* decided on the host, because doubles could not; set with the count */
    void *memory;        /* Carom's own record */
} carom_cuda_impacts;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_impacts_free(carom_context *context,
                                                          carom_cuda_impacts *impacts);

/* carom_soup_self_impacts and carom_soup_cross_impacts with end positions, as many as the soup has
 * vertices, and result in device memory, in the order of the CPU. For two soups NULL means that the
 * soup stays where it is. Start positions are those of the soup: see carom_cuda_soup_update.
 * - What doubles do not decide is decided on the host by carom_cuda_finish, and the result is whole
 *   after it. So one of these searches is queued at a time: a second one finishes the first, and a
 *   frame has at most one, else CAROM_UNSUPPORTED.
 * - Positions that are not finite are reported by carom_cuda_finish. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_soup_self_impacts(carom_context *context, const carom_soup *soup,
                             const carom_cuda_positions *end, carom_cuda_impacts *impacts);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_impacts(
    carom_context *context, const carom_soup *a, const carom_cuda_positions *end_a,
    const carom_soup *b, const carom_cuda_positions *end_b, carom_cuda_impacts *impacts);

/* carom_soup_self_first_impact and carom_soup_cross_first_impact with end positions in device
 * memory. *impact, on the host, is set by carom_cuda_finish. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                  const carom_cuda_positions *end, carom_soup_impact *impact);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_first_impact(
    carom_context *context, const carom_soup *a, const carom_cuda_positions *end_a,
    const carom_soup *b, const carom_cuda_positions *end_b, carom_soup_impact *impact);

/* carom_soup_self_near with the result in device memory: `time` of each is the distance. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_self_near(carom_context *context,
                                                                    const carom_soup *soup,
                                                                    double reach,
                                                                    carom_cuda_impacts *pairs);
/* carom_soup_self_safe_distances with the result in device memory, which has space for as many
 * doubles as the soup has vertices. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_soup_self_safe_distances(carom_context *context, const carom_soup *soup, double reach,
                                    double minimum, double *device_distances);

/* ---- Points and rays ------------------------------------------------------------------------- */

/* carom_soup_closest_points with points and hits in device memory, space for `count` each.
 * - Where coordinates are so far apart (more than some 2^130) that integers on the device are too
 *   short to decide which face is nearest, this is decided on the host, in carom_cuda_finish, after
 *   which all hits are there. carom_cuda_get_steps counts such points as open_in_doubles.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT where a point is not finite.
 * - CAROM_TOO_LARGE: 2^32 points or more. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_closest_points(
    carom_context *context, const carom_soup *soup, const carom_vec3 *device_points, uint64_t count,
    carom_hit *device_hits);

/* carom_soup_cast_rays with rays and hits in device memory, with the same rules. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cast_rays(carom_context *context,
                                                                    const carom_soup *soup,
                                                                    const carom_ray *device_rays,
                                                                    uint64_t count,
                                                                    carom_hit *device_hits);

/* Faces that rays meet, in device memory. Start with `{0}`. Carom owns the memory and reuses it in
 * the next call. */
typedef struct carom_cuda_ray_hits {
    carom_soup_ray_hit *data; /* on the device */
    uint64_t count;           /* set by carom_cuda_finish */
    uint64_t capacity;
    uint64_t host_items; /* rays that were decided on the host; set with the count */
    void *memory;        /* Carom's own record */
} carom_cuda_ray_hits;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_ray_hits_free(carom_context *context,
                                                           carom_cuda_ray_hits *hits);

/* carom_soup_query_rays with rays and hits in device memory, with the same rules.
 * - One of these searches is queued at a time: a second one finishes the first, and a frame has at
 *   most one, else CAROM_UNSUPPORTED. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_query_rays(carom_context *context,
                                                                     const carom_soup *soup,
                                                                     const carom_ray *device_rays,
                                                                     uint64_t count,
                                                                     carom_cuda_ray_hits *hits);

/* carom_soup_winding with points and winding numbers in device memory, with the same rules. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_winding(carom_context *context,
                                                                  const carom_soup *soup,
                                                                  const carom_vec3 *device_points,
                                                                  uint64_t count,
                                                                  int32_t *device_windings);

/* carom_soup_winding_fractions with points and results in device memory.
 * - The host makes the sums over faces anew in each call, in their order on the CPU: the call first
 *   waits for what is queued, and CAROM_UNSUPPORTED: a frame is being recorded.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT where a point is not finite. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_winding_fractions(
    carom_context *context, const carom_soup *soup, const carom_vec3 *device_points, uint64_t count,
    double *device_windings);

/* carom_soup_signed_distances with points, distances and hits in device memory, with the same
 * rules; device_hits must not be NULL.
 * - A soup that is not balanced (carom_mesh_inspect) has the rules of
 *   carom_cuda_soup_winding_fractions. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_signed_distances(
    carom_context *context, const carom_soup *soup, const carom_vec3 *device_points, uint64_t count,
    double *device_distances, carom_hit *device_hits);

/* ---- Distances of soups ---------------------------------------------------------------------- */

/* carom_soup_cross_distance in `count` poses with poses and results in device memory.
 * - device_poses_a and device_poses_b hold `count` poses each, and may be NULL: the identity for
 *   all. Poses are read when the queued work runs.
 * - Where faces meet, the pair of faces is found on the host, in carom_cuda_finish, after which all
 *   results are there: neither soup may change between the search and that call. The first such
 *   pose of a soup makes its trees on the host, which it keeps until its next change; those of a
 *   soup with positions of device memory are made each time. carom_cuda_get_steps counts these
 *   poses as open_in_doubles.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT, and names the first such pose, where one is not
 *   finite or moves a soup beyond the range of doubles.
 * - CAROM_UNSUPPORTED: a soup of method GRID.
 *
 * Cost: more where many pairs of triangles are about equally near; memory grows with the number of
 * such pairs in 1024 poses. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_distance(
    carom_context *context, const carom_soup *a, const carom_pose *device_poses_a,
    const carom_soup *b, const carom_pose *device_poses_b, uint64_t count, double limit,
    carom_soup_gap *device_gaps);

/* carom_soup_cross_meet with the same rules; nothing is left to the host. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_soup_cross_meet(
    carom_context *context, const carom_soup *a, const carom_pose *device_poses_a,
    const carom_soup *b, const carom_pose *device_poses_b, uint64_t count, bool *device_meet);

/* ---- Solids ---------------------------------------------------------------------------------- */

/* carom_solid_update with positions in device memory, as many as the mesh had vertices, of either
 * scalar. Unlike other calls of this header it waits, so no frame may be recorded.
 * - The first update of a solid is done on the host, and so is each one after which faces have no
 *   area, and where connectivity or the sign of the volume changed, or the tree is worn.
 * - *host_items, which may be NULL: what was left to the host. Of an update on the device these are
 *   triangles almost without area and pairs of faces that intersect, else all triangles.
 * - On failure the solid is as it was: CAROM_BAD_INPUT for positions that are not finite, and as
 *   for carom_solid_create. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_solid_update(carom_context *context, carom_solid *solid,
                        const carom_cuda_positions *positions, uint64_t *host_items);

/* ---- Balls ----------------------------------------------------------------------------------- */

/* carom_balls_overlap in `count` poses with poses and results in device memory; def may be NULL.
 * - device_poses_a and device_poses_b hold `count` poses each, and may be NULL: the identity for
 *   all.
 * - Poses are read, and overlaps written, when the queued work runs: a recorded frame computes the
 *   overlaps of the poses that are there by then.
 * - A pose that is not finite, or out of the range of balls.h, is reported by carom_cuda_finish as
 *   CAROM_BAD_INPUT; its overlap is all zero. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_balls_overlap(
    carom_context *context, const carom_balls *a, const carom_pose *device_poses_a,
    const carom_balls *b, const carom_pose *device_poses_b, uint64_t count,
    const carom_balls_query_def *def, carom_packing_overlap *device_overlaps);

/* carom_balls_pairs with poses and result in device memory. A pose that is NULL is the identity. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_balls_pairs(
    carom_context *context, const carom_balls *a, const carom_pose *device_pose_a,
    const carom_balls *b, const carom_pose *device_pose_b, carom_balls_pair_kind kind,
    carom_cuda_order order, const carom_balls_query_def *def, carom_cuda_pairs *pairs);

/* ---- Sphere trees ---------------------------------------------------------------------------- */

/* carom_tree_meet, carom_tree_distance and carom_tree_overlap in `count` poses with poses and
 * results in device memory; def may be NULL; its hint must be.
 * - device_poses_a and device_poses_b hold `count` poses each, and may be NULL: the identity for
 *   all. Poses are read when the queued work runs.
 * - Of distances of faces, where these do not meet and covers do, the host finds in
 *   carom_cuda_finish whether one solid is in the other; all results are there after it, and
 *   neither tree may change before. carom_cuda_get_steps counts these poses as open_in_doubles.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT, and names the first such pose, where one is not
 *   finite or out of the range of tree.h.
 * - CAROM_UNSUPPORTED: a budget or a tolerance; distances of faces without exact_distance; overlaps
 *   with narrow_limits, or with flip of trees with meshes. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_tree_meet(carom_context *context, const carom_tree *a, const carom_pose *device_poses_a,
                     const carom_tree *b, const carom_pose *device_poses_b, uint64_t count,
                     const carom_tree_query_def *def, bool *device_meet);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_tree_distance(
    carom_context *context, const carom_tree *a, const carom_pose *device_poses_a,
    const carom_tree *b, const carom_pose *device_poses_b, uint64_t count,
    const carom_tree_query_def *def, carom_tree_gap *device_gaps);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_tree_overlap(
    carom_context *context, const carom_tree *a, const carom_pose *device_poses_a,
    const carom_tree *b, const carom_pose *device_poses_b, uint64_t count,
    const carom_tree_query_def *def, carom_packing_overlap *device_overlaps);

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* carom_broad_move of all boxes, by id, with bounds in device memory, and carom_broad_commit. They
 * are not copied: they must stay as they are until the next change of the broad phase. Searches of
 * it that are queued are finished first; in a frame it stands before all of them.
 * - CAROM_BAD_INPUT: another number of boxes than the broad phase has, or boxes were removed. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_broad_update(carom_context *context, carom_broad *broad,
                        const carom_bounds *borrowed_device_boxes, uint64_t count);

/* carom_broad_pairs with the result in device memory.
 * - CAROM_UNSUPPORTED: the broad phase has an accept function. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_broad_pairs(carom_context *context,
                                                                 const carom_broad *broad,
                                                                 carom_cuda_order order,
                                                                 carom_cuda_pairs *pairs);

/* ---- Convex bodies --------------------------------------------------------------------------- */

/* Shapes prepared for bodies in device memory. */
typedef struct carom_cuda_convex_shapes carom_cuda_convex_shapes;

/* The shapes to be copied. */
typedef struct carom_cuda_convex_shapes_def {
    const carom_convex *shapes; /* copied, but for their hulls */
    uint64_t count;
} carom_cuda_convex_shapes_def;

/* Copies shapes to the device; hulls are borrowed and must have been made with a context of backend
 * cuda. On failure *shapes is NULL.
 * - CAROM_UNSUPPORTED: a hull of another backend, or a shape given by a support function.
 * - CAROM_BAD_INPUT: as for carom_convex_meet. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_convex_shapes_create(carom_context *context, const carom_cuda_convex_shapes_def *def,
                                carom_cuda_convex_shapes **shapes);
/* NULL is allowed. Constraint: nothing that uses them is queued. */
CAROM_EXPERIMENTAL CAROM_API void
carom_cuda_convex_shapes_destroy(carom_cuda_convex_shapes *shapes);

/* Bodies: shapes with poses. The arrays are in device memory. */
typedef struct carom_cuda_convex_bodies {
    const carom_cuda_convex_shapes *shapes;
    const uint32_t *shape_of; /* the shape of each body; NULL: all have the first */
    const carom_pose *poses;
    uint64_t count;
} carom_cuda_convex_bodies;

/* Computes boxes around bodies, with space for the tolerance of queries: where two bodies meet or
 * touch, their boxes overlap. `device_boxes` has space for bodies->count.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT where a pose is not finite or too large, or a
 *   shape is not there. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_convex_boxes(
    carom_context *context, const carom_cuda_convex_bodies *bodies, carom_bounds *device_boxes);

/* Results in device memory. Start with `{0}`. Carom owns the memory and reuses it in the next call.
 */
typedef struct carom_cuda_convex_results {
    carom_convex_result *data; /* on the device: result i is that of pair i */
    uint64_t count;            /* set by carom_cuda_finish */
    uint64_t capacity;
    void *memory; /* Carom's own record */
} carom_cuda_convex_results;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void
carom_cuda_convex_results_free(carom_context *context, carom_cuda_convex_results *results);

/* carom_convex_meet_batch, _distance_batch and _depth_batch with bodies, pairs and results in
 * device memory; results of _meet_batch have a relation only: apart, or overlapping when the shapes
 * meet. The pairs are those of an earlier call, queued or not; or the caller's own, with data,
 * count and capacity set and the other fields 0. def may be NULL; its hint must be.
 * - carom_cuda_finish fails as for carom_cuda_convex_boxes, and where a pair names a body that is
 *   not there. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_convex_meet_batch(
    carom_context *context, const carom_cuda_convex_bodies *bodies, const carom_cuda_pairs *pairs,
    const carom_convex_query_def *def, carom_cuda_convex_results *results);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_convex_distance_batch(
    carom_context *context, const carom_cuda_convex_bodies *bodies, const carom_cuda_pairs *pairs,
    const carom_convex_query_def *def, carom_cuda_convex_results *results);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_convex_depth_batch(
    carom_context *context, const carom_cuda_convex_bodies *bodies, const carom_cuda_pairs *pairs,
    const carom_convex_query_def *def, carom_cuda_convex_results *results);

/* Manifolds in device memory. Start with `{0}`. Carom owns the memory and reuses it in the next
 * call. */
typedef struct carom_cuda_convex_manifolds {
    carom_convex_manifold *data; /* on the device: manifold i is that of pair i */
    uint64_t count;              /* set by carom_cuda_finish */
    uint64_t capacity;
    void *memory; /* Carom's own record */
} carom_cuda_convex_manifolds;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void
carom_cuda_convex_manifolds_free(carom_context *context, carom_cuda_convex_manifolds *manifolds);

/* carom_convex_contacts of pairs of bodies, with the rules of the batches above.
 * - CAROM_BAD_INPUT: a reach that is negative, infinite or NaN. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_convex_contacts_batch(
    carom_context *context, const carom_cuda_convex_bodies *bodies, const carom_cuda_pairs *pairs,
    double reach, const carom_convex_query_def *def, carom_cuda_convex_manifolds *manifolds);

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* Contacts in device memory. Start with `{0}`. Carom owns the memory and reuses it in the next
 * step. */
typedef struct carom_cuda_scene_contacts {
    carom_scene_contact *data; /* on the device, as carom_scene_step gives them */
    uint64_t count;            /* set by carom_cuda_finish */
    uint64_t capacity;
    void *memory;        /* Carom's own record */
    uint64_t host_items; /* of these, contacts that the host put together, from what the device
                            found: those of meshes; set with the count */
} carom_cuda_scene_contacts;

/* Frees the memory and resets the array to `{0}`. Waits for queued work. */
CAROM_EXPERIMENTAL CAROM_API void
carom_cuda_scene_contacts_free(carom_context *context, carom_cuda_scene_contacts *contacts);

/* carom_scene_move of all objects, by id, with poses in device memory, which are copied when the
 * queued work runs. What is given for ids of removed objects is not read.
 * - CAROM_BAD_INPUT: another number of poses than the scene has given out ids. Poses that are not
 *   finite make the next step fail, and those after it until the objects are moved again. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_scene_move(carom_context *context,
                                                                carom_scene *scene,
                                                                const carom_pose *device_poses,
                                                                uint64_t count);

/* carom_scene_step with the results in device memory; contacts, begun and ended may be NULL. Waits
 * where the scene has soups or solids.
 * - A step counts as done once carom_cuda_finish has returned CAROM_OK; another change or step of
 *   the scene finishes it first.
 * - CAROM_UNSUPPORTED: a frame is being recorded.
 * - CAROM_BAD_INPUT, by carom_cuda_finish: a pose that carom_cuda_scene_move gave is not finite or
 *   beyond 1e300. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_scene_step(carom_context *context,
                                                                carom_scene *scene,
                                                                carom_cuda_scene_contacts *contacts,
                                                                carom_cuda_pairs *begun,
                                                                carom_cuda_pairs *ended);

/* ---- Robots ---------------------------------------------------------------------------------- */

/* A robot and its world, copied to the device. */
typedef struct carom_cuda_robot carom_cuda_robot;

/* Copies a robot to the device. It is borrowed, and must not change but for
 * carom_cuda_robot_update. On failure *copy is NULL. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_robot_create(carom_context *context,
                                                                  const carom_robot *borrowed_robot,
                                                                  carom_cuda_robot **copy);
/* Makes the copy the same as the robot, after changes of it or of its world. Waits for queued work.
 * Bodies and objects that have at least 64 KiB are copied only where they have changed. Where it
 * fails, queries of the copy fail until an update succeeds. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_robot_update(carom_context *context,
                                                                  carom_cuda_robot *copy);
/* NULL is allowed. Constraint: nothing that uses it is queued. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_robot_destroy(carom_cuda_robot *copy);

/* What the copy holds, and what it left to the host. */
typedef struct carom_cuda_robot_info {
    uint64_t bytes;      /* of device memory */
    uint64_t host_items; /* configurations and motions that the host decided: in them two triangles
                            are as far apart as the margin, to within rounding */
} carom_cuda_robot_info;

/* Gets what the copy holds. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_robot_get_info(const carom_cuda_robot *copy,
                                                                    carom_cuda_robot_info *info);

/* carom_robot_check of `count` configurations in device memory, with results there; query may be
 * NULL.
 * - carom_cuda_finish fails with CAROM_BAD_INPUT where a number is not finite or beyond 2^40.
 * - Where several queued calls for robots write the same memory, the last one's answers are there.
 */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_robot_check(
    carom_context *context, carom_cuda_robot *copy, const double *device_configurations,
    uint64_t count, const carom_robot_query *query, carom_robot_result *device_results);

/* carom_robot_clearance, likewise. A thread of the device takes a configuration. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_robot_clearance(
    carom_context *context, carom_cuda_robot *copy, const double *device_configurations,
    uint64_t count, const carom_robot_query *query, carom_robot_gap *device_gaps);

/* carom_robot_motion of motions from device_from[i] to device_to[i], likewise. A warp of the
 * device takes a motion. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_cuda_robot_motion(carom_context *context, carom_cuda_robot *copy, const double *device_from,
                        const double *device_to, uint64_t count, const carom_robot_query *query,
                        carom_robot_motion_result *device_results);

/* ---- Frames ---------------------------------------------------------------------------------- */

/* A recorded sequence of calls that do not wait. */
typedef struct carom_cuda_frame carom_cuda_frame;

/* From here on, calls that do not wait are recorded instead of queued. Finishes earlier work.
 * Constraint: no other calls on the context, and no frame is being recorded. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_frame_begin(carom_context *context);
/* Ends the recording. On failure *frame is NULL. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_frame_end(carom_context *context,
                                                               carom_cuda_frame **frame);
/* Queues the frame as one graph; carom_cuda_finish completes it. Every structure and result of the
 * recorded calls must still be there. Finishes earlier work that is of another frame. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_frame_run(carom_context *context,
                                                               carom_cuda_frame *frame);
/* NULL is allowed. Constraint: the context is still there and nothing of the frame is queued. */
CAROM_EXPERIMENTAL CAROM_API void carom_cuda_frame_destroy(carom_cuda_frame *frame);

/* ---- Time of each step ----------------------------------------------------------------------- */

/* The most steps that are measured. */
#define CAROM_CUDA_MOST_STEPS 32

/* How long each step of the queued work took. */
typedef struct carom_cuda_steps {
    uint32_t count;
    const char *name[CAROM_CUDA_MOST_STEPS];
    double milliseconds[CAROM_CUDA_MOST_STEPS];
    /* Of the last search for pairs: */
    uint64_t node_pairs;      /* pairs of leaves of the tree whose boxes overlap */
    uint64_t candidates;      /* pairs whose boxes overlap */
    uint64_t open_in_floats;  /* of these, not decided by float32 */
    uint64_t open_in_doubles; /* of these, not decided by doubles */
    /* The longest single step; of frames that were queued one behind the other, the slowest. */
    double longest_milliseconds;
} carom_cuda_steps;

/* Measures the steps of the calls that follow, outside of frames, by events; takes some
 * microseconds per step. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_set_timing(carom_context *context, bool on);
/* Gets the steps of the work that the last carom_cuda_finish waited for. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_cuda_get_steps(const carom_context *context,
                                                               carom_cuda_steps *steps);

#ifdef __cplusplus
}
#endif

#endif
