/* SPDX-License-Identifier: MIT */
/* scene_parts.h: the parts of a scene as objects: from mesh files, packings and URDF. */
#ifndef CAROM_CLI_SCENE_PARTS_H
#define CAROM_CLI_SCENE_PARTS_H

#include "cli/command.h"
#include "cli/names.h"

#define SCENE_NO_LINK UINT32_MAX

typedef struct scene_part {
    char *name;        /* FILE/GROUP; see scene_parts_add */
    const char *title; /* under which it is written: different for all parts (names.h) */
    uint64_t number;   /* over all files; parts without faces have a number but are not here */
    const char *file;
    uint32_t link; /* of a robot; else SCENE_NO_LINK */
    carom_scene_object_def object;
    double matrix[12]; /* of its pose */
    carom_mesh *mesh;  /* triangles, in its own frame; NULL for a convex shape or a packing */
    carom_soup *soup;  /* where it is not closed */
    carom_solid *solid;
    carom_tree *tree; /* of a packing */
    carom_packing *packing;
    uint64_t spheres;
    uint64_t triangles;
    uint64_t digest;  /* of the posed triangles, in any order */
    carom_bounds box; /* around the posed part */
} scene_part;

typedef struct scene_parts {
    scene_part *data;
    uint64_t count, capacity;
    uint64_t next_number, first_number; /* of the next part; of the first of its file */
    names titles;                       /* of all parts, in their order */
    carom_pair *ignored;                /* indices of parts whose pairs are not tested */
    uint64_t ignored_count, ignored_capacity;
    double metres; /* the length of a unit, where a file says it; else 0 */
    bool several;  /* there are several files: names begin with theirs */
    bool often;    /* pairs are tested many times each: prepare parts for that, which takes twice
                      as long */
    bool later;    /* meshes are prepared by scene_parts_prepare, not when they are added */
} scene_parts;

/* Adds all parts of a mesh file, or a packing: a PLY file of vertices with radii and no faces. */
carom_status scene_parts_add_meshes(cli *cli, const char *path, int from, scene_parts *parts);

/* Adds one part: a mesh, which it takes, or a convex shape (mesh NULL). `group` is what the file
 * calls it. Its name is that of the file, without folders, and the group's: FILE/GROUP. The file's
 * is left out where there is only one. A group without a name is called part_N, by its number in
 * the file; a part that is alone in its file (group NULL) is called as the file. */
carom_status scene_parts_add(cli *cli, const char *file, const char *group, carom_mesh *mesh,
                             const carom_convex *shape, const carom_pose *pose, uint32_t link,
                             scene_parts *parts);

/* Prepares the part of this index, where its mesh was to be prepared later. */
carom_status scene_parts_prepare(cli *cli, scene_parts *parts, uint64_t index);

/* How a robot is read. */
typedef struct scene_robot_def {
    const char *srdf;         /* a file with pairs of links to ignore; or NULL */
    const char *joints;       /* NAME=VALUE,NAME=VALUE in radians and metres; NULL: all 0 */
    bool visual;              /* visual elements, not those for collision */
    const arg_list *packages; /* values of --package (packages.h); or NULL */
} scene_robot_def;

/* Adds the elements of a robot's links. Pairs of elements of one link, of links that a joint
 * connects, and of links that the SRDF file disables are ignored. */
carom_status scene_parts_add_urdf(cli *cli, const char *path, const scene_robot_def *def,
                                  scene_parts *parts);

/* Visits the elements of a robot's links, link by link: each in the frame of its link, where
 * `origin` poses it. `mesh` is that of the element, triangles, or NULL where it is a convex shape.
 * A visit that fails ends it. */
typedef carom_status scene_urdf_fn(void *user, const char *link, const carom_pose *origin,
                                   const carom_mesh *mesh, const carom_convex *shape);
carom_status scene_urdf_each(cli *cli, const char *path, const scene_robot_def *def,
                             scene_urdf_fn *visit, void *user);

/* Reads a robot, and its SRDF file where one is given, and names what was not understood. Free with
 * carom_urdf_destroy, also after a failure. */
carom_status scene_urdf_load(cli *cli, const char *path, const scene_robot_def *def,
                             carom_urdf **urdf);

/* The text of a file; free with free(). */
carom_status scene_urdf_text(cli *cli, const char *path, char **text, size_t *size);

/* False when there is no memory. */
bool scene_parts_ignore(scene_parts *parts, uint64_t a, uint64_t b);

/* Whether two parts have the same triangles, posed, bit for bit. */
bool scene_parts_equal(const scene_part *a, const scene_part *b);

/* Corner `corner` of triangle `triangle` of a part with a mesh, posed. */
carom_vec3 scene_part_corner(const scene_part *part, const carom_mesh_view *view, uint64_t triangle,
                             int corner);

void scene_parts_free(scene_parts *parts);

#endif
