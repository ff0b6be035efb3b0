/* SPDX-License-Identifier: MIT */
/* Soups of contexts of backend cuda: the calls of soup.h passed on to the GPU library, and those of
 * cuda.h.
 *
 * The soup keeps its arrays on the host, too, so that adding and removing faces is the same code as
 * for the CPU; what is derived from them is on the device alone. */
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/threads.h"
#include "geom/intersection.h"
#include "geom/within.h"
#include "soup/soup.h"
#include "soup/soup_pairs.h"
#include "soup/soup_within.h"

#define PAIRS_PER_READ 65536u /* pairs given to a receiver at a time: half a megabyte */

static const carom_cuda_soup *soup_device_table(void) {
    return carom_device_table(CAROM_CUDA_SOUP);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

carom_status carom_soup_device_check_new(carom_context *context, const carom_soup_def *def) {
    CAROM_TRY(carom_context_require_table(context, soup_device_table(), "soups"));
    if (def->method != CAROM_SOUP_METHOD_GRID) return CAROM_OK;
    return carom_grid_require_device_hash(context, def->grid.hash);
}

carom_status carom_soup_check_backend(carom_context *context, const carom_soup *soup) {
    return carom_context_require_made(context, soup->backend, "the soup");
}

/* CAROM_OK if the soup can be searched. */
static carom_status check_ready(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(carom_soup_check_backend(context, soup));
    if (soup->failed == CAROM_OK) return CAROM_OK;
    return carom_fail(context, soup->failed,
                      "the soup lost its tree when a change of it failed (%s) and has to be "
                      "changed again; removing no faces will do",
                      carom_status_name(soup->failed));
}

carom_status carom_soup_check_here(carom_context *context, const carom_soup *soup) {
    return carom_soup_on_device(context) ? check_ready(context, soup)
                                         : carom_soup_check_any(context, soup);
}

carom_status carom_soup_device_check_tree(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(carom_soup_check_backend(context, soup));
    CAROM_TRY(carom_soup_check_method(context, soup));
    return check_ready(context, soup);
}

/* Copies the arrays of a soup to the device, and prepares them there. */
static carom_status soup_device_set(carom_context *context, const carom_soup *soup,
                                    carom_device_soup **device) {
    const carom_device_soup_def def = {.positions = soup->stale ? NULL : soup->positions,
                                       .doubles = soup->scalar == CAROM_SCALAR_FLOAT64,
                                       .as_segments =
                                           soup->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT,
                                       .vertex_count = (uint32_t)soup->vertex_count,
                                       .triangle_count = soup->triangle_count,
                                       .face_count = soup->face_count,
                                       .corners = soup->corners,
                                       .faces = soup->faces,
                                       .states = soup->states};
    if (*device == NULL)
        CAROM_TRY(carom_device_pass(context, soup_device_table()->create(context->device, device)));
    return carom_device_pass(context, soup_device_table()->set(context->device, *device, &def));
}

static carom_status set(carom_context *context, carom_soup *soup) {
    CAROM_TRY(soup_device_set(context, soup, &soup->device));
    soup->degenerate_faces = soup_device_table()->degenerate_faces(soup->device);
    return CAROM_OK;
}

carom_status carom_soup_device_prepare(carom_context *context, carom_soup *soup) {
    carom_progress_begin(context, "preparing a soup", 0);
    return carom_progress_finish(context, set(context, soup));
}

carom_status carom_soup_device_fetch(carom_context *context, carom_soup *soup) {
    CAROM_TRY(carom_device_pass(context, soup_device_table()->get_positions(
                                             context->device, soup->device, soup->positions)));
    carom_soup_forget_copies(soup); /* they have the positions that the host had */
    soup->stale = false;
    return CAROM_OK;
}

carom_status carom_soup_get_current_view(carom_context *context, const carom_soup *soup,
                                         carom_soup_view *view) {
    carom_soup_get_view(soup, view);
    if (!soup->stale) return CAROM_OK;
    void *positions = CAROM_ARENA_TAKE(carom_scratch(context, 0), char, soup->position_bytes);
    if (positions == NULL)
        return carom_fail_memory(context, soup->position_bytes, "reading positions");
    view->positions = positions;
    return carom_device_pass(
        context, soup_device_table()->get_positions(context->device, soup->device, positions));
}

carom_status carom_soup_get_view_on_cpu(carom_context *context, const carom_soup *soup,
                                        carom_soup_view *view) {
    carom_soup_loan loan;
    if (soup->stale)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "the positions of a soup are in device memory alone; update it with "
                          "positions of the host");
    CAROM_TRY(carom_soup_lend_cpu(context, soup, NULL, &loan));
    CAROM_ASSERT(loan.own == NULL);
    carom_soup_get_view(loan.soup, view);
    return CAROM_OK;
}

bool carom_soup_is_stale(const carom_soup *soup) {
    return soup->stale;
}

carom_status carom_soup_lend_device(carom_context *context, const carom_soup *soup,
                                    const carom_device_soup **on_device) {
    *on_device = soup->device;
    if (soup->backend == CAROM_BACKEND_CUDA) return CAROM_OK;
    *on_device = atomic_load_explicit(&soup->cache->on_device, memory_order_acquire);
    if (*on_device != NULL) return CAROM_OK;
    carom_device_soup *made = NULL, *other = NULL;
    carom_status status = soup_device_set(context, soup, &made);
    if (status != CAROM_OK) {
        carom_soup_device_destroy(made);
        return status;
    }
    bool first = atomic_compare_exchange_strong_explicit(
        &soup->cache->on_device, &other, made, memory_order_acq_rel, memory_order_acquire);
    if (!first) carom_soup_device_destroy(made);
    *on_device = first ? made : other;
    return CAROM_OK;
}

void carom_soup_device_destroy(carom_device_soup *device) {
    if (device != NULL) soup_device_table()->destroy(device);
}

void carom_soup_device_release(carom_soup *soup) {
    carom_soup_device_destroy(soup->device);
    soup->device = NULL;
}

uint64_t carom_soup_device_bytes_of(const carom_device_soup *device) {
    return device != NULL ? soup_device_table()->bytes(device) : 0;
}

/* The positions of the device are to change: those of the host are old from here on. */
static bool soup_device_changed(void *structure) {
    carom_soup *soup = structure;
    soup->stale = true;
    return true;
}

static carom_device_owner soup_device_owner(carom_soup *soup) {
    return (carom_device_owner){soup_device_changed, soup};
}

/* ---- Queries with results on the host -------------------------------------------------------- */

static carom_status soup_device_pose_side(carom_context *context, const carom_soup *soup,
                                          const carom_pose *pose, const char *whose,
                                          carom_device_posed *posed) {
    CAROM_TRY(check_ready(context, soup));
    CAROM_TRY(carom_soup_check_pose(context, pose, whose));
    carom_frame frame = carom_frame_make(pose), identity = carom_frame_make(NULL);
    *posed = (carom_device_posed){.soup = soup->device,
                                  .moved = memcmp(&frame, &identity, sizeof(frame)) != 0,
                                  .frame = frame};
    return CAROM_OK;
}

/* The method of a search: by grid if a soup is to be searched by grid. */
static carom_device_method method_of(const carom_soup_device_query *q) {
    bool grid_a = q->a->method == CAROM_SOUP_METHOD_GRID;
    bool grid_b = q->b != NULL && q->b->method == CAROM_SOUP_METHOD_GRID;
    const carom_grid_def *def = grid_a || q->b == NULL ? &q->a->grid_def : &q->b->grid_def;
    uint64_t count = (uint64_t)q->a->triangle_count + (q->b != NULL ? q->b->triangle_count : 0);
    carom_device_method method = {.by_grid = grid_a || grid_b,
                                  .lift = carom_grid_lift_of(def->cell_scale)};
    carom_grid_choose_table(def, (uint32_t)CAROM_MIN(count, UINT32_MAX), &method.table);
    return method;
}

/* Queues a search. */
static carom_status submit(carom_context *context, const carom_soup_device_query *q,
                           carom_cuda_order order, carom_cuda_pairs *pairs, uint64_t *count) {
    carom_device_posed a, b;
    CAROM_TRY(soup_device_pose_side(context, q->a, q->pose_a, "pose_a", &a));
    if (q->b != NULL) CAROM_TRY(soup_device_pose_side(context, q->b, q->pose_b, "pose_b", &b));
    carom_device_method method = method_of(q);
    return carom_device_pass(context, soup_device_table()->search(context->device, &a,
                                                                  q->b != NULL ? &b : NULL, &method,
                                                                  order, pairs, count));
}

/* Queues a search and waits for it. */
static carom_status soup_device_search(carom_context *context, const carom_soup_device_query *q,
                                       carom_cuda_pairs *pairs, uint64_t *count) {
    CAROM_TRY(carom_cuda_finish(context));
    context->work = (carom_work){0};
    CAROM_TRY(submit(context, q, CAROM_CUDA_ORDER_SORTED, pairs, count));
    CAROM_TRY(carom_cuda_finish(context));
    return carom_device_pass(context,
                             soup_device_table()->get_work(context->device, &context->work));
}

static carom_status soup_device_run_query(carom_context *context, const carom_soup_device_query *q,
                                          carom_cuda_pairs *pairs, uint64_t *count) {
    carom_progress_begin(context, "finding pairs", 0);
    return carom_progress_finish(context, soup_device_search(context, q, pairs, count));
}

carom_status carom_soup_device_pairs(carom_context *context, const carom_soup_device_query *q,
                                     carom_pairs *pairs) {
    uint64_t count, space;
    carom_cuda_pairs *found = &context->device_pairs;
    CAROM_TRY(soup_device_run_query(context, q, found, &count));
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, pairs, count, &space));
    CAROM_TRY(carom_cuda_read(context, pairs->data, found->data, space * sizeof(carom_pair)));
    return carom_pairs_end(pairs);
}

carom_status carom_soup_device_count(carom_context *context, const carom_soup_device_query *q,
                                     uint64_t *count) {
    bool polygons = q->a->faces != NULL || (q->b != NULL && q->b->faces != NULL);
    *count = 0;
    return soup_device_run_query(context, q, polygons ? &context->device_pairs : NULL, count);
}

carom_status carom_soup_device_any(carom_context *context, const carom_soup_device_query *q,
                                   bool *any) {
    uint64_t count;
    *any = false;
    CAROM_TRY(soup_device_run_query(context, q, NULL, &count));
    *any = count != 0;
    return CAROM_OK;
}

carom_status carom_soup_device_each(carom_context *context, const carom_soup_device_query *q,
                                    carom_pairs_fn *receive, void *user) {
    uint64_t count, some;
    const carom_cuda_pairs *found = &context->device_pairs;
    carom_arena *scratch = carom_scratch(context, 0);
    CAROM_TRY(soup_device_run_query(context, q, &context->device_pairs, &count));
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_pair, PAIRS_PER_READ);
    if (pairs == NULL)
        return carom_fail_memory(context, PAIRS_PER_READ * sizeof(*pairs), "passing pairs");
    carom_status status = CAROM_OK;
    bool stop = false;
    for (uint64_t at = 0; at < count && status == CAROM_OK && !stop; at += some) {
        some = CAROM_MIN(count - at, PAIRS_PER_READ);
        status = carom_cuda_read(context, pairs, found->data + at, some * sizeof(*pairs));
        if (status == CAROM_OK) stop = receive(user, pairs, some);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_soup_self_pairs_on_device(carom_context *context, carom_soup *soup,
                                             const void *device_positions,
                                             uint32_t *degenerate_faces, carom_pairs *pairs) {
    const carom_soup_device_query query = {.a = soup};
    CAROM_TRY(carom_device_pass(context, soup_device_table()->update(context->device, soup->device,
                                                                     device_positions,
                                                                     soup_device_owner(soup))));
    CAROM_TRY(carom_soup_device_pairs(context, &query, pairs));
    *degenerate_faces = soup_device_table()->degenerate_faces(soup->device);
    return CAROM_OK;
}

/* ---- Near faces ------------------------------------------------------------------------------ */

carom_status carom_soup_device_check_k_free(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(check_ready(context, soup));
    if (soup->faces == NULL) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "near faces of polygons cannot be counted on cuda; make the soup of "
                      "triangles, or use a context of backend cpu");
}

carom_status carom_soup_device_k_free(carom_context *context, const carom_soup *soup,
                                      carom_device_k_free *result) {
    CAROM_TRY(carom_device_pass(
        context, soup_device_table()->k_free(context->device, soup->device, result)));
    return carom_device_pass(context,
                             soup_device_table()->get_work(context->device, &context->work));
}

/* ---- Segments -------------------------------------------------------------------------------- */

carom_status carom_soup_device_find_segments(const carom_soup_pair_input *input, uint64_t first,
                                             uint64_t count, carom_device_segments *result) {
    carom_context *context = input->context;
    const carom_soup_pair_side *sides[] = {&input->a, &input->b};
    carom_device_posed posed[2];
    CAROM_ASSERT(first + count <= input->count && count <= UINT32_MAX);
    for (int i = 0; i < 2; ++i) /* the CPU applies every pose of two soups, the identity too */
        posed[i] = (carom_device_posed){sides[i]->soup->device, sides[i]->posed, sides[i]->frame};
    return carom_device_pass(context, soup_device_table()->segments(context->device, &posed[0],
                                                                    input->self ? NULL : &posed[1],
                                                                    input->pairs + first,
                                                                    (uint32_t)count, result));
}

/* ---- Faces within a margin ------------------------------------------------------------------- */

#define WITHIN_PER_RANGE 16u /* pairs decided in integers, some ten microseconds each */

typedef struct soup_device_deciding {
    const carom_device_near *near;
    bool *within;
    double margin;
} soup_device_deciding;

static carom_status soup_device_decide_range(void *argument, carom_range range) {
    const soup_device_deciding *d = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        d->within[i] =
            carom_within_exact(&d->near[i].triangle[0], &d->near[i].triangle[1], d->margin);
    return CAROM_OK;
}

/* The pairs that doubles left open and that count, sorted. */
static carom_status soup_device_decide_rest(carom_context *context,
                                            const carom_device_within *found, double margin,
                                            uint64_t **pairs, uint64_t *count) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_pair_list list;
    uint64_t n = found->undecided_count;
    carom_device_near *near = CAROM_ARENA_TAKE(scratch, carom_device_near, n + 1);
    bool *within = CAROM_ARENA_TAKE(scratch, bool, n + 1);
    if (near == NULL || within == NULL)
        return carom_fail_memory(context, n * sizeof(*near), "a search");
    CAROM_TRY(carom_cuda_read(context, near, found->undecided, n * sizeof(*near)));
    soup_device_deciding d = {near, within, margin};
    CAROM_TRY(carom_parallel_for(context, n, WITHIN_PER_RANGE, soup_device_decide_range, &d));
    carom_pair_list_begin(&list, scratch);
    for (uint64_t i = 0; i < n; ++i)
        if (within[i] && !carom_pair_list_add(&list, near[i].face[0], near[i].face[1]))
            return carom_fail_memory(context, n * sizeof(uint64_t), "a search");
    context->work.undecided += n;
    return carom_pair_list_sort(context, &list, true, pairs, count);
}

/* Two sorted lists as one, in scratch; a pair may be in both. */
static uint64_t *join_sorted(carom_arena *scratch, const uint64_t *a, uint64_t count_a,
                             const uint64_t *b, uint64_t count_b, uint64_t *count) {
    uint64_t *all = CAROM_ARENA_TAKE(scratch, uint64_t, count_a + count_b + 1);
    uint64_t i = 0, j = 0, n = 0;
    while (all != NULL && (i < count_a || j < count_b)) {
        bool take_a = j == count_b || (i < count_a && a[i] <= b[j]);
        uint64_t next = take_a ? a[i++] : b[j++];
        if (n == 0 || all[n - 1] != next) all[n++] = next;
    }
    *count = n;
    return all;
}

static carom_status soup_device_find_within(carom_context *context,
                                            const carom_soup_device_query *q, double margin,
                                            carom_pair_finish_fn *finish, void *argument) {
    carom_device_posed a, b;
    carom_device_within rest;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_cuda_pairs *found = &context->device_pairs;
    uint64_t *open, open_count, count;
    CAROM_TRY(soup_device_pose_side(context, q->a, q->pose_a, "pose_a", &a));
    if (q->b != NULL) CAROM_TRY(soup_device_pose_side(context, q->b, q->pose_b, "pose_b", &b));
    context->work = (carom_work){0};
    CAROM_TRY(carom_device_pass(context, soup_device_table()->within(context->device, &a,
                                                                     q->b != NULL ? &b : NULL,
                                                                     margin, found, &rest)));
    CAROM_TRY(
        carom_device_pass(context, soup_device_table()->get_work(context->device, &context->work)));
    context->work.undecided = 0;
    carom_pair *read = CAROM_ARENA_TAKE(scratch, carom_pair, found->count + 1);
    uint64_t *packed = CAROM_ARENA_TAKE(scratch, uint64_t, found->count + 1);
    if (read == NULL || packed == NULL)
        return carom_fail_memory(context, found->count * sizeof(*read), "a search");
    CAROM_TRY(carom_cuda_read(context, read, found->data, found->count * sizeof(*read)));
    for (uint64_t i = 0; i < found->count; ++i) packed[i] = (uint64_t)read[i].a << 32 | read[i].b;
    CAROM_TRY(soup_device_decide_rest(context, &rest, margin, &open, &open_count));
    uint64_t *all = join_sorted(scratch, packed, found->count, open, open_count, &count);
    if (all == NULL) return carom_fail_memory(context, found->count * sizeof(*all), "a search");
    if (q->b == NULL && q->a->faces != NULL)
        CAROM_TRY(carom_soup_within_remove_neighbours(context, q->a, all, &count));
    return finish(context, all, count, argument);
}

carom_status carom_soup_device_within(carom_context *context, const carom_soup_device_query *q,
                                      double margin, carom_pair_finish_fn *finish, void *argument) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    CAROM_TRY(carom_soup_check_method(context, q->a));
    if (q->b != NULL) CAROM_TRY(carom_soup_check_method(context, q->b));
    carom_progress_begin(context, "finding faces within a margin", 0);
    carom_status status = soup_device_find_within(context, q, margin, finish, argument);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

/* ---- Input and results on the device --------------------------------------------------------- */

carom_status carom_cuda_soup_update(carom_context *context, carom_soup *soup,
                                    const carom_cuda_positions *positions) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(positions != NULL, CAROM_ARE_NULL("positions"));
    CAROM_REQUIRE_KNOWN(positions->scalar, CAROM_SCALAR_COUNT, "scalar type");
    CAROM_REQUIRE_INPUTS(positions->data, positions->count, "positions");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "an update in device memory", &device));
    CAROM_TRY(carom_soup_check_backend(context, soup));
    if (positions->count != soup->vertex_count || positions->scalar != soup->scalar)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the soup has %llu vertices of %s, the update %llu of %s; make a new "
                          "soup instead",
                          (unsigned long long)soup->vertex_count, carom_scalar_name(soup->scalar),
                          (unsigned long long)positions->count,
                          carom_scalar_name(positions->scalar));
    return carom_device_pass(context,
                             soup_device_table()->update(device, soup->device, positions->data,
                                                         soup_device_owner(soup)));
}

carom_status carom_cuda_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                        carom_cuda_order order, carom_cuda_pairs *pairs) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_KNOWN(order, CAROM_CUDA_ORDER_COUNT, "order");
    CAROM_REQUIRE_OUTPUT(pairs, "pairs");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    return submit(context, &(carom_soup_device_query){.a = soup}, order, pairs, NULL);
}

carom_status carom_cuda_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                         const carom_pose *pose_a, const carom_soup *b,
                                         const carom_pose *pose_b, carom_cuda_order order,
                                         carom_cuda_pairs *pairs) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_KNOWN(order, CAROM_CUDA_ORDER_COUNT, "order");
    CAROM_REQUIRE_OUTPUT(pairs, "pairs");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    return submit(context, &(carom_soup_device_query){a, b, pose_a, pose_b}, order, pairs, NULL);
}

/* ---- Segments in device memory --------------------------------------------------------------- */

static uint32_t soup_device_cut(const carom_triangle *a, const carom_triangle *b, carom_pair faces,
                                carom_soup_segment *segments) {
    carom_intersection common;
    carom_triangle_intersect(a, b, &common);
    memset(segments, 0, CAROM_INTERSECTION_MOST * sizeof(*segments)); /* padding too */
    for (int i = 0; i < common.count; ++i) {
        carom_soup_segment *s = &segments[i];
        s->pair = faces;
        s->crossing = common.interior;
        s->kind = CAROM_SOUP_SEGMENT_KIND_OUTLINE;
        if (common.dimension == 0) s->kind = CAROM_SOUP_SEGMENT_KIND_POINT;
        if (common.dimension == 1) s->kind = CAROM_SOUP_SEGMENT_KIND_SEGMENT;
        s->p = common.end[i][0];
        s->q = common.end[i][1];
    }
    return common.count > 0 ? (uint32_t)common.count : 0;
}

void carom_cuda_segments_free(carom_context *context, carom_cuda_segments *segments) {
    carom_device *device;
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(segments != NULL, CAROM_ARE_NULL("segments"), );
    if (carom_device_of(context, "device memory", &device) != CAROM_OK) return;
    if (carom_cuda_finish(context) != CAROM_OK || segments->memory == NULL) return;
    soup_device_table()->segments_free(segments);
}

carom_status carom_cuda_soup_self_segments(carom_context *context, const carom_soup *soup,
                                           const carom_cuda_pairs *pairs,
                                           carom_cuda_segments *segments) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(pairs != NULL, CAROM_ARE_NULL("pairs"));
    CAROM_REQUIRE_INPUTS(pairs->data, pairs->count, "pairs");
    CAROM_REQUIRE_OUTPUT(segments, "segments");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(check_ready(context, soup));
    const carom_device_posed posed = {.soup = soup->device, .frame = carom_frame_make(NULL)};
    return carom_device_pass(context, soup_device_table()->segments_on_device(
                                          device, &posed, NULL, pairs, segments, soup_device_cut));
}

carom_status carom_cuda_soup_cross_segments(carom_context *context, const carom_soup *a,
                                            const carom_pose *pose_a, const carom_soup *b,
                                            const carom_pose *pose_b, const carom_cuda_pairs *pairs,
                                            carom_cuda_segments *segments) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE(pairs != NULL, CAROM_ARE_NULL("pairs"));
    CAROM_REQUIRE_INPUTS(pairs->data, pairs->count, "pairs");
    CAROM_REQUIRE_OUTPUT(segments, "segments");
    carom_device *device;
    carom_device_posed of_a, of_b;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(soup_device_pose_side(context, a, pose_a, "pose_a", &of_a));
    CAROM_TRY(soup_device_pose_side(context, b, pose_b, "pose_b", &of_b));
    of_a.moved = of_b.moved = true; /* the CPU applies every pose of two soups, the identity too */
    return carom_device_pass(context, soup_device_table()->segments_on_device(
                                          device, &of_a, &of_b, pairs, segments, soup_device_cut));
}
