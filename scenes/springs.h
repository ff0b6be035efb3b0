/* SPDX-License-Identifier: MIT */
/* springs.h: a soft knot that falls on a ring: sphere springs, the outlook of Weller and Zachmann
 * (2009) and of Weller and Frese (2013).
 *
 * Both are packings. The spheres of the knot have masses, and springs join those that are
 * neighbours; the ring stays where it is. Where spheres of both overlap, they repel each other with
 * the energy `stiffness` times their common volume, so that the force is the derivative of the
 * volume that carom_balls_overlap estimates: pairs come from the grid of spheres, terms from the
 * lenses of balls. */
#ifndef CAROM_SCENES_SPRINGS_H
#define CAROM_SCENES_SPRINGS_H

#include "carom/carom.h"

/* The radius of the ring is the unit of lengths, gravity that of accelerations, and the knot
 * has a density of 1. All 0: what the demo shows, but for damping. */
typedef struct scene_springs_def {
    uint64_t count;    /* spheres of the knot; 0: 150 */
    double height;     /* of the knot's centre over the ring's; 0: 2.5 */
    double elasticity; /* of springs, force per strain and cross section; 0: 100 */
    double stiffness;  /* energy per volume that the two have in common; 0: 400 */
    double damping;    /* of springs, of the force at which they do not swing; 0: none */
} scene_springs_def;

/* A spring between two spheres. */
typedef struct scene_spring {
    uint32_t a, b;
    double length, constant, damping; /* length: at rest. Forces per length, and per speed */
} scene_spring;

/* Energies of one moment. */
typedef struct scene_springs_energy {
    double kinetic, gravity, springs, contact; /* gravity: over the centre of the ring */
} scene_springs_energy;

typedef struct scene_springs {
    uint64_t count;
    carom_packing_sphere *spheres; /* of the knot; only centres change */
    double *mass;
    carom_vec3 *velocity, *force;
    scene_spring *springs;
    uint64_t spring_count;
    double stiffness, step;         /* step: of time, a twentieth of the fastest swing's period */
    double time;                    /* that has passed */
    carom_packing_spheres obstacle; /* the ring's */
    carom_balls *knot, *ring;
    carom_pairs pairs;           /* of overlapping spheres */
    scene_springs_energy energy; /* but for the kinetic one as of the forces */
    carom_vec3 contact_force;    /* on the knot */
} scene_springs;

/* Fails like carom_packing_create, and with CAROM_NO_MEMORY; free it in any case. */
carom_status scene_springs_make(carom_context *context, const scene_springs_def *def,
                                scene_springs *scene);
void scene_springs_free(scene_springs *scene);

/* Moves all by one step of time (velocity Verlet). */
carom_status scene_springs_advance(carom_context *context, scene_springs *scene);

/* The energies now. */
scene_springs_energy scene_springs_get_energy(const scene_springs *scene);

#endif
