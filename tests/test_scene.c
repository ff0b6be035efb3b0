/* SPDX-License-Identifier: MIT */
/* Contacts of scenes: known answers; every pair of random scenes as the engines answer it one at a
 * time; the same bytes for any number of threads and any instruction set; nothing lost when memory
 * runs out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/support/scene.h"
#include "tests/support/shapes.h"

#define MOST 64u

SCENE_THINGS(2)

static carom_pose at(double x, double y, double z) {
    return (carom_pose){.t = {x, y, z}};
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* The contact of two objects, which there must be. */
static carom_scene_contact contact_of(carom_scene_object_def a, carom_scene_object_def b,
                                      double reach) {
    carom_scene_object_def objects[2] = {a, b};
    carom_scene *scene = scene_make(context, objects, 2, reach);
    carom_scene_contacts contacts = {0};
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    assert_valid(carom_scene_validate(scene));
    assert_int_equal(contacts.count, 1);
    carom_scene_contact c = contacts.data[0];
    assert_int_equal(c.a, 0);
    assert_int_equal(c.b, 1);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    return c;
}

static void assert_near(double x, double y, double tolerance) {
    if (!(fabs(x - y) <= tolerance)) fail_msg("%.17g instead of %.17g", x, y);
}

static void assert_normal(const carom_scene_contact *c, double x, double y, double z) {
    assert_near(c->normal.x, x, 1e-12);
    assert_near(c->normal.y, y, 1e-12);
    assert_near(c->normal.z, z, 1e-12);
}

static void known_convex_contacts(void **state) {
    (void)state;
    carom_scene_object_def sphere = {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0}};
    carom_scene_object_def box = {
        .convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 1.0, 1.0}},
        .pose = at(0.0, 0.0, 1.75)};
    carom_scene_contact c = contact_of(sphere, box, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_OVERLAPPING);
    assert_int_equal(c.method, CAROM_SCENE_CONTACT_METHOD_CONVEX);
    assert_normal(&c, 0.0, 0.0, 1.0);
    assert_near(c.depth, 0.25, 1e-12);
    box.pose = at(0.0, 0.0, 2.5);
    c = contact_of(sphere, box, 0.5);
    assert_int_equal(c.relation, CAROM_RELATION_APART);
    assert_near(c.distance, 0.5, 1e-12);
    assert_near(c.points[0].depth, -0.5, 1e-12);
    carom_scene_object_def other = box;
    other.pose = at(0.5, 0.0, 4.25);
    c = contact_of(box, other, 0.0);
    assert_int_equal(c.point_count, 4);
    assert_near(c.depth, 0.25, 1e-12);
}

static void known_contacts_of_meshes(void **state) {
    (void)state;
    /* Cubes of edge 1, a quarter of which overlaps. */
    carom_scene_object_def a = {.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
                                .borrowed_solid = things.solids[0]};
    carom_scene_object_def b = a;
    b.pose = at(0.75, 0.0, 0.0);
    carom_scene_contact c = contact_of(a, b, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_OVERLAPPING);
    assert_int_equal(c.method, CAROM_SCENE_CONTACT_METHOD_SOLIDS);
    assert_near(c.volume, 0.25, c.volume_error);
    assert_normal(&c, 1.0, 0.0, 0.0);
    assert_near(c.depth, 0.25, c.error);
    assert_true(c.error <= 1e-6);
    assert_near(c.points[0].point_a.x, 0.375, 1e-12);
    b.pose = at(1.0, 0.0, 0.0);
    c = contact_of(a, b, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_TOUCHING);
    assert_normal(&c, 1.0, 0.0, 0.0);
    assert_true(c.point_count == 4 && c.points[0].point_a.x == 0.5);
    b.pose = at(1.25, 0.0, 0.0);
    c = contact_of(a, b, 0.25);
    assert_int_equal(c.relation, CAROM_RELATION_APART);
    assert_true(c.distance == 0.25);
    assert_normal(&c, 1.0, 0.0, 0.0);
    /* Copies: one is inside the other; the centroids are equal. */
    b.pose = a.pose;
    c = contact_of(a, b, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_A_INSIDE_B);
    assert_near(c.volume, 1.0, c.volume_error);
    assert_near(c.depth, 1.0, 1e-6);
    /* The faces of the same cubes. */
    carom_scene_object_def soup = {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                   .borrowed_soup = things.soups[0]};
    soup.pose = at(0.75, 0.125, 0.0625);
    c = contact_of(a, soup, 0.0);
    assert_int_equal(c.method, CAROM_SCENE_CONTACT_METHOD_FACES);
    assert_int_equal(c.relation, CAROM_RELATION_OVERLAPPING);
    assert_true(c.volume == 0.0 && c.triangle_pairs != 0);
    assert_normal(&c, 1.0, 0.0, 0.0);
    assert_near(c.depth, 0.25, c.error);
    assert_true(c.error <= 1e-6 && c.points[0].depth == c.depth);
    soup.pose = at(1.0, 0.0, 0.0);
    c = contact_of(soup, a, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_OVERLAPPING); /* coplanar faces overlap */
    soup.pose = at(1.0, 1.0, 0.0);
    c = contact_of(soup, a, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_TOUCHING);
}

static void known_contacts_of_shapes_with_meshes(void **state) {
    (void)state;
    carom_scene_object_def floor = {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                    .borrowed_soup = things.soups[3]};
    carom_scene_object_def box = {
        .convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.25, 0.25, 0.25}},
        .pose = at(0.05, 0.03, 0.125)};
    carom_scene_contact c = contact_of(floor, box, 0.0);
    assert_int_equal(c.method, CAROM_SCENE_CONTACT_METHOD_CONVEX_FACES);
    assert_int_equal(c.relation, CAROM_RELATION_OVERLAPPING);
    assert_normal(&c, 0.0, 0.0, 1.0);
    assert_near(c.depth, 0.125, 1e-12);
    assert_int_equal(c.point_count, 4);
    c = contact_of(box, floor, 0.0);
    assert_normal(&c, 0.0, 0.0, -1.0);
    box.pose = at(0.05, 0.03, 0.375);
    c = contact_of(box, floor, 0.2);
    assert_int_equal(c.relation, CAROM_RELATION_APART);
    assert_near(c.distance, 0.125, 1e-12);
    /* A small sphere in a cube, nearest to its face at x = 0.5. */
    carom_scene_object_def cube = {.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
                                   .borrowed_solid = things.solids[0]};
    carom_scene_object_def ball = {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.0625},
                                   .pose = at(0.25, 0.0, 0.0)};
    c = contact_of(cube, ball, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_B_INSIDE_A);
    assert_normal(&c, 1.0, 0.0, 0.0);
    assert_near(c.depth, 0.3125, 1e-9);
    c = contact_of(ball, cube, 0.0);
    assert_int_equal(c.relation, CAROM_RELATION_A_INSIDE_B);
    assert_normal(&c, -1.0, 0.0, 0.0);
    /* Not in the cube's faces. */
    cube = (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                    .borrowed_soup = things.soups[0]};
    carom_scene_object_def objects[2] = {cube, ball};
    carom_scene *scene = scene_make(context, objects, 2, 0.0);
    carom_scene_contacts contacts = {0};
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    assert_int_equal(contacts.count, 0);
    carom_scene_destroy(scene);
}

/* Moved by the depth, b does not overlap a; moved by depth - error, it does. */
static void depths_of_solids_are_proved(void **state) {
    (void)state;
    carom_random random = {5};
    uint32_t tried = 0;
    for (uint32_t i = 0; i < TEST_CASES(60); ++i) {
        carom_scene_object_def o[2];
        for (int k = 0; k < 2; ++k)
            o[k] = scene_object(&things, &random, 0.6, i % 2 == 0,
                                1u << CAROM_SCENE_OBJECT_KIND_SOLID);
        carom_scene *scene = scene_make(context, o, 2, 0.0);
        carom_scene_contacts contacts = {0};
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        for (uint64_t k = 0; k < contacts.count; ++k) {
            const carom_scene_contact *c = &contacts.data[k];
            if (c->relation < CAROM_RELATION_OVERLAPPING) continue;
            assert_near(sqrt(c->normal.x * c->normal.x + c->normal.y * c->normal.y +
                             c->normal.z * c->normal.z),
                        1.0, 1e-12);
            for (int back = 0; back < 2; ++back) {
                double shift = c->depth - (back != 0 ? c->error : 0.0);
                carom_pose pose = o[1].pose;
                carom_solid_result overlap;
                pose.t.x += c->normal.x * shift;
                pose.t.y += c->normal.y * shift;
                pose.t.z += c->normal.z * shift;
                assert_ok(context, carom_solid_overlap(context, o[0].borrowed_solid, &o[0].pose,
                                                       o[1].borrowed_solid, &pose, NULL, &overlap));
                assert_true((overlap.relation >= CAROM_RELATION_OVERLAPPING) == (back != 0));
            }
            ++tried;
        }
        carom_scene_contacts_free(&contacts);
        carom_scene_destroy(scene);
    }
    if (TEST_MANY_CASES) assert_true(tried > TEST_CASES(20));
}

/* Moved by the depth, no faces meet and none of the two is inside the other; moved by depth -
 * error, they are in contact. The depth is the least along the axes, as far as they were moved
 * here. */
static void depths_of_faces_are_proved(void **state) {
    (void)state;
    carom_random random = {15};
    uint32_t tried = 0, inside = 0;
    const carom_shape_def shape = {.shape = CAROM_SHAPE_GRID, .detail = 1, .size = 0.125};
    carom_soup *small = shape_soup(context, &shape, NULL);
    for (uint32_t i = 0; i < TEST_CASES(120); ++i) {
        carom_scene_object_def o[2] = {
            scene_object(&things, &random, 0.6, i % 2 == 0, 1u << CAROM_SCENE_OBJECT_KIND_SOUP),
            scene_object(&things, &random, 0.6, i % 2 == 0, 6u)};
        if (i % 8 == 1) { /* a soup in a cube */
            o[0].borrowed_soup = small;
            o[0].pose = at(0.05, 0.01, 0.02);
            o[1] = (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
                                            .borrowed_solid = things.solids[0]};
        }
        if (i % 3 == 0) {
            carom_scene_object_def first = o[0];
            o[0] = o[1];
            o[1] = first;
        }
        carom_scene *scene = scene_make(context, o, 2, 0.0);
        carom_scene_contacts contacts = {0};
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        for (uint64_t k = 0; k < contacts.count; ++k) {
            const carom_scene_contact *c = &contacts.data[k];
            if (c->method != CAROM_SCENE_CONTACT_METHOD_FACES ||
                c->relation < CAROM_RELATION_OVERLAPPING)
                continue;
            inside += c->relation > CAROM_RELATION_OVERLAPPING ? 1 : 0;
            for (int back = 0; back < 2; ++back) {
                double shift = c->depth - (back != 0 ? c->error : 0.0);
                carom_scene_object_def moved = o[1];
                moved.pose.t.x += c->normal.x * shift;
                moved.pose.t.y += c->normal.y * shift;
                moved.pose.t.z += c->normal.z * shift;
                assert_true(scene_oracle_query(context, &o[0], &moved, 0.0).in_contact ==
                            (back != 0));
            }
            for (int axis = 0; axis < 6; ++axis) {
                carom_scene_object_def moved = o[1];
                (&moved.pose.t.x)[axis / 2] += (axis % 2 == 0 ? 0.99 : -0.99) * c->depth;
                carom_vec3 n = c->normal;
                bool same = (&n.x)[axis / 2] * (axis % 2 == 0 ? 1.0 : -1.0) == 1.0;
                if (!same) assert_true(scene_oracle_query(context, &o[0], &moved, 0.0).in_contact);
            }
            ++tried;
        }
        carom_scene_contacts_free(&contacts);
        carom_scene_destroy(scene);
    }
    carom_soup_destroy(small);
    if (TEST_MANY_CASES) assert_true(tried > TEST_CASES(40) && inside > TEST_CASES(5));
}

/* ---- All pairs ------------------------------------------------------------------------------- */

static void check_contact(const carom_scene_contact *c, const scene_answer *answer) {
    if (c->relation != answer->relation)
        fail_msg("%u, %u: %s instead of %s", c->a, c->b, carom_relation_name(c->relation),
                 carom_relation_name(answer->relation));
    double error = 4.0 * (answer->error + 1e-14);
    if (c->relation == CAROM_RELATION_APART) assert_near(c->distance, answer->distance, error);
    if (c->method != CAROM_SCENE_CONTACT_METHOD_CONVEX && c->relation <= CAROM_RELATION_OVERLAPPING)
        assert_int_equal(c->triangle_pairs, answer->triangle_pairs);
    if (c->method == CAROM_SCENE_CONTACT_METHOD_SOLIDS)
        assert_true(c->volume == answer->volume);
    else if (c->method != CAROM_SCENE_CONTACT_METHOD_FACES &&
             c->relation == CAROM_RELATION_OVERLAPPING)
        assert_near(c->depth, answer->depth, error);
    assert_true(c->point_count <= CAROM_CONVEX_MOST_CONTACTS);
    for (uint32_t i = 1; i < c->point_count; ++i)
        assert_true(c->points[i].depth <= c->points[0].depth);
}

/* All objects against all: the same contacts, found by the engines one pair at a time. */
static void all_pairs_are_answered(void **state) {
    (void)state;
    carom_random random = {1};
    uint64_t kinds[CAROM_SCENE_CONTACT_METHOD_COUNT][CAROM_RELATION_COUNT] = {{0}};
    for (uint32_t i = 0; i < TEST_CASES(24); ++i) {
        carom_scene_object_def objects[24];
        uint32_t count = 12;
        double reach = i % 3 == 0 ? 0.25 : 0.0;
        for (uint32_t k = 0; k < count; ++k)
            objects[k] = scene_object(&things, &random, 1.7, i % 2 == 0, 7u);
        carom_scene *scene = scene_make(context, objects, count, reach);
        carom_scene_contacts contacts = {0};
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        assert_valid(carom_scene_validate(scene));
        uint64_t next = 0;
        for (uint32_t a = 0; a < count; ++a)
            for (uint32_t b = a + 1; b < count; ++b) {
                scene_answer answer = scene_oracle_query(context, &objects[a], &objects[b], reach);
                const carom_scene_contact *c = next < contacts.count ? &contacts.data[next] : NULL;
                bool listed = c != NULL && c->a == a && c->b == b;
                if (listed != answer.in_contact)
                    fail_msg("case %u: %u, %u (%s, %s): %s, distance %g, but %s", i, a, b,
                             carom_scene_object_kind_name(objects[a].kind),
                             carom_scene_object_kind_name(objects[b].kind),
                             carom_relation_name(answer.relation), answer.distance,
                             listed ? "listed" : "not listed");
                if (!listed) continue;
                check_contact(c, &answer);
                ++kinds[c->method][c->relation];
                ++next;
            }
        assert_int_equal(next, contacts.count);
        carom_scene_contacts_free(&contacts);
        carom_scene_destroy(scene);
    }
    if (!TEST_ALL_CASES) return;
    for (int m = 0; m <= CAROM_SCENE_CONTACT_METHOD_SOLIDS; ++m)
        for (int r = 0; r <= CAROM_RELATION_OVERLAPPING; ++r)
            if (kinds[m][r] == 0)
                fail_msg("no contact by %s is %s",
                         carom_scene_contact_method_name((carom_scene_contact_method)m),
                         carom_relation_name((carom_relation)r));
}

/* ---- The same bytes -------------------------------------------------------------------------- */

/* The hash of contacts without features, whose ids are no part of the golden file. */
static uint64_t hash_as_golden(const carom_scene_contacts *contacts) {
    enum {
        HEAD = offsetof(carom_scene_contact, points),
        POINT = offsetof(carom_convex_contact, feature_a),
        SIZE = HEAD + CAROM_CONVEX_MOST_CONTACTS * POINT
    };
    unsigned char *bytes = malloc((contacts->count + 1) * SIZE), *to = bytes;
    assert_non_null(bytes);
    for (uint64_t i = 0; i < contacts->count; ++i, to += SIZE) {
        memcpy(to, &contacts->data[i], HEAD);
        for (int k = 0; k < CAROM_CONVEX_MOST_CONTACTS; ++k)
            memcpy(to + HEAD + k * POINT, &contacts->data[i].points[k], POINT);
    }
    uint64_t hash = test_hash_numbers(bytes, contacts->count * SIZE, "4*4 8*10 4*2 8*28", 0);
    free(bytes);
    return hash;
}

/* *features is a hash of what the golden one leaves out. */
static uint64_t digest(carom_context *c, const carom_scene_object_def *objects, uint32_t count,
                       uint64_t *features) {
    carom_scene *scene = scene_make(c, objects, count, 0.125);
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0};
    assert_ok(c, carom_scene_step(c, scene, &contacts, &begun, NULL));
    assert_int_equal(begun.count, contacts.count);
    uint64_t hash = hash_as_golden(&contacts);
    *features = test_hash(contacts.data, contacts.count * sizeof(*contacts.data), 0);
    hash = test_hash_numbers(begun.data, begun.count * sizeof(*begun.data), "4", hash);
    carom_ray rays[32];
    carom_vec3 points[32];
    carom_hit hits[32];
    carom_random random = {3};
    for (int i = 0; i < 32; ++i) {
        carom_pose p = scene_pose(&random, 3.0, false);
        rays[i] = (carom_ray){.origin = p.t, .direction = {p.q.x, p.q.y, p.q.z}};
        points[i] = p.t;
    }
    memset(hits, 0, sizeof(hits));
    assert_ok(c, carom_scene_cast_rays(c, scene, rays, 32, hits));
    hash = test_hash_numbers(hits, sizeof(hits), "4*2 8*8", hash);
    memset(hits, 0, sizeof(hits));
    assert_ok(c, carom_scene_closest_points(c, scene, points, 32, hits));
    hash = test_hash_numbers(hits, sizeof(hits), "4*2 8*8", hash);
    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    carom_scene_destroy(scene);
    return hash;
}

static void bytes_are_the_same_everywhere(void **state) {
    (void)state;
    carom_random random = {9};
    static carom_scene_object_def objects[300];
    for (uint32_t i = 0; i < 300; ++i)
        objects[i] = scene_object(&things, &random, 6.0, i % 2 == 0, i % 10 == 0 ? 6u : 1u);
    uint64_t hash = 0, features = 0, own_features;
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            carom_context *c = test_context_isa(threads, (carom_isa)isa);
            if (c == NULL) continue;
            uint64_t own = digest(c, objects, 300, &own_features);
            if (hash == 0) hash = own, features = own_features;
            assert_true(hash == own && features == own_features);
            carom_context_destroy(c);
        }
    test_golden("scene.txt", "contacts of 300 objects", hash);
}

/* A power of two scales everything. */
static void scales_are_all_the_same(void **state) {
    (void)state;
    static const int exponents[] = {-300, -60, 60, 300};
    carom_random random = {12};
    carom_scene_object_def objects[40];
    for (uint32_t i = 0; i < 40; ++i)
        objects[i] = scene_object(&things, &random, 2.0, i % 2 == 0, 1u);
    for (uint32_t i = 0; i < 40; ++i)
        if (objects[i].convex.kind == CAROM_CONVEX_KIND_HULL)
            objects[i].convex.kind = CAROM_CONVEX_KIND_BOX;
    carom_scene *scene = scene_make(context, objects, 40, 0.125);
    carom_scene_contacts contacts = {0}, scaled = {0};
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    carom_scene_destroy(scene);
    for (uint32_t i = 0; i < COUNT_OF(exponents); ++i) {
        double by = ldexp(1.0, exponents[i]);
        carom_scene_object_def copies[40];
        for (uint32_t k = 0; k < 40; ++k) {
            carom_scene_object_def *o = &copies[k];
            *o = objects[k];
            o->pose.t = (carom_vec3){o->pose.t.x * by, o->pose.t.y * by, o->pose.t.z * by};
            carom_convex *s = &o->convex;
            s->half = (carom_vec3){s->half.x * by, s->half.y * by, s->half.z * by};
            s->radius *= by;
            s->half_height *= by;
            s->margin *= by;
        }
        scene = scene_make(context, copies, 40, 0.125 * by);
        assert_ok(context, carom_scene_step(context, scene, &scaled, NULL, NULL));
        assert_int_equal(scaled.count, contacts.count);
        for (uint64_t k = 0; k < scaled.count; ++k) {
            assert_int_equal(scaled.data[k].relation, contacts.data[k].relation);
            assert_true(scaled.data[k].depth == contacts.data[k].depth * by);
            assert_true(scaled.data[k].distance == contacts.data[k].distance * by);
        }
        carom_scene_destroy(scene);
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_contacts_free(&scaled);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Rays and points against each object alone, and queries from outside against the
 * same objects in the scene. */
static void queries_are_those_of_single_objects(void **state) {
    (void)state;
    carom_random random = {21};
    for (uint32_t i = 0; i < TEST_CASES(24); ++i) {
        enum { COUNT = 20, QUERIES = 24 };
        carom_scene_object_def objects[COUNT];
        carom_hit hits[QUERIES], one[QUERIES], best[QUERIES];
        carom_ray rays[QUERIES];
        carom_vec3 points[QUERIES];
        for (uint32_t k = 0; k < COUNT; ++k)
            objects[k] = scene_object(&things, &random, 3.0, i % 2 == 0, i % 3 == 0 ? 15u : 7u);
        for (uint32_t k = 0; k < QUERIES; ++k) {
            carom_pose p = scene_pose(&random, 3.0, i % 2 == 0);
            carom_pose to = scene_pose(&random, 3.0, i % 4 == 0);
            points[k] = p.t;
            rays[k] =
                (carom_ray){.origin = p.t,
                            .direction = {to.t.x - p.t.x + 0.01, to.t.y - p.t.y, to.t.z - p.t.z},
                            .length = k % 3 == 0 ? 1.0 : 0.0};
        }
        carom_scene *scene = scene_make(context, objects, COUNT, i % 3 == 0 ? 0.5 : 0.0);
        assert_ok(context, carom_scene_commit(context, scene));
        for (int of_rays = 0; of_rays < 2; ++of_rays) {
            for (uint32_t k = 0; k < COUNT; ++k) {
                carom_scene *alone = scene_make(context, &objects[k], 1, 0.0);
                assert_ok(context, carom_scene_commit(context, alone));
                assert_ok(context,
                          of_rays
                              ? carom_scene_cast_rays(context, alone, rays, QUERIES, one)
                              : carom_scene_closest_points(context, alone, points, QUERIES, one));
                for (uint32_t n = 0; n < QUERIES; ++n) {
                    if (one[n].id != CAROM_NONE) one[n].id = k;
                    if (k == 0 || one[n].distance < best[n].distance) best[n] = one[n];
                }
                carom_scene_destroy(alone);
            }
            assert_ok(context,
                      of_rays ? carom_scene_cast_rays(context, scene, rays, QUERIES, hits)
                              : carom_scene_closest_points(context, scene, points, QUERIES, hits));
            for (uint32_t n = 0; n < QUERIES; ++n) {
                assert_int_equal(hits[n].id, best[n].id);
                assert_true(hits[n].distance == best[n].distance);
                assert_memory_equal(&hits[n].point, &best[n].point, sizeof(best[n].point));
                assert_memory_equal(&hits[n].normal, &best[n].normal, sizeof(best[n].normal));
                if (hits[n].id != CAROM_NONE) continue;
                assert_true(hits[n].face == CAROM_NONE && isinf(hits[n].distance));
                assert_memory_equal(&hits[n].point, of_rays ? &rays[n].origin : &points[n],
                                    sizeof(points[n]));
                assert_true(hits[n].normal.x == 0.0 && hits[n].normal.y == 0.0 &&
                            hits[n].normal.z == 0.0 && hits[n].error == 0.0);
            }
        }
        carom_scene_destroy(scene);
    }
}

static void rays_and_points_have_known_answers(void **state) {
    (void)state;
    carom_scene_object_def objects[3] = {
        {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0}, .pose = at(5.0, 0.0, 0.0)},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
         .borrowed_solid = things.solids[0],
         .pose = at(2.0, 0.0, 0.0)},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
         .borrowed_soup = things.soups[3],
         .pose = at(0.0, 0.0, -3.0)}};
    carom_scene *scene = scene_make(context, objects, 3, 0.0);
    assert_ok(context, carom_scene_commit(context, scene));
    carom_ray rays[4] = {{.origin = {0.1, 0.2, 0.3}, .direction = {2.0, 0.0, 0.0}},
                         {.origin = {3.0, 0.0, 0.0}, .direction = {1.0, 0.0, 0.0}},
                         {.origin = {0.1, 0.2, 0.0}, .direction = {0.0, 0.0, -1.0}},
                         {.origin = {0.1, 0.2, 0.0}, .direction = {0.0, 0.0, 1.0}}};
    carom_hit hits[4];
    assert_ok(context, carom_scene_cast_rays(context, scene, rays, 4, hits));
    assert_true(hits[0].id == 1 && hits[0].distance == 0.7 && hits[0].normal.x == -1.0);
    assert_int_equal(hits[1].id, 0);
    assert_near(hits[1].distance, 1.0, 1e-9);
    assert_near(hits[1].normal.x, -1.0, 1e-9);
    assert_true(hits[2].id == 2 && hits[2].distance == 3.0 && hits[2].normal.z == 1.0);
    assert_true(hits[2].face != CAROM_NONE);
    assert_true(hits[3].id == CAROM_NONE && hits[3].distance == HUGE_VAL);
    carom_vec3 points[3] = {{2.1, 0.1, 0.0}, {4.5, 0.0, 0.0}, {0.25, 0.25, -2.0}};
    assert_ok(context, carom_scene_closest_points(context, scene, points, 3, hits));
    assert_true(hits[0].id == 1 && hits[0].distance == 0.0 && hits[0].point.x == 2.1);
    assert_true(hits[1].id == 0 && hits[1].distance == 0.0);
    assert_true(hits[2].id == 2 && hits[2].distance == 1.0 && hits[2].normal.z == 1.0);
    carom_scene_destroy(scene);
    scene = scene_make(context, NULL, 0, 0.0);
    assert_ok(context, carom_scene_closest_points(context, scene, points, 3, hits));
    assert_true(hits[0].id == CAROM_NONE);
    carom_scene_destroy(scene);
}

static void objects_from_outside_meet_those_inside(void **state) {
    (void)state;
    carom_random random = {77};
    for (uint32_t i = 0; i < TEST_CASES(12); ++i) {
        enum { COUNT = 12 };
        carom_scene_object_def objects[COUNT];
        for (uint32_t k = 0; k < COUNT; ++k)
            objects[k] = scene_object(&things, &random, 1.8, i % 2 == 0, i % 3 == 0 ? 15u : 7u);
        double reach = i % 2 == 0 ? 0.25 : 0.0;
        carom_scene *all = scene_make(context, objects, COUNT, reach);
        carom_scene *half = scene_make(context, objects + COUNT / 2, COUNT / 2, reach);
        carom_scene_contacts contacts = {0}, found = {0};
        assert_ok(context, carom_scene_step(context, all, &contacts, NULL, NULL));
        assert_ok(context, carom_scene_commit(context, half));
        assert_ok(context, carom_scene_query_objects(context, half, objects, COUNT / 2, &found));
        uint64_t next = 0;
        for (uint64_t k = 0; k < contacts.count; ++k) {
            carom_scene_contact c = contacts.data[k];
            if (c.a >= COUNT / 2 || c.b < COUNT / 2) continue;
            c.b -= COUNT / 2;
            assert_true(next < found.count);
            assert_memory_equal(&found.data[next++], &c, sizeof(c));
        }
        assert_int_equal(next, found.count);
        carom_scene_contacts_free(&contacts);
        carom_scene_contacts_free(&found);
        carom_scene_destroy(all);
        carom_scene_destroy(half);
    }
}

/* ---- Functions of the caller ------------------------------------------------------------------
 */

static bool accept_even(void *user, uint32_t a, uint32_t b) {
    ++*(uint64_t *)user;
    return (a + b) % 2 == 0;
}

/* A ball of radius 0.5 as a support function. */
static carom_vec3 support_ball(void *user, const carom_vec3 *d) {
    double length = sqrt(d->x * d->x + d->y * d->y + d->z * d->z);
    double s = *(const double *)user / length;
    return (carom_vec3){s * d->x, s * d->y, s * d->z};
}

static void functions_of_the_caller_are_called(void **state) {
    (void)state;
    enum { COUNT = 40 };
    carom_random random = {31};
    carom_scene_object_def objects[COUNT], same[COUNT];
    double radius = 0.5;
    uint64_t calls = 0, next = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        same[i] =
            (carom_scene_object_def){.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = radius},
                                     .pose = scene_pose(&random, 2.5, false)};
        objects[i] = same[i];
        objects[i].convex = (carom_convex){.kind = CAROM_CONVEX_KIND_SUPPORT,
                                           .support = support_ball,
                                           .support_user = &radius,
                                           .support_ball = {{0.0, 0.0, 0.0}, radius}};
    }
    carom_scene *scene, *plain = scene_make(context, same, COUNT, 0.125);
    carom_scene_def def = {.reach = 0.125, .accept = accept_even, .accept_user = &calls};
    carom_scene_contacts contacts = {0}, all = {0};
    assert_ok(context, carom_scene_create(context, &def, &scene));
    assert_ok(context, carom_scene_add(context, scene, objects, COUNT, NULL));
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    assert_ok(context, carom_scene_step(context, plain, &all, NULL, NULL));
    assert_true(calls > contacts.count && contacts.count > 20);
    for (uint64_t i = 0; i < all.count; ++i) {
        const carom_scene_contact *c = &all.data[i];
        if ((c->a + c->b) % 2 != 0) continue;
        assert_true(next < contacts.count);
        const carom_scene_contact *d = &contacts.data[next++];
        assert_true(d->a == c->a && d->b == c->b && d->relation == c->relation);
        assert_near(d->distance, c->distance, d->error + 1e-12);
        assert_near(d->depth, c->depth, d->error + 1e-6);
    }
    assert_int_equal(next, contacts.count);
    carom_scene_contacts_free(&contacts);
    carom_scene_contacts_free(&all);
    carom_scene_destroy(scene);
    carom_scene_destroy(plain);
}

/* ---- Bad input and memory -------------------------------------------------------------------- */

static void bad_input_is_refused(void **state) {
    (void)state;
    carom_scene *scene;
    carom_scene_def def = {.reach = -1.0};
    assert_fails(context, carom_scene_create(context, &def, &scene), CAROM_BAD_INPUT, "reach");
    assert_null(scene);
    def.reach = NAN;
    assert_fails(context, carom_scene_create(context, &def, &scene), CAROM_BAD_INPUT, "reach");
    scene = scene_make(context, NULL, 0, 0.0);
    carom_scene_object_def o = {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = -1.0}};
    assert_fails(context, carom_scene_add(context, scene, &o, 1, NULL), CAROM_BAD_INPUT,
                 "object 0");
    o.convex.radius = 1.0;
    o.pose.t.x = INFINITY;
    assert_fails(context, carom_scene_add(context, scene, &o, 1, NULL), CAROM_BAD_INPUT, "pose");
    carom_soup *grid;
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(things.meshes[0], &view));
    carom_soup_def soup = {.mesh = &view, .method = CAROM_SOUP_METHOD_GRID};
    assert_ok(context, carom_soup_create(context, &soup, &grid));
    o = (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = grid};
    assert_fails(context, carom_scene_add(context, scene, &o, 1, NULL), CAROM_BAD_INPUT, "tree");
    carom_soup_destroy(grid);
    carom_solid *outside;
    carom_solid_def solid = {.mesh = &view, .complement = true};
    assert_ok(context, carom_solid_create(context, &solid, &outside));
    o = (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = outside};
    assert_fails(context, carom_scene_add(context, scene, &o, 1, NULL), CAROM_BAD_INPUT,
                 "complement");
    carom_solid_destroy(outside);
    uint32_t id = 0;
    carom_pose pose = at(0.0, 0.0, 0.0);
    assert_fails(context, carom_scene_move(context, scene, &id, &pose, 1), CAROM_BAD_INPUT,
                 "not the id");
    assert_fails(context, carom_scene_remove(context, scene, &id, 1), CAROM_BAD_INPUT,
                 "not the id");
    carom_pair pair = {0, 0};
    assert_fails(context, carom_scene_set_ignored(context, scene, &pair, 1, true), CAROM_BAD_INPUT,
                 "two objects");
    carom_vec3 point = {NAN, 0.0, 0.0};
    carom_hit hit;
    assert_fails(context, carom_scene_closest_points(context, scene, &point, 1, &hit),
                 CAROM_BAD_INPUT, "point 0");
    carom_scene_destroy(scene);
}

static carom_status work_all(carom_allocator allocator, void *argument) {
    const carom_scene_object_def *objects = argument;
    carom_context_def def = {.allocator = allocator, .threads = 1};
    carom_context *c;
    carom_status status = carom_context_create(&def, &c);
    if (status != CAROM_OK) return status;
    carom_scene *scene;
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0}, ended = {0};
    carom_hit hit;
    carom_ray ray = {.origin = {0.0, 0.0, 0.0}, .direction = {1.0, 1.0, 1.0}};
    uint32_t ids[12];
    carom_scene_def of_scene = {.reach = 0.125};
    status = carom_scene_create(c, &of_scene, &scene);
    if (status == CAROM_OK) status = carom_scene_add(c, scene, objects, 12, ids);
    if (status == CAROM_OK)
        status = carom_scene_set_ignored(c, scene, &(carom_pair){0, 1}, 1, true);
    if (status == CAROM_OK) status = carom_scene_step(c, scene, &contacts, &begun, &ended);
    if (status == CAROM_OK) status = carom_scene_remove(c, scene, ids, 2);
    if (status == CAROM_OK) status = carom_scene_move(c, scene, ids + 2, &objects[0].pose, 1);
    if (status == CAROM_OK) status = carom_scene_step(c, scene, &contacts, &begun, &ended);
    if (status == CAROM_OK) status = carom_scene_cast_rays(c, scene, &ray, 1, &hit);
    if (status == CAROM_OK) status = carom_scene_closest_points(c, scene, &ray.origin, 1, &hit);
    if (status == CAROM_OK) status = carom_scene_query_objects(c, scene, objects, 2, &contacts);
    if (scene != NULL) {
        const char *broken = carom_scene_validate(scene);
        if (broken != NULL && strncmp(broken, "scene", 5) == 0) fail_msg("%s", broken);
    }
    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_scene_destroy(scene);
    carom_context_destroy(c);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    carom_random random = {4};
    carom_scene_object_def objects[12];
    for (uint32_t i = 0; i < 12; ++i) {
        objects[i] = scene_object(&things, &random, 1.5, i % 2 == 0, i < 6 ? 1u : 15u);
        objects[i].filter.group = 1;
    }
    test_allocation_failures(work_all, objects);
}

static void steps_allocate_nothing_once_warm(void **state) {
    (void)state;
    carom_random random = {8};
    static carom_scene_object_def objects[60];
    static carom_pose poses[2][60];
    for (uint32_t i = 0; i < 60; ++i) {
        objects[i] = scene_object(&things, &random, 2.0, false, i % 6 == 0 ? 14u : 1u);
        poses[0][i] = objects[i].pose;
        poses[1][i] = scene_pose(&random, 2.0, false);
    }
    carom_context *c = test_context(1);
    carom_scene *scene = scene_make(c, objects, 60, 0.0);
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0}, ended = {0};
    uint64_t before = 0;
    for (int step = 0; step < 8; ++step) {
        if (step == 4) before = test_malloc_count();
        assert_ok(c, carom_scene_move(c, scene, NULL, poses[step % 2], 60));
        assert_ok(c, carom_scene_step(c, scene, &contacts, &begun, &ended));
    }
    assert_int_equal(test_malloc_count() - before, 0);
    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_scene_destroy(scene);
    carom_context_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_convex_contacts),
        cmocka_unit_test(known_contacts_of_meshes),
        cmocka_unit_test(known_contacts_of_shapes_with_meshes),
        cmocka_unit_test(depths_of_solids_are_proved),
        cmocka_unit_test(depths_of_faces_are_proved),
        cmocka_unit_test(all_pairs_are_answered),
        cmocka_unit_test(bytes_are_the_same_everywhere),
        cmocka_unit_test(scales_are_all_the_same),
        cmocka_unit_test(queries_are_those_of_single_objects),
        cmocka_unit_test(rays_and_points_have_known_answers),
        cmocka_unit_test(objects_from_outside_meet_those_inside),
        cmocka_unit_test(functions_of_the_caller_are_called),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(steps_allocate_nothing_once_warm),
    };
    return cmocka_run_group_tests_name("scene", tests, set_up, tear_down);
}
