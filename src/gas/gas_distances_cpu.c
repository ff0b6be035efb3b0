/* SPDX-License-Identifier: MIT */
/* Counts pairs by their distance. A row of cells along x is compared with itself and with the later
 * rows within the range; one sphere is compared with a run of adjacent cells, some lanes at once.
 *
 * Every lane is counted, also beyond the range, as a branch would be mispredicted every other time:
 * the bins go as far as two cells that are compared can. Invariant: the bin is the whole part of
 * distance / step, correctly rounded, in every instruction set. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "gas/gas_distances.h"

/* A product with 1 / step has two roundings, and the quotient one: where the product is further
 * than this share of the number of bins from a whole number, both have the same whole part. */
#define NEAR_WHOLE 0x1p-50

#define MANTISSA      0x1p52 /* in [2^52, 2^53) the bits of a double count units */
#define MANTISSA_BITS ((INT64_C(1) << 52) - 1)

#define MOST_REACH 8 /* cells: choose_cells in gas_distances.c takes at most 4 */

/* A row beside a row, and how far its cells reach along x. */
typedef struct row_beside {
    uint64_t row;
    uint32_t wide;
} row_beside;

static inline void count_exactly(const carom_gas_distance_grid *grid, const double *distances,
                                 uint64_t count, uint64_t *counts) {
    for (uint64_t k = 0; k < count; ++k) {
        uint64_t bin = (uint64_t)(distances[k] / grid->step);
        CAROM_ASSERT(bin < grid->counts);
        ++counts[bin];
    }
}

/* Counts sphere i with the spheres [begin, end). */
static inline __attribute__((always_inline)) void count_run(const carom_gas_distance_grid *grid,
                                                            uint64_t i, uint64_t begin,
                                                            uint64_t end, uint64_t *counts) {
    const carom_f64v zero = {0.0};
    const carom_f64v least = zero + NEAR_WHOLE * (double)grid->counts, most = 1.0 - least;
    const carom_f64v x = zero + grid->x[0][i], y = zero + grid->x[1][i], z = zero + grid->x[2][i];
    for (uint64_t j = begin; j < end; j += CAROM_LANES64) {
        carom_f64v dx = carom_f64v_abs(carom_f64v_load(&grid->x[0][j]) - x);
        carom_f64v dy = carom_f64v_abs(carom_f64v_load(&grid->x[1][j]) - y);
        carom_f64v dz = carom_f64v_abs(carom_f64v_load(&grid->x[2][j]) - z);
        dx = carom_f64v_min(dx, grid->wrap[0] - dx);
        dy = carom_f64v_min(dy, grid->wrap[1] - dy);
        dz = carom_f64v_min(dz, grid->wrap[2] - dz);
        carom_f64v distance = carom_f64v_sqrt((dx * dx + dy * dy) + dz * dz);
        carom_f64v steps = distance * grid->per_step;
        uint64_t left = end - j, lanes = left < CAROM_LANES64 ? left : CAROM_LANES64;
        /* Rounds steps - 0.5 to a whole number: it is then the mantissa. */
        carom_f64v mantissa = carom_f64v_max(steps - 0.5, zero) + MANTISSA;
        carom_f64v rest = steps - (mantissa - MANTISSA);
        if (carom_lanes_of64((rest < least) | (rest > most)) != 0) {
            double distances[CAROM_LANES64];
            carom_f64v_store(distances, distance);
            count_exactly(grid, distances, lanes, counts);
            continue;
        }
        uint64_t bin[CAROM_LANES64];
        carom_i64v bins = (carom_i64v)mantissa & MANTISSA_BITS;
        memcpy(bin, &bins, sizeof(bin));
        if (lanes == CAROM_LANES64)
            for (int k = 0; k < CAROM_LANES64; ++k) ++counts[bin[k]];
        else
            for (uint64_t k = 0; k < lanes; ++k) ++counts[bin[k]];
    }
}

/* The same where there are walls: each pair within the range has a weight. */
static void weigh_run(const carom_gas_distance_grid *grid, uint64_t i, uint64_t begin, uint64_t end,
                      carom_gas_distance_counts *counts) {
    for (uint64_t j = begin; j < end; ++j) {
        double square = 0.0, share = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            double d = fabs(grid->x[axis][j] - grid->x[axis][i]);
            if (grid->length[axis] > 0.0)
                share *= 1.0 - d / grid->length[axis];
            else
                d = d < grid->wrap[axis] - d ? d : grid->wrap[axis] - d;
            square += d * d;
        }
        uint64_t bin = (uint64_t)(sqrt(square) / grid->step);
        if (bin >= grid->bins || !(share > 0.0)) continue;
        uint64_t weight = (uint64_t)(1.0 / share * (double)(UINT64_C(1) << CAROM_GAS_WEIGHT_BITS));
        counts->low[bin] += weight;
        counts->high[bin] += counts->low[bin] < weight;
    }
}

static inline void count_segment(const carom_gas_distance_grid *grid, uint64_t i, uint64_t begin,
                                 uint64_t end, carom_gas_distance_counts *counts) {
    if (grid->walls)
        weigh_run(grid, i, begin, end, counts);
    else
        count_run(grid, i, begin, end, counts->low);
}

/* The cells along an axis within reach of `at`, each once, with the least distance along it. */
static uint32_t list_near_layers(const carom_gas_distance_grid *grid, int axis, uint32_t at,
                                 uint32_t cells[], double apart[]) {
    uint32_t size = grid->size[axis], reach = grid->reach[axis], count = 0;
    bool periodic = grid->wrap[axis] < HUGE_VAL;
    CAROM_ASSERT(reach <= MOST_REACH);
    if (periodic && size <= 2 * reach + 1) {
        for (; count < size; ++count) cells[count] = count, apart[count] = 0.0;
        return count;
    }
    for (uint32_t k = 0; k <= 2 * reach; ++k) {
        if (!periodic && (at + k < reach || at + k - reach >= size)) continue;
        uint32_t off = k > reach ? k - reach : reach - k;
        apart[count] = off > 1 ? (off - 1) * grid->cell[axis] : 0.0;
        cells[count++] = (at + size + k - reach) % size;
    }
    return count;
}

/* Lists the rows to be compared with a row: it and later ones. */
static uint32_t list_rows(const carom_gas_distance_grid *grid, uint64_t row, row_beside *rows) {
    uint32_t y[2 * MOST_REACH + 1], z[2 * MOST_REACH + 1], count = 0;
    double dy[2 * MOST_REACH + 1], dz[2 * MOST_REACH + 1];
    uint32_t ys = list_near_layers(grid, 1, (uint32_t)(row % grid->size[1]), y, dy);
    uint32_t zs = list_near_layers(grid, 2, (uint32_t)(row / grid->size[1]), z, dz);
    for (uint32_t k = 0; k < zs; ++k)
        for (uint32_t j = 0; j < ys; ++j) {
            uint64_t other = (uint64_t)z[k] * grid->size[1] + y[j];
            double rest = grid->range * grid->range - (dy[j] * dy[j] + dz[k] * dz[k]);
            if (other < row || rest < 0.0) continue;
            uint32_t wide = (uint32_t)(sqrt(rest) / grid->cell[0]) + 1;
            rows[count++] = (row_beside){other, wide < grid->reach[0] ? wide : grid->reach[0]};
        }
    return count;
}

/* Compares the spheres of one cell with the cells [low, high] of a row. */
static void count_row_cells(const carom_gas_distance_grid *grid, uint64_t cell, uint64_t row,
                            uint32_t low, uint32_t high, carom_gas_distance_counts *counts) {
    uint64_t first = row * grid->size[0];
    uint64_t begin = grid->start[first + low], end = grid->start[first + high + 1];
    bool own = cell / grid->size[0] == row;
    for (uint64_t i = grid->start[cell]; i < grid->start[cell + 1]; ++i)
        count_segment(grid, i, own && begin <= i ? i + 1 : begin, end, counts);
}

void CAROM_CPU(carom_gas_distances_count)(const carom_gas_distance_grid *grid, uint64_t from,
                                          uint64_t to, carom_gas_distance_counts *counts) {
    row_beside rows[(2 * MOST_REACH + 1) * (2 * MOST_REACH + 1)];
    const uint32_t size = grid->size[0];
    const bool periodic = grid->wrap[0] < HUGE_VAL;
    for (uint64_t row = from; row < to; ++row) {
        uint32_t count = list_rows(grid, row, rows);
        for (uint32_t k = 0; k < count; ++k)
            for (uint32_t at = 0; at < size; ++at) {
                uint64_t cell = row * size + at;
                uint32_t wide = rows[k].wide, low = at > wide ? at - wide : 0,
                         high = at + wide < size ? at + wide : size - 1;
                if (periodic && size <= 2 * wide + 1) low = 0, high = size - 1;
                count_row_cells(grid, cell, rows[k].row, low, high, counts);
                if (!periodic || size <= 2 * wide + 1) continue;
                if (at < wide)
                    count_row_cells(grid, cell, rows[k].row, at + size - wide, size - 1, counts);
                if (at + wide >= size)
                    count_row_cells(grid, cell, rows[k].row, 0, at + wide - size, counts);
            }
    }
}
