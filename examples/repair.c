/* SPDX-License-Identifier: MIT */
/* Where are the holes of a mesh, and can they be closed? Give it a file, or it cuts the lid off a
 * box. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
    carom_context *context;
    carom_mesh *mesh, *welded, *closed;
    carom_mesh_view view;
    must(NULL, carom_context_create(NULL, &context));

    /* input: vertices with equal coordinates are made one */
    carom_shape_def box = {.shape = CAROM_SHAPE_BOX};
    must(context, argc > 1 ? carom_mesh_load(context, argv[1], CAROM_MESH_FORMAT_GUESS, &mesh)
                           : carom_shape_make(context, &box, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    if (argc == 1) view.face_count -= 2;
    must(context, carom_mesh_weld(context, &view, &welded));
    must(context, carom_mesh_get_view(welded, &view));

    /* query */
    carom_repair_result result;
    carom_repair_loops loops = {0};
    carom_numbers vertices = {0};
    must(context, carom_repair_close(context, &view, NULL, &closed, &result, &loops, &vertices));

    /* result */
    for (uint64_t i = 0; i < loops.count; ++i)
        printf("hole of %llu edges from vertex %u, %g long: %s\n",
               (unsigned long long)loops.data[i].count, vertices.data[loops.data[i].first],
               loops.data[i].length, carom_repair_outcome_name(loops.data[i].outcome));
    carom_mesh_report report;
    must(context, carom_mesh_get_view(closed, &view));
    must(context, carom_mesh_inspect(context, &view, &report));
    printf("%llu new faces, %llu new pairs of faces that meet; %s, volume %g\n",
           (unsigned long long)result.triangles, (unsigned long long)result.new_pairs,
           report.closed ? "closed" : "not closed", report.volume);

    carom_repair_loops_free(&loops);
    carom_numbers_free(&vertices);
    carom_mesh_destroy(closed);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
