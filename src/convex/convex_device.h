/* SPDX-License-Identifier: MIT */
/* convex_device.h: what the GPU library does for convex shapes, as the core sees it. */
#ifndef CAROM_SRC_CONVEX_CONVEX_DEVICE_H
#define CAROM_SRC_CONVEX_CONVEX_DEVICE_H

#include "base/device.h"
#include "convex/convex_manifold_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arrays of a hull in device memory. */
typedef struct carom_device_hull carom_device_hull;

/* Shapes in device memory. */
typedef struct carom_device_shapes carom_device_shapes;

/* A shape and, for a hull, what queries see of it, with addresses on the device. */
typedef struct carom_device_shape {
    carom_convex shape;
    carom_hull_view view;
    const carom_hull_faces *faces;
    uint32_t face_corners; /* the most corners of a face, also of a shape that is no hull */
} carom_device_shape;

/* Posed shapes; arrays on the device. */
typedef struct carom_device_bodies {
    const carom_device_shapes *shapes;
    const uint32_t *shape_of; /* of each body; NULL: all have the first */
    const carom_pose *poses;
    uint64_t count;
} carom_device_bodies;

/* Queries of pairs of bodies. */
typedef struct carom_device_questions {
    carom_device_bodies bodies;
    const carom_cuda_pairs *pairs;
    carom_convex_question question;
    carom_convex_query_def def;
    carom_convex_learned *learned; /* on the device, one per pair, or NULL */
} carom_device_questions;

typedef struct carom_cuda_convex {
    carom_status (*hull_create)(carom_device *device, const carom_hull_view *view,
                                const carom_hull_faces *faces, carom_device_hull **hull);
    void (*hull_destroy)(carom_device_hull *hull);
    uint64_t (*hull_bytes)(const carom_device_hull *hull);
    /* Fills what a shape needs of a hull. */
    void (*hull_shape)(const carom_device_hull *hull, carom_device_shape *to);

    /* Copies shapes to the device; waits. */
    carom_status (*shapes_create)(carom_device *device, const carom_device_shape *shapes,
                                  uint32_t count, carom_device_shapes **out);
    void (*shapes_destroy)(carom_device_shapes *shapes);

    /* Queues: the boxes of bodies. */
    carom_status (*boxes)(carom_device *device, const carom_device_bodies *bodies,
                          carom_bounds *boxes);
    /* Queues: the answers, in the order of the pairs. */
    carom_status (*query)(carom_device *device, const carom_device_questions *questions,
                          carom_cuda_convex_results *results);
    void (*results_free)(carom_cuda_convex_results *results);
    /* Queues: the answers for the question for depths, with contact points. */
    carom_status (*contacts)(carom_device *device, const carom_device_questions *questions,
                             double reach, carom_cuda_convex_manifolds *manifolds);
    void (*manifolds_free)(carom_cuda_convex_manifolds *manifolds);
} carom_cuda_convex;

#define CAROM_CUDA_CONVEX "carom_cuda_convex_2"

#ifdef __cplusplus
}
#endif

#endif
