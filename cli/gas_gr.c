/* SPDX-License-Identifier: MIT */
/* The radial distribution function: pairs at a distance r, divided by those of a uniform gas.
 *
 * A periodic box has N (N - 1) / 2 pairs; in a uniform gas the share of them in a shell of volume
 * v is v / V. Where there are walls, pairs are weighted (carom_gas_count_distances) and V is the
 * volume that centres can reach. */
#include "cli/gas_gr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

#define DEFAULT_STEP  0.02 /* of the largest diameter: contact is the end of a bin */
#define DEFAULT_RANGE 5.0  /* largest diameters */

carom_status gas_gr_begin(gas_gr *gr, double step, double most, const carom_gas_info *info,
                          const carom_gas_spheres *spheres, char *message, size_t size) {
    double smallest = HUGE_VAL, largest = 0.0, half = HUGE_VAL;
    *gr = (gas_gr){.edges = info->edges};
    for (uint64_t i = 0; i < spheres->count; ++i) {
        smallest = fmin(smallest, spheres->data[i].radius);
        largest = fmax(largest, spheres->data[i].radius);
    }
    if (spheres->count < 2) {
        snprintf(message, size, "--gr needs two spheres or more");
        return CAROM_BAD_INPUT;
    }
    for (int axis = 0; axis < 3; ++axis) {
        double *edge = axis == 0 ? &gr->edges.x : axis == 1 ? &gr->edges.y : &gr->edges.z;
        if (!info->periodic[axis]) *edge -= 2.0 * smallest;
        half = fmin(half, 0.5 * *edge);
    }
    gr->step = step > 0.0 ? step : DEFAULT_STEP * 2.0 * largest;
    double range = most > 0.0 ? most : fmin(DEFAULT_RANGE * 2.0 * largest, half);
    if (range > half) {
        snprintf(message, size,
                 "--gr-range %g is more than %g, half of what centres can move along the shortest "
                 "edge; make it shorter",
                 most, half);
        return CAROM_BAD_INPUT;
    }
    double bins = floor(range / gr->step * (1.0 + 1e-12));
    if (!(bins >= 1.0) || bins > GAS_GR_MOST_BINS) {
        snprintf(message, size,
                 "--gr-step %g makes %.0f bins of a range of %g; 1 to %u are "
                 "possible",
                 gr->step, bins, range, GAS_GR_MOST_BINS);
        return CAROM_BAD_INPUT;
    }
    gr->bins = (uint64_t)bins;
    gr->weight = calloc(gr->bins, sizeof(*gr->weight));
    gr->sample = malloc(gr->bins * sizeof(*gr->sample));
    if (gr->weight != NULL && gr->sample != NULL) return CAROM_OK;
    snprintf(message, size, "no memory for %llu bins of g(r)", (unsigned long long)gr->bins);
    gas_gr_free(gr);
    return CAROM_NO_MEMORY;
}

void gas_gr_free(gas_gr *gr) {
    free(gr->weight);
    free(gr->sample);
    *gr = (gas_gr){0};
}

carom_status gas_gr_add(gas_gr *gr, carom_context *context, const carom_gas *gas) {
    carom_gas_measures m;
    carom_status status = carom_gas_measure(context, gas, &m);
    if (status != CAROM_OK || m.spheres < 2) return status; /* their number stays the same */
    status = carom_gas_count_distances(context, gas, gr->step, gr->sample, gr->bins);
    if (status != CAROM_OK) return status;
    for (uint64_t k = 0; k < gr->bins; ++k) gr->weight[k] += gr->sample[k];
    double n = (double)m.spheres, volume = gr->edges.x * gr->edges.y * gr->edges.z;
    gr->expected += 0.5 * n * (n - 1.0) / volume;
    return CAROM_OK;
}

double gas_gr_value(const gas_gr *gr, uint64_t bin, double *r) {
    double low = (double)bin, high = low + 1.0; /* in steps */
    double shell = 4.0 / 3.0 * PI * (high * high * high - low * low * low);
    shell *= gr->step * gr->step * gr->step;
    double expected = gr->expected * shell;
    *r = (low + 0.5) * gr->step;
    return expected > 0.0 ? gr->weight[bin] / expected : 0.0;
}

void gas_gr_write(const gas_gr *gr, FILE *out) {
    fputs("r,g\n", out);
    for (uint64_t k = 0; k < gr->bins; ++k) {
        double r, g = gas_gr_value(gr, k, &r);
        fprintf(out, "%.17g,%.17g\n", r, g);
    }
}
