/* SPDX-License-Identifier: MIT */
/* Loads libcarom_cuda from beside the library, once per process, and passes calls on to it. The
 * core never links CUDA: where the GPU library, the driver or the device is missing, one message
 * says which. */
#include "base/device.h"

#include <stdio.h>

#include "base/context.h"
#include "base/names.h"
#include "base/platform.h"

/* CAROM_CUDA_LIBRARY, the file to load, comes from the build. */

CAROM_ENUM_NAMES(carom_cuda_order, CAROM_CUDA_ORDER_COUNT, "sorted", "any");

/* ---- The library ----------------------------------------------------------------------------- */

static carom_os_once device_once = CAROM_OS_ONCE_INIT;
static void *library; /* never closed: contexts of any thread may use it */
static char why[224]; /* there is none */

static void device_load(void) {
    library = carom_os_library_open(CAROM_CUDA_LIBRARY, why, sizeof(why));
}

const void *carom_device_table(const char *name) {
    carom_os_run_once(&device_once, device_load);
    return library != NULL ? carom_os_library_find(library, name) : NULL;
}

static const carom_cuda_base *base(void) {
    return carom_device_table(CAROM_CUDA_BASE);
}

static bool device_describe(char *line, size_t size) {
    const carom_cuda_base *table = base();
    if (table != NULL) return table->describe(line, size);
    snprintf(line, size, "none: %s",
             library == NULL ? why : CAROM_CUDA_LIBRARY " is of another version");
    return false;
}

bool carom_cuda_describe(char *line, size_t size) {
    char ignored[256];
    CAROM_REQUIRE_OR(line != NULL || size == 0, CAROM_NO_OUTPUT_FOR("line"), false);
    return line == NULL || size == 0 ? device_describe(ignored, sizeof(ignored))
                                     : device_describe(line, size);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

carom_status carom_device_open(const carom_context_def *def, carom_device **device) {
    char line[256];
    *device = NULL;
    if (!device_describe(line, sizeof(line)))
        return carom_fail(NULL, CAROM_NO_DEVICE, "no CUDA device: %s", line);
    carom_status status =
        base()->create(def->device, def->borrowed_stream, line, sizeof(line), device);
    return status == CAROM_OK ? CAROM_OK : carom_fail(NULL, status, "%s", line);
}

void carom_device_close(carom_device *device, carom_cuda_pairs *pairs) {
    if (device == NULL) return;
    base()->pairs_free(pairs);
    base()->destroy(device);
}

uint64_t carom_device_bytes(const carom_device *device) {
    return device != NULL ? base()->bytes(device) : 0;
}

carom_status carom_device_free_bytes(carom_context *context, uint64_t *bytes) {
    return carom_device_pass(context, base()->free_bytes(context->device, bytes));
}

carom_status carom_device_trim(carom_context *context) {
    if (context->device == NULL) return CAROM_OK;
    return carom_device_pass(context, base()->trim(context->device));
}

void carom_device_abandon(carom_context *context) {
    if (context->device != NULL) base()->abandon(context->device);
}

carom_status carom_device_of(carom_context *context, const char *what, carom_device **device) {
    *device = context->device;
    if (*device != NULL) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED, "%s needs a context of backend cuda", what);
}

carom_status carom_device_pass(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return CAROM_OK;
    return carom_fail(context, status, "%s", base()->message(context->device));
}

/* ---- Public calls ---------------------------------------------------------------------------- */

/* The device of a context, with the checks that every call begins with. */
#define DEVICE_OF(context, what)                                                                   \
    carom_device *device;                                                                          \
    CAROM_ENTER(context);                                                                          \
    CAROM_TRY(carom_device_of(context, what, &device))

carom_status carom_cuda_finish(carom_context *context) {
    DEVICE_OF(context, "waiting for a device");
    return carom_device_pass(context, base()->finish(device));
}

carom_status carom_cuda_allocate(carom_context *context, uint64_t bytes, void **memory) {
    CAROM_REQUIRE_OUTPUT(memory, "memory");
    *memory = NULL;
    DEVICE_OF(context, "device memory");
    return carom_device_pass(context, base()->allocate(device, bytes, memory));
}

void carom_cuda_release(carom_context *context, void *memory) {
    carom_device *device;
    CAROM_ENTER_VOID(context);
    if (memory == NULL) return;
    if (carom_device_of(context, "device memory", &device) != CAROM_OK) return;
    (void)carom_device_pass(context, base()->release(device, memory));
}

carom_status carom_cuda_write(carom_context *context, void *to, const void *from, uint64_t bytes) {
    CAROM_REQUIRE((to != NULL && from != NULL) || bytes == 0, CAROM_A_POINTER_IS_NULL);
    DEVICE_OF(context, "device memory");
    return carom_device_pass(context, base()->write(device, to, from, bytes));
}

carom_status carom_cuda_read(carom_context *context, void *to, const void *from, uint64_t bytes) {
    CAROM_REQUIRE((to != NULL && from != NULL) || bytes == 0, CAROM_A_POINTER_IS_NULL);
    DEVICE_OF(context, "device memory");
    return carom_device_pass(context, base()->read(device, to, from, bytes));
}

void carom_cuda_pairs_free(carom_context *context, carom_cuda_pairs *pairs) {
    carom_device *device;
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(pairs != NULL, CAROM_ARE_NULL("pairs"), );
    if (carom_device_of(context, "device memory", &device) != CAROM_OK) return;
    (void)carom_device_pass(context, base()->finish(device));
    base()->pairs_free(pairs);
}

carom_status carom_cuda_frame_begin(carom_context *context) {
    DEVICE_OF(context, "a frame");
    return carom_device_pass(context, base()->frame_begin(device));
}

carom_status carom_cuda_frame_end(carom_context *context, carom_cuda_frame **frame) {
    CAROM_REQUIRE_OUTPUT(frame, "frame");
    *frame = NULL;
    DEVICE_OF(context, "a frame");
    return carom_device_pass(context, base()->frame_end(device, frame));
}

carom_status carom_cuda_frame_run(carom_context *context, carom_cuda_frame *frame) {
    CAROM_REQUIRE_INPUT(frame, "frame");
    DEVICE_OF(context, "a frame");
    return carom_device_pass(context, base()->frame_run(device, frame));
}

void carom_cuda_frame_destroy(carom_cuda_frame *frame) {
    if (frame != NULL) base()->frame_destroy(frame);
}

carom_status carom_cuda_set_timing(carom_context *context, bool on) {
    DEVICE_OF(context, "timing");
    return carom_device_pass(context, base()->set_timing(device, on));
}

carom_status carom_cuda_get_steps(const carom_context *context, carom_cuda_steps *steps) {
    CAROM_LOOK(context);
    CAROM_REQUIRE(context->device != NULL, "the context is not of backend cuda");
    CAROM_REQUIRE_OUTPUT(steps, "steps");
    (void)base()->get_steps(context->device, steps);
    return CAROM_OK;
}
