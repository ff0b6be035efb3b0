/* SPDX-License-Identifier: MIT */
/* The address of wasi-libc's errno (include/errno.h). Compiled without atomics and bulk memory, as
 * wasi-libc was. */
#include <errno.h>

int *carom_js_errno(void);

int *carom_js_errno(void) {
    return &errno;
}
