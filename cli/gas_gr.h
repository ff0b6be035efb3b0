/* SPDX-License-Identifier: MIT */
/* gas_gr.h: the radial distribution function g(r) of a gas, summed over samples. */
#ifndef CAROM_CLI_GAS_GR_H
#define CAROM_CLI_GAS_GR_H

#include <stdio.h>

#include "carom/carom.h"

/* Bin k counts pairs at distances in [k step, (k + 1) step). */
typedef struct gas_gr {
    double step; /* width of a bin */
    uint64_t bins;
    double *weight;   /* of each bin, summed over pairs and samples */
    double *sample;   /* scratch: the same of one sample */
    double expected;  /* pairs of a uniform gas per volume of the shell, summed over samples */
    carom_vec3 edges; /* that centres can reach */
} gas_gr;

#define GAS_GR_MOST_BINS 1000000u

/* `step` and `most` are lengths. 0 for `step`: a fiftieth of the largest diameter. 0 for `most`:
 * five of the largest diameters, or less where the box is small. At most half an edge: beyond it a
 * shell meets its own periodic image, or most of it is outside the walls. On failure a message
 * that names the option, and nothing to free. */
carom_status gas_gr_begin(gas_gr *gr, double step, double most, const carom_gas_info *info,
                          const carom_gas_spheres *spheres, char *message, size_t size);

/* Adds the pairs of the present state: all, or none when it fails or is cancelled. */
carom_status gas_gr_add(gas_gr *gr, carom_context *context, const carom_gas *gas);

/* g of a bin; *r is its middle. */
double gas_gr_value(const gas_gr *gr, uint64_t bin, double *r);

/* Writes lines `r,g` with a head; r is the middle of a bin. */
void gas_gr_write(const gas_gr *gr, FILE *out);

void gas_gr_free(gas_gr *gr);

#endif
