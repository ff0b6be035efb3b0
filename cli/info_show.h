/* SPDX-License-Identifier: MIT */
/* info_show.h: a mesh with what is wrong with it marked. */
#ifndef CAROM_CLI_INFO_SHOW_H
#define CAROM_CLI_INFO_SHOW_H

#include "cli/defects.h"

/* Adds the mesh, its open, non-manifold and inconsistent edges, its degenerate faces as edges, what
 * else was found, and lists of these. `report` is that of the view. */
carom_status info_show(display *d, const carom_mesh_view *view, const carom_mesh_report *report,
                       const defects *found, const char *path);

#endif
