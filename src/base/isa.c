/* SPDX-License-Identifier: MIT */
/* Which instruction sets this machine has. AVX2 means the 2013 set (with FMA, BMI2), AVX-512 the
 * 2017 set (F, BW, CD, DQ, VL): the flags that the loops are compiled with. */
#include "base/isa.h"

#include "base/names.h"

CAROM_ENUM_NAMES(carom_isa, CAROM_ISA_COUNT, "best", "baseline", "avx2", "avx512");

bool carom_isa_available(carom_isa isa) {
    if (isa == CAROM_ISA_BEST || isa == CAROM_ISA_BASELINE) return true;
#ifdef CAROM_HAVE_X86_ISAS
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (isa == CAROM_ISA_AVX2) return avx2;
    if (isa == CAROM_ISA_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return false;
}

carom_isa carom_isa_best(void) {
    if (carom_isa_available(CAROM_ISA_AVX512)) return CAROM_ISA_AVX512;
    if (carom_isa_available(CAROM_ISA_AVX2)) return CAROM_ISA_AVX2;
    return CAROM_ISA_BASELINE;
}
