/* SPDX-License-Identifier: MIT */
/* robot_tree_item.h: the tree of a shape, and its searches that verdicts need, as items: the CPU
 * and the GPU decide by the same text.
 *
 * One of two trees is searched by its boxes in its own frame, the other by its balls, of which only
 * the centres need to be moved. Inside or outside is decided by the signed crossings of the ray
 * along +x. Whether the ray passes a triangle is decided in the yz plane by its edges: an edge
 * counts where exactly one of its ends is above the point, and its sign is that of an exact
 * orientation with its lower end first. Two triangles with a common edge so decide alike about it,
 * and the ray is counted once wherever it passes through edges and vertices. */
#ifndef CAROM_SRC_ROBOT_ROBOT_TREE_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_TREE_ITEM_H

#include <float.h>

#include "geom/orient.h"
#include "geom/pose.h"
#include "geom/within.h"

#define CAROM_ROBOT_LEAF  4u  /* items of a leaf at most */
#define CAROM_ROBOT_STACK 160 /* entries: a search of two trees needs the sum of their depths */

/* Nodes from the root to a leaf at most: halving 2^30 items needs 31, and a search of two trees has
 * space for the sum. */
#define CAROM_ROBOT_TREE_MOST_DEPTH (CAROM_ROBOT_STACK / 2 - 1)

/* Relative: balls and boxes are enlarged by this, some thousand times what rounding takes. */
#define CAROM_ROBOT_TREE_SLACK 0x1p-40

/* Of the lengths that take part: errors of products with a direction, and of moved points, a few
 * times 2^-52. */
#define CAROM_ROBOT_PLANE_ERROR 0x1p-44

/* Planes of triangles: the square of the least sine between two sides, and what a distance from the
 * plane is then off by, of that from a corner: 2^-52 by the sine, and some more. */
#define CAROM_ROBOT_FLAT_LEAST 0x1p-30
#define CAROM_ROBOT_FLAT_SLACK 0x1p-30

/* Vectors that are shorter have no direction. */
#define CAROM_ROBOT_LEAST_NORMAL 0x1p-400

typedef struct carom_robot_node {
    double low[3], high[3]; /* of the items, with their radii */
    carom_ball ball;        /* the same; its centre is that of the box */
    uint32_t first, count;  /* of a leaf: its items. Count 0: the children are first, first + 1 */
} carom_robot_node;

typedef struct carom_robot_tree {
    carom_robot_node *nodes; /* the root first; children after their parent */
    carom_triangle *triangles;
    carom_ball *balls; /* instead of triangles */
    uint32_t item_count, node_count;
    double radius;  /* of triangles: all points at most this far from them belong to the shape */
    double largest; /* no point is farther from the origin */
} carom_robot_tree;

/* The items of a node of b, moved to a's frame, with what they may be from items of a. */
typedef struct carom_robot_leaf {
    carom_triangle items[CAROM_ROBOT_LEAF];
    double reach[CAROM_ROBOT_LEAF];
    uint32_t count;
} carom_robot_leaf;

/* ---- Bounds ---------------------------------------------------------------------------------- */

CAROM_ITEM double carom_robot_coordinate(carom_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

CAROM_ITEM double carom_robot_squared_gap(carom_vec3 a, carom_vec3 b) {
    carom_vec3 d = carom_vec_sub(a, b);
    return carom_vec_dot(d, d);
}

/* The squared distance of a point from a box. */
CAROM_ITEM double carom_robot_box_gap(const carom_robot_node *n, carom_vec3 p) {
    double x = CAROM_MAX(n->low[0] - p.x, p.x - n->high[0]);
    double y = CAROM_MAX(n->low[1] - p.y, p.y - n->high[1]);
    double z = CAROM_MAX(n->low[2] - p.z, p.z - n->high[2]);
    x = CAROM_MAX(x, 0.0);
    y = CAROM_MAX(y, 0.0);
    z = CAROM_MAX(z, 0.0);
    return x * x + y * y + z * z;
}

/* Whether a squared gap is surely more than a distance. */
CAROM_ITEM bool carom_robot_exceeds(double squared, double distance) {
    return squared > distance * distance * (1.0 + CAROM_ROBOT_TREE_SLACK) + DBL_MIN;
}

CAROM_ITEM carom_triangle carom_robot_item_triangle(const carom_robot_tree *t, uint32_t item) {
    if (t->triangles != NULL) return t->triangles[item];
    carom_triangle point;
    point.corner[0] = point.corner[1] = point.corner[2] = t->balls[item].centre;
    return point;
}

CAROM_ITEM double carom_robot_item_radius(const carom_robot_tree *t, uint32_t item) {
    return t->triangles != NULL ? t->radius : t->balls[item].radius + t->radius;
}

CAROM_ITEM carom_triangle carom_robot_moved_triangle(const carom_frame *f,
                                                     const carom_triangle *t) {
    carom_triangle m;
    for (int i = 0; i < 3; ++i) m.corner[i] = carom_frame_apply(f, t->corner[i]);
    return m;
}

/* Puts the children of a node on a stack, `below` under the other one, which is taken first;
 * returns the new depth. */
CAROM_ITEM int carom_robot_push_children(const carom_robot_node *n, uint32_t below, uint32_t *stack,
                                         int depth) {
    CAROM_ASSERT(n->count == 0 && (below == n->first || below == n->first + 1));
    CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
    stack[depth] = below;
    stack[depth + 1] = 2 * n->first + 1 - below;
    return depth + 2;
}

/* Nodes of two trees, b's ball in a's frame. */
typedef struct carom_robot_node_pair {
    uint32_t a, b;
    carom_vec3 centre; /* of b's ball */
    double gap;        /* of distances: they are not nearer than this */
} carom_robot_node_pair;

CAROM_ITEM carom_robot_node_pair carom_robot_node_pair_of(uint32_t a, uint32_t b,
                                                          carom_vec3 centre) {
    carom_robot_node_pair p;
    p.a = a;
    p.b = b;
    p.centre = centre;
    p.gap = 0.0;
    return p;
}

/* ---- Two trees ------------------------------------------------------------------------------- */

/* Whether two triangles are at most `reach` apart. The CPU decides exactly; on the GPU what lies
 * within rounding of the reach counts as farther and makes the answer unsure. */
#ifdef __CUDACC__
CAROM_ITEM bool carom_robot_triangles_within(const carom_triangle *a, const carom_triangle *b,
                                             double reach, bool *unsure) {
    int verdict = carom_within_filter(a, b, reach);
    if (verdict == CAROM_UNDECIDED) *unsure = true;
    return verdict == CAROM_YES;
}
#else
CAROM_ITEM bool carom_robot_triangles_within(const carom_triangle *a, const carom_triangle *b,
                                             double reach, bool *unsure) {
    (void)unsure;
    return carom_within(a, b, reach);
}
#endif

/* Replaces a pair of nodes by those of the children of the larger one. */
CAROM_ITEM int carom_robot_descend(const carom_robot_tree *a, const carom_robot_tree *b,
                                   const carom_frame *b_to_a, const carom_robot_node_pair *p,
                                   carom_robot_node_pair *stack, int depth) {
    const carom_robot_node *na = &a->nodes[p->a], *nb = &b->nodes[p->b];
    bool split_a = nb->count != 0 || (na->count == 0 && na->ball.radius > nb->ball.radius);
    CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
    for (uint32_t i = 0; i < 2; ++i) {
        carom_robot_node_pair *to = &stack[depth + (int)i];
        uint32_t child = nb->first + i;
        *to = split_a ? carom_robot_node_pair_of(na->first + i, p->b, p->centre)
                      : carom_robot_node_pair_of(
                            p->a, child, carom_frame_apply(b_to_a, b->nodes[child].ball.centre));
    }
    return depth + 2;
}

CAROM_ITEM bool carom_robot_leaves_within(const carom_robot_tree *a, const carom_robot_node *na,
                                          const carom_robot_tree *b, const carom_robot_node *nb,
                                          const carom_frame *b_to_a, double reach, bool *unsure) {
    for (uint32_t j = nb->first; j < nb->first + nb->count; ++j) {
        carom_triangle own = carom_robot_item_triangle(b, j),
                       other = carom_robot_moved_triangle(b_to_a, &own);
        double with_b = reach + carom_robot_item_radius(b, j);
        for (uint32_t i = na->first; i < na->first + na->count; ++i) {
            carom_triangle mine = carom_robot_item_triangle(a, i);
            double with_both = (with_b + carom_robot_item_radius(a, i)) * (1.0 + DBL_EPSILON * 4.0);
            if (carom_robot_triangles_within(&mine, &other, with_both, unsure)) return true;
        }
    }
    return false;
}

/* Whether items of a and of b, moved to a's frame, are at most `reach` apart. */
CAROM_ITEM bool carom_robot_within_item(const carom_robot_tree *a, const carom_robot_tree *b,
                                        const carom_frame *b_to_a, double reach, bool *unsure) {
    carom_robot_node_pair stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (a->item_count == 0 || b->item_count == 0) return false;
    stack[depth++] =
        carom_robot_node_pair_of(0, 0, carom_frame_apply(b_to_a, b->nodes[0].ball.centre));
    while (depth > 0) {
        carom_robot_node_pair p = stack[--depth];
        const carom_robot_node *na = &a->nodes[p.a], *nb = &b->nodes[p.b];
        if (carom_robot_exceeds(carom_robot_box_gap(na, p.centre), nb->ball.radius + reach))
            continue;
        if (na->count == 0 || nb->count == 0) {
            depth = carom_robot_descend(a, b, b_to_a, &p, stack, depth);
            continue;
        }
        if (carom_robot_leaves_within(a, na, b, nb, b_to_a, reach, unsure)) return true;
    }
    return false;
}

/* The items of a node of b, moved to a's frame. */
CAROM_ITEM carom_robot_leaf carom_robot_leaf_item(const carom_robot_tree *b,
                                                  const carom_robot_node *node,
                                                  const carom_frame *b_to_a, double reach) {
    carom_robot_leaf leaf;
    leaf.count = node->count;
    CAROM_ASSERT(node->count != 0 && node->count <= CAROM_ROBOT_LEAF);
    for (uint32_t i = 0; i < node->count; ++i) {
        carom_triangle own = carom_robot_item_triangle(b, node->first + i);
        leaf.items[i] = carom_robot_moved_triangle(b_to_a, &own);
        leaf.reach[i] = reach + carom_robot_item_radius(b, node->first + i);
    }
    return leaf;
}

/* Whether a node's box and one around [low, high] have no common point. */
CAROM_ITEM bool carom_robot_boxes_apart(const carom_robot_node *n, const double *low,
                                        const double *high) {
    return n->low[0] > high[0] || n->high[0] < low[0] || n->low[1] > high[1] ||
           n->high[1] < low[1] || n->low[2] > high[2] || n->high[2] < low[2];
}

/* A box around what is at most `reach` from a triangle. */
CAROM_ITEM void carom_robot_triangle_box(const carom_triangle *t, double reach, double *low,
                                         double *high) {
    for (int k = 0; k < 3; ++k) {
        double x = carom_robot_coordinate(t->corner[0], k);
        double y = carom_robot_coordinate(t->corner[1], k);
        double z = carom_robot_coordinate(t->corner[2], k);
        double from = CAROM_MIN(x, y), to = CAROM_MAX(x, y);
        from = CAROM_MIN(from, z);
        to = CAROM_MAX(to, z);
        double out = reach + CAROM_ROBOT_TREE_SLACK * (reach + fabs(from) + fabs(to));
        low[k] = from - out;
        high[k] = to + out;
    }
}

/* A triangle as nodes are compared with it: the box around what is within reach, and its slab along
 * the normal of the triangle. */
typedef struct carom_robot_near_triangle {
    double low[3], high[3];
    carom_vec3 normal; /* about 1 long; 0 where it has none */
    double from, to;   /* along it */
} carom_robot_near_triangle;

/* `size`: at least all lengths that take part. Whatever the normal is, a node that does not reach
 * into the slab is farther away than the reach. */
CAROM_ITEM carom_robot_near_triangle carom_robot_near_triangle_of(const carom_triangle *t,
                                                                  double reach, double size) {
    carom_robot_near_triangle near;
    const carom_vec3 *c = t->corner;
    carom_robot_triangle_box(t, reach, near.low, near.high);
    carom_vec3 n = carom_vec_cross(carom_vec_sub(c[1], c[0]), carom_vec_sub(c[2], c[0]));
    double length = sqrt(carom_vec_dot(n, n));
    near.normal = carom_vec_scale(n, length > CAROM_ROBOT_LEAST_NORMAL ? 1.0 / length : 0.0);
    double u = carom_vec_dot(near.normal, c[0]), v = carom_vec_dot(near.normal, c[1]);
    double w = carom_vec_dot(near.normal, c[2]);
    double least = CAROM_MIN(u, v), most = CAROM_MAX(u, v);
    double out = reach * (1.0 + CAROM_ROBOT_TREE_SLACK) + CAROM_ROBOT_PLANE_ERROR * (size + reach);
    near.from = CAROM_MIN(least, w) - out;
    near.to = CAROM_MAX(most, w) + out;
    return near;
}

CAROM_ITEM bool carom_robot_triangle_apart(const carom_robot_node *n,
                                           const carom_robot_near_triangle *t) {
    if (carom_robot_boxes_apart(n, t->low, t->high)) return true;
    carom_vec3 c = n->ball.centre, d = t->normal;
    double along = carom_vec_dot(d, c);
    double half = (fabs(d.x) * (n->high[0] - c.x) + fabs(d.y) * (n->high[1] - c.y)) +
                  fabs(d.z) * (n->high[2] - c.z);
    return along - half > t->to || along + half < t->from;
}

/* The same for a triangle of a tree without radius. */
CAROM_ITEM bool carom_robot_slab_apart(const carom_vec3 *c, const carom_robot_near_triangle *t) {
    double u = carom_vec_dot(t->normal, c[0]), v = carom_vec_dot(t->normal, c[1]);
    double w = carom_vec_dot(t->normal, c[2]);
    return (u > t->to && v > t->to && w > t->to) || (u < t->from && v < t->from && w < t->from);
}

/* The same by its box. */
CAROM_ITEM bool carom_robot_box_apart(const carom_vec3 *c, const carom_robot_near_triangle *t) {
    for (int k = 0; k < 3; ++k) {
        double u = carom_robot_coordinate(c[0], k), v = carom_robot_coordinate(c[1], k);
        double w = carom_robot_coordinate(c[2], k);
        if ((u > t->high[k] && v > t->high[k] && w > t->high[k]) ||
            (u < t->low[k] && v < t->low[k] && w < t->low[k]))
            return true;
    }
    return false;
}

/* Whether a triangle of a leaf and items of a node of a are within reach. */
CAROM_ITEM bool carom_robot_node_touches(const carom_robot_tree *a, const carom_robot_node *n,
                                         const carom_robot_leaf *leaf, uint32_t i,
                                         const carom_robot_near_triangle *near, bool *unsure) {
    for (uint32_t j = n->first; j < n->first + n->count; ++j) {
        carom_triangle mine = carom_robot_item_triangle(a, j);
        double radius = carom_robot_item_radius(a, j);
        double reach = (leaf->reach[i] + radius) * (1.0 + DBL_EPSILON * 4.0);
        if (radius == 0.0 &&
            (carom_robot_slab_apart(mine.corner, near) || carom_robot_box_apart(mine.corner, near)))
            continue;
        if (carom_robot_triangles_within(&mine, &leaf->items[i], reach, unsure)) return true;
    }
    return false;
}

/* The same as carom_robot_within_item for a leaf of b. Each node has a bit per triangle that may be
 * within reach of it. */
CAROM_ITEM bool carom_robot_touches_item(const carom_robot_tree *a, const carom_robot_leaf *leaf,
                                         bool *unsure) {
    uint32_t stack[CAROM_ROBOT_STACK];
    uint8_t of[CAROM_ROBOT_STACK];
    carom_robot_near_triangle near[CAROM_ROBOT_LEAF];
    int depth = 0;
    if (a->item_count == 0) return false;
    for (uint32_t i = 0; i < leaf->count; ++i) {
        double size = carom_length(leaf->items[i].corner[0]);
        for (int k = 1; k < 3; ++k) {
            double own = carom_length(leaf->items[i].corner[k]);
            size = CAROM_MAX(own, size);
        }
        near[i] = carom_robot_near_triangle_of(&leaf->items[i], leaf->reach[i], a->largest + size);
    }
    stack[0] = 0;
    of[depth++] = (uint8_t)((1u << leaf->count) - 1u);
    while (depth > 0) {
        const carom_robot_node *n = &a->nodes[stack[--depth]];
        uint32_t all = of[depth], left = 0;
        for (uint32_t i = 0; i < leaf->count; ++i) {
            if ((all >> i & 1u) == 0 || carom_robot_triangle_apart(n, &near[i])) continue;
            if (n->count != 0 && carom_robot_node_touches(a, n, leaf, i, &near[i], unsure))
                return true;
            left |= 1u << i;
        }
        if (n->count != 0 || left == 0) continue;
        of[depth] = of[depth + 1] = (uint8_t)left;
        depth = carom_robot_push_children(n, n->first, stack, depth);
    }
    return false;
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* From a point to an item without its radius. */
CAROM_ITEM double carom_robot_point_item_distance(const carom_robot_tree *tree, uint32_t item,
                                                  carom_vec3 point) {
    carom_closest closest;
    if (tree->triangles == NULL)
        return sqrt(carom_robot_squared_gap(point, tree->balls[item].centre));
    carom_near_point_triangle(point, tree->triangles[item].corner, &closest);
    return closest.distance;
}

/* Whether the plane of a triangle is surely farther from a point than a distance. */
CAROM_ITEM bool carom_robot_plane_exceeds(const carom_triangle *t, carom_vec3 point,
                                          double distance) {
    carom_vec3 e = carom_vec_sub(t->corner[1], t->corner[0]);
    carom_vec3 f = carom_vec_sub(t->corner[2], t->corner[0]);
    carom_vec3 n = carom_vec_cross(e, f), d = carom_vec_sub(point, t->corner[0]);
    double nn = carom_vec_dot(n, n), across = carom_vec_dot(n, d);
    if (!(nn > CAROM_ROBOT_FLAT_LEAST * carom_vec_dot(e, e) * carom_vec_dot(f, f))) return false;
    double least = distance + CAROM_ROBOT_FLAT_SLACK * sqrt(carom_vec_dot(d, d));
    return across * across > least * least * nn * (1.0 + CAROM_ROBOT_TREE_SLACK) + DBL_MIN;
}

/* Whether any item is at most `reach` from a point, decided up to 2^-44 of the largest coordinate.
 */
CAROM_ITEM bool carom_robot_near_item(const carom_robot_tree *tree, carom_vec3 point,
                                      double reach) {
    uint32_t stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (tree->item_count == 0 ||
        carom_robot_exceeds(carom_robot_box_gap(&tree->nodes[0], point), reach))
        return false;
    stack[depth++] = 0;
    while (depth > 0) {
        const carom_robot_node *n = &tree->nodes[stack[--depth]];
        if (n->count == 0) { /* the nearer child is taken first, the other one where it is near */
            double left = carom_robot_box_gap(&tree->nodes[n->first], point);
            double right = carom_robot_box_gap(&tree->nodes[n->first + 1], point);
            uint32_t nearer = left < right ? n->first : n->first + 1;
            CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
            if (!carom_robot_exceeds(CAROM_MAX(left, right), reach))
                stack[depth++] = 2 * n->first + 1 - nearer;
            if (!carom_robot_exceeds(CAROM_MIN(left, right), reach)) stack[depth++] = nearer;
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            double within = reach + carom_robot_item_radius(tree, i);
            if (tree->triangles != NULL &&
                carom_robot_plane_exceeds(&tree->triangles[i], point, within))
                continue;
            if (carom_robot_point_item_distance(tree, i, point) <= within) return true;
        }
    }
    return false;
}

/* ---- Inside ---------------------------------------------------------------------------------- */

/* How often a triangle goes round a point in the yz plane: -1, 0 or 1. */
CAROM_ITEM int carom_robot_turns_around(const carom_triangle *t, carom_vec3 p) {
    int turns = 0;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 u = t->corner[i], v = t->corner[(i + 1) % 3];
        bool rises = u.z <= p.z && p.z < v.z, falls = v.z <= p.z && p.z < u.z;
        if (!rises && !falls) continue;
        int side = rises ? carom_orient_along(u, v, p, 0) : carom_orient_along(v, u, p, 0);
        if (side > 0) turns += rises ? 1 : -1;
    }
    return turns;
}

/* The winding number of closed triangles about a point that is not on them; exact. */
CAROM_ITEM int carom_robot_winding_item(const carom_robot_tree *tree, carom_vec3 p) {
    uint32_t stack[CAROM_ROBOT_STACK];
    int depth = 0, winding = 0;
    if (tree->item_count == 0 || tree->triangles == NULL) return 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const carom_robot_node *n = &tree->nodes[stack[--depth]];
        if (n->high[0] < p.x || n->low[1] > p.y || n->high[1] < p.y || n->low[2] > p.z ||
            n->high[2] < p.z)
            continue;
        if (n->count == 0) {
            depth = carom_robot_push_children(n, n->first, stack, depth);
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            const carom_triangle *t = &tree->triangles[i];
            int turns = carom_robot_turns_around(t, p);
            if (turns != 0 &&
                turns * carom_orient3d(t->corner[0], t->corner[1], t->corner[2], p) < 0)
                winding += turns;
        }
    }
    return winding;
}

/* Whether the centre of any ball of `points`, moved to the frame of `closed`, has there a winding
 * number of at least 1 times `sign`. */
CAROM_ITEM bool carom_robot_encloses_item(const carom_robot_tree *closed, int sign,
                                          const carom_robot_tree *points,
                                          const carom_frame *to_closed) {
    uint32_t stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (closed->item_count == 0 || points->item_count == 0) return false;
    stack[depth++] = 0;
    while (depth > 0) {
        const carom_robot_node *n = &points->nodes[stack[--depth]];
        carom_vec3 centre = carom_frame_apply(to_closed, n->ball.centre);
        if (carom_robot_exceeds(carom_robot_box_gap(&closed->nodes[0], centre),
                                n->ball.radius + closed->largest * CAROM_ROBOT_TREE_SLACK))
            continue;
        if (n->count == 0) {
            depth = carom_robot_push_children(n, n->first, stack, depth);
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            carom_vec3 p = carom_frame_apply(to_closed, points->balls[i].centre);
            if (sign * carom_robot_winding_item(closed, p) >= 1) return true;
        }
    }
    return false;
}

#endif
