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

/* What is wrong with a matrix, or NULL. */
static const char *matrix_fault(const double *m, uint32_t rows) {
    for (int i = 0; i < 12; ++i)
        if (!isfinite(m[i])) return "an element is not finite; give finite numbers";
    if (rows == 4 && (m[12] != 0.0 || m[13] != 0.0 || m[14] != 0.0 || m[15] != 1.0))
        return "the last row is not 0 0 0 1";
    if (!is_rotation(m))
        return "the left three columns are no rotation: it scales, shears or reflects; apply it to "
               "the vertices instead";
    return NULL;
}

static carom_pose pose_of_matrix(const double *m) {
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
    return p;
}

carom_status carom_pose_from_matrix(carom_context *context, const double matrix[12],
                                    carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(matrix, "matrix");
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    const char *fault = matrix_fault(matrix, 3);
    if (fault != NULL) return carom_fail(context, CAROM_BAD_INPUT, "the matrix: %s", fault);
    *pose = pose_of_matrix(matrix);
    return CAROM_OK;
}

carom_status carom_pose_from_matrices(carom_context *context, const double *matrices, uint32_t rows,
                                      uint64_t count, carom_pose *poses) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(count == 0 || matrices != NULL, "matrices must not be NULL");
    CAROM_REQUIRE(count == 0 || poses != NULL, "poses must not be NULL");
    CAROM_REQUIRE(rows == 3 || rows == 4, "a matrix has 3 or 4 rows");
    for (uint64_t i = 0; i < count; ++i) {
        const double *m = matrices + 4 * rows * i;
        const char *fault = matrix_fault(m, rows);
        if (fault != NULL)
            return carom_fail(context, CAROM_BAD_INPUT, "matrix %llu: %s", (unsigned long long)i,
                              fault);
        poses[i] = pose_of_matrix(m);
    }
    return CAROM_OK;
}
