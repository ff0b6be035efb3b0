/* SPDX-License-Identifier: MIT */
/* pack_octree_item.h: the decisions of packing by an octree that CPU and GPU share: cells, the grid
 * of the balls inserted so far, bounds (pack_octree.c, pack_balls.c and pack_cpu.c explain them).
 */
#ifndef CAROM_SRC_PACK_PACK_OCTREE_ITEM_H
#define CAROM_SRC_PACK_PACK_OCTREE_ITEM_H

#include "geom/box.h"
#include "spheres/spheres_frame_item.h"

/* The smallest radius, in units of centres. Rounding a centre moves it by up to 0.87 units, which
 * is then 1.4 % of the radius. */
#define CAROM_PACK_LEAST_UNITS 64.0

/* The radius that a ball at a rounded centre may have, as a float32; 0 or less: none. Takes the
 * mesh distance and the distance of the balls. */
CAROM_ITEM double carom_pack_radius(double to_mesh, double to_balls) {
    double least = CAROM_MIN(to_mesh, to_balls) - CAROM_SPHERES_ERROR;
    return (double)carom_float_down(least, 0.0);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The centre is in units of 2^-31 of the root's edge. Its lowest bit set says which level the cell
 * is on: half its edge. */
typedef struct carom_pack_node {
    float bound; /* upper bound of empty balls with their centres in it */
    float apart; /* lower bound of the distance of its centre from the mesh */
    uint32_t x, y, z;
    uint32_t slot; /* of a triangle near it; the highest bit: wholly inside the solid */
} carom_pack_node;

#define CAROM_PACK_INSIDE    (UINT32_C(1) << 31)
#define CAROM_PACK_NO_SLOT   (UINT32_MAX & ~CAROM_PACK_INSIDE)
#define CAROM_PACK_ROOT_HALF (UINT32_C(1) << 30)

/* What is observed below: packings by 2,000 balls of cheburashka, fandisk and spot (6,000 to 13,000
 * faces), one thread; with the values here balls fill 0.809 of the solids after 1.8 s. */

/* A cell leads to a climb if the distance at its centre is this part of the round's radius.
 * Observed: 0.5 takes 1.5 times as long, 0.9 as long; the filling is the same to 0.0002. */
#define CAROM_PACK_CLIMB_FROM 0.75

/* In cells with a half diagonal above this part of the round's radius the sharper bound does not
 * pay. Observed: 0.2 takes 1.4 times as long, 0.8 takes 1.15. */
#define CAROM_PACK_SHARP_BELOW 0.4

/* The part of a bound beyond the distance itself that is believed where no certificate is wanted:
 * half, as the carom_packing_def says. Inside a ball the distance is negative and counts as 0: a
 * cell around a whole ball has space for others all the same. */
#define CAROM_PACK_FAST_TRUST 0.5

/* Cells whose half edge is at most this many units of centres are not divided: a sixteenth of the
 * smallest radius. */
#define CAROM_PACK_FINEST_UNITS 4.0

CAROM_ITEM uint32_t carom_pack_node_half(const carom_pack_node *c) {
    CAROM_ASSERT(c->x != 0 && (c->y & (0u - c->y)) == (c->x & (0u - c->x)) &&
                 (c->z & (0u - c->z)) == (c->x & (0u - c->x)));
    return c->x & (0u - c->x);
}

CAROM_ITEM carom_vec3 carom_pack_node_centre(const carom_pack_node *c, carom_vec3 low,
                                             double unit) {
    return carom_vec(low.x + (double)c->x * unit, low.y + (double)c->y * unit,
                     low.z + (double)c->z * unit);
}

/* A factor that raises lengths in the frame, about 1, by far more than some roundings of 2^-53. */
#define CAROM_PACK_UP (1.0 + 0x1p-40)
/* Lower bounds are stored as floats, rounded by 2^-24: they become smaller by this part, and by
 * this length where they are near zero. */
#define CAROM_PACK_FLOAT_PART  0x1p-20
#define CAROM_PACK_FLOAT_SLACK 0x1p-30f

/* The half diagonal, with the rounding of the centre and of bounds. */
CAROM_ITEM double carom_pack_node_reach(double half) {
    double h = 2.0 * half * CAROM_SPHERES_HALF_DIAGONAL;
    return h * CAROM_PACK_UP;
}

CAROM_ITEM carom_pack_node carom_pack_node_child(const carom_pack_node *c, uint32_t i,
                                                 double unit) {
    uint32_t half = carom_pack_node_half(c), q = half / 2;
    double away = (double)half * unit * CAROM_SPHERES_HALF_DIAGONAL; /* of a child's centre */
    CAROM_ASSERT(q != 0);
    carom_pack_node child = *c;
    child.x = (i & 1) != 0 ? c->x + q : c->x - q;
    child.y = (i & 2) != 0 ? c->y + q : c->y - q;
    child.z = (i & 4) != 0 ? c->z + q : c->z - q;
    child.apart =
        (float)(((double)c->apart - away) * (1.0 + CAROM_PACK_FLOAT_PART)) - CAROM_PACK_FLOAT_SLACK;
    return child;
}

/* Sets a lower bound of the distance from the mesh. */
CAROM_ITEM void carom_pack_node_set_apart(carom_pack_node *c, double apart) {
    c->apart = (float)(apart * (1.0 - CAROM_PACK_FLOAT_PART)) - CAROM_PACK_FLOAT_SLACK;
}

CAROM_ITEM void carom_pack_node_lower(carom_pack_node *c, double bound) {
    float up = carom_float_up(bound, 0.0);
    c->bound = CAROM_MIN(up, c->bound);
}

/* Sets what a search found: a distance from the mesh, the slot of the triangle there, and a bound.
 */
CAROM_ITEM void carom_pack_node_set_found(carom_pack_node *c, double apart, uint32_t slot,
                                          double bound) {
    carom_pack_node_set_apart(c, apart);
    c->slot = (c->slot & CAROM_PACK_INSIDE) | (slot & ~CAROM_PACK_INSIDE);
    carom_pack_node_lower(c, bound);
}

/* How much of a bound is believed. */
CAROM_ITEM double carom_pack_believe(bool fast, double least, double bound) {
    double floor = CAROM_MAX(least, 0.0);
    return fast && bound > floor ? floor + CAROM_PACK_FAST_TRUST * (bound - floor) : bound;
}

CAROM_ITEM uint32_t carom_pack_spread_bits(uint32_t x) {
    x = (x | x << 16) & UINT32_C(0x030000FF);
    x = (x | x << 8) & UINT32_C(0x0300F00F);
    x = (x | x << 4) & UINT32_C(0x030C30C3);
    return (x | x << 2) & UINT32_C(0x09249249);
}

/* The cube of space that a cell's group has, of 2^bits along each axis of the root. */
CAROM_ITEM uint32_t carom_pack_node_group(const carom_pack_node *c, uint32_t bits) {
    uint32_t drop = 31 - bits;
    return carom_pack_spread_bits(c->x >> drop) << 2 | carom_pack_spread_bits(c->y >> drop) << 1 |
           carom_pack_spread_bits(c->z >> drop);
}

/* ---- Climbing -------------------------------------------------------------------------------- */

/* Steps of a climb at most. Observed: 12 change the filling by 0.0001, 48 nothing. */
#define CAROM_PACK_CLIMB_STEPS 24

/* Relative gain below which a climb ends. Balls that are smaller by so much leave space for others.
 * Observed: 0.001 fills 0.0014 more in 1.04 times the time, 0.01 fills 0.003 less. */
#define CAROM_PACK_CLIMB_GAIN 0.003

/* A step is at most this part of the distance to the mesh, so that it stays on its side. Observed:
 * nothing changes up to 0.99. */
#define CAROM_PACK_SAFE_SHARE 0.9

/* How far beyond the nearest obstacles count, in steps. Two are exact: an obstacle is nearer by at
 * most a step after a step, and the nearest farther by one. */
#define CAROM_PACK_CLIMB_SPREAD 2.0

/* Where a step from a point leads to. */
CAROM_ITEM carom_vec3 carom_pack_climb_point(const double at[3], double step,
                                             const double direction[3]) {
    return carom_vec(at[0] + step * direction[0], at[1] + step * direction[1],
                     at[2] + step * direction[2]);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Steps of lowering a bound; and the part of it below which no more is to be gained. At twelve
 * steps the bound is within some percent of the best. */
#define CAROM_PACK_BOUND_STEPS 12
#define CAROM_PACK_BOUND_GAP   0.02

/* One constraint: at most e + (x, y, z).v. */
typedef struct carom_pack_linear {
    double e, x, y, z;
} carom_pack_linear;

CAROM_ITEM carom_pack_linear carom_pack_linear_make(const double point[3], double x, double y,
                                                    double z, double radius, double apart,
                                                    double reach) {
    carom_pack_linear l;
    double away = apart + radius;
    /* The square would exceed the trivial bound. */
    bool trivial = !(away > 0.5 * reach);
    double inverse = trivial ? 0.0 : 1.0 / away;
    l.e = apart + (trivial ? reach : 0.5 * reach * reach * inverse);
    l.x = (point[0] - x) * inverse;
    l.y = (point[1] - y) * inverse;
    l.z = (point[2] - z) * inverse;
    return l;
}

/* The t in [0, 1] that minimises a t + h |g + t w|. */
CAROM_ITEM double carom_pack_line_search(double a, double h, const double g[3], const double w[3]) {
    double A = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    double B = g[0] * w[0] + g[1] * w[1] + g[2] * w[2];
    double C = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    if (!(A > 0.0)) return a < 0.0 ? 1.0 : 0.0;
    double s = -a / (h * sqrt(A));
    if (s >= 1.0) return 1.0;
    if (s <= -1.0) return 0.0;
    double rest = A * C - B * B;
    double u = rest > 0.0 ? s * sqrt(rest / (1.0 - s * s)) : 0.0;
    double t = (u - B) / A;
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

/* The bound of a cell while it is lowered: of all convex combinations of the constraints, e + g d
 * for d within `reach`, the one whose largest value e + reach |g| is least. */
typedef struct carom_pack_bounding {
    double reach, goal, least; /* `least`: the distance of the nearest obstacle */
    double e, g[3];
    double here, bound;            /* of this combination, of the best one */
    double direction[3], along[3]; /* of g; as far as the cell reaches */
} carom_pack_bounding;

/* Begins with the constraint that is least at the point. */
CAROM_ITEM carom_pack_bounding carom_pack_bounding_begin(double reach, double goal, double least,
                                                         carom_pack_linear first) {
    carom_pack_bounding b;
    b.reach = reach;
    b.goal = goal;
    b.least = least;
    b.e = first.e;
    b.g[0] = first.x;
    b.g[1] = first.y;
    b.g[2] = first.z;
    b.here = b.bound = least + reach;
    for (int k = 0; k < 3; ++k) b.direction[k] = b.along[k] = 0.0;
    return b;
}

/* Takes the value of the combination; false where no other need be looked for. Else the constraint
 * that is least at `along` comes next. */
CAROM_ITEM bool carom_pack_bounding_value(carom_pack_bounding *b) {
    const double *g = b->g;
    double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    b->here = b->e + b->reach * length;
    b->bound = CAROM_MIN(b->here, b->bound);
    if (length > 0.0)
        for (int k = 0; k < 3; ++k) b->direction[k] = g[k] / length;
    for (int k = 0; k < 3; ++k) b->along[k] = b->reach * b->direction[k];
    return !(b->bound <= b->goal || !(length > 0.0));
}

/* Moves towards a constraint whose value at `along` is `value`, the least; false where that bounds
 * the optimum from below so well that nothing is to be gained. */
CAROM_ITEM bool carom_pack_bounding_move(carom_pack_bounding *b, carom_pack_linear to,
                                         double value) {
    if (!(b->here - value > CAROM_PACK_BOUND_GAP * (b->here - b->least))) return false;
    const double w[3] = {to.x - b->g[0], to.y - b->g[1], to.z - b->g[2]};
    double t = carom_pack_line_search(to.e - b->e, b->reach, b->g, w);
    b->e += t * (to.e - b->e);
    for (int k = 0; k < 3; ++k) b->g[k] += t * w[k];
    return true;
}

/* ---- The grid of balls ----------------------------------------------------------------------- */

/* Levels of the grid, the ratio of the cells of two, and of a ball's radius to its cell at most.
 * Radii up to 1/2 are 2^15 of the least cells: four levels hold them, and two are spare. */
#define CAROM_PACK_LEVELS      6u
#define CAROM_PACK_LEVEL_RATIO 16.0

#define CAROM_PACK_CHUNK 14u /* balls: with the two other members a cache line of 64 bytes */

/* Bits per axis in the key of a cell: three fit into 64. Coordinates, with a ball and its reach,
 * are below 16 = 2^4 and cells at least 2^-16 wide, so that cells are above -2^20 and below 2^20.
 */
#define CAROM_PACK_KEY_BITS   21
#define CAROM_PACK_KEY_OFFSET (INT64_C(1) << 20)
#define CAROM_PACK_LEAST_CELL 0x1p-16

/* Edge of the smallest cells and reach, in radii of the round in which balls are filed. A bound in
 * a cell with a half diagonal of 0.4 radii would have obstacles up to 1 + 2 x 0.4 radii away; those
 * beyond the reach are left out, which is as certain. Observed: cells of 0.75 take 1.4
 * times as long, of 3 take 0.92; a reach of 3.4 takes 1.07; the balls are the same. */
#define CAROM_PACK_CELL_RATIO  1.5
#define CAROM_PACK_REACH_RATIO 1.7

/* Balls are filed anew when the radius has fallen to this part. Observed: 0.3 takes
 * as long, 0.9 takes 1.05 times as long. */
#define CAROM_PACK_REFILE 0.6

CAROM_ITEM uint64_t carom_pack_key(int64_t x, int64_t y, int64_t z) {
    CAROM_ASSERT(x >= -CAROM_PACK_KEY_OFFSET && x < CAROM_PACK_KEY_OFFSET &&
                 y >= -CAROM_PACK_KEY_OFFSET && y < CAROM_PACK_KEY_OFFSET &&
                 z >= -CAROM_PACK_KEY_OFFSET && z < CAROM_PACK_KEY_OFFSET);
    return (uint64_t)(x + CAROM_PACK_KEY_OFFSET) << (2 * CAROM_PACK_KEY_BITS) |
           (uint64_t)(y + CAROM_PACK_KEY_OFFSET) << CAROM_PACK_KEY_BITS |
           (uint64_t)(z + CAROM_PACK_KEY_OFFSET);
}

CAROM_ITEM uint64_t carom_pack_key_hash(uint64_t key) {
    uint64_t at = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 20;
    return at ^ at >> 17;
}

CAROM_ITEM int64_t carom_pack_cell_of(double x, double cell) {
    return (int64_t)floor(x / cell);
}

/* The distance of x from the cell's side along an axis. */
CAROM_ITEM double carom_pack_cell_gap(double x, int64_t index, double cell) {
    double low = (double)index * cell, high = low + cell;
    return x < low ? low - x : x > high ? x - high : 0.0;
}

#endif
