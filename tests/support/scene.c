/* SPDX-License-Identifier: MIT */
#include "tests/support/scene.h"

#include <math.h>
#include <string.h>

#include "solid/solid.h"
#include "soup/soup_view.h"
#include "tests/support/shapes.h"

#define SCENE_SPHERES 120u /* of a packing */

void scene_things_make(carom_context *context, scene_things *things) {
    const carom_shape_def shapes[SCENE_MESHES] = {
        {.shape = CAROM_SHAPE_BOX, .size = 0.5},
        {.shape = CAROM_SHAPE_TORUS, .detail = 10, .size = 0.5},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 1, .size = 0.5},
        {.shape = CAROM_SHAPE_GRID, .detail = 3, .size = 1.0},
    };
    carom_mesh_view view;
    memset(things, 0, sizeof(*things));
    for (uint32_t i = 0; i < SCENE_MESHES; ++i) {
        things->meshes[i] = shape_mesh(context, &shapes[i], &view);
        carom_soup_def soup = {.mesh = &view, .rigid = i % 2 == 0};
        assert_ok(context, carom_soup_create(context, &soup, &things->soups[i]));
        carom_solid_def solid = {.mesh = &view};
        if (i + 1 == SCENE_MESHES) break;
        assert_ok(context, carom_solid_create(context, &solid, &things->solids[i]));
        carom_packing *packing;
        carom_packing_def pack = {.mesh = &view, .count = SCENE_SPHERES};
        assert_ok(context, carom_packing_create(context, &pack, &packing));
        carom_tree_def tree = {.packing = packing};
        assert_ok(context, carom_tree_create(context, &tree, &things->trees[i]));
        carom_packing_destroy(packing);
    }
    assert_ok(context, carom_mesh_get_view(things->meshes[2], &view));
    assert_ok(context, carom_hull_create(context, &(carom_hull_def){.mesh = &view}, &things->hull));
}

void scene_things_free(scene_things *things) {
    for (uint32_t i = 0; i < SCENE_MESHES; ++i) {
        carom_soup_destroy(things->soups[i]);
        carom_solid_destroy(things->solids[i]);
        carom_tree_destroy(things->trees[i]);
        carom_mesh_destroy(things->meshes[i]);
    }
    carom_hull_destroy(things->hull);
}

carom_pose scene_pose(carom_random *random, double room, bool lattice) {
    carom_pose pose = {.t = {0.0, 0.0, 0.0}};
    double *t = &pose.t.x;
    for (int k = 0; k < 3; ++k) {
        t[k] = carom_random_between(random, 0.0, room);
        if (lattice) t[k] = floor(4.0 * t[k]) / 4.0;
    }
    if (!lattice || carom_random_next(random) % 4 == 0) {
        pose.q.w = carom_random_normal(random);
        pose.q.x = carom_random_normal(random);
        pose.q.y = carom_random_normal(random);
        pose.q.z = carom_random_normal(random);
    }
    if (lattice && carom_random_next(random) % 4 == 0) pose.q = (carom_quat){1.0, 1.0, 0.0, 0.0};
    return pose;
}

static carom_convex some_convex(const scene_things *things, carom_random *random, bool lattice) {
    carom_convex c = {.kind = (carom_convex_kind)(carom_random_next(random) % 9)};
    c.half = (carom_vec3){0.5, 0.25, 0.5};
    c.radius = 0.25;
    c.half_height = 0.5;
    if (!lattice) {
        c.half.x = carom_random_between(random, 0.1, 0.6);
        c.radius = carom_random_between(random, 0.1, 0.6);
        if (carom_random_next(random) % 4 == 0) c.margin = 0.125;
    }
    c.borrowed_hull = c.kind == CAROM_CONVEX_KIND_HULL ? things->hull : NULL;
    return c;
}

carom_scene_object_def scene_object(const scene_things *things, carom_random *random, double room,
                                    bool lattice, uint32_t kinds) {
    carom_scene_object_def def = {.pose = scene_pose(random, room, lattice)};
    uint32_t choices = kinds >> CAROM_SCENE_OBJECT_KIND_PACKING != 0 ? 4 : 3;
    do def.kind = (carom_scene_object_kind)(carom_random_next(random) % choices);
    while ((kinds >> def.kind & 1) == 0);
    if (def.kind == CAROM_SCENE_OBJECT_KIND_CONVEX)
        def.convex = some_convex(things, random, lattice);
    bool cube = lattice && carom_random_next(random) % 2 == 0;
    uint64_t which = cube ? 0 : carom_random_next(random);
    if (def.kind == CAROM_SCENE_OBJECT_KIND_SOUP)
        def.borrowed_soup = things->soups[which % SCENE_MESHES];
    if (def.kind == CAROM_SCENE_OBJECT_KIND_SOLID)
        def.borrowed_solid = things->solids[which % (SCENE_MESHES - 1)];
    if (def.kind == CAROM_SCENE_OBJECT_KIND_PACKING)
        def.borrowed_tree = things->trees[which % (SCENE_MESHES - 1)];
    return def;
}

carom_scene_object_def scene_exact(const scene_things *things,
                                   const carom_scene_object_def *object) {
    carom_scene_object_def exact = *object;
    if (object->kind != CAROM_SCENE_OBJECT_KIND_PACKING) return exact;
    exact.kind = CAROM_SCENE_OBJECT_KIND_SOLID;
    for (uint32_t i = 0; i + 1 < SCENE_MESHES; ++i)
        if (object->borrowed_tree == things->trees[i]) exact.borrowed_solid = things->solids[i];
    return exact;
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static const carom_soup *soup_of(const carom_scene_object_def *o) {
    return o->kind == CAROM_SCENE_OBJECT_KIND_SOLID ? o->borrowed_solid->soup : o->borrowed_soup;
}

/* The winding number of a solid around a point of the world is not 0. */
static bool is_inside(carom_context *context, const carom_scene_object_def *solid, carom_vec3 p) {
    carom_frame f = carom_frame_make(&solid->pose);
    carom_vec3 d = carom_vec_sub(p, f.t), local;
    int32_t winding;
    local.x = f.r[0] * d.x + f.r[3] * d.y + f.r[6] * d.z;
    local.y = f.r[1] * d.x + f.r[4] * d.y + f.r[7] * d.z;
    local.z = f.r[2] * d.x + f.r[5] * d.y + f.r[8] * d.z;
    assert_ok(context, carom_soup_winding(context, soup_of(solid), &local, 1, &winding));
    return winding != 0 && winding != CAROM_SOUP_ON_SURFACE;
}

static scene_answer query_convex(carom_context *context, const carom_convex *a,
                                 const carom_pose *pose_a, const carom_convex *b,
                                 const carom_pose *pose_b, double reach) {
    carom_convex_result r;
    assert_ok(context, carom_convex_depth(context, a, pose_a, b, pose_b, NULL, &r));
    return (scene_answer){.in_contact = r.relation != CAROM_RELATION_APART || r.distance <= reach,
                          .relation = r.relation,
                          .distance = r.distance,
                          .depth = r.depth,
                          .error = r.error};
}

/* A shape and every triangle of a mesh, as a hull of its own. */
static scene_answer query_faces(carom_context *context, const carom_scene_object_def *shape,
                                const carom_scene_object_def *mesh, double reach, bool turned) {
    scene_answer answer = {.relation = CAROM_RELATION_APART, .distance = HUGE_VAL};
    carom_soup_view view;
    carom_frame f = carom_frame_make(&mesh->pose);
    carom_soup_get_view(soup_of(mesh), &view);
    for (uint32_t i = 0; i < view.triangle_count; ++i) {
        carom_triangle t = carom_soup_view_triangle(&view, i);
        carom_hull *hull;
        for (int k = 0; k < 3; ++k) t.corner[k] = carom_frame_apply(&f, t.corner[k]);
        carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = &t, .vertex_count = 3}};
        assert_ok(context, carom_hull_create(context, &def, &hull));
        carom_convex flat = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
        scene_answer one = query_convex(context, &shape->convex, &shape->pose, &flat, NULL, reach);
        carom_hull_destroy(hull);
        if (one.relation != CAROM_RELATION_APART) ++answer.triangle_pairs;
        if (one.relation > answer.relation) answer.relation = one.relation;
        if (one.distance < answer.distance) answer.distance = one.distance;
        if (one.depth > answer.depth) answer.depth = one.depth;
        if (one.error > answer.error) answer.error = one.error;
    }
    answer.in_contact = answer.relation != CAROM_RELATION_APART || answer.distance <= reach;
    if (mesh->kind == CAROM_SCENE_OBJECT_KIND_SOLID && answer.relation <= CAROM_RELATION_TOUCHING) {
        /* The origin of every shape made here lies in the shape. */
        if (is_inside(context, mesh, shape->pose.t)) {
            answer.in_contact = true;
            answer.relation = turned ? CAROM_RELATION_B_INSIDE_A : CAROM_RELATION_A_INSIDE_B;
            answer.distance = 0.0;
        }
    }
    return answer;
}

static scene_answer query_meshes(carom_context *context, const carom_scene_object_def *a,
                                 const carom_scene_object_def *b, double reach) {
    scene_answer answer = {.relation = CAROM_RELATION_APART};
    bool solid_a = a->kind == CAROM_SCENE_OBJECT_KIND_SOLID,
         solid_b = b->kind == CAROM_SCENE_OBJECT_KIND_SOLID;
    carom_soup_view views[2];
    carom_frame frames[2] = {carom_frame_make(&a->pose), carom_frame_make(&b->pose)};
    carom_soup_get_view(soup_of(a), &views[0]);
    carom_soup_get_view(soup_of(b), &views[1]);
    for (uint32_t i = 0; i < views[0].triangle_count; ++i) {
        carom_triangle x = carom_soup_view_triangle(&views[0], i);
        for (int k = 0; k < 3; ++k) x.corner[k] = carom_frame_apply(&frames[0], x.corner[k]);
        for (uint32_t j = 0; j < views[1].triangle_count; ++j) {
            carom_triangle y = carom_soup_view_triangle(&views[1], j);
            for (int k = 0; k < 3; ++k) y.corner[k] = carom_frame_apply(&frames[1], y.corner[k]);
            carom_triangle_intersection how = carom_triangles_relate_value(&x, &y);
            if (how.relation == CAROM_TRIANGLE_RELATION_DISJOINT) continue;
            ++answer.triangle_pairs;
            bool crossing = how.relation != CAROM_TRIANGLE_RELATION_TOUCHING;
            carom_relation r = crossing ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_TOUCHING;
            if (r > answer.relation) answer.relation = r;
        }
    }
    if (solid_a && solid_b) {
        carom_solid_result overlap;
        assert_ok(context, carom_solid_overlap(context, a->borrowed_solid, &a->pose,
                                               b->borrowed_solid, &b->pose, NULL, &overlap));
        answer.relation = overlap.relation;
        answer.volume = overlap.volume;
    } else if (answer.triangle_pairs == 0 && (solid_a || solid_b)) {
        const carom_scene_object_def *solid = solid_a ? a : b;
        carom_vec3 p = carom_soup_view_position(&views[solid_a ? 1 : 0], 0);
        if (is_inside(context, solid, carom_frame_apply(&frames[solid_a ? 1 : 0], p)))
            answer.relation = solid_a ? CAROM_RELATION_B_INSIDE_A : CAROM_RELATION_A_INSIDE_B;
    }
    if (answer.relation == CAROM_RELATION_APART) {
        carom_soup_gap gap;
        assert_ok(context, carom_soup_cross_distance(context, soup_of(a), &a->pose, soup_of(b),
                                                     &b->pose, 0.0, &gap));
        answer.distance = gap.distance;
    }
    answer.in_contact =
        answer.relation != CAROM_RELATION_APART || (reach > 0.0 && answer.distance <= reach);
    return answer;
}

scene_answer scene_oracle_query(carom_context *context, const carom_scene_object_def *a,
                                const carom_scene_object_def *b, double reach) {
    bool convex_a = a->kind == CAROM_SCENE_OBJECT_KIND_CONVEX,
         convex_b = b->kind == CAROM_SCENE_OBJECT_KIND_CONVEX;
    if (convex_a && convex_b)
        return query_convex(context, &a->convex, &a->pose, &b->convex, &b->pose, reach);
    if (convex_a) return query_faces(context, a, b, reach, false);
    if (convex_b) return query_faces(context, b, a, reach, true);
    return query_meshes(context, a, b, reach);
}

carom_scene *scene_make(carom_context *context, const carom_scene_object_def *objects,
                        uint32_t count, double reach) {
    carom_scene *scene;
    carom_scene_def def = {.reach = reach};
    assert_ok(context, carom_scene_create(context, &def, &scene));
    assert_ok(context, carom_scene_add(context, scene, objects, count, NULL));
    return scene;
}
