/* SPDX-License-Identifier: MIT */
/* A pile: balls and boxes fall onto a floor and come to rest. All forces come from the contacts of
 * the scene, as impulses along their normals. */
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BODIES 40
#define FIXED  5 /* a floor and four walls */
#define ALL    (FIXED + BODIES)
#define STEPS  600
#define ROUNDS 8
#define DT     (1.0 / 240.0)

typedef struct body {
    carom_pose pose;
    carom_vec3 velocity, turning;
    double over_mass, over_inertia; /* 0: does not move */
} body;

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

static carom_vec3 add(carom_vec3 a, carom_vec3 b, double s) {
    return (carom_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static carom_vec3 cross(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static carom_vec3 speed_at(const body *o, carom_vec3 arm) {
    return add(o->velocity, cross(o->turning, arm), 1.0);
}

static void push(body *o, carom_vec3 arm, carom_vec3 direction, double impulse) {
    o->velocity = add(o->velocity, direction, impulse * o->over_mass);
    o->turning = add(o->turning, cross(arm, direction), impulse * o->over_inertia);
}

/* Stops two bodies from approaching each other at one point, with some friction. */
static void resolve(body *a, body *b, const carom_scene_contact *c, const carom_convex_contact *p) {
    carom_vec3 arm_a = add(p->point_a, a->pose.t, -1.0), arm_b = add(p->point_b, b->pose.t, -1.0);
    carom_vec3 relative = add(speed_at(b, arm_b), speed_at(a, arm_a), -1.0), n = c->normal;
    double speed = dot(relative, n), wanted = 10.0 * fmax(p->depth - 0.005, 0.0);
    double yields = a->over_mass + b->over_mass;
    yields += a->over_inertia * dot(cross(arm_a, n), cross(arm_a, n));
    yields += b->over_inertia * dot(cross(arm_b, n), cross(arm_b, n));
    double impulse = fmax(wanted - speed, 0.0) / yields;
    push(a, arm_a, n, -impulse);
    push(b, arm_b, n, impulse);
    carom_vec3 sideways = add(relative, n, -speed);
    push(a, arm_a, sideways, 0.1 / yields);
    push(b, arm_b, sideways, -0.1 / yields);
}

static void advance(body *o) {
    carom_quat q = o->pose.q;
    carom_vec3 w = o->turning;
    o->pose.t = add(o->pose.t, o->velocity, DT);
    o->pose.q.w -= 0.5 * DT * (w.x * q.x + w.y * q.y + w.z * q.z);
    o->pose.q.x += 0.5 * DT * (w.x * q.w + w.y * q.z - w.z * q.y);
    o->pose.q.y += 0.5 * DT * (w.y * q.w + w.z * q.x - w.x * q.z);
    o->pose.q.z += 0.5 * DT * (w.z * q.w + w.x * q.y - w.y * q.x);
    double length = sqrt(o->pose.q.w * o->pose.q.w + o->pose.q.x * o->pose.q.x +
                         o->pose.q.y * o->pose.q.y + o->pose.q.z * o->pose.q.z);
    o->pose.q = (carom_quat){o->pose.q.w / length, o->pose.q.x / length, o->pose.q.y / length,
                             o->pose.q.z / length};
}

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_soup *floor;
    carom_scene *scene;
    must(NULL, carom_context_create(NULL, &context));

    /* input: the floor is a mesh, everything else a convex shape */
    carom_shape_def grid = {.shape = CAROM_SHAPE_GRID, .detail = 8, .size = 8.0};
    must(context, carom_shape_make(context, &grid, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    must(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &floor));

    /* prepare */
    static carom_scene_object_def objects[ALL];
    static body bodies[ALL];
    static carom_pose poses[BODIES];
    static uint32_t ids[BODIES]; /* of what moves */
    objects[0] =
        (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = floor};
    for (int i = 1; i < FIXED; ++i) {
        double side = i % 2 == 0 ? -2.5 : 2.5;
        objects[i].convex =
            (carom_convex){.kind = CAROM_CONVEX_KIND_BOX,
                           .half = i < 3 ? (carom_vec3){1, 4, 20} : (carom_vec3){4, 1, 20}};
        objects[i].pose.t = i < 3 ? (carom_vec3){side, 0, 20} : (carom_vec3){0, side, 20};
        bodies[i].pose = objects[i].pose;
        objects[i].filter = (carom_broad_filter){.group = 1, .mask = 2}; /* not with each other */
    }
    objects[0].filter = objects[1].filter;
    for (int i = FIXED; i < ALL; ++i) {
        carom_convex ball = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.5};
        carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.4, 0.3}};
        objects[i].convex = i % 2 == 0 ? ball : box;
        objects[i].pose = (carom_pose){{1, 0, 0, 0}, {i % 2 - 0.5, i / 2 % 2 - 0.5, 1 + i * 0.4}};
        objects[i].filter.group = 2;
        bodies[i] = (body){.pose = objects[i].pose, .over_mass = 1.0, .over_inertia = 10.0};
    }
    must(context, carom_scene_create(context, &(carom_scene_def){.reach = 0.01}, &scene));
    must(context, carom_scene_add(context, scene, objects, ALL, NULL));

    /* steps: contacts, impulses, motion */
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0}, ended = {0};
    for (int step = 0; step <= STEPS; ++step) {
        must(context, carom_scene_step(context, scene, &contacts, &begun, &ended));
        if (step % 150 == 0)
            printf("%.2f s: %llu contacts, %llu began, %llu ended in this step\n", step * DT,
                   (unsigned long long)contacts.count, (unsigned long long)begun.count,
                   (unsigned long long)ended.count);
        for (int i = FIXED; i < ALL; ++i) bodies[i].velocity.z -= 9.81 * DT;
        for (int round = 0; round < ROUNDS; ++round)
            for (uint64_t i = 0; i < contacts.count; ++i)
                for (uint32_t k = 0; k < contacts.data[i].point_count; ++k)
                    resolve(&bodies[contacts.data[i].a], &bodies[contacts.data[i].b],
                            &contacts.data[i], &contacts.data[i].points[k]);
        for (int i = 0; i < BODIES; ++i) {
            ids[i] = (uint32_t)(FIXED + i);
            advance(&bodies[ids[i]]);
            poses[i] = bodies[ids[i]].pose;
        }
        must(context, carom_scene_move(context, scene, ids, poses, BODIES));
    }

    /* query: what does one see from above? */
    carom_ray ray = {.origin = {0.4, 0.5, 50.0}, .direction = {0.0, 0.0, -1.0}};
    carom_hit hit;
    must(context, carom_scene_commit(context, scene));
    must(context, carom_scene_cast_rays(context, scene, &ray, 1, &hit));
    printf("from above one sees object %u, %.2f high\n", hit.id, 50.0 - hit.distance);

    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_scene_destroy(scene);
    carom_soup_destroy(floor);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
