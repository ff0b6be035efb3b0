/* SPDX-License-Identifier: MIT */
/* A packing that follows the deformation of its solid.
 *
 * Centres are carried by the deformation of the surface (pack_carry.c). What is carried is only a
 * start: every radius is measured anew, against the surface and the balls inserted before, so the
 * new packing is proved as one made by carom_packing_create.
 *
 * Spheres are taken from large to small, by the radius they would have where the deformation
 * scaled them. Without refill a ball stays where it was carried, and shrinks until it is inside
 * and meets no other: of two that would overlap, the smaller one gives way, which costs the least
 * volume. With refill it climbs to the largest empty ball near there, as in a new packing, and
 * may grow.
 *
 * Rounds make that parallel. A round has a radius rho and takes all balls that are larger. They
 * climb all at once against the balls that are there, and are inserted, the largest first, where
 * they do not overlap those before; others climb again, or wait for a later round where they have
 * become smaller. Which ball is in which round depends on radii alone, so the result is the same
 * for any number of threads. */
#include <float.h>
#include <stdlib.h>

#include "base/progress.h"
#include "base/worker_state.h"
#include "geom/length.h"
#include "mesh/mesh.h"
#include "pack/pack.h"
#include "pack/pack_carry.h"
#include "pack/pack_octree.h"

/* ---- Carrying -------------------------------------------------------------------------------- */

/* A ball on its way, in the frame after. */
typedef struct pack_deform_ball {
    carom_vec3 at;
    double radius;  /* that it had if the deformation scaled it; then the largest that was found */
    double to_mesh; /* of the centre */
    uint32_t slot;  /* of a triangle near */
    uint32_t index; /* of the sphere that was carried */
} pack_deform_ball;

typedef struct pack_deform {
    carom_context *context;
    const carom_packing *from;
    const carom_packing_deform_def *def;
    const carom_spheres_mesh *mesh; /* after */
    carom_pack_balls *balls;
    carom_pack_carry carry;
    pack_deform_ball *pending; /* balls that are not inserted yet, larger than rho first */
    uint64_t count, active;    /* active: larger than rho */
    double rho, filed, volume;
    uint64_t most; /* balls at most */
    bool gaps;     /* what is pending are points in gaps, not spheres that were carried */
    carom_worker_states states;
} pack_deform;

/* One state of each worker. */
typedef struct pack_deform_worker {
    carom_bvh_found found;
    carom_pack_climber climber;
} pack_deform_worker;

#define PACK_DEFORM_SPHERES 16u /* per range: some 10 us each */

static carom_status pack_deform_carry(void *argument, carom_range range) {
    pack_deform *d = argument;
    double scale = carom_power_of_two(d->mesh->shift);
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_packing_sphere *s = &d->from->spheres[i];
        carom_pack_carried c = carom_pack_carry_point(&d->carry, s->centre);
        carom_vec3 at = carom_vec_scale(carom_vec_sub(c.point, d->mesh->origin), scale);
        double radius = s->radius * c.scale * scale;
        if (!carom_spheres_mesh_bounds(d->mesh, at) || !(radius <= 1.0)) radius = 0.0;
        d->pending[i] = (pack_deform_ball){at, radius, 0.0, CAROM_BVH_NONE, (uint32_t)i};
    }
    return CAROM_OK;
}

/* ---- Finding a place ------------------------------------------------------------------------- */

/* The first step of a climb, of the radius expected. */
#define PACK_DEFORM_FIRST_STEP 0.25

static double pack_deform_to_balls(const pack_deform *d, carom_vec3 at) {
    return d->balls->balls.count != 0 ? carom_pack_balls_distance(d->balls, at) : HUGE_VAL;
}

/* Moves a point that is in a ball out of it, by a part of the radius expected; false: it is in
 * another one there. */
static bool pack_deform_push(const pack_deform *d, carom_vec3 *at, double radius) {
    for (int i = 0; i < 4; ++i) {
        carom_spheres_ball in;
        if (!carom_pack_balls_find(d->balls, *at, &in)) return true;
        carom_vec3 centre = carom_vec(in.x, in.y, in.z), by = carom_vec_sub(*at, centre);
        double length = carom_vec_length(by);
        if (!(length > 0.0)) return false;
        *at = carom_vec_add(centre, carom_vec_scale(by, (in.radius + 0.5 * radius) / length));
    }
    return false;
}

/* Finds the ball's place and radius among the balls that are there; radius 0: there is none. */
static void pack_deform_find(pack_deform *d, pack_deform_worker *w, pack_deform_ball *b) {
    if (d->def->refill) {
        bool free =
            d->gaps ? pack_deform_to_balls(d, b->at) > 0.0 : pack_deform_push(d, &b->at, b->radius);
        if (!free || !carom_spheres_mesh_inside(d->mesh, b->at, &w->found)) {
            b->radius = 0.0;
            return;
        }
        (void)carom_pack_climb(&w->climber, &b->at, PACK_DEFORM_FIRST_STEP * b->radius, &b->slot);
    }
    b->at = carom_spheres_mesh_round(d->mesh, b->at);
    carom_spheres_hit hit = carom_spheres_mesh_distance(d->mesh, b->at, b->slot);
    double radius = carom_pack_radius(hit.distance, pack_deform_to_balls(d, b->at));
    b->slot = hit.slot;
    b->to_mesh = hit.distance;
    b->radius = d->def->refill ? radius : CAROM_MIN(radius, b->radius);
    if (!(b->radius > 0.0) || !carom_spheres_mesh_inside(d->mesh, b->at, &w->found))
        b->radius = 0.0;
}

static carom_status pack_deform_find_range(void *argument, carom_range range) {
    pack_deform *d = argument;
    pack_deform_worker *w = carom_worker_state(&d->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        pack_deform_find(d, w, &d->pending[i]);
        if (carom_progress_stop(d->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The radius of a round against the one before. */
#define PACK_DEFORM_ROUND 0.8

/* Edge of the smallest cells in which balls are filed, in radii of the round. Observed: 1.5, as for
 * packing, takes 1.5 times as long, as balls are filed in all cells that they fill. */
#define PACK_DEFORM_CELL_RATIO 4.0

/* Balls that shrink below this part of the smallest one expected are given up. */
#define PACK_DEFORM_LEAST 0.5

static int pack_deform_larger_first(const void *a, const void *b) {
    const pack_deform_ball *c = a, *d = b;
    if (c->radius != d->radius) return c->radius > d->radius ? -1 : 1;
    return (c->index > d->index) - (c->index < d->index);
}

/* Points beside balls that climb at once: of several in one gap, all but one are in a ball when
 * their turn comes, and need not climb. */
#define PACK_DEFORM_BATCH 256u

/* Brings the balls that are larger than rho to the front, and drops those below `least`. */
static void pack_deform_select(pack_deform *d, double least) {
    uint64_t kept = 0;
    d->active = 0;
    for (uint64_t i = 0; i < d->count; ++i) {
        pack_deform_ball b = d->pending[i];
        if (!(b.radius >= least)) continue;
        d->pending[kept] = b;
        if (b.radius > d->rho) {
            d->pending[kept] = d->pending[d->active];
            d->pending[d->active++] = b;
        }
        ++kept;
    }
    d->count = kept;
    if (d->active > 1) qsort(d->pending, d->active, sizeof(*d->pending), pack_deform_larger_first);
    if (d->gaps) d->active = CAROM_MIN(d->active, PACK_DEFORM_BATCH);
}

static bool pack_deform_file(pack_deform *d) {
    if (d->filed != 0.0 && d->rho >= CAROM_PACK_REFILE * d->filed) return true;
    d->filed = d->rho;
    double edge = CAROM_MAX(PACK_DEFORM_CELL_RATIO * d->rho, CAROM_PACK_LEAST_CELL);
    return carom_pack_balls_file(d->balls, edge, CAROM_PACK_REACH_RATIO * d->rho);
}

/* Inserts the balls that were placed and overlap none before them; those that do keep what radius
 * is left. Inserted ones become 0. */
static bool pack_deform_insert(pack_deform *d) {
    qsort(d->pending, d->active, sizeof(*d->pending), pack_deform_larger_first);
    for (uint64_t i = 0; i < d->active && d->balls->balls.count < d->most; ++i) {
        pack_deform_ball *b = &d->pending[i];
        if (!(b->radius > d->rho)) break;
        double most = carom_pack_radius(b->to_mesh, pack_deform_to_balls(d, b->at));
        if (most < b->radius) {
            if (!d->def->refill) b->radius = CAROM_MAX(most, 0.0);
            continue;
        }
        carom_spheres_ball ball = {b->at.x, b->at.y, b->at.z, b->radius};
        if (!carom_pack_balls_add(d->balls, ball)) return false;
        d->volume += carom_spheres_volume(b->radius);
        b->radius = 0.0;
    }
    return true;
}

static carom_status pack_deform_round(pack_deform *d, double least) {
    if (!pack_deform_file(d)) return carom_fail_memory(d->context, 0, "spheres of a packing");
    for (pack_deform_select(d, least); d->active != 0 && d->balls->balls.count < d->most;
         pack_deform_select(d, least)) {
        uint64_t before = d->balls->balls.count;
        CAROM_TRY(carom_parallel_for(d->context, d->active, PACK_DEFORM_SPHERES,
                                     pack_deform_find_range, d));
        if (!pack_deform_insert(d)) return carom_fail_memory(d->context, 0, "spheres of a packing");
        carom_progress_add(d->context, 0, d->balls->balls.count - before);
        CAROM_TRY(carom_progress_look(d->context));
    }
    return CAROM_OK;
}

static bool pack_deform_begin_worker(void *user, void *state, uint32_t index) {
    const pack_deform *d = user;
    pack_deform_worker *w = state;
    (void)index;
    memset(&w->climber, 0, sizeof(w->climber));
    w->climber.mesh = d->mesh;
    w->climber.balls = d->balls;
    w->found.count = 0;
    return true;
}

/* Inserts all balls that are pending, from large to small, until `d->most` are there. */
static carom_status pack_deform_rounds(pack_deform *d, double least) {
    double most = 0.0;
    for (uint64_t i = 0; i < d->count; ++i) most = CAROM_MAX(d->pending[i].radius, most);
    d->filed = 0.0;
    for (d->rho = most * PACK_DEFORM_ROUND; d->count != 0; d->rho *= PACK_DEFORM_ROUND) {
        CAROM_TRY(pack_deform_round(d, least));
        if (d->rho < least) break;
    }
    return CAROM_OK;
}

/* Carries all spheres and inserts them. Returns the smallest radius that was expected. */
static carom_status pack_deform_carry_all(pack_deform *d, double *least) {
    d->count = d->from->info.spheres;
    CAROM_TRY(carom_parallel_for(d->context, d->count, PACK_DEFORM_SPHERES, pack_deform_carry, d));
    *least = HUGE_VAL;
    for (uint64_t i = 0; i < d->count; ++i)
        if (d->pending[i].radius > 0.0) *least = CAROM_MIN(d->pending[i].radius, *least);
    *least = CAROM_MAX(*least, CAROM_PACK_LEAST_UNITS * d->mesh->unit);
    double given_up = CAROM_MAX(PACK_DEFORM_LEAST * *least, CAROM_PACK_LEAST_UNITS * d->mesh->unit);
    return pack_deform_rounds(d, given_up);
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

/* The corners of an icosahedron, of length 1: around a ball, gaps as large as the ball touch it in
 * about these directions. */
#define GAP_SHORT 0.52573111211913360603
#define GAP_LONG  0.85065080835203993218
#define GAPS      12u
static const double pack_deform_directions[GAPS][3] = {
    {0, GAP_SHORT, GAP_LONG},   {0, -GAP_SHORT, GAP_LONG},  {0, GAP_SHORT, -GAP_LONG},
    {0, -GAP_SHORT, -GAP_LONG}, {GAP_SHORT, GAP_LONG, 0},   {-GAP_SHORT, GAP_LONG, 0},
    {GAP_SHORT, -GAP_LONG, 0},  {-GAP_SHORT, -GAP_LONG, 0}, {GAP_LONG, 0, GAP_SHORT},
    {GAP_LONG, 0, -GAP_SHORT},  {-GAP_LONG, 0, GAP_SHORT},  {-GAP_LONG, 0, -GAP_SHORT}};

/* A point is tried where a ball of this part of the smallest one has space among the balls: from
 * there a climb finds more. */
#define GAP_RADIUS 0.6

/* Where there are fewer balls than before, gaps are looked for again, for balls that are smaller by
 * this, at most so many times. */
#define GAP_SMALLER 0.75
#define GAP_TIMES   3

/* Looks for gaps beside each ball, and inserts balls there. */
static carom_status pack_deform_fill_gaps(pack_deform *d, double least) {
    uint64_t balls = d->balls->balls.count;
    d->count = 0;
    d->gaps = true;
    for (uint64_t i = 0; i < balls; ++i) {
        const carom_spheres_ball *b = &d->balls->balls.data[i];
        for (uint32_t k = 0; k < GAPS; ++k) {
            const double *u = pack_deform_directions[k];
            double away = b->radius + least;
            carom_vec3 at = carom_vec(b->x + away * u[0], b->y + away * u[1], b->z + away * u[2]);
            if (!carom_spheres_mesh_bounds(d->mesh, at)) continue;
            double radius = pack_deform_to_balls(d, at);
            if (radius < GAP_RADIUS * least) continue;
            d->pending[d->count++] = (pack_deform_ball){at, CAROM_MAX(radius, least), 0.0,
                                                        CAROM_BVH_NONE, (uint32_t)(GAPS * i + k)};
        }
    }
    return pack_deform_rounds(d, least);
}

static carom_status pack_deform_all(pack_deform *d) {
    double least;
    d->most = d->from->info.spheres;
    uint64_t space = d->def->refill ? GAPS * d->most : d->most;
    d->pending = CAROM_ARENA_TAKE(carom_scratch(d->context, 0), pack_deform_ball, space);
    if (d->pending == NULL)
        return carom_fail_memory(d->context, space * sizeof(*d->pending), "spheres that move");
    CAROM_TRY(pack_deform_carry_all(d, &least));
    for (int i = 0; i < GAP_TIMES && d->def->refill && d->balls->balls.count < d->most; ++i) {
        CAROM_TRY(pack_deform_fill_gaps(d, least));
        least = CAROM_MAX(GAP_SMALLER * least, CAROM_PACK_LEAST_UNITS * d->mesh->unit);
    }
    return CAROM_OK;
}

carom_status carom_pack_by_carrying(const carom_spheres_mesh *mesh, const carom_packing *from,
                                    const carom_packing_deform_def *def, carom_pack_balls *balls,
                                    carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    pack_deform d = {.context = context, .from = from, .def = def, .mesh = mesh, .balls = balls};
    carom_status status = carom_pack_carry_make(context, def->before, def->after, &d.carry);
    if (status == CAROM_OK)
        status = carom_worker_states_begin(&d.states, context, sizeof(pack_deform_worker),
                                           pack_deform_begin_worker, &d);
    if (status == CAROM_OK) {
        status = pack_deform_all(&d);
        carom_worker_states_release(&d.states);
    }
    carom_pack_carry_free(&d.carry);
    *outcome = (carom_pack_outcome){.volume = d.volume, .empty = HUGE_VAL};
    return status;
}
