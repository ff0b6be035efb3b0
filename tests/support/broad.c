/* SPDX-License-Identifier: MIT */
#include "tests/support/broad.h"

#include <math.h>

#include "tests/support/test.h"

static double between(carom_random *random, double low, double high) {
    return carom_random_between(random, low, high);
}

/* Bounds along one axis. */
static void interval(broad_kind kind, carom_random *random, int axis, double *low, double *high) {
    double size = 1.0;
    switch (kind) {
    case BROAD_UNIFORM:
    case BROAD_KINDS:
        *low = between(random, 0.0, 6.0);
        *high = *low + between(random, 0.0, 1.0);
        break;
    case BROAD_LATTICE:
        *low = (double)test_below(random, 9);
        *high = *low + (double)test_below(random, 3);
        break;
    case BROAD_FLAT:
        *low = (double)test_below(random, 5);
        *high = *low + (test_below(random, 2) == 0 ? 0.0 : 1.0);
        break;
    case BROAD_EMPTY:
        *low = between(random, 0.0, 3.0);
        *high = *low + between(random, -0.25, 1.0);
        break;
    case BROAD_HUGE:
        size = test_below(random, 4) == 0 ? 1e-3 : 1e29;
        *low = between(random, -1e30, 1e30);
        *high = *low + between(random, 0.0, size);
        break;
    case BROAD_ONE_POINT:
        *low = 0.25 - between(random, 0.0, 1.0);
        *high = 0.25 + between(random, 0.0, 1.0);
        break;
    case BROAD_COVER:
        *low = between(random, -4.0, 4.0);
        *high = *low + 0.5;
        break;
    case BROAD_SIZES:
        size = ldexp(1.0, -(int)test_below(random, 31));
        *low = between(random, 0.0, 1.0);
        *high = *low + size;
        break;
    case BROAD_FAR:
        *low = 1e9 + (double)test_below(random, 64) * 0x1p-8;
        *high = *low + (double)test_below(random, 16) * 0x1p-8;
        break;
    case BROAD_LARGEST:
        size = ldexp(1.0, (int)test_below(random, 2040) - 1020);
        *low = (test_below(random, 2) == 0 ? -size : size) * between(random, 0.0, 1.0);
        *high = *low + size * between(random, 0.0, 1.0);
        if (test_below(random, 8) == 0) *low = *high = 0x1p-1074 * (double)test_below(random, 3);
        break;
    case BROAD_LINE:
        *low = axis == 1 ? between(random, 0.0, 300.0) : between(random, 0.0, 0.5);
        *high = *low + 1.0;
        break;
    case BROAD_NEARLY:
        *low = 1.0 + (double)test_below(random, 4) * 0.125;
        *low = nextafter(*low, (double)test_below(random, 3) - 1.0 + *low);
        *high = nextafter(*low + 0.125 * (double)test_below(random, 3),
                          test_below(random, 2) == 0 ? 0.0 : 9.0);
        if (*high < *low) *high = *low;
        break;
    }
}

carom_bounds broad_box(broad_kind kind, carom_random *random) {
    carom_bounds b;
    interval(kind, random, 0, &b.low.x, &b.high.x);
    interval(kind, random, 1, &b.low.y, &b.high.y);
    interval(kind, random, 2, &b.low.z, &b.high.z);
    return b;
}

void broad_boxes(broad_kind kind, carom_random *random, carom_bounds *boxes, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) boxes[i] = broad_box(kind, random);
    if (kind == BROAD_COVER && count != 0)
        boxes[test_below(random, (uint32_t)count)] = (carom_bounds){{-9, -9, -9}, {9, 9, 9}};
}

bool broad_overlap(const carom_bounds *a, const carom_bounds *b) {
    if (a->low.x > a->high.x || a->low.y > a->high.y || a->low.z > a->high.z) return false;
    if (b->low.x > b->high.x || b->low.y > b->high.y || b->low.z > b->high.z) return false;
    return fmax(a->low.x, b->low.x) <= fmin(a->high.x, b->high.x) &&
           fmax(a->low.y, b->low.y) <= fmin(a->high.y, b->high.y) &&
           fmax(a->low.z, b->low.z) <= fmin(a->high.z, b->high.z);
}

static bool in_mask(carom_broad_filter a, carom_broad_filter b) {
    return a.group == 0 || b.mask == 0 || (a.group & b.mask) != 0;
}

uint64_t broad_brute_force(const carom_bounds *boxes, const carom_broad_filter *filters,
                           const bool *live, uint64_t count, carom_pair *pairs) {
    uint64_t found = 0;
    for (uint64_t a = 0; a < count; ++a) {
        for (uint64_t b = a + 1; b < count; ++b) {
            if (live != NULL && (!live[a] || !live[b])) continue;
            if (filters != NULL &&
                (!in_mask(filters[a], filters[b]) || !in_mask(filters[b], filters[a])))
                continue;
            if (broad_overlap(&boxes[a], &boxes[b]))
                pairs[found++] = (carom_pair){(uint32_t)a, (uint32_t)b};
        }
    }
    return found;
}
