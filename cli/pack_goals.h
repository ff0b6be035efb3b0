/* SPDX-License-Identifier: MIT */
/* pack_goals.h: the goals of `carom pack`, what it reached, and why it stopped. */
#ifndef CAROM_CLI_PACK_GOALS_H
#define CAROM_CLI_PACK_GOALS_H

#include "cli/json.h"

typedef struct pack_goal {
    const char *option;
    double requested, reached; /* reached: NaN or infinite where it could not be measured */
    bool met;
} pack_goal;

/* Why no more spheres were made: a goal was reached, or one of the limits. */
typedef enum pack_stop {
    PACK_STOP_COUNT = 0, /* as many spheres as --count says, or by default */
    PACK_STOP_FILL,
    PACK_STOP_RADIUS,   /* no ball of that radius fits */
    PACK_STOP_ERROR,    /* overlaps are as close as the goal */
    PACK_STOP_DISTANCE, /* covers: none reaches out farther */
    PACK_STOP_SPACE,    /* the method finds no space for more */
    PACK_STOP_LIMIT,    /* the most spheres that this way of packing makes */
    PACK_STOP_POSES,    /* no pose was found by which overlaps can be compared */
    PACK_STOP_SEARCH,   /* covers: the search for a number of spheres that suffices has ended */
    PACK_STOP_COVERED,  /* covers: further spheres would have nothing to cover */
    PACK_STOPS
} pack_stop;

/* The word for JSON. */
const char *pack_stop_name(pack_stop stop);

/* Initialise with {0}. */
typedef struct pack_goals {
    pack_goal data[4];
    int count;
    pack_stop stop;
} pack_goals;

void pack_goals_add(pack_goals *goals, const char *option, double requested, double reached,
                    bool met);
bool pack_goals_met(const pack_goals *goals);

void pack_goals_print(const pack_goals *goals, FILE *out);

/* The keys goals, reached, stopped and reason of an open object. */
void pack_goals_print_json(const pack_goals *goals, json *j);

#endif
