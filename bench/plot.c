/* SPDX-License-Identifier: MIT */
/* Benchmarks as CSV and as a picture. A bar ends at the median of its row, a thin line goes on to
 * the slowest round. The axis is logarithmic, as jobs of one group take from microseconds to
 * seconds; each group has its own. Below the bars of a group are its growth curves. */
#include "bench/plot.h"

#include <math.h>
#include <string.h>

#include "cli/page.h"
#include "cli/text.h"

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_name(FILE *out, const char *text) {
    text_put_csv(out, text);
    putc(',', out);
}

static void put_number(FILE *out, double value) {
    if (isfinite(value)) fprintf(out, "%.17g", value);
    putc(',', out);
}

void bench_write_csv(FILE *out, const bench *b) {
    fputs("benchmark,job,contender,rounds,items,seconds,most_seconds,p999_seconds,cpu_seconds,"
          "device_seconds,items_per_second,ratio,cpu_ratio,wrong\n",
          out);
    for (uint32_t i = 0; i < b->row_count; ++i) {
        const bench_row *row = &b->rows[i];
        put_name(out, row->group);
        put_name(out, row->job);
        put_name(out, row->contender);
        fprintf(out, "%u,", row->rounds);
        const double numbers[] = {
            row->items,       row->seconds,        row->most_seconds,     row->tail_seconds,
            row->cpu_seconds, row->device_seconds, row->items_per_second, row->ratio,
            row->cpu_ratio};
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); ++k)
            put_number(out, numbers[k]);
        fputs(row->wrong ? "1\n" : "0\n", out);
    }
}

/* ---- SVG ------------------------------------------------------------------------------------- */

/* In pixels. */
#define WIDTH    1120.0
#define LEFT     480.0 /* names */
#define RIGHT    130.0 /* numbers */
#define ROW      18.0
#define BAR      11.0
#define HEAD     52.0 /* title and axis of a group */
#define GAP      16.0 /* below a group */
#define SMALLEST 1e-9 /* seconds: no clock tells less */

typedef struct scale {
    double low, high; /* decimal logarithms of seconds */
} scale;

static double along(scale s, double seconds) {
    double at = (log10(fmax(seconds, SMALLEST)) - s.low) / (s.high - s.low);
    return LEFT + at * (WIDTH - LEFT - RIGHT);
}

static uint32_t end_of_group(const bench *b, uint32_t first) {
    uint32_t end = first;
    while (end < b->row_count && strcmp(b->rows[end].group, b->rows[first].group) == 0) ++end;
    return end;
}

static bool begins_job(const bench *b, uint32_t first, uint32_t i) {
    return i == first || strcmp(b->rows[i].job, b->rows[i - 1].job) != 0;
}

static scale fit_scale(const bench *b, uint32_t first, uint32_t end) {
    double low = HUGE_VAL, high = SMALLEST;
    for (uint32_t i = first; i < end; ++i) {
        low = fmin(low, b->rows[i].seconds);
        high = fmax(high, b->rows[i].most_seconds);
    }
    scale s = {floor(log10(fmax(low, SMALLEST)) - 0.05), ceil(log10(high) + 0.01)};
    return s;
}

static bool same_series(const bench_row *a, const bench_row *b) {
    return a->series != NULL && b->series != NULL && strcmp(a->series, b->series) == 0;
}

/* Whether row i is the first of a series with at least two sizes. */
static bool begins_series(const bench *b, uint32_t first, uint32_t end, uint32_t i) {
    bool grows = false;
    for (uint32_t k = first; k < end; ++k) {
        if (!same_series(&b->rows[k], &b->rows[i])) continue;
        if (k < i) return false;
        grows |= b->rows[k].size != b->rows[i].size;
    }
    return grows;
}

static double group_height(const bench *b, uint32_t first, uint32_t end) {
    double height = HEAD + ROW * (double)(end - first) + GAP;
    for (uint32_t i = first; i < end; ++i)
        if (begins_series(b, first, end, i)) height += PAGE_CHART_HEIGHT + ROW + GAP;
    return height;
}

static void print_time(char *text, size_t size, double seconds) {
    if (seconds < 1e-6)
        snprintf(text, size, "%.3g ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        snprintf(text, size, "%.3g us", 1e6 * seconds);
    else if (seconds < 1.0)
        snprintf(text, size, "%.3g ms", 1e3 * seconds);
    else
        snprintf(text, size, "%.3g s", seconds);
}

static void put_label(FILE *out, double x, double y, const char *anchor, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    text_put_xml(out, text);
    fputs("</text>\n", out);
}

static void draw_axis(FILE *out, scale s, double top, double bottom) {
    for (double power = s.low; power <= s.high + 0.5; power += 1.0) {
        double x = along(s, pow(10.0, power));
        char text[32];
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e3e8ee\"/>\n",
                x, x, top, bottom);
        print_time(text, sizeof(text), pow(10.0, power));
        put_label(out, x, top - 5.0, "middle", text);
    }
}

static void draw_row(FILE *out, scale s, const bench_row *row, bool names_job, size_t colour,
                     double y) {
    char text[64];
    double from = along(s, pow(10.0, s.low)), to = along(s, row->seconds);
    double middle = y + 0.5 * BAR;
    if (names_job) put_label(out, 8.0, y + BAR - 1.0, "start", row->job);
    put_label(out, LEFT - 8.0, y + BAR - 1.0, "end", row->contender);
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", from,
            y, fmax(to - from, 0.5), BAR, page_colour(colour));
    fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", to,
            along(s, row->most_seconds), middle, middle, page_colour(colour));
    print_time(text, sizeof(text), row->seconds);
    put_label(out, WIDTH - RIGHT + 60.0, y + BAR - 1.0, "end", text);
    snprintf(text, sizeof(text), "%.2fx%s", row->ratio, row->wrong ? " wrong" : "");
    put_label(out, WIDTH - 8.0, y + BAR - 1.0, "end", text);
}

#define MOST_SIZES 32 /* of a series: more are left out */

/* The medians of each contender of the series that begins in row `start`. */
static void draw_series(FILE *out, const bench *b, uint32_t start, uint32_t end, double top) {
    static double x[BENCH_MOST_CONTENDERS][MOST_SIZES], y[BENCH_MOST_CONTENDERS][MOST_SIZES];
    page_curve curves[BENCH_MOST_CONTENDERS];
    size_t count = 0;
    for (uint32_t i = start; i < end; ++i) {
        const bench_row *row = &b->rows[i];
        size_t c = 0;
        if (!same_series(row, &b->rows[start])) continue;
        while (c < count && strcmp(curves[c].name, row->contender) != 0) ++c;
        if (c == BENCH_MOST_CONTENDERS) continue;
        if (c == count) curves[count++] = (page_curve){row->contender, x[c], y[c], 0};
        if (curves[c].count == MOST_SIZES) continue;
        x[c][curves[c].count] = row->size;
        y[c][curves[c].count++] = fmax(row->seconds, SMALLEST);
    }
    put_label(out, LEFT, top + ROW, "start", b->rows[start].series);
    fprintf(out, "<g transform=\"translate(%.1f %.1f)\">\n", LEFT - 72.0, top + ROW);
    page_draw_chart(out, &(page_axes){.x_label = "size", .y_label = "seconds"}, curves, count);
    fputs("</g>\n", out);
}

static void draw_group(FILE *out, const bench *b, uint32_t first, uint32_t end, double top) {
    scale s = fit_scale(b, first, end);
    size_t colour = 0;
    fprintf(out, "<text x=\"8\" y=\"%.1f\" font-weight=\"600\">", top + 18.0);
    text_put_xml(out, b->rows[first].group);
    fputs("</text>\n", out);
    draw_axis(out, s, top + HEAD - 8.0, top + HEAD + ROW * (double)(end - first));
    for (uint32_t i = first; i < end; ++i) {
        bool names_job = begins_job(b, first, i);
        colour = names_job ? 0 : colour + 1;
        draw_row(out, s, &b->rows[i], names_job, colour, top + HEAD + ROW * (double)(i - first));
    }
    top += HEAD + ROW * (double)(end - first) + GAP;
    for (uint32_t i = first; i < end; ++i) {
        if (!begins_series(b, first, end, i)) continue;
        draw_series(out, b, i, end, top);
        top += PAGE_CHART_HEIGHT + ROW + GAP;
    }
}

void bench_write_svg(FILE *out, const bench *b) {
    double height = GAP + ROW, top = ROW;
    for (uint32_t i = 0; i < b->row_count; i = end_of_group(b, i))
        height += group_height(b, i, end_of_group(b, i));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui,sans-serif\" font-size=\"12\" "
            "fill=\"#445\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height);
    put_label(out, 8.0, 18.0, "start",
              "bars and curves: median of the rounds; thin lines: the slowest round; ratios to the "
              "first of its job");
    for (uint32_t i = 0; i < b->row_count; i = end_of_group(b, i)) {
        draw_group(out, b, i, end_of_group(b, i), top);
        top += group_height(b, i, end_of_group(b, i));
    }
    fputs("</svg>\n", out);
}
