/* SPDX-License-Identifier: MIT */
/* Filling a display: arrays that grow, texts that are copied. Every function may be called after
 * memory has run out; it then does nothing. */
#include "cli/display.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/parts.h"
#include "cli/platform.h"
#include "cli/pose.h"

const char *display_kind_name(display_kind kind) {
    static const char *const names[DISPLAY_KINDS] = {"part",   "patch", "region", "spheres",
                                                     "points", "curve", "edges",  "arrow"};
    return names[kind];
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Makes room for `more` elements after `count`. */
static bool grow(display *d, void *array, uint64_t count, uint64_t more, uint64_t *capacity,
                 size_t size) {
    void *data;
    if (d->no_memory) return false;
    if (count + more <= *capacity) return true;
    uint64_t wanted = 2 * *capacity + more + 15;
    memcpy(&data, array, sizeof(data));
    void *larger = realloc(data, (size_t)wanted * size);
    if (larger == NULL) {
        d->no_memory = true;
        return false;
    }
    memcpy(array, &larger, sizeof(larger));
    *capacity = wanted;
    return true;
}

#define GROW(d, array, count, more, capacity)                                                      \
    grow(d, (void *)&(array), count, more, &(capacity), sizeof(*(array)))

static char *copy(display *d, const char *text) {
    if (text == NULL || d->no_memory) return NULL;
    size_t size = strlen(text) + 1;
    char *made = malloc(size);
    if (made == NULL)
        d->no_memory = true;
    else
        memcpy(made, text, size);
    return made;
}

static void free_numbers(display_numbers *numbers) {
    for (uint64_t i = 0; i < numbers->count; ++i) {
        free(numbers->data[i].label);
        free(numbers->data[i].text);
        free(numbers->data[i].unit);
        free(numbers->data[i].bound);
    }
    free(numbers->data);
}

static void free_item(display_item *item) {
    free(item->name);
    free(item->points);
    free(item->corners);
    free(item->faces);
    free(item->radii);
    free(item->colours);
    free(item->values);
    free_numbers(&item->numbers);
    for (uint64_t i = 0; i < item->frame_count; ++i) free(item->frames[i]);
    free(item->frames);
    free(item->poses);
}

static void free_list(display_list *list) {
    for (uint64_t i = 0; i < list->row_count; ++i) {
        for (uint64_t k = 0; k < list->column_count && list->rows[i].cells != NULL; ++k)
            free(list->rows[i].cells[k]);
        free(list->rows[i].cells);
        free(list->rows[i].id);
    }
    for (uint64_t k = 0; k < list->column_count && list->columns != NULL; ++k)
        free(list->columns[k]);
    free(list->columns);
    free(list->rows);
    free(list->title);
}

static void free_plot(display_plot *plot) {
    for (uint64_t i = 0; i < plot->series_count; ++i) {
        free(plot->series[i].name);
        free(plot->series[i].x);
        free(plot->series[i].y);
    }
    free(plot->series);
    free(plot->title);
    free(plot->x);
    free(plot->y);
}

void display_begin(display *d, cli *cli, const char *title) {
    *d = (display){.cli = cli, .metres = cli->metres, .up = cli->up != 0 ? cli->up : 'z'};
    d->title = copy(d, title);
}

void display_free(display *d) {
    for (uint64_t i = 0; i < d->item_count; ++i) {
        free_item(d->items[i]);
        free(d->items[i]);
    }
    free(d->items);
    free_item(&d->lost);
    for (uint64_t i = 0; i < d->list_count; ++i) free_list(&d->lists[i]);
    free(d->lists);
    for (uint64_t i = 0; i < d->plot_count; ++i) free_plot(&d->plots[i]);
    free(d->plots);
    free_numbers(&d->answers);
    free(d->title);
    free(d->legend);
    free(d->legend_unit);
    free(d->times);
    free(d->glb);
    free(d->report);
    *d = (display){0};
}

void display_set_title(display *d, const char *title) {
    free(d->title);
    d->title = copy(d, title);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Part colours are calm, those of what was found stand out. */
static display_colour colour_of(display_kind kind, uint64_t number) {
    static const display_colour parts[] = {
        {154, 171, 191, 255}, {203, 180, 146, 255}, {151, 186, 160, 255}, {189, 163, 188, 255},
        {176, 181, 186, 255}, {205, 191, 130, 255}, {143, 183, 194, 255}, {201, 160, 150, 255}};
    static const display_colour others[DISPLAY_KINDS] = {
        [DISPLAY_PATCH] = {217, 48, 37, 255},    [DISPLAY_REGION] = {232, 113, 10, 255},
        [DISPLAY_SPHERES] = {66, 133, 190, 255}, [DISPLAY_POINTS] = {24, 24, 27, 255},
        [DISPLAY_CURVE] = {110, 5, 30, 255},     [DISPLAY_EDGES] = {217, 48, 37, 255},
        [DISPLAY_ARROW] = {24, 90, 188, 255}};
    if (kind == DISPLAY_PART) return parts[number % (sizeof(parts) / sizeof(parts[0]))];
    return others[kind];
}

display_item *display_add(display *d, display_kind kind, const char *name) {
    display_item *item = NULL;
    if (GROW(d, d->items, d->item_count, 1, d->item_capacity)) item = calloc(1, sizeof(*item));
    if (item == NULL) {
        d->no_memory = true;
        return &d->lost;
    }
    item->kind = kind;
    item->name = copy(d, name);
    item->number = d->numbers[kind]++;
    item->contact = CAROM_NONE;
    item->colour = colour_of(kind, item->number);
    item->overlay = kind == DISPLAY_PATCH || kind == DISPLAY_REGION;
    item->index = d->item_count;
    d->items[d->item_count++] = item;
    return item;
}

void display_rename(display *d, display_item *item, const char *name) {
    free(item->name);
    item->name = copy(d, name);
}

void display_add_point(display *d, display_item *item, carom_vec3 p) {
    if (GROW(d, item->points, item->point_count, 1, item->point_capacity))
        item->points[item->point_count++] = p;
}

void display_add_sphere(display *d, display_item *item, carom_vec3 centre, double radius) {
    display_add_point(d, item, centre);
    if (GROW(d, item->radii, item->radius_count, 1, item->radius_capacity))
        item->radii[item->radius_count++] = radius;
}

void display_add_segment(display *d, display_item *item, carom_vec3 p, carom_vec3 q) {
    display_add_point(d, item, p);
    display_add_point(d, item, q);
}

static void add_face_number(display *d, display_item *item, uint32_t face) {
    if (GROW(d, item->faces, item->face_count, 1, item->face_capacity))
        item->faces[item->face_count++] = face;
}

void display_add_triangle(display *d, display_item *item, const carom_vec3 p[3], uint32_t face) {
    for (int k = 0; k < 3; ++k) display_add_point(d, item, p[k]);
    add_face_number(d, item, face);
}

void display_add_value(display *d, display_item *item, double value) {
    if (GROW(d, item->values, item->value_count, 1, item->value_capacity))
        item->values[item->value_count++] = value;
}

void display_add_colour(display *d, display_item *item, display_colour colour) {
    if (GROW(d, item->colours, item->colour_count, 1, item->colour_capacity))
        item->colours[item->colour_count++] = colour;
}

void display_add_frame(display *d, display_item *item, const carom_vec3 *points, uint64_t count) {
    if (!GROW(d, item->frames, item->frame_count, 1, item->frame_capacity)) return;
    carom_vec3 *made = malloc((size_t)(count + 1) * sizeof(*made));
    if (made == NULL) {
        d->no_memory = true;
        return;
    }
    if (count != 0) memcpy(made, points, (size_t)count * sizeof(*made));
    item->frames[item->frame_count++] = made;
}

void display_add_time(display *d, double time) {
    if (GROW(d, d->times, d->time_count, 1, d->time_capacity)) d->times[d->time_count++] = time;
}

carom_pose display_unit_pose(carom_pose pose) {
    carom_quat *q = &pose.q;
    double length = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (length > 0.0)
        *q = (carom_quat){q->w / length, q->x / length, q->y / length, q->z / length};
    else
        *q = (carom_quat){1.0, 0.0, 0.0, 0.0};
    return pose;
}

void display_add_pose(display *d, display_item *item, carom_pose pose) {
    if (!GROW(d, item->poses, item->pose_count, 1, item->pose_capacity)) return;
    pose = display_unit_pose(pose);
    if (item->pose_count == 0) item->path[0] = pose;
    item->path[1] = pose;
    item->poses[item->pose_count++] = pose;
    item->moves = true;
}

void display_show_during(display_item *item, uint64_t from, uint64_t until) {
    item->timed = true;
    item->shown[0] = from;
    item->shown[1] = until;
}

#define SHAPE_DETAIL 4u   /* of shapes such as cylinders: 1280 triangles */
#define ARROW_HEAD   0.15 /* of the length of an arrow */

/* Segments that show an arrow in programs that know no arrows: a shaft and a head of four barbs. */
void display_add_arrow(display *d, const char *name, carom_vec3 from, carom_vec3 v,
                       const char *unit) {
    display_item *item = display_add(d, DISPLAY_ARROW, name);
    carom_vec3 tip = {from.x + v.x, from.y + v.y, from.z + v.z};
    double length = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    item->from = from;
    item->vector = v;
    display_tell(d, &item->numbers, "length", length, unit);
    if (!(length > 0.0)) return;
    /* a vector across: the product with the axis that v has least of */
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    carom_vec3 across = x <= y && x <= z ? (carom_vec3){0.0, v.z, -v.y}
                        : y <= z         ? (carom_vec3){-v.z, 0.0, v.x}
                                         : (carom_vec3){v.y, -v.x, 0.0};
    double size = sqrt(across.x * across.x + across.y * across.y + across.z * across.z);
    double s = 0.4 * ARROW_HEAD * length / size;
    carom_vec3 u = {s * across.x, s * across.y, s * across.z};
    carom_vec3 w = {(v.y * u.z - v.z * u.y) / length, (v.z * u.x - v.x * u.z) / length,
                    (v.x * u.y - v.y * u.x) / length};
    display_add_segment(d, item, from, tip);
    for (int k = 0; k < 4; ++k) {
        carom_vec3 side = k < 2 ? u : w;
        double sign = k % 2 == 0 ? 1.0 : -1.0;
        carom_vec3 barb = {tip.x - ARROW_HEAD * v.x + sign * side.x,
                           tip.y - ARROW_HEAD * v.y + sign * side.y,
                           tip.z - ARROW_HEAD * v.z + sign * side.z};
        display_add_segment(d, item, tip, barb);
    }
}

/* ---- Numbers, lists and plots ---------------------------------------------------------------- */

static display_number *add_number(display *d, display_numbers *to, const char *label) {
    if (!GROW(d, to->data, to->count, 1, to->capacity)) return NULL;
    display_number *n = &to->data[to->count++];
    *n = (display_number){.label = copy(d, label)};
    return n;
}

void display_tell(display *d, display_numbers *to, const char *label, double value,
                  const char *unit) {
    display_number *n = add_number(d, to, label);
    if (n == NULL) return;
    n->value = value;
    if (!isfinite(value)) n->text = copy(d, "unknown");
    n->unit = copy(d, unit);
}

void display_tell_count(display *d, display_numbers *to, const char *label, uint64_t value) {
    display_tell(d, to, label, (double)value, NULL);
}

void display_tell_text(display *d, display_numbers *to, const char *label, const char *text) {
    display_number *n = add_number(d, to, label);
    if (n != NULL) n->text = copy(d, text);
}

void display_bound(display *d, display_numbers *to, const char *bound) {
    if (to->count != 0) to->data[to->count - 1].bound = copy(d, bound);
}

static char **copy_all(display *d, const char *const *texts, uint64_t count) {
    char **made = d->no_memory ? NULL : calloc((size_t)count + 1, sizeof(*made));
    if (made == NULL) d->no_memory = true;
    for (uint64_t i = 0; i < count && made != NULL; ++i) made[i] = copy(d, texts[i]);
    return made;
}

display_list *display_add_list(display *d, const char *title, const char *const *columns,
                               uint64_t count) {
    if (!GROW(d, d->lists, d->list_count, 1, d->list_capacity)) return NULL;
    display_list *list = &d->lists[d->list_count++];
    *list = (display_list){.title = copy(d, title), .column_count = count};
    list->columns = copy_all(d, columns, count);
    return list;
}

void display_add_row(display *d, display_list *list, const char *const *cells,
                     const display_item *const items[DISPLAY_MOST_LIT], carom_vec3 at,
                     double radius) {
    if (list == NULL || !GROW(d, list->rows, list->row_count, 1, list->row_capacity)) return;
    display_row *row = &list->rows[list->row_count++];
    *row = (display_row){.at = at, .radius = radius};
    if (items != NULL) memcpy(row->items, items, sizeof(row->items));
    row->cells = copy_all(d, cells, list->column_count);
}

void display_set_row_id(display *d, display_list *list, const char *id) {
    if (list == NULL || list->row_count == 0 || d->no_memory) return;
    list->rows[list->row_count - 1].id = copy(d, id);
}

display_plot *display_add_plot(display *d, const char *title, const char *x, const char *y) {
    if (!GROW(d, d->plots, d->plot_count, 1, d->plot_capacity)) return NULL;
    display_plot *plot = &d->plots[d->plot_count++];
    *plot = (display_plot){.title = copy(d, title), .x = copy(d, x), .y = copy(d, y)};
    return plot;
}

void display_add_series(display *d, display_plot *plot, const char *name, const double *x,
                        const double *y, uint64_t count) {
    if (plot == NULL || !GROW(d, plot->series, plot->series_count, 1, plot->series_capacity))
        return;
    display_series *s = &plot->series[plot->series_count++];
    size_t size = (size_t)count * sizeof(double);
    *s = (display_series){copy(d, name), malloc(size + 1), malloc(size + 1), count};
    if (s->x == NULL || s->y == NULL) {
        d->no_memory = true;
    } else if (count != 0) {
        memcpy(s->x, x, size);
        memcpy(s->y, y, size);
    }
}

/* ---- Colours --------------------------------------------------------------------------------- */

void display_set_legend(display *d, const char *label, const char *unit, double low, double high) {
    d->legend = copy(d, label);
    d->legend_unit = copy(d, unit);
    d->legend_low = low;
    d->legend_high = high;
}

/* Nine places of the colour map viridis (Smith and van der Walt, 2015), linear between them. */
display_colour display_value_colour(const display *d, double value) {
    static const uint8_t map[9][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                      {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                      {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
    double width = d->legend_high - d->legend_low;
    double at = width > 0.0 ? 8.0 * (value - d->legend_low) / width : 0.0;
    at = at > 0.0 ? (at < 8.0 ? at : 8.0) : 0.0;
    int low = at < 8.0 ? (int)at : 7;
    uint8_t c[3];
    for (int k = 0; k < 3; ++k)
        c[k] =
            (uint8_t)((double)map[low][k] +
                      (at - (double)low) * ((double)map[low + 1][k] - (double)map[low][k]) + 0.5);
    return (display_colour){c[0], c[1], c[2], 255};
}

display_colour display_item_colour(const display *d, const display_item *item, uint64_t element) {
    if (element < item->colour_count) return item->colours[element];
    if (element < item->value_count && d->legend != NULL)
        return display_value_colour(d, item->values[element]);
    return item->colour;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* The first triangle of each face: triangles are in the order of the faces. */
static carom_status find_first(display_mesh *mesh) {
    mesh->first = calloc((size_t)mesh->face_count + 1, sizeof(*mesh->first));
    if (mesh->first == NULL) return CAROM_NO_MEMORY;
    for (uint64_t t = mesh->faces.count; t-- > 0;) mesh->first[mesh->faces.data[t]] = t;
    mesh->first[mesh->face_count] = mesh->faces.count;
    return CAROM_OK;
}

carom_status display_mesh_open(cli *cli, const carom_mesh_view *view, bool fan,
                               const carom_pose *pose, display_mesh *mesh) {
    carom_mesh_triangulate_def def = {.fan = fan};
    carom_status status = CAROM_OK;
    *mesh = (display_mesh){.view = *view, .face_count = view->face_count};
    pose_matrix(pose != NULL ? pose : &(carom_pose){0}, mesh->matrix);
    if (view->offsets != NULL) {
        status = carom_mesh_triangulate(cli->context, view, &def, &mesh->made, &mesh->faces);
        if (status == CAROM_OK) status = carom_mesh_get_view(mesh->made, &mesh->view);
        if (status == CAROM_OK) status = find_first(mesh);
    }
    if (status == CAROM_OK && mesh->view.vertex_count >= 2 * mesh->view.face_count) {
        /* triangles with vertices of their own, as in STL */
        carom_mesh *apart = mesh->made;
        mesh->made = NULL;
        status = carom_mesh_weld_parts(cli->context, &mesh->view, &mesh->made);
        carom_mesh_destroy(apart);
        if (status == CAROM_OK) status = carom_mesh_get_view(mesh->made, &mesh->view);
    }
    if (mesh->view.stride == 0)
        mesh->view.stride =
            3 * (view->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    if (mesh->view.part_count == 0) mesh->view.part_count = 1;
    mesh->parts = calloc((size_t)mesh->view.part_count, sizeof(display_item *));
    return status == CAROM_OK && mesh->parts == NULL ? CAROM_NO_MEMORY : status;
}

void display_mesh_close(display_mesh *mesh) {
    carom_mesh_destroy(mesh->made);
    carom_numbers_free(&mesh->faces);
    free(mesh->first);
    free(mesh->parts);
    *mesh = (display_mesh){0};
}

carom_vec3 display_mesh_point(const display_mesh *mesh, uint32_t vertex) {
    const char *at = (const char *)mesh->view.positions + vertex * mesh->view.stride;
    const double *m = mesh->matrix;
    double p[3];
    if (mesh->view.scalar == CAROM_SCALAR_FLOAT32) {
        float f[3];
        memcpy(f, at, sizeof(f));
        for (int k = 0; k < 3; ++k) p[k] = (double)f[k];
    } else {
        memcpy(p, at, sizeof(p));
    }
    return (carom_vec3){m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3],
                        m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7],
                        m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11]};
}

static uint32_t part_of_triangle(const display_mesh *mesh, uint64_t triangle) {
    return mesh->view.parts != NULL ? mesh->view.parts[triangle] : 0;
}

static uint64_t first_of(const display_mesh *mesh, uint64_t face) {
    return mesh->first != NULL ? mesh->first[face] : face;
}

display_item *display_mesh_part(const display_mesh *mesh, uint32_t face) {
    return mesh->parts[part_of_triangle(mesh, first_of(mesh, face))];
}

void display_add_face(display *d, display_item *item, const display_mesh *mesh, uint32_t face) {
    for (uint64_t t = first_of(mesh, face); t < first_of(mesh, (uint64_t)face + 1); ++t) {
        carom_vec3 p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = display_mesh_point(mesh, mesh->view.corners[3 * t + (uint64_t)k]);
        display_add_triangle(d, item, p, face);
    }
}

int display_add_marked(display *d, const display_mesh *mesh, const uint8_t *marked,
                       const char *name, uint32_t contact, const display_item **items, int most) {
    display_item **patches = calloc((size_t)mesh->view.part_count, sizeof(display_item *));
    int count = 0;
    if (patches == NULL) d->no_memory = true;
    for (uint64_t f = 0; f < mesh->face_count && !d->no_memory; ++f) {
        if (marked[f] == 0) continue;
        uint32_t part = part_of_triangle(mesh, first_of(mesh, f));
        if (patches[part] == NULL) {
            patches[part] = display_add(d, DISPLAY_PATCH, name);
            patches[part]->part = mesh->parts[part];
            patches[part]->contact = contact;
            if (count < most) items[count] = patches[part];
            ++count;
        }
        display_add_face(d, patches[part], mesh, (uint32_t)f);
    }
    free(patches);
    return count < most ? count : most;
}

static void name_parts(display *d, display_mesh *mesh, const char *path) {
    const carom_mesh_view *view = &mesh->view;
    for (uint64_t t = 0; t < view->face_count; ++t) {
        uint32_t p = part_of_triangle(mesh, t);
        if (mesh->parts[p] != NULL) continue;
        const char *name = parts_name(view, p);
        char made[64];
        snprintf(made, sizeof(made), "part %u", p);
        if (*name == '\0') name = view->part_count == 1 ? carom_os_file_name(path) : made;
        mesh->parts[p] = display_add(d, DISPLAY_PART, name);
    }
}

void display_add_mesh(display *d, display_mesh *mesh, const char *path) {
    const carom_mesh_view *view = &mesh->view;
    uint32_t *number = malloc((size_t)(view->vertex_count + 1) * sizeof(*number));
    uint32_t *latest = calloc((size_t)view->vertex_count + 1, sizeof(*latest));
    if (number == NULL || latest == NULL) d->no_memory = true;
    name_parts(d, mesh, path);
    for (uint64_t t = 0; t < view->face_count && !d->no_memory; ++t) {
        uint32_t p = part_of_triangle(mesh, t);
        display_item *item = mesh->parts[p];
        if (!GROW(d, item->corners, item->corner_count, 3, item->corner_capacity)) break;
        for (uint64_t k = 0; k < 3; ++k) {
            uint32_t v = view->corners[3 * t + k];
            if (latest[v] != p + 1) { /* its first use by this part since that by another */
                latest[v] = p + 1;
                number[v] = (uint32_t)item->point_count;
                display_add_point(d, item, display_mesh_point(mesh, v));
            }
            item->corners[item->corner_count++] = number[v];
        }
        if (view->part_count > 1 || mesh->first != NULL)
            add_face_number(d, item, mesh->first != NULL ? mesh->faces.data[t] : (uint32_t)t);
    }
    free(number);
    free(latest);
}

static double sign_of(double x) {
    return x < 0.0 ? -1.0 : 1.0;
}

/* The farthest point of a shape in a direction. */
static carom_vec3 support_of(const carom_convex *c, carom_vec3 n) {
    double across = sqrt(n.x * n.x + n.y * n.y), r = across > 0.0 ? c->radius / across : 0.0;
    carom_vec3 p = {0.0, 0.0, 0.0};
    if (c->kind == CAROM_CONVEX_KIND_BOX)
        p = (carom_vec3){sign_of(n.x) * c->half.x, sign_of(n.y) * c->half.y,
                         sign_of(n.z) * c->half.z};
    else if (c->kind == CAROM_CONVEX_KIND_CYLINDER)
        p = (carom_vec3){r * n.x, r * n.y, sign_of(n.z) * c->half_height};
    else
        p = (carom_vec3){c->radius * n.x, c->radius * n.y,
                         c->radius * n.z + sign_of(n.z) * c->half_height};
    return (carom_vec3){p.x + c->margin * n.x, p.y + c->margin * n.y, p.z + c->margin * n.z};
}

/* The corners of a subdivided icosahedron, each moved to the farthest point in its direction. */
carom_status display_add_convex(display *d, const carom_convex *shape, const double matrix[12],
                                const char *name) {
    const carom_shape_def def = {.shape = CAROM_SHAPE_SPHERE, .detail = SHAPE_DETAIL};
    carom_mesh *ball = NULL;
    carom_mesh_view view;
    carom_status status = carom_shape_make(d->cli->context, &def, &ball);
    if (status == CAROM_OK) status = carom_mesh_get_view(ball, &view);
    if (status == CAROM_OK) {
        display_item *item = display_add(d, DISPLAY_PART, name);
        const double *n = view.positions;
        for (uint64_t f = 0; f < view.face_count && !d->no_memory; ++f) {
            carom_vec3 p[3];
            for (uint64_t k = 0; k < 3; ++k) {
                const double *at = n + 3 * (uint64_t)view.corners[3 * f + k];
                p[k] = display_posed(matrix, support_of(shape, (carom_vec3){at[0], at[1], at[2]}));
            }
            display_add_triangle(d, item, p, (uint32_t)f);
        }
    }
    carom_mesh_destroy(ball);
    return status;
}

carom_status display_add_packing(display *d, const carom_packing *packing, const char *path) {
    carom_packing_spheres spheres = {0};
    carom_status status = carom_packing_list_spheres(d->cli->context, packing, &spheres);
    if (status == CAROM_OK) {
        display_item *item = display_add(d, DISPLAY_SPHERES, carom_os_file_name(path));
        double least = HUGE_VAL, most = 0.0;
        for (uint64_t i = 0; i < spheres.count; ++i) {
            const carom_packing_sphere *s = &spheres.data[i];
            display_add_sphere(d, item, s->centre, s->radius);
            display_add_value(d, item, s->radius);
            least = fmin(least, s->radius);
            most = fmax(most, s->radius);
        }
        if (d->legend == NULL && spheres.count != 0)
            display_set_legend(d, "radius", display_unit(d), least, most);
    }
    carom_packing_spheres_free(&spheres);
    return status;
}

/* ---- What writers need ----------------------------------------------------------------------- */

static void include(carom_bounds *box, carom_vec3 p, double r) {
    box->low = (carom_vec3){fmin(box->low.x, p.x - r), fmin(box->low.y, p.y - r),
                            fmin(box->low.z, p.z - r)};
    box->high = (carom_vec3){fmax(box->high.x, p.x + r), fmax(box->high.y, p.y + r),
                             fmax(box->high.z, p.z + r)};
}

carom_bounds display_bounds(const display *d) {
    carom_bounds box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (uint64_t i = 0; i < d->item_count; ++i) {
        const display_item *item = d->items[i];
        if (item->kind == DISPLAY_ARROW) { /* drawn at any scale */
            include(&box, item->from, 0.0);
            continue;
        }
        const carom_pose *poses = item->pose_count != 0 ? item->poses : item->path;
        uint64_t pose_count = item->pose_count != 0 ? item->pose_count : item->moves ? 2 : 0;
        for (uint64_t k = 0; k < item->point_count && pose_count == 0; ++k) {
            double r = k < item->radius_count ? item->radii[k] : 0.0;
            include(&box, item->points[k], r);
            for (uint64_t f = 0; f < item->frame_count; ++f) include(&box, item->frames[f][k], r);
        }
        for (uint64_t p = 0; p < pose_count; ++p) {
            double m[12];
            pose_matrix(&poses[p], m);
            for (uint64_t k = 0; k < item->point_count; ++k)
                include(&box, display_posed(m, item->points[k]),
                        k < item->radius_count ? item->radii[k] : 0.0);
        }
    }
    if (!(box.low.x <= box.high.x)) box = (carom_bounds){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    return box;
}

const carom_pose *display_still_pose(const display *d, const display_item *item) {
    return d->still < item->pose_count ? &item->poses[d->still] : &item->path[1];
}

bool display_still_shows(const display *d, const display_item *item) {
    return !item->timed || (item->shown[0] <= d->still && d->still < item->shown[1]);
}

const char *display_unit(const display *d) {
    static const struct {
        double metres;
        const char *name;
    } units[] = {{1.0, "m"},     {0.001, "mm"},  {0.01, "cm"},  {1e-6, "um"},
                 {0.0254, "in"}, {0.3048, "ft"}, {1000.0, "km"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i)
        if (fabs(d->metres - units[i].metres) <= 1e-6 * units[i].metres) return units[i].name;
    return "";
}
