/* SPDX-License-Identifier: MIT */
/* Closest points against a brute-force oracle in 113 bits that proves its own answer: all feature
 * pairs give an upper bound, the slab between the closest points a lower one, and they must agree.
 * One thread. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance_item.h"
#include "tests/support/quad.h"
#include "tests/support/test.h"

/* Three points in a row as the triangle they are. */
#define AS_TRIANGLE(points) ((const carom_triangle *)(const void *)(points))

/* ---- the oracle ------------------------------------------------------------------------------ */

typedef struct closest_q {
    quad3 a, b;
    quad squared;
} closest_q;

static void offer(closest_q *best, quad3 a, quad3 b) {
    quad3 apart = quad3_sub(b, a);
    quad squared = quad3_dot(apart, apart);
    if (best->squared < 0 || squared < best->squared) *best = (closest_q){a, b, squared};
}

static quad clamp(quad t) {
    return t > 0 ? (t < 1 ? t : 1) : 0;
}

static quad3 on_segment(quad3 p, quad3 a, quad3 b) {
    quad3 u = quad3_sub(b, a);
    quad uu = quad3_dot(u, u);
    return uu > 0 ? quad3_along(a, u, clamp(quad3_dot(quad3_sub(p, a), u) / uu)) : a;
}

/* The height over each edge by areas, then the position along the edge at that height; both clamped
 * into the triangle whichever way rounding went. */
static bool on_face(quad3 p, const quad3 *t, quad3 *foot) {
    quad3 n = quad3_cross(quad3_sub(t[1], t[0]), quad3_sub(t[2], t[0]));
    quad nn = quad3_dot(n, n), least = -1;
    for (int i = 0; i < 3 && nn > 0; ++i) {
        quad3 a = t[i], u = quad3_sub(t[(i + 1) % 3], a), v = quad3_sub(t[(i + 2) % 3], a);
        quad3 w = quad3_sub(p, a);
        quad y = clamp(quad3_dot(quad3_cross(u, w), n) / nn);
        quad3 at = quad3_along(a, v, y);
        quad x = quad3_dot(quad3_sub(p, at), u) / quad3_dot(u, u);
        at = quad3_along(at, u, x < 0 ? 0 : x > 1 - y ? 1 - y : x);
        quad distance = quad3_distance(p, at);
        if (least >= 0 && distance >= least) continue;
        least = distance;
        *foot = at;
    }
    return nn > 0;
}

static void edge_edge(const quad3 *e, const quad3 *f, closest_q *best) {
    quad3 u = quad3_sub(e[1], e[0]), v = quad3_sub(f[1], f[0]), n = quad3_cross(u, v);
    quad nn = quad3_dot(n, n);
    if (!(nn > 0)) return; /* parallel: some corner does as well */
    quad3 w = quad3_sub(f[0], e[0]);
    quad3 a = quad3_along(e[0], u, clamp(quad3_dot(quad3_cross(w, v), n) / nn));
    offer(best, a, on_segment(a, f[0], f[1]));
}

static void edge_face(const quad3 *e, const quad3 *t, bool swapped, closest_q *best) {
    quad3 n = quad3_cross(quad3_sub(t[1], t[0]), quad3_sub(t[2], t[0])), foot;
    quad h0 = quad3_dot(quad3_sub(e[0], t[0]), n), h1 = quad3_dot(quad3_sub(e[1], t[0]), n);
    if (!((h0 < 0 && h1 > 0) || (h0 > 0 && h1 < 0))) return;
    quad3 p = quad3_along(e[0], quad3_sub(e[1], e[0]), h0 / (h0 - h1));
    if (!on_face(p, t, &foot)) return;
    if (swapped)
        offer(best, foot, p);
    else
        offer(best, p, foot);
}

static quad3 from_origin(carom_vec3 p, carom_vec3 origin) {
    return quad3_sub(quad3_of(p), quad3_of(origin));
}

/* Shapes of 1, 2 or 3 points; the answer is seen from a[0]. */
static closest_q oracle(const carom_vec3 *a, int na, const carom_vec3 *b, int nb) {
    quad3 p[3], q[3], foot;
    closest_q best = {.squared = -1};
    for (int i = 0; i < na; ++i) p[i] = from_origin(a[i], a[0]);
    for (int i = 0; i < nb; ++i) q[i] = from_origin(b[i], a[0]);
    int ea = na == 3 ? 3 : na - 1, eb = nb == 3 ? 3 : nb - 1;
    for (int i = 0; i < na; ++i)
        for (int k = 0; k < nb; ++k) offer(&best, p[i], q[k]);
    for (int k = 0; k < eb; ++k)
        for (int i = 0; i < na; ++i) offer(&best, p[i], on_segment(p[i], q[k], q[(k + 1) % 3]));
    for (int i = 0; i < ea; ++i)
        for (int k = 0; k < nb; ++k) offer(&best, on_segment(q[k], p[i], p[(i + 1) % 3]), q[k]);
    for (int i = 0; i < ea; ++i)
        for (int k = 0; k < eb; ++k) {
            quad3 e[2] = {p[i], p[(i + 1) % 3]}, f[2] = {q[k], q[(k + 1) % 3]};
            edge_edge(e, f, &best);
        }
    for (int i = 0; nb == 3 && i < na; ++i)
        if (on_face(p[i], q, &foot)) offer(&best, p[i], foot);
    for (int k = 0; na == 3 && k < nb; ++k)
        if (on_face(q[k], p, &foot)) offer(&best, foot, q[k]);
    for (int i = 0; nb == 3 && i < ea; ++i)
        edge_face((quad3[2]){p[i], p[(i + 1) % 3]}, q, false, &best);
    for (int k = 0; na == 3 && k < eb; ++k)
        edge_face((quad3[2]){q[k], q[(k + 1) % 3]}, p, true, &best);
    return best;
}

/* What the slab between the oracle's points leaves open, as a length. */
static quad oracle_doubt(const closest_q *best, const carom_vec3 *a, int na, const carom_vec3 *b,
                         int nb) {
    quad3 apart = quad3_sub(best->b, best->a);
    quad last = 0, first = 0, distance = quad_sqrt(best->squared);
    if (!(distance > 0)) return 0;
    for (int i = 0; i < na; ++i) {
        quad at = quad3_dot(apart, quad3_sub(from_origin(a[i], a[0]), best->a));
        if (i == 0 || at > last) last = at;
    }
    for (int i = 0; i < nb; ++i) {
        quad at = quad3_dot(apart, quad3_sub(from_origin(b[i], a[0]), best->a));
        if (i == 0 || at < first) first = at;
    }
    quad lower = (first - last) / distance;
    return lower > 0 ? distance - lower : distance;
}

/* ---- cases ----------------------------------------------------------------------------------- */

typedef struct pair_case {
    carom_vec3 a[3], b[3];
} pair_case;

static carom_vec3 lattice(carom_random *random) {
    double v[3];
    for (int i = 0; i < 3; ++i) v[i] = (double)(carom_random_next(random) % 5) - 2.0;
    return carom_vec(v[0], v[1], v[2]);
}

static carom_vec3 anywhere(carom_random *random) {
    double v[3];
    for (int i = 0; i < 3; ++i) v[i] = carom_random_between(random, -1.0, 1.0);
    return carom_vec(v[0], v[1], v[2]);
}

/* 1 down to 1e-17, and now and then 0. */
static double tiny(carom_random *random) {
    double power = carom_random_between(random, -18.0, 0.0);
    return power < -17.0 ? 0.0 : pow(10.0, power);
}

static carom_vec3 mix(const carom_vec3 *t, double x, double y) {
    carom_vec3 at = carom_vec_add(t[0], carom_vec_scale(carom_vec_sub(t[1], t[0]), x));
    return carom_vec_add(at, carom_vec_scale(carom_vec_sub(t[2], t[0]), y));
}

static carom_vec3 near_edge(carom_random *random, const carom_vec3 *t, double from, double to) {
    return carom_vec_add(mix(t, carom_random_between(random, from, to), 0.0),
                         carom_vec_scale(anywhere(random), tiny(random)));
}

#define KINDS 12

static pair_case make_case(carom_random *random, int kind) {
    pair_case c;
    for (int i = 0; i < 3; ++i) {
        bool whole = kind == 1 || kind == 2 || kind == 3;
        c.a[i] = whole ? lattice(random) : anywhere(random);
        c.b[i] = whole ? lattice(random) : anywhere(random);
    }
    switch (kind) {
    case 2: /* shared corners */
        c.b[0] = c.a[carom_random_next(random) % 3];
        if (carom_random_next(random) % 2 == 0) c.b[1] = c.a[carom_random_next(random) % 3];
        break;
    case 3: /* one plane */
        for (int i = 0; i < 3; ++i) c.a[i].z = c.b[i].z = 1.0;
        break;
    case 4: /* needles */
        c.a[2] = near_edge(random, c.a, 0.0, 1.0);
        c.b[2] = near_edge(random, c.b, 0.0, 1.0);
        break;
    case 5: /* collinear, as far as doubles allow, and points */
        c.a[2] = mix(c.a, carom_random_between(random, -1.0, 2.0), 0.0);
        if (carom_random_next(random) % 2 == 0) c.b[2] = c.b[0];
        if (carom_random_next(random) % 4 == 0) c.b[1] = c.b[0];
        break;
    case 6: /* the same, turned and moved a little */
        for (int i = 0; i < 3; ++i)
            c.b[i] =
                carom_vec_add(c.a[(i + 1) % 3], carom_vec_scale(anywhere(random), tiny(random)));
        break;
    case 7: /* a corner just above the face */
        c.b[0] = carom_vec_add(
            mix(c.a, carom_random_uniform(random), carom_random_uniform(random) / 2.0),
            carom_vec_scale(anywhere(random), tiny(random)));
        break;
    case 8: /* nearly parallel edges, nearly touching */
        c.b[0] = near_edge(random, c.a, 0.0, 1.0);
        c.b[1] = carom_vec_add(carom_vec_add(c.b[0], carom_vec_sub(c.a[1], c.a[0])),
                               carom_vec_scale(anywhere(random), tiny(random)));
        break;
    case 9: /* crossing */
        c.b[0] = mix(c.a, carom_random_uniform(random), carom_random_uniform(random) / 2.0);
        c.b[1] = carom_vec_sub(carom_vec_scale(c.b[0], 2.0), c.b[2]);
        break;
    case 10: /* needles that lie along each other */
        c.a[2] = near_edge(random, c.a, 0.0, 1.0);
        for (int i = 0; i < 3; ++i) c.b[i] = near_edge(random, c.a, -0.5, 1.5);
        break;
    case 11: /* of very different size */
        for (int i = 1; i < 3; ++i)
            c.b[i] = carom_vec_add(c.b[0], carom_vec_scale(anywhere(random), tiny(random)));
        break;
    default:
        break;
    }
    if (carom_random_next(random) % 4 == 0)
        for (int i = 0; i < 3; ++i) {
            carom_vec3 offset = carom_vec(1e6, -1e6, 1e6);
            c.a[i] = carom_vec_add(c.a[i], offset);
            c.b[i] = carom_vec_add(c.b[i], offset);
        }
    return c;
}

static carom_closest query(const carom_vec3 *a, int na, const carom_vec3 *b, int nb) {
    carom_closest c = {.distance = -1.0};
    if (na == 1 && nb == 2) carom_near_point_segment(a[0], b, &c);
    if (na == 2 && nb == 2) carom_near_segments(a, b, &c);
    if (na == 1 && nb == 3) carom_near_point_triangle(a[0], b, &c);
    if (na == 2 && nb == 3) carom_near_segment_triangle(a, b, &c);
    if (na == 3 && nb == 3) carom_near_triangles(a, b, &c);
    return c;
}

typedef struct worst {
    double distance; /* error, of the spread of the input */
    double relative; /* error, of the distance, where that is above 1e-3 of the spread */
    double off;      /* witness points off the shapes, of the largest coordinate */
    double apart;    /* distance of the witness points against the reported, likewise */
    double doubt;    /* the oracle's own */
    uint64_t zeros, touching;
} worst;

static void keep(double *most, quad value) {
    if (!((double)value <= *most)) *most = (double)value;
}

static void check_case(const carom_vec3 *a, int na, const carom_vec3 *b, int nb, worst *w) {
    quad spread = 0, largest = 0;
    for (int i = 0; i < na + nb; ++i) {
        quad3 p = quad3_of(i < na ? a[i] : b[i - na]);
        quad apart = quad3_distance(p, quad3_of(a[0])), size = quad3_distance(p, (quad3){0, 0, 0});
        if (apart > spread) spread = apart;
        if (size > largest) largest = size;
    }
    carom_closest got = query(a, na, b, nb);
    assert_true(got.distance >= 0.0 && got.distance <= DBL_MAX);
    if (!(spread > 0)) {
        assert_true(got.distance == 0.0);
        return;
    }
    closest_q best = oracle(a, na, b, nb);
    quad distance = quad_sqrt(best.squared), error = quad_abs(got.distance - distance);
    quad doubt = oracle_doubt(&best, a, na, b, nb) / spread; /* some 1e-34 / distance */
    keep(&w->doubt, distance < spread * 1e-6 ? doubt * distance / spread * 1e6 : doubt);
    keep(&w->distance, error / spread);
    if (distance > spread / 1000) keep(&w->relative, error / distance);
    keep(&w->off, quad_sqrt(oracle(&got.a, 1, a, na).squared) / largest);
    keep(&w->off, quad_sqrt(oracle(&got.b, 1, b, nb).squared) / largest);
    quad apart = quad3_distance(quad3_of(got.a), quad3_of(got.b));
    keep(&w->apart, quad_abs(apart - got.distance) / largest);
    w->zeros += got.distance == 0.0;
    w->touching += distance < 1e-25 * spread;
}

static uint64_t cases(uint64_t usual, uint64_t many) {
    const char *text = getenv("CAROM_LONG");
    if (text != NULL && strcmp(text, "1") == 0) return many;
    return TEST_FEW_CASES ? usual / 16 : usual;
}

static void sweep(const char *name, int na, int nb, uint64_t seed, uint64_t count) {
    worst all = {0};
    for (int kind = 0; kind < KINDS; ++kind) {
        worst w = {0};
        carom_random random = {seed * 100 + (uint64_t)kind};
        for (uint64_t i = 0; i < count; ++i) {
            pair_case c = make_case(&random, kind);
            check_case(c.a, na, c.b, nb, &w);
        }
        if (getenv("CAROM_SHOW") != NULL)
            print_message("%s, kind %d: distance %.2g, relative %.2g, off %.2g, apart %.2g, oracle "
                          "%.2g, zeros %llu of %llu\n",
                          name, kind, w.distance, w.relative, w.off, w.apart, w.doubt,
                          (unsigned long long)w.zeros, (unsigned long long)w.touching);
        keep(&all.distance, w.distance);
        keep(&all.relative, w.relative);
        keep(&all.off, w.off);
        keep(&all.apart, w.apart);
        keep(&all.doubt, w.doubt);
    }
    print_message("%s: worst error %.2g of the spread, %.2g relative, witnesses off by %.2g, apart "
                  "%.2g; oracle %.2g\n",
                  name, all.distance, all.relative, all.off, all.apart, all.doubt);
    assert_true(all.doubt < 1e-24);
    assert_true(all.distance < 1e-15);
    assert_true(all.relative < 1e-12);
    assert_true(all.off < 1e-15);
    assert_true(all.apart < 1e-15);
}

static void points_and_segments_agree_with_the_oracle(void **state) {
    (void)state;
    sweep("point-segment", 1, 2, 1, cases(1000, 20000));
}

static void segments_agree_with_the_oracle(void **state) {
    (void)state;
    sweep("segment-segment", 2, 2, 2, cases(2000, 30000));
}

static void points_and_triangles_agree_with_the_oracle(void **state) {
    (void)state;
    sweep("point-triangle", 1, 3, 3, cases(2000, 30000));
}

static void segments_and_triangles_agree_with_the_oracle(void **state) {
    (void)state;
    sweep("segment-triangle", 2, 3, 4, cases(2000, 30000));
}

static void triangles_agree_with_the_oracle(void **state) {
    (void)state;
    sweep("triangle-triangle", 3, 3, 5, cases(2000, 30000));
}

/* ---- symmetry and scale ---------------------------------------------------------------------- */

static void order_and_side_do_not_matter(void **state) {
    (void)state;
    carom_random random = {6};
    double most = 0.0;
    for (int i = 0; i < TEST_CASES(60000); ++i) {
        pair_case c = make_case(&random, i % KINDS);
        carom_closest one, two;
        carom_near_triangles(c.a, c.b, &one);
        carom_vec3 a[3], b[3];
        double spread = 0.0;
        int turn = i / KINDS % 3, flip = i / KINDS / 3 % 2;
        for (int k = 0; k < 3; ++k) {
            a[k] = c.a[(turn + (flip ? 3 - k : k)) % 3];
            b[k] = c.b[(turn + (flip ? k : 3 - k)) % 3];
            spread = fmax(spread, carom_vec_length(carom_vec_sub(c.a[k], c.a[0])));
            spread = fmax(spread, carom_vec_length(carom_vec_sub(c.b[k], c.a[0])));
        }
        carom_near_triangles(b, a, &two);
        if (spread > 0.0) most = fmax(most, fabs(one.distance - two.distance) / spread);
    }
    print_message("swapped and turned: %.2g of the spread\n", most);
    assert_true(most < 1e-15);
}

/* The bits of an answer times a power of two. */
static bool is_scaled(const carom_closest *one, const carom_closest *two, double scale) {
    return two->distance == one->distance * scale && two->a.x == one->a.x * scale &&
           two->a.y == one->a.y * scale && two->a.z == one->a.z * scale &&
           two->b.x == one->b.x * scale && two->b.y == one->b.y * scale &&
           two->b.z == one->b.z * scale;
}

static void powers_of_two_scale_the_answer(void **state) {
    (void)state;
    static const int powers[] = {-300, 300, -900, 990, 120, -120};
    carom_random random = {7};
    for (int i = 0; i < TEST_CASES(30000); ++i) {
        pair_case c = make_case(&random, i % KINDS);
        carom_vec3 p[6], q[6];
        for (int k = 0; k < 6; ++k) p[k] = k < 3 ? c.a[k] : c.b[k - 3];
        for (size_t m = 0; m < COUNT_OF(powers); ++m) {
            double scale = carom_power_of_two(powers[m]);
            for (int k = 0; k < 6; ++k) q[k] = carom_vec_scale(p[k], scale);
            for (int na = 1; na <= 3; ++na)
                for (int nb = na == 1 ? 2 : na; nb <= 3; ++nb) {
                    carom_closest one = query(p, na, p + 3, nb), two = query(q, na, q + 3, nb);
                    assert_true(is_scaled(&one, &two, scale));
                }
        }
    }
}

static void crossing_triangles_are_at_zero(void **state) {
    (void)state;
    carom_random random = {8};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        carom_vec3 a[3], b[3];
        for (int k = 0; k < 3; ++k) a[k] = anywhere(&random);
        carom_vec3 n = carom_vec_cross(carom_vec_sub(a[1], a[0]), carom_vec_sub(a[2], a[0]));
        if (carom_vec_length(n) < 0.01) continue;
        /* An edge well through the inside. */
        carom_vec3 middle = mix(a, 0.3, 0.3);
        carom_vec3 slanted = carom_vec_add(n, carom_vec_scale(anywhere(&random), 0.003));
        b[0] = carom_vec_add(middle, slanted);
        b[1] = carom_vec_sub(middle, slanted);
        b[2] = anywhere(&random);
        carom_closest c;
        carom_near_triangles(a, b, &c);
        assert_true(c.distance == 0.0 && memcmp(&c.a, &c.b, sizeof(c.a)) == 0);
        carom_near_segment_triangle(b, a, &c);
        assert_true(c.distance == 0.0 && c.squared == 0.0);
    }
}

static void extremes_stay_finite(void **state) {
    (void)state;
    carom_vec3 a[3] = {{0x1p1020, 0, 0}, {0, 0x1p1020, 0}, {0, 0, 0x1p1020}};
    carom_vec3 b[3] = {{-0x1p1020, 0, 0}, {0, -0x1p1020, 0}, {0, 0, -0x1p1020}};
    carom_closest c;
    carom_near_triangles(a, b, &c);
    assert_true(fabs(c.distance / 0x1p1020 - 2.0 / sqrt(3.0)) < 1e-15);
    assert_true(c.squared > DBL_MAX);
    for (int i = 0; i < 3; ++i) {
        a[i] = carom_vec_scale(carom_vec_scale(a[i], 0x1p-1020), 0x1p-1060);
        b[i] = carom_vec_scale(carom_vec_scale(b[i], 0x1p-1020), 0x1p-1060);
    }
    carom_near_triangles(a, b, &c);
    assert_true(fabs(c.distance / 0x1p-1060 - 2.0 / sqrt(3.0)) < 1e-3 && c.squared == 0.0);
    for (int i = 0; i < 18; ++i) {
        pair_case pair = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};
        double numbers[18];
        memcpy(numbers, &pair, sizeof(numbers));
        numbers[i] = i % 2 == 0 ? (double)NAN : (double)INFINITY;
        memcpy(&pair, numbers, sizeof(numbers));
        carom_near_triangles(pair.a, pair.b, &c);
        assert_true(isnan(c.distance) && isnan(c.squared) && isnan(c.a.x) && isnan(c.b.z));
    }
}

/* ---- the public face ------------------------------------------------------------------------- */

static void public_functions_check_and_answer(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 a[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, b[3] = {{0, 0, 2}, {1, 0, 2}, {0, 1, 3}};
    carom_closest c;
    uint64_t before = test_malloc_count();
    assert_ok(context, carom_point_segment_distance(context, a, b, &c));
    assert_true(c.distance == 2.0);
    assert_ok(context, carom_segments_distance(context, a, b, &c));
    assert_true(c.distance == 2.0 && c.squared == 4.0);
    assert_ok(context, carom_point_triangle_distance(context, a, AS_TRIANGLE(b), &c));
    assert_ok(context, carom_segment_triangle_distance(context, a, AS_TRIANGLE(b), &c));
    assert_true(c.distance == 2.0);
    assert_ok(context, carom_triangles_distance(context, AS_TRIANGLE(a), AS_TRIANGLE(b), &c));
    assert_true(c.distance == 2.0 && c.a.z == 0.0 && c.b.z == 2.0);
    assert_true(carom_point_segment_distance_value(a, b).distance == 2.0);
    assert_true(carom_segments_distance_value(a, b).squared == 4.0);
    assert_true(carom_point_triangle_distance_value(a, AS_TRIANGLE(b)).distance == 2.0);
    assert_true(carom_segment_triangle_distance_value(a, AS_TRIANGLE(b)).distance == 2.0);
    carom_closest value = carom_triangles_distance_value(AS_TRIANGLE(a), AS_TRIANGLE(b));
    assert_memory_equal(&value, &c, sizeof(c));
    const carom_bounds box = {{0, 0, 0}, {1, 1, 1}};
    assert_true(carom_triangle_meets_box_value(AS_TRIANGLE(a), &box));
    assert_false(carom_triangle_meets_box_value(AS_TRIANGLE(b), &box));
    carom_ball ball, ball_value = carom_ball_of_points_value(b, 3);
    assert_ok(context, carom_ball_of_points(context, b, 3, &ball));
    assert_memory_equal(&ball_value, &ball, sizeof(ball));
    ball_value = carom_ball_of_triangle_value(AS_TRIANGLE(b));
    assert_ok(context, carom_ball_of_triangle(context, AS_TRIANGLE(b), &ball));
    assert_memory_equal(&ball_value, &ball, sizeof(ball));
    const carom_ball balls[2] = {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}};
    ball_value = carom_ball_of_balls_value(balls, 2);
    assert_ok(context, carom_ball_of_balls(context, balls, 2, &ball));
    assert_memory_equal(&ball_value, &ball, sizeof(ball));
    carom_lens lens, lens_value = carom_ball_lens_value(&balls[0], &balls[1]);
    assert_ok(context, carom_ball_lens(context, &balls[0], &balls[1], &lens));
    assert_memory_equal(&lens_value, &lens, sizeof(lens));
    assert_int_equal(test_malloc_count(), before);
    b[1].y = (double)NAN;
    assert_fails(context, carom_triangles_distance(context, AS_TRIANGLE(a), AS_TRIANGLE(b), &c),
                 CAROM_BAD_INPUT, "point 1 of the second triangle");
    b[1].y = 0x1.8p1020;
    assert_fails(context, carom_segments_distance(context, b, a, &c), CAROM_BAD_INPUT, "2^1020");
    assert_fails(context, carom_point_segment_distance(context, b + 1, a, &c), CAROM_BAD_INPUT,
                 "the point is");
    assert_fails(context, carom_point_triangle_distance(context, a, AS_TRIANGLE(b), &c),
                 CAROM_BAD_INPUT, "triangle");
    assert_fails(context, carom_segment_triangle_distance(context, b, AS_TRIANGLE(a), &c),
                 CAROM_BAD_INPUT, "segment");
    test_asserts_begin();
    assert_int_equal(carom_triangles_distance(NULL, AS_TRIANGLE(a), AS_TRIANGLE(b), &c),
                     CAROM_INVALID);
    assert_int_equal(carom_triangles_distance(context, NULL, AS_TRIANGLE(b), &c), CAROM_INVALID);
    assert_int_equal(carom_triangles_distance(context, AS_TRIANGLE(a), AS_TRIANGLE(b), NULL),
                     CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 3);
    carom_context_destroy(context);
}

static void bits_are_golden(void **state) {
    (void)state;
    carom_random random = {9};
    uint64_t hash = 0;
    for (int i = 0; i < 24000; ++i) {
        pair_case c = make_case(&random, i % 4); /* the kinds that call no libm */
        for (int na = 1; na <= 3; ++na)
            for (int nb = na == 1 ? 2 : na; nb <= 3; ++nb) {
                carom_closest closest = query(c.a, na, c.b, nb);
                hash = test_hash_numbers(&closest, sizeof(closest), "8", hash);
            }
    }
    test_golden("distance.txt", "closest", hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_and_segments_agree_with_the_oracle),
        cmocka_unit_test(segments_agree_with_the_oracle),
        cmocka_unit_test(points_and_triangles_agree_with_the_oracle),
        cmocka_unit_test(segments_and_triangles_agree_with_the_oracle),
        cmocka_unit_test(triangles_agree_with_the_oracle),
        cmocka_unit_test(order_and_side_do_not_matter),
        cmocka_unit_test(powers_of_two_scale_the_answer),
        cmocka_unit_test(crossing_triangles_are_at_zero),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(public_functions_check_and_answer),
        cmocka_unit_test(bits_are_golden),
    };
    return cmocka_run_group_tests_name("distance", tests, NULL, NULL);
}
