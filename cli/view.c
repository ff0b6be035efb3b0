/* SPDX-License-Identifier: MIT */
/* carom view: meshes, packings and results as a page, GLB or picture. */
#include <math.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/input.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/platform.h"

typedef struct options {
    const char *output, *format, *up;
    int from;
} options;

ENDINGS(view_formats, DISPLAY_ENDINGS);
ENDINGS(sphere_files, "csv", "xyzr", "sph");
ENDINGS(result_files, "glb");

static const arg_option view_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE", "where it goes (needed)",
     view_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--up", 0, ARG_TEXT, offsetof(options, up), "AXIS",
     "of the files that points up: x, y or z (by the format of the first)", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
};

typedef struct totals {
    uint64_t faces, spheres;
} totals;

static carom_status add_packing(display *d, const char *path, totals *t) {
    carom_packing *packing = NULL;
    carom_packing_info info;
    carom_status status =
        carom_packing_load(d->cli->context, path, CAROM_PACKING_FORMAT_GUESS, &packing);
    if (status == CAROM_OK) status = carom_packing_get_info(packing, &info);
    if (status == CAROM_OK) status = display_add_packing(d, packing, path);
    if (status == CAROM_OK) t->spheres += info.spheres;
    carom_packing_destroy(packing);
    return status;
}

/* Whether a file without faces may be a packing. */
static bool holds_spheres(carom_mesh_format format) {
    return format == CAROM_MESH_FORMAT_PLY || format == CAROM_MESH_FORMAT_PLY_BIG ||
           format == CAROM_MESH_FORMAT_PLY_ASCII;
}

static carom_status add_file(display *d, const options *options, const char *path, totals *t) {
    cli *cli = d->cli;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    display_mesh shown = {0};
    if (options->from == CAROM_MESH_FORMAT_GUESS &&
        endings_format(path, NULL, sphere_files) != NULL && !output_is_standard(path))
        return add_packing(d, path, t);
    carom_status status = meshes_read(cli, path, options->from, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    bool is_result = endings_format(path, NULL, result_files) != NULL;
    carom_mesh_origin origin = {0};
    if (status == CAROM_OK) status = carom_mesh_get_origin(mesh, &origin);
    if (status == CAROM_OK && view.face_count == 0 && holds_spheres(origin.format) &&
        !output_is_standard(path) && !is_result) {
        carom_mesh_destroy(mesh); /* perhaps spheres */
        return add_packing(d, path, t);
    }
    if (status == CAROM_OK && view.face_count == 0) {
        snprintf(cli->message, sizeof(cli->message), "%.300s: has no face to show", path);
        status = CAROM_BAD_INPUT;
    }
    if (status == CAROM_OK) status = meshes_weld_parts(cli, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = display_mesh_open(cli, &view, false, NULL, &shown);
    if (status == CAROM_OK) {
        display_add_mesh(d, &shown, path);
        t->faces += view.face_count;
        if (d->metres <= 0.0) d->metres = cli->metres;
    }
    display_mesh_close(&shown);
    carom_mesh_destroy(mesh);
    return status;
}

/* A GLB file goes into a page as it is, with all that a result has beside its triangles. */
static carom_status keep_result(display *d, const char *path) {
    char reason[256];
    if (endings_format(path, NULL, result_files) == NULL || output_is_standard(path))
        return CAROM_OK;
    carom_status status =
        input_all(path, d->cli->limit_input, &d->glb, &d->glb_size, reason, sizeof(reason));
    if (status != CAROM_OK)
        snprintf(d->cli->message, sizeof(d->cli->message), "%.200s: %s", path, reason);
    return status;
}

static void print(const cli *cli, const options *options, const display *d, const totals *t) {
    if (cli->json) {
        json j = cli_begin_json(cli);
        json_count(&j, "parts", d->numbers[DISPLAY_PART]);
        json_count(&j, "faces", t->faces);
        json_count(&j, "spheres", t->spheres);
        json_text(&j, "output", options->output);
        cli_end_json(&j);
        return;
    }
    fprintf(output_words(options->output), "%s: %llu part%s of %llu faces, %llu spheres\n",
            options->output, (unsigned long long)d->numbers[DISPLAY_PART],
            d->numbers[DISPLAY_PART] == 1 ? "" : "s", (unsigned long long)t->faces,
            (unsigned long long)t->spheres);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    const char *misuse =
        options->output == NULL ? "-o FILE is missing" : output_misuse(cli, options->output);
    if (misuse == NULL && options->up != NULL &&
        (strlen(options->up) != 1 || *options->up < 'x' || *options->up > 'z'))
        misuse = "--up takes x, y or z";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    char title[400];
    display d;
    totals t = {0};
    carom_status status = CAROM_OK;
    snprintf(title, sizeof(title), "%.300s%s", carom_os_file_name(paths[0]),
             count > 1 ? " and others" : "");
    display_begin(&d, cli, title);
    for (size_t i = 0; i < count && status == CAROM_OK; ++i)
        status = add_file(&d, options, paths[i], &t);
    if (status == CAROM_OK && count == 1) status = keep_result(&d, paths[0]);
    if (cli->up != 0) d.up = cli->up;
    if (options->up != NULL) d.up = *options->up;
    if (t.faces != 0) display_tell_count(&d, &d.answers, "faces", t.faces);
    if (t.spheres != 0) display_tell_count(&d, &d.answers, "spheres", t.spheres);
    bool written = status == CAROM_OK &&
                   display_save(&d, options->output,
                                endings_format(options->output, options->format, view_formats));
    bar_clear(&cli->bar);
    if (written) print(cli, options, &d, &t);
    display_free(&d);
    return status != CAROM_OK ? cli_fail(cli, status) : written ? CLI_OK : cli_code(CAROM_IO);
}

#define MOST_FILES 1000

const cli_command cli_view = {
    .order = 12,
    .name = "view",
    .arguments = "FILE... -o PAGE.html",
    .summary = "a page to look at: meshes, packings, results",
    .details =
        "Writes one page that needs no network and opens from disk (.html), a GLB file for\n"
        "other programs (.glb) or a picture (.png). Files are meshes, or spheres as carom\n"
        "pack writes them; a page of one GLB file, such as a result of Carom, has all of it.\n"
        "Parts are objects, groups, solids or nodes of a file.\n"
        "With --open the browser opens the page.",
    .options = view_options,
    .option_count = sizeof(view_options) / sizeof(view_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = MOST_FILES,
    .run = run,
    .inputs = MOST_FILES,
};
