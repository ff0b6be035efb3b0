/* SPDX-License-Identifier: MIT */
/* Impacts of soups whose vertices move: which vertices meet faces and which edges meet edges while
 * all vertices move along straight lines.
 *
 * A box tree over the boxes that triangles sweep finds pairs of triangles. An edge belongs to two
 * triangles and a vertex to six, so each is assigned to the first triangle that has it
 * ("representative triangles", Curtis, Tamstorf, Manocha 2008): a pair of triangles tests only what
 * is its own, and every vertex and face, and every two edges, are tested once. Nearly all are
 * excluded by impacts_cpu.c, from copies of the positions in float32; the rest is decided by
 * toi_item.h, exactly.
 *
 * Workers keep pairs of indices. They are sorted, and decided with their times in that order, so
 * the result is the same for any number of threads. A search for the first impact alone leaves out
 * what is certainly later than one already found: the intervals that enclose times are at most
 * CAROM_TOI_WIDTH wide, so what is apart for that long after the upper end of one has a larger
 * lower end, and the result does not depend on what was found when. */
#include "impacts/impacts.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/names.h"
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "bvh/bvh_cpu.h"
#include "geom/length.h"
#include "geom/pose.h"
#include "geom/scale.h"
#include "geom/toi_cpu.h"
#include "geom/toi_item.h"
#include "impacts/impacts_cpu.h"
#include "mesh/mesh.h"
#include "soup/soup_view.h"

#define IMPACTS_NODES_PER_RANGE     2u    /* of level 1: 512 triangles */
#define IMPACTS_TRIANGLES_PER_RANGE 256u  /* of a, each searched in the tree of b */
#define VERTICES_PER_RANGE          4096u /* boxes computed */
#define IMPACTS_PER_RANGE           256u  /* candidates decided, one after the other */
#define RANGES_PER_FILL             8u    /* of them written to the result */
/* Vertices or triangles between checks of the clock: some ms. */
#define OWNERS_PER_CHECK 65536u
/* Exact tests between such checks: one may take a millisecond. */
#define EXACT_PER_CHECK 16u

CAROM_ENUM_NAMES(carom_soup_impact_kind, CAROM_SOUP_IMPACT_KIND_COUNT, "vertex-face", "face-vertex",
                 "edge-edge", "none");

CAROM_RESULT_FILL(carom_soup_impacts);
CAROM_RESULT_DEFINE_FREE(carom_soup_impacts);

#define IMPACT_KINDS CAROM_SOUP_IMPACT_KIND_NONE /* kinds that meet */

/* A soup that moves. */
typedef struct impacts_side {
    const carom_soup *soup;
    carom_soup_view view;
    const carom_mesh_view *end; /* NULL: at rest */
    const carom_pose *pose;     /* of a soup at rest; NULL: none */
    carom_frame frame;
    carom_impact_point *points;       /* rounded to float32 */
    carom_box bounds;                 /* of all ways */
    uint8_t *owned;                   /* of each triangle: CAROM_IMPACT_OWN_... */
    carom_impact_triangle *triangles; /* in the order of the tree for b, else in that of the soup */
    carom_impact_box *boxes;          /* in the same order */
} impacts_side;

/* The impact with the least `lower`, then in the order of results. */
typedef struct earliest {
    double lower, upper; /* upper: the least of all */
    int kind;
    carom_pair pair;
} earliest;

static const earliest none_yet = {HUGE_VAL, HUGE_VAL, CAROM_SOUP_IMPACT_KIND_NONE, {0, 0}};

typedef struct impacts_search {
    carom_context *context;
    carom_impacts_query *query;
    impacts_side sides[2]; /* b is a for one soup */
    bool self;
    bool first;   /* only the first impact is wanted */
    bool copied;  /* the triangles of b lie in the order of the tree before it is built */
    double scale; /* points are x * scale - origin, rounded to float32 */
    carom_vec3 origin;
    double largest;      /* coordinate of a point */
    double error;        /* of each coordinate; 0 where float32 holds them exactly */
    float gap;           /* above twice the error */
    carom_bvh bvh;       /* of b */
    float horizon;       /* the tree has the ways until this time */
    _Atomic float until; /* some impact is over before this time */
    carom_worker_states finders;
    const uint64_t *found[IMPACT_KINDS]; /* sorted */
    uint64_t counts[IMPACT_KINDS];
    earliest earliest;
} impacts_search;

static const impacts_side *side_b(const impacts_search *s) {
    return &s->sides[s->self ? 0 : 1];
}

static const uint32_t *impacts_corners_of(const impacts_side *x, uint32_t triangle) {
    return x->view.corners + 3 * (uint64_t)triangle;
}

static carom_vec3 start_of(const impacts_side *x, uint32_t vertex) {
    carom_vec3 p = carom_soup_view_position(&x->view, vertex);
    return x->pose != NULL ? carom_frame_apply(&x->frame, p) : p;
}

static carom_vec3 end_of(const impacts_side *x, uint32_t vertex) {
    return x->end != NULL ? carom_mesh_position(x->end, vertex) : start_of(x, vertex);
}

static bool impacts_is_live(const impacts_side *x, uint64_t triangle) {
    return (x->view.states[triangle] & CAROM_SOUP_DEAD) == 0;
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static carom_status check_side(impacts_search *s, impacts_side *x, const char *whose) {
    const carom_soup_view *soup = &x->view;
    carom_soup_get_view(x->soup, &x->view);
    CAROM_TRY(carom_soup_check_here(s->context, x->soup));
    if (soup->triangle_count > UINT32_MAX / 3)
        return carom_fail(s->context, CAROM_TOO_LARGE,
                          "%s: %ssoup has %u triangles; at most %u can be searched",
                          s->query->whose_result, whose, soup->triangle_count, UINT32_MAX / 3);
    CAROM_TRY(carom_soup_check_pose(s->context, x->pose, "a pose"));
    x->frame = carom_frame_make(x->pose);
    if (x->end == NULL) return CAROM_OK;
    if (x->end->vertex_count != soup->vertex_count)
        return carom_fail(
            s->context, CAROM_BAD_INPUT, "%ssoup has %llu vertices, its end positions %llu", whose,
            (unsigned long long)soup->vertex_count, (unsigned long long)x->end->vertex_count);
    carom_mesh_view points = *x->end; /* without faces */
    points.corners = NULL;
    points.offsets = NULL;
    points.face_count = 0;
    points.parts = NULL;
    points.part_names = NULL;
    points.part_count = 0;
    points.property_count = 0;
    return carom_mesh_check(s->context, &points);
}

static carom_status no_memory(impacts_search *s, uint64_t bytes) {
    return carom_fail_memory(s->context, bytes, s->query->whose_result);
}

/* Chooses scale and origin so that float32 points are finite and near. */
static carom_status impacts_choose_frame(impacts_search *s) {
    carom_bounds all = carom_bounds_empty();
    s->scale = 1.0;
    s->origin = carom_vec(0.0, 0.0, 0.0);
    s->error = 0.0;
    s->gap = 0.0f;
    bool floats = true;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        const impacts_side *x = &s->sides[i];
        floats = floats && x->view.scalar == CAROM_SCALAR_FLOAT32 &&
                 (x->end == NULL || x->end->scalar == CAROM_SCALAR_FLOAT32);
    }
    if (floats && !s->query->near) return CAROM_OK; /* exact as they are */
    for (int i = 0; i < (s->self ? 1 : 2); ++i)
        for (uint64_t v = 0; v < s->sides[i].view.vertex_count; ++v) {
            carom_bounds_include(&all, start_of(&s->sides[i], (uint32_t)v));
            carom_bounds_include(&all, end_of(&s->sides[i], (uint32_t)v));
            if (v % OWNERS_PER_CHECK == 0) CAROM_TRY(carom_progress_look(s->context));
        }
    if (!(all.low.x <= all.high.x)) return CAROM_OK;
    double most = CAROM_MAX(carom_vec_largest(all.low), carom_vec_largest(all.high));
    s->query->largest = most;
    if (s->query->near && !(most <= CAROM_LARGEST_COORDINATE))
        return carom_fail(s->context, CAROM_BAD_INPUT,
                          "a coordinate is %g; distances need coordinates of at most 2^1020", most);
    if (most >= CAROM_SCALE_LIMIT || (most < CAROM_SCALE_LEAST && most > 0.0))
        s->scale = carom_power_of_two(-carom_exponent(most));
    carom_vec3 low = carom_vec_scale(all.low, s->scale), high = carom_vec_scale(all.high, s->scale);
    s->origin = carom_vec_scale(carom_vec_add(low, high), 0.5);
    double from = carom_vec_largest(carom_vec_sub(low, s->origin));
    double to = carom_vec_largest(carom_vec_sub(high, s->origin));
    s->error = CAROM_IMPACT_FLOAT_ROUNDING * CAROM_MAX(from, to) + (double)FLT_TRUE_MIN;
    s->gap = (float)(s->error * CAROM_IMPACT_GAP_ERRORS);
    CAROM_ASSERT((double)s->gap >= 2.0 * s->error);
    return CAROM_OK;
}

typedef struct impacts_loading {
    impacts_search *s;
    impacts_side *x;
} impacts_loading;

static carom_status load_points(void *argument, carom_range range) {
    const impacts_loading *l = argument;
    carom_vec3 origin = l->s->origin;
    double scale = l->s->scale;
    for (uint64_t v = range.begin; v < range.end; ++v) {
        carom_vec3 p = start_of(l->x, (uint32_t)v), q = end_of(l->x, (uint32_t)v);
        float at[2][3] = {{(float)(p.x * scale - origin.x), (float)(p.y * scale - origin.y),
                           (float)(p.z * scale - origin.z)},
                          {(float)(q.x * scale - origin.x), (float)(q.y * scale - origin.y),
                           (float)(q.z * scale - origin.z)}};
        for (int t = 0; t < 2; ++t) {
            carom_vec3 x = carom_vec_sub(carom_vec_scale(t == 0 ? p : q, scale), origin);
            CAROM_ASSERT(fabs((double)at[t][0] - x.x) <= l->s->error &&
                         fabs((double)at[t][1] - x.y) <= l->s->error &&
                         fabs((double)at[t][2] - x.z) <= l->s->error);
            carom_impact_fill_row(at[t], l->x->points[v].at[t]);
        }
    }
    return CAROM_OK;
}

static carom_status load_side(impacts_search *s, impacts_side *x) {
    uint64_t vertices = x->view.vertex_count, triangles = x->view.triangle_count;
    carom_arena *scratch = carom_scratch(s->context, 0);
    x->points = CAROM_ARENA_TAKE(scratch, carom_impact_point, vertices + 1);
    x->owned = CAROM_ARENA_TAKE(scratch, uint8_t, triangles + 1);
    if (x->points == NULL || x->owned == NULL)
        return no_memory(s, vertices * sizeof(carom_impact_point) + triangles);
    impacts_loading l = {s, x};
    return carom_parallel_for(s->context, vertices, VERTICES_PER_RANGE, load_points, &l);
}

/* Enters an edge in the table; whether it was not there. */
static bool enter_edge(uint64_t *table, uint64_t mask, uint32_t p, uint32_t q) {
    uint64_t key = p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p;
    uint64_t at = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 20 & mask;
    while (table[at] != UINT64_MAX && table[at] != key) at = (at + 1) & mask;
    bool fresh = table[at] != key;
    table[at] = key;
    return fresh;
}

static carom_status assign_owners(impacts_search *s, impacts_side *x) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t triangles = x->view.triangle_count, size = 16;
    while (size < 4 * triangles) size *= 2;
    uint64_t *table = CAROM_ARENA_TAKE(scratch, uint64_t, size);
    uint8_t *taken = CAROM_ARENA_TAKE(scratch, uint8_t, x->view.vertex_count + 1);
    if (table == NULL || taken == NULL) return no_memory(s, size * sizeof(*table));
    memset(table, 0xFF, size * sizeof(*table));
    memset(taken, 0, x->view.vertex_count);
    uint64_t edges = 0; /* that have an owner */
    for (uint64_t t = 0; t < triangles; ++t) {
        const uint32_t *c = impacts_corners_of(x, (uint32_t)t);
        uint32_t owned = 0;
        for (uint32_t i = 0; i < 3 && impacts_is_live(x, t); ++i) {
            if (!taken[c[i]]) owned |= CAROM_IMPACT_OWN_VERTEX(i);
            taken[c[i]] = 1;
            if (!enter_edge(table, size - 1, c[i], c[(i + 1) % 3])) continue;
            owned |= CAROM_IMPACT_OWN_EDGE(i);
            ++edges;
        }
        x->owned[t] = (uint8_t)owned;
        if (t % OWNERS_PER_CHECK == 0) CAROM_TRY(carom_progress_look(s->context));
    }
    for (uint64_t i = 0; i < size; ++i) edges -= table[i] != UINT64_MAX;
    CAROM_ASSERT(edges == 0); /* each edge in the table has one owner */
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* Above twice what is lost in positions at times up to `until`. */
static float gap_until(const impacts_search *s, float until) {
    return carom_impacts_gap_until(s->gap, s->largest, until);
}

/* The reach in the frame of the points. */
static float reach_of(const impacts_search *s) {
    if (!s->query->near) return 0.0f;
    return carom_impacts_reach(s->query->reach * s->scale, s->largest);
}

/* Around the ways of points. */
static inline void include_way(carom_box *box, const carom_impact_point *p, float until) {
    for (int k = 0; k < 3; ++k) {
        float start = p->at[0][k], end = p->at[1][k];
        if (until < 1.0f) end = start + until * (end - start);
        float low = CAROM_MIN(start, end), high = CAROM_MAX(start, end);
        box->low[k] = CAROM_MIN(low, box->low[k]);
        box->high[k] = CAROM_MAX(high, box->high[k]);
    }
}

static carom_status bound_side(impacts_search *s, impacts_side *x) {
    x->bounds = carom_box_empty();
    for (uint64_t v = 0; v < x->view.vertex_count; ++v) {
        include_way(&x->bounds, &x->points[v], 1.0f);
        if (v % OWNERS_PER_CHECK == 0) CAROM_TRY(carom_progress_look(s->context));
    }
    return CAROM_OK;
}

static inline void impacts_widen(carom_box *box, float by) {
    for (int k = 0; k < 3; ++k) {
        box->low[k] -= by;
        box->high[k] += by;
    }
}

static carom_box impacts_triangle_box(const impacts_search *s, const impacts_side *x,
                                      uint32_t triangle) {
    carom_box box = carom_box_empty();
    if (!impacts_is_live(x, triangle)) return box;
    const uint32_t *c = impacts_corners_of(x, triangle);
    for (int i = 0; i < 3; ++i) include_way(&box, &x->points[c[i]], s->horizon);
    impacts_widen(&box, gap_until(s, s->horizon) + reach_of(s));
    return box;
}

typedef struct impacts_copying {
    const impacts_side *x;
    const uint32_t *items; /* NULL: in the order of the soup */
} impacts_copying;

static carom_status impacts_copy_triangles(void *argument, carom_range range) {
    const impacts_copying *p = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t t = p->items != NULL ? p->items[i] : (uint32_t)i;
        carom_impact_triangle *to = &p->x->triangles[i];
        carom_impact_box *box = &p->x->boxes[i];
        memset(to, 0, sizeof(*to));
        memset(box, 0, sizeof(*box));
        if (t == CAROM_BVH_NONE) continue; /* past the end: never found */
        memcpy(to->corner, impacts_corners_of(p->x, t), sizeof(to->corner));
        to->owned = p->x->owned[t];
        const carom_impact_point *a = &p->x->points[to->corner[0]];
        const carom_impact_point *b = &p->x->points[to->corner[1]];
        const carom_impact_point *c = &p->x->points[to->corner[2]];
        for (int time = 0; time < 2; ++time)
            for (uint32_t k = 0; k < CAROM_IMPACT_SHORT; ++k) {
                float x = a->at[time][k], y = b->at[time][k], z = c->at[time][k];
                float low = CAROM_MIN(x, y), high = CAROM_MAX(x, y);
                box->low[time][k] = CAROM_MIN(low, z);
                box->high[time][k] = CAROM_MAX(high, z);
            }
    }
    return CAROM_OK;
}

static carom_status copy_side(impacts_search *s, impacts_side *x, const uint32_t *items,
                              uint64_t count) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    x->triangles = CAROM_ARENA_TAKE(scratch, carom_impact_triangle, count + 1);
    x->boxes = CAROM_ARENA_TAKE(scratch, carom_impact_box, count + 1);
    if (x->triangles == NULL || x->boxes == NULL)
        return no_memory(s, count * (sizeof(carom_impact_triangle) + sizeof(carom_impact_box)));
    impacts_copying p = {x, items};
    return carom_parallel_for(s->context, count, VERTICES_PER_RANGE, impacts_copy_triangles, &p);
}

/* For a search for the first impact: the time in which points move as far as
 * CAROM_IMPACT_HORIZON_EDGES triangles are long, in the mean. */
static void measure_motion(impacts_search *s) {
    double movement = 0.0, size = 0.0, vertices = 0.0, triangles = 0.0;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        const impacts_side *x = &s->sides[i];
        for (uint64_t v = 0; v < x->view.vertex_count; ++v) {
            const float *start = x->points[v].at[0], *end = x->points[v].at[1];
            for (int k = 0; k < 3; ++k) movement += fabs((double)end[k] - (double)start[k]);
        }
        for (uint64_t t = 0; t < x->view.triangle_count; ++t) {
            const uint32_t *c = impacts_corners_of(x, (uint32_t)t);
            for (int k = 0; k < 3; ++k)
                size += fabs((double)x->points[c[1]].at[0][k] - (double)x->points[c[0]].at[0][k]);
        }
        vertices += (double)x->view.vertex_count;
        triangles += (double)x->view.triangle_count;
    }
    double step = CAROM_IMPACT_HORIZON_EDGES * size * vertices, whole = movement * triangles;
    if (s->largest < CAROM_IMPACT_PRUNING_LIMIT && step > 0.0 && step < whole)
        s->horizon = CAROM_MAX((float)(step / whole), CAROM_IMPACT_HORIZON_LEAST);
    CAROM_ASSERT(s->horizon > 0.0f && s->horizon <= 1.0f);
}

static carom_status impacts_prepare(impacts_search *s) {
    s->horizon = 1.0f;
    CAROM_TRY(impacts_choose_frame(s));
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        CAROM_TRY(load_side(s, &s->sides[i]));
        CAROM_TRY(assign_owners(s, &s->sides[i]));
    }
    s->largest = 0.0;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        CAROM_TRY(bound_side(s, &s->sides[i]));
        for (int k = 0; k < 3; ++k) {
            double low = fabs((double)s->sides[i].bounds.low[k]);
            double high = fabs((double)s->sides[i].bounds.high[k]);
            double most = CAROM_MAX(low, high);
            if (s->sides[i].view.vertex_count != 0) s->largest = CAROM_MAX(most, s->largest);
        }
    }
    if (s->first) measure_motion(s);
    return CAROM_OK;
}

/* The box of a triangle whose slot is known: that around both times. */
static carom_box box_at(const impacts_search *s, uint64_t slot, uint32_t triangle) {
    const carom_impact_box *from = &side_b(s)->boxes[slot];
    carom_box box = carom_box_empty();
    if (!impacts_is_live(side_b(s), triangle)) return box;
    for (int k = 0; k < 3; ++k) {
        float low = from->low[1][k], high = from->high[1][k];
        if (s->horizon < 1.0f) {
            low = from->low[0][k] + s->horizon * (low - from->low[0][k]);
            high = from->high[0][k] + s->horizon * (high - from->high[0][k]);
        }
        box.low[k] = CAROM_MIN(from->low[0][k], low);
        box.high[k] = CAROM_MAX(from->high[0][k], high);
    }
    impacts_widen(&box, gap_until(s, s->horizon) + reach_of(s));
    return box;
}

static void tree_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *boxes) {
    const impacts_search *s = user;
    for (uint32_t i = 0; i < count; ++i)
        boxes[i] = s->copied
                       ? box_at(s, (uint64_t)(items - s->bvh.items) + i, items[i])
                       : impacts_triangle_box(s, side_b(s), items != NULL ? items[i] : first + i);
}

/* Builds the tree of b in scratch of worker 0, and copies its triangles in that order: the order of
 * the soup's own tree, where that has all triangles in a good one. */
static carom_status impacts_build_tree(impacts_search *s) {
    impacts_side *b = &s->sides[s->self ? 0 : 1];
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint64_t count = b->view.triangle_count, slots = count + CAROM_BVH_WIDTH;
    uint64_t nodes = count / (CAROM_BVH_WIDTH - 1) + CAROM_BVH_LEVELS;
    s->bvh.items = CAROM_ARENA_TAKE(scratch, uint32_t, slots);
    s->bvh.nodes = CAROM_ARENA_TAKE(scratch, carom_bvh_node, nodes);
    if (s->bvh.items == NULL || s->bvh.nodes == NULL)
        return no_memory(s, nodes * sizeof(carom_bvh_node));
    s->bvh.item_capacity = slots;
    s->bvh.node_capacity = nodes;
    const carom_bvh *like = b->view.bvh;
    s->copied =
        like->level_count != 0 && like->item_count == count && b->view.degenerate_faces == 0;
    if (s->copied) {
        CAROM_TRY(copy_side(s, b, like->items, (uint64_t)like->node_count[0] * CAROM_BVH_WIDTH));
        return carom_bvh_build_like(s->context, &s->context->allocator, &s->bvh, like, tree_boxes,
                                    s);
    }
    CAROM_TRY(carom_bvh_build(s->context, &s->context->allocator, &s->bvh, b->view.triangle_count,
                              &b->bounds, tree_boxes, s));
    if (s->bvh.level_count == 0) return copy_side(s, b, NULL, 0);
    return copy_side(s, b, s->bvh.items, (uint64_t)s->bvh.node_count[0] * CAROM_BVH_WIDTH);
}

static carom_status impacts_copy(impacts_search *s) {
    CAROM_TRY(impacts_build_tree(s));
    if (s->self) return CAROM_OK;
    return copy_side(s, &s->sides[0], NULL, s->sides[0].view.triangle_count);
}

/* ---- Vertices, faces and edges of two triangles ---------------------------------------------- */

typedef struct impacts_finder {
    impacts_search *s;
    uint32_t worker;
    carom_pair_list lists[IMPACT_KINDS];
    earliest first;
    carom_work work;
    carom_status status;
    carom_impact_candidate open[CAROM_IMPACT_AT_ONCE * CAROM_IMPACT_WHICH];
    carom_bvh_found found;
} impacts_finder;

/* The four points of a vertex and a face, a face and a vertex, or two edges. */
static void impacts_gather(const impacts_search *s, carom_soup_impact_kind kind, uint32_t a,
                           uint32_t b, carom_vec3 *start, carom_vec3 *end) {
    const impacts_side *xa = &s->sides[0], *xb = side_b(s), *of[4];
    uint32_t vertex[4];
    if (kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE) {
        const uint32_t *ca = impacts_corners_of(xa, a / 3), *cb = impacts_corners_of(xb, b / 3);
        vertex[0] = ca[a % 3];
        vertex[1] = ca[(a % 3 + 1) % 3];
        vertex[2] = cb[b % 3];
        vertex[3] = cb[(b % 3 + 1) % 3];
        of[0] = of[1] = xa;
        of[2] = of[3] = xb;
    } else {
        bool vertex_of_a = kind == CAROM_SOUP_IMPACT_KIND_VERTEX_FACE;
        const impacts_side *x = vertex_of_a ? xa : xb, *y = vertex_of_a ? xb : xa;
        vertex[0] = x->view.corners[vertex_of_a ? a : b];
        memcpy(vertex + 1, impacts_corners_of(y, vertex_of_a ? b : a), 3 * sizeof(uint32_t));
        of[0] = x;
        of[1] = of[2] = of[3] = y;
    }
    for (int i = 0; i < 4; ++i) {
        start[i] = start_of(of[i], vertex[i]);
        end[i] = end_of(of[i], vertex[i]);
    }
}

static bool is_earlier(const earliest *x, const earliest *than) {
    if (x->lower != than->lower) return x->lower < than->lower;
    if (x->kind != than->kind) return x->kind < than->kind;
    return x->pair.a != than->pair.a ? x->pair.a < than->pair.a : x->pair.b < than->pair.b;
}

static void impacts_offer(earliest *best, const earliest *x) {
    double upper = CAROM_MIN(x->upper, best->upper);
    if (is_earlier(x, best)) *best = *x;
    best->upper = upper;
}

/* Contact after an impact that is over at `upper` does not matter any more. */
static void prune(impacts_search *s, double upper) {
    double until = (upper + CAROM_TOI_WIDTH) * CAROM_IMPACT_FLOAT_UP;
    float now = atomic_load_explicit(&s->until, memory_order_relaxed), then = (float)until;
    CAROM_ASSERT((double)then >= upper);
    if (!(s->largest < CAROM_IMPACT_PRUNING_LIMIT)) return;
    while (then < now && !atomic_compare_exchange_weak_explicit(
                             &s->until, &now, then, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Keeps a vertex and a face, or two edges, that the filters left; false if the search must stop.
 * For the first impact they are decided at once, else when all are sorted. */
static bool keep(impacts_finder *f, carom_soup_impact_kind kind, uint32_t a, uint32_t b) {
    impacts_search *s = f->s;
    if (!s->first) {
        if (!carom_pair_list_add(&f->lists[kind], a, b)) f->status = CAROM_NO_MEMORY;
        return f->status == CAROM_OK;
    }
    carom_vec3 start[4], end[4];
    impacts_gather(s, kind, a, b, start, end);
    int edges = kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
    carom_toi toi;
    if (!s->query->decide(s->query, start, end, edges, &toi) &&
        ++f->work.undecided % EXACT_PER_CHECK == 0 && carom_progress_stop(s->context, f->worker))
        return false;
    if (!toi.hit) return true;
    earliest x = {toi.time.lower, toi.time.upper, kind, {a, b}};
    impacts_offer(&f->first, &x);
    prune(s, toi.time.upper);
    return true;
}

static uint32_t impacts_triangle_at(const impacts_search *s, uint32_t slot) {
    return s->bvh.items[slot];
}

static bool test_candidate(impacts_finder *f, const carom_impact_candidate *c) {
    const impacts_search *s = f->s;
    uint32_t a = s->self ? impacts_triangle_at(s, c->a) : c->a, b = impacts_triangle_at(s, c->b),
             k = c->which;
    if (k < CAROM_IMPACT_OF_B) return keep(f, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, 3 * a + k, b);
    if (k < CAROM_IMPACT_EDGES) {
        uint32_t corner = 3 * b + k - CAROM_IMPACT_OF_B;
        return s->self ? keep(f, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, corner, a)
                       : keep(f, CAROM_SOUP_IMPACT_KIND_FACE_VERTEX, a, corner);
    }
    uint32_t edge_a = 3 * a + (k - CAROM_IMPACT_EDGES) / 3;
    uint32_t edge_b = 3 * b + (k - CAROM_IMPACT_EDGES) % 3;
    bool swap = s->self && edge_b < edge_a;
    return keep(f, CAROM_SOUP_IMPACT_KIND_EDGE_EDGE, swap ? edge_b : edge_a,
                swap ? edge_a : edge_b);
}

/* ---- Search ---------------------------------------------------------------------------------- */

static carom_impact_pairs pairs_until(const impacts_search *s, float until) {
    carom_impact_pairs pairs = {.of_a = s->sides[0].triangles,
                                .of_b = side_b(s)->triangles,
                                .boxes_a = s->sides[0].boxes,
                                .boxes_b = side_b(s)->boxes,
                                .points_a = s->sides[0].points,
                                .points_b = side_b(s)->points,
                                .self = s->self,
                                .near = s->query->near,
                                .error = s->error,
                                .until = until};
    carom_impact_gaps(&pairs, gap_until(s, until), reach_of(s), (float)s->largest);
    return pairs;
}

/* Pairs of slots, or of a triangle of a and a slot. */
static bool impacts_decide(carom_bvh_found *found) {
    impacts_finder *f = found->user;
    impacts_search *s = f->s;
    uint32_t count = found->count;
    found->count = 0;
    for (uint32_t at = 0; at < count; at += CAROM_IMPACT_AT_ONCE) {
        carom_impact_pairs pairs =
            pairs_until(s, atomic_load_explicit(&s->until, memory_order_relaxed));
        uint32_t open = CAROM_CPU_CALL(s->context, carom_impacts_find_candidates)(
            &pairs, found->a + at, found->b + at, CAROM_MIN(count - at, CAROM_IMPACT_AT_ONCE),
            f->open, &f->work.candidates);
        for (uint32_t i = 0; i < open; ++i)
            if (!test_candidate(f, &f->open[i])) return false;
    }
    return !carom_progress_stop(s->context, f->worker);
}

static bool impacts_finder_begin(void *user, void *state, uint32_t worker) {
    impacts_finder *f = state;
    f->s = user;
    f->worker = worker;
    for (int k = 0; k < IMPACT_KINDS; ++k)
        carom_pair_list_begin(&f->lists[k], carom_scratch(f->s->context, worker));
    f->first = none_yet;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    f->found.count = 0;
    f->found.visits = 0;
    f->found.flush = impacts_decide;
    f->found.user = f;
    return true;
}

static carom_status impacts_search_nodes(void *argument, carom_range range) {
    impacts_search *s = argument;
    impacts_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t node = range.begin; node < range.end; ++node)
        if (!CAROM_CPU_CALL(s->context, carom_bvh_self_node)(&s->bvh, (uint32_t)node, &f->found))
            return f->status;
    (void)impacts_decide(&f->found);
    carom_progress_add(s->context, range.worker,
                       (range.end - range.begin) * CAROM_BVH_WIDTH * CAROM_BVH_WIDTH);
    return f->status;
}

static carom_status search_triangles(void *argument, carom_range range) {
    impacts_search *s = argument;
    impacts_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t t = range.begin; t < range.end; ++t) {
        carom_box box = impacts_triangle_box(s, &s->sides[0], (uint32_t)t);
        if (!CAROM_CPU_CALL(s->context, carom_bvh_find_box)(&s->bvh, &box, (uint32_t)t, &f->found))
            return f->status;
    }
    (void)impacts_decide(&f->found);
    carom_progress_add(s->context, range.worker, range.end - range.begin);
    return f->status;
}

/* Joins and sorts what the workers found. */
static carom_status impacts_collect(impacts_search *s) {
    const impacts_finder *f;
    for (int k = 0; k < IMPACT_KINDS; ++k) {
        carom_pair_list all;
        carom_pair_list_begin(&all, carom_scratch(s->context, 0));
        for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;)
            carom_pair_list_join(&all, &f->lists[k]);
        uint64_t *pairs;
        CAROM_TRY(carom_pair_list_sort(s->context, &all, false, &pairs, &s->counts[k]));
        s->found[k] = pairs;
        /* nothing is found twice */
        for (uint64_t i = 1; i < s->counts[k]; ++i) CAROM_ASSERT(pairs[i - 1] < pairs[i]);
    }
    s->earliest = none_yet;
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;) {
        impacts_offer(&s->earliest, &f->first);
        CAROM_ASSERT(s->earliest.lower <= s->earliest.upper);
        s->context->work.visits += f->found.visits;
        s->context->work.candidates += f->work.candidates;
        s->context->work.undecided += f->work.undecided;
    }
    return CAROM_OK;
}

static carom_status impacts_find(impacts_search *s) {
    carom_progress_expect(s->context, s->sides[0].view.triangle_count);
    s->bvh = (carom_bvh){0};
    CAROM_TRY(impacts_copy(s));
    CAROM_TRY(carom_worker_states_begin(&s->finders, s->context, sizeof(impacts_finder),
                                        impacts_finder_begin, s));
    carom_status status;
    if (!s->first) atomic_store_explicit(&s->until, 1.0f, memory_order_relaxed);
    if (s->self)
        status = carom_parallel_for(s->context, carom_bvh_self_nodes(&s->bvh),
                                    IMPACTS_NODES_PER_RANGE, impacts_search_nodes, s);
    else
        status = carom_parallel_for(s->context, s->sides[0].view.triangle_count,
                                    IMPACTS_TRIANGLES_PER_RANGE, search_triangles, s);
    if (status == CAROM_NO_MEMORY) status = no_memory(s, sizeof(impacts_finder));
    if (status == CAROM_OK) status = impacts_collect(s);
    carom_worker_states_release(&s->finders);
    return status;
}

/* Where points move far, the boxes around their ways overlap many others. So the first impact is
 * searched for in a short time first, and in a longer one where it is not found. */
static carom_status find_first(impacts_search *s) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    for (;;) {
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        atomic_store_explicit(&s->until, s->horizon, memory_order_relaxed);
        carom_status status = impacts_find(s);
        carom_arena_rewind(scratch, mark);
        /* what was left out is later by more than its interval is wide */
        if (status != CAROM_OK || s->horizon == 1.0f ||
            s->earliest.upper + CAROM_TOI_WIDTH < (double)s->horizon)
            return status;
        s->horizon = CAROM_MIN(s->horizon * CAROM_IMPACT_HORIZON_GROWTH, 1.0f);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static void name_vertices(const impacts_side *x, uint32_t id, int count, uint32_t *vertices,
                          uint32_t *face) {
    uint32_t triangle = count == 3 ? id : id / 3;
    const uint32_t *c = impacts_corners_of(x, triangle);
    for (uint32_t i = 0; i < 3; ++i)
        vertices[i] = (int)i < count ? c[count == 3 ? i : (id % 3 + i) % 3] : UINT32_MAX;
    *face = carom_soup_view_face(&x->view, triangle);
}

static carom_soup_impact make_impact(const impacts_search *s, int kind, carom_pair pair,
                                     carom_interval time) {
    carom_soup_impact impact = {.kind = (carom_soup_impact_kind)kind, .time = time};
    bool edges = kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
    name_vertices(&s->sides[0], pair.a,
                  edges                                        ? 2
                  : kind == CAROM_SOUP_IMPACT_KIND_VERTEX_FACE ? 1
                                                               : 3,
                  impact.a, &impact.face_a);
    name_vertices(side_b(s), pair.b,
                  edges                                        ? 2
                  : kind == CAROM_SOUP_IMPACT_KIND_VERTEX_FACE ? 3
                                                               : 1,
                  impact.b, &impact.face_b);
    return impact;
}

/* Candidates of all kinds in the order of results, a range of them at a time. */
typedef struct impacts_deciding {
    impacts_search *s;
    carom_interval *times; /* of all candidates; those that meet move to the front of their range */
    uint64_t *which;       /* beside each: its candidate */
    uint64_t *hits;        /* of each range; then the number of those before it */
    _Atomic uint64_t undecided;
    uint64_t writable;
    const carom_impacts_receiver *receiver;
} impacts_deciding;

static int kind_of(const impacts_search *s, uint64_t *index) {
    int kind = 0;
    while (*index >= s->counts[kind]) *index -= s->counts[kind++];
    return kind;
}

/* The motions of the candidates from `at`, as many as are before `end`, have one kind and fit. */
static uint32_t gather_columns(const impacts_search *s, uint64_t at, uint64_t end, int *kind,
                               carom_toi_columns *motions) {
    uint64_t first = at;
    *kind = kind_of(s, &first);
    uint64_t count = CAROM_MIN(end - at, s->counts[*kind] - first);
    count = CAROM_MIN(count, CAROM_TOI_COLUMNS);
    for (uint32_t i = 0; i < count; ++i) {
        carom_pair pair = carom_pair_unpack(s->found[*kind][first + i]);
        carom_vec3 from[4], to[4];
        impacts_gather(s, (carom_soup_impact_kind)*kind, pair.a, pair.b, from, to);
        carom_toi_column_set(motions, i, from, to);
    }
    return (uint32_t)count;
}

/* Returns how many took integers. */
static uint32_t decide_columns(const carom_impacts_query *query, const carom_toi_columns *motions,
                               uint32_t count, int edges, carom_toi *toi) {
    if (query->decide_many != NULL) return query->decide_many(query, motions, count, edges, toi);
    uint32_t undecided = 0;
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 start[4], end[4];
        carom_toi_column_get(motions, i, start, end);
        undecided += !query->decide(query, start, end, edges, &toi[i]);
    }
    return undecided;
}

static carom_status decide_range(void *argument, carom_range range) {
    impacts_deciding *d = argument;
    const impacts_search *s = d->s;
    uint64_t hits = 0, undecided = 0, checked = 0;
    carom_toi_columns motions = {0};
    for (uint64_t at = range.begin; at < range.end;) {
        carom_toi toi[CAROM_TOI_COLUMNS];
        int kind;
        uint32_t count = gather_columns(s, at, range.end, &kind, &motions);
        int edges = kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
        undecided += decide_columns(s->query, &motions, count, edges, toi);
        if (undecided - checked >= EXACT_PER_CHECK) {
            checked = undecided;
            if (carom_progress_stop(s->context, range.worker))
                return CAROM_OK; /* the loop ends with the reason */
        }
        for (uint32_t i = 0; i < count; ++i) {
            if (!toi[i].hit) continue;
            CAROM_ASSERT(toi[i].time.lower <= toi[i].time.value &&
                         toi[i].time.value <= toi[i].time.upper);
            d->times[range.begin + hits] = toi[i].time;
            d->which[range.begin + hits++] = at + i;
        }
        at += count;
    }
    d->hits[range.begin / IMPACTS_PER_RANGE] = hits;
    atomic_fetch_add_explicit(&d->undecided, undecided, memory_order_relaxed);
    return CAROM_OK;
}

static carom_status fill_range(void *argument, carom_range range) {
    const impacts_deciding *d = argument;
    for (uint64_t r = range.begin; r < range.end; ++r) {
        uint64_t to = d->hits[r], end = CAROM_MIN(d->hits[r + 1], d->writable);
        for (uint64_t i = r * IMPACTS_PER_RANGE; to < end; ++i, ++to) {
            uint64_t index = d->which[i];
            CAROM_ASSERT(index / IMPACTS_PER_RANGE == r && index >= i);
            int kind = kind_of(d->s, &index);
            carom_soup_impact impact =
                make_impact(d->s, kind, carom_pair_unpack(d->s->found[kind][index]), d->times[i]);
            d->receiver->put(d->receiver->user, to, &impact);
        }
    }
    return CAROM_OK;
}

/* Decides all candidates that are left, in their order, and fills the result. */
static carom_status pass_all(impacts_search *s, const carom_impacts_receiver *receiver) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint64_t count = 0, hits = 0;
    for (int k = 0; k < IMPACT_KINDS; ++k) count += s->counts[k];
    uint64_t ranges = (count + IMPACTS_PER_RANGE - 1) / IMPACTS_PER_RANGE;
    impacts_deciding d = {.s = s, .receiver = receiver};
    d.times = CAROM_ARENA_TAKE(scratch, carom_interval, count + 1);
    d.which = CAROM_ARENA_TAKE(scratch, uint64_t, count + 1);
    d.hits = CAROM_ARENA_TAKE(scratch, uint64_t, ranges + 1);
    if (d.times == NULL || d.which == NULL || d.hits == NULL)
        return no_memory(s, count * (sizeof(*d.times) + sizeof(*d.which)));
    CAROM_TRY(carom_parallel_for(s->context, count, IMPACTS_PER_RANGE, decide_range, &d));
    for (uint64_t r = 0; r <= ranges; ++r) {
        uint64_t own = r < ranges ? d.hits[r] : 0;
        CAROM_ASSERT(own <= IMPACTS_PER_RANGE);
        d.hits[r] = hits;
        hits += own;
    }
    CAROM_ASSERT(hits <= count);
    s->context->work.undecided += atomic_load_explicit(&d.undecided, memory_order_relaxed);
    CAROM_TRY(receiver->begin(receiver->user, hits, &d.writable));
    return carom_parallel_for(s->context, ranges, RANGES_PER_FILL, fill_range, &d);
}

void carom_impacts_pass(const carom_soup_impact *from, carom_soup_impact *to) {
    memset(to, 0, sizeof(*to));
    to->kind = from->kind;
    to->face_a = from->face_a;
    to->face_b = from->face_b;
    memcpy(to->a, from->a, sizeof(to->a));
    memcpy(to->b, from->b, sizeof(to->b));
    to->time = from->time;
}

static void pass_first(const impacts_search *s, carom_soup_impact *first) {
    carom_soup_impact found = {.kind = CAROM_SOUP_IMPACT_KIND_NONE,
                               .face_a = CAROM_NONE,
                               .face_b = CAROM_NONE,
                               .a = {CAROM_NONE, CAROM_NONE, CAROM_NONE},
                               .b = {CAROM_NONE, CAROM_NONE, CAROM_NONE}};
    if (s->earliest.kind != CAROM_SOUP_IMPACT_KIND_NONE) {
        /* upper: of the first time, whichever impact it belongs to */
        carom_interval time = {s->earliest.lower, s->earliest.lower, s->earliest.upper};
        found = make_impact(s, s->earliest.kind, s->earliest.pair, time);
    }
    carom_impacts_pass(&found, first);
}

/* ---- On the GPU ------------------------------------------------------------------------------ */

#define IMPACTS_PER_READ 16384u /* results copied from the device at a time: a mebibyte */

/* Passes on results in device memory. */
static carom_status pass_from_device(impacts_search *s, const carom_cuda_impacts *found,
                                     const carom_impacts_receiver *receiver) {
    carom_soup_impact *some =
        CAROM_ARENA_TAKE(carom_scratch(s->context, 0), carom_soup_impact, IMPACTS_PER_READ);
    uint64_t writable, count;
    if (some == NULL) return no_memory(s, IMPACTS_PER_READ * sizeof(*some));
    CAROM_TRY(receiver->begin(receiver->user, found->count, &writable));
    for (uint64_t at = 0; at < writable; at += count) {
        count = CAROM_MIN(writable - at, IMPACTS_PER_READ);
        CAROM_TRY(carom_cuda_read(s->context, some, found->data + at, count * sizeof(*some)));
        for (uint64_t i = 0; i < count; ++i) receiver->put(receiver->user, at + i, &some[i]);
        CAROM_TRY(carom_progress_look(s->context));
    }
    return CAROM_OK;
}

static carom_status find_on_device(impacts_search *s, const carom_impacts_receiver *receiver,
                                   carom_soup_impact *first) {
    carom_cuda_impacts found;
    if (s->first) return carom_impacts_device_first(s->query, first);
    CAROM_TRY(carom_impacts_device_all(s->query, &found));
    return pass_from_device(s, &found, receiver);
}

static carom_status find_on_cpu(impacts_search *s, const carom_impacts_receiver *receiver,
                                carom_soup_impact *first) {
    CAROM_TRY(impacts_prepare(s));
    CAROM_TRY(s->first ? find_first(s) : impacts_find(s));
    if (!s->first) return pass_all(s, receiver);
    pass_first(s, first);
    return CAROM_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_status impacts_run_search(carom_impacts_query *query,
                                       const carom_impacts_receiver *receiver,
                                       carom_soup_impact *first) {
    carom_context *context = query->context;
    impacts_search search = {
        .context = context,
        .query = query,
        .sides = {{.soup = query->a, .end = query->end_a, .pose = query->pose_a},
                  {.soup = query->b, .end = query->end_b, .pose = query->pose_b}},
        .self = query->b == NULL,
        .first = first != NULL};
    impacts_search *s = &search;
    query->largest = 0.0;
    CAROM_TRY(check_side(s, &s->sides[0], s->self ? "the " : "the first "));
    if (!s->self) CAROM_TRY(check_side(s, &s->sides[1], "the second "));
    context->work = (carom_work){0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, query->what, s->sides[0].view.triangle_count);
    carom_status status = context->backend == CAROM_BACKEND_CUDA
                              ? find_on_device(s, receiver, first)
                              : find_on_cpu(s, receiver, first);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_impacts_find_all(carom_impacts_query *query,
                                    const carom_impacts_receiver *receiver) {
    return impacts_run_search(query, receiver, NULL);
}

carom_status carom_impacts_find_first(carom_impacts_query *query, carom_soup_impact *first) {
    return impacts_run_search(query, NULL, first);
}

/* ---- Impacts --------------------------------------------------------------------------------- */

/* As carom_toi_of does. */
bool carom_impacts_decide_meet(const carom_impacts_query *query, const carom_vec3 *start,
                               const carom_vec3 *end, int edges, carom_toi *toi) {
    toi->hit = false;
    toi->time = (carom_interval){0.0, 0.0, 0.0};
    int verdict = CAROM_CPU_CALL(query->context, carom_toi_filter_fast)(
        start, end, edges, &toi->time.lower, &toi->time.upper);
    if (verdict == CAROM_TOI_MISS) return true;
    toi->hit = verdict == CAROM_TOI_HIT;
    if (!toi->hit || toi->time.upper - toi->time.lower > CAROM_TOI_WIDTH)
        carom_toi_exact(start, end, edges, toi);
    toi->time.value = toi->time.lower;
    return verdict != CAROM_TOI_UNDECIDED;
}

/* The same. */
static uint32_t decide_impacts(const carom_impacts_query *query, const carom_toi_columns *motions,
                               uint32_t count, int edges, carom_toi *toi) {
    int verdict[CAROM_TOI_COLUMNS];
    double low[CAROM_TOI_COLUMNS], high[CAROM_TOI_COLUMNS];
    uint32_t undecided = 0;
    CAROM_CPU_CALL(query->context, carom_toi_filter_lanes)
    (motions, count, edges, verdict, low, high);
    for (uint32_t i = 0; i < count; ++i) {
        toi[i] = (carom_toi){.hit = false};
        if (verdict[i] == CAROM_TOI_MISS) continue;
        toi[i].hit = verdict[i] == CAROM_TOI_HIT;
        toi[i].time = (carom_interval){low[i], low[i], high[i]};
        if (!toi[i].hit || high[i] - low[i] > CAROM_TOI_WIDTH) {
            carom_vec3 start[4], end[4];
            carom_toi_column_get(motions, i, start, end);
            carom_toi_exact(start, end, edges, &toi[i]);
            toi[i].time.value = toi[i].time.lower;
        }
        undecided += verdict[i] == CAROM_TOI_UNDECIDED;
    }
    return undecided;
}

static carom_impacts_query impacts_query(carom_context *context, const carom_soup *a,
                                         const carom_mesh_view *end_a, const carom_soup *b,
                                         const carom_mesh_view *end_b) {
    return (carom_impacts_query){.context = context,
                                 .a = a,
                                 .b = b,
                                 .end_a = end_a,
                                 .end_b = end_b,
                                 .what = "finding impacts",
                                 .whose_result = "a search for impacts",
                                 .decide = carom_impacts_decide_meet,
                                 .decide_many = decide_impacts,
                                 .task = CAROM_DEVICE_IMPACTS_MEET};
}

typedef struct impacts_list {
    carom_context *context;
    carom_soup_impacts *impacts;
} impacts_list;

static carom_status begin_impacts(void *user, uint64_t count, uint64_t *writable) {
    impacts_list *list = user;
    return carom_soup_impacts_begin(list->context, &list->context->allocator, list->impacts, count,
                                    writable);
}

static void put_impact(void *user, uint64_t at, const carom_soup_impact *impact) {
    const impacts_list *list = user;
    carom_impacts_pass(impact, &list->impacts->data[at]);
}

static carom_status find_impacts(carom_impacts_query query, carom_soup_impacts *impacts) {
    impacts_list list = {query.context, impacts};
    const carom_impacts_receiver receiver = {begin_impacts, put_impact, &list};
    CAROM_TRY(carom_impacts_find_all(&query, &receiver));
    return carom_soup_impacts_end(impacts);
}

carom_status carom_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                     const carom_mesh_view *end, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_RESULT(impacts, "impacts");
    return find_impacts(impacts_query(context, soup, end, NULL, NULL), impacts);
}

carom_status carom_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                          const carom_mesh_view *end, carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    carom_impacts_query query = impacts_query(context, soup, end, NULL, NULL);
    return carom_impacts_find_first(&query, impact);
}

carom_status carom_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                      const carom_mesh_view *end_a, const carom_soup *b,
                                      const carom_mesh_view *end_b, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(impacts, "impacts");
    return find_impacts(impacts_query(context, a, end_a, b, end_b), impacts);
}

carom_status carom_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                           const carom_mesh_view *end_a, const carom_soup *b,
                                           const carom_mesh_view *end_b,
                                           carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    carom_impacts_query query = impacts_query(context, a, end_a, b, end_b);
    return carom_impacts_find_first(&query, impact);
}
