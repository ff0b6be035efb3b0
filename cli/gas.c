/* SPDX-License-Identifier: MIT */
/* carom gas: an event-driven run of hard spheres with its observables and a trajectory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "scenes/gas.h"

typedef struct options {
    uint64_t count, seed, frames;
    double radius, speed, box, time, fraction, warm, loss, cell;
    bool periodic;
    int method, queue;
    const char *output, *save, *resume;
} options;

static const char *const method_names[] = {"auto", "centre", "extent", "neighbours", NULL};
static const char *const queue_names[] = {"calendar", "tree", NULL};

static const arg_option gas_options[] = {
    {"--count", 'n', ARG_COUNT, offsetof(options, count), "N", "spheres (1000)", NULL},
    {"--radius", 0, ARG_NUMBER, offsetof(options, radius), "R", "of every sphere (0.5)", NULL},
    {"--speed", 0, ARG_NUMBER, offsetof(options, speed), "V",
     "mean speed (Gaussian velocities, temperature 1)", NULL},
    {"--box", 0, ARG_NUMBER, offsetof(options, box), "L", "edge of the cube (from the fraction)",
     NULL},
    {"--fraction", 0, ARG_NUMBER, offsetof(options, fraction), "F", "packing fraction (0.1)", NULL},
    {"--time", 0, ARG_NUMBER, offsetof(options, time), "T", "how long to run (10)", NULL},
    {"--warm", 0, ARG_NUMBER, offsetof(options, warm), "T",
     "run that long before anything is measured (0)", NULL},
    {"--periodic", 0, ARG_FLAG, offsetof(options, periodic), NULL, "no walls", NULL},
    {"--loss", 0, ARG_NUMBER, offsetof(options, loss), "E", "1 - restitution (0: elastic)", NULL},
    {"--seed", 0, ARG_COUNT, offsetof(options, seed), "N", "of places and velocities (1)", NULL},
    {"--method", 0, ARG_CHOICE, offsetof(options, method), "NAME",
     "auto, centre, extent or neighbours (auto)", method_names},
    {"--queue", 0, ARG_CHOICE, offsetof(options, queue), "NAME", "calendar or tree (calendar)",
     queue_names},
    {"--cell", 0, ARG_NUMBER, offsetof(options, cell), "L", "least edge of a cell (by density)",
     NULL},
    {"--output", 'o', ARG_TEXT, offsetof(options, output), "FILE",
     "write a trajectory in extended XYZ", NULL},
    {"--frames", 0, ARG_COUNT, offsetof(options, frames), "N", "frames of the trajectory (100)",
     NULL},
    {"--save", 0, ARG_TEXT, offsetof(options, save), "FILE", "save the gas at the end", NULL},
    {"--resume", 0, ARG_TEXT, offsetof(options, resume), "FILE", "go on with a saved gas", NULL},
};

/* ---- the start ------------------------------------------------------------------------------- */

static carom_status start(cli *cli, const options *o, carom_gas **gas, const char **misuse) {
    carom_gas_def def = {.loss = o->loss,
                         .method = (carom_gas_method)o->method,
                         .queue = (carom_gas_queue)o->queue,
                         .cell_edge = o->cell};
    if (o->resume != NULL) {
        if (o->count != 0 || o->radius != 0.0 || o->speed != 0.0 || o->box != 0.0 ||
            o->fraction != 0.0 || o->periodic || o->loss != 0.0 || o->seed != 0)
            *misuse = "--resume brings its own spheres, box and losses";
        return *misuse != NULL ? CAROM_OK : carom_gas_load(cli->context, o->resume, &def, gas);
    }
    uint64_t count = o->count != 0 ? o->count : 1000;
    double radius = o->radius != 0.0 ? o->radius : 0.5;
    double fraction = o->fraction != 0.0 ? o->fraction : 0.1;
    double edge = o->box;
    if (o->box != 0.0 && o->fraction != 0.0) { /* the radius follows */
        radius = scene_gas_radius(count, o->box, fraction);
        if (o->radius != 0.0) *misuse = "of --radius, --box and --fraction only two can be given";
    } else if (o->box == 0.0) {
        edge = scene_gas_edge(count, radius, fraction);
    }
    if (!(radius > 0.0) || !(edge > 0.0) || o->speed < 0.0)
        *misuse = "--radius, --box, --fraction and --speed must be above zero";
    if (*misuse != NULL) return CAROM_OK;
    def.edges = (carom_vec3){edge, edge, edge};
    for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = o->periodic;
    carom_gas_sphere *spheres =
        scene_gas_lattice(count, radius, def.edges, o->seed != 0 ? o->seed : 1);
    if (spheres == NULL) {
        *misuse = "so many spheres of that radius do not fit the box on a lattice";
        return CAROM_OK;
    }
    scene_gas_keep_inside(spheres, count, &def);
    if (o->speed != 0.0) scene_gas_set_speed(spheres, count, o->speed);
    carom_status status = carom_gas_create(cli->context, &def, spheres, count, gas);
    free(spheres);
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct outcome {
    carom_gas_measures measures;
    carom_gas_info info;
    double seconds, energy_before, overlap, time;
} outcome;

static bool write_frame(FILE *out, const carom_gas_spheres *spheres, const carom_gas_info *info,
                        double time) {
    fprintf(out,
            "%llu\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Origin=\"0 0 0\" pbc=\"%c %c %c\" "
            "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1 Time=%.17g\n",
            (unsigned long long)spheres->count, info->edges.x, info->edges.y, info->edges.z,
            info->periodic[0] ? 'T' : 'F', info->periodic[1] ? 'T' : 'F',
            info->periodic[2] ? 'T' : 'F', time);
    for (uint64_t i = 0; i < spheres->count; ++i) {
        const carom_gas_sphere *s = &spheres->data[i];
        fprintf(out, "S %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", s->position.x, s->position.y,
                s->position.z, s->velocity.x, s->velocity.y, s->velocity.z, s->radius);
    }
    return !ferror(out);
}

/* The run in pieces between the frames, of which the first is the start and the last the end; the
 * deepest overlap is looked for at each. */
static carom_status run_pieces(cli *cli, const options *o, carom_gas *gas, FILE *out,
                               outcome *result) {
    carom_context *context = cli->context;
    uint64_t frames = o->frames != 0 ? o->frames : 100;
    uint64_t pieces = out == NULL ? 10 : frames > 1 ? frames - 1 : 1;
    double length = o->time != 0.0 ? o->time : 10.0;
    carom_gas_spheres spheres = {0};
    carom_status status = CAROM_OK;
    if (o->warm > 0.0)
        status = carom_gas_advance(context, gas, carom_gas_get_time(gas) + o->warm, NULL, NULL);
    if (o->resume == NULL || o->warm > 0.0) carom_gas_reset_measures(gas);
    if (status == CAROM_OK) status = carom_gas_measure(context, gas, &result->measures);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &result->info);
    result->energy_before = result->measures.energy;
    double from = carom_gas_get_time(gas);
    for (uint64_t piece = 0; piece <= pieces && status == CAROM_OK; ++piece) {
        double until = from + length * (double)piece / (double)pieces, overlap;
        double began = carom_time_seconds();
        status = carom_gas_advance(context, gas, until, NULL, NULL);
        result->seconds += carom_time_seconds() - began;
        if (status == CAROM_OK) status = carom_gas_overlap(context, gas, &overlap);
        if (status == CAROM_OK && overlap > result->overlap) result->overlap = overlap;
        if (status != CAROM_OK || out == NULL || (frames == 1 && piece == 0)) continue;
        status = carom_gas_get_spheres(context, gas, &spheres);
        if (status == CAROM_OK && !write_frame(out, &spheres, &result->info, until)) break;
    }
    carom_gas_spheres_free(&spheres);
    if (status == CAROM_OK) status = carom_gas_measure(context, gas, &result->measures);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &result->info);
    result->time = carom_gas_get_time(gas) - from;
    if (status == CAROM_OK && o->save != NULL) status = carom_gas_save(context, gas, o->save);
    return status;
}

static void print_outcome(const cli *cli, const outcome *r) {
    const carom_gas_measures *m = &r->measures;
    double drift = r->energy_before > 0.0 ? m->energy / r->energy_before - 1.0 : 0.0;
    double rate = r->seconds > 0.0 ? (double)(m->collisions + m->wall_hits) / r->seconds : 0.0;
    if (cli->json) {
        json j = {stdout, false};
        json_begin_object(&j, NULL);
        json_count(&j, "spheres", m->spheres);
        json_count(&j, "collisions", m->collisions);
        json_count(&j, "wall_hits", m->wall_hits);
        json_count(&j, "crossings", m->crossings);
        json_number(&j, "events_per_second", rate);
        json_number(&j, "seconds", r->seconds);
        json_number(&j, "time", r->time);
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
        json_text(&j, "method", method_names[r->info.method]);
        json_number(&j, "cell_edge", r->info.cell_edge);
        json_number(&j, "bytes_per_sphere",
                    m->spheres != 0 ? (double)r->info.bytes / (double)m->spheres : 0.0);
        json_end_object(&j);
        putchar('\n');
        return;
    }
    printf("spheres            %llu at packing fraction %.4g\n", (unsigned long long)m->spheres,
           m->packing_fraction);
    printf("time               %g in %.3f s\n", r->time, r->seconds);
    printf("collisions         %llu, %.0f events a second\n", (unsigned long long)m->collisions,
           rate);
    printf("wall hits          %llu\n", (unsigned long long)m->wall_hits);
    printf("crossings          %llu (%s, cells of %.4g)\n", (unsigned long long)m->crossings,
           method_names[r->info.method], r->info.cell_edge);
    printf("collision rate     %.6g a sphere and unit of time\n", m->collision_rate);
    printf("mean free path     %.6g\n", m->mean_free_path);
    if (isfinite(m->z)) printf("Z                  %.6g\n", m->z);
    printf("energy             %.10g, drift %.2e\n", m->energy, drift);
    printf("momentum           %.3e %.3e %.3e\n", m->momentum.x, m->momentum.y, m->momentum.z);
    printf("deepest overlap    %.2e of a diameter\n", r->overlap);
    printf("memory             %.0f bytes a sphere\n",
           m->spheres != 0 ? (double)r->info.bytes / (double)m->spheres : 0.0);
}

static int run(cli *cli, const void *values, size_t count, char **arguments) {
    (void)count, (void)arguments;
    const options *o = values;
    const char *misuse = NULL;
    carom_gas *gas = NULL;
    if (o->time < 0.0 || o->warm < 0.0 || o->frames > 1000000)
        return cli_misuse(cli, &cli_gas, "--time and --warm go forward, --frames up to a million");
    carom_status status = start(cli, o, &gas, &misuse);
    if (misuse != NULL) return cli_misuse(cli, &cli_gas, misuse);
    if (status != CAROM_OK) return cli_fail(cli, status);
    FILE *out = o->output != NULL ? fopen(o->output, "w") : NULL;
    if (o->output != NULL && out == NULL) {
        fprintf(stderr, "carom gas: cannot write %s: %s\n", o->output, strerror(errno));
        carom_gas_destroy(gas);
        return CLI_INPUT;
    }
    outcome result = {0};
    bar_catch_interrupt();
    status = run_pieces(cli, o, gas, out, &result);
    bool written = out == NULL || !ferror(out);
    written = (out == NULL || fclose(out) == 0) && written;
    bar_clear(&cli->bar);
    carom_gas_destroy(gas);
    if (!written) {
        fprintf(stderr, "carom gas: cannot write all of the output; is the disk full?\n");
        return CLI_MACHINE;
    }
    if (status != CAROM_OK) return cli_fail(cli, status);
    print_outcome(cli, &result);
    return CLI_OK;
}

const cli_command cli_gas = {
    .name = "gas",
    .arguments = "[-n N] [OPTIONS]",
    .summary = "hard spheres: every collision in its order",
    .details = "Spheres start on a lattice and fly in a cube with walls, or in a periodic one.\n"
               "Z, the compressibility factor, is null where there are walls.",
    .options = gas_options,
    .option_count = sizeof(gas_options) / sizeof(gas_options[0]),
    .options_size = sizeof(options),
    .run = run,
};
