/* SPDX-License-Identifier: MIT */
/* k-freeness of a soup: for each face, the number of larger faces near it (kDet: Weller, Debowski,
 * Zachmann 2017, Definitions 3.1 and 3.2; the distance is d/4, as their sphere has diameter d/2).
 *
 * Each face queries the tree for faces within a quarter of its diameter. A candidate is first
 * rejected if it is smaller, which needs one value, then accepted if it has a common vertex, and
 * only then measured (geom/within.h). Each face has its own count, from exact decisions, so the
 * counts do not depend on threads, instruction sets or the order of faces.
 *
 * Why the bound holds, where the paper's does not (docs/grid.md has the proof). Let a face of
 * diameter d meet faces at least as large, each in a point of its own. The smallest of these counts
 * all whose points are at most d/4 from its own, so they are at most k. Without them, take the
 * smallest of the others, and so on: points that are taken are more than d/4 apart. A triangle has
 * at most ten such points, as ten discs of diameter d/4 cover it, and a flat polygon, which lies in
 * a disc of diameter d, at most 21 (Oler 1961). So a triangle meets at most 10 k larger faces.
 * Diameters are rounded upwards, so "at most d/4 apart" holds despite rounding. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/math.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "bvh/bvh_cpu.h"
#include "carom/kfree.h"
#include "geom/diameter_item.h"
#include "geom/enclosing_ball.h"
#include "geom/orient.h"
#include "geom/within.h"
#include "kfree/kfree_part.h"
#include "soup/soup_near.h"
#include "soup/soup_view.h"

#define KFREE_TRIANGLES_PER_RANGE 4096u
#define BLOCKS_PER_RANGE          32u
/* Faces, 16 KiB: beyond, all marks are cleared at once. */
#define MARK_LIST_LENGTH 4096u
/* The diameter of faces that are ignored: smaller than any. */
#define NO_DIAMETER (-1.0)

/* Lengths in the frame of boxes: more than a reach loses by underflow when it is scaled. */
#define REACH_UNDERFLOW 0x1p-1000

/* Points more than a quarter of the diameter apart, at most. By Oler's inequality a convex set of
 * area A and perimeter P has at most 2 A / sqrt(3) + P / 2 + 1 points more than 1 apart: with
 * quarters of the diameter for units, a disc of radius 2 has 21.8. */
#define DISCS_PER_TRIANGLE 10u
#define DISCS_PER_POLYGON  21u /* flat */

typedef struct kfree_job {
    carom_context *context;
    const carom_soup *soup;
    carom_soup_view view;
    double *diameters;      /* of each face */
    double *slot_diameters; /* the same by slot in the tree */
    uint32_t *counts;       /* of each face */
    _Atomic uint64_t discs, neighbours;
    _Atomic bool beyond; /* a coordinate is too large */
    carom_worker_states counters;
    const carom_kfree_filter *filter; /* of a part; else NULL */
    uint32_t *near;                   /* of a part: neighbours of each face; else NULL */
} kfree_job;

static bool kfree_owns(const kfree_job *job, uint32_t face) {
    return job->filter == NULL || job->filter->owns_face(job->filter->user, face);
}

/* A face's triangles are [first, end). */
typedef struct kfree_span {
    uint32_t first, end;
} kfree_span;

static kfree_span span_at(const carom_soup_view *soup, uint32_t first) {
    kfree_span s = {first, first + 1};
    if (soup->faces != NULL)
        while (s.end < soup->triangle_count && soup->faces[s.end] == soup->faces[first]) ++s.end;
    return s;
}

static bool is_first(const carom_soup_view *soup, uint32_t triangle) {
    return triangle == 0 ||
           carom_soup_view_face(soup, triangle - 1) != carom_soup_view_face(soup, triangle);
}

/* ---- Diameters ------------------------------------------------------------------------------- */

/* Heap sort: in place and without a stack. */
static void kfree_sort_points(carom_vec3 *p, uint64_t count) {
    for (uint64_t built = count / 2, end = count; end > 1;) {
        carom_vec3 sinking;
        if (built > 0) {
            sinking = p[--built];
        } else {
            sinking = p[--end];
            p[end] = p[0];
        }
        uint64_t at = built;
        for (uint64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
            if (child + 1 < end && carom_vec_compare(p[child], p[child + 1]) < 0) ++child;
            if (carom_vec_compare(sinking, p[child]) >= 0) break;
            p[at] = p[child];
            at = child;
        }
        p[at] = sinking;
    }
}

/* The diameter of the smallest ball around sorted points. Overwrites the points. */
static double diameter_of_points(carom_vec3 *p, uint64_t count) {
    carom_vec3 first = p[0];
    carom_ball ball;
    uint64_t bad, kept = 0;
    double size = 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_ASSERT(i == 0 || carom_vec_compare(p[kept - 1], p[i]) <= 0);
        if (i > 0 && carom_vec_compare(p[i], p[kept - 1]) == 0) continue;
        p[kept++] = p[i];
    }
    if (kept <= 3) {
        carom_vec3 v[3] = {p[0], p[kept > 1 ? 1 : 0], p[kept - 1]};
        return carom_triangle_diameter(v);
    }
    for (uint64_t i = 0; i < kept; ++i) {
        p[i] = carom_vec_sub(p[i], first);
        size = CAROM_MAX(carom_vec_largest(p[i]), size);
    }
    int e = carom_diameter_exponent(size);
    double down = carom_power_of_two(-e);
    for (uint64_t i = 0; i < kept; ++i) p[i] = carom_vec_scale(p[i], down);
    (void)carom_ball_around_points(p, kept, &ball, &bad); /* all are finite */
    return carom_diameter_finish(2.0 * ball.radius, carom_power_of_two(e));
}

static bool kfree_is_flat(const carom_soup_view *soup, kfree_span s) {
    const uint32_t *plane = NULL;
    for (uint32_t t = s.first; t < s.end && plane == NULL; ++t)
        if (soup->states[t] == 0) plane = soup->corners + 3 * (uint64_t)t;
    if (plane == NULL) return true; /* the points are collinear */
    carom_triangle base = carom_soup_view_shape(soup, plane);
    for (uint64_t i = 3 * (uint64_t)s.first; i < 3 * (uint64_t)s.end; ++i)
        if (carom_orient3d(base.corner[0], base.corner[1], base.corner[2],
                           carom_soup_view_position(soup, soup->corners[i])) != 0)
            return false;
    return true;
}

/* CAROM_OK, or CAROM_NO_MEMORY. */
static carom_status measure_polygon(const carom_soup_view *soup, carom_arena *scratch, kfree_span s,
                                    double *diameter) {
    uint64_t count = 3 * (uint64_t)(s.end - s.first);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_vec3 *points = CAROM_ARENA_TAKE(scratch, carom_vec3, count);
    if (points == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i)
        points[i] = carom_soup_view_position(soup, soup->corners[3 * (uint64_t)s.first + i]);
    kfree_sort_points(points, count);
    *diameter = diameter_of_points(points, count);
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static carom_status kfree_measure_range(void *argument, carom_range range) {
    kfree_job *c = argument;
    const carom_soup_view *soup = &c->view;
    uint64_t discs = 0;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        if (!is_first(soup, (uint32_t)i)) continue;
        kfree_span s = span_at(soup, (uint32_t)i);
        double *diameter = &c->diameters[carom_soup_view_face(soup, s.first)];
        uint64_t searched = 0;
        for (uint32_t t = s.first; t < s.end; ++t)
            searched += carom_soup_view_searched(soup, t) ? 1 : 0;
        *diameter = NO_DIAMETER;
        if (searched == 0) continue;
        for (uint64_t k = 3 * i; k < 3 * (uint64_t)s.end; ++k)
            if (!carom_vec_within(carom_soup_view_position(soup, soup->corners[k]),
                                  CAROM_LARGEST_COORDINATE))
                atomic_store(&c->beyond, true);
        if (s.end - s.first == 1) {
            carom_triangle t = carom_soup_view_shape(soup, soup->corners + 3 * i);
            *diameter = carom_triangle_diameter(t.corner);
        } else {
            CAROM_TRY(measure_polygon(soup, carom_scratch(c->context, range.worker), s, diameter));
        }
        if (!kfree_owns(c, carom_soup_view_face(soup, s.first))) continue;
        searched *= DISCS_PER_TRIANGLE;
        discs +=
            searched > DISCS_PER_POLYGON && kfree_is_flat(soup, s) ? DISCS_PER_POLYGON : searched;
    }
    atomic_fetch_add(&c->discs, discs);
    return CAROM_OK;
}

static carom_status kfree_slot_range(void *argument, carom_range range) {
    kfree_job *c = argument;
    for (uint64_t slot = range.begin; slot < range.end; ++slot) {
        uint32_t item = c->view.bvh->items[slot];
        c->slot_diameters[slot] = item == CAROM_BVH_NONE
                                      ? NO_DIAMETER
                                      : c->diameters[carom_soup_view_face(&c->view, item)];
    }
    return CAROM_OK;
}

/* ---- Neighbour counts ------------------------------------------------------------------------ */

typedef struct kfree_counter {
    carom_bvh_found found;
    const kfree_job *job;
    uint32_t worker;
    carom_work work;

    uint32_t face; /* being counted */
    kfree_span span;
    double diameter, reach;
    uint32_t triangle[3]; /* corners of the querying triangle */
    carom_triangle shape;
    uint32_t count, neighbours;

    /* Polygons are found through several triangles. Faces already counted are marked, and listed so
     * that the marks can be cleared. The face's own vertices are marked too. NULL if faces are
     * triangles. */
    uint64_t *marked, *own;
    uint32_t listed_count;
    uint32_t listed[MARK_LIST_LENGTH];
} kfree_counter;

static uint64_t kfree_words_for(uint64_t bits) {
    return (bits + 63) / 64;
}

static bool has_bit(const uint64_t *words, uint32_t bit) {
    return (words[bit / 64] >> bit % 64 & 1) != 0;
}

static void kfree_mark(kfree_counter *c, uint32_t face) {
    CAROM_ASSERT(face != c->face && !has_bit(c->marked, face)); /* each is counted once */
    c->marked[face / 64] |= UINT64_C(1) << face % 64;
    if (c->listed_count < MARK_LIST_LENGTH) c->listed[c->listed_count] = face;
    ++c->listed_count;
}

static void unmark_all(kfree_counter *c) {
    if (c->listed_count > MARK_LIST_LENGTH)
        memset(c->marked, 0, kfree_words_for(c->job->view.face_count) * sizeof(*c->marked));
    for (uint32_t i = 0; i < c->listed_count && c->listed_count <= MARK_LIST_LENGTH; ++i)
        c->marked[c->listed[i] / 64] = 0;
    c->listed_count = 0;
}

static void mark_own(kfree_counter *c, bool marked) {
    const carom_soup_view *soup = &c->job->view;
    for (uint64_t i = 3 * (uint64_t)c->span.first; i < 3 * (uint64_t)c->span.end; ++i) {
        uint32_t vertex = soup->corners[i];
        if (marked)
            c->own[vertex / 64] |= UINT64_C(1) << vertex % 64;
        else
            c->own[vertex / 64] = 0;
    }
}

/* Whether the face of triangle t shares a vertex with the face being counted. */
static bool face_has_own_vertex(const kfree_counter *c, uint32_t t) {
    const carom_soup_view *soup = &c->job->view;
    while (!is_first(soup, t)) --t;
    kfree_span s = span_at(soup, t);
    for (uint64_t i = 3 * (uint64_t)s.first; i < 3 * (uint64_t)s.end; ++i)
        if (has_bit(c->own, soup->corners[i])) return true;
    return false;
}

static bool look_at_found(carom_bvh_found *found) {
    kfree_counter *c = found->user;
    const carom_soup_view *soup = &c->job->view;
    const double *diameters = c->job->slot_diameters;
    for (uint32_t i = 0; i < found->count; ++i) {
        uint32_t slot = found->b[i];
        if (diameters[slot] < c->diameter) continue;
        uint32_t triangle = soup->bvh->items[slot], face = carom_soup_view_face(soup, triangle);
        CAROM_ASSERT(diameters[slot] == c->job->diameters[face]);
        if (face == c->face) continue;
        if (c->marked != NULL && has_bit(c->marked, face)) continue;
        const uint32_t *corners = soup->slot_corners + 3 * (uint64_t)slot;
        bool common = carom_soup_common_vertex(c->triangle, corners);
        if (!common) {
            carom_triangle other = carom_soup_view_shape(soup, corners);
            ++c->work.candidates;
            int verdict = carom_within_filter(&c->shape, &other, c->reach);
            if (verdict == CAROM_NO) continue;
            if (verdict == CAROM_UNDECIDED) {
                ++c->work.undecided;
                if (!carom_within_exact(&c->shape, &other, c->reach)) continue;
            }
        }
        const carom_kfree_filter *filter = c->job->filter;
        if (filter != NULL && !filter->owns_pair(filter->user, c->face, face)) continue;
        ++c->count;
        if (c->marked != NULL) {
            kfree_mark(c, face);
            common = common || face_has_own_vertex(c, triangle);
        }
        c->neighbours += common ? 1 : 0;
    }
    found->count = 0;
    return !carom_progress_stop(c->job->context, c->worker);
}

/* The box of a triangle, enlarged by the reach on all sides. */
static carom_box box_around(const kfree_job *job, uint32_t triangle, double reach) {
    carom_box box = carom_soup_box(job->soup, triangle);
    double by = reach * job->view.scale + REACH_UNDERFLOW;
    for (int k = 0; k < 3; ++k) {
        double low = (double)box.low[k], high = (double)box.high[k];
        box.low[k] = carom_float_down(low, by);
        box.high[k] = carom_float_up(high, -by);
        CAROM_ASSERT((double)box.low[k] <= low - by && (double)box.high[k] >= high + by);
    }
    return box;
}

static void kfree_count_face(kfree_counter *c, uint32_t first) {
    const carom_soup_view *soup = &c->job->view;
    c->span = span_at(soup, first);
    c->face = carom_soup_view_face(soup, first);
    c->diameter = c->job->diameters[c->face];
    c->reach = carom_diameter_reach(c->diameter);
    c->count = c->neighbours = 0;
    if (c->marked != NULL) mark_own(c, true);
    for (uint32_t t = c->span.first; t < c->span.end; ++t) {
        if (!carom_soup_view_searched(soup, t)) continue;
        memcpy(c->triangle, soup->corners + 3 * (uint64_t)t, sizeof(c->triangle));
        c->shape = carom_soup_view_shape(soup, c->triangle);
        carom_box box = box_around(c->job, t, c->reach);
        (void)CAROM_CPU_CALL(c->job->context, carom_bvh_find_box)(soup->bvh, &box, 0, &c->found);
        (void)look_at_found(&c->found);
    }
    CAROM_ASSERT(c->neighbours <= c->count && c->count < soup->face_count);
    if (c->marked == NULL) return;
    CAROM_ASSERT(c->listed_count == c->count);
    unmark_all(c);
    mark_own(c, false);
}

static bool counter_begin(void *user, void *state, uint32_t worker) {
    const kfree_job *job = user;
    kfree_counter *c = state;
    uint64_t face_words = kfree_words_for(job->view.face_count);
    uint64_t words = face_words + kfree_words_for(job->view.vertex_count);
    if (job->view.faces == NULL) words = 0;
    uint64_t *marked = NULL;
    if (words != 0) {
        marked = CAROM_ARENA_TAKE(carom_scratch(job->context, worker), uint64_t, words);
        if (marked == NULL) return false;
    }
    if (words != 0) memset(marked, 0, words * sizeof(*marked));
    c->job = job;
    c->worker = worker;
    c->work = (carom_work){0};
    c->found.count = 0;
    c->found.visits = 0;
    c->found.flush = look_at_found;
    c->found.user = c;
    c->marked = marked;
    c->own = words != 0 ? marked + face_words : NULL;
    c->listed_count = 0;
    return true;
}

/* Ranges are blocks of the tree, because neighbouring triangles visit the same nodes. Each face is
 * counted at its first triangle. */
static carom_status kfree_count_range(void *argument, carom_range range) {
    kfree_job *job = argument;
    const carom_soup_view *soup = &job->view;
    kfree_counter *c = carom_worker_state(&job->counters, range.worker);
    if (c == NULL) return CAROM_NO_MEMORY;
    uint64_t neighbours = 0;
    for (uint64_t slot = range.begin * CAROM_BVH_WIDTH; slot < range.end * CAROM_BVH_WIDTH;
         ++slot) {
        uint32_t item = soup->bvh->items[slot];
        if (item == CAROM_BVH_NONE || !is_first(soup, item)) continue;
        uint32_t face = carom_soup_view_face(soup, item);
        job->counts[face] = 0;
        if (job->near != NULL) job->near[face] = 0;
        if (job->diameters[face] < 0.0) continue;
        kfree_count_face(c, item);
        if (carom_progress_cancelled(job->context)) return CAROM_CANCELLED;
        job->counts[face] = c->count;
        if (job->near != NULL) job->near[face] = c->neighbours;
        neighbours += c->neighbours;
    }
    atomic_fetch_add(&job->neighbours, neighbours);
    carom_progress_add(job->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* The least count that `share` of the faces does not exceed; histogram[c] faces have count c. */
static uint32_t quantile(const uint32_t *histogram, uint64_t faces, double share) {
    uint64_t wanted = (uint64_t)ceil(share * (double)faces), below = 0;
    CAROM_ASSERT(wanted <= faces);
    uint32_t count = 0;
    for (;; ++count)
        if ((below += histogram[count]) >= CAROM_MAX(wanted, 1)) return count;
}

void carom_kfree_describe(const carom_kfree_sum *sum, const uint32_t *histogram, carom_kfree *k) {
    memset(k, 0, sizeof(*k)); /* padding too: equal results are equal bytes */
    k->worst_face = sum->worst_face;
    if (sum->faces == 0) return;
    k->faces = sum->faces;
    k->total = sum->total;
    k->most = sum->most;
    k->worst_neighbours = sum->worst_neighbours;
    k->discs = sum->discs;
    double squares = 0.0, faces = (double)k->faces;
    k->k = (uint64_t)k->most + 1;
    k->mean = (double)k->total / faces;
    for (uint64_t count = 0; count <= k->most; ++count) {
        double apart = (double)count - k->mean;
        squares += (double)histogram[count] * (apart * apart);
    }
    k->deviation = sqrt(squares / faces);
    k->least = quantile(histogram, k->faces, 0.0);
    k->quartile_1 = quantile(histogram, k->faces, 0.25);
    k->median = quantile(histogram, k->faces, 0.5);
    k->quartile_3 = quantile(histogram, k->faces, 0.75);
    k->percentile_90 = quantile(histogram, k->faces, 0.9);
    k->percentile_99 = quantile(histogram, k->faces, 0.99);
    CAROM_ASSERT(k->least <= k->quartile_1 && k->quartile_1 <= k->median &&
                 k->median <= k->quartile_3 && k->quartile_3 <= k->percentile_90 &&
                 k->percentile_90 <= k->percentile_99 && k->percentile_99 <= k->most);
    CAROM_ASSERT(k->total <= k->faces * k->most && sum->neighbours <= k->total);
    k->neighbours = k->total != 0 ? (double)sum->neighbours / (double)k->total : 0.0;
    if (!(sum->largest > 0.0)) return;
    /* by mantissa and exponent, as the quotient could be out of range */
    int exponent_least, exponent_largest;
    double mantissa_least = frexp(sum->least, &exponent_least);
    double mantissa_largest = frexp(sum->largest, &exponent_largest);
    k->least_diameter = sum->least;
    k->largest_diameter = sum->largest;
    k->height =
        carom_log2(mantissa_largest / mantissa_least) + (double)(exponent_largest - exponent_least);
}

/* The neighbours of the worst face are not known: they are counted again. */
static carom_status sum_up(const kfree_job *c, carom_kfree *k) {
    const carom_soup_view *soup = &c->view;
    carom_kfree_sum sum = {.worst_face = CAROM_NONE, .least = HUGE_VAL};
    for (uint32_t f = 0; f < soup->face_count; ++f) {
        double diameter = c->diameters[f];
        if (diameter < 0.0) continue;
        carom_kfree_add(&sum, f, c->counts[f], 0);
        if (diameter == 0.0) continue;
        sum.least = CAROM_MIN(diameter, sum.least);
        sum.largest = CAROM_MAX(diameter, sum.largest);
    }
    sum.neighbours = c->neighbours;
    sum.discs = c->discs;
    uint32_t *histogram =
        CAROM_ARENA_TAKE(carom_scratch(c->context, 0), uint32_t, (uint64_t)sum.most + 1);
    if (histogram == NULL)
        return carom_fail_memory(c->context, ((uint64_t)sum.most + 1) * 4, "a histogram");
    memset(histogram, 0, ((uint64_t)sum.most + 1) * sizeof(*histogram));
    for (uint32_t f = 0; f < soup->face_count; ++f)
        if (c->diameters[f] >= 0.0) ++histogram[c->counts[f]];
    carom_kfree_describe(&sum, histogram, k);
    return CAROM_OK;
}

/* ---- Query ----------------------------------------------------------------------------------- */

static uint32_t first_triangle_of(const carom_soup_view *soup, uint32_t face) {
    uint32_t t = 0;
    while (carom_soup_view_face(soup, t) != face) ++t;
    return t;
}

static carom_status fail_beyond(carom_context *context) {
    return carom_fail(context, CAROM_BAD_INPUT,
                      "a coordinate is beyond 2^1020, where diameters are no doubles; scale the "
                      "soup down");
}

static carom_status count_all(kfree_job *c, carom_kfree *k) {
    carom_context *context = c->context;
    const carom_soup_view *soup = &c->view;
    uint64_t blocks = soup->triangle_count != 0 ? soup->bvh->node_count[0] : 0;
    carom_status status = carom_parallel_for(context, soup->triangle_count,
                                             KFREE_TRIANGLES_PER_RANGE, kfree_measure_range, c);
    if (status == CAROM_OK && c->beyond) return fail_beyond(context);
    if (status == CAROM_OK)
        status = carom_parallel_for(context, blocks * CAROM_BVH_WIDTH, KFREE_TRIANGLES_PER_RANGE,
                                    kfree_slot_range, c);
    carom_progress_expect(context, blocks);
    if (status == CAROM_OK)
        status = carom_parallel_for(context, blocks, BLOCKS_PER_RANGE, kfree_count_range, c);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, sizeof(kfree_counter), "counting near faces");
    if (status == CAROM_OK && k != NULL) status = sum_up(c, k);
    if (status == CAROM_OK && k != NULL && k->faces != 0) {
        kfree_counter *again = carom_worker_state(&c->counters, 0);
        if (again == NULL) status = carom_fail_memory(context, sizeof(kfree_counter), "a face");
        if (again != NULL) {
            kfree_count_face(again, first_triangle_of(soup, k->worst_face));
            CAROM_ASSERT(again->count == k->most); /* the same, whoever counts it */
            k->worst_neighbours = again->neighbours;
        }
    }
    const kfree_counter *done;
    for (uint32_t w = 0; (done = carom_worker_states_next(&c->counters, &w)) != NULL;) {
        context->work.visits += done->found.visits;
        context->work.candidates += done->work.candidates;
        context->work.undecided += done->work.undecided;
    }
    carom_worker_states_release(&c->counters);
    return status;
}

/* ---- The same on the GPU --------------------------------------------------------------------- */

/* Decides the pairs that doubles could not, and adds them to the counts. */
static carom_status resolve_undecided(kfree_job *c, const carom_device_k_free *on_device) {
    carom_arena *scratch = carom_scratch(c->context, 0);
    uint64_t count = on_device->undecided_count;
    carom_device_near *near = CAROM_ARENA_TAKE(scratch, carom_device_near, count);
    if (near == NULL)
        return carom_fail_memory(c->context, count * sizeof(*near), "counting near faces");
    CAROM_TRY(carom_cuda_read(c->context, near, on_device->undecided, count * sizeof(*near)));
    for (uint64_t i = 0; i < count; ++i) {
        const carom_device_near *n = &near[i];
        double smaller = CAROM_MIN(n->diameter[0], n->diameter[1]);
        if (!carom_within_exact(&n->triangle[0], &n->triangle[1], carom_diameter_reach(smaller)))
            continue;
        for (int k = 0; k < 2; ++k)
            if (n->diameter[k] <= n->diameter[1 - k]) ++c->counts[n->face[k]];
    }
    return CAROM_OK;
}

static carom_status device_count(kfree_job *c, carom_kfree *k) {
    carom_context *context = c->context;
    uint64_t faces = c->view.face_count, there = 0;
    carom_device_k_free on_device;
    uint32_t neighbours;
    CAROM_TRY(carom_soup_device_k_free(context, c->soup, &on_device));
    if (on_device.beyond) return fail_beyond(context);
    CAROM_TRY(
        carom_cuda_read(context, c->diameters, on_device.diameters, faces * sizeof(*c->diameters)));
    CAROM_TRY(carom_cuda_read(context, c->counts, on_device.counts, faces * sizeof(*c->counts)));
    if (on_device.undecided_count != 0) CAROM_TRY(resolve_undecided(c, &on_device));
    c->neighbours = on_device.neighbour_count;
    for (uint64_t i = 0; i < faces; ++i) there += c->diameters[i] < 0.0 ? 0 : 1;
    c->discs = DISCS_PER_TRIANGLE * there;
    CAROM_TRY(sum_up(c, k));
    if (k->faces == 0) return CAROM_OK;
    CAROM_TRY(carom_cuda_read(context, &neighbours, on_device.neighbours + k->worst_face,
                              sizeof(neighbours)));
    k->worst_neighbours = neighbours;
    return CAROM_OK;
}

static carom_status count_faces(kfree_job *c, carom_kfree *k, uint64_t slots) {
    carom_context *context = c->context;
    if (context->backend == CAROM_BACKEND_CUDA) return device_count(c, k);
    c->slot_diameters = CAROM_ARENA_TAKE(carom_scratch(context, 0), double, slots);
    if (c->slot_diameters == NULL)
        return carom_fail_memory(context, slots * 8, "counting near faces");
    CAROM_TRY(
        carom_worker_states_begin(&c->counters, context, sizeof(kfree_counter), counter_begin, c));
    return count_all(c, k);
}

static carom_status kfree_count(kfree_job *c, carom_kfree *k, carom_numbers *counts) {
    carom_context *context = c->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t faces = c->view.face_count, space;
    uint64_t slots =
        c->view.triangle_count != 0 ? (uint64_t)c->view.bvh->node_count[0] * CAROM_BVH_WIDTH : 0;
    c->diameters = CAROM_ARENA_TAKE(scratch, double, faces);
    c->counts = CAROM_ARENA_TAKE(scratch, uint32_t, faces);
    if (c->diameters == NULL || c->counts == NULL)
        return carom_fail_memory(context, faces * 12, "counting near faces");
    CAROM_TRY(count_faces(c, k, slots));
    if (counts == NULL) return CAROM_OK;
    CAROM_TRY(carom_numbers_begin(context, &context->allocator, counts, faces, &space));
    if (space != 0) memcpy(counts->data, c->counts, space * sizeof(*c->counts));
    return carom_numbers_end(counts);
}

carom_status carom_kfree_measure(carom_context *context, const carom_soup *soup,
                                 carom_kfree *k_free, carom_numbers *counts) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_OUTPUT(k_free, "result");
    if (counts != NULL) CAROM_REQUIRE_RESULT(counts, "counts");
    memset(k_free, 0, sizeof(*k_free)); /* padding too: equal results are equal bytes */
    k_free->worst_face = CAROM_NONE;
    if (context->backend == CAROM_BACKEND_CUDA)
        CAROM_TRY(carom_soup_device_check_k_free(context, soup));
    else
        CAROM_TRY(carom_soup_check_ready(context, soup));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark at = carom_arena_get_mark(scratch);
    carom_kfree k;
    memcpy(&k, k_free, sizeof(k));
    kfree_job c = {.context = context, .soup = soup};
    carom_soup_get_view(soup, &c.view);
    context->work = (carom_work){0};
    carom_progress_begin(context, "counting near faces", 0);
    carom_status status = carom_progress_finish(context, kfree_count(&c, &k, counts));
    carom_arena_rewind(scratch, at);
    if (status == CAROM_OK || status == CAROM_MORE) memcpy(k_free, &k, sizeof(k));
    return status;
}

/* ---- A part ---------------------------------------------------------------------------------- */

static carom_status kfree_count_own(kfree_job *c, carom_kfree_part *part) {
    uint64_t slots =
        c->view.triangle_count != 0 ? (uint64_t)c->view.bvh->node_count[0] * CAROM_BVH_WIDTH : 0;
    memset(c->counts, 0, c->view.face_count * sizeof(*c->counts)); /* faces without triangles */
    memset(c->near, 0, c->view.face_count * sizeof(*c->near));
    for (uint64_t f = 0; f < c->view.face_count; ++f) c->diameters[f] = NO_DIAMETER;
    CAROM_TRY(count_faces(c, NULL, slots));
    part->discs = c->discs;
    return CAROM_OK;
}

carom_status carom_kfree_count_part(carom_context *context, const carom_soup *soup,
                                    const carom_kfree_filter *filter, carom_kfree_part *part) {
    CAROM_ASSERT(context->backend == CAROM_BACKEND_CPU);
    CAROM_TRY(carom_soup_check_ready(context, soup));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark at = carom_arena_get_mark(scratch);
    kfree_job c = {.context = context,
                   .soup = soup,
                   .filter = filter,
                   .counts = part->counts,
                   .near = part->neighbours,
                   .diameters = part->diameters};
    carom_soup_get_view(soup, &c.view);
    carom_progress_begin(context, "counting near faces", 0);
    carom_status status = carom_progress_finish(context, kfree_count_own(&c, part));
    carom_arena_rewind(scratch, at);
    return status;
}

/* ---- Bounds on pairs ------------------------------------------------------------------------- */

static uint64_t kfree_times(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

carom_status carom_kfree_bound(carom_context *context, const carom_kfree *a, const carom_kfree *b,
                               carom_kfree_most *bounds) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "k_free");
    CAROM_REQUIRE_OUTPUT(bounds, "bounds");
    uint64_t k = CAROM_MAX(a->k, b->k);
    bool triangles = a->discs == kfree_times(DISCS_PER_TRIANGLE, a->faces) &&
                     b->discs == kfree_times(DISCS_PER_TRIANGLE, b->faces);
    uint64_t pairs = plus(kfree_times(a->discs, b->k), kfree_times(b->discs, a->k));
    uint64_t all = kfree_times(a->faces, b->faces);
    bounds->pairs = CAROM_MIN(pairs, all);
    bounds->published = kfree_times(triangles ? 3 : 7, kfree_times(k, plus(a->faces, b->faces)));
    return CAROM_OK;
}
