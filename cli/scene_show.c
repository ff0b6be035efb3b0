/* SPDX-License-Identifier: MIT */
/* Shows a clash report: parts, and for each clash the faces that meet, the curve in which they do,
 * its points and the way to move apart. Pages have the report itself, too, as JSON, for the panel
 * that works with it (viewer/report.js); rows of the list and clashes of the report have the same
 * ids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/platform.h"
#include "cli/pose.h"
#include "cli/scene_report.h"

#define MOST_CLASHES 1000u /* whose faces are lit; the list has all */

/* What was made of a part. */
typedef struct shown_part {
    display_mesh mesh;
    carom_soup *soup; /* made when a clash needs it */
    display_item *item;
} shown_part;

typedef struct scene_display {
    cli *cli;
    const scene_report *report;
    display *d;
    shown_part *parts;
} scene_display;

/* ---- Parts ----------------------------------------------------------------------------------- */

static carom_status add_part(scene_display *s, uint64_t index) {
    const scene_part *part = &s->report->parts->data[index];
    display *d = s->d;
    carom_mesh_view view;
    carom_status status = CAROM_OK;
    uint64_t first = d->item_count;
    if (part->mesh != NULL) {
        display_mesh *mesh = &s->parts[index].mesh;
        status = carom_mesh_get_view(part->mesh, &view);
        if (status == CAROM_OK) status = display_mesh_open(s->cli, &view, false, NULL, mesh);
        if (status != CAROM_OK) return status;
        memcpy(mesh->matrix, part->matrix, sizeof(mesh->matrix));
        mesh->view.part_names = NULL; /* one part, under its title */
        display_add_mesh(d, mesh, part->title);
        if (!d->no_memory && d->item_count > first) display_rename(d, d->items[first], part->title);
    } else if (part->packing != NULL) {
        status = display_add_packing(d, part->packing, part->title);
    } else {
        status = display_add_convex(d, &part->object.convex, part->matrix, part->title);
    }
    if (!d->no_memory && d->item_count > first) s->parts[index].item = d->items[first];
    return status;
}

/* ---- Clashes --------------------------------------------------------------------------------- */

static carom_status soup_of(scene_display *s, uint64_t index) {
    carom_mesh_view view;
    if (s->parts[index].soup != NULL) return CAROM_OK;
    carom_status status = carom_mesh_get_view(s->report->parts->data[index].mesh, &view);
    carom_soup_def def = {.mesh = &view};
    return status == CAROM_OK ? carom_soup_create(s->cli->context, &def, &s->parts[index].soup)
                              : status;
}

/* The curve in which the faces of pairs meet. */
static carom_status add_curve(scene_display *s, const scene_clash *clash, uint32_t contact,
                              const carom_pairs *pairs, const display_item **items, int *count) {
    const scene_part *parts = s->report->parts->data;
    carom_soup_segments segments = {0};
    carom_status status = carom_soup_cross_segments(
        s->cli->context, s->parts[clash->a].soup, &parts[clash->a].object.pose,
        s->parts[clash->b].soup, &parts[clash->b].object.pose, pairs->data, pairs->count,
        &segments);
    if (status == CAROM_OK && segments.count != 0) {
        display_item *curve =
            display_add(s->d, DISPLAY_CURVE, scene_relation_name(clash->relation));
        curve->contact = contact;
        for (uint64_t i = 0; i < segments.count; ++i)
            display_add_segment(s->d, curve, segments.data[i].p, segments.data[i].q);
        items[(*count)++] = curve;
    }
    carom_soup_segments_free(&segments);
    return status;
}

/* Lights the faces of two parts that meet. */
static carom_status light(scene_display *s, const scene_clash *clash, uint32_t contact,
                          const display_item **items, int *count) {
    const uint64_t ends[2] = {clash->a, clash->b};
    const scene_part *parts = s->report->parts->data;
    carom_pairs pairs = {0};
    uint8_t *marked[2] = {NULL, NULL};
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = soup_of(s, ends[i]);
        marked[i] = calloc((size_t)s->parts[ends[i]].mesh.face_count + 1, 1);
        if (status == CAROM_OK && marked[i] == NULL) status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK)
        status = carom_soup_cross_pairs(s->cli->context, s->parts[clash->a].soup,
                                        &parts[clash->a].object.pose, s->parts[clash->b].soup,
                                        &parts[clash->b].object.pose, &pairs);
    for (uint64_t i = 0; i < pairs.count && status == CAROM_OK; ++i) {
        marked[0][pairs.data[i].a] = 1;
        marked[1][pairs.data[i].b] = 1;
    }
    if (status == CAROM_OK) status = add_curve(s, clash, contact, &pairs, items, count);
    for (int i = 0; i < 2 && status == CAROM_OK; ++i)
        *count +=
            display_add_marked(s->d, &s->parts[ends[i]].mesh, marked[i],
                               scene_relation_name(clash->relation), contact, items + *count, 1);
    carom_pairs_free(&pairs);
    free(marked[0]);
    free(marked[1]);
    return status;
}

static double size_of(const carom_bounds *b) {
    double x = b->high.x - b->low.x, y = b->high.y - b->low.y, z = b->high.z - b->low.z;
    return x >= 0.0 ? sqrt(x * x + y * y + z * z) : 0.0;
}

/* How large a clash is to be seen: the curve in which faces meet, the way to move apart, or a share
 * of the smaller part. */
static double radius_of(const scene_display *s, const scene_clash *clash,
                        const display_item *const *items, int count) {
    carom_vec3 at = scene_clash_point(s->report, clash);
    double most = 0.0;
    for (int i = 0; i < count; ++i)
        for (uint64_t k = 0; items[i]->kind == DISPLAY_CURVE && k < items[i]->point_count; ++k) {
            carom_vec3 p = items[i]->points[k];
            double x = p.x - at.x, y = p.y - at.y, z = p.z - at.z;
            most = fmax(most, sqrt(x * x + y * y + z * z));
        }
    const scene_part *parts = s->report->parts->data;
    double part = fmin(size_of(&parts[clash->a].box), size_of(&parts[clash->b].box));
    most = fmax(most, clash->contact.depth + clash->contact.distance);
    return most > 0.0 ? fmin(most, part) : 0.25 * part;
}

static void add_marks(scene_display *s, const scene_clash *clash, uint32_t contact,
                      const display_item **items, int *count) {
    const carom_scene_contact *c = &clash->contact;
    display *d = s->d;
    if (c->point_count != 0) {
        display_item *points = display_add(d, DISPLAY_POINTS, scene_relation_name(clash->relation));
        display_item *lines = NULL;
        points->contact = contact;
        for (uint32_t i = 0; i < c->point_count; ++i) {
            display_add_point(d, points, c->points[i].point_a);
            if (clash->relation != SCENE_CLOSE) continue;
            if (lines == NULL) lines = display_add(d, DISPLAY_CURVE, "distance");
            display_add_segment(d, lines, c->points[i].point_a, c->points[i].point_b);
        }
        items[(*count)++] = points;
        if (lines != NULL) items[(*count)++] = lines;
    }
    if (c->depth > 0.0 && *count < DISPLAY_MOST_LIT - 1) {
        carom_vec3 at = scene_clash_point(s->report, clash), n = c->normal;
        carom_vec3 way = {c->depth * n.x, c->depth * n.y, c->depth * n.z};
        display_add_arrow(d, "depth", at, way, display_unit(d));
        if (!d->no_memory) items[(*count)++] = d->items[d->item_count - 1];
    }
}

static const char *say(char text[32], bool is_there, double value) {
    snprintf(text, 32, "%.6g", value);
    return is_there ? text : "";
}

static carom_status add_clash(scene_display *s, display_list *list, uint64_t number,
                              const scene_clash *clash) {
    const carom_scene_contact *c = &clash->contact;
    const scene_part *a = &s->report->parts->data[clash->a], *b = &s->report->parts->data[clash->b];
    const display_item *items[DISPLAY_MOST_LIT + 1] = {NULL};
    int count = 0;
    carom_status status = CAROM_OK;
    if (s->parts[clash->a].item != NULL) items[count++] = s->parts[clash->a].item;
    if (s->parts[clash->b].item != NULL) items[count++] = s->parts[clash->b].item;
    if (number < MOST_CLASHES && a->mesh != NULL && b->mesh != NULL && c->triangle_pairs != 0)
        status = light(s, clash, (uint32_t)number, items, &count);
    int lit = count;
    if (status == CAROM_OK && number < MOST_CLASHES)
        add_marks(s, clash, (uint32_t)number, items, &count);
    if (status != CAROM_OK || list == NULL) return status;
    char text[4][32], first[32], direction[SCENE_DIRECTION_SIZE] = "";
    if (scene_has_direction(clash)) scene_put_direction(c->normal, direction);
    snprintf(first, sizeof(first), "%llu", (unsigned long long)number + 1);
    snprintf(text[0], 32, "%llu", (unsigned long long)c->triangle_pairs);
    const char *const cells[] = {first,
                                 a->title,
                                 b->title,
                                 scene_relation_name(clash->relation),
                                 text[0],
                                 say(text[1], clash->has_volume, c->volume),
                                 say(text[2], clash->relation == SCENE_CLOSE, c->distance),
                                 say(text[3], c->depth > 0.0, c->depth),
                                 direction};
    items[DISPLAY_MOST_LIT] = NULL;
    display_add_row(s->d, list, cells, items, scene_clash_point(s->report, clash),
                    radius_of(s, clash, items, lit));
    display_set_row_id(s->d, list, clash->guid);
    return CAROM_OK;
}

/* ---- Displays -------------------------------------------------------------------------------- */

static carom_status begin(scene_display *s, const char *title) {
    display_begin(s->d, s->cli, title);
    s->d->metres = s->report->parts->metres;
    s->parts = calloc((size_t)s->report->parts->count + 1, sizeof(*s->parts));
    return s->parts != NULL ? CAROM_OK : CAROM_NO_MEMORY;
}

static carom_status end(scene_display *s, carom_status status) {
    for (uint64_t i = 0; i < s->report->parts->count && s->parts != NULL; ++i) {
        display_mesh_close(&s->parts[i].mesh);
        carom_soup_destroy(s->parts[i].soup);
    }
    free(s->parts);
    return status == CAROM_OK && s->d->no_memory ? CAROM_NO_MEMORY : status;
}

/* The report as JSON, for the page. */
static bool put_report(const cli *cli, const scene_report *report, display *d) {
    platform_memory text;
    if (!platform_open_memory(&text)) return false;
    json j = {.out = text.file};
    cli_put_envelope(cli, &j);
    scene_put_json(report, false, &j);
    json_end_object(&j);
    bool good = platform_close_memory(&text);
    d->report = text.bytes;
    return good;
}

carom_status scene_show(cli *cli, const scene_report *report, display *d) {
    static const char *const columns[] = {"",       "part a",   "part b", "relation", "pairs",
                                          "volume", "distance", "depth",  "direction"};
    scene_display s = {.cli = cli, .report = report, .d = d};
    char title[120];
    snprintf(title, sizeof(title), "Clash report: %llu parts, %llu clash%s",
             (unsigned long long)report->parts->count, (unsigned long long)report->count,
             report->count == 1 ? "" : "es");
    carom_status status = begin(&s, title);
    for (uint64_t i = 0; i < report->parts->count && status == CAROM_OK; ++i)
        status = add_part(&s, i);
    display_tell_count(d, &d->answers, "parts", report->parts->count);
    display_tell_count(d, &d->answers, "clashes", report->count);
    for (int r = 0; r < SCENE_RELATIONS; ++r)
        if (report->counts[r] != 0)
            display_tell_count(d, &d->answers, scene_relation_name((scene_relation)r),
                               report->counts[r]);
    display_list *list = display_add_list(d, "Clashes", columns, 9);
    for (uint64_t i = 0; i < report->count && status == CAROM_OK && !d->no_memory; ++i)
        status = add_clash(&s, list, i, &report->clashes[i]);
    if (status == CAROM_OK && !put_report(cli, report, d)) status = CAROM_NO_MEMORY;
    return end(&s, status);
}

carom_status scene_show_clash(cli *cli, const scene_report *report, const scene_clash *clash,
                              display *d) {
    scene_display s = {.cli = cli, .report = report, .d = d};
    carom_status status = begin(&s, "");
    if (status == CAROM_OK) status = add_part(&s, clash->a);
    if (status == CAROM_OK) status = add_part(&s, clash->b);
    if (status == CAROM_OK) status = add_clash(&s, NULL, 0, clash);
    return end(&s, status);
}
