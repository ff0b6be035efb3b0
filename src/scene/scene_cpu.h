/* SPDX-License-Identifier: MIT */
/* scene_cpu.h: objects, and what is computed of their support points, compiled per instruction set.
 */
#ifndef CAROM_SRC_SCENE_SCENE_CPU_H
#define CAROM_SRC_SCENE_SCENE_CPU_H

#include "base/isa.h"
#include "carom/scene.h"
#include "convex/convex_query_item.h"

/* What a step reads and writes of every object comes first, in as few cache lines as possible. */
typedef struct carom_scene_object {
    carom_scene_object_kind kind;
    carom_pose pose;
    carom_bounds box;    /* of the posed object; conservative */
    carom_convex convex; /* of a convex object */
    const carom_hull_view *hull;
    const carom_soup *soup; /* of a soup or solid */
    const carom_solid *solid;
    const carom_tree *tree; /* of a packing */
    carom_bounds local;     /* of a mesh or packing, in its own frame */
} carom_scene_object;

/* The box of a convex object in a frame. It is enlarged so that objects that touch, up to the
 * tolerance of convex.h, have boxes that overlap. */
CAROM_CPU_DECLARE(carom_bounds, carom_scene_convex_box, const carom_convex *shape,
                  const carom_hull_view *hull, const carom_frame *frame);

/* Whether two convex objects are surely farther apart than `gap` in a direction from a to b, of
 * about unit length, so that every query says so. */
CAROM_CPU_DECLARE(bool, carom_scene_separated, const carom_scene_object *a,
                  const carom_scene_object *b, carom_vec3 direction, double gap);

#endif
