/* SPDX-License-Identifier: MIT */
/* Times of impact: vertices and faces, edges and edges, one by one on published queries (where they
 * are) and on generated ones; all impacts of one frame of a cloth beside its pairs. One core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/soup.h"

/* ---- Single decisions ------------------------------------------------------------------------ */

typedef struct query {
    carom_vec3 start[4], end[4];
    bool edges, hit;
} query;

typedef struct queries {
    query *all;
    uint64_t count, capacity;
    uint64_t hits;
} queries;

static bool add_query(queries *q, const carom_vec3 *points, bool edges, bool hit) {
    if (q->count == q->capacity) {
        uint64_t capacity = 2 * q->capacity + 1024;
        query *all = realloc(q->all, capacity * sizeof(*all));
        if (all == NULL) return false;
        q->all = all;
        q->capacity = capacity;
    }
    query *to = &q->all[q->count++];
    memcpy(to->start, points, sizeof(to->start));
    memcpy(to->end, points + 4, sizeof(to->end));
    to->edges = edges;
    to->hit = hit;
    q->hits += hit;
    return true;
}

/* Eight rows per query: three quotients of integers, and the answer. */
static void read_queries(queries *q, const char *set, bool edges, int file) {
    char name[128], path[4096], line[512];
    snprintf(name, sizeof(name), "../ccd-queries/%s/%s/data_0_%d.csv", set,
             edges ? "edge-edge" : "vertex-face", file);
    soup_input_path(name, path, sizeof(path));
    FILE *text = fopen(path, "r");
    if (text == NULL) return;
    carom_vec3 points[8];
    for (int row = 0; fgets(line, sizeof(line), text) != NULL; ++row) {
        char *at = line;
        double x[7];
        for (int i = 0; i < 7; ++i) {
            x[i] = strtod(at, &at);
            at += *at == ',';
        }
        points[row % 8] = (carom_vec3){x[0] / x[1], x[2] / x[3], x[4] / x[5]};
        if (row % 8 == 7 && !add_query(q, points, edges, x[6] != 0.0)) break;
    }
    fclose(text);
}

static bool run_queries(void *input) {
    const queries *q = input;
    bool right = true;
    for (uint64_t i = 0; i < q->count; ++i) {
        const query *one = &q->all[i];
        carom_toi toi = one->edges ? carom_segments_toi_value(one->start, one->end)
                                   : carom_point_triangle_toi_value(one->start, one->end);
        right = right && toi.hit == one->hit;
    }
    return right;
}

static bool run_advances(void *input) {
    const queries *q = input;
    bool right = true;
    for (uint64_t i = 0; i < q->count; ++i) {
        const query *one = &q->all[i];
        carom_advance found = one->edges
                                  ? carom_segments_advance_value(one->start, one->end, NULL)
                                  : carom_point_triangle_advance_value(one->start, one->end, NULL);
        right = right && found.hit == one->hit;
    }
    return right;
}

static void measure_queries(bench *bench, const char *name, queries *q) {
    if (q->count == 0) return;
    bench_contender contenders[2] = {{"carom", NULL, run_queries, q},
                                     {"advancement", NULL, run_advances, q}};
    uint32_t row = bench->row_count;
    bench_compare(bench, name, (double)q->count, contenders, 2);
    bench_note(bench, "%s: %llu decisions, %llu hits; %.2f million per second, by advancement %.2f",
               name, (unsigned long long)q->count, (unsigned long long)q->hits,
               1e-6 * (double)q->count / bench->rows[row].cpu_seconds,
               1e-6 * (double)q->count / bench->rows[row + 1].cpu_seconds);
    free(q->all);
    *q = (queries){0};
}

static void measure_published(bench *bench) {
    static const char *const sets[] = {
        "unit-tests",          "erleben-cube-cliff-edges", "erleben-sliding-spike",
        "erleben-spike-crack", "erleben-spike-wedge",      "erleben-wedge-crack"};
    queries q = {0};
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 4; ++k) read_queries(&q, sets[i], k / 2 == 1, k % 2);
    measure_queries(bench, "published queries", &q);
}

/* Random motions, about a third of them hits; the answers are those of the first run. */
static void measure_random(bench *bench) {
    carom_random random = {1};
    queries q = {0};
    for (int i = 0; i < 20000; ++i) {
        carom_vec3 points[8];
        for (int k = 0; k < 24; ++k) (&points[0].x)[k] = carom_random_between(&random, -1.0, 1.0);
        bool edges = i % 2 == 1;
        carom_toi toi = edges ? carom_segments_toi_value(points, points + 4)
                              : carom_point_triangle_toi_value(points, points + 4);
        if (!add_query(&q, points, edges, toi.hit)) break;
    }
    measure_queries(bench, "random motions", &q);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct frame {
    carom_context *context;
    soup_input input;
    float *end;
    carom_mesh_view to;
    carom_soup *soup;
    carom_pairs pairs;
    carom_soup_impacts impacts;
} frame;

/* From raw arrays to the list of pairs, as a frame of a simulation asks. */
static bool run_pairs(void *input) {
    frame *f = input;
    return carom_soup_update(f->context, f->soup, &f->input.view) == CAROM_OK &&
           carom_soup_self_pairs(f->context, f->soup, &f->pairs) == CAROM_OK;
}

static bool run_impacts(void *input) {
    frame *f = input;
    return carom_soup_self_impacts(f->context, f->soup, &f->to, &f->impacts) == CAROM_OK;
}

static bool run_first(void *input) {
    frame *f = input;
    carom_soup_impact first;
    return carom_soup_self_first_impact(f->context, f->soup, &f->to, &first) == CAROM_OK;
}

/* A smooth motion: every vertex moves by up to `edges` edges of the cloth's grid. */
static bool begin_frame(frame *f, carom_context *context, uint64_t detail, double edges) {
    carom_shape_def def = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    *f = (frame){.context = context};
    if (!soup_input_make(context, &def, &f->input)) return false;
    uint64_t count = f->input.raw.vertex_count;
    f->end = malloc(3 * count * sizeof(float));
    if (f->end == NULL) return false;
    double length = edges * f->input.size / (double)detail;
    for (uint64_t v = 0; v < count; ++v) {
        const float *p = f->input.raw.positions + 3 * v;
        for (int k = 0; k < 3; ++k) {
            double x = (double)p[(k + 1) % 3], y = (double)p[(k + 2) % 3];
            f->end[3 * v + (uint64_t)k] =
                (float)((double)p[k] + length * sin(7.0 * x + 3.0 * k) * cos(5.0 * y));
        }
    }
    f->to = (carom_mesh_view){
        .positions = f->end, .scalar = CAROM_SCALAR_FLOAT32, .vertex_count = count};
    return carom_soup_create(context, &(carom_soup_def){.mesh = f->input.view}, &f->soup) ==
           CAROM_OK;
}

static void end_frame(frame *f) {
    carom_pairs_free(&f->pairs);
    carom_soup_impacts_free(&f->impacts);
    carom_soup_destroy(f->soup);
    free(f->end);
    soup_input_free(&f->input);
}

static void measure_frame(bench *bench, carom_context *context, uint64_t detail, double edges) {
    frame f;
    char job[64];
    carom_work work = {0};
    if (begin_frame(&f, context, detail, edges)) {
        bench_contender contenders[3] = {{"pairs", NULL, run_pairs, &f},
                                         {"impacts", NULL, run_impacts, &f},
                                         {"first impact", NULL, run_first, &f}};
        snprintf(job, sizeof(job), "cloth %lluk, %g edges",
                 (unsigned long long)(f.input.raw.triangle_count / 1000), edges);
        uint32_t row = bench->row_count;
        bench_compare(bench, job, (double)f.input.raw.triangle_count, contenders, 3);
        if (run_impacts(&f) && carom_context_get_work(context, &work) == CAROM_OK)
            bench_note(bench,
                       "%s: %llu decisions, %llu in integers, %llu impacts; %.1f million decisions "
                       "per second, all other work included",
                       job, (unsigned long long)work.candidates, (unsigned long long)work.undecided,
                       (unsigned long long)f.impacts.count,
                       1e-6 * (double)work.candidates / bench->rows[row + 1].cpu_seconds);
    }
    end_frame(&f);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context;
    measure_published(bench);
    measure_random(bench);
    if (carom_context_create(&def, &context) == CAROM_OK) {
        measure_frame(bench, context, bench->quick ? 40 : 224, 0.2);
        if (!bench->quick) measure_frame(bench, context, 224, 1.0);
    }
    carom_context_destroy(context);
}

const bench_group bench_toi = {46, "toi", "times of impact", run};
