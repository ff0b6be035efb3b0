/* SPDX-License-Identifier: MIT */
/* The boundary as loops.
 *
 * Each open side from a to b is a step from b to a along its hole. Walks follow steps that were not
 * taken yet. A walk that comes back to a vertex on it has closed a cycle, which is cut off as a
 * loop (Hierholzer's walk, with the cycles kept apart), so no loop visits a vertex twice, and holes
 * that touch in a vertex are separate. Invariant: the vertices of the walk are distinct.
 *
 * Walks begin where more steps leave than arrive: what remains of those when they cannot go on are
 * the chains. Afterwards as many steps leave every vertex as arrive, and all walks close. */
#include "base/array.h"
#include "base/names.h"
#include "base/progress.h"
#include "geom/length.h"
#include "repair/repair.h"

#define NOT_ON_WALK         UINT32_MAX
#define STEPS_BETWEEN_LOOKS 65536u

CAROM_RESULT_FILL(carom_repair_loops);
CAROM_RESULT_DEFINE_FREE(carom_repair_loops);
CAROM_ENUM_NAMES(carom_repair_outcome, CAROM_REPAIR_OUTCOME_COUNT, "listed", "filled", "chain",
                 "long", "flat", "crossing");

typedef struct boundary_step {
    uint32_t from, to, side;
} boundary_step;

typedef struct boundary_walk {
    carom_context *context;
    const carom_repair_sides *sides;
    boundary_step *steps; /* by from, then to */
    uint64_t step_count;
    uint32_t *cursor;   /* of each vertex, its first step that was not taken */
    uint32_t *position; /* of each vertex, where it is on the walk, or NOT_ON_WALK */
    uint32_t *stack;    /* steps of the walk */
    uint64_t depth;
    carom_repair_boundary *out;
} boundary_walk;

/* ---- Steps ----------------------------------------------------------------------------------- */

static uint64_t count_open(const carom_repair_sides *sides) {
    uint64_t count = 0, at = 0;
    carom_repair_edge edge;
    while (carom_repair_next_edge(sides, &at, &edge)) count += edge.kept == 1;
    return count;
}

/* Edges are visited by (low, high), so that a counting sort by the first vertex of the steps keeps
 * those of a vertex sorted by the other: first the lower ones, then the higher. */
static void fill_steps(boundary_walk *w) {
    uint64_t vertices = w->sides->view->vertex_count, at = 0;
    carom_repair_edge edge;
    memset(w->cursor, 0, (vertices + 2) * sizeof(*w->cursor));
    while (carom_repair_next_edge(w->sides, &at, &edge))
        if (edge.kept == 1) ++w->cursor[carom_repair_to(w->sides, edge.side) + 2];
    for (uint64_t v = 0; v + 1 < vertices + 2; ++v) w->cursor[v + 1] += w->cursor[v];
    at = 0;
    while (carom_repair_next_edge(w->sides, &at, &edge)) {
        if (edge.kept != 1) continue;
        boundary_step step = {carom_repair_to(w->sides, edge.side),
                              carom_repair_from(w->sides, edge.side), edge.side};
        w->steps[w->cursor[step.from + 1]++] = step;
    }
    /* Now cursor[v + 1] is the end of the steps of v, so cursor[v] their beginning. */
    CAROM_ASSERT(vertices == 0 || w->cursor[vertices] == w->step_count);
}

static bool can_go_on(const boundary_walk *w, uint32_t vertex) {
    return w->cursor[vertex] < w->step_count && w->steps[w->cursor[vertex]].from == vertex;
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static carom_vec3 boundary_point(const boundary_walk *w, uint64_t vertex) {
    return carom_mesh_position(w->sides->view, vertex);
}

/* Fills what is measured of a loop. */
static void measure_loop(const boundary_walk *w, carom_repair_loop *loop) {
    const uint32_t *v = w->out->vertices + loop->first;
    double share = 1.0 / (double)loop->count;
    loop->bounds = carom_bounds_empty();
    for (uint64_t i = 0; i < loop->count; ++i) {
        carom_vec3 p = boundary_point(w, v[i]);
        carom_bounds_include(&loop->bounds, p);
        loop->centre = carom_vec_add(loop->centre, carom_vec_scale(p, share));
        if (i + 1 < loop->count || loop->closed)
            loop->length += carom_length(
                carom_vec_sub(boundary_point(w, v[i + 1 < loop->count ? i + 1 : 0]), p));
    }
}

/* Cuts the steps of the walk from `begin` on off as a loop, or as a chain. */
static void cut_loop(boundary_walk *w, uint64_t begin, bool closed) {
    carom_repair_boundary *out = w->out;
    uint64_t count = w->depth - begin, lowest = begin;
    carom_repair_loop *loop = &out->loops[out->loop_count++];
    memset(loop, 0, sizeof(*loop));
    loop->first = out->vertex_count;
    loop->closed = closed;
    loop->first_face = CAROM_NONE;
    for (uint64_t i = begin; i < w->depth && closed; ++i)
        if (w->steps[w->stack[i]].from < w->steps[w->stack[lowest]].from) lowest = i;
    for (uint64_t i = 0; i < count; ++i) {
        const boundary_step *step = &w->steps[w->stack[begin + (lowest - begin + i) % count]];
        const boundary_step *next = &w->steps[w->stack[begin + (lowest - begin + i + 1) % count]];
        CAROM_ASSERT((i + 1 == count && !closed) || next->from == step->to);
        out->vertices[out->vertex_count] = step->from;
        out->sides[out->vertex_count++] = step->side;
        w->position[step->from] = NOT_ON_WALK;
    }
    if (!closed) {
        out->vertices[out->vertex_count] = w->steps[w->stack[w->depth - 1]].to;
        out->sides[out->vertex_count++] = CAROM_NONE;
    }
    loop->count = out->vertex_count - loop->first;
    w->depth = begin;
    measure_loop(w, loop);
}

/* Walks from a vertex until there is no step left there. */
static void walk_from(boundary_walk *w, uint32_t vertex) {
    for (uint32_t at = vertex; can_go_on(w, at);) {
        uint32_t step = w->cursor[at]++;
        w->position[at] = (uint32_t)w->depth;
        w->stack[w->depth++] = step;
        at = w->steps[step].to;
        if (w->position[at] != NOT_ON_WALK) cut_loop(w, w->position[at], true);
    }
    if (w->depth != 0) cut_loop(w, 0, false);
}

/* Counts the steps that leave each vertex, less those that arrive, in `excess`. */
static void count_excess(const boundary_walk *w, int32_t *excess) {
    memset(excess, 0, w->sides->view->vertex_count * sizeof(*excess));
    for (uint64_t i = 0; i < w->step_count; ++i) {
        ++excess[w->steps[i].from];
        --excess[w->steps[i].to];
    }
}

static carom_status walk_all(boundary_walk *w, const int32_t *excess) {
    for (uint64_t i = 0; i < w->step_count; ++i) {
        uint32_t vertex = w->steps[i].from;
        if (i != 0 && w->steps[i - 1].from == vertex) continue;
        for (int32_t k = 0; k < excess[vertex]; ++k) walk_from(w, vertex);
        if (i % STEPS_BETWEEN_LOOKS == 0) CAROM_TRY(carom_progress_look(w->context));
    }
    for (uint64_t i = 0; i < w->step_count; ++i) {
        while (can_go_on(w, w->steps[i].from)) walk_from(w, w->steps[i].from);
        if (i % STEPS_BETWEEN_LOOKS == 0) CAROM_TRY(carom_progress_look(w->context));
    }
    CAROM_ASSERT(w->depth == 0);
    return CAROM_OK;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static bool loop_is_before(const carom_repair_boundary *b, const carom_repair_loop *x,
                           const carom_repair_loop *y) {
    const uint32_t *v = b->vertices + x->first, *w = b->vertices + y->first;
    return v[0] != w[0] ? v[0] < w[0] : v[1] < w[1];
}

static void sink_loop(const carom_repair_boundary *b, uint64_t root, uint64_t count) {
    carom_repair_loop sinking = b->loops[root];
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && loop_is_before(b, &b->loops[child], &b->loops[child + 1])) ++child;
        if (!loop_is_before(b, &sinking, &b->loops[child])) break;
        b->loops[root] = b->loops[child];
    }
    b->loops[root] = sinking;
}

/* Heap sort by the first two vertices: no two loops have the same first step. */
static void sort_loops(carom_repair_boundary *b) {
    for (uint64_t i = b->loop_count / 2; i-- > 0;) sink_loop(b, i, b->loop_count);
    for (uint64_t end = b->loop_count; end-- > 1;) {
        carom_repair_loop last = b->loops[0];
        b->loops[0] = b->loops[end];
        b->loops[end] = last;
        sink_loop(b, 0, end);
    }
    for (uint64_t i = 1; i < b->loop_count; ++i)
        CAROM_ASSERT(loop_is_before(b, &b->loops[i - 1], &b->loops[i]));
}

/* Puts the vertices into the order of the loops. */
static void gather_vertices(carom_repair_boundary *b, uint32_t *vertices, uint32_t *sides) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < b->loop_count; ++i) {
        carom_repair_loop *loop = &b->loops[i];
        memcpy(vertices + at, b->vertices + loop->first, loop->count * sizeof(*vertices));
        memcpy(sides + at, b->sides + loop->first, loop->count * sizeof(*sides));
        loop->first = at;
        at += loop->count;
    }
    b->vertices = vertices;
    b->sides = sides;
}

/* A chain has one vertex more than edges, so there are at most twice as many vertices as edges. */
carom_status carom_repair_boundary_make(carom_context *context, const carom_repair_sides *sides,
                                        carom_repair_boundary *b) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t vertices = sides->view->vertex_count, open = count_open(sides);
    *b = (carom_repair_boundary){.open_edges = open};
    boundary_walk w = {.context = context, .sides = sides, .step_count = open, .out = b};
    uint32_t *ordered = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * open + 1);
    uint32_t *ordered_sides = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * open + 1);
    b->loops = CAROM_ARENA_TAKE(scratch, carom_repair_loop, open + 1);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    b->vertices = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * open + 1);
    b->sides = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * open + 1);
    w.steps = CAROM_ARENA_TAKE(scratch, boundary_step, open + 1);
    w.stack = CAROM_ARENA_TAKE(scratch, uint32_t, open + 1);
    w.cursor = CAROM_ARENA_TAKE(scratch, uint32_t, vertices + 2);
    w.position = CAROM_ARENA_TAKE(scratch, uint32_t, vertices + 1);
    int32_t *excess = CAROM_ARENA_TAKE(scratch, int32_t, vertices + 1);
    if (ordered == NULL || ordered_sides == NULL || b->loops == NULL || b->vertices == NULL ||
        b->sides == NULL || w.steps == NULL || w.stack == NULL || w.cursor == NULL ||
        w.position == NULL || excess == NULL)
        return carom_fail_memory(context, 128 * open + 12 * vertices, "the boundary of a mesh");
    fill_steps(&w);
    memset(w.position, 0xFF, vertices * sizeof(*w.position));
    count_excess(&w, excess);
    CAROM_TRY(walk_all(&w, excess));
    CAROM_ASSERT(b->loop_count <= open && b->vertex_count <= 2 * open);
    sort_loops(b);
    gather_vertices(b, ordered, ordered_sides);
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

carom_status carom_repair_boundary_copy(carom_context *context,
                                        const carom_repair_boundary *boundary,
                                        carom_repair_loops *loops, carom_numbers *vertices) {
    const carom_allocator *allocator = &context->allocator;
    uint64_t writable;
    if (loops != NULL) {
        CAROM_TRY(
            carom_repair_loops_begin(context, allocator, loops, boundary->loop_count, &writable));
        if (writable != 0) memcpy(loops->data, boundary->loops, writable * sizeof(*loops->data));
    }
    if (vertices != NULL) {
        CAROM_TRY(
            carom_numbers_begin(context, allocator, vertices, boundary->vertex_count, &writable));
        if (writable != 0)
            memcpy(vertices->data, boundary->vertices, writable * sizeof(*vertices->data));
    }
    bool more = (loops != NULL && carom_repair_loops_end(loops) == CAROM_MORE) ||
                (vertices != NULL && carom_numbers_end(vertices) == CAROM_MORE);
    return more ? CAROM_MORE : CAROM_OK;
}
