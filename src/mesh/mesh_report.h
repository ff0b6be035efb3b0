/* SPDX-License-Identifier: MIT */
/* mesh_report.h: the parts of carom_mesh_inspect. Each fills its own fields of the report from a
 * checked view. The results have the same bits for any number of threads. */
#ifndef CAROM_SRC_MESH_MESH_REPORT_H
#define CAROM_SRC_MESH_MESH_REPORT_H

#include "mesh/mesh.h"

/* Fills triangles, degenerate_*, volume, area; needs report->bounds. */
carom_status carom_report_faces(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report);

/* Fills triangles and area alone, of triangles with packed positions in doubles, after which one
 * more may be read; needs report->bounds. */
carom_status carom_report_area(carom_context *context, const carom_mesh_view *view,
                               carom_mesh_report *report);

/* Fills edges, *_edges, shells, closed, balanced, oriented. */
carom_status carom_report_edges(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report);

/* Fills duplicate_faces. */
carom_status carom_report_duplicates(carom_context *context, const carom_mesh_view *view,
                                     carom_mesh_report *report);

#endif
