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

typedef struct audit_job {
    cli *cli;
    const robot_audit_def *def;
    sphere_file spheres;
    carom_robot_audit *audits; /* of each link */
    const sphere_set **of;     /* of each link; NULL: no spheres */
    carom_robot_info info;
    uint64_t foreign; /* sets of links that the robot does not have */
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
        printf("  %" PRIu64 " spheres, %.2f to %.2f %% outside, %.6g to %.6g at (%g, %g, %g)",
               job->of[i] != NULL ? job->of[i]->count : 0, 100.0 * a->outside_share.lower,
               100.0 * a->outside_share.upper, a->worst.lower, a->worst.upper, a->point.x,
               a->point.y, a->point.z);
        if (a->left_out != 0) printf(", %" PRIu64 " round shapes not measured", a->left_out);
        putchar('\n');
    }
    if (job->foreign != 0)
        printf("%" PRIu64 " lists of spheres are of links that %s does not have\n", job->foreign,
               job->def->path);
}

/* The links where the joints of the file are at 0, their spheres see-through, and an arrow from the
 * sphere that is nearest to the worst point of each link to that point. */
static carom_status show_link(audit_job *job, display *d, const carom_urdf_view *v, uint32_t link) {
    const carom_urdf_link *l = &v->links[link];
    const carom_robot_audit *a = &job->audits[link];
    carom_status status = CAROM_OK;
    for (uint32_t i = l->first; i < l->first + l->count && status == CAROM_OK; ++i) {
        carom_pose pose = carom_pose_compose_value(&l->in_world, &v->elements[i].origin);
        carom_mesh *mesh;
        carom_mesh_view view;
        display_mesh shown = {0};
        status = carom_urdf_load_mesh(job->cli->context, job->def->urdf, i, &mesh);
        if (status != CAROM_OK || mesh == NULL) continue;
        status = carom_mesh_get_view(mesh, &view);
        if (status == CAROM_OK) status = display_mesh_open(job->cli, &view, false, &pose, &shown);
        if (status == CAROM_OK) display_add_mesh(d, &shown, l->name);
        display_mesh_close(&shown);
        carom_mesh_destroy(mesh);
    }
    const sphere_set *set = job->of[link];
    if (set == NULL || set->count == 0 || status != CAROM_OK) return status;
    display_item *item = display_add(d, DISPLAY_SPHERES, l->name);
    const carom_ball *nearest = &set->balls[0];
    double least = HUGE_VAL;
    item->ghost = true;
    for (uint64_t k = 0; k < set->count; ++k) {
        const carom_ball *b = &set->balls[k];
        double gap = sqrt((a->point.x - b->centre.x) * (a->point.x - b->centre.x) +
                          (a->point.y - b->centre.y) * (a->point.y - b->centre.y) +
                          (a->point.z - b->centre.z) * (a->point.z - b->centre.z)) -
                     b->radius;
        if (gap < least) {
            least = gap;
            nearest = b;
        }
        display_add_sphere(d, item, carom_pose_apply_value(&l->in_world, &b->centre), b->radius);
    }
    display_tell(d, &item->numbers, "leaves outside at most", a->worst.upper, "m");
    if (a->worst.lower > 0.0) {
        carom_vec3 from = carom_pose_apply_value(&l->in_world, &nearest->centre);
        carom_vec3 to = carom_pose_apply_value(&l->in_world, &a->point);
        display_add_arrow(d, l->name, from,
                          (carom_vec3){to.x - from.x, to.y - from.y, to.z - from.z}, "m");
    }
    return status;
}

static carom_status show(audit_job *job) {
    display d;
    carom_urdf_view v;
    char title[160];
    double worst = 0.0;
    for (uint32_t i = 0; i < job->info.links; ++i)
        if (job->of[i] != NULL) worst = fmax(worst, job->audits[i].worst.upper);
    snprintf(title, sizeof(title), "spheres leave the robot outside by %.3g m at most", worst);
    display_begin(&d, job->cli, title);
    d.metres = 1.0;
    d.up = job->cli->up != 0 ? job->cli->up : 'z';
    display_tell(&d, &d.answers, "farthest outside", worst, "m");
    carom_status status = carom_urdf_get_view(job->def->urdf, &v);
    for (uint32_t i = 0; i < v.link_count && status == CAROM_OK; ++i)
        status = show_link(job, &d, &v, i);
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
