/* SPDX-License-Identifier: MIT */
/* A pair of bodies, by faces and by what they enclose.
 *
 * The second body is moved into the frame of the first by R_a'^T (R_b' x + t_b' - t_a') in doubles.
 * With the errors of both frames a point of it is off by at most
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
#include "robot/robot.h"

/* The two bodies of a pair. */
typedef struct exact_pair {
    const carom_robot_part *a, *b;
    uint32_t a_count, b_count;
    carom_frame b_to_a;
    const carom_robot_field *a_field, *b_field;
    double error; /* of a point of b in a's frame */
    double size;  /* at least all lengths */
} exact_pair;

static exact_pair make_pair_of(const carom_robot *robot, const carom_robot_pose *poses,
                               uint32_t pair) {
    carom_robot_plan_pair p = robot->plan.pairs[pair];
    const carom_robot_body *first = &robot->bodies[p.a];
    const carom_robot_pose *at = &poses[first->link];
    exact_pair e;
    if (pair >= robot->plan.self_count) { /* the object is a, the body b */
        const carom_robot_part *object = &robot->objects[p.b].part;
        e = (exact_pair){
            .a = object,
            .a_count = 1,
            .b = first->parts,
            .b_count = first->part_count,
            .a_field = &object->field,
            .b_field = &first->field,
            .b_to_a = at->frame,
            .error = carom_robot_error_of(at->error, first->largest, 4.0 * CAROM_ROBOT_UNIT64),
            .size = at->error.size + first->largest + object->tree.largest};
        return e;
    }
    const carom_robot_body *second = &robot->bodies[p.b];
    const carom_robot_pose *other = &poses[second->link];
    carom_frame back = carom_robot_frame_inverse(&at->frame);
    double x = second->largest, far = at->error.size + other->error.size + x;
    e = (exact_pair){.a = first->parts,
                     .a_count = first->part_count,
                     .b = second->parts,
                     .b_count = second->part_count,
                     .a_field = &first->field,
                     .b_field = &second->field,
                     .b_to_a = carom_robot_frame_compose(&back, &other->frame),
                     .error = CAROM_ROBOT_PRODUCTS * (at->error.turn * far + other->error.turn * x +
                                                      at->error.shift + other->error.shift) +
                              64.0 * CAROM_ROBOT_UNIT64 * (far + x),
                     .size = far + first->largest};
    return e;
}

/* Whether one of two parts, no faces of which meet, encloses some of the other. */
static bool encloses(const carom_robot_part *a, const carom_robot_part *b,
                     const carom_frame *b_to_a) {
    if (a->closed &&
        carom_robot_tree_encloses(&a->tree, a->sign, carom_robot_part_points(b), b_to_a))
        return true;
    if (!b->closed) return false;
    carom_frame a_to_b = carom_robot_frame_inverse(b_to_a);
    return carom_robot_tree_encloses(&b->tree, b->sign, carom_robot_part_points(a), &a_to_b);
}

/* ---- By distances in cells ------------------------------------------------------------------- */

/* A node of the tree that is searched. */
typedef struct field_node {
    uint32_t node;
    carom_robot_field_bounds bounds; /* of the centre of its ball */
} field_node;

typedef struct field_search {
    const carom_robot_part *parts; /* whose distances they are */
    uint32_t part_count;
    const carom_robot_field *field;
    double reach;
} field_search;

typedef enum field_verdict { FIELD_APART, FIELD_NEAR_FACES, FIELD_COLLIDING } field_verdict;

/* Of a ball: whether no face is within reach of it, and whether what is in it collides for that. */
static field_verdict bound_ball(const field_search *s, carom_robot_field_bounds bounds,
                                double radius) {
    if (!(bounds.lower > radius + s->reach)) return FIELD_NEAR_FACES;
    return bounds.side == 1 ? FIELD_COLLIDING : FIELD_APART;
}

static bool leaf_collides(const field_search *s, const carom_robot_leaf *leaf) {
    for (uint32_t i = 0; i < leaf->count; ++i)
        for (int k = 0; k < 3; ++k) { /* a point that is inside, farther from faces than rounding */
            carom_robot_field_bounds at = carom_robot_field_at(s->field, leaf->items[i].corner[k]);
            if (at.side == 1 && at.lower > s->reach) return true;
        }
    for (uint32_t i = 0; i < s->part_count; ++i)
        if (carom_robot_tree_touches(&s->parts[i].tree, leaf)) return true;
    return false;
}

/* Whether items of a tree are within reach of the faces, or proved to be inside. */
static bool field_meets(const field_search *s, const carom_robot_tree *tree,
                        const carom_frame *to_field) {
    field_node stack[CAROM_ROBOT_STACK];
    int depth = 0;
    if (tree->item_count == 0) return false;
    stack[depth++] = (field_node){
        0, carom_robot_field_at(s->field, carom_frame_apply(to_field, tree->nodes[0].ball.centre))};
    while (depth > 0) {
        field_node at = stack[--depth];
        const carom_robot_node *n = &tree->nodes[at.node];
        field_verdict verdict = bound_ball(s, at.bounds, n->ball.radius);
        if (verdict == FIELD_COLLIDING) return true;
        if (verdict == FIELD_APART) continue;
        if (n->count != 0) {
            carom_robot_leaf leaf = carom_robot_tree_leaf(tree, n, to_field, s->reach);
            if (leaf_collides(s, &leaf)) return true;
            continue;
        }
        field_node child[2];
        double depth_of[2]; /* the one that lies deeper is taken first */
        for (uint32_t i = 0; i < 2; ++i) {
            const carom_ball *ball = &tree->nodes[n->first + i].ball;
            carom_vec3 centre = carom_frame_apply(to_field, ball->centre);
            child[i] = (field_node){n->first + i, carom_robot_field_at(s->field, centre)};
            depth_of[i] =
                child[i].bounds.side == 1 ? child[i].bounds.lower : -child[i].bounds.lower;
        }
        uint32_t deeper = depth_of[0] > depth_of[1] ? 0 : 1;
        CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
        stack[depth++] = child[1 - deeper];
        stack[depth++] = child[deeper];
    }
    return false;
}

/* Whether a point of `points` is inside; not where faces are within reach of it. */
static bool field_encloses(const field_search *s, const carom_robot_tree *points,
                           const carom_frame *to_field) {
    for (uint32_t i = 0; i < points->item_count; ++i) {
        carom_vec3 p = carom_frame_apply(to_field, points->balls[i].centre);
        carom_robot_field_bounds at = carom_robot_field_at(s->field, p);
        if (at.side == 1) return true;
        if (at.side == -1) continue;
        for (uint32_t k = 0; k < s->part_count; ++k)
            if (s->parts[k].closed &&
                s->parts[k].sign * carom_robot_tree_winding(&s->parts[k].tree, p) >= 1)
                return true;
    }
    return false;
}

/* Whether `parts`, moved by to_field, collide with those of the search. */
static bool field_collides(const field_search *s, const carom_robot_part *parts, uint32_t count,
                           const carom_frame *to_field) {
    for (uint32_t i = 0; i < count; ++i)
        if (field_meets(s, &parts[i].tree, to_field)) return true;
    carom_frame back = carom_robot_frame_inverse(to_field);
    for (uint32_t i = 0; i < count; ++i) {
        if (s->field->closed && field_encloses(s, carom_robot_part_points(&parts[i]), to_field))
            return true;
        for (uint32_t k = 0; k < s->part_count && parts[i].closed; ++k)
            if (carom_robot_tree_encloses(&parts[i].tree, parts[i].sign,
                                          carom_robot_part_points(&s->parts[k]), &back))
                return true;
    }
    return false;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* By both trees. */
static bool trees_collide(const exact_pair *e, double reach) {
    for (uint32_t i = 0; i < e->a_count; ++i)
        for (uint32_t k = 0; k < e->b_count; ++k) {
            if (carom_robot_tree_separated(&e->a[i].tree, &e->b[k].tree, &e->b_to_a, reach))
                continue;
            if (carom_robot_tree_within(&e->a[i].tree, &e->b[k].tree, &e->b_to_a, reach) ||
                encloses(&e->a[i], &e->b[k], &e->b_to_a))
                return true;
        }
    return false;
}

bool carom_robot_pair_collides(const carom_robot *robot, const carom_robot_pose *poses,
                               uint32_t pair, double margin) {
    exact_pair e = make_pair_of(robot, poses, pair);
    double reach = margin + 2.0 * e.error;
    CAROM_ASSERT(e.error >= 0.0 && margin >= 0.0 && e.size >= 0.0);
    if (e.a_field->cells != NULL) {
        const field_search s = {e.a, e.a_count, e.a_field, reach};
        return field_collides(&s, e.b, e.b_count, &e.b_to_a);
    }
    if (e.b_field->cells != NULL) {
        const field_search s = {e.b, e.b_count, e.b_field, reach};
        carom_frame a_to_b = carom_robot_frame_inverse(&e.b_to_a);
        return field_collides(&s, e.a, e.a_count, &a_to_b);
    }
    return trees_collide(&e, reach);
}

double carom_robot_pair_distance(const carom_robot *robot, const carom_robot_pose *poses,
                                 uint32_t pair, double limit, double *error) {
    exact_pair e = make_pair_of(robot, poses, pair);
    double best = limit;
    *error = e.error + 0x1p-44 * e.size;
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            best = carom_robot_tree_distance(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, best);
    CAROM_ASSERT(best >= 0.0 && best <= limit && *error >= 0.0);
    if (best <= 2.0 * *error) return best; /* too near for points to be on one side */
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            if (encloses(&e.a[i], &e.b[k], &e.b_to_a)) {
                *error = 0.0;
                return 0.0;
            }
    return best;
}

void carom_robot_pair_error(const carom_robot *robot, const carom_robot_pose *poses, uint32_t pair,
                            double *error) {
    exact_pair e = make_pair_of(robot, poses, pair);
    *error = e.error + 0x1p-44 * e.size;
}
