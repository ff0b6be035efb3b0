/* SPDX-License-Identifier: MIT */
/* isa.h: loops compiled once per instruction set, chosen at run time.
 *
 * A file X_cpu.c is compiled with CAROM_ISA_SUFFIX set to baseline, avx2 and avx512 in turn. It
 * names its entry points CAROM_CPU(carom_x_step); X_cpu.h declares them all with CAROM_CPU_DECLARE,
 * and the algorithm in X.c calls CAROM_CPU_CALL(context, carom_x_step)(...). The versions may
 * differ in speed only: tests run each that the machine has and compare bytes. */
#ifndef CAROM_SRC_BASE_ISA_H
#define CAROM_SRC_BASE_ISA_H

#include "carom/base.h"

/* Never CAROM_ISA_BEST. */
carom_isa carom_isa_best(void);

#ifdef CAROM_ISA_SUFFIX
#define CAROM_CPU_PASTE2(name, suffix) name##_##suffix
#define CAROM_CPU_PASTE(name, suffix)  CAROM_CPU_PASTE2(name, suffix)
#define CAROM_CPU(name)                CAROM_CPU_PASTE(name, CAROM_ISA_SUFFIX)
#endif

#ifdef CAROM_HAVE_X86_ISAS
#define CAROM_CPU_DECLARE(result, name, ...)                                                       \
    result name##_baseline(__VA_ARGS__);                                                           \
    result name##_avx2(__VA_ARGS__);                                                               \
    result name##_avx512(__VA_ARGS__)
#define CAROM_CPU_CALL(context, name)                                                              \
    ((context)->isa == CAROM_ISA_AVX512 ? name##_avx512                                            \
     : (context)->isa == CAROM_ISA_AVX2 ? name##_avx2                                              \
                                        : name##_baseline)
#else
#define CAROM_CPU_DECLARE(result, name, ...) result name##_baseline(__VA_ARGS__)
#define CAROM_CPU_CALL(context, name)        ((void)(context), name##_baseline)
#endif

#endif
