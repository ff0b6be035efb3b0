/* SPDX-License-Identifier: MIT */
/* The loops of the radix sort (see sort.c for the algorithm). */
#include "base/sort_cpu.h"

#include <string.h>

#include "base/simd.h"

/* An insertion sort is faster than a digit pass on so few. */
#define INSERTION_ITEMS 24

#define WORDS_PER_LINE 8u

static inline uint64_t word_at(carom_sort_items items, uint64_t i) {
    if (items.words != NULL) return items.words[i];
    return (uint64_t)items.payload[i] << 32 | items.keys[i];
}

static inline void put_word(carom_sort_items items, uint64_t i, uint64_t word) {
    if (items.words != NULL) {
        items.words[i] = word;
    } else {
        items.keys[i] = (uint32_t)word;
        items.payload[i] = (uint32_t)(word >> 32);
    }
}

static inline uint64_t key_at(carom_sort_items items, uint64_t i) {
    return items.words != NULL ? items.words[i] : items.keys[i];
}

uint64_t CAROM_CPU(carom_sort_differences)(carom_sort_items items, uint64_t begin, uint64_t end) {
    uint64_t first = key_at(items, 0), differences = 0;
    if (items.words != NULL) {
        for (uint64_t i = begin; i < end; ++i) differences |= items.words[i] ^ first;
        return differences;
    }
    uint32_t first_key = (uint32_t)first, key_differences = 0;
    for (uint64_t i = begin; i < end; ++i) key_differences |= items.keys[i] ^ first_key;
    return key_differences;
}

void CAROM_CPU(carom_sort_count)(carom_sort_items items, uint64_t begin, uint64_t end,
                                 uint32_t shift, uint32_t bits, uint64_t *counts) {
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    if (items.words != NULL) {
        for (uint64_t i = begin; i < end; ++i) ++counts[items.words[i] >> shift & mask];
    } else {
        for (uint64_t i = begin; i < end; ++i) ++counts[items.keys[i] >> shift & mask];
    }
}

/* Words are collected in a cache line per digit and written eight at a time, so that memory
 * receives whole lines and the TLB few pages. Word p of `to` is in slot p mod 8 of its line. The
 * first line of a digit may start in the middle; the slots before it belong to others. */
static inline void flush_line(uint64_t *to, const uint64_t *line, uint64_t last, uint64_t first,
                              bool stream) {
    uint64_t start = last & ~(uint64_t)(WORDS_PER_LINE - 1);
    if (first > start) {
        for (uint64_t p = first; p <= last; ++p) to[p] = line[p & (WORDS_PER_LINE - 1)];
    } else if (stream) {
        carom_stream_line(to + start, line);
    } else {
        memcpy(to + start, line, WORDS_PER_LINE * sizeof(*to));
    }
}

static inline void scatter(carom_sort_items items, uint64_t begin, uint64_t end, uint32_t shift,
                           uint32_t bits, uint64_t *offsets, uint64_t *lines, bool stream,
                           uint64_t *to) {
    uint64_t first[CAROM_SORT_DIGITS];
    uint64_t digits = UINT64_C(1) << bits, mask = digits - 1;
    memcpy(first, offsets, digits * sizeof(*first));
    for (uint64_t i = begin; i < end; ++i) {
        uint64_t word = word_at(items, i);
        uint64_t digit = word >> shift & mask;
        uint64_t p = offsets[digit]++;
        uint64_t *line = lines + digit * WORDS_PER_LINE;
        line[p & (WORDS_PER_LINE - 1)] = word;
        if ((p & (WORDS_PER_LINE - 1)) == WORDS_PER_LINE - 1)
            flush_line(to, line, p, first[digit], stream);
    }
    for (uint64_t digit = 0; digit < digits; ++digit) { /* the rest of unfinished lines */
        uint64_t stop = offsets[digit], start = stop & ~(uint64_t)(WORDS_PER_LINE - 1);
        if (start < first[digit]) start = first[digit];
        const uint64_t *line = lines + digit * WORDS_PER_LINE;
        for (uint64_t p = start; p < stop; ++p) to[p] = line[p & (WORDS_PER_LINE - 1)];
    }
    if (stream) carom_stream_fence();
}

void CAROM_CPU(carom_sort_scatter)(carom_sort_items items, uint64_t begin, uint64_t end,
                                   uint32_t shift, uint32_t bits, uint64_t *offsets,
                                   uint64_t *lines, bool stream, uint64_t *to) {
    if (items.words != NULL) /* twice, so that the choice is made outside the loop */
        scatter((carom_sort_items){.words = items.words}, begin, end, shift, bits, offsets, lines,
                stream, to);
    else
        scatter((carom_sort_items){NULL, items.keys, items.payload}, begin, end, shift, bits,
                offsets, lines, stream, to);
}

/* ---- Sorting a bucket in the cache ----------------------------------------------------------- */

static void insertion_sort(uint64_t *words, uint64_t count, uint64_t mask) {
    for (uint64_t i = 1; i < count; ++i) {
        uint64_t word = words[i], j = i;
        for (; j > 0 && (words[j - 1] & mask) > (word & mask); --j) words[j] = words[j - 1];
        words[j] = word;
    }
}

/* Turns counts into offsets; false when all words share one digit and the pass can be skipped. */
static bool sort_cpu_offsets_from_counts(uint32_t *counts, uint32_t digits, uint64_t words) {
    uint32_t sum = 0;
    for (uint32_t d = 0; d < digits; ++d) {
        uint32_t count = counts[d];
        if (count == words) return false;
        counts[d] = sum;
        sum += count;
    }
    return true;
}

static inline void write_out(const uint64_t *words, uint64_t count, carom_sort_items to,
                             uint64_t begin) {
    for (uint64_t i = 0; i < count; ++i) put_word(to, begin + i, words[i]);
}

/* Digits of at most 11 bits; few words use smaller ones, whose tables are cleared faster. */
#define WIDE_DIGIT_BITS   11u
#define NARROW_DIGIT_BITS 8u
#define WIDE_FROM         2048u

/* Low digit first, in `passes` passes; a constant in each call below, so that loops unroll. Bits
 * above the range are masked, because the last, shorter digit would include them. */
static inline uint64_t *sort_digits(uint64_t *words, uint64_t *spare, uint64_t count,
                                    uint32_t shift, uint32_t digit_bits, uint64_t below_top,
                                    uint32_t passes, uint32_t *counts) {
    uint32_t digits = 1u << digit_bits;
    uint64_t mask = digits - 1;
    memset(counts, 0, (size_t)passes * digits * sizeof(*counts));
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t rest = (words[i] & below_top) >> shift;
        for (uint32_t pass = 0; pass < passes; ++pass, rest >>= digit_bits)
            ++counts[pass * digits + (rest & mask)];
    }
    for (uint32_t pass = 0; pass < passes; ++pass) {
        uint32_t *offsets = counts + pass * digits;
        if (!sort_cpu_offsets_from_counts(offsets, digits, count)) continue;
        uint32_t pass_shift = shift + pass * digit_bits;
        for (uint64_t i = 0; i < count; ++i) {
            uint64_t word = words[i];
            spare[offsets[(word & below_top) >> pass_shift & mask]++] = word;
        }
        uint64_t *swap = words;
        words = spare;
        spare = swap;
    }
    return words;
}

void CAROM_CPU(carom_sort_bucket)(uint64_t *words, uint64_t *spare, uint64_t count, uint32_t shift,
                                  uint32_t bits, carom_sort_items to, uint64_t begin) {
    uint32_t top = shift + bits;
    uint64_t below_top = top == 64 ? UINT64_MAX : (UINT64_C(1) << top) - 1;
    if (bits == 0) {
        write_out(words, count, to, begin);
        return;
    }
    if (count <= INSERTION_ITEMS) {
        insertion_sort(words, count, below_top >> shift << shift);
        write_out(words, count, to, begin);
        return;
    }
    uint32_t counts[6u << WIDE_DIGIT_BITS]; /* 64 bits: six wide digits or eight narrow ones */
    uint32_t most_bits = count >= WIDE_FROM ? WIDE_DIGIT_BITS : NARROW_DIGIT_BITS;
    uint32_t passes = (bits + most_bits - 1) / most_bits;
    uint32_t digit_bits = (bits + passes - 1) / passes;
    switch (passes) {
    case 1:
        words = sort_digits(words, spare, count, shift, digit_bits, below_top, 1, counts);
        break;
    case 2:
        words = sort_digits(words, spare, count, shift, digit_bits, below_top, 2, counts);
        break;
    case 3:
        words = sort_digits(words, spare, count, shift, digit_bits, below_top, 3, counts);
        break;
    default:
        words = sort_digits(words, spare, count, shift, digit_bits, below_top, passes, counts);
    }
    write_out(words, count, to, begin);
}
