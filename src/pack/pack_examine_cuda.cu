/* SPDX-License-Identifier: MIT */
/* Examining the cells of an octree on the GPU, with the CPU's results, byte for byte.
 *
 * What a group of cells does depends on its cells and on the balls inserted before, so groups are
 * independent of each other (pack_octree.c). Within a group the CPU examines one cell after the
 * other, depth first, up to the first that leads to a ball; but what a cell leads to does not
 * depend on the others. So a block takes a group: its warps examine the next few cells of the stack
 * at a time, and one of them then goes through the results in the CPU's order, as far as they
 * count. What was examined beyond the first ball is forgotten.
 *
 * One warp examines a cell: balls nearby, the surface nearby, bound, inside, climb. It shares the
 * sixteen boxes of a node, the triangles of a block and the balls of a list among its lanes, and
 * then takes them in the order in which the CPU meets them, wherever that matters. */
#include <cfloat>
#include <cmath>

#include "bvh/bvh_nearest_item.h"
#include "bvh/bvh_winding_item.h"
#include "geom/distance_item.h"
#include "pack/pack_cuda.h"
#include "pack/pack_prototypes_item.h"

/* Of a block: cells of a group that are examined at a time. */
#define FEW_WARPS                    4u
#define MANY_WARPS                   16u  /* the same where there are few groups: */
#define FEW_GROUPS                   8u   /* per processor */
#define ALL_WARPS                    16u  /* per processor: what their registers allow */
#define PACK_EXAMINE_CELLS_PER_PUSH  16u  /* cells of a group that are put on the stack at a time */
#define PACK_EXAMINE_CUDA_MOST_CELLS 256u /* on the stack: seven more for each of 31 levels */
#define OCTANTS                      8u   /* children of a cell */
#define GUESS_WARPS                  4u   /* of a block that finds where a prototype begins */
/* Of the distance that is climbed: steps that are shorter gain too little. */
#define EXAMINE_LEAST_STEP           0.05
#define PACK_EXAMINE_CUDA_MOST_NODES (CAROM_BVH_LEVELS * CAROM_BVH_WIDTH)

/* ---- Warps ----------------------------------------------------------------------------------- */

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

/* The obstacles near a point, as in carom_spheres_near; radii are float32. In shared memory. */
struct near_set {
    double x[CAROM_SPHERES_NEAR], y[CAROM_SPHERES_NEAR], z[CAROM_SPHERES_NEAR],
        apart[CAROM_SPHERES_NEAR];
    float radius[CAROM_SPHERES_NEAR];
};

struct pack_examine_cuda_open_node {
    float bound; /* of the squared distance */
    uint32_t node;
};
#define PACK_EXAMINE_CUDA_LEVEL_SHIFT 28u /* a node: its level and its index, below 2^28 */

struct workspace {
    near_set near[2];
    pack_examine_cuda_open_node stack[PACK_EXAMINE_CUDA_MOST_NODES];
};

/* Two leaves, or one twice: the lower and the upper half of a warp has one each. */
struct leaf_pair {
    uint32_t first, second;

    __device__ uint32_t of_lane(unsigned lane) const {
        return lane < CAROM_BVH_WIDTH ? first : second;
    }
};
static_assert(2 * CAROM_BVH_WIDTH == CAROM_WARP, "half a warp per leaf");

struct near_list {
    near_set *set;
    unsigned count;
    double least;
};

/* ---- Balls nearby ---------------------------------------------------------------------------- */

/* The lists of the cells that hold a point: lane l has that of level l. */
struct ball_lists {
    uint32_t start, count;
};

static __device__ inline ball_lists find_lists(const pack_cuda_view &v, carom_vec3 p) {
    unsigned lane = lane_of();
    ball_lists lists = {0, 0};
    if (lane < CAROM_PACK_LEVELS) {
        double cell = v.cell[lane];
        uint64_t key = level_key(lane, carom_pack_cell_of(p.x, cell), carom_pack_cell_of(p.y, cell),
                                 carom_pack_cell_of(p.z, cell));
        uint64_t at = carom_pack_key_hash(key);
        for (unsigned i = 0; i < MOST_PROBES; ++i, ++at) {
            const pack_cuda_slot *s = &v.slots[at & v.slot_mask];
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
static __device__ void search_balls(const pack_cuda_view &v, carom_vec3 p, double spread,
                                    near_list &n) {
    unsigned lane = lane_of(), before = (1u << lane) - 1u;
    ball_lists lists = find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t base = 0; base < count; base += CAROM_WARP) {
            bool some = base + lane < count;
            carom_spheres_ball b = {0.0, 0.0, 0.0, 0.0};
            double apart = HUGE_VAL;
            if (some) {
                b = v.balls[v.pool[start + chunk_order(base + lane, count)]];
                apart = carom_spheres_ball_distance(&b, p);
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
            if (taken && k < CAROM_SPHERES_NEAR) {
                n.set->x[k] = b.x;
                n.set->y[k] = b.y;
                n.set->z[k] = b.z;
                n.set->radius[k] = (float)b.radius;
                n.set->apart[k] = apart;
            }
            unsigned all = n.count + (unsigned)__popc(mask);
            n.count = CAROM_MIN(all, CAROM_SPHERES_NEAR);
            double last = from_lane(least, CAROM_WARP - 1);
            n.least = CAROM_MIN(last, n.least);
        }
    }
    __syncwarp();
}

/* carom_pack_balls_distance. */
static __device__ double ball_distance(const pack_cuda_view &v, carom_vec3 p) {
    unsigned lane = lane_of();
    double least = v.reach;
    ball_lists lists = find_lists(v, p);
    for (unsigned level = 0; level < CAROM_PACK_LEVELS; ++level) {
        uint32_t start = __shfl_sync(~0u, lists.start, (int)level);
        uint32_t count = __shfl_sync(~0u, lists.count, (int)level);
        for (uint32_t i = lane; i < count; i += CAROM_WARP) {
            double apart = carom_spheres_ball_distance(&v.balls[v.pool[start + i]], p);
            least = CAROM_MIN(apart, least);
        }
    }
    return warp_least(least);
}

/* ---- The surface nearby ---------------------------------------------------------------------- */

static __device__ inline const carom_bvh_node *pack_examine_cuda_node_at(const pack_cuda_view &v,
                                                                         uint32_t node) {
    return v.nodes + v.level_start[node >> PACK_EXAMINE_CUDA_LEVEL_SHIFT] +
           (node & ((1u << PACK_EXAMINE_CUDA_LEVEL_SHIFT) - 1));
}

static __device__ inline uint32_t pack_examine_cuda_child_of(uint32_t node, unsigned lane) {
    uint32_t level = node >> PACK_EXAMINE_CUDA_LEVEL_SHIFT,
             index = node & ((1u << PACK_EXAMINE_CUDA_LEVEL_SHIFT) - 1);
    return (level - 1) << PACK_EXAMINE_CUDA_LEVEL_SHIFT | (index * CAROM_BVH_WIDTH + lane);
}

static __device__ inline double vec_dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ inline carom_vec3 vec_along(carom_vec3 a, carom_vec3 u, double t) {
    return carom_vec(a.x + u.x * t, a.y + u.y * t, a.z + u.z * t);
}

/* The point nearest to the origin on the segment a + t u, t in [0, 1]. */
static __device__ inline carom_vec3 pack_examine_cuda_edge_foot(carom_vec3 a, carom_vec3 u,
                                                                double square) {
    double t = -vec_dot(a, u) / (square > 0.0 ? square : 1.0);
    t = t > 0.0 ? t : 0.0;
    return vec_along(a, u, t < 1.0 ? t : 1.0);
}

static __device__ inline void pack_examine_cuda_take_nearer(carom_vec3 foot, carom_vec3 *best,
                                                            double *square) {
    double s = vec_dot(foot, foot);
    if (!(s < *square)) return;
    *best = foot;
    *square = s;
}

static __device__ inline carom_vec3 pack_examine_cuda_corner_of(const carom_bvh_corners *corners,
                                                                int i, unsigned lane) {
    return carom_vec(corners->row[3 * i][lane], corners->row[3 * i + 1][lane],
                     corners->row[3 * i + 2][lane]);
}

/* carom_spheres_feet, operation by operation: the point of a lane's triangle that is nearest. */
static __device__ inline double foot_of(const carom_bvh_corners *corners, unsigned lane,
                                        const double at[3], carom_vec3 *foot_at) {
    carom_vec3 p = carom_vec(at[0], at[1], at[2]);
    carom_vec3 a = carom_vec_sub(pack_examine_cuda_corner_of(corners, 0, lane), p);
    carom_vec3 b = carom_vec_sub(pack_examine_cuda_corner_of(corners, 1, lane), p);
    carom_vec3 c = carom_vec_sub(pack_examine_cuda_corner_of(corners, 2, lane), p);
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), o = carom_vec_sub(c, b);
    double uu = vec_dot(u, u), uv = vec_dot(u, v), vv = vec_dot(v, v);
    carom_vec3 best = pack_examine_cuda_edge_foot(a, u, uu);
    double square = vec_dot(best, best);
    pack_examine_cuda_take_nearer(pack_examine_cuda_edge_foot(b, o, vec_dot(o, o)), &best, &square);
    pack_examine_cuda_take_nearer(pack_examine_cuda_edge_foot(a, v, vv), &best, &square);
    double au = -vec_dot(a, u), av = -vec_dot(a, v);
    double denominator = uu * vv - uv * uv;
    double s = vv * au - uv * av, t = uu * av - uv * au;
    if (s > 0.0 && t > 0.0 && s + t < denominator && denominator > CAROM_SPHERES_NEEDLE * (uu * vv))
        pack_examine_cuda_take_nearer(
            vec_along(vec_along(a, u, s / denominator), v, t / denominator), &best, &square);
    *foot_at = carom_vec(best.x + p.x, best.y + p.y, best.z + p.z);
    return square;
}

/* The search of spheres_mesh.c; `slot` is the index in the list of the lane's direction.
 */
struct surface {
    double at[3], spread, limit, distance;
    uint32_t triangle;
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
    s.triangle = CAROM_BVH_NONE;
    s.slot = PACK_CUDA_NO_INDEX;
    return s;
}

/* search_block of spheres_mesh.c, all triangles of one block or two at once. There they come one
 * after the other, and each may lower the limit for those after it: here a prefix minimum gives
 * that limit. (Triangles beyond it lower it no further, since apart + spread is then above it too.)
 * Of each direction the nearest foot is kept, the first of equal ones; a direction gets its index
 * in the list with the first foot that is within the limit. */
static __device__ double search_blocks(const pack_cuda_view &v, surface &s, near_list &n,
                                       leaf_pair blocks, unsigned lanes) {
    unsigned lane = lane_of(), direction = CAROM_WARP + lane;
    bool mine = (lanes >> lane & 1) != 0;
    double square = HUGE_VAL;
    carom_vec3 foot = {0.0, 0.0, 0.0};
    if (mine)
        square = foot_of(&v.corners[blocks.of_lane(lane)], lane % CAROM_BVH_WIDTH, s.at, &foot);
    if (__ballot_sync(~0u, mine && !(square > s.limit * s.limit)) == 0) return s.limit;
    double apart = sqrt(square), earlier = apart;
    for (unsigned by = 1; by < CAROM_WARP; by *= 2) {
        double other = __shfl_up_sync(~0u, earlier, by);
        if (lane >= by) earlier = CAROM_MIN(other, earlier);
    }
    earlier = __shfl_up_sync(~0u, earlier, 1);
    double within = lane == 0 ? HUGE_VAL : earlier + s.spread;
    double limit = CAROM_MIN(within, s.limit);
    bool taken = mine && !(square > limit * limit);
    unsigned mask = __ballot_sync(~0u, taken);
    if (taken)
        direction = carom_spheres_direction(foot.x - s.at[0], foot.y - s.at[1], foot.z - s.at[2]);
    double nearest = warp_least(taken ? apart : HUGE_VAL);
    if (nearest < s.distance) {
        unsigned first = (unsigned)__ffs((int)__ballot_sync(~0u, taken && apart == nearest)) - 1;
        s.distance = nearest;
        s.triangle = blocks.of_lane(first) * CAROM_BVH_WIDTH + first % CAROM_BVH_WIDTH;
        double nearer = nearest + s.spread;
        s.limit = CAROM_MIN(nearer, s.limit);
        n.least = CAROM_MIN(nearest, n.least);
    }
    unsigned alike = __match_any_sync(~0u, direction); /* lanes of the same direction */
    bool best = taken;
    for (unsigned left = mask; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__ffs((int)left) - 1;
        double other = from_lane(apart, i);
        if ((alike >> i & 1) != 0 && (other < apart || (other == apart && i < lane))) best = false;
    }
    unsigned k = __shfl_sync(~0u, s.slot, (int)(direction % CAROM_WARP));
    unsigned leader = (unsigned)__ffs((int)alike) - 1;
    unsigned fresh = __ballot_sync(~0u, taken && k == PACK_CUDA_NO_INDEX && lane == leader);
    bool is_new = taken && k == PACK_CUDA_NO_INDEX;
    if (is_new) k = n.count + (unsigned)__popc(fresh & ((1u << leader) - 1u));
    for (unsigned left = fresh; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__ffs((int)left) - 1;
        unsigned of = __shfl_sync(~0u, direction, (int)i), at = __shfl_sync(~0u, k, (int)i);
        if (lane == of && at < CAROM_SPHERES_NEAR) s.slot = at;
    }
    if (best && k < CAROM_SPHERES_NEAR && (is_new || apart < n.set->apart[k])) {
        n.set->x[k] = foot.x;
        n.set->y[k] = foot.y;
        n.set->z[k] = foot.z;
        n.set->radius[k] = 0.0f;
        n.set->apart[k] = apart;
    }
    unsigned all = n.count + (unsigned)__popc(fresh);
    n.count = CAROM_MIN(all, CAROM_SPHERES_NEAR);
    __syncwarp();
    return s.limit;
}

/* carom_bvh_nearest with floats: calls visit(blocks, lanes) in the same order, for two leaves at
 * once where the second comes right after the first. What the first tells then does not keep the
 * second from being visited, but its triangles are beyond the limit. */
template <typename VISIT>
static __device__ inline void visit_nearest(const pack_cuda_view &v,
                                            pack_examine_cuda_open_node *stack, const double at[3],
                                            double limit, VISIT visit) {
    unsigned lane = lane_of(), count = 1;
    double most = carom_nearest_square(limit);
    carom_nearest_point p =
        carom_nearest_point_make(at, CAROM_SPHERES_FRAME_SIZE * CAROM_BVH_QUERY_MARGIN);
    if (lane == 0)
        stack[0] =
            pack_examine_cuda_open_node{0.0f, (v.level_count - 1) << PACK_EXAMINE_CUDA_LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        pack_examine_cuda_open_node open = stack[--count];
        __syncwarp();
        if (carom_nearest_lower(open.bound) > most) continue;
        bool is_leaf = open.node >> PACK_EXAMINE_CUDA_LEVEL_SHIFT == 0, two = false;
        leaf_pair leaves = {open.node, open.node};
        if (is_leaf && count > 0) {
            pack_examine_cuda_open_node next = stack[count - 1];
            two = next.node >> PACK_EXAMINE_CUDA_LEVEL_SHIFT == 0 &&
                  !(carom_nearest_lower(next.bound) > most);
            if (two) leaves.second = next.node;
            if (two) --count;
        }
        float square = HUGE_VALF;
        bool within = false;
        if (two || lane < CAROM_BVH_WIDTH) {
            const carom_bvh_node *boxes = pack_examine_cuda_node_at(v, leaves.of_lane(lane));
            unsigned i = lane % CAROM_BVH_WIDTH;
            square = 0.0f;
            for (int k = 0; k < 3; ++k) {
                float below = boxes->low[k][i] - p.at[k];
                float above = p.at[k] - boxes->high[k][i];
                float apart = CAROM_MAX(below, above) - p.margin;
                apart = CAROM_MAX(apart, 0.0f);
                square += apart * apart;
            }
            within = square <= carom_nearest_float_limit(most) && square < HUGE_VALF;
        }
        unsigned mask = __ballot_sync(~0u, within);
        __syncwarp();
        if (is_leaf) { /* whose level is 0, so that nodes are indices */
            if (mask != 0) most = carom_nearest_square(visit(leaves, mask));
            continue;
        }
        unsigned rank = 0; /* the nearest is on top */
        for (unsigned left = mask; left != 0; left &= left - 1) {
            unsigned i = (unsigned)__ffs((int)left) - 1;
            float other = __shfl_sync(~0u, square, (int)i);
            rank += other > square || (other == square && i < lane) ? 1u : 0u;
        }
        CAROM_ASSERT(carom_warp_agrees(count) &&
                     count + (unsigned)__popc(mask) <= PACK_EXAMINE_CUDA_MOST_NODES);
        if (within)
            stack[count + rank] =
                pack_examine_cuda_open_node{square, pack_examine_cuda_child_of(open.node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
}

/* carom_spheres_mesh_search. */
static __device__ surface search_surface(const pack_cuda_view &v,
                                         pack_examine_cuda_open_node *stack, carom_vec3 p,
                                         uint32_t seed, double limit, double spread, near_list &n) {
    surface s = surface_begin(p, limit, spread);
    if (seed != CAROM_BVH_NONE) {
        carom_vec3 foot;
        double square =
            foot_of(&v.corners[seed / CAROM_BVH_WIDTH], seed % CAROM_BVH_WIDTH, s.at, &foot);
        double apart = sqrt(square) + spread + CAROM_SPHERES_ERROR;
        s.limit = CAROM_MIN(apart, s.limit);
    }
    visit_nearest(v, stack, s.at, s.limit, [&](leaf_pair blocks, unsigned lanes) {
        return search_blocks(v, s, n, blocks, lanes);
    });
    return s;
}

static __device__ double triangle_distance(const pack_cuda_view &v, carom_vec3 p, uint32_t block,
                                           unsigned lane) {
    carom_vec3 t[3];
    carom_closest closest;
    for (int i = 0; i < 3; ++i) t[i] = pack_examine_cuda_corner_of(&v.corners[block], i, lane);
    carom_near_point_triangle(p, t, &closest);
    return closest.distance;
}

/* The distance of carom_spheres_mesh_distance. Its searches leave out nothing that is nearer, so
 * the order does not matter. */
static __device__ double mesh_distance(const pack_cuda_view &v, pack_examine_cuda_open_node *stack,
                                       carom_vec3 p, uint32_t seed) {
    unsigned lane = lane_of();
    const double at[3] = {p.x, p.y, p.z};
    double distance = HUGE_VAL;
    if (seed != CAROM_BVH_NONE)
        distance = triangle_distance(v, p, seed / CAROM_BVH_WIDTH, seed % CAROM_BVH_WIDTH);
    visit_nearest(v, stack, at, distance, [&](leaf_pair blocks, unsigned lanes) {
        double apart = HUGE_VAL;
        if ((lanes >> lane & 1) != 0)
            apart = triangle_distance(v, p, blocks.of_lane(lane), lane % CAROM_BVH_WIDTH);
        double least = warp_least(apart);
        distance = CAROM_MIN(least, distance);
        return distance;
    });
    return distance;
}

/* carom_spheres_mesh_inside, of a balanced mesh. */
static __device__ __noinline__ bool pack_examine_cuda_is_inside(const pack_cuda_view &v,
                                                                pack_examine_cuda_open_node *stack,
                                                                carom_vec3 p) {
    unsigned lane = lane_of(), count = 1;
    carom_box ray = carom_winding_box(p);
    int winding = 0;
    bool on_face = false;
    if (lane == 0)
        stack[0] =
            pack_examine_cuda_open_node{0.0f, (v.level_count - 1) << PACK_EXAMINE_CUDA_LEVEL_SHIFT};
    __syncwarp();
    while (count > 0) {
        uint32_t node = stack[--count].node;
        __syncwarp();
        bool hit = false;
        if (lane < CAROM_BVH_WIDTH) {
            const carom_bvh_node *boxes = pack_examine_cuda_node_at(v, node);
            hit = true;
            for (int k = 0; k < 3; ++k)
                hit =
                    hit && boxes->low[k][lane] <= ray.high[k] && boxes->high[k][lane] >= ray.low[k];
        }
        unsigned mask = __ballot_sync(~0u, hit);
        if (node >> PACK_EXAMINE_CUDA_LEVEL_SHIFT == 0) {
            if (hit) {
                carom_triangle t;
                for (int i = 0; i < 3; ++i)
                    t.corner[i] = pack_examine_cuda_corner_of(
                        &v.corners[node & ((1u << PACK_EXAMINE_CUDA_LEVEL_SHIFT) - 1)], i, lane);
                winding += carom_winding_face(&t, p, &on_face);
            }
            __syncwarp();
            continue;
        }
        if (hit)
            stack[count + (unsigned)__popc(mask & ((1u << lane) - 1u))] =
                pack_examine_cuda_open_node{0.0f, pack_examine_cuda_child_of(node, lane)};
        count += (unsigned)__popc(mask);
        __syncwarp();
    }
    return !__any_sync(~0u, on_face) && __reduce_add_sync(~0u, winding) >= 1;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The constraint that is least along g; the lowest index of equal ones. Lane l has l and l + 32. */
static __device__ inline unsigned pack_examine_cuda_least_along(const carom_pack_linear l[2],
                                                                const double g[3], double *least) {
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
    unsigned i = pack_examine_cuda_least_along(l, zero, &value);
    carom_pack_bounding b = carom_pack_bounding_begin(reach, goal, n.least, linear_of(l, i));
    for (int step = 0; step < CAROM_PACK_BOUND_STEPS; ++step) {
        if (!carom_pack_bounding_value(&b)) break;
        i = pack_examine_cuda_least_along(l, b.along, &value);
        if (!carom_pack_bounding_move(&b, linear_of(l, i), value)) break;
    }
    for (int k = 0; k < 3; ++k) direction[k] = b.direction[k];
    return b.bound;
}

static __device__ inline double pack_examine_cuda_bound_of(const pack_cuda_view &v,
                                                           const near_list &n,
                                                           const double point[3], double h,
                                                           bool sharp) {
    double bound = n.least + h, direction[3];
    if (sharp && n.count > 1) bound = sharp_bound(n, point, h, v.rho, direction);
    return carom_pack_believe(v.fast, n.least, bound) + CAROM_SPHERES_ERROR;
}

/* ---- Climbing -------------------------------------------------------------------------------- */

static __device__ __noinline__ double pack_examine_cuda_look(const pack_cuda_view &v,
                                                             pack_examine_cuda_open_node *stack,
                                                             near_list &n, carom_vec3 p,
                                                             double spread, uint32_t *slot) {
    n.count = 0;
    n.least = HUGE_VAL;
    search_balls(v, p, spread, n);
    surface s = search_surface(v, stack, p, *slot, n.least + spread, spread, n);
    if (s.triangle != CAROM_BVH_NONE) *slot = s.triangle;
    return s.distance;
}

/* carom_pack_climb. */
static __device__ double pack_examine_cuda_climb(const pack_cuda_view &v, workspace &w,
                                                 carom_vec3 *point, double step, uint32_t *slot) {
    near_list here = {&w.near[0], 0, HUGE_VAL}, there = {&w.near[1], 0, HUGE_VAL};
    double to_mesh =
        pack_examine_cuda_look(v, w.stack, here, *point, CAROM_PACK_CLIMB_SPREAD * step, slot);
    for (int i = 0; i < CAROM_PACK_CLIMB_STEPS; ++i) {
        double direction[3];
        const double at[3] = {point->x, point->y, point->z};
        double mesh_limit = CAROM_PACK_SAFE_SHARE * CAROM_MIN(to_mesh, here.least);
        step = CAROM_MIN(step, mesh_limit);
        double bound = sharp_bound(here, at, step, -HUGE_VAL, direction);
        if (!(bound > here.least * (1.0 + CAROM_PACK_CLIMB_GAIN))) {
            if (step < EXAMINE_LEAST_STEP * here.least ||
                bound <= here.least * (1.0 + CAROM_PACK_CLIMB_GAIN / 8.0))
                break;
            step *= 0.5;
            continue;
        }
        carom_vec3 next = carom_pack_climb_point(at, step, direction);
        uint32_t near_slot = *slot;
        double next_to_mesh = pack_examine_cuda_look(v, w.stack, there, next,
                                                     CAROM_PACK_CLIMB_SPREAD * step, &near_slot);
        if (there.least > here.least) {
            near_list swap = here;
            here = there;
            there = swap;
            *point = next;
            *slot = near_slot;
            to_mesh = next_to_mesh;
        } else {
            step *= 0.5;
        }
    }
    return here.least;
}

/* ---- Examining ------------------------------------------------------------------------------- */

enum pack_examine_cuda_verdict : uint8_t {
    PACK_EXAMINE_UNSEEN,
    PACK_EXAMINE_CUDA_DROP,
    UNRESOLVED,
    PACK_EXAMINE_CUDA_KEEP,
    PACK_EXAMINE_CUDA_SPLIT,
    PACK_EXAMINE_CUDA_FOUND
};

/* The ball at the centre that is rounded. */
static __device__ pack_cuda_candidate pack_examine_cuda_ball_at(const pack_cuda_view &v,
                                                                workspace &w, carom_vec3 centre,
                                                                uint32_t slot) {
    carom_vec3 rounded = carom_vec(carom_spheres_round(centre.x, v.centre_unit),
                                   carom_spheres_round(centre.y, v.centre_unit),
                                   carom_spheres_round(centre.z, v.centre_unit));
    double to_mesh = mesh_distance(v, w.stack, rounded, slot);
    double radius = carom_pack_radius(to_mesh, ball_distance(v, rounded));
    return pack_cuda_candidate{rounded.x, rounded.y, rounded.z, radius};
}

static __device__ bool pack_examine_cuda_round(const pack_cuda_view &v, workspace &w,
                                               carom_vec3 centre, uint32_t slot,
                                               pack_cuda_candidate *found) {
    *found = pack_examine_cuda_ball_at(v, w, centre, slot);
    return found->radius >= v.enough &&
           pack_examine_cuda_is_inside(v, w.stack, carom_vec(found->x, found->y, found->z));
}

/* examine of pack_octree.c. All lanes have the same cell. */
static __device__ pack_examine_cuda_verdict pack_examine_cuda_examine(const pack_cuda_view &v,
                                                                      workspace &w,
                                                                      carom_pack_node *c,
                                                                      pack_cuda_candidate *found) {
    double rho = v.rho;
    carom_vec3 at = carom_pack_node_centre(c, v.low, v.unit);
    const double point[3] = {at.x, at.y, at.z};
    double half = (double)carom_pack_node_half(c) * v.unit, h = carom_pack_node_reach(half);
    double spread = h <= CAROM_PACK_SHARP_BELOW * rho ? 2.0 * h : 0.0;
    near_list n = {&w.near[0], 0, HUGE_VAL};
    search_balls(v, at, spread, n);
    if (n.least <= -h) return PACK_EXAMINE_CUDA_DROP;
    double bound = carom_pack_believe(v.fast, n.least, n.least + h) + CAROM_SPHERES_ERROR;
    if (bound > rho && n.count > 1)
        bound = pack_examine_cuda_bound_of(v, n, point, h, spread > 0.0);
    if (bound <= rho) {
        carom_pack_node_lower(c, bound);
        return PACK_EXAMINE_CUDA_KEEP;
    }
    double limit = n.least + spread, apart = (double)c->apart;
    uint32_t slot = c->slot & ~CAROM_PACK_INSIDE;
    if (slot == CAROM_PACK_NO_SLOT) slot = CAROM_BVH_NONE;
    if (apart <= limit && slot != CAROM_BVH_NONE) {
        near_list with = n;
        surface s = surface_begin(at, limit, spread);
        uint32_t block = slot / CAROM_BVH_WIDTH;
        search_blocks(v, s, with, leaf_pair{block, block}, (1u << CAROM_BVH_WIDTH) - 1);
        bound = pack_examine_cuda_bound_of(v, with, point, h, spread > 0.0);
        if (bound <= rho) {
            carom_pack_node_lower(c, bound);
            return PACK_EXAMINE_CUDA_KEEP;
        }
    }
    if (apart <= limit) {
        surface s = search_surface(v, w.stack, at, slot, limit, spread, n);
        apart = CAROM_MIN(s.distance, limit);
        if (s.triangle != CAROM_BVH_NONE) slot = s.triangle;
        bound = pack_examine_cuda_bound_of(v, n, point, h, spread > 0.0);
    }
    carom_pack_node_set_found(c, apart, slot, bound);
    if (bound <= rho) return PACK_EXAMINE_CUDA_KEEP;
    bool inside = (c->slot & CAROM_PACK_INSIDE) != 0 || pack_examine_cuda_is_inside(v, w.stack, at);
    if (!inside) {
        if (apart > h) return PACK_EXAMINE_CUDA_DROP;
        double from_surface = carom_pack_believe(v.fast, 0.0, h - (double)c->apart);
        carom_pack_node_lower(c, from_surface);
        if (from_surface <= rho) return PACK_EXAMINE_CUDA_KEEP;
    } else {
        if (apart > h) c->slot |= CAROM_PACK_INSIDE;
        if (n.least >= CAROM_PACK_CLIMB_FROM * rho) {
            carom_vec3 top = at;
            uint32_t near_slot = slot;
            double reached =
                pack_examine_cuda_climb(v, w, &top, CAROM_MIN(h, 0.5 * rho), &near_slot);
            if (reached >= v.enough && pack_examine_cuda_round(v, w, top, near_slot, found))
                return PACK_EXAMINE_CUDA_FOUND;
        }
    }
    if (half <= CAROM_PACK_FINEST_UNITS * v.centre_unit || carom_pack_node_half(c) == 1)
        return UNRESOLVED;
    return PACK_EXAMINE_CUDA_SPLIT;
}

/* What the warps of a block share. */
template <unsigned WARPS> struct block_state {
    workspace spaces[WARPS];
    carom_pack_node cells[PACK_EXAMINE_CUDA_MOST_CELLS],
        changed[PACK_EXAMINE_CUDA_MOST_CELLS]; /* the stack: before and after */
    pack_cuda_candidate found[PACK_EXAMINE_CUDA_MOST_CELLS];
    uint8_t verdicts[PACK_EXAMINE_CUDA_MOST_CELLS];
    uint32_t group, top, next, picks[WARPS], pick_count;
    bool finished;
    uint32_t chunk, first, stored;
    pack_cuda_counts left;
    unsigned visits;
};

/* Stores a cell that the group leaves, where a later round may want it. One thread. */
template <unsigned WARPS>
static __device__ void leave_cell(const pack_cuda_view &v, block_state<WARPS> &s,
                                  const carom_pack_node &c) {
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
static __device__ void pack_examine_cuda_advance(const pack_cuda_view &v, block_state<WARPS> &s,
                                                 const pack_cuda_group &g) {
    unsigned lane = lane_of();
    uint32_t top = s.top, next = s.next;
    unsigned visits = 0;
    bool finished = false;
    while (true) {
        if (top == 0) {
            uint32_t left = g.end - next, count = CAROM_MIN(left, PACK_EXAMINE_CELLS_PER_PUSH);
            if (count == 0) {
                finished = true;
                break;
            }
            if (lane < count) {
                s.cells[lane] = v.active[next + (count - 1 - lane)];
                s.verdicts[lane] = PACK_EXAMINE_UNSEEN;
            }
            top = count;
            next += count;
            __syncwarp();
        }
        uint8_t verdict = s.verdicts[top - 1];
        if (verdict == PACK_EXAMINE_UNSEEN) break;
        --top;
        ++visits;
        if (verdict == PACK_EXAMINE_CUDA_SPLIT) {
            carom_pack_node child;
            if (lane < OCTANTS) child = carom_pack_node_child(&s.changed[top], lane, v.unit);
            CAROM_ASSERT(top + OCTANTS <= PACK_EXAMINE_CUDA_MOST_CELLS);
            __syncwarp();
            if (lane < OCTANTS) {
                s.cells[top + lane] = child;
                s.verdicts[top + lane] = PACK_EXAMINE_UNSEEN;
            }
            top += OCTANTS;
        } else if (lane == 0) {
            if (verdict == UNRESOLVED)
                atomicMax(&v.n->unresolved, __float_as_uint(s.changed[top].bound));
            if (verdict == PACK_EXAMINE_CUDA_KEEP || verdict == PACK_EXAMINE_CUDA_FOUND)
                leave_cell(v, s, s.changed[top]);
        }
        __syncwarp();
        if (verdict != PACK_EXAMINE_CUDA_FOUND) continue;
        if (lane == 0) {
            for (uint32_t i = top; i > 0; --i) leave_cell(v, s, s.cells[i - 1]);
            pack_cuda_candidate c = s.found[top];
            uint32_t at = atomicAdd(&v.n->candidates, 1u);
            CAROM_ASSERT(at < v.group_count); /* one per group at most */
            v.candidates[at] = c;
            v.keys[at] = (uint64_t)~__float_as_uint((float)c.radius) << 32 | s.group;
        }
        finished = true;
        break;
    }
    unsigned count = 0;
    for (uint32_t base = 0; !finished && base < top && count < WARPS; base += CAROM_WARP) {
        bool open = base + lane < top && s.verdicts[top - 1 - base - lane] == PACK_EXAMINE_UNSEEN;
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
    examine_groups(pack_cuda_view v) {
    block_state<WARPS> &s = *(block_state<WARPS> *)carom_device_shared();
    unsigned warp = threadIdx.x / CAROM_WARP, lane = lane_of();
    carom_device_begin();
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            s.group = atomicAdd(&v.n->next_group, 1u);
            s.top = s.stored = s.visits = 0;
            s.left = pack_cuda_counts{0, 0, 0};
            s.chunk = s.first = PACK_CUDA_NO_INDEX;
            if (s.group < v.group_count) s.next = v.groups[s.group].begin;
        }
        __syncthreads();
        if (s.group >= v.group_count) break;
        pack_cuda_group g = v.groups[s.group];
        while (true) {
            if (warp == 0) pack_examine_cuda_advance(v, s, g);
            __syncthreads();
            if (s.finished) break;
            if (warp < s.pick_count) {
                uint32_t at = s.picks[warp];
                carom_pack_node cell = s.cells[at];
                pack_cuda_candidate found = {0.0, 0.0, 0.0, 0.0};
                pack_examine_cuda_verdict result =
                    pack_examine_cuda_examine(v, s.spaces[warp], &cell, &found);
                if (lane == 0) {
                    s.changed[at] = cell;
                    s.verdicts[at] = result;
                    if (result == PACK_EXAMINE_CUDA_FOUND) s.found[at] = found;
                }
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            v.outcomes[s.group] = outcome{s.first, s.stored, s.next};
            pack_cuda_counts left = s.left;
            CAROM_ASSERT(g.begin <= s.next && s.next <= g.end);
            CAROM_ASSERT(left.active + left.waiting == s.stored);
            left.active += g.end - s.next;
            left.some = left.active != 0 ? 1 : 0;
            v.cell_counts[s.group] = left;
            atomicAdd(&v.n->visits, (unsigned long long)s.visits);
        }
    }
}

template <unsigned WARPS>
static carom_status launch_examine(carom_device *device, const pack_cuda_view &v) {
    uint64_t blocks = (uint64_t)device->processors * (ALL_WARPS / WARPS);
    size_t bytes = sizeof(block_state<WARPS>);
    CAROM_DEVICE_TRY(carom_device_check(
        device,
        cudaFuncSetAttribute(examine_groups<WARPS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)bytes),
        "examining cells"));
    carom_device_launch_grid(device, examine_groups<WARPS>,
                             dim3((unsigned)CAROM_MIN((uint64_t)v.group_count, blocks)),
                             WARPS * CAROM_WARP, bytes, v);
    return CAROM_OK;
}

carom_status carom_pack_cuda_examine(carom_device *device, const pack_cuda_view &v) {
    if (v.group_count < FEW_GROUPS * (uint64_t)device->processors)
        return launch_examine<MANY_WARPS>(device, v);
    return launch_examine<FEW_WARPS>(device, v);
}

/* ---- Prototypes ------------------------------------------------------------------------------ */

/* protosphere_converge of pack_prototypes.c. */
static __device__ void pack_examine_cuda_converge(const pack_cuda_view &v, workspace &w,
                                                  carom_vec3 *at, uint32_t *slot) {
    unsigned lane = lane_of();
    near_list n = {&w.near[0], 0, HUGE_VAL};
    for (uint32_t i = 0; i < CAROM_PROTOSPHERE_STEPS; ++i) {
        (void)pack_examine_cuda_look(v, w.stack, n, *at, 0.0, slot);
        CAROM_ASSERT(n.count != 0 && n.least >= 0.0);
        double low = lane < n.count ? n.set->apart[lane] : HUGE_VAL;
        double high = lane + CAROM_WARP < n.count ? n.set->apart[lane + CAROM_WARP] : HUGE_VAL;
        double apart = warp_least(CAROM_MIN(low, high));
        unsigned first = __ballot_sync(~0u, low <= apart);
        unsigned second = __ballot_sync(~0u, high <= apart);
        unsigned k = first != 0 ? (unsigned)__ffs((int)first) - 1
                                : CAROM_WARP + (unsigned)__ffs((int)second) - 1;
        *at =
            carom_protosphere_step(*at, carom_vec(n.set->x[k], n.set->y[k], n.set->z[k]), apart, i);
        __syncwarp();
    }
}

/* Moves a point that is inside as the method says, and adds the ball there to the candidates. */
static __device__ void pack_examine_cuda_move(const pack_cuda_view &v, workspace &w, carom_vec3 at,
                                              bool as_published, uint32_t index) {
    uint32_t slot = CAROM_BVH_NONE;
    if (as_published) {
        pack_examine_cuda_converge(v, w, &at, &slot);
    } else {
        double here = mesh_distance(v, w.stack, at, slot), to_balls = ball_distance(v, at);
        here = CAROM_MIN(here, to_balls);
        (void)pack_examine_cuda_climb(v, w, &at, CAROM_PROTOTYPE_FIRST_STEP * here, &slot);
    }
    pack_cuda_candidate c = pack_examine_cuda_ball_at(v, w, at, slot);
    if (!(c.radius > CAROM_PACK_LEAST_UNITS * v.centre_unit) ||
        !pack_examine_cuda_is_inside(v, w.stack, carom_vec(c.x, c.y, c.z)) || lane_of() != 0)
        return;
    uint32_t to = atomicAdd(&v.n->candidates, 1u);
    unsigned radius = __float_as_uint((float)c.radius); /* which is a float32 */
    CAROM_ASSERT(to < CAROM_PROTOTYPE_BATCH_MOST);
    v.candidates[to] = c;
    v.keys[to] = (uint64_t)~radius << 32 | index;
    atomicMax(&v.n->largest, radius);
}

/* Finds the first guess of each prototype that is inside the solid and outside of all balls: a
 * block per prototype, each of its warps with every fourth guess. A prototype takes twenty of them
 * once most of the solid is filled, and some in each batch take all: one after the other would take
 * as long as the moves. */
static __global__ void __launch_bounds__(GUESS_WARPS *CAROM_WARP)
    find_starts(pack_cuda_view v, carom_device_prototypes prototypes) {
    __shared__ pack_examine_cuda_open_node stacks[GUESS_WARPS][PACK_EXAMINE_CUDA_MOST_NODES];
    __shared__ unsigned first;
    unsigned warp = threadIdx.x / CAROM_WARP, lane = lane_of(), next = 0;
    carom_device_begin();
    carom_random random = carom_prototype_random(prototypes.seed, prototypes.before + blockIdx.x);
    if (threadIdx.x == 0) first = CAROM_PROTOTYPE_TRIES;
    __syncthreads();
    for (unsigned i = warp; i < CAROM_PROTOTYPE_TRIES; i += GUESS_WARPS) {
        carom_vec3 at = {0.0, 0.0, 0.0};
        for (; next <= i; ++next)
            at = carom_prototype_guess(&random, prototypes.low, prototypes.high);
        unsigned found = lane == 0 ? atomicMin(&first, CAROM_PROTOTYPE_TRIES) : 0; /* reads it */
        if (__shfl_sync(~0u, found, 0) < i) break;
        if (ball_distance(v, at) <= 0.0 || !pack_examine_cuda_is_inside(v, stacks[warp], at))
            continue;
        if (lane == 0) atomicMin(&first, i);
        break;
    }
    __syncthreads();
    if (threadIdx.x == 0) v.starts[blockIdx.x] = first;
}

/* A warp per prototype, each in a block of its own: they take very different numbers of steps. */
static __global__ void __launch_bounds__(CAROM_WARP)
    climb_prototypes(pack_cuda_view v, carom_device_prototypes prototypes) {
    __shared__ workspace w;
    carom_vec3 at = {0.0, 0.0, 0.0};
    carom_device_begin();
    uint32_t start = v.starts[blockIdx.x];
    CAROM_ASSERT(start <= CAROM_PROTOTYPE_TRIES);
    if (start == CAROM_PROTOTYPE_TRIES) return;
    carom_random random = carom_prototype_random(prototypes.seed, prototypes.before + blockIdx.x);
    for (uint32_t i = 0; i <= start; ++i)
        at = carom_prototype_guess(&random, prototypes.low, prototypes.high);
    pack_examine_cuda_move(v, w, at, prototypes.as_published, (uint32_t)blockIdx.x);
}

void carom_pack_cuda_climb(carom_device *device, const pack_cuda_view &v,
                           const carom_device_prototypes &prototypes) {
    carom_device_launch(device, find_starts, prototypes.count, GUESS_WARPS * CAROM_WARP, v,
                        prototypes);
    carom_device_launch(device, climb_prototypes, prototypes.count, CAROM_WARP, v, prototypes);
}
