// SPDX-License-Identifier: MIT
// libccd: MPR on hulls, with a support function that looks at all vertices, as its users write it.
#include <ccd/ccd.h>
#include <ccd/quat.h>

#include <vector>

#include "bench/peers/peers.h"

namespace {

struct prepared {
    std::vector<double> points;
    double centre[3];
};

struct posed_hull {
    const prepared *hull;
    ccd_quat_t q, back;
    ccd_vec3_t t;
};

posed_hull pose_hull(void *hull, const peer_pose *pose) {
    posed_hull p;
    p.hull = static_cast<prepared *>(hull);
    ccdQuatSet(&p.q, pose->q[1], pose->q[2], pose->q[3], pose->q[0]);
    ccdQuatInvert2(&p.back, &p.q);
    ccdVec3Set(&p.t, pose->t[0], pose->t[1], pose->t[2]);
    return p;
}

void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *v) {
    const posed_hull *p = static_cast<const posed_hull *>(object);
    ccd_vec3_t d = *direction;
    ccdQuatRotVec(&d, &p->back);
    const double *x = p->hull->points.data();
    size_t count = p->hull->points.size() / 3, best = 0;
    double most = x[0] * d.v[0] + x[1] * d.v[1] + x[2] * d.v[2];
    for (size_t i = 1; i < count; ++i) {
        double dot = x[3 * i] * d.v[0] + x[3 * i + 1] * d.v[1] + x[3 * i + 2] * d.v[2];
        if (dot > most) most = dot, best = i;
    }
    ccdVec3Set(v, x[3 * best], x[3 * best + 1], x[3 * best + 2]);
    ccdQuatRotVec(v, &p->q);
    ccdVec3Add(v, &p->t);
}

void centre(const void *object, ccd_vec3_t *v) {
    const posed_hull *p = static_cast<const posed_hull *>(object);
    ccdVec3Set(v, p->hull->centre[0], p->hull->centre[1], p->hull->centre[2]);
    ccdQuatRotVec(v, &p->q);
    ccdVec3Add(v, &p->t);
}

} // namespace

const char *peer_ccd_hull_name(void) {
    return "libccd, as packaged (double); MPR, all vertices looked at, -O3 -march=native";
}

void *peer_ccd_hull_prepare(const peer_hull *hull) {
    auto *p = new prepared;
    p->points.assign(hull->positions, hull->positions + 3 * hull->vertex_count);
    for (int k = 0; k < 3; ++k) {
        p->centre[k] = 0.0;
        for (uint64_t i = 0; i < hull->vertex_count; ++i)
            p->centre[k] += hull->positions[3 * i + uint64_t(k)] / double(hull->vertex_count);
    }
    return p;
}

void peer_ccd_hull_release(void *hull) {
    delete static_cast<prepared *>(hull);
}

double peer_ccd_hull_meet(void *a, const peer_pose *pose_a, void *b, const peer_pose *pose_b) {
    posed_hull pa = pose_hull(a, pose_a), pb = pose_hull(b, pose_b);
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support;
    ccd.center1 = ccd.center2 = centre;
    ccd.max_iterations = 1000;
    return ccdMPRIntersect(&pa, &pb, &ccd) != 0 ? 1.0 : 0.0;
}
