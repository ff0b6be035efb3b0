/* SPDX-License-Identifier: MIT */
/* carom query: the relative position of two solids: their distance when apart, or the volume of
 * their overlap; exactly, or from sphere packings of them with bounds. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/parts.h"
#include "cli/pose.h"
#include "cli/query_poses.h"
#include "cli/repeat.h"

#define SHOWN 5u /* patches printed as text */

typedef struct options {
    const char *pose, *poses, *part, *part_b, *output, *format, *shard;
    int engine, from;
    bool patches, check, resume;
    uint64_t repeat, spheres, budget;
    arg_list frames;
} options;

static const options query_defaults = {.repeat = 1, .spheres = 10000};

#define ENGINE_EXACT QUERY_EXACT
#define ENGINE_TREE  QUERY_TREE
#define ENGINE_BALLS QUERY_BALLS
#define ENGINE_AUTO  QUERY_ENGINES

static const char *engine_choice(int index) {
    return index == ENGINE_AUTO ? "auto" : query_engine_name(index);
}

ENDINGS(query_formats, "csv", DISPLAY_ENDINGS);

static const arg_option query_options[] = {
    {"--pose", 0, ARG_TEXT, offsetof(options, pose), POSE_VALUE,
     "move B first; 12 numbers are a 3x4 matrix", NULL},
    {"--poses", 0, ARG_INPUT, offsetof(options, poses), "FILE",
     "answer for many poses of B: a line of the 7 numbers of --pose each; - is the standard input",
     NULL},
    {"--engine", 0, ARG_CHOICE, offsetof(options, engine), "NAME",
     "exact, tree or balls: from sphere packings, or auto: by sizes (exact)", engine_choice},
    {"--spheres", 0, ARG_COUNT, offsetof(options, spheres), "N",
     "tree, balls: spheres to pack into each mesh (10,000)", NULL},
    {"--budget", 0, ARG_COUNT, offsetof(options, budget), "US",
     "tree: stop after so many microseconds, with bounds (none)", NULL},
    {"--frames", 0, ARG_LIST, offsetof(options, frames), "FILE",
     "A deforms: answer again for its vertices in FILE, too; once for each frame", NULL},
    {"--patches", 0, ARG_FLAG, offsetof(options, patches), NULL,
     "list the overlap's connected pieces, too", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "show the solids, what of them overlaps, and the force; of --poses a table", query_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL,
     "exit with 1 when the solids overlap or touch", NULL},
    {"--part", 0, ARG_TEXT, offsetof(options, part), "NAME", PARTS_HELP " of A", NULL},
    {"--part-b", 0, ARG_TEXT, offsetof(options, part_b), "NAME", PARTS_HELP " of B", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
    {"--shard", 0, ARG_TEXT, offsetof(options, shard), "I/N",
     "one of N shares of --poses; carom merge joins them", NULL},
    {"--resume", 0, ARG_FLAG, offsetof(options, resume), NULL,
     "with --shard: keep FILE where it is whole and of this input", NULL},
};

static const char details[] =
    "Says whether the solids that two closed meshes enclose are apart (and how far), touch, "
    "overlap\n"
    "(and by how much), or lie in one another. The force on B is minus the derivative of the\n"
    "overlap's volume by B's translation, the torque that by its rotation about its centroid: B\n"
    "is pushed out. Bounds say how far each answer can be off. With --engine tree or balls,\n"
    "A and B may also be packings (carom pack -o); a matrix must then be a rotation times one "
    "scale.\n"
    "balls takes the same time in every pose and finds no distances. --engine auto takes the one\n"
    "that the sizes of meshes and packings, --repeat and --budget call for, and says why.\n"
    "With --frames the solid of A, or its packing, follows the vertices from frame to frame "
    "instead\n"
    "of being made anew; files of frames have the vertices and faces of A, in its order.\n"
    "-o of --poses writes lines index,relation,distance,distance_lower,distance_upper,volume,\n"
    "volume_lower,volume_upper, then x, y, z of force, torque and centroid; what is not known is\n"
    "empty.\n"
    "With --device cuda auto takes what is fastest without distances, and tree has no --budget; "
    "its\n"
    "bounds of the volume are wider there where A or B is a packing.\n"
    "Distances of tree are those of faces where A and B are meshes, and those of spheres where "
    "one\n"
    "is a packing.";

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_keys(json *j, const options *options, const query_answer *a) {
    json_text(j, "relation", a->relation);
    json_bool(j, "colliding", a->colliding);
    json_number(j, "distance", a->distance);
    json_number(j, "distance_lower", a->distance_lower);
    json_number(j, "distance_upper", a->distance_upper);
    json_number(j, "volume", a->volume);
    json_number(j, "volume_lower", a->volume_lower);
    json_number(j, "volume_upper", a->volume_upper);
    json_vector(j, "force", a->force);
    json_vector(j, "torque", a->torque);
    if (a->estimated) json_bool(j, "partial", a->partial);
    if (!a->estimated) json_number(j, "area", a->area);
    json_vector(j, "centroid", a->centroid);
    if (!a->estimated) {
        json_number(j, "force_error", a->force_error);
        json_number(j, "torque_error", a->torque_error);
        json_number(j, "area_error", a->area_error);
        json_number(j, "centroid_error", a->centroid_error); /* null where there may be none */
        json_bool(j, "one_sided", a->one_sided);
        json_bool(j, "by_winding", a->by_winding);
    }
    if (!a->colliding) {
        json_vector(j, "point_a", a->point_a);
        json_vector(j, "point_b", a->point_b);
    }
    if (options->patches) {
        json_begin_array(j, "patches");
        for (uint64_t i = 0; i < a->patches.count; ++i) {
            const carom_solid_patch *p = &a->patches.data[i];
            json_begin_object(j, NULL);
            json_number(j, "volume", p->volume);
            json_vector(j, "centroid", p->centroid);
            json_number(j, "area", p->area);
            json_vector(j, "force", p->force);
            json_end_object(j);
        }
        json_end_array(j);
    }
    json_number(j, "prepare_s", a->prepare_s);
    repeat_print_json(&a->query, j);
}

/* The answer for A as it is; and for each frame. */
static void print_json(const cli *cli, const options *options, const query_answer *answers) {
    json j = cli_begin_json(cli);
    json_text(&j, "engine", engine_choice(options->engine));
    if (answers->reason != NULL) json_text(&j, "reason", answers->reason);
    print_keys(&j, options, answers);
    if (options->frames.count != 0) {
        json_begin_array(&j, "frames");
        for (size_t i = 0; i < options->frames.count; ++i) {
            json_begin_object(&j, NULL);
            json_text(&j, "file", options->frames.values[i]);
            print_keys(&j, options, &answers[i + 1]);
            json_end_object(&j);
        }
        json_end_array(&j);
    }
    cli_end_json(&j);
}

/* A line per frame. */
static void print_frames(const options *options, const query_answer *answers) {
    for (size_t i = 0; i < options->frames.count; ++i) {
        const query_answer *a = &answers[i + 1];
        printf("%s: %s", options->frames.values[i], a->relation);
        if (a->colliding && a->estimated)
            printf(", volume %.9g, between %.9g and %.9g", a->volume, a->volume_lower,
                   a->volume_upper);
        else if (a->colliding)
            printf(", volume %.15g", a->volume);
        else if (!isnan(a->distance))
            printf(", distance %.15g", a->distance);
        printf("; followed in %.2f ms, answered in %.1f us\n", 1e3 * a->prepare_s,
               1e6 * repeat_median(&a->query));
    }
}

static void print_words(const options *options, const query_answer *a, char **paths) {
    printf("%s and %s: %s\n", paths[0], paths[1], a->relation);
    if (a->reason != NULL)
        printf("  %-9s %s: %s\n", "engine", engine_choice(options->engine), a->reason);
    if (a->partial) puts("  the budget ended the search: bounds are wider than they could be");
    if (!a->partial && a->estimated && strcmp(a->relation, "touching") == 0)
        puts("  the spheres are too few to say whether they overlap: --spheres packs more");
    if (a->estimated && a->colliding) {
        printf("  %-9s %.9g, between %.9g and %.9g\n", "volume", a->volume, a->volume_lower,
               a->volume_upper);
    } else if (a->colliding) {
        printf("  %-9s %.15g, off by at most %.2g\n", "volume", a->volume,
               a->volume_upper - a->volume);
        printf("  %-9s %.9g\n", "area", a->area);
    }
    if (a->estimated && a->distance_upper > 0.0 && a->distance_upper < HUGE_VAL)
        printf("  %-9s %.9g, between %.9g and %.9g\n", "distance", a->distance, a->distance_lower,
               a->distance_upper);
    if (a->colliding) {
        output_vector(stdout, "centroid", a->centroid);
        output_vector(stdout, "force", a->force);
        output_vector(stdout, "torque", a->torque);
        if (a->one_sided)
            puts("  faces lie in one another: the force jumps here and is the mean of both sides");
        if (a->by_winding)
            puts("  a mesh encloses some space twice or inside out: that counts twice or "
                 "negatively");
    } else if (!isnan(a->distance)) {
        if (!a->estimated) printf("  %-9s %.15g\n", "distance", a->distance);
        output_vector(stdout, "from", a->point_a);
        output_vector(stdout, "to", a->point_b);
    }
    if (options->patches)
        printf("  %llu piece%s\n", (unsigned long long)a->patches.count,
               a->patches.count == 1 ? "" : "s");
    for (uint64_t i = 0; options->patches && i < a->patches.count && i < SHOWN; ++i) {
        const carom_solid_patch *p = &a->patches.data[i];
        printf("    volume %.9g at %.6g, %.6g, %.6g\n", p->volume, p->centroid.x, p->centroid.y,
               p->centroid.z);
    }
    if (options->patches && a->patches.count > SHOWN)
        printf("    ... and %llu more; --json lists them all\n",
               (unsigned long long)(a->patches.count - SHOWN));
    printf("prepared in %.2f ms, answered in %.1f us\n", 1e3 * a->prepare_s,
           1e6 * repeat_median(&a->query));
}

/* ---- Command --------------------------------------------------------------------------------- */

/* Reads a mesh, or a packing where the engine takes one. */
static carom_status load(cli *cli, const options *options, const char *path, const char *part,
                         query_body *body) {
    if (options->engine != ENGINE_EXACT && part == NULL &&
        carom_packing_load(cli->context, path, CAROM_PACKING_FORMAT_GUESS, &body->packing) ==
            CAROM_OK)
        return CAROM_OK;
    carom_status status = meshes_read(cli, path, options->from, &body->mesh);
    if (status == CAROM_OK) status = parts_select(cli, path, part, &body->mesh);
    return status;
}

/* Packs a mesh, unless a packing was read. */
static carom_status pack(cli *cli, const options *options, query_body *body, query_answer *answer) {
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view, .count = options->spheres, .fast = true};
    if (body->packing != NULL) return CAROM_OK;
    carom_status status = carom_mesh_get_view(body->mesh, &view);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_packing_create(cli->context, &def, &body->packing);
    answer->prepare_s += carom_time_seconds() - start;
    return status;
}

/* Applies a pose that may be a matrix, and finds the size of a mesh. */
static carom_status apply_pose(cli *cli, const pose_arg *pose, query_body *body) {
    carom_mesh_report report;
    carom_status status = pose != NULL ? pose_apply(cli, pose, &body->mesh) : CAROM_OK;
    if (status == CAROM_OK) status = carom_mesh_get_view(body->mesh, &body->view);
    if (status == CAROM_OK) status = carom_mesh_inspect(cli->context, &body->view, &report);
    if (status != CAROM_OK) return status;
    const carom_bounds *b = &report.bounds;
    body->extent = fmax(fmax(b->high.x - b->low.x, b->high.y - b->low.y), b->high.z - b->low.z);
    return CAROM_OK;
}

/* False, after reporting it, when that failed. */
static bool show(cli *cli, const options *options, const query_body bodies[2], char **paths,
                 const pose_arg *pose, const query_answer *answer) {
    display d = {0};
    carom_status status = query_show(cli, bodies, paths, pose, answer, &d);
    bool good = status == CAROM_OK &&
                display_save(&d, options->output,
                             endings_format(options->output, options->format, query_formats));
    if (status != CAROM_OK) (void)cli_fail(cli, status);
    display_free(&d);
    return good;
}

/* Counts the triangles of a mesh or the spheres of a packing; of a mesh those it would get. */
static carom_status count_body(const options *options, const query_body *body, uint64_t *triangles,
                               uint64_t *spheres, uint64_t *to_pack) {
    if (body->packing != NULL) {
        carom_packing_info info;
        carom_status status = carom_packing_get_info(body->packing, &info);
        *spheres = info.shares ? info.spheres : 0;
        return status;
    }
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(body->mesh, &view);
    *triangles = view.face_count;
    *spheres = options->spheres;
    *to_pack += options->spheres;
    return status;
}

/* Chooses the engine for what was read. */
static carom_status choose_engine(cli *cli, options *options, const query_body bodies[2],
                                  query_answer *answer) {
    static const int engine_of[] = {ENGINE_EXACT, ENGINE_TREE, ENGINE_BALLS};
    carom_query_def def = {.queries = options->repeat,
                           .time_budget = 1e-6 * (double)options->budget,
                           .distance = cli->device != CAROM_BACKEND_CUDA,
                           .steady = cli->device == CAROM_BACKEND_CUDA};
    carom_query_advice advice;
    carom_status status =
        count_body(options, &bodies[0], &def.triangles_a, &def.spheres_a, &def.spheres_to_pack);
    if (status == CAROM_OK)
        status =
            count_body(options, &bodies[1], &def.triangles_b, &def.spheres_b, &def.spheres_to_pack);
    if (status == CAROM_OK) status = carom_query_advise(cli->context, &def, &advice);
    if (status != CAROM_OK) return status;
    options->engine = engine_of[advice.engine];
    answer->reason = advice.reason;
    return CAROM_OK;
}

/* Reads both solids, chooses the engine where that is left to us, and makes what it takes. */
static carom_status load_both(cli *cli, options *options, char **paths, const pose_arg *pose,
                              query_body bodies[2], query_answer *answer) {
    carom_status status = load(cli, options, paths[0], options->part, &bodies[0]);
    if (status == CAROM_OK) status = load(cli, options, paths[1], options->part_b, &bodies[1]);
    if (status == CAROM_OK && options->engine == ENGINE_AUTO)
        status = choose_engine(cli, options, bodies, answer);
    if (status == CAROM_OK && options->frames.count != 0 && bodies[0].mesh == NULL) {
        (void)cli_misuse(cli, "A of --frames must be a mesh: a packing has no faces to follow");
        answer->reported = true;
        return CAROM_BAD_INPUT;
    }
    for (int i = 0; i < 2 && status == CAROM_OK; ++i)
        status = options->engine == ENGINE_EXACT
                     ? apply_pose(cli, i == 1 ? pose : NULL, &bodies[i])
                     : cli_of_file(cli, paths[i], pack(cli, options, &bodies[i], answer));
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Carries the packing of A along, to the mesh of a frame. */
static carom_status follow_packing(cli *cli, query_body *body, const carom_mesh_view *after,
                                   query_answer *answer) {
    carom_mesh_view before;
    carom_packing *deformed;
    carom_status status = carom_mesh_get_view(body->mesh, &before);
    carom_packing_deform_def def = {.before = &before, .after = after, .refill = true};
    double start = carom_time_seconds();
    if (status == CAROM_OK)
        status = carom_packing_deform(cli->context, body->packing, &def, &deformed);
    if (status != CAROM_OK) return status;
    answer->prepare_s += carom_time_seconds() - start;
    carom_packing_destroy(body->packing);
    body->packing = deformed;
    return CAROM_OK;
}

/* Reads a frame and makes it A. */
static carom_status next_frame(cli *cli, const options *options, const char *path, query_body *body,
                               query_answer *answer) {
    carom_mesh *mesh = NULL;
    carom_mesh_view now, next;
    carom_status status = meshes_read(cli, path, options->from, &mesh);
    if (status == CAROM_OK) status = parts_select(cli, path, options->part, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(body->mesh, &now);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &next);
    if (status == CAROM_OK &&
        (next.vertex_count != now.vertex_count || next.face_count != now.face_count)) {
        char message[512];
        snprintf(message, sizeof(message),
                 "%.200s has %llu vertices and %llu faces, A has %llu and %llu: a frame has the "
                 "vertices and faces of A, in their order",
                 path, (unsigned long long)next.vertex_count, (unsigned long long)next.face_count,
                 (unsigned long long)now.vertex_count, (unsigned long long)now.face_count);
        carom_mesh_destroy(mesh);
        (void)cli_fail_with(cli, CAROM_BAD_INPUT, message);
        answer->reported = true;
        return CAROM_BAD_INPUT;
    }
    if (status == CAROM_OK && body->packing != NULL)
        status = follow_packing(cli, body, &next, answer);
    if (status != CAROM_OK) {
        carom_mesh_destroy(mesh);
        return status;
    }
    carom_mesh_destroy(body->mesh);
    body->mesh = mesh;
    return options->engine == ENGINE_EXACT ? apply_pose(cli, NULL, body) : CAROM_OK;
}

/* Answers for each frame. */
static carom_status run_frames(cli *cli, const options *options, const query_question *question,
                               query_body bodies[2], query_prepared *made, query_answer *answers) {
    carom_status status = CAROM_OK;
    made->moved = true;
    for (size_t i = 0; i < options->frames.count && status == CAROM_OK; ++i) {
        query_answer *a = &answers[i + 1];
        *a = (query_answer){.query = {.wanted = options->repeat}};
        status = next_frame(cli, options, options->frames.values[i], &bodies[0], a);
        if (status == CAROM_OK) status = query_prepare(cli, question, bodies, made, a);
        if (status == CAROM_OK) status = query_answer_one(cli, question, bodies, made, a);
        if (status != CAROM_OK) answers->reported = a->reported;
        if (status != CAROM_OK) answers->refused = a->refused;
        if (a->colliding) answers->collided = true;
    }
    return status;
}

/* What is wrong with a batch of poses; NULL: nothing. */
static const char *poses_misuse(const options *o, const shard_head *shard, char **paths) {
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, query_formats) : NULL;
    if (o->resume && shard->number == 0) return "--resume is for --shard";
    if (o->poses == NULL)
        return shard->number != 0 ? "--shard is for --poses"
               : endings_is(format, "csv") && !output_is_standard(o->output)
                   ? "-o FILE.csv is the table of --poses; without these end the name in .html, "
                     ".glb or .png"
                   : NULL;
    if (o->output != NULL && !endings_is(format, "csv"))
        return "--poses writes a table: -o FILE.csv";
    if (o->pose != NULL || o->frames.count != 0 || o->patches || o->repeat != 1)
        return "--poses goes without --pose, --frames, --patches and --repeat";
    if (shard->number == 0) return NULL;
    if (o->output == NULL || output_is_standard(o->output)) return "--shard needs -o FILE.csv";
    if (o->engine == ENGINE_AUTO || o->budget != 0)
        return "--shard needs an --engine by name, and no --budget: shards would differ";
    if (output_is_standard(o->poses) || output_is_standard(paths[0]) ||
        output_is_standard(paths[1]))
        return "--shard reads files, not the standard input";
    return NULL;
}

/* What is wrong with the options; NULL: nothing. */
static const char *misuse_of(cli *cli, const options *options) {
    if (repeat_misuse(options->repeat) != NULL) return repeat_misuse(options->repeat);
    if (options->engine != ENGINE_EXACT && options->patches)
        return "--patches needs --engine exact";
    if (output_is_standard(options->output) && options->poses == NULL)
        return "the words go to the standard output; give -o the name of a file";
    if (output_misuse(cli, options->output) != NULL) return output_misuse(cli, options->output);
    if (options->frames.count != 0 && cli->device == CAROM_BACKEND_CUDA &&
        options->engine != ENGINE_EXACT)
        return "--frames with spheres cannot run on cuda; leave --device out";
    return options->spheres == 0 ? "--spheres must be at least 1" : NULL;
}

/* A context for meshes, which are read and packed on the CPU. */
static carom_status open_on_cpu(cli *cli, carom_context **on_cpu) {
    const carom_context_def def = {.threads = (uint32_t)cli->threads,
                                   .isa = (carom_isa)cli->isa,
                                   .progress = bar_progress,
                                   .progress_user = &cli->bar,
                                   .progress_interval = interrupt_is_injected() ? -1.0 : 0.0};
    return carom_context_create(&def, on_cpu);
}

/* Reports a failure; the exit code. */
static int report(cli *cli, char **paths, const query_answer *answer, carom_status status) {
    char message[512];
    if (answer->reported) return cli_code(status);
    if (answer->refused == 0) return cli_fail(cli, status);
    snprintf(message, sizeof(message), "%.200s: %.300s", paths[answer->refused - 1],
             carom_context_message(cli->context));
    return cli_fail_with(cli, status, message);
}

/* Shows and prints the answers for the pose and all frames; false: it was reported that the file
 * cannot be written. */
static bool present(cli *cli, const options *options, const query_body bodies[2], char **paths,
                    const pose_arg *pose, const query_answer *answers) {
    if (options->output != NULL &&
        !show(cli, options, bodies, paths, pose, &answers[options->frames.count]))
        return false;
    if (cli->json) {
        print_json(cli, options, answers);
        return true;
    }
    print_words(options, answers, paths);
    print_frames(options, answers);
    return true;
}

/* Reads both solids, answers, and tells; an exit code. */
static int run_query(cli *cli, options *options, char **paths, const pose_arg *pose,
                     const query_poses *poses, query_answer *answers) {
    query_body bodies[2] = {{0}, {0}};
    query_prepared made = {0};
    carom_context *requested = cli->context, *on_cpu = NULL;
    if (cli->device == CAROM_BACKEND_CUDA) {
        carom_status opened = open_on_cpu(cli, &on_cpu);
        if (opened != CAROM_OK) return cli_fail_with(cli, opened, carom_context_message(NULL));
        cli->context = on_cpu;
    }
    carom_status status = load_both(cli, options, paths, pose, bodies, answers);
    const query_question question = {
        .engine = options->engine,
        .patches =
            options->patches || (options->output != NULL && cli->device != CAROM_BACKEND_CUDA),
        .time_budget = 1e-6 * (double)options->budget,
        .pose = pose};
    if (status == CAROM_OK) cli->context = requested;
    if (status == CAROM_OK) status = query_prepare(cli, &question, bodies, &made, answers);
    if (status == CAROM_OK && options->poses != NULL) {
        status = query_poses_run(cli, &question, bodies, &made, paths, poses, answers);
    } else if (status == CAROM_OK) {
        status = query_answer_one(cli, &question, bodies, &made, answers);
        if (status == CAROM_OK)
            status = run_frames(cli, options, &question, bodies, &made, answers);
    }
    bar_clear(&cli->bar);
    int code = options->check && (answers->colliding || answers->collided) ? CLI_YES : CLI_OK;
    if (status != CAROM_OK)
        code = report(cli, paths, answers, status);
    else if (options->poses == NULL && !present(cli, options, bodies, paths, pose, answers))
        code = cli_code(CAROM_NO_MEMORY); /* of the machine */
    query_prepared_free(&made);
    for (int i = 0; i < 2; ++i) {
        carom_mesh_destroy(bodies[i].mesh);
        carom_packing_destroy(bodies[i].packing);
    }
    cli->context = requested;
    carom_context_destroy(on_cpu);
    return code;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    (void)count;
    options chosen = *(const struct options *)values;
    struct options *options = &chosen;
    pose_arg pose;
    query_answer answers[1 + ARG_MOST_LIST] = {{.query = {.wanted = options->repeat}}};
    query_poses poses = {.path = options->poses,
                         .output = options->output,
                         .parts = {options->part, options->part_b},
                         .spheres = options->spheres,
                         .resume = options->resume};
    char message[512];
    if (!pose_read(options->pose, &pose, message, sizeof(message))) return cli_misuse(cli, message);
    if (options->engine == ENGINE_AUTO && options->patches) {
        options->engine = ENGINE_EXACT;
        answers->reason = "--patches needs it";
    }
    const char *misuse = misuse_of(cli, options);
    if (misuse == NULL) misuse = shard_parse(options->shard, &poses.shard);
    if (misuse == NULL) misuse = poses_misuse(options, &poses.shard, paths);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (poses.shard.number != 0) snprintf(poses.shard.table, sizeof(poses.shard.table), "query");
    if (cli->device == CAROM_BACKEND_CUDA && options->engine == ENGINE_TREE && options->budget != 0)
        return cli_fail_with(cli, CAROM_UNSUPPORTED,
                             "carom query --engine tree has no --budget on cuda; leave --device "
                             "out to run it on the CPU");
    int code =
        options->poses != NULL ? query_poses_open(cli, options->engine, paths, &poses) : CLI_OK;
    if (options->poses != NULL) options->repeat = poses.count; /* for --engine auto */
    if (code == CLI_OK && !poses.finished)
        code = run_query(cli, options, paths, &pose, &poses, answers);
    for (size_t i = 0; i <= options->frames.count; ++i) {
        carom_solid_patches_free(&answers[i].patches);
        repeat_free(&answers[i].query);
    }
    query_poses_close(&poses);
    return code;
}

const cli_command cli_query = {
    .order = 60,
    .name = "query",
    .arguments = "A B [--pose NUMBERS] [--engine NAME] [--spheres N] [--budget US] [--frames FILE] "
                 "[--poses FILE] [--patches] [--check]",
    .summary = "how two solids lie: distance, or overlap volume, force and torque",
    .details = details,
    .options = query_options,
    .option_count = sizeof(query_options) / sizeof(query_options[0]),
    .options_size = sizeof(options),
    .fewest = 2,
    .most = 2,
    .run = run,
    .defaults = &query_defaults,
    .inputs = 2,
    .on_cuda = true,
};
