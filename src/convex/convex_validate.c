/* SPDX-License-Identifier: MIT */
/* Checks of a prepared hull, from what convex_item.h and convex_hull.h say of it.
 *
 * The surface is closed: each half-edge belongs to one face and has an opposite. It is convex: each
 * face is a strictly convex polygon in one plane, and all vertices that are no corners of it lie
 * strictly below that plane, by exact predicates, face by face and vertex by vertex. So each face
 * is a facet of the hull, and since none has a border to a face that is missing, they are all of
 * them. Neighbours of a vertex are the ends of its half-edges. What is derived from the vertices
 * (blocks, seeds, balls) agrees with them. */
#include "convex/convex_hull.h"

#include "base/memory.h"
#include "convex/convex_polytope_item.h"
#include "geom/length.h"

/* What the seeds and the inner ball may be off by: some roundings of numbers up to 1, and for seeds
 * as many as there are steps of a climb over vertices that are nearly in one plane. */
#define CONVEX_VALIDATE_TOLERANCE 0x1p-40

/* ---- Vertices and faces ---------------------------------------------------------------------- */

static const char *validate_vertices(const carom_hull *hull) {
    const carom_hull_view *view = &hull->view;
    static const uint32_t least[4] = {1, 2, 3, 4};
    double most = 0.0;
    if (view->vertices != hull->vertices || view->all != hull->all ||
        view->neighbours != hull->neighbours || view->first != hull->first ||
        view->seeds != hull->seeds)
        return "hull: the view is not that of its arrays";
    if (hull->info.dimension > 3 || view->count < least[hull->info.dimension] ||
        (hull->info.dimension < 2 && view->count != least[hull->info.dimension]))
        return "hull: the number of vertices does not fit the dimension";
    if (hull->info.vertices != view->count) return "hull: the number of vertices is wrong";
    for (uint32_t v = 0; v < view->count; ++v) {
        if (!carom_vec_finite(hull->vertices[v])) return "hull: a vertex is not finite";
        most = CAROM_MAX(carom_polytope_extent(hull->vertices[v]), most);
    }
    return most == 0.0 || (most >= 0.5 && most < 1.0)
               ? NULL
               : "hull: the largest coordinate is not in [1/2, 1)";
}

static const char *validate_faces(const carom_hull *hull) {
    uint64_t faces = hull->info.faces, dimension = hull->info.dimension;
    if (dimension < 2 ? faces != 0 : dimension == 2 ? faces != 2 : faces < 4)
        return "hull: the number of faces does not fit the dimension";
    if (hull->offsets[0] != 0) return "hull: the first face does not begin at 0";
    for (uint64_t f = 0; f < faces; ++f)
        if (hull->offsets[f + 1] < hull->offsets[f] + 3)
            return "hull: a face has fewer than three corners";
    for (uint64_t i = 0; i < hull->offsets[faces]; ++i)
        if (hull->corners[i] >= hull->view.count) return "hull: a corner is out of range";
    return NULL;
}

/* ---- Half-edges and neighbours --------------------------------------------------------------- */

/* Lane i of the neighbours of a vertex. */
static uint32_t neighbour(const carom_hull_view *view, uint32_t vertex, uint32_t i) {
    return view->neighbours[view->first[vertex] + i / CAROM_HULL_LANES].index[i % CAROM_HULL_LANES];
}

static bool has_lane(const carom_hull_view *view, const carom_hull_block *block, uint32_t lane) {
    uint32_t index = block->index[lane];
    if (index >= view->count) return false;
    carom_vec3 v = view->vertices[index];
    return block->x[lane] == v.x && block->y[lane] == v.y && block->z[lane] == v.z;
}

static const char *convex_validate_blocks(const carom_hull_view *view, const uint32_t *degrees) {
    if (view->all_count != (view->count + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES)
        return "hull: the number of blocks is wrong";
    for (uint32_t i = 0; i < view->all_count * CAROM_HULL_LANES; ++i) {
        const carom_hull_block *block = &view->all[i / CAROM_HULL_LANES];
        if (block->index[i % CAROM_HULL_LANES] != CAROM_MIN(i, view->count - 1) ||
            !has_lane(view, block, i % CAROM_HULL_LANES))
            return "hull: a block does not have the coordinates of its vertices";
    }
    if (view->first[0] != 0) return "hull: the first block of neighbours is not 0";
    for (uint32_t v = 0; v < view->count; ++v) {
        uint32_t blocks = (degrees[v] + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES;
        if (view->first[v + 1] != view->first[v] + CAROM_MAX(blocks, 1))
            return "hull: a vertex has the wrong number of neighbours";
    }
    for (uint32_t b = 0; b < view->first[view->count]; ++b)
        for (uint32_t lane = 0; lane < CAROM_HULL_LANES; ++lane)
            if (!has_lane(view, &view->neighbours[b], lane))
                return "hull: a neighbour does not have the coordinates of its vertex";
    return NULL;
}

/* Finds the lane of `to` among the first neighbours of `from`, or their number. */
static uint32_t find_lane(const carom_hull_view *view, const uint32_t *degrees, uint32_t from,
                          uint32_t to) {
    uint32_t i = 0;
    while (i < degrees[from] && neighbour(view, from, i) != to) ++i;
    return i;
}

/* Each half-edge is one of the first neighbours of its vertex, and each of these is one half-edge;
 * so it is enough that the opposite is among the neighbours of the other end. */
static const char *validate_half_edges(const carom_hull *hull, const uint32_t *degrees,
                                       uint8_t *seen) {
    const carom_hull_view *view = &hull->view;
    memset(seen, 0, (uint64_t)view->first[view->count] * CAROM_HULL_LANES);
    for (uint64_t f = 0; f < hull->info.faces; ++f)
        for (uint64_t i = hull->offsets[f]; i < hull->offsets[f + 1]; ++i) {
            uint32_t from = hull->corners[i];
            uint32_t to = hull->corners[i + 1 < hull->offsets[f + 1] ? i + 1 : hull->offsets[f]];
            uint32_t lane = find_lane(view, degrees, from, to);
            if (lane == degrees[from])
                return "hull: a half-edge is missing among the neighbours of its vertex";
            if (seen[(uint64_t)view->first[from] * CAROM_HULL_LANES + lane]++ != 0)
                return "hull: a half-edge belongs to two faces";
            if (find_lane(view, degrees, to, from) == degrees[to])
                return "hull: a half-edge has no opposite";
        }
    if (hull->info.dimension == 1 && (neighbour(view, 0, 0) != 1 || neighbour(view, 1, 0) != 0))
        return "hull: the ends of a segment are not each other's neighbours";
    return NULL;
}

static const char *validate_topology(const carom_hull *hull, const uint32_t *degrees,
                                     uint8_t *seen) {
    uint64_t half_edges = 0;
    for (uint32_t v = 0; v < hull->view.count; ++v) {
        half_edges += degrees[v];
        if (degrees[v] < hull->info.dimension)
            return "hull: a vertex has fewer faces than the hull has dimensions";
    }
    if (2 * hull->info.edges != half_edges) return "hull: the number of edges is wrong";
    return validate_half_edges(hull, degrees, seen);
}

/* ---- Convexity ------------------------------------------------------------------------------- */

/* Corners of a face turn one way, seen from each corner and from the first. */
static const char *validate_polygon(const carom_hull *hull, uint64_t f) {
    const carom_vec3 *p = hull->vertices;
    const uint32_t *c = hull->corners + hull->offsets[f];
    uint64_t count = hull->offsets[f + 1] - hull->offsets[f];
    int axis = carom_orient_axis(p[c[0]], p[c[1]], p[c[2]]);
    if (axis < 0) return "hull: the corners of a face are in line";
    int turn = carom_orient_along(p[c[0]], p[c[1]], p[c[2]], axis);
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 a = p[c[i]], b = p[c[(i + 1) % count]], d = p[c[(i + 2) % count]];
        bool fan = i == 0 || i + 1 == count || carom_orient_along(p[c[0]], a, b, axis) == turn;
        if (!fan || carom_orient_along(a, b, d, axis) != turn)
            return "hull: a face is not a convex polygon";
    }
    return NULL;
}

static const char *validate_convexity(const carom_hull *hull, uint8_t *corner) {
    const carom_vec3 *p = hull->vertices;
    memset(corner, 0, hull->view.count);
    for (uint64_t f = 0; f < hull->info.faces; ++f) {
        uint64_t begin = hull->offsets[f], end = hull->offsets[f + 1];
        const uint32_t *c = hull->corners + begin;
        const char *message = validate_polygon(hull, f);
        if (message != NULL) return message;
        for (uint64_t i = begin; i < end; ++i) corner[hull->corners[i]] = 1;
        for (uint32_t v = 0; v < hull->view.count; ++v) {
            int side = carom_orient3d(p[c[0]], p[c[1]], p[c[2]], p[v]);
            if (corner[v] != 0 && side != 0) return "hull: the corners of a face are in no plane";
            if (corner[v] == 0 && side >= 0) return "hull: a vertex is not below a face";
        }
        for (uint64_t i = begin; i < end; ++i) corner[hull->corners[i]] = 0;
    }
    if (hull->info.dimension == 1 && carom_vec_compare(p[0], p[1]) == 0)
        return "hull: the ends of a segment are equal";
    return NULL;
}

/* ---- Balls and seeds ------------------------------------------------------------------------- */

static const char *validate_balls(const carom_hull *hull) {
    const carom_hull_view *view = &hull->view;
    const carom_vec3 *p = hull->vertices;
    if (hull->info.dimension < 3 && view->inner != 0.0)
        return "hull: a flat hull has an inner ball";
    for (uint32_t v = 0; v < view->count; ++v)
        if (!(carom_vec_length(carom_vec_sub(p[v], view->centre)) <= view->outer))
            return "hull: a vertex is outside the outer ball";
    for (uint64_t f = 0; f < hull->info.faces && view->inner > 0.0; ++f) {
        const uint32_t *c = hull->corners + hull->offsets[f];
        carom_vec3 u = carom_vec_sub(p[c[1]], p[c[0]]), w = carom_vec_sub(p[c[2]], p[c[0]]);
        carom_vec3 n = carom_vec_cross(u, w);
        double terms = carom_polytope_extent(u) * carom_polytope_extent(w);
        double height = carom_vec_dot(n, carom_vec_sub(p[c[0]], view->centre));
        if (!(height >= carom_vec_length(n) * view->inner - CONVEX_VALIDATE_TOLERANCE * terms))
            return "hull: the inner ball is not inside";
    }
    if (hull->info.inner_radius != carom_scale_apply(view->inner, view->exponent) ||
        hull->info.outer_radius != carom_scale_apply(view->outer, view->exponent))
        return "hull: the radii are not those of the balls";
    if (view->extent != carom_hull_extent(hull->vertices, view->count))
        return "hull: the extent is not that of the vertices";
    if (hull->faces.vertex_count != view->count || hull->faces.face_count != hull->info.faces)
        return "hull: the view of the faces has other counts than the hull";
    return NULL;
}

static const char *validate_normals(const carom_hull *hull) {
    uint64_t faces = hull->info.faces;
    for (uint64_t f = 0; f < faces; ++f)
        if (carom_vec_compare(hull->normals[f], carom_hull_face_normal(&hull->faces, f)) != 0)
            return "hull: a normal is not that of its face";
    for (uint64_t i = 0; i < (faces + CAROM_HULL_LANES - 1) / CAROM_HULL_LANES * CAROM_HULL_LANES;
         ++i) {
        const carom_hull_block *b = &hull->normal_blocks[i / CAROM_HULL_LANES];
        uint32_t lane = (uint32_t)(i % CAROM_HULL_LANES), f = b->index[lane];
        if (f != CAROM_MIN(i, faces - 1) ||
            carom_vec_compare(hull->normals[f], carom_vec(b->x[lane], b->y[lane], b->z[lane])) != 0)
            return "hull: a block does not have the normals of its faces";
    }
    return NULL;
}

/* The ends of the edge behind a corner, the lower one first. */
static uint64_t ends_of(const carom_hull *hull, uint64_t face, uint64_t corner) {
    uint64_t next = corner + 1 < hull->offsets[face + 1] ? corner + 1 : hull->offsets[face];
    uint32_t a = hull->corners[corner], b = hull->corners[next];
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Each number is that of two corners, which have the same ends; new ones come in order. */
static const char *validate_edge_numbers(const carom_hull *hull) {
    const carom_allocator *allocator = &hull->allocator;
    uint64_t *ends = carom_allocate(allocator, hull->info.edges + 1, sizeof(*ends)), next = 0;
    const char *message = ends == NULL ? "hull: no memory to check the edges" : NULL;
    for (uint64_t f = 0; f < hull->info.faces && message == NULL; ++f)
        for (uint64_t i = hull->offsets[f]; i < hull->offsets[f + 1] && message == NULL; ++i) {
            uint64_t number = hull->edges[i];
            if (number > next || number >= hull->info.edges)
                message = "hull: an edge is numbered out of order";
            else if (number == next)
                ends[next++] = ends_of(hull, f, i);
            else if (ends[number] != ends_of(hull, f, i))
                message = "hull: two edges have one number";
        }
    if (message == NULL && hull->info.dimension >= 2 && next != hull->info.edges)
        message = "hull: an edge has no number";
    carom_release(allocator, ends);
    return message;
}

static const char *validate_seeds(const carom_hull_view *view) {
    for (uint32_t cell = 0; cell < CAROM_HULL_SEEDS; ++cell) {
        carom_vec3 d = carom_hull_direction(cell);
        if (view->seeds[cell] >= view->count) return "hull: a seed is out of range";
        double value = carom_vec_dot(d, view->vertices[view->seeds[cell]]);
        for (uint32_t v = 0; v < view->count; ++v)
            if (carom_vec_dot(d, view->vertices[v]) > value + CONVEX_VALIDATE_TOLERANCE)
                return "hull: a seed is not the farthest vertex in its direction";
    }
    return NULL;
}

/* ---- All ------------------------------------------------------------------------------------- */

static const char *validate_surface(const carom_hull *hull, uint32_t *degrees) {
    const carom_allocator *allocator = &hull->allocator;
    memset(degrees, 0, hull->view.count * sizeof(*degrees));
    for (uint64_t i = 0; i < hull->offsets[hull->info.faces]; ++i) ++degrees[hull->corners[i]];
    if (hull->info.dimension == 1) degrees[0] = degrees[1] = 1;
    const char *message = convex_validate_blocks(&hull->view, degrees);
    if (message != NULL) return message;
    uint64_t lanes = (uint64_t)hull->view.first[hull->view.count] * CAROM_HULL_LANES;
    uint8_t *seen = carom_allocate(allocator, lanes, 1); /* at least one per vertex */
    if (seen == NULL) return "hull: no memory to check the surface";
    message = validate_topology(hull, degrees, seen);
    if (message == NULL) message = validate_convexity(hull, seen);
    carom_release(allocator, seen);
    return message;
}

const char *carom_hull_validate(const carom_hull *hull) {
    const char *message = validate_vertices(hull);
    if (message == NULL) message = validate_faces(hull);
    if (message != NULL) return message;
    uint32_t *degrees = carom_allocate(&hull->allocator, hull->view.count, sizeof(*degrees));
    if (degrees == NULL) return "hull: no memory to check the surface";
    message = validate_surface(hull, degrees);
    carom_release(&hull->allocator, degrees);
    if (message == NULL) message = validate_balls(hull);
    if (message == NULL) message = validate_normals(hull);
    if (message == NULL) message = validate_edge_numbers(hull);
    if (message == NULL) message = validate_seeds(&hull->view);
    return message;
}
