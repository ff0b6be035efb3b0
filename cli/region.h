/* SPDX-License-Identifier: MIT */
/* region.h: the surface of what two closed meshes both enclose, for displays. */
#ifndef CAROM_CLI_REGION_H
#define CAROM_CLI_REGION_H

#include "cli/display.h"

/* Adds the parts of each mesh's faces that are inside the other, one region per part with its area,
 * and the curve in which the surfaces cross. The meshes are added already, and balanced
 * (carom_mesh_inspect). In doubles: the surface is that of the overlap but for rounding. */
carom_status region_add(display *d, const display_mesh meshes[2]);

#endif
