/* SPDX-License-Identifier: MIT */
/* All overlapping pairs of boxes on the GPU: bounds on the device to the list of pairs on the
 * device, everything made anew in each frame.
 *
 * Three frames of the moving boxes of scenes/boxes.h take turns. Every answer is compared with the
 * CPU's, pair by pair, before anything is timed. The times are those of the device's own clock
 * around one graph; the steps are timed apart, without a graph, and add up to more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"
#include "scenes/boxes.h"

#define SCENES    3u
#define STEP_RUNS 10 /* whose times of steps are averaged */
#define METHODS   CAROM_BROAD_METHOD_COUNT

typedef struct player {
    carom_context *cuda, *cpu;
    carom_broad *broad, *on_cpu;
    uint64_t count;
    void *memory[SCENES]; /* bounds on the device */
    carom_bounds *bounds[SCENES];
    carom_cuda_frame *frames[SCENES];
    carom_cuda_order order;
    carom_cuda_pairs pairs;
    carom_pairs *answers, found;
    uint32_t at;
} player;

static bool run_frame(void *input) {
    player *p = input;
    carom_cuda_steps steps;
    uint32_t i = p->at++ % SCENES;
    if (carom_cuda_frame_run(p->cuda, p->frames[i]) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    return p->pairs.count == p->answers[i].count;
}

static bool run_host(void *input) {
    player *p = input;
    uint32_t i = p->at++ % SCENES;
    return carom_broad_move(p->cuda, p->broad, NULL, p->bounds[i], p->count) == CAROM_OK &&
           carom_broad_commit(p->cuda, p->broad) == CAROM_OK &&
           carom_broad_pairs(p->cuda, p->broad, &p->found) == CAROM_OK &&
           p->found.count == p->answers[i].count;
}

static bool run_cpu(void *input) {
    player *p = input;
    uint32_t i = p->at++ % SCENES;
    carom_broad *broad;
    carom_broad_def def = {.boxes = p->bounds[i], .box_count = p->count};
    bool done = carom_broad_create(p->cpu, &def, &broad) == CAROM_OK &&
                carom_broad_pairs(p->cpu, broad, &p->found) == CAROM_OK;
    carom_broad_destroy(broad);
    return done && p->found.count == p->answers[i].count;
}

static carom_status record(player *p) {
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; i < SCENES && status == CAROM_OK; ++i) {
        uint64_t bytes = p->count * sizeof(carom_bounds);
        status = carom_cuda_allocate(p->cuda, bytes, &p->memory[i]);
        if (status == CAROM_OK)
            status = carom_cuda_write(p->cuda, p->memory[i], p->bounds[i], bytes);
        if (status == CAROM_OK) status = carom_cuda_frame_begin(p->cuda);
        if (status != CAROM_OK) return status;
        status = carom_cuda_broad_update(p->cuda, p->broad, p->memory[i], p->count);
        if (status == CAROM_OK)
            status = carom_cuda_broad_pairs(p->cuda, p->broad, p->order, &p->pairs);
        carom_status ended = carom_cuda_frame_end(p->cuda, &p->frames[i]);
        if (status == CAROM_OK) status = ended;
    }
    return status;
}

static bool same_pairs(const player *p, const carom_pairs *answer) {
    carom_pair *read = malloc((answer->count + 1) * sizeof(*read));
    bool same =
        read != NULL && p->pairs.count == answer->count &&
        carom_cuda_read(p->cuda, read, p->pairs.data, answer->count * sizeof(*read)) == CAROM_OK;
    if (same && p->order == CAROM_CUDA_ORDER_SORTED)
        same = answer->count == 0 || memcmp(read, answer->data, answer->count * sizeof(*read)) == 0;
    else if (same)
        same = scene_boxes_checksum(read, answer->count) ==
               scene_boxes_checksum(answer->data, answer->count);
    free(read);
    return same;
}

/* Runs every frame twice, so that all memory is there. */
static bool verify(bench *bench, player *p, const char *name) {
    for (uint32_t i = 0; i < 2 * SCENES; ++i) {
        uint32_t k = i % SCENES;
        if (carom_cuda_frame_run(p->cuda, p->frames[k]) != CAROM_OK ||
            carom_cuda_finish(p->cuda) != CAROM_OK) {
            bench_note(bench, "%s failed: %s", name, carom_context_message(p->cuda));
            return false;
        }
        if (same_pairs(p, &p->answers[k])) continue;
        bench_note(bench, "WRONG: %s, scene %u: %llu pairs, not %llu", name, k,
                   (unsigned long long)p->pairs.count, (unsigned long long)p->answers[k].count);
        return false;
    }
    return true;
}

static void report_steps(bench *bench, player *p, const char *name) {
    carom_cuda_steps steps, sum = {0};
    char line[200];
    int used = 0;
    for (int run = 0; run < STEP_RUNS; ++run) {
        if (carom_cuda_broad_update(p->cuda, p->broad, p->memory[0], p->count) != CAROM_OK ||
            carom_cuda_broad_pairs(p->cuda, p->broad, p->order, &p->pairs) != CAROM_OK ||
            carom_cuda_finish(p->cuda) != CAROM_OK ||
            carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
            return;
        if (run == 0) sum = steps;
        for (uint32_t i = 0; run > 0 && i < steps.count; ++i)
            sum.milliseconds[i] += steps.milliseconds[i];
    }
    for (uint32_t i = 0; i < sum.count && used >= 0 && used < 150; ++i)
        used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.1f", i == 0 ? "" : ", ",
                         sum.name[i], 1e3 * sum.milliseconds[i] / STEP_RUNS);
    bench_note(bench, "%s, us: %s; %llu candidates", name, line,
               (unsigned long long)steps.candidates);
}

static void player_free(player *p) {
    for (uint32_t i = 0; i < SCENES; ++i) {
        carom_cuda_frame_destroy(p->frames[i]);
        if (p->memory[i] != NULL) (void)carom_cuda_release(p->cuda, p->memory[i]);
    }
    (void)carom_cuda_pairs_free(p->cuda, &p->pairs);
    carom_pairs_free(&p->found);
    carom_broad_destroy(p->broad);
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, const char *name,
                    scene_boxes *scene, bool all_methods) {
    static const char *const names[METHODS] = {"cuda", "cuda, tree", "cuda, grid", "cuda, sweep"};
    player players[METHODS + 1];
    bench_contender contenders[METHODS + 3];
    carom_bounds *bounds[SCENES] = {NULL};
    carom_pairs answers[SCENES] = {{0}};
    uint32_t count = 0, kept = 0;
    memset(players, 0, sizeof(players));
    bool fine = true;
    for (uint32_t i = 0; i < SCENES && fine; ++i) {
        carom_broad *broad = NULL;
        bounds[i] = malloc(scene->count * sizeof(carom_bounds));
        fine = bounds[i] != NULL;
        if (!fine) break;
        memcpy(bounds[i], scene->bounds, scene->count * sizeof(carom_bounds));
        carom_broad_def def = {.boxes = bounds[i], .box_count = scene->count};
        fine = carom_broad_create(cpu, &def, &broad) == CAROM_OK &&
               carom_broad_pairs(cpu, broad, &answers[i]) == CAROM_OK;
        carom_broad_destroy(broad);
        scene_boxes_move(scene, 0, scene->count);
    }
    contenders[count++] = (bench_contender){"cpu", NULL, run_cpu, &players[0]};
    contenders[count++] = (bench_contender){"cuda, host to host", NULL, run_host, &players[0]};
    for (uint32_t m = 0; m <= (all_methods ? METHODS : 1u) && fine; ++m) {
        player *p = &players[m];
        carom_broad_def def = {.boxes = bounds[0],
                               .box_count = scene->count,
                               .method = (carom_broad_method)(m == 0 ? 0 : m - 1)};
        const char *label = m == 0 ? "cuda, sorted" : names[m - 1];
        *p = (player){.cuda = cuda, .cpu = cpu, .count = scene->count, .answers = answers};
        p->order = m == 0 ? CAROM_CUDA_ORDER_SORTED : CAROM_CUDA_ORDER_ANY;
        memcpy(p->bounds, bounds, sizeof(bounds));
        if (carom_broad_create(cuda, &def, &p->broad) != CAROM_OK || record(p) != CAROM_OK)
            bench_note(bench, "%s failed: %s", label, carom_context_message(cuda));
        else if (verify(bench, p, label))
            contenders[count++] = (bench_contender){label, NULL, run_frame, p};
        kept = m + 1;
    }
    if (fine && scene->count != 0) {
        bench_compare(bench, name, (double)scene->count, contenders, count);
        for (uint32_t m = 0; m < kept; ++m)
            report_steps(bench, &players[m], m == 0 ? "sorted" : names[m - 1]);
        bench_note(bench, "%llu pairs", (unsigned long long)answers[0].count);
    }
    for (uint32_t m = 0; m < kept; ++m) player_free(&players[m]);
    for (uint32_t i = 0; i < SCENES; ++i) {
        carom_pairs_free(&answers[i]);
        free(bounds[i]);
    }
}

static void measure_scene(bench *bench, carom_context *cuda, carom_context *cpu, uint64_t size,
                          scene_boxes_sizes sizes, bool giants) {
    char name[64];
    scene_boxes scene;
    if (!scene_boxes_make(size, sizes, SCENE_BOXES_SEED, &scene)) return;
    for (uint64_t i = 0; giants && i < size; i += size / 16) /* boxes as large as the scene */
        scene.half[i] = 0.4 * scene.edge;
    if (giants) scene_boxes_move(&scene, 0, size);
    snprintf(name, sizeof(name), "%s%s %lluk", sizes == SCENE_BOXES_MONO ? "mono" : "poly",
             giants ? ", 16 giants" : "", (unsigned long long)size / 1000);
    measure(bench, cuda, cpu, name, &scene, true);
    scene_boxes_free(&scene);
}

static void run(bench *bench) {
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
        uint64_t most = bench->quick ? 100000 : 1000000;
        for (uint64_t size = 10000; size <= most; size *= 10)
            for (int sizes = 0; sizes < SCENE_BOXES_COUNT; ++sizes)
                measure_scene(bench, cuda, cpu, size, (scene_boxes_sizes)sizes, false);
        measure_scene(bench, cuda, cpu, most, SCENE_BOXES_POLY, true);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_broad = {66, "cuda_broad", "all pairs of many boxes on the GPU", run};
