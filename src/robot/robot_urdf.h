/* SPDX-License-Identifier: MIT */
/* robot_urdf.h: the members of a robot's description, and the steps that its files share.
 *
 *   robot_urdf.c      texts of URDF and SRDF: links, joints, elements
 *   robot_packages.c  where the file of a mesh is
 *   robot_meshes.c    meshes of elements, and the robot that is made of it all */
#ifndef CAROM_SRC_ROBOT_ROBOT_URDF_H
#define CAROM_SRC_ROBOT_ROBOT_URDF_H

#include "base/array.h"
#include "base/context.h"
#include "carom/urdf.h"

#define CAROM_URDF_PATH_SIZE 4096u /* bytes of a path, as Linux has it */

/* Kinds of elements that are named; further ones are counted as one. */
#define CAROM_URDF_MOST_UNKNOWN 32

CAROM_ARRAY(carom_urdf_links, carom_urdf_link);
CAROM_ARRAY(carom_urdf_elements, carom_urdf_element);
CAROM_ARRAY(carom_urdf_joints, carom_urdf_joint);
CAROM_ARRAY(carom_urdf_pairs, carom_pair);

struct carom_urdf {
    carom_allocator allocator;
    carom_urdf_links links;
    carom_urdf_elements elements;
    carom_urdf_joints joints;
    carom_urdf_pairs disabled;
    uint64_t foreign;
    uint32_t *links_by_name, *joints_by_name; /* sorted */
    carom_urdf_unknown unknown[CAROM_URDF_MOST_UNKNOWN];
    uint32_t unknown_count;
    struct carom_urdf_text *texts; /* where the names are */
    uint64_t comparisons;          /* of names so far, for the test that reading is linear */
    const char *path;              /* NULL: not known */
    const char *packages, *package_path, *prefix_path; /* copies; NULL: none */
};

/* Copies a text; it stays until the robot is destroyed. NULL: no memory. */
const char *carom_urdf_keep(carom_urdf *urdf, const char *text);

/* The link with that name, or CAROM_NONE. */
uint32_t carom_urdf_find_link(carom_urdf *urdf, const char *name);

/* Finds the file of a mesh by the name that the URDF has for it. CAROM_IO, with a message that has
 * the name, the folders that were looked into and what to do, where a package has no such file. */
carom_status carom_urdf_find_file(carom_context *context, const carom_urdf *urdf, const char *uri,
                                  char *path, size_t size);

#endif
