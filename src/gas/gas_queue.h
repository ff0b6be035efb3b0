/* SPDX-License-Identifier: MIT */
/* gas_queue.h: insertion into the event queue; inlined into the loops that predict. The design is
 * described in gas_queue.c. */
#ifndef CAROM_SRC_GAS_GAS_QUEUE_H
#define CAROM_SRC_GAS_GAS_QUEUE_H

#include "gas/gas_windows.h"

/* Upper bound of the entries one step may add: two spheres, their followers and those pending are
 * twelve; twice as many are reserved. */
#define CAROM_GAS_STEP_ENTRIES 24

/* Stale entries are removed when there are more entries than this: a sphere has one entry, and two
 * to three stale ones, so a removal pays for itself. */
#define CAROM_GAS_ENTRIES_PER_SPHERE 4
#define CAROM_GAS_QUEUE_SPARE        1024

/* Current entries of a bucket of the calendar: 4 to 16 are as fast, and 16 take least memory. */
#define CAROM_GAS_BUCKET_TARGET 16

/* Moves the next nonempty bucket into the window, up to tick `until`. False when there is no
 * memory; nothing has changed then. */
bool carom_gas_calendar_load(carom_gas *gas, int64_t until);

static inline void carom_gas_calendar_push(carom_gas_calendar *calendar, uint64_t bucket,
                                           uint32_t slot) {
    uint32_t head = calendar->heads[bucket];
    if (head == CAROM_GAS_EMPTY || calendar->chunks[head].count == CAROM_GAS_CHUNK_SLOTS) {
        uint32_t fresh = calendar->free_chunk;
        carom_gas_chunk *chunk = &calendar->chunks[fresh];
        calendar->free_chunk = chunk->next;
        --calendar->free_count;
        chunk->next = head;
        chunk->count = 0;
        calendar->heads[bucket] = head = fresh;
    }
    carom_gas_chunk *chunk = &calendar->chunks[head];
    chunk->slot[chunk->count++] = slot;
    ++calendar->entries;
}

static inline void carom_gas_window_insert(carom_gas_calendar *calendar, int64_t time,
                                           uint32_t slot) {
    carom_gas_queue_entry *window = calendar->window;
    uint64_t at = calendar->window_tail++;
    for (; at > calendar->window_head && window[at - 1].time > time; --at)
        window[at] = window[at - 1];
    window[at].time = time;
    window[at].slot = slot;
}

/* Heap order: parents are due no later than their children. Ties are broken by slot, so the shape
 * of the heap does not depend on history. */
static inline bool carom_gas_tree_before(const carom_gas *gas, uint32_t a, uint32_t b) {
    int64_t ta = carom_gas_due(&gas->records[a].prediction),
            tb = carom_gas_due(&gas->records[b].prediction);
    return ta != tb ? ta < tb : a < b;
}

static inline void carom_gas_tree_update(carom_gas *gas, uint32_t slot) {
    uint32_t *heap = gas->tree.heap, *heap_index = gas->tree.heap_index;
    uint64_t count = gas->tree.count, at = heap_index[slot];
    while (at > 0 && carom_gas_tree_before(gas, slot, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        heap_index[heap[at]] = (uint32_t)at;
        at = (at - 1) / 2;
    }
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && carom_gas_tree_before(gas, heap[child + 1], heap[child])) ++child;
        if (!carom_gas_tree_before(gas, heap[child], slot)) break;
        heap[at] = heap[child];
        heap_index[heap[at]] = (uint32_t)at;
        at = child;
    }
    heap[at] = slot;
    heap_index[slot] = (uint32_t)at;
}

/* The bucket of a time after the window, or the overflow. */
static inline uint64_t carom_gas_calendar_bucket(const carom_gas_calendar *calendar, int64_t time) {
    int64_t bucket = time >> calendar->shift;
    bool near = bucket - calendar->base < (int64_t)calendar->buckets;
    return near ? (uint64_t)bucket & (calendar->buckets - 1) : calendar->buckets;
}

/* Moves the pending slot with index `at` to its bucket. */
static inline void carom_gas_calendar_commit(carom_gas *gas, uint32_t at) {
    carom_gas_calendar *calendar = &gas->calendar;
    uint32_t slot = calendar->pending[at];
    if (slot == CAROM_GAS_NO_SLOT) return;
    calendar->pending[at] = CAROM_GAS_NO_SLOT;
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    if (prediction->current) return;
    carom_gas_calendar_push(calendar,
                            carom_gas_calendar_bucket(calendar, carom_gas_due(prediction)), slot);
}

static inline void carom_gas_calendar_put(carom_gas *gas, uint32_t slot) {
    carom_gas_calendar *calendar = &gas->calendar;
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    int64_t time = carom_gas_due(prediction);
    if (time >> calendar->shift < calendar->base) {
        prediction->current = 1;
        carom_gas_window_insert(calendar, time, slot);
        return;
    }
    prediction->current = 0;
    if (calendar->heads == NULL) { /* a part that ends with its window */
        carom_gas_part_push(gas, &gas->part->done, slot);
        return;
    }
    if (!gas->prefetch) {
        carom_gas_calendar_push(calendar, carom_gas_calendar_bucket(calendar, time), slot);
        return;
    }
    __builtin_prefetch(&calendar->heads[carom_gas_calendar_bucket(calendar, time)], 1);
    uint32_t at = calendar->pending_at++ % CAROM_GAS_PENDING,
             half = calendar->pending[(at + CAROM_GAS_PENDING / 2) % CAROM_GAS_PENDING];
    if (half != CAROM_GAS_NO_SLOT) {
        int64_t due = carom_gas_due(&gas->records[half].prediction);
        uint32_t head = calendar->heads[carom_gas_calendar_bucket(calendar, due)];
        if (head != CAROM_GAS_EMPTY) __builtin_prefetch(&calendar->chunks[head].count, 1);
    }
    carom_gas_calendar_commit(gas, at);
    calendar->pending[at] = slot;
}

/* Enters a sphere whose prediction has changed, and its follower, which relied on that prediction.
 * Earlier entries of the sphere become stale. In large gases the cache lines of the bucket are
 * prefetched, and written some spheres later. */
static inline void carom_gas_queue_put(carom_gas *gas, uint32_t slot) {
    if (gas->def.queue == CAROM_GAS_QUEUE_TREE) {
        carom_gas_tree_update(gas, slot);
        return;
    }
    uint32_t follower = gas->records[slot].follower;
    if (follower != CAROM_GAS_NO_SLOT) {
        gas->records[slot].follower = CAROM_GAS_NO_SLOT;
        carom_gas_calendar_put(gas, follower);
    }
    carom_gas_calendar_put(gas, slot);
}

/* Spheres that have entries in the calendar. */
static inline uint64_t carom_gas_queue_spheres(const carom_gas *gas) {
    return gas->part != NULL ? gas->part->spheres : gas->count;
}

/* Reserves capacity for one step; false when there is no memory. */
static inline bool carom_gas_queue_room(carom_gas *gas) {
    const carom_gas_calendar *calendar = &gas->calendar;
    if (calendar->entries <=
            CAROM_GAS_ENTRIES_PER_SPHERE * carom_gas_queue_spheres(gas) + CAROM_GAS_QUEUE_SPARE &&
        calendar->free_count >= CAROM_GAS_STEP_ENTRIES &&
        calendar->window_capacity - calendar->window_tail >= CAROM_GAS_STEP_ENTRIES)
        return true;
    return gas->def.queue == CAROM_GAS_QUEUE_TREE || carom_gas_calendar_reserve(gas);
}

/* True unless the entry of the window is stale. */
static inline bool carom_gas_queue_entry_alive(const carom_gas *gas, carom_gas_queue_entry entry) {
    if (!carom_gas_owns(gas, entry.slot)) return false;
    const carom_gas_prediction *prediction = &gas->records[entry.slot].prediction;
    return prediction->current && carom_gas_due(prediction) == entry.time;
}

#endif
