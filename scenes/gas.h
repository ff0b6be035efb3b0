/* SPDX-License-Identifier: MIT */
/* gas.h: named starts of moving spheres, by seed. */
#ifndef CAROM_SCENES_GAS_H
#define CAROM_SCENES_GAS_H

#include "carom/carom.h"

/* Edge of the cube in which `count` spheres of `radius` have the packing fraction. */
double scene_gas_edge(uint64_t count, double radius, double fraction);

/* Radius at which `count` spheres in a cube of that edge have the packing fraction. */
double scene_gas_radius(uint64_t count, double edge, double fraction);

/* Largest radius at which scene_gas_lattice can place `count` spheres in the box. */
double scene_gas_most_radius(uint64_t count, carom_vec3 edges);

/* The most spheres of `radius` for which a lattice in the box of `def` surely has room, within its
 * walls too; 0 when none. */
uint64_t scene_gas_most_count(double radius, const carom_gas_def *def);

/* `count` spheres of `radius` on sites of a face-centred cubic lattice stretched to the box, which
 * sites by seed; velocities Gaussian with unit mass and temperature, without drift. The caller
 * frees the array with free(); NULL when there is no memory or the spheres do not fit. */
carom_gas_sphere *scene_gas_lattice(uint64_t count, double radius, carom_vec3 edges, uint64_t seed);

/* For a box with walls: squeezes the places along axes that are not periodic so that the outermost
 * spheres touch the walls at most. */
void scene_gas_keep_inside(carom_gas_sphere *spheres, uint64_t count, const carom_gas_def *def);

/* Scales all velocities to the mean speed. */
void scene_gas_set_speed(carom_gas_sphere *spheres, uint64_t count, double mean_speed);

#endif
