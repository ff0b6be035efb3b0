/* SPDX-License-Identifier: MIT */
#include "scenes/paths.h"

#include <math.h>

#include "base/math.h"

carom_vec3 scene_pose_apply(const carom_pose *pose, carom_vec3 p) {
    double w = pose->q.w, x = pose->q.x, y = pose->q.y, z = pose->q.z;
    double n = w * w + x * x + y * y + z * z;
    double s = n > 0.0 ? 2.0 / n : 0.0; /* all zero is the identity */
    return (carom_vec3){
        p.x + s * ((-y * y - z * z) * p.x + (x * y - w * z) * p.y + (x * z + w * y) * p.z) +
            pose->t.x,
        p.y + s * ((x * y + w * z) * p.x + (-x * x - z * z) * p.y + (y * z - w * x) * p.z) +
            pose->t.y,
        p.z + s * ((x * z - w * y) * p.x + (y * z + w * x) * p.y + (-x * x - y * y) * p.z) +
            pose->t.z};
}

#define SLIDE_TURN 1.6 /* radians, half of the copy's turn along the path */

void scene_path_slide(const carom_bounds *box, uint32_t count, carom_pose *poses) {
    const carom_vec3 low = box->low, high = box->high;
    carom_vec3 middle = {0.5 * (low.x + high.x), 0.5 * (low.y + high.y), 0.5 * (low.z + high.z)};
    double length = high.x - low.x, steps = count > 1 ? count - 1.0 : 1.0;
    for (uint32_t i = 0; i < count; ++i) {
        double turn = 0.1 + (SLIDE_TURN - 0.05) * i / steps;
        double s = carom_sin(turn);
        carom_pose pose = {{carom_cos(turn), 0.48 * s, 0.6 * s, 0.64 * s}, {0.0, 0.0, 0.0}};
        carom_vec3 moved = scene_pose_apply(&pose, middle);
        pose.t = (carom_vec3){middle.x - moved.x + length * (1.0 - i / steps), middle.y - moved.y,
                              middle.z - moved.z};
        poses[i] = pose;
    }
}

/* The cubic from b to c, with a before and d after them, at u in [0, 1]. */
static double between(double a, double b, double c, double d, double u) {
    return b +
           0.5 * u * (c - a + u * (2.0 * a - 5.0 * b + 4.0 * c - d + u * (3.0 * (b - c) + d - a)));
}

void scene_path_through(const carom_pose *keys, uint32_t key_count, uint32_t count,
                        carom_pose *poses) {
    for (uint32_t i = 0; i < count; ++i) {
        double at = count > 1 ? (key_count - 1.0) * i / (count - 1.0) : 0.0;
        uint32_t first = at < key_count - 1.0 ? (uint32_t)at : key_count - 2;
        double u = at - first;
        const uint32_t indices[4] = {first > 0 ? first - 1 : 0, first, first + 1,
                                     first + 2 < key_count ? first + 2 : key_count - 1};
        double k[4][7], out[7], length = 0.0;
        for (int n = 0; n < 4; ++n) {
            const carom_pose *key = &keys[indices[n]];
            const double values[7] = {key->q.w, key->q.x, key->q.y, key->q.z,
                                      key->t.x, key->t.y, key->t.z};
            double dot = 0.0; /* q and -q are the same turn: take the nearer one */
            for (int c = 0; c < 4; ++c) dot += n > 0 ? values[c] * k[n - 1][c] : 0.0;
            for (int c = 0; c < 7; ++c) k[n][c] = c < 4 && dot < 0.0 ? -values[c] : values[c];
        }
        for (int c = 0; c < 7; ++c) out[c] = between(k[0][c], k[1][c], k[2][c], k[3][c], u);
        for (int c = 0; c < 4; ++c) length += out[c] * out[c];
        length = sqrt(length);
        poses[i] =
            (carom_pose){{out[0] / length, out[1] / length, out[2] / length, out[3] / length},
                         {out[4], out[5], out[6]}};
    }
}
