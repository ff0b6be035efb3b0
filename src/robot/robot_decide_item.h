/* SPDX-License-Identifier: MIT */
/* robot_decide_item.h: how a pair of bodies is decided beyond spheres against spheres, as items:
 * spheres against trees and distances in cells, then faces and what they enclose.
 *
 * Spheres are where the frames in floats move them. A point of a body stands for its component:
 * where no face is within its rounding of it, the true point is on the same side of all faces, and
 * so is the whole component.
 *
 * Faces. The second body is moved into the frame of the first by R_a'^T (R_b' x + t_b' - t_a') in
 * doubles. With the errors of both frames a point of it is off by at most
 *
 *   e = turn_a D + turn_b |x| + shift_a + shift_b + 64 2^-53 (D + |x|),   D = |t_a| + |t_b| + |x|
 *
 * (carom_robot_error_of has the same for objects, which do not move). Faces are compared exactly
 * with margin + 2 e: no pair that is as near as the margin in real numbers is missed. Where no
 * faces are so near, each component of one lies on one side of the other's faces, and so does its
 * point after rounding, which moves it by less than e: a winding number decides.
 *
 * Where one of the two has distances in cells (robot_field.h), the tree of the other is searched
 * alone: a node whose ball is farther from all faces than its radius is left out, or collides where
 * it is inside; what is left is compared with the faces. Both ways decide the same. */
#ifndef CAROM_SRC_ROBOT_ROBOT_DECIDE_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_DECIDE_ITEM_H

#include "geom/box.h"
#include "robot/robot_distance_item.h"
#include "robot/robot_item.h"

/* Of the lengths that take part: what a distance from a point to a tree may be off by
 * (robot_tree.h). */
#define CAROM_ROBOT_TREE_ERROR 0x1p-43

/* A robot and its world, as decisions read it. */
typedef struct carom_robot_view {
    carom_robot_plan plan;
    const carom_robot_node_link *links;
    const carom_robot_body *bodies;
    const carom_robot_object *objects;
    carom_robot_separated_fn *separated; /* of the CPU's instruction set; not on a GPU */
} carom_robot_view;

/* The frames of one configuration in floats: number i of frame f is at i + 12 f times stride. */
typedef struct carom_robot_frames {
    const float *rows;
    uint64_t stride;
} carom_robot_frames;

/* Planes are tried first between parts of at most so many items: most of these are convex where
 * they are near; larger ones are rarely. By hulls, Panda alone takes a third of the time without,
 * an arm of cylinders among boxes two fifths; by searches in trees, as on a GPU, both 0.7. */
#define CAROM_ROBOT_PLANE_ITEMS 4096u

/* Relative: what a cover is enlarged by for how far it moves is enlarged by this, above the
 * rounding of the product. */
#define CAROM_ROBOT_EXTRA_SLACK 0x1p-40

/* How far covers are enlarged and inner balls diminished in a query. */
typedef struct carom_robot_reach {
    double extra;
    float inner_margin;
} carom_robot_reach;

/* The margin of a query for covers, and for inner balls. */
CAROM_ITEM void carom_robot_margins(double margin, float *outer, float *inner) {
    *outer = carom_float_up(margin * (1.0 + (double)CAROM_ROBOT_SLACK), 0.0);
    *inner = carom_float_down(margin * (1.0 - (double)CAROM_ROBOT_SLACK), 0.0);
    CAROM_ASSERT(*inner <= *outer);
}

typedef enum carom_robot_tree_verdict {
    CAROM_ROBOT_TREE_APART,
    CAROM_ROBOT_TREE_UNDECIDED,
    CAROM_ROBOT_TREE_COLLIDING
} carom_robot_tree_verdict;

/* ---- Spheres and trees ----------------------------------------------------------------------- */

/* Where a sphere of a body is, by the operations of the loops, which move only some of them. */
CAROM_ITEM carom_vec3 carom_robot_sphere_at(const carom_robot_plan *plan,
                                            const carom_robot_frames *f, uint32_t frame,
                                            uint32_t sphere) {
    const float *c = plan->spheres + 4 * (uint64_t)sphere;
    const float *p = f->rows + 12 * frame * f->stride;
    float at[3];
    for (uint32_t i = 0; i < 3; ++i)
        at[i] = ((p[3 * i * f->stride] * c[0] + p[(3 * i + 1) * f->stride] * c[1]) +
                 p[(3 * i + 2) * f->stride] * c[2]) +
                p[(9 + i) * f->stride];
    return carom_vec((double)at[0], (double)at[1], (double)at[2]);
}

CAROM_ITEM double carom_robot_sphere_radius(const carom_robot_plan *plan, uint32_t sphere) {
    return (double)plan->spheres[4 * (uint64_t)sphere + 3];
}

/* Whether any of the spheres [first, first + count) is near the faces. */
CAROM_ITEM bool carom_robot_any_near(const carom_robot_plan *plan, const carom_robot_frames *f,
                                     const carom_robot_plan_body *b, uint32_t first, uint32_t count,
                                     const carom_robot_part *part, double extra) {
    for (uint32_t i = first; i < first + count; ++i)
        if (carom_robot_near_item(&part->tree, carom_robot_sphere_at(plan, f, b->frame, i),
                                  carom_robot_sphere_radius(plan, i) + extra))
            return true;
    return false;
}

/* What distances from an object's faces may be off by, for spheres of a body. */
CAROM_ITEM double carom_robot_tree_slack(const carom_robot_part *part, carom_vec3 middle,
                                         double around) {
    return CAROM_ROBOT_TREE_ERROR * (part->tree.largest + carom_length(middle) + around);
}

/* Whether an inner ball, enlarged, touches the faces. */
CAROM_ITEM bool carom_robot_ball_touches(const carom_robot_plan *plan, const carom_robot_frames *f,
                                         const carom_robot_plan_body *b, uint32_t ball,
                                         const carom_robot_part *part, double by) {
    double within = carom_robot_sphere_radius(plan, ball) + by;
    return within > 0.0 && carom_robot_near_item(
                               &part->tree, carom_robot_sphere_at(plan, f, b->frame, ball), within);
}

/* Whether a point of a body is inside of an object's faces, or too near to them to tell. */
CAROM_ITEM bool carom_robot_points_touch(const carom_robot_plan *plan, const carom_robot_frames *f,
                                         const carom_robot_plan_body *b,
                                         const carom_robot_part *part, double slack) {
    uint32_t points = b->first + 1 + b->cover_count + b->inner_count;
    for (uint32_t i = points; i < points + b->point_count; ++i) {
        carom_vec3 at = carom_robot_sphere_at(plan, f, b->frame, i);
        double own = carom_robot_sphere_radius(plan, i) + slack;
        if (carom_robot_near_item(&part->tree, at, own) ||
            part->sign * carom_robot_winding_item(&part->tree, at) >= 1)
            return true;
    }
    return false;
}

/* Whether the spheres of a body are apart from an object, by its faces and what these enclose. */
CAROM_ITEM carom_robot_tree_verdict carom_robot_test_tree(const carom_robot_view *v,
                                                          const carom_robot_frames *f,
                                                          uint32_t body,
                                                          const carom_robot_part *part,
                                                          const carom_robot_reach *reach) {
    const carom_robot_plan *plan = &v->plan;
    const carom_robot_plan_body *b = &plan->bodies[body];
    bool near = false;
    carom_vec3 middle = carom_robot_sphere_at(plan, f, b->frame, b->first);
    double around = carom_robot_sphere_radius(plan, b->first);
    double slack = carom_robot_tree_slack(part, middle, around), extra = reach->extra + slack;
    if (carom_robot_near_item(&part->tree, middle, around + extra)) {
        near = carom_robot_any_near(plan, f, b, b->first + 1, b->cover_count, part, extra);
        if (near && b->fine != b->first + 1)
            near = carom_robot_any_near(plan, f, b, b->fine, b->fine_count, part, extra);
    }
    if (!near)
        return part->closed && carom_robot_points_touch(plan, f, b, part, slack)
                   ? CAROM_ROBOT_TREE_UNDECIDED
                   : CAROM_ROBOT_TREE_APART;
    uint32_t inner = b->first + 1 + b->cover_count;
    for (uint32_t i = inner; i < inner + b->inner_count; ++i)
        if (carom_robot_ball_touches(plan, f, b, i, part, (double)reach->inner_margin - slack))
            return CAROM_ROBOT_TREE_COLLIDING;
    return CAROM_ROBOT_TREE_UNDECIDED;
}

/* ---- Spheres and distances in cells ---------------------------------------------------------- */

/* How far points of a body may be from where the loops have them. */
CAROM_ITEM double carom_robot_body_error(const carom_robot_view *v, uint32_t body) {
    const carom_robot_node_link *link = &v->links[v->bodies[body].link];
    double far = v->bodies[body].largest + link->in_frame_error.size;
    return carom_robot_error_of(link->in_frame_error, v->bodies[body].largest, CAROM_ROBOT_UNIT64) +
           carom_robot_error_of(link->frame_error, far, CAROM_ROBOT_UNIT32) +
           2.0 * CAROM_ROBOT_UNIT32 * far;
}

/* Whether spheres [first, first + count) are near the faces; by_faces: those that cells leave open
 * are compared with the tree. */
CAROM_ITEM bool carom_robot_cells_near(const carom_robot_plan *plan, const carom_robot_frames *f,
                                       const carom_robot_plan_body *b, uint32_t first,
                                       uint32_t count, const carom_robot_part *part, bool by_faces,
                                       double extra) {
    for (uint32_t i = first; i < first + count; ++i) {
        carom_vec3 at = carom_robot_sphere_at(plan, f, b->frame, i);
        double reach = carom_robot_sphere_radius(plan, i) + extra;
        if (carom_robot_field_at(&part->field, at).lower > reach) continue;
        double slack = CAROM_ROBOT_TREE_ERROR * (part->tree.largest + carom_length(at));
#ifndef __CUDACC__ /* only saves time */
        if (by_faces && carom_robot_field_lower(&part->field, at) > reach + slack) continue;
#endif
        if (!by_faces || carom_robot_near_item(&part->tree, at, reach + slack)) return true;
    }
    return false;
}

/* Whether an inner ball reaches faces, or has its centre inside; `error`: of the body's points. */
CAROM_ITEM bool carom_robot_ball_meets(const carom_robot_view *v, const carom_robot_frames *f,
                                       const carom_robot_plan_body *b, uint32_t ball,
                                       const carom_robot_part *part, const carom_robot_reach *reach,
                                       double error) {
    carom_robot_field_bounds at =
        carom_robot_field_at(&part->field, carom_robot_sphere_at(&v->plan, f, b->frame, ball));
    double within = carom_robot_sphere_radius(&v->plan, ball) + (double)reach->inner_margin;
    return at.upper <= within || (at.side == 1 && at.lower > error);
}

/* What the ball around a body decides; its own test_field goes on where that is nothing. */
CAROM_ITEM carom_robot_tree_verdict carom_robot_test_middle(const carom_robot_view *v,
                                                            const carom_robot_frames *f,
                                                            uint32_t body,
                                                            const carom_robot_part *part,
                                                            double extra) {
    const carom_robot_plan_body *b = &v->plan.bodies[body];
    carom_robot_field_bounds middle =
        carom_robot_field_at(&part->field, carom_robot_sphere_at(&v->plan, f, b->frame, b->first));
    if (!(middle.lower > carom_robot_sphere_radius(&v->plan, b->first) + extra))
        return CAROM_ROBOT_TREE_UNDECIDED;
    if (!part->field.closed || middle.side == -1) return CAROM_ROBOT_TREE_APART;
    /* all of it is in the ball, on one side */
    return middle.side == 1 ? CAROM_ROBOT_TREE_COLLIDING : CAROM_ROBOT_TREE_UNDECIDED;
}

/* Where no sphere is near the faces, each component of a body is on the side of its point. */
CAROM_ITEM carom_robot_tree_verdict carom_robot_test_points(const carom_robot_view *v,
                                                            const carom_robot_frames *f,
                                                            uint32_t body,
                                                            const carom_robot_part *part) {
    const carom_robot_plan_body *b = &v->plan.bodies[body];
    uint32_t points = b->first + 1 + b->cover_count + b->inner_count;
    for (uint32_t i = points; i < points + b->point_count && part->field.closed; ++i) {
        carom_robot_field_bounds bounds =
            carom_robot_field_at(&part->field, carom_robot_sphere_at(&v->plan, f, b->frame, i));
        double own = carom_robot_sphere_radius(&v->plan, i);
        if (bounds.side == 0 || !(bounds.lower > own)) return CAROM_ROBOT_TREE_UNDECIDED;
        if (bounds.side == 1) return CAROM_ROBOT_TREE_COLLIDING;
    }
    return CAROM_ROBOT_TREE_APART;
}

/* The same as carom_robot_test_tree by the distances of an object. */
CAROM_ITEM carom_robot_tree_verdict carom_robot_test_field(const carom_robot_view *v,
                                                           const carom_robot_frames *f,
                                                           uint32_t body,
                                                           const carom_robot_part *part,
                                                           const carom_robot_reach *reach) {
    const carom_robot_plan *plan = &v->plan;
    const carom_robot_plan_body *b = &plan->bodies[body];
    double extra = reach->extra;
    carom_robot_tree_verdict by_middle = carom_robot_test_middle(v, f, body, part, extra);
    if (by_middle != CAROM_ROBOT_TREE_UNDECIDED) return by_middle;
    carom_robot_field_bounds middle =
        carom_robot_field_at(&part->field, carom_robot_sphere_at(plan, f, b->frame, b->first));
    if (!(middle.lower > carom_robot_sphere_radius(plan, b->first) + extra) &&
        carom_robot_cells_near(plan, f, b, b->first + 1, b->cover_count, part, false, extra)) {
        const uint32_t first = b->first + 1 + b->cover_count;
        const double error = carom_robot_body_error(v, body);
        for (uint32_t i = first; i < first + b->inner_count; ++i)
            if (carom_robot_ball_meets(v, f, b, i, part, reach, error))
                return CAROM_ROBOT_TREE_COLLIDING;
        if (carom_robot_cells_near(plan, f, b, b->fine, b->fine_count, part, true, extra))
            return CAROM_ROBOT_TREE_UNDECIDED;
    }
    return carom_robot_test_points(v, f, body, part);
}

/* A body and an object of a pair, by its distances where it has them. */
CAROM_ITEM carom_robot_tree_verdict carom_robot_test_object(const carom_robot_view *v,
                                                            const carom_robot_frames *f,
                                                            uint32_t pair,
                                                            const carom_robot_reach *reach) {
    carom_robot_plan_pair p = v->plan.pairs[pair];
    const carom_robot_part *part = &v->objects[p.b].part;
    return part->field.cells == NULL ? carom_robot_test_tree(v, f, p.a, part, reach)
                                     : carom_robot_test_field(v, f, p.a, part, reach);
}

/* Whether a pair is of a body and a tree, which is only compared by its bounding ball in floats. */
CAROM_ITEM bool carom_robot_is_tree_pair(const carom_robot_plan *plan, uint32_t pair) {
    return pair >= plan->self_count &&
           plan->objects[plan->pairs[pair].b].kind == CAROM_ROBOT_PLAN_TREE;
}

/* ---- Two bodies ------------------------------------------------------------------------------ */

/* The two bodies of a pair. */
typedef struct carom_robot_exact_pair {
    const carom_robot_part *a, *b;
    uint32_t a_count, b_count;
    carom_frame b_to_a;
    const carom_robot_field *a_field, *b_field;
    double error; /* of a point of b in a's frame */
    double size;  /* at least all lengths */
} carom_robot_exact_pair;

CAROM_ITEM carom_robot_exact_pair carom_robot_exact_pair_of(const carom_robot_view *v,
                                                            const carom_robot_pose *poses,
                                                            uint32_t pair) {
    carom_robot_plan_pair p = v->plan.pairs[pair];
    const carom_robot_body *first = &v->bodies[p.a];
    const carom_robot_pose *at = &poses[first->link];
    carom_robot_exact_pair e;
    if (pair >= v->plan.self_count) { /* the object is a, the body b */
        const carom_robot_part *object = &v->objects[p.b].part;
        e.a = object;
        e.a_count = 1;
        e.b = first->parts;
        e.b_count = first->part_count;
        e.a_field = &object->field;
        e.b_field = &first->field;
        e.b_to_a = at->frame;
        e.error = carom_robot_error_of(at->error, first->largest, 4.0 * CAROM_ROBOT_UNIT64);
        e.size = at->error.size + first->largest + object->tree.largest;
        return e;
    }
    const carom_robot_body *second = &v->bodies[p.b];
    const carom_robot_pose *other = &poses[second->link];
    carom_frame back = carom_robot_frame_inverse(&at->frame);
    double x = second->largest, far = at->error.size + other->error.size + x;
    e.a = first->parts;
    e.a_count = first->part_count;
    e.b = second->parts;
    e.b_count = second->part_count;
    e.a_field = &first->field;
    e.b_field = &second->field;
    e.b_to_a = carom_robot_frame_compose(&back, &other->frame);
    e.error = CAROM_ROBOT_PRODUCTS * (at->error.turn * far + other->error.turn * x +
                                      at->error.shift + other->error.shift) +
              64.0 * CAROM_ROBOT_UNIT64 * (far + x);
    e.size = far + first->largest;
    return e;
}

/* Whether one of two parts, no faces of which meet, encloses some of the other. */
CAROM_ITEM bool carom_robot_encloses(const carom_robot_part *a, const carom_robot_part *b,
                                     const carom_frame *b_to_a) {
    if (a->closed &&
        carom_robot_encloses_item(&a->tree, a->sign, carom_robot_part_points(b), b_to_a))
        return true;
    if (!b->closed) return false;
    carom_frame a_to_b = carom_robot_frame_inverse(b_to_a);
    return carom_robot_encloses_item(&b->tree, b->sign, carom_robot_part_points(a), &a_to_b);
}

/* ---- Faces, by distances in cells ------------------------------------------------------------ */

typedef struct carom_robot_field_search {
    const carom_robot_part *parts; /* whose distances they are */
    uint32_t part_count;
    const carom_robot_field *field;
    double reach;
} carom_robot_field_search;

/* A node of the tree that is searched. */
typedef struct carom_robot_field_node {
    uint32_t node;
    int side;     /* of the centre of its ball */
    double lower; /* bound of its distance from the faces */
} carom_robot_field_node;

CAROM_ITEM carom_robot_field_node carom_robot_field_node_of(const carom_robot_field_search *s,
                                                            const carom_robot_tree *tree,
                                                            uint32_t node,
                                                            const carom_frame *to_field) {
    carom_robot_field_bounds bounds =
        carom_robot_field_at(s->field, carom_frame_apply(to_field, tree->nodes[node].ball.centre));
    carom_robot_field_node n;
    n.node = node;
    n.side = bounds.side;
    n.lower = bounds.lower;
    return n;
}

CAROM_ITEM bool carom_robot_leaf_collides(const carom_robot_field_search *s,
                                          const carom_robot_leaf *leaf, bool *unsure) {
    for (uint32_t i = 0; i < leaf->count; ++i)
        for (int k = 0; k < 3; ++k) { /* a point that is inside, farther from faces than rounding */
            carom_robot_field_bounds at = carom_robot_field_at(s->field, leaf->items[i].corner[k]);
            if (at.side == 1 && at.lower > s->reach) return true;
        }
    for (uint32_t i = 0; i < s->part_count; ++i)
        if (carom_robot_touches_item(&s->parts[i].tree, leaf, unsure)) return true;
    return false;
}

/* Whether items of a tree are within reach of the faces, or proved to be inside. */
CAROM_ITEM bool carom_robot_field_meets(const carom_robot_field_search *s,
                                        const carom_robot_tree *tree, const carom_frame *to_field,
                                        bool *unsure) {
    carom_robot_field_node stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (tree->item_count == 0) return false;
    stack[depth++] = carom_robot_field_node_of(s, tree, 0, to_field);
    while (depth > 0) {
        carom_robot_field_node at = stack[--depth];
        const carom_robot_node *n = &tree->nodes[at.node];
        if (at.lower > n->ball.radius + s->reach) { /* no face is within reach of the ball */
            if (at.side == 1) return true;
            continue;
        }
        if (n->count != 0) {
            carom_robot_leaf leaf = carom_robot_leaf_item(tree, n, to_field, s->reach);
            if (carom_robot_leaf_collides(s, &leaf, unsure)) return true;
            continue;
        }
        carom_robot_field_node first = carom_robot_field_node_of(s, tree, n->first, to_field);
        carom_robot_field_node second = carom_robot_field_node_of(s, tree, n->first + 1, to_field);
        double first_depth = first.side == 1 ? first.lower : -first.lower;
        double second_depth = second.side == 1 ? second.lower : -second.lower;
        bool first_is_deeper = first_depth > second_depth; /* it is taken first */
        CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
        stack[depth++] = first_is_deeper ? second : first;
        stack[depth++] = first_is_deeper ? first : second;
    }
    return false;
}

/* Whether a point is inside; not where faces are within reach of it. */
CAROM_ITEM bool carom_robot_point_inside(const carom_robot_field_search *s, carom_vec3 p) {
    carom_robot_field_bounds at = carom_robot_field_at(s->field, p);
    if (at.side != 0) return at.side == 1;
    for (uint32_t k = 0; k < s->part_count; ++k)
        if (s->parts[k].closed &&
            s->parts[k].sign * carom_robot_winding_item(&s->parts[k].tree, p) >= 1)
            return true;
    return false;
}

CAROM_ITEM bool carom_robot_field_encloses(const carom_robot_field_search *s,
                                           const carom_robot_tree *points,
                                           const carom_frame *to_field) {
    for (uint32_t i = 0; i < points->item_count; ++i)
        if (carom_robot_point_inside(s, carom_frame_apply(to_field, points->balls[i].centre)))
            return true;
    return false;
}

/* Whether `parts`, moved by to_field, collide with those of the search. */
CAROM_ITEM bool carom_robot_field_collides(const carom_robot_field_search *s,
                                           const carom_robot_part *parts, uint32_t count,
                                           const carom_frame *to_field, bool *unsure) {
    for (uint32_t i = 0; i < count; ++i)
        if (carom_robot_field_meets(s, &parts[i].tree, to_field, unsure)) return true;
    carom_frame back = carom_robot_frame_inverse(to_field);
    for (uint32_t i = 0; i < count; ++i) {
        if (s->field->closed &&
            carom_robot_field_encloses(s, carom_robot_part_points(&parts[i]), to_field))
            return true;
        for (uint32_t k = 0; k < s->part_count && parts[i].closed; ++k)
            if (carom_robot_encloses_item(&parts[i].tree, parts[i].sign,
                                          carom_robot_part_points(&s->parts[k]), &back))
                return true;
    }
    return false;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

#ifndef __CUDACC__ /* only saves time */
/* Whether a plane is found between two parts that have hulls. */
static inline bool carom_robot_parts_separated(const carom_robot_view *v, const carom_robot_part *a,
                                               const carom_robot_part *b, const carom_frame *b_to_a,
                                               double reach) {
    if (a->hull.count == 0 || b->hull.count == 0) return false;
    double size = a->tree.largest + b->tree.largest + carom_length(b_to_a->t);
    carom_vec3 between = carom_vec_sub(carom_frame_apply(b_to_a, b->tree.nodes[0].ball.centre),
                                       a->tree.nodes[0].ball.centre);
    return v->separated(&a->hull, &b->hull, b_to_a, carom_vec_unit(between),
                        reach + CAROM_ROBOT_PLANE_ERROR * size);
}
#endif

/* By both trees. */
CAROM_ITEM bool carom_robot_trees_collide(const carom_robot_view *v,
                                          const carom_robot_exact_pair *e, double reach,
                                          bool *unsure) {
    (void)v;
    for (uint32_t i = 0; i < e->a_count; ++i)
        for (uint32_t k = 0; k < e->b_count; ++k) {
#ifndef __CUDACC__ /* only saves time */
            if (carom_robot_parts_separated(v, &e->a[i], &e->b[k], &e->b_to_a, reach)) continue;
#endif
            if (carom_robot_within_item(&e->a[i].tree, &e->b[k].tree, &e->b_to_a, reach, unsure) ||
                carom_robot_encloses(&e->a[i], &e->b[k], &e->b_to_a))
                return true;
        }
    return false;
}

/* Whether two bodies are of one small part each. */
CAROM_ITEM bool carom_robot_pair_is_small(const carom_robot_exact_pair *e) {
    return e->a_count == 1 && e->b_count == 1 &&
           e->a[0].tree.item_count <= CAROM_ROBOT_PLANE_ITEMS &&
           e->b[0].tree.item_count <= CAROM_ROBOT_PLANE_ITEMS;
}

/* Whether a pair collides at a margin, for the links' poses. False and *unsure: not known, on a GPU
 * alone. */
CAROM_ITEM bool carom_robot_pair_collides_item(const carom_robot_view *v,
                                               const carom_robot_pose *poses, uint32_t pair,
                                               double margin, bool *unsure) {
    carom_robot_exact_pair e = carom_robot_exact_pair_of(v, poses, pair);
    carom_robot_field_search s;
    s.reach = margin + 2.0 * e.error;
    CAROM_ASSERT(e.error >= 0.0 && margin >= 0.0 && e.size >= 0.0);
#ifndef __CUDACC__ /* only saves time */
    if (carom_robot_pair_is_small(&e) &&
        carom_robot_parts_separated(v, &e.a[0], &e.b[0], &e.b_to_a, s.reach))
        return false;
#endif
    if (e.a_field->cells != NULL) {
        s.parts = e.a;
        s.part_count = e.a_count;
        s.field = e.a_field;
        return carom_robot_field_collides(&s, e.b, e.b_count, &e.b_to_a, unsure);
    }
    if (e.b_field->cells != NULL) {
        carom_frame a_to_b = carom_robot_frame_inverse(&e.b_to_a);
        s.parts = e.b;
        s.part_count = e.b_count;
        s.field = e.b_field;
        return carom_robot_field_collides(&s, e.a, e.a_count, &a_to_b, unsure);
    }
    return carom_robot_trees_collide(v, &e, s.reach, unsure);
}

/* ---- Distances ------------------------------------------------------------------------------- */

/* What the distance of a pair may be off by. */
CAROM_ITEM double carom_robot_pair_error_item(const carom_robot_view *v,
                                              const carom_robot_pose *poses, uint32_t pair) {
    carom_robot_exact_pair e = carom_robot_exact_pair_of(v, poses, pair);
    return e.error + 0x1p-44 * e.size;
}

/* The distance of a pair, or `limit` where that is smaller, and its error. One that encloses the
 * other has distance and error 0. */
CAROM_ITEM double carom_robot_pair_distance_item(const carom_robot_view *v,
                                                 const carom_robot_pose *poses, uint32_t pair,
                                                 double limit, double *error) {
    carom_robot_exact_pair e = carom_robot_exact_pair_of(v, poses, pair);
    double best = limit;
    *error = e.error + 0x1p-44 * e.size;
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            best = carom_robot_distance_item(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, best);
    CAROM_ASSERT(best >= 0.0 && best <= limit && *error >= 0.0);
    if (best <= 2.0 * *error) return best; /* too near for points to be on one side */
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            if (carom_robot_encloses(&e.a[i], &e.b[k], &e.b_to_a)) {
                *error = 0.0;
                return 0.0;
            }
    return best;
}

#endif
