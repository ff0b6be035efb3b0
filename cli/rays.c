/* SPDX-License-Identifier: MIT */
/* carom rays: the first face that each ray meets, or all of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/number_lines.h"
#include "cli/output.h"
#include "cli/repeat.h"

#define RAYS_NUMBERS 6u /* of a line: origin and direction */

typedef struct options {
    const char *output, *format;
    bool all;
    double length;
    int from;
    uint64_t repeat;
} options;

static const options rays_defaults = {.repeat = 1};

ENDINGS(rays_formats, "csv");

static const arg_option rays_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write a line per ray there, or with --all per face; - is the standard output", rays_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--all", 0, ARG_FLAG, offsetof(options, all), NULL, "all faces that each ray meets, in order",
     NULL},
    {"--length", 0, ARG_SIZE, offsetof(options, length), "T",
     "only as far as T times the direction (any distance)", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
};

static const char details[] =
    "Casts rays at a mesh. The rays are lines `x,y,z,dx,dy,dz`, origin and direction, in a file "
    "or\n"
    "on the standard input (-); blanks may stand for commas, lines that are empty or start with #\n"
    "are skipped, and so is a first line of names. Which face is first is decided exactly; of\n"
    "faces met at the same distance it is the one of lowest number.\n"
    "-o writes a line `face,distance,x,y,z,nx,ny,nz` per ray, in the order of the rays: the face,\n"
    "the t of origin + t direction, the point there, and the normal of the face towards the ray;\n"
    "`,inf` follows no face where it meets none. With --all it is `ray,face,distance,...`, a line\n"
    "per face, sorted by ray and along it.";

typedef struct job {
    cli *cli;
    const options *options;
    number_lines lines;
    carom_ray *rays;
    uint64_t count;
    carom_hit *hits;              /* of --all NULL */
    carom_soup_ray_hits all;      /* of --all */
    uint64_t hit_rays, hit_faces; /* rays that meet a face; faces that are listed */
    carom_mesh *mesh;
    carom_soup *soup;
    double prepare_s;
    repeat query;
    output out;
} job;

static int rays_no_memory(const job *job) {
    return cli_fail_with(job->cli, CAROM_NO_MEMORY, "no memory for the rays");
}

/* ---- Query ----------------------------------------------------------------------------------- */

static carom_status rays_prepare(job *job, const char *path) {
    carom_mesh_view view;
    const carom_soup_def def = {.mesh = &view};
    carom_status status = meshes_load(job->cli, path, job->options->from, false, &job->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(job->mesh, &view);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(job->cli->context, &def, &job->soup);
    job->prepare_s = carom_time_seconds() - start;
    return status;
}

static int rays_read(job *job, const char *path) {
    int code = number_lines_read(job->cli, path, RAYS_NUMBERS, &job->lines);
    if (code != CLI_OK) return code;
    job->count = job->lines.lines;
    job->rays = malloc((job->count + 1) * sizeof(*job->rays));
    if (!job->options->all) job->hits = malloc((job->count + 1) * sizeof(*job->hits));
    if (job->rays == NULL || (!job->options->all && job->hits == NULL)) return rays_no_memory(job);
    for (uint64_t i = 0; i < job->count; ++i) {
        const double *x = job->lines.data + RAYS_NUMBERS * i;
        job->rays[i] = (carom_ray){.origin = {x[0], x[1], x[2]},
                                   .direction = {x[3], x[4], x[5]},
                                   .length = job->options->length};
    }
    return CLI_OK;
}

static void rays_count(job *job) {
    for (uint64_t i = 0; job->hits != NULL && i < job->count; ++i)
        job->hit_rays += job->hits[i].face != CAROM_NONE ? 1 : 0;
    for (uint64_t i = 0; i < job->all.count; ++i)
        if (i == 0 || job->all.data[i].ray != job->all.data[i - 1].ray) ++job->hit_rays;
    job->hit_faces = job->hits != NULL ? job->hit_rays : job->all.count;
}

static carom_status rays_query(job *job) {
    carom_status status;
    do {
        repeat_start(&job->query);
        status = job->hits != NULL ? carom_soup_cast_rays(job->cli->context, job->soup, job->rays,
                                                          job->count, job->hits)
                                   : carom_soup_query_rays(job->cli->context, job->soup, job->rays,
                                                           job->count, &job->all);
    } while (repeat_goes_on(&job->query, status));
    if (status == CAROM_OK) rays_count(job);
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

/* Zeros without a sign. */
static void write_hit(FILE *file, uint32_t face, double distance, carom_vec3 p, carom_vec3 n) {
    fprintf(file, "%" PRIu32 ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", face, distance,
            p.x + 0.0, p.y + 0.0, p.z + 0.0, n.x + 0.0, n.y + 0.0, n.z + 0.0);
}

static void rays_write(job *job) {
    FILE *file = job->out.file;
    for (uint64_t i = 0; job->hits != NULL && i < job->count && !interrupt_seen(); ++i) {
        const carom_hit *hit = &job->hits[i];
        if (hit->face == CAROM_NONE)
            fputs(",inf\n", file);
        else
            write_hit(file, hit->face, hit->distance, hit->point, hit->normal);
    }
    for (uint64_t i = 0; i < job->all.count && !interrupt_seen(); ++i) {
        const carom_soup_ray_hit *hit = &job->all.data[i];
        fprintf(file, "%" PRIu32 ",", hit->ray);
        write_hit(file, hit->face, hit->distance, hit->point, hit->normal);
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void rays_print_json(const job *job) {
    json j = cli_begin_json(job->cli);
    json_count(&j, "rays", job->count);
    json_count(&j, "hits", job->hit_rays);
    if (job->options->all) json_count(&j, "faces", job->hit_faces);
    json_number(&j, "prepare_s", job->prepare_s);
    repeat_print_json(&job->query, &j);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    cli_end_json(&j);
}

static void rays_print_words(const job *job, const char *path) {
    FILE *out = output_words(job->options->output);
    fprintf(out, "%s: %" PRIu64 " ray%s, %" PRIu64 " %s a face", path, job->count,
            job->count == 1 ? "" : "s", job->hit_rays, job->hit_rays == 1 ? "meets" : "meet");
    if (job->options->all)
        fprintf(out, "; %" PRIu64 " face%s in all", job->hit_faces, job->hit_faces == 1 ? "" : "s");
    fprintf(out, "\nprepared in %.2f ms, answered in %.2f ms\n", 1e3 * job->prepare_s,
            1e3 * repeat_median(&job->query));
    if (out == stdout && job->options->output != NULL)
        fprintf(out, "all written to %s\n", job->options->output);
}

/* ---- Command --------------------------------------------------------------------------------- */

static int run_job(job *job, char **paths) {
    carom_status status = rays_prepare(job, paths[0]);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    int code = rays_read(job, paths[1]);
    if (code != CLI_OK) return code;
    if (!output_open(job->cli, job->options->output, &job->out)) return CLI_INPUT;
    status = rays_query(job);
    if (status == CAROM_OK && job->out.file != NULL) rays_write(job);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (!written) return CLI_MACHINE;
    bar_clear(&job->cli->bar);
    if (job->cli->json)
        rays_print_json(job);
    else
        rays_print_words(job, paths[0]);
    return CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL) misuse = repeat_misuse(options->repeat);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    job job = {.cli = cli, .options = options, .query = {.wanted = options->repeat}};
    int code = run_job(&job, paths);
    carom_mesh_destroy(job.mesh);
    carom_soup_destroy(job.soup);
    carom_soup_ray_hits_free(&job.all);
    free(job.lines.data);
    free(job.rays);
    free(job.hits);
    repeat_free(&job.query);
    return code;
}

const cli_command cli_rays = {
    .order = 56,
    .name = "rays",
    .arguments = "MESH RAYS [-o FILE] [--all]",
    .summary = "the faces that rays meet, the first of each or all",
    .details = details,
    .options = rays_options,
    .option_count = sizeof(rays_options) / sizeof(rays_options[0]),
    .options_size = sizeof(options),
    .fewest = 2,
    .most = 2,
    .run = run,
    .defaults = &rays_defaults,
    .on_cuda = true,
    .inputs = 2,
};
