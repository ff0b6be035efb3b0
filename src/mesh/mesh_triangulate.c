/* SPDX-License-Identifier: MIT */
/* Triangulation of polygons by ear cutting (Meisters 1975; the lists are those of O'Rourke,
 * Computational Geometry in C, 1998).
 *
 * A blocking corner is one that does not turn left: it is reflex or flat. A corner is an ear when
 * it turns left and its closed triangle contains no blocking corner; testing these is enough. In a
 * simple polygon, cutting an ear changes this for its two neighbours only, and there is always an
 * ear whose triangle has area. So there are n - 2 cuts and O(n r) tests for r blocking corners. All
 * turns are exact. Where no ear is found, the polygon is not simple in this projection, and the
 * rest becomes a fan, so the loop always terminates.
 *
 * Ears are cut in queue order, and the neighbours of a cut go to the end of the queue, so that
 * round polygons are cut evenly. */
#include <math.h>

#include "base/array.h"
#include "base/item.h"
#include "base/progress.h"
#include "geom/exact_sum.h"
#include "geom/orient.h"
#include "mesh/mesh_allocation.h"

#define MESH_TRIANGULATE_FACES_PER_RANGE ((uint64_t)1 << 11)
#define EARS_BETWEEN_LOOKS               256u
/* The bound of an area's error, in the magnitudes of its products: so many units of 2^-52 and one
 * more per corner; and what each product may lose by underflow, far above 2^-1074. */
#define AREA_UNITS       8.0
#define AREA_UNIT        0x1p-52
#define AREA_UNDERFLOW   1e-300
#define AREA_POWER_LEAST (-1000) /* an exponent of two whose inverse does not overflow */

CAROM_RESULT_DEFINE_FREE(carom_numbers);

/* A point of the projection. */
typedef struct spot {
    double x, y;
} spot;

typedef struct corner {
    spot p;
    uint32_t vertex;
    uint32_t before, after;   /* around the remaining polygon */
    uint32_t previous, next;  /* in the list of blocking corners */
    bool in_way, cut, queued; /* in_way: blocking */
} corner;

typedef struct polygon {
    corner *corners;
    uint32_t *queue; /* ring buffer of corners that may be ears */
    uint32_t count, left, queue_begin, queue_count;
    uint32_t in_way; /* first blocking corner, or NOBODY */
} polygon;

#define NOBODY UINT32_MAX

typedef struct triangulation {
    carom_context *context;
    const carom_mesh_view *view;
    bool fan;
    carom_mesh *mesh;
    uint32_t *faces; /* face of each triangle, or NULL */
    uint64_t face_room;
} triangulation;

/* ---- Projection along the normal ------------------------------------------------------------- */

/* The exact sign of the area in the projection. */
static int exact_area_sign(const corner *corners, uint32_t count) {
    carom_exact_sum sum = {{0}};
    for (uint32_t i = 0, before = count - 1; i < count; before = i++) {
        carom_exact_sum_add(&sum, corners[before].p.x, corners[i].p.y, 1.0);
        carom_exact_sum_subtract(&sum, corners[before].p.y, corners[i].p.x, 1.0);
        if ((i & 0xFFFFFF) == 0xFFFFFF) carom_exact_sum_normalize(&sum);
    }
    return carom_exact_sum_sign(&sum);
}

/* The same, from doubles where their error cannot change the sign: each product of differences is
 * off by at most 4 units, each of the n additions by one more, and underflow by the last term of
 * the bound. */
static int area_sign(const corner *corners, uint32_t count) {
    spot a = corners[0].p;
    double area = 0.0, size = 0.0, n = (double)count;
    for (uint32_t i = 2; i < count; ++i) {
        spot b = corners[i - 1].p, c = corners[i].p;
        double left = (b.x - a.x) * (c.y - a.y), right = (b.y - a.y) * (c.x - a.x);
        area += left - right;
        size += fabs(left) + fabs(right);
    }
    double bound = (n + AREA_UNITS) * AREA_UNIT * size + n * AREA_UNDERFLOW;
    if (area > bound) return 1;
    if (area < -bound) return -1;
    return exact_area_sign(corners, count);
}

/* The normal from corner positions relative to the first, scaled by a power of two to below 1. */
static carom_vec3 mesh_triangulate_normal_of(const carom_mesh_view *view, uint64_t begin,
                                             uint64_t end) {
    double largest = 0.0;
    for (uint64_t i = begin; i < end; ++i) {
        carom_vec3 p = carom_mesh_position(view, view->corners[i]);
        largest = CAROM_MAX(fabs(p.x), largest);
        largest = CAROM_MAX(fabs(p.y), largest);
        largest = CAROM_MAX(fabs(p.z), largest);
    }
    int power;
    (void)frexp(largest, &power);
    double shrink = ldexp(1.0, -CAROM_MAX(power, AREA_POWER_LEAST));
    carom_vec3 a = carom_vec_scale(carom_mesh_position(view, view->corners[begin]), shrink);
    carom_vec3 normal = carom_vec(0.0, 0.0, 0.0), u = normal;
    for (uint64_t i = begin + 1; i < end; ++i) {
        carom_vec3 p = carom_vec_scale(carom_mesh_position(view, view->corners[i]), shrink);
        carom_vec3 v = carom_vec_sub(p, a);
        normal = carom_vec_add(normal, carom_vec_cross(u, v));
        u = v;
    }
    return normal;
}

static void swap_axes(corner *corners, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        double x = corners[i].p.x;
        corners[i].p.x = corners[i].p.y;
        corners[i].p.y = x;
    }
}

/* Fills the corners so that the polygon runs counter-clockwise in the projection. */
static void look_along_normal(polygon *polygon, const carom_mesh_view *view, uint64_t begin,
                              uint64_t end) {
    carom_vec3 n = mesh_triangulate_normal_of(view, begin, end);
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    corner *corners = polygon->corners;
    for (uint64_t i = begin; i < end; ++i) {
        carom_vec3 p = carom_mesh_position(view, view->corners[i]);
        corner c = {.vertex = view->corners[i]};
        if (z >= x && z >= y)
            c.p = (spot){p.x, p.y};
        else if (y >= x)
            c.p = (spot){p.z, p.x};
        else
            c.p = (spot){p.y, p.z};
        corners[i - begin] = c;
    }
    if (area_sign(corners, polygon->count) < 0) swap_axes(corners, polygon->count);
}

/* ---- Blocking corners ------------------------------------------------------------------------ */

static int mesh_triangulate_turn(spot a, spot b, spot c) {
    return carom_orient2d(a.x, a.y, b.x, b.y, c.x, c.y);
}

static int turn_at(const polygon *polygon, uint32_t i) {
    const corner *c = polygon->corners;
    return mesh_triangulate_turn(c[c[i].before].p, c[i].p, c[c[i].after].p);
}

static void enter_way(polygon *polygon, uint32_t i) {
    corner *c = polygon->corners;
    c[i].in_way = true;
    c[i].previous = NOBODY;
    c[i].next = polygon->in_way;
    if (polygon->in_way != NOBODY) c[polygon->in_way].previous = i;
    polygon->in_way = i;
}

static void leave_way(polygon *polygon, uint32_t i) {
    corner *c = polygon->corners;
    if (!c[i].in_way) return;
    c[i].in_way = false;
    if (c[i].next != NOBODY) c[c[i].next].previous = c[i].previous;
    if (c[i].previous != NOBODY)
        c[c[i].previous].next = c[i].next;
    else
        polygon->in_way = c[i].next;
}

static bool mesh_triangulate_are_equal(spot a, spot b) {
    return a.x == b.x && a.y == b.y;
}

/* Corners equal to one of the ear's occur where a bridge to a hole is traversed twice; they do not
 * block. */
static bool is_ear(const polygon *polygon, uint32_t i) {
    const corner *c = polygon->corners;
    if (turn_at(polygon, i) <= 0) return false;
    spot p = c[c[i].before].p, q = c[i].p, r = c[c[i].after].p;
    double low_x = CAROM_MIN(p.x, CAROM_MIN(q.x, r.x)),
           high_x = CAROM_MAX(p.x, CAROM_MAX(q.x, r.x));
    double low_y = CAROM_MIN(p.y, CAROM_MIN(q.y, r.y)),
           high_y = CAROM_MAX(p.y, CAROM_MAX(q.y, r.y));
    for (uint32_t k = polygon->in_way; k != NOBODY; k = c[k].next) {
        spot s = c[k].p;
        if (s.x < low_x || s.x > high_x || s.y < low_y || s.y > high_y) continue;
        if (k == c[i].before || k == c[i].after) continue;
        if (mesh_triangulate_are_equal(s, p) || mesh_triangulate_are_equal(s, q) ||
            mesh_triangulate_are_equal(s, r))
            continue;
        if (mesh_triangulate_turn(p, q, s) >= 0 && mesh_triangulate_turn(q, r, s) >= 0 &&
            mesh_triangulate_turn(r, p, s) >= 0)
            return false;
    }
    return true;
}

/* ---- Queue of ears --------------------------------------------------------------------------- */

static void enqueue(polygon *polygon, uint32_t i) {
    uint32_t size = polygon->count;
    if (polygon->corners[i].queued) return;
    polygon->corners[i].queued = true;
    uint32_t end = polygon->queue_begin + polygon->queue_count++;
    polygon->queue[end < size ? end : end - size] = i;
}

static uint32_t dequeue(polygon *polygon) {
    uint32_t i = polygon->queue[polygon->queue_begin];
    polygon->queue_begin = polygon->queue_begin + 1 < polygon->count ? polygon->queue_begin + 1 : 0;
    --polygon->queue_count;
    polygon->corners[i].queued = false;
    return i;
}

static uint32_t *put_triangle(uint32_t *to, const polygon *polygon, uint32_t a, uint32_t b,
                              uint32_t c) {
    to[0] = polygon->corners[a].vertex;
    to[1] = polygon->corners[b].vertex;
    to[2] = polygon->corners[c].vertex;
    return to + 3;
}

static uint32_t *mesh_triangulate_cut(polygon *polygon, uint32_t i, uint32_t *to) {
    corner *c = polygon->corners;
    uint32_t before = c[i].before, after = c[i].after;
    to = put_triangle(to, polygon, before, i, after);
    c[before].after = after;
    c[after].before = before;
    c[i].cut = true;
    leave_way(polygon, i);
    --polygon->left;
    if (turn_at(polygon, before) > 0) leave_way(polygon, before);
    if (turn_at(polygon, after) > 0) leave_way(polygon, after);
    enqueue(polygon, before);
    enqueue(polygon, after);
    return to;
}

/* Writes count - 2 triangles, fewer when cancelled. */
static void cut_ears(carom_context *context, uint32_t worker, polygon *polygon, uint32_t *to) {
    uint32_t count = polygon->count, any = 0, looked_at = 0;
    polygon->left = count;
    polygon->in_way = NOBODY;
    polygon->queue_begin = polygon->queue_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        polygon->corners[i].before = i > 0 ? i - 1 : count - 1;
        polygon->corners[i].after = i + 1 < count ? i + 1 : 0;
    }
    for (uint32_t i = count; i-- > 0;)
        if (turn_at(polygon, i) <= 0) enter_way(polygon, i);
    /* Every other corner first; otherwise the first cuts would all share one. */
    for (uint32_t i = 1; i < count; i += 2) enqueue(polygon, i);
    for (uint32_t i = 0; i < count; i += 2) enqueue(polygon, i);
    while (polygon->left > 3 && polygon->queue_count != 0) {
        uint32_t i = dequeue(polygon);
        if (!polygon->corners[i].cut && is_ear(polygon, i))
            to = mesh_triangulate_cut(polygon, i, to);
        if (++looked_at % EARS_BETWEEN_LOOKS != 0) continue;
        carom_progress_add(context, worker, 0);
        if (carom_progress_cancelled(context)) return;
    }
    while (polygon->corners[any].cut) ++any;
    for (uint32_t b = polygon->corners[any].after; polygon->left > 2; --polygon->left) {
        uint32_t c = polygon->corners[b].after;
        to = put_triangle(to, polygon, any, b, c);
        b = c;
    }
}

/* ---- Faces ----------------------------------------------------------------------------------- */

static void split_fan(const uint32_t *corners, uint64_t count, uint32_t *to) {
    for (uint64_t i = 2; i < count; ++i, to += 3) {
        to[0] = corners[0];
        to[1] = corners[i - 1];
        to[2] = corners[i];
    }
}

static carom_status split_face(triangulation *t, uint64_t begin, uint64_t end, uint32_t worker,
                               uint32_t *to) {
    uint64_t count = end - begin;
    if (t->fan || count == 3) {
        split_fan(t->view->corners + begin, count, to);
        return CAROM_OK;
    }
    carom_arena *scratch = carom_scratch(t->context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    polygon polygon = {.count = (uint32_t)count};
    polygon.corners = CAROM_ARENA_TAKE(scratch, corner, count);
    polygon.queue = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    bool space = polygon.corners != NULL && polygon.queue != NULL;
    if (space) {
        look_along_normal(&polygon, t->view, begin, end);
        cut_ears(t->context, worker, &polygon, to);
    }
    carom_arena_rewind(scratch, mark);
    return space ? CAROM_OK : CAROM_NO_MEMORY;
}

static carom_status split_faces(void *argument, carom_range range) {
    triangulation *t = argument;
    uint64_t done = 0;
    for (uint64_t f = range.begin; f < range.end; ++f) {
        uint64_t begin = carom_mesh_offset(t->view, f), end = carom_mesh_offset(t->view, f + 1);
        uint64_t first = begin - 2 * f,
                 count = end - begin - 2; /* triangles before, of this face */
        CAROM_TRY(split_face(t, begin, end, range.worker, t->mesh->corners + 3 * first));
        for (uint64_t i = first; i < first + count && i < t->face_room; ++i)
            t->faces[i] = (uint32_t)f;
        for (uint64_t i = first; i < first + count && t->view->parts != NULL; ++i)
            t->mesh->parts[i] = t->view->parts[f];
        done += count;
    }
    carom_progress_add(t->context, range.worker, done);
    return CAROM_OK;
}

static carom_status mesh_triangulate_all(triangulation *t, carom_numbers *faces) {
    const carom_mesh_view *view = t->view;
    uint64_t triangles = t->mesh->face_count;
    if (faces != NULL) {
        CAROM_TRY(carom_numbers_begin(t->context, &t->context->allocator, faces, triangles,
                                      &t->face_room));
        t->faces = faces->data;
    }
    uint64_t size = 3 * carom_scalar_size(view->scalar), stride = carom_mesh_stride(view);
    for (uint64_t i = 0; i < view->vertex_count; ++i)
        memcpy((char *)t->mesh->positions + i * size, (const char *)view->positions + i * stride,
               size);
    carom_progress_begin(t->context, "splitting polygons", triangles);
    carom_status status = carom_parallel_for(
        t->context, view->face_count,
        carom_grain(t->context, view->face_count, MESH_TRIANGULATE_FACES_PER_RANGE), split_faces,
        t);
    carom_status ended = carom_progress_end(t->context);
    return status == CAROM_OK ? ended : status;
}

/* Each triangle has the properties of its face. */
static bool mesh_triangulate_copy_properties(triangulation *t) {
    if (t->view->property_count == 0) return true;
    carom_arena *scratch = carom_scratch(t->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *face_from = CAROM_ARENA_TAKE(scratch, uint32_t, t->mesh->face_count), *to = face_from;
    for (uint64_t f = 0; f < t->view->face_count && face_from != NULL; ++f) {
        uint64_t count = carom_mesh_offset(t->view, f + 1) - carom_mesh_offset(t->view, f) - 2;
        for (; count > 0; --count) *to++ = (uint32_t)f;
    }
    bool copied =
        face_from != NULL && carom_mesh_copy_properties(t->mesh, t->view, NULL, face_from);
    carom_arena_rewind(scratch, mark);
    return copied;
}

carom_status carom_mesh_triangulate(carom_context *context, const carom_mesh_view *view,
                                    const carom_mesh_triangulate_def *def, carom_mesh **mesh,
                                    carom_numbers *faces) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    if (faces != NULL) CAROM_REQUIRE_RESULT(faces, "faces");
    *mesh = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    CAROM_TRY(carom_mesh_check_numbers(context, view, "triangulated"));
    uint64_t triangles = carom_mesh_corner_count(view) - 2 * view->face_count;
    carom_mesh_allocation space = {.scalar = view->scalar,
                                   .vertices = view->vertex_count,
                                   .faces = triangles,
                                   .corners = 3 * triangles,
                                   .parts = view->parts != NULL};
    triangulation t = {.context = context, .view = view, .fan = def != NULL && def->fan};
    CAROM_TRY(carom_mesh_reserve(context, &space, &t.mesh));
    carom_status status =
        carom_mesh_copy_names(t.mesh, view) && mesh_triangulate_copy_properties(&t)
            ? mesh_triangulate_all(&t, faces)
            : carom_fail_memory(context, 32 * view->part_count + 8 * triangles,
                                "parts and properties");
    if (status != CAROM_OK) {
        carom_mesh_destroy(t.mesh);
        return status;
    }
    *mesh = t.mesh;
    return faces != NULL ? carom_numbers_end(faces) : CAROM_OK;
}
