/* SPDX-License-Identifier: MIT */
/* Packings by every method on several solids: time, fill, and the certified gap.
 *
 * There is no peer: no free library packs disjoint spheres into meshes. The figures of the papers
 * stand beside ours: 85 to 95 % for 4,000 to 60,000 spheres (Weller, Zachmann 2009). Rows of one
 * job compare the methods; notes give the fill and the gap, the largest empty ball against the last
 * sphere. */
#include <stdio.h>

#include "bench/bench.h"

typedef struct player {
    const char *name;
    carom_context *context;
    carom_packing_def def;
    carom_packing_info info;
} player;

static bool pack(void *input) {
    player *p = input;
    carom_packing *packing;
    if (carom_packing_create(p->context, &p->def, &packing) != CAROM_OK) return false;
    bool good = carom_packing_get_info(packing, &p->info) == CAROM_OK;
    carom_packing_destroy(packing);
    return good;
}

#define PLAYERS 7

static void compare(bench *bench, carom_context *serial, carom_context *parallel, carom_shape shape,
                    uint64_t count) {
    carom_mesh *mesh;
    carom_shape_def of_shape = {.shape = shape, .detail = 96};
    carom_mesh_view view;
    char job[64];
    if (carom_shape_make(parallel, &of_shape, &mesh) != CAROM_OK) return;
    if (carom_mesh_get_view(mesh, &view) == CAROM_OK) {
        player players[PLAYERS] = {{.name = "octree"},         {.name = "octree, 1 thread"},
                                   {.name = "octree, shares"}, {.name = "octree, fast"},
                                   {.name = "voxels 128"},     {.name = "prototypes"},
                                   {.name = "protosphere"}};
        bench_contender contenders[PLAYERS];
        uint32_t used = count > 4000 ? PLAYERS - 2 : PLAYERS; /* prototypes take minutes */
        for (uint32_t i = 0; i < used; ++i) {
            players[i].context = i == 1 ? serial : parallel;
            players[i].def =
                (carom_packing_def){.mesh = &view,
                                    .count = count,
                                    .skip_shares = i != 2,
                                    .fast = i == 3,
                                    .method = i == 4   ? CAROM_PACKING_METHOD_GREEDY
                                              : i == 5 ? CAROM_PACKING_METHOD_PROTOTYPE
                                              : i == 6 ? CAROM_PACKING_METHOD_PROTOSPHERE
                                                       : CAROM_PACKING_METHOD_OCTREE};
            contenders[i] = (bench_contender){players[i].name, NULL, pack, &players[i]};
        }
        snprintf(job, sizeof(job), "%s, %llu", carom_shape_name(shape), (unsigned long long)count);
        bench_compare(bench, job, (double)count, contenders, used);
        for (uint32_t i = 0; i < used; ++i) {
            const carom_packing_info *info = &players[i].info;
            if (i == 1 || i == 2) continue;
            bench_note(bench, "%s, %s: %llu spheres, fill %.3f, gap %.3f", job, players[i].name,
                       (unsigned long long)info->spheres, info->fill,
                       info->empty_radius / info->least_radius);
        }
    }
    carom_mesh_destroy(mesh);
}

static void run(bench *bench) {
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS,    CAROM_SHAPE_BOX,
                                         CAROM_SHAPE_KNOT,     CAROM_SHAPE_CONE,
                                         CAROM_SHAPE_CYLINDER, CAROM_SHAPE_CHAZELLE};
    static const uint64_t counts[] = {1000, 4000, 16000, 60000};
    carom_context_def def = *bench->def;
    carom_context *parallel, *serial;
    if (carom_context_create(&def, &parallel) != CAROM_OK) return;
    def.threads = 1;
    if (carom_context_create(&def, &serial) == CAROM_OK) {
        for (int i = 0; i < (bench->quick ? 1 : 4); ++i)
            for (int k = 0; k < (bench->quick ? 1 : 6); ++k)
                compare(bench, serial, parallel, shapes[k], counts[i]);
        carom_context_destroy(serial);
    }
    carom_context_destroy(parallel);
}

const bench_group bench_pack = {68, "pack", "solids filled with spheres: time, fill and gap", run};
