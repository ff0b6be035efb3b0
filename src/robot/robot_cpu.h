/* SPDX-License-Identifier: MIT */
/* robot_cpu.h: kinematics and spheres of many configurations in floats, one per lane, compiled per
 * instruction set.
 * Operations are those of the scalar expressions in every instruction set, without contraction, so
 * the bits are the same. */
#ifndef CAROM_SRC_ROBOT_ROBOT_CPU_H
#define CAROM_SRC_ROBOT_ROBOT_CPU_H

#include "base/isa.h"
#include "carom/robot.h"
#include "robot/robot_plan.h"

/* A block of configurations; arrays have CAROM_ROBOT_BLOCK lanes per row. */
typedef struct carom_robot_block {
    uint32_t lanes;         /* those that are computed */
    float margin;           /* enlarged, of covers */
    float inner_margin;     /* diminished, of inner balls */
    const double *q;        /* of each column */
    const float *half_time; /* of motions: half the length of the lane's interval */
    const float *speed;     /* of motions: that of each pair; NULL: configurations stand still */
    float *frames;          /* 12 rows per frame: the matrix by rows, the translation */
    float *at;              /* 3 rows per sphere, of bounding balls and covers alone */
    bool *posed;            /* of each body: its cover is in `at` */
    float *near;            /* 4 rows per CAROM_ROBOT_BLOCK spheres of the largest finer cover */
    uint32_t *near_lanes;   /* those of each vector of them that may meet the other body */

    uint32_t entry_count; /* pairs that are undecided, in order within each lane */
    uint32_t *entry_pair, *entry_lanes;
    uint32_t hit; /* lanes whose inner balls overlap */
    uint32_t hit_pair[CAROM_ROBOT_BLOCK];

    float *gap; /* of carom_robot_plan_gaps: a row per pair */
} carom_robot_block;

/* Which lanes are free, collide, or have undecided pairs. */
CAROM_CPU_DECLARE(void, carom_robot_plan_check, const carom_robot_plan *plan,
                  carom_robot_block *block);

/* Lower bounds of the distances of all pairs, which may be negative; of trees those from bounding
 * ball to bounding ball. Margins are not read. */
CAROM_CPU_DECLARE(void, carom_robot_plan_gaps, const carom_robot_plan *plan,
                  carom_robot_block *block);

/* The same of one pair in one lane, by finer covers; of trees as above. Of a block that
 * carom_robot_plan_gaps was called for. */
CAROM_CPU_DECLARE(float, carom_robot_plan_fine_gap, const carom_robot_plan *plan,
                  const carom_robot_block *block, uint32_t lane, uint32_t pair);

#endif
