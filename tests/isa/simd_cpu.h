/* SPDX-License-Identifier: MIT */
/* simd_cpu.h: the vector words of simd.h against plain expressions, one version per instruction
 * set, compiled as the library's own loops are. */
#ifndef CAROM_TESTS_SIMD_CPU_H
#define CAROM_TESTS_SIMD_CPU_H

#include "base/isa.h"

/* Returns NULL, or the word that gave a wrong lane; *lanes is the width that ran. */
CAROM_CPU_DECLARE(const char *, carom_test_simd, uint64_t seed, int *lanes);

#endif
