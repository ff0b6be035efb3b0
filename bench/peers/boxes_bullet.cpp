// SPDX-License-Identifier: MIT
// Bullet: btDbvt, the tree of its default broad phase. From nothing: insert all boxes, collide the
// tree with itself. A frame: update every leaf, collide. In single precision, as packaged.
#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <LinearMath/btScalar.h>

#include <vector>

#include "bench/peers/peers.h"

namespace {

struct prepared {
    btDbvt tree;
    std::vector<btDbvtNode *> leaves;
    std::vector<uint32_t> pairs;
};

btDbvtVolume volume_of(const double *b) {
    return btDbvtVolume::FromMM(btVector3(btScalar(b[0]), btScalar(b[1]), btScalar(b[2])),
                                btVector3(btScalar(b[3]), btScalar(b[4]), btScalar(b[5])));
}

struct collector : btDbvt::ICollide {
    std::vector<uint32_t> *pairs;
    void Process(const btDbvtNode *a, const btDbvtNode *b) {
        uint32_t i = uint32_t(reinterpret_cast<uintptr_t>(a->data));
        uint32_t j = uint32_t(reinterpret_cast<uintptr_t>(b->data));
        pairs->push_back(i < j ? i : j);
        pairs->push_back(i < j ? j : i);
    }
};

void collide(prepared *p, peer_pairs *pairs) {
    collector c;
    p->pairs.clear();
    c.pairs = &p->pairs;
    p->tree.collideTT(p->tree.m_root, p->tree.m_root, c);
    *pairs = peer_pairs{p->pairs.data(), p->pairs.size() / 2};
}

} // namespace

const char *peer_bullet_name(void) {
    return "Bullet 3.24, as packaged; adapter and what its headers hold -O3 -march=native";
}

void *peer_bullet_box_prepare(const peer_boxes *boxes) {
    prepared *p = new prepared;
    p->leaves.resize(boxes->count);
    for (uint64_t i = 0; i < boxes->count; ++i)
        p->leaves[i] = p->tree.insert(volume_of(boxes->bounds + 6 * i),
                                      reinterpret_cast<void *>(uintptr_t(i)));
    return p;
}

void peer_bullet_box_release(void *prepared_boxes) {
    delete static_cast<prepared *>(prepared_boxes);
}

bool peer_bullet_box_frame(void *prepared_boxes, const peer_boxes *boxes, peer_pairs *pairs) {
    prepared *p = static_cast<prepared *>(prepared_boxes);
    for (uint64_t i = 0; i < boxes->count; ++i) {
        btDbvtVolume volume = volume_of(boxes->bounds + 6 * i);
        p->tree.update(p->leaves[i], volume);
    }
    collide(p, pairs);
    return true;
}

bool peer_bullet_box_pairs(const peer_boxes *boxes, peer_pairs *pairs) {
    static std::vector<uint32_t> found;
    prepared *p = static_cast<prepared *>(peer_bullet_box_prepare(boxes));
    collide(p, pairs);
    found.swap(p->pairs);
    *pairs = peer_pairs{found.data(), found.size() / 2};
    peer_bullet_box_release(p);
    return true;
}
