/* SPDX-License-Identifier: MIT */
/* Shows how two solids lie: the surface of the overlap in the see-through solids, or the nearest
 * points. */
#include "cli/query_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/region.h"

/* The matrix of B; A stays. */
static void matrix_of(const query_body *body, const pose_arg *pose, int index, double m[12]) {
    bool as_matrix = pose->is_matrix && body->packing != NULL; /* else it was applied */
    pose_matrix(index == 1 ? &pose->pose : &(carom_pose){0}, m);
    if (index == 1 && as_matrix) memcpy(m, pose->matrix, sizeof(pose->matrix));
}

/* Adds a body: its mesh, or the spheres of a file. */
static carom_status add_body(display *d, const query_body *body, const char *path,
                             const double m[12], display_mesh *mesh) {
    carom_mesh_view view;
    if (body->mesh != NULL) {
        carom_status status = carom_mesh_get_view(body->mesh, &view);
        if (status == CAROM_OK) status = display_mesh_open(d->cli, &view, false, NULL, mesh);
        if (status != CAROM_OK) return status;
        memcpy(mesh->matrix, m, sizeof(mesh->matrix));
        display_add_mesh(d, mesh, path);
        return CAROM_OK;
    }
    uint64_t before = d->item_count;
    carom_status status = display_add_packing(d, body->packing, path);
    double det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                 m[2] * (m[4] * m[9] - m[5] * m[8]);
    for (uint64_t i = before; i < d->item_count; ++i) {
        display_item *item = d->items[i];
        for (uint64_t k = 0; k < item->point_count; ++k) {
            item->points[k] = display_posed(m, item->points[k]);
            item->radii[k] *= cbrt(fabs(det));
        }
    }
    return status;
}

static void add_pieces(display *d, const carom_solid_patches *pieces) {
    static const char *const columns[] = {"piece", "volume", "area"};
    display_list *list =
        pieces->count != 0 ? display_add_list(d, "Pieces of the overlap", columns, 3) : NULL;
    for (uint64_t i = 0; i < pieces->count; ++i) {
        const carom_solid_patch *p = &pieces->data[i];
        char number[24], volume[32], area[32];
        snprintf(number, sizeof(number), "%llu", (unsigned long long)i + 1);
        snprintf(volume, sizeof(volume), "%.9g", p->volume);
        snprintf(area, sizeof(area), "%.9g", p->area);
        const char *const cells[] = {number, volume, area};
        display_add_row(d, list, cells, NULL, p->centroid, cbrt(fabs(p->volume)));
    }
}

/* The relation in words; which file is A and which is B stands in the title. */
static const char *words_of(const char *relation) {
    return strcmp(relation, "a-inside-b") == 0   ? "A is inside B"
           : strcmp(relation, "b-inside-a") == 0 ? "B is inside A"
                                                 : relation;
}

/* How far a value can be off: estimates say between what, others by how much. */
static void say_bound(char *text, size_t size, double value, double lower, double upper,
                      bool estimated) {
    if (estimated)
        snprintf(text, size, "between %.9g and %.9g", lower, upper);
    else
        snprintf(text, size, "off by at most %.2g", fmax(upper - value, value - lower));
}

/* A component of a vector, 0 where it is within the vector's error. */
static double known(double x, double error) {
    return fabs(x) <= error ? 0.0 : x;
}

static void tell(display *d, const query_answer *a) {
    char text[120];
    const char *unit = display_unit(d);
    display_tell_text(d, &d->answers, "relation", words_of(a->relation));
    if (a->colliding) {
        display_tell(d, &d->answers, "volume of the overlap", a->volume, NULL);
        say_bound(text, sizeof(text), a->volume, a->volume_lower, a->volume_upper, a->estimated);
        display_bound(d, &d->answers, text);
        if (!a->estimated) display_tell(d, &d->answers, "area of the overlap", a->area, NULL);
        snprintf(text, sizeof(text), "%.6g, %.6g, %.6g", known(a->force.x, a->force_error),
                 known(a->force.y, a->force_error), known(a->force.z, a->force_error));
        display_tell_text(d, &d->answers, "force on B", text);
    } else if (!isnan(a->distance)) {
        display_tell(d, &d->answers, "distance", a->distance, unit);
        say_bound(text, sizeof(text), a->distance, a->distance_lower, a->distance_upper,
                  a->estimated);
        display_bound(d, &d->answers, text);
    }
}

static carom_status show_overlap(display *d, const display_mesh meshes[2],
                                 const query_body bodies[2], const query_answer *a) {
    carom_status status = CAROM_OK;
    for (uint64_t i = 0; i < d->item_count; ++i)
        d->items[i]->ghost = true; /* what is inside is to be seen */
    if (bodies[0].mesh != NULL && bodies[1].mesh != NULL) status = region_add(d, meshes);
    if (status != CAROM_OK) return status;
    display_add_arrow(d, "force on B", a->centroid, a->force, NULL);
    if (!d->no_memory) d->items[d->item_count - 1]->colour = (display_colour){58, 125, 230, 255};
    display_add_arrow(d, "torque on B", a->centroid, a->torque, NULL);
    if (!d->no_memory) d->items[d->item_count - 1]->colour = (display_colour){124, 77, 170, 255};
    add_pieces(d, &a->patches);
    return CAROM_OK;
}

carom_status query_show(cli *cli, const query_body bodies[2], char **paths, const pose_arg *pose,
                        const query_answer *a, display *d) {
    char title[700];
    display_mesh meshes[2] = {{0}, {0}};
    double m[2][12];
    carom_status status = CAROM_OK;
    snprintf(title, sizeof(title), "%.300s and %.300s: %s", paths[0], paths[1],
             words_of(a->relation));
    display_begin(d, cli, title);
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        matrix_of(&bodies[i], pose, i, m[i]);
        status = add_body(d, &bodies[i], paths[i], m[i], &meshes[i]);
    }
    tell(d, a);
    if (status == CAROM_OK && a->colliding) {
        status = show_overlap(d, meshes, bodies, a);
    } else if (status == CAROM_OK && isfinite(a->distance)) {
        display_item *points = display_add(d, DISPLAY_POINTS, "nearest points");
        display_item *line = display_add(d, DISPLAY_CURVE, "distance");
        display_add_point(d, points, a->point_a);
        display_add_point(d, points, a->point_b);
        display_add_segment(d, line, a->point_a, a->point_b);
        display_tell(d, &line->numbers, "distance", a->distance, display_unit(d));
    }
    for (int i = 0; i < 2; ++i) display_mesh_close(&meshes[i]);
    return status;
}
