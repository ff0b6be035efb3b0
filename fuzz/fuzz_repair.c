/* SPDX-License-Identifier: MIT */
/* Meshes of few vertices at small whole numbers, scaled by any power of two: what is listed and
 * filled is what counting sides and trying every pair of faces says. */
#include "fuzz/oracle.h"

#include "tests/support/integer_oracle.c"
#include "tests/support/repair_check.c"

#define MOST_VERTICES 16u
#define MOST_FACES    24u

static carom_context *contexts[2]; /* of one and of two threads; kept for the life */

static void take_mesh(fuzz_bytes *bytes, double positions[MOST_VERTICES][3], uint32_t *corners,
                      carom_mesh_view *view) {
    static const double scales[] = {1.0, 0x1p-332, 0x1p332, 0x1p-1000, 0x1p1000};
    uint32_t vertices = 3 + fuzz_below(bytes, MOST_VERTICES - 2);
    uint32_t faces = 1 + fuzz_below(bytes, MOST_FACES);
    double scale = scales[fuzz_below(bytes, 5)];
    for (uint32_t v = 0; v < vertices; ++v)
        for (int k = 0; k < 3; ++k) positions[v][k] = ((double)fuzz_below(bytes, 9) - 4.0) * scale;
    for (uint32_t c = 0; c < 3 * faces; ++c) corners[c] = fuzz_below(bytes, vertices);
    *view = (carom_mesh_view){
        .positions = positions, .vertex_count = vertices, .corners = corners, .face_count = faces};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double positions[MOST_VERTICES][3];
    uint32_t corners[3 * MOST_FACES];
    carom_mesh_view view;
    fuzz_bytes from = {bytes, size};
    for (uint32_t i = 0; i < 2 && contexts[i] == NULL; ++i) {
        carom_context_def def = {.threads = i + 1};
        FUZZ_CHECK(carom_context_create(&def, &contexts[i]) == CAROM_OK);
    }
    carom_repair_def def = {.max_edges = fuzz_below(&from, 9)};
    take_mesh(&from, positions, corners, &view);
    repair_closed closed[2] = {{0}, {0}};
    for (int i = 0; i < 2; ++i) {
        repair_close_checked(contexts[i], &view, &def, &closed[i]);
        repair_check_lists(contexts[i], &view);
    }
    FUZZ_CHECK(closed[0].view.face_count == closed[1].view.face_count);
    FUZZ_CHECK(memcmp(closed[0].view.corners, closed[1].view.corners,
                      12 * closed[0].view.face_count) == 0);
    for (int i = 0; i < 2; ++i) repair_closed_free(&closed[i]);
    return 0;
}
