/* SPDX-License-Identifier: MIT */
/* Robots by formula, in metres. Texts are put together piece by piece; what does not fit leaves the
 * writer full, and the length is then 0. Worlds are scaled to the reach of the robot, so that part
 * of its configurations collide with them. */
#include "scenes/robots.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "scenes/arm.h"

#define ARM_REACH   1.3  /* metres: of scenes/arm.h, whose boxes are used */
#define KNOT_DETAIL 3960 /* steps along the knot, 48 triangles each */
#define RING_DETAIL 448  /* steps around the ring and half as many around its tube */

/* ---- Robots ---------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t size, length;
    bool is_full;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
    va_list arguments;
    if (w->is_full) return;
    va_start(arguments, format);
    int length = vsnprintf(w->text + w->length, w->size - w->length, format, arguments);
    va_end(arguments);
    w->is_full = length < 0 || (size_t)length >= w->size - w->length;
    if (!w->is_full) w->length += (size_t)length;
}

/* A link with one element at z. */
static void put_link(writer *w, const char *name, const char *geometry, double x, double z) {
    put(w,
        "<link name='%s'><collision><origin xyz='%g 0 %g'/><geometry><%s/></geometry></collision>"
        "</link>\n",
        name, x, z, geometry);
}

static void put_joint(writer *w, const char *type, const char *parent, const char *child,
                      const char *origin, const char *axis, double limit, const char *more) {
    put(w,
        "<joint name='%s_joint' type='%s'><parent link='%s'/><child link='%s'/><origin "
        "xyz='%s'/><axis xyz='%s'/><limit lower='%g' upper='%g' effort='1' velocity='1'/>%s"
        "</joint>\n",
        child, type, parent, child, origin, axis, -limit, limit, more);
}

static void put_scara(writer *w) {
    put_link(w, "base", "cylinder radius='0.1' length='0.3'", 0.0, 0.15);
    put_link(w, "upper", "box size='0.4 0.12 0.08'", 0.2, 0.05);
    put_link(w, "fore", "box size='0.3 0.1 0.08'", 0.15, 0.05);
    put_link(w, "spindle", "cylinder radius='0.02' length='0.4'", 0.0, 0.0);
    put_link(w, "left", "box size='0.02 0.04 0.08'", 0.02, -0.04);
    put_link(w, "right", "box size='0.02 0.04 0.08'", -0.02, -0.04);
    put_joint(w, "revolute", "base", "upper", "0 0 0.3", "0 0 1", 2.8, "");
    put_joint(w, "revolute", "upper", "fore", "0.4 0 0.09", "0 0 1", 2.9, "");
    put_joint(w, "prismatic", "fore", "spindle", "0.3 0 -0.02", "0 0 2", 0.15, "");
    put_joint(w, "prismatic", "spindle", "left", "0 0 -0.2", "1 0 0", 0.02, "");
    put_joint(w, "prismatic", "spindle", "right", "0 0 -0.2", "1 0 0", 0.02,
              "<mimic joint='left_joint' multiplier='-1'/>");
}

static void put_gantry(writer *w) {
    put_link(w, "frame", "box size='0.1 1.2 0.1'", -0.6, 1.0);
    put_link(w, "bridge", "box size='1.2 0.08 0.08'", 0.0, 0.92);
    put_link(w, "carriage", "box size='0.12 0.14 0.1'", 0.0, 0.0);
    put_link(w, "column", "cylinder radius='0.03' length='0.7'", 0.0, -0.2);
    put_link(w, "wrist", "box size='0.2 0.05 0.05'", 0.06, 0.0);
    put_link(w, "tool", "sphere radius='0.05'", 0.0, -0.06);
    put_joint(w, "prismatic", "frame", "bridge", "0 0 0", "0 1 0", 0.5, "");
    put_joint(w, "prismatic", "bridge", "carriage", "0 0 0.85", "1 0 0", 0.5, "");
    put_joint(w, "prismatic", "carriage", "column", "0 0.12 0", "0 0 1", 0.3, "");
    put_joint(w, "continuous", "column", "wrist", "0 0 -0.58", "0 0 1", 0.0, "");
    put_joint(w, "revolute", "wrist", "tool", "0.16 0 0", "0 1 0", 2.0, "");
}

/* Links of 5 cm that turn about x, y and z, of three kinds. */
static void put_chain(writer *w) {
    static const char *const kinds[3] = {"box size='0.02 0.015 0.04'",
                                         "cylinder radius='0.01' length='0.04'",
                                         "sphere radius='0.015'"};
    static const char *const axes[3] = {"1 0 0", "0 1 0", "0 0 1"};
    for (int i = 0; i < SCENE_ROBOT_CHAIN_LINKS; ++i) {
        char name[16], parent[16];
        snprintf(name, sizeof(name), "l%d", i);
        snprintf(parent, sizeof(parent), "l%d", i - 1);
        put_link(w, name, kinds[i % 3], 0.0, 0.025);
        if (i > 0)
            put_joint(w, i % 7 == 0 ? "continuous" : "revolute", parent, name, "0 0 0.05",
                      axes[i % 7 == 0 ? 2 : i % 3], 0.35, "");
    }
}

static void put_ring(writer *w) {
    put_link(w, "base", "cylinder radius='0.12' length='0.2'", 0.0, 0.1);
    put_link(w, "column", "box size='0.1 0.1 0.3'", 0.0, 0.15);
    put_link(w, "ring", "mesh filename='" SCENE_ROBOT_RING_FILE "' scale='0.25 0.25 0.35'", 0.3,
             0.0);
    put_link(w, "hand", "box size='0.1 0.04 0.2'", 0.0, 0.1);
    put_link(w, "inner", "sphere radius='0.05'", 0.0, 0.0);
    put_joint(w, "revolute", "base", "column", "0 0 0.2", "0 0 1", 3.0, "");
    put_joint(w, "revolute", "column", "ring", "0.05 0 0.3", "0 1 0", 1.5, "");
    put_joint(w, "revolute", "ring", "hand", "0.6 0 0", "0 1 1", 2.5, "");
    put_joint(w, "prismatic", "column", "inner", "0.35 0 0.3", "1 0 0.5", 0.3, "");
}

const char *scene_robot_name(scene_robot robot) {
    static const char *const names[SCENE_ROBOT_COUNT] = {"scara", "gantry", "chain", "ring"};
    return names[robot];
}

size_t scene_robot_write(scene_robot robot, char *text, size_t size) {
    static void (*const bodies[SCENE_ROBOT_COUNT])(writer *) = {put_scara, put_gantry, put_chain,
                                                                put_ring};
    writer w = {.text = text, .size = size};
    put(&w, "<robot name='%s'>\n", scene_robot_name(robot));
    bodies[robot](&w);
    put(&w, "</robot>\n");
    return w.is_full ? 0 : w.length;
}

carom_shape_def scene_robot_ring(void) {
    return (carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = RING_DETAIL, .ratio = 0.2};
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

const char *scene_cell_name(scene_cell_kind kind) {
    static const char *const names[SCENE_CELL_KIND_COUNT] = {"empty", "boxes", "knot", "shelf",
                                                             "cloud"};
    return names[kind];
}

static void add_box(scene_cell *cell, carom_vec3 centre, carom_vec3 half) {
    cell->objects[cell->count++] = (carom_robot_shape){
        .kind = CAROM_ROBOT_SHAPE_KIND_BOX, .pose = {{1.0, 0.0, 0.0, 0.0}, centre}, .half = half};
}

/* The boxes of the arm, enlarged. */
static void make_boxes(double reach, scene_cell *cell) {
    scene_arm arm;
    double scale = reach / ARM_REACH;
    scene_arm_make(&arm);
    for (uint32_t i = 0; i < SCENE_ARM_OBJECTS; ++i) {
        carom_robot_shape *s = &cell->objects[cell->count++];
        *s = arm.objects[i];
        s->pose.t = (carom_vec3){scale * s->pose.t.x, scale * s->pose.t.y, scale * s->pose.t.z};
        s->half = (carom_vec3){scale * s->half.x, scale * s->half.y, scale * s->half.z};
    }
}

/* Four boards, two sides and a back, open towards the robot. */
static void make_shelf(double r, scene_cell *cell) {
    const double depth = 0.12 * r, width = 0.4 * r, thick = 0.01 * r, at = 0.6 * r;
    for (int i = 0; i < 4; ++i)
        add_box(cell, (carom_vec3){at, 0.0, r * (0.1 + 0.25 * i)},
                (carom_vec3){depth, width, thick});
    for (int side = -1; side <= 1; side += 2)
        add_box(cell, (carom_vec3){at, side * width, 0.475 * r},
                (carom_vec3){depth, thick, 0.385 * r});
    add_box(cell, (carom_vec3){at + depth, 0.0, 0.475 * r}, (carom_vec3){thick, width, 0.385 * r});
}

/* A quarter of a barrel behind the robot, with waves. */
static void make_cloud(double r, scene_cell *cell) {
    carom_random random = {7};
    for (uint32_t i = 0; i < SCENE_CELL_POINTS; ++i) {
        double angle = carom_random_between(&random, 2.0, 4.2);
        double z = carom_random_between(&random, 0.0, r);
        double far = r * (0.55 + 0.1 * carom_sin(5.0 * angle) * carom_sin(9.0 * z / r));
        cell->points[i] = (carom_ball){{far * carom_cos(angle), far * carom_sin(angle), z},
                                       carom_random_between(&random, 0.0, 0.002 * r)};
    }
    cell->objects[cell->count++] = (carom_robot_shape){.kind = CAROM_ROBOT_SHAPE_KIND_BALLS,
                                                       .balls = cell->points,
                                                       .ball_count = SCENE_CELL_POINTS,
                                                       .radius = 0.004 * r};
}

carom_status scene_cell_make(carom_context *context, scene_cell_kind kind, double reach,
                             uint64_t detail, scene_cell *cell) {
    memset(cell, 0, sizeof(*cell));
    if (kind == SCENE_CELL_KIND_BOXES) make_boxes(reach, cell);
    if (kind == SCENE_CELL_KIND_SHELF) make_shelf(reach, cell);
    if (kind == SCENE_CELL_KIND_CLOUD) make_cloud(reach, cell);
    if (kind != SCENE_CELL_KIND_KNOT) return CAROM_OK;
    carom_shape_def def = {.shape = CAROM_SHAPE_KNOT,
                           .detail = detail != 0 ? detail : KNOT_DETAIL,
                           .size = 0.8 * reach};
    carom_status status = carom_shape_make(context, &def, &cell->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(cell->mesh, &cell->view);
    cell->objects[cell->count++] = (carom_robot_shape){
        .pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.35 * reach}}, .mesh = &cell->view};
    return status;
}

void scene_cell_free(scene_cell *cell) {
    carom_mesh_destroy(cell->mesh);
    cell->mesh = NULL;
}
