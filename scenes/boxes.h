/* SPDX-License-Identifier: MIT */
/* boxes.h: many moving boxes, by seed: the input on which broad phases are compared. */
#ifndef CAROM_SCENES_BOXES_H
#define CAROM_SCENES_BOXES_H

#include "carom/carom.h"

typedef enum scene_boxes_sizes {
    SCENE_BOXES_MONO = 0, /* cubes of edge 2 */
    SCENE_BOXES_POLY,     /* cubes of edges 0.1 to 10, their logarithms uniform */
    SCENE_BOXES_COUNT
} scene_boxes_sizes;

/* The seed of the published counts. */
#define SCENE_BOXES_SEED 424242u

/* Cubes with uniform centres in a cube of which they fill 5 %, each with a velocity of a tenth of
 * its edge per frame in a random direction. All coordinates are multiples of 2^-14 and, up to a
 * million boxes, exact as float32; no two boxes touch without overlapping. */
typedef struct scene_boxes {
    uint64_t count;
    double edge;          /* of the cube that holds all centres */
    carom_vec3 *centres;  /* of each box */
    carom_vec3 *velocity; /* per frame */
    double *half;         /* half the edge of each box */
    carom_bounds *bounds; /* as of the last frame */
} scene_boxes;

/* False when there is no memory; free it in any case. */
bool scene_boxes_make(uint64_t count, scene_boxes_sizes sizes, uint64_t seed, scene_boxes *boxes);
void scene_boxes_free(scene_boxes *boxes);

/* Advances boxes [first, end) by one frame: a box about to leave the cube turns back. */
void scene_boxes_move(scene_boxes *boxes, uint64_t first, uint64_t end);

/* The checksum of a set of pairs, in any order. */
uint64_t scene_boxes_checksum(const carom_pair *pairs, uint64_t count);

#endif
