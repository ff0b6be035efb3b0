/* SPDX-License-Identifier: MIT */
/* The demo's section on scenes: rings that move together until they overlap, with the place of each
 * contact, and the cost of a step of many convex objects. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/boxes.h"

#define MANY   100000u
#define STEPS  4 /* the fastest counts */
#define RINGS  24u
#define FRAMES 61

#define MARK_RADIUS 0.21               /* of a contact: a little more than that of a ring's tube */
#define BALL        0.2387324146378430 /* 3 / (4 pi): r^3 of a ball of volume 1 */

/* ---- Rings ----------------------------------------------------------------------------------- */

typedef struct heap {
    demo_shape ring[RINGS];
    carom_solid *solid;
    carom_pose poses[RINGS];
    carom_scene *scene;
    carom_scene_contacts contacts;
    double times[FRAMES], count[FRAMES], volume[FRAMES];
} heap;

/* Rings in random poses around the origin, all of one mesh. */
static carom_status make_heap(demo *demo, heap *h) {
    carom_context *context = demo->cli->context;
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 32, .ratio = 0.2};
    carom_scene_object_def objects[RINGS];
    carom_random random = {3};
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; i < RINGS && status == CAROM_OK; ++i)
        status = demo_shape_open(demo, &def, NULL, &h->ring[i]);
    if (status == CAROM_OK)
        status =
            carom_solid_create(context, &(carom_solid_def){.mesh = &h->ring[0].view}, &h->solid);
    if (status == CAROM_OK)
        status = carom_scene_create(context, &(carom_scene_def){.skip_depth = true}, &h->scene);
    for (uint32_t i = 0; i < RINGS; ++i) {
        double *numbers[] = {&h->poses[i].q.w, &h->poses[i].q.x, &h->poses[i].q.y, &h->poses[i].q.z,
                             &h->poses[i].t.x, &h->poses[i].t.y, &h->poses[i].t.z};
        for (int k = 0; k < 7; ++k)
            *numbers[k] = (k < 4 ? 1.0 : 2.2) * carom_random_normal(&random);
        objects[i] = (carom_scene_object_def){
            .kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = h->solid, .pose = h->poses[i]};
    }
    return status == CAROM_OK ? carom_scene_add(context, h->scene, objects, RINGS, NULL) : status;
}

static void free_heap(heap *h) {
    carom_scene_contacts_free(&h->contacts);
    carom_scene_destroy(h->scene);
    carom_solid_destroy(h->solid);
    for (uint32_t i = 0; i < RINGS; ++i) demo_shape_close(&h->ring[i]);
    free(h);
}

/* One step: the rings nearer to the middle, and the marks of their contacts. */
static carom_status add_step(demo *demo, heap *h, display *d, int frame) {
    carom_pose poses[RINGS];
    double to = 1.3 - 0.6 * frame / (FRAMES - 1.0);
    for (uint32_t i = 0; i < RINGS; ++i) {
        carom_vec3 t = h->poses[i].t;
        poses[i] = h->poses[i];
        poses[i].t = (carom_vec3){to * t.x, to * t.y, to * t.z};
        display_add_pose(d, display_mesh_part(&h->ring[i].shown, 0), poses[i]);
    }
    carom_status status = carom_scene_move(demo->cli->context, h->scene, NULL, poses, RINGS);
    if (status == CAROM_OK)
        status = carom_scene_step(demo->cli->context, h->scene, &h->contacts, NULL, NULL);
    if (status != CAROM_OK) return status;
    h->times[frame] = 0.1 * frame;
    h->count[frame] = (double)h->contacts.count;
    display_add_time(d, h->times[frame]);
    if (h->contacts.count == 0) return CAROM_OK;
    display_item *marks = display_add(d, DISPLAY_SPHERES, "contacts");
    marks->colour = (display_colour){217, 48, 37, 255};
    for (uint64_t i = 0; i < h->contacts.count; ++i) {
        const carom_scene_contact *c = &h->contacts.data[i];
        h->volume[frame] += c->volume;
        if (c->point_count != 0)
            display_add_sphere(d, marks, c->points[0].point_a,
                               MARK_RADIUS + cbrt(BALL * c->volume));
    }
    display_show_during(marks, (uint64_t)frame, (uint64_t)frame + 1);
    return CAROM_OK;
}

static carom_status show(demo *demo) {
    heap *h = calloc(1, sizeof(*h));
    if (h == NULL) return CAROM_NO_MEMORY;
    display d;
    display_begin(&d, demo->cli,
                  "24 rings move together. A red ball marks each contact; it is the larger, the "
                  "more they overlap.");
    carom_status status = make_heap(demo, h);
    for (uint32_t i = 0; i < RINGS && status == CAROM_OK; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "ring %u", i);
        (void)demo_shape_add(&d, &h->ring[i], name);
    }
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) status = add_step(demo, h, &d, i);
    if (status == CAROM_OK) {
        display_add_series(&d, display_add_plot(&d, "Contacts", "time", ""), "contacts", h->times,
                           h->count, FRAMES);
        display_add_series(&d, display_add_plot(&d, "Volume in two rings", "time", ""), "volume",
                           h->times, h->volume, FRAMES);
        d.still = FRAMES / 2;
        status = demo_show(demo, &d, "Many rings close together; balls mark where they touch");
    }
    free_heap(h);
    display_free(&d);
    return status;
}

/* ---- Many convex objects --------------------------------------------------------------------- */

typedef struct cost {
    double step, tenth; /* seconds */
    uint64_t contacts;
} cost;

static carom_status measure(carom_context *context, cost *c) {
    scene_boxes boxes;
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    carom_scene_object_def *objects = calloc(MANY, sizeof(*objects));
    carom_pose *poses = calloc(MANY, sizeof(*poses));
    bool made = scene_boxes_make(MANY, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &boxes);
    carom_status status = made && objects != NULL && poses != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < MANY && status == CAROM_OK; ++i) {
        carom_convex ball = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = boxes.half[i]};
        carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX,
                            .half = {boxes.half[i], boxes.half[i], boxes.half[i]}};
        objects[i].convex = i % 2 == 0 ? ball : box;
        objects[i].pose.t = boxes.centres[i];
    }
    if (status == CAROM_OK) status = carom_scene_create(context, NULL, &scene);
    if (status == CAROM_OK) status = carom_scene_add(context, scene, objects, MANY, NULL);
    for (int i = 0; i < 2 * STEPS && status == CAROM_OK; ++i) {
        uint64_t moving = i < STEPS ? MANY : MANY / 10;
        scene_boxes_move(&boxes, 0, moving);
        for (uint64_t k = 0; k < moving; ++k) poses[k].t = boxes.centres[k];
        double start = carom_time_seconds();
        status = carom_scene_move(context, scene, NULL, poses, moving);
        if (status == CAROM_OK) status = carom_scene_step(context, scene, &contacts, NULL, NULL);
        double seconds = carom_time_seconds() - start, *best = i < STEPS ? &c->step : &c->tenth;
        if (i == 0 || i == STEPS || seconds < *best) *best = seconds;
    }
    c->contacts = contacts.count;
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    scene_boxes_free(&boxes);
    free(objects);
    free(poses);
    return status;
}

static carom_status run(demo *demo) {
    cost c = {0};
    carom_status status = show(demo);
    if (status == CAROM_OK) status = measure(demo->cli->context, &c);
    snprintf(demo->number, sizeof(demo->number), "%.1f ms", 1e3 * c.step);
    snprintf(
        demo->words, sizeof(demo->words),
        "for a step in which all of 100,000 balls and boxes move, with all %llu contacts, on this "
        "machine. Where a tenth moves, %.1f ms.",
        (unsigned long long)c.contacts, 1e3 * c.tenth);
    snprintf(demo->result, sizeof(demo->result),
             "%u moving balls and boxes: all %llu contacts of a step in %.1f ms", MANY,
             (unsigned long long)c.contacts, 1e3 * c.step);
    return status;
}

const demo_part demo_scene = {
    66,
    "scene",
    "all contacts of many objects",
    "Which of many objects touch or overlap, where and how deep?",
    "One call per step gives all contacts of solids, soups, packings and convex shapes: the pair, "
    "how they lie, points, normal, depth, distance or volume, each with its error.",
    "For 100,000 balls, boxes or hulls that move, Bullet 3.24 took on the order of 5 to 10 times "
    "as long on one thread (bench/results/xeon-avx512-2core/scene.csv).",
    "carom make chain --parts 6 -o chain.ply\n"
    "carom make knot -o knot.stl\n"
    "carom scene chain.ply knot.stl -o report.html",
    run};
