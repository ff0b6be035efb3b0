/* SPDX-License-Identifier: MIT */
/* sequence_scenes.h: what the scenes consist of. */
#ifndef CAROM_SCENES_SEQUENCE_SCENES_H
#define CAROM_SCENES_SEQUENCE_SCENES_H

#include "scenes/sequence.h"

/* Adds everything to an empty sequence that has its kind and its number of frames. */
void scene_sequence_fill(scene_sequence *s, uint64_t triangles);

#endif
