/* SPDX-License-Identifier: MIT */
/* pack_octree.h: what the methods of packing have in common, and the octree method. */
#ifndef CAROM_SRC_PACK_PACK_OCTREE_H
#define CAROM_SRC_PACK_PACK_OCTREE_H

#include "carom/pack.h"
#include "pack/pack_balls.h"
#include "spheres/spheres_mesh.h"

/* When to stop, in the frame; and how to search. */
typedef struct carom_pack_goal {
    uint64_t count;    /* spheres; UINT64_MAX: no limit */
    double volume;     /* of all spheres together; infinite: no limit */
    double radius;     /* the smallest */
    double epsilon;    /* of the octree method */
    bool fast;         /* the octree's bounds are halved: not certain */
    uint32_t voxels;   /* of the greedy method, along the longest side */
    uint64_t seed;     /* of the methods with prototypes */
    bool as_published; /* prototypes move as in Protosphere, else by our climb */
} carom_pack_goal;

typedef struct carom_pack_outcome {
    double volume;   /* of all spheres */
    double empty;    /* upper bound of the radius of every ball that could be added; infinite: not
                        known */
    uint64_t visits; /* cells, voxels or steps */
} carom_pack_outcome;

/* The climb of one point to where the largest empty ball near it is, as a state of each worker. */
typedef struct carom_pack_climber {
    const carom_spheres_mesh *mesh;
    const carom_pack_balls *balls;
    carom_spheres_near near[2];
} carom_pack_climber;

/* Lists in `near` the obstacles within `spread` of the nearest one's distance from a point. Returns
 * the distance from the mesh, infinite where that is farther than `spread` behind the nearest ball.
 * `slot` is a triangle near, which it changes. */
double carom_pack_look(const carom_pack_climber *climber, carom_spheres_near *near,
                       carom_vec3 point, double spread, uint32_t *slot);

/* Moves a point that is inside to larger distances from mesh and balls, never through the surface,
 * until a step promises less than 0.3 % more. `step` is the first step. Returns the distance, which
 * balls beyond the reach may lower. `slot` is a triangle near, which it changes. */
double carom_pack_climb(carom_pack_climber *climber, carom_vec3 *point, double step,
                        uint32_t *slot);

/* The rounds of the octree method and its root cell; `rho` is scratch of worker 0. */
typedef struct carom_pack_rounds {
    carom_vec3 low; /* of the root */
    double unit;    /* 2^-31 of the root's edge */
    carom_pack_node root;
    double fewer; /* the least radius taken, against that of the round */
    double *rho;  /* the radius of each round, a float */
    uint32_t count;
} carom_pack_rounds;

carom_status carom_pack_rounds_make(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                    carom_pack_rounds *rounds);

/* Cells are grouped by cubes about two radii wide: as many along each axis as 2 to this power. */
uint32_t carom_pack_group_bits(const carom_pack_rounds *rounds, double rho);

/* CAROM_OK where the context can pack by this method: on the CPU, or on its device. */
carom_status carom_pack_check_device(carom_context *context, carom_packing_method method);

/* The octree method and that with prototypes on the device of the context (pack_device.c): the same
 * balls. */
carom_status carom_pack_on_device(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome);
carom_status carom_pack_prototypes_on_device(const carom_spheres_mesh *mesh,
                                             const carom_pack_goal *goal, carom_pack_balls *balls,
                                             carom_pack_outcome *outcome);

carom_status carom_pack_by_octree(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome);
carom_status carom_pack_by_voxels(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome);
carom_status carom_pack_by_prototypes(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                      carom_pack_balls *balls, carom_pack_outcome *outcome);

/* The spheres of a packing, carried by a deformation (pack_deform.c). `def->after` has the faces,
 * too. */
carom_status carom_pack_by_carrying(const carom_spheres_mesh *mesh, const carom_packing *from,
                                    const carom_packing_deform_def *def, carom_pack_balls *balls,
                                    carom_pack_outcome *outcome);

#endif
