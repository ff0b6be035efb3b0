/* SPDX-License-Identifier: MIT */
/* gas_show.h: a run of `carom gas` as a display: moving spheres, and plots of what was measured. */
#ifndef CAROM_CLI_GAS_SHOW_H
#define CAROM_CLI_GAS_SHOW_H

#include "cli/display.h"
#include "cli/gas_gr.h"

/* Initialise with {0}. */
typedef struct gas_show {
    display d;
    display_item *spheres; /* NULL before the first sample */
    bool still;            /* no frames are kept: only plots are wanted */
    double *z, *energy;    /* at each sample */
    uint64_t capacity;
} gas_show;

/* `still`: only plots are wanted. */
void gas_show_begin(gas_show *show, cli *cli, bool still);

/* Adds the state at a time. */
void gas_show_add(gas_show *show, const carom_gas_spheres *spheres, const carom_gas_info *info,
                  const carom_gas_measures *measures, double time);

/* Adds the plots, of g(r) if it has samples, and the answers. To be called once, at the end. */
void gas_show_end(gas_show *show, const gas_gr *gr, const carom_gas_measures *measures);

void gas_show_free(gas_show *show);

#endif
