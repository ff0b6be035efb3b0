/* SPDX-License-Identifier: MIT */
/* Balls on the GPU: the grids of balls_build_cuda.cu, asked in one kernel.
 *
 * Each block prepares the meeting for itself. Its warps take 32 spheres at a time and look up their
 * cells. They share the entries of these buckets evenly, and note in floats which are near. They
 * also share these evenly: each lane decides one pair in doubles. Its terms, in the fixed point of
 * pack_item.h, are added up over the warp by shuffles. Integers do not depend on the order in which
 * they are added, so the result has the bits of the CPU. Sums of warps are added up by block and
 * grid; the block that is done last writes the result and leaves all sums 0 for the next query.
 *
 * What takes time is the longest chain of loads and of dependent operations in any warp, not the
 * number of either: so spheres that are near each other in space go to different blocks, and pairs
 * are shared by all warps of a block.
 *
 * Source: Weller, Frese, Zachmann 2013, 4 and 5. */
#include <cub/device/device_radix_sort.cuh>
#include <new>

#include "balls/balls_cuda.h"

#define THREADS   256u
#define BLOCKS    4u /* per multiprocessor: a warp for each 32 of 2 * 67,000 spheres */
#define WARPS     (THREADS / CAROM_WARP)
#define MAKERS    3u    /* warps that prepare a meeting */
#define RUN       4u    /* consecutive spheres of a group that is spread */
#define PIECE     8u    /* entries of a bucket that are compared by as many lanes at once */
#define PIECES    1024u /* that a block compares at once; the rest of a bucket waits */
#define ROUND     4u    /* entries of each lane that are read at once: that hides latency */
#define UNSYNCED  2u    /* rounds of a block between two barriers */
#define FULL      512u  /* hits that a block decides at the latest */
#define HITS      (FULL + UNSYNCED * ROUND * THREADS)
#define VALUES    32u  /* sums of 64 bits: two parts of 15 terms, two counts */
#define TERMS     13u  /* of the estimate; two more of the inner balls */
#define MOST_TURN 128u /* pairs per lane: 32 times these fit into 64 bits (2^13) */

/* Counters of a query: */
enum { N_BAD, N_VISITS, N_CANDIDATES, N_UNDECIDED, N_FOUND };

/* ---- Meetings -------------------------------------------------------------------------------- */

/* A meeting as kernels read it. */
struct meeting_view {
    const grid_view *grid[2];
    carom_pose pose[2];
    const carom_pose *poses[2]; /* NULL: `pose` */
    double scale[2];
    uint64_t flags; /* the first of its words */
};

/* What the spheres of one packing need to ask the grid of the other. Positions go from the units of
 * one grid to those of the other by x -> m x + b; by floats, where b has two parts, if the ratio of
 * units is at most FLOAT_RATIO. Centres are in [0, 1], so a result below 4 is then off by at most
 * 13.2 2^-24: 5.6 times the ratio for position, factors and three sums, 2 for the last sum.
 * CAROM_BALLS_SLACK, 32 of these, allows for 16.
 *
 * Of two spheres a of A and b of B, a asks where reach_b >= reach_a ratio, rounded to floats, else
 * b does. So a looks for entries with a reach of at least reach_a ratio; b for those whose reach
 * times the ratio is more than its own. */
struct alignas(16) asking {
    float4 row[3];            /* factors, and the lower part of b */
    float4 high;              /* the upper part of b; the ratio of units, rounded up */
    float4 box_low, box_high; /* of the grid that is asked */
    double m[9], b[3];
    float to_least;   /* from a reach to the least that an entry may have, rounded down */
    float from_entry; /* to what the reach of an entry is compared with */
    float top;        /* the largest reach on level 0 of the grid that is asked */
    uint32_t fine;    /* levels that a sphere asks on if partners may be on level 0 */
    bool b_asks, by_floats;
};
#define FLOAT_RATIO 2.0
#define BELOW       (1.0f - 0x1p-20f) /* more than some roundings */

struct alignas(16) meeting_block {
    grid_view grid[2];
    carom_pose pose[2];
    carom_pack_meeting spare[MAKERS - 1], meeting;
    asking ask[2];
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
static __device__ inline void make_number(meeting_block *s, const carom_pack_place place[2],
                                          const double units[2], int side, unsigned i) {
    const carom_balls_view &from = s->grid[side].v, &grid = s->grid[1 - side].v;
    const double *r = place[side].frame.r, *turn = place[1 - side].frame.r;
    asking *ask = &s->ask[side];
    unsigned row = i < 9 ? i / 3 : i - 9, column = i % 3;
    if (i < 9) {
        double m = (turn[row] * r[column] + turn[3 + row] * r[3 + column] +
                    turn[6 + row] * r[6 + column]) *
                   (units[1 - side] / units[side]);
        ask->m[i] = m;
        (&ask->row[row].x)[column] = (float)m;
    } else {
        carom_vec3 low =
            carom_pack_pose_centre(&place[side], carom_vec(from.low[0], from.low[1], from.low[2]));
        carom_vec3 apart = carom_vec_sub(low, place[1 - side].frame.t);
        double b = (turn[row] * apart.x + turn[3 + row] * apart.y + turn[6 + row] * apart.z) *
                       units[1 - side] -
                   grid.low[row] * grid.unit;
        float high = (float)fmin(fmax(b, -0x1p20), 0x1p20);
        ask->b[row] = b;
        (&ask->high.x)[row] = high;
        ask->row[row].w = (float)(b - (double)high);
    }
}

/* The rest of s->ask, of one side. */
static __device__ inline void make_asking(meeting_block *s, const double units[2], int side) {
    const carom_balls_view &grid = s->grid[1 - side].v;
    asking *ask = &s->ask[side];
    double from_ratio = units[1 - side] / units[side];
    float ratio = (float)(units[1] / units[0]); /* from A to B, the same for both */
    ask->high.w = carom_float_up(from_ratio, 0.0);
    ask->by_floats = from_ratio <= FLOAT_RATIO;
    ask->b_asks = side != 0;
    ask->to_least = side == 0 ? ratio : BELOW / ratio;
    ask->from_entry = side == 0 ? 1.0f : ratio;
    ask->box_low = make_float4(grid.box_low[0], grid.box_low[1], grid.box_low[2], 0.0f);
    ask->box_high = make_float4(grid.box_high[0], grid.box_high[1], grid.box_high[2], 0.0f);
    ask->top = grid.top[0];
    ask->fine = ((1u << grid.level_count) - 1u) & (~1u << grid.fine_levels | 1u);
}

/* Prepares a meeting; all threads of the block call it. All wait for what one lane does here, so
 * warps do different parts, each with places that it computes for itself. */
static __device__ void make_meeting(meeting_block *s, const meeting_view &m, uint64_t index) {
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
        carom_pack_meeting *own = warp + 1 < MAKERS ? &s->spare[warp] : &s->meeting;
        unsigned side = lane / (CAROM_WARP / 2), k = lane % (CAROM_WARP / 2);
        const carom_pack_extent *extent = &s->grid[side].v.extent;
        carom_pack_place *place = &own->place[side];
        double number = frame_number(s->pose[side], k);
        if (k < 9) place->frame.r[k] = number;
        if (k == 9) {
            place->frame.t = s->pose[side].t;
            carom_pack_place_finish(place, extent, m.scale[side]);
        }
        __syncwarp();
        if (warp == 0) {
            const double units[2] = {s->grid[0].v.unit / own->place[0].scale,
                                     s->grid[1].v.unit / own->place[1].scale};
            if (k < 12)
                make_number(s, own->place, units, (int)side, k);
            else if (k == 12)
                make_asking(s, units, (int)side);
        } else if (lane == 0) {
            own->slack = carom_pack_meeting_slack(own);
            if (warp == 1) {
                s->apart = carom_balls_apart(own, s->grid[0].v.ball, s->grid[1].v.ball);
                s->regular = carom_balls_is_regular(&s->grid[0].v, &own->place[0], own) &&
                             carom_balls_is_regular(&s->grid[1].v, &own->place[1], own);
            } else {
                carom_pack_meeting_finish(own, &s->grid[0].v.extent, &s->grid[1].v.extent);
            }
        }
    } else if (warp == MAKERS) { /* where poses do not fit, what the others make is not used */
        unsigned side = lane % 2;
        double far;
        bool fits =
            carom_pack_place_fits(&s->grid[side].v.extent, &s->pose[side], m.scale[side], &far);
        bool bad = __any_sync(~0u, !fits);
        if (lane == 0) s->bad = bad;
    }
    __syncthreads();
}

static __device__ inline carom_pack_posed load_posed(const meeting_block &s, int side,
                                                     uint32_t rank) {
    const double2 *p = (const double2 *)&s.grid[side].v.spheres[rank];
    double2 xy = __ldg(p), zr = __ldg(p + 1), sc = __ldg(p + 2);
    return carom_pack_pose_sphere(&s.meeting.place[side], carom_vec(xy.x, xy.y, zr.x), zr.y, sc.x,
                                  sc.y);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* What a search looks for: pairs whose inner or secondary balls may meet, or all within reach. */
enum { NEAR, WIDE };

#define SIDE_B 0x80000000u

/* The ranks in A and B of two spheres that are near each other. */
typedef uint2 hit_pair;

/* What a block works on, in shared memory. A piece is a part of a bucket that a thread's sphere
 * asks for: its first entry; thread, number of entries and side. */
struct block_work {
    float4 queries[THREADS]; /* positions and radii of the spheres that ask */
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

/* Compares spheres with the pieces of buckets that they ask for, each by PIECE lanes, shared by the
 * warps of the block, which all call this after a barrier. Hits are near in floats, of the cell
 * that was asked for, and large enough. */
template <typename SEEKER>
static __device__ inline void scan(const meeting_block &s, SEEKER &seeker) {
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
            if (has[i]) piece[i].x += in_piece;
            const grid_view &grid = s.grid[(piece[i].y & SIDE_B) != 0 ? 0 : 1];
            e[i] = __ldg(&grid.entries[piece[i].x]);
            if (SEEKER::WHAT == WIDE) e[i].w = __uint_as_float(__ldg(&grid.links[piece[i].x].z));
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
        uint32_t asker[ROUND];
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            uint4 wanted = work.wanted[piece_thread(piece[i])];
            asker[i] = wanted.x;
            float reach =
                __uint_as_float(link[i].z) * s.ask[(piece[i].y & SIDE_B) != 0 ? 1 : 0].from_entry;
            has[i] = has[i] && link[i].y == wanted.y && reach >= __uint_as_float(wanted.z);
        }
        unsigned after = push<ROUND>(work, has, [&](unsigned i) {
            bool b_asks = (piece[i].y & SIDE_B) != 0;
            return b_asks ? make_uint2(link[i].x, asker[i]) : make_uint2(asker[i], link[i].x);
        });
        waiting = CAROM_MAX(waiting, after);
        if (++turns % UNSYNCED != 0 && begin + ROUND * at_once < count) continue;
        bool full = __syncthreads_or(waiting > FULL) != 0;
        if (threadIdx.x == 0) work.piece_count = 0;
        if (full) drain(seeker);
        waiting = 0;
    }
}

/* A position in units of the grid that is asked. */
static __device__ inline float3 to_grid(const asking &ask, float4 c) {
    float4 high = ask.high, x = ask.row[0], y = ask.row[1], z = ask.row[2];
    return make_float3(fmaf(x.x, c.x, fmaf(x.y, c.y, fmaf(x.z, c.z, x.w))) + high.x,
                       fmaf(y.x, c.x, fmaf(y.y, c.y, fmaf(y.z, c.z, y.w))) + high.y,
                       fmaf(z.x, c.x, fmaf(z.y, c.y, fmaf(z.z, c.z, z.w))) + high.z);
}

/* The same by doubles. */
static __device__ __noinline__ float3 to_grid_precisely(const asking &ask, carom_vec3 c) {
    float p[3];
    for (int k = 0; k < 3; ++k) {
        const double *m = &ask.m[3 * k];
        double at = fma(m[0], c.x, fma(m[1], c.y, fma(m[2], c.z, ask.b[k])));
        p[k] = (float)fmin(fmax(at, -0x1p20), 0x1p20);
    }
    return make_float3(p[0], p[1], p[2]);
}

/* The spheres of both packings, in groups of 32: those of A, then those of B. */
struct groups {
    uint32_t of_a, all; /* of at most 2^31 spheres each */

    __device__ explicit groups(const meeting_block &s)
        : of_a((uint32_t)words_for(s.grid[0].v.count)),
          all(of_a + (uint32_t)words_for(s.grid[1].v.count)) {
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
static __device__ inline bool is_group_near(const meeting_block &s, const groups &g,
                                            uint32_t group) {
    int side = g.side(group);
    const asking &ask = s.ask[side];
    float4 ball = __ldg(&s.grid[side].groups[g.number(group)]);
    float reach = (ball.w + CAROM_BALLS_SLACK) * ask.high.w + 2.0f * CAROM_BALLS_SLACK;
    float3 p =
        ask.by_floats
            ? to_grid(ask, ball)
            : to_grid_precisely(ask, carom_vec((double)ball.x, (double)ball.y, (double)ball.z));
    return p.x + reach >= ask.box_low.x && p.x - reach <= ask.box_high.x &&
           p.y + reach >= ask.box_low.y && p.y - reach <= ask.box_high.y &&
           p.z + reach >= ask.box_low.z && p.z - reach <= ask.box_high.z;
}

/* The sum over the lower lanes of a warp, and over all of them. */
static __device__ inline unsigned sum_below(unsigned n, unsigned *total) {
    unsigned lane = threadIdx.x % CAROM_WARP, sum = n;
    for (unsigned step = 1; step < CAROM_WARP; step *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    *total = __shfl_sync(~0u, sum, CAROM_WARP - 1u);
    return sum - n;
}

/* The sphere with which a thread asks the grid of the other packing. */
struct asking_thread {
    uint32_t levels; /* that are left to ask on, a bit each */
    int side;
    uint2 span; /* entries of the bucket that is left to compare with */

    __device__ bool is_done() const {
        return span.x >= span.y && levels == 0;
    }
};

/* The levels that a sphere asks on: those that may have partners, but for those whose spheres it
 * finds on level 0. */
static __device__ inline uint32_t levels_for(const carom_balls_view &grid, float least) {
    uint32_t levels = 0;
    for (uint32_t level = 1; level < grid.level_count; ++level)
        if (least <= grid.top[level]) levels |= 1u << level;
    return levels;
}

/* Makes a thread ask with a sphere; `rank` may be none of the packing. */
template <typename SEEKER>
static __device__ inline void begin_asking(const meeting_block &s, int side, uint32_t rank,
                                           SEEKER &seeker, asking_thread *t) {
    const grid_view &from = s.grid[side];
    const asking &ask = s.ask[side];
    bool inside = rank < from.v.count;
    float4 sphere = __ldg(&from.askers[inside ? rank : 0]);
    float near = SEEKER::WHAT == WIDE ? sphere.w : __ldg(&from.near_radii[inside ? rank : 0]);
    float3 p;
    if (ask.by_floats) {
        p = to_grid(ask, sphere);
    } else {
        carom_vec3 c = from.v.spheres[inside ? rank : 0].centre;
        p = to_grid_precisely(ask, carom_vec((c.x - from.v.low[0]) * from.v.unit,
                                             (c.y - from.v.low[1]) * from.v.unit,
                                             (c.z - from.v.low[2]) * from.v.unit));
    }
    float4 low = ask.box_low, high = ask.box_high;
    inside = inside && p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y &&
             p.z >= low.z && p.z <= high.z;
    t->levels = 0;
    t->side = side;
    if (!inside) return;
    float least = sphere.w * ask.to_least;
    float wanted = ask.b_asks ? -carom_float_below(-sphere.w) : least;
    t->levels = least <= ask.top ? ask.fine : levels_for(s.grid[1 - side].v, least);
    seeker.work.queries[threadIdx.x] =
        make_float4(p.x, p.y, p.z, __fmul_ru(near, ask.high.w) + CAROM_BALLS_SLACK);
    seeker.work.wanted[threadIdx.x] = make_uint4(rank, 0u, __float_as_uint(wanted), 0u);
}

/* Looks up the next cell that a thread asks for. */
template <typename SEEKER>
static __device__ inline void look_up(const meeting_block &s, SEEKER &seeker, asking_thread *t) {
    if (t->levels == 0) return;
    const carom_balls_view &grid = s.grid[1 - t->side].v;
    uint32_t level = (uint32_t)__ffs((int)t->levels) - 1u;
    float4 p = seeker.work.queries[threadIdx.x];
    uint32_t x = carom_balls_cell(&grid, level, 0, p.x), y = carom_balls_cell(&grid, level, 1, p.y),
             z = carom_balls_cell(&grid, level, 2, p.z);
    uint32_t bucket = carom_grid_bucket(&grid.table, x, y, z, level);
    t->span = make_uint2(__ldg(&grid.starts[bucket]), __ldg(&grid.starts[bucket + 1]));
    t->levels &= t->levels - 1u;
    seeker.work.wanted[threadIdx.x].y = tag_of(x, y, z, level);
    ++seeker.visits;
}

/* Adds pieces of a thread's bucket to those that the block compares. */
static __device__ inline void push_pieces(block_work &work, asking_thread *t) {
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
static __device__ inline void compare_all(const meeting_block &s, uint32_t group, SEEKER &seeker) {
    uint32_t rank = group * CAROM_WARP + threadIdx.x % CAROM_WARP;
    const carom_balls_view &of_a = s.grid[0].v, &of_b = s.grid[1].v;
    bool asks = rank < of_a.count;
    unsigned waiting = 0;
    carom_pack_posed a = {};
    if (asks) {
        a = load_posed(s, 0, rank);
        carom_ball ball = {of_a.spheres[rank].centre, (double)s.grid[0].askers[rank].w / of_a.unit};
        asks = !carom_balls_apart(&s.meeting, ball, of_b.ball);
    }
    if (!__syncthreads_or(asks)) return;
    for (uint32_t other = 0; other < of_b.count; ++other) {
        carom_pack_posed b = load_posed(s, 1, other);
        carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
        double squared = carom_vec_dot(apart, apart), secondary = a.secondary + b.secondary,
               inner = a.radius + b.radius;
        bool close = squared < secondary * secondary || squared < inner * inner;
        bool has[1] = {asks && (close || (SEEKER::WHAT == WIDE && carom_pack_covers_meet(&a, &b)))};
        unsigned after =
            push<1>(seeker.work, has, [&](unsigned) { return make_uint2(rank, other); });
        waiting = CAROM_MAX(waiting, after);
        if (other % ROUND != ROUND - 1u && other + 1u != of_b.count) continue;
        if (__syncthreads_or(waiting > FULL)) drain(seeker);
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
        return end > 4 * stride;
    }

    /* Makes the mask not empty; false when all groups are done. The whole warp calls it. */
    __device__ bool fill(const meeting_block &s, const groups &g) {
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

/* All spheres of part `part` of `parts` ask; then the hits that are left are decided. All warps of
 * a block go in rounds: each looks up cells for 32 spheres, and the block compares the pieces of
 * these buckets. */
template <typename SEEKER>
static __device__ inline void ask_all(const meeting_block &s, uint32_t part, uint32_t parts,
                                      SEEKER &seeker) {
    const groups g(s);
    uint32_t stride = parts * WARPS, begin = threadIdx.x / CAROM_WARP * parts + part;
    bool more = !s.bad && !s.apart;
    if (more && !s.regular) {
        for (uint32_t round = 0; round + part < g.of_a; round += stride)
            compare_all(s, round + begin, seeker);
        __syncthreads();
        more = false;
    }
    group_list list(begin, stride, g.all);
    asking_thread t = {};
    while (more) {
        if (__all_sync(~0u, t.is_done()) && list.fill(s, g)) {
            uint32_t group = list.take();
            begin_asking(s, g.side(group), g.rank(group, !list.are_many()), seeker, &t);
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

/* ---- Overlaps -------------------------------------------------------------------------------- */

/* Sums of a query on the device, all 0 between queries:
 *   low and high halves of VALUES sums, in replicas; then these numbers. */
enum {
    S_FLAGGED,
    S_VOIDS = 2,
    S_VISITS = 4,
    S_CANDIDATES,
    S_SPOILED, /* a bit for each term that exceeded its scale */
    S_TICKET,
    S_NUMBERS
};

static __host__ __device__ inline uint64_t state_words(uint32_t replicas) {
    return 2ull * VALUES * replicas + S_NUMBERS;
}

/* The sums of a block. */
struct block_sums {
    carom_device_count low[VALUES], high[VALUES], number[S_NUMBERS];
    carom_device_count of_warp[WARPS][VALUES];
    double value[VALUES / 2];
    carom_packing_overlap overlap;
    bool last;
};

static __device__ inline carom_device_count bits_of(double x) {
    return (carom_device_count)__double_as_longlong(x);
}

/* The scale of a term: volume, force, torque, direction, moment; then both of the inner balls. */
static __device__ inline const carom_pack_scale &scale_of(const carom_pack_scales &scales,
                                                          unsigned term) {
    return term == 0 || term >= TERMS ? scales.volume
           : term < 4                 ? scales.force
           : term < 7                 ? scales.torque
                                      : scales.direction;
}

/* One step of adding up values over a warp: of two values, lanes with the bit keep the second and
 * the others the first, each of two lanes. After a step for each bit, lane v has value v of 32. */
static __device__ inline carom_device_count fold(unsigned bit, carom_device_count first,
                                                 carom_device_count second) {
    bool upper = (threadIdx.x & bit) != 0;
    return (upper ? second : first) + __shfl_xor_sync(~0u, upper ? first : second, bit);
}

/* The two parts of a term as integers, added up over pairs of lanes. */
static __device__ inline carom_device_count fold_term(double x, const carom_pack_scale &scale) {
    double above = x + scale.coarse, rest = x - (above - scale.coarse);
    return fold(1u, bits_of(above) - bits_of(scale.coarse),
                bits_of(rest + scale.fine) - bits_of(scale.fine));
}

/* Flags a sphere whose cover meets one of the other packing. */
static __device__ inline void flag(const meeting_block &s, block_sums &to, uint32_t *flags,
                                   int side, uint32_t rank) {
    uint32_t *word = flags + (side != 0 ? words_for(s.grid[0].v.count) : 0) + rank / 32u;
    uint32_t bit = 1u << rank % 32u;
    if ((__ldcg(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
    atomicAdd(&to.number[S_FLAGGED + side], 1ull);
    atomicAdd(&to.number[S_VOIDS + side], (carom_device_count)s.grid[side].v.spheres[rank].voids);
}

/* The term, or 0 where it exceeds its scale, which is then noted: as carom_pack_rounded does. Only
 * errors of meetings that floats cannot tell about are that large. */
static __device__ inline double limited(block_sums &to, unsigned term, double x,
                                        const carom_pack_scale &scale) {
    if (fabs(x) <= scale.largest) return x;
    atomicOr(&to.number[S_SPOILED], 1ull << term);
    return 0.0;
}

/* The sums over a warp of the terms of one hit per lane: lane v gets value v of VALUES. Not
 * inlined: it needs twice the registers of the search. */
template <bool BOUNDS>
static __device__ __noinline__ carom_device_count sum_pairs(const meeting_block &s, block_sums &to,
                                                            uint32_t *flags, hit_pair hit,
                                                            bool there) {
    const carom_pack_scales &scales = s.meeting.scales;
    carom_pack_term term = {};
    carom_device_count pairs = 0, inner_pairs = 0;
    double volume = 0.0, error = 0.0;
    if (there) {
        carom_pack_posed a = load_posed(s, 0, hit.x), b = load_posed(s, 1, hit.y);
        carom_ball ball_a = {a.centre, a.secondary}, ball_b = {b.centre, b.secondary};
        if (carom_pack_pair(&ball_a, &ball_b, s.meeting.pivot, &term))
            pairs = 1;
        else
            term = carom_pack_term{};
        if (BOUNDS) {
            carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
            double squared = carom_vec_dot(apart, apart);
            if (carom_pack_inner(squared, sqrt(squared), a.radius, b.radius, s.meeting.slack,
                                 &volume, &error))
                inner_pairs = 1;
            else
                volume = error = 0.0;
            if (carom_pack_covers_meet(&a, &b)) {
                flag(s, to, flags, 0, hit.x);
                flag(s, to, flags, 1, hit.y);
            }
        }
    }
    if (!s.regular) {
        double *const vectors[4] = {&term.force.x, &term.torque.x, &term.direction.x,
                                    &term.moment.x};
        term.volume = limited(to, 0, term.volume, scales.volume);
        for (unsigned i = 0; i < 12; ++i)
            vectors[i / 3][i % 3] =
                limited(to, 1 + i, vectors[i / 3][i % 3], scale_of(scales, 1 + i));
        volume = limited(to, TERMS, volume, scales.volume);
        error = limited(to, TERMS + 1, error, scales.volume);
    }
    __syncwarp();
    carom_device_count v[VALUES / 2] = {fold_term(term.volume, scales.volume),
                                        fold_term(term.force.x, scales.force),
                                        fold_term(term.force.y, scales.force),
                                        fold_term(term.force.z, scales.force),
                                        fold_term(term.torque.x, scales.torque),
                                        fold_term(term.torque.y, scales.torque),
                                        fold_term(term.torque.z, scales.torque),
                                        fold_term(term.direction.x, scales.direction),
                                        fold_term(term.direction.y, scales.direction),
                                        fold_term(term.direction.z, scales.direction),
                                        fold_term(term.moment.x, scales.direction),
                                        fold_term(term.moment.y, scales.direction),
                                        fold_term(term.moment.z, scales.direction),
                                        BOUNDS ? fold_term(volume, scales.volume) : 0,
                                        BOUNDS ? fold_term(error, scales.volume) : 0,
                                        fold(1u, pairs, inner_pairs)};
#pragma unroll
    for (unsigned bit = 2, count = VALUES / 2; bit < CAROM_WARP; bit *= 2) {
        count /= 2;
#pragma unroll
        for (unsigned i = 0; i < VALUES / 4; ++i)
            if (i < count) v[i] = fold(bit, v[2 * i], v[2 * i + 1]);
    }
    return v[0];
}

template <bool BOUNDS> struct summing : finder {
    static const int WHAT = BOUNDS ? WIDE : NEAR;
    const meeting_block &s;
    block_sums &to;
    uint32_t *flags;
    carom_device_count sum; /* of the value with the number of the lane */
    unsigned turns;

    __device__ summing(const meeting_block &of, block_sums &sums, block_work &of_block,
                       uint32_t *flags_of_both)
        : finder{of_block, 0}, s(of), to(sums), flags(flags_of_both), sum(0), turns(0) {
    }

    __device__ bool is_done() const {
        return false;
    }

    __device__ void count_candidates(unsigned count) {
        atomicAdd(&to.number[S_CANDIDATES], (carom_device_count)count);
    }

    __device__ void take(hit_pair hit, bool there) {
        sum += sum_pairs<BOUNDS>(s, to, flags, hit, there);
        if (++turns != MOST_TURN) return;
        unsigned v = threadIdx.x % CAROM_WARP;
        atomicAdd(&to.low[v], sum & 0xFFFFFFFFull);
        atomicAdd(&to.high[v], (carom_device_count)((long long)sum >> 32));
        sum = 0;
        turns = 0;
    }

    /* Leaves the sums of the warp to join_block. */
    __device__ void finish() {
        unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
        to.of_warp[warp][lane] = sum;
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
            visits += __shfl_xor_sync(~0u, visits, step);
        if (lane != 0) return;
        if (visits != 0) atomicAdd(&to.number[S_VISITS], (carom_device_count)visits);
    }
};

/* Adds the sums of a block to those of the query; true for the block that is the last. */
static __device__ bool join_block(block_sums &b, carom_device_count *state, uint32_t part,
                                  uint32_t parts, uint32_t replicas) {
    carom_device_count *numbers = state + 2ull * VALUES * replicas;
    __syncthreads();
    if (threadIdx.x < CAROM_WARP) {
        unsigned v = threadIdx.x;
        carom_device_count *to = state + 2ull * VALUES * (part % replicas);
        carom_device_count low = b.low[v], high = b.high[v];
        for (unsigned i = 0; i < WARPS; ++i) {
            low += b.of_warp[i][v] & 0xFFFFFFFFull;
            high += (carom_device_count)((long long)b.of_warp[i][v] >> 32);
        }
        if (low != 0) atomicAdd(&to[v], low);
        if (high != 0) atomicAdd(&to[VALUES + v], high);
        if (v < S_SPOILED && b.number[v] != 0) atomicAdd(&numbers[v], b.number[v]);
        if (v == S_SPOILED && b.number[v] != 0) atomicOr(&numbers[v], b.number[v]);
        __threadfence();
        __syncwarp();
        if (v == 0) b.last = atomicAdd(&numbers[S_TICKET], 1ull) == parts - 1u;
    }
    __syncthreads();
    return b.last;
}

/* The sums as numbers and the result from them; leaves the sums 0. One warp. */
static __device__ __noinline__ void write_result(const meeting_block &s, block_sums &b,
                                                 carom_device_count *state, uint32_t replicas,
                                                 bool bounds, carom_packing_overlap *result) {
    typedef unsigned __int128 wide;
    unsigned v = threadIdx.x;
    carom_device_count *numbers = state + 2ull * VALUES * replicas, low = 0, high = 0;
    carom_device_count of_replica[2 * REPLICAS];
    __threadfence();
#pragma unroll
    for (uint32_t i = 0; i < 2 * REPLICAS; ++i) /* all at once */
        of_replica[i] = i < 2 * replicas ? __ldcg(&state[VALUES * i + v]) : 0;
    if (v < S_NUMBERS) b.number[v] = __ldcg(&numbers[v]);
#pragma unroll
    for (uint32_t i = 0; i < 2 * REPLICAS; i += 2) {
        low += of_replica[i];
        high += of_replica[i + 1];
        if (i < 2 * replicas) state[VALUES * i + v] = state[VALUES * (i + 1) + v] = 0;
    }
    if (v < S_NUMBERS) numbers[v] = 0;
    wide value = ((wide)(__int128)(long long)high << 32) + low;
    carom_device_count next_low = __shfl_down_sync(~0u, (carom_device_count)value, 1);
    carom_device_count next_high = __shfl_down_sync(~0u, (carom_device_count)(value >> 64), 1);
    wide sum = (value << CAROM_PACK_FINE_BITS) + ((wide)next_high << 64 | next_low);
    __syncwarp();
    carom_sum as_sum = {(uint64_t)sum, (uint64_t)(sum >> 64), b.number[S_SPOILED] >> v / 2 & 1u};
    if (v % 2 == 0 && v < VALUES - 2)
        b.value[v / 2] = carom_sum_value(as_sum, scale_of(s.meeting.scales, v / 2).scale);
    uint64_t pairs = __shfl_sync(~0u, (carom_device_count)value, VALUES - 2);
    uint64_t inner_pairs = __shfl_sync(~0u, (carom_device_count)value, VALUES - 1);
    const unsigned words = sizeof(b.overlap) / sizeof(uint64_t);
    static_assert(sizeof(b.overlap) % sizeof(uint64_t) == 0, "copied in words");
    for (unsigned i = v; i < words; i += CAROM_WARP) ((uint64_t *)&b.overlap)[i] = 0;
    __syncwarp();
    if (v == 0 && !s.bad) {
        const double *d = b.value;
        carom_pack_values values;
        values.lenses.volume = d[0];
        values.lenses.error = 0.0;
        values.lenses.force = carom_vec(d[1], d[2], d[3]);
        values.lenses.torque = carom_vec(d[4], d[5], d[6]);
        values.lenses.direction = carom_vec(d[7], d[8], d[9]);
        values.lenses.moment = carom_vec(d[10], d[11], d[12]);
        values.inner = d[13];
        values.inner_error = d[14];
        values.pairs = pairs;
        values.inner_pairs = inner_pairs;
        const carom_pack_flagged flagged[2] = {{b.number[S_FLAGGED], b.number[S_VOIDS]},
                                               {b.number[S_FLAGGED + 1], b.number[S_VOIDS + 1]}};
        carom_pack_overlap_of_values(&values, &s.meeting, &s.grid[0].v.extent, &s.grid[1].v.extent,
                                     bounds ? flagged : nullptr, &b.overlap);
    }
    __syncwarp();
    for (unsigned i = v; i < words; i += CAROM_WARP)
        ((uint64_t *)result)[i] = ((const uint64_t *)&b.overlap)[i];
}

/* `parts` blocks for each meeting: of `all`, or `one` in several poses where that is NULL. */
template <bool BOUNDS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    find_overlaps(const __grid_constant__ meeting_view one, const meeting_view *all, uint32_t parts,
                  uint32_t replicas, carom_device_count *states, uint32_t *flags, bool alone,
                  carom_packing_overlap *overlaps, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ meeting_block s;
    __shared__ block_sums sums;
    __shared__ block_work work;
    uint64_t index = blockIdx.x / parts;
    uint32_t part = blockIdx.x % parts;
    if (threadIdx.x == 0) work.piece_count = work.hit_count = 0;
    for (unsigned i = threadIdx.x; i < VALUES; i += THREADS) {
        sums.low[i] = sums.high[i] = 0;
        if (i < S_NUMBERS) sums.number[i] = 0;
    }
    make_meeting(&s, all != nullptr ? all[index] : one, all != nullptr ? 0 : index);
    uint64_t words = words_for(s.grid[0].v.count) + words_for(s.grid[1].v.count);
    uint32_t *mine = flags + (all != nullptr ? all[index].flags : index * words);
    carom_device_count *state = states + index * state_words(replicas);
    summing<BOUNDS> seeker(s, sums, work, mine);
    ask_all(s, part, parts, seeker);
    seeker.finish();
    if (!join_block(sums, state, part, parts, replicas)) return;
    if (BOUNDS)
        for (uint64_t i = threadIdx.x; i < words; i += THREADS) mine[i] = 0;
    if (threadIdx.x >= CAROM_WARP) return;
    write_result(s, sums, state, replicas, BOUNDS, overlaps + index);
    if (threadIdx.x != 0) return;
    const carom_device_count done[4] = {s.bad ? 1ull : 0ull, sums.number[S_VISITS],
                                        sums.number[S_CANDIDATES],
                                        BOUNDS ? sums.number[S_CANDIDATES] : 0ull};
    for (int i = 0; i < 4; ++i) {
        if (alone)
            counters->n[N_BAD + i] = done[i];
        else
            atomicAdd(&counters->n[N_BAD + i], done[i]);
    }
}

struct overlap_arguments {
    carom_device_meeting one;
    const carom_device_meeting *all; /* on the host; NULL: `one` in several poses */
    uint64_t count;
    carom_packing_overlap *overlaps; /* on the device; NULL: in scratch */
    bool bounds;
};

static uint64_t flag_words(const carom_device_meeting *m) {
    return words_for(m->a.balls->host.count) + words_for(m->b.balls->host.count);
}

static meeting_view view_of(const carom_device_meeting *m) {
    meeting_view view = {};
    const carom_device_placed *placed[2] = {&m->a, &m->b};
    for (int i = 0; i < 2; ++i) {
        view.grid[i] = (const grid_view *)placed[i]->balls->view.data;
        view.pose[i] = placed[i]->pose;
        view.poses[i] = placed[i]->poses;
        view.scale[i] = placed[i]->scale;
    }
    return view;
}

/* Blocks for each meeting: together some waves of them, and none without spheres. */
static uint32_t parts_for(const carom_device *device, const overlap_arguments *o,
                          uint64_t resident) {
    const carom_device_meeting *m = o->all != nullptr ? o->all : &o->one;
    uint64_t useful = (flag_words(m) + WARPS - 1) / WARPS;
    uint64_t parts = o->count == 1 ? resident : 4 * resident / o->count;
    (void)device;
    if (parts > useful) parts = useful;
    return parts != 0 ? (uint32_t)parts : 1u;
}

static uint32_t replicas_for(uint64_t count) {
    return count == 1 ? REPLICAS : 1u;
}

static carom_status overlap_reserve(carom_device *device, carom_device_op *op) {
    overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t words = o->all != nullptr ? 0 : flag_words(&o->one) * o->count;
    if (o->all != nullptr) {
        uint64_t bytes = o->count * sizeof(meeting_view);
        meeting_view *views = new (std::nothrow) meeting_view[o->count];
        if (views == nullptr)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for meetings");
        for (uint64_t i = 0; i < o->count; ++i) {
            views[i] = view_of(&o->all[i]);
            views[i].flags = words;
            words += flag_words(&o->all[i]);
        }
        carom_status status =
            carom_device_reserve(device, &device->scratch[MEETINGS], bytes, "balls");
        if (status == CAROM_OK)
            status = carom_device_check(
                device,
                cudaMemcpy(device->scratch[MEETINGS].data, views, bytes, cudaMemcpyHostToDevice),
                "copying meetings");
        delete[] views;
        CAROM_DEVICE_TRY(status);
    }
    uint64_t states = o->count * state_words(replicas_for(o->count));
    CAROM_DEVICE_TRY(reserve_zeros(device, STATES, states * sizeof(carom_device_count)));
    if (o->bounds) CAROM_DEVICE_TRY(reserve_zeros(device, FLAGS, words * sizeof(uint32_t)));
    if (o->overlaps != nullptr) return CAROM_OK;
    return carom_device_reserve(device, &device->scratch[OVERLAPS],
                                o->count * sizeof(carom_packing_overlap), "balls");
}

template <bool BOUNDS> static void launch_overlaps(carom_device *device, carom_device_op *op) {
    const overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t resident = carom_device_resident(device, find_overlaps<BOUNDS>, THREADS);
    uint32_t parts = parts_for(device, o, resident);
    carom_packing_overlap *overlaps = o->overlaps != nullptr
                                          ? o->overlaps
                                          : (carom_packing_overlap *)device->scratch[OVERLAPS].data;
    const meeting_view *all =
        o->all != nullptr ? (const meeting_view *)device->scratch[MEETINGS].data : nullptr;
    carom_device_launch(device, find_overlaps<BOUNDS>, o->count * parts, THREADS,
                        o->all != nullptr ? meeting_view{} : view_of(&o->one), all, parts,
                        replicas_for(o->count), (carom_device_count *)device->scratch[STATES].data,
                        (uint32_t *)device->scratch[FLAGS].data, o->count == 1, overlaps,
                        op->counters);
}

static void overlap_launch(carom_device *device, carom_device_op *op) {
    const overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    carom_device_step(device, "overlap");
    if (o->count != 1)
        (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (o->bounds)
        launch_overlaps<true>(device, op);
    else
        launch_overlaps<false>(device, op);
}

static carom_status settle_work(carom_device *device, const carom_device_count *n) {
    device->steps.node_pairs = n[N_VISITS];
    device->steps.candidates = n[N_CANDIDATES];
    device->steps.open_in_floats = n[N_CANDIDATES];
    device->steps.open_in_doubles = n[N_UNDECIDED];
    if (n[N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu poses in device memory are not finite, or place balls beyond "
                             "sizes of 2^-200 to 2^200",
                             n[N_BAD]);
}

static carom_status overlap_settle(carom_device *device, carom_device_op *op,
                                   const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    return settle_work(device, counters->n);
}

static carom_status submit_overlap(carom_device *device, const overlap_arguments &arguments) {
    carom_device_op op = {overlap_reserve, overlap_launch, overlap_settle, nullptr, {}};
    if (arguments.count > 1u << 24)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu overlaps at once; at most 2^24",
                                 (unsigned long long)arguments.count);
    *carom_device_arguments<overlap_arguments>(&op) = arguments;
    return carom_device_submit(device, &op);
}

static carom_status balls_overlap(carom_device *device, const carom_device_meeting *meeting,
                                  uint64_t count, bool bounds, carom_packing_overlap *overlaps) {
    return submit_overlap(device, overlap_arguments{*meeting, nullptr, count, overlaps, bounds});
}

static carom_status balls_overlap_many(carom_device *device, const carom_device_meeting *meetings,
                                       uint64_t count, bool bounds,
                                       carom_packing_overlap *overlaps) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(
        submit_overlap(device, overlap_arguments{meetings[0], count > 1 ? meetings : nullptr, count,
                                                 nullptr, bounds}));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_check(device,
                              cudaMemcpy(overlaps, device->scratch[OVERLAPS].data,
                                         count * sizeof(*overlaps), cudaMemcpyDeviceToHost),
                              "reading overlaps");
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether two posed spheres are a pair, as is_pair of balls_query.c. */
static __device__ inline bool is_pair(const meeting_block &s, carom_balls_pair_kind kind,
                                      const carom_pack_posed *a, const carom_pack_posed *b) {
    if (kind == CAROM_BALLS_PAIR_KIND_COVER) return carom_pack_covers_meet(a, b);
    if (kind == CAROM_BALLS_PAIR_KIND_SECONDARY) {
        carom_ball ball_a = {a->centre, a->secondary}, ball_b = {b->centre, b->secondary};
        carom_pack_term term;
        return carom_pack_pair(&ball_a, &ball_b, s.meeting.pivot, &term);
    }
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double volume, error;
    return carom_pack_inner(carom_vec_dot(apart, apart), carom_length(apart), a->radius, b->radius,
                            s.meeting.slack, &volume, &error);
}

/* Pairs of spheres go to a list as numbers in the order of pairs, or as carom_pair in `direct`. */
template <bool COVERS> struct listing : finder {
    static const int WHAT = COVERS ? WIDE : NEAR;
    const meeting_block &s;
    carom_device_list<unsigned long long> found;
    carom_balls_pair_kind kind;
    bool any, direct;
    carom_device_counters *counters;

    __device__ listing(const meeting_block &of, block_work &of_block,
                       carom_device_list<unsigned long long> list, carom_balls_pair_kind wanted,
                       bool one_is_enough, bool as_pairs, carom_device_counters *of_query)
        : finder{of_block, 0}, s(of), found(list), kind(wanted), any(one_is_enough),
          direct(as_pairs), counters(of_query) {
    }

    __device__ bool is_done() const {
        return any && __ldcg(found.count) != 0;
    }

    __device__ void count_candidates(unsigned count) {
        atomicAdd(&counters->n[N_CANDIDATES], (carom_device_count)count);
    }

    __device__ __noinline__ void take(hit_pair hit, bool there) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        unsigned long long key = 0;
        bool has = there;
        if (has) {
            carom_pack_posed a = load_posed(s, 0, hit.x), b = load_posed(s, 1, hit.y);
            unsigned long long index_a = s.grid[0].v.spheres[hit.x].index;
            unsigned long long index_b = s.grid[1].v.spheres[hit.y].index;
            has = is_pair(s, kind, &a, &b);
            key = direct ? index_b << 32 | index_a : index_a << 32 | index_b;
        }
        unsigned mask = __ballot_sync(~0u, has);
        carom_device_count at = 0;
        if (mask == 0) return;
        if (lane == 0) at = atomicAdd(found.count, (carom_device_count)__popc(mask));
        at = __shfl_sync(~0u, at, 0) + __popc(mask & ((1u << lane) - 1u));
        if (has && at < found.capacity) found.data[at] = key;
    }
};

template <bool COVERS>
static __global__ void __launch_bounds__(THREADS)
    find_pairs(const __grid_constant__ meeting_view one, carom_balls_pair_kind kind, bool any,
               bool direct, carom_device_list<unsigned long long> found,
               carom_device_counters *counters) {
    carom_device_begin();
    __shared__ meeting_block s;
    __shared__ block_work work;
    if (threadIdx.x == 0) work.piece_count = work.hit_count = 0;
    make_meeting(&s, one, 0);
    listing<COVERS> seeker(s, work, found, kind, any, direct, counters);
    ask_all(s, blockIdx.x, gridDim.x, seeker);
    if (threadIdx.x == 0 && blockIdx.x == 0 && s.bad) counters->n[N_BAD] = 1;
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        seeker.visits += __shfl_xor_sync(~0u, seeker.visits, step);
    if (threadIdx.x % CAROM_WARP != 0) return;
    if (seeker.visits != 0) atomicAdd(&counters->n[N_VISITS], (carom_device_count)seeker.visits);
}

/* Exchanges the halves of numbers: from the order of pairs to pairs. */
static __global__ void exchange_halves(const unsigned long long *from, unsigned long long *to,
                                       uint64_t count) {
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        to[i] = from[i] << 32 | from[i] >> 32;
}

struct search_arguments {
    carom_device_meeting meeting;
    carom_cuda_pairs *pairs; /* NULL: count only */
    uint64_t *count;         /* on the host, may be NULL */
    carom_balls_pair_kind kind;
    carom_cuda_order order;
    bool any;
};

static bool is_direct(const search_arguments *s) {
    return s->pairs != nullptr && s->order == CAROM_CUDA_ORDER_ANY;
}

static carom_status search_reserve(carom_device *device, carom_device_op *op) {
    search_arguments *s = carom_device_arguments<search_arguments>(op);
    if (s->pairs == nullptr) return CAROM_OK;
    uint64_t spheres = (uint64_t)s->meeting.a.balls->host.count + s->meeting.b.balls->host.count;
    uint64_t room = 2 * spheres + 1024;
    if (room < device->wanted[FOUND]) room = device->wanted[FOUND];
    CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, s->pairs, room));
    s->pairs->device_count = (uint64_t *)&op->counters->n[N_FOUND];
    if (is_direct(s)) return CAROM_OK;
    return carom_device_reserve(device, &device->scratch[FOUND],
                                s->pairs->capacity * sizeof(uint64_t), "pairs of balls");
}

template <bool COVERS> static void launch_pairs(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_list<unsigned long long> found = {nullptr, 0, &op->counters->n[N_FOUND]};
    if (s->pairs != nullptr) {
        found.data =
            (unsigned long long *)(is_direct(s) ? s->pairs->data : device->scratch[FOUND].data);
        found.capacity = s->pairs->capacity;
    }
    uint64_t blocks = carom_device_resident(device, find_pairs<COVERS>, THREADS);
    uint64_t useful = (flag_words(&s->meeting) + WARPS - 1) / WARPS;
    if (blocks > useful) blocks = useful;
    carom_device_launch(device, find_pairs<COVERS>, blocks, THREADS, view_of(&s->meeting), s->kind,
                        s->any, is_direct(s), found, op->counters);
}

static void search_launch(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_step(device, "pairs");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (s->kind == CAROM_BALLS_PAIR_KIND_COVER)
        launch_pairs<true>(device, op);
    else
        launch_pairs<false>(device, op);
}

static carom_status sort_pairs(carom_device *device, const carom_cuda_pairs *pairs,
                               uint64_t count) {
    unsigned long long *found = (unsigned long long *)device->scratch[FOUND].data;
    size_t bytes = 0;
    if (count == 0) return CAROM_OK;
    (void)cub::DeviceRadixSort::SortKeys(nullptr, bytes, found, found, (int64_t)count, 0, 64,
                                         device->stream);
    CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[SORTED],
                                          row(count * sizeof(uint64_t)) + bytes, "sorting pairs"));
    unsigned long long *sorted = (unsigned long long *)device->scratch[SORTED].data;
    void *temporary = (char *)sorted + row(count * sizeof(uint64_t));
    (void)cub::DeviceRadixSort::SortKeys(temporary, bytes, found, sorted, (int64_t)count, 0, 64,
                                         device->stream);
    exchange_halves<<<carom_device_blocks(count, THREADS), THREADS, 0, device->stream>>>(
        sorted, (unsigned long long *)pairs->data, count);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "sorting pairs");
}

static carom_status search_settle(carom_device *device, carom_device_op *op,
                                  const carom_device_counters *counters, bool *again) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    uint64_t count = counters->n[N_FOUND];
    *again = s->pairs != nullptr && count > s->pairs->capacity;
    if (*again) device->wanted[FOUND] = count + count / 4;
    if (*again) return CAROM_OK;
    CAROM_DEVICE_TRY(settle_work(device, counters->n));
    if (s->pairs != nullptr && !is_direct(s)) CAROM_DEVICE_TRY(sort_pairs(device, s->pairs, count));
    if (s->pairs != nullptr) s->pairs->count = count;
    if (s->count != nullptr) *s->count = count;
    return CAROM_OK;
}

static carom_status balls_search(carom_device *device, const carom_device_meeting *meeting,
                                 carom_balls_pair_kind kind, bool any, carom_cuda_order order,
                                 carom_cuda_pairs *pairs, uint64_t *count) {
    carom_device_op op = {search_reserve, search_launch, search_settle, nullptr, {}};
    *carom_device_arguments<search_arguments>(&op) =
        search_arguments{*meeting, pairs, count, kind, order, any};
    return carom_device_submit(device, &op);
}

static carom_status balls_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_doubles};
    return CAROM_OK;
}

extern "C"
    __attribute__((visibility("default"))) extern const carom_cuda_balls carom_cuda_balls_2 = {
        carom_balls_cuda_create,  carom_balls_cuda_destroy,
        carom_balls_cuda_set,     carom_balls_cuda_bytes,
        carom_balls_cuda_entries, balls_overlap,
        balls_overlap_many,       balls_search,
        balls_get_work,
};
