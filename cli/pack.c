/* SPDX-License-Identifier: MIT */
/* carom pack: fills a solid with disjoint spheres, or covers it from outside (pack_outer.c). */
#include <stddef.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/pack_error.h"
#include "cli/pack_formats.h"
#include "cli/pack_outer.h"
#include "cli/packages.h"

typedef struct options {
    const char *out, *cells;
    uint64_t count, voxels, seed;
    double fill, radius, epsilon, error, distance, margin;
    int method, format, from;
    bool fast, allow_open, skip_shares, outer, whole, visual, check;
    arg_list packages;
} options;

static const char *method_choice(int index) {
    return index < CAROM_PACKING_METHOD_COUNT
               ? carom_packing_method_name((carom_packing_method)index)
               : NULL;
}

ENDINGS(cells_endings, "csv");

static const arg_option pack_options[] = {
    {"--count", 'n', ARG_SOME, offsetof(options, count), "N", "stop at N spheres (1,000)", NULL},
    {"--fill", 0, ARG_SIZE, offsetof(options, fill), "F", "stop when a share F, 0 to 1, is filled",
     NULL},
    {"--radius", 0, ARG_SIZE, offsetof(options, radius), "R", "no sphere smaller than R", NULL},
    {"--error", 0, ARG_SIZE, offsetof(options, error), "E",
     "double the count until overlaps are off by E on average, such as 0.005", NULL},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "octree, greedy, prototype or protosphere (octree)", method_choice},
    {"--fast", 0, ARG_FLAG, offsetof(options, fast), NULL,
     "octree: faster, without the certificate", NULL},
    {"--epsilon", 0, ARG_SIZE, offsetof(options, epsilon), "E",
     "octree: no empty ball is larger than 1 + E times the last (0.05)", NULL},
    {"--voxels", 0, ARG_SOME, offsetof(options, voxels), "N",
     "greedy: voxels along the longest side (128); without --count, until all are used", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N",
     "prototype, protosphere: of the random points (0)", NULL},
    {"--allow-open", 0, ARG_FLAG, offsetof(options, allow_open), NULL,
     "pack a mesh with holes, by generalised winding numbers", NULL},
    {"--no-shares", 0, ARG_FLAG, offsetof(options, skip_shares), NULL,
     "leave out secondary radii, covers and voids", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, out), "FILE", "write the spheres, or show them",
     pack_endings},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME",
     "of that file: ply, csv, xyzr or sph; --outer: ply, csv, xyzr, curobo, xrdf, urdf, foam, "
     "morphit, liggghts, yade or dem; html, glb or png (by its name)",
     pack_format_choice},
    {"--cells", 0, ARG_OUTPUT, offsetof(options, cells), "FILE",
     "write the cells of the shares: x,y,z,edge,sphere", cells_endings},
    {"--outer", 0, ARG_FLAG, offsetof(options, outer), NULL,
     "cover the solid instead: each part of a mesh, or each link of a URDF file", NULL},
    {"--distance", 0, ARG_SIZE, offsetof(options, distance), "D",
     "outer: as few spheres as reach out no farther than D", NULL},
    {"--margin", 0, ARG_NUMBER, offsetof(options, margin), "M", "outer: is added to all radii (0)",
     NULL},
    {"--whole", 0, ARG_FLAG, offsetof(options, whole), NULL,
     "outer: one cover for all parts of a mesh", NULL},
    {"--visual", 0, ARG_FLAG, offsetof(options, visual), NULL,
     "outer: of a URDF file, the visual elements", NULL},
    PACKAGES_OPTION(options, packages),
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL,
     "exit with 1 when a goal was not reached", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
};

static const char details[] =
    "Fills a closed mesh with spheres that do not overlap, largest first. Each has its radius,\n"
    "rounded down so that the ball is inside; the radius of a ball with the volume of its share\n"
    "of space; the radius of a ball that covers its share; and the nearest face. --device cuda\n"
    "finds the same spheres, by any method but greedy; it cannot do --error, --allow-open and\n"
    "--outer.\n"
    "\n"
    "With --outer, spheres cover each part, proved by cells, and reach out of it as little as\n"
    "possible: 64 per part, or as --count or --distance say.\n"
    "\n"
    "The output says what the goals were, what was reached, and why it stopped.";

/* Why the packing, not made for an error, has no more spheres. */
static pack_stop stop_of(const options *options, const carom_packing_info *info) {
    if (!info->complete) return PACK_STOP_SPACE;
    if (options->fill > 0.0 && info->fill >= options->fill) return PACK_STOP_FILL;
    if (options->fill == 0.0 && options->radius == 0.0) return PACK_STOP_COUNT;
    if (options->count != 0 && info->spheres >= options->count) return PACK_STOP_COUNT;
    /* by the volume as it was known then: shares may have measured it anew */
    return options->radius == 0.0 ? PACK_STOP_FILL : PACK_STOP_RADIUS;
}

/* --count is also a limit: it counts as reached where another goal was, before. */
static void judge(const options *options, const carom_packing_info *info, double error,
                  pack_goals *goals) {
    bool filled = goals->stop == PACK_STOP_FILL || info->fill >= options->fill;
    bool early = goals->stop == PACK_STOP_FILL || goals->stop == PACK_STOP_RADIUS ||
                 goals->stop == PACK_STOP_ERROR;
    if (options->count != 0 && options->error == 0.0)
        pack_goals_add(goals, "--count", (double)options->count, (double)info->spheres,
                       info->spheres >= options->count || early);
    if (options->fill > 0.0) pack_goals_add(goals, "--fill", options->fill, info->fill, filled);
    if (options->radius > 0.0)
        pack_goals_add(goals, "--radius", options->radius, info->least_radius,
                       goals->stop != PACK_STOP_SPACE && goals->stop != PACK_STOP_POSES);
    if (options->error > 0.0)
        pack_goals_add(goals, "--error", options->error, error, error <= options->error);
}

static void print_json(const cli *cli, const options *options, const carom_packing_info *info,
                       const pack_goals *goals, double seconds, double error) {
    json j = cli_begin_json(cli);
    json_count(&j, "spheres", info->spheres);
    json_number(&j, "fill", info->fill);
    json_text(&j, "method", carom_packing_method_name(info->method));
    json_number(&j, "seconds", seconds);
    json_bool(&j, "complete", info->complete);
    json_number(&j, "volume", info->volume);
    json_number(&j, "least_radius", info->least_radius);
    json_number(&j, "empty_radius", info->empty_radius);
    json_count(&j, "cells", info->cells);
    if (options->error > 0.0) json_number(&j, "error", error);
    pack_goals_print_json(goals, &j);
    cli_end_json(&j);
}

static void print_words(FILE *out, const carom_packing_info *info, const pack_goals *goals,
                        double seconds) {
    fprintf(out, "%llu spheres in %.2f s, by method %s\n", (unsigned long long)info->spheres,
            seconds, carom_packing_method_name(info->method));
    if (info->volume > 0.0)
        fprintf(out, "  fill      %.4f of a volume of %.9g\n", info->fill, info->volume);
    fprintf(out, "  smallest  radius %.6g\n", info->least_radius);
    if (info->empty_radius < 1e300)
        fprintf(out, "  empty     no ball larger than %.6g fits between them\n",
                info->empty_radius);
    if (info->inside_out) fprintf(out, "  note      the mesh is inside out; it was reversed\n");
    pack_goals_print(goals, out);
}

static bool write_spheres(cli *cli, const char *path, int format, const carom_packing *packing) {
    carom_packing_format as = (carom_packing_format)format;
    carom_bytes bytes = {0};
    carom_status status;
    if (!output_is_standard(path)) {
        interrupt_hold(); /* the library removes its draft itself */
        status = carom_packing_save(cli->context, packing, as, path);
        interrupt_release();
    } else {
        status = carom_packing_save_memory(cli->context, packing, as, &bytes);
        if (status == CAROM_OK && fwrite(bytes.data, 1, bytes.count, stdout) != bytes.count)
            status = CAROM_IO;
        carom_bytes_free(&bytes);
    }
    bar_clear(&cli->bar);
    if (status != CAROM_OK) (void)cli_fail(cli, status);
    return status == CAROM_OK;
}

/* Shows the spheres in the mesh. */
static bool show(cli *cli, const char *path, int format, const carom_mesh_view *view,
                 const carom_packing *packing, const carom_packing_info *info) {
    char title[400];
    display d;
    display_mesh mesh = {0};
    snprintf(title, sizeof(title), "%.300s: %llu spheres", cli->inputs[0],
             (unsigned long long)info->spheres);
    display_begin(&d, cli, title);
    display_tell_count(&d, &d.answers, "spheres", info->spheres);
    display_tell(&d, &d.answers, "share of the volume filled", info->fill, NULL);
    display_tell(&d, &d.answers, "smallest radius", info->least_radius, display_unit(&d));
    carom_status status = display_mesh_open(cli, view, false, NULL, &mesh);
    if (status == CAROM_OK) {
        display_add_mesh(&d, &mesh, cli->inputs[0]);
        for (uint64_t i = 0; i < d.item_count; ++i) d.items[i]->ghost = true;
        status = display_add_packing(&d, packing, "spheres");
    }
    bool good = status == CAROM_OK && display_save(&d, path, pack_format_choice(format));
    if (status != CAROM_OK) (void)cli_fail(cli, status);
    display_mesh_close(&mesh);
    display_free(&d);
    return good;
}

static bool write_cells(cli *cli, const char *path, const carom_packing *packing) {
    carom_packing_cells cells = {0};
    output o = {0};
    carom_status status = carom_packing_list_cells(cli->context, packing, &cells);
    if (status != CAROM_OK) {
        (void)cli_fail(cli, status);
        return false;
    }
    bool good = output_open(cli, path, &o);
    if (good) {
        fprintf(o.file, "x,y,z,edge,sphere\n");
        for (uint64_t i = 0; i < cells.count; ++i) {
            const carom_packing_cell *c = &cells.data[i];
            fprintf(o.file, "%.17g,%.17g,%.17g,%.17g,%u\n", c->low.x, c->low.y, c->low.z, c->edge,
                    c->sphere);
        }
        good = output_close(&o, true);
    }
    carom_packing_cells_free(&cells);
    return good;
}

static int run_outer(cli *cli, const options *options, const char *path) {
    if (options->fill != 0.0 || options->radius != 0.0 || options->error != 0.0 ||
        options->voxels != 0 || options->skip_shares || options->fast)
        return cli_misuse(cli, "--outer takes --count, --distance and --margin only");
    const pack_outer_options outer = {.out = options->out,
                                      .cells = options->cells,
                                      .count = options->count,
                                      .distance = options->distance,
                                      .margin = options->margin,
                                      .format = options->format,
                                      .from = options->from,
                                      .allow_open = options->allow_open,
                                      .whole = options->whole,
                                      .visual = options->visual,
                                      .packages = &options->packages,
                                      .check = options->check};
    return pack_outer(cli, &outer, path);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    const char *const files[2] = {options->out, options->cells};
    for (int i = 0; i < 2; ++i)
        if (files[i] != NULL && output_misuse(cli, files[i]) != NULL)
            return cli_misuse(cli, output_misuse(cli, files[i]));
    char text[160];
    if (packages_misuse(&options->packages, text, sizeof(text)) != NULL)
        return cli_misuse(cli, text);
    if (options->outer) return run_outer(cli, options, paths[0]);
    if (options->distance != 0.0 || options->margin != 0.0 || options->whole || options->visual ||
        options->packages.count != 0)
        return cli_misuse(cli,
                          "--distance, --margin, --whole, --visual and --package need --outer");
    int format = options->out != NULL ? pack_format_of(options->out, options->format) : 0;
    if (format >= CAROM_PACKING_FORMAT_COUNT && !pack_format_is_shown(format))
        return cli_misuse(cli, "this format is for covers: it needs --outer");
    if (options->error > 0.0 && (options->skip_shares || options->allow_open))
        return cli_misuse(cli, "--error needs shares and a closed mesh");
    if (options->voxels > 512) return cli_misuse(cli, "--voxels takes up to 512");
    if (options->cells != NULL && options->skip_shares)
        return cli_misuse(cli, "--cells needs shares: leave out --no-shares");
    if (options->cells != NULL && options->out != NULL && output_is_standard(options->out) &&
        output_is_standard(options->cells))
        return cli_misuse(cli, "--output and --cells cannot both be the standard output");
    carom_mesh *mesh = NULL;
    carom_packing *packing = NULL;
    carom_packing_info info;
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view,
                             .method = (carom_packing_method)options->method,
                             .allow_open = options->allow_open,
                             .count = options->count,
                             .fill = options->fill,
                             .radius = options->radius,
                             .epsilon = options->epsilon,
                             .fast = options->fast,
                             .voxels = (uint32_t)options->voxels,
                             .seed = options->seed,
                             .skip_shares = options->skip_shares,
                             .keep_cells = options->cells != NULL};
    if (options->voxels != 0 && options->count == 0 && options->fill == 0.0 &&
        options->radius == 0.0)
        def.count = UINT64_MAX; /* as many as the voxels give */
    if (options->voxels != 0 && options->method == CAROM_PACKING_METHOD_OCTREE)
        def.method = CAROM_PACKING_METHOD_GREEDY;
    carom_status status = meshes_read(cli, paths[0], options->from, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    double start = carom_time_seconds(), error = 0.0;
    pack_goals goals = {0};
    if (status == CAROM_OK && options->error > 0.0)
        status = pack_to_error(cli->context, &def, options->error, options->seed, &packing, &error,
                               &goals.stop);
    else if (status == CAROM_OK)
        status = carom_packing_create(cli->context, &def, &packing);
    double seconds = carom_time_seconds() - start;
    if (status == CAROM_OK) status = carom_packing_get_info(packing, &info);
    bar_clear(&cli->bar);
    if (status == CAROM_OK && options->error == 0.0) goals.stop = stop_of(options, &info);
    if (status == CAROM_OK) judge(options, &info, error, &goals);
    int code = status != CAROM_OK ? cli_fail(cli, cli_of_file(cli, paths[0], status)) : CLI_OK;
    if (code == CLI_OK && options->out != NULL &&
        !(pack_format_is_shown(format) ? show(cli, options->out, format, &view, packing, &info)
                                       : write_spheres(cli, options->out, format, packing)))
        code = cli_code(CAROM_NO_MEMORY);
    if (code == CLI_OK && options->cells != NULL && !write_cells(cli, options->cells, packing))
        code = CLI_MACHINE;
    if (code == CLI_OK && cli->json)
        print_json(cli, options, &info, &goals, seconds, error);
    else if (code == CLI_OK)
        print_words(output_words(options->out), &info, &goals, seconds);
    if (code == CLI_OK && options->check && !pack_goals_met(&goals)) code = CLI_YES;
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return code;
}

const cli_command cli_pack = {
    .order = 68,
    .name = "pack",
    .arguments = "MESH [-n N | --fill F | --radius R | --voxels N | --error E] [--outer] [-o FILE]",
    .summary = "fills a solid with disjoint spheres, or covers it from outside",
    .details = details,
    .options = pack_options,
    .option_count = sizeof(pack_options) / sizeof(pack_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .run = run,
    .inputs = 1,
    .on_cuda = true, /* the octree method; the library refuses others */
};
