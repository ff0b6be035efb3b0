/* SPDX-License-Identifier: MIT */
/* Principal axes by Jacobi's method: plane rotations make one entry beside the diagonal 0 after the
 * other, until all are small (Golub and Van Loan, Matrix Computations, 8.5). */
#include "geom/principal.h"

#include <math.h>

#include "base/assert.h"

/* Those of a symmetric matrix, which is overwritten. */
static void principal_axes(double m[3][3], double axes[3][3]) {
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; /* rows are axes */
    for (int sweep = 0; sweep < CAROM_PRINCIPAL_SWEEPS; ++sweep) {
        double off = fabs(m[0][1]) + fabs(m[0][2]) + fabs(m[1][2]);
        double trace = fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]);
        if (!(off > CAROM_PRINCIPAL_CONVERGED * trace)) break;
        for (int p = 0; p < 2; ++p) {
            for (int r = p + 1; r < 3; ++r) {
                if (!(fabs(m[p][r]) > 0.0)) continue;
                double theta = (m[r][r] - m[p][p]) / (2.0 * m[p][r]);
                double tangent = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
                if (theta < 0.0) tangent = -tangent;
                double c = 1.0 / sqrt(tangent * tangent + 1.0), sine = tangent * c;
                for (int k = 0; k < 3; ++k) {
                    double mp = m[p][k], mr = m[r][k], vp = v[p][k], vr = v[r][k];
                    m[p][k] = c * mp - sine * mr;
                    m[r][k] = sine * mp + c * mr;
                    v[p][k] = c * vp - sine * vr;
                    v[r][k] = sine * vp + c * vr;
                }
                for (int k = 0; k < 3; ++k) {
                    double mp = m[k][p], mr = m[k][r];
                    m[k][p] = c * mp - sine * mr;
                    m[k][r] = sine * mp + c * mr;
                }
            }
        }
    }
    int first = m[1][1] > m[0][0] ? 1 : 0;
    if (m[2][2] > m[first][first]) first = 2;
    int second = (first + 1) % 3, third = (first + 2) % 3;
    for (int k = 0; k < 3; ++k) {
        CAROM_ASSERT(first + second + third == 3);
        axes[0][k] = v[first][k];
        axes[1][k] = v[second][k];
        axes[2][k] = v[third][k];
    }
}

void carom_spread_axes(const carom_spread *s, double axes[3][3]) {
    double m[3][3];
    CAROM_ASSERT(s->count != 0);
    carom_spread_covariance(s, m);
    principal_axes(m, axes);
}
