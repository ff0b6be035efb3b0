/* SPDX-License-Identifier: MIT */
/* The elements of a robot as parts of a scene: their meshes are found and loaded, and pairs that
 * belong together are ignored. urdf.c reads the files. */
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/meshes.h"
#include "cli/packages.h"
#include "cli/scene_parts.h"
#include "cli/urdf.h"

#define NAME       (2 * URDF_NAME_SIZE) /* bytes: link/element */
#define PATH       4096u                /* bytes of a path */
#define MOST_BYTES (UINT64_C(1) << 28)  /* of a URDF or SRDF file: half a million links */

/* A robot and the file that it is from. */
typedef struct robot {
    cli *cli;
    const char *path;
    const arg_list *packages; /* or NULL */
    char *text;
    size_t size;
    urdf urdf;
} robot;

/* ---- Reading --------------------------------------------------------------------------------- */

carom_status scene_urdf_text(cli *cli, const char *path, char **text, size_t *size) {
    char reason[256];
    uint64_t limit = cli->limit_input < MOST_BYTES ? cli->limit_input : MOST_BYTES;
    carom_status status = input_all(path, limit, text, size, reason, sizeof(reason));
    if (status != CAROM_OK)
        snprintf(cli->message, sizeof(cli->message), "%.200s: %s", path, reason);
    return status;
}

/* Names what was not understood, once per kind. */
static void warn(const char *path, urdf *u) {
    for (size_t i = 0; i < u->unknown_count; ++i) {
        const urdf_unknown *k = &u->unknown[i];
        fprintf(stderr, "carom: %s:%zu: <%s> in <%s> is not understood and was left out", path,
                k->line, k->name, k->inside);
        if (k->count > 1) fprintf(stderr, " (%llu of them)", (unsigned long long)k->count);
        putc('\n', stderr);
    }
    u->unknown_count = 0;
}

static carom_status read_robot(cli *cli, const char *path, const scene_robot_def *def, robot *r) {
    *r = (robot){.cli = cli, .path = path, .packages = def->packages};
    carom_status status = scene_urdf_text(cli, path, &r->text, &r->size);
    if (status != CAROM_OK) return status;
    urdf_def how = {path, r->text, r->size, def->visual, def->joints};
    status = urdf_read(&how, &r->urdf);
    if (status != CAROM_OK)
        snprintf(cli->message, sizeof(cli->message), "%s", r->urdf.message);
    else
        warn(path, &r->urdf);
    return status;
}

static void free_robot(robot *r) {
    urdf_free(&r->urdf);
    free(r->text);
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* Turns all triangles round, as a mirror does. */
static uint32_t *mirrored(const carom_mesh_view *view) {
    uint32_t *corners = malloc((size_t)(3 * view->face_count + 1) * sizeof(*corners));
    for (uint64_t i = 0; corners != NULL && i < view->face_count; ++i)
        for (uint64_t k = 0; k < 3; ++k) corners[3 * i + k] = view->corners[3 * i + 2 - k];
    return corners;
}

/* Multiplies the vertices of a mesh of triangles. */
static carom_status scale_mesh(cli *cli, const double scale[3], carom_mesh **mesh) {
    if (scale[0] == 1.0 && scale[1] == 1.0 && scale[2] == 1.0) return CAROM_OK;
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(*mesh, &view);
    if (status != CAROM_OK) return status;
    double *xyz = malloc((size_t)(3 * view.vertex_count + 1) * sizeof(*xyz));
    bool is_mirror = (scale[0] < 0.0) != ((scale[1] < 0.0) != (scale[2] < 0.0));
    uint32_t *corners = is_mirror ? mirrored(&view) : NULL;
    if (xyz == NULL || (is_mirror && corners == NULL)) {
        free(xyz);
        free(corners);
        return CAROM_NO_MEMORY;
    }
    for (uint64_t i = 0; i < 3 * view.vertex_count; ++i) {
        double x = view.scalar == CAROM_SCALAR_FLOAT32 ? (double)((const float *)view.positions)[i]
                                                       : ((const double *)view.positions)[i];
        xyz[i] = x * scale[i % 3];
    }
    carom_mesh *scaled = NULL;
    view.positions = xyz;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    if (is_mirror) view.corners = corners;
    status = carom_mesh_create(cli->context, &view, &scaled);
    free(xyz);
    free(corners);
    if (status != CAROM_OK) return status;
    carom_mesh_destroy(*mesh);
    *mesh = scaled;
    return CAROM_OK;
}

/* The mesh of an element, or NULL where it is a convex shape. */
static carom_status load_mesh(const robot *r, const urdf_element *e, carom_mesh **mesh) {
    char path[PATH];
    *mesh = NULL;
    if (e->file == NULL) return CAROM_OK;
    carom_status status = packages_find(r->cli, r->packages, r->path, e->file, path, sizeof(path));
    if (status != CAROM_OK) return status;
    status = meshes_load(r->cli, path, CAROM_MESH_FORMAT_GUESS, false, mesh);
    if (status == CAROM_OK) status = meshes_triangulate(r->cli, false, mesh);
    if (status == CAROM_OK) status = scale_mesh(r->cli, e->scale, mesh);
    if (status != CAROM_OK) {
        carom_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return status;
}

static carom_status add_part(robot *r, const urdf_element *e, scene_parts *parts) {
    const urdf_link *l = &r->urdf.links[e->link];
    carom_pose pose = urdf_compose(&l->in_world, &e->origin);
    carom_mesh *mesh;
    char name[NAME];
    snprintf(name, sizeof(name), "%s%s%s", l->name, *e->name != '\0' ? "/" : "", e->name);
    carom_status status = load_mesh(r, e, &mesh);
    if (status != CAROM_OK) return status;
    return scene_parts_add(r->cli, r->path, name, mesh, mesh == NULL ? &e->shape : NULL, &pose,
                           e->link, parts);
}

/* ---- Ignored pairs --------------------------------------------------------------------------- */

/* The parts of a robot: those of a link follow one another, as its elements do. */
typedef struct robot_parts {
    const urdf *urdf;
    scene_parts *parts;
    uint64_t first; /* of the robot */
} robot_parts;

/* Ignores all pairs of elements of two links, which may be one. */
static bool ignore_links(void *user, uint32_t a, uint32_t b) {
    const robot_parts *p = user;
    const urdf_link *x = &p->urdf->links[a], *y = &p->urdf->links[b];
    for (uint64_t i = x->first; i < (uint64_t)x->first + x->count; ++i)
        for (uint64_t k = y->first; k < (uint64_t)y->first + y->count; ++k) {
            uint64_t low = i < k ? i : k, high = i < k ? k : i;
            if (low == high || (a == b && k < i)) continue;
            if (!scene_parts_ignore(p->parts, p->first + low, p->first + high)) return false;
        }
    return true;
}

static carom_status read_srdf(robot *r, const char *path, robot_parts *parts) {
    char *text;
    size_t size;
    uint64_t foreign = 0;
    carom_status status = scene_urdf_text(r->cli, path, &text, &size);
    if (status != CAROM_OK) return status;
    status = urdf_read_srdf(&r->urdf, path, text, size, ignore_links, parts, &foreign);
    if (status != CAROM_OK)
        snprintf(r->cli->message, sizeof(r->cli->message), "%s", r->urdf.message);
    else
        warn(path, &r->urdf);
    if (status == CAROM_OK && foreign != 0)
        fprintf(stderr, "carom: %s: %llu disabled pair%s with a link that %s does not have\n", path,
                (unsigned long long)foreign, foreign == 1 ? "" : "s", r->path);
    free(text);
    return status;
}

carom_status scene_parts_add_urdf(cli *cli, const char *path, const scene_robot_def *def,
                                  scene_parts *parts) {
    robot r;
    carom_status status = read_robot(cli, path, def, &r);
    robot_parts own = {&r.urdf, parts, parts->count};
    parts->first_number = parts->next_number;
    for (uint32_t i = 0; i < r.urdf.element_count && status == CAROM_OK; ++i)
        status = add_part(&r, &r.urdf.elements[i], parts);
    for (uint32_t i = 0; i < r.urdf.link_count && status == CAROM_OK; ++i) {
        uint32_t parent = r.urdf.links[i].parent;
        if (!ignore_links(&own, i, i) || (parent != URDF_NONE && !ignore_links(&own, i, parent)))
            status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK && def->srdf != NULL) status = read_srdf(&r, def->srdf, &own);
    if (parts->metres <= 0.0) parts->metres = 1.0; /* URDF is in metres */
    free_robot(&r);
    return status;
}

carom_status scene_urdf_each(cli *cli, const char *path, const scene_robot_def *def,
                             scene_urdf_fn *visit, void *user) {
    robot r;
    carom_status status = read_robot(cli, path, def, &r);
    for (uint32_t i = 0; i < r.urdf.element_count && status == CAROM_OK; ++i) {
        const urdf_element *e = &r.urdf.elements[i];
        carom_mesh *mesh;
        status = load_mesh(&r, e, &mesh);
        if (status == CAROM_OK)
            status = visit(user, r.urdf.links[e->link].name, &e->origin, mesh, &e->shape);
        carom_mesh_destroy(mesh);
    }
    free_robot(&r);
    return status;
}

carom_status scene_urdf_load(cli *cli, const char *path, const scene_robot_def *def, urdf *u,
                             carom_mesh ***meshes) {
    robot r;
    carom_status status = read_robot(cli, path, def, &r);
    *meshes = calloc((size_t)r.urdf.element_count + 1, sizeof(**meshes));
    if (*meshes == NULL && status == CAROM_OK) status = CAROM_NO_MEMORY;
    for (uint32_t i = 0; i < r.urdf.element_count && status == CAROM_OK; ++i)
        status = load_mesh(&r, &r.urdf.elements[i], &(*meshes)[i]);
    *u = r.urdf;
    free(r.text); /* names are copies */
    return status;
}

void scene_urdf_free_meshes(const urdf *u, carom_mesh **meshes) {
    for (uint32_t i = 0; meshes != NULL && i < u->element_count; ++i) carom_mesh_destroy(meshes[i]);
    free(meshes);
}
