/* SPDX-License-Identifier: MIT */
/* Straight motions on the GPU, with the CPU's bytes: robot_motion_item.h, by a warp per motion.
 * Which intervals are looked at depends on what was found in those before, so blocks of intervals
 * follow each other as on the CPU, but what takes time does not depend on order:
 *
 *   test     a lane per interval of the block: kinematics in floats, and all pairs by spheres
 *   measure  all lanes: the exact distances of the pairs that are left, of all intervals of the
 *            block that are so short that they are measured; some in vain, as what one proves may
 *            spare another
 *   refine   lane 0: intervals in their order, with these distances; one that is not there is
 *            measured now
 *   sort     all lanes: the halves, so that the earliest come next
 *
 * A warp whose motion is done takes the next one. As many are tested at once as the device has room
 * for; each has its list of intervals. Motions that need a comparison of faces within rounding of
 * the margin are left to the host. */
#include "robot/robot_gap_item.h"
#include "robot/robot_run_cuda.h"

#define ROBOT_MOTION_THREADS 64u /* as few as of the kernels for clearance */
#define ROBOT_MOTION_WARPS   (ROBOT_MOTION_THREADS / CAROM_WARP)

/* Bytes for what is kept of motions that are tested at once: 30,000 of an arm of 7 joints. */
#define ROBOT_MOTION_BYTES (UINT64_C(1) << 31)

/* A round adds at most two parts of each interval of a block. */
static_assert(2 * CAROM_ROBOT_BLOCK <= CAROM_WARP, "a lane for each that is sorted");

/* A counter of the operation: motions that threads have taken. */
enum { ROBOT_MOTION_TAKEN };

static_assert(sizeof(carom_robot_motion_result) == 40 &&
                  offsetof(carom_robot_motion_result, free_until) == 8 &&
                  offsetof(carom_robot_motion_result, a) == 24 &&
                  offsetof(carom_robot_motion_result, with_object) == 32,
              "robot_motion_write knows the layout");

/* The motions, as the kernel sees them. As many are tested at once as there are warps; each has a
 * block of intervals, whose rows are `stride` long, a row for each interval of each warp. */
struct robot_motion_run : carom_robot_rows {
    const double *from, *to;
    uint64_t count;
    uint32_t warps;
    carom_robot_motion_rule rule;
    carom_robot_times *lists, *proved;  /* of motions, one after the other */
    float *speeds;                      /* likewise */
    uint32_t *undecided;                /* pairs of intervals */
    double *ones;                       /* configurations of intervals, one after the other */
    carom_robot_pose *poses;            /* likewise */
    carom_robot_motion_sample *samples; /* likewise, in the order of the pairs left */
    carom_device_count *taken;
    carom_robot_list host;
    carom_robot_motion_result *results;
};

/* ---- Spheres --------------------------------------------------------------------------------- */

/* Two bodies, or a body and an object, in one configuration. */
struct robot_motion_pair {
    const carom_robot_plan *plan;
    const carom_robot_plan_body *a, *b;
    const carom_robot_plan_object *o; /* where b is NULL */
    float pa[12], pb[12];
    float extra, inner_margin;
};

/* Whether a sphere is near any of spheres [first, first + count). */
static __device__ bool robot_motion_near(const robot_motion_pair &p, const float *frame,
                                         uint32_t first, uint32_t count, carom_robot_point at,
                                         float r, float extra) {
    for (uint32_t j = first; j < first + count; ++j) {
        float s;
        carom_robot_point q = carom_robot_plan_sphere(p.plan, frame, j, &s);
        if (carom_robot_is_near(carom_robot_squared_points(at, q), extra + (r + s))) return true;
    }
    return false;
}

/* Whether a sphere may meet a body: by the ball around it and its cover. */
static __device__ bool robot_motion_may_meet(const robot_motion_pair &p, const float *frame,
                                             const carom_robot_plan_body *body,
                                             carom_robot_point at, float r, float extra) {
    float ball;
    carom_robot_point middle = carom_robot_plan_sphere(p.plan, frame, body->first, &ball);
    return carom_robot_is_near(carom_robot_squared_points(at, middle), (extra + ball) + r) &&
           robot_motion_near(p, frame, body->first + 1, body->cover_count, at, r, extra);
}

/* Whether covers are near: the bodies' own, or with `fine` spheres of the finer ones that may meet
 * the other body. */
static __device__ bool robot_motion_covers_near(const robot_motion_pair &p, bool fine) {
    const uint32_t first = fine ? p.a->fine : p.a->first + 1;
    const uint32_t count = fine ? p.a->fine_count : p.a->cover_count;
    for (uint32_t i = first; i < first + count; ++i) {
        float r, s;
        carom_robot_point at = carom_robot_plan_sphere(p.plan, p.pa, i, &r);
        if (p.b == nullptr) {
            if (carom_robot_sphere_near(p.o, at, p.extra + r)) return true;
            continue;
        }
        if (!robot_motion_may_meet(p, p.pb, p.b, at, r, p.extra)) continue;
        if (!fine) return true;
        for (uint32_t j = p.b->fine; j < p.b->fine + p.b->fine_count; ++j) {
            carom_robot_point q = carom_robot_plan_sphere(p.plan, p.pb, j, &s);
            if (carom_robot_is_near(carom_robot_squared_points(at, q), p.extra + (r + s)) &&
                robot_motion_may_meet(p, p.pa, p.a, q, s, p.extra))
                return true;
        }
    }
    return false;
}

/* Whether inner balls overlap. */
static __device__ bool robot_motion_overlaps(const robot_motion_pair &p) {
    const uint32_t first = p.a->first + 1 + p.a->cover_count;
    const uint32_t other = p.b != nullptr ? p.b->first + 1 + p.b->cover_count : 0;
    const uint32_t others = p.b != nullptr ? p.b->inner_count : 0;
    for (uint32_t i = first; i < first + p.a->inner_count; ++i) {
        float r, s;
        carom_robot_point at = carom_robot_plan_sphere(p.plan, p.pa, i, &r);
        if (p.b == nullptr) {
            if (carom_robot_inner_overlaps(p.o, at, r + p.inner_margin)) return true;
            continue;
        }
        if (!robot_motion_may_meet(p, p.pb, p.b, at, r, p.inner_margin)) continue;
        for (uint32_t j = other; j < other + others; ++j) {
            carom_robot_point q = carom_robot_plan_sphere(p.plan, p.pb, j, &s);
            if (carom_robot_is_inside(carom_robot_squared_points(at, q),
                                      (r + s) + p.inner_margin) &&
                robot_motion_may_meet(p, p.pa, p.a, q, s, p.inner_margin))
                return true;
        }
    }
    return false;
}

/* What spheres know of a pair; of trees only by bounding balls. */
static __device__ carom_robot_tree_verdict robot_motion_by_spheres(const carom_robot_plan *plan,
                                                                   const carom_robot_frames *f,
                                                                   uint32_t pair, float extra,
                                                                   float inner_margin) {
    const carom_robot_plan_pair of = plan->pairs[pair];
    robot_motion_pair p;
    float r, s;
    p.plan = plan;
    p.a = &plan->bodies[of.a];
    p.b = pair < plan->self_count ? &plan->bodies[of.b] : nullptr;
    p.o = p.b == nullptr ? &plan->objects[of.b] : nullptr;
    p.extra = extra;
    p.inner_margin = inner_margin;
    carom_robot_take_frame(f, p.a->frame, p.pa);
    carom_robot_point middle = carom_robot_plan_sphere(plan, p.pa, p.a->first, &r);
    if (p.b != nullptr) {
        carom_robot_take_frame(f, p.b->frame, p.pb);
        carom_robot_point other = carom_robot_plan_sphere(plan, p.pb, p.b->first, &s);
        if (!carom_robot_is_near(carom_robot_squared_points(middle, other), extra + (r + s)))
            return CAROM_ROBOT_TREE_APART;
    } else if (!carom_robot_middle_near(p.o, middle, extra + r)) {
        return CAROM_ROBOT_TREE_APART;
    }
    if (p.o != nullptr && p.o->kind == CAROM_ROBOT_PLAN_TREE) return CAROM_ROBOT_TREE_UNDECIDED;
    if (!robot_motion_covers_near(p, false) || !robot_motion_covers_near(p, true))
        return CAROM_ROBOT_TREE_APART;
    return robot_motion_overlaps(p) ? CAROM_ROBOT_TREE_COLLIDING : CAROM_ROBOT_TREE_UNDECIDED;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

/* What spheres know of the configuration in the middle of an interval: that of a lane of the CPU's
 * loops, and then of its comparisons with trees. */
static __device__ carom_robot_motion_lane robot_motion_test(const robot_motion_run &w,
                                                            uint32_t slot,
                                                            carom_robot_motion_state *m,
                                                            carom_robot_times v) {
    const carom_robot_plan *plan = &w.robot.view.plan;
    const carom_robot_frames frames = {w.frames + slot, w.stride};
    const float half = carom_robot_motion_half(v);
    uint32_t *undecided = w.undecided + slot, count = 0;
    float margin, inner_margin;
    carom_robot_motion_lane lane;
    lane.beyond = !w.robot.has_floats;
    lane.hit = CAROM_NONE;
    lane.pairs = undecided;
    lane.lanes = nullptr;
    lane.stride = w.stride;
    lane.count = lane.lane = 0;
    carom_robot_margins(m->margin, &margin, &inner_margin);
    carom_robot_motion_at(m, 0.5 * (v.low + v.high));
    for (uint32_t k = 0; k < m->dof; ++k)
        lane.beyond = lane.beyond || !(fabs(m->one[k]) <= w.robot.limits[k]);
    if (lane.beyond) return lane;
    carom_robot_make_frames(w, slot, m->one);
    for (uint32_t pair = 0; pair < plan->pair_count; ++pair) {
        float extra = margin + half * m->speed[pair * m->stride];
        carom_robot_tree_verdict verdict =
            robot_motion_by_spheres(plan, &frames, pair, extra, inner_margin);
        if (verdict == CAROM_ROBOT_TREE_UNDECIDED) undecided[(uint64_t)count++ * w.stride] = pair;
        if (verdict != CAROM_ROBOT_TREE_COLLIDING) continue;
        lane.hit = pair;
        return lane;
    }
    for (uint32_t e = 0; e < count; ++e) {
        uint32_t pair = undecided[(uint64_t)e * w.stride];
        carom_robot_tree_verdict verdict = CAROM_ROBOT_TREE_UNDECIDED;
        if (carom_robot_is_tree_pair(plan, pair)) {
            carom_robot_reach reach;
            reach.extra = (double)margin + (double)half * (double)m->speed[pair * m->stride] *
                                               (1.0 + CAROM_ROBOT_EXTRA_SLACK);
            reach.inner_margin = inner_margin;
            verdict = carom_robot_test_object(&w.robot.view, &frames, pair, &reach);
        }
        if (verdict == CAROM_ROBOT_TREE_COLLIDING) {
            lane.hit = pair;
            return lane;
        }
        if (verdict == CAROM_ROBOT_TREE_UNDECIDED)
            undecided[(uint64_t)lane.count++ * w.stride] = pair;
    }
    return lane;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* What lanes tell each other of the block of intervals. */
struct robot_motion_shared {
    carom_robot_times taken[CAROM_ROBOT_BLOCK];
    carom_robot_motion_lane lanes[CAROM_ROBOT_BLOCK];
    uint32_t first[CAROM_ROBOT_BLOCK + 1]; /* samples of intervals before */
    uint32_t count, before;                /* intervals taken, and left in the list */
    uint32_t pushed;
    double lows[CAROM_WARP];
    bool goes_on, unsure;
};

/* The configuration and the poses of an interval. */
static __device__ void robot_motion_use_row(const robot_motion_run &w, uint64_t row,
                                            carom_robot_motion_state *m) {
    m->one = w.ones + row * m->dof;
    m->poses = w.poses + row * m->link_count;
}

/* Whether distances of an interval will be measured, as far as that is known. */
static __device__ bool robot_motion_measures(const carom_robot_motion_state *m,
                                             const carom_robot_motion_lane *lane,
                                             carom_robot_times v) {
    double moved;
    if (lane->hit != CAROM_NONE || m->rule.covers_only) return false;
    uint32_t first = carom_robot_motion_open(m, lane, v, &moved);
    return lane->beyond || (first != CAROM_NONE && moved <= m->rule.step);
}

/* Tests an interval, and says how many samples it may need. */
static __device__ uint32_t robot_motion_begin_lane(const robot_motion_run &w,
                                                   robot_motion_shared *s, uint64_t row, unsigned i,
                                                   carom_robot_motion_state *m) {
    const uint32_t pairs = w.robot.view.plan.pair_count;
    const carom_robot_times v = s->taken[i];
    robot_motion_use_row(w, row, m);
    carom_robot_motion_lane lane = robot_motion_test(w, (uint32_t)row, m, v);
    lane.samples = nullptr;
    uint32_t count = 0;
    if (robot_motion_measures(m, &lane, v)) {
        lane.samples = w.samples + row * pairs;
        count = lane.beyond ? pairs : lane.count;
        carom_robot_motion_pose(m, 0.5 * (v.low + v.high));
    }
    s->lanes[i] = lane;
    return count;
}

/* Measures the pairs of all intervals of the block. */
static __device__ void robot_motion_measure_all(const robot_motion_run &w,
                                                const robot_motion_shared *s, uint64_t rows,
                                                unsigned lane, carom_robot_motion_state *m) {
    const uint32_t pairs = w.robot.view.plan.pair_count, all = s->first[s->count];
    uint32_t i = 0;
    for (uint32_t at = lane; at < all; at += CAROM_WARP) {
        while (s->first[i + 1] <= at) ++i;
        const uint32_t e = at - s->first[i], pair = carom_robot_motion_entry(&s->lanes[i], e);
        carom_robot_motion_sample sample = {};
        CAROM_ASSERT(i < s->count && pair < pairs);
        robot_motion_use_row(w, rows + i, m);
        if (!carom_robot_motion_proved(m, pair, s->taken[i]))
            sample = carom_robot_motion_sample_of(m, s->taken[i], pair);
        w.samples[(rows + i) * pairs + e] = sample;
    }
}

/* carom_robot_motion_sort: each part finds its place among those of the round. */
static __device__ void robot_motion_sort_all(robot_motion_shared *s, unsigned lane,
                                             carom_robot_motion_state *m) {
    const uint32_t count = s->pushed;
    carom_robot_times own = {};
    uint32_t after = 0;
    CAROM_ASSERT(count <= CAROM_WARP);
    if (lane < count) {
        own = m->list[s->before + lane];
        s->lows[lane] = own.low;
    }
    __syncwarp();
    for (uint32_t k = 0; k < count; ++k)
        after += s->lows[k] > own.low || (s->lows[k] == own.low && k < lane) ? 1u : 0u;
    __syncwarp();
    if (lane < count) m->list[s->before + after] = own;
    __syncwarp();
}

/* The next block of intervals of a motion. What lane 0 keeps of it counts. */
static __device__ void robot_motion_round(const robot_motion_run &w, robot_motion_shared *s,
                                          uint32_t warp, unsigned lane,
                                          carom_robot_motion_state *m) {
    const uint64_t rows = (uint64_t)warp * CAROM_ROBOT_BLOCK;
    uint32_t samples = 0;
    if (lane == 0) {
        s->count = carom_robot_motion_take(m, s->taken);
        s->before = m->count;
        s->first[0] = 0;
    }
    __syncwarp();
    const uint32_t count = s->count;
    if (lane < count) samples = robot_motion_begin_lane(w, s, rows + lane, lane, m);
    for (unsigned step = 1; step < CAROM_ROBOT_BLOCK; step *= 2) {
        uint32_t before = __shfl_up_sync(~0u, samples, step);
        if (lane >= step) samples += before;
    }
    if (lane < count) s->first[lane + 1] = samples;
    __syncwarp();
    robot_motion_measure_all(w, s, rows, lane, m);
    __syncwarp();
    if (lane == 0) {
        for (uint32_t i = 0; i < count && !m->unsure; ++i) {
            if (!(s->taken[i].low < m->cut)) continue;
            robot_motion_use_row(w, rows + i, m);
            carom_robot_motion_refine(m, &s->lanes[i], s->taken[i]);
        }
        s->pushed = m->count - s->before;
        s->goes_on = m->count != 0 && !m->unsure;
        s->unsure = m->unsure;
    }
    __syncwarp();
    robot_motion_sort_all(s, lane, m);
}

/* ---- Motions --------------------------------------------------------------------------------- */

/* All bytes, padding included. */
static __device__ void robot_motion_write(const carom_robot_motion_result &r,
                                          carom_robot_motion_result *to) {
    ((uint64_t *)to)[0] = (uint64_t)r.verdict;
    to->free_until = r.free_until;
    to->contact = r.contact;
    to->a = r.a;
    to->b = r.b;
    ((uint64_t *)to)[4] = r.with_object ? 1u : 0u;
}

/* Begins with a motion; false: it is none. */
static __device__ bool robot_motion_start(const robot_motion_run &w, uint64_t motion, unsigned lane,
                                          carom_robot_motion_state *m) {
    double error = 0.0;
    m->from = w.from + motion * m->dof;
    m->to = w.to + motion * m->dof;
    for (uint32_t k = 0; k < m->dof; ++k)
        if (!(fabs(m->from[k]) <= CAROM_ROBOT_MOST && fabs(m->to[k]) <= CAROM_ROBOT_MOST)) {
            if (lane == 0) atomicMax(w.bad, ~(carom_device_count)motion);
            return false;
        }
    for (uint32_t pair = lane; pair < w.robot.view.plan.pair_count; pair += CAROM_WARP) {
        double off = carom_robot_motion_begin_pair(m, pair);
        error = CAROM_MAX(off, error);
    }
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        double other = __shfl_xor_sync(~0u, error, (int)step);
        error = CAROM_MAX(other, error);
    }
    m->margin = m->rule.margin + error;
    if (lane == 0) carom_robot_motion_begin_times(m, error);
    __syncwarp();
    return true;
}

static __global__ void __launch_bounds__(ROBOT_MOTION_THREADS)
    robot_motion_tests(robot_motion_run w) {
    carom_device_begin();
    __shared__ robot_motion_shared shared[ROBOT_MOTION_WARPS];
    const unsigned lane = threadIdx.x % CAROM_WARP;
    const uint32_t warp = blockIdx.x * ROBOT_MOTION_WARPS + threadIdx.x / CAROM_WARP;
    robot_motion_shared *s = &shared[threadIdx.x / CAROM_WARP];
    const uint64_t pairs = w.robot.view.plan.pair_count;
    carom_robot_motion_state m = {};
    carom_device_count motion = 0;
    bool has_motion = false;
    if (warp >= w.warps) return;
    m.view = &w.robot.view;
    m.order = w.robot.order;
    m.link_count = w.robot.link_count;
    m.dof = w.robot.dof;
    m.rule = w.rule;
    m.stride = 1;
    m.list = w.lists + (uint64_t)warp * CAROM_ROBOT_MOTION_INTERVALS;
    m.proved = w.proved + warp * pairs;
    m.speed = w.speeds + warp * pairs;
    for (;;) {
        if (!has_motion) {
            if (lane == 0) motion = atomicAdd(w.taken, 1ull);
            motion = __shfl_sync(~0u, motion, 0);
            if (motion >= w.count) return;
            has_motion = robot_motion_start(w, motion, lane, &m);
            if (!has_motion) continue;
        }
        robot_motion_round(w, s, warp, lane, &m);
        has_motion = s->goes_on;
        if (has_motion) continue;
        if (lane == 0 && s->unsure) w.host.append(motion);
        if (lane == 0 && !s->unsure) {
            carom_robot_motion_result result;
            carom_robot_motion_end(&m, &result);
            robot_motion_write(result, &w.results[motion]);
        }
        __syncwarp();
    }
}

/* ---- Operation ------------------------------------------------------------------------------- */

/* Bytes of a motion that is tested. */
static uint64_t robot_motion_row_bytes(const carom_device_robot *r) {
    const carom_robot_plan *plan = &r->view.plan;
    const uint64_t pairs = plan->pair_count;
    uint64_t interval = (sizeof(uint32_t) + sizeof(carom_robot_motion_sample)) * pairs +
                        sizeof(float) * 12 * ((uint64_t)plan->joint_count + 1) +
                        sizeof(double) * r->dof +
                        (uint64_t)r->link_count * sizeof(carom_robot_pose);
    return sizeof(carom_robot_times) * (CAROM_ROBOT_MOTION_INTERVALS + pairs) +
           sizeof(float) * pairs + CAROM_ROBOT_BLOCK * interval;
}

/* Motions that are tested at once. */
static uint64_t robot_motion_rows(const carom_device *device, const carom_device_robot_query *a) {
    uint64_t most = ROBOT_MOTION_BYTES / robot_motion_row_bytes(a->robot);
    uint64_t resident = carom_device_resident(device, robot_motion_tests, ROBOT_MOTION_THREADS) *
                        (uint64_t)ROBOT_MOTION_WARPS;
    most = CAROM_MIN(CAROM_MIN(most, resident), a->count);
    return CAROM_MAX(most, (uint64_t)1);
}

static carom_status robot_motion_reserve(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_ROBOT_ROWS,
                                                  robot_motion_rows(device, a) *
                                                          robot_motion_row_bytes(a->robot) +
                                                      8 * CAROM_DEVICE_ALLOCATION,
                                                  "motions"));
    return carom_robot_reserve_host(device);
}

static void robot_motion_launch(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    const uint64_t rows = robot_motion_rows(device, a);
    robot_motion_run w = {};
    carom_device_clear(device, op);
    if (a->count == 0) return;
    w.robot = *a->robot;
    w.warps = (uint32_t)rows;
    w.stride = (uint32_t)(rows * CAROM_ROBOT_BLOCK);
    w.bad = &op->counters->n[CAROM_ROBOT_N_BAD];
    w.taken = &op->counters->n[ROBOT_MOTION_TAKEN];
    w.host = carom_robot_host_list(device, op);
    w.from = a->configurations;
    w.to = a->to;
    w.count = a->count;
    w.rule = a->rule;
    w.results = (carom_robot_motion_result *)a->results;
    const carom_robot_plan *plan = &w.robot.view.plan;
    const uint64_t pairs = plan->pair_count;
    char *at =
        carom_device_take<char>(device, CAROM_SCRATCH_ROBOT_ROWS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_ROBOT_ROWS));
    w.poses = carom_robot_take<carom_robot_pose>(&at, w.stride * (uint64_t)w.robot.link_count);
    w.samples = carom_robot_take<carom_robot_motion_sample>(&at, w.stride * pairs);
    w.lists = carom_robot_take<carom_robot_times>(&at, rows * CAROM_ROBOT_MOTION_INTERVALS);
    w.proved = carom_robot_take<carom_robot_times>(&at, rows * pairs);
    w.ones = carom_robot_take<double>(&at, w.stride * (uint64_t)w.robot.dof);
    w.speeds = carom_robot_take<float>(&at, rows * pairs);
    w.undecided = carom_robot_take<uint32_t>(&at, w.stride * pairs);
    w.frames = carom_robot_take<float>(&at, w.stride * 12 * ((uint64_t)plan->joint_count + 1));
    carom_device_step(device, "motions");
    carom_device_launch(device, robot_motion_tests, carom_device_blocks(rows, ROBOT_MOTION_WARPS),
                        ROBOT_MOTION_THREADS, w);
}

carom_status carom_robot_cuda_motion(carom_device *device, const carom_device_robot_query *query) {
    carom_device_op op = {
        robot_motion_reserve, robot_motion_launch, carom_robot_finish, nullptr, {}};
    *carom_device_arguments<carom_device_robot_query>(&op) = *query;
    return carom_device_submit(device, &op);
}
