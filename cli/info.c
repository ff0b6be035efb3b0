/* SPDX-License-Identifier: MIT */
/* carom info: describes a mesh: counts, edges, closedness, volume, area, bounds; on demand k, holes
 * and other defects, and whether faces meet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/endings.h"
#include "cli/info_show.h"
#include "cli/meshes.h"
#include "cli/output.h"
#include "cli/parts.h"
#include "cli/platform.h"
#include "cli/text.h"
#include "cli/where.h"

typedef struct options {
    bool no_weld, k, holes, pairs;
    int from;
    const char *part, *output, *format, *mark;
} options;

ENDINGS(info_formats, DISPLAY_ENDINGS);
ENDINGS(info_marks, "ply", DISPLAY_ENDINGS);

static const arg_option info_options[] = {
    {"--no-weld", 0, ARG_FLAG, offsetof(options, no_weld), NULL,
     "keep vertices apart that have equal coordinates", NULL},
    {"--k", 0, ARG_FLAG, offsetof(options, k), NULL,
     "also k and height, which take longer than the rest", NULL},
    {"--holes", 0, ARG_FLAG, offsetof(options, holes), NULL,
     "list boundary loops, non-manifold edges and vertices, and flipped faces", NULL},
    {"--pairs", 0, ARG_FLAG, offsetof(options, pairs), NULL,
     "also whether faces meet, which takes longer", NULL},
    {"--mark", 0, ARG_OUTPUT, offsetof(options, mark), "FILE",
     "write the mesh there, with all of these marked", info_marks},
    {"--part", 0, ARG_TEXT, offsetof(options, part), "NAME", PARTS_HELP, NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "show the meshes with their open, non-manifold and degenerate edges marked", info_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME", MESHES_FROM_HELP,
     meshes_from_choice},
};

#define SHOWN 40u /* parts described in words */

typedef struct part_report {
    char *name;
    uint64_t faces;
    bool closed, balanced;
    double volume;
} part_report;

typedef struct subject {
    const char *path;
    carom_mesh_origin origin;
    carom_scalar scalar;
    uint64_t file_vertices;
    carom_mesh_report report; /* of the welded mesh */
    carom_kfree k_free;
    bool has_k;
    defects defects;
    part_report *parts;  /* the first of them; NULL when the mesh is one part without a name */
    uint64_t part_count; /* all of them */
    uint64_t described;
    double prepare_s, query_s; /* reading and welding; inspecting and counting */
    carom_status status;       /* of the failure in `message` */
    char message[512];
} subject;

/* A mesh of which no soup can be made, or that is too large for diameters, has no k; the rest is
 * still reported. */
static carom_status count_near(cli *cli, const carom_mesh_view *view, subject *s) {
    carom_soup *soup = NULL;
    carom_soup_def def = {.mesh = view};
    carom_status status = carom_soup_create(cli->context, &def, &soup);
    if (status == CAROM_OK) status = carom_kfree_measure(cli->context, soup, &s->k_free, NULL);
    carom_soup_destroy(soup);
    s->has_k = status == CAROM_OK && s->k_free.faces != 0;
    return status == CAROM_BAD_INPUT || status == CAROM_TOO_LARGE ? CAROM_OK : status;
}

static void free_subject(subject *s) {
    for (uint64_t i = 0; i < s->described; ++i) free(s->parts[i].name);
    free(s->parts);
    defects_free(&s->defects);
    s->parts = NULL;
    s->described = 0;
}

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

/* Describes the first `most` parts, each by itself. */
static carom_status inspect_parts(cli *cli, const carom_mesh_view *view, uint64_t most,
                                  subject *s) {
    parts p;
    carom_status status = CAROM_NO_MEMORY;
    uint64_t count = view->part_count < most ? view->part_count : most;
    s->parts = calloc((size_t)count, sizeof(*s->parts));
    if (parts_open(view, &p) && s->parts != NULL) status = CAROM_OK;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        carom_mesh_view one;
        carom_mesh_report r;
        parts_get(&p, i, &one);
        status = carom_mesh_inspect(cli->context, &one, &r);
        if (status != CAROM_OK) break;
        s->parts[i] =
            (part_report){copy_text(parts_name(view, i)), r.faces, r.closed, r.balanced, r.volume};
        ++s->described;
        if (s->parts[i].name == NULL) status = CAROM_NO_MEMORY;
    }
    parts_close(&p);
    return status;
}

/* Welds each part by itself, as parts are closed or not by themselves. */
static carom_status describe_parts(cli *cli, const carom_mesh_view *view, const options *options,
                                   subject *s) {
    carom_mesh *welded = NULL;
    carom_mesh_view apart = *view;
    carom_status status = CAROM_OK;
    s->part_count = view->part_count;
    if (view->part_count < 2 && parts_name(view, 0)[0] == '\0') return CAROM_OK;
    if (!options->no_weld) {
        status = carom_mesh_weld_parts(cli->context, view, &welded);
        if (status == CAROM_OK) status = carom_mesh_get_view(welded, &apart);
    }
    if (status == CAROM_OK) status = inspect_parts(cli, &apart, cli->json ? UINT64_MAX : SHOWN, s);
    carom_mesh_destroy(welded);
    return status;
}

/* Writes the mesh as PLY, with all faces red that have a part in a defect. */
static carom_status mark_faces(cli *cli, const carom_mesh_view *view, const defects *found,
                               const char *path) {
    carom_mesh *made = NULL;
    carom_pose pose = {0};
    uint8_t *marked = calloc((size_t)view->face_count + 1, 1);
    carom_status status = CAROM_NO_MEMORY;
    if (marked != NULL && defects_mark_faces(found, view, marked))
        status = where_mark(cli, view, NULL, &pose, marked, &made);
    if (status == CAROM_OK) status = meshes_save(cli, &made, CAROM_MESH_FORMAT_PLY, false, path);
    carom_mesh_destroy(made);
    free(marked);
    return status;
}

static const char *mark_format(const options *options) {
    return options->mark != NULL ? endings_format(options->mark, NULL, info_marks) : NULL;
}

/* Searches for holes and pairs where they are wanted or to be marked. */
static carom_status find_defects(cli *cli, const carom_mesh_view *view, const options *options,
                                 subject *s) {
    carom_status status = CAROM_OK;
    if (options->holes || options->mark != NULL)
        status = defects_find_holes(cli, view, &s->defects);
    if (status == CAROM_OK && (options->pairs || options->mark != NULL))
        status = defects_find_pairs(cli, view, &s->defects);
    if (status == CAROM_OK && endings_is(mark_format(options), "ply"))
        status = mark_faces(cli, view, &s->defects, options->mark);
    return status;
}

/* `d` is NULL where nothing is to be shown. */
static carom_status inspect(cli *cli, const char *path, const options *options, display *d,
                            subject *s) {
    carom_mesh *mesh = NULL, *welded = NULL;
    carom_mesh_view view, read = {0};
    *s = (subject){.path = path};
    double start = carom_time_seconds();
    carom_status status = meshes_read(cli, path, options->from, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_origin(mesh, &s->origin);
    if (status == CAROM_OK) status = parts_select(cli, path, options->part, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) {
        read = view;
        s->file_vertices = view.vertex_count;
        s->scalar = view.scalar;
        if (!options->no_weld) {
            status = carom_mesh_weld(cli->context, &view, &welded);
            if (status == CAROM_OK) status = carom_mesh_get_view(welded, &view);
        }
    }
    double prepared = carom_time_seconds();
    if (status == CAROM_OK) status = carom_mesh_inspect(cli->context, &view, &s->report);
    if (status == CAROM_OK) status = describe_parts(cli, &read, options, s);
    if (status == CAROM_OK && options->k) status = count_near(cli, &view, s);
    if (status == CAROM_OK) status = find_defects(cli, &view, options, s);
    if (status == CAROM_OK && d != NULL)
        status = info_show(d, &view, &s->report, &s->defects, path);
    s->prepare_s = prepared - start;
    s->query_s = carom_time_seconds() - prepared;
    carom_mesh_destroy(welded);
    carom_mesh_destroy(mesh);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_point(json *j, const char *key, carom_vec3 p) {
    json_begin_array(j, key);
    json_number(j, NULL, p.x);
    json_number(j, NULL, p.y);
    json_number(j, NULL, p.z);
    json_end_array(j);
}

static void print_json(json *j, const subject *s) {
    const carom_mesh_report *r = &s->report;
    json_begin_object(j, NULL);
    json_text(j, "file", s->path);
    json_text(j, "format", carom_mesh_format_name(s->origin.format));
    json_count(j, "vertices", s->file_vertices);
    json_count(j, "welded_vertices", r->vertices);
    json_count(j, "unused_vertices", r->unused_vertices);
    json_count(j, "faces", r->faces);
    json_count(j, "skipped_faces", s->origin.skipped_faces);
    json_count(j, "triangles", r->triangles);
    json_count(j, "edges", r->edges);
    json_count(j, "open_edges", r->open_edges);
    json_count(j, "nonmanifold_edges", r->nonmanifold_edges);
    json_count(j, "inconsistent_edges", r->inconsistent_edges);
    json_count(j, "shells", r->shells);
    json_bool(j, "closed", r->closed);
    json_bool(j, "balanced", r->balanced);
    json_bool(j, "oriented", r->oriented);
    json_number(j, "volume", r->balanced ? r->volume : (double)NAN);
    json_number(j, "area", r->area);
    json_count(j, "degenerate", r->degenerate_faces);
    json_count(j, "duplicates", r->duplicate_faces);
    print_point(j, "low", r->bounds.low);
    print_point(j, "high", r->bounds.high);
    if (s->has_k)
        json_count(j, "k", s->k_free.k);
    else
        json_null(j, "k");
    json_number(j, "height", s->has_k ? s->k_free.height : (double)NAN);
    defects_print_json(j, &s->defects);
    json_number(j, "metres", s->origin.metres > 0.0 ? s->origin.metres : (double)NAN);
    json_begin_array(j, "parts");
    for (uint64_t i = 0; i < s->described; ++i) {
        json_begin_object(j, NULL);
        json_text(j, "name", s->parts[i].name);
        json_count(j, "faces", s->parts[i].faces);
        json_bool(j, "closed", s->parts[i].closed);
        json_number(j, "volume", s->parts[i].balanced ? s->parts[i].volume : (double)NAN);
        json_end_object(j);
    }
    json_end_array(j);
    json_number(j, "prepare_s", s->prepare_s);
    json_number(j, "query_s", s->query_s);
    json_end_object(j);
}

/* A file that could not be inspected, at its position among the others. */
static void print_json_failure(json *j, const subject *s) {
    json_begin_object(j, NULL);
    json_text(j, "file", s->path);
    json_text(j, "error", s->message);
    json_text(j, "status", carom_status_name(s->status));
    json_end_object(j);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* 1234567 as 1,234,567. */
static const char *grouped(uint64_t value, char text[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value), to = 0;
    for (int i = 0; i < length; ++i) {
        if (i > 0 && (length - i) % 3 == 0) text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = '\0';
    return text;
}

static void print_count(const char *name, uint64_t value, const char *more) {
    char text[32];
    printf("  %-18s %12s%s%s\n", name, grouped(value, text), more[0] != '\0' ? "  " : "", more);
}

static const char *edge_note(const uint32_t edge[2], char *text, size_t size) {
    text[0] = '\0';
    if (edge[0] != CAROM_NONE)
        snprintf(text, size, "the first between vertices %u and %u", edge[0], edge[1]);
    return text;
}

static const char *face_note(uint32_t face, char *text, size_t size) {
    text[0] = '\0';
    if (face != CAROM_NONE) snprintf(text, size, "the first is face %u", face);
    return text;
}

/* Why the mesh is closed or not, in words. */
static const char *verdict(const carom_mesh_report *r) {
    if (r->closed) return r->volume < 0.0 ? "yes, but inside out" : "yes";
    if (r->faces == 0) return "no, there are no faces";
    if (r->open_edges != 0) return "no, there are open edges";
    if (!r->balanced) return "no, faces do not go the same way round";
    return "no, but every edge has as many sides one way as the other";
}

static void print_parts(const subject *s) {
    char text[32];
    if (s->parts == NULL) return;
    print_count("parts", s->part_count, "");
    for (uint64_t i = 0; i < s->described; ++i) {
        printf("  %6llu %12s faces, %-8s ", (unsigned long long)i, grouped(s->parts[i].faces, text),
               s->parts[i].closed ? "closed" : "open");
        text_put(stdout, s->parts[i].name);
        putchar('\n');
    }
    if (s->part_count > s->described)
        printf("  ... and %llu more; --json lists them all\n",
               (unsigned long long)(s->part_count - s->described));
}

static void print_table(const subject *s, bool no_weld) {
    const carom_mesh_report *r = &s->report;
    char text[128], number[32];
    printf("%s: %s%s, %s\n", s->path, carom_mesh_format_name(s->origin.format),
           s->origin.compressed ? ", gzipped" : "",
           s->scalar == CAROM_SCALAR_FLOAT32 ? "float32" : "float64");
    text[0] = '\0';
    if (!no_weld) snprintf(text, sizeof(text), "%s different ones", grouped(r->vertices, number));
    print_count("vertices", s->file_vertices, text);
    if (r->unused_vertices != 0) print_count("  unused", r->unused_vertices, "");
    text[0] = '\0';
    if (r->triangles != r->faces)
        snprintf(text, sizeof(text), "%s triangles", grouped(r->triangles, number));
    print_count("faces", r->faces, text);
    if (s->origin.skipped_faces != 0)
        print_count("  left out", s->origin.skipped_faces, "with fewer than three corners");
    print_count("  degenerate", r->degenerate_faces,
                face_note(r->first_degenerate_face, text, sizeof(text)));
    print_count("  duplicate", r->duplicate_faces,
                face_note(r->first_duplicate_face, text, sizeof(text)));
    print_count("edges", r->edges, "");
    print_count("  open", r->open_edges, edge_note(r->first_open_edge, text, sizeof(text)));
    print_count("  non-manifold", r->nonmanifold_edges,
                edge_note(r->first_nonmanifold_edge, text, sizeof(text)));
    print_count("  inconsistent", r->inconsistent_edges,
                edge_note(r->first_inconsistent_edge, text, sizeof(text)));
    print_count("shells", r->shells, "");
    printf("  %-18s %s\n", "closed", verdict(r));
    if (r->balanced)
        printf("  %-18s %.17g\n", "volume", r->volume);
    else
        printf("  %-18s none, as the mesh is not closed\n", "volume");
    printf("  %-18s %.17g\n", "area", r->area);
    if (s->has_k) {
        snprintf(text, sizeof(text), "a face has up to %s larger ones within d/4",
                 grouped(s->k_free.k - 1, number));
        print_count("k", s->k_free.k, text);
        printf("  %-18s %12.2f  powers of two between the least and the largest face\n", "height",
               s->k_free.height);
    }
    if (r->vertices != 0) {
        printf("  %-18s %.9g %.9g %.9g\n", "low corner", r->bounds.low.x, r->bounds.low.y,
               r->bounds.low.z);
        printf("  %-18s %.9g %.9g %.9g\n", "high corner", r->bounds.high.x, r->bounds.high.y,
               r->bounds.high.z);
    }
    if (s->origin.metres > 0.0) printf("  %-18s %.9g m\n", "unit", s->origin.metres);
    defects_print(&s->defects);
    print_parts(s);
}

/* Writes what is to be shown; true where nothing is. */
static bool save(display *d, const options *options) {
    if (d == NULL) return true;
    if (d->cli->up != 0) d->up = d->cli->up;
    d->metres = d->cli->metres;
    bool saved = options->output == NULL ||
                 display_save(d, options->output,
                              endings_format(options->output, options->format, info_formats));
    if (options->mark != NULL && display_has_format(mark_format(options)))
        saved = display_save(d, options->mark, mark_format(options)) && saved;
    return saved;
}

/* One bad file does not hide the others: each failure is printed at its position, the first one
 * also at the top. A failure of the machine, or a signal, ends the command. */
static int run_json(cli *cli, const options *options, display *d, size_t count, char **paths) {
    subject *subjects = calloc(count, sizeof(*subjects)), *first = NULL;
    if (subjects == NULL) return cli_fail_with(cli, CAROM_NO_MEMORY, "no memory for the reports");
    for (size_t i = 0; i < count; ++i) {
        subject *s = &subjects[i];
        carom_status status = inspect(cli, paths[i], options, d, s);
        if (status == CAROM_OK) continue;
        if (cli_code(status) != CLI_INPUT) {
            for (size_t k = 0; k <= i; ++k) free_subject(&subjects[k]);
            free(subjects);
            return cli_fail(cli, status);
        }
        s->status = status;
        snprintf(s->message, sizeof(s->message), "%.500s", cli_message(cli, status));
        fprintf(stderr, "carom: %s\n", s->message);
        if (first == NULL) first = s;
    }
    int code = first != NULL ? cli_code(first->status) : CLI_OK;
    bool saved = save(d, options);
    if (saved) {
        json j = cli_begin_json(cli);
        if (first != NULL) {
            json_text(&j, "error", first->message);
            json_text(&j, "status", carom_status_name(first->status));
        }
        json_begin_array(&j, "meshes");
        for (size_t i = 0; i < count; ++i)
            if (subjects[i].status == CAROM_OK)
                print_json(&j, &subjects[i]);
            else
                print_json_failure(&j, &subjects[i]);
        json_end_array(&j);
        if (options->output != NULL) json_text(&j, "output", options->output);
        cli_end_json(&j);
    }
    for (size_t i = 0; i < count; ++i) free_subject(&subjects[i]);
    free(subjects);
    if (!saved) code = cli_code(CAROM_IO);
    return code;
}

static int run_words(cli *cli, const options *options, display *d, size_t count, char **paths) {
    int code = CLI_OK;
    for (size_t i = 0; i < count; ++i) {
        subject subject;
        carom_status status = inspect(cli, paths[i], options, d, &subject);
        if (status != CAROM_OK) { /* one bad file does not hide the others */
            code = cli_fail(cli, status);
            free_subject(&subject);
            if (code != CLI_INPUT) return code;
            continue;
        }
        if (i != 0) putchar('\n');
        print_table(&subject, options->no_weld);
        free_subject(&subject);
        fflush(stdout);
    }
    return save(d, options) ? code : cli_code(CAROM_IO);
}

static int run(cli *cli, const void *values, size_t count, char **paths) {
    const options *options = values;
    display d;
    char title[400];
    if (output_is_standard(options->output))
        return cli_misuse(cli, "the words go to the standard output; give -o the name of a file");
    if (output_is_standard(options->mark)) return cli_misuse(cli, "give --mark the name of a file");
    if (output_misuse(cli, options->output) != NULL)
        return cli_misuse(cli, output_misuse(cli, options->output));
    if (output_misuse(cli, options->mark) != NULL)
        return cli_misuse(cli, output_misuse(cli, options->mark));
    if (count > 1 && endings_is(mark_format(options), "ply"))
        return cli_misuse(cli, "a PLY file holds one mesh; give one, or --mark a page (.html)");
    snprintf(title, sizeof(title), "%.300s%s", carom_os_file_name(paths[0]),
             count > 1 ? " and others" : "");
    display_begin(&d, cli, title);
    display *shown =
        options->output != NULL || display_has_format(mark_format(options)) ? &d : NULL;
    int code = cli->json ? run_json(cli, options, shown, count, paths)
                         : run_words(cli, options, shown, count, paths);
    display_free(&d);
    return code;
}

const cli_command cli_info = {
    .order = 10,
    .name = "info",
    .arguments = "MESH... (- is the standard input)",
    .summary = "what a mesh is: counts, closedness, volume, area, bounds",
    .details =
        "Vertices with coordinates equal bit for bit are one (--no-weld keeps them apart).\n"
        "The volume is exact, rounded once. Vertices and faces are numbered from 0. --k adds\n"
        "k and height; carom kfree --help describes them. Parts are objects, groups, solids or\n"
        "nodes of the file. --holes lists what carom close fills and what it cannot mend.",
    .options = info_options,
    .option_count = sizeof(info_options) / sizeof(info_options[0]),
    .options_size = sizeof(options),
    .fewest = 1,
    .most = 4096,
    .run = run,
    .inputs = 4096,
};
