/* SPDX-License-Identifier: MIT */
/* Boxes by sweeping on the GPU, in cells across the sweep: the method of Loi, "Fast GPU-based
 * collision detection", 2010, 6.1: see broad_sweep.c. Entries of boxes in cells are counted, added
 * up, written and sorted by cell and beginning; each looks at those after it up to its own end. */
#include <cub/device/device_radix_sort.cuh>

#include "base/scan_cuda.h"
#include "broad/broad_cuda.h"

#define SWEEP_FOUND_WARP      128u  /* pairs that a warp collects before it appends them */
#define SWEEP_KEY_BITS        32    /* of cell and beginning together */
#define SWEEP_ENTRIES_PER_BOX 3u    /* that there is room for at first, */
#define SWEEP_LEAST_ENTRIES   4096u /* and so many for few boxes */

#define SWEEP_LOW_U 0x40000000u /* flags of an owner, as in broad_sweep_cpu.h */
#define SWEEP_LOW_V 0x80000000u
#define SWEEP_ID    0x3FFFFFFFu

#define SWEEP_LANES 1u  /* of an entry */
#define SWEEP_SHORT 16u /* steps of these before the whole warp takes over: see docs/cuda.md */

struct sweep_memory {
    uint32_t *counts, *offsets;    /* entries of each box, and one more */
    uint32_t *keys[2], *owners[2]; /* unsorted, sorted */
    float4 *rows;                  /* two per sorted entry, along the axes of the sweep */
    uint64_t capacity;             /* of entries */
    void *temporary;
    size_t temporary_bytes;
};

static __device__ inline uint32_t sweep_key(const broad_sweep_space &sweep, float x) {
    double at = ((double)x - sweep.low[0]) * sweep.scale;
    double most = (double)((1ull << sweep.key_bits) - 1ull);
    at = at > 0.0 ? at : 0.0;
    at = at < most ? at : most;
    return (uint32_t)at;
}

static __device__ inline uint32_t sweep_cell(const broad_sweep_space &sweep, int i, float x) {
    double at = ((double)x - sweep.low[i]) * sweep.inverse, last = (double)(sweep.along[i] - 1u);
    at = at > 0.0 ? at : 0.0;
    at = at < last ? at : last;
    return (uint32_t)at;
}

struct sweep_span {
    uint32_t low[2], high[2];
};

static __device__ inline sweep_span span_of(const broad_sweep_space &sweep, const carom_box &box) {
    sweep_span span;
    for (int i = 0; i < 2; ++i) {
        span.low[i] = sweep_cell(sweep, i + 1, box.low[sweep.axis[i + 1]]);
        span.high[i] = sweep_cell(sweep, i + 1, box.high[sweep.axis[i + 1]]);
    }
    return span;
}

static __global__ void sweep_count(broad_boxes b, uint32_t count, const broad_state *s,
                                   sweep_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) return;
    uint32_t entries = 0;
    if (i < count) {
        carom_box box = b.box(i);
        sweep_span span = span_of(s->sweep, box);
        if (box.low[0] <= box.high[0])
            entries = (span.high[0] - span.low[0] + 1u) * (span.high[1] - span.low[1] + 1u);
    }
    m.counts[i] = entries;
}

static __global__ void sweep_enter(broad_boxes b, uint32_t count, const broad_state *s,
                                   sweep_memory m, carom_device_count *total) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = m.offsets[count];
    if (i >= count || m.offsets[i] == m.offsets[i + 1]) return;
    const broad_sweep_space &sweep = s->sweep;
    carom_box box = b.box(i);
    sweep_span span = span_of(sweep, box);
    uint32_t begins = sweep_key(sweep, box.low[sweep.axis[0]]);
    uint64_t at = m.offsets[i];
    for (uint32_t u = span.low[0]; u <= span.high[0]; ++u)
        for (uint32_t v = span.low[1]; v <= span.high[1]; ++v, ++at) {
            if (at >= m.capacity) return; /* it will be repeated */
            CAROM_ASSERT(at < m.offsets[i + 1]);
            m.keys[0][at] = (u * sweep.along[2] + v) << sweep.key_bits | begins;
            m.owners[0][at] =
                i | (u == span.low[0] ? SWEEP_LOW_U : 0u) | (v == span.low[1] ? SWEEP_LOW_V : 0u);
        }
    CAROM_ASSERT(at == m.offsets[i + 1]); /* as many as were counted */
}

static __global__ void sweep_rows(broad_boxes b, uint32_t count, const broad_state *s,
                                  sweep_memory m, const carom_device_count *total) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *total || i >= m.capacity) return;
    const int *axis = s->sweep.axis;
    uint32_t owner = m.owners[1][i];
    CAROM_ASSERT((owner & SWEEP_ID) < count || *total > m.capacity);
    CAROM_ASSERT(i == 0 || m.keys[1][i - 1] <= m.keys[1][i]);
    carom_box box = b.box(owner & SWEEP_ID);
    float low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = axis[k] == 0 ? box.low[0] : axis[k] == 1 ? box.low[1] : box.low[2];
        high[k] = axis[k] == 0 ? box.high[0] : axis[k] == 1 ? box.high[1] : box.high[2];
    }
    m.rows[2 * i] = make_float4(low[0], low[1], low[2], __uint_as_float(owner));
    m.rows[2 * i + 1] = make_float4(high[0], high[1], high[2], __uint_as_float(m.keys[1][i]));
}

/* An entry of the sweep that looks at those after it. */
struct sweep_look {
    float4 low, high;
    uint32_t owner, last; /* last: the greatest key that it reaches */

    /* Whether the entry there meets it; *more becomes false behind the last. */
    __device__ bool meets(const sweep_memory &m, uint64_t at, uint32_t *other, bool *more) const {
        const uint32_t both = SWEEP_LOW_U | SWEEP_LOW_V;
        float4 a = __ldg(&m.rows[2 * at]), b = __ldg(&m.rows[2 * at + 1]);
        *other = __float_as_uint(a.w);
        *more = __float_as_uint(b.w) <= last;
        return *more && (a.x <= high.x) & (low.x <= b.x) & (a.y <= high.y) & (low.y <= b.y) &
                            (a.z <= high.z) & (low.z <= b.z) & (((*other | owner) & both) == both);
    }
};

static __device__ inline float4 float4_of_lane(float4 v, unsigned lane) {
    return make_float4(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane),
                       __shfl_sync(~0u, v.z, lane), __shfl_sync(~0u, v.w, lane));
}

/* LANES lanes share an entry for the first SHORT steps; what is left of the longer ones is looked
 * at by the whole warp, one after the other: more threads for larger boxes. */
template <unsigned LANES, unsigned SHORT>
static __global__ void __launch_bounds__(BROAD_THREADS)
    sweep_find(const broad_state *s, sweep_memory m, const carom_device_count *total,
               carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[BROAD_THREADS / CAROM_WARP][SWEEP_FOUND_WARP];
    carom_warp_buffer<uint2, SWEEP_FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t count = *total, group = ((uint64_t)blockIdx.x * BROAD_THREADS + threadIdx.x) / LANES;
    unsigned lane = threadIdx.x % CAROM_WARP;
    if (count > m.capacity) return; /* it will be repeated */
    bool more = group < count;
    sweep_look look = {};
    if (more) {
        look.low = m.rows[2 * group];
        look.high = m.rows[2 * group + 1];
        look.owner = __float_as_uint(look.low.w);
        uint32_t within = (uint32_t)((1ull << s->sweep.key_bits) - 1ull);
        look.last = (__float_as_uint(look.high.w) & ~within) | sweep_key(s->sweep, look.high.x);
    }
    uint64_t at = group + 1 + lane % LANES;
    for (unsigned step = 0; step < SHORT && __ballot_sync(~0u, more) != 0; ++step, at += LANES) {
        bool meets = false;
        uint32_t other = 0;
        more = more && at < count;
        if (more) meets = look.meets(m, at, &other, &more);
        buffer.push(found, meets, make_uint2(look.owner & SWEEP_ID, other & SWEEP_ID));
    }
    for (unsigned left = __ballot_sync(~0u, more); left != 0;) {
        unsigned from = (unsigned)__ffs((int)left) - 1u; /* a lane with all to come behind it */
        sweep_look one = {float4_of_lane(look.low, from), float4_of_lane(look.high, from),
                          __shfl_sync(~0u, look.owner, from), __shfl_sync(~0u, look.last, from)};
        left &= ~((LANES == CAROM_WARP ? ~0u : (1u << LANES) - 1u) << from / LANES * LANES);
        uint64_t next = __shfl_sync(~0u, group, from) + 1 + (uint64_t)SHORT * LANES + lane;
        bool on = true;
        for (; __ballot_sync(~0u, on) != 0; next += CAROM_WARP) {
            bool meets = false;
            uint32_t other = 0;
            on = on && next < count;
            if (on) meets = one.meets(m, next, &other, &on);
            buffer.push(found, meets, make_uint2(one.owner & SWEEP_ID, other & SWEEP_ID));
        }
    }
    buffer.flush(found);
}

/* ---- Queueing -------------------------------------------------------------------------------- */

static uint64_t lay_out_sweep(uint32_t count, uint64_t capacity, char *memory, sweep_memory *m) {
    uint64_t at = 0, boxes = carom_device_row(((uint64_t)count + 1) * sizeof(uint32_t));
    uint64_t entries = carom_device_row(capacity * sizeof(uint32_t));
    size_t sort = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceRadixSort::SortPairs(nullptr, sort, none, none, none, none, (int64_t)capacity,
                                          0, SWEEP_KEY_BITS, (cudaStream_t) nullptr);
    m->capacity = capacity;
    m->temporary_bytes = CAROM_MAX(carom_device_scan_bytes((uint64_t)count + 1), sort);
    m->counts = (uint32_t *)memory;
    m->offsets = (uint32_t *)(memory + (at += boxes));
    at += boxes;
    for (int i = 0; i < 2; ++i, at += 2 * entries) {
        m->keys[i] = (uint32_t *)(memory + at);
        m->owners[i] = (uint32_t *)(memory + at + entries);
    }
    m->rows = (float4 *)(memory + at);
    m->temporary = memory + (at += carom_device_row(2 * sizeof(float4) * capacity));
    return at + m->temporary_bytes;
}

/* Entries that a sweep has room for. */
static uint64_t sweep_capacity(const carom_device *device, uint32_t count) {
    uint64_t usual = SWEEP_ENTRIES_PER_BOX * (uint64_t)count + SWEEP_LEAST_ENTRIES;
    return CAROM_MAX(usual, device->wanted[CAROM_SCRATCH_BROAD_SWEEP]);
}

carom_status carom_broad_sweep_reserve(carom_device *device, const carom_device_broad *broad) {
    sweep_memory m = {};
    uint64_t capacity = sweep_capacity(device, broad->def.count);
    if (capacity > INT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE, "the sweep has %llu entries, too many",
                                 (unsigned long long)capacity);
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_BROAD_SWEEP,
                                        lay_out_sweep(broad->def.count, capacity, nullptr, &m),
                                        "a sweep");
}

void carom_broad_sweep_find(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad,
                            const carom_device_list<uint2> &candidates) {
    const unsigned lanes = SWEEP_LANES;
    uint32_t count = broad->def.count;
    unsigned blocks = carom_device_blocks((uint64_t)count + 1, BROAD_THREADS);
    carom_device_count *total = &op->counters->n[N_ENTRIES];
    broad_boxes b = broad_boxes_of(broad, op);
    sweep_memory m = {};
    uint64_t capacity = sweep_capacity(device, count);
    uint64_t needed = lay_out_sweep(count, capacity, nullptr, &m);
    char *memory = carom_device_take<char>(device, CAROM_SCRATCH_BROAD_SWEEP, needed);
    (void)lay_out_sweep(count, capacity, memory, &m);
    carom_device_step(device, "entries");
    /* keys beyond the entries come last; their owners, next in memory, are never used */
    uint64_t bytes = (uint64_t)((char *)m.owners[0] - (char *)m.keys[0]);
    (void)cudaMemsetAsync(m.keys[0], 0xFF, bytes + m.capacity * sizeof(uint32_t), device->stream);
    carom_device_launch(device, sweep_count, blocks, BROAD_THREADS, b, count, broad->s(), m);
    carom_device_scan(device, m.temporary, m.temporary_bytes, m.counts, m.offsets,
                      (uint64_t)count + 1);
    carom_device_launch(device, sweep_enter, blocks, BROAD_THREADS, b, count, broad->s(), m, total);
    carom_device_step(device, "sort");
    (void)cub::DeviceRadixSort::SortPairs(m.temporary, m.temporary_bytes, m.keys[0], m.keys[1],
                                          m.owners[0], m.owners[1], (int64_t)m.capacity, 0,
                                          SWEEP_KEY_BITS, device->stream);
    carom_device_step(device, "rows");
    carom_device_launch(device, sweep_rows, carom_device_blocks(m.capacity, BROAD_THREADS),
                        BROAD_THREADS, b, count, broad->s(), m, total);
    carom_device_step(device, "candidates");
    carom_device_launch(device, sweep_find<lanes, SWEEP_SHORT>,
                        carom_device_blocks(lanes * m.capacity, BROAD_THREADS), BROAD_THREADS,
                        broad->s(), m, total, candidates);
}

bool carom_broad_sweep_grows(carom_device *device, const carom_device_broad *broad,
                             uint64_t entries) {
    if (entries <= sweep_capacity(device, broad->def.count)) return false;
    device->wanted[CAROM_SCRATCH_BROAD_SWEEP] = carom_device_enlarged(entries);
    return true;
}
