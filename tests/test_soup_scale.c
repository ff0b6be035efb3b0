/* SPDX-License-Identifier: MIT */
/* Rays and nearest points against oracles in integers: which face comes first or is the nearest,
 * where, and how it is rounded, at every scale. CAROM_LONG=1 casts a million rays. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "tests/support/campaign.h"
#include "tests/support/test.h"

/* Numbers of a scene that lie within 148 binary places of each other: enough to compare squared
 * distances, which takes products of ten differences. */
#define BIG_WORDS    24
#define BIG(name)    short_##name
#define SHORT_DIGITS 148
#include "tests/support/triangle_oracle.h"

#include "tests/support/ray_oracle.h"

#include "tests/support/near_oracle.h"
#undef BIG
#undef BIG_WORDS
/* Numbers of a scene that lie within some 300 binary places of each other. */
#define BIG_WORDS 100
#define BIG(name) small_##name
#include "tests/support/triangle_oracle.h"

#include "tests/support/ray_oracle.h"

#include "tests/support/near_oracle.h"
#undef BIG
#undef BIG_WORDS
/* Any doubles. */
#define BIG_WORDS 420
#define BIG(name) large_##name
#include "tests/support/triangle_oracle.h"

#include "tests/support/ray_oracle.h"

#include "tests/support/near_oracle.h"
#undef BIG
#undef BIG_WORDS

#define MOST 400

typedef struct scene {
    carom_vec3 positions[3 * MOST];
    uint32_t corners[3 * MOST];
    uint64_t count;
    carom_soup *soup;
    bool segments, rigid;
} scene;

static carom_triangle triangle_of(const scene *s, uint64_t f) {
    return (carom_triangle){
        {s->positions[3 * f], s->positions[3 * f + 1], s->positions[3 * f + 2]}};
}

static void scene_prepare(carom_context *context, scene *s) {
    for (uint32_t i = 0; i < 3 * s->count; ++i) s->corners[i] = i;
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = s->positions,
                                                     .vertex_count = 3 * s->count,
                                                     .corners = s->corners,
                                                     .face_count = s->count},
                          .rigid = s->rigid};
    if (s->segments) def.degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT;
    assert_ok(context, carom_soup_create(context, &def, &s->soup));
}

/* ---- the oracle over a scene ----------------------------------------------------------------- */

/* The lowest bit and the one above the highest of some coordinates. */
static void span(carom_vec3 v, int *base, int *top) {
    const double x[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; ++k) {
        int e;
        if (x[k] == 0.0) continue;
        (void)frexp(x[k], &e);
        *base = e - 53 < *base ? e - 53 : *base;
        *top = e > *top ? e : *top;
    }
}

#define DEFINE_CHECK(big)                                                                          \
    static const char *check_##big(const scene *s, const carom_ray *ray, int base, int base_d,     \
                                   const carom_hit *hit) {                                         \
        big##_vec o = big##_vec_of(ray->origin, base), d = big##_vec_of(ray->direction, base_d);   \
        big##_fraction best, t;                                                                    \
        uint32_t face = CAROM_NONE;                                                                \
        for (uint64_t f = 0; f < s->count; ++f) {                                                  \
            carom_triangle triangle = triangle_of(s, f);                                           \
            if (!big##_ray_face(&o, &d, &triangle, base, s->segments, &t)) continue;               \
            if (ray->length > 0.0 && ray->length <= DBL_MAX) {                                     \
                int e;                                                                             \
                double m = ldexp(frexp(ray->length, &e), 53);                                      \
                if (big##_fraction_against(&t, base - base_d, (int64_t)m, e - 53) > 0) continue;   \
            }                                                                                      \
            if (face != CAROM_NONE && big##_fraction_compare(&t, &best) >= 0) continue;            \
            face = (uint32_t)f;                                                                    \
            best = t;                                                                              \
        }                                                                                          \
        if (hit->face != face) return "another face comes first";                                  \
        if (face == CAROM_NONE)                                                                    \
            return hit->distance == HUGE_VAL ? NULL : "a miss is not infinitely far";              \
        if (!big##_fraction_rounds_to(&best, base - base_d, hit->distance)) return "t is off";     \
        const double at[3] = {hit->point.x, hit->point.y, hit->point.z};                           \
        for (int k = 0; k < 3; ++k) {                                                              \
            /* origin + t direction in units of 2^base */                                          \
            big##_fraction x = best;                                                               \
            x.num = big##_add(big##_mul(o.x[k], best.den), big##_mul(best.num, d.x[k]));           \
            if (!big##_fraction_rounds_to(&x, base, at[k])) return "the point is off";             \
        }                                                                                          \
        return NULL;                                                                               \
    }
DEFINE_CHECK(small)
DEFINE_CHECK(large)

static void check(carom_context *context, const scene *s, const carom_ray *ray, carom_hit *hit) {
    int base = 1024, top = -1100, base_d = 1024, top_d = -1100;
    for (uint64_t i = 0; i < 3 * s->count; ++i) span(s->positions[i], &base, &top);
    span(ray->origin, &base, &top);
    span(ray->direction, &base_d, &top_d);
    if (base == 1024) base = 0; /* all zero */
    assert_ok(context, carom_soup_cast_rays(context, s->soup, ray, 1, hit));
    bool narrow = top - base < 320 && top_d - base_d < 320;
    const char *wrong =
        narrow ? check_small(s, ray, base, base_d, hit) : check_large(s, ray, base, base_d, hit);
    if (wrong != NULL)
        fail_msg(
            "%s: origin %a %a %a direction %a %a %a length %a: face %u t %a of %llu faces; the "
            "first %a %a %a, %a %a %a, %a %a %a",
            wrong, ray->origin.x, ray->origin.y, ray->origin.z, ray->direction.x, ray->direction.y,
            ray->direction.z, ray->length, hit->face, hit->distance, (unsigned long long)s->count,
            s->positions[0].x, s->positions[0].y, s->positions[0].z, s->positions[1].x,
            s->positions[1].y, s->positions[1].z, s->positions[2].x, s->positions[2].y,
            s->positions[2].z);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static int whole(carom_random *random, int low, int high) {
    return low + (int)(carom_random_next(random) % (uint64_t)(high - low + 1));
}

static double component(carom_random *random, int kind) {
    return kind == 0 ? whole(random, 0, 4) : carom_random_between(random, -1.0, 1.0);
}

static carom_vec3 vector(carom_random *random, int kind) {
    double x = component(random, kind), y = component(random, kind);
    return (carom_vec3){x, y, component(random, kind)};
}

static carom_vec3 along(carom_vec3 a, carom_vec3 b, double t) {
    return (carom_vec3){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

static carom_vec3 scaled(carom_vec3 v, int power, carom_vec3 offset) {
    return (carom_vec3){ldexp(v.x + offset.x, power), ldexp(v.y + offset.y, power),
                        ldexp(v.z + offset.z, power)};
}

/* What a scene is made of: kind 0 small whole numbers, 1 random numbers, 2 slivers; each face may
 * be smaller by up to 2^ratio; all is moved by the offset and multiplied by 2^power. */
typedef struct recipe {
    int kind, ratio, power;
    carom_vec3 offset;
} recipe;

static void scene_make(carom_context *context, scene *s, carom_random *random, const recipe *r,
                       uint64_t count) {
    s->count = count;
    for (uint64_t f = 0; f < count; ++f) {
        carom_vec3 *p = s->positions + 3 * f;
        double factor = ldexp(1.0, -whole(random, 0, r->ratio));
        for (int i = 0; i < 3; ++i) p[i] = vector(random, r->kind);
        if (r->kind == 2) p[2] = along(p[0], p[1], carom_random_between(random, 0.0, 1.0));
        if (whole(random, 0, 7) == 0) p[2] = p[whole(random, 0, 1)];
        if (f > 0 && whole(random, 0, 3) == 0) /* an edge in common with the one before */
            p[0] = p[-3], p[1] = p[-2];
        for (int i = 0; i < 3 && r->ratio > 0; ++i)
            p[i] = along((carom_vec3){1, 1, 1}, p[i], factor);
    }
    for (uint64_t i = 0; i < 3 * count; ++i)
        s->positions[i] = scaled(s->positions[i], r->power, r->offset);
    scene_prepare(context, s);
}

static carom_vec3 target(carom_random *random, const scene *s) {
    uint64_t f = carom_random_next(random) % s->count;
    carom_vec3 a = s->positions[3 * f], b = s->positions[3 * f + 1], c = s->positions[3 * f + 2];
    switch (whole(random, 0, 3)) {
    case 0:
        return a;
    case 1:
        return along(a, b, 0.5);
    case 2:
        return along(a, b, carom_random_between(random, 0, 1));
    default:
        return along(along(a, b, 0.25), c, 0.5);
    }
}

static bool usable(const carom_ray *ray) {
    const double x[6] = {ray->origin.x,    ray->origin.y,    ray->origin.z,
                         ray->direction.x, ray->direction.y, ray->direction.z};
    for (int i = 0; i < 6; ++i)
        if (!isfinite(x[i])) return false;
    return x[3] != 0.0 || x[4] != 0.0 || x[5] != 0.0;
}

static void stretch(carom_random *random, carom_vec3 *d, int reach) {
    int power = whole(random, -reach, reach);
    *d = (carom_vec3){ldexp(d->x, power), ldexp(d->y, power), ldexp(d->z, power)};
}

/* Aimed at a corner, an edge or the inside of a face, or along one; from near and far. */
static carom_ray ray_make(carom_random *random, const scene *s, const recipe *r) {
    static const carom_vec3 nowhere = {0, 0, 0};
    carom_ray ray = {.length = 0.0};
    carom_vec3 to = target(random, s);
    int how = whole(random, 0, 7);
    if (how == 0) { /* from a corner, edge or inside */
        ray.origin = target(random, s);
    } else if (how == 1) { /* far away */
        ray.origin = scaled(vector(random, 1), r->power + whole(random, 0, 50), nowhere);
    } else {
        carom_vec3 v = vector(random, r->kind == 0 ? 0 : 1);
        if (r->kind == 0) v = (carom_vec3){2 * v.x - 3, 2 * v.y - 3, 2 * v.z - 3};
        ray.origin = scaled(v, r->power, r->offset);
    }
    ray.direction = (carom_vec3){to.x - ray.origin.x, to.y - ray.origin.y, to.z - ray.origin.z};
    if (how >= 5 && r->kind == 0) { /* whole steps: through many corners and in many planes */
        carom_vec3 d = vector(random, 0);
        ray.direction = scaled((carom_vec3){d.x - 2, d.y - 2, d.z - 2}, r->power, nowhere);
        double steps = whole(random, 0, 3);
        ray.origin = (carom_vec3){to.x - steps * ray.direction.x, to.y - steps * ray.direction.y,
                                  to.z - steps * ray.direction.z};
    }
    if (whole(random, 0, 2) == 0) stretch(random, &ray.direction, 60);
    if (whole(random, 0, 3) == 0) stretch(random, &ray.direction, 1074);
    if (whole(random, 0, 7) == 0) ray.direction.y = 0.0;
    return ray;
}

static recipe recipe_make(carom_random *random, int trial) {
    recipe r = {.kind = whole(random, 0, 2)};
    if (trial % 3 == 1) r.power = whole(random, -1074, 1000);
    if (trial % 3 == 2) r.power = whole(random, -150, 150);
    if (trial % 5 == 1) r.ratio = whole(random, 0, 60);
    double reach = trial % 4 == 1 ? ldexp(1.0, whole(random, 0, 50)) : 0.0;
    if (reach > 0.0 && r.power > 960) r.power = 960; /* stay finite */
    r.offset = (carom_vec3){reach, -reach, trial % 8 == 1 ? 0.0 : 0.75 * reach};
    return r;
}

static void cast_at_random(carom_context *context, uint64_t trials, uint64_t first_seed) {
    static scene s;
    uint64_t met = 0, missed = 0, cast = 0;
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {first_seed + trial};
        ++cast;
        recipe r = recipe_make(&random, (int)(trial % 120));
        s.segments = whole(&random, 0, 1) == 1;
        scene_make(context, &s, &random, &r, (uint64_t)whole(&random, 1, 8));
        for (int i = 0; i < 10; ++i) {
            carom_ray ray = ray_make(&random, &s, &r);
            if (!usable(&ray)) continue;
            carom_hit hit;
            check(context, &s, &ray, &hit);
            met += hit.face != CAROM_NONE;
            missed += hit.face == CAROM_NONE;
            if (hit.face == CAROM_NONE || !isfinite(hit.distance)) continue;
            /* The length is compared with the true t. */
            double ends[3] = {hit.distance, nextafter(hit.distance, 0.0),
                              nextafter(hit.distance, HUGE_VAL)};
            ray.length = ends[whole(&random, 0, 2)];
            check(context, &s, &ray, &hit);
        }
        carom_soup_destroy(s.soup);
    }
    assert_true(met > cast / 2 && missed > cast / 2);
}

static void rays_are_exact_at_every_scale(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    cast_at_random(context, campaign_is_long() ? 70000 : 300, 1);
    carom_context_destroy(context);
}

/* Origins, directions and faces from all over the range of doubles at once. */
static void rays_are_exact_across_scales(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static scene s;
    uint64_t trials = campaign_is_long() ? 2000 : TEST_CASES(8);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {1000000 + trial};
        s.segments = trial % 2 == 1;
        s.count = 3;
        for (uint64_t i = 0; i < 3 * s.count; ++i) {
            int power = whole(&random, 0, 3) == 0 ? whole(&random, -1074, 1010) : 0;
            s.positions[i] = scaled(vector(&random, i % 2 == 0 ? 0 : 1), power, (carom_vec3){0});
        }
        scene_prepare(context, &s);
        for (int i = 0; i < 3; ++i) {
            carom_vec3 to = target(&random, &s);
            int power = whole(&random, -1074, 1010);
            carom_ray ray = {.origin = scaled(vector(&random, 1), power, (carom_vec3){0})};
            ray.direction =
                (carom_vec3){to.x - ray.origin.x, to.y - ray.origin.y, to.z - ray.origin.z};
            stretch(&random, &ray.direction, i == 0 ? 0 : 1000);
            carom_hit hit;
            if (usable(&ray)) check(context, &s, &ray, &hit);
        }
        carom_soup_destroy(s.soup);
    }
    carom_context_destroy(context);
}

/* Enough faces for a tree of several levels, seen from near and far. */
static void large_soups_are_searched_rightly(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    static scene s;
    int trials = campaign_is_long() ? 400 : TEST_CASES(3);
    for (int trial = 0; trial < trials; ++trial) {
        carom_random random = {5000 + (uint64_t)trial};
        recipe r = {.kind = 1, .ratio = 6, .power = trial % 2 == 0 ? 0 : whole(&random, -900, 900)};
        s.segments = trial % 3 == 0;
        scene_make(context, &s, &random, &r, MOST);
        for (int i = 0; i < 10; ++i) {
            carom_ray ray = ray_make(&random, &s, &r);
            carom_hit hit;
            if (usable(&ray)) check(context, &s, &ray, &hit);
        }
        carom_soup_destroy(s.soup);
    }
    carom_context_destroy(context);
}

/* ---- nearest points -------------------------------------------------------------------------- */

/* The promise: 1e-15 of the extent of the point and a face. */
#define TOLERANCE 1e-15

static double far_of(carom_vec3 a, carom_vec3 b) {
    double x = fabs(a.x - b.x), y = fabs(a.y - b.y), z = fabs(a.z - b.z);
    double most = fmax(x, fmax(y, z));
    int e;
    if (most == 0.0 || isinf(most)) return most;
    (void)frexp(most, &e);
    x = ldexp(x, -e), y = ldexp(y, -e), z = ldexp(z, -e);
    return ldexp(sqrt(x * x + y * y + z * z), e);
}

/* Of a point and a face's corners: the distance of those farthest apart. */
static double extent_of(carom_vec3 p, const carom_triangle *t) {
    double extent = 0.0;
    for (int i = 0; i < 3; ++i) {
        extent = fmax(extent, far_of(p, t->corner[i]));
        extent = fmax(extent, far_of(t->corner[(i + 1) % 3], t->corner[i]));
    }
    return extent;
}

/* The lowest of the nearest faces. */
#define DEFINE_NEAREST(big)                                                                        \
    static bool big##_flat(const carom_triangle *t, int base) {                                    \
        big##_hull h = big##_hull_of(t, base);                                                     \
        return big##_hull_dimension(&h) < 2;                                                       \
    }                                                                                              \
    static uint32_t nearest_##big(const scene *s, carom_vec3 point, int base) {                    \
        big##_vec p = big##_vec_of(point, base);                                                   \
        big##_fraction best;                                                                       \
        uint32_t face = CAROM_NONE;                                                                \
        for (uint64_t f = 0; f < s->count; ++f) {                                                  \
            carom_triangle t = triangle_of(s, f);                                                  \
            if (!s->segments && big##_flat(&t, base)) continue;                                    \
            big##_fraction here = big##_near_face(&p, &t, base);                                   \
            if (face != CAROM_NONE && big##_fraction_compare(&here, &best) >= 0) continue;         \
            face = (uint32_t)f;                                                                    \
            best = here;                                                                           \
        }                                                                                          \
        return face;                                                                               \
    }
DEFINE_NEAREST(short)
DEFINE_NEAREST(small)
DEFINE_NEAREST(large)

/* Distance and point of the face named, which is the right one. */
#define DEFINE_CHECK_NEAR(big)                                                                     \
    static const char *near_##big(const scene *s, carom_vec3 point, int base,                      \
                                  const carom_hit *hit) {                                          \
        big##_vec p = big##_vec_of(point, base);                                                   \
        carom_triangle t = triangle_of(s, hit->face);                                              \
        big##_fraction best = big##_near_face(&p, &t, base);                                       \
        double slack = extent_of(point, &t) * TOLERANCE + 0x1p-1073;                               \
        if (big##_root_against(&best, base, hit->distance + slack) > 0) return "too near";         \
        if (big##_root_against(&best, base, hit->distance - slack) < 0) return "too far";          \
        return NULL;                                                                               \
    }                                                                                              \
    static const char *on_face_##big(const scene *s, carom_vec3 point, const carom_hit *hit) {     \
        carom_triangle t = triangle_of(s, hit->face);                                              \
        int base = 1024, top = -1100;                                                              \
        for (int i = 0; i < 3; ++i) span(t.corner[i], &base, &top);                                \
        span(hit->point, &base, &top);                                                             \
        big##_vec p = big##_vec_of(hit->point, base == 1024 ? 0 : base);                           \
        big##_fraction off = big##_near_face(&p, &t, base == 1024 ? 0 : base);                     \
        double most = 0.0;                                                                         \
        for (int i = 0; i < 3; ++i) most = fmax(most, far_of(t.corner[i], (carom_vec3){0, 0, 0})); \
        (void)point;                                                                               \
        double slack = most * TOLERANCE + 0x1p-1073;                                               \
        return big##_root_against(&off, base, slack) > 0 ? "the point is not on the face" : NULL;  \
    }

DEFINE_CHECK_NEAR(small)
DEFINE_CHECK_NEAR(large)

static void check_near(carom_context *context, const scene *s, carom_vec3 point) {
    int base = 1024, top = -1100;
    carom_hit hit;
    for (uint64_t i = 0; i < 3 * s->count; ++i) span(s->positions[i], &base, &top);
    span(point, &base, &top);
    if (base == 1024) base = 0;
    assert_ok(context, carom_soup_closest_points(context, s->soup, &point, 1, &hit));
    bool narrow = top - base < 320;
    uint32_t face = top - base < SHORT_DIGITS ? nearest_short(s, point, base)
                    : narrow                  ? nearest_small(s, point, base)
                                              : nearest_large(s, point, base);
    const char *wrong = NULL;
    if (hit.face != face)
        wrong = "another face is the nearest, or the lowest of these";
    else if (face == CAROM_NONE)
        wrong = isinf(hit.distance) ? NULL : "nothing is not infinitely far";
    else
        wrong = narrow ? near_small(s, point, base, &hit) : near_large(s, point, base, &hit);
    if (wrong == NULL && face != CAROM_NONE)
        wrong = narrow ? on_face_small(s, point, &hit) : on_face_large(s, point, &hit);
    if (wrong != NULL)
        fail_msg("%s: point %a %a %a: face %u, %a away, at %a %a %a, of %llu faces; the first "
                 "%a %a %a, %a %a %a, %a %a %a",
                 wrong, point.x, point.y, point.z, hit.face, hit.distance, hit.point.x, hit.point.y,
                 hit.point.z, (unsigned long long)s->count, s->positions[0].x, s->positions[0].y,
                 s->positions[0].z, s->positions[1].x, s->positions[1].y, s->positions[1].z,
                 s->positions[2].x, s->positions[2].y, s->positions[2].z);
}

static void the_nearest_is_exact_at_every_scale(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static scene s;
    uint64_t trials = campaign_is_long() ? 60000 : TEST_CASES(300);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {2000000 + trial};
        recipe r = recipe_make(&random, (int)(trial % 120));
        s.segments = whole(&random, 0, 1) == 1;
        scene_make(context, &s, &random, &r, (uint64_t)whole(&random, 1, 8));
        for (int i = 0; i < 10; ++i) {
            carom_ray ray = ray_make(&random, &s, &r); /* its origin */
            if (usable(&ray)) check_near(context, &s, ray.origin);
        }
        carom_soup_destroy(s.soup);
    }
    carom_context_destroy(context);
}

static void the_nearest_is_exact_across_scales(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static scene s;
    uint64_t trials = campaign_is_long() ? 2000 : TEST_CASES(8);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {3000000 + trial};
        s.segments = trial % 2 == 1;
        s.count = 3;
        for (uint64_t i = 0; i < 3 * s.count; ++i) {
            int power = whole(&random, 0, 3) == 0 ? whole(&random, -1074, 1010) : 0;
            s.positions[i] = scaled(vector(&random, i % 2 == 0 ? 0 : 1), power, (carom_vec3){0});
        }
        scene_prepare(context, &s);
        for (int i = 0; i < 3; ++i)
            check_near(context, &s,
                       scaled(vector(&random, 1), whole(&random, -1074, 1010), (carom_vec3){0}));
        carom_soup_destroy(s.soup);
    }
    carom_context_destroy(context);
}

/* Mirrored, with the axes in another order, or as it is: equally far from points with x = 0, from
 * points with x = y = z, from all. */
static carom_vec3 alike(carom_vec3 v, int how) {
    if (how == 0) return (carom_vec3){-v.x, v.y, v.z};
    if (how == 1) return (carom_vec3){v.y, v.z, v.x};
    return v;
}

/* Faces many of which are equally far from many points: copies, mirror images, neighbours at an
 * edge or at a corner. */
static void make_ties(carom_context *context, scene *s, carom_random *random, const recipe *r,
                      uint64_t count) {
    s->count = count;
    for (uint64_t f = 0; f < count; ++f) {
        carom_vec3 *p = s->positions + 3 * f;
        int how = f == 0 ? 6 : whole(random, 0, 6), turn = whole(random, 0, 2);
        const carom_vec3 *old = f == 0 ? p : s->positions + 3 * (carom_random_next(random) % f);
        for (int i = 0; i < 3; ++i) p[i] = vector(random, r->kind);
        if (r->kind == 2) p[2] = along(p[0], p[1], carom_random_between(random, 0.0, 1.0));
        if (how <= 2)
            for (int i = 0; i < 3; ++i) p[i] = alike(old[(i + turn) % 3], how);
        if (how == 3 || how == 4) p[0] = old[(turn + 1) % 3], p[1] = old[turn];
        if (how == 5) p[turn] = old[whole(random, 0, 2)];
        if (whole(random, 0, 11) == 0) p[2] = p[whole(random, 0, 1)];
    }
    for (uint64_t i = 0; i < 3 * count; ++i)
        s->positions[i] = scaled(s->positions[i], r->power, r->offset);
    scene_prepare(context, s);
}

/* On a symmetry plane, on a face, or beyond a corner or an edge. */
static carom_vec3 tied_point(carom_random *random, const scene *s, const recipe *r) {
    carom_vec3 v = vector(random, r->kind), to = target(random, s), from = target(random, s);
    switch (whole(random, 0, 5)) {
    case 0:
        return scaled((carom_vec3){0, v.y, v.z}, r->power, r->offset);
    case 1:
        return scaled((carom_vec3){v.x, v.x, v.x}, r->power, r->offset);
    case 2:
        return to;
    case 3:
        return along(from, to, whole(random, 2, 5));
    case 4: /* a whole or half step beside it, often along a normal */
        v = (carom_vec3){whole(random, -1, 1), whole(random, -1, 1), whole(random, -2, 2)};
        v = scaled(v, r->power - 1, (carom_vec3){0, 0, 0});
        return (carom_vec3){to.x + v.x, to.y + v.y, to.z + v.z};
    default:
        return scaled(v, r->power + whole(random, 0, 60), r->offset);
    }
}

static void ties_take_the_lowest_face_at_every_scale(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static scene s;
    uint64_t trials = campaign_is_long() ? 60000 : TEST_CASES(400);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {7000000 + trial};
        recipe r = recipe_make(&random, (int)(trial % 120));
        if (r.power > 900) r.power = 900;
        if (trial % 3 != 0) r.offset = (carom_vec3){0, 0, 0};
        s.segments = whole(&random, 0, 1) == 1;
        make_ties(context, &s, &random, &r, (uint64_t)whole(&random, 2, trial % 50 == 0 ? 60 : 9));
        for (int i = 0; i < 10; ++i) check_near(context, &s, tied_point(&random, &s, &r));
        carom_soup_destroy(s.soup);
    }
    carom_context_destroy(context);
}

/* ---- two soups ------------------------------------------------------------------------------- */

static bool takes_part(carom_context *context, const scene *s, const carom_triangle *t) {
    if (s->segments) return true;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        int sign;
        assert_ok(context, carom_points_orient_2d(context, t->corner, axis, &sign));
        if (sign != 0) return true;
    }
    return false;
}

/* The least of carom_triangles_distance, 0 when any two meet; the extent is that of the two soups.
 */
static double least_distance(carom_context *context, const scene *a, const scene *b,
                             double *extent) {
    double least = HUGE_VAL;
    *extent = 0.0;
    for (uint64_t f = 0; f < a->count; ++f) {
        carom_triangle t = triangle_of(a, f);
        if (!takes_part(context, a, &t)) continue;
        for (uint64_t g = 0; g < b->count; ++g) {
            carom_triangle u = triangle_of(b, g);
            carom_closest closest;
            bool meet;
            if (!takes_part(context, b, &u)) continue;
            assert_ok(context, carom_triangles_meet(context, &t, &u, &meet));
            assert_ok(context, carom_triangles_distance(context, &t, &u, &closest));
            least = fmin(least, meet ? 0.0 : closest.distance);
            for (int i = 0; i < 3; ++i) *extent = fmax(*extent, extent_of(u.corner[i], &t));
        }
    }
    return least;
}

static void soups_are_as_far_apart_as_their_faces(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    static scene s[2];
    uint64_t trials = campaign_is_long() ? 100000 : TEST_CASES(1000);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        if (!campaign_has(trial)) continue;
        carom_random random = {4000000 + trial};
        recipe r = recipe_make(&random, (int)(trial % 120)), q = r;
        if (r.power > 950) r.power = 950;
        /* The second may be much smaller, and far from the first. */
        q.power = r.power - (trial % 2 == 0 ? whole(&random, 0, 60) : 0);
        double away = trial % 3 == 0 ? ldexp(1.0, whole(&random, 0, 60)) : 0.0;
        if (q.power != r.power) q.offset = (carom_vec3){0, 0, 0};
        q.offset.x += away;
        s[0].segments = s[1].segments = trial % 2 == 0;
        s[0].rigid = trial % 7 < 3;
        s[1].rigid = trial % 5 < 2;
        scene_make(context, &s[0], &random, &r, (uint64_t)whole(&random, 1, 6));
        scene_make(context, &s[1], &random, &q, (uint64_t)whole(&random, 1, 6));
        double extent, least = least_distance(context, &s[0], &s[1], &extent);
        carom_soup_gap gap;
        assert_ok(context,
                  carom_soup_cross_distance(context, s[0].soup, NULL, s[1].soup, NULL, 0.0, &gap));
        bool good = isinf(least) ? isinf(gap.distance)
                                 : fabs(gap.distance - least) <= 2 * TOLERANCE * extent;
        if (!good || (least == 0.0) != (gap.distance == 0.0))
            fail_msg("trial %llu: %a, not %a; extent %a", (unsigned long long)trial, gap.distance,
                     least, extent);
        carom_soup_destroy(s[0].soup);
        carom_soup_destroy(s[1].soup);
    }
    carom_context_destroy(context);
}

/* Closed soups of whole numbers wind around a point alike at every scale. */
static void windings_do_not_depend_on_the_scale(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const uint32_t corners[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
    uint64_t trials = campaign_is_long() ? 20000 : TEST_CASES(1000);
    for (uint64_t trial = 0; trial < trials; ++trial) {
        carom_random random = {6000000 + trial};
        carom_vec3 p[4], points[8], moved[4], moved_points[8];
        int32_t windings[2][8];
        int power = trial % 4 == 0 ? -1074 : whole(&random, -1074, 960);
        double reach = trial % 3 == 0 ? ldexp(1.0, whole(&random, 3, 50)) : 0.0;
        carom_vec3 offset = {reach, 0, -reach};
        for (int i = 0; i < 4; ++i) p[i] = vector(&random, 0);
        for (int i = 0; i < 8; ++i) points[i] = vector(&random, 0);
        if (trial % 5 == 0) points[0].z = -ldexp(1.0, whole(&random, 0, 60));
        if (trial % 5 == 1) points[0].x = ldexp(1.0, whole(&random, 0, 60));
        for (int i = 0; i < 4; ++i) moved[i] = scaled(p[i], power, offset);
        for (int i = 0; i < 8; ++i) moved_points[i] = scaled(points[i], power, offset);
        for (int run = 0; run < 2; ++run) {
            carom_soup *soup;
            carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = run == 0 ? p : moved,
                                                             .vertex_count = 4,
                                                             .corners = corners,
                                                             .face_count = 4}};
            assert_ok(context, carom_soup_create(context, &def, &soup));
            assert_ok(context, carom_soup_winding(context, soup, run == 0 ? points : moved_points,
                                                  8, windings[run]));
            carom_soup_destroy(soup);
        }
        /* Of points that the offset rounds only the sides far away are the same. */
        for (int i = trial % 5 <= 1 && reach > 0.0 ? 1 : 0; i < 8; ++i)
            assert_int_equal(windings[0][i], windings[1][i]);
    }
    carom_context_destroy(context);
}

/* ---- single cases ---------------------------------------------------------------------------- */

static carom_hit cast_one(carom_context *context, const double *positions, uint64_t faces,
                          carom_ray ray, carom_soup_degenerate degenerate) {
    uint32_t corners[12];
    carom_soup *soup;
    carom_hit hit;
    for (uint32_t i = 0; i < 3 * faces; ++i) corners[i] = i;
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = positions,
                                                     .vertex_count = 3 * faces,
                                                     .corners = corners,
                                                     .face_count = faces},
                          .degenerate = degenerate};
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_soup_cast_rays(context, soup, &ray, 1, &hit));
    carom_soup_destroy(soup);
    return hit;
}

static void the_scale_does_not_matter(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (int power = -1074; power <= 1020; ++power) {
        double k = ldexp(1.0, power);
        double p[18] = {0, 0, 2 * k, 4 * k, 0, 2 * k, 0, 4 * k, 2 * k,
                        0, 0, k,     4 * k, 0, k,     0, 4 * k, k};
        carom_ray ray = {.origin = {k, k, 0}, .direction = {0, 0, k}};
        carom_hit hit = cast_one(context, p, 2, ray, CAROM_SOUP_DEGENERATE_ALONE);
        assert_int_equal(hit.face, 1);
        assert_true(hit.distance == 1.0);
        assert_true(hit.point.x == k && hit.point.y == k && hit.point.z == k);
    }
    carom_context_destroy(context);
}

static void the_length_of_the_direction_does_not_matter(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const double p[18] = {1.01, -1, -1, 1.01, 3, -1, 1.01, -1, 3,
                                 1,    -1, -1, 1,    3, -1, 1,    -1, 3};
    for (int power = -1074; power <= 1023; ++power) {
        double d = ldexp(1.0, power);
        carom_ray ray = {.direction = {d, 0, 0}};
        carom_hit hit = cast_one(context, p, 2, ray, CAROM_SOUP_DEGENERATE_ALONE);
        assert_int_equal(hit.face, 1);
        assert_true(hit.distance == 1.0 / d); /* infinite where that is beyond the doubles */
        assert_true(hit.point.x == 1.0 && hit.point.y == 0.0 && hit.point.z == 0.0);
    }
    carom_context_destroy(context);
}

/* The line goes through the direction as given, not through the double origin + direction. */
static void the_direction_is_not_rounded(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const double p[9] = {0, 1, -1, 3, 1, -1, 0, 1, 3};
    carom_ray ray = {.origin = {0x1p53, 0, 0}, .direction = {-1, 0x1p-54, 0}, .length = 0x1p54};
    carom_hit hit = cast_one(context, p, 1, ray, CAROM_SOUP_DEGENERATE_ALONE);
    assert_int_equal(hit.face, CAROM_NONE); /* x is 2^53 - 2^54 where y is 1 */
    ray.direction.y = 0x1p-53;
    hit = cast_one(context, p, 1, ray, CAROM_SOUP_DEGENERATE_ALONE);
    assert_int_equal(hit.face, 0);
    assert_true(hit.distance == 0x1p53 && hit.point.x == 0.0 && hit.point.y == 1.0);
    carom_context_destroy(context);
}

static void origins_may_be_far_away(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const double p[18] = {1, -1, -1, 1, 3, -1, 1, -1, 3, 0, -1, -1, 0, 3, -1, 0, -1, 3};
    for (int power = 2; power <= 1023; ++power) {
        double far = ldexp(1.0, power);
        carom_ray ray = {.origin = {far, 0, 0}, .direction = {-far, 0, 0}};
        carom_hit hit = cast_one(context, p, 2, ray, CAROM_SOUP_DEGENERATE_ALONE);
        assert_int_equal(hit.face, 0);
        assert_true(hit.distance == (power <= 53 ? 1.0 - 1.0 / far : 1.0));
        assert_true(hit.point.x == 1.0 && hit.point.y == 0.0 && hit.point.z == 0.0);
    }
    carom_context_destroy(context);
}

static void segments_and_points_are_met(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const double p[18] = {0, 0, 0, 2, 0, 0, 1, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    carom_ray across = {.origin = {1.5, 1, 0}, .direction = {0, -1, 0}};
    carom_ray inside = {.origin = {3, 0, 0}, .direction = {-0.5, 0, 0}};
    carom_ray off = {.origin = {1.5, 1, 0x1p-1074}, .direction = {0, -1, 0}};
    carom_ray at_point = {.direction = {0x1p-1074, 0x1p-1074, 0x1p-1074}};
    carom_hit hit = cast_one(context, p, 2, across, CAROM_SOUP_DEGENERATE_AS_SEGMENT);
    assert_true(hit.face == 0 && hit.distance == 1.0 && hit.point.x == 1.5 && hit.point.y == 0.0);
    hit = cast_one(context, p, 2, inside, CAROM_SOUP_DEGENERATE_AS_SEGMENT);
    assert_true(hit.face == 0 && hit.distance == 2.0 && hit.point.x == 2.0);
    hit = cast_one(context, p, 2, off, CAROM_SOUP_DEGENERATE_AS_SEGMENT);
    assert_int_equal(hit.face, CAROM_NONE);
    at_point.origin = (carom_vec3){0x1p-1074, 0x1p-1074, 0x1p-1074};
    hit = cast_one(context, p, 2, at_point, CAROM_SOUP_DEGENERATE_AS_SEGMENT);
    assert_true(hit.face == 1 && isinf(hit.distance) && hit.point.x == 5.0);
    assert_int_equal(cast_one(context, p, 2, across, CAROM_SOUP_DEGENERATE_ALONE).face, CAROM_NONE);
    carom_context_destroy(context);
}

/* Faces within rounding of a segment, met in a corner at t = 1, before a plain one at t = 2. */
static void slivers_are_met_where_they_are(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {77};
    int cast = 0;
    for (int trial = 0; trial < 20000 && cast < 400; ++trial) {
        static scene s;
        carom_vec3 o = {-1, -2, -3}, *p = s.positions;
        p[0] = vector(&random, 1);
        p[1] = vector(&random, 1);
        p[2] = along(p[0], p[1], carom_random_between(&random, 0, 1));
        carom_vec3 d = {p[2].x - o.x, p[2].y - o.y, p[2].z - o.z};
        if (o.x + d.x != p[2].x || o.y + d.y != p[2].y || o.z + d.z != p[2].z) continue;
        if (trial % 2 == 0) { /* exactly: differences of numbers that far apart need not be */
            double x = d.x + o.x, y = d.y + o.y, z = d.z + o.z;
            if (x - d.x != o.x || y - d.y != o.y || z - d.z != o.z) continue;
        }
        double q[3] = {o.x + 2 * d.x, o.y + 2 * d.y, o.z + 2 * d.z};
        p[3] = (carom_vec3){q[0] - 5, q[1] - 5, q[2]};
        p[4] = (carom_vec3){q[0] + 9, q[1] - 5, q[2]};
        p[5] = (carom_vec3){q[0] - 5, q[1] + 9, q[2]};
        s.count = 2;
        s.segments = false;
        scene_prepare(context, &s);
        carom_ray ray = {.origin = o, .direction = d};
        carom_hit hit;
        check(context, &s, &ray, &hit);
        ray.length = 0.75;
        check(context, &s, &ray, &hit);
        assert_int_equal(hit.face, CAROM_NONE);
        carom_soup_destroy(s.soup);
        ++cast;
    }
    assert_int_equal(cast, 400);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_are_exact_at_every_scale),
        cmocka_unit_test(rays_are_exact_across_scales),
        cmocka_unit_test(large_soups_are_searched_rightly),
        cmocka_unit_test(the_nearest_is_exact_at_every_scale),
        cmocka_unit_test(the_nearest_is_exact_across_scales),
        cmocka_unit_test(ties_take_the_lowest_face_at_every_scale),
        cmocka_unit_test(soups_are_as_far_apart_as_their_faces),
        cmocka_unit_test(windings_do_not_depend_on_the_scale),
        cmocka_unit_test(the_scale_does_not_matter),
        cmocka_unit_test(the_length_of_the_direction_does_not_matter),
        cmocka_unit_test(the_direction_is_not_rounded),
        cmocka_unit_test(origins_may_be_far_away),
        cmocka_unit_test(segments_and_points_are_met),
        cmocka_unit_test(slivers_are_met_where_they_are),
    };
    return cmocka_run_group_tests_name("soup scale", tests, NULL, NULL);
}
