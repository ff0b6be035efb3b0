/* SPDX-License-Identifier: MIT */
/* Making the lists of neighbours, and making them larger. */
#include "gas/lists.h"

#define FIRST_CAPACITY 24
#define MORE_CAPACITY  16

static uint32_t stride_of(uint32_t capacity) {
    return capacity + (uint32_t)(sizeof(carom_gas_list) / sizeof(uint32_t));
}

/* All lists anew, for centres and cells in place; false when one is full. */
static bool fill(carom_gas *gas) {
    for (uint64_t i = 0; i < gas->count; ++i) carom_gas_list_of(gas, (uint32_t)i)->count = 0;
    for (uint32_t i = 0; i < gas->count; ++i) {
        carom_gas_list *list = carom_gas_list_of(gas, i);
        for (int n = 0; n < 27; ++n) {
            int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            uint32_t to[3], digit[3];
            bool inside = true;
            for (int axis = 0; axis < 3; ++axis)
                inside &= carom_gas_step_cell(gas, axis, gas->homes[i].at[axis], offset[axis],
                                              &to[axis], &digit[axis]);
            if (!inside) continue;
            uint32_t code = digit[0] + 3 * digit[1] + 9 * digit[2];
            const carom_gas_cell *cell =
                &gas->cells.cells[carom_gas_cell_index(&gas->cells, to[0], to[1], to[2])];
            for (;;) {
                uint32_t last = cell->slot[CAROM_GAS_CELL_SLOTS - 1];
                for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k) {
                    uint32_t other = cell->slot[k];
                    if (other >= CAROM_GAS_LINK || other == i) continue;
                    if (!carom_gas_lists_meet(gas, i, other, code)) continue;
                    if (list->count == gas->lists.capacity) return false;
                    carom_gas_list_words(list)[list->count++] = carom_gas_near(other, code);
                }
                if (!carom_gas_is_link(last)) break;
                cell = carom_gas_linked(&gas->cells, last);
            }
        }
    }
    return true;
}

static uint32_t *allocate_words(carom_context *context, carom_gas *gas, uint32_t capacity) {
    uint64_t bytes = gas->count * stride_of(capacity) * sizeof(uint32_t);
    uint32_t *words = carom_allocate(&gas->allocator, bytes, 1);
    if (words == NULL) (void)carom_fail_memory(context, bytes, "lists of neighbours");
    return words;
}

carom_status carom_gas_lists_create(carom_context *context, carom_gas *gas) {
    carom_gas_lists *lists = &gas->lists;
    lists->capacity = FIRST_CAPACITY;
    for (;; lists->capacity += MORE_CAPACITY) {
        lists->stride = stride_of(lists->capacity);
        lists->words = allocate_words(context, gas, lists->capacity);
        if (lists->words == NULL) return CAROM_NO_MEMORY;
        for (uint64_t i = 0; i < gas->count; ++i) {
            carom_gas_home *home = &gas->homes[i];
            carom_gas_cells *cells = &gas->cells;
            carom_gas_cell_remove(
                cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                (uint32_t)i);
            carom_gas_list_centre(gas, (uint32_t)i);
            carom_gas_cell_add(cells,
                               carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                               (uint32_t)i);
        }
        if (fill(gas)) return CAROM_OK;
        carom_gas_lists_release(gas);
    }
}

carom_status carom_gas_lists_grow(carom_context *context, carom_gas *gas) {
    carom_gas_lists *lists = &gas->lists, old = *lists;
    uint32_t *words = allocate_words(context, gas, old.capacity + MORE_CAPACITY);
    if (words == NULL) return CAROM_NO_MEMORY;
    lists->words = words;
    lists->capacity = old.capacity + MORE_CAPACITY;
    lists->stride = stride_of(lists->capacity);
    for (uint64_t i = 0; i < gas->count; ++i)
        memcpy(words + i * lists->stride, old.words + i * old.stride,
               old.stride * sizeof(uint32_t));
    carom_release(&gas->allocator, old.words);
    return CAROM_OK;
}

void carom_gas_lists_release(carom_gas *gas) {
    carom_release(&gas->allocator, gas->lists.words);
    gas->lists.words = NULL;
}
