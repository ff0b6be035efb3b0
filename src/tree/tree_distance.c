/* SPDX-License-Identifier: MIT */
/* The distance of two trees: of their surfaces where both have one, else of their spheres. A search
 * (tree_cpu.c, tree_surface_cpu.c) finds an upper bound and what it deferred; here both become
 * bounds of the distance of the solids, and what the next query may begin with, the hint.
 *
 * Invariant: lower <= value <= upper at every exit. The surfaces' value is the distance of two
 * triangles, the spheres' that of two inner balls, which are in the solids. */
#include <float.h>

#include "base/assert.h"
#include "tree/tree_device.h"
#include "tree/tree_gap_item.h"
#include "tree/tree_query.h"

/* ---- Hints ----------------------------------------------------------------------------------- */

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
    double motion[12]; /* the smaller tree's transform */
    bool wide;         /* it took long to find: TREE_WIDENED_GAP is for it */
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

void carom_tree_read_hint(const carom_tree_hint *hint, bool faces, uint32_t nearest[2]) {
    learned from;
    (void)read_hint(hint, &from);
    nearest[0] = nearest[1] = CAROM_NONE;
    if (!(faces ? from.faces : from.valid)) return;
    nearest[0] = faces ? from.triangle_a : from.sphere_a;
    nearest[1] = faces ? from.triangle_b : from.sphere_b;
}

/* The bound of an earlier pose is dropped with the pair. */
void carom_tree_write_hint(const uint32_t nearest[2], bool faces, carom_tree_hint *hint) {
    bool known = nearest[0] != CAROM_NONE;
    learned now = {.valid = known && !faces, .faces = known && faces};
    if (now.valid) {
        now.sphere_a = nearest[0];
        now.sphere_b = nearest[1];
    }
    if (now.faces) {
        now.triangle_a = nearest[0];
        now.triangle_b = nearest[1];
    }
    write_hint(&now, hint);
}

/* ---- Spheres --------------------------------------------------------------------------------- */

static carom_tree_gap_search tree_gap_begin(const carom_tree_posed_pair *p,
                                            const carom_tree_budget *budget) {
    return (carom_tree_gap_search){
        .posed = p,
        .fixed = carom_tree_side_make(p->fixed, carom_tree_fixed_transform(p)),
        .moving = carom_tree_side_make(p->moving, carom_tree_moving_transform(p)),
        .budget = *budget,
        .pending = HUGE_VAL};
}

/* A sphere of a tree by its index in the packing, posed. */
static carom_spheres_posed find_sphere(const carom_tree *tree,
                                       const carom_spheres_transform *transform, uint32_t index) {
    return carom_tree_pose_slot(tree, transform, tree->slots[index]);
}

static void finish_gap(const carom_tree_gap_search *s, carom_tree_gap *gap) {
    const carom_tree_posed_pair *posed = s->posed;
    double pending = (s->pending + posed->offset) / posed->to_frame;
    carom_tree_gap_of_spheres(posed, s->sphere_a, s->sphere_b, s->least, s->least_cover, pending,
                              gap);
    gap->partial = s->budget.stopped;
}

/* The gap of the pair that was closest last time is an upper bound to start from. */
static void take_hint(carom_tree_gap_search *s, const learned *hint) {
    const carom_tree_posed_pair *posed = s->posed;
    if (hint == NULL || !hint->valid || hint->sphere_a >= posed->a->extent.count ||
        hint->sphere_b >= posed->b->extent.count)
        return;
    carom_spheres_posed p = find_sphere(posed->a, &posed->world.transform[0], hint->sphere_a);
    carom_spheres_posed r = find_sphere(posed->b, &posed->world.transform[1], hint->sphere_b);
    double d = carom_vec_length(carom_vec_sub(r.centre, p.centre));
    s->least = d - (p.radius + r.radius);
    s->least_cover = d - (p.cover + r.cover);
    s->sphere_a = hint->sphere_a;
    s->sphere_b = hint->sphere_b;
    s->found = s->least <= 0.0;
}

static void find_gap(carom_context *context, const carom_tree_posed_pair *posed,
                     carom_tree_budget *budget, carom_tree_hint *hint, carom_tree_gap *gap) {
    carom_tree_gap_search s = tree_gap_begin(posed, budget);
    learned before;
    s.least = s.least_cover = HUGE_VAL;
    s.sphere_a = s.sphere_b = CAROM_NONE;
    take_hint(&s, read_hint(hint, &before));
    CAROM_CPU_CALL(context, carom_tree_search_gap)(&s);
    CAROM_ASSERT(s.least < HUGE_VAL && s.least_cover <= s.least);
    if (!s.found) finish_gap(&s, gap);
    const learned now = {.valid = !s.found, .sphere_a = s.sphere_a, .sphere_b = s.sphere_b};
    if (hint != NULL) write_hint(&now, hint);
    *budget = s.budget;
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* What bounds of distances may be apart, in units of the fixed tree's frame, in which its size is
 * 1/2 to 1: a search leaves TREE_SEARCH_TOLERANCE, and its lower bound is used again until motion
 * has taken the rest. 2^-7 is the "up to 1 % of the larger solid's size" that tree.h promises.
 * Distances themselves are nearly always exact, as the search goes on from the nearest triangles to
 * their neighbours. */
#define TREE_GAP_TOLERANCE    0x1p-7
#define TREE_SEARCH_TOLERANCE 0x1p-10f

/* Surfaces that are parallel over long ways, such as two tori in each other, would need thousands
 * of nodes. Along a path, a search that has visited TREE_WIDEN_VISITS nodes doubles its tolerance,
 * and again after TREE_WIDEN_STEP more, up to TREE_WIDENED_TOLERANCE: three times, so that it ends
 * after some 500 visits. Others end before: two tori without a hint take 240. The bound of such a
 * search is used again until it is TREE_WIDENED_GAP below the distance, half as far again as
 * others. */
#define TREE_WIDEN_VISITS      384
#define TREE_WIDEN_STEP        32
#define TREE_WIDENED_TOLERANCE 0x1p-7f
#define TREE_WIDENED_GAP       0x1.8p-7

/* Without a hint, nodes that a search may visit before it is begun again with
 * TREE_RETRY_TOLERANCE, which takes some hundred. */
#define TREE_FIRST_VISITS    700
#define TREE_RETRY_TOLERANCE 0x1p-8f

/* Names the trees and scales that a bound is for; never 0. */
static uint64_t name_trees(const carom_tree_posed_pair *p) {
    uint64_t parts[4] = {p->a->fingerprint, p->b->fingerprint, 0, 0}, name = 1;
    memcpy(&parts[2], &p->world.transform[0].scale, sizeof(double));
    memcpy(&parts[3], &p->world.transform[1].scale, sizeof(double));
    for (int i = 0; i < 4; ++i) name = (name ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return name != 0 ? name : 1;
}

/* Relative: a motion is taken as this much longer, as rotations are of length 1 up to 2^-50 only.
 */
#define TREE_MOTION_SLACK 0x1p-20
/* Errors of a point that a motion places: four for the one now, as elsewhere, as many for the
 * earlier one, and twice that. */
#define TREE_MOTION_ERRORS 16.0

/* The lower bound that is left of an earlier one: less how far any point of the moving tree has
 * moved. For x in the ball around its surface, |M x + m - (M' x + m')| <= |M c + m - (M' c + m')| +
 * r |M - M'|; the norm of the difference of two rotations is their Frobenius norm over sqrt(2). */
static double bound_left(const carom_tree_posed_pair *p, const learned *hint) {
    const carom_tree_surface *moving = &p->moving->surface;
    const double c[3] = {moving->centre.x, moving->centre.y, moving->centre.z};
    double squares = 0.0, way = 0.0;
    for (int i = 0; i < 3; ++i) {
        double by = p->motion[9 + i] - hint->motion[9 + i];
        for (int k = 0; k < 3; ++k) {
            double d = p->motion[3 * i + k] - hint->motion[3 * i + k];
            squares += d * d;
            by += d * c[k];
        }
        way += by * by;
    }
    double moved = sqrt(way) + moving->radius * sqrt(0.5 * squares) * (1.0 + TREE_MOTION_SLACK);
    return hint->lower - moved * (1.0 + TREE_MOTION_SLACK) - TREE_MOTION_ERRORS * p->motion_error -
           CAROM_TREE_SLACK;
}

/* Whether a shell of a lies in the solid of b, given that their surfaces do not meet: 1, 0, or -1
 * where that is not known. */
static int find_inside(const carom_tree *a, const carom_spheres_transform *transform_a,
                       const carom_tree *b, const carom_spheres_transform *transform_b) {
    carom_vec3 centre =
        carom_vec_add(b->origin, carom_vec_scale(b->surface.centre, carom_power_of_two(-b->shift)));
    centre = carom_spheres_pose_centre(transform_b, centre);
    int answer = 0;
    for (uint32_t i = 0; i < a->surface.shell_count; ++i) {
        carom_vec3 far = {0.0, 0.0, 0.0};
        double most = -1.0;
        for (uint32_t k = 0; k < CAROM_TREE_EXTREMES; ++k) {
            carom_vec3 p = carom_spheres_pose_centre(
                transform_a, a->surface.extremes[(uint64_t)i * CAROM_TREE_EXTREMES + k]);
            carom_vec3 d = carom_vec_sub(p, centre);
            double apart = carom_vec_dot(d, d);
            if (!(apart > most)) continue;
            most = apart;
            far = p;
        }
        int inside = carom_tree_surface_inside(&b->surface, transform_b, b->origin, b->shift, far);
        if (inside == 1) return 1;
        if (inside < 0) answer = -1;
    }
    return answer;
}

/* Whether one of two solids whose surfaces do not meet is in the other, as find_inside. */
static int find_inside_either(const carom_tree_posed_pair *p) {
    const carom_spheres_transform *transform = p->world.transform;
    int inside = find_inside(p->a, &transform[0], p->b, &transform[1]);
    return inside != 0 ? inside : find_inside(p->b, &transform[1], p->a, &transform[0]);
}

/* `known` is a lower bound, in the frame: then one above 0 also says that no solid is in the other,
 * as none was when it was found, and surfaces have not passed each other since. False: one
 * solid is or may be in the other. */
static bool finish_near(const carom_tree_surface_search *s, double known, carom_tree_gap *gap) {
    const carom_tree_posed_pair *p = s->posed;
    double pending = (CAROM_MAX((double)s->pending, known) + p->offset) / p->to_frame;
    int inside = p->apart || known > 0.0 ? 0 : find_inside_either(p);
    if (inside == 1) return false;
    carom_tree_gap_of_faces(p, &s->best, s->triangle_a, s->triangle_b, pending, inside, gap);
    gap->partial = s->budget.stopped;
    return inside == 0;
}

void carom_tree_complete_gap(const carom_tree_pair *pair, carom_tree_gap *gap) {
    const carom_tree_posed_pair posed = carom_tree_pose(pair);
    int inside = find_inside_either(&posed);
    if (inside == 1) {
        memset(gap, 0, sizeof(*gap));
        gap->sphere_a = gap->sphere_b = gap->face_a = gap->face_b = CAROM_NONE;
    } else if (inside < 0) {
        gap->distance.lower = 0.0;
    }
}

static void search_surfaces(carom_context *context, carom_tree_surface_search *s, bool exact) {
    carom_tree_budget *budget = &s->budget;
    uint64_t most = budget->most_visits;
    bool warm = s->best.distance < HUGE_VAL;
    s->tolerance = exact ? 0.0f : TREE_SEARCH_TOLERANCE;
    s->widest = warm && !exact ? TREE_WIDENED_TOLERANCE : 0.0f;
    s->widen_at = budget->visits + TREE_WIDEN_VISITS;
    s->widen_by = TREE_WIDEN_STEP;
    if (!warm && !exact) budget->most_visits = CAROM_MIN(most, budget->visits + TREE_FIRST_VISITS);
    CAROM_CPU_CALL(context, carom_tree_search_surfaces)(s);
    if (!budget->stopped || budget->visits >= most || carom_time_seconds() >= budget->deadline)
        return;
    float first = s->pending;
    budget->most_visits = most;
    budget->stopped = false;
    s->pending = HUGE_VALF;
    s->tolerance = TREE_RETRY_TOLERANCE;
    CAROM_CPU_CALL(context, carom_tree_search_surfaces)(s);
    s->pending = CAROM_MAX(first, s->pending);
}

static carom_tree_surface_search tree_surface_begin(const carom_tree_posed_pair *p,
                                                    const carom_tree_budget *budget) {
    carom_tree_surface_search s = {
        .posed = p,
        .fixed = {&p->fixed->surface, carom_tree_fixed_transform(p), CAROM_TREE_NONE, {{0}}},
        .moving = {&p->moving->surface, carom_tree_moving_transform(p), CAROM_TREE_NONE, {{0}}},
        .budget = *budget,
        .pending = HUGE_VALF,
        .triangle_a = CAROM_NONE,
        .triangle_b = CAROM_NONE};
    s.best.distance = HUGE_VAL;
    return s;
}

static void find_near(carom_context *context, const carom_tree_posed_pair *p,
                      carom_tree_budget *budget, carom_tree_hint *hint_words, bool exact,
                      carom_tree_gap *gap) {
    carom_tree_surface_search s = tree_surface_begin(p, budget);
    learned before, *hint = read_hint(hint_words, &before);
    uint64_t trees = name_trees(p);
    double known = -HUGE_VAL;
    if (hint != NULL && hint->faces && hint->triangle_a < p->a->surface.triangle_count &&
        hint->triangle_b < p->b->surface.triangle_count) {
        uint32_t fixed = p->swapped ? hint->triangle_b : hint->triangle_a;
        uint32_t moving = p->swapped ? hint->triangle_a : hint->triangle_b;
        CAROM_CPU_CALL(context, carom_tree_search_triangles)(&s, fixed, moving);
    }
    bool has_bound = hint != NULL && hint->trees == trees && !p->far;
    if (has_bound) known = bound_left(p, hint);
    CAROM_ASSERT(!has_bound || known <= s.best.distance * p->to_frame + CAROM_TREE_SLACK);
    double most = has_bound && hint->wide ? TREE_WIDENED_GAP : TREE_GAP_TOLERANCE;
    if (exact || !(s.best.distance * p->to_frame - known <= most)) {
        known = -HUGE_VAL;
        has_bound = false;
        search_surfaces(context, &s, exact);
    } else {
        s.pending = -HUGE_VALF;
    }
    CAROM_ASSERT(s.best.distance < HUGE_VAL && s.triangle_a < p->a->surface.triangle_count &&
                 s.triangle_b < p->b->surface.triangle_count);
    bool apart = !s.found && finish_near(&s, known, gap);
    gap->sphere_a = gap->sphere_b = CAROM_NONE;
    *budget = s.budget;
    if (hint == NULL) return;
    hint->faces = true;
    hint->triangle_a = s.triangle_a;
    hint->triangle_b = s.triangle_b;
    if (!has_bound) { /* one of solids that are apart, for the next pose */
        double least = CAROM_MIN((double)s.pending, s.best.distance * p->to_frame);
        hint->trees = !p->far && apart ? trees : 0;
        hint->lower = least - 4.0 * p->motion_error;
        hint->wide = s.tolerance >= TREE_WIDENED_TOLERANCE;
        memcpy(hint->motion, p->motion, sizeof(hint->motion));
    }
    write_hint(hint, hint_words);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Of a time budget: for rays that tell whether one solid is in the other. */
#define TREE_DISTANCE_FINISH_PART 0.125

void carom_tree_run_distance(carom_context *context, const carom_tree_posed_pair *posed,
                             carom_tree_hint *hint, const carom_tree_query_def *def, double start,
                             carom_tree_gap *gap, carom_work *work) {
    carom_tree_budget budget = carom_tree_budget_make(def, start, TREE_DISTANCE_FINISH_PART);
    memset(gap, 0, sizeof(*gap));
    gap->face_a = gap->face_b = CAROM_NONE;
    if (posed->a->surface.triangle_count != 0 && posed->b->surface.triangle_count != 0)
        find_near(context, posed, &budget, hint, def->exact_distance, gap);
    else
        find_gap(context, posed, &budget, hint, gap);
    CAROM_ASSERT(gap->distance.lower >= 0.0 && gap->distance.lower <= gap->distance.value &&
                 gap->distance.value <= gap->distance.upper);
    carom_tree_count_work(&budget, work);
}

carom_status carom_tree_distance(carom_context *context, const carom_tree *a,
                                 const carom_pose *pose_a, const carom_tree *b,
                                 const carom_pose *pose_b, const carom_tree_query_def *def,
                                 carom_tree_gap *gap) {
    CAROM_TREE_ENTER(gap);
    double start = carom_tree_start(def);
    const carom_tree_pair pair = carom_tree_pair_of(a, pose_a, b, pose_b, def);
    if (carom_tree_on_device(context))
        return carom_tree_device_distances(context, &pair, 1, def, gap);
    const carom_tree_posed_pair posed = carom_tree_pose(&pair);
    context->work = (carom_work){0};
    carom_tree_run_distance(context, &posed, pair.hint, def, start, gap, &context->work);
    return CAROM_OK;
}

carom_status carom_tree_meet(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                             const carom_tree *b, const carom_pose *pose_b,
                             const carom_tree_query_def *def, bool *meet) {
    CAROM_TREE_ENTER(meet);
    const carom_tree_pair pair = carom_tree_pair_of(a, pose_a, b, pose_b, def);
    if (carom_tree_on_device(context)) return carom_tree_device_meet(context, &pair, meet);
    const carom_tree_posed_pair posed = carom_tree_pose(&pair);
    const carom_tree_budget unlimited =
        carom_tree_budget_make(&carom_tree_query_defaults, 0.0, 0.0);
    carom_tree_gap_search s = tree_gap_begin(&posed, &unlimited);
    s.any = true;
    if (!posed.apart) CAROM_CPU_CALL(context, carom_tree_search_gap)(&s);
    context->work = (carom_work){0};
    carom_tree_count_work(&s.budget, &context->work);
    *meet = s.found;
    return CAROM_OK;
}
