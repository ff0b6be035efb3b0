/* SPDX-License-Identifier: MIT */
/* splitmix64 (Steele, Lea, Flood 2014): one addition and a finaliser. The seed alone determines the
 * stream, on every machine. */
#include <math.h>

#include "base/math.h"
#include "base/status.h"

uint64_t carom_random_next(carom_random *random) {
    CAROM_REQUIRE_OR(random != NULL, CAROM_ARE_NULL("random numbers"), 0);
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double carom_random_uniform(carom_random *random) {
    return (double)(carom_random_next(random) >> 11) * 0x1p-53;
}

double carom_random_between(carom_random *random, double low, double high) {
    return low + (high - low) * carom_random_uniform(random);
}

double carom_random_normal(carom_random *random) {
    double u1 = carom_random_uniform(random);
    double u2 = carom_random_uniform(random);
    return sqrt(-2.0 * carom_log(1.0 - u1)) * carom_cos(2.0 * CAROM_PI * u2);
}
