/* SPDX-License-Identifier: MIT */
/* Overlap of two solids: three models at ten poses each, beside booleans that build the
 * intersection, and beside our own search for all pairs of faces that meet; on one thread and on
 * two; and two globes whose contact stays while their triangles grow in number. One run of a
 * contender is all poses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/soup.h"
#include "cli/platform.h"

#define POSES 10

typedef struct player {
    const char *name;
    carom_context *context;
    const soup_input *input;
    carom_solid *solid;
    carom_solid *deforming;
    float *waves; /* positions of another frame; NULL: none */
    uint64_t steps;
    carom_soup *soup;
    carom_pairs pairs;
    carom_solid_vertex_forces on_a, on_b;
    void *prepared; /* a peer's */
    peer_release_fn *release;
    peer_overlap_fn *overlap;
    uint32_t first, count; /* poses to run */
    carom_pose poses[POSES];
    double matrices[POSES][12], volumes[POSES];
    double worst; /* difference from the volumes, relative */
    uint64_t pair_count;
} player;

/* ---- memory, counted ------------------------------------------------------------------------- */

static void *allocate(void *user, size_t size, size_t alignment) {
    ++*(uint64_t *)user;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    return carom_os_aligned_allocate(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *pointer) {
    (void)user;
    carom_os_aligned_free(pointer);
}

/* ---- contenders ------------------------------------------------------------------------------ */

static void compare_volume(player *p, uint32_t pose, double volume) {
    double off = fabs(volume / p->volumes[pose] - 1.0);
    if (!(off <= p->worst)) p->worst = off <= HUGE_VAL ? off : HUGE_VAL;
}

static bool run_solid(void *input) {
    player *p = input;
    for (uint32_t k = p->first; k < p->first + p->count; ++k) {
        carom_solid_result overlap;
        if (carom_solid_overlap(p->context, p->solid, NULL, p->solid, &p->poses[k], NULL,
                                &overlap) != CAROM_OK)
            return false;
        compare_volume(p, k, overlap.volume);
    }
    return p->worst <= 1e-9;
}

/* Forces on all vertices, whose sum is the rigid force. */
static bool run_gradient(void *input) {
    player *p = input;
    for (uint32_t k = p->first; k < p->first + p->count; ++k)
        if (carom_solid_overlap_gradient(p->context, p->solid, NULL, p->solid, &p->poses[k],
                                         &p->on_a, &p->on_b) != CAROM_OK)
            return false;
    return true;
}

static bool run_peer(void *input) {
    player *p = input;
    for (uint32_t k = p->first; k < p->first + p->count; ++k)
        compare_volume(p, k, p->overlap(p->prepared, p->matrices[k]));
    return p->worst <= 1e-9;
}

static bool run_pairs(void *input) {
    player *p = input;
    p->pair_count = 0;
    for (uint32_t k = p->first; k < p->first + p->count; ++k) {
        if (carom_soup_cross_pairs(p->context, p->soup, NULL, p->soup, &p->poses[k], &p->pairs) !=
            CAROM_OK)
            return false;
        p->pair_count += p->pairs.count;
    }
    return true;
}

static bool run_prepare_solid(void *input) {
    player *p = input;
    carom_solid *solid;
    carom_solid_def def = {.mesh = &p->input->view};
    bool done = carom_solid_create(p->context, &def, &solid) == CAROM_OK;
    carom_solid_destroy(solid);
    return done;
}

/* To a wave and back, in turn. */
static bool run_update_solid(void *input) {
    player *p = input;
    carom_mesh_view view = p->input->view;
    if (p->waves == NULL) return false;
    if (p->steps++ % 2 == 0) view.positions = p->waves;
    return carom_solid_update(p->context, p->deforming, &view) == CAROM_OK;
}

/* A second solid of the input, and its positions in a wave of a twentieth of its size. */
static void prepare_update(player *p) {
    const soup_input *input = p->input;
    const float *from = input->view.positions;
    uint64_t count = input->view.vertex_count;
    carom_solid_def def = {.mesh = &input->view};
    if (carom_solid_create(p->context, &def, &p->deforming) != CAROM_OK) return;
    p->waves = malloc(count * 3 * sizeof(*p->waves));
    for (uint64_t i = 0; i < count && p->waves != NULL; ++i) {
        double z = ((double)from[3 * i + 2] - input->centre.z) / input->size;
        memcpy(p->waves + 3 * i, from + 3 * i, 3 * sizeof(*from));
        p->waves[3 * i] += (float)(0.05 * input->size * sin(6.0 * z));
    }
}

static bool run_prepare_soup(void *input) {
    player *p = input;
    carom_soup *soup;
    carom_soup_def def = {.mesh = &p->input->view, .rigid = true};
    bool done = carom_soup_create(p->context, &def, &soup) == CAROM_OK;
    carom_soup_destroy(soup);
    return done;
}

/* Ours and the all-pairs search; false where one fails. */
static bool prepare_ours(carom_context *context, const soup_input *input, player *p) {
    p->context = context;
    p->input = input;
    carom_solid_def solid_def = {.mesh = &input->view};
    carom_soup_def soup_def = {.mesh = &input->view, .rigid = true};
    return carom_solid_create(context, &solid_def, &p->solid) == CAROM_OK &&
           carom_soup_create(context, &soup_def, &p->soup) == CAROM_OK;
}

static void dismiss(player *p) {
    carom_solid_destroy(p->solid);
    carom_soup_destroy(p->soup);
    carom_pairs_free(&p->pairs);
    carom_solid_vertex_forces_free(&p->on_a);
    carom_solid_vertex_forces_free(&p->on_b);
    if (p->prepared != NULL) p->release(p->prepared);
    p->solid = NULL;
    p->soup = NULL;
    p->prepared = NULL;
}

static bool find_peer(player *p, const char *name, const soup_input *input) {
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "peer_%s_overlap_prepare", name);
    peer_prepare_fn *prepare = (peer_prepare_fn *)bench_peer(symbol);
    snprintf(symbol, sizeof(symbol), "peer_%s_overlap_release", name);
    p->release = (peer_release_fn *)bench_peer(symbol);
    snprintf(symbol, sizeof(symbol), "peer_%s_overlap", name);
    p->overlap = (peer_overlap_fn *)bench_peer(symbol);
    if (prepare != NULL) p->prepared = prepare(&input->raw);
    return p->prepared != NULL;
}

static void note_milliseconds(bench *bench, uint32_t first_row, uint32_t poses) {
    char text[190];
    int length = snprintf(text, sizeof(text), "ms a pose, by the clock (by the processor):");
    for (uint32_t i = first_row; i < bench->row_count && length < 150; ++i)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " %s %.2f (%.2f)%s",
                     bench->rows[i].contender, 1e3 * bench->rows[i].seconds / poses,
                     1e3 * bench->rows[i].cpu_seconds / poses, i + 1 < bench->row_count ? "," : "");
    bench_note(bench, "%s", text);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Ten lines of a 3 x 4 matrix and CGAL's volume. */
static bool read_poses(carom_context *context, const char *file, player *p) {
    char path[4096], line[1024];
    soup_input_path(file, path, sizeof(path));
    FILE *stream = fopen(path, "r");
    if (stream == NULL) return false;
    bool good = fgets(line, sizeof(line), stream) != NULL; /* the heading */
    for (uint32_t k = 0; k < POSES && good; ++k) {
        char *at = line;
        good = fgets(line, sizeof(line), stream) != NULL;
        for (int i = 0; i < 13 && good; ++i) {
            char *end;
            double value = strtod(at, &end);
            good = end != at;
            at = *end == ',' ? end + 1 : end;
            if (i < 12)
                p->matrices[k][i] = value;
            else
                p->volumes[k] = value;
        }
        good = good && carom_pose_from_matrix(context, p->matrices[k], &p->poses[k]) == CAROM_OK;
    }
    fclose(stream);
    p->count = POSES;
    return good;
}

static void measure_model(bench *bench, carom_context *context, carom_context *two,
                          const char *name, uint64_t *allocations) {
    char file[64], job[64];
    soup_input input;
    static player players[3], shared;
    bench_contender contenders[6];
    snprintf(file, sizeof(file), "solid_%s", name);
    if (!soup_input_load(context, file, &input)) return;
    snprintf(file, sizeof(file), "j6_%s.csv", name);
    players[0] = (player){.name = "carom"};
    if (!read_poses(context, file, &players[0]) || !prepare_ours(context, &input, &players[0])) {
        bench_note(bench, "%s: %s", name, carom_context_message(context));
        dismiss(&players[0]);
        soup_input_free(&input);
        return;
    }
    uint32_t count = 1;
    static const char *const symbols[] = {"cgal", "manifold"};
    static const char *const names[] = {"CGAL corefinement", "manifold-3d in Node"};
    for (int i = 0; i < 2; ++i) {
        players[count] = players[0];
        players[count].name = names[i];
        players[count].solid = NULL;
        players[count].soup = NULL;
        if (find_peer(&players[count], symbols[i], &input))
            ++count;
        else
            bench_note(bench, "%s is not there", names[i]);
    }

    snprintf(job, sizeof(job), "%s prepare", name);
    contenders[0] = (bench_contender){"carom", NULL, run_prepare_solid, &players[0]};
    contenders[1] = (bench_contender){"carom, soup only", NULL, run_prepare_soup, &players[0]};
    contenders[2] = (bench_contender){"carom, update", NULL, run_update_solid, &players[0]};
    prepare_update(&players[0]);
    bench_compare(bench, job, (double)input.raw.triangle_count, contenders, 3);
    carom_solid_destroy(players[0].deforming);
    free(players[0].waves);
    players[0].deforming = NULL;
    players[0].waves = NULL;

    shared = players[0];
    shared.context = two;
    contenders[0] = (bench_contender){players[0].name, NULL, run_solid, &players[0]};
    contenders[1] = (bench_contender){"carom, all pairs", NULL, run_pairs, &players[0]};
    contenders[2] = (bench_contender){"carom, gradient", NULL, run_gradient, &players[0]};
    contenders[3] = (bench_contender){"two threads", NULL, run_solid, &shared};
    for (uint32_t i = 1; i < count; ++i)
        contenders[i + 3] = (bench_contender){players[i].name, NULL, run_peer, &players[i]};
    snprintf(job, sizeof(job), "%s overlap", name);
    uint32_t row = bench->row_count;
    bench_compare(bench, job, POSES, contenders, count + 3);
    note_milliseconds(bench, row, POSES);
    for (uint32_t i = 0; i < count; ++i)
        bench_note(bench, "%s: volumes differ from those on file by at most %.1e", players[i].name,
                   players[i].worst);

    /* One pose that overlaps by a twentieth. */
    carom_solid_info info;
    if (carom_solid_get_info(players[0].solid, &info) == CAROM_OK) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < POSES; ++k)
            if (fabs(players[0].volumes[k] / info.volume - 0.05) <
                fabs(players[0].volumes[best] / info.volume - 0.05))
                best = k;
        players[0].first = best;
        players[0].count = 1;
        snprintf(job, sizeof(job), "%s %.0f%% overlap", name,
                 100 * players[0].volumes[best] / info.volume);
        row = bench->row_count;
        uint64_t before = *allocations;
        bench_compare(bench, job, 1, contenders, 3);
        note_milliseconds(bench, row, 1);
        bench_note(bench, "%llu pairs; %llu allocations by all of that",
                   (unsigned long long)players[0].pair_count,
                   (unsigned long long)(*allocations - before));
    }
    for (uint32_t i = 0; i < count; ++i) dismiss(&players[i]);
    soup_input_free(&input);
}

/* ---- growth ---------------------------------------------------------------------------------- */

static void measure_growth(bench *bench, carom_context *context) {
    static const uint64_t details[] = {32, 100, 316, 1000, 2000}; /* its square: triangles */
    for (size_t i = 0; i < (bench->quick ? 3u : 5u); ++i) {
        soup_input input;
        static player p;
        carom_shape_def def = {
            .shape = CAROM_SHAPE_GLOBE, .detail = details[i], .scalar = CAROM_SCALAR_FLOAT32};
        if (!soup_input_make(context, &def, &input)) continue;
        p = (player){.name = "carom", .count = 1};
        p.poses[0] = (carom_pose){{0.9, 0.1, 0.2, 0.3}, {1.5, 0.1, 0.2}};
        if (prepare_ours(context, &input, &p)) {
            carom_solid_result overlap = {0};
            (void)carom_solid_overlap(context, p.solid, NULL, p.solid, &p.poses[0], NULL, &overlap);
            p.volumes[0] = overlap.volume;
            bench_contender contenders[2] = {{"carom", NULL, run_solid, &p},
                                             {"carom, all pairs", NULL, run_pairs, &p}};
            char job[64];
            snprintf(job, sizeof(job), "globes %llu", (unsigned long long)input.raw.triangle_count);
            uint32_t row = bench->row_count;
            bench_at_size(bench, "globes", (double)input.raw.triangle_count);
            bench_compare(bench, job, 1, contenders, 2);
            note_milliseconds(bench, row, 1);
            bench_note(bench, "growth: volume %.9g, %llu pairs, %.0f ns a pair", overlap.volume,
                       (unsigned long long)p.pair_count,
                       1e9 * bench->rows[row].cpu_seconds / (double)p.pair_count);
        }
        dismiss(&p);
        soup_input_free(&input);
    }
}

static void run(bench *bench) {
    static uint64_t allocations;
    static const char *const models[] = {"cheburashka13k", "bunny70k", "armadillo100k"};
    carom_context_def def = bench->def != NULL ? *bench->def : (carom_context_def){0};
    carom_context *context, *two;
    def.threads = 2;
    if (carom_context_create(&def, &two) != CAROM_OK) return;
    def.threads = 1;
    def.allocator = (carom_allocator){allocate, release, &allocations};
    if (carom_context_create(&def, &context) == CAROM_OK) {
        for (size_t i = 0; i < (bench->quick ? 1u : 3u); ++i)
            measure_model(bench, context, two, models[i], &allocations);
        measure_growth(bench, context);
        carom_context_destroy(context);
    }
    carom_context_destroy(two);
}

const bench_group bench_solid = {60, "solid", "how much two solids overlap", run};
