/* SPDX-License-Identifier: MIT */
/* PLY, text and binary, plain or gzipped. */
#include "fuzz/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_mesh(bytes, size, CAROM_MESH_FORMAT_PLY);
    return 0;
}
