/* SPDX-License-Identifier: MIT */
/* Poses from rotation matrices: Shepperd (Quaternion from rotation matrix, 1978). Of the four
 * squares 4 w^2, 4 x^2, 4 y^2, 4 z^2 that the diagonal gives, the largest is at least 1, and the
 * other components follow from it without cancellation. Poses need no unit quaternion, so nothing
 * is divided. */
#include "geom/pose.h"

#include "base/context.h"

/* How far the dot products of the rows may be from those of a rotation. Matrices printed with seven
 * digits pass. */
#define MOST_DEVIATION 1e-6

static bool is_rotation(const double *m) {
    carom_vec3 row[3];
    double most = 0.0;
    for (int i = 0; i < 3; ++i) row[i] = carom_vec(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
    for (int i = 0; i < 3; ++i)
        for (int k = i; k < 3; ++k) {
            double off = fabs(carom_vec_dot(row[i], row[k]) - (i == k ? 1.0 : 0.0));
            most = CAROM_MAX(off, most);
        }
    return most <= MOST_DEVIATION && carom_vec_dot(carom_vec_cross(row[0], row[1]), row[2]) > 0.0;
}

carom_status carom_pose_from_matrix(carom_context *context, const double matrix[12],
                                    carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(matrix, "matrix");
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    const double *m = matrix;
    for (int i = 0; i < 12; ++i)
        if (!isfinite(m[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "row %d, column %d of the matrix is %g; give finite numbers", i / 4,
                              i % 4, m[i]);
    if (!is_rotation(m))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the left three columns of the matrix are no rotation: it scales, shears "
                          "or reflects; apply it to the vertices instead");
    carom_pose p = {.t = {m[3], m[7], m[11]}};
    double w = 1.0 + m[0] + m[5] + m[10], x = 1.0 + m[0] - m[5] - m[10];
    double y = 1.0 - m[0] + m[5] - m[10], z = 1.0 - m[0] - m[5] + m[10];
    if (w >= x && w >= y && w >= z)
        p.q = (carom_quat){w, m[9] - m[6], m[2] - m[8], m[4] - m[1]};
    else if (x >= y && x >= z)
        p.q = (carom_quat){m[9] - m[6], x, m[1] + m[4], m[2] + m[8]};
    else if (y >= z)
        p.q = (carom_quat){m[2] - m[8], m[1] + m[4], y, m[6] + m[9]};
    else
        p.q = (carom_quat){m[4] - m[1], m[2] + m[8], m[6] + m[9], z};
    *pose = p;
    return CAROM_OK;
}
