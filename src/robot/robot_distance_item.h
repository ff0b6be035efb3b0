/* SPDX-License-Identifier: MIT */
/* robot_distance_item.h: the distance of two trees, and of a point from a tree, as items: the CPU
 * and the GPU measure by the same text, and so to the same bits. */
#ifndef CAROM_SRC_ROBOT_ROBOT_DISTANCE_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_DISTANCE_ITEM_H

#include "geom/distance_item.h"
#include "geom/length.h"
#include "robot/robot_tree_item.h"

/* Of the lengths that take part: items that cannot be nearer than the nearest found by more than
 * this are not looked at. A quarter of what a distance may be off by (robot_tree.h). */
#define CAROM_ROBOT_TREE_TIE 0x1p-46

/* Relative: a vector divided by its length and diminished by this is at most 1 long. */
#define CAROM_ROBOT_UNIT_SLACK 0x1p-50

/* Vectors that are shorter have no direction: the inverse of their length may overflow. */
#define CAROM_ROBOT_LEAST_LENGTH 0x1p-900

/* Planes that are tried before the nearest items of two trees are searched. */
#define CAROM_ROBOT_SEED_PLANES 16

/* ---- Planes ---------------------------------------------------------------------------------- */

/* How far a box reaches along a direction. */
CAROM_ITEM double carom_robot_box_support(const carom_robot_node *n, carom_vec3 d) {
    double x = CAROM_MAX(d.x * n->low[0], d.x * n->high[0]);
    double y = CAROM_MAX(d.y * n->low[1], d.y * n->high[1]);
    double z = CAROM_MAX(d.z * n->low[2], d.z * n->high[2]);
    return (x + y) + z;
}

/* The item point farthest along a direction of about unit length, with the item's radius; *most is
 * how far. */
CAROM_ITEM carom_vec3 carom_robot_support(const carom_robot_tree *t, carom_vec3 d, double *most) {
    uint32_t stack[CAROM_ROBOT_STACK];
    int depth = 0;
    carom_vec3 best = t->nodes[0].ball.centre;
    *most = -HUGE_VAL;
    stack[depth++] = 0;
    while (depth > 0) {
        const carom_robot_node *n = &t->nodes[stack[--depth]];
        if (carom_robot_box_support(n, d) < *most) continue;
        if (n->count == 0) {
            double left = carom_vec_dot(t->nodes[n->first].ball.centre, d);
            double right = carom_vec_dot(t->nodes[n->first + 1].ball.centre, d);
            depth =
                carom_robot_push_children(n, left > right ? n->first + 1 : n->first, stack, depth);
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            const carom_vec3 *c =
                t->triangles != NULL ? t->triangles[i].corner : &t->balls[i].centre;
            double radius = carom_robot_item_radius(t, i);
            for (int k = 0; k < (t->triangles != NULL ? 3 : 1); ++k) {
                double far = carom_vec_dot(c[k], d) + radius;
                if (far <= *most) continue;
                *most = far;
                best = c[k];
            }
        }
    }
    return best;
}

/* ---- Two trees ------------------------------------------------------------------------------- */

/* The nearest pair so far. What lies beyond a plane across `along`, farther than `best` from
 * what lies before it, is farther apart than best: whatever the direction is, that is a proof.
 * Once a pair was found, it is that of the pair, and for bodies that are convex where they are
 * nearest the plane rules out nearly all others. */
typedef struct carom_robot_tree_search {
    const carom_robot_tree *a, *b;
    const carom_frame *b_to_a;
    double best;
    double least;       /* they are not nearer than this, by a plane between all of them */
    double tie;         /* lengths that make no difference */
    carom_vec3 along;   /* from a to b, at most 1 long */
    carom_vec3 along_b; /* the same in b's frame */
    double apart;       /* of the two origins, along it */
} carom_robot_tree_search;

CAROM_ITEM void carom_robot_search_along(carom_robot_tree_search *s, carom_vec3 d) {
    double length = carom_length(d);
    if (!(length > s->tie && length > CAROM_ROBOT_LEAST_LENGTH)) return; /* no direction */
    const double *r = s->b_to_a->r;
    d = s->along = carom_vec_scale(d, (1.0 - CAROM_ROBOT_UNIT_SLACK) / length);
    s->along_b =
        carom_vec((r[0] * d.x + r[3] * d.y) + r[6] * d.z, (r[1] * d.x + r[4] * d.y) + r[7] * d.z,
                  (r[2] * d.x + r[5] * d.y) + r[8] * d.z);
    s->apart = carom_vec_dot(d, s->b_to_a->t);
}

/* A lower bound of the distance of two nodes: by the plane, or by box and ball. */
CAROM_ITEM double carom_robot_search_gap(const carom_robot_tree_search *s,
                                         const carom_robot_node_pair *p) {
    const carom_robot_node *na = &s->a->nodes[p->a], *nb = &s->b->nodes[p->b];
    carom_vec3 back = carom_vec_scale(s->along_b, -1.0);
    double gap =
        (s->apart - carom_robot_box_support(nb, back)) - carom_robot_box_support(na, s->along);
    double round =
        sqrt(carom_robot_box_gap(na, p->centre)) * (1.0 - CAROM_ROBOT_TREE_SLACK) - nb->ball.radius;
    return CAROM_MAX(gap, round);
}

/* The point nearest to the origin of the triangle of w[0], w[i] and w[j], which are one point,
 * or an edge, where i is 0 or j is i; false where it is on the border. */
CAROM_ITEM bool carom_robot_nearest_inside(const carom_vec3 *w, int i, int j, carom_vec3 *v) {
    carom_vec3 e = carom_vec_sub(w[i], w[0]), f = carom_vec_sub(w[j], w[0]);
    double ee = carom_vec_dot(e, e), ff = carom_vec_dot(f, f), ef = carom_vec_dot(e, f);
    double we = -carom_vec_dot(w[0], e), wf = -carom_vec_dot(w[0], f), s = 0.0, t = 0.0;
    if (i == 0) {
        *v = w[0];
        return true;
    }
    if (i == j) {
        s = ee > 0.0 ? we / ee : -1.0;
    } else {
        double area = ee * ff - ef * ef;
        if (!(area > 0.0)) return false;
        s = (we * ff - wf * ef) / area;
        t = (wf * ee - we * ef) / area;
        if (!(t > 0.0)) return false;
    }
    if (!(s > 0.0 && s + t < 1.0)) return false;
    *v = carom_vec_add(w[0], carom_vec_add(carom_vec_scale(e, s), carom_vec_scale(f, t)));
    return true;
}

/* Keeps those of `count` points, the newest first, that span the point nearest to the origin of all
 * triangles with the newest; returns how many. */
CAROM_ITEM int carom_robot_nearest_of_simplex(carom_vec3 *w, int count, carom_vec3 *v) {
    int keep_i = 0, keep_j = 0;
    double least = HUGE_VAL;
    for (int i = 0; i < count; ++i)
        for (int j = i; j < (i == 0 ? 1 : count); ++j) {
            carom_vec3 at;
            if (!carom_robot_nearest_inside(w, i, j, &at) || !(carom_vec_dot(at, at) < least))
                continue;
            least = carom_vec_dot(at, at);
            keep_i = i;
            keep_j = j;
            *v = at;
        }
    carom_vec3 second = w[keep_i], third = w[keep_j];
    if (keep_i == 0) return 1;
    w[1] = second;
    w[2] = third;
    return keep_j == keep_i ? 2 : 3;
}

/* Looks for the plane with the widest gap, by the steps of Gilbert, Johnson and Keerthi ("A fast
 * procedure for computing the distance between complex objects in three-dimensional space",
 * 1988) on the convex hulls. Rounding may only spoil a direction, not the proof of what its gap
 * is. */
CAROM_ITEM void carom_robot_search_seed(carom_robot_tree_search *s) {
    carom_robot_tree_search widest = *s;
    carom_vec3 w[4], v = {0.0, 0.0, 0.0};
    int count = 0;
    for (int i = 0; i < CAROM_ROBOT_SEED_PLANES; ++i) {
        double from, to;
        carom_vec3 p = carom_robot_support(s->a, s->along, &from);
        carom_vec3 q = carom_robot_support(s->b, carom_vec_scale(s->along_b, -1.0), &to);
        double gap = (s->apart - to) - from;
        if (i == 0 || gap > widest.least) {
            s->least = gap;
            widest = *s;
        }
        carom_vec3 between = carom_vec_sub(carom_frame_apply(s->b_to_a, q), p);
        if (widest.least > s->best ||
            (i > 0 && carom_vec_dot(between, s->along) >= carom_length(v) - s->tie))
            break; /* far enough, or nothing is nearer than v */
        for (int k = count; k > 0; --k) w[k] = w[k - 1];
        w[0] = between;
        count = carom_robot_nearest_of_simplex(w, count + 1, &v);
        carom_robot_search_along(s, v);
    }
    *s = widest;
}

CAROM_ITEM void carom_robot_leaves_distance(carom_robot_tree_search *s, const carom_robot_node *na,
                                            const carom_robot_node *nb) {
    carom_triangle mine[CAROM_ROBOT_LEAF];
    double far[CAROM_ROBOT_LEAF];
    for (uint32_t i = 0; i < na->count; ++i)
        mine[i] = carom_robot_item_triangle(s->a, na->first + i);
    for (uint32_t j = nb->first; j < nb->first + nb->count; ++j) {
        carom_triangle own = carom_robot_item_triangle(s->b, j),
                       other = carom_robot_moved_triangle(s->b_to_a, &own);
        double with_b = carom_robot_item_radius(s->b, j), near = HUGE_VAL;
        carom_vec3 d = s->along;
        for (int k = 0; k < 3; ++k) {
            double at = carom_vec_dot(d, other.corner[k]) - with_b;
            near = CAROM_MIN(at, near);
        }
        for (uint32_t i = 0; i < na->count; ++i) {
            const carom_vec3 *c = mine[i].corner;
            double with_a = carom_robot_item_radius(s->a, na->first + i);
            double most = CAROM_MAX(carom_vec_dot(d, c[0]), carom_vec_dot(d, c[1]));
            double third = carom_vec_dot(d, c[2]);
            far[i] = CAROM_MAX(most, third) + with_a;
        }
        for (uint32_t i = 0; i < na->count; ++i) {
            if (near - far[i] > s->best - s->tie) continue;
            carom_closest at;
            carom_near_triangles(mine[i].corner, other.corner, &at);
            double gap = at.distance - with_b - carom_robot_item_radius(s->a, na->first + i);
            if (!(gap < s->best)) continue;
            s->best = CAROM_MAX(gap, 0.0);
            carom_robot_search_along(s, carom_vec_sub(at.b, at.a));
        }
    }
}

CAROM_ITEM double carom_robot_distance_item(const carom_robot_tree *a, const carom_robot_tree *b,
                                            const carom_frame *b_to_a, double limit) {
    carom_robot_node_pair stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (a->item_count == 0 || b->item_count == 0) return limit;
    double size = a->largest + b->largest + carom_length(b_to_a->t);
    carom_robot_tree_search s;
    s.a = a;
    s.b = b;
    s.b_to_a = b_to_a;
    s.best = limit;
    s.least = s.apart = 0.0;
    s.tie = CAROM_ROBOT_TREE_TIE * size;
    s.along = s.along_b = carom_vec(0.0, 0.0, 0.0);
    stack[depth++] =
        carom_robot_node_pair_of(0, 0, carom_frame_apply(b_to_a, b->nodes[0].ball.centre));
    carom_robot_search_along(&s, carom_vec_sub(stack[0].centre, a->nodes[0].ball.centre));
    carom_robot_search_seed(&s);
    while (depth > 0 && s.best > CAROM_MAX(s.least + s.tie, 0.0)) {
        carom_robot_node_pair p = stack[--depth];
        const carom_robot_node *na = &a->nodes[p.a], *nb = &b->nodes[p.b];
        if (p.gap > s.best - s.tie || carom_robot_search_gap(&s, &p) > s.best - s.tie) continue;
        if (na->count != 0 && nb->count != 0) {
            carom_robot_leaves_distance(&s, na, nb);
            continue;
        }
        depth = carom_robot_descend(a, b, b_to_a, &p, stack, depth);
        carom_robot_node_pair *u = &stack[depth - 2], *v = &stack[depth - 1];
        u->gap = carom_robot_search_gap(&s, u);
        v->gap = carom_robot_search_gap(&s, v);
        if (u->gap < v->gap) { /* the nearer one is taken first */
            carom_robot_node_pair swapped = *u;
            *u = *v;
            *v = swapped;
        }
    }
    CAROM_ASSERT(s.best >= 0.0 && s.best <= limit);
    return s.best;
}

/* ---- Points ---------------------------------------------------------------------------------- */

CAROM_ITEM double carom_robot_point_distance_item(const carom_robot_tree *tree, carom_vec3 point,
                                                  double limit, double tolerance) {
    uint32_t stack[CAROM_ROBOT_STACK];
    int depth = 0;
    double best = limit;
    if (tree->item_count == 0) return limit;
    stack[depth++] = 0;
    while (depth > 0 && best > tolerance) {
        const carom_robot_node *n = &tree->nodes[stack[--depth]];
        if (best < HUGE_VAL && carom_robot_exceeds(carom_robot_box_gap(n, point), best - tolerance))
            continue;
        if (n->count == 0) {
            double left = carom_robot_box_gap(&tree->nodes[n->first], point);
            double right = carom_robot_box_gap(&tree->nodes[n->first + 1], point);
            depth =
                carom_robot_push_children(n, left < right ? n->first + 1 : n->first, stack, depth);
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            double radius = carom_robot_item_radius(tree, i);
            if (tolerance > 0.0 && tree->triangles != NULL && best < HUGE_VAL && best > tolerance &&
                carom_robot_plane_exceeds(&tree->triangles[i], point, best - tolerance + radius))
                continue;
            double d = carom_robot_point_item_distance(tree, i, point) - radius;
            best = CAROM_MIN(d, best);
        }
    }
    return CAROM_MAX(best, 0.0);
}

#endif
