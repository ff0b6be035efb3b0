/* SPDX-License-Identifier: MIT */
/* convex.h: convex shapes: whether they meet, how far apart they are, how deep they overlap.
 *
 * A shape is described by value (carom_convex) and moved by a pose. Hulls of points are prepared
 * once (carom_hull). Every query ends within carom_convex_bound and gives finite numbers.
 *
 * Tolerance: e = 2^-42 (size of a + size of b + distance of the poses' origins). A size is the sum
 * of what describes a shape: half extents, radius, half height, margin; for a hull the largest |x|,
 * |y| and |z| of its vertices, for a support function |x|, |y|, |z| and radius of its ball. (Where
 * that is below 1e-315, e is 2^-1046.) Two shapes are apart when a plane separates them by more
 * than e, overlapping when they cannot be separated by moving one by e or less, and touching in
 * between; all up to the error of the result.
 */
#ifndef CAROM_CONVEX_H
#define CAROM_CONVEX_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input: hulls ---------------------------------------------------------------------------- */

/* The points of a hull. */
typedef struct carom_hull_def {
    const carom_mesh_view *mesh; /* its vertices; faces are ignored and may be absent */
} carom_hull_def;

/* The convex hull of points, prepared for queries. */
typedef struct carom_hull carom_hull;

/* Creates the convex hull of all vertices of a view; on failure *hull is NULL. Decided by exact
 * predicates: its vertices are exactly the extreme points, its faces the facets. Points that all
 * lie in a plane, on a line or in one point give a flat hull, a segment or a point.
 * - CAROM_BAD_INPUT: no vertex, or one that is not finite or beyond 1e300.
 *
 * Cost: O(n log n) typically, on one thread. */
CAROM_API carom_status carom_hull_create(carom_context *context, const carom_hull_def *def,
                                         carom_hull **hull);

/* NULL is allowed. */
CAROM_API void carom_hull_destroy(carom_hull *hull);

/* What a hull is like. */
typedef struct carom_hull_info {
    uint64_t vertices;
    uint64_t edges;
    uint64_t faces;      /* polygons; a flat hull has two, back to back; a segment or point none */
    uint32_t dimension;  /* 3 solid, 2 flat, 1 segment, 0 point */
    carom_vec3 centre;   /* of both balls: inside the hull */
    double inner_radius; /* of a ball in the hull */
    double outer_radius; /* of a ball around the hull */
    uint64_t bytes;      /* held by the hull */
} carom_hull_info;

/* Gets what the hull is like. */
CAROM_API carom_status carom_hull_get_info(const carom_hull *hull, carom_hull_info *info);

/* Creates the hull's surface as a mesh of convex polygons, seen counter-clockwise from outside. */
CAROM_API carom_status carom_hull_to_mesh(carom_context *context, const carom_hull *hull,
                                          carom_mesh **mesh);

/* ---- Input: shapes --------------------------------------------------------------------------- */

/* Kinds of convex shapes, with the fields of carom_convex that each uses. */
typedef enum carom_convex_kind {
    CAROM_CONVEX_KIND_POINT = 0, /* the origin */
    CAROM_CONVEX_KIND_SPHERE,    /* radius */
    CAROM_CONVEX_KIND_SEGMENT,   /* half_height: from (0, 0, -h) to (0, 0, h) */
    CAROM_CONVEX_KIND_CAPSULE,   /* radius, half_height: the segment rounded by the radius */
    CAROM_CONVEX_KIND_BOX,       /* half */
    CAROM_CONVEX_KIND_CYLINDER,  /* radius, half_height, axis z */
    CAROM_CONVEX_KIND_CONE,      /* radius at z = -half_height, apex at z = half_height */
    CAROM_CONVEX_KIND_ELLIPSOID, /* half: the semi-axes */
    CAROM_CONVEX_KIND_HULL,      /* borrowed_hull */
    CAROM_CONVEX_KIND_SUPPORT,   /* support, support_user, support_ball */
    CAROM_CONVEX_KIND_COUNT
} carom_convex_kind;

/* "point", "sphere", "segment", "capsule", "box", "cylinder", "cone", "ellipsoid", "hull",
 * "support". */
CAROM_API const char *carom_convex_kind_name(carom_convex_kind kind);
CAROM_API bool carom_convex_kind_from_name(const char *name, carom_convex_kind *kind);

/* A point of the shape that is farthest in a direction, which is not zero and has any length.
 * Called from any thread that queries the shape. A result that is not finite counts as the origin.
 */
typedef carom_vec3 carom_convex_support_fn(void *user, const carom_vec3 *direction);

/* A convex shape in its own frame; all zero is a point. Sizes are not negative, finite and at most
 * 1e300; any may be 0. */
typedef struct carom_convex {
    carom_convex_kind kind;
    carom_vec3 half;                 /* half extents of a box, semi-axes of an ellipsoid */
    double radius;                   /* of a sphere, capsule, cylinder or cone */
    double half_height;              /* of a segment, capsule, cylinder or cone */
    double margin;                   /* the shape is enlarged by it in all directions */
    const carom_hull *borrowed_hull; /* must outlive the queries */
    carom_convex_support_fn *support;
    void *support_user;
    carom_ball support_ball; /* around the user's shape, its centre inside the shape */
} carom_convex;

/* ---- Query ----------------------------------------------------------------------------------- */

/* Where a search begins. */
typedef enum carom_convex_start {
    CAROM_CONVEX_START_CENTRE = 0, /* the direction between the centres */
    CAROM_CONVEX_START_FOUR,       /* a tetrahedron of support points in four directions */
    CAROM_CONVEX_START_COUNT
} carom_convex_start;

/* "centre", "four". */
CAROM_API const char *carom_convex_start_name(carom_convex_start start);
CAROM_API bool carom_convex_start_from_name(const char *name, carom_convex_start *start);

/* How the farthest vertex of a hull is found. All find a farthest vertex up to rounding. */
typedef enum carom_convex_search {
    CAROM_CONVEX_SEARCH_AUTO = 0, /* all vertices for small hulls, climbing for others */
    CAROM_CONVEX_SEARCH_ALL,      /* looks at all vertices */
    CAROM_CONVEX_SEARCH_CLIMB,    /* from neighbour to neighbour, from a vertex found by a table */
    CAROM_CONVEX_SEARCH_COUNT
} carom_convex_search;

/* "auto", "all", "climb". */
CAROM_API const char *carom_convex_search_name(carom_convex_search search);
CAROM_API bool carom_convex_search_from_name(const char *name, carom_convex_search *search);

/* What a query learned, for the next one of the same two shapes. Start with {0}. It affects the
 * time, and results only within their error, from whatever poses it is. It saves most in nearby
 * poses, and nothing when it is of other shapes. */
typedef struct carom_convex_hint {
    uint64_t words[32]; /* Carom's own */
} carom_convex_hint;

/* How two shapes are searched; all zero is the default. */
typedef struct carom_convex_query_def {
    carom_convex_start start;   /* 0: the centres */
    carom_convex_search search; /* 0: by size */
    carom_convex_hint *hint;    /* read and written; NULL: none */
    bool gjk_only;              /* carom_convex_meet: ISA-GJK decides every pair, as published; 0:
                                   first the balls inside and around the shapes. The answers are the
                                   same. CPU only: CAROM_UNSUPPORTED on cuda */
} carom_convex_query_def;

/* How two shapes lie to each other. */
typedef struct carom_convex_result {
    carom_relation relation; /* apart, touching or overlapping */
    double distance;         /* when apart; else 0 */
    double depth;            /* when overlapping: the least distance that b must move by to be
                                separated; else 0 */
    double error;            /* how far distance or depth may be off, or a point from its shape */
    carom_vec3 normal;       /* unit, from a to b: b moved along it gets out of a */
    carom_vec3 point_a;      /* of a: nearest to b, or deepest in b */
    carom_vec3 point_b;      /* of b: so that they are distance or depth apart */
    uint32_t iterations;     /* points added to a simplex or polytope */
    uint32_t supports;       /* support points found, on a and b together */
} carom_convex_result;

/* Says whether two shapes meet: false when a plane separates them by more than e, true otherwise.
 * ISA-GJK: stops at the first separating plane or common point. def may be NULL; poses
 * are as in geom.h.
 * - CAROM_BAD_INPUT: a shape or pose that is not finite, negative or too large.
 *
 * Cost: 50 ns to 1 us for hulls of up to a few thousand vertices. */
CAROM_API carom_status carom_convex_meet(carom_context *context, const carom_convex *a,
                                         const carom_pose *pose_a, const carom_convex *b,
                                         const carom_pose *pose_b,
                                         const carom_convex_query_def *def, bool *meet);

/* Computes the distance of two shapes and where it is (GJK). When they overlap, distance and depth
 * are 0 and both points are one common point; the relation is decided as for the depth only where
 * margins alone overlap, and otherwise overlapping means no more than a common point.
 * Inputs and failures as for carom_convex_meet. */
CAROM_API carom_status carom_convex_distance(carom_context *context, const carom_convex *a,
                                             const carom_pose *pose_a, const carom_convex *b,
                                             const carom_pose *pose_b,
                                             const carom_convex_query_def *def,
                                             carom_convex_result *result);

/* The same, and the depth with its direction when they overlap (EPA). The depth is that along the
 * normal and never too small; error says how much smaller the least could be. */
CAROM_API carom_status carom_convex_depth(carom_context *context, const carom_convex *a,
                                          const carom_pose *pose_a, const carom_convex *b,
                                          const carom_pose *pose_b,
                                          const carom_convex_query_def *def,
                                          carom_convex_result *result);

/* ---- Contact points and rays ----------------------------------------------------------------- */

/* The most points of a manifold. */
#define CAROM_CONVEX_MOST_CONTACTS 4

/* Features of a shape, on which its point of a contact lies. A number of two parts: what it is, in
 * the two highest bits, and its index in the others, of which it keeps the lowest bits where it
 * does not fit. 0 is the shape as a whole: where it is curved, and where a contact has one point
 * because no face lies across the normal.
 *
 * The two features of a point are a vertex and a face, a face and a vertex, or two edges. Within a
 * manifold no two points have the same. They stay the same from one pose to the next as long as
 * that vertex is over that face or these edges cross, seen along the normal; so a solver finds the
 * impulse of the last step by them. They do not depend on the order of the two shapes, which
 * exchanges feature_a and feature_b, where the points are the same.
 *
 * - Box: vertex (x > 0) + 2 (y > 0) + 4 (z > 0); face 2 axis + (on its positive side); edge
 *   4 axis + (next axis > 0) + 2 (the one after it > 0), the axes in the order x, y, z, x, y.
 * - Hull: vertices and faces as in carom_hull_to_mesh; edges in the order in which the corners of
 *   these faces first have them.
 * - Segment and capsule: vertex 0 at -half_height, vertex 1, and edge 0 between them. */
#define CAROM_CONVEX_FEATURE_VERTEX 0x40000000u
#define CAROM_CONVEX_FEATURE_EDGE   0x80000000u
#define CAROM_CONVEX_FEATURE_FACE   0xc0000000u
#define CAROM_CONVEX_FEATURE_INDEX  0x3fffffffu /* the bits of the index */

/* Two points, one of each shape, across a contact. */
typedef struct carom_convex_contact {
    carom_vec3 point_a, point_b;
    double depth; /* of the overlap there: (point_a - point_b).normal, up to rounding of the points
                     and the error of the result; negative: a gap */
    uint32_t feature_a, feature_b; /* what the points are on: CAROM_CONVEX_FEATURE_... */
} carom_convex_contact;

/* The area of contact of two shapes, by up to four points. */
typedef struct carom_convex_manifold {
    carom_convex_result result; /* of carom_convex_depth */
    uint32_t count;             /* of points; 0 when the shapes are farther apart than the reach */
    carom_convex_contact points[CAROM_CONVEX_MOST_CONTACTS];
} carom_convex_manifold;

/* Finds the contact points of two shapes that overlap, touch or are at most `reach` apart.
 * - Where a face of a box or hull lies across the normal, the points are corners of the part of it
 *   that the other's face, edge or segment covers: four for a box on a box, two for a capsule on
 *   its side. The deepest is kept, then those that span the largest area.
 * - Otherwise, and for curved shapes, there is one: the points of the result.
 * - The normal is that of the result. Where there are several, the two points of each are joined
 *   along it; points of a shape with a margin are those of its core, moved by the margin along it.
 * - The reach is finite and not negative: else CAROM_BAD_INPUT.
 *
 * Other inputs as for carom_convex_depth. Cost: that, and a pass over a hull's faces. */
CAROM_API carom_status carom_convex_contacts(carom_context *context, const carom_convex *a,
                                             const carom_pose *pose_a, const carom_convex *b,
                                             const carom_pose *pose_b, double reach,
                                             const carom_convex_query_def *def,
                                             carom_convex_manifold *manifold);

/* Casts rays at a shape: hits[i] is where rays[i] first enters it. A ray is first moved along
 * itself, exactly, to where it passes the shape, so that its answer is as good from any distance:
 * it is that of a ray moved aside by at most e, which counts the size of the shape alone (see
 * above), not where the ray starts nor where the shape is. For points, spheres, segments, capsules,
 * and boxes, cylinders and ellipsoids without a margin e = 2^-45 size; for cones, hulls, support
 * functions and what is rounded by a margin e = 2^-43 size.
 * - A ray that passes through a point deeper than e in the shape hits; one that stays farther than
 *   e from it misses; one that does neither, as a graze, may do either.
 * - At a hit the surface is at most e away, up to the rounding of the distance (two units in its
 *   last place) and of the point (some 2^-51 of its coordinates and the pose's); it is at most
 *   DBL_MAX.
 * - The normal is that of a plane that the shape crosses by at most 8 e.
 * - A ray that starts in the shape, or within 2^-40 size of it, hits at distance 0, without a
 *   normal.
 * - From farther than 1e500 sizes e is 1e-550 of the distance.
 * - CAROM_BAD_INPUT: a ray or shape that is not finite, or a direction of length 0.
 *
 * Cost: 0.2 to 0.6 us where e is 2^-45 size; else some five distance queries, at most 128. */
CAROM_API carom_status carom_convex_cast_rays(carom_context *context, const carom_convex *shape,
                                              const carom_pose *pose, const carom_ray *rays,
                                              uint64_t count, carom_hit *hits);

/* ---- Times of impact ------------------------------------------------------------------------- */

/* Finds when two moving shapes first come within a tolerance of each other, by conservative
 * advancement: from a distance d, along whose direction they approach by at most v per time, no
 * contact is nearer than d / v.
 * - Never passes through: the shapes do not meet before `time`, and a miss is certain, up to the
 *   error of carom_convex_distance and some 1e-15 of the sizes, which the tolerance must exceed.
 * - With a reach they do not come so near before `time`; what follows holds beyond it.
 * - A hit may be a near miss: they were at most the tolerance apart, or most_steps were taken.
 *   Where they do meet, `time` is before that by no more than they need for the tolerance.
 * - Motions may be NULL: at rest at the identity. def may be NULL.
 * - CAROM_BAD_INPUT: as for carom_convex_meet; a tolerance or reach that is negative or not
 *   finite.
 *
 * Cost: some ten distance queries, more where shapes turn fast or pass near each other. */
CAROM_API carom_status carom_convex_advance(carom_context *context, const carom_convex *a,
                                            const carom_motion *motion_a, const carom_convex *b,
                                            const carom_motion *motion_b,
                                            const carom_advance_def *def, carom_advance *advance);

/* Two shapes and their motions. */
typedef struct carom_convex_moving_pair {
    const carom_convex *a, *b;
    carom_motion motion_a, motion_b;
} carom_convex_moving_pair;

/* carom_convex_advance for each of `count` pairs, on all threads; advances has space for count.
 * Identical bytes for any number of threads.
 * - CAROM_BAD_INPUT: as for one pair, naming the pair. */
CAROM_API carom_status carom_convex_advance_batch(carom_context *context,
                                                  const carom_convex_moving_pair *pairs,
                                                  uint64_t count, const carom_advance_def *def,
                                                  carom_advance *advances);

/* ---- Bounds of the work ---------------------------------------------------------------------- */

/* The most work that a query of two shapes can take, in any poses. */
typedef struct carom_convex_most {
    uint32_t meet_iterations, meet_supports;
    uint32_t distance_iterations, distance_supports;
    uint32_t depth_iterations, depth_supports; /* the search for the distance included */
} carom_convex_most;

/* Computes the bounds of the counts in carom_convex_result. Independent of sizes and poses. */
CAROM_API carom_status carom_convex_bound(carom_context *context, const carom_convex *a,
                                          const carom_convex *b, carom_convex_most *most);

/* ---- Query: many pairs of shapes ------------------------------------------------------------- */

/* Two shapes in their poses. */
typedef struct carom_convex_pair {
    const carom_convex *a, *b;
    carom_pose pose_a, pose_b; /* all zero: the identity */
    carom_convex_hint *hint;   /* NULL: none */
} carom_convex_pair;

/* carom_convex_meet, _distance and _depth for each of `count` pairs, on all threads; meet and
 * results have space for count. Identical bytes for any number of threads.
 * - Each pair has a hint of its own: that of the def must be NULL. No two pairs share one.
 * - CAROM_BAD_INPUT: as for one pair, naming the pair. */
CAROM_API carom_status carom_convex_meet_batch(carom_context *context,
                                               const carom_convex_pair *pairs, uint64_t count,
                                               const carom_convex_query_def *def, bool *meet);
CAROM_API carom_status carom_convex_distance_batch(carom_context *context,
                                                   const carom_convex_pair *pairs, uint64_t count,
                                                   const carom_convex_query_def *def,
                                                   carom_convex_result *results);
CAROM_API carom_status carom_convex_depth_batch(carom_context *context,
                                                const carom_convex_pair *pairs, uint64_t count,
                                                const carom_convex_query_def *def,
                                                carom_convex_result *results);

#ifdef __cplusplus
}
#endif

#endif
