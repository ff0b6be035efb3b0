/* SPDX-License-Identifier: MIT */
/* breaking.h: a waving sheet that breaks, by seed: faces are removed and added in every frame. */
#ifndef CAROM_SCENES_BREAKING_H
#define CAROM_SCENES_BREAKING_H

#include "carom/carom.h"

#define SCENE_BREAKING_AT_ONCE 4u /* faces that may break in one frame */

/* Vertices and faces keep their indices; those of removed faces are not reused. */
typedef struct scene_breaking {
    carom_random random;
    uint64_t frame, frames;
    uint64_t vertex_count, face_count;
    double (*positions)[3]; /* current */
    uint32_t (*corners)[3];
    bool *dead; /* removed, per face */

    /* The changes of the last step, in this order: these faces were removed, these were added with
     * vertices of their own, then all vertices moved. */
    uint32_t removed[16 * SCENE_BREAKING_AT_ONCE];
    uint32_t removed_count;
    uint64_t first_new_vertex, first_new_face;

    /* The motion of vertices. */
    double (*rest)[3], (*velocity)[3];
    uint64_t *born; /* frame in which each vertex was added */
    uint64_t *dies; /* frame in which each face is removed; 0: when it breaks */
    uint64_t sheet_faces;
    uint64_t first_old; /* first splinter that may still be present */
} scene_breaking;

/* A sheet of size x size cells with capacity for so many frames. False when there is no memory. */
bool scene_breaking_begin(scene_breaking *scene, uint32_t size, uint64_t frames, uint64_t seed);

/* Computes the next frame; at most as many frames as given to scene_breaking_begin. */
void scene_breaking_step(scene_breaking *scene);

void scene_breaking_end(scene_breaking *scene);

#endif
