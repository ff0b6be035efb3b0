/* SPDX-License-Identifier: MIT */
/* device.h: the door to the GPU, a library of its own that is loaded when it is there. */
#ifndef CAROM_SRC_BASE_DEVICE_H
#define CAROM_SRC_BASE_DEVICE_H

#include "carom/base.h"

/* What libcarom_cuda exports, with the ABI number of the core it was built with in the name, so
 * that a core and a GPU library of different versions never meet. */
#define CAROM_CUDA_DESCRIBE "carom_cuda_describe_device_1"
typedef bool carom_cuda_describe_fn(char *line, size_t size);

#endif
