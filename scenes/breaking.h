/* SPDX-License-Identifier: MIT */
/* breaking.h: a sheet that waves and breaks, by seed: faces go and others come every frame. */
#ifndef CAROM_SCENES_BREAKING_H
#define CAROM_SCENES_BREAKING_H

#include "carom/carom.h"

#define SCENE_BREAKING_AT_ONCE 4u /* faces that may break in a frame */

/* Vertices and faces keep their numbers for ever; those of dead faces are not used again. */
typedef struct scene_breaking {
    carom_random random;
    uint64_t frame, frames;
    uint64_t vertex_count, face_count;
    double (*positions)[3]; /* now */
    uint32_t (*corners)[3];
    bool *dead; /* of each face */

    /* What the last step did, in this order: these faces went, these came with vertices of their
     * own, then all vertices moved. */
    uint32_t removed[16 * SCENE_BREAKING_AT_ONCE];
    uint32_t removed_count;
    uint64_t first_new_vertex, first_new_face;

    /* How vertices move. */
    double (*rest)[3], (*velocity)[3];
    uint64_t *born; /* frame of each vertex */
    uint64_t *dies; /* frame of each face; 0: whenever it breaks */
    uint64_t sheet_faces;
    uint64_t first_old; /* of the splinters: those before this one are dead */
} scene_breaking;

/* A sheet of size x size cells and room for so many frames. False when there is no memory. */
bool scene_breaking_begin(scene_breaking *scene, uint32_t size, uint64_t frames, uint64_t seed);

/* The next frame; at most as many as announced. */
void scene_breaking_step(scene_breaking *scene);

void scene_breaking_end(scene_breaking *scene);

#endif
