/* SPDX-License-Identifier: MIT */
/* Prefix sum in two passes: the total of each part, a short serial scan over the parts, then each
 * part filled from its start. */
#include "base/scan.h"

#include "base/context.h"
#include "base/item.h"
#include "base/scan_cpu.h"

#define SCAN_LEAST_PART_ITEMS ((uint64_t)1 << 16)
#define SCAN_MOST_PART_ITEMS                                                                       \
    ((uint64_t)1 << 24) /* some ten milliseconds, after which cancellation is checked */

typedef struct scan_job {
    carom_context *context;
    const uint32_t *counts;
    uint64_t part;
    uint64_t *starts; /* total of each part, then its start */
    uint32_t *offsets32;
    uint64_t *offsets64;
} scan_job;

static carom_status add_part(void *argument, carom_range range) {
    scan_job *s = argument;
    CAROM_ASSERT(range.begin % s->part == 0 && range.end - range.begin <= s->part);
    s->starts[range.begin / s->part] = CAROM_CPU_CALL(s->context, carom_scan_total)(
        s->counts + range.begin, range.end - range.begin);
    return CAROM_OK;
}

static carom_status fill_part(void *argument, carom_range range) {
    scan_job *s = argument;
    uint64_t start = s->starts[range.begin / s->part], count = range.end - range.begin;
    CAROM_ASSERT(range.begin % s->part == 0 && count <= s->part);
    const uint32_t *counts = s->counts + range.begin;
    if (s->offsets32 != NULL) CAROM_CPU_CALL(s->context, carom_scan_fill_u32)
    (counts, count, (uint32_t)start, s->offsets32 + range.begin);
    else CAROM_CPU_CALL(s->context, carom_scan_fill_u64)(counts, count, start,
                                                         s->offsets64 + range.begin);
    return CAROM_OK;
}

static carom_status scan_parts(scan_job *s, uint64_t count) {
    uint64_t parts = count == 0 ? 0 : (count - 1) / s->part + 1, sum = 0;
    CAROM_TRY(carom_parallel_for(s->context, count, s->part, add_part, s));
    for (uint64_t i = 0; i < parts; ++i) {
        uint64_t total = s->starts[i];
        s->starts[i] = sum;
        sum += total;
    }
    if (s->offsets32 != NULL && sum > UINT32_MAX)
        return carom_fail(s->context, CAROM_TOO_LARGE,
                          "%llu items cannot be numbered with 32 bits; split the input",
                          (unsigned long long)sum);
    CAROM_TRY(carom_parallel_for(s->context, count, s->part, fill_part, s));
    CAROM_ASSERT((s->offsets32 != NULL) != (s->offsets64 != NULL));
    if (s->offsets32 != NULL)
        s->offsets32[count] = (uint32_t)sum;
    else
        s->offsets64[count] = sum;
    return CAROM_OK;
}

static carom_status scan_in_parts(scan_job *s, uint64_t count) {
    s->part = CAROM_MAX(count / s->context->threads + 1, SCAN_LEAST_PART_ITEMS);
    s->part = CAROM_MIN(s->part, SCAN_MOST_PART_ITEMS);
    CAROM_ASSERT(s->part >= 1 && count / s->part < count + 1);
    carom_arena *scratch = carom_scratch(s->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    s->starts = CAROM_ARENA_TAKE(scratch, uint64_t, count / s->part + 1);
    carom_status status = s->starts != NULL
                              ? scan_parts(s, count)
                              : carom_fail_memory(s->context, count / s->part * 8, "a scan");
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_scan_u32(carom_context *context, const uint32_t *counts, uint64_t count,
                            uint32_t *offsets) {
    scan_job s = {.context = context, .counts = counts, .offsets32 = offsets};
    return scan_in_parts(&s, count);
}

carom_status carom_scan_u64(carom_context *context, const uint32_t *counts, uint64_t count,
                            uint64_t *offsets) {
    scan_job s = {.context = context, .counts = counts, .offsets64 = offsets};
    return scan_in_parts(&s, count);
}
