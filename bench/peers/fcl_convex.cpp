// SPDX-License-Identifier: MIT
// FCL: Convex<double> by its default solver, GJK and EPA on libccd; climbs on hulls of more than 32
// vertices.
#include <fcl/config.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/detail/gjk_solver_libccd.h>

#include <memory>
#include <vector>

#include "bench/peers/peers.h"

namespace {

using shape = fcl::Convex<double>;
using transform = fcl::Transform3<double>;

transform pose_of(const peer_pose *pose) {
    transform t = transform::Identity();
    t.linear() =
        fcl::Quaternion<double>(pose->q[0], pose->q[1], pose->q[2], pose->q[3]).toRotationMatrix();
    t.translation() = fcl::Vector3<double>(pose->t[0], pose->t[1], pose->t[2]);
    return t;
}

fcl::detail::GJKSolver_libccd<double> solver;

} // namespace

const char *peer_fcl_hull_name(void) {
    return "FCL " FCL_VERSION ", as packaged; GJKSolver_libccd";
}

void *peer_fcl_hull_prepare(const peer_hull *hull) {
    auto points = std::make_shared<std::vector<fcl::Vector3<double>>>();
    auto faces = std::make_shared<std::vector<int>>();
    for (uint64_t i = 0; i < hull->vertex_count; ++i) {
        const double *p = hull->positions + 3 * i;
        points->push_back(fcl::Vector3<double>(p[0], p[1], p[2]));
    }
    for (uint64_t f = 0; f < hull->triangle_count; ++f) {
        faces->push_back(3);
        for (int k = 0; k < 3; ++k) faces->push_back(int(hull->corners[3 * f + uint64_t(k)]));
    }
    solver.max_distance_iterations = 1000;
    solver.distance_tolerance = 1e-9;
    return new shape(points, int(hull->triangle_count), faces);
}

void peer_fcl_hull_release(void *hull) {
    delete static_cast<shape *>(hull);
}

double peer_fcl_hull_meet(void *a, const peer_pose *pose_a, void *b, const peer_pose *pose_b) {
    return solver.shapeIntersect(*static_cast<shape *>(a), pose_of(pose_a),
                                 *static_cast<shape *>(b), pose_of(pose_b),
                                 static_cast<std::vector<fcl::ContactPoint<double>> *>(nullptr))
               ? 1.0
               : 0.0;
}

double peer_fcl_hull_distance(void *a, const peer_pose *pose_a, void *b, const peer_pose *pose_b) {
    double distance = 0.0;
    fcl::Vector3<double> p, q;
    if (!solver.shapeDistance(*static_cast<shape *>(a), pose_of(pose_a), *static_cast<shape *>(b),
                              pose_of(pose_b), &distance, &p, &q))
        return 0.0;
    return distance;
}

double peer_fcl_hull_depth(void *a, const peer_pose *pose_a, void *b, const peer_pose *pose_b) {
    double distance = 0.0;
    fcl::Vector3<double> p, q;
    try {
        solver.shapeSignedDistance(*static_cast<shape *>(a), pose_of(pose_a),
                                   *static_cast<shape *>(b), pose_of(pose_b), &distance, &p, &q);
    } catch (const std::exception &) {
        return -1.0;
    }
    return -distance;
}
