/* SPDX-License-Identifier: MIT */
/* Packings compared on the GPU (Weller, Frese, Zachmann 2013): poses in device memory, overlaps in
 * device memory, one graph per pose.
 *
 * A packing meets a copy of itself in random poses in which their volumes overlap. The answers of
 * the first poses are compared with the CPU's, byte for byte, before anything is timed. Sizes from
 * a thousand spheres to a million show where constant time ends (Figure 5); larger ones than one
 * packing are several copies of it side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

#define POSES   64      /* that take turns */
#define LONG    10000   /* poses in a row, for percentiles */
#define LONGEST 1000000 /* frames in a row, with CAROM_LONG */
#define QUEUED  25      /* frames that are queued at once: fewer than CAROM_CUDA_MOST_STEPS */
#define PACKED  60000u
#define LARGEST 1000000u
#define MANY    1000u /* pairs in one launch */

typedef struct player {
    carom_context *cpu, *cuda;
    carom_balls *on_cpu, *on_cuda;
    const carom_packing_sphere *spheres;
    uint64_t count;
    carom_pose poses[POSES];
    carom_packing_overlap answers[2][POSES]; /* without and with bounds */
    void *pose, *overlap;                    /* on the device */
    carom_cuda_frame *frames[2];
    carom_balls_pair pairs[MANY];
    carom_packing_overlap overlaps[MANY];
    uint32_t at;
} player;

/* ---- Contenders ------------------------------------------------------------------------------ */

static bool run_frame(player *p, int bounds) {
    carom_cuda_steps steps;
    carom_packing_overlap o;
    uint32_t i = p->at++ % POSES;
    if (carom_cuda_write(p->cuda, p->pose, &p->poses[i], sizeof(p->poses[i])) != CAROM_OK ||
        carom_cuda_frame_run(p->cuda, p->frames[bounds]) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK ||
        carom_cuda_read(p->cuda, &o, p->overlap, sizeof(o)) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    return memcmp(&o, &p->answers[bounds][i], sizeof(o)) == 0;
}

static bool run_estimate(void *input) {
    return run_frame(input, 0);
}

static bool run_bounds(void *input) {
    return run_frame(input, 1);
}

static bool run_query(player *p, carom_context *context, const carom_balls *balls) {
    const carom_balls_query_def def = {.skip_limits = true};
    carom_packing_overlap o;
    uint32_t i = p->at++ % POSES;
    return carom_balls_overlap(context, balls, NULL, balls, &p->poses[i], &def, &o) == CAROM_OK &&
           memcmp(&o, &p->answers[0][i], sizeof(o)) == 0;
}

static bool run_cpu(void *input) {
    player *p = input;
    return run_query(p, p->cpu, p->on_cpu);
}

static bool run_host(void *input) {
    player *p = input;
    return run_query(p, p->cuda, p->on_cuda);
}

static bool run_build(void *input) {
    player *p = input;
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (carom_balls_update(p->cuda, p->on_cuda, p->spheres, p->count, 0.0) != CAROM_OK ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    return true;
}

static bool run_many(void *input) {
    player *p = input;
    const carom_balls_query_def def = {.skip_limits = true};
    carom_cuda_steps steps;
    if (carom_balls_overlap_batch(p->cuda, p->pairs, MANY, &def, p->overlaps) != CAROM_OK ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    for (uint32_t i = 0; i < MANY; ++i)
        if (memcmp(&p->overlaps[i], &p->answers[0][i % POSES], sizeof(*p->overlaps)) != 0)
            return false;
    return true;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static carom_pose random_pose(carom_random *random, carom_vec3 size) {
    carom_pose pose = {{carom_random_normal(random), carom_random_normal(random),
                        carom_random_normal(random), carom_random_normal(random)},
                       {size.x * carom_random_between(random, -0.5, 0.5),
                        size.y * carom_random_between(random, -0.5, 0.5),
                        size.z * carom_random_between(random, -0.5, 0.5)}};
    return pose;
}

static carom_vec3 size_of(const carom_packing_sphere *spheres, uint64_t count) {
    carom_vec3 low = spheres[0].centre, high = low;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 c = spheres[i].centre;
        low = (carom_vec3){fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z)};
        high = (carom_vec3){fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z)};
    }
    return (carom_vec3){high.x - low.x, high.y - low.y, high.z - low.z};
}

/* Poses in which volumes overlap, and their answers by the CPU. */
static carom_status choose_poses(player *p) {
    carom_random random = {2013};
    carom_vec3 size = size_of(p->spheres, p->count);
    for (uint32_t i = 0; i < POSES;) {
        carom_pose pose = random_pose(&random, size);
        carom_balls_query_def def = {.skip_limits = true};
        carom_status status =
            carom_balls_overlap(p->cpu, p->on_cpu, NULL, p->on_cpu, &pose, &def, &p->answers[0][i]);
        if (status != CAROM_OK) return status;
        if (!(p->answers[0][i].volume.value > 0.0)) continue;
        p->poses[i] = pose;
        def.skip_limits = false;
        status = carom_balls_overlap(p->cpu, p->on_cpu, NULL, p->on_cpu, &pose, &def,
                                     &p->answers[1][i++]);
        if (status != CAROM_OK) return status;
    }
    for (uint32_t i = 0; i < MANY; ++i)
        p->pairs[i] =
            (carom_balls_pair){.a = p->on_cuda, .b = p->on_cuda, .pose_b = p->poses[i % POSES]};
    return CAROM_OK;
}

static carom_status make_balls(carom_context *context, const carom_packing *packing,
                               const player *p, carom_balls **balls) {
    const carom_balls_def def = {.packing = packing};
    carom_status status = carom_balls_create(context, &def, balls);
    return status == CAROM_OK ? carom_balls_update(context, *balls, p->spheres, p->count, 0.0)
                              : status;
}

static carom_status record(player *p) {
    carom_status status = carom_cuda_allocate(p->cuda, sizeof(*p->poses), &p->pose);
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, sizeof(carom_packing_overlap), &p->overlap);
    for (int bounds = 0; bounds < 2 && status == CAROM_OK; ++bounds) {
        const carom_balls_query_def def = {.skip_limits = bounds == 0};
        status = carom_cuda_frame_begin(p->cuda);
        if (status == CAROM_OK)
            status = carom_cuda_balls_overlap(p->cuda, p->on_cuda, NULL, p->on_cuda, p->pose, 1,
                                              &def, p->overlap);
        carom_status ended = carom_cuda_frame_end(p->cuda, &p->frames[bounds]);
        if (status == CAROM_OK) status = ended;
    }
    return status;
}

/* ---- Percentiles ----------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Queries one pose, `frames` times in a row; adds up microseconds per frame. */
static carom_status run_pose(player *p, const carom_pose *pose, uint32_t frames,
                             carom_packing_overlap *o, carom_cuda_steps *steps) {
    carom_status status = carom_cuda_write(p->cuda, p->pose, pose, sizeof(*pose));
    for (uint32_t i = 0; i < frames && status == CAROM_OK; ++i)
        status = carom_cuda_frame_run(p->cuda, p->frames[0]);
    if (status == CAROM_OK) status = carom_cuda_finish(p->cuda);
    if (status == CAROM_OK) status = carom_cuda_get_steps(p->cuda, steps);
    if (status == CAROM_OK) status = carom_cuda_read(p->cuda, o, p->overlap, sizeof(*o));
    return status;
}

/* Overlapping poses in a row. In each, `frames` are queued one behind the other, so that starting
 * them is not part of the time but for the first; 1: each pose is waited for. */
static void run_long(bench *bench, player *p, uint32_t wanted, uint32_t frames) {
    double *times = malloc(wanted * sizeof(*times)), slowest = 0.0;
    carom_random random = {77};
    carom_vec3 size = size_of(p->spheres, p->count);
    carom_cuda_steps steps;
    carom_packing_overlap o;
    uint32_t count = 0;
    while (times != NULL && count < wanted) {
        carom_pose pose = random_pose(&random, size);
        if (run_pose(p, &pose, frames, &o, &steps) != CAROM_OK) {
            bench_note(bench, "failed: %s", carom_context_message(p->cuda));
            break;
        }
        if (!(o.volume.value > 0.0)) continue;
        times[count++] = 1e3 * steps.milliseconds[0] / (double)frames;
        slowest = fmax(slowest, 1e3 * steps.longest_milliseconds);
    }
    if (times != NULL && count == wanted) {
        qsort(times, count, sizeof(*times), compare_times);
        bench_note(bench,
                   "%llu spheres, %u overlapping poses, %u frames each: median %.1f us, 99th "
                   "percentile %.1f, 99.9th %.1f; slowest frame %.1f",
                   (unsigned long long)p->count, count, frames, times[count / 2],
                   times[count / 100 * 99], times[count / 1000 * 999], slowest);
    }
    free(times);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void player_free(player *p) {
    for (int i = 0; i < 2; ++i) carom_cuda_frame_destroy(p->frames[i]);
    if (p->pose != NULL) (void)carom_cuda_release(p->cuda, p->pose);
    if (p->overlap != NULL) (void)carom_cuda_release(p->cuda, p->overlap);
    carom_balls_destroy(p->on_cpu);
    carom_balls_destroy(p->on_cuda);
    free(p);
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu,
                    const carom_packing *packing, const carom_packing_sphere *spheres,
                    uint64_t count) {
    char job[64];
    player *p = calloc(1, sizeof(*p));
    if (p == NULL) return;
    p->cpu = cpu;
    p->cuda = cuda;
    p->spheres = spheres;
    p->count = count;
    carom_status status = make_balls(cpu, packing, p, &p->on_cpu);
    if (status == CAROM_OK) status = make_balls(cuda, packing, p, &p->on_cuda);
    if (status == CAROM_OK) status = choose_poses(p);
    if (status == CAROM_OK) status = record(p);
    if (status == CAROM_OK) {
        const bench_contender contenders[] = {{"cpu, estimate", NULL, run_cpu, p},
                                              {"cuda, estimate", NULL, run_estimate, p},
                                              {"cuda, bounds", NULL, run_bounds, p},
                                              {"cuda, host to host", NULL, run_host, p},
                                              {"cuda, build the grid", NULL, run_build, p},
                                              {"cuda, 1000 at once", NULL, run_many, p}};
        snprintf(job, sizeof(job), "%llu spheres", (unsigned long long)count);
        bench_at_size(bench, "spheres", (double)count);
        bench_compare(bench, job, (double)(2 * count), contenders, count <= 4000 ? 6 : 5);
        uint32_t poses = bench->quick ? 100 : count == PACKED ? LONG : LONG / 10;
        run_long(bench, p, poses, 1);
        run_long(bench, p, poses, QUEUED);
        if (count == PACKED && getenv("CAROM_LONG") != NULL)
            run_long(bench, p, LONGEST / QUEUED, QUEUED);
    } else {
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    }
    player_free(p);
}

/* Spheres of several copies of a packing, side by side along x, y and z. */
static void copy_spheres(carom_packing_sphere *spheres, uint64_t packed, uint64_t count) {
    carom_vec3 size = size_of(spheres, packed);
    for (uint64_t i = packed; i < count; ++i) {
        uint64_t copy = i / packed;
        spheres[i] = spheres[i % packed];
        spheres[i].centre.x += 1.02 * size.x * (double)(copy % 3);
        spheres[i].centre.y += 1.02 * size.y * (double)(copy / 3 % 3);
        spheres[i].centre.z += 1.02 * size.z * (double)(copy / 9);
    }
}

static carom_status pack(carom_context *context, uint64_t count, carom_packing **packing) {
    const carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .detail = 96};
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view, .count = count, .fast = true};
    carom_mesh *mesh = NULL;
    carom_status status = carom_shape_make(context, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_packing_create(context, &def, packing);
    carom_mesh_destroy(mesh);
    return status;
}

static void measure_all(bench *bench, carom_context *cuda, carom_context *cpu) {
    static const uint64_t sizes[] = {1000,       4000,       16000,      32000,  PACKED,
                                     2 * PACKED, 4 * PACKED, 8 * PACKED, LARGEST};
    uint64_t packed = bench->quick ? 4000 : PACKED;
    carom_packing *packing = NULL;
    carom_packing_spheres from = {0};
    carom_packing_sphere *spheres = malloc(LARGEST * sizeof(*spheres));
    if (spheres != NULL && pack(cpu, packed, &packing) == CAROM_OK &&
        carom_packing_list_spheres(cpu, packing, &from) == CAROM_OK && from.count == packed) {
        memcpy(spheres, from.data, packed * sizeof(*spheres));
        copy_spheres(spheres, packed, LARGEST);
        for (size_t i = 0; i < (bench->quick ? 2 : sizeof(sizes) / sizeof(*sizes)); ++i)
            measure(bench, cuda, cpu, packing, spheres, sizes[i]);
    } else {
        bench_note(bench, "failed: %s", carom_context_message(cpu));
    }
    carom_packing_spheres_free(&from);
    carom_packing_destroy(packing);
    free(spheres);
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
        measure_all(bench, cuda, cpu);
        bench_note(bench, "Weller, Frese, Zachmann (2013) on a GTX 680: about 1 ms");
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_balls = {68, "cuda_balls", "packings compared on the GPU: 2013", run};
