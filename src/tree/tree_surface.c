/* SPDX-License-Identifier: MIT */
/* The surface of a tree's solid: its triangles, ordered by median splits, and a cylinder around
 * each run of 1, 16, 256 ... of them. The axis is the sum of the triangles' normals, weighted by
 * area; radius and height enclose all corners, measured against the float32 centre and axis. */
#include "tree/tree_surface.h"

#include <float.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/context.h"
#include "base/progress.h"
#include "geom/box.h"
#include "geom/distance_item.h"
#include "geom/length.h"
#include "geom/orient.h"
#include "mesh/mesh.h"
#include "tree/tree.h"

/* Coordinates of the surface in the frame, whose spheres reach to 1, at most. Only few spheres in a
 * thin solid can be that far from its ends. */
#define TREE_SURFACE_EXTENT 64.0

/* Radius and height are larger by this part of the radius: searches use the axis as it is rounded
 * to float32, by sqrt(3) 2^-25 of its length. */
#define TREE_AXIS_ERROR 0x1p-21

/* Sums of areas below this, in units of the frame, have no direction. */
#define TREE_SUM_AREA_MIN 0x1p-500

/* A coordinate of a normal below this: crossing it with that axis gives a vector of length 0.7 or
 * more. */
#define TREE_TANGENT_COSINE 0.7

/* Nodes that are fitted between two looks at the progress callback: 16,384 triangles and as many
 * for each level, some milliseconds. */
#define TREE_PROGRESS_NODES 1024u

void carom_tree_surface_shape(carom_tree_surface *surface) {
    uint32_t count = surface->triangle_count;
    surface->level_count = surface->node_count = 0;
    while (count != 0) {
        count = (count - 1) / CAROM_TREE_CYLINDERS + 1;
        surface->level_start[surface->level_count++] = surface->node_count;
        surface->node_count += count;
        if (count == 1) break;
    }
    CAROM_ASSERT(surface->level_count <= CAROM_TREE_SURFACE_LEVELS);
}

uint64_t carom_tree_surface_bytes(const carom_tree_surface *s) {
    return (uint64_t)s->node_count * sizeof(*s->nodes) +
           (uint64_t)s->triangle_count * (6 * sizeof(*s->corners) + sizeof(*s->faces)) +
           (uint64_t)s->vertex_count * (sizeof(*s->vertices) + sizeof(*s->ring_start)) +
           (uint64_t)s->shell_count * CAROM_TREE_EXTREMES * sizeof(*s->extremes);
}

void carom_tree_surface_free(carom_tree_surface *s, const carom_allocator *allocator) {
    CAROM_RELEASE_ALL(allocator, s->nodes, s->vertices, s->corners, s->faces, s->ring_start,
                      s->ring, s->extremes);
    *s = (carom_tree_surface){0};
}

/* ---- Cylinders ------------------------------------------------------------------------------- */

static carom_vec3 tree_surface_to_frame(carom_vec3 x, carom_vec3 origin, double scale) {
    return carom_vec_scale(carom_vec_sub(x, origin), scale);
}

static carom_vec3 tree_surface_area_of(carom_vec3 p, carom_vec3 q, carom_vec3 r) {
    return carom_vec_cross(carom_vec_sub(q, p), carom_vec_sub(r, p));
}

/* Two directions that are orthogonal to n and to each other; all of length 1. */
static void tangents_of(carom_vec3 n, carom_vec3 *u, carom_vec3 *v) {
    carom_vec3 other = fabs(n.x) < TREE_TANGENT_COSINE ? carom_vec(1.0, 0.0, 0.0)
                                                       : carom_vec(0.0, 1.0, 0.0); /* not along n */
    *u = carom_vec_cross(n, other);
    *u = carom_vec_scale(*u, 1.0 / carom_vec_length(*u));
    *v = carom_vec_cross(n, *u);
}

static carom_vec3 lane_centre(const carom_tree_cylinders *node, uint32_t lane) {
    return carom_vec((double)node->x[lane], (double)node->y[lane], (double)node->z[lane]);
}

static carom_vec3 lane_axis(const carom_tree_cylinders *node, uint32_t lane) {
    carom_vec3 n = carom_vec((double)node->axis_x[lane], (double)node->axis_y[lane],
                             (double)node->axis_z[lane]);
    return carom_vec_scale(n, 1.0 / carom_vec_length(n));
}

/* How far a point is from a lane's centre, along the axis and across it. */
static void measure_point(const carom_tree_cylinders *node, uint32_t lane, carom_vec3 point,
                          double *along, double *across) {
    carom_vec3 d = carom_vec_sub(point, lane_centre(node, lane)), n = lane_axis(node, lane);
    double h = carom_vec_dot(d, n);
    *along = fabs(h);
    *across = carom_vec_length(carom_vec_sub(d, carom_vec_scale(n, h)));
}

typedef struct tree_surface_builder {
    carom_context *context;
    carom_tree_surface *surface;
    carom_vec3 origin;
    double scale; /* of the frame */
} tree_surface_builder;

static carom_vec3 tree_surface_corner_of(const tree_surface_builder *b, uint32_t triangle,
                                         int corner) {
    const carom_tree_surface *s = b->surface;
    return tree_surface_to_frame(s->vertices[s->corners[3 * (uint64_t)triangle + (uint32_t)corner]],
                                 b->origin, b->scale);
}

/* Puts the cylinder around a run of triangles into a lane. */
static void fit_lane(const tree_surface_builder *b, uint32_t begin, uint32_t end,
                     carom_tree_cylinders *node, uint32_t lane) {
    carom_vec3 sum = {0.0, 0.0, 0.0};
    for (uint32_t i = begin; i < end; ++i) {
        sum = carom_vec_add(sum, tree_surface_area_of(tree_surface_corner_of(b, i, 0),
                                                      tree_surface_corner_of(b, i, 1),
                                                      tree_surface_corner_of(b, i, 2)));
    }
    double length = carom_vec_length(sum);
    carom_vec3 n =
        length > TREE_SUM_AREA_MIN ? carom_vec_scale(sum, 1.0 / length) : carom_vec(0, 0, 1);
    carom_vec3 axes[3], middle = {0.0, 0.0, 0.0};
    axes[2] = n;
    tangents_of(n, &axes[0], &axes[1]);
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (uint32_t i = begin; i < end; ++i)
        for (int c = 0; c < 3; ++c)
            for (int k = 0; k < 3; ++k) {
                double at = carom_vec_dot(tree_surface_corner_of(b, i, c), axes[k]);
                low[k] = CAROM_MIN(at, low[k]);
                high[k] = CAROM_MAX(at, high[k]);
            }
    for (int k = 0; k < 3; ++k)
        middle = carom_vec_add(middle, carom_vec_scale(axes[k], 0.5 * (low[k] + high[k])));
    node->x[lane] = (float)middle.x;
    node->y[lane] = (float)middle.y;
    node->z[lane] = (float)middle.z;
    node->axis_x[lane] = (float)n.x;
    node->axis_y[lane] = (float)n.y;
    node->axis_z[lane] = (float)n.z;
    double radius = 0.0, height = 0.0;
    for (uint32_t i = begin; i < end; ++i)
        for (int c = 0; c < 3; ++c) {
            double along, across;
            measure_point(node, lane, tree_surface_corner_of(b, i, c), &along, &across);
            height = CAROM_MAX(along, height);
            radius = CAROM_MAX(across, radius);
        }
    node->radius[lane] = carom_float_up(radius * (1.0 + TREE_AXIS_ERROR), 0.0);
    node->height[lane] = carom_float_up(height + radius * TREE_AXIS_ERROR, 0.0);
}

static carom_status fit_levels(tree_surface_builder *b) {
    carom_tree_surface *s = b->surface;
    uint64_t run = 1; /* triangles of a lane */
    for (uint32_t level = 0; level < s->level_count; ++level, run *= CAROM_TREE_CYLINDERS) {
        uint32_t end = level + 1 < s->level_count ? s->level_start[level + 1] : s->node_count;
        for (uint32_t i = s->level_start[level]; i < end; ++i) {
            uint64_t at = (uint64_t)(i - s->level_start[level]) * CAROM_TREE_CYLINDERS * run;
            carom_tree_cylinders *node = &s->nodes[i];
            memset(node, 0, sizeof(*node));
            for (uint32_t lane = 0; lane < CAROM_TREE_CYLINDERS; ++lane, at += run) {
                node->x[lane] = node->y[lane] = node->z[lane] = (float)NAN;
                if (at >= s->triangle_count) continue;
                uint64_t last = CAROM_MIN(at + run, (uint64_t)s->triangle_count);
                fit_lane(b, (uint32_t)at, (uint32_t)last, node, lane);
            }
            if (i % TREE_PROGRESS_NODES == 0) CAROM_TRY(carom_progress_look(b->context));
        }
    }
    return CAROM_OK;
}

/* A ball around all triangles. */
static void fit_ball(tree_surface_builder *b, const carom_bounds *bounds) {
    carom_tree_surface *s = b->surface;
    carom_vec3 low = tree_surface_to_frame(bounds->low, b->origin, b->scale);
    carom_vec3 high = tree_surface_to_frame(bounds->high, b->origin, b->scale);
    double squared = 0.0;
    s->centre = carom_vec_scale(carom_vec_add(low, high), 0.5);
    for (uint32_t i = 0; i < s->triangle_count; ++i)
        for (int c = 0; c < 3; ++c) {
            carom_vec3 d = carom_vec_sub(tree_surface_corner_of(b, i, c), s->centre);
            double far = carom_vec_dot(d, d);
            squared = CAROM_MAX(far, squared);
        }
    s->radius = sqrt(squared) * (1.0 + CAROM_TREE_SLACK);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Orders points so that runs of 16, 256 ... are compact. */
static void tree_surface_sort_points(carom_tree_point *points, uint32_t count) {
    uint64_t size = CAROM_TREE_CYLINDERS;
    if (count <= size) return;
    while (size * CAROM_TREE_CYLINDERS < count) size *= CAROM_TREE_CYLINDERS;
    uint32_t parts = (uint32_t)((count - 1) / size + 1);
    carom_tree_split_median(points, count, parts, (uint32_t)size);
    for (uint32_t i = 0; i < parts; ++i) {
        uint64_t at = i * size, rest = count - at;
        tree_surface_sort_points(points + at, (uint32_t)CAROM_MIN(rest, size));
    }
}

/* Whether each triangle of a ring has the vertex. */
CAROM_TREE_CHECK bool tree_rings_hold(const carom_tree_surface *s) {
    for (uint32_t i = 0; i < s->vertex_count; ++i)
        for (uint32_t k = s->ring_start[i]; k < s->ring_start[i + 1]; ++k) {
            const uint32_t *c = s->corners + 3 * (uint64_t)s->ring[k];
            if (c[0] != i && c[1] != i && c[2] != i) return false;
        }
    return true;
}

/* Lists the triangles around each vertex. */
static void find_rings(carom_tree_surface *s) {
    uint64_t corners = 3 * (uint64_t)s->triangle_count;
    memset(s->ring_start, 0, ((uint64_t)s->vertex_count + 1) * sizeof(*s->ring_start));
    for (uint64_t i = 0; i < corners; ++i) ++s->ring_start[s->corners[i]];
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= s->vertex_count; ++i) {
        sum += s->ring_start[i]; /* the end of each ring; filled from there */
        s->ring_start[i] = sum;
    }
    for (uint64_t i = corners; i-- > 0;)
        s->ring[--s->ring_start[s->corners[i]]] = (uint32_t)(i / 3);
    CAROM_ASSERT(s->ring_start[0] == 0 && s->ring_start[s->vertex_count] == corners);
    CAROM_ASSERT(tree_rings_hold(s));
}

/* ---- Shells ---------------------------------------------------------------------------------- */

static uint32_t tree_surface_root_of(uint32_t *parents, uint32_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

/* Numbers the shells of triangles that share vertices, and keeps their extreme corners. Surfaces
 * that do not meet have each shell of one wholly inside or outside of the other: any point of it
 * tells, and one of these is likely to be far from the other. */
static carom_status find_shells(tree_surface_builder *b, const carom_mesh_view *view) {
    carom_tree_surface *s = b->surface;
    carom_arena *scratch = carom_scratch(b->context, 0);
    uint32_t vertices = (uint32_t)view->vertex_count, shells = 0;
    uint32_t *parents = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    uint32_t *numbers = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    if (parents == NULL || numbers == NULL)
        return carom_fail_memory(b->context, 2 * (uint64_t)vertices * sizeof(*parents), "shells");
    for (uint32_t i = 0; i < vertices; ++i) parents[i] = i;
    for (uint64_t i = 0; i < view->face_count; ++i)
        for (int k = 1; k < 3; ++k) {
            uint32_t one = tree_surface_root_of(parents, view->corners[3 * i]);
            uint32_t two = tree_surface_root_of(parents, view->corners[3 * i + (uint64_t)k]);
            parents[CAROM_MAX(one, two)] = CAROM_MIN(one, two);
        }
    for (uint32_t i = 0; i < vertices; ++i) numbers[i] = UINT32_MAX;
    for (uint64_t i = 0; i < view->face_count; ++i) {
        uint32_t root = tree_surface_root_of(parents, view->corners[3 * i]);
        if (numbers[root] == UINT32_MAX) numbers[root] = shells++;
    }
    CAROM_ASSERT(shells != 0 && shells <= view->face_count);
    s->shell_count = shells;
    s->extremes = carom_allocate(&b->context->allocator, (uint64_t)shells * CAROM_TREE_EXTREMES,
                                 sizeof(*s->extremes));
    if (s->extremes == NULL)
        return carom_fail_memory(b->context, (uint64_t)shells * 6 * sizeof(carom_vec3), "shells");
    uint8_t *seen = CAROM_ARENA_TAKE(scratch, uint8_t, shells);
    if (seen == NULL) return carom_fail_memory(b->context, shells, "shells");
    memset(seen, 0, shells);
    for (uint64_t i = 0; i < 3 * view->face_count; ++i) {
        carom_vec3 p = carom_mesh_position(view, view->corners[i]);
        uint32_t shell = numbers[tree_surface_root_of(parents, view->corners[i])];
        carom_vec3 *of = s->extremes + (uint64_t)shell * CAROM_TREE_EXTREMES;
        for (uint32_t k = 0; k < CAROM_TREE_EXTREMES && seen[shell] == 0; ++k) of[k] = p;
        seen[shell] = 1;
        if (p.x < of[0].x) of[0] = p;
        if (p.x > of[1].x) of[1] = p;
        if (p.y < of[2].y) of[2] = p;
        if (p.y > of[3].y) of[3] = p;
        if (p.z < of[4].z) of[4] = p;
        if (p.z > of[5].z) of[5] = p;
    }
    return CAROM_OK;
}

/* ---- Building -------------------------------------------------------------------------------- */

static carom_status tree_surface_check_mesh(carom_context *context,
                                            const carom_mesh_report *report) {
    if (report->faces == 0 || !report->balanced)
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "the mesh of a tree is not closed: it has %llu faces, %llu open edges and "
            "%llu inconsistent ones",
            (unsigned long long)report->faces, (unsigned long long)report->open_edges,
            (unsigned long long)report->inconsistent_edges);
    return CAROM_OK;
}

static carom_status check_size(const tree_surface_builder *b, const carom_bounds *bounds) {
    double far = carom_vec_largest(tree_surface_to_frame(bounds->low, b->origin, b->scale));
    double other = carom_vec_largest(tree_surface_to_frame(bounds->high, b->origin, b->scale));
    if (CAROM_MAX(far, other) <= TREE_SURFACE_EXTENT) return CAROM_OK;
    return carom_fail(b->context, CAROM_BAD_INPUT,
                      "the mesh of a tree reaches %g times as far as its spheres: it must be that "
                      "which was packed",
                      CAROM_MAX(far, other));
}

static carom_status tree_surface_load(tree_surface_builder *b, const carom_mesh_view *view,
                                      const carom_numbers *faces, bool inside_out) {
    carom_tree_surface *s = b->surface;
    carom_arena *scratch = carom_scratch(b->context, 0);
    carom_bounds bounds = carom_bounds_empty();
    if (view->face_count > CAROM_TREE_TRIANGLES_MAX || view->vertex_count >= UINT32_MAX)
        return carom_fail(b->context, CAROM_TOO_LARGE, "%llu triangles are more than 2^30",
                          (unsigned long long)view->face_count);
    for (uint64_t i = 0; i < 3 * view->face_count; ++i)
        carom_bounds_include(&bounds, carom_mesh_position(view, view->corners[i]));
    CAROM_TRY(check_size(b, &bounds));
    s->triangle_count = (uint32_t)view->face_count;
    s->vertex_count = (uint32_t)view->vertex_count;
    carom_tree_surface_shape(s);
    const carom_allocation arrays[6] = {CAROM_ALLOCATION(s->nodes, s->node_count),
                                        CAROM_ALLOCATION(s->vertices, s->vertex_count),
                                        CAROM_ALLOCATION(s->corners, 3 * view->face_count),
                                        CAROM_ALLOCATION(s->faces, s->triangle_count),
                                        CAROM_ALLOCATION(s->ring_start, view->vertex_count + 1),
                                        CAROM_ALLOCATION(s->ring, 3 * view->face_count)};
    carom_tree_point *points = CAROM_ARENA_TAKE(scratch, carom_tree_point, view->face_count);
    uint32_t *numbers = CAROM_ARENA_TAKE(scratch, uint32_t, view->vertex_count);
    if (points == NULL || numbers == NULL || !carom_allocate_all(&b->context->allocator, arrays, 6))
        return carom_fail_memory(b->context, view->face_count * sizeof(*points), "a surface");
    for (uint32_t i = 0; i < s->triangle_count; ++i) {
        carom_vec3 sum = {0.0, 0.0, 0.0};
        for (uint64_t k = 0; k < 3; ++k) {
            carom_vec3 at = carom_mesh_position(view, view->corners[3 * (uint64_t)i + k]);
            sum = carom_vec_add(sum, tree_surface_to_frame(at, b->origin, b->scale));
        }
        points[i] = (carom_tree_point){{sum.x, sum.y, sum.z}, 0, i};
    }
    tree_surface_sort_points(points, s->triangle_count);
    /* Vertices in the order in which triangles first need them: neighbours are near in memory. */
    for (uint32_t i = 0; i < s->vertex_count; ++i) numbers[i] = UINT32_MAX;
    uint32_t used = 0;
    for (uint32_t i = 0; i < s->triangle_count; ++i) {
        const uint32_t *corners = view->corners + 3 * (uint64_t)points[i].index;
        s->faces[i] = faces->data[points[i].index];
        for (uint32_t k = 0; k < 3; ++k) {
            if (numbers[corners[k]] == UINT32_MAX) {
                s->vertices[used] = carom_mesh_position(view, corners[k]);
                numbers[corners[k]] = used++;
            }
            s->corners[3 * (uint64_t)i + (k > 0 && inside_out ? 3 - k : k)] = numbers[corners[k]];
        }
    }
    CAROM_ASSERT(used <= s->vertex_count);
    s->vertex_count = used;
    find_rings(s);
    CAROM_TRY(find_shells(b, view));
    fit_ball(b, &bounds);
    return fit_levels(b);
}

carom_status carom_tree_surface_make(carom_context *context, const carom_mesh_view *mesh,
                                     carom_vec3 origin, int shift, carom_tree_surface *surface) {
    carom_mesh *welded = NULL, *triangles = NULL;
    carom_numbers faces = {0};
    carom_mesh_report report;
    carom_mesh_view view;
    tree_surface_builder b = {context, surface, origin, carom_power_of_two(shift)};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = carom_mesh_weld(context, mesh, &welded);
    if (status == CAROM_OK) status = carom_mesh_get_view(welded, &view);
    if (status == CAROM_OK) status = carom_mesh_inspect(context, &view, &report);
    if (status == CAROM_OK) status = tree_surface_check_mesh(context, &report);
    if (status == CAROM_OK)
        status = carom_mesh_triangulate(context, &view, NULL, &triangles, &faces);
    if (status == CAROM_OK) status = carom_mesh_get_view(triangles, &view);
    if (status == CAROM_OK) {
        carom_progress_begin(context, "building the surface of a sphere tree", 0);
        status = carom_progress_finish(context,
                                       tree_surface_load(&b, &view, &faces, report.volume < 0.0));
    }
    carom_arena_rewind(scratch, mark);
    carom_numbers_free(&faces);
    carom_mesh_destroy(triangles);
    carom_mesh_destroy(welded);
    return status;
}

/* ---- Directions ------------------------------------------------------------------------------ */

/* Where a sphere's nearest face is. */
static carom_vec3 tree_surface_outward_of(const carom_tree_surface *s, carom_vec3 centre,
                                          const uint32_t *first, const uint32_t *list,
                                          uint32_t face) {
    carom_closest best = {.distance = HUGE_VAL};
    for (uint32_t k = first[face]; k < first[face + 1]; ++k) {
        const uint32_t *corners = s->corners + 3 * (uint64_t)list[k];
        carom_vec3 t[3] = {s->vertices[corners[0]], s->vertices[corners[1]],
                           s->vertices[corners[2]]};
        carom_closest found;
        carom_near_point_triangle(centre, t, &found);
        if (found.distance < best.distance) best = found;
    }
    if (!(best.distance > 0.0 && best.distance < HUGE_VAL)) return carom_vec(0.0, 0.0, 0.0);
    return carom_vec_scale(carom_vec_sub(best.b, centre), 1.0 / best.distance);
}

carom_status carom_tree_outward_make(carom_context *context, carom_tree *t) {
    const carom_tree_surface *s = &t->surface;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t faces = 0, slots = t->leaf_count * CAROM_TREE_WIDTH;
    for (uint32_t i = 0; i < s->triangle_count; ++i) faces = CAROM_MAX(faces, s->faces[i] + 1);
    uint32_t *first = CAROM_ARENA_TAKE(scratch, uint32_t, (uint64_t)faces + 1);
    uint32_t *list = CAROM_ARENA_TAKE(scratch, uint32_t, s->triangle_count);
    t->outward = carom_allocate(&t->allocator, 3 * (uint64_t)slots, sizeof(*t->outward));
    if (first == NULL || list == NULL || t->outward == NULL) {
        carom_arena_rewind(scratch, mark);
        return carom_fail_memory(context, 12 * (uint64_t)slots, "the surface of a tree");
    }
    /* Triangles by their faces. */
    memset(first, 0, ((uint64_t)faces + 1) * sizeof(*first));
    for (uint32_t i = 0; i < s->triangle_count; ++i) ++first[s->faces[i]];
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= faces; ++i) first[i] = sum += first[i];
    for (uint32_t i = s->triangle_count; i-- > 0;) list[--first[s->faces[i]]] = i;
    memset(t->outward, 0, 3 * (uint64_t)slots * sizeof(*t->outward));
    for (uint32_t slot = 0; slot < slots; ++slot) {
        const carom_tree_leaf *leaf = &t->leaves[slot / CAROM_TREE_WIDTH];
        uint32_t lane = slot % CAROM_TREE_WIDTH;
        carom_vec3 centre = carom_vec(leaf->x[lane], leaf->y[lane], leaf->z[lane]);
        if (!(centre.x <= DBL_MAX) || t->faces[slot] >= faces) continue;
        carom_vec3 d = tree_surface_outward_of(s, centre, first, list, t->faces[slot]);
        t->outward[3 * slot] = (float)d.x;
        t->outward[3 * slot + 1] = (float)d.y;
        t->outward[3 * slot + 2] = (float)d.z;
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* ---- Inside ---------------------------------------------------------------------------------- */

/* Segments that are tried, each in another direction, until one touches no edge or corner of the
 * surface. All do where the point is on one; else that takes a mesh made for it, and is reported as
 * not decided. */
#define TREE_SEGMENT_TRIES 8

typedef struct tree_surface_crossing {
    const carom_tree_surface *surface;
    const carom_spheres_transform *transform;
    carom_vec3 p, q;      /* the segment, in the world */
    carom_vec3 from, way; /* the same in the frame: from, and q - p */
    double margin;        /* in the frame */
    int winding;          /* of p, less that of q */
    bool touches;         /* an edge or a corner */
} tree_surface_crossing;

static carom_vec3 pose_corner(const carom_spheres_transform *transform, carom_vec3 x) {
    return carom_frame_apply(&transform->frame, carom_vec_scale(x, transform->scale));
}

static void cross_triangle(tree_surface_crossing *c, uint32_t triangle) {
    carom_vec3 t[3], p = c->p, q = c->q;
    for (int i = 0; i < 3; ++i)
        t[i] = pose_corner(
            c->transform,
            c->surface->vertices[c->surface->corners[3 * (uint64_t)triangle + (uint32_t)i]]);
    int at_p = carom_orient3d(t[0], t[1], t[2], p), at_q = carom_orient3d(t[0], t[1], t[2], q);
    if (at_p != 0 && at_p == at_q) return;
    int a = carom_orient3d(p, q, t[0], t[1]), b = carom_orient3d(p, q, t[1], t[2]);
    int d = carom_orient3d(p, q, t[2], t[0]);
    if ((a > 0 || b > 0 || d > 0) && (a < 0 || b < 0 || d < 0)) return; /* beside it */
    if (at_p == 0 || at_q == 0 || a == 0 || b == 0 || d == 0)
        c->touches = true;
    else
        c->winding -= at_p > 0 ? 1 : -1; /* from the outside of the face to its inside */
}

/* Whether the ball around a cylinder may meet the segment. */
static bool near_segment(const tree_surface_crossing *c, const carom_tree_cylinders *node,
                         uint32_t lane) {
    carom_vec3 d = carom_vec_sub(lane_centre(node, lane), c->from);
    double r = (double)node->radius[lane], h = (double)node->height[lane];
    double t = carom_vec_dot(d, c->way) / carom_vec_dot(c->way, c->way);
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    carom_vec3 off = carom_vec_sub(d, carom_vec_scale(c->way, t));
    return carom_vec_length(off) <= sqrt(r * r + h * h) + c->margin; /* false for NaN */
}

static void cross_node(tree_surface_crossing *c, uint32_t level, uint32_t index) {
    const carom_tree_cylinders *node = &c->surface->nodes[c->surface->level_start[level] + index];
    for (uint32_t lane = 0; lane < CAROM_TREE_CYLINDERS && !c->touches; ++lane) {
        if (!near_segment(c, node, lane)) continue;
        uint32_t child = index * CAROM_TREE_CYLINDERS + lane;
        if (level == 0)
            cross_triangle(c, child);
        else
            cross_node(c, level - 1, child);
    }
}

/* Of a segment: what is added to the rounding of posed corners, in units of the frame, for the
 * cylinders' floats; how much more it is turned at each try, in radii of the surface; and the part
 * of a radius below which a way outwards has no direction. The turn and the way that is taken then
 * are along no axis or diagonal, where meshes often have edges. */
#define TREE_SEGMENT_MARGIN 0x1p-20
#define TREE_SEGMENT_TURN   0.1
#define TREE_SEGMENT_LEAST  0x1p-20
static const carom_vec3 tree_segment_turn = {1.0, -0.7, 0.4}, tree_segment_any = {0.3, 0.5, 0.8};

int carom_tree_surface_inside(const carom_tree_surface *s, const carom_spheres_transform *transform,
                              carom_vec3 origin, int shift, carom_vec3 point) {
    double scale = carom_power_of_two(shift);
    carom_vec3 centre = pose_corner(
        transform, carom_vec_add(origin, carom_vec_scale(s->centre, carom_power_of_two(-shift))));
    carom_vec3 away = carom_vec_sub(point, centre);
    double radius =
        s->radius * carom_power_of_two(-shift) * transform->scale + 4.0 * transform->slack;
    double length = carom_vec_length(away);
    if (length > radius * (1.0 + CAROM_TREE_SLACK)) return 0;
    tree_surface_crossing c = {.surface = s, .transform = transform, .p = point};
    c.margin = TREE_SEGMENT_MARGIN + 8.0 * transform->slack / transform->scale * scale;
    for (int n = 0; n < TREE_SEGMENT_TRIES; ++n) {
        /* Outwards, turned a little more each time. */
        double turn = TREE_SEGMENT_TURN * radius * n;
        carom_vec3 way = carom_vec_add(away, carom_vec_scale(tree_segment_turn, turn));
        double is = carom_vec_length(way);
        if (!(is > TREE_SEGMENT_LEAST * radius)) {
            way = tree_segment_any;
            is = carom_vec_length(way);
        }
        c.q = carom_vec_add(point, carom_vec_scale(way, 4.0 * radius / is));
        carom_vec3 d = carom_vec_sub(c.q, point);
        const double *r = transform->frame.r;
        carom_vec3 at = carom_vec_sub(point, transform->frame.t);
        carom_vec3 back[2] = {at, d};
        for (int i = 0; i < 2; ++i) {
            carom_vec3 v = back[i];
            back[i] = carom_vec_scale(carom_vec((r[0] * v.x + r[3] * v.y) + r[6] * v.z,
                                                (r[1] * v.x + r[4] * v.y) + r[7] * v.z,
                                                (r[2] * v.x + r[5] * v.y) + r[8] * v.z),
                                      1.0 / transform->scale);
        }
        c.from = tree_surface_to_frame(back[0], origin, scale);
        c.way = carom_vec_scale(back[1], scale);
        c.winding = 0;
        c.touches = false;
        cross_node(&c, s->level_count - 1, 0);
        if (!c.touches) return c.winding >= 1;
    }
    return -1;
}

/* ---- Invariants ------------------------------------------------------------------------------ */

/* Of lengths in the frame, and relative: floats are rounded by 2^-24 of coordinates. */
#define TREE_SURFACE_ROUNDING 0x1p-20

/* Lanes past the end are near nothing, so that no search reads beyond the arrays. */
static const char *check_ends(const carom_tree_surface *s) {
    uint32_t lanes = s->triangle_count;
    for (uint32_t level = 0; level < s->level_count; ++level) {
        uint32_t nodes = (lanes - 1) / CAROM_TREE_CYLINDERS + 1;
        for (uint32_t i = lanes; i < nodes * CAROM_TREE_CYLINDERS; ++i)
            if (!isnan(s->nodes[s->level_start[level] + i / CAROM_TREE_CYLINDERS]
                           .x[i % CAROM_TREE_CYLINDERS]))
                return "surface: a lane past the end is not empty";
        lanes = nodes;
    }
    return NULL;
}

const char *carom_tree_surface_validate(const carom_tree_surface *s, carom_vec3 origin, int shift) {
    double scale = carom_power_of_two(shift);
    carom_tree_surface shape = {.triangle_count = s->triangle_count};
    if (s->triangle_count == 0) return NULL;
    carom_tree_surface_shape(&shape);
    if (shape.level_count != s->level_count || shape.node_count != s->node_count)
        return "surface: its nodes are not those of its triangles";
    if (s->shell_count == 0 || s->shell_count > s->triangle_count)
        return "surface: it has no shell, or more than triangles";
    if (!carom_vec_finite(s->centre) ||
        !(s->radius >= 0.0 && s->radius <= 4.0 * TREE_SURFACE_EXTENT))
        return "surface: the ball around it is not finite";
    for (uint64_t i = 0; i < (uint64_t)s->shell_count * CAROM_TREE_EXTREMES; ++i)
        if (!carom_vec_within(tree_surface_to_frame(s->extremes[i], origin, scale),
                              2.0 * TREE_SURFACE_EXTENT))
            return "surface: an extreme corner is far away";
    const char *broken = check_ends(s);
    if (broken != NULL) return broken;
    if (s->vertex_count == 0 || s->ring_start[0] != 0 ||
        s->ring_start[s->vertex_count] != 3 * s->triangle_count)
        return "surface: its rings do not have all triangles";
    for (uint32_t i = 0; i < s->vertex_count; ++i) {
        if (s->ring_start[i] > s->ring_start[i + 1] || s->ring_start[i + 1] > 3 * s->triangle_count)
            return "surface: its rings do not have all triangles";
        for (uint32_t k = s->ring_start[i]; k < s->ring_start[i + 1]; ++k)
            if (s->ring[k] >= s->triangle_count) return "surface: a ring names no triangle";
    }
    for (uint32_t i = 0; i < s->triangle_count; ++i) {
        for (int c = 0; c < 3; ++c) {
            uint32_t vertex = s->corners[3 * (uint64_t)i + (uint32_t)c];
            if (vertex >= s->vertex_count) return "surface: a corner names no vertex";
            carom_vec3 p = tree_surface_to_frame(s->vertices[vertex], origin, scale);
            if (!carom_vec_within(p, 2.0 * TREE_SURFACE_EXTENT))
                return "surface: a corner is far away";
            double away = carom_length(carom_vec_sub(p, s->centre));
            if (!(away <= s->radius * (1.0 + TREE_SURFACE_ROUNDING) + TREE_SURFACE_ROUNDING))
                return "surface: a corner is not in the ball around all";
            uint32_t slot = i;
            for (uint32_t level = 0; level < s->level_count; ++level) {
                const carom_tree_cylinders *node =
                    &s->nodes[s->level_start[level] + slot / CAROM_TREE_CYLINDERS];
                uint32_t lane = slot % CAROM_TREE_CYLINDERS;
                double along, across, slack = TREE_SURFACE_ROUNDING * (1.0 + s->radius);
                measure_point(node, lane, p, &along, &across);
                if (!(along <= (double)node->height[lane] + slack &&
                      across <= (double)node->radius[lane] + slack))
                    return "surface: a triangle is not in a cylinder";
                double n = carom_vec_length(carom_vec((double)node->axis_x[lane],
                                                      (double)node->axis_y[lane],
                                                      (double)node->axis_z[lane]));
                if (!(fabs(n - 1.0) <= TREE_SURFACE_ROUNDING))
                    return "surface: an axis is not of length 1";
                slot /= CAROM_TREE_CYLINDERS;
            }
        }
    }
    return NULL;
}
