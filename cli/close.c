/* SPDX-License-Identifier: MIT */
/* carom close: fills the holes of a mesh without a new intersection. */
#include <stdlib.h>

#include "cli/defects.h"
#include "cli/endings.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/parts.h"
#include "cli/platform.h"
#include "cli/where.h"

#define SHOWN 20u /* loops that were left, in words */

typedef struct options {
    const char *output, *mark, *part;
    uint64_t max_edges;
    bool no_weld, check;
    int format, from;
} options;

ENDINGS(close_marks, "ply", DISPLAY_ENDINGS);

static const arg_option close_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write the mesh with its new faces there; - is the standard output, with --format",
     meshes_endings},
    {"--format", 0, ARG_CHOICE, offsetof(options, format), "NAME", MESHES_FORMAT_HELP,
     meshes_format_choice},
    {"--max-edges", 0, ARG_COUNT, offsetof(options, max_edges), "N",
     "leave holes with more edges (none)", NULL},
    {"--mark", 0, ARG_OUTPUT, offsetof(options, mark), "FILE",
     "write the mesh there, with its new faces and the holes that were left marked", close_marks},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL, "exit with 1 when a hole was left",
     NULL},
    {"--no-weld", 0, ARG_FLAG, offsetof(options, no_weld), NULL,
     "keep vertices apart that have equal coordinates", NULL},
    {"--part", 0, ARG_TEXT, offsetof(options, part), "NAME", PARTS_HELP, NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
};

typedef struct job {
    cli *cli;
    const options *options;
    const char *path;
    carom_mesh *read, *closed;
    carom_repair_result result;
    carom_mesh_report report; /* of the closed mesh */
    carom_repair_loops loops;
    carom_numbers vertices;
    double prepare_s, query_s;
    bool unwritten; /* which was reported */
} job;

/* ---- Work ------------------------------------------------------------------------------------ */

static carom_status close_holes(job *job) {
    cli *cli = job->cli;
    const options *options = job->options;
    carom_repair_def def = {.max_edges = options->max_edges};
    carom_mesh_view view;
    double start = carom_time_seconds();
    carom_status status = meshes_read(cli, job->path, options->from, &job->read);
    if (status == CAROM_OK) status = parts_select(cli, job->path, options->part, &job->read);
    if (status == CAROM_OK && !options->no_weld) status = meshes_weld(cli, &job->read);
    if (status == CAROM_OK) status = carom_mesh_get_view(job->read, &view);
    double prepared = carom_time_seconds();
    if (status == CAROM_OK)
        status = carom_repair_close(cli->context, &view, &def, &job->closed, &job->result,
                                    &job->loops, &job->vertices);
    job->prepare_s = prepared - start;
    job->query_s = carom_time_seconds() - prepared;
    if (status == CAROM_OK) status = carom_mesh_get_view(job->closed, &view);
    if (status == CAROM_OK) status = carom_mesh_inspect(cli->context, &view, &job->report);
    return status;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static void add_loop(display *d, const display_mesh *mesh, const job *job, uint64_t number,
                     display_list *list) {
    static const display_colour open_colour = {217, 48, 37, 255};
    const carom_repair_loop *loop = &job->loops.data[number];
    bool filled = loop->outcome == CAROM_REPAIR_OUTCOME_FILLED;
    char name[64], edges[24], length[32];
    const display_item *items[DISPLAY_MOST_LIT] = {NULL};
    snprintf(name, sizeof(name), "hole %llu", (unsigned long long)number);
    snprintf(edges, sizeof(edges), "%llu", (unsigned long long)loop->count - !loop->closed);
    snprintf(length, sizeof(length), "%.6g", loop->length);
    display_item *item = display_add(d, filled ? DISPLAY_PATCH : DISPLAY_EDGES, name);
    item->colour = filled ? (display_colour){24, 128, 56, 255} : open_colour;
    items[0] = item;
    for (uint32_t i = 0; i < loop->face_count; ++i)
        display_add_face(d, item, mesh, loop->first_face + i);
    const uint32_t *v = job->vertices.data + loop->first;
    for (uint64_t i = 0; i + !loop->closed < loop->count && !filled; ++i)
        display_add_segment(d, item, display_mesh_point(mesh, v[i]),
                            display_mesh_point(mesh, v[i + 1 < loop->count ? i + 1 : 0]));
    const char *const cells[] = {name, edges, length, carom_repair_outcome_name(loop->outcome)};
    carom_vec3 low = loop->bounds.low, high = loop->bounds.high;
    double radius = high.x - low.x > high.y - low.y ? high.x - low.x : high.y - low.y;
    display_add_row(d, list, cells, items, loop->centre,
                    radius > high.z - low.z ? radius : high.z - low.z);
}

static carom_status show(job *job, const carom_mesh_view *view, const char *format) {
    static const char *const columns[] = {"", "edges", "length", "outcome"};
    char title[600];
    display d;
    display_mesh mesh = {0};
    snprintf(title, sizeof(title), "%.400s: %llu of %llu holes filled",
             carom_os_file_name(job->path), (unsigned long long)job->result.filled,
             (unsigned long long)job->result.loops);
    display_begin(&d, job->cli, title);
    if (job->cli->up != 0) d.up = job->cli->up;
    d.metres = job->cli->metres;
    carom_status status = display_mesh_open(job->cli, view, false, NULL, &mesh);
    if (status == CAROM_OK) {
        display_add_mesh(&d, &mesh, job->path);
        display_tell_count(&d, &d.answers, "holes", job->result.loops);
        display_tell_count(&d, &d.answers, "filled", job->result.filled);
        display_tell_count(&d, &d.answers, "left", job->result.left);
        display_tell_count(&d, &d.answers, "new pairs of faces that meet", job->result.new_pairs);
        display_tell_text(&d, &d.answers, "closed", job->report.closed ? "yes" : "no");
        display_list *list = display_add_list(&d, "holes", columns, 4);
        for (uint64_t i = 0; i < job->loops.count; ++i) add_loop(&d, &mesh, job, i, list);
        job->unwritten = !display_save(&d, job->options->mark, format);
    }
    display_mesh_close(&mesh);
    display_free(&d);
    return status;
}

/* As PLY, with the new faces red. */
static carom_status mark_faces(const job *job, const carom_mesh_view *view) {
    carom_mesh *made = NULL;
    carom_pose pose = {0};
    uint8_t *marked = calloc((size_t)view->face_count + 1, 1);
    if (marked == NULL) return CAROM_NO_MEMORY;
    for (uint64_t f = view->face_count - job->result.triangles; f < view->face_count; ++f)
        marked[f] = 1;
    carom_status status = where_mark(job->cli, view, NULL, &pose, marked, &made);
    if (status == CAROM_OK)
        status = meshes_save(job->cli, &made, CAROM_MESH_FORMAT_PLY, false, job->options->mark);
    carom_mesh_destroy(made);
    free(marked);
    return status;
}

static carom_status mark(job *job) {
    const char *format = endings_format(job->options->mark, NULL, close_marks);
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(job->closed, &view);
    if (status != CAROM_OK) return status;
    return endings_is(format, "ply") ? mark_faces(job, &view) : show(job, &view, format);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static const char *reason(const carom_repair_loop *loop) {
    switch (loop->outcome) {
    case CAROM_REPAIR_OUTCOME_CHAIN:
        return "it does not close (non-manifold or flipped faces)";
    case CAROM_REPAIR_OUTCOME_LONG:
        return "it has more edges than --max-edges";
    case CAROM_REPAIR_OUTCOME_FLAT:
        return "its vertices lie on one line";
    default:
        return "no triangles were found that cross nothing";
    }
}

static void print_words(const job *job) {
    FILE *out = output_words(job->options->output);
    const carom_repair_result *r = &job->result;
    uint64_t shown = 0;
    fprintf(out, "%s: %llu hole%s, %llu filled with %llu faces, %llu left; %llu new pairs; %s\n",
            job->path, (unsigned long long)r->loops, r->loops == 1 ? "" : "s",
            (unsigned long long)r->filled, (unsigned long long)r->triangles,
            (unsigned long long)r->left, (unsigned long long)r->new_pairs,
            job->report.closed   ? job->report.volume < 0.0 ? "closed, inside out" : "closed"
            : r->open_edges == 0 ? "no open edges, but not closed: carom info --holes says why"
                                 : "not closed");
    for (uint64_t i = 0; i < job->loops.count && shown < SHOWN; ++i) {
        const carom_repair_loop *loop = &job->loops.data[i];
        if (loop->outcome == CAROM_REPAIR_OUTCOME_FILLED) continue;
        ++shown;
        fprintf(out, "  left: %llu edges about %.6g %.6g %.6g, from vertex %u: %s\n",
                (unsigned long long)loop->count - !loop->closed, loop->centre.x, loop->centre.y,
                loop->centre.z, job->vertices.data[loop->first], reason(loop));
    }
    if (r->left > shown)
        fprintf(out, "  ... and %llu more; --json lists them all\n",
                (unsigned long long)(r->left - shown));
}

static void print_json(const job *job) {
    const carom_repair_result *r = &job->result;
    json j = cli_begin_json(job->cli);
    json_text(&j, "file", job->path);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    json_count(&j, "loops", r->loops);
    json_count(&j, "filled", r->filled);
    json_count(&j, "left", r->left);
    json_count(&j, "new_pairs", r->new_pairs);
    json_count(&j, "new_faces", r->triangles);
    json_count(&j, "open_edges", r->open_edges);
    json_bool(&j, "closed", job->report.closed);
    json_begin_array(&j, "holes");
    for (uint64_t i = 0; i < job->loops.count; ++i)
        defects_print_loop_json(&j, &job->loops.data[i], job->vertices.data);
    json_end_array(&j);
    json_number(&j, "prepare_s", job->prepare_s);
    json_number(&j, "query_s", job->query_s);
    cli_end_json(&j);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    const char *misuse = output_misuse(cli, options->output);
    if (options->output == NULL && options->mark == NULL)
        misuse = "where does the mesh go? -o FILE";
    if (misuse == NULL && output_is_standard(options->mark))
        misuse = "give --mark the name of a file";
    if (misuse == NULL) misuse = output_misuse(cli, options->mark);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    int format = options->output != NULL ? meshes_format(options->output, options->format) : 0;
    if (options->output != NULL && !meshes_can_write(format)) return meshes_refuse(cli);
    job job = {.cli = cli, .options = options, .path = paths[0]};
    carom_status status = close_holes(&job);
    if (status == CAROM_OK && options->mark != NULL) status = mark(&job);
    if (status == CAROM_OK && options->output != NULL)
        status = meshes_save(cli, &job.closed, format, false, options->output);
    if (status == CAROM_OK && !job.unwritten) cli->json ? print_json(&job) : print_words(&job);
    int code = status != CAROM_OK ? cli_fail(cli, status) : CLI_OK;
    if (status == CAROM_OK && job.unwritten) code = cli_code(CAROM_IO);
    if (code == CLI_OK && options->check && job.result.left != 0) code = CLI_YES;
    carom_mesh_destroy(job.read);
    carom_mesh_destroy(job.closed);
    carom_repair_loops_free(&job.loops);
    carom_numbers_free(&job.vertices);
    return code;
}

const cli_command cli_close = {
    .order = 35,
    .name = "close",
    .arguments = "MESH -o FILE (- is the standard input)",
    .summary = "fill the holes of a mesh without a new intersection",
    .details =
        "Fills each boundary loop with triangles of its own vertices. A new face has area, meets\n"
        "no other face (exactly, as carom pairs decides it) and makes no edge with more than two\n"
        "faces. Where no such triangles are found the hole is left, and named with the reason.\n"
        "Old vertices and faces stay as they are and come first. Vertices with equal coordinates\n"
        "are made one before (--no-weld: not). carom info lists holes and what else is wrong.",
    .options = close_options,
    .option_count = sizeof(close_options) / sizeof(close_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .run = run,
    .inputs = 1,
};
