/* SPDX-License-Identifier: MIT */
/* The plots of a display as one SVG file, one below the other. */
#include <stdlib.h>

#include "cli/display.h"
#include "cli/page.h"
#include "cli/text.h"

#define TITLE_HEIGHT 26.0 /* in pixels */

static void put_plot(const display_plot *plot, double top, FILE *out) {
    page_curve *curves = calloc((size_t)plot->series_count + 1, sizeof(*curves));
    page_axes axes = {.x_label = plot->x, .y_label = plot->y, .linear_x = true, .linear_y = true};
    fprintf(out, "<g transform=\"translate(0 %.0f)\"><text x=\"60\" y=\"16\">", top);
    text_put_xml(out, plot->title);
    fprintf(out, "</text><g transform=\"translate(0 %.0f)\">\n", TITLE_HEIGHT);
    for (uint64_t i = 0; i < plot->series_count && curves != NULL; ++i) {
        const display_series *s = &plot->series[i];
        curves[i] = (page_curve){s->name, s->x, s->y, (size_t)s->count};
    }
    if (curves != NULL) page_draw_chart(out, &axes, curves, (size_t)plot->series_count);
    fputs("</g></g>\n", out);
    free(curves);
}

carom_status display_write_svg(const display *d, FILE *out) {
    double each = PAGE_CHART_HEIGHT + TITLE_HEIGHT;
    double height = each * (double)(d->plot_count != 0 ? d->plot_count : 1);
    if (d->no_memory) return CAROM_NO_MEMORY;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            PAGE_CHART_WIDTH, height, PAGE_CHART_WIDTH, height);
    for (uint64_t i = 0; i < d->plot_count; ++i) put_plot(&d->plots[i], each * (double)i, out);
    fputs("</svg>\n", out);
    return CAROM_OK;
}
