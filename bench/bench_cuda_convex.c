/* SPDX-License-Identifier: MIT */
/* Convex bodies on the GPU: many pairs of hulls tested at once, apart, near and deep, small and
 * large; and the whole way of a million bodies from poses to contacts.
 *
 * Input as in bench_convex.c: B starts three away from A and is moved along their separation until
 * the gap is the one drawn. Poses, pairs and results are on the device. A share of the results is
 * compared with the CPU's, byte for byte, before anything is timed. The times are those of the
 * device's own clock around one graph. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"
#include "scenes/boxes.h"

#define REGIMES  3
#define CHECKED  20000u /* pairs compared with the CPU */
#define POINTS   2562u
#define CONTACTS 1000000u /* bodies of the pipeline */

static const char *const regimes[REGIMES] = {"apart", "near", "deep"};

typedef enum question { DEPTH, DISTANCE, MEET, QUESTIONS } question;

static const char *const questions[QUESTIONS] = {"depth", "distance", "meet"};

typedef struct player {
    carom_context *cuda, *cpu;
    carom_hull *hulls[2];
    carom_convex shapes[2];
    carom_cuda_convex_shapes *prepared;
    carom_pose *poses; /* of A, B, A, B, ... */
    uint64_t pose_pairs, count;
    void *memory[4]; /* shape_of, poses, pairs, boxes */
    carom_cuda_convex_bodies bodies;
    carom_cuda_pairs pairs;
    carom_cuda_convex_results results;
    carom_broad *broad;
} player;

/* What one contender has recorded. */
typedef struct recorded {
    player *p;
    carom_cuda_frame *frame;
    uint64_t expected;
} recorded;

static bool run_frame(void *input) {
    recorded *a = input;
    carom_cuda_steps steps;
    if (carom_cuda_frame_run(a->p->cuda, a->frame) != CAROM_OK ||
        carom_cuda_finish(a->p->cuda) != CAROM_OK ||
        carom_cuda_get_steps(a->p->cuda, &steps) != CAROM_OK)
        return false;
    bench_add_device_seconds(1e-3 * steps.milliseconds[0]);
    return a->p->results.count == a->expected;
}

/* ---- input ----------------------------------------------------------------------------------- */

static carom_vec3 random_direction(carom_random *random) {
    double x = carom_random_normal(random), y = carom_random_normal(random);
    double z = carom_random_normal(random), length = sqrt(x * x + y * y + z * z);
    return (carom_vec3){x / length, y / length, z / length};
}

static carom_quat random_turn(carom_random *random) {
    carom_quat q = {carom_random_normal(random), 0, 0, 0};
    q.x = carom_random_normal(random);
    q.y = carom_random_normal(random);
    q.z = carom_random_normal(random);
    return q;
}

/* `vertices` points on the unit sphere for each of the two hulls. */
static bool make_hulls(player *p, uint32_t vertices) {
    static const uint64_t seeds[2] = {1001, 2002};
    static carom_vec3 points[POINTS];
    for (int i = 0; i < 2; ++i) {
        carom_random random = {seeds[i]};
        for (uint32_t k = 0; k < vertices; ++k) points[k] = random_direction(&random);
        const carom_hull_def def = {
            .mesh = &(carom_mesh_view){.positions = points, .vertex_count = vertices}};
        if (carom_hull_create(p->cuda, &def, &p->hulls[i]) != CAROM_OK) return false;
        p->shapes[i] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = p->hulls[i]};
    }
    const carom_cuda_convex_shapes_def def = {p->shapes, 2};
    return carom_cuda_convex_shapes_create(p->cuda, &def, &p->prepared) == CAROM_OK;
}

static bool upload(player *p, const void *from, uint64_t bytes, void **to) {
    return carom_cuda_allocate(p->cuda, bytes, to) == CAROM_OK &&
           (from == NULL || carom_cuda_write(p->cuda, *to, from, bytes) == CAROM_OK);
}

/* The first pairs of poses; NULL when there is no memory for them. */
static carom_convex_pair *pose_pairs_of(const player *p, uint64_t count) {
    carom_convex_pair *posed = malloc(count * sizeof(*posed));
    for (uint64_t i = 0; i < count && posed != NULL; ++i)
        posed[i] = (carom_convex_pair){.a = &p->shapes[0],
                                       .b = &p->shapes[1],
                                       .pose_a = p->poses[2 * i],
                                       .pose_b = p->poses[2 * i + 1]};
    return posed;
}

/* Draws poses, and moves B along the separation; then fills `count` pairs, each pose several times.
 */
static bool make_poses(player *p, int regime, uint64_t pose_pairs, uint64_t count) {
    static const double low[REGIMES] = {0.8, -0.01, -0.5}, high[REGIMES] = {1.2, 0.01, -0.2};
    carom_random random = {777000 + (uint64_t)regime};
    carom_convex_pair *posed = NULL;
    carom_convex_result *results = malloc(pose_pairs * sizeof(*results));
    carom_pair *pairs = malloc(count * sizeof(*pairs));
    double *gaps = malloc(pose_pairs * sizeof(*gaps));
    uint32_t *shape_of = malloc(2 * pose_pairs * sizeof(*shape_of));
    p->poses = malloc(2 * pose_pairs * sizeof(*p->poses));
    p->pose_pairs = pose_pairs;
    p->count = count;
    bool fine =
        results != NULL && pairs != NULL && gaps != NULL && shape_of != NULL && p->poses != NULL;
    for (uint64_t i = 0; i < pose_pairs && fine; ++i) {
        p->poses[2 * i] = (carom_pose){.q = random_turn(&random)};
        p->poses[2 * i + 1].q = random_turn(&random);
        carom_vec3 d = random_direction(&random);
        p->poses[2 * i + 1].t = (carom_vec3){3.0 * d.x, 3.0 * d.y, 3.0 * d.z};
        gaps[i] = carom_random_between(&random, low[regime], high[regime]);
        shape_of[2 * i] = 0;
        shape_of[2 * i + 1] = 1;
    }
    if (fine) {
        posed = pose_pairs_of(p, pose_pairs);
        fine = posed != NULL &&
               carom_convex_distance_batch(p->cuda, posed, pose_pairs, NULL, results) == CAROM_OK;
    }
    for (uint64_t i = 0; i < pose_pairs && fine; ++i) {
        double way = gaps[i] - results[i].distance;
        carom_vec3 *t = &p->poses[2 * i + 1].t, n = results[i].normal;
        *t = (carom_vec3){t->x + way * n.x, t->y + way * n.y, t->z + way * n.z};
    }
    for (uint64_t i = 0; i < count && fine; ++i) {
        uint32_t k = (uint32_t)(i % pose_pairs);
        pairs[i] = (carom_pair){2 * k, 2 * k + 1};
    }
    fine = fine && upload(p, shape_of, 2 * pose_pairs * sizeof(*shape_of), &p->memory[0]) &&
           upload(p, p->poses, 2 * pose_pairs * sizeof(*p->poses), &p->memory[1]) &&
           upload(p, pairs, count * sizeof(*pairs), &p->memory[2]);
    p->bodies = (carom_cuda_convex_bodies){.shapes = p->prepared,
                                           .shape_of = p->memory[0],
                                           .poses = p->memory[1],
                                           .count = 2 * pose_pairs};
    p->pairs = (carom_cuda_pairs){.data = p->memory[2], .count = count, .capacity = count};
    free(posed);
    free(results);
    free(pairs);
    free(gaps);
    free(shape_of);
    return fine;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Whether results are those that the CPU gives: all bytes, or of MEET the relations. */
static bool is_same(carom_context *cpu, const carom_convex_pair *posed, uint64_t count,
                    question question, const carom_convex_query_def *def,
                    const carom_convex_result *read) {
    carom_convex_result *expected = malloc(count * sizeof(*expected));
    bool *meet = malloc(count * sizeof(*meet));
    bool same = expected != NULL && meet != NULL;
    if (same && question == MEET) {
        same = carom_convex_meet_batch(cpu, posed, count, def, meet) == CAROM_OK;
        for (uint64_t i = 0; i < count && same; ++i)
            same =
                read[i].relation == (meet[i] ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_APART);
    } else if (same) {
        same = (question == DEPTH
                    ? carom_convex_depth_batch(cpu, posed, count, def, expected)
                    : carom_convex_distance_batch(cpu, posed, count, def, expected)) == CAROM_OK &&
               memcmp(read, expected, count * sizeof(*read)) == 0;
    }
    free(expected);
    free(meet);
    return same;
}

/* Whether the first results are the CPU's. */
static bool verify(bench *bench, player *p, question question, carom_convex_query_def def) {
    uint64_t count = p->pose_pairs < CHECKED ? p->pose_pairs : CHECKED;
    carom_convex_pair *posed = pose_pairs_of(p, count);
    carom_convex_result *read = malloc(count * sizeof(*read));
    bool same =
        posed != NULL && read != NULL &&
        carom_cuda_read(p->cuda, read, p->results.data, count * sizeof(*read)) == CAROM_OK &&
        is_same(p->cpu, posed, count, question, &def, read);
    if (!same) bench_note(bench, "WRONG: %s", questions[question]);
    free(posed);
    free(read);
    return same;
}

static carom_status run_query(player *p, question question, const carom_convex_query_def *def) {
    carom_cuda_convex_results *to = &p->results;
    return question == MEET ? carom_cuda_convex_meet_batch(p->cuda, &p->bodies, &p->pairs, def, to)
           : question == DISTANCE
               ? carom_cuda_convex_distance_batch(p->cuda, &p->bodies, &p->pairs, def, to)
               : carom_cuda_convex_depth_batch(p->cuda, &p->bodies, &p->pairs, def, to);
}

static bool record(bench *bench, player *p, question question, carom_convex_query_def def,
                   recorded *a) {
    *a = (recorded){.p = p, .expected = p->count};
    bool fine = carom_cuda_frame_begin(p->cuda) == CAROM_OK &&
                run_query(p, question, &def) == CAROM_OK &&
                carom_cuda_frame_end(p->cuda, &a->frame) == CAROM_OK && run_frame(a);
    if (!fine) bench_note(bench, "failed: %s", carom_context_message(p->cuda));
    return fine && verify(bench, p, question, def);
}

static void player_free(player *p) {
    for (int i = 0; i < 4; ++i)
        if (p->memory[i] != NULL) carom_cuda_release(p->cuda, p->memory[i]);
    carom_cuda_convex_results_free(p->cuda, &p->results);
    carom_cuda_convex_shapes_destroy(p->prepared);
    carom_hull_destroy(p->hulls[0]);
    carom_hull_destroy(p->hulls[1]);
    carom_broad_destroy(p->broad);
    free(p->poses);
}

static void measure_pairs(bench *bench, carom_context *cuda, carom_context *cpu, uint32_t vertices,
                          uint64_t count, int regime) {
    static const char *const names[2][3] = {{"depth", "distance", "meet"},
                                            {"depth, all", "distance, all", "meet, all"}};
    player p = {.cuda = cuda, .cpu = cpu};
    recorded recordings[6];
    bench_contender contenders[6];
    uint32_t made = 0;
    char job[64];
    uint64_t pose_pairs = count < 1000000 ? count : 1000000;
    if (!make_hulls(&p, vertices) || !make_poses(&p, regime, pose_pairs, count)) {
        bench_note(bench, "failed: %s", carom_context_message(cuda));
        player_free(&p);
        return;
    }
    for (int all = 0; all < (vertices > 96 ? 2 : 1); ++all)
        for (int q = 0; q < QUESTIONS; ++q) {
            const carom_convex_query_def def = {.search = all != 0 ? CAROM_CONVEX_SEARCH_ALL
                                                                   : CAROM_CONVEX_SEARCH_AUTO};
            if (q == DEPTH && regime != 2) continue;
            if (record(bench, &p, (question)q, def, &recordings[made])) {
                contenders[made] =
                    (bench_contender){names[all][q], NULL, run_frame, &recordings[made]};
                ++made;
            }
        }
    snprintf(job, sizeof(job), "hull%u %s %lluk", vertices, regimes[regime],
             (unsigned long long)count / 1000);
    if (made != 0) bench_compare(bench, job, (double)count, contenders, made);
    for (uint32_t i = 0; i < made; ++i) carom_cuda_frame_destroy(recordings[i].frame);
    player_free(&p);
}

/* ---- from poses to contacts ------------------------------------------------------------------ */

static void measure_pipeline(bench *bench, carom_context *cuda, carom_context *cpu, uint64_t count,
                             bool cubes) {
    player p = {.cuda = cuda, .cpu = cpu};
    recorded a = {.p = &p};
    scene_boxes scene;
    carom_random random = {25};
    carom_cuda_pairs pairs = {0};
    uint32_t *shape_of = malloc(count * sizeof(*shape_of));
    bool fine = scene_boxes_make(count, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &scene) &&
                make_hulls(&p, 32) && shape_of != NULL;
    p.poses = malloc(count * sizeof(*p.poses));
    if (cubes && fine) {
        const carom_convex cube = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.7, 0.7, 0.7}};
        carom_cuda_convex_shapes_destroy(p.prepared);
        p.shapes[0] = p.shapes[1] = cube;
        const carom_cuda_convex_shapes_def shapes = {p.shapes, 2};
        fine = carom_cuda_convex_shapes_create(cuda, &shapes, &p.prepared) == CAROM_OK;
    }
    for (uint64_t i = 0; fine && i < count; ++i) {
        p.poses[i] = (carom_pose){random_turn(&random), scene.centres[i]};
        shape_of[i] = (uint32_t)(i & 1);
    }
    fine = fine && upload(&p, shape_of, count * sizeof(*shape_of), &p.memory[0]) &&
           upload(&p, p.poses, count * sizeof(*p.poses), &p.memory[1]) &&
           upload(&p, scene.bounds, count * sizeof(carom_bounds), &p.memory[3]);
    p.bodies = (carom_cuda_convex_bodies){p.prepared, p.memory[0], p.memory[1], count};
    const carom_broad_def def = {.boxes = scene.bounds, .box_count = count};
    fine = fine && carom_broad_create(cuda, &def, &p.broad) == CAROM_OK;
    for (int timed = 0; timed < 2 && fine; ++timed) { /* the steps apart, then one graph */
        if (timed == 1) fine = carom_cuda_frame_begin(cuda) == CAROM_OK;
        fine = fine && carom_cuda_convex_boxes(cuda, &p.bodies, p.memory[3]) == CAROM_OK &&
               carom_cuda_broad_update(cuda, p.broad, p.memory[3], count) == CAROM_OK &&
               carom_cuda_broad_pairs(cuda, p.broad, CAROM_CUDA_ORDER_ANY, &pairs) == CAROM_OK &&
               carom_cuda_convex_depth_batch(cuda, &p.bodies, &pairs, NULL, &p.results) == CAROM_OK;
        if (timed == 1) fine = fine && carom_cuda_frame_end(cuda, &a.frame) == CAROM_OK;
        if (timed == 0) fine = fine && carom_cuda_finish(cuda) == CAROM_OK;
    }
    char job[64];
    snprintf(job, sizeof(job), "contacts of %lluk %s", (unsigned long long)count / 1000,
             cubes ? "cubes" : "hull32");
    if (fine)
        fine =
            carom_cuda_frame_run(cuda, a.frame) == CAROM_OK && carom_cuda_finish(cuda) == CAROM_OK;
    if (!fine) bench_note(bench, "failed: %s", carom_context_message(cuda));
    a.expected = p.results.count;
    if (fine) {
        const bench_contender contender = {"boxes to contacts", NULL, run_frame, &a};
        bench_compare(bench, job, (double)count, &contender, 1);
        carom_cuda_steps steps;
        char line[200] = "";
        int used = 0;
        if (carom_cuda_convex_boxes(cuda, &p.bodies, p.memory[3]) == CAROM_OK &&
            carom_cuda_broad_update(cuda, p.broad, p.memory[3], count) == CAROM_OK &&
            carom_cuda_broad_pairs(cuda, p.broad, CAROM_CUDA_ORDER_ANY, &pairs) == CAROM_OK &&
            carom_cuda_convex_depth_batch(cuda, &p.bodies, &pairs, NULL, &p.results) == CAROM_OK &&
            carom_cuda_finish(cuda) == CAROM_OK && carom_cuda_get_steps(cuda, &steps) == CAROM_OK)
            for (uint32_t i = 0; i < steps.count && used >= 0 && used < 150; ++i)
                used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.0f",
                                 i == 0 ? "" : ", ", steps.name[i], 1e3 * steps.milliseconds[i]);
        uint64_t touching = 0;
        carom_convex_result *read = malloc((p.results.count + 1) * sizeof(*read));
        if (read != NULL && carom_cuda_read(cuda, read, p.results.data,
                                            p.results.count * sizeof(*read)) == CAROM_OK)
            for (uint64_t i = 0; i < p.results.count; ++i)
                touching += read[i].relation != CAROM_RELATION_APART ? 1 : 0;
        free(read);
        bench_note(bench, "us: %s", line);
        bench_note(bench, "%llu pairs of boxes, %llu contacts", (unsigned long long)pairs.count,
                   (unsigned long long)touching);
    }
    carom_cuda_frame_destroy(a.frame);
    (void)carom_cuda_pairs_free(cuda, &pairs);
    player_free(&p);
    scene_boxes_free(&scene);
    free(shape_of);
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
        for (int regime = 0; regime < REGIMES; ++regime)
            measure_pairs(bench, cuda, cpu, 32, bench->quick ? 100000 : 10000000, regime);
        for (int regime = 0; regime < REGIMES; ++regime) {
            measure_pairs(bench, cuda, cpu, 642, bench->quick ? 20000 : 200000, regime);
            if (!bench->quick) measure_pairs(bench, cuda, cpu, 2562, 100000, regime);
        }
        measure_pipeline(bench, cuda, cpu, bench->quick ? 100000 : CONTACTS, false);
        measure_pipeline(bench, cuda, cpu, bench->quick ? 100000 : CONTACTS, true);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_convex = {67, "cuda_convex", "convex bodies on the GPU", run};
