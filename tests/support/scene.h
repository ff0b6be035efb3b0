/* SPDX-License-Identifier: MIT */
/* scene.h: objects of all kinds for tests of scenes, and the contact of two of them by the public
 * functions of the engines, one pair at a time. */
#ifndef CAROM_TESTS_SCENE_H
#define CAROM_TESTS_SCENE_H

#include "tests/support/test.h"

#define SCENE_MESHES 4u

/* What objects borrow: a hull, and meshes each as soup, solid and packing; the last mesh is open.
 */
typedef struct scene_things {
    carom_hull *hull;
    carom_mesh *meshes[SCENE_MESHES];
    carom_soup *soups[SCENE_MESHES];
    carom_solid *solids[SCENE_MESHES]; /* NULL for the open one */
    carom_tree *trees[SCENE_MESHES];   /* of packings; NULL for the open one */
} scene_things;

void scene_things_make(carom_context *context, scene_things *things);
void scene_things_free(scene_things *things);

/* The fixture of a program: a context, and things made with it. */
#define SCENE_THINGS(threads)                                                                      \
    static carom_context *context;                                                                 \
    static scene_things things;                                                                    \
    static int set_up(void **state) {                                                              \
        (void)state;                                                                               \
        context = test_context(threads);                                                           \
        scene_things_make(context, &things);                                                       \
        return 0;                                                                                  \
    }                                                                                              \
    static int tear_down(void **state) {                                                           \
        (void)state;                                                                               \
        scene_things_free(&things);                                                                \
        carom_context_destroy(context);                                                            \
        return 0;                                                                                  \
    }

/* A random object about 1 in size, within a cube of edge `room`. On a lattice where `lattice`: then
 * objects touch often. `kinds`: bits of 1 << carom_scene_object_kind. */
carom_scene_object_def scene_object(const scene_things *things, carom_random *random, double room,
                                    bool lattice, uint32_t kinds);
carom_pose scene_pose(carom_random *random, double room, bool lattice);

/* The object itself; of a packing, the solid that was packed. */
carom_scene_object_def scene_exact(const scene_things *things,
                                   const carom_scene_object_def *object);

/* The contact of two objects as the engines answer it, by no code of the scene. */
typedef struct scene_answer {
    bool in_contact;
    carom_relation relation;
    double distance, depth, volume; /* depth of convex pairs only */
    double error;
    uint64_t triangle_pairs; /* of meshes */
} scene_answer;

scene_answer scene_oracle_query(carom_context *context, const carom_scene_object_def *a,
                                const carom_scene_object_def *b, double reach);

/* A scene of these objects. */
carom_scene *scene_make(carom_context *context, const carom_scene_object_def *objects,
                        uint32_t count, double reach);

#endif
