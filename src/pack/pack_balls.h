/* SPDX-License-Identifier: MIT */
/* pack_balls.h: the balls that are inserted so far, found by a point near them.
 *
 * Hash grids of several cell sizes. A cell lists all balls of its level that come within `reach` of
 * it, so that a point reads one list per level. */
#ifndef CAROM_SRC_PACK_PACK_BALLS_H
#define CAROM_SRC_PACK_PACK_BALLS_H

#include "base/array.h"
#include "pack/pack_cpu.h"

CAROM_ARRAY(carom_pack_ball_array, carom_spheres_ball);

typedef struct carom_pack_chunk {
    uint32_t next, count;
    uint32_t balls[CAROM_PACK_CHUNK];
} carom_pack_chunk;
CAROM_ARRAY(carom_pack_chunk_array, carom_pack_chunk);

typedef struct carom_pack_slot {
    uint64_t key;   /* the cell; CAROM_PACK_NO_CELL: empty */
    uint32_t first; /* chunk, the newest */
} carom_pack_slot;
#define CAROM_PACK_NO_CELL UINT64_MAX

typedef struct carom_pack_level {
    double cell; /* edge */
    carom_pack_slot *slots;
    uint64_t mask, used; /* mask + 1 slots, 0 of them before the first ball */
} carom_pack_level;

typedef struct carom_pack_balls {
    carom_allocator allocator;
    carom_pack_ball_array balls;
    carom_pack_chunk_array chunks;
    carom_pack_level levels[CAROM_PACK_LEVELS];
    double reach;
} carom_pack_balls;

void carom_pack_balls_begin(carom_pack_balls *balls, const carom_allocator *allocator);
void carom_pack_balls_free(carom_pack_balls *balls);

/* Files all balls anew in cells of this edge and those larger; false if out of memory. */
bool carom_pack_balls_file(carom_pack_balls *balls, double cell, double reach);

/* Adds a ball; false if out of memory. */
bool carom_pack_balls_add(carom_pack_balls *balls, carom_spheres_ball ball);

/* Adds to `near` all balls within `spread` of the nearest one's distance from the point, as far as
 * there is space, and lowers near->least. Balls farther than the reach may be missing. */
void carom_pack_balls_search(const carom_pack_balls *balls, carom_vec3 point, double spread,
                             carom_spheres_near *near);

/* The distance from the nearest ball, at most the reach. */
double carom_pack_balls_distance(const carom_pack_balls *balls, carom_vec3 point);

/* Gets the ball that a point is in, or on; false: none. */
bool carom_pack_balls_find(const carom_pack_balls *balls, carom_vec3 point,
                           carom_spheres_ball *ball);

#endif
