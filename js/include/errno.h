/* SPDX-License-Identifier: MIT */
/* Instead of wasi-libc's: there errno is a variable that clang takes for one per thread wherever
 * bulk memory is allowed, while wasi-libc was compiled with one for all. libc_errno.c, which is
 * compiled as wasi-libc was, has its address. */
#ifndef CAROM_JS_ERRNO_H
#define CAROM_JS_ERRNO_H

#include <__errno_values.h>

int *carom_js_errno(void);
#define errno (*carom_js_errno())

#endif
