/* SPDX-License-Identifier: MIT */
/* The demo's last section: the machine it ran on. */
#include <stdio.h>

#include "cli/demo.h"
#include "cli/text.h"

static void show_machine(page *page, const carom_context_info *info) {
    const carom_build *build = carom_build_get();
    char threads[16];
    snprintf(threads, sizeof(threads), "%u", info->threads);
    static const char *const heads[] = {"", "here"};
    const char *const rows[][2] = {{"version", build->version},
                                   {"commit", build->commit},
                                   {"compiler", build->compiler},
                                   {"instruction set", carom_isa_name(info->isa)},
                                   {"threads", threads}};
    page_begin_table(page, heads, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) page_row(page, rows[i], 2);
    page_end_table(page);
}

/* Says whether there is a GPU, and what it would change. */
static void show_gpu(page *page) {
    char cuda[256];
    bool found = carom_cuda_describe(cuda, sizeof(cuda));
    fputs("<p>", page->out);
    if (found) {
        fputs("A GPU is here: ", page->out);
        text_put_xml(page->out, cuda);
        fputs(". With --device cuda most queries run on it and give the same bytes.", page->out);
    } else {
        fputs("There is no GPU here that Carom can use, so everything ran on the processor; with "
              "one, the answers would be the same bytes.",
              page->out);
    }
    fputs("</p>\n", page->out);
}

static carom_status run(demo *demo) {
    carom_context_info info;
    carom_status status = carom_context_get_info(demo->cli->context, &info);
    if (status != CAROM_OK) return status;
    show_machine(&demo->page, &info);
    show_gpu(&demo->page);
    snprintf(demo->result, sizeof(demo->result), "instruction set %s, %u threads",
             carom_isa_name(info.isa), info.threads);
    return CAROM_OK;
}

const demo_part demo_machine = {
    990,
    "machine",
    "what it ran on",
    "What did this run on?",
    "All answers on this page are the same on every machine, with any number of threads and with "
    "every instruction set; only the times differ.",
    NULL,
    "carom --version",
    run};
