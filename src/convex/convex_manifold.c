/* SPDX-License-Identifier: MIT */
/* Contact points: the items of convex_manifold_item.h, with the best faces of hulls found in
 * vectors, and room for the corners of any. */
#include <float.h>
#include <string.h>

#include "base/context.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"

static uint64_t most_corners(const carom_convex *s, const carom_hull_faces *faces) {
    return s->kind == CAROM_CONVEX_KIND_HULL ? faces->vertex_count + 2 : 4;
}

/* The face of a shape most across the direction d. */
static void outline_of(const carom_context *context, const carom_hull_faces *faces,
                       const carom_convex_core *s, const carom_frame *f, carom_vec3 d,
                       carom_manifold_outline *o) {
    carom_hull_best best = {.face = UINT64_MAX};
    if (s->kind == CAROM_CONVEX_KIND_HULL && faces->face_count != 0)
        CAROM_CPU_CALL(context, carom_hull_best_face)(faces, f, d, &best);
    carom_manifold_outline_of(faces, &best, s, f, d, o);
}

static uint32_t face_points(const carom_context *context, const carom_convex_question_item *q,
                            const carom_hull_faces *faces_a, const carom_hull_faces *faces_b,
                            double reach, const carom_manifold_room *room, carom_vec3 n) {
    carom_manifold_outline oa = {.corners = room->corners};
    carom_manifold_outline ob = {.corners = room->corners + room->most};
    carom_manifold_pair s;
    carom_manifold_pose(q, reach, &s);
    outline_of(context, faces_a, &s.a, &s.frame_a, n, &oa);
    outline_of(context, faces_b, &s.b, &s.frame_b, carom_vec_scale(n, -1.0), &ob);
    return carom_manifold_face_points(&s, n, &oa, &ob, room);
}

carom_status carom_convex_find_points(const carom_context *context, carom_arena *arena,
                                      const carom_convex_question_item *q,
                                      const carom_hull_faces *faces_a,
                                      const carom_hull_faces *faces_b, double reach,
                                      carom_convex_manifold *manifold) {
    carom_convex_result r = manifold->result;
    manifold->count = 0;
    if (r.distance > reach) return CAROM_OK;
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_manifold_room room = {
        .most = carom_manifold_room_most(most_corners(q->a, faces_a) + most_corners(q->b, faces_b)),
    };
    room.corners = CAROM_ARENA_TAKE(arena, carom_manifold_corner, 3 * room.most);
    room.found = CAROM_ARENA_TAKE(arena, carom_convex_contact, room.most);
    if (room.corners == NULL || room.found == NULL) {
        carom_arena_rewind(arena, mark);
        return CAROM_NO_MEMORY;
    }
    uint32_t count = face_points(context, q, faces_a, faces_b, reach, &room, r.normal);
    for (uint32_t i = 0; i < count; ++i) manifold->points[i] = room.found[i];
    manifold->count = count;
    carom_arena_rewind(arena, mark);
    if (count == 0) {
        manifold->count = 1;
        carom_manifold_result_point(&r, &manifold->points[0]);
    }
    return CAROM_OK;
}

carom_status carom_convex_check_reach(carom_context *context, double reach) {
    if (reach >= 0.0 && reach <= DBL_MAX) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the reach is %g; give a finite number, not below 0", reach);
}

carom_status carom_convex_contacts(carom_context *context, const carom_convex *a,
                                   const carom_pose *pose_a, const carom_convex *b,
                                   const carom_pose *pose_b, double reach,
                                   const carom_convex_query_def *def,
                                   carom_convex_manifold *manifold) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "shape");
    CAROM_REQUIRE_OUTPUT(manifold, "manifold");
    CAROM_TRY(carom_convex_check_reach(context, reach));
    if (context->backend != CAROM_BACKEND_CPU)
        return carom_convex_device_contacts(context, a, pose_a, b, pose_b, reach, def, manifold);
    carom_convex_result r;
    memset(&r, 0, sizeof(r)); /* padding, too */
    CAROM_TRY(carom_convex_depth(context, a, pose_a, b, pose_b, def, &r));
    memset(manifold, 0, sizeof(*manifold));
    memcpy(&manifold->result, &r, sizeof(r));
    carom_convex_question_item q = carom_convex_question_of(a, pose_a, b, pose_b);
    carom_status status =
        carom_convex_find_points(context, carom_scratch(context, 0), &q, carom_convex_hull_faces(a),
                                 carom_convex_hull_faces(b), reach, manifold);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "contact points");
}
