/* SPDX-License-Identifier: MIT */
/* balls_search_cuda.h: which spheres of two packings are near each other, in one
 * kernel; what is done with those is the kernel's.
 *
 * Each block prepares the query for itself. Its warps take 32 spheres at a time and look up their
 * cells. They share the entries of these buckets evenly, and note in floats which are near. They
 * also share these evenly: each lane decides one pair in doubles.
 *
 * What takes time is the longest chain of loads and of dependent operations in any warp, not the
 * number of either: so spheres that are near each other in space go to different blocks, and pairs
 * are shared by all warps of a block.
 *
 * Source: Weller, Frese, Zachmann 2013, 4 and 5. */
#ifndef CAROM_SRC_BALLS_BALLS_SEARCH_CUDA_H
#define CAROM_SRC_BALLS_BALLS_SEARCH_CUDA_H

#include "balls/balls_cuda.h"

#define THREADS     256u
#define BLOCK_WARPS (THREADS / CAROM_WARP)
#define MAKERS      3u    /* warps that prepare a query */
#define RUN         4u    /* consecutive spheres of a group that is spread */
#define PIECE       8u    /* entries of a bucket that are compared by as many lanes at once */
#define PIECES      1024u /* that a block compares at once; the rest of a bucket waits */
#define ROUND       4u    /* entries of each lane that are read at once: that hides latency */
#define UNSYNCED    2u    /* rounds of a block between two barriers */
#define HITS_DUE    512u  /* hits that a block decides at the latest */
#define HITS        (HITS_DUE + UNSYNCED * ROUND * THREADS)

/* Groups per warp from which those that are far from the other packing are left out at once. */
#define GROUPS_WORTH_LOOKING 4u

/* Where positions in units of a grid are cut off, which is outside of its box by far; floats hold
 * them with all bits of a cell. */
#define BALLS_FARTHEST 0x1p20

/* ---- Queries --------------------------------------------------------------------------------- */

/* What looking up the spheres of one packing in the grid of the other needs. Positions go from the
 * units of one grid to those of the other by x -> m x + b; by floats, where b has two parts, if the
 * ratio of units is at most FLOAT_RATIO. Centres are in [0, 1], so a result below 4 is then off by
 * at most 13.2 2^-24: 5.6 times the ratio for position, factors and three sums, 2 for the last sum.
 * CAROM_BALLS_SLACK, 32 of these, allows for 16.
 *
 * Of two spheres a of A and b of B, a is the query where reach_b >= reach_a ratio, rounded to
 * floats, else b does. So a looks for entries with a reach of at least reach_a ratio; b for those
 * whose reach times the ratio is more than its own. */
struct alignas(16) grid_lookup {
    float4 row[3];            /* factors, and the lower part of b */
    float4 high;              /* the upper part of b; the ratio of units, rounded up */
    float4 box_low, box_high; /* of the grid */
    double m[9], b[3];
    float to_least;   /* from a reach to the least that an entry may have, rounded down */
    float from_entry; /* to what the reach of an entry is compared with */
    float top;        /* the largest reach on level 0 of the grid */
    uint32_t fine;    /* levels that a sphere is looked up on if partners may be on level 0 */
    bool from_b, by_floats;
};
#define FLOAT_RATIO                    2.0
#define BALLS_SEARCH_CUDA_ROUNDED_DOWN (1.0f - 0x1p-20f) /* a factor: by more than some roundings */

struct alignas(16) query_block {
    grid_view grid[2];
    carom_pose pose[2];
    carom_spheres_posed_pair spare[MAKERS - 1], posed;
    grid_lookup lookup[2];
    bool bad, apart, regular;
};

/* carom_frame_make for two poses at once, operation by operation, by the halves of a warp: lane k
 * below 9 of each half returns the k-th number of the matrix. */
static __device__ inline double frame_number(const carom_pose &pose, unsigned k) {
    double q[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    double most = CAROM_MAX(CAROM_MAX(fabs(q[0]), fabs(q[1])), CAROM_MAX(fabs(q[2]), fabs(q[3])));
    int scale = 0;
    if (most > 0.0)
        scale = -carom_scale_range_add(carom_scale_range_empty(), most).high;
    else
        q[0] = 1.0;
    bool plain = scale >= -1022 && scale <= 1022;
    double power = carom_power_of_two(plain ? scale : 0);
    for (int i = 0; i < 4; ++i) q[i] = plain ? q[i] * power : carom_scale_apply(q[i], scale);
    double length = sqrt(((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3]);
    double mine = k % 4 == 0 ? q[0] : k % 4 == 1 ? q[1] : k % 4 == 2 ? q[2] : q[3];
    mine = mine / length;
    for (unsigned i = 0; i < 4; ++i)
        q[i] = __shfl_sync(~0u, mine, (int)((threadIdx.x & (CAROM_WARP / 2)) + i));
    unsigned row = k / 3, column = k % 3, low = CAROM_MIN(row, column);
    bool diagonal = row == column;
    double x = q[1], y = q[2], z = q[3];
    double a = diagonal ? (row == 0 ? y : x) : (low == 0 ? x : y);
    double b = diagonal ? (row == 2 ? y : z) : (row + column == 1 ? y : z);
    double c = row + column == 1 ? z : row + column == 2 ? y : x;
    double turn = q[0] * c;
    bool minus = k == 1 || k == 5 || k == 6;
    return diagonal ? 1.0 - 2.0 * (a * a + b * b) : 2.0 * (minus ? a * b - turn : a * b + turn);
}

/* Computes one of the 12 numbers of x -> m x + b. `units` are those of both grids in space. */
static __device__ inline void make_number(query_block *s,
                                          const carom_spheres_transform transform[2],
                                          const double units[2], int side, unsigned i) {
    const carom_balls_view &from = s->grid[side].v, &grid = s->grid[1 - side].v;
    const double *r = transform[side].frame.r, *turn = transform[1 - side].frame.r;
    grid_lookup *lookup = &s->lookup[side];
    unsigned row = i < 9 ? i / 3 : i - 9, column = i % 3;
    if (i < 9) {
        double m = (turn[row] * r[column] + turn[3 + row] * r[3 + column] +
                    turn[6 + row] * r[6 + column]) *
                   (units[1 - side] / units[side]);
        lookup->m[i] = m;
        (&lookup->row[row].x)[column] = (float)m;
    } else {
        carom_vec3 low = carom_spheres_pose_centre(
            &transform[side], carom_vec(from.low[0], from.low[1], from.low[2]));
        carom_vec3 apart = carom_vec_sub(low, transform[1 - side].frame.t);
        double b = (turn[row] * apart.x + turn[3 + row] * apart.y + turn[6 + row] * apart.z) *
                       units[1 - side] -
                   grid.low[row] * grid.unit;
        float high = (float)fmin(fmax(b, -BALLS_FARTHEST), BALLS_FARTHEST);
        lookup->b[row] = b;
        (&lookup->high.x)[row] = high;
        lookup->row[row].w = (float)(b - (double)high);
    }
}

/* The rest of s->lookup, of one side. */
static __device__ inline void make_lookup(query_block *s, const double units[2], int side) {
    const carom_balls_view &grid = s->grid[1 - side].v;
    grid_lookup *lookup = &s->lookup[side];
    double from_ratio = units[1 - side] / units[side];
    float ratio = (float)(units[1] / units[0]); /* from A to B, the same for both */
    lookup->high.w = carom_float_up(from_ratio, 0.0);
    lookup->by_floats = from_ratio <= FLOAT_RATIO;
    lookup->from_b = side != 0;
    lookup->to_least = side == 0 ? ratio : BALLS_SEARCH_CUDA_ROUNDED_DOWN / ratio;
    lookup->from_entry = side == 0 ? 1.0f : ratio;
    lookup->box_low = make_float4(grid.box_low[0], grid.box_low[1], grid.box_low[2], 0.0f);
    lookup->box_high = make_float4(grid.box_high[0], grid.box_high[1], grid.box_high[2], 0.0f);
    lookup->top = grid.top[0];
    lookup->fine = ((1u << grid.level_count) - 1u) & (~1u << grid.fine_levels | 1u);
}

/* Prepares a query; all threads of the block call it. All wait for what one lane does here, so
 * warps do different parts, each with transforms that it computes for itself. */
static __device__ void make_query(query_block *s, const query_view &m, uint64_t index) {
    const unsigned words = sizeof(grid_view) / sizeof(uint64_t);
    const unsigned numbers = sizeof(carom_pose) / sizeof(double);
    static_assert(sizeof(grid_view) % sizeof(uint64_t) == 0, "copied in words");
    for (unsigned i = threadIdx.x; i < 2 * words; i += blockDim.x)
        ((uint64_t *)s->grid)[i] =
            ((const uint64_t *)(m.grid[i / words] + blockIdx.x % REPLICAS))[i % words];
    if (threadIdx.x < 2 * numbers) {
        unsigned side = threadIdx.x / numbers;
        const carom_pose *pose = m.poses[side] != nullptr ? m.poses[side] + index : &m.pose[side];
        ((double *)s->pose)[threadIdx.x] = ((const double *)pose)[threadIdx.x % numbers];
    }
    __syncthreads();
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP;
    if (warp < MAKERS) {
        carom_spheres_posed_pair *own = warp + 1 < MAKERS ? &s->spare[warp] : &s->posed;
        unsigned side = lane / (CAROM_WARP / 2), k = lane % (CAROM_WARP / 2);
        const carom_spheres_extent *extent = &s->grid[side].v.extent;
        carom_spheres_transform *transform = &own->transform[side];
        double number = frame_number(s->pose[side], k);
        if (k < 9) transform->frame.r[k] = number;
        if (k == 9) {
            transform->frame.t = s->pose[side].t;
            carom_spheres_transform_finish(transform, extent, m.scale[side]);
        }
        __syncwarp();
        if (warp == 0) {
            const double units[2] = {s->grid[0].v.unit / own->transform[0].scale,
                                     s->grid[1].v.unit / own->transform[1].scale};
            if (k < 12)
                make_number(s, own->transform, units, (int)side, k);
            else if (k == 12)
                make_lookup(s, units, (int)side);
        } else if (lane == 0) {
            own->slack = carom_spheres_posed_pair_slack(own);
            if (warp == 1) {
                s->apart = carom_balls_apart(own, s->grid[0].v.ball, s->grid[1].v.ball);
                s->regular = carom_balls_is_regular(&s->grid[0].v, &own->transform[0], own) &&
                             carom_balls_is_regular(&s->grid[1].v, &own->transform[1], own);
            } else {
                carom_spheres_posed_pair_finish(own, &s->grid[0].v.extent, &s->grid[1].v.extent);
            }
        }
    } else if (warp == MAKERS) { /* where poses do not fit, what the others make is not used */
        unsigned side = lane % 2;
        double far;
        bool fits = carom_spheres_transform_fits(&s->grid[side].v.extent, &s->pose[side],
                                                 m.scale[side], &far);
        bool bad = __any_sync(~0u, !fits);
        if (lane == 0) s->bad = bad;
    }
    __syncthreads();
}

static __device__ inline carom_spheres_posed load_posed(const query_block &s, int side,
                                                        uint32_t rank) {
    const double2 *p = (const double2 *)&s.grid[side].v.spheres[rank];
    double2 xy = __ldg(p), zr = __ldg(p + 1), sc = __ldg(p + 2);
    return carom_spheres_pose_sphere(&s.posed.transform[side], carom_vec(xy.x, xy.y, zr.x), zr.y,
                                     sc.x, sc.y);
}

/* ---- Lookups --------------------------------------------------------------------------------- */

/* What a search looks for: pairs whose inner or secondary balls may meet, or all within reach. */
enum { NEAR_BALLS, WITHIN_REACH };

#define SIDE_B 0x80000000u

/* The ranks in A and B of two spheres that are near each other. */
typedef uint2 hit_pair;

/* What a block works on, in shared memory. A piece is a part of a bucket that a thread's sphere
 * looks up: its first entry; thread, number of entries and side. */
struct block_work {
    float4 queries[THREADS]; /* positions and radii of the query spheres */
    uint4 wanted[THREADS];   /* their ranks, the tags of their cells, what entries must reach */
    uint2 pieces[PIECES];
    hit_pair hits[HITS];
    unsigned piece_count, hit_count;
};

static __device__ inline uint2 make_piece(uint32_t first, unsigned count, int side) {
    return make_uint2(first, threadIdx.x | count << 16 | (side != 0 ? SIDE_B : 0u));
}

static __device__ inline unsigned piece_thread(uint2 piece) {
    return piece.y & 0xFFFFu;
}

static __device__ inline unsigned piece_entries(uint2 piece) {
    return piece.y >> 16 & 0xFFu;
}

/* What blocks find. SEEKER::take(hit, there) decides one hit per lane; is_done ends the search. */
struct finder {
    block_work &work;
    unsigned visits; /* of the thread */
};

/* Adds hits of each lane to those that wait, where has[i] is set; `hit` gives the i-th of a lane.
 * Returns how many wait, at least. */
template <unsigned COUNT, typename HIT>
static __device__ inline unsigned push(block_work &work, const bool has[COUNT], HIT hit) {
    unsigned lane = threadIdx.x % CAROM_WARP, mask[COUNT], sum = 0, at = 0;
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        mask[i] = __ballot_sync(~0u, has[i]);
        sum += __popc(mask[i]);
    }
    if (sum == 0) return 0;
    if (lane == 0) at = atomicAdd(&work.hit_count, sum);
    at = __shfl_sync(~0u, at, 0);
    unsigned after = at + sum;
    CAROM_ASSERT(after <= HITS);
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        if (has[i]) work.hits[at + __popc(mask[i] & ((1u << lane) - 1u))] = hit(i);
        at += __popc(mask[i]);
    }
    return after;
}

/* Decides all hits, shared by the warps of the block, which all call this after a barrier. */
template <typename SEEKER> static __device__ inline void decide(SEEKER &seeker) {
    unsigned total = seeker.work.hit_count, lane = threadIdx.x % CAROM_WARP;
    if (threadIdx.x == 0) seeker.count_candidates(total);
    for (unsigned begin = threadIdx.x - lane; begin < total; begin += THREADS) {
        bool there = begin + lane < total;
        seeker.take(seeker.work.hits[there ? begin + lane : begin], there);
    }
}

template <typename SEEKER> static __device__ inline void drain(SEEKER &seeker) {
    decide(seeker);
    __syncthreads();
    if (threadIdx.x == 0) seeker.work.hit_count = 0;
    __syncthreads();
}

/* Compares spheres with the pieces of buckets that they look up, each by PIECE lanes, shared by the
 * warps of the block, which all call this after a barrier. Hits are near in floats, of the cell
 * that was looked up, and large enough. */
template <typename SEEKER>
static __device__ inline void scan(const query_block &s, SEEKER &seeker) {
    const unsigned at_once = THREADS / PIECE;
    block_work &work = seeker.work;
    unsigned count = CAROM_MIN(work.piece_count, PIECES), slot = threadIdx.x / PIECE,
             in_piece = threadIdx.x % PIECE, waiting = 0, turns = 0;
    for (unsigned begin = 0; begin < count; begin += ROUND * at_once) {
        float4 e[ROUND];
        uint2 piece[ROUND];
        bool has[ROUND];
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            unsigned at = begin + i * at_once + slot;
            piece[i] = work.pieces[at < count ? at : begin];
            has[i] = at < count && in_piece < piece_entries(piece[i]);
            CAROM_ASSERT(piece_thread(piece[i]) < THREADS && piece_entries(piece[i]) <= PIECE);
            if (has[i]) piece[i].x += in_piece;
            const grid_view &grid = s.grid[(piece[i].y & SIDE_B) != 0 ? 0 : 1];
            e[i] = __ldg(&grid.entries[piece[i].x]);
            if (SEEKER::WHAT == WITHIN_REACH)
                e[i].w = __uint_as_float(__ldg(&grid.links[piece[i].x].z));
        }
        uint4 link[ROUND];
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            float4 q = work.queries[piece_thread(piece[i])];
            float dx = e[i].x - q.x, dy = e[i].y - q.y, dz = e[i].z - q.z, sum = e[i].w + q.w;
            float squared = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
            has[i] = has[i] && squared <= sum * sum;
            const grid_view &grid = s.grid[(piece[i].y & SIDE_B) != 0 ? 0 : 1];
            link[i] = make_uint4(0u, 0u, 0u, 0u);
            if (has[i]) link[i] = __ldg(&grid.links[piece[i].x]);
        }
        uint32_t query_rank[ROUND];
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            uint4 wanted = work.wanted[piece_thread(piece[i])];
            query_rank[i] = wanted.x;
            float reach = __uint_as_float(link[i].z) *
                          s.lookup[(piece[i].y & SIDE_B) != 0 ? 1 : 0].from_entry;
            has[i] = has[i] && link[i].y == wanted.y && reach >= __uint_as_float(wanted.z);
        }
        unsigned after = push<ROUND>(work, has, [&](unsigned i) {
            bool from_b = (piece[i].y & SIDE_B) != 0;
            return from_b ? make_uint2(link[i].x, query_rank[i])
                          : make_uint2(query_rank[i], link[i].x);
        });
        waiting = CAROM_MAX(waiting, after);
        if (++turns % UNSYNCED != 0 && begin + ROUND * at_once < count) continue;
        bool full = __syncthreads_or(waiting > HITS_DUE) != 0;
        if (threadIdx.x == 0) work.piece_count = 0;
        if (full) drain(seeker);
        waiting = 0;
    }
}

/* A position in units of the other packing's grid. */
static __device__ inline float3 to_grid(const grid_lookup &lookup, float4 c) {
    float4 high = lookup.high, x = lookup.row[0], y = lookup.row[1], z = lookup.row[2];
    return make_float3(fmaf(x.x, c.x, fmaf(x.y, c.y, fmaf(x.z, c.z, x.w))) + high.x,
                       fmaf(y.x, c.x, fmaf(y.y, c.y, fmaf(y.z, c.z, y.w))) + high.y,
                       fmaf(z.x, c.x, fmaf(z.y, c.y, fmaf(z.z, c.z, z.w))) + high.z);
}

/* The same by doubles. */
static __device__ __noinline__ float3 to_grid_precisely(const grid_lookup &lookup, carom_vec3 c) {
    float p[3];
    for (int k = 0; k < 3; ++k) {
        const double *m = &lookup.m[3 * k];
        double at = fma(m[0], c.x, fma(m[1], c.y, fma(m[2], c.z, lookup.b[k])));
        p[k] = (float)fmin(fmax(at, -BALLS_FARTHEST), BALLS_FARTHEST);
    }
    return make_float3(p[0], p[1], p[2]);
}

/* The spheres of both packings, in groups of 32: those of A, then those of B. */
struct groups {
    uint32_t of_a, all; /* of at most 2^31 spheres each */

    __device__ explicit groups(const query_block &s)
        : of_a((uint32_t)balls_cuda_words_for(s.grid[0].v.count)),
          all(of_a + (uint32_t)balls_cuda_words_for(s.grid[1].v.count)) {
    }
    __device__ int side(uint32_t group) const {
        return group < of_a ? 0 : 1;
    }
    /* The number of a group in its packing. */
    __device__ uint32_t number(uint32_t group) const {
        return group < of_a ? group : group - of_a;
    }
    /* The sphere of this lane. Spread: a group is eight runs of four spheres each, which lie far
     * apart, so that blocks have equal shares of the region where the packings overlap. */
    __device__ uint32_t rank(uint32_t group, bool spread) const {
        uint32_t lane = threadIdx.x % CAROM_WARP, at = number(group);
        if (!spread) return at * CAROM_WARP + lane;
        return (lane / RUN * (group < of_a ? of_a : all - of_a) + at) * RUN + lane % RUN;
    }
};

/* Whether a group may have centres in the box of the other grid. */
static __device__ inline bool is_group_near(const query_block &s, const groups &g, uint32_t group) {
    int side = g.side(group);
    const grid_lookup &lookup = s.lookup[side];
    float4 ball = __ldg(&s.grid[side].groups[g.number(group)]);
    float reach = (ball.w + CAROM_BALLS_SLACK) * lookup.high.w + 2.0f * CAROM_BALLS_SLACK;
    float3 p =
        lookup.by_floats
            ? to_grid(lookup, ball)
            : to_grid_precisely(lookup, carom_vec((double)ball.x, (double)ball.y, (double)ball.z));
    return p.x + reach >= lookup.box_low.x && p.x - reach <= lookup.box_high.x &&
           p.y + reach >= lookup.box_low.y && p.y - reach <= lookup.box_high.y &&
           p.z + reach >= lookup.box_low.z && p.z - reach <= lookup.box_high.z;
}

/* The sum over the lower lanes of a warp, and over all of them. */
static __device__ inline unsigned sum_below(unsigned n, unsigned *total) {
    unsigned lane = threadIdx.x % CAROM_WARP, sum = n;
    for (unsigned step = 1; step < CAROM_WARP; step *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    *total = __shfl_sync(~0u, sum, CAROM_WARP - 1u);
    CAROM_ASSERT(*total == __reduce_add_sync(~0u, n)); /* no lane is left out */
    return sum - n;
}

/* The sphere that a thread looks up in the grid of the other packing. */
struct lookup_thread {
    uint32_t levels; /* that are left to look up, a bit each */
    int side;
    uint2 span; /* entries of the bucket that is left to compare with */

    __device__ bool is_done() const {
        return span.x >= span.y && levels == 0;
    }
};

/* The levels that a sphere is looked up on: those that may have partners, but for those whose
 * spheres it finds on level 0. */
static __device__ inline uint32_t levels_for(const carom_balls_view &grid, float least) {
    uint32_t levels = 0;
    for (uint32_t level = 1; level < grid.level_count; ++level)
        if (least <= grid.top[level]) levels |= 1u << level;
    return levels;
}

/* Gives a thread a sphere to look up; `rank` may be none of the packing. */
template <typename SEEKER>
static __device__ inline void begin_lookup(const query_block &s, int side, uint32_t rank,
                                           SEEKER &seeker, lookup_thread *t) {
    const grid_view &from = s.grid[side];
    const grid_lookup &lookup = s.lookup[side];
    bool inside = rank < from.v.count;
    float4 sphere = __ldg(&from.query_spheres[inside ? rank : 0]);
    float near =
        SEEKER::WHAT == WITHIN_REACH ? sphere.w : __ldg(&from.near_radii[inside ? rank : 0]);
    float3 p;
    if (lookup.by_floats) {
        p = to_grid(lookup, sphere);
    } else {
        carom_vec3 c = from.v.spheres[inside ? rank : 0].centre;
        p = to_grid_precisely(lookup, carom_vec((c.x - from.v.low[0]) * from.v.unit,
                                                (c.y - from.v.low[1]) * from.v.unit,
                                                (c.z - from.v.low[2]) * from.v.unit));
    }
    float4 low = lookup.box_low, high = lookup.box_high;
    inside = inside && p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y &&
             p.z >= low.z && p.z <= high.z;
    t->levels = 0;
    t->side = side;
    if (!inside) return;
    float least = sphere.w * lookup.to_least;
    float wanted = lookup.from_b ? -carom_float_below(-sphere.w) : least;
    t->levels = least <= lookup.top ? lookup.fine : levels_for(s.grid[1 - side].v, least);
    seeker.work.queries[threadIdx.x] =
        make_float4(p.x, p.y, p.z, __fmul_ru(near, lookup.high.w) + CAROM_BALLS_SLACK);
    seeker.work.wanted[threadIdx.x] = make_uint4(rank, 0u, __float_as_uint(wanted), 0u);
}

/* Looks up the next cell of a thread's sphere. */
template <typename SEEKER>
static __device__ inline void look_up(const query_block &s, SEEKER &seeker, lookup_thread *t) {
    if (t->levels == 0) return;
    const carom_balls_view &grid = s.grid[1 - t->side].v;
    uint32_t level = (uint32_t)__ffs((int)t->levels) - 1u;
    float4 p = seeker.work.queries[threadIdx.x];
    uint32_t x = carom_balls_cell(&grid, level, 0, p.x), y = carom_balls_cell(&grid, level, 1, p.y),
             z = carom_balls_cell(&grid, level, 2, p.z);
    uint32_t bucket = carom_grid_bucket(&grid.table, x, y, z, level);
    CAROM_ASSERT(bucket < grid.table.bucket_count);
    t->span = make_uint2(__ldg(&grid.starts[bucket]), __ldg(&grid.starts[bucket + 1]));
    CAROM_ASSERT(t->span.x <= t->span.y);
    t->levels &= t->levels - 1u;
    seeker.work.wanted[threadIdx.x].y = tag_of(x, y, z, level);
    ++seeker.visits;
}

/* Adds pieces of a thread's bucket to those that the block compares. */
static __device__ inline void push_pieces(block_work &work, lookup_thread *t) {
    unsigned mine = (t->span.y - t->span.x + PIECE - 1u) / PIECE, total, base = 0;
    mine = CAROM_MIN(mine, PIECES);
    unsigned at = sum_below(mine, &total);
    if (total == 0) return;
    if (threadIdx.x % CAROM_WARP == 0) base = atomicAdd(&work.piece_count, total);
    at += __shfl_sync(~0u, base, 0);
    unsigned end = CAROM_MIN(at + mine, PIECES);
    for (; at < end; ++at) {
        unsigned some = CAROM_MIN(t->span.y - t->span.x, PIECE);
        work.pieces[at] = make_piece(t->span.x, some, t->side);
        t->span.x += some;
    }
}

/* Where floats cannot tell: 32 spheres of A per warp, those near B, are compared with all of B. */
template <typename SEEKER>
static __device__ inline void compare_all(const query_block &s, uint32_t group, SEEKER &seeker) {
    uint32_t rank = group * CAROM_WARP + threadIdx.x % CAROM_WARP;
    const carom_balls_view &of_a = s.grid[0].v, &of_b = s.grid[1].v;
    bool is_near = rank < of_a.count;
    unsigned waiting = 0;
    carom_spheres_posed a = {};
    if (is_near) {
        a = load_posed(s, 0, rank);
        carom_ball ball = {of_a.spheres[rank].centre,
                           (double)s.grid[0].query_spheres[rank].w / of_a.unit};
        is_near = !carom_balls_apart(&s.posed, ball, of_b.ball);
    }
    if (!__syncthreads_or(is_near)) return;
    for (uint32_t other = 0; other < of_b.count; ++other) {
        carom_spheres_posed b = load_posed(s, 1, other);
        carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
        double squared = carom_vec_dot(apart, apart), secondary = a.secondary + b.secondary,
               inner = a.radius + b.radius;
        bool close = squared < secondary * secondary || squared < inner * inner;
        bool has[1] = {is_near && (close || (SEEKER::WHAT == WITHIN_REACH &&
                                             carom_spheres_covers_meet(&a, &b)))};
        unsigned after =
            push<1>(seeker.work, has, [&](unsigned) { return make_uint2(rank, other); });
        waiting = CAROM_MAX(waiting, after);
        if (other % ROUND != ROUND - 1u && other + 1u != of_b.count) continue;
        if (__syncthreads_or(waiting > HITS_DUE)) drain(seeker);
        waiting = 0;
    }
}

/* The groups of a warp that may be near the other packing. They lie far apart, so that all warps
 * have some of the region where the packings overlap. With many of them, those outside of the
 * other's box are left out, 32 at once. */
struct group_list {
    uint32_t next, stride, end; /* of the 32 that come next */
    unsigned mask;              /* of the 32 before these, what is left */

    __device__ group_list(uint32_t begin, uint32_t step, uint32_t limit)
        : next(begin), stride(step), end(limit), mask(0) {
    }

    __device__ bool are_many() const {
        return end > GROUPS_WORTH_LOOKING * stride;
    }

    /* Makes the mask not empty; false when all groups are done. The whole warp calls it. */
    __device__ bool fill(const query_block &s, const groups &g) {
        while (mask == 0 && next < end) {
            uint32_t mine = next + threadIdx.x % CAROM_WARP * stride;
            mask = __ballot_sync(~0u, mine < end && (!are_many() || is_group_near(s, g, mine)));
            next += CAROM_WARP * stride;
        }
        return mask != 0;
    }

    __device__ uint32_t take() {
        uint32_t group = next - (CAROM_WARP + 1u - (unsigned)__ffs((int)mask)) * stride;
        mask &= mask - 1u;
        return group;
    }
};

/* Looks up all spheres of part `part` of `parts`; then the hits that are left are decided. All
 * warps of a block go in rounds: each looks up cells for 32 spheres, and the block compares the
 * pieces of these buckets. */
template <typename SEEKER>
static __device__ inline void look_up_all(const query_block &s, uint32_t part, uint32_t parts,
                                          SEEKER &seeker) {
    const groups g(s);
    uint32_t stride = parts * BLOCK_WARPS, begin = threadIdx.x / CAROM_WARP * parts + part;
    bool more = !s.bad && !s.apart;
    if (more && !s.regular) {
        for (uint32_t round = 0; round + part < g.of_a; round += stride)
            compare_all(s, round + begin, seeker);
        __syncthreads();
        more = false;
    }
    group_list list(begin, stride, g.all);
    lookup_thread t = {};
    while (more) {
        if (__all_sync(~0u, t.is_done()) && list.fill(s, g)) {
            uint32_t group = list.take();
            begin_lookup(s, g.side(group), g.rank(group, !list.are_many()), seeker, &t);
        }
        if (t.span.x >= t.span.y) look_up(s, seeker, &t);
        push_pieces(seeker.work, &t);
        __syncthreads();
        scan(s, seeker);
        bool left = !t.is_done() || list.mask != 0 || list.next < list.end;
        more = __syncthreads_or(left && !seeker.is_done()) != 0;
    }
    decide(seeker); /* after the barrier above */
}

#endif
