/* SPDX-License-Identifier: MIT */
/* Impacts and near pairs on the GPU: the stages of impacts.c, each on what the one before left.
 *
 *   tree        the soup's own order with boxes around the ways of its triangles; two soups are one
 *               tree over both (bvh_cuda.h)
 *   directions  pairs of triangles, then what they own: vertices with faces and edges with edges
 *               that have no gap along a direction at both ends of the motion (impacts_cpu.c), in
 *               float32
 *   polynomials for impacts: the cubic and the quadratics on the whole time, in doubles
 *   doubles     the items of toi_item.h, within.h and advance_item.h, with times or distances; for
 *               impacts with a stack of a few parts of the time, and a second kernel for the few
 *               that need more
 *   host        what doubles leave open, some in a million, is decided there by the code of the CPU
 *
 * Every stage leaves out only what certainly does not count, and the last two are the CPU's, so the
 * result has its bytes: keys of kind and indices are sorted, and each result is written at its
 * place. For the first impact alone the least time is kept instead of a list. */
#include <cub/device/device_radix_sort.cuh>

#include "geom/within_exact_item.h"
#include "impacts/impacts_find_cuda.h"

/* Threads per block of decisions: their parts of the time lie in local memory. */
#define IMPACTS_CUDA_DECIDERS    128u
#define IMPACTS_CUDA_FILL_BLOCKS 8u /* per processor that write results */

/* Entries per triangle that there is room for at first. A cloth has 10 to 20 candidates per
 * triangle where it moves by up to an edge. */
#define IMPACTS_CUDA_CANDIDATES         20u
#define IMPACTS_CUDA_OPEN               4u
#define IMPACTS_CUDA_LEFT               1u
#define IMPACTS_CUDA_HOST_ENTRIES       8192u
#define IMPACTS_CUDA_TRIANGLES_PER_LEAF 2u /* of pairs of leaves */

/* ---- Decisions ------------------------------------------------------------------------------- */

/* Keys in the order of results: the kind, then the index of a, then that of b. */
static __device__ inline unsigned long long impacts_cuda_key(const impacts_cuda_view &v,
                                                             uint32_t kind, uint32_t a, uint32_t b,
                                                             unsigned a_bits) {
    return ((unsigned long long)kind << a_bits | a) << v.b_bits | b;
}

/* The four points of an entry in doubles, in the order that the CPU has, and its key. */
static __device__ void impacts_cuda_gather(const impacts_cuda_view &v, unsigned a_bits,
                                           unsigned long long entry, unsigned long long *key,
                                           carom_device_motion *m) {
    impacts_cuda_points at;
    uint32_t vertex[4], item[4];
    at.set(entry);
    for (int i = 0; i < 4; ++i) {
        vertex[i] = impacts_cuda_vertex_of(v.heads[at.slot[i]], at.corner[i]);
        item[i] = v.items[at.slot[i]];
    }
    m->edges = at.edges ? 1 : 0;
    uint32_t first = impacts_cuda_triangle_of(v, item[0]);
    uint32_t second = impacts_cuda_triangle_of(v, item[3]);
    if (at.edges) {
        uint32_t edge_a = 3 * first + at.corner[0], edge_b = 3 * second + at.corner[2];
        if (!v.cross && edge_b < edge_a) {
            uint32_t swap = edge_a;
            edge_a = edge_b;
            edge_b = swap;
            for (int i = 0; i < 2; ++i) {
                swap = vertex[i];
                vertex[i] = vertex[2 + i];
                vertex[2 + i] = swap;
            }
        }
        *key = impacts_cuda_key(v, CAROM_SOUP_IMPACT_KIND_EDGE_EDGE, edge_a, edge_b, a_bits);
    } else if (v.cross && item[0] >= v.a.soup.triangle_count) {
        *key = impacts_cuda_key(v, CAROM_SOUP_IMPACT_KIND_FACE_VERTEX, second,
                                3 * first + at.corner[0], a_bits);
    } else {
        *key = impacts_cuda_key(v, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, 3 * first + at.corner[0],
                                second, a_bits);
    }
    for (int i = 0; i < 4; ++i) {
        const impacts_cuda_side &s = impacts_cuda_side_of(v, item[i]);
        m->start[i] = impacts_cuda_start(s, vertex[i]);
        m->end[i] = impacts_cuda_end(s, vertex[i]);
    }
}

/* Whether the polynomials of the whole time show that there is no impact. */
static __device__ bool impacts_cuda_misses(const carom_device_motion &m) {
    carom_toi_part part;
    double cubic, quadratic = 0.0;
    if (!carom_toi_make(m.start, m.end, m.edges, &part, &cubic, &quadratic)) return false;
    double ef = CAROM_TOI_CUBIC_ERROR * cubic + CAROM_TOI_UNDERFLOW;
    double eq = CAROM_TOI_QUADRATIC_ERROR * quadratic + CAROM_TOI_UNDERFLOW;
    return carom_toi_above(part.f, 4, ef) || carom_toi_below(part.f, 4, ef) ||
           carom_toi_look(&part, m.edges ? 5 : 4, ef, eq) == CAROM_TOI_MISS;
}

/* What carom_toi_filter shows, with a stack of a few parts only: nearly always one half of a part
 * has no root. IMPACTS_CUDA_DEEP where more is needed, or where Newton's method failed. After so
 * many splits the filter has not visited all the parts that it may. */
#define IMPACTS_CUDA_DEEP   3
#define IMPACTS_CUDA_PARTS  4
#define IMPACTS_CUDA_SPLITS 64
static_assert(2 * IMPACTS_CUDA_SPLITS + 1 < CAROM_TOI_VISITS, "the filter would give up");

static __device__ int impacts_cuda_descend(const carom_device_motion &m, double *low,
                                           double *high) {
    carom_toi_part part, right, later[IMPACTS_CUDA_PARTS];
    double cubic, quadratic = 0.0;
    int quadratics = m.edges ? 5 : 4, waiting = 0;
    if (!carom_toi_make(m.start, m.end, m.edges, &part, &cubic, &quadratic))
        return CAROM_TOI_UNDECIDED;
    double ef = CAROM_TOI_CUBIC_ERROR * cubic + CAROM_TOI_UNDERFLOW;
    if (carom_toi_above(part.f, 4, ef) || carom_toi_below(part.f, 4, ef)) return CAROM_TOI_MISS;
    for (int splits = 0;; ++splits) {
        double depth = (double)part.depth;
        double eq = (CAROM_TOI_QUADRATIC_ERROR + CAROM_TOI_QUADRATIC_SPLIT * depth) * quadratic +
                    CAROM_TOI_UNDERFLOW;
        ef = (CAROM_TOI_CUBIC_ERROR + CAROM_TOI_CUBIC_SPLIT * depth) * cubic + CAROM_TOI_UNDERFLOW;
        int verdict = carom_toi_look(&part, quadratics, ef, eq);
        if (verdict == CAROM_TOI_HIT) {
            double more = 2.0 * CAROM_TOI_CUBIC_SPLIT * cubic;
            return carom_toi_enclose(&part, ef + more, low, high) ? CAROM_TOI_HIT
                                                                  : IMPACTS_CUDA_DEEP;
        }
        bool not_left = true, not_right = true;
        if (verdict != CAROM_TOI_MISS) {
            if (carom_toi_gives_up(&part, quadratics, ef, eq)) return CAROM_TOI_UNDECIDED;
            if (splits == IMPACTS_CUDA_SPLITS) return IMPACTS_CUDA_DEEP;
            carom_toi_split(&part, &right, 5);
            depth = (double)part.depth;
            ef = (CAROM_TOI_CUBIC_ERROR + CAROM_TOI_CUBIC_SPLIT * depth) * cubic +
                 CAROM_TOI_UNDERFLOW;
            not_left = carom_toi_above(part.f, 4, ef) || carom_toi_below(part.f, 4, ef);
            not_right = carom_toi_above(right.f, 4, ef) || carom_toi_below(right.f, 4, ef);
        }
        if (not_left && not_right) {
            if (waiting == 0) return CAROM_TOI_MISS;
            part = later[--waiting];
        } else if (not_left) {
            part = right;
        } else if (!not_right) {
            if (waiting == IMPACTS_CUDA_PARTS) return IMPACTS_CUDA_DEEP;
            later[waiting++] = right;
        }
    }
}

static __global__ void __launch_bounds__(IMPACTS_CUDA_THREADS)
    impacts_cuda_polynomials(impacts_cuda_view v, unsigned a_bits,
                             carom_device_list<unsigned long long> open,
                             carom_device_list<unsigned long long> left) {
    carom_device_begin();
    __shared__ unsigned long long buffers[IMPACTS_CUDA_WARPS][IMPACTS_CUDA_FOUND];
    carom_warp_buffer<unsigned long long, IMPACTS_CUDA_FOUND> buffer = {
        buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t count = open.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * IMPACTS_CUDA_THREADS; base < count;
         base += (uint64_t)gridDim.x * IMPACTS_CUDA_THREADS) {
        uint64_t i = base + threadIdx.x;
        bool may = i < count;
        unsigned long long entry = 0, key;
        if (may) {
            carom_device_motion m;
            entry = open.data[i];
            impacts_cuda_gather(v, a_bits, entry, &key, &m);
            may = !impacts_cuda_misses(m);
        }
        __syncwarp();
        buffer.push(left, may, entry);
    }
    buffer.flush(left);
}

/* What counts: keys, beside them their indices, which are sorted with them, and intervals. */
struct impacts_cuda_hits {
    carom_device_list<unsigned long long> keys;
    uint32_t *index;
    carom_interval *times;
};

/* CAROM_YES, CAROM_NO, CAROM_UNDECIDED: the host decides; or IMPACTS_CUDA_DEEP. */
template <bool DEEP>
static __device__ int impacts_cuda_judge_meet(const carom_device_motion &m, carom_interval *time) {
    double low = 0.0, high = 0.0;
    int verdict = DEEP ? carom_toi_filter(m.start, m.end, m.edges, &low, &high)
                       : impacts_cuda_descend(m, &low, &high);
    if (verdict == CAROM_TOI_MISS) return CAROM_NO;
    if (!DEEP && verdict == IMPACTS_CUDA_DEEP) return IMPACTS_CUDA_DEEP;
    if (verdict == CAROM_TOI_UNDECIDED || high - low > CAROM_TOI_WIDTH) return CAROM_UNDECIDED;
    *time = carom_impacts_interval(low, low, high);
    return CAROM_YES;
}

template <bool DEEP>
static __device__ inline int impacts_cuda_within(const carom_triangle &a, const carom_triangle &b,
                                                 double reach) {
    return DEEP ? carom_within_decide(&a, &b, reach) : carom_within_filter(&a, &b, reach);
}

/* The enclosed distance nearly always decides. What doubles leave open takes integers, in a kernel
 * of its own: DEEP. */
template <bool DEEP>
static __device__ int impacts_cuda_judge_near(const carom_device_motion &m, double reach,
                                              carom_interval *distance) {
    const int open = DEEP ? (int)CAROM_UNDECIDED : (int)IMPACTS_CUDA_DEEP;
    carom_triangle a, b;
    carom_interval d = carom_impacts_near_distance(m.start, m.edges);
    int verdict = d.upper <= reach ? CAROM_YES : d.lower > reach ? CAROM_NO : CAROM_UNDECIDED;
    if (verdict == CAROM_NO) return CAROM_NO;
    if (verdict == CAROM_UNDECIDED || d.lower == 0.0) {
        carom_impacts_near_triangles(m.start, m.edges, &a, &b);
        int touch = CAROM_NO;
        if (verdict == CAROM_UNDECIDED) verdict = impacts_cuda_within<DEEP>(a, b, reach);
        if (verdict == CAROM_YES && d.lower == 0.0) touch = impacts_cuda_within<DEEP>(a, b, 0.0);
        if (verdict == CAROM_UNDECIDED || touch == CAROM_UNDECIDED) return open;
        if (touch == CAROM_YES) d = carom_impacts_interval(0.0, 0.0, 0.0);
    }
    *distance = carom_impacts_near_within_reach(d, reach);
    return verdict;
}

template <carom_device_impacts_task TASK, bool DEEP>
static __device__ int impacts_cuda_judge(const impacts_cuda_view &v, const carom_device_motion &m,
                                         double reach, carom_interval *interval) {
    if (TASK == CAROM_DEVICE_IMPACTS_MEET) return impacts_cuda_judge_meet<DEEP>(m, interval);
    if (TASK == CAROM_DEVICE_IMPACTS_NEAR) return impacts_cuda_judge_near<DEEP>(m, reach, interval);
    return carom_impacts_step(m.start, m.end, m.edges, reach, v.frame->largest, interval)
               ? CAROM_YES
               : CAROM_NO;
}

/* Whether a hit of a search for the first matters: what is later than the earliest does not. */
static __device__ inline bool impacts_cuda_offer(carom_device_counters *counters,
                                                 carom_interval time) {
    unsigned long long lower = (unsigned long long)__double_as_longlong(time.lower);
    unsigned long long upper = (unsigned long long)__double_as_longlong(time.upper);
    if (upper < *(volatile carom_device_count *)&counters->n[IMPACTS_N_UPPER])
        atomicMin(&counters->n[IMPACTS_N_UPPER], upper);
    if (lower > *(volatile carom_device_count *)&counters->n[IMPACTS_N_LOWER]) return false;
    return lower <= atomicMin(&counters->n[IMPACTS_N_LOWER], lower);
}

/* DEEP: of what the same without it left. */
template <carom_device_impacts_task TASK, bool DEEP>
static __global__ void __launch_bounds__(IMPACTS_CUDA_DECIDERS)
    impacts_cuda_decide(impacts_cuda_view v, unsigned a_bits, bool first, double reach,
                        carom_device_list<unsigned long long> left,
                        carom_device_list<unsigned long long> deep, impacts_cuda_hits hits,
                        carom_device_list<carom_device_motion> host,
                        carom_device_counters *counters) {
    carom_device_begin();
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint64_t count = left.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * IMPACTS_CUDA_DECIDERS; base < count;
         base += (uint64_t)gridDim.x * IMPACTS_CUDA_DECIDERS) {
        uint64_t i = base + threadIdx.x;
        carom_device_motion m;
        carom_interval interval = carom_impacts_interval(0.0, 0.0, 0.0);
        unsigned long long key = 0;
        int verdict = CAROM_NO;
        if (i < count) {
            impacts_cuda_gather(v, a_bits, left.data[i], &key, &m);
            verdict = impacts_cuda_judge<TASK, DEEP>(v, m, reach, &interval);
            m.key = key;
            m.time = interval;
            m.hit = 0;
        }
        if (verdict == CAROM_UNDECIDED) host.append(m); /* rare */
        if (!DEEP && verdict == IMPACTS_CUDA_DEEP) deep.append(left.data[i]);
        bool hit = verdict == CAROM_YES && (!first || impacts_cuda_offer(counters, interval));
        __syncwarp();
        unsigned mask = __ballot_sync(~0u, hit);
        if (mask == 0) continue;
        carom_device_count at = 0;
        if (lane == 0) at = atomicAdd(hits.keys.count, (carom_device_count)__popc(mask));
        at = __shfl_sync(~0u, at, 0) + __popc(mask & ((1u << lane) - 1u));
        if (!hit || at >= hits.keys.capacity) continue;
        hits.keys.data[at] = key;
        hits.index[at] = (uint32_t)at;
        hits.times[at] = interval;
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* As name_vertices of impacts.c. */
static __device__ inline uint32_t impacts_cuda_name(const soup_cuda_side &s, uint32_t id, int count,
                                                    uint32_t *vertices) {
    uint32_t triangle = count == 3 ? id : id / 3;
    const uint32_t *c = s.corners + 3 * (uint64_t)triangle;
    for (uint32_t i = 0; i < 3; ++i)
        vertices[i] = (int)i < count ? c[count == 3 ? i : (id % 3 + i) % 3] : CAROM_NONE;
    return s.faces != nullptr ? s.faces[triangle] : triangle;
}

static_assert(sizeof(carom_soup_impact) == 4 * sizeof(uint4), "written in four parts");
static_assert(sizeof(carom_soup_near_pair) == sizeof(carom_soup_impact), "one form for both");

/* Writes one result; padding is zero. */
static __device__ void impacts_cuda_write(const impacts_cuda_view &v, unsigned a_bits,
                                          unsigned long long key, carom_interval time, uint4 *to) {
    uint32_t kind = (uint32_t)(key >> (a_bits + v.b_bits)), a[3], b[3];
    uint32_t id_a = (uint32_t)(key >> v.b_bits & ((1ull << a_bits) - 1));
    uint32_t id_b = (uint32_t)(key & ((1ull << v.b_bits) - 1));
    bool edges = kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
    bool vertex_face = kind == CAROM_SOUP_IMPACT_KIND_VERTEX_FACE;
    uint32_t face_a = impacts_cuda_name(v.a.soup, id_a, edges ? 2 : vertex_face ? 1 : 3, a);
    uint32_t face_b = impacts_cuda_name(v.cross ? v.b.soup : v.a.soup, id_b,
                                        edges         ? 2
                                        : vertex_face ? 3
                                                      : 1,
                                        b);
    unsigned long long lower = (unsigned long long)__double_as_longlong(time.lower);
    unsigned long long value = (unsigned long long)__double_as_longlong(time.value);
    unsigned long long upper = (unsigned long long)__double_as_longlong(time.upper);
    to[0] = make_uint4(kind, face_a, face_b, a[0]);
    to[1] = make_uint4(a[1], a[2], b[0], b[1]);
    to[2] = make_uint4(b[2], 0, (uint32_t)lower, (uint32_t)(lower >> 32));
    to[3] = make_uint4((uint32_t)value, (uint32_t)(value >> 32), (uint32_t)upper,
                       (uint32_t)(upper >> 32));
}

/* Writes results in the order of sorted keys. */
static __global__ void __launch_bounds__(IMPACTS_CUDA_THREADS)
    impacts_cuda_fill(impacts_cuda_view v, unsigned a_bits, const unsigned long long *keys,
                      const uint32_t *index, const carom_interval *times, uint64_t capacity,
                      const carom_device_count *count, uint4 *to) {
    carom_device_begin();
    uint64_t n = *count < capacity ? *count : capacity;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x)
        impacts_cuda_write(v, a_bits, keys[i], times[index[i]], to + 4 * i);
}

/* Writes the first; `value` is its lower end, and the upper end the least of all. */
static __global__ void impacts_cuda_fill_first(impacts_cuda_view v, unsigned a_bits,
                                               const carom_device_counters *counters, uint4 *to) {
    carom_device_begin();
    const carom_device_count *n = counters->n;
    if (n[IMPACTS_N_KEY] != ULLONG_MAX) {
        double lower = __longlong_as_double((long long)n[IMPACTS_N_LOWER]);
        double upper = __longlong_as_double((long long)n[IMPACTS_N_UPPER]);
        impacts_cuda_write(v, a_bits, n[IMPACTS_N_KEY], carom_impacts_interval(lower, lower, upper),
                           to);
        return;
    }
    to[0] = make_uint4(CAROM_SOUP_IMPACT_KIND_NONE, CAROM_NONE, CAROM_NONE, CAROM_NONE);
    to[1] = make_uint4(CAROM_NONE, CAROM_NONE, CAROM_NONE, CAROM_NONE);
    to[2] = make_uint4(CAROM_NONE, 0, 0, 0);
    to[3] = make_uint4(0, 0, 0, 0);
}

/* ---- Safe distances -------------------------------------------------------------------------- */

/* The least distances of the pairs of each vertex, as bits of doubles that are not negative: these
 * are in the order of the numbers. Then how far the vertices may move. */
struct impacts_cuda_distances {
    unsigned long long *of[2]; /* of[1] is NULL for one soup */
    double reach, minimum;
};

static __global__ void impacts_cuda_begin_distances(impacts_cuda_distances d, uint32_t of_a,
                                                    uint32_t of_b) {
    carom_device_begin();
    uint64_t count = (uint64_t)of_a + of_b, i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long reach = (unsigned long long)__double_as_longlong(d.reach);
    for (; i < count; i += (uint64_t)gridDim.x * blockDim.x)
        (i < of_a ? d.of[0][i] : d.of[1][i - of_a]) = reach;
}

static __device__ inline void impacts_cuda_lower(unsigned long long *least,
                                                 const uint32_t *vertices,
                                                 unsigned long long distance) {
    for (int i = 0; i < 3; ++i)
        if (vertices[i] != CAROM_NONE && distance < least[vertices[i]])
            atomicMin(&least[vertices[i]], distance);
}

static __global__ void __launch_bounds__(IMPACTS_CUDA_THREADS)
    impacts_cuda_find_least(impacts_cuda_view v, unsigned a_bits, impacts_cuda_hits hits,
                            impacts_cuda_distances d) {
    carom_device_begin();
    uint64_t n = hits.keys.stored();
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 named[4];
        impacts_cuda_write(v, a_bits, hits.keys.data[i], hits.times[i], named);
        const uint32_t a[3] = {named[0].w, named[1].x, named[1].y};
        const uint32_t b[3] = {named[1].z, named[1].w, named[2].x};
        unsigned long long distance = (unsigned long long)__double_as_longlong(hits.times[i].lower);
        impacts_cuda_lower(d.of[0], a, distance);
        impacts_cuda_lower(v.cross ? d.of[1] : d.of[0], b, distance);
    }
}

static __global__ void impacts_cuda_end_distances(impacts_cuda_distances d, uint32_t of_a,
                                                  uint32_t of_b, const impacts_cuda_frame *frame) {
    carom_device_begin();
    uint64_t count = (uint64_t)of_a + of_b, i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < count; i += (uint64_t)gridDim.x * blockDim.x) {
        unsigned long long *at = i < of_a ? &d.of[0][i] : &d.of[1][i - of_a];
        double least = __longlong_as_double((long long)*at);
        double safe = carom_impacts_safe_distance(least, d.minimum, frame->largest);
        *at = (unsigned long long)__double_as_longlong(safe);
    }
}

/* ---- The first ------------------------------------------------------------------------------- */

/* Of the hits with the least time, the one that comes first in the order of results. */
static __global__ void impacts_cuda_pick(impacts_cuda_hits hits, carom_device_counters *counters) {
    carom_device_begin();
    uint64_t n = hits.keys.stored();
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x)
        if ((unsigned long long)__double_as_longlong(hits.times[i].lower) ==
            counters->n[IMPACTS_N_LOWER])
            atomicMin(&counters->n[IMPACTS_N_KEY], hits.keys.data[i]);
}

/* ---- The operation --------------------------------------------------------------------------- */

struct impacts_cuda_arguments {
    carom_device_impacts_def def;
    float horizon; /* of a search for the first that is repeated; 0: of the first one */
};

static bool impacts_cuda_is_cross(const impacts_cuda_arguments *s) {
    return s->def.b.soup != nullptr;
}

static bool impacts_cuda_is_first(const impacts_cuda_arguments *s) {
    return s->def.form == CAROM_DEVICE_IMPACTS_FIRST;
}

static uint64_t impacts_cuda_triangles(const impacts_cuda_arguments *s) {
    return (uint64_t)s->def.a.soup->def.triangle_count +
           (impacts_cuda_is_cross(s) ? s->def.b.soup->def.triangle_count : 0);
}

/* Bits of the indices of a soup's corners and edges. */
static unsigned impacts_cuda_bits(const carom_device_soup *soup) {
    uint64_t most = 3 * (uint64_t)soup->def.triangle_count;
    unsigned bits = 1;
    while (most >> bits != 0) ++bits;
    return bits;
}

static unsigned impacts_cuda_a_bits(const impacts_cuda_arguments *s) {
    return impacts_cuda_bits(s->def.a.soup);
}

static unsigned impacts_cuda_b_bits(const impacts_cuda_arguments *s) {
    return impacts_cuda_bits(impacts_cuda_is_cross(s) ? s->def.b.soup : s->def.a.soup);
}

#define IMPACTS_CUDA_KIND_BITS 2u

static int impacts_cuda_key_bits(const impacts_cuda_arguments *s) {
    return (int)(IMPACTS_CUDA_KIND_BITS + impacts_cuda_a_bits(s) + impacts_cuda_b_bits(s));
}

/* Memory of the tree and its records in one block. */
struct impacts_cuda_memory {
    carom_bvh_cuda_tree tree;
    float4 *records;
    uint4 *heads;
};

static uint64_t impacts_cuda_lay_out(const impacts_cuda_arguments *s, char *memory,
                                     impacts_cuda_memory *m) {
    uint32_t count = (uint32_t)impacts_cuda_triangles(s);
    uint64_t at = carom_device_row(carom_tree_shape(count, &m->tree) * sizeof(float));
    carom_bvh_cuda_tree_lay_out(&m->tree, (float *)memory);
    m->records = (float4 *)(memory + at);
    at += carom_device_row(6 * sizeof(float4) * (uint64_t)count);
    m->heads = (uint4 *)(memory + at);
    at += carom_device_row(sizeof(uint4) * (uint64_t)count);
    m->tree.items = (uint32_t *)s->def.a.soup->tree.items;
    m->tree.sides = nullptr;
    if (!impacts_cuda_is_cross(s)) return at;
    m->tree.items = (uint32_t *)(memory + at);
    at += carom_device_row(sizeof(uint32_t) * (uint64_t)count);
    m->tree.sides = (uint32_t *)(memory + at);
    return at + sizeof(uint32_t) * ((uint64_t)m->tree.entries[1] + CAROM_WARP);
}

/* Memory of sorting: indices, sorted keys and indices, and CUB's. */
struct impacts_cuda_sort {
    uint32_t *index, *sorted_index;
    unsigned long long *sorted;
    void *temporary;
    size_t temporary_bytes;
};

static uint64_t impacts_cuda_sort_lay_out(uint64_t capacity, int bits, char *memory,
                                          impacts_cuda_sort *sort) {
    unsigned long long *no_keys = nullptr;
    uint32_t *no_index = nullptr;
    uint64_t row = carom_device_row(capacity * sizeof(uint32_t));
    sort->temporary_bytes = 0;
    (void)cub::DeviceRadixSort::SortPairs(nullptr, sort->temporary_bytes, no_keys, no_keys,
                                          no_index, no_index, (int64_t)capacity, 0, bits,
                                          (cudaStream_t) nullptr);
    sort->index = (uint32_t *)memory;
    sort->sorted_index = (uint32_t *)(memory + row);
    sort->sorted = (unsigned long long *)(memory + 2 * row);
    sort->temporary = memory + 2 * row + carom_device_row(capacity * sizeof(uint64_t));
    return 2 * row + carom_device_row(capacity * sizeof(uint64_t)) + sort->temporary_bytes;
}

static uint64_t impacts_cuda_hit_capacity(const carom_device *device) {
    return carom_device_scratch_bytes(device, CAROM_SCRATCH_IMPACTS_HITS) / sizeof(uint64_t);
}

/* The lists but for the hits: their blocks and counters, and sizes of entries. */
static const struct {
    carom_device_scratch block;
    int counter;
    uint64_t size, per_triangle, least;
} impacts_cuda_lists[] = {
    {CAROM_SCRATCH_PAIRS_CANDIDATES, IMPACTS_N_CANDIDATES, sizeof(uint2), IMPACTS_CUDA_CANDIDATES,
     CAROM_DEVICE_LIST_ENTRIES},
    {CAROM_SCRATCH_IMPACTS_OPEN, IMPACTS_N_OPEN, sizeof(uint64_t), IMPACTS_CUDA_OPEN,
     CAROM_DEVICE_LIST_ENTRIES},
    {CAROM_SCRATCH_IMPACTS_LEFT, IMPACTS_N_LEFT, sizeof(uint64_t), IMPACTS_CUDA_LEFT,
     CAROM_DEVICE_LIST_ENTRIES},
    {CAROM_SCRATCH_IMPACTS_DEEP, IMPACTS_N_DEEP, sizeof(uint64_t), 0, CAROM_DEVICE_LIST_ENTRIES},
    {CAROM_SCRATCH_IMPACTS_HOST, IMPACTS_N_HOST, sizeof(carom_device_motion), 0,
     IMPACTS_CUDA_HOST_ENTRIES}};

/* Makes the caller's list large enough. */
static carom_status impacts_cuda_reserve_list(carom_device *device, carom_cuda_impacts *impacts,
                                              uint64_t count) {
    if (impacts->memory == nullptr) impacts->memory = new (std::nothrow) carom_device_block{};
    carom_device_block *block = (carom_device_block *)impacts->memory;
    if (block == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for impacts");
    carom_status status =
        carom_device_reserve(device, block, count * sizeof(carom_soup_impact), "the impacts");
    impacts->data = (carom_soup_impact *)block->data;
    impacts->capacity = block->bytes / sizeof(carom_soup_impact);
    return status;
}

static carom_status impacts_cuda_reserve(carom_device *device, carom_device_op *op) {
    impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    const char *what = "a search for impacts";
    uint64_t n = impacts_cuda_triangles(s);
    impacts_cuda_memory m = {};
    impacts_cuda_sort sort = {};
    if (n >= IMPACTS_CUDA_MOST || impacts_cuda_key_bits(s) > 64)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "the soups have %llu triangles together, too many to number",
                                 (unsigned long long)n);
    CAROM_DEVICE_TRY(impacts_cuda_ensure_owners(device, s->def.a.soup));
    if (impacts_cuda_is_cross(s)) {
        CAROM_DEVICE_TRY(impacts_cuda_ensure_owners(device, s->def.b.soup));
        CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, (uint32_t)n));
    }
    CAROM_DEVICE_TRY(carom_tree_find_reserve(device, n / IMPACTS_CUDA_TRIANGLES_PER_LEAF));
    for (const auto &list : impacts_cuda_lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(
            device, list.block, list.per_triangle * n + list.least, list.size, what));
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_IMPACTS_HITS,
                                               CAROM_DEVICE_LIST_ENTRIES, sizeof(uint64_t), what));
    uint64_t hits = impacts_cuda_hit_capacity(device);
    bool all = s->def.form == CAROM_DEVICE_IMPACTS_ALL;
    const struct {
        carom_device_scratch block;
        uint64_t bytes;
    } wanted[] = {{CAROM_SCRATCH_IMPACTS_FRAME, sizeof(impacts_cuda_frame)},
                  {CAROM_SCRATCH_IMPACTS_TREE, impacts_cuda_lay_out(s, nullptr, &m)},
                  {CAROM_SCRATCH_IMPACTS_TIMES, hits * sizeof(carom_interval)},
                  {CAROM_SCRATCH_IMPACTS_SORT,
                   impacts_cuda_sort_lay_out(hits, impacts_cuda_key_bits(s), nullptr, &sort)},
                  {CAROM_SCRATCH_IMPACTS_FOUND,
                   (all && s->def.in_scratch ? hits : 1) * sizeof(carom_soup_impact)}};
    for (const auto &block : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, block.block, block.bytes, what));
    return all && !s->def.in_scratch ? impacts_cuda_reserve_list(device, s->def.impacts, hits)
                                     : CAROM_OK;
}

static impacts_cuda_side impacts_cuda_side_make(const carom_device_way &way) {
    impacts_cuda_side side = {};
    side.soup = soup_cuda_side_of_soup(way.soup);
    side.soup.moved = way.moved;
    side.soup.frame = way.frame;
    side.end = way.end;
    side.end_doubles = way.end_doubles;
    side.owned = (const uint8_t *)way.soup->owners.block.data;
    return side;
}

/* Whether float32 holds all positions of a soup. */
static bool impacts_cuda_in_floats(const carom_device_way &way) {
    return !way.soup->def.doubles && !way.moved && (way.end == nullptr || !way.end_doubles);
}

/* All that the kernels of a search are given. */
struct impacts_cuda_search {
    impacts_cuda_view v;
    impacts_cuda_frame *frame;
    impacts_cuda_memory memory;
    carom_device_list<unsigned long long> open, left, deep;
    impacts_cuda_hits hits;
    carom_device_list<carom_device_motion> host;
    impacts_cuda_sort sort;
    uint4 *found;
    unsigned a_bits;
};

/* Takes the memory of an operation that is being launched or finished. */
static impacts_cuda_search impacts_cuda_take(carom_device *device, carom_device_op *op) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    impacts_cuda_search x = {};
    uint64_t bytes = impacts_cuda_lay_out(s, nullptr, &x.memory);
    (void)impacts_cuda_lay_out(
        s, carom_device_take<char>(device, CAROM_SCRATCH_IMPACTS_TREE, bytes), &x.memory);
    x.frame = carom_device_take<impacts_cuda_frame>(device, CAROM_SCRATCH_IMPACTS_FRAME,
                                                    sizeof(impacts_cuda_frame));
    x.open = carom_device_list_of<unsigned long long>(device, CAROM_SCRATCH_IMPACTS_OPEN, op,
                                                      IMPACTS_N_OPEN);
    x.left = carom_device_list_of<unsigned long long>(device, CAROM_SCRATCH_IMPACTS_LEFT, op,
                                                      IMPACTS_N_LEFT);
    x.deep = carom_device_list_of<unsigned long long>(device, CAROM_SCRATCH_IMPACTS_DEEP, op,
                                                      IMPACTS_N_DEEP);
    x.host = carom_device_list_of<carom_device_motion>(device, CAROM_SCRATCH_IMPACTS_HOST, op,
                                                       IMPACTS_N_HOST);
    x.hits.keys = carom_device_list_of<unsigned long long>(device, CAROM_SCRATCH_IMPACTS_HITS, op,
                                                           IMPACTS_N_HITS);
    uint64_t capacity = x.hits.keys.capacity;
    bytes = impacts_cuda_sort_lay_out(capacity, impacts_cuda_key_bits(s), nullptr, &x.sort);
    (void)impacts_cuda_sort_lay_out(
        capacity, impacts_cuda_key_bits(s),
        carom_device_take<char>(device, CAROM_SCRATCH_IMPACTS_SORT, bytes), &x.sort);
    x.hits.index = x.sort.index;
    x.hits.times = carom_device_take<carom_interval>(device, CAROM_SCRATCH_IMPACTS_TIMES,
                                                     capacity * sizeof(carom_interval));
    bool list = s->def.form == CAROM_DEVICE_IMPACTS_ALL && !s->def.in_scratch;
    uint64_t results = s->def.form == CAROM_DEVICE_IMPACTS_ALL ? capacity : 1;
    x.found = list ? (uint4 *)s->def.impacts->data
                   : carom_device_take<uint4>(device, CAROM_SCRATCH_IMPACTS_FOUND,
                                              results * sizeof(carom_soup_impact));
    x.a_bits = impacts_cuda_a_bits(s);
    x.v.a = impacts_cuda_side_make(s->def.a);
    x.v.cross = impacts_cuda_is_cross(s);
    if (x.v.cross) x.v.b = impacts_cuda_side_make(s->def.b);
    x.v.frame = x.frame;
    x.v.items = x.memory.tree.items;
    x.v.heads = x.memory.heads;
    x.v.records = x.memory.records;
    x.v.b_bits = impacts_cuda_b_bits(s);
    return x;
}

/* Queues the choice of the frame and the build of the tree. */
static void impacts_cuda_launch_tree(carom_device *device, carom_device_op *op,
                                     const impacts_cuda_search &x) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    const carom_bvh_cuda_tree &tree = x.memory.tree;
    impacts_cuda_frame_def def = {};
    def.near = s->def.task != CAROM_DEVICE_IMPACTS_MEET;
    def.exact = !def.near && impacts_cuda_in_floats(s->def.a) &&
                (!x.v.cross || impacts_cuda_in_floats(s->def.b));
    def.first = impacts_cuda_is_first(s);
    def.reach = s->def.reach;
    def.horizon = s->horizon;
    carom_device_step(device, "bounds");
    carom_device_launch(device, impacts_cuda_begin, 1, CAROM_WARP, x.frame, op->counters);
    carom_device_launch(device, impacts_cuda_find_bounds,
                        IMPACTS_CUDA_BOUNDS_BLOCKS * (unsigned)device->processors,
                        IMPACTS_CUDA_THREADS, x.v, x.frame, def.first, op->counters);
    carom_device_launch(device, impacts_cuda_end_bounds, 1, 1, x.v, x.frame, def, op->counters);
    if (tree.entries[0] == 0) return;
    impacts_cuda_boxes boxes = {x.v};
    carom_device_step(device, "build");
    if (x.v.cross)
        carom_bvh_cuda_build(device, boxes, tree, carom_tree_sort_take(device, tree.entries[0]),
                             false);
    else
        carom_tree_fill_all(device, boxes, tree);
}

/* Queues what is left of form ALL when all hits are there: the results in their order. */
static void impacts_cuda_launch_all(carom_device *device, carom_device_op *op,
                                    const impacts_cuda_search &x) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    impacts_cuda_sort sort = x.sort;
    carom_device_step(device, "canonical order");
    (void)cub::DeviceRadixSort::SortPairs(sort.temporary, sort.temporary_bytes, x.hits.keys.data,
                                          sort.sorted, sort.index, sort.sorted_index,
                                          (int64_t)x.hits.keys.capacity, 0,
                                          impacts_cuda_key_bits(s), device->stream);
    carom_device_step(device, "results");
    carom_device_launch(device, impacts_cuda_fill,
                        IMPACTS_CUDA_FILL_BLOCKS * (unsigned)device->processors,
                        IMPACTS_CUDA_THREADS, x.v, x.a_bits, sort.sorted, sort.sorted_index,
                        x.hits.times, x.hits.keys.capacity, x.hits.keys.count, x.found);
}

/* The same of form DISTANCES. */
static void impacts_cuda_launch_distances(carom_device *device, carom_device_op *op,
                                          const impacts_cuda_search &x) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    unsigned blocks = IMPACTS_CUDA_FILL_BLOCKS * (unsigned)device->processors;
    uint32_t of_a = x.v.a.soup.vertex_count, of_b = x.v.cross ? x.v.b.soup.vertex_count : 0;
    impacts_cuda_distances d = {
        {(unsigned long long *)s->def.distances[0], (unsigned long long *)s->def.distances[1]},
        s->def.reach,
        s->def.minimum};
    carom_device_step(device, "distances");
    carom_device_launch(device, impacts_cuda_begin_distances, blocks, IMPACTS_CUDA_THREADS, d, of_a,
                        of_b);
    carom_device_launch(device, impacts_cuda_find_least, blocks, IMPACTS_CUDA_THREADS, x.v,
                        x.a_bits, x.hits, d);
    carom_device_launch(device, impacts_cuda_end_distances, blocks, IMPACTS_CUDA_THREADS, d, of_a,
                        of_b, x.frame);
}

static void impacts_cuda_launch_results(carom_device *device, carom_device_op *op,
                                        const impacts_cuda_search &x) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    if (s->def.form == CAROM_DEVICE_IMPACTS_ALL) {
        impacts_cuda_launch_all(device, op, x);
    } else if (s->def.form == CAROM_DEVICE_IMPACTS_DISTANCES) {
        impacts_cuda_launch_distances(device, op, x);
    } else {
        carom_device_step(device, "the first");
        carom_device_launch(device, impacts_cuda_pick,
                            IMPACTS_CUDA_FILL_BLOCKS * (unsigned)device->processors,
                            IMPACTS_CUDA_THREADS, x.hits, op->counters);
        carom_device_launch(device, impacts_cuda_fill_first, 1, 1, x.v, x.a_bits, op->counters,
                            x.found);
    }
}

template <carom_device_impacts_task TASK, bool DEEP>
static void impacts_cuda_launch_decide(carom_device *device, carom_device_op *op,
                                       const impacts_cuda_search &x,
                                       const carom_device_list<unsigned long long> &left) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    auto kernel = impacts_cuda_decide<TASK, DEEP>;
    carom_device_launch(device, kernel,
                        carom_device_resident(device, kernel, IMPACTS_CUDA_DECIDERS),
                        IMPACTS_CUDA_DECIDERS, x.v, x.a_bits, impacts_cuda_is_first(s),
                        s->def.reach, left, x.deep, x.hits, x.host, op->counters);
}

/* Queues the decisions of what no direction separates. */
static void impacts_cuda_launch_decisions(carom_device *device, carom_device_op *op,
                                          const impacts_cuda_search &x) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    if (s->def.task == CAROM_DEVICE_IMPACTS_MEET) {
        carom_device_step(device, "polynomials");
        carom_device_launch(
            device, impacts_cuda_polynomials,
            carom_device_resident(device, impacts_cuda_polynomials, IMPACTS_CUDA_THREADS),
            IMPACTS_CUDA_THREADS, x.v, x.a_bits, x.open, x.left);
        carom_device_step(device, "doubles");
        impacts_cuda_launch_decide<CAROM_DEVICE_IMPACTS_MEET, false>(device, op, x, x.left);
        carom_device_step(device, "many parts");
        impacts_cuda_launch_decide<CAROM_DEVICE_IMPACTS_MEET, true>(device, op, x, x.deep);
        return;
    }
    carom_device_step(device, "doubles");
    if (s->def.task == CAROM_DEVICE_IMPACTS_STEP) {
        impacts_cuda_launch_decide<CAROM_DEVICE_IMPACTS_STEP, true>(device, op, x, x.open);
        return;
    }
    impacts_cuda_launch_decide<CAROM_DEVICE_IMPACTS_NEAR, false>(device, op, x, x.open);
    carom_device_step(device, "integers");
    impacts_cuda_launch_decide<CAROM_DEVICE_IMPACTS_NEAR, true>(device, op, x, x.deep);
}

static void impacts_cuda_launch(carom_device *device, carom_device_op *op) {
    const impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    carom_device_list<uint2> candidates = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_PAIRS_CANDIDATES, op, IMPACTS_N_CANDIDATES);
    impacts_cuda_search x = impacts_cuda_take(device, op);
    carom_device_clear(device, op);
    if (s->def.form == CAROM_DEVICE_IMPACTS_ALL) {
        uint64_t capacity = x.hits.keys.capacity; /* those that are not used come last */
        (void)cudaMemsetAsync(x.hits.keys.data, 0xFF, capacity * sizeof(uint64_t), device->stream);
        (void)cudaMemsetAsync(x.sort.index, 0, capacity * sizeof(uint32_t), device->stream);
    }
    impacts_cuda_launch_tree(device, op, x);
    if (x.memory.tree.entries[0] != 0) {
        carom_tree_find(device, op, x.memory.tree, IMPACTS_N_LEAF_PAIRS, candidates);
        carom_device_step(device, "directions");
        carom_device_launch(
            device, impacts_cuda_directions,
            carom_device_resident(device, impacts_cuda_directions, IMPACTS_CUDA_THREADS),
            IMPACTS_CUDA_THREADS, x.v, candidates, x.open);
        impacts_cuda_launch_decisions(device, op, x);
    }
    impacts_cuda_launch_results(device, op, x);
}

/* ---- Finishing ------------------------------------------------------------------------------- */

/* What was found and decided of a search, on the host. */
struct impacts_cuda_finishing {
    double largest;
    uint64_t hits;       /* of the device, and those of the host */
    double lower, upper; /* of the first */
};

static double impacts_cuda_double_of(carom_device_count bits) {
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Decides on the host what doubles left open, and moves what counts to the front. */
static carom_status impacts_cuda_decide_here(carom_device *device, impacts_cuda_arguments *s,
                                             carom_device_motion *motions, uint64_t count,
                                             double largest, uint64_t *hits) {
    const void *from =
        carom_device_scratch_data<carom_device_motion>(device, CAROM_SCRATCH_IMPACTS_HOST);
    *hits = 0;
    CAROM_DEVICE_TRY(carom_device_copy(device, motions, from, count * sizeof(*motions),
                                       cudaMemcpyDeviceToHost, "reading motions"));
    carom_status status = s->def.decide(&s->def, motions, count, largest);
    if (status != CAROM_OK) return carom_device_fail(device, status, "deciding motions failed");
    for (uint64_t i = 0; i < count; ++i)
        if (motions[i].hit != 0) motions[(*hits)++] = motions[i];
    return CAROM_OK;
}

/* Appends hits of the host to those of the device, or offers them for the first. */
static carom_status impacts_cuda_append(carom_device *device, carom_device_op *op,
                                        const impacts_cuda_search &x,
                                        const carom_device_motion *motions, uint64_t count,
                                        const impacts_cuda_finishing *f) {
    carom_device_count *n = op->counters->n; /* on the device */
    const carom_device_count none = ULLONG_MAX;
    uint64_t there = f->hits - count;
    CAROM_ASSERT(f->hits <= x.hits.keys.capacity);
    const auto put = [device](void *to, const void *from, uint64_t bytes) {
        return carom_device_copy(device, to, from, bytes, cudaMemcpyHostToDevice,
                                 "results of the host");
    };
    for (uint64_t i = 0; i < count; ++i) { /* few */
        uint32_t index = (uint32_t)(there + i);
        CAROM_DEVICE_TRY(put(x.hits.keys.data + index, &motions[i].key, sizeof(uint64_t)));
        CAROM_DEVICE_TRY(put(x.hits.index + index, &index, sizeof(index)));
        CAROM_DEVICE_TRY(put(x.hits.times + index, &motions[i].time, sizeof(carom_interval)));
    }
    CAROM_DEVICE_TRY(put(x.hits.keys.count, &f->hits, sizeof(f->hits)));
    CAROM_DEVICE_TRY(put(&n[IMPACTS_N_LOWER], &f->lower, sizeof(f->lower)));
    CAROM_DEVICE_TRY(put(&n[IMPACTS_N_UPPER], &f->upper, sizeof(f->upper)));
    return put(&n[IMPACTS_N_KEY], &none, sizeof(none));
}

/* Decides what doubles left open, and makes the results anew where that adds to them. */
static carom_status impacts_cuda_finish_here(carom_device *device, carom_device_op *op,
                                             uint64_t count, impacts_cuda_finishing *f,
                                             bool *again) {
    impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    uint64_t hits;
    carom_device_motion *motions = new (std::nothrow) carom_device_motion[count];
    if (motions == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu motions",
                                 (unsigned long long)count);
    carom_status status = impacts_cuda_decide_here(device, s, motions, count, f->largest, &hits);
    for (uint64_t i = 0; i < hits && status == CAROM_OK; ++i) {
        f->lower = CAROM_MIN(motions[i].time.lower, f->lower);
        f->upper = CAROM_MIN(motions[i].time.upper, f->upper);
    }
    f->hits += hits;
    *again = carom_device_list_grows(device, CAROM_SCRATCH_IMPACTS_HITS, f->hits, sizeof(uint64_t));
    if (status == CAROM_OK && !*again && hits != 0) {
        bool timing = device->timing; /* its clock has stopped */
        impacts_cuda_search x = impacts_cuda_take(device, op);
        device->timing = false;
        status = impacts_cuda_append(device, op, x, motions, hits, f);
        if (status == CAROM_OK) {
            impacts_cuda_launch_results(device, op, x);
            status = carom_device_check(device, cudaStreamSynchronize(device->stream),
                                        "results of the host");
        }
        device->timing = timing;
    }
    delete[] motions;
    return status;
}

/* Whether a search for the first has to be repeated, in a longer time. */
static bool impacts_cuda_goes_on(impacts_cuda_arguments *s, const impacts_cuda_finishing *f,
                                 carom_device_count until_bits) {
    uint32_t bits = (uint32_t)until_bits;
    float until, next;
    memcpy(&until, &bits, sizeof(until));
    next = until * CAROM_IMPACT_HORIZON_GROWTH;
    /* what was left out is later by more than its interval is wide */
    if (!impacts_cuda_is_first(s) || until == 1.0f || f->upper + CAROM_TOI_WIDTH < (double)until)
        return false;
    s->horizon = CAROM_MIN(next, 1.0f);
    return true;
}

static carom_status impacts_cuda_report(carom_device *device, const impacts_cuda_arguments *s,
                                        const carom_device_count *n,
                                        const impacts_cuda_finishing *f) {
    const carom_soup_impact *found =
        carom_device_scratch_data<carom_soup_impact>(device, CAROM_SCRATCH_IMPACTS_FOUND);
    device->steps.node_pairs = n[IMPACTS_N_LEAF_PAIRS];
    device->steps.candidates = n[IMPACTS_N_CANDIDATES];
    device->steps.open_in_floats = n[IMPACTS_N_OPEN];
    device->steps.open_in_doubles = n[IMPACTS_N_HOST];
    if (s->def.work != nullptr)
        *s->def.work = carom_device_impacts_work{n[IMPACTS_N_LEAF_PAIRS], n[IMPACTS_N_OPEN],
                                                 n[IMPACTS_N_HOST], f->largest};
    if (s->def.impacts != nullptr) {
        if (s->def.in_scratch) s->def.impacts->data = (carom_soup_impact *)found;
        s->def.impacts->count = f->hits;
        s->def.impacts->host_items = n[IMPACTS_N_HOST];
    }
    if (s->def.first == nullptr) return CAROM_OK;
    return carom_device_copy(device, s->def.first, found, sizeof(*found), cudaMemcpyDeviceToHost,
                             "reading the first impact");
}

static carom_status impacts_cuda_finish(carom_device *device, carom_device_op *op,
                                        const carom_device_counters *counters, bool *again) {
    impacts_cuda_arguments *s = carom_device_arguments<impacts_cuda_arguments>(op);
    const carom_device_count *n = counters->n;
    impacts_cuda_finishing f = {impacts_cuda_double_of(n[IMPACTS_N_LARGEST]), n[IMPACTS_N_HITS],
                                HUGE_VAL, HUGE_VAL};
    if (n[IMPACTS_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "%llu coordinates of positions are not finite numbers",
                                 n[IMPACTS_N_NOT_FINITE]);
    if (!(f.largest <= CAROM_LARGEST_COORDINATE))
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a coordinate is %g; distances need coordinates of at most 2^1020",
                                 f.largest);
    *again = carom_tree_find_grows(device, n[IMPACTS_N_LEAF_PAIRS]);
    for (const auto &list : impacts_cuda_lists)
        *again = carom_device_list_grows(device, list.block, n[list.counter], list.size) || *again;
    *again =
        carom_device_list_grows(device, CAROM_SCRATCH_IMPACTS_HITS, f.hits, sizeof(uint64_t)) ||
        *again;
    if (*again) return CAROM_OK;
    if (n[IMPACTS_N_LOWER] != ULLONG_MAX) f.lower = impacts_cuda_double_of(n[IMPACTS_N_LOWER]);
    if (n[IMPACTS_N_UPPER] != ULLONG_MAX) f.upper = impacts_cuda_double_of(n[IMPACTS_N_UPPER]);
    if (n[IMPACTS_N_HOST] != 0)
        CAROM_DEVICE_TRY(impacts_cuda_finish_here(device, op, n[IMPACTS_N_HOST], &f, again));
    if (*again) return CAROM_OK;
    *again = impacts_cuda_goes_on(s, &f, n[IMPACTS_N_UNTIL]);
    return *again ? CAROM_OK : impacts_cuda_report(device, s, n, &f);
}

/* ---- The table ------------------------------------------------------------------------------- */

static carom_status impacts_cuda_reserve_ends(carom_device *device, const uint64_t *bytes,
                                              void **memory) {
    uint64_t first = carom_device_row(bytes[0]);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_IMPACTS_ENDS, first + carom_device_row(bytes[1]), "end positions"));
    memory[0] = carom_device_scratch_data<void>(device, CAROM_SCRATCH_IMPACTS_ENDS);
    memory[1] = (char *)memory[0] + first;
    return CAROM_OK;
}

/* One search at a time: what is left for the host lies in the same memory. */
static carom_status impacts_cuda_wait(carom_device *device) {
    bool queued = false;
    for (uint32_t i = 0; i < device->op_count; ++i)
        queued = queued || device->ops[i].launch == impacts_cuda_launch;
    if (!queued) return CAROM_OK;
    if (device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED,
                                 "a frame has at most one search for impacts or what is near");
    return carom_device_finish(device);
}

static carom_status impacts_cuda_run(carom_device *device, const carom_device_impacts_def *def) {
    carom_device_op op = {
        impacts_cuda_reserve, impacts_cuda_launch, impacts_cuda_finish, nullptr, {}};
    CAROM_DEVICE_TRY(impacts_cuda_wait(device));
    *carom_device_arguments<impacts_cuda_arguments>(&op) = impacts_cuda_arguments{*def, 0.0f};
    op.uses[0] = def->a.soup;
    op.uses[1] = def->b.soup;
    return carom_device_submit(device, &op);
}

static void impacts_cuda_free(carom_cuda_impacts *impacts) {
    carom_device_block *block = (carom_device_block *)impacts->memory;
    if (block != nullptr) carom_device_release(block);
    delete block;
    *impacts = carom_cuda_impacts{};
}

extern "C" __attribute__((visibility("default")))
const carom_cuda_impacts_table carom_cuda_impacts_1 = {
    impacts_cuda_reserve_ends,
    impacts_cuda_run,
    impacts_cuda_free,
};
