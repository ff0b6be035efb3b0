/* SPDX-License-Identifier: MIT */
/* Parts of mesh files as objects of a scene. A part that is closed and oriented becomes a solid,
 * every other one a soup. Parts share no vertices, so that parts that touch are found as touching.
 * A file of spheres (carom pack -o) is one part. */
#include "cli/scene_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/meshes.h"
#include "cli/parts.h"
#include "cli/platform.h"
#include "cli/pose.h"

/* ---- Triangles ------------------------------------------------------------------------------- */

carom_vec3 scene_part_corner(const scene_part *part, const carom_mesh_view *view, uint64_t triangle,
                             int corner) {
    uint64_t v = view->corners[3 * triangle + (uint64_t)corner];
    carom_vec3 p;
    if (view->scalar == CAROM_SCALAR_FLOAT32) {
        const float *xyz = (const float *)view->positions + 3 * v;
        p = (carom_vec3){(double)xyz[0], (double)xyz[1], (double)xyz[2]};
    } else {
        const double *xyz = (const double *)view->positions + 3 * v;
        p = (carom_vec3){xyz[0], xyz[1], xyz[2]};
    }
    const double *m = part->matrix;
    return (carom_vec3){m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
                        m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                        m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

typedef struct nine {
    double x[9];
} nine;

/* A triangle with its lowest corner first, in the order of its corners; -0 is 0. */
static nine triangle_of(const scene_part *part, const carom_mesh_view *view, uint64_t triangle) {
    carom_vec3 c[3];
    int first = 0;
    nine t;
    for (int k = 0; k < 3; ++k) {
        c[k] = scene_part_corner(part, view, triangle, k);
        c[k] = (carom_vec3){c[k].x + 0.0, c[k].y + 0.0, c[k].z + 0.0};
    }
    for (int k = 1; k < 3; ++k) {
        carom_vec3 p = c[k], q = c[first];
        if (p.x < q.x || (p.x == q.x && (p.y < q.y || (p.y == q.y && p.z < q.z)))) first = k;
    }
    for (int k = 0; k < 3; ++k) memcpy(&t.x[3 * k], &c[(first + k) % 3], sizeof(carom_vec3));
    return t;
}

/* A sum over triangles, so that their order has no effect. */
static uint64_t digest_of(const scene_part *part) {
    carom_mesh_view view;
    uint64_t sum = 0;
    if (part->mesh == NULL || carom_mesh_get_view(part->mesh, &view) != CAROM_OK) return 0;
    for (uint64_t i = 0; i < view.face_count; ++i) {
        nine t = triangle_of(part, &view, i);
        carom_random random;
        uint64_t hash = 0;
        for (int k = 0; k < 9; ++k) {
            uint64_t bits;
            memcpy(&bits, &t.x[k], sizeof(bits));
            random.state = hash ^ bits;
            hash = carom_random_next(&random);
        }
        sum += hash;
    }
    return sum;
}

static int compare_nine(const void *a, const void *b) {
    return memcmp(a, b, sizeof(nine));
}

static nine *sorted_triangles(const scene_part *part) {
    carom_mesh_view view;
    nine *all = malloc((size_t)(part->triangles + 1) * sizeof(*all));
    if (all == NULL || carom_mesh_get_view(part->mesh, &view) != CAROM_OK) return all;
    for (uint64_t i = 0; i < view.face_count; ++i) all[i] = triangle_of(part, &view, i);
    qsort(all, (size_t)view.face_count, sizeof(*all), compare_nine);
    return all;
}

bool scene_parts_equal(const scene_part *a, const scene_part *b) {
    if (a->mesh == NULL || b->mesh == NULL || a->triangles != b->triangles ||
        a->digest != b->digest)
        return false;
    nine *x = sorted_triangles(a), *y = sorted_triangles(b);
    bool equal = x != NULL && y != NULL && memcmp(x, y, (size_t)a->triangles * sizeof(*x)) == 0;
    free(x);
    free(y);
    return equal;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool reserve(scene_parts *parts) {
    if (parts->count < parts->capacity) return true;
    uint64_t capacity = 2 * parts->capacity + 16;
    scene_part *data = realloc(parts->data, (size_t)capacity * sizeof(*data));
    if (data == NULL) return false;
    parts->data = data;
    parts->capacity = capacity;
    return true;
}

bool scene_parts_ignore(scene_parts *parts, uint64_t a, uint64_t b) {
    if (parts->ignored_count == parts->ignored_capacity) {
        uint64_t capacity = 2 * parts->ignored_capacity + 16;
        carom_pair *data = realloc(parts->ignored, (size_t)capacity * sizeof(*data));
        if (data == NULL) return false;
        parts->ignored = data;
        parts->ignored_capacity = capacity;
    }
    parts->ignored[parts->ignored_count++] = (carom_pair){(uint32_t)a, (uint32_t)b};
    return true;
}

/* A solid where the mesh allows it, else a soup. */
static carom_status prepare(cli *cli, bool often, scene_part *part) {
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(part->mesh, &view);
    if (status != CAROM_OK) return status;
    carom_solid_def solid = {.mesh = &view};
    status = carom_solid_create(cli->context, &solid, &part->solid);
    part->object.kind = CAROM_SCENE_OBJECT_KIND_SOLID;
    part->object.borrowed_solid = part->solid;
    if (status != CAROM_BAD_INPUT) return status;
    carom_soup_def soup = {.mesh = &view, .rigid = often};
    status = carom_soup_create(cli->context, &soup, &part->soup);
    part->object.kind = CAROM_SCENE_OBJECT_KIND_SOUP;
    part->object.borrowed_soup = part->soup;
    return status;
}

carom_status scene_parts_prepare(cli *cli, scene_parts *parts, uint64_t index) {
    scene_part *part = &parts->data[index];
    bool made = part->mesh == NULL || part->solid != NULL || part->soup != NULL;
    return made ? CAROM_OK : prepare(cli, parts->often, part);
}

static char *make_name(const scene_parts *parts, const char *file, const char *group) {
    const char *of_file = carom_os_file_name(file);
    char number[32];
    snprintf(number, sizeof(number), "part_%llu",
             (unsigned long long)(parts->next_number - parts->first_number));
    if (group != NULL && *group == '\0') group = number;
    size_t size = strlen(of_file) + (group != NULL ? strlen(group) : 0) + 2;
    char *name = malloc(size);
    if (name == NULL) return NULL;
    if (group == NULL)
        snprintf(name, size, "%s", of_file);
    else
        snprintf(name, size, "%s%s%s", parts->several ? of_file : "", parts->several ? "/" : "",
                 group);
    return name;
}

static void include(carom_bounds *box, carom_vec3 p, double r) {
    box->low = (carom_vec3){fmin(box->low.x, p.x - r), fmin(box->low.y, p.y - r),
                            fmin(box->low.z, p.z - r)};
    box->high = (carom_vec3){fmax(box->high.x, p.x + r), fmax(box->high.y, p.y + r),
                             fmax(box->high.z, p.z + r)};
}

/* The box of a mesh; of a shape that of a ball around it. */
static carom_bounds box_of(const scene_part *part) {
    const carom_convex *c = &part->object.convex;
    carom_bounds box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    carom_mesh_view view;
    if (part->mesh == NULL)
        include(&box, part->object.pose.t,
                c->half.x + c->half.y + c->half.z + c->radius + c->half_height + c->margin);
    else if (carom_mesh_get_view(part->mesh, &view) == CAROM_OK)
        for (uint64_t i = 0; i < 3 * view.face_count; ++i)
            include(&box, scene_part_corner(part, &view, i / 3, (int)(i % 3)), 0.0);
    return box;
}

carom_status scene_parts_add(cli *cli, const char *file, const char *group, carom_mesh *mesh,
                             const carom_convex *shape, const carom_pose *pose, uint32_t link,
                             scene_parts *parts) {
    char *name = make_name(parts, file, group);
    if (name == NULL || !reserve(parts)) {
        free(name);
        carom_mesh_destroy(mesh);
        return CAROM_NO_MEMORY;
    }
    uint64_t index = parts->count++;
    scene_part *part = &parts->data[index];
    *part = (scene_part){.name = name,
                         .title = names_add(&parts->titles, name, parts->next_number),
                         .number = parts->next_number,
                         .file = file,
                         .link = link,
                         .mesh = mesh};
    ++parts->next_number;
    if (part->title == NULL) return CAROM_NO_MEMORY;
    if (pose != NULL) part->object.pose = *pose;
    pose_matrix(&part->object.pose, part->matrix);
    if (shape != NULL) part->object.convex = *shape;
    carom_mesh_view view = {.face_count = 0};
    carom_status status = mesh != NULL ? carom_mesh_get_view(mesh, &view) : CAROM_OK;
    part->triangles = view.face_count;
    if (status == CAROM_OK && !parts->later) status = scene_parts_prepare(cli, parts, index);
    part->digest = digest_of(part);
    part->box = box_of(part);
    return status;
}

/* Makes a part of a packing; *added says whether the file is one. */
static carom_status add_packing(cli *cli, const char *path, scene_parts *parts, bool *added) {
    carom_packing *packing = NULL;
    *added =
        carom_packing_load(cli->context, path, CAROM_PACKING_FORMAT_GUESS, &packing) == CAROM_OK;
    if (!*added) return CAROM_OK;
    carom_status status = scene_parts_add(cli, path, NULL, NULL, NULL, NULL, SCENE_NO_LINK, parts);
    if (status == CAROM_OK) {
        scene_part *part = &parts->data[parts->count - 1];
        carom_tree_def def = {.packing = packing};
        carom_tree_info info = {0};
        status = carom_tree_create(cli->context, &def, &part->tree);
        if (status == CAROM_OK) status = carom_tree_get_info(part->tree, &info);
        part->spheres = info.spheres;
        carom_packing_spheres list = {0};
        if (status == CAROM_OK) status = carom_packing_list_spheres(cli->context, packing, &list);
        for (uint64_t i = 0; status == CAROM_OK && i < list.count; ++i)
            include(&part->box, list.data[i].centre, list.data[i].radius);
        carom_packing_spheres_free(&list);
        part->object.kind = CAROM_SCENE_OBJECT_KIND_PACKING;
        part->object.borrowed_tree = part->tree;
        part->packing = packing;
        packing = NULL;
    }
    carom_packing_destroy(packing);
    return status;
}

static carom_status add_parts(cli *cli, const char *path, const carom_mesh_view *view,
                              scene_parts *list) {
    parts p;
    carom_status status = parts_open(view, &p) ? CAROM_OK : CAROM_NO_MEMORY;
    uint64_t with_faces = 0;
    for (uint64_t i = 0; i < view->part_count && status == CAROM_OK; ++i)
        with_faces += parts_face_count(&p, i) != 0;
    for (uint64_t i = 0; i < view->part_count && status == CAROM_OK; ++i) {
        carom_mesh_view one;
        carom_mesh *mesh = NULL;
        if (parts_face_count(&p, i) == 0) {
            ++list->next_number;
            continue;
        }
        parts_get(&p, i, &one);
        one.property_count = 0;
        one.properties = NULL;
        status = carom_mesh_create(cli->context, &one, &mesh);
        if (status == CAROM_OK)
            status = scene_parts_add(cli, path, with_faces > 1 ? parts_name(view, i) : NULL, mesh,
                                     NULL, NULL, SCENE_NO_LINK, list);
    }
    parts_close(&p);
    return status;
}

carom_status scene_parts_add_meshes(cli *cli, const char *path, int from, scene_parts *parts) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_mesh_origin origin;
    parts->first_number = parts->next_number;
    carom_status status = meshes_read(cli, path, from, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_origin(mesh, &origin);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK && view.face_count == 0) { /* perhaps spheres */
        bool added;
        status = add_packing(cli, path, parts, &added);
        if (status != CAROM_OK || added) {
            carom_mesh_destroy(mesh);
            return status;
        }
    }
    if (status == CAROM_OK && parts->metres <= 0.0) parts->metres = origin.metres;
    if (status == CAROM_OK) status = meshes_weld_parts(cli, &mesh);
    if (status == CAROM_OK) status = meshes_triangulate(cli, false, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = add_parts(cli, path, &view, parts);
    carom_mesh_destroy(mesh);
    return status;
}

void scene_parts_free(scene_parts *parts) {
    for (uint64_t i = 0; i < parts->count; ++i) {
        carom_solid_destroy(parts->data[i].solid);
        carom_soup_destroy(parts->data[i].soup);
        carom_tree_destroy(parts->data[i].tree);
        carom_packing_destroy(parts->data[i].packing);
        carom_mesh_destroy(parts->data[i].mesh);
        free(parts->data[i].name);
    }
    names_free(&parts->titles);
    free(parts->data);
    free(parts->ignored);
    *parts = (scene_parts){0};
}
