/* SPDX-License-Identifier: MIT */
/* picture.h: draws meshes on a page. */
#ifndef CAROM_CLI_PICTURE_H
#define CAROM_CLI_PICTURE_H

#include "carom/carom.h"
#include "cli/page.h"

/* Named colours of page_face. */
#define PICTURE_LIT    1u
#define PICTURE_INSIDE 4u

typedef struct picture_def {
    bool closed;     /* back faces are hidden by others: leave them out */
    size_t colour;   /* as in page_face */
    unsigned edge;   /* in pixels; 0: 240 */
    const bool *lit; /* one per face, or NULL: faces to highlight */
    bool bare;       /* only the elements of SVG, within [-1, 1], and no words: for a drawing that
                        the caller has begun */
} picture_def;

/* Draws a mesh of float64 positions, scaled to the picture. */
carom_status picture_draw(page *page, const carom_mesh_view *view, const picture_def *def,
                          const char *words);

/* Draws balls in the same view, bare; `colours` has one per ball, as in page_face. */
carom_status picture_draw_balls(page *page, const carom_ball *balls, const uint8_t *colours,
                                uint64_t count);

#endif
