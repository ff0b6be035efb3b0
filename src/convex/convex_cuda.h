/* SPDX-License-Identifier: MIT */
/* convex_cuda.h: shapes and bodies in device memory, a pair of them as an item sees it, and the
 * contact points of one pair by one thread, for the kernels of convex shapes and of scenes. */
#ifndef CAROM_SRC_CONVEX_CONVEX_CUDA_H
#define CAROM_SRC_CONVEX_CONVEX_CUDA_H

#include "base/device_cuda.h"
#include "convex/convex_device.h"

#define CAROM_CONVEX_MOST_SUM 1e300 /* of parts of a pose, as in convex.c */

/* ---- Shapes and bodies ----------------------------------------------------------------------- */

struct carom_device_shapes {
    carom_device_block memory;
    uint32_t count;
    bool small_hulls;      /* all are hulls that are searched all through by default */
    uint32_t most_corners; /* of those that are polytopes */
    uint32_t face_corners; /* of a face, at most */

    /* Takes in what is said of all. */
    void note(const carom_device_shape *s) {
        bool hull = s->shape.kind == CAROM_CONVEX_KIND_HULL;
        if (!hull || s->view.count > CAROM_HULL_SCANNED_VERTICES) small_hulls = false;
        uint32_t corners =
            carom_convex_curved(&s->shape) ? 0 : carom_convex_corners(&s->shape, &s->view);
        most_corners = CAROM_MAX(corners, most_corners);
        face_corners = CAROM_MAX(s->face_corners, face_corners);
    }
};

struct carom_convex_bodies_view {
    const carom_device_shape *shapes;
    uint32_t shape_count;
    const uint32_t *shape_of;
    const carom_pose *poses;
    uint64_t count;

    __device__ uint32_t shape(uint64_t body) const {
        return shape_of != nullptr ? shape_of[body] : 0u;
    }
};

static inline carom_convex_bodies_view carom_convex_view_of(const carom_device_bodies *bodies) {
    bool any = bodies->shapes != nullptr;
    return carom_convex_bodies_view{
        any ? (const carom_device_shape *)bodies->shapes->memory.data : nullptr,
        any ? bodies->shapes->count : 0, bodies->shape_of, bodies->poses, bodies->count};
}

static __device__ inline bool carom_convex_pose_is_fine(const carom_pose &pose) {
    double turn = fabs(pose.q.w) + fabs(pose.q.x) + fabs(pose.q.y) + fabs(pose.q.z);
    double way = fabs(pose.t.x) + fabs(pose.t.y) + fabs(pose.t.z);
    return turn <= CAROM_CONVEX_MOST_SUM && way <= CAROM_CONVEX_MOST_SUM;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Relative to sizes and translations, as carom_scene_convex_box: the tolerance of convex.h. */
#define CAROM_CONVEX_BOX_SLACK 0x1p-42

/* The box of a posed shape, with space for the tolerance of queries. */
static __device__ inline carom_bounds carom_convex_device_box(const carom_device_shape *s,
                                                              const carom_pose &pose) {
    const carom_hull_view *hull = s->shape.kind == CAROM_CONVEX_KIND_HULL ? &s->view : nullptr;
    double span = carom_convex_span(&s->shape, hull);
    double size = CAROM_MAX(span, carom_convex_size(&s->shape, hull)); /* e counts this */
    double r[9], low[3], high[3];
    const double t[3] = {pose.t.x, pose.t.y, pose.t.z};
    double slack = CAROM_CONVEX_BOX_SLACK * (size + (fabs(t[0]) + fabs(t[1]) + fabs(t[2])));
    double unit = carom_convex_unit(span), back = 1.0 / unit;
    carom_convex_core core;
    carom_convex_core_make(&s->shape, hull, unit, CAROM_CONVEX_SEARCH_AUTO, &core);
    carom_convex_matrix(carom_convex_quat(&pose), r);
    if (hull != nullptr && !core.climb) { /* one pass over the vertices */
        for (int k = 0; k < 3; ++k) high[k] = low[k] = -HUGE_VAL;
        for (uint32_t v = 0; v < hull->count; ++v) {
            carom_vec3 p = carom_convex_turn(r, hull->vertices[v]);
            const double x[3] = {p.x, p.y, p.z};
            for (int k = 0; k < 3; ++k) {
                high[k] = CAROM_MAX(x[k], high[k]);
                low[k] = CAROM_MAX(-x[k], low[k]);
            }
        }
        for (int k = 0; k < 3; ++k) {
            high[k] = (high[k] * core.hull_unit + core.margin) * back;
            low[k] = (low[k] * core.hull_unit + core.margin) * back;
        }
    } else {
        for (int k = 0; k < 3; ++k)
            for (int side = 0; side < 2; ++side) {
                carom_vec3 d = carom_vec(r[3 * k], r[3 * k + 1], r[3 * k + 2]);
                if (side != 0) d = carom_vec_scale(d, -1.0);
                uint32_t seed = UINT32_MAX;
                double most = carom_vec_dot(carom_convex_support(&core, d, &seed), d);
                (side == 0 ? high : low)[k] = (most + core.margin) * back;
            }
    }
    carom_bounds box = {
        carom_vec((t[0] - low[0]) - slack, (t[1] - low[1]) - slack, (t[2] - low[2]) - slack),
        carom_vec((t[0] + high[0]) + slack, (t[1] + high[1]) + slack, (t[2] + high[2]) + slack)};
    return box;
}

/* ---- One pair -------------------------------------------------------------------------------- */

/* One pair as an item sees it. */
struct carom_convex_device_pair {
    carom_convex a, b;
    carom_convex_question_item q;
    const carom_device_shape *shape_a, *shape_b;

    /* False where there are no such bodies, or a pose is bad. HULLS: both shapes are small hulls.
     * That is told to the compiler, which then leaves out all other kinds. */
    template <bool HULLS>
    __device__ bool begin(const carom_convex_bodies_view &bodies, carom_pair pair,
                          const carom_convex_query_def &def) {
        if (pair.a >= bodies.count || pair.b >= bodies.count) return false;
        uint32_t sa = bodies.shape(pair.a), sb = bodies.shape(pair.b);
        if (sa >= bodies.shape_count || sb >= bodies.shape_count) return false;
        shape_a = &bodies.shapes[sa];
        shape_b = &bodies.shapes[sb];
        if (!carom_convex_pose_is_fine(bodies.poses[pair.a]) ||
            !carom_convex_pose_is_fine(bodies.poses[pair.b]))
            return false;
        a = shape_a->shape;
        b = shape_b->shape;
        if (HULLS) a.kind = b.kind = CAROM_CONVEX_KIND_HULL;
        q.a = &a;
        q.b = &b;
        q.hull_a = a.kind == CAROM_CONVEX_KIND_HULL ? &shape_a->view : nullptr;
        q.hull_b = b.kind == CAROM_CONVEX_KIND_HULL ? &shape_b->view : nullptr;
        q.pose_a = &bodies.poses[pair.a];
        q.pose_b = &bodies.poses[pair.b];
        q.def = def;
        if (HULLS) q.def.search = CAROM_CONVEX_SEARCH_ALL;
        return true;
    }
};

/* ---- Contact points -------------------------------------------------------------------------- */

#define CAROM_POINTS_THREADS 64u
/* Bytes for the polygons of all threads that find contact points at a time, at most, but for one
 * block: with faces of few corners there are as many threads as run at a time. */
#define CAROM_POINTS_BYTES (256u << 20)

/* What one thread needs. */
static __host__ __device__ inline uint64_t carom_points_room_bytes(uint32_t face_corners) {
    return carom_manifold_room_most(2 * (uint64_t)face_corners) *
           (3 * sizeof(carom_manifold_corner) + sizeof(carom_convex_contact));
}

/* Blocks of CAROM_POINTS_THREADS for so many pairs. */
template <typename KERNEL>
static inline uint64_t carom_points_blocks(const carom_device *device, KERNEL kernel,
                                           uint64_t pairs, uint32_t face_corners) {
    uint64_t block = CAROM_POINTS_THREADS * carom_points_room_bytes(face_corners);
    uint64_t most = CAROM_MAX(CAROM_POINTS_BYTES / block, (uint64_t)1);
    uint64_t resident = carom_device_resident(device, kernel, CAROM_POINTS_THREADS);
    uint64_t wanted = carom_device_blocks(pairs, CAROM_POINTS_THREADS);
    return CAROM_MIN(CAROM_MIN(most, resident), wanted);
}

static __device__ inline void carom_points_outline(const carom_device_shape *shape,
                                                   const carom_convex_core *core,
                                                   const carom_frame *frame, carom_vec3 d,
                                                   carom_manifold_outline *o) {
    carom_hull_best best = {UINT64_MAX, {0.0, 0.0, 0.0}, 0.0};
    if (core->kind == CAROM_CONVEX_KIND_HULL) /* as carom_hull_best_face */
        for (uint64_t f = 0; f < shape->faces->face_count; ++f)
            carom_hull_look_at_face(shape->faces, frame, d, f, &best);
    carom_manifold_outline_of(shape->faces, &best, core, frame, d, o);
}

/* The contact points of a pair with this result, as carom_convex_find_points where the distance is
 * at most the reach; `memory` is the thread's room. Returns their number, at least 1, and where the
 * first is in *points. */
static __device__ inline uint32_t carom_points_find(const carom_convex_device_pair *pair,
                                                    const carom_convex_result &r, double reach,
                                                    uint32_t face_corners, char *memory,
                                                    carom_convex_contact **points) {
    carom_manifold_room room;
    room.most = carom_manifold_room_most(2 * (uint64_t)face_corners);
    room.found = (carom_convex_contact *)memory;
    room.corners = (carom_manifold_corner *)(room.found + room.most);
    carom_manifold_outline oa, ob;
    carom_manifold_pair s;
    oa.corners = room.corners;
    ob.corners = room.corners + room.most;
    carom_manifold_pose(&pair->q, reach, &s);
    carom_points_outline(pair->shape_a, &s.a, &s.frame_a, r.normal, &oa);
    carom_points_outline(pair->shape_b, &s.b, &s.frame_b, carom_vec_scale(r.normal, -1.0), &ob);
    uint32_t count = carom_manifold_face_points(&s, r.normal, &oa, &ob, &room);
    *points = room.found;
    if (count != 0) return count;
    carom_manifold_result_point(&r, room.found);
    return 1;
}

#endif
