/* SPDX-License-Identifier: MIT */
/* Distances of two soups on the GPU: one pose and a thousand, poses and results in device memory
 * and on the host. Poses are apart, from a fiftieth to half of the size. Every answer is compared
 * with the CPU's, byte for byte, before anything is timed, but for soups that are too large to
 * search a thousand times on the CPU: of these the first few. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/soup.h"
#include "carom/cuda.h"

#define BATCH     1000u
#define COMPARED  20u      /* poses of a large soup that are compared with the CPU's */
#define LARGE     1000000u /* triangles: a large soup */
#define JITTER    0x1p-6   /* of the size: how far repeated poses are from the first ones */
#define FIRST_GAP 0.02
#define LAST_GAP  0.5

typedef struct player {
    carom_context *cuda, *cpu;
    carom_soup *on_cuda, *on_cpu;
    carom_pose *poses, *device_poses; /* BATCH of b */
    carom_soup_pair *pairs;           /* BATCH, on cuda */
    carom_soup_gap *found, *expected, *device_gaps;
    uint32_t at, compared;
} player;

/* ---- Contenders ------------------------------------------------------------------------------ */

static bool run_on_device(player *p, const carom_pose *device_poses, uint32_t count) {
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (carom_cuda_soup_cross_distance(p->cuda, p->on_cuda, NULL, p->on_cuda, device_poses, count,
                                       0.0, p->device_gaps) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    return true;
}

static bool run_one(void *input) {
    player *p = input;
    return run_on_device(p, p->device_poses + p->at++ % p->compared, 1);
}

static bool run_batch(void *input) {
    return run_on_device(input, ((player *)input)->device_poses, BATCH);
}

static bool run_one_of_host(void *input) {
    player *p = input;
    uint32_t k = p->at++ % p->compared;
    carom_soup_gap gap;
    memset(&gap, 0, sizeof(gap));
    return carom_soup_cross_distance(p->cuda, p->on_cuda, NULL, p->on_cuda, &p->poses[k], 0.0,
                                     &gap) == CAROM_OK &&
           memcmp(&gap, &p->expected[k], sizeof(gap)) == 0;
}

static bool run_batch_of_host(void *input) {
    player *p = input;
    return carom_soup_cross_distance_batch(p->cuda, p->pairs, BATCH, 0.0, p->found) == CAROM_OK &&
           memcmp(p->found, p->expected, p->compared * sizeof(*p->found)) == 0;
}

static bool run_cpu(void *input) {
    player *p = input;
    carom_soup_gap gap;
    return carom_soup_cross_distance(p->cpu, p->on_cpu, NULL, p->on_cpu,
                                     &p->poses[p->at++ % p->compared], 0.0, &gap) == CAROM_OK;
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static bool make_poses(player *p, const soup_input *input) {
    static soup_poses some;
    carom_random random = {7};
    double by = JITTER * input->size;
    soup_poses_make(input, FIRST_GAP, LAST_GAP, &some);
    for (uint32_t k = 0; k < BATCH; ++k) {
        p->poses[k] = some.poses[k % SOUP_POSES];
        if (k < SOUP_POSES) continue;
        p->poses[k].t.x += carom_random_between(&random, -by, by);
        p->poses[k].t.y += carom_random_between(&random, -by, by);
        p->poses[k].t.z += carom_random_between(&random, -by, by);
    }
    for (uint32_t k = 0; k < BATCH; ++k)
        p->pairs[k] = (carom_soup_pair){.a = p->on_cuda, .b = p->on_cuda, .pose_b = p->poses[k]};
    for (uint32_t k = 0; k < p->compared; ++k)
        if (carom_soup_cross_distance(p->cpu, p->on_cpu, NULL, p->on_cpu, &p->poses[k], 0.0,
                                      &p->expected[k]) != CAROM_OK)
            return false;
    return carom_cuda_allocate(p->cuda, BATCH * sizeof(*p->poses), (void **)&p->device_poses) ==
               CAROM_OK &&
           carom_cuda_allocate(p->cuda, BATCH * sizeof(*p->found), (void **)&p->device_gaps) ==
               CAROM_OK &&
           carom_cuda_write(p->cuda, p->device_poses, p->poses, BATCH * sizeof(*p->poses)) ==
               CAROM_OK;
}

static bool prepare(player *p, const soup_input *input) {
    carom_soup_def def = {.mesh = &input->view, .rigid = true};
    p->compared = input->raw.triangle_count > LARGE ? COMPARED : BATCH;
    p->poses = calloc(BATCH, sizeof(*p->poses));
    p->pairs = calloc(BATCH, sizeof(*p->pairs));
    p->found = calloc(BATCH, sizeof(*p->found));
    p->expected = calloc(BATCH, sizeof(*p->expected));
    return p->poses != NULL && p->pairs != NULL && p->found != NULL && p->expected != NULL &&
           carom_soup_create(p->cuda, &def, &p->on_cuda) == CAROM_OK &&
           carom_soup_create(p->cpu, &def, &p->on_cpu) == CAROM_OK && make_poses(p, input);
}

/* Whether results in device memory are the CPU's. */
static bool verify(player *p) {
    return run_on_device(p, p->device_poses, BATCH) &&
           carom_cuda_read(p->cuda, p->found, p->device_gaps, BATCH * sizeof(*p->found)) ==
               CAROM_OK &&
           memcmp(p->found, p->expected, p->compared * sizeof(*p->found)) == 0;
}

static void note_steps(bench *bench, player *p, const char *name, uint32_t count) {
    carom_cuda_steps steps;
    char text[200];
    if (!run_on_device(p, p->device_poses, count) ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return;
    int length = snprintf(text, sizeof(text), "%s, %u, us:", name, count);
    for (uint32_t i = 0; i < steps.count && length < 180; ++i)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s %.1f", steps.name[i],
                           1e3 * steps.milliseconds[i]);
    bench_note(bench, "%s", text);
    bench_note(bench, "%s, %u: %llu pairs of nodes, %llu of triangles, host_share %g", name, count,
               (unsigned long long)steps.node_pairs, (unsigned long long)steps.candidates,
               (double)steps.open_in_doubles / (double)count);
}

static void release(player *p) {
    carom_cuda_release(p->cuda, p->device_poses);
    carom_cuda_release(p->cuda, p->device_gaps);
    carom_soup_destroy(p->on_cuda);
    carom_soup_destroy(p->on_cpu);
    free(p->poses);
    free(p->pairs);
    free(p->found);
    free(p->expected);
}

static void measure(bench *bench, player *p, const char *name, soup_input *input) {
    char job[64];
    if (!prepare(p, input)) {
        bench_note(bench, "%s: %s%s", name, carom_context_message(p->cuda),
                   carom_context_message(p->cpu));
    } else if (!verify(p)) {
        bench_note(bench, "%s: the distances differ from the CPU's, or failed: %s", name,
                   carom_context_message(p->cuda));
    } else {
        bench_contender one[] = {{"cuda", NULL, run_one, p},
                                 {"cuda, of the host", NULL, run_one_of_host, p},
                                 {"cpu", NULL, run_cpu, p}};
        bench_contender many[] = {{"cuda", NULL, run_batch, p},
                                  {"cuda, of the host", NULL, run_batch_of_host, p}};
        snprintf(job, sizeof(job), "%s, one pose", name);
        bench_compare(bench, job, 1, one, 3);
        snprintf(job, sizeof(job), "%s, %u poses", name, BATCH);
        bench_compare(bench, job, BATCH, many, 2);
        note_steps(bench, p, name, 1);
        note_steps(bench, p, name, BATCH);
    }
    release(p);
    soup_input_free(input);
}

static void measure_all(bench *bench, carom_context *cuda, carom_context *cpu) {
    static const char *const models[] = {"solid_bunny70k", "solid_armadillo100k"};
    static const struct {
        const char *name;
        carom_shape_def def;
    } shapes[] = {{"cloth 100k", {.shape = CAROM_SHAPE_CLOTH, .detail = 224}},
                  {"knot 100k", {.shape = CAROM_SHAPE_KNOT, .detail = 2084}},
                  {"cloth 4M", {.shape = CAROM_SHAPE_CLOTH, .detail = 1414}}};
    soup_input input;
    for (size_t i = 0; i < (bench->quick ? 1u : sizeof(models) / sizeof(*models)); ++i) {
        player p = {.cuda = cuda, .cpu = cpu};
        if (soup_input_load(cpu, models[i], &input)) measure(bench, &p, models[i], &input);
    }
    for (size_t i = 0; i < (bench->quick ? 1u : sizeof(shapes) / sizeof(*shapes)); ++i) {
        player p = {.cuda = cuda, .cpu = cpu};
        carom_shape_def def = shapes[i].def;
        def.scalar = CAROM_SCALAR_FLOAT32;
        if (soup_input_make(cpu, &def, &input)) measure(bench, &p, shapes[i].name, &input);
    }
}

static void run(bench *bench) {
    carom_context_def def = {.backend = CAROM_BACKEND_CUDA};
    carom_context *cuda, *cpu;
    if (carom_context_create(&def, &cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def = *bench->def;
    if (carom_context_create(&def, &cpu) == CAROM_OK) {
        (void)carom_cuda_set_timing(cuda, true);
        measure_all(bench, cuda, cpu);
    }
    carom_context_destroy(cpu);
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_distance = {69, "cuda_distance", "distances of meshes on the GPU",
                                         run};
