/* SPDX-License-Identifier: MIT */
/* soup_device.h: what the GPU library does for soups, as the core sees it. */
#ifndef CAROM_SRC_SOUP_SOUP_DEVICE_H
#define CAROM_SRC_SOUP_SOUP_DEVICE_H

#include "base/device.h"
#include "carom/soup.h"
#include "geom/pose.h"
#include "grid/grid_item.h"
#include "soup/soup_near.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arrays of a soup in device memory, with its tree. */
typedef struct carom_device_soup carom_device_soup;

/* The arrays of a soup in host memory (soup.h). */
typedef struct carom_device_soup_def {
    const void *positions; /* packed */
    bool doubles;
    bool as_segments;
    uint32_t vertex_count, triangle_count, face_count;
    const uint32_t *corners, *faces; /* faces may be NULL */
    const uint8_t *states;
} carom_device_soup_def;

/* A soup in a search for pairs, posed. */
typedef struct carom_device_posed {
    const carom_device_soup *soup; /* NULL for the second of a search of one soup */
    bool moved;                    /* false: the frame is the identity */
    carom_frame frame;
} carom_device_posed;

/* How candidates are found. */
typedef struct carom_device_method {
    bool by_grid; /* else by tree */
    carom_grid_table table;
    int32_t lift; /* of carom_grid_space */
} carom_device_method;

/* Pairs that doubles cannot compare with a margin, in device memory until the next query. */
typedef struct carom_device_within {
    const carom_device_near *undecided;
    uint64_t undecided_count;
} carom_device_within;

/* The segments of given pairs, in device memory until the next query. */
typedef struct carom_device_segments {
    const carom_soup_segment *segments; /* in order, but for those of the rest */
    const uint32_t *starts;             /* of the segments of each pair; one more at the end */
    const uint32_t *rest; /* pairs that integers on the device are too short for, in any order */
    uint64_t rest_count;
} carom_device_segments;

/* Where two triangles of these faces meet, in integers of any length; `segments` has space for
 * CAROM_INTERSECTION_MOST. Returns how many there are. */
typedef uint32_t carom_segments_decide_fn(const carom_triangle *a, const carom_triangle *b,
                                          carom_pair faces, carom_soup_segment *segments);

typedef struct carom_cuda_soup {
    carom_status (*create)(carom_device *device, carom_device_soup **soup);
    void (*destroy)(carom_device_soup *soup);
    /* Copies arrays from the host and prepares; waits. Positions that are NULL stay as they are,
     * and so do corners and faces at the same address as before. */
    carom_status (*set)(carom_device *device, carom_device_soup *soup,
                        const carom_device_soup_def *def);
    /* Queues: copies positions on the device, of the same scalar as before, and prepares. */
    carom_status (*update)(carom_device *device, carom_device_soup *soup, const void *positions,
                           carom_device_owner owner);
    carom_status (*get_positions)(carom_device *device, const carom_device_soup *soup,
                                  void *positions);
    uint32_t (*degenerate_faces)(const carom_device_soup *soup); /* of the last finished change */
    uint64_t (*bytes)(const carom_device_soup *soup);

    /* Queues a search for the pairs of one soup or of two. `pairs` NULL: they are counted only, for
     * soups of triangles. Either way the work and the count are those of `found` after finish. */
    carom_status (*search)(carom_device *device, const carom_device_posed *a,
                           const carom_device_posed *b, const carom_device_method *method,
                           carom_cuda_order order, carom_cuda_pairs *pairs, uint64_t *count);
    carom_status (*get_work)(carom_device *device, carom_work *work); /* of the last search */

    /* Counts the near faces of a soup of triangles (soup_near.h); waits. */
    carom_status (*k_free)(carom_device *device, const carom_device_soup *soup,
                           carom_device_k_free *result);

    /* Finds the faces within a margin, sorted, but for those of *result; waits. Of one soup of
     * polygons also those that have a common vertex in other triangles. */
    carom_status (*within)(carom_device *device, const carom_device_posed *a,
                           const carom_device_posed *b, double margin, carom_cuda_pairs *pairs,
                           carom_device_within *result);

    /* Finds where pairs of faces that are there meet; b NULL: of one soup. Waits. */
    carom_status (*segments)(carom_device *device, const carom_device_posed *a,
                             const carom_device_posed *b, const carom_pair *pairs, uint32_t count,
                             carom_device_segments *result);
    /* Queues the same for pairs in device memory; one such search is queued at a time. */
    carom_status (*segments_on_device)(carom_device *device, const carom_device_posed *a,
                                       const carom_device_posed *b, const carom_cuda_pairs *pairs,
                                       carom_cuda_segments *segments,
                                       carom_segments_decide_fn *decide);
    void (*segments_free)(carom_cuda_segments *segments);
} carom_cuda_soup;

#define CAROM_CUDA_SOUP "carom_cuda_soup_6"

#ifdef __cplusplus
}
#endif

#endif
