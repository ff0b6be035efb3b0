/* SPDX-License-Identifier: MIT */
#include "tests/support/robots.h"

#include <string.h>

static carom_vec3 direction(carom_random *random) {
    return (carom_vec3){carom_random_between(random, -1.0, 1.0),
                        carom_random_between(random, -1.0, 1.0),
                        carom_random_between(random, -1.0, 1.0) + 1e-3};
}

static carom_pose pose(carom_random *random, double far) {
    carom_pose p = {
        {carom_random_between(random, -1.0, 1.0), carom_random_between(random, -1.0, 1.0),
         carom_random_between(random, -1.0, 1.0), carom_random_between(random, 0.1, 1.0)},
        direction(random)};
    p.t.x *= far, p.t.y *= far, p.t.z *= far;
    if (carom_random_next(random) % 4 == 0) p.q = (carom_quat){1.0, 0.0, 0.0, 0.0};
    return p;
}

static carom_robot_shape shape(robots_case *m, carom_random *random, double size, double far) {
    static const carom_robot_shape_kind kinds[] = {
        CAROM_ROBOT_SHAPE_KIND_BOX,    CAROM_ROBOT_SHAPE_KIND_BOX,
        CAROM_ROBOT_SHAPE_KIND_MESH,   CAROM_ROBOT_SHAPE_KIND_MESH,
        CAROM_ROBOT_SHAPE_KIND_SPHERE, CAROM_ROBOT_SHAPE_KIND_CAPSULE,
        CAROM_ROBOT_SHAPE_KIND_BALLS,  CAROM_ROBOT_SHAPE_KIND_CYLINDER};
    /* Cylinders have many faces for the oracle: one in 64. */
    uint64_t pick = carom_random_next(random) % 64;
    carom_robot_shape s = {.kind = kinds[pick < 63 ? pick % 7 : 7], .pose = pose(random, far)};
    s.half = (carom_vec3){size * carom_random_between(random, 0.2, 1.0),
                          size * carom_random_between(random, 0.2, 1.0),
                          size * carom_random_between(random, 0.2, 1.0)};
    s.radius = size * carom_random_between(random, 0.1, 0.6);
    s.half_height = size * carom_random_between(random, 0.1, 1.0);
    s.mesh = carom_random_next(random) % 3 == 0 ? &m->open : &m->closed;
    s.balls = m->balls;
    s.ball_count = carom_random_next(random) % 2 == 0 ? 40 : 1 + carom_random_next(random) % 8;
    if (s.kind == CAROM_ROBOT_SHAPE_KIND_BALLS) s.radius = 0.02;
    return s;
}

static void make_meshes(robots_case *m) {
    static const uint32_t corners[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                         2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    memcpy(m->corners, corners, sizeof(corners));
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 6; ++i) m->positions[k][3 * i + i / 2] = (i % 2 == 0 ? 0.4 : -0.3);
    m->closed = (carom_mesh_view){
        .positions = m->positions[0], .vertex_count = 6, .corners = m->corners, .face_count = 8};
    m->open = m->closed;
    m->open.positions = m->positions[1];
    m->open.face_count = 7;
}

static carom_vec3 scaled(carom_vec3 v, double by) {
    return (carom_vec3){v.x * by, v.y * by, v.z * by};
}

static void scale_shape(carom_robot_shape *s, double by) {
    s->pose.t = scaled(s->pose.t, by);
    s->half = scaled(s->half, by);
    s->radius *= by;
    s->half_height *= by;
}

void robots_make(uint64_t seed, robots_case *m) {
    carom_random random = {seed};
    memset(m, 0, sizeof(*m));
    make_meshes(m);
    for (int i = 0; i < 40; ++i) {
        m->balls[i].centre = direction(&random);
        m->balls[i].radius = carom_random_between(&random, 0.0, 0.05);
    }
    uint32_t n = 2 + (uint32_t)(carom_random_next(&random) % (ROBOTS_LINKS - 1));
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t count = carom_random_next(&random) % 8;
        count = count == 0 ? 0 : count == 1 ? 2 : 1;
        for (uint64_t k = 0; k < count; ++k) m->shapes[i][k] = shape(m, &random, 0.3, 0.2);
        m->links[i] =
            (carom_robot_link){.name = "link", .shapes = m->shapes[i], .shape_count = count};
        if (i == 0) continue;
        carom_robot_joint *j = &m->joints[i - 1];
        *j = (carom_robot_joint){.kind = (carom_robot_joint_kind)(carom_random_next(&random) % 4),
                                 .parent = carom_random_next(&random) % 4 != 0
                                               ? i - 1
                                               : (uint32_t)(carom_random_next(&random) % i),
                                 .child = i,
                                 .origin = pose(&random, 0.7),
                                 .axis = direction(&random),
                                 .lower = -carom_random_between(&random, 0.1, 3.0),
                                 .upper = carom_random_between(&random, 0.1, 3.0)};
        if (j->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC) j->lower *= 0.2, j->upper *= 0.2;
        const carom_robot_joint *first = &m->joints[0];
        if (i > 1 && j->kind != CAROM_ROBOT_JOINT_KIND_FIXED &&
            first->kind != CAROM_ROBOT_JOINT_KIND_FIXED && carom_random_next(&random) % 4 == 0) {
            j->mimics = true;
            j->mimic = 0;
            j->multiplier = carom_random_between(&random, -1.0, 1.0);
            j->offset = carom_random_between(&random, -0.2, 0.2);
        }
        if (j->kind != CAROM_ROBOT_JOINT_KIND_FIXED && !j->mimics) ++m->dof;
    }
    m->def = (carom_robot_def){.links = m->links,
                               .link_count = n,
                               .joints = m->joints,
                               .joint_count = n - 1,
                               .test_adjacent = carom_random_next(&random) % 4 == 0,
                               .spheres = 1 + carom_random_next(&random) % 10,
                               .inner = 1 + carom_random_next(&random) % 4};
    m->def.fine = seed % 8 == 7 ? 1 : 2 * m->def.spheres; /* every eighth has none */
    m->object_count = (uint32_t)(carom_random_next(&random) % (ROBOTS_OBJECTS + 1));
    for (uint32_t i = 0; i < m->object_count; ++i) {
        m->objects[i] = shape(m, &random, 0.4, 1.6);
        /* A large one now and then, so that something is inside of it. */
        if (carom_random_next(&random) % 16 == 0) m->objects[i].half = (carom_vec3){3.0, 3.0, 3.0};
    }
}

void robots_configuration(const robots_case *m, carom_random *random, double *q) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < m->def.joint_count; ++i) {
        const carom_robot_joint *j = &m->joints[i];
        if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED || j->mimics) continue;
        q[column++] = carom_random_between(random, j->lower, j->upper);
    }
}

void robots_scale(robots_case *m, double scale) {
    for (int i = 0; i < ROBOTS_LINKS; ++i)
        for (int k = 0; k < 2; ++k) scale_shape(&m->shapes[i][k], scale);
    for (int i = 0; i < ROBOTS_OBJECTS; ++i) scale_shape(&m->objects[i], scale);
    for (int i = 0; i < 40; ++i) {
        m->balls[i].centre = scaled(m->balls[i].centre, scale);
        m->balls[i].radius *= scale;
    }
    for (int i = 0; i < 18; ++i) m->positions[0][i] *= scale, m->positions[1][i] *= scale;
    for (uint32_t i = 0; i < m->def.joint_count; ++i) {
        carom_robot_joint *j = &m->joints[i];
        bool slides = j->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC;
        j->origin.t = scaled(j->origin.t, scale);
        if (slides) j->lower *= scale, j->upper *= scale, j->offset *= scale;
        /* Lengths that follow angles, or the other way, are of one scale only. */
        if (j->mimics && slides != (m->joints[j->mimic].kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC))
            j->multiplier = 0.0;
    }
}
