/* SPDX-License-Identifier: MIT */
/* Spheres of cuRobo (YAML), XRDF or a URDF file whose elements are spheres, link by link, against
 * the faces of the robot. */
#include "cli/robot_audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/output.h"
#include "cli/scene_parts.h"
#include "cli/sphere_file.h"
#include "cli/text.h"

ENDINGS(picture_formats, DISPLAY_ENDINGS);

#define DOT_SHARE 0.15 /* of the farthest distance: the radius of what marks points */

typedef struct audit_job {
    cli *cli;
    const robot_audit_def *def;
    sphere_file spheres;
    carom_robot_audit *audits; /* of each link */
    const sphere_set **of;     /* of each link; NULL: no spheres */
    carom_robot_info info;
    uint64_t foreign; /* sets of links that the robot does not have */
    double dot;       /* radius of what marks points in the picture */
} audit_job;

/* ---- URDF ------------------------------------------------------------------------------------ */

static carom_status read_urdf(audit_job *job) {
    const scene_robot_def how = {0};
    carom_urdf *urdf;
    carom_urdf_view v = {0};
    carom_status status = scene_urdf_load(job->cli, job->def->spheres, &how, &urdf);
    if (status == CAROM_OK) status = carom_urdf_get_view(urdf, &v);
    for (uint32_t i = 0; i < v.link_count && status == CAROM_OK; ++i) {
        const carom_urdf_link *l = &v.links[i];
        status = sphere_file_add_set(&job->spheres, l->line, l->name, strlen(l->name));
        for (uint32_t k = l->first; k < l->first + l->count && status == CAROM_OK; ++k) {
            const carom_urdf_element *e = &v.elements[k];
            if (e->file != NULL || e->shape.kind != CAROM_CONVEX_KIND_SPHERE)
                status = sphere_file_fail(&job->spheres, l->line,
                                          "an element of this link is no sphere");
            else
                status = sphere_file_add(&job->spheres, (carom_ball){e->origin.t, e->shape.radius});
        }
    }
    carom_urdf_destroy(urdf);
    return status;
}

static carom_status read_spheres(audit_job *job) {
    size_t length = strlen(job->def->spheres), size;
    char *text;
    if (length > 5 && text_compare_caseless(job->def->spheres + length - 5, ".urdf") == 0)
        return read_urdf(job);
    carom_status status = scene_urdf_text(job->cli, job->def->spheres, &text, &size);
    if (status != CAROM_OK) return status;
    status = sphere_file_read(&job->spheres, text, size);
    free(text);
    return status;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static carom_status measure(audit_job *job) {
    uint32_t links = job->info.links;
    job->audits = calloc((size_t)links + 1, sizeof(*job->audits));
    job->of = calloc((size_t)links + 1, sizeof(*job->of));
    if (job->audits == NULL || job->of == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < job->spheres.count; ++i) {
        uint32_t link = 0;
        while (link < links &&
               strcmp(carom_robot_link_name(job->def->robot, link), job->spheres.sets[i].name) != 0)
            ++link;
        if (link == links) {
            ++job->foreign;
        } else if (job->of[link] != NULL) {
            snprintf(job->cli->message, sizeof(job->cli->message),
                     "%.200s: the link '%.100s' has two lists of spheres", job->def->spheres,
                     job->spheres.sets[i].name);
            return CAROM_BAD_FILE;
        } else {
            job->of[link] = &job->spheres.sets[i];
        }
    }
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; i < links && status == CAROM_OK; ++i) {
        const sphere_set *set = job->of[i];
        status = carom_robot_audit_spheres(job->cli->context, job->def->robot, i,
                                           set != NULL ? set->balls : NULL,
                                           set != NULL ? set->count : 0, &job->audits[i]);
    }
    return status;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void print_json(const audit_job *job) {
    json j = cli_begin_json(job->cli);
    json_text(&j, "spheres_file", job->def->spheres);
    json_count(&j, "foreign", job->foreign);
    json_begin_array(&j, "links");
    for (uint32_t i = 0; i < job->info.links; ++i) {
        const carom_robot_audit *a = &job->audits[i];
        if (!(a->area > 0.0) && a->left_out == 0) continue;
        json_begin_object(&j, NULL);
        json_text(&j, "name", carom_robot_link_name(job->def->robot, i));
        json_count(&j, "spheres", job->of[i] != NULL ? job->of[i]->count : 0);
        json_number(&j, "area", a->area);
        json_number(&j, "outside_share", a->outside_share.value);
        json_number(&j, "outside_share_lower", a->outside_share.lower);
        json_number(&j, "outside_share_upper", a->outside_share.upper);
        json_number(&j, "worst", a->worst.lower);
        json_number(&j, "worst_bound", a->worst.upper);
        json_begin_array(&j, "point");
        json_number(&j, NULL, a->point.x);
        json_number(&j, NULL, a->point.y);
        json_number(&j, NULL, a->point.z);
        json_end_array(&j);
        json_count(&j, "left_out", a->left_out);
        json_end_object(&j);
    }
    json_end_array(&j);
    cli_end_json(&j);
}

static void print_words(const audit_job *job) {
    for (uint32_t i = 0; i < job->info.links; ++i) {
        const carom_robot_audit *a = &job->audits[i];
        if (!(a->area > 0.0) && a->left_out == 0) continue;
        text_put(stdout, carom_robot_link_name(job->def->robot, i));
        printf("  %" PRIu64 " spheres, ", job->of[i] != NULL ? job->of[i]->count : 0);
        if (!(a->area > 0.0))
            printf("no faces");
        else if (a->worst.upper == 0.0)
            printf("nothing outside");
        else
            printf("%.2f to %.2f %% outside, %.6g to %.6g at (%g, %g, %g)",
                   100.0 * a->outside_share.lower, 100.0 * a->outside_share.upper, a->worst.lower,
                   a->worst.upper, a->point.x, a->point.y, a->point.z);
        if (a->left_out != 0) printf(", %" PRIu64 " round shapes not measured", a->left_out);
        putchar('\n');
    }
    if (job->foreign != 0)
        printf("%" PRIu64 " lists of spheres are of links that %s does not have\n", job->foreign,
               job->def->path);
}

/* The elements of a link where the joints of the file are at 0. */
static carom_status show_elements(audit_job *job, display *d, const carom_urdf_view *v,
                                  const carom_urdf_link *l) {
    carom_status status = CAROM_OK;
    for (uint32_t i = l->first; i < l->first + l->count && status == CAROM_OK; ++i) {
        carom_pose pose = carom_pose_compose_value(&l->in_world, &v->elements[i].origin);
        carom_mesh *mesh;
        carom_mesh_view view;
        display_mesh shown = {0};
        double matrix[12];
        status = carom_urdf_load_mesh(job->cli->context, job->def->urdf, i, &mesh);
        if (status == CAROM_OK && mesh == NULL) {
            status = carom_pose_to_matrix(job->cli->context, &pose, matrix);
            if (status == CAROM_OK)
                status = display_add_shape(d, display_add(d, DISPLAY_PART, l->name),
                                           &v->elements[i].shape, matrix);
            continue;
        }
        if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
        if (status == CAROM_OK) status = display_mesh_open(job->cli, &view, false, &pose, &shown);
        if (status == CAROM_OK) display_add_mesh(d, &shown, l->name);
        display_mesh_close(&shown);
        carom_mesh_destroy(mesh);
    }
    return status;
}

/* From the sphere that is nearest to the point of the link farthest outside to that point: a line
 * as long as it is, and a dot of that radius. */
static void show_worst(display *d, const carom_urdf_link *l, const carom_robot_audit *a,
                       const carom_ball *nearest, double radius,
                       const display_item *items[DISPLAY_MOST_LIT]) {
    const display_colour red = {217, 48, 37, 255};
    carom_vec3 centre = carom_pose_apply_value(&l->in_world, &nearest->centre);
    carom_vec3 to = carom_pose_apply_value(&l->in_world, &a->point);
    carom_vec3 along = {to.x - centre.x, to.y - centre.y, to.z - centre.z};
    double length = sqrt(along.x * along.x + along.y * along.y + along.z * along.z);
    double share = length > 0.0 ? nearest->radius / length : 0.0;
    display_item *line = display_add(d, DISPLAY_CURVE, l->name);
    display_item *dot = display_add(d, DISPLAY_SPHERES, l->name);
    display_add_segment(d, line,
                        (carom_vec3){centre.x + share * along.x, centre.y + share * along.y,
                                     centre.z + share * along.z},
                        to);
    display_add_sphere(d, dot, to, radius);
    line->colour = dot->colour = red;
    display_tell(d, &line->numbers, "outside", a->worst.lower, "m");
    display_tell(d, &dot->numbers, "outside", a->worst.lower, "m");
    items[1] = line;
    items[2] = dot;
}

/* A link, its spheres see-through, and its row in the list. */
static carom_status show_link(audit_job *job, display *d, const carom_urdf_view *v, uint32_t link,
                              display_list *list) {
    const carom_urdf_link *l = &v->links[link];
    const carom_robot_audit *a = &job->audits[link];
    const sphere_set *set = job->of[link];
    const display_item *items[DISPLAY_MOST_LIT] = {NULL};
    char cells[3][64];
    carom_status status = show_elements(job, d, v, l);
    if (status != CAROM_OK || !(a->area > 0.0)) return status;
    if (set != NULL && set->count != 0) {
        display_item *item = display_add(d, DISPLAY_SPHERES, l->name);
        const carom_ball *nearest = &set->balls[0];
        double least = HUGE_VAL;
        item->ghost = true;
        items[0] = item;
        for (uint64_t k = 0; k < set->count; ++k) {
            const carom_ball *b = &set->balls[k];
            double x = a->point.x - b->centre.x, y = a->point.y - b->centre.y;
            double z = a->point.z - b->centre.z, gap = sqrt(x * x + y * y + z * z) - b->radius;
            if (gap < least) {
                least = gap;
                nearest = b;
            }
            display_add_sphere(d, item, carom_pose_apply_value(&l->in_world, &b->centre),
                               b->radius);
        }
        display_tell(d, &item->numbers, "leaves outside at most", a->worst.upper, "m");
        if (a->worst.lower > 0.0) show_worst(d, l, a, nearest, job->dot, items);
    }
    snprintf(cells[0], sizeof(cells[0]), "%" PRIu64, set != NULL ? set->count : 0);
    snprintf(cells[1], sizeof(cells[1]), "%.1f %%", 100.0 * a->outside_share.value);
    snprintf(cells[2], sizeof(cells[2]), "%.3g m", a->worst.upper);
    const char *const row[4] = {l->name, cells[0], cells[1],
                                isinf(a->worst.upper) ? "no spheres" : cells[2]};
    display_add_row(d, list, row, items, carom_pose_apply_value(&l->in_world, &a->point),
                    0.5 * sqrt(a->area));
    return status;
}

static carom_status show(audit_job *job) {
    display d;
    carom_urdf_view v;
    char title[160], more[64] = "";
    double worst = 0.0;
    uint64_t bare = 0; /* links without spheres */
    for (uint32_t i = 0; i < job->info.links; ++i) {
        bool has = job->of[i] != NULL && job->of[i]->count != 0;
        if (has) worst = fmax(worst, job->audits[i].worst.upper);
        if (!has && job->audits[i].area > 0.0) ++bare;
    }
    if (bare != 0) snprintf(more, sizeof(more), "; %" PRIu64 " links have no spheres", bare);
    snprintf(title, sizeof(title), "spheres leave the robot outside by %.3g m at most%s", worst,
             more);
    job->dot = DOT_SHARE * worst;
    display_begin(&d, job->cli, title);
    d.metres = 1.0;
    d.up = job->cli->up != 0 ? job->cli->up : 'z';
    display_tell(&d, &d.answers, "farthest outside", worst, "m");
    if (bare != 0) display_tell_count(&d, &d.answers, "links without spheres", bare);
    static const char *const columns[] = {"link", "spheres", "outside", "farthest"};
    display_list *list = display_add_list(&d, "Links", columns, 4);
    carom_status status = carom_urdf_get_view(job->def->urdf, &v);
    for (uint32_t i = 0; i < v.link_count && status == CAROM_OK; ++i)
        status = show_link(job, &d, &v, i, list);
    if (status == CAROM_OK &&
        !display_save(&d, job->def->picture,
                      endings_format(job->def->picture, NULL, picture_formats)))
        status = CAROM_IO;
    display_free(&d);
    return status;
}

int robot_audit_run(cli *cli, const robot_audit_def *def) {
    audit_job job = {.cli = cli, .def = def, .spheres = {.name = def->spheres}};
    carom_status status = carom_robot_get_info(def->robot, &job.info);
    if (status == CAROM_OK) status = read_spheres(&job);
    if (job.spheres.message[0] != '\0')
        snprintf(cli->message, sizeof(cli->message), "%s", job.spheres.message);
    if (status == CAROM_OK) status = measure(&job);
    if (status == CAROM_OK && def->picture != NULL) status = show(&job);
    if (status == CAROM_OK && cli->json)
        print_json(&job);
    else if (status == CAROM_OK)
        print_words(&job);
    sphere_file_free(&job.spheres);
    free(job.audits);
    free(job.of);
    return status == CAROM_OK ? CLI_OK : cli_fail(cli, status);
}
