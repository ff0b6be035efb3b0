/* SPDX-License-Identifier: MIT */
/* tree_posed_pair_item.h: two posed trees, from two poses and scales to the motion between their
 * frames, in doubles with a bound of its error, and in floats with the margin that searches allow
 * for. CPU and GPU share it.
 *
 * Invariant: a point of the moving tree that is at y' in the fixed tree's frame is computed within
 * `motion_error` in doubles, and distances of balls in floats within `margin`. */
#ifndef CAROM_SRC_TREE_TREE_POSED_PAIR_ITEM_H
#define CAROM_SRC_TREE_TREE_POSED_PAIR_ITEM_H

#include "base/assert.h"
#include "geom/length.h"
#include "tree/tree_posed_pair.h"

/* Two trees whose centres are farther apart than this, in units of the fixed tree's frame, in which
 * its size is 1/2 to 1, see each other as points: distances are then compared along one direction.
 * What is left out, a length across it of at most w = 2, adds less than w^2 / (2 1024) = 2^-9. */
#define TREE_FAR_DISTANCE 1024.0

/* Relative error of the moving tree's transform in doubles: some thirty roundings of 2^-53. */
#define TREE_POSE_ERROR 0x1p-47

/* CAROM_TREE_ROUNDING is for coordinates up to this, in units of the frame. */
#define TREE_ROUNDING_EXTENT 8.0

/* Relative: scales in floats are larger by this than in doubles, four roundings of 2^-24. */
#define TREE_SCALE_SLACK 0x1p-22

CAROM_ITEM carom_vec3 tree_posed_pair_turn_back(const carom_frame *f, carom_vec3 d) {
    return carom_vec((f->r[0] * d.x + f->r[3] * d.y) + f->r[6] * d.z,
                     (f->r[1] * d.x + f->r[4] * d.y) + f->r[7] * d.z,
                     (f->r[2] * d.x + f->r[5] * d.y) + f->r[8] * d.z);
}

/* Computes the motion in doubles. */
CAROM_ITEM void tree_posed_pair_set_motion(carom_tree_posed_pair *p) {
    const carom_tree *f = p->fixed, *m = p->moving;
    const carom_spheres_transform *fixed = carom_tree_fixed_transform(p),
                                  *moving = carom_tree_moving_transform(p);
    /* x_f = R_f^T (scale_m R_m x_m + t_m - t_f) / scale_f */
    double shrink = moving->scale / fixed->scale;
    double scale = shrink * carom_power_of_two(f->shift - m->shift);
    double to_frame = carom_power_of_two(f->shift);
    carom_vec3 between = carom_vec_sub(moving->frame.t, fixed->frame.t);
    carom_vec3 origin = carom_vec_scale(
        tree_posed_pair_turn_back(&fixed->frame, carom_frame_turn(&moving->frame, m->origin)),
        shrink);
    carom_vec3 move =
        carom_vec_scale(tree_posed_pair_turn_back(&fixed->frame, between), 1.0 / fixed->scale);
    move = carom_vec_scale(carom_vec_sub(carom_vec_add(origin, move), f->origin), to_frame);
    for (int k = 0; k < 3; ++k) {
        carom_vec3 axis = carom_vec(k == 0, k == 1, k == 2);
        axis = tree_posed_pair_turn_back(&fixed->frame, carom_frame_turn(&moving->frame, axis));
        p->motion[k] = axis.x * scale;
        p->motion[3 + k] = axis.y * scale;
        p->motion[6 + k] = axis.z * scale;
    }
    p->motion[9] = move.x;
    p->motion[10] = move.y;
    p->motion[11] = move.z;
    double size = carom_vec_largest(moving->frame.t) + carom_vec_largest(fixed->frame.t) +
                  m->extent.size * moving->scale + f->extent.size * fixed->scale;
    p->motion_error = TREE_POSE_ERROR * (size / fixed->scale) * to_frame;
    p->motion_scale = scale;
    p->to_frame = to_frame / fixed->scale;
}

/* Sets the direction between trees that are far apart, and the offset along it. */
CAROM_ITEM void tree_posed_pair_set_direction(carom_tree_posed_pair *p, carom_vec3 move) {
    p->offset = carom_length(move);
    p->toward[0] = (float)(move.x / p->offset);
    p->toward[1] = (float)(move.y / p->offset);
    p->toward[2] = (float)(move.z / p->offset);
    /* The offset is its length along the rounded direction, at most. */
    p->offset = move.x * (double)p->toward[0] + move.y * (double)p->toward[1] +
                move.z * (double)p->toward[2];
    double length =
        carom_length(carom_vec((double)p->toward[0], (double)p->toward[1], (double)p->toward[2]));
    p->offset = p->offset / (length * (1.0 + CAROM_TREE_SLACK));
    CAROM_ASSERT(p->offset > 0.0 && p->offset <= carom_length(move));
}

/* The margin of floats for coordinates up to an extent. */
CAROM_ITEM float tree_posed_pair_margin(const carom_tree_posed_pair *p, double extent) {
    double rounding = (double)CAROM_TREE_ROUNDING * CAROM_MAX(1.0, extent / TREE_ROUNDING_EXTENT);
    return (float)(rounding + 4.0 * p->motion_error);
}

/* Sets what searches use in floats. */
CAROM_ITEM void tree_posed_pair_set_floats(carom_tree_posed_pair *p, carom_vec3 move) {
    const carom_tree *f = p->fixed, *m = p->moving;
    for (int k = 0; k < 9; ++k) {
        p->turn[k] = (float)p->motion[k];
        p->rotation[k] = (float)(p->motion[k] / p->motion_scale);
    }
    p->move[0] = (float)move.x;
    p->move[1] = (float)move.y;
    p->move[2] = (float)move.z;
    p->scale = (float)(p->motion_scale * (1.0 + TREE_SCALE_SLACK));
    p->margin = tree_posed_pair_margin(p, 2.0 + carom_vec_largest(move));
    double surfaces = carom_vec_largest(move) + carom_vec_largest(f->surface.centre) +
                      f->surface.radius +
                      (carom_vec_largest(m->surface.centre) + m->surface.radius) * p->motion_scale;
    p->surface_margin = tree_posed_pair_margin(p, surfaces);
    CAROM_ASSERT(p->margin >= CAROM_TREE_ROUNDING && p->surface_margin >= CAROM_TREE_ROUNDING);
    /* Below the range of floats it is 0 or too small, by far less than the margin. */
    CAROM_ASSERT((double)p->scale >= p->motion_scale || p->motion_scale < (double)FLT_MIN);
}

/* carom_tree_pose. */
CAROM_ITEM carom_tree_posed_pair carom_tree_pose_item(const carom_tree_pair *pair) {
    const carom_tree *a = pair->a, *b = pair->b;
    carom_tree_posed_pair p;
    p.a = a;
    p.b = b;
    p.offset = 0.0;
    for (int k = 0; k < 3; ++k) p.toward[k] = 0.0f;
    p.world = carom_spheres_posed_pair_make(&a->extent, &pair->pose_a, pair->scale_a, &b->extent,
                                            &pair->pose_b, pair->scale_b);
    p.swapped = carom_power_of_two(-a->shift) * p.world.transform[0].scale <
                carom_power_of_two(-b->shift) * p.world.transform[1].scale;
    p.fixed = p.swapped ? b : a;
    p.moving = p.swapped ? a : b;
    tree_posed_pair_set_motion(&p);
    /* The larger one is fixed; sizes are rounded to a power of two. */
    CAROM_ASSERT(p.motion_scale > 0.0 && p.motion_scale <= CAROM_SPHERES_UP);
    const double *m = p.motion;
    carom_vec3 c = p.moving->centre, move = carom_vec(m[9], m[10], m[11]);
    c = carom_vec(m[0] * c.x + m[1] * c.y + m[2] * c.z, m[3] * c.x + m[4] * c.y + m[5] * c.z,
                  m[6] * c.x + m[7] * c.y + m[8] * c.z);
    double between = carom_length(carom_vec_sub(carom_vec_add(c, move), p.fixed->centre));
    p.apart =
        between > (p.fixed->cover + p.moving->cover * p.motion_scale) * (1.0 + CAROM_TREE_SLACK) +
                      4.0 * p.motion_error;
    p.far = between > TREE_FAR_DISTANCE;
    if (p.far) {
        tree_posed_pair_set_direction(&p, move);
        move = carom_vec(0.0, 0.0, 0.0);
    }
    tree_posed_pair_set_floats(&p, move);
    return p;
}

#endif
