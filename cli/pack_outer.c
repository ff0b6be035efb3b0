/* SPDX-License-Identifier: MIT */
/* Covers from outside: each part of a mesh, or each link of a robot in its own frame, gets spheres
 * of its own. Spheres of a URDF file stay as they are; its boxes become twelve triangles, cylinders
 * and capsules prisms around them, so that covers of these contain them. */
#include "cli/pack_outer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/meshes.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/pack_formats.h"
#include "cli/pack_goals.h"
#include "cli/parts.h"
#include "cli/platform.h"
#include "cli/scene_parts.h"

#define PI    3.14159265358979323846
#define PRISM 24u /* sides around a cylinder: it is 0.9 % wider at its corners */

#define DEFAULT 64u /* spheres of a cover, as carom_cover_def says */

/* A mesh that grows: the elements of one link. */
typedef struct body {
    double *positions;
    uint32_t *corners;
    uint64_t vertices, faces;
} body;

typedef struct outer {
    cli *cli;
    const pack_outer_options *options;
    const char *path;
    pack_set *sets;
    body *bodies; /* of each set; without faces: only spheres of the file */
    uint64_t count, capacity;
    uint64_t spheres, cells;
    output cells_out;
    names written, files; /* of the sets, and the root of a robot that is made up */
    const char *root;
    pack_goals goals;
    display *shown; /* the meshes are added to it; NULL: nothing is shown */
} outer;

/* No context has a message for it. */
static carom_status no_memory(void) {
    return CAROM_NO_MEMORY;
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static bool add_set(outer *o, const char *name, uint64_t number) {
    if (o->count == o->capacity) {
        uint64_t capacity = 2 * o->capacity + 16;
        pack_set *sets = realloc(o->sets, (size_t)capacity * sizeof(*sets));
        if (sets != NULL) o->sets = sets;
        body *bodies = realloc(o->bodies, (size_t)capacity * sizeof(*bodies));
        if (bodies != NULL) o->bodies = bodies;
        if (sets == NULL || bodies == NULL) return false;
        o->capacity = capacity;
    }
    memset(&o->sets[o->count], 0, sizeof(*o->sets));
    memset(&o->bodies[o->count], 0, sizeof(*o->bodies));
    pack_set *set = &o->sets[o->count];
    set->name = malloc(strlen(name) + 1);
    if (set->name == NULL) return false;
    strcpy(set->name, name);
    set->number = number;
    set->complete = true;
    set->principal.q.w = 1.0;
    ++o->count;
    return true;
}

static bool add_sphere(pack_set *set, carom_ball ball) {
    if (set->count == set->capacity) {
        uint64_t capacity = 2 * set->capacity + 64;
        carom_ball *data = realloc(set->data, (size_t)capacity * sizeof(*data));
        if (data == NULL) return false;
        set->data = data;
        set->capacity = capacity;
    }
    set->data[set->count++] = ball;
    return true;
}

static void release(outer *o) {
    for (uint64_t i = 0; i < o->count; ++i) {
        free(o->sets[i].name);
        free(o->sets[i].data);
        free(o->bodies[i].positions);
        free(o->bodies[i].corners);
    }
    free(o->sets);
    free(o->bodies);
    names_free(&o->written);
    names_free(&o->files);
}

/* The names under which the sets are written. The root of a robot that is made up comes last, so
 * that parts keep their names. */
static bool name_sets(outer *o) {
    o->files.kind = NAMES_FILE;
    for (uint64_t i = 0; i < o->count; ++i) {
        pack_set *set = &o->sets[i];
        set->written = names_add(&o->written, set->name, set->number);
        set->file = names_add(&o->files, set->name, set->number);
        if (set->written == NULL || set->file == NULL) return false;
    }
    o->root = names_add(&o->written, "base", o->count);
    return o->root != NULL;
}

/* ---- Robots ---------------------------------------------------------------------------------- */

static carom_vec3 turn(const carom_pose *pose, double x, double y, double z) {
    const carom_quat *q = &pose->q;
    double tx = 2.0 * (q->y * z - q->z * y), ty = 2.0 * (q->z * x - q->x * z);
    double tz = 2.0 * (q->x * y - q->y * x);
    return (carom_vec3){x + q->w * tx + (q->y * tz - q->z * ty) + pose->t.x,
                        y + q->w * ty + (q->z * tx - q->x * tz) + pose->t.y,
                        z + q->w * tz + (q->x * ty - q->y * tx) + pose->t.z};
}

static bool grow(body *b, uint64_t vertices, uint64_t faces) {
    double *positions =
        realloc(b->positions, (size_t)(3 * (b->vertices + vertices)) * sizeof(*positions));
    if (positions != NULL) b->positions = positions;
    uint32_t *corners = realloc(b->corners, (size_t)(3 * (b->faces + faces)) * sizeof(*corners));
    if (corners != NULL) b->corners = corners;
    return positions != NULL && corners != NULL;
}

static void put_vertex(body *b, const carom_pose *pose, double x, double y, double z) {
    carom_vec3 p = turn(pose, x, y, z);
    double *to = b->positions + 3 * b->vertices++;
    to[0] = p.x;
    to[1] = p.y;
    to[2] = p.z;
}

static void put_face(body *b, uint64_t first, uint64_t i, uint64_t j, uint64_t k) {
    uint32_t *to = b->corners + 3 * b->faces++;
    to[0] = (uint32_t)(first + i);
    to[1] = (uint32_t)(first + j);
    to[2] = (uint32_t)(first + k);
}

static bool add_mesh(body *b, const carom_pose *pose, const carom_mesh *mesh) {
    carom_mesh_view v;
    if (carom_mesh_get_view(mesh, &v) != CAROM_OK || !grow(b, v.vertex_count, v.face_count))
        return false;
    uint64_t first = b->vertices;
    for (uint64_t i = 0; i < v.vertex_count; ++i) {
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = v.scalar == CAROM_SCALAR_FLOAT32
                       ? (double)((const float *)v.positions)[3 * i + (uint64_t)k]
                       : ((const double *)v.positions)[3 * i + (uint64_t)k];
        put_vertex(b, pose, p[0], p[1], p[2]);
    }
    for (uint64_t f = 0; f < v.face_count; ++f)
        put_face(b, first, v.corners[3 * f], v.corners[3 * f + 1], v.corners[3 * f + 2]);
    return true;
}

/* A prism along z with `sides` sides, outside of the circle with the radius. */
static bool add_prism(body *b, const carom_pose *pose, uint64_t sides, double radius, double half) {
    if (!grow(b, 2 * sides, 4 * sides)) return false;
    uint64_t first = b->vertices;
    double wide = radius / cos(PI / (double)sides);
    for (uint64_t i = 0; i < sides; ++i) {
        double angle = 2.0 * PI * ((double)i + 0.5) / (double)sides;
        put_vertex(b, pose, wide * cos(angle), wide * sin(angle), -half);
        put_vertex(b, pose, wide * cos(angle), wide * sin(angle), half);
    }
    for (uint64_t i = 0; i < sides; ++i) {
        uint64_t a = 2 * i, c = 2 * ((i + 1) % sides);
        put_face(b, first, a, c, c + 1);
        put_face(b, first, a, c + 1, a + 1);
        if (i == 0 || i + 1 == sides) continue;
        put_face(b, first, 0, c, a);
        put_face(b, first, 1, a + 1, c + 1);
    }
    return true;
}

static bool add_box(body *b, const carom_pose *pose, carom_vec3 half) {
    static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                     {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                     {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    if (!grow(b, 8, 12)) return false;
    uint64_t first = b->vertices;
    for (int i = 0; i < 8; ++i)
        put_vertex(b, pose, (i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                   (i & 4) != 0 ? half.z : -half.z);
    for (int i = 0; i < 12; ++i)
        put_face(b, first, (uint64_t)faces[i][0], (uint64_t)faces[i][1], (uint64_t)faces[i][2]);
    return true;
}

static carom_status add_element(void *user, const char *link, const carom_pose *origin,
                                const carom_mesh *mesh, const carom_convex *shape) {
    outer *o = user;
    if (o->count == 0 || strcmp(o->sets[o->count - 1].name, link) != 0)
        if (!add_set(o, link, o->count)) return no_memory();
    body *b = &o->bodies[o->count - 1];
    bool good;
    if (mesh != NULL)
        good = add_mesh(b, origin, mesh);
    else if (shape->kind == CAROM_CONVEX_KIND_SPHERE)
        good = add_sphere(&o->sets[o->count - 1],
                          (carom_ball){origin->t, shape->radius + o->options->margin});
    else if (shape->kind == CAROM_CONVEX_KIND_BOX)
        good = add_box(b, origin, shape->half);
    else
        good = add_prism(b, origin, PRISM, shape->radius,
                         shape->half_height +
                             (shape->kind == CAROM_CONVEX_KIND_CAPSULE ? shape->radius : 0.0));
    return good ? CAROM_OK : no_memory();
}

/* ---- Principal axes -------------------------------------------------------------------------- */

/* Turns the symmetric matrix by one rotation of Jacobi's method, and the axes with it. */
static void rotate(double m[3][3], double axes[3][3], int p, int q) {
    if (m[p][q] == 0.0) return;
    double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 3; ++k) {
        double a = m[k][p], b = m[k][q];
        m[k][p] = c * a - s * b;
        m[k][q] = s * a + c * b;
    }
    for (int k = 0; k < 3; ++k) {
        double a = m[p][k], b = m[q][k];
        m[p][k] = c * a - s * b;
        m[q][k] = s * a + c * b;
        a = axes[k][p];
        b = axes[k][q];
        axes[k][p] = c * a - s * b;
        axes[k][q] = s * a + c * b;
    }
}

static double position(const carom_mesh_view *v, uint64_t corner, int k) {
    const char *from = (const char *)v->positions;
    uint64_t size = v->scalar == CAROM_SCALAR_FLOAT32 ? 4 : 8;
    from += v->corners[corner] * (v->stride != 0 ? v->stride : 3 * size) + (uint64_t)k * size;
    if (size == 8) {
        double x;
        memcpy(&x, from, sizeof(x));
        return x;
    }
    float x;
    memcpy(&x, from, sizeof(x));
    return (double)x;
}

/* The centroid and the principal axes of a solid of one density, from the second moments of the
 * tetrahedra between its triangles and a point. The identity where it has no volume. */
static carom_status find_principal(cli *cli, const carom_mesh_view *view, carom_pose *pose) {
    double volume = 0.0, first[3] = {0.0, 0.0, 0.0}, m[3][3] = {{0.0}}, base[3] = {0.0, 0.0, 0.0};
    double axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int k = 0; k < 3 && view->face_count != 0; ++k) base[k] = position(view, 0, k);
    for (uint64_t f = 0; f < view->face_count; ++f) {
        double p[3][3], sum[3];
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) p[i][k] = position(view, 3 * f + (uint64_t)i, k) - base[k];
        double det = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
                     p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
                     p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        volume += det / 6.0;
        for (int k = 0; k < 3; ++k) {
            sum[k] = p[0][k] + p[1][k] + p[2][k];
            first[k] += det / 24.0 * sum[k];
        }
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k)
                m[i][k] +=
                    det / 120.0 *
                    (sum[i] * sum[k] + p[0][i] * p[0][k] + p[1][i] * p[1][k] + p[2][i] * p[2][k]);
    }
    *pose = (carom_pose){.q = {1.0, 0.0, 0.0, 0.0}};
    if (volume == 0.0) return CAROM_OK;
    for (int k = 0; k < 3; ++k) first[k] /= volume;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) m[i][k] = m[i][k] / volume - first[i] * first[k];
    for (int sweep = 0; sweep < 12; ++sweep) {
        rotate(m, axes, 0, 1);
        rotate(m, axes, 0, 2);
        rotate(m, axes, 1, 2);
    }
    double det = axes[0][0] * (axes[1][1] * axes[2][2] - axes[1][2] * axes[2][1]) -
                 axes[0][1] * (axes[1][0] * axes[2][2] - axes[1][2] * axes[2][0]) +
                 axes[0][2] * (axes[1][0] * axes[2][1] - axes[1][1] * axes[2][0]);
    double matrix[12];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) matrix[4 * i + k] = axes[i][k] * (k == 2 && det < 0.0 ? -1 : 1);
        matrix[4 * i + 3] = first[i] + base[i];
    }
    carom_status status = carom_pose_from_matrix(cli->context, matrix, pose);
    carom_quat *q = &pose->q; /* of any length */
    double length = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (status == CAROM_OK)
        *q = (carom_quat){q->w / length, q->x / length, q->y / length, q->z / length};
    return status;
}

/* ---- Covers ---------------------------------------------------------------------------------- */

static void name_failure(outer *o, const pack_set *set, carom_status status) {
    char message[400];
    if (*set->name == '\0' || status == CAROM_CANCELLED || status == CAROM_NO_MEMORY) return;
    snprintf(message, sizeof(message), "%s", cli_message(o->cli, status));
    snprintf(o->cli->message, sizeof(o->cli->message), "%.100s: %.380s", set->name, message);
}

static carom_status write_cells(outer *o, const carom_cover *cover, uint64_t first) {
    carom_packing_cells cells = {0};
    carom_status status = carom_cover_list_cells(o->cli->context, cover, &cells);
    for (uint64_t i = 0; i < cells.count && status == CAROM_OK; ++i) {
        const carom_packing_cell *c = &cells.data[i];
        fprintf(o->cells_out.file, "%.17g,%.17g,%.17g,%.17g,%llu\n", c->low.x, c->low.y, c->low.z,
                c->edge, (unsigned long long)(first + c->sphere));
    }
    carom_packing_cells_free(&cells);
    return status;
}

/* Covers a mesh; its spheres follow those that the set has. */
static carom_status cover_mesh(outer *o, const carom_mesh_view *view, pack_set *set) {
    carom_context *context = o->cli->context;
    carom_cover *cover = NULL;
    carom_cover_info info;
    carom_cover_spheres spheres = {0};
    carom_cover_def def = {.mesh = view,
                           .allow_open = o->options->allow_open,
                           .count = o->options->count,
                           .distance = o->options->distance,
                           .margin = o->options->margin,
                           .keep_cells = o->options->cells != NULL};
    carom_status status = cli_of_file(o->cli, o->path, carom_cover_create(context, &def, &cover));
    if (status == CAROM_OK) status = carom_cover_get_info(cover, &info);
    if (status == CAROM_OK) status = carom_cover_list_spheres(context, cover, &spheres);
    if (status == CAROM_OK && def.keep_cells)
        status = write_cells(o, cover, o->spheres + set->count);
    if (status == CAROM_OK) status = find_principal(o->cli, view, &set->principal);
    if (status == CAROM_OK && o->shown != NULL) {
        display_mesh mesh = {0};
        status = display_mesh_open(o->cli, view, false, NULL, &mesh);
        if (status == CAROM_OK)
            display_add_mesh(o->shown, &mesh, *set->name != '\0' ? set->name : o->path);
        display_mesh_close(&mesh);
    }
    for (uint64_t i = 0; i < spheres.count && status == CAROM_OK; ++i)
        if (!add_sphere(set, spheres.data[i])) status = no_memory();
    if (status == CAROM_OK) {
        set->measure = info.measure;
        set->cover_count = spheres.count;
        set->complete = info.complete;
        o->cells += info.cells;
    } else {
        name_failure(o, set, status);
    }
    carom_cover_spheres_free(&spheres);
    carom_cover_destroy(cover);
    return status;
}

static carom_status cover_links(outer *o) {
    const scene_robot_def def = {.visual = o->options->visual, .packages = o->options->packages};
    carom_status status = scene_urdf_each(o->cli, o->path, &def, add_element, o);
    for (uint64_t i = 0; i < o->count && status == CAROM_OK; ++i) {
        const body *b = &o->bodies[i];
        carom_mesh_view view = {.positions = b->positions,
                                .vertex_count = b->vertices,
                                .corners = b->corners,
                                .face_count = b->faces};
        if (b->faces != 0) status = cover_mesh(o, &view, &o->sets[i]);
        o->spheres += o->sets[i].count;
    }
    return status;
}

static carom_status cover_parts(outer *o) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view, part;
    parts all = {0};
    carom_status status = meshes_read(o->cli, o->path, o->options->from, &mesh);
    if (status == CAROM_OK) status = meshes_triangulate(o->cli, false, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    bool single = status == CAROM_OK && (o->options->whole || view.part_count <= 1);
    if (single) {
        if (!add_set(o, "", 0)) status = no_memory();
        if (status == CAROM_OK) status = cover_mesh(o, &view, &o->sets[0]);
        o->spheres = o->count != 0 ? o->sets[0].count : 0;
    } else if (status == CAROM_OK && !parts_open(&view, &all)) {
        status = no_memory();
    }
    for (uint64_t i = 0; status == CAROM_OK && !single && i < view.part_count; ++i) {
        if (parts_face_count(&all, i) == 0) continue;
        parts_get(&all, i, &part);
        status = add_set(o, parts_name(&view, i), i) ? cover_mesh(o, &part, &o->sets[o->count - 1])
                                                     : no_memory();
        if (status == CAROM_OK) o->spheres += o->sets[o->count - 1].count;
    }
    parts_close(&all);
    carom_mesh_destroy(mesh);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* out.json of the set "arm" becomes out_arm.json. NULL when there is no memory. */
static char *path_of(const char *path, const char *name) {
    const char *dot = strrchr(carom_os_file_name(path), '.');
    if (dot == NULL) dot = path + strlen(path);
    size_t size = strlen(path) + strlen(name) + 2;
    char *to = malloc(size);
    if (to != NULL) snprintf(to, size, "%.*s_%s%s", (int)(dot - path), path, name, dot);
    return to;
}

static bool write_file(outer *o, const char *path, int format, const pack_file *what) {
    output out = {0};
    if (!output_open(o->cli, path, &out)) return false;
    bool good = pack_format_write(out.file, format, what);
    return output_close(&out, good) && good;
}

/* One file per set. */
static bool write_each(outer *o, int format) {
    for (uint64_t i = 0; i < o->count; ++i) {
        char *to = path_of(o->options->out, o->sets[i].file);
        if (to == NULL) return cli_fail(o->cli, CAROM_NO_MEMORY) == CLI_OK;
        pack_file one = {.source = o->path, .sets = &o->sets[i], .count = 1};
        bool good = write_file(o, to, format, &one);
        free(to);
        if (!good) return false;
    }
    return true;
}

static bool is_per_set(const outer *o, int format) {
    return pack_format_is_single(format) && o->count > 1;
}

/* A file with one part carries the file's name. */
static const char *shown_name(const outer *o, const pack_set *set) {
    return o->count == 1 && *set->name == '\0' ? carom_os_file_name(o->path) : set->written;
}

/* The spheres around the meshes, see-through. */
static bool show(outer *o, int format) {
    static const char *const columns[] = {"part", "spheres", "reaches out"};
    display *d = o->shown;
    display_list *list = display_add_list(d, "Spheres of each part", columns, 3);
    double worst = 0.0;
    for (uint64_t i = 0; i < o->count; ++i) {
        const pack_set *s = &o->sets[i];
        display_item *item = display_add(d, DISPLAY_SPHERES, shown_name(o, s));
        carom_ball all = {0};
        char count[24], out[32];
        item->ghost = true;
        for (uint64_t k = 0; k < s->count; ++k)
            display_add_sphere(d, item, s->data[k].centre, s->data[k].radius);
        worst = fmax(worst, s->measure.worst.value);
        display_tell(d, &item->numbers, "reaches out", s->measure.worst.value, display_unit(d));
        if (s->count != 0) all = carom_ball_of_balls_value(s->data, s->count);
        snprintf(count, sizeof(count), "%llu", (unsigned long long)s->count);
        snprintf(out, sizeof(out), "%.6g", s->measure.worst.value);
        const char *const cells[] = {shown_name(o, s), count, out};
        const display_item *items[DISPLAY_MOST_LIT] = {item};
        display_add_row(d, list, cells, items, all.centre, all.radius);
    }
    display_tell_count(d, &d->answers, "spheres", o->spheres);
    display_tell(d, &d->answers, "reaches out at most", worst, display_unit(d));
    d->up = o->cli->up != 0 ? o->cli->up : 'z';
    return display_save(d, o->options->out, pack_format_choice(format));
}

static bool write_files(outer *o, int format) {
    char *urdf = NULL;
    pack_file all = {.source = o->path, .sets = o->sets, .count = o->count, .root = o->root};
    bool good = true;
    if (o->shown != NULL) return show(o, format);
    if (is_per_set(o, format)) return write_each(o, format);
    if (format == PACK_FORMAT_URDF && strlen(o->path) > 5 &&
        strcmp(o->path + strlen(o->path) - 5, ".urdf") == 0)
        good = scene_urdf_text(o->cli, o->path, &urdf, &all.urdf_size) == CAROM_OK;
    all.urdf = urdf;
    good = good && write_file(o, o->options->out, format, &all);
    free(urdf);
    return good;
}

/* ---- Goals ----------------------------------------------------------------------------------- */

/* Why a set has no more spheres. */
static pack_stop stop_of(const outer *o, const pack_set *set) {
    const pack_outer_options *options = o->options;
    uint64_t most = options->count != 0 ? options->count : options->distance > 0.0 ? 0 : DEFAULT;
    if (options->distance > 0.0 && set->complete) return PACK_STOP_DISTANCE;
    if (set->cover_count >= most && most != 0) return PACK_STOP_COUNT;
    if (set->cover_count >= CAROM_COVER_MOST_SPHERES) return PACK_STOP_LIMIT;
    return options->distance > 0.0 ? PACK_STOP_SEARCH : PACK_STOP_COVERED;
}

/* Goals are reached when they are in every set; links that are spheres already have none. */
static void judge(outer *o) {
    const pack_outer_options *options = o->options;
    double worst = 0.0;
    uint64_t fewest = UINT64_MAX;
    bool near = true, many = true, first = true;
    for (uint64_t i = 0; i < o->count; ++i) {
        const pack_set *s = &o->sets[i];
        if (s->cover_count == 0) continue;
        double out = s->measure.worst.upper - options->margin;
        pack_stop stop = stop_of(o, s);
        bool ended = stop != PACK_STOP_DISTANCE && stop != PACK_STOP_COUNT;
        worst = out > worst ? out : worst;
        fewest = s->cover_count < fewest ? s->cover_count : fewest;
        near = near && s->complete;
        many = many && (s->cover_count >= options->count || stop == PACK_STOP_DISTANCE);
        /* of several sets, that of the first that reached less */
        if (first || (stop != PACK_STOP_DISTANCE && o->goals.stop == PACK_STOP_DISTANCE) ||
            (ended && o->goals.stop == PACK_STOP_COUNT))
            o->goals.stop = stop;
        first = false;
    }
    if (first) o->goals.stop = PACK_STOP_COVERED;
    if (options->distance > 0.0)
        pack_goals_add(&o->goals, "--distance", options->distance, worst, near);
    if (options->count != 0)
        pack_goals_add(&o->goals, "--count", (double)options->count, first ? 0.0 : (double)fewest,
                       many);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void put_path(json *j, const char *out, const pack_set *set) {
    char *path = path_of(out, set->file);
    json_text(j, "file", path);
    free(path);
}

static void print_json(const outer *o, int format, double seconds) {
    json j = cli_begin_json(o->cli);
    double worst = 0.0;
    for (uint64_t i = 0; i < o->count; ++i)
        worst = o->sets[i].measure.worst.value > worst ? o->sets[i].measure.worst.value : worst;
    json_count(&j, "spheres", o->spheres);
    json_number(&j, "worst", worst);
    json_number(&j, "margin", o->options->margin);
    json_number(&j, "seconds", seconds);
    json_count(&j, "cells", o->cells);
    json_begin_array(&j, "parts");
    for (uint64_t i = 0; i < o->count; ++i) {
        const pack_set *s = &o->sets[i];
        const carom_cover_measure *m = &s->measure;
        json_begin_object(&j, NULL);
        json_text(&j, "name", s->name);
        json_count(&j, "spheres", s->count);
        json_number(&j, "worst", m->worst.value);
        json_number(&j, "mean", m->mean);
        json_number(&j, "volume", m->volume);
        json_number(&j, "outside_volume", m->outside_volume);
        json_number(&j, "solid_volume", m->solid_volume);
        json_bool(&j, "complete", s->complete);
        json_text(&j, "stopped",
                  s->cover_count != 0 ? pack_stop_name(stop_of(o, s)) : NULL); /* spheres alone */
        json_text(&j, "written", s->written);
        if (o->options->out != NULL && is_per_set(o, format)) put_path(&j, o->options->out, s);
        json_end_object(&j);
    }
    json_end_array(&j);
    pack_goals_print_json(&o->goals, &j);
    cli_end_json(&j);
}

static void print_words(const outer *o, FILE *out, double seconds) {
    fprintf(out, "%llu spheres cover %llu %s in %.2f s; %llu cells prove it\n",
            (unsigned long long)o->spheres, (unsigned long long)o->count,
            o->count == 1 ? "solid" : "parts", seconds, (unsigned long long)o->cells);
    fprintf(out, "  %-24s %8s %12s %12s %10s\n", "part", "spheres", "worst", "mean", "outside");
    for (uint64_t i = 0; i < o->count; ++i) {
        const pack_set *s = &o->sets[i];
        const carom_cover_measure *m = &s->measure;
        fprintf(out, "  %-24s %8llu %12.6g %12.6g ",
                o->count == 1 && *s->name == '\0' ? "all" : s->written,
                (unsigned long long)s->count, m->worst.value, m->mean);
        if (m->solid_volume > 0.0)
            fprintf(out, "%8.1f %%\n", 100.0 * m->outside_volume / m->solid_volume);
        else
            fprintf(out, "%10s\n", "open");
    }
    pack_goals_print(&o->goals, out);
}

int pack_outer(cli *cli, const pack_outer_options *options, const char *path) {
    outer o = {.cli = cli, .options = options, .path = path};
    int format = options->out != NULL ? pack_format_of(options->out, options->format)
                                      : CAROM_PACKING_FORMAT_PLY;
    if (format == CAROM_PACKING_FORMAT_SPH)
        return cli_misuse(cli, "sph is for packings: it has no field for a cover");
    char title[400];
    display d;
    snprintf(title, sizeof(title), "%.300s: covered by spheres", path);
    display_begin(&d, cli, title);
    if (pack_format_is_shown(format)) o.shown = &d;
    if (options->cells != NULL) {
        if (!output_open(cli, options->cells, &o.cells_out)) {
            display_free(&d);
            return CLI_MACHINE;
        }
        fprintf(o.cells_out.file, "x,y,z,edge,sphere\n");
    }
    size_t size = strlen(path);
    double start = carom_time_seconds();
    carom_status status =
        size > 5 && strcmp(path + size - 5, ".urdf") == 0 ? cover_links(&o) : cover_parts(&o);
    double seconds = carom_time_seconds() - start;
    bar_clear(&cli->bar);
    if (status == CAROM_OK && !name_sets(&o)) status = no_memory();
    if (status == CAROM_OK) judge(&o);
    int code = status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
    if (options->cells != NULL && !output_close(&o.cells_out, code == CLI_OK)) code = CLI_MACHINE;
    if (code == CLI_OK && options->out != NULL && output_is_standard(options->out) &&
        is_per_set(&o, format))
        code = cli_misuse(cli, "this format is one file per part: name a file");
    if (code == CLI_OK && options->out != NULL && !write_files(&o, format)) code = CLI_MACHINE;
    if (code == CLI_OK && cli->json)
        print_json(&o, format, seconds);
    else if (code == CLI_OK)
        print_words(&o, output_words(options->out), seconds);
    if (code == CLI_OK && options->check && !pack_goals_met(&o.goals)) code = CLI_YES;
    display_free(&d);
    release(&o);
    return code;
}
