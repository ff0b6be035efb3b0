/* SPDX-License-Identifier: MIT */
/* page.h: one self-contained HTML page of sections, tables and drawings. */
#ifndef CAROM_CLI_PAGE_H
#define CAROM_CLI_PAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct page {
    FILE *out;
    char path[4096]; /* the finished page; it is written beside it and renamed at the end */
} page;

/* Makes the folder where needed and starts folder/index.html. On failure *reason says why. */
bool page_begin(page *page, const char *folder, const char *title, const char **reason);
/* Puts the page in its place; false when the disk did not take all of it. */
bool page_end(page *page);
/* Gives up: nothing is left of it, a page from before stays. */
void page_abandon(page *page);

void page_section(page *page, const char *title, const char *text);
void page_begin_table(page *page, const char *const *heads, size_t count);
void page_row(page *page, const char *const *cells, size_t count);
void page_end_table(page *page);

/* A curve, drawn with its name. */
typedef struct page_curve {
    const char *name;
    const double *x, *y;
    size_t count;
} page_curve;

/* Both axes logarithmic: growth shows as slope. */
void page_chart(page *page, const char *caption, const char *x_label, const char *y_label,
                const page_curve *curves, size_t count);

/* Dots with a depth in [-1, 1], far ones fainter; coordinates in [-1, 1]. */
void page_begin_dots(page *page);
void page_dot(page *page, double x, double y, double depth);
void page_end_dots(page *page, const char *caption);

/* A picture of faces, painted in the order given; coordinates in [-1, 1], y up. `light` in [0, 1]
 * is how brightly the face is lit, `colour` picks one of a few. Pictures stand side by side, `edge`
 * pixels wide and high. */
void page_begin_picture(page *page, unsigned edge);
void page_face(page *page, const double (*points)[2], size_t count, double light, size_t colour);
void page_end_picture(page *page, const char *caption);

#endif
