/* SPDX-License-Identifier: MIT */
/* Any bytes through the reader of binary glTF: a message that names the file, or a mesh that passes
 * the check and survives being written and read again. */
#include "fuzz/mesh.h"

#include "mesh/mesh_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context;
    carom_context_def def = {.threads = 1};
    carom_source source = {bytes, size};
    bool is_foreign;
    if (context == NULL) FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    if (!carom_glb_is(source)) return 0;
    carom_builder builder = {.context = context, .name = "fuzz", .reported = bytes};
    carom_mesh *mesh = NULL;
    carom_status status = carom_read_glb(&builder, source, &is_foreign);
    if (status == CAROM_OK && is_foreign) FUZZ_CHECK(builder.face_count == 0);
    if (status == CAROM_OK) status = carom_builder_finish(&builder, CAROM_MESH_FORMAT_OTHER, &mesh);
    carom_builder_release(&builder);
    FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_FILE || status == CAROM_TOO_LARGE);
    if (status == CAROM_OK) {
        carom_mesh_view view;
        FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
        FUZZ_CHECK(carom_mesh_check(context, &view) == CAROM_OK);
        fuzz_write_and_read(context, &view, CAROM_MESH_FORMAT_PLY);
        carom_mesh_destroy(mesh);
    } else {
        FUZZ_CHECK(strncmp(carom_context_message(context), "fuzz: ", 6) == 0);
    }
    return 0;
}
