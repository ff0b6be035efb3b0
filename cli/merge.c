/* SPDX-License-Identifier: MIT */
/* carom merge: the whole list of pairs, or the whole table, from those of all shards. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/rows.h"

typedef struct options {
    const char *output;
} options;

ENDINGS(merge_formats, "csv");

static const arg_option merge_options[] = {
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "where the pairs go (needed); - is the standard output", merge_formats},
};

static const char details[] =
    "Joins the files that carom pairs, scene, robot or query --shard I/N wrote, in any order, to "
    "the\n"
    "file that they write without --shard, byte for byte. A shard that is missing, there twice, "
    "cut "
    "short,\n"
    "changed, of another input, other options or another version is refused, and nothing is "
    "written.";

#define AT_ONCE 65536u /* pairs written between two checks for a signal */

typedef struct job {
    cli *cli;
    shard_file *files;
    size_t count; /* opened */
    size_t *heap; /* of files with a next pair, by that pair */
    size_t ways;
    uint64_t pairs;
} job;

static carom_status merge_refuse(job *job, const char *format, const char *path, uint32_t number,
                                 uint32_t count) {
    char text[256];
    snprintf(text, sizeof(text), format, number, count);
    snprintf(job->cli->message, sizeof(job->cli->message), "%.200s%s%s", path,
             *path != '\0' ? ": " : "", text);
    return CAROM_BAD_INPUT;
}

/* All are of one input and one version, and each shard is there once. */
static carom_status merge_check(job *job) {
    const shard_head *first = &job->files[0].head;
    bool there[SHARD_MOST + 1] = {false};
    for (size_t i = 0; i < job->count; ++i) {
        const shard_head *head = &job->files[i].head;
        const char *path = job->files[i].path;
        if (strcmp(head->version, first->version) != 0 ||
            strcmp(head->version, carom_build_get()->version) != 0)
            return merge_refuse(job, "shard %" PRIu32 " of %" PRIu32 " is of another version", path,
                                head->number, head->count);
        if (strcmp(head->table, first->table) != 0)
            return merge_refuse(job, "shard %" PRIu32 " of %" PRIu32 " is of another command", path,
                                head->number, head->count);
        if (head->count != first->count)
            return merge_refuse(job,
                                "is shard %" PRIu32 " of %" PRIu32 ", others are of another "
                                "number",
                                path, head->number, head->count);
        if (head->input != first->input)
            return merge_refuse(
                job, "shard %" PRIu32 " of %" PRIu32 " is of another input, or of other options",
                path, head->number, head->count);
        if (there[head->number])
            return merge_refuse(job, "shard %" PRIu32 " of %" PRIu32 " is there twice", path,
                                head->number, head->count);
        there[head->number] = true;
    }
    for (uint32_t n = 1; n <= first->count; ++n)
        if (!there[n])
            return merge_refuse(job, "shard %" PRIu32 " of %" PRIu32 " is missing", "", n,
                                first->count);
    return CAROM_OK;
}

static bool merge_is_before(const job *job, size_t a, size_t b) {
    carom_pair p = job->files[job->heap[a]].next, q = job->files[job->heap[b]].next;
    return p.a < q.a || (p.a == q.a && p.b < q.b);
}

static void merge_sink(job *job, size_t at) {
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < job->ways; ++child)
            if (merge_is_before(job, child, least)) least = child;
        if (least == at) return;
        size_t moved = job->heap[at];
        job->heap[at] = job->heap[least];
        job->heap[least] = moved;
        at = least;
    }
}

static carom_status merge_write(job *job, output *out) {
    carom_pair before = {0, 0};
    for (size_t i = 0; i < job->count; ++i)
        if (job->files[i].more) job->heap[job->ways++] = i;
    for (size_t i = job->ways / 2; i-- > 0;) merge_sink(job, i);
    while (job->ways != 0) {
        shard_file *file = &job->files[job->heap[0]];
        carom_pair pair = file->next;
        if (job->pairs != 0 && pair.a == before.a && pair.b == before.b) {
            snprintf(job->cli->message, sizeof(job->cli->message),
                     "%.300s: pair %" PRIu32 ",%" PRIu32 " is in another shard, too", file->path,
                     pair.a, pair.b);
            return CAROM_BAD_FILE;
        }
        before = pair;
        output_two(out, pair.a, pair.b);
        if (++job->pairs % AT_ONCE == 1 && interrupt_seen()) return CAROM_CANCELLED;
        carom_status status = shard_next(job->cli, file);
        if (status != CAROM_OK) return status;
        if (!file->more) job->heap[0] = job->heap[--job->ways];
        merge_sink(job, 0);
    }
    return CAROM_OK;
}

static int merge_run(job *job, const options *options, char **paths, size_t count) {
    output out = {0};
    carom_status status = CAROM_OK;
    for (; job->count < count && status == CAROM_OK; ++job->count)
        status = shard_open(job->cli, paths[job->count], &job->files[job->count]);
    if (status == CAROM_OK) status = merge_check(job);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (!output_open(job->cli, options->output, &out)) return CLI_INPUT;
    status = job->files[0].head.table[0] != '\0'
                 ? rows_merge(job->cli, job->files, job->count, &out, &job->pairs)
                 : merge_write(job, &out);
    bool written = output_close(&out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (!written) return CLI_MACHINE;
    bar_clear(&job->cli->bar);
    if (job->cli->json) {
        json j = cli_begin_json(job->cli);
        json_count(&j, "shards", job->count);
        json_count(&j, "pairs", job->pairs);
        json_text(&j, "output", options->output);
        cli_end_json(&j);
    } else {
        fprintf(output_words(options->output), "%s: %llu %s of %zu shards\n", options->output,
                (unsigned long long)job->pairs,
                job->files[0].head.table[0] != '\0' ? "rows" : "pairs", job->count);
    }
    return CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    if (options->output == NULL) return cli_misuse(cli, "-o FILE is missing");
    const char *misuse = output_misuse(cli, options->output);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    job job = {.cli = cli,
               .files = calloc(count, sizeof(*job.files)),
               .heap = calloc(count, sizeof(*job.heap))};
    int code = job.files != NULL && job.heap != NULL ? merge_run(&job, options, paths, count)
                                                     : cli_fail(cli, CAROM_NO_MEMORY);
    for (size_t i = 0; i < job.count; ++i) shard_close(&job.files[i]);
    free(job.files);
    free(job.heap);
    return code;
}

const cli_command cli_merge = {
    .order = 41,
    .name = "merge",
    .arguments = "FILE... -o FILE",
    .summary = "join the results of all shards (--shard)",
    .details = details,
    .options = merge_options,
    .option_count = sizeof(merge_options) / sizeof(merge_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = SHARD_MOST,
    .run = run,
    .inputs = SHARD_MOST,
};
