/* SPDX-License-Identifier: MIT */
/* carom-bench: runs Carom's benchmarks and those of other libraries, side by side. */
#include "bench/command.h"

#include <math.h>
#include <string.h>

#include "bench/papers_page.h"
#include "bench/plot.h"
#include "cli/output.h"

typedef struct options {
    bool list, quick;
    uint64_t rounds;
    const char *csv, *svg;
    const char *folder; /* of papers, as is: */
    arg_list only;
} options;

static const options bench_defaults = {.rounds =
                                           ARG_NO_COUNT}; /* as --quick or its absence implies */

static const arg_option bench_options[] = {
    {"--list", 0, ARG_FLAG, offsetof(options, list), NULL, "list the benchmarks", NULL},
    {"--quick", 0, ARG_FLAG, offsetof(options, quick), NULL, "smaller inputs, fewer rounds", NULL},
    {"--rounds", 0, ARG_COUNT, offsetof(options, rounds), "N",
     "rounds to take medians of, 1 to 100000 (9)", NULL},
    {"--csv", 0, ARG_OUTPUT, offsetof(options, csv), "FILE", "also write the rows as CSV", NULL},
    {"--svg", 0, ARG_OUTPUT, offsetof(options, svg), "FILE", "also draw the rows", NULL},
    {"--only", 0, ARG_LIST, offsetof(options, only), "FIGURE",
     "papers: one figure, or one paper; may be given several times", NULL},
    {"--output", 'o', ARG_TEXT, offsetof(options, folder), "DIR",
     "papers: the folder to write into (papers)", NULL},
};

/* Not a group of rows: figures, each with its own columns. */
#define PAPERS "papers"

static int list_groups(const cli *cli) {
    json j = {stdout, false};
    if (cli->json) {
        j = cli_begin_json(cli);
        json_begin_array(&j, "benchmarks");
    }
    for (size_t i = 0; bench_groups[i] != NULL; ++i) {
        if (cli->json)
            json_text(&j, NULL, bench_groups[i]->name);
        else
            printf("%-10s %s\n", bench_groups[i]->name, bench_groups[i]->what);
    }
    if (cli->json) {
        json_text(&j, NULL, PAPERS);
        json_end_array(&j);
        cli_end_json(&j);
    } else {
        printf("%-10s %s\n", PAPERS, "the papers' figures as CSV, SVG and a page; runs alone");
    }
    return CLI_OK;
}

/* Empty where there is no such time. */
static const char *milliseconds(double seconds, char text[16]) {
    text[0] = '\0';
    if (isfinite(seconds)) snprintf(text, 16, "%.3f", 1e3 * seconds);
    return text;
}

static const char *times_of(double ratio, char text[16]) {
    text[0] = '\0';
    if (isfinite(ratio)) snprintf(text, 16, "%.2fx", ratio);
    return text;
}

static void print_row(void *user, const bench_row *row) {
    bench *b = user;
    const bench_row *before = b->row_count > 1 ? &b->rows[b->row_count - 2] : NULL;
    bool same_job = before != NULL && strcmp(before->job, row->job) == 0;
    char tail[16], device[16], wall[16], processor[16];
    printf("%-24s %-22s %10.3f %10.3f %10s %10s %10.2f %9s %9s%s\n", same_job ? "" : row->job,
           row->contender, 1e3 * row->seconds, 1e3 * row->most_seconds,
           milliseconds(row->tail_seconds, tail), milliseconds(row->device_seconds, device),
           1e-6 * row->items_per_second, times_of(row->ratio, wall),
           times_of(row->cpu_ratio, processor), row->wrong ? "  WRONG ANSWER" : "");
    fflush(stdout);
}

static void print_note(void *user, const char *text) {
    (void)user;
    printf("    %s\n", text);
    fflush(stdout);
}

static void print_json(const cli *cli, const bench *b) {
    json j = cli_begin_json(cli);
    json_begin_array(&j, "rows");
    for (uint32_t i = 0; i < b->row_count; ++i) {
        const bench_row *row = &b->rows[i];
        json_begin_object(&j, NULL);
        json_text(&j, "benchmark", row->group);
        json_text(&j, "job", row->job);
        json_text(&j, "contender", row->contender);
        json_count(&j, "rounds", row->rounds);
        json_number(&j, "items", row->items);
        json_number(&j, "seconds", row->seconds);
        json_number(&j, "most_seconds", row->most_seconds);
        json_number(&j, "p999_seconds", row->tail_seconds);
        json_number(&j, "cpu_seconds", row->cpu_seconds);
        json_number(&j, "device_seconds", row->device_seconds);
        json_number(&j, "items_per_second", row->items_per_second);
        json_number(&j, "ratio", row->ratio);
        json_number(&j, "cpu_ratio", row->cpu_ratio);
        json_bool(&j, "wrong", row->wrong);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_begin_array(&j, "notes");
    for (uint32_t i = 0; i < b->note_count; ++i) json_text(&j, NULL, b->notes[i]);
    json_end_array(&j);
    cli_end_json(&j);
}

static bool is_wanted(const bench_group *group, size_t count, char **names) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(names[i], group->name) == 0) return true;
    return count == 0;
}

/* Reports the first name that is not a benchmark; false when there is none. */
static bool has_unknown(size_t count, char **names, char *message, size_t size) {
    const char *known[64];
    size_t known_count = 0;
    for (; bench_groups[known_count] != NULL && known_count < 62; ++known_count)
        known[known_count] = bench_groups[known_count]->name;
    known[known_count] = PAPERS;
    known[known_count + 1] = NULL;
    for (size_t i = 0; i < count; ++i) {
        bool found = false;
        for (size_t k = 0; k < known_count; ++k) found |= strcmp(known[k], names[i]) == 0;
        if (found) continue;
        if (strcmp(names[i], PAPERS) == 0) {
            snprintf(message, size, "papers runs alone, without other names");
            return true;
        }
        const char *near = args_did_you_mean(names[i], known);
        snprintf(message, size, "no benchmark '%.60s'%s%s%s; --list shows them all", names[i],
                 near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                 near != NULL ? "?" : "");
        return true;
    }
    return false;
}

static const char *find_misuse(const cli *cli, const options *o) {
    const char *misuse = output_misuse(cli, o->csv);
    if (misuse == NULL) misuse = output_misuse(cli, o->svg);
    if (misuse != NULL) return misuse;
    if (output_is_standard(o->csv) && output_is_standard(o->svg))
        return "of --csv and --svg only one can go to the standard output";
    if (o->rounds == 0 || (o->rounds != ARG_NO_COUNT && o->rounds > BENCH_MOST_ROUNDS))
        return "--rounds takes 1 to 100000";
    return NULL;
}

static int run_papers(cli *cli, const options *o) {
    if (o->list) return bench_papers_list(cli);
    if (o->csv != NULL || o->svg != NULL || o->rounds != ARG_NO_COUNT)
        return cli_misuse(cli, "papers takes --only, --output and --quick");
    return bench_papers_run(cli,
                            &(bench_papers_def){.quick = o->quick,
                                                .device_only = cli->device == CAROM_BACKEND_CUDA,
                                                .only = o->only,
                                                .folder = o->folder != NULL ? o->folder : PAPERS});
}

static int run(cli *cli, const void *values, size_t count, char **names) {
    const options *options = values;
    char message[192];
    if (count == 1 && strcmp(names[0], PAPERS) == 0) return run_papers(cli, options);
    if (options->only.count != 0 || options->folder != NULL)
        return cli_misuse(cli, "--only and --output are for carom-bench papers");
    if (cli->device == CAROM_BACKEND_CUDA)
        return cli_misuse(cli,
                          "--device cuda is for carom-bench papers; benchmarks of the GPU have "
                          "names, which --list shows");
    if (options->list) return list_groups(cli);
    if (has_unknown(count, names, message, sizeof(message))) return cli_misuse(cli, message);
    uint64_t rounds = options->rounds == ARG_NO_COUNT ? 0 : options->rounds;
    const char *misuse = find_misuse(cli, options);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    static output csv, svg; /* large: paths */
    if (!output_open(cli, options->csv, &csv)) return cli_code(CAROM_IO);
    if (!output_open(cli, options->svg, &svg)) {
        (void)output_close(&csv, false);
        return cli_code(CAROM_IO);
    }
    bool silent = cli->json || csv.file == stdout || svg.file == stdout;
    carom_context_def def = {.threads = (uint32_t)cli->threads, .isa = (carom_isa)cli->isa};
    static bench b; /* large: all rows */
    b = (bench){.quick = options->quick, .rounds = (uint32_t)rounds, .def = &def};
    if (!silent) {
        b.on_row = print_row;
        b.on_note = print_note;
        b.user = &b;
        printf(
            "medians of interleaved rounds in ms, the slowest round, the 99.9th percentile (from "
            "1000\nrounds on) and the median on the device (where there is one); ratios to the "
            "first of its\njob, by the wall clock and by processor time\n\n"
            "%-24s %-22s %10s %10s %10s %10s %10s %9s %9s\n",
            "", "", "ms", "max", "p99.9", "device", "M/s", "wall", "processor");
    }
    for (size_t i = 0; bench_groups[i] != NULL; ++i)
        if (is_wanted(bench_groups[i], count, names)) bench_run(&b, bench_groups[i]);
    if (csv.file != NULL) bench_write_csv(csv.file, &b);
    if (svg.file != NULL) bench_write_svg(svg.file, &b);
    bool written = output_close(&csv, true);
    written = output_close(&svg, true) && written;
    if (!written) return cli_code(CAROM_IO);
    if (cli->json) print_json(cli, &b);
    if (bench_peer("peer_std_stable_sort") == NULL)
        fputs(
            "\nno peers: the module with other libraries' answers was not built here; `make bench` "
            "builds it\n",
            stderr);
    return CLI_OK;
}

static const char *group_name(int index) {
    return bench_groups[index] != NULL ? bench_groups[index]->name : NULL;
}

const cli_command bench_command = {
    .name = "bench",
    .program = "carom-bench",
    .arguments = "[NAME...]",
    .summary = "the benchmarks, ours and peers', side by side",
    .details =
        "Without a name, all of them but papers. Machines are noisy: read the ratios.\n\n"
        "papers runs alone: it measures the figures of the papers anew and writes each as\n"
        "CSV and SVG, and a page of all. With --device cuda it measures the rows of the GPU\n"
        "alone.",
    .options = bench_options,
    .option_count = sizeof(bench_options) / sizeof(bench_options[0]),
    .options_size = sizeof(options),
    .most = 64,
    .run = run,
    .words = group_name,
    .on_cuda = true,
    .defaults = &bench_defaults,
};
