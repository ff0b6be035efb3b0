/* SPDX-License-Identifier: MIT */
/* ray_item.h: the first point in which a ray meets a triangle, a segment or a point.
 *
 * The ray is origin + t direction, t >= 0, for any finite doubles but a zero direction. Which
 * triangles it meets, touching included, which of two it meets first, and where: all are exact, and
 * what is returned is rounded once.
 *
 * Filter. The points are seen in a frame x scale - shift in which they are neither huge nor tiny
 * (that of a soup's boxes), from a start on the ray that is not far from them. The largest
 * component of the direction becomes 1 and the plane across it is sheared along the ray, so that
 * the ray is the point 0 there; then twice the areas of 0 and each edge say on which side of the
 * edges the ray passes (Woop, Benthin, Wald, "Watertight ray/triangle intersection", 2013), and
 * they are the weights of the corners at the point that is hit. With e = 2^-53 and M the largest
 * component of a corner seen from the start:
 *   a sheared coordinate   is off by 8.2 e M and what the frame is off by: delta = 16 e M + error;
 *   an area                by 4 delta E + 2 delta^2 + 6 e E^2 <= 8 delta (E + delta) = area_error
 *                          for sheared coordinates up to E, as E <= 2 M;
 *   the advance            the coordinate along the largest component: weights that are off by
 *                          6.4 area_error / total move it by 16 area_error / total of the corners'
 *                          range at most, where the total is beyond 8 area_error; its own roundings
 *                          are below 8 e M. Else it is within the range of the corners.
 * 2^-960 stands for all that underflows: no number here is above 2^410.
 *
 * Exact. Every first point on the ray is the ray's crossing with a plane through a
 * point p, along two rows u and v: t = det(u, v, p - origin) / det(u, v, direction). The plane is
 * that of the triangle; or that through an edge, along an axis, when the ray lies in the triangle's
 * plane; or that across an axis through a corner, when it also lies along the edge. So t is a ratio
 * of determinants (ratio.h), and so is everything that has to be decided. */
#ifndef CAROM_SRC_GEOM_RAY_ITEM_H
#define CAROM_SRC_GEOM_RAY_ITEM_H

#include <float.h>
#include <stdbool.h>

#include "base/double_double.h"
#include "geom/length.h"
#include "geom/ratio.h"
#include "geom/triangle_filter.h"

/* In units of the frame: exceeds all that underflows. */
#define CAROM_RAY_UNDERFLOW 0x1p-960
/* The start is moved along the ray when it is farther away than this multiple of the size of all
 * points. */
#define CAROM_RAY_MOVE_DISTANCE 1024.0
/* Largest reach of a frame; beyond it only the exact stage decides. */
#define CAROM_RAY_MOST 0x1p200

/* ---- Errors of the view ---------------------------------------------------------------------- */

/* Of a point seen from the start, relative to the largest coordinates of both in the frame:
 * bringing each into it rounds by e of the coordinate; twice that. */
#define CAROM_RAY_FRAME_ERROR 0x1p-52
/* Of a start that was moved, in double-doubles before they are rounded, relative to the start's
 * coordinate and the advance: the slope is off by 2^-100, its product with the advance by 2^-102
 * and the sum by 2^-103; together below 2^-99, four times that. */
#define CAROM_RAY_MOVED_ERROR 0x1p-97
/* Components of the direction below this part of the largest are divided in doubles: off by 2^-53
 * of 2^-299, so by less than 2^-350. */
#define CAROM_RAY_SMALL_SLOPE 0x1p-300
/* That error, relative to the advance; a thousand times it. */
#define CAROM_RAY_SLOPE_UNDERFLOW 0x1p-340
/* Slopes below this may have underflowed, and do not move the start. */
#define CAROM_RAY_LEAST_SLOPE 0x1p-900
/* Part of the advance by which the moved start stays before the points: the advance itself has two
 * roundings of e. */
#define CAROM_RAY_STAY_BEFORE 0x1p-20
/* Of the advance at the end of the ray, relative to it and to the advance of the start: three
 * roundings of e; eight. */
#define CAROM_RAY_LIMIT_ERROR 0x1p-50
/* Powers of two that a product of two factors in [1, 2) is scaled by; above, the ray has no end,
 * below, its end is its origin but for CAROM_RAY_LIMIT_UNDERFLOW. */
#define CAROM_RAY_LIMIT_POWER     1000
#define CAROM_RAY_LIMIT_UNDERFLOW 0x1p-980
/* Advances beyond this are past every point of every frame. */
#define CAROM_RAY_LIMIT_MOST 0x1p900

/* ---- Errors of the filter, explained above --------------------------------------------------- */

/* Of a sheared coordinate, and of its advance, relative to M: 8.2 e, rounded up to 16 e. */
#define CAROM_RAY_SHEAR_ERROR 0x1p-49
/* Of an area, relative to delta (E + delta). */
#define CAROM_RAY_AREA_ERROR 8.0
/* Errors of an area in the total, beyond which the advance follows from the weights. The proof
 * needs 8; below 64, the range of the corners is not much wider than the result. */
#define CAROM_RAY_TOTAL_ERRORS 64.0
/* Errors of an area over the total, in the advance, relative to the range of the corners. */
#define CAROM_RAY_WEIGHT_ERRORS 16.0

/* The frame y = x scale - shift, scale a power of two; no point has a coordinate above `reach` in
 * it. Points are rounded when they are brought into it. */
typedef struct carom_ray_frame {
    double scale, shift[3], reach;
} carom_ray_frame;

typedef struct carom_ray_view {
    carom_vec3 origin, direction;
    carom_ray_frame frame;
    int axis[3];                        /* axis[2]: of the direction's largest component */
    double start[3], unit_direction[3]; /* in the frame; unit_direction[axis[2]] is 1 or -1 */
    double error;                 /* of the start and of points in the frame; infinite: no filter */
    double moved;                 /* the start's advance from the origin */
    double limit_low, limit_high; /* of the advance at the end of the ray, from the start */
    double length;                /* 0: without end */
    bool misses;                  /* the ray misses all points */
} carom_ray_view;

/* Where the ray meets something first. */
typedef struct carom_ray_hit {
    double low, high; /* of the advance from the start, in the frame */
    carom_vec3 p;
    carom_row u, v;
    bool at_origin; /* t is 0, the plane is not set */
    bool flat;      /* the plane is that of a triangle: p, p + u, p + v */
} carom_ray_hit;

CAROM_ITEM double carom_vec_component(carom_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

CAROM_ITEM void carom_ray_to_frame(const carom_ray_frame *frame, carom_vec3 p, double *y) {
    y[0] = p.x * frame->scale - frame->shift[0];
    y[1] = p.y * frame->scale - frame->shift[1];
    y[2] = p.z * frame->scale - frame->shift[2];
}

/* Whether a ray is finite, its length not negative and its direction not zero. */
CAROM_ITEM bool carom_ray_good(const carom_ray *ray) {
    bool moves = ray->direction.x != 0.0 || ray->direction.y != 0.0 || ray->direction.z != 0.0;
    return moves && carom_vec_finite(ray->origin) && carom_vec_finite(ray->direction) &&
           ray->length >= 0.0;
}

/* Whether all that follows may be computed on a GPU for a triangle (carom_ratio_fits). */
CAROM_ITEM bool carom_ray_fits(const carom_ray *ray, const carom_triangle *t) {
    double x[12], d[3];
    carom_vec_store(ray->direction, d);
    carom_vec_store(ray->origin, x);
    for (int i = 0; i < 3; ++i) carom_vec_store(t->corner[i], x + 3 + 3 * i);
    return carom_ratio_fits(d, 3) && carom_ratio_fits(x, 12);
}

/* ---- View of the ray ------------------------------------------------------------------------- */

/* No bounds: every point may be met, every decision is exact. */
CAROM_ITEM void carom_ray_blind(carom_ray_view *view) {
    for (int k = 0; k < 3; ++k) view->start[k] = 0.0;
    view->error = HUGE_VAL;
    view->moved = 0.0;
}

/* direction[k] / |largest| as a double-double; off by 2^-100 of itself, or by 2^-350. */
CAROM_ITEM carom_dd carom_ray_slope(double component, double largest) {
    int e = carom_exponent(largest);
    double up = carom_power_of_two(-e); /* a subnormal becomes at least 2^-52 */
    double c = component * up, d = fabs(largest) * up;
    if (fabs(c) < CAROM_RAY_SMALL_SLOPE) return carom_dd_make(component / fabs(largest), 0.0);
    return carom_dd_divide(carom_dd_make(c, 0.0), carom_dd_make(d, 0.0));
}

/* Moves the start to where the ray comes near the points: a little before it is within twice their
 * reach in every axis. `far` is the largest component of the start. */
CAROM_ITEM void carom_ray_approach(carom_ray_view *view, double far) {
    double reach = view->frame.reach, enter = 0.0;
    for (int k = 0; k < 3; ++k) {
        double apart = fabs(view->start[k]) - 2.0 * reach;
        if (!(apart > 0.0)) continue;
        /* The signs of the direction and of the start are right whatever was rounded. */
        double component = carom_vec_component(view->direction, k);
        if (component == 0.0 || (component > 0.0) == (view->start[k] > 0.0)) {
            view->misses = true;
            return;
        }
        if (fabs(view->unit_direction[k]) < CAROM_RAY_LEAST_SLOPE) continue;
        double at = apart / fabs(view->unit_direction[k]);
        enter = CAROM_MAX(at, enter);
    }
    double moved = enter * (1.0 - CAROM_RAY_STAY_BEFORE);
    if (!(moved <= 4.0 * CAROM_RAY_MOST)) { /* past all points along the largest component */
        view->misses = true;
        return;
    }
    double largest = carom_vec_component(view->direction, view->axis[2]), most = 0.0;
    for (int k = 0; k < 3; ++k) {
        double scaled = carom_vec_component(view->origin, k) * view->frame.scale;
        carom_dd from = carom_dd_diff(scaled, view->frame.shift[k]);
        carom_dd slope = carom_ray_slope(carom_vec_component(view->direction, k), largest);
        carom_dd by = carom_dd_multiply(slope, carom_dd_make(moved, 0.0));
        view->start[k] = carom_dd_add(from, by).high;
        most = CAROM_MAX(fabs(view->start[k]), most);
    }
    view->moved = moved;
    view->error = CAROM_RAY_FRAME_ERROR * (reach + most) + CAROM_RAY_MOVED_ERROR * (far + moved) +
                  CAROM_RAY_SLOPE_UNDERFLOW * moved + CAROM_RAY_UNDERFLOW;
}

/* The advance at which the ray ends. */
CAROM_ITEM void carom_ray_set_limit(carom_ray_view *view) {
    view->limit_low = view->limit_high = HUGE_VAL;
    if (!(view->length > 0.0 && view->length <= DBL_MAX) || view->error > DBL_MAX) return;
    double step = fabs(carom_vec_component(view->direction, view->axis[2]));
    int e = carom_exponent(view->length), f = carom_exponent(step);
    double product = (view->length * carom_power_of_two(-e)) * (step * carom_power_of_two(-f));
    int power = e + f + carom_exponent(view->frame.scale);
    double limit = power > CAROM_RAY_LIMIT_POWER    ? HUGE_VAL
                   : power < -CAROM_RAY_LIMIT_POWER ? 0.0
                                                    : product * carom_power_of_two(power);
    if (!(limit < CAROM_RAY_LIMIT_MOST)) return;
    double error = CAROM_RAY_LIMIT_ERROR * (limit + view->moved) + CAROM_RAY_LIMIT_UNDERFLOW;
    view->limit_low = (limit - view->moved) - error;
    view->limit_high = (limit - view->moved) + error;
}

/* Finite input, the direction is not zero; length 0: without end. */
CAROM_ITEM void carom_ray_begin(carom_vec3 origin, carom_vec3 direction, double length,
                                const carom_ray_frame *frame, carom_ray_view *view) {
    double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    int largest_axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    double largest = largest_axis == 2 ? z : largest_axis == 1 ? y : x, far = 0.0;
    view->origin = origin;
    view->direction = direction;
    view->frame = *frame;
    view->length = length;
    view->misses = false;
    view->moved = 0.0;
    view->axis[0] = largest_axis == 2 ? 0 : largest_axis + 1;
    view->axis[1] = largest_axis == 0 ? 2 : largest_axis - 1;
    view->axis[2] = largest_axis;
    carom_ray_to_frame(frame, origin, view->start);
    for (int k = 0; k < 3; ++k) {
        view->unit_direction[k] = carom_vec_component(direction, k) / largest;
        far = CAROM_MAX(fabs(view->start[k]), far);
    }
    view->error = CAROM_RAY_FRAME_ERROR * (frame->reach + far) + CAROM_RAY_UNDERFLOW;
    if (!(far <= CAROM_RAY_MOST))
        carom_ray_blind(view);
    else if (far > CAROM_RAY_MOVE_DISTANCE * frame->reach)
        carom_ray_approach(view, far);
    carom_ray_set_limit(view);
}

/* ---- Exact stage ----------------------------------------------------------------------------- */

CAROM_ITEM carom_row carom_row_make(carom_vec3 from, carom_vec3 to) {
    carom_row row;
    row.from = from;
    row.to = to;
    return row;
}

CAROM_ITEM carom_row carom_row_direction(carom_vec3 direction) {
    return carom_row_make(carom_vec(0.0, 0.0, 0.0), direction);
}

CAROM_ITEM carom_row carom_row_axis(int axis) {
    return carom_row_direction(carom_vec(axis == 0, axis == 1, axis == 2));
}

/* t as a ratio. */
CAROM_RARE_ITEM void carom_ray_ratio(const carom_ray_view *ray, const carom_ray_hit *hit,
                                     carom_ratio *ratio) {
    if (hit->at_origin) {
        carom_ratio_of(0.0, ratio);
        return;
    }
    carom_row w = carom_row_make(ray->origin, hit->p), d = carom_row_direction(ray->direction);
    carom_ratio_make(&hit->u, &hit->v, &w, &d, ratio);
}

/* The sign of a's t minus b's. */
CAROM_RARE_ITEM int carom_ray_compare_exact(const carom_ray_view *ray, const carom_ray_hit *a,
                                            const carom_ray_hit *b) {
    carom_ratio ta, tb;
    if (a->at_origin && b->at_origin) return 0;
    carom_ray_ratio(ray, a, &ta);
    carom_ray_ratio(ray, b, &tb);
    return carom_ratio_compare(&ta, &tb);
}

/* The sign of t minus the ray's length. */
CAROM_RARE_ITEM int carom_ray_compare_length(const carom_ray_view *ray, const carom_ray_hit *hit) {
    carom_ratio t, length;
    carom_ray_ratio(ray, hit, &t);
    carom_ratio_of(ray->length, &length);
    return carom_ratio_compare(&t, &length);
}

/* Keeps the earlier of what was found so far and the plane at t >= 0. */
CAROM_RARE_ITEM void carom_ray_keep(const carom_ray_view *ray, bool *found, carom_ray_hit *best,
                                    const carom_ray_hit *hit) {
    if (!*found || carom_ray_compare_exact(ray, hit, best) < 0) *best = *hit;
    *found = true;
}

/* The corner a lies on the ray's line: the ray meets it unless it lies behind. */
CAROM_RARE_ITEM void carom_ray_meet_corner(const carom_ray_view *ray, carom_vec3 a, bool *found,
                                           carom_ray_hit *best) {
    carom_ray_hit hit;
    int largest_axis = ray->axis[2];
    double at = carom_vec_component(a, largest_axis),
           from = carom_vec_component(ray->origin, largest_axis);
    bool forward = carom_vec_component(ray->direction, largest_axis) > 0.0;
    if (forward ? at < from : at > from) return;
    hit.at_origin = at == from;
    hit.flat = false;
    hit.p = a;
    hit.u = carom_row_axis(ray->axis[0]);
    hit.v = carom_row_axis(ray->axis[1]);
    carom_ray_keep(ray, found, best, &hit);
}

/* An edge in one plane with the ray. */
CAROM_RARE_ITEM void carom_ray_meet_edge(const carom_ray_view *ray, carom_vec3 a, carom_vec3 b,
                                         bool *found, carom_ray_hit *best) {
    carom_row d = carom_row_direction(ray->direction), w;
    int side_a = 0, side_b = 0, axis = 0;
    for (; axis < 3; ++axis) {
        carom_row along = carom_row_axis(axis);
        w = carom_row_make(ray->origin, a);
        side_a = carom_rows_sign(&along, &d, &w);
        w = carom_row_make(ray->origin, b);
        side_b = carom_rows_sign(&along, &d, &w);
        if (side_a != 0 || side_b != 0) break;
    }
    if (side_a * side_b > 0) return;
    if (side_a == 0 && side_b == 0) { /* along the ray: it starts between the ends or meets one */
        int largest_axis = ray->axis[2];
        double from = carom_vec_component(ray->origin, largest_axis);
        double at_a = carom_vec_component(a, largest_axis),
               at_b = carom_vec_component(b, largest_axis);
        if ((at_a <= from && from <= at_b) || (at_b <= from && from <= at_a)) {
            best->at_origin = *found = true;
            return;
        }
    }
    if (side_a == 0) carom_ray_meet_corner(ray, a, found, best);
    if (side_b == 0) carom_ray_meet_corner(ray, b, found, best);
    if (side_a == 0 || side_b == 0) return;
    carom_ray_hit hit;
    hit.at_origin = hit.flat = false;
    hit.p = a;
    hit.u = carom_row_axis(axis);
    hit.v = carom_row_make(a, b);
    w = carom_row_make(ray->origin, a);
    int top = carom_rows_sign(&hit.u, &hit.v, &w);
    if (top * carom_rows_sign(&hit.u, &hit.v, &d) < 0) return; /* behind */
    hit.at_origin = top == 0;
    carom_ray_keep(ray, found, best, &hit);
}

/* Whether the origin, in the triangle's plane, lies in the closed triangle; false without area. */
CAROM_RARE_ITEM bool carom_ray_starts_inside(const carom_ray_view *ray, const carom_vec3 *p) {
    for (int axis = 0; axis < 3; ++axis) {
        carom_row along = carom_row_axis(axis);
        carom_row u = carom_row_make(p[0], p[1]), v = carom_row_make(p[0], p[2]);
        int turn = carom_rows_sign(&along, &u, &v);
        if (turn == 0) continue;
        for (int i = 0; i < 3; ++i) {
            u = carom_row_make(p[i], p[i == 2 ? 0 : i + 1]);
            v = carom_row_make(p[i], ray->origin);
            if (carom_rows_sign(&along, &u, &v) * turn < 0) return false;
        }
        return true;
    }
    return false;
}

/* Whether the ray meets the closed triangle, segment or point, and where first; sets the plane. */
CAROM_RARE_ITEM bool carom_ray_meet_exact(const carom_ray_view *ray, const carom_vec3 *p,
                                          carom_ray_hit *hit) {
    carom_row d = carom_row_direction(ray->direction), from[3];
    int least = 0, most = 0;
    hit->at_origin = hit->flat = false;
    for (int i = 0; i < 3; ++i) from[i] = carom_row_make(ray->origin, p[i]);
    for (int i = 0; i < 3; ++i) {
        int side = carom_rows_sign(&d, &from[i], &from[i == 2 ? 0 : i + 1]);
        least = CAROM_MIN(side, least);
        most = CAROM_MAX(side, most);
        if (least * most < 0) return false;
    }
    if (least == most) { /* all in one plane, or no triangle but a segment or a point */
        bool found = false;
        if (carom_ray_starts_inside(ray, p)) return hit->at_origin = true;
        for (int i = 0; i < 3; ++i)
            carom_ray_meet_edge(ray, p[i], p[i == 2 ? 0 : i + 1], &found, hit);
        return found;
    }
    hit->flat = true;
    hit->p = p[0];
    hit->u = carom_row_make(p[0], p[1]);
    hit->v = carom_row_make(p[0], p[2]);
    int top = carom_rows_sign(&hit->u, &hit->v, &from[0]);
    if (top * carom_rows_sign(&hit->u, &hit->v, &d) < 0) return false; /* behind */
    hit->at_origin = top == 0;
    return true;
}

/* ---- Filter ---------------------------------------------------------------------------------- */

/* Whether the ray meets the closed triangle, segment or point at t >= 0, wherever it ends, and
 * where first: CAROM_YES, CAROM_NO, or CAROM_UNDECIDED with bounds of the advance only. */
CAROM_ITEM int carom_ray_filter(const carom_ray_view *ray, const carom_vec3 *p,
                                carom_ray_hit *hit) {
    int kx = ray->axis[0], ky = ray->axis[1], kz = ray->axis[2];
    double sign = ray->unit_direction[kz], slope_x = ray->unit_direction[kx] * sign,
           slope_y = ray->unit_direction[ky] * sign;
    double x[3], y[3], z[3], most = 0.0, across = 0.0;
    for (int i = 0; i < 3; ++i) {
        double c[3];
        carom_ray_to_frame(&ray->frame, p[i], c);
        double cx = c[kx] - ray->start[kx], cy = c[ky] - ray->start[ky],
               cz = c[kz] - ray->start[kz];
        x[i] = cx - slope_x * cz;
        y[i] = cy - slope_y * cz;
        z[i] = cz * sign;
        double size = CAROM_MAX(fabs(cx), fabs(cy));
        size = CAROM_MAX(fabs(cz), size);
        most = CAROM_MAX(size, most);
        size = CAROM_MAX(fabs(x[i]), fabs(y[i]));
        across = CAROM_MAX(size, across);
    }
    double delta = CAROM_RAY_SHEAR_ERROR * most + ray->error;
    double area_error = CAROM_RAY_AREA_ERROR * delta * (across + delta) + CAROM_RAY_UNDERFLOW;
    double a0 = x[1] * y[2] - y[1] * x[2];
    double a1 = x[2] * y[0] - y[2] * x[0];
    double a2 = x[0] * y[1] - y[0] * x[1];
    double least = CAROM_MIN(a0, a1), largest = CAROM_MAX(a0, a1);
    least = CAROM_MIN(a2, least);
    largest = CAROM_MAX(a2, largest);
    if (least < -area_error && largest > area_error) return CAROM_NO;
    bool certain = least > area_error || largest < -area_error;

    double low = CAROM_MIN(z[0], z[1]), high = CAROM_MAX(z[0], z[1]);
    low = CAROM_MIN(z[2], low);
    high = CAROM_MAX(z[2], high);
    double total = (a0 + a1) + a2, range = high - low;
    hit->low = low - delta;
    hit->high = high + delta;
    if (fabs(total) > CAROM_RAY_TOTAL_ERRORS * area_error) {
        double at = z[0] + (a1 * (z[1] - z[0]) + a2 * (z[2] - z[0])) / total;
        double width = CAROM_RAY_WEIGHT_ERRORS * area_error / fabs(total) * range + delta;
        hit->low = CAROM_MAX(at - width, hit->low);
        hit->high = CAROM_MIN(at + width, hit->high);
    }
    /* The ray starts `moved` before the start of the view. */
    if (hit->high < -ray->moved) return CAROM_NO;
    if (!certain || !(hit->low > -ray->moved)) return CAROM_UNDECIDED;
    hit->at_origin = false;
    hit->flat = true;
    hit->p = p[0];
    hit->u = carom_row_make(p[0], p[1]);
    hit->v = carom_row_make(p[0], p[2]);
    return CAROM_YES;
}

/* The same, decided. */
CAROM_ITEM bool carom_ray_meet(const carom_ray_view *ray, const carom_vec3 *p, carom_ray_hit *hit) {
    int verdict = carom_ray_filter(ray, p, hit);
    if (verdict != CAROM_UNDECIDED) return verdict == CAROM_YES;
    double low = hit->low, high = hit->high;
    bool meets = carom_ray_meet_exact(ray, p, hit);
    hit->low = low;
    hit->high = high;
    return meets;
}

/* Whether a hit lies within the ray's length; may be CAROM_UNDECIDED. */
CAROM_ITEM int carom_ray_within_filter(const carom_ray_view *ray, const carom_ray_hit *hit) {
    if (!(ray->length > 0.0 && ray->length <= DBL_MAX)) return CAROM_YES;
    if (hit->high < ray->limit_low) return CAROM_YES;
    return hit->low > ray->limit_high ? CAROM_NO : CAROM_UNDECIDED;
}

/* The same, decided. */
CAROM_ITEM bool carom_ray_within(const carom_ray_view *ray, const carom_ray_hit *hit) {
    int verdict = carom_ray_within_filter(ray, hit);
    return verdict == CAROM_UNDECIDED ? carom_ray_compare_length(ray, hit) <= 0
                                      : verdict == CAROM_YES;
}

/* The sign of a's t minus b's. */
CAROM_ITEM int carom_ray_compare(const carom_ray_view *ray, const carom_ray_hit *a,
                                 const carom_ray_hit *b) {
    if (a->high < b->low) return -1;
    if (a->low > b->high) return 1;
    return carom_ray_compare_exact(ray, a, b);
}

/* ---- Rounded result -------------------------------------------------------------------------- */

/* Within these limits coordinates are multiplied as double-doubles without any underflow. */
#define CAROM_RAY_LEAST_FACTOR   0x1p-180
#define CAROM_RAY_LARGEST_FACTOR 0x1p180

CAROM_ITEM bool carom_ray_in_range(double x) {
    double size = fabs(x);
    return (size >= CAROM_RAY_LEAST_FACTOR && size <= CAROM_RAY_LARGEST_FACTOR) || x == 0.0;
}

/* Rounds a number known to within `error`, if the rounding is then unique. */
CAROM_ITEM bool carom_ray_round(carom_dd x, double error, double *value) {
    double above = x.high + (x.low + error), below = x.high + (x.low - error);
    *value = above;
    return above == below;
}

CAROM_ITEM carom_dd carom_ray_cross_part(const carom_dd *u, const carom_dd *v, int i, int j) {
    return carom_dd_sub(carom_dd_multiply(u[i], v[j]), carom_dd_multiply(u[j], v[i]));
}

/* Double-doubles: products are off by 2^-102 of themselves, sums of two by 2^-103 of the
 * magnitudes. The six terms of a determinant pass through two products and four sums: it is off by
 * less than this part of the sum of their magnitudes. */
#define CAROM_RAY_DETERMINANT_ERROR 0x1p-98
/* Of a quotient, 2^-101, and of a product with the sum after it, relative to themselves. */
#define CAROM_RAY_QUOTIENT_ERROR 0x1p-100
/* Errors in a divisor at least: then it is the exact one to 2^-20 of itself, and a hundredth more
 * covers that and the roundings of the bounds. */
#define CAROM_RAY_DIVISOR_ERRORS 0x1p20
/* As an exponent of two, of times that doubles may hold: a scaled time is a normal number, so that
 * scaling it is exact. */
#define CAROM_RAY_TIME_EXPONENT 1000.0
#define CAROM_RAY_BOUND_SLACK   1.01

/* t and the point in twice the precision; false where that does not decide every rounding. */
CAROM_ITEM bool carom_ray_answer_fast(const carom_ray_view *ray, const carom_ray_hit *hit,
                                      double *t, carom_vec3 *point) {
    double scale = ray->frame.scale, o[3], d[3], p[3], q[3], r[3], result[3];
    int e = carom_exponent(carom_vec_component(ray->direction, ray->axis[2]));
    double up = carom_power_of_two(-e);
    bool good = hit->flat && !hit->at_origin;
    for (int k = 0; k < 3 && good; ++k) {
        double given[5];
        given[0] = carom_vec_component(ray->origin, k);
        given[1] = carom_vec_component(hit->p, k);
        given[2] = carom_vec_component(hit->u.to, k);
        given[3] = carom_vec_component(hit->v.to, k);
        given[4] = carom_vec_component(ray->direction, k);
        o[k] = given[0] * scale;
        p[k] = given[1] * scale;
        q[k] = given[2] * scale;
        r[k] = given[3] * scale;
        d[k] = given[4] * up;
        good = carom_ray_in_range(o[k]) && carom_ray_in_range(p[k]) && carom_ray_in_range(q[k]) &&
               carom_ray_in_range(r[k]) && carom_ray_in_range(d[k]);
        /* What became zero was no zero before. */
        good = good && (o[k] == 0.0) == (given[0] == 0.0) && (p[k] == 0.0) == (given[1] == 0.0) &&
               (q[k] == 0.0) == (given[2] == 0.0) && (r[k] == 0.0) == (given[3] == 0.0) &&
               (d[k] == 0.0) == (given[4] == 0.0);
    }
    if (!good) return false;
    carom_dd u[3], v[3], w[3], n[3];
    double size_n[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = carom_dd_diff(q[k], p[k]);
        v[k] = carom_dd_diff(r[k], p[k]);
        w[k] = carom_dd_diff(p[k], o[k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
        n[k] = carom_ray_cross_part(u, v, i, j);
        size_n[k] = fabs(u[i].high * v[j].high) + fabs(u[j].high * v[i].high);
    }
    carom_dd top = carom_dd_multiply(n[0], w[0]), bottom;
    bottom = carom_dd_multiply(n[0], carom_dd_make(d[0], 0.0));
    double size_top = size_n[0] * fabs(w[0].high), size_bottom = size_n[0] * fabs(d[0]);
    for (int k = 1; k < 3; ++k) {
        top = carom_dd_add(top, carom_dd_multiply(n[k], w[k]));
        bottom = carom_dd_add(bottom, carom_dd_multiply(n[k], carom_dd_make(d[k], 0.0)));
        size_top += size_n[k] * fabs(w[k].high);
        size_bottom += size_n[k] * fabs(d[k]);
    }
    double error_top = CAROM_RAY_DETERMINANT_ERROR * size_top;
    double error_bottom = CAROM_RAY_DETERMINANT_ERROR * size_bottom;
    if (!(fabs(bottom.high) > CAROM_RAY_DIVISOR_ERRORS * error_bottom)) return false;
    carom_dd ratio = carom_dd_divide(top, bottom);
    double error =
        CAROM_RAY_BOUND_SLACK * (error_top + fabs(ratio.high) * error_bottom) / fabs(bottom.high) +
        CAROM_RAY_QUOTIENT_ERROR * fabs(ratio.high);
    if (!carom_ray_round(ratio, error, t)) return false;
    for (int k = 0; k < 3; ++k) {
        if (p[k] == q[k] && p[k] == r[k]) {
            result[k] = p[k];
        } else if (d[k] == 0.0) {
            result[k] = o[k];
        } else {
            carom_dd by = carom_dd_multiply(ratio, carom_dd_make(d[k], 0.0));
            carom_dd at = carom_dd_add(carom_dd_make(o[k], 0.0), by);
            double off = CAROM_RAY_BOUND_SLACK * error * fabs(d[k]) +
                         CAROM_RAY_QUOTIENT_ERROR * (fabs(o[k]) + fabs(by.high));
            if (!carom_ray_round(at, off, &result[k])) return false;
        }
        /* Back to the caller's scale without rounding again: what becomes DBL_MIN itself may have
         * been a little less, and have been rounded up. */
        double back = result[k] / scale;
        if (!(fabs(back) > DBL_MIN && fabs(back) <= DBL_MAX) && result[k] != 0.0) return false;
        result[k] = back;
    }
    /* t = ratio 2^-e / scale: e is at most 1022 in size, and so is the scale's exponent. */
    int power = -e - carom_exponent(scale);
    if (!(fabs(carom_exponent(*t) + (double)power) < CAROM_RAY_TIME_EXPONENT)) return false;
    if (power < -CAROM_EXPONENT_MOST || power > CAROM_EXPONENT_MOST) return false;
    *t *= carom_power_of_two(power);
    *point = carom_vec(result[0], result[1], result[2]);
    return true;
}

CAROM_RARE_ITEM void carom_ray_answer_exact(const carom_ray_view *ray, const carom_ray_hit *hit,
                                            double *t, carom_vec3 *point) {
    carom_ratio ratio;
    carom_ray_ratio(ray, hit, &ratio);
    *t = carom_ratio_round(&ratio);
    point->x = carom_ratio_along(&ratio, ray->origin.x, ray->direction.x);
    point->y = carom_ratio_along(&ratio, ray->origin.y, ray->direction.y);
    point->z = carom_ratio_along(&ratio, ray->origin.z, ray->direction.z);
}

/* t and origin + t direction, each number rounded once; infinite where it is too large. */
CAROM_ITEM void carom_ray_answer(const carom_ray_view *ray, const carom_ray_hit *hit, double *t,
                                 carom_vec3 *point) {
    *t = 0.0;
    *point = ray->origin;
    if (hit->at_origin || carom_ray_answer_fast(ray, hit, t, point)) return;
    carom_ray_answer_exact(ray, hit, t, point);
}

#endif
