/* SPDX-License-Identifier: MIT */
/* Mesh files in and out, with what formats cannot hold taken care of. */
#include "cli/meshes.h"

#include <stdlib.h>
#include <string.h>

const char *const meshes_format_names[] = {"name", "obj",       "ply", "ply-big", "ply-ascii",
                                           "stl",  "stl-ascii", "off", NULL};

carom_mesh_format meshes_format(const char *path, int choice) {
    static const carom_mesh_format formats[] = {
        CAROM_FORMAT_GUESS,     CAROM_FORMAT_OBJ, CAROM_FORMAT_PLY,       CAROM_FORMAT_PLY_BIG,
        CAROM_FORMAT_PLY_ASCII, CAROM_FORMAT_STL, CAROM_FORMAT_STL_ASCII, CAROM_FORMAT_OFF};
    return choice == 0 ? carom_mesh_format_guess(path, NULL, 0) : formats[choice];
}

bool meshes_can_write(carom_mesh_format format) {
    return format != CAROM_FORMAT_GUESS && format != CAROM_FORMAT_OTHER;
}

int meshes_refuse(cli *cli, const char *path) {
    char sentence[512];
    snprintf(sentence, sizeof(sentence),
             "%.300s: the name tells no format that can be written; end it in .obj, .ply, .stl or "
             ".off, or give --format",
             path);
    return cli_fail_with(cli, CAROM_UNSUPPORTED, sentence);
}

bool meshes_is_plain(carom_mesh_format format) {
    return format == CAROM_FORMAT_STL;
}

carom_status meshes_weld(cli *cli, carom_mesh **mesh) {
    carom_mesh *apart = *mesh;
    carom_mesh_view view;
    *mesh = NULL;
    carom_status status = carom_mesh_get_view(apart, &view);
    if (status == CAROM_OK) status = carom_mesh_weld(cli->context, &view, mesh);
    carom_mesh_destroy(apart);
    return status;
}

carom_status meshes_load(cli *cli, const char *path, bool no_weld, carom_mesh **mesh) {
    carom_status status = carom_mesh_load(cli->context, path, mesh);
    return status != CAROM_OK || no_weld ? status : meshes_weld(cli, mesh);
}

carom_status meshes_triangulate(cli *cli, bool fan, carom_mesh **mesh) {
    carom_triangulate_def def = {.fan = fan};
    carom_mesh *polygons = *mesh;
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(polygons, &view);
    if (status != CAROM_OK || view.offsets == NULL) return status;
    *mesh = NULL;
    status = carom_mesh_triangulate(cli->context, &view, &def, mesh, NULL);
    carom_mesh_destroy(polygons);
    return status;
}

/* Saves with positions rounded to float32. */
static carom_status save_rounded(cli *cli, carom_mesh_view view, carom_mesh_format format,
                                 const char *path) {
    const double *from = view.positions;
    uint64_t count = 3 * view.vertex_count, rounded = 0;
    float *to = malloc((count != 0 ? count : 1) * sizeof(*to));
    if (to == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i) {
        to[i] = (float)from[i];
        rounded += (double)to[i] != from[i];
    }
    if (rounded != 0 && !cli->quiet)
        fprintf(stderr, "carom: %s: %llu of %llu coordinates were rounded to float32\n", path,
                (unsigned long long)rounded, (unsigned long long)count);
    view.positions = to;
    view.scalar = CAROM_FLOAT32;
    view.stride = 0;
    carom_status status = carom_mesh_save(cli->context, &view, format, path);
    free(to);
    return status;
}

carom_status meshes_save(cli *cli, carom_mesh **mesh, carom_mesh_format format, bool float32,
                         const char *path) {
    carom_mesh_view view;
    carom_status status = CAROM_OK;
    if (format == CAROM_FORMAT_STL || format == CAROM_FORMAT_STL_ASCII)
        status = meshes_triangulate(cli, false, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status != CAROM_OK) return status;
    if (view.scalar == CAROM_FLOAT64 && (float32 || meshes_is_plain(format)))
        return save_rounded(cli, view, format, path);
    return carom_mesh_save(cli->context, &view, format, path);
}
