// SPDX-License-Identifier: MIT
// Bullet: btConvexHullShape without margin in its GJK and EPA of floats (btGjkEpaSolver2).
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <BulletCollision/btBulletCollisionCommon.h>

#include "bench/peers/peers.h"

namespace {

btTransform pose_of(const peer_pose *pose) {
    return btTransform(btQuaternion(btScalar(pose->q[1]), btScalar(pose->q[2]),
                                    btScalar(pose->q[3]), btScalar(pose->q[0])),
                       btVector3(btScalar(pose->t[0]), btScalar(pose->t[1]), btScalar(pose->t[2])));
}

} // namespace

const char *peer_bullet_hull_name(void) {
    return "Bullet, as packaged (float); btGjkEpaSolver2";
}

void *peer_bullet_hull_prepare(const peer_hull *hull) {
    auto *shape = new btConvexHullShape;
    for (uint64_t i = 0; i < hull->vertex_count; ++i) {
        const double *p = hull->positions + 3 * i;
        shape->addPoint(btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])), false);
    }
    shape->recalcLocalAabb();
    shape->setMargin(0);
    return shape;
}

void peer_bullet_hull_release(void *hull) {
    delete static_cast<btConvexHullShape *>(hull);
}

double peer_bullet_hull_distance(void *a, const peer_pose *pose_a, void *b,
                                 const peer_pose *pose_b) {
    btGjkEpaSolver2::sResults results;
    btTransform ta = pose_of(pose_a), tb = pose_of(pose_b);
    if (!btGjkEpaSolver2::Distance(static_cast<btConvexHullShape *>(a), ta,
                                   static_cast<btConvexHullShape *>(b), tb,
                                   tb.getOrigin() - ta.getOrigin(), results))
        return 0.0;
    return double(results.distance);
}

double peer_bullet_hull_depth(void *a, const peer_pose *pose_a, void *b, const peer_pose *pose_b) {
    btGjkEpaSolver2::sResults results;
    btTransform ta = pose_of(pose_a), tb = pose_of(pose_b);
    if (!btGjkEpaSolver2::Penetration(static_cast<btConvexHullShape *>(a), ta,
                                      static_cast<btConvexHullShape *>(b), tb,
                                      tb.getOrigin() - ta.getOrigin(), results))
        return 0.0;
    return -double(results.distance);
}
