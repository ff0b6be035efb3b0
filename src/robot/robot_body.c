/* SPDX-License-Identifier: MIT */
/* From shapes to parts, covers and inner balls.
 *
 * A cover contains the body: its faces and what these enclose. carom_cover_create proves that for
 * what is enclosed. That it contains all faces, also those of shells that enclose nothing, is made
 * sure here: a face of which some piece lies in no single sphere has the nearest one enlarged. */
#include <string.h>

#include "base/math.h"
#include "base/progress.h"
#include "cover/cover.h"
#include "geom/length.h"
#include "pack/pack.h"
#include "robot/robot.h"

#define CYLINDER_SIDES 64u /* of the prism around it: 0.12 % more than the radius */

/* Halvings of a face's longest side before the sphere nearest to a piece is enlarged. */
#define COVER_HALVINGS 14

/* Relative: spheres are enlarged by this, far more than roundings of comparisons take. */
#define COVER_SLACK 0x1p-40

/* A mesh of triangles that is being made. */
typedef struct part_mesh {
    carom_vec3 *positions;
    uint32_t *corners;
    uint32_t vertex_count, triangle_count;
} part_mesh;

static void mesh_free(const carom_allocator *allocator, part_mesh *m) {
    CAROM_RELEASE_ALL(allocator, m->positions, m->corners);
    *m = (part_mesh){0};
}

static carom_status mesh_reserve(carom_context *context, const carom_allocator *allocator,
                                 uint64_t vertices, uint64_t triangles, part_mesh *m) {
    *m = (part_mesh){.vertex_count = (uint32_t)vertices, .triangle_count = (uint32_t)triangles};
    const carom_allocation arrays[] = {CAROM_ALLOCATION(m->positions, vertices),
                                       CAROM_ALLOCATION(m->corners, 3 * triangles)};
    if (carom_allocate_all(allocator, arrays, 2)) return CAROM_OK;
    return carom_fail_memory(context, vertices * sizeof(*m->positions), "the shape of a body");
}

static carom_mesh_view robot_view_of(const part_mesh *m) {
    return (carom_mesh_view){.positions = m->positions,
                             .vertex_count = m->vertex_count,
                             .corners = m->corners,
                             .face_count = m->triangle_count};
}

/* ---- Meshes of shapes ------------------------------------------------------------------------ */

static carom_status mesh_of_box(carom_context *context, const carom_allocator *allocator,
                                carom_vec3 h, part_mesh *m) {
    static const uint32_t corners[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    CAROM_TRY(mesh_reserve(context, allocator, 8, 12, m));
    for (uint32_t i = 0; i < 8; ++i)
        m->positions[i] = carom_vec((i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y,
                                    (i & 4) != 0 ? h.z : -h.z);
    memcpy(m->corners, corners, sizeof(corners));
    return CAROM_OK;
}

/* The prism around a cylinder: its sides touch it, so its edges are 1 / cos of half a side's angle
 * farther out. */
static carom_status mesh_of_cylinder(carom_context *context, const carom_allocator *allocator,
                                     double radius, double half, part_mesh *m) {
    const uint32_t n = CYLINDER_SIDES;
    double step = 2.0 * CAROM_PI / n, out = radius / carom_cos(0.5 * step) * (1.0 + COVER_SLACK);
    CAROM_TRY(mesh_reserve(context, allocator, 2 * n, 4 * (uint64_t)n - 4, m));
    uint32_t *c = m->corners;
    for (uint32_t i = 0; i < n; ++i) {
        double x = out * carom_cos(step * i), y = out * carom_sin(step * i);
        m->positions[i] = carom_vec(x, y, -half);
        m->positions[n + i] = carom_vec(x, y, half);
    }
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t next = (i + 1) % n;
        const uint32_t side[6] = {i, next, n + i, next, n + next, n + i};
        memcpy(c, side, sizeof(side));
        c += 6;
        if (i == 0 || next == 0) continue;
        const uint32_t ends[6] = {0, next, i, n, n + i, n + next};
        memcpy(c, ends, sizeof(ends));
        c += 6;
    }
    CAROM_ASSERT(c == m->corners + 3 * (uint64_t)m->triangle_count);
    return CAROM_OK;
}

static carom_status copy_mesh(carom_context *context, const carom_allocator *allocator,
                              const carom_mesh *from, part_mesh *m) {
    carom_mesh_view v;
    CAROM_TRY(carom_mesh_get_view(from, &v));
    CAROM_TRY(mesh_reserve(context, allocator, v.vertex_count, v.face_count, m));
    uint64_t stride = v.stride != 0
                          ? v.stride
                          : 3 * (v.scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    for (uint64_t i = 0; i < v.vertex_count; ++i) {
        const char *at = (const char *)v.positions + i * stride;
        double d[3];
        float f[3];
        if (v.scalar == CAROM_SCALAR_FLOAT32) {
            memcpy(f, at, sizeof(f));
            for (int k = 0; k < 3; ++k) d[k] = (double)f[k];
        } else {
            memcpy(d, at, sizeof(d));
        }
        m->positions[i] = carom_vec(d[0], d[1], d[2]);
    }
    memcpy(m->corners, v.corners, 3 * v.face_count * sizeof(*m->corners));
    return CAROM_OK;
}

/* Welds and triangulates a mesh, and says whether it encloses space. */
static carom_status mesh_of_view(carom_context *context, const carom_allocator *allocator,
                                 const carom_mesh_view *view, part_mesh *m,
                                 carom_robot_part *part) {
    carom_mesh *welded = NULL, *triangles = NULL;
    carom_mesh_view v;
    carom_mesh_report report = {0};
    carom_status status = carom_mesh_weld(context, view, &welded);
    if (status == CAROM_OK) status = carom_mesh_get_view(welded, &v);
    if (status == CAROM_OK) status = carom_mesh_triangulate(context, &v, NULL, &triangles, NULL);
    if (status == CAROM_OK) status = carom_mesh_get_view(triangles, &v);
    if (status == CAROM_OK) status = carom_mesh_inspect(context, &v, &report);
    if (status == CAROM_OK && v.face_count > UINT32_MAX / 4)
        status = carom_fail(context, CAROM_TOO_LARGE, "a mesh of a robot has 2^30 faces or more");
    if (status == CAROM_OK) status = copy_mesh(context, allocator, triangles, m);
    part->closed = report.balanced && report.edges != 0 && report.volume != 0.0;
    part->open_mesh = !part->closed;
    part->sign = report.volume < 0.0 ? -1 : 1;
    carom_mesh_destroy(welded);
    carom_mesh_destroy(triangles);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint32_t robot_find_root(uint32_t *parent, uint32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* A point of each set of triangles that vertices connect. */
static carom_status make_points(carom_context *context, const carom_allocator *allocator,
                                const part_mesh *m, carom_robot_tree *points) {
    uint32_t *parent = carom_allocate(allocator, m->vertex_count, sizeof(*parent)), count = 0;
    carom_ball *balls = carom_allocate(allocator, m->vertex_count, sizeof(*balls));
    carom_status status = CAROM_OK;
    if (parent == NULL || balls == NULL) {
        status = carom_fail_memory(context, m->vertex_count * sizeof(*balls), "parts of a mesh");
    } else {
        for (uint32_t i = 0; i < m->vertex_count; ++i) {
            parent[i] = i;
            balls[i].radius = 0.0;
        }
        for (uint64_t t = 0; t < m->triangle_count; ++t)
            for (int k = 1; k < 3; ++k) {
                uint32_t a = robot_find_root(parent, m->corners[3 * t]);
                uint32_t b = robot_find_root(parent, m->corners[3 * t + (uint64_t)k]);
                parent[CAROM_MAX(a, b)] = CAROM_MIN(a, b);
            }
        /* The root of a set is its lowest vertex; vertices without faces are sets that no corner
         * names. */
        for (uint64_t t = 0; t < 3 * (uint64_t)m->triangle_count; ++t) {
            uint32_t root = robot_find_root(parent, m->corners[t]);
            if (m->corners[t] == root) balls[root].radius = -1.0;
        }
        for (uint32_t i = 0; i < m->vertex_count; ++i)
            if (parent[i] == i && balls[i].radius == -1.0)
                balls[count++] = (carom_ball){m->positions[i], 0.0};
        status = carom_robot_tree_build(context, allocator, NULL, balls, count, 0.0, points);
    }
    CAROM_RELEASE_ALL(allocator, parent, balls);
    return status;
}

static carom_status make_trees(carom_context *context, const carom_allocator *allocator,
                               const part_mesh *m, double radius, carom_robot_part *part) {
    carom_triangle *t = carom_allocate(allocator, m->triangle_count, sizeof(*t));
    if (t == NULL)
        return carom_fail_memory(context, m->triangle_count * sizeof(*t), "the shape of a body");
    for (uint64_t i = 0; i < m->triangle_count; ++i)
        for (uint64_t k = 0; k < 3; ++k) t[i].corner[k] = m->positions[m->corners[3 * i + k]];
    carom_status status =
        carom_robot_tree_build(context, allocator, t, NULL, m->triangle_count, radius, &part->tree);
    carom_release(allocator, t);
    if (status == CAROM_OK && m->triangle_count != 0)
        status = make_points(context, allocator, m, &part->points);
    return status;
}

static carom_status robot_check_size(carom_context *context, double value, const char *what,
                                     const char *whose) {
    if (value >= 0.0 && value <= CAROM_ROBOT_MOST) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "%s: the %s is %g: it must be from 0 to 2^40 in the unit of lengths", whose,
                      what, value);
}

static carom_status check_shape(carom_context *context, const carom_robot_shape *s,
                                const char *whose) {
    const double numbers[7] = {s->pose.q.w, s->pose.q.x, s->pose.q.y, s->pose.q.z,
                               s->pose.t.x, s->pose.t.y, s->pose.t.z};
    for (int i = 0; i < 7; ++i)
        if (!(fabs(numbers[i]) <= CAROM_ROBOT_MOST))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s: the pose of a shape is not finite, or beyond 2^40", whose);
    CAROM_TRY(robot_check_size(context, s->radius, "radius of a shape", whose));
    CAROM_TRY(robot_check_size(context, s->half_height, "half height of a shape", whose));
    CAROM_TRY(robot_check_size(context, s->half.x, "half side of a box", whose));
    CAROM_TRY(robot_check_size(context, s->half.y, "half side of a box", whose));
    return robot_check_size(context, s->half.z, "half side of a box", whose);
}

static carom_status make_balls(carom_context *context, const carom_allocator *allocator,
                               const carom_robot_shape *shape, const carom_frame *frame,
                               const char *whose, carom_robot_part *part) {
    const carom_ball origin = {{0.0, 0.0, 0.0}, 0.0};
    bool one = shape->kind == CAROM_ROBOT_SHAPE_KIND_SPHERE;
    const carom_ball *from = one ? &origin : shape->balls;
    uint64_t count = one ? 1 : shape->ball_count;
    if (count > UINT32_MAX / 4)
        return carom_fail(context, CAROM_TOO_LARGE, "%s: 2^30 balls or more", whose);
    carom_ball *balls = carom_allocate(allocator, count, sizeof(*balls));
    if (balls == NULL) return carom_fail_memory(context, count * sizeof(*balls), "balls");
    carom_status status = CAROM_OK;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        balls[i] = (carom_ball){carom_frame_apply(frame, from[i].centre), from[i].radius};
        status = robot_check_size(context, from[i].radius, "radius of a ball", whose);
        bool is_near = carom_vec_within(balls[i].centre, CAROM_ROBOT_MOST);
        if (status == CAROM_OK && !is_near)
            status =
                carom_fail(context, CAROM_BAD_INPUT, "%s: ball %llu is not finite, or beyond 2^40",
                           whose, (unsigned long long)i);
    }
    if (status == CAROM_OK)
        status = carom_robot_tree_build(context, allocator, NULL, balls, (uint32_t)count,
                                        shape->radius, &part->tree);
    carom_release(allocator, balls);
    return status;
}

static carom_status robot_make_mesh(carom_context *context, const carom_allocator *allocator,
                                    const carom_robot_shape *shape, part_mesh *m,
                                    carom_robot_part *part) {
    part->sign = 1;
    part->closed = true;
    switch (shape->kind) {
    case CAROM_ROBOT_SHAPE_KIND_BOX:
        return mesh_of_box(context, allocator, shape->half, m);
    case CAROM_ROBOT_SHAPE_KIND_CYLINDER:
        return mesh_of_cylinder(context, allocator, shape->radius, shape->half_height, m);
    case CAROM_ROBOT_SHAPE_KIND_CAPSULE:
        part->closed = false; /* what is in it is at most the radius from its segment */
        CAROM_TRY(mesh_reserve(context, allocator, 2, 1, m));
        m->positions[0] = carom_vec(0.0, 0.0, -shape->half_height);
        m->positions[1] = carom_vec(0.0, 0.0, shape->half_height);
        m->corners[0] = 0;
        m->corners[1] = m->corners[2] = 1;
        return CAROM_OK;
    default:
        return mesh_of_view(context, allocator, shape->mesh, m, part);
    }
}

carom_status carom_robot_part_make(carom_context *context, const carom_allocator *allocator,
                                   const carom_robot_shape *shape, const char *whose,
                                   carom_robot_part *part) {
    *part = (carom_robot_part){.kind = shape->kind, .half = shape->half};
    CAROM_TRY(check_shape(context, shape, whose));
    carom_frame frame = carom_frame_make(&shape->pose);
    part->frame = frame;
    if (shape->kind == CAROM_ROBOT_SHAPE_KIND_SPHERE || shape->kind == CAROM_ROBOT_SHAPE_KIND_BALLS)
        return make_balls(context, allocator, shape, &frame, whose, part);
    part_mesh m = {0};
    carom_status status = robot_make_mesh(context, allocator, shape, &m, part);
    if (status != CAROM_OK) status = carom_fail_in(context, status, "%s", whose);
    for (uint32_t i = 0; i < m.vertex_count && status == CAROM_OK; ++i) {
        m.positions[i] = carom_frame_apply(&frame, m.positions[i]);
        if (!carom_vec_within(m.positions[i], CAROM_ROBOT_MOST))
            status = carom_fail(context, CAROM_BAD_INPUT,
                                "%s: vertex %u of a mesh is beyond 2^40 in size", whose, i);
    }
    bool rounded = shape->kind == CAROM_ROBOT_SHAPE_KIND_CAPSULE;
    if (status == CAROM_OK)
        status = make_trees(context, allocator, &m, rounded ? shape->radius : 0.0, part);
    mesh_free(allocator, &m);
    if (status == CAROM_OK) status = carom_robot_hull_make(context, allocator, part);
    if (status != CAROM_OK) carom_robot_part_free(allocator, part);
    return status;
}

void carom_robot_part_free(const carom_allocator *allocator, carom_robot_part *part) {
    carom_robot_tree_free(allocator, &part->tree);
    carom_robot_tree_free(allocator, &part->points);
    carom_robot_field_free(allocator, &part->field);
    carom_robot_hull_free(allocator, &part->hull);
    *part = (carom_robot_part){0};
}

/* ---- Covers ---------------------------------------------------------------------------------- */

CAROM_ARRAY(robot_ball_list, carom_ball);

/* How much a ball would have to grow to contain a triangle; at most 0: it does. */
static double lacking(const carom_ball *ball, const carom_triangle *t) {
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        double d = carom_length(carom_vec_sub(t->corner[i], ball->centre));
        most = CAROM_MAX(d, most);
    }
    return most * (1.0 + COVER_SLACK) - ball->radius;
}

/* Makes sure that balls [first, count) contain a triangle. Returns by how much balls grew. */
static double cover_triangle(robot_ball_list *list, uint64_t first, const carom_triangle *whole) {
    carom_triangle stack[2 * COVER_HALVINGS + 2];
    int level[2 * COVER_HALVINGS + 2], depth = 1;
    double grown = 0.0;
    stack[0] = *whole;
    level[0] = 0;
    while (depth > 0) {
        carom_triangle t = stack[--depth];
        int halvings = level[depth];
        carom_ball *best = NULL;
        double least = HUGE_VAL;
        for (uint64_t i = first; i < list->count && least > 0.0; ++i) {
            double lack = lacking(&list->data[i], &t);
            if (lack < least) {
                least = lack;
                best = &list->data[i];
            }
        }
        if (least <= 0.0) continue;
        if (halvings == COVER_HALVINGS) {
            best->radius += least * (1.0 + COVER_SLACK);
            grown += least * (1.0 + COVER_SLACK);
            continue;
        }
        int longest = 0;
        double length = -1.0;
        for (int i = 0; i < 3; ++i) {
            carom_vec3 d = carom_vec_sub(t.corner[(i + 1) % 3], t.corner[i]);
            double squared = carom_vec_dot(d, d);
            if (squared > length) {
                length = squared;
                longest = i;
            }
        }
        int next = (longest + 1) % 3;
        carom_vec3 middle = carom_vec_scale(carom_vec_add(t.corner[longest], t.corner[next]), 0.5);
        stack[depth] = stack[depth + 1] = t;
        stack[depth].corner[next] = middle;
        stack[depth + 1].corner[longest] = middle;
        level[depth] = level[depth + 1] = halvings + 1;
        depth += 2;
    }
    return grown;
}

/* One ball around a part. */
static carom_ball ball_around(const carom_robot_part *part) {
    return part->tree.nodes[0].ball;
}

/* The nodes of a tree of balls as a cover: the largest is divided until there are enough. */
static carom_status cover_balls(carom_context *context, const carom_allocator *allocator,
                                const carom_robot_tree *tree, uint64_t spheres,
                                robot_ball_list *list, double *overhang) {
    uint64_t first = list->count, most = CAROM_MAX(spheres, 1);
    if (tree->item_count <= most) {
        for (uint32_t i = 0; i < tree->item_count; ++i) {
            carom_ball b = tree->balls[i];
            b.radius = (b.radius + tree->radius) * (1.0 + COVER_SLACK);
            if (!robot_ball_list_push(list, allocator, b))
                return carom_fail_memory(context, 0, "a cover");
        }
        return CAROM_OK;
    }
    uint32_t *nodes = carom_allocate(allocator, most, sizeof(*nodes));
    if (nodes == NULL) return carom_fail_memory(context, most * sizeof(*nodes), "a cover");
    uint64_t count = 1;
    nodes[0] = 0;
    while (count < most) {
        uint64_t largest = count;
        for (uint64_t i = 0; i < count; ++i)
            if (tree->nodes[nodes[i]].count == 0 &&
                (largest == count ||
                 tree->nodes[nodes[i]].ball.radius > tree->nodes[nodes[largest]].ball.radius))
                largest = i;
        if (largest == count) break;
        uint32_t children = tree->nodes[nodes[largest]].first;
        nodes[largest] = children;
        nodes[count++] = children + 1;
    }
    bool fits = true;
    for (uint64_t i = 0; i < count && fits; ++i)
        fits = robot_ball_list_push(list, allocator, tree->nodes[nodes[i]].ball);
    carom_release(allocator, nodes);
    if (!fits) return carom_fail_memory(context, 0, "a cover");
    for (uint64_t i = first; i < list->count; ++i)
        *overhang = CAROM_MAX(*overhang, 2.0 * list->data[i].radius);
    return CAROM_OK;
}

static carom_status cover_capsule(carom_context *context, const carom_allocator *allocator,
                                  const carom_robot_tree *tree, uint64_t spheres,
                                  robot_ball_list *list, double *overhang) {
    const carom_vec3 *c = tree->triangles[0].corner;
    uint64_t count = CAROM_MAX(spheres, 1);
    carom_vec3 along = carom_vec_sub(c[1], c[0]);
    double half = 0.5 * carom_length(along) / (double)count;
    double radius = (carom_hypot(tree->radius, half) + tree->largest * COVER_SLACK);
    if (count == 1) radius = (tree->radius + half) + tree->largest * COVER_SLACK;
    for (uint64_t i = 0; i < count; ++i) {
        double at = ((double)i + 0.5) / (double)count;
        /* The ends are round: balls there reach as far as the ends do. */
        bool is_end = i == 0 || i + 1 == count;
        double r = is_end ? (tree->radius + half) + tree->largest * COVER_SLACK : radius;
        carom_ball b = {carom_vec_add(c[0], carom_vec_scale(along, at)), r};
        if (!robot_ball_list_push(list, allocator, b))
            return carom_fail_memory(context, 0, "a cover");
        *overhang = CAROM_MAX(*overhang, r - tree->radius);
    }
    return CAROM_OK;
}

/* The faces of a tree as a mesh. */
static carom_status mesh_of_tree(carom_context *context, const carom_allocator *allocator,
                                 const carom_robot_tree *tree, part_mesh *m) {
    CAROM_TRY(
        mesh_reserve(context, allocator, 3 * (uint64_t)tree->item_count, tree->item_count, m));
    for (uint32_t i = 0; i < tree->item_count; ++i)
        for (uint32_t k = 0; k < 3; ++k) {
            m->positions[3 * i + k] = tree->triangles[i].corner[k];
            m->corners[3 * i + k] = 3 * i + k;
        }
    return CAROM_OK;
}

/* Whether a failure concerns the input alone: another cover, or no inner balls, are right too. */
static bool is_refused(carom_status status) {
    return status == CAROM_BAD_INPUT || status == CAROM_TOO_LARGE || status == CAROM_UNSUPPORTED;
}

static carom_status cover_faces(carom_context *context, const carom_allocator *allocator,
                                const carom_robot_part *part, const carom_mesh_view *view,
                                uint64_t spheres, carom_robot_body *body, robot_ball_list *list) {
    carom_cover *cover = NULL;
    carom_cover_spheres found = {0};
    carom_cover_info info;
    uint64_t first = list->count;
    uint64_t count = CAROM_MIN(CAROM_MAX(spheres, 1), CAROM_COVER_MOST_SPHERES);
    carom_cover_def def = {.mesh = view, .allow_open = true, .count = count};
    carom_status status = carom_cover_create_without_volume(context, &def, &cover);
    if (is_refused(status)) {
        ++body->rough;
        body->overhang = HUGE_VAL;
        return robot_ball_list_push(list, allocator, ball_around(part))
                   ? CAROM_OK
                   : carom_fail_memory(context, 0, "a cover");
    }
    if (status == CAROM_OK) status = carom_cover_get_info(cover, &info);
    if (status == CAROM_OK) status = carom_cover_list_spheres(context, cover, &found);
    for (uint64_t i = 0; i < found.count && status == CAROM_OK; ++i)
        if (!robot_ball_list_push(list, allocator, found.data[i]))
            status = carom_fail_memory(context, 0, "a cover");
    double grown = 0.0;
    for (uint32_t i = 0; i < part->tree.item_count && status == CAROM_OK; ++i) {
        double by = cover_triangle(list, first, &part->tree.triangles[i]);
        grown += by;
        if (i % 1024 == 0) status = carom_progress_look(context);
    }
    if (status == CAROM_OK) {
        double out = info.measure.worst.upper + grown;
        body->overhang = CAROM_MAX(body->overhang, out);
    }
    carom_cover_spheres_free(&found);
    carom_cover_destroy(cover);
    return status;
}

static carom_status fill_faces(carom_context *context, const carom_allocator *allocator,
                               const carom_mesh_view *view, uint64_t inner, robot_ball_list *list) {
    carom_packing *packing = NULL;
    carom_packing_spheres found = {0};
    carom_packing_def def = {.mesh = view, .count = inner, .skip_shares = true};
    carom_status status = carom_packing_create_without_volume(context, &def, &packing);
    if (is_refused(status)) return CAROM_OK;
    if (status == CAROM_OK) status = carom_packing_list_spheres(context, packing, &found);
    for (uint64_t i = 0; i < found.count && status == CAROM_OK; ++i)
        if (!robot_ball_list_push(list, allocator,
                                  (carom_ball){found.data[i].centre, found.data[i].radius}))
            status = carom_fail_memory(context, 0, "balls inside of a body");
    carom_packing_spheres_free(&found);
    carom_packing_destroy(packing);
    return status;
}

/* Balls inside of a capsule or of balls: those themselves. */
static bool robot_fill_round(const carom_allocator *allocator, const carom_robot_part *part,
                             uint64_t inner, robot_ball_list *list) {
    const carom_robot_tree *t = &part->tree;
    if (t->triangles == NULL) {
        for (uint32_t i = 0; i < t->item_count && i < inner; ++i) {
            carom_ball b = {t->balls[i].centre, t->balls[i].radius + t->radius};
            if (!robot_ball_list_push(list, allocator, b)) return false;
        }
        return true;
    }
    for (uint64_t i = 0; i < inner; ++i) {
        double at = inner > 1 ? (double)i / (double)(inner - 1) : 0.5;
        const carom_vec3 *c = t->triangles[0].corner;
        carom_vec3 centre = carom_vec_add(c[0], carom_vec_scale(carom_vec_sub(c[1], c[0]), at));
        if (!robot_ball_list_push(list, allocator, (carom_ball){centre, t->radius})) return false;
    }
    return true;
}

static carom_status cover_part(carom_context *context, const carom_allocator *allocator,
                               const carom_robot_part *part, uint64_t spheres, uint64_t inner,
                               carom_robot_body *body, robot_ball_list *cover,
                               robot_ball_list *balls) {
    part_mesh m = {0};
    if (part->tree.item_count == 0) return CAROM_OK;
    bool is_capsule = part->kind == CAROM_ROBOT_SHAPE_KIND_CAPSULE;
    if (part->tree.triangles == NULL || is_capsule) {
        CAROM_TRY(
            is_capsule
                ? cover_capsule(context, allocator, &part->tree, spheres, cover, &body->overhang)
                : cover_balls(context, allocator, &part->tree, spheres, cover, &body->overhang));
        return robot_fill_round(allocator, part, inner, balls)
                   ? CAROM_OK
                   : carom_fail_memory(context, 0, "balls inside of a body");
    }
    carom_status status = mesh_of_tree(context, allocator, &part->tree, &m);
    carom_mesh_view view = robot_view_of(&m);
    if (status == CAROM_OK)
        status = cover_faces(context, allocator, part, &view, spheres, body, cover);
    if (status == CAROM_OK && part->closed && inner != 0)
        status = fill_faces(context, allocator, &view, inner, balls);
    mesh_free(allocator, &m);
    return status;
}

/* The cover of all parts, and balls inside of them where `inner` is not 0. */
static carom_status cover_parts(carom_context *context, const carom_allocator *allocator,
                                carom_robot_body *body, uint64_t spheres, uint64_t inner,
                                robot_ball_list *cover, robot_ball_list *balls) {
    carom_status status = CAROM_OK;
    double total = 0.0;
    body->overhang = body->largest = 0.0;
    body->rough = 0;
    for (uint32_t i = 0; i < body->part_count; ++i) {
        const carom_robot_tree *t = &body->parts[i].tree;
        if (t->item_count == 0) continue;
        total += t->nodes[0].ball.radius;
        body->largest = CAROM_MAX(t->largest, body->largest);
    }
    for (uint32_t i = 0; i < body->part_count && status == CAROM_OK; ++i) {
        const carom_robot_part *part = &body->parts[i];
        if (part->tree.item_count == 0) continue;
        double share = total > 0.0 ? part->tree.nodes[0].ball.radius / total : 1.0;
        status = cover_part(context, allocator, part, (uint64_t)(share * (double)spheres + 0.5),
                            inner, body, cover, balls);
    }
    for (uint64_t i = 0; i < cover->count && status == CAROM_OK; ++i)
        CAROM_ASSERT(cover->data[i].radius >= 0.0 && cover->data[i].radius < HUGE_VAL);
    CAROM_ASSERT(body->overhang >= 0.0 && body->largest >= 0.0);
    if (status != CAROM_OK) {
        robot_ball_list_release(cover, allocator);
        robot_ball_list_release(balls, allocator);
    }
    return status;
}

carom_status carom_robot_body_cover(carom_context *context, const carom_allocator *allocator,
                                    carom_robot_body *body, uint64_t spheres, uint64_t inner) {
    robot_ball_list cover = {0}, balls = {0};
    CAROM_TRY(cover_parts(context, allocator, body, spheres, inner, &cover, &balls));
    body->fine_overhang = body->overhang;
    body->cover = cover.data;
    body->cover_count = (uint32_t)cover.count;
    body->inner = balls.data;
    body->inner_count = (uint32_t)balls.count;
    return CAROM_OK;
}

carom_status carom_robot_body_refine(carom_context *context, const carom_allocator *allocator,
                                     carom_robot_body *body, uint64_t spheres, uint64_t inner) {
    robot_ball_list cover = {0}, balls = {0};
    carom_robot_body fine = *body; /* what is measured of it */
    if (spheres <= body->cover_count || body->rough != 0) return CAROM_OK;
    CAROM_TRY(cover_parts(context, allocator, &fine, spheres, inner, &cover, &balls));
    if (balls.count > body->inner_count && balls.count <= UINT32_MAX / 16) {
        carom_release(allocator, body->inner);
        body->inner = balls.data;
        body->inner_count = (uint32_t)balls.count;
    } else {
        robot_ball_list_release(&balls, allocator);
    }
    if (fine.rough != 0 || cover.count <= body->cover_count || cover.count > UINT32_MAX / 16) {
        robot_ball_list_release(&cover, allocator);
        return CAROM_OK;
    }
    body->fine = cover.data;
    body->fine_count = (uint32_t)cover.count;
    body->fine_overhang = fine.overhang;
    return CAROM_OK;
}

void carom_robot_body_free(const carom_allocator *allocator, carom_robot_body *body) {
    for (uint32_t i = 0; i < body->part_count; ++i)
        carom_robot_part_free(allocator, &body->parts[i]);
    carom_robot_field_free(allocator, &body->field);
    CAROM_RELEASE_ALL(allocator, body->parts, body->cover, body->inner, body->fine);
    *body = (carom_robot_body){0};
}
