/* SPDX-License-Identifier: MIT */
/* Stable radix sort that reads and writes main memory twice.
 *
 * First, one pass on all threads scatters the items by their highest differing digit into buckets:
 * count per part, scan, fill. Then each bucket is sorted by its lower bits, low digit first, in the
 * second-level cache of one thread, and written to its final position. A low-digit-first sort of
 * the whole array would move everything through memory once per digit.
 *
 * Buckets too large for the cache (skewed keys, very many items) are split again by the same
 * function. Each split consumes the bits of its digit, so the recursion ends: equal keys have no
 * bits left.
 *
 * Invariant: the sort is stable, so the result is unique and does not depend on threads or on the
 * size of digits. */
#include "base/sort.h"

#include <string.h>

#include "base/context.h"
#include "base/item.h"
#include "base/sort_cpu.h"

/* A bucket should hold about this many words after a split: 32 KiB. */
#define GOOD_BUCKET 4096
/* Output past this many words does not stay in the caches and is streamed. */
#define STREAM_FROM      ((uint64_t)1 << 20)
#define PARTS_PER_THREAD 4u
/* Parts smaller than this are not worth a thread. */
#define SORT_LEAST_PART_ITEMS ((uint64_t)1 << 15)
/* Nor larger than this: some ten milliseconds, so that cancellation is checked often enough. */
#define SORT_MOST_PART_ITEMS ((uint64_t)1 << 20)

typedef struct sort_split {
    carom_context *context;
    carom_sort_items items;     /* all of them; this split works on [begin, begin + count) */
    uint64_t *from;             /* the words to split, or NULL: `items` themselves */
    uint64_t *to;               /* receives the buckets; NULL: taken from the scratch */
    uint64_t begin, count;      /* index in items */
    uint32_t first_bit;         /* lowest bit that counts */
    uint32_t shift, digit_bits; /* the digit of this split */
    uint64_t part;              /* items per part */
    uint64_t *tables;           /* per part: offset of each digit */
    uint64_t *starts;           /* of each bucket, and the end */
} sort_split;

static carom_status split_words(carom_context *context, sort_split *s, uint32_t bits);

static carom_sort_items split_source(const sort_split *split) {
    if (split->from != NULL) return (carom_sort_items){.words = split->from};
    carom_sort_items items = split->items;
    if (items.words != NULL) items.words += split->begin;
    if (items.keys != NULL) items.keys += split->begin;
    if (items.payload != NULL) items.payload += split->begin;
    return items;
}

static carom_status count_part(void *argument, carom_range range) {
    sort_split *s = argument;
    uint64_t *counts = s->tables + (range.begin / s->part << s->digit_bits);
    CAROM_ASSERT(range.begin % s->part == 0 && range.end <= s->count);
    memset(counts, 0, sizeof(*counts) << s->digit_bits);
    CAROM_CPU_CALL(s->context, carom_sort_count)
    (split_source(s), range.begin, range.end, s->shift, s->digit_bits, counts);
    return CAROM_OK;
}

/* Digit by digit, part by part: this order makes the sort stable. */
static void sort_offsets_from_counts(sort_split *s) {
    uint64_t digits = UINT64_C(1) << s->digit_bits, parts = (s->count - 1) / s->part + 1, sum = 0;
    for (uint64_t digit = 0; digit < digits; ++digit) {
        s->starts[digit] = sum;
        for (uint64_t part = 0; part < parts; ++part) {
            uint64_t *offsets = &s->tables[(part << s->digit_bits) + digit];
            uint64_t count = *offsets;
            *offsets = sum;
            sum += count;
        }
    }
    s->starts[digits] = sum;
    CAROM_ASSERT(sum == s->count); /* every item is in one bucket */
}

static carom_status scatter_part(void *argument, carom_range range) {
    sort_split *s = argument;
    carom_arena *scratch = carom_scratch(s->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t *lines = carom_arena_take(scratch, UINT64_C(1) << s->digit_bits, CAROM_ALIGNMENT);
    if (lines == NULL) return CAROM_NO_MEMORY;
    uint64_t *offsets = s->tables + (range.begin / s->part << s->digit_bits);
    CAROM_ASSERT(range.begin % s->part == 0 && range.end <= s->count);
    CAROM_CPU_CALL(s->context, carom_sort_scatter)
    (split_source(s), range.begin, range.end, s->shift, s->digit_bits, offsets, lines,
     s->count >= STREAM_FROM, s->to);
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static carom_status sort_buckets(void *argument, carom_range range) {
    sort_split *s = argument;
    carom_arena *scratch = carom_scratch(s->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t *spare = CAROM_ARENA_TAKE(scratch, uint64_t, CAROM_MIN(s->count, CAROM_SORT_BUCKET));
    if (spare == NULL) return CAROM_NO_MEMORY;
    for (uint64_t digit = range.begin; digit < range.end; ++digit) {
        CAROM_ASSERT(s->starts[digit] <= s->starts[digit + 1]);
        uint64_t start = s->starts[digit], count = s->starts[digit + 1] - start;
        if (count == 0 || count > CAROM_SORT_BUCKET) continue; /* large ones are split again */
        CAROM_CPU_CALL(s->context, carom_sort_bucket)
        (s->to + start, spare, count, s->first_bit, s->shift - s->first_bit, s->items,
         s->begin + start);
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* Copies words whose bits are all equal to their final position. */
static void put_words(const uint64_t *words, uint64_t count, carom_sort_items items,
                      uint64_t begin) {
    if (items.words != NULL) {
        memcpy(items.words + begin, words, count * sizeof(*words));
        return;
    }
    for (uint64_t i = 0; i < count; ++i) {
        items.keys[begin + i] = (uint32_t)words[i];
        items.payload[begin + i] = (uint32_t)(words[i] >> 32);
    }
}

typedef struct difference_search {
    carom_context *context;
    carom_sort_items items;
    _Atomic uint64_t differences;
} difference_search;

static carom_status find_differences(void *argument, carom_range range) {
    difference_search *search = argument;
    uint64_t found = CAROM_CPU_CALL(search->context,
                                    carom_sort_differences)(search->items, range.begin, range.end);
    atomic_fetch_or(&search->differences, found);
    return CAROM_OK;
}

/* One more than the highest bit of [first_bit, first_bit + bits) in which the items differ, or
 * first_bit when they are all equal there. */
static carom_status highest_difference(sort_split *s, uint32_t bits, uint32_t *end_bit) {
    difference_search search = {.context = s->context, .items = split_source(s)};
    CAROM_TRY(carom_parallel_for(s->context, s->count, s->part, find_differences, &search));
    uint32_t end = s->first_bit + bits;
    uint64_t mask = end == 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    uint64_t differences = (atomic_load(&search.differences) & mask) >> s->first_bit;
    uint32_t differing = differences == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(differences);
    *end_bit = s->first_bit + differing;
    CAROM_ASSERT(*end_bit <= end);
    return CAROM_OK;
}

static uint32_t choose_digit_bits(uint64_t count, uint32_t bits) {
    uint32_t wanted = 1;
    while (wanted < CAROM_SORT_DIGIT_BITS && count >> wanted > GOOD_BUCKET) ++wanted;
    return CAROM_MIN(wanted, bits);
}

static carom_status split_again(sort_split *s) {
    uint64_t digits = UINT64_C(1) << s->digit_bits;
    for (uint64_t digit = 0; digit < digits; ++digit) {
        uint64_t start = s->starts[digit], count = s->starts[digit + 1] - start;
        if (count <= CAROM_SORT_BUCKET) continue;
        sort_split part = {.context = s->context,
                           .items = s->items,
                           .from = s->to + start,
                           .to =
                               s->from != NULL ? s->from + start : NULL, /* already read, so free to
                                                                         use */
                           .begin = s->begin + start,
                           .count = count,
                           .first_bit = s->first_bit};
        CAROM_ASSERT(part.begin >= s->begin && part.begin + count <= s->begin + s->count);
        CAROM_ASSERT(part.to != part.from);
        CAROM_TRY(split_words(s->context, &part, s->shift - s->first_bit));
    }
    return CAROM_OK;
}

/* Items that are not split: twice 256 KiB. */
#define UNSPLIT_ITEMS 32768u

static carom_status sort_few(sort_split *s, carom_arena *scratch, uint32_t bits) {
    uint64_t *words = CAROM_ARENA_TAKE(scratch, uint64_t, s->count);
    uint64_t *spare = CAROM_ARENA_TAKE(scratch, uint64_t, s->count);
    if (words == NULL || spare == NULL)
        return carom_fail_memory(s->context, s->count * sizeof(uint64_t), "sorting");
    carom_sort_items items = split_source(s);
    for (uint64_t i = 0; i < s->count; ++i)
        words[i] =
            items.words != NULL ? items.words[i] : (uint64_t)items.payload[i] << 32 | items.keys[i];
    CAROM_CPU_CALL(s->context, carom_sort_bucket)
    (words, spare, s->count, s->first_bit, bits, s->items, s->begin);
    return CAROM_OK;
}

static carom_status split_and_sort(sort_split *s, carom_arena *scratch, uint32_t bits) {
    if (s->count <= UNSPLIT_ITEMS) return sort_few(s, scratch, bits);
    uint32_t end_bit;
    CAROM_TRY(highest_difference(s, bits, &end_bit));
    if (end_bit == s->first_bit) {
        if (s->from != NULL) put_words(s->from, s->count, s->items, s->begin);
        return CAROM_OK;
    }
    s->digit_bits = choose_digit_bits(s->count, end_bit - s->first_bit);
    s->shift = end_bit - s->digit_bits;
    CAROM_ASSERT(s->digit_bits >= 1 && s->digit_bits <= CAROM_SORT_DIGIT_BITS);
    CAROM_ASSERT(s->shift >= s->first_bit);
    uint64_t digits = UINT64_C(1) << s->digit_bits, parts = (s->count - 1) / s->part + 1;
    if (s->to == NULL) s->to = CAROM_ARENA_TAKE(scratch, uint64_t, s->count);
    s->tables = CAROM_ARENA_TAKE(scratch, uint64_t, parts * digits);
    s->starts = CAROM_ARENA_TAKE(scratch, uint64_t, digits + 1);
    if (s->to == NULL || s->tables == NULL || s->starts == NULL)
        return carom_fail_memory(s->context, s->count * sizeof(uint64_t), "sorting");
    CAROM_TRY(carom_parallel_for(s->context, s->count, s->part, count_part, s));
    sort_offsets_from_counts(s);
    CAROM_TRY(carom_parallel_for(s->context, s->count, s->part, scatter_part, s));
    /* Buckets differ in size, so that a range has few of them. */
    uint64_t grain = GOOD_BUCKET * digits / s->count;
    CAROM_TRY(carom_parallel_for(s->context, digits, grain, sort_buckets, s));
    return split_again(s);
}

/* Sorts items [begin, begin + count) by bits [first_bit, first_bit + bits). */
static carom_status split_words(carom_context *context, sort_split *s, uint32_t bits) {
    /* Several parts per thread, so that a delayed thread does not delay the others. */
    uint64_t parts = context->threads == 1 ? 1 : context->threads * PARTS_PER_THREAD;
    s->part = CAROM_MAX(s->count / parts + 1, SORT_LEAST_PART_ITEMS);
    s->part = CAROM_MIN(s->part, SORT_MOST_PART_ITEMS);
    CAROM_ASSERT(s->part >= 1);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = split_and_sort(s, scratch, bits);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_sort_keys(carom_context *context, uint32_t *keys, uint32_t *payload,
                             uint64_t count) {
    if (count < 2) return CAROM_OK;
    sort_split s = {.context = context, .items = {NULL, keys, payload}, .count = count};
    return split_words(context, &s, 32);
}

carom_status carom_sort_words(carom_context *context, uint64_t *words, uint64_t count,
                              uint32_t first_bit, uint32_t bits) {
    CAROM_REQUIRE(bits <= 64 && first_bit <= 64 - bits, "bits past the end of a word");
    if (count < 2 || bits == 0) return CAROM_OK;
    sort_split s = {
        .context = context, .items = {.words = words}, .count = count, .first_bit = first_bit};
    return split_words(context, &s, bits);
}
