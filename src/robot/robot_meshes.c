/* SPDX-License-Identifier: MIT */
/* Meshes of a robot's elements, and the robot that is prepared from its description.
 *
 * A mesh is welded, triangulated and scaled. Where the scale mirrors it, its triangles are turned
 * round, so that winding numbers keep their sign. */
#include <string.h>

#include "robot/robot_urdf.h"

/* Turns all triangles round, as a mirror does. */
static void meshes_mirror(const carom_mesh_view *view, uint32_t *corners) {
    for (uint64_t i = 0; i < view->face_count; ++i)
        for (uint64_t k = 0; k < 3; ++k) corners[3 * i + k] = view->corners[3 * i + 2 - k];
}

/* Multiplies the vertices of a mesh of triangles. */
static carom_status meshes_scale(carom_context *context, carom_vec3 by, carom_mesh **mesh) {
    const double scale[3] = {by.x, by.y, by.z};
    if (by.x == 1.0 && by.y == 1.0 && by.z == 1.0) return CAROM_OK;
    carom_mesh_view view;
    carom_mesh *scaled = NULL;
    double *xyz;
    uint32_t *corners;
    CAROM_TRY(carom_mesh_get_view(*mesh, &view));
    const carom_allocation arrays[] = {CAROM_ALLOCATION(xyz, 3 * view.vertex_count + 1),
                                       CAROM_ALLOCATION(corners, 3 * view.face_count + 1)};
    if (!carom_allocate_all(&context->allocator, arrays, 2))
        return carom_fail_memory(context, 24 * view.vertex_count, "a scaled mesh");
    for (uint64_t i = 0; i < 3 * view.vertex_count; ++i) {
        double x = view.scalar == CAROM_SCALAR_FLOAT32 ? (double)((const float *)view.positions)[i]
                                                       : ((const double *)view.positions)[i];
        xyz[i] = x * scale[i % 3];
    }
    view.positions = xyz;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    if ((scale[0] < 0.0) != ((scale[1] < 0.0) != (scale[2] < 0.0))) {
        meshes_mirror(&view, corners);
        view.corners = corners;
    }
    carom_status status = carom_mesh_create(context, &view, &scaled);
    CAROM_RELEASE_ALL(&context->allocator, xyz, corners);
    if (status != CAROM_OK) return status;
    carom_mesh_destroy(*mesh);
    *mesh = scaled;
    return CAROM_OK;
}

typedef carom_status meshes_step_fn(carom_context *context, const carom_mesh_view *view,
                                    carom_mesh **mesh);

/* Replaces a mesh by what a step makes of it. */
static carom_status meshes_replace(carom_context *context, meshes_step_fn *step,
                                   carom_mesh **mesh) {
    carom_mesh_view view;
    carom_mesh *made = NULL;
    CAROM_TRY(carom_mesh_get_view(*mesh, &view));
    carom_status status = step(context, &view, &made);
    if (status != CAROM_OK) return status;
    carom_mesh_destroy(*mesh);
    *mesh = made;
    return CAROM_OK;
}

static carom_status meshes_triangles(carom_context *context, const carom_mesh_view *view,
                                     carom_mesh **mesh) {
    return carom_mesh_triangulate(context, view, NULL, mesh, NULL);
}

carom_status carom_urdf_load_mesh(carom_context *context, const carom_urdf *urdf, uint32_t element,
                                  carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(urdf, "urdf");
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    *mesh = NULL;
    CAROM_REQUIRE(element < urdf->elements.count, "there is no such element");
    const carom_urdf_element *e = &urdf->elements.data[element];
    char path[CAROM_URDF_PATH_SIZE];
    carom_mesh_view view;
    if (e->file == NULL) return CAROM_OK;
    CAROM_TRY(carom_urdf_find_file(context, urdf, e->file, path, sizeof(path)));
    carom_status status = carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, mesh);
    if (status == CAROM_OK) status = meshes_replace(context, carom_mesh_weld, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status == CAROM_OK && view.offsets != NULL)
        status = meshes_replace(context, meshes_triangles, mesh);
    if (status == CAROM_OK) status = meshes_scale(context, e->scale, mesh);
    if (status != CAROM_OK) {
        carom_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return status;
}

/* ---- The robot ------------------------------------------------------------------------------- */

/* What a robot is prepared from. */
typedef struct meshes_robot {
    carom_robot_link *links;
    carom_robot_joint *joints;
    carom_robot_shape *shapes;
    carom_mesh **meshes;
    carom_mesh_view *views;
    carom_pair *allowed;
    uint32_t *chain; /* of joints that mimic one another */
} meshes_robot;

static carom_robot_shape meshes_shape_of(const carom_urdf_element *e, const carom_mesh_view *view) {
    static const carom_robot_shape_kind kinds[] = {
        [CAROM_CONVEX_KIND_BOX] = CAROM_ROBOT_SHAPE_KIND_BOX,
        [CAROM_CONVEX_KIND_SPHERE] = CAROM_ROBOT_SHAPE_KIND_SPHERE,
        [CAROM_CONVEX_KIND_CYLINDER] = CAROM_ROBOT_SHAPE_KIND_CYLINDER,
        [CAROM_CONVEX_KIND_CAPSULE] = CAROM_ROBOT_SHAPE_KIND_CAPSULE};
    carom_robot_shape s = {.pose = e->origin};
    if (e->file != NULL) {
        s.mesh = view;
        return s;
    }
    s.kind = kinds[e->shape.kind];
    s.half = e->shape.half;
    s.radius = e->shape.radius;
    s.half_height = e->shape.half_height;
    return s;
}

static carom_robot_joint meshes_joint_of(const carom_urdf_joint *from) {
    return (carom_robot_joint){.kind = from->kind,
                               .parent = from->parent,
                               .child = from->child,
                               .origin = from->origin,
                               .axis = from->axis,
                               .lower = from->lower,
                               .upper = from->upper,
                               .multiplier = 1.0};
}

/* A joint that mimics one that mimics another follows the last of them: up to a joint that is
 * resolved or mimics none, and back, so that each is resolved once. Circles are refused when the
 * file is read. */
static void meshes_resolve(const carom_urdf *urdf, uint32_t first, uint32_t *chain,
                           carom_robot_joint *joints) {
    const carom_urdf_joint *given = urdf->joints.data;
    uint64_t count = 0;
    for (uint32_t at = first; given[at].mimic != CAROM_NONE && !joints[at].mimics;
         at = given[at].mimic)
        chain[count++] = at;
    while (count-- > 0) {
        const carom_urdf_joint *from = &given[chain[count]];
        const carom_robot_joint *next = &joints[from->mimic];
        carom_robot_joint *j = &joints[chain[count]];
        j->mimics = true;
        j->mimic = next->mimics ? next->mimic : from->mimic;
        j->multiplier = from->multiplier * next->multiplier;
        j->offset = from->multiplier * next->offset + from->offset;
    }
}

/* Sets links, joints and pairs; shapes and meshes are those of all elements. */
static carom_status meshes_set(carom_context *context, const carom_urdf *urdf,
                               const carom_robot_def *def, meshes_robot *m) {
    for (uint32_t i = 0; i < urdf->elements.count; ++i) {
        CAROM_TRY(carom_urdf_load_mesh(context, urdf, i, &m->meshes[i]));
        if (m->meshes[i] != NULL) CAROM_TRY(carom_mesh_get_view(m->meshes[i], &m->views[i]));
        m->shapes[i] = meshes_shape_of(&urdf->elements.data[i], &m->views[i]);
    }
    for (uint64_t i = 0; i < urdf->links.count; ++i) {
        const carom_urdf_link *l = &urdf->links.data[i];
        m->links[i] = (carom_robot_link){l->name, m->shapes + l->first, l->count};
    }
    for (uint64_t i = 0; i < urdf->joints.count; ++i)
        m->joints[i] = meshes_joint_of(&urdf->joints.data[i]);
    for (uint32_t i = 0; i < urdf->joints.count; ++i) {
        const carom_urdf_joint *j = &urdf->joints.data[i];
        meshes_resolve(urdf, i, m->chain, m->joints);
        if (j->kind != CAROM_ROBOT_JOINT_KIND_FIXED && m->joints[i].mimics &&
            urdf->joints.data[m->joints[i].mimic].kind == CAROM_ROBOT_JOINT_KIND_FIXED)
            return carom_fail(context, CAROM_BAD_FILE,
                              "%.200s:%llu: the joint '%.100s' follows a joint that does not move",
                              urdf->path != NULL ? urdf->path : "robot",
                              (unsigned long long)j->line, j->name);
    }
    uint64_t count = urdf->disabled.count;
    for (uint64_t i = 0; i < count; ++i) m->allowed[i] = urdf->disabled.data[i];
    for (uint64_t i = 0; i < def->allowed_count; ++i) m->allowed[count + i] = def->allowed[i];
    return CAROM_OK;
}

static carom_status meshes_create(carom_context *context, const carom_urdf *urdf,
                                  const carom_robot_def *def, carom_robot **robot) {
    meshes_robot m;
    uint64_t links = urdf->links.count, joints = urdf->joints.count;
    uint64_t elements = urdf->elements.count;
    const carom_allocation arrays[] = {
        CAROM_ALLOCATION(m.links, links + 1),
        CAROM_ALLOCATION(m.joints, joints + 1),
        CAROM_ALLOCATION(m.shapes, elements + 1),
        CAROM_ALLOCATION(m.meshes, elements + 1),
        CAROM_ALLOCATION(m.views, elements + 1),
        CAROM_ALLOCATION(m.chain, joints + 1),
        CAROM_ALLOCATION(m.allowed, urdf->disabled.count + def->allowed_count + 1)};
    if (!carom_allocate_all(&context->allocator, arrays, sizeof(arrays) / sizeof(*arrays)))
        return carom_fail_memory(context, elements * sizeof(*m.shapes), "a robot");
    for (uint64_t i = 0; i <= elements; ++i) m.meshes[i] = NULL;
    carom_status status = meshes_set(context, urdf, def, &m);
    if (status == CAROM_OK) {
        carom_robot_def whole = *def;
        whole.links = m.links;
        whole.link_count = (uint32_t)links;
        whole.joints = m.joints;
        whole.joint_count = (uint32_t)joints;
        whole.allowed = m.allowed;
        whole.allowed_count = urdf->disabled.count + def->allowed_count;
        status = carom_robot_create(context, &whole, robot);
    }
    for (uint64_t i = 0; i < elements; ++i) carom_mesh_destroy(m.meshes[i]);
    CAROM_RELEASE_ALL(&context->allocator, m.links, m.joints, m.shapes, m.meshes, m.views,
                      m.allowed, m.chain);
    return status;
}

carom_status carom_robot_create_urdf(carom_context *context, const carom_urdf *urdf,
                                     const carom_robot_def *def, carom_robot **robot) {
    const carom_robot_def none = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(robot, "robot");
    *robot = NULL;
    CAROM_REQUIRE_INPUT(urdf, "urdf");
    if (def == NULL) def = &none;
    CAROM_REQUIRE(def->links == NULL && def->link_count == 0 && def->joints == NULL &&
                      def->joint_count == 0,
                  "links and joints are those of the urdf: the def must have none");
    CAROM_REQUIRE_INPUTS(def->allowed, def->allowed_count, "allowed pairs");
    if (urdf->links.count == 0)
        return carom_fail(context, CAROM_BAD_FILE, "%.200s: the robot has no links",
                          urdf->path != NULL ? urdf->path : "robot");
    if (urdf->links.count > CAROM_ROBOT_MOST_BODIES)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "%.200s: the robot has %llu links, more than %u",
                          urdf->path != NULL ? urdf->path : "robot",
                          (unsigned long long)urdf->links.count, CAROM_ROBOT_MOST_BODIES);
    return meshes_create(context, urdf, def, robot);
}
