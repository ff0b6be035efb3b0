/* SPDX-License-Identifier: MIT */
/* Distances of soups in contexts of backend cuda: the calls of soup.h passed on to the GPU library,
 * and those of cuda.h.
 *
 * Where faces meet, a distance names the pair that the search of the CPU finds first, which depends
 * on its trees. So the host finds that pair, with a soup on the CPU that is made when it is first
 * needed and kept. */
#include "soup/soup_distance_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"
#include "soup/soup.h"
#include "soup/soup_nearest.h"
#include "soup/soup_pairs.h"

static const carom_cuda_distance *distance_device_table(void) {
    return carom_device_table(CAROM_CUDA_DISTANCE);
}

static carom_status distance_device_check(carom_context *context, const carom_soup *a,
                                          const carom_soup *b) {
    CAROM_TRY(carom_soup_device_check_tree(context, a));
    CAROM_TRY(carom_soup_device_check_tree(context, b));
    return carom_context_require_table(context, distance_device_table(), "distances of soups");
}

/* ---- Faces that meet ------------------------------------------------------------------------- */

/* As carom_soup_cross_distance where faces meet. */
static carom_status distance_device_find_first(carom_context *context, const carom_soup *a,
                                               const carom_pose *pose_a, const carom_soup *b,
                                               const carom_pose *pose_b, carom_soup_gap *gap) {
    carom_soup_posed_pair posed;
    carom_soup_first_pair first;
    carom_soup_nearest best;
    CAROM_TRY(carom_soup_pose(context, a, pose_a, b, pose_b, &posed));
    CAROM_TRY(carom_soup_find_first(context, &posed, &first));
    if (!first.any) /* both sides decide exactly */
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a soup changed before the search for its distance was finished");
    carom_soup_nearest_of(&posed, first.a, first.b, &best);
    *gap = (carom_soup_gap){0.0, best.face_a, best.face_b, best.closest.a, best.closest.b};
    return CAROM_OK;
}

static carom_status distance_device_find_all(const carom_device_contact *m, const carom_soup *a,
                                             const carom_soup *b) {
    for (uint64_t i = 0; i < m->count; ++i) {
        const carom_pose *pose_a = m->poses_a != NULL ? &m->poses_a[i] : NULL;
        const carom_pose *pose_b = m->poses_b != NULL ? &m->poses_b[i] : NULL;
        if (m->meets[i])
            CAROM_TRY(distance_device_find_first(m->context, a, pose_a, b, pose_b, &m->gaps[i]));
    }
    return CAROM_OK;
}

/* A carom_device_contact_fn. */
static carom_status distance_device_find_contact(const carom_device_contact *m) {
    const carom_soup *a = m->soup_a, *b = m->soup_b;
    carom_soup_loan loan_a, loan_b = {0};
    carom_status status = carom_soup_lend_cpu(m->context, a, m->positions_a, &loan_a);
    if (status == CAROM_OK && a != b)
        status = carom_soup_lend_cpu(m->context, b, m->positions_b, &loan_b);
    if (status == CAROM_OK)
        status = distance_device_find_all(m, loan_a.soup, a != b ? loan_b.soup : loan_a.soup);
    carom_soup_end_loan(&loan_a);
    carom_soup_end_loan(&loan_b);
    return status;
}

static carom_status distance_device_query(carom_context *context, const carom_soup *a,
                                          const carom_soup *b, carom_device_distance *query) {
    *query = (carom_device_distance){.find_contact = distance_device_find_contact,
                                     .context = context,
                                     .soup_a = a,
                                     .soup_b = b,
                                     .stale_a = &a->stale,
                                     .stale_b = &b->stale};
    CAROM_TRY(carom_soup_lend_device(context, a, &query->a));
    return carom_soup_lend_device(context, b, &query->b);
}

/* ---- Arrays of the host ---------------------------------------------------------------------- */

/* Searches `count` poses of two soups and waits. *bad: the first that is out of range. */
static carom_status distance_device_find(carom_context *context, const carom_device_distance *query,
                                         uint64_t *bad) {
    carom_work work = {0};
    CAROM_TRY(carom_cuda_finish(context));
    carom_progress_begin(
        context, query->meet != NULL ? "finding faces that meet" : "finding the least distance", 0);
    carom_status status = carom_device_pass(
        context, distance_device_table()->find_of_host(context->device, query, bad, &work));
    context->work = work;
    return carom_progress_finish(context, status);
}

static carom_status distance_device_fail_range(carom_context *context) {
    return carom_fail(context, CAROM_BAD_INPUT,
                      "a pose moves a soup beyond the range of doubles; scale it down first");
}

carom_status carom_soup_device_cross_distance(carom_context *context,
                                              const carom_soup_device_query *q, double limit,
                                              carom_soup_gap *gap) {
    uint64_t bad;
    CAROM_TRY(distance_device_check(context, q->a, q->b));
    CAROM_TRY(carom_soup_check_pose(context, q->pose_a, "the pose of a"));
    CAROM_TRY(carom_soup_check_pose(context, q->pose_b, "the pose of b"));
    carom_device_distance query;
    CAROM_TRY(distance_device_query(context, q->a, q->b, &query));
    query.poses_a = q->pose_a;
    query.poses_b = q->pose_b;
    query.count = 1;
    query.limit = limit;
    query.gaps = gap;
    CAROM_TRY(distance_device_find(context, &query, &bad));
    return bad == 1 ? CAROM_OK : distance_device_fail_range(context);
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

/* A batch while it is searched: pairs of the same soups together, in the order of their first one.
 */
typedef struct distance_device_batch {
    const carom_soup_pair *pairs;
    uint64_t count;
    double limit;
    carom_soup_gap *gaps; /* or */
    bool *meet;
    uint64_t *order; /* of pairs: by soups, then by number */
    carom_pose *poses_a, *poses_b;
    void *results; /* in that order */
} distance_device_batch;

typedef struct distance_device_key {
    uintptr_t a, b;
    uint64_t number;
} distance_device_key;

static int distance_device_compare(const void *x, const void *y) {
    const distance_device_key *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static carom_status distance_device_sort(carom_context *context, distance_device_batch *batch) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t n = batch->count, size = batch->meet != NULL ? sizeof(bool) : sizeof(carom_soup_gap);
    distance_device_key *keys = CAROM_ARENA_TAKE(scratch, distance_device_key, n);
    batch->order = CAROM_ARENA_TAKE(scratch, uint64_t, n);
    batch->poses_a = CAROM_ARENA_TAKE(scratch, carom_pose, n);
    batch->poses_b = CAROM_ARENA_TAKE(scratch, carom_pose, n);
    batch->results = CAROM_ARENA_TAKE(scratch, char, n *size);
    if (keys == NULL || batch->order == NULL || batch->poses_a == NULL || batch->poses_b == NULL ||
        batch->results == NULL)
        return carom_fail_memory(context, n * (sizeof(*keys) + 2 * sizeof(carom_pose) + size),
                                 "a batch");
    for (uint64_t i = 0; i < n; ++i)
        keys[i] =
            (distance_device_key){(uintptr_t)batch->pairs[i].a, (uintptr_t)batch->pairs[i].b, i};
    qsort(keys, n, sizeof(*keys), distance_device_compare);
    for (uint64_t i = 0; i < n; ++i) {
        const carom_soup_pair *pair = &batch->pairs[keys[i].number];
        batch->order[i] = keys[i].number;
        batch->poses_a[i] = pair->pose_a;
        batch->poses_b[i] = pair->pose_b;
    }
    return CAROM_OK;
}

/* Searches the poses [at, end) of the order, which are of the same soups; lowers *bad to the lowest
 * number of a pair out of range. */
static carom_status distance_device_run(carom_context *context, const distance_device_batch *batch,
                                        uint64_t at, uint64_t end, carom_work *work,
                                        uint64_t *bad) {
    const carom_soup_pair *pair = &batch->pairs[batch->order[at]];
    carom_device_distance query;
    CAROM_TRY(distance_device_query(context, pair->a, pair->b, &query));
    carom_soup_gap *gaps = batch->gaps != NULL ? batch->results : NULL;
    bool *meet = batch->meet != NULL ? batch->results : NULL;
    uint64_t good;
    query.poses_a = batch->poses_a + at;
    query.poses_b = batch->poses_b + at;
    query.count = end - at;
    query.limit = batch->meet != NULL ? 0.0 : batch->limit;
    query.gaps = gaps != NULL ? gaps + at : NULL;
    query.meet = meet != NULL ? meet + at : NULL;
    CAROM_TRY(distance_device_find(context, &query, &good));
    work->visits += context->work.visits;
    work->candidates += context->work.candidates;
    work->undecided += context->work.undecided;
    for (uint64_t i = 0; i < good; ++i) {
        if (gaps != NULL) batch->gaps[batch->order[at + i]] = gaps[at + i];
        if (meet != NULL) batch->meet[batch->order[at + i]] = meet[at + i];
    }
    if (at + good < end) *bad = CAROM_MIN(batch->order[at + good], *bad);
    return CAROM_OK;
}

static carom_status distance_device_require(carom_context *context, const carom_soup *a,
                                            const carom_soup *b) {
    CAROM_REQUIRE_BOTH(a, b, "soup");
    return distance_device_check(context, a, b);
}

/* Checks pairs up to the first that is wrong, which *count becomes; returns its failure. */
static carom_status distance_device_check_pairs(carom_context *context,
                                                const carom_soup_pair *pairs, uint64_t *count) {
    for (uint64_t i = 0; i < *count; ++i) {
        const carom_soup_pair *p = &pairs[i];
        carom_status status = distance_device_require(context, p->a, p->b);
        if (status == CAROM_OK)
            status = carom_soup_check_pose(context, &p->pose_a, "the pose of a");
        if (status == CAROM_OK)
            status = carom_soup_check_pose(context, &p->pose_b, "the pose of b");
        if (status == CAROM_OK) continue;
        *count = i;
        return status;
    }
    return CAROM_OK;
}

static carom_status distance_device_search_all(carom_context *context, distance_device_batch *batch,
                                               uint64_t *bad) {
    carom_work work = {0};
    CAROM_TRY(distance_device_sort(context, batch));
    for (uint64_t at = 0, end; at < batch->count; at = end) {
        const carom_soup_pair *pair = &batch->pairs[batch->order[at]];
        for (end = at + 1; end < batch->count; ++end) {
            const carom_soup_pair *next = &batch->pairs[batch->order[end]];
            if (next->a != pair->a || next->b != pair->b) break;
        }
        CAROM_TRY(distance_device_run(context, batch, at, end, &work, bad));
    }
    context->work = work;
    return CAROM_OK;
}

/* Searches all pairs before the first one that is wrong, which fails as a single query of it would.
 */
static carom_status distance_device_search(carom_context *context, distance_device_batch *batch,
                                           bool checked) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = batch->count, bad;
    carom_status wrong =
        checked ? CAROM_OK : distance_device_check_pairs(context, batch->pairs, &count);
    char message[CAROM_MESSAGE_SIZE];
    (void)snprintf(message, sizeof(message), "%s", context->message);
    bad = batch->count = count;
    carom_status status = count != 0 ? distance_device_search_all(context, batch, &bad) : CAROM_OK;
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    if (bad < count)
        return carom_fail_at(context, distance_device_fail_range(context), "pair", bad);
    if (wrong == CAROM_OK) return CAROM_OK;
    return carom_fail_at(context, carom_fail(context, wrong, "%s", message), "pair", count);
}

carom_status carom_soup_device_distances(carom_context *context, const carom_soup_pair *pairs,
                                         uint64_t count, double limit, carom_soup_gap *gaps) {
    distance_device_batch batch = {.pairs = pairs, .count = count, .limit = limit, .gaps = gaps};
    return distance_device_search(context, &batch, false);
}

carom_status carom_soup_device_meets(carom_context *context, const carom_soup_pair *pairs,
                                     uint64_t count, bool *meet) {
    distance_device_batch batch = {.pairs = pairs, .count = count, .meet = meet};
    return distance_device_search(context, &batch, false);
}

carom_status carom_soup_device_distances_of_cpu(carom_context *context,
                                                const carom_soup_pair *pairs, uint64_t count,
                                                carom_soup_gap *gaps) {
    distance_device_batch batch = {.pairs = pairs, .count = count, .limit = HUGE_VAL, .gaps = gaps};
    CAROM_TRY(carom_context_require_table(context, distance_device_table(), "distances of solids"));
    return distance_device_search(context, &batch, true);
}

/* ---- Pairs of faces -------------------------------------------------------------------------- */

/* As carom_soup_pair_input_self and _cross of soups on the GPU. */
static carom_status distance_device_input(carom_context *context, const carom_soup_device_query *q,
                                          const carom_pair *pairs, uint64_t count,
                                          carom_soup_pair_input *input) {
    const carom_soup *b = q->b != NULL ? q->b : q->a;
    CAROM_TRY(carom_soup_check_here(context, q->a));
    CAROM_TRY(carom_soup_check_here(context, b));
    CAROM_TRY(carom_soup_check_pose(context, q->pose_a, "the pose of a"));
    CAROM_TRY(carom_soup_check_pose(context, q->pose_b, "the pose of b"));
    context->work = (carom_work){0};
    *input = (carom_soup_pair_input){
        .context = context,
        .a = {.soup = q->a, .posed = q->b != NULL, .frame = carom_frame_make(q->pose_a)},
        .b = {.soup = b, .posed = q->b != NULL, .frame = carom_frame_make(q->pose_b)},
        .pairs = pairs,
        .count = count};
    return carom_soup_pair_input_check(input);
}

carom_status carom_soup_device_gaps(carom_context *context, const carom_soup_device_query *q,
                                    const carom_pair *pairs, uint64_t count, carom_soup_gap *gaps) {
    carom_soup_pair_input input;
    carom_device_posed posed[2];
    CAROM_TRY(carom_context_require_table(context, distance_device_table(), "distances of faces"));
    CAROM_TRY(distance_device_input(context, q, pairs, count, &input));
    CAROM_TRY(carom_cuda_finish(context));
    const carom_soup_pair_side *sides[2] = {&input.a, &input.b};
    for (int i = 0; i < 2; ++i)
        posed[i] = (carom_device_posed){sides[i]->soup->device, sides[i]->posed, sides[i]->frame};
    carom_progress_begin(context, "measuring pairs of faces", 0);
    return carom_progress_finish(
        context,
        carom_device_pass(context, distance_device_table()->gaps(context->device, &posed[0],
                                                                 &posed[1], pairs, count, gaps)));
}

/* ---- Arrays in device memory ----------------------------------------------------------------- */

carom_status carom_cuda_soup_cross_distance(carom_context *context, const carom_soup *a,
                                            const carom_pose *device_poses_a, const carom_soup *b,
                                            const carom_pose *device_poses_b, uint64_t count,
                                            double limit, carom_soup_gap *device_gaps) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUTS(device_gaps, count, "device_gaps");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(distance_device_check(context, a, b));
    CAROM_TRY(carom_soup_check_limit(context, &limit));
    carom_device_distance query;
    CAROM_TRY(distance_device_query(context, a, b, &query));
    query.poses_a = device_poses_a;
    query.poses_b = device_poses_b;
    query.count = count;
    query.limit = limit;
    query.gaps = device_gaps;
    return carom_device_pass(context, distance_device_table()->find(device, &query));
}

carom_status carom_cuda_soup_cross_meet(carom_context *context, const carom_soup *a,
                                        const carom_pose *device_poses_a, const carom_soup *b,
                                        const carom_pose *device_poses_b, uint64_t count,
                                        bool *device_meet) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUTS(device_meet, count, "device_meet");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(distance_device_check(context, a, b));
    carom_device_distance query;
    CAROM_TRY(distance_device_query(context, a, b, &query));
    query.poses_a = device_poses_a;
    query.poses_b = device_poses_b;
    query.count = count;
    query.meet = device_meet;
    return carom_device_pass(context, distance_device_table()->find(device, &query));
}
