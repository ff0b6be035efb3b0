/* SPDX-License-Identifier: MIT */
/* The surface of the solid that is packed: its frame, distances from it, inside and outside.
 *
 * Vertices are welded, polygons split, and a mesh that is inside out is reversed. All triangles
 * count for distances, those without area and those between winding numbers 1 and 2 as well: a
 * ball that meets none of them has one winding number throughout. */
#include "spheres/spheres_mesh.h"

#include "base/assert.h"
#include "base/progress.h"
#include "base/worker_state.h"
#include "bvh/bvh_cpu.h"
#include "bvh/bvh_nearest_cpu.h"
#include "geom/distance_item.h"
#include "geom/triangle_item.h"
#include "mesh/mesh.h"

#define MESH_BLOCKS_PER_RANGE 256u /* of corners, 300 KB: some tenths of a millisecond */

/* ---- Frame ----------------------------------------------------------------------------------- */

/* Along an axis: beyond four times the size from 0, x and a round number beside it differ by a
 * factor below 2, so that their difference is exact (Sterbenz). */
#define CAROM_SPHERES_ORIGIN_RATIO 4.0 /* of the longest side */

/* Longest sides, in the caller's units. Between these 2^-100 of the side is above the least double,
 * and its cube in range. */
#define SMALLEST_SIZE 0x1p-300
#define LARGEST_SIZE  0x1p300

/* In the frame, where the longest side is 1/2 to 1: origins are multiples of it. */
#define ORIGIN_STEP 0x1p-3

static carom_status spheres_mesh_make_frame(carom_context *context, const carom_bounds *bounds,
                                            carom_spheres_mesh *mesh) {
    const double low[3] = {bounds->low.x, bounds->low.y, bounds->low.z};
    const double high[3] = {bounds->high.x, bounds->high.y, bounds->high.z};
    double size = 0.0, farthest = 0.0, origin[3];
    for (int k = 0; k < 3; ++k) size = CAROM_MAX(high[k] - low[k], size);
    if (!(size >= SMALLEST_SIZE && size <= LARGEST_SIZE))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the mesh is %g wide: scale it to between 2^-300 and 2^300", size);
    mesh->shift = -1 - carom_exponent(size);
    double scale = carom_power_of_two(mesh->shift), step = ORIGIN_STEP / scale;
    double coarsest = 0.0;
    for (int k = 0; k < 3; ++k) {
        double most = CAROM_MAX(fabs(low[k]), fabs(high[k]));
        origin[k] = most <= CAROM_SPHERES_ORIGIN_RATIO * size
                        ? 0.0
                        : carom_spheres_round(0.5 * low[k] + 0.5 * high[k], step);
        double away = CAROM_MAX(fabs(low[k] - origin[k]), fabs(high[k] - origin[k])) * scale;
        farthest = CAROM_MAX(away, farthest);
        /* The distance of doubles near the origin: centres cannot be finer. */
        double ulp = carom_power_of_two(carom_exponent(2.0 * most) - 52) * scale;
        if (origin[k] != 0.0) coarsest = CAROM_MAX(ulp, coarsest);
    }
    mesh->origin = carom_vec(origin[0], origin[1], origin[2]);
    double unit = carom_power_of_two(carom_exponent(farthest) + 1 - 24);
    mesh->unit = CAROM_MAX(unit, coarsest);
    CAROM_ASSERT(farthest < CAROM_SPHERES_FRAME_SIZE);
    CAROM_ASSERT(size * scale >= 0.5 && size * scale < 1.0);
    for (int k = 0; k < 3; ++k) /* into the frame and back again is exact */
        CAROM_ASSERT((low[k] - origin[k]) * scale / scale + origin[k] == low[k] &&
                     (high[k] - origin[k]) * scale / scale + origin[k] == high[k]);
    return CAROM_OK;
}

static carom_vec3 spheres_mesh_to_frame(const carom_spheres_mesh *mesh, carom_vec3 x) {
    return carom_vec_scale(carom_vec_sub(x, mesh->origin), carom_power_of_two(mesh->shift));
}

carom_vec3 carom_spheres_mesh_round(const carom_spheres_mesh *mesh, carom_vec3 point) {
    return carom_vec(carom_spheres_round(point.x, mesh->unit),
                     carom_spheres_round(point.y, mesh->unit),
                     carom_spheres_round(point.z, mesh->unit));
}

carom_vec3 carom_spheres_mesh_restore(const carom_spheres_mesh *mesh, carom_vec3 centre) {
    return carom_vec_add(carom_vec_scale(centre, carom_power_of_two(-mesh->shift)), mesh->origin);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static carom_status spheres_mesh_check_closed(carom_context *context,
                                              const carom_mesh_report *report, bool allow_open) {
    if (report->faces == 0)
        return carom_fail(context, CAROM_BAD_INPUT, "the mesh has no face: nothing can be packed");
    if (!report->balanced && !allow_open) {
        const uint32_t *edge =
            report->open_edges != 0 ? report->first_open_edge : report->first_inconsistent_edge;
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "the mesh is not closed: %llu open edges and %llu inconsistent ones, the first "
            "from vertex %llu to %llu (after welding); close it (carom close), or set allow_open",
            (unsigned long long)report->open_edges, (unsigned long long)report->inconsistent_edges,
            (unsigned long long)edge[0], (unsigned long long)edge[1]);
    }
    if (report->balanced && report->volume == 0.0)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the mesh encloses no volume: nothing can be packed");
    return CAROM_OK;
}

typedef struct spheres_mesh_loading {
    carom_spheres_mesh *mesh;
    carom_mesh_view view; /* welded triangles */
} spheres_mesh_loading;

static carom_triangle item_triangle(const spheres_mesh_loading *l, uint32_t item) {
    carom_triangle t;
    const uint32_t *corners = l->view.corners + 3 * (uint64_t)item;
    for (int i = 0; i < 3; ++i) {
        int to = i > 0 && l->mesh->inside_out ? 3 - i : i;
        t.corner[to] = spheres_mesh_to_frame(l->mesh, carom_mesh_position(&l->view, corners[i]));
    }
    return t;
}

static void spheres_mesh_boxes_of(const void *user, const uint32_t *items, uint32_t first,
                                  uint32_t count, carom_box *boxes) {
    const carom_vec3 zero = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < count; ++i) {
        carom_triangle t = item_triangle(user, items != NULL ? items[i] : first + i);
        boxes[i] = carom_box_of_triangle(&t, zero);
    }
}

static carom_status spheres_mesh_copy_corners(void *argument, carom_range range) {
    const spheres_mesh_loading *l = argument;
    const carom_bvh *bvh = &l->mesh->bvh;
    for (uint64_t block = range.begin; block < range.end; ++block) {
        carom_bvh_corners *to = &l->mesh->corners[block];
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            uint64_t slot = block * CAROM_BVH_WIDTH + lane;
            bool some = slot < bvh->item_count;
            carom_triangle t = item_triangle(l, bvh->items[some ? slot : 0]);
            for (int i = 0; i < 3; ++i) {
                carom_vec3 p = t.corner[some ? i : 0];
                CAROM_ASSERT(carom_spheres_mesh_bounds(l->mesh, p));
                to->row[3 * i][lane] = p.x;
                to->row[3 * i + 1][lane] = p.y;
                to->row[3 * i + 2][lane] = p.z;
            }
        }
    }
    return CAROM_OK;
}

carom_triangle carom_spheres_mesh_triangle(const carom_spheres_mesh *mesh, uint32_t slot) {
    const carom_bvh_corners *from = &mesh->corners[slot / CAROM_BVH_WIDTH];
    uint32_t lane = slot % CAROM_BVH_WIDTH;
    carom_triangle t;
    for (int i = 0; i < 3; ++i)
        t.corner[i] = carom_vec(from->row[3 * i][lane], from->row[3 * i + 1][lane],
                                from->row[3 * i + 2][lane]);
    return t;
}

static bool spheres_mesh_triangle_of(const void *user, uint32_t slot, carom_triangle *triangle) {
    *triangle = carom_spheres_mesh_triangle(user, slot);
    const carom_vec3 *p = triangle->corner;
    carom_vec3 n = carom_vec_cross(carom_vec_sub(p[1], p[0]), carom_vec_sub(p[2], p[0]));
    return n.x != 0.0 || n.y != 0.0 || n.z != 0.0;
}

/* ---- Faces that cross ------------------------------------------------------------------------ */

typedef struct crossing_search {
    carom_spheres_mesh *mesh;
    carom_worker_states states;
} crossing_search;

/* Whether two triangles meet other than in corners that they share. */
static bool spheres_mesh_cross(const carom_triangle *a, const carom_triangle *b) {
    int common = 0, at_a = 0, at_b = 0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            if (carom_vec_compare(a->corner[i], b->corner[k]) == 0) {
                ++common;
                at_a = i;
                at_b = k;
            }
    if (common == 0) return carom_triangle_meet(a, b);
    if (common > 1) return false;
    carom_vec3 p = a->corner[(at_a + 1) % 3], q = a->corner[(at_a + 2) % 3];
    carom_vec3 r = b->corner[(at_b + 1) % 3], s = b->corner[(at_b + 2) % 3];
    carom_triangle edge_a = {{p, q, q}}, edge_b = {{r, s, s}};
    return carom_triangle_meet(&edge_a, b) || carom_triangle_meet(&edge_b, a);
}

bool carom_spheres_mesh_cross(const carom_spheres_mesh *mesh, uint32_t slot_a, uint32_t slot_b) {
    carom_triangle a = carom_spheres_mesh_triangle(mesh, slot_a);
    carom_triangle b = carom_spheres_mesh_triangle(mesh, slot_b);
    const carom_vec3 *p = a.corner, *q = b.corner;
    bool coplanar = carom_orient3d(p[0], p[1], p[2], q[0]) == 0 &&
                    carom_orient3d(p[0], p[1], p[2], q[1]) == 0 &&
                    carom_orient3d(p[0], p[1], p[2], q[2]) == 0;
    return !coplanar && spheres_mesh_cross(&a, &b);
}

static bool test_found(carom_bvh_found *found) {
    const carom_spheres_mesh *mesh = found->user;
    for (uint32_t i = 0; i < found->count; ++i) {
        carom_triangle a = carom_spheres_mesh_triangle(mesh, found->a[i]);
        carom_triangle b = carom_spheres_mesh_triangle(mesh, found->b[i]);
        if (!spheres_mesh_cross(&a, &b)) continue;
        atomic_store_explicit(&mesh->crosses[found->a[i]], 1, memory_order_relaxed);
        atomic_store_explicit(&mesh->crosses[found->b[i]], 1, memory_order_relaxed);
    }
    found->count = 0;
    return !carom_progress_cancelled(mesh->context);
}

static bool begin_found(void *user, void *state, uint32_t worker) {
    carom_bvh_found *found = state;
    (void)worker;
    found->count = 0;
    found->visits = 0;
    found->flush = test_found;
    found->user = user;
    return true;
}

static carom_status spheres_mesh_search_nodes(void *argument, carom_range range) {
    crossing_search *c = argument;
    carom_bvh_found *found = carom_worker_state(&c->states, range.worker);
    if (found == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        if (!CAROM_CPU_CALL(c->mesh->context, carom_bvh_self_node)(&c->mesh->bvh, (uint32_t)i,
                                                                   found) ||
            !test_found(found))
            return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* Finds the faces that cross others: there winding numbers may differ from 0 and 1. */
static carom_status spheres_mesh_find_crossing(carom_context *context, carom_spheres_mesh *mesh) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t slots = (uint64_t)mesh->bvh.node_count[0] * CAROM_BVH_WIDTH;
    mesh->crosses = CAROM_ARENA_TAKE(scratch, _Atomic uint8_t, slots);
    if (mesh->crosses == NULL) return carom_fail_memory(context, slots, "faces that cross");
    for (uint64_t i = 0; i < slots; ++i) atomic_init(&mesh->crosses[i], 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    crossing_search c = {.mesh = mesh};
    carom_status status =
        carom_worker_states_begin(&c.states, context, sizeof(carom_bvh_found), begin_found, mesh);
    if (status == CAROM_OK) {
        status = carom_parallel_for(context, carom_bvh_self_nodes(&mesh->bvh), 1,
                                    spheres_mesh_search_nodes, &c);
        carom_worker_states_release(&c.states);
    }
    carom_arena_rewind(scratch, mark);
    for (uint64_t i = 0; i < slots && mesh->plain; ++i) mesh->plain = mesh->crosses[i] == 0;
    return status;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Slots have 31 bits: pack_octree.c uses one more. */
#define PACK_MESH_MOST_TRIANGLES (UINT32_C(1) << 30)

static carom_status spheres_mesh_load(carom_context *context, carom_mesh *triangles,
                                      const carom_numbers *faces, carom_spheres_mesh *mesh) {
    carom_arena *scratch = carom_scratch(context, 0);
    spheres_mesh_loading l = {.mesh = mesh};
    CAROM_TRY(carom_mesh_get_view(triangles, &l.view));
    if (l.view.face_count > PACK_MESH_MOST_TRIANGLES)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu triangles are more than %llu",
                          (unsigned long long)l.view.face_count,
                          (unsigned long long)PACK_MESH_MOST_TRIANGLES);
    /* Of the vertices in use: others may lie anywhere. */
    carom_bounds all = carom_bounds_empty(), *bounds = &all;
    for (uint64_t i = 0; i < 3 * l.view.face_count; ++i)
        carom_bounds_include(bounds, carom_mesh_position(&l.view, l.view.corners[i]));
    CAROM_TRY(spheres_mesh_make_frame(context, bounds, mesh));
    mesh->triangle_count = (uint32_t)l.view.face_count;
    mesh->low = spheres_mesh_to_frame(mesh, bounds->low);
    mesh->high = spheres_mesh_to_frame(mesh, bounds->high);
    carom_box box = carom_box_of_bounds(mesh->low, mesh->high, carom_vec(0.0, 0.0, 0.0));
    CAROM_TRY(carom_bvh_build(context, &context->allocator, &mesh->bvh, mesh->triangle_count, &box,
                              spheres_mesh_boxes_of, &l));
    uint64_t blocks = mesh->bvh.node_count[0];
    mesh->corners = CAROM_ARENA_TAKE(scratch, carom_bvh_corners, blocks);
    mesh->faces = CAROM_ARENA_TAKE(scratch, uint32_t, blocks * CAROM_BVH_WIDTH);
    if (mesh->corners == NULL || mesh->faces == NULL)
        return carom_fail_memory(context, blocks * sizeof(*mesh->corners), "a mesh to pack");
    for (uint32_t i = 0; i < mesh->triangle_count; ++i)
        mesh->faces[i] = faces->data[mesh->bvh.items[i]];
    CAROM_TRY(
        carom_parallel_for(context, blocks, MESH_BLOCKS_PER_RANGE, spheres_mesh_copy_corners, &l));
    mesh->view =
        (carom_bvh_faces){&mesh->bvh, 1.0, {0.0, 0.0, 0.0}, spheres_mesh_triangle_of, mesh};
    return mesh->balanced ? spheres_mesh_find_crossing(context, mesh)
                          : carom_bvh_field_make(context, scratch, &mesh->view, &mesh->field);
}

carom_status carom_spheres_mesh_make(carom_context *context, const carom_mesh_view *view,
                                     bool allow_open, carom_spheres_mesh *mesh) {
    carom_mesh *welded = NULL, *triangles = NULL;
    carom_numbers faces = {0};
    carom_mesh_report report;
    *mesh = (carom_spheres_mesh){.context = context};
    carom_status status = carom_mesh_weld(context, view, &welded);
    carom_mesh_view whole;
    if (status == CAROM_OK) status = carom_mesh_get_view(welded, &whole);
    if (status == CAROM_OK) status = carom_mesh_inspect(context, &whole, &report);
    if (status == CAROM_OK) status = spheres_mesh_check_closed(context, &report, allow_open);
    if (status == CAROM_OK)
        status = carom_mesh_triangulate(context, &whole, NULL, &triangles, &faces);
    if (status == CAROM_OK) {
        mesh->balanced = report.balanced;
        mesh->plain =
            report.shells == 1 && report.nonmanifold_edges == 0 && report.duplicate_faces == 0;
        mesh->inside_out = report.balanced && report.volume < 0.0;
        status = spheres_mesh_load(context, triangles, &faces, mesh);
        mesh->report_volume = fabs(report.volume);
    }
    carom_numbers_free(&faces);
    carom_mesh_destroy(triangles);
    carom_mesh_destroy(welded);
    return status;
}

void carom_spheres_mesh_free(carom_spheres_mesh *mesh) {
    if (mesh->context != NULL) carom_bvh_free(&mesh->bvh, &mesh->context->allocator);
}

/* ---- Distances ------------------------------------------------------------------------------- */

static carom_bvh_point point_of(carom_vec3 p) {
    return (carom_bvh_point){{p.x, p.y, p.z}, CAROM_SPHERES_FRAME_SIZE * CAROM_BVH_QUERY_MARGIN};
}

#define NO_SLOT UINT32_MAX

typedef struct spheres_mesh_search {
    const carom_spheres_mesh *mesh;
    double at[3];
    double spread, limit; /* limit: how far obstacles are of interest */
    carom_spheres_near *near;
    carom_spheres_hit hit;
    uint32_t slots[CAROM_SPHERES_DIRECTIONS]; /* in `near`, of each direction */
} spheres_mesh_search;

/* Measures some triangles of a block, if they are not those measured last. */
static const carom_spheres_block *spheres_mesh_block(const carom_spheres_mesh *mesh,
                                                     carom_spheres_near *near, const double at[3],
                                                     uint32_t index, uint32_t lanes) {
    carom_spheres_block *b = &near->block;
    if (b->index != index || memcmp(b->at, at, sizeof(b->at)) != 0) {
        b->index = index;
        memcpy(b->at, at, sizeof(b->at));
        b->lanes = 0;
    }
    lanes &= ~b->lanes;
    if (lanes != 0) CAROM_CPU_CALL(mesh->context, carom_spheres_feet)
    (&mesh->corners[index], at, lanes, b->squares, b->feet);
    b->lanes |= lanes;
    return b;
}

static double spheres_mesh_search_block(void *user, uint32_t block, uint32_t lanes) {
    spheres_mesh_search *s = user;
    carom_spheres_near *n = s->near;
    const carom_spheres_block *b = spheres_mesh_block(s->mesh, n, s->at, block, lanes);
    const double *squares = b->squares;
    const double(*feet)[CAROM_BVH_WIDTH] = b->feet;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (squares[lane] > s->limit * s->limit) continue;
        double apart = sqrt(squares[lane]);
        if (apart < s->hit.distance) {
            s->hit = (carom_spheres_hit){apart, block * CAROM_BVH_WIDTH + lane};
            s->limit = CAROM_MIN(apart + s->spread, s->limit);
            n->least = CAROM_MIN(apart, n->least);
        }
        uint32_t direction = carom_spheres_direction(
            feet[0][lane] - s->at[0], feet[1][lane] - s->at[1], feet[2][lane] - s->at[2]);
        uint32_t i = s->slots[direction];
        if (i == NO_SLOT) {
            if (n->count == CAROM_SPHERES_NEAR) continue;
            i = s->slots[direction] = n->count++;
        } else if (n->apart[i] <= apart) {
            continue;
        }
        n->x[i] = feet[0][lane];
        n->y[i] = feet[1][lane];
        n->z[i] = feet[2][lane];
        n->radius[i] = 0.0;
        n->apart[i] = apart;
    }
    return s->limit;
}

static spheres_mesh_search spheres_mesh_search_of(const carom_spheres_mesh *mesh, carom_vec3 point,
                                                  double limit, double spread,
                                                  carom_spheres_near *near) {
    spheres_mesh_search s = {.mesh = mesh,
                             .at = {point.x, point.y, point.z},
                             .spread = spread,
                             .limit = limit,
                             .near = near,
                             .hit = {HUGE_VAL, CAROM_BVH_NONE}};
    memset(s.slots, 0xFF, sizeof(s.slots));
    return s;
}

carom_spheres_hit carom_spheres_mesh_search(const carom_spheres_mesh *mesh, carom_vec3 point,
                                            uint32_t seed, double limit, double spread,
                                            carom_spheres_near *near) {
    spheres_mesh_search s = spheres_mesh_search_of(mesh, point, limit, spread, near);
    if (seed != CAROM_BVH_NONE) { /* only to lower the limit: the search finds it again */
        uint32_t lane = seed % CAROM_BVH_WIDTH;
        const carom_spheres_block *b =
            spheres_mesh_block(mesh, near, s.at, seed / CAROM_BVH_WIDTH, 1u << lane);
        double apart = sqrt(b->squares[lane]) + spread + CAROM_SPHERES_ERROR;
        s.limit = CAROM_MIN(apart, s.limit);
    }
    carom_bvh_point at = point_of(point);
    CAROM_CPU_CALL(mesh->context, carom_bvh_nearest)
    (&mesh->bvh, &at, s.limit, spheres_mesh_search_block, &s);
    CAROM_ASSERT(s.hit.distance >= near->least && near->count <= CAROM_SPHERES_NEAR);
    return s.hit;
}

void carom_spheres_mesh_look(const carom_spheres_mesh *mesh, carom_vec3 point, uint32_t slot,
                             double limit, double spread, carom_spheres_near *near) {
    spheres_mesh_search s = spheres_mesh_search_of(mesh, point, limit, spread, near);
    (void)spheres_mesh_search_block(&s, slot / CAROM_BVH_WIDTH, (1u << CAROM_BVH_WIDTH) - 1);
}

typedef struct spheres_mesh_measure {
    const carom_spheres_mesh *mesh;
    carom_vec3 point;
    carom_spheres_hit hit;
} spheres_mesh_measure;

/* How far the distances of carom_spheres_feet may be off, in the frame: for a needle by 2^-20 of an
 * edge, which is at most 1.7, else by far less; times eight. */
#define SPHERES_MESH_FEET_ERROR 0x1p-16

/* The lanes of a set whose triangles may be the nearest: others are left out, as they are farther
 * than one that was measured or than another of the block. */
static uint32_t nearest_lanes(const spheres_mesh_measure *m, uint32_t block, uint32_t lanes) {
    const double at[3] = {m->point.x, m->point.y, m->point.z};
    double squares[CAROM_BVH_WIDTH], feet[3][CAROM_BVH_WIDTH], least = HUGE_VAL;
    CAROM_CPU_CALL(m->mesh->context, carom_spheres_feet)
    (&m->mesh->corners[block], at, lanes, squares, feet);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        least = CAROM_MIN(squares[carom_bvh_lowest_lane(rest)], least);
    double limit = CAROM_MIN(sqrt(least), m->hit.distance) + SPHERES_MESH_FEET_ERROR;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = carom_bvh_lowest_lane(rest);
        if (squares[lane] > limit * limit) lanes &= ~(1u << lane);
    }
    return lanes;
}

static double measure_block(void *user, uint32_t block, uint32_t lanes) {
    spheres_mesh_measure *m = user;
    for (lanes = nearest_lanes(m, block, lanes); lanes != 0; lanes &= lanes - 1) {
        uint32_t slot = block * CAROM_BVH_WIDTH + carom_bvh_lowest_lane(lanes);
        carom_triangle t = carom_spheres_mesh_triangle(m->mesh, slot);
        carom_closest closest;
        carom_near_point_triangle(m->point, t.corner, &closest);
        if (closest.distance < m->hit.distance)
            m->hit = (carom_spheres_hit){closest.distance, slot};
    }
    return m->hit.distance;
}

carom_spheres_hit carom_spheres_mesh_distance(const carom_spheres_mesh *mesh, carom_vec3 point,
                                              uint32_t seed) {
    spheres_mesh_measure m = {mesh, point, {HUGE_VAL, CAROM_BVH_NONE}};
    if (seed != CAROM_BVH_NONE)
        (void)measure_block(&m, seed / CAROM_BVH_WIDTH, 1u << seed % CAROM_BVH_WIDTH);
    carom_bvh_point at = point_of(point);
    CAROM_CPU_CALL(mesh->context, carom_bvh_nearest)
    (&mesh->bvh, &at, m.hit.distance, measure_block, &m);
    CAROM_ASSERT(m.hit.distance >= 0.0 && m.hit.slot < mesh->triangle_count);
    return m.hit;
}

bool carom_spheres_mesh_inside(const carom_spheres_mesh *mesh, carom_vec3 point,
                               carom_bvh_found *found) {
    int32_t winding;
    if (mesh->balanced)
        return carom_bvh_winding(mesh->context, &mesh->view, point, found, &winding) &&
               winding >= 1;
    return carom_bvh_winding_fraction(mesh->context, &mesh->view, &mesh->field, point) >= 0.5;
}

/* A generalised winding number. Above a disc that is missing from a closed surface, t radii below
 * its middle, it is 1 - (1 - t / sqrt(1 + t^2)) / 2, which is this for t = 0.58: points that are
 * nearer to a hole do not count. */
#define MESH_SURE_WINDING 0.75

bool carom_spheres_mesh_surely_inside(const carom_spheres_mesh *mesh, carom_vec3 point,
                                      carom_bvh_found *found) {
    if (mesh->balanced) return carom_spheres_mesh_inside(mesh, point, found);
    return carom_bvh_winding_fraction(mesh->context, &mesh->view, &mesh->field, point) >=
           MESH_SURE_WINDING;
}
