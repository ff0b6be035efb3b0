/* SPDX-License-Identifier: MIT */
/* carom-bench papers: the figures of the papers as CSV, as SVG and on one page, with a table of
 * what is printed and of ours. Each file is complete or absent, and the page comes last. With
 * --only the page keeps the sections that earlier runs have put there. */
#include "bench/papers_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/input.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/paint.h"
#include "cli/platform.h"
#include "cli/text.h"

/* ---- CSV ------------------------------------------------------------------------------------- */

void bench_papers_write_csv(FILE *out, const papers_plot *plot) {
    fputs("series,algorithm,backend,triangles_measured", out);
    for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
        fprintf(out, ",%s", plot->figure->columns[c]);
    putc('\n', out);
    for (uint32_t i = 0; i < plot->row_count; ++i) {
        const papers_row *row = &plot->rows[i];
        fprintf(out, "\"%s\",\"%s\",\"%s\",%llu", row->series, row->algorithm,
                papers_backend_name(row->backend), (unsigned long long)row->triangles);
        for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
            fprintf(out, ",%.9g", row->values[c]);
        putc('\n', out);
    }
}

/* The rows of a GPU, for bench/papers_device.csv. Commas of a series are bars there. */
static void record_device(FILE *out, const papers_plot *plot, const char *device) {
    char date[16];
    time_t now = time(NULL);
    struct tm day;
    if (!platform_utc(now, &day) || strftime(date, sizeof(date), "%Y-%m-%d", &day) == 0) return;
    for (uint32_t i = 0; i < plot->row_count; ++i) {
        const papers_row *row = &plot->rows[i];
        if (row->backend != PAPERS_GPU) continue;
        fprintf(out, "%s,%s,%s,%s,%s,%llu,", plot->figure->name, date, carom_build_get()->commit,
                device, row->algorithm, (unsigned long long)row->triangles);
        for (const char *c = row->series; *c != '\0'; ++c) putc(*c == ',' ? '|' : *c, out);
        for (uint32_t c = 0; plot->figure->columns[c] != NULL; ++c)
            fprintf(out, ",%.6g", row->values[c]);
        putc('\n', out);
    }
}

/* ---- SVG ------------------------------------------------------------------------------------- */

/* In pixels. */
#define PICTURE 310.0 /* a picture with its caption */
#define GAP     12.0
#define LINE    20.0 /* of text */
#define ACROSS  2u   /* pictures in a row */

#define MOST_CURVES 24

static void put_text_at(FILE *out, double x, double y, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    text_put_xml(out, text);
    fputs("</text>\n", out);
}

/* Pictures of spheres have these colours. */
static display_colour colour_of(uint8_t index) {
    static const display_colour colours[] = {
        {96, 165, 250, 255}, {240, 130, 110, 255}, {110, 200, 150, 255}, {190, 150, 235, 255}};
    return colours[index % (sizeof(colours) / sizeof(colours[0]))];
}

/* A mesh, or balls. */
static carom_status show_picture(cli *cli, const papers_picture *picture, display *d) {
    carom_mesh_view view;
    display_mesh mesh = {0};
    carom_status status = CAROM_OK;
    display_begin(d, cli, picture->caption);
    if (picture->mesh != NULL) {
        status = carom_mesh_get_view(picture->mesh, &view);
        if (status == CAROM_OK) status = display_mesh_open(cli, &view, false, NULL, &mesh);
        if (status == CAROM_OK) display_add_mesh(d, &mesh, picture->caption);
        display_mesh_close(&mesh);
        return status;
    }
    display_item *item = display_add(d, DISPLAY_SPHERES, picture->caption);
    for (uint32_t i = 0; i < picture->count; ++i) {
        display_add_sphere(d, item, picture->balls[i].centre, picture->balls[i].radius);
        display_add_colour(d, item, colour_of(picture->colours[i]));
    }
    return status;
}

static void draw_pictures(FILE *out, const papers_plot *plot, double top) {
    cli cli = {.context = plot->lab->serial};
    for (uint32_t i = 0; i < plot->picture_count; ++i) {
        const papers_picture *picture = &plot->pictures[i];
        double x = (i % ACROSS) * (PICTURE + GAP), y = top + (i / ACROSS) * (PICTURE + LINE);
        display d = {0};
        fprintf(out,
                "<image x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" "
                "href=\"data:image/png;base64,",
                x, y, PICTURE, PICTURE);
        if (show_picture(&cli, picture, &d) == CAROM_OK)
            (void)paint_base64(&d, NULL, 2 * (uint32_t)PICTURE, 2 * (uint32_t)PICTURE, out);
        fputs("\"/>\n", out);
        display_free(&d);
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

/* The curves or bars of a panel. Names and numbers are those of the last call. */
typedef struct panel_curves {
    page_curve curves[MOST_CURVES];
    char names[MOST_CURVES][96];
    size_t count;
    double *numbers;
} panel_curves;

/* What a curve is called: what its panel says already, as all its series begin with that, is left
 * out. */
static void name_curve(char *name, size_t size, const papers_plot *plot, const papers_panel *panel,
                       const papers_row *row, uint32_t column) {
    const char *series = row->series;
    if (panel->only != NULL) {
        series += strlen(panel->only);
        series += strspn(series, ":, ");
    }
    bool several = panel->y_end - panel->y > 1;
    if (several)
        snprintf(name, size, "%s%s%s", series, *series != '\0' ? ": " : "",
                 plot->figure->columns[column]);
    else
        snprintf(name, size, "%s", *series != '\0' ? series : row->series);
}

/* For each column, the series in the order of their first rows. Of stacked columns the last, which
 * is the highest, comes first, so that the others are in front of it. False: no memory. */
static bool list_curves(const papers_plot *plot, const papers_panel *panel, panel_curves *to) {
    uint32_t rows = plot->row_count;
    bool stacked = panel->scale_y == PAPERS_STACKED;
    to->count = 0;
    to->numbers = malloc((2 * MOST_CURVES * (size_t)rows + 1) * sizeof(*to->numbers));
    if (to->numbers == NULL) return false;
    for (uint32_t n = 0; n < panel->y_end - panel->y; ++n) {
        uint32_t column = stacked ? panel->y_end - 1 - n : panel->y + n;
        size_t first = to->count;
        for (uint32_t i = 0; i < rows; ++i) {
            const papers_row *row = &plot->rows[i];
            char name[sizeof(to->names[0])];
            if (!is_in(panel, row)) continue;
            name_curve(name, sizeof(name), plot, panel, row, column);
            size_t c = first;
            while (c < to->count && strcmp(to->names[c], name) != 0) ++c;
            if (c == MOST_CURVES) continue;
            double *x = to->numbers + 2 * c * (size_t)rows, *y = x + rows;
            if (c == to->count) {
                memcpy(to->names[c], name, sizeof(name));
                to->curves[to->count++] = (page_curve){to->names[c], x, y, 0};
            }
            x[to->curves[c].count] = row->values[panel->x];
            y[to->curves[c].count++] = point_of(panel, row, column);
        }
    }
    return true;
}

/* Draws a panel below `top` and returns its height. One without rows, such as that of a GPU where
 * there is none, is a line of text. */
static double draw_panel(FILE *out, const papers_plot *plot, const papers_panel *panel,
                         double top) {
    static panel_curves list; /* large: names */
    char text[160];
    double height = LINE + GAP;
    if (!list_curves(plot, panel, &list)) return 0.0;
    snprintf(text, sizeof(text), "%s%s", panel->title, list.count == 0 ? ": no rows here" : "");
    if (out != NULL) put_text_at(out, 72.0, top + LINE, text);
    if (list.count != 0) {
        page_axes axes = {panel->x_label, panel->y_label, panel->linear_x,
                          panel->scale_y != PAPERS_LOGARITHMIC, panel->scale_y == PAPERS_STACKED};
        height += PAGE_CHART_HEIGHT;
        if (out != NULL) {
            fprintf(out, "<g transform=\"translate(0 %.1f)\">\n", top + LINE);
            page_draw_chart(out, &axes, list.curves, list.count);
            fputs("</g>\n", out);
        }
    }
    free(list.numbers);
    return height;
}

/* The width that the longest name of a curve, title or caption takes. */
static double picture_width(const papers_plot *plot) {
    static panel_curves list; /* large: names */
    double width = fmax(PAGE_CHART_WIDTH, page_text_width(plot->figure->what) + 2.0 * GAP);
    for (uint32_t i = 0; plot->figure->panels[i].title != NULL; ++i) {
        if (!list_curves(plot, &plot->figure->panels[i], &list)) continue;
        width = fmax(width, page_chart_width(list.curves, list.count));
        free(list.numbers);
    }
    for (uint32_t i = 0; i < plot->picture_count; ++i)
        width = fmax(width, (i % ACROSS) * (PICTURE + GAP) +
                                fmax(PICTURE, page_text_width(plot->pictures[i].caption)));
    return ceil(width);
}

void bench_papers_write_svg(FILE *out, const papers_plot *plot) {
    const papers_panel *panels = plot->figure->panels;
    uint32_t lines = (plot->picture_count + ACROSS - 1) / ACROSS;
    double top = LINE + GAP, width = picture_width(plot);
    double height = top + lines * (PICTURE + LINE);
    for (uint32_t i = 0; panels[i].title != NULL; ++i)
        height += draw_panel(NULL, plot, &panels[i], 0.0);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui,sans-serif\" font-size=\"12\" "
            "fill=\"#445\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
    put_text_at(out, 4.0, LINE, plot->figure->what);
    draw_pictures(out, plot, top);
    top += lines * (PICTURE + LINE);
    for (uint32_t i = 0; panels[i].title != NULL; ++i)
        top += draw_panel(out, plot, &panels[i], top);
    fputs("</svg>\n", out);
}

/* ---- Ours, printed, ratio -------------------------------------------------------------------- */

/* "1.23 ms" */
static void print_value(char *text, size_t size, double value, const char *unit) {
    snprintf(text, size, value >= 1000.0 ? "%.0f %s" : "%.3g %s", value, unit);
}

static void print_comparisons(const papers_plot *plot) {
    if (plot->comparison_count == 0) {
        printf("    printed: no number to compare with\n");
        return;
    }
    printf("    %12s %12s %14s\n", "ours", "printed", "ours/printed");
    for (uint32_t i = 0; i < plot->comparison_count; ++i) {
        const papers_comparison *c = &plot->comparisons[i];
        char ours[32], printed[32];
        print_value(ours, sizeof(ours), c->ours, c->unit);
        print_value(printed, sizeof(printed), c->printed, c->unit);
        printf("    %12s %12s %14.3g  %s\n", ours, printed, c->ours / c->printed, c->what);
    }
    if (plot->lab->quick) printf("    (small inputs: these ratios say nothing of the papers)\n");
}

static void put_comparisons(page *page, const papers_plot *plot) {
    static const char *const heads[] = {"", "ours", "printed", "ours / printed"};
    if (plot->comparison_count == 0) return;
    page_begin_table(page, heads, 4);
    for (uint32_t i = 0; i < plot->comparison_count; ++i) {
        const papers_comparison *c = &plot->comparisons[i];
        char ours[32], printed[32], ratio[32];
        print_value(ours, sizeof(ours), c->ours, c->unit);
        print_value(printed, sizeof(printed), c->printed, c->unit);
        snprintf(ratio, sizeof(ratio), "%.3g", c->ours / c->printed);
        page_row(page, (const char *const[]){c->what, ours, printed, ratio}, 4);
    }
    page_end_table(page);
}

static void put_comparisons_json(json *j, const papers_plot *plot) {
    json_begin_array(j, "comparisons");
    for (uint32_t i = 0; i < plot->comparison_count; ++i) {
        const papers_comparison *c = &plot->comparisons[i];
        json_begin_object(j, NULL);
        json_text(j, "what", c->what);
        json_text(j, "unit", c->unit);
        json_number(j, "ours", c->ours);
        json_number(j, "printed", c->printed);
        json_number(j, "ratio", c->ours / c->printed);
        json_end_object(j);
    }
    json_end_array(j);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* A section stands between these, so that the next run can keep it. */
#define SECTION_BEGIN "<!-- figure %s -->\n"
#define SECTION_END   "<!-- end of figure -->\n"

#define MOST_EARLIER (UINT64_C(1) << 28) /* bytes of a page; that of all figures has 2 MB */

static void put_section(page *page, const cli *cli, const papers_plot *plot) {
    const papers_figure *figure = plot->figure;
    char date[16] = "", gpu[256] = "none; rows recorded earlier are dated";
    time_t now = time(NULL);
    struct tm day;
    if (platform_utc(now, &day)) (void)strftime(date, sizeof(date), "%Y-%m-%d", &day);
    if (plot->lab->device != NULL) (void)carom_cuda_describe(gpu, sizeof(gpu));
    fprintf(page->out, SECTION_BEGIN, figure->name);
    page_section(page, figure->name, figure->what);
    fputs("<p><b>Printed:</b> ", page->out);
    text_put_xml(page->out, figure->printed);
    fputs("</p>\n", page->out);
    put_comparisons(page, plot);
    fputs("<figure>", page->out);
    bench_papers_write_svg(page->out, plot);
    fprintf(page->out,
            "<figcaption>carom bench papers --only %s%s: <a href=\"%s.csv\">CSV</a>, "
            "<a href=\"%s.svg\">SVG</a>, took %.1f s on %s; threads: %llu (0: all); GPU: ",
            figure->name, plot->lab->quick ? " --quick, with small inputs" : "", figure->name,
            figure->name, plot->seconds, date, (unsigned long long)cli->threads);
    text_put_xml(page->out, gpu);
    fputs("</figcaption></figure>\n", page->out);
    for (uint32_t i = 0; i < plot->note_count; ++i) {
        fputs("<p>", page->out);
        text_put_xml(page->out, plot->notes[i]);
        fputs("</p>\n", page->out);
    }
    fputs(SECTION_END, page->out);
}

/* The section of a figure on the page of an earlier run, which may be NULL; NULL: it has none. */
static const char *find_section(const char *earlier, const papers_figure *figure, size_t *size) {
    char mark[128];
    snprintf(mark, sizeof(mark), SECTION_BEGIN, figure->name);
    const char *begin = earlier != NULL ? strstr(earlier, mark) : NULL;
    const char *end = begin != NULL ? strstr(begin, SECTION_END) : NULL;
    if (end != NULL) *size = (size_t)(end - begin) + strlen(SECTION_END);
    return end != NULL ? begin : NULL;
}

/* The page of an earlier run in the folder, or NULL; free with free(). A byte 0 ends it. */
static char *read_earlier(const char *folder) {
    char path[4200], reason[256], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof(path), "%.4000s/index.html", folder);
    if (input_all(path, MOST_EARLIER, &text, &size, reason, sizeof(reason)) != CAROM_OK)
        return NULL;
    char *ended = realloc(text, size + 1);
    if (ended == NULL) {
        free(text);
        return NULL;
    }
    ended[size] = '\0';
    return ended;
}

static void put_head(page *page) {
    fputs(
        "<p>Measured by carom bench papers, each figure when its caption says. Times are the best "
        "of several turns, on one thread those of the processor. docs/papers.md says how each "
        "compares with what was printed.</p>\n",
        page->out);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* The columns of each figure and the labels of its axes. */
static void list_tables(json *j) {
    json_begin_array(j, "tables");
    for (size_t p = 0; papers_all[p] != NULL; ++p) {
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i) {
            const papers_figure *figure = &papers_all[p]->figures[i];
            json_begin_object(j, NULL);
            json_text(j, "name", figure->name);
            json_begin_array(j, "columns");
            for (uint32_t c = 0; figure->columns[c] != NULL; ++c)
                json_text(j, NULL, figure->columns[c]);
            json_end_array(j);
            json_begin_array(j, "axes");
            for (uint32_t k = 0; figure->panels[k].title != NULL; ++k) {
                json_begin_object(j, NULL);
                json_text(j, "title", figure->panels[k].title);
                json_text(j, "x", figure->panels[k].x_label);
                json_text(j, "x_column", figure->columns[figure->panels[k].x]);
                json_text(j, "y", figure->panels[k].y_label);
                json_end_object(j);
            }
            json_end_array(j);
            json_end_object(j);
        }
    }
    json_end_array(j);
}

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
        list_tables(&j);
        cli_end_json(&j);
    }
    return CLI_OK;
}

static bool is_wanted(const papers_paper *paper, const papers_figure *figure,
                      const bench_papers_def *def) {
    if (def->device_only && !figure->has_device) return false;
    for (size_t i = 0; i < def->only.count; ++i)
        if (strcmp(paper->name, def->only.values[i]) == 0 ||
            strcmp(figure->name, def->only.values[i]) == 0)
            return true;
    return def->only.count == 0;
}

static uint32_t count_wanted(const bench_papers_def *def) {
    uint32_t count = 0;
    for (size_t p = 0; papers_all[p] != NULL; ++p)
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i)
            count += is_wanted(papers_all[p], &papers_all[p]->figures[i], def);
    return count;
}

/* The first name of --only that is no figure and no paper, or has no rows of the GPU where only
 * these are wanted; NULL: none. */
static const char *find_unknown(const bench_papers_def *def) {
    for (size_t i = 0; i < def->only.count; ++i) {
        bench_papers_def one = *def;
        one.only = (arg_list){.count = 1, .values = {def->only.values[i]}};
        if (count_wanted(&one) == 0) return def->only.values[i];
    }
    return NULL;
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
        put_section(page, cli, &plot);
        if (device != NULL && carom_cuda_describe(gpu, sizeof(gpu))) {
            gpu[strcspn(gpu, ",;")] = '\0'; /* the name alone */
            record_device(device, &plot, gpu);
        }
        if (cli->json) {
            json_begin_object(j, NULL);
            json_text(j, "name", figure->name);
            json_count(j, "rows", plot.row_count);
            json_number(j, "seconds", plot.seconds);
            json_number(j, "processor_s", plot.processor);
            put_comparisons_json(j, &plot);
            json_end_object(j);
        } else {
            printf("%-18s %4u rows %8.1f s, %.1f s of the processor\n", figure->name,
                   plot.row_count, plot.seconds, plot.processor);
            print_comparisons(&plot);
            for (uint32_t i = 0; i < plot.note_count; ++i) printf("    %s\n", plot.notes[i]);
            fflush(stdout);
        }
    }
    papers_plot_free(&plot);
    return code;
}

/* Runs what is wanted, and keeps the sections of the earlier page that are not. */
static int run_all(cli *cli, const bench_papers_def *def, papers_lab *lab, page *page,
                   const char *earlier) {
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
            bool wanted = is_wanted(papers_all[p], figure, def);
            size_t size = 0;
            const char *kept = wanted ? NULL : find_section(earlier, figure, &size);
            if (!wanted && kept == NULL) continue;
            if (!begun) page_section(page, papers_all[p]->title, "");
            begun = true;
            if (kept != NULL) fwrite(kept, 1, size, page->out);
            if (wanted) code = run_figure(cli, def, lab, page, &j, device.file, figure);
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
    const char *unknown = find_unknown(def);
    if (unknown != NULL) {
        snprintf(message, sizeof(message),
                 "no figure '%.60s'%s; carom bench papers --list shows all", unknown,
                 def->device_only ? " with rows of a GPU" : "");
        return cli_misuse(cli, message);
    }
    char *earlier = def->only.count != 0 ? read_earlier(def->folder) : NULL;
    double start = carom_time_seconds();
    if (!page_begin(&page, def->folder, "The papers' figures, by Carom", &reason)) {
        free(earlier);
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
        put_head(&page);
        code = run_all(cli, def, &lab, &page, earlier);
    } else {
        code = cli_fail_with(cli, CAROM_NO_MEMORY, carom_context_message(NULL));
    }
    papers_lab_close(&lab);
    free(earlier);
    if (code != CLI_OK) {
        page_abandon(&page);
    } else if (!page_end(&page)) {
        code = cli_fail_with(cli, CAROM_IO, "the page could not be written");
    } else if (!cli->json) {
        printf("%s/index.html: %.1f s in all, %.1f s of the processor\n", def->folder,
               carom_time_seconds() - start, platform_process_seconds());
    }
    return code;
}
