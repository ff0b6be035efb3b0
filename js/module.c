/* SPDX-License-Identifier: MIT */
/* What the WebAssembly module has beside the library: memory for the caller, and C functions that
 * pass the library's callbacks on to JavaScript. A callback's `user` is a number that the caller
 * chose. Only the instance that made a call has these functions; none of the library's own threads
 * calls one, except for a support function (js/src/convex.js refuses those with threads). */
#include "base/platform.h"
#include "carom/carom.h"

#define MODULE_IMPORT(name) __attribute__((import_module("carom"), import_name(name)))
#define MODULE_ALIGNMENT    64

MODULE_IMPORT("assert") void module_assert(const char *function, const char *message);
MODULE_IMPORT("progress") bool module_progress(void *user, const char *what, double fraction);
MODULE_IMPORT("pairs") bool module_pairs(void *user, const carom_pair *pairs, uint32_t count);
MODULE_IMPORT("accept") bool module_accept(void *user, uint32_t a, uint32_t b);
MODULE_IMPORT("event") bool module_event(void *user, const carom_gas_event *event);
MODULE_IMPORT("response")
void module_response(void *user, const carom_gas_event *event, const carom_vec3 *normal,
                     carom_gas_sphere *a, carom_gas_sphere *b);
MODULE_IMPORT("support")
void module_support(void *user, const carom_vec3 *direction, carom_vec3 *point);

/* A call of the import itself, not its address: two instances have different tables. */
static bool pairs_fn(void *user, const carom_pair *pairs, uint64_t count) {
    return module_pairs(user, pairs, (uint32_t)count);
}

static bool progress_fn(void *user, const char *what, double fraction) {
    return module_progress(user, what, fraction);
}

static bool accept_fn(void *user, uint32_t a, uint32_t b) {
    return module_accept(user, a, b);
}

static bool event_fn(void *user, const carom_gas_event *event) {
    return module_event(user, event);
}

static void response_fn(void *user, const carom_gas_event *event, const carom_vec3 *normal,
                        carom_gas_sphere *a, carom_gas_sphere *b) {
    module_response(user, event, normal, a, b);
}

static carom_vec3 support_fn(void *user, const carom_vec3 *direction) {
    carom_vec3 point = {0};
    module_support(user, direction, &point);
    return point;
}

static void assert_fn(const char *function, const char *message) {
    module_assert(function, message);
}

CAROM_API void carom_js_start(void);
CAROM_API void carom_js_start(void) {
    (void)carom_assert_set_handler(assert_fn);
}

/* The functions above, as values of fields and parameters. */
CAROM_API carom_progress_fn *carom_js_progress_fn(void);
CAROM_API carom_pairs_fn *carom_js_pairs_fn(void);
CAROM_API carom_broad_accept_fn *carom_js_broad_accept_fn(void);
CAROM_API carom_gas_event_fn *carom_js_gas_event_fn(void);
CAROM_API carom_gas_response_fn *carom_js_gas_response_fn(void);
CAROM_API carom_convex_support_fn *carom_js_convex_support_fn(void);

CAROM_API carom_progress_fn *carom_js_progress_fn(void) {
    return progress_fn;
}

CAROM_API carom_pairs_fn *carom_js_pairs_fn(void) {
    return pairs_fn;
}

CAROM_API carom_broad_accept_fn *carom_js_broad_accept_fn(void) {
    return accept_fn;
}

CAROM_API carom_gas_event_fn *carom_js_gas_event_fn(void) {
    return event_fn;
}

CAROM_API carom_gas_response_fn *carom_js_gas_response_fn(void) {
    return response_fn;
}

CAROM_API carom_convex_support_fn *carom_js_convex_support_fn(void) {
    return support_fn;
}

/* NULL where there is no memory left. */
CAROM_API void *carom_js_allocate(uint32_t size);
CAROM_API void *carom_js_allocate(uint32_t size) {
    if (size > UINT32_MAX - 2 * MODULE_ALIGNMENT) return NULL;
    uint32_t rounded = (size / MODULE_ALIGNMENT + 1) * MODULE_ALIGNMENT;
    return carom_os_aligned_allocate(MODULE_ALIGNMENT, rounded);
}

CAROM_API void carom_js_free(void *pointer);
CAROM_API void carom_js_free(void *pointer) {
    carom_os_aligned_free(pointer);
}
