/* SPDX-License-Identifier: MIT */
/* carom gas: an event-driven simulation of hard spheres with its observables, a trajectory, the
 * list of events and g(r).
 *
 * Computed results are not lost: an interrupted run saves its gas, and a run that ends early, for
 * whatever reason, leaves its complete frames and events (gas_write.c). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/endings.h"
#include "cli/gas_files.h"
#include "cli/gas_gr.h"
#include "cli/gas_show.h"
#include "cli/gas_write.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "scenes/gas.h"

#define MOST_FRAMES  1000000
#define MOST_SPHERES ((UINT64_C(1) << 27) - 1) /* of a gas */
#define MOST_TICKS   0x1p103                   /* of its time: see carom/gas.h */
#define MOST_SHOWN   2000000 /* positions of a display, unless --frames says more */
#define PIECES       10      /* of a run without a trajectory and g(r) */

typedef struct options {
    uint64_t count, seed, frames, start_frame;
    double radius, speed, box, time, fraction, warm, loss, cell, mass, wall_loss, elastic_below,
        cutoff, tick, gr_step, gr_range;
    bool periodic;
    int method, queue, from;
    const char *output, *format, *save, *resume, *start, *copies, *events, *gr, *mixture, *edges,
        *gravity, *walls;
} options;

static const options gas_defaults = {.count = ARG_NO_COUNT,
                                     .seed = ARG_NO_COUNT,
                                     .frames = ARG_NO_COUNT,
                                     .start_frame = ARG_NO_COUNT,
                                     .radius = ARG_NO_NUMBER,
                                     .speed = ARG_NO_NUMBER,
                                     .box = ARG_NO_NUMBER,
                                     .time = 10.0,
                                     .fraction = ARG_NO_NUMBER,
                                     .loss = ARG_NO_NUMBER,
                                     .mass = ARG_NO_NUMBER,
                                     .wall_loss = ARG_NO_NUMBER,
                                     .elastic_below = ARG_NO_NUMBER,
                                     .tick = ARG_NO_NUMBER};

ARG_CHOICES(carom_gas_method, CAROM_GAS_METHOD_COUNT);
ARG_CHOICES(carom_gas_queue, CAROM_GAS_QUEUE_COUNT);
ENDINGS(gas_formats, "xyz", DISPLAY_ENDINGS, "svg");
ENDINGS(gr_formats, "csv", "svg");
ENDINGS(event_formats, "csv");
ENDINGS(saved_formats, "gas");

static const arg_option gas_options[] = {
    {"--count", 'n', ARG_COUNT, offsetof(options, count), "N", "spheres (1000)", NULL},
    {"--radius", 0, ARG_SIZE, offsetof(options, radius), "R", "of every sphere (0.5)", NULL},
    {"--mass", 0, ARG_SIZE, offsetof(options, mass), "M", "of every sphere (1)", NULL},
    {"--mixture", 0, ARG_TEXT, offsetof(options, mixture), "LIST",
     "kinds SHARE:RADIUS[:MASS], with commas between them", NULL},
    {"--speed", 0, ARG_NUMBER, offsetof(options, speed), "V",
     "mean speed (Gaussian velocities, temperature 1)", NULL},
    {"--box", 0, ARG_SIZE, offsetof(options, box), "L", "edge of the cube (from the fraction)",
     NULL},
    {"--edges", 0, ARG_TEXT, offsetof(options, edges), "X,Y,Z", "edges of the box", NULL},
    {"--fraction", 0, ARG_NUMBER, offsetof(options, fraction), "F", "packing fraction (0.1)", NULL},
    {"--time", 0, ARG_NUMBER, offsetof(options, time), "T", "how long to run (10)", NULL},
    {"--warm", 0, ARG_NUMBER, offsetof(options, warm), "T",
     "run that long before anything is measured (0)", NULL},
    {"--periodic", 0, ARG_FLAG, offsetof(options, periodic), NULL, "no walls", NULL},
    {"--walls", 0, ARG_TEXT, offsetof(options, walls), "AXES",
     "walls along these axes alone: xyz (all), z, ... or none", NULL},
    {"--gravity", 0, ARG_TEXT, offsetof(options, gravity), "X,Y,Z", "acceleration of all spheres",
     NULL},
    {"--loss", 0, ARG_NUMBER, offsetof(options, loss), "E", "1 - restitution (0: elastic)", NULL},
    {"--wall-loss", 0, ARG_NUMBER, offsetof(options, wall_loss), "E", "the same at walls (0)",
     NULL},
    {"--elastic-below", 0, ARG_NUMBER, offsetof(options, elastic_below), "V",
     "slower collisions lose nothing (0)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of positions and velocities (1)", NULL},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "auto, centre, extent or neighbours (auto)", carom_gas_method_choice},
    {"--queue", 0, ARG_CHOICE, offsetof(options, queue), "NAME", "calendar or tree (calendar)",
     carom_gas_queue_choice},
    {"--cell", 0, ARG_SIZE, offsetof(options, cell), "L", "least edge of a cell (by density)",
     NULL},
    {"--cutoff", 0, ARG_SIZE, offsetof(options, cutoff), "D",
     "of neighbour lists, in diameters (by density)", NULL},
    {"--tick", 0, ARG_SIZE, offsetof(options, tick), "T", "unit of time of events (by speed)",
     NULL},
    {"--start", 0, ARG_INPUT, offsetof(options, start), "FILE",
     "start with the spheres of a file (- is the standard input)", NULL},
    {"--from", 0, ARG_CHOICE, offsetof(options, from), "NAME",
     "read it as xyz, edmd, data or dump (by content and name)", gas_format_choice},
    {"--start-frame", 0, ARG_COUNT, offsetof(options, start_frame), "N",
     "of a trajectory, counted from 0 (the last)", NULL},
    {"--copies", 0, ARG_TEXT, offsetof(options, copies), "X,Y,Z",
     "repeat its box along the axes, with new velocities for all", NULL},
    {"--output", 'o', ARG_OUTPUT, offsetof(options, output), "FILE",
     "write a trajectory in extended XYZ, or show it and its plots", gas_formats},
    {"--format", 0, ARG_TEXT, offsetof(options, format), "NAME", "of that file (by its name)",
     NULL},
    {"--frames", 0, ARG_COUNT, offsetof(options, frames), "N",
     "frames of the trajectory and samples of g(r) (100)", NULL},
    {"--events", 0, ARG_OUTPUT, offsetof(options, events), "FILE", "write every event",
     event_formats},
    {"--gr", 0, ARG_OUTPUT, offsetof(options, gr), "FILE", "write the radial distribution function",
     gr_formats},
    {"--gr-step", 0, ARG_SIZE, offsetof(options, gr_step), "R",
     "width of its bins (0.02 diameters)", NULL},
    {"--gr-range", 0, ARG_SIZE, offsetof(options, gr_range), "R",
     "its largest distance (5 diameters, at most half an edge)", NULL},
    {"--save", 0, ARG_OUTPUT, offsetof(options, save), "FILE",
     "save the gas at the end, or where it is interrupted", saved_formats},
    /* Not ARG_INPUT: the file may be replaced by --save, when the run is complete. */
    {"--resume", 0, ARG_TEXT, offsetof(options, resume), "FILE", "go on with a saved gas", NULL},
};

/* ---- Initial state --------------------------------------------------------------------------- */

static bool is_given(double number) {
    return !isnan(number);
}

/* Reads X,Y,Z. */
static bool read_vector(const char *text, carom_vec3 *v) {
    double numbers[3];
    for (int axis = 0; axis < 3; ++axis) {
        char word[64];
        size_t length = strcspn(text, ",");
        if (length >= sizeof(word) || (axis < 2) != (text[length] == ',')) return false;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!args_read_number(word, &numbers[axis])) return false;
        text += length + (axis < 2);
    }
    *v = (carom_vec3){numbers[0], numbers[1], numbers[2]};
    return true;
}

/* Reads three whole numbers from 1 to MOST_SPHERES. */
static bool read_copies(const char *text, uint64_t copies[3]) {
    carom_vec3 v;
    if (!read_vector(text, &v)) return false;
    const double numbers[3] = {v.x, v.y, v.z};
    for (int axis = 0; axis < 3; ++axis) {
        if (!(numbers[axis] >= 1.0 && numbers[axis] <= (double)MOST_SPHERES)) return false;
        copies[axis] = (uint64_t)numbers[axis];
        if ((double)copies[axis] != numbers[axis]) return false;
    }
    return true;
}

/* Reads the axes with walls: letters x, y, z, or none. */
static bool read_walls(const char *text, bool periodic[3]) {
    for (int axis = 0; axis < 3; ++axis) periodic[axis] = true;
    if (strcmp(text, "none") == 0) return true;
    if (*text == '\0') return false;
    for (; *text != '\0'; ++text) {
        if (*text < 'x' || *text > 'z' || !periodic[*text - 'x']) return false;
        periodic[*text - 'x'] = false;
    }
    return true;
}

typedef struct mixture {
    scene_gas_kind kinds[SCENE_GAS_MOST_KINDS];
    uint32_t count;
} mixture;

/* Reads one number that ends at a colon, a comma or the end; NULL when it is not above zero. */
static const char *read_part(const char *text, double *value) {
    char word[64];
    size_t length = strcspn(text, ":,");
    if (length >= sizeof(word)) return NULL;
    memcpy(word, text, length);
    word[length] = '\0';
    return args_read_number(word, value) && *value > 0.0 ? text + length : NULL;
}

/* Reads SHARE:RADIUS[:MASS],... */
static bool read_mixture(const char *text, mixture *m) {
    for (m->count = 0; m->count < SCENE_GAS_MOST_KINDS; ++text) {
        scene_gas_kind *kind = &m->kinds[m->count++];
        kind->mass = 1.0;
        text = read_part(text, &kind->share);
        if (text == NULL || *text != ':') return false;
        text = read_part(text + 1, &kind->radius);
        if (text != NULL && *text == ':') text = read_part(text + 1, &kind->mass);
        if (text == NULL || *text == ':') return false;
        if (*text == '\0') return true;
    }
    return false;
}

static bool is_standard_twice(const options *o) {
    return output_is_standard(o->output) + output_is_standard(o->events) +
               output_is_standard(o->gr) >
           1;
}

static const char *find_file_misuse(const cli *cli, const options *o) {
    const char *outputs[] = {o->output, o->events, o->gr};
    for (int i = 0; i < 3; ++i) {
        const char *misuse = output_misuse(cli, outputs[i]);
        if (misuse != NULL) return misuse;
    }
    if (is_standard_twice(o))
        return "of --output, --events and --gr only one can go to the standard output";
    const char *paths[] = {o->save, o->resume};
    for (int i = 0; i < 2; ++i) {
        size_t length = paths[i] != NULL ? strlen(paths[i]) : 0;
        if (paths[i] == NULL) continue;
        if (length == 0 || strcmp(paths[i], "-") == 0)
            return "--save and --resume take the name of a file";
        if (length > 3 && strcmp(paths[i] + length - 3, ".gz") == 0)
            return "gases are not saved compressed; leave the .gz off";
    }
    if (o->start == NULL && (o->from != GAS_FORMAT_GUESS || o->start_frame != ARG_NO_COUNT))
        return "--from and --start-frame belong to --start";
    if (o->start == NULL && o->copies != NULL) return "--copies repeats the spheres of --start";
    if (o->gr == NULL && (o->gr_step > 0.0 || o->gr_range > 0.0))
        return "--gr-step and --gr-range belong to --gr";
    return NULL;
}

/* What a saved gas or a file of spheres decides. */
static const char *find_start_misuse(const options *o) {
    bool packed = is_given(o->fraction) || o->mixture != NULL || o->count != ARG_NO_COUNT;
    bool boxed = is_given(o->box) || o->edges != NULL || o->periodic || o->walls != NULL;
    bool lossy = is_given(o->loss) || is_given(o->wall_loss) || is_given(o->elastic_below);
    if (o->resume != NULL && o->start != NULL) return "--resume and --start are two starts";
    if (o->resume != NULL &&
        (packed || boxed || lossy || is_given(o->radius) || is_given(o->mass) ||
         is_given(o->speed) || is_given(o->tick) || o->gravity != NULL || o->seed != ARG_NO_COUNT))
        return "--resume brings its own spheres, box and losses";
    if (o->start != NULL && packed)
        return "--start brings its own spheres; --count, --fraction and --mixture have no use";
    return NULL;
}

static const char *find_shape_misuse(const options *o) {
    carom_vec3 v;
    bool axes[3];
    uint64_t copies[3];
    mixture m;
    if (o->copies != NULL && !read_copies(o->copies, copies))
        return "--copies takes three whole numbers from 1 on, such as 2,2,1";
    if (o->edges != NULL && !read_vector(o->edges, &v))
        return "--edges takes three numbers such as 10,10,20";
    if (o->edges != NULL && !(v.x > 0.0 && v.y > 0.0 && v.z > 0.0))
        return "--edges takes three numbers above 0";
    if (o->gravity != NULL && !read_vector(o->gravity, &v))
        return "--gravity takes three numbers such as 0,0,-9.81";
    if (o->walls != NULL && !read_walls(o->walls, axes))
        return "--walls takes some of the letters x, y and z, or none";
    if (o->walls != NULL && o->periodic) return "--periodic is --walls none; choose one";
    if (o->mixture != NULL && !read_mixture(o->mixture, &m))
        return "--mixture takes up to 8 kinds SHARE:RADIUS or SHARE:RADIUS:MASS, such as "
               "0.7:0.5,0.3:0.25:0.125";
    if (is_given(o->box) && o->edges != NULL) return "--box and --edges are two boxes; choose one";
    if (o->mixture != NULL && (is_given(o->radius) || is_given(o->mass)))
        return "--mixture has its own radii and masses";
    bool boxed = is_given(o->box) || o->edges != NULL;
    bool sized = is_given(o->radius) || o->mixture != NULL;
    if (sized && boxed && is_given(o->fraction))
        return "of --radius, --box and --fraction only two can be given (--mixture is a radius, "
               "--edges a box)";
    if (o->count == 0 && !boxed)
        return "no spheres have no packing fraction; say with --box how large the box is";
    if (is_given(o->fraction) && !(o->fraction > 0.0) && o->count != 0)
        return "--fraction must be above zero";
    if (o->count != ARG_NO_COUNT && o->count > MOST_SPHERES)
        return "a gas has at most 134217727 spheres";
    return NULL;
}

/* Checks the options before any work: a message, or NULL. */
static const char *find_misuse(const cli *cli, const options *o) {
    const char *misuse = find_file_misuse(cli, o);
    if (misuse != NULL) return misuse;
    if (o->time < 0.0 || o->warm < 0.0) return "--time and --warm must not be negative";
    if (is_given(o->speed) && o->speed < 0.0) return "--speed must not be negative";
    if (o->frames != ARG_NO_COUNT && o->frames > MOST_FRAMES)
        return "--frames takes up to a million";
    if (o->frames == 0 && (o->output != NULL || o->gr != NULL))
        return "--frames 0 writes no trajectory and no g(r); leave --output and --gr out";
    misuse = find_start_misuse(o);
    return misuse != NULL ? misuse : find_shape_misuse(o);
}

static carom_status fail_to_fit(cli *cli, uint64_t count, double radius, const carom_gas_def *def) {
    uint64_t most = scene_gas_most_count(radius, def);
    const carom_vec3 *e = &def->edges;
    char box[96], rest[64] = ", not even four";
    if (e->x == e->y && e->y == e->z)
        snprintf(box, sizeof(box), "of edge %g", e->x);
    else
        snprintf(box, sizeof(box), "of edges %g, %g and %g", e->x, e->y, e->z);
    if (most != 0) snprintf(rest, sizeof(rest), "; %llu do", (unsigned long long)most);
    snprintf(cli->message, sizeof(cli->message),
             "%llu spheres of radius %g do not fit a box %s on a lattice%s",
             (unsigned long long)count, radius, box, rest);
    return CAROM_BAD_INPUT;
}

static carom_status fail_to_mix(cli *cli, uint64_t count, const carom_gas_def *def) {
    snprintf(cli->message, sizeof(cli->message),
             "%llu spheres of these kinds do not fit a box of edges %g, %g and %g, neither on a "
             "lattice nor the smaller between the larger",
             (unsigned long long)count, def->edges.x, def->edges.y, def->edges.z);
    return CAROM_BAD_INPUT;
}

static carom_status fail_memory(cli *cli, uint64_t count) {
    snprintf(cli->message, sizeof(cli->message), "no memory for %llu spheres (%llu bytes)",
             (unsigned long long)count, (unsigned long long)(count * sizeof(carom_gas_sphere)));
    return CAROM_NO_MEMORY;
}

static uint64_t seed_of(const options *o) {
    return o->seed != ARG_NO_COUNT ? o->seed : 1;
}

/* A sphere is named by its index and its kind. */
static gas_label *label_kinds(const uint8_t *kind_of, uint64_t count) {
    gas_label *labels = calloc(count, sizeof(*labels));
    for (uint64_t i = 0; i < count && labels != NULL; ++i) {
        labels[i].id = i;
        labels[i].species[0] = (char)('A' + kind_of[i]);
    }
    return labels;
}

/* Gives the spheres of the lattice their kinds. */
static carom_status mix(const options *o, const mixture *m, carom_gas_sphere *spheres,
                        uint64_t count, gas_label **labels) {
    uint8_t *kind_of = malloc(count);
    if (kind_of == NULL) return CAROM_NO_MEMORY;
    scene_gas_mix(spheres, count, m->kinds, m->count, seed_of(o), kind_of);
    if (o->mixture != NULL) *labels = label_kinds(kind_of, count);
    free(kind_of);
    scene_gas_heat(spheres, count, seed_of(o));
    return o->mixture != NULL && *labels == NULL ? CAROM_NO_MEMORY : CAROM_OK;
}

/* A mixture that does not fit a lattice for its largest spheres. */
static carom_status scatter(cli *cli, const options *o, const carom_gas_def *def, const mixture *m,
                            uint64_t count, carom_gas_sphere **spheres, gas_label **labels) {
    uint8_t *kind_of = malloc(count);
    if (kind_of == NULL) return fail_memory(cli, count);
    carom_status status = scene_gas_scatter(def, count, m->kinds, m->count, seed_of(o),
                                            bar_progress, &cli->bar, kind_of, spheres);
    bar_clear(&cli->bar);
    if (status == CAROM_OK) {
        *labels = label_kinds(kind_of, count);
        if (*labels == NULL) status = CAROM_NO_MEMORY;
        scene_gas_heat(*spheres, count, seed_of(o));
    }
    free(kind_of);
    if (status == CAROM_BAD_INPUT) return fail_to_mix(cli, count, def);
    return status == CAROM_NO_MEMORY ? fail_memory(cli, count) : status;
}

static carom_status create_of(cli *cli, const carom_gas_def *def, const carom_gas_sphere *spheres,
                              uint64_t count, carom_gas **gas) {
    carom_gas_def of = *def;
    of.spheres = spheres;
    of.sphere_count = count;
    return carom_gas_create(cli->context, &of, gas);
}

/* Creates a gas on a lattice. */
static carom_status create(cli *cli, const options *o, carom_gas_def *def, gas_label **labels,
                           carom_gas **gas) {
    uint64_t count = o->count != ARG_NO_COUNT ? o->count : 1000;
    double radius = is_given(o->radius) ? o->radius : 0.5;
    double fraction = is_given(o->fraction) ? o->fraction : 0.1;
    mixture m = {.kinds = {{1.0, radius, is_given(o->mass) ? o->mass : 1.0}}, .count = 1};
    if (o->mixture != NULL) (void)read_mixture(o->mixture, &m); /* checked before */
    bool mixed = o->mixture != NULL || is_given(o->mass);
    if (o->edges != NULL)
        (void)read_vector(o->edges, &def->edges);
    else if (is_given(o->box))
        def->edges = (carom_vec3){o->box, o->box, o->box};
    else {
        double mean = o->mixture != NULL ? scene_gas_mean_radius(m.kinds, m.count) : radius;
        double edge = scene_gas_edge(count, mean, fraction);
        def->edges = (carom_vec3){edge, edge, edge};
    }
    if ((is_given(o->box) || o->edges != NULL) && is_given(o->fraction) && count != 0)
        m.kinds[0].radius = radius = scene_gas_radius_in(count, def->edges, fraction);
    for (uint32_t k = 0; k < m.count && o->mixture != NULL; ++k)
        radius = k == 0 ? m.kinds[k].radius : fmax(radius, m.kinds[k].radius);
    /* The library reports what is not a box. */
    if (count == 0 || !isfinite(def->edges.x) || !(radius > 0.0))
        return carom_gas_create(cli->context, def, gas);
    carom_gas_sphere *spheres = NULL;
    bool fits = radius <= scene_gas_most_radius(count, def->edges);
    carom_status status = CAROM_OK;
    if (fits) {
        spheres = scene_gas_lattice(count, radius, def->edges, seed_of(o));
        if (spheres == NULL) return fail_memory(cli, count);
        scene_gas_keep_inside(spheres, count, def);
        if (mixed) status = mix(o, &m, spheres, count, labels);
    } else {
        if (o->mixture == NULL) return fail_to_fit(cli, count, radius, def);
        status = scatter(cli, o, def, &m, count, &spheres, labels);
    }
    if (status != CAROM_OK) {
        free(spheres);
        return fits ? fail_memory(cli, count) : status;
    }
    if (is_given(o->speed)) scene_gas_set_speed(spheres, count, o->speed);
    status = create_of(cli, def, spheres, count, gas);
    free(spheres);
    uint64_t most = status == CAROM_BAD_INPUT ? scene_gas_most_count(radius, def) : count;
    return most < count ? fail_to_fit(cli, count, radius, def) : status;
}

/* ---- Spheres of a file ----------------------------------------------------------------------- */

/* The library counts spheres from 0 in the order of their ids; adds their lines in the file. */
static void add_lines(cli *cli, const options *o, const gas_file *file) {
    const char *message = carom_context_message(cli->context);
    unsigned a = 0, b = 0;
    int found = sscanf(message, "spheres %u and %u", &a, &b);
    if (found < 2) found = sscanf(message, "sphere %u", &a) == 1;
    if (found >= 1 && a < file->count && b < file->count) {
        char lines[64] = "";
        if (found == 2)
            snprintf(lines, sizeof(lines), " and %llu", (unsigned long long)file->labels[b].line);
        snprintf(cli->message, sizeof(cli->message), "%.150s:%llu%s: %.250s", o->start,
                 (unsigned long long)file->labels[a].line, lines, message);
    } else {
        snprintf(cli->message, sizeof(cli->message), "%.150s: %.330s", o->start, message);
    }
}

static carom_status fail_start(cli *cli, const options *o, const char *reason) {
    snprintf(cli->message, sizeof(cli->message), "%.200s: %s", o->start, reason);
    return CAROM_BAD_FILE;
}

/* Repeats the box and what is in it. With their velocities the copies would move alike for ever,
 * so all get new ones. Ids go on from copy to copy; lines stay those of the file. */
static carom_status repeat_box(cli *cli, const options *o, carom_gas_def *def, gas_file *file) {
    uint64_t copies[3], whole = file->count, at = 0;
    (void)read_copies(o->copies, copies); /* checked before */
    for (int axis = 0; axis < 3; ++axis) {
        if (whole > MOST_SPHERES / copies[axis])
            return fail_start(cli, o,
                              "so many copies are more than the 134217727 spheres of a gas");
        whole *= copies[axis];
    }
    const carom_vec3 edges = def->edges;
    carom_gas_sphere *spheres = malloc((whole != 0 ? whole : 1) * sizeof(*spheres));
    gas_label *labels = malloc((whole != 0 ? whole : 1) * sizeof(*labels));
    for (uint64_t z = 0; z < copies[2] && spheres != NULL && labels != NULL; ++z)
        for (uint64_t y = 0; y < copies[1]; ++y)
            for (uint64_t x = 0; x < copies[0]; ++x)
                for (uint64_t i = 0; i < file->count; ++i, ++at) {
                    spheres[at] = file->spheres[i];
                    spheres[at].position.x += (double)x * edges.x;
                    spheres[at].position.y += (double)y * edges.y;
                    spheres[at].position.z += (double)z * edges.z;
                    labels[at] = file->labels[i];
                    labels[at].id = at;
                }
    if (spheres == NULL || labels == NULL) {
        free(spheres);
        free(labels);
        return fail_memory(cli, whole);
    }
    free(file->spheres);
    free(file->labels);
    file->spheres = spheres;
    file->labels = labels;
    file->count = whole;
    def->edges = (carom_vec3){(double)copies[0] * edges.x, (double)copies[1] * edges.y,
                              (double)copies[2] * edges.z};
    return CAROM_OK;
}

/* What the command line says replaces what the file says. */
static carom_status complete(cli *cli, const options *o, carom_gas_def *def, gas_file *file) {
    if (o->edges != NULL)
        (void)read_vector(o->edges, &def->edges);
    else if (is_given(o->box))
        def->edges = (carom_vec3){o->box, o->box, o->box};
    else if (file->has_box)
        def->edges = file->edges;
    else
        return fail_start(cli, o, "has no box; give it with --box or --edges");
    if (!o->periodic && o->walls == NULL)
        memcpy(def->periodic, file->periodic, sizeof(file->periodic));
    if (!file->has_radii && !is_given(o->radius) && file->count != 0)
        return fail_start(cli, o, "has no radii; give one for all with --radius");
    if (file->has_velocities && o->seed != ARG_NO_COUNT && o->copies == NULL)
        return fail_start(cli, o, "has velocities, so --seed has no use; leave it out");
    for (uint64_t i = 0; i < file->count; ++i) {
        carom_gas_sphere *s = &file->spheres[i];
        if (is_given(o->radius)) s->radius = o->radius;
        if (is_given(o->mass))
            s->mass = o->mass;
        else if (!file->has_masses)
            s->mass = 1.0;
    }
    if (o->copies != NULL) {
        carom_status status = repeat_box(cli, o, def, file);
        if (status != CAROM_OK) return status;
    }
    if (!file->has_velocities || o->copies != NULL)
        scene_gas_heat(file->spheres, file->count, seed_of(o));
    if (is_given(o->speed)) scene_gas_set_speed(file->spheres, file->count, o->speed);
    return CAROM_OK;
}

static carom_status create_from_file(cli *cli, const options *o, carom_gas_def *def,
                                     gas_label **labels, carom_gas **gas) {
    gas_file file;
    gas_file_def how = {.path = o->start,
                        .limit = cli->limit_input,
                        .format = (gas_format)o->from,
                        .frame = o->start_frame != ARG_NO_COUNT ? o->start_frame : GAS_LAST_FRAME,
                        .progress = bar_progress,
                        .progress_user = &cli->bar,
                        .message = cli->message,
                        .message_size = sizeof(cli->message)};
    carom_status status = gas_file_read(&how, &file);
    if (status != CAROM_OK) return status;
    status = complete(cli, o, def, &file);
    if (status == CAROM_OK) {
        status = create_of(cli, def, file.spheres, file.count, gas);
        if (status == CAROM_BAD_INPUT) {
            add_lines(cli, o, &file);
            status = CAROM_BAD_FILE;
        }
    }
    *labels = file.labels;
    file.labels = NULL;
    gas_file_free(&file);
    return status;
}

/* The ids of a resumed gas of which spheres were removed; none when no sphere is missing. */
static carom_status label_resumed(cli *cli, const carom_gas *gas, gas_label **labels) {
    carom_gas_measures m;
    carom_gas_sphere sphere;
    uint64_t id = 0, found = 0;
    carom_status status = carom_gas_measure(cli->context, gas, &m);
    if (status != CAROM_OK) return status;
    while (id < m.spheres &&
           carom_gas_find_sphere(cli->context, gas, (uint32_t)id, &sphere) == CAROM_OK)
        ++id;
    if (id == m.spheres) return CAROM_OK;
    *labels = calloc(m.spheres, sizeof(**labels));
    if (*labels == NULL) return fail_memory(cli, m.spheres);
    for (id = 0; found < m.spheres && id <= MOST_SPHERES; ++id) {
        if (carom_gas_find_sphere(cli->context, gas, (uint32_t)id, &sphere) != CAROM_OK) continue;
        (*labels)[found].id = id;
        (*labels)[found++].species[0] = 'S';
    }
    return CAROM_OK;
}

static carom_status start(cli *cli, const options *o, gas_label **labels, carom_gas **gas) {
    carom_gas_def def = {.method = (carom_gas_method)o->method,
                         .queue = (carom_gas_queue)o->queue,
                         .cell_edge = o->cell,
                         .cutoff = o->cutoff};
    if (o->resume != NULL) {
        carom_status status =
            carom_gas_load(cli->context, o->resume, CAROM_GAS_FORMAT_GUESS, &def, gas);
        return status == CAROM_OK ? label_resumed(cli, *gas, labels) : status;
    }
    def.loss = is_given(o->loss) ? o->loss : 0.0;
    def.wall_loss = is_given(o->wall_loss) ? o->wall_loss : 0.0;
    def.elastic_below = is_given(o->elastic_below) ? o->elastic_below : 0.0;
    def.tick = is_given(o->tick) ? o->tick : 0.0;
    for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = o->periodic;
    if (o->walls != NULL) (void)read_walls(o->walls, def.periodic); /* checked before */
    if (o->gravity != NULL) (void)read_vector(o->gravity, &def.acceleration);
    if (o->start != NULL) return create_from_file(cli, o, &def, labels, gas);
    return create(cli, o, &def, labels, gas);
}

/* Checks before the run whether a file can be created where the gas is to be saved. */
static bool check_save(cli *cli, const char *path) {
    carom_os_file_info info;
    bool exists = path != NULL && carom_os_file_info_of(path, &info);
    bool is_folder = exists && info.kind == CAROM_OS_FILE_FOLDER;
    if (path == NULL || (exists && info.kind != CAROM_OS_FILE_REGULAR && !is_folder)) return true;
    size_t length = (size_t)(carom_os_file_name(path) - path);
    char folder[4096] = ".";
    if (length != 0 && length < sizeof(folder)) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    if (!is_folder && platform_may_write(folder)) return true;
    if (is_folder) errno = EISDIR;
    snprintf(cli->message, sizeof(cli->message), "cannot write '%.300s': %s", path,
             strerror(errno));
    return false;
}

/* ---- Run ------------------------------------------------------------------------------------- */

typedef struct outcome {
    carom_gas_measures before, measures;
    carom_gas_info info;
    double prepare_s, query_s, gr_s, overlap, time;
    carom_gas_measures block_start; /* of a block of Z */
    uint64_t z_block, z_pieces;     /* blocks so far, and pieces of the run per block */
    double z_mean, z_square;        /* mean, and sum of squares about it */
    uint64_t frames;                /* planned frames of the trajectory, and samples of g(r) */
    uint64_t samples;               /* of g(r) */
    gas_label *labels;              /* of the spheres; or NULL */
    gas_output trajectory, events;
    output gr_file;
    bool gr_is_failed; /* that file cannot be written */
    gas_gr gr;
    const char *shown_as; /* the format in which the run is shown; NULL: it is not */
    gas_show show;
    bool show_is_failed; /* it could not be written, which was reported */
} outcome;

/* Whether samples of g(r) are taken. */
static bool has_gr(const outcome *result) {
    return result->gr.bins != 0;
}

/* The part of the run that the next calls are, for the progress bar: from one time to another, both
 * relative to the end of the warm-up. */
static void show_part(cli *cli, const options *o, double from, double to) {
    double whole = o->warm + o->time;
    if (!(whole > 0.0) || !isfinite(whole)) return;
    bar_begin_part(&cli->bar, "running", (o->warm + from) / whole, (o->warm + to) / whole);
}

/* Warms up, and records the start of the run. */
static carom_status begin_run(cli *cli, const options *o, carom_gas *gas, outcome *result) {
    carom_context *context = cli->context;
    if (o->warm > 0.0) {
        double until = carom_gas_get_time(gas) + o->warm;
        show_part(cli, o, -o->warm, 0.0);
        carom_status status = carom_gas_advance(context, gas, until, NULL, NULL);
        if (status != CAROM_OK) return status;
    }
    if (o->resume == NULL || o->warm > 0.0) (void)carom_gas_reset_measures(cli->context, gas);
    carom_status status = carom_gas_measure(context, gas, &result->before);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &result->info);
    double until = carom_gas_get_time(gas) + o->time;
    if (status == CAROM_OK && until > MOST_TICKS * result->info.tick) /* or it fails half way */
        status = carom_gas_advance(context, gas, until, NULL, NULL);
    return status;
}

/* Checks the options of g(r), before the run. */
static carom_status begin_gr(cli *cli, const options *o, const carom_gas *gas, outcome *result) {
    if (o->gr == NULL && result->shown_as == NULL) return CAROM_OK;
    carom_gas_spheres spheres = {0};
    carom_gas_info info;
    carom_status status = carom_gas_list_spheres(cli->context, gas, &spheres);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &info);
    if (status == CAROM_OK)
        status = gas_gr_begin(&result->gr, o->gr_step, o->gr_range, &info, &spheres, cli->message,
                              sizeof(cli->message));
    carom_gas_spheres_free(&spheres);
    if (o->gr == NULL && status == CAROM_BAD_INPUT) { /* nobody asked for it */
        cli->message[0] = '\0';
        return CAROM_OK;
    }
    return status;
}

/* Takes one sample of the state: a frame, pairs for g(r). */
static carom_status take_sample(cli *cli, const carom_gas *gas, double time,
                                carom_gas_spheres *spheres, outcome *result) {
    carom_status status = CAROM_OK;
    if (result->trajectory.file.file != NULL || result->shown_as != NULL)
        status = carom_gas_list_spheres(cli->context, gas, spheres);
    if (status == CAROM_OK && result->trajectory.file.file != NULL &&
        !gas_output_frame(&result->trajectory, spheres, &result->info, time))
        status = result->trajectory.is_failed ? CAROM_IO : CAROM_CANCELLED;
    if (status == CAROM_OK && result->shown_as != NULL) {
        status = carom_gas_measure(cli->context, gas, &result->measures);
        if (status == CAROM_OK)
            gas_show_add(&result->show, spheres, &result->info, &result->measures, time);
        if (result->show.d.no_memory) status = fail_memory(cli, spheres->count);
    }
    if (status != CAROM_OK || !has_gr(result)) return status;
    double began = carom_time_seconds();
    status = gas_gr_add(&result->gr, cli->context, gas);
    result->gr_s += carom_time_seconds() - began;
    result->samples += status == CAROM_OK;
    return status;
}

/* Z over blocks of the run, for its standard error. */
#define Z_BLOCKS 20

static void begin_blocks(outcome *result, uint64_t pieces) {
    result->z_block = 0;
    result->z_pieces = pieces / Z_BLOCKS != 0 ? pieces / Z_BLOCKS : 1;
    result->block_start = result->before;
}

/* At the end of a piece: the end of a block, or not. */
static carom_status end_piece(cli *cli, const carom_gas *gas, uint64_t piece, outcome *result) {
    carom_gas_measures m;
    if (piece == 0 || piece % result->z_pieces != 0) return CAROM_OK;
    carom_status status = carom_gas_measure(cli->context, gas, &m);
    double scale = 2.0 * m.energy * (m.time - result->block_start.time);
    if (status != CAROM_OK || !isfinite(m.z) || !(scale > 0.0)) return status;
    double z = 1.0 + (m.virial - result->block_start.virial) / scale;
    double old = result->z_mean; /* Welford 1962 */
    ++result->z_block;
    result->z_mean += (z - old) / (double)result->z_block;
    result->z_square += (z - old) * (z - result->z_mean);
    result->block_start = m;
    return CAROM_OK;
}

/* The standard error of Z in this run; NaN where there are not two blocks. */
static double z_error(const outcome *r) {
    double n = (double)r->z_block;
    return r->z_block > 1 ? sqrt(r->z_square / ((n - 1.0) * n)) : (double)NAN;
}

/* Runs in pieces between the samples; the first is the start, the last is the end. The deepest
 * overlap is determined at each. */
static carom_status run_pieces(cli *cli, const options *o, carom_gas *gas, outcome *result) {
    carom_context *context = cli->context;
    gas_output *events = &result->events;
    bool samples = o->output != NULL || o->gr != NULL;
    uint64_t usual = 100;                                  /* frames */
    if (result->shown_as != NULL && !result->show.still) { /* they are kept in memory */
        carom_gas_measures m;
        if (carom_gas_measure(context, gas, &m) == CAROM_OK && m.spheres > MOST_SHOWN / 100)
            usual = MOST_SHOWN / m.spheres > 2 ? MOST_SHOWN / m.spheres : 2;
    }
    carom_gas_event_fn *on_event = o->events != NULL ? gas_output_event : NULL;
    uint64_t frames = o->frames != ARG_NO_COUNT ? o->frames : o->time > 0.0 ? usual : 1;
    uint64_t pieces = !samples ? PIECES : frames > 1 ? frames - 1 : 1;
    carom_gas_spheres spheres = {0};
    double from = carom_gas_get_time(gas), last = 0.0;
    carom_status status = CAROM_OK;
    result->frames = frames;
    begin_blocks(result, pieces);
    for (uint64_t piece = 0; piece <= pieces && status == CAROM_OK; ++piece) {
        double now = o->time * (double)piece / (double)pieces, until = from + now, overlap;
        double began = carom_time_seconds();
        show_part(cli, o, last, now);
        status = carom_gas_advance(context, gas, until, on_event, events);
        if (events->is_failed) status = CAROM_IO;
        show_part(cli, o, now, now);
        result->query_s += carom_time_seconds() - began;
        result->time = carom_gas_get_time(gas) - from;
        if (status == CAROM_OK) status = carom_gas_overlap(context, gas, &overlap);
        if (status == CAROM_OK && overlap > result->overlap) result->overlap = overlap;
        last = now;
        if (status == CAROM_OK) status = end_piece(cli, gas, piece, result);
        if (status != CAROM_OK || !samples || (frames == 1 && piece == 0)) continue;
        status = take_sample(cli, gas, until, &spheres, result);
    }
    carom_gas_spheres_free(&spheres);
    if (status == CAROM_OK) status = carom_gas_measure(context, gas, &result->measures);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &result->info);
    return status;
}

static bool open_files(cli *cli, const options *o, outcome *result) {
    const gas_label *by_id = o->resume == NULL ? result->labels : NULL;
    const char *xyz = result->shown_as == NULL ? o->output : NULL;
    if (!gas_output_open(cli, xyz, result->labels, &result->trajectory)) return false;
    if (!gas_output_open(cli, o->events, by_id, &result->events)) return false;
    if (o->events != NULL) gas_output_event_head(&result->events);
    return output_open(cli, o->gr, &result->gr_file);
}

/* Writes g(r) in the format that the name tells. */
static bool write_gr(cli *cli, const options *o, outcome *result) {
    if (endings_is(endings_format(o->gr, NULL, gr_formats), "csv")) {
        gas_gr_write(&result->gr, result->gr_file.file);
        return true;
    }
    gas_show plot;
    gas_show_begin(&plot, cli, true);
    gas_show_end(&plot, &result->gr, &result->measures);
    carom_status status = display_write_svg(&plot.d, result->gr_file.file);
    gas_show_free(&plot);
    if (status != CAROM_OK) (void)cli_fail(cli, status);
    return status == CAROM_OK;
}

/* Writes what is shown of the run, if there is something. */
static bool write_show(const options *o, outcome *result) {
    gas_show *show = &result->show;
    const char *format = result->shown_as;
    bool good = true;
    result->shown_as = NULL; /* once */
    if (format != NULL && show->d.time_count != 0) {
        gas_show_end(show, &result->gr, &result->measures);
        good = display_save(&show->d, o->output, format);
    }
    gas_show_free(show);
    return good;
}

/* Keeps the frames, events and samples there are; false, after reporting it, when one of the files
 * cannot be written. May be called again. */
static bool close_files(cli *cli, const options *o, outcome *result, bool done) {
    bool good = gas_output_close(&result->trajectory, done);
    good = gas_output_close(&result->events, done) && good;
    bool has_samples = result->samples != 0;
    if (result->gr_file.file != NULL && has_samples) has_samples = write_gr(cli, o, result);
    if (!output_close(&result->gr_file, has_samples)) result->gr_is_failed = true;
    if (!write_show(o, result)) result->show_is_failed = true;
    gas_gr_free(&result->gr);
    return good && !result->gr_is_failed && !result->show_is_failed;
}

static carom_status save(cli *cli, const carom_gas *gas, const char *path) {
    interrupt_hold(); /* the library removes its draft itself */
    carom_status status = carom_gas_save(cli->context, gas, CAROM_GAS_FORMAT_GUESS, path);
    interrupt_release();
    return status;
}

/* The one way out after an interruption: saves the state, closes the files, and reports what is
 * kept. */
static int end_interrupted(cli *cli, const options *o, const carom_gas *gas, outcome *result) {
    int code = interrupt_exit_code(), length;
    char message[2048];
    interrupt_let_finish();
    (void)close_files(cli, o, result, false);
    carom_status saved = o->save != NULL ? save(cli, gas, o->save) : CAROM_OK;
    if (saved != CAROM_OK) return cli_fail(cli, saved);
    length = snprintf(message, sizeof(message), "interrupted at time %g", carom_gas_get_time(gas));
    if (o->save != NULL)
        length += snprintf(message + length, sizeof(message) - (size_t)length,
                           "; the gas is saved in '%.300s'", o->save);
    if (o->output != NULL && !result->trajectory.is_failed && result->trajectory.frames != 0)
        length += snprintf(message + length, sizeof(message) - (size_t)length,
                           "; '%.300s' has %llu of %llu frames", o->output,
                           (unsigned long long)result->trajectory.frames,
                           (unsigned long long)result->frames);
    if (o->events != NULL && !result->events.is_failed && result->events.frames != 0)
        length += snprintf(message + length, sizeof(message) - (size_t)length,
                           "; '%.300s' has %llu events", o->events,
                           (unsigned long long)result->events.frames);
    if (o->gr != NULL && !result->gr_is_failed && result->samples != 0)
        snprintf(message + length, sizeof(message) - (size_t)length,
                 "; '%.300s' is of %llu of %llu samples", o->gr,
                 (unsigned long long)result->samples, (unsigned long long)result->frames);
    (void)cli_fail_with(cli, CAROM_CANCELLED, message);
    return code;
}

static void print_json(const cli *cli, const outcome *r, uint64_t events, double rate,
                       double drift) {
    const carom_gas_measures *m = &r->measures, *b = &r->before;
    json j = cli_begin_json(cli);
    json_count(&j, "spheres", m->spheres);
    json_count(&j, "events", events);
    json_count(&j, "collisions", m->collisions - b->collisions);
    json_count(&j, "wall_hits", m->wall_hits - b->wall_hits);
    json_count(&j, "crossings", m->crossings - b->crossings);
    json_number(&j, "events_per_second", rate);
    json_number(&j, "prepare_s", r->prepare_s);
    json_number(&j, "query_s", r->query_s);
    json_number(&j, "time", r->time);
    json_number(&j, "measured_time", m->time);
    json_number(&j, "z", m->z);
    json_number(&j, "z_error", z_error(r));
    json_count(&j, "z_blocks", r->z_block);
    json_number(&j, "energy", m->energy);
    json_number(&j, "energy_drift", drift);
    json_number(&j, "overlap", r->overlap);
    json_number(&j, "fraction", m->packing_fraction);
    json_number(&j, "collision_rate", m->collision_rate);
    json_number(&j, "mean_free_path", m->mean_free_path);
    json_begin_array(&j, "momentum");
    json_number(&j, NULL, m->momentum.x);
    json_number(&j, NULL, m->momentum.y);
    json_number(&j, NULL, m->momentum.z);
    json_end_array(&j);
    json_text(&j, "method", carom_gas_method_name(r->info.method));
    json_number(&j, "cell_edge", r->info.cell_edge);
    json_number(&j, "bytes_per_sphere",
                m->spheres != 0 ? (double)r->info.bytes / (double)m->spheres : 0.0);
    json_count(&j, "threads_used", r->info.threads_used);
    json_count(&j, "windows", r->info.windows);
    json_count(&j, "windows_undone", r->info.undone);
    json_number(&j, "held_share", r->info.held_share);
    json_number(&j, "serial_share", r->info.serial_share);
    if (r->samples != 0) {
        json_count(&j, "samples", r->samples);
        json_number(&j, "gr_s", r->gr_s);
    }
    cli_end_json(&j);
}

/* Counts and speeds are those of this run. Z, the collision rate and the mean free path are over
 * everything measured, including the saved part of a resumed run. */
static void print_outcome(const cli *cli, const options *o, const outcome *r) {
    const carom_gas_measures *m = &r->measures, *b = &r->before;
    uint64_t collisions = m->collisions - b->collisions, hits = m->wall_hits - b->wall_hits;
    double drift = b->energy > 0.0 ? m->energy / b->energy - 1.0 : 0.0;
    if (o->gravity != NULL) drift = (double)NAN; /* kinetic energy alone is not conserved */
    double rate = r->query_s > 0.0 ? (double)(collisions + hits) / r->query_s : 0.0;
    if (cli->json) {
        print_json(cli, r, collisions + hits, rate, drift);
        return;
    }
    bool standard =
        output_is_standard(o->output) || output_is_standard(o->events) || output_is_standard(o->gr);
    FILE *out = standard ? stderr : stdout;
    fprintf(out, "spheres            %llu at packing fraction %.4g\n",
            (unsigned long long)m->spheres, m->packing_fraction);
    fprintf(out, "time               %g in %.3f s\n", r->time, r->query_s);
    fprintf(out, "collisions         %llu, %.0f events per second\n",
            (unsigned long long)collisions, rate);
    fprintf(out, "wall hits          %llu\n", (unsigned long long)hits);
    fprintf(out, "crossings          %llu (%s, cells of %.4g)\n",
            (unsigned long long)(m->crossings - b->crossings),
            carom_gas_method_name(r->info.method), r->info.cell_edge);
    if (r->info.windows != 0)
        fprintf(out, "threads            %u, %llu windows, %.3g %% of the work on one\n",
                r->info.threads_used, (unsigned long long)r->info.windows,
                100.0 * r->info.serial_share);
    fprintf(out, "measured over      %g\n", m->time);
    fprintf(out, "collision rate     %.6g per sphere and unit of time\n", m->collision_rate);
    if (isfinite(m->mean_free_path)) fprintf(out, "mean free path     %.6g\n", m->mean_free_path);
    if (isfinite(m->z)) fprintf(out, "Z                  %.6g", m->z);
    if (isfinite(m->z) && isfinite(z_error(r)))
        fprintf(out, ", standard error %.2g from %llu blocks", z_error(r),
                (unsigned long long)r->z_block);
    if (isfinite(m->z)) fprintf(out, "\n");
    if (isfinite(drift))
        fprintf(out, "energy             %.10g, drift %.2e\n", m->energy, drift);
    else
        fprintf(out, "kinetic energy     %.10g\n", m->energy);
    fprintf(out, "momentum           %.3e %.3e %.3e\n", m->momentum.x, m->momentum.y,
            m->momentum.z);
    fprintf(out, "deepest overlap    %.2e of a diameter\n", r->overlap);
    if (o->gr != NULL)
        fprintf(out, "g(r)               %llu samples in %.3f s, in '%s'%s\n",
                (unsigned long long)r->samples, r->gr_s, o->gr,
                r->info.periodic[0] && r->info.periodic[1] && r->info.periodic[2]
                    ? ""
                    : "; pairs near walls are weighted");
    if (m->spheres != 0)
        fprintf(out, "memory             %.0f bytes per sphere\n",
                (double)r->info.bytes / (double)m->spheres);
}

/* Runs an existing gas; returns the exit code. */
static int run_gas(cli *cli, const options *o, carom_gas *gas, outcome *result) {
    if (!open_files(cli, o, result)) {
        (void)close_files(cli, o, result, false);
        return cli_code(CAROM_IO);
    }
    bool kept = o->save != NULL || o->output != NULL || o->events != NULL || o->gr != NULL;
    interrupt_keep_results(kept);
    carom_status status = begin_run(cli, o, gas, result);
    if (status == CAROM_OK) status = run_pieces(cli, o, gas, result);
    bar_end_parts(&cli->bar);
    bool written = status == CAROM_OK && close_files(cli, o, result, true);
    if (written && o->save != NULL) status = save(cli, gas, o->save);
    /* After a signal every failure is a consequence of it: a call was cancelled, or a write to a
     * pipe returned. */
    if (kept && (status != CAROM_OK || !written) && interrupt_seen())
        return end_interrupted(cli, o, gas, result);
    interrupt_keep_results(false);
    if (status != CAROM_OK && !close_files(cli, o, result, false)) return cli_code(CAROM_IO);
    if (status != CAROM_OK) return cli_fail(cli, status);
    if (!written) return cli_code(CAROM_IO); /* already reported */
    print_outcome(cli, o, result);
    return CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    const options *o = values;
    const char *misuse = find_misuse(cli, o), *read = o->resume != NULL ? o->resume : o->start;
    if (misuse != NULL) return cli_misuse(cli, misuse);
    platform_return_large_blocks();
    char *input = NULL;
    if (read != NULL) {
        memcpy(&input, &read, sizeof(input)); /* it is only read */
        cli->inputs = &input;
        cli->input_count = 1;
    }
    carom_gas *gas = NULL;
    static outcome result; /* large: paths of three files */
    result = (outcome){0};
    double began = carom_time_seconds();
    int code;
    carom_status status = check_save(cli, o->save) ? start(cli, o, &result.labels, &gas) : CAROM_IO;
    const char *format =
        o->output != NULL ? endings_format(o->output, o->format, gas_formats) : NULL;
    if (format != NULL && !endings_is(format, "xyz")) {
        result.shown_as = format;
        gas_show_begin(&result.show, cli, endings_is(format, "svg"));
    }
    if (status == CAROM_OK) status = begin_gr(cli, o, gas, &result);
    result.prepare_s = carom_time_seconds() - began;
    if (status == CAROM_OK)
        code = run_gas(cli, o, gas, &result);
    else if (status == CAROM_BAD_INPUT && cli->message[0] != '\0') /* too many, too far */
        code = cli_misuse(cli, cli->message);
    else
        code = cli_fail(cli, status);
    carom_gas_destroy(gas);
    gas_gr_free(&result.gr);
    gas_show_free(&result.show);
    free(result.labels);
    cli->inputs = NULL;
    cli->input_count = 0;
    return code;
}

const cli_command cli_gas = {
    .order = 70,
    .name = "gas",
    .arguments = "[-n N] [OPTIONS]",
    .summary = "hard spheres: every collision in its order",
    .details =
        "Spheres start on a lattice, or as a file says (extended XYZ, EDMD, LAMMPS data and\n"
        "dump), and fly in a box with walls, or in a periodic one.\n"
        "Z, the compressibility factor, is null where there are walls. Interrupted, the\n"
        "run saves its gas where --save says, and the trajectory keeps its frames.",
    .options = gas_options,
    .option_count = sizeof(gas_options) / sizeof(gas_options[0]),
    .options_size = sizeof(options),
    .defaults = &gas_defaults,
    .run = run,
};
