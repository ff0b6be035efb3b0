/* SPDX-License-Identifier: MIT */
/* carom gas: an event-driven simulation of hard spheres with its observables and a trajectory.
 *
 * Computed results are not lost: an interrupted run saves its gas, and a run that ends early, for
 * whatever reason, leaves a trajectory of its complete frames. Files get their final name when they
 * are complete, so a full disk leaves those of an earlier run. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "scenes/gas.h"

#define MOST_FRAMES      1000000
#define MOST_SPHERES     ((UINT64_C(1) << 27) - 1) /* of a gas */
#define MOST_TICKS       0x1p103                   /* of its time: see carom/gas.h */
#define PIECES           10                        /* of a run without a trajectory */
#define ROWS_BEFORE_LOOK 1024                      /* of a frame: some 2 ms */

typedef struct options {
    uint64_t count, seed, frames;
    double radius, speed, box, time, fraction, warm, loss, cell;
    bool periodic;
    int method, queue;
    const char *output, *save, *resume;
} options;

static const options gas_defaults = {.count = ARG_NO_COUNT,
                                     .seed = ARG_NO_COUNT,
                                     .frames = ARG_NO_COUNT,
                                     .radius = ARG_NO_NUMBER,
                                     .speed = ARG_NO_NUMBER,
                                     .box = ARG_NO_NUMBER,
                                     .time = 10.0,
                                     .fraction = ARG_NO_NUMBER,
                                     .loss = ARG_NO_NUMBER};

ARG_CHOICES(carom_gas_method, CAROM_GAS_METHOD_COUNT);
ARG_CHOICES(carom_gas_queue, CAROM_GAS_QUEUE_COUNT);

static const arg_option gas_options[] = {
    {"--count", 'n', ARG_COUNT, offsetof(options, count), "N", "spheres (1000)", NULL},
    {"--radius", 0, ARG_SIZE, offsetof(options, radius), "R", "of every sphere (0.5)", NULL},
    {"--speed", 0, ARG_NUMBER, offsetof(options, speed), "V",
     "mean speed (Gaussian velocities, temperature 1)", NULL},
    {"--box", 0, ARG_SIZE, offsetof(options, box), "L", "edge of the cube (from the fraction)",
     NULL},
    {"--fraction", 0, ARG_NUMBER, offsetof(options, fraction), "F", "packing fraction (0.1)", NULL},
    {"--time", 0, ARG_NUMBER, offsetof(options, time), "T", "how long to run (10)", NULL},
    {"--warm", 0, ARG_NUMBER, offsetof(options, warm), "T",
     "run that long before anything is measured (0)", NULL},
    {"--periodic", 0, ARG_FLAG, offsetof(options, periodic), NULL, "no walls", NULL},
    {"--loss", 0, ARG_NUMBER, offsetof(options, loss), "E", "1 - restitution (0: elastic)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of places and velocities (1)", NULL},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "auto, centre, extent or neighbours (auto)", carom_gas_method_choice},
    {"--queue", 0, ARG_CHOICE, offsetof(options, queue), "NAME", "calendar or tree (calendar)",
     carom_gas_queue_choice},
    {"--cell", 0, ARG_SIZE, offsetof(options, cell), "L", "least edge of a cell (by density)",
     NULL},
    {"--output", 'o', ARG_TEXT, offsetof(options, output), "FILE",
     "write a trajectory in extended XYZ", NULL},
    {"--frames", 0, ARG_COUNT, offsetof(options, frames), "N", "frames of the trajectory (100)",
     NULL},
    {"--save", 0, ARG_TEXT, offsetof(options, save), "FILE",
     "save the gas at the end, or where it is interrupted", NULL},
    {"--resume", 0, ARG_TEXT, offsetof(options, resume), "FILE", "go on with a saved gas", NULL},
};

/* ---- Initial state --------------------------------------------------------------------------- */

static bool is_given(double number) {
    return !isnan(number);
}

/* Checks the options before any work: a message, or NULL. */
static const char *find_misuse(const cli *cli, const options *o) {
    const char *misuse = output_misuse(cli, o->output);
    if (misuse != NULL) return misuse;
    if (o->time < 0.0 || o->warm < 0.0) return "--time and --warm must not be negative";
    if (is_given(o->speed) && o->speed < 0.0) return "--speed must not be negative";
    if (o->frames != ARG_NO_COUNT && o->frames > MOST_FRAMES)
        return "--frames takes up to a million";
    if (o->frames == 0 && o->output != NULL)
        return "--frames 0 writes no trajectory; leave --output out";
    const char *paths[] = {o->save, o->resume};
    for (int i = 0; i < 2; ++i) {
        size_t length = paths[i] != NULL ? strlen(paths[i]) : 0;
        if (paths[i] == NULL) continue;
        if (length == 0 || strcmp(paths[i], "-") == 0)
            return "--save and --resume take the name of a file";
        if (length > 3 && strcmp(paths[i] + length - 3, ".gz") == 0)
            return "gases are not saved compressed; leave the .gz off";
    }
    if (o->resume != NULL) {
        bool given = is_given(o->radius) || is_given(o->speed) || is_given(o->box) ||
                     is_given(o->fraction) || is_given(o->loss);
        if (given || o->count != ARG_NO_COUNT || o->seed != ARG_NO_COUNT || o->periodic)
            return "--resume brings its own spheres, box and losses";
        return NULL;
    }
    if (is_given(o->radius) && is_given(o->box) && is_given(o->fraction))
        return "of --radius, --box and --fraction only two can be given";
    if (o->count == 0 && !is_given(o->box))
        return "no spheres have no packing fraction; say with --box how large the box is";
    if (is_given(o->fraction) && !(o->fraction > 0.0) && o->count != 0)
        return "--fraction must be above zero";
    if (o->count != ARG_NO_COUNT && o->count > MOST_SPHERES)
        return "a gas has at most 134217727 spheres";
    return NULL;
}

static carom_status fail_to_fit(cli *cli, uint64_t count, double radius, const carom_gas_def *def) {
    uint64_t most = scene_gas_most_count(radius, def);
    snprintf(
        cli->message, sizeof(cli->message),
        most != 0
            ? "%llu spheres of radius %g do not fit a box of edge %g on a lattice; %llu do"
            : "%llu spheres of radius %g do not fit a box of edge %g on a lattice, not even four",
        (unsigned long long)count, radius, def->edges.x, (unsigned long long)most);
    return CAROM_BAD_INPUT;
}

static carom_status create(cli *cli, const options *o, carom_gas_def *def, carom_gas **gas) {
    uint64_t count = o->count != ARG_NO_COUNT ? o->count : 1000;
    double radius = is_given(o->radius) ? o->radius : 0.5;
    double fraction = is_given(o->fraction) ? o->fraction : 0.1, edge = o->box;
    if (!is_given(o->box))
        edge = scene_gas_edge(count, radius, fraction);
    else if (is_given(o->fraction) && count != 0)
        radius = scene_gas_radius(count, o->box, fraction);
    def->loss = is_given(o->loss) ? o->loss : 0.0;
    def->edges = (carom_vec3){edge, edge, edge};
    for (int axis = 0; axis < 3; ++axis) def->periodic[axis] = o->periodic;
    /* The library reports what is not a box. */
    if (count == 0 || !isfinite(edge) || !(radius > 0.0))
        return carom_gas_create(cli->context, def, NULL, 0, gas);
    if (!(radius <= scene_gas_most_radius(count, def->edges)))
        return fail_to_fit(cli, count, radius, def);
    carom_gas_sphere *spheres =
        scene_gas_lattice(count, radius, def->edges, o->seed != ARG_NO_COUNT ? o->seed : 1);
    if (spheres == NULL) {
        snprintf(cli->message, sizeof(cli->message), "no memory for %llu spheres",
                 (unsigned long long)count);
        return CAROM_NO_MEMORY;
    }
    scene_gas_keep_inside(spheres, count, def);
    if (is_given(o->speed)) scene_gas_set_speed(spheres, count, o->speed);
    carom_status status = carom_gas_create(cli->context, def, spheres, count, gas);
    free(spheres);
    uint64_t most = status == CAROM_BAD_INPUT ? scene_gas_most_count(radius, def) : count;
    return most < count ? fail_to_fit(cli, count, radius, def) : status;
}

static carom_status start(cli *cli, const options *o, carom_gas **gas) {
    carom_gas_def def = {.method = (carom_gas_method)o->method,
                         .queue = (carom_gas_queue)o->queue,
                         .cell_edge = o->cell};
    if (o->resume != NULL) return carom_gas_load(cli->context, o->resume, &def, gas);
    return create(cli, o, &def, gas);
}

/* Checks before the run whether a file can be created where the gas is to be saved. */
static bool check_save(cli *cli, const char *path) {
    struct stat info;
    if (path == NULL ||
        (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return true;
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char folder[4096] = ".";
    if (length != 0 && length < sizeof(folder)) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    errno = EISDIR;
    if ((stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) && access(folder, W_OK) == 0)
        return true;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) errno = EISDIR;
    snprintf(cli->message, sizeof(cli->message), "cannot write '%.300s': %s", path,
             strerror(errno));
    return false;
}

/* ---- Trajectory ------------------------------------------------------------------------------ */

typedef struct trajectory {
    output file;
    uint64_t frames; /* complete ones */
    off_t end;       /* of the last complete frame */
    bool is_plain;   /* a file that can be truncated */
    bool is_failed;  /* it cannot be written */
} trajectory;

static bool open_trajectory(cli *cli, const char *path, trajectory *t) {
    *t = (trajectory){0};
    if (!output_open(cli, path, &t->file)) return false;
    size_t length = path != NULL ? strlen(path) : 0;
    bool packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    t->is_plain = t->file.draft[0] != '\0' && !packed;
    return true;
}

/* False when interrupted or when the file cannot be written. A compressed file cannot be truncated
 * later, so its frame is completed even after an interruption. */
static bool write_frame(trajectory *t, const carom_gas_spheres *spheres, const carom_gas_info *info,
                        double time) {
    FILE *out = t->file.file;
    fprintf(out,
            "%llu\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Origin=\"0 0 0\" pbc=\"%c %c %c\" "
            "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1 Time=%.17g\n",
            (unsigned long long)spheres->count, info->edges.x, info->edges.y, info->edges.z,
            info->periodic[0] ? 'T' : 'F', info->periodic[1] ? 'T' : 'F',
            info->periodic[2] ? 'T' : 'F', time);
    for (uint64_t i = 0; i < spheres->count && !ferror(out); ++i) {
        const carom_gas_sphere *s = &spheres->data[i];
        if (i % ROWS_BEFORE_LOOK == 0 && interrupt_seen()) {
            if (t->is_plain || t->file.draft[0] == '\0') return false;
            interrupt_wait_for_library();
        }
        fprintf(out, "S %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", s->position.x, s->position.y,
                s->position.z, s->velocity.x, s->velocity.y, s->velocity.z, s->radius);
    }
    if (t->is_plain && fflush(out) == 0) t->end = ftello(out);
    t->is_failed = ferror(out) != 0;
    t->frames += !t->is_failed;
    return !t->is_failed;
}

/* Keeps the complete frames. When the file cannot be written, keeps nothing and reports it. */
static bool close_trajectory(trajectory *t) {
    if (t->file.file == NULL) return true;
    bool whole = !t->is_failed;
    if (t->is_plain)
        whole = whole && fflush(t->file.file) == 0 && ftruncate(fileno(t->file.file), t->end) == 0;
    if (whole) return output_close(&t->file, t->frames != 0);
    char message[512];
    snprintf(message, sizeof(message), "cannot write all of '%.300s'; is the disk full?",
             t->file.path);
    (void)output_close(&t->file, false);
    (void)cli_fail_with(t->file.cli, CAROM_IO, message);
    return false;
}

/* ---- Run ------------------------------------------------------------------------------------- */

typedef struct outcome {
    carom_gas_measures before, measures;
    carom_gas_info info;
    double prepare_s, query_s, overlap, time;
    uint64_t frames; /* planned frames of the trajectory */
} outcome;

/* Warms up, and records the start of the run. */
static carom_status begin_run(cli *cli, const options *o, carom_gas *gas, outcome *result) {
    carom_context *context = cli->context;
    if (o->warm > 0.0) {
        double until = carom_gas_get_time(gas) + o->warm;
        carom_status status = carom_gas_advance(context, gas, until, NULL, NULL);
        if (status != CAROM_OK) return status;
    }
    if (o->resume == NULL || o->warm > 0.0) (void)carom_gas_reset_measures(cli->context, gas);
    carom_status status = carom_gas_measure(context, gas, &result->before);
    if (status == CAROM_OK) status = carom_gas_get_info(cli->context, gas, &result->info);
    double until = carom_gas_get_time(gas) + o->time;
    if (status == CAROM_OK && until > MOST_TICKS * result->info.tick) /* or it fails half way */
        status = carom_gas_advance(context, gas, until, NULL, NULL);
    return status;
}

/* Runs in pieces between the frames; the first frame is the start, the last is the end. The deepest
 * overlap is determined at each. */
static carom_status run_pieces(cli *cli, const options *o, carom_gas *gas, trajectory *t,
                               outcome *result) {
    carom_context *context = cli->context;
    FILE *out = t->file.file;
    uint64_t frames = o->frames != ARG_NO_COUNT ? o->frames : o->time > 0.0 ? 100 : 1;
    uint64_t pieces = out == NULL ? PIECES : frames > 1 ? frames - 1 : 1;
    carom_gas_spheres spheres = {0};
    double from = carom_gas_get_time(gas);
    carom_status status = CAROM_OK;
    result->frames = frames;
    for (uint64_t piece = 0; piece <= pieces && status == CAROM_OK; ++piece) {
        double until = from + o->time * (double)piece / (double)pieces, overlap;
        double began = carom_time_seconds();
        status = carom_gas_advance(context, gas, until, NULL, NULL);
        result->query_s += carom_time_seconds() - began;
        result->time = carom_gas_get_time(gas) - from;
        if (status == CAROM_OK) status = carom_gas_overlap(context, gas, &overlap);
        if (status == CAROM_OK && overlap > result->overlap) result->overlap = overlap;
        if (status != CAROM_OK || out == NULL || (frames == 1 && piece == 0)) continue;
        status = carom_gas_get_spheres(context, gas, &spheres);
        if (status == CAROM_OK && !write_frame(t, &spheres, &result->info, until))
            status = t->is_failed ? CAROM_IO : CAROM_CANCELLED;
    }
    carom_gas_spheres_free(&spheres);
    if (status == CAROM_OK) status = carom_gas_measure(context, gas, &result->measures);
    if (status == CAROM_OK) status = carom_gas_get_info(cli->context, gas, &result->info);
    return status;
}

/* Saves the state after an interruption, and reports what is kept. */
static int end_interrupted(cli *cli, const options *o, const carom_gas *gas, trajectory *t,
                           const outcome *result) {
    int code = interrupt_exit_code(), length;
    char message[1024];
    interrupt_let_finish();
    bool written = close_trajectory(t);
    carom_status saved = o->save != NULL ? carom_gas_save(cli->context, gas, o->save) : CAROM_OK;
    if (saved != CAROM_OK) return cli_fail(cli, saved);
    length = snprintf(message, sizeof(message), "interrupted at time %g", carom_gas_get_time(gas));
    if (o->save != NULL)
        length += snprintf(message + length, sizeof(message) - (size_t)length,
                           "; the gas is saved in '%.300s'", o->save);
    if (o->output != NULL && written && t->frames != 0)
        snprintf(message + length, sizeof(message) - (size_t)length,
                 "; '%.300s' has %llu of %llu frames", o->output, (unsigned long long)t->frames,
                 (unsigned long long)result->frames);
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
    cli_end_json(&j);
}

/* Counts and speeds are those of this run. Z, the collision rate and the mean free path are over
 * everything measured, including the saved part of a resumed run. */
static void print_outcome(const cli *cli, const options *o, const outcome *r) {
    const carom_gas_measures *m = &r->measures, *b = &r->before;
    uint64_t collisions = m->collisions - b->collisions, hits = m->wall_hits - b->wall_hits;
    double drift = b->energy > 0.0 ? m->energy / b->energy - 1.0 : 0.0;
    double rate = r->query_s > 0.0 ? (double)(collisions + hits) / r->query_s : 0.0;
    if (cli->json) {
        print_json(cli, r, collisions + hits, rate, drift);
        return;
    }
    FILE *out = output_words(o->output);
    fprintf(out, "spheres            %llu at packing fraction %.4g\n",
            (unsigned long long)m->spheres, m->packing_fraction);
    fprintf(out, "time               %g in %.3f s\n", r->time, r->query_s);
    fprintf(out, "collisions         %llu, %.0f events per second\n",
            (unsigned long long)collisions, rate);
    fprintf(out, "wall hits          %llu\n", (unsigned long long)hits);
    fprintf(out, "crossings          %llu (%s, cells of %.4g)\n",
            (unsigned long long)(m->crossings - b->crossings),
            carom_gas_method_name(r->info.method), r->info.cell_edge);
    fprintf(out, "measured over      %g\n", m->time);
    fprintf(out, "collision rate     %.6g per sphere and unit of time\n", m->collision_rate);
    if (isfinite(m->mean_free_path)) fprintf(out, "mean free path     %.6g\n", m->mean_free_path);
    if (isfinite(m->z)) fprintf(out, "Z                  %.6g\n", m->z);
    fprintf(out, "energy             %.10g, drift %.2e\n", m->energy, drift);
    fprintf(out, "momentum           %.3e %.3e %.3e\n", m->momentum.x, m->momentum.y,
            m->momentum.z);
    fprintf(out, "deepest overlap    %.2e of a diameter\n", r->overlap);
    if (m->spheres != 0)
        fprintf(out, "memory             %.0f bytes per sphere\n",
                (double)r->info.bytes / (double)m->spheres);
}

/* Runs an existing gas; returns the exit code. */
static int run_gas(cli *cli, const options *o, carom_gas *gas, outcome *result) {
    trajectory t;
    if (!open_trajectory(cli, o->output, &t)) return cli_code(CAROM_IO);
    carom_status status = begin_run(cli, o, gas, result);
    if (status == CAROM_OK) status = run_pieces(cli, o, gas, &t, result);
    bar_clear(&cli->bar);
    if (status == CAROM_CANCELLED && (o->save != NULL || o->output != NULL))
        return end_interrupted(cli, o, gas, &t, result);
    bool written = close_trajectory(&t);
    if (status == CAROM_OK && written && o->save != NULL)
        status = carom_gas_save(cli->context, gas, o->save);
    if (status == CAROM_CANCELLED && o->save != NULL) /* while saving */
        return end_interrupted(cli, o, gas, &t, result);
    if (!written) return cli_code(CAROM_IO); /* already reported */
    if (status != CAROM_OK) return cli_fail(cli, status);
    print_outcome(cli, o, result);
    return CLI_OK;
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    const options *o = values;
    const char *misuse = find_misuse(cli, o);
    if (misuse != NULL) return cli_misuse(cli, misuse);
    char *input = NULL;
    if (o->resume != NULL) {
        memcpy(&input, &o->resume, sizeof(input)); /* it is only read */
        cli->inputs = &input;
        cli->input_count = 1;
    }
    carom_gas *gas = NULL;
    outcome result = {0};
    double began = carom_time_seconds();
    int code;
    carom_status status = check_save(cli, o->save) ? start(cli, o, &gas) : CAROM_IO;
    result.prepare_s = carom_time_seconds() - began;
    if (status == CAROM_OK)
        code = run_gas(cli, o, gas, &result);
    else if (status == CAROM_BAD_INPUT && cli->message[0] != '\0') /* they do not fit */
        code = cli_misuse(cli, cli->message);
    else
        code = cli_fail(cli, status);
    carom_gas_destroy(gas);
    cli->inputs = NULL;
    cli->input_count = 0;
    return code;
}

const cli_command cli_gas = {
    .order = 70,
    .name = "gas",
    .arguments = "[-n N] [OPTIONS]",
    .summary = "hard spheres: every collision in its order",
    .details = "Spheres start on a lattice and fly in a cube with walls, or in a periodic one.\n"
               "Z, the compressibility factor, is null where there are walls. Interrupted, the\n"
               "run saves its gas where --save says, and the trajectory keeps its frames.",
    .options = gas_options,
    .option_count = sizeof(gas_options) / sizeof(gas_options[0]),
    .options_size = sizeof(options),
    .defaults = &gas_defaults,
    .run = run,
};
