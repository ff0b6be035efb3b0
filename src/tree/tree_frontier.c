/* SPDX-License-Identifier: MIT */
/* The estimate of an overlap under a budget. Pairs of nodes are opened one after the other, those
 * that add most to the volume first, and those that still wait when the budget ends count as the
 * lenses of their moments (tree_moments.h). So the estimate is fair from the first pair on, and the
 * exact part of it grows fastest.
 *
 * Pairs of inner nodes, a tenth of all, come first: the moments of leaves tell far more than
 * theirs. Once only leaves wait and the budget is enough for all, their order has no effect, and
 * they are opened in the order in which they were found: neighbours share the spheres that were
 * posed. Sums are in fixed point, so that the estimate is then that of the search without a budget,
 * bit for bit. */
#include "tree/tree_frontier.h"

#include "base/assert.h"
#include "tree/tree_query.h"

bool carom_tree_frontier_grow(carom_tree_frontier *f) {
    uint32_t capacity = 2 * f->capacity;
    carom_tree_waiting *pairs = NULL;
    if (capacity > f->capacity) pairs = CAROM_ARENA_TAKE(f->scratch, carom_tree_waiting, capacity);
    if (pairs == NULL) {
        f->full = true;
        return false;
    }
    if (f->count != 0) memcpy(pairs, f->pairs, f->count * sizeof(*pairs));
    f->pairs = pairs;
    f->capacity = capacity;
    return true;
}

/* Takes the heaviest pair out of a queue that has any, up to a factor of sqrt(2). */
static carom_tree_waiting tree_frontier_take(carom_tree_frontier *f, carom_tree_queue *q) {
    CAROM_ASSERT(q->count != 0 && q->used != 0);
    for (;;) {
        uint32_t bucket = (uint32_t)__builtin_ctzll(q->used), at = q->first[bucket];
        while (at != CAROM_TREE_NONE && f->pairs[at].weight < 0.0f) at = f->pairs[at].next;
        q->first[bucket] = at == CAROM_TREE_NONE ? at : f->pairs[at].next;
        if (q->first[bucket] == CAROM_TREE_NONE) q->used &= q->used - 1;
        if (at == CAROM_TREE_NONE) continue;
        carom_tree_waiting pair = f->pairs[at];
        f->pairs[at].weight = -1.0f;
        f->weight -= (double)pair.weight;
        q->count -= 1;
        return pair;
    }
}

/* ---- The search ------------------------------------------------------------------------------ */

/* Opens all pairs, which are leaves, in their order; until it seems that the budget will not be
 * enough. */
static void tree_frontier_sweep(carom_context *context, carom_tree_overlap_search *s) {
    carom_tree_frontier *f = s->frontier;
    for (uint32_t at = 0; f->leaves.count != 0;) {
        if (carom_tree_must_stop(&s->budget) ||
            f->leaves.count > carom_tree_visits_left(&s->budget))
            break;
        at = CAROM_CPU_CALL(context, carom_tree_open_leaves)(s, at);
    }
}

void carom_tree_frontier_run_inner(carom_context *context, carom_tree_overlap_search *s) {
    carom_tree_frontier *f = s->frontier;
    while (f->inner.count != 0 && !f->full && !carom_tree_must_stop(&s->budget)) {
        carom_tree_waiting pair = tree_frontier_take(f, &f->inner);
        CAROM_CPU_CALL(context, carom_tree_open_pair)(s, &pair);
    }
}

void carom_tree_frontier_run_leaves(carom_context *context, carom_tree_overlap_search *s) {
    const carom_tree_frontier *f = s->frontier;
    CAROM_ASSERT(f->inner.count == 0);
    for (uint32_t at = 0; f->leaves.count != 0 && !carom_tree_must_stop(&s->budget);)
        at = CAROM_CPU_CALL(context, carom_tree_open_leaves)(s, at);
    CAROM_CPU_CALL(context, carom_tree_flush_pairs)(s);
}

void carom_tree_frontier_run(carom_context *context, carom_tree_overlap_search *s) {
    carom_tree_frontier *f = s->frontier;
    carom_tree_budget *budget = &s->budget;
    carom_tree_frontier_run_inner(context, s);
    while (f->inner.count + f->leaves.count != 0 && !f->full && !carom_tree_must_stop(budget)) {
        if (f->leaves.count <= carom_tree_visits_left(budget)) {
            tree_frontier_sweep(context, s);
            continue;
        }
        carom_tree_waiting pair = tree_frontier_take(f, &f->leaves);
        CAROM_CPU_CALL(context, carom_tree_open_pair)(s, &pair);
    }
    CAROM_CPU_CALL(context, carom_tree_flush_pairs)(s);
}

/* Pairs that there is space for at first: of each leaf so many, which is enough for overlaps of up
 * to a tenth of the solids, and no more than a megabyte. */
#define TREE_FRONTIER_PER_LEAF 4u
#define TREE_FRONTIER_MOST     32768u

bool carom_tree_frontier_begin(carom_context *context, carom_arena *scratch,
                               carom_tree_overlap_search *s, carom_tree_frontier *f) {
    uint64_t leaves = (uint64_t)s->fixed.tree->leaf_count + s->moving.tree->leaf_count;
    memset(f, 0, sizeof(*f));
    memset(f->inner.first, 0xff, sizeof(f->inner.first)); /* CAROM_TREE_NONE */
    memset(f->leaves.first, 0xff, sizeof(f->leaves.first));
    f->scratch = scratch;
    f->capacity = (uint32_t)CAROM_MIN(TREE_FRONTIER_PER_LEAF * leaves, TREE_FRONTIER_MOST);
    f->pairs = CAROM_ARENA_TAKE(scratch, carom_tree_waiting, f->capacity);
    if (f->pairs == NULL) return false;
    s->frontier = f;
    CAROM_CPU_CALL(context, carom_tree_open_roots)(s);
    return !f->full;
}

/* ---- What waits ------------------------------------------------------------------------------ */

/* Pairs whose force, torque and so on are computed, of those that wait when a budget ends, the
 * heaviest first: so many, and one for so many visits, unless it is late. They take about as long
 * as visits do. */
#define TREE_REST_PAIRS  64u
#define TREE_REST_VISITS 2u

/* The moment of a node in the world. */
static carom_ball tree_frontier_ball(const carom_tree_side *side, uint32_t node) {
    const carom_tree_moment *m = &side->tree->moments[node];
    double unit = carom_power_of_two(-side->tree->shift);
    carom_vec3 centre =
        carom_vec_add(carom_vec_scale(carom_vec((double)m->x, (double)m->y, (double)m->z), unit),
                      side->tree->origin);
    return (carom_ball){carom_spheres_pose_centre(side->transform, centre),
                        (double)m->radius * unit * side->transform->scale};
}

static void tree_frontier_add_lens(const carom_tree_overlap_search *s,
                                   const carom_tree_waiting *pair, carom_spheres_lenses *sum) {
    carom_ball fixed = tree_frontier_ball(&s->fixed, pair->fixed);
    carom_ball moving = tree_frontier_ball(&s->moving, pair->moving);
    double density = (double)s->fixed.tree->moments[pair->fixed].density *
                     (double)s->moving.tree->moments[pair->moving].density;
    carom_spheres_term term;
    if (!carom_spheres_pair(s->posed->swapped ? &moving : &fixed,
                            s->posed->swapped ? &fixed : &moving, s->posed->world.pivot, &term))
        return;
    sum->volume += term.volume * density;
    sum->force = carom_vec_add(sum->force, carom_vec_scale(term.force, density));
    sum->torque = carom_vec_add(sum->torque, carom_vec_scale(term.torque, density));
    sum->direction = carom_vec_add(sum->direction, carom_vec_scale(term.direction, density));
    sum->moment = carom_vec_add(sum->moment, carom_vec_scale(term.moment, density));
}

/* Adds the lenses of the heaviest pairs of a queue; returns how many are still wanted. */
static uint64_t tree_frontier_add_queue(const carom_tree_overlap_search *s,
                                        const carom_tree_queue *q, uint64_t wanted,
                                        carom_spheres_lenses *sum) {
    for (uint64_t used = q->used; used != 0 && wanted != 0; used &= used - 1) {
        uint32_t at = q->first[__builtin_ctzll(used)];
        for (; at != CAROM_TREE_NONE && wanted != 0; at = s->frontier->pairs[at].next) {
            const carom_tree_waiting *pair = &s->frontier->pairs[at];
            if (!(pair->weight > 0.0f)) continue;
            tree_frontier_add_lens(s, pair, sum);
            --wanted;
        }
    }
    return wanted;
}

void carom_tree_frontier_add_rest(const carom_tree_overlap_search *s, carom_spheres_lenses *sum) {
    const carom_tree_frontier *f = s->frontier;
    double back = 1.0 / s->posed->to_frame;
    double all = sum->volume + CAROM_MAX(f->weight, 0.0) * (back * back * back);
    uint64_t wanted = TREE_REST_PAIRS + (f->late ? 0 : s->budget.visits / TREE_REST_VISITS);
    wanted = tree_frontier_add_queue(s, &f->inner, wanted, sum);
    (void)tree_frontier_add_queue(s, &f->leaves, wanted, sum);
    /* Lighter pairs count as these do. */
    double factor = sum->volume > 0.0 ? all / sum->volume : 0.0;
    sum->volume = all;
    sum->force = carom_vec_scale(sum->force, factor);
    sum->torque = carom_vec_scale(sum->torque, factor);
    sum->direction = carom_vec_scale(sum->direction, factor);
    sum->moment = carom_vec_scale(sum->moment, factor);
}
