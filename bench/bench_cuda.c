/* SPDX-License-Identifier: MIT */
/* All pairs of faces of a deforming cloth on the GPU: raw positions on the device to the list of
 * pairs on the device, everything built anew in each frame.
 *
 * Three crumplings of the cloth take turns, so that every frame has another answer. The answers are
 * compared with the CPU's, pair by pair, before anything is timed. The times of frames are those of
 * the device's own clock around one graph; the steps are timed apart, without a graph, and add up
 * to more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

#define CRUMPLINGS  3u
#define STEP_RUNS   10                 /* whose times of steps are averaged */
#define LONG_FRAMES 10000              /* in a row, for the slowest of a thousand */
#define MOST_ON_CPU UINT64_C(20000000) /* triangles; beyond, tree and grid are compared */

typedef struct player {
    carom_context *cuda, *cpu;
    carom_soup *soup, *cpu_soup;
    carom_mesh_view views[CRUMPLINGS];       /* on the host */
    void *positions[CRUMPLINGS];             /* on the device */
    carom_cuda_frame *frames[2][CRUMPLINGS]; /* by order */
    carom_cuda_pairs pairs[2];
    carom_pairs answers[CRUMPLINGS], found;
    uint32_t at;
} player;

/* ---- contenders ------------------------------------------------------------------------------ */

static bool run_frame(player *p, carom_cuda_order order) {
    carom_cuda_steps steps;
    uint32_t i = p->at++ % CRUMPLINGS;
    if (carom_cuda_frame_run(p->cuda, p->frames[order][i]) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    return p->pairs[order].count == p->answers[i].count;
}

static bool run_any(void *input) {
    return run_frame(input, CAROM_CUDA_ORDER_ANY);
}

static bool run_sorted(void *input) {
    return run_frame(input, CAROM_CUDA_ORDER_SORTED);
}

static bool run_host(void *input) {
    player *p = input;
    uint32_t i = p->at++ % CRUMPLINGS;
    return carom_soup_update(p->cuda, p->soup, &p->views[i]) == CAROM_OK &&
           carom_soup_self_pairs(p->cuda, p->soup, &p->found) == CAROM_OK &&
           p->found.count == p->answers[i].count;
}

static bool run_cpu(void *input) {
    player *p = input;
    uint32_t i = p->at++ % CRUMPLINGS;
    return carom_soup_update(p->cpu, p->cpu_soup, &p->views[i]) == CAROM_OK &&
           carom_soup_self_pairs(p->cpu, p->cpu_soup, &p->found) == CAROM_OK &&
           p->found.count == p->answers[i].count;
}

/* ---- setting up ------------------------------------------------------------------------------ */

static bool same_pairs(const carom_pairs *a, const carom_pairs *b) {
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof(*a->data)) == 0);
}

/* Copies the positions of each crumpling to the device and records its frames. */
static carom_status record(player *p) {
    for (uint32_t i = 0; i < CRUMPLINGS; ++i) {
        const carom_mesh_view *view = &p->views[i];
        uint64_t bytes = view->vertex_count * 3 * sizeof(float);
        carom_status status = carom_cuda_allocate(p->cuda, bytes, &p->positions[i]);
        if (status == CAROM_OK)
            status = carom_cuda_write(p->cuda, p->positions[i], view->positions, bytes);
        const carom_cuda_positions on_device = {p->positions[i], view->scalar, view->vertex_count};
        for (int order = 0; order < 2 && status == CAROM_OK; ++order) {
            status = carom_cuda_frame_begin(p->cuda);
            if (status == CAROM_OK) status = carom_cuda_soup_update(p->cuda, p->soup, &on_device);
            if (status == CAROM_OK)
                status = carom_cuda_soup_self_pairs(p->cuda, p->soup, (carom_cuda_order)order,
                                                    &p->pairs[order]);
            carom_status ended = carom_cuda_frame_end(p->cuda, &p->frames[order][i]);
            if (status == CAROM_OK) status = ended;
        }
        if (status != CAROM_OK) return status;
    }
    return CAROM_OK;
}

/* Whether all answers are the CPU's; runs every frame twice, so that all memory is there. */
static bool verify(bench *bench, player *p) {
    for (uint32_t i = 0; i < 2 * CRUMPLINGS; ++i) {
        uint32_t k = i % CRUMPLINGS;
        if (carom_soup_update(p->cpu, p->cpu_soup, &p->views[k]) != CAROM_OK ||
            carom_soup_self_pairs(p->cpu, p->cpu_soup, &p->answers[k]) != CAROM_OK ||
            carom_soup_update(p->cuda, p->soup, &p->views[k]) != CAROM_OK ||
            carom_soup_self_pairs(p->cuda, p->soup, &p->found) != CAROM_OK) {
            bench_note(bench, "failed: %s%s", carom_context_message(p->cpu),
                       carom_context_message(p->cuda));
            return false;
        }
        if (!same_pairs(&p->answers[k], &p->found)) {
            bench_note(bench, "WRONG: crumpling %u has %llu pairs on cuda, %llu on the CPU", k,
                       (unsigned long long)p->found.count, (unsigned long long)p->answers[k].count);
            return false;
        }
        for (int order = 0; order < 2; ++order) {
            if (carom_cuda_frame_run(p->cuda, p->frames[order][k]) != CAROM_OK ||
                carom_cuda_finish(p->cuda) != CAROM_OK) {
                bench_note(bench, "failed: %s", carom_context_message(p->cuda));
                return false;
            }
        }
        carom_pairs read = {0};
        read.data = malloc((p->answers[k].count + 1) * sizeof(*read.data));
        read.count = p->pairs[0].count;
        bool same = read.data != NULL && read.count == p->answers[k].count &&
                    carom_cuda_read(p->cuda, read.data, p->pairs[0].data,
                                    read.count * sizeof(*read.data)) == CAROM_OK &&
                    same_pairs(&read, &p->answers[k]);
        free(read.data);
        if (!same) {
            bench_note(bench, "WRONG: crumpling %u as a frame", k);
            return false;
        }
    }
    return true;
}

/* For soups too large for the CPU: the answers are the frames' own. */
static bool count_once(bench *bench, player *p) {
    for (uint32_t i = 0; i < 2 * CRUMPLINGS; ++i)
        for (int order = 0; order < 2; ++order)
            if (carom_cuda_frame_run(p->cuda, p->frames[order][i % CRUMPLINGS]) != CAROM_OK ||
                carom_cuda_finish(p->cuda) != CAROM_OK) {
                bench_note(bench, "failed: %s", carom_context_message(p->cuda));
                return false;
            } else {
                p->answers[i % CRUMPLINGS].count = p->pairs[order].count;
            }
    bench_note(bench, "%llu pairs, not compared with the CPU's",
               (unsigned long long)p->pairs[0].count);
    return true;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The steps of an update and a search, each timed on the device. */
static void report_steps(bench *bench, player *p) {
    carom_cuda_steps steps, sum = {0};
    char line[200];
    int used = 0;
    for (int run = 0; run < STEP_RUNS; ++run) {
        const carom_cuda_positions on_device = {p->positions[0], p->views[0].scalar,
                                                p->views[0].vertex_count};
        if (carom_cuda_soup_update(p->cuda, p->soup, &on_device) != CAROM_OK ||
            carom_cuda_soup_self_pairs(p->cuda, p->soup, CAROM_CUDA_ORDER_SORTED, &p->pairs[0]) !=
                CAROM_OK ||
            carom_cuda_finish(p->cuda) != CAROM_OK ||
            carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
            return;
        if (run == 0) sum = steps;
        for (uint32_t i = 0; run > 0 && i < steps.count; ++i)
            sum.milliseconds[i] += steps.milliseconds[i];
    }
    for (uint32_t i = 0; i < sum.count; ++i) {
        int wrote =
            snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.1f", used == 0 ? "" : ", ",
                     sum.name[i], 1e3 * sum.milliseconds[i] / STEP_RUNS);
        if (wrote < 0 || used + wrote >= 120) {
            bench_note(bench, "us: %.*s", used, line);
            used = snprintf(line, sizeof(line), "%s %.1f", sum.name[i],
                            1e3 * sum.milliseconds[i] / STEP_RUNS);
        } else {
            used += wrote;
        }
    }
    bench_note(bench, "us: %s", line);
    bench_note(bench,
               "%llu pairs of leaves, %llu candidates, %llu open after floats, %llu after doubles",
               (unsigned long long)steps.node_pairs, (unsigned long long)steps.candidates,
               (unsigned long long)steps.open_in_floats, (unsigned long long)steps.open_in_doubles);
}

static void player_free(player *p) {
    for (int order = 0; order < 2; ++order) {
        for (uint32_t i = 0; i < CRUMPLINGS; ++i) carom_cuda_frame_destroy(p->frames[order][i]);
        if (p->cuda != NULL) (void)carom_cuda_pairs_free(p->cuda, &p->pairs[order]);
    }
    for (uint32_t i = 0; i < CRUMPLINGS; ++i) {
        if (p->positions[i] != NULL) (void)carom_cuda_release(p->cuda, p->positions[i]);
        if (p->answers[i].data != NULL) carom_pairs_free(&p->answers[i]);
    }
    carom_pairs_free(&p->found);
    carom_soup_destroy(p->soup);
    carom_soup_destroy(p->cpu_soup);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

typedef enum variant { PLAIN, GIANT, DENSE } variant;

/* A cloth; with a triangle a million times larger than the others; with half of it shrunk to a
 * thousandth, so that it lies in one cell of the other half's. */
static carom_status make_cloth(carom_context *context, uint64_t detail, uint64_t seed,
                               variant variant, carom_mesh **mesh) {
    const carom_shape_def def = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .seed = seed, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *plain;
    carom_mesh_view view;
    carom_status status = carom_shape_make(context, &def, &plain);
    *mesh = plain;
    if (status != CAROM_OK || variant == PLAIN) return status;
    *mesh = NULL;
    status = carom_mesh_get_view(plain, &view);
    uint64_t vertices = view.vertex_count, faces = view.face_count;
    float *positions = malloc((vertices + 3) * 3 * sizeof(*positions));
    uint32_t *corners = malloc((faces + 1) * 3 * sizeof(*corners));
    if (status == CAROM_OK && positions != NULL && corners != NULL) {
        memcpy(positions, view.positions, vertices * 3 * sizeof(*positions));
        memcpy(corners, view.corners, faces * 3 * sizeof(*corners));
        float large = 1e6f / (float)detail;
        const float giant[9] = {-large, -large, 0.1f, large, -large, 0.2f, 0.0f, large, 0.3f};
        memcpy(positions + 3 * vertices, giant, sizeof(giant));
        for (uint32_t i = 0; i < 3; ++i) corners[3 * faces + i] = (uint32_t)vertices + i;
        for (uint64_t i = 0; variant == DENSE && i < 3 * (vertices / 2); ++i) positions[i] *= 1e-3f;
        view.positions = positions;
        view.corners = corners;
        view.vertex_count += variant == GIANT ? 3 : 0;
        view.face_count += variant == GIANT ? 1 : 0;
        status = carom_mesh_create(context, &view, mesh);
    }
    free(positions);
    free(corners);
    carom_mesh_destroy(plain);
    return status;
}

/* Frames in a row, each waited for: the median, the slowest of a thousand, and memory. */
static void run_long(bench *bench, player *p) {
    static double times[LONG_FRAMES];
    carom_context_info before, after;
    carom_cuda_steps steps;
    (void)carom_context_get_info(p->cuda, &before);
    for (uint32_t i = 0; i < LONG_FRAMES; ++i) {
        if (carom_cuda_frame_run(p->cuda, p->frames[0][i % CRUMPLINGS]) != CAROM_OK ||
            carom_cuda_finish(p->cuda) != CAROM_OK ||
            carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK ||
            p->pairs[0].count != p->answers[i % CRUMPLINGS].count) {
            bench_note(bench, "frame %u is WRONG: %s", i, carom_context_message(p->cuda));
            return;
        }
        times[i] = steps.milliseconds[0];
    }
    (void)carom_context_get_info(p->cuda, &after);
    qsort(times, LONG_FRAMES, sizeof(*times), compare_times);
    bench_note(bench,
               "%d frames, sorted pairs: median %.4f ms, 99.9th percentile %.4f, slowest %.4f; "
               "memory grew by %lld bytes",
               LONG_FRAMES, times[LONG_FRAMES / 2], times[LONG_FRAMES - LONG_FRAMES / 1000],
               times[LONG_FRAMES - 1], (long long)(after.scratch_bytes - before.scratch_bytes));
}

static void compare_contenders(bench *bench, player *p, const char *name, bool with_cpu) {
    char job[64];
    uint64_t triangles = p->views[0].face_count;
    const bench_contender contenders[] = {{"cpu", NULL, run_cpu, p},
                                          {"cuda, host to host", NULL, run_host, p},
                                          {"cuda, sorted", NULL, run_sorted, p},
                                          {"cuda, any order", NULL, run_any, p}};
    int first = with_cpu ? 0 : 1;
    if (strcmp(name, "cloth") == 0) bench_at_size(bench, "cloth", (double)triangles);
    snprintf(job, sizeof(job), "%s %llu", name, (unsigned long long)triangles);
    bench_compare(bench, job, (double)triangles, contenders + first, 4u - (uint32_t)first);
    report_steps(bench, p);
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, const char *name,
                    uint64_t detail, variant variant, carom_soup_method method) {
    player p = {.cuda = cuda, .cpu = cpu};
    carom_mesh *meshes[CRUMPLINGS] = {NULL};
    carom_status status = CAROM_OK;
    bool with_cpu = 2 * detail * detail <= MOST_ON_CPU;
    for (uint32_t i = 0; i < CRUMPLINGS && status == CAROM_OK; ++i) {
        if (i == 0 || with_cpu)
            status = make_cloth(cpu, detail, i == 0 ? 0 : i, variant, &meshes[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(meshes[with_cpu ? i : 0], &p.views[i]);
    }
    carom_soup_def def = {.mesh = &p.views[0], .method = CAROM_SOUP_METHOD_TREE};
    if (status == CAROM_OK && with_cpu) status = carom_soup_create(cpu, &def, &p.cpu_soup);
    def.method = method;
    if (status == CAROM_OK) status = carom_soup_create(cuda, &def, &p.soup);
    if (status == CAROM_OK) status = record(&p);
    if (status != CAROM_OK)
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    else if (with_cpu ? verify(bench, &p) : count_once(bench, &p))
        compare_contenders(bench, &p, name, with_cpu);
    if (status == CAROM_OK && detail == 354 && variant == PLAIN &&
        method == CAROM_SOUP_METHOD_TREE && !bench->quick)
        run_long(bench, &p);
    player_free(&p);
    for (uint32_t i = 0; i < CRUMPLINGS; ++i) carom_mesh_destroy(meshes[i]);
}

/* Chazelle's polyhedron with itself: boxes overlap in quadratic number. */
static void measure_chazelle(bench *bench, carom_context *cuda, carom_context *cpu) {
    player p = {.cuda = cuda, .cpu = cpu};
    carom_mesh *mesh = NULL;
    const carom_shape_def shape = {
        .shape = CAROM_SHAPE_CHAZELLE, .detail = 128, .scalar = CAROM_SCALAR_FLOAT32};
    carom_status status = carom_shape_make(cpu, &shape, &mesh);
    for (uint32_t i = 0; i < CRUMPLINGS && status == CAROM_OK; ++i)
        status = carom_mesh_get_view(mesh, &p.views[i]);
    const carom_soup_def def = {.mesh = &p.views[0], .method = CAROM_SOUP_METHOD_TREE};
    if (status == CAROM_OK) status = carom_soup_create(cpu, &def, &p.cpu_soup);
    if (status == CAROM_OK) status = carom_soup_create(cuda, &def, &p.soup);
    if (status == CAROM_OK) status = record(&p);
    if (status == CAROM_OK && verify(bench, &p)) compare_contenders(bench, &p, "chazelle", true);
    player_free(&p);
    carom_mesh_destroy(mesh);
}

static void run(bench *bench) {
    const uint64_t sizes[] = {100, 224, 354, 707, 1414, 2828};
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
        for (size_t i = 0; i < (bench->quick ? 3 : sizeof(sizes) / sizeof(*sizes)); ++i)
            measure(bench, cuda, cpu, "cloth", sizes[i], PLAIN, CAROM_SOUP_METHOD_TREE);
        measure(bench, cuda, cpu, "by grid", 354, PLAIN, CAROM_SOUP_METHOD_GRID);
        if (!bench->quick) {
            measure(bench, cuda, cpu, "by grid", 707, PLAIN, CAROM_SOUP_METHOD_GRID);
            measure(bench, cuda, cpu, "by grid", 2828, PLAIN, CAROM_SOUP_METHOD_GRID);
            measure(bench, cuda, cpu, "giant", 707, GIANT, CAROM_SOUP_METHOD_TREE);
            measure(bench, cuda, cpu, "crowded", 707, DENSE, CAROM_SOUP_METHOD_TREE);
            measure(bench, cuda, cpu, "crowded, by grid", 707, DENSE, CAROM_SOUP_METHOD_GRID);
            measure_chazelle(bench, cuda, cpu);
        }
        if (getenv("CAROM_LONG") != NULL) /* 100 million, 15 GB on the host */
            measure(bench, cuda, cpu, "cloth", 7071, PLAIN, CAROM_SOUP_METHOD_TREE);
        bench_note(bench, "kDet (2017) on a GTX 1080: 252,000 triangles in 9.3 ms");
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda = {65, "cuda", "all pairs of a deforming cloth on the GPU", run};
