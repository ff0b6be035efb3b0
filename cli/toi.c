/* SPDX-License-Identifier: MIT */
/* carom toi: when a moving mesh first meets another, or a mesh that deforms meets itself. */
#include <stddef.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/pose.h"
#include "cli/repeat.h"

typedef struct options {
    const char *pose, *to, *end, *out;
    int from;
    double tolerance, separation;
    bool hulls, check;
    uint64_t repeat;
} options;

static const options toi_defaults = {.repeat = 1};

static const arg_option toi_options[] = {
    {"--pose", 0, ARG_TEXT, offsetof(options, pose), POSE_VALUE,
     "where B is at time 0; 12 numbers are a 3x4 matrix, a rotation", NULL},
    {"--to", 0, ARG_TEXT, offsetof(options, to), POSE_VALUE, "where B is at time 1; the same",
     NULL},
    {"--tolerance", 0, ARG_NUMBER, offsetof(options, tolerance), "LENGTH",
     "shapes this near have met (2^-20 of sizes and movement)", NULL},
    {"--separation", 0, ARG_NUMBER, offsetof(options, separation), "LENGTH",
     "shapes that are no farther apart have met (0: they touch)", NULL},
    {"--hulls", 0, ARG_FLAG, offsetof(options, hulls), NULL,
     "of the convex hulls, not of the surfaces", NULL},
    {"--end", 0, ARG_INPUT, offsetof(options, end), "FILE",
     "one mesh: it deforms to the positions of this file", NULL},
    {"--out", 'o', ARG_OUTPUT, offsetof(options, out), "FILE",
     "with --end: write all impacts there, as CSV; - is the standard output", NULL},
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
    "have no common vertex and meet. -o writes lines `kind,face_a,face_b,lower,upper`: the first\n"
    "time they meet is between the last two.";

typedef struct answer {
    bool hit;
    double time, distance;
    uint32_t face_a, face_b; /* CAROM_NONE where there is none */
    carom_vec3 point_a, point_b;
    uint64_t steps;

    bool deforms;
    carom_soup_impacts impacts;
    carom_soup_impact first;

    double prepare_s;
    repeat query;
} answer;

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(const cli *cli, const answer *a) {
    json j = cli_begin_json(cli);
    json_bool(&j, "hit", a->hit);
    if (a->deforms) {
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
    if (a->deforms && a->hit)
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
    if (!a->deforms) fprintf(out, " and %llu steps", (unsigned long long)a->steps);
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
    return output_close(&o, true);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static carom_status load_soup(cli *cli, const char *path, int from, carom_soup **soup,
                              carom_hull **hull) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_status status = meshes_load(cli, path, from, false, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK && hull != NULL)
        status = carom_hull_create(cli->context, &(carom_hull_def){.mesh = &view}, hull);
    else if (status == CAROM_OK)
        status =
            carom_soup_create(cli->context, &(carom_soup_def){.mesh = &view, .rigid = true}, soup);
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status ask_hulls(cli *cli, const options *options, const carom_motion *motion,
                              char **paths, answer *a) {
    carom_hull *hulls[2] = {NULL, NULL};
    carom_convex shapes[2] = {{.kind = CAROM_CONVEX_KIND_HULL}, {.kind = CAROM_CONVEX_KIND_HULL}};
    carom_advance_def def = {.tolerance = options->tolerance, .reach = options->separation};
    carom_advance toi;
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = load_soup(cli, paths[i], options->from, NULL, &hulls[i]);
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

static carom_status ask_soups(cli *cli, const options *options, const carom_motion *motion,
                              char **paths, answer *a) {
    carom_soup *soups[2] = {NULL, NULL};
    carom_advance_def def = {.tolerance = options->tolerance, .reach = options->separation};
    carom_advance toi;
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    for (int i = 0; i < 2 && status == CAROM_OK; ++i)
        status = load_soup(cli, paths[i], options->from, &soups[i], NULL);
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

/* The mesh is not welded, so that both files number the vertices alike. */
static carom_status ask_deforming(cli *cli, const options *options, char **paths, answer *a) {
    carom_mesh *meshes[2] = {NULL, NULL};
    carom_mesh_view views[2];
    carom_soup *soup = NULL;
    double start = carom_time_seconds();
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = meshes_read(cli, i == 0 ? paths[0] : options->end, options->from, &meshes[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(meshes[i], &views[i]);
    }
    if (status == CAROM_OK)
        status = carom_soup_create(cli->context, &(carom_soup_def){.mesh = &views[0]}, &soup);
    a->prepare_s = carom_time_seconds() - start;
    a->deforms = true;
    while (status == CAROM_OK) {
        repeat_start(&a->query);
        status = carom_soup_self_impacts(cli->context, soup, &views[1], &a->impacts);
        if (!repeat_goes_on(&a->query, status)) break;
    }
    if (status == CAROM_OK && a->impacts.count != 0) take_first(a);
    carom_soup_destroy(soup);
    carom_mesh_destroy(meshes[0]);
    carom_mesh_destroy(meshes[1]);
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
    if (count == 1 && options->end == NULL)
        return cli_misuse(cli, "toi takes two meshes, or one and --end FILE");
    if (count == 2 && options->end != NULL) return cli_misuse(cli, "--end is for one mesh");
    if (count == 2 && options->out != NULL) return cli_misuse(cli, "-o is for one mesh and --end");
    if (options->out != NULL && output_misuse(cli, options->out) != NULL)
        return cli_misuse(cli, output_misuse(cli, options->out));
    if (options->separation < 0.0) return cli_misuse(cli, "--separation must not be negative");
    if (count == 1 && options->separation > 0.0)
        return cli_misuse(cli, "--separation is for two meshes");
    if (options->tolerance < 0.0) return cli_misuse(cli, "--tolerance must not be negative");
    int code = read_pose(cli, "--pose", options->pose, &motion.from);
    if (code == CLI_OK) code = read_pose(cli, "--to", options->to, &motion.to);
    if (code != CLI_OK) return code;
    carom_status status = count == 1       ? ask_deforming(cli, options, paths, &a)
                          : options->hulls ? ask_hulls(cli, options, &motion, paths, &a)
                                           : ask_soups(cli, options, &motion, paths, &a);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bar_clear(&cli->bar);
    if (status != CAROM_OK) {
        code = cli_fail(cli, status);
    } else if (options->out != NULL && !write_impacts(cli, options->out, &a)) {
        code = CLI_MACHINE;
    } else {
        if (options->check && a.hit) code = CLI_YES;
        if (cli->json)
            print_json(cli, &a);
        else
            print_words(output_words(options->out), &a);
    }
    repeat_free(&a.query);
    carom_soup_impacts_free(&a.impacts);
    return code;
}

const cli_command cli_toi = {
    .order = 63,
    .name = "toi",
    .arguments = "A B [--pose NUMBERS] [--to NUMBERS] [--hulls] | A --end FILE",
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
};
