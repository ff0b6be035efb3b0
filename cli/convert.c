/* SPDX-License-Identifier: MIT */
/* carom convert: converts a mesh from one format to another. */
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/parts.h"

typedef struct options {
    bool weld, triangulate, fan, float32;
    int format, from;
    const char *part;
} options;

static const arg_option convert_options[] = {
    {"--weld", 0, ARG_FLAG, offsetof(options, weld), NULL,
     "make vertices with equal coordinates one", NULL},
    {"--triangulate", 0, ARG_FLAG, offsetof(options, triangulate), NULL,
     "split polygons by their form", NULL},
    {"--fan", 0, ARG_FLAG, offsetof(options, fan), NULL, "split polygons from their first corner",
     NULL},
    {"--float32", 0, ARG_FLAG, offsetof(options, float32), NULL, "round positions to float32",
     NULL},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME", MESHES_FORMAT_HELP,
     meshes_format_choice},
    {"--part", 0, ARG_TEXT, offsetof(options, part), "NAME", PARTS_HELP, NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
};

static void print_result(const cli *cli, const char *path, const carom_mesh_view *view,
                         double prepare_s, double write_s) {
    if (!cli->json) {
        fprintf(output_words(path), "%s: %llu vertices, %llu faces\n", path,
                (unsigned long long)view->vertex_count, (unsigned long long)view->face_count);
        return;
    }
    json j = cli_begin_json(cli);
    json_text(&j, "file", path);
    json_count(&j, "vertices", view->vertex_count);
    json_count(&j, "faces", view->face_count);
    json_number(&j, "prepare_s", prepare_s);
    json_number(&j, "write_s", write_s);
    cli_end_json(&j);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    const char *misuse = output_misuse(cli, paths[1]);
    if (options->triangulate && options->fan)
        misuse = "--triangulate and --fan are two ways; choose one";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    int format = meshes_format(paths[1], options->format);
    if (!meshes_can_write(format)) return meshes_refuse(cli);
    double start = carom_time_seconds();
    carom_status status = meshes_read(cli, paths[0], options->from, &mesh);
    if (status == CAROM_OK) status = parts_select(cli, paths[0], options->part, &mesh);
    if (status == CAROM_OK && options->weld) status = meshes_weld(cli, &mesh);
    if (status == CAROM_OK && (options->triangulate || options->fan))
        status = meshes_triangulate(cli, options->fan, &mesh);
    double prepared = carom_time_seconds();
    if (status == CAROM_OK) status = meshes_save(cli, &mesh, format, options->float32, paths[1]);
    double written = carom_time_seconds();
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK)
        print_result(cli, paths[1], &view, prepared - start, written - prepared);
    carom_mesh_destroy(mesh);
    return status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
}

const cli_command cli_convert = {
    .order = 30,
    .name = "convert",
    .arguments = "IN OUT",
    .summary = "one mesh format into another",
    .details =
        "The format follows from the name of OUT: .obj, .ply, .stl, .off, each also .gz, or\n"
        ".glb, and .html and .png to look at.\n"
        "STL holds triangles and float32: polygons are split and positions rounded for it.\n"
        "- is the standard input or output; the output then needs --format.",
    .options = convert_options,
    .option_count = sizeof(convert_options) / sizeof(convert_options[0]),
    .options_size = sizeof(options),
    .fewest = 2,
    .most = 2,
    .run = run,
    .inputs = 1,
    .outputs = 1,
    .endings = meshes_endings,
};
