/* SPDX-License-Identifier: MIT */
/* tree_cylinder_item.h: how far a cylinder of a surface reaches along a direction. CPU and GPU
 * share it. */
#ifndef CAROM_SRC_TREE_TREE_CYLINDER_ITEM_H
#define CAROM_SRC_TREE_TREE_CYLINDER_ITEM_H

#include "tree/tree.h"

/* Added to 1 - (n u)^2: an upper bound of its error in float32. Both directions have a length of at
 * most 1 + 2^-22, and some eight roundings of 2^-24 of terms up to 1 follow. */
#define CAROM_TREE_SINE_ERROR 0x1p-20f

/* Directions are multiplied by this, so that their length, after as many roundings, is at most 1,
 * as the bound above needs. */
#define CAROM_TREE_DIRECTION_LENGTH (1.0f - CAROM_TREE_FLOAT_SLACK)

/* How far a cylinder reaches along a direction, with `cosine` to its axis. */
CAROM_ITEM float carom_tree_reach_along(float cosine, float radius, float height) {
    float rest = 1.0f - cosine * cosine;
    rest = (rest < 0.0f ? 0.0f : rest) + CAROM_TREE_SINE_ERROR;
    return fabsf(cosine) * height + sqrtf(rest) * radius;
}

#endif
