/* SPDX-License-Identifier: MIT */
/* robot_float_item.h: kinematics and spheres of one configuration in floats, as items, with the
 * operations of the loops of robot_cpu.c in their order, and so their bits. Proofs are there and in
 * robot_plan.c. */
#ifndef CAROM_SRC_ROBOT_ROBOT_FLOAT_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_FLOAT_ITEM_H

#include <math.h>
#include <string.h>

#include "base/item.h"
#include "robot/robot_plan.h"

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Sine and cosine of q multiplier + offset, at most CAROM_ROBOT_MOST_ANGLE in size. */
CAROM_ITEM void carom_robot_sines_item(double q, double multiplier, double offset, float *sine,
                                       float *cosine) {
    double x = q * multiplier + offset;
    double k = x * CAROM_ROBOT_TWO_BY_PI + CAROM_ROBOT_TO_INTEGER;
    int64_t quarter;
    memcpy(&quarter, &k, sizeof(quarter));
    k -= CAROM_ROBOT_TO_INTEGER;
    double r =
        ((x - k * CAROM_ROBOT_PI_HALF_1) - k * CAROM_ROBOT_PI_HALF_2) - k * CAROM_ROBOT_PI_HALF_3;
    double z = r * r;
    double s = z * (-1.0 / 39916800.0) + 1.0 / 362880.0;
    s = z * s - 1.0 / 5040.0;
    s = z * s + 1.0 / 120.0;
    s = z * s - 1.0 / 6.0;
    s = r + r * (z * s);
    double c = z * (1.0 / 479001600.0) - 1.0 / 3628800.0;
    c = z * c + 1.0 / 40320.0;
    c = z * c - 1.0 / 720.0;
    c = z * c + 1.0 / 24.0;
    c = z * c - 0.5;
    c = 1.0 + z * c;
    double sin_x = (quarter & 1) != 0 ? c : s, cos_x = (quarter & 1) != 0 ? s : c;
    *sine = (float)((quarter & 2) != 0 ? -sin_x : sin_x);
    *cosine = (float)(((quarter + 1) & 2) != 0 ? -cos_x : cos_x);
}

/* The frame of a joint from that of its parent: the matrix by rows, then the translation. */
CAROM_ITEM void carom_robot_frame_item(const carom_robot_plan_joint *joint, double q,
                                       const float *p, float *to) {
    float m[9], o[3];
    for (int i = 0; i < 3; ++i) o[i] = joint->origin[i];
    if (joint->slides) {
        float v = (float)(q * joint->multiplier + joint->offset);
        for (int i = 0; i < 3; ++i) o[i] = o[i] + v * joint->slide[i];
        for (int i = 0; i < 9; ++i) m[i] = joint->a[i];
    } else {
        float s, c;
        carom_robot_sines_item(q, joint->multiplier, joint->offset, &s, &c);
        for (int i = 0; i < 9; ++i) m[i] = (joint->a[i] + s * joint->b[i]) + c * joint->c[i];
    }
    for (int i = 0; i < 3; ++i) {
        const float *r = p + 3 * i;
        for (int k = 0; k < 3; ++k)
            to[3 * i + k] = (r[0] * m[k] + r[1] * m[3 + k]) + r[2] * m[6 + k];
        to[9 + i] = ((r[0] * o[0] + r[1] * o[1]) + r[2] * o[2]) + p[9 + i];
    }
}

/* ---- Spheres --------------------------------------------------------------------------------- */

typedef struct carom_robot_point {
    float x, y, z;
} carom_robot_point;

/* A point moved by a frame. */
CAROM_ITEM carom_robot_point carom_robot_move_item(const float *p, const float *c) {
    carom_robot_point at;
    at.x = ((p[0] * c[0] + p[1] * c[1]) + p[2] * c[2]) + p[9];
    at.y = ((p[3] * c[0] + p[4] * c[1]) + p[5] * c[2]) + p[10];
    at.z = ((p[6] * c[0] + p[7] * c[1]) + p[8] * c[2]) + p[11];
    return at;
}

CAROM_ITEM float carom_robot_squared_item(carom_robot_point p, const float *q) {
    float x = p.x - q[0], y = p.y - q[1], z = p.z - q[2];
    return (x * x + y * y) + z * z;
}

/* Whether a squared distance is not surely more than the reach. */
CAROM_ITEM bool carom_robot_is_near(float squared, float reach) {
    return squared <= reach * reach + CAROM_ROBOT_LEAST_SQUARE;
}

/* Whether it is surely less; a reach of at most 0 is never. */
CAROM_ITEM bool carom_robot_is_inside(float squared, float reach) {
    return squared + CAROM_ROBOT_LEAST_SQUARE < reach * reach && reach > 0.0f;
}

/* ---- Objects --------------------------------------------------------------------------------- */

CAROM_ITEM float carom_robot_outside_item(float x, float half) {
    float out = (x < 0.0f ? -x : x) - half;
    return out > 0.0f ? out : 0.0f;
}

/* The squared distance from a box with these half sides. */
CAROM_ITEM float carom_robot_squared_to_box(const carom_robot_plan_object *o, carom_robot_point p,
                                            const float *half) {
    const float *r = o->r;
    float x = p.x - o->centre[0], y = p.y - o->centre[1], z = p.z - o->centre[2];
    float u = carom_robot_outside_item((r[0] * x + r[1] * y) + r[2] * z, half[0]);
    float v = carom_robot_outside_item((r[3] * x + r[4] * y) + r[5] * z, half[1]);
    float w = carom_robot_outside_item((r[6] * x + r[7] * y) + r[8] * z, half[2]);
    return (u * u + v * v) + w * w;
}

/* Whether a sphere is near an object that is no tree. */
CAROM_ITEM bool carom_robot_sphere_near(const carom_robot_plan_object *o, carom_robot_point p,
                                        float reach) {
    if (o->kind == CAROM_ROBOT_PLAN_BOX)
        return carom_robot_is_near(carom_robot_squared_to_box(o, p, o->half), reach);
    for (uint32_t i = 0; i < o->count; ++i)
        if (carom_robot_is_near(carom_robot_squared_item(p, o->balls + 5 * i),
                                reach + o->balls[5 * i + 3]))
            return true;
    return false;
}

/* Whether the ball around a body is near an object. */
CAROM_ITEM bool carom_robot_middle_near(const carom_robot_plan_object *o, carom_robot_point p,
                                        float reach) {
    if (!carom_robot_is_near(carom_robot_squared_item(p, o->ball), reach + o->ball[3]))
        return false;
    return o->kind != CAROM_ROBOT_PLAN_BOX ||
           carom_robot_is_near(carom_robot_squared_to_box(o, p, o->half), reach);
}

/* Whether an inner ball overlaps an object that is no tree. */
CAROM_ITEM bool carom_robot_inner_overlaps(const carom_robot_plan_object *o, carom_robot_point p,
                                           float reach) {
    if (o->kind == CAROM_ROBOT_PLAN_BOX)
        return o->inner[0] >= 0.0f &&
               carom_robot_is_inside(carom_robot_squared_to_box(o, p, o->inner), reach);
    for (uint32_t k = 0; k < o->count; ++k)
        if (carom_robot_is_inside(carom_robot_squared_item(p, o->balls + 5 * k),
                                  reach + o->balls[5 * k + 4]))
            return true;
    return false;
}

#endif
