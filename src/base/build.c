/* SPDX-License-Identifier: MIT */
/* Version, commit and compiler of the library. */
#include "carom/base.h"

#include "carom_commit.h" /* written by the build: CAROM_COMMIT */

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#ifdef CAROM_HAVE_X86_ISAS
#define INSTRUCTION_SETS "baseline avx2 avx512"
#else
#define INSTRUCTION_SETS "baseline"
#endif

const carom_build *carom_build_get(void) {
    static const carom_build build = {
        TEXT(CAROM_VERSION_MAJOR) "." TEXT(CAROM_VERSION_MINOR) "." TEXT(CAROM_VERSION_PATCH),
        CAROM_COMMIT, COMPILER, INSTRUCTION_SETS};
    return &build;
}
