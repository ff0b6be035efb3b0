/* SPDX-License-Identifier: MIT */
/* paint.h: draws a display as a picture. */
#ifndef CAROM_CLI_PAINT_H
#define CAROM_CLI_PAINT_H

#include "cli/display.h"

/* What a picture shows. All zero: everything, from the right, the front and above. */
typedef struct paint_view {
    carom_vec3 at;      /* the middle */
    double radius;      /* of what is to be seen around it; 0: everything */
    carom_vec3 towards; /* the eye, from the middle; 0: the default */
} paint_view;

/* Draws a picture of width * height pixels; rgb has three bytes for each, row by row.
 * CAROM_NO_MEMORY, or CAROM_CANCELLED after a signal. */
carom_status paint(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                   uint8_t *rgb);

/* The same as a PNG file. */
carom_status paint_png(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                       FILE *out);

/* The same as base64 of that, for pages. */
carom_status paint_base64(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                          FILE *out);

#endif
