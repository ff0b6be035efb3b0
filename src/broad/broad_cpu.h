/* SPDX-License-Identifier: MIT */
/* broad_cpu.h: the loops of the broad phase over boxes, one version per instruction set. */
#ifndef CAROM_SRC_BROAD_BROAD_CPU_H
#define CAROM_SRC_BROAD_BROAD_CPU_H

#include "base/isa.h"
#include "broad/broad_item.h"

/* What a range of boxes is like. */
typedef struct carom_broad_range {
    carom_bounds bounds; /* of the boxes that are not empty */
    bool finite;         /* all bounds are */
} carom_broad_range;

CAROM_CPU_DECLARE(carom_broad_range, carom_broad_measure, const carom_bounds *boxes,
                  uint64_t count);

/* Rounds boxes[ids[i]], or boxes[first + i] where ids is NULL, to float32. Returns whether all of
 * them are exact, in a plain frame. */
CAROM_CPU_DECLARE(bool, carom_broad_round_all, const carom_broad_space *space,
                  const carom_bounds *boxes, const uint32_t *ids, uint32_t first, uint32_t count,
                  carom_box *rounded);

#endif
