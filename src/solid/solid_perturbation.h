/* SPDX-License-Identifier: MIT */
/* solid_perturbation.h: exact signs under symbolic perturbation, as items. The second of two meshes
 * is perturbed by (e, e^2, e^3) or by the opposite, with e > 0 infinitesimal.
 *
 * A determinant that is zero takes the sign of its change under the perturbation. The change is the
 * dot product of the perturbation with a vector that does not depend on e, so its sign is that of
 * this vector's first nonzero component (Edelsbrunner, Muecke, "Simulation of simplicity", 1990). A
 * translation suffices, because only the relative position of the two meshes is tested. The vectors
 * are:
 *   a corner against a face      + or - the face's normal;
 *   an edge against an edge      - the product of their directions, first times second.
 * The first is zero only for faces without area, which are left out. The second is zero only for
 * parallel edges, which are never compared: one of them would have to cross the plane of a face
 * that holds the other. */
#ifndef CAROM_SRC_SOLID_SOLID_PERTURBATION_H
#define CAROM_SRC_SOLID_SOLID_PERTURBATION_H

#include "geom/triangle_filter.h"

/* The sign of the first nonzero component of (b - a) x (c - a); 0 without area. */
CAROM_RARE_ITEM int carom_normal_leading_sign(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    for (int axis = 0; axis < 3; ++axis) {
        int sign = carom_orient_along(a, b, c, axis);
        if (sign != 0) return sign;
    }
    return 0;
}

/* The sign of (bx - ax) (dy - cy) - (by - ay) (dx - cx); x holds a, b, c, d. */
CAROM_RARE_ITEM int carom_cross_sign_exact(const double *x) {
    if (carom_orient_in_range(x, 8)) {
        double u[2][2], v[2][2], h[16];
        int nu[2], nv[2];
        for (int k = 0; k < 2; ++k) {
            nu[k] = carom_expansion_diff(x[2 + k], x[k], u[k]);
            nv[k] = carom_expansion_diff(x[6 + k], x[4 + k], v[k]);
        }
        return carom_expansion_sign(
            h, carom_expansion_minor(u[0], nu[0], v[1], nv[1], u[1], nu[1], v[0], nv[0], h));
    }
    return carom_limbs_cross(x);
}

/* The same sign: doubles decide where they can, with the error bound of carom_orient2d_filter. */
CAROM_ITEM int carom_cross_sign(const double *x) {
    double left = (x[2] - x[0]) * (x[7] - x[5]), right = (x[3] - x[1]) * (x[6] - x[4]);
    double det = left - right;
    double error = CAROM_ORIENT2D_ERROR * (fabs(left) + fabs(right)) + CAROM_ORIENT_UNDERFLOW;
    return det > error ? 1 : det < -error ? -1 : carom_cross_sign_exact(x);
}

/* The sign of the first nonzero component of (b - a) x (d - c); 0 when parallel. */
CAROM_RARE_ITEM int carom_cross_leading_sign(carom_vec3 a, carom_vec3 b, carom_vec3 c,
                                             carom_vec3 d) {
    double p[4][3], x[8];
    carom_vec_store(a, p[0]);
    carom_vec_store(b, p[1]);
    carom_vec_store(c, p[2]);
    carom_vec_store(d, p[3]);
    for (int axis = 0; axis < 3; ++axis) {
        int i = (axis + 1) % 3, j = (axis + 2) % 3;
        for (int k = 0; k < 4; ++k) {
            x[2 * k] = p[k][i];
            x[2 * k + 1] = p[k][j];
        }
        int sign = carom_cross_sign(x);
        if (sign != 0) return sign;
    }
    return 0;
}

/* The side of the face on which p lies; 0 only if the face has no area. `moved_sign` is 1 when p is
 * perturbed, -1 when the face is, and reversed where b is perturbed by -(e, e^2, e^3). *degenerate
 * becomes 1 when p lies in the face's plane. */
CAROM_RARE_ITEM int carom_perturbed_side(const carom_vec3 *face, carom_vec3 p, int moved_sign,
                                         int *degenerate) {
    int sign = carom_orient3d(face[0], face[1], face[2], p);
    if (sign != 0) return sign;
    *degenerate = 1;
    return moved_sign * carom_normal_leading_sign(face[0], face[1], face[2]);
}

/* The sign of orient3d(a, b, c, d) with c and d perturbed (moved_sign 1) or a and b (moved_sign
 * -1); 0 when the edges a b and c d are parallel and in one plane. */
CAROM_ITEM int carom_perturbed_orient(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d,
                                      int moved_sign, int *degenerate) {
    int sign = carom_orient3d(a, b, c, d);
    if (sign != 0) return sign;
    *degenerate = 1;
    return -moved_sign * carom_cross_leading_sign(a, b, c, d);
}

#endif
