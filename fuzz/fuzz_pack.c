/* SPDX-License-Identifier: MIT */
/* Packings: bytes that begin with "ply" are a file of a packing, which is an error or reads back
 * the same after it is written; others are boxes on a small lattice, which may cross, touch, be
 * flat or inside out, packed by every method, or covered. Spheres must be disjoint, in order, in
 * the bounds and covered, and the shares add up to the volume. */
#include <math.h>

#include "carom/carom.h"
#include "cover/cover.h"
#include "fuzz/fuzz.h"
#include "pack/pack.h"

static void fuzz_file(carom_context *context, const uint8_t *bytes, size_t size) {
    carom_packing *packing = NULL, *again = NULL;
    if (carom_packing_load_memory(context, bytes, size, CAROM_PACKING_FORMAT_GUESS, "fuzz",
                                  &packing) != CAROM_OK) {
        FUZZ_CHECK(packing == NULL && carom_context_message(context)[0] != 0);
        return;
    }
    carom_bytes first = {0}, second = {0};
    FUZZ_CHECK(carom_packing_save_memory(context, packing, CAROM_PACKING_FORMAT_PLY, &first) ==
               CAROM_OK);
    FUZZ_CHECK(carom_packing_load_memory(context, first.data, first.count,
                                         CAROM_PACKING_FORMAT_GUESS, "again", &again) == CAROM_OK);
    FUZZ_CHECK(carom_packing_save_memory(context, again, CAROM_PACKING_FORMAT_PLY, &second) ==
               CAROM_OK);
    FUZZ_CHECK(first.count == second.count && memcmp(first.data, second.data, first.count) == 0);
    carom_bytes_free(&first);
    carom_bytes_free(&second);
    carom_packing_destroy(packing);
    carom_packing_destroy(again);
}

static void check(carom_context *context, const carom_packing *packing) {
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    FUZZ_CHECK(carom_packing_get_info(packing, &info) == CAROM_OK);
    FUZZ_CHECK(carom_packing_list_spheres(context, packing, &spheres) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_packing_validate(packing));
    double shares = 0.0;
    for (uint64_t i = 0; i < spheres.count; ++i) {
        const carom_packing_sphere *a = &spheres.data[i];
        FUZZ_CHECK(a->centre.x - a->radius >= info.bounds.low.x &&
                   a->centre.z + a->radius <= info.bounds.high.z);
        shares += 4.0 / 3.0 * 3.14159265358979323846 * pow(a->secondary, 3.0);
    }
    if (spheres.count != 0) FUZZ_CHECK(fabs(shares - info.volume) <= 1e-4 * info.volume);
    carom_packing_spheres_free(&spheres);
}

/* Every corner of the boxes is in a sphere, and cells are in theirs. */
static void fuzz_cover(carom_context *context, const carom_mesh_view *mesh, uint64_t count) {
    carom_cover_def def = {.mesh = mesh, .count = count, .keep_cells = true};
    carom_cover *cover;
    carom_cover_spheres spheres = {0};
    if (carom_cover_create(context, &def, &cover) != CAROM_OK) {
        FUZZ_CHECK(cover == NULL && carom_context_message(context)[0] != 0);
        return;
    }
    FUZZ_CHECK_VALID(carom_cover_validate(cover));
    FUZZ_CHECK(carom_cover_list_spheres(context, cover, &spheres) == CAROM_OK);
    FUZZ_CHECK(spheres.count >= 1 && spheres.count <= count);
    for (uint64_t i = 0; i < mesh->vertex_count; ++i) {
        const double *p = (const double *)mesh->positions + 3 * i;
        bool inside = false;
        for (uint64_t k = 0; k < spheres.count && !inside; ++k) {
            const carom_ball *s = &spheres.data[k];
            double x = p[0] - s->centre.x, y = p[1] - s->centre.y, z = p[2] - s->centre.z;
            inside = x * x + y * y + z * z <= s->radius * s->radius * (1.0 + 1e-12);
        }
        FUZZ_CHECK(inside);
    }
    carom_cover_spheres_free(&spheres);
    carom_cover_destroy(cover);
}

#define MOST_BOXES 3

/* Moves the corners, and lets the packing follow. */
static void fuzz_deform(carom_context *context, const carom_packing *packing,
                        const carom_mesh_view *mesh, const uint8_t *bytes, size_t size) {
    double positions[3 * 8 * MOST_BOXES];
    uint8_t head[1], moved[3 * 8 * MOST_BOXES] = {0};
    fuzz_take(&bytes, &size, head, sizeof(head));
    fuzz_take(&bytes, &size, moved, sizeof(moved));
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; ++i)
        positions[i] = ((const double *)mesh->positions)[i] + (moved[i] % 16 - 4) / 4.0;
    carom_mesh_view after = *mesh;
    after.positions = positions;
    carom_packing_deform_def def = {.before = mesh,
                                    .after = &after,
                                    .refill = (head[0] & 1) != 0,
                                    .fine_shares = (head[0] & 2) != 0,
                                    .keep_cells = true};
    carom_packing *made;
    if (carom_packing_deform(context, packing, &def, &made) == CAROM_OK) check(context, made);
    carom_packing_destroy(made);
}

static void fuzz_boxes(carom_context *context, const uint8_t *bytes, size_t size) {
    static const int corners[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                       {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                       {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    double positions[3 * 8 * MOST_BOXES];
    uint32_t indices[36 * MOST_BOXES];
    uint8_t head[2];
    fuzz_take(&bytes, &size, head, sizeof(head));
    int count = 1 + head[0] % MOST_BOXES;
    for (int b = 0; b < count; ++b) {
        uint8_t box[6];
        fuzz_take(&bytes, &size, box, sizeof(box));
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < 3; ++k)
                positions[3 * (8 * b + i) + k] = box[(i >> k & 1) != 0 ? 3 + k : k] % 8;
        for (int i = 0; i < 36; ++i)
            indices[36 * b + i] = (uint32_t)(8 * b + corners[i / 3][i % 3]);
    }
    carom_mesh_view view = {.positions = positions,
                            .vertex_count = (uint64_t)(8 * count),
                            .corners = indices,
                            .face_count = (uint64_t)(12 * count)};
    carom_packing_def def = {.mesh = &view,
                             .method = (carom_packing_method)(head[0] / MOST_BOXES % 3),
                             .count = 1 + head[1] % 8,
                             .voxels = 6,
                             .epsilon = 0.2,
                             .fast = (head[1] & 64) != 0,
                             .keep_cells = true};
    if ((head[1] & 128) != 0) {
        fuzz_cover(context, &view, 1 + head[1] % 4);
        return;
    }
    carom_packing *packing;
    if (carom_packing_create(context, &def, &packing) == CAROM_OK) {
        check(context, packing);
        if (size != 0) fuzz_deform(context, packing, &view, bytes, size);
    }
    carom_packing_destroy(packing);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    carom_context_def def = {.threads = 1};
    carom_context *context;
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    if (size >= 3 && memcmp(bytes, "ply", 3) == 0)
        fuzz_file(context, bytes, size);
    else
        fuzz_boxes(context, bytes, size);
    carom_context_destroy(context);
    return 0;
}
