/* SPDX-License-Identifier: MIT */
/* Straight motions by the CPU: sixteen intervals at a time go through the loops in floats, one per
 * lane; robot_motion_item.h decides what these leave. */
#include "robot/robot.h"

#define MOTION_TOLERANCE 1e-5 /* default, in the unit of lengths: 10 um where that is metres */

/* With covers alone intervals are halved until bodies move by this part of the robot's size. */
#define MOTION_COVER_STEP 1e-3

carom_robot_motion_rule carom_robot_motion_rule_of(const carom_robot *robot,
                                                   const carom_robot_query *query) {
    const carom_robot_query none = {0};
    const carom_robot_query *q = query != NULL ? query : &none;
    carom_robot_motion_rule rule = {.margin = q->margin, .covers_only = q->covers_only};
    double size = 0.0, out = 0.0;
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *body = &robot->bodies[i];
        if (!body->live || body->cover_count == 0) continue;
        double far = body->largest + robot->links[body->link].frame_error.size;
        size = CAROM_MAX(far, size);
        if (body->fine_overhang < HUGE_VAL) out = CAROM_MAX(body->fine_overhang, out);
    }
    rule.tolerance = q->tolerance > 0.0 ? q->tolerance : MOTION_TOLERANCE;
    rule.step = q->covers_only ? MOTION_COVER_STEP * size : out;
    rule.step = CAROM_MAX(rule.step, rule.tolerance);
    return rule;
}

/* Tests the earliest intervals, at most a block of them. */
static void motion_round(const carom_robot_call *call, carom_robot_worker *w,
                         carom_robot_motion_state *m) {
    const carom_robot *robot = call->robot;
    carom_robot_times taken[CAROM_ROBOT_BLOCK];
    carom_robot_call with = *call;
    uint32_t count = carom_robot_motion_take(m, taken), before = m->count;
    carom_robot_worker_clear(robot, w);
    for (uint32_t i = 0; i < count; ++i) {
        carom_robot_motion_at(m, 0.5 * (taken[i].low + taken[i].high));
        carom_robot_worker_put(robot, w, i, m->one);
        w->half_time[i] = carom_robot_motion_half(taken[i]);
    }
    with.query.margin = m->margin;
    w->block.speed = w->speed;
    carom_robot_worker_run(&with, w);
    for (uint32_t i = 0; i < count; ++i) {
        const carom_robot_motion_lane lane = {
            .beyond = (w->beyond >> i & 1) != 0,
            .hit = (w->block.hit >> i & 1) != 0 ? w->block.hit_pair[i] : CAROM_NONE,
            .pairs = w->block.entry_pair,
            .lanes = w->block.entry_lanes,
            .stride = 1,
            .count = w->block.entry_count,
            .lane = i};
        if (taken[i].low < m->cut) carom_robot_motion_refine(m, &lane, taken[i]);
    }
    carom_robot_motion_sort(m, before);
}

static carom_status motion_range(void *argument, carom_range range) {
    const carom_robot_call *call = argument;
    const carom_robot *robot = call->robot;
    carom_robot_worker *w = carom_worker_state(call->states, range.worker);
    carom_arena *arena = carom_scratch(call->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    if (w == NULL) return CAROM_NO_MEMORY;
    carom_robot_view view = carom_robot_view_of(robot);
    view.separated = CAROM_CPU_CALL(call->context, carom_robot_hulls_separated);
    carom_robot_motion_state m = {
        .view = &view,
        .order = robot->order,
        .link_count = robot->link_count,
        .dof = robot->dof,
        .rule = carom_robot_motion_rule_of(robot, &call->query),
        .stride = 1,
        .list = CAROM_ARENA_TAKE(arena, carom_robot_times, CAROM_ROBOT_MOTION_INTERVALS),
        .proved = w->proved,
        .speed = w->speed,
        .one = w->one,
        .poses = w->poses};
    if (m.list == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        m.from = call->from + i * robot->dof;
        m.to = call->to + i * robot->dof;
        carom_robot_motion_begin(&m);
        while (m.count > 0) motion_round(call, w, &m);
        carom_robot_motion_end(&m, &call->motions[i]);
    }
    carom_arena_rewind(arena, mark);
    return CAROM_OK;
}

carom_status carom_robot_motion_on_cpu(carom_context *context, const carom_robot *robot,
                                       const double *from, const double *to, uint64_t count,
                                       const carom_robot_query *query,
                                       carom_robot_motion_result *results) {
    carom_robot_call call = {.context = context,
                             .robot = robot,
                             .from = from,
                             .to = to,
                             .count = count,
                             .motions = results};
    if (query != NULL) call.query = *query;
    return carom_robot_call_run(&call, count, 1, "checking motions", motion_range);
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
    CAROM_TRY(carom_robot_check_query(context, robot, from, count, query));
    CAROM_TRY(carom_robot_check_query(context, robot, to, count, query));
    if (count == 0) return CAROM_OK;
    if (context->device != NULL)
        return carom_robot_device_motion(context, robot, from, to, count, query, results);
    return carom_robot_motion_on_cpu(context, robot, from, to, count, query, results);
}
