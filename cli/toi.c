/* SPDX-License-Identifier: MIT */
/* carom toi: when a moving mesh first meets another, or a mesh that deforms meets itself. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/pose.h"
#include "cli/repeat.h"

typedef struct options {
    const char *pose, *to, *end, *out, *format;
    int from;
    double tolerance, separation;
    double near;
    bool hulls, step, check;
    uint64_t repeat;
} options;

static const options toi_defaults = {.near = ARG_NO_NUMBER, .repeat = 1};

ENDINGS(toi_formats, "csv", DISPLAY_ENDINGS);

static const arg_option toi_options[] = {
    {"--pose", 0, ARG_TEXT, offsetof(options, pose), POSE_VALUE,
     "where B is at time 0; 12 numbers are a 3x4 matrix, a rotation", NULL},
    {"--to", 0, ARG_TEXT, offsetof(options, to), POSE_VALUE, "where B is at time 1; the same",
     NULL},
    {"--tolerance", 0, ARG_NUMBER, offsetof(options, tolerance), "LENGTH",
     "shapes this near have met (2^-20 of sizes and movement)", NULL},
    {"--separation", 0, ARG_NUMBER, offsetof(options, separation), "LENGTH",
     "shapes that are no farther apart have met (0: they touch); what --step keeps", NULL},
    {"--hulls", 0, ARG_FLAG, offsetof(options, hulls), NULL,
     "of the convex hulls, not of the surfaces", NULL},
    {"--end", 0, ARG_INPUT, offsetof(options, end), "FILE",
     "one mesh: it deforms to the positions of this file", NULL},
    {"--step", 0, ARG_FLAG, offsetof(options, step), NULL,
     "with --end: how far all vertices may move and stay --separation apart", NULL},
    {"--near", 0, ARG_NUMBER, offsetof(options, near), "LENGTH",
     "one mesh: what of it is at most so far apart, without moving", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, out), "FILE",
     "show the motion up to the contact, or what is near; as CSV all impacts or near pairs",
     toi_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL, "exit with 1 when they meet", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
};

static const char details[] =
    "Finds when B, which moves from --pose at time 0 to --to at time 1, first comes within the\n"
    "tolerance of A, which stays. B moves along a line and turns about the origin of its\n"
    "coordinates at constant speed, the shorter way. It never passes through A unseen; the time "
    "is\n"
    "never after the first contact. With --hulls, the convex hulls of the vertices are meant.\n"
    "With one mesh and --end, every vertex moves along a line to its position in FILE, and all\n"
    "impacts of the mesh with itself are found, exactly: a vertex and a face, or two edges, that\n"
    "have no common vertex and meet. -o x.csv writes lines `kind,face_a,face_b,lower,upper`: the\n"
    "first time they meet is between the last two. -o x.html, x.glb or x.png shows the motion,\n"
    "stopped at the first contact. With --step, the largest part of the way that keeps them apart\n"
    "is found instead. With --near, all vertices and faces and all edges of one mesh that are\n"
    "within LENGTH; lower and upper are then limits of their distance. These three run with\n"
    "--device cuda as well, with the same output.";

typedef struct answer {
    bool hit;
    double time, distance;
    uint32_t face_a, face_b; /* CAROM_NONE where there is none */
    carom_vec3 point_a, point_b;
    uint64_t steps;

    bool is_step, is_near;
    carom_soup_step step;
    carom_soup_near_pairs near;

    bool deforms;
    carom_soup_impacts impacts;
    carom_soup_impact first;

    carom_mesh *meshes[2]; /* A and B, or A and its end */
    double prepare_s;
    repeat query;
} answer;

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(const cli *cli, const answer *a) {
    json j = cli_begin_json(cli);
    json_bool(&j, "hit", a->hit);
    if (a->is_step || a->is_near) {
        if (a->is_step)
            json_number(&j, "step", a->step.time);
        else
            json_count(&j, "near", a->near.count);
        if (a->hit) {
            json_number(&j, "lower", a->step.limit.distance.lower);
            json_number(&j, "upper", a->step.limit.distance.upper);
            json_text(&j, "kind", carom_soup_impact_kind_name(a->step.limit.kind));
        }
    } else if (a->deforms) {
        json_count(&j, "impacts", a->impacts.count);
        if (a->hit) {
            json_number(&j, "lower", a->first.time.lower);
            json_number(&j, "upper", a->first.time.upper);
            json_text(&j, "kind", carom_soup_impact_kind_name(a->first.kind));
        }
    } else {
        json_number(&j, "time", a->time);
        json_number(&j, "distance", a->distance);
        json_vector(&j, "point_a", a->point_a);
        json_vector(&j, "point_b", a->point_b);
        json_count(&j, "steps", a->steps);
    }
    if (a->hit && a->face_a != CAROM_NONE) {
        json_count(&j, "face_a", a->face_a);
        json_count(&j, "face_b", a->face_b);
    }
    json_number(&j, "prepare_s", a->prepare_s);
    repeat_print_json(&a->query, &j);
    cli_end_json(&j);
}

static void print_words(FILE *out, const answer *a) {
    const carom_soup_near_pair *limit = &a->step.limit;
    if (a->is_step && !a->hit)
        fprintf(out, "all vertices may move all the way\n");
    else if (a->is_step)
        fprintf(out,
                "all vertices may move by %.12g of the way (%s of faces %u and %u, then %.6g "
                "apart)\n",
                a->step.time, carom_soup_impact_kind_name(limit->kind), a->face_a, a->face_b,
                limit->distance.value);
    else if (a->is_near && a->hit)
        fprintf(out, "%llu pairs are near, the nearest %.6g apart (%s of faces %u and %u)\n",
                (unsigned long long)a->near.count, limit->distance.value,
                carom_soup_impact_kind_name(limit->kind), a->face_a, a->face_b);
    else if (a->is_near)
        fprintf(out, "nothing is near\n");
    else if (a->deforms && a->hit)
        fprintf(out,
                "%llu impacts, the first at a time from %.12g to %.12g (%s of faces %u and %u)\n",
                (unsigned long long)a->impacts.count, a->first.time.lower, a->first.time.upper,
                carom_soup_impact_kind_name(a->first.kind), a->face_a, a->face_b);
    else if (a->deforms)
        fprintf(out, "no impacts\n");
    else if (!a->hit)
        fprintf(out, "they do not meet\n");
    else {
        fprintf(out, "they meet at time %.12g", a->time);
        if (a->face_a != CAROM_NONE) fprintf(out, ", faces %u and %u first", a->face_a, a->face_b);
        fprintf(out, "\n  distance  %.6g\n", a->distance);
        output_vector(out, "from", a->point_a);
        output_vector(out, "to", a->point_b);
    }
    fprintf(out, "prepared in %.2f ms, answered in %.3f ms", 1e3 * a->prepare_s,
            1e3 * repeat_median(&a->query));
    if (!a->deforms && !a->is_near) fprintf(out, " and %llu steps", (unsigned long long)a->steps);
    fputc('\n', out);
}

static bool write_impacts(cli *cli, const char *path, const answer *a) {
    output o = {0};
    if (!output_open(cli, path, &o)) return false;
    if (o.file == NULL) return true;
    for (uint64_t i = 0; i < a->impacts.count; ++i) {
        const carom_soup_impact *m = &a->impacts.data[i];
        fprintf(o.file, "%s,%u,%u,%.17g,%.17g\n", carom_soup_impact_kind_name(m->kind), m->face_a,
                m->face_b, m->time.lower, m->time.upper);
    }
    for (uint64_t i = 0; i < a->near.count; ++i) {
        const carom_soup_near_pair *m = &a->near.data[i];
        fprintf(o.file, "%s,%u,%u,%.17g,%.17g\n", carom_soup_impact_kind_name(m->kind), m->face_a,
                m->face_b, m->distance.lower, m->distance.upper);
    }
    return output_close(&o, true);
}

/* ---- Displays -------------------------------------------------------------------------------- */

#define MOST_LISTED 500u /* impacts with a row, the first ones */

static int compare_near(const void *one, const void *other) {
    const carom_soup_near_pair *const *x = one, *const *y = other;
    double p = (*x)->distance.value, q = (*y)->distance.value;
    if (p != q) return p < q ? -1 : 1;
    return *x < *y ? -1 : *x > *y; /* in their order */
}

static int compare_times(const void *one, const void *other) {
    const carom_soup_impact *const *x = one, *const *y = other;
    double p = (*x)->time.lower, q = (*y)->time.lower;
    if (p != q) return p < q ? -1 : 1;
    return *x < *y ? -1 : *x > *y; /* in their order */
}

static carom_status open_shown(cli *cli, const answer *a, display_mesh shown[2]) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        carom_mesh_view view;
        status = carom_mesh_get_view(a->meshes[i], &view);
        if (status == CAROM_OK) status = display_mesh_open(cli, &view, false, NULL, &shown[i]);
    }
    return status;
}

/* Two meshes, of which the second moves. */
static carom_status show_motion(display *d, const carom_motion *motion, char **paths,
                                const answer *a) {
    display_mesh shown[2] = {{0}, {0}};
    double last = a->hit ? a->time : 1.0;
    carom_pose from = display_unit_pose(motion->from), to = display_unit_pose(motion->to);
    carom_pose end = display_unit_pose(carom_pose_interpolate_value(&from, &to, last));
    carom_status status = open_shown(d->cli, a, shown);
    if (status == CAROM_OK) {
        display_add_mesh(d, &shown[0], paths[0]);
        uint64_t before = d->item_count;
        display_add_mesh(d, &shown[1], paths[1]);
        const uint32_t faces[2] = {a->face_a, a->face_b};
        for (int i = 0; i < 2 && a->hit && faces[i] != CAROM_NONE && !d->no_memory; ++i) {
            display_item *item = display_add(d, DISPLAY_PATCH, "first contact");
            item->part = display_mesh_part(&shown[i], faces[i]);
            display_add_face(d, item, &shown[i], faces[i]);
            if (i == 1) item->moves = true;
        }
        for (uint64_t i = before; i < d->item_count; ++i) {
            display_item *item = d->items[i];
            item->moves = item->moves || item->kind == DISPLAY_PART;
            item->path[0] = from;
            item->path[1] = end;
        }
        display_add_time(d, 0.0);
        display_add_time(d, last);
    }
    if (status == CAROM_OK && a->hit) {
        display_item *points = display_add(d, DISPLAY_POINTS, "nearest points");
        display_add_point(d, points, a->point_a);
        display_add_point(d, points, a->point_b);
        display_tell(d, &d->answers, "time of impact", a->time, NULL);
        display_tell(d, &d->answers, "distance then", a->distance, display_unit(d));
    }
    for (int i = 0; i < 2; ++i) display_mesh_close(&shown[i]);
    return status;
}

/* Moves the points of an item, which are corners of `start`, along lines to the time `last`. */
static void add_end(display *d, display_item *item, const carom_vec3 *ends) {
    display_add_frame(d, item, item->points, item->point_count);
    display_add_frame(d, item, ends, item->point_count);
}

static carom_vec3 between(carom_vec3 p, carom_vec3 q, double t) {
    return (carom_vec3){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z)};
}

/* Adds the faces of one impact; their positions at time `last` follow. */
static display_item *add_impact(display *d, const display_mesh shown[2], const carom_soup_impact *m,
                                double last) {
    display_item *item = display_add(d, DISPLAY_PATCH, "impact"), end = {0};
    item->part = display_mesh_part(&shown[0], m->face_a);
    const uint32_t faces[2] = {m->face_a, m->face_b};
    for (int i = 0; i < 2; ++i) {
        display_add_face(d, item, &shown[0], faces[i]);
        display_add_face(d, &end, &shown[1], faces[i]);
    }
    for (uint64_t k = 0; k < item->point_count && k < end.point_count; ++k)
        end.points[k] = between(item->points[k], end.points[k], last);
    if (item->point_count == end.point_count) add_end(d, item, end.points);
    free(end.points);
    free(end.faces);
    return item;
}

/* Puts the positions of the parts at time `last` into frames. */
static void add_part_ends(display *d, const display_mesh shown[2], double last) {
    display other;
    display_mesh mesh = shown[1];
    display_begin(&other, d->cli, "");
    mesh.parts = calloc((size_t)mesh.view.part_count, sizeof(display_item *));
    if (mesh.parts == NULL) d->no_memory = true;
    if (mesh.parts != NULL) display_add_mesh(&other, &mesh, "");
    for (uint64_t i = 0; i < other.item_count && i < d->item_count && !other.no_memory; ++i) {
        display_item *item = d->items[i], *end = other.items[i];
        for (uint64_t k = 0; k < item->point_count && k < end->point_count; ++k)
            end->points[k] = between(item->points[k], end->points[k], last);
        if (item->point_count == end->point_count) add_end(d, item, end->points);
    }
    d->no_memory = d->no_memory || other.no_memory;
    free(mesh.parts);
    display_free(&other);
}

static void add_near(display *d, display_list *list, const display_mesh *mesh,
                     const carom_soup_near_pair *near) {
    display_item *item = display_add(d, DISPLAY_PATCH, "near");
    const display_item *items[DISPLAY_MOST_LIT] = {item};
    const uint32_t pair[2] = {near->face_a, near->face_b};
    char faces[48], distance[32];
    item->part = display_mesh_part(mesh, near->face_a);
    for (int i = 0; i < 2; ++i) display_add_face(d, item, mesh, pair[i]);
    snprintf(faces, sizeof(faces), "%u, %u", near->face_a, near->face_b);
    snprintf(distance, sizeof(distance), "%.9g", near->distance.value);
    const char *const cells[] = {carom_soup_impact_kind_name(near->kind), faces, distance};
    carom_vec3 at = display_mesh_point(mesh, near->a[0]);
    display_add_row(d, list, cells, items, at, near->distance.value);
}

/* A mesh and what of it is near, the nearest first. */
static carom_status show_near(display *d, char **paths, const answer *a) {
    static const char *const columns[] = {"kind", "faces", "distance"};
    carom_mesh_view view;
    display_mesh shown = {0};
    carom_status status = carom_mesh_get_view(a->meshes[0], &view);
    if (status == CAROM_OK) status = display_mesh_open(d->cli, &view, false, NULL, &shown);
    const carom_soup_near_pair **order = calloc((size_t)a->near.count + 1, sizeof(*order));
    if (status == CAROM_OK && order == NULL) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) {
        display_add_mesh(d, &shown, paths[0]);
        for (uint64_t i = 0; i < a->near.count; ++i) order[i] = &a->near.data[i];
        qsort(order, (size_t)a->near.count, sizeof(*order), compare_near);
        display_tell_count(d, &d->answers, "pairs", a->near.count);
        if (a->hit)
            display_tell(d, &d->answers, "nearest", a->step.limit.distance.value, display_unit(d));
        display_list *list = display_add_list(d, "What is near", columns, 3);
        for (uint64_t i = 0; i < a->near.count && i < MOST_LISTED && !d->no_memory; ++i)
            add_near(d, list, &shown, order[i]);
        if (list != NULL) list->total = a->near.count;
    }
    free(order);
    display_mesh_close(&shown);
    return status;
}

/* Says how far all may move, and lights what limits it. */
static void add_limit(display *d, const display_mesh shown[2], const answer *a) {
    const carom_soup_near_pair *limit = &a->step.limit;
    display_tell(d, &d->answers, "safe step", a->step.time, NULL);
    if (!a->hit) return;
    const carom_soup_impact faces = {.face_a = limit->face_a, .face_b = limit->face_b};
    display_rename(d, add_impact(d, shown, &faces, a->step.time), "what limits it");
    display_tell(d, &d->answers, "apart then", limit->distance.value, display_unit(d));
}

/* A mesh that deforms up to the first of its impacts with itself, or as far as it is safe. */
static carom_status show_impacts(display *d, char **paths, const answer *a) {
    static const char *const columns[] = {"kind", "faces", "time"};
    display_mesh shown[2] = {{0}, {0}};
    double last = a->is_step ? a->step.time : a->hit ? a->first.time.upper : 1.0;
    carom_status status = open_shown(d->cli, a, shown);
    if (status == CAROM_OK) {
        display_add_mesh(d, &shown[0], paths[0]);
        add_part_ends(d, shown, last);
        display_add_time(d, 0.0);
        display_add_time(d, last);
        bool lists = a->hit && !a->is_step;
        if (a->is_step)
            add_limit(d, shown, a);
        else
            display_tell_count(d, &d->answers, "impacts", a->impacts.count);
        if (lists) display_tell(d, &d->answers, "first impact", a->first.time.lower, NULL);
        display_list *list = lists ? display_add_list(d, "Impacts", columns, 3) : NULL;
        const carom_soup_impact **order = calloc((size_t)a->impacts.count + 1, sizeof(*order));
        if (order == NULL) d->no_memory = true;
        for (uint64_t i = 0; i < a->impacts.count && order != NULL; ++i)
            order[i] = &a->impacts.data[i];
        if (order != NULL) qsort(order, (size_t)a->impacts.count, sizeof(*order), compare_times);
        for (uint64_t i = 0; i < a->impacts.count && i < MOST_LISTED && !d->no_memory; ++i) {
            const carom_soup_impact *m = order[i];
            char faces[48], time[32];
            display_item *item = add_impact(d, shown, m, last);
            const display_item *items[DISPLAY_MOST_LIT] = {item};
            snprintf(faces, sizeof(faces), "%u, %u", m->face_a, m->face_b);
            snprintf(time, sizeof(time), "%.9g", m->time.lower);
            const char *const cells[] = {carom_soup_impact_kind_name(m->kind), faces, time};
            carom_vec3 at = {0.0, 0.0, 0.0};
            if (item->frame_count != 0 && item->point_count != 0) at = item->frames[1][0];
            display_add_row(d, list, cells, items, at, 0.0);
        }
        if (list != NULL) list->total = a->impacts.count;
        free(order);
    }
    for (int i = 0; i < 2; ++i) display_mesh_close(&shown[i]);
    return status;
}

/* Returns an exit code. */
static int show(cli *cli, const options *options, const carom_motion *motion, char **paths,
                const char *format, const answer *a) {
    char title[700];
    display d;
    if (a->is_step)
        snprintf(title, sizeof(title), "%.300s may move by %.6g of the way", paths[0],
                 a->step.time);
    else if (a->is_near)
        snprintf(title, sizeof(title), "%.300s: %llu pairs are near", paths[0],
                 (unsigned long long)a->near.count);
    else if (a->deforms)
        snprintf(title, sizeof(title), "%.300s: %llu impacts", paths[0],
                 (unsigned long long)a->impacts.count);
    else if (a->hit)
        snprintf(title, sizeof(title), "%.300s and %.300s meet at time %.9g", paths[0], paths[1],
                 a->time);
    else
        snprintf(title, sizeof(title), "%.300s and %.300s do not meet", paths[0], paths[1]);
    display_begin(&d, cli, title);
    carom_status status = a->is_near   ? show_near(&d, paths, a)
                          : a->deforms ? show_impacts(&d, paths, a)
                                       : show_motion(&d, motion, paths, a);
    bool good = status == CAROM_OK && display_save(&d, options->out, format);
    int code = status != CAROM_OK ? cli_fail(cli, status) : good ? CLI_OK : cli_code(CAROM_IO);
    display_free(&d);
    return code;
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* Keeps the mesh. */
static carom_status load_soup(cli *cli, const char *path, int from, carom_mesh **mesh,
                              carom_soup **soup, carom_hull **hull) {
    carom_mesh_view view;
    carom_status status = meshes_load(cli, path, from, false, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status == CAROM_OK && hull != NULL)
        status = carom_hull_create(cli->context, &(carom_hull_def){.mesh = &view}, hull);
    else if (status == CAROM_OK)
        status =
            carom_soup_create(cli->context, &(carom_soup_def){.mesh = &view, .rigid = true}, soup);
    return cli_of_file(cli, path, status);
}

static carom_status query_hulls(cli *cli, const options *options, const carom_motion *motion,
                                char **paths, answer *a) {
    carom_hull *hulls[2] = {NULL, NULL};
    carom_convex shapes[2] = {{.kind = CAROM_CONVEX_KIND_HULL}, {.kind = CAROM_CONVEX_KIND_HULL}};
    carom_advance_def def = {.tolerance = options->tolerance, .reach = options->separation};
    carom_advance toi;
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = load_soup(cli, paths[i], options->from, &a->meshes[i], NULL, &hulls[i]);
        shapes[i].borrowed_hull = hulls[i];
    }
    a->prepare_s = carom_time_seconds() - start;
    while (status == CAROM_OK) {
        repeat_start(&a->query);
        status =
            carom_convex_advance(cli->context, &shapes[0], NULL, &shapes[1], motion, &def, &toi);
        if (!repeat_goes_on(&a->query, status)) break;
    }
    if (status == CAROM_OK) {
        a->hit = toi.hit;
        a->time = toi.time;
        a->distance = toi.distance;
        a->point_a = toi.point_a;
        a->point_b = toi.point_b;
        a->steps = toi.steps;
    }
    carom_hull_destroy(hulls[0]);
    carom_hull_destroy(hulls[1]);
    return status;
}

static carom_status query_soups(cli *cli, const options *options, const carom_motion *motion,
                                char **paths, answer *a) {
    carom_soup *soups[2] = {NULL, NULL};
    carom_advance_def def = {.tolerance = options->tolerance, .reach = options->separation};
    carom_advance toi;
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    for (int i = 0; i < 2 && status == CAROM_OK; ++i)
        status = load_soup(cli, paths[i], options->from, &a->meshes[i], &soups[i], NULL);
    a->prepare_s = carom_time_seconds() - start;
    while (status == CAROM_OK) {
        repeat_start(&a->query);
        status =
            carom_soup_cross_advance(cli->context, soups[0], NULL, soups[1], motion, &def, &toi);
        if (!repeat_goes_on(&a->query, status)) break;
    }
    if (status == CAROM_OK) {
        a->hit = toi.hit;
        a->time = toi.time;
        a->distance = toi.distance;
        a->face_a = toi.face_a;
        a->face_b = toi.face_b;
        a->point_a = toi.point_a;
        a->point_b = toi.point_b;
        a->steps = toi.steps;
    }
    carom_soup_destroy(soups[0]);
    carom_soup_destroy(soups[1]);
    return status;
}

/* The first of all impacts; the first time of all lies between its `lower` and the least `upper`.
 */
static void take_first(answer *a) {
    a->hit = true;
    a->first = a->impacts.data[0];
    double upper = a->first.time.upper;
    for (uint64_t i = 1; i < a->impacts.count; ++i) {
        const carom_soup_impact *m = &a->impacts.data[i];
        if (m->time.upper < upper) upper = m->time.upper;
        if (m->time.lower < a->first.time.lower) a->first = *m;
    }
    a->first.time.upper = upper;
    a->face_a = a->first.face_a;
    a->face_b = a->first.face_b;
}

/* The nearest pair, the first of several, or what limits the step. */
static void take_limit(answer *a) {
    for (uint64_t i = 0; i < a->near.count; ++i)
        if (i == 0 || a->near.data[i].distance.value < a->step.limit.distance.value)
            a->step.limit = a->near.data[i];
    a->hit = a->is_near ? a->near.count != 0 : a->step.limit.kind != CAROM_SOUP_IMPACT_KIND_NONE;
    a->face_a = a->step.limit.face_a;
    a->face_b = a->step.limit.face_b;
}

static carom_status query_one(cli *cli, const options *options, const carom_soup *soup,
                              const carom_mesh_view *end, answer *a) {
    if (a->is_near) return carom_soup_self_near(cli->context, soup, options->near, &a->near);
    if (a->is_step)
        return carom_soup_self_safe_step(cli->context, soup, end, options->separation, &a->step);
    return carom_soup_self_impacts(cli->context, soup, end, &a->impacts);
}

/* The mesh is not welded, so that both files number the vertices alike. */
static carom_status query_deforming(cli *cli, const options *options, char **paths, answer *a) {
    carom_mesh_view views[2];
    carom_soup *soup = NULL;
    double start = carom_time_seconds();
    carom_status status = CAROM_OK;
    a->is_near = !isnan(options->near);
    a->is_step = options->step;
    for (int i = 0; i < (a->is_near ? 1 : 2) && status == CAROM_OK; ++i) {
        status = meshes_read(cli, i == 0 ? paths[0] : options->end, options->from, &a->meshes[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(a->meshes[i], &views[i]);
    }
    if (status == CAROM_OK)
        status = carom_soup_create(cli->context, &(carom_soup_def){.mesh = &views[0]}, &soup);
    a->prepare_s = carom_time_seconds() - start;
    a->deforms = !a->is_near;
    while (status == CAROM_OK) {
        repeat_start(&a->query);
        status = query_one(cli, options, soup, &views[1], a);
        if (!repeat_goes_on(&a->query, status)) break;
    }
    if (status == CAROM_OK && a->impacts.count != 0) take_first(a);
    if (status == CAROM_OK && (a->is_near || a->is_step)) take_limit(a);
    carom_soup_destroy(soup);
    return status;
}

/* ---- Command --------------------------------------------------------------------------------- */

/* Reads a pose; a matrix must be a rotation. */
static int read_pose(cli *cli, const char *option, const char *text, carom_pose *pose) {
    char message[512], named[540];
    pose_arg arg;
    if (!pose_read(text, &arg, message, sizeof(message))) {
        const char *rest = strncmp(message, "--pose", 6) == 0 ? message + 6 : message;
        snprintf(named, sizeof(named), "%s%s", option, rest);
        return cli_misuse(cli, named);
    }
    *pose = arg.pose;
    if (!arg.is_matrix) return CLI_OK;
    carom_status status = carom_pose_from_matrix(cli->context, arg.matrix, pose);
    return status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    carom_motion motion = {.centre = {0.0, 0.0, 0.0}};
    answer a = {.face_a = CAROM_NONE, .query = {.wanted = options->repeat}};
    if (repeat_misuse(options->repeat) != NULL)
        return cli_misuse(cli, repeat_misuse(options->repeat));
    bool near = !isnan(options->near);
    if (near && (count == 2 || options->end != NULL))
        return cli_misuse(cli, "--near is for one mesh, without --end");
    if (near && !(options->near >= 0.0)) return cli_misuse(cli, "--near must not be negative");
    if (options->step && options->end == NULL) return cli_misuse(cli, "--step needs --end FILE");
    if (count == 1 && options->end == NULL && !near)
        return cli_misuse(cli, "toi takes two meshes, or one and --end FILE or --near LENGTH");
    if (count == 2 && options->end != NULL) return cli_misuse(cli, "--end is for one mesh");
    const char *format =
        options->out != NULL ? endings_format(options->out, options->format, toi_formats) : NULL;
    if (count == 2 && endings_is(format, "csv"))
        return cli_misuse(cli, "CSV is for one mesh and --end; a motion is shown as .html, .glb or "
                               ".png");
    if (options->step && endings_is(format, "csv"))
        return cli_misuse(cli, "CSV is for impacts and --near; --step is shown as .html, .glb or "
                               ".png");
    if (options->out != NULL && output_misuse(cli, options->out) != NULL)
        return cli_misuse(cli, output_misuse(cli, options->out));
    if (options->separation < 0.0) return cli_misuse(cli, "--separation must not be negative");
    if (count == 1 && options->separation > 0.0 && !options->step)
        return cli_misuse(cli, "--separation is for two meshes, or --step");
    if (options->tolerance < 0.0) return cli_misuse(cli, "--tolerance must not be negative");
    int code = read_pose(cli, "--pose", options->pose, &motion.from);
    if (code == CLI_OK) code = read_pose(cli, "--to", options->to, &motion.to);
    if (code != CLI_OK) return code;
    carom_status status = count == 1       ? query_deforming(cli, options, paths, &a)
                          : options->hulls ? query_hulls(cli, options, &motion, paths, &a)
                                           : query_soups(cli, options, &motion, paths, &a);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bar_clear(&cli->bar);
    if (status != CAROM_OK) {
        code = cli_fail(cli, status);
    } else if (endings_is(format, "csv") && !write_impacts(cli, options->out, &a)) {
        code = CLI_MACHINE;
    } else if (display_has_format(format)) {
        code = show(cli, options, &motion, paths, format, &a);
    }
    if (status == CAROM_OK && code == CLI_OK) {
        if (options->check && a.hit) code = CLI_YES;
        if (cli->json)
            print_json(cli, &a);
        else
            print_words(output_words(options->out), &a);
    }
    repeat_free(&a.query);
    carom_soup_impacts_free(&a.impacts);
    carom_mesh_destroy(a.meshes[0]);
    carom_mesh_destroy(a.meshes[1]);
    carom_soup_near_pairs_free(&a.near);
    return code;
}

const cli_command cli_toi = {
    .order = 63,
    .name = "toi",
    .arguments =
        "A B [--pose NUMBERS] [--to NUMBERS] [--hulls] | A --end FILE [--step] | A --near LENGTH",
    .summary = "when a moving mesh first meets another, or a deforming one itself",
    .details = details,
    .options = toi_options,
    .option_count = sizeof(toi_options) / sizeof(toi_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 2,
    .run = run,
    .defaults = &toi_defaults,
    .inputs = 2,
    .on_cuda = true, /* what deforms or is near; rigid motions refuse it */
};
