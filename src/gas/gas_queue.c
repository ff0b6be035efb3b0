/* SPDX-License-Identifier: MIT */
/* The event queue: a calendar queue (after Paul 2007) or a binary heap.
 *
 * The calendar has a ring of buckets of equal width in time, an overflow list for times beyond one
 * revolution of the ring, and a window. The window holds the sorted events of the buckets already
 * reached. Inserting a sphere appends its slot to one bucket and does nothing else; entries leave a
 * bucket only when the bucket is reached. Invariant: an entry is stale when its sphere is now due
 * in another bucket or is already in the window. Stale entries are removed when there are more than
 * four entries per sphere. Compared with linked lists this touches one cache line instead of four,
 * and at a million spheres each line is a miss. */
#include "gas/gas_queue.h"

#include <string.h>

#include "base/array.h"

#define FEWEST_BUCKETS 64 /* their width is checked every half revolution, some 250 events */
#define GAS_QUEUE_SPHERES_PER_BUCKET                                                               \
    8 /* spheres per bucket of the ring, at most; more than half as many */
#define GAS_QUEUE_BUCKET_TOLERANCE                                                                 \
    4 /* factor by which buckets may be fuller or emptier than the target */
#define GAS_QUEUE_MOST_SHIFT 56 /* 64 buckets of 2^56 ticks are more than the horizon */
/* Times to an event: their median is known to 1.6 % of the ranks. */
#define MOST_SAMPLES  1023
#define WINDOW_SPARE  64 /* entries: more than a step adds */
#define SPARE_CHUNKS  64 /* so that chunks are reserved once in many steps */
#define REFILL_CHUNKS 80 /* that a refill leaves free, for the steps after it */
#define MOST_REFILL   96 /* the same where each sphere has a chunk of its own */
#define CHUNK_STEP    32 /* of the chunks so far, are linked at once, and one more */
#define MOST_DEALT    64 /* entries sorted by distribution first: 1 KiB on the stack */
#define DEALT_BITS    4  /* of the time by which they are distributed */

/* ---- Allocation ------------------------------------------------------------------------------ */

/* Chunks that are free are linked, so the first use of one touches its memory. Only some more than
 * needed are linked at a time: what is never touched takes no memory. */
static bool reserve_chunks(carom_gas *gas, uint64_t free_needed) {
    carom_gas_calendar *calendar = &gas->calendar;
    if (calendar->free_count >= free_needed) return true;
    uint64_t needed = calendar->chunk_count + (free_needed - calendar->free_count);
    if (needed > calendar->chunk_capacity) {
        void *chunks =
            carom_array_grow(&gas->allocator, calendar->chunks, calendar->chunk_count, needed,
                             sizeof(*calendar->chunks), &calendar->chunk_capacity);
        if (chunks == NULL) return false;
        calendar->chunks = chunks;
    }
    uint64_t linked = CAROM_MIN(needed + needed / CHUNK_STEP, calendar->chunk_capacity);
    for (; calendar->chunk_count < linked; ++calendar->chunk_count) {
        calendar->chunks[calendar->chunk_count].next = calendar->free_chunk;
        calendar->free_chunk = (uint32_t)calendar->chunk_count;
        ++calendar->free_count;
    }
    return true;
}

/* Removes stale entries from the window, moves the rest to its front, then grows it if
 * necessary. */
static bool reserve_window(carom_gas *gas, uint64_t more) {
    carom_gas_calendar *calendar = &gas->calendar;
    if (calendar->window_capacity - calendar->window_tail >= more) return true;
    uint64_t kept = 0;
    for (uint64_t i = calendar->window_head; i < calendar->window_tail; ++i)
        if (carom_gas_queue_entry_alive(gas, calendar->window[i]))
            calendar->window[kept++] = calendar->window[i];
    calendar->looked = 0;
    calendar->window_head = 0;
    calendar->window_tail = kept;
    CAROM_ASSERT(kept <= calendar->window_capacity);
    if (calendar->window_capacity - kept >= more) return true;
    void *window = carom_array_grow(&gas->allocator, calendar->window, kept, kept + more,
                                    sizeof(*calendar->window), &calendar->window_capacity);
    if (window == NULL) return false;
    calendar->window = window;
    return true;
}

bool carom_gas_calendar_reserve(carom_gas *gas) {
    if (gas->calendar.entries >
        CAROM_GAS_ENTRIES_PER_SPHERE * carom_gas_queue_spheres(gas) + CAROM_GAS_QUEUE_SPARE)
        return carom_gas_calendar_refill(gas);
    return reserve_chunks(gas, CAROM_GAS_STEP_ENTRIES + SPARE_CHUNKS) &&
           reserve_window(gas, WINDOW_SPARE);
}

/* ---- Loading buckets into the window --------------------------------------------------------- */

static void gas_queue_sift_down(carom_gas_queue_entry *entries, uint64_t at, uint64_t count) {
    carom_gas_queue_entry moved = entries[at];
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && entries[child].time < entries[child + 1].time) ++child;
        if (entries[child].time <= moved.time) break;
        entries[at] = entries[child];
    }
    entries[at] = moved;
}

/* Insertion sort, for entries that are almost sorted. */
static void insert_entries(carom_gas_queue_entry *entries, uint64_t count) {
    for (uint64_t i = 1; i < count; ++i) {
        carom_gas_queue_entry moved = entries[i];
        uint64_t at = i;
        for (; at > 0 && entries[at - 1].time > moved.time; --at) entries[at] = entries[at - 1];
        entries[at] = moved;
    }
}

/* Sorts the entries of one bucket, whose times differ only in the lowest `bits`. They are first
 * distributed by the highest DEALT_BITS of these. Their order is random, so insertion alone would
 * mispredict its branches. */
static void sort_bucket(carom_gas_queue_entry *entries, uint64_t count, int bits) {
    carom_gas_queue_entry dealt[MOST_DEALT];
    uint32_t start[1 << DEALT_BITS] = {0}, sum = 0;
    const int64_t mask = (1 << DEALT_BITS) - 1;
    int shift = bits > DEALT_BITS ? bits - DEALT_BITS : 0;
    for (uint64_t i = 0; i < count; ++i) ++start[entries[i].time >> shift & mask];
    for (int k = 0; k < 1 << DEALT_BITS; ++k) {
        uint32_t here = start[k];
        start[k] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < count; ++i)
        dealt[start[entries[i].time >> shift & mask]++] = entries[i];
    CAROM_ASSERT(sum == count && count <= MOST_DEALT);
    insert_entries(dealt, count);
    memcpy(entries, dealt, count * sizeof(*entries));
}

void carom_gas_queue_sort(carom_gas_queue_entry *entries, uint64_t count) {
    if (count <= MOST_DEALT) {
        insert_entries(entries, count);
        return;
    }
    for (uint64_t i = count / 2; i-- > 0;) gas_queue_sift_down(entries, i, count);
    for (uint64_t last = count; --last > 0;) {
        carom_gas_queue_entry top = entries[0];
        entries[0] = entries[last];
        entries[last] = top;
        gas_queue_sift_down(entries, 0, last);
    }
}

static void free_chunk(carom_gas_calendar *calendar, uint32_t index) {
    CAROM_ASSERT(index < calendar->chunk_count);
    CAROM_ASSERT(calendar->entries >= calendar->chunks[index].count);
    calendar->entries -= calendar->chunks[index].count;
    calendar->chunks[index].next = calendar->free_chunk;
    calendar->free_chunk = index;
    ++calendar->free_count;
}

/* Moves the entries that are now within one revolution from the overflow into the ring. Entries
 * that are certainly stale are dropped; duplicates are harmless. */
static bool look_at_overflow(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    uint32_t index = calendar->heads[calendar->buckets];
    calendar->heads[calendar->buckets] = CAROM_GAS_EMPTY;
    while (index != CAROM_GAS_EMPTY) {
        if (!reserve_chunks(gas, CAROM_GAS_CHUNK_SLOTS + 1)) {
            uint32_t last = index; /* put the rest back */
            while (calendar->chunks[last].next != CAROM_GAS_EMPTY)
                last = calendar->chunks[last].next;
            calendar->chunks[last].next = calendar->heads[calendar->buckets];
            calendar->heads[calendar->buckets] = index;
            return false;
        }
        carom_gas_chunk chunk = calendar->chunks[index];
        free_chunk(calendar, index);
        for (uint32_t i = 0; i < chunk.count; ++i) {
            if (!carom_gas_owns(gas, chunk.slot[i])) continue;
            int64_t bucket =
                carom_gas_due(&gas->records[chunk.slot[i]].prediction) >> calendar->shift;
            if (bucket < calendar->base) continue;
            carom_gas_calendar_push(
                calendar,
                carom_gas_calendar_bucket(calendar,
                                          carom_gas_due(&gas->records[chunk.slot[i]].prediction)),
                chunk.slot[i]);
        }
        index = chunk.next;
    }
    return true;
}

/* Whoever waits for a calendar of all spheres; nobody during a run. */
typedef struct calendar_watch {
    carom_context *context; /* or NULL */
    uint32_t worker;
} calendar_watch;

static bool refill_from(carom_gas *gas, int64_t from, calendar_watch watch);

/* Called after half a revolution: checks the bucket width and examines the overflow. A refill goes
 * on from here, not from now: in a part the clock stands still while spheres are kept, and the next
 * event may be just beyond half a revolution. The same buckets would be passed for ever. */
static bool turn_half(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    CAROM_ASSERT((uint64_t)calendar->base >= calendar->loaded_from);
    uint64_t passed = (uint64_t)calendar->base - calendar->loaded_from;
    uint64_t target = CAROM_GAS_BUCKET_TARGET * passed;
    bool overfull = calendar->loaded > GAS_QUEUE_BUCKET_TOLERANCE * target;
    bool empty = calendar->loaded * GAS_QUEUE_BUCKET_TOLERANCE < target;
    calendar->loaded = 0;
    calendar->loaded_from = (uint64_t)calendar->base;
    if (overfull || empty)
        return refill_from(gas, CAROM_MAX(gas->now, calendar->base << calendar->shift),
                           (calendar_watch){NULL, 0});
    if (!look_at_overflow(gas)) return false;
    calendar->next_look = calendar->base + calendar->buckets / 2;
    return true;
}

/* A region may hold few spheres, or none, and its buckets be far narrower than the time to go. */
static void skip_buckets(carom_gas_calendar *calendar, int64_t base) {
    calendar->base = base;
    calendar->next_look = base + calendar->buckets / 2;
    calendar->loaded = 0;
    calendar->loaded_from = (uint64_t)base;
}

bool carom_gas_calendar_load(carom_gas *gas, int64_t until) {
    carom_gas_calendar *calendar = &gas->calendar;
    for (;;) {
        for (uint32_t i = 0; i < CAROM_GAS_PENDING; ++i) carom_gas_calendar_commit(gas, i);
        int64_t last = until >> calendar->shift;
        if (gas->part != NULL && calendar->entries == 0 && calendar->base <= last)
            skip_buckets(calendar, last + 1);
        for (;; ++calendar->base) {
            if (calendar->base >= calendar->next_look) break;
            if (calendar->base > last) return true;
            if (calendar->heads[calendar->base & (calendar->buckets - 1)] != CAROM_GAS_EMPTY) break;
        }
        if (calendar->base < calendar->next_look) break;
        if (!turn_half(gas)) return false;
        if (calendar->window_head < calendar->window_tail) return true; /* after a refill */
    }
    uint32_t *head = &calendar->heads[calendar->base & (calendar->buckets - 1)];
    uint64_t entries = 0;
    for (uint32_t i = *head; i != CAROM_GAS_EMPTY; i = calendar->chunks[i].next)
        entries += calendar->chunks[i].count;
    if (!reserve_window(gas, entries + WINDOW_SPARE)) return false;

    carom_gas_queue_entry *window = calendar->window;
    uint64_t first = calendar->window_tail, tail = first;
    for (uint32_t i = *head; i != CAROM_GAS_EMPTY;) {
        const carom_gas_chunk *chunk = &calendar->chunks[i];
        for (uint32_t k = 0; k < chunk->count; ++k) {
            if (!carom_gas_owns(gas, chunk->slot[k])) continue;
            carom_gas_prediction *prediction = &gas->records[chunk->slot[k]].prediction;
            int64_t time = carom_gas_due(prediction);
            if (prediction->current || time >> calendar->shift != calendar->base) continue;
            prediction->current = 1;
            window[tail].time = time;
            window[tail++].slot = chunk->slot[k];
        }
        uint32_t next = chunk->next;
        free_chunk(calendar, i);
        i = next;
    }
    *head = CAROM_GAS_EMPTY;
    ++calendar->base;
    CAROM_ASSERT(tail - first <= entries && tail <= calendar->window_capacity);
    calendar->window_tail = tail;
    calendar->loaded += tail - first;
    if (tail - first <= MOST_DEALT)
        sort_bucket(window + first, tail - first, calendar->shift);
    else
        carom_gas_queue_sort(window + first, tail - first);

    /* Prefetch for the next buckets. */
    uint64_t mask = calendar->buckets - 1;
    uint32_t soon = calendar->heads[calendar->base & mask];
    uint32_t later = calendar->heads[(calendar->base + 1) & mask];
    for (int i = 0; i < 2 && soon != CAROM_GAS_EMPTY; ++i, soon = calendar->chunks[soon].next) {
        const carom_gas_chunk *chunk = &calendar->chunks[soon];
        for (uint32_t k = 0; k < chunk->count; ++k) {
            __builtin_prefetch(&gas->records[chunk->slot[k]]);
            if (gas->part == NULL || gas->part->region == NULL) continue;
            __builtin_prefetch(&gas->part->region[chunk->slot[k]]);
            __builtin_prefetch(&gas->part->windows->held[chunk->slot[k]]);
        }
    }
    if (later != CAROM_GAS_EMPTY) {
        uint32_t next = calendar->chunks[later].next;
        if (next != CAROM_GAS_EMPTY) __builtin_prefetch(&calendar->chunks[next]);
    }
    uint32_t last = calendar->heads[(calendar->base + 2) & mask];
    if (last != CAROM_GAS_EMPTY) __builtin_prefetch(&calendar->chunks[last]);
    return true;
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* Times from tick `from` to the events of every `step`-th sphere that is due later. */
static uint64_t sample_times(const carom_gas *gas, int64_t from, uint64_t step,
                             carom_gas_queue_entry *samples) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < gas->count && count < MOST_SAMPLES; i += step) {
        if (!carom_gas_files(gas, (uint32_t)i)) continue;
        int64_t delay = carom_gas_due(&gas->records[i].prediction) - from;
        if (delay >= 0) samples[count++].time = delay;
    }
    return count;
}

/* Chooses the bucket width from the median time to a sphere's event. */
static void choose_width(carom_gas *gas, int64_t from) {
    carom_gas_calendar *calendar = &gas->calendar;
    carom_gas_queue_entry samples[MOST_SAMPLES];
    uint64_t step = gas->count / MOST_SAMPLES + 1, count = sample_times(gas, from, step, samples);
    if (count == 0 && gas->part != NULL) count = sample_times(gas, from, 1, samples);
    carom_gas_queue_sort(samples, count);
    int64_t median = count != 0 ? samples[count / 2].time : 1;
    if (median > CAROM_GAS_HORIZON) median = CAROM_GAS_HORIZON;
    double width =
        (double)median * 2.0 * CAROM_GAS_BUCKET_TARGET / (double)(carom_gas_queue_spheres(gas) + 1);
    int shift = 0;
    CAROM_ASSERT(median >= 0);
    while (shift < GAS_QUEUE_MOST_SHIFT && (double)(INT64_C(2) << shift) <= width) ++shift;
    calendar->shift = shift;
}

/* Chunks that hold so many entries of each of so many spheres, and those of the steps after. */
static uint64_t most_chunks(const carom_gas_calendar *calendar, uint64_t entries,
                            uint64_t spheres) {
    uint64_t full = entries * spheres / CAROM_GAS_CHUNK_SLOTS + 1 + calendar->buckets + 1;
    return CAROM_MIN(full + REFILL_CHUNKS, entries * spheres + MOST_REFILL);
}

#define GAS_QUEUE_SPHERES_PER_LOOK 4096 /* of a calendar that is filled: some 0.3 ms */

static bool is_stopped(calendar_watch watch, uint64_t i) {
    return i % GAS_QUEUE_SPHERES_PER_LOOK == 0 && watch.context != NULL &&
           carom_progress_stop(watch.context, watch.worker);
}

/* Makes at least `most` chunks, some at a time: their memory is touched for the first time. */
static bool reserve_all_chunks(carom_gas *gas, uint64_t most, calendar_watch watch) {
    carom_gas_calendar *calendar = &gas->calendar;
    while (calendar->chunk_count < most) {
        uint64_t more = CAROM_MIN(most - calendar->chunk_count, GAS_QUEUE_SPHERES_PER_LOOK);
        if (is_stopped(watch, 0) || !reserve_chunks(gas, calendar->free_count + more)) return false;
    }
    return true;
}

/* Enters all spheres again: in the window those that are due before tick `from`, where the buckets
 * begin. What a part has kept has no entry. A follower that another part files stays one. */
static bool refill_from(carom_gas *gas, int64_t from, calendar_watch watch) {
    carom_gas_calendar *calendar = &gas->calendar;
    uint64_t spheres = 0, early = 0;
    for (uint64_t i = 0; i < gas->count; ++i) {
        if (is_stopped(watch, i)) return false;
        if (!carom_gas_files(gas, (uint32_t)i)) continue;
        ++spheres;
        early += carom_gas_due(&gas->records[i].prediction) < from;
    }
    if (!reserve_all_chunks(gas, most_chunks(calendar, 1, spheres), watch)) return false;
    if (!reserve_window(gas, early + WINDOW_SPARE)) return false;
    choose_width(gas, from);
    calendar->free_chunk = CAROM_GAS_EMPTY;
    calendar->free_count = 0;
    for (uint64_t i = calendar->chunk_count; i-- > 0;) {
        if (is_stopped(watch, i)) return false;
        calendar->chunks[i].next = calendar->free_chunk;
        calendar->free_chunk = (uint32_t)i;
        ++calendar->free_count;
    }
    memset(calendar->heads, 0xFF, (calendar->buckets + 1) * sizeof(*calendar->heads));
    calendar->window_head = calendar->window_tail = 0;
    calendar->looked = 0;
    memset(calendar->pending, 0xFF, sizeof(calendar->pending));
    calendar->entries = 0;
    calendar->base = from >> calendar->shift;
    calendar->next_look = calendar->base + calendar->buckets / 2;
    calendar->loaded = 0;
    calendar->loaded_from = (uint64_t)calendar->base;
    for (uint64_t i = 0; i < gas->count; ++i) {
        if (is_stopped(watch, i)) return false;
        if (!carom_gas_owns(gas, (uint32_t)i)) continue;
        uint32_t *follower = &gas->records[i].follower;
        if (*follower != CAROM_GAS_NO_SLOT && carom_gas_owns(gas, *follower))
            *follower = CAROM_GAS_NO_SLOT;
        if (carom_gas_files(gas, (uint32_t)i)) carom_gas_calendar_put(gas, (uint32_t)i);
    }
    return true;
}

bool carom_gas_calendar_refill(carom_gas *gas) {
    return refill_from(gas, gas->now, (calendar_watch){NULL, 0});
}

bool carom_gas_calendar_create(carom_context *context, uint32_t worker, carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    const uint64_t spheres = carom_gas_queue_spheres(gas);
    uint32_t buckets = FEWEST_BUCKETS;
    while (buckets < spheres / GAS_QUEUE_SPHERES_PER_BUCKET) buckets *= 2;
    CAROM_ASSERT((buckets & (buckets - 1)) == 0);
    *calendar = (carom_gas_calendar){.free_chunk = CAROM_GAS_EMPTY, .buckets = buckets};
    /* Addresses for as many chunks as are ever needed but for chance: growing would copy them. */
    uint64_t most = most_chunks(calendar, CAROM_GAS_ENTRIES_PER_SPHERE, spheres);
    calendar->chunks = carom_array_grow(&gas->allocator, NULL, 0, most, sizeof(*calendar->chunks),
                                        &calendar->chunk_capacity);
    calendar->heads = carom_allocate(&gas->allocator, buckets + 1, sizeof(*calendar->heads));
    return calendar->heads != NULL && calendar->chunks != NULL &&
           reserve_window(gas, 4 * WINDOW_SPARE) &&
           refill_from(gas, gas->now, (calendar_watch){context, worker});
}

static carom_status create_tree(carom_context *context, carom_gas *gas) {
    carom_gas_tree *tree = &gas->tree;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(tree->heap, gas->count),
                                       CAROM_ALLOCATION(tree->heap_index, gas->count)};
    if (!carom_allocate_all(&gas->allocator, arrays, 2))
        return carom_fail_memory(context, gas->count * 8, "the tree of events");
    tree->count = 0;
    for (uint64_t i = 0; i < gas->count; ++i) {
        tree->heap_index[i] = (uint32_t)i;
        ++tree->count;
        carom_gas_tree_update(gas, (uint32_t)i);
    }
    return CAROM_OK;
}

/* All spheres must be predicted. */
carom_status carom_gas_queue_create(carom_context *context, carom_gas *gas) {
    carom_gas_queue_release(gas);
    if (gas->def.queue == CAROM_GAS_QUEUE_TREE) return create_tree(context, gas);
    if (carom_gas_calendar_create(context, 0, gas)) return CAROM_OK;
    carom_gas_queue_release(gas);
    CAROM_TRY(carom_progress_look(context));
    return carom_fail_memory(context, gas->count * 32, "the calendar of events");
}

void carom_gas_queue_release(carom_gas *gas) {
    CAROM_RELEASE_ALL(&gas->allocator, gas->calendar.chunks, gas->calendar.heads,
                      gas->calendar.window, gas->tree.heap, gas->tree.heap_index);
    gas->calendar = (carom_gas_calendar){0};
    gas->tree = (carom_gas_tree){0};
}
