/* SPDX-License-Identifier: MIT */
/* Packings by every method on several solids: time, fill, and the certified gap.
 *
 * There is no peer: no free library packs disjoint spheres into meshes. The figures of the papers
 * stand beside ours: 85 to 95 % for 4,000 to 60,000 spheres (Weller, Zachmann 2009). Rows of one
 * job compare the methods; notes give the fill and the gap, the largest empty ball against the last
 * sphere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The same for a solid that was bent: anew, or from the packing before. */
typedef struct follower {
    carom_context *context;
    const carom_packing *before;
    carom_packing_deform_def def;
    carom_packing_info info;
} follower;

static bool follow(void *input) {
    follower *f = input;
    carom_packing *packing;
    if (carom_packing_deform(f->context, f->before, &f->def, &packing) != CAROM_OK) return false;
    bool good = carom_packing_get_info(packing, &f->info) == CAROM_OK;
    carom_packing_destroy(packing);
    return good;
}

#define BENT 0.5235987755982988 /* 30 degrees, from end to end */

/* Bends positions so that lines along x become arcs about y. */
static void bend(double *positions, uint64_t count, const carom_bounds *bounds) {
    double radius = (bounds->high.x - bounds->low.x) / BENT;
    double x = 0.5 * bounds->low.x + 0.5 * bounds->high.x,
           z = 0.5 * bounds->low.z + 0.5 * bounds->high.z;
    for (uint64_t i = 0; i < count; ++i) {
        double *p = positions + 3 * i, angle = (p[0] - x) / radius, from = radius + (p[2] - z);
        p[0] = x + from * sin(angle);
        p[2] = z + from * cos(angle) - radius;
    }
}

/* Bends a shape by 30 degrees. */
static void compare_bent(bench *bench, carom_context *context, carom_shape shape, uint64_t count) {
    carom_mesh *mesh, *bent = NULL;
    carom_packing *packing = NULL;
    carom_mesh_view view, after;
    carom_shape_def of_shape = {.shape = shape, .detail = 96};
    carom_bounds bounds;
    if (carom_shape_make(context, &of_shape, &mesh) != CAROM_OK) return;
    bool good = carom_mesh_get_view(mesh, &view) == CAROM_OK &&
                carom_mesh_bounds(context, &view, &bounds) == CAROM_OK;
    good = good && carom_mesh_create(context, &view, &bent) == CAROM_OK &&
           carom_mesh_get_view(bent, &after) == CAROM_OK;
    double *positions = malloc((size_t)(3 * view.vertex_count + 1) * sizeof(*positions));
    if (good && positions != NULL && view.scalar == CAROM_SCALAR_FLOAT64) {
        memcpy(positions, view.positions, 3 * view.vertex_count * sizeof(*positions));
        bend(positions, view.vertex_count, &bounds);
        after.positions = positions;
        carom_packing_def def = {.mesh = &view, .count = count};
        good = carom_packing_create(context, &def, &packing) == CAROM_OK;
        player anew = {.context = context, .def = {.mesh = &after, .count = count}};
        carom_packing_deform_def carried = {.before = &view, .after = &after};
        follower shrunk = {context, packing, carried, {0}}, refilled = shrunk;
        refilled.def.refill = true;
        bench_contender contenders[3] = {{"anew", NULL, pack, &anew},
                                         {"carried", NULL, follow, &shrunk},
                                         {"carried, refilled", NULL, follow, &refilled}};
        char job[64];
        snprintf(job, sizeof(job), "%s bent, %llu", carom_shape_name(shape),
                 (unsigned long long)count);
        if (good) bench_compare(bench, job, (double)count, contenders, 3);
        bench_note(bench, "%s: fill %.3f anew, %.3f carried (%llu spheres), %.3f refilled (%llu)",
                   job, anew.info.fill, shrunk.info.fill, (unsigned long long)shrunk.info.spheres,
                   refilled.info.fill, (unsigned long long)refilled.info.spheres);
    }
    free(positions);
    carom_packing_destroy(packing);
    carom_mesh_destroy(bent);
    carom_mesh_destroy(mesh);
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
        for (int k = 0; k < (bench->quick ? 1 : 3); ++k)
            compare_bent(bench, serial, shapes[k], bench->quick ? 1000 : 10000);
        carom_context_destroy(serial);
    }
    carom_context_destroy(parallel);
}

const bench_group bench_pack = {68, "pack", "solids filled with spheres: time, fill and gap", run};
