// SPDX-License-Identifier: MIT
// FCL: BVHModel<OBBRSS<double>> for rigid meshes; AABB for one mesh with itself, which it reports
// in both orders, neighbours and all: the pairs that share no vertex are picked out.
#include <fcl/config.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

#include <limits>
#include <memory>
#include <vector>

#include "bench/peers/peers.h"

// The package was compiled for any x86-64, at a cost of a factor two in collide. These are the
// templates that queries spend their time in, compiled here as a user's own build of FCL would:
// the loader takes this module's definitions before the package's.
namespace fcl {
template class OBB<double>;
template class RSS<double>;
template class OBBRSS<double>;
template bool obbDisjoint(const Matrix3<double> &, const Vector3<double> &, const Vector3<double> &,
                          const Vector3<double> &);
template bool obbDisjoint(const Transform3<double> &, const Vector3<double> &,
                          const Vector3<double> &);
template void segCoords(double &, double &, double, double, double, double, double);
template bool inVoronoi(double, double, double, double, double, double, double);
template double rectDistance(const Matrix3<double> &, const Vector3<double> &, const double *,
                             const double *, Vector3<double> *, Vector3<double> *);
template double rectDistance(const Transform3<double> &, const double *, const double *,
                             Vector3<double> *, Vector3<double> *);
namespace detail {
template class Intersect<double>;
template class TriangleDistance<double>;
template class MeshCollisionTraversalNodeOBBRSS<double>;
template class MeshDistanceTraversalNodeOBBRSS<double>;
template void collisionRecurse(CollisionTraversalNodeBase<double> *, int, int, BVHFrontList *);
template void distanceRecurse(DistanceTraversalNodeBase<double> *, int, int, BVHFrontList *);
} // namespace detail
} // namespace fcl

namespace {

using transform = fcl::Transform3<double>;

template <typename box> bool fill(const peer_mesh *mesh, fcl::BVHModel<box> *model) {
    std::vector<fcl::Vector3<double>> points(mesh->vertex_count);
    std::vector<fcl::Triangle> triangles(mesh->triangle_count);
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const float *p = mesh->positions + 3 * v;
        points[v] = fcl::Vector3<double>(double(p[0]), double(p[1]), double(p[2]));
    }
    for (uint64_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *c = mesh->corners + 3 * t;
        triangles[t] = fcl::Triangle(c[0], c[1], c[2]);
    }
    return model->beginModel(int(mesh->triangle_count), int(mesh->vertex_count)) == fcl::BVH_OK &&
           model->addSubModel(points, triangles) == fcl::BVH_OK && model->endModel() == fcl::BVH_OK;
}

using rigid = fcl::BVHModel<fcl::OBBRSS<double>>;

transform pose_of(const double *m) {
    transform t = transform::Identity();
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column) t(row, column) = m[4 * row + column];
    return t;
}

const size_t all = std::numeric_limits<size_t>::max();

size_t collide(const rigid *model, const double *pose, size_t most) {
    fcl::CollisionRequest<double> request(most, false);
    fcl::CollisionResult<double> result;
    return fcl::collide(model, transform::Identity(), model, pose_of(pose), request, result);
}

} // namespace

const char *peer_fcl_name(void) {
    return "FCL " FCL_VERSION ", as packaged; what queries spend their time in -O3 -march=native";
}

bool peer_fcl_self_pairs(const peer_mesh *mesh, peer_pairs *pairs) {
    static std::vector<uint32_t> numbers;
    fcl::BVHModel<fcl::AABB<double>> model;
    if (!fill(mesh, &model)) return false;
    fcl::CollisionRequest<double> request(all, false);
    fcl::CollisionResult<double> result;
    fcl::collide(&model, transform::Identity(), &model, transform::Identity(), request, result);
    numbers.clear();
    for (size_t i = 0; i < result.numContacts(); ++i) {
        const fcl::Contact<double> &contact = result.getContact(i);
        if (contact.b1 >= contact.b2) continue;
        const uint32_t *a = mesh->corners + 3 * contact.b1, *b = mesh->corners + 3 * contact.b2;
        bool neighbours = false;
        for (int k = 0; k < 3; ++k) neighbours |= a[k] == b[0] || a[k] == b[1] || a[k] == b[2];
        if (neighbours) continue;
        numbers.push_back(uint32_t(contact.b1));
        numbers.push_back(uint32_t(contact.b2));
    }
    *pairs = peer_pairs{numbers.data(), numbers.size() / 2};
    return true;
}

void *peer_fcl_prepare(const peer_mesh *mesh) {
    auto model = std::make_unique<rigid>();
    return fill(mesh, model.get()) ? model.release() : nullptr;
}

void peer_fcl_release(void *prepared) {
    delete static_cast<rigid *>(prepared);
}

bool peer_fcl_any(void *prepared, const double *pose) {
    return collide(static_cast<rigid *>(prepared), pose, 1) != 0;
}

uint64_t peer_fcl_cross_count(void *prepared, const double *pose) {
    return collide(static_cast<rigid *>(prepared), pose, all);
}

double peer_fcl_distance(void *prepared, const double *pose) {
    auto *model = static_cast<rigid *>(prepared);
    fcl::DistanceRequest<double> request(true);
    fcl::DistanceResult<double> result;
    double d = fcl::distance(model, transform::Identity(), model, pose_of(pose), request, result);
    return d > 0.0 ? d : 0.0;
}
