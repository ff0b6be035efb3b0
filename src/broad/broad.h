/* SPDX-License-Identifier: MIT */
/* broad.h: the members of a broad phase, and the search that its methods share.
 *
 *   boxes, by id  --update-->  tree, grid or sorted entries  --search-->  pairs
 *
 * Boxes are kept as doubles, by id. The methods search float32 boxes that contain them, and what
 * they find is a candidate; doubles decide, unless every box is exact as float32. So the answer
 * does not depend on the method. */
#ifndef CAROM_SRC_BROAD_BROAD_H
#define CAROM_SRC_BROAD_BROAD_H

#include <stdatomic.h>

#include "base/array.h"
#include "base/context.h"
#include "base/pair_list.h"
#include "base/worker_state.h"
#include "broad/broad_cpu.h"
#include "broad/broad_device.h"
#include "bvh/bvh.h"
#include "grid/grid.h"

#define CAROM_BROAD_MOST ((uint64_t)1 << 30) /* ids; sweep entries hold two flags beside an id */

/* States of an id. */
#define CAROM_BROAD_LIVE    1u
#define CAROM_BROAD_CHANGED 2u /* since the last frame */
#define CAROM_BROAD_PENDING 4u /* since the last update */

CAROM_ARRAY(carom_broad_ids, uint32_t);
CAROM_ARRAY(carom_broad_words, uint64_t);

/* The sorted entries of sweep and prune; see broad_sweep.c. */
typedef struct carom_broad_sweep {
    uint32_t *keys;   /* of each entry: cell, then the low end along the axis */
    uint32_t *owners; /* id, and in the two highest bits whether the cell is the box's lowest */
    float *rows[6];   /* low and high along the axis, then along the two others */
    uint64_t count, capacity;
    int axis[3];       /* that of the sweep first */
    double low, scale; /* of keys along the axis: (x - low) * scale */
    uint32_t key_bits; /* of these */
    uint64_t cells, lone_cells, entries, bound;
    double cell; /* edge, in the caller's units */
} carom_broad_sweep;

struct carom_broad {
    carom_allocator allocator;
    carom_broad_method method; /* never AUTO on the CPU */
    carom_grid_def grid_def;
    double sweep_cell;
    carom_broad_accept_fn *accept;
    void *accept_user;

    /* By id. */
    carom_bounds *boxes;         /* empty: not live */
    uint8_t *states;             /* CAROM_BROAD_LIVE ... */
    carom_broad_filter *filters; /* NULL: none was ever set */
    uint64_t capacity;           /* of these; ids not given out yet have empty boxes */
    uint32_t id_count, live;
    carom_broad_ids free_ids;  /* that may be given out again, last first */
    carom_broad_ids freed_ids; /* removed since the last frame */

    /* Changes. */
    carom_broad_ids pending, changed; /* ids with that state */
    bool all_pending, all_changed;    /* all ids; the lists are then not complete */

    /* The prepared structure. */
    carom_status failure; /* of the last update; CAROM_OK: it can be searched */
    bool built;
    carom_broad_space space;
    bool exact; /* all float32 boxes are the boxes themselves */
    carom_bvh tree;
    double tree_extent; /* carom_bvh_extent when it was built */
    uint32_t *slot_of;  /* of each item of the tree; capacity is slot_capacity */
    uint64_t slot_capacity;
    bool slots_known; /* slot_of is that of the tree */
    carom_grid grid;
    carom_broad_sweep sweep;
    uint64_t builds, refits, patches;

    /* On a context of backend cuda the above are not there, but what this has. The boxes on the
     * host are stale after an update from device memory. */
    carom_device_broad *device;
    bool stale;

    /* The last frame: its pairs, sorted, a << 32 | b. `next` is where those of a frame are made. */
    carom_broad_words kept, next;
};

/* Prepares everything anew; `bounds` are those of all boxes. */
carom_status carom_broad_build(carom_context *context, carom_broad *broad,
                               const carom_bounds *bounds);

/* What a frame does at its end, for who makes frames of its own: ids of removed boxes may be given
 * out again. */
carom_status carom_broad_recycle_ids(carom_context *context, carom_broad *broad);

/* For tests and fuzzers, between two calls: NULL, or the first invariant that does not hold. O(n),
 * and O(n^2) for the few boxes of a test. */
const char *carom_broad_validate(const carom_broad *broad);

/* Fills slot_of. */
carom_status carom_broad_find_slots(carom_context *context, carom_broad *broad);

/* Whether boxes changed since the last update. */
static inline bool carom_broad_is_pending(const carom_broad *broad) {
    return broad->all_pending || broad->pending.count != 0;
}

/* First line of a query. */
#define CAROM_BROAD_REQUIRE_UPDATED(broad)                                                         \
    CAROM_REQUIRE(!carom_broad_is_pending(broad) || (broad)->failure != CAROM_OK,                  \
                  "boxes changed since the last carom_broad_commit or carom_broad_step")

/* Whether the structure can be queried: no failure. */
carom_status carom_broad_check_ready(carom_context *context, const carom_broad *broad);

/* The boxes as the tree's and the grid's builders read them; `user` is a carom_broad_source. */
typedef struct carom_broad_source {
    carom_context *context;
    const carom_broad *broad;
    _Atomic bool *inexact; /* set when a box is not exact as float32 */
} carom_broad_source;
void carom_broad_give_boxes(const void *user, const uint32_t *ids, uint32_t first, uint32_t count,
                            carom_box *boxes);

/* Builds the entries of the sweep; see broad_sweep.c. */
carom_status carom_broad_sweep_build(carom_context *context, carom_broad *broad,
                                     const carom_broad_source *source, const carom_box *bounds);
void carom_broad_sweep_free(carom_broad_sweep *sweep, const carom_allocator *allocator);
uint64_t carom_broad_sweep_bytes(const carom_broad_sweep *sweep);

/* ---- Search ---------------------------------------------------------------------------------- */

/* What is searched: all pairs, or the pairs of some slots of the tree. */
typedef struct carom_broad_search {
    carom_context *context;
    const carom_broad *broad;
    const uint32_t *slots; /* NULL: all pairs; else of boxes that changed */
    uint64_t slot_count;
    carom_worker_states states;
} carom_broad_search;

/* Finds pairs that overlap, that masks allow and that `accept` accepts, sorted, in scratch of
 * worker 0, which the caller rewinds. Adds to the context's work. */
carom_status carom_broad_search_run(carom_broad_search *search, uint64_t **pairs, uint64_t *count);

/* ---- The same on the GPU: broad_device.c ----------------------------------------------------- */

/* CAROM_OK if a broad phase can be made in a context of backend cuda. */
carom_status carom_broad_device_check_new(carom_context *context, const carom_broad_def *def);
/* CAROM_OK if the broad phase was made on the context's backend. */
carom_status carom_broad_check_backend(carom_context *context, const carom_broad *broad);
/* Copies all boxes and filters to the device and prepares them; waits. */
carom_status carom_broad_device_prepare(carom_context *context, carom_broad *broad);
/* Copies the filters alone; does nothing where all will be copied or there is no device. */
carom_status carom_broad_device_set_filters(carom_context *context, carom_broad *broad);
/* Makes the boxes on the host those on the device. */
carom_status carom_broad_device_fetch(carom_context *context, carom_broad *broad);
/* Queues: takes boxes of all ids from device memory, empty where an id is not in use; they stay
 * there until the next change. */
carom_status carom_broad_device_update(carom_context *context, carom_broad *broad,
                                       const carom_bounds *boxes);
void carom_broad_device_release(carom_broad *broad);
void carom_broad_device_info(const carom_broad *broad, carom_broad_info *info);
/* As carom_broad_search_run, before the caller's function is called. */
carom_status carom_broad_device_search(carom_context *context, const carom_broad *broad,
                                       uint64_t **pairs, uint64_t *count);

#endif
