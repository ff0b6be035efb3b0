/* SPDX-License-Identifier: MIT */
/* The lists of defects: boundary loops, non-manifold edges and vertices, flipped faces.
 *
 * Vertices: a union-find over corners joins the corners at both ends of an edge that have a side
 * there. A vertex whose corners are in more than one set is where surfaces touch.
 *
 * Flipped faces: a union-find over faces, in which each face also knows whether it is reversed
 * relative to its parent (Tarjan 1975, with parity). An edge with two sides says whether its faces
 * agree. A contradiction makes the set twisted.
 *
 * Invariant of both: a root is the lowest member of its set, so that nothing depends on the order
 * of the unions. */
#include "base/array.h"
#include "base/item.h"
#include "base/progress.h"
#include "repair/repair.h"

#define EDGES_BETWEEN_LOOKS 65536u

/* ---- First lines of all ---------------------------------------------------------------------- */

typedef struct repair_job {
    carom_context *context;
    carom_arena_mark mark;
    carom_repair_sides sides;
} repair_job;

static carom_status begin_job(carom_context *context, const carom_mesh_view *view,
                              repair_job *job) {
    CAROM_TRY(carom_mesh_check(context, view));
    CAROM_TRY(carom_mesh_check_numbers(context, view, "searched for defects"));
    *job = (repair_job){.context = context};
    job->mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_progress_begin(context, "searching for defects", 0);
    return CAROM_OK;
}

static carom_status end_job(repair_job *job, carom_status status) {
    carom_arena_rewind(carom_scratch(job->context, 0), job->mark);
    return carom_progress_finish(job->context, status);
}

/* Whether to look for cancellation after this edge. */
static bool is_time_to_look(uint64_t *edges) {
    return ++*edges % EDGES_BETWEEN_LOOKS == 0;
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static carom_status find_loops(repair_job *job, const carom_mesh_view *view,
                               carom_repair_loops *loops, carom_numbers *vertices) {
    carom_repair_boundary boundary;
    CAROM_TRY(carom_repair_sides_make(job->context, view, &job->sides));
    CAROM_TRY(carom_repair_boundary_make(job->context, &job->sides, &boundary));
    return carom_repair_boundary_copy(job->context, &boundary, loops, vertices);
}

carom_status carom_repair_list_loops(carom_context *context, const carom_mesh_view *view,
                                     carom_repair_loops *loops, carom_numbers *vertices) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_RESULT(loops, "loops");
    CAROM_REQUIRE_RESULT(vertices, "vertices");
    repair_job job;
    CAROM_TRY(begin_job(context, view, &job));
    return end_job(&job, find_loops(&job, view, loops, vertices));
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static carom_status find_nonmanifold(repair_job *job, const carom_mesh_view *view,
                                     carom_pairs *edges) {
    CAROM_TRY(carom_repair_sides_make(job->context, view, &job->sides));
    uint64_t count = 0, at = 0, writable, to = 0;
    carom_repair_edge edge;
    while (carom_repair_next_edge(&job->sides, &at, &edge)) count += edge.kept > 2;
    CAROM_TRY(carom_pairs_begin(job->context, &job->context->allocator, edges, count, &writable));
    for (at = 0; to < writable && carom_repair_next_edge(&job->sides, &at, &edge);)
        if (edge.kept > 2) edges->data[to++] = (carom_pair){edge.low, edge.high};
    return carom_pairs_end(edges);
}

carom_status carom_repair_list_edges(carom_context *context, const carom_mesh_view *view,
                                     carom_pairs *edges) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_RESULT(edges, "edges");
    repair_job job;
    CAROM_TRY(begin_job(context, view, &job));
    return end_job(&job, find_nonmanifold(&job, view, edges));
}

/* ---- Vertices -------------------------------------------------------------------------------- */

static uint32_t repair_root(uint32_t *parents, uint32_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

static void repair_join(uint32_t *parents, uint32_t a, uint32_t b) {
    a = repair_root(parents, a);
    b = repair_root(parents, b);
    parents[CAROM_MAX(a, b)] = CAROM_MIN(a, b);
}

/* The corner of a side at this vertex. */
static uint32_t corner_at(const carom_repair_sides *s, uint32_t corner, uint32_t vertex) {
    return carom_repair_from(s, corner) == vertex ? corner : s->next[corner];
}

enum { VERTEX_UNSEEN = 0, VERTEX_SEEN, VERTEX_TOUCHES, VERTEX_NONMANIFOLD_EDGE };

/* Joins the corners at both ends of every edge. Sets `state` of vertices on non-manifold edges, and
 * `has_side` of corners beside edges that are not cancelled. */
static carom_status join_corners(repair_job *job, uint32_t *parents, uint8_t *has_side,
                                 uint8_t *state) {
    const carom_repair_sides *s = &job->sides;
    uint64_t at = 0, edges = 0;
    carom_repair_edge edge;
    while (carom_repair_next_edge(s, &at, &edge)) {
        uint32_t low = corner_at(s, s->order[edge.begin], edge.low);
        uint32_t high = corner_at(s, s->order[edge.begin], edge.high);
        for (uint64_t i = edge.begin; i < edge.end; ++i) {
            uint32_t corner = s->order[i];
            repair_join(parents, low, corner_at(s, corner, edge.low));
            repair_join(parents, high, corner_at(s, corner, edge.high));
            if (edge.kept != 0) has_side[corner] = has_side[s->next[corner]] = 1;
        }
        if (edge.kept > 2) state[edge.low] = state[edge.high] = VERTEX_NONMANIFOLD_EDGE;
        if (is_time_to_look(&edges)) CAROM_TRY(carom_progress_look(job->context));
    }
    return CAROM_OK;
}

/* Marks vertices whose corners are in several sets; their number. */
static uint64_t mark_vertices(const carom_repair_sides *s, uint32_t *parents,
                              const uint8_t *has_side, uint8_t *state, uint32_t *set) {
    uint64_t count = 0;
    for (uint64_t c = 0; c < s->corner_count; ++c) {
        uint32_t vertex = s->view->corners[c];
        if (has_side[c] == 0 || state[vertex] >= VERTEX_TOUCHES) continue;
        uint32_t root = repair_root(parents, (uint32_t)c);
        if (state[vertex] == VERTEX_UNSEEN) set[vertex] = root;
        bool touches = state[vertex] == VERTEX_SEEN && set[vertex] != root;
        state[vertex] = touches ? VERTEX_TOUCHES : VERTEX_SEEN;
        count += touches;
    }
    return count;
}

static carom_status find_touching_vertices(repair_job *job, const carom_mesh_view *view,
                                           carom_numbers *vertices) {
    carom_context *context = job->context;
    carom_arena *scratch = carom_scratch(context, 0);
    CAROM_TRY(carom_repair_sides_make(context, view, &job->sides));
    uint64_t corners = job->sides.corner_count, writable, to = 0;
    uint32_t *parents = CAROM_ARENA_TAKE(scratch, uint32_t, corners + 1);
    uint8_t *has_side = CAROM_ARENA_TAKE(scratch, uint8_t, corners + 1);
    uint8_t *state = CAROM_ARENA_TAKE(scratch, uint8_t, view->vertex_count + 1);
    uint32_t *set = CAROM_ARENA_TAKE(scratch, uint32_t, view->vertex_count + 1);
    if (parents == NULL || has_side == NULL || state == NULL || set == NULL)
        return carom_fail_memory(context, 5 * (corners + view->vertex_count), "vertices");
    for (uint64_t c = 0; c < corners; ++c) parents[c] = (uint32_t)c;
    memset(has_side, 0, corners);
    memset(state, 0, view->vertex_count);
    CAROM_TRY(join_corners(job, parents, has_side, state));
    uint64_t count = mark_vertices(&job->sides, parents, has_side, state, set);
    CAROM_TRY(carom_numbers_begin(context, &context->allocator, vertices, count, &writable));
    for (uint64_t v = 0; v < view->vertex_count && to < writable; ++v)
        if (state[v] == VERTEX_TOUCHES) vertices->data[to++] = (uint32_t)v;
    return carom_numbers_end(vertices);
}

carom_status carom_repair_list_vertices(carom_context *context, const carom_mesh_view *view,
                                        carom_numbers *vertices) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_RESULT(vertices, "vertices");
    repair_job job;
    CAROM_TRY(begin_job(context, view, &job));
    return end_job(&job, find_touching_vertices(&job, view, vertices));
}

/* ---- Flipped faces --------------------------------------------------------------------------- */

typedef struct face_sets {
    uint32_t *parents;
    uint8_t *reversed;         /* relative to the parent */
    uint8_t *twisted;          /* of roots: reversing makes no difference */
    uint32_t *sizes, *flipped; /* of roots: faces, and those that are reversed relative to it */
} face_sets;

/* The root of a face, and whether the face is reversed relative to it. Paths are halved. */
static uint32_t face_root(face_sets *s, uint32_t face, uint8_t *reversed) {
    *reversed = 0;
    while (s->parents[face] != face) {
        uint32_t parent = s->parents[face];
        if (s->parents[parent] != parent) {
            s->reversed[face] ^= s->reversed[parent];
            s->parents[face] = s->parents[parent];
        }
        *reversed ^= s->reversed[face];
        face = s->parents[face];
    }
    return face;
}

/* Notes that two faces agree or, with `differ`, do not. */
static void relate_faces(face_sets *s, uint32_t a, uint32_t b, uint8_t differ) {
    uint8_t reversed_a, reversed_b;
    uint32_t root_a = face_root(s, a, &reversed_a), root_b = face_root(s, b, &reversed_b);
    uint8_t relation = reversed_a ^ reversed_b ^ differ;
    if (root_a == root_b) {
        if (relation != 0) s->twisted[root_a] = 1;
        return;
    }
    uint32_t low = CAROM_MIN(root_a, root_b), high = CAROM_MAX(root_a, root_b);
    s->parents[high] = low;
    s->reversed[high] = relation;
    s->twisted[low] |= s->twisted[high];
}

static carom_status relate_all(repair_job *job, face_sets *sets) {
    const carom_repair_sides *s = &job->sides;
    uint64_t at = 0, edges = 0;
    carom_repair_edge edge;
    while (carom_repair_next_edge(s, &at, &edge)) {
        if (is_time_to_look(&edges)) CAROM_TRY(carom_progress_look(job->context));
        if (edge.kept != 2 || edge.other == CAROM_NONE) continue;
        relate_faces(sets, s->faces[edge.side], s->faces[edge.other], edge.forward != 1);
    }
    return CAROM_OK;
}

/* Whether a face is of those that are fewer in its set. */
static bool is_flipped(face_sets *s, uint32_t face) {
    uint8_t reversed;
    uint32_t root = face_root(s, face, &reversed);
    if (s->twisted[root] != 0) return false;
    bool minority = s->flipped[root] <= s->sizes[root] - s->flipped[root];
    return minority ? reversed != 0 : reversed == 0;
}

static carom_status find_flipped(repair_job *job, const carom_mesh_view *view, carom_numbers *faces,
                                 uint64_t *twisted) {
    carom_context *context = job->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = view->face_count, flipped = 0, sets = 0, writable, to = 0;
    CAROM_TRY(carom_repair_sides_make(context, view, &job->sides));
    face_sets s = {.parents = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1),
                   .reversed = CAROM_ARENA_TAKE(scratch, uint8_t, count + 1),
                   .twisted = CAROM_ARENA_TAKE(scratch, uint8_t, count + 1),
                   .sizes = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1),
                   .flipped = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1)};
    if (s.parents == NULL || s.reversed == NULL || s.twisted == NULL || s.sizes == NULL ||
        s.flipped == NULL)
        return carom_fail_memory(context, 14 * count, "flipped faces");
    for (uint64_t f = 0; f < count; ++f) {
        s.parents[f] = (uint32_t)f;
        s.sizes[f] = s.flipped[f] = 0;
        s.reversed[f] = s.twisted[f] = 0;
    }
    CAROM_TRY(relate_all(job, &s));
    for (uint64_t f = 0; f < count; ++f) {
        uint8_t reversed;
        uint32_t root = face_root(&s, (uint32_t)f, &reversed);
        ++s.sizes[root];
        s.flipped[root] += reversed;
    }
    for (uint64_t f = 0; f < count; ++f) {
        flipped += is_flipped(&s, (uint32_t)f);
        sets += s.parents[f] == f && s.twisted[f] != 0;
    }
    if (twisted != NULL) *twisted = sets;
    CAROM_TRY(carom_numbers_begin(context, &context->allocator, faces, flipped, &writable));
    for (uint64_t f = 0; f < count && to < writable; ++f)
        if (is_flipped(&s, (uint32_t)f)) faces->data[to++] = (uint32_t)f;
    return carom_numbers_end(faces);
}

carom_status carom_repair_list_flipped(carom_context *context, const carom_mesh_view *view,
                                       carom_numbers *faces, uint64_t *twisted) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_RESULT(faces, "faces");
    repair_job job;
    CAROM_TRY(begin_job(context, view, &job));
    return end_job(&job, find_flipped(&job, view, faces, twisted));
}
