/* SPDX-License-Identifier: MIT */
/* solid.h: how much two solids overlap, exactly, and which way they push.
 *
 *   carom_solid_create(context, &(carom_solid_def){.mesh = view}, &solid);         prepare
 *   carom_solid_overlap(context, a, NULL, b, &pose_b, NULL, &overlap);             query
 *
 * A solid is what a closed mesh encloses. The volume of two solids' overlap is a sum of one term
 * for each pair of faces that meet and one for each edge that passes through a face; no mesh of the
 * overlap is ever made. Which faces and edges those are is decided by exact predicates on the posed
 * corners x' (soup.h says what x' is); their terms are rounded. docs/solid.md derives all this.
 *
 * Contact that is degenerate (faces in one plane, edges that meet edges, copies of one mesh) is
 * decided as if b had been moved by (e, e^2, e^3) with e > 0 smaller than anything. Volume and
 * centroid do not notice. Area, force and torque jump where faces lie in one another: theirs is the
 * mean for b moved by (e, e^2, e^3) and by the opposite.
 *
 * A mesh encloses a point whose winding number is not 0: 1 in a solid, 2 where a mesh crosses
 * itself or one shell lies in another that faces the same way, -1 in a shell that faces inward with
 * nothing around it. The volume of the overlap is the integral of the product of both winding
 * numbers: what a mesh encloses twice counts twice, what it encloses inside out counts negatively,
 * and volume, area and all else may be below zero. Results say so in `by_winding`. Relations go by
 * what is enclosed, however often.
 */
#ifndef CAROM_SOLID_H
#define CAROM_SOLID_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- prepare --------------------------------------------------------------------------------- */

typedef struct carom_solid_def {
    carom_mesh_view mesh; /* copied; vertices with equal coordinates are made one */
    bool complement;      /* the space outside the mesh instead */
} carom_solid_def;

typedef struct carom_solid carom_solid;

/* Prepares a solid: O(n log n) on all threads. The mesh must pass carom_mesh_check, have a face and
 * be closed and consistently oriented: across each edge as many sides go one way as the other.
 * Otherwise CAROM_BAD_INPUT, and the message counts open and inconsistent edges and names the
 * first. Several shells, cavities and faces without area are fine. A mesh that encloses a negative
 * volume is inside out: it is turned, and the info says so. Polygons are split into triangles. On
 * failure *solid is NULL. */
CAROM_API carom_status carom_solid_create(carom_context *context, const carom_solid_def *def,
                                          carom_solid **solid);

/* NULL is fine. */
CAROM_API void carom_solid_destroy(carom_solid *solid);

typedef struct carom_solid_info {
    uint64_t vertices;             /* after equal ones were made one */
    uint64_t triangles;            /* faces are split into */
    uint64_t degenerate_triangles; /* of these, without area */
    uint64_t shells;               /* sets of faces connected by vertices */
    double volume;                 /* of what the mesh encloses, also for a complement */
    carom_vec3 centroid;           /* of that; of the vertices where there is no volume */
    double area;                   /* of the mesh */
    bool complement;
    bool inside_out;        /* as given; it was turned */
    bool self_intersecting; /* faces meet other than in common corners and edges: soup.h */
    bool by_winding;        /* the winding number is not 0 or 1 everywhere; exact */
    uint64_t bytes;         /* held by the solid */
} carom_solid_info;

CAROM_API carom_status carom_solid_get_info(carom_context *context, const carom_solid *solid,
                                            carom_solid_info *info);

/* ---- query ----------------------------------------------------------------------------------- */

/* How two solids lie to each other: which of the space that a encloses b encloses, too, by winding
 * numbers that are not 0. Decided exactly, for the posed corners as they are, whatever the volume:
 * so an overlap that is too thin to have a volume in doubles is one. For meshes that cross
 * themselves, space is overlooked whose corners are all points in which three faces cross. */
typedef enum carom_relation {
    CAROM_RELATION_APART = 0, /* no space is enclosed by both, and surfaces do not meet */
    CAROM_RELATION_TOUCHING,  /* no space is enclosed by both, but surfaces meet; the volume is 0 */
    CAROM_RELATION_OVERLAPPING, /* some is enclosed by both, some by a alone, some by b alone */
    CAROM_RELATION_A_INSIDE_B,  /* all that a encloses; surfaces may touch; so for copies */
    CAROM_RELATION_B_INSIDE_A,  /* all that b encloses, and b does not enclose all of a */
    CAROM_RELATION_COUNT
} carom_relation;

/* Returns "apart", "touching", "overlapping", "a-inside-b" or "b-inside-a". Never NULL; any
 * thread. */
CAROM_API const char *carom_relation_name(carom_relation relation);

typedef struct carom_overlap_def {
    bool distance; /* find the least distance of the surfaces, too, when the solids are apart */
} carom_overlap_def;

typedef struct carom_overlap {
    carom_relation relation;
    double volume;
    double volume_error; /* how far the volume may be off; 0 when it is exact */
    carom_vec3 centroid; /* of the overlap; between the solids' boxes when there is none */
    double area;       /* of the overlap's surface, with faces that lie on faces of the same mesh */
    carom_vec3 force;  /* on b: minus the derivative of the volume by b's translation */
    carom_vec3 torque; /* on b: minus that by b's rotation about its mesh's centroid, world axes */
    bool one_sided;    /* faces lie in one another: area, force and torque jump here, and are the
                          means of both sides: of b moved by (e, e^2, e^3) and by the opposite */
    bool by_winding;   /* a solid is (carom_solid_info) */
    bool has_distance;
    double distance; /* when it was asked for and the relation is CAROM_RELATION_APART, as of
                        carom_soup_cross_distance; 0 for all other relations */
    carom_vec3 point_a, point_b; /* where */
    uint64_t pairs;              /* of triangles that meet, touching included */
    /* How far the others may be off, of vectors each coordinate. All errors are bounds: the truth
     * for the posed corners x' lies within them. They are 1e-9 of their value or less, of forces
     * and torques 1e-9 of what the overlap's surface could push, but where meshes of many triangles
     * overlap by far less than they enclose. What a double cannot hold is the largest finite
     * double, with an infinite error, or 0 or nearly so with an error of at least 2^-1074. */
    double centroid_error; /* infinite where the volume may be 0 */
    double area_error;
    double force_error;
    double torque_error;
} carom_overlap;

/* The overlap of a and b in their poses, which are as in soup.h; NULL or all zero is the identity.
 * def may be NULL. The force on a is the opposite one.
 * Cost: that of finding the faces that meet, and a constant for each; not that of the meshes'
 * sizes, but for one ray a shell. Where a solid is smaller than faces of the other by far, or than
 * its pose is rounded by, all triangles are gone through for the sake of accuracy; where rounding
 * would still be felt, as from size ratios of some 2^30 on, the terms are worked out with more
 * bits, for some 20 us a pair of faces. Allocates nothing once warm. The same bytes for any number
 * of threads. carom_context_get_work: boxes visited, pairs of triangles tested, and of these, open
 * after doubles. CAROM_BAD_INPUT: as for carom_soup_cross_pairs; or both are complements, whose
 * overlap is infinite. */
CAROM_API carom_status carom_solid_overlap(carom_context *context, const carom_solid *a,
                                           const carom_pose *pose_a, const carom_solid *b,
                                           const carom_pose *pose_b, const carom_overlap_def *def,
                                           carom_overlap *overlap);

/* ---- query: in pieces ------------------------------------------------------------------------ */

/* A connected piece of an overlap. */
typedef struct carom_patch {
    double volume;
    carom_vec3 centroid;
    double area;      /* of its surface */
    carom_vec3 force; /* its share of the force on b */
} carom_patch;

CAROM_RESULT_ARRAY(carom_patches, carom_patch);

/* The pieces of the overlap, largest volume first; their sums are those of carom_solid_overlap up
 * to rounding, but for contact without volume: pieces whose volumes are within their error are left
 * out. Where faces lie in one another, areas and forces are means of both sides, as of the whole;
 * of pieces that hang together on one side only, they may be those of one side. Cost: O(n) beside
 * that of carom_solid_overlap. */
CAROM_API carom_status carom_solid_patches(carom_context *context, const carom_solid *a,
                                           const carom_pose *pose_a, const carom_solid *b,
                                           const carom_pose *pose_b, carom_patches *patches);

#ifdef __cplusplus
}
#endif

#endif
