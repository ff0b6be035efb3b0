/* SPDX-License-Identifier: MIT */
/* Configurations: blocks of 16 go through the loops in floats; what these leave undecided is
 * compared with trees by its spheres, then decided exactly, one configuration after the other. Each
 * step depends on its own configuration alone, so the division into blocks has no effect. */
#include <string.h>

#include "base/progress.h"
#include "geom/box.h"
#include "geom/length.h"
#include "robot/robot.h"
#include "robot/robot_gap_item.h"

/* Blocks of a range: some 50 us where covers decide all. */
#define CHECK_BLOCKS_PER_RANGE 16u

CAROM_RESULT_FILL(carom_robot_pair_counts);
CAROM_RESULT_DEFINE_FREE(carom_robot_pair_counts);

/* ---- Workers --------------------------------------------------------------------------------- */

bool carom_robot_worker_begin(void *user, void *state, uint32_t worker) {
    const carom_robot_call *call = user;
    const carom_robot *robot = call->robot;
    const carom_robot_plan *plan = &robot->plan;
    carom_robot_worker *w = state;
    carom_arena *arena = carom_scratch(call->context, worker);
    const uint64_t lanes = CAROM_ROBOT_BLOCK, pairs = plan->pair_count + UINT64_C(1);
    memset(w, 0, sizeof(*w));
    w->q = CAROM_ARENA_TAKE(arena, double, lanes *(robot->dof + UINT64_C(1)));
    w->one = CAROM_ARENA_TAKE(arena, double, robot->dof + UINT64_C(1));
    w->poses = CAROM_ARENA_TAKE(arena, carom_robot_pose, robot->link_count);
    w->block.frames =
        CAROM_ARENA_TAKE(arena, float, 12 * lanes * (plan->joint_count + UINT64_C(1)));
    w->block.at = CAROM_ARENA_TAKE(arena, float, 3 * lanes * (plan->sphere_count + UINT64_C(1)));
    w->block.posed = CAROM_ARENA_TAKE(arena, bool, plan->body_count);
    w->block.near = CAROM_ARENA_TAKE(arena, float, 4 * (plan->most_fine + lanes));
    w->block.near_lanes = CAROM_ARENA_TAKE(arena, uint32_t, plan->most_fine / 4 + UINT64_C(1));
    /* The narrowest vectors have four lanes: a pair has up to four entries. */
    w->block.entry_pair = CAROM_ARENA_TAKE(arena, uint32_t, 4 * pairs);
    w->block.entry_lanes = CAROM_ARENA_TAKE(arena, uint32_t, 4 * pairs);
    w->block.q = w->q;
    w->block.half_time = w->half_time;
    bool fits = w->q != NULL && w->one != NULL && w->poses != NULL && w->block.frames != NULL &&
                w->block.at != NULL && w->block.posed != NULL && w->block.near != NULL &&
                w->block.near_lanes != NULL && w->block.entry_pair != NULL &&
                w->block.entry_lanes != NULL;
    if (call->gaps != NULL) {
        w->block.gap = CAROM_ARENA_TAKE(arena, float, lanes *pairs);
        fits &= w->block.gap != NULL;
    }
    if (call->motions != NULL) {
        w->speed = CAROM_ARENA_TAKE(arena, float, pairs);
        w->proved = CAROM_ARENA_TAKE(arena, carom_robot_times, pairs);
        fits &= w->speed != NULL && w->proved != NULL;
    }
    return fits;
}

void carom_robot_worker_clear(const carom_robot *robot, carom_robot_worker *w) {
    memset(w->q, 0, sizeof(*w->q) * CAROM_ROBOT_BLOCK * robot->dof);
    memset(w->half_time, 0, sizeof(w->half_time));
    w->block.lanes = w->beyond = 0;
}

void carom_robot_worker_put(const carom_robot *robot, carom_robot_worker *w, uint32_t lane,
                            const double *q) {
    bool within = robot->has_floats;
    for (uint32_t i = 0; i < robot->dof; ++i) {
        w->q[i * (uint64_t)CAROM_ROBOT_BLOCK + lane] = q[i];
        within &= fabs(q[i]) <= robot->plan_limits[i];
    }
    CAROM_ASSERT(lane < CAROM_ROBOT_BLOCK);
    if (within)
        w->block.lanes |= UINT32_C(1) << lane;
    else
        w->beyond |= UINT32_C(1) << lane;
}

/* ---- Spheres and trees ----------------------------------------------------------------------- */

/* The frames of a lane. */
static carom_robot_frames frames_in(const carom_robot_worker *w, uint32_t lane) {
    return (carom_robot_frames){w->block.frames + lane, CAROM_ROBOT_BLOCK};
}

/* How far covers are enlarged: by the margin, and by how far a pair moves. */
static double extra_of(const carom_robot_worker *w, uint32_t pair, uint32_t lane) {
    double extra = (double)w->block.margin;
    if (w->block.speed != NULL)
        extra += (double)w->half_time[lane] * (double)w->block.speed[pair] *
                 (1.0 + CAROM_ROBOT_EXTRA_SLACK);
    return extra;
}

void carom_robot_worker_run(const carom_robot_call *call, carom_robot_worker *w) {
    const carom_robot_plan *plan = &call->robot->plan;
    const carom_robot_view view = carom_robot_view_of(call->robot);
    carom_robot_block *block = &w->block;
    carom_robot_margins(call->query.margin, &block->margin, &block->inner_margin);
    CAROM_CPU_CALL(call->context, carom_robot_plan_check)(plan, block);
    CAROM_ASSERT((block->hit & ~block->lanes) == 0);
    w->undecided = 0;
    for (uint32_t e = 0; e < block->entry_count; ++e) {
        uint32_t pair = block->entry_pair[e];
        bool is_tree = carom_robot_is_tree_pair(plan, pair);
        uint32_t left = is_tree ? block->entry_lanes[e] & ~block->hit : 0;
        for (; left != 0; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left), bit = UINT32_C(1) << lane;
            carom_robot_frames frames = frames_in(w, lane);
            carom_robot_reach reach = {extra_of(w, pair, lane), block->inner_margin};
            carom_robot_tree_verdict verdict =
                carom_robot_test_object(&view, &frames, pair, &reach);
            if (verdict == CAROM_ROBOT_TREE_APART) block->entry_lanes[e] &= ~bit;
            if (verdict != CAROM_ROBOT_TREE_COLLIDING) continue;
            block->hit |= bit;
            block->hit_pair[lane] = pair;
        }
        w->undecided |= block->entry_lanes[e];
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

carom_status carom_robot_check_query(carom_context *context, const carom_robot *robot,
                                     const double *configurations, uint64_t count,
                                     const carom_robot_query *query) {
    if (query != NULL && !(query->margin >= 0.0 && query->margin <= CAROM_ROBOT_MOST))
        return carom_fail(context, CAROM_BAD_INPUT, "the margin is %g: it must be from 0 to 2^40",
                          query->margin);
    if (query != NULL && !(query->tolerance >= 0.0 && query->tolerance <= CAROM_ROBOT_MOST))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the tolerance is %g: it must be from 0 to 2^40", query->tolerance);
    for (uint64_t i = 0; i < count * robot->dof; ++i)
        if (!(fabs(configurations[i]) <= CAROM_ROBOT_MOST))
            return carom_fail(
                context, CAROM_BAD_INPUT,
                "configuration %llu: number %llu is %g: it must be finite and at most "
                "2^40 in size",
                (unsigned long long)(i / robot->dof), (unsigned long long)(i % robot->dof),
                configurations[i]);
    return CAROM_OK;
}

carom_status carom_robot_call_run(carom_robot_call *call, uint64_t count, uint64_t grain,
                                  const char *what, carom_range_fn *body) {
    carom_context *context = call->context;
    carom_worker_states states;
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    call->states = &states;
    carom_status status = carom_worker_states_begin(&states, context, sizeof(carom_robot_worker),
                                                    carom_robot_worker_begin, call);
    if (status == CAROM_OK) {
        status = carom_parallel_phase(context, what, count, grain, body, call);
        if (status == CAROM_NO_MEMORY)
            status = carom_fail_memory(context, 0, "the state of a worker");
        carom_worker_states_release(&states);
    }
    carom_arena_rewind(arena, mark);
    return status;
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static carom_robot_result result_of(const carom_robot *robot, carom_robot_verdict verdict,
                                    carom_robot_stage stage, uint32_t pair) {
    carom_robot_result r;
    memset(&r, 0, sizeof(r)); /* what is between members, too: results are the same to the byte */
    r.verdict = verdict;
    r.stage = stage;
    r.a = r.b = CAROM_NONE;
    if (verdict == CAROM_ROBOT_VERDICT_FREE) return r;
    CAROM_ASSERT(pair < robot->plan.pair_count);
    r.a = robot->plan.pairs[pair].a;
    r.b = robot->plan.pairs[pair].b;
    r.with_object = pair >= robot->plan.self_count;
    CAROM_ASSERT(r.with_object || r.a < r.b);
    return r;
}

/* All pairs, where nothing is computed in floats. */
static carom_robot_result robot_decide_exactly(const carom_robot_call *call, carom_robot_worker *w,
                                               const double *q) {
    const carom_robot *robot = call->robot;
    if (call->query.covers_only)
        return robot->plan.pair_count == 0
                   ? result_of(robot, CAROM_ROBOT_VERDICT_FREE, CAROM_ROBOT_STAGE_COVERS, 0)
                   : result_of(robot, CAROM_ROBOT_VERDICT_OPEN, CAROM_ROBOT_STAGE_COVERS, 0);
    carom_robot_pose_links(robot, q, w->poses);
    for (uint32_t pair = 0; pair < robot->plan.pair_count; ++pair)
        if (carom_robot_pair_collides(call->context, robot, w->poses, pair, call->query.margin))
            return result_of(robot, CAROM_ROBOT_VERDICT_COLLIDING, CAROM_ROBOT_STAGE_EXACT, pair);
    return result_of(robot, CAROM_ROBOT_VERDICT_FREE, CAROM_ROBOT_STAGE_EXACT, 0);
}

static carom_robot_result decide_lane(const carom_robot_call *call, carom_robot_worker *w,
                                      uint32_t lane, const double *q) {
    const carom_robot *robot = call->robot;
    const carom_robot_block *block = &w->block;
    uint32_t bit = UINT32_C(1) << lane;
    bool posed = false;
    if ((w->beyond & bit) != 0) return robot_decide_exactly(call, w, q);
    if ((block->hit & bit) != 0)
        return result_of(robot, CAROM_ROBOT_VERDICT_COLLIDING, CAROM_ROBOT_STAGE_INNER,
                         block->hit_pair[lane]);
    for (uint32_t e = 0; e < block->entry_count && (w->undecided & bit) != 0; ++e) {
        if ((block->entry_lanes[e] & bit) == 0) continue;
        uint32_t pair = block->entry_pair[e];
        if (call->query.covers_only)
            return result_of(robot, CAROM_ROBOT_VERDICT_OPEN, CAROM_ROBOT_STAGE_INNER, pair);
        if (!posed) carom_robot_pose_links(robot, q, w->poses);
        posed = true;
        if (carom_robot_pair_collides(call->context, robot, w->poses, pair, call->query.margin))
            return result_of(robot, CAROM_ROBOT_VERDICT_COLLIDING, CAROM_ROBOT_STAGE_EXACT, pair);
    }
    return result_of(robot, CAROM_ROBOT_VERDICT_FREE,
                     posed ? CAROM_ROBOT_STAGE_EXACT : CAROM_ROBOT_STAGE_COVERS, 0);
}

/* Puts configurations from `first` on into the lanes of a worker; returns how many. */
static uint32_t put_block(const carom_robot_call *call, carom_robot_worker *w, uint64_t first,
                          uint64_t end) {
    uint64_t left = end - first;
    uint32_t count = (uint32_t)CAROM_MIN(left, CAROM_ROBOT_BLOCK);
    if (count < CAROM_ROBOT_BLOCK) carom_robot_worker_clear(call->robot, w);
    w->block.lanes = w->beyond = 0;
    for (uint32_t i = 0; i < count; ++i)
        carom_robot_worker_put(call->robot, w, i, call->from + (first + i) * call->robot->dof);
    CAROM_ASSERT((w->block.lanes & w->beyond) == 0);
    CAROM_ASSERT((w->block.lanes | w->beyond) == (UINT32_C(1) << count) - 1);
    return count;
}

static carom_status check_range(void *argument, carom_range range) {
    const carom_robot_call *call = argument;
    const carom_robot *robot = call->robot;
    carom_robot_worker *w = carom_worker_state(call->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t first = range.begin; first < range.end; first += CAROM_ROBOT_BLOCK) {
        if (carom_progress_stop(call->context, range.worker)) return CAROM_OK;
        uint32_t count = put_block(call, w, first, range.end);
        carom_robot_worker_run(call, w);
        for (uint32_t i = 0; i < count; ++i)
            call->results[first + i] =
                decide_lane(call, w, i, call->from + (first + i) * robot->dof);
    }
    return CAROM_OK;
}

carom_status carom_robot_check_on_cpu(carom_context *context, const carom_robot *robot,
                                      const double *configurations, uint64_t count,
                                      const carom_robot_query *query, carom_robot_result *results) {
    carom_robot_call call = {.context = context,
                             .robot = robot,
                             .from = configurations,
                             .count = count,
                             .results = results};
    if (query != NULL) call.query = *query;
    return carom_robot_call_run(&call, count, (uint64_t)CHECK_BLOCKS_PER_RANGE * CAROM_ROBOT_BLOCK,
                                "checking configurations", check_range);
}

carom_status carom_robot_check(carom_context *context, const carom_robot *robot,
                               const double *configurations, uint64_t count,
                               const carom_robot_query *query, carom_robot_result *results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(configurations, count * robot->dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(results, count, "results");
    CAROM_TRY(carom_robot_check_query(context, robot, configurations, count, query));
    if (context->device != NULL)
        return carom_robot_device_check(context, robot, configurations, count, query, results);
    return carom_robot_check_on_cpu(context, robot, configurations, count, query, results);
}

/* ---- Undecided pairs ------------------------------------------------------------------------- */

carom_status carom_robot_count_open(carom_context *context, const carom_robot *robot,
                                    uint32_t samples, uint32_t *counts) {
    carom_robot_call call = {.context = context, .robot = robot};
    carom_robot_worker w;
    carom_random random = {1};
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    bool fits = carom_robot_worker_begin(&call, &w, 0);
    memset(counts, 0, robot->plan.pair_count * sizeof(*counts));
    for (uint32_t i = 0; i < samples && fits; i += CAROM_ROBOT_BLOCK) {
        carom_robot_worker_clear(robot, &w);
        for (uint32_t lane = 0; lane < CAROM_ROBOT_BLOCK; ++lane) {
            for (uint32_t k = 0; k < robot->dof; ++k)
                w.one[k] = carom_random_between(&random, robot->lower[k], robot->upper[k]);
            carom_robot_worker_put(robot, &w, lane, w.one);
        }
        carom_robot_worker_run(&call, &w);
        for (uint32_t e = 0; e < w.block.entry_count; ++e)
            counts[w.block.entry_pair[e]] +=
                (uint32_t)__builtin_popcount(w.block.entry_lanes[e] & ~w.block.hit);
    }
    carom_arena_rewind(arena, mark);
    return fits ? CAROM_OK : carom_fail_memory(context, 0, "the state of a worker");
}

/* ---- Clearance ------------------------------------------------------------------------------- */

static carom_status clearance_range(void *argument, carom_range range) {
    const carom_robot_call *call = argument;
    const carom_robot *robot = call->robot;
    carom_robot_worker *w = carom_worker_state(call->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    const carom_robot_view view = carom_robot_view_of(robot);
    carom_robot_gap_lane lane = {.view = &view,
                                 .stride = CAROM_ROBOT_BLOCK,
                                 .poses = w->poses,
                                 .block = &w->block,
                                 .fine_gap =
                                     CAROM_CPU_CALL(call->context, carom_robot_plan_fine_gap)};
    for (uint64_t first = range.begin; first < range.end; first += CAROM_ROBOT_BLOCK) {
        if (carom_progress_stop(call->context, range.worker)) return CAROM_OK;
        uint32_t count = put_block(call, w, first, range.end);
        CAROM_CPU_CALL(call->context, carom_robot_plan_gaps)(&robot->plan, &w->block);
        for (uint32_t i = 0; i < count; ++i) {
            lane.frames = frames_in(w, i);
            lane.rough = w->block.gap + i;
            lane.lane = i;
            lane.has_floats = (w->beyond >> i & 1) == 0;
            if (call->query.covers_only) {
                carom_robot_gap_by_covers(&lane, &call->gaps[first + i]);
                continue;
            }
            carom_robot_pose_links(robot, call->from + (first + i) * robot->dof, w->poses);
            carom_robot_gap_exactly(&lane, &call->gaps[first + i]);
        }
    }
    return CAROM_OK;
}

carom_status carom_robot_clearance(carom_context *context, const carom_robot *robot,
                                   const double *configurations, uint64_t count,
                                   const carom_robot_query *query, carom_robot_gap *gaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(configurations, count * robot->dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(gaps, count, "gaps");
    CAROM_TRY(carom_robot_check_query(context, robot, configurations, count, query));
    if (count == 0) return CAROM_OK;
    if (context->device != NULL)
        return carom_robot_device_clearance(context, robot, configurations, count, query, gaps);
    carom_robot_call call = {
        .context = context, .robot = robot, .from = configurations, .count = count, .gaps = gaps};
    if (query != NULL) call.query = *query;
    return carom_robot_call_run(&call, count, CAROM_ROBOT_BLOCK, "measuring clearance",
                                clearance_range);
}

/* ---- Poses ----------------------------------------------------------------------------------- */

carom_status carom_robot_poses(carom_context *context, const carom_robot *robot,
                               const double *configurations, uint64_t count, carom_pose *poses) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(configurations, count * robot->dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(poses, count, "poses");
    CAROM_TRY(carom_context_require_cpu(context, "the poses of a robot"));
    CAROM_TRY(carom_robot_check_query(context, robot, configurations, count, NULL));
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_robot_pose *posed = CAROM_ARENA_TAKE(arena, carom_robot_pose, robot->link_count);
    carom_status status =
        posed == NULL ? carom_fail_memory(context, 0, "poses of links") : CAROM_OK;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        carom_robot_pose_links(robot, configurations + i * robot->dof, posed);
        for (uint32_t k = 0; k < robot->link_count && status == CAROM_OK; ++k) {
            const carom_frame *f = &posed[k].frame;
            const double matrix[12] = {f->r[0], f->r[1], f->r[2], f->t.x,  f->r[3], f->r[4],
                                       f->r[5], f->t.y,  f->r[6], f->r[7], f->r[8], f->t.z};
            carom_pose *pose = &poses[i * robot->link_count + k];
            status = carom_pose_from_matrix(context, matrix, pose);
            if (status == CAROM_OK) pose->q = carom_quat_unit(pose->q); /* as callers expect */
        }
    }
    carom_arena_rewind(arena, mark);
    return status;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static carom_status sample_range(void *argument, carom_range range) {
    const carom_robot_call *call = argument;
    const carom_robot *robot = call->robot;
    carom_robot_worker *w = carom_worker_state(call->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_random random = {call->seed + i * UINT64_C(0x9e3779b97f4a7c15)};
        random.state = carom_random_next(&random);
        if (carom_progress_stop(call->context, range.worker)) return CAROM_OK;
        for (uint32_t k = 0; k < robot->dof; ++k)
            w->one[k] = carom_random_between(&random, robot->lower[k], robot->upper[k]);
        carom_robot_pose_links(robot, w->one, w->poses);
        for (uint32_t pair = 0; pair < robot->plan.self_count; ++pair)
            if (carom_robot_pair_collides(call->context, robot, w->poses, pair, 0.0))
                atomic_fetch_add(&call->counts[pair], 1);
    }
    return CAROM_OK;
}

carom_status carom_robot_sample_pairs(carom_context *context, const carom_robot *robot,
                                      uint64_t samples, uint64_t seed,
                                      carom_robot_pair_counts *counts) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_RESULT(counts, "counts");
    CAROM_TRY(carom_context_require_cpu(context, "what a robot's pairs do"));
    uint64_t pairs = robot->plan.self_count, writable;
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_robot_call call = {.context = context, .robot = robot, .samples = samples, .seed = seed};
    call.counts = CAROM_ARENA_TAKE(arena, _Atomic uint64_t, pairs + 1);
    carom_status status =
        call.counts == NULL ? carom_fail_memory(context, 0, "counts of pairs") : CAROM_OK;
    if (status == CAROM_OK) {
        for (uint64_t i = 0; i < pairs; ++i) atomic_init(&call.counts[i], 0);
        status = carom_robot_call_run(&call, samples, 16, "sampling pairs", sample_range);
    }
    if (status == CAROM_OK)
        status =
            carom_robot_pair_counts_begin(context, &context->allocator, counts, pairs, &writable);
    if (status == CAROM_OK) {
        for (uint64_t i = 0; i < writable; ++i)
            counts->data[i] = (carom_robot_pair_count){
                robot->plan.pairs[i].a, robot->plan.pairs[i].b, atomic_load(&call.counts[i])};
        status = carom_robot_pair_counts_end(counts);
    }
    carom_arena_rewind(arena, mark);
    return status;
}
