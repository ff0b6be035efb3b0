/* SPDX-License-Identifier: MIT */
/* pile.h: many hulls that lie on and beside each other, by seed: the input on which the contacts of
 * scenes are measured. */
#ifndef CAROM_SCENES_PILE_H
#define CAROM_SCENES_PILE_H

#include "carom/carom.h"

/* The seed of the published counts, and their number of hulls. */
#define SCENE_PILE_SEED  464646u
#define SCENE_PILE_COUNT 20000u

#define SCENE_PILE_SHAPES 8u /* hulls that differ; each object borrows one */

/* Hulls of 32 random points near the unit sphere, in random orientations, 25 by 25 to a layer, so
 * near to each other that each overlaps four to five others, by up to an eighth of its size. They
 * move as in a pile that comes to rest: to and fro, in a step by a thousandth of their size and
 * of a radian. */
typedef struct scene_pile {
    uint64_t count, steps;
    carom_hull *hulls[SCENE_PILE_SHAPES]; /* object i has hull i % SCENE_PILE_SHAPES */
    carom_pose *poses;                    /* as of the last step */
    carom_vec3 *velocity;                 /* per step */
    carom_vec3 *turning;                  /* per step, in radians */
} scene_pile;

/* Fails like carom_hull_create, and with CAROM_NO_MEMORY; free it in any case. */
carom_status scene_pile_make(carom_context *context, uint64_t count, uint64_t seed,
                             scene_pile *pile);
void scene_pile_free(scene_pile *pile);

/* Adds all objects of a pile to a scene, in their order. */
carom_status scene_pile_add(carom_context *context, const scene_pile *pile, carom_scene *scene);

/* Moves all objects by one step. */
void scene_pile_move(scene_pile *pile);

#endif
