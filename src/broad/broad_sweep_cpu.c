/* SPDX-License-Identifier: MIT */
/* The sweep: an entry is compared with those that follow it, as many at a time as a vector has
 * lanes, until one begins after it ends.
 *
 * Keys have the cell in their high bits, so the end of a cell ends the sweep as well. Two boxes can
 * have several cells in common. They are reported in the one that is, along either axis across the
 * sweep, the lower cell of one of the two: the componentwise maximum of their lowest cells. */
#include "broad/broad_sweep_cpu.h"

#include "base/simd.h"

/* Appends the ids of the lanes. */
static inline bool broad_sweep_cpu_emit(const carom_broad_sweep *sweep, uint32_t id, uint64_t at,
                                        carom_lanes hits, carom_broad_sweep_found *found) {
    if (found->count + CAROM_BROAD_SWEEP_FLUSH > CAROM_BROAD_SWEEP_FOUND && !found->flush(found))
        return false;
    for (; hits != 0; hits &= hits - 1) {
        uint64_t other = at + (uint32_t)__builtin_ctz(hits);
        CAROM_ASSERT(other < sweep->count && found->count < CAROM_BROAD_SWEEP_FOUND);
        found->a[found->count] = id;
        found->b[found->count++] = sweep->owners[other] & CAROM_BROAD_SWEEP_ID;
    }
    return true;
}

bool CAROM_CPU(carom_broad_sweep_entries)(const carom_broad_sweep *sweep, uint64_t first,
                                          uint64_t end, carom_broad_sweep_found *found) {
    const carom_u32v both = carom_u32v_splat(CAROM_BROAD_SWEEP_LOW_U | CAROM_BROAD_SWEEP_LOW_V);
    uint32_t within = (uint32_t)(((uint64_t)1 << sweep->key_bits) - 1);
    for (uint64_t i = first; i < end; ++i) {
        uint32_t owner = sweep->owners[i];
        float high = sweep->rows[1][i];
        uint32_t last = (sweep->keys[i] & ~within) | carom_broad_sweep_key(sweep, high);
        carom_u32v most = carom_u32v_splat(last), own = carom_u32v_splat(owner);
        carom_f32v low_u = carom_f32v_splat(sweep->rows[2][i]);
        carom_f32v high_u = carom_f32v_splat(sweep->rows[3][i]);
        carom_f32v low_v = carom_f32v_splat(sweep->rows[4][i]);
        carom_f32v high_v = carom_f32v_splat(sweep->rows[5][i]);
        /* Entries of one key are in any order. */
        carom_f32v begins = carom_f32v_splat(sweep->rows[0][i]), ends = carom_f32v_splat(high);
        for (uint64_t at = i + 1; at < sweep->count; at += CAROM_LANES) {
            carom_lanes there =
                carom_lanes_of((carom_i32v)(carom_u32v_load(sweep->keys + at) <= most));
            carom_i32v hit =
                (carom_f32v_load(sweep->rows[0] + at) <= ends) &
                (carom_f32v_load(sweep->rows[1] + at) >= begins) &
                (carom_f32v_load(sweep->rows[2] + at) <= high_u) &
                (carom_f32v_load(sweep->rows[3] + at) >= low_u) &
                (carom_f32v_load(sweep->rows[4] + at) <= high_v) &
                (carom_f32v_load(sweep->rows[5] + at) >= low_v) &
                (carom_i32v)(((carom_u32v_load(sweep->owners + at) | own) & both) == both);
            uint32_t run = (uint32_t)__builtin_ctz(~there); /* those before the first beyond */
            run = (uint32_t)CAROM_MIN(run, CAROM_MIN(sweep->count - at, CAROM_LANES));
            found->steps += run;
            carom_lanes hits = carom_lanes_of(hit) & ((1u << run) - 1u);
            if (hits != 0 &&
                !broad_sweep_cpu_emit(sweep, owner & CAROM_BROAD_SWEEP_ID, at, hits, found))
                return false;
            if (run < CAROM_LANES) break;
        }
    }
    return true;
}
