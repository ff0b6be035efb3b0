/* SPDX-License-Identifier: MIT */
/* Sphere springs: x'' = (springs + contacts) / m - g, by velocity Verlet, which keeps the energy up
 * to an error of the square of the step that does not grow with time.
 *
 * Springs join spheres whose secondary balls overlap: the shares of such neighbours meet. A spring
 * is as stiff as a rod of the smaller ball's cross section. Two overlapping spheres of knot and ring
 * have the energy stiffness times the volume of their lens; its derivative by the distance is minus
 * the area of the lens circle. */
#include "scenes/springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI                 3.14159265358979323846
#define SPRINGS_COUNT      150u
#define SPRINGS_HEIGHT     2.5
#define SPRINGS_ELASTICITY 100.0
#define SPRINGS_STIFFNESS  400.0
#define SPRINGS_RING       150u /* spheres of the ring */
#define SPRINGS_RING_TUBE  0.6  /* its radius: the hole is too narrow for the knot */

#define SPRINGS_KNOT_TUBE 0.2 /* its radius: soft, as springs join one sphere to the next */

/* A twentieth of the period 2 pi / w of the fastest swing: Verlet is stable up to w dt = 2. */
#define SPRINGS_STEP (2.0 * PI / 20.0)

/* ---- Vectors --------------------------------------------------------------------------------- */

static carom_vec3 springs_sub(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* a += s b */
static void springs_add(carom_vec3 *a, double s, carom_vec3 b) {
    a->x += s * b.x;
    a->y += s * b.y;
    a->z += s * b.z;
}

static double springs_dot(carom_vec3 a, carom_vec3 b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Packs a shape. */
static carom_status make_packing(carom_context *context, const carom_shape_def *shape,
                                 uint64_t count, carom_packing_spheres *spheres,
                                 carom_balls **balls) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_packing *packing = NULL;
    carom_status status = carom_shape_make(context, shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    carom_packing_def def = {.mesh = &view, .count = count};
    if (status == CAROM_OK) status = carom_packing_create(context, &def, &packing);
    if (status == CAROM_OK) status = carom_packing_list_spheres(context, packing, spheres);
    carom_balls_def of_balls = {.packing = packing};
    if (status == CAROM_OK) status = carom_balls_create(context, &of_balls, balls);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return status;
}

static double cross_section(const carom_packing_sphere *s) {
    return PI * s->secondary * s->secondary;
}

/* Joins all pairs of neighbours by springs. */
static carom_status make_springs(carom_context *context, const scene_springs_def *def,
                                 scene_springs *s) {
    double elasticity = def->elasticity > 0.0 ? def->elasticity : SPRINGS_ELASTICITY;
    carom_status status = carom_balls_pairs(context, s->knot, NULL, s->knot, NULL,
                                            CAROM_BALLS_PAIR_KIND_SECONDARY, NULL, &s->pairs);
    if (status != CAROM_OK) return status;
    s->springs = malloc((s->pairs.count + 1) * sizeof(*s->springs));
    if (s->springs == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < s->pairs.count; ++i) {
        uint32_t a = s->pairs.data[i].a, b = s->pairs.data[i].b;
        if (a >= b) continue;
        const carom_packing_sphere *p = &s->spheres[a], *q = &s->spheres[b];
        carom_vec3 d = springs_sub(q->centre, p->centre);
        double length = sqrt(springs_dot(d, d));
        double section = fmin(cross_section(p), cross_section(q));
        double constant = elasticity * section / length;
        double mass = s->mass[a] * s->mass[b] / (s->mass[a] + s->mass[b]);
        s->springs[s->spring_count++] =
            (scene_spring){a, b, length, constant, 2.0 * def->damping * sqrt(constant * mass)};
    }
    return CAROM_OK;
}

/* The step of time. By Gershgorin's theorem, no swing is faster than the sphere for which twice the
 * sum of its springs over its mass is largest; contacts are as stiff as a lens of its own radius. */
static double choose_step(const scene_springs *s, double *stiffness) {
    double fastest = 0.0;
    memset(stiffness, 0, s->count * sizeof(*stiffness));
    for (uint64_t i = 0; i < s->spring_count; ++i) {
        stiffness[s->springs[i].a] += 2.0 * s->springs[i].constant;
        stiffness[s->springs[i].b] += 2.0 * s->springs[i].constant;
    }
    for (uint64_t i = 0; i < s->count; ++i) {
        double contact = 2.0 * PI * s->stiffness * s->spheres[i].secondary;
        fastest = fmax(fastest, (stiffness[i] + contact) / s->mass[i]);
    }
    return SPRINGS_STEP / sqrt(fastest);
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static void add_springs(scene_springs *s) {
    s->energy.springs = 0.0;
    for (uint64_t i = 0; i < s->spring_count; ++i) {
        const scene_spring *p = &s->springs[i];
        carom_vec3 d = springs_sub(s->spheres[p->b].centre, s->spheres[p->a].centre);
        carom_vec3 v = springs_sub(s->velocity[p->b], s->velocity[p->a]);
        double length = sqrt(springs_dot(d, d)), strain = length - p->length;
        if (!(length > 0.0)) continue;
        double pull = p->constant * strain + p->damping * springs_dot(d, v) / length;
        springs_add(&s->force[p->a], pull / length, d);
        springs_add(&s->force[p->b], -pull / length, d);
        s->energy.springs += 0.5 * p->constant * strain * strain;
    }
}

static carom_status add_contacts(carom_context *context, scene_springs *s) {
    carom_status status = carom_balls_update(context, s->knot, s->spheres, s->count, 0.0);
    if (status == CAROM_OK)
        status = carom_balls_pairs(context, s->ring, NULL, s->knot, NULL,
                                   CAROM_BALLS_PAIR_KIND_SECONDARY, NULL, &s->pairs);
    s->energy.contact = 0.0;
    s->contact_force = (carom_vec3){0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < s->pairs.count && status == CAROM_OK; ++i) {
        const carom_packing_sphere *a = &s->obstacle.data[s->pairs.data[i].a];
        const carom_packing_sphere *b = &s->spheres[s->pairs.data[i].b];
        const carom_ball x = {a->centre, a->secondary}, y = {b->centre, b->secondary};
        carom_lens lens = carom_ball_lens_value(&x, &y);
        carom_vec3 d = springs_sub(b->centre, a->centre);
        double length = sqrt(springs_dot(d, d));
        s->energy.contact += s->stiffness * lens.volume;
        if (!(length > 0.0)) continue;
        double push = -s->stiffness * lens.derivative / length;
        springs_add(&s->force[s->pairs.data[i].b], push, d);
        springs_add(&s->contact_force, push, d);
    }
    return status;
}

static carom_status springs_compute_forces(carom_context *context, scene_springs *s) {
    s->energy.gravity = 0.0;
    for (uint64_t i = 0; i < s->count; ++i) {
        s->force[i] = (carom_vec3){0.0, 0.0, -s->mass[i]};
        s->energy.gravity += s->mass[i] * s->spheres[i].centre.z;
    }
    add_springs(s);
    return add_contacts(context, s);
}

/* ---- The scene ------------------------------------------------------------------------------- */

carom_status scene_springs_make(carom_context *context, const scene_springs_def *def,
                                scene_springs *s) {
    carom_packing_spheres soft = {0};
    uint64_t count = def->count != 0 ? def->count : SPRINGS_COUNT;
    double height = def->height > 0.0 ? def->height : SPRINGS_HEIGHT;
    memset(s, 0, sizeof(*s));
    s->stiffness = def->stiffness > 0.0 ? def->stiffness : SPRINGS_STIFFNESS;
    carom_shape_def knot = {.shape = CAROM_SHAPE_KNOT, .ratio = SPRINGS_KNOT_TUBE};
    carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS, .ratio = SPRINGS_RING_TUBE};
    carom_status status = make_packing(context, &knot, count, &soft, &s->knot);
    if (status == CAROM_OK)
        status = make_packing(context, &torus, SPRINGS_RING, &s->obstacle, &s->ring);
    if (status == CAROM_OK) {
        s->count = soft.count;
        s->spheres = malloc(s->count * sizeof(*s->spheres));
        s->mass = calloc(s->count, sizeof(*s->mass));
        s->velocity = calloc(s->count, sizeof(*s->velocity));
        s->force = calloc(s->count, sizeof(*s->force));
        if (s->spheres == NULL || s->mass == NULL || s->velocity == NULL || s->force == NULL)
            status = CAROM_NO_MEMORY;
    }
    for (uint64_t i = 0; i < s->count && status == CAROM_OK; ++i) {
        s->spheres[i] = soft.data[i];
        double r = soft.data[i].secondary;
        s->mass[i] = 4.0 / 3.0 * PI * (r * r * r);
    }
    carom_packing_spheres_free(&soft);
    if (status == CAROM_OK) status = make_springs(context, def, s);
    double *stiffness = malloc((s->count + 1) * sizeof(*stiffness));
    if (status == CAROM_OK && stiffness == NULL) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) s->step = choose_step(s, stiffness);
    free(stiffness);
    if (status != CAROM_OK) return status;
    for (uint64_t i = 0; i < s->count; ++i) s->spheres[i].centre.z += height;
    return springs_compute_forces(context, s);
}

void scene_springs_free(scene_springs *s) {
    carom_balls_destroy(s->knot);
    carom_balls_destroy(s->ring);
    carom_pairs_free(&s->pairs);
    carom_packing_spheres_free(&s->obstacle);
    free(s->spheres);
    free(s->mass);
    free(s->velocity);
    free(s->force);
    free(s->springs);
    memset(s, 0, sizeof(*s));
}

carom_status scene_springs_advance(carom_context *context, scene_springs *s) {
    for (uint64_t i = 0; i < s->count; ++i) {
        springs_add(&s->velocity[i], 0.5 * s->step / s->mass[i], s->force[i]);
        springs_add(&s->spheres[i].centre, s->step, s->velocity[i]);
    }
    carom_status status = springs_compute_forces(context, s);
    for (uint64_t i = 0; i < s->count; ++i)
        springs_add(&s->velocity[i], 0.5 * s->step / s->mass[i], s->force[i]);
    s->time += s->step;
    return status;
}

scene_springs_energy scene_springs_get_energy(const scene_springs *s) {
    scene_springs_energy energy = s->energy;
    energy.kinetic = 0.0;
    for (uint64_t i = 0; i < s->count; ++i)
        energy.kinetic += 0.5 * s->mass[i] * springs_dot(s->velocity[i], s->velocity[i]);
    return energy;
}
