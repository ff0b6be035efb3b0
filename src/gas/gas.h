/* SPDX-License-Identifier: MIT */
/* gas.h: data structures of a gas and the functions shared between its files.
 *
 *   label   the caller's id of a sphere; never changes
 *   slot    index of the sphere in the arrays; reassigned now and then so that neighbours in
 *           space are neighbours in memory
 *
 * Each sphere has one entry in the queue. Its time is the earlier of the sphere's physical event
 * and its crossing. The physical event is the earliest with any partner or wall, or the refresh of
 * the body. An event is stale when its partner has changed since the prediction: its time is then
 * only a lower bound, and the sphere is predicted again at that time. A provisional event is known
 * by floats only: its time is also a lower bound, and its exact tick is computed at that time.
 *
 * Invariant: of two bodies that will meet, the one rewritten later has an event no later than the
 * collision, or will be predicted again before the collision. */
#ifndef CAROM_SRC_GAS_GAS_H
#define CAROM_SRC_GAS_GAS_H

#include "base/context.h"
#include "base/isa.h"
#include "base/progress.h"
#include "carom/gas.h"
#include "gas/gas_item.h"

/* An entry of a cell has 27 bits for a slot. */
#define CAROM_GAS_MOST_SPHERES      (UINT32_C(1) << 27)
#define CAROM_GAS_NO_SLOT           UINT32_MAX
#define CAROM_GAS_MOST_ACCELERATION 1e100 /* the square of such an acceleration is finite */

/* Scales at which no product in gas_item.h leaves the range of doubles, with P = length times
 * speed. Lengths L are within [1e-60, 1e60] (a box is at most 1e15 radii wide). The pace, a radius
 * per tick, is within [1e-40, 1e70]. Speeds are then below 2^-20 of the pace, so the largest
 * product, L^2 v^2, stays below (1e60 1e64)^2. The smallest product that decides anything belongs
 * to two spheres whose gap of 1e-16 radii closes within 2^61 ticks: their relative speed u is at
 * least 1e-16 2^-61 of the pace, so L^2 u^2 >= 1e-270. */
#define CAROM_GAS_LEAST_LENGTH 1e-60
#define CAROM_GAS_MOST_LENGTH  1e60
#define CAROM_GAS_LEAST_PACE   1e-40
#define CAROM_GAS_MOST_PACE    1e70
#define CAROM_GAS_MOST_SPEED   1e60
#define CAROM_GAS_LEAST_MASS   1e-100 /* keeps energies and the virial finite */
#define CAROM_GAS_MOST_MASS    1e100

/* What a prediction expects as the next physical event of its sphere. A crossing is no kind: it has
 * a time of its own. PAIR and WALL are in the order of carom_gas_event_kind, as it decides ties;
 * the kinds whose time is only a lower bound come last. */
typedef enum carom_gas_prediction_kind {
    CAROM_GAS_PREDICTION_PAIR,
    CAROM_GAS_PREDICTION_WALL,
    CAROM_GAS_PREDICTION_REFRESH,     /* the body is rewritten: nothing else happens before */
    CAROM_GAS_PREDICTION_PROVISIONAL, /* a pair, whose partner is known from floats */
    CAROM_GAS_PREDICTION_UNRESOLVED   /* floats cannot decide which event is first */
} carom_gas_prediction_kind;

/* Prediction of a sphere's next events: half a cache line per sphere. */
typedef struct carom_gas_prediction {
    int64_t physical, crossing; /* ticks */
    uint32_t partner;           /* slot */
    uint32_t stamp;             /* the partner's stamp when this was predicted */
    int8_t image[3];            /* boxes to shift the partner by, if its own wraps were 0 */
    uint8_t kind;               /* carom_gas_prediction_kind; for walls `partner` is the side */
    uint8_t side;               /* of the cell to be crossed: 2 axis + (0 low, 1 high) */
    uint8_t current;            /* its entry is in the calendar's window */
    uint16_t repeats;           /* events of this sphere at the same tick */
} carom_gas_prediction;

static inline int64_t carom_gas_due(const carom_gas_prediction *prediction) {
    return prediction->physical < prediction->crossing ? prediction->physical
                                                       : prediction->crossing;
}

/* ---- Float trajectories (gas_trajectory.h) --------------------------------------------------- */

/* Position, radius and velocity in units of the largest diameter and a typical speed. Half a cache
 * line. */
typedef struct carom_gas_trajectory {
    float x[3], radius;
    float v[3];
    uint32_t stamp; /* an event predicted with another value is stale */
} carom_gas_trajectory;

/* The upper bits of a stamp count the rewrites of the body. The lowest byte counts the changes of
 * wraps since the last rewrite. It cannot overflow: a refresh comes long before. */
#define CAROM_GAS_REWRITTEN 256u

typedef struct carom_gas_trajectories {
    carom_gas_trajectory *by_slot;
    int64_t start, until; /* the common time, and the time up to which the trajectories are valid */
    double per_length, per_speed, per_time;
    double growth, growth_by_speed; /* of radii: constant, and per speed */
    double common_radius;           /* 0 where radii differ */
    double ticks_per_bound;         /* ticks per unit of time, rounded down a little */
    float margin;                   /* the least bound must be first by this to be provisional */
    int64_t uncertainty; /* half the margin in ticks: a provisional pair may meet this late */
    int64_t safe_span;   /* ticks without refresh, for all spheres but fast ones */
    float recede2;       /* two that touch surely recede when d u / |u| is above its root; with
                            levels, times the sum of radii */
    uint64_t fast;       /* spheres too fast for floats since the last renewal */
    uint64_t most_fast;  /* limit of them, for the next renewal */
    float shift[27][4];  /* displacement of a sphere seen in another box, by code */
} carom_gas_trajectories;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Entries are slots with the code of the box they are seen in. They fill a cell from the front; the
 * last entry may hold a link to an overflow cell instead. Values from CAROM_GAS_LINK on are not
 * entries: no box has that code. */
#define CAROM_GAS_LINK         (UINT32_C(27) << 27)
#define CAROM_GAS_EMPTY        UINT32_MAX
#define CAROM_GAS_CELL_ENTRIES 4 /* 16 bytes: one vector, and four cells in a cache line */
typedef struct carom_gas_cell {
    uint32_t entry[CAROM_GAS_CELL_ENTRIES];
} carom_gas_cell;

/* CENTRE: the cell of the centre or one next to it. NEIGHBOURS: the cell of the list's centre.
 * EXTENT: the lowest cell the sphere overlaps. */
typedef struct carom_gas_home {
    uint16_t at[3];
    uint16_t extra; /* CENTRE: the level. EXTENT: bit k is set when the next cell along axis k is
                       overlapped too. NEIGHBOURS: 1 when no cell around is in another box */
} carom_gas_home;

/* Event record: the second cache line of a sphere, after its body. */
typedef struct carom_gas_record {
    carom_gas_prediction prediction;
    carom_gas_home home;
    uint32_t label;
    float centre[3];   /* NEIGHBOURS: position at which its list was built */
    uint32_t follower; /* slot of a partner without an entry in the queue, as this sphere's entry
                          represents both; or NO_SLOT */
    float next_best;   /* ticks from the time of a provisional prediction to a lower bound of all
                          other events of the sphere; or 0 */
} carom_gas_record;
_Static_assert(sizeof(carom_gas_record) == 64, "a record is a cache line");

typedef struct carom_gas_cells {
    carom_gas_cell *cells; /* x fastest, with one layer around, then the overflow cells */
    uint64_t count;        /* cells without the overflow cells */
    uint64_t overflow_capacity;
    uint32_t free_overflow; /* chained through entry[0]; CAROM_GAS_EMPTY ends */
    uint32_t free_count;
    uint32_t size[4];    /* without the layer around; the fourth value pads the vectors */
    carom_gas_home last; /* the highest cell */
    double edge[4], per_edge[3];
    double skin[4];  /* CENTRE: distance by which a sphere may leave its cell; see gas_run_cpu.c */
    double ahead[4]; /* the same for a cell that it enters early: less within windows of time */
} carom_gas_cells;

/* ---- Levels of cells (gas_levels.h) ---------------------------------------------------------- */

#define CAROM_GAS_MOST_LEVELS                                                                      \
    16 /* coordinates have 16 bits, and each level has half as many cells */

typedef struct carom_gas_level {
    carom_gas_cells cells;    /* of the finest level unused: they are the gas's */
    uint32_t shift;           /* a cell is 2^shift cells of the finest level wide */
    double smallest, largest; /* radii of its spheres */
    double growth;            /* of the radii of its trajectories, as in carom_gas_trajectories */
} carom_gas_level;

typedef struct carom_gas_levels {
    carom_gas_level *level; /* the finest first */
    uint32_t count;         /* 0: all spheres are in one grid */
    double typical;         /* half of all radii are no larger, about */
    double drift;           /* after this path a sphere looks for smaller ones again */
} carom_gas_levels;

/* ---- Neighbour lists ------------------------------------------------------------------------- */

/* Position at which a list was built, and the radius. Both are rounded: a list may hold more than
 * is needed. */
typedef struct carom_gas_centre {
    float x[3], radius;
} carom_gas_centre;

typedef struct carom_gas_lists {
    carom_gas_centre *centres; /* by slot */
    uint32_t *entries;         /* a list is its length, then the candidates; `stride` apart */
    uint32_t stride, capacity; /* capacity: candidates per list, at most CAROM_GAS_MOST_LISTED */
    double cutoff;             /* as requested, in largest diameters */
    double skin;               /* a body may leave the centre of its list by this distance */
    float slack;               /* twice the skin, and a margin for the rounding of centres */
} carom_gas_lists;

/* ---- Event queue ----------------------------------------------------------------------------- */

#define CAROM_GAS_CHUNK_SLOTS 14 /* with two words more, 64 bytes */
#define CAROM_GAS_PENDING     8  /* entries whose bucket is being prefetched; a power of two */
typedef struct carom_gas_chunk { /* one cache line */
    uint32_t slot[CAROM_GAS_CHUNK_SLOTS];
    uint32_t next, count;
} carom_gas_chunk;

typedef struct carom_gas_queue_entry {
    int64_t time;
    uint32_t slot, spare;
} carom_gas_queue_entry;

typedef struct carom_gas_calendar {
    carom_gas_chunk *chunks;
    uint32_t *heads; /* bucket -> chunk, or CAROM_GAS_EMPTY; the last is the overflow */
    uint64_t chunk_count, chunk_capacity;
    uint32_t free_chunk, free_count;
    uint32_t buckets;              /* a power of two */
    int shift;                     /* a bucket spans 2^shift ticks */
    int64_t base;                  /* the first bucket not yet in the window, as time >> shift */
    int64_t next_look;             /* bucket at which the overflow is examined next */
    uint64_t entries;              /* in chunks, stale ones included */
    carom_gas_queue_entry *window; /* sorted by time */
    uint64_t window_head, window_tail, window_capacity;
    uint64_t looked;                     /* entries of the window up to here were prefetched */
    uint32_t pending[CAROM_GAS_PENDING]; /* slots whose chunk is being prefetched */
    uint32_t pending_at;                 /* index of the oldest, modulo CAROM_GAS_PENDING */
    uint64_t loaded, loaded_from;        /* entries moved to the window since bucket loaded_from */
} carom_gas_calendar;

typedef struct carom_gas_tree {
    uint32_t *heap; /* slots; a parent is never due later than its children */
    uint32_t *heap_index;
    uint64_t count;
} carom_gas_tree;

/* ---- Gas ------------------------------------------------------------------------------------- */

typedef struct carom_gas_total { /* a compensated sum */
    double sum, rest;
} carom_gas_total;

static inline void carom_gas_total_add(carom_gas_total *total, double value) {
    double sum = total->sum + value;
    total->rest +=
        fabs(total->sum) >= fabs(value) ? (total->sum - sum) + value : (value - sum) + total->sum;
    total->sum = sum;
}

/* What the caller's thread spends its time on while there are windows (gas_windows.c). */
typedef enum carom_gas_phase {
    CAROM_GAS_PHASE_SETUP,  /* regions and calendars, and one calendar of all at the end */
    CAROM_GAS_PHASE_FIRST,  /* the first pass */
    CAROM_GAS_PHASE_LATER,  /* the passes after it */
    CAROM_GAS_PHASE_LAST,   /* what is left, on one thread */
    CAROM_GAS_PHASE_REDO,   /* windows that are undone: undoing and doing them again */
    CAROM_GAS_PHASE_STREAM, /* merging and counting events */
    CAROM_GAS_PHASE_RENEW,  /* trajectories, the fastest body, free cells */
    CAROM_GAS_PHASES
} carom_gas_phase;

/* What windows of time came to, since create (gas_windows.h). */
typedef struct carom_gas_window_counts {
    uint64_t windows, undone;
    uint64_t steps, kept, serial; /* entries handled; not in the first pass; on one thread */
    uint32_t threads;             /* of the last window */
    double seconds[CAROM_GAS_PHASES];
} carom_gas_window_counts;

struct carom_gas {
    carom_allocator allocator;
    carom_gas_def def;
    carom_gas_rules rules;
    carom_gas_method method;
    uint64_t count, capacity;        /* spheres present; capacity of the arrays by slot */
    uint64_t labels, label_capacity; /* ids given out; capacity of slot_of */
    carom_gas_body *bodies;          /* by slot, like the next three */
    carom_gas_record *records;
    double *radius, *mass;    /* NULL where all radii, or all masses, are equal */
    uint32_t *slot_of;        /* by label; CAROM_GAS_NO_SLOT when removed */
    bool uniform;             /* all radii are equal */
    double common_mass;       /* 0 where masses differ */
    bool prefetch;            /* the gas is large enough to miss the caches */
    bool predicts_together;   /* both spheres of a collision at once: they wait for memory once */
    bool watches_speed;       /* collisions or the acceleration may make a sphere too fast */
    bool ready;               /* cells and queue are built */
    double longest;           /* longest edge of the box */
    double largest, smallest; /* radii */
    double most_acceleration; /* along an axis */
    double safe_drift;        /* a body needs no refresh within this path length */
    double packing;
    carom_gas_trajectories trajectories;
    carom_gas_cells cells;
    carom_gas_levels levels;
    carom_gas_lists lists;
    carom_gas_calendar calendar;
    carom_gas_tree tree;
    int64_t now;
    int64_t homes_until; /* up to this tick, homes and lists may be those of a later time, set
                            within a window (gas_windows.h) */
    uint64_t epochs;     /* epochs of CAROM_GAS_EPOCH ticks passed before tick 0 */
    uint64_t events;     /* since create */
    uint64_t waits;      /* bodies rewritten because CAROM_GAS_HORIZON had passed, since create */
    uint64_t sort_after; /* the order in memory is checked at this number of predictions */
    struct carom_gas_part *part; /* NULL, or what one thread does in a window (gas_windows.h) */
    uint64_t parallel_from;      /* spheres from which windows are used */
    uint64_t window_span;        /* ticks of the last window; 0: none yet */
    carom_gas_window_counts counts;
    /* measures */
    uint64_t collisions, wall_hits, crossings, predictions;
    double measured_from;
    carom_gas_total virial;
};

/* The epoch moves forward by this many ticks once `now` has passed twice as many. A run goes at
 * most three epochs at once, so that `now` and the horizon, four epochs, stay below 2^62. */
#define CAROM_GAS_EPOCH (INT64_C(1) << 59)

/* Upper bound of times. Beyond it, with the default tick, a double cannot distinguish two times in
 * which a sphere moves by its radius. */
#define CAROM_GAS_MOST_EPOCHS (UINT64_C(1) << 44)

/* A tick of an epoch in the caller's unit of time, rounded once: so the time does not depend on the
 * epoch, which moves at other events on other numbers of threads. The ticks are split into parts
 * that are exact doubles, and so is the rest of the first sum. */
#define CAROM_GAS_LOW_TICKS INT64_C(2048)
static inline double carom_gas_epoch_time(uint64_t epochs, int64_t tick, double unit) {
    double start = (double)epochs * (double)CAROM_GAS_EPOCH;
    int64_t low = tick % CAROM_GAS_LOW_TICKS;
    double high = (double)(tick - low), sum = start + high;
    double added = sum - start, rest = (start - (sum - added)) + (high - added);
    return (sum + (rest + (double)low)) * unit;
}

static inline double carom_gas_time_of(const carom_gas *gas, int64_t tick) {
    return carom_gas_epoch_time(gas->epochs, tick, gas->rules.tick);
}

/* Upper bound of the path per tick, in smallest radii. Crossings are rounded to ticks, so two
 * spheres may be nearer by two such paths than their cells tell: EDGE_MARGIN in gas_cells.c exceeds
 * that. */
#define CAROM_GAS_MOST_STEP 0x1p-20
static inline bool carom_gas_keeps_pace(const carom_gas *gas, const double v[3]) {
    return (fabs(v[0]) + fabs(v[1]) + fabs(v[2])) * gas->rules.tick <=
           CAROM_GAS_MOST_STEP * gas->smallest;
}

/* The arrays of radii and masses exist only where these differ. */
static inline double carom_gas_radius(const carom_gas *gas, uint32_t slot) {
    return gas->radius == NULL ? gas->largest : gas->radius[slot];
}

static inline double carom_gas_contact_distance(const carom_gas *gas, uint32_t i, uint32_t k) {
    return gas->uniform ? gas->largest + gas->largest : gas->radius[i] + gas->radius[k];
}

static inline double carom_gas_mass(const carom_gas *gas, uint32_t slot) {
    return gas->common_mass > 0.0 ? gas->common_mass : gas->mass[slot];
}

/* Radius for CAROM_GAS_METHOD_EXTENT: larger than the true one by a quarter of the margin of a cell
 * (EDGE_MARGIN and WIDTH_MARGIN in gas_cells.c), so that a sphere is narrower than a cell. That is
 * far above the rounding of a position, which is below 1e-14 of the longest edge. */
#define CAROM_GAS_EXTENT_MARGIN       2.5e-7  /* of the radius */
#define CAROM_GAS_EXTENT_WIDTH_MARGIN 2.5e-10 /* of the longest edge of the box */
static inline double carom_gas_extent_radius(const carom_gas *gas, uint32_t slot) {
    return carom_gas_radius(gas, slot) * (1.0 + CAROM_GAS_EXTENT_MARGIN) +
           CAROM_GAS_EXTENT_WIDTH_MARGIN * gas->longest;
}

/* The least edge of a periodic box. It exceeds the diameter by ten times the margin of a cell, so
 * that a box of one cell is possible and a sphere never touches its own image. */
#define CAROM_GAS_BOX_MARGIN       1e-5 /* of the diameter */
#define CAROM_GAS_BOX_WIDTH_MARGIN 1e-8 /* of the longest edge of the box */
static inline double carom_gas_least_periodic(const carom_gas *gas, double radius) {
    return 2.0 * radius * (1.0 + CAROM_GAS_BOX_MARGIN) + CAROM_GAS_BOX_WIDTH_MARGIN * gas->longest;
}

/* The widest box, in radii of its smallest sphere: beyond it the rounding of a position, 2^-53 of
 * an edge, exceeds a tenth of a radius. */
#define CAROM_GAS_MOST_WIDTH 1e15

/* ---- Functions shared between the files ------------------------------------------------------ */

/* Why a run ended. */
typedef enum carom_gas_stop {
    CAROM_GAS_STOP_TIME,     /* no more events up to the requested time */
    CAROM_GAS_STOP_EVENT,    /* on_event requested it */
    CAROM_GAS_STOP_STEPS,    /* the number of steps is reached */
    CAROM_GAS_STOP_MEMORY,   /* no memory */
    CAROM_GAS_STOP_LISTS,    /* a neighbour list is full: grow the lists and continue */
    CAROM_GAS_STOP_RENEW,    /* the trajectories end: renew them and continue */
    CAROM_GAS_STOP_COLLAPSE, /* a sphere collides endlessly: `culprit` */
    CAROM_GAS_STOP_RESPONSE, /* the response gave an invalid velocity: `culprit` */
    CAROM_GAS_STOP_FAST      /* `culprit` has become too fast for the tick */
} carom_gas_stop;

/* The caller's function that sees each event; on_event may be NULL. */
typedef struct carom_gas_observer {
    carom_gas_event_fn *on_event;
    void *user;
    bool wants_one; /* it stops at the first event */
} carom_gas_observer;

/* The time to which a call advances, and the units of its progress that were reported. */
typedef struct carom_gas_goal {
    double start, until;
    uint64_t shown;
} carom_gas_goal;

void carom_gas_show_progress(carom_context *context, const carom_gas *gas, carom_gas_goal *goal);

/* Spheres from which several threads are worth their while. */
#define CAROM_GAS_PARALLEL_FROM 20000

/* Handles the entries due up to tick `until`, at most `steps` of them. */
CAROM_CPU_DECLARE(carom_gas_stop, carom_gas_run, carom_gas *gas, int64_t until, uint64_t steps,
                  const carom_gas_observer *observer, uint32_t *culprit);
/* Predicts the spheres with slots in [from, to). The queue is to be created once all are predicted.
 * False when there is no memory. */
CAROM_CPU_DECLARE(bool, carom_gas_predict_some, carom_gas *gas, uint64_t from, uint64_t to);

/* Reserves capacity in the arrays by slot and by label. */
carom_status carom_gas_reserve(carom_context *context, carom_gas *gas, uint64_t count,
                               uint64_t labels);
/* Checks all spheres after a change of the set; CAROM_BAD_INPUT when two overlap. The pace may
 * exceed its range by the factor `tolerance`, for files. Reports one unit per sphere. */
carom_status carom_gas_check(carom_context *context, carom_gas *gas, double tolerance);

/* Long loops over spheres check for cancellation once per this many: some 0.05 ms, and below 0.2 s
 * even where all of a million spheres share one cell. */
#define CAROM_GAS_LOOK_EVERY 64
/* At sphere i: reports `amount` per sphere; CAROM_CANCELLED when the work is cancelled. */
static inline carom_status carom_gas_look(carom_context *context, uint64_t i, uint64_t amount) {
    if (i % CAROM_GAS_LOOK_EVERY != 0) return CAROM_OK;
    carom_progress_add(context, 0, amount * CAROM_GAS_LOOK_EVERY);
    return carom_progress_look(context);
}

/* Sorts the spheres in memory, builds cells and lists for their present positions, predicts all and
 * fills the queue. Reports `amount` per sphere. After a failure or a cancellation the gas has no
 * cells and no queue; the next call tries again. */
carom_status carom_gas_rebuild(carom_context *context, carom_gas *gas, uint64_t amount);

/* Sorts the spheres in memory along a Morton curve. Cells, lists and queue must be built anew. */
carom_status carom_gas_sort(carom_context *context, carom_gas *gas);

/* True when the order in memory has decayed; checked once in a while. */
bool carom_gas_is_unsorted(carom_gas *gas);
/* Renews the order in memory when it has decayed. */
carom_status carom_gas_resort(carom_context *context, carom_gas *gas);

/* Present position and velocity. The position is inside the box along periodic axes. */
void carom_gas_now(const carom_gas *gas, uint32_t slot, double x[3], double v[3]);

/* Gives back the scratch memory of the calling thread where it is large: beside a large gas it
 * would be a tenth of all memory until the next use. */
void carom_gas_drop_scratch(carom_context *context);

/* Deepest overlap of all pairs, relative to the sum of radii; `pair` receives the labels. Reports
 * one unit per sphere. */
carom_status carom_gas_deepest(carom_context *context, const carom_gas *gas, double *overlap,
                               uint32_t pair[2]);

/* Recomputes all trajectories from the bodies, with `now` as the common time. Cells and wraps must
 * be set. `predicted`: there are predictions, which must stay valid. When it is cancelled, the gas
 * is no longer ready. */
carom_status carom_gas_trajectories_renew(carom_context *context, carom_gas *gas, bool predicted);

carom_status carom_gas_cells_create(carom_context *context, carom_gas *gas, uint64_t amount);
/* Reserves the overflow cells one step may need, in all levels; false when there is no memory. */
bool carom_gas_cells_reserve(carom_gas *gas);
/* The same for `wanted` cells of one grid. */
bool carom_gas_cells_reserve_many(const carom_gas *gas, carom_gas_cells *cells, uint64_t wanted);
void carom_gas_cells_release(carom_gas *gas);

/* Cells must be built. */
carom_status carom_gas_lists_create(carom_context *context, carom_gas *gas);
/* Increases the capacity of each list. */
carom_status carom_gas_lists_grow(carom_context *context, carom_gas *gas);
void carom_gas_lists_release(carom_gas *gas);

/* When it is cancelled, there is no queue, and the next run makes one. */
carom_status carom_gas_queue_create(carom_context *context, carom_gas *gas);
static inline bool carom_gas_has_queue(const carom_gas *gas) {
    return gas->calendar.heads != NULL || gas->tree.heap != NULL;
}
/* Removes stale entries or reserves capacity for the next steps; false when there is no memory. */
bool carom_gas_calendar_reserve(carom_gas *gas);
/* Makes the calendar of a part of a gas, or of all of it; false when there is no memory, or the
 * work is cancelled. */
bool carom_gas_calendar_create(carom_context *context, uint32_t worker, carom_gas *gas);
/* Sorts entries by time. */
void carom_gas_queue_sort(carom_gas_queue_entry *entries, uint64_t count);
/* Empties the calendar, chooses the bucket width again and enters all spheres. */
bool carom_gas_calendar_refill(carom_gas *gas);
void carom_gas_queue_release(carom_gas *gas);

/* For tests and fuzzers, between two calls: NULL, or the first invariant of the gas that does not
 * hold. O(n), and O(n^2) for the few spheres of a test. */
const char *carom_gas_validate(carom_context *context, const carom_gas *gas);

/* Cell edge of least cost by the equation of Kim, Guibas and Shin. */
double carom_gas_model_edge(double density, double radius);

#endif
