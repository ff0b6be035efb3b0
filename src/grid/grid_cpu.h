/* SPDX-License-Identifier: MIT */
/* grid_cpu.h: the SIMD loops of the grid, one version per instruction set. */
#ifndef CAROM_SRC_GRID_GRID_CPU_H
#define CAROM_SRC_GRID_GRID_CPU_H

#include "base/isa.h"
#include "grid/grid.h"

/* Counts the entries of ranks [first, end) in counts[bucket]. `shared`: other threads write to
 * `counts` at the same time. */
CAROM_CPU_DECLARE(void, carom_grid_count, const carom_grid_view *view, uint32_t first, uint32_t end,
                  bool shared, uint32_t *counts);

/* Enters ranks [first, end) in descending order: ends[bucket] decreases to the bucket's start. */
CAROM_CPU_DECLARE(void, carom_grid_fill, const carom_grid_view *view, uint32_t first, uint32_t end,
                  bool shared, uint32_t *ends, uint32_t *ranks, uint32_t *tags);

/* Finds each pair (a, b) of ranks with overlapping boxes and a in [first, end) once: a is compared
 * with higher ranks on its own level and with all ranks on the levels above. Does not flush at the
 * end. Returns false if a flush did. */
CAROM_CPU_DECLARE(bool, carom_grid_self, const carom_grid_view *view, uint32_t first, uint32_t end,
                  carom_grid_found *found);

/* Finds each rank b on `level` or above whose box overlaps `box` once, as (a, b) with the given a.
 * On `level` and above the box must span at most two cells per axis. */
CAROM_CPU_DECLARE(bool, carom_grid_find, const carom_grid_view *view, const carom_box *box,
                  uint32_t level, uint32_t a, carom_grid_found *found);

#endif
