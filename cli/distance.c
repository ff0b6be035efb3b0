/* SPDX-License-Identifier: MIT */
/* carom distance: the signed distance of points to a mesh. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/distance_show.h"
#include "cli/endings.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/repeat.h"

typedef struct options {
    const char *output, *format;
    bool nearest, winding;
    int from;
    uint64_t repeat;
} options;

static const options distance_defaults = {.repeat = 1};

ENDINGS(distance_formats, "csv", DISPLAY_ENDINGS);

static const arg_option distance_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write a line per point there, or show them; - is CSV on the standard output",
     distance_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--nearest", 0, ARG_FLAG, offsetof(options, nearest), NULL,
     "as CSV, also the nearest face and the nearest point on it", NULL},
    {"--winding", 0, ARG_FLAG, offsetof(options, winding), NULL,
     "as CSV, also the winding number: how many times the mesh is around the point", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
};

static const char details[] =
    "Computes how far each point is from the surface of the mesh: negative inside, positive\n"
    "outside, 0 on a face. The points are lines `x,y,z`, in a file or on the standard input (-);\n"
    "blanks may stand for commas, lines that are empty or start with # are skipped, and so is a\n"
    "first line of names. Inside a mesh that is balanced, such as a closed one, the winding "
    "number\n"
    "is 1 or more, exactly; of one with holes it is the generalised winding number, at least 0.5.\n"
    "-o writes lines `distance`, or with --nearest `distance,face,x,y,z`, in the order of the\n"
    "points; --winding puts the winding number after the distance, an integer where the mesh is\n"
    "balanced, and nothing on a face. -o x.html, x.glb or x.png shows the points in the colours of "
    "their distances.";

typedef struct job {
    cli *cli;
    const options *options;
    carom_vec3 *points;
    uint64_t count, capacity;
    double *distances;
    carom_hit *hits;   /* NULL: not wanted, as these: */
    int32_t *windings; /* of a balanced mesh */
    double *fractions; /* of another */
    carom_mesh *mesh;
    carom_soup *soup;
    bool balanced;
    uint64_t inside;
    double least, most;
    double prepare_s;
    repeat query;
    output out;
} job;

/* ---- Points ---------------------------------------------------------------------------------- */

/* Reads three numbers, with commas or blanks between them. */
static bool read_point(char *line, carom_vec3 *point) {
    double x[3];
    char *rest = line;
    for (int k = 0; k < 3; ++k) {
        rest += strspn(rest, " \t,;");
        size_t length = strcspn(rest, " \t,;\r\n");
        char last = rest[length];
        if (length == 0) return false;
        rest[length] = 0;
        if (!args_read_number(rest, &x[k])) return false;
        rest += length + (last != 0 ? 1 : 0);
    }
    *point = (carom_vec3){x[0], x[1], x[2]};
    return rest[strspn(rest, " \t,;\r\n")] == 0;
}

static bool add_point(job *job, carom_vec3 point) {
    if (job->count == job->capacity) {
        uint64_t capacity = 2 * job->capacity + 1024;
        carom_vec3 *points = realloc(job->points, capacity * sizeof(*points));
        if (points == NULL) return false;
        job->points = points;
        job->capacity = capacity;
    }
    job->points[job->count++] = point;
    return true;
}

static int refuse(const job *job, carom_status status, const char *path, uint64_t line,
                  const char *why) {
    char message[700];
    if (line != 0)
        snprintf(message, sizeof(message), "%.400s: line %" PRIu64 ": %s", path, line, why);
    else
        snprintf(message, sizeof(message), "%.400s: %s", path, why);
    return cli_fail_with(job->cli, status, message);
}

static int read_points(job *job, const char *path) {
    input in;
    int code = CLI_OK;
    bool is_open = input_open(&in, path, job->cli->limit_input);
    for (char *line; is_open && code == CLI_OK && (line = input_line(&in)) != NULL;) {
        carom_vec3 point;
        char *start = line + strspn(line, " \t");
        bool may_be_names = in.number == 1 && strchr("+-.0123456789", *start) == NULL;
        if (*start == '\0' || *start == '#') continue;
        if (read_point(start, &point)) {
            if (!add_point(job, point))
                code = refuse(job, CAROM_NO_MEMORY, path, in.number, "no memory for the points");
        } else if (!may_be_names) {
            code = refuse(job, CAROM_BAD_FILE, path, in.number,
                          "should be three finite numbers, x,y,z");
        }
        if (interrupt_seen()) code = cli_fail(job->cli, CAROM_CANCELLED);
    }
    if (code == CLI_OK && in.status != CAROM_OK)
        code = refuse(job, in.status, path, in.number, in.reason);
    input_close(&in);
    return code;
}

/* ---- Query ----------------------------------------------------------------------------------- */

static carom_status prepare(job *job, const char *path) {
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view};
    carom_mesh_report report;
    carom_status status = meshes_load(job->cli, path, job->options->from, false, &job->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(job->mesh, &view);
    if (status == CAROM_OK) status = carom_mesh_inspect(job->cli->context, &view, &report);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(job->cli->context, &def, &job->soup);
    job->prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK) job->balanced = report.balanced;
    return status;
}

static carom_status run_query(job *job) {
    carom_status status;
    do {
        repeat_start(&job->query);
        status = carom_soup_signed_distances(job->cli->context, job->soup, job->points, job->count,
                                             job->distances, job->hits);
    } while (repeat_goes_on(&job->query, status));
    job->least = HUGE_VAL;
    job->most = -HUGE_VAL;
    for (uint64_t i = 0; i < job->count && status == CAROM_OK; ++i) {
        job->inside += job->distances[i] < 0.0 ? 1 : 0;
        job->least = fmin(job->least, job->distances[i]);
        job->most = fmax(job->most, job->distances[i]);
    }
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

/* Winding numbers, which are not timed. */
static carom_status find_windings(job *job) {
    carom_context *context = job->cli->context;
    if (job->windings != NULL)
        return carom_soup_winding(context, job->soup, job->points, job->count, job->windings);
    if (job->fractions == NULL) return CAROM_OK;
    return carom_soup_winding_fractions(context, job->soup, job->points, job->count,
                                        job->fractions);
}

static void write_winding(const job *job, uint64_t i) {
    FILE *file = job->out.file;
    if (job->fractions != NULL) fprintf(file, ",%.17g", job->fractions[i]);
    if (job->windings == NULL) return;
    if (job->windings[i] == CAROM_SOUP_ON_SURFACE)
        putc(',', file);
    else
        fprintf(file, ",%" PRId32, job->windings[i]);
}

static void write_lines(job *job) {
    for (uint64_t i = 0; i < job->count && !interrupt_seen(); ++i) {
        const carom_hit *hit = job->hits != NULL ? &job->hits[i] : NULL;
        fprintf(job->out.file, "%.17g", job->distances[i]);
        write_winding(job, i);
        if (hit != NULL && hit->face != CAROM_NONE)
            fprintf(job->out.file, ",%" PRIu32 ",%.17g,%.17g,%.17g", hit->face, hit->point.x,
                    hit->point.y, hit->point.z);
        putc('\n', job->out.file);
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(const job *job) {
    json j = cli_begin_json(job->cli);
    json_count(&j, "points", job->count);
    json_count(&j, "inside", job->inside);
    json_number(&j, "least", job->least);
    json_number(&j, "most", job->most);
    json_bool(&j, "balanced", job->balanced);
    json_number(&j, "prepare_s", job->prepare_s);
    repeat_print_json(&job->query, &j);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    cli_end_json(&j);
}

static void print_words(const job *job, char **paths) {
    FILE *out = output_words(job->options->output);
    fprintf(out, "%s: %" PRIu64 " point%s, %" PRIu64 " inside", paths[0], job->count,
            job->count == 1 ? "" : "s", job->inside);
    if (job->count != 0) fprintf(out, ", distances %.9g to %.9g", job->least, job->most);
    putc('\n', out);
    if (!job->balanced)
        fputs("the mesh is not closed: inside is by generalised winding number\n", out);
    fprintf(out, "prepared in %.2f ms, answered in %.2f ms\n", 1e3 * job->prepare_s,
            1e3 * repeat_median(&job->query));
    if (out == stdout && job->options->output != NULL)
        fprintf(out, "all written to %s\n", job->options->output);
}

/* ---- Command --------------------------------------------------------------------------------- */

static carom_status show(const job *job, const char *path, const char *format) {
    const distance_show_def def = {.path = path,
                                   .mesh = job->mesh,
                                   .points = job->points,
                                   .distances = job->distances,
                                   .hits = job->hits,
                                   .count = job->count,
                                   .inside = job->inside,
                                   .least = job->least,
                                   .most = job->most};
    return distance_show(job->cli, &def, job->options->output, format);
}

/* Space for the results; false: there is none. */
static bool make_results(job *job, bool wants_hits) {
    uint64_t count = job->count + 1;
    bool integers = job->options->winding && job->balanced, there;
    bool fractions = job->options->winding && !job->balanced;
    job->distances = malloc(count * sizeof(*job->distances));
    if (wants_hits) job->hits = malloc(count * sizeof(*job->hits));
    if (integers) job->windings = malloc(count * sizeof(*job->windings));
    if (fractions) job->fractions = malloc(count * sizeof(*job->fractions));
    there = job->distances != NULL && (job->hits != NULL || !wants_hits);
    return there && (job->windings != NULL || !integers) && (job->fractions != NULL || !fractions);
}

static int run_job(job *job, char **paths) {
    const options *o = job->options;
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, distance_formats) : NULL;
    bool is_shown = display_has_format(format);
    carom_status status = prepare(job, paths[0]);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    int code = read_points(job, paths[1]);
    if (code != CLI_OK) return code;
    if (!make_results(job, o->nearest || is_shown))
        return refuse(job, CAROM_NO_MEMORY, paths[1], 0, "no memory for the distances");
    if (!output_open(job->cli, is_shown ? NULL : o->output, &job->out)) return CLI_INPUT;
    status = run_query(job);
    if (status == CAROM_OK) status = find_windings(job);
    if (status == CAROM_OK && job->out.file != NULL) write_lines(job);
    if (status == CAROM_OK && is_shown) status = show(job, paths[0], format);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (!written) return CLI_MACHINE;
    bar_clear(&job->cli->bar);
    if (job->cli->json)
        print_json(job);
    else
        print_words(job, paths);
    return CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL) misuse = repeat_misuse(options->repeat);
    if (misuse == NULL && options->nearest && options->output == NULL)
        misuse = "--nearest needs -o FILE";
    if (misuse == NULL && options->winding && options->output == NULL)
        misuse = "--winding needs -o FILE";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    job job = {.cli = cli, .options = options, .query = {.wanted = options->repeat}};
    int code = run_job(&job, paths);
    carom_mesh_destroy(job.mesh);
    carom_soup_destroy(job.soup);
    free(job.points);
    free(job.distances);
    free(job.hits);
    free(job.windings);
    free(job.fractions);
    repeat_free(&job.query);
    return code;
}

const cli_command cli_distance = {
    .order = 55,
    .name = "distance",
    .arguments = "MESH POINTS [-o FILE] [--nearest] [--winding]",
    .summary = "how far points are from a mesh: negative inside, positive outside",
    .details = details,
    .options = distance_options,
    .option_count = sizeof(distance_options) / sizeof(distance_options[0]),
    .options_size = sizeof(options),
    .fewest = 2,
    .most = 2,
    .run = run,
    .defaults = &distance_defaults,
    .on_cuda = true,
    .inputs = 2,
};
