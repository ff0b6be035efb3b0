/* SPDX-License-Identifier: MIT */
/* Convex queries on the CPU: the items, with the search through a hull's vertices in vectors
 * (convex_item.h), and the workspace for expanding polytopes: on the stack, or for large hulls from
 * the arena. */
#include "convex/convex_cpu.h"

#include "base/simd.h"

/* Of a product of two unit vectors, one of them turned: each way of rounding it has less than 32
 * units of 2^-53. Two of these. */
#define CONVEX_CPU_COSINE_SLACK 0x1p-46

/* Room for `points` points; their polytope has up to twice as many faces, and four more. */
#define CONVEX_CPU_FACES_OF(points) (2 * (points) + 4)

typedef struct small_room {
    carom_convex_vertex points[CAROM_EPA_STACK_POINTS];
    carom_polytope_face faces[CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS)];
    carom_vec3 normals[CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS)];
    double distances[CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS) + CAROM_SCAN_PADDING];
    uint32_t border[3 * CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS)];
    uint32_t from[CAROM_EPA_STACK_POINTS];
    uint32_t made[CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS)],
        lost[CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS)];
} small_room;

/* Not inlined: the workspace is touched only where it is needed. */
__attribute__((noinline)) static int query_depth(const carom_convex_question_item *q,
                                                 carom_convex_work *work, uint32_t points,
                                                 carom_convex_result *result) {
    small_room small;
    carom_epa_workspace workspace = {
        .points = small.points,
        .point_capacity = CAROM_EPA_STACK_POINTS,
        .local_points = carom_convex_epa_local(q, CAROM_EPA_STACK_POINTS),
        .polytope = {.faces = small.faces,
                     .face_capacity = CONVEX_CPU_FACES_OF(CAROM_EPA_STACK_POINTS),
                     .border = small.border,
                     .from = small.from,
                     .made = small.made,
                     .lost = small.lost},
        .normals = small.normals,
        .distances = small.distances};
    if (points >
        CAROM_EPA_STACK_POINTS) { /* a larger search follows where this one does not suffice */
        workspace.point_capacity = carom_convex_epa_first_points(points);
        workspace.local_points = 0;
    }
    return carom_convex_depth_item(q, work, &workspace, result);
}

static carom_status query_large(const carom_convex_question_item *q, carom_convex_work *work,
                                uint32_t points, carom_arena *arena, carom_convex_result *result) {
    uint32_t faces = CONVEX_CPU_FACES_OF(points);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_epa_workspace workspace = {
        .points = CAROM_ARENA_TAKE(arena, carom_convex_vertex, points),
        .point_capacity = points,
        .local_points = carom_convex_epa_local(q, points),
        .polytope = {.faces = CAROM_ARENA_TAKE(arena, carom_polytope_face, faces),
                     .face_capacity = faces,
                     .border = CAROM_ARENA_TAKE(arena, uint32_t, 3 * faces),
                     .from = CAROM_ARENA_TAKE(arena, uint32_t, points),
                     .made = CAROM_ARENA_TAKE(arena, uint32_t, faces),
                     .lost = CAROM_ARENA_TAKE(arena, uint32_t, faces)},
        .normals = CAROM_ARENA_TAKE(arena, carom_vec3, faces),
        .distances = CAROM_ARENA_TAKE(arena, double, faces),
        .heap = CAROM_ARENA_TAKE(arena, carom_epa_entry, 2 * faces),
        .heap_capacity = 2 * faces};
    bool there = workspace.points != NULL && workspace.polytope.faces != NULL &&
                 workspace.polytope.border != NULL && workspace.polytope.from != NULL &&
                 workspace.polytope.made != NULL && workspace.polytope.lost != NULL &&
                 workspace.normals != NULL && workspace.distances != NULL && workspace.heap != NULL;
    if (there) (void)carom_convex_depth_item(q, work, &workspace, result);
    carom_arena_rewind(arena, mark);
    return there ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status CAROM_CPU(carom_convex_deepen)(const carom_convex_question_item *q,
                                            carom_convex_work *work, carom_arena *arena,
                                            carom_convex_result *result) {
    uint32_t points = carom_convex_epa_points(q);
    if (!query_depth(q, work, points, result) || points <= CAROM_EPA_STACK_POINTS) return CAROM_OK;
    return query_large(q, work, points, arena, result);
}

carom_status CAROM_CPU(carom_convex_query)(const carom_convex_question_item *q,
                                           carom_convex_question question,
                                           carom_convex_learned *cache, carom_arena *arena,
                                           carom_convex_result *result) {
    carom_convex_work work;
    if (question == CAROM_CONVEX_QUESTION_MEET) {
        int meet = carom_convex_meet_item(q, cache, result);
        result->relation = meet ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_APART;
        return CAROM_OK;
    }
    if (!carom_convex_distance_item(q, cache, &work, result)) return CAROM_OK;
    if (question == CAROM_CONVEX_QUESTION_DISTANCE) return CAROM_OK;
    return CAROM_CPU(carom_convex_deepen)(q, &work, arena, result);
}

void CAROM_CPU(carom_hull_find_seeds)(const carom_hull_view *hull, uint32_t *seeds) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < CAROM_HULL_SEEDS; ++i) {
        at = carom_hull_climb(hull, carom_hull_direction(i), at);
        seeds[i] = at;
    }
}

/* Products of a direction, in each lane of d, with the normals of some faces. */
static inline carom_f64v face_products(const carom_hull_faces *faces, uint64_t part,
                                       const carom_f64v *d) {
    enum { PARTS = CAROM_HULL_LANES / CAROM_LANES64 };
    const carom_hull_block *b = &faces->normal_blocks[part / PARTS];
    uint64_t lane = part % PARTS * CAROM_LANES64;
    carom_f64v x = carom_f64v_load(b->x + lane), y = carom_f64v_load(b->y + lane);
    return (x * d[0] + y * d[1]) + carom_f64v_load(b->z + lane) * d[2];
}

/* One pass over all normals in the hull's frame finds the largest product; the second turns the
 * normals that may have it, mostly one. */
void CAROM_CPU(carom_hull_best_face)(const carom_hull_faces *faces, const carom_frame *frame,
                                     carom_vec3 d, carom_hull_best *best) {
    uint64_t count = faces->face_count;
    best->face = UINT64_MAX;
    if (faces->normal_blocks == NULL) {
        for (uint64_t f = 0; f < count; ++f) carom_hull_look_at_face(faces, frame, d, f, best);
        return;
    }
    carom_vec3 own = carom_convex_turn_back(frame->r, d);
    const carom_f64v along[3] = {carom_f64v_splat(own.x), carom_f64v_splat(own.y),
                                 carom_f64v_splat(own.z)};
    carom_f64v most = carom_f64v_splat(-HUGE_VAL);
    uint64_t parts = (count + CAROM_LANES64 - 1) / CAROM_LANES64;
    for (uint64_t i = 0; i < parts; ++i)
        most = carom_f64v_max(face_products(faces, i, along), most);
    carom_f64v limit = carom_f64v_splat(carom_f64v_greatest(most) - CONVEX_CPU_COSINE_SLACK);
    for (uint64_t i = 0; i < parts; ++i) {
        carom_lanes lanes = carom_lanes_of64((carom_i64v)(face_products(faces, i, along) >= limit));
        for (; lanes != 0; lanes &= lanes - 1) {
            uint64_t f = i * CAROM_LANES64 + (uint64_t)__builtin_ctz(lanes);
            if (f < count) carom_hull_look_at_face(faces, frame, d, f, best);
        }
    }
    CAROM_ASSERT(best->face != UINT64_MAX);
}
