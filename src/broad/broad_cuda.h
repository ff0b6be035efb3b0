/* SPDX-License-Identifier: MIT */
/* broad_cuda.h: all overlapping pairs of boxes on the GPU, everything made anew for each update.
 *
 *   cells   The default (broad_cells_cuda.cu). Each box lies in one cell, that of its centre.
 *   tree    broad_tree_cuda.cu, with the tree of bvh_cuda.h
 *   grid    broad_grid_cuda.cu, with the hash grid of grid_cuda.h: a box has an entry in each of
 * its cells sweep   broad_sweep_cuda.cu
 *
 * broad_cuda.cu surveys the boxes, calls the method and decides its candidates. Here is what they
 * share: the boxes, what is chosen for them, and the structure in device memory.
 *
 * The float32 boxes that all methods search contain the boxes; what they find is decided by doubles
 * unless all of them are exact. So the set of pairs is that of the CPU. */
#ifndef CAROM_SRC_BROAD_BROAD_CUDA_H
#define CAROM_SRC_BROAD_BROAD_CUDA_H

#include "broad/broad_device.h"
#include "broad/broad_item.h"
#include "bvh/bvh_layout_cuda.h"

#define BROAD_THREADS 256u
#define BROAD_LEVELS  22u /* of cells; the highest is one cell */

/* Counters of a search; N_ENTRIES: pairs of leaves, or entries of a grid or a sweep. */
enum { N_ENTRIES, BROAD_CUDA_N_CANDIDATES, BROAD_CUDA_N_FOUND, N_LONG, N_NOT_FINITE, N_DENSE };

/* ---- On the device --------------------------------------------------------------------------- */

/* Cells of a level are numbered along x first, then y, then z. After the last cell of each row, row
 * of each plane, and plane there is one that stays empty, so that neighbours need no test for the
 * border: before the first cell of a row comes the empty one of the row before it. */
struct broad_cells {
    double low[3], inverse;    /* cell 0 of an axis begins at low; 1 / edge, on the lowest level */
    double fits;               /* the largest extent on the lowest level */
    uint32_t levels, along[3]; /* cells along the axes of the lowest level */
    uint32_t first[BROAD_LEVELS + 1]; /* cell of each level */
};

struct broad_sweep_space {
    int axis[3];          /* that of the sweep first */
    double low[3], scale; /* of keys along the axis: (x - low) * scale */
    double inverse;       /* 1 / edge of a cell, across the sweep */
    uint32_t along[3], key_bits;
};

/* What a survey of a sample chooses, and what the first pass over all boxes learns. */
struct broad_state {
    carom_broad_space space;
    carom_bvh_space tree;
    broad_cells cells;
    broad_sweep_space sweep;
    unsigned inexact;    /* a float32 box is not the box itself */
    unsigned level_mask; /* levels that hold boxes */
};

static __device__ inline carom_bounds broad_load(const carom_bounds *bounds, uint32_t id) {
    const double *p = (const double *)(bounds + id);
    carom_bounds b;
    if (((uintptr_t)bounds & 15u) == 0) { /* 48 bytes are three times 16 */
        const double2 *q = (const double2 *)p;
        double2 x = __ldg(q), y = __ldg(q + 1), z = __ldg(q + 2);
        b.low = carom_vec(x.x, x.y, y.x);
        b.high = carom_vec(y.y, z.x, z.y);
    } else {
        b.low = carom_vec(p[0], p[1], p[2]);
        b.high = carom_vec(p[3], p[4], p[5]);
    }
    return b;
}

/* Whether it is carom_bounds_empty(), the box of an id that is not in use. */
static __device__ inline bool broad_is_removed(const carom_bounds &b) {
    return b.low.x == HUGE_VAL && b.low.y == HUGE_VAL && b.low.z == HUGE_VAL &&
           b.high.x == -HUGE_VAL && b.high.y == -HUGE_VAL && b.high.z == -HUGE_VAL;
}

/* The boxes by id, rounded; for the tree and the grid as well. */
struct broad_boxes {
    const carom_bounds *bounds;
    broad_state *s;
    carom_device_counters *counters;

    static __device__ carom_box round(const carom_broad_space &space, const carom_bounds &b) {
        if (!space.plain) return carom_broad_round(&space, &b);
        if (carom_bounds_is_empty(&b)) return carom_box_empty();
        carom_box box = {
            {__double2float_rd(b.low.x), __double2float_rd(b.low.y), __double2float_rd(b.low.z)},
            {__double2float_ru(b.high.x), __double2float_ru(b.high.y),
             __double2float_ru(b.high.z)}};
        return box;
    }

    __device__ carom_box box(uint32_t id) const {
        return round(s->space, broad_load(bounds, id));
    }

    /* Called once per box: checks it, and whether it is exact. */
    __device__ carom_box first_box(uint32_t id) const {
        carom_bounds b = broad_load(bounds, id);
        double zero = ((b.low.x - b.low.x) + (b.low.y - b.low.y)) + (b.low.z - b.low.z);
        zero += ((b.high.x - b.high.x) + (b.high.y - b.high.y)) + (b.high.z - b.high.z);
        if (!(zero == 0.0) && !broad_is_removed(b)) atomicAdd(&counters->n[N_NOT_FINITE], 1ull);
        carom_box box = round(s->space, b);
        if (box.low[0] <= box.high[0] && !carom_broad_is_exact(&box, &b) && s->inexact == 0)
            s->inexact = 1u; /* of many that write, all write the same */
        return box;
    }

    __device__ carom_box box_at(uint32_t, uint32_t id) const {
        return box(id);
    }
    __device__ bool second(uint32_t) const {
        return false;
    }
    __device__ bool paired(uint32_t, uint32_t) const {
        return true;
    }
};

static __device__ inline float broad_extent(const carom_box &box) {
    float x = box.high[0] - box.low[0], y = box.high[1] - box.low[1], z = box.high[2] - box.low[2];
    return fmaxf(x, fmaxf(y, z));
}

/* Which pairs whose float32 boxes overlap count, and where they go. */
struct broad_decision {
    const carom_bounds *bounds;
    const carom_broad_filter *filters; /* or NULL */
    const broad_state *s;
    uint32_t *pair_counts;

    __device__ bool counts(uint32_t a, uint32_t b, bool inexact, unsigned long long *key) const {
        if (inexact) {
            carom_bounds x = broad_load(bounds, a), y = broad_load(bounds, b);
            if (!carom_bounds_overlap(&x, &y)) return false;
        }
        if (filters != nullptr && !carom_broad_allows(filters[a], filters[b])) return false;
        *key = carom_pair_pack(CAROM_MIN(a, b), CAROM_MAX(a, b));
        if (pair_counts != nullptr) atomicAdd(&pair_counts[(uint32_t)*key], 1u);
        return true;
    }
};

struct carom_device_broad {
    carom_device_broad_def def; /* its pointers are only compared */
    carom_device_block own_bounds, filters, prepared, counts, tree_memory, choices;
    const carom_bounds *bounds; /* own, or the caller's */
    carom_bvh_cuda_tree tree;
    bool dense;    /* AUTO takes the tree */
    bool has_tree; /* what is prepared, once the kernels queued so far are done */
    uint64_t entries;

    broad_state *s() const {
        return (broad_state *)choices.data;
    }
};

static inline broad_boxes broad_boxes_of(const carom_device_broad *broad, carom_device_op *op) {
    return broad_boxes{broad->bounds, broad->s(), op->counters};
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* What a method does, each in its file: reserves and queues the build of a structure, reserves and
 * queues a search, and says after it whether there was too little room. */

/* Cells that the structure has room for, all levels together. */
uint32_t carom_broad_cells_most(uint32_t count);
carom_status carom_broad_cells_reserve(carom_device *device, carom_device_broad *broad);
void carom_broad_cells_build(carom_device *device, carom_device_op *op,
                             const carom_device_broad *broad);
/* Also decides the candidates. */
void carom_broad_cells_find(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad, const broad_decision &d,
                            const carom_device_list<unsigned long long> &found);

carom_status carom_broad_tree_reserve(carom_device *device, carom_device_broad *broad);
void carom_broad_tree_build(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad);
carom_status carom_broad_tree_find_reserve(carom_device *device, const carom_device_broad *broad);
/* Returns the ids by slot: candidates are pairs of slots. */
const uint32_t *carom_broad_tree_find(carom_device *device, carom_device_op *op,
                                      const carom_device_broad *broad,
                                      const carom_device_list<uint2> &candidates);
bool carom_broad_tree_grows(carom_device *device, uint64_t leaf_pairs);

carom_status carom_broad_grid_reserve(carom_device *device, const carom_device_broad *broad);
void carom_broad_grid_find(carom_device *device, carom_device_op *op,
                           const carom_device_broad *broad,
                           const carom_device_list<uint2> &candidates);
bool carom_broad_grid_grows(carom_device *device, uint64_t entries);

carom_status carom_broad_sweep_reserve(carom_device *device, const carom_device_broad *broad);
void carom_broad_sweep_find(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad,
                            const carom_device_list<uint2> &candidates);
bool carom_broad_sweep_grows(carom_device *device, const carom_device_broad *broad,
                             uint64_t entries);

#endif
