/* SPDX-License-Identifier: MIT */
/* Searches for impacts of contexts of backend cuda: passed on to the GPU library, which calls back
 * for what doubles do not decide. */
#include "impacts/impacts_device.h"

#include <string.h>

#include "base/threads.h"
#include "impacts/impacts.h"
#include "mesh/mesh.h"
#include "soup/soup_view.h"

#define IMPACTS_DEVICE_PER_RANGE 16u /* motions decided, one after the other; each some 10 us */

static const carom_cuda_impacts_table *impacts_device_table(void) {
    return carom_device_table(CAROM_CUDA_IMPACTS);
}

/* ---- What doubles leave open ----------------------------------------------------------------- */

typedef struct impacts_device_deciding {
    const carom_impacts_query *query;
    carom_device_motion *motions;
} impacts_device_deciding;

static carom_status impacts_device_decide_range(void *argument, carom_range range) {
    const impacts_device_deciding *d = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_device_motion *m = &d->motions[i];
        carom_toi found = {.hit = false};
        (void)d->query->decide(d->query, m->start, m->end, m->edges, &found);
        m->hit = found.hit;
        m->time = found.time;
    }
    return CAROM_OK;
}

static carom_status impacts_device_decide(const carom_device_impacts_def *def,
                                          carom_device_motion *motions, uint64_t count,
                                          double largest) {
    const carom_impacts_query query = {.context = def->context,
                                       .decide = carom_impacts_decider(def->task),
                                       .reach = def->reach,
                                       .largest = largest};
    impacts_device_deciding d = {&query, motions};
    return carom_parallel_for(def->context, count, IMPACTS_DEVICE_PER_RANGE,
                              impacts_device_decide_range, &d);
}

/* ---- End positions --------------------------------------------------------------------------- */

static uint64_t packed_bytes(const carom_mesh_view *end) {
    if (end == NULL) return 0;
    return 3 * (end->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double)) *
           end->vertex_count;
}

/* Copies positions to the device, packed. */
static carom_status write_end(carom_context *context, const carom_mesh_view *end, void *to) {
    uint64_t bytes = packed_bytes(end);
    if (bytes == 0) return CAROM_OK;
    uint64_t size = bytes / end->vertex_count;
    if (end->stride == 0 || end->stride == size)
        return carom_cuda_write(context, to, end->positions, bytes);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    char *packed = CAROM_ARENA_TAKE(scratch, char, bytes);
    if (packed == NULL) return carom_fail_memory(context, bytes, "end positions");
    for (uint64_t v = 0; v < end->vertex_count; ++v)
        memcpy(packed + v * size, (const char *)end->positions + v * end->stride, size);
    carom_status status = carom_cuda_write(context, to, packed, bytes);
    carom_arena_rewind(scratch, mark);
    return status;
}

static carom_status write_ends(carom_context *context, const carom_impacts_query *query,
                               void **ends) {
    const uint64_t bytes[2] = {packed_bytes(query->end_a), packed_bytes(query->end_b)};
    CAROM_TRY(carom_device_pass(
        context, impacts_device_table()->reserve_ends(context->device, bytes, ends)));
    CAROM_TRY(write_end(context, query->end_a, ends[0]));
    return write_end(context, query->end_b, ends[1]);
}

/* ---- Search ---------------------------------------------------------------------------------- */

static carom_device_way way_of(const carom_soup *soup, const carom_mesh_view *end, const void *at,
                               const carom_pose *pose) {
    carom_soup_view view;
    carom_soup_get_view(soup, &view);
    return (carom_device_way){.soup = view.device,
                              .end = end != NULL ? at : NULL,
                              .end_doubles = end != NULL && end->scalar == CAROM_SCALAR_FLOAT64,
                              .moved = pose != NULL,
                              .frame = carom_frame_make(pose)};
}

/* Searches, and waits. */
static carom_status search_and_wait(carom_impacts_query *query, carom_device_impacts_def *def) {
    carom_context *context = query->context;
    carom_device_impacts_work work;
    void *ends[2];
    CAROM_TRY(carom_context_require_table(context, impacts_device_table(), query->whose_result));
    CAROM_TRY(carom_cuda_finish(context));
    CAROM_TRY(write_ends(context, query, ends));
    def->a = way_of(query->a, query->end_a, ends[0], query->pose_a);
    if (query->b != NULL) def->b = way_of(query->b, query->end_b, ends[1], query->pose_b);
    def->task = query->task;
    def->reach = query->reach;
    def->decide = impacts_device_decide;
    def->context = context;
    def->work = &work;
    CAROM_TRY(carom_device_pass(context, impacts_device_table()->search(context->device, def)));
    CAROM_TRY(carom_cuda_finish(context));
    query->largest = work.largest;
    context->work.visits += work.node_pairs;
    context->work.candidates += work.candidates;
    context->work.undecided += work.host_items;
    return CAROM_OK;
}

carom_status carom_impacts_device_all(carom_impacts_query *query, carom_cuda_impacts *found) {
    *found = (carom_cuda_impacts){0};
    return search_and_wait(query, &(carom_device_impacts_def){.form = CAROM_DEVICE_IMPACTS_ALL,
                                                              .impacts = found,
                                                              .in_scratch = true});
}

carom_status carom_impacts_device_first(carom_impacts_query *query, carom_soup_impact *first) {
    return search_and_wait(
        query, &(carom_device_impacts_def){.form = CAROM_DEVICE_IMPACTS_FIRST, .first = first});
}

/* ---- Input and results on the device --------------------------------------------------------- */

void carom_cuda_impacts_free(carom_context *context, carom_cuda_impacts *impacts) {
    carom_device *device;
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(impacts != NULL, CAROM_ARE_NULL("impacts"), );
    if (carom_device_of(context, "device memory", &device) != CAROM_OK) return;
    if (carom_cuda_finish(context) != CAROM_OK || impacts->memory == NULL) return;
    impacts_device_table()->free(impacts);
}

static carom_status check_end_count(carom_context *context, const carom_soup_view *soup,
                                    const carom_cuda_positions *end) {
    if (end == NULL || end->count == soup->vertex_count) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT, "a soup has %llu vertices, its end positions %llu",
                      (unsigned long long)soup->vertex_count, (unsigned long long)end->count);
}

static carom_status way_on_device(carom_context *context, const carom_soup *soup,
                                  const carom_cuda_positions *end, carom_device_way *way) {
    carom_soup_view view;
    CAROM_TRY(carom_soup_check_here(context, soup));
    carom_soup_get_view(soup, &view);
    CAROM_TRY(check_end_count(context, &view, end));
    *way = (carom_device_way){.soup = view.device,
                              .end = end != NULL ? end->data : NULL,
                              .end_doubles = end != NULL && end->scalar == CAROM_SCALAR_FLOAT64,
                              .frame = carom_frame_make(NULL)};
    return CAROM_OK;
}

/* Soups and their end positions, checked; b may be NULL. */
static carom_status begin_on_device(carom_context *context, const carom_soup *a,
                                    const carom_cuda_positions *end_a, const carom_soup *b,
                                    const carom_cuda_positions *end_b,
                                    carom_device_impacts_def *def) {
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(carom_context_require_table(context, impacts_device_table(), "impacts"));
    CAROM_TRY(way_on_device(context, a, end_a, &def->a));
    if (b != NULL) CAROM_TRY(way_on_device(context, b, end_b, &def->b));
    def->decide = impacts_device_decide;
    def->context = context;
    return CAROM_OK;
}

static carom_status submit_on_device(carom_context *context, const carom_device_impacts_def *def) {
    return carom_device_pass(context, impacts_device_table()->search(context->device, def));
}

#define REQUIRE_END(end)                                                                           \
    do {                                                                                           \
        if ((end) == NULL) break;                                                                  \
        CAROM_REQUIRE_KNOWN((end)->scalar, CAROM_SCALAR_COUNT, "scalar type");                     \
        CAROM_REQUIRE_INPUTS((end)->data, (end)->count, "end positions");                          \
    } while (0)

static carom_status impacts_on_device(carom_context *context, const carom_soup *a,
                                      const carom_cuda_positions *end_a, const carom_soup *b,
                                      const carom_cuda_positions *end_b,
                                      carom_cuda_impacts *impacts, carom_soup_impact *first) {
    carom_device_impacts_def def = {.task = CAROM_DEVICE_IMPACTS_MEET,
                                    .form = first != NULL ? CAROM_DEVICE_IMPACTS_FIRST
                                                          : CAROM_DEVICE_IMPACTS_ALL,
                                    .impacts = impacts,
                                    .first = first};
    REQUIRE_END(end_a);
    REQUIRE_END(end_b);
    CAROM_TRY(begin_on_device(context, a, end_a, b, end_b, &def));
    return submit_on_device(context, &def);
}

carom_status carom_cuda_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                          const carom_cuda_positions *end,
                                          carom_cuda_impacts *impacts) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_OUTPUT(impacts, "impacts");
    return impacts_on_device(context, soup, end, NULL, NULL, impacts, NULL);
}

carom_status carom_cuda_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                           const carom_cuda_positions *end_a, const carom_soup *b,
                                           const carom_cuda_positions *end_b,
                                           carom_cuda_impacts *impacts) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(impacts, "impacts");
    return impacts_on_device(context, a, end_a, b, end_b, impacts, NULL);
}

carom_status carom_cuda_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                               const carom_cuda_positions *end,
                                               carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    return impacts_on_device(context, soup, end, NULL, NULL, NULL, impact);
}

carom_status carom_cuda_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                                const carom_cuda_positions *end_a,
                                                const carom_soup *b,
                                                const carom_cuda_positions *end_b,
                                                carom_soup_impact *impact) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(impact, "impact");
    return impacts_on_device(context, a, end_a, b, end_b, NULL, impact);
}

carom_status carom_cuda_soup_self_near(carom_context *context, const carom_soup *soup, double reach,
                                       carom_cuda_impacts *pairs) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(pairs, "pairs");
    carom_device_impacts_def def = {.task = CAROM_DEVICE_IMPACTS_NEAR,
                                    .form = CAROM_DEVICE_IMPACTS_ALL,
                                    .reach = reach,
                                    .impacts = pairs};
    CAROM_TRY(carom_impacts_near_check(context, reach, 0.0));
    CAROM_TRY(begin_on_device(context, soup, NULL, NULL, NULL, &def));
    return submit_on_device(context, &def);
}

carom_status carom_cuda_soup_self_safe_distances(carom_context *context, const carom_soup *soup,
                                                 double reach, double minimum,
                                                 double *device_distances) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(device_distances, "device_distances");
    carom_device_impacts_def def = {.task = CAROM_DEVICE_IMPACTS_NEAR,
                                    .form = CAROM_DEVICE_IMPACTS_DISTANCES,
                                    .reach = reach,
                                    .minimum = minimum,
                                    .distances = {device_distances, NULL}};
    CAROM_TRY(carom_impacts_near_check(context, reach, minimum));
    CAROM_TRY(begin_on_device(context, soup, NULL, NULL, NULL, &def));
    return submit_on_device(context, &def);
}
