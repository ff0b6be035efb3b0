/* SPDX-License-Identifier: MIT */
/* carom boxes: the broad phase on generated boxes, from scratch or over frames. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/repeat.h"
#include "scenes/boxes.h"

#define MOST_BOXES   (UINT64_C(1) << 30)
#define MOST_FRAMES  1000000u
#define MOST_PERCENT 100u

typedef struct options {
    uint64_t count, seed, frames, moving, repeat;
    double cell;
    int dist, method;
} options;

static const options boxes_defaults = {
    .count = 10000, .seed = SCENE_BOXES_SEED, .moving = MOST_PERCENT, .repeat = 1};

static const char *dist_choice(int index) {
    static const char *const names[] = {"mono", "poly"};
    return index < SCENE_BOXES_COUNT ? names[index] : NULL;
}

ARG_CHOICES(carom_broad_method, CAROM_BROAD_METHOD_COUNT);

static const arg_option boxes_options[] = {
    {"--count", 'n', ARG_COUNT, offsetof(options, count), "N", "boxes (10k)", NULL},
    {"--dist", 0, ARG_CHOICE, offsetof(options, dist), "NAME",
     "sizes: mono, edges of 2, or poly, edges of 0.1 to 10 (mono)", dist_choice},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "auto, tree, grid or sweep (auto)", carom_broad_method_choice},
    {"--frames", 0, ARG_COUNT, offsetof(options, frames), "F",
     "move the boxes F times, and give the pairs of the last frame (0)", NULL},
    {"--moving", 0, ARG_COUNT, offsetof(options, moving), "P",
     "percent of the boxes that move in a frame (100)", NULL},
    {"--cell", 0, ARG_SIZE, offsetof(options, cell), "L",
     "edge of the cells of the sweep (by density)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of the boxes (424242)", NULL},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
};

static const char details[] =
    "Makes boxes with uniform centres in a cube of which they fill 5 %, each with a velocity of a\n"
    "tenth of its edge per frame, and finds all pairs that overlap. Every method gives the same\n"
    "pairs; checksum is a hash of them. Printed is also what the method did: nodes of the tree,\n"
    "buckets of the grid, or cells and steps of the sweep with the upper bound on pairs that\n"
    "follows from the cells alone.";

typedef struct job {
    const options *options;
    carom_broad_info info;
    carom_work work;
    uint64_t pairs, checksum, begun, ended;
    double prepare_s, frame_s; /* frame_s: the mean of all frames */
    repeat query;
} job;

static void print_json(cli *cli, const job *job) {
    json j = cli_begin_json(cli);
    json_count(&j, "boxes", job->info.live);
    json_text(&j, "dist", dist_choice(job->options->dist));
    json_text(&j, "method", carom_broad_method_name(job->info.method));
    json_count(&j, "pairs", job->pairs);
    char checksum[24];
    snprintf(checksum, sizeof(checksum), "%016llx", (unsigned long long)job->checksum);
    json_text(&j, "checksum", checksum);
    json_number(&j, "prepare_s", job->prepare_s);
    repeat_print_json(&job->query, &j);
    if (job->options->frames != 0) {
        json_count(&j, "frames", job->options->frames);
        json_number(&j, "frame_s", job->frame_s);
        json_count(&j, "begun", job->begun);
        json_count(&j, "ended", job->ended);
        json_count(&j, "builds", job->info.builds);
        json_count(&j, "refits", job->info.refits);
        json_count(&j, "patches", job->info.patches);
    }
    json_count(&j, "visits", job->work.visits);
    json_count(&j, "candidates", job->work.candidates);
    json_count(&j, "undecided", job->work.undecided);
    json_count(&j, "nodes", job->info.nodes);
    json_count(&j, "cells", job->info.cells);
    json_count(&j, "lone_cells", job->info.lone_cells);
    json_count(&j, "entries", job->info.entries);
    json_count(&j, "sweep_bound", job->info.sweep_bound);
    json_count(&j, "bytes", job->info.bytes);
    cli_end_json(&j);
}

static void print_words(const job *job) {
    const carom_broad_info *info = &job->info;
    unsigned long long visits = job->work.visits, boxes = info->live, pairs = job->pairs;
    printf("%llu boxes (%s): %llu pairs, checksum %016llx\n", boxes,
           dist_choice(job->options->dist), pairs, (unsigned long long)job->checksum);
    printf("  %-8s %s", "method", carom_broad_method_name(info->method));
    if (info->method == CAROM_BROAD_METHOD_TREE)
        printf(", %llu nodes, %llu visited\n", (unsigned long long)info->nodes, visits);
    else if (info->method == CAROM_BROAD_METHOD_GRID)
        printf(", %llu buckets, %llu entries, %llu buckets scanned\n",
               (unsigned long long)info->cells, (unsigned long long)info->entries, visits);
    else
        printf(" along %c, cells of %.3g: %llu, %llu of one box; %llu entries, %llu steps; at most "
               "%llu pairs by cells\n",
               "xyz"[info->sweep_axis], info -> sweep_cell, (unsigned long long)info -> cells,
               (unsigned long long)info -> lone_cells, (unsigned long long)info -> entries, visits,
               (unsigned long long)info -> sweep_bound);
    printf("  %-8s %llu, %llu of them decided by doubles\n", "tested",
           (unsigned long long)job->work.candidates, (unsigned long long)job->work.undecided);
    printf("  %-8s %.1f bytes per box\n", "memory",
           boxes != 0 ? (double)info->bytes / (double)boxes : 0.0);
    printf("prepared in %.3f ms, all pairs in %.3f ms\n", 1e3 * job->prepare_s,
           1e3 * repeat_median(&job->query));
    if (job->options->frames != 0)
        printf("%llu frames of %.3f ms: %llu builds, %llu refits, %llu patches; in the last %llu "
               "pairs began, %llu ended\n",
               (unsigned long long)job->options->frames, 1e3 * job->frame_s,
               (unsigned long long)info->builds, (unsigned long long)info->refits,
               (unsigned long long)info->patches, (unsigned long long)job->begun,
               (unsigned long long)job->ended);
}

static carom_status run_frames(cli *cli, job *job, scene_boxes *scene, carom_broad *broad,
                               carom_pairs *pairs) {
    carom_context *context = cli->context;
    carom_pairs begun = {0}, ended = {0};
    uint64_t moving = scene->count * job->options->moving / MOST_PERCENT;
    double total = 0.0;
    carom_status status = carom_broad_step(context, broad, pairs, NULL, NULL);
    for (uint64_t f = 0; f < job->options->frames && status == CAROM_OK; ++f) {
        scene_boxes_move(scene, 0, moving);
        double start = carom_time_seconds();
        status = carom_broad_move(context, broad, NULL, scene->bounds, moving);
        if (status == CAROM_OK) status = carom_broad_step(context, broad, pairs, &begun, &ended);
        total += carom_time_seconds() - start;
        if (interrupt_seen()) status = CAROM_CANCELLED;
    }
    job->frame_s = job->options->frames != 0 ? total / (double)job->options->frames : 0.0;
    job->begun = begun.count;
    job->ended = ended.count;
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    return status;
}

static carom_status run_query(cli *cli, job *job, scene_boxes *scene, carom_pairs *pairs) {
    carom_context *context = cli->context;
    carom_broad *broad = NULL;
    carom_broad_def def = {.boxes = scene->bounds,
                           .box_count = scene->count,
                           .method = (carom_broad_method)job->options->method,
                           .sweep_cell = job->options->cell};
    double start = carom_time_seconds();
    carom_status status = carom_broad_create(context, &def, &broad);
    job->prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK) {
        do {
            repeat_start(&job->query);
            status = carom_broad_pairs(context, broad, pairs);
        } while (repeat_goes_on(&job->query, status));
    }
    if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    if (status == CAROM_OK && job->options->frames != 0) {
        status = run_frames(cli, job, scene, broad, pairs);
        if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    }
    if (status == CAROM_OK) status = carom_broad_get_info(broad, &job->info);
    job->pairs = pairs->count;
    job->checksum = status == CAROM_OK ? scene_boxes_checksum(pairs->data, pairs->count) : 0;
    carom_broad_destroy(broad);
    return status;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    (void)paths;
    const options *options = values;
    job job = {.options = options, .query = {.wanted = options->repeat}};
    const char *misuse = repeat_misuse(options->repeat);
    if (options->count > MOST_BOXES) misuse = "--count takes up to 2^30 boxes";
    if (options->frames > MOST_FRAMES) misuse = "--frames takes up to a million";
    if (options->moving > MOST_PERCENT) misuse = "--moving takes 0 to 100 percent";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    scene_boxes scene;
    carom_pairs pairs = {0};
    carom_status status = CAROM_NO_MEMORY;
    if (scene_boxes_make(options->count, (scene_boxes_sizes)options->dist, options->seed, &scene))
        status = run_query(cli, &job, &scene, &pairs);
    scene_boxes_free(&scene);
    carom_pairs_free(&pairs);
    int code = status != CAROM_OK ? cli_fail(cli, status) : CLI_OK;
    bar_clear(&cli->bar);
    if (code == CLI_OK && cli->json)
        print_json(cli, &job);
    else if (code == CLI_OK)
        print_words(&job);
    repeat_free(&job.query);
    return code;
}

const cli_command cli_boxes = {
    .order = 66,
    .name = "boxes",
    .arguments = "[-n N] [--frames F]",
    .summary = "which of many boxes overlap: all pairs, from scratch and frame to frame",
    .details = details,
    .options = boxes_options,
    .option_count = sizeof(boxes_options) / sizeof(boxes_options[0]),
    .options_size = sizeof(options),
    .fewest = 0,
    .most = 0,
    .run = run,
    .defaults = &boxes_defaults,
    .on_cuda = true,
    .inputs = 0,
};
