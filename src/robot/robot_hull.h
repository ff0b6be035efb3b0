/* SPDX-License-Identifier: MIT */
/* robot_hull.h: the corners of a part's convex hull. A plane between two hulls proves that what is
 * in them is apart, without a look at faces: most links of robots are convex, or apart by a plane.
 */
#ifndef CAROM_SRC_ROBOT_ROBOT_HULL_H
#define CAROM_SRC_ROBOT_ROBOT_HULL_H

#include "base/isa.h"
#include "convex/convex_scan.h"
#include "geom/pose.h"

typedef struct carom_robot_hull {
    carom_hull_block *blocks; /* exactly the extreme points; the last block repeats the last one */
    uint32_t count;           /* of blocks; 0: none was made */
    double round;             /* what is at most so far from the hull belongs to the part, too */
} carom_robot_hull;

/* Whether a plane is found between a and b, moved to a's frame, so that they are farther apart than
 * `reach`, which includes what dot products may be off by. `d`, of length 1, is tried first. False
 * proves nothing. */
CAROM_CPU_DECLARE(bool, carom_robot_hulls_separated, const carom_robot_hull *a,
                  const carom_robot_hull *b, const carom_frame *b_to_a, carom_vec3 d, double reach);
typedef bool carom_robot_separated_fn(const carom_robot_hull *a, const carom_robot_hull *b,
                                      const carom_frame *b_to_a, carom_vec3 d, double reach);

#endif
