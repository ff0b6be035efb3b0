/* SPDX-License-Identifier: MIT */
/* cover.h: spheres that together contain a solid, with proof.
 *
 *   carom_cover_create(context, &(carom_cover_def){.mesh = &view, .count = 64}, &cover);   prepare
 *   carom_cover_list_spheres(context, cover, &spheres);                                    result
 *
 * A cover is a set of spheres that together contain a solid, for motion planners and for particles
 * of many spheres. Spheres may overlap and reach out of the solid; where they are is chosen so that
 * the farthest point outside is as near to the solid as possible.
 *
 * The proof: the solid is divided into cells, each of which lies in one sphere, in exact
 * arithmetic for the numbers as they are given. Centres and radii are float32 as in a packing. */
#ifndef CAROM_COVER_H
#define CAROM_COVER_H

#include "carom/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* What is covered, and how; never NULL. */
typedef struct carom_cover_def {
    const carom_mesh_view *mesh; /* as for a packing; nothing is kept of it */
    bool allow_open; /* a mesh that is not closed: all of its faces are covered, and cells with
                        centres where the generalised winding number is 0.75 or more, within
                        the bounds of the mesh. Distances are then those from the faces and
                        from where it is 0.5 or more, the latter by a grid */
    uint64_t count;  /* spheres at most. 0: 64, or where `distance` is set, any number */
    double distance; /* as few spheres as reach out no farther than this. 0: as near as `count`
                        spheres can be */
    double margin;   /* is added to all radii: the spheres then contain all points that are no
                        farther from the solid */
    bool keep_cells; /* for carom_cover_list_cells */
} carom_cover_def;

/* The spheres that contain a solid. */
typedef struct carom_cover carom_cover;

/* Covers a solid. On failure *cover is NULL.
 * - Meshes as for carom_packing_create. A mesh that is not closed is CAROM_BAD_INPUT unless
 *   allow_open is set.
 * - CAROM_BAD_INPUT: a negative or infinite distance or margin, more than CAROM_COVER_MOST_SPHERES
 *   spheres, a mesh smaller than 2^-300 or larger than 2^300.
 * - The search finds good covers, not the best. The same input gives the same bytes for any number
 *   of threads and any instruction set.
 *
 * Cost: processor time of about 10 ms per sphere for 64 spheres, 20 ms for 256, on all threads; up
 * to five times that for open meshes; with `distance` some six covers. */
CAROM_API carom_status carom_cover_create(carom_context *context, const carom_cover_def *def,
                                          carom_cover **cover);

/* The most spheres of a cover. */
#define CAROM_COVER_MOST_SPHERES 1024

/* NULL is fine. */
CAROM_API void carom_cover_destroy(carom_cover *cover);

/* How far spheres reach out of a solid. */
typedef struct carom_cover_measure {
    carom_interval worst; /* the distance from the solid of the farthest point of a sphere: upper is
                             at most 2 % more than lower, and value is upper */
    double mean;          /* of the distances from the solid, over the part of the surface of the
                             union that is outside of the solid: all of it where the spheres cover.
                             By some hundred points per sphere: right to about 1 % */
    double volume;        /* of the union; right to about 1e-3 */
    double outside_volume; /* of its part outside of the solid: volume less solid_volume, so the
                              error is that of the volume; 0 where solid_volume is not known */
    double solid_volume;   /* where the winding number is 1 or more; 0: open, not known */
} carom_cover_measure;

/* What a cover is like. */
typedef struct carom_cover_info {
    uint64_t spheres;
    carom_cover_measure measure;
    double margin;
    carom_bounds bounds; /* of the mesh */
    carom_vec3 origin;   /* centre - origin is a vector of float32, exactly */
    bool inside_out;     /* the mesh was, and has been reversed */
    bool complete;       /* reaches out no farther than the goal; true where there was none */
    uint64_t cells;      /* of the proof */
    uint64_t bytes;      /* held by the cover */
} carom_cover_info;

/* Gets what the cover is like. */
CAROM_API carom_status carom_cover_get_info(const carom_cover *cover, carom_cover_info *info);

CAROM_RESULT_ARRAY(carom_cover_spheres, carom_ball);

/* Gets the spheres, largest first. Radii contain the margin. */
CAROM_API carom_status carom_cover_list_spheres(carom_context *context, const carom_cover *cover,
                                                carom_cover_spheres *spheres);

/* Gets the cells of the proof; none unless keep_cells was set. Together they contain the solid;
 * each lies in the ball of its sphere with the radius less the margin. */
CAROM_API carom_status carom_cover_list_cells(carom_context *context, const carom_cover *cover,
                                              carom_packing_cells *cells);

/* Measures any spheres against a solid, such as those of another program. Whether they cover it is
 * not given; where they do not, outside_volume means nothing. Meshes as for carom_cover_create. Of
 * the def only mesh and allow_open are read.
 * CAROM_BAD_INPUT: a sphere that is not finite, a negative radius, spheres more than eight sizes
 * away from the mesh, more than CAROM_COVER_MOST_SPHERES. */
CAROM_API carom_status carom_cover_measure_spheres(carom_context *context,
                                                   const carom_cover_def *def,
                                                   const carom_ball *spheres, uint64_t count,
                                                   carom_cover_measure *measure);

#ifdef __cplusplus
}
#endif

#endif
