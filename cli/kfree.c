/* SPDX-License-Identifier: MIT */
/* carom kfree: how crowded a mesh is, and what follows for how often it can meet another. */
#include "cli/meshes.h"
#include "cli/output.h"

typedef struct options {
    const char *output;
    bool fan, no_weld, as_segments;
} options;

static const arg_option kfree_options[] = {
    {"--fan", 0, ARG_FLAG, offsetof(options, fan), NULL,
     "split polygons from their first corner, number the triangles", NULL},
    {"--no-weld", 0, ARG_FLAG, offsetof(options, no_weld), NULL,
     "keep vertices apart that have equal coordinates", NULL},
    {"--as-segments", 0, ARG_FLAG, offsetof(options, as_segments), NULL,
     "take faces without area for segments and points", NULL},
    {"--output", 'o', ARG_TEXT, offsetof(options, output), "FILE",
     "write the number of every face there, as CSV", NULL},
};

static const char details[] =
    "For each face of diameter d, that of the smallest ball around it, counts the other faces\n"
    "that are at least as large and at most d/4 away. k is the largest such number and one: the\n"
    "mesh is k-free (kDet, 2017). Two k-free meshes meet in no more pairs of faces than a number\n"
    "linear in k and their faces, whatever the pose; given is that number for the mesh and a\n"
    "moved copy of itself. neighbours is the share of all counted that have a common vertex,\n"
    "height the powers of two between the least and the largest diameter. Faces without area\n"
    "take no part. -o writes lines `face,number`.";

typedef struct job {
    cli *cli;
    const options *options;
    carom_soup_info info;
    carom_k_free k;
    carom_k_free_bounds bounds;
    double prepare_ms, query_ms;
    carom_work work;
    output out;
} job;

static void print_json(const job *job) {
    const carom_k_free *k = &job->k;
    json j = {stdout, false};
    json_begin_object(&j, NULL);
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
    json_count(&j, "degenerate", job->info.degenerate_faces);
    json_number(&j, "least_diameter", k->least_diameter);
    json_number(&j, "largest_diameter", k->largest_diameter);
    json_count(&j, "bound", job->bounds.pairs);
    json_count(&j, "published_bound", job->bounds.published);
    json_number(&j, "prepare_ms", job->prepare_ms);
    json_number(&j, "query_ms", job->query_ms);
    json_count(&j, "candidates", job->work.candidates);
    json_count(&j, "undecided", job->work.undecided);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    json_end_object(&j);
    putchar('\n');
}

static void print_words(const job *job, const char *path) {
    const carom_k_free *k = &job->k;
    unsigned long long faces = k->faces, degenerate = job->info.degenerate_faces;
    if (k->faces == 0) {
        printf("%s: no faces with area, so no k\n", path);
        return;
    }
    printf("%s: %llu-free\n", path, (unsigned long long)k->k);
    printf("  %-12s face %u counts %u larger ones within d/4, %u of them neighbours\n", "worst",
           k->worst_face, k->most, k->worst_neighbours);
    printf("  %-12s %.3f on average over %llu faces, deviation %.3f", "numbers", k->mean, faces,
           k->deviation);
    if (degenerate != 0 && !job->options->as_segments)
        printf("; %llu without area left out", degenerate);
    printf("\n  %-12s least %u, quartiles %u %u %u, 90 %% up to %u, 99 %% up to %u\n", "", k->least,
           k->quartile_1, k->median, k->quartile_3, k->percentile_90, k->percentile_99);
    printf("  %-12s %.1f %% of all counted share a vertex\n", "neighbours", 100.0 * k->neighbours);
    printf("  %-12s %.3f, diameters from %.6g to %.6g\n", "height", k->height, k->least_diameter,
           k->largest_diameter);
    printf("  %-12s a moved copy meets it in %llu pairs at most (as published: %llu)\n", "bound",
           (unsigned long long)job->bounds.pairs, (unsigned long long)job->bounds.published);
    printf("prepared in %.2f ms, counted in %.2f ms among %llu candidates\n", job->prepare_ms,
           job->query_ms, (unsigned long long)job->work.candidates);
    if (job->options->output != NULL) printf("all written to %s\n", job->options->output);
}

static carom_status prepare(job *job, const char *path, carom_soup **soup) {
    carom_mesh *mesh = NULL;
    carom_soup_def def = {.fan = job->options->fan,
                          .degenerate = job->options->as_segments ? CAROM_DEGENERATE_AS_SEGMENT
                                                                  : CAROM_DEGENERATE_ALONE};
    carom_status status = meshes_load(job->cli, path, job->options->no_weld, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &def.mesh);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(job->cli->context, &def, soup);
    job->prepare_ms = 1e3 * (carom_time_seconds() - start);
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status ask(job *job, const carom_soup *soup, carom_numbers *counts) {
    carom_context *context = job->cli->context;
    double start = carom_time_seconds();
    carom_status status = carom_soup_k_free(context, soup, &job->k, counts);
    job->query_ms = 1e3 * (carom_time_seconds() - start);
    if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    if (status == CAROM_OK) status = carom_soup_get_info(context, soup, &job->info);
    if (status == CAROM_OK)
        status = carom_k_free_get_bounds(context, &job->k, &job->k, &job->bounds);
    for (uint64_t i = 0; i < counts->count && status == CAROM_OK && job->out.file != NULL; ++i)
        output_two(&job->out, (uint32_t)i, counts->data[i]);
    return status;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    job job = {.cli = cli, .options = values};
    carom_soup *soup = NULL;
    carom_numbers counts = {0};
    carom_status status = prepare(&job, paths[0], &soup);
    bool opened = status == CAROM_OK && output_open(cli, job.options->output, &job.out);
    if (opened) status = ask(&job, soup, &counts);
    bool written = output_close(&job.out, status == CAROM_OK);
    carom_numbers_free(&counts);
    carom_soup_destroy(soup);
    if (status != CAROM_OK) return cli_fail(cli, status);
    if (!opened) return CLI_INPUT;
    if (!written) return CLI_MACHINE;
    bar_clear(&cli->bar);
    if (cli->json)
        print_json(&job);
    else
        print_words(&job, paths[0]);
    return CLI_OK;
}

const cli_command cli_kfree = {
    .name = "kfree",
    .arguments = "MESH [-o FILE]",
    .summary = "how crowded a mesh is: k, and a bound on how often it meets another",
    .details = details,
    .options = kfree_options,
    .option_count = sizeof(kfree_options) / sizeof(kfree_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .run = run,
};
