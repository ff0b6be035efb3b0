/* SPDX-License-Identifier: MIT */
/* predict.h: the next event of a sphere, by its method, and what becomes of plans before their
 * time; part of the loop in run_cpu.c. */
#ifndef CAROM_SRC_GAS_PREDICT_H
#define CAROM_SRC_GAS_PREDICT_H

#include "gas/extent.h"
#include "gas/queue.h"
#include "gas/renew.h"

static void forget_plan(carom_gas *gas, uint32_t slot) {
    ++gas->predictions;
    gas->cards[slot].plan.physical = CAROM_GAS_NEVER;
    gas->cards[slot].plan.kind = CAROM_GAS_REFRESH;
    gas->cards[slot].others = 0.0f;
}

static __attribute__((noinline)) void predict_by_cells(carom_gas *gas, uint32_t slot) {
    if (gas->method == CAROM_GAS_METHOD_EXTENT) {
        scan_extent(gas, slot, &gas->cards[slot].plan);
        plan_extent(gas, slot, &gas->cards[slot].plan);
    } else {
        predict_centre(gas, &slot, 1);
    }
}

static void predict(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    forget_plan(gas, slot);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        scan_list(gas, slot, plan);
        plan_renewal(gas, slot, plan);
    } else {
        predict_by_cells(gas, slot);
    }
    scan_alone(gas, slot, plan);
}

/* Two that have met, by their cells. */
static __attribute__((noinline)) void predict_both_by_cells(carom_gas *gas, uint32_t a,
                                                            uint32_t b) {
    forget_plan(gas, a);
    forget_plan(gas, b);
    predict_centre(gas, (uint32_t[2]){a, b}, 2);
    scan_alone(gas, a, &gas->cards[a].plan);
    scan_alone(gas, b, &gas->cards[b].plan);
    carom_gas_queue_put(gas, a);
    carom_gas_queue_put(gas, b);
}

/* By their lists: the bounds of one while those of the other are on their way. */
static void predict_both_by_lists(carom_gas *gas, uint32_t a, uint32_t b) {
    const uint32_t slots[2] = {a, b};
    outlook outlooks[2];
    for (int i = 0; i < 2; ++i) {
        const uint32_t *list = carom_gas_list_of(gas, slots[i]);
        look_out(gas, slots[i], list + 1, list[0], !gas->cards[slots[i]].home.extra, &outlooks[i]);
    }
    for (int i = 0; i < 2; ++i) {
        carom_gas_plan *plan = &gas->cards[slots[i]].plan;
        forget_plan(gas, slots[i]);
        decide(gas, &outlooks[i], plan);
        plan_renewal(gas, slots[i], plan);
        scan_alone(gas, slots[i], plan);
        carom_gas_queue_put(gas, slots[i]);
    }
}

/* Two that have met: predicted and entered. */
static void predict_both(carom_gas *gas, uint32_t a, uint32_t b) {
    if (gas->in_twos) {
        predict_both_by_cells(gas, a, b);
    } else if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS &&
               carom_gas_list_of(gas, a)[0] <= CAROM_GAS_MOST_NEAR &&
               carom_gas_list_of(gas, b)[0] <= CAROM_GAS_MOST_NEAR) {
        predict_both_by_lists(gas, a, b);
    } else {
        predict(gas, a);
        carom_gas_queue_put(gas, a);
        predict(gas, b);
        carom_gas_queue_put(gas, b);
    }
}

/* Not by floats: what has to be told apart exactly, or was once found to fool them. */
static __attribute__((noinline)) void predict_exactly(carom_gas *gas, uint32_t slot) {
    gas->exactly = true;
    predict(gas, slot);
    gas->exactly = false;
}

static bool is_stale(const carom_gas *gas, const carom_gas_plan *plan) {
    bool pair = plan->kind == CAROM_GAS_KIND_PAIR || plan->kind == CAROM_GAS_ROUGH;
    return pair && gas->flights.by_slot[plan->partner].stamp != plan->stamp;
}

/* For a stale plan. If its partner was rewritten, whether the two meet is in the partner's plan by
 * now, and nothing else can come for some time: often enough the sphere itself is met before. */
static void put_off(carom_gas *gas, uint32_t slot) {
    carom_gas_card *card = &gas->cards[slot];
    uint32_t change = card->plan.stamp ^ gas->flights.by_slot[card->plan.partner].stamp;
    bool rewritten = change >= CAROM_GAS_REWRITTEN;
    if (!rewritten || !(card->others > 0.0f) || card->plan.kind != CAROM_GAS_ROUGH) {
        predict(gas, slot);
        return;
    }
    card->plan.physical +=
        card->others < (float)CAROM_GAS_HORIZON ? (int64_t)card->others : CAROM_GAS_HORIZON;
    card->others = 0.0f;
    scan_alone(gas, slot, &card->plan);
}

/* Is the pair planned for `slot` planned for its partner, too, with its exact tick? */
static bool is_met_by_partner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->cards[slot].plan, *its = &gas->cards[plan->partner].plan;
    if (its->kind != CAROM_GAS_KIND_PAIR || its->partner != slot ||
        its->physical >= its->crossing || its->stamp != gas->flights.by_slot[slot].stamp)
        return false;
    int image[3], its_image[3];
    image_planned(gas, plan, image);
    image_planned(gas, its, its_image);
    return image[0] == -its_image[0] && image[1] == -its_image[1] && image[2] == -its_image[2];
}

/* The bound of a rough pair has come: from now on it has its exact tick. False when floats were
 * fooled and all has to be predicted exactly. */
static bool refine(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    int image[3];
    image_planned(gas, plan, image);
    int64_t time = carom_gas_pair_time(&gas->rules, &gas->bodies[slot], &gas->bodies[plan->partner],
                                       image, carom_gas_reach(gas, slot, plan->partner));
    if (time > latest(gas, plan)) return false;
    plan->physical = time;
    plan->kind = CAROM_GAS_KIND_PAIR;
    return true;
}

/* Things the caller never sees: crossings, stale and rough events. */
static bool is_inner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->cards[slot].plan;
    return plan->crossing <= plan->physical || is_rough(plan) || is_stale(gas, plan);
}

static bool do_inner(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    bool done = true;
    gas->now = carom_gas_due(plan);
    gas->crossings += plan->crossing <= plan->physical;
    if (plan->crossing > plan->physical) {
        if (plan->kind == CAROM_GAS_AGAIN)
            predict_exactly(gas, slot);
        else if (is_stale(gas, plan))
            put_off(gas, slot);
        else if (!refine(gas, slot))
            predict_exactly(gas, slot);
    } else if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        done = renew_list(gas, slot);
    else if (gas->method == CAROM_GAS_METHOD_EXTENT)
        cross_extent(gas, slot);
    else
        cross_centre(gas, slot);
    carom_gas_queue_put(gas, slot);
    return done;
}

#endif
