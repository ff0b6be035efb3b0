/* SPDX-License-Identifier: MIT */
/* carom scene: the clash report of all parts of scene files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/endings.h"
#include "cli/meshes.h"
#include "cli/packages.h"
#include "cli/platform.h"
#include "cli/rows.h"
#include "cli/scene_report.h"
#include "cli/scene_share.h"

typedef struct options {
    const char *output, *format, *srdf, *baseline, *ignore, *shard;
    double clearance;
    bool resume, check, depth, touching, no_touching, visual;
    int from;
    arg_list packages, joints;
} options;

ENDINGS(scene_formats, "csv", "json", "bcf", DISPLAY_ENDINGS);
ENDINGS(robot_endings, "urdf");

static const arg_option scene_options[] = {
    {"--clearance", 0, ARG_NUMBER, offsetof(options, clearance), "D",
     "also list parts that are apart, but at most D", NULL},
    {"--depth", 0, ARG_FLAG, offsetof(options, depth), NULL,
     "find how far, and which way, to move parts that overlap (pages and BCF always)", NULL},
    {"--no-touching", 0, ARG_FLAG, offsetof(options, no_touching), NULL,
     "leave out parts that only touch", NULL},
    {"--touching", 0, ARG_FLAG, offsetof(options, touching), NULL,
     "of BCF: topics for parts that only touch, too", NULL},
    {"--baseline", 0, ARG_INPUT, offsetof(options, baseline), "OLD",
     "an earlier report, .html or .json: keep its status and notes, say what is new or solved",
     NULL},
    {"--ignore", 0, ARG_INPUT, offsetof(options, ignore), "FILE",
     "leave out clashes by lines GLOB GLOB [RELATION] [depth<=X]", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write the report there, or show it; - is CSV on the standard output", scene_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--srdf", 0, ARG_INPUT, offsetof(options, srdf), "FILE",
     "of a robot (URDF): leave out the pairs of links that this file disables", NULL},
    {"--joints", 0, ARG_LIST, offsetof(options, joints), "NAME=VALUE,...",
     "of a robot: angles and lengths of joints, in radians and metres (0); may be given again",
     NULL},
    {"--visual", 0, ARG_FLAG, offsetof(options, visual), NULL,
     "of a robot: take the visual elements, not those for collision", NULL},
    PACKAGES_OPTION(options, packages),
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL, "exit with 1 when there is a clash",
     NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--shard", 0, ARG_TEXT, offsetof(options, shard), "I/N",
     "one of N shares of the pairs of parts; carom merge joins them", NULL},
    {"--resume", 0, ARG_FLAG, offsetof(options, resume), NULL,
     "with --shard: keep FILE where it is whole and of this input", NULL},
};

static const char details[] =
    "Finds every two parts that touch, overlap, enclose each other or are closer than the\n"
    "clearance. Parts are those of the files: objects, groups, solids, nodes; a file without "
    "parts\n"
    "is one. Parts with faces that meet are\n"
    "  touching    no space is in both\n"
    "  crossing    faces cross, and one part is open, so that there is no volume\n"
    "  protruding  both are closed, and share the volume that is given\n"
    "  enclosed    one is inside the other\n"
    "  duplicate   both are the same triangles in the same place\n"
    "and parts within the clearance are close. All but the numbers is decided exactly. Faces of "
    "one\n"
    "part that meet each other are no clash.\n"
    "A file may also be a packing (carom pack -o). What is said of it holds for the solid that "
    "was\n"
    "packed, with the error that --json gives; where its spheres are too few to decide, the "
    "relation "
    "is\n"
    "possible.\n"
    "A URDF file gives the elements for collision of its links; joints are at 0 or as --joints "
    "says.\n"
    "Elements of one link and of links with a common joint are not compared.\n"
    "The page (-o report.html) is for work: a list with filter, sort and groups, each clash with "
    "its\n"
    "numbers and where it is, a status (new, active, reviewed, approved, resolved) and notes. Save "
    "in\n"
    "the page writes it with these, and --baseline takes them on to the next report.";

/* ---- The report ------------------------------------------------------------------------------ */

const char *scene_relation_name(scene_relation relation) {
    static const char *const names[SCENE_RELATIONS] = {
        "touching", "crossing", "protruding", "enclosed", "duplicate", "close", "possible"};
    return names[relation];
}

const char *scene_status_name(scene_status status) {
    static const char *const names[SCENE_STATUSES] = {"new", "active", "reviewed", "approved",
                                                      "resolved"};
    return names[status];
}

const char *scene_change_name(scene_change change) {
    static const char *const names[SCENE_CHANGES] = {NULL, "new", "still there"};
    return names[change];
}

static bool is_closed(const scene_part *part) {
    return part->mesh == NULL || part->solid != NULL;
}

/* Of the depth, by which a shorter way may exist where it is said to be the least. */
#define LEAST_PART 0.01

bool scene_has_depth(const scene_clash *clash) {
    return clash->contact.depth > 0.0;
}

bool scene_depth_is_least(const scene_clash *clash) {
    return scene_has_depth(clash) &&
           clash->contact.depth_bound >= (1.0 - LEAST_PART) * clash->contact.depth;
}

bool scene_has_direction(const scene_clash *clash) {
    carom_vec3 n = clash->contact.normal;
    return (scene_has_depth(clash) || clash->relation == SCENE_CLOSE) &&
           (n.x != 0.0 || n.y != 0.0 || n.z != 0.0);
}

/* Whether a contact is known by the spheres of a packing, within its error. */
static bool has_packing(const carom_scene_contact *c) {
    return c->method == CAROM_SCENE_CONTACT_METHOD_PACKINGS ||
           c->method == CAROM_SCENE_CONTACT_METHOD_SPHERES;
}

static scene_relation relation_of(const scene_part *a, const scene_part *b,
                                  const carom_scene_contact *c) {
    if (c->relation == CAROM_RELATION_APART) return SCENE_CLOSE;
    if (c->relation == CAROM_RELATION_TOUCHING)
        return has_packing(c) ? SCENE_POSSIBLE : SCENE_TOUCHING;
    if (scene_parts_equal(a, b)) return SCENE_DUPLICATE;
    if (c->relation >= CAROM_RELATION_A_INSIDE_B) return SCENE_ENCLOSED;
    return is_closed(a) && is_closed(b) ? SCENE_PROTRUDING : SCENE_CROSSING;
}

carom_vec3 scene_clash_point(const scene_report *report, const scene_clash *clash) {
    const carom_scene_contact *c = &clash->contact;
    carom_mesh_view view;
    if (c->point_count != 0) {
        carom_vec3 p = c->points[0].point_a, q = c->points[0].point_b;
        return (carom_vec3){0.5 * p.x + 0.5 * q.x, 0.5 * p.y + 0.5 * q.y, 0.5 * p.z + 0.5 * q.z};
    }
    bool a_inside = c->relation == CAROM_RELATION_A_INSIDE_B;
    const scene_part *inner = &report->parts->data[a_inside ? clash->a : clash->b];
    if (inner->mesh == NULL || carom_mesh_get_view(inner->mesh, &view) != CAROM_OK)
        return inner->object.pose.t;
    return scene_part_corner(inner, &view, 0, 0);
}

void scene_report_free(scene_report *report) {
    for (uint64_t i = 0; i < report->count; ++i) free(report->clashes[i].note);
    for (uint64_t i = 0; i < report->solved_count; ++i) {
        free(report->solved[i].name_a);
        free(report->solved[i].name_b);
        free(report->solved[i].relation);
        free(report->solved[i].note);
    }
    free(report->clashes);
    free(report->solved);
}

/* Makes clashes of contacts. */
static carom_status take_contacts(scene_report *report, const carom_scene_contacts *contacts,
                                  bool no_touching) {
    report->clashes = calloc((size_t)contacts->count + 1, sizeof(*report->clashes));
    if (report->clashes == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < contacts->count; ++i) {
        const carom_scene_contact *c = &contacts->data[i];
        const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
        scene_clash clash = {.a = c->a, .b = c->b, .relation = relation_of(a, b, c), .contact = *c};
        clash.has_volume = c->method == CAROM_SCENE_CONTACT_METHOD_SOLIDS ||
                           c->method == CAROM_SCENE_CONTACT_METHOD_PACKINGS;
        if (no_touching && clash.relation == SCENE_TOUCHING) continue;
        ++report->counts[clash.relation];
        report->clashes[report->count++] = clash;
    }
    return CAROM_OK;
}

static carom_status run_query(cli *cli, const options *options, const shard_head *shard,
                              scene_parts *parts, scene_report *report) {
    carom_context *context = cli->context;
    scene_share share = {.objects = NULL};
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    carom_scene_info info;
    carom_scene_def def = {
        .reach = options->clearance, .skip_depth = !report->depth, .least_depth = true};
    double start = carom_time_seconds();
    carom_status status = scene_share_take(cli, shard, options->clearance, parts, &share);
    if (shard->number != 0) {
        def.accept = scene_share_accept;
        def.accept_user = &share;
    }
    if (status == CAROM_OK) status = carom_scene_create(context, &def, &scene);
    for (uint64_t i = 0; i < share.count && status == CAROM_OK; ++i)
        status = carom_scene_add(context, scene, &parts->data[share.parts[i]].object, 1, NULL);
    if (status == CAROM_OK)
        status = carom_scene_set_ignored(context, scene, share.ignored, share.ignored_count, true);
    if (status == CAROM_OK) status = carom_scene_step(context, scene, &contacts, NULL, NULL);
    if (status == CAROM_OK) status = carom_scene_get_info(scene, &info);
    for (uint64_t i = 0; i < contacts.count; ++i) {
        contacts.data[i].a = share.parts[contacts.data[i].a];
        contacts.data[i].b = share.parts[contacts.data[i].b];
    }
    report->query_s = carom_time_seconds() - start;
    if (status == CAROM_OK) {
        report->pairs = info.pairs;
        status = take_contacts(report, &contacts, options->no_touching);
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    scene_share_free(&share);
    return status;
}

/* ---- Command --------------------------------------------------------------------------------- */

static void write_json(cli *cli, const scene_report *report, FILE *out) {
    json j = {.out = out};
    cli_put_envelope(cli, &j);
    scene_put_json(report, true, &j);
    cli_end_json(&j);
}

static carom_status write_report(cli *cli, const scene_report *report, const char *format,
                                 FILE *out) {
    if (endings_is(format, "bcf")) return scene_write_bcf(cli, report, out);
    if (endings_is(format, "csv")) scene_write_csv(report, out);
    if (endings_is(format, "json")) write_json(cli, report, out);
    return CAROM_OK;
}

/* Writes the file of the report; an exit code. */
static int write_file(cli *cli, const options *options, const scene_report *report) {
    const char *format = endings_format(options->output, options->format, scene_formats);
    output out = {0};
    if (display_has_format(format)) {
        display d = {0};
        carom_status status = scene_show(cli, report, &d);
        bool good = status == CAROM_OK && display_save(&d, options->output, format);
        display_free(&d);
        return status != CAROM_OK ? cli_fail(cli, status) : good ? CLI_OK : CLI_MACHINE;
    }
    if (!output_open(cli, options->output, &out)) return CLI_INPUT;
    carom_status status = write_report(cli, report, format, out.file);
    bool written = output_close(&out, status == CAROM_OK);
    return status != CAROM_OK ? cli_fail(cli, status) : written ? CLI_OK : CLI_MACHINE;
}

/* A hash of all that the report depends on beside the files: the parts as they were read. */
static uint64_t hash_parts(const options *options, const scene_report *report) {
    const scene_parts *parts = report->parts;
    const bool flags[2] = {report->depth, options->no_touching};
    /* 4: of how pairs are divided (scene_share.c); 1 had shares by hashes */
    uint64_t hash = rows_hash(4, &options->clearance, sizeof(options->clearance));
    hash = rows_hash(hash, flags, sizeof(flags));
    for (uint64_t i = 0; i < parts->count; ++i) {
        const scene_part *part = &parts->data[i];
        hash = rows_hash(hash, part->title, strlen(part->title));
        hash = rows_hash(hash, &part->digest, sizeof(part->digest));
        hash = rows_hash(hash, &part->spheres, sizeof(part->spheres));
        hash = rows_hash(hash, &part->box, sizeof(part->box));
    }
    if (parts->ignored_count == 0) return hash;
    return rows_hash(hash, parts->ignored, (size_t)parts->ignored_count * sizeof(*parts->ignored));
}

/* Writes the file of a shard; an exit code. */
static int write_shard(cli *cli, const options *options, const scene_report *report,
                       const shard_head *shard) {
    output out = {0};
    if (!output_open(cli, options->output, &out)) return CLI_INPUT;
    carom_status status = scene_write_rows(cli, report, shard, &out);
    bool written = output_close(&out, status == CAROM_OK);
    return status != CAROM_OK ? cli_fail(cli, status) : written ? CLI_OK : CLI_MACHINE;
}

static bool is_robot(const char *path) {
    return endings_format(path, NULL, robot_endings) != NULL;
}

/* The values of all --joints with commas between them, to be freed; NULL: no memory. */
static char *join_joints(const arg_list *joints) {
    size_t size = 1, used = 0;
    for (size_t i = 0; i < joints->count; ++i) size += strlen(joints->values[i]) + 1;
    char *text = calloc(size, 1);
    for (size_t i = 0; i < joints->count && text != NULL; ++i)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ",",
                                 joints->values[i]);
    return text;
}

static carom_status read_parts(cli *cli, const options *options, size_t count, char **paths,
                               scene_parts *parts) {
    char *joints = join_joints(&options->joints);
    carom_status status = joints != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    scene_robot_def robot = {options->srdf, joints, options->visual, &options->packages};
    for (size_t i = 0; i < count && status == CAROM_OK; ++i)
        status = is_robot(paths[i]) ? scene_parts_add_urdf(cli, paths[i], &robot, parts)
                                    : scene_parts_add_meshes(cli, paths[i], options->from, parts);
    free(joints);
    return status;
}

/* GUIDs, what is left out, groups, and what the earlier report says. */
static carom_status review(cli *cli, const options *options, const scene_rules *rules,
                           scene_report *report) {
    carom_status status = scene_identify(report);
    if (status == CAROM_OK && rules != NULL) status = scene_rules_apply(rules, report);
    if (status == CAROM_OK) status = scene_group(report);
    if (status == CAROM_OK && options->baseline != NULL)
        status = scene_compare(cli, options->baseline, report->clashes + report->count,
                               report->ignored, report);
    return status;
}

static int run_report(cli *cli, const options *options, shard_head *shard, size_t count,
                      char **paths, scene_parts *parts, scene_report *report) {
    scene_rules *rules = NULL;
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    if (options->ignore != NULL) status = scene_rules_read(cli, options->ignore, &rules);
    report->depth = parts->often = report->depth || scene_rules_need_depth(rules);
    if (status == CAROM_OK) status = read_parts(cli, options, count, paths, parts);
    report->prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK && shard->number != 0) {
        uint64_t hash = hash_parts(options, report);
        if (!rows_hash_files(paths, count, &hash)) status = CAROM_IO;
        shard_set(shard, hash);
        if (status == CAROM_OK && options->resume &&
            rows_are_finished(cli, options->output, shard)) {
            fprintf(output_words(options->output), "shard %u of %u: was there\n", shard->number,
                    shard->count);
            scene_rules_free(rules);
            return CLI_OK;
        }
    }
    if (status == CAROM_OK) status = run_query(cli, options, shard, parts, report);
    if (status == CAROM_OK) status = review(cli, options, rules, report);
    scene_rules_free(rules);
    if (status != CAROM_OK) return cli_fail(cli, status);
    int code = shard->number != 0        ? write_shard(cli, options, report, shard)
               : options->output != NULL ? write_file(cli, options, report)
                                         : CLI_OK;
    if (code != CLI_OK) return code;
    bar_clear(&cli->bar);
    if (cli->json) {
        json j = cli_begin_json(cli);
        scene_put_json(report, true, &j);
        if (options->output != NULL) json_text(&j, "output", options->output);
        cli_end_json(&j);
    } else {
        scene_write_words(report, options->output, output_words(options->output));
    }
    return options->check && report->count != 0 ? CLI_YES : CLI_OK;
}

/* Now, or what SOURCE_DATE_EPOCH says, for reports that can be compared. */
static void make_date(char date[32]) {
    const char *given = getenv("SOURCE_DATE_EPOCH");
    time_t now = given != NULL ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    struct tm utc;
    if (!platform_utc(now, &utc) || strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(date, 32, "1970-01-01T00:00:00Z");
}

/* Files that people read tell how deep clashes are, whether that was asked for or not. */
static bool has_depth(const options *options) {
    const char *format = options->output != NULL
                             ? endings_format(options->output, options->format, scene_formats)
                             : NULL;
    return options->depth || endings_is(format, "bcf") || endings_is(format, "html");
}

/* What a shard does not have. */
static const char *shard_misuse(const options *o, const shard_head *shard, char **paths,
                                size_t count) {
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, scene_formats) : NULL;
    if (shard->number == 0) return o->resume ? "--resume is for --shard" : NULL;
    if (!endings_is(format, "csv") || output_is_standard(o->output))
        return "--shard needs -o FILE.csv";
    for (size_t i = 0; i < count; ++i)
        if (output_is_standard(paths[i])) return "--shard reads files, not the standard input";
    return o->baseline != NULL || o->ignore != NULL ? "--shard goes without --baseline and --ignore"
                                                    : NULL;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    shard_head shard;
    char text[160];
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL && !(options->clearance >= 0.0 && options->clearance <= 1e300))
        misuse = "--clearance needs a distance that is not negative";
    if (misuse == NULL) misuse = packages_misuse(&options->packages, text, sizeof(text));
    if (misuse == NULL) misuse = shard_parse(options->shard, &shard);
    if (misuse == NULL) misuse = shard_misuse(options, &shard, paths, count);
    if (misuse == NULL && options->touching && options->no_touching)
        misuse = "--touching and --no-touching exclude each other";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (shard.number != 0) snprintf(shard.table, sizeof(shard.table), "scene");
    scene_parts parts = {.several = count > 1, .later = shard.number != 0};
    scene_report report = {.parts = &parts,
                           .clearance = options->clearance,
                           .depth = has_depth(options),
                           .no_touching = options->no_touching,
                           .touching = options->touching,
                           .baseline = options->baseline,
                           .ignore = options->ignore};
    make_date(report.date);
    int code = run_report(cli, options, &shard, count, paths, &parts, &report);
    scene_report_free(&report);
    scene_parts_free(&parts);
    return code;
}

#define MOST_FILES 1000

const cli_command cli_scene = {
    .order = 45,
    .name = "scene",
    .arguments = "FILE... [--clearance D] [-o FILE] [--check]",
    .summary = "clash report: which parts touch, overlap or are too close",
    .details = details,
    .options = scene_options,
    .option_count = sizeof(scene_options) / sizeof(scene_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = MOST_FILES,
    .run = run,
    .inputs = MOST_FILES,
};
