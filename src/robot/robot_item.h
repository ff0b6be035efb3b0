/* SPDX-License-Identifier: MIT */
/* robot_item.h: links, bodies and objects, the poses of links and the bounds of their rounding, as
 * the CPU and the GPU read and compute them. robot_kinematics.c has the proof of the bounds. */
#ifndef CAROM_SRC_ROBOT_ROBOT_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_ITEM_H

#include "base/sine_item.h"
#include "carom/robot.h"
#include "geom/length.h"
#include "robot/robot_field.h"
#include "robot/robot_hull.h"
#include "robot/robot_plan.h"
#include "robot/robot_tree_item.h"

/* The largest coordinate and the largest joint value: squares of distances stay finite in floats.
 * */
#define CAROM_ROBOT_MOST 0x1p40

/* ---- Rounding -----------------------------------------------------------------------------------
 *
 * How far a computed frame may be off the one in real numbers: the norm of the difference of the
 * matrices, and the length of that of the translations. `size` is at least the length of the
 * translation. robot_kinematics.c has the recurrence and its proof. */
typedef struct carom_robot_error {
    double turn, shift, size;
} carom_robot_error;

/* Norm of the error of a joint's own rotation: in doubles, of 222 roundings in each of nine
 * elements; in floats, 16 in each and what is given in doubles. robot_kinematics.c counts them. */
#define CAROM_ROBOT_UNIT64 0x1p-53
#define CAROM_ROBOT_UNIT32 0x1p-24
#define CAROM_ROBOT_TURN64 (1024.0 * CAROM_ROBOT_UNIT64)
#define CAROM_ROBOT_TURN32 (48.0 * CAROM_ROBOT_UNIT32 + CAROM_ROBOT_TURN64)

/* Bounds hold while the error of a matrix is below this, for products of errors are allowed for by
 * CAROM_ROBOT_PRODUCTS. */
#define CAROM_ROBOT_MOST_TURN 0.005
#define CAROM_ROBOT_PRODUCTS  1.01

/* The error after a joint. `turn`: that of its rotation, `length`: of its translation, `slid`: how
 * far of that it slid, `unit`: the rounding. */
CAROM_ITEM carom_robot_error carom_robot_error_step(carom_robot_error parent, double turn,
                                                    double length, double slid, double unit) {
    carom_robot_error e;
    e.turn = parent.turn * (1.0 + turn + 0x1p-20) + turn + 16.0 * unit;
    e.size = (parent.size + length) * (1.0 + 0x1p-20);
    e.shift = parent.shift + CAROM_ROBOT_PRODUCTS * (parent.turn * length + turn * slid) +
              24.0 * unit * (parent.size + length);
    return e;
}

/* How far a point at `distance` from the origin of a frame may be off when it is moved by it. */
CAROM_ITEM double carom_robot_error_of(carom_robot_error e, double distance, double unit) {
    return CAROM_ROBOT_PRODUCTS * (e.turn * distance + e.shift) + 16.0 * unit * (distance + e.size);
}

/* ---- Structure ------------------------------------------------------------------------------- */

/* One shape. */
typedef struct carom_robot_part {
    carom_robot_shape_kind kind;
    uint64_t
        stamp; /* of an object: no other one that its robot ever had has the same, but for those
                       of a file, which have 0 */
    carom_robot_tree tree;
    carom_robot_tree points; /* of triangles: a point of each connected component */
    bool closed;             /* encloses space */
    bool open_mesh;          /* a mesh that does not */
    int sign;                /* of the winding numbers inside: -1 where the mesh is inside out */
    carom_frame frame;       /* of a box */
    carom_vec3 half;
    carom_robot_field field; /* of an object: distances from it; no cells: none */
    carom_robot_hull hull;
} carom_robot_part;

typedef struct carom_robot_body {
    bool live; /* an id that is in use; a link always */
    uint32_t link;
    uint64_t stamp; /* likewise; of links and of bodies of a file 0 */
    carom_robot_part *parts;
    uint32_t part_count;
    carom_ball *cover, *inner; /* in the link's frame */
    carom_ball *fine;          /* a finer cover; NULL: none */
    uint32_t cover_count, inner_count, fine_count;
    double overhang;      /* no cover sphere reaches farther out of the body; infinite: not known */
    double fine_overhang; /* the same of the finer cover, or of the cover where there is none */
    double largest;       /* no point is farther from the origin of the link */
    uint32_t rough;       /* parts whose cover is one ball */
    carom_robot_field field; /* distances from all parts; no cells: none */
} carom_robot_body;

typedef struct carom_robot_object {
    bool live;
    carom_robot_part part;
} carom_robot_object;

/* A link and the joint above it. The root has no joint: FIXED, with the identity. */
typedef struct carom_robot_node_link {
    carom_robot_joint_kind kind;
    uint32_t parent; /* CAROM_NONE: the root */
    uint32_t column; /* of the configuration; CAROM_NONE: fixed */
    double multiplier, offset;
    double lower, upper; /* of its value */
    double a[9], b[9], c[9];
    carom_vec3 origin, slide;
    uint32_t depth;

    /* The plan: the frame of the loops that moves the link, and where the link is in it. */
    uint32_t frame;
    carom_frame in_frame;
    carom_robot_error in_frame_error;
    carom_robot_error frame_error; /* of that frame, in floats, for values within the limits */
} carom_robot_node_link;

/* Where the points of a part are: those of its components, or the centres of its balls. */
CAROM_ITEM const carom_robot_tree *carom_robot_part_points(const carom_robot_part *part) {
    return part->tree.triangles != NULL ? &part->points : &part->tree;
}

/* ---- Kinematics ------------------------------------------------------------------------------ */

/* The frame of a link, and the bound of its rounding. */
typedef struct carom_robot_pose {
    carom_frame frame;
    carom_robot_error error;
} carom_robot_pose;

CAROM_ITEM void carom_robot_matrix_times(const double *a, const double *b, double *to) {
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            to[3 * i + k] = (a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k]) + a[3 * i + 2] * b[6 + k];
}

/* b, then a. */
CAROM_ITEM carom_frame carom_robot_frame_compose(const carom_frame *a, const carom_frame *b) {
    carom_frame f;
    carom_robot_matrix_times(a->r, b->r, f.r);
    f.t = carom_frame_apply(a, b->t);
    return f;
}

/* R^T (x - t). */
CAROM_ITEM carom_frame carom_robot_frame_inverse(const carom_frame *f) {
    carom_frame to;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) to.r[3 * i + k] = f->r[3 * k + i];
    to.t = carom_vec(0.0, 0.0, 0.0);
    to.t = carom_vec_scale(carom_frame_turn(&to, f->t), -1.0);
    return to;
}

/* The pose of link `index` from that of its parent. */
CAROM_ITEM void carom_robot_pose_item(const carom_robot_node_link *links, uint32_t index,
                                      const double *q, carom_robot_pose *poses) {
    const carom_robot_node_link *link = &links[index];
    carom_robot_pose *to = &poses[index];
    if (link->parent == CAROM_NONE) {
        to->frame = carom_frame_make(NULL);
        to->error.turn = to->error.shift = to->error.size = 0.0;
        return;
    }
    const carom_robot_pose *from = &poses[link->parent];
    carom_vec3 o = link->origin;
    double m[9], slid = 0.0;
    const double *turned = link->a;
    if (link->column != CAROM_NONE) {
        double value = q[link->column] * link->multiplier + link->offset;
        if (link->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC) {
            slid = fabs(value);
            o = carom_vec_add(o, carom_vec_scale(link->slide, value));
        } else {
            double s = carom_sin_item(value), c = carom_cos_item(value);
            for (int k = 0; k < 9; ++k) m[k] = (link->a[k] + s * link->b[k]) + c * link->c[k];
            turned = m;
        }
    }
    carom_robot_matrix_times(from->frame.r, turned, to->frame.r);
    to->frame.t = carom_frame_apply(&from->frame, o);
    to->error = carom_robot_error_step(from->error, CAROM_ROBOT_TURN64,
                                       carom_length(link->origin) + slid, slid, CAROM_ROBOT_UNIT64);
    CAROM_ASSERT(to->error.turn > from->error.turn && to->error.shift >= from->error.shift);
    CAROM_ASSERT(carom_length(to->frame.t) <= to->error.size + to->error.shift);
}

#endif
