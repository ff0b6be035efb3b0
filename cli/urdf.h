/* SPDX-License-Identifier: MIT */
/* urdf.h: robots as URDF files describe them: links with elements (shapes or names of mesh files),
 * posed by the joints between them. */
#ifndef CAROM_CLI_URDF_H
#define CAROM_CLI_URDF_H

#include "carom/carom.h"

#define URDF_NONE      UINT32_MAX
#define URDF_NAME_SIZE 256u /* bytes of a name, its end included */

typedef struct urdf_link {
    const char *name;
    size_t line;
    uint32_t first, count; /* its elements, which follow one another */
    uint32_t parent;       /* URDF_NONE: none */
    carom_pose in_parent, in_world;
} urdf_link;

typedef struct urdf_element {
    uint32_t link;
    const char *name; /* "" where it has none */
    const char *file; /* of a mesh, as the URDF names it; NULL: `shape` */
    double scale[3];  /* of that mesh */
    carom_convex shape;
    carom_pose origin; /* in the link */
} urdf_element;

typedef struct urdf_joint {
    const char *name; /* "" where it has none */
    const char *parent, *child;
    const char *mimic; /* the joint that it follows; NULL: none */
    double multiplier, offset;
    bool turns, slides;  /* neither: it does not move */
    bool endless;        /* continuous: it turns without limits */
    double lower, upper; /* limits; both 0 where none are given */
    carom_pose origin;
    double axis[3];
    double value; /* radians or metres */
    bool known;   /* its value is final */
    size_t line;
} urdf_joint;

/* A kind of element that is not understood. */
typedef struct urdf_unknown {
    char name[64], inside[64];
    size_t line; /* of the first */
    uint64_t count;
} urdf_unknown;

#define URDF_MOST_UNKNOWN 32 /* kinds that are named; further ones are counted as one */

typedef struct urdf {
    urdf_link *links;
    uint32_t link_count, link_capacity;
    urdf_element *elements;
    uint32_t element_count, element_capacity;
    urdf_joint *joints;
    uint32_t joint_count, joint_capacity;
    uint32_t *links_by_name, *joints_by_name; /* sorted */
    urdf_unknown unknown[URDF_MOST_UNKNOWN];
    size_t unknown_count;
    struct urdf_text *texts; /* where the names are */
    uint64_t comparisons;    /* of names so far, for the test that reading is linear */
    char message[512];       /* of a failure: file, line, what is wrong */
} urdf;

typedef struct urdf_def {
    const char *path; /* for messages */
    const char *text;
    size_t size;
    bool visual;        /* visual elements, not those for collision */
    const char *joints; /* NAME=VALUE,NAME=VALUE in radians and metres; NULL: all 0 */
} urdf_def;

/* Reads a robot. CAROM_BAD_FILE, CAROM_BAD_INPUT (joints) or CAROM_NO_MEMORY, with a message;
 * urdf_free is due also then. */
carom_status urdf_read(const urdf_def *def, urdf *robot);
void urdf_free(urdf *robot);

/* The link with that name, or URDF_NONE. */
uint32_t urdf_find_link(urdf *robot, const char *name);

/* Visits the pairs of links of `disable_collisions` in an SRDF text. Pairs with a link that the
 * robot does not have are left out and counted. */
typedef bool urdf_pair_fn(void *user, uint32_t a, uint32_t b); /* false: no memory */
carom_status urdf_read_srdf(urdf *robot, const char *path, const char *text, size_t size,
                            urdf_pair_fn *visit, void *user, uint64_t *foreign);

/* b in the frame of a. Both are unit quaternions. */
carom_pose urdf_compose(const carom_pose *a, const carom_pose *b);

#endif
