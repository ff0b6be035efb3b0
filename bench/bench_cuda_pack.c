/* SPDX-License-Identifier: MIT */
/* Packings made on the GPU, from a mesh on the host to spheres on the host, without shares: by our
 * octree, and by Protosphere. Up to MOST_COMPARED spheres (PROTOSPHERE_COMPARED), every packing is
 * compared with the CPU's. */
#include <stdio.h>

#include "bench/soup.h"

#define MOST_COMPARED        60000u /* spheres: some ten seconds of processor time */
#define PROTOSPHERE_COMPARED 4000u  /* the same by Protosphere: half a minute */

typedef struct player {
    carom_context *context;
    carom_packing_def def;
    carom_packing_info info;
    carom_packing_spheres spheres;
    const struct player *same; /* whose spheres are expected; NULL: none are */
} player;

static bool equal(const carom_packing_spheres *a, const carom_packing_spheres *b) {
    bool same = a->count == b->count;
    for (uint64_t i = 0; same && i < a->count; ++i) {
        const carom_packing_sphere *s = &a->data[i], *t = &b->data[i];
        same = s->centre.x == t->centre.x && s->centre.y == t->centre.y &&
               s->centre.z == t->centre.z && s->radius == t->radius && s->depth == t->depth &&
               s->face == t->face;
    }
    return same;
}

static bool pack(void *input) {
    player *p = input;
    carom_packing *packing;
    if (carom_packing_create(p->context, &p->def, &packing) != CAROM_OK) return false;
    bool good = carom_packing_get_info(packing, &p->info) == CAROM_OK &&
                carom_packing_list_spheres(p->context, packing, &p->spheres) == CAROM_OK &&
                (p->same == NULL || equal(&p->spheres, &p->same->spheres));
    carom_packing_destroy(packing);
    return good;
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, carom_mesh_view mesh,
                    uint64_t count) {
    static const char *const names[] = {"cuda", "cuda, fast"};
    player on_cpu[2], on_cuda[2];
    bench_contender contenders[2];
    char job[64];
    snprintf(job, sizeof(job), "%llu triangles, %llu spheres", (unsigned long long)mesh.face_count,
             (unsigned long long)count);
    for (int fast = 0; fast < 2; ++fast) {
        carom_packing_def def = {
            .mesh = &mesh, .count = count, .skip_shares = true, .fast = fast != 0};
        on_cpu[fast] = (player){.context = cpu, .def = def};
        on_cuda[fast] = (player){.context = cuda, .def = def};
        contenders[fast] = (bench_contender){names[fast], NULL, pack, &on_cuda[fast]};
        if (count > MOST_COMPARED) continue;
        double start = carom_time_seconds();
        if (!pack(&on_cpu[fast])) bench_note(bench, "%s", carom_context_message(cpu));
        bench_note(bench, "%s%s, once on the CPU: %.2f s", job, fast ? ", fast" : "",
                   carom_time_seconds() - start);
        on_cuda[fast].same = &on_cpu[fast];
    }
    bench_compare(bench, job, (double)count, contenders, 2);
    for (int fast = 0; fast < 2; ++fast) {
        bench_note(bench, "%s, %s: fill %.4f, gap %.3f", job, names[fast], on_cuda[fast].info.fill,
                   on_cuda[fast].info.empty_radius / on_cuda[fast].info.least_radius);
        carom_packing_spheres_free(&on_cpu[fast].spheres);
        carom_packing_spheres_free(&on_cuda[fast].spheres);
    }
}

static void measure_protosphere(bench *bench, carom_context *cuda, carom_context *cpu,
                                carom_mesh_view mesh, uint64_t count) {
    const carom_packing_def def = {.mesh = &mesh,
                                   .count = count,
                                   .method = CAROM_PACKING_METHOD_PROTOSPHERE,
                                   .skip_shares = true};
    player on_cpu = {.context = cpu, .def = def}, on_cuda = {.context = cuda, .def = def};
    char job[64];
    snprintf(job, sizeof(job), "%llu triangles, %llu by Protosphere",
             (unsigned long long)mesh.face_count, (unsigned long long)count);
    if (count <= PROTOSPHERE_COMPARED) {
        double start = carom_time_seconds();
        if (!pack(&on_cpu)) bench_note(bench, "%s", carom_context_message(cpu));
        bench_note(bench, "%s, once on the CPU: %.2f s", job, carom_time_seconds() - start);
        on_cuda.same = &on_cpu;
    }
    const bench_contender contender = {"cuda", NULL, pack, &on_cuda};
    bench_compare(bench, job, (double)count, &contender, 1);
    bench_note(bench, "%s: fill %.4f", job, on_cuda.info.fill);
    carom_packing_spheres_free(&on_cpu.spheres);
    carom_packing_spheres_free(&on_cuda.spheres);
}

static void run(bench *bench) {
    static const uint64_t counts[] = {10000, 60000, 1000000};
    carom_context_def def = *bench->def;
    carom_context *cuda, *cpu;
    soup_input input;
    def.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&def, &cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &cpu) == CAROM_OK) {
        if (soup_input_load(cpu, "solid_armadillo100k", &input)) {
            for (int i = 0; i < (bench->quick ? 1 : 3); ++i)
                measure(bench, cuda, cpu, input.view, counts[i]);
            measure_protosphere(bench, cuda, cpu, input.view, PROTOSPHERE_COMPARED);
            if (!bench->quick) measure_protosphere(bench, cuda, cpu, input.view, counts[1]);
            soup_input_free(&input);
        } else {
            bench_note(bench, "no solid_armadillo100k: set CAROM_MODELS to the folder of models");
        }
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_pack = {69, "cuda_pack", "solids filled with spheres on the GPU", run};
