/* SPDX-License-Identifier: MIT */
/* Packing by an octree on the GPU, with the CPU's balls, byte for byte.
 *
 * What a group of cells does depends on its cells and on the balls inserted before, so groups are
 * independent of each other (pack_octree.c). Within a group the CPU examines one cell after the
 * other, depth first, up to the first that leads to a ball; but what a cell leads to does not
 * depend on the others. So a block takes a group: its warps examine the next few cells of the stack
 * at a time, and one of them then goes through the results in the CPU's order, as far as they
 * count. What was examined beyond the first ball is forgotten.
 *
 *   examine  one warp per cell: balls nearby, the surface nearby, bound, inside, climb
 *   gather   the cells that groups leave, in the order of the groups: for this round or later ones
 *   decide   which of the balls found overlap no larger one; the order is that of their radii
 *   file     the balls inserted, into a hash grid whose lists are in the order of the balls
 *
 * A warp shares the sixteen boxes of a node, the triangles of a block and the balls of a list among
 * its lanes, and then takes them in the order in which the CPU meets them, wherever that matters.
 */
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <new>

#include "base/device_cuda.h"
#include "bvh/bvh_nearest_item.h"
#include "bvh/bvh_winding_cpu.h"
#include "bvh/bvh_winding_item.h"
#include "geom/distance_item.h"
#include "pack/pack_device.h"

#define FEW_WARPS   4u   /* of a block: cells of a group that are examined at a time */
#define MANY_WARPS  16u  /* the same where there are few groups */
#define ALL_WARPS   16u  /* per processor: what their registers allow */
#define AHEAD       16u  /* cells of a group that are put on the stack at a time */
#define MOST_CELLS  256u /* on the stack: seven more for each of 31 levels */
#define MOST_NODES  (CAROM_BVH_LEVELS * CAROM_BVH_WIDTH)
#define CHUNK_CELLS 32u  /* of what a group leaves, in one piece */
#define PLAIN       256u /* threads of blocks that work on one element each */
#define NONE        UINT32_MAX

/* ---- State ----------------------------------------------------------------------------------- */

struct group {
    uint32_t begin, end; /* cells */
};

/* What a group left: `stored` cells in chunks, and those from `rest` on as they were. */
struct outcome {
    uint32_t first, stored, rest;
};

/* How many of them: to be examined in this round, in later ones; and 1 if there are of the first.
 */
struct tally {
    uint32_t active, waiting, some;
};

struct add_tallies {
    __host__ __device__ tally operator()(const tally &a, const tally &b) const {
        return tally{a.active + b.active, a.waiting + b.waiting, a.some + b.some};
    }
};

/* A ball that a group found. */
struct candidate {
    double x, y, z, radius;
};

/* A cell of the grid and its list of balls: `count` of them, after which `fresh` are being added.
 * There is space for the next power of two, eight at least. */
struct slot {
    unsigned long long key;
    uint32_t start, count, fresh, unused;
};

/* A ball that is being added to a list, and how many were before it. */
struct entry {
    uint32_t slot, ball, rank;
};

#define NO_KEY      (~0ull)
#define LEAST_SPACE 8u
#define MOST_PROBES 512u

/* Counters, on the device. */
struct counters {
    /* Of a pass. */
    unsigned next_group, chunks, candidates;
    unsigned unresolved; /* a float that is not negative, as an integer of the same order */
    unsigned long long visits;

    unsigned largest; /* likewise */
    unsigned selected;

    /* Of the grid. */
    unsigned slots, entries, grid_full, unused;
    unsigned long long used; /* of the pool */
};

/* What there was no space for: bits of grid_full. */
enum { SLOTS_FULL = 1, ENTRIES_FULL = 2, POOL_FULL = 4 };

/* What kernels read. */
struct view {
    const carom_bvh_node *nodes;
    const carom_bvh_corners *corners;
    uint64_t level_start[CAROM_BVH_LEVELS];
    uint32_t level_count;
    bool fast;
    double centre_unit, unit, last_rho, rho, enough;
    carom_vec3 low;

    carom_pack_ball *balls;
    slot *slots;
    uint32_t *pool; /* of lists */
    uint64_t slot_mask;
    uint32_t pool_size, entry_capacity;
    entry *entries;
    double cell[CAROM_PACK_LEVELS], reach;

    const carom_pack_node *active;
    const group *groups;
    uint32_t group_count;

    outcome *outcomes;
    tally *tallies;
    carom_pack_node *chunks;
    uint32_t *chunk_next;
    uint32_t chunk_capacity;
    candidate *candidates;
    uint64_t *keys; /* of candidates: larger radii first, then the order of the groups */
    counters *n;
};

/* ---- Warps ----------------------------------------------------------------------------------- */

static __device__ inline unsigned lane_of() {
    return threadIdx.x % CAROM_WARP;
}

static __device__ inline double from_lane(double x, unsigned lane) {
    return __shfl_sync(~0u, x, (int)lane);
}

/* The least of the lanes' numbers, none of which is NaN. */
static __device__ inline double warp_least(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63; /* of the same order */
    unsigned high = (unsigned)(bits >> 32), low = (unsigned)bits;
    unsigned least_high = __reduce_min_sync(~0u, high);
    unsigned least_low = __reduce_min_sync(~0u, high == least_high ? low : ~0u);
    bits = (uint64_t)least_high << 32 | least_low;
    bits = bits >> 63 != 0 ? bits & ~(UINT64_C(1) << 63) : ~bits;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The obstacles near a point, as in carom_pack_near; radii are float32. In shared memory. */
struct near_set {
    double x[CAROM_PACK_NEAR], y[CAROM_PACK_NEAR], z[CAROM_PACK_NEAR], apart[CAROM_PACK_NEAR];
    float radius[CAROM_PACK_NEAR];
};

struct open_node {
    float bound; /* of the squared distance */
    uint32_t node;
};
#define LEVEL_SHIFT 28u /* a node: its level and its index, below 2^28 */

struct workspace {
    near_set near[2];
    open_node stack[MOST_NODES];
};

struct near_list {
    near_set *set;
    unsigned count;
    double least;
};

/* ---- Balls nearby ---------------------------------------------------------------------------- */

/* Cells of different levels have different keys: those above the lowest have indices below 2^16. */
static __device__ inline uint64_t level_key(uint32_t level, int64_t x, int64_t y, int64_t z) {
    if (level == 0) return carom_pack_key(x, y, z);
    return UINT64_C(1) << 63 | carom_pack_key(x + ((int64_t)level << 17), y, z);
}

/* The lists of the cells that hold a point: lane l has that of level l. */
struct ball_lists {
    uint32_t start, count;
};

static __device__ inline ball_lists find_lists(const view &v, carom_vec3 p) {
    unsigned lane = lane_of();
    ball_lists lists = {0, 0};
    if (lane < CAROM_PACK_LEVELS) {
        double cell = v.cell[lane];
        uint64_t key = level_key(lane, carom_pack_cell_of(p.x, cell), carom_pack_cell_of(p.y, cell),
                                 carom_pack_cell_of(p.z, cell));
        uint64_t at = carom_pack_key_hash(key);
        for (unsigned i = 0; i < MOST_PROBES; ++i, ++at) {
            const slot *s = &v.slots[at & v.slot_mask];
            if (s->key == NO_KEY) break;
            if (s->key != key) continue;
            lists = ball_lists{s->start, s->count};
            break;
        }
    }
    return lists;
}

/* Lists are in the order of the balls. The CPU keeps them in chunks, the newest first. */
static __device__ inline uint32_t chunk_order(uint32_t i, uint32_t count) {
    uint32_t newest = count % CAROM_PACK_CHUNK;
    newest = newest != 0 ? newest : CAROM_PACK_CHUNK;
    if (i < newest) return count - newest + i;
    uint32_t chunk = (i - newest) / CAROM_PACK_CHUNK, at = (i - newest) % CAROM_PACK_CHUNK;
    return count - newest - CAROM_PACK_CHUNK * (chunk + 1) + at;
}

/* carom_pack_balls_search. */
static __device__ void search_balls(const view &v, carom_vec3 p, double spread, near_list &n) {
    unsigned lane = lane_of(), before = (1u << lane) - 1u;
    ball_lists lists = find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t base = 0; base < count; base += CAROM_WARP) {
            bool some = base + lane < count;
            carom_pack_ball b = {0.0, 0.0, 0.0, 0.0};
            double apart = HUGE_VAL;
            if (some) {
                b = v.balls[v.pool[start + chunk_order(base + lane, count)]];
                apart = carom_pack_ball_distance(&b, p);
            }
            if (__ballot_sync(~0u, some && apart <= n.least + spread) == 0) continue;
            double least = apart; /* of this lane and those before it */
            for (unsigned by = 1; by < CAROM_WARP; by *= 2) {
                double other = __shfl_up_sync(~0u, least, by);
                if (lane >= by) least = CAROM_MIN(other, least);
            }
            double earlier = __shfl_up_sync(~0u, least, 1);
            earlier = lane == 0 ? n.least : CAROM_MIN(earlier, n.least);
            bool taken = some && !(apart > earlier + spread);
            unsigned mask = __ballot_sync(~0u, taken);
            unsigned k = n.count + (unsigned)__popc(mask & before);
            if (taken && k < CAROM_PACK_NEAR) {
                n.set->x[k] = b.x;
                n.set->y[k] = b.y;
                n.set->z[k] = b.z;
                n.set->radius[k] = (float)b.radius;
                n.set->apart[k] = apart;
            }
            unsigned all = n.count + (unsigned)__popc(mask);
            n.count = CAROM_MIN(all, CAROM_PACK_NEAR);
            double last = from_lane(least, CAROM_WARP - 1);
            n.least = CAROM_MIN(last, n.least);
        }
    }
    __syncwarp();
}

/* carom_pack_balls_distance. */
static __device__ double ball_distance(const view &v, carom_vec3 p) {
    unsigned lane = lane_of();
    double least = v.reach;
    ball_lists lists = find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t i = lane; i < count; i += CAROM_WARP) {
            double apart = carom_pack_ball_distance(&v.balls[v.pool[start + i]], p);
            least = CAROM_MIN(apart, least);
        }
    }
    return warp_least(least);
}

/* ---- The surface nearby ---------------------------------------------------------------------- */

static __device__ inline const carom_bvh_node *node_at(const view &v, uint32_t node) {
    return v.nodes + v.level_start[node >> LEVEL_SHIFT] + (node & ((1u << LEVEL_SHIFT) - 1));
}

static __device__ inline uint32_t child_of(uint32_t node, unsigned lane) {
    uint32_t level = node >> LEVEL_SHIFT, index = node & ((1u << LEVEL_SHIFT) - 1);
    return (level - 1) << LEVEL_SHIFT | (index * CAROM_BVH_WIDTH + lane);
}

static __device__ inline double vec_dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ inline carom_vec3 vec_along(carom_vec3 a, carom_vec3 u, double t) {
    return carom_vec(a.x + u.x * t, a.y + u.y * t, a.z + u.z * t);
}

/* The point nearest to the origin on the segment a + t u, t in [0, 1]. */
static __device__ inline carom_vec3 edge_foot(carom_vec3 a, carom_vec3 u, double square) {
    double t = -vec_dot(a, u) / (square > 0.0 ? square : 1.0);
    t = t > 0.0 ? t : 0.0;
    return vec_along(a, u, t < 1.0 ? t : 1.0);
}

static __device__ inline void take_nearer(carom_vec3 foot, carom_vec3 *best, double *square) {
    double s = vec_dot(foot, foot);
    if (!(s < *square)) return;
    *best = foot;
    *square = s;
}

static __device__ inline carom_vec3 corner_of(const carom_bvh_corners *corners, int i,
                                              unsigned lane) {
    return carom_vec(corners->row[3 * i][lane], corners->row[3 * i + 1][lane],
                     corners->row[3 * i + 2][lane]);
}

/* carom_pack_feet, operation by operation: the point of a lane's triangle that is nearest. */
static __device__ inline double foot_of(const carom_bvh_corners *corners, unsigned lane,
                                        const double at[3], carom_vec3 *foot_at) {
    carom_vec3 p = carom_vec(at[0], at[1], at[2]);
    carom_vec3 a = carom_vec_sub(corner_of(corners, 0, lane), p);
    carom_vec3 b = carom_vec_sub(corner_of(corners, 1, lane), p);
    carom_vec3 c = carom_vec_sub(corner_of(corners, 2, lane), p);
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), o = carom_vec_sub(c, b);
    double uu = vec_dot(u, u), uv = vec_dot(u, v), vv = vec_dot(v, v);
    carom_vec3 best = edge_foot(a, u, uu);
    double square = vec_dot(best, best);
    take_nearer(edge_foot(b, o, vec_dot(o, o)), &best, &square);
    take_nearer(edge_foot(a, v, vv), &best, &square);
    double au = -vec_dot(a, u), av = -vec_dot(a, v);
    double denominator = uu * vv - uv * uv;
    double s = vv * au - uv * av, t = uu * av - uv * au;
    if (s > 0.0 && t > 0.0 && s + t < denominator && denominator > 0x1p-40 * (uu * vv))
        take_nearer(vec_along(vec_along(a, u, s / denominator), v, t / denominator), &best,
                    &square);
    *foot_at = carom_vec(best.x + p.x, best.y + p.y, best.z + p.z);
    return square;
}

/* The search of pack_mesh.c; `slot` is the place in the list of the lane's direction. */
struct surface {
    double at[3], spread, limit, distance;
    uint32_t place;
    unsigned slot;
};

static __device__ surface surface_begin(carom_vec3 p, double limit, double spread) {
    surface s;
    s.at[0] = p.x;
    s.at[1] = p.y;
    s.at[2] = p.z;
    s.spread = spread;
    s.limit = limit;
    s.distance = HUGE_VAL;
    s.place = CAROM_BVH_NONE;
    s.slot = NONE;
    return s;
}

/* search_block: lanes of the block in the order of the CPU. */
static __device__ double search_block(const view &v, surface &s, near_list &n, uint32_t block,
                                      unsigned lanes) {
    unsigned lane = lane_of(), direction = 0;
    bool mine = lane < CAROM_BVH_WIDTH && (lanes >> lane & 1) != 0;
    double square = HUGE_VAL;
    carom_vec3 foot = {0.0, 0.0, 0.0};
    if (mine) {
        square = foot_of(&v.corners[block], lane, s.at, &foot);
        direction = carom_pack_direction(foot.x - s.at[0], foot.y - s.at[1], foot.z - s.at[2]);
    }
    unsigned left = __ballot_sync(~0u, mine && !(square > s.limit * s.limit));
    double root = sqrt(square);
    for (; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__ffs((int)left) - 1;
        double squared = from_lane(square, i), apart = from_lane(root, i);
        if (squared > s.limit * s.limit) continue;
        if (apart < s.distance) {
            s.distance = apart;
            s.place = block * CAROM_BVH_WIDTH + i;
            double within = apart + s.spread;
            s.limit = CAROM_MIN(within, s.limit);
            n.least = CAROM_MIN(apart, n.least);
        }
        unsigned towards = __shfl_sync(~0u, direction, (int)i);
        unsigned k = __shfl_sync(~0u, s.slot, (int)towards);
        if (k == NONE) {
            if (n.count == CAROM_PACK_NEAR) continue;
            k = n.count++;
            if (lane == towards) s.slot = k;
        } else if (n.set->apart[k] <= apart) {
            continue;
        }
        __syncwarp();
        if (lane == i) {
            n.set->x[k] = foot.x;
            n.set->y[k] = foot.y;
            n.set->z[k] = foot.z;
            n.set->radius[k] = 0.0f;
            n.set->apart[k] = apart;
        }
        __syncwarp();
    }
    return s.limit;
}

/* carom_bvh_nearest with floats: calls visit(block, lanes) in the same order. */
template <typename VISIT>
static __device__ inline void visit_nearest(const view &v, open_node *stack, const double at[3],
                                            double limit, VISIT visit) {
    unsigned lane = lane_of(), count = 1;
    double most = carom_nearest_square(limit);
    carom_nearest_point p = carom_nearest_point_make(at, CAROM_PACK_FARTHEST * 0x1p-46);
    if (lane == 0) stack[0] = open_node{0.0f, (v.level_count - 1) << LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        open_node open = stack[--count];
        __syncwarp();
        if (carom_nearest_lower(open.bound) > most) continue;
        const carom_bvh_node *boxes = node_at(v, open.node);
        float square = HUGE_VALF;
        bool within = false;
        if (lane < CAROM_BVH_WIDTH) {
            square = 0.0f;
            for (int k = 0; k < 3; ++k) {
                float below = boxes->low[k][lane] - p.at[k];
                float above = p.at[k] - boxes->high[k][lane];
                float apart = CAROM_MAX(below, above) - p.margin;
                apart = CAROM_MAX(apart, 0.0f);
                square += apart * apart;
            }
            within = square <= carom_nearest_float_limit(most) && square < HUGE_VALF;
        }
        unsigned mask = __ballot_sync(~0u, within);
        if (open.node >> LEVEL_SHIFT == 0) {
            if (mask != 0)
                most = carom_nearest_square(visit(open.node & ((1u << LEVEL_SHIFT) - 1), mask));
            continue;
        }
        unsigned rank = 0; /* the nearest is on top */
        for (unsigned left = mask; left != 0; left &= left - 1) {
            unsigned i = (unsigned)__ffs((int)left) - 1;
            float other = __shfl_sync(~0u, square, (int)i);
            rank += other > square || (other == square && i < lane) ? 1u : 0u;
        }
        if (within) stack[count + rank] = open_node{square, child_of(open.node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
}

/* carom_pack_mesh_search. */
static __device__ surface search_surface(const view &v, open_node *stack, carom_vec3 p,
                                         uint32_t seed, double limit, double spread, near_list &n) {
    surface s = surface_begin(p, limit, spread);
    if (seed != CAROM_BVH_NONE) {
        carom_vec3 foot;
        double square =
            foot_of(&v.corners[seed / CAROM_BVH_WIDTH], seed % CAROM_BVH_WIDTH, s.at, &foot);
        double apart = sqrt(square) + spread + CAROM_PACK_ERROR;
        s.limit = CAROM_MIN(apart, s.limit);
    }
    visit_nearest(v, stack, s.at, s.limit, [&](uint32_t block, unsigned lanes) {
        return search_block(v, s, n, block, lanes);
    });
    return s;
}

static __device__ double triangle_distance(const view &v, carom_vec3 p, uint32_t block,
                                           unsigned lane) {
    carom_vec3 t[3];
    carom_closest closest;
    for (int i = 0; i < 3; ++i) t[i] = corner_of(&v.corners[block], i, lane);
    carom_near_point_triangle(p, t, &closest);
    return closest.distance;
}

/* The distance of carom_pack_mesh_distance. Its searches leave out nothing that is nearer, so the
 * order does not matter. */
static __device__ double mesh_distance(const view &v, open_node *stack, carom_vec3 p,
                                       uint32_t seed) {
    unsigned lane = lane_of();
    const double at[3] = {p.x, p.y, p.z};
    double distance = HUGE_VAL;
    if (seed != CAROM_BVH_NONE)
        distance = triangle_distance(v, p, seed / CAROM_BVH_WIDTH, seed % CAROM_BVH_WIDTH);
    visit_nearest(v, stack, at, distance, [&](uint32_t block, unsigned lanes) {
        double apart = HUGE_VAL;
        if (lane < CAROM_BVH_WIDTH && (lanes >> lane & 1) != 0)
            apart = triangle_distance(v, p, block, lane);
        double least = warp_least(apart);
        distance = CAROM_MIN(least, distance);
        return distance;
    });
    return distance;
}

/* carom_pack_mesh_inside, of a balanced mesh. */
static __device__ __noinline__ bool is_inside(const view &v, open_node *stack, carom_vec3 p) {
    unsigned lane = lane_of(), count = 1;
    carom_box ray = carom_winding_box(p);
    int winding = 0;
    bool on_face = false;
    if (lane == 0) stack[0] = open_node{0.0f, (v.level_count - 1) << LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        uint32_t node = stack[--count].node;
        __syncwarp();
        bool hit = false;
        if (lane < CAROM_BVH_WIDTH) {
            const carom_bvh_node *boxes = node_at(v, node);
            hit = true;
            for (int k = 0; k < 3; ++k)
                hit =
                    hit && boxes->low[k][lane] <= ray.high[k] && boxes->high[k][lane] >= ray.low[k];
        }
        unsigned mask = __ballot_sync(~0u, hit);
        if (node >> LEVEL_SHIFT == 0) {
            if (hit) {
                carom_triangle t;
                for (int i = 0; i < 3; ++i)
                    t.corner[i] = corner_of(&v.corners[node & ((1u << LEVEL_SHIFT) - 1)], i, lane);
                winding += carom_winding_face(&t, p, &on_face);
            }
            __syncwarp();
            continue;
        }
        if (hit)
            stack[count + (unsigned)__popc(mask & ((1u << lane) - 1u))] =
                open_node{0.0f, child_of(node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
    return !__any_sync(~0u, on_face) && __reduce_add_sync(~0u, winding) >= 1;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The constraint that is least along g; the lowest index of equal ones. Lane l has l and l + 32. */
static __device__ inline unsigned least_along(const carom_pack_linear l[2], const double g[3],
                                              double *least) {
    double low = l[0].e + (l[0].x * g[0] + l[0].y * g[1] + l[0].z * g[2]);
    double high = l[1].e + (l[1].x * g[0] + l[1].y * g[1] + l[1].z * g[2]);
    double best = warp_least(CAROM_MIN(low, high));
    unsigned first = __ballot_sync(~0u, low <= best), second = __ballot_sync(~0u, high <= best);
    *least = best;
    return first != 0 ? (unsigned)__ffs((int)first) - 1
                      : CAROM_WARP + (unsigned)__ffs((int)second) - 1;
}

static __device__ inline carom_pack_linear linear_of(const carom_pack_linear l[2], unsigned i) {
    carom_pack_linear mine = i < CAROM_WARP ? l[0] : l[1], at;
    unsigned lane = i % CAROM_WARP;
    at.e = from_lane(mine.e, lane);
    at.x = from_lane(mine.x, lane);
    at.y = from_lane(mine.y, lane);
    at.z = from_lane(mine.z, lane);
    return at;
}

/* carom_pack_bound. */
static __device__ __noinline__ double sharp_bound(const near_list &n, const double point[3],
                                                  double reach, double goal, double direction[3]) {
    direction[0] = direction[1] = direction[2] = 0.0;
    double limit = n.least + 2.0 * reach;
    if (n.count == 0) return n.least + reach;
    carom_pack_linear l[2];
    bool any = false;
    for (unsigned k = 0; k < 2; ++k) {
        unsigned i = lane_of() + k * CAROM_WARP;
        l[k] = carom_pack_linear{HUGE_VAL, 0.0, 0.0, 0.0};
        if (i < n.count && !(n.set->apart[i] > limit)) {
            l[k] = carom_pack_linear_make(point, n.set->x[i], n.set->y[i], n.set->z[i],
                                          (double)n.set->radius[i], n.set->apart[i], reach);
            any = true;
        }
    }
    if (!__any_sync(~0u, any)) return n.least + reach;
    const double zero[3] = {0.0, 0.0, 0.0};
    double value;
    unsigned i = least_along(l, zero, &value);
    carom_pack_bounding b = carom_pack_bounding_begin(reach, goal, n.least, linear_of(l, i));
    for (int step = 0; step < CAROM_PACK_BOUND_STEPS; ++step) {
        if (!carom_pack_bounding_value(&b)) break;
        i = least_along(l, b.along, &value);
        if (!carom_pack_bounding_move(&b, linear_of(l, i), value)) break;
    }
    for (int k = 0; k < 3; ++k) direction[k] = b.direction[k];
    return b.bound;
}

static __device__ inline double bound_of(const view &v, const near_list &n, const double point[3],
                                         double h, bool sharp) {
    double bound = n.least + h, direction[3];
    if (sharp && n.count > 1) bound = sharp_bound(n, point, h, v.rho, direction);
    return carom_pack_believe(v.fast, n.least, bound) + CAROM_PACK_ERROR;
}

/* ---- Climbing -------------------------------------------------------------------------------- */

static __device__ __noinline__ double look(const view &v, open_node *stack, near_list &n,
                                           carom_vec3 p, double spread, uint32_t *place) {
    n.count = 0;
    n.least = HUGE_VAL;
    search_balls(v, p, spread, n);
    surface s = search_surface(v, stack, p, *place, n.least + spread, spread, n);
    if (s.place != CAROM_BVH_NONE) *place = s.place;
    return s.distance;
}

/* carom_pack_climb. */
static __device__ double climb(const view &v, workspace &w, carom_vec3 *point, double step,
                               uint32_t *place) {
    near_list here = {&w.near[0], 0, HUGE_VAL}, there = {&w.near[1], 0, HUGE_VAL};
    double to_mesh = look(v, w.stack, here, *point, CAROM_PACK_FARTHER * step, place);
    for (int i = 0; i < CAROM_PACK_CLIMB_STEPS; ++i) {
        double direction[3];
        const double at[3] = {point->x, point->y, point->z};
        double mesh_limit = CAROM_PACK_SAFE_SHARE * CAROM_MIN(to_mesh, here.least);
        step = CAROM_MIN(step, mesh_limit);
        double bound = sharp_bound(here, at, step, -HUGE_VAL, direction);
        if (!(bound > here.least * (1.0 + CAROM_PACK_ENOUGH))) {
            if (step < 0.05 * here.least || bound <= here.least * (1.0 + CAROM_PACK_ENOUGH / 8.0))
                break;
            step *= 0.5;
            continue;
        }
        carom_vec3 next = carom_vec(at[0] + step * direction[0], at[1] + step * direction[1],
                                    at[2] + step * direction[2]);
        uint32_t near_place = *place;
        double next_to_mesh = look(v, w.stack, there, next, CAROM_PACK_FARTHER * step, &near_place);
        if (there.least > here.least) {
            near_list swap = here;
            here = there;
            there = swap;
            *point = next;
            *place = near_place;
            to_mesh = next_to_mesh;
        } else {
            step *= 0.5;
        }
    }
    return here.least;
}

/* ---- Examining ------------------------------------------------------------------------------- */

enum verdict : uint8_t { NEW, DROP, UNRESOLVED, KEEP, SPLIT, FOUND };

static __device__ bool settle(const view &v, workspace &w, carom_vec3 centre, uint32_t place,
                              candidate *found) {
    carom_vec3 rounded = carom_vec(carom_pack_round(centre.x, v.centre_unit),
                                   carom_pack_round(centre.y, v.centre_unit),
                                   carom_pack_round(centre.z, v.centre_unit));
    double to_mesh = mesh_distance(v, w.stack, rounded, place);
    double radius = carom_pack_radius(to_mesh, ball_distance(v, rounded));
    if (!(radius >= v.enough) || !is_inside(v, w.stack, rounded)) return false;
    *found = candidate{rounded.x, rounded.y, rounded.z, radius};
    return true;
}

/* examine of pack_octree.c. All lanes have the same cell. */
static __device__ verdict examine(const view &v, workspace &w, carom_pack_node *c,
                                  candidate *found) {
    double rho = v.rho;
    carom_vec3 at = carom_pack_node_centre(c, v.low, v.unit);
    const double point[3] = {at.x, at.y, at.z};
    double half = (double)carom_pack_node_half(c) * v.unit, h = carom_pack_node_reach(half);
    double spread = h <= CAROM_PACK_SHARP_BELOW * rho ? 2.0 * h : 0.0;
    near_list n = {&w.near[0], 0, HUGE_VAL};
    search_balls(v, at, spread, n);
    if (n.least <= -h) return DROP;
    double bound = carom_pack_believe(v.fast, n.least, n.least + h) + CAROM_PACK_ERROR;
    if (bound > rho && n.count > 1) bound = bound_of(v, n, point, h, spread > 0.0);
    if (bound <= rho) {
        carom_pack_node_lower(c, bound);
        return KEEP;
    }
    double limit = n.least + spread, apart = (double)c->apart;
    uint32_t place = c->place & ~CAROM_PACK_INSIDE;
    if (place == CAROM_PACK_NO_PLACE) place = CAROM_BVH_NONE;
    if (apart <= limit && place != CAROM_BVH_NONE) {
        near_list with = n;
        surface s = surface_begin(at, limit, spread);
        search_block(v, s, with, place / CAROM_BVH_WIDTH, (1u << CAROM_BVH_WIDTH) - 1);
        bound = bound_of(v, with, point, h, spread > 0.0);
        if (bound <= rho) {
            carom_pack_node_lower(c, bound);
            return KEEP;
        }
    }
    if (apart <= limit) {
        surface s = search_surface(v, w.stack, at, place, limit, spread, n);
        apart = CAROM_MIN(s.distance, limit);
        if (s.place != CAROM_BVH_NONE) place = s.place;
        bound = bound_of(v, n, point, h, spread > 0.0);
    }
    carom_pack_node_set_apart(c, apart);
    c->place = (c->place & CAROM_PACK_INSIDE) | (place & ~CAROM_PACK_INSIDE);
    carom_pack_node_lower(c, bound);
    if (bound <= rho) return KEEP;
    bool inside = (c->place & CAROM_PACK_INSIDE) != 0 || is_inside(v, w.stack, at);
    if (!inside) {
        if (apart > h) return DROP;
        double from_surface = carom_pack_believe(v.fast, 0.0, h - (double)c->apart);
        carom_pack_node_lower(c, from_surface);
        if (from_surface <= rho) return KEEP;
    } else {
        if (apart > h) c->place |= CAROM_PACK_INSIDE;
        if (n.least >= CAROM_PACK_CLIMB_FROM * rho) {
            carom_vec3 top = at;
            uint32_t near_place = place;
            double reached = climb(v, w, &top, CAROM_MIN(h, 0.5 * rho), &near_place);
            if (reached >= v.enough && settle(v, w, top, near_place, found)) return FOUND;
        }
    }
    if (half <= CAROM_PACK_FINEST * v.centre_unit || carom_pack_node_half(c) == 1)
        return UNRESOLVED;
    return SPLIT;
}

/* What the warps of a block share. */
template <unsigned WARPS> struct block_state {
    workspace spaces[WARPS];
    carom_pack_node cells[MOST_CELLS], changed[MOST_CELLS]; /* the stack: before and after */
    candidate found[MOST_CELLS];
    uint8_t verdicts[MOST_CELLS];
    uint32_t group, top, next, picks[WARPS], pick_count;
    bool finished;
    uint32_t chunk, first, stored;
    tally left;
    unsigned visits;
};

/* Stores a cell that the group leaves, where a later round may want it. One thread. */
template <unsigned WARPS>
static __device__ void leave_cell(const view &v, block_state<WARPS> &s, const carom_pack_node &c) {
    if ((double)c.bound > v.rho)
        ++s.left.active;
    else if ((double)c.bound > v.last_rho)
        ++s.left.waiting;
    else
        return;
    if (s.stored % CHUNK_CELLS == 0) {
        uint32_t chunk = atomicAdd(&v.n->chunks, 1u), before = s.chunk;
        s.chunk = chunk;
        if (s.stored == 0)
            s.first = chunk;
        else if (before < v.chunk_capacity)
            v.chunk_next[before] = chunk;
    }
    if (s.chunk < v.chunk_capacity)
        v.chunks[(uint64_t)s.chunk * CHUNK_CELLS + s.stored % CHUNK_CELLS] = c;
    ++s.stored;
}

/* Goes through what was examined in the CPU's order, as far as that is known, and says what to
 * examine next. One warp. */
template <unsigned WARPS>
static __device__ void advance(const view &v, block_state<WARPS> &s, const group &g) {
    unsigned lane = lane_of();
    uint32_t top = s.top, next = s.next;
    unsigned visits = 0;
    bool finished = false;
    while (true) {
        if (top == 0) {
            uint32_t left = g.end - next, count = CAROM_MIN(left, AHEAD);
            if (count == 0) {
                finished = true;
                break;
            }
            if (lane < count) {
                s.cells[lane] = v.active[next + (count - 1 - lane)];
                s.verdicts[lane] = NEW;
            }
            top = count;
            next += count;
            __syncwarp();
        }
        uint8_t verdict = s.verdicts[top - 1];
        if (verdict == NEW) break;
        --top;
        ++visits;
        if (verdict == SPLIT) {
            carom_pack_node child;
            if (lane < 8) child = carom_pack_node_child(&s.changed[top], lane, v.unit);
            __syncwarp();
            if (lane < 8) {
                s.cells[top + lane] = child;
                s.verdicts[top + lane] = NEW;
            }
            top += 8;
        } else if (lane == 0) {
            if (verdict == UNRESOLVED)
                atomicMax(&v.n->unresolved, __float_as_uint(s.changed[top].bound));
            if (verdict == KEEP || verdict == FOUND) leave_cell(v, s, s.changed[top]);
        }
        __syncwarp();
        if (verdict != FOUND) continue;
        if (lane == 0) {
            for (uint32_t i = top; i > 0; --i) leave_cell(v, s, s.cells[i - 1]);
            candidate c = s.found[top];
            uint32_t at = atomicAdd(&v.n->candidates, 1u);
            v.candidates[at] = c;
            v.keys[at] = (uint64_t)~__float_as_uint((float)c.radius) << 32 | s.group;
        }
        finished = true;
        break;
    }
    unsigned count = 0;
    for (uint32_t base = 0; !finished && base < top && count < WARPS; base += CAROM_WARP) {
        bool open = base + lane < top && s.verdicts[top - 1 - base - lane] == NEW;
        unsigned mask = __ballot_sync(~0u, open);
        unsigned at = count + (unsigned)__popc(mask & ((1u << lane) - 1u));
        if (open && at < WARPS) s.picks[at] = top - 1 - base - lane;
        count += (unsigned)__popc(mask);
    }
    if (lane == 0) {
        s.top = top;
        s.next = next;
        s.pick_count = CAROM_MIN(count, WARPS);
        s.finished = finished;
        s.visits += visits;
    }
    __syncwarp();
}

template <unsigned WARPS>
static __global__ void __launch_bounds__(WARPS *CAROM_WARP, ALL_WARPS / WARPS)
    examine_groups(view v) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    block_state<WARPS> &s = *(block_state<WARPS> *)shared_memory;
    unsigned warp = threadIdx.x / CAROM_WARP, lane = lane_of();
    carom_device_begin();
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            s.group = atomicAdd(&v.n->next_group, 1u);
            s.top = s.stored = s.visits = 0;
            s.left = tally{0, 0, 0};
            s.chunk = s.first = NONE;
            if (s.group < v.group_count) s.next = v.groups[s.group].begin;
        }
        __syncthreads();
        if (s.group >= v.group_count) break;
        group g = v.groups[s.group];
        while (true) {
            if (warp == 0) advance(v, s, g);
            __syncthreads();
            if (s.finished) break;
            if (warp < s.pick_count) {
                uint32_t at = s.picks[warp];
                carom_pack_node cell = s.cells[at];
                candidate found = {0.0, 0.0, 0.0, 0.0};
                verdict result = examine(v, s.spaces[warp], &cell, &found);
                if (lane == 0) {
                    s.changed[at] = cell;
                    s.verdicts[at] = result;
                    if (result == FOUND) s.found[at] = found;
                }
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            v.outcomes[s.group] = outcome{s.first, s.stored, s.next};
            tally left = s.left;
            left.active += g.end - s.next;
            left.some = left.active != 0 ? 1 : 0;
            v.tallies[s.group] = left;
            atomicAdd(&v.n->visits, (unsigned long long)s.visits);
        }
    }
}

/* ---- Gathering ------------------------------------------------------------------------------- */

/* Puts the cells that groups left where they belong, in the order of the groups; a warp per group.
 */
static __global__ void gather_cells(view v, const tally *starts, carom_pack_node *active,
                                    carom_pack_node *waiting, group *groups) {
    uint64_t index = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / CAROM_WARP;
    unsigned lane = lane_of(), before = (1u << lane) - 1u;
    carom_device_begin();
    if (index >= v.group_count) return;
    outcome o = v.outcomes[index];
    tally start = starts[index], count = v.tallies[index];
    uint32_t to_active = start.active, to_waiting = start.waiting, chunk = o.first;
    for (uint32_t base = 0; base < o.stored; base += CHUNK_CELLS) {
        carom_pack_node c;
        bool some = base + lane < o.stored;
        if (some) c = v.chunks[(uint64_t)chunk * CHUNK_CELLS + lane];
        bool stays = some && (double)c.bound > v.rho;
        unsigned staying = __ballot_sync(~0u, stays), leaving = __ballot_sync(~0u, some && !stays);
        if (stays) active[to_active + (unsigned)__popc(staying & before)] = c;
        if (some && !stays) waiting[to_waiting + (unsigned)__popc(leaving & before)] = c;
        to_active += (unsigned)__popc(staying);
        to_waiting += (unsigned)__popc(leaving);
        if (base + CHUNK_CELLS < o.stored) chunk = v.chunk_next[chunk];
    }
    uint32_t rest = v.groups[index].end - o.rest;
    for (uint32_t i = lane; i < rest; i += CAROM_WARP) active[to_active + i] = v.active[o.rest + i];
    if (lane == 0 && count.some != 0)
        groups[start.some] = group{start.active, start.active + count.active};
}

static __global__ void make_keys(const carom_pack_node *cells, uint64_t count, uint32_t bits,
                                 uint32_t *keys, uint32_t *order) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= count) return;
    carom_pack_node c = cells[i];
    keys[i] = carom_pack_node_group(&c, bits);
    order[i] = (uint32_t)i;
}

/* Cells in the order of their keys, and where groups begin. */
static __global__ void order_cells(const carom_pack_node *cells, uint64_t count,
                                   const uint32_t *keys, const uint32_t *order,
                                   carom_pack_node *sorted, uint32_t *heads) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i < count) sorted[i] = cells[order[i]];
    if (i <= count) heads[i] = i < count && (i == 0 || keys[i] != keys[i - 1]) ? 1 : 0;
}

static __global__ void make_groups(uint64_t count, const uint32_t *heads, const uint32_t *starts,
                                   group *groups) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= count) return;
    uint32_t index = starts[i] + heads[i] - 1;
    if (heads[i] != 0) groups[index].begin = (uint32_t)i;
    if (i + 1 == count || heads[i + 1] != 0) groups[index].end = (uint32_t)i + 1;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

enum decision : uint32_t { OPEN, ACCEPTED, REJECTED };

/* Candidates in the order of insertion, and a hash table of them: cells as wide as two of the
 * largest. */
struct contest {
    candidate *sorted;
    double *radius; /* that each is inserted with */
    uint32_t *state, *next, *heads, *flags;
    const uint32_t *order;
    uint32_t count, mask;
};

#define CONTEST_CELL 2.01 /* of the largest radius: balls farther apart do not meet */

static __device__ inline uint32_t contest_slot(const contest &c, int64_t x, int64_t y, int64_t z) {
    return (uint32_t)carom_pack_key_hash(carom_pack_key(x, y, z)) & c.mask;
}

static __global__ void count_up(uint32_t *numbers, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i < count) numbers[i] = i;
}

static __global__ void enter_contest(view v, contest c) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= c.count) return;
    double cell = CONTEST_CELL * v.candidates[c.order[0]].radius;
    candidate mine = v.candidates[c.order[i]];
    c.sorted[i] = mine;
    c.state[i] = OPEN;
    uint32_t at = contest_slot(c, carom_pack_cell_of(mine.x, cell),
                               carom_pack_cell_of(mine.y, cell), carom_pack_cell_of(mine.z, cell));
    c.next[i] = atomicExch(&c.heads[at], i);
}

/* Decides a candidate if all larger ones that it could meet are decided. Of the radius that
 * carom_pack_radius gives, only what balls inserted in this pass leave has to be computed anew: it
 * is a minimum, rounded by a monotonic function. */
static __device__ bool decide(const view &v, const contest &c, uint32_t i, double cell) {
    candidate mine = c.sorted[i];
    carom_vec3 p = carom_vec(mine.x, mine.y, mine.z);
    double radius = mine.radius;
    int64_t x = carom_pack_cell_of(p.x, cell), y = carom_pack_cell_of(p.y, cell);
    int64_t z = carom_pack_cell_of(p.z, cell);
    for (int k = 0; k < 27; ++k) {
        uint32_t at = contest_slot(c, x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
        for (uint32_t j = c.heads[at]; j != NONE; j = c.next[j]) {
            if (j >= i) continue;
            candidate other = c.sorted[j];
            carom_pack_ball ball = {other.x, other.y, other.z, other.radius};
            if (carom_pack_radius(HUGE_VAL, carom_pack_ball_distance(&ball, p)) >= mine.radius)
                continue;
            uint32_t state = *(volatile uint32_t *)&c.state[j];
            if (state == OPEN) return false;
            if (state == REJECTED) continue;
            __threadfence();
            ball.radius = *(volatile double *)&c.radius[j];
            double left = carom_pack_radius(HUGE_VAL, carom_pack_ball_distance(&ball, p));
            radius = CAROM_MIN(left, radius);
        }
    }
    c.radius[i] = radius;
    __threadfence();
    *(volatile uint32_t *)&c.state[i] = radius >= v.enough ? ACCEPTED : REJECTED;
    return true;
}

/* Most candidates meet no larger one. */
static __global__ void decide_first(view v, contest c) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i < c.count) (void)decide(v, c, i, CONTEST_CELL * c.sorted[0].radius);
}

/* One block: each pass decides at least the first of those that are left. */
static __global__ void decide_rest(view v, contest c) {
    carom_device_begin();
    double cell = CONTEST_CELL * c.sorted[0].radius;
    int left = 1;
    while (left != 0) {
        left = 0;
        for (uint32_t i = threadIdx.x; i < c.count; i += blockDim.x)
            if (*(volatile uint32_t *)&c.state[i] == OPEN && !decide(v, c, i, cell)) left = 1;
        left = __syncthreads_or(left);
    }
    for (uint32_t i = threadIdx.x; i <= c.count; i += blockDim.x)
        c.flags[i] = i < c.count && c.state[i] == ACCEPTED ? 1 : 0;
}

static __global__ void list_accepted(contest c, const uint32_t *starts, carom_pack_ball *balls) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= c.count || c.state[i] != ACCEPTED) return;
    balls[starts[i]] = carom_pack_ball{c.sorted[i].x, c.sorted[i].y, c.sorted[i].z, c.radius[i]};
}

/* ---- Filing ---------------------------------------------------------------------------------- */

static __global__ void clear_slots(view v) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i <= v.slot_mask) v.slots[i] = slot{NO_KEY, 0, 0, 0, 0};
}

/* The slot of a cell, which may be new; NONE where the table is too full. */
static __device__ uint32_t take_slot(const view &v, uint64_t key) {
    uint64_t at = carom_pack_key_hash(key);
    for (unsigned i = 0; i < MOST_PROBES / 2; ++i, ++at) {
        slot *s = &v.slots[at & v.slot_mask];
        unsigned long long old = *(volatile unsigned long long *)&s->key;
        if (old == NO_KEY) {
            old = atomicCAS(&s->key, NO_KEY, (unsigned long long)key);
            if (old == NO_KEY && 2 * (uint64_t)(atomicAdd(&v.n->slots, 1u) + 1) > v.slot_mask)
                return NONE;
        }
        if (old == NO_KEY || old == key) return (uint32_t)(at & v.slot_mask);
    }
    return NONE;
}

/* file_ball: lists the cells within reach of a ball; a block per ball. */
static __global__ void enter_balls(view v, uint32_t first, uint32_t count) {
    carom_device_begin();
    if (blockIdx.x >= count) return;
    uint32_t index = first + blockIdx.x, level = 0;
    carom_pack_ball b = v.balls[index];
    while (level + 1 < CAROM_PACK_LEVELS && b.radius > CAROM_PACK_LEVEL_RATIO * v.cell[level])
        ++level;
    double far = b.radius + v.reach, cell = v.cell[level];
    int64_t low[3] = {carom_pack_cell_of(b.x - far, cell), carom_pack_cell_of(b.y - far, cell),
                      carom_pack_cell_of(b.z - far, cell)};
    uint32_t size[3] = {(uint32_t)(carom_pack_cell_of(b.x + far, cell) - low[0]) + 1,
                        (uint32_t)(carom_pack_cell_of(b.y + far, cell) - low[1]) + 1,
                        (uint32_t)(carom_pack_cell_of(b.z + far, cell) - low[2]) + 1};
    uint32_t cells = size[0] * size[1] * size[2];
    for (uint32_t i = threadIdx.x; i < cells; i += blockDim.x) {
        int64_t x = low[0] + i / (size[1] * size[2]), y = low[1] + i / size[2] % size[1];
        int64_t z = low[2] + i % size[2];
        double gx = carom_pack_cell_gap(b.x, x, cell), gy = carom_pack_cell_gap(b.y, y, cell);
        double gz = carom_pack_cell_gap(b.z, z, cell), square = gx * gx + gy * gy;
        if (square > far * far || !(square + gz * gz <= far * far)) continue;
        uint32_t at = take_slot(v, level_key(level, x, y, z));
        uint32_t to = atomicAdd(&v.n->entries, 1u);
        if (at == NONE || to >= v.entry_capacity) {
            atomicOr(&v.n->grid_full, (unsigned)(at == NONE ? SLOTS_FULL : ENTRIES_FULL));
            continue;
        }
        v.entries[to] = entry{at, index, atomicAdd(&v.slots[at].fresh, 1u)};
    }
}

static __device__ inline uint32_t space_of(uint32_t count) {
    uint32_t space = count != 0 ? LEAST_SPACE : 0;
    while (space < count) space *= 2;
    return space;
}

/* Makes space in the lists; the first entry of each does it. */
static __global__ void enlarge_lists(view v) {
    carom_device_begin();
    if (v.n->grid_full != 0) return;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.n->entries;
         i += gridDim.x * blockDim.x) {
        if (v.entries[i].rank != 0) continue;
        slot *s = &v.slots[v.entries[i].slot];
        uint32_t space = space_of(s->count + s->fresh);
        if (space == space_of(s->count)) continue;
        uint64_t place = atomicAdd(&v.n->used, (unsigned long long)space);
        if (place + space > v.pool_size) {
            atomicOr(&v.n->grid_full, (unsigned)POOL_FULL);
            continue;
        }
        uint32_t start = (uint32_t)place;
        for (uint32_t k = 0; k < s->count; ++k) v.pool[start + k] = v.pool[s->start + k];
        s->start = start;
    }
}

static __global__ void write_lists(view v) {
    carom_device_begin();
    if (v.n->grid_full != 0) return;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.n->entries;
         i += gridDim.x * blockDim.x) {
        entry e = v.entries[i];
        const slot *s = &v.slots[e.slot];
        v.pool[s->start + s->count + e.rank] = e.ball;
    }
}

/* Puts what was added to a list into the order of the balls; the first entry of each does it. */
static __global__ void sort_lists(view v) {
    carom_device_begin();
    if (v.n->grid_full != 0) return;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.n->entries;
         i += gridDim.x * blockDim.x) {
        if (v.entries[i].rank != 0) continue;
        slot *s = &v.slots[v.entries[i].slot];
        uint32_t *list = v.pool + s->start + s->count, count = s->fresh;
        for (uint32_t k = 1; k < count; ++k) {
            uint32_t ball = list[k], at = k;
            for (; at > 0 && list[at - 1] > ball; --at) list[at] = list[at - 1];
            list[at] = ball;
        }
        s->count += count;
        s->fresh = 0;
    }
}

/* ---- The end --------------------------------------------------------------------------------- */

static __global__ void find_largest(const carom_pack_node *cells, uint64_t count,
                                    unsigned *largest) {
    float most = 0.0f;
    carom_device_begin();
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        most = CAROM_MAX(cells[i].bound, most);
    unsigned all = __reduce_max_sync(~0u, __float_as_uint(most));
    if (lane_of() == 0) atomicMax(largest, all);
}

/* ---- Host ------------------------------------------------------------------------------------ */

enum block {
    MESH_NODES,
    MESH_CORNERS,
    BALLS,
    FRESH,
    SLOTS,
    POOL,
    ENTRIES,
    ACTIVE,
    ACTIVE_NEXT,
    GROUPS,
    GROUPS_NEXT,
    WAITING,
    WAITING_NEXT,
    OUTCOMES,
    TALLIES,
    STARTS,
    CHUNKS,
    CHUNK_NEXT,
    CANDIDATES,
    CANDIDATE_KEYS,
    CONTEST,
    SORT_KEYS,
    SORTED_KEYS,
    SORT_ORDER,
    SORTED_ORDER,
    HEADS,
    HEAD_STARTS,
    TEMPORARY,
    COUNTERS,
    BLOCKS
};

struct carom_device_pack {
    carom_device_block blocks[BLOCKS];
    view v;
    uint64_t ball_count, active_count, waiting_count, visits;
    float unresolved;
};

/* What is read back after a pass, in pinned memory. */
struct news {
    counters n;
    tally totals;
    uint32_t accepted, count;
};

#define FIRST_SLOTS   (UINT64_C(1) << 20)
#define FIRST_POOL    (UINT64_C(1) << 24)
#define FIRST_ENTRIES (UINT64_C(1) << 22)
#define FIRST_CHUNKS  (UINT64_C(1) << 16)
#define FEW_GROUPS    8u /* per processor: fewer are examined by blocks of many warps */
#define BALLS_AT_ONCE 16384u
#define MOST_NUMBER   (UINT64_C(1) << 31) /* of cells, so that indices of sorting fit */

#define TRY_CUDA(call, what) CAROM_DEVICE_TRY(carom_device_check(device, call, what))

template <typename T> static T *data_of(carom_device_pack *p, int block) {
    return (T *)p->blocks[block].data;
}

/* Makes a block at least so large, with a half to spare. Its contents are lost if it grows. */
static carom_status reserve(carom_device *device, carom_device_pack *p, int block, uint64_t count,
                            uint64_t size) {
    uint64_t bytes = count * size;
    if (bytes <= p->blocks[block].bytes) return CAROM_OK;
    return carom_device_reserve(device, &p->blocks[block], bytes + bytes / 2, "a packing");
}

/* The same, keeping the first `used` elements. */
static carom_status grow(carom_device *device, carom_device_pack *p, int block, uint64_t used,
                         uint64_t count, uint64_t size) {
    if (count * size <= p->blocks[block].bytes) return CAROM_OK;
    carom_device_block larger = {};
    uint64_t bytes = count * size;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &larger, bytes + bytes / 2, "a packing"));
    carom_status status = CAROM_OK;
    if (used != 0)
        status = carom_device_check(device,
                                    cudaMemcpyAsync(larger.data, p->blocks[block].data, used * size,
                                                    cudaMemcpyDeviceToDevice, device->stream),
                                    "a copy");
    carom_device_release(&p->blocks[block]); /* waits for the copy */
    p->blocks[block] = larger;
    return status;
}

static carom_status wait(carom_device *device) {
    TRY_CUDA(cudaGetLastError(), "starting a kernel");
    TRY_CUDA(cudaStreamSynchronize(device->stream), "packing");
    return CAROM_OK;
}

/* Queues the copy of something small to pinned memory. */
static void read_back(carom_device *device, void *to, const void *from, size_t bytes) {
    (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, device->stream);
}

static news *news_of(carom_device *device) {
    return (news *)device->pinned.data;
}

template <typename KERNEL, typename... ARGUMENTS>
static void launch(carom_device *device, KERNEL kernel, uint64_t count, ARGUMENTS... arguments) {
    carom_device_launch(device, kernel, carom_device_blocks(count, PLAIN), PLAIN, arguments...);
}

static carom_status upload(carom_device *device, carom_device_pack *p, int block, const void *from,
                           uint64_t bytes) {
    CAROM_DEVICE_TRY(reserve(device, p, block, bytes, 1));
    TRY_CUDA(
        cudaMemcpyAsync(p->blocks[block].data, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "a copy");
    return CAROM_OK;
}

static carom_status start(carom_device *device, const carom_device_pack_def *def,
                          carom_device_pack *p) {
    const carom_device_pack_mesh *mesh = &def->mesh;
    view *v = &p->v;
    CAROM_DEVICE_TRY(carom_device_finish(device)); /* of what else uses pinned memory */
    TRY_CUDA(cudaSetDevice(device->number), "choosing the device");
    CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, sizeof(news)));
    CAROM_DEVICE_TRY(
        upload(device, p, MESH_NODES, mesh->nodes, mesh->node_count * sizeof(carom_bvh_node)));
    CAROM_DEVICE_TRY(upload(device, p, MESH_CORNERS, mesh->corners,
                            mesh->block_count * sizeof(carom_bvh_corners)));
    CAROM_DEVICE_TRY(upload(device, p, WAITING, &def->root, sizeof(def->root)));
    p->waiting_count = 1;
    CAROM_DEVICE_TRY(reserve(device, p, COUNTERS, 1, sizeof(counters)));
    TRY_CUDA(cudaMemsetAsync(p->blocks[COUNTERS].data, 0, sizeof(counters), device->stream),
             "clearing memory");
    v->nodes = data_of<carom_bvh_node>(p, MESH_NODES);
    v->corners = data_of<carom_bvh_corners>(p, MESH_CORNERS);
    memcpy(v->level_start, mesh->level_start, sizeof(v->level_start));
    v->level_count = mesh->level_count;
    v->fast = def->fast;
    v->centre_unit = mesh->unit;
    v->unit = def->unit;
    v->low = def->low;
    v->last_rho = def->last_rho;
    v->n = data_of<counters>(p, COUNTERS);
    return wait(device); /* the copies are from the caller's memory */
}

static void pack_end(carom_device_pack *p) {
    if (p == nullptr) return;
    for (int i = 0; i < BLOCKS; ++i) carom_device_release(&p->blocks[i]);
    delete p;
}

static carom_status pack_begin(carom_device *device, const carom_device_pack_def *def,
                               carom_device_pack **pack) {
    *pack = new (std::nothrow) carom_device_pack{};
    if (*pack == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory");
    return start(device, def, *pack);
}

/* ---- Filing, on the host --------------------------------------------------------------------- */

/* Queues the filing of some balls. Whether there was space is known later: grid_full. */
static void file_balls(carom_device *device, carom_device_pack *p, uint64_t first, uint64_t end) {
    uint64_t blocks = 4 * (uint64_t)device->processors;
    for (uint64_t at = first; at < end; at += BALLS_AT_ONCE) {
        uint64_t left = end - at, count = CAROM_MIN(left, (uint64_t)BALLS_AT_ONCE);
        (void)cudaMemsetAsync(&p->v.n->entries, 0, sizeof(unsigned), device->stream);
        carom_device_launch(device, enter_balls, count, 128, p->v, (uint32_t)at, (uint32_t)count);
        carom_device_launch(device, enlarge_lists, blocks, PLAIN, p->v);
        carom_device_launch(device, write_lists, blocks, PLAIN, p->v);
        carom_device_launch(device, sort_lists, blocks, PLAIN, p->v);
    }
}

/* Files all balls anew, in more and more memory until it suffices. */
static carom_status refile(carom_device *device, carom_device_pack *p) {
    view *v = &p->v;
    uint64_t slots = p->blocks[SLOTS].bytes / sizeof(slot);
    uint64_t pool = p->blocks[POOL].bytes / sizeof(uint32_t);
    uint64_t entries = p->blocks[ENTRIES].bytes / sizeof(entry);
    slots = slots != 0 ? v->slot_mask + 1 : FIRST_SLOTS;
    pool = pool != 0 ? pool : FIRST_POOL;
    entries = entries != 0 ? entries : FIRST_ENTRIES;
    while (true) {
        if (slots > MOST_NUMBER || pool > UINT32_MAX || entries > UINT32_MAX)
            return carom_device_fail(device, CAROM_TOO_LARGE, "too many balls for the grid");
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[SLOTS], slots * sizeof(slot),
                                              "the grid of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[POOL], pool * sizeof(uint32_t),
                                              "the grid of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[ENTRIES], entries * sizeof(entry),
                                              "the grid of a packing"));
        v->slots = data_of<slot>(p, SLOTS);
        v->slot_mask = slots - 1;
        v->pool = data_of<uint32_t>(p, POOL);
        v->pool_size = (uint32_t)pool;
        v->entries = data_of<entry>(p, ENTRIES);
        v->entry_capacity = (uint32_t)entries;
        launch(device, clear_slots, slots, *v);
        (void)cudaMemsetAsync(&v->n->slots, 0, sizeof(counters) - offsetof(counters, slots),
                              device->stream);
        file_balls(device, p, 0, p->ball_count);
        news *read = news_of(device);
        read_back(device, &read->n, v->n, sizeof(read->n));
        CAROM_DEVICE_TRY(wait(device));
        if (read->n.grid_full == 0) return CAROM_OK;
        if ((read->n.grid_full & SLOTS_FULL) != 0) slots *= 4;
        if ((read->n.grid_full & ENTRIES_FULL) != 0) entries *= 2;
        if ((read->n.grid_full & POOL_FULL) != 0) pool *= 2;
    }
}

static carom_status pack_file(carom_device *device, carom_device_pack *p, double cell,
                              double reach) {
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l, cell *= CAROM_PACK_LEVEL_RATIO)
        p->v.cell[l] = cell;
    p->v.reach = reach;
    return refile(device, p);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct above {
    float rho;
    bool wanted;
    __host__ __device__ bool operator()(const carom_pack_node &c) const {
        return (c.bound > rho) == wanted;
    }
};

/* The waiting cells that are above rho, or the others, in the order they are in. */
static carom_status select_cells(carom_device *device, carom_device_pack *p, above which, int to,
                                 uint64_t *count) {
    const carom_pack_node *from = data_of<carom_pack_node>(p, WAITING);
    carom_pack_node *into = data_of<carom_pack_node>(p, to);
    unsigned *selected = &p->v.n->selected;
    size_t bytes = 0;
    int64_t items = (int64_t)p->waiting_count;
    TRY_CUDA(
        cub::DeviceSelect::If(nullptr, bytes, from, into, selected, items, which, device->stream),
        "selecting cells");
    CAROM_DEVICE_TRY(reserve(device, p, TEMPORARY, bytes, 1));
    TRY_CUDA(cub::DeviceSelect::If(p->blocks[TEMPORARY].data, bytes, from, into, selected, items,
                                   which, device->stream),
             "selecting cells");
    read_back(device, &news_of(device)->count, selected, sizeof(uint32_t));
    CAROM_DEVICE_TRY(wait(device));
    *count = news_of(device)->count;
    return CAROM_OK;
}

/* The exclusive sums of `count` numbers. */
static carom_status add_up(carom_device *device, carom_device_pack *p, const uint32_t *from,
                           uint32_t *to, uint64_t count) {
    size_t bytes = 0;
    TRY_CUDA(
        cub::DeviceScan::ExclusiveSum(nullptr, bytes, from, to, (int64_t)count, device->stream),
        "adding up");
    CAROM_DEVICE_TRY(reserve(device, p, TEMPORARY, bytes, 1));
    TRY_CUDA(cub::DeviceScan::ExclusiveSum(p->blocks[TEMPORARY].data, bytes, from, to,
                                           (int64_t)count, device->stream),
             "adding up");
    return CAROM_OK;
}

template <typename KEY>
static carom_status sort_pairs(carom_device *device, carom_device_pack *p, const KEY *keys,
                               KEY *sorted, const uint32_t *values, uint32_t *order, uint64_t count,
                               int bits) {
    size_t bytes = 0;
    TRY_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, values, order,
                                             (int64_t)count, 0, bits, device->stream),
             "sorting");
    CAROM_DEVICE_TRY(reserve(device, p, TEMPORARY, bytes, 1));
    TRY_CUDA(cub::DeviceRadixSort::SortPairs(p->blocks[TEMPORARY].data, bytes, keys, sorted, values,
                                             order, (int64_t)count, 0, bits, device->stream),
             "sorting");
    return CAROM_OK;
}

/* The cells in ACTIVE_NEXT, sorted into groups. */
static carom_status sort_groups(carom_device *device, carom_device_pack *p, uint64_t count,
                                uint32_t bits, uint64_t *groups) {
    for (int block : {SORT_KEYS, SORTED_KEYS, SORT_ORDER, SORTED_ORDER, HEADS, HEAD_STARTS})
        CAROM_DEVICE_TRY(reserve(device, p, block, count + 1, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(reserve(device, p, ACTIVE, count, sizeof(carom_pack_node)));
    const carom_pack_node *cells = data_of<carom_pack_node>(p, ACTIVE_NEXT);
    uint32_t *keys = data_of<uint32_t>(p, SORT_KEYS), *order = data_of<uint32_t>(p, SORT_ORDER);
    uint32_t *sorted = data_of<uint32_t>(p, SORTED_KEYS);
    uint32_t *sorted_order = data_of<uint32_t>(p, SORTED_ORDER);
    uint32_t *heads = data_of<uint32_t>(p, HEADS), *starts = data_of<uint32_t>(p, HEAD_STARTS);
    launch(device, make_keys, count, cells, count, bits, keys, order);
    CAROM_DEVICE_TRY(
        sort_pairs(device, p, keys, sorted, order, sorted_order, count, (int)(3 * bits)));
    launch(device, order_cells, count + 1, cells, count, (const uint32_t *)sorted,
           (const uint32_t *)sorted_order, data_of<carom_pack_node>(p, ACTIVE), heads);
    CAROM_DEVICE_TRY(add_up(device, p, heads, starts, count + 1));
    read_back(device, &news_of(device)->count, starts + count, sizeof(uint32_t));
    CAROM_DEVICE_TRY(wait(device));
    *groups = news_of(device)->count;
    CAROM_DEVICE_TRY(reserve(device, p, GROUPS, *groups, sizeof(group)));
    launch(device, make_groups, count, count, (const uint32_t *)heads, (const uint32_t *)starts,
           data_of<group>(p, GROUPS));
    return CAROM_OK;
}

static void swap_blocks(carom_device_pack *p, int a, int b) {
    carom_device_block swap = p->blocks[a];
    p->blocks[a] = p->blocks[b];
    p->blocks[b] = swap;
}

static carom_status pack_begin_round(carom_device *device, carom_device_pack *p, double rho,
                                     double enough, uint32_t bits, uint64_t *groups) {
    uint64_t count, left;
    *groups = 0;
    p->v.rho = rho;
    p->v.enough = enough;
    p->v.group_count = 0;
    p->active_count = 0;
    if (p->waiting_count == 0) return CAROM_OK;
    for (int block : {ACTIVE_NEXT, WAITING_NEXT})
        CAROM_DEVICE_TRY(reserve(device, p, block, p->waiting_count, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(select_cells(device, p, above{(float)rho, true}, ACTIVE_NEXT, &count));
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(select_cells(device, p, above{(float)rho, false}, WAITING_NEXT, &left));
    swap_blocks(p, WAITING, WAITING_NEXT);
    p->waiting_count = left;
    p->active_count = count;
    CAROM_DEVICE_TRY(sort_groups(device, p, count, bits, groups));
    p->v.group_count = (uint32_t)*groups;
    return CAROM_OK;
}

/* ---- One pass -------------------------------------------------------------------------------- */

template <unsigned WARPS> static carom_status launch_examine(carom_device *device, const view &v) {
    uint64_t blocks = (uint64_t)device->processors * (ALL_WARPS / WARPS);
    size_t bytes = sizeof(block_state<WARPS>);
    TRY_CUDA(cudaFuncSetAttribute(examine_groups<WARPS>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
             "examining cells");
    examine_groups<WARPS><<<(unsigned)CAROM_MIN((uint64_t)v.group_count, blocks),
                            WARPS * CAROM_WARP, bytes, device->stream>>>(v);
    return CAROM_OK;
}

/* Examines all groups, in more memory if it turns out too small; `news` then has the counts. */
static carom_status run_examine(carom_device *device, carom_device_pack *p) {
    view *v = &p->v;
    uint64_t count = v->group_count, capacity = p->blocks[CHUNK_NEXT].bytes / sizeof(uint32_t);
    uint64_t least = 2 * count + FIRST_CHUNKS;
    capacity = CAROM_MAX(capacity, least);
    CAROM_DEVICE_TRY(reserve(device, p, OUTCOMES, count, sizeof(outcome)));
    CAROM_DEVICE_TRY(reserve(device, p, TALLIES, count + 1, sizeof(tally)));
    CAROM_DEVICE_TRY(reserve(device, p, STARTS, count + 1, sizeof(tally)));
    CAROM_DEVICE_TRY(reserve(device, p, CANDIDATES, count, sizeof(candidate)));
    CAROM_DEVICE_TRY(reserve(device, p, CANDIDATE_KEYS, count, sizeof(uint64_t)));
    while (true) {
        if (capacity > UINT32_MAX)
            return carom_device_fail(device, CAROM_TOO_LARGE, "too many cells in a round");
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[CHUNK_NEXT],
                                              capacity * sizeof(uint32_t), "cells of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[CHUNKS],
                                              capacity * CHUNK_CELLS * sizeof(carom_pack_node),
                                              "cells of a packing"));
        v->balls = data_of<carom_pack_ball>(p, BALLS);
        v->active = data_of<carom_pack_node>(p, ACTIVE);
        v->groups = data_of<group>(p, GROUPS);
        v->outcomes = data_of<outcome>(p, OUTCOMES);
        v->tallies = data_of<tally>(p, TALLIES);
        v->chunks = data_of<carom_pack_node>(p, CHUNKS);
        v->chunk_next = data_of<uint32_t>(p, CHUNK_NEXT);
        v->chunk_capacity = (uint32_t)capacity;
        v->candidates = data_of<candidate>(p, CANDIDATES);
        v->keys = data_of<uint64_t>(p, CANDIDATE_KEYS);
        tally *starts = data_of<tally>(p, STARTS);
        news *read = news_of(device);
        (void)cudaMemsetAsync(v->n, 0, offsetof(counters, largest), device->stream);
        (void)cudaMemsetAsync(v->tallies + count, 0, sizeof(tally), device->stream);
        if (count < FEW_GROUPS * (uint64_t)device->processors)
            CAROM_DEVICE_TRY(launch_examine<MANY_WARPS>(device, *v));
        else
            CAROM_DEVICE_TRY(launch_examine<FEW_WARPS>(device, *v));
        size_t bytes = 0;
        TRY_CUDA(cub::DeviceScan::ExclusiveScan(nullptr, bytes, v->tallies, starts, add_tallies(),
                                                tally{0, 0, 0}, (int64_t)count + 1, device->stream),
                 "adding up");
        CAROM_DEVICE_TRY(reserve(device, p, TEMPORARY, bytes, 1));
        TRY_CUDA(cub::DeviceScan::ExclusiveScan(p->blocks[TEMPORARY].data, bytes, v->tallies,
                                                starts, add_tallies(), tally{0, 0, 0},
                                                (int64_t)count + 1, device->stream),
                 "adding up");
        read_back(device, &read->totals, starts + count, sizeof(tally));
        read_back(device, &read->n, v->n, sizeof(read->n));
        CAROM_DEVICE_TRY(wait(device));
        if (read->n.grid_full != 0) {
            CAROM_DEVICE_TRY(refile(device, p));
        } else if (read->n.chunks <= capacity) {
            return CAROM_OK;
        } else {
            capacity = read->n.chunks + (uint64_t)read->n.chunks / 4;
        }
    }
}

/* Puts the cells that are left into new lists. */
static carom_status gather(carom_device *device, carom_device_pack *p, const tally &totals) {
    view *v = &p->v;
    uint64_t waiting = p->waiting_count + totals.waiting;
    if (waiting > MOST_NUMBER)
        return carom_device_fail(device, CAROM_TOO_LARGE, "more than %llu cells",
                                 (unsigned long long)MOST_NUMBER);
    CAROM_DEVICE_TRY(grow(device, p, WAITING, p->waiting_count, waiting, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(reserve(device, p, ACTIVE_NEXT, totals.active, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(reserve(device, p, GROUPS_NEXT, totals.some, sizeof(group)));
    launch(device, gather_cells, (uint64_t)v->group_count * CAROM_WARP, *v,
           (const tally *)data_of<tally>(p, STARTS), data_of<carom_pack_node>(p, ACTIVE_NEXT),
           data_of<carom_pack_node>(p, WAITING) + p->waiting_count, data_of<group>(p, GROUPS_NEXT));
    swap_blocks(p, ACTIVE, ACTIVE_NEXT);
    swap_blocks(p, GROUPS, GROUPS_NEXT);
    p->waiting_count = waiting;
    p->active_count = totals.active;
    v->group_count = totals.some;
    return CAROM_OK;
}

/* Decides which of `count` candidates to insert: `accepted` of them, in FRESH and on the host. */
static carom_status run_contest(carom_device *device, carom_device_pack *p, uint32_t count,
                                carom_device_pack_found *found) {
    uint32_t slots = 64;
    while (slots < 2 * count) slots *= 2;
    uint64_t words = (uint64_t)count * (sizeof(candidate) + sizeof(double)) / sizeof(uint32_t);
    words += 3 * ((uint64_t)count + 2) + slots;
    CAROM_DEVICE_TRY(reserve(device, p, CONTEST, words, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(reserve(device, p, SORT_KEYS, 2 * (uint64_t)count, sizeof(uint32_t)));
    for (int block : {SORT_ORDER, SORTED_ORDER, HEADS, HEAD_STARTS})
        CAROM_DEVICE_TRY(reserve(device, p, block, (uint64_t)count + 1, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(reserve(device, p, FRESH, count, sizeof(carom_pack_ball)));
    contest c = {};
    c.sorted = data_of<candidate>(p, CONTEST);
    c.radius = (double *)(c.sorted + count);
    c.state = (uint32_t *)(c.radius + count);
    c.next = c.state + count + 2;
    c.heads = c.next + count + 2;
    c.flags = data_of<uint32_t>(p, HEADS);
    c.order = data_of<uint32_t>(p, SORTED_ORDER);
    c.count = count;
    c.mask = slots - 1;
    uint32_t *order = data_of<uint32_t>(p, SORT_ORDER), *starts = data_of<uint32_t>(p, HEAD_STARTS);
    launch(device, count_up, count, order, count);
    CAROM_DEVICE_TRY(sort_pairs(device, p, (const uint64_t *)p->v.keys,
                                data_of<uint64_t>(p, SORT_KEYS), (const uint32_t *)order,
                                data_of<uint32_t>(p, SORTED_ORDER), count, 64));
    (void)cudaMemsetAsync(c.heads, 0xFF, slots * sizeof(uint32_t), device->stream);
    launch(device, enter_contest, count, p->v, c);
    launch(device, decide_first, count, p->v, c);
    carom_device_launch(device, decide_rest, 1, 1024, p->v, c);
    CAROM_DEVICE_TRY(add_up(device, p, c.flags, starts, (uint64_t)count + 1));
    carom_pack_ball *fresh = data_of<carom_pack_ball>(p, FRESH);
    launch(device, list_accepted, count, c, (const uint32_t *)starts, fresh);
    uint64_t pinned = sizeof(news) + (uint64_t)count * sizeof(carom_pack_ball);
    if (pinned > device->pinned.bytes)
        CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, 2 * pinned));
    news *read = news_of(device);
    read_back(device, &read->accepted, starts + count, sizeof(uint32_t));
    read_back(device, read + 1, fresh, count * sizeof(carom_pack_ball));
    CAROM_DEVICE_TRY(wait(device));
    found->balls = (const carom_pack_ball *)(read + 1);
    found->ball_count = read->accepted;
    return CAROM_OK;
}

static carom_status pack_examine(carom_device *device, carom_device_pack *p,
                                 carom_device_pack_found *found) {
    *found = carom_device_pack_found{};
    CAROM_DEVICE_TRY(run_examine(device, p));
    news read = *news_of(device);
    float unresolved;
    memcpy(&unresolved, &read.n.unresolved, sizeof(unresolved));
    p->unresolved = CAROM_MAX(unresolved, p->unresolved);
    p->visits += read.n.visits;
    CAROM_DEVICE_TRY(gather(device, p, read.totals));
    found->groups = read.totals.some;
    if (read.n.candidates == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(run_contest(device, p, read.n.candidates, found));
    uint64_t count = found->ball_count, all = p->ball_count + count;
    if (all > UINT32_MAX) return carom_device_fail(device, CAROM_TOO_LARGE, "too many balls");
    CAROM_DEVICE_TRY(grow(device, p, BALLS, p->ball_count, all, sizeof(carom_pack_ball)));
    p->v.balls = data_of<carom_pack_ball>(p, BALLS);
    TRY_CUDA(cudaMemcpyAsync(p->v.balls + p->ball_count, p->blocks[FRESH].data,
                             count * sizeof(carom_pack_ball), cudaMemcpyDeviceToDevice,
                             device->stream),
             "a copy");
    file_balls(device, p, p->ball_count, all);
    p->ball_count = all;
    return CAROM_OK;
}

static carom_status pack_summary(carom_device *device, carom_device_pack *p,
                                 carom_device_pack_end *end) {
    unsigned *largest = &p->v.n->largest;
    launch(device, find_largest, 1024 * PLAIN,
           (const carom_pack_node *)data_of<carom_pack_node>(p, ACTIVE), p->active_count, largest);
    launch(device, find_largest, 1024 * PLAIN,
           (const carom_pack_node *)data_of<carom_pack_node>(p, WAITING), p->waiting_count,
           largest);
    news *read = news_of(device);
    read_back(device, &read->n, p->v.n, sizeof(read->n));
    CAROM_DEVICE_TRY(wait(device));
    float most;
    memcpy(&most, &read->n.largest, sizeof(most));
    *end = carom_device_pack_end{(double)most, (double)p->unresolved, p->visits};
    return CAROM_OK;
}

extern "C" __attribute__((visibility("default"))) extern const carom_cuda_pack carom_cuda_pack_1 = {
    pack_begin, pack_end, pack_file, pack_begin_round, pack_examine, pack_summary,
};
