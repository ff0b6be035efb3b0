/* SPDX-License-Identifier: MIT */
/* carom hulls: the convex hulls of two meshes' vertices: how far apart, or how deep in each
 * other. */
#include <stddef.h>
#include <string.h>

#include "cli/display.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/pose.h"
#include "cli/repeat.h"

typedef struct options {
    const char *pose, *out;
    int from, format;
    double margin;
    bool check;
    uint64_t repeat;
} options;

static const options hulls_defaults = {.repeat = 1};

static const arg_option hulls_options[] = {
    {"--pose", 0, ARG_TEXT, offsetof(options, pose), POSE_VALUE,
     "move B first; 12 numbers are a 3x4 matrix", NULL},
    {"--margin", 0, ARG_NUMBER, offsetof(options, margin), "LENGTH",
     "enlarge both hulls by it in all directions (0)", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, out), "FILE",
     "write the hull of A as a mesh, or show both hulls", meshes_endings},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME", MESHES_FORMAT_HELP,
     meshes_format_choice},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL,
     "exit with 1 when the hulls overlap or touch", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
};

static const char details[] =
    "Builds the convex hulls of the vertices of two meshes, exactly, and says whether they are\n"
    "apart (and how far), touch, or overlap (and how deep: how far B must move to get out).\n"
    "The witnesses are the points of the hulls that are that far from each other. With one\n"
    "mesh, describes its hull. -o x.html, x.glb or x.png shows the hulls and the witnesses.";

typedef struct answer {
    carom_hull *hulls[2];
    bool float32[2]; /* the positions of the meshes: vertices of hulls are some of them */
    carom_hull_info info[2];
    carom_convex_result result;
    double prepare_s;
    repeat query;
} answer;

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(const cli *cli, const answer *a, size_t count) {
    json j = cli_begin_json(cli);
    const carom_convex_result *r = &a->result;
    if (count == 2) {
        json_text(&j, "relation", carom_relation_name(r->relation));
        json_bool(&j, "colliding", r->relation != CAROM_RELATION_APART);
        json_number(&j, "distance", r->distance);
        json_number(&j, "depth", r->depth);
        json_vector(&j, "normal", r->normal);
        json_vector(&j, "witness_a", r->point_a);
        json_vector(&j, "witness_b", r->point_b);
        json_count(&j, "iterations", r->iterations);
        json_count(&j, "supports", r->supports);
        json_number(&j, "error", r->error);
    }
    json_begin_array(&j, "hulls");
    for (size_t i = 0; i < count; ++i) {
        json_begin_object(&j, NULL);
        json_count(&j, "vertices", a->info[i].vertices);
        json_count(&j, "edges", a->info[i].edges);
        json_count(&j, "faces", a->info[i].faces);
        json_count(&j, "dimension", a->info[i].dimension);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_number(&j, "prepare_s", a->prepare_s);
    if (count == 2) repeat_print_json(&a->query, &j);
    cli_end_json(&j);
}

static void print_words(FILE *out, const answer *a, size_t count, char **paths) {
    static const char *const forms[4] = {"a point", "a segment", "flat", "solid"};
    const carom_convex_result *r = &a->result;
    for (size_t i = 0; i < count; ++i)
        fprintf(out, "hull of %s: %llu vertices, %llu edges, %llu faces, %s\n", paths[i],
                (unsigned long long)a->info[i].vertices, (unsigned long long)a->info[i].edges,
                (unsigned long long)a->info[i].faces, forms[a->info[i].dimension]);
    if (count == 2) {
        bool apart = r->relation == CAROM_RELATION_APART;
        fprintf(out, "they are %s\n", carom_relation_name(r->relation));
        fprintf(out, "  %-9s %.15g, off by at most %.2g\n", apart ? "distance" : "depth",
                apart ? r->distance : r->depth, r->error);
        output_vector(out, "normal", r->normal);
        output_vector(out, "from", r->point_a);
        output_vector(out, "to", r->point_b);
    }
    fprintf(out, "prepared in %.2f ms", 1e3 * a->prepare_s);
    if (count == 2)
        fprintf(out, ", answered in %.2f us and %u iterations", 1e6 * repeat_median(&a->query),
                r->iterations);
    fputc('\n', out);
}

/* ---- Command --------------------------------------------------------------------------------- */

static carom_status load(cli *cli, const char *path, int from, const pose_arg *pose,
                         carom_hull **hull, bool *float32) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_hull_def def = {.mesh = &view};
    carom_status status = meshes_read(cli, path, from, &mesh);
    if (status == CAROM_OK && pose != NULL) status = pose_apply(cli, pose, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK)
        status = cli_of_file(cli, path, carom_hull_create(cli->context, &def, hull));
    *float32 = status == CAROM_OK && view.scalar == CAROM_SCALAR_FLOAT32;
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status run_query(cli *cli, const options *options, const carom_pose *pose, answer *a) {
    carom_convex shapes[2];
    carom_status status;
    for (int i = 0; i < 2; ++i)
        shapes[i] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL,
                                   .margin = options->margin,
                                   .borrowed_hull = a->hulls[i]};
    do {
        repeat_start(&a->query);
        status =
            carom_convex_depth(cli->context, &shapes[0], NULL, &shapes[1], pose, NULL, &a->result);
    } while (repeat_goes_on(&a->query, status));
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

/* How the hulls lie: the relation, the distance or depth, and where that is measured. */
static void tell(display *d, const answer *a) {
    const carom_convex_result *r = &a->result;
    const bool apart = r->relation == CAROM_RELATION_APART;
    const char *name = apart ? "distance" : "depth";
    char bound[48];
    snprintf(bound, sizeof(bound), "off by at most %.2g", r->error);
    display_tell_text(d, &d->answers, "relation", carom_relation_name(r->relation));
    display_tell(d, &d->answers, name, apart ? r->distance : r->depth, display_unit(d));
    display_bound(d, &d->answers, bound);
    display_item *points =
        display_add(d, DISPLAY_POINTS, apart ? "nearest points" : "deepest points");
    display_add_point(d, points, r->point_a);
    display_add_point(d, points, r->point_b);
    if (apart) {
        display_add_segment(d, display_add(d, DISPLAY_CURVE, name), r->point_a, r->point_b);
    } else {
        carom_vec3 way = {r->depth * r->normal.x, r->depth * r->normal.y, r->depth * r->normal.z};
        display_add_arrow(d, "way out of B", r->point_b, way, display_unit(d));
        for (uint64_t i = 0; i < 2 && i < d->item_count; ++i) d->items[i]->ghost = true;
    }
}

/* A page, GLB file or picture of the hulls. */
static carom_status show(cli *cli, const options *options, const answer *a, size_t count,
                         char **paths, const carom_pose *pose) {
    const char *format = meshes_shown_format(meshes_format(options->out, options->format));
    carom_mesh *meshes[2] = {NULL, NULL};
    carom_mesh_view views[2];
    display_mesh shown[2] = {{0}, {0}};
    char title[700];
    carom_status status = CAROM_OK;
    display d;
    if (count == 2)
        snprintf(title, sizeof(title), "Hulls of %.300s and %.300s: %s", paths[0], paths[1],
                 carom_relation_name(a->result.relation));
    else
        snprintf(title, sizeof(title), "Convex hull of %.300s", paths[0]);
    display_begin(&d, cli, title);
    for (size_t i = 0; i < count && status == CAROM_OK; ++i) {
        status = carom_hull_to_mesh(cli->context, a->hulls[i], &meshes[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(meshes[i], &views[i]);
        if (status == CAROM_OK)
            status = display_mesh_open(cli, &views[i], false, i == 1 ? pose : NULL, &shown[i]);
        if (status == CAROM_OK) display_add_mesh(&d, &shown[i], paths[i]);
    }
    if (status == CAROM_OK && count == 2) tell(&d, a);
    for (size_t i = 0; i < count; ++i)
        display_tell_count(&d, &d.answers, i == 0 ? "vertices of A" : "vertices of B",
                           a->info[i].vertices);
    if (status == CAROM_OK && !display_save(&d, options->out, format)) {
        snprintf(cli->message, sizeof(cli->message), "%.300s: cannot be written", options->out);
        status = CAROM_IO; /* which was reported */
    }
    for (size_t i = 0; i < count; ++i) {
        display_mesh_close(&shown[i]);
        carom_mesh_destroy(meshes[i]);
    }
    display_free(&d);
    return status;
}

static carom_status save(cli *cli, const options *options, const answer *a) {
    carom_mesh *mesh;
    carom_status status = carom_hull_to_mesh(cli->context, a->hulls[0], &mesh);
    if (status == CAROM_OK)
        status = meshes_save(cli, &mesh, meshes_format(options->out, options->format),
                             a->float32[0], options->out);
    carom_mesh_destroy(mesh);
    return status;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    pose_arg pose;
    answer a = {.query = {.wanted = options->repeat}};
    char message[512];
    if (!pose_read(options->pose, &pose, message, sizeof(message))) return cli_misuse(cli, message);
    if (repeat_misuse(options->repeat) != NULL)
        return cli_misuse(cli, repeat_misuse(options->repeat));
    if (options->out != NULL && output_misuse(cli, options->out) != NULL)
        return cli_misuse(cli, output_misuse(cli, options->out));
    if (options->out != NULL && !meshes_can_write(meshes_format(options->out, options->format)))
        return meshes_refuse(cli);
    if (options->margin < 0.0) return cli_misuse(cli, "--margin must not be negative");
    double start = carom_time_seconds();
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < count && status == CAROM_OK; ++i) {
        status =
            load(cli, paths[i], options->from, i == 1 ? &pose : NULL, &a.hulls[i], &a.float32[i]);
        if (status == CAROM_OK) status = carom_hull_get_info(a.hulls[i], &a.info[i]);
    }
    a.prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK && count == 2) status = run_query(cli, options, &pose.pose, &a);
    if (status == CAROM_OK && options->out != NULL) {
        bool shown = meshes_shown_format(meshes_format(options->out, options->format)) != NULL;
        status = shown ? show(cli, options, &a, count, paths, &pose.pose) : save(cli, options, &a);
    }
    bar_clear(&cli->bar);
    int code = CLI_OK;
    if (status != CAROM_OK) {
        code = cli_fail(cli, status);
    } else {
        if (options->check && count == 2 && a.result.relation != CAROM_RELATION_APART)
            code = CLI_YES;
        if (cli->json)
            print_json(cli, &a, count);
        else
            print_words(output_words(options->out), &a, count, paths);
    }
    repeat_free(&a.query);
    carom_hull_destroy(a.hulls[0]);
    carom_hull_destroy(a.hulls[1]);
    return code;
}

const cli_command cli_hulls = {
    .order = 62,
    .name = "hulls",
    .arguments = "A [B] [--pose NUMBERS] [--margin LENGTH] [-o FILE] [--check]",
    .summary = "how the convex hulls of two meshes lie: distance or depth",
    .details = details,
    .options = hulls_options,
    .option_count = sizeof(hulls_options) / sizeof(hulls_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 2,
    .run = run,
    .defaults = &hulls_defaults,
    .on_cuda = true,
    .inputs = 2,
};
