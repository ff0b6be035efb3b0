/* SPDX-License-Identifier: MIT */
/* carom demo: the tour of every engine on built-in shapes, a table, and a page with pictures. */
#include "cli/demo.h"

#include <stdio.h>

typedef struct options {
    const char *folder;
} options;

static const arg_option demo_options[] = {
    {"--output", 'o', ARG_TEXT, offsetof(options, folder), "FOLDER",
     "where the page goes (carom-demo)", NULL},
};

static const demo_part *const parts[] = {&demo_base, &demo_mesh, &demo_soup, NULL};

static carom_status run_parts(demo *demo, json *j) {
    if (j != NULL) json_begin_array(j, "parts");
    for (size_t i = 0; parts[i] != NULL; ++i) {
        double start = carom_time_seconds();
        demo->result[0] = '\0';
        carom_status status = parts[i]->run(demo);
        if (status != CAROM_OK) return status;
        double seconds = carom_time_seconds() - start;
        if (j != NULL) {
            json_begin_object(j, NULL);
            json_text(j, "name", parts[i]->name);
            json_text(j, "result", demo->result);
            json_number(j, "seconds", seconds);
            json_end_object(j);
        } else {
            printf("%-8s %-44s %6.2f s\n         %s\n", parts[i]->name, parts[i]->what, seconds,
                   demo->result);
            fflush(stdout);
        }
    }
    if (j != NULL) json_end_array(j);
    return CAROM_OK;
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    const options *options = values;
    const char *folder = options->folder != NULL ? options->folder : "carom-demo", *reason;
    demo demo = {.cli = cli};
    if (!page_begin(&demo.page, folder, "Carom: the tour", &reason)) {
        fprintf(stderr, "carom demo: cannot write to '%s': %s; choose a folder with -o\n", folder,
                reason);
        return CLI_INPUT;
    }
    json j = {stdout, false};
    if (cli->json) json_begin_object(&j, NULL);
    carom_status status = run_parts(&demo, cli->json ? &j : NULL);
    if (status != CAROM_OK) {
        page_abandon(&demo.page);
        return cli_fail(cli, status);
    }
    if (!page_end(&demo.page)) {
        fprintf(stderr, "carom demo: cannot finish '%s'; is the disk full?\n", demo.page.path);
        return CLI_MACHINE;
    }
    if (cli->json) {
        json_text(&j, "page", demo.page.path);
        json_end_object(&j);
        putchar('\n');
    } else {
        printf("\nThe page with pictures: %s\n", demo.page.path);
    }
    return CLI_OK;
}

const cli_command cli_demo = {
    .name = "demo",
    .arguments = "[-o FOLDER]",
    .summary = "the tour: every engine, a table, a page with pictures",
    .options = demo_options,
    .option_count = sizeof(demo_options) / sizeof(demo_options[0]),
    .options_size = sizeof(options),
    .run = run,
};
