/* SPDX-License-Identifier: MIT */
/* carom kfree: the k of a mesh, and the upper bounds on intersecting pairs that follow from it. */
#include "cli/display.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/kfree_split.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/repeat.h"

typedef struct options {
    const char *output, *format, *split_to;
    uint64_t split;
    double tolerance; /* below 0: not given */
    bool fan, no_weld, as_segments;
    int from;
    uint64_t repeat;
    uint64_t memory; /* bytes; 0: the mesh is held in memory */
    const char *temp;
} options;

static const options kfree_defaults = {.repeat = 1, .split = ARG_NO_COUNT, .tolerance = -1.0};

ENDINGS(kfree_formats, "csv", DISPLAY_ENDINGS);

static const arg_option kfree_options[] = {
    {"--fan", 0, ARG_FLAG, offsetof(options, fan), NULL,
     "split polygons from their first corner, number the triangles", NULL},
    {"--no-weld", 0, ARG_FLAG, offsetof(options, no_weld), NULL,
     "keep vertices apart that have equal coordinates", NULL},
    {"--as-segments", 0, ARG_FLAG, offsetof(options, as_segments), NULL,
     "take faces without area for segments and points", NULL},
    {"--split", 0, ARG_COUNT, offsetof(options, split), "K",
     "also split long faces until k is K, and tell what becomes of it", NULL},
    {"--tolerance", 0, ARG_NUMBER, offsetof(options, tolerance), "T",
     "with --split: first collapse and flip edges, which moves the surface by T at most", NULL},
    {"--split-to", 0, ARG_OUTPUT, offsetof(options, split_to), "FILE",
     "with --split: write the mesh there", meshes_endings},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write the number of every face there, or show it; - is CSV on the standard output",
     kfree_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
    {"--memory", 0, ARG_COUNT, offsetof(options, memory), "BYTES",
     "count in parts with so much memory: 16G; for meshes that do not fit", NULL},
    {"--temp", 0, ARG_TEXT, offsetof(options, temp), "FOLDER",
     "with --memory: of temporary files (TMPDIR)", NULL},
};

static const char details[] =
    "For each face of diameter d, that of the smallest ball around it, counts the other faces\n"
    "that are at least as large and at most d/4 away. k is the largest such number and one: the\n"
    "mesh is k-free (kDet, 2017). Two k-free meshes meet in no more pairs of faces than a number\n"
    "linear in k and their faces, whatever the pose; given is that number for the mesh and a\n"
    "moved copy of itself. neighbours is the share of all counted that have a common vertex,\n"
    "height the powers of two between the least and the largest diameter. Faces without area\n"
    "take no part. -o x.csv writes lines `face,number`; x.html, x.glb and x.png show the faces\n"
    "coloured by their numbers. --device cuda counts triangles only: split\n"
    "polygons by --fan.\n\n"
    "--split bisects triangles that count the most at their longest edges, round by round, until\n"
    "the mesh is K-free or has four times its triangles, and takes the mesh of lowest k.\n"
    "--tolerance first collapses short edges and flips others of such triangles, and collapses\n"
    "those of the smallest, which lowers the height: nothing crosses that did not before.";

#define SPLIT_GROWTH 4.0 /* most triangles after splitting, as a multiple of those before */

/* What there is to tell of a mesh. */
typedef struct density {
    carom_kfree k;
    carom_kfree_most bounds;
} density;

typedef struct job {
    cli *cli;
    const options *options;
    carom_soup_info info;
    carom_kfree k;
    carom_kfree_most bounds;
    density split[2]; /* the triangles before and after, with --split */
    double moved;     /* bound of the distance between both */
    double prepare_s;
    repeat query;
    carom_work work;
    const char *format; /* of -o */
    output out;         /* of CSV */
    uint64_t lines;     /* of CSV, in parts */
    carom_parts_report report;
    carom_mesh *mesh; /* that was measured, where it is to be shown */
    bool unwritten;   /* the display could not be written, which was reported */
} job;

static void print_density_json(json *j, const char *key, const density *density) {
    json_begin_object(j, key);
    json_count(j, "faces", density->k.faces);
    json_count(j, "k", density->k.k);
    json_number(j, "mean", density->k.mean);
    json_number(j, "height", density->k.height);
    json_count(j, "bound", density->bounds.pairs);
    json_end_object(j);
}

static void print_json(const job *job) {
    const carom_kfree *k = &job->k;
    json j = cli_begin_json(job->cli);
    json_count(&j, "k", k->k);
    json_number(&j, "mean", k->mean);
    if (k->faces != 0)
        json_count(&j, "worst_face", k->worst_face);
    else
        json_null(&j, "worst_face");
    json_number(&j, "neighbours", k->neighbours);
    json_number(&j, "height", k->height);
    json_number(&j, "deviation", k->deviation);
    json_count(&j, "least", k->least);
    json_count(&j, "quartile_1", k->quartile_1);
    json_count(&j, "median", k->median);
    json_count(&j, "quartile_3", k->quartile_3);
    json_count(&j, "percentile_90", k->percentile_90);
    json_count(&j, "percentile_99", k->percentile_99);
    json_count(&j, "most", k->most);
    json_count(&j, "total", k->total);
    json_count(&j, "worst_neighbours", k->worst_neighbours);
    json_count(&j, "faces", k->faces);
    if (job->options->memory == 0 || !job->options->as_segments)
        json_count(&j, "degenerate", job->info.degenerate_faces);
    json_number(&j, "least_diameter", k->least_diameter);
    json_number(&j, "largest_diameter", k->largest_diameter);
    json_count(&j, "bound", job->bounds.pairs);
    json_count(&j, "published_bound", job->bounds.published);
    bool parts = job->options->memory != 0;
    if (!parts) json_number(&j, "prepare_s", job->prepare_s);
    repeat_print_json(&job->query, &j);
    if (parts) {
        json_count(&j, "parts", job->report.parts);
        json_count(&j, "copies", job->report.copies);
        json_count(&j, "bytes_read", job->report.bytes_read);
        json_count(&j, "bytes_spilled", job->report.bytes_spilled);
        json_count(&j, "peak_bytes", job->report.peak_bytes);
    } else {
        json_count(&j, "candidates", job->work.candidates);
        json_count(&j, "undecided", job->work.undecided);
    }
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    if (job->options->split != ARG_NO_COUNT) {
        print_density_json(&j, "triangles", &job->split[0]);
        print_density_json(&j, "split", &job->split[1]);
        json_number(&j, "moved", job->moved);
    }
    cli_end_json(&j);
}

static void print_split(FILE *out, const density *split) {
    static const char *const names[] = {"triangles", "split"};
    for (int i = 0; i < 2; ++i)
        fprintf(out,
                "  %-12s %llu-free, %llu faces, %.3f on average, height %.3f, at most %llu pairs\n",
                names[i], (unsigned long long)split[i].k.k, (unsigned long long)split[i].k.faces,
                split[i].k.mean, split[i].k.height, (unsigned long long)split[i].bounds.pairs);
}

static void print_words(const job *job, const char *path) {
    FILE *out = output_words(job->options->output);
    const carom_kfree *k = &job->k;
    unsigned long long faces = k->faces, degenerate = job->info.degenerate_faces;
    if (k->faces == 0) {
        fprintf(out, "%s: no faces with area, so no k\n", path);
        return;
    }
    fprintf(out, "%s: %llu-free\n", path, (unsigned long long)k->k);
    fprintf(out, "  %-12s face %u counts %u larger ones within d/4, %u of them neighbours\n",
            "worst", k->worst_face, k->most, k->worst_neighbours);
    fprintf(out, "  %-12s %.3f on average over %llu faces, deviation %.3f", "numbers", k->mean,
            faces, k->deviation);
    if (degenerate != 0 && !job->options->as_segments)
        fprintf(out, "; %llu without area left out", degenerate);
    fprintf(out, "\n  %-12s least %u, quartiles %u %u %u, 90 %% up to %u, 99 %% up to %u\n", "",
            k->least, k->quartile_1, k->median, k->quartile_3, k->percentile_90, k->percentile_99);
    fprintf(out, "  %-12s %.1f %% of all counted share a vertex\n", "neighbours",
            100.0 * k->neighbours);
    fprintf(out, "  %-12s %.3f, diameters from %.6g to %.6g\n", "height", k->height,
            k->least_diameter, k->largest_diameter);
    fprintf(out, "  %-12s a moved copy meets it in %llu pairs at most (as published: %llu)\n",
            "bound", (unsigned long long)job->bounds.pairs,
            (unsigned long long)job->bounds.published);
    if (job->options->split != ARG_NO_COUNT) print_split(out, job->split);
    if (job->options->tolerance >= 0.0)
        fprintf(out, "  %-12s no point of the surface by more than %.6g\n", "moved", job->moved);
    if (job->options->memory != 0)
        fprintf(out, "counted in %.2f s in %llu parts, %.3f GB of temporary files\n",
                repeat_median(&job->query), (unsigned long long)job->report.parts,
                1e-9 * (double)job->report.bytes_spilled);
    else
        fprintf(out, "prepared in %.2f ms, counted in %.2f ms among %llu candidates\n",
                1e3 * job->prepare_s, 1e3 * repeat_median(&job->query),
                (unsigned long long)job->work.candidates);
    if (out == stdout && job->options->output != NULL)
        fprintf(out, "all written to %s\n", job->options->output);
}

static carom_status measure(carom_context *context, const carom_mesh *mesh, density *density) {
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view};
    carom_soup *soup = NULL;
    carom_status status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_soup_create(context, &def, &soup);
    if (status == CAROM_OK) status = carom_kfree_measure(context, soup, &density->k, NULL);
    if (status == CAROM_OK)
        status = carom_kfree_bound(context, &density->k, &density->k, &density->bounds);
    carom_soup_destroy(soup);
    return status;
}

/* Splits the mesh, as triangles, and writes the result where --split says so. */
static carom_status split(job *job, carom_mesh **mesh) {
    carom_context *context = job->cli->context;
    const options *o = job->options;
    const kfree_split_def def = {.k = o->split,
                                 .growth = SPLIT_GROWTH,
                                 .remesh = o->tolerance >= 0.0,
                                 .tolerance = o->tolerance};
    carom_mesh *made = NULL;
    carom_mesh_view view;
    carom_status status = meshes_triangulate(job->cli, o->fan, mesh);
    if (status == CAROM_OK) status = measure(context, *mesh, &job->split[0]);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status == CAROM_OK) status = kfree_split(context, &view, &def, &made, &job->moved);
    if (status == CAROM_OK) status = measure(context, made, &job->split[1]);
    if (status == CAROM_OK && o->split_to != NULL)
        status = meshes_save(job->cli, &made, meshes_format(o->split_to, 0), false, o->split_to);
    carom_mesh_destroy(made);
    return status;
}

static carom_status prepare(job *job, const char *path, carom_soup **soup) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view,
                          .fan = job->options->fan,
                          .degenerate = job->options->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                                  : CAROM_SOUP_DEGENERATE_ALONE};
    carom_status status =
        meshes_load(job->cli, path, job->options->from, job->options->no_weld, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(job->cli->context, &def, soup);
    job->prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK && display_has_format(job->format)) {
        status = carom_mesh_create(job->cli->context, &view, &job->mesh);
        if (status == CAROM_OK && job->options->fan) /* as the soup numbers them */
            status = meshes_triangulate(job->cli, true, &job->mesh);
    }
    if (status == CAROM_OK && job->options->split != ARG_NO_COUNT) status = split(job, &mesh);
    carom_mesh_destroy(mesh);
    return status;
}

/* Shows the faces coloured by their numbers. */
static carom_status show(job *job, const carom_numbers *numbers, const char *path) {
    char title[400];
    display d;
    display_mesh mesh = {0};
    carom_mesh_view view;
    const carom_kfree *k = &job->k;
    snprintf(title, sizeof(title), "%.300s: %llu-free", path, (unsigned long long)k->k);
    display_begin(&d, job->cli, title);
    display_tell_count(&d, &d.answers, "k", k->k);
    display_tell(&d, &d.answers, "mean", k->mean, NULL);
    display_tell_count(&d, &d.answers, "worst face", k->worst_face);
    display_tell(&d, &d.answers, "height", k->height, NULL);
    display_tell_count(&d, &d.answers, "most pairs with a moved copy", job->bounds.pairs);
    display_set_legend(&d, "larger faces within d/4", NULL, (double)k->least, (double)k->most);
    carom_status status = carom_mesh_get_view(job->mesh, &view);
    if (status == CAROM_OK) status = display_mesh_open(job->cli, &view, false, NULL, &mesh);
    if (status == CAROM_OK) {
        display_add_mesh(&d, &mesh, path);
        for (uint64_t i = 0; i < d.item_count && !d.no_memory; ++i) {
            display_item *item = d.items[i];
            for (uint64_t t = 0; t < item->corner_count / 3; ++t) {
                uint64_t n = item->faces != NULL ? item->faces[t] : t;
                display_add_value(&d, item, n < numbers->count ? (double)numbers->data[n] : 0.0);
            }
        }
        job->unwritten = !display_save(&d, job->options->output, job->format);
    }
    display_mesh_close(&mesh);
    display_free(&d);
    return status;
}

#define AT_ONCE 65536u /* lines written between two checks for a signal */

static carom_status run_query(job *job, const carom_soup *soup, carom_numbers *counts) {
    carom_context *context = job->cli->context;
    carom_status status;
    do {
        repeat_start(&job->query);
        status = carom_kfree_measure(context, soup, &job->k, counts);
        status = cli_of_file(job->cli, job->cli->inputs[0], status);
    } while (repeat_goes_on(&job->query, status));
    if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    if (status == CAROM_OK) status = carom_soup_get_info(soup, &job->info);
    if (status == CAROM_OK) status = carom_kfree_bound(context, &job->k, &job->k, &job->bounds);
    for (uint64_t i = 0; i < counts->count && status == CAROM_OK && job->out.file != NULL; ++i) {
        output_two(&job->out, (uint32_t)i, counts->data[i]);
        if (i % AT_ONCE == 0 && interrupt_seen()) break;
    }
    if (status == CAROM_OK && job->mesh != NULL && !interrupt_seen())
        status = show(job, counts, job->cli->inputs[0]);
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

/* A carom_parts_counts_fn. */
static bool receive(void *user, const uint32_t *counts, uint64_t count) {
    job *job = user;
    for (uint64_t i = 0; i < count && job->out.file != NULL; ++i)
        output_two(&job->out, (uint32_t)job->lines++, counts[i]);
    return interrupt_seen() || (job->out.file != NULL && ferror(job->out.file) != 0);
}

/* Counts in parts: the mesh is read from disk, and never held. */
static carom_status run_parts(job *job, const char *path) {
    const options *o = job->options;
    carom_context *context = job->cli->context;
    const carom_parts_def def = {.a.path = path,
                                 .degenerate = o->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                              : CAROM_SOUP_DEGENERATE_ALONE,
                                 .fan = o->fan,
                                 .no_weld = o->no_weld,
                                 .memory = o->memory,
                                 .folder = o->temp};
    repeat_start(&job->query);
    carom_status status = carom_parts_kfree(context, &def, receive, job, &job->k, &job->report);
    (void)repeat_goes_on(&job->query, status);
    if (interrupt_seen()) return CAROM_CANCELLED;
    job->info.degenerate_faces = job->report.faces_a - job->k.faces;
    if (status == CAROM_OK) status = carom_kfree_bound(context, &job->k, &job->k, &job->bounds);
    return status;
}

/* What a count in parts does not have. */
static const char *parts_misuse(const options *o, const char *format, const char *path) {
    if (o->memory == 0) return o->temp != NULL ? "--temp is for --memory" : NULL;
    if (o->output != NULL && !endings_is(format, "csv"))
        return "--memory writes lists: -o FILE.csv";
    if (o->split != ARG_NO_COUNT || o->from != 0 || o->repeat != 1)
        return "--memory goes without --split, --from and --repeat";
    return output_is_standard(path) ? "--memory reads files, not the standard input" : NULL;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *options = values;
    job job = {.cli = cli, .options = options, .query = {.wanted = options->repeat}};
    if (options->output != NULL)
        job.format = endings_format(options->output, options->format, kfree_formats);
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL) misuse = repeat_misuse(options->repeat);
    if (misuse == NULL && options->split == 0) misuse = "--split takes 1 or more";
    if (misuse == NULL && options->split_to != NULL && options->split == ARG_NO_COUNT)
        misuse = "--split-to comes with --split";
    if (misuse == NULL && options->tolerance != -1.0 && options->split == ARG_NO_COUNT)
        misuse = "--tolerance comes with --split";
    if (misuse == NULL && options->tolerance < 0.0 && options->tolerance != -1.0)
        misuse = "--tolerance takes 0 or more";
    if (misuse == NULL) misuse = parts_misuse(options, job.format, paths[0]);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (options->split_to != NULL && !meshes_can_write(meshes_format(options->split_to, 0)))
        return meshes_refuse(cli);
    carom_soup *soup = NULL;
    carom_numbers counts = {0};
    bool parts = options->memory != 0;
    carom_status status = parts ? CAROM_OK : prepare(&job, paths[0], &soup);
    const char *csv = endings_is(job.format, "csv") ? options->output : NULL;
    bool opened = status == CAROM_OK && output_open(cli, csv, &job.out);
    if (opened) status = parts ? run_parts(&job, paths[0]) : run_query(&job, soup, &counts);
    bool written = output_close(&job.out, status == CAROM_OK) && !job.unwritten;
    carom_mesh_destroy(job.mesh);
    carom_numbers_free(&counts);
    carom_soup_destroy(soup);
    int code = status != CAROM_OK ? cli_fail(cli, status)
               : !opened          ? CLI_INPUT
               : !written         ? CLI_MACHINE
                                  : CLI_OK;
    bar_clear(&cli->bar);
    if (code == CLI_OK && cli->json)
        print_json(&job);
    else if (code == CLI_OK)
        print_words(&job, paths[0]);
    repeat_free(&job.query);
    return code;
}

const cli_command cli_kfree = {
    .order = 50,
    .name = "kfree",
    .arguments = "MESH [-o FILE]",
    .summary = "how dense a mesh is: k, and a bound on how often it meets another",
    .details = details,
    .options = kfree_options,
    .option_count = sizeof(kfree_options) / sizeof(kfree_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .run = run,
    .defaults = &kfree_defaults,
    .inputs = 1,
    .on_cuda = true,
};
