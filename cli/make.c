/* SPDX-License-Identifier: MIT */
/* carom make: writes procedural shapes to files. */
#include <string.h>

#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"

typedef struct options {
    const char *output;
    uint64_t detail, parts, seed, p, q;
    double size, ratio, phase;
    bool polygons, float32;
    int format;
} options;

static const arg_option make_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "where it goes (needed); - is the standard output", meshes_endings},
    {"--size", 0, ARG_SIZE, offsetof(options, size), "X", "radius or half edge (1)", NULL},
    {"--detail", 0, ARG_COUNT, offsetof(options, detail), "N", "how fine; see above", NULL},
    {"--parts", 0, ARG_COUNT, offsetof(options, parts), "N", "rings of a chain, shards", NULL},
    {"--ratio", 0, ARG_SIZE, offsetof(options, ratio), "X", "proportion; see above", NULL},
    {"--around", 0, ARG_COUNT, offsetof(options, p), "N", "turns of a knot around its axis (2)",
     NULL},
    {"--through", 0, ARG_COUNT, offsetof(options, q), "N", "turns through its hole (3)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of cloth (12345) and shards (0)", NULL},
    {"--phase", 0, ARG_NUMBER, offsetof(options, phase), "X",
     "advance the waves of a cloth by so many radians (0)", NULL},
    {"--polygons", 0, ARG_FLAG, offsetof(options, polygons), NULL,
     "keep quads and polygons where the shape has them", NULL},
    {"--float32", 0, ARG_FLAG, offsetof(options, float32), NULL, "round positions to float32",
     NULL},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME", MESHES_FORMAT_HELP,
     meshes_format_choice},
};

/* Options that are not given stay marked as such, as their defaults depend on the shape. */
static const options make_defaults = {.detail = ARG_NO_COUNT,
                                      .parts = ARG_NO_COUNT,
                                      .seed = ARG_NO_COUNT,
                                      .p = ARG_NO_COUNT,
                                      .q = ARG_NO_COUNT,
                                      .size = 1.0,
                                      .ratio = ARG_NO_NUMBER,
                                      .phase = ARG_NO_NUMBER};

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
    "All but cloth and grid are closed and face outward. A cloth is written to PLY row by row and\n"
    "never held: it may be larger than memory.";

static bool find_shape(const char *name, carom_shape *shape, char *message, size_t size) {
    if (carom_shape_from_name(name, shape)) return true;
    const char *names[CAROM_SHAPE_COUNT + 1] = {NULL};
    for (int i = 0; i < CAROM_SHAPE_COUNT; ++i) names[i] = carom_shape_name((carom_shape)i);
    const char *near = args_did_you_mean(name, names);
    snprintf(message, size, "no shape '%.60s'%s%s%s", name, near != NULL ? "; did you mean " : "",
             near != NULL ? near : "", near != NULL ? "?" : "");
    return false;
}

/* What was made, and when. */
typedef struct made {
    uint64_t vertices, faces;
    double prepare_s, write_s;
} made;

static void print_result(const cli *cli, const options *options, carom_shape shape,
                         const made *made) {
    unsigned long long vertices = made->vertices, faces = made->faces;
    if (!cli->json) {
        fprintf(output_words(options->output), "%s: a %s of %llu vertices and %llu faces\n",
                options->output, carom_shape_name(shape), vertices, faces);
        return;
    }
    json j = cli_begin_json(cli);
    json_text(&j, "file", options->output);
    json_text(&j, "shape", carom_shape_name(shape));
    json_count(&j, "vertices", vertices);
    json_count(&j, "faces", faces);
    json_number(&j, "prepare_s", made->prepare_s);
    json_number(&j, "write_s", made->write_s);
    cli_end_json(&j);
}

/* An option that the shape does not use is a mistake, and so is a 0 that the library would take for
 * the default. Returns true, with a message, when there is such an option. */
static bool is_misused(const options *o, carom_shape shape, char *message, size_t size) {
    bool tube = shape == CAROM_SHAPE_TORUS || shape == CAROM_SHAPE_CHAIN;
    bool round = shape == CAROM_SHAPE_CYLINDER || shape == CAROM_SHAPE_CONE;
    bool knot = shape == CAROM_SHAPE_KNOT, shards = shape == CAROM_SHAPE_SHARDS;
    const struct {
        const char *name;
        bool used;
        uint64_t value, least;
    } rows[] = {
        {"--detail", !shards, o->detail, 1},
        {"--parts", shards || shape == CAROM_SHAPE_CHAIN, o->parts, 1},
        {"--around", knot, o->p, 1},
        {"--through", knot, o->q, 1},
        {"--seed", shards || shape == CAROM_SHAPE_CLOTH, o->seed, shards ? 0 : 1},
        {"--ratio", tube || round || knot || shards, isnan(o->ratio) ? ARG_NO_COUNT : 1, 1},
        {"--phase", shape == CAROM_SHAPE_CLOTH, isnan(o->phase) ? ARG_NO_COUNT : 1, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (rows[i].value == ARG_NO_COUNT) continue;
        if (!rows[i].used)
            snprintf(message, size, "a %s has no %s", carom_shape_name(shape), rows[i].name);
        else if (rows[i].value < rows[i].least)
            snprintf(message, size, "%s of a %s takes 1 or more", rows[i].name,
                     carom_shape_name(shape));
        else
            continue;
        return true;
    }
    if ((o->p != ARG_NO_COUNT && o->p > UINT32_MAX) || (o->q != ARG_NO_COUNT && o->q > UINT32_MAX))
        snprintf(message, size, "--around or --through is too large");
    else
        return false;
    return true;
}

/* 0, which the library takes for the default, where the option was not given. */
static uint64_t given(uint64_t count) {
    return count == ARG_NO_COUNT ? 0 : count;
}

/* A cloth is written to PLY as it is made. */
static bool is_stream(const carom_shape_def *def, int format, const char *path) {
    return def->shape == CAROM_SHAPE_CLOTH && !output_is_standard(path) &&
           (format == CAROM_MESH_FORMAT_PLY || format == CAROM_MESH_FORMAT_PLY_BIG);
}

static carom_status make_stream(cli *cli, const carom_shape_def *def, int format, const char *path,
                                made *made) {
    uint64_t n = def->detail != 0 ? def->detail : 100;
    double start = carom_time_seconds();
    made->vertices = (n + 1) * (n + 1);
    made->faces = (def->polygons ? 1 : 2) * n * n;
    interrupt_hold(); /* the library removes its draft itself */
    carom_status status = carom_shape_save(cli->context, def, (carom_mesh_format)format, path);
    interrupt_release();
    made->write_s = carom_time_seconds() - start;
    return status;
}

static carom_status make_whole(cli *cli, const carom_shape_def *def, int format, const options *o,
                               made *made) {
    carom_mesh *mesh;
    carom_mesh_view view;
    double start = carom_time_seconds();
    carom_status status = carom_shape_make(cli->context, def, &mesh);
    double between = carom_time_seconds();
    if (status == CAROM_OK) status = meshes_save(cli, &mesh, format, o->float32, o->output);
    made->prepare_s = between - start;
    made->write_s = carom_time_seconds() - between;
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) {
        made->vertices = view.vertex_count;
        made->faces = view.face_count;
    }
    carom_mesh_destroy(mesh);
    return status;
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count;
    const options *o = values;
    carom_shape_def def = {.detail = given(o->detail),
                           .parts = given(o->parts),
                           .size = o->size,
                           .ratio = isnan(o->ratio) ? 0.0 : o->ratio,
                           .p = (uint32_t)given(o->p),
                           .q = (uint32_t)given(o->q),
                           .seed = given(o->seed),
                           .polygons = o->polygons,
                           .phase = isnan(o->phase) ? 0.0 : o->phase};
    char message[160];
    if (!find_shape(arguments[0], &def.shape, message, sizeof(message)))
        return cli_misuse(cli, message);
    if (o->output == NULL) return cli_misuse(cli, "-o FILE is missing");
    const char *misuse = output_misuse(cli, o->output);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (is_misused(o, def.shape, message, sizeof(message))) return cli_misuse(cli, message);
    int format = meshes_format(o->output, o->format);
    if (!meshes_can_write(format)) return meshes_refuse(cli);
    if (o->float32 || meshes_is_plain(format)) def.scalar = CAROM_SCALAR_FLOAT32;
    made made = {0};
    carom_status status = is_stream(&def, format, o->output)
                              ? make_stream(cli, &def, format, o->output, &made)
                              : make_whole(cli, &def, format, o, &made);
    if (status == CAROM_OK) print_result(cli, o, def.shape, &made);
    return status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
}

ARG_CHOICES(carom_shape, CAROM_SHAPE_COUNT);

const cli_command cli_make = {
    .order = 20,
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
    .defaults = &make_defaults,
    .words = carom_shape_choice,
};
