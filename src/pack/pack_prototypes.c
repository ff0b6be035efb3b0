/* SPDX-License-Identifier: MIT */
/* Packing by prototypes: Protosphere (Weller, Zachmann, "ProtoSphere: a GPU-assisted prototype
 * guided sphere packing algorithm for arbitrary objects", 2010), and the same with our own climb.
 *
 * Random points inside the solid, the prototypes, move to where the distance to the surface and to
 * the spheres so far is large. A batch of them moves in parallel, against the same spheres; then
 * those that ended with nearly the largest radius become spheres, largest first, where they do not
 * overlap. Each batch has its own random numbers, so that threads have no effect.
 *
 * As published, a prototype moves away from the nearest point of surface and spheres, by a share of
 * the distance that falls from step to step. A share below 1 never leads through the surface. Our
 * climb takes all that is near into account, and stops at a local maximum. */
#include <stdlib.h>

#include "base/progress.h"
#include "base/worker_state.h"
#include "pack/pack_octree.h"
#include "pack/pack_prototypes_item.h"

typedef struct prototype {
    carom_vec3 centre;
    double to_mesh, radius; /* radius 0: none */
    uint32_t index;
} prototype;

typedef struct pack_prototypes_pool {
    const carom_spheres_mesh *mesh;
    const carom_pack_goal *goal;
    carom_pack_balls *balls;
    prototype *prototypes;
    uint32_t count;  /* of this batch */
    uint64_t before; /* of those before it */
    carom_worker_states states;
} pack_prototypes_pool;

typedef struct pack_prototypes_worker {
    carom_bvh_found found;
    carom_pack_climber climber;
} pack_prototypes_worker;

static bool pack_prototypes_begin_worker(void *user, void *state, uint32_t index) {
    const pack_prototypes_pool *p = user;
    pack_prototypes_worker *w = state;
    (void)index;
    memset(&w->climber, 0, sizeof(w->climber));
    w->climber.mesh = p->mesh;
    w->climber.balls = p->balls;
    w->found.count = 0;
    return true;
}

static double to_balls(const carom_pack_balls *balls, carom_vec3 p) {
    return balls->balls.count != 0 ? carom_pack_balls_distance(balls, p) : HUGE_VAL;
}

/* Moves a prototype as published. */
static void protosphere_converge(pack_prototypes_worker *w, carom_vec3 *at, uint32_t *slot) {
    carom_spheres_near *near = &w->climber.near[0];
    for (uint32_t i = 0; i < CAROM_PROTOSPHERE_STEPS; ++i) {
        (void)carom_pack_look(&w->climber, near, *at, 0.0, slot);
        CAROM_ASSERT(near->count != 0 && near->least >= 0.0); /* outside of all spheres */
        uint32_t k = 0;
        for (uint32_t j = 1; j < near->count; ++j)
            if (near->apart[j] < near->apart[k]) k = j;
        *at = carom_protosphere_step(*at, carom_vec(near->x[k], near->y[k], near->z[k]),
                                     near->apart[k], i);
    }
}

static void pack_prototypes_climb(pack_prototypes_pool *p, pack_prototypes_worker *w,
                                  uint32_t index) {
    const carom_spheres_mesh *m = p->mesh;
    prototype *to = &p->prototypes[index];
    carom_random random = carom_prototype_random(p->goal->seed, p->before + index);
    *to = (prototype){.index = index};
    for (uint32_t i = 0; i < CAROM_PROTOTYPE_TRIES; ++i) {
        carom_vec3 at = carom_prototype_guess(&random, m->low, m->high);
        if (p->balls->balls.count != 0 && carom_pack_balls_distance(p->balls, at) <= 0.0) continue;
        if (!carom_spheres_mesh_inside(m, at, &w->found)) continue;
        uint32_t slot = CAROM_BVH_NONE;
        if (p->goal->as_published) {
            protosphere_converge(w, &at, &slot);
        } else {
            double here = carom_spheres_mesh_distance(m, at, slot).distance;
            here = CAROM_MIN(here, to_balls(p->balls, at));
            (void)carom_pack_climb(&w->climber, &at, CAROM_PROTOTYPE_FIRST_STEP * here, &slot);
        }
        carom_vec3 centre = carom_spheres_mesh_round(m, at);
        double to_mesh = carom_spheres_mesh_distance(m, centre, slot).distance;
        double radius = carom_pack_radius(to_mesh, to_balls(p->balls, centre));
        if (!(radius > CAROM_PACK_LEAST_UNITS * m->unit) ||
            !carom_spheres_mesh_inside(m, centre, &w->found))
            return;
        *to = (prototype){centre, to_mesh, radius, index};
        return;
    }
}

static carom_status climb_range(void *argument, carom_range range) {
    pack_prototypes_pool *p = argument;
    pack_prototypes_worker *w = carom_worker_state(&p->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        pack_prototypes_climb(p, w, (uint32_t)i);
        if (carom_progress_stop(p->mesh->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static int pack_prototypes_larger_first(const void *a, const void *b) {
    const prototype *c = a, *d = b;
    if (c->radius != d->radius) return c->radius > d->radius ? -1 : 1;
    return (c->index > d->index) - (c->index < d->index);
}

static carom_status pack_prototypes_run_batch(pack_prototypes_pool *p, double *filed,
                                              carom_pack_outcome *outcome) {
    carom_context *context = p->mesh->context;
    uint64_t before = p->balls->balls.count;
    p->count = carom_prototype_batch(before);
    CAROM_TRY(carom_parallel_for(context, p->count, 8, climb_range, p));
    p->before += p->count;
    qsort(p->prototypes, p->count, sizeof(prototype), pack_prototypes_larger_first);
    double best = p->prototypes[0].radius;
    outcome->visits += p->count;
    /* Balls are looked for no farther than the largest radius that can come. */
    if (best > 0.0 && best < CAROM_PROTOTYPE_REFILE * *filed) {
        *filed = best;
        if (!carom_pack_balls_file(p->balls,
                                   CAROM_MAX(CAROM_PACK_CELL_RATIO * best, CAROM_PACK_LEAST_CELL),
                                   CAROM_PACK_REACH_RATIO * best))
            return carom_fail_memory(context, 0, "spheres of a packing");
    }
    for (uint32_t i = 0; i < p->count; ++i) {
        const prototype *c = &p->prototypes[i];
        if (!(c->radius > 0.0) || c->radius < CAROM_PROTOTYPE_RADIUS_RATIO * best ||
            c->radius < p->goal->radius)
            break;
        if (p->balls->balls.count >= p->goal->count || outcome->volume >= p->goal->volume) break;
        double radius = carom_pack_radius(c->to_mesh, to_balls(p->balls, c->centre));
        if (radius < CAROM_PROTOTYPE_RADIUS_RATIO * best || radius < p->goal->radius) continue;
        carom_spheres_ball ball = {c->centre.x, c->centre.y, c->centre.z, radius};
        if (!carom_pack_balls_add(p->balls, ball))
            return carom_fail_memory(context, sizeof(ball), "spheres of a packing");
        outcome->volume += carom_spheres_volume(radius);
    }
    carom_progress_add(context, 0, p->balls->balls.count - before);
    return carom_progress_look(context);
}

carom_status carom_pack_by_prototypes(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                      carom_pack_balls *balls, carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    if (context->backend == CAROM_BACKEND_CUDA)
        return carom_pack_prototypes_on_device(mesh, goal, balls, outcome);
    pack_prototypes_pool p = {.mesh = mesh, .goal = goal, .balls = balls};
    p.prototypes =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), prototype, CAROM_PROTOTYPE_BATCH_MOST);
    if (p.prototypes == NULL)
        return carom_fail_memory(context, CAROM_PROTOTYPE_BATCH_MOST * sizeof(prototype),
                                 "prototypes");
    CAROM_TRY(carom_worker_states_begin(&p.states, context, sizeof(pack_prototypes_worker),
                                        pack_prototypes_begin_worker, &p));
    double filed = CAROM_PROTOTYPE_FILED;
    carom_status status = CAROM_OK;
    if (!carom_pack_balls_file(balls, filed, CAROM_PACK_REACH_RATIO * filed))
        status = carom_fail_memory(context, 0, "spheres of a packing");
    uint32_t empty = 0;
    while (status == CAROM_OK && balls->balls.count < goal->count &&
           outcome->volume < goal->volume && empty < CAROM_PROTOTYPE_EMPTY_BATCHES) {
        uint64_t before = balls->balls.count;
        status = pack_prototypes_run_batch(&p, &filed, outcome);
        empty = balls->balls.count > before ? 0 : empty + 1;
    }
    carom_worker_states_release(&p.states);
    return status;
}
