/* SPDX-License-Identifier: MIT */
/* robot_gap_item.h: the clearance of one configuration, as items: the CPU and the GPU measure by
 * the same text. What they do in their own ways are gaps of spheres: the loops of robot_cpu.c have
 * one configuration or one sphere per lane, the items here have one after the other, by the same
 * operations. Minima are the same in any order. */
#ifndef CAROM_SRC_ROBOT_ROBOT_GAP_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_GAP_ITEM_H

#include "robot/robot_decide_item.h"
#include "robot/robot_float_item.h"
#ifndef __CUDACC__
#include "robot/robot_cpu.h"
#endif

/* A distance from a squared one in floats may be too small by this where squares are subnormal: the
 * root of three times 2^-149. */
#define CAROM_ROBOT_LEAST_GAP 0x1p-73

/* A configuration. */
typedef struct carom_robot_gap_lane {
    const carom_robot_view *view;
    carom_robot_frames frames;
    const float *rough; /* of pair i at i stride: a lower bound of its distance, by covers */
    uint64_t stride;
    const carom_robot_pose *poses; /* of links, to measure exactly */
    bool has_floats;               /* frames and bounds are there */
#ifndef __CUDACC__
    const carom_robot_block *block; /* of the CPU's loops, and the lane in it */
    uint32_t lane;
    float (*fine_gap)(const carom_robot_plan *, const carom_robot_block *, uint32_t, uint32_t);
#endif
} carom_robot_gap_lane;

/* ---- Gaps of spheres ------------------------------------------------------------------------- */

/* The frame of a body in floats. */
CAROM_ITEM void carom_robot_take_frame(const carom_robot_frames *f, uint32_t frame, float *p) {
    for (uint32_t i = 0; i < 12; ++i) p[i] = f->rows[(12 * (uint64_t)frame + i) * f->stride];
}

/* Where sphere `index` of the plan is; its radius is *radius. */
CAROM_ITEM carom_robot_point carom_robot_plan_sphere(const carom_robot_plan *plan, const float *p,
                                                     uint32_t index, float *radius) {
    const float *c = plan->spheres + 4 * (uint64_t)index;
    *radius = c[3];
    return carom_robot_move_item(p, c);
}

CAROM_ITEM float carom_robot_squared_points(carom_robot_point p, carom_robot_point q) {
    float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return (x * x + y * y) + z * z;
}

/* A lower bound of a distance, from its computed square. */
CAROM_ITEM float carom_robot_gap_of(float squared, float radii) {
    return sqrtf(squared) * (1.0f - CAROM_ROBOT_SLACK) - radii * (1.0f + CAROM_ROBOT_SLACK);
}

/* The gap of a sphere from an object that is no tree. */
CAROM_ITEM float carom_robot_gap_from_object(const carom_robot_plan_object *o, carom_robot_point p,
                                             float r) {
    float gap = HUGE_VALF;
    if (o->kind == CAROM_ROBOT_PLAN_BOX)
        return carom_robot_gap_of(carom_robot_squared_to_box(o, p, o->half), r);
    for (uint32_t k = 0; k < o->count; ++k) {
        const float *ball = o->balls + 5 * (uint64_t)k;
        float own = carom_robot_gap_of(carom_robot_squared_item(p, ball), r + ball[3]);
        gap = CAROM_MIN(gap, own);
    }
    return gap;
}

/* The least gap of spheres [first, first + count) of a body from those of another one, or from an
 * object; pb: the other's frame, NULL for an object. */
CAROM_ITEM float carom_robot_gap_of_spheres(const carom_robot_plan *plan, const float *pa,
                                            uint32_t first, uint32_t count, const float *pb,
                                            uint32_t other_first, uint32_t other_count,
                                            const carom_robot_plan_object *o) {
    float gap = HUGE_VALF, r, s;
    for (uint32_t i = first; i < first + count; ++i) {
        carom_robot_point at = carom_robot_plan_sphere(plan, pa, i, &r);
        if (o != NULL) {
            float own = carom_robot_gap_from_object(o, at, r);
            gap = CAROM_MIN(gap, own);
        }
        for (uint32_t j = other_first; j < other_first + other_count; ++j) {
            carom_robot_point q = carom_robot_plan_sphere(plan, pb, j, &s);
            float own = carom_robot_gap_of(carom_robot_squared_points(at, q), r + s);
            gap = CAROM_MIN(gap, own);
        }
    }
    return gap;
}

/* A lower bound of the distance of a pair by its covers, which may be negative; by its bounding
 * balls where these are farther apart than `most`, and of trees. */
CAROM_ITEM float carom_robot_rough_gap(const carom_robot_plan *plan, const carom_robot_frames *f,
                                       uint32_t pair, float most) {
    const carom_robot_plan_pair p = plan->pairs[pair];
    const carom_robot_plan_body *a = &plan->bodies[p.a];
    const carom_robot_plan_body *b = pair < plan->self_count ? &plan->bodies[p.b] : NULL;
    const carom_robot_plan_object *o = b == NULL ? &plan->objects[p.b] : NULL;
    float pa[12], pb[12], r, s, rough;
    carom_robot_take_frame(f, a->frame, pa);
    carom_robot_point middle = carom_robot_plan_sphere(plan, pa, a->first, &r);
    if (b != NULL) {
        carom_robot_take_frame(f, b->frame, pb);
        carom_robot_point other = carom_robot_plan_sphere(plan, pb, b->first, &s);
        rough = carom_robot_gap_of(carom_robot_squared_points(middle, other), r + s);
    } else {
        rough = carom_robot_gap_of(carom_robot_squared_item(middle, o->ball), r + o->ball[3]);
    }
    if (!(rough <= most) || (o != NULL && o->kind == CAROM_ROBOT_PLAN_TREE)) return rough;
    float gap =
        carom_robot_gap_of_spheres(plan, pa, a->first + 1, a->cover_count, pb,
                                   b != NULL ? b->first + 1 : 0, b != NULL ? b->cover_count : 0, o);
    return CAROM_MAX(gap, rough);
}

/* The same by finer covers, of a pair without a tree. */
CAROM_ITEM float carom_robot_fine_gap(const carom_robot_plan *plan, const carom_robot_frames *f,
                                      uint32_t pair, float rough) {
    const carom_robot_plan_pair p = plan->pairs[pair];
    const carom_robot_plan_body *a = &plan->bodies[p.a];
    const carom_robot_plan_body *b = pair < plan->self_count ? &plan->bodies[p.b] : NULL;
    float pa[12], pb[12];
    carom_robot_take_frame(f, a->frame, pa);
    if (b != NULL) carom_robot_take_frame(f, b->frame, pb);
    float fine = carom_robot_gap_of_spheres(plan, pa, a->fine, a->fine_count, pb,
                                            b != NULL ? b->fine : 0, b != NULL ? b->fine_count : 0,
                                            b == NULL ? &plan->objects[p.b] : NULL);
    return fine > rough ? fine : rough;
}

CAROM_ITEM float carom_robot_rough_of(const carom_robot_gap_lane *l, uint32_t pair) {
    return l->rough[pair * l->stride];
}

/* ---- By covers ------------------------------------------------------------------------------- */

/* A lower bound of the distance of a pair by its finer spheres, 0 or more. */
CAROM_ITEM double carom_robot_gap_by_spheres(const carom_robot_gap_lane *l, uint32_t pair) {
    const carom_robot_plan *plan = &l->view->plan;
    if (!carom_robot_is_tree_pair(plan, pair)) {
#ifdef __CUDACC__
        double fine =
            (double)carom_robot_fine_gap(plan, &l->frames, pair, carom_robot_rough_of(l, pair));
#else
        double fine = (double)l->fine_gap(plan, l->block, l->lane, pair);
#endif
        return CAROM_MAX(fine, 0.0);
    }
    const carom_robot_plan_body *b = &plan->bodies[plan->pairs[pair].a];
    const carom_robot_part *part = &l->view->objects[plan->pairs[pair].b].part;
    double best = HUGE_VAL;
    for (uint32_t i = b->first + 1; i <= b->first + b->cover_count; ++i) {
        carom_vec3 at = carom_robot_sphere_at(plan, &l->frames, b->frame, i);
        double radius = carom_robot_sphere_radius(plan, i);
        double slack = CAROM_ROBOT_TREE_ERROR * (part->tree.largest + carom_length(at));
        double limit = best < HUGE_VAL ? best + radius + slack : HUGE_VAL;
        double d = carom_robot_point_distance_item(&part->tree, at, limit, 0.0) - radius - slack;
        best = CAROM_MIN(d, best);
        if (best <= 0.0) return 0.0;
    }
    if (part->closed) { /* what is inside has distance 0 */
        uint32_t points = b->first + 1 + b->cover_count + b->inner_count;
        for (uint32_t i = points; i < points + b->point_count; ++i) {
            carom_vec3 at = carom_robot_sphere_at(plan, &l->frames, b->frame, i);
            if (part->sign * carom_robot_winding_item(&part->tree, at) >= 1) return 0.0;
        }
    }
    return best;
}

/* How far the finer covers of a pair, the cover where a tree is one of the two, may reach out, with
 * the rounding of floats. */
CAROM_ITEM double carom_robot_pair_overhang(const carom_robot_view *v, uint32_t pair) {
    const carom_robot_plan_pair p = v->plan.pairs[pair];
    bool fine = !carom_robot_is_tree_pair(&v->plan, pair);
    double out = CAROM_ROBOT_LEAST_GAP;
    for (int side = 0; side < 2; ++side) {
        if (side == 1 && pair >= v->plan.self_count) break;
        const carom_robot_body *body = &v->bodies[side == 0 ? p.a : p.b];
        const carom_robot_node_link *link = &v->links[body->link];
        double far = body->largest + link->in_frame_error.size;
        /* The centre is off once when it enlarges the radius, once where it is. */
        out += (fine ? body->fine_overhang : body->overhang) +
               4.0 * (carom_robot_error_of(link->frame_error, far, 2.0 * CAROM_ROBOT_UNIT32) +
                      (double)CAROM_ROBOT_SLACK * (far + link->frame_error.size));
    }
    if (pair >= v->plan.self_count) {
        const carom_robot_part *part = &v->objects[p.b].part;
        double size = part->tree.largest + carom_length(part->half);
        out += 4.0 * (double)CAROM_ROBOT_SLACK * size;
    }
    return out;
}

/* The pair whose covers are nearest; CAROM_NONE: there is no pair. */
CAROM_ITEM uint32_t carom_robot_nearest_pair(const carom_robot_gap_lane *l) {
    uint32_t nearest = CAROM_NONE;
    float least = HUGE_VALF;
    for (uint32_t pair = 0; pair < l->view->plan.pair_count; ++pair) {
        float rough = carom_robot_rough_of(l, pair);
        if (rough >= least) continue;
        least = rough;
        nearest = pair;
    }
    return nearest;
}

/* All bytes are set: they are the same in every answer. */
CAROM_ITEM void carom_robot_gap_none(carom_robot_gap *gap) {
    memset(gap, 0, sizeof(*gap));
    gap->distance.lower = gap->distance.value = gap->distance.upper = HUGE_VAL;
    gap->a = gap->b = CAROM_NONE;
}

CAROM_ITEM void carom_robot_gap_set_pair(const carom_robot_plan *plan, uint32_t pair,
                                         carom_robot_gap *gap) {
    gap->a = plan->pairs[pair].a;
    gap->b = plan->pairs[pair].b;
    gap->with_object = pair >= plan->self_count;
}

/* Takes the gap of a pair by its spheres into account. */
CAROM_ITEM void carom_robot_gap_include(const carom_robot_gap_lane *l, uint32_t pair,
                                        carom_robot_gap *gap) {
    double d = carom_robot_gap_by_spheres(l, pair);
    double upper =
        d * (1.0 + 4.0 * (double)CAROM_ROBOT_SLACK) + carom_robot_pair_overhang(l->view, pair);
    gap->distance.upper = CAROM_MIN(upper, gap->distance.upper);
    if (d >= gap->distance.lower) return;
    gap->distance.lower = gap->distance.value = d;
    carom_robot_gap_set_pair(&l->view->plan, pair, gap);
}

/* The nearest pair by covers first, so that the others are mostly ruled out by their bounds. */
CAROM_ITEM void carom_robot_gap_by_covers(const carom_robot_gap_lane *l, carom_robot_gap *gap) {
    const carom_robot_plan *plan = &l->view->plan;
    carom_robot_gap_none(gap);
    if (!l->has_floats && plan->pair_count != 0) { /* nothing is known */
        gap->distance.lower = gap->distance.value = 0.0;
        carom_robot_gap_set_pair(plan, 0, gap);
        return;
    }
    uint32_t nearest = l->has_floats ? carom_robot_nearest_pair(l) : CAROM_NONE;
    if (nearest == CAROM_NONE) return;
    carom_robot_gap_include(l, nearest, gap);
    for (uint32_t pair = 0; pair < plan->pair_count && gap->distance.lower > 0.0; ++pair) {
        double rough = (double)carom_robot_rough_of(l, pair);
        if (pair != nearest && rough < gap->distance.lower) carom_robot_gap_include(l, pair, gap);
    }
    CAROM_ASSERT(gap->a != CAROM_NONE && gap->distance.lower >= 0.0);
    CAROM_ASSERT(gap->distance.lower <= gap->distance.upper);
}

/* ---- By faces -------------------------------------------------------------------------------- */

CAROM_ITEM void carom_robot_gap_measure(const carom_robot_gap_lane *l, uint32_t pair,
                                        carom_robot_gap *gap) {
    double error, limit = gap->distance.value;
    double d = carom_robot_pair_distance_item(l->view, l->poses, pair, limit, &error);
    if (!(d < limit)) return;
    double lower = d - error;
    gap->distance.lower = CAROM_MAX(lower, 0.0);
    gap->distance.value = d;
    gap->distance.upper = d + error;
    carom_robot_gap_set_pair(&l->view->plan, pair, gap);
}

/* The nearest pair by covers first, so that the others are mostly ruled out by their bounds. The
 * lower bound then takes the error of every pair into account: one that was ruled out may be nearer
 * by its own rounding, which is of the size of the robot. */
CAROM_ITEM void carom_robot_gap_exactly(const carom_robot_gap_lane *l, carom_robot_gap *gap) {
    const uint32_t pairs = l->view->plan.pair_count;
    uint32_t nearest = l->has_floats ? carom_robot_nearest_pair(l) : CAROM_NONE;
    carom_robot_gap_none(gap);
    if (nearest != CAROM_NONE) carom_robot_gap_measure(l, nearest, gap);
    for (uint32_t pair = 0; pair < pairs && gap->distance.value > 0.0; ++pair) {
        if (pair == nearest) continue;
        if (l->has_floats && (double)carom_robot_rough_of(l, pair) > gap->distance.value) continue;
        carom_robot_gap_measure(l, pair, gap);
    }
    if (gap->a == CAROM_NONE) return;
    double most = 0.0; /* the largest error of a pair that may have been ruled out by the value */
    for (uint32_t pair = 0; pair < pairs; ++pair) {
        double error = carom_robot_pair_error_item(l->view, l->poses, pair);
        most = CAROM_MAX(error, most);
    }
    double lower = gap->distance.value - most;
    lower = CAROM_MIN(lower, gap->distance.lower);
    gap->distance.lower = CAROM_MAX(lower, 0.0);
    CAROM_ASSERT(gap->distance.lower <= gap->distance.value);
    CAROM_ASSERT(gap->distance.value <= gap->distance.upper);
}

#endif
