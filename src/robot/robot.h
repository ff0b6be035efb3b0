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
#include "robot/robot_field.h"
#include "robot/robot_tree.h"

/* The largest coordinate and the largest joint value: squares of distances stay finite in floats.
 * */
#define CAROM_ROBOT_MOST 0x1p40

/* The most pairs that are tested. */
#define CAROM_ROBOT_MOST_PAIRS (UINT64_C(1) << 24)

/* Objects of at most this many balls are tested in lanes. */
#define CAROM_ROBOT_FEW_BALLS 16u

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
static inline carom_robot_error carom_robot_error_step(carom_robot_error parent, double turn,
                                                       double length, double slid, double unit) {
    carom_robot_error e;
    e.turn = parent.turn * (1.0 + turn + 0x1p-20) + turn + 16.0 * unit;
    e.size = (parent.size + length) * (1.0 + 0x1p-20);
    e.shift = parent.shift + CAROM_ROBOT_PRODUCTS * (parent.turn * length + turn * slid) +
              24.0 * unit * (parent.size + length);
    return e;
}

/* How far a point at `distance` from the origin of a frame may be off when it is moved by it. */
static inline double carom_robot_error_of(carom_robot_error e, double distance, double unit) {
    return CAROM_ROBOT_PRODUCTS * (e.turn * distance + e.shift) + 16.0 * unit * (distance + e.size);
}

/* ---- Structure ------------------------------------------------------------------------------- */

/* One shape. */
typedef struct carom_robot_part {
    carom_robot_shape_kind kind;
    carom_robot_tree tree;
    carom_robot_tree points; /* of triangles: a point of each connected component */
    bool closed;             /* encloses space */
    bool open_mesh;          /* a mesh that does not */
    int sign;                /* of the winding numbers inside: -1 where the mesh is inside out */
    carom_frame frame;       /* of a box */
    carom_vec3 half;
    carom_robot_field field; /* of an object: distances from it; no cells: none */
} carom_robot_part;

typedef struct carom_robot_body {
    bool live; /* an id that is in use; a link always */
    uint32_t link;
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

/* ---- robot_kinematics.c ---------------------------------------------------------------------- */

/* The frame of a link, and the bound of its rounding. */
typedef struct carom_robot_pose {
    carom_frame frame;
    carom_robot_error error;
} carom_robot_pose;

/* Constants of a joint from its definition. */
void carom_robot_link_set_joint(carom_robot_node_link *link, const carom_robot_joint *joint);

/* Frames of all links in a configuration. */
void carom_robot_pose_links(const carom_robot *robot, const double *q, carom_robot_pose *poses);

/* R^T (x - t). */
carom_frame carom_robot_frame_inverse(const carom_frame *f);
/* b, then a. */
carom_frame carom_robot_frame_compose(const carom_frame *a, const carom_frame *b);

/* ---- robot_body.c ---------------------------------------------------------------------------- */

/* Makes a part of a shape; checks it. `whose` is for messages. */
carom_status carom_robot_part_make(carom_context *context, const carom_allocator *allocator,
                                   const carom_robot_shape *shape, const char *whose,
                                   carom_robot_part *part);
void carom_robot_part_free(const carom_allocator *allocator, carom_robot_part *part);

/* Makes cover and inner balls of a body from its parts, with about `spheres` spheres. */
carom_status carom_robot_body_cover(carom_context *context, const carom_allocator *allocator,
                                    carom_robot_body *body, uint64_t spheres, uint64_t inner);

/* Makes the finer cover; none where `spheres` is not more than the cover has. */
carom_status carom_robot_body_refine(carom_context *context, const carom_allocator *allocator,
                                     carom_robot_body *body, uint64_t spheres);
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

/* ---- robot_plan.c ---------------------------------------------------------------------------- */

/* Makes the plan anew. On failure the old one stays. */
carom_status carom_robot_plan_make(carom_context *context, carom_robot *robot);
void carom_robot_plan_free(carom_robot *robot);
bool carom_robot_is_allowed(const carom_robot_words *words, uint32_t a, uint32_t b);

static inline uint64_t carom_robot_key(uint32_t a, uint32_t b) {
    return (uint64_t)a << 32 | b;
}

/* Where the points of a part are: those of its components, or the centres of its balls. */
static inline const carom_robot_tree *carom_robot_part_points(const carom_robot_part *part) {
    return part->tree.triangles != NULL ? &part->points : &part->tree;
}

/* ---- robot_exact.c --------------------------------------------------------------------------- */

/* Whether a pair of the plan collides at a margin, for the links' poses. */
bool carom_robot_pair_collides(const carom_robot *robot, const carom_robot_pose *poses,
                               uint32_t pair, double margin);

/* The distance of a pair, or `limit` where that is smaller, and its error. One that encloses the
 * other has distance and error 0. */
double carom_robot_pair_distance(const carom_robot *robot, const carom_robot_pose *poses,
                                 uint32_t pair, double limit, double *error);

/* The error of that distance alone. */
void carom_robot_pair_error(const carom_robot *robot, const carom_robot_pose *poses, uint32_t pair,
                            double *error);

/* ---- robot_check.c --------------------------------------------------------------------------- */

/* From low to high; low > high: never. */
typedef struct carom_robot_times {
    double low, high;
} carom_robot_times;

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
void carom_robot_worker_get(const carom_robot *robot, const carom_robot_worker *w, uint32_t lane,
                            double *q);

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

/* ---- robot_file.c ---------------------------------------------------------------------------- */

/* The sum of the words of a file after its head, for fuzzers that change them: it is the fourth
 * word
 * of the head. */
uint64_t carom_robot_file_sum(const void *bytes, uint64_t size);

/* For tests and fuzzers, between two calls: NULL, or the first invariant that does not hold. */
const char *carom_robot_validate(const carom_robot *robot);

#endif
