/* SPDX-License-Identifier: MIT */
/* The surface of an overlap: of each triangle, what lies inside the other mesh.
 *
 * A triangle that meets the other mesh is cut along their common segments by a binary space
 * partition of its plane (Fuchs, Kedem and Naylor 1980): a cell is convex and is cut by the line of
 * one of its segments until none is left inside. So no segment runs through a piece: it is inside
 * the other mesh as a whole or not at all, and the winding number of its middle tells. An error in
 * the direction of a short segment's line does no harm: what the line cuts beyond its segment has
 * the same answer on both sides. Where faces are coplanar and face the same way, their common area
 * belongs to the surface once. */
#include "cli/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/vector.h"

#define NEAR 1e-13 /* of a triangle's extent: what is nearer to a line is on it; above rounding */
#define SEGMENTS_PER_CELL                                                                          \
    24 /* segments: a cell with more is halved first, so that work is not quadratic */
/* Pieces of a triangle for each of its segments, where 2 to 4 are usual. Bounds the work where the
 * halves of cells do not have fewer segments; what is left then goes by its middle as a whole. */
#define MOST_PIECES_PER_SEGMENT 32

/* A convex piece of a triangle. */
typedef struct piece {
    uint32_t triangle, corner_count;
    uint64_t first;       /* of its corners */
    bool may_be_coplanar; /* its triangle is, with a face of the other mesh */
    bool inside;
} piece;

/* A mesh in its pose. */
typedef struct side {
    const display_mesh *mesh;
    carom_vec3 *points;
    carom_soup *soup;
    double sign;        /* -1: the mesh is inside out */
    uint64_t *first;    /* of each triangle, the first of its segments */
    uint64_t *segments; /* by triangles */
    piece *pieces;
    carom_vec3 *middles; /* of pieces */
    uint64_t piece_count, piece_capacity;
    carom_vec3 *corners; /* of pieces */
    uint64_t corner_count, corner_capacity;
    int32_t *windings; /* of the other mesh around the middles */
} side;

/* A triangle's plane: two of the three coordinates, in units of the triangle's extent. */
typedef struct plane {
    int u, v;
    double unit;
} plane;

typedef struct line {
    double u, v, normal_u, normal_v; /* the normal has length 1 */
} line;

/* A convex part of a triangle, and the segments inside. */
typedef struct cell {
    carom_vec3 *corners;
    uint32_t corner_count;
    carom_vec3 (*cuts)[2];
    uint64_t cut_count;
} cell;

typedef struct cells {
    cell *data;
    uint64_t count, capacity;
} cells;

static double along(carom_vec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static carom_vec3 between(carom_vec3 p, carom_vec3 q, double t) {
    return (carom_vec3){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z)};
}

static bool make_room(void *array, uint64_t count, uint64_t *capacity, size_t size) {
    void *data;
    if (count <= *capacity) return true;
    uint64_t wanted = 2 * count + 15;
    memcpy(&data, array, sizeof(data));
    void *larger = realloc(data, (size_t)wanted * size);
    if (larger == NULL) return false;
    memcpy(array, &larger, sizeof(larger));
    *capacity = wanted;
    return true;
}

/* ---- Cutting --------------------------------------------------------------------------------- */

/* The plane without the coordinate nearest to the triangle's normal. */
static plane plane_of(const carom_vec3 t[3]) {
    carom_vec3 a = vector_minus(t[1], t[0]), b = vector_minus(t[2], t[0]);
    double extent = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        extent = fmax(extent, fmax(fabs(along(a, axis)), fabs(along(b, axis))));
    plane f = {0, 1, 1.0 / extent};
    a = (carom_vec3){a.x * f.unit, a.y * f.unit, a.z * f.unit};
    b = (carom_vec3){b.x * f.unit, b.y * f.unit, b.z * f.unit};
    carom_vec3 n = vector_cross(a, b);
    int most = fabs(n.x) > fabs(n.y) ? 0 : 1;
    if (fabs(n.z) >= fabs(along(n, most))) most = 2;
    f.u = (most + 1) % 3;
    f.v = (most + 2) % 3;
    return f;
}

/* False: the points are too near to each other. */
static bool line_through(const plane *f, carom_vec3 p, carom_vec3 q, line *l) {
    carom_vec3 way = vector_minus(q, p);
    double du = along(way, f->u) * f->unit, dv = along(way, f->v) * f->unit;
    double length = sqrt(du * du + dv * dv);
    *l = (line){along(p, f->u), along(p, f->v), -dv / length, du / length};
    return length > NEAR;
}

/* The distance from the line in units of the extent; 0: on it. */
static double beside(const plane *f, const line *l, carom_vec3 p) {
    double s = l->normal_u * (along(p, f->u) - l->u) * f->unit +
               l->normal_v * (along(p, f->v) - l->v) * f->unit;
    return fabs(s) > NEAR ? s : 0.0;
}

static void free_cell(cell *c) {
    free(c->corners);
    free(c->cuts);
}

/* Adds what of a segment lies on each side; nothing where it lies on the line. */
static void share_cut(const plane *f, const line *l, const carom_vec3 cut[2], cell halves[2]) {
    double s[2] = {beside(f, l, cut[0]), beside(f, l, cut[1])};
    bool crosses = s[0] * s[1] < 0.0;
    carom_vec3 at = crosses ? between(cut[0], cut[1], s[0] / (s[0] - s[1])) : cut[0];
    for (int k = 0; k < 2; ++k) {
        double sign = k == 0 ? 1.0 : -1.0;
        if (!(sign * s[0] > 0.0) && !(sign * s[1] > 0.0)) continue;
        carom_vec3 *to = halves[k].cuts[halves[k].cut_count++];
        to[0] = crosses && sign * s[0] < 0.0 ? at : cut[0];
        to[1] = crosses && sign * s[1] < 0.0 ? at : cut[1];
    }
}

/* Halves a cell. Both have 0 corners when the line does not pass through its inside. */
static carom_status halve(const plane *f, const line *l, const cell *c, cell halves[2]) {
    bool is_left = false, is_right = false;
    halves[0] = halves[1] = (cell){0};
    for (uint32_t k = 0; k < c->corner_count; ++k) {
        double s = beside(f, l, c->corners[k]);
        is_left = is_left || s > 0.0;
        is_right = is_right || s < 0.0;
    }
    if (!is_left || !is_right) return CAROM_OK;
    for (int k = 0; k < 2; ++k) {
        halves[k].corners = malloc(((size_t)c->corner_count + 2) * sizeof(*c->corners));
        halves[k].cuts = malloc(((size_t)c->cut_count + 1) * sizeof(*c->cuts));
        if (halves[k].corners == NULL || halves[k].cuts == NULL) {
            for (int i = 0; i < 2; ++i) free_cell(&halves[i]);
            return CAROM_NO_MEMORY;
        }
    }
    for (uint32_t k = 0; k < c->corner_count; ++k) {
        carom_vec3 p = c->corners[k], q = c->corners[(k + 1) % c->corner_count];
        double s = beside(f, l, p), next = beside(f, l, q);
        if (s >= 0.0) halves[0].corners[halves[0].corner_count++] = p;
        if (s <= 0.0) halves[1].corners[halves[1].corner_count++] = p;
        if (!(s * next < 0.0)) continue;
        carom_vec3 at = between(p, q, s / (s - next));
        for (int i = 0; i < 2; ++i) halves[i].corners[halves[i].corner_count++] = at;
    }
    for (uint64_t i = 0; i < c->cut_count; ++i) share_cut(f, l, c->cuts[i], halves);
    return CAROM_OK;
}

/* The line through the mean of the segments, across the direction in which they spread most. */
static line line_among(const plane *f, const cell *c) {
    line l = {0.0, 0.0, 1.0, 0.0};
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (uint64_t i = 0; i < c->cut_count; ++i) {
        carom_vec3 at = between(c->cuts[i][0], c->cuts[i][1], 0.5);
        double u = along(at, f->u), v = along(at, f->v);
        l.u += u / (double)c->cut_count;
        l.v += v / (double)c->cut_count;
        low[0] = fmin(low[0], u), high[0] = fmax(high[0], u);
        low[1] = fmin(low[1], v), high[1] = fmax(high[1], v);
    }
    if (high[1] - low[1] > high[0] - low[0]) {
        l.normal_u = 0.0;
        l.normal_v = 1.0;
    }
    return l;
}

/* Keeps a cell as a piece. */
static carom_status add_piece(side *s, uint32_t triangle, const carom_vec3 *corners,
                              uint32_t count) {
    uint64_t capacity = s->piece_capacity;
    if (!make_room((void *)&s->middles, s->piece_count + 1, &capacity, sizeof(*s->middles)) ||
        !make_room((void *)&s->pieces, s->piece_count + 1, &s->piece_capacity,
                   sizeof(*s->pieces)) ||
        !make_room((void *)&s->corners, s->corner_count + count, &s->corner_capacity,
                   sizeof(*s->corners)))
        return CAROM_NO_MEMORY;
    carom_vec3 middle = {0.0, 0.0, 0.0};
    for (uint32_t k = 0; k < count; ++k) {
        double n = (double)count;
        carom_vec3 p = s->corners[s->corner_count + k] = corners[k];
        middle = (carom_vec3){middle.x + p.x / n, middle.y + p.y / n, middle.z + p.z / n};
    }
    s->middles[s->piece_count] = middle;
    s->pieces[s->piece_count++] =
        (piece){.triangle = triangle, .corner_count = count, .first = s->corner_count};
    s->corner_count += count;
    return CAROM_OK;
}

/* Halves a cell by one of its segments, or between many, or drops a segment on its border. */
static carom_status cut_cell(const plane *f, cell *c, cells *todo) {
    cell halves[2] = {{0}, {0}};
    line l = {0};
    carom_status status = CAROM_OK;
    if (c->cut_count > SEGMENTS_PER_CELL) {
        l = line_among(f, c);
        status = halve(f, &l, c, halves);
    }
    while (status == CAROM_OK && halves[0].corner_count == 0 && c->cut_count != 0) {
        --c->cut_count;
        if (line_through(f, c->cuts[c->cut_count][0], c->cuts[c->cut_count][1], &l))
            status = halve(f, &l, c, halves);
    }
    if (halves[0].corner_count == 0) return status; /* none of its segments was inside */
    if (!make_room((void *)&todo->data, todo->count + 2, &todo->capacity, sizeof(*todo->data))) {
        for (int k = 0; k < 2; ++k) free_cell(&halves[k]);
        return CAROM_NO_MEMORY;
    }
    for (int k = 0; k < 2; ++k) todo->data[todo->count++] = halves[k];
    return CAROM_OK;
}

/* Cuts a triangle along its segments. */
static carom_status cut_triangle(side *s, uint32_t triangle, const carom_vec3 t[3],
                                 const carom_soup_segments *segments, cells *todo) {
    uint64_t begin = s->first[triangle], end = s->first[triangle + 1], pieces = 1;
    uint64_t most = MOST_PIECES_PER_SEGMENT * (end - begin);
    plane f = plane_of(t);
    cell whole = {.corners = malloc(3 * sizeof(carom_vec3)),
                  .corner_count = 3,
                  .cuts = malloc((size_t)(end - begin + 1) * sizeof(*whole.cuts))};
    if (whole.corners == NULL || whole.cuts == NULL ||
        !make_room((void *)&todo->data, 1, &todo->capacity, sizeof(*todo->data))) {
        free_cell(&whole);
        return CAROM_NO_MEMORY;
    }
    memcpy(whole.corners, t, 3 * sizeof(*t));
    for (uint64_t i = begin; i < end; ++i) {
        const carom_soup_segment *cut = &segments->data[s->segments[i]];
        whole.cuts[whole.cut_count][0] = cut->p;
        whole.cuts[whole.cut_count++][1] = cut->q;
    }
    todo->data[0] = whole;
    todo->count = 1;
    carom_status status = CAROM_OK;
    while (todo->count != 0) {
        cell c = todo->data[--todo->count];
        uint64_t before = todo->count;
        if (status == CAROM_OK && pieces < most) status = cut_cell(&f, &c, todo);
        if (todo->count != before)
            ++pieces;
        else if (status == CAROM_OK)
            status = add_piece(s, triangle, c.corners, c.corner_count);
        free_cell(&c);
    }
    return status;
}

/* ---- Inside or outside ----------------------------------------------------------------------- */

static void corners_of(const side *s, uint64_t triangle, carom_vec3 t[3]) {
    for (uint64_t k = 0; k < 3; ++k) t[k] = s->points[s->mesh->view.corners[3 * triangle + k]];
}

/* Whether a point of the plane is in the triangle: 1, or -1 when its corners turn the other way
 * than `turn` says; 0: it is not. */
static int is_in(const plane *f, const carom_vec3 t[3], carom_vec3 at, double turn) {
    line l;
    int left = 0, right = 0;
    for (int k = 0; k < 3; ++k) {
        if (!line_through(f, t[k], t[(k + 1) % 3], &l)) return 0;
        double s = beside(f, &l, at);
        left += s > 0.0;
        right += s < 0.0;
    }
    if (left != 0 && right != 0) return 0;
    return (left != 0) == (turn > 0.0) ? 1 : -1;
}

static uint32_t partner_of(const carom_soup_segment *cut, int i) {
    return i == 0 ? cut->pair.b : cut->pair.a;
}

/* Whether a face of the other mesh is coplanar with a triangle and has an area in common with it.
 * The segments of a triangle are in the order of these faces. */
static bool shares_area(const side *s, int i, uint32_t triangle, uint32_t face,
                        const carom_soup_segments *segments) {
    uint64_t low = s->first[triangle], high = s->first[triangle + 1], end = high;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (partner_of(&segments->data[s->segments[middle]], i) < face)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end) return false;
    const carom_soup_segment *cut = &segments->data[s->segments[low]];
    return partner_of(cut, i) == face && cut->kind == CAROM_SOUP_SEGMENT_KIND_OUTLINE;
}

/* Decides a piece if it lies on that face of the other mesh: of A it is taken where both face the
 * same way, of B never, so that it is there once. */
static void decide_coplanar(side both[2], int i, piece *p, carom_vec3 middle, uint32_t face,
                            const carom_soup_segments *segments) {
    carom_vec3 t[3], with[3];
    line l;
    if (!shares_area(&both[i], i, p->triangle, face, segments)) return;
    corners_of(&both[i], p->triangle, t);
    corners_of(&both[1 - i], face, with);
    plane f = plane_of(t);
    if (!line_through(&f, t[0], t[1], &l)) return;
    double turn = beside(&f, &l, t[2]) * both[0].sign * both[1].sign;
    int turns = is_in(&f, with, middle, turn);
    if (turns != 0) p->inside = turns > 0 && i == 0;
}

/* Decides the pieces on coplanar faces: the face that a piece lies on is nearest to its middle. */
static carom_status decide_all_coplanar(cli *cli, side both[2], int i,
                                        const carom_soup_segments *segments) {
    side *s = &both[i];
    uint64_t count = 0;
    for (uint64_t k = 0; k < s->piece_count; ++k) count += s->pieces[k].may_be_coplanar;
    if (count == 0) return CAROM_OK;
    carom_vec3 *middles = malloc((size_t)count * sizeof(*middles));
    carom_hit *hits = malloc((size_t)count * sizeof(*hits));
    carom_status status = middles == NULL || hits == NULL ? CAROM_NO_MEMORY : CAROM_OK;
    if (status == CAROM_OK) {
        uint64_t n = 0;
        for (uint64_t k = 0; k < s->piece_count; ++k)
            if (s->pieces[k].may_be_coplanar) middles[n++] = s->middles[k];
        status = carom_soup_closest_points(cli->context, both[1 - i].soup, middles, count, hits);
    }
    for (uint64_t k = 0, n = 0; k < s->piece_count && status == CAROM_OK; ++k) {
        if (!s->pieces[k].may_be_coplanar) continue;
        decide_coplanar(both, i, &s->pieces[k], middles[n], hits[n].face, segments);
        ++n;
    }
    free(middles);
    free(hits);
    return status;
}

static carom_status cut_all(side *s, const carom_soup_segments *segments) {
    cells todo = {0};
    carom_status status = CAROM_OK;
    for (uint64_t t = 0; t < s->mesh->view.face_count && status == CAROM_OK; ++t) {
        carom_vec3 corners[3];
        uint64_t before = s->piece_count;
        bool shares = false;
        corners_of(s, t, corners);
        if (s->first[t] == s->first[t + 1]) {
            status = add_piece(s, (uint32_t)t, corners, 3);
            continue;
        }
        status = cut_triangle(s, (uint32_t)t, corners, segments, &todo);
        for (uint64_t k = s->first[t]; k < s->first[t + 1] && !shares; ++k)
            shares = segments->data[s->segments[k]].kind == CAROM_SOUP_SEGMENT_KIND_OUTLINE;
        for (uint64_t k = before; k < s->piece_count; ++k) s->pieces[k].may_be_coplanar = shares;
    }
    free(todo.data);
    return status;
}

static carom_status classify(cli *cli, side both[2], int i, const carom_soup_segments *segments) {
    side *s = &both[i];
    s->windings = malloc((size_t)(s->piece_count + 1) * sizeof(*s->windings));
    if (s->windings == NULL) return CAROM_NO_MEMORY;
    carom_status status =
        carom_soup_winding(cli->context, both[1 - i].soup, s->middles, s->piece_count, s->windings);
    for (uint64_t k = 0; k < s->piece_count && status == CAROM_OK; ++k)
        s->pieces[k].inside = s->windings[k] != 0 && s->windings[k] != CAROM_SOUP_ON_SURFACE;
    return status == CAROM_OK ? decide_all_coplanar(cli, both, i, segments) : status;
}

/* ---- Sides ----------------------------------------------------------------------------------- */

static carom_status begin_side(cli *cli, const display_mesh *mesh, side *s) {
    carom_mesh_view view = mesh->view;
    double volume = 0.0;
    s->mesh = mesh;
    s->points = malloc((size_t)(view.vertex_count + 1) * sizeof(*s->points));
    s->first = calloc((size_t)view.face_count + 2, sizeof(*s->first));
    if (s->points == NULL || s->first == NULL) return CAROM_NO_MEMORY;
    for (uint64_t v = 0; v < view.vertex_count; ++v)
        s->points[v] = display_mesh_point(mesh, (uint32_t)v);
    for (uint64_t i = 0; i < view.face_count; ++i) {
        carom_vec3 t[3];
        corners_of(s, i, t);
        carom_vec3 n =
            vector_cross(vector_minus(t[1], s->points[0]), vector_minus(t[2], s->points[0]));
        carom_vec3 a = vector_minus(t[0], s->points[0]);
        volume += a.x * n.x + a.y * n.y + a.z * n.z;
    }
    s->sign = volume < 0.0 ? -1.0 : 1.0;
    view.positions = s->points;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    carom_soup_def def = {.mesh = &view};
    return carom_soup_create(cli->context, &def, &s->soup);
}

static void end_side(side *s) {
    carom_soup_destroy(s->soup);
    free(s->points);
    free(s->first);
    free(s->segments);
    free(s->pieces);
    free(s->middles);
    free(s->corners);
    free(s->windings);
}

/* Sorts the segments by the triangles of a side. */
static carom_status sort_segments(side *s, int i, const carom_soup_segments *segments) {
    uint64_t count = s->mesh->view.face_count;
    s->segments = malloc((size_t)(segments->count + 1) * sizeof(*s->segments));
    if (s->segments == NULL) return CAROM_NO_MEMORY;
    for (uint64_t k = 0; k < segments->count; ++k) {
        carom_pair pair = segments->data[k].pair;
        ++s->first[(i == 0 ? pair.a : pair.b) + 2];
    }
    for (uint64_t t = 0; t < count; ++t) s->first[t + 2] += s->first[t + 1];
    for (uint64_t k = 0; k < segments->count; ++k) {
        carom_pair pair = segments->data[k].pair;
        s->segments[s->first[(i == 0 ? pair.a : pair.b) + 1]++] = k;
    }
    return CAROM_OK;
}

static carom_status find_segments(cli *cli, side both[2], carom_soup_segments *segments) {
    carom_pairs pairs = {0};
    carom_status status =
        carom_soup_cross_pairs(cli->context, both[0].soup, NULL, both[1].soup, NULL, &pairs);
    if (status == CAROM_OK)
        status = carom_soup_cross_segments(cli->context, both[0].soup, NULL, both[1].soup, NULL,
                                           pairs.data, pairs.count, segments);
    carom_pairs_free(&pairs);
    return status;
}

/* Adds the pieces that are inside, one region per part. */
static void add_regions(display *d, const side *s) {
    const display_mesh *mesh = s->mesh;
    display_item **regions = calloc((size_t)mesh->view.part_count, sizeof(display_item *));
    double *areas = calloc((size_t)mesh->view.part_count, sizeof(*areas));
    if (regions == NULL || areas == NULL) d->no_memory = true;
    for (uint64_t i = 0; i < s->piece_count && !d->no_memory; ++i) {
        const piece *p = &s->pieces[i];
        if (!p->inside) continue;
        uint32_t part = mesh->view.parts != NULL ? mesh->view.parts[p->triangle] : 0;
        uint32_t face = mesh->first != NULL ? mesh->faces.data[p->triangle] : p->triangle;
        if (regions[part] == NULL) {
            regions[part] = display_add(d, DISPLAY_REGION, "overlap");
            regions[part]->part = mesh->parts[part];
        }
        for (uint32_t k = 2; k < p->corner_count; ++k) {
            const carom_vec3 *c = s->corners + p->first;
            const carom_vec3 t[3] = {c[0], c[k - 1], c[k]};
            carom_vec3 n = vector_cross(vector_minus(t[1], t[0]), vector_minus(t[2], t[0]));
            areas[part] += 0.5 * hypot(n.x, hypot(n.y, n.z));
            display_add_triangle(d, regions[part], t, face);
        }
    }
    for (uint64_t part = 0; part < mesh->view.part_count && !d->no_memory; ++part)
        if (regions[part] != NULL)
            display_tell(d, &regions[part]->numbers, "area", areas[part], NULL);
    free(regions);
    free(areas);
}

carom_status region_add(display *d, const display_mesh meshes[2]) {
    side both[2] = {{0}, {0}};
    carom_soup_segments segments = {0};
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i)
        status = begin_side(d->cli, &meshes[i], &both[i]);
    if (status == CAROM_OK) status = find_segments(d->cli, both, &segments);
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = sort_segments(&both[i], i, &segments);
        if (status == CAROM_OK) status = cut_all(&both[i], &segments);
        if (status == CAROM_OK) status = classify(d->cli, both, i, &segments);
        if (status == CAROM_OK) add_regions(d, &both[i]);
    }
    if (status == CAROM_OK && segments.count != 0) {
        display_item *curve = display_add(d, DISPLAY_CURVE, "where the surfaces meet");
        for (uint64_t i = 0; i < segments.count; ++i)
            if (segments.data[i].kind != CAROM_SOUP_SEGMENT_KIND_POINT)
                display_add_segment(d, curve, segments.data[i].p, segments.data[i].q);
    }
    carom_soup_segments_free(&segments);
    for (int i = 0; i < 2; ++i) end_side(&both[i]);
    return status;
}
