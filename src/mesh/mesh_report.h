/* SPDX-License-Identifier: MIT */
/* mesh_report.h: the parts of carom_mesh_inspect. Each fills its own fields of the report from a
 * checked view. The results have the same bits for any number of threads. */
#ifndef CAROM_SRC_MESH_MESH_REPORT_H
#define CAROM_SRC_MESH_MESH_REPORT_H

#include "base/sum_item.h"
#include "mesh/mesh.h"

/* Fills triangles, degenerate_*, volume, area; needs report->bounds. */
carom_status carom_report_faces(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report);

/* Fills triangles and area alone, of triangles with packed positions in doubles, after which one
 * more may be read; needs report->bounds. */
carom_status carom_report_area(carom_context *context, const carom_mesh_view *view,
                               carom_mesh_report *report);

/* How areas are measured: edges are multiplied by `half`, 1, or 1/2 where differences of
 * coordinates could overflow, then by `shrink`, 2^-power, which brings them below 1; twice the
 * areas are added in fixed point. */
typedef struct carom_report_frame {
    double half, shrink;
    int power, scale;
} carom_report_frame;
carom_report_frame carom_report_frame_of(const carom_bounds *bounds, uint64_t triangles);
/* The area that a sum stands for. */
double carom_report_area_of(const carom_report_frame *frame, carom_sum sum);
/* The term of a triangle whose products cancel (mesh_report_item.h). */
carom_sum carom_report_area_precise(const carom_report_frame *frame, const carom_vec3 corner[3]);

/* Fills edges, *_edges, shells, closed, balanced, oriented. */
carom_status carom_report_edges(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report);

/* Fills duplicate_faces. */
carom_status carom_report_duplicates(carom_context *context, const carom_mesh_view *view,
                                     carom_mesh_report *report);

#endif
