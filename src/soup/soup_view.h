/* SPDX-License-Identifier: MIT */
/* soup_view.h: a soup as the other folders read it. They see this view, posed pairs
 * (soup_posed_pair.h) and near faces on the GPU (soup_near.h), not the members of a soup. */
#ifndef CAROM_SRC_SOUP_SOUP_VIEW_H
#define CAROM_SRC_SOUP_SOUP_VIEW_H

#include "base/context.h"
#include "bvh/bvh.h"
#include "carom/soup.h"
#include "geom/vec.h"

/* State bits of a triangle. A triangle with CAROM_SOUP_DEAD is removed. */
#define CAROM_SOUP_DEAD       1u
#define CAROM_SOUP_DEGENERATE 2u
#define CAROM_SOUP_LEAVING    4u /* removed once the current change succeeds */

/* Valid until the soup changes. */
typedef struct carom_soup_view {
    const void *positions; /* packed vertices */
    carom_scalar scalar;
    uint32_t triangle_count, face_count;
    uint64_t vertex_count;
    const uint32_t *corners; /* three per triangle */
    const uint8_t *states;   /* CAROM_SOUP_... of each triangle */
    const uint32_t *faces;   /* the face of each triangle; NULL: each triangle is a face */
    bool as_segments;        /* degenerate triangles are searched */
    uint32_t degenerate_faces;

    /* Boxes are x * scale - origin in float32, rounded outwards. */
    double scale;
    carom_vec3 origin;
    carom_box bounds;           /* of all vertices */
    carom_vec3 lowest, highest; /* their bounds as given, of soups on the CPU */
    const carom_bvh *bvh;       /* empty if the soup has no tree */
    /* NULL on the CPU. Else positions on the host may be stale, and there is no tree. */
    const struct carom_device_soup *device;
    const uint32_t *slot_corners; /* three corners per slot of the tree */
} carom_soup_view;

void carom_soup_get_view(const carom_soup *soup, carom_soup_view *view);

/* The same of a soup on the GPU, with the tree that the CPU would make, which the soup keeps until
 * its next change. CAROM_UNSUPPORTED: its positions are in device memory alone. */
carom_status carom_soup_get_view_on_cpu(carom_context *context, const carom_soup *soup,
                                        carom_soup_view *view);
bool carom_soup_is_stale(const carom_soup *soup);
/* CAROM_OK if queries that need a tree can search the soup on the GPU. */
carom_status carom_soup_device_check_tree(carom_context *context, const carom_soup *soup);

/* The same with the positions as they are on the device, in scratch of worker 0 where those on the
 * host are stale. */
carom_status carom_soup_get_current_view(carom_context *context, const carom_soup *soup,
                                         carom_soup_view *view);

/* carom_soup_cross_distance_batch on the GPU, of soups on the CPU that keep their copies there, in
 * poses that were checked. */
carom_status carom_soup_device_distances_of_cpu(carom_context *context,
                                                const carom_soup_pair *pairs, uint64_t count,
                                                carom_soup_gap *gaps);

/* First lines of a public query of one soup, and of two. */
#define CAROM_REQUIRE_SOUP(context, soup)                                                          \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_INPUT(soup, "soup")
#define CAROM_REQUIRE_SOUPS(context, a, b)                                                         \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_BOTH(a, b, "soup")

/* Returns CAROM_OK, or why the soup cannot be searched: its tree was lost, or it never had one. */
carom_status carom_soup_check_ready(carom_context *context, const carom_soup *soup);
/* The same for searches that every method supports. */
carom_status carom_soup_check_any(carom_context *context, const carom_soup *soup);

/* The same for searches that have a GPU version, on the backend of the context. */
carom_status carom_soup_check_here(carom_context *context, const carom_soup *soup);

/* CAROM_BAD_INPUT if the pose `whose` is not finite. NULL is fine. */
carom_status carom_soup_check_pose(carom_context *context, const carom_pose *pose,
                                   const char *whose);

/* The box of a triangle in the frame of the soup's boxes; empty if the triangle is not searched. */
carom_box carom_soup_box(const carom_soup *soup, uint32_t triangle);

/* carom_soup_create and carom_soup_self_pairs on the CPU, whatever the backend of the context: for
 * engines whose structures are prepared there. Posed pairs (soup_posed_pair.h) are of such soups.
 */
carom_status carom_soup_create_on_cpu(carom_context *context, const carom_soup_def *def,
                                      carom_soup **soup);
carom_status carom_soup_self_pairs_on_cpu(carom_context *context, const carom_soup *soup,
                                          carom_pairs *pairs);

/* The same on the GPU, in a context of that backend. */
carom_status carom_soup_create_on_device(carom_context *context, const carom_soup_def *def,
                                         carom_soup **soup);
/* Updates such a soup of triangles from positions in device memory, in doubles, and waits: how many
 * degenerate faces it has then, and its pairs, as carom_soup_self_pairs_on_cpu gives them. */
carom_status carom_soup_self_pairs_on_device(carom_context *context, carom_soup *soup,
                                             const void *device_positions,
                                             uint32_t *degenerate_faces, carom_pairs *pairs);

/* Makes *soup a soup with the faces of `like` and other positions. `like` is a soup of
 * triangles on the CPU; *soup is NULL or from an earlier call for a soup of the same faces, whose
 * memory is used again. The trees keep the order of those of `like` while their boxes are tight, if
 * it is rigid.
 * After a failure *soup may only be passed here again or destroyed. */
carom_status carom_soup_follow_on_cpu(carom_context *context, const carom_soup *like,
                                      const double *positions, carom_soup **soup);
/* Where a soup from carom_soup_follow_on_cpu has positions and the nodes of its aligned tree, for
 * a GPU that writes them. */
void carom_soup_get_written(carom_soup *soup, double **positions, carom_bvh_node **nodes);
/* Prepares such a soup for positions with these bounds and no degenerate triangle; the boxes of the
 * nodes are then in its new frame. It has no oriented tree: searches use the aligned one. */
void carom_soup_begin_written(carom_soup *soup, const double low[3], const double high[3]);
/* Changes how searches of the aligned tree, such as for the pairs of a soup, treat degenerate
 * triangles. After a failure the soup may only be destroyed. */
carom_status carom_soup_treat_degenerate_on_cpu(carom_context *context, carom_soup *soup,
                                                carom_soup_degenerate treatment);

/* For tests and fuzzers: NULL, or the first invariant of the soup, its tree or its grid that does
 * not hold. O(n log n). */
const char *carom_soup_validate(const carom_soup *soup);

/* A vertex in packed positions of either type. */
static inline carom_vec3 carom_soup_read_position(const void *positions, carom_scalar scalar,
                                                  uint32_t vertex) {
    if (scalar == CAROM_SCALAR_FLOAT32) {
        const float *xyz = (const float *)positions + 3 * (uint64_t)vertex;
        return carom_vec((double)xyz[0], (double)xyz[1], (double)xyz[2]);
    }
    const double *xyz = (const double *)positions + 3 * (uint64_t)vertex;
    return carom_vec(xyz[0], xyz[1], xyz[2]);
}

static inline carom_vec3 carom_soup_view_position(const carom_soup_view *view, uint32_t vertex) {
    return carom_soup_read_position(view->positions, view->scalar, vertex);
}

static inline const uint32_t *carom_soup_view_corners(const carom_soup_view *view,
                                                      uint64_t triangle) {
    return view->corners + 3 * triangle;
}

static inline uint32_t carom_soup_view_face(const carom_soup_view *view, uint32_t triangle) {
    return view->faces != NULL ? view->faces[triangle] : triangle;
}

/* Whether searches consider a triangle. */
static inline bool carom_soup_view_searched(const carom_soup_view *view, uint32_t triangle) {
    uint8_t state = view->states[triangle];
    return state == 0 || (state == CAROM_SOUP_DEGENERATE && view->as_segments);
}

/* Whether two triangles with these corners have a common vertex. */
static inline bool carom_soup_common_vertex(const uint32_t *a, const uint32_t *b) {
    return a[0] == b[0] || a[0] == b[1] || a[0] == b[2] || a[1] == b[0] || a[1] == b[1] ||
           a[1] == b[2] || a[2] == b[0] || a[2] == b[1] || a[2] == b[2];
}

/* The triangle with these corners. */
static inline carom_triangle carom_soup_view_shape(const carom_soup_view *view,
                                                   const uint32_t *corners) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_soup_view_position(view, corners[i]);
    return t;
}

static inline carom_triangle carom_soup_view_triangle(const carom_soup_view *view,
                                                      uint64_t triangle) {
    return carom_soup_view_shape(view, carom_soup_view_corners(view, triangle));
}

#endif
