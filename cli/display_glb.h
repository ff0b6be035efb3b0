/* SPDX-License-Identifier: MIT */
/* display_glb.h: a display as binary glTF. */
#ifndef CAROM_CLI_DISPLAY_GLB_H
#define CAROM_CLI_DISPLAY_GLB_H

#include "cli/display.h"

/* `for_page`: the copy inside a page, with quantised positions. CAROM_NO_MEMORY, or CAROM_TOO_LARGE
 * beyond the 4 GiB of the format. */
carom_status display_write_glb(const display *d, bool for_page, FILE *out);

#endif
