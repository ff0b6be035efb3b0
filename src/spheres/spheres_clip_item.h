/* SPDX-License-Identifier: MIT */
/* spheres_clip_item.h: the integral of the winding number over a box, as a sum of one term per
 * triangle that meets the box and one for a corner.
 *
 * Along a ray in direction z the winding number falls by 1 where the ray leaves through a face and
 * rises by 1 where it enters. So in the box [x0, x1] x [y0, y1] x [z0, z1]
 *   w(x, y, z) = w(x, y, z1) + faces that look up less those that look down, between z and z1,
 * and the integral over the box is that of (z - z0) over the faces' projections, plus z1 - z0 times
 * the integral over the top side. That one is, in the same way, a sum over the segments in which
 * faces cut the top side, plus y1 - y0 times the integral over one edge; and that a sum over the
 * points where faces cut the edge, plus the volume times w at the corner (x1, y1, z1). */
#ifndef CAROM_SRC_SPHERES_SPHERES_CLIP_ITEM_H
#define CAROM_SRC_SPHERES_SPHERES_CLIP_ITEM_H

#include "geom/vec.h"

/* A triangle clipped by six planes has at most nine corners. */
#define CAROM_SPHERES_CLIPPED 9

CAROM_ITEM double carom_spheres_coordinate(carom_vec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/* Where the edge a b meets the plane: the same bits for b a. One end is below, one not. */
CAROM_ITEM carom_vec3 carom_spheres_cut(carom_vec3 a, carom_vec3 b, int axis, double at) {
    if (carom_vec_compare(a, b) > 0) {
        carom_vec3 swap = a;
        a = b;
        b = swap;
    }
    double from = carom_spheres_coordinate(a, axis), to = carom_spheres_coordinate(b, axis);
    double t = (at - from) / (to - from);
    carom_vec3 p = carom_vec_add(a, carom_vec_scale(carom_vec_sub(b, a), t));
    if (axis == 0) p.x = at;
    if (axis == 1) p.y = at;
    if (axis == 2) p.z = at;
    return p;
}

/* Keeps the part of a polygon below the plane, or not below it. */
CAROM_ITEM int carom_spheres_clip(const carom_vec3 *from, int count, int axis, double at,
                                  bool below, carom_vec3 *to) {
    int n = 0;
    for (int i = 0; i < count; ++i) {
        carom_vec3 a = from[i], b = from[i + 1 < count ? i + 1 : 0];
        bool a_in = (carom_spheres_coordinate(a, axis) < at) == below;
        bool b_in = (carom_spheres_coordinate(b, axis) < at) == below;
        if (a_in) to[n++] = a;
        if (a_in != b_in) to[n++] = carom_spheres_cut(a, b, axis, at);
    }
    return n;
}

/* The terms of one triangle; low and high are the box's corners. */
CAROM_ITEM double carom_spheres_clip_term(const carom_triangle *triangle, carom_vec3 low,
                                          carom_vec3 high) {
    carom_vec3 a[CAROM_SPHERES_CLIPPED + 1], b[CAROM_SPHERES_CLIPPED + 1];
    carom_vec3 size = carom_vec_sub(high, low);
    double term = 0.0;
    for (int i = 0; i < 3; ++i) a[i] = triangle->corner[i];
    int n = 3;
    /* Above the box: nothing. */
    n = carom_spheres_clip(a, n, 0, low.x, false, b);
    n = carom_spheres_clip(b, n, 0, high.x, true, a);
    n = carom_spheres_clip(a, n, 1, low.y, false, b);
    n = carom_spheres_clip(b, n, 1, high.y, true, a);
    n = carom_spheres_clip(a, n, 2, low.z, false, b);
    n = carom_spheres_clip(b, n, 2, high.z, true, a);
    for (int i = 2; i < n; ++i) { /* a fan */
        carom_vec3 u = carom_vec_sub(a[i - 1], a[0]), v = carom_vec_sub(a[i], a[0]);
        double area = 0.5 * (u.x * v.y - u.y * v.x);
        term += area * ((a[0].z - low.z) + (u.z + v.z) / 3.0);
    }
    /* The segment in the plane of the top side, from the edge that goes down to the one that goes
     * up: so it has the face's outside on its right, seen from above. */
    carom_vec3 down = low, up = low;
    int cuts = 0;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = triangle->corner[i], q = triangle->corner[i < 2 ? i + 1 : 0];
        bool p_below = p.z < high.z, q_below = q.z < high.z;
        if (p_below == q_below) continue;
        ++cuts;
        carom_vec3 cut = carom_spheres_cut(p, q, 2, high.z);
        if (p_below)
            up = cut;
        else
            down = cut;
    }
    if (cuts != 2) return term;
    bool down_below = down.y < high.y, up_below = up.y < high.y;
    if (down_below != up_below) { /* it cuts the line of the edge */
        double x = carom_spheres_cut(down, up, 1, high.y).x;
        double width = x < low.x ? 0.0 : x < high.x ? x - low.x : 0.0;
        term += (down_below ? width : -width) * (size.y * size.z);
    }
    /* Clip it to the side. */
    carom_vec3 ends[2] = {down, up};
    const double least[2] = {low.x, low.y}, most[2] = {high.x, high.y};
    for (int axis = 0; axis < 2; ++axis) {
        for (int side = 0; side < 2; ++side) {
            double at = side == 0 ? least[axis] : most[axis];
            bool in0 = (carom_spheres_coordinate(ends[0], axis) < at) == (side == 1);
            bool in1 = (carom_spheres_coordinate(ends[1], axis) < at) == (side == 1);
            if (!in0 && !in1) return term;
            if (in0 != in1) ends[in0 ? 1 : 0] = carom_spheres_cut(ends[0], ends[1], axis, at);
        }
    }
    double mean = 0.5 * ((ends[0].y - low.y) + (ends[1].y - low.y));
    return term - (ends[1].x - ends[0].x) * mean * size.z;
}

#endif
