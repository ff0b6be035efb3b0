/* SPDX-License-Identifier: MIT */
/* Grid subdivision and sweep and prune (Loi, "Fast GPU-based collision detection", 2010, 6.1; Liu,
 * Harada, Lee, Kim, "Real-time collision culling of a million bodies on graphics processing units",
 * 2010).
 *
 *   1. The axis along which the boxes' centres have the largest variance is swept.
 *   2. Space is cut into cells across it. Each box counts the cells it meets; prefix sums give each
 *      box its entries, one per cell.
 *   3. Entries are sorted by cell, then by where they begin along the axis. The papers shift every
 *      cell to a position of its own along the axis, which rounds; here the cell is the high part
 *      of the key.
 *   4. Cells with one box are dropped.
 *   5. Every entry is compared with those that follow it until one begins after it ends
 *      (broad_sweep_cpu.c).
 *
 * The cells are as large as makes a step of the sweep and a further entry cost the same. The thesis
 * takes N / 64000 cells, for its GPU; its fixed cells of 1.5 diameters are `sweep_cell`.
 *
 * Keys are monotone in the coordinate, so entries that overlap along the axis are within each
 * other's range of keys. */
#include "base/progress.h"
#include "base/scan.h"
#include "base/sort.h"
#include "broad/broad_sweep_cpu.h"

#define BROAD_SWEEP_BOXES_PER_BATCH   256u  /* boxes rounded at a time */
#define BROAD_SWEEP_ENTRIES_PER_RANGE 4096u /* boxes or entries per range */

/* Steps of the sweep per entry that cells are sized for. A step is one lane of a vector: on J1 the
 * best lies between 4 and 10. */
#define BROAD_SWEEP_STEPS_PER_ENTRY 6.0

/* Cells are at least this many mean extents wide, so that a box is in 2.25 cells on average. */
#define BROAD_SWEEP_LEAST_CELL_EXTENTS 2.0

#define BROAD_SWEEP_WORD_BITS      32u /* of a key: the cell, then the position along the axis */
#define BROAD_SWEEP_AXIS_BITS      30u /* at most, for the axis; a float has 24 */
#define BROAD_SWEEP_MOST_CELL_BITS 20u /* of a key, for cells; at least 12 are left for the axis */
#define ENTRIES_PER_BOX            3u  /* beyond this, cells are doubled */
#define ENTRIES_ANY_COUNT          4096u
/* Part of spare capacity: entries vary from frame to frame. */
#define BROAD_SWEEP_SPARE_DIVIDE 16u

typedef struct moments {
    double sum[3], squares[3], extents[3]; /* of centres; of the boxes */
    uint64_t count;                        /* boxes that are not empty */
} moments;

typedef struct broad_sweep_build {
    carom_context *context;
    const carom_broad_source *source;
    carom_broad_sweep *sweep;
    uint32_t box_count;
    carom_box *boxes;      /* of each id, rounded, in scratch */
    moments *ranges;       /* of each range of boxes */
    uint32_t *offsets;     /* of the entries of each box */
    float low[3], high[3]; /* of all boxes, in the frame */
    double inverse[3];     /* 1 / edge of a cell, across the sweep: [1] and [2] */
    uint32_t cells[3];     /* along [1] and [2] */
    uint32_t *keys, *owners;
} broad_sweep_build;

/* ---- 1. The axis ----------------------------------------------------------------------------- */

/* Rounds the boxes and sums up their moments relative to `low`. */
static carom_status broad_sweep_measure(void *argument, carom_range range) {
    broad_sweep_build *b = argument;
    moments m = {0};
    for (uint64_t at = range.begin; at < range.end; at += BROAD_SWEEP_BOXES_PER_BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, BROAD_SWEEP_BOXES_PER_BATCH);
        carom_broad_give_boxes(b->source, NULL, (uint32_t)at, count, b->boxes + at);
        for (const carom_box *box = b->boxes + at; box < b->boxes + at + count; ++box) {
            if (!(box->low[0] <= box->high[0])) continue;
            ++m.count;
            for (int k = 0; k < 3; ++k) {
                double low = (double)box->low[k], high = (double)box->high[k];
                double centre = 0.5 * low + 0.5 * high - (double)b->low[k];
                m.sum[k] += centre;
                m.squares[k] += centre * centre;
                m.extents[k] += high - low;
            }
        }
    }
    b->ranges[range.begin / BROAD_SWEEP_ENTRIES_PER_RANGE] = m;
    return CAROM_OK;
}

/* The sum over ranges, in their order. */
static moments add_ranges(const broad_sweep_build *b) {
    moments all = {0};
    for (uint64_t r = 0; r * BROAD_SWEEP_ENTRIES_PER_RANGE < b->box_count; ++r) {
        const moments *m = &b->ranges[r];
        all.count += m->count;
        for (int k = 0; k < 3; ++k) {
            all.sum[k] += m->sum[k];
            all.squares[k] += m->squares[k];
            all.extents[k] += m->extents[k];
        }
    }
    return all;
}

static void choose_axis(broad_sweep_build *b, const moments *m) {
    double n = (double)CAROM_MAX(m->count, 1), most = -1.0;
    int best = 0;
    for (int k = 0; k < 3; ++k) {
        double mean = m->sum[k] / n, variance = m->squares[k] / n - mean * mean;
        if (variance > most) {
            most = variance;
            best = k;
        }
    }
    for (int i = 0; i < 3; ++i) b->sweep->axis[i] = (best + i) % 3;
}

/* ---- 2. Cells -------------------------------------------------------------------------------- */

/* The edge of cells, in the frame. A box sweeps over density * cell^2 * extent others. */
static double choose_cell(const broad_sweep_build *b, const moments *m, const double size[3]) {
    const int *axis = b->sweep->axis;
    double n = (double)CAROM_MAX(m->count, 1);
    double extent = m->extents[axis[0]] / n;
    double across = 0.5 * (m->extents[axis[1]] + m->extents[axis[2]]) / n;
    double most = CAROM_MAX(size[1], size[2]);
    double area = BROAD_SWEEP_STEPS_PER_ENTRY * size[1] * size[2] * size[0] / (n * extent);
    double cell = area > 0.0 && area <= DBL_MAX ? sqrt(area) : most;
    cell = CAROM_MAX(BROAD_SWEEP_LEAST_CELL_EXTENTS * across, cell);
    return CAROM_MIN(cell, most);
}

static uint32_t bits_for(uint64_t count) {
    uint32_t bits = 0;
    while (((uint64_t)1 << bits) < count) ++bits;
    return bits;
}

/* Cuts space into cells of that edge, or of the least multiple by a power of two that gives few
 * enough. */
static void broad_sweep_cut(broad_sweep_build *b, double cell, const double size[3]) {
    carom_broad_sweep *sweep = b->sweep;
    for (;; cell *= 2.0) {
        uint64_t all = 1;
        bool few = true;
        for (int i = 1; i < 3; ++i) {
            double along = cell > 0.0 ? floor(size[i] / cell) + 1.0 : 1.0;
            few = few && along <= (double)(1u << BROAD_SWEEP_MOST_CELL_BITS);
            b->cells[i] = few ? (uint32_t)along : 1;
            b->inverse[i] = cell > 0.0 ? 1.0 / cell : 0.0;
            all *= b->cells[i];
        }
        if (!few || all > (uint64_t)1 << BROAD_SWEEP_MOST_CELL_BITS) continue;
        sweep->cell = cell;
        sweep->key_bits = BROAD_SWEEP_WORD_BITS - bits_for(all);
        sweep->key_bits = CAROM_MIN(sweep->key_bits, BROAD_SWEEP_AXIS_BITS);
        CAROM_ASSERT(sweep->key_bits >= BROAD_SWEEP_WORD_BITS - BROAD_SWEEP_MOST_CELL_BITS &&
                     sweep->key_bits <= BROAD_SWEEP_AXIS_BITS);
        sweep->low = (double)b->low[sweep->axis[0]];
        sweep->scale = size[0] > 0.0 ? (double)((uint64_t)1 << sweep->key_bits) / size[0] : 0.0;
        if (!(sweep->scale <= DBL_MAX)) sweep->scale = 0.0;
        return;
    }
}

static uint32_t broad_sweep_cell_of(const broad_sweep_build *b, int i, float x) {
    double at = ((double)x - (double)b->low[b->sweep->axis[i]]) * b->inverse[i];
    double last = (double)(b->cells[i] - 1);
    at = at > 0.0 ? at : 0.0;
    at = at < last ? at : last;
    return (uint32_t)at;
}

typedef struct broad_sweep_span {
    uint32_t low[2], high[2]; /* first and last cell along the two axes across the sweep */
} broad_sweep_span;

static broad_sweep_span broad_sweep_span_of(const broad_sweep_build *b, const carom_box *box) {
    broad_sweep_span s;
    for (int i = 0; i < 2; ++i) {
        int axis = b->sweep->axis[i + 1];
        s.low[i] = broad_sweep_cell_of(b, i + 1, box->low[axis]);
        s.high[i] = broad_sweep_cell_of(b, i + 1, box->high[axis]);
        CAROM_ASSERT(s.low[i] <= s.high[i] && s.high[i] < b->cells[i + 1]);
    }
    return s;
}

static carom_status broad_sweep_count_entries(void *argument, carom_range range) {
    broad_sweep_build *b = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_box *box = &b->boxes[i];
        b->offsets[i] = 0;
        if (!(box->low[0] <= box->high[0])) continue;
        broad_sweep_span s = broad_sweep_span_of(b, box);
        b->offsets[i] = (s.high[0] - s.low[0] + 1) * (s.high[1] - s.low[1] + 1);
    }
    return CAROM_OK;
}

/* ---- 3. Entries ------------------------------------------------------------------------------ */

static carom_status write_entries(void *argument, carom_range range) {
    broad_sweep_build *b = argument;
    const carom_broad_sweep *sweep = b->sweep;
    for (uint64_t id = range.begin; id < range.end; ++id) {
        const carom_box *box = &b->boxes[id];
        uint32_t at = b->offsets[id];
        if (b->offsets[id + 1] == at) continue;
        broad_sweep_span s = broad_sweep_span_of(b, box);
        uint32_t begins = carom_broad_sweep_key(sweep, box->low[sweep->axis[0]]);
        for (uint32_t u = s.low[0]; u <= s.high[0]; ++u) {
            for (uint32_t v = s.low[1]; v <= s.high[1]; ++v, ++at) {
                uint64_t cell = (uint64_t)u * b->cells[2] + v;
                CAROM_ASSERT(cell << sweep->key_bits >> BROAD_SWEEP_WORD_BITS == 0 &&
                             begins >> sweep->key_bits == 0);
                b->keys[at] = (uint32_t)(cell << sweep->key_bits | begins);
                b->owners[at] = (uint32_t)id | (u == s.low[0] ? CAROM_BROAD_SWEEP_LOW_U : 0) |
                                (v == s.low[1] ? CAROM_BROAD_SWEEP_LOW_V : 0);
            }
        }
        CAROM_ASSERT(at == b->offsets[id + 1]); /* as many as were counted */
    }
    return CAROM_OK;
}

/* ---- 4. Lone entries, and rows in the order of the sweep ------------------------------------- */

/* Counts cells and their boxes, and moves the entries of cells with several to the front. */
static void drop_lone(broad_sweep_build *b, uint64_t count) {
    carom_broad_sweep *sweep = b->sweep;
    uint64_t kept = 0;
    sweep->cells = sweep->lone_cells = sweep->bound = 0;
    sweep->entries = count;
    for (uint64_t begin = 0, end; begin < count; begin = end) {
        uint64_t cell = (uint64_t)b->keys[begin] >> sweep->key_bits;
        for (end = begin + 1; end < count && (uint64_t)b->keys[end] >> sweep->key_bits == cell;)
            ++end;
        uint64_t boxes = end - begin;
        CAROM_ASSERT(begin == 0 || b->keys[begin - 1] < b->keys[begin]);
        ++sweep->cells;
        sweep->bound += boxes * (boxes - 1) / 2;
        if (boxes == 1) {
            ++sweep->lone_cells;
            continue;
        }
        for (uint64_t i = begin; i < end; ++i, ++kept) {
            sweep->keys[kept] = b->keys[i];
            sweep->owners[kept] = b->owners[i];
        }
    }
    CAROM_ASSERT(kept + sweep->lone_cells == count);
    CAROM_ASSERT(kept + CAROM_BROAD_SWEEP_PADDING <= sweep->capacity);
    for (uint64_t i = 1; i < kept; ++i) CAROM_ASSERT(sweep->keys[i - 1] <= sweep->keys[i]);
    sweep->count = kept;
}

static carom_status write_rows(void *argument, carom_range range) {
    broad_sweep_build *b = argument;
    carom_broad_sweep *sweep = b->sweep;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_box *box = &b->boxes[sweep->owners[i] & CAROM_BROAD_SWEEP_ID];
        for (int k = 0; k < 3; ++k) {
            sweep->rows[2 * k][i] = box->low[sweep->axis[k]];
            sweep->rows[2 * k + 1][i] = box->high[sweep->axis[k]];
        }
    }
    return CAROM_OK;
}

static void broad_sweep_pad(carom_broad_sweep *sweep) {
    for (uint32_t i = 0; i < CAROM_BROAD_SWEEP_PADDING; ++i) {
        sweep->keys[sweep->count + i] = UINT32_MAX;
        sweep->owners[sweep->count + i] = 0;
        for (int r = 0; r < 6; ++r) sweep->rows[r][sweep->count + i] = 0.0f;
    }
}

/* ---- Memory and build ------------------------------------------------------------------------ */

void carom_broad_sweep_free(carom_broad_sweep *sweep, const carom_allocator *allocator) {
    carom_release(allocator, sweep->keys);
    carom_release(allocator, sweep->owners);
    for (int r = 0; r < 6; ++r) carom_release(allocator, sweep->rows[r]);
    *sweep = (carom_broad_sweep){0};
}

uint64_t carom_broad_sweep_bytes(const carom_broad_sweep *sweep) {
    return sweep->capacity * (2 * sizeof(uint32_t) + 6 * sizeof(float));
}

static bool broad_sweep_reserve(carom_broad_sweep *sweep, const carom_allocator *allocator,
                                uint64_t count) {
    uint64_t capacity = count + CAROM_BROAD_SWEEP_PADDING;
    if (capacity <= sweep->capacity) return true;
    capacity += sweep->capacity != 0 ? capacity / BROAD_SWEEP_SPARE_DIVIDE : 0;
    carom_broad_sweep_free(sweep, allocator);
    bool all = true;
    sweep->keys = carom_allocate(allocator, capacity, sizeof(*sweep->keys));
    sweep->owners = carom_allocate(allocator, capacity, sizeof(*sweep->owners));
    for (int r = 0; r < 6; ++r) {
        sweep->rows[r] = carom_allocate(allocator, capacity, sizeof(float));
        all = all && sweep->rows[r] != NULL;
    }
    sweep->capacity = capacity;
    all = all && sweep->keys != NULL && sweep->owners != NULL;
    if (!all) carom_broad_sweep_free(sweep, allocator);
    return all;
}

/* Chooses cells so that entries are not too many; *entries is their number. */
static carom_status choose_cells(broad_sweep_build *b, double wanted, uint64_t *entries) {
    carom_context *context = b->context;
    moments m = add_ranges(b);
    double size[3];
    choose_axis(b, &m);
    for (int i = 0; i < 3; ++i) {
        int axis = b->sweep->axis[i];
        double extent = (double)b->high[axis] - (double)b->low[axis];
        size[i] = extent > 0.0 ? extent : 0.0;
    }
    double cell = wanted > 0.0 ? wanted : choose_cell(b, &m, size);
    for (;; cell = 2.0 * b->sweep->cell) {
        broad_sweep_cut(b, cell, size);
        CAROM_TRY(carom_parallel_for(context, b->box_count, BROAD_SWEEP_ENTRIES_PER_RANGE,
                                     broad_sweep_count_entries, b));
        uint64_t total = 0;
        for (uint32_t i = 0; i < b->box_count; ++i) total += b->offsets[i];
        bool one_cell = b->cells[1] == 1 && b->cells[2] == 1;
        *entries = total;
        if (one_cell || total <= ENTRIES_PER_BOX * m.count + ENTRIES_ANY_COUNT) break;
        CAROM_TRY(carom_progress_look(context));
    }
    uint32_t *offsets = b->offsets;
    return carom_scan_u32(context, offsets, b->box_count, offsets);
}

static carom_status broad_sweep_build_entries(broad_sweep_build *b, carom_broad *broad) {
    carom_context *context = b->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t entries = 0;
    double wanted = broad->sweep_cell * broad->space.scale;
    CAROM_TRY(carom_parallel_for(context, b->box_count, BROAD_SWEEP_ENTRIES_PER_RANGE,
                                 broad_sweep_measure, b));
    CAROM_TRY(choose_cells(b, wanted, &entries));
    b->keys = CAROM_ARENA_TAKE(scratch, uint32_t, entries);
    b->owners = CAROM_ARENA_TAKE(scratch, uint32_t, entries);
    carom_broad_sweep layout = *b->sweep;
    if (b->keys == NULL || b->owners == NULL ||
        !broad_sweep_reserve(b->sweep, &broad->allocator, entries))
        return carom_fail_memory(context, entries * (4 * sizeof(uint32_t) + 6 * sizeof(float)),
                                 "the entries of a sweep");
    for (int i = 0; i < 3; ++i) b->sweep->axis[i] = layout.axis[i];
    b->sweep->cell = layout.cell;
    b->sweep->key_bits = layout.key_bits;
    b->sweep->low = layout.low;
    b->sweep->scale = layout.scale;
    CAROM_TRY(
        carom_parallel_for(context, b->box_count, BROAD_SWEEP_ENTRIES_PER_RANGE, write_entries, b));
    CAROM_TRY(carom_sort_keys(context, b->keys, b->owners, entries));
    drop_lone(b, entries);
    CAROM_TRY(
        carom_parallel_for(context, b->sweep->count, BROAD_SWEEP_ENTRIES_PER_RANGE, write_rows, b));
    broad_sweep_pad(b->sweep);
    b->sweep->cell /= broad->space.scale;
    return CAROM_OK;
}

carom_status carom_broad_sweep_build(carom_context *context, carom_broad *broad,
                                     const carom_broad_source *source, const carom_box *bounds) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = broad->id_count,
             ranges = (count + BROAD_SWEEP_ENTRIES_PER_RANGE - 1) / BROAD_SWEEP_ENTRIES_PER_RANGE;
    broad_sweep_build b = {.context = context,
                           .source = source,
                           .sweep = &broad->sweep,
                           .box_count = broad->id_count,
                           .boxes = CAROM_ARENA_TAKE(scratch, carom_box, count),
                           .ranges = CAROM_ARENA_TAKE(scratch, moments, ranges),
                           .offsets = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1)};
    carom_status status;
    broad->sweep.count = broad->sweep.entries = broad->sweep.cells = 0;
    broad->sweep.lone_cells = broad->sweep.bound = 0;
    if (b.boxes == NULL || b.ranges == NULL || b.offsets == NULL) {
        status = carom_fail_memory(context, count * sizeof(carom_box), "a sweep");
    } else {
        memcpy(b.low, bounds->low, sizeof(b.low));
        memcpy(b.high, bounds->high, sizeof(b.high));
        status = broad_sweep_build_entries(&b, broad);
    }
    if (status != CAROM_OK) broad->sweep.count = 0;
    carom_arena_rewind(scratch, mark);
    return status;
}
