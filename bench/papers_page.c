/* SPDX-License-Identifier: MIT */
/* carom-bench papers: the figures of the papers as CSV, as SVG and on one page. Each file is
 * complete or absent, and the page comes last. */
#define _POSIX_C_SOURCE 200809L
#include "bench/papers_page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output.h"
#include "cli/page.h"
#include "cli/picture.h"
#include "cli/text.h"

/* ---- CSV ------------------------------------------------------------------------------------- */

void bench_papers_write_csv(FILE *out, const papers_plot *plot) {
    fputs("series", out);
    for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
        fprintf(out, ",%s", plot->figure->columns[c]);
    putc('\n', out);
    for (uint32_t i = 0; i < plot->row_count; ++i) {
        fprintf(out, "\"%s\"", plot->rows[i].series);
        for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
            fprintf(out, ",%.9g", plot->rows[i].values[c]);
        putc('\n', out);
    }
}

/* The rows of a GPU, for bench/papers_device.csv. */
static void record_device(FILE *out, const papers_plot *plot, const char *device) {
    char date[16];
    time_t now = time(NULL);
    struct tm day;
    if (gmtime_r(&now, &day) == NULL || strftime(date, sizeof(date), "%Y-%m-%d", &day) == 0) return;
    for (uint32_t i = 0; i < plot->row_count; ++i) {
        const papers_row *row = &plot->rows[i];
        if (!row->on_device) continue;
        fprintf(out, "%s,%s,%s,%s", plot->figure->name, date, device, row->series);
        for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
            fprintf(out, ",%.6g", row->values[c]);
        putc('\n', out);
    }
}

/* ---- SVG ------------------------------------------------------------------------------------- */

/* In pixels. */
#define PICTURE 310.0 /* a picture with its caption */
#define GAP     12.0
#define LINE    20.0                      /* of text */
#define ACROSS  2u                        /* pictures in a row */
#define WIDTH   (PAGE_CHART_WIDTH + 40.0) /* names of curves are long */

#define MOST_CURVES 24

static void put_text_at(FILE *out, double x, double y, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    text_put_xml(out, text);
    fputs("</text>\n", out);
}

static void draw_pictures(FILE *out, const papers_plot *plot, double top) {
    page inner = {.out = out};
    for (uint32_t i = 0; i < plot->picture_count; ++i) {
        const papers_picture *picture = &plot->pictures[i];
        double x = (i % ACROSS) * (PICTURE + GAP), y = top + (i / ACROSS) * (PICTURE + LINE);
        carom_mesh_view view;
        fprintf(out,
                "<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"-1.05 -1.05 2.1 2.1\" stroke-width=\".004\">\n",
                x, y, PICTURE, PICTURE);
        if (picture->mesh != NULL && carom_mesh_get_view(picture->mesh, &view) == CAROM_OK)
            (void)picture_draw(&inner, &view, &(picture_def){.closed = true, .bare = true}, NULL);
        else
            (void)picture_draw_balls(&inner, picture->balls, picture->colours, picture->count);
        fputs("</svg>\n", out);
        put_text_at(out, x, y + PICTURE + 14.0, picture->caption);
    }
}

static bool is_in(const papers_panel *panel, const papers_row *row) {
    return panel->only == NULL || strncmp(row->series, panel->only, strlen(panel->only)) == 0;
}

/* A point of a curve; of stacked columns the sum of those up to this one. */
static double point_of(const papers_panel *panel, const papers_row *row, uint32_t column) {
    double value = row->values[column];
    for (uint32_t c = panel->y; c < column && panel->scale_y == PAPERS_STACKED; ++c)
        value += row->values[c];
    return value;
}

/* The curves or bars of a panel: for each column, the series in the order of their first rows. Of
 * stacked columns the last, which is the highest, comes first, so that the others are in front of
 * it. */
static void draw_panel(FILE *out, const papers_plot *plot, const papers_panel *panel) {
    static char names[MOST_CURVES][96];
    page_curve curves[MOST_CURVES];
    size_t count = 0;
    uint32_t rows = plot->row_count;
    double *numbers = malloc(2 * MOST_CURVES * (size_t)rows * sizeof(*numbers));
    if (numbers == NULL) return;
    bool stacked = panel->scale_y == PAPERS_STACKED;
    for (uint32_t n = 0; n < panel->y_end - panel->y; ++n) {
        uint32_t column = stacked ? panel->y_end - 1 - n : panel->y + n;
        size_t first = count;
        for (uint32_t i = 0; i < rows; ++i) {
            const papers_row *row = &plot->rows[i];
            if (!is_in(panel, row)) continue;
            char name[sizeof(names[0])];
            if (panel->y_end - panel->y > 1)
                snprintf(name, sizeof(name), "%s: %s", row->series, plot->figure->columns[column]);
            else
                snprintf(name, sizeof(name), "%s", row->series);
            size_t c = first;
            while (c < count && strcmp(names[c], name) != 0) ++c;
            if (c == MOST_CURVES) continue;
            double *x = numbers + 2 * c * (size_t)rows, *y = x + rows;
            if (c == count) {
                memcpy(names[c], name, sizeof(name));
                curves[count++] = (page_curve){names[c], x, y, 0};
            }
            x[curves[c].count] = row->values[panel->x];
            y[curves[c].count++] = point_of(panel, row, column);
        }
    }
    page_axes axes = {panel->x_label, panel->y_label, panel->linear_x,
                      panel->scale_y != PAPERS_LOGARITHMIC, stacked};
    page_draw_chart(out, &axes, curves, count);
    free(numbers);
}

void bench_papers_write_svg(FILE *out, const papers_plot *plot) {
    uint32_t panels = 0;
    while (plot->figure->panels[panels].title != NULL) ++panels;
    uint32_t lines = (plot->picture_count + ACROSS - 1) / ACROSS;
    double top = LINE + GAP;
    double height = top + lines * (PICTURE + LINE) + panels * (PAGE_CHART_HEIGHT + LINE + GAP);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui,sans-serif\" font-size=\"12\" "
            "fill=\"#445\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height);
    put_text_at(out, 4.0, LINE, plot->figure->what);
    draw_pictures(out, plot, top);
    top += lines * (PICTURE + LINE);
    for (uint32_t i = 0; i < panels; ++i, top += PAGE_CHART_HEIGHT + LINE + GAP) {
        put_text_at(out, 60.0, top + LINE, plot->figure->panels[i].title);
        fprintf(out, "<g transform=\"translate(0 %.1f)\">\n", top + LINE);
        draw_panel(out, plot, &plot->figure->panels[i]);
        fputs("</g>\n", out);
    }
    fputs("</svg>\n", out);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_section(page *page, const papers_plot *plot) {
    const papers_figure *figure = plot->figure;
    page_section(page, figure->name, figure->what);
    fputs("<p><b>Printed:</b> ", page->out);
    text_put_xml(page->out, figure->printed);
    fputs("</p>\n<figure>", page->out);
    bench_papers_write_svg(page->out, plot);
    fprintf(page->out,
            "<figcaption>carom bench papers --only %s: <a href=\"%s.csv\">CSV</a>, "
            "<a href=\"%s.svg\">SVG</a>, %.1f s</figcaption></figure>\n",
            figure->name, figure->name, figure->name, plot->seconds);
    for (uint32_t i = 0; i < plot->note_count; ++i) {
        fputs("<p>", page->out);
        text_put_xml(page->out, plot->notes[i]);
        fputs("</p>\n", page->out);
    }
}

static void put_head(page *page, const cli *cli, const bench_papers_def *def,
                     const papers_lab *lab) {
    char words[512], gpu[256];
    (void)carom_cuda_describe(gpu, sizeof(gpu));
    snprintf(words, sizeof(words),
             "Measured by carom bench papers%s; threads: %llu (0: all); GPU: %s. Times are the "
             "best of several turns, on one thread those of the processor. docs/papers.md says how "
             "each compares "
             "with what was printed.",
             def->quick ? " --quick, with small inputs" : "", (unsigned long long)cli->threads,
             lab->device != NULL ? gpu : "none, rows recorded earlier are dated");
    fputs("<p>", page->out);
    text_put_xml(page->out, words);
    fputs("</p>\n", page->out);
}

/* ---- The command ----------------------------------------------------------------------------- */

int bench_papers_list(const cli *cli) {
    json j = {stdout, false};
    if (cli->json) {
        j = cli_begin_json(cli);
        json_begin_array(&j, "figures");
    }
    for (size_t p = 0; papers_all[p] != NULL; ++p) {
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i) {
            const papers_figure *figure = &papers_all[p]->figures[i];
            if (cli->json)
                json_text(&j, NULL, figure->name);
            else
                printf("%-18s %s\n", figure->name, figure->what);
        }
    }
    if (cli->json) {
        json_end_array(&j);
        cli_end_json(&j);
    }
    return CLI_OK;
}

static bool is_wanted(const papers_paper *paper, const papers_figure *figure,
                      const bench_papers_def *def) {
    if (def->device_only && !figure->has_device) return false;
    return def->only == NULL || strcmp(paper->name, def->only) == 0 ||
           strcmp(figure->name, def->only) == 0;
}

static uint32_t count_wanted(const bench_papers_def *def) {
    uint32_t count = 0;
    for (size_t p = 0; papers_all[p] != NULL; ++p)
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i)
            count += is_wanted(papers_all[p], &papers_all[p]->figures[i], def);
    return count;
}

static bool write_file(cli *cli, const bench_papers_def *def, const char *ending,
                       const papers_plot *plot, void (*write)(FILE *, const papers_plot *)) {
    static output o; /* large: paths */
    char path[4200];
    o = (output){.cli = NULL};
    snprintf(path, sizeof(path), "%.4000s/%s.%s", def->folder, plot->figure->name, ending);
    if (!output_open(cli, path, &o)) return false;
    write(o.file, plot);
    return output_close(&o, true);
}

/* Runs one figure and writes its files and its section. */
static int run_figure(cli *cli, const bench_papers_def *def, papers_lab *lab, page *page, json *j,
                      FILE *device, const papers_figure *figure) {
    static papers_plot plot; /* large: notes */
    int code = CLI_OK;
    if (!papers_run(lab, figure, &plot)) {
        char message[512];
        snprintf(message, sizeof(message), "%s could not be measured: %.300s", figure->name,
                 papers_plot_reason(&plot));
        code = cli_fail_with(cli, CAROM_UNSUPPORTED, message);
    } else if (!write_file(cli, def, "csv", &plot, bench_papers_write_csv) ||
               !write_file(cli, def, "svg", &plot, bench_papers_write_svg)) {
        code = cli_code(CAROM_IO);
    } else {
        char gpu[256];
        put_section(page, &plot);
        if (device != NULL && carom_cuda_describe(gpu, sizeof(gpu))) {
            gpu[strcspn(gpu, ",;")] = '\0'; /* the name alone */
            record_device(device, &plot, gpu);
        }
        if (cli->json) {
            json_begin_object(j, NULL);
            json_text(j, "name", figure->name);
            json_count(j, "rows", plot.row_count);
            json_number(j, "seconds", plot.seconds);
            json_end_object(j);
        } else {
            printf("%-18s %4u rows %8.1f s\n", figure->name, plot.row_count, plot.seconds);
            for (uint32_t i = 0; i < plot.note_count; ++i) printf("    %s\n", plot.notes[i]);
            fflush(stdout);
        }
    }
    papers_plot_free(&plot);
    return code;
}

static int run_all(cli *cli, const bench_papers_def *def, papers_lab *lab, page *page) {
    static output device; /* large: paths */
    char path[4200];
    int code = CLI_OK;
    device = (output){.cli = NULL};
    snprintf(path, sizeof(path), "%.4000s/papers_device.csv", def->folder);
    if (lab->device != NULL && !output_open(cli, path, &device)) return cli_code(CAROM_IO);
    json j = {stdout, false};
    if (cli->json) {
        j = cli_begin_json(cli);
        json_text(&j, "folder", def->folder);
        json_begin_array(&j, "figures");
    }
    for (size_t p = 0; papers_all[p] != NULL && code == CLI_OK; ++p) {
        bool begun = false;
        for (uint32_t i = 0; i < papers_all[p]->figure_count && code == CLI_OK; ++i) {
            const papers_figure *figure = &papers_all[p]->figures[i];
            if (!is_wanted(papers_all[p], figure, def)) continue;
            if (!begun) page_section(page, papers_all[p]->title, "");
            begun = true;
            code = run_figure(cli, def, lab, page, &j, device.file, figure);
        }
    }
    if (cli->json && code == CLI_OK) {
        json_end_array(&j);
        cli_end_json(&j);
    }
    bool written = lab->device == NULL || output_close(&device, code == CLI_OK);
    return written ? code : cli_code(CAROM_IO);
}

int bench_papers_run(cli *cli, const bench_papers_def *def) {
    static papers_lab lab; /* large: packings */
    static page page;      /* large: its path */
    char message[192];
    const char *reason;
    if (count_wanted(def) == 0) {
        snprintf(message, sizeof(message),
                 "no figure '%.60s'%s; carom bench papers --list shows all", def->only,
                 def->device_only ? " with rows of a GPU" : "");
        return cli_misuse(cli, message);
    }
    if (!page_begin(&page, def->folder, "The papers' figures, by Carom", &reason)) {
        snprintf(message, sizeof(message), "cannot write into '%.80s': %.80s", def->folder, reason);
        return cli_fail_with(cli, CAROM_IO, message);
    }
    carom_context_def of_lab = {
        .threads = (uint32_t)cli->threads,
        .isa = (carom_isa)cli->isa,
        .backend = def->device_only ? CAROM_BACKEND_CUDA : CAROM_BACKEND_CPU,
    };
    int code = CLI_MACHINE;
    if (papers_lab_open(&lab, &of_lab, def->quick)) {
        put_head(&page, cli, def, &lab);
        code = run_all(cli, def, &lab, &page);
    } else {
        code = cli_fail_with(cli, CAROM_NO_MEMORY, carom_context_message(NULL));
    }
    papers_lab_close(&lab);
    if (code != CLI_OK) {
        page_abandon(&page);
    } else if (!page_end(&page)) {
        code = cli_fail_with(cli, CAROM_IO, "the page could not be written");
    } else if (!cli->json) {
        printf("%s/index.html\n", def->folder);
    }
    return code;
}
