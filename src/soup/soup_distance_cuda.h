/* SPDX-License-Identifier: MIT */
/* soup_distance_cuda.h: two posed soups as the search for their distance sees them, included by
 * soup_distance_cuda.cu alone: the frame of the boxes, bounds of two boxes, and what is known of a
 * pose so far.
 *
 * Boxes of both trees are compared in a frame with the axes of a's tree and the middle of a as
 * origin, in units of the larger of both soups and of the way between them:
 *   va = (y - ca) ga,  vb = turn (y - cb) gb + shift
 * where y are coordinates of the trees, ga and gb powers of two. A box of b is turned and replaced
 * by the box around it. All of it is in doubles. With u = 2^-53, posed corners are off by less than
 * m = 256 u (Xa + Xb + |ta| + |tb|) + 2^-1064 (soup_posed_pair.c); what is computed here has fewer
 * roundings of the same numbers, and some of numbers of at most 8 units. `slack` is four times m
 * and 2^-42 units. Where the way between the soups overflows all bounds are 0. */
#ifndef CAROM_SRC_SOUP_SOUP_DISTANCE_CUDA_H
#define CAROM_SRC_SOUP_SOUP_DISTANCE_CUDA_H

#include "geom/pose.h"
#include "soup/soup_cuda.h"
#include "soup/soup_distance_device.h"
#include "soup/soup_distance_item.h"

/* Of coordinates and translations, and of underflow: m above. */
#define DISTANCE_CUDA_POSE_ERROR     0x1p-45
#define DISTANCE_CUDA_POSE_UNDERFLOW 0x1p-1064
#define DISTANCE_CUDA_ERRORS         4.0 /* of them: the slack */
#define DISTANCE_CUDA_UNIT_ERROR     0x1p-42
/* Relative: distances are measured with errors far below it, and so is what a bound loses. */
#define DISTANCE_CUDA_MARGIN 0x1p-40
/* A factor that makes a bound as a float no larger than in doubles: more than 2^-24 less. */
#define DISTANCE_CUDA_FLOAT_DOWN (1.0 - 0x1p-20)
/* A factor that makes a direction no longer than 1. */
#define DISTANCE_CUDA_DIRECTION_DOWN (1.0 - 0x1p-40)

/* What is known of two soups in one pose. */
struct distance_pose {
    carom_frame frame[2];
    double turn[9], shift[3];              /* b's tree to the common frame */
    double centre[2][3], factor[2];        /* of each tree: ca, cb and ga, gb */
    double half[2][3];                     /* of the boxes around all, in these units */
    double unit, slack;                    /* the length 1 in units; of bounds, in units */
    double direction_a[3], direction_b[3]; /* from a to b, in the axes of both trees; or zero */
    carom_closest near;              /* of the pair that was measured first; distance NaN: none */
    unsigned long long least;        /* the least distance so far or the limit, as its bits */
    unsigned long long faces, items; /* of the best pair: a above b */
    unsigned long long bound;        /* at least the distance, in units, as its bits */
    uint32_t meet;                   /* faces meet */
    uint32_t turned;                 /* `near` is of the corners that give `bound` */
    uint32_t bounded;                /* bounds are of use */
};

struct distance_view {
    carom_soup_cuda_arrays soup[2];
    const carom_pose *poses[2]; /* NULL: the identity */
    distance_pose *state;
    uint64_t first; /* of the poses, that of state[0] */
    uint32_t count;
    double limit;
    bool meet_only;

    /* Whether a face may have several triangles. */
    __device__ __host__ bool polygons() const {
        return soup[0].faces != nullptr || soup[1].faces != nullptr;
    }
};

/* A box in the common frame. */
struct distance_box {
    double middle[3], half[3];
    double along; /* of a the last, of b the first position along the direction */
    bool any;
};

static __device__ inline double distance_least(const distance_pose &p) {
    return __longlong_as_double((long long)*(volatile const unsigned long long *)&p.least);
}

static __device__ inline bool distance_done(const distance_pose &p) {
    return *(volatile const uint32_t *)&p.meet != 0;
}

/* No pair that is farther apart matters: the corners that give `bound` are posed ones, so that it
 * needs no slack. */
static __device__ inline double distance_limit(const distance_pose &p) {
    double least = distance_least(p);
    double bound = __longlong_as_double((long long)*(volatile const unsigned long long *)&p.bound);
    bound /= p.unit;
    return bound < least ? bound : least;
}

/* In units: bounds above it do not matter. */
static __device__ inline double distance_most(const distance_pose &p) {
    return distance_limit(p) * p.unit * (1.0 + DISTANCE_CUDA_MARGIN) + p.slack;
}

/* The box around all of a tree, in its coordinates. All lanes take part. */
static __device__ inline carom_box distance_root(const carom_bvh_cuda_tree &tree) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t top = tree.levels - 1;
    carom_box box = carom_box_empty();
    if (lane < tree.entries[top]) box = carom_tree_entry(tree.boxes[top], lane);
    return carom_warp_join(box);
}

/* From a box of a tree, or from the middle and half of one. */
static __device__ inline distance_box distance_transform(const distance_pose &p, int side,
                                                         const double *middle, const double *half) {
    distance_box d;
    d.any = true;
    d.along = 0.0;
    const double *direction = side == 0 ? p.direction_a : p.direction_b;
    for (int k = 0; k < 3; ++k) {
        d.middle[k] = middle[k];
        d.half[k] = half[k];
    }
    if (side != 0)
        for (int k = 0; k < 3; ++k) {
            const double *r = p.turn + 3 * k;
            d.middle[k] = ((r[0] * middle[0] + r[1] * middle[1]) + r[2] * middle[2]) + p.shift[k];
            d.half[k] = (fabs(r[0]) * half[0] + fabs(r[1]) * half[1]) + fabs(r[2]) * half[2];
        }
    double reach = 0.0;
    for (int k = 0; k < 3; ++k) {
        d.along += p.direction_a[k] * d.middle[k];
        reach += fabs(direction[k]) * half[k];
    }
    d.along += side == 0 ? reach : -reach;
    return d;
}

static __device__ inline distance_box distance_box_of(const distance_pose &p, int side,
                                                      const carom_box &box) {
    distance_box none = {};
    double middle[3], half[3];
    if (!(box.low[0] <= box.high[0])) return none;
    for (int k = 0; k < 3; ++k) {
        double low = (double)box.low[k], high = (double)box.high[k];
        middle[k] = (0.5 * (low + high) - p.centre[side][k]) * p.factor[side];
        half[k] = 0.5 * (high - low) * p.factor[side];
    }
    return distance_transform(p, side, middle, half);
}

/* The box of an entry of a tree; above the top there is one, which is that of all. */
static __device__ inline distance_box distance_entry(const distance_view &v, const distance_pose &p,
                                                     int side, uint32_t level, uint32_t entry) {
    const carom_bvh_cuda_tree &tree = v.soup[side].tree;
    const double middle[3] = {0.0, 0.0, 0.0};
    distance_box none = {};
    if (level == tree.levels) return distance_transform(p, side, middle, p.half[side]);
    if (entry >= tree.entries[level]) return none;
    return distance_box_of(p, side, carom_tree_entry(tree.boxes[level], entry));
}

/* A lower bound of the distance of what two boxes of the same pose contain, in units. */
static __device__ inline double distance_bound(const distance_pose &p, const distance_box &a,
                                               const distance_box &b) {
    double square = 0.0;
    if (p.bounded == 0) return 0.0;
    for (int k = 0; k < 3; ++k) {
        double gap = fabs(a.middle[k] - b.middle[k]) - a.half[k] - b.half[k];
        gap = gap > 0.0 ? gap : 0.0;
        square += gap * gap;
    }
    double bound = sqrt(square), along = b.along - a.along;
    return along > bound ? along : bound;
}

static __device__ inline double distance_middles(const distance_box &a, const distance_box &b) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        double d = a.middle[k] - b.middle[k];
        square += d * d;
    }
    return square;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* The frame of one side, and how far its coordinates reach. */
static __device__ inline double distance_begin_side(const distance_view &v, distance_pose *p,
                                                    int side, const carom_box &box, double *size,
                                                    carom_vec3 *middle) {
    const double *frame = v.soup[side].frame; /* scale, origin */
    double scale = frame != nullptr ? frame[0] : 1.0, x[3], reach = 0.0;
    *size = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = (double)box.low[k], high = (double)box.high[k];
        double origin = frame != nullptr ? frame[1 + k] : 0.0;
        if (!(low <= high)) low = high = 0.0;
        double centre = 0.5 * (low + high), half = CAROM_MAX(high - centre, centre - low);
        p->centre[side][k] = centre;
        p->half[side][k] = half;
        x[k] = (centre + origin) / scale;
        reach = CAROM_MAX(fabs(x[k]), reach);
        *size = CAROM_MAX(half / scale, *size);
    }
    p->factor[side] = 1.0 / scale;
    *middle = carom_vec(x[0], x[1], x[2]);
    return reach + *size;
}

/* Whether no posed coordinate leaves the range of doubles: as make_side of soup_posed_pair.c. */
static __device__ inline bool distance_in_range(const carom_frame &f, double largest) {
    for (int row = 0; row < 3; ++row) {
        const double *r = f.r + 3 * row;
        double reach = (fabs(r[0]) + fabs(r[1]) + fabs(r[2])) * largest;
        if (!(reach + carom_vec_largest(f.t) <= DBL_MAX)) return false;
    }
    return true;
}

static __device__ inline bool distance_finite(const carom_pose &pose) {
    const double all[7] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z, pose.t.x, pose.t.y, pose.t.z};
    bool finite = true;
    for (int i = 0; i < 7; ++i) finite = finite && fabs(all[i]) <= DBL_MAX;
    return finite;
}

/* Relates both frames; false where a pose is out of range. */
static __device__ inline bool distance_begin(const distance_view &v, uint32_t index,
                                             const carom_box *boxes, distance_pose *p) {
    double size[2], largest[2];
    carom_vec3 middle[2];
    bool in_range = true;
    for (int side = 0; side < 2; ++side) {
        const carom_pose *poses = v.poses[side];
        p->frame[side] = carom_frame_make(poses != nullptr ? &poses[v.first + index] : nullptr);
        largest[side] = distance_begin_side(v, p, side, boxes[side], &size[side], &middle[side]);
        in_range =
            in_range && (poses == nullptr || distance_finite(poses[v.first + index])) &&
            (v.soup[side].vertex_count == 0 || distance_in_range(p->frame[side], largest[side]));
    }
    const double *ra = p->frame[0].r, *rb = p->frame[1].r;
    carom_vec3 way = carom_vec_sub(carom_frame_apply(&p->frame[1], middle[1]),
                                   carom_frame_apply(&p->frame[0], middle[0]));
    double most = CAROM_MAX(size[0], size[1]), apart = carom_vec_largest(way);
    most = CAROM_MAX(most, apart);
    p->bounded = most <= DBL_MAX ? 1u : 0u;
    p->unit = most > 0.0 && most <= DBL_MAX ? carom_power_of_two(-carom_exponent(most)) : 1.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            p->turn[3 * i + j] = (ra[i] * rb[j] + ra[3 + i] * rb[3 + j]) + ra[6 + i] * rb[6 + j];
        p->shift[i] = (ra[i] * (way.x * p->unit) + ra[3 + i] * (way.y * p->unit)) +
                      ra[6 + i] * (way.z * p->unit);
        p->direction_a[i] = p->direction_b[i] = 0.0;
    }
    for (int side = 0; side < 2; ++side) {
        p->factor[side] *= p->unit;
        for (int k = 0; k < 3; ++k) p->half[side][k] *= p->factor[side];
    }
    double moved = (largest[0] + largest[1]) +
                   (carom_vec_largest(p->frame[0].t) + carom_vec_largest(p->frame[1].t));
    double error = DISTANCE_CUDA_POSE_ERROR * moved + DISTANCE_CUDA_POSE_UNDERFLOW;
    p->slack = DISTANCE_CUDA_ERRORS * error * p->unit + DISTANCE_CUDA_UNIT_ERROR;
    return in_range;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

static __device__ inline carom_triangle distance_posed(const distance_pose &p, int side,
                                                       carom_triangle t) {
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_frame_apply(&p.frame[side], t.corner[i]);
    return t;
}

/* The posed triangle at a slot of a tree. */
static __device__ inline carom_triangle
distance_triangle(const distance_view &v, const distance_pose &p, int side, uint32_t slot) {
    const carom_soup_cuda_arrays &soup = v.soup[side];
    return distance_posed(p, side, carom_soup_cuda_slot(soup, slot, soup.tree.items[slot]));
}

/* Whether the boxes of two triangles overlap: those that meet do. */
static __device__ inline bool distance_boxes_overlap(const carom_triangle &a,
                                                     const carom_triangle &b) {
    carom_bounds boxes[2];
    const carom_triangle *t[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        boxes[i].low = boxes[i].high = t[i]->corner[0];
        for (int k = 1; k < 3; ++k) {
            carom_vec3 c = t[i]->corner[k];
            boxes[i].low = carom_vec(CAROM_MIN(c.x, boxes[i].low.x), CAROM_MIN(c.y, boxes[i].low.y),
                                     CAROM_MIN(c.z, boxes[i].low.z));
            boxes[i].high =
                carom_vec(CAROM_MAX(c.x, boxes[i].high.x), CAROM_MAX(c.y, boxes[i].high.y),
                          CAROM_MAX(c.z, boxes[i].high.z));
        }
    }
    return boxes[0].low.x <= boxes[1].high.x && boxes[1].low.x <= boxes[0].high.x &&
           boxes[0].low.y <= boxes[1].high.y && boxes[1].low.y <= boxes[0].high.y &&
           boxes[0].low.z <= boxes[1].high.z && boxes[1].low.z <= boxes[0].high.z;
}

#endif
