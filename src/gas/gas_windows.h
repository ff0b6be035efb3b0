/* SPDX-License-Identifier: MIT */
/* gas_windows.h: windows of time in which several threads advance one gas; see gas_windows.c for
 * the idea and why the events stay those of one thread.
 *
 *   pass     a division of the cells into regions; the passes of a window follow each other
 *   part     what one thread does in one pass: the spheres of one region
 *   kept     a sphere whose next event the part leaves to a later pass
 *   version  a body as it was before it was rewritten within the window */
#ifndef CAROM_SRC_GAS_GAS_WINDOWS_H
#define CAROM_SRC_GAS_GAS_WINDOWS_H

#include "base/array.h"
#include "gas/gas.h"

#define CAROM_GAS_MOST_REGIONS 32 /* as many threads take part */
#define CAROM_GAS_MOST_PASSES  4  /* two axes are divided at most, each with and without a shift */

/* Layers of cells of its own level between a sphere that is handled and the end of its region; see
 * gas_regions.c. */
#define CAROM_GAS_DEPTH 2

typedef struct carom_gas_version {
    carom_gas_body body;
    int64_t until; /* the tick at which it was rewritten */
    uint32_t slot;
    uint32_t before; /* code of the version before it, or 0 */
    uint16_t repeats;
    bool is_turned; /* while events are shown: `body` is the one after, and so is `before` */
} carom_gas_version;

/* A version's code: the index of its part, and its own in there, plus one. */
#define CAROM_GAS_VERSION_BITS 24
#define CAROM_GAS_MOST_LOGGED  ((UINT32_C(1) << CAROM_GAS_VERSION_BITS) - 2)

/* An event, and where the caller sees events also a refresh; `a`, `b` as in carom_gas_event. */
typedef struct carom_gas_happening {
    int64_t time;
    double virial;
    uint32_t kind; /* of carom_gas_prediction_kind: PAIR, WALL or REFRESH */
    uint32_t a, b, spare;
} carom_gas_happening;

/* What a part may no longer do with a sphere in this pass. */
typedef enum carom_gas_held {
    CAROM_GAS_HELD_FREE,
    CAROM_GAS_HELD_WAITS, /* it meets one that is kept: nothing may happen to it */
    CAROM_GAS_HELD_KEPT   /* it is in `kept`, and has no entry in a calendar */
} carom_gas_held;

CAROM_ARRAY(carom_gas_versions, carom_gas_version);
CAROM_ARRAY(carom_gas_happenings, carom_gas_happening);
CAROM_ARRAY(carom_gas_slots, uint32_t);

typedef struct carom_gas_part {
    const struct carom_gas_windows *windows;
    const uint8_t *region;    /* by slot, of this pass; NULL: all spheres are this part's */
    const uint8_t *inside[3]; /* of this pass, by layer; unused without regions */
    uint8_t lane;             /* its region */
    uint32_t index;           /* of all parts of a window */
    bool is_final;            /* the window will not be undone */
    bool checks;              /* bodies may be from the future: those of earlier passes */
    bool is_run;              /* in this window */
    bool failed, no_memory;   /* the window must be undone; and there is no memory */
    int64_t until;            /* end of the window, inclusive */
    uint64_t spheres;         /* of its region, about */
    uint64_t steps;           /* entries handled */
    carom_gas_versions versions;
    carom_gas_happenings happenings;
    carom_gas_slots kept;   /* to be handled by a later pass */
    carom_gas_slots marked; /* in `held` */
    carom_gas_slots done;   /* due after the window: to be entered in the calendar of its region */
} carom_gas_part;

typedef struct carom_gas_windows {
    bool is_shown; /* the caller's function sees each event */
    uint32_t lanes, passes;
    uint32_t split[3];                         /* regions along each axis */
    uint8_t *region[CAROM_GAS_MOST_PASSES];    /* by slot */
    uint8_t *column[CAROM_GAS_MOST_PASSES][3]; /* by layer: its share of the region's number */
    uint8_t *inside[CAROM_GAS_MOST_PASSES][3]; /* by layer: how many levels are deep inside */
    uint32_t handled;                          /* levels whose spheres regions handle, or 1 */
    uint32_t shift;   /* regions are of cells 2^shift of the finest wide: of the last of these */
    uint32_t *coarse; /* the spheres of coarser levels, which only the last part handles */
    uint64_t coarse_count;
    uint8_t *near;          /* by such a cell: one of these may reach it in a window; or NULL */
    int64_t near_until;     /* the tick at which that is found again */
    carom_gas_level *grids; /* of the copies: their levels, with free cells of their own */
    uint8_t *held;          /* by slot: carom_gas_held, in this pass */
    uint8_t *changed;       /* by slot: low byte of the number of the window that last rewrote it */
    uint64_t *version_codes; /* by slot: number of the window and code of the last version */
    uint64_t number;         /* of the window, shifted by 32 bits; never 0 */
    double fastest;          /* speed along an axis that no body exceeds */
    carom_gas_part *parts;   /* by pass and lane; the last takes all */
    carom_gas
        *gases; /* copies: of the lanes of the first pass, of later passes, of the last part */
} carom_gas_windows;

/* Handles what is due in the part's region up to its `until`; see carom_gas_run for the result.
 * A part with a region only fails or reaches its time. */
CAROM_CPU_DECLARE(carom_gas_stop, carom_gas_run_part, carom_gas *gas, uint32_t *culprit);

/* Runs until `goal` or until something must be done between windows, as carom_gas_run does after
 * some steps. *ran is false where windows are of no use; nothing has happened then. */
carom_status carom_gas_run_windows(carom_context *context, carom_gas *gas, int64_t goal,
                                   const carom_gas_observer *observer, carom_gas_goal *shown,
                                   carom_gas_stop *stop, uint32_t *culprit, bool *ran);

/* ---- Regions (gas_regions.c) ----------------------------------------------------------------- */

/* Chooses regions for at most `threads` threads; the expected gain. */
double carom_gas_regions_choose(const carom_gas *gas, uint32_t threads, carom_gas_windows *windows);
/* Makes the tables of the regions; false when there is no memory. */
bool carom_gas_regions_create(const carom_gas *gas, carom_gas_windows *windows);
void carom_gas_regions_release(const carom_gas *gas, carom_gas_windows *windows);
/* Finds the regions of all spheres. */
carom_status carom_gas_regions_find(carom_context *context, const carom_gas *gas,
                                    carom_gas_windows *windows);
/* Marks the cells that spheres of coarser levels may reach for some time. */
void carom_gas_regions_mark(const carom_gas *gas, carom_gas_windows *windows);

/* ---- What a part may touch ------------------------------------------------------------------- */

static inline bool carom_gas_owns(const carom_gas *gas, uint32_t slot) {
    const carom_gas_part *part = gas->part;
    return part == NULL || part->region == NULL || part->region[slot] == part->lane;
}

/* True when the sphere's entry belongs in the calendar: the part handles its region, and has not
 * kept it for a later pass. */
static inline bool carom_gas_files(const carom_gas *gas, uint32_t slot) {
    const carom_gas_part *part = gas->part;
    if (part == NULL || part->region == NULL) return true;
    return part->region[slot] == part->lane && part->windows->held[slot] != CAROM_GAS_HELD_KEPT;
}

/* The layers of a home, in cells of the finest level. */
static inline void carom_gas_finest_layers(const carom_gas *gas, const carom_gas_home *home,
                                           uint32_t at[3]) {
    uint32_t shift = gas->levels.count == 0 ? 0 : gas->levels.level[home->extra].shift;
    for (int axis = 0; axis < 3; ++axis) at[axis] = (uint32_t)home->at[axis] << shift;
}

/* The index in `near` of the cell with these layers. */
static inline uint64_t carom_gas_near_index(const carom_gas *gas, const carom_gas_windows *windows,
                                            const uint32_t at[3]) {
    const uint32_t shift = windows->shift, *size = gas->cells.size;
    return ((uint64_t)(at[2] >> shift) * (size[1] >> shift) + (at[1] >> shift)) *
               (size[0] >> shift) +
           (at[0] >> shift);
}

/* True when a sphere is so far inside the part's region that no other part touches what its next
 * event touches. */
static inline bool carom_gas_is_deep(const carom_gas *gas, uint32_t slot) {
    const carom_gas_part *part = gas->part;
    const carom_gas_home *home = &gas->records[slot].home;
    const carom_gas_windows *windows = part->windows;
    uint32_t at[3], level = gas->levels.count == 0 ? 0 : home->extra;
    carom_gas_finest_layers(gas, home, at);
    uint32_t deep = part->inside[0][at[0]];
    deep = CAROM_MIN(deep, part->inside[1][at[1]]);
    deep = CAROM_MIN(deep, part->inside[2][at[2]]);
    if (deep <= level) return false;
    return windows->near == NULL || windows->near[carom_gas_near_index(gas, windows, at)] == 0;
}

static inline bool carom_gas_is_pair_kind(const carom_gas_prediction *prediction) {
    return prediction->kind == CAROM_GAS_PREDICTION_PAIR ||
           prediction->kind == CAROM_GAS_PREDICTION_PROVISIONAL;
}

/* True when the part may handle the next event of a sphere that it owns. */
static inline bool carom_gas_may_handle(const carom_gas *gas, uint32_t slot) {
    const carom_gas_part *part = gas->part;
    if (part == NULL || part->region == NULL) return true;
    if (!carom_gas_is_deep(gas, slot) || part->windows->held[slot] != CAROM_GAS_HELD_FREE)
        return false;
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    if (!carom_gas_is_pair_kind(prediction) || prediction->crossing <= prediction->physical)
        return true;
    uint32_t partner = prediction->partner;
    return part->region[partner] == part->lane &&
           part->windows->held[partner] == CAROM_GAS_HELD_FREE && carom_gas_is_deep(gas, partner);
}

/* Files a sphere's new home in the regions of all passes. Its region in this pass is unchanged, and
 * other threads may read that. */
static inline void carom_gas_note_home(carom_gas *gas, uint32_t slot) {
    if (gas->part == NULL) return;
    const carom_gas_windows *windows = gas->part->windows;
    uint32_t at[3];
    carom_gas_finest_layers(gas, &gas->records[slot].home, at);
    for (uint32_t pass = 0; pass < windows->passes; ++pass) {
        uint8_t *const *column = windows->column[pass];
        uint8_t region = (uint8_t)(column[0][at[0]] + column[1][at[1]] + column[2][at[2]]);
        if (windows->region[pass][slot] != region) windows->region[pass][slot] = region;
    }
}

/* The code of the last version of a body in this window, or 0. */
static inline uint32_t carom_gas_latest_code(const carom_gas_windows *windows, uint32_t slot) {
    uint64_t latest = windows->version_codes[slot];
    return latest >> 32 == windows->number >> 32 ? (uint32_t)latest : 0;
}

/* The same where it is mostly 0: reads one byte, and the code only where that says so. */
static inline uint32_t carom_gas_latest(const carom_gas_windows *windows, uint32_t slot) {
    if (windows->changed[slot] != (uint8_t)(windows->number >> 32)) return 0;
    return carom_gas_latest_code(windows, slot);
}

static inline carom_gas_version *carom_gas_version_of(const carom_gas_windows *windows,
                                                      uint32_t code) {
    const carom_gas_part *part = &windows->parts[(code - 1) >> CAROM_GAS_VERSION_BITS];
    return &part->versions.data[(code - 1) & ((UINT32_C(1) << CAROM_GAS_VERSION_BITS) - 1)];
}

static inline void carom_gas_part_push(carom_gas *gas, carom_gas_slots *slots, uint32_t slot) {
    if (!carom_gas_slots_push(slots, &gas->allocator, slot))
        gas->part->failed = gas->part->no_memory = true;
}

#endif
