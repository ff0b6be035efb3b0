/* SPDX-License-Identifier: MIT */
/* carom demo: runs every engine on built-in shapes; prints a table and writes a page with
 * pictures. */
#include "cli/demo.h"

#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "demo_parts.h"

typedef struct options {
    const char *folder;
} options;

static const arg_option demo_options[] = {
    {"--output", 'o', ARG_TEXT, offsetof(options, folder), "FOLDER",
     "where the page goes (carom-demo)", NULL},
};

#define PART_COUNT (sizeof(demo_parts) / sizeof(demo_parts[0]) - 1) /* without the NULL */

/* What --json prints on success. Nothing is printed before, as failures are objects too. */
typedef struct outcome {
    char result[sizeof(((demo *)0)->result)];
    double seconds;
} outcome;

static carom_status run_parts(demo *demo, outcome outcomes[PART_COUNT]) {
    for (size_t i = 0; i < PART_COUNT; ++i) {
        double start = carom_time_seconds();
        demo->result[0] = '\0';
        carom_status status = interrupt_seen() ? CAROM_CANCELLED : demo_parts[i]->run(demo);
        if (status != CAROM_OK) return status;
        outcomes[i].seconds = carom_time_seconds() - start;
        memcpy(outcomes[i].result, demo->result, sizeof(demo->result));
        if (demo->cli->json) continue;
        printf("%-8s %-44s %6.2f s\n         %s\n", demo_parts[i]->name, demo_parts[i]->what,
               outcomes[i].seconds, demo->result);
        fflush(stdout);
    }
    return CAROM_OK;
}

static void print_json(const cli *cli, const outcome outcomes[PART_COUNT], const char *path) {
    json j = cli_begin_json(cli);
    json_begin_array(&j, "parts");
    for (size_t i = 0; i < PART_COUNT; ++i) {
        json_begin_object(&j, NULL);
        json_text(&j, "name", demo_parts[i]->name);
        json_text(&j, "result", outcomes[i].result);
        json_number(&j, "seconds", outcomes[i].seconds);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_text(&j, "page", path);
    cli_end_json(&j);
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    const options *options = values;
    const char *folder = options->folder != NULL ? options->folder : "carom-demo", *reason;
    char message[512];
    if (output_is_standard(folder))
        return cli_misuse(cli, "-o takes a folder; the page cannot go to the standard "
                               "output");
    demo demo = {.cli = cli};
    outcome outcomes[PART_COUNT];
    if (!page_begin(&demo.page, folder, "Carom: the tour", &reason)) {
        snprintf(message, sizeof(message), "cannot write to '%.300s': %s; choose a folder with -o",
                 folder, reason);
        return cli_fail_with(cli, CAROM_IO, message);
    }
    carom_status status = run_parts(&demo, outcomes);
    if (status != CAROM_OK) {
        page_abandon(&demo.page);
        return cli_fail(cli, status);
    }
    if (!page_end(&demo.page)) {
        snprintf(message, sizeof(message), "cannot finish '%.300s'; is the disk full?",
                 demo.page.path);
        return cli_fail_with(cli, CAROM_IO, message);
    }
    if (cli->json)
        print_json(cli, outcomes, demo.page.path);
    else
        printf("\nThe page with pictures: %s\n", demo.page.path);
    return CLI_OK;
}

const cli_command cli_demo = {
    .order = 900,
    .name = "demo",
    .arguments = "[-o FOLDER]",
    .summary = "the tour: every engine, a table, a page with pictures",
    .options = demo_options,
    .option_count = sizeof(demo_options) / sizeof(demo_options[0]),
    .options_size = sizeof(options),
    .run = run,
};
