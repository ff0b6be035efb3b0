/* SPDX-License-Identifier: MIT */
/* gas_write.h: the trajectory and the list of events of a run. */
#ifndef CAROM_CLI_GAS_WRITE_H
#define CAROM_CLI_GAS_WRITE_H

#include "cli/gas_files.h"
#include "cli/output.h"

/* A file of which a run that ends early leaves the complete frames or rows. */
typedef struct gas_output {
    output file;
    const gas_label *labels; /* of the spheres, by their order; NULL: the order itself, species S */
    uint64_t frames;         /* complete frames, or rows */
    int64_t end;             /* of the last complete frame */
    bool is_plain;           /* a file that can be truncated */
    bool is_failed;          /* it cannot be written */
    bool is_cut;             /* because a signal ended a write to a pipe */
} gas_output;

/* False, after reporting the failure, when it cannot be opened. `path` may be NULL. */
bool gas_output_open(cli *cli, const char *path, const gas_label *labels, gas_output *t);

/* Writes one frame in extended XYZ, numbers with 17 digits. False when interrupted or when the file
 * cannot be written. */
bool gas_output_frame(gas_output *t, const carom_gas_spheres *spheres, const carom_gas_info *info,
                      double time);

/* Writes the head of a list of events. */
void gas_output_event_head(gas_output *t);

/* A carom_gas_event_fn whose user pointer is the output: writes one row time,kind,a,b, and ends the
 * call when that fails. `labels` are by sphere id here. */
bool gas_output_event(void *user, const carom_gas_event *event);

/* Keeps what is complete; nothing of a run that is not `done` and has no complete frame or row.
 * When the file cannot be written, keeps nothing, reports it, unless a signal is the cause, and
 * returns false. May be called again. */
bool gas_output_close(gas_output *t, bool done);

#endif
