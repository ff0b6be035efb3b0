/* SPDX-License-Identifier: MIT */
/* Building and growing the neighbour lists. Every list has the same capacity; when one is full, all
 * are reallocated with a larger one. */
#include "gas/gas_neighbour_lists.h"

#include <string.h>

#include "base/array.h"

#define FIRST_CAPACITY 31 /* two cache lines with the length; the first is mostly enough */
#define MORE_CAPACITY  32 /* two cache lines */
#define READ_BEHIND    8  /* entries that a vector may read behind the last list */

/* Rounding to float, in carom_gas_lists_meet and list_candidates: per axis, two centres, the shift
 * and its sums are seven roundings of 2^-24 of the longest edge; in space that is 7.3e-7 of it. The
 * radii, the limit and the squares are eight more of 2^-24 of the limit: below 1e-5 of a radius for
 * limits up to twenty radii, and covered by the first margin up to half the longest edge. */
#define GAS_NEIGHBOUR_LISTS_WIDTH_MARGIN 1e-6 /* of the longest edge of the box */
#define RADIUS_MARGIN                    1e-5 /* of the largest radius */

/* Fills all lists from the present centres and cells. *full is set when one exceeds its
 * capacity. */
static carom_status gas_neighbour_lists_fill(carom_context *context, carom_gas *gas, bool *full) {
    *full = false;
    for (uint32_t slot = 0; slot < gas->count; ++slot) {
        CAROM_TRY(carom_gas_look(context, slot, 0));
        uint32_t *list = carom_gas_list_of(gas, slot);
        list[0] = 0;
        for (int n = 0; n < 27; ++n) {
            const carom_gas_cell *cell =
                carom_gas_cell_beside(&gas->cells, &gas->records[slot].home, n);
            for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell))
                for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) {
                    uint32_t entry = cell->entry[k], other = carom_gas_candidate_slot(entry);
                    if (entry >= CAROM_GAS_LINK || other == slot) continue;
                    if (!carom_gas_lists_meet(gas, slot, other, carom_gas_candidate_code(entry)))
                        continue;
                    *full = list[0] == gas->lists.capacity;
                    if (*full) return CAROM_OK;
                    list[++list[0]] = entry;
                }
        }
    }
    return CAROM_OK;
}

static void gas_neighbour_lists_refile(carom_gas *gas, uint32_t slot) {
    carom_gas_file(gas, &gas->cells, slot, &gas->records[slot].home, false);
    carom_gas_list_centre(gas, slot);
    carom_gas_file(gas, &gas->cells, slot, &gas->records[slot].home, true);
}

/* Reallocates the lists for `capacity` candidates each and copies their contents. */
static carom_status gas_neighbour_lists_grow(carom_context *context, carom_gas *gas,
                                             uint32_t capacity) {
    carom_gas_lists *lists = &gas->lists;
    uint32_t stride = capacity + 1;
    if (capacity > CAROM_GAS_MOST_LISTED)
        return carom_fail(
            context, CAROM_TOO_LARGE,
            "a sphere has more than %d neighbours within cutoff %g; lower the cutoff, "
            "or use cells",
            CAROM_GAS_MOST_LISTED, lists->cutoff);
    uint32_t *entries =
        carom_allocate(&gas->allocator, gas->count * stride + READ_BEHIND, sizeof(*entries));
    if (entries == NULL)
        return carom_fail_memory(context, gas->count * stride * 4, "lists of neighbours");
    for (uint64_t i = 0; i < gas->count; ++i) {
        carom_status status = carom_gas_look(context, i, 0);
        if (status != CAROM_OK) {
            carom_release(&gas->allocator, entries);
            return status;
        }
        uint32_t kept = lists->entries != NULL ? lists->stride : 0;
        if (kept != 0) memcpy(entries + i * stride, lists->entries + i * kept, kept * 4);
        memset(entries + i * stride + kept, 0, (stride - kept) * 4);
    }
    memset(entries + gas->count * stride, 0, READ_BEHIND * sizeof(*entries));
    carom_release(&gas->allocator, lists->entries);
    lists->entries = entries;
    lists->stride = stride;
    lists->capacity = capacity;
    return CAROM_OK;
}

carom_status carom_gas_lists_create(carom_context *context, carom_gas *gas) {
    carom_gas_lists *lists = &gas->lists;
    lists->centres = carom_allocate(&gas->allocator, gas->count, sizeof(*lists->centres));
    if (lists->centres == NULL)
        return carom_fail_memory(context, gas->count * 16, "centres of lists");
    for (uint32_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        if (!carom_gas_cells_reserve(gas)) return carom_fail_memory(context, gas->count, "cells");
        gas_neighbour_lists_refile(gas, i);
    }
    lists->slack = (float)(2.0 * lists->skin + RADIUS_MARGIN * gas->largest +
                           GAS_NEIGHBOUR_LISTS_WIDTH_MARGIN * gas->longest);
    CAROM_TRY(gas_neighbour_lists_grow(context, gas, FIRST_CAPACITY));
    for (bool full;;) {
        CAROM_TRY(gas_neighbour_lists_fill(context, gas, &full));
        if (!full) return CAROM_OK;
        CAROM_TRY(gas_neighbour_lists_grow(context, gas, lists->capacity + MORE_CAPACITY));
    }
}

carom_status carom_gas_lists_grow(carom_context *context, carom_gas *gas) {
    return gas_neighbour_lists_grow(context, gas, gas->lists.capacity + MORE_CAPACITY);
}

void carom_gas_lists_release(carom_gas *gas) {
    carom_release(&gas->allocator, gas->lists.entries);
    carom_release(&gas->allocator, gas->lists.centres);
    gas->lists.entries = NULL;
    gas->lists.centres = NULL;
}
