/* SPDX-License-Identifier: MIT */
/* pack_examine_cuda.h: what a warp does with one cell of the octree: balls nearby, the surface
 * nearby, the bound, inside or outside, the climb to a ball.
 *
 * These are the functions of pack_octree.c, pack_balls.c, pack_mesh.c and pack_cpu.c with their
 * bits. A warp shares the sixteen boxes of a node, the triangles of a block and the balls of a list
 * among its lanes, and then takes them in the order in which the CPU meets them, wherever that
 * matters. Unless said otherwise all lanes call all functions together, with the same arguments. */
#ifndef CAROM_SRC_PACK_PACK_EXAMINE_CUDA_H
#define CAROM_SRC_PACK_PACK_EXAMINE_CUDA_H

#include "base/device_cuda.h"
#include "bvh/bvh_nearest_item.h"
#include "bvh/bvh_winding_cpu.h"
#include "bvh/bvh_winding_item.h"
#include "geom/distance_item.h"
#include "pack/pack_octree_item.h"

#define CAROM_PACK_MOST_NODES (CAROM_BVH_LEVELS * CAROM_BVH_WIDTH)
#define CAROM_PACK_NONE       UINT32_MAX
#define CAROM_PACK_PROBES     512u
#define CAROM_PACK_NO_KEY     (~0ull)

/* A cell of the grid and its list of balls: `count` of them, after which `fresh` are being added.
 * There is space for the next power of two, eight at least. */
struct carom_pack_list {
    unsigned long long key;
    uint32_t start, count, fresh, unused;
};

/* A ball that a cell led to. */
struct carom_pack_candidate {
    double x, y, z, radius;
};

/* What examining a cell depends on. */
struct carom_pack_scene {
    const carom_bvh_node *nodes;
    const carom_bvh_corners *corners;
    uint64_t level_start[CAROM_BVH_LEVELS];
    uint32_t level_count;
    bool fast;
    double centre_unit, unit; /* of centres and of cells */
    double rho, enough;       /* the radius of the round, and the least that is taken */
    carom_vec3 low;           /* of the root */

    carom_pack_ball *balls;
    carom_pack_list *slots; /* a hash table of slot_mask + 1 */
    uint32_t *pool;         /* the lists */
    uint64_t slot_mask;
    double cell[CAROM_PACK_LEVELS], reach;
};

/* ---- Warps ----------------------------------------------------------------------------------- */

static __device__ inline unsigned carom_lane() {
    return threadIdx.x % CAROM_WARP;
}

static __device__ inline double carom_from_lane(double x, unsigned lane) {
    return __shfl_sync(~0u, x, (int)lane);
}

/* The least of the lanes' numbers, none of which is NaN. */
static __device__ inline double carom_warp_least(double x) {
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
struct carom_pack_near_set {
    double x[CAROM_PACK_NEAR], y[CAROM_PACK_NEAR], z[CAROM_PACK_NEAR], apart[CAROM_PACK_NEAR];
    float radius[CAROM_PACK_NEAR];
};

struct carom_pack_open_node {
    float bound; /* of the squared distance */
    uint32_t node;
};
#define CAROM_PACK_LEVEL_SHIFT 28u /* a node: its level and its index, below 2^28 */

struct carom_pack_workspace {
    carom_pack_near_set near[2];
    carom_pack_open_node stack[CAROM_PACK_MOST_NODES];
};

struct carom_pack_near_list {
    carom_pack_near_set *set;
    unsigned count;
    double least;
};

/* ---- Balls nearby ---------------------------------------------------------------------------- */

/* Cells of different levels have different keys: those above the lowest have indices below 2^16. */
static __device__ inline uint64_t carom_pack_level_key(uint32_t level, int64_t x, int64_t y,
                                                       int64_t z) {
    if (level == 0) return carom_pack_key(x, y, z);
    return UINT64_C(1) << 63 | carom_pack_key(x + ((int64_t)level << 17), y, z);
}

/* The lists of the cells that hold a point: lane l has that of level l. */
struct carom_pack_lists {
    uint32_t start, count;
};

static __device__ inline carom_pack_lists carom_pack_find_lists(const carom_pack_scene &v,
                                                                carom_vec3 p) {
    unsigned lane = carom_lane();
    carom_pack_lists lists = {0, 0};
    if (lane < CAROM_PACK_LEVELS) {
        double cell = v.cell[lane];
        uint64_t key =
            carom_pack_level_key(lane, carom_pack_cell_of(p.x, cell), carom_pack_cell_of(p.y, cell),
                                 carom_pack_cell_of(p.z, cell));
        uint64_t at = carom_pack_key_hash(key);
        for (unsigned i = 0; i < CAROM_PACK_PROBES; ++i, ++at) {
            const carom_pack_list *s = &v.slots[at & v.slot_mask];
            if (s->key == CAROM_PACK_NO_KEY) break;
            if (s->key != key) continue;
            lists = carom_pack_lists{s->start, s->count};
            break;
        }
    }
    return lists;
}

/* Lists are in the order of the balls. The CPU keeps them in chunks, the newest first. */
static __device__ inline uint32_t carom_pack_chunk_order(uint32_t i, uint32_t count) {
    uint32_t newest = count % CAROM_PACK_CHUNK;
    newest = newest != 0 ? newest : CAROM_PACK_CHUNK;
    if (i < newest) return count - newest + i;
    uint32_t chunk = (i - newest) / CAROM_PACK_CHUNK, at = (i - newest) % CAROM_PACK_CHUNK;
    return count - newest - CAROM_PACK_CHUNK * (chunk + 1) + at;
}

/* carom_pack_balls_search. */
static __device__ void carom_pack_search_balls(const carom_pack_scene &v, carom_vec3 p,
                                               double spread, carom_pack_near_list &n) {
    unsigned lane = carom_lane(), before = (1u << lane) - 1u;
    carom_pack_lists lists = carom_pack_find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t base = 0; base < count; base += CAROM_WARP) {
            bool some = base + lane < count;
            carom_pack_ball b = {0.0, 0.0, 0.0, 0.0};
            double apart = HUGE_VAL;
            if (some) {
                b = v.balls[v.pool[start + carom_pack_chunk_order(base + lane, count)]];
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
            double last = carom_from_lane(least, CAROM_WARP - 1);
            n.least = CAROM_MIN(last, n.least);
        }
    }
    __syncwarp();
}

/* carom_pack_balls_distance. */
static __device__ double carom_pack_balls_near(const carom_pack_scene &v, carom_vec3 p) {
    unsigned lane = carom_lane();
    double least = v.reach;
    carom_pack_lists lists = carom_pack_find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t i = lane; i < count; i += CAROM_WARP) {
            double apart = carom_pack_ball_distance(&v.balls[v.pool[start + i]], p);
            least = CAROM_MIN(apart, least);
        }
    }
    return carom_warp_least(least);
}

/* ---- The surface nearby ---------------------------------------------------------------------- */

static __device__ inline const carom_bvh_node *carom_pack_boxes(const carom_pack_scene &v,
                                                                uint32_t node) {
    return v.nodes + v.level_start[node >> CAROM_PACK_LEVEL_SHIFT] +
           (node & ((1u << CAROM_PACK_LEVEL_SHIFT) - 1));
}

static __device__ inline uint32_t carom_pack_child_of(uint32_t node, unsigned lane) {
    uint32_t level = node >> CAROM_PACK_LEVEL_SHIFT,
             index = node & ((1u << CAROM_PACK_LEVEL_SHIFT) - 1);
    return (level - 1) << CAROM_PACK_LEVEL_SHIFT | (index * CAROM_BVH_WIDTH + lane);
}

static __device__ inline double carom_pack_dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ inline carom_vec3 carom_pack_along(carom_vec3 a, carom_vec3 u, double t) {
    return carom_vec(a.x + u.x * t, a.y + u.y * t, a.z + u.z * t);
}

/* The point nearest to the origin on the segment a + t u, t in [0, 1]. */
static __device__ inline carom_vec3 carom_pack_edge_foot(carom_vec3 a, carom_vec3 u,
                                                         double square) {
    double t = -carom_pack_dot(a, u) / (square > 0.0 ? square : 1.0);
    t = t > 0.0 ? t : 0.0;
    return carom_pack_along(a, u, t < 1.0 ? t : 1.0);
}

static __device__ inline void carom_pack_take_nearer(carom_vec3 foot, carom_vec3 *best,
                                                     double *square) {
    double s = carom_pack_dot(foot, foot);
    if (!(s < *square)) return;
    *best = foot;
    *square = s;
}

static __device__ inline carom_vec3 carom_pack_corner(const carom_bvh_corners *corners, int i,
                                                      unsigned lane) {
    return carom_vec(corners->row[3 * i][lane], corners->row[3 * i + 1][lane],
                     corners->row[3 * i + 2][lane]);
}

/* carom_pack_feet, operation by operation: the point of a lane's triangle that is nearest. */
static __device__ inline double carom_pack_foot(const carom_bvh_corners *corners, unsigned lane,
                                                const double at[3], carom_vec3 *foot_at) {
    carom_vec3 p = carom_vec(at[0], at[1], at[2]);
    carom_vec3 a = carom_vec_sub(carom_pack_corner(corners, 0, lane), p);
    carom_vec3 b = carom_vec_sub(carom_pack_corner(corners, 1, lane), p);
    carom_vec3 c = carom_vec_sub(carom_pack_corner(corners, 2, lane), p);
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), o = carom_vec_sub(c, b);
    double uu = carom_pack_dot(u, u), uv = carom_pack_dot(u, v), vv = carom_pack_dot(v, v);
    carom_vec3 best = carom_pack_edge_foot(a, u, uu);
    double square = carom_pack_dot(best, best);
    carom_pack_take_nearer(carom_pack_edge_foot(b, o, carom_pack_dot(o, o)), &best, &square);
    carom_pack_take_nearer(carom_pack_edge_foot(a, v, vv), &best, &square);
    double au = -carom_pack_dot(a, u), av = -carom_pack_dot(a, v);
    double denominator = uu * vv - uv * uv;
    double s = vv * au - uv * av, t = uu * av - uv * au;
    if (s > 0.0 && t > 0.0 && s + t < denominator && denominator > 0x1p-40 * (uu * vv))
        carom_pack_take_nearer(
            carom_pack_along(carom_pack_along(a, u, s / denominator), v, t / denominator), &best,
            &square);
    *foot_at = carom_vec(best.x + p.x, best.y + p.y, best.z + p.z);
    return square;
}

/* The search of pack_mesh.c; `at_direction` is the place in the list of the lane's direction. */
struct carom_pack_surface {
    double at[3], spread, limit, distance;
    uint32_t place;
    unsigned at_direction;
};

static __device__ carom_pack_surface carom_pack_surface_begin(carom_vec3 p, double limit,
                                                              double spread) {
    carom_pack_surface s;
    s.at[0] = p.x;
    s.at[1] = p.y;
    s.at[2] = p.z;
    s.spread = spread;
    s.limit = limit;
    s.distance = HUGE_VAL;
    s.place = CAROM_BVH_NONE;
    s.at_direction = CAROM_PACK_NONE;
    return s;
}

/* search_block: lanes of the block in the order of the CPU. */
static __device__ double carom_pack_search_block(const carom_pack_scene &v, carom_pack_surface &s,
                                                 carom_pack_near_list &n, uint32_t block,
                                                 unsigned lanes) {
    unsigned lane = carom_lane(), direction = 0;
    bool mine = lane < CAROM_BVH_WIDTH && (lanes >> lane & 1) != 0;
    double square = HUGE_VAL;
    carom_vec3 foot = {0.0, 0.0, 0.0};
    if (mine) {
        square = carom_pack_foot(&v.corners[block], lane, s.at, &foot);
        direction = carom_pack_direction(foot.x - s.at[0], foot.y - s.at[1], foot.z - s.at[2]);
    }
    unsigned left = __ballot_sync(~0u, mine && !(square > s.limit * s.limit));
    double root = sqrt(square);
    for (; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__ffs((int)left) - 1;
        double squared = carom_from_lane(square, i), apart = carom_from_lane(root, i);
        if (squared > s.limit * s.limit) continue;
        if (apart < s.distance) {
            s.distance = apart;
            s.place = block * CAROM_BVH_WIDTH + i;
            double within = apart + s.spread;
            s.limit = CAROM_MIN(within, s.limit);
            n.least = CAROM_MIN(apart, n.least);
        }
        unsigned towards = __shfl_sync(~0u, direction, (int)i);
        unsigned k = __shfl_sync(~0u, s.at_direction, (int)towards);
        if (k == CAROM_PACK_NONE) {
            if (n.count == CAROM_PACK_NEAR) continue;
            k = n.count++;
            if (lane == towards) s.at_direction = k;
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
static __device__ inline void
carom_pack_visit_nearest(const carom_pack_scene &v, carom_pack_open_node *stack, const double at[3],
                         double limit, VISIT visit) {
    unsigned lane = carom_lane(), count = 1;
    double most = carom_nearest_square(limit);
    carom_nearest_point p = carom_nearest_point_make(at, CAROM_PACK_FARTHEST * 0x1p-46);
    if (lane == 0)
        stack[0] = carom_pack_open_node{0.0f, (v.level_count - 1) << CAROM_PACK_LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        carom_pack_open_node open = stack[--count];
        __syncwarp();
        if (carom_nearest_lower(open.bound) > most) continue;
        const carom_bvh_node *boxes = carom_pack_boxes(v, open.node);
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
        if (open.node >> CAROM_PACK_LEVEL_SHIFT == 0) {
            if (mask != 0)
                most = carom_nearest_square(
                    visit(open.node & ((1u << CAROM_PACK_LEVEL_SHIFT) - 1), mask));
            continue;
        }
        unsigned rank = 0; /* the nearest is on top */
        for (unsigned left = mask; left != 0; left &= left - 1) {
            unsigned i = (unsigned)__ffs((int)left) - 1;
            float other = __shfl_sync(~0u, square, (int)i);
            rank += other > square || (other == square && i < lane) ? 1u : 0u;
        }
        if (within)
            stack[count + rank] =
                carom_pack_open_node{square, carom_pack_child_of(open.node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
}

/* carom_pack_mesh_search. */
static __device__ carom_pack_surface carom_pack_search_surface(const carom_pack_scene &v,
                                                               carom_pack_open_node *stack,
                                                               carom_vec3 p, uint32_t seed,
                                                               double limit, double spread,
                                                               carom_pack_near_list &n) {
    carom_pack_surface s = carom_pack_surface_begin(p, limit, spread);
    if (seed != CAROM_BVH_NONE) {
        carom_vec3 foot;
        double square = carom_pack_foot(&v.corners[seed / CAROM_BVH_WIDTH], seed % CAROM_BVH_WIDTH,
                                        s.at, &foot);
        double apart = sqrt(square) + spread + CAROM_PACK_ERROR;
        s.limit = CAROM_MIN(apart, s.limit);
    }
    carom_pack_visit_nearest(v, stack, s.at, s.limit, [&](uint32_t block, unsigned lanes) {
        return carom_pack_search_block(v, s, n, block, lanes);
    });
    return s;
}

static __device__ double carom_pack_triangle_distance(const carom_pack_scene &v, carom_vec3 p,
                                                      uint32_t block, unsigned lane) {
    carom_vec3 t[3];
    carom_closest closest;
    for (int i = 0; i < 3; ++i) t[i] = carom_pack_corner(&v.corners[block], i, lane);
    carom_near_point_triangle(p, t, &closest);
    return closest.distance;
}

/* The distance of carom_pack_mesh_distance. Its searches leave out nothing that is nearer, so the
 * order does not matter. */
static __device__ double carom_pack_distance(const carom_pack_scene &v, carom_pack_open_node *stack,
                                             carom_vec3 p, uint32_t seed) {
    unsigned lane = carom_lane();
    const double at[3] = {p.x, p.y, p.z};
    double distance = HUGE_VAL;
    if (seed != CAROM_BVH_NONE)
        distance =
            carom_pack_triangle_distance(v, p, seed / CAROM_BVH_WIDTH, seed % CAROM_BVH_WIDTH);
    carom_pack_visit_nearest(v, stack, at, distance, [&](uint32_t block, unsigned lanes) {
        double apart = HUGE_VAL;
        if (lane < CAROM_BVH_WIDTH && (lanes >> lane & 1) != 0)
            apart = carom_pack_triangle_distance(v, p, block, lane);
        double least = carom_warp_least(apart);
        distance = CAROM_MIN(least, distance);
        return distance;
    });
    return distance;
}

/* carom_pack_mesh_inside, of a balanced mesh. */
static __device__ __noinline__ bool
carom_pack_is_inside(const carom_pack_scene &v, carom_pack_open_node *stack, carom_vec3 p) {
    unsigned lane = carom_lane(), count = 1;
    carom_box ray = carom_winding_box(p);
    int winding = 0;
    bool on_face = false;
    if (lane == 0)
        stack[0] = carom_pack_open_node{0.0f, (v.level_count - 1) << CAROM_PACK_LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        uint32_t node = stack[--count].node;
        __syncwarp();
        bool hit = false;
        if (lane < CAROM_BVH_WIDTH) {
            const carom_bvh_node *boxes = carom_pack_boxes(v, node);
            hit = true;
            for (int k = 0; k < 3; ++k)
                hit =
                    hit && boxes->low[k][lane] <= ray.high[k] && boxes->high[k][lane] >= ray.low[k];
        }
        unsigned mask = __ballot_sync(~0u, hit);
        if (node >> CAROM_PACK_LEVEL_SHIFT == 0) {
            if (hit) {
                carom_triangle t;
                for (int i = 0; i < 3; ++i)
                    t.corner[i] = carom_pack_corner(
                        &v.corners[node & ((1u << CAROM_PACK_LEVEL_SHIFT) - 1)], i, lane);
                winding += carom_winding_face(&t, p, &on_face);
            }
            __syncwarp();
            continue;
        }
        if (hit)
            stack[count + (unsigned)__popc(mask & ((1u << lane) - 1u))] =
                carom_pack_open_node{0.0f, carom_pack_child_of(node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
    return !__any_sync(~0u, on_face) && __reduce_add_sync(~0u, winding) >= 1;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The constraint that is least along g; the lowest index of equal ones. Lane l has l and l + 32. */
static __device__ inline unsigned carom_pack_least_along(const carom_pack_linear l[2],
                                                         const double g[3], double *least) {
    double low = l[0].e + (l[0].x * g[0] + l[0].y * g[1] + l[0].z * g[2]);
    double high = l[1].e + (l[1].x * g[0] + l[1].y * g[1] + l[1].z * g[2]);
    double best = carom_warp_least(CAROM_MIN(low, high));
    unsigned first = __ballot_sync(~0u, low <= best), second = __ballot_sync(~0u, high <= best);
    *least = best;
    return first != 0 ? (unsigned)__ffs((int)first) - 1
                      : CAROM_WARP + (unsigned)__ffs((int)second) - 1;
}

static __device__ inline carom_pack_linear carom_pack_linear_of(const carom_pack_linear l[2],
                                                                unsigned i) {
    carom_pack_linear mine = i < CAROM_WARP ? l[0] : l[1], at;
    unsigned lane = i % CAROM_WARP;
    at.e = carom_from_lane(mine.e, lane);
    at.x = carom_from_lane(mine.x, lane);
    at.y = carom_from_lane(mine.y, lane);
    at.z = carom_from_lane(mine.z, lane);
    return at;
}

/* carom_pack_bound. */
static __device__ __noinline__ double carom_pack_sharp_bound(const carom_pack_near_list &n,
                                                             const double point[3], double reach,
                                                             double goal, double direction[3]) {
    direction[0] = direction[1] = direction[2] = 0.0;
    double bound = n.least + reach, limit = n.least + 2.0 * reach;
    if (n.count == 0) return bound;
    carom_pack_linear l[2];
    bool any = false;
    for (unsigned k = 0; k < 2; ++k) {
        unsigned i = carom_lane() + k * CAROM_WARP;
        l[k] = carom_pack_linear{HUGE_VAL, 0.0, 0.0, 0.0};
        if (i < n.count && !(n.set->apart[i] > limit)) {
            l[k] = carom_pack_linear_make(point, n.set->x[i], n.set->y[i], n.set->z[i],
                                          (double)n.set->radius[i], n.set->apart[i], reach);
            any = true;
        }
    }
    if (!__any_sync(~0u, any)) return bound;
    const double zero[3] = {0.0, 0.0, 0.0};
    double e;
    carom_pack_linear at = carom_pack_linear_of(l, carom_pack_least_along(l, zero, &e));
    double g[3] = {at.x, at.y, at.z};
    for (int step = 0; step < CAROM_PACK_BOUND_STEPS; ++step) {
        double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        double here = e + reach * length;
        bound = CAROM_MIN(here, bound);
        if (length > 0.0) {
            direction[0] = g[0] / length;
            direction[1] = g[1] / length;
            direction[2] = g[2] / length;
        }
        if (bound <= goal || !(length > 0.0)) break;
        double least;
        const double along_g[3] = {reach * direction[0], reach * direction[1],
                                   reach * direction[2]};
        at = carom_pack_linear_of(l, carom_pack_least_along(l, along_g, &least));
        if (!(here - least > CAROM_PACK_BOUND_GAP * (here - n.least))) break;
        const double w[3] = {at.x - g[0], at.y - g[1], at.z - g[2]};
        double t = carom_pack_line_search(at.e - e, reach, g, w);
        e += t * (at.e - e);
        for (int k = 0; k < 3; ++k) g[k] += t * w[k];
    }
    return bound;
}

static __device__ inline double carom_pack_bound_of(const carom_pack_scene &v,
                                                    const carom_pack_near_list &n,
                                                    const double point[3], double h, bool sharp) {
    double bound = n.least + h, direction[3];
    if (sharp && n.count > 1) bound = carom_pack_sharp_bound(n, point, h, v.rho, direction);
    return carom_pack_believe(v.fast, n.least, bound) + CAROM_PACK_ERROR;
}

/* ---- Climbing -------------------------------------------------------------------------------- */

static __device__ __noinline__ double carom_pack_look(const carom_pack_scene &v,
                                                      carom_pack_open_node *stack,
                                                      carom_pack_near_list &n, carom_vec3 p,
                                                      double spread, uint32_t *place) {
    n.count = 0;
    n.least = HUGE_VAL;
    carom_pack_search_balls(v, p, spread, n);
    carom_pack_surface s =
        carom_pack_search_surface(v, stack, p, *place, n.least + spread, spread, n);
    if (s.place != CAROM_BVH_NONE) *place = s.place;
    return s.distance;
}

/* carom_pack_climb. */
static __device__ double carom_pack_climb(const carom_pack_scene &v, carom_pack_workspace &w,
                                          carom_vec3 *point, double step, uint32_t *place) {
    carom_pack_near_list here = {&w.near[0], 0, HUGE_VAL}, there = {&w.near[1], 0, HUGE_VAL};
    double to_mesh = carom_pack_look(v, w.stack, here, *point, CAROM_PACK_FARTHER * step, place);
    for (int i = 0; i < CAROM_PACK_CLIMB_STEPS; ++i) {
        double direction[3];
        const double at[3] = {point->x, point->y, point->z};
        double mesh_limit = CAROM_PACK_SAFE_SHARE * CAROM_MIN(to_mesh, here.least);
        step = CAROM_MIN(step, mesh_limit);
        double bound = carom_pack_sharp_bound(here, at, step, -HUGE_VAL, direction);
        if (!(bound > here.least * (1.0 + CAROM_PACK_ENOUGH))) {
            if (step < 0.05 * here.least || bound <= here.least * (1.0 + CAROM_PACK_ENOUGH / 8.0))
                break;
            step *= 0.5;
            continue;
        }
        carom_vec3 next = carom_vec(at[0] + step * direction[0], at[1] + step * direction[1],
                                    at[2] + step * direction[2]);
        uint32_t near_place = *place;
        double next_to_mesh =
            carom_pack_look(v, w.stack, there, next, CAROM_PACK_FARTHER * step, &near_place);
        if (there.least > here.least) {
            carom_pack_near_list swap = here;
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

enum carom_pack_verdict : uint8_t {
    CAROM_PACK_NEW,
    CAROM_PACK_DROP,
    CAROM_PACK_UNRESOLVED,
    CAROM_PACK_KEEP,
    CAROM_PACK_SPLIT,
    CAROM_PACK_FOUND
};

static __device__ bool carom_pack_settle(const carom_pack_scene &v, carom_pack_workspace &w,
                                         carom_vec3 centre, uint32_t place,
                                         carom_pack_candidate *found) {
    carom_vec3 rounded = carom_vec(carom_pack_round(centre.x, v.centre_unit),
                                   carom_pack_round(centre.y, v.centre_unit),
                                   carom_pack_round(centre.z, v.centre_unit));
    double to_mesh = carom_pack_distance(v, w.stack, rounded, place);
    double radius = carom_pack_radius(to_mesh, carom_pack_balls_near(v, rounded));
    if (!(radius >= v.enough) || !carom_pack_is_inside(v, w.stack, rounded)) return false;
    *found = carom_pack_candidate{rounded.x, rounded.y, rounded.z, radius};
    return true;
}

/* examine of pack_octree.c. All lanes have the same cell. */
static __device__ carom_pack_verdict carom_pack_examine(const carom_pack_scene &v,
                                                        carom_pack_workspace &w, carom_pack_node *c,
                                                        carom_pack_candidate *found) {
    double rho = v.rho;
    carom_vec3 at = carom_pack_node_centre(c, v.low, v.unit);
    const double point[3] = {at.x, at.y, at.z};
    double half = (double)carom_pack_node_half(c) * v.unit, h = carom_pack_node_reach(half);
    double spread = h <= CAROM_PACK_SHARP_BELOW * rho ? 2.0 * h : 0.0;
    carom_pack_near_list n = {&w.near[0], 0, HUGE_VAL};
    carom_pack_search_balls(v, at, spread, n);
    if (n.least <= -h) return CAROM_PACK_DROP;
    double bound = carom_pack_believe(v.fast, n.least, n.least + h) + CAROM_PACK_ERROR;
    if (bound > rho && n.count > 1) bound = carom_pack_bound_of(v, n, point, h, spread > 0.0);
    if (bound <= rho) {
        carom_pack_node_lower(c, bound);
        return CAROM_PACK_KEEP;
    }
    double limit = n.least + spread, apart = (double)c->apart;
    uint32_t place = c->place & ~CAROM_PACK_INSIDE;
    if (place == CAROM_PACK_NO_PLACE) place = CAROM_BVH_NONE;
    if (apart <= limit && place != CAROM_BVH_NONE) {
        carom_pack_near_list with = n;
        carom_pack_surface s = carom_pack_surface_begin(at, limit, spread);
        carom_pack_search_block(v, s, with, place / CAROM_BVH_WIDTH, (1u << CAROM_BVH_WIDTH) - 1);
        bound = carom_pack_bound_of(v, with, point, h, spread > 0.0);
        if (bound <= rho) {
            carom_pack_node_lower(c, bound);
            return CAROM_PACK_KEEP;
        }
    }
    if (apart <= limit) {
        carom_pack_surface s = carom_pack_search_surface(v, w.stack, at, place, limit, spread, n);
        apart = CAROM_MIN(s.distance, limit);
        if (s.place != CAROM_BVH_NONE) place = s.place;
        bound = carom_pack_bound_of(v, n, point, h, spread > 0.0);
    }
    carom_pack_node_set_apart(c, apart);
    c->place = (c->place & CAROM_PACK_INSIDE) | (place & ~CAROM_PACK_INSIDE);
    carom_pack_node_lower(c, bound);
    if (bound <= rho) return CAROM_PACK_KEEP;
    bool inside = (c->place & CAROM_PACK_INSIDE) != 0 || carom_pack_is_inside(v, w.stack, at);
    if (!inside) {
        if (apart > h) return CAROM_PACK_DROP;
        double from_surface = carom_pack_believe(v.fast, 0.0, h - (double)c->apart);
        carom_pack_node_lower(c, from_surface);
        if (from_surface <= rho) return CAROM_PACK_KEEP;
    } else {
        if (apart > h) c->place |= CAROM_PACK_INSIDE;
        if (n.least >= CAROM_PACK_CLIMB_FROM * rho) {
            carom_vec3 top = at;
            uint32_t near_place = place;
            double reached = carom_pack_climb(v, w, &top, CAROM_MIN(h, 0.5 * rho), &near_place);
            if (reached >= v.enough && carom_pack_settle(v, w, top, near_place, found))
                return CAROM_PACK_FOUND;
        }
    }
    if (half <= CAROM_PACK_FINEST * v.centre_unit || carom_pack_node_half(c) == 1)
        return CAROM_PACK_UNRESOLVED;
    return CAROM_PACK_SPLIT;
}

#endif
