/* SPDX-License-Identifier: MIT */
/* gas_course.h: what should happen to a gas, as the oracle says, and gases held against it, event
 * by event, bit for bit. */
#ifndef CAROM_TESTS_GAS_COURSE_H
#define CAROM_TESTS_GAS_COURSE_H

#include "tests/support/gas.h"

#define GAS_COURSE_MOST 10000
#define GAS_WAYS        18 /* 3 methods, 2 queues, 3 sizes of cells and reaches of lists */

typedef struct gas_course {
    gas_oracle oracle; /* as it stands after the events */
    int events;
    double length; /* time of the last */
    gas_oracle_event wanted[GAS_COURSE_MOST];
} gas_course;

/* Computes by the oracle the first `events` of such a gas. */
void gas_course_query(carom_context *context, gas_course *course, const carom_gas_def *def,
                      const carom_gas_sphere *spheres, int count, int events);
/* A gas goes the same way, cut into pieces at random times; there, no two overlap. */
void gas_course_follow(carom_context *context, const gas_course *course, const carom_gas_def *def,
                       const carom_gas_sphere *spheres, int count);
/* The same in all GAS_WAYS ways. */
void gas_course_follow_all(carom_context *context, const gas_course *course,
                           const carom_gas_def *def, const carom_gas_sphere *spheres, int count);

/* The user of gas_follower_compare, a carom_gas_event_fn that fails the test unless the event is
 * the next of the course, and stops at its last. */
typedef struct gas_follower {
    const carom_gas *gas;
    const gas_course *course;
    int done;
} gas_follower;
bool gas_follower_compare(void *user, const carom_gas_event *event);

/* Ticks since create, as the oracle counts them. */
uint64_t gas_ticks(const carom_gas *gas);
/* Fails the test unless the event is the oracle's and has just happened to the gas. */
void gas_assert_event(const carom_gas *gas, const carom_gas_event *event,
                      const gas_oracle_event *wanted);
/* Fails the test unless all bodies are the oracle's, bit for bit. */
void gas_assert_bodies(const carom_gas *gas, const gas_oracle *oracle);
/* Deepest overlap of two spheres, in any image, or of a sphere and a wall, in roundings of a
 * position (GAS_ROUNDING of the longest edge): all pairs in long double. Below zero when none. */
double gas_deepest_overlap(const carom_gas *gas);
/* Fails the test where spheres overlap by more than rounding can make them, or carom_gas_overlap
 * says otherwise. */
void gas_assert_apart(carom_context *context, const carom_gas *gas);
/* What carom_gas_overlap may find at most: the same bound in units of the sum of radii, for the
 * smallest spheres. */
double gas_most_overlap(const carom_gas *gas);

#endif
