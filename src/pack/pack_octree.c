/* SPDX-License-Identifier: MIT */
/* Packing by an octree: the largest empty ball first, up to 1 + epsilon, with proof.
 *
 * The distance to the mesh and to the balls inserted so far is 1-Lipschitz, so a cell of half
 * diagonal h around p holds no centre of an empty ball larger than d(p) + h; pack_cpu.c has a
 * sharper bound. Every point of the root cube is in a cell with a bound, or in a cell that was
 * dropped because no empty ball has its centre there.
 *
 * Rounds: the k-th has a radius rho_k = rho_0 / (1 + epsilon)^k. A round examines all cells whose
 * bounds exceed rho_k. Each is bounded anew, or divided, or leads to an empty ball of radius rho_k
 * or more. The round ends when no bound exceeds rho_k. So a ball inserted in round k is at most 1 +
 * epsilon smaller than the largest empty one, at any time, in whatever order balls are found.
 *
 * That makes the search parallel: cells are examined in groups, each of one region in space,
 * against the balls that are there; a group stops at its first ball. Then the balls found are
 * inserted, largest first, where they do not overlap, and the groups go on. The groups depend on
 * the cells alone, so the result is the same for any number of threads. */
#include "pack/pack_octree.h"

#include <float.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/worker_state.h"
#include "geom/length.h"

/* ---- Climbing -------------------------------------------------------------------------------- */

/* A climb ends when a step would be shorter than this part of the distance, or promises less than
 * an eighth of the gain that matters; the first step is at most this part of the round's radius. */
#define OCTREE_LEAST_STEP 0.05
#define OCTREE_GAIN_PART  8.0
#define OCTREE_FIRST_STEP 0.5

double carom_pack_look(const carom_pack_climber *c, carom_spheres_near *near, carom_vec3 p,
                       double spread, uint32_t *slot) {
    near->count = 0;
    near->least = HUGE_VAL;
    carom_pack_balls_search(c->balls, p, spread, near);
    carom_spheres_hit hit =
        carom_spheres_mesh_search(c->mesh, p, *slot, near->least + spread, spread, near);
    if (hit.slot != CAROM_BVH_NONE) *slot = hit.slot;
    return hit.distance; /* infinite: farther than the balls */
}

double carom_pack_climb(carom_pack_climber *c, carom_vec3 *point, double step, uint32_t *slot) {
    carom_spheres_near *here = &c->near[0], *there = &c->near[1];
    double to_mesh = carom_pack_look(c, here, *point, CAROM_PACK_CLIMB_SPREAD * step, slot);
    double first = here->least;
    for (int i = 0; i < CAROM_PACK_CLIMB_STEPS; ++i) {
        double direction[3];
        const double at[3] = {point->x, point->y, point->z};
        double mesh_limit = CAROM_PACK_SAFE_SHARE * CAROM_MIN(to_mesh, here->least);
        step = CAROM_MIN(step, mesh_limit);
        double bound = CAROM_CPU_CALL(c->mesh->context, carom_pack_bound)(here, at, step, -HUGE_VAL,
                                                                          direction);
        if (!(bound > here->least * (1.0 + CAROM_PACK_CLIMB_GAIN))) {
            if (step < OCTREE_LEAST_STEP * here->least ||
                bound <= here->least * (1.0 + CAROM_PACK_CLIMB_GAIN / OCTREE_GAIN_PART))
                break;
            step *= 0.5;
            continue;
        }
        carom_vec3 next = carom_pack_climb_point(at, step, direction);
        uint32_t near_slot = *slot;
        double next_to_mesh =
            carom_pack_look(c, there, next, CAROM_PACK_CLIMB_SPREAD * step, &near_slot);
        if (there->least > here->least) {
            carom_spheres_near *swap = here;
            here = there;
            there = swap;
            *point = next;
            *slot = near_slot;
            to_mesh = next_to_mesh;
        } else {
            step *= 0.5;
        }
    }
    CAROM_ASSERT(here->least >= first); /* it only climbs */
    return here->least;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

typedef carom_pack_node pack_octree_cell;
CAROM_ARRAY(pack_octree_cell_array, pack_octree_cell);

/* The root exceeds the mesh by this part of its size on both sides, less for its lower corner,
 * which lies at an odd coordinate: no simple fraction of the size, so that sides of cells hardly
 * ever coincide with faces of the mesh. Any numbers do that are smaller than 1, for the corner. */
#define OCTREE_ROOT_MARGIN 0.0137
static const double octree_root_corner[3] = {0.9173, 0.8331, 0.7649};

/* Rounds at most: at the least epsilon of 0.001 the radii fall by 0.0005 per round, and 40,000
 * rounds lead from 1/2 to 2^-30, below the smallest radius. */
#define OCTREE_MOST_ROUNDS 40000u

/* Balls a little smaller than the radius of the round are taken too, by this part of epsilon: holes
 * just below it would else be divided without end. The radii fall the more slowly for it.
 * Observed (as in pack_octree_item.h): 0.2 and 0.8 take as long, and the filling is the same to
 * 0.0002. */
#define OCTREE_EPSILON_PART 0.4

/* Rounding of centres may cost a ball this part of its radius, where it has 8,700 units or more; a
 * smaller one may fall below what is taken, and its cells are divided farther. */
#define OCTREE_ROUNDING 0.9999

/* Bits of a group's cube per axis at most: three fit into the 32 bits of a key. */
#define OCTREE_GROUP_BITS 10u

/* Edge of a group's cube in radii of the round, at most, and half of it at least: in smaller ones
 * balls of neighbouring groups overlap more often and are dropped. Observed: 2 and 8 take
 * as long on one thread, and fill as much to 0.0003. */
#define OCTREE_GROUP_EDGE 4.0

#define OCTREE_GROUPS_PER_TASK 4u /* fewer leave threads waiting for ranges, more for the last */

/* A ball that a group found. */
typedef struct pack_octree_candidate {
    carom_vec3 centre;
    double to_mesh, radius;
    uint32_t group;
} pack_octree_candidate;
CAROM_ARRAY(candidate_array, pack_octree_candidate);

typedef struct pack_octree_worker {
    carom_bvh_found found;
    carom_pack_climber climber;
    pack_octree_cell_array cells;
    candidate_array candidates;
    pack_octree_cell_array stack;
    double unresolved;
    uint64_t visits;
} pack_octree_worker;

/* What a group left: cells in a worker's list. */
typedef struct pack_octree_group {
    uint64_t begin, end; /* cells that it examines */
    uint64_t out_begin, out_end;
    uint32_t worker;
} pack_octree_group;
CAROM_ARRAY(group_array, pack_octree_group);

typedef struct pack_octree_packer {
    carom_context *context;
    const carom_spheres_mesh *mesh;
    const carom_pack_goal *goal;
    carom_pack_balls *balls;
    carom_allocator *allocator;
    carom_pack_rounds rounds;
    uint32_t round;
    double enough;                   /* the least radius taken */
    pack_octree_cell_array *buckets; /* of each round: cells to examine then */
    pack_octree_cell_array active, next;
    group_array groups;
    candidate_array candidates;
    carom_worker_states states;
    double volume, unresolved, filed; /* filed: the radius for which balls were filed */
    uint64_t visits;
} pack_octree_packer;

/* ---- Examining ------------------------------------------------------------------------------- */

typedef enum pack_octree_verdict {
    PACK_OCTREE_DROP,
    PACK_OCTREE_KEEP,
    PACK_OCTREE_SPLIT,
    PACK_OCTREE_FOUND,
    NO_MEMORY
} pack_octree_verdict;

/* Rounds the centre and measures the ball exactly enough to insert it. */
static bool pack_octree_round_candidate(pack_octree_packer *p, pack_octree_worker *w,
                                        carom_vec3 centre, uint32_t slot, uint32_t group_index) {
    carom_vec3 rounded = carom_spheres_mesh_round(p->mesh, centre);
    double to_mesh = carom_spheres_mesh_distance(p->mesh, rounded, slot).distance;
    double to_balls =
        p->balls->balls.count != 0 ? carom_pack_balls_distance(p->balls, rounded) : HUGE_VAL;
    double radius = carom_pack_radius(to_mesh, to_balls);
    if (!(radius >= p->enough)) return false;
    if (!carom_spheres_mesh_inside(p->mesh, rounded, &w->found)) return false;
    pack_octree_candidate c = {rounded, to_mesh, radius, group_index};
    return candidate_array_push(&w->candidates, p->allocator, c);
}

/* The bound of a cell from the obstacles near it, rounded up. */
static double pack_octree_bound_of(const pack_octree_packer *p, const carom_spheres_near *near,
                                   const double point[3], double h, bool sharp) {
    double bound = near->least + h, direction[3];
    if (sharp && near->count > 1)
        bound = CAROM_CPU_CALL(p->context, carom_pack_bound)(near, point, h,
                                                             p->rounds.rho[p->round], direction);
    return carom_pack_believe(p->goal->fast, near->least, bound) + CAROM_SPHERES_ERROR;
}

static pack_octree_verdict pack_octree_examine(pack_octree_packer *p, pack_octree_worker *w,
                                               pack_octree_cell *c, uint32_t group_index) {
    double rho = p->rounds.rho[p->round];
    carom_vec3 at = carom_pack_node_centre(c, p->rounds.low, p->rounds.unit);
    const double point[3] = {at.x, at.y, at.z};
    double half = (double)carom_pack_node_half(c) * p->rounds.unit, h = carom_pack_node_reach(half);
    double spread = h <= CAROM_PACK_SHARP_BELOW * rho ? 2.0 * h : 0.0;
    carom_spheres_near *near = &w->climber.near[0];
    near->count = 0;
    near->least = HUGE_VAL;
    ++w->visits;
    carom_pack_balls_search(p->balls, at, spread, near);
    if (near->least <= -h) return PACK_OCTREE_DROP;
    double bound =
        carom_pack_believe(p->goal->fast, near->least, near->least + h) + CAROM_SPHERES_ERROR;
    if (bound > rho && near->count > 1)
        bound = pack_octree_bound_of(p, near, point, h, spread > 0.0);
    if (bound <= rho) {
        carom_pack_node_lower(c, bound);
        return PACK_OCTREE_KEEP;
    }
    /* The mesh. */
    double limit = near->least + spread, apart = (double)c->apart;
    uint32_t slot = c->slot & ~CAROM_PACK_INSIDE;
    if (slot == CAROM_PACK_NO_SLOT) slot = CAROM_BVH_NONE;
    if (apart <= limit && slot != CAROM_BVH_NONE) {
        /* Triangles near the parent often suffice. */
        double least = near->least;
        uint32_t count = near->count;
        carom_spheres_mesh_look(p->mesh, at, slot, limit, spread, near);
        bound = pack_octree_bound_of(p, near, point, h, spread > 0.0);
        if (bound <= rho) {
            carom_pack_node_lower(c, bound);
            return PACK_OCTREE_KEEP;
        }
        near->least = least;
        near->count = count;
    }
    if (apart <= limit) {
        carom_spheres_hit hit = carom_spheres_mesh_search(p->mesh, at, slot, limit, spread, near);
        apart = CAROM_MIN(hit.distance, limit);
        if (hit.slot != CAROM_BVH_NONE) slot = hit.slot;
        bound = pack_octree_bound_of(p, near, point, h, spread > 0.0);
    }
    carom_pack_node_set_found(c, apart, slot, bound);
    if (bound <= rho) return PACK_OCTREE_KEEP;
    bool inside =
        (c->slot & CAROM_PACK_INSIDE) != 0 || carom_spheres_mesh_inside(p->mesh, at, &w->found);
    if (!inside) {
        if (apart > h) return PACK_OCTREE_DROP;
        double from_surface = carom_pack_believe(p->goal->fast, 0.0, h - (double)c->apart);
        carom_pack_node_lower(c, from_surface);
        if (from_surface <= rho) return PACK_OCTREE_KEEP;
    } else {
        if (apart > h) c->slot |= CAROM_PACK_INSIDE;
        if (near->least >= CAROM_PACK_CLIMB_FROM * rho) {
            carom_vec3 top = at;
            uint32_t near_slot = slot;
            double reached = carom_pack_climb(&w->climber, &top,
                                              CAROM_MIN(h, OCTREE_FIRST_STEP * rho), &near_slot);
            if (reached >= p->enough &&
                pack_octree_round_candidate(p, w, top, near_slot, group_index))
                return PACK_OCTREE_FOUND;
        }
    }
    if (half <= CAROM_PACK_FINEST_UNITS * p->mesh->unit ||
        carom_pack_node_half(c) == 1) { /* as fine as centres */
        w->unresolved = CAROM_MAX((double)c->bound, w->unresolved);
        return PACK_OCTREE_DROP;
    }
    return PACK_OCTREE_SPLIT;
}

static bool pack_octree_split(const pack_octree_packer *p, pack_octree_worker *w,
                              const pack_octree_cell *c) {
    for (uint32_t i = 0; i < 8; ++i)
        if (!pack_octree_cell_array_push(&w->stack, p->allocator,
                                         carom_pack_node_child(c, i, p->rounds.unit)))
            return false;
    return true;
}

static carom_status run_group(pack_octree_packer *p, pack_octree_worker *w, uint32_t index) {
    pack_octree_group *g = &p->groups.data[index];
    g->out_begin = w->cells.count;
    w->stack.count = 0;
    bool found = false;
    for (uint64_t i = g->begin; i < g->end; ++i) {
        if (!pack_octree_cell_array_push(&w->stack, p->allocator, p->active.data[i]))
            return CAROM_NO_MEMORY;
        while (w->stack.count > 0) {
            pack_octree_cell c = w->stack.data[--w->stack.count];
            float before = c.bound;
            pack_octree_verdict v = found ? PACK_OCTREE_KEEP : pack_octree_examine(p, w, &c, index);
            CAROM_ASSERT(c.bound <= before);
            CAROM_ASSERT(found || v != PACK_OCTREE_KEEP ||
                         (double)c.bound <= p->rounds.rho[p->round]);
            if (v == PACK_OCTREE_FOUND) found = true;
            if (v == PACK_OCTREE_SPLIT && !pack_octree_split(p, w, &c)) return CAROM_NO_MEMORY;
            if ((v == PACK_OCTREE_KEEP || v == PACK_OCTREE_FOUND) &&
                !pack_octree_cell_array_push(&w->cells, p->allocator, c))
                return CAROM_NO_MEMORY;
        }
    }
    g->out_end = w->cells.count;
    return CAROM_OK;
}

static carom_status run_range(void *argument, carom_range range) {
    pack_octree_packer *p = argument;
    pack_octree_worker *w = carom_worker_state(&p->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        p->groups.data[i].worker = range.worker;
        CAROM_TRY(run_group(p, w, (uint32_t)i));
        if (carom_progress_stop(p->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static bool pack_octree_begin_worker(void *user, void *state, uint32_t index) {
    pack_octree_packer *p = user;
    pack_octree_worker *w = state;
    (void)index;
    memset(&w->climber, 0, sizeof(w->climber));
    w->climber.mesh = p->mesh;
    w->climber.balls = p->balls;
    w->cells = (pack_octree_cell_array){0};
    w->candidates = (candidate_array){0};
    w->stack = (pack_octree_cell_array){0};
    w->unresolved = 0.0;
    w->visits = 0;
    return true;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The first round whose radius is below the bound. */
static uint32_t round_of(const pack_octree_packer *p, float bound) {
    uint32_t low = p->round, high = p->rounds.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->rounds.rho[middle] < (double)bound)
            high = middle;
        else
            low = middle + 1;
    }
    CAROM_ASSERT(low == p->rounds.count || p->rounds.rho[low] < (double)bound);
    CAROM_ASSERT(low == p->round || p->rounds.rho[low - 1] >= (double)bound);
    return low;
}

/* Groups are ranges of the active cells, one after the other: no cell is in two, none is lost. */
static void octree_check_groups(const pack_octree_packer *p) {
    uint64_t end = 0;
    for (uint64_t i = 0; i < p->groups.count; ++i) {
        CAROM_ASSERT(p->groups.data[i].begin == end && p->groups.data[i].end > end);
        end = p->groups.data[i].end;
    }
    CAROM_ASSERT(end == p->active.count);
}

/* What all groups left is what the workers hold. */
static void octree_check_left(const pack_octree_packer *p) {
    uint64_t left = 0, held = 0;
    for (uint64_t i = 0; i < p->groups.count; ++i)
        left += p->groups.data[i].out_end - p->groups.data[i].out_begin;
    const pack_octree_worker *w;
    for (uint32_t i = 0; (w = carom_worker_states_next(&p->states, &i)) != NULL;)
        held += w->cells.count;
    CAROM_ASSERT(left == held);
}

/* Puts the cells that groups left where they belong, in the order of the groups. */
static bool pack_octree_collect(pack_octree_packer *p) {
    double rho = p->rounds.rho[p->round];
    octree_check_left(p);
    p->next.count = 0;
    for (uint64_t i = 0; i < p->groups.count; ++i) {
        pack_octree_group *g = &p->groups.data[i];
        const pack_octree_worker *w = p->states.states[g->worker];
        g->begin = p->next.count;
        for (uint64_t k = g->out_begin; k < g->out_end; ++k) {
            pack_octree_cell c = w->cells.data[k];
            if (!((double)c.bound > rho)) {
                uint32_t later = round_of(p, c.bound);
                if (later >= p->rounds.count) continue;
                if (!pack_octree_cell_array_push(&p->buckets[later], p->allocator, c)) return false;
            } else if (!pack_octree_cell_array_push(&p->next, p->allocator, c)) {
                return false;
            }
        }
        g->end = p->next.count;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < p->groups.count; ++i)
        if (p->groups.data[i].end > p->groups.data[i].begin)
            p->groups.data[count++] = p->groups.data[i];
    p->groups.count = count;
    pack_octree_cell_array swap = p->active;
    p->active = p->next;
    p->next = swap;
    p->candidates.count = 0;
    pack_octree_worker *w;
    for (uint32_t i = 0; (w = carom_worker_states_next(&p->states, &i)) != NULL;) {
        for (uint64_t k = 0; k < w->candidates.count; ++k)
            if (!candidate_array_push(&p->candidates, p->allocator, w->candidates.data[k]))
                return false;
        w->candidates.count = 0;
        w->cells.count = 0;
    }
    octree_check_groups(p);
    return true;
}

static int pack_octree_larger_first(const void *a, const void *b) {
    const pack_octree_candidate *c = a, *d = b;
    if (c->radius != d->radius) return c->radius > d->radius ? -1 : 1;
    return (c->group > d->group) - (c->group < d->group);
}

static bool pack_octree_done(const pack_octree_packer *p) {
    return p->balls->balls.count >= p->goal->count || p->volume >= p->goal->volume;
}

/* No empty ball is larger than the radius at which the last round ended, or than the bound of a
 * cell that was not divided any more. Open meshes have no such bound: their inside ends at holes,
 * far from all faces. */
static void octree_check_radii(const pack_octree_packer *p, uint64_t first) {
    double most = p->round != 0 ? p->rounds.rho[p->round - 1] : (double)p->rounds.root.bound;
    const pack_octree_worker *w;
    for (uint32_t i = 0; (w = carom_worker_states_next(&p->states, &i)) != NULL;)
        most = CAROM_MAX(w->unresolved, most);
    for (uint64_t i = first; i < p->balls->balls.count; ++i)
        CAROM_ASSERT(p->goal->fast || !p->mesh->balanced || p->balls->balls.data[i].radius <= most);
}

/* Inserts the balls found that overlap no other. */
static bool insert(pack_octree_packer *p) {
    uint64_t before = p->balls->balls.count;
    /* In place: candidates are few, and equal ones come from different groups. */
    if (p->candidates.count > 1)
        qsort(p->candidates.data, p->candidates.count, sizeof(pack_octree_candidate),
              pack_octree_larger_first);
    for (uint64_t i = 0; i < p->candidates.count && !pack_octree_done(p); ++i) {
        const pack_octree_candidate *c = &p->candidates.data[i];
        double to_balls =
            p->balls->balls.count != 0 ? carom_pack_balls_distance(p->balls, c->centre) : HUGE_VAL;
        double radius = carom_pack_radius(c->to_mesh, to_balls);
        if (!(radius >= p->enough)) continue;
        CAROM_ASSERT(radius <= c->radius); /* balls that were added take space, none give it */
        carom_spheres_ball ball = {c->centre.x, c->centre.y, c->centre.z, radius};
        if (!carom_pack_balls_add(p->balls, ball)) return false;
        p->volume += carom_spheres_volume(radius);
    }
    octree_check_radii(p, before);
    return true;
}

/* Takes the cells of the round and sorts them into groups, by cubes about two radii wide. */
static carom_status begin_round(pack_octree_packer *p) {
    carom_arena *scratch = carom_scratch(p->context, 0);
    pack_octree_cell_array *bucket = &p->buckets[p->round];
    uint64_t count = bucket->count;
    uint32_t bits = carom_pack_group_bits(&p->rounds, p->rounds.rho[p->round]);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    carom_status status = CAROM_OK;
    if (keys == NULL || order == NULL || count > UINT32_MAX ||
        !pack_octree_cell_array_reserve(&p->active, p->allocator, count))
        status =
            carom_fail_memory(p->context, count * sizeof(pack_octree_cell), "cells of a packing");
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        const pack_octree_cell *c = &bucket->data[i];
        CAROM_ASSERT((double)c->bound > p->rounds.rho[p->round]);
        keys[i] = carom_pack_node_group(c, bits);
        order[i] = (uint32_t)i;
    }
    if (status == CAROM_OK) status = carom_sort_keys(p->context, keys, order, count);
    p->groups.count = 0;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        p->active.data[i] = bucket->data[order[i]];
        if (i == 0 || keys[i] != keys[i - 1]) {
            pack_octree_group g = {.begin = i};
            if (!group_array_push(&p->groups, p->allocator, g))
                status = carom_fail_memory(p->context, sizeof(g), "cells of a packing");
        }
        if (status == CAROM_OK) p->groups.data[p->groups.count - 1].end = i + 1;
    }
    p->active.count = count;
    if (status == CAROM_OK) octree_check_groups(p);
    carom_arena_rewind(scratch, mark);
    pack_octree_cell_array_release(bucket, p->allocator);
    return status;
}

static carom_status pack_octree_run_round(pack_octree_packer *p) {
    CAROM_TRY(begin_round(p));
    double rho = p->rounds.rho[p->round];
    p->enough = CAROM_MAX(rho * p->rounds.fewer, p->goal->radius);
    if (p->filed == 0.0 || rho < CAROM_PACK_REFILE * p->filed) {
        double cell_edge = CAROM_MAX(CAROM_PACK_CELL_RATIO * rho, CAROM_PACK_LEAST_CELL);
        if (!carom_pack_balls_file(p->balls, cell_edge, CAROM_PACK_REACH_RATIO * rho))
            return carom_fail_memory(p->context, 0, "spheres of a packing");
        p->filed = rho;
    }
    while (p->groups.count != 0 && !pack_octree_done(p)) {
        uint64_t before = p->balls->balls.count;
        CAROM_TRY(
            carom_parallel_for(p->context, p->groups.count, OCTREE_GROUPS_PER_TASK, run_range, p));
        if (!pack_octree_collect(p) || !insert(p))
            return carom_fail_memory(p->context, p->active.count * sizeof(pack_octree_cell),
                                     "cells of a packing");
        carom_progress_add(p->context, 0, p->balls->balls.count - before);
        CAROM_TRY(carom_progress_look(p->context));
    }
    return CAROM_OK;
}

/* Units of a root's edge: its middle is CAROM_PACK_ROOT_HALF of them from its corner. */
#define OCTREE_UNITS (2.0 * CAROM_PACK_ROOT_HALF)

/* ---- The whole ------------------------------------------------------------------------------- */

/* The radii of the rounds, from that of the largest ball in the mesh's box to the smallest. */
carom_status carom_pack_rounds_make(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                    carom_pack_rounds *rounds) {
    carom_vec3 size = carom_vec_sub(mesh->high, mesh->low);
    double longest = carom_vec_largest(size), edge = longest * (1.0 + 2.0 * OCTREE_ROOT_MARGIN);
    double least = CAROM_MAX(goal->radius, CAROM_PACK_LEAST_UNITS * mesh->unit);
    double rho = 0.5 * CAROM_MIN(CAROM_MIN(size.x, size.y), size.z) * CAROM_PACK_UP;
    double fewer = (1.0 - OCTREE_EPSILON_PART * goal->epsilon) * OCTREE_ROUNDING;
    double ratio = (1.0 + goal->epsilon) * fewer;
    double first = rho;
    *rounds = (carom_pack_rounds){
        .low = carom_vec(mesh->low.x - OCTREE_ROOT_MARGIN * longest * octree_root_corner[0],
                         mesh->low.y - OCTREE_ROOT_MARGIN * longest * octree_root_corner[1],
                         mesh->low.z - OCTREE_ROOT_MARGIN * longest * octree_root_corner[2]),
        .unit = edge / OCTREE_UNITS,
        .fewer = fewer,
        .root = {carom_float_up(first, 0.0), 0.0f, CAROM_PACK_ROOT_HALF, CAROM_PACK_ROOT_HALF,
                 CAROM_PACK_ROOT_HALF, CAROM_PACK_NO_SLOT}};
    while (rounds->count < OCTREE_MOST_ROUNDS && rho > least) {
        rho /= ratio;
        ++rounds->count;
    }
    rounds->rho =
        CAROM_ARENA_TAKE(carom_scratch(mesh->context, 0), double, (uint64_t)rounds->count + 1);
    if (rounds->rho == NULL)
        return carom_fail_memory(mesh->context, rounds->count * sizeof(double), "a packing");
    rho = first;
    for (uint32_t i = 0; i < rounds->count; ++i) {
        rho /= ratio;
        /* A float, as bounds are: what is not above it does not become so when rounded. */
        rounds->rho[i] = (double)carom_float_up(CAROM_MAX(rho, least), 0.0);
        CAROM_ASSERT(rounds->rho[i] >= least && (i == 0 || rounds->rho[i] <= rounds->rho[i - 1]));
    }
    return CAROM_OK;
}

uint32_t carom_pack_group_bits(const carom_pack_rounds *rounds, double rho) {
    uint32_t bits = 1;
    double edge = rounds->unit * OCTREE_UNITS;
    while (bits < OCTREE_GROUP_BITS &&
           edge * carom_power_of_two(-(int)bits) > OCTREE_GROUP_EDGE * rho)
        ++bits;
    return bits;
}

static carom_status pack_octree_begin(pack_octree_packer *p) {
    CAROM_TRY(carom_pack_rounds_make(p->mesh, p->goal, &p->rounds));
    uint32_t count = p->rounds.count;
    p->buckets =
        CAROM_ARENA_TAKE(carom_scratch(p->context, 0), pack_octree_cell_array, (uint64_t)count + 1);
    if (p->buckets == NULL)
        return carom_fail_memory(p->context, count * sizeof(pack_octree_cell_array), "a packing");
    for (uint32_t i = 0; i < count; ++i) p->buckets[i] = (pack_octree_cell_array){0};
    if (count != 0 && !pack_octree_cell_array_push(&p->buckets[0], p->allocator, p->rounds.root))
        return carom_fail_memory(p->context, sizeof(pack_octree_cell), "a packing");
    return carom_worker_states_begin(&p->states, p->context, sizeof(pack_octree_worker),
                                     pack_octree_begin_worker, p);
}

static void pack_octree_release(pack_octree_packer *p) {
    pack_octree_worker *w;
    if (p->states.states != NULL) {
        for (uint32_t i = 0; (w = carom_worker_states_next(&p->states, &i)) != NULL;) {
            pack_octree_cell_array_release(&w->cells, p->allocator);
            pack_octree_cell_array_release(&w->stack, p->allocator);
            candidate_array_release(&w->candidates, p->allocator);
        }
        carom_worker_states_release(&p->states);
    }
    for (uint32_t i = 0; p->buckets != NULL && i < p->rounds.count; ++i)
        pack_octree_cell_array_release(&p->buckets[i], p->allocator);
    pack_octree_cell_array_release(&p->active, p->allocator);
    pack_octree_cell_array_release(&p->next, p->allocator);
    group_array_release(&p->groups, p->allocator);
    candidate_array_release(&p->candidates, p->allocator);
}

/* The largest bound of all cells that are left. Those below the last round's radius are gone. */
static double largest_left(const pack_octree_packer *p) {
    double most = p->rounds.count != 0 ? p->rounds.rho[p->rounds.count - 1] : HUGE_VAL;
    pack_octree_worker *w;
    for (uint32_t i = 0; (w = carom_worker_states_next(&p->states, &i)) != NULL;)
        most = CAROM_MAX(w->unresolved, most);
    for (uint64_t i = 0; i < p->active.count; ++i)
        most = CAROM_MAX((double)p->active.data[i].bound, most);
    for (uint32_t k = 0; k < p->rounds.count; ++k)
        for (uint64_t i = 0; i < p->buckets[k].count; ++i)
            most = CAROM_MAX((double)p->buckets[k].data[i].bound, most);
    return most;
}

carom_status carom_pack_by_octree(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome) {
    if (mesh->context->backend == CAROM_BACKEND_CUDA)
        return carom_pack_on_device(mesh, goal, balls, outcome);
    pack_octree_packer p = {.context = mesh->context,
                            .mesh = mesh,
                            .goal = goal,
                            .balls = balls,
                            .allocator = &mesh->context->allocator};
    carom_status status = pack_octree_begin(&p);
    for (; status == CAROM_OK && p.round < p.rounds.count && !pack_octree_done(&p); ++p.round)
        if (p.buckets[p.round].count != 0) status = pack_octree_run_round(&p);
    if (status == CAROM_OK) {
        outcome->volume = p.volume;
        outcome->empty = goal->fast ? HUGE_VAL : largest_left(&p);
        CAROM_ASSERT(outcome->empty >= goal->radius);
        pack_octree_worker *w;
        for (uint32_t i = 0; (w = carom_worker_states_next(&p.states, &i)) != NULL;)
            outcome->visits += w->visits;
    }
    pack_octree_release(&p);
    return status;
}
