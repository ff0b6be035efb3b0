/* SPDX-License-Identifier: MIT */
/* Pairs, distances, closest points, winding numbers and density of soups, at every scale, size
 * ratio and distance from the origin, against integers and rational numbers. One thread. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "tests/support/integer_oracle.h"
#include "tests/support/scale_solid.h"

#define MOST_SPAN 116 /* binary places that integer_oracle.h can hold */

/* ---- common ---------------------------------------------------------------------------------- */

static void span_add(const scale_soup *soup, int *low, int *high) {
    for (uint32_t i = 0; i < 3 * soup->vertices; ++i) {
        const carom_vec3 *p = &soup->position[i / 3];
        double x = i % 3 == 0 ? p->x : i % 3 == 1 ? p->y : p->z;
        if (x == 0.0) continue;
        number n = number_of(x);
        int bottom = 64 * n.low + __builtin_ctzll(n.word[0]), top = number_exponent(n);
        if (bottom < *low) *low = bottom;
        if (top > *high) *high = top;
    }
}

static carom_soup *prepared(scale_case *c, const scale_soup *soup, carom_soup_def def) {
    carom_soup *result = NULL;
    carom_mesh_view view = scale_view(soup);
    def.mesh = &view;
    if (scale_replays()) scale_print_mesh("soup", &view, NULL);
    (void)scale_ok(c, carom_soup_create(c->context, &def, &result));
    return result;
}

static bool same_pairs(const carom_pairs *got, const oracle_pairs *right) {
    return got->count == right->count &&
           (got->count == 0 ||
            memcmp(got->data, right->data, got->count * sizeof(carom_pair)) == 0);
}

/* ---- a soup with itself ---------------------------------------------------------------------- */

typedef struct stream {
    const oracle_pairs *right;
    uint64_t at;
    bool good;
} stream;

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    stream *s = user;
    if (s->at + count > s->right->count) {
        s->good = false;
        return true;
    }
    s->good = s->good && memcmp(pairs, s->right->data + s->at, count * sizeof(*pairs)) == 0;
    s->at += count;
    return false;
}

static void self(scale_case *c) {
    scale_soup soup;
    oracle_pairs right[CAROM_SOUP_DEGENERATE_COUNT] = {{0}};
    carom_pairs pairs = {0};
    int low = 5000, high = -5000;
    scale_make_soup(c, SCALE_FEW_FACES, &soup);
    scale_move_soup(c, &soup);
    span_add(&soup, &low, &high);
    if (high - low > MOST_SPAN) return;
    carom_mesh_view view = scale_view(&soup);
    oracle_self(c->context, &view, false, NULL, right);
    for (int degenerate = 0; degenerate < CAROM_SOUP_DEGENERATE_COUNT; ++degenerate) {
        carom_soup_def def = {.degenerate = (carom_soup_degenerate)degenerate,
                              .method = (carom_soup_method)scale_below(c, CAROM_SOUP_METHOD_COUNT)};
        carom_soup *s = prepared(c, &soup, def);
        if (s == NULL) break;
        const oracle_pairs *expected = &right[degenerate];
        uint64_t count = 0;
        bool any = false;
        stream streamed = {expected, 0, true};
        if (scale_ok(c, carom_soup_self_pairs(c->context, s, &pairs)))
            scale_expect(c, same_pairs(&pairs, expected),
                         "%" PRIu64 " pairs, right %" PRIu64 " (%s)", pairs.count, expected->count,
                         soup.kind);
        carom_work work;
        uint64_t bound = 0;
        scale_ok(c, carom_context_get_work(c->context, &work));
        scale_ok(c, carom_soup_self_bound(c->context, s, &bound));
        if (def.method == CAROM_SOUP_METHOD_GRID)
            scale_expect(c, work.candidates <= bound,
                         "%" PRIu64 " candidates, bound %" PRIu64 " (%s)", work.candidates, bound,
                         soup.kind);
        if (scale_ok(c, carom_soup_self_count(c->context, s, &count)))
            scale_expect(c, count == expected->count, "count %" PRIu64 ", right %" PRIu64, count,
                         expected->count);
        if (scale_ok(c, carom_soup_self_meet(c->context, s, &any)))
            scale_expect(c, any == (expected->count > 0), "any is %d (%s)", any, soup.kind);
        if (scale_ok(c, carom_soup_self_each(c->context, s, receive, &streamed)))
            scale_expect(c, streamed.good && streamed.at == expected->count,
                         "streamed pairs are not right (%s)", soup.kind);
        carom_soup_destroy(s);
    }
    carom_pairs_free(&pairs);
    oracle_free_all(right);
}

/* ---- two soups ------------------------------------------------------------------------------- */

typedef struct two {
    scale_soup a, b;           /* in the world */
    scale_soup mesh_a, mesh_b; /* before their poses */
    carom_pose pose_a, pose_b;
} two;

static carom_vec3 small_vec(scale_case *c, int reach) {
    carom_vec3 v;
    v.x = scale_between(c, -reach, reach);
    v.y = scale_between(c, -reach, reach);
    v.z = scale_between(c, -reach, reach);
    return v;
}

static carom_vec3 minus(carom_vec3 v) {
    return (carom_vec3){-v.x, -v.y, -v.z};
}

/* The mesh of a soup in the world, such that its pose moves it there without rounding; or any pose,
 * and the world is where it moves the mesh to, rounded. */
static void make_pose(scale_case *c, const carom_vec3 *near, scale_soup *world, carom_pose *pose,
                      scale_soup *mesh) {
    *mesh = *world;
    *pose = (carom_pose){.q.w = 0.0};
    if (scale_one_in(c, 2)) return;
    if (scale_one_in(c, 3)) {
        *pose = (carom_pose){{carom_random_between(&c->random, -1.0, 1.0),
                              carom_random_between(&c->random, -1.0, 1.0),
                              carom_random_between(&c->random, -1.0, 1.0),
                              (double)scale_between(c, -1, 1)},
                             *near};
        carom_frame frame = carom_frame_make(pose);
        for (uint32_t i = 0; i < world->vertices; ++i)
            world->position[i] = carom_frame_apply(&frame, mesh->position[i]);
        return;
    }
    carom_vec3 by = *near;
    if (!scale_offset(mesh, minus(by))) by = (carom_vec3){0.0, 0.0, 0.0};
    pose->t = by;
    if (scale_one_in(c, 2)) return;
    *pose = (carom_pose){{1.0, 1.0, 1.0, 1.0}, by}; /* x' = z, y' = x, z' = y */
    for (uint32_t i = 0; i < mesh->vertices; ++i) {
        carom_vec3 p = mesh->position[i];
        mesh->position[i] = (carom_vec3){p.y, p.z, p.x};
    }
}

/* Sizes up to 2^60 apart, a corner of one near one of the other; both far from the origin, at any
 * scale. */
static void make_two(scale_case *c, uint32_t faces, two *t) {
    scale_make_soup(c, faces, &t->a);
    scale_make_soup(c, faces, &t->b);
    scale_soup *which[2] = {&t->a, &t->b};
    if (scale_one_in(c, 2))
        for (int i = 0; i < 2; ++i)
            (void)scale_offset(which[i],
                               minus(which[i]->position[scale_below(c, which[i]->vertices)]));
    if (scale_one_in(c, 2)) (void)scale_by_power(which[scale_below(c, 2)], scale_between(c, 1, 60));
    if (scale_one_in(c, 2)) (void)scale_offset(which[scale_below(c, 2)], small_vec(c, 4));
    t->a.unit = t->b.unit = 0;
    if (scale_one_in(c, 3)) {
        carom_vec3 by = scale_vec(small_vec(c, 2), scale_between(c, 1, 50));
        scale_soup a = t->a, b = t->b;
        if (scale_offset(&a, by) && scale_offset(&b, by)) {
            t->a = a;
            t->b = b;
        }
    }
    for (int attempt = 0; attempt < 20; ++attempt) {
        int k = scale_exponent(c, -1074, 1000);
        scale_soup a = t->a, b = t->b;
        if (!scale_by_power(&a, k) || !scale_by_power(&b, k)) continue;
        t->a = a;
        t->b = b;
        break;
    }
    carom_vec3 near = t->a.position[scale_below(c, t->a.vertices)];
    make_pose(c, &near, &t->a, &t->pose_a, &t->mesh_a);
    make_pose(c, &near, &t->b, &t->pose_b, &t->mesh_b);
}

static bool face_has_area(const scale_soup *soup, uint32_t face) {
    carom_vec3 corner[3];
    scale_corners(soup, face, corner);
    return exact_triangle_of(corner).has_area;
}

/* Faces take part by what they are as given; the integer oracle goes by what they are in the world.
 */
static bool areas_change(const scale_soup *mesh, const scale_soup *world) {
    for (uint32_t i = 0; i < mesh->faces; ++i)
        if (face_has_area(mesh, i) != face_has_area(world, i)) return true;
    return false;
}

static void cross(scale_case *c) {
    two t;
    oracle_pairs right = {0};
    carom_pairs pairs = {0};
    int low = 5000, high = -5000;
    make_two(c, 14, &t);
    span_add(&t.a, &low, &high);
    span_add(&t.b, &low, &high);
    if (high - low > MOST_SPAN) return;
    if (areas_change(&t.mesh_a, &t.a) || areas_change(&t.mesh_b, &t.b)) return;
    carom_soup_def def = {.degenerate =
                              (carom_soup_degenerate)scale_below(c, CAROM_SOUP_DEGENERATE_COUNT),
                          .method = (carom_soup_method)scale_below(c, CAROM_SOUP_METHOD_COUNT)};
    carom_mesh_view view_a = scale_view(&t.a), view_b = scale_view(&t.b);
    oracle_cross(c->context, &view_a, &view_b, false, def.degenerate, &right);
    def.rigid = scale_one_in(c, 2);
    carom_soup *a = prepared(c, &t.mesh_a, def), *b = prepared(c, &t.mesh_b, def);
    if (a != NULL && b != NULL) {
        bool any = false;
        if (scale_ok(c, carom_soup_cross_pairs(c->context, a, &t.pose_a, b, &t.pose_b, &pairs)))
            scale_expect(c, same_pairs(&pairs, &right),
                         "%" PRIu64 " pairs of two, right %" PRIu64 " (%s, %s)", pairs.count,
                         right.count, t.a.kind, t.b.kind);
        carom_work work;
        uint64_t bound = 0;
        scale_ok(c, carom_context_get_work(c->context, &work));
        scale_ok(c, carom_soup_cross_bound(c->context, a, b, &bound));
        if (def.method == CAROM_SOUP_METHOD_GRID)
            scale_expect(c, work.candidates <= bound,
                         "%" PRIu64 " candidates of two, bound %" PRIu64 " (%s, %s)",
                         work.candidates, bound, t.a.kind, t.b.kind);
        if (scale_ok(c, carom_soup_cross_meet(c->context, a, &t.pose_a, b, &t.pose_b, &any)))
            scale_expect(c, any == (right.count > 0), "any of two is %d (%s, %s)", any, t.a.kind,
                         t.b.kind);
    }
    carom_soup_destroy(a);
    carom_soup_destroy(b);
    carom_pairs_free(&pairs);
    oracle_free(&right);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* 1e-15 of the extent, and no less than what doubles can tell apart. */
static number distance_bound(double extent) {
    return number_add(number_mul(number_of(1e-15), number_of(extent)), number_power(-1074));
}

static bool takes_part(const exact_triangle *t, carom_soup_degenerate degenerate) {
    return t->has_area || degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT;
}

static void distance(scale_case *c) {
    two t;
    make_two(c, 5, &t);
    carom_soup_def def = {.degenerate =
                              (carom_soup_degenerate)scale_below(c, CAROM_SOUP_DEGENERATE_COUNT),
                          .rigid = scale_one_in(c, 2)};
    carom_soup *a = prepared(c, &t.mesh_a, def), *b = prepared(c, &t.mesh_b, def);
    carom_soup_gap gap = {0};
    if (a == NULL || b == NULL ||
        !scale_ok(c, carom_soup_cross_distance(c->context, a, &t.pose_a, b, &t.pose_b, 0.0, &gap)))
        goto done;
    bool found = false;
    ratio least = {0}, reported = {0};
    double extent = 0.0;
    for (uint32_t i = 0; i < t.a.faces; ++i) {
        carom_vec3 corner[6];
        scale_corners(&t.a, i, corner);
        exact_triangle ta = exact_triangle_of(corner);
        if (!face_has_area(&t.mesh_a, i) && def.degenerate == CAROM_SOUP_DEGENERATE_ALONE) continue;
        for (uint32_t j = 0; j < t.b.faces; ++j) {
            scale_corners(&t.b, j, corner + 3);
            exact_triangle tb = exact_triangle_of(corner + 3);
            if (!face_has_area(&t.mesh_b, j) && def.degenerate == CAROM_SOUP_DEGENERATE_ALONE)
                continue;
            ratio squared = exact_triangles(&ta, &tb);
            if (!found || ratio_compare(squared, least) < 0) least = squared;
            found = true;
            if (i == gap.face_a && j == gap.face_b) {
                reported = squared;
                extent = exact_extent(corner, 6);
            }
        }
    }
    if (!found) {
        scale_expect(c, isinf(gap.distance), "distance %g of nothing", gap.distance);
        goto done;
    }
    if (!scale_expect(c, reported.bottom.sign != 0, "no closest pair at %g, right %g (%s, %s)",
                      gap.distance, sqrt(ratio_show(least)), t.a.kind, t.b.kind))
        goto done;
    double right = number_show(number_sqrt(number_div(least.top, least.bottom, 80), 64));
    number bound = distance_bound(extent);
    scale_expect(c, isfinite(gap.distance) && ratio_root_within(gap.distance, least, bound),
                 "distance %.17g, right %.17g, of faces %g (%s, %s)", gap.distance, right, extent,
                 t.a.kind, t.b.kind);
    if (ratio_sign(least) == 0) {
        scale_expect(c, gap.distance == 0.0, "distance %g of soups that meet (%s, %s)",
                     gap.distance, t.a.kind, t.b.kind);
        scale_expect(c, ratio_sign(reported) == 0, "the closest pair does not meet (%s, %s)",
                     t.a.kind, t.b.kind);
    } else {
        number twice = number_add(bound, bound);
        scale_expect(c, ratio_root_within(right, reported, number_add(twice, number_ulp(right))),
                     "not a closest pair (%s, %s)", t.a.kind, t.b.kind);
    }
done:
    carom_soup_destroy(a);
    carom_soup_destroy(b);
}

/* ---- closest points -------------------------------------------------------------------------- */

static carom_vec3 query_point(scale_case *c, const scale_soup *soup) {
    carom_vec3 p = soup->position[scale_below(c, soup->vertices)], by = small_vec(c, 4);
    int k = soup->unit;
    if (scale_one_in(c, 3)) k += scale_between(c, 0, 50);
    if (k < 1005 && scale_one_in(c, 8)) k = scale_between(c, k, 1005); /* very far away */
    by = scale_vec(by, k);
    return (carom_vec3){p.x + by.x, p.y + by.y, p.z + by.z};
}

static void closest(scale_case *c) {
    scale_soup soup;
    scale_make_soup(c, 12, &soup);
    scale_move_soup(c, &soup);
    carom_soup_def def = {.degenerate =
                              (carom_soup_degenerate)scale_below(c, CAROM_SOUP_DEGENERATE_COUNT)};
    carom_soup *s = prepared(c, &soup, def);
    if (s == NULL) return;
    for (int n = 0; n < 4; ++n) {
        carom_vec3 point = query_point(c, &soup), corner[4];
        carom_hit hit = {0};
        if (!(fabs(point.x) < 0x1p1019 && fabs(point.y) < 0x1p1019 && fabs(point.z) < 0x1p1019))
            continue;
        if (!scale_ok(c, carom_soup_closest_points(c->context, s, &point, 1, &hit))) continue;
        number3 p = number3_of(point);
        uint32_t lowest = CAROM_NONE;
        ratio least = {0}, reported = {0};
        double extent = 0.0;
        for (uint32_t i = 0; i < soup.faces; ++i) {
            scale_corners(&soup, i, corner);
            exact_triangle t = exact_triangle_of(corner);
            if (!takes_part(&t, def.degenerate)) continue;
            ratio squared = exact_point_triangle(p, &t);
            if (lowest == CAROM_NONE || ratio_compare(squared, least) < 0)
                lowest = i, least = squared;
            if (i != hit.face) continue;
            reported = squared;
            corner[3] = point;
            extent = exact_extent(corner, 4);
        }
        if (lowest == CAROM_NONE) {
            scale_expect(c, hit.face == CAROM_NONE && isinf(hit.distance),
                         "face %u of none is closest", hit.face);
            continue;
        }
        double right = number_show(number_sqrt(number_div(least.top, least.bottom, 80), 64));
        if (!scale_expect(c, reported.bottom.sign != 0,
                          "no closest face, right %u at %g (%s, point %a %a %a)", lowest, right,
                          soup.kind, point.x, point.y, point.z))
            continue;
        number bound = distance_bound(extent), twice = number_add(bound, bound);
        scale_expect(c, isfinite(hit.distance) && ratio_root_within(hit.distance, least, bound),
                     "closest distance %.17g, right %.17g, extent %g (%s, point %a %a %a)",
                     hit.distance, right, extent, soup.kind, point.x, point.y, point.z);
        scale_expect(c, ratio_root_within(right, reported, number_add(twice, number_ulp(right))),
                     "not a closest face: %u, right %u at %g (%s, point %a %a %a)", hit.face,
                     lowest, right, soup.kind, point.x, point.y, point.z);
        scale_expect(c, hit.face == lowest,
                     "not the lowest closest face: %u, right %u at %g (%s, point %a %a %a)",
                     hit.face, lowest, right, soup.kind, point.x, point.y, point.z);
        scale_corners(&soup, hit.face, corner);
        exact_triangle t = exact_triangle_of(corner);
        bool on = isfinite(hit.point.x) && isfinite(hit.point.y) && isfinite(hit.point.z);
        number loose = number_mul(number_of(4.0), number_add(bound, number_ulp(extent)));
        double most = 0.0;
        for (int i = 0; i < 3; ++i)
            most = fmax(most, fmax(fabs(corner[i].x), fmax(fabs(corner[i].y), fabs(corner[i].z))));
        loose = number_add(loose, number_mul(number_of(2.0), number_ulp(most)));
        on = on && ratio_root_within(0.0, exact_point_triangle(number3_of(hit.point), &t), loose);
        scale_expect(c, on, "closest point %.17g %.17g %.17g is not on the face (%s)", hit.point.x,
                     hit.point.y, hit.point.z, soup.kind);
    }
    carom_soup_destroy(s);
}

/* ---- winding --------------------------------------------------------------------------------- */

static void winding(scale_case *c) {
    scale_model model;
    model_make(c, scale_one_in(c, 2), &model);
    (void)model_by_power(&model, 1, 1, 1);
    if (scale_one_in(c, 3))
        (void)model_by_power(&model, scale_between(c, 0, 40), scale_between(c, 0, 40),
                             scale_between(c, 0, 40));
    if (scale_one_in(c, 3))
        (void)model_offset(&model, scale_vec(small_vec(c, 2), scale_between(c, 1, 50)));
    int k = 0;
    for (int attempt = 0; attempt < 20; ++attempt) {
        k = scale_exponent(c, -1074, 1000);
        if (model_by_power(&model, k, k, k)) break;
        k = 0;
    }
    static exact_triangle triangles[MODEL_MOST_FACES];
    for (uint32_t i = 0; i < model.faces; ++i) {
        carom_vec3 corner[3];
        for (int j = 0; j < 3; ++j) corner[j] = model.point[model.corners[3 * i + j]];
        triangles[i] = exact_triangle_of(corner);
    }
    carom_soup *s = NULL;
    if (!scale_ok(c, carom_soup_create(
                         c->context,
                         &(carom_soup_def){.mesh = (carom_mesh_view[]){model_view(&model)}}, &s)))
        return;
    for (int n = 0; n < 8; ++n) {
        carom_vec3 p = model.point[scale_below(c, model.points)];
        carom_vec3 q = model.point[scale_below(c, model.points)], by = small_vec(c, 3);
        p = (carom_vec3){p.x + 0.5 * (q.x - p.x), p.y + 0.5 * (q.y - p.y), p.z + 0.5 * (q.z - p.z)};
        by = scale_vec(by, scale_one_in(c, 4) ? scale_between(c, k, 1000) : k);
        p = (carom_vec3){p.x + by.x, p.y + by.y, p.z + by.z};
        if (!(fabs(p.x) < 0x1p1020 && fabs(p.y) < 0x1p1020 && fabs(p.z) < 0x1p1020)) continue;
        int32_t got = 0, right = CAROM_SOUP_ON_SURFACE;
        number3 point = number3_of(p);
        bool on = false;
        for (uint32_t i = 0; i < model.faces && !on; ++i) on = exact_point_on(point, &triangles[i]);
        if (!on) right = exact_winding(point, triangles, model.faces, &c->random);
        if (scale_ok(c, carom_soup_winding(c->context, s, &p, 1, &got)))
            scale_expect(c, got == right, "winding %d, right %d (%s, point %a %a %a)", got, right,
                         model.kind, p.x, p.y, p.z);
    }
    carom_soup_destroy(s);
}

/* ---- how dense ------------------------------------------------------------------------------- */

/* The same counts for a copy that is scaled and moved without rounding. */
static void density(scale_case *c) {
    scale_soup soup, moved;
    carom_kfree k_soup, k_moved;
    carom_numbers counts = {0}, counts_moved = {0};
    scale_make_soup(c, SCALE_FEW_FACES, &soup);
    if (strcmp(soup.kind, "random") == 0) return; /* halves of units in the last place */
    moved = soup;
    scale_move_soup(c, &moved);
    if (moved.unit < -1000) return; /* diameters would be subnormal, and rounded */
    carom_soup_def def = {.degenerate =
                              (carom_soup_degenerate)scale_below(c, CAROM_SOUP_DEGENERATE_COUNT)};
    carom_soup *a = prepared(c, &soup, def), *b = prepared(c, &moved, def);
    if (a != NULL && b != NULL &&
        scale_ok(c, carom_kfree_measure(c->context, a, &k_soup, &counts)) &&
        scale_ok(c, carom_kfree_measure(c->context, b, &k_moved, &counts_moved))) {
        scale_expect(
            c,
            counts.count == counts_moved.count &&
                memcmp(counts.data, counts_moved.data, counts.count * sizeof(*counts.data)) == 0 &&
                k_soup.k == k_moved.k && k_soup.worst_face == k_moved.worst_face &&
                k_soup.total == k_moved.total,
            "k %" PRIu64 " of the copy, %" PRIu64 " of the first (%s)", k_moved.k, k_soup.k,
            soup.kind);
        scale_expect(c, ldexp(k_soup.largest_diameter, moved.unit) == k_moved.largest_diameter,
                     "largest diameter %a of the copy, %a of the first (%s, 2^%d)",
                     k_moved.largest_diameter, k_soup.largest_diameter, soup.kind, moved.unit);
    }
    carom_numbers_free(&counts);
    carom_numbers_free(&counts_moved);
    carom_soup_destroy(a);
    carom_soup_destroy(b);
}

/* ---------------------------------------------------------------------------------------------- */

#define LONGER 100

static void test_self(void **state) {
    (void)state;
    scale_run("soup-self", self, 300, LONGER);
}

static void test_cross(void **state) {
    (void)state;
    scale_run("soup-cross", cross, 400, LONGER);
}

static void test_distance(void **state) {
    (void)state;
    scale_run("soup-distance", distance, 400, LONGER);
}

static void test_closest(void **state) {
    (void)state;
    scale_run("soup-closest", closest, 600, LONGER);
}

static void test_winding(void **state) {
    (void)state;
    scale_run("soup-winding", winding, 300, LONGER);
}

static void test_density(void **state) {
    (void)state;
    scale_run("soup-density", density, 300, LONGER);
}

int main(void) {
    if (!test_has_long_double()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self),     cmocka_unit_test(test_cross),
        cmocka_unit_test(test_distance), cmocka_unit_test(test_closest),
        cmocka_unit_test(test_winding),  cmocka_unit_test(test_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
