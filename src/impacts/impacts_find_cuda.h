/* SPDX-License-Identifier: MIT */
/* impacts_find_cuda.h: the first stages of the search for impacts on the GPU, in float32, included
 * by impacts_cuda.cu alone: which vertices and edges triangles own, where float32 points lie, the
 * boxes that triangles sweep, and the directions along which they are compared. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_FIND_CUDA_H
#define CAROM_SRC_IMPACTS_IMPACTS_FIND_CUDA_H

#include <climits>

#include "impacts/impacts_device.h"
#include "impacts/impacts_item.h"
#include "soup/soup_view_cuda.h"

#define IMPACTS_CUDA_THREADS       256u
#define IMPACTS_CUDA_WARPS         (IMPACTS_CUDA_THREADS / CAROM_WARP)
#define IMPACTS_CUDA_WAITING       (2u * CAROM_WARP) /* pairs, until a warp is full of them */
#define IMPACTS_CUDA_FOUND         128u /* entries that a warp collects before it appends */
#define IMPACTS_CUDA_BOUNDS_BLOCKS 4u   /* per processor; each thread takes many vertices */
/* Per processor, of the kernel with most registers: with three, none are spilled. */
#define IMPACTS_CUDA_BLOCKS      3u
#define IMPACTS_CUDA_FLOAT_LEAST 0x1p-149 /* of a float: what those below it lose */

/* Slots of both soups together: two of them and CAROM_IMPACT_WHICH are one number of 64 bits. */
#define IMPACTS_CUDA_SLOT_BITS 30u
#define IMPACTS_CUDA_MOST      (1u << IMPACTS_CUDA_SLOT_BITS)

/* Counters. N_LOWER, N_UPPER and N_KEY are the first impact: bits of doubles that are not negative,
 * which are in the order of the numbers. */
enum {
    IMPACTS_N_LEAF_PAIRS,
    IMPACTS_N_CANDIDATES,
    IMPACTS_N_OPEN,
    IMPACTS_N_LEFT,
    IMPACTS_N_DEEP,
    IMPACTS_N_HITS,
    IMPACTS_N_HOST,
    IMPACTS_N_NOT_FINITE,
    IMPACTS_N_LARGEST, /* bits of the largest coordinate; 0 where no distances are found */
    IMPACTS_N_UNTIL,   /* bits of the time that is searched, a float */
    IMPACTS_N_LOWER,
    IMPACTS_N_UPPER,
    IMPACTS_N_KEY
};

/* ---- Views on the device --------------------------------------------------------------------- */

/* float32 points are x * scale - origin. */
struct impacts_cuda_frame {
    unsigned long long low[3], high[3]; /* bounds while they are searched for */
    double movement, size;              /* sums over vertices and triangles */
    double scale, origin[3];
    double largest;     /* coordinate, where distances are found, else 0 */
    float gap, sum_gap; /* what separates, along axes and along quarters of sums */
    float until;        /* contact after this time does not matter */
};

struct impacts_cuda_side {
    soup_cuda_side soup;
    const void *end; /* NULL: at rest */
    bool end_doubles;
    const uint8_t *owned;
};

struct impacts_cuda_view {
    impacts_cuda_side a, b;
    bool cross;
    const impacts_cuda_frame *frame;
    const uint32_t *items; /* of each slot */
    uint4 *heads;          /* of each slot: its vertices and what its triangle owns */
    float4 *records;       /* of each slot: the corners at time 0 and at the end of the search */
    unsigned b_bits;       /* of keys: those of b's index */
};

static __device__ inline carom_vec3 impacts_cuda_start(const impacts_cuda_side &s,
                                                       uint32_t vertex) {
    return soup_cuda_load_posed(s.soup, vertex);
}

static __device__ inline carom_vec3 impacts_cuda_end(const impacts_cuda_side &s, uint32_t vertex) {
    if (s.end == nullptr) return impacts_cuda_start(s, vertex);
    if (s.end_doubles) {
        const double *p = (const double *)s.end + 3 * (uint64_t)vertex;
        return carom_vec(p[0], p[1], p[2]);
    }
    const float *p = (const float *)s.end + 3 * (uint64_t)vertex;
    return carom_vec((double)p[0], (double)p[1], (double)p[2]);
}

static __device__ inline const impacts_cuda_side &impacts_cuda_side_of(const impacts_cuda_view &v,
                                                                       uint32_t item) {
    return item < v.a.soup.triangle_count ? v.a : v.b;
}

static __device__ inline uint32_t impacts_cuda_triangle_of(const impacts_cuda_view &v,
                                                           uint32_t item) {
    return item < v.a.soup.triangle_count ? item : item - v.a.soup.triangle_count;
}

/* ---- Owners ---------------------------------------------------------------------------------- */

/* Vertices and edges belong to the first triangle that has them, as in impacts.c: the least number
 * 3 t + i of corner i of triangle t. */
struct impacts_cuda_owners {
    uint32_t *of_vertex;       /* of each vertex */
    unsigned long long *edges; /* hash table of `size`, a power of two */
    uint32_t *of_edge;
    uint64_t size;
};

/* Multiplicative hashing, by the golden ratio. */
#define IMPACTS_CUDA_HASH 0x9E3779B97F4A7C15ull

static __device__ inline unsigned long long impacts_cuda_edge_key(uint32_t p, uint32_t q) {
    return p < q ? (unsigned long long)p << 32 | q : (unsigned long long)q << 32 | p;
}

static __device__ inline uint64_t impacts_cuda_edge_slot(const impacts_cuda_owners &o,
                                                         unsigned long long key) {
    return (key * IMPACTS_CUDA_HASH) >> 20 & (o.size - 1);
}

static __global__ void impacts_cuda_enter_owners(soup_cuda_side s, impacts_cuda_owners o) {
    carom_device_begin();
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= s.triangle_count || (s.states[t] & SOUP_CUDA_DEAD) != 0) return;
    const uint32_t *c = s.corners + 3 * (uint64_t)t;
    for (uint32_t i = 0; i < 3; ++i) {
        atomicMin(&o.of_vertex[c[i]], 3 * t + i);
        unsigned long long key = impacts_cuda_edge_key(c[i], c[(i + 1) % 3]);
        uint64_t at = impacts_cuda_edge_slot(o, key);
        for (;; at = (at + 1) & (o.size - 1)) {
            unsigned long long there = atomicCAS(&o.edges[at], ULLONG_MAX, key);
            if (there == ULLONG_MAX || there == key) break;
        }
        atomicMin(&o.of_edge[at], 3 * t + i);
    }
}

static __global__ void impacts_cuda_list_owned(soup_cuda_side s, impacts_cuda_owners o,
                                               uint8_t *owned) {
    carom_device_begin();
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
    if (t >= s.triangle_count) return;
    const uint32_t *c = s.corners + 3 * (uint64_t)t;
    for (uint32_t i = 0; i < 3 && (s.states[t] & SOUP_CUDA_DEAD) == 0; ++i) {
        unsigned long long key = impacts_cuda_edge_key(c[i], c[(i + 1) % 3]);
        uint64_t at = impacts_cuda_edge_slot(o, key);
        while (o.edges[at] != key) at = (at + 1) & (o.size - 1);
        if (o.of_vertex[c[i]] == 3 * t + i) mine |= CAROM_IMPACT_OWN_VERTEX(i);
        if (o.of_edge[at] == 3 * t + i) mine |= CAROM_IMPACT_OWN_EDGE(i);
    }
    owned[t] = (uint8_t)mine;
}

/* Fills the owners of a soup; `memory` is given back when it is done. */
static carom_status impacts_cuda_find_owners(carom_device *device, const carom_device_soup *soup,
                                             carom_device_block *memory) {
    soup_cuda_side side = soup_cuda_side_of_soup(soup);
    uint64_t size = 16;
    while (size < 4ull * side.triangle_count) size *= 2;
    uint64_t vertices = carom_device_row(side.vertex_count * sizeof(uint32_t));
    uint64_t bytes = vertices + size * (sizeof(uint64_t) + sizeof(uint32_t));
    unsigned blocks = carom_device_blocks(side.triangle_count, IMPACTS_CUDA_THREADS);
    CAROM_DEVICE_TRY(carom_device_reserve(device, memory, bytes, "the edges of a soup"));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &soup->owners.block,
                                          (uint64_t)side.triangle_count + 1, "a soup"));
    impacts_cuda_owners o = {};
    o.size = size;
    o.of_vertex = (uint32_t *)memory->data;
    o.edges = (unsigned long long *)((char *)memory->data + vertices);
    o.of_edge = (uint32_t *)(o.edges + size);
    (void)cudaMemsetAsync(memory->data, 0xFF, bytes, device->stream);
    carom_device_launch(device, impacts_cuda_enter_owners, blocks, IMPACTS_CUDA_THREADS, side, o);
    carom_device_launch(device, impacts_cuda_list_owned, blocks, IMPACTS_CUDA_THREADS, side, o,
                        (uint8_t *)soup->owners.block.data);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "the edges of a soup");
}

static carom_status impacts_cuda_ensure_owners(carom_device *device,
                                               const carom_device_soup *soup) {
    std::lock_guard<std::mutex> guard(soup->owners.lock);
    carom_device_block memory = {};
    if (soup->owners.there) return CAROM_OK;
    carom_status status = impacts_cuda_find_owners(device, soup, &memory);
    carom_device_release(&memory);
    soup->owners.there = status == CAROM_OK;
    return status;
}

/* ---- The frame ------------------------------------------------------------------------------- */

static __global__ void impacts_cuda_begin(impacts_cuda_frame *frame,
                                          carom_device_counters *counters) {
    carom_device_begin();
    if (threadIdx.x >= 3) return;
    frame->low[threadIdx.x] = ULLONG_MAX;
    frame->high[threadIdx.x] = 0;
    if (threadIdx.x != 0) return;
    frame->movement = frame->size = 0.0;
    counters->n[IMPACTS_N_LOWER] = counters->n[IMPACTS_N_UPPER] = ULLONG_MAX;
    counters->n[IMPACTS_N_KEY] = ULLONG_MAX;
}

static __device__ inline double impacts_cuda_sum(double x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

/* Bounds of all ways; with `motion` also how far vertices move and how long edges are. */
static __global__ void __launch_bounds__(IMPACTS_CUDA_THREADS)
    impacts_cuda_find_bounds(impacts_cuda_view v, impacts_cuda_frame *frame, bool motion,
                             carom_device_counters *counters) {
    carom_device_begin();
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double movement = 0.0, size = 0.0;
    uint64_t of_a = v.a.soup.vertex_count, count = of_a + (v.cross ? v.b.soup.vertex_count : 0);
    uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = thread; i < count; i += threads) {
        const impacts_cuda_side &s = i < of_a ? v.a : v.b;
        uint32_t vertex = (uint32_t)(i < of_a ? i : i - of_a);
        carom_vec3 p = impacts_cuda_start(s, vertex), q = impacts_cuda_end(s, vertex);
        const double x[3] = {p.x, p.y, p.z}, y[3] = {q.x, q.y, q.z};
        for (int k = 0; k < 3; ++k) {
            if (!isfinite(x[k]) || !isfinite(y[k]))
                atomicAdd(&counters->n[IMPACTS_N_NOT_FINITE], 1ull);
            low[k] = fmin(low[k], fmin(x[k], y[k]));
            high[k] = fmax(high[k], fmax(x[k], y[k]));
            movement += fabs(y[k] - x[k]);
        }
    }
    count = (uint64_t)v.a.soup.triangle_count + (v.cross ? v.b.soup.triangle_count : 0);
    for (uint64_t i = thread; motion && i < count; i += threads) {
        const impacts_cuda_side &s = impacts_cuda_side_of(v, (uint32_t)i);
        const uint32_t *c = s.soup.corners + 3 * (uint64_t)impacts_cuda_triangle_of(v, (uint32_t)i);
        carom_vec3 p = soup_cuda_load(s.soup, c[0]), q = soup_cuda_load(s.soup, c[1]);
        size += fabs(q.x - p.x) + fabs(q.y - p.y) + fabs(q.z - p.z);
    }
    __syncwarp();
    soup_cuda_add_bounds(low, high, frame->low, frame->high);
    if (!motion) return;
    movement = impacts_cuda_sum(movement);
    size = impacts_cuda_sum(size);
    if (threadIdx.x % CAROM_WARP != 0) return;
    atomicAdd(&frame->movement, movement);
    atomicAdd(&frame->size, size);
}

/* As measure_motion of impacts.c. */
static __device__ float impacts_cuda_horizon(const impacts_cuda_view &v,
                                             const impacts_cuda_frame *frame, double largest) {
    double vertices = (double)v.a.soup.vertex_count, triangles = (double)v.a.soup.triangle_count;
    if (v.cross) {
        vertices += (double)v.b.soup.vertex_count;
        triangles += (double)v.b.soup.triangle_count;
    }
    double step = CAROM_IMPACT_HORIZON_EDGES * frame->size * vertices;
    double whole = frame->movement * triangles;
    if (!(largest < CAROM_IMPACT_PRUNING_LIMIT && step > 0.0 && step < whole)) return 1.0f;
    float horizon = (float)(step / whole);
    return CAROM_MAX(horizon, CAROM_IMPACT_HORIZON_LEAST);
}

struct impacts_cuda_frame_def {
    bool exact; /* float32 holds the positions, and no distances are found */
    bool near, first;
    double reach;
    float horizon; /* 0: of the first search */
};

/* As impacts_choose_frame and impacts_prepare of impacts.c. */
static __global__ void impacts_cuda_end_bounds(impacts_cuda_view v, impacts_cuda_frame *frame,
                                               impacts_cuda_frame_def def,
                                               carom_device_counters *counters) {
    carom_device_begin();
    double low[3], high[3], error = 0.0;
    double most = soup_cuda_get_bounds(frame->low, frame->high, low, high), largest = most;
    float gap = 0.0f, reach = 0.0f;
    frame->scale = 1.0;
    for (int k = 0; k < 3; ++k) frame->origin[k] = 0.0;
    if (!def.exact) {
        if (most >= CAROM_SCALE_LIMIT || (most < CAROM_SCALE_LEAST && most > 0.0))
            frame->scale = carom_power_of_two(-carom_exponent(most));
        largest = 0.0;
        for (int k = 0; k < 3; ++k) {
            low[k] *= frame->scale;
            high[k] *= frame->scale;
            frame->origin[k] = (low[k] + high[k]) * 0.5;
            double from = fabs(low[k] - frame->origin[k]), to = fabs(high[k] - frame->origin[k]);
            largest = CAROM_MAX(CAROM_MAX(from, to), largest);
        }
        error = CAROM_IMPACT_FLOAT_ROUNDING * largest + IMPACTS_CUDA_FLOAT_LEAST;
        gap = (float)(error * CAROM_IMPACT_GAP_ERRORS);
        largest = (largest + error) * CAROM_IMPACT_FLOAT_UP; /* of a float32 point */
    }
    float until = !def.first ? 1.0f : def.horizon;
    if (until == 0.0f) until = impacts_cuda_horizon(v, frame, largest);
    if (def.near) reach = carom_impacts_reach(def.reach * frame->scale, largest);
    gap = carom_impacts_gap_until(gap, largest, until);
    frame->gap = gap + reach;
    frame->sum_gap = carom_impacts_sum_gap(gap, reach, (float)(largest * CAROM_IMPACT_FLOAT_UP));
    frame->until = until;
    frame->largest = def.near ? most : 0.0;
    counters->n[IMPACTS_N_LARGEST] = (carom_device_count)__double_as_longlong(frame->largest);
    counters->n[IMPACTS_N_UNTIL] = __float_as_uint(until);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* The boxes that triangles sweep, for the tree. */
struct impacts_cuda_boxes {
    impacts_cuda_view v;

    __device__ bool second(uint32_t item) const {
        return item >= v.a.soup.triangle_count;
    }

    /* The corners at time 0 and at the end of the search, rounded to float32. */
    __device__ void load(uint32_t item, float (*at)[3][3], uint32_t *vertices) const {
        const impacts_cuda_side &s = impacts_cuda_side_of(v, item);
        const uint32_t *corners = s.soup.corners + 3 * (uint64_t)impacts_cuda_triangle_of(v, item);
        double scale = v.frame->scale;
        float until = v.frame->until;
        for (int i = 0; i < 3; ++i) {
            vertices[i] = corners[i];
            carom_vec3 p = impacts_cuda_start(s, corners[i]), q = impacts_cuda_end(s, corners[i]);
            const double x[3] = {p.x, p.y, p.z}, y[3] = {q.x, q.y, q.z};
            for (int k = 0; k < 3; ++k) {
                float start = (float)(x[k] * scale - v.frame->origin[k]);
                float end = (float)(y[k] * scale - v.frame->origin[k]);
                at[0][i][k] = start;
                at[1][i][k] = until < 1.0f ? start + until * (end - start) : end;
            }
        }
    }

    __device__ carom_box around(const float (*at)[3][3]) const {
        carom_box box = carom_box_empty();
        for (int k = 0; k < 3; ++k) {
            for (int t = 0; t < 2; ++t)
                for (int i = 0; i < 3; ++i) {
                    box.low[k] = fminf(box.low[k], at[t][i][k]);
                    box.high[k] = fmaxf(box.high[k], at[t][i][k]);
                }
            box.low[k] -= v.frame->gap;
            box.high[k] += v.frame->gap;
        }
        return box;
    }

    __device__ bool live(uint32_t item) const {
        const soup_cuda_side &s = impacts_cuda_side_of(v, item).soup;
        return (s.states[impacts_cuda_triangle_of(v, item)] & SOUP_CUDA_DEAD) == 0;
    }

    __device__ carom_box box(uint32_t item) const {
        float at[2][3][3];
        uint32_t vertices[3];
        if (!live(item)) return carom_box_empty();
        load(item, at, vertices);
        return around(at);
    }

    __device__ carom_box first_box(uint32_t item) const {
        return box(item);
    }

    __device__ carom_box box_at(uint32_t slot, uint32_t item) const {
        float at[2][3][3];
        uint32_t vertices[3];
        load(item, at, vertices);
        float4 *record = v.records + 6 * (uint64_t)slot;
        uint32_t owned = impacts_cuda_side_of(v, item).owned[impacts_cuda_triangle_of(v, item)];
        v.heads[slot] = make_uint4(vertices[0], vertices[1], vertices[2], owned);
        for (int t = 0; t < 2; ++t)
            for (int i = 0; i < 3; ++i)
                record[3 * t + i] = make_float4(at[t][i][0], at[t][i][1], at[t][i][2], 0.0f);
        return live(item) ? around(at) : carom_box_empty();
    }
};

static __device__ inline uint32_t impacts_cuda_vertex_of(const uint4 &head, uint32_t corner) {
    return corner == 0 ? head.x : corner == 1 ? head.y : head.z;
}

/* ---- Directions ------------------------------------------------------------------------------ */

/* Points at both times. */
template <int N> struct impacts_cuda_hull {
    float at[2][N][3];

    /* `record`: of a corner at time 0; that at the end of the search is three later. */
    __device__ void set(int i, const float4 *record) {
        float4 start = record[0], end = record[3];
        at[0][i][0] = start.x;
        at[0][i][1] = start.y;
        at[0][i][2] = start.z;
        at[1][i][0] = end.x;
        at[1][i][1] = end.y;
        at[1][i][2] = end.z;
    }

    /* Sums are those of a quarter of the coordinates, so that they are finite. */
    __device__ void quarter() {
        for (int t = 0; t < 2; ++t)
            for (int i = 0; i < N; ++i)
                for (int k = 0; k < 3; ++k) at[t][i][k] *= 0.25f;
    }
};

/* A point along direction D: the axes, the diagonals of a cube, those of its faces. */
template <int D> static __device__ inline float impacts_cuda_along(const float *p) {
    if (D < 3) return p[D];
    if (D == 3) return (p[0] + p[1]) + p[2];
    if (D == 4) return (p[0] + p[1]) - p[2];
    if (D == 5) return (p[0] - p[1]) + p[2];
    if (D == 6) return (p[0] - p[1]) - p[2];
    if (D == 7) return p[0] + p[1];
    if (D == 8) return p[0] - p[1];
    if (D == 9) return p[0] + p[2];
    if (D == 10) return p[0] - p[2];
    if (D == 11) return p[1] + p[2];
    return p[1] - p[2];
}

/* Whether direction D has a gap, on the same side, at both times. */
template <int D, int NP, int NQ>
static __device__ inline bool impacts_cuda_separates(const impacts_cuda_hull<NP> &p,
                                                     const impacts_cuda_hull<NQ> &q, float gap) {
    float forwards = HUGE_VALF, backwards = HUGE_VALF;
    for (int t = 0; t < 2; ++t) {
        float low_p = impacts_cuda_along<D>(p.at[t][0]), high_p = low_p;
        float low_q = impacts_cuda_along<D>(q.at[t][0]), high_q = low_q;
        for (int i = 1; i < NP; ++i) {
            float x = impacts_cuda_along<D>(p.at[t][i]);
            low_p = fminf(low_p, x);
            high_p = fmaxf(high_p, x);
        }
        for (int i = 1; i < NQ; ++i) {
            float x = impacts_cuda_along<D>(q.at[t][i]);
            low_q = fminf(low_q, x);
            high_q = fmaxf(high_q, x);
        }
        forwards = fminf(forwards, low_q - high_p);
        backwards = fminf(backwards, low_p - high_q);
    }
    return fmaxf(forwards, backwards) > gap;
}

struct impacts_cuda_gaps {
    float axis, sum; /* as in impacts_cuda_frame */
};

/* Whether some direction separates; the points are no longer there afterwards. */
template <int NP, int NQ>
static __device__ inline bool impacts_cuda_apart(impacts_cuda_hull<NP> &p, impacts_cuda_hull<NQ> &q,
                                                 const impacts_cuda_gaps &gap) {
    bool apart = impacts_cuda_separates<0>(p, q, gap.axis);
    apart = impacts_cuda_separates<1>(p, q, gap.axis) || apart;
    apart = impacts_cuda_separates<2>(p, q, gap.axis) || apart;
    if (apart) return true;
    p.quarter();
    q.quarter();
    apart = impacts_cuda_separates<3>(p, q, gap.sum);
    apart = impacts_cuda_separates<4>(p, q, gap.sum) || apart;
    apart = impacts_cuda_separates<5>(p, q, gap.sum) || apart;
    apart = impacts_cuda_separates<6>(p, q, gap.sum) || apart;
    if (apart) return true;
    apart = impacts_cuda_separates<7>(p, q, gap.sum);
    apart = impacts_cuda_separates<8>(p, q, gap.sum) || apart;
    apart = impacts_cuda_separates<9>(p, q, gap.sum) || apart;
    apart = impacts_cuda_separates<10>(p, q, gap.sum) || apart;
    apart = impacts_cuda_separates<11>(p, q, gap.sum) || apart;
    return impacts_cuda_separates<12>(p, q, gap.sum) || apart;
}

/* Bits 0, 1, 2 moved to 0, 3, 6. */
static __device__ inline uint32_t impacts_cuda_spread(uint32_t bits) {
    return (bits & 1u) | (bits & 2u) << 2 | (bits & 4u) << 4;
}

/* From corners to the edges that have them: edge i has corners i and i + 1. */
static __device__ inline uint32_t impacts_cuda_edges_of(uint32_t corners) {
    return ((corners & 1u) != 0 ? 5u : 0u) | ((corners & 2u) != 0 ? 3u : 0u) |
           ((corners & 4u) != 0 ? 6u : 0u);
}

/* A bit per CAROM_IMPACT_WHICH of what both own, but for what has a common vertex in one soup:
 * `adjacent`. */
static __device__ uint32_t impacts_cuda_owned_by(const uint4 &a, const uint4 &b, bool self,
                                                 bool *adjacent) {
    uint32_t which = (a.w & 7u) | (b.w & 7u) << CAROM_IMPACT_OF_B |
                     impacts_cuda_spread(a.w >> 3) * (b.w >> 3) << CAROM_IMPACT_EDGES;
    *adjacent = false;
    if (!self) return which;
    uint32_t equal[3];
    for (uint32_t j = 0; j < 3; ++j) {
        uint32_t vertex = impacts_cuda_vertex_of(b, j);
        equal[j] =
            (a.x == vertex ? 1u : 0u) | (a.y == vertex ? 2u : 0u) | (a.z == vertex ? 4u : 0u);
    }
    uint32_t common = equal[0] | equal[1] | equal[2];
    if (common == 0) return which;
    *adjacent = true;
    for (uint32_t j = 0; j < 3; ++j) {
        uint32_t edges = impacts_cuda_edges_of(equal[j] | equal[(j + 1) % 3]);
        common |= equal[j] != 0 ? 1u << (CAROM_IMPACT_OF_B + j) : 0u;
        common |= impacts_cuda_spread(edges) << (CAROM_IMPACT_EDGES + j);
    }
    return which & ~common;
}

/* Two slots and which of their vertices and edges. */
static __device__ inline unsigned long long impacts_cuda_pack(uint32_t a, uint32_t b,
                                                              uint32_t which) {
    CAROM_ASSERT(a < IMPACTS_CUDA_MOST && b < IMPACTS_CUDA_MOST && which < CAROM_IMPACT_WHICH);
    return (unsigned long long)which << 2 * IMPACTS_CUDA_SLOT_BITS |
           (unsigned long long)b << IMPACTS_CUDA_SLOT_BITS | a;
}

/* Where the four points of an entry are: the first shape's, then the second's. A vertex comes
 * before its face. */
struct impacts_cuda_points {
    uint32_t slot[4], corner[4];
    bool edges;

    __device__ void set(unsigned long long entry) {
        uint32_t a = (uint32_t)entry & (IMPACTS_CUDA_MOST - 1u);
        uint32_t b = (uint32_t)(entry >> IMPACTS_CUDA_SLOT_BITS) & (IMPACTS_CUDA_MOST - 1u);
        uint32_t k = (uint32_t)(entry >> 2 * IMPACTS_CUDA_SLOT_BITS);
        edges = k >= CAROM_IMPACT_EDGES;
        bool of_b = !edges && k >= CAROM_IMPACT_OF_B;
        uint32_t i = edges ? (k - CAROM_IMPACT_EDGES) / 3 : of_b ? k - CAROM_IMPACT_OF_B : k;
        uint32_t j = (k - CAROM_IMPACT_EDGES) % 3;
        slot[0] = of_b ? b : a;
        slot[2] = slot[3] = of_b ? a : b;
        slot[1] = edges ? a : slot[2];
        corner[0] = i;
        corner[1] = edges ? (i + 1) % 3 : 0;
        corner[2] = edges ? j : 1;
        corner[3] = edges ? (j + 1) % 3 : 2;
    }
};

/* Whether no direction separates the shapes of an entry. */
static __device__ bool impacts_cuda_may_meet(const impacts_cuda_view &v, unsigned long long entry,
                                             const impacts_cuda_gaps &gap) {
    impacts_cuda_points at;
    impacts_cuda_hull<2> p;
    impacts_cuda_hull<3> q;
    at.set(entry);
    const float4 *point[4];
    for (int i = 0; i < 4; ++i) point[i] = v.records + 6 * (uint64_t)at.slot[i] + at.corner[i];
    p.set(0, point[0]);
    p.set(1, at.edges ? point[1] : point[0]);
    q.set(0, at.edges ? point[2] : point[1]);
    q.set(1, point[2]);
    q.set(2, point[3]);
    return !impacts_cuda_apart(p, q, gap);
}

struct impacts_cuda_waiting {
    uint2 pairs[IMPACTS_CUDA_WAITING];
    uint16_t which[IMPACTS_CUDA_WAITING];
    uint16_t features[CAROM_WARP * CAROM_IMPACT_WHICH];
    unsigned long long found[IMPACTS_CUDA_FOUND];
};

#define IMPACTS_CUDA_WHICH_BITS 4u /* of a feature in the list of a warp, below its pair */

/* Tests what `count` waiting pairs, one per lane, own. */
static __device__ void
impacts_cuda_test_features(const impacts_cuda_view &v, impacts_cuda_waiting &w, unsigned begin,
                           unsigned count, const impacts_cuda_gaps &gap,
                           carom_warp_buffer<unsigned long long, IMPACTS_CUDA_FOUND> &buffer,
                           const carom_device_list<unsigned long long> &open) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t which = lane < count ? w.which[begin + lane] : 0;
    unsigned mine = __popc(which), before = mine;
    for (unsigned step = 1; step < CAROM_WARP; step *= 2) {
        unsigned left = __shfl_up_sync(~0u, before, step);
        if (lane >= step) before += left;
    }
    unsigned total = __shfl_sync(~0u, before, CAROM_WARP - 1);
    CAROM_ASSERT(total <= CAROM_WARP * CAROM_IMPACT_WHICH);
    before -= mine;
    for (; which != 0; which &= which - 1)
        w.features[before++] =
            (uint16_t)(lane << IMPACTS_CUDA_WHICH_BITS | ((unsigned)__ffs((int)which) - 1u));
    __syncwarp();
    for (unsigned base = 0; base < total; base += CAROM_WARP) {
        bool may = base + lane < total;
        unsigned long long entry = 0;
        if (may) {
            unsigned feature = w.features[base + lane];
            uint2 pair = w.pairs[begin + (feature >> IMPACTS_CUDA_WHICH_BITS)];
            entry =
                impacts_cuda_pack(pair.x, pair.y, feature & ((1u << IMPACTS_CUDA_WHICH_BITS) - 1u));
            may = impacts_cuda_may_meet(v, entry, gap);
        }
        __syncwarp();
        buffer.push(open, may, entry);
    }
    __syncwarp();
}

/* Whether a pair of triangles has something that may meet, and what. *pair: the first soup's slot
 * comes first. Neighbours always touch: what they own is tested at once. */
static __device__ uint32_t impacts_cuda_test_pair(const impacts_cuda_view &v, uint2 *pair,
                                                  const impacts_cuda_gaps &gap) {
    bool adjacent;
    if (v.cross && v.items[pair->x] > v.items[pair->y]) *pair = make_uint2(pair->y, pair->x);
    uint32_t which = impacts_cuda_owned_by(v.heads[pair->x], v.heads[pair->y], !v.cross, &adjacent);
    if (which == 0 || adjacent) return which;
    const float4 *a = v.records + 6 * (uint64_t)pair->x, *b = v.records + 6 * (uint64_t)pair->y;
    impacts_cuda_hull<3> p, q;
    for (int i = 0; i < 3; ++i) {
        p.set(i, a + i);
        q.set(i, b + i);
    }
    return impacts_cuda_apart(p, q, gap) ? 0 : which;
}

/* Pairs of triangles that may meet wait until a warp is full of them; then the warp shares what
 * they own evenly. */
static __global__ void __launch_bounds__(IMPACTS_CUDA_THREADS, IMPACTS_CUDA_BLOCKS)
    impacts_cuda_directions(impacts_cuda_view v, carom_device_list<uint2> candidates,
                            carom_device_list<unsigned long long> open) {
    carom_device_begin();
    __shared__ impacts_cuda_waiting all[IMPACTS_CUDA_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP, waiting = 0;
    impacts_cuda_waiting &w = all[warp];
    carom_warp_buffer<unsigned long long, IMPACTS_CUDA_FOUND> buffer = {w.found, 0};
    const impacts_cuda_gaps gap = {v.frame->gap, v.frame->sum_gap};
    uint64_t count = candidates.stored(), stride = (uint64_t)gridDim.x * IMPACTS_CUDA_THREADS;
    for (uint64_t base = (uint64_t)blockIdx.x * IMPACTS_CUDA_THREADS + warp * CAROM_WARP;
         base < count + stride; base += stride) {
        bool last = base >= count; /* one more turn for the pairs that wait */
        uint2 pair = make_uint2(0, 0);
        uint32_t which = 0;
        if (base + lane < count) {
            pair = candidates.data[base + lane];
            which = impacts_cuda_test_pair(v, &pair, gap);
        }
        __syncwarp();
        unsigned mask = __ballot_sync(~0u, which != 0);
        CAROM_ASSERT(carom_warp_agrees(waiting) && waiting + __popc(mask) <= IMPACTS_CUDA_WAITING);
        if (which != 0) {
            unsigned at = waiting + __popc(mask & ((1u << lane) - 1u));
            w.pairs[at] = pair;
            w.which[at] = (uint16_t)which;
        }
        waiting += __popc(mask);
        __syncwarp();
        if (waiting < CAROM_WARP && !last) continue;
        unsigned some = waiting < CAROM_WARP ? waiting : CAROM_WARP;
        waiting -= some;
        impacts_cuda_test_features(v, w, waiting, some, gap, buffer, open);
        if (last) break;
    }
    buffer.flush(open);
}

#endif
