/* SPDX-License-Identifier: MIT */
/* carom scene: the clash report of all parts of scene files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/meshes.h"
#include "cli/scene_report.h"
#include "cli/text.h"

#define SHOWN 40u /* lines of the text report; files have all */

typedef struct options {
    const char *output, *srdf, *joints;
    double clearance;
    bool check, depth, no_touching, visual;
    int from;
} options;

static const arg_option scene_options[] = {
    {"--clearance", 0, ARG_NUMBER, offsetof(options, clearance), "D",
     "also list parts that are apart, but at most D", NULL},
    {"--depth", 0, ARG_FLAG, offsetof(options, depth), NULL,
     "find how far, and which way, to move parts that overlap", NULL},
    {"--no-touching", 0, ARG_FLAG, offsetof(options, no_touching), NULL,
     "leave out parts that only touch", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write the report there: .csv, .json, .html or .bcf; - is CSV on the standard output", NULL},
    {"--srdf", 0, ARG_INPUT, offsetof(options, srdf), "FILE",
     "of a robot (URDF): leave out the pairs of links that this file disables", NULL},
    {"--joints", 0, ARG_TEXT, offsetof(options, joints), "NAME=VALUE,...",
     "of a robot: angles and lengths of joints, in radians and metres (0)", NULL},
    {"--visual", 0, ARG_FLAG, offsetof(options, visual), NULL,
     "of a robot: take the visual elements, not those for collision", NULL},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL, "exit with 1 when there is a clash",
     NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
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
    "Elements of one link and of links with a common joint are not compared.";

/* ---- The report ------------------------------------------------------------------------------ */

const char *scene_relation_name(scene_relation relation) {
    static const char *const names[SCENE_RELATIONS] = {
        "touching", "crossing", "protruding", "enclosed", "duplicate", "close", "possible"};
    return names[relation];
}

static bool is_closed(const scene_part *part) {
    return part->mesh == NULL || part->solid != NULL;
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

static carom_status ask(cli *cli, const options *options, scene_report *report) {
    carom_context *context = cli->context;
    const scene_parts *parts = report->parts;
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    carom_scene_info info;
    carom_scene_def def = {.reach = options->clearance, .skip_depth = !options->depth};
    double start = carom_time_seconds();
    carom_status status = carom_scene_create(context, &def, &scene);
    for (uint64_t i = 0; i < parts->count && status == CAROM_OK; ++i)
        status = carom_scene_add(context, scene, &parts->data[i].object, 1, NULL);
    if (status == CAROM_OK)
        status =
            carom_scene_set_ignored(context, scene, parts->ignored, parts->ignored_count, true);
    if (status == CAROM_OK) status = carom_scene_step(context, scene, &contacts, NULL, NULL);
    if (status == CAROM_OK) status = carom_scene_get_info(scene, &info);
    report->query_s = carom_time_seconds() - start;
    if (status == CAROM_OK) {
        report->pairs = info.pairs;
        status = take_contacts(report, &contacts, options->no_touching);
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    return status;
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

void scene_write_csv(const scene_report *report, FILE *out) {
    fputs("part_a,part_b,relation,triangle_pairs,volume,distance,depth,x,y,z,name_a,name_b\n", out);
    for (uint64_t i = 0; i < report->count; ++i) {
        const scene_clash *c = &report->clashes[i];
        const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
        carom_vec3 p = scene_clash_point(report, c);
        fprintf(out, "%llu,%llu,%s,%llu,", (unsigned long long)a->number,
                (unsigned long long)b->number, scene_relation_name(c->relation),
                (unsigned long long)c->contact.triangle_pairs);
        if (c->has_volume) fprintf(out, "%.17g", c->contact.volume);
        fprintf(out, ",%.17g,", c->contact.distance);
        if (c->contact.depth > 0.0) fprintf(out, "%.17g", c->contact.depth);
        fprintf(out, ",%.17g,%.17g,%.17g,", p.x, p.y, p.z);
        text_put_csv(out, a->title);
        putc(',', out);
        text_put_csv(out, b->title);
        putc('\n', out);
    }
}

static void put_clash(const scene_report *report, const scene_clash *c, json *j) {
    const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
    const carom_scene_contact *contact = &c->contact;
    json_begin_object(j, NULL);
    json_count(j, "a", a->number);
    json_text(j, "name_a", a->name);
    json_count(j, "b", b->number);
    json_text(j, "name_b", b->name);
    json_text(j, "relation", scene_relation_name(c->relation));
    json_text(j, "method", carom_scene_contact_method_name(contact->method));
    json_count(j, "triangle_pairs", contact->triangle_pairs);
    json_number(j, "volume", c->has_volume ? contact->volume : (double)NAN);
    json_number(j, "volume_error", c->has_volume ? contact->volume_error : (double)NAN);
    json_number(j, "distance", contact->distance);
    if (contact->depth > 0.0) {
        json_number(j, "depth", contact->depth);
        json_number(j, "error", contact->error);
        json_vector(j, "normal", contact->normal);
    } else if (has_packing(contact)) {
        json_number(j, "error", contact->error);
    }
    json_vector(j, "point", scene_clash_point(report, c));
    json_end_object(j);
}

void scene_put_json(const scene_report *report, json *j) {
    json_begin_array(j, "objects");
    for (uint64_t i = 0; i < report->parts->count; ++i) {
        const scene_part *part = &report->parts->data[i];
        json_begin_object(j, NULL);
        json_count(j, "part", part->number);
        json_text(j, "name", part->name);
        json_text(j, "file", part->file);
        json_text(j, "kind", carom_scene_object_kind_name(part->object.kind));
        json_count(j, "triangles", part->triangles);
        if (part->tree != NULL) json_count(j, "spheres", part->spheres);
        json_text(j, "written", part->title);
        json_end_object(j);
    }
    json_end_array(j);
    json_count(j, "pairs", report->pairs);
    json_number(j, "clearance", report->clearance);
    json_begin_array(j, "clashes");
    for (uint64_t i = 0; i < report->count; ++i) put_clash(report, &report->clashes[i], j);
    json_end_array(j);
    json_number(j, "prepare_s", report->prepare_s);
    json_number(j, "query_s", report->query_s);
}

static void write_json(const scene_report *report, FILE *out) {
    json j = {.out = out};
    json_begin_object(&j, NULL);
    json_text(&j, "schema", CLI_SCHEMA);
    json_text(&j, "command", "scene");
    scene_put_json(report, &j);
    json_end_object(&j);
    putc('\n', out);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void print_words(const scene_report *report, const options *options, FILE *out) {
    uint64_t closed = 0, triangles = 0;
    for (uint64_t i = 0; i < report->parts->count; ++i) {
        closed += is_closed(&report->parts->data[i]) ? 1 : 0;
        triangles += report->parts->data[i].triangles;
    }
    fprintf(out,
            "%llu parts (%llu closed), %llu triangles: ", (unsigned long long)report->parts->count,
            (unsigned long long)closed, (unsigned long long)triangles);
    fprintf(out, "%llu clash%s", (unsigned long long)report->count, report->count == 1 ? "" : "es");
    bool first = true;
    for (int r = 0; r < SCENE_RELATIONS; ++r) {
        if (report->counts[r] == 0) continue;
        fprintf(out, "%s%llu %s", first ? ": " : ", ", (unsigned long long)report->counts[r],
                scene_relation_name((scene_relation)r));
        first = false;
    }
    putc('\n', out);
    if (report->count != 0)
        fprintf(out, "  %-10s %10s %14s %12s  parts\n", "relation", "triangles", "volume",
                report->depth ? "depth" : "distance");
    for (uint64_t i = 0; i < report->count && i < SHOWN; ++i) {
        const scene_clash *c = &report->clashes[i];
        const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
        char volume[32] = "-";
        if (c->has_volume && c->contact.volume != 0.0)
            snprintf(volume, sizeof(volume), "%.6g", c->contact.volume);
        fprintf(
            out, "  %-10s %10llu %14s %12.6g  %llu%s%s, %llu%s%s\n",
            scene_relation_name(c->relation), (unsigned long long)c->contact.triangle_pairs, volume,
            report->depth && c->relation != SCENE_CLOSE ? c->contact.depth : c->contact.distance,
            (unsigned long long)a->number, *a->name != '\0' ? " " : "",
            *a->name != '\0' ? a->title : "", (unsigned long long)b->number,
            *b->name != '\0' ? " " : "", *b->name != '\0' ? b->title : "");
    }
    if (report->count > SHOWN)
        fprintf(out, "  ... and %llu more%s\n", (unsigned long long)(report->count - SHOWN),
                options->output == NULL ? "; -o FILE writes them all" : "");
    fprintf(out, "prepared in %.2f ms, found in %.2f ms among %llu pairs of boxes\n",
            1e3 * report->prepare_s, 1e3 * report->query_s, (unsigned long long)report->pairs);
    if (out == stdout && options->output != NULL) fprintf(out, "written to %s\n", options->output);
}

/* ---- Command --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcasecmp(path + length - size, ending) == 0;
}

typedef enum kind { KIND_NONE, KIND_CSV, KIND_JSON, KIND_HTML, KIND_BCF, KIND_UNKNOWN } kind;

static kind kind_of(const char *path) {
    if (path == NULL) return KIND_NONE;
    if (output_is_standard(path) || ends_in(path, ".csv") || ends_in(path, ".csv.gz"))
        return KIND_CSV;
    if (ends_in(path, ".json") || ends_in(path, ".json.gz")) return KIND_JSON;
    if (ends_in(path, ".html") || ends_in(path, ".htm")) return KIND_HTML;
    return ends_in(path, ".bcf") || ends_in(path, ".bcfzip") ? KIND_BCF : KIND_UNKNOWN;
}

static carom_status write_report(const scene_report *report, kind kind, FILE *out) {
    if (kind == KIND_BCF) return scene_write_bcf(report, out);
    if (kind == KIND_HTML) return scene_write_html(report, out);
    if (kind == KIND_CSV) scene_write_csv(report, out);
    if (kind == KIND_JSON) write_json(report, out);
    return CAROM_OK;
}

static int run_report(cli *cli, const options *options, size_t count, char **paths,
                      scene_parts *parts, scene_report *report) {
    carom_status status = CAROM_OK;
    output out = {0};
    scene_robot_def robot = {options->srdf, options->joints, options->visual};
    double start = carom_time_seconds();
    for (size_t i = 0; i < count && status == CAROM_OK; ++i)
        status = ends_in(paths[i], ".urdf")
                     ? scene_parts_add_urdf(cli, paths[i], &robot, parts)
                     : scene_parts_add_meshes(cli, paths[i], options->from, parts);
    report->prepare_s = carom_time_seconds() - start;
    if (status == CAROM_OK) status = ask(cli, options, report);
    if (status != CAROM_OK) return cli_fail(cli, status);
    if (!output_open(cli, options->output, &out)) return CLI_INPUT;
    if (out.file != NULL) status = write_report(report, kind_of(options->output), out.file);
    bool written = output_close(&out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(cli, status);
    if (!written) return CLI_MACHINE;
    bar_clear(&cli->bar);
    if (cli->json) {
        json j = cli_begin_json(cli);
        scene_put_json(report, &j);
        if (options->output != NULL) json_text(&j, "output", options->output);
        cli_end_json(&j);
    } else {
        print_words(report, options, output_words(options->output));
    }
    return options->check && report->count != 0 ? CLI_YES : CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL && !(options->clearance >= 0.0 && options->clearance <= 1e300))
        misuse = "--clearance needs a distance that is not negative";
    if (misuse == NULL && kind_of(options->output) == KIND_UNKNOWN)
        misuse = "the report's name must end in .csv, .json, .html or .bcf";
    if (misuse != NULL) return cli_misuse(cli, misuse);
    scene_parts parts = {.often = options->depth};
    scene_report report = {
        .parts = &parts, .clearance = options->clearance, .depth = options->depth};
    int code = run_report(cli, options, count, paths, &parts, &report);
    free(report.clashes);
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
