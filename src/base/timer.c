/* SPDX-License-Identifier: MIT */
/* The monotonic clock as seconds. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "carom/base.h"

double carom_time_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
