/* SPDX-License-Identifier: MIT */
/* carom demo: runs every engine on built-in shapes; prints a table and writes a page with a scene
 * for each, a number, and the command that makes such a scene. The page is viewer/demo, into which
 * sections go one after another. */
#include "cli/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/text.h"
#include "demo_parts.h"

extern const unsigned char cli_demo_page[];
extern const size_t cli_demo_page_size;

#define BODY "@CAROM_BODY@" /* where sections go */

typedef struct options {
    const char *folder;
} options;

static const arg_option demo_options[] = {
    {"--output", 'o', ARG_TEXT, offsetof(options, folder), "FOLDER",
     "where the page goes (carom-demo)", NULL},
};

ENDINGS(page_names, "html");

#define PART_COUNT (sizeof(demo_parts) / sizeof(demo_parts[0]) - 1) /* without the NULL */

/* ---- The page -------------------------------------------------------------------------------- */

static void put_element(FILE *out, const char *tag, const char *class, const char *text) {
    fprintf(out, *class != '\0' ? "<%s class=\"%s\">" : "<%s>", tag, class);
    text_put_xml(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void put_commands(FILE *out, const char *lines) {
    fputs("<pre>", out);
    while (*lines != '\0') {
        char line[256];
        size_t length = strcspn(lines, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, lines);
        text_put_xml(out, line);
        lines += length;
        if (*lines == '\n') putc(*lines++, out);
    }
    fputs("</pre>\n", out);
}

static void put_contents(FILE *out) {
    fputs("<nav aria-label=\"Contents\">\n<ol>\n", out);
    for (size_t i = 0; i < PART_COUNT; ++i) {
        if (demo_parts[i]->title == NULL) continue;
        fprintf(out, "<li><a href=\"#%s\">", demo_parts[i]->name);
        text_put_xml(out, demo_parts[i]->title);
        fputs("</a></li>\n", out);
    }
    fputs("</ol>\n</nav>\n", out);
}

static void begin_section(FILE *out, const demo_part *part) {
    fprintf(out, "<section id=\"%s\"%s>\n", part->name,
            part->title == NULL ? " class=\"opening\"" : "");
    put_element(out, part->title == NULL ? "h1" : "h2", "",
                part->title == NULL ? "Carom: exact 3D collision detection" : part->title);
    put_element(out, "p", "", part->how);
    put_element(out, "p", "faint no-webgl",
                "This browser has no WebGL 2: scenes are pictures that the tool drew in advance.");
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Words with the digits of whole numbers in groups of three, as beside the scenes. */
static void put_words(FILE *out, const char *words) {
    char text[4 * sizeof(((demo *)0)->words) / 3 + 1];
    size_t length = 0;
    for (const char *c = words; *c != '\0';) {
        bool whole = c == words || (c[-1] != '.' && c[-1] != ',');
        size_t digits = 0;
        while (is_digit(c[digits])) ++digits;
        if (digits == 0) text[length++] = *c++;
        for (size_t left = digits; left > 0; --left) {
            text[length++] = *c++;
            if (whole && left > 1 && left % 3 == 1) text[length++] = ',';
        }
    }
    text[length] = '\0';
    text_put_xml(out, text);
}

static void end_section(FILE *out, const demo_part *part, const demo *demo) {
    if (demo->number[0] != '\0') {
        fputs("<p class=\"number\"><strong>", out);
        text_put_xml(out, demo->number);
        fputs("</strong> ", out);
        put_words(out, demo->words);
        fputs("</p>\n", out);
    }
    if (part->peer != NULL) put_element(out, "p", "peer", part->peer);
    if (part->commands != NULL) put_commands(out, part->commands);
    fputs("</section>\n", out);
    if (part->title == NULL) put_contents(out);
}

static const char *body_mark(void) {
    return strstr((const char *)cli_demo_page, BODY); /* a 0 ends the page's bytes */
}

static void put_head(FILE *out) {
    const char *start = (const char *)cli_demo_page;
    (void)fwrite(start, 1, (size_t)(body_mark() - start), out);
}

static void put_end(FILE *out) {
    fputs(body_mark() + sizeof(BODY) - 1, out);
}

/* ---- The tour -------------------------------------------------------------------------------- */

/* What --json prints on success. Nothing is printed before, as failures are objects too. */
typedef struct outcome {
    char result[sizeof(((demo *)0)->result)];
    double seconds;
} outcome;

static carom_status run_part(demo *demo, const demo_part *part) {
    demo->result[0] = demo->number[0] = demo->words[0] = '\0';
    begin_section(demo->page.out, part);
    carom_status status = interrupt_seen() ? CAROM_CANCELLED : part->run(demo);
    if (status == CAROM_OK) end_section(demo->page.out, part, demo);
    return status;
}

static carom_status run_parts(demo *demo, outcome outcomes[PART_COUNT]) {
    for (size_t i = 0; i < PART_COUNT; ++i) {
        double start = carom_time_seconds();
        carom_status status = run_part(demo, demo_parts[i]);
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

/* The address for a browser: file://, with all but a few characters of the path escaped. */
static void print_address(const char *path) {
    char whole[PLATFORM_LONGEST_PATH];
    bool found = carom_os_real_path(path, whole, sizeof(whole));
    const char *from = found ? whole : path;
    printf("\nThe page, which turns: file://%s", carom_os_is_separator(*from) ? "" : "/");
    for (const char *c = from; *c != '\0'; ++c) {
        char kept = carom_os_is_separator(*c) ? '/' : *c;
        bool plain = (kept >= 'a' && kept <= 'z') || (kept >= 'A' && kept <= 'Z') ||
                     (kept >= '0' && kept <= '9') || strchr("/-._~+,@:", kept) != NULL;
        printf(plain ? "%c" : "%%%02X", (unsigned char)kept);
    }
    putchar('\n');
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    static char written[PLATFORM_LONGEST_PATH]; /* is read after this call */
    const options *options = values;
    const char *folder = options->folder != NULL ? options->folder : "carom-demo", *reason;
    char message[512];
    if (output_is_standard(folder))
        return cli_misuse(cli, "-o takes a folder; the page cannot go to the standard "
                               "output");
    if (endings_format(folder, NULL, page_names) != NULL)
        return cli_misuse(cli, "-o takes a folder, in which index.html is written");
    demo demo = {.cli = cli};
    outcome outcomes[PART_COUNT];
    if (!page_open(&demo.page, folder, &reason)) {
        snprintf(message, sizeof(message), "cannot write to '%.300s': %s; choose a folder with -o",
                 folder, reason);
        return cli_fail_with(cli, CAROM_IO, message);
    }
    put_head(demo.page.out);
    carom_status status = run_parts(&demo, outcomes);
    if (status != CAROM_OK) {
        page_abandon(&demo.page);
        return cli_fail(cli, status);
    }
    put_end(demo.page.out);
    if (!page_close(&demo.page)) {
        snprintf(message, sizeof(message), "cannot finish '%.300s'; is the disk full?",
                 demo.page.path);
        return cli_fail_with(cli, CAROM_IO, message);
    }
    if (cli->json)
        print_json(cli, outcomes, demo.page.path);
    else
        print_address(demo.page.path);
    snprintf(written, sizeof(written), "%s", demo.page.path);
    cli->page = written;
    return CLI_OK;
}

const cli_command cli_demo = {
    .order = 900,
    .name = "demo",
    .arguments = "[-o FOLDER]",
    .summary = "the tour: every engine, a table, a page with scenes that turn",
    .options = demo_options,
    .option_count = sizeof(demo_options) / sizeof(demo_options[0]),
    .options_size = sizeof(options),
    .run = run,
    .makes_page = true,
};
