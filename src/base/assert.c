/* SPDX-License-Identifier: MIT */
/* Where a broken invariant ends the program. A bug of Carom has no status: what is in memory is no
 * longer what the code was proved for, so nothing may go on. */
#include "base/assert.h"

#ifdef CAROM_CHECKS
#include <stdio.h>
#include <stdlib.h>

void carom_invariant_failed(const char *file, int line, const char *condition) {
    fprintf(stderr, "carom: %s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}
#else
typedef int carom_no_checks; /* C does not allow an empty file */
#endif
