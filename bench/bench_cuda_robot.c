/* SPDX-License-Identifier: MIT */
/* Verdicts of robots on the GPU: a million random configurations of the arm of scenes/arm.h in
 * device memory, by covers alone and exactly; alone, among 20 boxes, and in a knot of 190,080
 * triangles. Before anything is timed, the verdicts are compared with the CPU's, byte for byte; all
 * of its threads are beside. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"
#include "scenes/arm.h"
#include "scenes/robots.h"

#define CONFIGURATIONS 1000000u
#define ARM_REACH      1.3 /* metres */

typedef struct player {
    carom_context *cpu, *cuda;
    carom_robot *robot;
    carom_cuda_robot *copy;
    double *q;
    carom_robot_result *expected, *found;
    void *device_q, *device_results;
    uint64_t count, on_cpu; /* configurations; those that the CPU is timed with */
    carom_robot_query query;
} player;

static bool run_cuda(void *input) {
    player *p = input;
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (carom_cuda_robot_check(p->cuda, p->copy, p->device_q, p->count, &p->query,
                               p->device_results) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    return true;
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

static void compare_query(bench *bench, player *p, const char *world, bool covers_only) {
    char job[64];
    uint64_t by_faces = 0, open = 0;
    p->query = (carom_robot_query){.covers_only = covers_only};
    snprintf(job, sizeof(job), "%s, %s", covers_only ? "covers" : "exact verdicts", world);
    if (!verify(p)) {
        bench_note(bench, "%s: the verdicts differ from the CPU's, or failed: %s", job,
                   carom_context_message(p->cuda));
        return;
    }
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

static void compare_world(bench *bench, player *p, const char *world) {
    if (carom_cuda_robot_update(p->cuda, p->copy) != CAROM_OK) {
        bench_note(bench, "failed: %s", carom_context_message(p->cuda));
        return;
    }
    compare_query(bench, p, world, true);
    compare_query(bench, p, world, false);
}

static carom_status make_player(player *p, const carom_robot_def *def, uint64_t count) {
    double lower[SCENE_ARM_JOINTS], upper[SCENE_ARM_JOINTS];
    const uint64_t values = count * SCENE_ARM_JOINTS;
    carom_random random = {11};
    p->count = count;
    p->on_cpu = count / 16;
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
    return status;
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
        if (p.device_q != NULL) carom_cuda_release(p.cuda, p.device_q);
        if (p.device_results != NULL) carom_cuda_release(p.cuda, p.device_results);
        carom_cuda_robot_destroy(p.copy);
        carom_robot_destroy(p.robot);
        carom_context_destroy(p.cpu);
    }
    carom_context_destroy(p.cuda);
    free(p.q);
    free(p.expected);
    free(p.found);
}

const bench_group bench_cuda_robot = {69, "cuda_robot", "verdicts of robots on the GPU", run};
