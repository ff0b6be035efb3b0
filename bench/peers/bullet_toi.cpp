// SPDX-License-Identifier: MIT
// Bullet: btContinuousConvexCollision, conservative advancement in floats, on hulls without margin.
#include <BulletCollision/NarrowPhaseCollision/btContinuousConvexCollision.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <BulletCollision/btBulletCollisionCommon.h>

#include "bench/peers/peers.h"

namespace {

btTransform pose_of(const peer_pose *pose) {
    return btTransform(btQuaternion(btScalar(pose->q[1]), btScalar(pose->q[2]),
                                    btScalar(pose->q[3]), btScalar(pose->q[0])),
                       btVector3(btScalar(pose->t[0]), btScalar(pose->t[1]), btScalar(pose->t[2])));
}

} // namespace

const char *peer_bullet_toi_name(void) {
    return "Bullet, as packaged (float); btContinuousConvexCollision";
}

bool peer_bullet_hulls_toi(void *a, const peer_pose *motion_a, void *b, const peer_pose *motion_b,
                           double *time) {
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver depth;
    btContinuousConvexCollision cast(static_cast<btConvexHullShape *>(a),
                                     static_cast<btConvexHullShape *>(b), &simplex, &depth);
    btConvexCast::CastResult result;
    bool hit = cast.calcTimeOfImpact(pose_of(&motion_a[0]), pose_of(&motion_a[1]),
                                     pose_of(&motion_b[0]), pose_of(&motion_b[1]), result);
    *time = double(result.m_fraction);
    return hit;
}
