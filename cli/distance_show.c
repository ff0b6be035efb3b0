/* SPDX-License-Identifier: MIT */
/* What carom distance found, to look at: points as balls in the colours of their distances, and for
 * those that are deepest inside or nearest a row and a line to the nearest point of the mesh. */
#include "cli/distance_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/display.h"
#include "cli/platform.h"

#define MOST_POINTS 200000u /* that are shown, the first ones */
#define MOST_LISTED 500u    /* with a row and a line: the least distances */
#define BALL        0.004   /* radius, as a share of the size of what is shown */
#define MANY        2000u   /* points: more have balls of half that radius */

typedef struct near_point {
    double distance;
    uint64_t number;
} near_point;

static int compare_distances(const void *one, const void *other) {
    const near_point *a = one, *b = other;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void add_points(display *d, const distance_show_def *def, uint64_t count) {
    carom_bounds box = display_bounds(d);
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 p = def->points[i];
        box.low = (carom_vec3){fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z)};
        box.high =
            (carom_vec3){fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z)};
    }
    double size =
        fmax(fmax(box.high.x - box.low.x, box.high.y - box.low.y), box.high.z - box.low.z);
    double radius = size * BALL * (count > MANY ? 0.5 : 1.0);
    display_item *item = display_add(d, DISPLAY_SPHERES, "points, drawn as balls");
    for (uint64_t i = 0; i < count && !d->no_memory; ++i) {
        display_add_sphere(d, item, def->points[i], radius);
        display_add_value(d, item, def->distances[i]);
    }
    if (count != 0)
        display_set_legend(d, "distance (negative: inside)", display_unit(d), def->least,
                           def->most);
}

static void add_row(display *d, const distance_show_def *def, display_list *list, uint64_t number) {
    const carom_hit *hit = &def->hits[number];
    char index[24], distance[32], face[24] = "", name[48];
    const display_item *items[DISPLAY_MOST_LIT] = {NULL};
    snprintf(index, sizeof(index), "%" PRIu64, number);
    snprintf(name, sizeof(name), "point %" PRIu64, number);
    snprintf(distance, sizeof(distance), "%.9g", def->distances[number]);
    if (hit->face != CAROM_NONE) {
        display_item *line = display_add(d, DISPLAY_CURVE, name);
        display_add_segment(d, line, def->points[number], hit->point);
        line->colour = display_value_colour(d, def->distances[number]);
        display_tell(d, &line->numbers, "distance", def->distances[number], display_unit(d));
        items[0] = line;
        snprintf(face, sizeof(face), "%" PRIu32, hit->face);
    }
    const char *const cells[] = {index, distance, face};
    display_add_row(d, list, cells, items, def->points[number], fabs(def->distances[number]));
}

static carom_status add_list(display *d, const distance_show_def *def, uint64_t count) {
    static const char *const columns[] = {"point", "distance", "nearest face"};
    near_point *order = malloc((size_t)(count + 1) * sizeof(*order));
    if (order == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i) order[i] = (near_point){def->distances[i], i};
    qsort(order, (size_t)count, sizeof(*order), compare_distances);
    display_list *list = display_add_list(d, "Points, the least distance first", columns, 3);
    for (uint64_t i = 0; i < count && i < MOST_LISTED && !d->no_memory; ++i)
        add_row(d, def, list, order[i].number);
    if (list != NULL) list->total = def->count;
    free(order);
    return CAROM_OK;
}

carom_status distance_show(cli *cli, const distance_show_def *def, const char *output,
                           const char *format) {
    uint64_t count = def->count < MOST_POINTS ? def->count : MOST_POINTS;
    char title[400];
    carom_mesh_view view;
    display d;
    display_mesh shown = {0};
    snprintf(title, sizeof(title), "%.300s: %" PRIu64 " of %" PRIu64 " points inside",
             carom_os_file_name(def->path), def->inside, def->count);
    display_begin(&d, cli, title);
    carom_status status = carom_mesh_get_view(def->mesh, &view);
    if (status == CAROM_OK) status = display_mesh_open(cli, &view, false, NULL, &shown);
    if (status == CAROM_OK) {
        display_add_mesh(&d, &shown, def->path);
        for (uint64_t i = 0; i < d.item_count; ++i) d.items[i]->ghost = true;
        display_tell_count(&d, &d.answers, "points", def->count);
        display_tell_count(&d, &d.answers, "inside", def->inside);
        if (def->count != 0) {
            display_tell(&d, &d.answers, "least distance", def->least, display_unit(&d));
            display_tell(&d, &d.answers, "greatest distance", def->most, display_unit(&d));
        }
        if (count < def->count) display_tell_count(&d, &d.answers, "shown, the first", count);
        add_points(&d, def, count);
        status = add_list(&d, def, count);
    }
    if (status == CAROM_OK && !display_save(&d, output, format)) status = CAROM_IO;
    display_mesh_close(&shown);
    display_free(&d);
    return status;
}
