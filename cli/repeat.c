/* SPDX-License-Identifier: MIT */
/* Times of repeated queries. A command runs its query once unless --repeat says more; the time
 * printed is that of the work done for the answer. */
#include "cli/repeat.h"

#include <stdlib.h>

#include "cli/interrupt.h"

void repeat_start(repeat *r) {
    if (r->seconds == NULL) r->seconds = malloc((size_t)r->wanted * sizeof(*r->seconds));
    r->started = carom_time_seconds();
}

/* Without memory for the times, the first one represents all. */
bool repeat_goes_on(repeat *r, carom_status status) {
    double now = carom_time_seconds();
    if (status != CAROM_OK) return false;
    if (r->seconds != NULL && r->done < r->wanted) r->seconds[r->done] = now - r->started;
    ++r->done;
    return r->done < r->wanted && !interrupt_seen();
}

static int compare(const void *a, const void *b) {
    double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

double repeat_median(const repeat *r) {
    if (r->done == 0 || r->seconds == NULL) return 0.0;
    qsort(r->seconds, (size_t)r->done, sizeof(*r->seconds), compare);
    return 0.5 * (r->seconds[(r->done - 1) / 2] + r->seconds[r->done / 2]);
}

void repeat_print_json(const repeat *r, json *j) {
    json_number(j, "query_s", repeat_median(r));
    if (r->wanted > 1) json_count(j, "repeat", r->done);
}

void repeat_free(repeat *r) {
    free(r->seconds);
    r->seconds = NULL;
}

const char *repeat_misuse(uint64_t wanted) {
    return wanted >= 1 && wanted <= REPEAT_MOST ? NULL : "--repeat takes 1 to 1000000";
}
