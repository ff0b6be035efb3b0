/* SPDX-License-Identifier: MIT */
/* scene_device.h: what the GPU library does for scenes, as the core sees it. */
#ifndef CAROM_SRC_SCENE_SCENE_DEVICE_H
#define CAROM_SRC_SCENE_SCENE_DEVICE_H

#include "carom/cuda.h"
#include "convex/convex_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The objects of a scene in device memory, and the contacts of its last step. */
typedef struct carom_device_scene carom_device_scene;

/* What is at an id. */
#define CAROM_DEVICE_SCENE_NONE   0u
#define CAROM_DEVICE_SCENE_CONVEX 1u
#define CAROM_DEVICE_SCENE_MESH   2u /* whose pairs are answered by other engines */

/* An object that was added or removed. */
typedef struct carom_device_scene_object {
    carom_device_shape shape; /* of a convex object */
    carom_bounds local;       /* of a mesh, in its own frame */
    carom_pose pose;
    uint32_t id;
    uint32_t kind; /* CAROM_DEVICE_SCENE_... */
} carom_device_scene_object;

/* A triangle as queries of convex shapes see it: the hull of three vertices, flat, with two faces
 * back to back. Nothing owns it; it is two views of the arrays here, and of tables of its topology
 * (scene_narrow.c). */
typedef struct carom_scene_triangle {
    carom_vec3 vertices[3], normals[2];
    carom_hull_block block;
    carom_hull_view view;
    carom_hull_faces faces;
    carom_pose pose; /* at its first corner, so that coordinates are small */
} carom_scene_triangle;

/* A convex object, a, and a triangle of a mesh, b. */
typedef struct carom_device_scene_face {
    carom_device_shape shape;
    carom_pose pose;
    carom_scene_triangle triangle;
} carom_device_scene_face;

/* An object that was moved. */
typedef struct carom_device_scene_pose {
    carom_pose pose;
    uint32_t id;
} carom_device_scene_pose;

/* What a step queues the broad and the narrow phase with. */
typedef struct carom_device_scene_step {
    const carom_bounds *boxes;      /* by id; empty where there is no object */
    carom_cuda_pairs *pairs;        /* for those of boxes */
    const carom_cuda_pairs *convex; /* of these, those of two convex objects, once they are split */
    carom_device_bodies bodies;
} carom_device_scene_step;

/* What a step found. */
typedef struct carom_device_scene_counts {
    uint64_t pairs, contacts; /* of boxes; of these, in contact */
} carom_device_scene_counts;

typedef struct carom_cuda_scenes {
    carom_status (*create)(carom_device *device, double reach, carom_device_scene **scene);
    void (*destroy)(carom_device_scene *scene);
    uint64_t (*bytes)(const carom_device_scene *scene);

    /* Copies from the host and wait: objects and poses of ids below `id_count`, each id once; all
     * pairs to leave out, a << 32 | b, sorted. */
    carom_status (*set_objects)(carom_device *device, carom_device_scene *scene,
                                const carom_device_scene_object *objects, uint64_t count,
                                uint32_t id_count);
    carom_status (*set_poses)(carom_device *device, carom_device_scene *scene,
                              const carom_device_scene_pose *poses, uint64_t count);
    carom_status (*set_ignored)(carom_device *device, carom_device_scene *scene,
                                const uint64_t *keys, uint64_t count);
    /* Copies the poses of all ids to the host, and waits. */
    carom_status (*get_poses)(carom_device *device, carom_device_scene *scene, carom_pose *poses);

    /* Queues: takes the poses of the first ids from device memory. */
    carom_status (*move)(carom_device *device, carom_device_scene *scene, const carom_pose *poses,
                         uint64_t count);

    /* A step, of which one may be queued at a time: queues the boxes; the caller then queues the
     * search for pairs of these, in any order, and their depths, which are the results; then the
     * contacts. */
    carom_status (*find_boxes)(carom_device *device, carom_device_scene *scene,
                               carom_device_scene_step *step);
    /* Of a scene with meshes, in between: queues the splitting of the pairs of boxes. Once all that
     * is queued is finished, the host reads those with a mesh, `count` of them, and gives the
     * contacts that it found, with their keys, sorted. */
    carom_status (*split)(carom_device *device, carom_device_scene *scene);
    uint64_t (*mesh_pairs)(const carom_device_scene *scene);
    carom_status (*get_mesh_pairs)(carom_device *device, const carom_device_scene *scene,
                                   carom_pair *pairs);
    /* Answers convex objects and triangles, and waits; nothing else is queued. */
    carom_status (*query_faces)(carom_device *device, carom_device_scene *scene,
                                const carom_cuda_convex *convex,
                                const carom_device_scene_face *faces, uint32_t count, double reach,
                                carom_cuda_convex_manifolds *on_device,
                                carom_convex_manifold *manifolds);
    carom_status (*set_mesh_contacts)(carom_device *device, carom_device_scene *scene,
                                      const carom_scene_contact *contacts, uint64_t count);
    carom_status (*find_contacts)(carom_device *device, carom_device_scene *scene,
                                  const carom_cuda_convex_results *results,
                                  carom_cuda_scene_contacts *contacts, carom_cuda_pairs *begun,
                                  carom_cuda_pairs *ended);
    /* Whether the step that was queued last is finished, without failure, and what it found. */
    bool (*is_complete)(const carom_device_scene *scene, carom_device_scene_counts *counts);
    /* Makes it the last one, with which the next step compares. */
    void (*commit)(carom_device_scene *scene);
    void (*contacts_free)(carom_cuda_scene_contacts *contacts);
} carom_cuda_scenes;

#define CAROM_CUDA_SCENES "carom_cuda_scenes_1"

#ifdef __cplusplus
}
#endif

#endif
