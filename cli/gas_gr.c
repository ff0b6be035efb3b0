/* SPDX-License-Identifier: MIT */
/* The radial distribution function: pairs at a distance r, divided by those of a uniform gas.
 *
 * A periodic box has N (N - 1) / 2 pairs; in a uniform gas the share of them in a shell of volume
 * v is v / V. Where there are walls, a shell is partly outside. The translation correction (Ohser
 * and Stoyan) is exact for a uniform gas: a pair with the separation d is seen by the share
 * (1 - |d| / L) of all placements along a wall's axis, so it gets the weight 1 / (1 - |d| / L). L
 * is the length that centres can reach: the edge less the diameter of the smallest sphere.
 *
 * Positions are sorted into cells of half the range, so that a sphere is compared with those of
 * 5 x 5 x 5 cells; a cell is compared with itself and with those after it. */
#include "cli/gas_gr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

#define DEFAULT_STEP        0.02  /* of the largest diameter: contact is the end of a bin */
#define DEFAULT_RANGE       5.0   /* largest diameters */
#define REACH               2     /* cells on either side of a cell within the range */
#define MOST_CELLS          512   /* along an axis */
#define SPHERES_BEFORE_LOOK 1024u /* some milliseconds */

static double component(carom_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

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
        gr->periodic[axis] = info->periodic[axis];
        if (!gr->periodic[axis]) *edge -= 2.0 * smallest;
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
    gr->most = gr->step * bins;
    gr->weight = calloc(gr->bins, sizeof(*gr->weight));
    gr->before = malloc(gr->bins * sizeof(*gr->before));
    if (gr->weight != NULL && gr->before != NULL) return CAROM_OK;
    snprintf(message, size, "no memory for %llu bins of g(r)", (unsigned long long)gr->bins);
    gas_gr_free(gr);
    return CAROM_NO_MEMORY;
}

void gas_gr_free(gas_gr *gr) {
    free(gr->weight);
    free(gr->before);
    free(gr->first);
    free(gr->cell_of);
    free(gr->positions);
    *gr = (gas_gr){0};
}

/* ---- Cells ----------------------------------------------------------------------------------- */

typedef struct cells {
    uint64_t n[3];
    double low[3]; /* of the positions, where there are walls */
} cells;

static uint64_t cell_along(const gas_gr *gr, const cells *c, carom_vec3 p, int axis) {
    double edge = component(gr->edges, axis);
    double at = floor((component(p, axis) - c->low[axis]) / edge * (double)c->n[axis]);
    if (!(at > 0.0)) return 0;
    return at < (double)c->n[axis] ? (uint64_t)at : c->n[axis] - 1;
}

/* Chooses cells of at least half the range, and not many more than spheres. */
static uint64_t choose_cells(const gas_gr *gr, uint64_t count, cells *c) {
    double cell = gr->most / REACH;
    for (;; cell *= 1.25) {
        uint64_t total = 1;
        for (int axis = 0; axis < 3; ++axis) {
            double n = fmin(floor(component(gr->edges, axis) / cell), MOST_CELLS);
            c->n[axis] = n > 1.0 ? (uint64_t)n : 1;
            total *= c->n[axis];
        }
        if (total <= 2 * count + 64) return total;
    }
}

static bool reserve(gas_gr *gr, uint64_t count, uint64_t cell_count) {
    if (count > gr->space) {
        free(gr->positions);
        free(gr->cell_of);
        gr->positions = malloc(count * sizeof(*gr->positions));
        gr->cell_of = malloc(count * sizeof(*gr->cell_of));
        gr->space = gr->positions != NULL && gr->cell_of != NULL ? count : 0;
        if (gr->space == 0) return false;
    }
    if (cell_count + 1 > gr->cell_space) {
        free(gr->first);
        gr->first = malloc((cell_count + 1) * sizeof(*gr->first));
        gr->cell_space = gr->first != NULL ? cell_count + 1 : 0;
    }
    return gr->first != NULL;
}

/* A counting sort of the positions by cell. */
static void fill_cells(gas_gr *gr, const carom_gas_spheres *spheres, const cells *c,
                       uint64_t cell_count) {
    memset(gr->first, 0, (cell_count + 1) * sizeof(*gr->first));
    for (uint64_t i = 0; i < spheres->count; ++i) {
        carom_vec3 p = spheres->data[i].position;
        uint64_t x = cell_along(gr, c, p, 0), y = cell_along(gr, c, p, 1),
                 z = cell_along(gr, c, p, 2);
        gr->cell_of[i] = x + c->n[0] * (y + c->n[1] * z);
        ++gr->first[gr->cell_of[i] + 1];
    }
    for (uint64_t k = 0; k < cell_count; ++k) gr->first[k + 1] += gr->first[k];
    for (uint64_t i = spheres->count; i-- > 0;) /* from the end of each cell to its start */
        gr->positions[--gr->first[gr->cell_of[i] + 1]] = spheres->data[i].position;
    /* each entry is now the start of the cell before it */
    memmove(gr->first, gr->first + 1, cell_count * sizeof(*gr->first));
    gr->first[cell_count] = spheres->count;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Adds the pairs of one sphere with those in [begin, end). */
static void add_pairs(gas_gr *gr, carom_vec3 p, uint64_t begin, uint64_t end) {
    const double range = gr->most * gr->most;
    for (uint64_t i = begin; i < end; ++i) {
        double square = 0.0, share = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            double edge = component(gr->edges, axis);
            double d = fabs(component(gr->positions[i], axis) - component(p, axis));
            if (gr->periodic[axis])
                d = fmin(d, edge - d);
            else
                share *= 1.0 - d / edge;
            square += d * d;
        }
        if (!(square < range)) continue;
        uint64_t bin = (uint64_t)(sqrt(square) / gr->step);
        if (bin < gr->bins && share > 0.0) gr->weight[bin] += 1.0 / share;
    }
}

/* The cells along an axis within reach of `at`, each once. */
static uint64_t near_cells(uint64_t at, uint64_t n, bool periodic, uint64_t cells_near[]) {
    uint64_t count = 0, width = 2 * REACH + 1;
    if (periodic && n <= width) {
        for (; count < n; ++count) cells_near[count] = count;
        return count;
    }
    for (uint64_t k = 0; k < width; ++k) {
        if (periodic)
            cells_near[count++] = (at + n + k - REACH) % n;
        else if (at + k >= REACH && at + k - REACH < n)
            cells_near[count++] = at + k - REACH;
    }
    return count;
}

static void add_cell(gas_gr *gr, const cells *c, uint64_t cell) {
    uint64_t near[3][2 * REACH + 1], counts[3], rest = cell;
    for (int axis = 0; axis < 3; ++axis) {
        counts[axis] = near_cells(rest % c->n[axis], c->n[axis], gr->periodic[axis], near[axis]);
        rest /= c->n[axis];
    }
    for (uint64_t z = 0; z < counts[2]; ++z)
        for (uint64_t y = 0; y < counts[1]; ++y)
            for (uint64_t x = 0; x < counts[0]; ++x) {
                uint64_t other = near[0][x] + c->n[0] * (near[1][y] + c->n[1] * near[2][z]);
                if (other < cell) continue;
                for (uint64_t i = gr->first[cell]; i < gr->first[cell + 1]; ++i)
                    add_pairs(gr, gr->positions[i], other == cell ? i + 1 : gr->first[other],
                              gr->first[other + 1]);
            }
}

carom_status gas_gr_add(gas_gr *gr, const carom_gas_spheres *spheres, carom_progress_fn *progress,
                        void *user) {
    uint64_t n = spheres->count, looked = 0;
    cells c = {.low = {0.0, 0.0, 0.0}};
    if (n < 2) return CAROM_OK; /* their number does not change during a run */
    for (int axis = 0; axis < 3; ++axis) {
        if (gr->periodic[axis]) continue;
        double low = HUGE_VAL;
        for (uint64_t i = 0; i < n; ++i)
            low = fmin(low, component(spheres->data[i].position, axis));
        c.low[axis] = low;
    }
    uint64_t cell_count = choose_cells(gr, n, &c);
    if (!reserve(gr, n, cell_count)) return CAROM_NO_MEMORY;
    fill_cells(gr, spheres, &c, cell_count);
    memcpy(gr->before, gr->weight, gr->bins * sizeof(*gr->weight));
    for (uint64_t cell = 0; cell < cell_count; ++cell) {
        add_cell(gr, &c, cell);
        if (gr->first[cell + 1] < looked + SPHERES_BEFORE_LOOK) continue;
        looked = gr->first[cell + 1];
        if (progress(user, "counting pairs", (double)looked / (double)n * 0.999)) {
            memcpy(gr->weight, gr->before, gr->bins * sizeof(*gr->weight));
            return CAROM_CANCELLED;
        }
    }
    double volume = gr->edges.x * gr->edges.y * gr->edges.z;
    gr->expected += 0.5 * (double)n * ((double)n - 1.0) / volume;
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
