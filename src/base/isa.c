/* SPDX-License-Identifier: MIT */
/* Which instruction sets this machine has. AVX2 means the 2013 set (with FMA, BMI2), AVX-512 the
 * 2017 set (F, BW, CD, DQ, VL): the flags that the loops are compiled with.
 *
 * The processor is asked itself (Intel, Software Developer's Manual, volume 2, CPUID), as
 * __builtin_cpu_supports needs a part of the compiler's library that not every linker has. An
 * instruction set counts only if the system saves its registers. (macOS says so of AVX-512 only
 * from its first use on: AVX2 is the best there.) */
#include "base/isa.h"

#include "base/names.h"
#include "base/platform.h"

#ifdef CAROM_HAVE_X86_ISAS
#include <cpuid.h>
#endif

CAROM_ENUM_NAMES(carom_isa, CAROM_ISA_COUNT, "best", "baseline", "avx2", "avx512");

#ifdef CAROM_HAVE_X86_ISAS

/* Bits of leaf 1, register c, and of leaf 7, register b. */
#define LEAF1_FMA     ((uint32_t)1 << 12)
#define LEAF1_OSXSAVE ((uint32_t)1 << 27)
#define LEAF1_AVX     ((uint32_t)1 << 28)
#define LEAF7_AVX2    ((uint32_t)1 << 3 | (uint32_t)1 << 5 | (uint32_t)1 << 8) /* BMI, AVX2, BMI2 */
#define LEAF7_AVX512                                                                               \
    ((uint32_t)1 << 16 | (uint32_t)1 << 17 | (uint32_t)1 << 28 | (uint32_t)1 << 30 |               \
     (uint32_t)1 << 31) /* F, DQ, CD, BW, VL */

/* What the system saves: SSE and AVX; AVX-512's masks and both halves of its registers. */
#define SAVED_AVX    0x06u
#define SAVED_AVX512 0xE6u

static carom_os_once isa_once = CAROM_OS_ONCE_INIT;
static bool isa_has_avx2, isa_has_avx512;

static void isa_test_processor(void) {
    uint32_t a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return;
    const uint32_t needed = LEAF1_FMA | LEAF1_OSXSAVE | LEAF1_AVX;
    if ((c & needed) != needed || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    isa_has_avx2 = (saved & SAVED_AVX) == SAVED_AVX && (b & LEAF7_AVX2) == LEAF7_AVX2;
    isa_has_avx512 = isa_has_avx2 && (saved & SAVED_AVX512) == SAVED_AVX512 &&
                     (b & LEAF7_AVX512) == LEAF7_AVX512;
}

#endif

bool carom_isa_available(carom_isa isa) {
    if (isa == CAROM_ISA_BEST || isa == CAROM_ISA_BASELINE) return true;
#ifdef CAROM_HAVE_X86_ISAS
    carom_os_run_once(&isa_once, isa_test_processor);
    if (isa == CAROM_ISA_AVX2) return isa_has_avx2;
    if (isa == CAROM_ISA_AVX512) return isa_has_avx512;
#endif
    return false;
}

carom_isa carom_isa_best(void) {
    if (carom_isa_available(CAROM_ISA_AVX512)) return CAROM_ISA_AVX512;
    if (carom_isa_available(CAROM_ISA_AVX2)) return CAROM_ISA_AVX2;
    return CAROM_ISA_BASELINE;
}
