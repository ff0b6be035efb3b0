/* SPDX-License-Identifier: MIT */
/* The plan: kinematics, spheres and pairs in floats, for the loops (robot_cpu.h).
 *
 * Links that fixed joints connect share a frame. A sphere has its radius enlarged by what its
 * centre may be off, in real numbers: by the frame's rounding (carom_robot_error_of), by that of
 * its place in the frame, and by rounding the centre to floats. An inner ball's is diminished by
 * the same. */
#include <string.h>

#include "base/sort.h"
#include "geom/box.h"
#include "geom/length.h"
#include "robot/robot.h"

/* Roundings of the place and the size of a box in floats, of its distance and its size: those of
 * its centre, of its axes, and of a point moved along them. */
#define BOX_ROUNDINGS 32.0

#define SLACK ((double)CAROM_ROBOT_SLACK)

bool carom_robot_is_allowed(const carom_robot_words *words, uint32_t a, uint32_t b) {
    uint64_t key = carom_robot_key(a, b), at = carom_lower_bound(words->data, words->count, key);
    return at < words->count && words->data[at] == key;
}

static float radius_up(double r, double error) {
    return carom_float_up((r + error) * (1.0 + SLACK), 0.0);
}

static float radius_down(double r, double error) {
    return carom_float_down((r - error) * (1.0 - SLACK), 0.0);
}

/* ---- Joints ---------------------------------------------------------------------------------- */

static void turn_matrix(const carom_frame *f, const double *m, float *to) {
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            to[3 * i + k] = (float)((f->r[3 * i] * m[k] + f->r[3 * i + 1] * m[3 + k]) +
                                    f->r[3 * i + 2] * m[6 + k]);
}

static void put_vector(carom_vec3 v, float *to) {
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

static void plan_moving(const carom_robot *robot, carom_robot_node_link *link, uint32_t frame,
                        carom_robot_plan_joint *joint) {
    const carom_robot_node_link *parent = &robot->links[link->parent];
    const carom_frame *in = &parent->in_frame;
    carom_vec3 origin = carom_frame_apply(in, link->origin);
    double most = CAROM_MAX(fabs(link->lower), fabs(link->upper));
    double slid = link->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC ? most : 0.0;
    *joint = (carom_robot_plan_joint){.parent = parent->frame,
                                      .column = link->column,
                                      .slides = link->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                      .multiplier = link->multiplier,
                                      .offset = link->offset};
    turn_matrix(in, link->a, joint->a);
    turn_matrix(in, link->b, joint->b);
    turn_matrix(in, link->c, joint->c);
    put_vector(origin, joint->origin);
    put_vector(carom_frame_turn(in, link->slide), joint->slide);
    link->frame = frame;
    link->in_frame = carom_frame_make(NULL);
    link->in_frame_error = (carom_robot_error){0};
    carom_robot_error given = parent->in_frame_error;
    double turn =
        CAROM_ROBOT_TURN32 + CAROM_ROBOT_PRODUCTS * given.turn + 64.0 * CAROM_ROBOT_UNIT64;
    link->frame_error = carom_robot_error_step(
        parent->frame_error, turn, carom_length(origin) + slid, slid, CAROM_ROBOT_UNIT32);
    link->frame_error.shift +=
        carom_robot_error_of(given, carom_length(link->origin), CAROM_ROBOT_UNIT64);
}

static void plan_fixed(const carom_robot *robot, carom_robot_node_link *link) {
    if (link->parent == CAROM_NONE) {
        link->frame = 0;
        link->in_frame = carom_frame_make(NULL);
        link->in_frame_error = link->frame_error = (carom_robot_error){0};
        return;
    }
    const carom_robot_node_link *parent = &robot->links[link->parent];
    carom_frame own = {.t = link->origin};
    memcpy(own.r, link->a, sizeof(own.r));
    link->frame = parent->frame;
    link->frame_error = parent->frame_error;
    link->in_frame = carom_robot_frame_compose(&parent->in_frame, &own);
    link->in_frame_error =
        carom_robot_error_step(parent->in_frame_error, CAROM_ROBOT_TURN64,
                               carom_length(link->origin), 0.0, CAROM_ROBOT_UNIT64);
}

static void plan_joints(carom_robot *robot, carom_robot_plan_joint *joints, uint32_t *count,
                        double *limits) {
    *count = 0;
    for (uint32_t i = 0; i < robot->dof; ++i) limits[i] = CAROM_ROBOT_MOST;
    robot->has_floats = true;
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        carom_robot_node_link *link = &robot->links[robot->order[i]];
        if (link->column == CAROM_NONE) {
            plan_fixed(robot, link);
            continue;
        }
        plan_moving(robot, link, *count + 1, &joints[*count]);
        ++*count;
        double most = link->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC
                          ? CAROM_MAX(fabs(link->lower), fabs(link->upper))
                          : CAROM_ROBOT_MOST_ANGLE;
        double left = (most - fabs(link->offset)) / CAROM_MAX(fabs(link->multiplier), 0x1p-60);
        limits[link->column] = CAROM_MIN(left, limits[link->column]);
        robot->has_floats &= link->frame_error.turn < CAROM_ROBOT_MOST_TURN;
        CAROM_ASSERT(link->frame_error.turn > 0.0 && link->frame_error.shift >= 0.0);
    }
}

/* ---- Spheres --------------------------------------------------------------------------------- */

typedef enum sphere_use { SPHERE_OUTER, SPHERE_INNER, SPHERE_POINT } sphere_use;

static void robot_put_sphere(const carom_robot_node_link *link, const carom_ball *ball,
                             sphere_use use, float *to) {
    carom_vec3 c = carom_frame_apply(&link->in_frame, ball->centre);
    double far = carom_length(c);
    double error =
        carom_robot_error_of(link->in_frame_error, carom_length(ball->centre), CAROM_ROBOT_UNIT64) +
        carom_robot_error_of(link->frame_error, far, CAROM_ROBOT_UNIT32) +
        2.0 * CAROM_ROBOT_UNIT32 * far;
    CAROM_ASSERT(error >= 0.0 && ball->radius >= 0.0);
    put_vector(c, to);
    to[3] = use == SPHERE_OUTER   ? radius_up(ball->radius, error)
            : use == SPHERE_INNER ? radius_down(ball->radius, error)
                                  : radius_up(0.0, error);
}

/* The rows of some spheres, and how many numbers they take: copies of the last one fill them. */
static uint32_t put_rows(const float *spheres, uint32_t count, float *rows) {
    const uint32_t block = CAROM_ROBOT_BLOCK, end = (count + block - 1) / block * block;
    for (uint32_t i = 0; i < end; ++i)
        for (uint32_t k = 0; k < 4; ++k)
            rows[(4 * (uint64_t)(i / block) + k) * block + i % block] =
                spheres[4 * (uint64_t)CAROM_MIN(i, count - 1) + k];
    return 4 * end;
}

/* A ball around the spheres of a cover. It contains the body; those of the finer cover may reach
 * out
 * of it, which rules nothing out wrongly: they are tested only for what the body itself may meet.
 * */
static carom_ball bounding_ball(const carom_robot_body *body) {
    carom_bounds box = carom_bounds_empty();
    for (uint32_t i = 0; i < body->cover_count; ++i) {
        carom_vec3 c = body->cover[i].centre;
        double r = body->cover[i].radius;
        carom_bounds_include(&box, carom_vec(c.x - r, c.y - r, c.z - r));
        carom_bounds_include(&box, carom_vec(c.x + r, c.y + r, c.z + r));
    }
    carom_ball ball = {carom_vec_scale(carom_vec_add(box.low, box.high), 0.5), 0.0};
    for (uint32_t i = 0; i < body->cover_count; ++i) {
        double r =
            carom_length(carom_vec_sub(body->cover[i].centre, ball.centre)) + body->cover[i].radius;
        ball.radius = CAROM_MAX(r * (1.0 + CAROM_ROBOT_TREE_SLACK), ball.radius);
    }
    return ball;
}

static uint32_t point_count(const carom_robot_body *body) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->part_count; ++i)
        count += carom_robot_part_points(&body->parts[i])->item_count;
    return count;
}

/* Returns how many spheres the largest finer cover or set of inner balls has. */
static uint32_t plan_bodies(const carom_robot *robot, carom_robot_plan_body *bodies, float *spheres,
                            uint64_t sphere_count, float *rows, uint64_t row_count) {
    uint32_t next = 0, next_row = 0, most = 0;
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *body = &robot->bodies[i];
        bodies[i] = (carom_robot_plan_body){.first = next};
        if (!body->live || body->cover_count == 0) continue;
        const carom_robot_node_link *link = &robot->links[body->link];
        carom_ball around = bounding_ball(body);
        bodies[i].live = true;
        bodies[i].frame = link->frame;
        bodies[i].cover_count = body->cover_count;
        robot_put_sphere(link, &around, SPHERE_OUTER, spheres + 4 * (uint64_t)next++);
        for (uint32_t k = 0; k < body->cover_count; ++k)
            robot_put_sphere(link, &body->cover[k], SPHERE_OUTER, spheres + 4 * (uint64_t)next++);
        for (uint32_t k = 0; k < body->inner_count; ++k) {
            float *to = spheres + 4 * (uint64_t)next;
            robot_put_sphere(link, &body->inner[k], SPHERE_INNER, to);
            if (!(to[3] > 0.0f)) continue; /* smaller than the rounding */
            ++bodies[i].inner_count;
            ++next;
        }
        for (uint32_t p = 0; p < body->part_count; ++p) {
            const carom_robot_tree *points = carom_robot_part_points(&body->parts[p]);
            bodies[i].point_count += points->item_count;
            for (uint32_t k = 0; k < points->item_count; ++k)
                robot_put_sphere(link, &points->balls[k], SPHERE_POINT,
                                 spheres + 4 * (uint64_t)next++);
        }
        bodies[i].fine = body->fine_count != 0 ? next : bodies[i].first + 1;
        bodies[i].fine_count = body->fine_count != 0 ? body->fine_count : body->cover_count;
        for (uint32_t k = 0; k < body->fine_count; ++k)
            robot_put_sphere(link, &body->fine[k], SPHERE_OUTER, spheres + 4 * (uint64_t)next++);
        bodies[i].fine_rows = next_row;
        next_row +=
            put_rows(spheres + 4 * (uint64_t)bodies[i].fine, bodies[i].fine_count, rows + next_row);
        bodies[i].inner_rows = next_row;
        next_row += put_rows(spheres + 4 * ((uint64_t)bodies[i].first + 1 + body->cover_count),
                             bodies[i].inner_count, rows + next_row);
        most = CAROM_MAX(most, CAROM_MAX(bodies[i].fine_count, bodies[i].inner_count));
    }
    CAROM_ASSERT(next <= sphere_count && next_row <= row_count);
    (void)sphere_count;
    (void)row_count;
    return most;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void plan_box(const carom_robot_part *part, carom_robot_plan_object *o) {
    const double half[3] = {part->half.x, part->half.y, part->half.z};
    double size = carom_length(part->frame.t) + carom_length(part->half);
    double error = BOX_ROUNDINGS * CAROM_ROBOT_UNIT32 * size;
    o->kind = CAROM_ROBOT_PLAN_BOX;
    put_vector(part->frame.t, o->centre);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) o->r[3 * i + k] = (float)part->frame.r[3 * k + i];
    bool has_inner = true;
    for (int i = 0; i < 3; ++i) {
        o->half[i] = radius_up(half[i], error);
        o->inner[i] = radius_down(half[i], error);
        has_inner &= o->inner[i] >= 0.0f;
    }
    if (!has_inner) o->inner[0] = -1.0f;
}

static void plan_objects(const carom_robot *robot, carom_robot_plan_object *objects, float *balls) {
    uint64_t next = 0;
    for (uint32_t i = 0; i < robot->object_count; ++i) {
        const carom_robot_part *part = &robot->objects[i].part;
        const carom_robot_tree *t = &part->tree;
        carom_robot_plan_object *o = &objects[i];
        *o = (carom_robot_plan_object){.kind = CAROM_ROBOT_PLAN_TREE};
        if (!robot->objects[i].live || t->item_count == 0) continue;
        const carom_ball *around = &t->nodes[0].ball;
        put_vector(around->centre, o->ball);
        o->ball[3] =
            radius_up(around->radius, 2.0 * CAROM_ROBOT_UNIT32 * carom_length(around->centre));
        if (part->kind == CAROM_ROBOT_SHAPE_KIND_BOX) {
            plan_box(part, o);
        } else if (t->triangles == NULL && t->item_count <= CAROM_ROBOT_FEW_BALLS) {
            o->kind = CAROM_ROBOT_PLAN_BALLS;
            o->balls = balls + next;
            o->count = t->item_count;
            for (uint32_t k = 0; k < t->item_count; ++k, next += 5) {
                double error = 2.0 * CAROM_ROBOT_UNIT32 * carom_length(t->balls[k].centre);
                double radius = t->balls[k].radius + t->radius;
                put_vector(t->balls[k].centre, balls + next);
                balls[next + 3] = radius_up(radius, error);
                balls[next + 4] = radius_down(radius, error);
            }
        }
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Lists the pairs, or counts them where pairs is NULL. */
static uint64_t robot_list_pairs(const carom_robot *robot, carom_robot_plan_pair *pairs,
                                 uint64_t *self) {
    uint64_t count = 0;
    for (uint32_t a = 0; a < robot->body_count; ++a) {
        const carom_robot_body *body = &robot->bodies[a];
        if (!body->live || body->cover_count == 0) continue;
        for (uint32_t b = a + 1; b < robot->body_count; ++b) {
            const carom_robot_body *other = &robot->bodies[b];
            if (!other->live || other->cover_count == 0) continue;
            if (robot->links[body->link].frame == robot->links[other->link].frame) continue;
            if (carom_robot_is_allowed(&robot->allowed, a, b)) continue;
            if (pairs != NULL) pairs[count] = (carom_robot_plan_pair){a, b};
            ++count;
        }
    }
    *self = count;
    for (uint32_t a = 0; a < robot->body_count; ++a) {
        if (!robot->bodies[a].live || robot->bodies[a].cover_count == 0) continue;
        for (uint32_t b = 0; b < robot->object_count; ++b) {
            if (!robot->objects[b].live || robot->objects[b].part.tree.item_count == 0) continue;
            if (carom_robot_is_allowed(&robot->allowed_objects, a, b)) continue;
            if (pairs != NULL) pairs[count] = (carom_robot_plan_pair){a, b};
            ++count;
        }
    }
    return count;
}

/* ---- Together -------------------------------------------------------------------------------- */

void carom_robot_plan_free(carom_robot *robot) {
    CAROM_RELEASE_ALL(&robot->allocator, robot->plan_joints, robot->plan_bodies,
                      robot->plan_objects, robot->plan_pairs, robot->plan_spheres, robot->plan_rows,
                      robot->plan_balls, robot->plan_limits);
    robot->plan_joints = NULL;
    robot->plan_bodies = NULL;
    robot->plan_objects = NULL;
    robot->plan_pairs = NULL;
    robot->plan_spheres = robot->plan_rows = robot->plan_balls = NULL;
    robot->plan_limits = NULL;
}

carom_status carom_robot_plan_make(carom_context *context, carom_robot *robot) {
    carom_robot_plan_joint *joints = NULL;
    carom_robot_plan_body *bodies = NULL;
    carom_robot_plan_object *objects = NULL;
    carom_robot_plan_pair *pairs = NULL;
    float *spheres = NULL, *rows = NULL, *balls = NULL;
    double *limits = NULL;
    uint64_t sphere_count = 0, row_count = 0, ball_count = 0, self = 0;
    uint32_t joint_count = 0;
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *b = &robot->bodies[i];
        if (b->live && b->cover_count != 0)
            sphere_count +=
                1 + (uint64_t)b->cover_count + b->inner_count + point_count(b) + b->fine_count;
        row_count += 4 * ((uint64_t)CAROM_MAX(b->fine_count, b->cover_count) + b->inner_count +
                          2 * CAROM_ROBOT_BLOCK);
    }
    for (uint32_t i = 0; i < robot->object_count; ++i) {
        const carom_robot_tree *t = &robot->objects[i].part.tree;
        if (t->triangles == NULL && t->item_count <= CAROM_ROBOT_FEW_BALLS)
            ball_count += t->item_count;
    }
    limits = carom_allocate(&robot->allocator, (uint64_t)robot->dof + 1, sizeof(*limits));
    joints = carom_allocate(&robot->allocator, (uint64_t)robot->link_count + 1, sizeof(*joints));
    if (limits == NULL || joints == NULL) {
        CAROM_RELEASE_ALL(&robot->allocator, limits, joints);
        return carom_fail_memory(context, robot->link_count * sizeof(*joints), "joints");
    }
    plan_joints(robot, joints, &joint_count, limits);
    uint64_t pair_count = robot_list_pairs(robot, NULL, &self);
    uint64_t bytes = (robot->dof + UINT64_C(1)) * sizeof(*limits) +
                     (robot->link_count + UINT64_C(1)) * sizeof(*joints) +
                     robot->body_count * sizeof(*bodies) + robot->object_count * sizeof(*objects) +
                     pair_count * sizeof(*pairs) + 16 * sphere_count + 4 * row_count +
                     20 * ball_count;
    bool is_small = pair_count <= CAROM_ROBOT_MOST_PAIRS && sphere_count <= UINT32_MAX / 16 &&
                    row_count <= UINT32_MAX;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(bodies, (uint64_t)robot->body_count + 1),
                                       CAROM_ALLOCATION(objects, (uint64_t)robot->object_count + 1),
                                       CAROM_ALLOCATION(pairs, pair_count + 1),
                                       CAROM_ALLOCATION(spheres, 4 * sphere_count + 4),
                                       CAROM_ALLOCATION(rows, row_count + 1),
                                       CAROM_ALLOCATION(balls, 5 * ball_count + 5)};
    if (!is_small || !carom_allocate_all(&robot->allocator, arrays, 6)) {
        CAROM_RELEASE_ALL(&robot->allocator, limits, joints);
        if (!is_small)
            return carom_fail(context, CAROM_TOO_LARGE,
                              "%llu pairs of bodies are to be tested, more than 2^24; allow some",
                              (unsigned long long)pair_count);
        return carom_fail_memory(context, bytes, "the plan of a robot");
    }
    uint32_t most_fine = plan_bodies(robot, bodies, spheres, sphere_count, rows, row_count);
    plan_objects(robot, objects, balls);
    uint64_t listed = robot_list_pairs(robot, pairs, &self);
    CAROM_ASSERT(listed == pair_count && self <= listed);
    (void)listed;
    carom_robot_plan_free(robot);
    robot->plan_joints = joints;
    robot->plan_bodies = bodies;
    robot->plan_objects = objects;
    robot->plan_pairs = pairs;
    robot->plan_spheres = spheres;
    robot->plan_rows = rows;
    robot->plan_balls = balls;
    robot->plan_limits = limits;
    robot->plan_bytes = bytes;
    robot->plan = (carom_robot_plan){.joints = joints,
                                     .joint_count = joint_count,
                                     .bodies = bodies,
                                     .body_count = robot->body_count,
                                     .spheres = spheres,
                                     .sphere_count = (uint32_t)sphere_count,
                                     .rows = rows,
                                     .most_fine = most_fine,
                                     .objects = objects,
                                     .pairs = pairs,
                                     .self_count = (uint32_t)self,
                                     .pair_count = (uint32_t)pair_count};
    return CAROM_OK;
}
