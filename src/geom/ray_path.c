/* SPDX-License-Identifier: MIT */
/* Rays moved along themselves without rounding. */
#include "geom/ray_path.h"

#include <float.h>

#include "geom/expansion.h"
#include "geom/length.h"
#include "geom/scale.h"

/* Lengths are scaled below 2^900, and to at least 2^-900 where that leaves a choice: then sums and
 * products of two do not overflow, and what underflows is below 2^-1060. */
#define HIGHEST_EXPONENT 900
/* Share of the distance to a centre that is left along the ray where the line passes it: the way is
 * then across the ray, to 2^-20. */
#define PASSING_SHARE 0x1p-20
/* Of an approach; the caller may add one. */
#define MOST_MOVES (CAROM_RAY_MOVES - 1)

static int exponent_of(double size) {
    return carom_scale_range_add(carom_scale_range_empty(), size).high;
}

void carom_ray_path_begin(carom_ray_path *path, const carom_ray *ray, carom_vec3 position,
                          double size) {
    double far = CAROM_MAX(carom_vec_largest(ray->origin), carom_vec_largest(position));
    int highest = far > 0.0 ? HIGHEST_EXPONENT - exponent_of(far) : INT32_MAX;
    int wanted = size > 0.0 ? -exponent_of(size) : far > 0.0 ? highest : 0;
    path->unit = CAROM_MIN(wanted, highest);
    path->speed = exponent_of(carom_vec_largest(ray->direction));
    path->direction = carom_vec_scaled(ray->direction, -path->speed);
    path->count = 0;
    carom_vec3 a = carom_vec_scaled(ray->origin, path->unit),
               b = carom_vec_scaled(position, path->unit);
    path->length[0] = carom_expansion_diff(a.x, b.x, path->point[0]);
    path->length[1] = carom_expansion_diff(a.y, b.y, path->point[1]);
    path->length[2] = carom_expansion_diff(a.z, b.z, path->point[2]);
}

/* Adds s d to an expansion. */
static int ray_path_advance(double *point, int length, double s, double d) {
    double by[2], sum[2 * CAROM_RAY_MOVES + 2], high, low;
    carom_two_product(s, d, &high, &low);
    by[0] = low == 0.0 ? high : low;
    by[1] = high;
    int count = carom_expansion_sum(point, length, by, low == 0.0 ? 1 : 2, sum);
    for (int i = 0; i < count; ++i) point[i] = sum[i];
    return count;
}

void carom_ray_path_move(carom_ray_path *path, double s) {
    CAROM_ASSERT(path->count < CAROM_RAY_MOVES);
    const double d[3] = {path->direction.x, path->direction.y, path->direction.z};
    for (int k = 0; k < 3; ++k)
        path->length[k] = ray_path_advance(path->point[k], path->length[k], s, d[k]);
    path->moves[path->count++] = s;
}

carom_vec3 carom_ray_path_point(const carom_ray_path *path) {
    double p[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < path->length[k]; ++i) p[k] += path->point[k][i];
    return carom_vec(p[0], p[1], p[2]);
}

bool carom_ray_path_approach(carom_ray_path *path, carom_vec3 centre, double radius) {
    carom_vec3 d = path->direction;
    double square = carom_vec_dot(d, d); /* in [1/4, 3) */
    CAROM_ASSERT(radius >= CAROM_RAY_LEAST_RADIUS);
    for (;;) {
        carom_vec3 from = carom_vec_sub(carom_ray_path_point(path), centre);
        double far = carom_length(from), along = carom_vec_dot(from, d);
        if (far > 2.0 * radius && fabs(along) <= PASSING_SHARE * far) return false;
        if (fabs(along) <= 0.125 * radius || path->count == MOST_MOVES) return true;
        carom_ray_path_move(path, -along / square);
    }
}

double carom_ray_path_t(const carom_ray_path *path, double s) {
    for (int i = path->count - 1; i >= 0; --i) s += path->moves[i];
    double t = carom_scale_apply(s, -(path->unit + path->speed));
    return CAROM_MIN(t, DBL_MAX);
}
