// SPDX-License-Identifier: MIT
// FCL: the roots of the cubic for vertices, faces and edges that move along lines, as its mesh
// nodes test them; conservative advancement for convex hulls.
#include <fcl/config.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/continuous_collision.h>
#include <fcl/narrowphase/detail/traversal/collision/intersect.h>

#include "bench/peers/peers.h"

namespace {

using shape = fcl::Convex<double>;
using point = fcl::Vector3<double>;
using transform = fcl::Transform3<double>;

transform pose_of(const peer_pose *pose) {
    transform t = transform::Identity();
    t.linear() =
        fcl::Quaternion<double>(pose->q[0], pose->q[1], pose->q[2], pose->q[3]).toRotationMatrix();
    t.translation() = point(pose->t[0], pose->t[1], pose->t[2]);
    return t;
}

point at(const double *p, int i) {
    return point(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}

} // namespace

const char *peer_fcl_toi_name(void) {
    return "FCL " FCL_VERSION ", as packaged; Intersect, continuousCollide by advancement";
}

bool peer_fcl_toi(const double *start, const double *end, bool edges, double *time) {
    using intersect = fcl::detail::Intersect<double>;
    point where;
    if (edges)
        return intersect::intersect_EE_filtered(at(start, 0), at(start, 1), at(start, 2),
                                                at(start, 3), at(end, 0), at(end, 1), at(end, 2),
                                                at(end, 3), time, &where);
    return intersect::intersect_VF_filtered(at(start, 1), at(start, 2), at(start, 3), at(start, 0),
                                            at(end, 1), at(end, 2), at(end, 3), at(end, 0), time,
                                            &where);
}

bool peer_fcl_hulls_toi(void *a, const peer_pose *motion_a, void *b, const peer_pose *motion_b,
                        double *time) {
    fcl::ContinuousCollisionRequest<double> request(1000, 1e-6, fcl::CCDM_LINEAR, fcl::GST_LIBCCD,
                                                    fcl::CCDC_CONSERVATIVE_ADVANCEMENT);
    fcl::ContinuousCollisionResult<double> result;
    try {
        fcl::continuousCollide(static_cast<shape *>(a), pose_of(&motion_a[0]),
                               pose_of(&motion_a[1]), static_cast<shape *>(b),
                               pose_of(&motion_b[0]), pose_of(&motion_b[1]), request, result);
    } catch (const std::exception &) {
        return false;
    }
    *time = result.time_of_contact;
    return result.is_collide;
}
