/* SPDX-License-Identifier: MIT */
/* The connected components of an overlap's surface.
 *
 * Nodes are vertices inside the other solid, and intersections, where an edge crosses a face. They
 * are joined by the parts of edges inside the other solid, and by the segments that faces share.
 * These do not connect a face whose part of the surface has holes. There the leftmost point of each
 * set is joined to the border on its left, if the surface lies between them (as holes of polygons
 * are bridged: Eberly, "Triangulation by ear clipping", 2002). */
#include "solid/solid_surface.h"
#include "base/progress.h"

/* ---- Disjoint sets --------------------------------------------------------------------------- */

static uint32_t node_of_vertex(const carom_solid_surface *p, int of_b, uint32_t vertex) {
    return of_b ? (uint32_t)p->query->solids[0]->view.vertex_count + vertex : vertex;
}

static uint32_t node_of_intersection(const carom_solid_surface *p, uint32_t intersection) {
    return (uint32_t)(p->query->solids[0]->view.vertex_count +
                      p->query->solids[1]->view.vertex_count) +
           intersection;
}

uint32_t carom_solid_node_count(const carom_solid_surface *p) {
    return node_of_intersection(p, p->intersection_count);
}

uint32_t carom_solid_component_of(carom_solid_surface *p, uint32_t node) {
    while (p->parents[node] != node) {
        p->parents[node] = p->parents[p->parents[node]];
        node = p->parents[node];
    }
    return node;
}

static void solid_surface_join(carom_solid_surface *p, uint32_t a, uint32_t b) {
    a = carom_solid_component_of(p, a);
    b = carom_solid_component_of(p, b);
    p->parents[CAROM_MAX(a, b)] = CAROM_MIN(a, b);
}

/* ---- Intersections --------------------------------------------------------------------------- */

static uint32_t hash(uint64_t of_b, uint64_t low, uint64_t high, uint64_t face) {
    uint64_t h = (low << 32 | high) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 29 ^ (face << 1 | of_b)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(h >> 32);
}

static bool same_edge(const carom_solid_intersection *k, uint32_t of_b, uint32_t low,
                      uint32_t high) {
    return k->of_b == of_b && k->low == low && k->high == high;
}

/* The slot in the table of an edge's first intersection, or the empty slot for it. */
static uint32_t *edge_slot(const carom_solid_surface *p, uint32_t of_b, uint32_t low,
                           uint32_t high) {
    uint32_t at = hash(of_b, low, high, 0) & p->table_mask;
    while (p->edge_table[at] != CAROM_SOLID_NONE &&
           !same_edge(&p->intersections[p->edge_table[at]], of_b, low, high))
        at = (at + 1) & p->table_mask;
    return &p->edge_table[at];
}

/* Inserts an intersection in the sorted list of its edge. */
static void link_intersection(carom_solid_surface *p, uint32_t index) {
    carom_solid_intersection *k = &p->intersections[index];
    uint32_t *at = edge_slot(p, k->of_b, k->low, k->high);
    while (*at != CAROM_SOLID_NONE && p->intersections[*at].along < k->along)
        at = &p->intersections[*at].next;
    k->next = *at;
    *at = index;
}

/* The intersection at a record's end. The record of the edge's other face has the same one. */
static uint32_t intersection_of(carom_solid_surface *p, const carom_solid_record *record, int end) {
    const carom_solid_crossing *c = &record->ends[end];
    const carom_solid *solid = p->query->solids[c->of_b];
    const uint32_t *v = solid->view.corners + 3 * (uint64_t)record->triangle[c->of_b];
    uint32_t from = v[c->side], to = v[c->side == 2 ? 0 : c->side + 1];
    uint32_t low = CAROM_MIN(from, to), high = CAROM_MAX(from, to);
    uint32_t face = record->triangle[!c->of_b], of_b = (uint32_t)c->of_b;
    uint32_t at = hash(of_b, low, high, face) & p->table_mask;
    for (; p->intersection_table[at] != CAROM_SOLID_NONE; at = (at + 1) & p->table_mask) {
        const carom_solid_intersection *k = &p->intersections[p->intersection_table[at]];
        if (same_edge(k, of_b, low, high) && k->face == face) return p->intersection_table[at];
    }
    carom_vec3 start = carom_solid_vertex(p->query, c->of_b, low);
    carom_vec3 direction = carom_vec_sub(carom_solid_vertex(p->query, c->of_b, high), start);
    carom_vec3 gone = carom_vec_sub(c->x, carom_vec_sub(start, p->query->origin));
    double length = carom_vec_dot(direction, direction);
    p->intersections[p->intersection_count] = (carom_solid_intersection){
        .of_b = of_b,
        .low = low,
        .high = high,
        .face = face,
        .change = from < to ? c->change : -c->change,
        .along = length > 0.0 ? carom_vec_dot(gone, direction) / length : 0.0,
        .x = c->x};
    p->intersection_table[at] = p->intersection_count;
    link_intersection(p, p->intersection_count);
    return p->intersection_count++;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* A part of an edge inside the other solid, from the lower vertex to the higher one. */
typedef struct stretch {
    uint32_t from, to; /* nodes */
    carom_vec3 u, v;
    int winding;
} stretch;
typedef void stretch_fn(carom_solid_surface *p, void *user, const stretch *stretch);

static void each_stretch(carom_solid_surface *p, int of_b, uint32_t low, uint32_t high,
                         stretch_fn *fn, void *user) {
    uint32_t intersection = *edge_slot(p, (uint32_t)of_b, low, high);
    carom_vec3 origin = p->query->origin;
    stretch s = {.from = node_of_vertex(p, of_b, low), .winding = p->windings[of_b][low]};
    s.u = carom_vec_sub(carom_solid_vertex(p->query, of_b, low), origin);
    for (; intersection != CAROM_SOLID_NONE; intersection = p->intersections[intersection].next) {
        s.to = node_of_intersection(p, intersection);
        s.v = p->intersections[intersection].x;
        if (s.winding != 0) fn(p, user, &s);
        s.winding += p->intersections[intersection].change;
        s.from = s.to;
        s.u = s.v;
    }
    s.to = node_of_vertex(p, of_b, high);
    s.v = carom_vec_sub(carom_solid_vertex(p->query, of_b, high), origin);
    if (s.winding != 0) fn(p, user, &s);
}

static void join_stretch(carom_solid_surface *p, void *user, const stretch *s) {
    (void)user;
    solid_surface_join(p, s->from, s->to);
}

static void join_edges(carom_solid_surface *p, int of_b) {
    const carom_soup_view *soup = &p->query->solids[of_b]->view;
    const int32_t *w = p->windings[of_b];
    for (uint64_t t = 0; t < soup->triangle_count; ++t) {
        if (t % CAROM_SOLID_PER_LOOK == 0 && carom_progress_stop(p->query->context, 0)) return;
        const uint32_t *v = soup->corners + 3 * t;
        for (int j = 0; j < 3; ++j) {
            uint32_t from = v[j], to = v[j == 2 ? 0 : j + 1];
            if (from >= to) continue; /* each edge occurs in both directions */
            if (*edge_slot(p, (uint32_t)of_b, from, to) != CAROM_SOLID_NONE)
                each_stretch(p, of_b, from, to, join_stretch, NULL);
            else if (w[from] != 0)
                solid_surface_join(p, node_of_vertex(p, of_b, from), node_of_vertex(p, of_b, to));
        }
    }
}

/* ---- Faces with holes ------------------------------------------------------------------------ */

/* A segment of the border of a face's part of the surface, projected along an axis. The part is on
 * its left. */
typedef struct border {
    double p[2], q[2];
    uint32_t set;
} border;

typedef struct borders {
    border *data;
    uint32_t count;
    int i, j; /* the axes kept */
    bool reversed;
} borders;

static void add_border(borders *b, carom_vec3 u, carom_vec3 v, uint32_t set) {
    double x[2][3] = {{u.x, u.y, u.z}, {v.x, v.y, v.z}};
    b->data[b->count++] = (border){{x[0][b->i], x[0][b->j]}, {x[1][b->i], x[1][b->j]}, set};
}

static void border_stretch(carom_solid_surface *p, void *user, const stretch *s) {
    borders *b = user;
    uint32_t set = carom_solid_component_of(p, s->from);
    if (b->reversed)
        add_border(b, s->v, s->u, set);
    else
        add_border(b, s->u, s->v, set);
}

/* Joins a set to the border on the left of its leftmost point `from`, if the surface lies
 * between. */
static void join_leftmost(carom_solid_surface *p, const borders *b, uint32_t set) {
    const double *from = NULL;
    const border *hit = NULL;
    double reach = -HUGE_VAL;
    for (uint32_t k = 0; k < b->count; ++k)
        if (b->data[k].set == set && (from == NULL || b->data[k].p[0] < from[0]))
            from = b->data[k].p;
    for (uint32_t k = 0; k < b->count; ++k) {
        const border *s = &b->data[k];
        if (s->set == set || (s->p[1] <= from[1]) == (s->q[1] <= from[1])) continue;
        double x = s->p[0] + (from[1] - s->p[1]) / (s->q[1] - s->p[1]) * (s->q[0] - s->p[0]);
        if (x > from[0] || x <= reach) continue;
        reach = x;
        hit = s;
    }
    if (hit != NULL && hit->q[1] < hit->p[1]) solid_surface_join(p, set, hit->set);
}

static carom_status bridge_face(carom_solid_surface *p, int of_b, uint32_t triangle) {
    const uint32_t *v = p->query->solids[of_b]->view.corners + 3 * (uint64_t)triangle;
    carom_arena_mark mark = carom_arena_get_mark(p->scratch);
    carom_solid_face f;
    carom_solid_pose(p->query, of_b, triangle, &f);
    carom_vec3 n = carom_solid_plane_make(f.p).normal;
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    bool up = (axis == 0 ? n.x : axis == 1 ? n.y : n.z) > 0.0;
    borders b = {.i = (axis + (up ? 1 : 2)) % 3, .j = (axis + (up ? 2 : 1)) % 3};
    uint64_t space = 3;
    for (uint32_t r = p->of_triangle[of_b][triangle]; r != CAROM_SOLID_NONE; r = p->next[r][of_b])
        ++space;
    for (int j = 0; j < 3; ++j) {
        uint32_t from = v[j], to = v[j == 2 ? 0 : j + 1], low = CAROM_MIN(from, to);
        for (uint32_t k = *edge_slot(p, (uint32_t)of_b, low, CAROM_MAX(from, to));
             k != CAROM_SOLID_NONE; k = p->intersections[k].next)
            ++space;
    }
    b.data = CAROM_ARENA_TAKE(p->scratch, border, space);
    if (b.data == NULL)
        return carom_fail_memory(p->query->context, space * sizeof(border), "the border of a face");
    for (uint32_t r = p->of_triangle[of_b][triangle]; r != CAROM_SOLID_NONE; r = p->next[r][of_b])
        add_border(&b, p->records[r]->ends[of_b].x, p->records[r]->ends[1 - of_b].x,
                   carom_solid_component_of(p, node_of_intersection(p, p->ends[r][0])));
    for (int j = 0; j < 3; ++j) {
        uint32_t from = v[j], to = v[j == 2 ? 0 : j + 1];
        b.reversed = from > to;
        each_stretch(p, of_b, CAROM_MIN(from, to), CAROM_MAX(from, to), border_stretch, &b);
    }
    for (uint32_t k = 0; k < b.count; ++k) {
        bool first = true;
        for (uint32_t l = 0; l < k && first; ++l) first = b.data[l].set != b.data[k].set;
        if (first) join_leftmost(p, &b, b.data[k].set);
    }
    carom_arena_rewind(p->scratch, mark);
    return CAROM_OK;
}

/* ---- Construction ---------------------------------------------------------------------------- */

static bool solid_surface_allocate(carom_solid_surface *p) {
    uint64_t nodes = 2 * (uint64_t)p->record_count, table = 16;
    while (table < 4 * nodes) table *= 2;
    p->table_mask = (uint32_t)(table - 1);
    p->ends = carom_arena_take(p->scratch, p->record_count, sizeof(*p->ends));
    p->next = carom_arena_take(p->scratch, p->record_count, sizeof(*p->next));
    p->intersections = CAROM_ARENA_TAKE(p->scratch, carom_solid_intersection, nodes);
    p->intersection_table = CAROM_ARENA_TAKE(p->scratch, uint32_t, table);
    p->edge_table = CAROM_ARENA_TAKE(p->scratch, uint32_t, table);
    bool there = p->ends != NULL && p->next != NULL && p->intersections != NULL &&
                 p->intersection_table != NULL && p->edge_table != NULL;
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_soup_view *soup = &p->query->solids[of_b]->view;
        nodes += soup->vertex_count;
        p->windings[of_b] = CAROM_ARENA_TAKE(p->scratch, int32_t, soup->vertex_count);
        p->of_triangle[of_b] = CAROM_ARENA_TAKE(p->scratch, uint32_t, soup->triangle_count);
        there = there && p->windings[of_b] != NULL && p->of_triangle[of_b] != NULL;
    }
    p->parents = CAROM_ARENA_TAKE(p->scratch, uint32_t, nodes);
    if (!there || p->parents == NULL) return false;
    memset(p->intersection_table, 0xFF, table * sizeof(uint32_t));
    memset(p->edge_table, 0xFF, table * sizeof(uint32_t));
    for (uint64_t i = 0; i < nodes; ++i) p->parents[i] = (uint32_t)i;
    return true;
}

static void solid_surface_fill(carom_solid_surface *p) {
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_soup_view *soup = &p->query->solids[of_b]->view;
        int32_t winding = 0;
        for (uint64_t v = 0; v < soup->vertex_count; ++v) {
            winding += atomic_load_explicit(&p->query->changes[of_b][v], memory_order_relaxed);
            p->windings[of_b][v] = winding;
        }
        memset(p->of_triangle[of_b], 0xFF, soup->triangle_count * sizeof(uint32_t));
    }
    for (uint32_t r = 0; r < p->record_count; ++r)
        for (int k = 0; k < 2; ++k) {
            uint32_t *first = &p->of_triangle[k][p->records[r]->triangle[k]];
            p->next[r][k] = *first;
            *first = r;
            p->ends[r][k] = intersection_of(p, p->records[r], k);
        }
}

carom_status carom_solid_surface_make(const carom_solid_query *query,
                                      const carom_solid_accumulator *acc, carom_solid_surface *p) {
    *p = (carom_solid_surface){.query = query, .scratch = carom_scratch(query->context, 0)};
    uint64_t count, nodes;
    CAROM_TRY(carom_solid_sort_records(query, acc, &p->records, &count));
    nodes = query->solids[0]->view.vertex_count + query->solids[1]->view.vertex_count + 2 * count;
    if (nodes >= CAROM_SOLID_NONE)
        return carom_fail(query->context, CAROM_TOO_LARGE,
                          "the solids have too many vertices for their pieces to be numbered");
    p->record_count = (uint32_t)count;
    if (!solid_surface_allocate(p))
        return carom_fail_memory(query->context, nodes * 64, "the pieces of an overlap");
    solid_surface_fill(p);
    join_edges(p, 0);
    join_edges(p, 1);
    CAROM_TRY(carom_progress_look(query->context));
    for (uint32_t r = 0; r < p->record_count; ++r)
        solid_surface_join(p, node_of_intersection(p, p->ends[r][0]),
                           node_of_intersection(p, p->ends[r][1]));
    for (int of_b = 0; of_b < 2; ++of_b)
        for (uint32_t t = 0; t < query->solids[of_b]->view.triangle_count; ++t)
            if (p->of_triangle[of_b][t] != CAROM_SOLID_NONE) {
                CAROM_TRY(bridge_face(p, of_b, t));
                CAROM_TRY(carom_progress_look(query->context));
            }
    return CAROM_OK;
}

/* ---- Surface triangles ----------------------------------------------------------------------- */

typedef struct chipper {
    carom_solid_surface_triangle triangle;
    carom_solid_surface_triangle_fn *fn;
    void *user;
    bool reversed;
} chipper;

carom_solid_spot carom_solid_spot_of(const carom_solid_surface *p, uint32_t node) {
    uint32_t a = (uint32_t)p->query->solids[0]->view.vertex_count;
    uint32_t b = (uint32_t)p->query->solids[1]->view.vertex_count;
    if (node < a) return (carom_solid_spot){0, node, node, CAROM_SOLID_NO_FACE};
    if (node - a < b) return (carom_solid_spot){1, node - a, node - a, CAROM_SOLID_NO_FACE};
    const carom_solid_intersection *k = &p->intersections[node - a - b];
    return (carom_solid_spot){(int)k->of_b, k->low, k->high, k->face};
}

static void chip_stretch(carom_solid_surface *p, void *user, const stretch *s) {
    chipper *c = user;
    c->triangle.nodes[1] = c->reversed ? s->to : s->from;
    c->triangle.nodes[2] = c->reversed ? s->from : s->to;
    c->triangle.piece = carom_solid_component_of(p, s->from);
    c->triangle.u = c->reversed ? s->v : s->u;
    c->triangle.v = c->reversed ? s->u : s->v;
    c->triangle.weight = (double)s->winding;
    c->fn(c->user, &c->triangle);
}

void carom_solid_each_surface_triangle(carom_solid_surface *p, carom_solid_surface_triangle_fn *fn,
                                       void *user) {
    chipper c = {.fn = fn, .user = user};
    carom_solid_surface_triangle *triangle = &c.triangle;
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_soup_view *soup = &p->query->solids[of_b]->view;
        triangle->of_b = of_b;
        for (uint32_t t = 0; t < soup->triangle_count; ++t) {
            if (t % CAROM_SOLID_PER_LOOK == 0 && carom_progress_stop(p->query->context, 0)) return;
            const uint32_t *v = soup->corners + 3 * (uint64_t)t;
            uint32_t r = p->of_triangle[of_b][t];
            int32_t winding = p->windings[of_b][v[1]];
            if (r == CAROM_SOLID_NONE && winding == 0) continue;
            carom_solid_face f;
            carom_solid_pose(p->query, of_b, t, &f);
            triangle->n = carom_solid_unit(carom_solid_plane_make(f.p).normal);
            triangle->triangle = t;
            if (r == CAROM_SOLID_NONE) {
                for (int j = 0; j < 3; ++j) triangle->nodes[j] = node_of_vertex(p, of_b, v[j]);
                triangle->c = carom_vec_sub(f.p[0], p->query->origin);
                triangle->piece = carom_solid_component_of(p, node_of_vertex(p, of_b, v[1]));
                triangle->u = carom_vec_sub(f.p[1], p->query->origin);
                triangle->v = carom_vec_sub(f.p[2], p->query->origin);
                triangle->weight = (double)winding;
                fn(user, triangle);
                continue;
            }
            triangle->c = p->records[r]->ends[of_b].x; /* corners may be far from the overlap */
            triangle->nodes[0] = node_of_intersection(p, p->ends[r][of_b]);
            for (; r != CAROM_SOLID_NONE; r = p->next[r][of_b]) {
                triangle->piece =
                    carom_solid_component_of(p, node_of_intersection(p, p->ends[r][0]));
                triangle->nodes[1] = node_of_intersection(p, p->ends[r][of_b]);
                triangle->nodes[2] = node_of_intersection(p, p->ends[r][1 - of_b]);
                triangle->u = p->records[r]->ends[of_b].x;
                triangle->v = p->records[r]->ends[1 - of_b].x;
                triangle->weight = 1.0;
                fn(user, triangle);
            }
            for (int j = 0; j < 3; ++j) {
                uint32_t from = v[j], to = v[j == 2 ? 0 : j + 1];
                c.reversed = from > to;
                each_stretch(p, of_b, CAROM_MIN(from, to), CAROM_MAX(from, to), chip_stretch, &c);
            }
        }
    }
}
