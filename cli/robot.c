/* SPDX-License-Identifier: MIT */
/* carom robot: which configurations or motions of a robot are free of collisions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/number_lines.h"
#include "cli/output.h"
#include "cli/packages.h"
#include "cli/robot_audit.h"
#include "cli/robot_show.h"
#include "cli/rows.h"
#include "cli/scene_parts.h"
#include "cli/text.h"

typedef struct options {
    const char *output, *format, *configs, *motions, *srdf, *covers, *save, *audit, *picture,
        *shard;
    arg_list world, packages;
    bool visual, covers_only, clearance, resume;
    uint64_t sample, seed, spheres, fine, inner, pairs;
    double margin, tolerance;
} options;

static const options robot_defaults = {.seed = 1};

ENDINGS(robot_formats, "csv", DISPLAY_ENDINGS);
ENDINGS(robot_covers, "csv");
ENDINGS(robot_saved, "robot");
ENDINGS(robot_pictures, DISPLAY_ENDINGS);

static const arg_option robot_options[] = {
    {"--configs", 0, ARG_INPUT, offsetof(options, configs), "FILE",
     "configurations: a line of joint values each; - is the standard input", NULL},
    {"--motions", 0, ARG_INPUT, offsetof(options, motions), "FILE",
     "straight motions: a line of joint values at the start, then at the end", NULL},
    {"--sample", 0, ARG_COUNT, offsetof(options, sample), "N",
     "N random configurations within the limits instead", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of --sample (1)", NULL},
    {"--world", 0, ARG_LIST, offsetof(options, world), "MESH",
     "an obstacle; may be given several times", NULL},
    {"--srdf", 0, ARG_INPUT, offsetof(options, srdf), "FILE",
     "pairs of links that may collide: disable_collisions of that SRDF file", NULL},
    {"--pairs", 0, ARG_COUNT, offsetof(options, pairs), "N",
     "of N random configurations: pairs of links that collide in all of them may, and are named",
     NULL},
    PACKAGES_OPTION(options, packages),
    {"--visual", 0, ARG_FLAG, offsetof(options, visual), NULL,
     "take the visual elements of links, not those for collision", NULL},
    {"--margin", 0, ARG_NUMBER, offsetof(options, margin), "D",
     "what is no farther apart than this collides, too (0)", NULL},
    {"--tolerance", 0, ARG_NUMBER, offsetof(options, tolerance), "D",
     "of --motions: a motion that comes closer is open, never free (1e-5)", NULL},
    {"--covers-only", 0, ARG_FLAG, offsetof(options, covers_only), NULL,
     "spheres alone; what they do not decide is open", NULL},
    {"--clearance", 0, ARG_FLAG, offsetof(options, clearance), NULL,
     "also bounds of the distance to the nearest collision", NULL},
    {"--spheres", 0, ARG_COUNT, offsetof(options, spheres), "N", "of the covers of all links (64)",
     NULL},
    {"--fine", 0, ARG_COUNT, offsetof(options, fine), "N",
     "spheres of the finer covers of all links (six times --spheres)", NULL},
    {"--inner", 0, ARG_COUNT, offsetof(options, inner), "N", "balls inside of each link (32)",
     NULL},
    {"--export", 0, ARG_OUTPUT, offsetof(options, covers), "FILE",
     "write the covers there: lines link,x,y,z,radius in the link's frame", robot_covers},
    {"--save", 0, ARG_OUTPUT, offsetof(options, save), "FILE",
     "write the prepared robot and its world there: it is read like a URDF file, at once",
     robot_saved},
    {"--audit", 0, ARG_INPUT, offsetof(options, audit), "FILE",
     "instead, how far these spheres leave the robot outside: cuRobo YAML, XRDF, URDF of spheres",
     NULL},
    {"--picture", 0, ARG_OUTPUT, offsetof(options, picture), "FILE",
     "of --audit: show the robot, its spheres and the points farthest outside", robot_pictures},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write a line per configuration or motion there, or show them; - is CSV on the standard "
     "output",
     robot_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--shard", 0, ARG_TEXT, offsetof(options, shard), "I/N",
     "one of N shares of the configurations or motions; carom merge joins them", NULL},
    {"--resume", 0, ARG_FLAG, offsetof(options, resume), NULL,
     "with --shard: keep FILE where it is whole and of this input", NULL},
};

static const char robot_details[] =
    "Says of each configuration whether the robot of a URDF file is free or colliding, with "
    "itself\n"
    "and with the meshes of --world, and which two collide. First spheres that contain the links "
    "are\n"
    "compared, then balls inside of them, then the faces of what is left, exactly. Free is "
    "proved,\n"
    "the rounding of the kinematics included. A configuration has one value per joint that moves "
    "and\n"
    "mimics none, in the order of the file, in radians and metres. Links that a joint connects, "
    "and\n"
    "pairs of --srdf, may collide. -o writes lines index,verdict,a,b,stage and with --clearance\n"
    "lower,upper; of motions index,verdict,a,b,free_until,contact. -o x.html, x.glb or x.png "
    "shows\n"
    "the robot in its configurations or along its motions, with what collides lit; without any, "
    "with\n"
    "all joints at 0. A page shows the first 500 configurations or 50 motions.";

typedef struct job {
    cli *cli;
    const options *options;
    const char *path;
    carom_context *device; /* of --device cuda, which only answers; NULL: the CPU does */
    carom_urdf *urdf;
    carom_robot *robot;
    carom_robot_info info;
    uint32_t first_object;         /* of --world: those before are of a saved world */
    carom_robot_pair_counts pairs; /* of --pairs */
    number_lines values;
    uint64_t count; /* of configurations or motions */
    carom_robot_result *results;
    carom_robot_gap *gaps;
    carom_robot_motion_result *moved;
    uint64_t verdicts[CAROM_ROBOT_VERDICT_COUNT], stages[CAROM_ROBOT_STAGE_COUNT];
    double prepare_s, seconds;
    output out;
    shard_head shard;
    uint64_t first; /* configuration or motion of the shard */
} job;

/* ---- The robot ------------------------------------------------------------------------------- */

static carom_status add_world(job *job) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < job->options->world.count && status == CAROM_OK; ++i) {
        carom_mesh *mesh = NULL;
        carom_mesh_view view;
        carom_robot_shape shape = {.mesh = &view};
        status = meshes_load(job->cli, job->options->world.values[i], CAROM_MESH_FORMAT_GUESS,
                             false, &mesh);
        if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
        if (status == CAROM_OK)
            status = carom_robot_add_objects(job->cli->context, job->robot, &shape, 1, NULL);
        carom_mesh_destroy(mesh);
    }
    return status;
}

static bool is_saved(const char *path) {
    return endings_format(path, NULL, robot_saved) != NULL;
}

/* Pairs that collide in all random configurations may. */
static carom_status allow_pairs(job *job) {
    const options *o = job->options;
    carom_status status = CAROM_OK;
    if (o->pairs == 0) return CAROM_OK;
    status =
        carom_robot_sample_pairs(job->cli->context, job->robot, o->pairs, o->seed, &job->pairs);
    for (uint64_t i = 0; i < job->pairs.count && status == CAROM_OK; ++i) {
        const carom_pair pair = {job->pairs.data[i].a, job->pairs.data[i].b};
        if (job->pairs.data[i].colliding == o->pairs)
            status = carom_robot_set_allowed(job->cli->context, job->robot, &pair, 1, true);
    }
    return status;
}

static carom_status robot_prepare(job *job) {
    const options *o = job->options;
    scene_robot_def how = {
        .srdf = o->srdf, .joints = NULL, .visual = o->visual, .packages = &o->packages};
    carom_robot_def def = {.spheres = o->spheres, .fine = o->fine, .inner = o->inner};
    carom_status status = CAROM_OK;
    if (o->audit != NULL) def.spheres = def.inner = def.fine = 1; /* only faces are needed */
    if (!is_saved(job->path)) status = scene_urdf_load(job->cli, job->path, &how, &job->urdf);
    if (status != CAROM_OK) return status;
    double start = carom_time_seconds();
    status =
        is_saved(job->path)
            ? carom_robot_load(job->cli->context, job->path, CAROM_ROBOT_FORMAT_CAROM, &job->robot)
            : carom_robot_create_urdf(job->cli->context, job->urdf, &def, &job->robot);
    if (status == CAROM_OK) status = carom_robot_get_info(job->robot, &job->info);
    job->first_object = job->info.objects;
    if (status == CAROM_OK) status = allow_pairs(job);
    if (status == CAROM_OK) status = add_world(job);
    if (status == CAROM_OK && o->save != NULL) {
        interrupt_hold(); /* the library removes its draft itself */
        status = carom_robot_save(job->cli->context, job->robot, CAROM_ROBOT_FORMAT_CAROM, o->save);
        interrupt_release();
    }
    if (status == CAROM_OK) status = carom_robot_get_info(job->robot, &job->info);
    job->prepare_s = carom_time_seconds() - start;
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int sample(job *job) {
    uint32_t dof = job->info.dof;
    double *limits = calloc(2 * (size_t)dof + 1, sizeof(*limits));
    carom_random random = {job->options->seed};
    bool fits = limits != NULL;
    if (fits) (void)carom_robot_get_limits(job->robot, limits, limits + dof);
    for (uint64_t i = 0; i < job->options->sample * dof && fits; ++i)
        fits = number_lines_push(
            &job->values, carom_random_between(&random, limits[i % dof], limits[dof + i % dof]));
    job->count = job->options->sample;
    free(limits);
    return fits ? CLI_OK : cli_fail_with(job->cli, CAROM_NO_MEMORY, "no memory for --sample");
}

/* ---- Query ----------------------------------------------------------------------------------- */

/* What a device says of a failure, which the job's own context does not know. */
static carom_status robot_answered(const job *job, carom_status status) {
    if (status != CAROM_OK && job->device != NULL)
        snprintf(job->cli->message, sizeof(job->cli->message), "%s",
                 carom_context_message(job->device));
    return status;
}

static carom_status query_motions(job *job, carom_context *context,
                                  const carom_robot_query *query) {
    uint64_t dof = job->info.dof;
    double *both = malloc((job->values.count + 1) * sizeof(*both));
    carom_status status = CAROM_OK;
    job->moved = calloc(job->count + 1, sizeof(*job->moved));
    if (both == NULL || job->moved == NULL) status = CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < job->count * 2 * dof && status == CAROM_OK; ++i) {
        uint64_t line = i / (2 * dof), at = i % (2 * dof);
        both[at < dof ? line * dof + at : (job->count + line) * dof + at - dof] =
            job->values.data[i];
    }
    double start = carom_time_seconds();
    if (status == CAROM_OK)
        status = robot_answered(job, carom_robot_motion(context, job->robot, both,
                                                        both + job->count * dof, job->count, query,
                                                        job->moved));
    job->seconds = carom_time_seconds() - start;
    for (uint64_t i = 0; i < job->count && status == CAROM_OK; ++i)
        ++job->verdicts[job->moved[i].verdict];
    free(both);
    return status;
}

static carom_status robot_query(job *job) {
    const options *o = job->options;
    carom_context *context = job->device != NULL ? job->device : job->cli->context;
    const carom_robot_query query = {
        .margin = o->margin, .covers_only = o->covers_only, .tolerance = o->tolerance};
    if (o->motions != NULL) return query_motions(job, context, &query);
    job->results = calloc(job->count + 1, sizeof(*job->results));
    if (o->clearance) job->gaps = calloc(job->count + 1, sizeof(*job->gaps));
    if (job->results == NULL || (o->clearance && job->gaps == NULL)) return CAROM_NO_MEMORY;
    double start = carom_time_seconds();
    carom_status status =
        robot_answered(job, carom_robot_check(context, job->robot, job->values.data, job->count,
                                              &query, job->results));
    job->seconds = carom_time_seconds() - start;
    if (status == CAROM_OK && o->clearance)
        status = robot_answered(job, carom_robot_clearance(context, job->robot, job->values.data,
                                                           job->count, &query, job->gaps));
    for (uint64_t i = 0; i < job->count && status == CAROM_OK; ++i) {
        ++job->verdicts[job->results[i].verdict];
        ++job->stages[job->results[i].stage];
    }
    return status;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void put_body(const job *job, uint32_t body, bool is_object, FILE *f) {
    putc(',', f);
    if (body == CAROM_NONE) return;
    if (!is_object)
        text_put_csv(f, carom_robot_link_name(job->robot, body));
    else if (body >= job->first_object)
        text_put_csv(f, job->options->world.values[body - job->first_object]);
    else
        fprintf(f, "object %u", body); /* of a saved world */
}

static const char *robot_heading(const job *job) {
    return job->moved != NULL  ? "index,verdict,a,b,free_until,contact\n"
           : job->gaps != NULL ? "index,verdict,a,b,stage,lower,upper\n"
                               : "index,verdict,a,b,stage\n";
}

static void robot_write_line(const job *job, uint64_t i, FILE *f) {
    if (job->moved != NULL) {
        const carom_robot_motion_result *m = &job->moved[i];
        fprintf(f, "%" PRIu64 ",%s", job->first + i, carom_robot_verdict_name(m->verdict));
        put_body(job, m->a, false, f);
        put_body(job, m->b, m->with_object, f);
        fprintf(f, ",%.17g,%.17g\n", m->free_until, m->contact);
        return;
    }
    const carom_robot_result *r = &job->results[i];
    fprintf(f, "%" PRIu64 ",%s", job->first + i, carom_robot_verdict_name(r->verdict));
    put_body(job, r->a, false, f);
    put_body(job, r->b, r->with_object, f);
    fprintf(f, ",%s", carom_robot_stage_name(r->stage));
    if (job->gaps != NULL)
        fprintf(f, ",%.17g,%.17g", job->gaps[i].distance.lower, job->gaps[i].distance.upper);
    putc('\n', f);
}

static void robot_write(job *job) {
    fputs(robot_heading(job), job->out.file);
    for (uint64_t i = 0; i < job->count && !interrupt_seen(); ++i)
        robot_write_line(job, i, job->out.file);
}

/* The rows of a shard. */
static carom_status robot_write_rows(job *job) {
    rows_writer rows;
    bool good = rows_begin(&rows, &job->shard, robot_heading(job), &job->out);
    for (uint64_t i = 0; i < job->count && good && !interrupt_seen(); ++i) {
        robot_write_line(job, i, rows.text);
        rows_put(&rows, job->first + i, 0, NULL);
    }
    if (rows_end(&rows)) return CAROM_OK;
    snprintf(job->cli->message, sizeof(job->cli->message), "a temporary file cannot be written");
    return CAROM_IO;
}

/* The hash of all that the rows depend on, then the share of the shard. */
static carom_status robot_take_share(job *job) {
    const options *o = job->options;
    carom_bytes saved = {0};
    const double numbers[2] = {o->margin, o->tolerance};
    const bool flags[3] = {o->covers_only, o->clearance, o->motions != NULL};
    uint64_t each = (o->motions != NULL ? 2 : 1) * (uint64_t)job->info.dof;
    carom_status status =
        carom_robot_save_memory(job->cli->context, job->robot, CAROM_ROBOT_FORMAT_CAROM, &saved);
    if (status != CAROM_OK) return status;
    uint64_t hash = rows_hash(2, saved.data, (size_t)saved.count);
    hash = rows_hash(hash, numbers, sizeof(numbers));
    hash = rows_hash(hash, flags, sizeof(flags));
    for (size_t i = 0; i < o->world.count; ++i)
        hash = rows_hash(hash, o->world.values[i], strlen(o->world.values[i]));
    hash = rows_hash(hash, job->values.data, (size_t)job->values.count * sizeof(*job->values.data));
    carom_bytes_free(&saved);
    shard_set(&job->shard, hash);
    uint64_t all = job->count, shards = job->shard.count;
    job->first = all * (job->shard.number - 1) / shards;
    job->count = all * job->shard.number / shards - job->first;
    job->values.count = job->count * each;
    if (job->values.count != 0)
        memmove(job->values.data, job->values.data + job->first * each,
                (size_t)job->values.count * sizeof(*job->values.data));
    return CAROM_OK;
}

static carom_status robot_show_all(const job *job, const char *format) {
    const robot_show_def def = {.path = job->path,
                                .robot = job->robot,
                                .urdf = job->urdf,
                                .world = &job->options->world,
                                .first_object = job->first_object,
                                .links = job->info.links,
                                .dof = job->info.dof,
                                .values = job->values.data,
                                .count = job->count,
                                .results = job->results,
                                .gaps = job->gaps,
                                .moved = job->moved};
    return robot_show(job->cli, &def, job->options->output, format);
}

static carom_status robot_export(job *job) {
    output out = {0};
    carom_robot_balls balls = {0};
    carom_status status = CAROM_OK;
    if (job->options->covers == NULL) return CAROM_OK;
    if (!output_open(job->cli, job->options->covers, &out)) return CAROM_IO;
    fputs("link,x,y,z,radius\n", out.file);
    for (uint32_t i = 0; i < job->info.links && status == CAROM_OK; ++i) {
        status = carom_robot_list_cover(job->cli->context, job->robot, i, &balls);
        for (uint64_t k = 0; k < balls.count && status == CAROM_OK; ++k) {
            text_put_csv(out.file, carom_robot_link_name(job->robot, i));
            fprintf(out.file, ",%.17g,%.17g,%.17g,%.17g\n", balls.data[k].centre.x,
                    balls.data[k].centre.y, balls.data[k].centre.z, balls.data[k].radius);
        }
    }
    carom_robot_balls_free(&balls);
    if (!output_close(&out, status == CAROM_OK)) return CAROM_IO;
    return status;
}

/* Names of bodies with meshes that are not closed: number i of links, then of the world. */
static const char *surface_name(const job *job, uint64_t i) {
    const uint32_t links = job->info.links;
    if (i < links)
        return carom_robot_has_open_mesh(job->robot, (uint32_t)i, false)
                   ? carom_robot_link_name(job->robot, (uint32_t)i)
                   : NULL;
    uint32_t object = job->first_object + (uint32_t)(i - links);
    return carom_robot_has_open_mesh(job->robot, object, true)
               ? job->options->world.values[i - links]
               : NULL;
}

static void print_surfaces(const job *job, FILE *out) {
    const uint64_t all = job->info.links + job->options->world.count;
    bool first = true;
    for (uint64_t i = 0; i < all; ++i) {
        const char *name = surface_name(job, i);
        if (name == NULL) continue;
        fputs(first ? "meshes that are not closed were taken as surfaces: " : ", ", out);
        text_put(out, name);
        first = false;
    }
    if (!first) putc('\n', out);
}

/* The pairs of --pairs that collided in all configurations, or in none. */
static void print_pairs(const job *job, bool always, FILE *out) {
    const char *before = always ? "collided in all %" PRIu64 " random configurations, and may: "
                                : "did not collide in any of %" PRIu64 " and are tested: ";
    const uint64_t wanted = always ? job->options->pairs : 0;
    bool first = true;
    for (uint64_t i = 0; i < job->pairs.count; ++i) {
        const carom_robot_pair_count *p = &job->pairs.data[i];
        if (p->colliding != wanted) continue;
        if (first)
            fprintf(out, before, job->options->pairs);
        else
            fputs(", ", out);
        text_put(out, carom_robot_link_name(job->robot, p->a));
        fputs(" with ", out);
        text_put(out, carom_robot_link_name(job->robot, p->b));
        first = false;
    }
    if (!first) putc('\n', out);
}

static void json_pairs(const job *job, const char *key, uint64_t wanted, json *j) {
    json_begin_array(j, key);
    for (uint64_t i = 0; i < job->pairs.count; ++i) {
        const carom_robot_pair_count *p = &job->pairs.data[i];
        if (p->colliding != wanted) continue;
        json_begin_array(j, NULL);
        json_text(j, NULL, carom_robot_link_name(job->robot, p->a));
        json_text(j, NULL, carom_robot_link_name(job->robot, p->b));
        json_end_array(j);
    }
    json_end_array(j);
}

static void robot_print_json(const job *job) {
    json j = cli_begin_json(job->cli);
    json_count(&j, "links", job->info.links);
    json_count(&j, "dof", job->info.dof);
    json_count(&j, "pairs", job->info.pairs);
    json_count(&j, "spheres", job->info.spheres);
    json_count(&j, "triangles", job->info.triangles);
    json_count(&j, "open_meshes", job->info.open_meshes);
    json_begin_array(&j, "surfaces");
    for (uint64_t i = 0; i < job->info.links + job->options->world.count; ++i)
        if (surface_name(job, i) != NULL) json_text(&j, NULL, surface_name(job, i));
    json_end_array(&j);
    if (job->options->pairs != 0) {
        json_pairs(job, "always", job->options->pairs, &j);
        json_pairs(job, "never", 0, &j);
    }
    json_number(&j, "overhang", job->info.overhang);
    json_count(&j, "fine", job->info.fine);
    json_number(&j, "fine_overhang", job->info.fine_overhang);
    json_number(&j, "rounding", job->info.rounding);
    json_count(&j, job->moved != NULL ? "motions" : "configs", job->count);
    json_count(&j, "free", job->verdicts[CAROM_ROBOT_VERDICT_FREE]);
    json_count(&j, "colliding", job->verdicts[CAROM_ROBOT_VERDICT_COLLIDING]);
    json_count(&j, "open", job->verdicts[CAROM_ROBOT_VERDICT_OPEN]);
    if (job->moved == NULL) {
        json_begin_object(&j, "stages");
        for (int i = 0; i < CAROM_ROBOT_STAGE_COUNT; ++i)
            json_count(&j, carom_robot_stage_name((carom_robot_stage)i), job->stages[i]);
        json_end_object(&j);
    }
    json_number(&j, "prepare_s", job->prepare_s);
    json_number(&j, "seconds", job->seconds);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    cli_end_json(&j);
}

static void robot_print_words(const job *job) {
    FILE *out = output_words(job->options->output);
    fprintf(out,
            "%s: %u links, %u joint values, %" PRIu64 " pairs tested, covers of %" PRIu64
            " spheres that reach out %.3g at most, finer ones of %" PRIu64 ", %.3g\n",
            job->path, job->info.links, job->info.dof, job->info.pairs, job->info.spheres,
            job->info.overhang, job->info.fine, job->info.fine_overhang);
    print_surfaces(job, out);
    print_pairs(job, true, out);
    print_pairs(job, false, out);
    fprintf(out, "%" PRIu64 " %s: %" PRIu64 " free, %" PRIu64 " colliding, %" PRIu64 " open\n",
            job->count, job->moved != NULL ? "motions" : "configurations",
            job->verdicts[CAROM_ROBOT_VERDICT_FREE], job->verdicts[CAROM_ROBOT_VERDICT_COLLIDING],
            job->verdicts[CAROM_ROBOT_VERDICT_OPEN]);
    if (job->moved == NULL)
        fprintf(out, "decided by covers %" PRIu64 ", inner balls %" PRIu64 ", faces %" PRIu64 "\n",
                job->stages[CAROM_ROBOT_STAGE_COVERS], job->stages[CAROM_ROBOT_STAGE_INNER],
                job->stages[CAROM_ROBOT_STAGE_EXACT]);
    fprintf(out, "prepared in %.2f s, answered in %.2f ms\n", job->prepare_s, 1e3 * job->seconds);
}

/* ---- Command --------------------------------------------------------------------------------- */

static int robot_run_job(job *job) {
    const options *o = job->options;
    carom_status status = robot_prepare(job);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (o->audit != NULL) {
        const robot_audit_def audit = {.robot = job->robot,
                                       .urdf = job->urdf,
                                       .path = job->path,
                                       .spheres = o->audit,
                                       .picture = o->picture};
        return robot_audit_run(job->cli, &audit);
    }
    uint64_t each = (o->motions != NULL ? 2 : 1) * (uint64_t)job->info.dof;
    const char *lines = o->configs != NULL ? o->configs : o->motions;
    int code = lines != NULL ? number_lines_read(job->cli, lines, each, &job->values) : sample(job);
    if (code != CLI_OK) return code;
    if (lines != NULL) job->count = job->values.lines;
    status = robot_export(job);
    if (status == CAROM_OK && job->shard.number != 0) status = robot_take_share(job);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (job->shard.number != 0 && o->resume &&
        rows_are_finished(job->cli, o->output, &job->shard)) {
        fprintf(output_words(o->output), "shard %u of %u: was there\n", job->shard.number,
                job->shard.count);
        return CLI_OK;
    }
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, robot_formats) : NULL;
    bool is_shown = display_has_format(format);
    if (!output_open(job->cli, is_shown ? NULL : o->output, &job->out)) return CLI_INPUT;
    status = robot_query(job);
    if (status == CAROM_OK && job->shard.number != 0)
        status = robot_write_rows(job);
    else if (status == CAROM_OK && job->out.file != NULL)
        robot_write(job);
    if (status == CAROM_OK && is_shown) status = robot_show_all(job, format);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (!written) return CLI_MACHINE;
    bar_clear(&job->cli->bar);
    if (job->cli->json)
        robot_print_json(job);
    else
        robot_print_words(job);
    return CLI_OK;
}

/* What a shard does not have. */
static const char *robot_shard_misuse(const options *o, const shard_head *shard) {
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, robot_formats) : NULL;
    if (shard->number == 0) return o->resume ? "--resume is for --shard" : NULL;
    if (!endings_is(format, "csv") || output_is_standard(o->output))
        return "--shard needs -o FILE.csv";
    return o->audit != NULL ? "--audit has no shards" : NULL;
}

/* The same on a device: robots are prepared by the CPU, with a context of its own. */
static int robot_run_on_device(job *job) {
    carom_context_def def = {.threads = (uint32_t)job->cli->threads,
                             .isa = (carom_isa)job->cli->isa,
                             .progress = bar_progress,
                             .progress_user = &job->cli->bar,
                             .input_limit = job->cli->limit_input};
    carom_context *cpu;
    carom_status status = carom_context_create(&def, &cpu);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    job->device = job->cli->context;
    job->cli->context = cpu;
    int code = robot_run_job(job);
    job->cli->context = job->device;
    carom_context_destroy(cpu);
    return code;
}

static int robot_run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    const options *o = values;
    char text[512];
    const char *misuse = output_misuse(cli, o->output);
    if (misuse == NULL) misuse = output_misuse(cli, o->covers);
    if (misuse == NULL) misuse = packages_misuse(&o->packages, text, sizeof(text));
    if (misuse == NULL && (o->configs != NULL) + (o->motions != NULL) + (o->sample != 0) > 1)
        misuse = "give one of --configs, --motions and --sample";
    if (misuse == NULL && o->audit != NULL &&
        (o->configs != NULL || o->motions != NULL || o->sample != 0 || o->save != NULL ||
         o->covers != NULL || o->output != NULL || o->pairs != 0))
        misuse = "--audit answers another question: give it with --visual, --package and --picture";
    if (misuse == NULL && o->picture != NULL && (o->audit == NULL || is_saved(paths[0])))
        misuse = "--picture is of --audit, with a URDF file";
    if (misuse == NULL && is_saved(paths[0]) &&
        (o->srdf != NULL || o->visual || o->spheres != 0 || o->fine != 0 || o->inner != 0 ||
         o->packages.count != 0))
        misuse = "a saved robot is prepared: --srdf, --visual, --spheres, --fine, --inner and "
                 "--package are of URDF";
    if (misuse == NULL && o->clearance && o->motions != NULL)
        misuse = "--clearance is of configurations, not of --motions";
    if (misuse == NULL && cli->device == CAROM_BACKEND_CUDA && o->audit != NULL)
        misuse = "--device cuda checks configurations and motions: --audit is of the CPU";
    shard_head shard;
    if (misuse == NULL) misuse = shard_parse(o->shard, &shard);
    if (misuse == NULL) misuse = robot_shard_misuse(o, &shard);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (shard.number != 0) snprintf(shard.table, sizeof(shard.table), "robot");
    job job = {.cli = cli, .options = o, .path = paths[0], .shard = shard};
    int code = cli->device == CAROM_BACKEND_CUDA ? robot_run_on_device(&job) : robot_run_job(&job);
    carom_robot_destroy(job.robot);
    carom_urdf_destroy(job.urdf);
    carom_robot_pair_counts_free(&job.pairs);
    free(job.values.data);
    free(job.results);
    free(job.gaps);
    free(job.moved);
    return code;
}

const cli_command cli_robot = {
    .order = 46,
    .name = "robot",
    .arguments = "URDF [--configs FILE] [--world MESH] [-o FILE]",
    .summary = "which configurations or motions of a robot are free of collisions",
    .details = robot_details,
    .options = robot_options,
    .option_count = sizeof(robot_options) / sizeof(robot_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 1,
    .on_cuda = true,
    .run = robot_run,
    .defaults = &robot_defaults,
    .inputs = 1,
};
