/* SPDX-License-Identifier: MIT */
/* Impacts of a cloth, what of it is near and how far it may move, on the GPU: start and end
 * positions on the device to results on the device, everything built anew. Every answer is compared
 * with the CPU's before anything is timed; times are those of the device, around one graph. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

#define NEAR_EDGES 0.5   /* reach of near pairs */
#define DETAIL     707u  /* of the cloth: a million triangles */
#define LARGE      2828u /* 16 million: all impacts alone, and on the CPU once, not in rounds */

typedef enum form { ALL, FIRST, NEAR, DISTANCES, FORMS } form;

static const char *const form_names[FORMS] = {"impacts", "first impact", "near", "safe distances"};

typedef struct player {
    carom_context *cuda, *cpu;
    carom_soup *soup, *cpu_soup;
    carom_mesh_view view, end;
    double edge, reach;
    void *start, *device_end, *device_distances;
    double *distances, *expected_distances;
    carom_cuda_frame *frames[FORMS];
    carom_cuda_impacts found[2]; /* impacts, near pairs */
    carom_soup_impact first, expected_first;
    carom_soup_impacts expected, read;
    carom_soup_near_pairs expected_near, near;
} player;

typedef struct contender {
    player *p;
    form form;
} contender;

static bool run_cuda(void *input) {
    const contender *c = input;
    player *p = c->p;
    carom_cuda_steps steps;
    if (carom_cuda_frame_run(p->cuda, p->frames[c->form]) != CAROM_OK ||
        carom_cuda_finish(p->cuda) != CAROM_OK || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    return c->form != ALL || p->found[0].count == p->expected.count;
}

static bool run_host(void *input) {
    const contender *c = input;
    player *p = c->p;
    switch (c->form) {
    case ALL:
        return carom_soup_self_impacts(p->cuda, p->soup, &p->end, &p->read) == CAROM_OK;
    case FIRST:
        return carom_soup_self_first_impact(p->cuda, p->soup, &p->end, &p->first) == CAROM_OK;
    case NEAR:
        return carom_soup_self_near(p->cuda, p->soup, p->reach, &p->near) == CAROM_OK;
    default:
        return carom_soup_self_safe_distances(p->cuda, p->soup, p->reach, 0.0, p->distances) ==
               CAROM_OK;
    }
}

static bool run_cpu(void *input) {
    const contender *c = input;
    player *p = c->p;
    switch (c->form) {
    case ALL:
        return carom_soup_self_impacts(p->cpu, p->cpu_soup, &p->end, &p->expected) == CAROM_OK;
    case FIRST:
        return carom_soup_self_first_impact(p->cpu, p->cpu_soup, &p->end, &p->expected_first) ==
               CAROM_OK;
    case NEAR:
        return carom_soup_self_near(p->cpu, p->cpu_soup, p->reach, &p->expected_near) == CAROM_OK;
    default:
        return carom_soup_self_safe_distances(p->cpu, p->cpu_soup, p->reach, 0.0,
                                              p->expected_distances) == CAROM_OK;
    }
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static carom_status queue(player *p, form form) {
    const carom_cuda_positions start = {p->start, p->view.scalar, p->view.vertex_count};
    const carom_cuda_positions end = {p->device_end, p->view.scalar, p->view.vertex_count};
    carom_status status = carom_cuda_soup_update(p->cuda, p->soup, &start);
    if (status != CAROM_OK) return status;
    switch (form) {
    case ALL:
        return carom_cuda_soup_self_impacts(p->cuda, p->soup, &end, &p->found[0]);
    case FIRST:
        return carom_cuda_soup_self_first_impact(p->cuda, p->soup, &end, &p->first);
    case NEAR:
        return carom_cuda_soup_self_near(p->cuda, p->soup, p->reach, &p->found[1]);
    default:
        return carom_cuda_soup_self_safe_distances(p->cuda, p->soup, p->reach, 0.0,
                                                   p->device_distances);
    }
}

static carom_status record(player *p, form end) {
    uint64_t bytes = 3 * sizeof(float) * p->view.vertex_count;
    carom_status status = carom_cuda_allocate(p->cuda, bytes, &p->start);
    if (status == CAROM_OK) status = carom_cuda_allocate(p->cuda, bytes, &p->device_end);
    if (status == CAROM_OK)
        status = carom_cuda_allocate(p->cuda, sizeof(double) * p->view.vertex_count,
                                     &p->device_distances);
    if (status == CAROM_OK) status = carom_cuda_write(p->cuda, p->start, p->view.positions, bytes);
    if (status == CAROM_OK)
        status = carom_cuda_write(p->cuda, p->device_end, p->end.positions, bytes);
    for (form f = ALL; f < end && status == CAROM_OK; ++f) {
        status = carom_cuda_frame_begin(p->cuda);
        if (status == CAROM_OK) status = queue(p, f);
        carom_status ended = carom_cuda_frame_end(p->cuda, &p->frames[f]);
        if (status == CAROM_OK) status = ended;
        for (int i = 0; i < 2 && status == CAROM_OK; ++i) { /* so that all memory is there */
            status = carom_cuda_frame_run(p->cuda, p->frames[f]);
            if (status == CAROM_OK) status = carom_cuda_finish(p->cuda);
        }
    }
    return status;
}

static bool same_impact(const carom_soup_impact *x, const carom_soup_impact *y) {
    return x->kind == y->kind && x->face_a == y->face_a && x->face_b == y->face_b &&
           memcmp(x->a, y->a, sizeof(x->a)) == 0 && memcmp(x->b, y->b, sizeof(x->b)) == 0 &&
           memcmp(&x->time, &y->time, sizeof(x->time)) == 0;
}

static bool same_list(const carom_soup_impacts *a, const carom_soup_impacts *b) {
    bool same = a->count == b->count;
    for (uint64_t i = 0; i < a->count && same; ++i) same = same_impact(&a->data[i], &b->data[i]);
    return same;
}

/* Whether all answers before `end` are the CPU's. */
static bool verify(bench *bench, player *p, form end) {
    for (form f = ALL; f < end; ++f) {
        contender c = {p, f};
        double start = carom_time_seconds();
        bool good = run_cpu(&c);
        if (end == FIRST)
            bench_note(bench, "%s of %llu on the CPU, once: %.3g s", form_names[f],
                       (unsigned long long)p->view.face_count, carom_time_seconds() - start);
        if (good && run_host(&c)) continue;
        bench_note(bench, "failed: %s%s", carom_context_message(p->cpu),
                   carom_context_message(p->cuda));
        return false;
    }
    bool same = same_list(&p->read, &p->expected);
    if (end > FIRST)
        same =
            same && same_impact(&p->first, &p->expected_first) &&
            p->near.count == p->expected_near.count &&
            (p->near.count == 0 || memcmp(p->near.data, p->expected_near.data,
                                          p->near.count * sizeof(*p->near.data)) == 0) &&
            memcmp(p->distances, p->expected_distances, p->view.vertex_count * sizeof(double)) == 0;
    if (!same) bench_note(bench, "WRONG: an answer is not the CPU's");
    return same;
}

/* The steps of a search, each timed on the device, and the share of the host. */
static void report(bench *bench, player *p, form form) {
    carom_cuda_steps steps;
    char line[300];
    int used = 0;
    if (queue(p, form) != CAROM_OK || carom_cuda_finish(p->cuda) != CAROM_OK ||
        carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK)
        return;
    for (uint32_t i = 0; i < steps.count && used < 240; ++i)
        used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.0f", i == 0 ? "" : ", ",
                         steps.name[i], 1e3 * steps.milliseconds[i]);
    bench_note(bench, "%s, us: %s", form_names[form], line);
    bench_note(
        bench,
        "%llu pairs of leaves, %llu candidates, %llu open after directions; host_items %llu, "
        "host_share %.2g",
        (unsigned long long)steps.node_pairs, (unsigned long long)steps.candidates,
        (unsigned long long)steps.open_in_floats, (unsigned long long)steps.open_in_doubles,
        (double)steps.open_in_doubles / fmax((double)steps.open_in_floats, 1.0));
}

static void player_free(player *p) {
    for (int f = 0; f < FORMS; ++f) carom_cuda_frame_destroy(p->frames[f]);
    for (int i = 0; i < 2; ++i) carom_cuda_impacts_free(p->cuda, &p->found[i]);
    carom_cuda_release(p->cuda, p->start);
    carom_cuda_release(p->cuda, p->device_end);
    carom_cuda_release(p->cuda, p->device_distances);
    carom_soup_impacts_free(&p->expected);
    carom_soup_impacts_free(&p->read);
    carom_soup_near_pairs_free(&p->expected_near);
    carom_soup_near_pairs_free(&p->near);
    carom_soup_destroy(p->soup);
    carom_soup_destroy(p->cpu_soup);
    free(p->distances);
    free(p->expected_distances);
}

/* The mean length of the first edges of faces. */
static double mean_edge(const carom_mesh_view *view) {
    const float *x = view->positions;
    double sum = 0.0;
    for (uint64_t f = 0; f < view->face_count; ++f) {
        const uint32_t *c = view->corners + 3 * f;
        double square = 0.0;
        for (uint32_t k = 0; k < 3; ++k) {
            double d = (double)x[3 * (uint64_t)c[1] + k] - (double)x[3 * (uint64_t)c[0] + k];
            square += d * d;
        }
        sum += sqrt(square);
    }
    return sum / (double)view->face_count;
}

/* Waves that move every vertex by up to `by`, or each in a direction of its own. */
static void move(const carom_mesh_view *view, double by, bool apart, float *end) {
    const double waves = 40.0; /* over the cloth's width */
    const float *x = view->positions;
    carom_random random = {2026};
    for (uint64_t v = 0; v < view->vertex_count; ++v)
        for (uint64_t k = 0; k < 3; ++k) {
            double step = apart ? carom_random_between(&random, -by, by)
                                : by * sin(waves * (double)x[3 * v + (k + 1) % 3] + (double)k);
            end[3 * v + k] = (float)((double)x[3 * v + k] + step / sqrt(3.0));
        }
}

/* Of a large cloth without the CPU. */
static void compare_forms(bench *bench, player *p, double edges, bool apart, form end) {
    for (form f = ALL; f < end; ++f) {
        char job[96];
        contender c = {p, f};
        const bench_contender contenders[] = {{"cpu", NULL, run_cpu, &c},
                                              {"cuda, host to host", NULL, run_host, &c},
                                              {"cuda", NULL, run_cuda, &c}};
        const uint32_t from = end == FIRST ? 2 : 0;
        snprintf(job, sizeof(job), "%s, %llu, %s%g edges", form_names[f],
                 (unsigned long long)p->view.face_count, apart ? "apart by " : "",
                 f >= NEAR ? NEAR_EDGES : edges);
        bench_compare(bench, job, (double)p->view.face_count, contenders + from, 3 - from);
        report(bench, p, f);
    }
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, uint64_t detail,
                    double edges, bool apart) {
    player p = {.cuda = cuda, .cpu = cpu};
    const carom_shape_def shape = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *mesh = NULL;
    float *end = NULL;
    carom_status status = carom_shape_make(cpu, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &p.view);
    if (status == CAROM_OK) {
        end = malloc(3 * sizeof(float) * (p.view.vertex_count + 1));
        p.distances = malloc(sizeof(double) * (p.view.vertex_count + 1));
        p.expected_distances = malloc(sizeof(double) * (p.view.vertex_count + 1));
        if (end == NULL || p.distances == NULL || p.expected_distances == NULL)
            status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK) {
        p.edge = mean_edge(&p.view);
        p.reach = NEAR_EDGES * p.edge;
        move(&p.view, edges * p.edge, apart, end);
        p.end = (carom_mesh_view){
            .positions = end, .scalar = p.view.scalar, .vertex_count = p.view.vertex_count};
        const carom_soup_def def = {.mesh = &p.view};
        status = carom_soup_create(cpu, &def, &p.cpu_soup);
        if (status == CAROM_OK) status = carom_soup_create(cuda, &def, &p.soup);
    }
    const form end_form = detail >= LARGE ? FIRST : FORMS;
    if (status == CAROM_OK) status = record(&p, end_form);
    if (status != CAROM_OK)
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    else if (verify(bench, &p, end_form))
        compare_forms(bench, &p, edges, apart, edges == 1.0 && !apart ? end_form : NEAR);
    player_free(&p);
    free(end);
    carom_mesh_destroy(mesh);
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
        uint64_t detail = bench->quick ? 100 : DETAIL;
        (void)carom_cuda_set_timing(cuda, true);
        measure(bench, cuda, cpu, detail, 0.2, false);
        measure(bench, cuda, cpu, detail, 1.0, false);
        measure(bench, cuda, cpu, detail, 1.0, true);
        if (!bench->quick) measure(bench, cuda, cpu, LARGE, 1.0, false);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_impacts = {69, "cuda_impacts",
                                        "impacts and near pairs of a cloth, on the GPU", run};
