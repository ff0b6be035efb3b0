/* SPDX-License-Identifier: MIT */
/* gas.h: initial states of moving spheres, by seed. */
#ifndef CAROM_SCENES_GAS_H
#define CAROM_SCENES_GAS_H

#include "carom/carom.h"

#define SCENE_GAS_MOST_KINDS 8

/* Edge of the cube in which `count` spheres of `radius` have the given packing fraction. */
double scene_gas_edge(uint64_t count, double radius, double fraction);

/* Radius at which `count` spheres in a cube of that edge have the given packing fraction. */
double scene_gas_radius(uint64_t count, double edge, double fraction);

/* The same in a box with unlike edges. */
double scene_gas_radius_in(uint64_t count, carom_vec3 edges, double fraction);

/* One kind of sphere in a mixture. */
typedef struct scene_gas_kind {
    double share; /* of all spheres, relative to the other kinds */
    double radius, mass;
} scene_gas_kind;

/* Radius of equal spheres with the volume of the mixture. */
double scene_gas_mean_radius(const scene_gas_kind *kinds, uint32_t kind_count);

/* Gives each sphere a radius and a mass, and `kind_of` (may be NULL) the index of its kind. Each
 * kind has its share of the spheres to within one; the seed selects which. */
void scene_gas_mix(carom_gas_sphere *spheres, uint64_t count, const scene_gas_kind *kinds,
                   uint32_t kind_count, uint64_t seed, uint8_t *kind_of);

/* Gaussian velocities of temperature 1 for the masses of the spheres, without total momentum. */
void scene_gas_heat(carom_gas_sphere *spheres, uint64_t count, uint64_t seed);

/* Largest radius at which scene_gas_lattice can place `count` spheres in the box. */
double scene_gas_most_radius(uint64_t count, carom_vec3 edges);

/* The most spheres of `radius` that a lattice in the box of `def` is certain to hold, between its
 * walls too; 0 when none. */
uint64_t scene_gas_most_count(double radius, const carom_gas_def *def);

/* `count` spheres of `radius` on sites of a face-centred cubic lattice stretched to the box. The
 * seed selects the sites. Velocities are Gaussian with unit mass and temperature, without drift.
 * The caller frees the array with free(). NULL when there is no memory or the spheres do not fit.
 */
carom_gas_sphere *scene_gas_lattice(uint64_t count, double radius, carom_vec3 edges, uint64_t seed);

/* A mixture whose largest kind is on the sites of a lattice, where it fits one, and whose others
 * are at random positions between, in the order of their radii. Otherwise as scene_gas_lattice and
 * scene_gas_mix. A million spheres may take a minute in a dense box: `progress`, which may be NULL,
 * hears of it and ends it by true. *spheres is NULL on failure.
 * - CAROM_BAD_INPUT: the spheres do not fit.
 * - CAROM_CANCELLED, CAROM_NO_MEMORY. */
carom_status scene_gas_scatter(const carom_gas_def *def, uint64_t count,
                               const scene_gas_kind *kinds, uint32_t kind_count, uint64_t seed,
                               carom_progress_fn *progress, void *progress_user, uint8_t *kind_of,
                               carom_gas_sphere **spheres);

/* For a box with walls: compresses the positions along axes that are not periodic, so that the
 * outermost spheres at most touch the walls. */
void scene_gas_keep_inside(carom_gas_sphere *spheres, uint64_t count, const carom_gas_def *def);

/* Scales all velocities to the given mean speed. */
void scene_gas_set_speed(carom_gas_sphere *spheres, uint64_t count, double mean_speed);

#endif
