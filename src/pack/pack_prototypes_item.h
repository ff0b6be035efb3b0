/* SPDX-License-Identifier: MIT */
/* pack_prototypes_item.h: what CPU and GPU share of packing by prototypes (pack_prototypes.c
 * explains them): where a prototype begins, and how it moves as published. */
#ifndef CAROM_SRC_PACK_PACK_PROTOTYPES_ITEM_H
#define CAROM_SRC_PACK_PACK_PROTOTYPES_ITEM_H

#include "base/random_item.h"
#include "geom/length.h"
#include "pack/pack_octree_item.h"

/* What is observed below: 500 balls in cheburashka, fandisk and spot, one thread; with the values
 * here they fill 0.748 of the solids on average, after 1.4 s of the processor for all three. */

/* Points that climb at once: so many while there are few balls, and as many more for each so many
 * balls, up to the most, as there are the more holes of nearly the same size the more balls there
 * are. Observed, with few balls: 128 fill 0.002 less in half the time, 2,048 fill 0.001 more in
 * three times the time. */
#define CAROM_PROTOTYPE_BATCH      512u
#define CAROM_PROTOTYPE_BATCH_STEP 1024u
#define CAROM_PROTOTYPE_BATCH_MOST 16384u

/* Balls below this part of the largest radius of a batch are not inserted. Observed: 0.8 fills
 * 0.001 less in 0.65 times the time, 0.97 fills 0.0005 more in 2.2 times the time. */
#define CAROM_PROTOTYPE_RADIUS_RATIO 0.9

/* Random points of the box per one that is inside: a solid with 4 % of its box is missed by 64 once
 * in fourteen climbs. */
#define CAROM_PROTOTYPE_TRIES 64u

/* Batches without a sphere, after which there is no space: 4,096 climbs. Observed: 2 the same. */
#define CAROM_PROTOTYPE_EMPTY_BATCHES 8u

/* The radius for which balls are filed at first, in the frame, where no side is longer than 1; and
 * the part of it to which the best radius has fallen when they are filed anew. Observed: 0.5 and
 * 0.9 take as long. */
#define CAROM_PROTOTYPE_FILED  1.0
#define CAROM_PROTOTYPE_REFILE 0.7

#define CAROM_PROTOTYPE_FIRST_STEP 0.5 /* of a climb, of the distance at its start */

/* Steps of a prototype as published, and the share of the distance that the first one has; it falls
 * by the same amount from step to step, to nothing. The sketch has a cooling function without
 * saying which: both numbers are ours. */
#define CAROM_PROTOSPHERE_STEPS       64u
#define CAROM_PROTOSPHERE_FIRST_SHARE 0.5

/* The prototypes of the next batch, after so many balls. */
CAROM_ITEM uint32_t carom_prototype_batch(uint64_t balls) {
    uint64_t count = CAROM_PROTOTYPE_BATCH * (1u + balls / CAROM_PROTOTYPE_BATCH_STEP);
    return (uint32_t)CAROM_MIN(count, CAROM_PROTOTYPE_BATCH_MOST);
}

/* The random numbers of a prototype, by its number among those of all batches. They begin at a
 * random place of the generator's cycle: from one of its steps to the next, prototypes would have
 * the same numbers but for the first. */
CAROM_ITEM carom_random carom_prototype_random(uint64_t seed, uint64_t number) {
    carom_random random;
    random.state = seed ^ number * UINT64_C(0x9E3779B97F4A7C15);
    random.state = carom_random_step(&random);
    return random;
}

/* A random point of a box. One statement per number, as C leaves the order of arguments to the
 * compiler. */
CAROM_ITEM carom_vec3 carom_prototype_guess(carom_random *random, carom_vec3 low, carom_vec3 high) {
    carom_vec3 p;
    p.z = low.z + (high.z - low.z) * carom_random_fraction(carom_random_step(random));
    p.y = low.y + (high.y - low.y) * carom_random_fraction(carom_random_step(random));
    p.x = low.x + (high.x - low.x) * carom_random_fraction(carom_random_step(random));
    return p;
}

/* Step i of a prototype as published: away from the nearest point, which is `apart` from it. */
CAROM_ITEM carom_vec3 carom_protosphere_step(carom_vec3 from, carom_vec3 nearest, double apart,
                                             uint32_t i) {
    carom_vec3 away = carom_vec_sub(from, nearest);
    double length = carom_length(away), share = (double)(CAROM_PROTOSPHERE_STEPS - i);
    if (!(length > 0.0)) return from;
    share = CAROM_PROTOSPHERE_FIRST_SHARE * share / CAROM_PROTOSPHERE_STEPS;
    away = carom_vec_scale(away, apart / length);
    return carom_vec_add(from, carom_vec_scale(away, share));
}

#endif
