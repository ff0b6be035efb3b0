/* SPDX-License-Identifier: MIT */
/* peers.h: what the peers' module offers, as plain C. A function is there when its library was at
 * build time; README.md says how each is called and why. All run on the calling thread alone. */
#ifndef CAROM_BENCH_PEERS_H
#define CAROM_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_EXPORT __attribute__((visibility("default")))

/* Sorts words by their low 32 bits, equal ones in order. */
typedef void peer_sort_fn(uint64_t *words, size_t count);
PEER_EXPORT peer_sort_fn peer_std_stable_sort;

/* ---- triangles ------------------------------------------------------------------------------- */

/* Raw arrays. The functions below change none of it. */
typedef struct peer_mesh {
    const float *positions; /* x, y, z of each vertex */
    const uint32_t *corners;
    uint64_t vertex_count, triangle_count;
} peer_mesh;

/* In the peer's order. Belongs to the peer and lasts until the same function is called again. */
typedef struct peer_pairs {
    const uint32_t *data; /* two numbers a pair; the lower first where both are of one mesh */
    uint64_t count;
} peer_pairs;

/* "CGAL 5.5.1, ...": the version and how it was built. */
typedef const char *peer_name_fn(void);

/* All pairs of triangles of one mesh that meet, everything built from nothing. False: the peer
 * cannot take this mesh. */
typedef bool peer_self_pairs_fn(const peer_mesh *mesh, peer_pairs *pairs);

PEER_EXPORT peer_name_fn peer_cgal_name, peer_embree_name, peer_fcl_name;
PEER_EXPORT peer_self_pairs_fn peer_cgal_self_pairs;   /* neighbours by its own rule */
PEER_EXPORT peer_self_pairs_fn peer_embree_self_pairs; /* without pairs that share a vertex */
PEER_EXPORT peer_self_pairs_fn peer_fcl_self_pairs;    /* the same */

/* ---- two rigid meshes ------------------------------------------------------------------------ */

/* A prepared mesh against itself moved by a pose: a 3 x 4 matrix, row by row. */
typedef void *peer_prepare_fn(const peer_mesh *mesh); /* NULL: the peer cannot take it */
typedef void peer_release_fn(void *prepared);
typedef bool peer_any_fn(void *prepared, const double *pose);
typedef uint64_t peer_cross_count_fn(void *prepared, const double *pose);
typedef double peer_distance_fn(void *prepared, const double *pose); /* 0 when they meet */

PEER_EXPORT peer_prepare_fn peer_cgal_prepare, peer_fcl_prepare;
PEER_EXPORT peer_release_fn peer_cgal_release, peer_fcl_release;
PEER_EXPORT peer_any_fn peer_cgal_any, peer_fcl_any;
PEER_EXPORT peer_cross_count_fn peer_fcl_cross_count;
PEER_EXPORT peer_distance_fn peer_fcl_distance;

/* ---- points and a closed mesh ---------------------------------------------------------------- */

/* The distance of each point, x, y, z, from a prepared mesh; negative inside where it is signed. */
typedef void peer_points_fn(void *prepared, const double *points, uint64_t count,
                            double *distances);

PEER_EXPORT peer_prepare_fn peer_cgal_points_prepare;
PEER_EXPORT peer_release_fn peer_cgal_points_release;
PEER_EXPORT peer_points_fn peer_cgal_closest_points, peer_cgal_signed_distances;

/* ---- two solids ------------------------------------------------------------------------------ */

/* The volume that a prepared solid has in common with itself moved; NaN when the peer fails. */
typedef double peer_overlap_fn(void *prepared, const double *pose);

PEER_EXPORT peer_prepare_fn peer_cgal_overlap_prepare, peer_manifold_overlap_prepare;
PEER_EXPORT peer_release_fn peer_cgal_overlap_release, peer_manifold_overlap_release;
PEER_EXPORT peer_overlap_fn peer_cgal_overlap, peer_manifold_overlap;

/* ---- two convex hulls ------------------------------------------------------------------------ */

/* A pose: w, x, y, z of a unit quaternion, then the translation. */
typedef struct peer_pose {
    double q[4], t[3];
} peer_pose;

/* Vertices of a hull in doubles and its faces, triangles seen counter-clockwise from outside. */
typedef struct peer_hull {
    const double *positions;
    const uint32_t *corners;
    uint64_t vertex_count, triangle_count;
} peer_hull;

typedef void *peer_hull_prepare_fn(const peer_hull *hull);
/* One answer: 1 or 0 when they meet or not; the distance, 0 when they meet; the depth. */
typedef double peer_hulls_query_fn(void *a, const peer_pose *pose_a, void *b,
                                   const peer_pose *pose_b);

PEER_EXPORT peer_name_fn peer_ccd_hull_name, peer_fcl_hull_name, peer_bullet_hull_name;
PEER_EXPORT peer_hull_prepare_fn peer_ccd_hull_prepare, peer_fcl_hull_prepare;
PEER_EXPORT peer_hull_prepare_fn peer_bullet_hull_prepare;
PEER_EXPORT peer_release_fn peer_ccd_hull_release, peer_fcl_hull_release, peer_bullet_hull_release;
PEER_EXPORT peer_hulls_query_fn peer_ccd_hull_meet, peer_fcl_hull_meet;
PEER_EXPORT peer_hulls_query_fn peer_fcl_hull_distance, peer_bullet_hull_distance;
PEER_EXPORT peer_hulls_query_fn peer_fcl_hull_depth, peer_bullet_hull_depth;

/* ---- times of impact ------------------------------------------------------------------------- */

/* Whether a point and a triangle, or two segments, meet whose points, x, y, z of four, move along
 * lines, and when. */
typedef bool peer_toi_fn(const double *start, const double *end, bool edges, double *time);
/* The same for two prepared hulls, each with its poses at time 0 and 1. */
typedef bool peer_hulls_toi_fn(void *a, const peer_pose *motion_a, void *b,
                               const peer_pose *motion_b, double *time);

PEER_EXPORT peer_name_fn peer_fcl_toi_name, peer_bullet_toi_name;
PEER_EXPORT peer_toi_fn peer_fcl_toi;
PEER_EXPORT peer_hulls_toi_fn peer_fcl_hulls_toi, peer_bullet_hulls_toi;

/* ---- robots ---------------------------------------------------------------------------------- */

/* Links as faces in their own frames, a world that does not move, and the pairs of links that are
 * tested. Links without faces have 0 triangles. */
typedef struct peer_robot {
    const peer_hull *links, *world;
    const uint32_t *pairs; /* two links each */
    uint64_t link_count, pair_count;
} peer_robot;

typedef void *peer_robot_prepare_fn(const peer_robot *robot);
/* Whether the robot collides, for each of `count` configurations: all links have their pose, one
 * configuration after the other. */
typedef void peer_robot_check_fn(void *prepared, const peer_pose *poses, uint64_t count,
                                 bool *colliding);

PEER_EXPORT peer_name_fn peer_fcl_robot_name;
PEER_EXPORT peer_robot_prepare_fn peer_fcl_robot_prepare;
PEER_EXPORT peer_release_fn peer_fcl_robot_release;
PEER_EXPORT peer_robot_check_fn peer_fcl_robot_check;

/* ---- many boxes ------------------------------------------------------------------------------ */

/* Six doubles per box: low x, y, z, high x, y, z. All are exact as float32. */
typedef struct peer_boxes {
    const double *bounds;
    uint64_t count;
} peer_boxes;

/* All pairs of boxes that overlap, everything built from nothing. */
typedef bool peer_box_pairs_fn(const peer_boxes *boxes, peer_pairs *pairs);
/* A structure that is kept from frame to frame; the boxes move, their number stays. */
typedef void *peer_box_prepare_fn(const peer_boxes *boxes);
typedef bool peer_box_frame_fn(void *prepared, const peer_boxes *boxes, peer_pairs *pairs);

PEER_EXPORT peer_name_fn peer_bullet_name;
PEER_EXPORT peer_box_pairs_fn peer_embree_box_pairs, peer_cgal_box_pairs;
PEER_EXPORT peer_box_pairs_fn peer_fcl_box_pairs, peer_bullet_box_pairs;
PEER_EXPORT peer_box_prepare_fn peer_fcl_box_prepare, peer_bullet_box_prepare;
PEER_EXPORT peer_box_frame_fn peer_fcl_box_frame, peer_bullet_box_frame;
PEER_EXPORT peer_release_fn peer_fcl_box_release, peer_bullet_box_release;

/* ---- many convex bodies ---------------------------------------------------------------------- */

/* Bodies of one shape that only move: balls, cubes, or hulls of points. */
typedef struct peer_bodies {
    const double *centres; /* x, y, z of each */
    uint64_t count;
    double size;          /* radius, or half the edge */
    bool boxes;           /* else balls, where there are no points */
    const double *points; /* of the hull */
    uint64_t point_count;
    double distance; /* two bodies at most this far apart are in contact */
} peer_bodies;

typedef void *peer_world_prepare_fn(const peer_bodies *bodies);
/* Moves the first bodies, finds all contacts and returns their number. */
typedef uint64_t peer_world_step_fn(void *prepared, const double *centres, uint64_t moved);

PEER_EXPORT peer_name_fn peer_bullet_world_name;
PEER_EXPORT peer_world_prepare_fn peer_bullet_world_prepare;
PEER_EXPORT peer_release_fn peer_bullet_world_release;
PEER_EXPORT peer_world_step_fn peer_bullet_world_step;

#ifdef __cplusplus
}
#endif

#endif
