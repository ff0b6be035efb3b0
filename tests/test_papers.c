/* SPDX-License-Identifier: MIT */
/* The papers' figures: every one runs in its quick form and writes a table of finite numbers and a
 * well-formed picture; panels draw columns that are there; what a GPU has recorded fits. */
#define _DEFAULT_SOURCE /* strsep */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/papers.h"
#include "bench/papers_page.h"
#include "cli/page.h"
#include "tests/support/cli_run.h"
#include "tests/support/xml_check.h"

/* The largest page; without zlib its pictures are stored. */
#ifdef CAROM_HAVE_ZLIB
static char text[1 << 22];
#else
static char text[1 << 26];
#endif

static uint32_t count_columns(const papers_figure *figure) {
    uint32_t count = 0;
    while (figure->columns[count] != NULL) ++count;
    return count;
}

static uint32_t count_panels(const papers_figure *figure) {
    uint32_t count = 0;
    while (figure->panels[count].title != NULL) ++count;
    return count;
}

/* Calls a function for each figure. */
static uint32_t for_all_figures(void (*check)(const papers_figure *figure)) {
    uint32_t count = 0;
    for (size_t p = 0; papers_all[p] != NULL; ++p)
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i, ++count)
            check(&papers_all[p]->figures[i]);
    return count;
}

/* ---- What the figures say of themselves ------------------------------------------------------ */

static void check_definition(const papers_figure *figure) {
    uint32_t columns = count_columns(figure), panels = count_panels(figure), same = 0;
    assert_in_range(columns, 2, PAPERS_MOST_COLUMNS);
    assert_in_range(panels, 1, PAPERS_MOST_PANELS);
    for (uint32_t i = 0; i < panels; ++i) {
        const papers_panel *panel = &figure->panels[i];
        assert_true(panel->x < columns && panel->y < panel->y_end && panel->y_end <= columns);
        assert_true(panel->x_label != NULL && panel->y_label != NULL);
    }
    assert_true(strlen(figure->what) > 10 && strlen(figure->printed) > 10);
    for (size_t p = 0; papers_all[p] != NULL; ++p) {
        size_t length = strlen(papers_all[p]->name);
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i) {
            if (strcmp(papers_all[p]->figures[i].name, figure->name) != 0) continue;
            ++same;
            assert_int_equal(strncmp(figure->name, papers_all[p]->name, length), 0);
            assert_int_equal(figure->name[length], '-');
        }
    }
    assert_int_equal(same, 1);
}

/* Numbers are of columns that are there. */
static void check_numbers(const papers_figure *figure) {
    const papers_printed *number = figure->numbers;
    for (; number != NULL && number->what != NULL; ++number) {
        assert_true(number->column < count_columns(figure) && number->unit != NULL);
        if (number->statistic == PAPERS_EACH)
            assert_true(number->printed_column != 0 || number->printed_series != NULL);
        else
            assert_true(number->value > 0.0);
    }
}

/* A row of the paper is compared with a scene of as many polygons, and with no other. */
static void small_scenes_are_not_compared(void **state) {
    (void)state;
    assert_int_equal(carom("bench papers --quick --only kdet2017-fig9-left -o small"), CLI_OK);
    assert_said("no number to compare with");
    read_file("small/kdet2017-fig9-left.csv", text, sizeof(text));
    assert_non_null(strstr(text, "\"kDet (printed)\",\"grid\",\"in print\",20000,20000,1.9\n"));
    assert_non_null(strstr(text, "\"grid, 1 thread\",\"grid\",\"CPU: 1 thread\",4200,4200,"));
    assert_non_null(strstr(text, "\"tree, 1 thread\",\"tree\",\"CPU: 1 thread\",6500,6500,"));
}

static bool add_false_count(papers_plot *plot) {
    const double row[PAPERS_MOST_COLUMNS] = {18000.0};
    papers_add(plot, &(papers_source){"a", PAPERS_ONE_THREAD, 4180}, "a", row);
    return true;
}

/* A row cannot tell of more polygons than were measured. */
static void counts_are_those_that_were_measured(void **state) {
    (void)state;
    static papers_plot plot;
    papers_lab lab = {.quick = true};
    papers_figure figure = {.name = "none", .columns = {"polygons", "ms"}, .run = add_false_count};
    assert_false(papers_run(&lab, &figure, &plot));
    papers_plot_free(&plot);
    figure.columns[0] = "frame";
    assert_true(papers_run(&lab, &figure, &plot));
    papers_plot_free(&plot);
}

/* What a panel says already is not repeated in its legend. */
static void legends_name_what_differs(void **state) {
    (void)state;
    assert_int_equal(carom("bench papers --quick --only kdet2017-table1 -o legend -q"), CLI_OK);
    read_file("legend/kdet2017-table1.svg", text, sizeof(text));
    assert_non_null(strstr(text, ">Cloth on Buddha</text>"));
    assert_null(strstr(text, ">tree, 1 thread"));
    assert_null(strstr(text, ">grid, all threads"));
    assert_non_null(strstr(text, ">kDet, as printed, on a GTX 1080</text>"));
    for (const char *at = text; (at = strstr(at, "<text x=\"")) != NULL; ++at) {
        char words[128] = "";
        double x = strtod(at + 9, NULL), width = strtod(strstr(text, "width=\"") + 7, NULL);
        if (strstr(at, "text-anchor") != NULL && strstr(at, "text-anchor") < strchr(at, '>'))
            continue;
        assert_int_equal(sscanf(strchr(at, '>') + 1, "%127[^<]", words), 1);
        assert_true(x + page_text_width(words) <= width); /* nothing is cut off */
    }
}

static void definitions_fit(void **state) {
    (void)state;
    assert_true(for_all_figures(check_definition) >= 16);
    for_all_figures(check_numbers);
}

/* ---- The files ------------------------------------------------------------------------------- */

/* Where the figures are left for scripts/check_papers.sh, which compares them with the page. */
#define FIGURES CAROM_BINARY_DIR "/Testing/papers"

static void check_table(const papers_figure *figure) {
    char name[512], head[512] = "series,algorithm,backend,triangles_measured", *line, *rest = text;
    uint32_t columns = count_columns(figure), rows = 0;
    snprintf(name, sizeof(name), FIGURES "/%s.csv", figure->name);
    read_file(name, text, sizeof(text));
    for (uint32_t c = 0; c < columns; ++c) {
        strcat(head, ",");
        strcat(head, figure->columns[c]);
    }
    line = strsep(&rest, "\n");
    assert_string_equal(line, head);
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        char *at = line;
        for (int k = 0; k < 3;
             ++k) { /* series, algorithm and backend; each is followed by a comma */
            assert_int_equal(at[0], '"');
            assert_true(at[1] != '"');
            at = strchr(at + 1, '"');
            assert_non_null(at);
            assert_int_equal(at[1], ',');
            at += k < 2 ? 2 : 1;
        }
        double triangles = strtod(at + 1, &at);
        for (uint32_t c = 0; c < columns; ++c) {
            assert_int_equal(*at, ',');
            double value = strtod(at + 1, &at);
            assert_true(isfinite(value));
            const char *column = figure->columns[c];
            if (strcmp(column, "polygons") == 0 || strcmp(column, "triangles") == 0)
                assert_true(value == triangles);
        }
        assert_int_equal(*at, '\0');
        ++rows;
    }
    assert_true(rows >= 2);
}

/* Takes the bytes of pictures out of the text, whose base64 may hold any word. */
static void drop_pictures(void) {
    static const char mark[] = "base64,";
    for (char *at = text; (at = strstr(at, mark)) != NULL;) {
        at += sizeof(mark) - 1;
        char *end = strchr(at, '"');
        assert_non_null(end);
        memmove(at, end, strlen(end) + 1);
    }
}

static void check_picture(const papers_figure *figure) {
    char name[512];
    snprintf(name, sizeof(name), FIGURES "/%s.svg", figure->name);
    read_file(name, text, sizeof(text));
    assert_int_equal(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    int drawn = check_xml(text, "polyline");
    for (const char *bars = text; (bars = strstr(bars, "<g fill=")) != NULL; ++bars) ++drawn;
    assert_true(drawn >= (int)count_panels(figure));
    drop_pictures();
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
}

static void check_section(const papers_figure *figure) {
    char link[128];
    snprintf(link, sizeof(link), "href=\"%s.csv\"", figure->name);
    assert_non_null(strstr(text, link));
}

static void every_figure_has_its_files(void **state) {
    (void)state;
    assert_int_equal(shell("rm -rf " FIGURES), 0);
    assert_int_equal(carom("bench papers --quick -o " FIGURES " --json"), CLI_OK);
    assert_said("\"figures\"");
    for_all_figures(check_table);
    for_all_figures(check_picture);
    read_file(FIGURES "/index.html", text, sizeof(text));
    for_all_figures(check_section);
    assert_int_equal(shell("ls " FIGURES " | grep part"), 1);
}

static void one_figure_or_paper_is_chosen(void **state) {
    (void)state;
    assert_int_equal(carom("bench papers --quick --only loi2010-fig12 -o one"), CLI_OK);
    assert_int_equal(shell("test \"$(ls one | tr '\\n' ' ')\" = "
                           "'index.html loi2010-fig12.csv loi2010-fig12.svg ' || ls one | grep -q "
                           "papers_device"),
                     0);
    assert_int_equal(carom("bench papers --quick --only loi2010 -o paper -q"), CLI_OK);
    assert_int_equal(shell("test $(ls paper/*.csv | grep -c loi2010) = 4"), 0);
    /* A second figure is added to the page; one that is measured anew replaces its section. */
    assert_int_equal(carom("bench papers --quick --only weller2009-fig7 -o one"), CLI_OK);
    assert_said("ours/printed");
    assert_said("spheres: mean of the frames, 100 spheres");
    assert_said(" s in all, ");
    assert_int_equal(carom("bench papers --quick --only loi2010-fig12 -o one -q"), CLI_OK);
    read_file("one/index.html", text, sizeof(text));
    const char *first = strstr(text, "<h2>loi2010-fig12</h2>");
    const char *second = strstr(text, "<h2>weller2009-fig7</h2>");
    assert_true(first != NULL && second != NULL && second < first);
    assert_null(strstr(first + 1, "<h2>loi2010-fig12</h2>"));
    assert_non_null(strstr(second, "<th>ours / printed"));
    assert_int_equal(carom("bench papers --quick --only loi2010-fig12 --only kim1997 -o both -q"),
                     CLI_OK);
    assert_int_equal(shell("test \"$(ls both/*.csv | tr '\\n' ' ')\" = 'both/kim1997-fig1.csv "
                           "both/loi2010-fig12.csv ' || ls both | grep -q papers_device"),
                     0);
    assert_int_equal(carom("bench papers --quick --only loi2010 --only nothing -o both"),
                     CLI_USAGE);
    assert_said("no figure 'nothing'");
    assert_int_equal(carom("bench papers --list"), CLI_OK);
    assert_said("weller2009-fig9b");
    assert_int_equal(carom("bench --list"), CLI_OK);
    assert_said("papers");
}

static void misuse_is_named(void **state) {
    (void)state;
    assert_int_equal(carom("bench papers --only loi2010-fig99 -o none"), CLI_USAGE);
    assert_said("loi2010-fig99");
    assert_int_equal(carom("bench papers --csv x.csv"), CLI_USAGE);
    assert_int_equal(carom("bench papers --rounds 3"), CLI_USAGE);
    assert_int_equal(carom("bench papers base --quick"), CLI_USAGE);
    assert_said("alone");
    assert_int_equal(carom("bench base --only x --quick"), CLI_USAGE);
    int code = carom("bench base --quick --device cuda"); /* where there is no GPU, that is told */
    assert_true(code == CLI_USAGE || code == CLI_MACHINE);
    assert_int_equal(carom("bench papers --quick --only loi2010-fig12 -o /dev/null/x"), CLI_INPUT);
    assert_int_equal(shell("test -e none || test -e x.csv"), 1);
}

/* ---- Rows of a GPU --------------------------------------------------------------------------- */

static bool add_two(papers_plot *plot) {
    double row[PAPERS_MOST_COLUMNS] = {1.0, 2.0};
    const uint64_t none = 0;
    const papers_source on_cpu = {"a", PAPERS_ONE_THREAD, none}, on_gpu = {"b", PAPERS_GPU, none};
    const char *first = plot->figure->columns[0];
    if (strcmp(first, "polygons") == 0 || strcmp(first, "triangles") == 0) row[0] = 0.0;
    papers_add(plot, &on_cpu, "a \"<&", row);
    papers_add(plot, &on_gpu, "b", row);
    return true;
}

static bool add_nan(papers_plot *plot) {
    const double row[PAPERS_MOST_COLUMNS] = {1.0, (double)NAN};
    papers_add(plot, &(papers_source){"a", PAPERS_ONE_THREAD, 0}, "a", row);
    return true;
}

static bool add_none(papers_plot *plot) {
    return plot != NULL;
}

static const papers_figure *find(const char *name, size_t length) {
    for (size_t p = 0; papers_all[p] != NULL; ++p)
        for (uint32_t i = 0; i < papers_all[p]->figure_count; ++i) {
            const papers_figure *figure = &papers_all[p]->figures[i];
            if (strlen(figure->name) == length && strncmp(figure->name, name, length) == 0)
                return figure;
        }
    return NULL;
}

static void recorded_rows_fit(void **state) {
    (void)state;
    static papers_lab lab;
    static papers_plot plot;
    char line[512];
    FILE *in = fopen(CAROM_SOURCE_DIR "/bench/papers_device.csv", "r");
    assert_non_null(in);
    assert_true(papers_lab_open(&lab, &(carom_context_def){.threads = 2}, false));
    carom_context_destroy(lab.device); /* as on a machine without a GPU */
    lab.device = NULL;
    const papers_figure *last = NULL;
    while (fgets(line, sizeof(line), in) != NULL) {
        if (line[0] == '#') continue;
        const papers_figure *figure = find(line, strcspn(line, ","));
        assert_non_null(figure);
        uint32_t commas = 0;
        for (const char *at = line; *at != '\0'; ++at) commas += *at == ',';
        assert_int_equal(commas, 6 + count_columns(figure));
        if (figure == last) continue;
        last = figure;
        papers_figure other = *figure;
        other.run = add_two;
        assert_true(papers_run(&lab, &other, &plot));
        assert_true(plot.row_count > 2 && plot.rows[2].backend == PAPERS_GPU);
        assert_non_null(strstr(plot.notes[0], "GPU: measured on 20"));
        assert_non_null(strstr(plot.notes[0], "at commit "));
        papers_plot_free(&plot);
    }
    fclose(in);
    papers_figure bad = papers_all[0]->figures[0];
    bad.run = add_nan;
    assert_false(papers_run(&lab, &bad, &plot)); /* not finite */
    papers_plot_free(&plot);
    bad.name = "none";
    bad.run = add_none;
    assert_false(papers_run(&lab, &bad, &plot)); /* no rows */
    papers_plot_free(&plot);
    papers_lab_close(&lab);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static void linear_axes_have_round_numbers(void **state) {
    (void)state;
    const double x[] = {0.0, 50.0, 240.0}, y[] = {-0.013, 0.0, 0.031};
    const page_curve curve = {"a", x, y, 3};
    const page_axes axes = {.x_label = "x", .y_label = "y", .linear_x = true, .linear_y = true};
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    page_draw_chart(file, &axes, &curve, 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(check_xml(out, "circle"), 3); /* zero and negative values are drawn */
    assert_non_null(strstr(out, ">0<"));
    assert_non_null(strstr(out, ">-0.02<"));
    assert_non_null(strstr(out, ">0.04<"));
    assert_non_null(strstr(out, ">250<"));
    free(out);
}

/* One bar per point, from 0 up, the second column on top of the first. */
static void stacked_columns_are_bars(void **state) {
    (void)state;
    const double x[] = {0.0, 1.0, 2.0, 4.0}, high[] = {3.0, 4.0, 3.5, 4.0}, low[] = {1, 2, 0.5, 1};
    const page_curve curves[] = {{"both", x, high, 4}, {"first", x, low, 4}};
    const page_axes axes = {"x", "y", .linear_x = true, .linear_y = true, .bars = true};
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    page_draw_chart(file, &axes, curves, 2);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(check_xml(out, "rect"), 2 * 4 + 2); /* and the two of the legend */
    double left, top, width, height, next;
    const char *bar = strstr(out, "<g fill=");
    assert_non_null(bar);
    bar = strstr(bar, "<rect");
    assert_non_null(bar);
    assert_int_equal(sscanf(bar, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &left,
                            &top, &width, &height),
                     4);
    bar = strstr(bar + 1, "<rect");
    assert_non_null(bar);
    assert_int_equal(sscanf(bar, "<rect x=\"%lf\"", &next), 1);
    assert_true(left + width < next);              /* a gap between bars */
    assert_true(fabs(top + height - 315.0) < 0.2); /* the axis: bars begin at 0 */
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(definitions_fit),
                                       cmocka_unit_test(every_figure_has_its_files),
                                       cmocka_unit_test(one_figure_or_paper_is_chosen),
                                       cmocka_unit_test(legends_name_what_differs),
                                       cmocka_unit_test(small_scenes_are_not_compared),
                                       cmocka_unit_test(counts_are_those_that_were_measured),
                                       cmocka_unit_test(misuse_is_named),
                                       cmocka_unit_test(recorded_rows_fit),
                                       cmocka_unit_test(linear_axes_have_round_numbers),
                                       cmocka_unit_test(stacked_columns_are_bars)};
    if (!cli_run_begin("papers")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("papers", tests, NULL, NULL));
}
