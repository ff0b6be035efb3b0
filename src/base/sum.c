/* SPDX-License-Identifier: MIT */
/* Each worker sums the ranges it gets. The sums do not depend on the order (sum_item.h), so the
 * bits are the same for any number of threads. */
#include "base/sum.h"

#include "base/context.h"

#define SUM_LEAST_PART_TERMS ((uint64_t)1 << 14)

/* One cache line per worker, to avoid false sharing. */
typedef struct sum_share {
    carom_sum sum;
    char fill[CAROM_ALIGNMENT - sizeof(carom_sum)];
} sum_share;

typedef struct summation {
    const double *values;
    int scale;
    sum_share *shares;
} summation;

static carom_status add_range(void *argument, carom_range range) {
    summation *s = argument;
    carom_sum sum = s->shares[range.worker].sum;
    CAROM_ASSERT(range.begin <= range.end);
    for (uint64_t i = range.begin; i < range.end; ++i)
        sum = carom_sum_add(sum, carom_sum_term(s->values[i], s->scale));
    s->shares[range.worker].sum = sum;
    return CAROM_OK;
}

carom_status carom_sum_array(carom_context *context, const double *values, uint64_t count,
                             int scale, carom_sum *sum) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    summation s = {values, scale, CAROM_ARENA_TAKE(scratch, sum_share, context->threads)};
    if (s.shares == NULL)
        return carom_fail_memory(context, context->threads * sizeof(sum_share), "a sum");
    memset(s.shares, 0, context->threads * sizeof(*s.shares));
    carom_status status = carom_parallel_for(
        context, count, carom_grain(context, count, SUM_LEAST_PART_TERMS), add_range, &s);
    for (uint32_t i = 0; i < context->threads && status == CAROM_OK; ++i)
        *sum = carom_sum_add(*sum, s.shares[i].sum);
    carom_arena_rewind(scratch, mark);
    return status;
}
