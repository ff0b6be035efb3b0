/* SPDX-License-Identifier: MIT */
/* The overlap of two trees, and the faces where they overlap. A search (tree_cpu.c) adds up the
 * lenses of all pairs of spheres and marks spheres; here the sums become bounds, as defined in
 * spheres_overlap_item.h. With a tolerance the octrees of both solids are searched first
 * (tree_cells_overlap.c), or, of trees without meshes, the spheres level by level. With a budget
 * the estimate comes first (tree_frontier.c), and these bounds with what is left.
 *
 * Invariant: 0 <= lower <= upper at every exit, and the overlap of the solids is in between. The
 * estimate is a sum of lenses of its own; where a budget or a tolerance ended the search, it is put
 * between the bounds. */
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "tree/tree_device.h"
#include "tree/tree_query.h"

/* ---- Sums of spheres ------------------------------------------------------------------------- */

/* Pairs whose inner lenses, in units of 2^-40 of the largest, have a sum of 63 bits. Bounds of more
 * pairs than that are not narrowed. */
#define TREE_SUM_PAIRS (UINT64_C(1) << (63 - CAROM_TREE_LENS_BITS))

/* What the marks of one side add up to. */
typedef struct side_sums {
    carom_spheres_flagged flagged, open; /* open: flagged, but not inside; with their voids */
    uint64_t marked_voids;
    uint64_t inside;
    double inside_volume; /* of the shares inside, in the world */
    double open_volume;   /* of the open ones */
    uint64_t open_lenses; /* inner lenses of the open ones, in units */
} side_sums;

/* Bits of the largest possible sum of shares: two of them, and a sign, fit 64. */
#define TREE_SHARE_BITS 61

/* Adds up the marks of the first `leaves`. */
static side_sums sum_marks(const carom_tree_side *side, uint32_t leaves) {
    side_sums sum = {{0, 0}, {0, 0}, 0, 0, 0.0, 0.0, 0};
    /* Shares are integers: the order has no effect. */
    double largest = 8.0 * side->tree->extent.radius * side->tree->extent.radius *
                     side->tree->extent.radius * (double)side->tree->extent.count;
    int scale = carom_exponent(largest) + 1 - TREE_SHARE_BITS;
    double units = carom_power_of_two(-scale);
    uint64_t shares = 0, open_shares = 0;
    for (uint32_t i = 0; i < leaves; ++i) {
        const carom_tree_marks *m = &side->marks[i];
        const carom_tree_leaf *leaf = &side->tree->leaves[i];
        for (uint32_t set = m->flagged | m->marked; set != 0; set &= set - 1) {
            int lane = __builtin_ctz(set);
            if (m->marked >> lane & 1) sum.marked_voids += leaf->void_units[lane];
            if (!(m->flagged >> lane & 1)) continue;
            sum.flagged.voids += leaf->void_units[lane];
            sum.flagged.count += 1;
            double r = leaf->secondary[lane];
            uint64_t share = (uint64_t)(4.0 / 3.0 * CAROM_PI * (r * r * r) * units);
            if (m->inside >> lane & 1) {
                shares += share;
                sum.inside += 1;
            } else {
                open_shares += share;
                sum.open.voids += leaf->void_units[lane];
                sum.open.count += 1;
                if (m->summed != 0)
                    sum.open_lenses += side->sums[i * CAROM_TREE_WIDTH + (uint32_t)lane];
            }
        }
    }
    /* Voids of flagged spheres are those of open ones and of those inside, and at most all. */
    CAROM_ASSERT(sum.flagged.count == sum.inside + sum.open.count);
    CAROM_ASSERT(sum.flagged.count <= side->tree->extent.count);
    CAROM_ASSERT(sum.open.voids <= sum.flagged.voids && sum.flagged.voids >> 63 == 0);
    CAROM_ASSERT(sum.marked_voids >> 63 == 0 && (shares + open_shares) >> TREE_SHARE_BITS == 0);
    double size = side->transform->scale;
    sum.inside_volume = (double)shares * carom_power_of_two(scale) * (size * size * size);
    sum.open_volume = (double)open_shares * carom_power_of_two(scale) * (size * size * size);
    return sum;
}

/* Bounds by the spheres of one side: those inside the other solid count with their shares, and only
 * the open ones leave room for what is in no ball. A point of both solids that is in the share of
 * an open sphere is in inner balls of both; or in the void of that share; or in the void of a share
 * of the other, whose cover meets that of the open sphere and whose depth does not contain it, as
 * that would not be open: it is marked. */
static void narrow(const carom_tree_overlap_search *s, const side_sums *own,
                   const carom_tree_side *side, const side_sums *other,
                   const carom_tree_side *other_side, carom_packing_overlap *overlap) {
    const carom_spheres_totals *totals = &s->totals;
    double scale = carom_power_of_two(s->posed->world.scales.volume.scale);
    double error = carom_sum_value(totals->inner_error, s->posed->world.scales.volume.scale) +
                   (double)totals->inner_pairs * scale;
    double lenses = (double)own->open_lenses / s->units;
    double rounded = (double)totals->inner_pairs / s->units; /* each was rounded down */
    double voids = carom_spheres_void_value(&side->tree->extent, side->transform, own->open.voids) +
                   carom_spheres_void_value(&other_side->tree->extent, other_side->transform,
                                            other->marked_voids);
    double lower = own->inside_volume * (1.0 - CAROM_TREE_SHARE_ERROR) + (lenses - error);
    double upper =
        own->inside_volume * (1.0 + CAROM_TREE_SHARE_ERROR) + (lenses + rounded + error + voids);
    double shares = (own->inside_volume + own->open_volume) * (1.0 + CAROM_TREE_SHARE_ERROR);
    upper = CAROM_MIN(upper, shares); /* no more than the shares themselves */
    lower *= 1.0 - CAROM_TREE_SLACK;
    upper *= 1.0 + CAROM_TREE_SLACK;
    overlap->volume.lower = CAROM_MAX(lower, overlap->volume.lower);
    overlap->volume.upper = CAROM_MIN(upper, overlap->volume.upper);
}

static bool take_marks(carom_arena *scratch, carom_tree_side *side, bool sums) {
    uint64_t leaves = side->tree->leaf_count;
    side->marks = CAROM_ARENA_TAKE(scratch, carom_tree_marks, leaves);
    if (sums) side->sums = CAROM_ARENA_TAKE(scratch, uint64_t, leaves * CAROM_TREE_WIDTH);
    if (side->marks == NULL || (sums && side->sums == NULL)) return false;
    return true;
}

static bool take_scratch(carom_arena *scratch, carom_tree_overlap_search *s) {
    s->batch = CAROM_ARENA_TAKE(scratch, carom_spheres_batch, 1);
    s->moving.cache = CAROM_ARENA_TAKE(scratch, carom_tree_posed, CAROM_TREE_POSED);
    if (s->batch == NULL || s->moving.cache == NULL) return false;
    for (uint32_t i = 0; i < CAROM_TREE_POSED; ++i) s->moving.cache[i].leaf = CAROM_TREE_NONE;
    if (s->bounds &&
        !(take_marks(scratch, &s->fixed, s->narrow) && take_marks(scratch, &s->moving, s->narrow)))
        return false;
    if (!s->narrow && !s->slots && !s->flip) return true;
    s->fixed_slots = CAROM_ARENA_TAKE(scratch, uint32_t, CAROM_SPHERES_BATCH + CAROM_TREE_WIDTH);
    s->moving_slots = CAROM_ARENA_TAKE(scratch, uint32_t, CAROM_SPHERES_BATCH + CAROM_TREE_WIDTH);
    return s->fixed_slots != NULL && s->moving_slots != NULL;
}

/* Narrows the bounds from both sides, and says what lies in what. */
static void narrow_both(const carom_tree_overlap_search *s, const side_sums sums[2],
                        carom_packing_overlap *overlap) {
    const carom_tree_side *a = s->posed->swapped ? &s->moving : &s->fixed;
    const carom_tree_side *b = s->posed->swapped ? &s->fixed : &s->moving;
    if (s->totals.inner_pairs >= TREE_SUM_PAIRS) return;
    narrow(s, &sums[0], a, &sums[1], b, overlap);
    narrow(s, &sums[1], b, &sums[0], a, overlap);
    overlap->volume.lower = CAROM_MIN(overlap->volume.lower, overlap->volume.upper);
    if (sums[0].inside + sums[1].inside != 0) overlap->relation = CAROM_RELATION_OVERLAPPING;
    if (sums[0].inside == a->tree->extent.count)
        overlap->relation = CAROM_RELATION_A_INSIDE_B;
    else if (sums[1].inside == b->tree->extent.count)
        overlap->relation = CAROM_RELATION_B_INSIDE_A;
}

/* Adds up what a search found. */
static void finish_overlap(const carom_tree_overlap_search *s, carom_packing_overlap *overlap) {
    const carom_tree *a = s->posed->a, *b = s->posed->b;
    side_sums sums[2];
    carom_spheres_flagged flagged[2];
    if (s->bounds) {
        sums[s->posed->swapped] = sum_marks(&s->fixed, s->fixed.tree->leaf_count);
        sums[!s->posed->swapped] = sum_marks(&s->moving, s->moving.tree->leaf_count);
        for (int i = 0; i < 2; ++i) flagged[i] = sums[i].flagged;
    }
    memset(overlap, 0, sizeof(*overlap));
    carom_spheres_overlap_finish(&s->totals, &s->posed->world, &a->extent, &b->extent,
                                 s->bounds ? flagged : NULL, overlap);
    if (s->narrow && !s->whole) narrow_both(s, sums, overlap);
    if (s->flip)
        overlap->direction_2009 =
            carom_spheres_vec_value(s->flipped, &s->posed->world.scales.direction);
    if (!s->whole) return;
    /* Points of both solids are in spheres that were compared, or below nodes that were not. */
    const double *scales[2] = {&s->fixed.transform->scale, &s->moving.transform->scale};
    double fixed = s->fixed.coarse_volume * (*scales[0] * *scales[0] * *scales[0]);
    double moving = s->moving.coarse_volume * (*scales[1] * *scales[1] * *scales[1]);
    double upper = overlap->volume.upper + CAROM_MIN(fixed, moving) * (1.0 + CAROM_TREE_SLACK);
    double most = carom_spheres_most_volume(&a->extent, &b->extent, &s->posed->world);
    overlap->volume.upper = CAROM_MIN(upper, most);
    double sign = s->posed->swapped ? -1.0 : 1.0; /* forces are on b */
    overlap->volume.value += s->rest.volume;
    carom_vec3 force = carom_frame_turn(&s->fixed.transform->frame, s->rest.force);
    overlap->force = carom_vec_add(overlap->force, carom_vec_scale(force, sign));
    if (overlap->relation == CAROM_RELATION_APART) overlap->relation = CAROM_RELATION_TOUCHING;
    overlap->partial = true;
}

/* Searches once, down to a number of levels. */
static void search_levels(carom_context *context, carom_tree_overlap_search *s, uint32_t levels) {
    carom_tree_side *sides[2] = {&s->fixed, &s->moving};
    for (int i = 0; i < 2; ++i) {
        const carom_tree *tree = sides[i]->tree;
        if (s->bounds) memset(sides[i]->marks, 0, tree->leaf_count * sizeof(carom_tree_marks));
        if (sides[i]->coarse != NULL)
            memset(sides[i]->coarse, 0, (uint64_t)tree->inner_count + tree->leaf_count);
        sides[i]->coarse_volume = 0.0;
    }
    memset(&s->totals, 0, sizeof(s->totals));
    memset(&s->rest, 0, sizeof(s->rest));
    memset(s->flipped, 0, sizeof(s->flipped));
    s->whole = false;
    s->levels = levels;
    carom_tree_begin_visits(&s->budget);
    CAROM_CPU_CALL(context, carom_tree_search_overlap)(s);
}

static bool take_coarse(carom_arena *scratch, carom_tree_side *side) {
    uint64_t nodes = (uint64_t)side->tree->inner_count + side->tree->leaf_count;
    side->coarse = CAROM_ARENA_TAKE(scratch, uint8_t, nodes);
    return side->coarse != NULL;
}

/* ---- Overlap by cells ------------------------------------------------------------------------ */

/* Cells to visit where a tolerance is to be reached: TREE_TOLERANCE_CELLS and one for
 * TREE_SPHERES_PER_CELL spheres, so that this takes about as long as the search of all spheres at
 * most; no more than TREE_TOLERANCE_CELLS_MAX, with about 250 bytes of scratch memory each. */
#define TREE_TOLERANCE_CELLS     1024u
#define TREE_SPHERES_PER_CELL    16u
#define TREE_TOLERANCE_CELLS_MAX 16384u

/* Narrow bounds visit half as many cells as the search visited nodes, so that both take half as
 * long again, as tree.h says; at least and at most these. */
#define TREE_NARROW_CELLS_MIN 64u
#define TREE_NARROW_CELLS_MAX 4096u

/* Narrow bounds are not made narrower than this part of the volume. */
#define TREE_NARROW_TOLERANCE 0x1p-6

/* Whether octrees of both solids are there, and can bound the overlap (tree_cells.h). */
static bool uses_cells(const carom_tree_overlap_search *s) {
    return s->bounds && !s->posed->apart && !s->posed->far && s->fixed.tree->cells.count != 0 &&
           s->moving.tree->cells.count != 0;
}

/* Bounds it by them, with all of a budget. False: no memory. */
static bool tree_search_cells(carom_arena *scratch, carom_tree_overlap_search *s,
                              const carom_tree_query_def *def, carom_tree_cells_search *c) {
    const carom_tree *fixed_tree = s->fixed.tree, *moving_tree = s->moving.tree;
    const carom_tree_cells *fixed = &fixed_tree->cells, *moving = &moving_tree->cells;
    bool budget = def->work_budget != 0 || def->time_budget > 0.0, tolerant = def->tolerance > 0.0;
    uint64_t most = TREE_TOLERANCE_CELLS +
                    (fixed_tree->extent.count + moving_tree->extent.count) / TREE_SPHERES_PER_CELL;
    most = CAROM_MIN(most, TREE_TOLERANCE_CELLS_MAX);
    if (!budget && !tolerant) {
        most = CAROM_MIN(s->budget.visits / 2, TREE_NARROW_CELLS_MAX);
        most = CAROM_MAX(most, TREE_NARROW_CELLS_MIN);
    }
    most = CAROM_MIN(s->budget.most_visits - s->budget.visits, most);
    void *memory = carom_arena_take(scratch, carom_tree_cells_scratch((uint32_t)most), 1);
    if (memory == NULL) return false;
    *c = (carom_tree_cells_search){.fixed = fixed,
                                   .moving = moving,
                                   .scale = s->posed->motion_scale,
                                   .tolerance = tolerant ? def->tolerance : TREE_NARROW_TOLERANCE,
                                   .give_up = tolerant,
                                   .most = (uint32_t)most,
                                   .deadline = s->budget.deadline,
                                   .skip_forces = budget || !tolerant};
    for (int k = 0; k < 9; ++k) c->turn[k] = s->posed->motion[k] / s->posed->motion_scale;
    for (int k = 0; k < 3; ++k) c->move[k] = s->posed->motion[9 + k];
    double far = fabs(c->move[0]) + fabs(c->move[1]) + fabs(c->move[2]);
    c->slack = 4.0 * s->posed->motion_error + s->posed->world.slack * s->posed->to_frame +
               CAROM_TREE_SLACK * (8.0 + far);
    carom_tree_cells_overlap(c, memory);
    s->budget.visits += c->visits;
    return true;
}

/* Lengths of the moving tree's frame in the world. */
static double tree_overlap_unit(const carom_tree_overlap_search *s) {
    const carom_tree_side *moving = &s->moving;
    return carom_power_of_two(-moving->tree->shift) * moving->transform->scale;
}

/* Takes the better of the bounds of spheres and of cells. */
static void merge_cells(const carom_tree_overlap_search *s, const carom_tree_cells_search *c,
                        carom_packing_overlap *overlap) {
    double unit = tree_overlap_unit(s), cube = unit * unit * unit;
    double lower = c->lower * cube * (1.0 - CAROM_TREE_SLACK),
           upper = c->upper * cube * (1.0 + CAROM_TREE_SLACK);
    overlap->volume.lower = CAROM_MAX(lower, overlap->volume.lower);
    overlap->volume.upper = CAROM_MIN(upper, overlap->volume.upper);
    overlap->volume.lower = CAROM_MIN(overlap->volume.lower, overlap->volume.upper);
    if (c->inside)
        overlap->relation =
            s->posed->swapped ? CAROM_RELATION_A_INSIDE_B : CAROM_RELATION_B_INSIDE_A;
    else if (c->lower > 0.0)
        overlap->relation = CAROM_MAX(overlap->relation, CAROM_RELATION_OVERLAPPING);
    else if (!(c->upper > 0.0))
        overlap->relation = CAROM_RELATION_APART;
}

/* Takes the estimate of cells, and its derivatives. The bounds are set. */
static void take_cells(const carom_tree_overlap_search *s, const carom_tree_cells_search *c,
                       carom_packing_overlap *overlap) {
    const carom_spheres_transform *transform = s->moving.transform;
    double unit = tree_overlap_unit(s), square = unit * unit, cube = square * unit;
    double sign = s->posed->swapped ? 1.0 : -1.0; /* forces are on b, those of c on the fixed one */
    overlap->partial = true;
    overlap->volume.value = CAROM_MAX(c->volume * cube, overlap->volume.lower);
    overlap->volume.value = CAROM_MIN(overlap->volume.value, overlap->volume.upper);
    overlap->pivot = overlap->centroid = s->posed->world.pivot;
    overlap->direction_2009 = carom_vec(0.0, 0.0, 0.0);
    /* x = R (scale (y 2^-shift + origin)) + t */
    carom_vec3 origin = carom_spheres_pose_centre(transform, s->moving.tree->origin);
    carom_vec3 force = carom_frame_turn(&transform->frame, c->force);
    carom_vec3 torque = carom_frame_turn(&transform->frame, c->torque);
    overlap->force = carom_vec_scale(force, sign * square);
    overlap->torque =
        carom_vec_add(carom_vec_scale(torque, sign * cube),
                      carom_vec_cross(carom_vec_sub(origin, overlap->pivot), overlap->force));
    if (c->volume > 0.0) {
        carom_vec3 moment = carom_frame_turn(&transform->frame, c->moment);
        overlap->centroid = carom_vec_add(origin, carom_vec_scale(moment, unit / c->volume));
    }
}

/* ---- Searches of spheres --------------------------------------------------------------------- */

/* What adding up takes where spheres are marked, against where none is: their leaves are read,
 * too. */
#define TREE_MARKED_FACTOR 2.0

/* Leaves whose marks are added up, twice, to see how long that takes: long against a reading of the
 * clock, and a small part of trees for which it matters. */
#define TREE_MARK_SAMPLE 256u

/* How long adding up the marks of one side will take, in seconds, on this machine. Clear marks of
 * some leaves tell; the shorter of two times, as an interrupt would be counted for every leaf. */
static double tree_overlap_mark_time(const carom_tree_side *side) {
    uint32_t count = CAROM_MIN(side->tree->leaf_count, TREE_MARK_SAMPLE);
    double least = HUGE_VAL;
    memset(side->marks, 0, count * sizeof(*side->marks));
    for (int i = 0; i < 2; ++i) {
        double begun = carom_time_seconds();
        volatile uint64_t flagged = sum_marks(side, count).flagged.count; /* not optimized away */
        (void)flagged;
        double time = carom_time_seconds() - begun;
        least = CAROM_MIN(time, least);
    }
    return TREE_MARKED_FACTOR * least * (double)side->tree->leaf_count / (double)count;
}

/* Searches all pairs, and stops where a budget is used up. */
static void search_all(carom_context *context, carom_tree_overlap_search *s,
                       carom_packing_overlap *overlap) {
    carom_tree_budget *budget = &s->budget;
    if (budget->deadline < HUGE_VAL && s->bounds)
        budget->deadline -= tree_overlap_mark_time(&s->fixed) + tree_overlap_mark_time(&s->moving);
    if (budget->visits >= budget->most_visits ||
        (budget->deadline < HUGE_VAL && carom_time_seconds() >= budget->deadline))
        budget->stopped = true;
    else
        search_levels(context, s, CAROM_NONE);
    if (!budget->stopped) finish_overlap(s, overlap);
}

/* Searches level by level until a budget is used up or the tolerance is reached. */
static void search_by_level(carom_context *context, carom_tree_overlap_search *s, double tolerance,
                            carom_packing_overlap *overlap) {
    carom_tree_budget *budget = &s->budget;
    double begun = budget->deadline < HUGE_VAL ? carom_time_seconds() : 0.0;
    search_levels(context, s, 0);
    finish_overlap(s, overlap); /* the roots as a whole cost nothing */
    /* Adding up another level takes as long as this one did, and a little more. */
    if (budget->deadline < HUGE_VAL)
        budget->deadline -= TREE_MARKED_FACTOR * (carom_time_seconds() - begun);
    for (uint32_t levels = 1; s->whole && !budget->stopped; ++levels) {
        if (overlap->volume.upper - overlap->volume.lower <= tolerance * overlap->volume.value)
            break;
        search_levels(context, s, levels);
        if (budget->stopped) break;
        double lower = overlap->volume.lower, upper = overlap->volume.upper;
        finish_overlap(s, overlap);
        if (!overlap->partial) break;
        overlap->volume.lower = CAROM_MAX(lower, overlap->volume.lower);
        overlap->volume.upper = CAROM_MIN(upper, overlap->volume.upper);
    }
}

/* Takes what a search of all pairs or of levels needs. */
static bool tree_overlap_prepare(carom_arena *scratch, carom_tree_overlap_search *s,
                                 bool by_level) {
    s->units = carom_power_of_two(CAROM_TREE_LENS_BITS - 1 -
                                  carom_exponent(s->posed->world.scales.volume.largest));
    return take_scratch(scratch, s) &&
           (!by_level || (take_coarse(scratch, &s->fixed) && take_coarse(scratch, &s->moving)));
}

/* Bounds that always hold: no more than the volume of either solid. */
static void take_widest(const carom_tree_overlap_search *s, carom_packing_overlap *overlap) {
    const carom_tree_posed_pair *p = s->posed;
    overlap->relation = CAROM_RELATION_TOUCHING;
    overlap->volume.lower = 0.0;
    overlap->volume.upper = carom_spheres_most_volume(&p->a->extent, &p->b->extent, &p->world);
}

/* ---- Estimates with a budget ----------------------------------------------------------------- */

/* Of a work budget that is not enough for the estimate: what is kept for pairs that wait, and for
 * bounds. Of a time budget less: what that takes is known then, as it ends by the clock. */
#define TREE_REST_VISITS_PART   0.1875
#define TREE_BOUNDS_VISITS_PART 0.125
#define TREE_REST_PART          0.0625
#define TREE_BOUNDS_PART        0.0625

/* Of a time budget: an estimate that will be complete no later than this after it is completed. */
#define TREE_GRACE_PART 0.04

/* Of a budget, before the end of the search: from there on inner nodes are opened heaviest first.
 * They are a tenth of all pairs and take up to a third of the time, so that it is not enough for
 * all pairs then. */
#define TREE_UNWEIGHED_PART 0.25

/* Of a time budget: what is left when the searches of an overlap end, for the last lenses and sums,
 * and for interrupts: one that takes a quarter of 50 us and comes at the end is within a tenth. */
#define TREE_OVERLAP_FINISH_PART 0.15625

/* Pairs that are weighed of those that wait when the time for searches is over, as it is after an
 * interrupt, or where an estimate was to be completed and was not: they take about 1 us, where all
 * may take 8. */
#define TREE_LATE_PAIRS 64u

/* Whether it is. */
static bool tree_overlap_is_over(const carom_tree_budget *budget) {
    return budget->deadline < HUGE_VAL && carom_time_seconds() >= budget->deadline;
}

/* Runs the search for an estimate, up to a part of the budget; and beyond it, up to all, where that
 * is enough to complete it. Then nothing follows but sums, and it may end at the deadline itself.
 */
static void tree_overlap_run_frontier(carom_context *context, carom_tree_overlap_search *e,
                                      bool bounds, double time_budget) {
    carom_tree_budget *budget = &e->budget;
    const carom_tree_limits given = {budget->most_visits, budget->deadline};
    carom_tree_limits part = given, whole = given;
    if (given.deadline < HUGE_VAL) {
        part.deadline -= (TREE_REST_PART + (bounds ? TREE_BOUNDS_PART : 0.0)) * time_budget;
        whole.deadline += (TREE_OVERLAP_FINISH_PART + TREE_GRACE_PART) * time_budget;
    }
    if (given.most_visits < UINT64_MAX)
        part.most_visits -=
            (uint64_t)((TREE_REST_VISITS_PART + (bounds ? TREE_BOUNDS_VISITS_PART : 0.0)) *
                       (double)given.most_visits);
    carom_tree_limits first = part;
    if (given.deadline < HUGE_VAL) first.deadline -= TREE_UNWEIGHED_PART * time_budget;
    if (given.most_visits < UINT64_MAX)
        first.most_visits -= (uint64_t)(TREE_UNWEIGHED_PART * (double)part.most_visits);
    carom_tree_set_limits(budget, &first);
    carom_tree_frontier_run_inner(context, e);
    if (e->frontier->inner.count != 0) {
        budget->stopped = false;
        carom_tree_set_limits(budget, &part);
        carom_tree_begin_visits(budget);
        CAROM_CPU_CALL(context, carom_tree_weigh_pairs)(e, UINT64_MAX);
        carom_tree_frontier_run_inner(context, e);
    }
    if (e->frontier->inner.count == 0 && !e->frontier->full)
        carom_tree_frontier_run_leaves(context, e, &whole, &part);
    carom_tree_set_limits(budget, &given);
}

/* Finds the estimate, without bounds. It is partial where the budget ended it. False: no memory. */
static bool tree_overlap_estimate(carom_context *context, carom_arena *scratch,
                                  carom_tree_overlap_search *s, double time_budget,
                                  carom_packing_overlap *estimate) {
    carom_tree_overlap_search e = *s;
    const carom_spheres_posed_pair *m = &s->posed->world;
    carom_tree_frontier frontier;
    e.bounds = e.narrow = false;
    if (!take_scratch(scratch, &e) || !carom_tree_frontier_begin(context, scratch, &e, &frontier))
        return false;
    tree_overlap_run_frontier(context, &e, s->bounds, time_budget);
    if (frontier.full) return false;
    s->budget = e.budget;
    s->budget.stopped = false;
    finish_overlap(&e, estimate);
    if (frontier.inner.count + frontier.leaves.count == 0) return true;
    carom_spheres_values values = {
        .lenses = carom_spheres_sum_value(&e.totals.estimate, &m->scales), .pairs = e.totals.pairs};
    CAROM_CPU_CALL(context, carom_tree_weigh_pairs)
    (&e, tree_overlap_is_over(&e.budget) ? TREE_LATE_PAIRS : UINT64_MAX);
    double kept = s->bounds ? TREE_BOUNDS_PART * time_budget : 0.0;
    carom_tree_frontier_add_rest(&e, e.budget.deadline - kept, &values.lenses);
    carom_spheres_overlap_of_values(&values, m, &s->posed->a->extent, &s->posed->b->extent, NULL,
                                    estimate);
    if (estimate->relation == CAROM_RELATION_APART && values.lenses.volume > 0.0)
        estimate->relation = CAROM_RELATION_TOUCHING;
    if (s->flip)
        estimate->direction_2009 = carom_spheres_vec_value(e.flipped, &m->scales.direction);
    estimate->partial = true;
    return true;
}

/* The point of the interval that stands for an estimate outside of it. Points from its nearer end
 * up to the estimate's mirror image there are nearer to every volume of the interval than the
 * estimate is; of these, the one nearest to the middle has the least worst error. */
static double tree_overlap_clamp(carom_interval v) {
    double middle = 0.5 * (v.lower + v.upper);
    if (v.value < v.lower) return CAROM_MIN(middle, v.lower + (v.lower - v.value));
    if (v.value > v.upper) return CAROM_MAX(middle, v.upper - (v.value - v.upper));
    return v.value;
}

/* Puts an estimate into an answer that has bounds. */
static void tree_overlap_put_estimate(const carom_packing_overlap *estimate,
                                      carom_packing_overlap *overlap) {
    overlap->partial = true;
    overlap->pairs = estimate->pairs;
    overlap->pivot = estimate->pivot;
    overlap->centroid = estimate->centroid;
    overlap->force = estimate->force;
    overlap->torque = estimate->torque;
    overlap->direction_2009 = estimate->direction_2009;
    overlap->volume.value = estimate->volume.value;
    overlap->volume.value = tree_overlap_clamp(overlap->volume);
}

/* What a search with bounds takes, at most as a rule, to that of the estimate: it computes
 * inner lenses, too, and covers meet more often than secondary balls. In time, and in visits. */
#define TREE_BOUNDS_TIME   3.0
#define TREE_BOUNDS_VISITS 3.0

/* The part of what is left after the estimate that a search of all pairs may take; the rest is for
 * cells, should it not be enough. */
#define TREE_ALL_PART 0.75

/* Whether that will be enough, by what the estimate took, in seconds. */
static bool tree_overlap_all_fit(const carom_tree_budget *budget, double took) {
    double visits = (double)budget->visits, most = (double)budget->most_visits;
    return took * TREE_BOUNDS_TIME <= TREE_ALL_PART * (budget->deadline - carom_time_seconds()) &&
           visits * TREE_BOUNDS_VISITS <= TREE_ALL_PART * (most - visits);
}

/* Searches all pairs with bounds in a part of what is left. Returns whether that was enough. */
static bool tree_overlap_all(carom_context *context, carom_tree_overlap_search *s,
                             carom_packing_overlap *overlap) {
    carom_tree_budget *budget = &s->budget;
    double deadline = budget->deadline;
    uint64_t most = budget->most_visits;
    if (deadline < HUGE_VAL)
        budget->deadline -= (1.0 - TREE_ALL_PART) * (deadline - carom_time_seconds());
    if (most < UINT64_MAX)
        budget->most_visits -= (uint64_t)((1.0 - TREE_ALL_PART) * (double)(most - budget->visits));
    search_all(context, s, overlap);
    bool complete = !budget->stopped;
    budget->deadline = deadline;
    budget->most_visits = most;
    budget->stopped = false;
    return complete;
}

/* The bounds of trees with octrees, after an estimate that took so many seconds. */
static carom_status tree_overlap_bound_by_cells(carom_context *context, carom_arena *scratch,
                                                carom_tree_overlap_search *s,
                                                const carom_tree_query_def *def, double took,
                                                const carom_packing_overlap *estimate,
                                                carom_packing_overlap *overlap) {
    carom_tree_cells_search cells;
    bool has_cells = false, complete = false;
    s->narrow = false;
    take_widest(s, overlap);
    if (tree_overlap_is_over(&s->budget)) { /* even one cell takes up to 4 us */
        tree_overlap_put_estimate(estimate, overlap);
        return CAROM_OK;
    }
    if (def->tolerance > 0.0 && s->budget.visits < s->budget.most_visits) {
        if (!tree_search_cells(scratch, s, def, &cells)) return CAROM_NO_MEMORY;
        has_cells = true;
    }
    if (!(has_cells && cells.reached) && tree_overlap_all_fit(&s->budget, took)) {
        if (!tree_overlap_prepare(scratch, s, false)) return CAROM_NO_MEMORY;
        complete = tree_overlap_all(context, s, overlap);
        if (!complete) take_widest(s, overlap);
    }
    if (!has_cells && (!complete || def->narrow_limits) &&
        s->budget.visits < s->budget.most_visits) {
        if (!tree_search_cells(scratch, s, def, &cells)) return CAROM_NO_MEMORY;
        has_cells = true;
    }
    if (has_cells) merge_cells(s, &cells, overlap);
    if (!complete) tree_overlap_put_estimate(estimate, overlap);
    return CAROM_OK;
}

/* The bounds of others. */
static carom_status tree_overlap_bound_by_level(carom_context *context, carom_arena *scratch,
                                                carom_tree_overlap_search *s,
                                                const carom_tree_query_def *def,
                                                const carom_packing_overlap *estimate,
                                                carom_packing_overlap *overlap) {
    carom_tree_budget *budget = &s->budget;
    if (!tree_overlap_prepare(scratch, s, true)) return CAROM_NO_MEMORY;
    bool late = budget->deadline < HUGE_VAL && carom_time_seconds() +
                                                       tree_overlap_mark_time(&s->fixed) +
                                                       tree_overlap_mark_time(&s->moving) >=
                                                   budget->deadline; /* no time to add up a level */
    if (late)
        take_widest(s, overlap);
    else
        search_by_level(context, s, def->tolerance, overlap);
    if (late || overlap->partial) tree_overlap_put_estimate(estimate, overlap);
    return CAROM_OK;
}

/* The estimate first, and bounds with what is left. */
static carom_status find_in_budget(carom_context *context, carom_arena *scratch,
                                   carom_tree_overlap_search *s, const carom_tree_query_def *def,
                                   carom_packing_overlap *overlap) {
    carom_packing_overlap estimate;
    bool timed = s->budget.deadline < HUGE_VAL;
    double begun = timed ? carom_time_seconds() : 0.0;
    if (!tree_overlap_estimate(context, scratch, s, def->time_budget, &estimate))
        return CAROM_NO_MEMORY;
    double took = timed ? carom_time_seconds() - begun : 0.0;
    if (!s->bounds) {
        *overlap = estimate;
        return CAROM_OK;
    }
    return uses_cells(s)
               ? tree_overlap_bound_by_cells(context, scratch, s, def, took, &estimate, overlap)
               : tree_overlap_bound_by_level(context, scratch, s, def, &estimate, overlap);
}

/* ---- Searches without a budget --------------------------------------------------------------- */

/* With a tolerance octrees come first; else all pairs of spheres. */
static carom_status find_overlap(carom_context *context, carom_arena *scratch,
                                 carom_tree_overlap_search *s, const carom_tree_query_def *def,
                                 carom_packing_overlap *overlap) {
    carom_tree_cells_search cells;
    bool tolerant = def->tolerance > 0.0, has_cells = uses_cells(s) && (s->narrow || tolerant);
    if (has_cells) s->narrow = false;
    if (has_cells && tolerant) {
        if (!tree_search_cells(scratch, s, def, &cells)) return CAROM_NO_MEMORY;
        if (cells.reached) {
            take_widest(s, overlap);
            merge_cells(s, &cells, overlap);
            take_cells(s, &cells, overlap);
            return CAROM_OK;
        }
    }
    bool by_level = tolerant && !has_cells;
    if (!tree_overlap_prepare(scratch, s, by_level)) return CAROM_NO_MEMORY;
    if (by_level)
        search_by_level(context, s, def->tolerance, overlap);
    else
        search_all(context, s, overlap);
    if (has_cells && !tolerant && !tree_search_cells(scratch, s, def, &cells))
        return CAROM_NO_MEMORY;
    if (has_cells) merge_cells(s, &cells, overlap);
    return CAROM_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_tree_overlap_search tree_overlap_begin(const carom_tree_posed_pair *p,
                                                    const carom_tree_query_def *def, double start) {
    return (carom_tree_overlap_search){
        .posed = p,
        .fixed = carom_tree_side_make(p->fixed, carom_tree_fixed_transform(p)),
        .moving = carom_tree_side_make(p->moving, carom_tree_moving_transform(p)),
        .budget = carom_tree_budget_make(def, start, TREE_OVERLAP_FINISH_PART)};
}

/* What holds for every answer. */
CAROM_TREE_CHECK bool tree_overlap_holds(const carom_tree_overlap_search *s,
                                         const carom_packing_overlap *overlap) {
    const carom_tree_posed_pair *p = s->posed;
    double lower = overlap->volume.lower, upper = overlap->volume.upper;
    return lower >= 0.0 && lower <= upper && overlap->volume.value >= 0.0 &&
           upper <= carom_spheres_most_volume(&p->a->extent, &p->b->extent, &p->world) &&
           (overlap->relation != CAROM_RELATION_APART || lower == 0.0) &&
           s->budget.visits <= s->budget.most_visits;
}

carom_status carom_tree_run_overlap(carom_context *context, uint32_t worker,
                                    const carom_tree_posed_pair *posed,
                                    const carom_tree_query_def *def, double start,
                                    carom_packing_overlap *overlap, carom_work *work) {
    carom_tree_overlap_search s = tree_overlap_begin(posed, def, start);
    s.bounds = !def->skip_limits;
    s.narrow = s.bounds && def->narrow_limits;
    s.flip = def->flip && posed->a->outward != NULL && posed->b->outward != NULL;
    memset(overlap, 0, sizeof(*overlap));
    carom_arena *scratch = carom_scratch(context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    bool budget = def->work_budget != 0 || def->time_budget > 0.0;
    carom_status status = budget && !posed->apart
                              ? find_in_budget(context, scratch, &s, def, overlap)
                              : find_overlap(context, scratch, &s, def, overlap);
    carom_arena_rewind(scratch, mark);
    carom_tree_count_work(&s.budget, work);
    CAROM_ASSERT(status != CAROM_OK || tree_overlap_holds(&s, overlap));
    return status;
}

carom_status carom_tree_narrow_overlap(carom_context *context, uint32_t worker,
                                       const carom_tree_pair *pair, uint64_t visits,
                                       carom_packing_overlap *overlap) {
    const carom_tree_query_def def = {.narrow_limits = true};
    const carom_tree_posed_pair posed = carom_tree_pose(pair);
    carom_tree_overlap_search s = tree_overlap_begin(&posed, &def, 0.0);
    carom_tree_cells_search cells;
    s.bounds = true;
    s.budget.visits = visits;
    if (posed.apart) return CAROM_OK;
    if (!uses_cells(&s)) return CAROM_UNSUPPORTED;
    carom_arena *scratch = carom_scratch(context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    bool done = tree_search_cells(scratch, &s, &def, &cells);
    if (done) merge_cells(&s, &cells, overlap);
    carom_arena_rewind(scratch, mark);
    return done ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_tree_overlap(carom_context *context, const carom_tree *a,
                                const carom_pose *pose_a, const carom_tree *b,
                                const carom_pose *pose_b, const carom_tree_query_def *def,
                                carom_packing_overlap *overlap) {
    CAROM_TREE_ENTER(overlap);
    double start = carom_tree_start(def);
    const carom_tree_pair pair = carom_tree_pair_of(a, pose_a, b, pose_b, def);
    if (carom_tree_on_device(context))
        return carom_tree_device_overlaps(context, &pair, 1, def, overlap);
    const carom_tree_posed_pair posed = carom_tree_pose(&pair);
    context->work = (carom_work){0};
    return carom_tree_fail_query(
        context, carom_tree_run_overlap(context, 0, &posed, def, start, overlap, &context->work));
}

/* ---- Faces ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint16_t *take_inner(carom_arena *scratch, const carom_tree *tree) {
    uint16_t *inner = CAROM_ARENA_TAKE(scratch, uint16_t, tree->leaf_count);
    if (inner != NULL) memset(inner, 0, tree->leaf_count * sizeof(*inner));
    return inner;
}

/* The nearest faces of the marked spheres of one side, sorted, each once. */
static carom_status list_faces(carom_context *context, carom_arena *scratch,
                               const carom_tree_side *side, carom_numbers *faces) {
    uint64_t count = 0, kept = 0, space;
    for (uint32_t i = 0; i < side->tree->leaf_count; ++i)
        count += (uint64_t)__builtin_popcount(side->inner[i]);
    uint32_t *list = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (list == NULL) return carom_fail_memory(context, count * sizeof(*list), "faces");
    count = 0;
    for (uint32_t i = 0; i < side->tree->leaf_count; ++i)
        for (uint32_t set = side->inner[i]; set != 0; set &= set - 1) {
            uint32_t face = side->tree->faces[i * CAROM_TREE_WIDTH + (uint32_t)__builtin_ctz(set)];
            if (face != CAROM_NONE) list[count++] = face;
        }
    if (count > 1) qsort(list, count, sizeof(*list), by_number);
    for (uint64_t i = 0; i < count; ++i)
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    CAROM_TRY(carom_numbers_begin(context, &context->allocator, faces, kept, &space));
    if (space != 0) memcpy(faces->data, list, space * sizeof(*list));
    return carom_numbers_end(faces);
}

carom_status carom_tree_faces(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                              const carom_tree *b, const carom_pose *pose_b,
                              const carom_tree_query_def *def, carom_numbers *faces_a,
                              carom_numbers *faces_b) {
    CAROM_TREE_ENTER(faces_a);
    CAROM_REQUIRE_RESULT(faces_a, "faces of a");
    CAROM_REQUIRE_RESULT(faces_b, "faces of b");
    CAROM_TRY(carom_context_require_cpu(context, "the faces where sphere trees overlap"));
    const carom_tree_pair pair = carom_tree_pair_of(a, pose_a, b, pose_b, def);
    const carom_tree_posed_pair posed = carom_tree_pose(&pair);
    carom_tree_overlap_search search = tree_overlap_begin(&posed, &carom_tree_query_defaults, 0.0),
                              *s = &search;
    s->slots = s->bounds = true;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    s->fixed.inner = take_inner(scratch, s->fixed.tree);
    s->moving.inner = take_inner(scratch, s->moving.tree);
    if (s->fixed.inner == NULL || s->moving.inner == NULL || !take_scratch(scratch, s))
        status = carom_fail_memory(context, sizeof(*s->batch), "a query of sphere trees");
    if (status == CAROM_OK) {
        search_levels(context, s, CAROM_NONE);
        context->work = (carom_work){0};
        carom_tree_count_work(&s->budget, &context->work);
        status = list_faces(context, scratch, s->posed->swapped ? &s->moving : &s->fixed, faces_a);
        carom_status second =
            status == CAROM_OK || status == CAROM_MORE
                ? list_faces(context, scratch, s->posed->swapped ? &s->fixed : &s->moving, faces_b)
                : CAROM_OK;
        if (status == CAROM_OK) status = second;
        if (second != CAROM_OK && second != CAROM_MORE) status = second;
    }
    carom_arena_rewind(scratch, mark);
    return status;
}
