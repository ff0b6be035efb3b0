/* SPDX-License-Identifier: MIT */
/* Impacts of soups whose vertices move: which vertices meet faces and which edges meet edges while
 * all vertices move along straight lines.
 *
 * A box tree over the boxes that triangles sweep finds pairs of triangles. An edge belongs to two
 * triangles and a vertex to six, so each is assigned to the first triangle that has it
 * ("representative triangles", Curtis, Tamstorf, Manocha 2008): a pair of triangles tests only
 * what is its own, and every vertex and face, and every two edges, are tested once. Vertices and
 * edges whose boxes do not overlap the other's are left out; the rest is decided by toi_item.h,
 * exactly.
 *
 * Workers keep pairs of indices. They are sorted, and the times are computed in that order, so the
 * result is the same for any number of threads. */
#include "base/names.h"
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/simd.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "bvh/bvh_cpu.h"
#include "geom/length.h"
#include "geom/toi_item.h"
#include "mesh/mesh.h"
#include "soup/soup.h"

#define NODES_PER_RANGE     2u    /* of level 1: 512 triangles */
#define TRIANGLES_PER_RANGE 256u  /* of a, each searched in the tree of b */
#define VERTICES_PER_RANGE  4096u /* boxes computed */
#define IMPACTS_PER_RANGE   256u
#define OWNED_AT_ONCE       65536u /* triangles between checks of the clock: some milliseconds */
#define EXACT_AT_ONCE       16u    /* exact tests between checks */

#define OWN_VERTEX(i) (1u << (i))
#define OWN_EDGE(i)   (8u << (i)) /* from corner i to the next */

CAROM_ENUM_NAMES(carom_impact_kind, CAROM_IMPACT_KIND_COUNT, "vertex-face", "face-vertex",
                 "edge-edge");

CAROM_RESULT_FILL(carom_soup_impacts);
CAROM_RESULT_DEFINE_FREE(carom_soup_impacts);

typedef struct moving {
    carom_vec3 start, end;
} moving;

/* A box, one vector per corner: the fourth lanes are 0. */
typedef struct wide_box {
    carom_f32x4 low, high;
} wide_box;

/* What pairs of triangles need to know of one: a cache line. */
typedef struct moving_triangle {
    wide_box box; /* of its way; empty for removed triangles */
    uint32_t corner[3];
    uint32_t triangle;
    uint32_t owned; /* OWN_... */
    uint32_t padding[3];
} moving_triangle;

/* A soup that moves. */
typedef struct side {
    const carom_soup *soup;
    const carom_mesh_view *end; /* NULL: at rest */
    moving *vertices;
    wide_box *boxes;            /* of the way of each vertex */
    uint8_t *owned;             /* of each triangle: OWN_... */
    moving_triangle *triangles; /* in the order of the tree for b, else in that of the soup */
} side;

static inline wide_box join(wide_box a, wide_box b) {
    return (wide_box){carom_f32x4_min(a.low, b.low), carom_f32x4_max(a.high, b.high)};
}

static inline bool overlap(const wide_box *a, const wide_box *b) {
    return carom_i32x4_lanes((a->low <= b->high) & (b->low <= a->high)) == 15;
}

typedef struct search {
    carom_context *context;
    side sides[2]; /* b is a for one soup */
    bool self;
    double scale; /* boxes are x * scale - origin in float32, rounded outwards */
    carom_vec3 origin;
    carom_bvh bvh; /* of b */
    carom_worker_states finders;
    const uint64_t *found[CAROM_IMPACT_KIND_COUNT]; /* sorted */
    uint64_t counts[CAROM_IMPACT_KIND_COUNT];
    carom_soup_impact *impacts;
} search;

static const side *side_b(const search *s) {
    return &s->sides[s->self ? 0 : 1];
}

static const uint32_t *corners_of(const side *x, uint32_t triangle) {
    return x->soup->corners + 3 * (uint64_t)triangle;
}

static bool is_live(const side *x, uint64_t triangle) {
    return (x->soup->states[triangle] & CAROM_SOUP_DEAD) == 0;
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static carom_status check_side(search *s, side *x, const char *whose) {
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

static carom_status no_memory(search *s, uint64_t bytes) {
    return carom_fail_memory(s->context, bytes, "a search for impacts");
}

static carom_status load_side(search *s, side *x) {
    uint64_t vertices = x->soup->vertex_count, triangles = x->soup->triangle_count;
    carom_arena *scratch = carom_scratch(s->context, 0);
    x->vertices = CAROM_ARENA_TAKE(scratch, moving, vertices + 1);
    x->boxes = CAROM_ARENA_TAKE(scratch, wide_box, vertices + 1);
    x->owned = CAROM_ARENA_TAKE(scratch, uint8_t, triangles + 1);
    if (x->vertices == NULL || x->boxes == NULL || x->owned == NULL)
        return no_memory(s, vertices * (sizeof(moving) + sizeof(wide_box)) + triangles);
    for (uint64_t v = 0; v < vertices; ++v) {
        x->vertices[v].start = carom_soup_position(x->soup, (uint32_t)v);
        x->vertices[v].end = x->end != NULL ? carom_mesh_position(x->end, v) : x->vertices[v].start;
        if (v % OWNED_AT_ONCE == 0) CAROM_TRY(carom_progress_look(s->context));
    }
    return CAROM_OK;
}

/* Chooses scale and origin so that float32 boxes are finite and tight. */
static void choose_frame(search *s) {
    carom_bounds all = carom_bounds_empty();
    s->scale = 1.0;
    s->origin = carom_vec(0.0, 0.0, 0.0);
    bool floats = true;
    for (int i = 0; i < (s->self ? 1 : 2); ++i) {
        const side *x = &s->sides[i];
        floats = floats && x->soup->scalar == CAROM_SCALAR_FLOAT32 &&
                 (x->end == NULL || x->end->scalar == CAROM_SCALAR_FLOAT32);
        for (uint64_t v = 0; v < x->soup->vertex_count; ++v) {
            carom_bounds_include(&all, x->vertices[v].start);
            carom_bounds_include(&all, x->vertices[v].end);
        }
    }
    if (floats || !(all.low.x <= all.high.x)) return; /* floats are exact as they are */
    double most = CAROM_MAX(carom_vec_largest(all.low), carom_vec_largest(all.high));
    if (most >= 0x1p100 || (most < 0x1p-40 && most > 0.0))
        s->scale = carom_power_of_two(-carom_exponent(most));
    s->origin = carom_vec_scale(
        carom_vec_add(carom_vec_scale(all.low, s->scale), carom_vec_scale(all.high, s->scale)),
        0.5);
}

/* A float below and one above x * scale - origin, where the product is rounded only if it is
 * subnormal. */
static void round_outwards(const search *s, double x, double origin, float *low, float *high) {
    double at = x * s->scale;
    *low = carom_float_down(at, origin);
    *high = carom_float_up(at, origin);
    if (s->scale < 1.0 && fabs(at) < 0x1p-900) { /* the product may be rounded */
        *low = CAROM_MIN(*low, -FLT_MIN);
        *high = CAROM_MAX(*high, FLT_MIN);
    }
}

typedef struct boxing {
    search *s;
    side *x;
} boxing;

static carom_status make_boxes(void *argument, carom_range range) {
    const boxing *b = argument;
    const double origin[3] = {b->s->origin.x, b->s->origin.y, b->s->origin.z};
    for (uint64_t v = range.begin; v < range.end; ++v) {
        const double *p = &b->x->vertices[v].start.x, *q = &b->x->vertices[v].end.x;
        float low[4] = {0}, high[4] = {0};
        for (int k = 0; k < 3; ++k) {
            float ignored;
            round_outwards(b->s, CAROM_MIN(p[k], q[k]), origin[k], &low[k], &ignored);
            round_outwards(b->s, CAROM_MAX(p[k], q[k]), origin[k], &ignored, &high[k]);
        }
        b->x->boxes[v] = (wide_box){carom_f32x4_load(low), carom_f32x4_load(high)};
    }
    return CAROM_OK;
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

static carom_status assign_owners(search *s, side *x) {
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
        const uint32_t *c = corners_of(x, (uint32_t)t);
        uint32_t owned = 0;
        for (uint32_t i = 0; i < 3 && is_live(x, t); ++i) {
            if (!taken[c[i]]) owned |= OWN_VERTEX(i);
            taken[c[i]] = 1;
            if (enter_edge(table, size - 1, c[i], c[(i + 1) % 3])) owned |= OWN_EDGE(i);
        }
        x->owned[t] = (uint8_t)owned;
        if (t % OWNED_AT_ONCE == 0) CAROM_TRY(carom_progress_look(s->context));
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static wide_box wide_box_of(const side *x, uint32_t triangle) {
    const uint32_t *c = corners_of(x, triangle);
    return join(join(x->boxes[c[0]], x->boxes[c[1]]), x->boxes[c[2]]);
}

static carom_box triangle_box(const side *x, uint32_t triangle) {
    if (!is_live(x, triangle)) return carom_box_empty();
    wide_box wide = wide_box_of(x, triangle);
    float low[4], high[4];
    carom_f32x4_store(low, wide.low);
    carom_f32x4_store(high, wide.high);
    carom_box box;
    memcpy(box.low, low, sizeof(box.low));
    memcpy(box.high, high, sizeof(box.high));
    return box;
}

static void tree_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *boxes) {
    const side *x = user;
    for (uint32_t i = 0; i < count; ++i)
        boxes[i] = triangle_box(x, items != NULL ? items[i] : first + i);
}

/* Builds the tree of b in scratch of worker 0. */
static carom_status build_tree(search *s) {
    const side *b = side_b(s);
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
    if (b->soup->vertex_count != 0) {
        wide_box all = b->boxes[0];
        for (uint64_t v = 1; v < b->soup->vertex_count; ++v) all = join(all, b->boxes[v]);
        for (int k = 0; k < 3; ++k) {
            bounds.low[k] = all.low[k];
            bounds.high[k] = all.high[k];
        }
    }
    return carom_bvh_build(s->context, &s->context->allocator, &s->bvh, b->soup->triangle_count,
                           &bounds, tree_boxes, b);
}

typedef struct placing {
    const side *x;
    const uint32_t *items; /* NULL: in the order of the soup */
} placing;

static carom_status place_triangles(void *argument, carom_range range) {
    const placing *p = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t t = p->items != NULL ? p->items[i] : (uint32_t)i;
        moving_triangle *to = &p->x->triangles[i];
        memset(to, 0, sizeof(*to));
        if (t == CAROM_BVH_NONE) continue; /* past the end: never found */
        to->box = wide_box_of(p->x, t);
        memcpy(to->corner, corners_of(p->x, t), sizeof(to->corner));
        to->triangle = t;
        to->owned = p->x->owned[t];
    }
    return CAROM_OK;
}

static carom_status place_side(search *s, side *x, const uint32_t *items, uint64_t count) {
    x->triangles = CAROM_ARENA_TAKE(carom_scratch(s->context, 0), moving_triangle, count + 1);
    if (x->triangles == NULL) return no_memory(s, count * sizeof(moving_triangle));
    placing p = {x, items};
    return carom_parallel_for(s->context, count, VERTICES_PER_RANGE, place_triangles, &p);
}

static carom_status prepare(search *s) {
    int count = s->self ? 1 : 2;
    for (int i = 0; i < count; ++i) {
        CAROM_TRY(load_side(s, &s->sides[i]));
        CAROM_TRY(assign_owners(s, &s->sides[i]));
    }
    choose_frame(s);
    for (int i = 0; i < count; ++i) {
        boxing b = {s, &s->sides[i]};
        CAROM_TRY(carom_parallel_for(s->context, b.x->soup->vertex_count, VERTICES_PER_RANGE,
                                     make_boxes, &b));
    }
    CAROM_TRY(build_tree(s));
    side *b = &s->sides[s->self ? 0 : 1];
    uint64_t places =
        s->bvh.level_count == 0 ? 0 : (uint64_t)s->bvh.node_count[0] * CAROM_BVH_WIDTH;
    CAROM_TRY(place_side(s, b, s->bvh.items, places));
    if (s->self) return CAROM_OK;
    return place_side(s, &s->sides[0], NULL, s->sides[0].soup->triangle_count);
}

/* ---- Vertices, faces and edges of two triangles ---------------------------------------------- */

typedef struct finder {
    search *s;
    uint32_t worker;
    carom_pair_list lists[CAROM_IMPACT_KIND_COUNT];
    carom_work work;
    carom_status status;
    carom_bvh_found found;
} finder;

/* The four points of a vertex and a face, a face and a vertex, or two edges. */
static void gather(const search *s, carom_impact_kind kind, uint32_t a, uint32_t b,
                   carom_vec3 *start, carom_vec3 *end) {
    const side *xa = &s->sides[0], *xb = side_b(s);
    const moving *p[4];
    if (kind == CAROM_IMPACT_KIND_EDGE_EDGE) {
        const uint32_t *ca = corners_of(xa, a / 3), *cb = corners_of(xb, b / 3);
        p[0] = &xa->vertices[ca[a % 3]];
        p[1] = &xa->vertices[ca[(a % 3 + 1) % 3]];
        p[2] = &xb->vertices[cb[b % 3]];
        p[3] = &xb->vertices[cb[(b % 3 + 1) % 3]];
    } else {
        bool vertex_of_a = kind == CAROM_IMPACT_KIND_VERTEX_FACE;
        const side *x = vertex_of_a ? xa : xb, *y = vertex_of_a ? xb : xa;
        uint32_t corner = vertex_of_a ? a : b;
        const uint32_t *face = corners_of(y, vertex_of_a ? b : a);
        p[0] = &x->vertices[x->soup->corners[corner]];
        for (int i = 0; i < 3; ++i) p[1 + i] = &y->vertices[face[i]];
    }
    for (int i = 0; i < 4; ++i) {
        start[i] = p[i]->start;
        end[i] = p[i]->end;
    }
}

/* Tests one vertex and face, or two edges; false if the search must stop. */
static bool test(finder *f, carom_impact_kind kind, uint32_t a, uint32_t b) {
    carom_vec3 start[4], end[4];
    gather(f->s, kind, a, b, start, end);
    ++f->work.candidates;
    int edges = kind == CAROM_IMPACT_KIND_EDGE_EDGE;
    int verdict = carom_toi_filter(start, end, edges, NULL, NULL);
    if (verdict == CAROM_TOI_MISS) return true;
    if (verdict == CAROM_TOI_UNDECIDED) {
        carom_toi toi;
        carom_toi_exact(start, end, edges, &toi);
        if (++f->work.undecided % EXACT_AT_ONCE == 0 &&
            carom_progress_stop(f->s->context, f->worker))
            return false;
        if (!toi.hit) return true;
    }
    if (!carom_pair_list_add(&f->lists[kind], a, b)) f->status = CAROM_NO_MEMORY;
    return f->status == CAROM_OK;
}

static bool has_corner(const uint32_t *corners, uint32_t vertex) {
    return corners[0] == vertex || corners[1] == vertex || corners[2] == vertex;
}

/* The own vertices of triangle t of x with triangle u. */
static bool test_vertices(finder *f, const side *x, const moving_triangle *t,
                          const moving_triangle *u, carom_impact_kind kind) {
    for (uint32_t i = 0; i < 3; ++i) {
        if ((t->owned & OWN_VERTEX(i)) == 0 || !overlap(&x->boxes[t->corner[i]], &u->box)) continue;
        if (f->s->self && has_corner(u->corner, t->corner[i])) continue;
        uint32_t corner = 3 * t->triangle + i;
        bool vertex_first = kind == CAROM_IMPACT_KIND_VERTEX_FACE;
        if (!test(f, kind, vertex_first ? corner : u->triangle,
                  vertex_first ? u->triangle : corner))
            return false;
    }
    return true;
}

static bool test_edges(finder *f, const side *x, const moving_triangle *t, const side *y,
                       const moving_triangle *u) {
    wide_box edges[3];
    uint32_t of_u = 0; /* own edges of u whose boxes overlap that of t */
    for (uint32_t j = 0; j < 3; ++j) {
        edges[j] = join(y->boxes[u->corner[j]], y->boxes[u->corner[(j + 1) % 3]]);
        if ((u->owned & OWN_EDGE(j)) != 0 && overlap(&edges[j], &t->box)) of_u |= 1u << j;
    }
    if (of_u == 0) return true;
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t p = t->corner[i], q = t->corner[(i + 1) % 3];
        if ((t->owned & OWN_EDGE(i)) == 0) continue;
        wide_box box = join(x->boxes[p], x->boxes[q]);
        if (!overlap(&box, &u->box)) continue;
        for (uint32_t j = 0; j < 3; ++j) {
            if ((of_u >> j & 1) == 0 || !overlap(&box, &edges[j])) continue;
            uint32_t r = u->corner[j], e = u->corner[(j + 1) % 3];
            if (f->s->self && (p == r || p == e || q == r || q == e)) continue;
            uint32_t a = 3 * t->triangle + i, b = 3 * u->triangle + j;
            if (f->s->self && b < a) {
                uint32_t c = a;
                a = b;
                b = c;
            }
            if (!test(f, CAROM_IMPACT_KIND_EDGE_EDGE, a, b)) return false;
        }
    }
    return true;
}

#define OWN_VERTICES 7u
#define OWN_EDGES    56u

static bool test_triangles(finder *f, const moving_triangle *t, const moving_triangle *u) {
    const side *x = &f->s->sides[0], *y = side_b(f->s);
    carom_impact_kind second =
        f->s->self ? CAROM_IMPACT_KIND_VERTEX_FACE : CAROM_IMPACT_KIND_FACE_VERTEX;
    if ((t->owned & OWN_VERTICES) != 0 && !test_vertices(f, x, t, u, CAROM_IMPACT_KIND_VERTEX_FACE))
        return false;
    if ((u->owned & OWN_VERTICES) != 0 && !test_vertices(f, y, u, t, second)) return false;
    if ((t->owned & OWN_EDGES) == 0 || (u->owned & OWN_EDGES) == 0) return true;
    return test_edges(f, x, t, y, u);
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Pairs of places, or of a triangle of a and a place. */
static bool decide(carom_bvh_found *found) {
    finder *f = found->user;
    const moving_triangle *of_a = f->s->sides[0].triangles, *of_b = side_b(f->s)->triangles;
    uint32_t count = found->count;
    found->count = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!test_triangles(f, &of_a[found->a[i]], &of_b[found->b[i]])) return false;
    return !carom_progress_stop(f->s->context, f->worker);
}

static bool finder_begin(void *user, void *state, uint32_t worker) {
    finder *f = state;
    f->s = user;
    f->worker = worker;
    for (int k = 0; k < CAROM_IMPACT_KIND_COUNT; ++k)
        carom_pair_list_begin(&f->lists[k], carom_scratch(f->s->context, worker));
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    f->found.count = 0;
    f->found.visits = 0;
    f->found.flush = decide;
    f->found.user = f;
    return true;
}

static carom_status search_nodes(void *argument, carom_range range) {
    search *s = argument;
    finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t node = range.begin; node < range.end; ++node)
        if (!CAROM_CPU_CALL(s->context, carom_bvh_self_node)(&s->bvh, (uint32_t)node, &f->found))
            return f->status;
    (void)decide(&f->found);
    carom_progress_add(s->context, range.worker,
                       (range.end - range.begin) * CAROM_BVH_WIDTH * CAROM_BVH_WIDTH);
    return f->status;
}

static carom_status search_triangles(void *argument, carom_range range) {
    search *s = argument;
    finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t t = range.begin; t < range.end; ++t) {
        carom_box box = triangle_box(&s->sides[0], (uint32_t)t);
        if (!CAROM_CPU_CALL(s->context, carom_bvh_find_box)(&s->bvh, &box, (uint32_t)t, &f->found))
            return f->status;
    }
    (void)decide(&f->found);
    carom_progress_add(s->context, range.worker, range.end - range.begin);
    return f->status;
}

/* Joins and sorts what the workers found. */
static carom_status collect(search *s) {
    const finder *f;
    for (int k = 0; k < CAROM_IMPACT_KIND_COUNT; ++k) {
        carom_pair_list all;
        carom_pair_list_begin(&all, carom_scratch(s->context, 0));
        for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;)
            carom_pair_list_join(&all, &f->lists[k]);
        uint64_t *pairs;
        CAROM_TRY(carom_pair_list_sort(s->context, &all, false, &pairs, &s->counts[k]));
        s->found[k] = pairs;
    }
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;) {
        s->context->work.visits += f->found.visits;
        s->context->work.candidates += f->work.candidates;
        s->context->work.undecided += f->work.undecided;
    }
    return CAROM_OK;
}

static carom_status find_all(search *s) {
    CAROM_TRY(carom_worker_states_begin(&s->finders, s->context, sizeof(finder), finder_begin, s));
    carom_status status;
    if (s->self)
        status = carom_parallel_for(s->context, carom_bvh_self_nodes(&s->bvh), NODES_PER_RANGE,
                                    search_nodes, s);
    else
        status = carom_parallel_for(s->context, s->sides[0].soup->triangle_count,
                                    TRIANGLES_PER_RANGE, search_triangles, s);
    if (status == CAROM_NO_MEMORY) status = no_memory(s, sizeof(finder));
    if (status == CAROM_OK) status = collect(s);
    carom_worker_states_release(&s->finders);
    return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void name_vertices(const side *x, uint32_t id, int count, uint32_t *vertices,
                          uint32_t *face) {
    uint32_t triangle = count == 3 ? id : id / 3;
    const uint32_t *c = corners_of(x, triangle);
    for (uint32_t i = 0; i < 3; ++i)
        vertices[i] = (int)i < count ? c[count == 3 ? i : (id % 3 + i) % 3] : UINT32_MAX;
    *face = carom_soup_face(x->soup, triangle);
}

static carom_soup_impact make_impact(const search *s, uint64_t index) {
    int kind = 0;
    while (index >= s->counts[kind]) index -= s->counts[kind++];
    carom_pair pair = carom_pair_unpack(s->found[kind][index]);
    carom_soup_impact impact = {.kind = (carom_impact_kind)kind};
    bool edges = kind == CAROM_IMPACT_KIND_EDGE_EDGE;
    name_vertices(&s->sides[0], pair.a,
                  edges                                   ? 2
                  : kind == CAROM_IMPACT_KIND_VERTEX_FACE ? 1
                                                          : 3,
                  impact.a, &impact.face_a);
    name_vertices(side_b(s), pair.b,
                  edges                                   ? 2
                  : kind == CAROM_IMPACT_KIND_VERTEX_FACE ? 3
                                                          : 1,
                  impact.b, &impact.face_b);
    carom_vec3 start[4], end[4];
    gather(s, impact.kind, pair.a, pair.b, start, end);
    carom_toi toi = carom_toi_of(start, end, edges);
    CAROM_ASSERT(toi.hit);
    impact.lower = toi.lower;
    impact.upper = toi.upper;
    return impact;
}

static carom_status fill_impacts(void *argument, carom_range range) {
    search *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) s->impacts[i] = make_impact(s, i);
    return CAROM_OK;
}

static uint64_t total_of(const search *s) {
    uint64_t total = 0;
    for (int k = 0; k < CAROM_IMPACT_KIND_COUNT; ++k) total += s->counts[k];
    return total;
}

static carom_status pass_all(search *s, carom_soup_impacts *impacts) {
    uint64_t writable;
    CAROM_TRY(carom_soup_impacts_begin(s->context, &s->context->allocator, impacts, total_of(s),
                                       &writable));
    s->impacts = impacts->data;
    CAROM_TRY(carom_parallel_for(s->context, writable, IMPACTS_PER_RANGE, fill_impacts, s));
    return carom_soup_impacts_end(impacts);
}

static carom_status pass_first(search *s, carom_soup_impact *first) {
    uint64_t total = total_of(s);
    *first = (carom_soup_impact){.kind = CAROM_IMPACT_KIND_COUNT};
    s->impacts = CAROM_ARENA_TAKE(carom_scratch(s->context, 0), carom_soup_impact, total + 1);
    if (s->impacts == NULL) return no_memory(s, total * sizeof(*first));
    CAROM_TRY(carom_parallel_for(s->context, total, IMPACTS_PER_RANGE, fill_impacts, s));
    double upper = HUGE_VAL;
    for (uint64_t i = 0; i < total; ++i) {
        const carom_soup_impact *impact = &s->impacts[i];
        upper = CAROM_MIN(impact->upper, upper);
        if (first->kind == CAROM_IMPACT_KIND_COUNT || impact->lower < first->lower)
            *first = *impact;
    }
    if (total != 0) first->upper = upper; /* of the first time, whichever impact it belongs to */
    return CAROM_OK;
}

/* ---- Public functions ------------------------------------------------------------------------ */

static carom_status run(search *s, carom_soup_impacts *impacts, carom_soup_impact *first) {
    carom_context *context = s->context;
    CAROM_TRY(carom_context_require_cpu(context, "a search for impacts"));
    CAROM_TRY(check_side(s, &s->sides[0], s->self ? "the " : "the first "));
    if (!s->self) CAROM_TRY(check_side(s, &s->sides[1], "the second "));
    context->work = (carom_work){0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding impacts", s->sides[0].soup->triangle_count);
    carom_status status = prepare(s);
    if (status == CAROM_OK) status = find_all(s);
    if (status == CAROM_OK && impacts != NULL) status = pass_all(s, impacts);
    if (status == CAROM_OK && first != NULL) status = pass_first(s, first);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                     const carom_mesh_view *end, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, "the end positions are NULL");
    CAROM_REQUIRE_RESULT(impacts, "the place for the impacts");
    search s = {.context = context, .sides = {{.soup = soup, .end = end}}, .self = true};
    return run(&s, impacts, NULL);
}

carom_status carom_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                          const carom_mesh_view *end, carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, "the end positions are NULL");
    CAROM_REQUIRE(impact != NULL, "the place for the impact is NULL");
    search s = {.context = context, .sides = {{.soup = soup, .end = end}}, .self = true};
    return run(&s, NULL, impact);
}

carom_status carom_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                      const carom_mesh_view *end_a, const carom_soup *b,
                                      const carom_mesh_view *end_b, carom_soup_impacts *impacts) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(impacts, "the place for the impacts");
    search s = {.context = context,
                .sides = {{.soup = a, .end = end_a}, {.soup = b, .end = end_b}}};
    return run(&s, impacts, NULL);
}

carom_status carom_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                           const carom_mesh_view *end_a, const carom_soup *b,
                                           const carom_mesh_view *end_b,
                                           carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE(impact != NULL, "the place for the impact is NULL");
    search s = {.context = context,
                .sides = {{.soup = a, .end = end_a}, {.soup = b, .end = end_b}}};
    return run(&s, NULL, impact);
}
