/* SPDX-License-Identifier: MIT */
/* solid.h: how much two solids overlap, exactly, and the force that separates them.
 *
 *   carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid);         prepare
 *   carom_solid_overlap(context, a, NULL, b, &pose_b, NULL, &overlap);             query
 *
 * A solid is what a closed mesh encloses. The volume of the overlap of two solids is a sum of one
 * term for each pair of faces that meet and one for each edge that passes through a face. No mesh
 * of the overlap is made. Which faces and edges those are is decided by exact predicates on the
 * posed corners x' (soup.h defines x'); their terms are rounded. docs/solid.md derives this.
 *
 * Degenerate contact (coplanar faces, edges that meet edges, copies of one mesh) is decided by
 * symbolic perturbation: as if b were translated by (e, e^2, e^3) with e > 0 infinitesimal. Volume
 * and centroid do not depend on the perturbation. Area, force and torque are discontinuous where
 * coplanar faces overlap: their value is the mean for b perturbed by (e, e^2, e^3) and by the
 * opposite.
 *
 * A mesh encloses a point whose winding number is not 0. The winding number is 1 in a solid, 2
 * where a mesh crosses itself or one shell lies in another of the same orientation, -1 in a shell
 * that faces inward with nothing around it. The volume of the overlap is the integral of the
 * product of both winding numbers: what a mesh encloses twice counts twice, what it encloses inside
 * out counts negatively, and volume, area and all else may be below zero. Results then have
 * `by_winding` set. Relations depend on what is enclosed, not on how often.
 */
#ifndef CAROM_SOLID_H
#define CAROM_SOLID_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* What a solid is made of. */
typedef struct carom_solid_def {
    const carom_mesh_view *mesh; /* copied; vertices with equal coordinates are merged */
    bool complement;             /* the space outside the mesh instead */
} carom_solid_def;

/* What a closed mesh encloses, prepared for queries. */
typedef struct carom_solid carom_solid;

/* Prepares a solid. On failure *solid is NULL.
 * - The mesh must pass carom_mesh_check, have a face, and be closed and consistently oriented: each
 *   edge has as many sides in one direction as in the other. Otherwise CAROM_BAD_INPUT, and the
 *   message counts open and inconsistent edges and names the first.
 * - Several shells, cavities and faces without area are allowed.
 * - A mesh that encloses a negative volume is inside out: its orientation is reversed, and the info
 *   says so.
 * - Polygons are split into triangles.
 *
 * Cost: O(n log n) on all threads. */
CAROM_API carom_status carom_solid_create(carom_context *context, const carom_solid_def *def,
                                          carom_solid **solid);

/* NULL is fine. */
CAROM_API void carom_solid_destroy(carom_solid *solid);

/* Replaces the positions of the vertices, for a mesh that deforms: those that create was given, in
 * the same order. Only positions, scalar, stride and vertex_count of the view are read. Needs
 * exclusive use.
 * - All answers are those of a new solid, bit for bit; only `bytes` and the counts of
 *   carom_context_get_work differ.
 * - CAROM_BAD_INPUT: another number of vertices, or as for create. Vertices that were merged have
 *   to stay together.
 * - A failed update leaves the solid as it was.
 *
 * Cost: some two fifths of that of create. What follows from the connectivity is kept, and the
 * trees are refitted. The first update doubles the memory of the solid; further ones allocate
 * nothing once warm. Where other vertices coincide than before, where the mesh turned inside out,
 * and for polygons the solid is made anew, at the cost of create. */
CAROM_API carom_status carom_solid_update(carom_context *context, carom_solid *solid,
                                          const carom_mesh_view *mesh);

/* What a solid is like. */
typedef struct carom_solid_info {
    uint64_t vertices;             /* after equal ones were merged */
    uint64_t triangles;            /* that the faces are split into */
    uint64_t degenerate_triangles; /* of these, without area */
    uint64_t shells;               /* sets of faces connected by vertices */
    double volume;                 /* of what the mesh encloses, also for a complement */
    carom_vec3 centroid;           /* of that; of the vertices where there is no volume */
    double area;                   /* of the mesh */
    bool complement;
    bool inside_out;        /* as given; the orientation was reversed */
    bool self_intersecting; /* faces meet other than in common corners and edges: soup.h */
    bool by_winding;        /* the winding number is not 0 or 1 everywhere; exact */
    uint64_t bytes;         /* held by the solid */
} carom_solid_info;

/* Gets what the solid is like. */
CAROM_API carom_status carom_solid_get_info(const carom_solid *solid, carom_solid_info *info);

/* ---- Query: overlap -------------------------------------------------------------------------- */

/* What else is computed of an overlap. */
typedef struct carom_solid_query_def {
    bool distance; /* also find the least distance of the surfaces when the solids are apart */
} carom_solid_query_def;

/* The relation (geom.h) is decided exactly for the posed corners, whatever the volume: an overlap
 * too thin to have a volume in doubles is still an overlap. A point is enclosed where the winding
 * number is not 0. For meshes that cross themselves, space is overlooked whose corners are all
 * points in which three faces cross. */
typedef struct carom_solid_result {
    carom_relation relation;
    double volume;
    double volume_error; /* how far the volume may be off; 0 when it is exact */
    carom_vec3 centroid; /* of the overlap; between the solids' boxes when there is none */
    double area;         /* of the overlap's surface, including faces that lie on faces of the same
                            mesh */
    carom_vec3 force;    /* on b: minus the derivative of the volume by b's translation */
    carom_vec3 torque;   /* on b: minus the derivative by b's rotation about its mesh's centroid,
                            world axes */
    bool one_sided;  /* coplanar faces overlap: area, force and torque are discontinuous here and
                        are the means for b perturbed by (e, e^2, e^3) and by the opposite */
    bool by_winding; /* true for one of the solids (carom_solid_info) */
    bool has_distance;
    double distance; /* when it was requested and the relation is CAROM_RELATION_APART, as from
                        carom_soup_cross_distance; 0 for all other relations */
    carom_vec3 point_a, point_b; /* where */
    uint64_t pairs;              /* of triangles that meet, touching included */
    /* Upper bounds on the errors of the other values, for vectors of each coordinate: the exact
     * value for the posed corners x' lies within them. They are 1e-9 of the value or less (for
     * force and torque 1e-9 of the largest that the overlap's surface could exert), except where
     * meshes of many triangles overlap by far less than they enclose. A value too large for a
     * double is the largest finite double, with an infinite error. A value too small is 0 or nearly
     * so, with an error of at least 2^-1074. */
    double centroid_error; /* infinite where the volume may be 0 */
    double area_error;
    double force_error;
    double torque_error;
} carom_solid_result;

/* Computes the overlap of a and b in their poses, which are as in soup.h; NULL or all zero is the
 * identity. def may be NULL. The force on a is the opposite of that on b. Identical bytes for any
 * number of threads.
 * - carom_context_get_work: boxes visited, pairs of triangles tested, and of these, those not
 *   decided in doubles.
 * - CAROM_BAD_INPUT: as for carom_soup_cross_pairs; or both are complements, whose overlap is
 *   infinite.
 *
 * Cost: the search for the faces that meet, and a constant for each; it does not grow with the
 * meshes except for one ray per shell. Where a solid is far smaller than the faces of the other, or
 * smaller than the rounding of its pose, all triangles are visited for the sake of accuracy. Where
 * rounding would still matter, as from size ratios of some 2^30 on, the terms are computed with
 * more bits, for some 20 us per pair of faces. Allocates nothing once warm.
 * On a context of backend cuda the GPU finds the faces that meet and adds up their terms, one by
 * one, too; the rays, the relation and terms with more bits stay on the CPU, as does the search for
 * solids whose sizes or distances differ by some 2^40 or more; the bytes are the same. The distance
 * is found on the GPU; the first one of a solid makes a tree there, which it keeps. Both solids are
 * made by contexts of that backend. */
CAROM_API carom_status carom_solid_overlap(carom_context *context, const carom_solid *a,
                                           const carom_pose *pose_a, const carom_solid *b,
                                           const carom_pose *pose_b,
                                           const carom_solid_query_def *def,
                                           carom_solid_result *overlap);

/* Two solids in their poses. */
typedef struct carom_solid_pair {
    const carom_solid *a, *b;
    carom_pose pose_a, pose_b; /* all zero is the identity */
} carom_solid_pair;

/* Computes many overlaps in one call: overlaps[i] has the bytes that carom_solid_overlap gives for
 * pairs[i]. On the GPU the faces that meet, and distances, are searched for in all poses together.
 * - carom_context_get_work: of all queries together.
 * - On failure the message names the pair; the overlaps before it are complete. */
CAROM_API carom_status carom_solid_overlap_batch(carom_context *context,
                                                 const carom_solid_pair *pairs, uint64_t count,
                                                 const carom_solid_query_def *def,
                                                 carom_solid_result *overlaps);

/* ---- Query: forces on vertices --------------------------------------------------------------- */

/* The force of an overlap on a vertex. */
typedef struct carom_solid_vertex_force {
    uint32_t vertex;  /* of the mesh that the solid was made of; of vertices that were merged, the
                        lowest */
    carom_vec3 force; /* minus the derivative of the overlap's volume by its position, world axes */
    double error;     /* upper bound of the error of each coordinate of the force */
} carom_solid_vertex_force;

CAROM_RESULT_ARRAY(carom_solid_vertex_forces, carom_solid_vertex_force);

/* Computes the gradient of the overlap's volume: the force on each vertex of both meshes that would
 * reduce the volume, for bodies that deform. Listed are the vertices of all faces that are inside
 * the other solid or cut by its surface, in ascending order; on all others there is no force.
 * Vertices that were merged move together. Identical bytes for any number of threads.
 * - The forces on b add up to the force of carom_solid_overlap, and with their positions x' to its
 *   torque, within the errors of both; those on a to the opposite force.
 * - The exact forces for the posed corners x' are within the errors: 1e-9 of the sum of all forces
 *   or less, except where many faces are inside and some are larger than the overlap by far.
 * - Where coplanar faces overlap, forces are discontinuous and means as for carom_solid_overlap.
 * - carom_context_get_work: as for carom_solid_overlap.
 * - CAROM_MORE: a caller's buffer is too small; both counts are the true ones.
 * - CAROM_BAD_INPUT: as for carom_solid_overlap. CAROM_UNSUPPORTED: a context of backend cuda.
 *
 * Cost: that of carom_solid_overlap, and a constant for each face inside; it grows with the meshes
 * by a bit per vertex. Allocates nothing once warm. */
CAROM_API carom_status carom_solid_overlap_gradient(carom_context *context, const carom_solid *a,
                                                    const carom_pose *pose_a, const carom_solid *b,
                                                    const carom_pose *pose_b,
                                                    carom_solid_vertex_forces *on_a,
                                                    carom_solid_vertex_forces *on_b);

/* ---- Query: connected pieces ----------------------------------------------------------------- */

/* A connected piece of an overlap. */
typedef struct carom_solid_patch {
    double volume;
    carom_vec3 centroid;
    double area;      /* of its surface */
    carom_vec3 force; /* its share of the force on b */
} carom_solid_patch;

CAROM_RESULT_ARRAY(carom_solid_patches, carom_solid_patch);

/* Computes the connected pieces of the overlap, largest volume first. Their sums are those of
 * carom_solid_overlap up to rounding, except for contact without volume: pieces whose volumes are
 * within their error are left out.
 * Where coplanar faces overlap, areas and forces are means of both perturbations, as for the whole
 * overlap. For pieces that are connected in one perturbation only, they may be those of one.
 * Cost: O(n) in addition to that of carom_solid_overlap. */
CAROM_API carom_status carom_solid_overlap_patches(carom_context *context, const carom_solid *a,
                                                   const carom_pose *pose_a, const carom_solid *b,
                                                   const carom_pose *pose_b,
                                                   carom_solid_patches *patches);

#ifdef __cplusplus
}
#endif

#endif
