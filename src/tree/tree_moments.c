/* SPDX-License-Identifier: MIT */
/* Moments of nodes, from the leaves up. The second moment of a node is that of its parts, each
 * about its own centroid, and of the centroids (Steiner's theorem), so that nothing cancels. A ball
 * of radius R has a mean square distance of 3/5 R^2 from its centre.
 *
 * Invariant: the ball of a node with one sphere is its secondary ball, with a density of 1. */
#include "tree/tree_moments.h"

#include "base/assert.h"

/* Volume, centroid and mean square distance from it, in the frame. */
typedef struct tree_moments_part {
    double volume, square;
    carom_vec3 centre;
} tree_moments_part;

static tree_moments_part tree_moments_join(const tree_moments_part *parts, uint32_t count) {
    tree_moments_part sum = {0.0, 0.0, {0.0, 0.0, 0.0}};
    for (uint32_t i = 0; i < count; ++i) {
        sum.volume += parts[i].volume;
        sum.centre = carom_vec_add(sum.centre, carom_vec_scale(parts[i].centre, parts[i].volume));
    }
    if (!(sum.volume > 0.0)) return sum;
    sum.centre = carom_vec_scale(sum.centre, 1.0 / sum.volume);
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 apart = carom_vec_sub(parts[i].centre, sum.centre);
        sum.square += parts[i].volume * (parts[i].square + carom_vec_dot(apart, apart));
    }
    sum.square /= sum.volume;
    return sum;
}

/* The mean square of the distance of a ball's points from its centre, in squares of its radius. */
#define TREE_BALL_SQUARE 0.6

static tree_moments_part tree_moments_leaf(const carom_tree *t, const carom_tree_leaf *leaf) {
    tree_moments_part parts[CAROM_TREE_WIDTH];
    double scale = carom_power_of_two(t->shift);
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
        double r = leaf->secondary[lane] * scale;
        if (!(r > 0.0)) continue; /* none, or NaN past the end */
        parts[count].volume = 4.0 / 3.0 * CAROM_PI * (r * r * r);
        parts[count].square = TREE_BALL_SQUARE * (r * r);
        parts[count++].centre =
            carom_vec((leaf->x[lane] - t->origin.x) * scale, (leaf->y[lane] - t->origin.y) * scale,
                      (leaf->z[lane] - t->origin.z) * scale);
    }
    return tree_moments_join(parts, count);
}

static carom_tree_moment tree_moments_ball(const tree_moments_part *part) {
    double r = sqrt(part->square * (5.0 / 3.0)); /* the inverse */
    double ball = 4.0 / 3.0 * CAROM_PI * (r * r * r);
    return (carom_tree_moment){(float)part->centre.x, (float)part->centre.y, (float)part->centre.z,
                               (float)r, ball > 0.0 ? (float)(part->volume / ball) : 0.0f};
}

/* The part that a ball stands for. */
static tree_moments_part tree_moments_of(const carom_tree_moment *m) {
    double r = (double)m->radius;
    return (tree_moments_part){4.0 / 3.0 * CAROM_PI * (r * r * r) * (double)m->density,
                               TREE_BALL_SQUARE * (r * r),
                               carom_vec((double)m->x, (double)m->y, (double)m->z)};
}

/* The balls of the children of an inner node, lane by lane. */
static void tree_moments_list(const carom_tree *t, uint32_t node, carom_tree_moment_lanes *to) {
    for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
        uint32_t child = t->nodes[node].child[lane];
        carom_tree_moment m = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        if (child != CAROM_TREE_NONE) m = t->moments[child];
        to->x[lane] = m.x;
        to->y[lane] = m.y;
        to->z[lane] = m.z;
        to->radius[lane] = m.radius;
        to->density[lane] = m.density;
    }
}

void carom_tree_moments_make(carom_tree *t) {
    for (uint32_t i = 0; i < t->leaf_count; ++i) {
        tree_moments_part leaf = tree_moments_leaf(t, &t->leaves[i]);
        t->moments[t->inner_count + i] = tree_moments_ball(&leaf);
    }
    for (uint32_t i = t->inner_count; i-- > 0;) {
        tree_moments_part parts[CAROM_TREE_WIDTH];
        uint32_t count = 0;
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
            uint32_t child = t->nodes[i].child[lane];
            if (child == CAROM_TREE_NONE) continue;
            CAROM_ASSERT(child > i); /* its moment is there */
            parts[count++] = tree_moments_of(&t->moments[child]);
        }
        tree_moments_part all = tree_moments_join(parts, count);
        t->moments[i] = tree_moments_ball(&all);
        tree_moments_list(t, i, &t->moment_lanes[i]);
    }
}
