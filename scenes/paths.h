/* SPDX-License-Identifier: MIT */
/* paths.h: poses along paths, as in the papers' experiments. */
#ifndef CAROM_SCENES_PATHS_H
#define CAROM_SCENES_PATHS_H

#include "carom/carom.h"

/* A point in a pose, for drawing and setting up: not the arithmetic of soup.h. */
carom_vec3 scene_pose_apply(const carom_pose *pose, carom_vec3 point);

/* Weller, Frese, Zachmann 2013: a copy turns about the middle of its box while it slides from one
 * box length apart into the same place. */
void scene_path_slide(const carom_bounds *box, uint32_t count, carom_pose *poses);

/* A smooth path through key poses, of which there are at least two: `count` poses from the first to
 * the last. Between two keys it is a cubic curve whose tangents are half the way between the keys
 * on either side (Catmull and Rom), in positions and in turns. */
void scene_path_through(const carom_pose *keys, uint32_t key_count, uint32_t count,
                        carom_pose *poses);

#endif
