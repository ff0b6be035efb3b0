/* SPDX-License-Identifier: MIT */
/* What carom robot found, to look at. Time is the number of the configuration: the robot stands in
 * each until the next one, as nothing was asked about what is between them. A motion takes a unit
 * of time: it runs to its first collision, or to its end, and rests there. */
#include "cli/robot_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/meshes.h"
#include "cli/platform.h"
#include "cli/pose.h"

#define MOST_CONFIGURATIONS 500u /* that are shown, the first ones */
#define MOST_MOTIONS        50u
#define STEPS               24u /* of a motion, whose poses are computed */
#define RESTS               4u  /* further ones, at its end */
#define FRAMES              (STEPS + RESTS + 1)
#define JUMP                1e-3 /* of the time of a motion, between two of them */

typedef struct robot_display {
    display d;
    const robot_show_def *def;
    display_item **links;   /* NULL where a link has no shape */
    display_item **objects; /* of the world */
    uint64_t shown;         /* configurations or motions */
} robot_display;

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Adds the triangles of a mesh to an item. */
static carom_status add_triangles(display *d, display_item *item, const carom_mesh *mesh,
                                  const carom_pose *pose) {
    carom_mesh_view view;
    display_mesh shown = {0};
    carom_status status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = display_mesh_open(d->cli, &view, false, pose, &shown);
    if (status == CAROM_OK) display_add_whole(d, item, &shown);
    display_mesh_close(&shown);
    return status;
}

/* The elements of a link, in its frame. */
static carom_status add_elements(robot_display *r, const carom_urdf_view *v, uint32_t link) {
    const carom_urdf_link *l = &v->links[link];
    carom_status status = CAROM_OK;
    if (l->count != 0) r->links[link] = display_add(&r->d, DISPLAY_PART, l->name);
    for (uint32_t i = l->first; i < l->first + l->count && status == CAROM_OK; ++i) {
        const carom_urdf_element *e = &v->elements[i];
        carom_mesh *mesh;
        double matrix[12];
        status = carom_urdf_load_mesh(r->d.cli->context, r->def->urdf, i, &mesh);
        if (status != CAROM_OK) break;
        pose_matrix(&e->origin, matrix);
        status = mesh != NULL ? add_triangles(&r->d, r->links[link], mesh, &e->origin)
                              : display_add_shape(&r->d, r->links[link], &e->shape, matrix);
        carom_mesh_destroy(mesh);
    }
    return status;
}

/* The spheres that contain a link, in its frame. */
static carom_status add_cover(robot_display *r, uint32_t link) {
    carom_robot_balls balls = {0};
    carom_status status = carom_robot_list_cover(r->d.cli->context, r->def->robot, link, &balls);
    if (status == CAROM_OK && balls.count != 0)
        r->links[link] =
            display_add(&r->d, DISPLAY_SPHERES, carom_robot_link_name(r->def->robot, link));
    for (uint64_t i = 0; i < balls.count && status == CAROM_OK; ++i)
        display_add_sphere(&r->d, r->links[link], balls.data[i].centre, balls.data[i].radius);
    carom_robot_balls_free(&balls);
    return status;
}

static carom_status add_world(robot_display *r) {
    const arg_list *world = r->def->world;
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < world->count && status == CAROM_OK; ++i) {
        carom_mesh *mesh = NULL;
        status = meshes_load(r->d.cli, world->values[i], CAROM_MESH_FORMAT_GUESS, false, &mesh);
        r->objects[i] = display_add(&r->d, DISPLAY_PART, carom_os_file_name(world->values[i]));
        r->objects[i]->ghost = true;
        if (status == CAROM_OK) status = add_triangles(&r->d, r->objects[i], mesh, NULL);
        carom_mesh_destroy(mesh);
    }
    return status;
}

static carom_status add_bodies(robot_display *r) {
    carom_urdf_view v = {0};
    carom_status status = CAROM_OK;
    if (r->def->urdf != NULL) status = carom_urdf_get_view(r->def->urdf, &v);
    for (uint32_t i = 0; i < r->def->links && status == CAROM_OK; ++i)
        status = r->def->urdf != NULL ? add_elements(r, &v, i) : add_cover(r, i);
    return status == CAROM_OK ? add_world(r) : status;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* The joint values of a motion at one of its frames. */
static void values_at(const robot_display *r, uint64_t motion, uint64_t frame, double *values) {
    const robot_show_def *def = r->def;
    const double *from = def->values + motion * 2 * def->dof, *to = from + def->dof;
    bool colliding = def->moved[motion].verdict == CAROM_ROBOT_VERDICT_COLLIDING;
    double t = frame < STEPS ? (double)frame / (double)STEPS : 1.0;
    if (colliding) t *= def->moved[motion].contact;
    for (uint32_t i = 0; i < def->dof; ++i) values[i] = (1.0 - t) * from[i] + t * to[i];
}

/* Poses the links in a configuration, for one more time. */
static carom_status pose_links(robot_display *r, const double *values, carom_pose *poses) {
    carom_status status = carom_robot_poses(r->d.cli->context, r->def->robot, values, 1, poses);
    for (uint32_t i = 0; i < r->def->links && status == CAROM_OK; ++i)
        if (r->links[i] != NULL) {
            display_add_pose(&r->d, r->links[i], poses[i]);
            r->links[i]->steps = r->def->moved == NULL;
        }
    return status;
}

static carom_status add_times(robot_display *r) {
    const robot_show_def *def = r->def;
    uint64_t frames = def->moved != NULL ? FRAMES : 1;
    uint64_t most = def->moved != NULL ? MOST_MOTIONS : MOST_CONFIGURATIONS;
    carom_pose *poses = calloc((size_t)def->links + 1, sizeof(*poses));
    double *values = calloc((size_t)def->dof + 1, sizeof(*values));
    carom_status status = poses == NULL || values == NULL ? CAROM_NO_MEMORY : CAROM_OK;
    r->shown = def->count < most ? def->count : most;
    for (uint64_t i = 0; i < r->shown * frames && status == CAROM_OK; ++i) {
        uint64_t number = i / frames, frame = i % frames;
        double part = (double)frame * (1.0 - JUMP) / (double)(FRAMES - 1);
        display_add_time(&r->d, (double)number + part);
        if (def->moved != NULL) values_at(r, number, frame, values);
        status =
            pose_links(r, def->moved != NULL ? values : def->values + number * def->dof, poses);
    }
    if (r->shown == 0 && status == CAROM_OK) status = pose_links(r, values, poses); /* all 0 */
    free(poses);
    free(values);
    return status;
}

/* ---- Answers --------------------------------------------------------------------------------- */

typedef struct verdict {
    carom_robot_verdict is;
    uint32_t a, b;
    bool with_object;
} verdict;

static verdict verdict_of(const robot_show_def *def, uint64_t number) {
    if (def->moved != NULL) {
        const carom_robot_motion_result *m = &def->moved[number];
        return (verdict){m->verdict, m->a, m->b, m->with_object};
    }
    const carom_robot_result *c = &def->results[number];
    return (verdict){c->verdict, c->a, c->b, c->with_object};
}

/* The item of a body; NULL where nothing is shown of it. */
static display_item *item_of(const robot_display *r, uint32_t body, bool is_object) {
    const robot_show_def *def = r->def;
    if (body == CAROM_NONE) return NULL;
    if (!is_object) return body < def->links ? r->links[body] : NULL;
    return body >= def->first_object && body - def->first_object < def->world->count
               ? r->objects[body - def->first_object]
               : NULL;
}

static const char *name_of(const robot_display *r, uint32_t body, bool is_object, char *text,
                           size_t size) {
    const robot_show_def *def = r->def;
    if (body == CAROM_NONE) return "";
    if (!is_object) return carom_robot_link_name(def->robot, body);
    if (item_of(r, body, true) != NULL) return item_of(r, body, true)->name;
    snprintf(text, size, "object %u", body); /* of a saved world */
    return text;
}

static void add_row(robot_display *r, display_list *list, uint64_t number) {
    const robot_show_def *def = r->def;
    uint64_t frames = def->moved != NULL ? FRAMES : 1;
    verdict v = verdict_of(def, number);
    char index[24], object[32], limit[32] = "";
    for (int k = 0; k < 2; ++k) {
        display_item *item = item_of(r, k == 0 ? v.a : v.b, k == 1 && v.with_object);
        if (item == NULL || v.is != CAROM_ROBOT_VERDICT_COLLIDING) continue;
        display_light_during(&r->d, item, number * frames + (def->moved != NULL ? STEPS : 0),
                             (number + 1) * frames);
    }
    snprintf(index, sizeof(index), "%llu", (unsigned long long)number);
    if (def->moved != NULL)
        snprintf(limit, sizeof(limit), "%.6g", def->moved[number].free_until);
    else if (def->gaps != NULL)
        snprintf(limit, sizeof(limit), "%.6g", def->gaps[number].distance.lower);
    const char *const cells[] = {index, carom_robot_verdict_name(v.is),
                                 name_of(r, v.a, false, object, sizeof(object)),
                                 name_of(r, v.b, v.with_object, object, sizeof(object)), limit};
    display_add_row(&r->d, list, cells, NULL, (carom_vec3){0.0, 0.0, 0.0}, 0.0);
    display_set_row_time(list, number * frames);
}

static void add_answers(robot_display *r) {
    const robot_show_def *def = r->def;
    const char *what = def->moved != NULL ? "Motions" : "Configurations";
    const char *columns[] = {"", "verdict", "a", "b", ""};
    uint64_t verdicts[CAROM_ROBOT_VERDICT_COUNT] = {0}, still = UINT64_MAX;
    char title[400];
    bool has_limit = def->moved != NULL || def->gaps != NULL;
    columns[4] = def->moved != NULL ? "free until" : "apart by";
    for (uint64_t i = 0; i < def->count; ++i) {
        ++verdicts[verdict_of(def, i).is];
        if (verdict_of(def, i).is == CAROM_ROBOT_VERDICT_COLLIDING && i < r->shown &&
            still == UINT64_MAX)
            still = i;
    }
    for (int k = 0; k < CAROM_ROBOT_VERDICT_COUNT; ++k)
        display_tell_count(&r->d, &r->d.answers, carom_robot_verdict_name((carom_robot_verdict)k),
                           verdicts[k]);
    if (def->urdf == NULL)
        display_tell_text(&r->d, &r->d.answers, "shown",
                          "the spheres that contain the links: a saved robot has no meshes");
    snprintf(title, sizeof(title), "%.200s: %llu of %llu %s free", carom_os_file_name(def->path),
             (unsigned long long)verdicts[CAROM_ROBOT_VERDICT_FREE], (unsigned long long)def->count,
             def->moved != NULL ? "motions" : "configurations");
    if (def->count == 0)
        snprintf(title, sizeof(title), "%.200s: all joints at 0", carom_os_file_name(def->path));
    display_set_title(&r->d, title);
    if (def->count == 0) return;
    display_list *list = display_add_list(&r->d, what, columns, has_limit ? 5 : 4);
    for (uint64_t i = 0; i < r->shown && !r->d.no_memory; ++i) add_row(r, list, i);
    if (list != NULL) list->total = def->count;
    /* A picture shows the first collision. */
    if (still != UINT64_MAX) r->d.still = def->moved != NULL ? still * FRAMES + FRAMES - 1 : still;
}

carom_status robot_show(cli *cli, const robot_show_def *def, const char *output,
                        const char *format) {
    robot_display r = {.def = def};
    display_begin(&r.d, cli, "");
    r.d.metres = 1.0; /* URDF is in metres */
    r.d.up = 'z';
    r.links = calloc((size_t)def->links + 1, sizeof(*r.links));
    r.objects = calloc(def->world->count + 1, sizeof(*r.objects));
    carom_status status = r.links == NULL || r.objects == NULL ? CAROM_NO_MEMORY : CAROM_OK;
    if (status == CAROM_OK) status = add_bodies(&r);
    if (status == CAROM_OK) status = add_times(&r);
    if (status == CAROM_OK) add_answers(&r);
    if (status == CAROM_OK && !display_save(&r.d, output, format)) status = CAROM_IO;
    free(r.links);
    free(r.objects);
    display_free(&r.d);
    return status;
}
