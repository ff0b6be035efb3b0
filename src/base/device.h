/* SPDX-License-Identifier: MIT */
/* device.h: access to the GPU, through a separate library that is loaded when it is available. */
#ifndef CAROM_SRC_BASE_DEVICE_H
#define CAROM_SRC_BASE_DEVICE_H

#include "carom/base.h"

/* The symbol that libcarom_cuda exports. Its name contains the ABI number of the core it was built
 * with, so that a core and a GPU library of different versions are never combined. */
#define CAROM_CUDA_DESCRIBE "carom_cuda_describe_device_1"
typedef bool carom_cuda_describe_fn(char *line, size_t size);

#endif
