/* SPDX-License-Identifier: MIT */
/* Queries of two trees. A query brings the smaller tree, the guest, to the frame of the larger one,
 * the host, searches (tree_cpu.c), and finishes the sums as defined in pack_overlap_item.h. */
#include <float.h>
#include <stdlib.h>

#include "base/array.h"
#include "geom/length.h"
#include "tree/tree_cpu.h"

/* ---- The placing of two trees ---------------------------------------------------------------- */

/* Two trees farther apart than this, in units of the host's size, see each other as points: beyond
 * it, distances are compared along one direction (tree_cpu.c). Their error is then below 2^-9. */
#define FAR 1024.0

/* Relative error of the guest's place in doubles: some thirty roundings. */
#define PLACE_ERROR 0x1p-47

typedef struct query {
    /* The guest's place in the host's frame: matrix and translation; and its error. */
    double motion[12], motion_error, motion_scale;
    carom_pack_meeting meeting;
    carom_tree_search search;
} query;

static carom_vec3 turn_back(const carom_frame *f, carom_vec3 d) {
    return carom_vec((f->r[0] * d.x + f->r[3] * d.y) + f->r[6] * d.z,
                     (f->r[1] * d.x + f->r[4] * d.y) + f->r[7] * d.z,
                     (f->r[2] * d.x + f->r[5] * d.y) + f->r[8] * d.z);
}

/* Computes where the guest is in the host's frame, and whether the balls around both are apart. */
static void place_guest(query *q) {
    carom_tree_search *s = &q->search;
    const carom_tree *h = s->host.tree, *g = s->guest.tree;
    const carom_pack_place *host = s->host.place, *guest = s->guest.place;
    /* x_h = R_h^T (scale_g R_g x_g + t_g - t_h) / scale_h */
    double shrink = guest->scale / host->scale;
    double scale = shrink * carom_power_of_two(h->shift - g->shift);
    double to_frame = carom_power_of_two(h->shift);
    carom_vec3 between = carom_vec_sub(guest->frame.t, host->frame.t);
    carom_vec3 origin = carom_vec_scale(
        turn_back(&host->frame, carom_frame_turn(&guest->frame, g->origin)), shrink);
    carom_vec3 move = carom_vec_scale(turn_back(&host->frame, between), 1.0 / host->scale);
    move = carom_vec_scale(carom_vec_sub(carom_vec_add(origin, move), h->origin), to_frame);
    double matrix[9];
    for (int k = 0; k < 3; ++k) {
        carom_vec3 axis = carom_vec(k == 0, k == 1, k == 2);
        axis = turn_back(&host->frame, carom_frame_turn(&guest->frame, axis));
        matrix[k] = axis.x * scale;
        matrix[3 + k] = axis.y * scale;
        matrix[6 + k] = axis.z * scale;
    }
    carom_vec3 centre = g->centre;
    centre = carom_vec(matrix[0] * centre.x + matrix[1] * centre.y + matrix[2] * centre.z,
                       matrix[3] * centre.x + matrix[4] * centre.y + matrix[5] * centre.z,
                       matrix[6] * centre.x + matrix[7] * centre.y + matrix[8] * centre.z);
    double size = carom_vec_largest(guest->frame.t) + carom_vec_largest(host->frame.t) +
                  g->extent.size * guest->scale + h->extent.size * host->scale;
    double error = PLACE_ERROR * (size / host->scale) * to_frame;
    memcpy(q->motion, matrix, sizeof(matrix));
    q->motion[9] = move.x;
    q->motion[10] = move.y;
    q->motion[11] = move.z;
    q->motion_error = error;
    q->motion_scale = scale;
    double far = carom_length(carom_vec_sub(carom_vec_add(centre, move), h->centre));
    s->to_frame = to_frame / host->scale;
    s->apart = far > (h->cover + g->cover * scale) * (1.0 + 0x1p-40) + 4.0 * error;
    s->far = far > FAR;
    s->offset = 0.0;
    if (s->far) {
        s->offset = carom_length(move);
        s->toward[0] = (float)(move.x / s->offset);
        s->toward[1] = (float)(move.y / s->offset);
        s->toward[2] = (float)(move.z / s->offset);
        /* The offset is its length along the rounded direction, at most. */
        s->offset = move.x * (double)s->toward[0] + move.y * (double)s->toward[1] +
                    move.z * (double)s->toward[2];
        double length = carom_length(
            carom_vec((double)s->toward[0], (double)s->toward[1], (double)s->toward[2]));
        s->offset = s->offset / (length * (1.0 + 0x1p-40));
        move = carom_vec(0.0, 0.0, 0.0);
    }
    for (int k = 0; k < 9; ++k) {
        s->turn[k] = (float)matrix[k];
        s->near.rotation[k] = (float)(matrix[k] / scale);
    }
    s->move[0] = (float)move.x;
    s->move[1] = (float)move.y;
    s->move[2] = (float)move.z;
    s->scale = (float)(scale * (1.0 + 0x1p-22));
    /* CAROM_TREE_ROUNDING is for coordinates up to 8. */
    double coordinates = 2.0 + carom_vec_largest(move);
    double rounding = (double)CAROM_TREE_ROUNDING * CAROM_MAX(1.0, coordinates / 8.0);
    s->margin = (float)(rounding + 4.0 * error);
    coordinates = carom_vec_largest(move) + carom_vec_largest(h->surface.centre) +
                  h->surface.radius +
                  (carom_vec_largest(g->surface.centre) + g->surface.radius) * scale;
    rounding = (double)CAROM_TREE_ROUNDING * CAROM_MAX(1.0, coordinates / 8.0);
    s->near.margin = (float)(rounding + 4.0 * error);
}

/* The part of a time budget that is left for what follows a search: rays that tell whether one
 * solid is in the other, and up to CAROM_TREE_LOOK nodes between two looks at the clock. */
#define FINISH_PART 0.125

static void begin(query *q, const carom_tree_pair *p, const carom_tree_query_def *def) {
    carom_tree_search *s = &q->search;
    const carom_tree *a = p->a, *b = p->b;
    q->meeting = carom_pack_meeting_make(&a->extent, &p->pose_a, p->scale_a, &b->extent, &p->pose_b,
                                         p->scale_b);
    memset(s, 0, sizeof(*s));
    const carom_pack_place *place = q->meeting.place;
    /* The host is the larger one; a where they are equal. */
    s->swapped = carom_power_of_two(-a->shift) * place[0].scale <
                 carom_power_of_two(-b->shift) * place[1].scale;
    s->host.tree = s->swapped ? b : a;
    s->guest.tree = s->swapped ? a : b;
    s->host.place = &place[s->swapped];
    s->guest.place = &place[!s->swapped];
    s->host.posed.leaf = s->guest.posed.leaf = CAROM_TREE_NONE;
    s->host.posed_triangle = s->guest.posed_triangle = CAROM_TREE_NONE;
    s->meeting = &q->meeting;
    s->most_visits = def->work_budget != 0 ? def->work_budget : UINT64_MAX;
    s->deadline = def->time_budget > 0.0
                      ? carom_time_seconds() + def->time_budget * (1.0 - FINISH_PART)
                      : HUGE_VAL;
    s->levels = CAROM_NONE;
    s->pending = HUGE_VAL;
    place_guest(q);
}

static void count_work(const query *q, carom_work *work) {
    work->visits += q->search.visits;
    work->candidates += q->search.candidates;
}

/* The pair of a query of two trees; its scales and hint are those of the def. */
static carom_tree_pair pair_of(const carom_tree *a, const carom_pose *pose_a, const carom_tree *b,
                               const carom_pose *pose_b, const carom_tree_query_def *def) {
    carom_tree_pair p = {.a = a, .b = b, .scale_a = def->scale_a, .scale_b = def->scale_b};
    if (pose_a != NULL) p.pose_a = *pose_a;
    if (pose_b != NULL) p.pose_b = *pose_b;
    p.hint = def->hint;
    return p;
}

/* The message is left to the calling thread, as many workers may fail at once. */
static carom_status fail_query(carom_context *context, carom_status status) {
    if (status != CAROM_NO_MEMORY) return status;
    return carom_fail_memory(context, 0, "a query of sphere trees");
}

/* What all queries check first. */
static carom_status check(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                          const carom_tree *b, const carom_pose *pose_b,
                          const carom_tree_query_def *def) {
    CAROM_TRY(carom_context_require_cpu(context, "a query of sphere trees"));
    if (!(def->time_budget >= 0.0 && def->tolerance >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a budget of %g s and a tolerance of %g: neither may be negative",
                          def->time_budget, def->tolerance);
    CAROM_TRY(carom_pack_check_place(context, &a->extent, pose_a, def->scale_a, "a"));
    return carom_pack_check_place(context, &b->extent, pose_b, def->scale_b, "b");
}

static const carom_tree_query_def defaults = {0};

#define CHECK(result)                                                                              \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_BOTH(a, b, "tree");                                                              \
    CAROM_REQUIRE_OUTPUT(result, "result");                                                        \
    if (def == NULL) def = &defaults;                                                              \
    CAROM_TRY(check(context, a, pose_a, b, pose_b, def))

/* ---- Meet ------------------------------------------------------------------------------------ */

carom_status carom_tree_meet(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                             const carom_tree *b, const carom_pose *pose_b,
                             const carom_tree_query_def *def, bool *meet) {
    CHECK(meet);
    carom_tree_pair p = pair_of(a, pose_a, b, pose_b, def);
    query q;
    begin(&q, &p, def);
    q.search.any = true;
    if (!q.search.apart) CAROM_CPU_CALL(context, carom_tree_search_gap)(&q.search);
    context->work = (carom_work){0};
    count_work(&q, &context->work);
    *meet = q.search.found;
    return CAROM_OK;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

/* Inner lenses of one sphere are added up in units of 2^-40 of the largest lens: 2^23 of these fit
 * into 63 bits, more pairs than that are not narrowed. */
#define SUM_BITS   40
#define MOST_PAIRS ((uint64_t)1 << 23)

/* Relative error of the volume of a share: secondary radii are rounded to float32. */
#define SHARE_ERROR 1e-6

/* What the marks of one side add up to. */
typedef struct side_sums {
    carom_pack_flagged flagged, open; /* open: flagged, but not inside; with their voids */
    uint64_t marked_voids;
    uint64_t inside;
    double inside_volume; /* of the shares inside, in the world */
    double open_volume;   /* of the open ones */
    uint64_t open_lenses; /* inner lenses of the open ones, in units */
} side_sums;

static side_sums sum_marks(const carom_tree_side *side) {
    side_sums sum = {{0, 0}, {0, 0}, 0, 0, 0.0, 0.0, 0};
    /* Shares in 2^-61 of the largest possible sum, as integers: the order has no effect. */
    double largest = 8.0 * side->tree->extent.radius * side->tree->extent.radius *
                     side->tree->extent.radius * (double)side->tree->extent.count;
    int scale = carom_exponent(largest) + 1 - 61;
    double units = carom_power_of_two(-scale);
    uint64_t shares = 0, open_shares = 0;
    for (uint32_t i = 0; i < side->tree->leaf_count; ++i) {
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
    double size = side->place->scale;
    sum.inside_volume = (double)shares * carom_power_of_two(scale) * (size * size * size);
    sum.open_volume = (double)open_shares * carom_power_of_two(scale) * (size * size * size);
    return sum;
}

/* Bounds by the spheres of one side: those inside the other solid count with their shares, and only
 * the open ones leave room for what is in no ball. A point of both solids that is in the share of
 * an open sphere is in inner balls of both; or in the void of that share; or in the void of a share
 * of the other, whose cover meets that of the open sphere and whose depth does not contain it, as
 * that would not be open: it is marked. */
static void narrow(const query *q, const side_sums *own, const carom_tree_side *side,
                   const side_sums *other, const carom_tree_side *other_side,
                   carom_packing_overlap *overlap) {
    const carom_pack_totals *totals = &q->search.totals;
    double scale = carom_power_of_two(q->meeting.scales.volume.scale);
    double error = carom_sum_value(totals->inner_error, q->meeting.scales.volume.scale) +
                   (double)totals->inner_pairs * scale;
    double lenses = (double)own->open_lenses / q->search.units;
    double rounded = (double)totals->inner_pairs / q->search.units; /* each was rounded down */
    double voids =
        carom_pack_void_value(&side->tree->extent, side->place, own->open.voids) +
        carom_pack_void_value(&other_side->tree->extent, other_side->place, other->marked_voids);
    double lower = own->inside_volume * (1.0 - SHARE_ERROR) + (lenses - error);
    double upper = own->inside_volume * (1.0 + SHARE_ERROR) + (lenses + rounded + error + voids);
    double shares = (own->inside_volume + own->open_volume) * (1.0 + SHARE_ERROR);
    upper = CAROM_MIN(upper, shares); /* no more than the shares themselves */
    lower *= 1.0 - 0x1p-40;
    upper *= 1.0 + 0x1p-40;
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

static bool take_scratch(carom_arena *scratch, carom_tree_search *s) {
    s->batch = CAROM_ARENA_TAKE(scratch, carom_pack_batch, 1);
    s->guest.cache = CAROM_ARENA_TAKE(scratch, carom_tree_posed, CAROM_TREE_POSED);
    if (s->batch == NULL || s->guest.cache == NULL) return false;
    for (uint32_t i = 0; i < CAROM_TREE_POSED; ++i) s->guest.cache[i].leaf = CAROM_TREE_NONE;
    if (s->bounds &&
        !(take_marks(scratch, &s->host, s->narrow) && take_marks(scratch, &s->guest, s->narrow)))
        return false;
    if (!s->narrow && !s->slots && !s->flip) return true;
    s->host_slots = CAROM_ARENA_TAKE(scratch, uint32_t, CAROM_PACK_BATCH + CAROM_TREE_WIDTH);
    s->guest_slots = CAROM_ARENA_TAKE(scratch, uint32_t, CAROM_PACK_BATCH + CAROM_TREE_WIDTH);
    return s->host_slots != NULL && s->guest_slots != NULL;
}

/* Narrows the bounds from both sides, and says what lies in what. */
static void narrow_both(const query *q, const side_sums sums[2], carom_packing_overlap *overlap) {
    const carom_tree_search *s = &q->search;
    const carom_tree_side *a = s->swapped ? &s->guest : &s->host;
    const carom_tree_side *b = s->swapped ? &s->host : &s->guest;
    if (s->totals.inner_pairs >= MOST_PAIRS) return;
    narrow(q, &sums[0], a, &sums[1], b, overlap);
    narrow(q, &sums[1], b, &sums[0], a, overlap);
    overlap->volume.lower = CAROM_MIN(overlap->volume.lower, overlap->volume.upper);
    if (sums[0].inside + sums[1].inside != 0) overlap->relation = CAROM_RELATION_OVERLAPPING;
    if (sums[0].inside == a->tree->extent.count)
        overlap->relation = CAROM_RELATION_A_INSIDE_B;
    else if (sums[1].inside == b->tree->extent.count)
        overlap->relation = CAROM_RELATION_B_INSIDE_A;
}

/* Adds up what a search found. */
static void finish_overlap(const query *q, const carom_tree *a, const carom_tree *b,
                           carom_packing_overlap *overlap) {
    const carom_tree_search *s = &q->search;
    side_sums sums[2];
    carom_pack_flagged flagged[2];
    if (s->bounds) {
        sums[s->swapped] = sum_marks(&s->host);
        sums[!s->swapped] = sum_marks(&s->guest);
        for (int i = 0; i < 2; ++i) flagged[i] = sums[i].flagged;
    }
    memset(overlap, 0, sizeof(*overlap));
    carom_pack_overlap_finish(&s->totals, &q->meeting, &a->extent, &b->extent,
                              s->bounds ? flagged : NULL, overlap);
    if (s->narrow && !s->whole) narrow_both(q, sums, overlap);
    if (s->flip)
        overlap->direction_2009 = carom_pack_vec_value(s->flipped, &q->meeting.scales.direction);
    if (!s->whole) return;
    /* Points of both solids are in spheres that were compared, or below nodes that were not. */
    const double *scales[2] = {&s->host.place->scale, &s->guest.place->scale};
    double host = s->host.coarse_volume * (*scales[0] * *scales[0] * *scales[0]);
    double guest = s->guest.coarse_volume * (*scales[1] * *scales[1] * *scales[1]);
    double upper = overlap->volume.upper + CAROM_MIN(host, guest) * (1.0 + 0x1p-40);
    double most = carom_pack_most_volume(&a->extent, &b->extent, &q->meeting);
    overlap->volume.upper = CAROM_MIN(upper, most);
    double sign = s->swapped ? -1.0 : 1.0; /* forces are on b */
    overlap->volume.value += s->rest.volume;
    carom_vec3 force = carom_frame_turn(&s->host.place->frame, s->rest.force);
    overlap->force = carom_vec_add(overlap->force, carom_vec_scale(force, sign));
    if (overlap->relation == CAROM_RELATION_APART) overlap->relation = CAROM_RELATION_TOUCHING;
    overlap->partial = true;
}

/* Searches once, down to a number of levels. */
static void search_levels(carom_context *context, query *q, uint32_t levels) {
    carom_tree_search *s = &q->search;
    carom_tree_side *sides[2] = {&s->host, &s->guest};
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
    CAROM_CPU_CALL(context, carom_tree_search_overlap)(s);
}

static bool take_coarse(carom_arena *scratch, carom_tree_side *side) {
    uint64_t nodes = (uint64_t)side->tree->inner_count + side->tree->leaf_count;
    side->coarse = CAROM_ARENA_TAKE(scratch, uint8_t, nodes);
    return side->coarse != NULL;
}

/* ---- Overlap by cells ------------------------------------------------------------------------ */

/* Cells to visit where a tolerance is to be reached: LEAST_TOLERANT and one for 16 spheres, so that
 * this takes no longer than the search of all spheres, about; at most TOLERANT_CELLS. */
#define LEAST_TOLERANT 1024u
#define TOLERANT_CELLS 16384u

/* Narrow bounds visit half as many cells as the search visited nodes, which takes half as long
 * again; at least and at most these. */
#define LEAST_NARROW 64u
#define MOST_NARROW  4096u

/* Narrow bounds are not made narrower than this share of the volume. */
#define NARROW_TOLERANCE 0x1p-6

/* Whether to bound the overlap by the octrees of both solids (tree_cells.h). */
static bool uses_cells(const query *q, const carom_tree_query_def *def) {
    const carom_tree_search *s = &q->search;
    return s->bounds && !s->apart && !s->far && s->host.tree->cells.count != 0 &&
           s->guest.tree->cells.count != 0 &&
           (s->narrow || def->work_budget != 0 || def->time_budget > 0.0 || def->tolerance > 0.0);
}

/* Does that. Half of a budget is for it. False: no memory. */
static bool search_cells(carom_arena *scratch, query *q, const carom_tree_query_def *def,
                         carom_tree_cells_search *c) {
    carom_tree_search *s = &q->search;
    const carom_tree *host_tree = s->host.tree, *guest_tree = s->guest.tree;
    const carom_tree_cells *host = &host_tree->cells, *guest = &guest_tree->cells;
    bool budget = def->work_budget != 0 || def->time_budget > 0.0, tolerant = def->tolerance > 0.0;
    uint64_t most = LEAST_TOLERANT + (host_tree->extent.count + guest_tree->extent.count) / 16;
    most = CAROM_MIN(most, TOLERANT_CELLS);
    if (!budget && !tolerant) {
        most = CAROM_MIN(s->visits / 2, MOST_NARROW);
        most = CAROM_MAX(most, LEAST_NARROW);
    }
    if (def->work_budget != 0) most = CAROM_MIN(def->work_budget / 2, most);
    void *memory = carom_arena_take(scratch, carom_tree_cells_scratch((uint32_t)most), 1);
    if (memory == NULL) return false;
    *c = (carom_tree_cells_search){.host = host,
                                   .guest = guest,
                                   .scale = q->motion_scale,
                                   .tolerance = tolerant ? def->tolerance : NARROW_TOLERANCE,
                                   .give_up = tolerant,
                                   .most = (uint32_t)most,
                                   .deadline = s->deadline};
    if (s->deadline < HUGE_VAL) c->deadline -= 0.5 * (s->deadline - carom_time_seconds());
    for (int k = 0; k < 9; ++k) c->turn[k] = q->motion[k] / q->motion_scale;
    for (int k = 0; k < 3; ++k) c->move[k] = q->motion[9 + k];
    double far = fabs(c->move[0]) + fabs(c->move[1]) + fabs(c->move[2]);
    c->slack = 4.0 * q->motion_error + q->meeting.slack * s->to_frame + 0x1p-40 * (8.0 + far);
    carom_tree_cells_overlap(c, memory);
    s->visits += c->visits;
    return true;
}

/* Lengths of the guest's frame in the world. */
static double guest_unit(const query *q) {
    const carom_tree_side *guest = &q->search.guest;
    return carom_power_of_two(-guest->tree->shift) * guest->place->scale;
}

/* Takes the better of the bounds of spheres and of cells. */
static void merge_cells(const query *q, const carom_tree_cells_search *c,
                        carom_packing_overlap *overlap) {
    double unit = guest_unit(q), cube = unit * unit * unit;
    double lower = c->lower * cube * (1.0 - 0x1p-40), upper = c->upper * cube * (1.0 + 0x1p-40);
    overlap->volume.lower = CAROM_MAX(lower, overlap->volume.lower);
    overlap->volume.upper = CAROM_MIN(upper, overlap->volume.upper);
    overlap->volume.lower = CAROM_MIN(overlap->volume.lower, overlap->volume.upper);
    if (c->inside)
        overlap->relation =
            q->search.swapped ? CAROM_RELATION_A_INSIDE_B : CAROM_RELATION_B_INSIDE_A;
    else if (c->lower > 0.0)
        overlap->relation = CAROM_MAX(overlap->relation, CAROM_RELATION_OVERLAPPING);
    else if (!(c->upper > 0.0))
        overlap->relation = CAROM_RELATION_APART;
}

/* Takes the estimate of cells, and its derivatives. The bounds are set. */
static void take_cells(const query *q, const carom_tree_cells_search *c,
                       carom_packing_overlap *overlap) {
    const carom_tree_search *s = &q->search;
    const carom_pack_place *place = s->guest.place;
    double unit = guest_unit(q), square = unit * unit, cube = square * unit;
    double sign = s->swapped ? 1.0 : -1.0; /* forces are on b, those of c on the host */
    overlap->partial = true;
    overlap->volume.value = CAROM_MAX(c->volume * cube, overlap->volume.lower);
    overlap->volume.value = CAROM_MIN(overlap->volume.value, overlap->volume.upper);
    overlap->pivot = overlap->centroid = q->meeting.pivot;
    overlap->direction_2009 = carom_vec(0.0, 0.0, 0.0);
    /* x = R (scale (y 2^-shift + origin)) + t */
    carom_vec3 origin = carom_pack_pose_centre(place, s->guest.tree->origin);
    carom_vec3 force = carom_frame_turn(&place->frame, c->force);
    carom_vec3 torque = carom_frame_turn(&place->frame, c->torque);
    overlap->force = carom_vec_scale(force, sign * square);
    overlap->torque =
        carom_vec_add(carom_vec_scale(torque, sign * cube),
                      carom_vec_cross(carom_vec_sub(origin, overlap->pivot), overlap->force));
    if (c->volume > 0.0) {
        carom_vec3 moment = carom_frame_turn(&place->frame, c->moment);
        overlap->centroid = carom_vec_add(origin, carom_vec_scale(moment, unit / c->volume));
    }
}

/* What adding up a level costs, against level 0, in which nothing is marked. */
#define FINISH_SHARE 2.0

/* What a look at the marks of a leaf takes, in seconds. */
#define MARK_TIME 1e-9

/* Searches all pairs, and stops where a budget is used up. */
static void search_all(carom_context *context, query *q, const carom_tree *a, const carom_tree *b,
                       carom_packing_overlap *overlap) {
    carom_tree_search *s = &q->search;
    double leaves = (double)s->host.tree->leaf_count + (double)s->guest.tree->leaf_count;
    s->deadline -= MARK_TIME * leaves; /* for adding up */
    if (s->visits >= s->most_visits ||
        (s->deadline < HUGE_VAL && carom_time_seconds() >= s->deadline))
        s->stopped = true;
    else
        search_levels(context, q, CAROM_NONE);
    if (!s->stopped) finish_overlap(q, a, b, overlap);
}

/* Searches level by level until a budget is used up or the tolerance is reached. */
static void search_by_level(carom_context *context, query *q, const carom_tree *a,
                            const carom_tree *b, double tolerance, carom_packing_overlap *overlap) {
    carom_tree_search *s = &q->search;
    double begun = s->deadline < HUGE_VAL ? carom_time_seconds() : 0.0;
    search_levels(context, q, 0);
    finish_overlap(q, a, b, overlap); /* the roots as a whole cost nothing */
    /* Adding up another level takes as long as this one did, and a little more. */
    if (s->deadline < HUGE_VAL) s->deadline -= FINISH_SHARE * (carom_time_seconds() - begun);
    for (uint32_t levels = 1; s->whole && !s->stopped; ++levels) {
        if (overlap->volume.upper - overlap->volume.lower <= tolerance * overlap->volume.value)
            break;
        search_levels(context, q, levels);
        if (s->stopped) break;
        double lower = overlap->volume.lower, upper = overlap->volume.upper;
        finish_overlap(q, a, b, overlap);
        if (!overlap->partial) break;
        overlap->volume.lower = CAROM_MAX(lower, overlap->volume.lower);
        overlap->volume.upper = CAROM_MIN(upper, overlap->volume.upper);
    }
}

static carom_status find_overlap(carom_context *context, carom_arena *scratch, query *q,
                                 const carom_tree *a, const carom_tree *b,
                                 const carom_tree_query_def *def, carom_packing_overlap *overlap) {
    carom_tree_search *s = &q->search;
    carom_tree_cells_search cells;
    bool early = def->work_budget != 0 || def->time_budget > 0.0 || def->tolerance > 0.0;
    bool has_cells = uses_cells(q, def), done = false, by_level = early && !has_cells;
    if (has_cells) s->narrow = false;
    if (has_cells && early) {
        if (!search_cells(scratch, q, def, &cells)) return CAROM_NO_MEMORY;
        done = def->tolerance > 0.0 && cells.reached;
    }
    if (!done) {
        if (!take_scratch(scratch, s) ||
            (by_level && !(take_coarse(scratch, &s->host) && take_coarse(scratch, &s->guest))))
            return CAROM_NO_MEMORY;
        s->units =
            carom_power_of_two(SUM_BITS - 1 - carom_exponent(q->meeting.scales.volume.largest));
        if (by_level)
            search_by_level(context, q, a, b, def->tolerance, overlap);
        else
            search_all(context, q, a, b, overlap);
        done = s->stopped;
    }
    if (has_cells && !early && !search_cells(scratch, q, def, &cells)) return CAROM_NO_MEMORY;
    if (has_cells && done) { /* by cells alone */
        overlap->relation = CAROM_RELATION_TOUCHING;
        overlap->volume.upper = carom_pack_most_volume(&a->extent, &b->extent, &q->meeting);
    }
    if (has_cells && (done || def->narrow_limits || def->tolerance > 0.0))
        merge_cells(q, &cells, overlap);
    if (has_cells && done) take_cells(q, &cells, overlap);
    return CAROM_OK;
}

/* The overlap of two trees, checked, by one worker. CAROM_NO_MEMORY: its scratch is too small. */
static carom_status run_overlap(carom_context *context, uint32_t worker, const carom_tree_pair *p,
                                const carom_tree_query_def *def, carom_packing_overlap *overlap,
                                carom_work *work) {
    query q;
    begin(&q, p, def);
    q.search.bounds = !def->skip_limits;
    q.search.narrow = q.search.bounds && def->narrow_limits;
    q.search.flip = def->flip && p->a->outward != NULL && p->b->outward != NULL;
    memset(overlap, 0, sizeof(*overlap));
    carom_arena *scratch = carom_scratch(context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = find_overlap(context, scratch, &q, p->a, p->b, def, overlap);
    carom_arena_rewind(scratch, mark);
    count_work(&q, work);
    return status;
}

carom_status carom_tree_overlap(carom_context *context, const carom_tree *a,
                                const carom_pose *pose_a, const carom_tree *b,
                                const carom_pose *pose_b, const carom_tree_query_def *def,
                                carom_packing_overlap *overlap) {
    CHECK(overlap);
    carom_tree_pair p = pair_of(a, pose_a, b, pose_b, def);
    context->work = (carom_work){0};
    return fail_query(context, run_overlap(context, 0, &p, def, overlap, &context->work));
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
    CHECK(faces_a);
    CAROM_REQUIRE_RESULT(faces_a, "faces of a");
    CAROM_REQUIRE_RESULT(faces_b, "faces of b");
    carom_tree_pair p = pair_of(a, pose_a, b, pose_b, def);
    query q;
    begin(&q, &p, def);
    carom_tree_search *s = &q.search;
    s->slots = s->bounds = true;
    s->most_visits = UINT64_MAX;
    s->deadline = HUGE_VAL;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    s->host.inner = take_inner(scratch, s->host.tree);
    s->guest.inner = take_inner(scratch, s->guest.tree);
    if (s->host.inner == NULL || s->guest.inner == NULL || !take_scratch(scratch, s))
        status = carom_fail_memory(context, sizeof(*s->batch), "a query of sphere trees");
    if (status == CAROM_OK) {
        search_levels(context, &q, CAROM_NONE);
        context->work = (carom_work){0};
        count_work(&q, &context->work);
        status = list_faces(context, scratch, s->swapped ? &s->guest : &s->host, faces_a);
        carom_status second =
            status == CAROM_OK || status == CAROM_MORE
                ? list_faces(context, scratch, s->swapped ? &s->host : &s->guest, faces_b)
                : CAROM_OK;
        if (status == CAROM_OK) status = second;
        if (second != CAROM_OK && second != CAROM_MORE) status = second;
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Distance -------------------------------------------------------------------------------- */

/* A sphere of a tree by its index in the packing, posed. */
static carom_pack_posed find_sphere(const carom_tree *tree, const carom_pack_place *place,
                                    uint32_t index) {
    uint32_t slot = tree->slots[index];
    const carom_tree_leaf *leaf = &tree->leaves[slot / CAROM_TREE_WIDTH];
    uint32_t lane = slot % CAROM_TREE_WIDTH;
    return carom_pack_pose_sphere(place, carom_vec(leaf->x[lane], leaf->y[lane], leaf->z[lane]),
                                  leaf->radius[lane], leaf->secondary[lane], leaf->cover[lane]);
}

static void finish_gap(const query *q, const carom_tree *a, const carom_tree *b,
                       carom_tree_gap *gap) {
    const carom_tree_search *s = &q->search;
    carom_pack_posed p = find_sphere(a, &q->meeting.place[0], s->sphere_a);
    carom_pack_posed r = find_sphere(b, &q->meeting.place[1], s->sphere_b);
    carom_vec3 apart = carom_vec_sub(r.centre, p.centre);
    double d = carom_vec_length(apart), rounding = 0x1p-49 * (d + p.radius + r.radius);
    double pending = (s->pending + s->offset) / s->to_frame;
    double least = CAROM_MIN(pending, s->least_cover);
    double lower = least - 0x1p-49 * (d + p.cover + r.cover);
    gap->distance.upper = s->least + (rounding + q->meeting.slack);
    gap->distance.lower = CAROM_MAX(lower, 0.0);
    gap->distance.value = s->least;
    gap->sphere_a = s->sphere_a;
    gap->sphere_b = s->sphere_b;
    gap->partial = s->stopped;
    gap->point_a = carom_vec_add(p.centre, carom_vec_scale(apart, p.radius / d));
    gap->point_b = carom_vec_sub(r.centre, carom_vec_scale(apart, r.radius / d));
}

/* What carom_tree_hint holds: the closest spheres or triangles of one query, for the next. */
typedef struct learned {
    bool valid;
    uint32_t sphere_a, sphere_b;
    bool faces;                      /* the next two are valid */
    uint32_t triangle_a, triangle_b; /* in the order of the trees */
    /* A lower bound of the distance in an earlier pose. Where the trees have moved by d since then,
     * it holds less d. */
    uint64_t trees;    /* whose it is; 0: none */
    double lower;      /* in the frame of the larger tree, as the rest */
    double motion[12]; /* the smaller tree's place */
    bool wide;         /* it took long to find, and may be used until it is 1.5 times as far below
                          the distance as others */
} learned;

_Static_assert(sizeof(learned) <= sizeof(carom_tree_hint), "a hint holds what was learned");

/* NULL where there is no hint. */
static learned *read_hint(const carom_tree_hint *hint, learned *to) {
    if (hint == NULL) return NULL;
    memcpy(to, hint->words, sizeof(*to));
    return to;
}

static void write_hint(const learned *from, carom_tree_hint *hint) {
    memcpy(hint->words, from, sizeof(*from));
}

/* The gap of the pair that was closest last time is an upper bound to start from. */
static void take_hint(query *q, const carom_tree *a, const carom_tree *b, const learned *hint) {
    carom_tree_search *s = &q->search;
    if (hint == NULL || !hint->valid || hint->sphere_a >= a->extent.count ||
        hint->sphere_b >= b->extent.count)
        return;
    carom_pack_posed p = find_sphere(a, &q->meeting.place[0], hint->sphere_a);
    carom_pack_posed r = find_sphere(b, &q->meeting.place[1], hint->sphere_b);
    double d = carom_vec_length(carom_vec_sub(r.centre, p.centre));
    s->least = d - (p.radius + r.radius);
    s->least_cover = d - (p.cover + r.cover);
    s->sphere_a = hint->sphere_a;
    s->sphere_b = hint->sphere_b;
    s->found = s->least <= 0.0;
}

/* ---- Distance of surfaces -------------------------------------------------------------------- */

/* What bounds of distances may be apart, in units of the host's size (between a half of it and it):
 * a search leaves SEARCH_TOLERANCE, and its lower bound is used again until motion has taken the
 * rest. Distances themselves are nearly always exact, as the search goes on from the nearest
 * triangles to their neighbours. */
#define GAP_TOLERANCE 0x1p-7

#define SEARCH_TOLERANCE 0x1p-10f

/* The same after a search that had to leave WIDEST. */
#define WIDE_GAP 0x1.8p-7

/* Names the trees and scales that a bound is for; never 0. */
static uint64_t name_trees(const query *q, const carom_tree *a, const carom_tree *b) {
    uint64_t parts[4] = {a->fingerprint, b->fingerprint, 0, 0}, name = 1;
    memcpy(&parts[2], &q->meeting.place[0].scale, sizeof(double));
    memcpy(&parts[3], &q->meeting.place[1].scale, sizeof(double));
    for (int i = 0; i < 4; ++i) name = (name ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return name != 0 ? name : 1;
}

/* The lower bound that is left of an earlier one: less how far any point of the guest has moved.
 * For x in the ball around its surface, |M x + m - (M' x + m')| <= |M c + m - (M' c + m')| + r
 * |M - M'|; the norm of the difference of two rotations is their Frobenius norm over sqrt(2). */
static double bound_left(const query *q, const learned *hint) {
    const carom_tree_surface *guest = &q->search.guest.tree->surface;
    const double c[3] = {guest->centre.x, guest->centre.y, guest->centre.z};
    double squares = 0.0, way = 0.0;
    for (int i = 0; i < 3; ++i) {
        double by = q->motion[9 + i] - hint->motion[9 + i];
        for (int k = 0; k < 3; ++k) {
            double d = q->motion[3 * i + k] - hint->motion[3 * i + k];
            squares += d * d;
            by += d * c[k];
        }
        way += by * by;
    }
    double moved = sqrt(way) + guest->radius * sqrt(0.5 * squares) * (1.0 + 0x1p-20);
    return hint->lower - moved * (1.0 + 0x1p-20) - 16.0 * q->motion_error - 0x1p-40;
}

/* Whether a shell of a lies in the solid of b, given that their surfaces do not meet: 1, 0, or -1
 * where that is not known. */
static int find_inside(const carom_tree *a, const carom_pack_place *place_a, const carom_tree *b,
                       const carom_pack_place *place_b) {
    carom_vec3 centre =
        carom_vec_add(b->origin, carom_vec_scale(b->surface.centre, carom_power_of_two(-b->shift)));
    centre = carom_pack_pose_centre(place_b, centre);
    int answer = 0;
    for (uint32_t i = 0; i < a->surface.shell_count; ++i) {
        carom_vec3 far = {0.0, 0.0, 0.0};
        double most = -1.0;
        for (uint32_t k = 0; k < CAROM_TREE_EXTREMES; ++k) {
            carom_vec3 p = carom_pack_pose_centre(
                place_a, a->surface.extremes[(uint64_t)i * CAROM_TREE_EXTREMES + k]);
            carom_vec3 d = carom_vec_sub(p, centre);
            double apart = carom_vec_dot(d, d);
            if (!(apart > most)) continue;
            most = apart;
            far = p;
        }
        int inside = carom_tree_surface_inside(&b->surface, place_b, b->origin, b->shift, far);
        if (inside == 1) return 1;
        if (inside < 0) answer = -1;
    }
    return answer;
}

/* `known` is a lower bound, in the frame: then one above 0 also says that no solid is in the other,
 * as none was when it was found, and surfaces have not passed each other since. False: one
 * solid is or may be in the other. */
static bool finish_near(const query *q, const carom_tree *a, const carom_tree *b, double known,
                        carom_tree_gap *gap) {
    const carom_tree_search *s = &q->search;
    const carom_tree_near *n = &s->near;
    const carom_pack_place *place = q->meeting.place;
    /* Of the distance of triangles: 1e-15 of their extent. */
    double size = a->extent.size * place[0].scale + b->extent.size * place[1].scale;
    double rounding = 0x1p-47 * size + 0x1p-49 * n->best.distance + q->meeting.slack;
    double pending = (CAROM_MAX((double)n->pending, known) + s->offset) / s->to_frame;
    double lower = CAROM_MIN(pending, n->best.distance) - rounding;
    bool apart = s->apart || known > 0.0;
    int inside = apart ? 0 : find_inside(a, &place[0], b, &place[1]);
    if (inside == 0 && !apart) inside = find_inside(b, &place[1], a, &place[0]);
    if (inside == 1) return false;
    gap->distance.upper = n->best.distance + rounding;
    gap->distance.lower = inside == 0 ? CAROM_MAX(lower, 0.0) : 0.0;
    gap->distance.value = n->best.distance;
    gap->point_a = n->best.a;
    gap->point_b = n->best.b;
    gap->face_a = a->surface.faces[n->triangle_a];
    gap->face_b = b->surface.faces[n->triangle_b];
    gap->partial = s->stopped;
    return inside == 0;
}

/* Surfaces that are parallel over long ways, such as two tori in each other, would need thousands
 * of nodes. Along a path, a search that has visited WIDEN_AT nodes doubles its tolerance, and again
 * after WIDEN_BY more, up to WIDEST: so distances take some 100 us at most. */
#define WIDEN_AT 384
#define WIDEN_BY 32
#define WIDEST   0x1p-7f

/* Without a hint, nodes that a search may visit before it is begun again with COARSE_TOLERANCE,
 * which takes some hundred. */
#define MOST_VISITS      700
#define COARSE_TOLERANCE 0x1p-8f

static void search_surfaces(carom_context *context, carom_tree_search *s,
                            const carom_tree_query_def *def) {
    carom_tree_near *n = &s->near;
    uint64_t most = s->most_visits;
    bool exact = def->exact_distance, warm = n->best.distance < HUGE_VAL;
    n->tolerance = exact ? 0.0f : SEARCH_TOLERANCE;
    n->widest = warm && !exact ? WIDEST : 0.0f;
    n->widen_at = s->visits + WIDEN_AT;
    n->widen_by = WIDEN_BY;
    if (!warm && !exact) s->most_visits = CAROM_MIN(most, s->visits + MOST_VISITS);
    CAROM_CPU_CALL(context, carom_tree_search_surfaces)(s);
    if (!s->stopped || s->visits >= most || carom_time_seconds() >= s->deadline) return;
    float first = n->pending;
    s->most_visits = most;
    s->stopped = false;
    n->pending = HUGE_VALF;
    n->tolerance = COARSE_TOLERANCE;
    CAROM_CPU_CALL(context, carom_tree_search_surfaces)(s);
    n->pending = CAROM_MAX(first, n->pending);
}

static void find_near(carom_context *context, query *q, const carom_tree_pair *p,
                      const carom_tree_query_def *def, carom_tree_gap *gap) {
    const carom_tree *a = p->a, *b = p->b;
    carom_tree_search *s = &q->search;
    carom_tree_near *n = &s->near;
    learned before, *hint = read_hint(p->hint, &before);
    uint64_t trees = name_trees(q, a, b);
    double known = -HUGE_VAL;
    n->best.distance = HUGE_VAL;
    n->pending = HUGE_VALF;
    n->triangle_a = n->triangle_b = CAROM_NONE;
    if (hint != NULL && hint->faces && hint->triangle_a < a->surface.triangle_count &&
        hint->triangle_b < b->surface.triangle_count)
        CAROM_CPU_CALL(context, carom_tree_search_triangles)
    (s, s->swapped ? hint->triangle_b : hint->triangle_a,
     s->swapped ? hint->triangle_a : hint->triangle_b);
    bool has_bound = hint != NULL && hint->trees == trees && !s->far;
    if (has_bound) known = bound_left(q, hint);
    double most = has_bound && hint->wide ? WIDE_GAP : GAP_TOLERANCE;
    if (def->exact_distance || !(n->best.distance * s->to_frame - known <= most)) {
        known = -HUGE_VAL;
        has_bound = false;
        search_surfaces(context, s, def);
    } else {
        n->pending = -HUGE_VALF;
    }
    bool apart = !s->found && finish_near(q, a, b, known, gap);
    gap->sphere_a = gap->sphere_b = CAROM_NONE;
    if (hint == NULL) return;
    hint->faces = true;
    hint->triangle_a = n->triangle_a;
    hint->triangle_b = n->triangle_b;
    if (!has_bound) { /* one of solids that are apart, for the next pose */
        double least = CAROM_MIN((double)n->pending, n->best.distance * s->to_frame);
        hint->trees = !s->far && apart ? trees : 0;
        hint->lower = least - 4.0 * q->motion_error;
        hint->wide = n->tolerance >= WIDEST;
        memcpy(hint->motion, q->motion, sizeof(hint->motion));
    }
    write_hint(hint, p->hint);
}

static void find_gap(carom_context *context, query *q, const carom_tree_pair *p,
                     const carom_tree_query_def *def, carom_tree_gap *gap) {
    const carom_tree *a = p->a, *b = p->b;
    carom_tree_search *s = &q->search;
    memset(gap, 0, sizeof(*gap));
    gap->face_a = gap->face_b = CAROM_NONE;
    if (a->surface.triangle_count != 0 && b->surface.triangle_count != 0) {
        find_near(context, q, p, def, gap);
        return;
    }
    s->least = s->least_cover = HUGE_VAL;
    s->sphere_a = s->sphere_b = CAROM_NONE;
    learned before;
    take_hint(q, a, b, read_hint(p->hint, &before));
    CAROM_CPU_CALL(context, carom_tree_search_gap)(s);
    if (!s->found) finish_gap(q, a, b, gap);
    const learned now = {.valid = !s->found, .sphere_a = s->sphere_a, .sphere_b = s->sphere_b};
    if (p->hint != NULL) write_hint(&now, p->hint);
}

static carom_status run_distance(carom_context *context, uint32_t worker, const carom_tree_pair *p,
                                 const carom_tree_query_def *def, carom_tree_gap *gap,
                                 carom_work *work) {
    query q;
    (void)worker;
    begin(&q, p, def);
    find_gap(context, &q, p, def, gap);
    count_work(&q, work);
    return CAROM_OK;
}

carom_status carom_tree_distance(carom_context *context, const carom_tree *a,
                                 const carom_pose *pose_a, const carom_tree *b,
                                 const carom_pose *pose_b, const carom_tree_query_def *def,
                                 carom_tree_gap *gap) {
    CHECK(gap);
    carom_tree_pair p = pair_of(a, pose_a, b, pose_b, def);
    context->work = (carom_work){0};
    return run_distance(context, 0, &p, def, gap, &context->work);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Of a time budget: the rest is for the distance, which a few microseconds are enough to bound, and
 * some tens to bound well. */
#define OVERLAP_SHARE 0.75

/* Apart, the search for overlaps ends near the roots, so that the one for the distance may as well
 * follow it; overlapping, none is needed. */
static carom_status run_query(carom_context *context, uint32_t worker, const carom_tree_pair *p,
                              const carom_tree_query_def *def, carom_tree_result *result,
                              carom_work *work) {
    double start = def->time_budget > 0.0 ? carom_time_seconds() : 0.0;
    carom_tree_query_def of_overlap = *def;
    of_overlap.time_budget *= OVERLAP_SHARE;
    memset(result, 0, sizeof(*result));
    CAROM_TRY(run_overlap(context, worker, p, &of_overlap, &result->overlap, work));
    if (result->overlap.relation >= CAROM_RELATION_OVERLAPPING) return CAROM_OK;
    query q;
    begin(&q, p, def);
    if (def->time_budget > 0.0) q.search.deadline = start + def->time_budget * (1.0 - FINISH_PART);
    if (result->overlap.relation == CAROM_RELATION_APART) q.search.apart = true;
    find_gap(context, &q, p, def, &result->gap);
    count_work(&q, work);
    result->has_gap = true;
    return CAROM_OK;
}

carom_status carom_tree_query(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                              const carom_tree *b, const carom_pose *pose_b,
                              const carom_tree_query_def *def, carom_tree_result *result) {
    CHECK(result);
    carom_tree_pair p = pair_of(a, pose_a, b, pose_b, def);
    context->work = (carom_work){0};
    return fail_query(context, run_query(context, 0, &p, def, result, &context->work));
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

/* One array of results is given. */
typedef struct batch {
    carom_context *context;
    const carom_tree_pair *pairs;
    const carom_tree_query_def *def;
    carom_packing_overlap *overlaps;
    carom_tree_gap *gaps;
    carom_tree_result *results;
    carom_work *works; /* one per worker */
} batch;

static carom_status answer_range(void *argument, carom_range range) {
    const batch *all = argument;
    carom_context *context = all->context;
    carom_work *work = &all->works[range.worker];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_tree_pair *p = &all->pairs[i];
        if (all->overlaps != NULL)
            CAROM_TRY(run_overlap(context, range.worker, p, all->def, &all->overlaps[i], work));
        else if (all->gaps != NULL)
            CAROM_TRY(run_distance(context, range.worker, p, all->def, &all->gaps[i], work));
        else
            CAROM_TRY(run_query(context, range.worker, p, all->def, &all->results[i], work));
    }
    return CAROM_OK;
}

static carom_status check_batch(const batch *all, uint64_t count) {
    CAROM_REQUIRE(all->def->scale_a == 0.0 && all->def->scale_b == 0.0 && all->def->hint == NULL,
                  "the def has scales or a hint; each pair has its own");
    for (uint64_t i = 0; i < count; ++i) {
        const carom_tree_pair *p = &all->pairs[i];
        CAROM_REQUIRE_BOTH(p->a, p->b, "tree");
        carom_tree_query_def def = *all->def;
        def.scale_a = p->scale_a;
        def.scale_b = p->scale_b;
        carom_status status = check(all->context, p->a, &p->pose_a, p->b, &p->pose_b, &def);
        if (status != CAROM_OK) return carom_fail_at(all->context, status, "pair", i);
    }
    return CAROM_OK;
}

static carom_status run_batch(batch *all, uint64_t count) {
    carom_context *context = all->context;
    if (all->def == NULL) all->def = &defaults;
    CAROM_TRY(check_batch(all, count));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    all->works = CAROM_ARENA_TAKE(scratch, carom_work, context->threads);
    if (all->works == NULL)
        return carom_fail_memory(context, context->threads * sizeof(*all->works),
                                 "queries of sphere trees");
    memset(all->works, 0, context->threads * sizeof(*all->works));
    carom_status status =
        carom_parallel_phase(context, "comparing sphere trees", count, 1, answer_range, all);
    context->work = (carom_work){0};
    for (uint32_t i = 0; i < context->threads; ++i) {
        context->work.visits += all->works[i].visits;
        context->work.candidates += all->works[i].candidates;
    }
    carom_arena_rewind(scratch, mark);
    return fail_query(context, status);
}

#define REQUIRE_BATCH(results)                                                                     \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");                                                   \
    CAROM_REQUIRE_OUTPUTS(results, count, "results");                                              \
    if (count == 0) return CAROM_OK

carom_status carom_tree_overlap_batch(carom_context *context, const carom_tree_pair *pairs,
                                      uint64_t count, const carom_tree_query_def *def,
                                      carom_packing_overlap *overlaps) {
    REQUIRE_BATCH(overlaps);
    batch all = {.context = context, .pairs = pairs, .def = def, .overlaps = overlaps};
    return run_batch(&all, count);
}

carom_status carom_tree_distance_batch(carom_context *context, const carom_tree_pair *pairs,
                                       uint64_t count, const carom_tree_query_def *def,
                                       carom_tree_gap *gaps) {
    REQUIRE_BATCH(gaps);
    batch all = {.context = context, .pairs = pairs, .def = def, .gaps = gaps};
    return run_batch(&all, count);
}

carom_status carom_tree_query_batch(carom_context *context, const carom_tree_pair *pairs,
                                    uint64_t count, const carom_tree_query_def *def,
                                    carom_tree_result *results) {
    REQUIRE_BATCH(results);
    batch all = {.context = context, .pairs = pairs, .def = def, .results = results};
    return run_batch(&all, count);
}
