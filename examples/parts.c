/* SPDX-License-Identifier: MIT */
/* Which faces of a mesh meet when it does not fit into memory: in parts, and in shards that could
 * be processes on many machines. Give it a binary PLY or STL file or an OBJ file, or it writes a
 * cloth. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARDS 3

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

/* Receives pairs in ascending chunks; a program would write them to a file. */
static bool count_pairs(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs;
    *(uint64_t *)user += count;
    return false;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "example-parts.ply";
    carom_context *context;
    carom_parts_report report;
    uint64_t whole = 0, together = 0;
    must(NULL, carom_context_create(NULL, &context));
    if (argc < 2) { /* input */
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH, .detail = 60};
        must(context, carom_shape_make(context, &cloth, &mesh));
        must(context, carom_mesh_get_view(mesh, &view));
        must(context, carom_mesh_save(context, &view, CAROM_MESH_FORMAT_PLY, path));
        carom_mesh_destroy(mesh);
    }

    /* query: the file is read by place, and never held as a whole */
    carom_parts_def def = {.a.path = path, .memory = CAROM_PARTS_LEAST_MEMORY, .part_faces = 1000};
    must(context, carom_parts_pairs(context, &def, count_pairs, &whole, &report));
    printf("%llu pairs of faces meet, found in %llu parts\n", (unsigned long long)whole,
           (unsigned long long)report.parts);

    /* the same in shards: each pair is in one of them */
    for (def.shard = 0, def.shards = SHARDS; def.shard < SHARDS; ++def.shard)
        must(context, carom_parts_pairs(context, &def, count_pairs, &together, NULL));
    printf("%llu in %d shards\n", (unsigned long long)together, SHARDS);

    carom_context_destroy(context);
    if (argc < 2) (void)remove(path);
    return whole == together ? EXIT_SUCCESS : EXIT_FAILURE;
}
