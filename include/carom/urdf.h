/* SPDX-License-Identifier: MIT */
/* urdf.h: robots as URDF and SRDF files describe them.
 *
 *   carom_urdf_load(context, "arm.urdf", NULL, &urdf);            links, joints, elements
 *   carom_urdf_load_srdf(context, urdf, "arm.srdf");              pairs that may collide
 *   carom_robot_create_urdf(context, urdf, NULL, &robot);         prepare, with its meshes
 *
 * Lengths are metres, angles radians. Joints are posed by
 *   pose of the child = pose of the parent, then `origin`, then the motion by the value,
 * and origins are R = Rz(yaw) Ry(pitch) Rx(roll), computed in doubles.
 *
 * What is read: the named file, and meshes. A mesh must have the ending of a mesh file and lie in
 * the
 * folder of the URDF file or in a package; a name that leads out of these is refused before
 * anything
 * is opened. Links of the file system are followed as they are. Entities that a file declares are
 * refused. What the specification defines and has no shape (inertia, materials, transmissions,
 * simulators' data) is skipped; any other element is listed as unknown.
 *
 * All of it may still change between minor versions. */
#ifndef CAROM_URDF_H
#define CAROM_URDF_H

#include "carom/convex.h"
#include "carom/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input ----------------------------------------------------------------------------------- */

/* How a robot is read. NULL: all zero. */
typedef struct carom_urdf_def {
    bool visual;          /* visual elements, not those for collision */
    const char *joints;   /* values of joints, NAME=VALUE,NAME=VALUE; the others are 0. NULL: all
                                 are. They set the poses of links */
    const char *packages; /* where packages are: lines NAME=FOLDER. NULL: none is given */
    /* Folders with colons between them (on Windows semicolons), as ROS_PACKAGE_PATH has them: each
     * contains packages, or is one. NULL: none */
    const char *package_path;
    const char *prefix_path; /* the same as AMENT_PREFIX_PATH has them: packages are in
                                FOLDER/share. NULL: none */
} carom_urdf_def;

/* ---- Reading --------------------------------------------------------------------------------- */

/* What was read of a robot. */
typedef struct carom_urdf carom_urdf;

/* Bytes of a name, its end included. */
#define CAROM_URDF_NAME_SIZE 256u

/* Reads a robot. On failure *urdf is NULL. Meshes are not read yet. def may be NULL.
 * - CAROM_BAD_FILE, with the line: no XML, an entity, a value that is no finite number, names that
 *   are not there or twice, joints in a circle, limits in the wrong order.
 * - CAROM_BAD_INPUT: joints of the def.
 * - CAROM_IO, CAROM_TOO_LARGE: the file cannot be read, or has more bytes than the context's limit.
 *
 * Cost: that of sorting the names. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_load(carom_context *context, const char *path,
                                                          const carom_urdf_def *def,
                                                          carom_urdf **urdf);

/* The same from memory. `name` stands for the path: in messages, and its folder is where meshes
 * are.
 * def and name may be NULL; without a name meshes are in packages only. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_load_memory(carom_context *context,
                                                                 const void *bytes, uint64_t size,
                                                                 const char *name,
                                                                 const carom_urdf_def *def,
                                                                 carom_urdf **urdf);

/* NULL is fine. */
CAROM_EXPERIMENTAL CAROM_API void carom_urdf_destroy(carom_urdf *urdf);

/* Reads an SRDF file: the pairs of its `disable_collisions` are added to those of the robot. Pairs
 * with a link that the robot does not have are counted as foreign. On failure none is added. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_load_srdf(carom_context *context,
                                                               carom_urdf *urdf, const char *path);

/* The same from memory; name is for messages and may be NULL. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_load_srdf_memory(
    carom_context *context, carom_urdf *urdf, const void *bytes, uint64_t size, const char *name);

/* ---- What was read --------------------------------------------------------------------------- */

/* A link. */
typedef struct carom_urdf_link {
    const char *name;
    uint64_t line;
    uint32_t first, count;          /* its elements, which follow one another */
    uint32_t parent;                /* CAROM_NONE: none */
    carom_pose in_parent, in_world; /* for the values of joints */
} carom_urdf_link;

/* A shape of a link. */
typedef struct carom_urdf_element {
    uint32_t link;
    const char *name;   /* "" where it has none */
    const char *file;   /* of a mesh, as the URDF names it; NULL: `shape` */
    carom_vec3 scale;   /* of that mesh */
    carom_convex shape; /* a box, sphere, capsule or cylinder */
    carom_pose origin;  /* in the link */
} carom_urdf_element;

/* A joint. */
typedef struct carom_urdf_joint {
    const char *name; /* "" where it has none */
    uint64_t line;
    carom_robot_joint_kind kind; /* floating and planar joints are fixed */
    uint32_t parent, child;      /* links */
    uint32_t mimic;              /* the joint that it follows; CAROM_NONE: none */
    double multiplier, offset;
    double lower, upper; /* limits; both 0 where none are given */
    carom_pose origin;
    carom_vec3 axis; /* as it is given, of any length */
    double value;    /* radians or metres */
} carom_urdf_joint;

/* A kind of element that is not understood and was left out. */
typedef struct carom_urdf_unknown {
    const char *file; /* the URDF or SRDF file */
    uint64_t line;    /* of the first */
    const char *name, *inside;
    uint64_t count;
} carom_urdf_unknown;

/* All of it; valid until the robot is destroyed or an SRDF file is added. */
typedef struct carom_urdf_view {
    const carom_urdf_link *links;
    const carom_urdf_element *elements;
    const carom_urdf_joint *joints;
    const carom_pair *disabled; /* pairs of links, of SRDF files */
    const carom_urdf_unknown *unknown;
    uint32_t link_count, element_count, joint_count, unknown_count;
    uint64_t disabled_count;
    uint64_t foreign_count; /* of SRDF files: pairs with a link that the robot does not have */
} carom_urdf_view;

/* Gets all that was read. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_get_view(const carom_urdf *urdf,
                                                              carom_urdf_view *view);

/* Reads the mesh of an element: welded, triangles, scaled; a mirrored one has its triangles turned
 * round, so that it encloses what it did. *mesh is NULL where the element is a convex shape.
 * - CAROM_IO: no such file; the message says where it was looked for and what to do.
 * - CAROM_BAD_FILE: a name that leads out of the folder and of packages, or that has no ending of a
 *   mesh. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_urdf_load_mesh(carom_context *context,
                                                               const carom_urdf *urdf,
                                                               uint32_t element, carom_mesh **mesh);

/* Prepares the robot, with its meshes and its disabled pairs. Links and joints of the def must be
 * 0;
 * its allowed pairs are added. def may be NULL. Ids of links are their numbers in the view, columns
 * of a configuration are the joints that move and follow none, in the order of the file; joint
 * values
 * of the urdf are not used. Failures: those of carom_robot_create and carom_urdf_load_mesh. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_robot_create_urdf(carom_context *context,
                                                                  const carom_urdf *urdf,
                                                                  const carom_robot_def *def,
                                                                  carom_robot **robot);

#ifdef __cplusplus
}
#endif

#endif
