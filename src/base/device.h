/* SPDX-License-Identifier: MIT */
/* device.h: the GPU, through a separate library that is loaded once, when it is there.
 *
 * libcarom_cuda exports one table of functions per module. Their names carry the ABI number of the
 * core, so that a core and a GPU library of different versions are never combined. The core sees
 * opaque pointers only; messages come back through `message`. */
#ifndef CAROM_SRC_BASE_DEVICE_H
#define CAROM_SRC_BASE_DEVICE_H

#include "carom/base.h"
#include "carom/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The side of a context on the GPU: a stream, memory for reuse, and work that is under way. */
typedef struct carom_device carom_device;

/* A structure of the host, of which the device has what an operation changes. `changed` is called
 * whenever the operation is queued, by a call or as part of a frame. Where it returns false, the
 * host has changes of its own that would be lost, and nothing is queued. */
typedef struct carom_device_owner {
    bool (*changed)(void *structure);
    void *structure;
} carom_device_owner;

typedef struct carom_cuda_base {
    bool (*describe)(char *line, size_t size);
    /* On failure *device is NULL and `message` says why. */
    carom_status (*create)(uint32_t number, void *stream, char *message, size_t size,
                           carom_device **device);
    void (*destroy)(carom_device *device);
    const char *(*message)(const carom_device *device);
    uint64_t (*bytes)(const carom_device *device);
    carom_status (*free_bytes)(carom_device *device, uint64_t *bytes); /* of the whole device */
    carom_status (*trim)(carom_device *device);
    carom_status (*finish)(carom_device *device);
    void (*abandon)(carom_device *device);

    carom_status (*allocate)(carom_device *device, uint64_t bytes, void **memory);
    carom_status (*release)(carom_device *device, void *memory);
    carom_status (*write)(carom_device *device, void *to, const void *from, uint64_t bytes);
    carom_status (*read)(carom_device *device, void *to, const void *from, uint64_t bytes);

    carom_status (*frame_begin)(carom_device *device);
    carom_status (*frame_end)(carom_device *device, carom_cuda_frame **frame);
    carom_status (*frame_run)(carom_device *device, carom_cuda_frame *frame);
    void (*frame_destroy)(carom_cuda_frame *frame);

    void (*pairs_free)(carom_cuda_pairs *pairs);

    carom_status (*set_timing)(carom_device *device, bool on);
    carom_status (*get_steps)(carom_device *device, carom_cuda_steps *steps);
} carom_cuda_base;

#define CAROM_CUDA_BASE "carom_cuda_base_4"

/* The table of this name, or NULL: there is no GPU library. */
const void *carom_device_table(const char *name);

/* A CUDA context's device, or NULL with CAROM_UNSUPPORTED: `what` needs a context of backend cuda.
 */
carom_status carom_device_of(carom_context *context, const char *what, carom_device **device);

/* The memory of a context's device that nothing uses, neither this process nor another. */
carom_status carom_device_free_bytes(carom_context *context, uint64_t *bytes);

/* Waits for what is queued and forgets it, after a call has failed that queued several operations:
 * they refer to what the caller may free. The message stays. */
void carom_device_abandon(carom_context *context);

/* Passes on the status of a call of the GPU library, and its message if it failed. */
carom_status carom_device_pass(carom_context *context, carom_status status);

#ifdef __cplusplus
}
#endif

#endif
