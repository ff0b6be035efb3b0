/* SPDX-License-Identifier: MIT */
/* Convex hulls of points, by exact predicates.
 *
 * Quickhull (Barber, Dobkin, Huhdanpaa 1996) on a polytope whose visible faces are decided exactly
 * (convex_polytope_item.h). Every point that is not yet inside is listed at one face that it sees;
 * the farthest point of a face is added, and the points of the faces it removes are handed to the
 * faces it makes, or are inside. Distances only choose which point comes next, so their rounding
 * does not matter.
 *
 * At the end triangles in one plane are joined to polygons, and vertices that are no corner of
 * three polygons, and so lie on an edge or in a face, are left out. What remains are exactly the
 * extreme points and the facets. */
#include "convex/convex.h"

#include "base/progress.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"
#include "mesh/mesh.h"

#define CONVEX_HULL_NO_FACE CAROM_POLYTOPE_NONE
/* Coordinates must not exceed this, so that sizes of pairs can be added up. */
#define MOST_COORDINATE      1e300
#define HULL_FIRST_FACES     1024  /* space at first; it is doubled */
#define HULL_POINTS_PER_LOOK 65536 /* between looks at the clock */

/* Of the products of a face's sides: the normal and its product with a height are off by some tens
 * of roundings of 2^-53; hulls are about 1 in size. */
#define HULL_HEIGHT_ERROR 0x1p-44
/* The outer radius is raised, the inner one lowered: by far more than the roundings of a centre and
 * of distances from it, and by too little to matter for what the radii are used for, quick bounds.
 */
#define HULL_OUTER_UP    (1.0 + 0x1p-40)
#define HULL_INNER_DOWN  (1.0 - 0x1p-20)
#define HULL_INNER_ERROR 0x1p-30

/* What building needs; all from one arena but the faces, which grow. */
typedef struct convex_hull_builder {
    carom_context *context;
    carom_vec3 *points; /* scaled: at most 1 */
    uint32_t count;
    uint32_t *next; /* per point: the next one on the same face */
    carom_polytope polytope;
    uint32_t *heads; /* per face: its points */
    uint32_t *tops;  /* per face: the farthest of them */
    double *heights; /* and its distance, in units of the normal's length */
    carom_arena *arena;
} convex_hull_builder;

/* ---- Room ------------------------------------------------------------------------------------ */

static void *larger(convex_hull_builder *b, const void *old, uint64_t count, uint64_t capacity,
                    size_t size) {
    void *data = carom_arena_take(b->arena, capacity, size);
    if (data != NULL && old != NULL) memcpy(data, old, count * size);
    return data;
}

/* Doubles the workspace for faces. The old workspace stays in the arena: in all at most as much
 * again. */
static bool convex_hull_grow(convex_hull_builder *b) {
    carom_polytope *p = &b->polytope;
    uint64_t old = p->face_capacity, capacity = old == 0 ? HULL_FIRST_FACES : 2 * old;
    void *faces = larger(b, p->faces, old, capacity, sizeof(*p->faces));
    uint32_t *border = CAROM_ARENA_TAKE(b->arena, uint32_t, 3 * capacity);
    uint32_t *made = larger(b, p->made, old, capacity, sizeof(*p->made));
    uint32_t *lost = larger(b, p->lost, old, capacity, sizeof(*p->lost));
    uint32_t *heads = larger(b, b->heads, old, capacity, sizeof(*heads));
    uint32_t *tops = larger(b, b->tops, old, capacity, sizeof(*tops));
    double *heights = larger(b, b->heights, old, capacity, sizeof(*heights));
    if (faces == NULL || border == NULL || made == NULL || lost == NULL || heads == NULL ||
        tops == NULL || heights == NULL)
        return false;
    p->faces = faces;
    p->border = border;
    p->made = made;
    p->lost = lost;
    b->heads = heads;
    b->tops = tops;
    b->heights = heights;
    p->face_capacity = (uint32_t)capacity;
    return true;
}

/* ---- The first points ------------------------------------------------------------------------ */

static void swap_points(convex_hull_builder *b, uint32_t i, uint32_t k) {
    carom_vec3 p = b->points[i];
    b->points[i] = b->points[k];
    b->points[k] = p;
}

static bool in_line(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    return carom_orient_axis(a, b, c) < 0;
}

/* Moves points that span as much as there is to the indices 0 to 3, and returns the dimension. The
 * farthest by doubles first; where that is degenerate, any that is not. */
static uint32_t choose_first(convex_hull_builder *b) {
    carom_vec3 *p = b->points;
    uint32_t low = 0, high = 0, best = 0;
    for (uint32_t i = 1; i < b->count; ++i) {
        if (carom_vec_compare(p[i], p[low]) < 0) low = i;
        if (carom_vec_compare(p[i], p[high]) > 0) high = i;
    }
    if (carom_vec_compare(p[low], p[high]) == 0) return 0;
    swap_points(b, 0, low);
    swap_points(b, 1, high == 0 ? low : high);
    carom_vec3 u = carom_vec_sub(p[1], p[0]);
    double most = -1.0;
    for (uint32_t i = 2; i < b->count; ++i) {
        carom_vec3 n = carom_vec_cross(u, carom_vec_sub(p[i], p[0]));
        double area = carom_vec_dot(n, n);
        if (area > most) most = area, best = i;
    }
    if (b->count < 3) return 1;
    for (uint32_t i = 2; in_line(p[0], p[1], p[best]); best = i++)
        if (i == b->count) return 1;
    swap_points(b, 2, best);
    carom_vec3 n = carom_vec_cross(u, carom_vec_sub(p[2], p[0]));
    most = -1.0;
    for (uint32_t i = 3; i < b->count; ++i) {
        double height = fabs(carom_vec_dot(n, carom_vec_sub(p[i], p[0])));
        if (height > most) most = height, best = i;
    }
    if (b->count < 4) return 2;
    for (uint32_t i = 3; carom_orient3d(p[0], p[1], p[2], p[best]) == 0; best = i++)
        if (i == b->count) return 2;
    swap_points(b, 3, best);
    return 3;
}

/* ---- Quickhull ------------------------------------------------------------------------------- */

/* Lists a point at the first of the new faces that it sees. */
static void list_at_face(convex_hull_builder *b, uint32_t point) {
    const carom_polytope *p = &b->polytope;
    carom_vec3 w = b->points[point];
    for (uint32_t i = 0; i < p->made_count; ++i) {
        uint32_t f = p->made[i];
        if (!carom_polytope_sees(p, f, w)) continue;
        const carom_polytope_face *face = &p->faces[f];
        double height = carom_vec_dot(face->normal, carom_vec_sub(w, b->points[face->v[0]]));
        if (b->heads[f] == CONVEX_HULL_NO_FACE || height > b->heights[f]) {
            b->heights[f] = height;
            b->tops[f] = point;
        }
        b->next[point] = b->heads[f];
        b->heads[f] = point;
        return;
    }
}

static carom_status convex_hull_expand(convex_hull_builder *b) {
    carom_polytope *p = &b->polytope;
    uint32_t steps = 0;
    for (uint32_t f = 0; f < p->face_count; ++f) {
        while (p->faces[f].alive != 0 && b->heads[f] != CONVEX_HULL_NO_FACE) {
            uint32_t top = b->tops[f];
            CAROM_ASSERT(carom_polytope_sees(p, f, b->points[top]));
            while (!carom_polytope_add(p, top, f))
                if (!convex_hull_grow(b)) return CAROM_NO_MEMORY;
            CAROM_ASSERT(p->lost_count >= 1 && p->made_count >= 3);
            uint32_t orphans = CONVEX_HULL_NO_FACE;
            for (uint32_t i = 0; i < p->lost_count; ++i)
                for (uint32_t at = b->heads[p->lost[i]], next; at != CONVEX_HULL_NO_FACE;
                     at = next) {
                    next = b->next[at];
                    if (at == top) continue;
                    b->next[at] = orphans;
                    orphans = at;
                }
            uint32_t lowest = f;
            for (uint32_t i = 0; i < p->lost_count; ++i) b->heads[p->lost[i]] = CONVEX_HULL_NO_FACE;
            for (uint32_t i = 0; i < p->made_count; ++i) {
                b->heads[p->made[i]] = CONVEX_HULL_NO_FACE;
                lowest = CAROM_MIN(lowest, p->made[i]);
            }
            for (uint32_t next; orphans != CONVEX_HULL_NO_FACE; orphans = next) {
                next = b->next[orphans];
                list_at_face(b, orphans);
            }
            if (++steps % 64 == 0 && carom_progress_stop(b->context, 0)) return CAROM_CANCELLED;
            f = lowest; /* new faces may have taken free slots below */
        }
    }
    return CAROM_OK;
}

static carom_status build_solid(convex_hull_builder *b) {
    carom_polytope *p = &b->polytope;
    const carom_vec3 *v = b->points;
    if (!convex_hull_grow(b)) return CAROM_NO_MEMORY;
    p->points = (const char *)(const void *)b->points;
    p->stride = sizeof(*b->points);
    carom_polytope_begin(p, carom_orient3d(v[0], v[1], v[2], v[3]));
    for (uint32_t i = 0; i < 4; ++i) b->heads[i] = CONVEX_HULL_NO_FACE;
    for (uint32_t i = b->count; i-- > 4;) {
        list_at_face(b, i);
        if (i % HULL_POINTS_PER_LOOK == 0 && carom_progress_stop(b->context, 0))
            return CAROM_CANCELLED;
    }
    return convex_hull_expand(b);
}

/* ---- Flat hulls ------------------------------------------------------------------------------ */

/* Sorts point indices by x, y, z: a heap sort, for points in a plane only. */
static void sift(const carom_vec3 *p, uint32_t *order, uint32_t at, uint32_t count) {
    uint32_t value = order[at];
    for (uint32_t k; (k = 2 * at + 1) < count; at = k) {
        if (k + 1 < count && carom_vec_compare(p[order[k]], p[order[k + 1]]) < 0) ++k;
        if (carom_vec_compare(p[value], p[order[k]]) >= 0) break;
        order[at] = order[k];
    }
    order[at] = value;
}

static void convex_hull_sort_points(const carom_vec3 *p, uint32_t *order, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;) sift(p, order, i, count);
    for (uint32_t i = count; i-- > 1;) {
        uint32_t last = order[i];
        order[i] = order[0];
        order[0] = last;
        sift(p, order, 0, i);
    }
}

/* The polygon of points in a plane, by Andrew's monotone chain; its corners go to `loop`, which has
 * workspace for one more than the points. Returns their number. */
static uint32_t build_flat(const convex_hull_builder *b, uint32_t *order, uint32_t *loop) {
    const carom_vec3 *p = b->points;
    int axis = carom_orient_axis(p[0], p[1], p[2]);
    uint32_t count = 0, lower = 1;
    for (uint32_t i = 0; i < b->count; ++i) order[i] = i;
    convex_hull_sort_points(p, order, b->count);
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < b->count; ++i) {
            uint32_t at = order[pass == 0 ? i : b->count - 1 - i];
            if (count > 0 && carom_vec_compare(p[loop[count - 1]], p[at]) == 0) continue;
            while (count > lower &&
                   carom_orient_along(p[loop[count - 2]], p[loop[count - 1]], p[at], axis) <= 0)
                --count;
            loop[count++] = at;
        }
        lower = count;
    }
    CAROM_ASSERT(count >= 4 && carom_vec_compare(p[loop[0]], p[loop[count - 1]]) == 0);
    return count - 1; /* the first corner came again */
}

/* ---- From triangles to polygons -------------------------------------------------------------- */

static uint32_t convex_hull_find(uint32_t *parents, uint32_t f) {
    while (parents[f] != f) f = parents[f] = parents[parents[f]];
    return f;
}

/* Polygons over point indices; corners of a polygon follow each other. */
typedef struct polygons {
    uint32_t *corners;
    uint64_t *offsets;
    uint64_t count;
} polygons;

/* Joins triangles in one plane. A point is extreme when three polygons or more meet in it: then as
 * many border edges start there. */
static bool convex_hull_join(convex_hull_builder *b, polygons *out) {
    const carom_polytope *p = &b->polytope;
    uint32_t faces = p->face_count;
    uint32_t *parents = CAROM_ARENA_TAKE(b->arena, uint32_t, faces);
    uint32_t *degrees = b->next; /* no longer needed */
    uint8_t *done = CAROM_ARENA_TAKE(b->arena, uint8_t, 3 * (uint64_t)faces);
    out->corners = CAROM_ARENA_TAKE(b->arena, uint32_t, 3 * (uint64_t)faces);
    out->offsets = CAROM_ARENA_TAKE(b->arena, uint64_t, (uint64_t)faces + 1);
    if (parents == NULL || done == NULL || out->corners == NULL || out->offsets == NULL)
        return false;
    memset(degrees, 0, b->count * sizeof(*degrees));
    memset(done, 0, 3 * (size_t)faces);
    for (uint32_t f = 0; f < faces; ++f) parents[f] = f;
    for (uint32_t f = 0; f < faces; ++f) {
        const carom_polytope_face *face = &p->faces[f];
        for (int i = 0; face->alive != 0 && i < 3; ++i) {
            uint32_t g = face->next[i];
            if (g < f) continue;
            const carom_polytope_face *other = &p->faces[g];
            uint32_t far = CONVEX_HULL_NO_FACE;
            for (int k = 0; k < 3; ++k)
                if (other->v[k] != face->v[i] && other->v[k] != face->v[(i + 1) % 3])
                    far = other->v[k];
            CAROM_ASSERT(far != CONVEX_HULL_NO_FACE && other->alive != 0);
            double side =
                carom_vec_dot(face->normal, carom_vec_sub(b->points[far], b->points[face->v[0]]));
            if (side < -face->error || carom_orient3d(b->points[face->v[0]], b->points[face->v[1]],
                                                      b->points[face->v[2]], b->points[far]) != 0)
                continue;
            parents[convex_hull_find(parents, g)] = convex_hull_find(parents, f);
        }
    }
    for (uint32_t f = 0; f < faces; ++f)
        for (int i = 0; p->faces[f].alive != 0 && i < 3; ++i)
            if (convex_hull_find(parents, f) != convex_hull_find(parents, p->faces[f].next[i]))
                ++degrees[p->faces[f].v[i]];
    uint64_t corners = 0;
    out->count = 0;
    out->offsets[0] = 0;
    for (uint32_t f = 0; f < faces; ++f)
        for (uint32_t i = 0; p->faces[f].alive != 0 && i < 3; ++i) {
            uint32_t at = f, edge = i, group = convex_hull_find(parents, f);
            if (done[3 * at + edge] || convex_hull_find(parents, p->faces[at].next[edge]) == group)
                continue;
            /* Walk along the border of the group. */
            while (!done[3 * at + edge]) {
                done[3 * at + edge] = 1;
                uint32_t v = p->faces[at].v[edge];
                if (degrees[v] >= 3) out->corners[corners++] = v;
                uint32_t end = p->faces[at].v[(edge + 1) % 3];
                edge = (edge + 1) % 3;
                for (uint32_t g = p->faces[at].next[edge]; convex_hull_find(parents, g) == group;
                     g = p->faces[at].next[edge]) {
                    at = g;
                    for (edge = 0; p->faces[at].v[edge] != end;) ++edge;
                }
            }
            out->offsets[++out->count] = corners;
        }
    return true;
}

/* ---- The finished hull ----------------------------------------------------------------------- */

static bool convex_hull_take(carom_hull *h, uint32_t vertices, uint64_t faces, uint64_t corners,
                             uint64_t blocks) {
    const carom_allocator *allocator = &h->allocator;
    uint64_t all = (vertices + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES;
    uint64_t face_blocks = (faces + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES;
    h->vertices = carom_allocate(allocator, vertices, sizeof(*h->vertices));
    h->all = carom_allocate(allocator, all, sizeof(*h->all));
    h->neighbours = carom_allocate(allocator, blocks, sizeof(*h->neighbours));
    h->first = carom_allocate(allocator, (uint64_t)vertices + 1, sizeof(*h->first));
    h->seeds = carom_allocate(allocator, CAROM_HULL_SEEDS, sizeof(*h->seeds));
    h->offsets = carom_allocate(allocator, faces + 1, sizeof(*h->offsets));
    h->corners = carom_allocate(allocator, corners, sizeof(*h->corners));
    h->edges = carom_allocate(allocator, corners, sizeof(*h->edges));
    h->normals = carom_allocate(allocator, faces, sizeof(*h->normals));
    h->normal_blocks = carom_allocate(allocator, face_blocks, sizeof(*h->normal_blocks));
    h->info.bytes =
        sizeof(*h) + vertices * sizeof(*h->vertices) +
        (all + blocks + face_blocks) * sizeof(*h->all) + (vertices + 1) * sizeof(*h->first) +
        CAROM_HULL_SEEDS * sizeof(*h->seeds) + (faces + 1) * sizeof(*h->offsets) +
        corners * (sizeof(*h->corners) + sizeof(*h->edges)) + faces * sizeof(*h->normals);
    return h->vertices != NULL && h->all != NULL && h->neighbours != NULL && h->first != NULL &&
           h->seeds != NULL && h->offsets != NULL && h->corners != NULL && h->edges != NULL &&
           h->normals != NULL && h->normal_blocks != NULL;
}

static void convex_hull_set_lane(carom_hull_block *block, uint32_t lane, const carom_hull *h,
                                 uint32_t v) {
    block->x[lane] = h->vertices[v].x;
    block->y[lane] = h->vertices[v].y;
    block->z[lane] = h->vertices[v].z;
    block->index[lane] = v;
}

/* Makes space for the neighbours of every vertex, in its first lanes (link_edge). Blocks are filled
 * up with artificial neighbours far off (Ericson 2005): lanes that would be idle become shortcuts.
 */
static void fill_neighbours(carom_hull *h, const uint32_t *degrees) {
    uint32_t vertices = h->view.count;
    uint32_t block = 0;
    for (uint32_t v = 0; v < vertices; ++v) {
        uint32_t blocks = (degrees[v] + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES;
        h->first[v] = block;
        blocks = CAROM_MAX(blocks, 1u);
        uint32_t lanes = blocks * CAROM_HULL_LANES;
        for (uint32_t lane = degrees[v]; lane < lanes; ++lane) {
            uint64_t far = v + (uint64_t)vertices * (lane + 1) / (lanes + 1);
            convex_hull_set_lane(&h->neighbours[block + lane / CAROM_HULL_LANES],
                                 lane % CAROM_HULL_LANES, h,
                                 (uint32_t)(far < vertices ? far : far - vertices));
        }
        block += blocks;
    }
    h->first[vertices] = block;
}

static void link_edge(carom_hull *h, uint32_t *filled, uint32_t from, uint32_t to) {
    uint32_t lane = filled[from]++;
    CAROM_ASSERT(h->first[from] + lane / CAROM_HULL_LANES < h->first[from + 1]);
    convex_hull_set_lane(&h->neighbours[h->first[from] + lane / CAROM_HULL_LANES],
                         lane % CAROM_HULL_LANES, h, to);
}

/* The corner after another one in its face. */
static uint64_t convex_hull_next_corner(const carom_hull *h, uint64_t face, uint64_t corner) {
    return corner + 1 < h->offsets[face + 1] ? corner + 1 : h->offsets[face];
}

/* Numbers the edges in the order in which the corners of the faces first have them. Corners are
 * listed by the lower vertex of their edge; of those with the same other vertex, the first gives
 * the number. False when there is no memory. */
static bool number_edges(carom_arena *arena, carom_hull *h) {
    uint64_t corners = h->offsets[h->info.faces];
    uint32_t vertices = h->view.count, number = 0;
    uint64_t *begins = CAROM_ARENA_TAKE(arena, uint64_t, (uint64_t)vertices + 2);
    uint64_t *listed = CAROM_ARENA_TAKE(arena, uint64_t, corners);
    uint32_t *lowers = CAROM_ARENA_TAKE(arena, uint32_t, corners);
    uint32_t *others = CAROM_ARENA_TAKE(arena, uint32_t, corners);
    uint64_t *seen = CAROM_ARENA_TAKE(arena, uint64_t, vertices);
    if (begins == NULL || listed == NULL || lowers == NULL || others == NULL || seen == NULL)
        return false;
    memset(begins, 0, ((uint64_t)vertices + 2) * sizeof(*begins));
    for (uint64_t f = 0; f < h->info.faces; ++f)
        for (uint64_t i = h->offsets[f]; i < h->offsets[f + 1]; ++i) {
            uint32_t a = h->corners[i], b = h->corners[convex_hull_next_corner(h, f, i)];
            lowers[i] = CAROM_MIN(a, b);
            others[i] = CAROM_MAX(a, b);
            ++begins[lowers[i] + 2];
        }
    for (uint32_t v = 0; v < vertices; ++v) begins[v + 2] += begins[v + 1];
    for (uint64_t i = 0; i < corners; ++i) listed[begins[lowers[i] + 1]++] = i;
    for (uint32_t v = 0; v < vertices; ++v) seen[v] = UINT64_MAX;
    for (uint32_t v = 0; v < vertices; ++v) /* begins[v + 1] is now the end of v's list */
        for (uint64_t k = begins[v]; k < begins[v + 1]; ++k) {
            uint64_t *first = &seen[others[listed[k]]];
            bool known = *first >= begins[v] && *first < k; /* else it is of another list */
            if (!known) *first = k;
            h->edges[listed[k]] = (uint32_t)listed[*first];
        }
    for (uint64_t i = 0; i < corners; ++i)
        h->edges[i] = h->edges[i] == i ? number++ : h->edges[h->edges[i]];
    CAROM_ASSERT(h->info.dimension < 2 || number == h->info.edges);
    return true;
}

/* Copies the normals of the faces into blocks. */
static void fill_normal_blocks(carom_hull *h) {
    uint64_t faces = h->info.faces;
    for (uint64_t i = 0; i < (faces + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES * CAROM_HULL_LANES;
         ++i) {
        carom_hull_block *block = &h->normal_blocks[i / CAROM_HULL_LANES];
        uint64_t f = CAROM_MIN(i, faces - 1);
        block->x[i % CAROM_HULL_LANES] = h->normals[f].x;
        block->y[i % CAROM_HULL_LANES] = h->normals[f].y;
        block->z[i % CAROM_HULL_LANES] = h->normals[f].z;
        block->index[i % CAROM_HULL_LANES] = (uint32_t)f;
    }
}

/* The balls about the centre, the extent, and the normals of the faces (carom_hull_face_normal). */
static void measure_hull(carom_hull *h) {
    carom_hull_view *view = &h->view;
    carom_vec3 sum = carom_vec(0.0, 0.0, 0.0);
    double square = 0.0, inner = HUGE_VAL;
    for (uint32_t v = 0; v < view->count; ++v) sum = carom_vec_add(sum, h->vertices[v]);
    view->centre = carom_vec_scale(sum, 1.0 / view->count);
    view->extent = carom_hull_extent(h->vertices, view->count);
    for (uint32_t v = 0; v < view->count; ++v) {
        carom_vec3 direction = carom_vec_sub(h->vertices[v], view->centre);
        square = CAROM_MAX(square, carom_vec_dot(direction, direction));
    }
    for (uint64_t f = 0; f < h->info.faces; ++f) {
        const uint32_t *c = h->corners + h->offsets[f];
        uint64_t corners = h->offsets[f + 1] - h->offsets[f];
        carom_vec3 o = h->vertices[c[0]], n = carom_vec(0.0, 0.0, 0.0);
        double terms = 0.0;
        for (uint64_t i = 2; i < corners; ++i) {
            carom_vec3 u = carom_vec_sub(h->vertices[c[i - 1]], o);
            carom_vec3 v = carom_vec_sub(h->vertices[c[i]], o);
            n = carom_vec_add(n, carom_vec_cross(u, v));
            terms += carom_polytope_extent(u) * carom_polytope_extent(v);
        }
        double length = carom_vec_length(n);
        h->normals[f] = length > 0.0 ? carom_vec_scale(n, 1.0 / length) : n;
        double height = carom_vec_dot(n, carom_vec_sub(o, view->centre));
        height = length > 0.0 ? (height - HULL_HEIGHT_ERROR * terms) / length : 0.0;
        inner = CAROM_MIN(inner, height);
    }
    /* Rounded to the safe side. */
    view->outer = sqrt(square) * HULL_OUTER_UP;
    view->inner =
        h->info.dimension == 3 ? CAROM_MAX(inner * HULL_INNER_DOWN - HULL_INNER_ERROR, 0.0) : 0.0;
    h->info.centre = carom_vec(carom_scale_apply(view->centre.x, view->exponent),
                               carom_scale_apply(view->centre.y, view->exponent),
                               carom_scale_apply(view->centre.z, view->exponent));
    h->info.inner_radius = carom_scale_apply(view->inner, view->exponent);
    h->info.outer_radius = carom_scale_apply(view->outer, view->exponent);
}

/* Copies what is left over: points that are corners of a polygon, renumbered in their order. */
static carom_status convex_hull_finish(convex_hull_builder *b, carom_hull *h, const polygons *faces,
                                       uint32_t dimension, uint32_t points) {
    carom_context *context = b->context;
    uint64_t corners = faces->offsets[faces->count];
    uint32_t *numbers = CAROM_ARENA_TAKE(b->arena, uint32_t, b->count), vertices = 0;
    if (numbers == NULL) return CAROM_NO_MEMORY;
    memset(numbers, 0, b->count * sizeof(*numbers));
    for (uint64_t i = 0; i < corners; ++i) numbers[faces->corners[i]] = 1;
    for (uint32_t i = 0; i < points; ++i) numbers[i] = 1; /* a segment's ends, a point */
    for (uint32_t i = 0; i < b->count; ++i)
        numbers[i] = numbers[i] != 0 ? vertices++ : CONVEX_HULL_NO_FACE;
    uint32_t *degrees = CAROM_ARENA_TAKE(b->arena, uint32_t, vertices);
    if (degrees == NULL) return CAROM_NO_MEMORY;
    memset(degrees, 0, vertices * sizeof(*degrees));
    for (uint64_t i = 0; i < corners; ++i) ++degrees[numbers[faces->corners[i]]];
    uint64_t blocks = 0, edges = corners / 2;
    if (points == 2) degrees[0] = degrees[1] = 1, edges = 1;
    for (uint32_t v = 0; v < vertices; ++v)
        blocks += CAROM_MAX((degrees[v] + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES, 1u);
    if (!convex_hull_take(h, vertices, faces->count, corners, blocks)) return CAROM_NO_MEMORY;
    for (uint32_t i = 0; i < b->count; ++i)
        if (numbers[i] != CONVEX_HULL_NO_FACE) h->vertices[numbers[i]] = b->points[i];
    h->info.vertices = vertices;
    h->info.edges = edges;
    h->info.faces = faces->count;
    h->info.dimension = dimension;
    CAROM_ASSERT(dimension < 2 || vertices + faces->count == edges + 2); /* Euler's formula */
    h->view.vertices = h->vertices;
    h->view.count = vertices;
    h->view.all = h->all;
    h->view.all_count = (vertices + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES;
    h->view.neighbours = h->neighbours;
    h->view.first = h->first;
    h->view.seeds = h->seeds;
    h->faces = (carom_hull_faces){.vertices = h->vertices,
                                  .offsets = h->offsets,
                                  .corners = h->corners,
                                  .edges = h->edges,
                                  .normals = h->normals,
                                  .normal_blocks = h->normal_blocks,
                                  .vertex_count = vertices,
                                  .face_count = faces->count};
    for (uint32_t i = 0; i < h->view.all_count * CAROM_HULL_LANES; ++i)
        convex_hull_set_lane(&h->all[i / CAROM_HULL_LANES], i % CAROM_HULL_LANES, h,
                             CAROM_MIN(i, vertices - 1));
    memcpy(h->offsets, faces->offsets, (faces->count + 1) * sizeof(*h->offsets));
    for (uint64_t i = 0; i < corners; ++i) h->corners[i] = numbers[faces->corners[i]];
    measure_hull(h);
    fill_normal_blocks(h);
    if (!number_edges(b->arena, h)) return CAROM_NO_MEMORY;
    fill_neighbours(h, degrees);
    memset(degrees, 0, vertices * sizeof(*degrees));
    for (uint64_t f = 0; f < faces->count; ++f)
        for (uint64_t i = h->offsets[f]; i < h->offsets[f + 1]; ++i) {
            uint64_t after = convex_hull_next_corner(h, f, i);
            link_edge(h, degrees, h->corners[i], h->corners[after]);
        }
    if (points == 2) {
        link_edge(h, degrees, 0, 1);
        link_edge(h, degrees, 1, 0);
    }
    CAROM_CPU_CALL(context, carom_hull_find_seeds)(&h->view, h->seeds);
    return CAROM_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static carom_status read_points(convex_hull_builder *b, const carom_mesh_view *mesh,
                                int *exponent) {
    double most = 0.0;
    for (uint32_t i = 0; i < b->count; ++i) {
        carom_vec3 p = carom_mesh_position(mesh, i);
        most = CAROM_MAX(most, carom_polytope_extent(p));
        b->points[i] = p;
        if (!(carom_polytope_extent(p) <= MOST_COORDINATE) || !carom_vec_finite(p))
            return carom_fail(b->context, CAROM_BAD_INPUT,
                              "vertex %llu is (%g, %g, %g); give finite coordinates up to 1e300",
                              (unsigned long long)i, p.x, p.y, p.z);
        if (i % HULL_POINTS_PER_LOOK == HULL_POINTS_PER_LOOK - 1 &&
            carom_progress_stop(b->context, 0))
            return CAROM_CANCELLED;
    }
    *exponent = most > 0.0 ? carom_scale_range_add(carom_scale_range_empty(), most).high : 0;
    for (uint32_t i = 0; i < b->count; ++i) /* adding 0 makes every zero positive */
        b->points[i] = carom_vec(carom_scale_apply(b->points[i].x, -*exponent) + 0.0,
                                 carom_scale_apply(b->points[i].y, -*exponent) + 0.0,
                                 carom_scale_apply(b->points[i].z, -*exponent) + 0.0);
    return CAROM_OK;
}

static carom_status convex_hull_build(convex_hull_builder *b, const carom_mesh_view *mesh,
                                      carom_hull *h) {
    uint64_t count = mesh->vertex_count;
    polygons faces = {0};
    static uint64_t none = 0;
    b->count = (uint32_t)count;
    b->points = CAROM_ARENA_TAKE(b->arena, carom_vec3, count);
    b->next = CAROM_ARENA_TAKE(b->arena, uint32_t, count);
    b->polytope.from = CAROM_ARENA_TAKE(b->arena, uint32_t, count + 1);
    if (b->points == NULL || b->next == NULL || b->polytope.from == NULL) return CAROM_NO_MEMORY;
    CAROM_TRY(read_points(b, mesh, &h->view.exponent));
    uint32_t dimension = choose_first(b);
    faces.offsets = &none;
    if (dimension < 2) return convex_hull_finish(b, h, &faces, dimension, dimension + 1);
    if (dimension == 3) {
        CAROM_TRY(build_solid(b));
        return convex_hull_join(b, &faces) ? convex_hull_finish(b, h, &faces, 3, 0)
                                           : CAROM_NO_MEMORY;
    }
    uint32_t *loop = b->polytope.from, corners = build_flat(b, b->next, loop);
    uint64_t offsets[3] = {0, corners, 2 * (uint64_t)corners};
    faces = (polygons){.corners = CAROM_ARENA_TAKE(b->arena, uint32_t, 2 * (uint64_t)corners),
                       .offsets = offsets,
                       .count = 2};
    if (faces.corners == NULL) return CAROM_NO_MEMORY;
    for (uint32_t i = 0; i < corners; ++i) {
        faces.corners[i] = loop[i];
        faces.corners[2 * corners - 1 - i] = loop[i];
    }
    return convex_hull_finish(b, h, &faces, 2, 0);
}

carom_status carom_hull_create(carom_context *context, const carom_hull_def *def,
                               carom_hull **hull) {
    CAROM_REQUIRE_OUTPUT(hull, "hull");
    *hull = NULL;
    CAROM_ENTER(context);
    if (context->backend != CAROM_BACKEND_CPU) CAROM_TRY(carom_convex_device_check(context));
    if (def == NULL || def->mesh == NULL || def->mesh->vertex_count == 0)
        return carom_fail(context, CAROM_BAD_INPUT, "there is no vertex; a hull needs one or more");
    carom_mesh_view points = *def->mesh;
    points.face_count = 0;
    points.offsets = NULL;
    CAROM_TRY(carom_mesh_check(context, &points));
    carom_hull *h = carom_allocate(&context->allocator, 1, sizeof(*h));
    if (h == NULL) return carom_fail_memory(context, sizeof(*h), "a hull");
    memset(h, 0, sizeof(*h));
    h->allocator = context->allocator;
    convex_hull_builder b = {.context = context, .arena = carom_scratch(context, 0)};
    carom_arena_mark mark = carom_arena_get_mark(b.arena);
    carom_progress_begin(context, "building a hull", 0);
    carom_status status = convex_hull_build(&b, &points, h);
    carom_arena_rewind(b.arena, mark);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, points.vertex_count * 100, "a hull");
    if (status == CAROM_OK && context->backend != CAROM_BACKEND_CPU)
        status = carom_hull_device_create(context, h);
    status = carom_progress_finish(context, status);
    if (status != CAROM_OK) {
        carom_hull_destroy(h);
        return status;
    }
    *hull = h;
    return CAROM_OK;
}

void carom_hull_destroy(carom_hull *hull) {
    if (hull == NULL) return;
    carom_allocator allocator = hull->allocator;
    carom_hull_device_release(hull);
    carom_release(&allocator, hull->vertices);
    carom_release(&allocator, hull->all);
    carom_release(&allocator, hull->neighbours);
    carom_release(&allocator, hull->first);
    carom_release(&allocator, hull->seeds);
    carom_release(&allocator, hull->offsets);
    carom_release(&allocator, hull->corners);
    carom_release(&allocator, hull->edges);
    carom_release(&allocator, hull->normals);
    carom_release(&allocator, hull->normal_blocks);
    carom_release(&allocator, hull);
}

carom_status carom_hull_get_info(const carom_hull *hull, carom_hull_info *info) {
    CAROM_REQUIRE_INPUT(hull, "hull");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = hull->info;
    return CAROM_OK;
}

carom_status carom_hull_to_mesh(carom_context *context, const carom_hull *hull, carom_mesh **mesh) {
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    *mesh = NULL;
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(hull, "hull");
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_vec3 *points = CAROM_ARENA_TAKE(arena, carom_vec3, hull->view.count);
    if (points == NULL)
        return carom_fail_memory(context, hull->view.count * sizeof(*points), "a hull's mesh");
    for (uint32_t v = 0; v < hull->view.count; ++v) {
        carom_vec3 p = hull->vertices[v];
        int k = hull->view.exponent;
        points[v] = carom_vec(carom_scale_apply(p.x, k), carom_scale_apply(p.y, k),
                              carom_scale_apply(p.z, k));
    }
    carom_mesh_view view = {.positions = points,
                            .vertex_count = hull->view.count,
                            .corners = hull->corners,
                            .offsets = hull->offsets,
                            .face_count = hull->info.faces};
    carom_status status = carom_mesh_create(context, &view, mesh);
    carom_arena_rewind(arena, mark);
    return status;
}
