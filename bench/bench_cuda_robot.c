/* SPDX-License-Identifier: MIT */
/* Robots on the GPU: verdicts of a million random configurations of the arm of scenes/arm.h in
 * device memory, by covers alone and exactly, clearance of some of them and motions between some;
 * alone, among 20 boxes, and in a knot of 190,080 triangles. Before anything is timed, the answers
 * are compared with the CPU's, byte for byte; all of its threads are beside. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"
#include "scenes/arm.h"
#include "scenes/robots.h"

#define CONFIGURATIONS 1000000u
#define GAPS           100000u /* of these, with clearance */
#define MOTIONS        20000u  /* from these to those that lie as many further on, a part of it */
#define MOTION_SHARE   0.2     /* that part: some 1 rad */
#define ARM_REACH      1.3     /* metres */

typedef struct player {
    carom_context *cpu, *cuda;
    carom_robot *robot;
    carom_cuda_robot *copy;
    double *q;
    carom_robot_result *expected, *found;
    double *to; /* of motions */
    carom_robot_gap *expected_gaps, *gaps;
    carom_robot_motion_result *expected_moves, *moves;
    void *device_q, *device_to, *device_results, *device_gaps, *device_moves;
    uint64_t count, on_cpu; /* configurations; those that the CPU is timed with */
    uint64_t gap_count, move_count;
    carom_robot_query query;
} player;

/* Finishes what was queued; the time of its kernels is that of the device. */
static bool finish_timed(player *p) {
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    return true;
}

static bool run_cuda(void *input) {
    player *p = input;
    return carom_cuda_robot_check(p->cuda, p->copy, p->device_q, p->count, &p->query,
                                  p->device_results) == CAROM_OK &&
           finish_timed(p);
}

static bool run_cpu(void *input) {
    player *p = input;
    return carom_robot_check(p->cpu, p->robot, p->q, p->on_cpu, &p->query, p->found) == CAROM_OK;
}

static bool verify(player *p) {
    uint64_t bytes = p->count * sizeof(*p->found);
    return carom_robot_check(p->cpu, p->robot, p->q, p->count, &p->query, p->expected) ==
               CAROM_OK &&
           run_cuda(p) &&
           carom_cuda_read(p->cuda, p->found, p->device_results, bytes) == CAROM_OK &&
           memcmp(p->expected, p->found, bytes) == 0;
}

static void note_steps(bench *bench, player *p, const char *job) {
    carom_cuda_steps steps;
    if (carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK) return;
    for (uint32_t i = 0; i < steps.count; ++i)
        bench_note(bench, "%s: %s %.3f ms", job, steps.name[i], steps.milliseconds[i]);
}

/* What the host has decided so far. */
static uint64_t host_items(const player *p) {
    carom_cuda_robot_info info;
    return carom_cuda_robot_get_info(p->copy, &info) == CAROM_OK ? info.host_items : 0;
}

/* After one run of `count` items. */
static void note_host(bench *bench, const player *p, const char *job, uint64_t before,
                      uint64_t count) {
    uint64_t items = host_items(p) - before;
    bench_note(bench, "%s: host_items %llu, host_share %.2g", job, (unsigned long long)items,
               (double)items / (double)count);
}

static void compare_query(bench *bench, player *p, const char *world, bool covers_only) {
    char job[64];
    uint64_t by_faces = 0, open = 0, before = host_items(p);
    p->query = (carom_robot_query){.covers_only = covers_only};
    snprintf(job, sizeof(job), "%s, %s", covers_only ? "covers" : "exact verdicts", world);
    if (!verify(p)) {
        bench_note(bench, "%s: the verdicts differ from the CPU's, or failed: %s", job,
                   carom_context_message(p->cuda));
        return;
    }
    note_host(bench, p, job, before, p->count);
    for (uint64_t i = 0; i < p->count; ++i) {
        by_faces += p->expected[i].stage == CAROM_ROBOT_STAGE_EXACT ? 1 : 0;
        open += p->expected[i].verdict == CAROM_ROBOT_VERDICT_OPEN ? 1 : 0;
    }
    note_steps(bench, p, job);
    const bench_contender cuda = {"cuda", NULL, run_cuda, p}, cpu = {"cpu", NULL, run_cpu, p};
    bench_compare(bench, job, (double)p->count, &cuda, 1);
    bench_compare(bench, job, (double)p->on_cpu, &cpu, 1);
    bench_note(bench, "%s: %.2f %% open, %.2f %% by faces", job,
               100.0 * (double)open / (double)p->count,
               100.0 * (double)by_faces / (double)p->count);
}

/* ---- Clearance and motions ------------------------------------------------------------------- */

static bool run_cuda_gaps(void *input) {
    player *p = input;
    return carom_cuda_robot_clearance(p->cuda, p->copy, p->device_q, p->gap_count, &p->query,
                                      p->device_gaps) == CAROM_OK &&
           finish_timed(p);
}

static bool run_cpu_gaps(void *input) {
    player *p = input;
    return carom_robot_clearance(p->cpu, p->robot, p->q, p->gap_count, &p->query,
                                 p->expected_gaps) == CAROM_OK;
}

static bool run_cuda_moves(void *input) {
    player *p = input;
    return carom_cuda_robot_motion(p->cuda, p->copy, p->device_q, p->device_to, p->move_count,
                                   &p->query, p->device_moves) == CAROM_OK &&
           finish_timed(p);
}

static bool run_cpu_moves(void *input) {
    player *p = input;
    return carom_robot_motion(p->cpu, p->robot, p->q, p->to, p->move_count, &p->query,
                              p->expected_moves) == CAROM_OK;
}

static void compare_gaps(bench *bench, player *p, const char *world, bool covers_only) {
    char job[64];
    const uint64_t bytes = p->gap_count * sizeof(*p->gaps);
    p->query = (carom_robot_query){.covers_only = covers_only};
    snprintf(job, sizeof(job), "clearance%s, %s", covers_only ? " by covers" : "", world);
    if (!run_cpu_gaps(p) || !run_cuda_gaps(p) ||
        carom_cuda_read(p->cuda, p->gaps, p->device_gaps, bytes) != CAROM_OK ||
        memcmp(p->gaps, p->expected_gaps, bytes) != 0) {
        bench_note(bench, "%s: the distances differ from the CPU's, or failed: %s", job,
                   carom_context_message(p->cuda));
        return;
    }
    const bench_contender cuda = {"cuda", NULL, run_cuda_gaps, p},
                          cpu = {"cpu", NULL, run_cpu_gaps, p};
    bench_compare(bench, job, (double)p->gap_count, &cuda, 1);
    bench_compare(bench, job, (double)p->gap_count, &cpu, 1);
}

static void compare_moves(bench *bench, player *p, const char *world) {
    char job[64];
    const uint64_t bytes = p->move_count * sizeof(*p->moves), before = host_items(p);
    p->query = (carom_robot_query){0};
    snprintf(job, sizeof(job), "motions, %s", world);
    if (!run_cpu_moves(p) || !run_cuda_moves(p) ||
        carom_cuda_read(p->cuda, p->moves, p->device_moves, bytes) != CAROM_OK ||
        memcmp(p->moves, p->expected_moves, bytes) != 0) {
        bench_note(bench, "%s: the motions differ from the CPU's, or failed: %s", job,
                   carom_context_message(p->cuda));
        return;
    }
    note_host(bench, p, job, before, p->move_count);
    const bench_contender cuda = {"cuda", NULL, run_cuda_moves, p},
                          cpu = {"cpu", NULL, run_cpu_moves, p};
    bench_compare(bench, job, (double)p->move_count, &cuda, 1);
    bench_compare(bench, job, (double)p->move_count, &cpu, 1);
}

static void compare_world(bench *bench, player *p, const char *world) {
    if (carom_cuda_robot_update(p->cuda, p->copy) != CAROM_OK) {
        bench_note(bench, "failed: %s", carom_context_message(p->cuda));
        return;
    }
    compare_query(bench, p, world, true);
    compare_query(bench, p, world, false);
    compare_gaps(bench, p, world, true);
    compare_gaps(bench, p, world, false);
    compare_moves(bench, p, world);
}

/* The ends of motions, and what clearance and motions need. */
static carom_status make_moves(player *p) {
    const uint64_t values = p->move_count * SCENE_ARM_JOINTS;
    p->to = malloc(values * sizeof(*p->to));
    p->expected_gaps = calloc(p->gap_count, sizeof(*p->gaps));
    p->gaps = calloc(p->gap_count, sizeof(*p->gaps));
    p->expected_moves = calloc(p->move_count, sizeof(*p->moves));
    p->moves = calloc(p->move_count, sizeof(*p->moves));
    if (p->to == NULL || p->expected_gaps == NULL || p->gaps == NULL || p->expected_moves == NULL ||
        p->moves == NULL)
        return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < values; ++i)
        p->to[i] = p->q[i] + MOTION_SHARE * (p->q[values + i] - p->q[i]);
    carom_status status = carom_cuda_allocate(p->cuda, values * sizeof(*p->to), &p->device_to);
    if (status == CAROM_OK)
        status = carom_cuda_write(p->cuda, p->device_to, p->to, values * sizeof(*p->to));
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, p->gap_count * sizeof(*p->gaps), &p->device_gaps);
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, p->move_count * sizeof(*p->moves), &p->device_moves);
    return status;
}

static carom_status make_player(player *p, const carom_robot_def *def, uint64_t count) {
    double lower[SCENE_ARM_JOINTS], upper[SCENE_ARM_JOINTS];
    const uint64_t values = count * SCENE_ARM_JOINTS;
    carom_random random = {11};
    p->count = count;
    p->on_cpu = count / 16;
    p->gap_count = count * GAPS / CONFIGURATIONS;
    p->move_count = count * MOTIONS / CONFIGURATIONS;
    p->q = malloc(values * sizeof(*p->q));
    p->expected = calloc(count, sizeof(*p->expected));
    p->found = calloc(count, sizeof(*p->found));
    if (p->q == NULL || p->expected == NULL || p->found == NULL) return CAROM_NO_MEMORY;
    carom_status status = carom_robot_create(p->cpu, def, &p->robot);
    if (status == CAROM_OK) status = carom_robot_get_limits(p->robot, lower, upper);
    if (status != CAROM_OK) return status;
    for (uint64_t i = 0; i < values; ++i)
        p->q[i] =
            carom_random_between(&random, lower[i % SCENE_ARM_JOINTS], upper[i % SCENE_ARM_JOINTS]);
    status = carom_cuda_robot_create(p->cuda, p->robot, &p->copy);
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, values * sizeof(*p->q), &p->device_q);
    if (status == CAROM_OK)
        status = carom_cuda_write(p->cuda, p->device_q, p->q, values * sizeof(*p->q));
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, count * sizeof(*p->found), &p->device_results);
    return status == CAROM_OK ? make_moves(p) : status;
}

static void measure(bench *bench, player *p) {
    uint32_t ids[SCENE_ARM_OBJECTS];
    scene_arm arm;
    scene_cell *cell = calloc(1, sizeof(*cell));
    scene_arm_make(&arm);
    if (cell == NULL ||
        make_player(p, &arm.def, bench->quick ? CONFIGURATIONS / 16 : CONFIGURATIONS) != CAROM_OK) {
        bench_note(bench, "failed: %s%s", carom_context_message(p->cpu),
                   carom_context_message(p->cuda));
        free(cell);
        return;
    }
    compare_world(bench, p, "alone");
    if (carom_robot_add_objects(p->cpu, p->robot, arm.objects, SCENE_ARM_OBJECTS, ids) == CAROM_OK)
        compare_world(bench, p, "20 boxes");
    for (uint32_t i = 0; i < SCENE_ARM_OBJECTS; ++i)
        (void)carom_robot_remove_object(p->cpu, p->robot, ids[i]);
    if (scene_cell_make(p->cpu, SCENE_CELL_KIND_KNOT, ARM_REACH, 0, cell) == CAROM_OK &&
        carom_robot_add_objects(p->cpu, p->robot, cell->objects, cell->count, NULL) == CAROM_OK)
        compare_world(bench, p, "190,080 triangles");
    scene_cell_free(cell);
    free(cell);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    player p = {0};
    def.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&def, &p.cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &p.cpu) == CAROM_OK) {
        (void)carom_cuda_set_timing(p.cuda, true);
        measure(bench, &p);
        void *const memory[] = {p.device_q, p.device_to, p.device_results, p.device_gaps,
                                p.device_moves};
        for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); ++i)
            if (memory[i] != NULL) carom_cuda_release(p.cuda, memory[i]);
        carom_cuda_robot_destroy(p.copy);
        carom_robot_destroy(p.robot);
        carom_context_destroy(p.cpu);
    }
    carom_context_destroy(p.cuda);
    free(p.q);
    free(p.to);
    free(p.expected);
    free(p.found);
    free(p.expected_gaps);
    free(p.gaps);
    free(p.expected_moves);
    free(p.moves);
}

const bench_group bench_cuda_robot = {69, "cuda_robot",
                                      "robots on the GPU: verdicts, clearance and motions", run};
