/* SPDX-License-Identifier: MIT */
/* robot_plan.h: kinematics, spheres and pairs in floats, as the loops of the CPU (robot_cpu.h) and
 * the kernels read them. robot_plan.c makes it anew after each change.
 *
 * What is computed from it only rules out and never decides alone by equality: all radii are
 * enlarged (covers) or diminished (inner balls) by the proved rounding of their centres and by
 * CAROM_ROBOT_SLACK for the rounding of the comparisons themselves. */
#ifndef CAROM_SRC_ROBOT_ROBOT_PLAN_H
#define CAROM_SRC_ROBOT_ROBOT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define CAROM_ROBOT_BLOCK 16u /* configurations of a block: lanes of the widest vector */

/* Relative: radii and distances are enlarged by 64 float roundings. A comparison takes at most 20:
 * three of a sum of radii, five of a squared distance, twelve of a point moved into a box. */
#define CAROM_ROBOT_SLACK 0x1p-18f

/* Added to squares that are compared, so that none of them is subnormal, where roundings are not
 * relative. */
#define CAROM_ROBOT_LEAST_SQUARE 0x1p-100f

/* Angles up to this are reduced by three parts of pi / 2, of which the product of the first two
 * with the number of quarter turns is exact. */
#define CAROM_ROBOT_MOST_ANGLE 0x1p20

/* 2 / pi; pi / 2 in three parts, the first two of 33 bits. */
#define CAROM_ROBOT_TWO_BY_PI 0x1.45f306dc9c883p-1
#define CAROM_ROBOT_PI_HALF_1 0x1.921fb54400000p+0
#define CAROM_ROBOT_PI_HALF_2 0x1.0b4611a600000p-34
#define CAROM_ROBOT_PI_HALF_3 0x1.3198a2e037073p-69
#define CAROM_ROBOT_TO_INTEGER                                                                     \
    0x1.8p52 /* added: rounds to an integer, which is in the lowest bits */

/* A joint that moves, and the frame that moves along: A + B sin + C cos is its rotation in the
 * parent's frame. */
typedef struct carom_robot_plan_joint {
    uint32_t parent; /* frame */
    uint32_t column; /* of the configuration */
    bool slides;
    double multiplier, offset; /* of its value: 1 and 0 unless it mimics */
    float a[9], b[9], c[9];
    float origin[3], slide[3]; /* its place in the parent's frame, and that moves per unit */
} carom_robot_plan_joint;

/* The spheres of a body: first its bounding ball, then its cover, then inner balls, then points,
 * then
 * the finer cover. */
typedef struct carom_robot_plan_body {
    uint32_t frame;
    uint32_t first, cover_count, inner_count, point_count;
    uint32_t fine, fine_count;      /* the finer cover: the cover itself where none is made */
    uint32_t fine_rows, inner_rows; /* where the two are in the plan's rows */
    bool live;                      /* has shapes */
} carom_robot_plan_body;

typedef enum carom_robot_plan_kind {
    CAROM_ROBOT_PLAN_BOX,
    CAROM_ROBOT_PLAN_BALLS, /* a few */
    CAROM_ROBOT_PLAN_TREE   /* only its bounding ball is tested here */
} carom_robot_plan_kind;

typedef struct carom_robot_plan_object {
    carom_robot_plan_kind kind;
    float ball[4];            /* centre and radius; enlarged */
    float r[9];               /* of a box: rows are its axes */
    float centre[3], half[3]; /* of a box: enlarged */
    float inner[3];           /* half sides, diminished; negative: none */
    const float *balls;       /* of a few: x, y, z, enlarged radius, diminished radius */
    uint32_t count;
} carom_robot_plan_object;

typedef struct carom_robot_plan_pair {
    uint32_t a, b; /* bodies, or a body and an object */
} carom_robot_plan_pair;

/* What the loops read; made anew after each change. */
typedef struct carom_robot_plan {
    const carom_robot_plan_joint *joints; /* frame i + 1 is that of joint i; frame 0 is the root */
    uint32_t joint_count;
    const carom_robot_plan_body *bodies;
    uint32_t body_count;
    const float *spheres; /* x, y, z, radius */
    uint32_t sphere_count;
    const float *rows; /* finer covers and inner balls once more, CAROM_ROBOT_BLOCK at a time: their
                            x, their y, their z, their radii; copies of the last one fill
                          the last rows */
    uint32_t most_fine; /* spheres of the largest finer cover or set of inner balls */
    const carom_robot_plan_object *objects;
    const carom_robot_plan_pair *pairs; /* of bodies, then of bodies and objects */
    uint32_t self_count, pair_count;
} carom_robot_plan;

#endif
