/* SPDX-License-Identifier: MIT */
/* Broad phases of contexts of backend cuda: the calls of broad.h passed on to the GPU library, and
 * those of cuda.h.
 *
 * Ids, filters and the pairs of the last frame are kept on the host, by the same code as for the
 * CPU; what is prepared from the boxes is on the device alone. Boxes that came from device memory
 * are read back only where a change on the host needs them. */
#include "base/progress.h"
#include "broad/broad.h"

static const carom_cuda_broad *broad_device_table(void) {
    return carom_device_table(CAROM_CUDA_BROAD);
}

carom_status carom_broad_device_check_new(carom_context *context, const carom_broad_def *def) {
    CAROM_TRY(carom_context_require_table(context, broad_device_table(), "broad phase"));
    if (def->method != CAROM_BROAD_METHOD_GRID) return CAROM_OK;
    return carom_grid_require_device_hash(context, def->grid.hash);
}

carom_status carom_broad_check_backend(carom_context *context, const carom_broad *broad) {
    return carom_context_require_made(context, carom_backend_of(broad->device), "the broad phase");
}

/* ---- Preparing ------------------------------------------------------------------------------- */

carom_status carom_broad_device_prepare(carom_context *context, carom_broad *broad) {
    carom_device_broad_def def = {.boxes = broad->boxes,
                                  .filters = broad->filters,
                                  .count = broad->id_count,
                                  .method = broad->method,
                                  .lift = carom_grid_lift_of(broad->grid_def.cell_scale),
                                  .sweep_cell = broad->sweep_cell};
    carom_grid_choose_table(&broad->grid_def, broad->id_count, &def.table);
    if (broad->device == NULL)
        CAROM_TRY(carom_device_pass(context,
                                    broad_device_table()->create(context->device, &broad->device)));
    CAROM_TRY(carom_device_pass(context,
                                broad_device_table()->set(context->device, broad->device, &def)));
    ++broad->builds;
    return CAROM_OK;
}

carom_status carom_broad_device_set_filters(carom_context *context, carom_broad *broad) {
    if (broad->device == NULL || carom_broad_is_pending(broad)) return CAROM_OK;
    return carom_device_pass(
        context, broad_device_table()->set_filters(context->device, broad->device, broad->filters));
}

carom_status carom_broad_device_fetch(carom_context *context, carom_broad *broad) {
    if (!broad->stale) return CAROM_OK;
    CAROM_TRY(carom_broad_check_backend(context, broad));
    CAROM_TRY(carom_device_pass(
        context, broad_device_table()->get_boxes(context->device, broad->device, broad->boxes)));
    broad->stale = false;
    return CAROM_OK;
}

void carom_broad_device_release(carom_broad *broad) {
    if (broad->device != NULL) broad_device_table()->destroy(broad->device);
    broad->device = NULL;
}

void carom_broad_device_info(const carom_broad *broad, carom_broad_info *info) {
    carom_device_broad_info device;
    broad_device_table()->get_info(broad->device, &device);
    info->method = device.method;
    info->bytes += device.bytes;
    info->nodes = device.nodes;
    info->cells = device.cells;
    info->entries = device.entries;
}

/* ---- Queries with results on the host -------------------------------------------------------- */

static carom_status broad_device_search(carom_context *context, const carom_broad *broad) {
    CAROM_TRY(carom_cuda_finish(context));
    CAROM_TRY(carom_device_pass(
        context, broad_device_table()->search(context->device, broad->device,
                                              CAROM_CUDA_ORDER_SORTED, &context->device_pairs)));
    CAROM_TRY(carom_cuda_finish(context));
    return carom_device_pass(context,
                             broad_device_table()->get_work(context->device, &context->work));
}

carom_status carom_broad_device_search(carom_context *context, const carom_broad *broad,
                                       uint64_t **pairs, uint64_t *count) {
    const carom_cuda_pairs *found = &context->device_pairs;
    carom_progress_begin(context, "finding pairs", 0);
    CAROM_TRY(carom_progress_finish(context, broad_device_search(context, broad)));
    *count = found->count;
    uint64_t *words = *pairs = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint64_t, *count);
    if (words == NULL) return carom_fail_memory(context, *count * sizeof(*words), "pairs");
    CAROM_TRY(carom_cuda_read(context, words, found->data, *count * sizeof(*words)));
    for (uint64_t i = 0; i < *count; ++i) { /* from a carom_pair to the host's form of pairs */
        carom_pair pair;
        memcpy(&pair, &words[i], sizeof(pair));
        words[i] = (uint64_t)pair.a << 32 | pair.b;
    }
    return CAROM_OK;
}

/* The boxes of the device are to change: those of the host are old from here on. */
static bool broad_device_changed(void *structure) {
    carom_broad *broad = structure;
    if (carom_broad_is_pending(broad)) return false;
    broad->stale = broad->all_changed = true;
    broad->changed.count = 0;
    return true;
}

carom_status carom_broad_device_update(carom_context *context, carom_broad *broad,
                                       const carom_bounds *boxes) {
    if (carom_broad_is_pending(broad)) /* ids that the device does not know yet */
        CAROM_TRY(carom_broad_commit(context, broad));
    return carom_device_pass(
        context, broad_device_table()->update(context->device, broad->device, boxes,
                                              (carom_device_owner){broad_device_changed, broad}));
}

/* ---- Input and results on the device --------------------------------------------------------- */

carom_status carom_cuda_broad_update(carom_context *context, carom_broad *broad,
                                     const carom_bounds *borrowed_boxes, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(borrowed_boxes, count, "boxes");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "an update in device memory", &device));
    CAROM_TRY(carom_broad_check_backend(context, broad));
    if (count != broad->id_count || broad->live != broad->id_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the broad phase has %u boxes, %u of them removed, the update %llu; give "
                          "one for each, and remove none",
                          broad->id_count, broad->id_count - broad->live,
                          (unsigned long long)count);
    return carom_broad_device_update(context, broad, borrowed_boxes);
}

carom_status carom_cuda_broad_pairs(carom_context *context, const carom_broad *broad,
                                    carom_cuda_order order, carom_cuda_pairs *pairs) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_KNOWN(order, CAROM_CUDA_ORDER_COUNT, "order");
    CAROM_REQUIRE_OUTPUT(pairs, "pairs");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(carom_broad_check_ready(context, broad));
    if (broad->accept != NULL)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "accept cannot be called from cuda; use filters, or carom_broad_pairs");
    return carom_device_pass(context,
                             broad_device_table()->search(device, broad->device, order, pairs));
}
