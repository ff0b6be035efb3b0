/* SPDX-License-Identifier: MIT */
/* Overlaps of two solids on the GPU, host to host: poses one by one, a thousand in one call, and
 * the slowest of very many. Updates of a solid that deforms, from positions in device memory. Every
 * answer is compared with the CPU's, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/soup.h"
#include "carom/cuda.h"

#define POSES      10u
#define BATCH      1000u
#define LONG_POSES 100000u /* one by one, for the slowest */
#define JITTER     0x1p-6  /* of the size: how far the poses of a batch are from those on file */
#define STEP_RUNS  10

typedef struct player {
    carom_context *cuda, *cpu;
    carom_solid *on_cuda, *on_cpu;
    carom_solid_pair *queries; /* BATCH, on cuda */
    carom_solid_result *found, *expected;
    uint32_t at;
} player;

static bool run_cpu(void *input) {
    player *p = input;
    const carom_solid_pair *q = &p->queries[p->at++ % POSES];
    carom_solid_result overlap;
    return carom_solid_overlap(p->cpu, p->on_cpu, NULL, p->on_cpu, &q->pose_b, NULL, &overlap) ==
           CAROM_OK;
}

static bool run_one(void *input) {
    player *p = input;
    uint32_t k = p->at++ % POSES;
    const carom_solid_pair *q = &p->queries[k];
    carom_solid_result overlap;
    return carom_solid_overlap(p->cuda, q->a, NULL, q->b, &q->pose_b, NULL, &overlap) == CAROM_OK &&
           memcmp(&overlap, &p->expected[k], sizeof(overlap)) == 0;
}

static bool run_batch(void *input) {
    player *p = input;
    return carom_solid_overlap_batch(p->cuda, p->queries, BATCH, NULL, p->found) == CAROM_OK &&
           memcmp(p->found, p->expected, BATCH * sizeof(*p->found)) == 0;
}

/* The poses of a file, then each of them many times, displaced a little. */
static bool read_poses(player *p, const char *file) {
    char path[4096], line[1024];
    carom_random random = {5};
    carom_solid_info info;
    double m[12];
    soup_input_path(file, path, sizeof(path));
    FILE *stream = fopen(path, "r");
    if (stream == NULL || carom_solid_get_info(p->on_cpu, &info) != CAROM_OK) return false;
    bool good = fgets(line, sizeof(line), stream) != NULL; /* the heading */
    for (uint32_t k = 0; k < POSES && good; ++k) {
        char *at = line, *end;
        good = fgets(line, sizeof(line), stream) != NULL;
        for (int i = 0; i < 12 && good; ++i) {
            m[i] = strtod(at, &end);
            good = end != at;
            at = *end == ',' ? end + 1 : end;
        }
        p->queries[k] = (carom_solid_pair){.a = p->on_cuda, .b = p->on_cuda};
        good = good && carom_pose_from_matrix(p->cpu, m, &p->queries[k].pose_b) == CAROM_OK;
    }
    fclose(stream);
    double jitter = JITTER * cbrt(info.volume);
    for (uint32_t k = POSES; k < BATCH && good; ++k) {
        carom_vec3 *t = &p->queries[k].pose_b.t;
        p->queries[k] = p->queries[k % POSES];
        t->x += carom_random_between(&random, -jitter, jitter);
        t->y += carom_random_between(&random, -jitter, jitter);
        t->z += carom_random_between(&random, -jitter, jitter);
    }
    for (uint32_t k = 0; k < BATCH && good; ++k)
        good = carom_solid_overlap(p->cpu, p->on_cpu, NULL, p->on_cpu, &p->queries[k].pose_b, NULL,
                                   &p->expected[k]) == CAROM_OK;
    return good;
}

static void note_steps(bench *bench, player *p) {
    static const char *const what[] = {"one pose", "a thousand poses"};
    for (int many = 0; many < 2; ++many) {
        double sums[CAROM_CUDA_MOST_STEPS] = {0};
        carom_cuda_steps steps = {0};
        char text[400];
        int length = snprintf(text, sizeof(text), "%s, us:", what[many]);
        if (carom_cuda_set_timing(p->cuda, true) != CAROM_OK) return;
        for (int run = 0; run < STEP_RUNS; ++run) {
            if (!(many ? run_batch(p) : run_one(p)) ||
                carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
                return;
            for (uint32_t i = 0; i < steps.count; ++i) sums[i] += steps.milliseconds[i];
        }
        (void)carom_cuda_set_timing(p->cuda, false);
        for (uint32_t i = 0; i < steps.count && length < 380; ++i)
            length +=
                snprintf(text + length, sizeof(text) - (size_t)length, " %s %.1f%s", steps.name[i],
                         1e3 * sums[i] / STEP_RUNS, i + 1 < steps.count ? "," : "");
        bench_note(bench, "%s", text);
        bench_note(bench, "%llu pairs of blocks, %llu of triangles, %llu not apart by planes",
                   (unsigned long long)steps.node_pairs, (unsigned long long)steps.candidates,
                   (unsigned long long)steps.open_in_doubles);
    }
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define AGAIN 9 /* runs of the slowest pose: is it slow, or was the machine? */

static carom_pose random_pose(carom_random *random, double far) {
    return (carom_pose){{carom_random_normal(random), carom_random_normal(random),
                         carom_random_normal(random), carom_random_normal(random)},
                        {carom_random_between(random, -far, far),
                         carom_random_between(random, -far, far),
                         carom_random_between(random, -far, far)}};
}

static double time_pose(player *p, const carom_pose *pose) {
    carom_solid_result overlap;
    double start = carom_time_seconds();
    if (carom_solid_overlap(p->cuda, p->on_cuda, NULL, p->on_cuda, pose, NULL, &overlap) !=
        CAROM_OK)
        return HUGE_VAL;
    return carom_time_seconds() - start;
}

/* Very many random poses, one by one. */
static void note_slowest(bench *bench, player *p, uint32_t count) {
    carom_random random = {6};
    carom_solid_info info;
    double *seconds = malloc(count * sizeof(*seconds)), most = 0.0, again[AGAIN];
    carom_pose slowest = {.t = {0, 0, 0}};
    if (seconds == NULL || carom_solid_get_info(p->on_cpu, &info) != CAROM_OK) {
        free(seconds);
        return;
    }
    double far = 0.6 * cbrt(info.volume);
    for (uint32_t i = 0; i < count; ++i) {
        carom_pose pose = random_pose(&random, far);
        seconds[i] = time_pose(p, &pose);
        if (seconds[i] > most) {
            most = seconds[i];
            slowest = pose;
        }
    }
    for (int i = 0; i < AGAIN; ++i) again[i] = time_pose(p, &slowest);
    qsort(seconds, count, sizeof(*seconds), compare_seconds);
    qsort(again, AGAIN, sizeof(*again), compare_seconds);
    bench_note(bench,
               "%u random poses: median %.1f us, 99 %% %.1f, 99.9 %% %.1f, the ten slowest from "
               "%.1f, slowest %.1f, its pose again %.1f",
               count, 1e6 * seconds[count / 2], 1e6 * seconds[count / 100 * 99],
               1e6 * seconds[count / 1000 * 999], 1e6 * seconds[count - 10],
               1e6 * seconds[count - 1], 1e6 * again[AGAIN / 2]);
    free(seconds);
}

/* ---- updates --------------------------------------------------------------------------------- */

#define WAVE_AMPLITUDE 0.02 /* of the size */
#define WAVE_NUMBER    6.0  /* radians per size */

typedef struct waves {
    player *p;
    carom_solid *on_cuda, *on_cpu;
    float *frames[2];   /* as the input is, and in a wave */
    void *on_device[2]; /* the same */
    carom_mesh_view view;
    uint64_t steps, host_items;
} waves;

static bool update_on_device(void *input) {
    waves *w = input;
    const carom_cuda_positions positions = {w->on_device[w->steps++ % 2], CAROM_SCALAR_FLOAT32,
                                            w->view.vertex_count};
    return carom_cuda_solid_update(w->p->cuda, w->on_cuda, &positions, &w->host_items) == CAROM_OK;
}

static bool update_on_cpu(void *input) {
    waves *w = input;
    carom_mesh_view view = w->view;
    view.positions = w->frames[w->steps++ % 2];
    return carom_solid_update(w->p->cpu, w->on_cpu, &view) == CAROM_OK;
}

/* Both solids at the same positions: whether all poses have the same bytes. */
static bool updates_agree(waves *w) {
    for (int i = 0; i < 4; ++i) {
        w->steps = (uint64_t)i;
        if (!update_on_device(w)) return false;
        w->steps = (uint64_t)i;
        if (!update_on_cpu(w)) return false;
        for (uint32_t k = 0; k < POSES; ++k) {
            const carom_pose *pose = &w->p->queries[k].pose_b;
            carom_solid_result a, b;
            memset(&a, 0, sizeof(a));
            memset(&b, 0, sizeof(b));
            if (carom_solid_overlap(w->p->cuda, w->on_cuda, NULL, w->on_cuda, pose, NULL, &a) !=
                    CAROM_OK ||
                carom_solid_overlap(w->p->cpu, w->on_cpu, NULL, w->on_cpu, pose, NULL, &b) !=
                    CAROM_OK ||
                memcmp(&a, &b, sizeof(a)) != 0)
                return false;
        }
    }
    return true;
}

static bool prepare_waves(waves *w, const soup_input *input) {
    uint64_t count = w->view.vertex_count, bytes = 3 * count * sizeof(float);
    const carom_solid_def def = {.mesh = &input->view};
    for (int i = 0; i < 2; ++i) {
        w->frames[i] = malloc(bytes);
        if (w->frames[i] == NULL) return false;
        memcpy(w->frames[i], input->view.positions, bytes);
        for (uint64_t v = 0; i == 1 && v < 3 * count; v += 3) {
            double z = ((double)w->frames[i][v + 2] - input->centre.z) / input->size;
            w->frames[i][v] += (float)(WAVE_AMPLITUDE * input->size * sin(WAVE_NUMBER * z));
        }
        if (carom_cuda_allocate(w->p->cuda, bytes, &w->on_device[i]) != CAROM_OK ||
            carom_cuda_write(w->p->cuda, w->on_device[i], w->frames[i], bytes) != CAROM_OK)
            return false;
    }
    return carom_solid_create(w->p->cuda, &def, &w->on_cuda) == CAROM_OK &&
           carom_solid_create(w->p->cpu, &def, &w->on_cpu) == CAROM_OK;
}

static void measure_updates(bench *bench, player *p, const soup_input *input, const char *name) {
    waves w = {.p = p, .view = input->view};
    char job[64];
    if (!prepare_waves(&w, input) || !updates_agree(&w)) {
        bench_note(bench, "%s: updates are not those of the CPU: %s", name,
                   carom_context_message(p->cuda));
    } else {
        bench_contender both[2] = {{"CUDA", NULL, update_on_device, &w},
                                   {"CPU", NULL, update_on_cpu, &w}};
        snprintf(job, sizeof(job), "%s, update", name);
        bench_compare(bench, job, 1, both, 2);
        (void)update_on_device(&w);
        bench_note(bench, "an update left %llu triangles or pairs to the host",
                   (unsigned long long)w.host_items);
    }
    for (int i = 0; i < 2; ++i) {
        free(w.frames[i]);
        carom_cuda_release(p->cuda, w.on_device[i]);
    }
    carom_solid_destroy(w.on_cuda);
    carom_solid_destroy(w.on_cpu);
}

static bool prepare(player *p, const soup_input *input, const char *name) {
    char file[64];
    carom_solid_def def = {.mesh = &input->view};
    p->queries = calloc(BATCH, sizeof(*p->queries));
    p->found = calloc(BATCH, sizeof(*p->found));
    p->expected = calloc(BATCH, sizeof(*p->expected));
    snprintf(file, sizeof(file), "j6_%s.csv", name);
    return p->queries != NULL && p->found != NULL && p->expected != NULL &&
           carom_solid_create(p->cuda, &def, &p->on_cuda) == CAROM_OK &&
           carom_solid_create(p->cpu, &def, &p->on_cpu) == CAROM_OK && read_poses(p, file);
}

static void measure(bench *bench, player *p, const char *name) {
    char file[64], job[64];
    soup_input input;
    snprintf(file, sizeof(file), "solid_%s", name);
    if (!soup_input_load(p->cpu, file, &input)) return;
    if (!prepare(p, &input, name)) {
        bench_note(bench, "%s: %s%s", name, carom_context_message(p->cuda),
                   carom_context_message(p->cpu));
    } else {
        bench_contender one[2] = {{"CUDA", NULL, run_one, p}, {"CPU", NULL, run_cpu, p}};
        bench_contender batch[1] = {{"CUDA", NULL, run_batch, p}};
        snprintf(job, sizeof(job), "%s, one pose", name);
        bench_compare(bench, job, 1, one, 2);
        snprintf(job, sizeof(job), "%s, %u poses", name, BATCH);
        bench_compare(bench, job, BATCH, batch, 1);
        measure_updates(bench, p, &input, name);
        note_steps(bench, p);
        note_slowest(bench, p, bench->quick ? 1000 : LONG_POSES);
    }
    carom_solid_destroy(p->on_cuda);
    carom_solid_destroy(p->on_cpu);
    free(p->queries);
    free(p->found);
    free(p->expected);
    soup_input_free(&input);
}

static void run(bench *bench) {
    static const char *const models[] = {"cheburashka13k", "bunny70k", "armadillo100k"};
    carom_context_def def = {.backend = CAROM_BACKEND_CUDA, .threads = 1};
    player p = {0};
    if (carom_context_create(&def, &p.cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &p.cpu) == CAROM_OK)
        for (size_t i = 0; i < (bench->quick ? 1u : 3u); ++i) {
            player one = {.cuda = p.cuda, .cpu = p.cpu};
            measure(bench, &one, models[i]);
        }
    carom_context_destroy(p.cpu);
    carom_context_destroy(p.cuda);
}

const bench_group bench_cuda_solid = {64, "cuda_solid", "overlaps of solids on the GPU", run};
