/* SPDX-License-Identifier: MIT */
/* geom.h: points, poses, balls, exact predicates and distances of few points. */
#ifndef CAROM_GEOM_H
#define CAROM_GEOM_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

/* A point or a vector. */
typedef struct carom_vec3 {
    double x, y, z;
} carom_vec3;

/* A quaternion, w + x i + y j + z k. */
typedef struct carom_quat {
    double w, x, y, z;
} carom_quat;

/* A rigid motion: x' = R(q) x + t. q need not be normalised; all zero, or NULL, is the identity. In
 * doubles, x' = ((r00 x + r01 y) + r02 z) + tx and so on, without fused operations: results are
 * exact with respect to this x'. */
typedef struct carom_pose {
    carom_quat q;
    carom_vec3 t;
} carom_pose;

/* Empty when low > high in any axis. */
typedef struct carom_bounds {
    carom_vec3 low, high;
} carom_bounds;

/* Closed. With the radius 0 it is a point. */
typedef struct carom_ball {
    carom_vec3 centre;
    double radius;
} carom_ball;

/* Closed. Three equal corners are a point, three collinear ones a segment. */
typedef struct carom_triangle {
    carom_vec3 corner[3];
} carom_triangle;

/* The points origin + t direction, from t = 0 on. */
typedef struct carom_ray {
    carom_vec3 origin, direction; /* any length but zero, subnormal included */
    double length;                /* in units of direction; 0 or infinite: without end */
} carom_ray;

/* A number that is known within limits: lower <= the true number <= upper, proved. `value` is the
 * best estimate of it. */
typedef struct carom_interval {
    double lower, value, upper;
} carom_interval;

/* No face, box, object, sphere or vertex. */
#define CAROM_NONE UINT32_MAX

/* What a ray hits first, or what is nearest to a point. */
typedef struct carom_hit {
    uint32_t id;      /* of the box or object; of a single soup or shape 0. CAROM_NONE: nothing */
    uint32_t face;    /* of a mesh; else CAROM_NONE */
    double distance;  /* of a point; of a ray the t of origin + t direction. Infinite for nothing */
    carom_vec3 point; /* where; the point or the ray's origin for nothing */
    carom_vec3 normal; /* unit. Of a ray: of the surface, on the side that the ray comes from; 0
                          where it starts inside. Of a point: from the surface to the point; 0 where
                          they meet. 0 for nothing */
    double error;      /* the true distance may be less by this; 0 unless a query says otherwise */
} carom_hit;

/* The relation of two solids or convex shapes: whether some or all of the space that one encloses
 * is enclosed by the other. */
typedef enum carom_relation {
    CAROM_RELATION_APART = 0, /* no space is enclosed by both, and surfaces do not meet */
    CAROM_RELATION_TOUCHING,  /* no space is enclosed by both, but surfaces meet; the volume is 0 */
    CAROM_RELATION_OVERLAPPING, /* some is enclosed by both, some by a alone, some by b alone */
    CAROM_RELATION_A_INSIDE_B,  /* b encloses all that a encloses, also for copies; surfaces may
                                   touch */
    CAROM_RELATION_B_INSIDE_A,  /* a encloses all that b encloses, and b does not enclose all of
                                   a */
    CAROM_RELATION_COUNT
} carom_relation;

/* "apart", "touching", "overlapping", "a-inside-b", "b-inside-a". */
CAROM_API const char *carom_relation_name(carom_relation relation);
CAROM_API bool carom_relation_from_name(const char *name, carom_relation *relation);

/* ---- Poses ----------------------------------------------------------------------------------- */

/* Rules for the functions of poses. A pose that is NULL is the identity. Numbers must be finite,
 * translations and points at most 2^1020 in size: else CAROM_BAD_INPUT. A result may be stored in
 * the array of an input. Of a rotation, "right to e" means each element of its matrix.
 * The forms named _value need no context and return the result; any number of threads may call
 * them. There bad input is a caller's bug: the assert handler is called and, if it returns, the
 * result is all zero, as a pose the identity.
 * Nothing is allocated and no threads are used. Cost: 10 to 50 ns, 200 ns with angles. */

/* Computes the pose that applies b first and then a: R(a) R(b) x + R(a) tb + ta.
 * - The rotation is right to 1e-15, the translation to 2e-15 of |ta| + |tb|; tb is moved by the
 *   formula of carom_pose.
 * - Where one of them does not turn, the quaternion is the other's, to the last bit. */
CAROM_API carom_status carom_pose_compose(carom_context *context, const carom_pose *a,
                                          const carom_pose *b, carom_pose *pose);
CAROM_API carom_pose carom_pose_compose_value(const carom_pose *a, const carom_pose *b);

/* Computes the pose that undoes another: R^T x - R^T t. The quaternion's conjugate is exact, so the
 * matrix is R transposed, to the last bit; the translation is right to 2e-15 of |t|. */
CAROM_API carom_status carom_pose_invert(carom_context *context, const carom_pose *pose,
                                         carom_pose *inverse);
CAROM_API carom_pose carom_pose_invert_value(const carom_pose *pose);

/* Moves `count` points: exactly the x' of carom_pose. `moved` may be `points` itself; otherwise the
 * arrays do not overlap. After a failure `moved` is as it was.
 * Cost: 2 ns per point. */
CAROM_API carom_status carom_pose_apply(carom_context *context, const carom_pose *pose,
                                        const carom_vec3 *points, uint64_t count,
                                        carom_vec3 *moved);
CAROM_API carom_vec3 carom_pose_apply_value(const carom_pose *pose, const carom_vec3 *point);

/* The same for directions, such as normals: without the translation, (r00 x + r01 y) + r02 z and so
 * on. */
CAROM_API carom_status carom_pose_rotate(carom_context *context, const carom_pose *pose,
                                         const carom_vec3 *directions, uint64_t count,
                                         carom_vec3 *rotated);
CAROM_API carom_vec3 carom_pose_rotate_value(const carom_pose *pose, const carom_vec3 *direction);

/* Makes the rotation by `angle` radians about an axis through the origin, counter-clockwise where
 * the axis points to the viewer; right to 1e-15 for every angle, however large. The axis has any
 * length but zero. */
CAROM_API carom_status carom_pose_from_axis_angle(carom_context *context, const carom_vec3 *axis,
                                                  double angle, carom_pose *pose);
CAROM_API carom_pose carom_pose_from_axis_angle_value(const carom_vec3 *axis, double angle);

/* Makes the rotation of three angles in radians, as URDF's rpy: about the fixed x axis by roll,
 * then about the fixed y axis by pitch, then about the fixed z axis by yaw;
 * R = Rz(yaw) Ry(pitch) Rx(roll). The same as yaw, then pitch, then roll about the axes that move
 * along. Right to 1e-15. */
CAROM_API carom_status carom_pose_from_euler(carom_context *context, double roll, double pitch,
                                             double yaw, carom_pose *pose);
CAROM_API carom_pose carom_pose_from_euler_value(double roll, double pitch, double yaw);

/* Computes a pose between two, at a time in [0, 1]: the origin moves along a straight line at
 * constant speed, and the rotation turns at constant speed about a fixed axis, the shorter way
 * round (slerp). The motion of carom_motion with centre 0, with its accuracy and limits. At 0 and
 * 1 it is the given pose itself. */
CAROM_API carom_status carom_pose_interpolate(carom_context *context, const carom_pose *from,
                                              const carom_pose *to, double time, carom_pose *pose);
CAROM_API carom_pose carom_pose_interpolate_value(const carom_pose *from, const carom_pose *to,
                                                  double time);

/* Writes the 3 x 4 matrix of a pose, row by row, the translation in the last column: the r and t of
 * carom_pose, to the last bit. */
CAROM_API carom_status carom_pose_to_matrix(carom_context *context, const carom_pose *pose,
                                            double matrix[12]);

/* Converts a 3 x 4 matrix (row by row, the translation in the last column) to a pose. Its rotation
 * is that of the matrix up to 1e-15 and the matrix's own deviation from a rotation.
 * CAROM_BAD_INPUT: not finite, or the left 3 x 3 part is no rotation up to 1e-6 (it scales, shears
 * or reflects): apply such a matrix to the vertices. */
CAROM_API carom_status carom_pose_from_matrix(carom_context *context, const double matrix[12],
                                              carom_pose *pose);

/* The same for `count` matrices of `rows` rows, one after the other: 3 x 4, or 4 x 4 with the last
 * row 0 0 0 1. CAROM_BAD_INPUT names the first that is no pose; those before it are converted.
 * Cost: 30 ns per matrix. */
CAROM_API carom_status carom_pose_from_matrices(carom_context *context, const double *matrices,
                                                uint32_t rows, uint64_t count, carom_pose *poses);

/* ---- Exact predicates ------------------------------------------------------------------------ */

/* Most functions of this header also have a form without a context, named _value, which returns
 * the result; any number of threads may call it. There bad input is a caller's bug, too: the assert
 * handler is called and, if it returns, the result is all zero. */

/* Exact for all finite doubles, subnormal and huge ones included; NaN and infinity are
 * CAROM_BAD_INPUT. Nothing is allocated. docs/exact.md explains how.
 * Cost: typically 10 ns for an orientation and 50 ns for a pair of triangles; some microseconds
 * where the input is degenerate up to rounding; up to milliseconds where the exponents of one
 * call's coordinates lie more than 600 apart. */

/* Orientation of points[0], points[1], points[2] seen along an axis (0, 1, 2: x, y, z), which is
 * the sign of that component of the normal: 1 counter-clockwise, -1 clockwise, 0 collinear. */
CAROM_API carom_status carom_points_orient_2d(carom_context *context, const carom_vec3 points[3],
                                              uint32_t axis, int *sign);
CAROM_API int carom_points_orient_2d_value(const carom_vec3 points[3], uint32_t axis);

/* The side of the plane through points[0], points[1], points[2] on which points[3] lies: 1 that of
 * the normal (p1 - p0) x (p2 - p0), -1 the other, 0 when the four are coplanar. */
CAROM_API carom_status carom_points_orient_3d(carom_context *context, const carom_vec3 points[4],
                                              int *sign);
CAROM_API int carom_points_orient_3d_value(const carom_vec3 points[4]);

/* Relative position of two closed triangles, segments or points. The relative interior of a segment
 * is the segment without its ends; that of a point is the point. */
typedef enum carom_triangle_relation {
    CAROM_TRIANGLE_RELATION_DISJOINT = 0,
    CAROM_TRIANGLE_RELATION_TOUCHING, /* they meet, their relative interiors do not */
    CAROM_TRIANGLE_RELATION_CROSSING, /* their relative interiors meet, no plane holds both */
    CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP, /* their relative interiors meet, one plane holds both
                                               */
    CAROM_TRIANGLE_RELATION_COUNT
} carom_triangle_relation;

/* How two triangles lie to each other. */
typedef struct carom_triangle_intersection {
    carom_triangle_relation relation;
    int dimension;                /* of the intersection: -1 none, 0 point, 1 segment, 2 area */
    int dimension_a, dimension_b; /* 2 triangle, 1 segment, 0 point */
    bool coplanar;                /* one plane holds both */
} carom_triangle_intersection;

/* Computes the relation of a and b. Independent of the order of a and b (except for dimension_a and
 * dimension_b) and of the order of their corners. */
CAROM_API carom_status carom_triangles_relate(carom_context *context, const carom_triangle *a,
                                              const carom_triangle *b,
                                              carom_triangle_intersection *relation);
CAROM_API carom_triangle_intersection carom_triangles_relate_value(const carom_triangle *a,
                                                                   const carom_triangle *b);

/* Says whether two closed triangles have a point in common. */
CAROM_API carom_status carom_triangles_meet(carom_context *context, const carom_triangle *a,
                                            const carom_triangle *b, bool *meet);
CAROM_API bool carom_triangles_meet_value(const carom_triangle *a, const carom_triangle *b);

/* "disjoint", "touching", "crossing", "coplanar-overlap". */
CAROM_API const char *carom_triangle_relation_name(carom_triangle_relation relation);
CAROM_API bool carom_triangle_relation_from_name(const char *name,
                                                 carom_triangle_relation *relation);

/* ---- Distances and balls --------------------------------------------------------------------- */
/* Rules for the functions below. Coordinates must be finite and at most 2^1020 in size, radii not
 * negative: else CAROM_BAD_INPUT. Scaling the input by a power of two scales the result; no
 * intermediate value overflows or underflows. No memory is allocated and no threads are used. */

/* The closest points of two shapes: `a` on the first, `b` on the second. */
typedef struct carom_closest {
    carom_vec3 a, b;
    double distance; /* right to 1e-15 of the distance between the input points farthest apart */
    double squared;  /* its square; 0 or infinite where that is out of range */
} carom_closest;

/* Distance and closest points of two shapes. All inputs are allowed: segments and triangles may be
 * degenerate, coplanar, touching or equal. `a` and `b` lie on the shapes up to rounding and are
 * `distance` apart up to the rounding of their coordinates. The distance is 0 where an edge passes
 * through a face. Shapes that only touch may have a distance of some 1e-16 of their size: use the
 * exact predicates to decide whether they meet.
 * Cost: 20 to 300 ns. */
CAROM_API carom_status carom_point_segment_distance(carom_context *context, const carom_vec3 *point,
                                                    const carom_vec3 segment[2],
                                                    carom_closest *closest);
CAROM_API carom_status carom_segments_distance(carom_context *context, const carom_vec3 a[2],
                                               const carom_vec3 b[2], carom_closest *closest);
CAROM_API carom_status carom_point_triangle_distance(carom_context *context,
                                                     const carom_vec3 *point,
                                                     const carom_triangle *triangle,
                                                     carom_closest *closest);
CAROM_API carom_status carom_segment_triangle_distance(carom_context *context,
                                                       const carom_vec3 segment[2],
                                                       const carom_triangle *triangle,
                                                       carom_closest *closest);
CAROM_API carom_status carom_triangles_distance(carom_context *context, const carom_triangle *a,
                                                const carom_triangle *b, carom_closest *closest);
CAROM_API carom_closest carom_point_segment_distance_value(const carom_vec3 *point,
                                                           const carom_vec3 segment[2]);
CAROM_API carom_closest carom_segments_distance_value(const carom_vec3 a[2], const carom_vec3 b[2]);
CAROM_API carom_closest carom_point_triangle_distance_value(const carom_vec3 *point,
                                                            const carom_triangle *triangle);
CAROM_API carom_closest carom_segment_triangle_distance_value(const carom_vec3 segment[2],
                                                              const carom_triangle *triangle);
CAROM_API carom_closest carom_triangles_distance_value(const carom_triangle *a,
                                                       const carom_triangle *b);

/* Says whether a triangle and a closed box may meet. False is certain; true is also possible for a
 * gap below some 1e-14 of their size. An empty box meets nothing. */
CAROM_API carom_status carom_triangle_meets_box(carom_context *context,
                                                const carom_triangle *triangle,
                                                const carom_bounds *box, bool *meets);
CAROM_API bool carom_triangle_meets_box_value(const carom_triangle *triangle,
                                              const carom_bounds *box);

/* Smallest ball around a triangle, points or balls, rounded outwards. It contains them in exact
 * arithmetic, and its radius is the smallest up to 1e-13 of itself and 8 units in the last place of
 * the largest coordinate. The triangle's is the same for every order of its corners. count > 0.
 * Cost: about ten passes over the input; no memory. */
CAROM_API carom_status carom_ball_of_triangle(carom_context *context,
                                              const carom_triangle *triangle, carom_ball *ball);
CAROM_API carom_status carom_ball_of_points(carom_context *context, const carom_vec3 *points,
                                            uint64_t count, carom_ball *ball);
CAROM_API carom_status carom_ball_of_balls(carom_context *context, const carom_ball *balls,
                                           uint64_t count, carom_ball *ball);
CAROM_API carom_ball carom_ball_of_triangle_value(const carom_triangle *triangle);
CAROM_API carom_ball carom_ball_of_points_value(const carom_vec3 *points, uint64_t count);
CAROM_API carom_ball carom_ball_of_balls_value(const carom_ball *balls, uint64_t count);

/* The intersection of two balls. */
typedef struct carom_lens {
    double volume;     /* 0 when apart, the smaller ball's when nested */
    double derivative; /* of the volume with respect to the distance of the centres: -pi radius^2 */
    double radius;     /* of the circle in which the spheres cross; 0 when there is none */
    carom_vec3 centre; /* of that circle; the middle of the gap when apart, the smaller ball's
                          centre when nested */
} carom_lens;

/* Computes the lens of two balls. Volume, derivative and circle are right to some 1e-15 of
 * themselves for the rounded distance of the centres, however shallow or deep the lens; infinite or
 * 0 where out of the range of a double. */
CAROM_API carom_status carom_ball_lens(carom_context *context, const carom_ball *a,
                                       const carom_ball *b, carom_lens *lens);
CAROM_API carom_lens carom_ball_lens_value(const carom_ball *a, const carom_ball *b);

/* ---- Times of impact ------------------------------------------------------------------------- */

/* When two things first meet, in the time [0, 1]. */
typedef struct carom_toi {
    bool hit;
    carom_interval time; /* of it; at most 2^-32 wide. value is lower. All 0 for a miss */
} carom_toi;

/* Finds the first time at which a point and a triangle, or two segments, meet, while each point
 * moves along a straight line at constant speed, from start at time 0 to end at time 1.
 * - start and end hold the point and the triangle's corners; or the ends of the first segment and
 *   those of the second.
 * - Whether they meet at all, touching at time 0 or 1 included, is decided exactly for all finite
 *   doubles. All motions are allowed: coplanar, parallel, degenerate triangles and segments.
 * - The limit: where the coordinates of one call cover more than 200 bits, from the highest bit of
 *   the largest to the lowest of the smallest, and doubt remains after a thousand halvings, the
 *   answer is a hit in [0, 1], never a wrong miss.
 * - NaN and infinity are CAROM_BAD_INPUT.
 *
 * Cost: some 10 ns where the boxes around the motions are apart, 100 ns for most others, some ten
 * microseconds where the motion is degenerate up to rounding. Nothing is allocated. */
CAROM_API carom_status carom_point_triangle_toi(carom_context *context, const carom_vec3 start[4],
                                                const carom_vec3 end[4], carom_toi *toi);
CAROM_API carom_status carom_segments_toi(carom_context *context, const carom_vec3 start[4],
                                          const carom_vec3 end[4], carom_toi *toi);
CAROM_API carom_toi carom_point_triangle_toi_value(const carom_vec3 start[4],
                                                   const carom_vec3 end[4]);
CAROM_API carom_toi carom_segments_toi_value(const carom_vec3 start[4], const carom_vec3 end[4]);

/* The same for two balls, whose centres and radii change linearly. Radii must not be negative. */
CAROM_API carom_status carom_ball_toi(carom_context *context, const carom_ball start[2],
                                      const carom_ball end[2], carom_toi *toi);
CAROM_API carom_toi carom_ball_toi_value(const carom_ball start[2], const carom_ball end[2]);

/* ---- Rigid motions in time ------------------------------------------------------------------- */

/* A rigid motion from one pose at time 0 to another at time 1. The point `centre` of the shape, in
 * the shape's own coordinates, moves along a straight line at constant speed; about it the shape
 * turns at constant speed about a fixed axis, by at most half a turn. All zero, or NULL, stays at
 * the identity. */
typedef struct carom_motion {
    carom_pose from, to;
    carom_vec3 centre; /* zero: the origin of the shape's coordinates */
} carom_motion;

/* Computes the pose at a time in [0, 1], right to some 1e-15 of the distances involved.
 * - CAROM_BAD_INPUT: a motion that is not finite or beyond 1e300, or another time. */
CAROM_API carom_status carom_motion_evaluate(carom_context *context, const carom_motion *motion,
                                             double time, carom_pose *pose);

/* How advancing in steps works; all zero is the default. */
typedef struct carom_advance_def {
    double tolerance;    /* a distance: shapes this near have met. 0: 2^-20 of the sum of the two
                            shapes' sizes and of how far they move */
    uint64_t most_steps; /* then the answer is a hit at the time reached. 0: 100,000 */
    double reach; /* shapes meet when they are no farther apart, so that it is a distance to be
                     kept. 0: when they touch */
} carom_advance_def;

/* What advancing in steps found. */
typedef struct carom_advance {
    bool hit;                    /* they come within reach plus tolerance of each other */
    double time;                 /* when; they are not within reach before it. 1 for a miss */
    double distance;             /* then; for a miss, at the last time looked at */
    uint32_t face_a, face_b;     /* of two soups: nearest then; else, and for a miss, CAROM_NONE */
    carom_vec3 normal;           /* of two convex shapes: unit, from a to b; 0 where they overlap at
                                    time 0. Else 0 */
    carom_vec3 point_a, point_b; /* of soups and convex shapes: nearest points then. Else 0 */
    uint64_t steps;              /* distances computed */
} carom_advance;

/* Advances a point and a triangle, or two segments, until they are within `reach` plus
 * `tolerance` of each other, while each point moves along a straight line; start and end are as for
 * carom_point_triangle_toi. For steps of a simulation that keeps things apart: a time that is safe,
 * and a distance that is left then.
 * - They are farther apart than the reach at all times before `time`, and a miss is certain, up to
 *   rounding of 2^-46 of the extent, the largest difference of two points' coordinates at one time.
 * - At `time` they are at most reach + tolerance apart, and at least half of the tolerance
 *   more than the reach, unless they were nearer at time 0 or most_steps were taken.
 * - Without a reach, whether they meet is decided exactly, as by carom_point_triangle_toi, and
 *   `time` is never after the first contact, nor after `lower` of that function. With one, a hit
 *   may be a near miss, which came within reach + tolerance.
 * - The tolerance 0 is 2^-20 of the extent, or an eighth of the distance beyond the reach at
 *   time 0 where that is less. So `time` is 0 only for what is that near at time 0.
 * - def may be NULL. CAROM_BAD_INPUT: coordinates that are not finite or beyond 2^1020; a tolerance
 *   or reach that is not finite or negative.
 *
 * Cost: some 100 ns per step; most motions need less than ten. Nothing is allocated. */
CAROM_API carom_status carom_point_triangle_advance(carom_context *context,
                                                    const carom_vec3 start[4],
                                                    const carom_vec3 end[4],
                                                    const carom_advance_def *def,
                                                    carom_advance *advance);
CAROM_API carom_status carom_segments_advance(carom_context *context, const carom_vec3 start[4],
                                              const carom_vec3 end[4], const carom_advance_def *def,
                                              carom_advance *advance);
CAROM_API carom_advance carom_point_triangle_advance_value(const carom_vec3 start[4],
                                                           const carom_vec3 end[4],
                                                           const carom_advance_def *def);
CAROM_API carom_advance carom_segments_advance_value(const carom_vec3 start[4],
                                                     const carom_vec3 end[4],
                                                     const carom_advance_def *def);

#ifdef __cplusplus
}
#endif

#endif
