/* SPDX-License-Identifier: MIT */
/* Makes a knot, takes it apart as an STL file would, welds it again and says what it is. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

/* Prints why a call failed and ends the program. */
static void check(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s: %s\n", carom_status_name(status), carom_context_message(context));
    exit(1);
}

int main(void) {
    carom_context *context;
    check(NULL, carom_context_create(NULL, &context));

    /* Input: a tube around the knot that winds twice around and three times through. */
    carom_shape_def def = {
        .shape = CAROM_SHAPE_KNOT, .p = 2, .q = 3, .detail = 200, .polygons = true};
    carom_mesh *knot, *triangles, *soup, *welded;
    carom_mesh_view view;
    check(context, carom_shape_make(context, &def, &knot));
    check(context, carom_mesh_get_view(knot, &view));

    /* Quads into triangles, and these into a file that shares no vertices. */
    check(context, carom_mesh_triangulate(context, &view, NULL, &triangles, NULL));
    check(context, carom_mesh_get_view(triangles, &view));
    carom_bytes file = {0};
    check(context, carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_STL_ASCII, &file));
    check(context, carom_mesh_load_memory(context, file.data, file.count,
                                          CAROM_MESH_FORMAT_STL_ASCII, "knot.stl", &soup));
    check(context, carom_mesh_get_view(soup, &view));
    printf("%llu triangles with %llu vertices\n", (unsigned long long)view.face_count,
           (unsigned long long)view.vertex_count);

    /* Welded, it is a solid again. */
    carom_mesh_report report;
    check(context, carom_mesh_weld(context, &view, &welded));
    check(context, carom_mesh_get_view(welded, &view));
    check(context, carom_mesh_inspect(context, &view, &report));
    printf("%llu vertices after welding, %s, volume %.6f, area %.6f\n",
           (unsigned long long)report.vertices, report.closed ? "closed" : "open", report.volume,
           report.area);

    carom_bytes_free(&file);
    carom_mesh_destroy(knot);
    carom_mesh_destroy(triangles);
    carom_mesh_destroy(soup);
    carom_mesh_destroy(welded);
    carom_context_destroy(context);
    return report.closed ? 0 : 1;
}
