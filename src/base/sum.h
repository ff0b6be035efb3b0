/* SPDX-License-Identifier: MIT */
/* sum.h: sums of whole arrays, independent of the order (see sum_item.h). */
#ifndef CAROM_SRC_BASE_SUM_H
#define CAROM_SRC_BASE_SUM_H

#include "base/sum_item.h"
#include "carom/base.h"

/* Adds all values to *sum on all threads of the context. */
carom_status carom_sum_array(carom_context *context, const double *values, uint64_t count,
                             int scale, carom_sum *sum);

#endif
