/* SPDX-License-Identifier: MIT */
/* gas_select.h: selection of the next sphere to handle; part of the loop in gas_run_cpu.c.
 *
 * Invariant: inner work at a tick (see is_inner) is done before the events the caller sees at that
 * tick. So each event, when it is handled, is the earliest of all by (tick, kind, a, b). */
#ifndef CAROM_SRC_GAS_GAS_SELECT_H
#define CAROM_SRC_GAS_GAS_SELECT_H

#include "gas/gas_predict.h"
#include "gas/gas_prefetch.h"

/* Chooses between two spheres due at the same tick: inner work first, then by (kind, a, b). */
static uint32_t choose(const carom_gas *gas, uint32_t best, uint32_t slot) {
    if (is_inner(gas, best)) return best;
    if (is_inner(gas, slot)) return slot;
    const carom_gas_prediction *p = &gas->records[best].prediction,
                               *q = &gas->records[slot].prediction;
    return ranks_before(gas, slot, q->kind, q->partner, best, p->kind, p->partner) ? slot : best;
}

static uint32_t choose_in_tree(const carom_gas *gas, uint64_t at, int64_t time, uint32_t best) {
    for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < gas->tree.count; ++child) {
        uint32_t slot = gas->tree.heap[child];
        if (carom_gas_due(&gas->records[slot].prediction) != time) continue;
        best = choose_in_tree(gas, child, time, choose(gas, best, slot));
    }
    return best;
}

/* Refines the provisional pair at the head of the window in place. If the partner's entry already
 * represents the exact collision, this sphere leaves the queue and becomes the partner's follower.
 * False when the head is not a provisional pair or cannot be refined. */
static bool refine_head(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    carom_gas_queue_entry *window = calendar->window, entry = window[calendar->window_head];
    carom_gas_prediction *prediction = &gas->records[entry.slot].prediction;
    if (prediction->kind != CAROM_GAS_PROVISIONAL || prediction->crossing <= prediction->physical ||
        is_stale(gas, prediction))
        return false;
    carom_gas_record *partner = &gas->records[prediction->partner];
    if (is_met_by_partner(gas, entry.slot) && partner->prediction.physical < prediction->crossing &&
        partner->follower == CAROM_GAS_NO_SLOT &&
        partner->prediction.physical <= latest(gas, prediction)) {
        prediction->physical = partner->prediction.physical;
        prediction->kind = CAROM_GAS_KIND_PAIR;
        prediction->current = 0;
        partner->follower = entry.slot;
        ++calendar->window_head;
        return true;
    }
    if (calendar->free_count < CAROM_GAS_STEP_ENTRIES || !refine(gas, entry.slot)) return false;
    entry.time = carom_gas_due(prediction);
    if (entry.time >> calendar->shift >= calendar->base) {
        ++calendar->window_head;
        carom_gas_queue_put(gas, entry.slot);
        return true;
    }
    uint64_t at = calendar->window_head;
    for (; at + 1 < calendar->window_tail && window[at + 1].time < entry.time; ++at)
        window[at] = window[at + 1];
    window[at] = entry;
    return true;
}

/* Finds the slot to be handled next; CAROM_GAS_NO_SLOT when nothing is due up to `until`. False
 * when there is no memory. */
static bool next_slot(carom_gas *gas, int64_t until, uint32_t *next) {
    *next = CAROM_GAS_NO_SLOT;
    if (gas->def.queue == CAROM_GAS_QUEUE_TREE) {
        if (gas->tree.count == 0) return true;
        uint32_t slot = gas->tree.heap[0];
        int64_t time = carom_gas_due(&gas->records[slot].prediction);
        if (time <= until) *next = choose_in_tree(gas, 0, time, slot);
        return true;
    }
    carom_gas_calendar *calendar = &gas->calendar;
    for (;;) {
        while (calendar->window_head < calendar->window_tail &&
               !carom_gas_queue_entry_alive(gas, calendar->window[calendar->window_head]))
            ++calendar->window_head;
        if (calendar->window_head < calendar->window_tail) {
            if (calendar->window[calendar->window_head].time <= until && refine_head(gas)) continue;
            break;
        }
        if (gas->count == 0 || calendar->base > until >> calendar->shift) return true;
        if (!carom_gas_calendar_load(gas, until)) return false;
    }
    if (gas->prefetch) {
        if (calendar->window_tail - calendar->window_head < LOOK_AHEAD &&
            !carom_gas_calendar_load(gas, until))
            return false;
        look_ahead(gas);
    }
    const carom_gas_queue_entry *entry = &calendar->window[calendar->window_head];
    if (entry->time > until) return true;
    uint32_t best = entry->slot;
    uint64_t place = calendar->window_head;
    for (uint64_t i = place + 1;
         i < calendar->window_tail && calendar->window[i].time == entry->time; ++i) {
        if (!carom_gas_queue_entry_alive(gas, calendar->window[i])) continue;
        uint32_t chosen = choose(gas, best, calendar->window[i].slot);
        if (chosen != best) place = i;
        best = chosen;
    }
    /* The entry is removed, so that none is left if the sphere is due at this tick again. */
    calendar->window[place] = *entry;
    ++calendar->window_head;
    *next = best;
    return true;
}

#endif
