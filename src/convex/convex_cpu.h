/* SPDX-License-Identifier: MIT */
/* convex_cpu.h: queries compiled per instruction set. */
#ifndef CAROM_SRC_CONVEX_CPU_H
#define CAROM_SRC_CONVEX_CPU_H

#include "base/context.h"
#include "base/isa.h"
#include "convex/convex_query_item.h"

/* Asks one question. The arena gives workspace to large hulls; CAROM_NO_MEMORY when it cannot. */
CAROM_CPU_DECLARE(carom_status, carom_convex_ask, const carom_convex_question_item *q,
                  carom_convex_question question, carom_convex_learned *cache, carom_arena *arena,
                  carom_convex_result *result);

/* Finds the seeds of a hull: the farthest vertex for the middle of each cell of its cube map. */
CAROM_CPU_DECLARE(void, carom_hull_find_seeds, const carom_hull_view *hull, uint32_t *seeds);

#endif
