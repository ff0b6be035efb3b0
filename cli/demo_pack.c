/* SPDX-License-Identifier: MIT */
/* The demo's section on packings: how much of a solid spheres fill, by their number and by method.
 */
#include <stdio.h>

#include "cli/demo.h"

#define SIZES 4

static const uint64_t counts[SIZES] = {100, 300, 1000, 3000};

static carom_status measure(carom_context *context, const carom_mesh_view *mesh, uint64_t count,
                            carom_packing_method method, bool fast, double *seconds,
                            carom_packing_info *info) {
    carom_packing *packing;
    carom_packing_def def = {.mesh = mesh,
                             .method = method,
                             .count = count,
                             .fast = fast,
                             .voxels = 64,
                             .skip_shares = true};
    double start = carom_time_seconds();
    carom_status status = carom_packing_create(context, &def, &packing);
    *seconds = carom_time_seconds() - start;
    if (status == CAROM_OK) status = carom_packing_get_info(packing, info);
    carom_packing_destroy(packing);
    return status;
}

static carom_status compare(demo *demo, const carom_mesh_view *mesh) {
    static const char *const heads[] = {"spheres", "octree",    "time", "fast",
                                        "time",    "voxels 64", "time"};
    carom_context *context = demo->cli->context;
    page *page = &demo->page;
    double sizes[SIZES], fills[3][SIZES];
    page_begin_table(page, heads, 7);
    carom_status status = CAROM_OK;
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        char text[7][24];
        snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)counts[i]);
        for (int k = 0; k < 3 && status == CAROM_OK; ++k) {
            double seconds;
            carom_packing_info info;
            status = measure(context, mesh, counts[i],
                             k == 2 ? CAROM_PACKING_METHOD_GREEDY : CAROM_PACKING_METHOD_OCTREE,
                             k == 1, &seconds, &info);
            if (status != CAROM_OK) break;
            fills[k][i] = info.fill;
            snprintf(text[1 + 2 * k], sizeof(text[0]), "%.3f", info.fill);
            snprintf(text[2 + 2 * k], sizeof(text[0]), "%.0f ms", 1e3 * seconds);
            if (k == 0)
                snprintf(demo->result, sizeof(demo->result),
                         "%llu spheres fill %.1f %% of a knot, certified, in %.2f s",
                         (unsigned long long)info.spheres, 100.0 * info.fill, seconds);
        }
        const char *const cells[] = {text[0], text[1], text[2], text[3], text[4], text[5], text[6]};
        if (status == CAROM_OK) page_row(page, cells, 7);
        sizes[i] = (double)counts[i];
    }
    page_end_table(page);
    if (status != CAROM_OK) return status;
    page_curve curves[] = {{"octree", sizes, fills[0], SIZES}, {"voxels", sizes, fills[2], SIZES}};
    page_chart(page, "The share of the volume that is in spheres, against their number.", "spheres",
               "fill", curves, 2);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 96};
    page_section(
        &demo->page, "Packing spheres",
        "A solid is filled with spheres that do not overlap, the largest first. The octree "
        "method proves that no empty ball is more than 5 % larger than the last sphere. "
        "The greedy method takes balls around voxels, as published in 2009.");
    carom_status status = carom_shape_make(context, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = compare(demo, &view);
    carom_mesh_destroy(mesh);
    return status;
}

const demo_part demo_pack = {68, "pack", "spheres that fill a solid", run};
