/* SPDX-License-Identifier: MIT */
/* carom pairs: all pairs of intersecting faces, of one mesh with itself or of two meshes. */
#include <math.h>
#include <stdlib.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/pairs_boxes.h"
#include "cli/parts.h"
#include "cli/pose.h"
#include "cli/repeat.h"
#include "cli/shard.h"
#include "cli/text.h"
#include "cli/where.h"

#define SHOWN 5u

typedef struct options {
    const char *pose, *output, *mark, *format;
    bool fan, no_weld, as_segments, check, crossing, points, boxes;
    double within; /* ARG_NO_NUMBER: faces that meet */
    int method, hash, from;
    uint64_t repeat;
    const char *part, *part_b;
    bool by_part;
    uint64_t memory; /* bytes; 0: the meshes are held in memory */
    const char *temp, *shard;
    bool resume;
} options;

static const options pairs_defaults = {.repeat = 1, .within = ARG_NO_NUMBER};

ARG_CHOICES(carom_soup_method, CAROM_SOUP_METHOD_COUNT);
ARG_CHOICES(carom_grid_hash, CAROM_GRID_HASH_COUNT);
ENDINGS(pairs_formats, "csv", "ply", DISPLAY_ENDINGS);
ENDINGS(mark_formats, "ply", DISPLAY_ENDINGS);

static const arg_option pairs_options[] = {
    {"--pose", 0, ARG_TEXT, offsetof(options, pose), POSE_VALUE,
     "move B first; 12 numbers are a 3x4 matrix", NULL},
    {"--fan", 0, ARG_FLAG, offsetof(options, fan), NULL,
     "split polygons from their first corner, number the triangles", NULL},
    {"--no-weld", 0, ARG_FLAG, offsetof(options, no_weld), NULL,
     "keep vertices apart that have equal coordinates", NULL},
    {"--as-segments", 0, ARG_FLAG, offsetof(options, as_segments), NULL,
     "take faces without area for segments and points", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write all pairs there, or the meshes with the faces of pairs lit; - is CSV on the standard "
     "output",
     pairs_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--points", 0, ARG_FLAG, offsetof(options, points), NULL,
     "CSV says where: lines i,j,x0,y0,z0,x1,y1,z1, one per segment", NULL},
    {"--mark", 0, ARG_OUTPUT, offsetof(options, mark), "FILE",
     "write the meshes there, with the faces of pairs in red", mark_formats},
    {"--crossing", 0, ARG_FLAG, offsetof(options, crossing), NULL,
     "leave out faces that only touch", NULL},
    {"--within", 0, ARG_NUMBER, offsetof(options, within), "D",
     "faces at most D apart that have no common vertex, not only those that meet", NULL},
    {"--boxes", 0, ARG_FLAG, offsetof(options, boxes), NULL,
     "faces whose boxes overlap, whether they meet or not", NULL},
    {"--check", 0, ARG_FLAG, offsetof(options, check), NULL, "exit with 1 when any faces meet",
     NULL},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "auto, tree or grid (auto): the same pairs", carom_soup_method_choice},
    {"--hash", 0, ARG_CHOICE, offsetof(options, hash), "NAME",
     "of the grid: block, djb2, morton or perfect (block)", carom_grid_hash_choice},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
    {"--part", 0, ARG_TEXT, offsetof(options, part), "NAME", PARTS_HELP " of A", NULL},
    {"--part-b", 0, ARG_TEXT, offsetof(options, part_b), "NAME", PARTS_HELP " of B", NULL},
    {"--by-part", 0, ARG_FLAG, offsetof(options, by_part), NULL,
     "count the pairs of each two parts; parts share no vertices then", NULL},
    {"--repeat", 0, ARG_COUNT, offsetof(options, repeat), "N", REPEAT_HELP, NULL},
    {"--memory", 0, ARG_COUNT, offsetof(options, memory), "BYTES",
     "search in parts with so much memory: 16G; for meshes that do not fit", NULL},
    {"--temp", 0, ARG_TEXT, offsetof(options, temp), "FOLDER",
     "with --memory: of temporary files (TMPDIR)", NULL},
    {"--shard", 0, ARG_TEXT, offsetof(options, shard), "I/N",
     "the pairs of one of N shares of space; carom merge joins them", NULL},
    {"--resume", 0, ARG_FLAG, offsetof(options, resume), NULL,
     "with --shard: keep FILE where it is whole and of this input", NULL},
};

static const char details[] =
    "Lists every pair of faces that meet, exactly: A with itself, or A with B where B is given.\n"
    "With itself, faces with common vertices count when they meet elsewhere too, and a face\n"
    "without area is listed as a pair with itself and meets nothing else. Of two meshes, faces\n"
    "count when they touch, and faces without area are left out. Faces are polygons, numbered\n"
    "from 0 in the order of the file. Vertices with coordinates equal bit for bit are one\n"
    "(--no-weld: only those with the same number).\n"
    "-o x.html writes a page that shows where: the faces lit, contact by contact, with a list;\n"
    "x.glb and x.png the same for other programs; x.csv has lines `i,j`, sorted.\n"
    "--by-part counts per pair of parts; faces of different parts meet when they touch.\n"
    "With --points they also say where: the ends of each segment in which two faces meet, which\n"
    "may be one point; with --within the nearest points of the two faces. --crossing decides\n"
    "exactly whether the insides of two faces meet.\n"
    "--method grid also says how many candidates there can be, whatever the pose.\n"
    "--memory and --shard read binary PLY, binary STL and OBJ from disk, cut space into parts "
    "that\n"
    "fit into memory, and write the same bytes: docs/large.md.";

/* The query and its results. */
typedef struct job {
    cli *cli;
    const options *options;
    carom_soup *a, *b; /* b: NULL for self pairs of a */
    carom_pose pose;
    uint64_t lines; /* of --points */
    uint64_t count, degenerate;
    uint64_t bound; /* upper bound on candidates, by grid */
    carom_pair first[SHOWN];
    uint64_t shown;
    double prepare_s;
    repeat query;
    carom_work work;
    const char *format; /* of -o */
    char **paths;
    output out;               /* of pairs as CSV */
    bool unwritten;           /* a mesh or display could not be written, which was reported */
    carom_mesh *meshes[2];    /* with --by-part and --mark; else NULL */
    carom_mesh_view views[2]; /* of the meshes; B's is A's where there is no B */
    part_pairs by_part;
    shard_head shard;
    uint64_t check;            /* of the pairs of a shard */
    carom_parts_report report; /* of a search in parts */
    bool resumed, two;         /* the shard was there; B is given */
} job;

#define AT_ONCE 65536u /* pairs written between two checks for a signal */

/* The part of a face; a mesh without parts is one. */
static uint32_t part_of(const carom_mesh_view *view, uint32_t face) {
    return view->parts != NULL ? view->parts[face] : 0;
}

static void count_parts(job *job, const carom_pair *pairs, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t a = part_of(&job->views[0], pairs[i].a), b = part_of(&job->views[1], pairs[i].b);
        bool swap = job->b == NULL && b < a;
        part_pairs_add(&job->by_part, swap ? b : a, swap ? a : b);
    }
}

/* Whether the meshes are cut into parts and never held as a whole. */
static bool in_parts(const job *job) {
    return job->options->memory != 0 || job->shard.number != 0;
}

/* A carom_pairs_fn: counts the pairs, keeps the first few and writes all. Stops when writing has
 * failed or a signal has come. */
static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    job *job = user;
    job->count += count;
    if (job->options->by_part) count_parts(job, pairs, count);
    for (uint64_t i = 0; i < count && in_parts(job); ++i) {
        if (job->shard.number != 0) job->check = shard_check(job->check, pairs[i]);
        if (!job->two && pairs[i].a == pairs[i].b) ++job->degenerate;
    }
    for (uint64_t i = 0; i < count && job->shown < SHOWN; ++i) job->first[job->shown++] = pairs[i];
    if (job->out.file == NULL || job->options->points) return interrupt_seen();
    for (uint64_t i = 0; i < count; ++i) {
        output_two(&job->out, pairs[i].a, pairs[i].b);
        if (i % AT_ONCE == 0 && (interrupt_seen() || ferror(job->out.file) != 0)) return true;
    }
    return interrupt_seen() || ferror(job->out.file) != 0;
}

/* ---- Preparation and queries ----------------------------------------------------------------- */

/* Whether meshes are written. */
static bool shows(const job *job) {
    return job->options->mark != NULL ||
           (job->options->output != NULL && !endings_is(job->format, "csv"));
}

/* Whether the list of pairs is needed as a whole. */
static bool needs_list(const job *job) {
    return job->options->crossing || job->options->points || shows(job);
}

static bool keeps_meshes(const job *job) {
    return job->options->by_part || shows(job);
}

/* Keeps a mesh that the soup was made of: its faces are those of the soup. */
static carom_status keep_mesh(job *job, int index, carom_mesh **mesh) {
    job->meshes[index] = *mesh;
    *mesh = NULL;
    carom_status status = carom_mesh_get_view(job->meshes[index], &job->views[index]);
    if (index == 0) job->views[1] = job->views[0];
    return status;
}

/* Prepares mesh 0, A, or 1, B. */
static carom_status prepare(job *job, int index, const char *path, const pose_arg *pose,
                            carom_soup **soup) {
    carom_mesh *mesh = NULL;
    const options *options = job->options;
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view,
                          .fan = job->options->fan,
                          .degenerate = job->options->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                                  : CAROM_SOUP_DEGENERATE_ALONE,
                          .method = (carom_soup_method)job->options->method,
                          .grid = {.hash = (carom_grid_hash)job->options->hash}};
    carom_status status = meshes_read(job->cli, path, job->options->from, &mesh);
    if (status == CAROM_OK)
        status = parts_select(job->cli, path, index == 0 ? options->part : options->part_b, &mesh);
    if (status == CAROM_OK && pose != NULL) status = pose_apply(job->cli, pose, &mesh);
    if (status == CAROM_OK && !options->no_weld)
        status =
            options->by_part ? meshes_weld_parts(job->cli, &mesh) : meshes_weld(job->cli, &mesh);
    if (status == CAROM_OK && keeps_meshes(job) && options->fan)
        status = meshes_triangulate(job->cli, true, &mesh); /* as the soup numbers them */
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(job->cli->context, &def, soup);
    job->prepare_s += carom_time_seconds() - start;
    if (status == CAROM_OK && keeps_meshes(job)) status = keep_mesh(job, index, &mesh);
    carom_mesh_destroy(mesh);
    return status;
}

/* "meet", "cross" or "are within 0.1". */
static void say_how(const job *job, char *how, size_t size) {
    snprintf(how, size, job->options->crossing ? "cross" : "meet");
    if (!isnan(job->options->within)) snprintf(how, size, "are within %.9g", job->options->within);
    if (job->options->boxes) snprintf(how, size, "have boxes that overlap");
}

/* Writes the meshes as PLY, with the faces of pairs marked. */
static carom_status mark(job *job, const carom_pairs *pairs, const char *path) {
    const carom_mesh_view *views = job->views;
    uint64_t first_of_b = job->b != NULL ? views[0].face_count : 0;
    carom_mesh *made = NULL;
    uint8_t *marked = calloc(first_of_b + views[1].face_count + 1, 1);
    if (marked == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < pairs->count; ++i) {
        marked[pairs->data[i].a] = 1;
        marked[first_of_b + pairs->data[i].b] = 1;
    }
    carom_status status = where_mark(job->cli, &views[0], job->b != NULL ? &views[1] : NULL,
                                     &job->pose, marked, &made);
    if (status == CAROM_OK)
        status = meshes_save(job->cli, &made, CAROM_MESH_FORMAT_PLY, false, path);
    carom_mesh_destroy(made);
    free(marked);
    return status;
}

/* Writes the meshes and the contacts. */
static carom_status write_meshes(job *job, const carom_pairs *pairs, const char *path,
                                 const char *format) {
    char title[600], how[64];
    display d = {0};
    if (endings_is(format, "ply")) return mark(job, pairs, path);
    say_how(job, how, sizeof(how));
    snprintf(title, sizeof(title), "%.250s%s%.250s: %llu pair%s of faces %s", job->paths[0],
             job->b != NULL ? " and " : "", job->b != NULL ? job->paths[1] : "",
             (unsigned long long)pairs->count, pairs->count == 1 ? "" : "s", how);
    const char *const paths[2] = {job->paths[0], job->b != NULL ? job->paths[1] : NULL};
    where_def def = {.soups = {job->a, job->b, &job->pose},
                     .a = &job->views[0],
                     .b = job->b != NULL ? &job->views[1] : NULL,
                     .paths = paths,
                     .pairs = pairs,
                     .fan = job->options->fan,
                     .nearest = !isnan(job->options->within),
                     .title = title};
    carom_status status = where_show(job->cli, &def, &d);
    if (status == CAROM_OK) job->unwritten = !display_save(&d, path, format) || job->unwritten;
    display_free(&d);
    return status;
}

/* What is done with a list of all pairs. */
static carom_status finish_list(job *job, carom_pairs *pairs) {
    const options *options = job->options;
    where_soups soups = {job->a, job->b, &job->pose};
    carom_status status = CAROM_OK;
    if (options->crossing) status = where_keep_crossing(job->cli, &soups, pairs);
    if (status == CAROM_OK && options->crossing) job->degenerate = 0;
    if (status == CAROM_OK) (void)receive(job, pairs->data, pairs->count);
    if (status == CAROM_OK && options->points)
        status =
            where_write(job->cli, &soups, pairs, !isnan(options->within), &job->out, &job->lines);
    if (status == CAROM_OK && options->output != NULL && !endings_is(job->format, "csv"))
        status = write_meshes(job, pairs, options->output, job->format);
    if (status == CAROM_OK && options->mark != NULL)
        status = write_meshes(job, pairs, options->mark,
                              endings_format(options->mark, NULL, mark_formats));
    return status;
}

/* A list that does not fit into memory is streamed. That takes twice as long but works for any
 * number of pairs. */
static carom_status query_self(job *job, carom_pairs *pairs) {
    carom_context *context = job->cli->context;
    carom_soup_info info;
    carom_status status = carom_soup_get_info(job->a, &info);
    if (status != CAROM_OK) return status;
    double within = job->options->within;
    if (!job->options->as_segments && isnan(within)) job->degenerate = info.degenerate_faces;
    do {
        repeat_start(&job->query);
        status = isnan(within) ? carom_soup_self_pairs(context, job->a, pairs)
                               : carom_soup_self_pairs_within(context, job->a, within, pairs);
    } while (repeat_goes_on(&job->query, status));
    if (status == CAROM_OK) {
        status = carom_context_get_work(context, &job->work);
        if (status == CAROM_OK) status = finish_list(job, pairs);
    } else if (status == CAROM_NO_MEMORY && !needs_list(job)) {
        carom_pairs_free(pairs);
        repeat_start(&job->query);
        status = isnan(within) ? carom_soup_self_each(context, job->a, receive, job)
                               : carom_soup_self_each_within(context, job->a, within, receive, job);
        (void)repeat_goes_on(&job->query, status);
        if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    }
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

static carom_status query_cross(job *job, carom_pairs *pairs) {
    carom_context *context = job->cli->context;
    carom_status status;
    double within = job->options->within;
    do {
        repeat_start(&job->query);
        status = isnan(within)
                     ? carom_soup_cross_pairs(context, job->a, NULL, job->b, &job->pose, pairs)
                     : carom_soup_cross_pairs_within(context, job->a, NULL, job->b, &job->pose,
                                                     within, pairs);
    } while (repeat_goes_on(&job->query, status));
    if (status == CAROM_OK) status = carom_context_get_work(context, &job->work);
    if (status == CAROM_OK) status = finish_list(job, pairs);
    return interrupt_seen() ? CAROM_CANCELLED : status;
}

/* The bound counts the candidates of the CPU's grid, whose balls overlap, too. */
static bool has_bound(const job *job) {
    return job->options->method == CAROM_SOUP_METHOD_GRID && job->cli->device == CAROM_BACKEND_CPU;
}

static carom_status query_bound(job *job) {
    if (!has_bound(job)) return CAROM_OK;
    if (job->b == NULL) return carom_soup_self_bound(job->cli->context, job->a, &job->bound);
    return carom_soup_cross_bound(job->cli->context, job->a, job->b, &job->bound);
}

/* ---- Search in parts ------------------------------------------------------------------------- */

static carom_status query_parts(job *job, const pose_arg *pose, char **paths) {
    const options *options = job->options;
    carom_parts_def def = {.a.path = paths[0],
                           .b.path = job->two ? paths[1] : NULL,
                           .cross = job->two,
                           .pose_b = pose->pose,
                           .within = !isnan(options->within),
                           .reach = isnan(options->within) ? 0.0 : options->within,
                           .degenerate = options->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                              : CAROM_SOUP_DEGENERATE_ALONE,
                           .fan = options->fan,
                           .no_weld = options->no_weld,
                           .boxes = options->boxes,
                           .memory = options->memory,
                           .folder = options->temp,
                           .count_only = job->shard.number != 0};
    carom_context *context = job->cli->context;
    carom_status status = CAROM_OK;
    if (def.count_only) { /* the head of the file comes before its pairs */
        status = carom_parts_pairs(context, &def, receive, job, &job->report);
        if (status != CAROM_OK) return status;
        shard_set(&job->shard, job->report.hash);
        job->resumed = options->resume &&
                       shard_is_finished(job->cli, options->output, &job->shard, &job->count);
        if (job->resumed) return CAROM_OK;
        def.count_only = false;
        def.shard = job->shard.number - 1;
        def.shards = job->shard.count;
    }
    if (!output_open(job->cli, options->output, &job->out)) return CAROM_IO;
    if (job->shard.number != 0) shard_write_head(&job->shard, &job->out);
    uint64_t hash = job->report.hash;
    repeat_start(&job->query);
    status = carom_parts_pairs(context, &def, receive, job, &job->report);
    (void)repeat_goes_on(&job->query, status);
    if (interrupt_seen()) return CAROM_CANCELLED;
    if (status == CAROM_OK && job->shard.number != 0 && hash != job->report.hash) {
        snprintf(job->cli->message, sizeof(job->cli->message), "%.300s: changed while it was read",
                 paths[0]);
        return CAROM_BAD_FILE;
    }
    if (status == CAROM_OK && job->shard.number != 0)
        shard_write_end(job->count, job->check, &job->out);
    if (status == CAROM_OK && job->report.skipped_a + job->report.skipped_b != 0)
        fprintf(stderr, "carom: %llu faces with fewer than three corners left out\n",
                (unsigned long long)(job->report.skipped_a + job->report.skipped_b));
    return status;
}

/* ---- Pairs of parts -------------------------------------------------------------------------- */

static void print_parts_json(const job *job, json *j) {
    json_begin_array(j, "parts");
    for (uint64_t i = 0; i < job->by_part.count; ++i) {
        const part_pair *p = &job->by_part.data[i];
        json_begin_object(j, NULL);
        json_count(j, "a", p->a);
        json_text(j, "name_a", parts_name(&job->views[0], p->a));
        json_count(j, "b", p->b);
        json_text(j, "name_b", parts_name(&job->views[1], p->b));
        json_count(j, "pairs", p->count);
        json_end_object(j);
    }
    json_end_array(j);
}

static void print_parts(const job *job, FILE *out) {
    fprintf(out, "  %12s  parts\n", "pairs");
    for (uint64_t i = 0; i < job->by_part.count; ++i) {
        const part_pair *p = &job->by_part.data[i];
        const char *a = parts_name(&job->views[0], p->a), *b = parts_name(&job->views[1], p->b);
        fprintf(out, "  %12llu  %u%s", (unsigned long long)p->count, p->a, *a != '\0' ? " " : "");
        text_put(out, a);
        fprintf(out, ", %u%s", p->b, *b != '\0' ? " " : "");
        text_put(out, b);
        putc('\n', out);
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_report_json(const job *job, json *j) {
    const carom_parts_report *r = &job->report;
    if (job->shard.number != 0) json_count(j, "shard", job->shard.number);
    if (job->shard.number != 0) json_count(j, "shards", job->shard.count);
    json_count(j, "parts", r->parts);
    json_count(j, "searches", r->searches);
    json_count(j, "copies", r->copies);
    json_count(j, "bytes_read", r->bytes_read);
    json_count(j, "bytes_spilled", r->bytes_spilled);
    json_count(j, "peak_bytes", r->peak_bytes);
}

static void print_json(const job *job) {
    json j = cli_begin_json(job->cli);
    json_count(&j, "pairs", job->count);
    if (!in_parts(job)) json_number(&j, "prepare_s", job->prepare_s);
    repeat_print_json(&job->query, &j);
    if (!in_parts(job)) json_count(&j, "candidates", job->work.candidates);
    if (in_parts(job)) print_report_json(job, &j);
    if (has_bound(job)) json_count(&j, "bound", job->bound);
    if (!job->two) json_count(&j, "degenerate", job->degenerate);
    if (!isnan(job->options->within)) json_number(&j, "within", job->options->within);
    if (job->options->points) json_count(&j, "lines", job->lines);
    if (job->options->mark != NULL) json_text(&j, "mark", job->options->mark);
    if (job->options->by_part) print_parts_json(job, &j);
    if (job->options->output != NULL) json_text(&j, "output", job->options->output);
    cli_end_json(&j);
}

static void print_report(const job *job, FILE *out) {
    const carom_parts_report *r = &job->report;
    if (job->shard.number != 0)
        fprintf(out, "shard %u of %u%s\n", job->shard.number, job->shard.count,
                job->resumed ? ": was there" : "");
    if (job->resumed) return;
    fprintf(out,
            "found in %.2f s in %llu parts: %.3f GB read, %.3f GB of temporary files, %.3f GB of "
            "memory\n",
            repeat_median(&job->query), (unsigned long long)r->parts, 1e-9 * (double)r->bytes_read,
            1e-9 * (double)r->bytes_spilled, 1e-9 * (double)r->peak_bytes);
}

static void print_words(const job *job, char **paths) {
    FILE *out = output_words(job->options->output);
    unsigned long long count = job->count;
    char how[64];
    say_how(job, how, sizeof(how));
    if (job->two)
        fprintf(out, "%s and %s: %llu pair%s of faces %s\n", paths[0], paths[1], count,
                count == 1 ? "" : "s", how);
    else
        fprintf(out, "%s: %llu pair%s of faces %s", paths[0], count, count == 1 ? "" : "s", how);
    if (!job->two && job->degenerate != 0)
        fprintf(out, ", %llu of them faces without area", (unsigned long long)job->degenerate);
    if (!job->two) putc('\n', out);
    if (job->options->by_part) print_parts(job, out);
    for (uint64_t i = 0; i < job->shown && !job->options->by_part; ++i)
        fprintf(out, "  %10u %10u\n", job->first[i].a, job->first[i].b);
    if (job->count > job->shown && !job->options->by_part)
        fprintf(out, "  ... and %llu more%s\n", count - (unsigned long long)job->shown,
                job->options->output == NULL ? "; -o FILE writes them all" : "");
    if (in_parts(job))
        print_report(job, out);
    else
        fprintf(out, "prepared in %.2f ms, found in %.2f ms among %llu candidates\n",
                1e3 * job->prepare_s, 1e3 * repeat_median(&job->query),
                (unsigned long long)job->work.candidates);
    if (has_bound(job))
        fprintf(out, "at most %llu candidates were possible%s\n", (unsigned long long)job->bound,
                job->b != NULL ? ", in any pose" : "");
    if (out == stdout && job->options->output != NULL)
        fprintf(out, "all written to %s\n", job->options->output);
    if (job->options->mark != NULL) fprintf(out, "marked in %s\n", job->options->mark);
}

/* ---- Command --------------------------------------------------------------------------------- */

/* Prints what was found; returns the exit code. */
static int finish_job(job *job, char **paths) {
    bar_clear(&job->cli->bar);
    if (job->cli->json)
        print_json(job);
    else
        print_words(job, paths);
    return job->options->check && job->count != 0 ? CLI_YES : CLI_OK;
}

static int run_parts(job *job, const pose_arg *pose, char **paths) {
    carom_status status = query_parts(job, pose, paths);
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status == CAROM_IO && job->cli->failed) return CLI_INPUT; /* the output was refused */
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    return written ? finish_job(job, paths) : CLI_MACHINE;
}

static int run_boxes(job *job, const pose_arg *pose, size_t count, char **paths) {
    carom_pairs pairs = {0};
    const char *const files[2] = {paths[0], count == 2 ? paths[1] : NULL};
    const pairs_boxes_def def = {files, count, pose, job->options->from, job->options->fan};
    repeat_start(&job->query);
    carom_status status = pairs_boxes(job->cli, &def, &pairs);
    (void)repeat_goes_on(&job->query, status);
    if (status == CAROM_OK) status = carom_context_get_work(job->cli->context, &job->work);
    bool opened = status == CAROM_OK && output_open(job->cli, job->options->output, &job->out);
    if (opened) (void)receive(job, pairs.data, pairs.count);
    if (interrupt_seen()) status = CAROM_CANCELLED;
    carom_pairs_free(&pairs);
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    return !opened ? CLI_INPUT : !written ? CLI_MACHINE : finish_job(job, paths);
}

static int run_job(job *job, const pose_arg *pose, size_t count, char **paths) {
    carom_pairs pairs = {0};
    carom_status status = prepare(job, 0, paths[0], NULL, &job->a);
    if (status == CAROM_OK && count == 2) status = prepare(job, 1, paths[1], pose, &job->b);
    job->pose = pose->pose;
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    if (endings_is(job->format, "csv") && !output_open(job->cli, job->options->output, &job->out))
        return CLI_INPUT;
    status = job->b != NULL ? query_cross(job, &pairs) : query_self(job, &pairs);
    if (status == CAROM_OK) status = query_bound(job);
    if (status == CAROM_OK && job->by_part.no_memory) status = CAROM_NO_MEMORY;
    part_pairs_sort(&job->by_part);
    carom_pairs_free(&pairs);
    bool written = output_close(&job->out, status == CAROM_OK);
    if (status != CAROM_OK) return cli_fail(job->cli, status);
    return !written || job->unwritten ? CLI_MACHINE : finish_job(job, paths);
}

/* Options that do not go together. */
static const char *where_misuse(const options *options, const char *format) {
    bool within = !isnan(options->within);
    if (within && options->within < 0.0) return "--within needs a distance that is not negative";
    if (within && options->crossing) return "--crossing is for faces that meet, without --within";
    if (within && options->method == CAROM_SOUP_METHOD_GRID)
        return "--within needs a tree, not --method grid";
    if (options->points && !endings_is(format, "csv")) return "--points needs -o FILE.csv";
    if (options->mark != NULL && output_is_standard(options->mark) && options->output != NULL &&
        output_is_standard(options->output))
        return "-o and --mark cannot both write to the standard output";
    return NULL;
}

/* Options that boxes do not have. */
static const char *boxes_misuse(const options *o, const char *format) {
    if (!o->boxes) return NULL;
    if (o->output != NULL && !endings_is(format, "csv")) return "--boxes writes lists: -o FILE.csv";
    if (o->mark != NULL || o->points || o->crossing || o->by_part || o->part != NULL ||
        o->part_b != NULL || o->method != CAROM_SOUP_METHOD_AUTO || o->as_segments ||
        !isnan(o->within) || o->repeat != 1)
        return "--boxes goes without --mark, --points, --crossing, --by-part, --part, --method, "
               "--as-segments, --within and --repeat";
    return NULL;
}

/* Options that a search in parts does not have. */
static const char *parts_misuse(const options *o, const shard_head *shard, const pose_arg *pose,
                                const char *format, char **paths, size_t count) {
    bool parts = o->memory != 0 || shard->number != 0;
    if (!parts && o->temp != NULL) return "--temp is for --memory and --shard";
    if (o->resume && shard->number == 0) return "--resume is for --shard";
    if (!parts) return NULL;
    if (shard->number != 0 && (o->output == NULL || output_is_standard(o->output)))
        return "--shard needs -o FILE.csv";
    if (o->output != NULL && !endings_is(format, "csv"))
        return "--memory and --shard write lists: -o FILE.csv";
    if (o->mark != NULL || o->points || o->crossing || o->by_part || o->part != NULL ||
        o->part_b != NULL || o->method != CAROM_SOUP_METHOD_AUTO || o->from != 0 || o->repeat != 1)
        return "--memory and --shard go without --mark, --points, --crossing, --by-part, --part, "
               "--method, --from and --repeat";
    if (pose->is_matrix) return "--memory and --shard take a --pose of 7 numbers";
    for (size_t i = 0; i < count; ++i)
        if (output_is_standard(paths[i]))
            return "--memory and --shard read files, not the standard input";
    return NULL;
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    pose_arg pose;
    shard_head shard;
    char message[256];
    const char *format = options->output != NULL
                             ? endings_format(options->output, options->format, pairs_formats)
                             : NULL;
    const char *misuse = output_misuse(cli, options->output);
    if (misuse == NULL) misuse = repeat_misuse(options->repeat);
    if (misuse == NULL) misuse = where_misuse(options, format);
    if (misuse == NULL) misuse = boxes_misuse(options, format);
    if (misuse == NULL) misuse = output_misuse(cli, options->mark);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    if (!pose_read(options->pose, &pose, message, sizeof(message))) return cli_misuse(cli, message);
    if (options->pose != NULL && count < 2)
        return cli_misuse(cli, "--pose moves the second mesh, and there is none");
    if (options->part_b != NULL && count < 2)
        return cli_misuse(cli, "--part-b selects from the second mesh, and there is none");
    misuse = shard_parse(options->shard, &shard);
    if (misuse == NULL) misuse = parts_misuse(options, &shard, &pose, format, paths, count);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    job job = {.cli = cli,
               .options = options,
               .format = format,
               .paths = paths,
               .query = {.wanted = options->repeat},
               .shard = shard,
               .two = count == 2};
    int code = in_parts(&job)   ? run_parts(&job, &pose, paths)
               : options->boxes ? run_boxes(&job, &pose, count, paths)
                                : run_job(&job, &pose, count, paths);
    carom_soup_destroy(job.a);
    carom_soup_destroy(job.b);
    carom_mesh_destroy(job.meshes[0]);
    carom_mesh_destroy(job.meshes[1]);
    part_pairs_free(&job.by_part);
    repeat_free(&job.query);
    return code;
}

const cli_command cli_pairs = {
    .order = 40,
    .name = "pairs",
    .arguments = "A [B] [--pose NUMBERS] [-o FILE] [--check]",
    .summary = "which faces meet: all pairs, of a mesh with itself or of two",
    .details = details,
    .options = pairs_options,
    .option_count = sizeof(pairs_options) / sizeof(pairs_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 2,
    .run = run,
    .defaults = &pairs_defaults,
    .inputs = 2,
    .on_cuda = true,
};
