/* SPDX-License-Identifier: MIT */
/* The k of a crumpled cloth on the GPU, from positions that are there to statistics on the host.
 * Every count is compared with the CPU's before anything is timed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

typedef struct player {
    carom_context *context;
    carom_soup *soup;
    carom_kfree k;
    carom_numbers counts;
    const struct player *same; /* whose bytes are expected; NULL: this is the first */
} player;

static bool run_kfree(void *input) {
    player *p = input;
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (carom_kfree_measure(p->context, p->soup, &p->k, &p->counts) != CAROM_OK) return false;
    if (p->same == NULL) return true;
    if (carom_cuda_get_steps(p->context, &steps) != CAROM_OK) return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    return memcmp(&p->k, &p->same->k, sizeof(p->k)) == 0 &&
           memcmp(p->counts.data, p->same->counts.data,
                  p->counts.count * sizeof(*p->counts.data)) == 0;
}

static void note_steps(bench *bench, player *p) {
    carom_cuda_steps steps;
    if (carom_cuda_get_steps(p->context, &steps) != CAROM_OK) return;
    for (uint32_t i = 0; i < steps.count; ++i)
        bench_note(bench, "%s: %.1f us", steps.name[i], 1e3 * steps.milliseconds[i]);
    bench_note(bench,
               "%llu pairs of leaves, %llu pairs measured, %llu open after doubles, "
               "host_share %.2g",
               (unsigned long long)steps.node_pairs, (unsigned long long)steps.candidates,
               (unsigned long long)steps.open_in_doubles,
               (double)steps.open_in_doubles / fmax((double)steps.candidates, 1.0));
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, uint64_t detail) {
    const carom_shape_def shape = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    char job[64];
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view};
    player on_cpu = {.context = cpu}, on_cuda = {.context = cuda, .same = &on_cpu};
    carom_status status = carom_shape_make(cpu, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_soup_create(cpu, &def, &on_cpu.soup);
    if (status == CAROM_OK) status = carom_soup_create(cuda, &def, &on_cuda.soup);
    if (status == CAROM_OK) {
        const bench_contender contenders[] = {{"cpu", NULL, run_kfree, &on_cpu},
                                              {"cuda", NULL, run_kfree, &on_cuda}};
        snprintf(job, sizeof(job), "cloth %llu", (unsigned long long)view.face_count);
        bench_compare(bench, job, (double)view.face_count, contenders, 2);
        note_steps(bench, &on_cuda);
    } else {
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    }
    carom_numbers_free(&on_cpu.counts);
    carom_numbers_free(&on_cuda.counts);
    carom_soup_destroy(on_cpu.soup);
    carom_soup_destroy(on_cuda.soup);
    carom_mesh_destroy(mesh);
}

static void run(bench *bench) {
    static const uint64_t details[] = {100, 354, 707};
    carom_context_def def = *bench->def;
    carom_context *cuda, *cpu;
    def.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&def, &cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &cpu) == CAROM_OK) {
        (void)carom_cuda_set_timing(cuda, true);
        for (int i = 0; i < (bench->quick ? 1 : 3); ++i) measure(bench, cuda, cpu, details[i]);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_kfree = {69, "cuda_kfree", "density of a cloth, on the GPU", run};
