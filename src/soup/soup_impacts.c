/* SPDX-License-Identifier: MIT */
/* Impacts of soups whose vertices move: which vertices meet faces and which edges meet edges while
 * all vertices move along straight lines.
 *
 * A box tree over the boxes that triangles sweep finds pairs of triangles. An edge belongs to two
 * triangles and a vertex to six, so each is assigned to the first triangle that has it
 * ("representative triangles", Curtis, Tamstorf, Manocha 2008): a pair of triangles tests only
 * what is its own, and every vertex and face, and every two edges, are tested once. Nearly all are
 * excluded by soup_impacts_cpu.c, from copies of the positions in float32 that lie in the order of
 * the tree; the rest is decided by toi_item.h, exactly.
 *
 * Workers keep pairs of indices. They are sorted, and the times are computed in that order, so the
 * result is the same for any number of threads. A search for the first impact alone leaves out what
 * is certainly later than one already found: the intervals that enclose times are at most
 * CAROM_TOI_WIDTH wide, so what is apart for that long after the upper end of one has a larger
 * lower end, and the result does not depend on what was found when. */
#include <stdatomic.h>

#include "base/names.h"
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "bvh/bvh_cpu.h"
#include "geom/length.h"
#include "geom/toi_item.h"
#include "mesh/mesh.h"
#include "soup/soup.h"
#include "soup/soup_impacts_cpu.h"

#define SOUP_IMPACTS_NODES_PER_RANGE     2u    /* of level 1: 512 triangles */
#define SOUP_IMPACTS_TRIANGLES_PER_RANGE 256u  /* of a, each searched in the tree of b */
#define VERTICES_PER_RANGE               4096u /* boxes computed */
#define IMPACTS_PER_RANGE                256u
/* Vertices or triangles between checks of the clock: some ms. */
#define OWNERS_PER_CHECK 65536u

/* Of the largest coordinate: what float32 loses, and what computing a position in it loses. */
#define FLOAT_ROUNDING    0x1p-23
#define POSITION_ROUNDING 0x1p-20
/* Movement in the first search for the first impact, in edges. */
#define FIRST_HORIZON_EDGES      4.0
#define HORIZON_GROWTH           4.0f    /* from one to the next */
#define PRUNING_COORDINATE_LIMIT 0x1p120 /* so that differences of positions are finite floats */

CAROM_ENUM_NAMES(carom_soup_impact_kind, CAROM_SOUP_IMPACT_KIND_COUNT, "vertex-face", "face-vertex",
                 "edge-edge");

CAROM_RESULT_FILL(carom_soup_impacts);
CAROM_RESULT_DEFINE_FREE(carom_soup_impacts);

/* A vertex, rounded to float32. */
typedef struct soup_impacts_moving_point {
    float at[6]; /* x, y, z at time 0 and at time 1 */
} soup_impacts_moving_point;

/* A soup that moves. */
typedef struct soup_impacts_side {
    const carom_soup *soup;
    const carom_mesh_view *end; /* NULL: at rest */
    soup_impacts_moving_point *points;
    uint8_t *owned;                   /* of each triangle: CAROM_IMPACT_OWN_... */
    carom_impact_triangle *triangles; /* in the order of the tree for b, else in that of the soup */
} soup_impacts_side;

/* The impact with the least `lower`, then in the order of results. */
typedef struct earliest {
    double lower, upper; /* upper: the least of all */
    int kind;
    carom_pair pair;
} earliest;

static const earliest none_yet = {HUGE_VAL, HUGE_VAL, CAROM_SOUP_IMPACT_KIND_COUNT, {0, 0}};

typedef struct soup_impacts_search {
    carom_context *context;
    soup_impacts_side sides[2]; /* b is a for one soup */
    bool self;
    bool first;   /* only the first impact is wanted */
    double scale; /* points are x * scale - origin, rounded to float32 */
    carom_vec3 origin;
    double largest;      /* coordinate of a point */
    double error;        /* of each coordinate; 0 where float32 holds them exactly */
    float gap;           /* above twice the error */
    carom_bvh bvh;       /* of b */
    float horizon;       /* the tree has the ways until this time */
    _Atomic float until; /* some impact is over before this time */
    carom_worker_states finders;
    const uint64_t *found[CAROM_SOUP_IMPACT_KIND_COUNT]; /* sorted */
    uint64_t counts[CAROM_SOUP_IMPACT_KIND_COUNT];
    carom_soup_impact *impacts;
    earliest earliest;
} soup_impacts_search;

static const soup_impacts_side *side_b(const soup_impacts_search *s) {
    return &s->sides[s->self ? 0 : 1];
}

static const uint32_t *soup_impacts_corners_of(const soup_impacts_side *x, uint32_t triangle) {
    return x->soup->corners + 3 * (uint64_t)triangle;
}

static carom_vec3 start_of(const soup_impacts_side *x, uint32_t vertex) {
    return carom_soup_position(x->soup, vertex);
}

static carom_vec3 end_of(const soup_impacts_side *x, uint32_t vertex) {
    return x->end != NULL ? carom_mesh_position(x->end, vertex) : start_of(x, vertex);
}

static bool soup_impacts_is_live(const soup_impacts_side *x, uint64_t triangle) {
    return (x->soup->states[triangle] & CAROM_SOUP_DEAD) == 0;
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static carom_status check_side(soup_impacts_search *s, soup_impacts_side *x, const char *whose) {
    const carom_soup *soup = x->soup;
    CAROM_TRY(carom_soup_check_any(s->context, soup));
    if (soup->triangle_count > UINT32_MAX / 3)
        return carom_fail(s->context, CAROM_TOO_LARGE,
                          "impacts: %ssoup has %u triangles; at most %u can be searched", whose,
                          soup->triangle_count, UINT32_MAX / 3);
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

static carom_status no_memory(soup_impacts_search *s, uint64_t bytes) {
    return carom_fail_memory(s->context, bytes, "a search for impacts");
}

/* Chooses scale and origin so that float32 points are finite and near. */
static carom_status soup_impacts_choose_frame(soup_impacts_search *s) {
    carom_bounds all = carom_bounds_empty();
    s->scale = 1.0;
    s->origin = carom_vec(0.0, 0.0, 0.0);
    s->error = 0.0;
    s->gap = 0.0f;
    bool floats = true;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        const soup_impacts_side *x = &s->sides[i];
        floats = floats && x->soup->scalar == CAROM_SCALAR_FLOAT32 &&
                 (x->end == NULL || x->end->scalar == CAROM_SCALAR_FLOAT32);
    }
    if (floats) return CAROM_OK; /* exact as they are */
    for (int i = 0; i < (s->self ? 1 : 2); ++i)
        for (uint64_t v = 0; v < s->sides[i].soup->vertex_count; ++v) {
            carom_bounds_include(&all, start_of(&s->sides[i], (uint32_t)v));
            carom_bounds_include(&all, end_of(&s->sides[i], (uint32_t)v));
            if (v % OWNERS_PER_CHECK == 0) CAROM_TRY(carom_progress_look(s->context));
        }
    if (!(all.low.x <= all.high.x)) return CAROM_OK;
    double most = CAROM_MAX(carom_vec_largest(all.low), carom_vec_largest(all.high));
    if (most >= 0x1p100 || (most < 0x1p-40 && most > 0.0))
        s->scale = carom_power_of_two(-carom_exponent(most));
    carom_vec3 low = carom_vec_scale(all.low, s->scale), high = carom_vec_scale(all.high, s->scale);
    s->origin = carom_vec_scale(carom_vec_add(low, high), 0.5);
    double from = carom_vec_largest(carom_vec_sub(low, s->origin));
    double to = carom_vec_largest(carom_vec_sub(high, s->origin));
    s->error = FLOAT_ROUNDING * CAROM_MAX(from, to) + (double)FLT_TRUE_MIN;
    s->gap = (float)(s->error * 2.5);
    return CAROM_OK;
}

typedef struct soup_impacts_loading {
    soup_impacts_search *s;
    soup_impacts_side *x;
} soup_impacts_loading;

static carom_status load_points(void *argument, carom_range range) {
    const soup_impacts_loading *l = argument;
    carom_vec3 origin = l->s->origin;
    double scale = l->s->scale;
    for (uint64_t v = range.begin; v < range.end; ++v) {
        carom_vec3 p = start_of(l->x, (uint32_t)v), q = end_of(l->x, (uint32_t)v);
        float *at = l->x->points[v].at;
        at[0] = (float)(p.x * scale - origin.x);
        at[1] = (float)(p.y * scale - origin.y);
        at[2] = (float)(p.z * scale - origin.z);
        at[3] = (float)(q.x * scale - origin.x);
        at[4] = (float)(q.y * scale - origin.y);
        at[5] = (float)(q.z * scale - origin.z);
    }
    return CAROM_OK;
}

static carom_status load_side(soup_impacts_search *s, soup_impacts_side *x) {
    uint64_t vertices = x->soup->vertex_count, triangles = x->soup->triangle_count;
    carom_arena *scratch = carom_scratch(s->context, 0);
    x->points = CAROM_ARENA_TAKE(scratch, soup_impacts_moving_point, vertices + 1);
    x->owned = CAROM_ARENA_TAKE(scratch, uint8_t, triangles + 1);
    if (x->points == NULL || x->owned == NULL)
        return no_memory(s, vertices * sizeof(soup_impacts_moving_point) + triangles);
    soup_impacts_loading l = {s, x};
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

static carom_status assign_owners(soup_impacts_search *s, soup_impacts_side *x) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t triangles = x->soup->triangle_count, size = 16;
    while (size < 4 * triangles) size *= 2;
    uint64_t *table = CAROM_ARENA_TAKE(scratch, uint64_t, size);
    uint8_t *taken = CAROM_ARENA_TAKE(scratch, uint8_t, x->soup->vertex_count + 1);
    if (table == NULL || taken == NULL) return no_memory(s, size * sizeof(*table));
    memset(table, 0xFF, size * sizeof(*table));
    memset(taken, 0, x->soup->vertex_count);
    for (uint64_t t = 0; t < triangles; ++t) {
        const uint32_t *c = soup_impacts_corners_of(x, (uint32_t)t);
        uint32_t owned = 0;
        for (uint32_t i = 0; i < 3 && soup_impacts_is_live(x, t); ++i) {
            if (!taken[c[i]]) owned |= CAROM_IMPACT_OWN_VERTEX(i);
            taken[c[i]] = 1;
            if (enter_edge(table, size - 1, c[i], c[(i + 1) % 3]))
                owned |= CAROM_IMPACT_OWN_EDGE(i);
        }
        x->owned[t] = (uint8_t)owned;
        if (t % OWNERS_PER_CHECK == 0) CAROM_TRY(carom_progress_look(s->context));
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* Above twice what is lost in positions at times up to `until`. */
static float gap_until(const soup_impacts_search *s, float until) {
    return until < 1.0f ? s->gap + (float)(POSITION_ROUNDING * s->largest) + FLT_MIN : s->gap;
}

/* Around the ways of points. */
static inline void include_way(carom_box *box, const soup_impacts_moving_point *p, float until) {
    for (int k = 0; k < 3; ++k) {
        float start = p->at[k], end = p->at[3 + k];
        if (until < 1.0f) end = start + until * (end - start);
        float low = CAROM_MIN(start, end), high = CAROM_MAX(start, end);
        box->low[k] = CAROM_MIN(low, box->low[k]);
        box->high[k] = CAROM_MAX(high, box->high[k]);
    }
}

static inline void soup_impacts_widen(carom_box *box, float by) {
    for (int k = 0; k < 3; ++k) {
        box->low[k] -= by;
        box->high[k] += by;
    }
}

static carom_box soup_impacts_triangle_box(const soup_impacts_search *s, const soup_impacts_side *x,
                                           uint32_t triangle) {
    carom_box box = carom_box_empty();
    if (!soup_impacts_is_live(x, triangle)) return box;
    const uint32_t *c = soup_impacts_corners_of(x, triangle);
    for (int i = 0; i < 3; ++i) include_way(&box, &x->points[c[i]], s->horizon);
    soup_impacts_widen(&box, gap_until(s, s->horizon));
    return box;
}

static void tree_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *boxes) {
    const soup_impacts_search *s = user;
    for (uint32_t i = 0; i < count; ++i)
        boxes[i] = soup_impacts_triangle_box(s, side_b(s), items != NULL ? items[i] : first + i);
}

/* Builds the tree of b in scratch of worker 0. */
static carom_status soup_impacts_build_tree(soup_impacts_search *s) {
    const soup_impacts_side *b = side_b(s);
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint64_t count = b->soup->triangle_count, places = count + CAROM_BVH_WIDTH;
    uint64_t nodes = count / (CAROM_BVH_WIDTH - 1) + CAROM_BVH_LEVELS;
    s->bvh.items = CAROM_ARENA_TAKE(scratch, uint32_t, places);
    s->bvh.nodes = CAROM_ARENA_TAKE(scratch, carom_bvh_node, nodes);
    if (s->bvh.items == NULL || s->bvh.nodes == NULL)
        return no_memory(s, nodes * sizeof(carom_bvh_node));
    s->bvh.item_capacity = places;
    s->bvh.node_capacity = nodes;
    carom_box bounds = carom_box_empty();
    for (uint64_t v = 0; v < b->soup->vertex_count; ++v)
        include_way(&bounds, &b->points[v], s->horizon);
    soup_impacts_widen(&bounds, gap_until(s, s->horizon));
    return carom_bvh_build(s->context, &s->context->allocator, &s->bvh, b->soup->triangle_count,
                           &bounds, tree_boxes, s);
}

typedef struct soup_impacts_placing {
    const soup_impacts_side *x;
    const uint32_t *items; /* NULL: in the order of the soup */
} soup_impacts_placing;

static carom_status soup_impacts_place_triangles(void *argument, carom_range range) {
    const soup_impacts_placing *p = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t t = p->items != NULL ? p->items[i] : (uint32_t)i;
        carom_impact_triangle *to = &p->x->triangles[i];
        memset(to, 0, sizeof(*to));
        if (t == CAROM_BVH_NONE) continue; /* past the end: never found */
        const uint32_t *c = soup_impacts_corners_of(p->x, t);
        for (int k = 0; k < 3; ++k)
            memcpy(to->at + 6 * k, p->x->points[c[k]].at, sizeof(p->x->points[c[k]].at));
        memcpy(to->corner, c, sizeof(to->corner));
        to->owned = p->x->owned[t];
    }
    return CAROM_OK;
}

static carom_status place_side(soup_impacts_search *s, soup_impacts_side *x, const uint32_t *items,
                               uint64_t count) {
    x->triangles = CAROM_ARENA_TAKE(carom_scratch(s->context, 0), carom_impact_triangle, count + 1);
    if (x->triangles == NULL) return no_memory(s, count * sizeof(carom_impact_triangle));
    soup_impacts_placing p = {x, items};
    return carom_parallel_for(s->context, count, VERTICES_PER_RANGE, soup_impacts_place_triangles,
                              &p);
}

/* Sizes for a search for the first impact: the largest coordinate, and the time in which points
 * move as far as FIRST_HORIZON_EDGES triangles are long, in the mean. */
static void measure_motion(soup_impacts_search *s) {
    double movement = 0.0, size = 0.0, vertices = 0.0, triangles = 0.0;
    float largest = 0.0f;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        const soup_impacts_side *x = &s->sides[i];
        for (uint64_t v = 0; v < x->soup->vertex_count; ++v) {
            const float *at = x->points[v].at;
            for (int k = 0; k < 3; ++k) {
                float start = fabsf(at[k]), end = fabsf(at[3 + k]);
                largest = CAROM_MAX(start, largest);
                largest = CAROM_MAX(end, largest);
                movement += fabs((double)at[3 + k] - (double)at[k]);
            }
        }
        for (uint64_t t = 0; t < x->soup->triangle_count; ++t) {
            const uint32_t *c = soup_impacts_corners_of(x, (uint32_t)t);
            for (int k = 0; k < 3; ++k)
                size += fabs((double)x->points[c[1]].at[k] - (double)x->points[c[0]].at[k]);
        }
        vertices += (double)x->soup->vertex_count;
        triangles += (double)x->soup->triangle_count;
    }
    s->largest = (double)largest;
    double step = FIRST_HORIZON_EDGES * size * vertices, whole = movement * triangles;
    if (s->largest < PRUNING_COORDINATE_LIMIT && step > 0.0 && step < whole)
        s->horizon = (float)(step / whole);
}

static carom_status soup_impacts_prepare(soup_impacts_search *s) {
    s->horizon = 1.0f;
    CAROM_TRY(soup_impacts_choose_frame(s));
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        CAROM_TRY(load_side(s, &s->sides[i]));
        CAROM_TRY(assign_owners(s, &s->sides[i]));
    }
    if (s->first) measure_motion(s);
    return CAROM_OK;
}

static carom_status soup_impacts_place(soup_impacts_search *s) {
    CAROM_TRY(soup_impacts_build_tree(s));
    soup_impacts_side *b = &s->sides[s->self ? 0 : 1];
    uint64_t places =
        s->bvh.level_count == 0 ? 0 : (uint64_t)s->bvh.node_count[0] * CAROM_BVH_WIDTH;
    CAROM_TRY(place_side(s, b, s->bvh.items, places));
    if (s->self) return CAROM_OK;
    return place_side(s, &s->sides[0], NULL, s->sides[0].soup->triangle_count);
}

/* ---- Vertices, faces and edges of two triangles ---------------------------------------------- */

typedef struct soup_impacts_finder {
    soup_impacts_search *s;
    uint32_t worker;
    carom_pair_list lists[CAROM_SOUP_IMPACT_KIND_COUNT];
    earliest first;
    carom_work work;
    carom_status status;
    carom_impact_candidate open[CAROM_IMPACT_AT_ONCE * CAROM_IMPACT_WHICH];
    carom_bvh_found found;
} soup_impacts_finder;

/* The four points of a vertex and a face, a face and a vertex, or two edges. */
static void soup_impacts_gather(const soup_impacts_search *s, carom_soup_impact_kind kind,
                                uint32_t a, uint32_t b, carom_vec3 *start, carom_vec3 *end) {
    const soup_impacts_side *xa = &s->sides[0], *xb = side_b(s), *of[4];
    uint32_t vertex[4];
    if (kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE) {
        const uint32_t *ca = soup_impacts_corners_of(xa, a / 3),
                       *cb = soup_impacts_corners_of(xb, b / 3);
        vertex[0] = ca[a % 3];
        vertex[1] = ca[(a % 3 + 1) % 3];
        vertex[2] = cb[b % 3];
        vertex[3] = cb[(b % 3 + 1) % 3];
        of[0] = of[1] = xa;
        of[2] = of[3] = xb;
    } else {
        bool vertex_of_a = kind == CAROM_SOUP_IMPACT_KIND_VERTEX_FACE;
        const soup_impacts_side *x = vertex_of_a ? xa : xb, *y = vertex_of_a ? xb : xa;
        vertex[0] = x->soup->corners[vertex_of_a ? a : b];
        memcpy(vertex + 1, soup_impacts_corners_of(y, vertex_of_a ? b : a), 3 * sizeof(uint32_t));
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

static void soup_impacts_offer(earliest *best, const earliest *x) {
    double upper = CAROM_MIN(x->upper, best->upper);
    if (is_earlier(x, best)) *best = *x;
    best->upper = upper;
}

/* Contact after an impact that is over at `upper` does not matter any more. */
static void prune(soup_impacts_search *s, double upper) {
    double until = (upper + CAROM_TOI_WIDTH) * (1.0 + 0x1p-20); /* float32 rounds */
    float now = atomic_load_explicit(&s->until, memory_order_relaxed), then = (float)until;
    if (!(s->largest < PRUNING_COORDINATE_LIMIT)) return;
    while (then < now && !atomic_compare_exchange_weak_explicit(
                             &s->until, &now, then, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Tests one vertex and face, or two edges; false if the search must stop. */
static bool test(soup_impacts_finder *f, carom_soup_impact_kind kind, uint32_t a, uint32_t b) {
    soup_impacts_search *s = f->s;
    carom_vec3 start[4], end[4];
    soup_impacts_gather(s, kind, a, b, start, end);
    int edges = kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
    int verdict = carom_toi_filter(start, end, edges, NULL, NULL);
    if (verdict == CAROM_TOI_MISS) return true;
    if (verdict == CAROM_TOI_UNDECIDED) {
        carom_toi toi;
        carom_toi_exact(start, end, edges, &toi);
        if (++f->work.undecided % CAROM_SOUP_EXACT_PER_CHECK == 0 &&
            carom_progress_stop(s->context, f->worker))
            return false;
        if (!toi.hit) return true;
    }
    if (s->first) {
        carom_toi toi = carom_toi_of(start, end, edges);
        earliest x = {toi.time.lower, toi.time.upper, kind, {a, b}};
        soup_impacts_offer(&f->first, &x);
        prune(s, toi.time.upper);
    } else if (!carom_pair_list_add(&f->lists[kind], a, b)) {
        f->status = CAROM_NO_MEMORY;
    }
    return f->status == CAROM_OK;
}

static uint32_t soup_impacts_triangle_at(const soup_impacts_search *s, uint32_t place) {
    return s->bvh.items[place];
}

static bool test_candidate(soup_impacts_finder *f, const carom_impact_candidate *c) {
    const soup_impacts_search *s = f->s;
    uint32_t a = s->self ? soup_impacts_triangle_at(s, c->a) : c->a,
             b = soup_impacts_triangle_at(s, c->b), k = c->which;
    if (k < CAROM_IMPACT_OF_B) return test(f, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, 3 * a + k, b);
    if (k < CAROM_IMPACT_EDGES) {
        uint32_t corner = 3 * b + k - CAROM_IMPACT_OF_B;
        return s->self ? test(f, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, corner, a)
                       : test(f, CAROM_SOUP_IMPACT_KIND_FACE_VERTEX, a, corner);
    }
    uint32_t edge_a = 3 * a + (k - CAROM_IMPACT_EDGES) / 3;
    uint32_t edge_b = 3 * b + (k - CAROM_IMPACT_EDGES) % 3;
    bool swap = s->self && edge_b < edge_a;
    return test(f, CAROM_SOUP_IMPACT_KIND_EDGE_EDGE, swap ? edge_b : edge_a,
                swap ? edge_a : edge_b);
}

/* ---- Search ---------------------------------------------------------------------------------- */

static carom_impact_pairs pairs_until(const soup_impacts_search *s, float until) {
    carom_impact_pairs pairs = {.of_a = s->sides[0].triangles,
                                .of_b = side_b(s)->triangles,
                                .self = s->self,
                                .error = s->error,
                                .gap = gap_until(s, until),
                                .until = until};
    return pairs;
}

/* Pairs of places, or of a triangle of a and a place. */
static bool soup_impacts_decide(carom_bvh_found *found) {
    soup_impacts_finder *f = found->user;
    soup_impacts_search *s = f->s;
    uint32_t count = found->count;
    found->count = 0;
    for (uint32_t at = 0; at < count; at += CAROM_IMPACT_AT_ONCE) {
        carom_impact_pairs pairs =
            pairs_until(s, atomic_load_explicit(&s->until, memory_order_relaxed));
        uint32_t open = CAROM_CPU_CALL(s->context, carom_soup_find_candidates)(
            &pairs, found->a + at, found->b + at, CAROM_MIN(count - at, CAROM_IMPACT_AT_ONCE),
            f->open, &f->work.candidates);
        for (uint32_t i = 0; i < open; ++i)
            if (!test_candidate(f, &f->open[i])) return false;
    }
    return !carom_progress_stop(s->context, f->worker);
}

static bool soup_impacts_finder_begin(void *user, void *state, uint32_t worker) {
    soup_impacts_finder *f = state;
    f->s = user;
    f->worker = worker;
    for (int k = 0; k < CAROM_SOUP_IMPACT_KIND_COUNT; ++k)
        carom_pair_list_begin(&f->lists[k], carom_scratch(f->s->context, worker));
    f->first = none_yet;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    f->found.count = 0;
    f->found.visits = 0;
    f->found.flush = soup_impacts_decide;
    f->found.user = f;
    return true;
}

static carom_status soup_impacts_search_nodes(void *argument, carom_range range) {
    soup_impacts_search *s = argument;
    soup_impacts_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t node = range.begin; node < range.end; ++node)
        if (!CAROM_CPU_CALL(s->context, carom_bvh_self_node)(&s->bvh, (uint32_t)node, &f->found))
            return f->status;
    (void)soup_impacts_decide(&f->found);
    carom_progress_add(s->context, range.worker,
                       (range.end - range.begin) * CAROM_BVH_WIDTH * CAROM_BVH_WIDTH);
    return f->status;
}

static carom_status search_triangles(void *argument, carom_range range) {
    soup_impacts_search *s = argument;
    soup_impacts_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t t = range.begin; t < range.end; ++t) {
        carom_box box = soup_impacts_triangle_box(s, &s->sides[0], (uint32_t)t);
        if (!CAROM_CPU_CALL(s->context, carom_bvh_find_box)(&s->bvh, &box, (uint32_t)t, &f->found))
            return f->status;
    }
    (void)soup_impacts_decide(&f->found);
    carom_progress_add(s->context, range.worker, range.end - range.begin);
    return f->status;
}

/* Joins and sorts what the workers found. */
static carom_status soup_impacts_collect(soup_impacts_search *s) {
    const soup_impacts_finder *f;
    for (int k = 0; k < CAROM_SOUP_IMPACT_KIND_COUNT; ++k) {
        carom_pair_list all;
        carom_pair_list_begin(&all, carom_scratch(s->context, 0));
        for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;)
            carom_pair_list_join(&all, &f->lists[k]);
        uint64_t *pairs;
        CAROM_TRY(carom_pair_list_sort(s->context, &all, false, &pairs, &s->counts[k]));
        s->found[k] = pairs;
    }
    s->earliest = none_yet;
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;) {
        soup_impacts_offer(&s->earliest, &f->first);
        s->context->work.visits += f->found.visits;
        s->context->work.candidates += f->work.candidates;
        s->context->work.undecided += f->work.undecided;
    }
    return CAROM_OK;
}

static carom_status soup_impacts_find(soup_impacts_search *s) {
    carom_progress_expect(s->context, s->sides[0].soup->triangle_count);
    s->bvh = (carom_bvh){0};
    CAROM_TRY(soup_impacts_place(s));
    CAROM_TRY(carom_worker_states_begin(&s->finders, s->context, sizeof(soup_impacts_finder),
                                        soup_impacts_finder_begin, s));
    carom_status status;
    if (!s->first) atomic_store_explicit(&s->until, 1.0f, memory_order_relaxed);
    if (s->self)
        status = carom_parallel_for(s->context, carom_bvh_self_nodes(&s->bvh),
                                    SOUP_IMPACTS_NODES_PER_RANGE, soup_impacts_search_nodes, s);
    else
        status = carom_parallel_for(s->context, s->sides[0].soup->triangle_count,
                                    SOUP_IMPACTS_TRIANGLES_PER_RANGE, search_triangles, s);
    if (status == CAROM_NO_MEMORY) status = no_memory(s, sizeof(soup_impacts_finder));
    if (status == CAROM_OK) status = soup_impacts_collect(s);
    carom_worker_states_release(&s->finders);
    return status;
}

/* Where points move far, the boxes around their ways overlap many others. So the first impact is
 * searched for in a short time first, and in a longer one where it is not found. */
static carom_status find_first(soup_impacts_search *s) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    for (;;) {
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        atomic_store_explicit(&s->until, s->horizon, memory_order_relaxed);
        carom_status status = soup_impacts_find(s);
        carom_arena_rewind(scratch, mark);
        /* what was left out is later by more than its interval is wide */
        if (status != CAROM_OK || s->horizon == 1.0f ||
            s->earliest.upper + CAROM_TOI_WIDTH < (double)s->horizon)
            return status;
        s->horizon = CAROM_MIN(s->horizon * HORIZON_GROWTH, 1.0f);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static void name_vertices(const soup_impacts_side *x, uint32_t id, int count, uint32_t *vertices,
                          uint32_t *face) {
    uint32_t triangle = count == 3 ? id : id / 3;
    const uint32_t *c = soup_impacts_corners_of(x, triangle);
    for (uint32_t i = 0; i < 3; ++i)
        vertices[i] = (int)i < count ? c[count == 3 ? i : (id % 3 + i) % 3] : UINT32_MAX;
    *face = carom_soup_face(x->soup, triangle);
}

static carom_soup_impact make_impact(const soup_impacts_search *s, int kind, carom_pair pair) {
    carom_soup_impact impact = {.kind = (carom_soup_impact_kind)kind};
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
    carom_vec3 start[4], end[4];
    soup_impacts_gather(s, impact.kind, pair.a, pair.b, start, end);
    carom_toi toi = carom_toi_of(start, end, edges);
    CAROM_ASSERT(toi.hit);
    impact.time = toi.time;
    return impact;
}

static carom_status fill_impacts(void *argument, carom_range range) {
    soup_impacts_search *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint64_t index = i;
        int kind = 0;
        while (index >= s->counts[kind]) index -= s->counts[kind++];
        s->impacts[i] = make_impact(s, kind, carom_pair_unpack(s->found[kind][index]));
    }
    return CAROM_OK;
}

static carom_status pass_all(soup_impacts_search *s, carom_soup_impacts *impacts) {
    uint64_t writable, total = 0;
    for (int k = 0; k < CAROM_SOUP_IMPACT_KIND_COUNT; ++k) total += s->counts[k];
    CAROM_TRY(
        carom_soup_impacts_begin(s->context, &s->context->allocator, impacts, total, &writable));
    s->impacts = impacts->data;
    CAROM_TRY(carom_parallel_for(s->context, writable, IMPACTS_PER_RANGE, fill_impacts, s));
    return carom_soup_impacts_end(impacts);
}

static void pass_first(const soup_impacts_search *s, carom_soup_impact *first) {
    *first = (carom_soup_impact){.face_a = CAROM_NONE, .face_b = CAROM_NONE};
    if (s->earliest.kind == CAROM_SOUP_IMPACT_KIND_COUNT) return;
    *first = make_impact(s, s->earliest.kind, s->earliest.pair);
    first->time.upper = s->earliest.upper; /* of the first time, whichever impact it belongs to */
}

/* ---- Public functions ------------------------------------------------------------------------ */

static carom_status soup_impacts_run_search(soup_impacts_search *s, carom_soup_impacts *impacts,
                                            carom_soup_impact *first) {
    carom_context *context = s->context;
    s->first = first != NULL;
    CAROM_TRY(carom_context_require_cpu(context, "a search for impacts"));
    CAROM_TRY(check_side(s, &s->sides[0], s->self ? "the " : "the first "));
    if (!s->self) CAROM_TRY(check_side(s, &s->sides[1], "the second "));
    context->work = (carom_work){0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding impacts", s->sides[0].soup->triangle_count);
    carom_status status = soup_impacts_prepare(s);
    if (status == CAROM_OK) status = first != NULL ? find_first(s) : soup_impacts_find(s);
    if (status == CAROM_OK && impacts != NULL) status = pass_all(s, impacts);
    if (status == CAROM_OK && first != NULL) pass_first(s, first);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                     const carom_mesh_view *end, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_RESULT(impacts, "impacts");
    soup_impacts_search s = {
        .context = context, .sides = {{.soup = soup, .end = end}}, .self = true};
    return soup_impacts_run_search(&s, impacts, NULL);
}

carom_status carom_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                          const carom_mesh_view *end, carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    soup_impacts_search s = {
        .context = context, .sides = {{.soup = soup, .end = end}}, .self = true};
    return soup_impacts_run_search(&s, NULL, impact);
}

carom_status carom_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                      const carom_mesh_view *end_a, const carom_soup *b,
                                      const carom_mesh_view *end_b, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(impacts, "impacts");
    soup_impacts_search s = {.context = context,
                             .sides = {{.soup = a, .end = end_a}, {.soup = b, .end = end_b}}};
    return soup_impacts_run_search(&s, impacts, NULL);
}

carom_status carom_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                           const carom_mesh_view *end_a, const carom_soup *b,
                                           const carom_mesh_view *end_b,
                                           carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    soup_impacts_search s = {.context = context,
                             .sides = {{.soup = a, .end = end_a}, {.soup = b, .end = end_b}}};
    return soup_impacts_run_search(&s, NULL, impact);
}
