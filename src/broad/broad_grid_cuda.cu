/* SPDX-License-Identifier: MIT */
/* Boxes in the hash grid of grid_cuda.h, where a box has an entry in each of its cells. The grid is
 * made for each search. */
#include "broad/broad_cuda.h"
#include "grid/grid_cuda.h"

carom_status carom_broad_grid_reserve(carom_device *device, const carom_device_broad *broad) {
    return carom_grid_reserve(device, broad->def.count, broad->def.table);
}

void carom_broad_grid_find(carom_device *device, carom_device_op *op,
                           const carom_device_broad *broad,
                           const carom_device_list<uint2> &candidates) {
    carom_grid_find(device, broad_boxes_of(broad, op), broad->def.count, broad->def.table,
                    broad->def.lift, &op->counters->n[N_ENTRIES], candidates);
}

bool carom_broad_grid_grows(carom_device *device, uint64_t entries) {
    return carom_grid_grows(device, entries);
}
