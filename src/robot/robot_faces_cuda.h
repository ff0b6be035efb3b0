/* SPDX-License-Identifier: MIT */
/* robot_faces_cuda.h: how a warp decides a pair of bodies by their faces: the decision of
 * carom_robot_pair_collides_item, whose parts may be searched in any order, by vectors of nodes and
 * of triangles. */
#ifndef CAROM_SRC_ROBOT_ROBOT_FACES_CUDA_H
#define CAROM_SRC_ROBOT_ROBOT_FACES_CUDA_H

#include "base/device_cuda.h"
#include "robot/robot_decide_item.h"

/* Shared memory of a warp that decides a pair: stacks with room for a few vectors of nodes, and
 * lists for what a vector of leaves appends to one that is not full. */
#define CAROM_ROBOT_FACES_WORK   512u
#define CAROM_ROBOT_FACES_PAIRS  (CAROM_WARP + CAROM_WARP * CAROM_ROBOT_LEAF)
#define CAROM_ROBOT_FACES_PLANES 12 /* as the CPU tries */

/* What a warp has in shared memory while it decides a pair: nodes of the tree that is searched by
 * distances in cells, triangles of its leaves, pairs of a triangle and a node of the other tree,
 * and pairs of triangles, each until a vector of them is there. */
struct carom_robot_faces {
    uint64_t work[CAROM_ROBOT_FACES_WORK];
    uint64_t pairs[CAROM_ROBOT_FACES_PAIRS];
    uint32_t nodes[CAROM_ROBOT_FACES_WORK];
    uint32_t triangles[CAROM_ROBOT_FACES_PAIRS];
};

/* How many of a stack are taken at once, so that what these append fits: one at a time a stack
 * grows by no more than the depth of a tree. */
static __device__ inline uint32_t carom_robot_faces_taken(uint32_t depth) {
    const uint32_t full = CAROM_ROBOT_FACES_WORK - CAROM_ROBOT_TREE_MOST_DEPTH - 2;
    uint32_t space = depth < full ? full - depth : 1;
    return CAROM_MIN(CAROM_MIN(depth, space), CAROM_WARP);
}

/* Appends up to `count` entries of each lane; returns the new number. */
template <typename T, typename VALUE>
static __device__ inline uint32_t carom_robot_faces_append(T *to, uint32_t used, uint32_t count,
                                                           VALUE value) {
    const uint32_t below = (1u << threadIdx.x % CAROM_WARP) - 1u;
    for (uint32_t k = 0; __any_sync(~0u, k < count); ++k) {
        unsigned mask = __ballot_sync(~0u, k < count);
        if (k < count) to[used + __popc(mask & below)] = value(k);
        used += __popc(mask);
    }
    __syncwarp();
    return used;
}

/* The triangles of the search against a tree a. */
static __device__ bool carom_robot_faces_touch(carom_robot_faces *s, uint32_t count,
                                               const carom_robot_tree *a, const carom_robot_tree *b,
                                               const carom_frame *b_to_a, double reach,
                                               bool *unsure) {
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    uint32_t depth = 0, pairs = 0;
    if (a->item_count == 0) return false;
    for (uint32_t k = lane; k < count; k += CAROM_WARP)
        s->work[k] = (uint64_t)s->triangles[k] << 32;
    depth = count;
    __syncwarp();
    while (depth != 0 || pairs != 0) {
        if (pairs >= CAROM_WARP || depth == 0) {
            bool is_there = lane < pairs, met = false;
            pairs -= CAROM_MIN(pairs, CAROM_WARP);
            if (is_there) {
                uint64_t pair = s->pairs[pairs + lane];
                uint32_t i = (uint32_t)(pair >> 32), j = (uint32_t)pair;
                carom_triangle own = carom_robot_item_triangle(b, i);
                carom_triangle other = carom_robot_moved_triangle(b_to_a, &own);
                carom_triangle mine = carom_robot_item_triangle(a, j);
                double both =
                    ((reach + carom_robot_item_radius(b, i)) + carom_robot_item_radius(a, j)) *
                    (1.0 + DBL_EPSILON * 4.0);
                met = carom_robot_triangles_within(&mine, &other, both, unsure);
            }
            if (__any_sync(~0u, met)) return true;
            continue;
        }
        uint32_t taken = carom_robot_faces_taken(depth), leaves = 0, inner = 0, first = 0,
                 triangle = 0;
        depth -= taken;
        if (lane < taken) {
            uint64_t work = s->work[depth + lane];
            const carom_robot_node *n = &a->nodes[(uint32_t)work];
            triangle = (uint32_t)(work >> 32);
            carom_triangle own = carom_robot_item_triangle(b, triangle);
            carom_triangle moved = carom_robot_moved_triangle(b_to_a, &own);
            double low[3], high[3];
            carom_robot_triangle_box(&moved, reach + carom_robot_item_radius(b, triangle), low,
                                     high);
            first = n->first;
            if (!carom_robot_boxes_apart(n, low, high)) {
                leaves = n->count;
                inner = n->count == 0 ? 2 : 0;
            }
        }
        __syncwarp();
        const uint64_t high_half = (uint64_t)triangle << 32;
        depth = carom_robot_faces_append(s->work, depth, inner,
                                         [=](uint32_t k) { return high_half | (first + k); });
        pairs = carom_robot_faces_append(s->pairs, pairs, leaves,
                                         [=](uint32_t k) { return high_half | (first + k); });
        CAROM_ASSERT(depth <= CAROM_ROBOT_FACES_WORK && pairs <= CAROM_ROBOT_FACES_PAIRS);
    }
    return false;
}

/* The triangles that the search has so far, against all parts; of these points that are inside. */
static __device__ bool carom_robot_faces_collide(carom_robot_faces *s, uint32_t count,
                                                 const carom_robot_field_search *f,
                                                 const carom_robot_tree *tree,
                                                 const carom_frame *to_field, bool *unsure) {
    bool inside = false;
    for (uint32_t k = threadIdx.x % CAROM_WARP; k < count; k += CAROM_WARP) {
        carom_triangle own = carom_robot_item_triangle(tree, s->triangles[k]);
        for (int c = 0; c < 3; ++c) {
            carom_robot_field_bounds at =
                carom_robot_field_at(f->field, carom_frame_apply(to_field, own.corner[c]));
            inside = inside || (at.side == 1 && at.lower > f->reach);
        }
    }
    if (__any_sync(~0u, inside)) return true;
    for (uint32_t i = 0; i < f->part_count; ++i)
        if (carom_robot_faces_touch(s, count, &f->parts[i].tree, tree, to_field, f->reach, unsure))
            return true;
    return false;
}

/* carom_robot_field_meets by a warp. */
static __device__ bool carom_robot_faces_meet(carom_robot_faces *s,
                                              const carom_robot_field_search *f,
                                              const carom_robot_tree *tree,
                                              const carom_frame *to_field, bool *unsure) {
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    uint32_t depth = 1, count = 0;
    if (tree->item_count == 0) return false;
    if (lane == 0) s->nodes[0] = 0;
    __syncwarp();
    while (depth != 0) {
        uint32_t taken = carom_robot_faces_taken(depth), leaves = 0, inner = 0, first = 0;
        bool is_inside = false;
        depth -= taken;
        if (lane < taken) {
            const uint32_t node = s->nodes[depth + lane];
            const carom_robot_node *n = &tree->nodes[node];
            carom_robot_field_node at = carom_robot_field_node_of(f, tree, node, to_field);
            bool is_far = at.lower > n->ball.radius + f->reach;
            is_inside = is_far && at.side == 1;
            first = n->first;
            leaves = is_far ? 0 : n->count;
            inner = !is_far && n->count == 0 ? 2 : 0;
        }
        if (__any_sync(~0u, is_inside)) return true;
        depth =
            carom_robot_faces_append(s->nodes, depth, inner, [=](uint32_t k) { return first + k; });
        count = carom_robot_faces_append(s->triangles, count, leaves,
                                         [=](uint32_t k) { return first + k; });
        CAROM_ASSERT(depth <= CAROM_ROBOT_FACES_WORK && count <= CAROM_ROBOT_FACES_PAIRS);
        if (count < CAROM_WARP && (depth != 0 || count == 0)) continue;
        if (carom_robot_faces_collide(s, count, f, tree, to_field, unsure)) return true;
        count = 0;
    }
    return false;
}

/* carom_robot_encloses_item by a warp: a point per lane. */
static __device__ bool carom_robot_faces_enclose(const carom_robot_part *closed,
                                                 const carom_robot_tree *points,
                                                 const carom_frame *to_closed) {
    bool is_inside = false;
    if (!closed->closed || closed->tree.item_count == 0) return false;
    for (uint32_t i = threadIdx.x % CAROM_WARP; i < points->item_count && !is_inside;
         i += CAROM_WARP) {
        carom_vec3 p = carom_frame_apply(to_closed, points->balls[i].centre);
        if (carom_robot_box_gap(&closed->tree.nodes[0], p) > 0.0) continue;
        is_inside = closed->sign * carom_robot_winding_item(&closed->tree, p) >= 1;
    }
    return __any_sync(~0u, is_inside);
}

/* carom_robot_field_encloses by a warp. */
static __device__ bool carom_robot_faces_field_enclose(const carom_robot_field_search *f,
                                                       const carom_robot_tree *points,
                                                       const carom_frame *to_field) {
    bool is_inside = false;
    for (uint32_t i = threadIdx.x % CAROM_WARP; i < points->item_count && !is_inside;
         i += CAROM_WARP)
        is_inside =
            carom_robot_point_inside(f, carom_frame_apply(to_field, points->balls[i].centre));
    return __any_sync(~0u, is_inside);
}

/* carom_robot_field_collides by a warp. */
static __device__ bool carom_robot_faces_field_collide(carom_robot_faces *s,
                                                       const carom_robot_field_search *f,
                                                       const carom_robot_part *parts,
                                                       uint32_t count, const carom_frame *to_field,
                                                       bool *unsure) {
    for (uint32_t i = 0; i < count; ++i)
        if (carom_robot_faces_meet(s, f, &parts[i].tree, to_field, unsure)) return true;
    carom_frame back = carom_robot_frame_inverse(to_field);
    for (uint32_t i = 0; i < count; ++i) {
        if (f->field->closed &&
            carom_robot_faces_field_enclose(f, carom_robot_part_points(&parts[i]), to_field))
            return true;
        for (uint32_t k = 0; k < f->part_count; ++k)
            if (carom_robot_faces_enclose(&parts[i], carom_robot_part_points(&f->parts[k]), &back))
                return true;
    }
    return false;
}

/* carom_robot_trees_collide by a warp: all triangles of b against the trees of a. */
static __device__ bool carom_robot_faces_trees_collide(carom_robot_faces *s,
                                                       const carom_robot_exact_pair *e,
                                                       double reach, bool *unsure) {
    carom_frame back = carom_robot_frame_inverse(&e->b_to_a);
    for (uint32_t i = 0; i < e->a_count; ++i)
        for (uint32_t k = 0; k < e->b_count; ++k) {
            const carom_robot_part *a = &e->a[i], *b = &e->b[k];
            for (uint32_t first = 0; first < b->tree.item_count; first += CAROM_ROBOT_FACES_PAIRS) {
                uint32_t count = CAROM_MIN(b->tree.item_count - first, CAROM_ROBOT_FACES_PAIRS);
                for (uint32_t j = threadIdx.x % CAROM_WARP; j < count; j += CAROM_WARP)
                    s->triangles[j] = first + j;
                __syncwarp();
                if (carom_robot_faces_touch(s, count, &a->tree, &b->tree, &e->b_to_a, reach,
                                            unsure))
                    return true;
            }
            if (carom_robot_faces_enclose(a, carom_robot_part_points(b), &e->b_to_a) ||
                carom_robot_faces_enclose(b, carom_robot_part_points(a), &back))
                return true;
        }
    return false;
}

/* The point of a tree farthest along a direction, by a warp; *most is how far. */
static __device__ carom_vec3 carom_robot_faces_farthest(const carom_robot_tree *t, carom_vec3 d,
                                                        double *most) {
    carom_vec3 best = t->nodes[0].ball.centre;
    *most = -HUGE_VAL;
    for (uint32_t i = threadIdx.x % CAROM_WARP; i < t->item_count; i += CAROM_WARP) {
        carom_triangle own = carom_robot_item_triangle(t, i);
        double radius = carom_robot_item_radius(t, i);
        for (int k = 0; k < 3; ++k) {
            double far = carom_vec_dot(own.corner[k], d) + radius;
            if (!(far > *most)) continue;
            *most = far;
            best = own.corner[k];
        }
    }
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        double far = __shfl_xor_sync(~0u, *most, (int)step);
        carom_vec3 other = carom_vec(__shfl_xor_sync(~0u, best.x, (int)step),
                                     __shfl_xor_sync(~0u, best.y, (int)step),
                                     __shfl_xor_sync(~0u, best.z, (int)step));
        bool is_upper = (threadIdx.x & step) != 0; /* of two that are as far, the lower lane's */
        if (far > *most || (far == *most && is_upper)) {
            *most = far;
            best = other;
        }
    }
    return best;
}

/* carom_robot_tree_separated by a warp: whatever the directions are, a gap is a proof. */
static __device__ bool carom_robot_faces_separated(const carom_robot_tree *a,
                                                   const carom_robot_tree *b,
                                                   const carom_frame *b_to_a, double reach) {
    const double *r = b_to_a->r;
    double slack = CAROM_ROBOT_PLANE_ERROR * (a->largest + b->largest + carom_length(b_to_a->t));
    carom_vec3 d = carom_vec_unit(
        carom_vec_sub(carom_frame_apply(b_to_a, b->nodes[0].ball.centre), a->nodes[0].ball.centre));
    for (int i = 0; i < CAROM_ROBOT_FACES_PLANES; ++i) {
        carom_vec3 back = carom_vec(-((r[0] * d.x + r[3] * d.y) + r[6] * d.z),
                                    -((r[1] * d.x + r[4] * d.y) + r[7] * d.z),
                                    -((r[2] * d.x + r[5] * d.y) + r[8] * d.z));
        double from, to;
        carom_vec3 p = carom_robot_faces_farthest(a, d, &from),
                   q = carom_robot_faces_farthest(b, back, &to);
        double gap = (carom_vec_dot(b_to_a->t, d) - to) - from;
        if (gap * (1.0 - CAROM_ROBOT_TREE_SLACK) > reach + slack) return true;
        carom_vec3 between = carom_vec_unit(carom_vec_sub(carom_frame_apply(b_to_a, q), p));
        double along = carom_vec_dot(between, d);
        d = carom_vec_unit(carom_vec_sub(d, carom_vec_scale(between, 2.0 * along)));
        if (!(carom_vec_dot(d, d) > 0.5)) return false;
    }
    return false;
}

/* carom_robot_pair_collides_item by a warp. */
static __device__ bool carom_robot_faces_pair_collides(carom_robot_faces *s,
                                                       const carom_robot_view *v,
                                                       const carom_robot_pose *poses, uint32_t pair,
                                                       double margin, bool *unsure) {
    const carom_robot_exact_pair e = carom_robot_exact_pair_of(v, poses, pair);
    carom_robot_field_search f;
    f.reach = margin + 2.0 * e.error;
    if (e.a_count == 0 || e.b_count == 0) return false;
    if (carom_robot_pair_is_small(&e) && e.a[0].tree.item_count != 0 &&
        e.b[0].tree.item_count != 0 &&
        carom_robot_faces_separated(&e.a[0].tree, &e.b[0].tree, &e.b_to_a, f.reach))
        return false;
    if (e.a_field->cells != nullptr) {
        f.parts = e.a;
        f.part_count = e.a_count;
        f.field = e.a_field;
        return carom_robot_faces_field_collide(s, &f, e.b, e.b_count, &e.b_to_a, unsure);
    }
    if (e.b_field->cells != nullptr) {
        const carom_frame a_to_b = carom_robot_frame_inverse(&e.b_to_a);
        f.parts = e.b;
        f.part_count = e.b_count;
        f.field = e.b_field;
        return carom_robot_faces_field_collide(s, &f, e.a, e.a_count, &a_to_b, unsure);
    }
    return carom_robot_faces_trees_collide(s, &e, f.reach, unsure);
}

#endif
