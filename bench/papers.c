/* SPDX-License-Identifier: MIT */
/* Runs a figure of a paper: makes solids and packings once for all figures, collects rows, and adds
 * what the last run on a GPU has recorded. */
#include "bench/papers.h"
#include "cli/platform.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/paths.h"

#include "papers_all.h"
#include "papers_device.h" /* papers_device: the lines of bench/papers_device.csv, ended by NULL */

/* ---- The lab --------------------------------------------------------------------------------- */

bool papers_lab_open(papers_lab *lab, const carom_context_def *def, bool quick) {
    *lab = (papers_lab){.quick = quick, .device_only = def->backend == CAROM_BACKEND_CUDA};
    carom_context_def all = *def, one = *def, gpu = *def;
    all.backend = one.backend = CAROM_BACKEND_CPU;
    one.threads = 1;
    gpu.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&all, &lab->parallel) != CAROM_OK ||
        carom_context_create(&one, &lab->serial) != CAROM_OK)
        return false;
    if (carom_context_create(&gpu, &lab->device) != CAROM_OK) lab->device = NULL;
    return lab->device != NULL || !lab->device_only;
}

void papers_lab_close(papers_lab *lab) {
    for (uint32_t i = 0; i < lab->kept_count; ++i) lab->kept[i].destroy(lab->kept[i].data);
    for (uint32_t i = 0; i < lab->packing_count; ++i)
        carom_packing_destroy(lab->packings[i].packing);
    for (uint32_t i = 0; i < lab->solid_count; ++i) carom_mesh_destroy(lab->solids[i].mesh);
    carom_context_destroy(lab->device);
    carom_context_destroy(lab->serial);
    carom_context_destroy(lab->parallel);
    *lab = (papers_lab){.quick = false};
}

static carom_vec3 position_of(const carom_mesh_view *view, uint64_t vertex) {
    if (view->scalar == CAROM_SCALAR_FLOAT64) {
        const double *p = (const double *)view->positions + 3 * vertex; /* meshes are packed */
        return (carom_vec3){p[0], p[1], p[2]};
    }
    const float *p = (const float *)view->positions + 3 * vertex;
    return (carom_vec3){(double)p[0], (double)p[1], (double)p[2]};
}

/* Copies a mesh: moved to the origin, scaled to a diagonal of 2. */
static bool normalise(papers_lab *lab, const carom_mesh *from, papers_solid *solid) {
    carom_mesh_view view;
    carom_bounds box;
    if (carom_mesh_get_view(from, &view) != CAROM_OK ||
        carom_mesh_bounds(lab->serial, &view, &box) != CAROM_OK)
        return false;
    carom_vec3 *positions = malloc(view.vertex_count * sizeof(*positions));
    if (positions == NULL) return false;
    carom_vec3 middle = {0.5 * (box.low.x + box.high.x), 0.5 * (box.low.y + box.high.y),
                         0.5 * (box.low.z + box.high.z)};
    double x = box.high.x - box.low.x, y = box.high.y - box.low.y, z = box.high.z - box.low.z;
    double scale = 2.0 / sqrt(x * x + y * y + z * z);
    for (uint64_t i = 0; i < view.vertex_count; ++i) {
        carom_vec3 p = position_of(&view, i);
        positions[i] = (carom_vec3){scale * (p.x - middle.x), scale * (p.y - middle.y),
                                    scale * (p.z - middle.z)};
    }
    carom_mesh_view moved = view;
    moved.positions = positions;
    moved.scalar = CAROM_SCALAR_FLOAT64;
    moved.stride = 0;
    moved.property_count = 0;
    bool made = carom_mesh_weld(lab->serial, &moved, &solid->mesh) == CAROM_OK &&
                carom_mesh_get_view(solid->mesh, &solid->view) == CAROM_OK;
    free(positions);
    return made;
}

const papers_solid *papers_get_solid(papers_lab *lab, const char *file, const char *name,
                                     const carom_shape_def *stand_in) {
    for (uint32_t i = 0; i < lab->solid_count; ++i)
        if (strcmp(lab->solids[i].name, name) == 0) return &lab->solids[i];
    if (lab->solid_count == PAPERS_MOST_SOLIDS) return NULL;
    papers_solid solid = {.mesh = NULL};
    snprintf(solid.name, sizeof(solid.name), "%s", name);
    carom_mesh *mesh = NULL;
    if (!lab->quick && file[0] != '\0') {
        char path[1024];
        const char *folder = getenv("CAROM_MODELS");
        snprintf(path, sizeof(path), "%s/watertight/%s",
                 folder != NULL ? folder : "../shared/models", file);
        if (carom_mesh_load(lab->serial, path, CAROM_MESH_FORMAT_GUESS, &mesh) != CAROM_OK)
            mesh = NULL;
    }
    if (mesh == NULL) {
        lab->stand_ins |= file[0] != '\0';
        if (carom_shape_make(lab->serial, stand_in, &mesh) != CAROM_OK) return NULL;
    }
    bool made = normalise(lab, mesh, &solid);
    carom_mesh_destroy(mesh);
    if (!made) {
        carom_mesh_destroy(solid.mesh);
        return NULL;
    }
    lab->solids[lab->solid_count] = solid;
    return &lab->solids[lab->solid_count++];
}

const carom_packing *papers_get_packing_by(papers_lab *lab, const papers_solid *solid,
                                           uint64_t count, carom_packing_method method) {
    for (uint32_t i = 0; i < lab->packing_count; ++i)
        if (lab->packings[i].solid == solid && lab->packings[i].requested == count &&
            lab->packings[i].method == method)
            return lab->packings[i].packing;
    carom_packing *packing;
    carom_packing_def def = {.mesh = &solid->view, .count = count, .method = method, .fast = true};
    /* A GPU makes the same packing: in less time where Protosphere does, which is slow on a CPU,
     * and where only its rows are wanted. */
    bool on_gpu =
        lab->device != NULL && (method == CAROM_PACKING_METHOD_PROTOSPHERE ||
                                (lab->device_only && method == CAROM_PACKING_METHOD_OCTREE));
    if (lab->packing_count == PAPERS_MOST_PACKINGS ||
        carom_packing_create(on_gpu ? lab->device : lab->parallel, &def, &packing) != CAROM_OK)
        return NULL;
    lab->packings[lab->packing_count].solid = solid;
    lab->packings[lab->packing_count].requested = count;
    lab->packings[lab->packing_count].method = method;
    lab->packings[lab->packing_count++].packing = packing;
    return packing;
}

const carom_packing *papers_get_packing(papers_lab *lab, const papers_solid *solid,
                                        uint64_t count) {
    return papers_get_packing_by(lab, solid, count, CAROM_PACKING_METHOD_OCTREE);
}

void *papers_get_kept(const papers_lab *lab, const char *name) {
    for (uint32_t i = 0; i < lab->kept_count; ++i)
        if (strcmp(lab->kept[i].name, name) == 0) return lab->kept[i].data;
    return NULL;
}

bool papers_keep(papers_lab *lab, const char *name, void *data, void (*destroy)(void *data)) {
    if (lab->kept_count == PAPERS_MOST_KEPT) return false;
    snprintf(lab->kept[lab->kept_count].name, sizeof(lab->kept[0].name), "%s", name);
    lab->kept[lab->kept_count].data = data;
    lab->kept[lab->kept_count++].destroy = destroy;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t column_count(const papers_figure *figure) {
    uint32_t count = 0;
    while (figure->columns[count] != NULL) ++count;
    return count;
}

const char *papers_backend_name(papers_backend backend) {
    static const char *const names[] = {"CPU: 1 thread", "CPU: all threads", "GPU", "in print"};
    return names[backend];
}

papers_backend papers_backend_of(const papers_lab *lab, const carom_context *context) {
    if (context == lab->serial) return PAPERS_ONE_THREAD;
    return context == lab->parallel ? PAPERS_ALL_THREADS : PAPERS_GPU;
}

/* Whether a column tells how many triangles there are. */
static bool counts_triangles(const char *column) {
    return strcmp(column, "polygons") == 0 || strcmp(column, "triangles") == 0;
}

void papers_add(papers_plot *plot, const papers_source *source, const char *series,
                const double *values) {
    if (plot->row_count == plot->row_capacity) {
        uint32_t capacity = 2 * plot->row_capacity + 64;
        papers_row *rows = realloc(plot->rows, capacity * sizeof(*rows));
        if (rows == NULL) {
            plot->failed = true;
            return;
        }
        plot->rows = rows;
        plot->row_capacity = capacity;
    }
    papers_row *row = &plot->rows[plot->row_count++];
    *row = (papers_row){.backend = source->backend, .triangles = source->triangles};
    if (snprintf(row->series, sizeof(row->series), "%s", series) >= (int)sizeof(row->series) ||
        snprintf(row->algorithm, sizeof(row->algorithm), "%s", source->algorithm) >=
            (int)sizeof(row->algorithm))
        plot->failed = true; /* a name was cut off */
    for (uint32_t i = 0; i < column_count(plot->figure); ++i) {
        row->values[i] = values[i];
        if (!isfinite(values[i])) plot->failed = true;
        if (counts_triangles(plot->figure->columns[i]) && values[i] != (double)source->triangles)
            plot->failed = true;
    }
}

void papers_note(papers_plot *plot, const char *format, ...) {
    if (plot->note_count == PAPERS_MOST_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plot->notes[plot->note_count++], sizeof(plot->notes[0]), format, arguments);
    va_end(arguments);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

#define DRAWN_BALLS 700u /* of a packing: a picture stays below 200 KB */

static void add_balls(papers_picture *picture, const carom_packing_spheres *spheres,
                      const carom_pose *pose, uint8_t colour) {
    uint32_t count = spheres->count < DRAWN_BALLS ? (uint32_t)spheres->count : DRAWN_BALLS;
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 c = spheres->data[i].centre;
        carom_ball *ball = &picture->balls[picture->count];
        *ball = (carom_ball){pose != NULL ? scene_pose_apply(pose, c) : c, spheres->data[i].radius};
        picture->colours[picture->count++] = colour;
    }
}

void papers_add_balls(papers_plot *plot, const char *caption, const carom_packing *a,
                      const carom_packing *b, const carom_pose *pose_b) {
    if (plot->picture_count == PAPERS_MOST_PICTURES) return;
    papers_picture *picture = &plot->pictures[plot->picture_count++];
    carom_packing_spheres spheres = {0};
    snprintf(picture->caption, sizeof(picture->caption), "%s", caption);
    picture->balls = malloc(2 * DRAWN_BALLS * sizeof(*picture->balls));
    picture->colours = malloc(2 * DRAWN_BALLS);
    if (picture->balls == NULL || picture->colours == NULL) {
        plot->failed = true;
        return;
    }
    if (carom_packing_list_spheres(plot->lab->serial, a, &spheres) == CAROM_OK)
        add_balls(picture, &spheres, NULL, 0);
    if (b != NULL && carom_packing_list_spheres(plot->lab->serial, b, &spheres) == CAROM_OK)
        add_balls(picture, &spheres, pose_b, 1);
    carom_packing_spheres_free(&spheres);
}

void papers_add_coloured(papers_plot *plot, const char *caption, carom_ball *balls,
                         uint8_t *colours, uint32_t count) {
    if (balls == NULL || colours == NULL) plot->failed = true;
    if (plot->picture_count == PAPERS_MOST_PICTURES || balls == NULL || colours == NULL) {
        free(balls);
        free(colours);
        return;
    }
    papers_picture *picture = &plot->pictures[plot->picture_count++];
    snprintf(picture->caption, sizeof(picture->caption), "%s", caption);
    picture->balls = balls;
    picture->colours = colours;
    picture->count = count;
}

void papers_add_mesh(papers_plot *plot, const char *caption, carom_mesh *mesh) {
    if (plot->picture_count == PAPERS_MOST_PICTURES) {
        carom_mesh_destroy(mesh);
        return;
    }
    papers_picture *picture = &plot->pictures[plot->picture_count++];
    snprintf(picture->caption, sizeof(picture->caption), "%s", caption);
    picture->mesh = mesh;
}

/* ---- What a GPU has recorded ----------------------------------------------------------------- */

/* Reads the next field of a line; false: there is none. */
static bool next_field(const char **at, char *field, size_t size) {
    size_t length = strcspn(*at, ",");
    snprintf(field, size, "%.*s", (int)length, *at);
    *at += length;
    if (**at == ',') ++*at;
    return length != 0;
}

/* A line is figure,date,commit,device,algorithm,triangles,series,value,value...; commas of a series
 * are bars. */
static void add_recorded(papers_plot *plot) {
    uint32_t columns = column_count(plot->figure), added = 0;
    for (size_t i = 0; papers_device[i] != NULL; ++i) {
        char figure[48], date[16], commit[16], device[64], algorithm[48], triangles[24], series[64];
        double values[PAPERS_MOST_COLUMNS];
        const char *at = papers_device[i];
        if (!next_field(&at, figure, sizeof(figure)) || strcmp(figure, plot->figure->name) != 0 ||
            !next_field(&at, date, sizeof(date)) || !next_field(&at, commit, sizeof(commit)) ||
            !next_field(&at, device, sizeof(device)) ||
            !next_field(&at, algorithm, sizeof(algorithm)) ||
            !next_field(&at, triangles, sizeof(triangles)) ||
            !next_field(&at, series, sizeof(series)))
            continue;
        for (char *c = series; *c != '\0'; ++c) *c = *c == '|' ? ',' : *c;
        uint32_t count = 0;
        while (*at != '\0' && count < PAPERS_MOST_COLUMNS) {
            char *end;
            values[count++] = strtod(at, &end);
            if (end == at) break;
            at = *end == ',' ? end + 1 : end;
        }
        if (count != columns || *at != '\0') continue; /* of an earlier form of the figure */
        if (added++ == 0)
            papers_note(plot, "GPU: measured on %s at commit %s, %s", date, commit, device);
        papers_add(plot, &(papers_source){algorithm, PAPERS_GPU, strtoull(triangles, NULL, 10)},
                   series, values);
    }
}

/* ---- Ours and printed ------------------------------------------------------------------------ */

static void add_comparison(papers_plot *plot, const papers_printed *number, const papers_row *row,
                           double ours, double printed) {
    if (plot->comparison_count == PAPERS_MOST_COMPARISONS || !(printed > 0.0)) return;
    papers_comparison *c = &plot->comparisons[plot->comparison_count++];
    *c = (papers_comparison){.unit = number->unit, .ours = ours, .printed = printed};
    if (number->statistic == PAPERS_EACH || number->statistic == PAPERS_LAST)
        snprintf(c->what, sizeof(c->what), "%s: %s, %.9g %s", row->series, number->what,
                 row->values[0], plot->figure->columns[0]);
    else
        snprintf(c->what, sizeof(c->what), "%s: %s", row->series, number->what);
}

/* The number of one series that begins in row `first`. */
static void compare_series(papers_plot *plot, const papers_printed *number, uint32_t first) {
    const papers_row *begin = &plot->rows[first], *last = begin;
    double sum = 0.0, most = begin->values[number->column];
    uint32_t count = 0;
    for (uint32_t i = first; i < plot->row_count; ++i) {
        const papers_row *row = &plot->rows[i];
        if (strcmp(row->series, begin->series) != 0) continue;
        sum += row->values[number->column];
        most = fmax(most, row->values[number->column]);
        ++count;
        if (row->values[0] >= last->values[0]) last = row;
    }
    double ours = number->statistic == PAPERS_MEAN   ? sum / (double)count
                  : number->statistic == PAPERS_MOST ? most
                                                     : last->values[number->column];
    add_comparison(plot, number, last, ours, number->value);
}

/* What is printed for a row; 0: nothing. */
static double printed_for(const papers_plot *plot, const papers_printed *number,
                          const papers_row *row) {
    if (number->printed_at != 0 && row->values[number->printed_at] != row->values[0]) return 0.0;
    if (number->printed_series == NULL) return row->values[number->printed_column];
    for (uint32_t i = 0; i < plot->row_count; ++i)
        if (strcmp(plot->rows[i].series, number->printed_series) == 0 &&
            plot->rows[i].values[0] == row->values[0])
            return plot->rows[i].values[number->column];
    return 0.0;
}

static bool is_first_of_series(const papers_plot *plot, uint32_t row) {
    for (uint32_t i = 0; i < row; ++i)
        if (strcmp(plot->rows[i].series, plot->rows[row].series) == 0) return false;
    return true;
}

static void compare_with_printed(papers_plot *plot) {
    const papers_printed *number = plot->figure->numbers;
    for (; number != NULL && number->what != NULL; ++number)
        for (uint32_t i = 0; i < plot->row_count; ++i) {
            const papers_row *row = &plot->rows[i];
            if (number->series != NULL && strcmp(row->series, number->series) != 0) continue;
            if (row->backend == PAPERS_IN_PRINT) continue;
            if (number->statistic == PAPERS_EACH)
                add_comparison(plot, number, row, row->values[number->column],
                               printed_for(plot, number, row));
            else if (is_first_of_series(plot, i))
                compare_series(plot, number, i);
        }
}

/* ---- Figures --------------------------------------------------------------------------------- */

bool papers_run(papers_lab *lab, const papers_figure *figure, papers_plot *plot) {
    *plot = (papers_plot){.lab = lab, .figure = figure};
    double start = carom_time_seconds(), processor = platform_process_seconds();
    if (!figure->run(plot) || plot->row_count == 0) plot->failed = true;
    if (lab->device == NULL && !lab->quick) add_recorded(plot);
    compare_with_printed(plot);
    if (lab->stand_ins && !lab->quick)
        papers_note(plot,
                    "shapes stand for models that are not there; recorded rows are of models");
    plot->seconds = carom_time_seconds() - start;
    plot->processor = platform_process_seconds() - processor;
    return !plot->failed;
}

void papers_plot_free(papers_plot *plot) {
    for (uint32_t i = 0; i < plot->picture_count; ++i) {
        free(plot->pictures[i].balls);
        free(plot->pictures[i].colours);
        carom_mesh_destroy(plot->pictures[i].mesh);
    }
    free(plot->rows);
    plot->rows = NULL;
    plot->row_count = plot->picture_count = 0;
}

const char *papers_plot_reason(const papers_plot *plot) {
    const carom_context *contexts[] = {plot->lab->serial, plot->lab->parallel, plot->lab->device};
    for (int i = 0; i < 3; ++i)
        if (contexts[i] != NULL && carom_context_message(contexts[i])[0] != '\0')
            return carom_context_message(contexts[i]);
    return "a value is not finite, a count not that of the input, or there is no memory";
}

/* ---- Time ------------------------------------------------------------------------------------ */

double papers_now(const papers_lab *lab, const carom_context *context) {
    return context != lab->serial ? carom_time_seconds() : platform_process_seconds();
}

double papers_best_seconds(const papers_lab *lab, const carom_context *context,
                           bool (*run)(void *input), void *input, int turns) {
    double best = HUGE_VAL;
    for (int turn = 0; turn <= turns; ++turn) {
        double start = papers_now(lab, context);
        if (!run(input)) return -1.0;
        double taken = papers_now(lab, context) - start;
        if (turn > 0 && taken < best) best = taken;
    }
    return best;
}
