/* SPDX-License-Identifier: MIT */
/* The elements of a robot as parts of a scene: their meshes are loaded, and pairs that belong
 * together are ignored. The library reads the files (urdf.h). */
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/packages.h"
#include "cli/scene_parts.h"

#define NAME       (2 * CAROM_URDF_NAME_SIZE) /* bytes: link/element */
#define MOST_BYTES (UINT64_C(1) << 28)        /* of a URDF or SRDF file: half a million links */

/* ---- Reading --------------------------------------------------------------------------------- */

carom_status scene_urdf_text(cli *cli, const char *path, char **text, size_t *size) {
    char reason[256];
    uint64_t limit = cli->limit_input < MOST_BYTES ? cli->limit_input : MOST_BYTES;
    carom_status status = input_all(path, limit, text, size, reason, sizeof(reason));
    if (status != CAROM_OK)
        snprintf(cli->message, sizeof(cli->message), "%.200s: %s", path, reason);
    return status;
}

/* Names what was not understood, once per kind, from the kind `first` on. */
static void warn(const carom_urdf *u, uint32_t first) {
    carom_urdf_view v;
    (void)carom_urdf_get_view(u, &v);
    for (uint32_t i = first; i < v.unknown_count; ++i) {
        const carom_urdf_unknown *k = &v.unknown[i];
        fprintf(stderr, "carom: %s:%llu: <%s> in <%s> is not understood and was left out", k->file,
                (unsigned long long)k->line, k->name, k->inside);
        if (k->count > 1) fprintf(stderr, " (%llu of them)", (unsigned long long)k->count);
        putc('\n', stderr);
    }
}

static carom_status read_srdf(cli *cli, const char *path, const char *urdf_path, carom_urdf *u) {
    carom_urdf_view before, after;
    char *text;
    size_t size;
    (void)carom_urdf_get_view(u, &before);
    carom_status status = scene_urdf_text(cli, path, &text, &size);
    if (status != CAROM_OK) return status;
    status = carom_urdf_load_srdf_memory(cli->context, u, text, size, path);
    free(text);
    if (status != CAROM_OK) return status;
    warn(u, before.unknown_count);
    (void)carom_urdf_get_view(u, &after);
    if (after.foreign_count != 0)
        fprintf(stderr, "carom: %s: %llu disabled pair%s with a link that %s does not have\n", path,
                (unsigned long long)after.foreign_count, after.foreign_count == 1 ? "" : "s",
                urdf_path);
    return CAROM_OK;
}

carom_status scene_urdf_load(cli *cli, const char *path, const scene_robot_def *def,
                             carom_urdf **urdf) {
    char *text, *packages;
    size_t size;
    carom_urdf_def how = {.visual = def->visual, .joints = def->joints};
    *urdf = NULL;
    carom_status status = scene_urdf_text(cli, path, &text, &size);
    if (status != CAROM_OK) return status;
    packages = packages_text(def->packages, &how);
    status = packages == NULL ? CAROM_NO_MEMORY
                              : carom_urdf_load_memory(cli->context, text, size, path, &how, urdf);
    free(packages);
    free(text);
    if (status == CAROM_OK) warn(*urdf, 0);
    if (status == CAROM_OK && def->srdf != NULL) status = read_srdf(cli, def->srdf, path, *urdf);
    return status;
}

/* ---- Ignored pairs --------------------------------------------------------------------------- */

/* The parts of a robot: those of a link follow one another, as its elements do. */
typedef struct robot_parts {
    const carom_urdf_view *urdf;
    scene_parts *parts;
    uint64_t first; /* of the robot */
} robot_parts;

/* Ignores all pairs of elements of two links, which may be one. */
static bool ignore_links(const robot_parts *p, uint32_t a, uint32_t b) {
    const carom_urdf_link *x = &p->urdf->links[a], *y = &p->urdf->links[b];
    for (uint64_t i = x->first; i < (uint64_t)x->first + x->count; ++i)
        for (uint64_t k = y->first; k < (uint64_t)y->first + y->count; ++k) {
            uint64_t low = i < k ? i : k, high = i < k ? k : i;
            if (low == high || (a == b && k < i)) continue;
            if (!scene_parts_ignore(p->parts, p->first + low, p->first + high)) return false;
        }
    return true;
}

static carom_status ignore_pairs(const robot_parts *own) {
    const carom_urdf_view *v = own->urdf;
    for (uint32_t i = 0; i < v->link_count; ++i) {
        uint32_t parent = v->links[i].parent;
        if (!ignore_links(own, i, i) || (parent != CAROM_NONE && !ignore_links(own, i, parent)))
            return CAROM_NO_MEMORY;
    }
    for (uint64_t i = 0; i < v->disabled_count; ++i)
        if (!ignore_links(own, v->disabled[i].a, v->disabled[i].b)) return CAROM_NO_MEMORY;
    return CAROM_OK;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static carom_status add_part(cli *cli, const char *path, const carom_urdf *u, uint32_t element,
                             scene_parts *parts) {
    carom_urdf_view v;
    (void)carom_urdf_get_view(u, &v);
    const carom_urdf_element *e = &v.elements[element];
    const carom_urdf_link *l = &v.links[e->link];
    carom_pose pose = carom_pose_compose_value(&l->in_world, &e->origin);
    carom_mesh *mesh;
    char name[NAME];
    snprintf(name, sizeof(name), "%s%s%s", l->name, *e->name != '\0' ? "/" : "", e->name);
    carom_status status = carom_urdf_load_mesh(cli->context, u, element, &mesh);
    if (status != CAROM_OK) return status;
    return scene_parts_add(cli, path, name, mesh, mesh == NULL ? &e->shape : NULL, &pose, e->link,
                           parts);
}

carom_status scene_parts_add_urdf(cli *cli, const char *path, const scene_robot_def *def,
                                  scene_parts *parts) {
    carom_urdf *u;
    carom_urdf_view v = {0};
    carom_status status = scene_urdf_load(cli, path, def, &u);
    if (status == CAROM_OK) status = carom_urdf_get_view(u, &v);
    robot_parts own = {&v, parts, parts->count};
    parts->first_number = parts->next_number;
    for (uint32_t i = 0; i < v.element_count && status == CAROM_OK; ++i)
        status = add_part(cli, path, u, i, parts);
    if (status == CAROM_OK) status = ignore_pairs(&own);
    if (parts->metres <= 0.0) parts->metres = 1.0; /* URDF is in metres */
    carom_urdf_destroy(u);
    return status;
}

carom_status scene_urdf_each(cli *cli, const char *path, const scene_robot_def *def,
                             scene_urdf_fn *visit, void *user) {
    carom_urdf *u;
    carom_urdf_view v = {0};
    carom_status status = scene_urdf_load(cli, path, def, &u);
    if (status == CAROM_OK) status = carom_urdf_get_view(u, &v);
    for (uint32_t i = 0; i < v.element_count && status == CAROM_OK; ++i) {
        const carom_urdf_element *e = &v.elements[i];
        carom_mesh *mesh;
        status = carom_urdf_load_mesh(cli->context, u, i, &mesh);
        if (status == CAROM_OK)
            status = visit(user, v.links[e->link].name, &e->origin, mesh, &e->shape);
        carom_mesh_destroy(mesh);
    }
    carom_urdf_destroy(u);
    return status;
}
