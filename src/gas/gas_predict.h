/* SPDX-License-Identifier: MIT */
/* gas_predict.h: prediction of a sphere's next event by its method, and the handling of stale and
 * provisional predictions; part of the loop in gas_run_cpu.c. */
#ifndef CAROM_SRC_GAS_GAS_PREDICT_H
#define CAROM_SRC_GAS_GAS_PREDICT_H

#include "gas/gas_extent.h"
#include "gas/gas_queue.h"
#include "gas/gas_renew.h"

static void clear_prediction(carom_gas *gas, uint32_t slot) {
    ++gas->predictions;
    gas->records[slot].prediction.physical = CAROM_GAS_NEVER;
    gas->records[slot].prediction.kind = CAROM_GAS_REFRESH;
    gas->records[slot].others = 0.0f;
}

static __attribute__((noinline)) void predict_by_cells(carom_gas *gas, uint32_t slot) {
    if (gas->method == CAROM_GAS_METHOD_EXTENT) {
        scan_extent(gas, slot, &gas->records[slot].prediction);
        predict_extent_crossing(gas, slot, &gas->records[slot].prediction);
    } else {
        predict_centre(gas, &slot, 1);
    }
}

static void predict(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    clear_prediction(gas, slot);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        scan_list(gas, slot, prediction);
        predict_renewal(gas, slot, prediction);
    } else {
        predict_by_cells(gas, slot);
    }
    scan_alone(gas, slot, prediction);
}

/* Predicts and enters two spheres that collided, by cells. */
static __attribute__((noinline)) void predict_both_by_cells(carom_gas *gas, uint32_t a,
                                                            uint32_t b) {
    clear_prediction(gas, a);
    clear_prediction(gas, b);
    predict_centre(gas, (uint32_t[2]){a, b}, 2);
    scan_alone(gas, a, &gas->records[a].prediction);
    scan_alone(gas, b, &gas->records[b].prediction);
    carom_gas_queue_put(gas, a);
    carom_gas_queue_put(gas, b);
}

/* The same by lists. The bounds of both are computed first, so that their memory accesses
 * overlap. */
static void predict_both_by_lists(carom_gas *gas, uint32_t a, uint32_t b) {
    const uint32_t slots[2] = {a, b};
    bounded_set bounded_sets[2];
    for (int i = 0; i < 2; ++i) {
        const uint32_t *list = carom_gas_list_of(gas, slots[i]);
        bound_candidates(gas, slots[i], list + 1, list[0], !gas->records[slots[i]].home.extra,
                         &bounded_sets[i]);
    }
    for (int i = 0; i < 2; ++i) {
        carom_gas_prediction *prediction = &gas->records[slots[i]].prediction;
        clear_prediction(gas, slots[i]);
        decide(gas, &bounded_sets[i], prediction);
        predict_renewal(gas, slots[i], prediction);
        scan_alone(gas, slots[i], prediction);
        carom_gas_queue_put(gas, slots[i]);
    }
}

/* Predicts and enters two spheres that collided. */
static void predict_both(carom_gas *gas, uint32_t a, uint32_t b) {
    if (gas->in_twos) {
        predict_both_by_cells(gas, a, b);
    } else if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS &&
               carom_gas_list_of(gas, a)[0] <= CAROM_GAS_MOST_CANDIDATES &&
               carom_gas_list_of(gas, b)[0] <= CAROM_GAS_MOST_CANDIDATES) {
        predict_both_by_lists(gas, a, b);
    } else {
        predict(gas, a);
        carom_gas_queue_put(gas, a);
        predict(gas, b);
        carom_gas_queue_put(gas, b);
    }
}

/* Predicts the exact tick, never a provisional one: for an unresolved prediction, or a provisional
 * one whose pair does not meet within the uncertainty. */
static __attribute__((noinline)) void predict_exactly(carom_gas *gas, uint32_t slot) {
    gas->exactly = true;
    predict(gas, slot);
    gas->exactly = false;
}

static bool is_stale(const carom_gas *gas, const carom_gas_prediction *prediction) {
    bool pair =
        prediction->kind == CAROM_GAS_KIND_PAIR || prediction->kind == CAROM_GAS_PROVISIONAL;
    return pair && gas->trajectories.by_slot[prediction->partner].stamp != prediction->stamp;
}

/* Handles a stale prediction. If its partner was rewritten, the partner's own prediction covers
 * their meeting by now. Then this sphere is only due at its next best time, and no scan is needed
 * yet: often it collides with another sphere before. */
static void put_off(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    uint32_t change =
        record->prediction.stamp ^ gas->trajectories.by_slot[record->prediction.partner].stamp;
    bool rewritten = change >= CAROM_GAS_REWRITTEN;
    if (!rewritten || !(record->others > 0.0f) ||
        record->prediction.kind != CAROM_GAS_PROVISIONAL) {
        predict(gas, slot);
        return;
    }
    record->prediction.physical +=
        record->others < (float)CAROM_GAS_HORIZON ? (int64_t)record->others : CAROM_GAS_HORIZON;
    record->others = 0.0f;
    scan_alone(gas, slot, &record->prediction);
}

/* True when the partner's prediction is the same pair, with its exact tick. */
static bool is_met_by_partner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction,
                               *its = &gas->records[prediction->partner].prediction;
    if (its->kind != CAROM_GAS_KIND_PAIR || its->partner != slot ||
        its->physical >= its->crossing || its->stamp != gas->trajectories.by_slot[slot].stamp)
        return false;
    int image[3], its_image[3];
    predicted_image(gas, prediction, image);
    predicted_image(gas, its, its_image);
    return image[0] == -its_image[0] && image[1] == -its_image[1] && image[2] == -its_image[2];
}

/* Replaces the lower bound of a provisional pair by its exact tick. False when the pair does not
 * meet within the uncertainty; the sphere must then be predicted exactly. */
static bool refine(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    int image[3];
    predicted_image(gas, prediction, image);
    int64_t time =
        carom_gas_pair_time(&gas->rules, &gas->bodies[slot], &gas->bodies[prediction->partner],
                            image, carom_gas_contact_distance(gas, slot, prediction->partner));
    if (time > latest(gas, prediction)) return false;
    prediction->physical = time;
    prediction->kind = CAROM_GAS_KIND_PAIR;
    return true;
}

/* True for work the caller never sees: crossings, stale and provisional events. */
static bool is_inner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    return prediction->crossing <= prediction->physical || is_provisional(prediction) ||
           is_stale(gas, prediction);
}

static bool do_inner(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    bool done = true;
    gas->now = carom_gas_due(prediction);
    gas->crossings += prediction->crossing <= prediction->physical;
    if (prediction->crossing > prediction->physical) {
        if (prediction->kind == CAROM_GAS_UNRESOLVED)
            predict_exactly(gas, slot);
        else if (is_stale(gas, prediction))
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
