/* SPDX-License-Identifier: MIT */
/* soup.h: what a soup is made of. */
#ifndef CAROM_SRC_SOUP_SOUP_H
#define CAROM_SRC_SOUP_SOUP_H

#include <string.h>

#include "base/context.h"
#include "bvh/bvh.h"
#include "bvh/bvh_obb.h"
#include "carom/soup.h"
#include "geom/face_item.h"
#include "grid/grid.h"

/* Of a triangle. */
#define CAROM_SOUP_DEAD       1u
#define CAROM_SOUP_DEGENERATE 2u
#define CAROM_SOUP_LEAVING    4u /* dead once the change that is going on succeeds */

/* A soup's grid and what searches need by rank. */
typedef struct carom_soup_grid {
    carom_grid grid;
    uint32_t *placed;  /* corners, three each, and one number more behind the last */
    carom_ball *balls; /* around the triangles, in the frame of boxes */
    uint64_t capacity;
} carom_soup_grid;

struct carom_soup {
    carom_allocator allocator;
    carom_degenerate degenerate;
    carom_soup_method method;
    bool fan, rigid;
    carom_status failed; /* CAROM_OK, or the status of a change that took the tree or grid away */

    /* Vertices, packed, with a vector's width of zeros behind. An update writes the new positions
     * beside the old ones, which stand until it has succeeded. */
    carom_scalar scalar;
    void *positions, *spare; /* spare is NULL until the first update */
    uint64_t position_bytes, spare_bytes;
    uint64_t vertex_count;

    /* Triangles in the order of their faces. */
    uint32_t *corners; /* three a triangle */
    uint8_t *states;   /* CAROM_SOUP_... */
    uint32_t *faces;   /* the face of each triangle; NULL: triangles are the faces */
    uint32_t triangle_count;
    uint32_t face_count;
    uint32_t dead_faces, degenerate_faces;

    /* Boxes are x * scale - origin in float32, rounded outwards. */
    carom_vec3 origin;
    double scale;
    carom_box bounds; /* of all vertices */
    carom_bvh bvh;
    uint32_t *placed; /* corners by place in the tree, three each */
    uint64_t placed_capacity;

    carom_obb_tree oriented; /* of rigid soups; in the frame of carom_soup_unit_frame */

    carom_grid_def grid_def;
    carom_soup_grid cells; /* of method GRID, which has neither of the trees */
    uint64_t work_budget;  /* of method AUTO, as given */
};

static inline carom_vec3 carom_soup_position(const carom_soup *soup, uint32_t vertex) {
    carom_vec3 p;
    if (soup->scalar == CAROM_SCALAR_FLOAT32) {
        const float *xyz = (const float *)soup->positions + 3 * (uint64_t)vertex;
        p = carom_vec((double)xyz[0], (double)xyz[1], (double)xyz[2]);
    } else {
        const double *xyz = (const double *)soup->positions + 3 * (uint64_t)vertex;
        p = carom_vec(xyz[0], xyz[1], xyz[2]);
    }
    return p;
}

static inline carom_triangle carom_soup_triangle(const carom_soup *soup, const uint32_t *corners) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_soup_position(soup, corners[i]);
    return t;
}

static inline uint32_t carom_soup_face(const carom_soup *soup, uint32_t triangle) {
    return soup->faces != NULL ? soup->faces[triangle] : triangle;
}

/* Whether a triangle is there for searches. */
static inline bool carom_soup_searched(const carom_soup *soup, uint32_t triangle) {
    uint8_t state = soup->states[triangle];
    return state == 0 ||
           (state == CAROM_SOUP_DEGENERATE && soup->degenerate == CAROM_DEGENERATE_AS_SEGMENT);
}

/* Makes all that depends on positions and states anew, as a phase of progress. On failure the tree
 * or grid is lost; everything else that get_info tells is as before. */
carom_status carom_soup_prepare(carom_context *context, carom_soup *soup);

/* Builds the tree of oriented boxes. */
carom_status carom_soup_prepare_rigid(carom_context *context, carom_soup *soup);

/* CAROM_OK, or why the soup cannot be searched: it lost what it had, or has no tree. */
carom_status carom_soup_check_ready(carom_context *context, const carom_soup *soup);
/* The same for searches that any method can do. */
carom_status carom_soup_check_any(carom_context *context, const carom_soup *soup);

/* The box of a triangle in the soup's boxes' frame; empty when it is not searched. */
carom_box carom_soup_box(const carom_soup *soup, uint32_t triangle);

/* The boxes of several: a carom_bvh_boxes_fn and a carom_grid_boxes_fn. */
void carom_soup_boxes(const void *soup, const uint32_t *items, uint32_t first, uint32_t count,
                      carom_box *boxes);

/* The ball around a triangle in the frame of boxes, which holds it whatever was rounded. */
carom_ball carom_soup_ball(const carom_soup *soup, uint32_t triangle);

/* Whether balls that may be `slack` nearer than they seem overlap; a little more often than they
 * do. */
static inline bool carom_soup_balls_meet(const carom_ball *a, const carom_ball *b, double slack) {
    carom_vec3 way = carom_vec_sub(a->centre, b->centre);
    double reach = (a->radius + b->radius) + slack;
    return carom_vec_dot(way, way) <= reach * reach * (1.0 + 0x1p-48) + 0x1p-1000;
}

/* Builds a grid over the soup; allocator as for carom_grid_build. */
carom_status carom_soup_grid_build(carom_context *context, const carom_allocator *allocator,
                                   const carom_soup *soup, const carom_grid_def *def,
                                   carom_soup_grid *cells);
void carom_soup_grid_free(carom_soup_grid *cells, const carom_allocator *allocator);

/* What the tree may spend in a query for pairs, in nodes visited and candidates. */
static inline uint64_t carom_soup_budget(const carom_soup *soup, uint64_t triangles) {
    if (soup->method != CAROM_SOUP_METHOD_AUTO) return UINT64_MAX;
    return soup->work_budget != 0 ? soup->work_budget : 64 * triangles + 65536;
}

#endif
