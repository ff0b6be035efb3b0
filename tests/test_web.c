/* SPDX-License-Identifier: MIT */
/* The answers that js/tests/golden.js compares in WebAssembly: every engine, by the public API,
 * one hash per case. The hashes in golden/web.txt are of this program, so of native code.
 * One thread.
 *
 * A hash takes words of 32 bits, so that JavaScript is fast at it, too. Numbers and truth values
 * are doubles, enumerators their names, arrays of indices words. */
#include <string.h>

#include "tests/support/test.h"

static carom_context *context;
static uint32_t low, high;

static void word(uint32_t w) {
    low = (low ^ w) * 0x01000193u;
    high = (high + w) * 0x85ebca6bu;
    high ^= high >> 15;
}

static void number(double x) {
    uint64_t bits; /* the low word first, whatever the byte order is */
    memcpy(&bits, &x, sizeof(bits));
    word((uint32_t)bits), word((uint32_t)(bits >> 32));
}

static void numbers(const double *x, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) number(x[i]);
}

static void vector(carom_vec3 v) {
    number(v.x), number(v.y), number(v.z);
}

static void interval(carom_interval x) {
    number(x.lower), number(x.value), number(x.upper);
}

static void name(const char *text) {
    for (; *text != '\0'; ++text) word((unsigned char)*text);
}

static void words(const uint32_t *w, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) word(w[i]);
}

static void begin(void) {
    low = high = 2166136261u;
}

static void end(const char *what) {
    test_golden("web.txt", what, (uint64_t)high << 32 | low);
}

static carom_mesh *shape(carom_shape_def def, carom_mesh_view *view) {
    carom_mesh *mesh;
    assert_ok(context, carom_shape_make(context, &def, &mesh));
    carom_mesh_get_view(mesh, view);
    return mesh;
}

static carom_soup *soup_of(carom_shape_def def, carom_soup_method method) {
    carom_mesh_view view;
    carom_mesh *mesh = shape(def, &view);
    carom_soup_def soup_def = {.mesh = &view, .method = method};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &soup_def, &soup));
    carom_mesh_destroy(mesh);
    return soup;
}

/* Numbers in [-2, 2). */
static void fill(double *x, uint64_t count, uint64_t seed) {
    carom_random random = {seed};
    for (uint64_t i = 0; i < count; ++i) x[i] = carom_random_between(&random, -2.0, 2.0);
}

static const carom_pose moved = {{0.5, 0.5, -0.5, 0.5}, {0.75, 0.25, -0.125}};
/* A coarse torus, and few spheres below: covers take most of the time, minutes in emulators. */
static const carom_shape_def ring_def = {.shape = CAROM_SHAPE_TORUS, .detail = 6};
static const carom_pose away = {{1, 0, 0, 0}, {9, 1, 0.5}};

static void shapes(void **state) {
    (void)state;
    for (int i = 0; i < CAROM_SHAPE_COUNT; ++i) {
        char what[40] = "shape-";
        carom_mesh_view view;
        carom_mesh *mesh = shape((carom_shape_def){.shape = (carom_shape)i}, &view);
        begin();
        numbers(view.positions, 3 * view.vertex_count);
        words(view.corners, 3 * view.face_count);
        end(strcat(what, carom_shape_name((carom_shape)i)));
        carom_mesh_destroy(mesh);
    }
}

static void pairs_of(const char *what, const carom_pairs *pairs) {
    begin();
    for (uint64_t i = 0; i < pairs->count; ++i) word(pairs->data[i].a), word(pairs->data[i].b);
    end(what);
}

static void hits_of(const char *what, const carom_hit *hits, uint64_t count) {
    begin();
    for (uint64_t i = 0; i < count; ++i) {
        number(hits[i].id), number(hits[i].face), number(hits[i].distance);
        vector(hits[i].point), vector(hits[i].normal), number(hits[i].error);
    }
    end(what);
}

static void soups(void **state) {
    (void)state;
    carom_pairs pairs = {0};
    carom_soup_segments segments = {0};
    carom_soup *cloth = soup_of((carom_shape_def){.shape = CAROM_SHAPE_CLOTH, .detail = 224},
                                CAROM_SOUP_METHOD_TREE);
    assert_ok(context, carom_soup_self_pairs(context, cloth, &pairs));
    assert_int_equal(pairs.count, 12598);
    pairs_of("self-pairs", &pairs);
    assert_ok(context,
              carom_soup_self_segments(context, cloth, pairs.data, pairs.count, &segments));
    begin();
    for (uint64_t i = 0; i < segments.count; ++i) {
        const carom_soup_segment *s = &segments.data[i];
        number(s->pair.a), number(s->pair.b), name(carom_soup_segment_kind_name(s->kind));
        number(s->crossing), vector(s->p), vector(s->q);
    }
    end("segments");
    carom_soup_destroy(cloth);
    carom_soup *grid = soup_of((carom_shape_def){.shape = CAROM_SHAPE_CLOTH, .detail = 60},
                               CAROM_SOUP_METHOD_GRID);
    assert_ok(context, carom_soup_self_pairs(context, grid, &pairs));
    pairs_of("self-pairs-grid", &pairs);
    carom_soup_destroy(grid);
    carom_soup *a = soup_of((carom_shape_def){.shape = CAROM_SHAPE_KNOT}, CAROM_SOUP_METHOD_AUTO);
    carom_soup *b = soup_of((carom_shape_def){.shape = CAROM_SHAPE_TORUS}, CAROM_SOUP_METHOD_AUTO);
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, &moved, &pairs));
    pairs_of("cross-pairs", &pairs);
    assert_ok(context, carom_soup_cross_pairs_within(context, a, NULL, b, &moved, 0.05, &pairs));
    pairs_of("cross-pairs-within", &pairs);
    carom_soup_gap gap;
    assert_ok(context, carom_soup_cross_distance(context, a, NULL, b, &away, 0.0, &gap));
    begin();
    number(gap.distance), number(gap.face_a), number(gap.face_b);
    vector(gap.point_a), vector(gap.point_b);
    end("distance");
    double points[300], distances[100];
    int32_t windings[100];
    carom_hit hits[100];
    fill(points, 300, 1);
    assert_ok(context,
              carom_soup_closest_points(context, b, (const carom_vec3 *)points, 100, hits));
    hits_of("closest-points", hits, 100);
    assert_ok(context, carom_soup_winding(context, b, (const carom_vec3 *)points, 100, windings));
    begin();
    for (int i = 0; i < 100; ++i) number(windings[i]);
    end("winding");
    assert_ok(context, carom_soup_signed_distances(context, b, (const carom_vec3 *)points, 100,
                                                   distances, NULL));
    begin();
    numbers(distances, 100);
    end("signed-distances");
    double rays[700] = {0}, random[600];
    fill(random, 600, 2);
    for (int i = 0; i < 100; ++i) memcpy(rays + 7 * i, random + 6 * i, 48);
    assert_ok(context, carom_soup_cast_rays(context, b, (const carom_ray *)rays, 100, hits));
    hits_of("rays", hits, 100);
    carom_soup_ray_hits all = {0};
    assert_ok(context, carom_soup_query_rays(context, b, (const carom_ray *)rays, 100, &all));
    begin();
    for (uint64_t i = 0; i < all.count; ++i) {
        const carom_soup_ray_hit *h = &all.data[i];
        number(h->ray), number(h->face), number(h->distance), vector(h->point), vector(h->normal);
    }
    end("all-rays");
    carom_soup_ray_hits_free(&all);
    carom_kfree kfree;
    assert_ok(context, carom_kfree_measure(context, b, &kfree, NULL));
    begin();
    number((double)kfree.k), number((double)kfree.total), number(kfree.mean);
    number(kfree.deviation), number(kfree.height);
    end("kfree");
    carom_soup_destroy(a);
    carom_soup_destroy(b);
    carom_soup_segments_free(&segments);
    carom_pairs_free(&pairs);
}

static void overlap_of(const carom_packing_overlap *o, const char *what) {
    begin();
    name(carom_relation_name(o->relation)), interval(o->volume), vector(o->centroid);
    vector(o->force), vector(o->torque), vector(o->pivot), vector(o->direction_2009);
    number((double)o->pairs), number((double)o->inner_pairs), number((double)o->flagged_a);
    number((double)o->flagged_b), number(o->partial);
    end(what);
}

static void solids_and_spheres(void **state) {
    (void)state;
    carom_mesh_view knot, torus;
    carom_mesh *meshes[] = {shape((carom_shape_def){.shape = CAROM_SHAPE_KNOT}, &knot),
                            shape((carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &torus)};
    carom_solid_def defs[] = {{.mesh = &knot}, {.mesh = &torus}};
    carom_solid *a, *b;
    carom_solid_query_def query = {.distance = true};
    carom_solid_result r;
    assert_ok(context, carom_solid_create(context, &defs[0], &a));
    assert_ok(context, carom_solid_create(context, &defs[1], &b));
    for (int i = 0; i < 2; ++i) {
        assert_ok(context,
                  carom_solid_overlap(context, a, NULL, b, i == 0 ? &moved : &away, &query, &r));
        begin();
        name(carom_relation_name(r.relation)), number(r.volume), number(r.volume_error);
        vector(r.centroid), number(r.area), vector(r.force), vector(r.torque);
        number(r.one_sided), number(r.by_winding), number(r.has_distance), number(r.distance);
        vector(r.point_a), vector(r.point_b), number((double)r.pairs), number(r.centroid_error);
        number(r.area_error), number(r.force_error), number(r.torque_error);
        end(i == 0 ? "overlap" : "apart");
    }
    carom_packing_def pack = {.mesh = &torus, .count = 200};
    carom_packing *packing;
    carom_packing_spheres spheres = {0};
    assert_ok(context, carom_packing_create(context, &pack, &packing));
    assert_ok(context, carom_packing_list_spheres(context, packing, &spheres));
    begin();
    for (uint64_t i = 0; i < spheres.count; ++i) {
        const carom_packing_sphere *s = &spheres.data[i];
        vector(s->centre), number(s->radius), number(s->secondary), number(s->cover);
        number(s->void_volume), number(s->face), number(s->depth);
    }
    end("packing");
    carom_tree *tree;
    carom_balls *balls;
    carom_tree_def tree_def = {.packing = packing, .mesh = &torus};
    carom_balls_def balls_def = {.packing = packing};
    carom_packing_overlap overlap;
    carom_tree_gap gap;
    assert_ok(context, carom_tree_create(context, &tree_def, &tree));
    assert_ok(context, carom_tree_overlap(context, tree, NULL, tree, &moved, NULL, &overlap));
    overlap_of(&overlap, "tree-overlap");
    assert_ok(context, carom_tree_distance(context, tree, NULL, tree, &away, NULL, &gap));
    begin();
    interval(gap.distance), vector(gap.point_a), vector(gap.point_b), number(gap.sphere_a);
    number(gap.sphere_b), number(gap.partial), number(gap.face_a), number(gap.face_b);
    end("tree-distance");
    assert_ok(context, carom_balls_create(context, &balls_def, &balls));
    assert_ok(context, carom_balls_overlap(context, balls, NULL, balls, &moved, NULL, &overlap));
    overlap_of(&overlap, "balls-overlap");
    carom_mesh_view ring;
    carom_mesh *ring_mesh = shape(ring_def, &ring);
    carom_cover_def cover_def = {.mesh = &ring, .count = 4};
    carom_cover *cover;
    carom_cover_spheres covers = {0};
    assert_ok(context, carom_cover_create(context, &cover_def, &cover));
    assert_ok(context, carom_cover_list_spheres(context, cover, &covers));
    begin();
    numbers(&covers.data[0].centre.x, 4 * covers.count);
    end("cover");
    carom_bytes bytes = {0};
    assert_ok(context, carom_mesh_save_memory(context, &torus, CAROM_MESH_FORMAT_OBJ, &bytes));
    begin();
    for (uint64_t i = 0; i < bytes.count; ++i) word(bytes.data[i]);
    end("obj");
    carom_bytes_free(&bytes);
    carom_cover_spheres_free(&covers);
    carom_packing_spheres_free(&spheres);
    carom_cover_destroy(cover);
    carom_mesh_destroy(ring_mesh);
    carom_balls_destroy(balls);
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_solid_destroy(a);
    carom_solid_destroy(b);
    for (int i = 0; i < 2; ++i) carom_mesh_destroy(meshes[i]);
}

static void convex_result_of(const carom_convex_result *r) {
    name(carom_relation_name(r->relation)), number(r->distance), number(r->depth);
    number(r->error), vector(r->normal), vector(r->point_a), vector(r->point_b);
    number(r->iterations), number(r->supports);
}

static void many(void **state) {
    (void)state;
    const carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1, 0.5, 0.25}};
    const carom_convex cone = {.kind = CAROM_CONVEX_KIND_CONE, .radius = 0.75, .half_height = 1.0};
    carom_convex_result result;
    assert_ok(context, carom_convex_distance(context, &box, NULL, &cone, &away, NULL, &result));
    begin();
    convex_result_of(&result);
    end("convex-distance");
    assert_ok(context, carom_convex_depth(context, &box, NULL, &cone, &moved, NULL, &result));
    begin();
    convex_result_of(&result);
    end("convex-depth");

    static double boxes[6 * 3000];
    fill(boxes, 6 * 3000, 3);
    for (int i = 0; i < 3000; ++i)
        for (int k = 0; k < 3; ++k) boxes[6 * i + 3 + k] = boxes[6 * i + k] + 0.125;
    carom_broad_def def = {.boxes = (const carom_bounds *)boxes, .box_count = 3000};
    carom_broad *broad;
    carom_pairs pairs = {0};
    assert_ok(context, carom_broad_create(context, &def, &broad));
    assert_ok(context, carom_broad_pairs(context, broad, &pairs));
    pairs_of("boxes", &pairs);
    carom_pairs_free(&pairs);
    carom_broad_destroy(broad);

    static carom_gas_sphere spheres[512];
    double velocities[3 * 512];
    fill(velocities, 3 * 512, 4);
    for (int i = 0; i < 512; ++i)
        spheres[i] = (carom_gas_sphere){
            .position = {i % 8 + 0.5, i / 8 % 8 + 0.5, i / 64 + 0.5},
            .velocity = {velocities[3 * i], velocities[3 * i + 1], velocities[3 * i + 2]},
            .radius = 0.25};
    carom_gas_def gas_def = {.spheres = spheres, .sphere_count = 512, .edges = {8, 8, 8}};
    carom_gas *gas;
    carom_gas_spheres found = {0};
    assert_ok(context, carom_gas_create(context, &gas_def, &gas));
    assert_ok(context, carom_gas_advance(context, gas, 2.0, NULL, NULL));
    assert_ok(context, carom_gas_list_spheres(context, gas, &found));
    begin();
    numbers(&found.data[0].position.x, 8 * found.count);
    end("gas");
    carom_gas_spheres_free(&found);
    carom_gas_destroy(gas);

    const carom_pose turned = {{0.6, 0.8, 0, 0}, {1, 2, 3}};
    carom_pose pose;
    assert_ok(context, carom_pose_compose(context, &moved, &turned, &pose));
    begin();
    vector(pose.t), number(pose.q.w), number(pose.q.x), number(pose.q.y), number(pose.q.z);
    end("pose");
}

static void contact_of(const carom_scene_contact *contact) {
    number(contact->a), number(contact->b), name(carom_relation_name(contact->relation));
    name(carom_scene_contact_method_name(contact->method)), vector(contact->normal);
    number(contact->distance), number(contact->depth), number(contact->error);
    number(contact->depth_bound), number(contact->volume), number(contact->volume_error);
    number((double)contact->triangle_pairs), number(contact->point_count);
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        const carom_convex_contact *point = &contact->points[i];
        vector(point->point_a), vector(point->point_b), number(point->depth);
        number(point->feature_a), number(point->feature_b);
    }
}

/* A torus as a solid, a knot as a soup, and convex shapes, of which every second one moves. */
static void scene(void **state) {
    (void)state;
    carom_mesh_view torus;
    carom_mesh *mesh = shape((carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &torus);
    carom_solid *solid;
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &torus}, &solid));
    carom_soup *knot =
        soup_of((carom_shape_def){.shape = CAROM_SHAPE_KNOT}, CAROM_SOUP_METHOD_AUTO);
    carom_scene *world;
    assert_ok(context, carom_scene_create(context, &(carom_scene_def){.reach = 0.25}, &world));
    double positions[3 * 60];
    fill(positions, 3 * 60, 5);
    carom_pose poses[60];
    uint32_t ids[60], count = 0;
    for (uint32_t i = 0; i < 60; ++i) {
        carom_scene_object_def object = {
            .pose = {{1, 0, 0, 0}, {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]}}};
        object.kind = CAROM_SCENE_OBJECT_KIND_CONVEX;
        object.convex = (carom_convex){.kind = CAROM_CONVEX_KIND_BOX, .half = {0.25, 0.125, 0.5}};
        if (i % 3 == 1)
            object.convex = (carom_convex){.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.25};
        if (i % 20 == 0) object.kind = CAROM_SCENE_OBJECT_KIND_SOLID, object.borrowed_solid = solid;
        if (i % 20 == 10) object.kind = CAROM_SCENE_OBJECT_KIND_SOUP, object.borrowed_soup = knot;
        if (object.kind != CAROM_SCENE_OBJECT_KIND_CONVEX) object.convex = (carom_convex){0};
        uint32_t id;
        assert_ok(context, carom_scene_add(context, world, &object, 1, &id));
        if (i % 2 == 1) {
            ids[count] = id;
            poses[count] = moved;
            poses[count++].t =
                (carom_vec3){positions[3 * i + 1], positions[3 * i + 2], positions[3 * i]};
        }
    }
    for (int step = 0; step < 2; ++step) {
        carom_scene_contacts contacts = {0};
        carom_pairs begun = {0}, ended = {0};
        assert_ok(context, carom_scene_step(context, world, &contacts, &begun, &ended));
        assert_true(contacts.count > 60);
        begin();
        for (uint64_t i = 0; i < contacts.count; ++i) contact_of(&contacts.data[i]);
        for (uint64_t i = 0; i < begun.count; ++i) word(begun.data[i].a), word(begun.data[i].b);
        for (uint64_t i = 0; i < ended.count; ++i) word(ended.data[i].a), word(ended.data[i].b);
        end(step == 0 ? "scene" : "scene-moved");
        carom_scene_contacts_free(&contacts);
        carom_pairs_free(&begun), carom_pairs_free(&ended);
        assert_ok(context, carom_scene_move(context, world, ids, poses, count));
    }
    carom_scene_destroy(world);
    carom_soup_destroy(knot);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
}

/* An arm of three joints with a torus as its hand, beside a box and a ball. */
static void robot(void **state) {
    (void)state;
    carom_mesh_view torus;
    carom_mesh *mesh = shape(ring_def, &torus);
    const carom_robot_shape foot = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.5, 0.5, 0.25}};
    const carom_robot_shape boom = {.kind = CAROM_ROBOT_SHAPE_KIND_CAPSULE,
                                    .radius = 0.25,
                                    .half_height = 1,
                                    .pose = {{1, 0, 0, 0}, {0, 0, 1}}};
    const carom_robot_shape hand = {.mesh = &torus, .pose = {{1, 0, 0, 0}, {0, 0, 0.5}}};
    const carom_robot_link links[4] = {{.shapes = &foot, .shape_count = 1},
                                       {.shapes = &boom, .shape_count = 1},
                                       {.shapes = &boom, .shape_count = 1},
                                       {.shapes = &hand, .shape_count = 1}};
    const carom_pose above = {{1, 0, 0, 0}, {0, 0, 0.75}}, end_of = {{1, 0, 0, 0}, {0, 0, 2.5}};
    const carom_robot_joint joints[3] = {{.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                          .child = 1,
                                          .origin = above,
                                          .axis = {1, 0, 0},
                                          .lower = -2,
                                          .upper = 2,
                                          .multiplier = 1},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS,
                                          .parent = 1,
                                          .child = 2,
                                          .origin = end_of,
                                          .axis = {0, 1, 0},
                                          .multiplier = 1},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                          .parent = 2,
                                          .child = 3,
                                          .origin = end_of,
                                          .axis = {0, 0, 1},
                                          .lower = 0,
                                          .upper = 1,
                                          .multiplier = 1}};
    const carom_robot_def def = {.links = links,
                                 .link_count = 4,
                                 .joints = joints,
                                 .joint_count = 3,
                                 .spheres = 4,
                                 .inner = 2,
                                 .fine = 6};
    const carom_robot_shape objects[2] = {{.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                           .half = {0.5, 1, 1},
                                           .pose = {{1, 0, 0, 0}, {3, 0, 3}}},
                                          {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE,
                                           .radius = 0.75,
                                           .pose = {{1, 0, 0, 0}, {-2, 2, 2}}}};
    carom_robot *arm;
    assert_ok(context, carom_robot_create(context, &def, &arm));
    assert_ok(context, carom_robot_add_objects(context, arm, objects, 2, NULL));
    enum { COUNT = 400 };
    static double q[3 * COUNT], to[3 * COUNT];
    static carom_robot_result results[COUNT];
    static carom_robot_gap gaps[COUNT];
    static carom_robot_motion_result motions[COUNT];
    fill(q, 3 * COUNT, 6);
    fill(to, 3 * COUNT, 7);
    assert_ok(context, carom_robot_check(context, arm, q, COUNT, NULL, results));
    begin();
    for (int i = 0; i < COUNT; ++i) {
        name(carom_robot_verdict_name(results[i].verdict));
        name(carom_robot_stage_name(results[i].stage));
        number(results[i].a), number(results[i].b), number(results[i].with_object);
    }
    end("robot");
    assert_ok(context, carom_robot_clearance(context, arm, q, COUNT, NULL, gaps));
    begin();
    for (int i = 0; i < COUNT; ++i) {
        interval(gaps[i].distance);
        number(gaps[i].a), number(gaps[i].b), number(gaps[i].with_object);
    }
    end("robot-clearance");
    assert_ok(context, carom_robot_motion(context, arm, q, to, COUNT / 4, NULL, motions));
    begin();
    for (int i = 0; i < COUNT / 4; ++i) {
        name(carom_robot_verdict_name(motions[i].verdict));
        number(motions[i].free_until), number(motions[i].contact);
        number(motions[i].a), number(motions[i].b), number(motions[i].with_object);
    }
    end("robot-motion");
    carom_robot_destroy(arm);
    carom_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes), cmocka_unit_test(soups), cmocka_unit_test(solids_and_spheres),
        cmocka_unit_test(many),   cmocka_unit_test(scene), cmocka_unit_test(robot),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    carom_context_destroy(context);
    return failed;
}
