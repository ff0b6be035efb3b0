/* SPDX-License-Identifier: MIT */
/* Random numbers for callers: those of random_item.h. */
#include <math.h>

#include "base/math.h"
#include "base/random_item.h"
#include "base/status.h"

uint64_t carom_random_next(carom_random *random) {
    CAROM_REQUIRE_OR(random != NULL, CAROM_ARE_NULL("random numbers"), 0);
    return carom_random_step(random);
}

double carom_random_uniform(carom_random *random) {
    return carom_random_fraction(carom_random_next(random));
}

double carom_random_between(carom_random *random, double low, double high) {
    return low + (high - low) * carom_random_uniform(random);
}

double carom_random_normal(carom_random *random) {
    double u1 = carom_random_uniform(random);
    double u2 = carom_random_uniform(random);
    return sqrt(-2.0 * carom_log(1.0 - u1)) * carom_cos(2.0 * CAROM_PI * u2);
}
