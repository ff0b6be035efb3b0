/* SPDX-License-Identifier: MIT */
/* The demo's section on scenes: the parts of a shattered block, moved together step by step, and
 * the cost of steps of many convex objects. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/boxes.h"

#define SIZES 3
#define STEPS 4 /* the fastest counts */
#define RINGS 24u

static const uint64_t counts[SIZES] = {1000, 10000, 100000};

/* ---- Rings ----------------------------------------------------------------------------------- */

typedef struct heap {
    carom_mesh *mesh;
    carom_solid *ring;
    carom_pose poses[RINGS];
    carom_scene *scene;
} heap;

/* Rings in random poses around the origin, all of one mesh. */
static carom_status make_heap(carom_context *context, heap *h) {
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 64, .ratio = 0.2};
    carom_scene_object_def objects[RINGS];
    carom_mesh_view view;
    carom_random random = {3};
    carom_status status = carom_shape_make(context, &def, &h->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(h->mesh, &view);
    if (status == CAROM_OK)
        status = carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &h->ring);
    if (status == CAROM_OK) status = carom_scene_create(context, NULL, &h->scene);
    for (uint32_t i = 0; i < RINGS; ++i) {
        double *numbers[] = {&h->poses[i].q.w, &h->poses[i].q.x, &h->poses[i].q.y, &h->poses[i].q.z,
                             &h->poses[i].t.x, &h->poses[i].t.y, &h->poses[i].t.z};
        for (int k = 0; k < 7; ++k)
            *numbers[k] = (k < 4 ? 1.0 : 2.0) * carom_random_normal(&random);
        objects[i] = (carom_scene_object_def){
            .kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = h->ring, .pose = h->poses[i]};
    }
    return status == CAROM_OK ? carom_scene_add(context, h->scene, objects, RINGS, NULL) : status;
}

static void free_heap(heap *h) {
    carom_scene_destroy(h->scene);
    carom_solid_destroy(h->ring);
    carom_mesh_destroy(h->mesh);
}

/* Moves the rings towards the middle, and lists how many overlap by how much. */
static carom_status close_up(demo *demo, const heap *h) {
    static const char *const heads[] = {"scaled to", "contacts", "begun", "volume in two",
                                        "deepest"};
    carom_context *context = demo->cli->context;
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0};
    carom_status status = CAROM_OK;
    page_begin_table(&demo->page, heads, 5);
    for (int step = 0; step <= 4 && status == CAROM_OK; ++step) {
        carom_pose poses[RINGS];
        double to = 1.0 - 0.1 * step, volume = 0.0, deepest = 0.0;
        for (uint32_t i = 0; i < RINGS; ++i) {
            carom_vec3 t = h->poses[i].t;
            poses[i] = h->poses[i];
            poses[i].t = (carom_vec3){to * t.x, to * t.y, to * t.z};
        }
        status = carom_scene_move(context, h->scene, NULL, poses, RINGS);
        if (status == CAROM_OK)
            status = carom_scene_step(context, h->scene, &contacts, &begun, NULL);
        for (uint64_t i = 0; i < contacts.count && status == CAROM_OK; ++i) {
            volume += contacts.data[i].volume;
            deepest = fmax(deepest, contacts.data[i].depth);
        }
        char text[5][32];
        snprintf(text[0], sizeof(text[0]), "%.0f %%", 100.0 * to);
        snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)contacts.count);
        snprintf(text[2], sizeof(text[2]), "%llu", (unsigned long long)begun.count);
        snprintf(text[3], sizeof(text[3]), "%.4g", volume);
        snprintf(text[4], sizeof(text[4]), "%.4g", deepest);
        const char *const cells[] = {text[0], text[1], text[2], text[3], text[4]};
        page_row(&demo->page, cells, 5);
    }
    page_end_table(&demo->page);
    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    return status;
}

/* ---- Many convex objects --------------------------------------------------------------------- */

typedef struct cost {
    double step, tenth; /* seconds */
    uint64_t contacts;
} cost;

static carom_status measure(carom_context *context, uint64_t count, cost *c) {
    scene_boxes boxes;
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    carom_scene_object_def *objects = calloc((size_t)count, sizeof(*objects));
    carom_pose *poses = calloc((size_t)count, sizeof(*poses));
    bool made = scene_boxes_make(count, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &boxes);
    carom_status status = made && objects != NULL && poses != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        carom_convex ball = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = boxes.half[i]};
        carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX,
                            .half = {boxes.half[i], boxes.half[i], boxes.half[i]}};
        objects[i].convex = i % 2 == 0 ? ball : box;
        objects[i].pose.t = boxes.centres[i];
    }
    if (status == CAROM_OK) status = carom_scene_create(context, NULL, &scene);
    if (status == CAROM_OK) status = carom_scene_add(context, scene, objects, count, NULL);
    for (int i = 0; i < 2 * STEPS && status == CAROM_OK; ++i) {
        uint64_t moving = i < STEPS ? count : count / 10;
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
    static const char *const heads[] = {"objects", "contacts", "step", "a tenth moves"};
    page *page = &demo->page;
    heap h = {0};
    page_section(page, "Scenes",
                 "All contacts of many objects in one call: pair, relation, points, normal, depth, "
                 "distance or volume, each with its error. Here rings are moved together until "
                 "they overlap. "
                 "The depth is how far one must move until two no longer do.");
    carom_status status = make_heap(demo->cli->context, &h);
    if (status == CAROM_OK) status = close_up(demo, &h);
    free_heap(&h);
    if (status != CAROM_OK) return status;
    page_begin_table(page, heads, 4);
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        cost c = {0};
        char text[4][32];
        status = measure(demo->cli->context, counts[i], &c);
        snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)counts[i]);
        snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)c.contacts);
        snprintf(text[2], sizeof(text[2]), "%.2f ms", 1e3 * c.step);
        snprintf(text[3], sizeof(text[3]), "%.2f ms", 1e3 * c.tenth);
        const char *const cells[] = {text[0], text[1], text[2], text[3]};
        page_row(page, cells, 4);
        snprintf(demo->result, sizeof(demo->result),
                 "%llu moving balls and boxes: all %llu contacts of a step in %.1f ms",
                 (unsigned long long)counts[i], (unsigned long long)c.contacts, 1e3 * c.step);
    }
    page_end_table(page);
    return status;
}

const demo_part demo_scene = {68, "scene", "all contacts of many objects", run};
