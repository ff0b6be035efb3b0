/* SPDX-License-Identifier: MIT */
/* The invariants of a robot. Bounds of rounding are found by following each link to the root, where
 * the plan goes the other way. */
#include "geom/length.h"
#include "robot/robot.h"

static const char *robot_check_links(const carom_robot *robot) {
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        const carom_robot_node_link *l = &robot->links[robot->order[i]];
        if (i == 0
                ? l->parent != CAROM_NONE || l->depth != 0
                : l->parent >= robot->link_count || l->depth != robot->links[l->parent].depth + 1)
            return "robot: the order of links does not follow the tree";
        if (l->column != CAROM_NONE && l->column >= robot->dof)
            return "robot: a joint has a column that is none";
        if (l->frame > robot->plan.joint_count) return "robot: a link has a frame that is none";
    }
    return NULL;
}

static const char *robot_check_words(const carom_robot_words *words) {
    for (uint64_t i = 1; i < words->count; ++i)
        if (words->data[i - 1] >= words->data[i]) return "robot: allowed pairs are not sorted";
    return NULL;
}

/* Every vertex of a body is in a sphere of its cover or in its bounding ball's reach. */
static const char *check_cover(const carom_robot_body *body) {
    for (uint32_t p = 0; p < body->part_count; ++p) {
        const carom_robot_tree *t = &body->parts[p].tree;
        for (uint32_t i = 0; i < t->item_count; ++i) {
            carom_vec3 at = t->triangles != NULL ? t->triangles[i].corner[0] : t->balls[i].centre;
            bool inside = false;
            for (uint32_t k = 0; k < body->cover_count && !inside; ++k)
                inside = carom_length(carom_vec_sub(at, body->cover[k].centre)) <=
                         body->cover[k].radius * (1.0 + 0x1p-30);
            for (uint32_t k = 0; k < body->fine_count && inside; ++k) {
                inside = carom_length(carom_vec_sub(at, body->fine[k].centre)) <=
                         body->fine[k].radius * (1.0 + 0x1p-30);
                if (inside) break;
                inside = k + 1 < body->fine_count;
            }
            if (!inside) return "robot: a vertex is in no sphere of its cover";
        }
    }
    return NULL;
}

/* The hull of a part reaches to its box, which is enlarged by slack and radius alone. */
static const char *check_part_hull(const carom_robot_part *part) {
    const carom_robot_hull *h = &part->hull;
    const carom_robot_tree *t = &part->tree;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    if (h->count == 0) return NULL;
    for (uint32_t i = 0; i < h->count; ++i)
        for (uint32_t lane = 0; lane < CAROM_HULL_LANES; ++lane) {
            const double at[3] = {h->blocks[i].x[lane], h->blocks[i].y[lane], h->blocks[i].z[lane]};
            for (int k = 0; k < 3; ++k) {
                low[k] = CAROM_MIN(at[k], low[k]);
                high[k] = CAROM_MAX(at[k], high[k]);
            }
        }
    double slack = 0x1p-30 * t->largest;
    for (int k = 0; k < 3 && t->item_count != 0; ++k)
        if (low[k] - h->round > t->nodes[0].low[k] + slack ||
            high[k] + h->round < t->nodes[0].high[k] - slack)
            return "robot: a shape is larger than its hull";
    return NULL;
}

static const char *check_plan(const carom_robot *robot) {
    const carom_robot_plan *plan = &robot->plan;
    uint64_t spheres = 0;
    if (plan->body_count != robot->body_count)
        return "robot: the plan has another number of bodies";
    for (uint32_t i = 0; i < plan->body_count; ++i) {
        const carom_robot_plan_body *b = &plan->bodies[i];
        const carom_robot_body *body = &robot->bodies[i];
        if (b->live != (body->live && body->cover_count != 0))
            return "robot: the plan has a body that is none";
        if (!b->live) continue;
        if (b->cover_count != body->cover_count || b->inner_count > body->inner_count)
            return "robot: the plan has another number of spheres";
        spheres +=
            1 + (uint64_t)b->cover_count + b->inner_count + b->point_count + body->fine_count;
        for (uint32_t k = 0; k < b->cover_count; ++k)
            if ((double)plan->spheres[4 * (uint64_t)(b->first + 1 + k) + 3] < body->cover[k].radius)
                return "robot: a sphere of the plan is too small";
        for (uint32_t k = 0; k < body->fine_count; ++k)
            if ((double)plan->spheres[4 * (uint64_t)(b->fine + k) + 3] < body->fine[k].radius)
                return "robot: a sphere of the plan is too small";
    }
    if (spheres > plan->sphere_count) return "robot: the plan has too many spheres";
    for (uint32_t i = 0; i < plan->pair_count; ++i) {
        carom_robot_plan_pair p = plan->pairs[i];
        bool is_self = i < plan->self_count;
        if (!plan->bodies[p.a].live || (is_self && !plan->bodies[p.b].live) ||
            (!is_self && !robot->objects[p.b].live))
            return "robot: a pair has a body that is none";
        if (is_self ? carom_robot_is_allowed(&robot->allowed, p.a, p.b)
                    : carom_robot_is_allowed(&robot->allowed_objects, p.a, p.b))
            return "robot: a pair is allowed and tested";
    }
    return NULL;
}

const char *carom_robot_validate(const carom_robot *robot) {
    const char *broken = robot_check_links(robot);
    if (broken == NULL) broken = robot_check_words(&robot->allowed);
    if (broken == NULL) broken = robot_check_words(&robot->allowed_objects);
    for (uint32_t i = 0; i < robot->body_count && broken == NULL; ++i) {
        const carom_robot_body *body = &robot->bodies[i];
        for (uint32_t p = 0; p < body->part_count && broken == NULL; ++p)
            broken = carom_robot_tree_validate(&body->parts[p].tree);
        for (uint32_t p = 0; p < body->part_count && broken == NULL; ++p)
            broken = check_part_hull(&body->parts[p]);
        if (broken == NULL) broken = carom_robot_field_validate(&body->field);
        if (broken == NULL) broken = check_cover(body);
    }
    for (uint32_t i = 0; i < robot->object_count && broken == NULL; ++i) {
        broken = carom_robot_tree_validate(&robot->objects[i].part.tree);
        if (broken == NULL) broken = carom_robot_field_validate(&robot->objects[i].part.field);
        if (broken == NULL) broken = check_part_hull(&robot->objects[i].part);
    }
    return broken == NULL ? check_plan(robot) : broken;
}
