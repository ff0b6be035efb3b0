/* SPDX-License-Identifier: MIT */
/* robot.h: the members of a robot, and the steps that its files share.
 *
 *   links, joints   the tree, in doubles: robot_kinematics.c, with bounds of its rounding
 *   bodies          links and attached shapes: parts with trees (robot_tree.h), covers, inner balls
 *   objects         one part each
 *   plan            the same in floats, for the loops (robot_cpu.h): robot_plan.c, made anew after
 *                   each change
 *
 * Between two calls the plan is that of the bodies, objects and allowed pairs as they are. */
#ifndef CAROM_SRC_ROBOT_ROBOT_H
#define CAROM_SRC_ROBOT_ROBOT_H

#include "base/array.h"
#include "base/context.h"
#include "base/worker_state.h"
#include "carom/robot.h"
#include "robot/robot_cpu.h"
#include "robot/robot_decide_item.h"
#include "robot/robot_motion_item.h"
#include "robot/robot_tree.h"

/* The most pairs that are tested. */
#define CAROM_ROBOT_MOST_PAIRS (UINT64_C(1) << 24)

/* Objects of at most this many balls are tested in lanes. */
#define CAROM_ROBOT_FEW_BALLS 16u

/* ---- Structure ------------------------------------------------------------------------------- */

CAROM_ARRAY(carom_robot_words, uint64_t);

struct carom_robot {
    carom_allocator allocator;
    carom_robot_node_link *links;
    uint32_t *order; /* links, parents first */
    char *names;     /* of all links, each ended by a zero */
    uint64_t *name_starts;
    uint64_t names_size;
    uint32_t link_count, joint_count, dof;
    double *lower, *upper;     /* of each column */
    uint64_t inner;            /* balls per body */
    double spheres_per_length; /* of the covers of links, for those of attached shapes */
    double fine_per_length;    /* of the finer ones; 0: none */

    carom_robot_body *bodies;
    uint32_t body_count, body_capacity;
    carom_robot_object *objects;
    uint32_t object_count, object_capacity;
    uint64_t stamps;                   /* given out to objects and attached shapes */
    carom_robot_words allowed;         /* a << 32 | b of bodies, a < b, sorted */
    carom_robot_words allowed_objects; /* body << 32 | object, sorted */

    /* The plan. */
    carom_robot_plan plan;
    carom_robot_plan_joint *plan_joints;
    carom_robot_plan_body *plan_bodies;
    carom_robot_plan_object *plan_objects;
    carom_robot_plan_pair *plan_pairs;
    float *plan_spheres, *plan_rows, *plan_balls;
    double *plan_limits; /* of each plan joint: the largest value it may have in floats */
    uint64_t plan_bytes;
    bool has_floats; /* bounds of the rounding in floats hold; false: all is decided exactly */
};

/* The same as decisions read it. */
static inline carom_robot_view carom_robot_view_of(const carom_robot *robot) {
    return (carom_robot_view){robot->plan, robot->links, robot->bodies, robot->objects, NULL};
}

/* ---- robot_kinematics.c ---------------------------------------------------------------------- */

/* Constants of a joint from its definition. */
void carom_robot_link_set_joint(carom_robot_node_link *link, const carom_robot_joint *joint);

/* Frames of all links in a configuration. */
void carom_robot_pose_links(const carom_robot *robot, const double *q, carom_robot_pose *poses);

/* ---- robot_body.c ---------------------------------------------------------------------------- */

/* Makes a part of a shape; checks it. `whose` is for messages. */
carom_status carom_robot_part_make(carom_context *context, const carom_allocator *allocator,
                                   const carom_robot_shape *shape, const char *whose,
                                   carom_robot_part *part);
void carom_robot_part_free(const carom_allocator *allocator, carom_robot_part *part);

/* Makes cover and inner balls of a body from its parts, with about `spheres` spheres. */
carom_status carom_robot_body_cover(carom_context *context, const carom_allocator *allocator,
                                    carom_robot_body *body, uint64_t spheres, uint64_t inner);

/* Makes the finer cover, and `inner` balls inside of each part where that is not 0; neither where
 * `spheres` is not more than the cover has. */
carom_status carom_robot_body_refine(carom_context *context, const carom_allocator *allocator,
                                     carom_robot_body *body, uint64_t spheres, uint64_t inner);
void carom_robot_body_free(const carom_allocator *allocator, carom_robot_body *body);

/* ---- robot_field.c --------------------------------------------------------------------------- */

/* Makes the distances from some parts, in about `cells` cells; none where they are too small or
 * have no items. O(cells log n). */
carom_status carom_robot_field_make(carom_context *context, const carom_allocator *allocator,
                                    const carom_robot_part *parts, uint32_t part_count,
                                    uint64_t cells, carom_robot_field *field);
void carom_robot_field_free(const carom_allocator *allocator, carom_robot_field *field);
uint64_t carom_robot_field_count(const carom_robot_field *field); /* of cells */
const char *carom_robot_field_validate(const carom_robot_field *field);

/* ---- robot_hull.c ---------------------------------------------------------------------------- */

/* Makes the hull of a part that has faces, and not too many. */
carom_status carom_robot_hull_make(carom_context *context, const carom_allocator *allocator,
                                   carom_robot_part *part);
void carom_robot_hull_free(const carom_allocator *allocator, carom_robot_hull *hull);

/* ---- robot_plan.c ---------------------------------------------------------------------------- */

/* Makes the plan anew. On failure the old one stays. */
carom_status carom_robot_plan_make(carom_context *context, carom_robot *robot);
void carom_robot_plan_free(carom_robot *robot);
bool carom_robot_is_allowed(const carom_robot_words *words, uint32_t a, uint32_t b);

static inline uint64_t carom_robot_key(uint32_t a, uint32_t b) {
    return (uint64_t)a << 32 | b;
}

/* ---- robot_exact.c --------------------------------------------------------------------------- */

/* Whether a pair of the plan collides at a margin, for the links' poses. */
bool carom_robot_pair_collides(const carom_context *context, const carom_robot *robot,
                               const carom_robot_pose *poses, uint32_t pair, double margin);

/* ---- robot_check.c --------------------------------------------------------------------------- */

/* The state of a worker: a block, its memory, and poses in doubles. */
typedef struct carom_robot_worker {
    carom_robot_block block;
    double *q;   /* of each column, CAROM_ROBOT_BLOCK lanes */
    double *one; /* one configuration */
    float half_time[CAROM_ROBOT_BLOCK];
    float *speed;              /* of each pair */
    carom_robot_times *proved; /* of each pair */
    carom_robot_pose *poses;
    uint32_t beyond;    /* lanes that floats are not computed for */
    uint32_t undecided; /* lanes of any entry */
} carom_robot_worker;

/* Initialises a state (worker_state.h); user is a carom_robot_call. */
typedef struct carom_robot_call {
    carom_context *context;
    const carom_robot *robot;
    const double *from, *to; /* configurations; of motions */
    uint64_t count;
    carom_robot_query query;
    carom_robot_result *results;
    carom_robot_gap *gaps;
    carom_robot_motion_result *motions;
    uint64_t samples, seed;
    _Atomic uint64_t *counts;
    carom_worker_states *states;
} carom_robot_call;
bool carom_robot_worker_begin(void *user, void *state, uint32_t worker);

/* Puts a configuration into a lane; it is computed in floats where these hold. */
void carom_robot_worker_put(const carom_robot *robot, carom_robot_worker *w, uint32_t lane,
                            const double *q);
/* Fills lanes from `count` on with zeros and clears the mask. */
void carom_robot_worker_clear(const carom_robot *robot, carom_robot_worker *w);

/* Runs the loops for a block, then covers and inner balls against trees. Entries keep the lanes
 * that are undecided. */
void carom_robot_worker_run(const carom_robot_call *call, carom_robot_worker *w);

/* Prepares a call and runs `body` on blocks of `grain` items. */
carom_status carom_robot_call_run(carom_robot_call *call, uint64_t count, uint64_t grain,
                                  const char *what, carom_range_fn *body);

/* Checks configurations, and the margin and tolerance of a query. */
carom_status carom_robot_check_query(carom_context *context, const carom_robot *robot,
                                     const double *configurations, uint64_t count,
                                     const carom_robot_query *query);

/* Counts for each pair of the plan in how many of some random configurations within the limits
 * spheres leave it undecided; `samples` is rounded up to blocks. On one thread. */
carom_status carom_robot_count_open(carom_context *context, const carom_robot *robot,
                                    uint32_t samples, uint32_t *counts);

/* carom_robot_check by the CPU, in a context of any backend; the input is checked. */
carom_status carom_robot_check_on_cpu(carom_context *context, const carom_robot *robot,
                                      const double *configurations, uint64_t count,
                                      const carom_robot_query *query, carom_robot_result *results);

/* ---- robot_motion.c -------------------------------------------------------------------------- */

/* What the motions of a query, which may be NULL, have in common. */
carom_robot_motion_rule carom_robot_motion_rule_of(const carom_robot *robot,
                                                   const carom_robot_query *query);

/* carom_robot_motion by the CPU, in a context of any backend; the input is checked. */
carom_status carom_robot_motion_on_cpu(carom_context *context, const carom_robot *robot,
                                       const double *from, const double *to, uint64_t count,
                                       const carom_robot_query *query,
                                       carom_robot_motion_result *results);

/* ---- robot_device.c -------------------------------------------------------------------------- */

/* carom_robot_check, _clearance and _motion by the GPU, in a context of backend cuda; the input is
 * checked. */
carom_status carom_robot_device_check(carom_context *context, const carom_robot *robot,
                                      const double *configurations, uint64_t count,
                                      const carom_robot_query *query, carom_robot_result *results);
carom_status carom_robot_device_clearance(carom_context *context, const carom_robot *robot,
                                          const double *configurations, uint64_t count,
                                          const carom_robot_query *query, carom_robot_gap *gaps);
carom_status carom_robot_device_motion(carom_context *context, const carom_robot *robot,
                                       const double *from, const double *to, uint64_t count,
                                       const carom_robot_query *query,
                                       carom_robot_motion_result *results);

/* For tests: bytes that the last update of a copy on the device wrote. */
uint64_t carom_robot_device_written(const struct carom_cuda_robot *copy);

/* ---- robot_file.c ---------------------------------------------------------------------------- */

/* The sum of the words of a file after its head, for fuzzers that change them: it is the fourth
 * word
 * of the head. */
uint64_t carom_robot_file_sum(const void *bytes, uint64_t size);

/* For tests and fuzzers, between two calls: NULL, or the first invariant that does not hold. */
const char *carom_robot_validate(const carom_robot *robot);

#endif
