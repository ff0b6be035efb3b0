/* SPDX-License-Identifier: MIT */
/* Pages: HTML with inline SVG, without external resources, so that they open anywhere. A page is
 * written under another name and renamed when complete. */
#include "cli/page.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/platform.h"
#include "cli/text.h"

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#1c2430;background:#fff}h1{font-weight:600}h2{margin-top:2.5rem;font-weight:600}"
    "table{border-collapse:collapse;margin:1rem "
    "0;display:block;overflow-x:auto}td,th{padding:.25rem .9rem .25rem 0;"
    "text-align:left;border-bottom:1px solid #dde3ea}figure{margin:1.5rem 0}"
    ".wide{overflow-x:auto}"
    "figcaption{color:#566;font-size:.9rem}svg{max-width:100%;height:auto}"
    "svg text{font:12px system-ui,sans-serif;fill:#445}";

const char *page_colour(size_t index) {
    static const char *const colours[] = {"#1f6feb", "#d1462f", "#2e8b57", "#8a4fbf",
                                          "#c98a00", "#0f7f8f", "#b03a7a", "#5c6670"};
    return colours[index % (sizeof(colours) / sizeof(colours[0]))];
}

static bool is_folder(const char *path) {
    carom_os_file_info info;
    return carom_os_file_info_of(path, &info) && info.kind == CAROM_OS_FILE_FOLDER;
}

static bool make_folder(const char *folder, const char **reason) {
    char path[3072];
    size_t length = strlen(folder);
    if (length == 0 || length >= sizeof(path)) {
        *reason = length == 0 ? "the name is empty" : "the name is too long";
        return false;
    }
    memcpy(path, folder, length + 1);
    *reason = NULL;
    for (size_t i = 1; i <= length; ++i) { /* create every parent folder */
        if (!carom_os_is_separator(path[i]) && path[i] != '\0') continue;
        char kept = path[i];
        path[i] = '\0';
        /* What begins a path may be no folder (//server): the folder itself counts. */
        if (!platform_make_folder(path) && *reason == NULL && !is_folder(path))
            *reason = strerror(errno);
        path[i] = kept;
    }
    return *reason == NULL || is_folder(path);
}

static void draft_path(const page *page, char *path, size_t size) {
    snprintf(path, size, "%s.part", page->path);
}

void page_begin_file(page *page, FILE *out, const char *title) {
    page->out = out;
    fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>", out);
    text_put_xml(out, title);
    fprintf(out,
            "</title><meta name=\"viewport\" content=\"width=device-width\"><style>%s</style><h1>",
            style);
    text_put_xml(out, title);
    fputs("</h1>\n", out);
}

void page_end_file(page *page) {
    fputs("</html>\n", page->out);
}

bool page_open(page *page, const char *folder, const char **reason) {
    char draft[4200];
    page->out = NULL;
    if (!make_folder(folder, reason)) return false;
    snprintf(page->path, sizeof(page->path), "%s/index.html", folder);
    draft_path(page, draft, sizeof(draft));
    interrupt_hold(); /* until the draft is registered */
    page->out = carom_os_stream(draft, "w");
    if (page->out == NULL)
        *reason = strerror(errno);
    else
        interrupt_add_file(draft);
    interrupt_release();
    return page->out != NULL;
}

bool page_begin(page *page, const char *folder, const char *title, const char **reason) {
    if (!page_open(page, folder, reason)) return false;
    page_begin_file(page, page->out, title);
    return true;
}

void page_abandon(page *page) {
    char draft[4200];
    if (page->out == NULL) return;
    fclose(page->out);
    page->out = NULL;
    draft_path(page, draft, sizeof(draft));
    (void)carom_os_remove(draft);
    interrupt_drop_file(draft);
}

bool page_close(page *page) {
    char draft[4200];
    bool good = !ferror(page->out);
    good = fclose(page->out) == 0 && good;
    page->out = NULL;
    draft_path(page, draft, sizeof(draft));
    if (good) good = carom_os_replace(draft, page->path);
    if (!good) (void)carom_os_remove(draft);
    interrupt_drop_file(draft);
    return good;
}

bool page_end(page *page) {
    page_end_file(page);
    return page_close(page);
}

void page_section(page *page, const char *title, const char *text) {
    fputs("<h2>", page->out);
    text_put_xml(page->out, title);
    fputs("</h2>\n<p>", page->out);
    text_put_xml(page->out, text);
    fputs("</p>\n", page->out);
}

void page_begin_table(page *page, const char *const *heads, size_t count) {
    fputs("<div class=\"wide\"><table><tr>", page->out);
    for (size_t i = 0; i < count; ++i) {
        fputs("<th>", page->out);
        text_put_xml(page->out, heads[i]);
    }
    fputs("</tr>\n", page->out);
}

void page_row(page *page, const char *const *cells, size_t count) {
    fputs("<tr>", page->out);
    for (size_t i = 0; i < count; ++i) {
        fputs("<td>", page->out);
        text_put_xml(page->out, cells[i]);
    }
    fputs("</tr>\n", page->out);
}

void page_end_table(page *page) {
    fputs("</table></div>\n", page->out);
}

/* ---- Charts ---------------------------------------------------------------------------------- */

#define LEFT   72.0 /* for numbers of six digits beside the label of the axis */
#define RIGHT  160.0
#define TOP    20.0
#define BOTTOM 45.0

typedef struct axis {
    bool linear;
    double low, high; /* of the values, or of their decimal logarithms */
    double step;      /* between lines of the grid */
    double from, to;  /* pixels */
} axis;

static double along(axis axis, double value) {
    double at = axis.linear ? value : log10(value);
    return axis.from + (at - axis.low) / (axis.high - axis.low) * (axis.to - axis.from);
}

static bool has_position(double value, bool linear) {
    return isfinite(value) && (linear || value > 0.0);
}

static bool is_drawn(const page_axes *axes, const page_curve *curve, size_t i) {
    return has_position(curve->x[i], axes->linear_x) && has_position(curve->y[i], axes->linear_y);
}

#define MOST_STEPS 6.0 /* of a linear axis */

/* The least of 1, 2, 5, 10, 20 ... times a power of ten of which at most MOST_STEPS fit. */
static double nice_step(double width) {
    double power = pow(10.0, floor(log10(width / MOST_STEPS)));
    double steps = width / power;
    return power * (steps <= MOST_STEPS         ? 1.0
                    : steps <= 2.0 * MOST_STEPS ? 2.0
                    : steps <= 5.0 * MOST_STEPS ? 5.0
                                                : 10.0);
}

static axis fit_axis(const page_axes *axes, const page_curve *curves, size_t count, bool vertical,
                     double from, double to) {
    axis a = {.linear = vertical ? axes->linear_y : axes->linear_x, .from = from, .to = to};
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < count; ++c) {
        for (size_t i = 0; i < curves[c].count; ++i) {
            if (!is_drawn(axes, &curves[c], i)) continue;
            double value = vertical ? curves[c].y[i] : curves[c].x[i];
            if (!a.linear) value = log10(value);
            if (value < low) low = value;
            if (value > high) high = value;
        }
    }
    if (!(low <= high)) low = high = 0.0;
    if (vertical && axes->bars && low > 0.0) low = 0.0;
    a.step = 1.0;
    if (a.linear && high > low) a.step = nice_step(high - low);
    a.low = a.step * floor(low / a.step + 1e-9);
    a.high = fmax(a.step * ceil(high / a.step - 1e-9), a.low + a.step);
    return a;
}

/* The value at a line of the grid; 0 is 0. */
static double line_value(axis a, double at) {
    if (!a.linear) return pow(10.0, at);
    return fabs(at) < 1e-9 * a.step ? 0.0 : at;
}

static void draw_grid(FILE *out, axis x, axis y) {
    for (double line = x.low; line <= x.high + 0.5 * x.step; line += x.step) {
        double value = line_value(x, line), at = along(x, value);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e3e8ee\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                at, at, y.from, y.to, at, y.from + 16.0, value);
    }
    for (double line = y.low; line <= y.high + 0.5 * y.step; line += y.step) {
        double value = line_value(y, line), at = along(y, value);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e3e8ee\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                x.from, x.to, at, at, x.from - 6.0, at + 4.0, value);
    }
}

#define MOST_DOTS 64 /* on a curve: with more points it is a line alone */

#define BAR_SHARE 0.8 /* of the distance of two points, the rest is a gap */

/* Bars from 0 up, each from its x towards the next one's. All are as wide as the smallest distance
 * of neighbours allows. */
static void draw_bars(FILE *out, const page_axes *axes, axis x, axis y, const page_curve *curve,
                      const char *colour) {
    double apart = INFINITY;
    for (size_t i = 1; i < curve->count; ++i) {
        double d = fabs(along(x, curve->x[i]) - along(x, curve->x[i - 1]));
        if (d > 0.0 && d < apart) apart = d;
    }
    if (!isfinite(apart)) apart = x.to - x.from;
    fprintf(out, "<g fill=\"%s\">", colour);
    for (size_t i = 0; i < curve->count; ++i) {
        if (!is_drawn(axes, curve, i)) continue;
        double top = along(y, curve->y[i]);
        fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
                along(x, curve->x[i]), top, BAR_SHARE * apart, along(y, 0.0) - top);
    }
    fputs("</g>\n", out);
}

static void draw_line(FILE *out, const page_axes *axes, axis x, axis y, const page_curve *curve,
                      const char *colour) {
    fprintf(out, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", colour);
    for (size_t i = 0; i < curve->count; ++i)
        if (is_drawn(axes, curve, i))
            fprintf(out, "%.1f,%.1f ", along(x, curve->x[i]), along(y, curve->y[i]));
    fputs("\"/>\n", out);
    for (size_t i = 0; i < curve->count && curve->count <= MOST_DOTS; ++i)
        if (is_drawn(axes, curve, i))
            fprintf(out, "<circle r=\"3\" fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\"/>", colour,
                    along(x, curve->x[i]), along(y, curve->y[i]));
}

static void draw_curve(FILE *out, const page_axes *axes, axis x, axis y, const page_curve *curve,
                       size_t index) {
    const char *colour = page_colour(index);
    (axes->bars ? draw_bars : draw_line)(out, axes, x, y, curve, colour);
    double row = TOP + 16.0 * (double)index + 8.0;
    fprintf(
        out,
        "<g class=\"legend\"><rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"3\" fill=\"%s\"/>"
        "<text x=\"%.1f\" y=\"%.1f\">",
        PAGE_CHART_WIDTH - RIGHT + 14.0, row, colour, PAGE_CHART_WIDTH - RIGHT + 32.0, row + 6.0);
    text_put_xml(out, curve->name);
    fputs("</text></g>\n", out);
}

/* The names of the curves again, below: narrow screens have no room for those beside the chart. */
static void put_names(FILE *out, const page_curve *curves, size_t count) {
    fputs("<div class=\"names\">", out);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, "<span style=\"color:%s\">", page_colour(i));
        text_put_xml(out, curves[i].name);
        fputs("</span>", out);
    }
    fputs("</div>", out);
}

static void end_figure(FILE *out, const char *caption) {
    fputs("<figcaption>", out);
    text_put_xml(out, caption);
    fputs("</figcaption></figure>\n", out);
}

void page_draw_chart(FILE *out, const page_axes *axes, const page_curve *curves, size_t count) {
    axis x = fit_axis(axes, curves, count, false, LEFT, PAGE_CHART_WIDTH - RIGHT);
    axis y = fit_axis(axes, curves, count, true, PAGE_CHART_HEIGHT - BOTTOM, TOP);
    draw_grid(out, x, y);
    for (size_t i = 0; i < count; ++i) draw_curve(out, axes, x, y, &curves[i], i);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (x.from + x.to) / 2.0,
            PAGE_CHART_HEIGHT - 8.0);
    text_put_xml(out, axes->x_label);
    fprintf(out,
            "</text><text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            (y.from + y.to) / 2.0);
    text_put_xml(out, axes->y_label);
    fputs("</text>", out);
}

#define CHARACTER                                                                                  \
    7.2 /* pixels: the mean of letters of DejaVu Sans at 12 is 6.9, others are narrower */

double page_text_width(const char *text) {
    size_t characters = 0;
    for (; *text != '\0'; ++text) characters += ((unsigned char)*text & 0xC0) != 0x80;
    return CHARACTER * (double)characters;
}

double page_chart_width(const page_curve *curves, size_t count) {
    double width = PAGE_CHART_WIDTH;
    for (size_t i = 0; i < count; ++i)
        width = fmax(width, PAGE_CHART_WIDTH - RIGHT + 40.0 + page_text_width(curves[i].name));
    return ceil(width);
}

void page_chart(page *page, const char *caption, const char *x_label, const char *y_label,
                const page_curve *curves, size_t count) {
    double width = page_chart_width(curves, count);
    fputs("<figure class=\"chart\"><svg role=\"img\" aria-label=\"", page->out);
    text_put_xml(page->out, caption);
    fprintf(page->out, "\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", width,
            PAGE_CHART_HEIGHT, width, PAGE_CHART_HEIGHT);
    page_axes axes = {.x_label = x_label, .y_label = y_label};
    page_draw_chart(page->out, &axes, curves, count);
    fputs("</svg>", page->out);
    put_names(page->out, curves, count);
    end_figure(page->out, caption);
}
