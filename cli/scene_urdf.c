/* SPDX-License-Identifier: MIT */
/* Robots from URDF files: links with elements for collision, placed by the joints between them, and
 * the pairs of links that an SRDF file disables.
 *
 * A joint's origin is the pose of the child link in the parent's frame; R = Rz(yaw) Ry(pitch)
 * Rx(roll). Then it turns about its axis, or moves along it, by its value, which is 0 unless given.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/meshes.h"
#include "cli/scene_parts.h"
#include "cli/xml.h"

#define TEXT         256u              /* bytes of a name */
#define PATH         4096u             /* of a file */
#define MOST_BYTES   ((size_t)1 << 28) /* of a URDF or SRDF file */
#define MOST_FOLDERS 8                 /* above the file that are searched for packages */

typedef struct robot_link {
    char name[TEXT];
    uint32_t parent; /* SCENE_NO_LINK: none */
    carom_pose in_parent;
    carom_pose in_world;
} robot_link;

typedef struct element {
    uint32_t link;
    char name[TEXT];
    carom_pose origin;
    carom_convex shape; /* where there is no file */
    char file[PATH];
    double scale[3];
    bool known; /* it has a geometry */
} element;

typedef struct robot {
    cli *cli;
    const char *path;
    robot_link *links;
    uint32_t link_count, link_capacity;
    element *elements;
    uint64_t element_count, element_capacity;
} robot;

static carom_status complain(const robot *r, size_t line, const char *what) {
    snprintf(r->cli->message, sizeof(r->cli->message), "%.300s: line %llu: %s", r->path,
             (unsigned long long)line, what);
    return CAROM_BAD_FILE;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

static carom_quat multiply(carom_quat a, carom_quat b) {
    return (carom_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* b in the frame of a. Both are unit quaternions. */
static carom_pose compose(const carom_pose *a, const carom_pose *b) {
    carom_quat v = {0.0, b->t.x, b->t.y, b->t.z};
    carom_quat back = {a->q.w, -a->q.x, -a->q.y, -a->q.z};
    carom_quat turned = multiply(multiply(a->q, v), back);
    return (carom_pose){multiply(a->q, b->q),
                        {turned.x + a->t.x, turned.y + a->t.y, turned.z + a->t.z}};
}

static const carom_pose identity = {.q = {1.0, 0.0, 0.0, 0.0}};

static bool read_numbers(const xml *x, const char *name, double *numbers, int count) {
    char text[TEXT], *at = text, *end;
    if (!xml_get(x, name, text, sizeof(text))) return false;
    for (int i = 0; i < count; ++i, at = end) {
        numbers[i] = strtod(at, &end);
        if (end == at || !(fabs(numbers[i]) <= 1e100)) return false;
    }
    return true;
}

static carom_pose read_origin(const xml *x) {
    double xyz[3] = {0.0, 0.0, 0.0}, rpy[3] = {0.0, 0.0, 0.0};
    if (!read_numbers(x, "xyz", xyz, 3)) xyz[0] = xyz[1] = xyz[2] = 0.0;
    if (!read_numbers(x, "rpy", rpy, 3)) rpy[0] = rpy[1] = rpy[2] = 0.0;
    carom_quat roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0.0, 0.0};
    carom_quat pitch = {cos(0.5 * rpy[1]), 0.0, sin(0.5 * rpy[1]), 0.0};
    carom_quat yaw = {cos(0.5 * rpy[2]), 0.0, 0.0, sin(0.5 * rpy[2])};
    return (carom_pose){multiply(yaw, multiply(pitch, roll)), {xyz[0], xyz[1], xyz[2]}};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static carom_status read_file(cli *cli, const char *path, char **text, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t used = 0, capacity = 0, got;
    *text = NULL;
    if (file == NULL) {
        snprintf(cli->message, sizeof(cli->message), "%.300s: cannot be opened: %.100s", path,
                 strerror(errno));
        return CAROM_IO;
    }
    do {
        if (capacity - used < 65536) {
            capacity = 2 * capacity + 131072;
            char *grown = capacity <= MOST_BYTES ? realloc(data, capacity) : NULL;
            if (grown == NULL) {
                free(data);
                (void)fclose(file);
                return CAROM_NO_MEMORY;
            }
            data = grown;
        }
        got = fread(data + used, 1, capacity - used, file);
        used += got;
    } while (got != 0);
    (void)fclose(file);
    *text = data;
    *size = used;
    return CAROM_OK;
}

static uint32_t find_link(const robot *r, const char *name) {
    for (uint32_t i = 0; i < r->link_count; ++i)
        if (strcmp(r->links[i].name, name) == 0) return i;
    return SCENE_NO_LINK;
}

static bool add_link(robot *r, const char *name) {
    if (r->link_count == r->link_capacity) {
        uint32_t capacity = 2 * r->link_capacity + 16;
        robot_link *links = realloc(r->links, capacity * sizeof(*links));
        if (links == NULL) return false;
        r->links = links;
        r->link_capacity = capacity;
    }
    robot_link *l = &r->links[r->link_count++];
    *l = (robot_link){.parent = SCENE_NO_LINK, .in_parent = identity, .in_world = identity};
    snprintf(l->name, sizeof(l->name), "%s", name);
    return true;
}

static element *add_element(robot *r, uint32_t of) {
    if (r->element_count == r->element_capacity) {
        uint64_t capacity = 2 * r->element_capacity + 16;
        element *elements = realloc(r->elements, (size_t)capacity * sizeof(*elements));
        if (elements == NULL) return NULL;
        r->elements = elements;
        r->element_capacity = capacity;
    }
    element *e = &r->elements[r->element_count++];
    *e = (element){.link = of, .origin = identity, .scale = {1.0, 1.0, 1.0}};
    return e;
}

static carom_status read_geometry(const robot *r, const xml *x, element *e) {
    double n[3];
    bool fine = true;
    e->known = true;
    if (xml_is(x, "mesh")) {
        fine = xml_get(x, "filename", e->file, sizeof(e->file));
        if (!read_numbers(x, "scale", e->scale, 3)) e->scale[0] = e->scale[1] = e->scale[2] = 1.0;
    } else if (xml_is(x, "box")) {
        fine = read_numbers(x, "size", n, 3);
        if (fine)
            e->shape = (carom_convex){.kind = CAROM_CONVEX_KIND_BOX,
                                      .half = {0.5 * n[0], 0.5 * n[1], 0.5 * n[2]}};
    } else if (xml_is(x, "sphere")) {
        fine = read_numbers(x, "radius", n, 1);
        if (fine) e->shape = (carom_convex){.kind = CAROM_CONVEX_KIND_SPHERE, .radius = n[0]};
    } else if (xml_is(x, "cylinder") || xml_is(x, "capsule")) {
        fine = read_numbers(x, "radius", n, 1) && read_numbers(x, "length", n + 1, 1);
        if (fine)
            e->shape = (carom_convex){.kind = xml_is(x, "capsule") ? CAROM_CONVEX_KIND_CAPSULE
                                                                   : CAROM_CONVEX_KIND_CYLINDER,
                                      .radius = n[0],
                                      .half_height = 0.5 * n[1]};
    } else {
        e->known = false;
    }
    return fine ? CAROM_OK : complain(r, x->line, "a geometry lacks its file or sizes");
}

/* The elements of a link; x is at its tag. */
static carom_status read_link(robot *r, xml *x, const char *wanted) {
    char name[TEXT];
    element *e = NULL;
    size_t depth = x->depth;
    if (!xml_get(x, "name", name, sizeof(name)) || find_link(r, name) != SCENE_NO_LINK)
        return complain(r, x->line, "a link has no name, one too long, or that of another");
    if (!add_link(r, name)) return CAROM_NO_MEMORY;
    uint32_t number = r->link_count - 1;
    if (x->closes) return CAROM_OK;
    while (xml_next(x) && x->depth > depth) {
        if (!x->opens) continue;
        if (x->depth == depth + 1) {
            e = NULL;
            if (!xml_is(x, wanted)) continue;
            e = add_element(r, number);
            if (e == NULL) return CAROM_NO_MEMORY;
            (void)xml_get(x, "name", e->name, sizeof(e->name));
        } else if (e != NULL && xml_is(x, "origin")) {
            e->origin = read_origin(x);
        } else if (e != NULL && x->depth == depth + 3) {
            carom_status status = read_geometry(r, x, e);
            if (status != CAROM_OK) return status;
        }
    }
    return CAROM_OK;
}

/* Joints are kept as names until all links are known. */
typedef struct joint {
    char name[TEXT], type[TEXT], parent[TEXT], child[TEXT];
    carom_pose origin;
    double axis[3];
    double value; /* radians or metres */
    size_t line;
} joint;

typedef struct joints {
    joint *data;
    uint64_t count, capacity;
} joints;

static carom_status read_joint(xml *x, joints *all) {
    size_t depth = x->depth;
    if (all->count == all->capacity) {
        uint64_t capacity = 2 * all->capacity + 16;
        joint *data = realloc(all->data, (size_t)capacity * sizeof(*data));
        if (data == NULL) return CAROM_NO_MEMORY;
        all->data = data;
        all->capacity = capacity;
    }
    joint *j = &all->data[all->count++];
    *j = (joint){.origin = identity, .axis = {1.0, 0.0, 0.0}, .line = x->line};
    (void)xml_get(x, "name", j->name, sizeof(j->name));
    (void)xml_get(x, "type", j->type, sizeof(j->type));
    if (x->closes) return CAROM_OK;
    while (xml_next(x) && x->depth > depth) {
        if (!x->opens || x->depth != depth + 1) continue;
        if (xml_is(x, "origin")) j->origin = read_origin(x);
        if (xml_is(x, "axis") && !read_numbers(x, "xyz", j->axis, 3)) j->axis[0] = 1.0;
        if (xml_is(x, "parent")) (void)xml_get(x, "link", j->parent, sizeof(j->parent));
        if (xml_is(x, "child")) (void)xml_get(x, "link", j->child, sizeof(j->child));
    }
    return CAROM_OK;
}

/* Sets joints as --joints says: NAME=VALUE,NAME=VALUE ... */
static carom_status set_joints(const robot *r, const char *text, joints *all) {
    while (text != NULL && *text != '\0') {
        const char *equals = strchr(text, '=');
        char *end = NULL;
        double value = equals != NULL ? strtod(equals + 1, &end) : 0.0;
        bool fine = equals != NULL && end != equals + 1 && (*end == ',' || *end == '\0') &&
                    fabs(value) <= 1e100;
        joint *found = NULL;
        for (uint64_t i = 0; i < all->count && fine; ++i) {
            size_t size = strlen(all->data[i].name);
            if (size == (size_t)(equals - text) && memcmp(all->data[i].name, text, size) == 0)
                found = &all->data[i];
        }
        if (found == NULL) {
            snprintf(r->cli->message, sizeof(r->cli->message),
                     "--joints: '%.200s' is not NAME=VALUE of a joint of %.200s", text, r->path);
            return CAROM_BAD_INPUT;
        }
        found->value = value;
        text = *end == ',' ? end + 1 : end;
    }
    return CAROM_OK;
}

/* The pose of a joint's child in its parent. */
static carom_pose pose_of(const joint *j) {
    const double *a = j->axis;
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), v = j->value;
    carom_pose motion = identity;
    if (!(length > 0.0)) return j->origin;
    if (strcmp(j->type, "prismatic") == 0) {
        motion.t = (carom_vec3){v * a[0] / length, v * a[1] / length, v * a[2] / length};
    } else if (strcmp(j->type, "fixed") != 0) {
        double s = sin(0.5 * v) / length;
        motion.q = (carom_quat){cos(0.5 * v), s * a[0], s * a[1], s * a[2]};
    }
    return compose(&j->origin, &motion);
}

static carom_status connect(robot *r, const joints *all) {
    for (uint64_t i = 0; i < all->count; ++i) {
        const joint *j = &all->data[i];
        uint32_t parent = find_link(r, j->parent), child = find_link(r, j->child);
        if (parent == SCENE_NO_LINK || child == SCENE_NO_LINK)
            return complain(r, j->line, "a joint names a link that is not there");
        if (r->links[child].parent != SCENE_NO_LINK)
            return complain(r, j->line, "a link is the child of two joints");
        r->links[child].parent = parent;
        r->links[child].in_parent = pose_of(j);
    }
    for (uint32_t i = 0; i < r->link_count; ++i) {
        carom_pose pose = identity;
        uint32_t at = i, steps = 0;
        for (; r->links[at].parent != SCENE_NO_LINK; at = r->links[at].parent) {
            pose = compose(&r->links[at].in_parent, &pose);
            if (++steps > r->link_count) return complain(r, 1, "joints form a circle");
        }
        r->links[i].in_world = pose;
    }
    return CAROM_OK;
}

static carom_status read_robot(robot *r, const char *text, size_t size,
                               const scene_robot_def *def) {
    xml x;
    joints all = {0};
    carom_status status = CAROM_OK;
    bool found = false;
    xml_begin(&x, text, size);
    while (status == CAROM_OK && xml_next(&x)) {
        if (!x.opens) continue;
        if (x.depth == 0 && xml_is(&x, "robot")) found = true;
        if (x.depth != 1) continue;
        if (xml_is(&x, "link"))
            status = read_link(r, &x, def->visual ? "visual" : "collision");
        else if (xml_is(&x, "joint"))
            status = read_joint(&x, &all);
    }
    if (status == CAROM_OK && x.broken) status = complain(r, x.line, "a tag has no end");
    if (status == CAROM_OK && !found) status = complain(r, 1, "there is no <robot>");
    if (status == CAROM_OK) status = set_joints(r, def->joints, &all);
    if (status == CAROM_OK) status = connect(r, &all);
    free(all.data);
    return status;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* The file of a mesh: as it is, or beside the URDF file; a package is looked for in the folders
 * above. */
static void find_file(const char *urdf, const char *name, char *path, size_t size) {
    char folder[PATH];
    const char *inside = name, *slash = strrchr(urdf, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - urdf) : 1,
             slash != NULL ? urdf : ".");
    if (strncmp(name, "file://", 7) == 0) inside = name + 7;
    bool package = strncmp(name, "package://", 10) == 0;
    if (package) inside = name + 10;
    snprintf(path, size, "%s", inside);
    if (*inside == '/') return;
    for (int up = 0; up < MOST_FOLDERS; ++up) {
        snprintf(path, size, "%.2000s/%.2000s", folder, inside);
        if (access(path, R_OK) == 0) return;
        const char *rest = package ? strchr(inside, '/') : NULL;
        if (rest != NULL) {
            snprintf(path, size, "%.2000s%.2000s", folder, rest);
            if (access(path, R_OK) == 0) return;
        }
        if (!package) return;
        size_t length = strlen(folder);
        if (length + 4 > sizeof(folder)) return;
        memcpy(folder + length, "/..", 4);
    }
}

/* Multiplies the vertices. */
static carom_status scale_mesh(cli *cli, const double scale[3], carom_mesh **mesh) {
    if (scale[0] == 1.0 && scale[1] == 1.0 && scale[2] == 1.0) return CAROM_OK;
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(*mesh, &view);
    if (status != CAROM_OK) return status;
    double *xyz = malloc((size_t)(3 * view.vertex_count + 1) * sizeof(*xyz));
    if (xyz == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < 3 * view.vertex_count; ++i) {
        double x = view.scalar == CAROM_SCALAR_FLOAT32 ? (double)((const float *)view.positions)[i]
                                                       : ((const double *)view.positions)[i];
        xyz[i] = x * scale[i % 3];
    }
    carom_mesh *scaled = NULL;
    view.positions = xyz;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    status = carom_mesh_create(cli->context, &view, &scaled);
    free(xyz);
    if (status != CAROM_OK) return status;
    carom_mesh_destroy(*mesh);
    *mesh = scaled;
    return CAROM_OK;
}

/* The mesh of an element, or NULL where it is a convex shape. */
static carom_status load_mesh(const robot *r, const element *e, carom_mesh **mesh) {
    char path[PATH];
    *mesh = NULL;
    if (*e->file == '\0') return CAROM_OK;
    find_file(r->path, e->file, path, sizeof(path));
    carom_status status = meshes_load(r->cli, path, CAROM_MESH_FORMAT_GUESS, false, mesh);
    if (status == CAROM_OK) status = meshes_triangulate(r->cli, false, mesh);
    if (status == CAROM_OK) status = scale_mesh(r->cli, e->scale, mesh);
    if (status != CAROM_OK) {
        carom_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return status;
}

static carom_status add_part(robot *r, const element *e, scene_parts *parts) {
    const robot_link *l = &r->links[e->link];
    carom_pose pose = compose(&l->in_world, &e->origin);
    carom_mesh *mesh;
    char name[2 * TEXT + 2];
    snprintf(name, sizeof(name), "%s%s%s", l->name, *e->name != '\0' ? "/" : "", e->name);
    carom_status status = load_mesh(r, e, &mesh);
    if (status != CAROM_OK) return status;
    return scene_parts_add(r->cli, r->path, name, mesh, mesh == NULL ? &e->shape : NULL, &pose,
                           e->link, parts);
}

/* ---- Ignored pairs --------------------------------------------------------------------------- */

/* Ignores all pairs of elements of two links, which may be one. */
static carom_status ignore_links(scene_parts *parts, uint64_t first, uint32_t a, uint32_t b) {
    for (uint64_t i = first; i < parts->count; ++i)
        for (uint64_t k = i + 1; k < parts->count; ++k) {
            uint32_t x = parts->data[i].link, y = parts->data[k].link;
            if (!((x == a && y == b) || (x == b && y == a))) continue;
            if (!scene_parts_ignore(parts, i, k)) return CAROM_NO_MEMORY;
        }
    return CAROM_OK;
}

static carom_status read_srdf(const robot *r, const char *path, uint64_t first,
                              scene_parts *parts) {
    char *text, a[TEXT], b[TEXT];
    size_t size;
    xml x;
    carom_status status = read_file(r->cli, path, &text, &size);
    if (status != CAROM_OK) return status;
    xml_begin(&x, text, size);
    while (status == CAROM_OK && xml_next(&x)) {
        if (!x.opens || !xml_is(&x, "disable_collisions")) continue;
        if (!xml_get(&x, "link1", a, sizeof(a)) || !xml_get(&x, "link2", b, sizeof(b))) continue;
        uint32_t p = find_link(r, a), q = find_link(r, b);
        if (p != SCENE_NO_LINK && q != SCENE_NO_LINK) status = ignore_links(parts, first, p, q);
    }
    free(text);
    return status;
}

carom_status scene_parts_add_urdf(cli *cli, const char *path, const scene_robot_def *def,
                                  scene_parts *parts) {
    robot r = {.cli = cli, .path = path};
    char *text;
    size_t size;
    uint64_t first = parts->count;
    carom_status status = read_file(cli, path, &text, &size);
    if (status == CAROM_OK) status = read_robot(&r, text, size, def);
    for (uint64_t i = 0; i < r.element_count && status == CAROM_OK; ++i)
        if (r.elements[i].known) status = add_part(&r, &r.elements[i], parts);
    for (uint32_t i = 0; i < r.link_count && status == CAROM_OK; ++i) {
        status = ignore_links(parts, first, i, i);
        if (status == CAROM_OK && r.links[i].parent != SCENE_NO_LINK)
            status = ignore_links(parts, first, i, r.links[i].parent);
    }
    if (status == CAROM_OK && def->srdf != NULL) status = read_srdf(&r, def->srdf, first, parts);
    if (parts->metres <= 0.0) parts->metres = 1.0; /* URDF is in metres */
    free(text);
    free(r.links);
    free(r.elements);
    return status;
}

carom_status scene_urdf_each(cli *cli, const char *path, bool visual, scene_urdf_fn *visit,
                             void *user) {
    robot r = {.cli = cli, .path = path};
    const scene_robot_def def = {.visual = visual};
    char *text;
    size_t size;
    carom_status status = read_file(cli, path, &text, &size);
    if (status == CAROM_OK) status = read_robot(&r, text, size, &def);
    for (uint64_t i = 0; i < r.element_count && status == CAROM_OK; ++i) {
        const element *e = &r.elements[i];
        carom_mesh *mesh;
        if (!e->known) continue;
        status = load_mesh(&r, e, &mesh);
        if (status == CAROM_OK)
            status = visit(user, r.links[e->link].name, &e->origin, mesh, &e->shape);
        carom_mesh_destroy(mesh);
    }
    free(text);
    free(r.links);
    free(r.elements);
    return status;
}

carom_status scene_urdf_text(cli *cli, const char *path, char **text, size_t *size) {
    return read_file(cli, path, text, size);
}
