/* SPDX-License-Identifier: MIT */
/* Straight motions on the GPU, with the CPU's bytes: robot_motion_item.h, by a thread per motion.
 * Which intervals are looked at depends on what was found in those before, so the intervals of a
 * motion follow each other as on the CPU: threads take turns after a block of intervals each, and
 * whichever is done takes the next motion. As many are tested at once as the device has room for;
 * each has its list of intervals. Motions that need a comparison of faces within rounding of the
 * margin are left to the host. */
#include "robot/robot_gap_item.h"
#include "robot/robot_run_cuda.h"

#define ROBOT_MOTION_THREADS 64u /* as few as of the kernels for clearance */

/* Bytes for what is kept of motions that are tested at once: 60,000 of an arm of 7 joints. */
#define ROBOT_MOTION_BYTES (UINT64_C(1) << 31)

/* A counter of the operation: motions that threads have taken. */
enum { ROBOT_MOTION_TAKEN };

static_assert(sizeof(carom_robot_motion_result) == 40 &&
                  offsetof(carom_robot_motion_result, free_until) == 8 &&
                  offsetof(carom_robot_motion_result, a) == 24 &&
                  offsetof(carom_robot_motion_result, with_object) == 32,
              "robot_motion_write knows the layout");

/* The motions, as the kernel sees them. Rows are `stride` long: as many are tested at once. */
struct robot_motion_run : carom_robot_rows {
    const double *from, *to;
    uint64_t count;
    carom_robot_motion_rule rule;
    carom_robot_times *lists, *proved;
    float *speeds;
    uint32_t *undecided; /* pairs of the interval that is tested */
    double *ones;        /* configurations, one after the other */
    carom_robot_pose *poses;
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

static __device__ void robot_motion_round(const robot_motion_run &w, uint32_t slot,
                                          carom_robot_motion_state *m) {
    carom_robot_times taken[CAROM_ROBOT_BLOCK];
    uint32_t count = carom_robot_motion_take(m, taken), before = m->count;
    for (uint32_t i = 0; i < count && !m->unsure; ++i) {
        if (!(taken[i].low < m->cut)) continue;
        const carom_robot_motion_lane lane = robot_motion_test(w, slot, m, taken[i]);
        carom_robot_motion_refine(m, &lane, taken[i]);
    }
    carom_robot_motion_sort(m, before);
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
static __device__ bool robot_motion_start(const robot_motion_run &w, uint64_t motion,
                                          carom_robot_motion_state *m) {
    m->from = w.from + motion * m->dof;
    m->to = w.to + motion * m->dof;
    for (uint32_t k = 0; k < m->dof; ++k)
        if (!(fabs(m->from[k]) <= CAROM_ROBOT_MOST && fabs(m->to[k]) <= CAROM_ROBOT_MOST)) {
            atomicMax(w.bad, ~(carom_device_count)motion);
            return false;
        }
    carom_robot_motion_begin(m);
    return true;
}

static __global__ void __launch_bounds__(ROBOT_MOTION_THREADS)
    robot_motion_tests(robot_motion_run w) {
    carom_device_begin();
    const uint32_t slot = blockIdx.x * ROBOT_MOTION_THREADS + threadIdx.x;
    carom_robot_motion_state m = {};
    carom_device_count motion = 0;
    bool has_motion = false;
    if (slot >= w.stride) return;
    m.view = &w.robot.view;
    m.order = w.robot.order;
    m.link_count = w.robot.link_count;
    m.dof = w.robot.dof;
    m.rule = w.rule;
    m.stride = w.stride;
    m.list = w.lists + slot;
    m.proved = w.proved + slot;
    m.speed = w.speeds + slot;
    m.one = w.ones + (uint64_t)slot * m.dof;
    m.poses = w.poses + (uint64_t)slot * m.link_count;
    for (;;) {
        if (!has_motion) {
            motion = atomicAdd(w.taken, 1ull);
            if (motion >= w.count) return;
            has_motion = robot_motion_start(w, motion, &m);
            if (!has_motion) continue;
        }
        robot_motion_round(w, slot, &m);
        if (m.count != 0 && !m.unsure) continue;
        has_motion = false;
        if (m.unsure) {
            w.host.append(motion);
            continue;
        }
        carom_robot_motion_result result;
        carom_robot_motion_end(&m, &result);
        robot_motion_write(result, &w.results[motion]);
    }
}

/* ---- Operation ------------------------------------------------------------------------------- */

/* Bytes of a motion that is tested. */
static uint64_t robot_motion_row_bytes(const carom_device_robot *r) {
    const carom_robot_plan *plan = &r->view.plan;
    return sizeof(carom_robot_times) * (CAROM_ROBOT_MOTION_INTERVALS + (uint64_t)plan->pair_count) +
           (sizeof(float) + sizeof(uint32_t)) * (uint64_t)plan->pair_count +
           sizeof(float) * 12 * ((uint64_t)plan->joint_count + 1) + sizeof(double) * r->dof +
           (uint64_t)r->link_count * sizeof(carom_robot_pose);
}

/* Motions that are tested at once. */
static uint64_t robot_motion_rows(const carom_device *device, const carom_device_robot_query *a) {
    uint64_t most = ROBOT_MOTION_BYTES / robot_motion_row_bytes(a->robot);
    uint64_t resident = carom_device_resident(device, robot_motion_tests, ROBOT_MOTION_THREADS) *
                        ROBOT_MOTION_THREADS;
    most = CAROM_MIN(CAROM_MIN(most, resident), a->count);
    return CAROM_MAX(most, (uint64_t)1);
}

static carom_status robot_motion_reserve(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_ROBOT_ROWS,
                                                  robot_motion_rows(device, a) *
                                                          robot_motion_row_bytes(a->robot) +
                                                      7 * CAROM_DEVICE_ALLOCATION,
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
    w.stride = (uint32_t)rows;
    w.bad = &op->counters->n[CAROM_ROBOT_N_BAD];
    w.taken = &op->counters->n[ROBOT_MOTION_TAKEN];
    w.host = carom_robot_host_list(device, op);
    w.from = a->configurations;
    w.to = a->to;
    w.count = a->count;
    w.rule = a->rule;
    w.results = (carom_robot_motion_result *)a->results;
    const carom_robot_plan *plan = &w.robot.view.plan;
    char *at =
        carom_device_take<char>(device, CAROM_SCRATCH_ROBOT_ROWS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_ROBOT_ROWS));
    w.poses = carom_robot_take<carom_robot_pose>(&at, rows * w.robot.link_count);
    w.lists = carom_robot_take<carom_robot_times>(&at, rows * CAROM_ROBOT_MOTION_INTERVALS);
    w.proved = carom_robot_take<carom_robot_times>(&at, rows * plan->pair_count);
    w.ones = carom_robot_take<double>(&at, rows * w.robot.dof);
    w.speeds = carom_robot_take<float>(&at, rows * plan->pair_count);
    w.undecided = carom_robot_take<uint32_t>(&at, rows * plan->pair_count);
    w.frames = carom_robot_take<float>(&at, rows * 12 * ((uint64_t)plan->joint_count + 1));
    carom_device_step(device, "motions");
    carom_device_launch(device, robot_motion_tests, carom_device_blocks(rows, ROBOT_MOTION_THREADS),
                        ROBOT_MOTION_THREADS, w);
}

carom_status carom_robot_cuda_motion(carom_device *device, const carom_device_robot_query *query) {
    carom_device_op op = {
        robot_motion_reserve, robot_motion_launch, carom_robot_finish, nullptr, {}};
    *carom_device_arguments<carom_device_robot_query>(&op) = *query;
    return carom_device_submit(device, &op);
}
