/* SPDX-License-Identifier: MIT */
/* grid_cpu.h: the loops of the grid, one version per instruction set. */
#ifndef CAROM_SRC_GRID_GRID_CPU_H
#define CAROM_SRC_GRID_GRID_CPU_H

#include "base/isa.h"
#include "grid/grid.h"

/* Counts the entries of ranks [first, end) in counts[bucket]. `shared`: other threads do so too. */
CAROM_CPU_DECLARE(void, carom_grid_count, const carom_grid_view *view, uint32_t first, uint32_t end,
                  bool shared, uint32_t *counts);

/* Enters ranks [first, end), last first: ends[bucket] moves down to the bucket's start. */
CAROM_CPU_DECLARE(void, carom_grid_fill, const carom_grid_view *view, uint32_t first, uint32_t end,
                  bool shared, uint32_t *ends, uint32_t *ranks, uint32_t *tags);

/* Pairs (a, b) of ranks with overlapping boxes, a in [first, end), each once: a looks on its own
 * level for higher ranks and on all levels above. Does not flush at the end. Returns false when a
 * flush did. */
CAROM_CPU_DECLARE(bool, carom_grid_self, const carom_grid_view *view, uint32_t first, uint32_t end,
                  carom_grid_found *found);

/* Ranks b on levels from `level` up whose boxes overlap `box`, each once, as (a, b) with the given
 * a. On `level` and above the box must span at most two cells per axis. */
CAROM_CPU_DECLARE(bool, carom_grid_find, const carom_grid_view *view, const carom_box *box,
                  uint32_t level, uint32_t a, carom_grid_found *found);

#endif
