/* SPDX-License-Identifier: MIT */
/* The first face of a ray, and all of them, at every scale: against rational numbers.
 *
 * A ray is origin + t direction, without any rounding. For each ray the oracle solves for t with
 * each face and takes the least, the lowest face where several are met at once; for all faces it
 * sorts them. One thread. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scale_case.h"

#define RAYS_PER_SOUP 12

/* Is x the double nearest to a, or one of both? Infinite where a is too large. */
static bool is_rounded(double x, ratio a) {
    double near = ratio_show(a);
    if (isinf(near) || near == DBL_MAX || near == -DBL_MAX)
        return fabs(x) >= DBL_MAX && (x > 0.0) == (near > 0.0);
    return isfinite(x) && ratio_within(x, a, number_mul(number_power(-1), number_ulp(near)));
}

typedef struct truth {
    uint32_t face;
    ratio t;
} truth;

/* Whether the ray meets a face within its length, and where. */
static bool meets_within(const carom_ray *ray, const number3 *origin, const number3 *direction,
                         const exact_triangle *triangle, bool segments, ratio *t) {
    if (!triangle->has_area && !segments) return false;
    if (!exact_ray_meets(*origin, *direction, triangle, t)) return false;
    return !(ray->length > 0.0) ||
           number_compare(t->top, number_mul(number_of(ray->length), t->bottom)) <= 0;
}

static truth first_face(const carom_ray *ray, const exact_triangle *triangles, uint32_t count,
                        bool segments) {
    truth best = {.face = CAROM_NONE};
    number3 origin = number3_of(ray->origin), direction = number3_of(ray->direction);
    for (uint32_t i = 0; i < count; ++i) {
        ratio t;
        if (!meets_within(ray, &origin, &direction, &triangles[i], segments, &t)) continue;
        if (best.face != CAROM_NONE && ratio_compare(t, best.t) >= 0) continue;
        best = (truth){i, t};
    }
    return best;
}

/* All faces that a ray meets, sorted by insertion. */
static uint32_t all_faces(const carom_ray *ray, const exact_triangle *triangles, uint32_t count,
                          bool segments, truth *found) {
    number3 origin = number3_of(ray->origin), direction = number3_of(ray->direction);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
        ratio t;
        if (!meets_within(ray, &origin, &direction, &triangles[i], segments, &t)) continue;
        uint32_t at = n++;
        for (; at > 0 && ratio_compare(t, found[at - 1].t) < 0; --at) found[at] = found[at - 1];
        found[at] = (truth){i, t};
    }
    return n;
}

static bool point_right(const carom_ray *ray, ratio t, carom_vec3 point) {
    number3 o = number3_of(ray->origin), d = number3_of(ray->direction);
    const double x[3] = {point.x, point.y, point.z};
    for (int k = 0; k < 3; ++k) {
        number top = number_add(number_mul(o.x[k], t.bottom), number_mul(d.x[k], t.top));
        if (!is_rounded(x[k], ratio_of(top, t.bottom))) return false;
    }
    return true;
}

static void check_hit(scale_case *c, const char *kind, const carom_ray *ray, const truth *right,
                      const carom_hit *hit) {
#define RAY_FORMAT " (%s soup, origin %a %a %a direction %a %a %a length %a)"
#define RAY_VALUES                                                                                 \
    kind, ray->origin.x, ray->origin.y, ray->origin.z, ray->direction.x, ray->direction.y,         \
        ray->direction.z, ray->length
    if (right->face == CAROM_NONE) {
        scale_expect(c, hit->face == CAROM_NONE, "face %u at %.17g where none is" RAY_FORMAT,
                     hit->face, hit->distance, RAY_VALUES);
        return;
    }
    double t = ratio_show(right->t);
    if (!scale_expect(c, hit->face == right->face, "face %d at %.17g, right %u at %.17g" RAY_FORMAT,
                      (int)hit->face, hit->distance, right->face, t, RAY_VALUES))
        return;
    bool near = is_rounded(hit->distance, right->t);
    scale_expect(c, near, "t %.17g, right %.17g" RAY_FORMAT, hit->distance, t, RAY_VALUES);
    scale_expect(c, point_right(ray, right->t, hit->point),
                 "point %.17g %.17g %.17g at t %.17g" RAY_FORMAT, hit->point.x, hit->point.y,
                 hit->point.z, t, RAY_VALUES);
}

/* All hits are those of the oracle, and the first is that of carom_soup_cast_rays. */
static void check_all(scale_case *c, const char *kind, const carom_soup *prepared,
                      const carom_ray *ray, const exact_triangle *triangles, uint32_t count,
                      bool segments, const carom_hit *first) {
    static truth right[SCALE_MOST_FACES];
    carom_soup_ray_hits hits = {0};
    uint32_t n = all_faces(ray, triangles, count, segments, right);
    if (!scale_ok(c, carom_soup_query_rays(c->context, prepared, ray, 1, &hits))) return;
    if (scale_expect(c, hits.count == n, "%u faces, right %u" RAY_FORMAT, (unsigned)hits.count, n,
                     RAY_VALUES))
        for (uint32_t i = 0; i < n; ++i) {
            const carom_soup_ray_hit *h = &hits.data[i];
            carom_hit hit = {0, h->face, h->distance, h->point, h->normal, 0.0};
            scale_expect(c, h->ray == 0, "ray %u", h->ray);
            check_hit(c, kind, ray, &right[i], &hit);
            if (i == 0)
                scale_expect(c, memcmp(&hit, first, sizeof(hit)) == 0,
                             "the first of all hits is another one" RAY_FORMAT, RAY_VALUES);
        }
    carom_soup_ray_hits_free(&hits);
}

/* ---- rays ------------------------------------------------------------------------------------ */

static carom_vec3 near_point(scale_case *c, const scale_soup *soup) {
    carom_vec3 corner[3], p;
    scale_corners(soup, scale_below(c, soup->faces), corner);
    p = corner[scale_below(c, 3)];
    if (scale_one_in(c, 3)) return p;
    int reach = scale_one_in(c, 2) ? 4 : 1 << scale_between(c, 1, 12);
    double unit = ldexp(1.0, soup->unit);
    p.x += unit * scale_between(c, -reach, reach);
    p.y += unit * scale_between(c, -reach, reach);
    p.z += unit * scale_between(c, -reach, reach);
    return p;
}

/* A corner, the middle of an edge, a point of the lattice, near the middle of a face. */
static carom_vec3 target(scale_case *c, const scale_soup *soup) {
    carom_vec3 corner[3];
    scale_corners(soup, scale_below(c, soup->faces), corner);
    switch (scale_below(c, 4)) {
    case 0:
        return corner[0];
    case 1:
        return (carom_vec3){corner[1].x + 0.5 * (corner[2].x - corner[1].x),
                            corner[1].y + 0.5 * (corner[2].y - corner[1].y),
                            corner[1].z + 0.5 * (corner[2].z - corner[1].z)};
    case 2:
        return near_point(c, soup);
    default:
        return (carom_vec3){
            corner[0].x + 0.5 * (corner[1].x - corner[0].x) + 0.25 * (corner[2].x - corner[0].x),
            corner[0].y + 0.5 * (corner[1].y - corner[0].y) + 0.25 * (corner[2].y - corner[0].y),
            corner[0].z + 0.5 * (corner[1].z - corner[0].z) + 0.25 * (corner[2].z - corner[0].z)};
    }
}

static bool is_finite(carom_vec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static carom_ray make_ray(scale_case *c, const scale_soup *soup, bool any_length) {
    carom_ray ray = {.origin = near_point(c, soup)};
    if (scale_one_in(c, 6)) { /* from afar */
        int k = soup->unit + scale_between(c, 3, 50);
        ray.origin.x += ldexp((double)scale_between(c, -2, 2), k);
        ray.origin.y += ldexp((double)scale_between(c, -2, 2), k);
        ray.origin.z += ldexp((double)scale_between(c, -2, 2), k);
    }
    carom_vec3 to = target(c, soup);
    carom_vec3 way = {to.x - ray.origin.x, to.y - ray.origin.y, to.z - ray.origin.z};
    if (scale_one_in(c, 4)) /* along an axis or a diagonal */
        way = (carom_vec3){ldexp(scale_between(c, -1, 1), soup->unit),
                           ldexp(scale_between(c, -1, 1), soup->unit),
                           ldexp(scale_between(c, -1, 1), soup->unit)};
    ray.direction = way;
    for (int attempt = 0; any_length && attempt < 30; ++attempt) {
        double most = fmax(fabs(way.x), fmax(fabs(way.y), fabs(way.z)));
        if (most == 0.0) break;
        if (!isfinite(most)) break;
        int k = scale_exponent(c, -1074, 1000) - ilogb(most);
        if (!scale_vec_exact(way, k)) continue;
        ray.direction = scale_vec(way, k);
        break;
    }
    if (any_length && scale_one_in(c, 8)) { /* components of any size */
        ray.direction.x = ldexp(scale_between(c, -3, 3), scale_exponent(c, -1074, 1000));
        ray.direction.y = ldexp(scale_between(c, -3, 3), scale_exponent(c, -1074, 1000));
        if (scale_one_in(c, 2))
            ray.direction.z = ldexp(scale_between(c, -3, 3), scale_exponent(c, -1074, 1000));
    }
    if (any_length && scale_one_in(c, 16)) { /* from very far, straight at a point */
        int axis = (int)scale_below(c, 3);
        double far = ldexp(scale_one_in(c, 2) ? 1.0 : -1.0, scale_between(c, soup->unit, 1010));
        carom_vec3 at = target(c, soup);
        ray.origin = at;
        ray.direction = (carom_vec3){0.0, 0.0, 0.0};
        *(axis == 0 ? &ray.origin.x : axis == 1 ? &ray.origin.y : &ray.origin.z) = far;
        *(axis == 0   ? &ray.direction.x
          : axis == 1 ? &ray.direction.y
                      : &ray.direction.z) =
            ldexp(far < 0.0 ? 1.0 : -1.0, scale_exponent(c, -1074, 1000));
    }
    if (ray.direction.x == 0.0 && ray.direction.y == 0.0 && ray.direction.z == 0.0)
        ray.direction.x = ldexp(1.0, any_length ? scale_exponent(c, -1074, 1000) : soup->unit);
    return ray;
}

static void cast_all(scale_case *c, const scale_soup *soup, bool segments, bool any_length) {
    carom_mesh_view view = scale_view(soup);
    carom_soup_def def = {.mesh = &view,
                          .degenerate = segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                 : CAROM_SOUP_DEGENERATE_ALONE};
    carom_soup *prepared = NULL;
    if (scale_replays()) scale_print_mesh("soup", &view, NULL);
    if (!scale_ok(c, carom_soup_create(c->context, &def, &prepared))) return;
    static exact_triangle triangles[SCALE_MOST_FACES];
    for (uint32_t i = 0; i < soup->faces; ++i) {
        carom_vec3 corner[3];
        scale_corners(soup, i, corner);
        triangles[i] = exact_triangle_of(corner);
    }
    for (int i = 0; i < RAYS_PER_SOUP; ++i) {
        carom_ray ray = make_ray(c, soup, any_length);
        if (!is_finite(ray.origin) || !is_finite(ray.direction)) continue;
        truth right = first_face(&ray, triangles, soup->faces, segments);
        if (right.face != CAROM_NONE && scale_one_in(c, 4)) {
            /* The length ends at the face, just before it or just behind. */
            double t = ratio_show(right.t);
            int which = scale_between(c, -1, 1);
            if (which != 0) t = nextafter(t, which < 0 ? 0.0 : HUGE_VAL);
            if (isfinite(t) && t > 0.0) {
                ray.length = t;
                right = first_face(&ray, triangles, soup->faces, segments);
            }
        }
        carom_hit hit = {0};
        if (scale_ok(c, carom_soup_cast_rays(c->context, prepared, &ray, 1, &hit)))
            check_hit(c, soup->kind, &ray, &right, &hit);
        check_all(c, soup->kind, prepared, &ray, triangles, soup->faces, segments, &hit);
    }
    carom_soup_destroy(prepared);
}

/* ---- properties ------------------------------------------------------------------------------ */

static void ordinary(scale_case *c) {
    scale_soup soup;
    scale_make_soup(c, SCALE_FEW_FACES, &soup);
    cast_all(c, &soup, false, false);
}

static void all_scales(scale_case *c) {
    scale_soup soup;
    scale_make_soup(c, SCALE_FEW_FACES, &soup);
    scale_move_soup(c, &soup);
    cast_all(c, &soup, false, true);
}

static void many(scale_case *c) {
    scale_soup soup;
    scale_make_soup(c, SCALE_MOST_FACES, &soup);
    scale_move_soup(c, &soup);
    cast_all(c, &soup, scale_one_in(c, 2), true);
}

static void segments(scale_case *c) {
    scale_soup soup;
    scale_make_soup(c, 8, &soup);
    for (uint32_t f = 0; f < soup.faces; ++f) {
        uint32_t *corners = &soup.corners[3 * f];
        if (scale_one_in(c, 2)) corners[2] = corners[scale_below(c, 2)];
        if (scale_one_in(c, 6)) corners[2] = corners[1] = corners[0];
    }
    scale_move_soup(c, &soup);
    cast_all(c, &soup, true, true);
}

static void test_ordinary(void **state) {
    (void)state;
    scale_run("rays-ordinary", ordinary, 400, 100);
}

static void test_all_scales(void **state) {
    (void)state;
    scale_run("rays-scales", all_scales, 800, 100);
}

static void test_many(void **state) {
    (void)state;
    scale_run("rays-many", many, 60, 100);
}

static void test_segments(void **state) {
    (void)state;
    scale_run("rays-segments", segments, 400, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary),
        cmocka_unit_test(test_all_scales),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
