/* SPDX-License-Identifier: MIT */
/* Any small mesh: welding, inspecting and triangulating agree with one another. */
#include <math.h>

#include "carom/carom.h"
#include "fuzz/fuzz.h"

#define MOST_VERTICES 24
#define MOST_CORNERS  256

static carom_mesh_report inspect(carom_context *context, carom_mesh *mesh) {
    carom_mesh_view view;
    carom_mesh_report report;
    FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
    FUZZ_CHECK(carom_mesh_inspect(context, &view, &report) == CAROM_OK);
    return report;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double positions[MOST_VERTICES][3];
    uint32_t corners[MOST_CORNERS];
    uint64_t offsets[MOST_CORNERS + 1] = {0}, faces = 0, end = 0;
    uint8_t head[2];
    fuzz_take(&bytes, &size, head, sizeof(head));
    uint32_t vertices = 1 + head[0] % MOST_VERTICES;
    for (uint32_t i = 0; i < 3 * vertices; ++i) {
        if (head[1] % 2 == 0) { /* a lattice: degenerate more often than not */
            uint8_t byte;
            fuzz_take(&bytes, &size, &byte, 1);
            positions[i / 3][i % 3] = (double)(byte % 5) - 2.0;
        } else {
            fuzz_take(&bytes, &size, &positions[i / 3][i % 3], sizeof(double));
        }
    }
    while (size > 0 && end + 3 <= MOST_CORNERS) {
        uint8_t count, corner;
        fuzz_take(&bytes, &size, &count, 1);
        uint64_t next = end + 3 + count % 12;
        if (next > MOST_CORNERS) break;
        for (; end < next; ++end) {
            fuzz_take(&bytes, &size, &corner, 1);
            corners[end] = corner % vertices;
        }
        offsets[++faces] = end;
    }
    carom_mesh_view view = {.positions = positions,
                            .vertex_count = vertices,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = faces};
    static carom_context *context;
    carom_context_def def = {.threads = 1};
    if (context == NULL) FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    carom_mesh *welded, *triangles, *fan;
    carom_mesh_triangulate_def as_fan = {.fan = true};
    carom_numbers owners = {0};
    if (carom_mesh_weld(context, &view, &welded) != CAROM_OK) { /* not finite */
        FUZZ_CHECK(welded == NULL && *carom_context_message(context) != '\0');
        return 0;
    }
    FUZZ_CHECK(carom_mesh_get_view(welded, &view) == CAROM_OK);
    FUZZ_CHECK(carom_mesh_triangulate(context, &view, NULL, &triangles, &owners) == CAROM_OK);
    FUZZ_CHECK(carom_mesh_triangulate(context, &view, &as_fan, &fan, NULL) == CAROM_OK);
    carom_mesh_report whole = inspect(context, welded), split = inspect(context, triangles);
    carom_mesh_report fans = inspect(context, fan);
    FUZZ_CHECK(whole.triangles == split.faces && split.faces == fans.faces);
    FUZZ_CHECK(owners.count == split.faces);
    FUZZ_CHECK(whole.balanced == split.balanced && whole.balanced == fans.balanced);
    FUZZ_CHECK(whole.closed == (fans.closed && whole.closed));
    FUZZ_CHECK(whole.volume == fans.volume);
    FUZZ_CHECK(whole.degenerate_triangles == fans.degenerate_triangles);
    FUZZ_CHECK(whole.degenerate_faces <= whole.faces && whole.area >= 0.0);
    carom_numbers_free(&owners);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(triangles);
    carom_mesh_destroy(fan);
    return 0;
}
