/* SPDX-License-Identifier: MIT */
/* gas.h: what a gas is made of.
 *
 *   label   the caller's id of a sphere; never changes
 *   slot    where the sphere lies in memory; renewed now and then so that neighbours in space are
 *           neighbours in memory
 *
 * Each sphere has one entry in the queue, the earlier of its physical event (the earliest it has
 * with any partner, a wall or the refreshing of its body) and its own crossing. An event with a
 * partner that has changed since is stale: a lower bound, predicted again when its time comes. So
 * is a provisional one, known by floats only: it gets its exact tick when its time comes.
 * Invariant: of two bodies that will meet, the one rewritten later has an event no later than the
 * meeting, or will be predicted again before. */
#ifndef CAROM_SRC_GAS_GAS_H
#define CAROM_SRC_GAS_GAS_H

#include "base/context.h"
#include "base/isa.h"
#include "base/progress.h"
#include "carom/gas.h"
#include "gas/gas_item.h"

#define CAROM_GAS_MOST_SPHERES (UINT32_C(1) << 27)
#define CAROM_GAS_NO_SLOT      UINT32_MAX
#define CAROM_GAS_MOST_PULL    1e100 /* an acceleration whose square is still a number */

/* Scales at which no product in gas_item.h leaves the doubles, with P = length times speed: lengths
 * L within [1e-60, 1e60] (a box is at most 1e15 radii wide), and the pace, a radius per tick,
 * within [1e-40, 1e70]. Speeds are then below 2^-20 of the pace, so the largest product, L^2 v^2,
 * stays below (1e60 1e64)^2. The smallest that decides anything belongs to two spheres whose gap of
 * 1e-16 radii closes within 2^61 ticks: u >= 1e-16 2^-61 of the pace, so L^2 u^2 >= 1e-270. */
#define CAROM_GAS_LEAST_LENGTH 1e-60
#define CAROM_GAS_MOST_LENGTH  1e60
#define CAROM_GAS_LEAST_PACE   1e-40
#define CAROM_GAS_MOST_PACE    1e70
#define CAROM_GAS_MOST_SPEED   1e60
#define CAROM_GAS_LEAST_MASS   1e-100 /* energies and the virial stay finite with these, too */
#define CAROM_GAS_MOST_MASS    1e100

/* After carom_gas_kind: what the caller never sees. */
#define CAROM_GAS_REFRESH     2
#define CAROM_GAS_PROVISIONAL 3 /* a pair by floats, due no later than they meet: gas_scan.h */
#define CAROM_GAS_UNRESOLVED  4 /* floats cannot tell who is first: decided exactly when due */

/* Half a cache line per sphere. */
typedef struct carom_gas_prediction {
    int64_t physical, crossing; /* ticks */
    uint32_t partner;           /* slot */
    uint32_t stamp;             /* of its trajectory when this was predicted */
    int8_t image[3];            /* boxes to shift the partner by, if its own were 0 */
    uint8_t kind;               /* of the physical event; for walls partner is the side */
    uint8_t side;               /* of the cell to be crossed: 2 axis + (0 low, 1 high) */
    uint8_t current;            /* it stands in the calendar's window */
    uint16_t repeats;           /* events of this sphere at one tick */
} carom_gas_prediction;

static inline int64_t carom_gas_due(const carom_gas_prediction *prediction) {
    return prediction->physical < prediction->crossing ? prediction->physical
                                                       : prediction->crossing;
}

/* ---- trajectories: see gas_trajectory.h
 * ------------------------------------------------------------------- */

/* In units of the largest diameter and a typical speed. Half a cache line. */
typedef struct carom_gas_trajectory {
    float x[3], radius;
    float v[3];
    uint32_t stamp; /* an event predicted with another is stale */
} carom_gas_trajectory;

/* Stamps count rewritings of the body, and changes of wraps since the last one in the lowest byte:
 * a refreshing comes long before that is full. */
#define CAROM_GAS_REWRITTEN 256u

typedef struct carom_gas_trajectories {
    carom_gas_trajectory *by_slot;
    int64_t start, until; /* the common time; they are good up to the other */
    double per_length, per_speed, per_time;
    double growth, growth_by_speed; /* of radii */
    double common_radius;           /* 0 where radii differ */
    double ticks_per_bound;         /* a little less than ticks in one unit of time */
    float margin;             /* a provisional pair is first when it is by this much of a bound */
    int64_t leeway;           /* half of it in ticks: so late a provisional pair may really meet */
    int64_t safe_span;        /* without refreshing, of all that are not wild; ticks */
    float recede2;            /* two that touch surely recede when d u / |u| is above its root */
    uint64_t wild, most_wild; /* written since, and when to choose units anew */
    float shift[27][4];       /* of those seen in another box, by code */
} carom_gas_trajectories;

/* ---- cells ----------------------------------------------------------------------------------- */

/* Words, slots with the box they are seen in, fill from the front; the last place may hold a link
 * to an overflow cell instead. Values from CAROM_GAS_LINK on are no such entries: no box has that
 * code. */
#define CAROM_GAS_LINK         (UINT32_C(27) << 27)
#define CAROM_GAS_EMPTY        UINT32_MAX
#define CAROM_GAS_CELL_ENTRIES 4
typedef struct carom_gas_cell {
    uint32_t entry[CAROM_GAS_CELL_ENTRIES];
} carom_gas_cell;

/* CENTRE: the cell of the centre or one beside it. NEIGHBOURS: the cell of the list's centre.
 * EXTENT: the lowest cell met. */
typedef struct carom_gas_home {
    uint16_t at[3];
    uint16_t extra; /* EXTENT: bit k set when the next cell along axis k is met too. NEIGHBOURS: 1
                       when no cell around is in another box */
} carom_gas_home;

/* The second cache line of a sphere, after its body. */
typedef struct carom_gas_record {
    carom_gas_prediction prediction;
    carom_gas_home home;
    uint32_t label;
    float centre[3];   /* NEIGHBOURS: where its list was made */
    uint32_t follower; /* a slot without entry in the queue, as it is met by this one; or NO_SLOT */
    float others; /* ticks from a provisional prediction's time before which nothing else can come;
                     or 0 */
} carom_gas_record;
_Static_assert(sizeof(carom_gas_record) == 64, "a record is a cache line");

typedef struct carom_gas_cells {
    carom_gas_cell *cells; /* x fastest, with a layer around, then the overflow cells */
    uint64_t count;        /* without overflow */
    uint64_t overflow_capacity;
    uint32_t free_overflow; /* chained through entry[0]; CAROM_GAS_EMPTY ends */
    uint32_t free_count;
    uint32_t size[4];    /* without the layer around; a fourth axis rounds the vectors off */
    carom_gas_home last; /* the highest cell */
    double edge[4], per_edge[3];
    double leeway[4]; /* CENTRE: a sphere may stray from its cell by this; see gas_centre.h */
} carom_gas_cells;

/* ---- neighbour lists ------------------------------------------------------------------------- */

/* Where a list was made, and the radius: rounded, as lists only have to hold enough. */
typedef struct carom_gas_centre {
    float x[3], radius;
} carom_gas_centre;

typedef struct carom_gas_lists {
    carom_gas_centre *centres; /* by slot */
    uint32_t *entries;         /* a list is its length and the candidates; stride entries apart */
    uint32_t stride, capacity; /* capacity: candidates in a list, at most CAROM_GAS_MOST_LISTED */
    double reach;              /* as asked for, in largest diameters */
    double leeway;             /* a body may stray from the centre of its list by this */
    float slack;               /* for the rounding of centres */
} carom_gas_lists;

/* ---- queue ----------------------------------------------------------------------------------- */

#define CAROM_GAS_CHUNK_SLOTS 14
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
    int shift;                     /* a bucket is 2^shift ticks */
    int64_t base;                  /* the first bucket not yet in the window, as time >> shift */
    int64_t next_look;             /* at the overflow, as a bucket */
    uint64_t entries;              /* in chunks, dead ones included */
    carom_gas_queue_entry *window; /* sorted by time */
    uint64_t window_head, window_tail, window_capacity;
    uint64_t looked;              /* up to where in the window the loop has looked ahead */
    uint32_t pending[8];          /* slots whose chunk is on its way into the cache */
    uint32_t pending_at;          /* where the oldest is */
    uint64_t loaded, loaded_from; /* entries that came into the window since bucket loaded_from */
} carom_gas_calendar;

typedef struct carom_gas_tree {
    uint32_t *heap; /* slots; the parent is never due later */
    uint32_t *place;
    uint64_t count;
} carom_gas_tree;

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct carom_gas_total { /* a sum with its rounding error carried along */
    double sum, rest;
} carom_gas_total;

struct carom_gas {
    carom_allocator allocator;
    carom_gas_def def;
    carom_gas_rules rules;
    carom_gas_method method;
    uint64_t count, capacity;        /* living spheres; room in the arrays by slot */
    uint64_t labels, label_capacity; /* ids given out; room in slot_of */
    carom_gas_body *bodies;          /* by slot, as the next three */
    carom_gas_record *records;
    double *radius, *mass;
    uint32_t *slot_of;        /* by label; CAROM_GAS_NO_SLOT when dead */
    bool uniform;             /* all radii are equal */
    double common_mass;       /* 0 where masses differ */
    bool prefetch;            /* large enough to miss the caches */
    bool in_twos;             /* two that have met are predicted together: see gas_centre.h */
    bool watches_speed;       /* collisions or the acceleration may make a sphere too fast */
    bool ready;               /* cells and queue stand */
    bool exactly;             /* predictions are to be exact at once */
    double longest;           /* edge of the box */
    double largest, smallest; /* radii */
    double most_acceleration; /* along an axis */
    double safe_drift;        /* a way that needs no refreshing of a body */
    double packing;
    carom_gas_trajectories trajectories;
    carom_gas_cells cells;
    carom_gas_lists lists;
    carom_gas_calendar calendar;
    carom_gas_tree tree;
    int64_t now;
    uint64_t epochs;     /* of CAROM_GAS_EPOCH ticks, passed before tick 0 */
    uint64_t events;     /* since create */
    uint64_t waits;      /* bodies rewritten because CAROM_GAS_HORIZON had passed */
    uint64_t sort_after; /* predictions at which the order in memory is looked at again */
    /* measures */
    uint64_t collisions, wall_hits, crossings, predictions;
    double measured_from;
    carom_gas_total virial;
    /* set for the length of a run */
    carom_gas_event_fn *on_event;
    void *on_event_user;
};

/* The epoch moves forward by this many ticks once `now` has passed twice as many. */
#define CAROM_GAS_EPOCH (INT64_C(1) << 59)

/* Times end here: beyond, with the tick that is chosen by default, a double does not tell apart two
 * times in which a sphere moves by its radius. */
#define CAROM_GAS_MOST_EPOCHS (UINT64_C(1) << 44)

static inline double carom_gas_time_of(const carom_gas *gas, int64_t tick) {
    return ((double)gas->epochs * (double)CAROM_GAS_EPOCH + (double)tick) * gas->rules.tick;
}

/* Within one tick a sphere must move next to nothing: crossings are found by time. */
#define CAROM_GAS_MOST_STEP 0x1p-20 /* of the smallest radius */
static inline bool carom_gas_keeps_pace(const carom_gas *gas, const double v[3]) {
    return (fabs(v[0]) + fabs(v[1]) + fabs(v[2])) * gas->rules.tick <=
           CAROM_GAS_MOST_STEP * gas->smallest;
}

static inline double carom_gas_contact_distance(const carom_gas *gas, uint32_t i, uint32_t k) {
    return gas->uniform ? gas->largest + gas->largest : gas->radius[i] + gas->radius[k];
}

static inline double carom_gas_mass(const carom_gas *gas, uint32_t slot) {
    return gas->common_mass > 0.0 ? gas->common_mass : gas->mass[slot];
}

/* A sphere of CAROM_GAS_METHOD_EXTENT, a little larger than it is. */
static inline double carom_gas_extent_radius(const carom_gas *gas, uint32_t slot) {
    return gas->radius[slot] * (1.0 + 2.5e-7) + 2.5e-10 * gas->longest;
}

/* ---- between the files ----------------------------------------------------------------------- */

/* Why a run ended. */
typedef enum carom_gas_stop {
    CAROM_GAS_STOP_TIME,     /* nothing more up to the time asked for */
    CAROM_GAS_STOP_EVENT,    /* on_event said so */
    CAROM_GAS_STOP_STEPS,    /* enough steps for once */
    CAROM_GAS_STOP_ROOM,     /* no memory */
    CAROM_GAS_STOP_LISTS,    /* a list of neighbours is full: grow them and go on */
    CAROM_GAS_STOP_COLLAPSE, /* a sphere collides without end: `culprit` */
    CAROM_GAS_STOP_RESPONSE, /* the response gave a velocity that is no number: `culprit` */
    CAROM_GAS_STOP_FAST      /* `culprit` has become too fast for the tick */
} carom_gas_stop;

/* Handles what is due up to tick `until`, at most `steps` entries of the queue. */
CAROM_CPU_DECLARE(carom_gas_stop, carom_gas_run, carom_gas *gas, int64_t until, uint64_t steps,
                  uint32_t *culprit);
/* Predictions for the spheres from one slot to before another; after all have theirs the queue is
 * to be created. False when there is no memory. */
CAROM_CPU_DECLARE(bool, carom_gas_predict_some, carom_gas *gas, uint64_t from, uint64_t to);

/* Room in the arrays by slot and by label. */
carom_status carom_gas_reserve(carom_context *context, carom_gas *gas, uint64_t count,
                               uint64_t labels);
/* Looks over all spheres after a change of the set; CAROM_BAD_INPUT when two overlap. `leeway`: so
 * many times beyond the scales above is still taken, for files. Reports one unit per sphere. */
carom_status carom_gas_check(carom_context *context, carom_gas *gas, double leeway);

/* Long loops over spheres look for a cancellation every so many: some 0.05 ms, and below 0.2 s even
 * where all of a million spheres share one cell. */
#define CAROM_GAS_LOOK_EVERY 64
/* At sphere i: reports `amount` per sphere; CAROM_CANCELLED when the work is to end. */
static inline carom_status carom_gas_look(carom_context *context, uint64_t i, uint64_t amount) {
    if (i % CAROM_GAS_LOOK_EVERY != 0) return CAROM_OK;
    carom_progress_add(context, 0, amount * CAROM_GAS_LOOK_EVERY);
    return carom_progress_look(context);
}

/* Sorts the spheres in memory, lays out cells and lists for them as they are now, predicts all,
 * fills the queue. Reports `amount` per sphere. After a failure, or cancelled, the gas holds no
 * cells and no queue; the next call tries again. */
carom_status carom_gas_rebuild(carom_context *context, carom_gas *gas, uint64_t amount);

/* Looks whether the order in memory has decayed and renews it then. */
carom_status carom_gas_resort(carom_context *context, carom_gas *gas);

/* Position now, inside the box along periodic axes. */
void carom_gas_now(const carom_gas *gas, uint32_t slot, double x[3], double v[3]);

/* Deepest overlap among all, relative to the sum of radii; `pair` receives the labels. Reports one
 * unit per sphere. */
carom_status carom_gas_deepest(carom_context *context, const carom_gas *gas, double *overlap,
                               uint32_t pair[2]);

/* All trajectories from bodies, with `now` as the common time. Cells and wraps must be in place. */
void carom_gas_trajectories_renew(carom_gas *gas);

carom_status carom_gas_cells_create(carom_context *context, carom_gas *gas, uint64_t amount);
/* Overflow cells for one step; false when there is no memory. */
bool carom_gas_cells_room(carom_gas *gas);
void carom_gas_cells_release(carom_gas *gas);

/* Cells must be in place. */
carom_status carom_gas_lists_create(carom_context *context, carom_gas *gas);
/* Room for more neighbours in each list. */
carom_status carom_gas_lists_grow(carom_context *context, carom_gas *gas);
void carom_gas_lists_release(carom_gas *gas);

carom_status carom_gas_queue_create(carom_context *context, carom_gas *gas);
/* Sweeps out the dead or makes room for what some steps add; false when there is no memory. */
bool carom_gas_calendar_room(carom_gas *gas);
/* Empties the calendar, chooses the width of buckets anew, enters all spheres again. */
bool carom_gas_calendar_refill(carom_gas *gas);
void carom_gas_queue_release(carom_gas *gas);

/* Cell edge at the least cost by the equation of Kim, Guibas and Shin. */
double carom_gas_model_edge(double density, double radius);

#endif
