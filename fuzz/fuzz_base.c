/* SPDX-License-Identifier: MIT */
/* Sort, scan and sum against the obvious loops. */
#include "fuzz/fuzz.h"

#include "base/scan.h"
#include "base/sort.h"
#include "base/sum.h"
#include "carom/carom.h"

#define MOST 4096

static void check_sort(carom_context *context, const uint32_t *input, size_t count) {
    static uint32_t keys[MOST], payload[MOST];
    static uint64_t words[MOST];
    for (size_t i = 0; i < count; ++i) {
        keys[i] = input[i];
        payload[i] = (uint32_t)i;
        words[i] = (uint64_t)input[i] << 32 | i;
    }
    FUZZ_CHECK(carom_sort_keys(context, keys, payload, count) == CAROM_OK);
    FUZZ_CHECK(carom_sort_words(context, words, count, 32, 32) == CAROM_OK);
    for (size_t i = 0; i < count; ++i) {
        FUZZ_CHECK(payload[i] < count && input[payload[i]] == keys[i]);
        FUZZ_CHECK(words[i] == ((uint64_t)keys[i] << 32 | payload[i]));
        if (i != 0)
            FUZZ_CHECK(keys[i - 1] < keys[i] ||
                       (keys[i - 1] == keys[i] && payload[i - 1] < payload[i]));
    }
}

static void check_scan(carom_context *context, const uint32_t *input, size_t count) {
    static uint64_t wide[MOST + 1];
    static uint32_t narrow[MOST + 1];
    uint64_t sum = 0;
    FUZZ_CHECK(carom_scan_u64(context, input, count, wide) == CAROM_OK);
    carom_status status = carom_scan_u32(context, input, count, narrow);
    for (size_t i = 0; i <= count; ++i) {
        FUZZ_CHECK(wide[i] == sum);
        if (status == CAROM_OK) FUZZ_CHECK(narrow[i] == sum);
        if (i < count) sum += input[i];
    }
    FUZZ_CHECK(status == (sum <= UINT32_MAX ? CAROM_OK : CAROM_TOO_LARGE));
}

static void check_sum(carom_context *context, const double *values, size_t count, int scale) {
    carom_sum forward = {0}, backward = {0}, parallel = {0};
    for (size_t i = 0; i < count; ++i) {
        forward = carom_sum_add(forward, carom_sum_term(values[i], scale));
        backward = carom_sum_add(backward, carom_sum_term(values[count - 1 - i], scale));
    }
    FUZZ_CHECK(carom_sum_array(context, values, count, scale, &parallel) == CAROM_OK);
    FUZZ_CHECK(memcmp(&forward, &backward, sizeof(forward)) == 0);
    FUZZ_CHECK(memcmp(&forward, &parallel, sizeof(forward)) == 0);
    double value = carom_sum_value(forward, scale);
    FUZZ_CHECK((value != value) == (forward.spoiled != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context; /* kept for the life of the process */
    static uint32_t input[MOST];
    static double values[MOST / 2];
    if (context == NULL)
        FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 2}, &context) == CAROM_OK);
    int16_t scale;
    fuzz_take(&bytes, &size, &scale, sizeof(scale));
    if (size > sizeof(input)) size = sizeof(input);
    memcpy(input, bytes, size);
    memcpy(values, bytes, size);
    check_sort(context, input, size / sizeof(input[0]));
    check_scan(context, input, size / sizeof(input[0]));
    check_sum(context, values, size / sizeof(values[0]),
              scale % 1000 < CAROM_SUM_LEAST_SCALE ? CAROM_SUM_LEAST_SCALE : scale % 1000);
    return 0;
}
