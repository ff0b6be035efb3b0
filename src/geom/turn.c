/* SPDX-License-Identifier: MIT */
/* The sign of a 2x2 determinant of differences: in doubles where the error bound of Shewchuk
 * (Adaptive Precision Floating-Point Arithmetic, 1997) decides, else by the exact sum of the six
 * products. The bound's last term covers underflow; overflow gives NaN or infinity on both sides
 * and is not decided either. */
#include "geom/turn.h"

#include <math.h>

#include "geom/exact_sum.h"

#define ERROR_BOUND     3.3306690738754716e-16 /* (3 + 16 e) e, e = 2^-53 */
#define UNDERFLOW_BOUND 1e-300

static int exact_turn(carom_vec2 a, carom_vec2 b, carom_vec2 c) {
    carom_exact_sum sum = {{0}};
    carom_exact_sum_add(&sum, a.x, b.y, 1.0);
    carom_exact_sum_add(&sum, b.x, c.y, 1.0);
    carom_exact_sum_add(&sum, c.x, a.y, 1.0);
    carom_exact_sum_subtract(&sum, a.x, c.y, 1.0);
    carom_exact_sum_subtract(&sum, c.x, b.y, 1.0);
    carom_exact_sum_subtract(&sum, b.x, a.y, 1.0);
    return carom_exact_sum_sign(&sum);
}

int carom_turn(carom_vec2 a, carom_vec2 b, carom_vec2 c) {
    double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
    double turn = left - right, bound = ERROR_BOUND * (fabs(left) + fabs(right)) + UNDERFLOW_BOUND;
    if (turn > bound) return 1;
    if (turn < -bound) return -1;
    return exact_turn(a, b, c);
}

static int turn_along(int axis, carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    carom_vec2 p = {a.x, a.y}, q = {b.x, b.y}, r = {c.x, c.y};
    if (axis != 2) {
        p = axis == 0 ? (carom_vec2){a.y, a.z} : (carom_vec2){a.z, a.x};
        q = axis == 0 ? (carom_vec2){b.y, b.z} : (carom_vec2){b.z, b.x};
        r = axis == 0 ? (carom_vec2){c.y, c.z} : (carom_vec2){c.z, c.x};
    }
    return carom_turn(p, q, r);
}

static bool same(carom_vec3 a, carom_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Decided in doubles first along all three axes: a triangle that stands upright along two of them
 * needs no exact sum. */
static bool surely_not_collinear(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    carom_vec3 u = {a.x - c.x, a.y - c.y, a.z - c.z}, v = {b.x - c.x, b.y - c.y, b.z - c.z};
    double left[3] = {u.y * v.z, u.z * v.x, u.x * v.y};
    double right[3] = {u.z * v.y, u.x * v.z, u.y * v.x};
    for (int i = 0; i < 3; ++i)
        if (fabs(left[i] - right[i]) >
            ERROR_BOUND * (fabs(left[i]) + fabs(right[i])) + UNDERFLOW_BOUND)
            return true;
    return false;
}

bool carom_collinear(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    if (surely_not_collinear(a, b, c)) return false;
    if (same(a, b) || same(b, c) || same(a, c)) return true;
    return turn_along(0, a, b, c) == 0 && turn_along(1, a, b, c) == 0 &&
           turn_along(2, a, b, c) == 0;
}
