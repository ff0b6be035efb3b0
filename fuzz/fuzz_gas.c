/* SPDX-License-Identifier: MIT */
/* Saved gases: any bytes either get a message that names the file, or are a sound gas, which runs
 * on for a while, does not overlap more than it did, and survives being saved and loaded again. */
#include <math.h>
#include <unistd.h>

#include "carom/carom.h"
#include "fuzz/fuzz.h"
#include "gas/gas.h"

#define MOST_BYTES  8192
#define MOST_EVENTS 500

static bool count_down(void *user, const carom_gas_event *event) {
    (void)event;
    return --*(int *)user == 0;
}

/* The time in which nothing gets further than a few radii, so that there is an end. */
static double short_time(carom_context *context, const carom_gas *gas) {
    carom_gas_spheres spheres = {0};
    carom_gas_info info;
    double radius = 1e300, speed = 0.0;
    FUZZ_CHECK(carom_gas_list_spheres(context, gas, &spheres) == CAROM_OK);
    FUZZ_CHECK(carom_gas_get_info(gas, &info) == CAROM_OK);
    for (uint64_t i = 0; i < spheres.count; ++i) {
        const carom_gas_sphere *s = &spheres.data[i];
        FUZZ_CHECK(isfinite(s->position.x) && isfinite(s->velocity.x) && s->radius > 0.0);
        radius = fmin(radius, s->radius);
        speed = fmax(speed, fabs(s->velocity.x) + fabs(s->velocity.y) + fabs(s->velocity.z));
    }
    carom_gas_spheres_free(&spheres);
    double ticks = 0x1p40 * info.tick;
    return speed > 0.0 ? fmin(20.0 * radius / speed, ticks) : ticks;
}

static void check_gas(carom_context *context, carom_gas *gas, const char *path) {
    FUZZ_CHECK_VALID(carom_gas_validate(context, gas));
    double before, after, until = carom_gas_get_time(gas) + short_time(context, gas);
    int left = MOST_EVENTS;
    carom_gas_info info;
    FUZZ_CHECK(carom_gas_get_info(gas, &info) == CAROM_OK);
    const double tick = info.tick;
    FUZZ_CHECK(carom_gas_overlap(context, gas, &before) == CAROM_OK);
    if (isfinite(until)) {
        carom_status status = carom_gas_advance(context, gas, until, count_down, &left);
        /* Times end somewhere, and a file may be from there. */
        FUZZ_CHECK(status == CAROM_OK || status == CAROM_UNSUPPORTED ||
                   (status == CAROM_BAD_INPUT && until > 0x1p102 * tick));
    }
    FUZZ_CHECK_VALID(carom_gas_validate(context, gas));
    FUZZ_CHECK(carom_gas_overlap(context, gas, &after) == CAROM_OK);
    FUZZ_CHECK(after <= fmax(before, 1e-8));
    carom_gas *again;
    FUZZ_CHECK(carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, path) == CAROM_OK);
    FUZZ_CHECK(carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &again) == CAROM_OK);
    FUZZ_CHECK(carom_gas_get_time(again) == carom_gas_get_time(gas));
    FUZZ_CHECK_VALID(carom_gas_validate(context, again));
    carom_gas_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context; /* kept for the life of the process */
    static char path[64];
    if (size > MOST_BYTES) return 0;
    if (context == NULL) {
        carom_context_def def = {.threads = 1};
        FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
        snprintf(path, sizeof(path), "/tmp/carom_fuzz_gas.%ld", (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    carom_gas *gas;
    carom_status status = carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &gas);
    FUZZ_CHECK(status != CAROM_INVALID && status != CAROM_NO_MEMORY);
    FUZZ_CHECK((status == CAROM_OK) == (gas != NULL));
    if (gas != NULL)
        check_gas(context, gas, path);
    else
        FUZZ_CHECK(carom_context_message(context)[0] != '\0');
    carom_gas_destroy(gas);
    remove(path);
    return 0;
}
