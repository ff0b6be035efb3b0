/* SPDX-License-Identifier: MIT */
/* carom make: procedural shapes into files. */
#include <string.h>

#include "cli/meshes.h"

typedef struct options {
    const char *output;
    uint64_t detail, parts, seed, p, q;
    double size, ratio;
    bool polygons, float32;
    int format;
} options;

static const arg_option make_options[] = {
    {"--output", 'o', ARG_TEXT, offsetof(options, output), "FILE", "where it goes (needed)", NULL},
    {"--size", 0, ARG_SIZE, offsetof(options, size), "X", "radius or half edge (1)", NULL},
    {"--detail", 0, ARG_COUNT, offsetof(options, detail), "N", "how fine; see above", NULL},
    {"--parts", 0, ARG_COUNT, offsetof(options, parts), "N", "rings of a chain, shards", NULL},
    {"--ratio", 0, ARG_SIZE, offsetof(options, ratio), "X", "proportion; see above", NULL},
    {"--around", 0, ARG_COUNT, offsetof(options, p), "N", "turns of a knot around its axis (2)",
     NULL},
    {"--through", 0, ARG_COUNT, offsetof(options, q), "N", "turns through its hole (3)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of cloth and shards", NULL},
    {"--polygons", 0, ARG_FLAG, offsetof(options, polygons), NULL,
     "keep quads and polygons where the shape has them", NULL},
    {"--float32", 0, ARG_FLAG, offsetof(options, float32), NULL, "round positions to float32",
     NULL},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME",
     "obj, ply, ply-big, ply-ascii, stl, stl-ascii or off (by the file's name)",
     meshes_format_names},
};

static const char details[] =
    "shapes, with what --detail and --ratio mean (and what they are when left out):\n"
    "  sphere    a subdivided icosahedron; detail: 20 4^(N-1) triangles (4)\n"
    "  globe     a sphere of meridians; detail: how many (32)\n"
    "  torus     detail: steps around (48); ratio: tube to ring (0.4)\n"
    "  box       detail: cells along an edge (1)\n"
    "  cylinder  detail: steps around (32); ratio: height to width (1)\n"
    "  cone      the same, with a tip\n"
    "  knot      a tube around a torus knot; detail: steps along (256); ratio: its width (0.12)\n"
    "  chazelle  a block with wedges cut in from both sides; detail: wedges a side (8)\n"
    "  cloth     a crumpled sheet that crosses itself; detail: cells a side (100)\n"
    "  chain     --parts tori in a row, linked (8); detail and ratio as torus (32, 0.2)\n"
    "  shards    a cube broken into --parts convex pieces (32); ratio: how far apart (0.02)\n"
    "  grid      a flat sheet; detail: cells a side (10)\n"
    "All but cloth and grid are closed and face outward.";

static bool find_shape(const char *name, carom_shape *shape, char *sentence, size_t size) {
    const char *names[CAROM_SHAPE_COUNT + 1] = {NULL};
    for (int i = 0; i < CAROM_SHAPE_COUNT; ++i) {
        names[i] = carom_shape_name((carom_shape)i);
        if (strcmp(names[i], name) != 0) continue;
        *shape = (carom_shape)i;
        return true;
    }
    const char *near = args_did_you_mean(name, names);
    snprintf(sentence, size, "no shape '%.60s'%s%s%s", name, near != NULL ? "; did you mean " : "",
             near != NULL ? near : "", near != NULL ? "?" : "");
    return false;
}

static void print_result(const cli *cli, const options *options, carom_shape shape,
                         const carom_mesh_view *view) {
    unsigned long long vertices = view->vertex_count, faces = view->face_count;
    if (!cli->json) {
        printf("%s: a %s of %llu vertices and %llu faces\n", options->output,
               carom_shape_name(shape), vertices, faces);
        return;
    }
    json j = {stdout, false};
    json_begin_object(&j, NULL);
    json_text(&j, "file", options->output);
    json_text(&j, "shape", carom_shape_name(shape));
    json_count(&j, "vertices", vertices);
    json_count(&j, "faces", faces);
    json_end_object(&j);
    putchar('\n');
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count;
    const options *options = values;
    carom_shape_def def = {.detail = options->detail,
                           .parts = options->parts,
                           .size = options->size,
                           .ratio = options->ratio,
                           .p = (uint32_t)options->p,
                           .q = (uint32_t)options->q,
                           .seed = options->seed,
                           .polygons = options->polygons};
    char sentence[160];
    if (!find_shape(arguments[0], &def.shape, sentence, sizeof(sentence)))
        return cli_misuse(cli, &cli_make, sentence);
    if (options->output == NULL) return cli_misuse(cli, &cli_make, "-o FILE is missing");
    if (options->p > UINT32_MAX || options->q > UINT32_MAX)
        return cli_misuse(cli, &cli_make, "--around or --through is too large");
    carom_mesh_format format = meshes_format(options->output, options->format);
    if (!meshes_can_write(format)) return meshes_refuse(cli, options->output);
    if (options->float32 || meshes_is_plain(format)) def.scalar = CAROM_FLOAT32;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_status status = carom_shape_make(cli->context, &def, &mesh);
    if (status == CAROM_OK)
        status = meshes_save(cli, &mesh, format, options->float32, options->output);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) print_result(cli, options, def.shape, &view);
    carom_mesh_destroy(mesh);
    return status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
}

const cli_command cli_make = {
    .name = "make",
    .arguments = "SHAPE -o FILE",
    .summary = "a mesh by formula: sphere, torus, knot, cloth, shards ...",
    .details = details,
    .options = make_options,
    .option_count = sizeof(make_options) / sizeof(make_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .run = run,
};
