/* SPDX-License-Identifier: MIT */
/* The demo's last section: the machine it ran on. */
#include <math.h>
#include <stdio.h>

#include "cli/demo.h"

#define POINTS 1500

static void show_machine(page *page, const carom_context_info *info) {
    const carom_build *build = carom_build_get();
    char threads[16], cuda[256];
    snprintf(threads, sizeof(threads), "%u", info->threads);
    (void)carom_cuda_describe(cuda, sizeof(cuda));
    static const char *const heads[] = {"", "here"};
    const char *const rows[][2] = {
        {"version", build->version},   {"commit", build->commit},
        {"compiler", build->compiler}, {"instruction set", carom_isa_name(info->isa)},
        {"threads", threads},          {"CUDA", cuda}};
    page_begin_table(page, heads, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) page_row(page, rows[i], 2);
    page_end_table(page);
}

static void show_points(page *page) {
    carom_random random = {2026};
    page_begin_dots(page);
    for (int i = 0; i < POINTS; ++i) {
        double p[3], length = 0.0;
        for (int k = 0; k < 3; ++k) {
            p[k] = carom_random_normal(&random);
            length += p[k] * p[k];
        }
        length = sqrt(length);
        page_dot(page, p[0] / length, p[1] / length, p[2] / length);
    }
    page_end_dots(page, "1,500 directions from seed 2026: the same picture on every machine.");
}

static carom_status run(demo *demo) {
    carom_context_info info;
    carom_status status = carom_context_get_info(demo->cli->context, &info);
    if (status != CAROM_OK) return status;
    page_section(&demo->page, "This machine",
                 "All answers on this page are the same on every machine, with any number of "
                 "threads and with every instruction set; only the times differ.");
    show_machine(&demo->page, &info);
    show_points(&demo->page);
    snprintf(demo->result, sizeof(demo->result), "instruction set %s, %u threads",
             carom_isa_name(info.isa), info.threads);
    return CAROM_OK;
}

const demo_part demo_machine = {990, "machine", "what it ran on", run};
