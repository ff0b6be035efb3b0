/* SPDX-License-Identifier: MIT */
/* pack_check MESH PACKING.ply [CELLS.csv]: proves a packing from its files alone; see
 * tests/support/pack_check.h. pack_check --outer MESH SPHERES.ply CELLS.csv [MARGIN]: the same for
 * a cover. Prints one line; exit code 1 when a claim does not hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pack_check.h"

static int fail_with(const char *what, const char *message) {
    fprintf(stderr, "%s: %s\n", what, message);
    return 2;
}

static int check_cover(int argc, char **argv) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    carom_packing_spheres spheres = {0};
    pack_proof proof;
    double volume = 0.0;
    if (argc < 5)
        return fail_with("usage", "pack_check --outer MESH SPHERES.ply CELLS.csv [MARGIN]");
    if (carom_context_create(NULL, &context) != CAROM_OK) return fail_with("context", "none");
    if (carom_mesh_load(context, argv[2], CAROM_MESH_FORMAT_GUESS, &mesh) != CAROM_OK ||
        carom_mesh_get_view(mesh, &view) != CAROM_OK ||
        carom_packing_load(context, argv[3], CAROM_PACKING_FORMAT_GUESS, &packing) != CAROM_OK ||
        carom_packing_list_spheres(context, packing, &spheres) != CAROM_OK)
        return fail_with("input", carom_context_message(context));
    pack_cover_claim claim = {.sphere_count = spheres.count,
                              .margin = argc > 5 ? strtod(argv[5], NULL) : 0.0};
    carom_ball *balls = malloc((spheres.count + 1) * sizeof(*balls));
    for (uint64_t i = 0; i < spheres.count; ++i)
        balls[i] = (carom_ball){spheres.data[i].centre, spheres.data[i].radius};
    carom_packing_cell *cells = pack_read_cells(argv[4], &claim.cell_count);
    if (cells == NULL) return fail_with(argv[4], "cannot be read");
    carom_triangle *triangles = pack_triangles(context, &view, &claim.triangle_count, &volume);
    claim.spheres = balls;
    claim.cells = cells;
    claim.triangles = triangles;
    bool good = pack_check_cover(&claim, &proof);
    printf("%s: %s%s %llu spheres, %llu cells, %llu exact decisions\n", argv[3],
           good ? "proved" : "WRONG: ", proof.message, (unsigned long long)claim.sphere_count,
           (unsigned long long)claim.cell_count, (unsigned long long)proof.exact);
    free(balls);
    free(triangles);
    free(cells);
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--outer") == 0) return check_cover(argc, argv);
    carom_context *context;
    carom_mesh *mesh;
    carom_packing *packing;
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    carom_mesh_view view;
    pack_proof proof;
    double volume = 0.0;
    if (argc < 3) return fail_with("usage", "pack_check MESH PACKING.ply [CELLS.csv]");
    if (carom_context_create(NULL, &context) != CAROM_OK) return fail_with("context", "none");
    if (carom_mesh_load(context, argv[1], CAROM_MESH_FORMAT_GUESS, &mesh) != CAROM_OK ||
        carom_mesh_get_view(mesh, &view) != CAROM_OK ||
        carom_packing_load(context, argv[2], CAROM_PACKING_FORMAT_GUESS, &packing) != CAROM_OK ||
        carom_packing_get_info(packing, &info) != CAROM_OK ||
        carom_packing_list_spheres(context, packing, &spheres) != CAROM_OK)
        return fail_with("input", carom_context_message(context));
    pack_claim claim = {.spheres = spheres.data, .sphere_count = spheres.count};
    carom_packing_cell *cells = NULL;
    carom_triangle *triangles = pack_triangles(context, &view, &claim.triangle_count, &volume);
    claim.triangles = triangles;
    claim.crosses = pack_crosses(context, &view);
    claim.shares = info.shares;
    if (argc > 3) {
        cells = pack_read_cells(argv[3], &claim.cell_count);
        if (cells == NULL) return fail_with(argv[3], "cannot be read");
        claim.cells = cells;
    }
    bool good = pack_check(&claim, &proof);
    double sum_error = info.shares ? proof.secondary_volume / info.volume - 1.0 : 0.0;
    if (good && !(sum_error < 1e-6 && sum_error > -1e-6)) {
        good = false;
        snprintf(proof.message, sizeof(proof.message), "the shares add up to %.9g, not %.9g",
                 proof.secondary_volume, info.volume);
    }
    printf("%s: %s%s %llu spheres, %llu cells, fill %.4f, gap %.4f, shares off %.1e, cover %.3f, "
           "void %.3f of what is empty, %llu exact decisions\n",
           argv[2], good ? "proved" : "WRONG: ", proof.message,
           (unsigned long long)claim.sphere_count, (unsigned long long)claim.cell_count,
           proof.ball_volume / info.volume, info.empty_radius / info.least_radius, sum_error,
           proof.mean_cover, proof.void_volume / (info.volume - proof.ball_volume),
           (unsigned long long)proof.exact);
    free(triangles);
    free(cells);
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return good ? 0 : 1;
}
