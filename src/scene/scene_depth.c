/* SPDX-License-Identifier: MIT */
/* The depth of two meshes: how far b must move until it no longer overlaps a, which way, and how
 * much shorter another way could be.
 *
 * Along one direction the interval between a shift at which they overlap and one at which they do
 * not is halved. Both ends are answers of carom_solid_overlap or carom_soup_cross_meet, so the
 * interval is a proof, also where the overlap comes back farther along. Of several directions the
 * one with the least depth is kept: a direction is searched only where b, moved along it by less
 * than the least depth so far, is out of a.
 *
 * No shift shorter than the following lengths takes two solids apart, in any direction:
 *
 *   balls    A point p that is r deep in a and s deep in b is the middle of two balls, one in each.
 *            As long as b moves by less than r + s, they overlap. A grid of points and a pattern
 *            search (Hooke and Jeeves 1961) find a p where r + s is large. Where the overlap is a
 *            slab with a wall of a on one side and one of b on the other, that is the depth itself.
 *   hulls    Of two convex solids EPA finds the least depth (convex.h). Whether a solid is convex
 *            is decided exactly: no corner is above the plane of a face. */
#include "base/progress.h"
#include "carom/soup_points.h"
#include "convex/convex.h"
#include "geom/orient.h"
#include "scene/scene.h"
#include "solid/solid.h"
#include "soup/soup_view.h"

/* The interval that holds a depth is halved until it is this part of the depth. */
#define SCENE_DEPTH_PART 0x1p-20
/* A bound that is at most this part of the depth below it needs no further search. */
#define SCENE_BOUND_PART 0x1p-12
/* Of a shift that takes two boxes apart, relative to shift, position and extent: thousands of
 * roundings. */
#define SCENE_SHIFT_SLACK 0x1p-40
/* The same of a distance that serves as a bound. */
#define SCENE_BOUND_SLACK 0x1p-42
/* A force of less than so many of its errors gives no direction: it may be off by 15 degrees. */
#define SCENE_FORCE_ERRORS 4.0
/* Points along each edge of the box in which a deep point is searched, and their number: two
 * microseconds each. */
#define SCENE_GRID        6u
#define SCENE_GRID_POINTS (SCENE_GRID * SCENE_GRID * SCENE_GRID)
/* Steps of the search from the best of them, and the shortest, of the first. */
#define SCENE_PATTERN_STEPS 48
#define SCENE_PATTERN_LEAST 0x1p-10
#define SCENE_PATTERN       14u /* points around one: along the axes and the diagonals */
/* Products of faces and corners up to which convexity is looked at: some 5 ms. */
#define SCENE_CONVEX_TESTS (UINT64_C(1) << 20)
/* Corners up to which EPA looks at all of them some hundred times: 5 ms. */
#define SCENE_EPA_CORNERS 16384u

typedef struct scene_depth_search {
    const carom_scene_question *q;
    const carom_scene_object *a, *b;
    bool solids;
    carom_scene_contact *c;
    carom_frame frame[2];
    double slack;              /* of distances */
    carom_vec3 deepest;        /* the point of the two balls */
    carom_scene_candidates of; /* directions to try */
} scene_depth_search;

/* ---- One direction --------------------------------------------------------------------------- */

/* Whether two meshes overlap when b is moved by `shift` along a direction: solids, if space is in
 * both; others, if faces meet or one is inside the other. */
static carom_status overlaps_at(const carom_scene_question *q, const carom_scene_object *a,
                                const carom_scene_object *b, carom_vec3 direction, double shift,
                                bool *overlaps) {
    carom_scene_object moved = *b;
    moved.pose.t = carom_vec_add(b->pose.t, carom_vec_scale(direction, shift));
    if (a->solid != NULL && b->solid != NULL) {
        carom_solid_result overlap;
        CAROM_TRY(carom_solid_overlap(q->context, a->solid, &a->pose, b->solid, &moved.pose, NULL,
                                      &overlap));
        *overlaps = overlap.relation >= CAROM_RELATION_OVERLAPPING;
        return CAROM_OK;
    }
    CAROM_TRY(carom_soup_cross_meet(q->context, a->soup, &a->pose, b->soup, &moved.pose, overlaps));
    if (*overlaps) return CAROM_OK;
    return a->solid != NULL ? carom_scene_soup_inside(q, a, &moved, overlaps)
                            : carom_scene_soup_inside(q, &moved, a, overlaps);
}

/* How far a box extends along a direction. */
static double scene_box_reaches(const carom_bounds *b, carom_vec3 d) {
    return (d.x > 0.0 ? d.x * b->high.x : d.x * b->low.x) +
           (d.y > 0.0 ? d.y * b->high.y : d.y * b->low.y) +
           (d.z > 0.0 ? d.z * b->high.z : d.z * b->low.z);
}

static double scene_box_extent(const carom_bounds *b) {
    return (b->high.x - b->low.x) + (b->high.y - b->low.y) + (b->high.z - b->low.z);
}

double carom_scene_clearing_shift(const carom_scene_object *a, const carom_scene_object *b,
                                  carom_vec3 direction) {
    double shift = scene_box_reaches(&a->box, direction) +
                   scene_box_reaches(&b->box, carom_vec_scale(direction, -1.0));
    return shift + SCENE_SHIFT_SLACK *
                       (fabs(shift) + carom_vec_largest(b->pose.t) + scene_box_extent(&a->box));
}

/* Begins with a direction: the two overlap as they are, and do not when b is moved by `high`. */
static carom_scene_along scene_along_make(carom_vec3 n, double high, double guess) {
    carom_scene_along s = {.normal = n, .high = high, .guess = guess};
    s.at = guess > 0.0 && guess < high ? guess : 0.5 * high;
    s.done = !(s.high - s.low > SCENE_DEPTH_PART * s.high);
    return s;
}

void carom_scene_along_take(carom_scene_along *s, bool overlaps) {
    double step = overlaps ? s->at + (s->at - s->low) + SCENE_DEPTH_PART * s->high : s->at;
    CAROM_ASSERT(!s->done);
    if (overlaps)
        s->low = s->at;
    else
        s->high = s->at;
    /* Twice as far while all shifts overlapped; then halves. */
    s->at = overlaps && s->guess > 0.0 && step < s->high ? step : s->low + 0.5 * (s->high - s->low);
    if (!overlaps) s->guess = 0.0;
    s->done = !(s->at > s->low && s->at < s->high) || /* neighbouring doubles */
              !(s->high - s->low > SCENE_DEPTH_PART * s->high);
    CAROM_ASSERT(s->low >= 0.0 && s->low <= s->high);
}

void carom_scene_along_begin(const carom_scene_object *a, const carom_scene_object *b,
                             const carom_solid_result *overlap, carom_scene_along *s) {
    double force = overlap != NULL ? carom_length(overlap->force) : 0.0, guess = 0.0;
    carom_vec3 n = overlap != NULL ? carom_scene_out_of(a, b, overlap) : carom_scene_between(a, b);
    if (overlap != NULL && force > SCENE_FORCE_ERRORS * overlap->force_error)
        guess = overlap->volume / force;
    *s = scene_along_make(n, carom_scene_clearing_shift(a, b, n), guess);
}

/* Searches along a direction, and sets normal, depth and error. */
static carom_status scene_depth_along(const scene_depth_search *s, carom_scene_along along) {
    bool overlaps;
    while (!along.done) {
        CAROM_TRY(overlaps_at(s->q, s->a, s->b, along.normal, along.at, &overlaps));
        carom_scene_along_take(&along, overlaps);
        if (!along.done) CAROM_TRY(carom_progress_look(s->q->context));
    }
    s->c->normal = along.normal;
    s->c->depth = along.high;
    s->c->error = along.high - along.low;
    return CAROM_OK;
}

/* Keeps a direction if its depth is less than the least so far. */
static carom_status scene_depth_try(const scene_depth_search *s, carom_vec3 n) {
    double high = carom_scene_clearing_shift(s->a, s->b, n);
    double less = s->c->depth - s->c->error - SCENE_DEPTH_PART * s->c->depth;
    if (high > less) {
        bool overlaps;
        if (!(less > 0.0)) return CAROM_OK;
        CAROM_TRY(overlaps_at(s->q, s->a, s->b, n, less, &overlaps));
        if (overlaps) return CAROM_OK;
        high = less;
    }
    return scene_depth_along(s, scene_along_make(n, high, 0.0));
}

static bool scene_depth_is_proved(const scene_depth_search *s) {
    return s->c->depth_bound >= (1.0 - SCENE_BOUND_PART) * s->c->depth;
}

/* ---- A bound by two balls -------------------------------------------------------------------- */

/* How deep points are in both solids together, less than nothing where they are outside. */
static carom_status scene_depths_of(const scene_depth_search *s, const carom_vec3 *points,
                                    uint32_t count, double *depths) {
    const carom_scene_object *of[2] = {s->a, s->b};
    carom_vec3 local[SCENE_GRID_POINTS];
    carom_hit hits[SCENE_GRID_POINTS];
    int32_t windings[SCENE_GRID_POINTS];
    CAROM_ASSERT(count <= SCENE_GRID_POINTS);
    for (uint32_t i = 0; i < count; ++i) depths[i] = 0.0;
    for (int k = 0; k < 2; ++k) {
        for (uint32_t i = 0; i < count; ++i)
            local[i] =
                carom_convex_turn_back(s->frame[k].r, carom_vec_sub(points[i], s->frame[k].t));
        CAROM_TRY(carom_soup_closest_points(s->q->context, of[k]->soup, local, count, hits));
        CAROM_TRY(carom_soup_winding(s->q->context, of[k]->soup, local, count, windings));
        for (uint32_t i = 0; i < count; ++i) {
            bool inside = windings[i] != 0 && windings[i] != CAROM_SOUP_ON_SURFACE;
            depths[i] += inside ? hits[i].distance : -hits[i].distance;
        }
    }
    return CAROM_OK;
}

/* Moves to the best of some points; false when none is better. */
static bool scene_take_deepest(scene_depth_search *s, const carom_vec3 *points,
                               const double *depths, uint32_t count, double *most) {
    uint32_t best = count;
    for (uint32_t i = 0; i < count; ++i)
        if (depths[i] > *most) best = i, *most = depths[i];
    if (best == count) return false;
    s->deepest = points[best];
    return true;
}

static carom_bounds scene_common_box(const carom_bounds *a, const carom_bounds *b) {
    return (carom_bounds){carom_vec(CAROM_MAX(a->low.x, b->low.x), CAROM_MAX(a->low.y, b->low.y),
                                    CAROM_MAX(a->low.z, b->low.z)),
                          carom_vec(CAROM_MIN(a->high.x, b->high.x),
                                    CAROM_MIN(a->high.y, b->high.y),
                                    CAROM_MIN(a->high.z, b->high.z))};
}

/* Finds a deep point. Stops once the bound proves the depth. */
static carom_status scene_bound_by_balls(scene_depth_search *s, carom_vec3 centroid) {
    carom_bounds box = scene_common_box(&s->a->box, &s->b->box);
    carom_vec3 size = carom_vec_sub(box.high, box.low), points[SCENE_GRID_POINTS];
    double depths[SCENE_GRID_POINTS], most = -HUGE_VAL, step = 1.0 / SCENE_GRID;
    const double enough = (1.0 - 0.5 * SCENE_BOUND_PART) * s->c->depth + s->slack;
    points[0] = s->deepest = centroid;
    CAROM_TRY(scene_depths_of(s, points, 1, depths));
    scene_take_deepest(s, points, depths, 1, &most);
    for (uint32_t i = 0; i < SCENE_GRID_POINTS; ++i)
        points[i] = carom_vec(box.low.x + (0.5 + i % SCENE_GRID) * step * size.x,
                              box.low.y + (0.5 + i / SCENE_GRID % SCENE_GRID) * step * size.y,
                              box.low.z + (0.5 + i / (SCENE_GRID * SCENE_GRID)) * step * size.z);
    if (most < enough) CAROM_TRY(scene_depths_of(s, points, SCENE_GRID_POINTS, depths));
    if (most < enough) scene_take_deepest(s, points, depths, SCENE_GRID_POINTS, &most);
    for (int i = 0; i < SCENE_PATTERN_STEPS && most < enough; ++i) {
        for (uint32_t k = 0; k < SCENE_PATTERN; ++k) {
            double axis = k % 2 == 0 ? step : -step;
            carom_vec3 by = k < 6
                                ? carom_vec(k / 2 == 0 ? axis : 0.0, k / 2 == 1 ? axis : 0.0,
                                            k / 2 == 2 ? axis : 0.0)
                                : carom_vec((k - 6) & 1 ? step : -step, (k - 6) & 2 ? step : -step,
                                            (k - 6) & 4 ? step : -step);
            points[k] =
                carom_vec_add(s->deepest, carom_vec(by.x * size.x, by.y * size.y, by.z * size.z));
        }
        CAROM_TRY(scene_depths_of(s, points, SCENE_PATTERN, depths));
        if (scene_take_deepest(s, points, depths, SCENE_PATTERN, &most)) continue;
        step *= 0.5;
        if (step < SCENE_PATTERN_LEAST / SCENE_GRID) break;
        CAROM_TRY(carom_progress_look(s->q->context));
    }
    double bound = most - s->slack;
    if (bound > s->c->depth_bound) s->c->depth_bound = CAROM_MIN(bound, s->c->depth);
    return CAROM_OK;
}

/* Out of a through the wall that is nearest to the deep point, or away from that of b. */
static carom_status scene_add_walls(scene_depth_search *s) {
    const carom_scene_object *of[2] = {s->a, s->b};
    for (int k = 0; k < 2; ++k) {
        carom_vec3 local =
            carom_convex_turn_back(s->frame[k].r, carom_vec_sub(s->deepest, s->frame[k].t));
        carom_hit hit;
        CAROM_TRY(carom_soup_closest_points(s->q->context, of[k]->soup, &local, 1, &hit));
        carom_vec3 out = carom_frame_turn(&s->frame[k], carom_vec_sub(hit.point, local));
        carom_scene_candidates_add(&s->of, carom_vec_scale(out, k == 0 ? 1.0 : -1.0));
    }
    return CAROM_OK;
}

/* ---- A bound by convex hulls ----------------------------------------------------------------- */

static carom_vec3 scene_farthest_corner(void *user, const carom_vec3 *direction) {
    const carom_soup_view *view = user;
    carom_vec3 best = carom_soup_view_position(view, 0);
    double most = carom_vec_dot(best, *direction);
    for (uint64_t v = 1; v < view->vertex_count; ++v) {
        carom_vec3 p = carom_soup_view_position(view, (uint32_t)v);
        double along = carom_vec_dot(p, *direction);
        if (along > most) most = along, best = p;
    }
    return best;
}

static carom_convex scene_hull_shape(carom_soup_view *view) {
    carom_vec3 middle = carom_vec(0.0, 0.0, 0.0);
    double part = 1.0 / (double)view->vertex_count, radius = 0.0;
    for (uint64_t v = 0; v < view->vertex_count; ++v)
        middle = carom_vec_add(middle,
                               carom_vec_scale(carom_soup_view_position(view, (uint32_t)v), part));
    for (uint64_t v = 0; v < view->vertex_count; ++v) {
        double r = carom_length(carom_vec_sub(carom_soup_view_position(view, (uint32_t)v), middle));
        radius = CAROM_MAX(radius, r);
    }
    return (carom_convex){.kind = CAROM_CONVEX_KIND_SUPPORT,
                          .support = scene_farthest_corner,
                          .support_user = view,
                          .support_ball = {middle, radius * (1.0 + SCENE_SHIFT_SLACK)}};
}

/* Whether a closed mesh bounds a convex solid: each face is on the hull of all corners, so that
 * they cover it. Meshes that are too large to find out count as not convex. */
static bool scene_is_convex(const carom_soup_view *view) {
    int side = 0;
    if (view->triangle_count * view->vertex_count > SCENE_CONVEX_TESTS) return false;
    for (uint32_t i = 0; i < view->triangle_count; ++i) {
        carom_triangle t = carom_soup_view_triangle(view, i);
        for (uint64_t v = 0; v < view->vertex_count; ++v) {
            int sign = carom_orient3d(t.corner[0], t.corner[1], t.corner[2],
                                      carom_soup_view_position(view, (uint32_t)v));
            if (sign != 0 && side != 0 && sign != side) return false;
            if (sign != 0) side = sign;
        }
    }
    return side != 0;
}

/* Adds the direction in which the hulls get apart by the shortest way; it proves the depth where
 * the solids are their hulls. */
static carom_status scene_bound_by_hulls(scene_depth_search *s) {
    carom_soup_view a, b;
    carom_convex_result r;
    carom_soup_get_view(s->a->soup, &a);
    carom_soup_get_view(s->b->soup, &b);
    if (a.vertex_count == 0 || b.vertex_count == 0 ||
        a.vertex_count + b.vertex_count > SCENE_EPA_CORNERS)
        return CAROM_OK;
    carom_convex shape_a = scene_hull_shape(&a), shape_b = scene_hull_shape(&b);
    CAROM_TRY(
        carom_convex_depth_on_cpu(s->q->context, &shape_a, &s->a->pose, &shape_b, &s->b->pose, &r));
    if (r.relation == CAROM_RELATION_APART || !(r.depth > 0.0)) return CAROM_OK;
    carom_scene_candidates_add(&s->of, r.normal);
    double bound = r.depth - r.error - s->slack;
    if (s->solids && bound > s->c->depth_bound && scene_is_convex(&a) && scene_is_convex(&b))
        s->c->depth_bound = CAROM_MIN(bound, s->c->depth);
    return CAROM_OK;
}

/* ---- The least depth ------------------------------------------------------------------------- */

carom_vec3 carom_scene_out_of(const carom_scene_object *a, const carom_scene_object *b,
                              const carom_solid_result *overlap) {
    carom_frame fa = carom_frame_make(&a->pose), fb = carom_frame_make(&b->pose);
    /* A force within its error has no direction. */
    if (carom_length(overlap->force) > SCENE_FORCE_ERRORS * overlap->force_error)
        return carom_vec_unit(overlap->force);
    carom_vec3 n = carom_vec_unit(carom_vec_sub(carom_frame_apply(&fb, b->solid->info.centroid),
                                                carom_frame_apply(&fa, a->solid->info.centroid)));
    return carom_vec_largest(n) == 0.0 ? carom_vec(1.0, 0.0, 0.0) : n;
}

/* The curve in which the faces of two solids meet, for its axes; empty where one is inside. */
static carom_status scene_find_curve(const scene_depth_search *s) {
    const carom_scene_question *q = s->q;
    if (!s->solids) return CAROM_OK; /* it was found already */
    q->segments->count = 0;
    if (s->c->triangle_pairs == 0) return CAROM_OK;
    CAROM_TRY(carom_soup_cross_pairs(q->context, s->a->soup, &s->a->pose, s->b->soup, &s->b->pose,
                                     q->faces));
    return carom_soup_cross_segments(q->context, s->a->soup, &s->a->pose, s->b->soup, &s->b->pose,
                                     q->faces->data, q->faces->count, q->segments);
}

/* Tries other directions than the first until one is proved to be the best. */
static carom_status scene_depth_search_more(scene_depth_search *s, carom_vec3 centroid) {
    if (s->solids) {
        CAROM_TRY(scene_bound_by_balls(s, centroid));
        if (scene_depth_is_proved(s)) return CAROM_OK;
        CAROM_TRY(scene_add_walls(s));
    }
    CAROM_TRY(scene_bound_by_hulls(s));
    CAROM_TRY(scene_find_curve(s));
    carom_scene_candidates_find(s->a, s->b, s->q->segments, &s->of);
    for (uint32_t i = 0; i < s->of.count && !scene_depth_is_proved(s); ++i)
        CAROM_TRY(scene_depth_try(s, s->of.data[i]));
    return CAROM_OK;
}

carom_status carom_scene_find_depth(const carom_scene_question *q, const carom_scene_object *a,
                                    const carom_scene_object *b, const carom_solid_result *overlap,
                                    const carom_scene_along *ahead, carom_scene_contact *c) {
    scene_depth_search s = {.q = q,
                            .a = a,
                            .b = b,
                            .solids = overlap != NULL,
                            .c = c,
                            .frame = {carom_frame_make(&a->pose), carom_frame_make(&b->pose)}};
    s.slack = SCENE_BOUND_SLACK * ((scene_box_extent(&a->box) + scene_box_extent(&b->box)) +
                                   (carom_vec_largest(a->box.low) + carom_vec_largest(a->pose.t)) +
                                   (carom_vec_largest(b->box.low) + carom_vec_largest(b->pose.t)));
    double force = overlap != NULL ? carom_length(overlap->force) : 0.0;
    bool forced = overlap != NULL && force > SCENE_FORCE_ERRORS * overlap->force_error;
    carom_scene_along first;
    if (ahead != NULL)
        first = *ahead;
    else
        carom_scene_along_begin(a, b, overlap, &first);
    CAROM_TRY(scene_depth_along(&s, first));
    carom_scene_candidates_add(&s.of, first.normal);
    if (!forced || q->least_depth)
        CAROM_TRY(scene_depth_search_more(&s, overlap != NULL ? overlap->centroid
                                                              : carom_vec(0.0, 0.0, 0.0)));
    for (uint32_t i = 0; i < c->point_count; ++i) c->points[i].depth = c->depth;
    return CAROM_OK;
}
