/* SPDX-License-Identifier: MIT */
/* robot.h: whether a robot collides, for many joint configurations at once, with proof.
 *
 *   carom_robot_create(context, &(carom_robot_def){.links = ..., .joints = ...}, &robot);  prepare
 *   carom_robot_add_objects(context, robot, shapes, count, ids);                            world
 *   carom_robot_check(context, robot, configurations, count, NULL, results);                query
 *
 * A robot is a tree of links that joints connect. A configuration has one number per joint that
 * moves and follows no other: radians, or the unit of lengths for prismatic joints. Each link, each
 * attached shape and each object of the world is a body. Two bodies collide where they have a
 * common point or are no farther apart than the margin. What a closed mesh encloses belongs to it;
 * open meshes are surfaces.
 *
 * How a configuration is decided, each stage only for what the one before leaves undecided:
 *   covers  spheres that contain the bodies (cover.h) are apart: free;
 *   inner   balls inside of the bodies (pack.h) overlap: colliding;
 *   exact   by the faces, and by whether one body encloses the other.
 * Every comparison allows for a proved bound of the rounding of the kinematics, so that "free"
 * holds for the kinematics in real numbers. "colliding" does too, but for bodies whose distance
 * exceeds the margin by less than twice that bound, some 1e-12 of the robot's size.
 *
 * All of it may still change between minor versions. */
#ifndef CAROM_ROBOT_H
#define CAROM_ROBOT_H

#include "carom/geom.h"
#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input ----------------------------------------------------------------------------------- */

/* What a shape is. */
typedef enum carom_robot_shape_kind {
    CAROM_ROBOT_SHAPE_KIND_MESH = 0, /* closed: with what it encloses; open: its faces */
    CAROM_ROBOT_SHAPE_KIND_BOX,      /* `half` to either side of the origin */
    CAROM_ROBOT_SHAPE_KIND_SPHERE,   /* `radius` about the origin */
    CAROM_ROBOT_SHAPE_KIND_CAPSULE,  /* all points at most `radius` from a segment along z, of
                                        2 `half_height` */
    CAROM_ROBOT_SHAPE_KIND_CYLINDER, /* about z, with 2 `half_height` between its ends. Taken as the
                                        prism of 64 sides around it, which reaches out by 0.12 % of
                                        the radius */
    CAROM_ROBOT_SHAPE_KIND_BALLS,    /* a packing, or a point cloud with a radius */
    CAROM_ROBOT_SHAPE_KIND_COUNT
} carom_robot_shape_kind;

/* "mesh", "box", "sphere", "capsule", "cylinder", "balls". */
CAROM_API const char *carom_robot_shape_kind_name(carom_robot_shape_kind kind);
CAROM_API bool carom_robot_shape_kind_from_name(const char *name, carom_robot_shape_kind *kind);

/* A shape of a link, or an object of the world. Nothing is kept of it. Vertices are moved by the
 * pose in doubles, x' of soup.h; all that follows is exact with respect to x'. */
typedef struct carom_robot_shape {
    carom_robot_shape_kind kind;
    carom_pose pose;             /* in the link or in the world; all zero: the identity */
    const carom_mesh_view *mesh; /* of MESH; vertices with equal coordinates are merged */
    carom_vec3 half;             /* of BOX */
    double radius;               /* of SPHERE, CAPSULE and CYLINDER; is added to all of BALLS */
    double half_height;          /* of CAPSULE and CYLINDER */
    const carom_ball *balls;     /* of BALLS */
    uint64_t ball_count;
} carom_robot_shape;

/* How a joint moves. */
typedef enum carom_robot_joint_kind {
    CAROM_ROBOT_JOINT_KIND_FIXED = 0,
    CAROM_ROBOT_JOINT_KIND_REVOLUTE,   /* turns about its axis */
    CAROM_ROBOT_JOINT_KIND_CONTINUOUS, /* the same without limits */
    CAROM_ROBOT_JOINT_KIND_PRISMATIC,  /* slides along its axis */
    CAROM_ROBOT_JOINT_KIND_COUNT
} carom_robot_joint_kind;

/* "fixed", "revolute", "continuous", "prismatic". */
CAROM_API const char *carom_robot_joint_kind_name(carom_robot_joint_kind kind);
CAROM_API bool carom_robot_joint_kind_from_name(const char *name, carom_robot_joint_kind *kind);

/* A joint: pose of the child = pose of the parent, then `origin`, then the motion by its value. */
typedef struct carom_robot_joint {
    carom_robot_joint_kind kind;
    uint32_t parent, child; /* links */
    carom_pose origin;
    carom_vec3 axis;     /* in the child's frame; of any length but 0 where the joint moves */
    double lower, upper; /* limits, for sampling and for bounds of prismatic joints; not of
                            CONTINUOUS */
    bool mimics;         /* its value is multiplier times that of joint `mimic` plus offset, in
                            doubles; the configuration has no number for it */
    uint32_t mimic;      /* a joint that moves and mimics none */
    double multiplier, offset;
} carom_robot_joint;

/* The shapes of a link, and its name. */
typedef struct carom_robot_link {
    const char *name; /* copied, for messages; NULL: none */
    const carom_robot_shape *shapes;
    uint64_t shape_count; /* 0: the link meets nothing */
} carom_robot_link;

/* The robot, and how it is prepared; never NULL. */
typedef struct carom_robot_def {
    const carom_robot_link *links;
    uint32_t link_count;
    const carom_robot_joint *joints; /* one fewer than links: each but the root is a child once */
    uint32_t joint_count;
    const carom_pair *allowed; /* pairs of links that may collide, such as those of an SRDF */
    uint64_t allowed_count;
    bool test_adjacent; /* test each link also with its nearest ancestor that has shapes. Links that
                           fixed joints alone connect never move against each other and are never
                           tested */
    uint64_t spheres;   /* of all covers, but at least one per link with shapes. 0: 64 */
    uint64_t inner;     /* balls inside of each link; as many in all are added to those whose pairs
                           spheres often leave undecided. 0: 32 */
    uint64_t fine;      /* spheres of finer covers of all links, for pairs that the covers leave
                           undecided, more of links where that is often so. 0: six times `spheres`;
                           not more than `spheres`: none, and no more balls inside */
} carom_robot_def;

/* ---- Prepare --------------------------------------------------------------------------------- */

/* A robot and its world. */
typedef struct carom_robot carom_robot;

/* The most links, and the most objects, of one robot. */
#define CAROM_ROBOT_MOST_BODIES (UINT32_C(1) << 16)

/* Prepares a robot: covers, inner balls and trees. On failure *robot is NULL.
 * - CAROM_BAD_INPUT: links that are no tree, an axis of length 0, a number that is not finite, a
 *   mesh that carom_mesh_check refuses, coordinates beyond 2^40 in size.
 * - CAROM_UNSUPPORTED: a context of another backend than the CPU.
 *
 * Cost: mainly that of the covers: some 10 ms per sphere. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_create(carom_context *context,
                                                             const carom_robot_def *def,
                                                             carom_robot **robot);

/* NULL is fine. */
CAROM_EXPERIMENTAL CAROM_API void carom_robot_destroy(carom_robot *robot);

/* What a robot consists of. */
typedef struct carom_robot_info {
    uint32_t links, joints;
    uint32_t dof;         /* numbers of a configuration */
    uint32_t bodies;      /* links, and ids of attached shapes given out */
    uint32_t objects;     /* ids of objects given out */
    uint64_t pairs;       /* of bodies that are tested against each other */
    uint64_t spheres;     /* of the covers of all links and attached shapes */
    uint64_t inner;       /* balls inside of them */
    uint64_t triangles;   /* of links and attached shapes */
    uint64_t open_meshes; /* of these, meshes that are not closed: tested as surfaces */
    uint64_t rough;  /* of these, shapes that carom_cover_create refused: their cover is one ball */
    double overhang; /* no cover reaches out of its body farther than this; infinite: not known */
    double rounding; /* bound of the rounding of any point of the robot, in doubles, for joint
                        values within their limits */
    uint64_t bytes;  /* held by the robot */
    uint64_t fine;   /* spheres of the finer covers */
    double fine_overhang; /* no finer cover reaches out farther than this; of bodies without one,
                             their covers count */
} carom_robot_info;

/* Gets what the robot consists of. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_get_info(const carom_robot *robot,
                                                               carom_robot_info *info);

/* Gets the limits of the numbers of a configuration; lower and upper have space for `dof` each. Of
 * continuous joints they are -pi and pi. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_get_limits(const carom_robot *robot,
                                                                 double *lower, double *upper);

/* Returns the name of a link; "" where it has none. NULL is a caller's bug, and so is a link that
 * is
 * none: the result is "". */
CAROM_EXPERIMENTAL CAROM_API const char *carom_robot_link_name(const carom_robot *robot,
                                                               uint32_t link);

/* Says whether a body, or with `object` an object, has a mesh that is not closed and so is tested
 * as a surface. An id that is none has none. NULL is a caller's bug: the result is false. */
CAROM_EXPERIMENTAL CAROM_API bool carom_robot_has_open_mesh(const carom_robot *robot, uint32_t id,
                                                            bool object);

/* ---- Files -------------------------------------------------------------------------------------
 *
 * A file holds a robot as it is prepared, with attached shapes, objects and allowed pairs, so that
 * it
 * is ready again at once. */

/* Formats of files. */
typedef enum carom_robot_format {
    CAROM_ROBOT_FORMAT_GUESS = 0, /* carom */
    CAROM_ROBOT_FORMAT_CAROM,     /* words of 64 bits, little-endian on every machine */
    CAROM_ROBOT_FORMAT_COUNT
} carom_robot_format;

/* "guess", "carom". */
CAROM_API const char *carom_robot_format_name(carom_robot_format format);
CAROM_API bool carom_robot_format_from_name(const char *name, carom_robot_format *format);

/* Writes a robot. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_save(carom_context *context,
                                                           const carom_robot *robot,
                                                           carom_robot_format format,
                                                           const char *path);
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_save_memory(carom_context *context,
                                                                  const carom_robot *robot,
                                                                  carom_robot_format format,
                                                                  carom_bytes *bytes);

/* Reads what carom_robot_save wrote: the same robot, and the same answers to the last bit. On
 * failure
 * *robot is NULL. CAROM_BAD_FILE: no such file, of another version, or damaged: it has a checksum,
 * and what indices and bounds rely on is checked. That covers and hulls contain shapes is taken
 * from the file: read only files that you trust to be written by carom_robot_save. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_load(carom_context *context, const char *path,
                                                           carom_robot_format format,
                                                           carom_robot **robot);

/* The same from memory; name is for messages and may be NULL. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_load_memory(carom_context *context,
                                                                  const void *bytes, uint64_t size,
                                                                  carom_robot_format format,
                                                                  const char *name,
                                                                  carom_robot **robot);

/* ---- Changes ------------------------------------------------------------------------------------
 *
 * Changes need exclusive use. A change that fails has changed nothing. CAROM_BAD_INPUT: an id that
 * is none; shapes as for carom_robot_create. */

/* Adds objects to the world, each a body; ids has space for count and may be NULL. Ids are the
 * lowest that are free. Cost: O(n log n) of the faces. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_add_objects(carom_context *context,
                                                                  carom_robot *robot,
                                                                  const carom_robot_shape *shapes,
                                                                  uint32_t count, uint32_t *ids);

/* Replaces the shape of an object, which keeps its id and its allowed pairs. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_set_object(carom_context *context,
                                                                 carom_robot *robot, uint32_t id,
                                                                 const carom_robot_shape *shape);

/* Removes an object and its allowed pairs. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_remove_object(carom_context *context,
                                                                    carom_robot *robot,
                                                                    uint32_t id);

/* Attaches a shape to a link, such as a tool or a grasped part: the shape's pose is in the link.
 * Its pair with the link is allowed, and so are those that the link has. *body is its id: the
 * lowest that is free, from the number of links on; body may be NULL. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_attach(carom_context *context,
                                                             carom_robot *robot, uint32_t link,
                                                             const carom_robot_shape *shape,
                                                             uint32_t *body);

/* Takes an attached shape off. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_detach(carom_context *context,
                                                             carom_robot *robot, uint32_t body);

/* Allows pairs of bodies (links or attached shapes) to collide, or has them tested. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_set_allowed(carom_context *context,
                                                                  carom_robot *robot,
                                                                  const carom_pair *pairs,
                                                                  uint64_t count, bool allowed);

/* The same for pairs (body, object), such as the base of the robot and the floor. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_set_object_allowed(carom_context *context,
                                                                         carom_robot *robot,
                                                                         const carom_pair *pairs,
                                                                         uint64_t count,
                                                                         bool allowed);

/* ---- Query ----------------------------------------------------------------------------------- */

/* What is known of a configuration or a motion. */
typedef enum carom_robot_verdict {
    CAROM_ROBOT_VERDICT_FREE = 0,
    CAROM_ROBOT_VERDICT_COLLIDING,
    CAROM_ROBOT_VERDICT_OPEN, /* not decided: see `covers_only` and carom_robot_motion */
    CAROM_ROBOT_VERDICT_COUNT
} carom_robot_verdict;

/* "free", "colliding", "open". */
CAROM_API const char *carom_robot_verdict_name(carom_robot_verdict verdict);
CAROM_API bool carom_robot_verdict_from_name(const char *name, carom_robot_verdict *verdict);

/* What decided it. */
typedef enum carom_robot_stage {
    CAROM_ROBOT_STAGE_COVERS = 0,
    CAROM_ROBOT_STAGE_INNER,
    CAROM_ROBOT_STAGE_EXACT,
    CAROM_ROBOT_STAGE_COUNT
} carom_robot_stage;

/* "covers", "inner", "exact". */
CAROM_API const char *carom_robot_stage_name(carom_robot_stage stage);
CAROM_API bool carom_robot_stage_from_name(const char *name, carom_robot_stage *stage);

/* How configurations are tested. */
typedef struct carom_robot_query {
    double margin;    /* bodies that are no farther apart than this collide, too */
    bool covers_only; /* leave out the exact stage: what it would decide is open */
    double tolerance; /* of carom_robot_motion: 0: 1e-5 */
} carom_robot_query;

/* The verdict of a configuration. */
typedef struct carom_robot_result {
    carom_robot_verdict verdict;
    carom_robot_stage stage; /* the last one that was needed */
    uint32_t a, b;    /* two bodies that collide, or that are open; CAROM_NONE when free. a < b for
                         bodies of the robot */
    bool with_object; /* b is an object of the world */
} carom_robot_result;

/* Tests `count` configurations, each of `dof` numbers, one after the other; results has space for
 * count. query may be NULL.
 * - The pair of a result is the same for any number of threads and any instruction set. It is the
 *   first one in the order of self pairs, then objects, that the last stage needed found.
 * - Configurations may exceed the limits of joints.
 * - Where `dof` is 0, a configuration has no numbers, and none are read.
 * - CAROM_BAD_INPUT: a number that is not finite or beyond 2^40, a margin that is negative,
 *   infinite or NaN.
 *
 * Cost: some 100 ns to 300 ns for what covers decide, microseconds for what is decided exactly. On
 * all threads. Allocates nothing once warm. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_robot_check(carom_context *context, const carom_robot *robot, const double *configurations,
                  uint64_t count, const carom_robot_query *query, carom_robot_result *results);

/* How far from a collision a configuration is. */
typedef struct carom_robot_gap {
    carom_interval distance; /* contains the least distance of two bodies. Where they collide, lower
                                is 0 and upper at most the rounding or, with `covers_only`, what
                                covers reach out; infinite where there is no pair */
    uint32_t a, b;           /* the two; CAROM_NONE when there is no pair */
    bool with_object;
} carom_robot_gap;

/* Measures the least distance of `count` configurations; gaps has space for count. query may be
 * NULL; its margin is not read. With `covers_only` the interval is as wide as the covers reach out;
 * else it is some 1e-12 of the robot's size wide. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_clearance(
    carom_context *context, const carom_robot *robot, const double *configurations, uint64_t count,
    const carom_robot_query *query, carom_robot_gap *gaps);

/* Whether a motion is free. */
typedef struct carom_robot_motion_result {
    carom_robot_verdict verdict;
    double free_until; /* a time in [0, 1] before which it is proved to be free; 1 when free */
    double contact;    /* a time at which it is proved to collide; 1 unless the verdict is
                          colliding */
    uint32_t a, b;     /* the bodies; CAROM_NONE when free */
    bool with_object;
} carom_robot_motion_result;

/* Tests the straight motions from from[i] to to[i]: joint values (1 - t) from + t to for all t in
 * [0, 1]; results has space for count. query may be NULL.
 * - Free: proved for every t, by bounds of how far each body moves.
 * - Colliding: at `contact`, and free before `free_until`.
 * - Open: bodies come closer than margin + tolerance after free_until, and no collision was found;
 *   with `covers_only` also where covers decide nothing.
 * - covers_only: halves intervals until bodies move by less than the tolerance or 1e-3 of the
 *   robot's size, whichever is larger. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_motion(
    carom_context *context, const carom_robot *robot, const double *from, const double *to,
    uint64_t count, const carom_robot_query *query, carom_robot_motion_result *results);

/* Computes the poses of all links of `count` configurations; poses has space for count times the
 * number of links. The root has the identity. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_poses(carom_context *context,
                                                            const carom_robot *robot,
                                                            const double *configurations,
                                                            uint64_t count, carom_pose *poses);

/* ---- What it was prepared with --------------------------------------------------------------- */

CAROM_RESULT_ARRAY(carom_robot_balls, carom_ball);

/* Gets the cover of a link or attached shape, in the link's frame. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_list_cover(carom_context *context,
                                                                 const carom_robot *robot,
                                                                 uint32_t body,
                                                                 carom_robot_balls *balls);

/* Gets the balls inside of it. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_list_inner(carom_context *context,
                                                                 const carom_robot *robot,
                                                                 uint32_t body,
                                                                 carom_robot_balls *balls);

/* How far spheres leave a body outside. */
typedef struct carom_robot_audit {
    double area;                  /* of its faces */
    carom_interval outside_share; /* of that area: what is in no sphere. upper is at most 0.02 more
                                     than lower where the work allows */
    carom_interval worst; /* the greatest distance of a point of its faces from the union of the
                             spheres, 0 where all are in it: upper is at most 1 % of itself or 1e-6
                             of the body's size more than lower, where the work allows */
    carom_vec3 point;     /* where it is at least worst.lower; in the link's frame */
    uint64_t left_out;    /* shapes without faces: balls and capsules, which are not measured */
} carom_robot_audit;

/* Measures how far spheres, such as those of another program, leave the faces of a link or attached
 * shape outside. Centres are in the link's frame. Without spheres distances are infinite.
 * CAROM_BAD_INPUT: a body that is none, a sphere that is not finite or beyond 2^40, a negative
 * radius. Faces are halved until their pieces are decided: the work grows with the length of the
 * border between inside and outside. */
CAROM_EXPERIMENTAL CAROM_API carom_status
carom_robot_audit_spheres(carom_context *context, const carom_robot *robot, uint32_t body,
                          const carom_ball *spheres, uint64_t count, carom_robot_audit *audit);

/* How often two bodies collide. */
typedef struct carom_robot_pair_count {
    uint32_t a, b;
    uint64_t colliding; /* of the samples */
} carom_robot_pair_count;

CAROM_RESULT_ARRAY(carom_robot_pair_counts, carom_robot_pair_count);

/* Counts for each pair of bodies of the robot that is tested in how many of `samples` random
 * configurations within the limits it collides, so that pairs that always or never do can be
 * allowed. That a pair did not collide in samples proves nothing. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_sample_pairs(carom_context *context,
                                                                   const carom_robot *robot,
                                                                   uint64_t samples, uint64_t seed,
                                                                   carom_robot_pair_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
