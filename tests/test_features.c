/* SPDX-License-Identifier: MIT */
/* The features of contact points: each point lies on those it names, no two points of a manifold
 * have the same, and they stay the same while shapes move a little. One thread, but for scenes. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/pile.h"
#include "tests/support/campaign.h"
#include "tests/support/convex_pairs.h"

#define KIND  (~CAROM_CONVEX_FEATURE_INDEX)
#define INDEX CAROM_CONVEX_FEATURE_INDEX

static uint32_t vertex(uint32_t i) {
    return CAROM_CONVEX_FEATURE_VERTEX | i;
}

static uint32_t edge(uint32_t i) {
    return CAROM_CONVEX_FEATURE_EDGE | i;
}

static uint32_t face(uint32_t i) {
    return CAROM_CONVEX_FEATURE_FACE | i;
}

/* ---- An oracle: where a feature is -------------------------------------------------------------
 */

static double product(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static carom_vec3 plus(carom_vec3 a, carom_vec3 b, double s) {
    return (carom_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double length(carom_vec3 a) {
    return hypot(hypot(a.x, a.y), a.z);
}

/* How far a point is from the line from p to q, or its nearer end beyond these. */
static double off_segment(carom_vec3 at, carom_vec3 p, carom_vec3 q) {
    carom_vec3 d = plus(q, p, -1.0);
    double square = product(d, d);
    double t = square > 0.0 ? product(plus(at, p, -1.0), d) / square : 0.0;
    return length(plus(at, plus(p, d, fmin(fmax(t, 0.0), 1.0)), -1.0));
}

static double coordinate(const carom_vec3 *v, uint32_t axis) {
    return (&v->x)[axis];
}

/* In a box's own frame, how far a point is from a feature. */
static double off_box(const carom_vec3 *half, uint32_t feature, carom_vec3 at) {
    uint32_t i = feature & INDEX;
    double off = 0.0;
    if ((feature & KIND) == CAROM_CONVEX_FEATURE_FACE) {
        assert_true(i < 6);
        return fabs(coordinate(&at, i / 2) - (i % 2 == 1 ? 1.0 : -1.0) * coordinate(half, i / 2));
    }
    for (uint32_t k = 0; k < 3; ++k) {
        bool up = (i >> k & 1) != 0;
        if ((feature & KIND) == CAROM_CONVEX_FEATURE_EDGE) {
            assert_true(i < 12);
            if (k == i / 4) continue;
            up = k == (i / 4 + 1) % 3 ? (i & 1) != 0 : (i & 2) != 0;
        } else {
            assert_true(i < 8);
        }
        off = fmax(off, fabs(coordinate(&at, k) - (up ? 1.0 : -1.0) * coordinate(half, k)));
    }
    return off;
}

static carom_vec3 position(const carom_mesh_view *mesh, uint32_t v) {
    carom_vec3 p;
    memcpy(&p, (const char *)mesh->positions + v * (mesh->stride != 0 ? mesh->stride : sizeof(p)),
           sizeof(p));
    return p;
}

/* The first corner of a face. */
static uint64_t begin_of(const carom_mesh_view *mesh, uint64_t face) {
    return mesh->offsets != NULL ? mesh->offsets[face] : 3 * face;
}

/* The ends of an edge of a hull by its number, as convex.h defines it: the new edges among the
 * corners of the faces, counted. */
static bool ends_of_edge(const carom_mesh_view *mesh, uint32_t number, uint32_t *a, uint32_t *b) {
    uint32_t known = 0;
    for (uint64_t f = 0; f < mesh->face_count; ++f)
        for (uint64_t i = begin_of(mesh, f); i < begin_of(mesh, f + 1); ++i) {
            uint64_t next = i + 1 < begin_of(mesh, f + 1) ? i + 1 : begin_of(mesh, f);
            uint32_t p = mesh->corners[i], q = mesh->corners[next];
            bool before = false;
            for (uint64_t g = 0; g <= f && !before; ++g)
                for (uint64_t k = begin_of(mesh, g); k < begin_of(mesh, g + 1) && k < i; ++k) {
                    uint64_t then = k + 1 < begin_of(mesh, g + 1) ? k + 1 : begin_of(mesh, g);
                    before |= mesh->corners[k] == q && mesh->corners[then] == p;
                }
            if (before) continue;
            *a = p, *b = q;
            if (known++ == number) return true;
        }
    return mesh->face_count == 0 && number == 0 && mesh->vertex_count == 2 && (*a = 0, *b = 1);
}

static double off_hull(const carom_mesh_view *mesh, uint32_t feature, carom_vec3 at) {
    uint32_t i = feature & INDEX, a = 0, b = 0;
    if ((feature & KIND) == CAROM_CONVEX_FEATURE_VERTEX) {
        assert_true(i < mesh->vertex_count);
        return length(plus(at, position(mesh, i), -1.0));
    }
    if ((feature & KIND) == CAROM_CONVEX_FEATURE_EDGE) {
        assert_true(ends_of_edge(mesh, i, &a, &b));
        return off_segment(at, position(mesh, a), position(mesh, b));
    }
    assert_true(i < mesh->face_count);
    const uint32_t *c = mesh->corners + begin_of(mesh, i);
    uint64_t count = begin_of(mesh, i + 1) - begin_of(mesh, i);
    carom_vec3 o = position(mesh, c[0]), n = {0.0, 0.0, 0.0};
    for (uint64_t k = 2; k < count; ++k) {
        carom_vec3 u = plus(position(mesh, c[k - 1]), o, -1.0);
        carom_vec3 v = plus(position(mesh, c[k]), o, -1.0);
        n.x += u.y * v.z - u.z * v.y;
        n.y += u.z * v.x - u.x * v.z;
        n.z += u.x * v.y - u.y * v.x;
    }
    return fabs(product(n, plus(at, o, -1.0))) / length(n);
}

/* How far a point of a shape is from the feature that it names; `out` leads out of the shape. */
static double off_feature(const convex_shape *s, const carom_pose *pose, uint32_t feature,
                          carom_vec3 at, carom_vec3 out) {
    const carom_convex *c = &s->convex;
    double margin = c->margin + (c->kind == CAROM_CONVEX_KIND_CAPSULE ? c->radius : 0.0);
    carom_pose back = carom_pose_invert_value(pose);
    at = plus(at, out, -margin);
    carom_vec3 own = carom_pose_apply_value(&back, &at);
    if (c->kind == CAROM_CONVEX_KIND_BOX) return off_box(&c->half, feature, own);
    if (c->kind == CAROM_CONVEX_KIND_HULL) return off_hull(&s->view, feature, own);
    assert_true(c->kind == CAROM_CONVEX_KIND_SEGMENT || c->kind == CAROM_CONVEX_KIND_CAPSULE);
    carom_vec3 low = {0.0, 0.0, -c->half_height}, high = {0.0, 0.0, c->half_height};
    if (feature == edge(0)) return off_segment(own, low, high);
    assert_true(feature == vertex(0) || feature == vertex(1));
    return length(plus(own, feature == vertex(0) ? low : high, -1.0));
}

/* ---- Any shapes ------------------------------------------------------------------------------ */

static bool has(const carom_convex_manifold *m, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < m->count; ++i)
        if (m->points[i].feature_a == a && m->points[i].feature_b == b) return true;
    return false;
}

/* Which features go together: a vertex and a face, or two edges. */
static bool fit(uint32_t a, uint32_t b) {
    uint32_t x = a & KIND, y = b & KIND;
    return (x == CAROM_CONVEX_FEATURE_VERTEX && y == CAROM_CONVEX_FEATURE_FACE) ||
           (x == CAROM_CONVEX_FEATURE_FACE && y == CAROM_CONVEX_FEATURE_VERTEX) ||
           (x == CAROM_CONVEX_FEATURE_EDGE && y == CAROM_CONVEX_FEATURE_EDGE);
}

/* Checks all points of a manifold; returns how many are on features. */
static uint64_t check_points(const convex_case *c, const carom_convex_manifold *m, double scale) {
    carom_vec3 n = m->result.normal, back = {-n.x, -n.y, -n.z};
    uint64_t on = 0;
    for (uint32_t k = 0; k < m->count; ++k) {
        const carom_convex_contact *p = &m->points[k];
        if (p->feature_a == 0 || p->feature_b == 0) {
            assert_true(p->feature_a == 0 && p->feature_b == 0 && m->count == 1);
            continue;
        }
        ++on;
        double off_a = off_feature(&c->a, &c->pose_a, p->feature_a, p->point_a, n);
        double off_b = off_feature(&c->b, &c->pose_b, p->feature_b, p->point_b, back);
        if (fmax(off_a, off_b) > 1e-9 * scale || !fit(p->feature_a, p->feature_b))
            fail_msg("case %llu (%s, %s): point %u of %u is off %08x by %g and %08x by %g",
                     (unsigned long long)c->number, carom_convex_kind_name(c->a.convex.kind),
                     carom_convex_kind_name(c->b.convex.kind), k, m->count, p->feature_a,
                     off_a / scale, p->feature_b, off_b / scale);
        for (uint32_t j = 0; j < k; ++j)
            if (m->points[j].feature_a == p->feature_a && m->points[j].feature_b == p->feature_b)
                fail_msg("case %llu (%s, %s): points %u and %u of %u are both %08x, %08x",
                         (unsigned long long)c->number, carom_convex_kind_name(c->a.convex.kind),
                         carom_convex_kind_name(c->b.convex.kind), j, k, m->count, p->feature_a,
                         p->feature_b);
    }
    return on;
}

/* Seeded pairs of all kinds, degenerate ones above all. */
static void points_lie_on_their_features(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    uint64_t points = 0, on = 0;
    for (uint64_t i = 0; i < (uint64_t)TEST_CASES(24000); ++i) {
        convex_case c;
        carom_convex_manifold m;
        convex_case_make(context, 21, i, &c);
        oracle_shape a = oracle_posed_shape(&c.a.convex, &c.a.view, &c.pose_a);
        oracle_shape b = oracle_posed_shape(&c.b.convex, &c.b.view, &c.pose_b);
        double scale = oracle_scale(&a, &b);
        assert_ok(context, carom_convex_contacts(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, 0.01 * scale, NULL, &m));
        points += m.count;
        on += check_points(&c, &m, scale);
        convex_case_free(&c);
    }
    print_message("%llu of %llu points are on features\n", (unsigned long long)on,
                  (unsigned long long)points);
    if (TEST_MANY_CASES) assert_true(on > 0 && on < points);
    carom_context_destroy(context);
}

/* A box, a hull of a box or of a prism with six sides, or a capsule on its side, above the origin.
 */
static void make_upper(carom_context *context, carom_random *random, int kind, convex_shape *s) {
    carom_vec3 p[12];
    *s = (convex_shape){.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.75, 0.5}}};
    if (kind == 1)
        s->convex =
            (carom_convex){.kind = CAROM_CONVEX_KIND_CAPSULE, .radius = 0.5, .half_height = 0.75};
    for (int k = 0; k < 12; ++k) {
        static const double round[6][2] = {{1, 0},  {0.5, 0.75},   {-0.5, 0.75},
                                           {-1, 0}, {-0.5, -0.75}, {0.5, -0.75}};
        double more = carom_random_between(random, 0.0, 0.125);
        p[k] = (carom_vec3){round[k % 6][0], round[k % 6][1], k < 6 ? -0.5 : 0.5};
        if (kind == 2)
            p[k] = (carom_vec3){k & 1 ? 0.5 + more : -0.5, k & 2 ? 0.5 : -0.75, k & 4 ? 0.5 : -0.5};
    }
    if (kind >= 2) convex_shape_hull(context, s, p, kind == 2 ? 8 : 12);
}

/* Shapes that lie on a box, either of them first: at any angle; with a tilt; and with edges and
 * corners exactly above each other, where the kind of a feature is decided by rounding. */
static void the_order_of_shapes_exchanges_features(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {17};
    uint64_t compared = 0, on = 0;
    for (int i = 0; i < TEST_CASES(8000); ++i) {
        convex_case c = {.number = (uint64_t)i}, back = {.number = (uint64_t)i};
        bool exact = i % 3 == 0;
        double tilt = i % 3 == 1 ? 1e-3 : 0.0;
        c.a.convex = (carom_convex){.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 0.75, 0.5}};
        make_upper(context, &random, i / 3 % 4, &c.b);
        carom_quat turn = {1.0, tilt * carom_random_normal(&random),
                           tilt * carom_random_normal(&random), carom_random_normal(&random)};
        if (exact) turn.z = i / 12 % 3 - 1.0; /* by quarters */
        c.pose_b = (carom_pose){.q = turn};
        if (c.b.convex.kind == CAROM_CONVEX_KIND_CAPSULE) {
            carom_pose side = {.q = {1.0, 0.0, 1.0, 0.0}};
            c.pose_b = carom_pose_compose_value(&c.pose_b, &side);
        }
        c.pose_b.t = (carom_vec3){carom_random_between(&random, -1.0, 1.0),
                                  carom_random_between(&random, -0.75, 0.75), 0.99};
        if (exact)
            c.pose_b.t = (carom_vec3){(i / 36 % 9 - 4) * 0.25, (i / 324 % 5 - 2) * 0.25, 1.0};
        back.a = c.b, back.b = c.a, back.pose_a = c.pose_b;
        carom_convex_manifold m, swapped;
        assert_ok(context, carom_convex_contacts(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, 0.05, NULL, &m));
        assert_ok(context,
                  carom_convex_contacts(context, &back.a.convex, &back.pose_a, &back.b.convex,
                                        &back.pose_b, 0.05, NULL, &swapped));
        on += check_points(&c, &m, 1.0) + check_points(&back, &swapped, 1.0);
        /* Of more points than four, rounding may decide which are kept. */
        bool same = length(plus(m.result.normal, swapped.result.normal, 1.0)) < 1e-9;
        if (same && !exact && m.count < CAROM_CONVEX_MOST_CONTACTS &&
            swapped.count < CAROM_CONVEX_MOST_CONTACTS) {
            assert_int_equal(m.count, swapped.count);
            for (uint32_t k = 0; k < m.count; ++k)
                assert_true(has(&swapped, m.points[k].feature_b, m.points[k].feature_a));
            ++compared;
        }
        convex_shape_free(&c.b);
    }
    print_message("%llu manifolds compared, %llu points on features\n",
                  (unsigned long long)compared, (unsigned long long)on);
    if (TEST_MANY_CASES) assert_true(compared > 0);
    carom_context_destroy(context);
}

/* ---- Known shapes that move a little --------------------------------------------------------- */

#define STEPS 500

/* Slides and turns `high` on `low`, also by a tilt to and fro, and expects the same features in
 * every step. */
static void expect_to_stay(carom_context *context, const carom_convex *low,
                           const carom_convex *high, carom_pose pose, const uint32_t (*pairs)[2],
                           uint32_t count) {
    for (int i = 0; i < STEPS; ++i) {
        double t = (double)i / STEPS, tilt = 1e-3 * sin(40.0 * t);
        carom_pose turn = {.q = {1.0, tilt, 0.7 * tilt, 0.05 * t}};
        carom_pose now = carom_pose_compose_value(&turn, &pose);
        carom_convex_manifold m;
        now.t = (carom_vec3){pose.t.x + 0.05 * t, pose.t.y - 0.04 * t, pose.t.z};
        assert_ok(context, carom_convex_contacts(context, low, NULL, high, &now, 0.05, NULL, &m));
        if (m.count != count) fail_msg("step %d: %u points, not %u", i, m.count, count);
        for (uint32_t k = 0; k < count; ++k)
            if (!has(&m, pairs[k][0], pairs[k][1]))
                fail_msg("step %d: no point is %08x, %08x", i, pairs[k][0], pairs[k][1]);
    }
}

static void features_stay_while_shapes_move(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex table = {.kind = CAROM_CONVEX_KIND_BOX, .half = {4.0, 4.0, 1.0}};
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.5, 0.5}};
    const uint32_t top = face(5);
    const uint32_t standing[4][2] = {
        {top, vertex(0)}, {top, vertex(1)}, {top, vertex(2)}, {top, vertex(3)}};
    expect_to_stay(context, &table, &box, (carom_pose){.t = {0.3, 0.2, 1.499}}, standing, 4);
    /* Upside down: the upper box stands on its faces and vertices at z > 0. */
    const uint32_t turned[4][2] = {
        {top, vertex(4)}, {top, vertex(5)}, {top, vertex(6)}, {top, vertex(7)}};
    expect_to_stay(context, &table, &box,
                   (carom_pose){.q = {0.0, 1.0, 0.0, 0.0}, .t = {0.3, 0.2, 1.499}}, turned, 4);
    /* Two planks across each other: edges along y of the lower one, along x of the upper one. */
    carom_convex plank = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 3.0, 0.5}};
    carom_convex across = {.kind = CAROM_CONVEX_KIND_BOX, .half = {3.0, 0.5, 0.5}};
    const uint32_t crossing[4][2] = {{edge(4 + 1), edge(0)},
                                     {edge(4 + 1), edge(1)},
                                     {edge(4 + 3), edge(0)},
                                     {edge(4 + 3), edge(1)}};
    expect_to_stay(context, &plank, &across, (carom_pose){.t = {0.1, 0.2, 0.999}}, crossing, 4);
    /* A small table under a large box: its vertices, the other's face. */
    const uint32_t under[4][2] = {
        {vertex(4), face(4)}, {vertex(5), face(4)}, {vertex(6), face(4)}, {vertex(7), face(4)}};
    expect_to_stay(context, &box, &table, (carom_pose){.t = {0.3, 0.2, 1.499}}, under, 4);
    carom_convex capsule = {.kind = CAROM_CONVEX_KIND_CAPSULE, .radius = 0.5, .half_height = 1.0};
    const uint32_t lying[2][2] = {{top, vertex(0)}, {top, vertex(1)}};
    expect_to_stay(context, &table, &capsule,
                   (carom_pose){.q = {1.0, 0.0, 1.0, 0.0}, .t = {0.3, 0.2, 1.499}}, lying, 2);
    const uint32_t whole[1][2] = {{0, 0}};
    carom_convex ball = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.5};
    carom_convex cylinder = {.kind = CAROM_CONVEX_KIND_CYLINDER, .radius = 0.5, .half_height = 0.5};
    expect_to_stay(context, &table, &ball, (carom_pose){.t = {0.3, 0.2, 1.499}}, whole, 1);
    expect_to_stay(context, &table, &cylinder, (carom_pose){.t = {0.3, 0.2, 1.499}}, whole, 1);
    carom_context_destroy(context);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* The features of a step, looked up in the last one: both lists are sorted by their objects. */
static void count_known(const carom_scene_contacts *last, const carom_scene_contacts *now,
                        uint64_t *points, uint64_t *known) {
    uint64_t j = 0;
    for (uint64_t i = 0; i < now->count; ++i) {
        const carom_scene_contact *c = &now->data[i];
        while (j < last->count &&
               (last->data[j].a < c->a || (last->data[j].a == c->a && last->data[j].b < c->b)))
            ++j;
        if (j == last->count || last->data[j].a != c->a || last->data[j].b != c->b) continue;
        for (uint32_t k = 0; k < c->point_count; ++k) {
            const carom_scene_contact *o = &last->data[j];
            ++*points;
            for (uint32_t l = 0; l < o->point_count; ++l)
                if (o->points[l].feature_a == c->points[k].feature_a &&
                    o->points[l].feature_b == c->points[k].feature_b) {
                    ++*known;
                    break;
                }
        }
    }
}

/* A pile whose hulls move by a thousandth of their size per step. */
static void most_points_of_a_pile_are_known_again(void **state) {
    (void)state;
    carom_context *context = test_context(3);
    scene_pile pile;
    carom_scene *scene;
    carom_scene_contacts contacts[2] = {{0}, {0}};
    uint64_t points = 0, known = 0;
    assert_ok(context, scene_pile_make(context, 1250, SCENE_PILE_SEED, &pile));
    assert_ok(context, carom_scene_create(context, NULL, &scene));
    assert_ok(context, scene_pile_add(context, &pile, scene));
    for (int step = 0; step < 8; ++step) {
        assert_ok(context, carom_scene_step(context, scene, &contacts[step % 2], NULL, NULL));
        if (step > 0) count_known(&contacts[(step + 1) % 2], &contacts[step % 2], &points, &known);
        scene_pile_move(&pile);
        assert_ok(context, carom_scene_move(context, scene, NULL, pile.poses, pile.count));
    }
    print_message("%llu of %llu points are known from the step before\n", (unsigned long long)known,
                  (unsigned long long)points);
    assert_true(points > 10000 && known > points / 100 * 90);
    carom_scene_contacts_free(&contacts[0]);
    carom_scene_contacts_free(&contacts[1]);
    carom_scene_destroy(scene);
    scene_pile_free(&pile);
    carom_context_destroy(context);
}

/* A box on a floor of triangles: its four vertices, each on the triangle below it. */
static void features_of_meshes_are_their_triangles(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 corners[4] = {{-4, -4, 0}, {4, -4, 0}, {4, 4, 0}, {-4, 4, 0}};
    uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    carom_mesh_view view = {
        .positions = corners, .vertex_count = 4, .corners = triangles, .face_count = 2};
    carom_soup *floor;
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &floor));
    carom_scene_object_def objects[2] = {
        {.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = floor},
        {.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.5, 0.5}},
         .pose = {.t = {2.0, -2.0, 0.499}}}};
    for (int swapped = 0; swapped < 2; ++swapped) {
        carom_scene *scene;
        carom_scene_contacts contacts = {0};
        carom_scene_object_def given[2] = {objects[swapped], objects[1 - swapped]};
        assert_ok(context, carom_scene_create(context, NULL, &scene));
        assert_ok(context, carom_scene_add(context, scene, given, 2, NULL));
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        assert_int_equal(contacts.count, 1);
        assert_int_equal(contacts.data[0].point_count, 4);
        int seen = 0;
        for (int k = 0; k < 4; ++k) {
            const carom_convex_contact *p = &contacts.data[0].points[k];
            uint32_t of_floor = swapped ? p->feature_b : p->feature_a;
            uint32_t of_box = swapped ? p->feature_a : p->feature_b;
            assert_int_equal(of_floor, face(0));
            assert_true(of_box >= vertex(0) && of_box <= vertex(3));
            seen |= 1 << (of_box & INDEX);
        }
        assert_int_equal(seen, 15);
        carom_scene_contacts_free(&contacts);
        carom_scene_destroy(scene);
    }
    carom_soup_destroy(floor);
    carom_context_destroy(context);
}

/* Boxes, one upright or nearly so in every third case, scaled by powers of two. */
static void features_do_not_depend_on_the_scale(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p30, 0x1p332, 0x1p-332};
    carom_context *context = test_context(1);
    carom_random random = {61};
    uint64_t points = 0;
    for (int i = 0; i < TEST_CASES(8000); ++i) {
        carom_vec3 half[2];
        carom_quat turn = {1.0, i % 2 == 0 ? 0.0 : 1e-3 * carom_random_normal(&random), 0.0, 0.0};
        if (i % 3 != 0)
            turn = (carom_quat){carom_random_normal(&random), carom_random_normal(&random),
                                carom_random_normal(&random), carom_random_normal(&random)};
        carom_vec3 at = {carom_random_between(&random, -1.0, 1.0),
                         carom_random_between(&random, -1.0, 1.0),
                         carom_random_between(&random, 0.4, 2.0)};
        for (int k = 0; k < 2; ++k)
            half[k] = (carom_vec3){carom_random_between(&random, 0.2, 1.0),
                                   carom_random_between(&random, 0.2, 1.0),
                                   carom_random_between(&random, 0.2, 1.0)};
        carom_convex_manifold first = {0}, m;
        for (size_t k = 0; k < COUNT_OF(scales); ++k) {
            double f = scales[k];
            carom_convex a = {.kind = CAROM_CONVEX_KIND_BOX, .half = half[0]}, b = a;
            carom_pose pose = {.q = turn, .t = {f * at.x, f * at.y, f * at.z}};
            a.half = (carom_vec3){f * half[0].x, f * half[0].y, f * half[0].z};
            b.half = (carom_vec3){f * half[1].x, f * half[1].y, f * half[1].z};
            assert_ok(context,
                      carom_convex_contacts(context, &a, NULL, &b, &pose, 0.05 * f, NULL, &m));
            if (k == 0) first = m;
            assert_int_equal(m.count, first.count);
            for (uint32_t j = 0; j < m.count; ++j, ++points) {
                assert_int_equal(m.points[j].feature_a, first.points[j].feature_a);
                assert_int_equal(m.points[j].feature_b, first.points[j].feature_b);
            }
        }
    }
    assert_true(points > 0);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_do_not_depend_on_the_scale),
        cmocka_unit_test(points_lie_on_their_features),
        cmocka_unit_test(the_order_of_shapes_exchanges_features),
        cmocka_unit_test(features_stay_while_shapes_move),
        cmocka_unit_test(most_points_of_a_pile_are_known_again),
        cmocka_unit_test(features_of_meshes_are_their_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
