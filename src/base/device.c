/* SPDX-License-Identifier: MIT */
/* Loads libcarom_cuda from beside the library and describes the result. The core never links CUDA:
 * where the GPU library, the driver or the device is missing, one message says which. */
#define _GNU_SOURCE
#include "base/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* CAROM_CUDA_LIBRARY, the file to load, comes from the build. */

bool carom_cuda_describe(char *line, size_t size) {
    char ignored[1];
    CAROM_REQUIRE_OR(line != NULL || size == 0, "the place for the line is NULL", false);
    if (line == NULL || size == 0) {
        line = ignored;
        size = sizeof(ignored);
    }
    void *library = dlopen(CAROM_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) { /* the library or one of its dependencies is missing: the loader says
                              which */
        const char *why = dlerror();
        snprintf(line, size, "none: %s",
                 why != NULL ? why : CAROM_CUDA_LIBRARY " cannot be loaded");
        return false;
    }
    carom_cuda_describe_fn *describe;
    void *symbol = dlsym(library, CAROM_CUDA_DESCRIBE);
    memcpy(&describe, &symbol, sizeof(symbol)); /* ISO C has no cast from data to function */
    bool there = false;
    if (symbol == NULL)
        snprintf(line, size, "none: %s is of another version", CAROM_CUDA_LIBRARY);
    else
        there = describe(line, size);
    dlclose(library);
    return there;
}
