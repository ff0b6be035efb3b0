/* SPDX-License-Identifier: MIT */
/* Straight motions, proved free by bounds of how far bodies move (conservative advancement:
 * Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996; Schwarzer, Saha and
 * Latombe, "Adaptive Dynamic Collision Checking for Single and Multiple Articulated Robots", 2005).
 *
 * While joint values change by d per unit of time, a point of a body moves no faster than the sum,
 * over the joints above it, of |d| times its greatest distance from the joint's axis: lengths of
 * all links between, and its own distance from its link's origin. Of a pair only joints between the
 * two count. An interval of half length h about t is free for a pair if the two are farther apart
 * at t than margin + speed h. Sixteen intervals are tested at a time, one per lane, with radii
 * enlarged by speed h. One that covers do not decide is halved; once bodies move by less than
 * covers reach out, the exact distance decides, and what it proves around t is taken off the
 * interval. */
#include <string.h>

#include "geom/box.h"
#include "geom/length.h"
#include "robot/robot.h"

#define MOTION_TOLERANCE 1e-5  /* default, in the unit of lengths: 10 um where that is metres */
#define MOTION_INTERVALS 2048u /* entries of the list of a motion: 16 per halving, 60 halvings */

/* An interval that is not halved further: 2^-45 of the motion. */
#define MOTION_SHORTEST 0x1p-45

/* Of |from| + |to|: what a joint value computed between the two may be off by. */
#define MOTION_VALUE_ERROR 0x1p-50

/* Relative: enlargement of speeds and times, far above their roundings. */
#define MOTION_SLACK 0x1p-20

/* With covers alone intervals are halved until bodies move by this part of the robot's size. */
#define MOTION_COVER_STEP 1e-3

/* Distances are measured up to this many times what an interval needs, so that they prove some of
 * its neighbours, too. */
#define MOTION_REACH 8.0

typedef struct motion_state {
    const carom_robot_call *call;
    carom_robot_worker *w;
    const double *from, *to;
    double margin, tolerance, step; /* step: below it the exact distance is measured */
    carom_robot_times *list;        /* the earliest last */
    carom_robot_times *proved;      /* of each pair: when an exact distance proves it free */
    uint32_t count;
    double cut;     /* nothing after it is looked at; free before */
    double contact; /* a collision; infinite: none */
    uint32_t pair;  /* of the cut */
    uint32_t hit;   /* the pair of the collision */
} motion_state;

/* ---- Speeds ---------------------------------------------------------------------------------- */

/* How fast points of a body move against the frame of a link above it. `change` of each column. */
static double speed_below(const carom_robot *robot, uint32_t body, uint32_t above,
                          const double *from, const double *to, bool error) {
    double distance = robot->bodies[body].largest, speed = 0.0;
    for (uint32_t at = robot->bodies[body].link; at != above; at = robot->links[at].parent) {
        const carom_robot_node_link *l = &robot->links[at];
        double slid = 0.0;
        if (l->column != CAROM_NONE) {
            double u = from[l->column], v = to[l->column];
            double change = error ? MOTION_VALUE_ERROR * (fabs(u) + fabs(v)) : fabs(v - u);
            change *= fabs(l->multiplier);
            if (error) change += MOTION_VALUE_ERROR * fabs(l->offset);
            double most = CAROM_MAX(fabs(u), fabs(v)) * fabs(l->multiplier) + fabs(l->offset);
            bool slides = l->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC;
            speed += slides ? change : change * distance;
            slid = slides ? most : 0.0;
        }
        distance += carom_length(l->origin) + slid;
    }
    return speed;
}

static uint32_t common_link(const carom_robot *robot, uint32_t a, uint32_t b) {
    while (a != b) {
        if (robot->links[a].depth >= robot->links[b].depth)
            a = robot->links[a].parent;
        else
            b = robot->links[b].parent;
    }
    return a;
}

static double pair_speed(const carom_robot *robot, uint32_t pair, const double *from,
                         const double *to, bool error) {
    carom_robot_plan_pair p = robot->plan.pairs[pair];
    uint32_t above = robot->order[0];
    double speed = 0.0;
    if (pair < robot->plan.self_count) {
        above = common_link(robot, robot->bodies[p.a].link, robot->bodies[p.b].link);
        speed = speed_below(robot, p.b, above, from, to, error);
    }
    speed += speed_below(robot, p.a, above, from, to, error);
    return speed * (1.0 + MOTION_SLACK);
}

static void set_speeds(motion_state *m) {
    const carom_robot *robot = m->call->robot;
    double error = 0.0;
    for (uint32_t pair = 0; pair < robot->plan.pair_count; ++pair) {
        double off = pair_speed(robot, pair, m->from, m->to, true);
        m->w->speed[pair] = carom_float_up(pair_speed(robot, pair, m->from, m->to, false), 0.0);
        CAROM_ASSERT(off >= 0.0 && m->w->speed[pair] >= 0.0f);
        error = CAROM_MAX(off, error);
    }
    m->margin = m->call->query.margin + error;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

static void cut_at(motion_state *m, double time, uint32_t pair) {
    if (time >= m->cut) return;
    m->cut = time;
    m->pair = pair;
}

static void motion_push(motion_state *m, double low, double high) {
    CAROM_ASSERT(low <= high);
    if (m->count == MOTION_INTERVALS) { /* never: cut_at is right all the same */
        cut_at(m, low, 0);
        return;
    }
    m->list[m->count++] = (carom_robot_times){low, high};
}

static void configuration_at(const motion_state *m, double t, double *q) {
    for (uint32_t i = 0; i < m->call->robot->dof; ++i) q[i] = (1.0 - t) * m->from[i] + t * m->to[i];
}

/* A collision at the middle of an interval: what is left is before it. */
static void collide(motion_state *m, carom_robot_times v, double middle, uint32_t pair) {
    double moved = (double)m->w->speed[pair] * 0.5 * (v.high - v.low);
    if (middle < m->contact) {
        m->contact = middle;
        m->hit = pair;
    }
    if (moved <= m->tolerance || v.high - v.low <= MOTION_SHORTEST || middle <= v.low) {
        cut_at(m, v.low, pair);
        return;
    }
    cut_at(m, middle, pair);
    motion_push(m, v.low, middle);
}

static bool is_proved(const motion_state *m, uint32_t pair, carom_robot_times v) {
    return m->proved[pair].low <= v.low && v.high <= m->proved[pair].high;
}

/* How an exact distance leaves an interval. */
typedef enum motion_step { MOTION_GOES_ON, MOTION_ENDS } motion_step;

/* Measures a pair at the middle of an interval; *safe becomes at most the time that it proves. Ends
 * where the pair collides, or is too near for the interval to be halved. */
static motion_step measure_motion_pair(motion_state *m, carom_robot_times v, double middle,
                                       uint32_t pair, double *safe) {
    const carom_robot *robot = m->call->robot;
    double half = 0.5 * (v.high - v.low) * (1.0 + MOTION_SLACK);
    double speed = (double)m->w->speed[pair], error;
    double need = m->margin + MOTION_REACH * speed * half + m->tolerance;
    double d = carom_robot_pair_distance(robot, m->w->poses, pair, need, &error);
    if (d <= m->call->query.margin + 4.0 * error &&
        carom_robot_pair_collides(m->call->context, robot, m->w->poses, pair,
                                  m->call->query.margin)) {
        collide(m, v, middle, pair);
        return MOTION_ENDS;
    }
    double clear = d - 2.0 * error - m->margin;
    if (clear <= m->tolerance && clear < speed * half) {
        /* Too near to go on from here. What is before it may still be free. */
        *safe = 0.0;
        if (speed * half > m->tolerance && v.high - v.low > MOTION_SHORTEST) return MOTION_GOES_ON;
        cut_at(m, v.low, pair);
        return MOTION_ENDS;
    }
    double time = speed > 0.0 ? clear / speed * (1.0 - MOTION_SLACK) : HUGE_VAL;
    CAROM_ASSERT(time > 0.0);
    m->proved[pair] = (carom_robot_times){middle - time, middle + time};
    *safe = CAROM_MIN(time, *safe);
    return MOTION_GOES_ON;
}

/* The pairs of a lane by exact distances: what is proved free about the middle is taken off. */
static void advance(motion_state *m, uint32_t lane, carom_robot_times v, double middle) {
    const carom_robot *robot = m->call->robot;
    const carom_robot_block *block = &m->w->block;
    double half = 0.5 * (v.high - v.low) * (1.0 + MOTION_SLACK), safe = half;
    uint32_t closest = 0;
    bool beyond = (m->w->beyond >> lane & 1) != 0;
    uint32_t count = beyond ? robot->plan.pair_count : block->entry_count;
    carom_robot_worker_get(robot, m->w, lane, m->w->one);
    carom_robot_pose_links(robot, m->w->one, m->w->poses);
    for (uint32_t e = 0; e < count; ++e) {
        if (!beyond && (block->entry_lanes[e] >> lane & 1) == 0) continue;
        uint32_t pair = beyond ? e : block->entry_pair[e];
        double before = safe;
        if (is_proved(m, pair, v)) continue;
        if (measure_motion_pair(m, v, middle, pair, &safe) == MOTION_ENDS) return;
        if (safe < before) closest = pair;
    }
    if (safe >= half) return;
    if (v.high - v.low <= MOTION_SHORTEST) {
        cut_at(m, v.low, closest);
        return;
    }
    if (middle + safe < v.high) motion_push(m, middle + safe, v.high);
    if (v.low < middle - safe) motion_push(m, v.low, middle - safe);
}

static void motion_refine(motion_state *m, uint32_t lane, carom_robot_times v) {
    const carom_robot_block *block = &m->w->block;
    double middle = 0.5 * (v.low + v.high), half = 0.5 * (v.high - v.low);
    bool beyond = (m->w->beyond >> lane & 1) != 0;
    double moved = 0.0;
    uint32_t first = CAROM_NONE;
    if ((block->hit >> lane & 1) != 0) {
        collide(m, v, middle, block->hit_pair[lane]);
        return;
    }
    for (uint32_t e = 0; e < block->entry_count && !beyond; ++e) {
        if ((block->entry_lanes[e] >> lane & 1) == 0) continue;
        if (is_proved(m, block->entry_pair[e], v)) continue;
        double by = (double)m->w->speed[block->entry_pair[e]] * half;
        moved = CAROM_MAX(by, moved);
        if (first == CAROM_NONE) first = block->entry_pair[e];
    }
    if (first == CAROM_NONE && !beyond) return;
    if (m->call->query.covers_only && (beyond || moved <= m->step || half <= MOTION_SHORTEST)) {
        cut_at(m, v.low, beyond ? 0 : first);
    } else if (beyond || moved <= m->step) {
        advance(m, lane, v, middle);
    } else {
        motion_push(m, middle, v.high);
        motion_push(m, v.low, middle);
    }
}

static int compare_times(const carom_robot_times *a, const carom_robot_times *b) {
    return a->low < b->low ? 1 : a->low > b->low ? -1 : 0;
}

/* Sorts what a round pushed, so that the earliest are last. */
static void sort_from(motion_state *m, uint32_t first) {
    for (uint32_t i = first + 1; i < m->count; ++i) {
        carom_robot_times v = m->list[i];
        uint32_t k = i;
        for (; k > first && compare_times(&m->list[k - 1], &v) > 0; --k)
            m->list[k] = m->list[k - 1];
        m->list[k] = v;
    }
}

/* Tests the earliest intervals, at most a block of them. */
static void motion_round(motion_state *m) {
    const carom_robot *robot = m->call->robot;
    carom_robot_times taken[CAROM_ROBOT_BLOCK];
    uint32_t count = 0;
    carom_robot_worker_clear(robot, m->w);
    while (m->count > 0 && count < CAROM_ROBOT_BLOCK) {
        carom_robot_times v = m->list[--m->count];
        if (v.low >= m->cut) continue;
        double half = 0.5 * (v.high - v.low) * (1.0 + MOTION_SLACK);
        configuration_at(m, 0.5 * (v.low + v.high), m->w->one);
        carom_robot_worker_put(robot, m->w, count, m->w->one);
        m->w->half_time[count] = carom_float_up(half * (1.0 + (double)CAROM_ROBOT_SLACK), 0.0);
        taken[count++] = v;
    }
    uint32_t before = m->count;
    carom_robot_call call = *m->call;
    call.query.margin = m->margin;
    m->w->block.speed = m->w->speed;
    carom_robot_worker_run(&call, m->w);
    for (uint32_t lane = 0; lane < count; ++lane)
        if (taken[lane].low < m->cut) motion_refine(m, lane, taken[lane]);
    sort_from(m, before);
}

static carom_robot_motion_result test_motion(motion_state *m) {
    const carom_robot *robot = m->call->robot;
    carom_robot_motion_result r;
    memset(&r, 0, sizeof(r)); /* what is between members, too */
    r.free_until = r.contact = 1.0;
    r.a = r.b = CAROM_NONE;
    set_speeds(m);
    m->count = 0;
    m->cut = m->contact = HUGE_VAL;
    for (uint32_t pair = 0; pair < robot->plan.pair_count; ++pair)
        m->proved[pair] = (carom_robot_times){1.0, 0.0};
    m->pair = m->hit = 0;
    for (uint32_t i = CAROM_ROBOT_BLOCK; i-- > 0;)
        motion_push(m, i / (double)CAROM_ROBOT_BLOCK, (i + 1) / (double)CAROM_ROBOT_BLOCK);
    while (m->count > 0) motion_round(m);
    if (m->cut == HUGE_VAL) return r;
    CAROM_ASSERT(m->cut >= 0.0 && m->cut <= 1.0 && m->cut <= m->contact);
    bool collides = m->contact < HUGE_VAL;
    r.verdict = collides ? CAROM_ROBOT_VERDICT_COLLIDING : CAROM_ROBOT_VERDICT_OPEN;
    r.free_until = m->cut;
    if (collides) r.contact = m->contact;
    uint32_t pair = collides ? m->hit : m->pair;
    r.a = robot->plan.pairs[pair].a;
    r.b = robot->plan.pairs[pair].b;
    r.with_object = pair >= robot->plan.self_count;
    return r;
}

static carom_status motion_range(void *argument, carom_range range) {
    const carom_robot_call *call = argument;
    const carom_robot *robot = call->robot;
    carom_robot_worker *w = carom_worker_state(call->states, range.worker);
    carom_arena *arena = carom_scratch(call->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    if (w == NULL) return CAROM_NO_MEMORY;
    motion_state m = {.call = call, .w = w, .proved = w->proved};
    double tolerance = call->query.tolerance, size = 0.0, out = 0.0;
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *body = &robot->bodies[i];
        if (!body->live || body->cover_count == 0) continue;
        double far = body->largest + robot->links[body->link].frame_error.size;
        size = CAROM_MAX(far, size);
        if (body->fine_overhang < HUGE_VAL) out = CAROM_MAX(body->fine_overhang, out);
    }
    m.tolerance = tolerance > 0.0 ? tolerance : MOTION_TOLERANCE;
    m.step = call->query.covers_only ? MOTION_COVER_STEP * size : out;
    m.step = CAROM_MAX(m.step, m.tolerance);
    m.list = CAROM_ARENA_TAKE(arena, carom_robot_times, MOTION_INTERVALS);
    if (m.list == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        m.from = call->from + i * robot->dof;
        m.to = call->to + i * robot->dof;
        call->motions[i] = test_motion(&m);
    }
    carom_arena_rewind(arena, mark);
    return CAROM_OK;
}

carom_status carom_robot_motion(carom_context *context, const carom_robot *robot,
                                const double *from, const double *to, uint64_t count,
                                const carom_robot_query *query,
                                carom_robot_motion_result *results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(from, count * robot->dof, "configurations at the start");
    CAROM_REQUIRE_INPUTS(to, count * robot->dof, "configurations at the end");
    CAROM_REQUIRE_OUTPUTS(results, count, "results");
    CAROM_TRY(carom_context_require_cpu(context, "the motion of a robot"));
    CAROM_TRY(carom_robot_check_query(context, robot, from, count, query));
    CAROM_TRY(carom_robot_check_query(context, robot, to, count, query));
    if (count == 0) return CAROM_OK;
    carom_robot_call call = {.context = context,
                             .robot = robot,
                             .from = from,
                             .to = to,
                             .count = count,
                             .motions = results};
    if (query != NULL) call.query = *query;
    return carom_robot_call_run(&call, count, 1, "checking motions", motion_range);
}
