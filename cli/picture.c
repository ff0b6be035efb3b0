/* SPDX-License-Identifier: MIT */
/* Draws a mesh or balls as a picture: rotated, lit from the upper right, painted far to near. */
#include "cli/picture.h"

#include <math.h>
#include <stdlib.h>

/* One projected face: its corners are points [first, first + count). */
typedef struct seen {
    double depth, light;
    uint64_t number, first, count;
    bool back; /* it is seen from its inside */
} seen;

static carom_vec3 position_of(const carom_mesh_view *view, uint32_t vertex) {
    const double *p = (const double *)view->positions + 3 * (uint64_t)vertex;
    return (carom_vec3){p[0], p[1], p[2]};
}

/* Rotates: the view is from above and from the right. */
static carom_vec3 turn(carom_vec3 p) {
    static const double c = 0.82, s = 0.57, up = 0.55, ahead = 0.835;
    double x = c * p.x - s * p.y, y = s * p.x + c * p.y;
    return (carom_vec3){x, ahead * p.z + up * y, up * p.z - ahead * y};
}

static int compare_depth(const void *a, const void *b) {
    double p = ((const seen *)a)->depth, q = ((const seen *)b)->depth;
    return p < q ? -1 : p > q;
}

/* Light and depth of a face from its rotated corners. */
static seen look_at(const carom_vec3 *corners, uint64_t first, uint64_t count) {
    seen face = {.first = first, .count = count};
    carom_vec3 n = {0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 a = corners[i], b = corners[(i + 1) % count];
        n.x += (a.y - b.y) * (a.z + b.z);
        n.y += (a.z - b.z) * (a.x + b.x);
        n.z += (a.x - b.x) * (a.y + b.y);
        face.depth += a.z / (double)count;
    }
    double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    double towards = (0.35 * n.x + 0.6 * n.y + 0.72 * n.z) / (length > 0.0 ? length : 1.0);
    face.back = n.z < 0.0;
    face.light = face.back ? fabs(towards) : fmax(towards, 0.0);
    return face;
}

static void paint(page *page, const seen *face, const carom_vec3 *corners, double scale,
                  carom_vec3 middle, const picture_def *def) {
    double points[128][2];
    uint64_t count = face->count < 128 ? face->count : 128;
    for (uint64_t i = 0; i < count; ++i) {
        points[i][0] = scale * (corners[face->first + i].x - middle.x);
        points[i][1] = scale * (corners[face->first + i].y - middle.y);
    }
    bool lit = def->lit != NULL && def->lit[face->number];
    size_t colour = lit ? PICTURE_LIT : face->back ? PICTURE_INSIDE : def->colour;
    page_face(page, (const double(*)[2])points, count, lit ? 1.0 : face->light, colour);
}

carom_status picture_draw(page *page, const carom_mesh_view *view, const picture_def *def,
                          const char *words) {
    uint64_t faces = view->face_count;
    uint64_t total = view->offsets != NULL ? view->offsets[faces] : 3 * faces;
    carom_vec3 *corners = malloc(total * sizeof(*corners));
    seen *order = malloc(faces * sizeof(*order));
    if (corners == NULL || order == NULL) {
        free(corners);
        free(order);
        return CAROM_NO_MEMORY;
    }
    carom_vec3 low = {HUGE_VAL, HUGE_VAL, 0.0}, high = {-HUGE_VAL, -HUGE_VAL, 0.0};
    for (uint64_t i = 0; i < total; ++i) {
        corners[i] = turn(position_of(view, view->corners[i]));
        low.x = fmin(low.x, corners[i].x);
        low.y = fmin(low.y, corners[i].y);
        high.x = fmax(high.x, corners[i].x);
        high.y = fmax(high.y, corners[i].y);
    }
    carom_vec3 middle = {0.5 * (low.x + high.x), 0.5 * (low.y + high.y), 0.0};
    double scale = 2.0 / fmax(high.x - low.x, high.y - low.y);
    for (uint64_t f = 0; f < faces; ++f) {
        uint64_t first = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        order[f] = look_at(corners + first, first, end - first);
        order[f].number = f;
    }
    qsort(order, faces, sizeof(*order), compare_depth);
    if (!def->bare) page_begin_picture(page, def->edge != 0 ? def->edge : 240);
    for (uint64_t f = 0; f < faces; ++f)
        if (!def->closed || !order[f].back) paint(page, &order[f], corners, scale, middle, def);
    if (!def->bare) page_end_picture(page, words);
    free(corners);
    free(order);
    return CAROM_OK;
}

/* A ball as a circle, stronger when nearer. */
static void paint_ball(FILE *out, const seen *face, const carom_vec3 *centre, double radius,
                       size_t colour) {
    fprintf(out,
            "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"%.4f\" fill=\"%s\" fill-opacity=\"%.2f\" "
            "stroke=\"#fff\" stroke-width=\".004\"/>\n",
            centre->x, -centre->y, radius, page_colour(colour), 0.6 + 0.35 * face->light);
}

carom_status picture_draw_balls(page *page, const carom_ball *balls, const uint8_t *colours,
                                uint64_t count) {
    if (count == 0) return CAROM_OK;
    carom_vec3 *centres = malloc(count * sizeof(*centres));
    seen *order = malloc(count * sizeof(*order));
    if (centres == NULL || order == NULL) {
        free(centres);
        free(order);
        return CAROM_NO_MEMORY;
    }
    carom_vec3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 c = centres[i] = turn(balls[i].centre);
        double r = balls[i].radius;
        low = (carom_vec3){fmin(low.x, c.x - r), fmin(low.y, c.y - r), fmin(low.z, c.z)};
        high = (carom_vec3){fmax(high.x, c.x + r), fmax(high.y, c.y + r), fmax(high.z, c.z)};
        order[i] = (seen){.depth = c.z, .number = i};
    }
    double scale = 2.0 / fmax(high.x - low.x, high.y - low.y);
    double deep = high.z > low.z ? high.z - low.z : 1.0;
    qsort(order, count, sizeof(*order), compare_depth);
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t n = order[i].number;
        carom_vec3 at = {scale * (centres[n].x - 0.5 * (low.x + high.x)),
                         scale * (centres[n].y - 0.5 * (low.y + high.y)), 0.0};
        order[i].light = (centres[n].z - low.z) / deep; /* nearer balls are stronger */
        paint_ball(page->out, &order[i], &at, scale * balls[n].radius, colours[n]);
    }
    free(centres);
    free(order);
    return CAROM_OK;
}
