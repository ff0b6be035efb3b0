/* SPDX-License-Identifier: MIT */
/* How dense the faces of soups are: the time to tell, beside that of all intersecting pairs of the
 * same soup, and k itself. */
#include <stdio.h>

#include "bench/soup.h"

typedef struct input {
    carom_context *context;
    const carom_soup *soup;
    carom_kfree k_free;
    carom_pairs pairs;
} input;

static bool run_k_free(void *argument) {
    input *in = argument;
    return carom_kfree_measure(in->context, in->soup, &in->k_free, NULL) == CAROM_OK;
}

static bool run_pairs(void *argument) {
    input *in = argument;
    return carom_soup_self_pairs(in->context, in->soup, &in->pairs) == CAROM_OK;
}

static void measure(bench *bench, carom_context *serial, carom_context *parallel, const char *job,
                    const carom_mesh_view *mesh) {
    carom_soup *soup;
    carom_soup_def def = {.mesh = mesh};
    if (carom_soup_create(parallel, &def, &soup) != CAROM_OK) return;
    input one = {.context = serial, .soup = soup}, all = {.context = parallel, .soup = soup};
    bench_contender contenders[] = {{"carom, one thread", NULL, run_k_free, &one},
                                    {"carom, all threads", NULL, run_k_free, &all},
                                    {"all pairs, one thread", NULL, run_pairs, &one}};
    bench_compare(bench, job, (double)mesh->face_count, contenders, 3);
    const carom_kfree *k = &one.k_free;
    bench_note(bench, "k %llu, mean %.2f, median %u, %.0f %% neighbours, height %.1f",
               (unsigned long long)k->k, k->mean, k->median, 100.0 * k->neighbours, k->height);
    carom_pairs_free(&one.pairs);
    carom_soup_destroy(soup);
}

static void measure_shape(bench *bench, carom_context *serial, carom_context *parallel,
                          const char *job, const carom_shape_def *shape) {
    carom_mesh *mesh;
    carom_mesh_view view;
    if (carom_shape_make(parallel, shape, &mesh) != CAROM_OK) return;
    if (carom_mesh_get_view(mesh, &view) == CAROM_OK) measure(bench, serial, parallel, job, &view);
    carom_mesh_destroy(mesh);
}

static void run(bench *bench) {
    static const struct {
        const char *job;
        carom_shape_def shape;
        bool quick;
    } shapes[] = {
        {"cloth 20k",
         {.shape = CAROM_SHAPE_CLOTH, .detail = 100, .scalar = CAROM_SCALAR_FLOAT32},
         true},
        {"cloth 250k",
         {.shape = CAROM_SHAPE_CLOTH, .detail = 354, .scalar = CAROM_SCALAR_FLOAT32},
         false},
        {"cloth 1M",
         {.shape = CAROM_SHAPE_CLOTH, .detail = 707, .scalar = CAROM_SCALAR_FLOAT32},
         false},
        {"knot 200k quads", {.shape = CAROM_SHAPE_KNOT, .detail = 8192, .polygons = true}, false},
        {"chazelle 2k", {.shape = CAROM_SHAPE_CHAZELLE, .detail = 100}, true},
    };
    static const char *const models[] = {"bunny", "armadillo", "ogre", "horse"};
    carom_context_def def = *bench->def;
    carom_context *serial = NULL, *parallel = NULL;
    def.threads = 1;
    if (carom_context_create(&def, &serial) == CAROM_OK &&
        carom_context_create(bench->def, &parallel) == CAROM_OK) {
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
            if (shapes[i].quick || !bench->quick)
                measure_shape(bench, serial, parallel, shapes[i].job, &shapes[i].shape);
        for (size_t i = 0; i < sizeof(models) / sizeof(models[0]) && !bench->quick; ++i) {
            soup_input input;
            if (!soup_input_load(serial, models[i], &input)) {
                bench_note(bench, "no %s: set CAROM_MODELS to the folder of models", models[i]);
                continue;
            }
            measure(bench, serial, parallel, models[i], &input.view);
            soup_input_free(&input);
        }
    }
    carom_context_destroy(serial);
    carom_context_destroy(parallel);
}

const bench_group bench_kfree = {50, "kfree", "how dense the faces of soups are: k-free", run};
