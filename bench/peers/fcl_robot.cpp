// SPDX-License-Identifier: MIT
// FCL: one CollisionObject of BVHModel<OBBRSS<double>> per link and one for the world. A
// configuration moves all of them, then collides the pairs whose boxes overlap, one contact each,
// and stops at the first. It gets the poses: kinematics are not in its time.
#include <fcl/config.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/collision_object.h>

#include <memory>
#include <vector>

#include "bench/peers/peers.h"

namespace {

using model = fcl::BVHModel<fcl::OBBRSS<double>>;
using object = fcl::CollisionObject<double>;

struct robot {
    std::vector<std::unique_ptr<object>> links; // null: no faces
    std::unique_ptr<object> world;
    std::vector<uint32_t> pairs;
};

std::unique_ptr<object> make(const peer_hull *mesh) {
    if (mesh == nullptr || mesh->triangle_count == 0) return nullptr;
    std::vector<fcl::Vector3<double>> points(mesh->vertex_count);
    std::vector<fcl::Triangle> triangles(mesh->triangle_count);
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const double *p = mesh->positions + 3 * v;
        points[v] = fcl::Vector3<double>(p[0], p[1], p[2]);
    }
    for (uint64_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *c = mesh->corners + 3 * t;
        triangles[t] = fcl::Triangle(c[0], c[1], c[2]);
    }
    auto made = std::make_shared<model>();
    if (made->beginModel(int(mesh->triangle_count), int(mesh->vertex_count)) != fcl::BVH_OK ||
        made->addSubModel(points, triangles) != fcl::BVH_OK || made->endModel() != fcl::BVH_OK)
        return nullptr;
    auto posed = std::make_unique<object>(made);
    posed->computeAABB();
    return posed;
}

bool collide(const object *a, const object *b) {
    if (!a->getAABB().overlap(b->getAABB())) return false;
    fcl::CollisionRequest<double> request(1, false);
    fcl::CollisionResult<double> result;
    return fcl::collide(a, b, request, result) != 0;
}

bool collides(const robot &r) {
    for (size_t i = 0; i < r.pairs.size(); i += 2) {
        const object *a = r.links[r.pairs[i]].get(), *b = r.links[r.pairs[i + 1]].get();
        if (a != nullptr && b != nullptr && collide(a, b)) return true;
    }
    if (r.world == nullptr) return false;
    for (const auto &link : r.links)
        if (link != nullptr && collide(link.get(), r.world.get())) return true;
    return false;
}

} // namespace

const char *peer_fcl_robot_name(void) {
    return "FCL " FCL_VERSION ", as packaged; what queries spend their time in -O3 -march=native";
}

void *peer_fcl_robot_prepare(const peer_robot *from) {
    auto made = std::make_unique<robot>();
    for (uint64_t i = 0; i < from->link_count; ++i) {
        made->links.push_back(make(&from->links[i]));
        if (made->links.back() == nullptr && from->links[i].triangle_count != 0) return nullptr;
    }
    made->world = make(from->world);
    made->pairs.assign(from->pairs, from->pairs + 2 * from->pair_count);
    return made.release();
}

void peer_fcl_robot_release(void *prepared) {
    delete static_cast<robot *>(prepared);
}

void peer_fcl_robot_check(void *prepared, const peer_pose *poses, uint64_t count, bool *colliding) {
    auto *r = static_cast<robot *>(prepared);
    for (uint64_t i = 0; i < count; ++i) {
        for (auto &link : r->links) {
            const peer_pose *pose = poses++;
            if (link == nullptr) continue;
            link->setTransform(
                fcl::Quaternion<double>(pose->q[0], pose->q[1], pose->q[2], pose->q[3]),
                fcl::Vector3<double>(pose->t[0], pose->t[1], pose->t[2]));
            link->computeAABB();
        }
        colliding[i] = collides(*r);
    }
}
