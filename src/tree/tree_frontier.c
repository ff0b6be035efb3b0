/* SPDX-License-Identifier: MIT */
/* The estimate of an overlap under a budget. Pairs of nodes are opened one after the other, those
 * that add most to the volume first, and those that still wait when the budget ends count as the
 * lenses of their moments (tree_moments.h). So the estimate is fair from the first pair on, and the
 * exact part of it grows fastest.
 *
 * Pairs of inner nodes, a tenth of all, come first: the moments of leaves tell far more than
 * theirs. Then there is a list of leaves, opened in the order in which they were found, as
 * neighbours share the spheres that were posed. What they take tells whether the budget is enough
 * for all. If so, nothing is weighed, and the estimate takes as long as that of no budget. If not,
 * pairs are weighed, and the heaviest of them opened, as many as there will be time for, in the
 * same order. Sums are in fixed point, so that the order has no effect, and an estimate of all
 * pairs is that of the search without a budget, bit for bit. */
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
        carom_tree_frontier_remove(f, q, &f->pairs[at]);
        return pair;
    }
}

/* ---- The search ------------------------------------------------------------------------------ */

void carom_tree_frontier_run_inner(carom_context *context, carom_tree_overlap_search *s) {
    carom_tree_frontier *f = s->frontier;
    while (f->inner.count != 0 && !f->full && !carom_tree_must_stop(&s->budget)) {
        carom_tree_waiting pair = tree_frontier_take(f, &f->inner);
        CAROM_CPU_CALL(context, carom_tree_open_pair)(s, &pair);
    }
}

/* The least weight of the heaviest leaves that wait, whole buckets of them, `most` at most; 0: all,
 * or they are not weighed; infinite: not even the first bucket. */
static float tree_frontier_least(const carom_tree_frontier *f, uint64_t most) {
    uint64_t count = 0;
    uint32_t bucket = 0;
    if (!f->weighed || f->leaves.count <= most) return 0.0f;
    while (count + f->leaves.sizes[bucket] <= most) count += f->leaves.sizes[bucket++];
    if (count == 0) return HUGE_VALF;
    uint32_t bits = (f->top - (bucket - 1)) << CAROM_TREE_HALF_POWER_SHIFT;
    float least;
    memcpy(&least, &bits, sizeof(least));
    return f->top >= bucket - 1 ? least : 0.0f;
}

/* Weighs the pairs that wait, and takes the time of that out of what visits took. */
static void tree_frontier_weigh(carom_context *context, carom_tree_overlap_search *s) {
    carom_tree_budget *budget = &s->budget;
    if (s->frontier->weighed) return;
    CAROM_CPU_CALL(context, carom_tree_weigh_pairs)(s, UINT64_MAX);
    if (!(budget->deadline < HUGE_VAL)) return;
    double now = carom_time_seconds();
    budget->begun += now - budget->looked;
    budget->looked = now;
    budget->look_at = budget->visits + CAROM_TREE_CLOCK_VISITS; /* heavy ones take longer */
}

/* Pairs that are weighed in the time of a visit. */
#define TREE_WEIGHED_PER_VISIT 8u

/* Whether a budget is enough for all leaves, by what those took that were opened. That varies from
 * leaf to leaf by about as much as it is, so that the mean of n of them is off by a part of
 * 1 / sqrt(n): they have the benefit of the doubt, as long as there is time to weigh them, should
 * they not fit. */
static bool tree_frontier_all_fit(carom_tree_overlap_search *s, const carom_tree_limits *whole,
                                  const carom_tree_limits *part) {
    carom_tree_budget *b = &s->budget;
    double count = (double)s->frontier->leaves.count, doubt = 0.0;
    carom_tree_set_limits(b, part);
    if (b->mean > 0.0 && (double)carom_tree_visits_left(b) * TREE_WEIGHED_PER_VISIT > count)
        doubt = 1.0 / sqrt((double)(b->looked_at - b->begun_at));
    carom_tree_set_limits(b, whole);
    return (1.0 - doubt) * count <= (double)carom_tree_visits_left(b);
}

/* Whether leaves may be opened, and up to which limits: all of the budget if that is enough for all
 * of them, else a part, and they are weighed. */
static bool tree_frontier_plan(carom_context *context, carom_tree_overlap_search *s,
                               const carom_tree_limits *whole, const carom_tree_limits *part) {
    carom_tree_budget *budget = &s->budget;
    carom_tree_set_limits(budget, whole);
    if (carom_tree_must_stop(budget)) return false;
    if (tree_frontier_all_fit(s, whole, part)) return true;
    carom_tree_set_limits(budget, part);
    tree_frontier_weigh(context, s);
    uint64_t left = carom_tree_visits_left(budget);
    budget->stopped = left == 0;
    if (budget->deadline < HUGE_VAL) { /* the next look is by this deadline */
        uint64_t step = (uint64_t)(CAROM_TREE_CLOCK_PART * (double)left);
        step = CAROM_MAX(step, CAROM_TREE_CLOCK_VISITS);
        budget->look_at = CAROM_MIN(budget->look_at, budget->visits + step);
    }
    return !budget->stopped;
}

void carom_tree_frontier_run_leaves(carom_context *context, carom_tree_overlap_search *s,
                                    const carom_tree_limits *whole, const carom_tree_limits *part) {
    carom_tree_frontier *f = s->frontier;
    carom_tree_budget *budget = &s->budget;
    CAROM_ASSERT(f->inner.count == 0);
    carom_tree_begin_visits(budget);
    for (uint32_t at = 0; f->leaves.count != 0; at = at == f->count ? 0 : at) {
        /* What was opened is computed before the clock is looked at, so that it counts. */
        if (budget->visits >= budget->look_at) CAROM_CPU_CALL(context, carom_tree_flush_pairs)(s);
        if (!tree_frontier_plan(context, s, whole, part)) break;
        float least = tree_frontier_least(f, carom_tree_visits_left(budget));
        if (least < HUGE_VALF) {
            at = CAROM_CPU_CALL(context, carom_tree_open_leaves)(s, at, least);
        } else {
            carom_tree_waiting pair = tree_frontier_take(f, &f->leaves);
            CAROM_CPU_CALL(context, carom_tree_open_pair)(s, &pair);
        }
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
    carom_tree_queue_clear(&f->inner);
    carom_tree_queue_clear(&f->leaves);
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
 * heaviest first: so many, and one for so many visits. They take about as long as visits do. Under
 * a deadline it is looked at the clock after each TREE_REST_CLOCK, which take about 1 us. */
#define TREE_REST_PAIRS  64u
#define TREE_REST_VISITS 2u
#define TREE_REST_CLOCK  4u

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
                                        const carom_tree_queue *q, uint64_t wanted, double deadline,
                                        carom_spheres_lenses *sum) {
    uint64_t added = 0;
    for (uint64_t used = q->used; used != 0 && wanted != 0; used &= used - 1) {
        uint32_t at = q->first[__builtin_ctzll(used)];
        for (; at != CAROM_TREE_NONE && wanted != 0; at = s->frontier->pairs[at].next) {
            const carom_tree_waiting *pair = &s->frontier->pairs[at];
            if (!(pair->weight > 0.0f)) continue;
            tree_frontier_add_lens(s, pair, sum);
            --wanted;
            if (++added % TREE_REST_CLOCK == 0 && deadline < HUGE_VAL &&
                carom_time_seconds() >= deadline)
                return 0;
        }
    }
    return wanted;
}

void carom_tree_frontier_add_rest(const carom_tree_overlap_search *s, double deadline,
                                  carom_spheres_lenses *sum) {
    const carom_tree_frontier *f = s->frontier;
    double back = 1.0 / s->posed->to_frame;
    double all = sum->volume + CAROM_MAX(f->weight, 0.0) * (back * back * back);
    uint64_t wanted = TREE_REST_PAIRS + s->budget.visits / TREE_REST_VISITS;
    wanted = tree_frontier_add_queue(s, &f->inner, wanted, deadline, sum);
    (void)tree_frontier_add_queue(s, &f->leaves, wanted, deadline, sum);
    /* Lighter pairs count as these do. */
    double factor = sum->volume > 0.0 ? all / sum->volume : 0.0;
    sum->volume = all;
    sum->force = carom_vec_scale(sum->force, factor);
    sum->torque = carom_vec_scale(sum->torque, factor);
    sum->direction = carom_vec_scale(sum->direction, factor);
    sum->moment = carom_vec_scale(sum->moment, factor);
}
