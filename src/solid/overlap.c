/* SPDX-License-Identifier: MIT */
/* The overlap of two solids: volume, centroid, area, force and torque from one walk.
 *
 * Pairs of faces that meet give their terms (meet.c); one ray for each connected part says whether
 * its first vertex is inside the other solid; all else follows from the sums that were ready before
 * (order.c, sums.c). docs/solid.md derives the terms. */
#include "base/progress.h"
#include "geom/length.h"
#include "solid/query.h"

/* Error of a posed coordinate relative to what it was summed from. */
#define POSE_ERROR 0x1p-51
#define FINE       0x1p-45 /* of the smaller volume: when to go by posed corners instead */
#define POOR       0x1p-43 /* of the smaller volume: when to look for a better origin */
#define LARGE      4.0     /* times the size of what they are measured by */
#define FEW        512u    /* triangles */

/* ---- how to add up --------------------------------------------------------------------------- */

/* How far posed corners may be off the pose that sums are moved by; none when it changes nothing.
 */
static double pose_error(const carom_solid_query *query, int of_b) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    const carom_frame *f = &side->frame;
    bool still = f->t.x == 0.0 && f->t.y == 0.0 && f->t.z == 0.0 && f->r[0] == 1.0 &&
                 f->r[4] == 1.0 && f->r[8] == 1.0;
    double largest = side->largest + carom_vec_largest(f->t);
    return still ? 0.0 : POSE_ERROR * largest * query->power;
}

/* Sums are moved by the pose as it is, while everything else goes by corners that it has moved and
 * rounded. This matters when a solid is small where it is. Corners are rounded up and down alike,
 * so that the volume is off by a share of the error that falls with the root of their number. */
static bool is_rounded(const carom_solid_query *query, int of_b) {
    const carom_solid_info *a = &query->solids[0]->info, *b = &query->solids[1]->info;
    const carom_solid_info *info = of_b ? b : a;
    double volume = carom_scale_apply(CAROM_MIN(a->volume, b->volume), 3 * query->exponent);
    double area = carom_scale_apply(info->area, 2 * query->exponent);
    return pose_error(query, of_b) * area / sqrt((double)info->vertices) > FINE * volume;
}

static double radius(const carom_solid_query *query, int of_b) {
    return carom_scale_apply(query->power, -carom_solid_side(query, of_b)->exponent);
}

/* Decides for which solid triangles are added one by one, and which of them are large: those larger
 * than the smaller solid by far, or where going through all costs nothing, than the overlap. Then
 * scales may be finer, too; should they turn out too fine, `coarse` asks for safe ones. */
static carom_status choose_sums(carom_solid_query *query, bool coarse) {
    uint64_t triangles = query->solids[0]->info.triangles + query->solids[1]->info.triangles;
    double size = LARGE * CAROM_MIN(radius(query, 0), radius(query, 1));
    if ((triangles <= FEW || query->refined) && query->overlap > 0.0)
        size = CAROM_MIN(size, query->overlap);
    bool complement = query->solids[0]->info.complement || query->solids[1]->info.complement;
    bool any = false;
    query->long_edge = size;
    query->changes[0] = query->changes[1] = NULL; /* those of a search before are spent */
    for (int of_b = 0; of_b < 2; ++of_b) {
        bool large = query->solids[of_b]->longest * query->power > size;
        query->large[of_b] = large ? size : HUGE_VAL;
        any = any || large;
        if (large || is_rounded(query, of_b))
            CAROM_TRY(carom_solid_query_keep_changes(query, of_b));
    }
    double near = any && !coarse && !complement ? 16.0 * size : query->reach;
    carom_solid_query_scale(query, CAROM_MIN(near, query->reach));
    return CAROM_OK;
}

/* What is known of where the connected parts of both are. */
typedef struct parts {
    bool all_inside[2], all_outside[2];
} parts;

static void add_parts(const carom_solid_query *query, carom_solid_tally *tally, parts *parts) {
    const carom_solid_skip none = {0, 0};
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_solid *solid = query->solids[of_b];
        parts->all_inside[of_b] = parts->all_outside[of_b] = true;
        for (uint32_t i = 0; i < solid->root_count; ++i) {
            if (carom_progress_stop(query->context, 0)) return;
            int winding = carom_solid_winding(query, of_b, solid->roots[i], none);
            carom_solid_add_below(query, tally, of_b, solid->roots[i], winding);
            if (winding != 0) parts->all_outside[of_b] = false;
            if (winding != 1) parts->all_inside[of_b] = false;
        }
        if (query->changes[of_b] != NULL) carom_solid_add_changed(query, tally, of_b);
    }
}

/* Everything in the query's units, about its origin. */
typedef struct totals {
    double volume, error, area;
    carom_vec3 moment, normal, turn;
} totals;

static totals add_up(const carom_solid_query *query, const carom_solid_tally *tally) {
    totals t = {.volume = carom_solid_sum_of(query, tally->terms, CAROM_SOLID_VOLUME),
                .error = CAROM_SOLID_TERM_ERROR *
                         carom_solid_sum_of(query, tally->terms, CAROM_SOLID_SIZE),
                .area = carom_solid_sum_of(query, tally->terms, CAROM_SOLID_EXTENT),
                .moment = carom_solid_vector_of(query, tally->terms, CAROM_SOLID_MOMENT),
                .normal = carom_solid_vector_of(query, tally->terms, CAROM_SOLID_FORCE),
                .turn = carom_solid_vector_of(query, tally->terms, CAROM_SOLID_TORQUE)};
    carom_vec3 origin = carom_vec_scale(query->origin, 1.0 / query->power);
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_solid *solid = query->solids[of_b];
        carom_solid_integrals i = carom_solid_moments_place(&solid->sums, &tally->moments[of_b],
                                                            &carom_solid_side(query, of_b)->frame,
                                                            origin, query->exponent);
        t.volume += i.volume;
        t.moment = carom_vec_add(t.moment, i.moment);
        t.area += i.area;
        t.error += pose_error(query, of_b) * fabs(i.area) + CAROM_SOLID_TERM_ERROR * fabs(i.volume);
        if (!of_b) continue;
        t.normal = carom_vec_add(t.normal, i.normal);
        t.turn = carom_vec_add(t.turn, i.turn);
    }
    return t;
}

static void fill(const carom_solid_query *query, const totals *t, carom_overlap *overlap) {
    const carom_solid *b = query->solids[1];
    carom_vec3 pivot =
        carom_vec_scale(carom_frame_apply(&query->placing.b.frame, b->info.centroid), query->power);
    carom_vec3 arm = carom_vec_sub(pivot, query->origin), centroid = query->origin;
    if (t->volume > t->error)
        centroid = carom_vec_add(centroid, carom_vec_scale(t->moment, 1.0 / t->volume));
    carom_vec3 turn = carom_vec_sub(carom_vec_cross(arm, t->normal), t->turn);
    /* what is below zero by rounding is zero */
    double volume = t->volume < 0.0 && t->volume >= -t->error ? 0.0 : t->volume;
    overlap->volume = carom_solid_unscale(query, volume, 3);
    overlap->volume_error = carom_solid_unscale(query, t->error, 3);
    overlap->area = carom_solid_unscale(query, t->area, 2);
    overlap->centroid = carom_solid_unscale_vector(query, centroid, 1);
    overlap->force = carom_solid_unscale_vector(query, carom_vec_scale(t->normal, -1.0), 2);
    overlap->torque = carom_solid_unscale_vector(query, turn, 3);
}

/* ---- relation -------------------------------------------------------------------------------- */

static bool has_all(const carom_solid *solid, const carom_overlap *overlap) {
    double error = overlap->volume_error + CAROM_SOLID_TERM_ERROR * solid->info.volume;
    return !solid->info.complement && solid->info.volume - overlap->volume <= error;
}

static carom_solid_relation relate(const carom_solid_query *query, const carom_solid_tally *tally,
                                   const parts *parts, const carom_overlap *overlap) {
    if (tally->pairs == 0) {
        if (parts->all_outside[0] && parts->all_outside[1]) return CAROM_SOLID_APART;
        if (parts->all_inside[0] && parts->all_outside[1]) return CAROM_SOLID_A_INSIDE_B;
        if (parts->all_inside[1] && parts->all_outside[0]) return CAROM_SOLID_B_INSIDE_A;
        return CAROM_SOLID_OVERLAPPING;
    }
    if (overlap->volume <= overlap->volume_error) return CAROM_SOLID_TOUCHING;
    if (has_all(query->solids[0], overlap)) return CAROM_SOLID_A_INSIDE_B;
    if (has_all(query->solids[1], overlap)) return CAROM_SOLID_B_INSIDE_A;
    return CAROM_SOLID_OVERLAPPING;
}

const char *carom_solid_relation_name(carom_solid_relation relation) {
    static const char *const names[CAROM_SOLID_RELATION_COUNT] = {
        "apart", "touching", "overlapping", "a-inside-b", "b-inside-a"};
    return (unsigned)relation < CAROM_SOLID_RELATION_COUNT ? names[relation] : "unknown";
}

/* ---- the whole ------------------------------------------------------------------------------- */

static carom_status find_distance(const carom_solid_query *query, const carom_pose *pose_a,
                                  const carom_pose *pose_b, carom_overlap *overlap) {
    carom_soup_gap gap;
    overlap->has_distance = true;
    if (overlap->relation != CAROM_SOLID_APART) return CAROM_OK;
    CAROM_TRY(carom_soup_distance(query->context, query->solids[0]->soup, pose_a,
                                  query->solids[1]->soup, pose_b, &gap));
    overlap->distance = gap.distance;
    overlap->point_a = gap.point_a;
    overlap->point_b = gap.point_b;
    return CAROM_OK;
}

/* Terms that cancelled: their origin may be far from where the solids meet. */
static bool is_poor(const carom_solid_query *query, const totals *t) {
    const carom_solid_info *a = &query->solids[0]->info, *b = &query->solids[1]->info;
    double volume = carom_scale_apply(CAROM_MIN(a->volume, b->volume), 3 * query->exponent);
    return t->error > POOR * volume;
}

static carom_status ask(carom_solid_query *query, carom_solid_tally *tally,
                        carom_overlap *overlap) {
    parts parts;
    totals t;
    bool coarse = false, again;
    do {
        carom_solid_tally_begin(tally);
        CAROM_TRY(choose_sums(query, coarse));
        CAROM_TRY(carom_solid_search(query, tally));
        add_parts(query, tally, &parts);
        CAROM_TRY(carom_progress_look(query->context));
        t = add_up(query, tally);
        again = tally->too_large && !coarse;
        coarse = coarse || again;
        if (!again && is_poor(query, &t)) again = carom_solid_query_refine(query, tally);
    } while (again);
    fill(query, &t, overlap);
    overlap->pairs = tally->pairs;
    overlap->one_sided = tally->one_sided;
    overlap->by_winding = query->solids[0]->info.by_winding || query->solids[1]->info.by_winding;
    overlap->relation = relate(query, tally, &parts, overlap);
    if (overlap->relation == CAROM_SOLID_APART) { /* whatever rounding and the range made of it */
        overlap->volume = overlap->volume_error = overlap->area = 0.0;
        overlap->force = overlap->torque = carom_vec(0.0, 0.0, 0.0);
    }
    return CAROM_OK;
}

carom_status carom_solid_overlap(carom_context *context, const carom_solid *a,
                                 const carom_pose *pose_a, const carom_solid *b,
                                 const carom_pose *pose_b, const carom_overlap_def *def,
                                 carom_overlap *overlap) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a solid is NULL");
    CAROM_REQUIRE(overlap != NULL, "the place for the overlap is NULL");
    carom_solid_query query;
    carom_solid_tally tally;
    memset(overlap, 0, sizeof(*overlap));
    CAROM_TRY(carom_solid_query_begin(context, a, pose_a, b, pose_b, &query));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "overlapping solids", 0);
    carom_status status = carom_progress_finish(context, ask(&query, &tally, overlap));
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    if (def != NULL && def->distance) CAROM_TRY(find_distance(&query, pose_a, pose_b, overlap));
    context->work = (carom_work){tally.visits, tally.candidates, tally.undecided};
    return CAROM_OK;
}
