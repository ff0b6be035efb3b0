/* SPDX-License-Identifier: MIT */
/* Sphere trees on the GPU: distances and overlaps of a knot and a torus in many poses at once, host
 * to host, and of one pose. The answers are compared with the CPU's, byte for byte, each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"

#define POSES 1000u /* in one batch */

typedef struct cuda_tree_player {
    carom_context *contexts[2]; /* of the CPU and of the GPU, as is: */
    carom_tree *a[2], *b[2];
    carom_tree_query_def def;
    carom_tree_pair pairs[2][POSES];
    carom_tree_gap gaps[POSES], gap_answers[POSES];
    carom_packing_overlap overlaps[POSES], overlap_answers[POSES];
    uint32_t at;
} cuda_tree_player;

/* ---- Contenders ------------------------------------------------------------------------------ */

static bool distances(cuda_tree_player *p, int on_cuda) {
    return carom_tree_distance_batch(p->contexts[on_cuda], p->pairs[on_cuda], POSES, &p->def,
                                     p->gaps) == CAROM_OK &&
           memcmp(p->gaps, p->gap_answers, sizeof(p->gaps)) == 0;
}

static bool distances_cpu(void *input) {
    return distances(input, 0);
}

static bool distances_cuda(void *input) {
    return distances(input, 1);
}

static bool overlaps(cuda_tree_player *p, int on_cuda) {
    return carom_tree_overlap_batch(p->contexts[on_cuda], p->pairs[on_cuda], POSES, &p->def,
                                    p->overlaps) == CAROM_OK &&
           memcmp(p->overlaps, p->overlap_answers, sizeof(p->overlaps)) == 0;
}

static bool overlaps_cpu(void *input) {
    return overlaps(input, 0);
}

static bool overlaps_cuda(void *input) {
    return overlaps(input, 1);
}

static bool distance_one(cuda_tree_player *p, int on_cuda) {
    uint32_t i = p->at++ % POSES;
    const carom_tree_pair *m = &p->pairs[on_cuda][i];
    return carom_tree_distance(p->contexts[on_cuda], m->a, &m->pose_a, m->b, &m->pose_b, &p->def,
                               p->gaps) == CAROM_OK &&
           memcmp(p->gaps, &p->gap_answers[i], sizeof(*p->gaps)) == 0;
}

static bool one_cpu(void *input) {
    return distance_one(input, 0);
}

static bool one_cuda(void *input) {
    return distance_one(input, 1);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* Both trees of a shape. */
static carom_status make_trees(cuda_tree_player *p, carom_shape shape, uint64_t count,
                               bool with_mesh, carom_tree *trees[2]) {
    const carom_shape_def of_shape = {.shape = shape, .detail = 96};
    carom_mesh_view view;
    carom_mesh *mesh = NULL;
    carom_packing *packing = NULL;
    const carom_packing_def of_packing = {.mesh = &view, .count = count, .fast = true};
    carom_status status = carom_shape_make(p->contexts[0], &of_shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_packing_create(p->contexts[0], &of_packing, &packing);
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        const carom_tree_def def = {.packing = packing, .mesh = with_mesh ? &view : NULL};
        status = carom_tree_create(p->contexts[i], &def, &trees[i]);
    }
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return status;
}

/* Poses apart and overlapping, and their answers by the CPU. */
static carom_status prepare(cuda_tree_player *p) {
    carom_random random = {2009};
    for (uint32_t i = 0; i < POSES; ++i) {
        carom_pose pose = {{carom_random_normal(&random), carom_random_normal(&random),
                            carom_random_normal(&random), carom_random_normal(&random)},
                           {carom_random_between(&random, -3.0, 3.0),
                            carom_random_between(&random, -3.0, 3.0),
                            carom_random_between(&random, -3.0, 3.0)}};
        for (int k = 0; k < 2; ++k)
            p->pairs[k][i] = (carom_tree_pair){.a = p->a[k], .b = p->b[k], .pose_b = pose};
    }
    carom_status status =
        carom_tree_distance_batch(p->contexts[0], p->pairs[0], POSES, &p->def, p->gap_answers);
    return status == CAROM_OK ? carom_tree_overlap_batch(p->contexts[0], p->pairs[0], POSES,
                                                         &p->def, p->overlap_answers)
                              : status;
}

static void measure(bench *bench, carom_context *cpu, carom_context *cuda, uint64_t count,
                    bool with_mesh) {
    char job[64];
    cuda_tree_player *p = calloc(1, sizeof(*p));
    if (p == NULL) return;
    p->contexts[0] = cpu;
    p->contexts[1] = cuda;
    p->def.exact_distance = true;
    carom_status status = make_trees(p, CAROM_SHAPE_KNOT, count, with_mesh, p->a);
    if (status == CAROM_OK) status = make_trees(p, CAROM_SHAPE_TORUS, count, with_mesh, p->b);
    if (status == CAROM_OK) status = prepare(p);
    if (status == CAROM_OK) {
        const bench_contender of_distances[] = {{"cpu, distances", NULL, distances_cpu, p},
                                                {"cuda, distances", NULL, distances_cuda, p}};
        const bench_contender of_overlaps[] = {{"cpu, overlaps", NULL, overlaps_cpu, p},
                                               {"cuda, overlaps", NULL, overlaps_cuda, p}};
        const bench_contender of_one[] = {{"cpu, one distance", NULL, one_cpu, p},
                                          {"cuda, one distance", NULL, one_cuda, p}};
        snprintf(job, sizeof(job), "%llu spheres%s", (unsigned long long)count,
                 with_mesh ? ", faces" : "");
        bench_at_size(bench, "spheres", (double)count);
        bench_compare(bench, job, POSES, of_distances, 2);
        if (!with_mesh) bench_compare(bench, job, POSES, of_overlaps, 2);
        bench_compare(bench, job, 1.0, of_one, 2);
    } else {
        bench_note(bench, "failed: %s%s", carom_context_message(cpu), carom_context_message(cuda));
    }
    for (int i = 0; i < 2; ++i) {
        carom_tree_destroy(p->a[i]);
        carom_tree_destroy(p->b[i]);
    }
    free(p);
}

static void run(bench *bench) {
    static const uint64_t sizes[] = {2000, 20000, 60000};
    carom_context_def def = *bench->def;
    carom_context *cuda, *cpu;
    def.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&def, &cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &cpu) == CAROM_OK) {
        for (int i = 0; i < (bench->quick ? 1 : 3); ++i)
            for (int with_mesh = 0; with_mesh < 2; ++with_mesh)
                measure(bench, cpu, cuda, sizes[i], with_mesh != 0);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_tree = {69, "cuda_tree",
                                     "sphere trees on the GPU: distances and overlaps", run};
