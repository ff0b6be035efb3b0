/* SPDX-License-Identifier: MIT */
/* assert.h: internal invariants, checked while running in debug, sanitizer and fuzz builds.
 *
 * CAROM_ASSERT states what the code around it relies on and what only a bug of Carom could break.
 * It never checks arguments of a caller (CAROM_REQUIRE, status.h) or input (carom_fail). Release
 * builds compile the condition but never evaluate it, so it must have no effect.
 *
 * In kernels a broken invariant ends all kernels of the process. CUDA prints the condition with
 * file, line and thread, and the call that waits for the kernel returns a status with a message. */
#ifndef CAROM_SRC_BASE_ASSERT_H
#define CAROM_SRC_BASE_ASSERT_H

#if defined(CAROM_CHECKS) && defined(__CUDA_ARCH__)

/* What assert() of <assert.h> calls on a device, whether or not NDEBUG is defined. */
#define CAROM_ASSERT(condition)                                                                    \
    ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))

#elif defined(CAROM_CHECKS)

#ifdef __cplusplus
extern "C" {
#endif
void carom_invariant_failed(const char *file, int line, const char *condition);
#ifdef __cplusplus
}
#endif

#define CAROM_ASSERT(condition)                                                                    \
    ((condition) ? (void)0 : carom_invariant_failed(__FILE__, __LINE__, #condition))

#else

#define CAROM_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))

#endif

#endif
