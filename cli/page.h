/* SPDX-License-Identifier: MIT */
/* page.h: one self-contained HTML page of sections, tables and charts. */
#ifndef CAROM_CLI_PAGE_H
#define CAROM_CLI_PAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct page {
    FILE *out;
    char path[4096]; /* final path; the page is written beside it and renamed at the end */
} page;

/* One of a few colours that are easily told apart, such as "#1f6feb". */
const char *page_colour(size_t index);

/* Creates the folder if needed and opens folder/index.html, empty. On failure *reason says why. */
bool page_open(page *page, const char *folder, const char **reason);
/* Renames the page to its final path; false when not all of it could be written. */
bool page_close(page *page);

/* The same for a page with a plain head and end. */
bool page_begin(page *page, const char *folder, const char *title, const char **reason);
/* Begins a page on a file that the caller has opened, and completes it; the caller closes it. */
void page_begin_file(page *page, FILE *out, const char *title);
void page_end_file(page *page);
bool page_end(page *page);
/* Removes the unfinished page; an earlier page stays. */
void page_abandon(page *page);

void page_section(page *page, const char *title, const char *text);
/* A table scrolls sideways where it is wider than the screen. */
void page_begin_table(page *page, const char *const *heads, size_t count);
void page_row(page *page, const char *const *cells, size_t count);
void page_end_table(page *page);

/* A named curve. */
typedef struct page_curve {
    const char *name;
    const double *x, *y;
    size_t count;
} page_curve;

/* Axes are logarithmic, so that growth shows as slope, or linear. Points that are not finite, or
 * not positive on a logarithmic axis, are left out. */
typedef struct page_axes {
    const char *x_label, *y_label;
    bool linear_x, linear_y;
    bool bars; /* from 0 up, with linear axes; of stacked ones the highest comes first */
} page_axes;

/* Draws curves as elements of SVG. */
#define PAGE_CHART_WIDTH  640.0
#define PAGE_CHART_HEIGHT 360.0
void page_draw_chart(FILE *out, const page_axes *axes, const page_curve *curves, size_t count);
/* The width in pixels of a text of 12 pixels, at most; of such a chart with the names of its
 * curves, at least PAGE_CHART_WIDTH. */
double page_text_width(const char *text);
double page_chart_width(const page_curve *curves, size_t count);
/* The same as a figure of a page, with logarithmic axes. */
void page_chart(page *page, const char *caption, const char *x_label, const char *y_label,
                const page_curve *curves, size_t count);

#endif
