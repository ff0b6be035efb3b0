/* SPDX-License-Identifier: MIT */
/* Writes trajectories and events. Files get their final name when they are complete, so a full disk
 * leaves those of an earlier run. A run that ends early, for whatever reason, leaves a file of
 * complete frames or rows. */
#include "cli/gas_write.h"
#include "cli/platform.h"

#include <errno.h>
#include <string.h>

#define ROWS_BEFORE_LOOK 1024 /* of a frame: some 3 ms */

bool gas_output_open(cli *cli, const char *path, const gas_label *labels, gas_output *t) {
    *t = (gas_output){.labels = labels};
    if (!output_open(cli, path, &t->file)) return false;
    size_t length = path != NULL ? strlen(path) : 0;
    bool packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    t->is_plain = t->file.draft[0] != '\0' && !packed;
    return true;
}

/* To be called right after a write. */
static void note_failure(gas_output *t) {
    if (t->is_failed || ferror(t->file.file) == 0) return;
    t->is_failed = true;
    t->is_cut = errno == EINTR;
}

/* A compressed file cannot be truncated later, so its frame is completed even after an
 * interruption. */
bool gas_output_frame(gas_output *t, const carom_gas_spheres *spheres, const carom_gas_info *info,
                      double time) {
    FILE *out = t->file.file;
    fprintf(out,
            "%llu\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Origin=\"0 0 0\" pbc=\"%c %c %c\" "
            "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:mass:R:1:id:I:1 Time=%.17g\n",
            (unsigned long long)spheres->count, info->edges.x, info->edges.y, info->edges.z,
            info->periodic[0] ? 'T' : 'F', info->periodic[1] ? 'T' : 'F',
            info->periodic[2] ? 'T' : 'F', time);
    for (uint64_t i = 0; i < spheres->count && !ferror(out); ++i) {
        const carom_gas_sphere *s = &spheres->data[i];
        if (i % ROWS_BEFORE_LOOK == 0) {
            double done = (double)i / (double)spheres->count;
            bool can_stop = t->is_plain || t->file.draft[0] == '\0';
            if (bar_progress(&t->file.cli->bar, "frame", done) && can_stop) return false;
        }
        fprintf(out, "%s %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %llu\n",
                t->labels != NULL ? t->labels[i].species : "S", s->position.x, s->position.y,
                s->position.z, s->velocity.x, s->velocity.y, s->velocity.z, s->radius, s->mass,
                (unsigned long long)(t->labels != NULL ? t->labels[i].id : i));
    }
    if (t->is_plain && fflush(out) == 0) t->end = platform_tell(out);
    note_failure(t);
    t->frames += !t->is_failed;
    return !t->is_failed;
}

void gas_output_event_head(gas_output *t) {
    fputs("time,kind,a,b\n", t->file.file);
}

bool gas_output_event(void *user, const carom_gas_event *event) {
    gas_output *t = user;
    unsigned long long a = event->a, b = event->b;
    if (t->labels != NULL) {
        a = t->labels[event->a].id;
        if (event->kind == CAROM_GAS_EVENT_KIND_PAIR) b = t->labels[event->b].id;
    }
    fprintf(t->file.file, "%.17g,%s,%llu,%llu\n", event->time,
            carom_gas_event_kind_name(event->kind), a, b);
    ++t->frames;
    note_failure(t);
    return t->is_failed;
}

bool gas_output_close(gas_output *t, bool done) {
    if (t->file.file == NULL) return !t->is_failed;
    if (!t->is_failed && fflush(t->file.file) != 0) note_failure(t);
    bool whole = !t->is_failed;
    if (t->is_plain && t->end != 0) whole = whole && platform_truncate(t->file.file, t->end);
    t->is_failed = !whole || !output_close(&t->file, done || t->frames != 0);
    if (whole) return !t->is_failed;
    char message[512];
    snprintf(message, sizeof(message), "cannot write all of '%.300s'; is the disk full?",
             t->file.path);
    (void)output_close(&t->file, false);
    if (!t->is_cut) (void)cli_fail_with(t->file.cli, CAROM_IO, message);
    return false;
}
