// SPDX-License-Identifier: MIT
// Bullet: a btCollisionWorld with its default broad phase (btDbvtBroadphase) and dispatcher, in
// single precision, as packaged. A step moves the objects and calls
// performDiscreteCollisionDetection, which fills persistent manifolds; contacts are the manifolds
// with points at most the given distance apart.
#include <BulletCollision/btBulletCollisionCommon.h>

#include <memory>
#include <vector>

#include "bench/peers/peers.h"

namespace {

struct world {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad;
    btCollisionWorld collisions{&dispatcher, &broad, &configuration};
    std::unique_ptr<btCollisionShape> shape;
    std::vector<btCollisionObject> objects;
    double distance;

    // Removing objects one by one searches all pairs for each: the world forgets them at once.
    ~world() {
        collisions.getCollisionObjectArray().clear();
    }
};

btVector3 vector_of(const double *p) {
    return btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2]));
}

} // namespace

const char *peer_bullet_world_name(void) {
    return "Bullet 3.24, as packaged (float): btCollisionWorld, btDbvtBroadphase";
}

void *peer_bullet_world_prepare(const peer_bodies *bodies) {
    world *w = new world;
    w->distance = bodies->distance;
    if (bodies->point_count != 0) {
        auto *hull = new btConvexHullShape;
        for (uint64_t i = 0; i < bodies->point_count; ++i)
            hull->addPoint(vector_of(bodies->points + 3 * i), false);
        hull->recalcLocalAabb();
        hull->setMargin(0);
        w->shape.reset(hull);
    } else if (bodies->boxes && bodies->distance > 0) {
        // Its test of two boxes finds no gaps, that of two hulls does, as their margins overlap.
        auto *hull = new btConvexHullShape;
        for (int i = 0; i < 8; ++i) {
            const double corner[3] = {i & 1 ? bodies->size : -bodies->size,
                                      i & 2 ? bodies->size : -bodies->size,
                                      i & 4 ? bodies->size : -bodies->size};
            hull->addPoint(vector_of(corner), false);
        }
        hull->setMargin(btScalar(0.5 * bodies->distance));
        hull->recalcLocalAabb();
        w->shape.reset(hull);
        w->distance = 0;
    } else if (bodies->boxes) {
        w->shape.reset(new btBoxShape(
            btVector3(btScalar(bodies->size), btScalar(bodies->size), btScalar(bodies->size))));
        w->shape->setMargin(0);
    } else {
        w->shape.reset(new btSphereShape(btScalar(bodies->size)));
    }
    w->objects.resize(bodies->count);
    for (uint64_t i = 0; i < bodies->count; ++i) {
        btCollisionObject &o = w->objects[i];
        o.setCollisionShape(w->shape.get());
        o.setWorldTransform(
            btTransform(btQuaternion::getIdentity(), vector_of(bodies->centres + 3 * i)));
        w->collisions.addCollisionObject(&o);
    }
    return w;
}

void peer_bullet_world_release(void *prepared) {
    delete static_cast<world *>(prepared);
}

uint64_t peer_bullet_world_step(void *prepared, const double *centres, uint64_t moved) {
    world *w = static_cast<world *>(prepared);
    for (uint64_t i = 0; i < moved; ++i) {
        w->objects[i].getWorldTransform().setOrigin(vector_of(centres + 3 * i));
        w->collisions.updateSingleAabb(&w->objects[i]);
    }
    w->collisions.setForceUpdateAllAabbs(false);
    w->collisions.performDiscreteCollisionDetection();
    uint64_t contacts = 0;
    for (int i = 0; i < w->dispatcher.getNumManifolds(); ++i) {
        const btPersistentManifold *m = w->dispatcher.getManifoldByIndexInternal(i);
        bool touching = false;
        for (int k = 0; k < m->getNumContacts(); ++k)
            touching = touching || double(m->getContactPoint(k).getDistance()) <= w->distance;
        contacts += touching ? 1 : 0;
    }
    return contacts;
}
