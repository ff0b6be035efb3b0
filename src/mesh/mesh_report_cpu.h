/* SPDX-License-Identifier: MIT */
/* mesh_report_cpu.h: areas of triangles, several at a time, one version per instruction set. */
#ifndef CAROM_SRC_MESH_MESH_REPORT_CPU_H
#define CAROM_SRC_MESH_MESH_REPORT_CPU_H

#include "base/isa.h"
#include "base/sum_item.h"
#include "mesh/mesh_report_item.h"

/* Triangles with positions in doubles, three per vertex and one more to read, and the unit of their
 * areas: edges are multiplied by `half`, then by `shrink`. */
typedef struct carom_report_triangles {
    const double *positions;
    const uint32_t *corners;
    double half, shrink;
    int scale; /* of the sum */
} carom_report_triangles;

/* Adds twice the areas of triangles [first, last) to a sum, but for those whose products cancel;
 * writes these to `open`, and returns how many there are. */
CAROM_CPU_DECLARE(uint32_t, carom_report_areas, const carom_report_triangles *of, uint32_t first,
                  uint32_t last, carom_sum *sum, uint32_t *open);

#endif
