// SPDX-License-Identifier: MIT
// FCL: DynamicAABBTreeCollisionManager over one object a box. From nothing: register all, set up,
// collide. A frame: move all objects, update the manager, collide.
#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/narrowphase/collision_object.h>

#include <memory>
#include <vector>

#include "bench/peers/peers.h"

namespace {

using object = fcl::CollisionObject<double>;

struct prepared {
    std::vector<std::unique_ptr<object>> objects;
    std::vector<object *> pointers;
    fcl::DynamicAABBTreeCollisionManager<double> manager;
    std::vector<uint32_t> pairs;
};

fcl::Vector3<double> centre_of(const double *b) {
    return fcl::Vector3<double>(0.5 * (b[0] + b[3]), 0.5 * (b[1] + b[4]), 0.5 * (b[2] + b[5]));
}

uint32_t index_of(const object *o) {
    return uint32_t(reinterpret_cast<uintptr_t>(o->getUserData()));
}

bool collect(object *a, object *b, void *user) {
    prepared *p = static_cast<prepared *>(user);
    uint32_t i = index_of(a), j = index_of(b);
    if (!a->getAABB().overlap(b->getAABB())) return false;
    p->pairs.push_back(i < j ? i : j);
    p->pairs.push_back(i < j ? j : i);
    return false;
}

void collide(prepared *p, peer_pairs *pairs) {
    p->pairs.clear();
    p->manager.collide(p, collect);
    *pairs = peer_pairs{p->pairs.data(), p->pairs.size() / 2};
}

} // namespace

void *peer_fcl_box_prepare(const peer_boxes *boxes) {
    prepared *p = new prepared;
    p->objects.reserve(boxes->count);
    for (uint64_t i = 0; i < boxes->count; ++i) {
        const double *b = boxes->bounds + 6 * i;
        auto shape = std::make_shared<fcl::Box<double>>(b[3] - b[0], b[4] - b[1], b[5] - b[2]);
        p->objects.push_back(
            std::make_unique<object>(shape, fcl::Matrix3<double>::Identity(), centre_of(b)));
        p->objects.back()->setUserData(reinterpret_cast<void *>(uintptr_t(i)));
        p->objects.back()->computeAABB();
        p->pointers.push_back(p->objects.back().get());
    }
    p->manager.registerObjects(p->pointers);
    p->manager.setup();
    return p;
}

void peer_fcl_box_release(void *prepared_boxes) {
    delete static_cast<prepared *>(prepared_boxes);
}

bool peer_fcl_box_frame(void *prepared_boxes, const peer_boxes *boxes, peer_pairs *pairs) {
    prepared *p = static_cast<prepared *>(prepared_boxes);
    for (uint64_t i = 0; i < boxes->count; ++i) {
        p->objects[i]->setTranslation(centre_of(boxes->bounds + 6 * i));
        p->objects[i]->computeAABB();
    }
    p->manager.update();
    collide(p, pairs);
    return true;
}

bool peer_fcl_box_pairs(const peer_boxes *boxes, peer_pairs *pairs) {
    static std::vector<uint32_t> found;
    prepared *p = static_cast<prepared *>(peer_fcl_box_prepare(boxes));
    collide(p, pairs);
    found.swap(p->pairs);
    *pairs = peer_pairs{found.data(), found.size() / 2};
    peer_fcl_box_release(p);
    return true;
}
