/* SPDX-License-Identifier: MIT */
/* soup.h: the data structure of a soup, and the functions its source files share. */
#ifndef CAROM_SRC_SOUP_SOUP_H
#define CAROM_SRC_SOUP_SOUP_H

#include <string.h>

#include "base/context.h"
#include "base/pair_list.h"
#include "bvh/bvh.h"
#include "bvh/bvh_obb.h"
#include "carom/soup.h"
#include "carom/soup_motion.h"
#include "carom/soup_points.h"
#include "geom/face_item.h"
#include "grid/grid.h"
#include "soup/soup_device.h"
#include "soup/soup_view.h"

/* Unknown, no and yes. */
#define CAROM_SOUP_BALANCED_UNKNOWN 0u
#define CAROM_SOUP_BALANCED_NO      1u
#define CAROM_SOUP_BALANCED_YES     2u

/* What the first query that needs it finds out and keeps for the next ones: it costs more than
 * other preparations and few queries need it. The soup owns it from create to destroy, and each
 * change of the soup forgets it, while no query may run. Queries may run in several contexts at
 * once. So each member is one atomic word that depends on the faces alone and says all there is to
 * know: contexts that find it at the same time store the same value, and but for the last members
 * no other memory is read because of it, so that relaxed order suffices. */
typedef struct carom_soup_cache {
    _Atomic uint8_t balanced; /* CAROM_SOUP_BALANCED_...: whether the faces are balanced */
    /* Of a soup of backend cuda, the same on the CPU (carom_soup_lend_cpu), and of a soup of
     * backend cpu, the same on the device (carom_soup_lend_device); or NULL. Other memory belongs
     * to these: they are stored by release and read by acquire, and who comes second frees its
     * own. */
    _Atomic(carom_soup *) on_cpu;
    _Atomic(carom_device_soup *) on_device;
} carom_soup_cache;

/* A soup's grid, with the corners and balls that searches need, indexed by rank. */
typedef struct carom_soup_grid {
    carom_grid grid;
    uint32_t *rank_corners; /* three corners per rank, then one padding entry */
    carom_ball *balls;      /* around each triangle, in the frame of the boxes */
    uint64_t capacity;
} carom_soup_grid;

struct carom_soup {
    carom_allocator allocator;
    carom_soup_degenerate degenerate;
    carom_soup_method method;
    bool fan, rigid;
    carom_status failed; /* CAROM_OK, or the status of the change that lost the tree or grid */

    /* Packed vertices, followed by one SIMD vector of zeros. An update writes the new positions
     * into `spare`; the old ones stay valid until the update has succeeded. */
    carom_scalar scalar;
    void *positions, *spare; /* spare is NULL until the first update */
    uint64_t position_bytes, spare_bytes;
    uint64_t vertex_count;

    /* Triangles in the order of their faces. */
    uint32_t *corners; /* three per triangle */
    uint8_t *states;   /* CAROM_SOUP_... */
    uint32_t *faces;   /* the face of each triangle; NULL: each triangle is a face */
    uint32_t triangle_count;
    uint32_t face_count;
    uint32_t dead_faces, degenerate_faces;
    carom_soup_cache *cache; /* never NULL in a soup that a caller has */

    /* Boxes are x * scale - origin in float32, rounded outwards. */
    carom_vec3 origin;
    double scale;
    carom_box bounds;           /* of all vertices */
    carom_vec3 lowest, highest; /* their bounds as given, of soups on the CPU */
    carom_bvh bvh;
    uint32_t *slot_corners; /* three corners per slot in the tree */
    uint64_t slot_capacity;

    carom_obb_tree oriented; /* rigid soups only; in the frame of carom_soup_unit_frame */
    double looseness;        /* carom_obb_looseness of that tree when it was built, not refitted */

    carom_grid_def grid_def;
    carom_soup_grid cells; /* method GRID only, which has no tree */
    uint64_t work_budget;  /* method AUTO only, as given */

    carom_backend backend; /* where it is prepared and searched */
    /* Of a soup of backend cuda, which has neither tree nor grid on the host; else NULL. Positions
     * on the host are stale after an update from device memory. */
    carom_device_soup *device;
    bool stale;
};

static inline carom_vec3 carom_soup_position(const carom_soup *soup, uint32_t vertex) {
    return carom_soup_read_position(soup->positions, soup->scalar, vertex);
}

static inline carom_triangle carom_soup_triangle(const carom_soup *soup, const uint32_t *corners) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_soup_position(soup, corners[i]);
    return t;
}

static inline uint32_t carom_soup_face(const carom_soup *soup, uint32_t triangle) {
    return soup->faces != NULL ? soup->faces[triangle] : triangle;
}

/* Whether searches consider a triangle. */
static inline bool carom_soup_searched(const carom_soup *soup, uint32_t triangle) {
    uint8_t state = soup->states[triangle];
    return state == 0 ||
           (state == CAROM_SOUP_DEGENERATE && soup->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT);
}

/* Rebuilds everything that depends on positions and states, as one phase of progress. On failure
 * the tree or grid is lost; everything else that get_info reports is unchanged. */
carom_status carom_soup_prepare(carom_context *context, carom_soup *soup);

/* The same in the order of the trees of `like`, a rigid soup of the same faces, unless worn. */
carom_status carom_soup_prepare_like(carom_context *context, carom_soup *soup,
                                     const carom_soup *like);

/* Chooses the frame of a soup of doubles whose positions have these bounds. */
void carom_soup_choose_frame(carom_soup *soup, const double low[3], const double high[3]);

/* Builds the tree of oriented boxes; with `like`, its order is that of the tree of `like`. */
carom_status carom_soup_prepare_rigid(carom_context *context, carom_soup *soup,
                                      const carom_soup *like);

/* CAROM_UNSUPPORTED for a soup of method GRID, which has no tree for some queries. */
carom_status carom_soup_check_method(carom_context *context, const carom_soup *soup);

/* CAROM_OK, or why the soup cannot be searched on the CPU, which contexts of any backend do. */
carom_status carom_soup_check_on_cpu(carom_context *context, const carom_soup *soup);

/* ---- The same on the GPU: soup_device.c ------------------------------------------------------ */

/* Whether the context computes on the GPU: the functions below then answer. */
static inline bool carom_soup_on_device(const carom_context *context) {
    return context->backend == CAROM_BACKEND_CUDA;
}

/* CAROM_OK if a new soup can be made on the GPU. */
carom_status carom_soup_device_check_new(carom_context *context, const carom_soup_def *def);
/* CAROM_OK if the soup was made by a context of this context's backend. */
carom_status carom_soup_check_backend(carom_context *context, const carom_soup *soup);
carom_status carom_soup_device_prepare(carom_context *context, carom_soup *soup);
/* Makes the positions on the host those on the device. */
carom_status carom_soup_device_fetch(carom_context *context, carom_soup *soup);
void carom_soup_device_release(carom_soup *soup);
/* NULL is fine. */
void carom_soup_device_destroy(carom_device_soup *device);
uint64_t carom_soup_device_bytes_of(const carom_device_soup *device);

/* Two soups in a query, or one: b is NULL. */
typedef struct carom_soup_device_query {
    const carom_soup *a, *b;
    const carom_pose *pose_a, *pose_b;
} carom_soup_device_query;
carom_status carom_soup_device_pairs(carom_context *context, const carom_soup_device_query *query,
                                     carom_pairs *pairs);
carom_status carom_soup_device_count(carom_context *context, const carom_soup_device_query *query,
                                     uint64_t *count);
carom_status carom_soup_device_any(carom_context *context, const carom_soup_device_query *query,
                                   bool *any);
carom_status carom_soup_device_each(carom_context *context, const carom_soup_device_query *query,
                                    carom_pairs_fn *receive, void *user);

/* Faces within a margin, which is a finite number: passes the sorted pairs to `finish`. */
carom_status carom_soup_device_within(carom_context *context, const carom_soup_device_query *query,
                                      double margin, carom_pair_finish_fn *finish, void *argument);

/* carom_soup_cross_distance, _cross_meet and the gaps of faces. Wait. */
carom_status carom_soup_device_cross_distance(carom_context *context,
                                              const carom_soup_device_query *query, double limit,
                                              carom_soup_gap *gap);
carom_status carom_soup_device_distances(carom_context *context, const carom_soup_pair *pairs,
                                         uint64_t count, double limit, carom_soup_gap *gaps);
carom_status carom_soup_device_meets(carom_context *context, const carom_soup_pair *pairs,
                                     uint64_t count, bool *meet);
carom_status carom_soup_device_gaps(carom_context *context, const carom_soup_device_query *query,
                                    const carom_pair *pairs, uint64_t count, carom_soup_gap *gaps);
/* Checks the limit of a distance; 0 becomes infinite. */
carom_status carom_soup_check_limit(carom_context *context, double *limit);

/* A soup on the CPU for a query of a soup of any backend. */
typedef struct carom_soup_loan {
    const carom_soup *soup;
    carom_soup *own; /* NULL: the soup itself, or the copy that it keeps */
} carom_soup_loan;

/* Lends a soup on the CPU like one on the GPU, with the trees that a context of backend cpu would
 * make: where the CPU's answer depends on them. The soup keeps it until its next change, unless the
 * positions are only on the device; they are read then, or are `positions`, if not NULL. The loan
 * is to be ended, also after a failure. Takes no scratch that lasts. */
carom_status carom_soup_lend_cpu(carom_context *context, const carom_soup *soup,
                                 const void *positions, carom_soup_loan *loan);
void carom_soup_end_loan(carom_soup_loan *loan);
/* Of a soup on the CPU its arrays and a tree on the device, which it keeps likewise. */
carom_status carom_soup_lend_device(carom_context *context, const carom_soup *soup,
                                    const carom_device_soup **on_device);
/* Destroys what the soup keeps of itself elsewhere. */
void carom_soup_forget_copies(carom_soup *soup);

/* ---- Boxes and balls ------------------------------------------------------------------------- */

/* Of scattered triangles first the corners and then the positions have to be waited for. They are
 * fetched this many triangles before they are used, the corners twice as many: preparing a cloth of
 * 4 million triangles takes a twelfth less, one of 250,000, which the caches hold, as long. */
#define CAROM_SOUP_PREFETCH_TRIANGLES 32u

static inline void carom_soup_fetch_ahead(const carom_soup *soup, const uint32_t *items, uint32_t i,
                                          uint32_t count) {
    uint64_t size = 3 * (soup->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    uint32_t near = i + CAROM_SOUP_PREFETCH_TRIANGLES, far = near + CAROM_SOUP_PREFETCH_TRIANGLES;
    if (far < count) __builtin_prefetch(soup->corners + 3 * (uint64_t)items[far]);
    if (near >= count) return;
    const uint32_t *corners = soup->corners + 3 * (uint64_t)items[near];
    for (int k = 0; k < 3; ++k)
        __builtin_prefetch((const char *)soup->positions + corners[k] * size);
}

/* The boxes of several triangles: a carom_bvh_boxes_fn and a carom_grid_boxes_fn. */
void carom_soup_boxes(const void *soup, const uint32_t *items, uint32_t first, uint32_t count,
                      carom_box *boxes);

/* A ball around a triangle in the frame of the boxes. It contains the triangle despite rounding. */
carom_ball carom_soup_ball(const carom_soup *soup, uint32_t triangle);

/* Of the square of the sum of two radii: with u = 2^-53, the square of the distance loses 5 u of
 * itself, the sum of three terms and its square 5 u, and the bound 2 u; 32 u are given. And of
 * squares that underflow, 2^-1074 each. */
#define CAROM_SOUP_SQUARE_UP    (1.0 + 0x1p-48)
#define CAROM_SOUP_SQUARE_FLOOR 0x1p-1000

/* Whether two balls overlap when their computed distance may be too large by `slack`. Conservative:
 * true also for some balls that are just apart. */
static inline bool carom_soup_balls_meet(const carom_ball *a, const carom_ball *b, double slack) {
    carom_vec3 d = carom_vec_sub(a->centre, b->centre);
    double reach = (a->radius + b->radius) + slack;
    return carom_vec_dot(d, d) <= reach * reach * CAROM_SOUP_SQUARE_UP + CAROM_SOUP_SQUARE_FLOOR;
}

/* Builds a grid over the soup; allocator as for carom_grid_build. */
carom_status carom_soup_grid_build(carom_context *context, const carom_allocator *allocator,
                                   const carom_soup *soup, const carom_grid_def *def,
                                   carom_soup_grid *cells);
void carom_soup_grid_free(carom_soup_grid *cells, const carom_allocator *allocator);

/* The part of carom_soup_validate for the tree of oriented boxes. */
const char *carom_soup_validate_rigid(const carom_soup *soup);

/* Work between two checks of the clock and of cancellation: exact tests, of which one may take a
 * millisecond, and ranks of a grid, of which one may scan a cell that holds all triangles. */
#define CAROM_SOUP_EXACT_PER_CHECK 16u
#define CAROM_SOUP_RANKS_PER_CHECK 16u

/* The work budget of the tree in a query for pairs, in nodes visited and candidates. The crumpled
 * cloth needs 9 per triangle, a Chazelle polyhedron of 128 wedges a side, in which most boxes
 * overlap, 124; the grid would find the same candidates. */
#define CAROM_SOUP_BUDGET_PER_TRIANGLE 256u
#define CAROM_SOUP_BUDGET_MINIMUM      65536u

static inline uint64_t carom_soup_budget(const carom_soup *soup, uint64_t triangles) {
    if (soup->method != CAROM_SOUP_METHOD_AUTO) return UINT64_MAX;
    return soup->work_budget != 0
               ? soup->work_budget
               : CAROM_SOUP_BUDGET_PER_TRIANGLE * triangles + CAROM_SOUP_BUDGET_MINIMUM;
}

#endif
