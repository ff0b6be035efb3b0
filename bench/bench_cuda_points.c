/* SPDX-License-Identifier: MIT */
/* Nearest faces of points, first faces of rays and all of them, and signed distances on the GPU:
 * queries and results in device memory.
 * Every answer is compared with the CPU's before anything is timed; the times are those of the
 * device's own clock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

#define DETAIL       707u /* a cloth of a million triangles */
#define QUICK_DETAIL 100u
#define CLOSED       1000u /* steps of a torus of a million triangles */
#define QUICK_CLOSED 100u
#define QUERIES      UINT64_C(10000000)
#define QUICK        UINT64_C(100000)

typedef enum query_kind {
    POINTS_NEAR,    /* within an edge of the surface */
    POINTS_UNIFORM, /* in the box */
    RAYS_CAMERA,    /* through the pixels of a picture, row by row */
    RAYS_RANDOM,    /* from anywhere in the box to anywhere in it */
    RAYS_CORNERS,   /* from corners of faces to anywhere in the box: doubles leave many open */
    RAYS_ALL,       /* all faces along the random rays */
    CLOTH_KINDS,
    TORUS_UNIFORM = CLOTH_KINDS, /* points in the box of a closed mesh */
    TORUS_SIGNED,                /* their signed distances */
    QUERY_KINDS
} query_kind;

static const char *const kind_names[QUERY_KINDS] = {
    "points near",     "points uniform", "rays camera",   "rays random",
    "rays of corners", "rays all",       "torus uniform", "torus signed"};

typedef struct player {
    carom_context *cpu, *cuda;
    carom_soup *on_cpu, *on_cuda;
    query_kind kind;
    uint64_t count;
    void *queries; /* carom_vec3 or carom_ray, on the host */
    carom_hit *hits, *found;
    double *distances, *found_distances;
    carom_soup_ray_hits all;
    carom_cuda_ray_hits device_all;
    void *device_queries, *device_hits, *device_distances;
    uint64_t on_host;
} player;

static bool is_rays(const player *p) {
    return p->kind >= RAYS_CAMERA && p->kind <= RAYS_ALL;
}

static bool run_cpu(void *input) {
    player *p = input;
    if (p->kind == TORUS_SIGNED)
        return carom_soup_signed_distances(p->cpu, p->on_cpu, p->queries, p->count, p->distances,
                                           p->hits) == CAROM_OK;
    if (p->kind == RAYS_ALL)
        return carom_soup_query_rays(p->cpu, p->on_cpu, p->queries, p->count, &p->all) == CAROM_OK;
    if (is_rays(p))
        return carom_soup_cast_rays(p->cpu, p->on_cpu, p->queries, p->count, p->hits) == CAROM_OK;
    return carom_soup_closest_points(p->cpu, p->on_cpu, p->queries, p->count, p->hits) == CAROM_OK;
}

static carom_status submit_cuda(player *p) {
    if (p->kind == TORUS_SIGNED)
        return carom_cuda_soup_signed_distances(p->cuda, p->on_cuda, p->device_queries, p->count,
                                                p->device_distances, p->device_hits);
    if (p->kind == RAYS_ALL)
        return carom_cuda_soup_query_rays(p->cuda, p->on_cuda, p->device_queries, p->count,
                                          &p->device_all);
    if (is_rays(p))
        return carom_cuda_soup_cast_rays(p->cuda, p->on_cuda, p->device_queries, p->count,
                                         p->device_hits);
    return carom_cuda_soup_closest_points(p->cuda, p->on_cuda, p->device_queries, p->count,
                                          p->device_hits);
}

static bool run_cuda(void *input) {
    player *p = input;
    carom_cuda_steps steps;
    double milliseconds = 0.0;
    if (submit_cuda(p) != CAROM_OK || carom_cuda_finish(p->cuda) != CAROM_OK ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    for (uint32_t i = 0; i < steps.count; ++i) milliseconds += steps.milliseconds[i];
    bench_add_device_seconds(1e-3 * milliseconds);
    p->on_host = steps.open_in_doubles;
    return true;
}

/* ---- Queries --------------------------------------------------------------------------------- */

typedef struct surface {
    carom_mesh_view view;
    double low[3], high[3], edge;
} surface;

static void measure_surface(surface *c) {
    const float *p = c->view.positions;
    for (int k = 0; k < 3; ++k) {
        c->low[k] = HUGE_VAL;
        c->high[k] = -HUGE_VAL;
    }
    for (uint64_t i = 0; i < 3 * c->view.vertex_count; ++i) {
        c->low[i % 3] = fmin(c->low[i % 3], (double)p[i]);
        c->high[i % 3] = fmax(c->high[i % 3], (double)p[i]);
    }
    c->edge = 0.0;
    for (uint64_t f = 0; f < c->view.face_count; ++f) {
        const float *a = p + 3 * c->view.corners[3 * f], *b = p + 3 * c->view.corners[3 * f + 1];
        double d[3] = {(double)(b[0] - a[0]), (double)(b[1] - a[1]), (double)(b[2] - a[2])};
        c->edge += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    c->edge /= (double)c->view.face_count;
}

static carom_vec3 any_point(carom_random *random, const surface *c) {
    return (carom_vec3){carom_random_between(random, c->low[0], c->high[0]),
                        carom_random_between(random, c->low[1], c->high[1]),
                        carom_random_between(random, c->low[2], c->high[2])};
}

/* At most an edge from a point of a face. */
static carom_vec3 near_point(carom_random *random, const surface *c) {
    const float *p = c->view.positions;
    const uint32_t *corners = c->view.corners;
    corners += 3 * (carom_random_next(random) % c->view.face_count);
    double s = carom_random_uniform(random), t = carom_random_uniform(random) * (1.0 - s), x[3];
    for (int k = 0; k < 3; ++k) {
        double by = carom_random_between(random, -c->edge, c->edge) / sqrt(3.0);
        x[k] = (1.0 - s - t) * (double)p[3 * corners[0] + (uint32_t)k] +
               s * (double)p[3 * corners[1] + (uint32_t)k] +
               t * (double)p[3 * corners[2] + (uint32_t)k] + by;
    }
    return (carom_vec3){x[0], x[1], x[2]};
}

static carom_vec3 any_corner(carom_random *random, const surface *c) {
    const float *p = c->view.positions;
    p += 3 * c->view.corners[carom_random_next(random) % (3 * c->view.face_count)];
    return (carom_vec3){(double)p[0], (double)p[1], (double)p[2]};
}

/* A ray through pixel i of a square picture of the box, from above. */
static carom_ray camera_ray(const surface *c, uint64_t i, uint64_t count) {
    uint64_t width = (uint64_t)sqrt((double)count);
    double u = ((double)(i % width) + 0.5) / (double)width;
    double v = ((double)(i / width) + 0.5) / (double)width;
    double height = 2.0 * (c->high[0] - c->low[0]);
    carom_vec3 eye = {0.5 * (c->low[0] + c->high[0]), 0.5 * (c->low[1] + c->high[1]),
                      c->high[2] + height};
    carom_vec3 at = {c->low[0] + u * (c->high[0] - c->low[0]),
                     c->low[1] + v * (c->high[1] - c->low[1]), c->high[2]};
    return (carom_ray){.origin = eye, .direction = {at.x - eye.x, at.y - eye.y, -height}};
}

static void make_queries(player *p, const surface *c) {
    carom_random random = {7};
    for (uint64_t i = 0; i < p->count; ++i) {
        carom_vec3 *point = (carom_vec3 *)p->queries + i;
        carom_ray *ray = (carom_ray *)p->queries + i;
        carom_vec3 a, b;
        switch (p->kind) {
        case POINTS_NEAR:
            *point = near_point(&random, c);
            break;
        case POINTS_UNIFORM:
        case TORUS_UNIFORM:
        case TORUS_SIGNED:
            *point = any_point(&random, c);
            break;
        case RAYS_CAMERA:
            *ray = camera_ray(c, i, p->count);
            break;
        case RAYS_CORNERS:
            a = any_corner(&random, c);
            b = any_point(&random, c);
            *ray = (carom_ray){.origin = a, .direction = {b.x - a.x, b.y - a.y, b.z - a.z}};
            break;
        default:
            a = any_point(&random, c);
            b = any_point(&random, c);
            *ray = (carom_ray){.origin = a, .direction = {b.x - a.x, b.y - a.y, b.z - a.z}};
        }
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Compares all faces along the rays. */
static bool verify_all(bench *bench, player *p) {
    bool good = run_cpu(p) && run_cuda(p);
    carom_soup_ray_hit *read =
        good ? malloc(p->device_all.count * sizeof(*read) + sizeof(*read)) : NULL;
    good = read != NULL && carom_cuda_read(p->cuda, read, p->device_all.data,
                                           p->device_all.count * sizeof(*read)) == CAROM_OK;
    if (!good)
        bench_note(bench, "failed: %s%s", carom_context_message(p->cpu),
                   carom_context_message(p->cuda));
    bool same = good && p->all.count == p->device_all.count &&
                memcmp(read, p->all.data, p->all.count * sizeof(*read)) == 0;
    if (good) bench_note(bench, "%llu faces", (unsigned long long)p->all.count);
    if (good && !same) bench_note(bench, "WRONG: a list is not the CPU's");
    free(read);
    return same;
}

static bool verify(bench *bench, player *p) {
    uint64_t wrong = 0;
    if (p->kind == RAYS_ALL) return verify_all(bench, p);
    if (!run_cpu(p) || !run_cuda(p) ||
        carom_cuda_read(p->cuda, p->found, p->device_hits, p->count * sizeof(*p->found)) !=
            CAROM_OK ||
        (p->kind == TORUS_SIGNED &&
         carom_cuda_read(p->cuda, p->found_distances, p->device_distances,
                         p->count * sizeof(*p->found_distances)) != CAROM_OK)) {
        bench_note(bench, "failed: %s%s", carom_context_message(p->cpu),
                   carom_context_message(p->cuda));
        return false;
    }
    for (uint64_t i = 0; i < p->count; ++i)
        wrong += memcmp(&p->hits[i], &p->found[i], sizeof(*p->hits)) != 0 ? 1 : 0;
    for (uint64_t i = 0; p->kind == TORUS_SIGNED && i < p->count; ++i)
        wrong += memcmp(&p->distances[i], &p->found_distances[i], sizeof(double)) != 0 ? 1 : 0;
    if (wrong != 0) bench_note(bench, "WRONG: %llu answers", (unsigned long long)wrong);
    return wrong == 0;
}

static void note_steps(bench *bench, player *p) {
    carom_cuda_steps steps;
    if (carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK) return;
    for (uint32_t i = 0; i < steps.count; ++i)
        bench_note(bench, "%s: %.3f ms", steps.name[i], steps.milliseconds[i]);
    bench_note(bench, "%llu left by floats, host_share %.2g",
               (unsigned long long)steps.open_in_floats, (double)p->on_host / (double)p->count);
}

static void measure(bench *bench, player *p, const surface *c) {
    uint64_t size = is_rays(p) ? sizeof(carom_ray) : sizeof(carom_vec3);
    char job[64];
    p->queries = malloc(p->count * size);
    p->hits = malloc(p->count * sizeof(*p->hits));
    p->found = malloc(p->count * sizeof(*p->found));
    p->distances = malloc(p->count * sizeof(*p->distances));
    p->found_distances = malloc(p->count * sizeof(*p->distances));
    bool good = p->queries != NULL && p->hits != NULL && p->found != NULL && p->distances != NULL &&
                p->found_distances != NULL;
    if (good) make_queries(p, c);
    good =
        good && carom_cuda_allocate(p->cuda, p->count * size, &p->device_queries) == CAROM_OK &&
        carom_cuda_allocate(p->cuda, p->count * sizeof(*p->hits), &p->device_hits) == CAROM_OK &&
        carom_cuda_allocate(p->cuda, p->count * sizeof(double), &p->device_distances) == CAROM_OK &&
        carom_cuda_write(p->cuda, p->device_queries, p->queries, p->count * size) == CAROM_OK;
    if (!good) bench_note(bench, "failed: %s", carom_context_message(p->cuda));
    if (good && verify(bench, p)) {
        const bench_contender contenders[] = {{"cpu", NULL, run_cpu, p},
                                              {"cuda", NULL, run_cuda, p}};
        snprintf(job, sizeof(job), "%s %llu", kind_names[p->kind], (unsigned long long)p->count);
        bench_compare(bench, job, (double)p->count, contenders, 2);
        note_steps(bench, p);
    }
    carom_soup_ray_hits_free(&p->all);
    carom_cuda_ray_hits_free(p->cuda, &p->device_all);
    carom_cuda_release(p->cuda, p->device_queries);
    carom_cuda_release(p->cuda, p->device_hits);
    carom_cuda_release(p->cuda, p->device_distances);
    free(p->distances);
    free(p->found_distances);
    free(p->queries);
    free(p->hits);
    free(p->found);
}

/* The kinds of queries from `first` to before `end` on one shape. */
static void measure_shape(bench *bench, carom_context *cpu, carom_context *cuda,
                          const carom_shape_def *shape, int first, int end) {
    surface c;
    carom_mesh *mesh = NULL;
    carom_soup *on_cpu = NULL, *on_cuda = NULL;
    carom_soup_def def = {.mesh = &c.view};
    carom_status status = carom_shape_make(cpu, shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &c.view);
    if (status == CAROM_OK) status = carom_soup_create(cpu, &def, &on_cpu);
    if (status == CAROM_OK) status = carom_soup_create(cuda, &def, &on_cuda);
    if (status == CAROM_OK) measure_surface(&c);
    if (status != CAROM_OK)
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    for (int kind = first; kind < end && status == CAROM_OK; ++kind) {
        player p = {.cpu = cpu,
                    .cuda = cuda,
                    .on_cpu = on_cpu,
                    .on_cuda = on_cuda,
                    .kind = (query_kind)kind,
                    .count = bench->quick ? QUICK : QUERIES};
        measure(bench, &p, &c);
    }
    carom_soup_destroy(on_cpu);
    carom_soup_destroy(on_cuda);
    carom_mesh_destroy(mesh);
}

static void measure_all(bench *bench, carom_context *cpu, carom_context *cuda) {
    const carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH,
                                   .detail = bench->quick ? QUICK_DETAIL : DETAIL,
                                   .scalar = CAROM_SCALAR_FLOAT32};
    const carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS,
                                   .detail = bench->quick ? QUICK_CLOSED : CLOSED,
                                   .scalar = CAROM_SCALAR_FLOAT32};
    measure_shape(bench, cpu, cuda, &cloth, 0, CLOTH_KINDS);
    measure_shape(bench, cpu, cuda, &torus, CLOTH_KINDS, QUERY_KINDS);
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
        measure_all(bench, cpu, cuda);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_points = {69, "cuda_points",
                                       "points, rays and signed distances on the GPU", run};
