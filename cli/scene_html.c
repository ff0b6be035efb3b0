/* SPDX-License-Identifier: MIT */
/* Clash reports as one HTML page without scripts or other files: a table of all clashes, and for
 * each of the largest a picture of the two parts near the clash. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "cli/picture.h"
#include "cli/scene_report.h"
#include "cli/text.h"

#define MOST_PICTURES 60u   /* each some 100 KB of SVG */
#define MOST_FACES    1500u /* of a picture */
#define MOST_TITLE    80u   /* bytes of each name below a picture; the table has all */

static const char *format(char *text, size_t size, double value) {
    snprintf(text, size, "%.6g", value);
    return text;
}

static void put_row(page *page, const scene_report *report, uint64_t number) {
    const scene_clash *c = &report->clashes[number];
    char text[7][40];
    carom_vec3 p = scene_clash_point(report, c);
    snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)number + 1);
    snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)c->contact.triangle_pairs);
    snprintf(text[6], sizeof(text[6]), "%.4g, %.4g, %.4g", p.x, p.y, p.z);
    const char *const cells[] = {
        text[0],
        report->parts->data[c->a].title,
        report->parts->data[c->b].title,
        scene_relation_name(c->relation),
        text[1],
        c->has_volume ? format(text[2], sizeof(text[2]), c->contact.volume) : "",
        c->relation == SCENE_CLOSE ? format(text[3], sizeof(text[3]), c->contact.distance) : "",
        c->contact.depth > 0.0 ? format(text[4], sizeof(text[4]), c->contact.depth) : "",
        text[6]};
    page_row(page, cells, sizeof(cells) / sizeof(cells[0]));
}

/* ---- Pictures -------------------------------------------------------------------------------- */

typedef struct sketch {
    double *xyz; /* nine per face */
    uint32_t *corners;
    bool *lit;
    uint64_t count;
} sketch;

static double distance_of(carom_vec3 p, carom_vec3 q) {
    return sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z));
}

/* The distance of a triangle's nearest corner from the clash. */
static double distance_of_face(const scene_part *part, const carom_mesh_view *view, uint64_t face,
                               carom_vec3 at) {
    double nearest = HUGE_VAL;
    for (int k = 0; k < 3; ++k)
        nearest = fmin(nearest, distance_of(scene_part_corner(part, view, face, k), at));
    return nearest;
}

static int compare(const void *a, const void *b) {
    double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

/* The distance within which half of the faces of a picture are, of one part. */
static double reach_of(const scene_part *part, const carom_mesh_view *view, carom_vec3 at) {
    double *all = malloc((size_t)(view->face_count + 1) * sizeof(*all)), reach = HUGE_VAL;
    if (all == NULL) return 0.0;
    for (uint64_t f = 0; f < view->face_count; ++f) all[f] = distance_of_face(part, view, f, at);
    if (view->face_count > MOST_FACES / 2) {
        qsort(all, (size_t)view->face_count, sizeof(*all), compare);
        reach = all[MOST_FACES / 2];
    }
    free(all);
    return reach;
}

static void add_faces(sketch *s, const scene_part *part, const carom_mesh_view *view, carom_vec3 at,
                      double reach, bool lit) {
    uint64_t most = s->count + MOST_FACES / 2;
    for (uint64_t f = 0; f < view->face_count && s->count < most; ++f) {
        if (distance_of_face(part, view, f, at) > reach) continue;
        for (int k = 0; k < 3; ++k) {
            carom_vec3 p = scene_part_corner(part, view, f, k);
            memcpy(&s->xyz[9 * s->count + 3 * (uint64_t)k], &p, sizeof(p));
            s->corners[3 * s->count + (uint64_t)k] = (uint32_t)(3 * s->count) + (uint32_t)k;
        }
        s->lit[s->count++] = lit;
    }
}

static carom_status draw(page *page, const scene_report *report, uint64_t number) {
    const scene_clash *c = &report->clashes[number];
    const scene_part *parts[2] = {&report->parts->data[c->a], &report->parts->data[c->b]};
    carom_vec3 at = scene_clash_point(report, c);
    sketch s = {malloc(9 * MOST_FACES * sizeof(double)), malloc(3 * MOST_FACES * sizeof(uint32_t)),
                malloc(MOST_FACES * sizeof(bool)), 0};
    carom_status status =
        s.xyz != NULL && s.corners != NULL && s.lit != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        carom_mesh_view view;
        if (parts[i]->mesh == NULL) continue; /* a convex shape has no faces to draw */
        status = carom_mesh_get_view(parts[i]->mesh, &view);
        if (status == CAROM_OK)
            add_faces(&s, parts[i], &view, at, reach_of(parts[i], &view, at), i == 1);
    }
    if (status == CAROM_OK && s.count != 0) {
        char words[256];
        carom_mesh_view view = {.positions = s.xyz,
                                .vertex_count = 3 * s.count,
                                .corners = s.corners,
                                .face_count = s.count};
        const char *a = parts[0]->title, *b = parts[1]->title;
        snprintf(words, sizeof(words), "%llu: %.*s, %.*s (red): %s", (unsigned long long)number + 1,
                 (int)text_prefix(a, MOST_TITLE), a, (int)text_prefix(b, MOST_TITLE), b,
                 scene_relation_name(c->relation));
        status = picture_draw(page, &view, &(picture_def){.lit = s.lit}, words);
    }
    free(s.xyz);
    free(s.corners);
    free(s.lit);
    return status;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Clashes with volume first, the largest first; then the others in their order. */
static uint64_t *order_of(const scene_report *report) {
    uint64_t *order = malloc((size_t)(report->count + 1) * sizeof(*order));
    if (order == NULL) return NULL;
    for (uint64_t i = 0; i < report->count; ++i) order[i] = i;
    for (uint64_t i = 0; i < report->count && i < MOST_PICTURES; ++i) {
        uint64_t best = i;
        for (uint64_t k = i + 1; k < report->count; ++k) {
            double x = report->clashes[order[k]].contact.volume;
            double y = report->clashes[order[best]].contact.volume;
            if (x > y || (x == y && order[k] < order[best])) best = k;
        }
        uint64_t swap = order[i];
        order[i] = order[best];
        order[best] = swap;
    }
    return order;
}

carom_status scene_write_html(const scene_report *report, FILE *out) {
    static const char *const heads[] = {
        "", "part a", "part b", "relation", "triangle pairs", "volume", "distance", "depth", "at"};
    page page = {.out = out};
    char text[200];
    uint64_t *order = order_of(report);
    carom_status status = order != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    page_begin_file(&page, out, "Clash report");
    snprintf(text, sizeof(text), "%llu parts, %llu clashes.",
             (unsigned long long)report->parts->count, (unsigned long long)report->count);
    page_section(&page, "Clashes", text);
    page_begin_table(&page, heads, sizeof(heads) / sizeof(heads[0]));
    for (uint64_t i = 0; i < report->count; ++i) put_row(&page, report, i);
    page_end_table(&page);
    if (report->count != 0)
        page_section(&page, "Pictures",
                     "The faces nearest to each clash, the largest volume first.");
    for (uint64_t i = 0; i < report->count && i < MOST_PICTURES && status == CAROM_OK; ++i)
        status = draw(&page, report, order[i]);
    page_end_file(&page);
    free(order);
    return status;
}
