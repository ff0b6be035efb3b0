/* SPDX-License-Identifier: MIT */
/* Boxes for broad phases. Numbers are rounded down to multiples of 2^-12, and half edges get 2^-14
 * on top: sums of two half edges are then odd multiples of 2^-13, differences of centres multiples
 * of 2^-12, so that no two boxes touch exactly and float32 and float64 give the same pairs. */
#include "scenes/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"

#define FILLED 0.05 /* the share of the volume that boxes take, if they did not overlap */
#define SPEED  0.1  /* edges per frame */

#define LEAST_EDGE 0.1
#define EDGE_RATIO 100.0

static double round_down(double x) {
    return floor(4096.0 * x) / 4096.0;
}

/* e^x for 0 <= x < 8, with the same bits everywhere: e^(x/16) by its series, squared four times. */
static double power_of_e(double x) {
    double small = x / 16.0, sum = 1.0;
    for (int i = 20; i > 0; --i) sum = 1.0 + sum * small / (double)i;
    for (int i = 0; i < 4; ++i) sum *= sum;
    return sum;
}

static double edge_of(scene_boxes_sizes sizes, carom_random *random) {
    if (sizes == SCENE_BOXES_MONO) return 2.0;
    return LEAST_EDGE * power_of_e(carom_random_uniform(random) * carom_log(EDGE_RATIO));
}

static void set_bounds(scene_boxes *boxes, uint64_t i) {
    carom_vec3 c = boxes->centres[i];
    double h = boxes->half[i];
    boxes->bounds[i] = (carom_bounds){{c.x - h, c.y - h, c.z - h}, {c.x + h, c.y + h, c.z + h}};
}

static bool allocate(scene_boxes *boxes, uint64_t count) {
    *boxes = (scene_boxes){.count = count};
    boxes->centres = calloc(count + 1, sizeof(*boxes->centres));
    boxes->velocity = calloc(count + 1, sizeof(*boxes->velocity));
    boxes->half = calloc(count + 1, sizeof(*boxes->half));
    boxes->bounds = calloc(count + 1, sizeof(*boxes->bounds));
    return boxes->centres != NULL && boxes->velocity != NULL && boxes->half != NULL &&
           boxes->bounds != NULL;
}

static void make_one(scene_boxes *boxes, uint64_t i, double edge, carom_random *random) {
    double c[3], e[3];
    for (int k = 0; k < 3; ++k)
        c[k] = round_down((carom_random_uniform(random) - 0.5) * boxes->edge);
    for (int k = 0; k < 3; ++k) e[k] = carom_random_normal(random);
    double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for (int k = 0; k < 3; ++k) e[k] = round_down(SPEED * edge * (e[k] / length));
    boxes->centres[i] = (carom_vec3){c[0], c[1], c[2]};
    boxes->velocity[i] = (carom_vec3){e[0], e[1], e[2]};
    boxes->half[i] = round_down(0.5 * edge) + 0x1p-14;
    set_bounds(boxes, i);
}

bool scene_boxes_make(uint64_t count, scene_boxes_sizes sizes, uint64_t seed, scene_boxes *boxes) {
    carom_random random = {seed};
    if (!allocate(boxes, count)) return false;
    /* The mean volume of a box: the mean of edge^3. */
    double mean =
        sizes == SCENE_BOXES_MONO ? 8.0 : (1000.0 - 0.001) / (3.0 * carom_log(EDGE_RATIO));
    boxes->edge = carom_cbrt((double)count * mean / FILLED);
    for (uint64_t i = 0; i < count; ++i) make_one(boxes, i, edge_of(sizes, &random), &random);
    return true;
}

void scene_boxes_free(scene_boxes *boxes) {
    free(boxes->centres);
    free(boxes->velocity);
    free(boxes->half);
    free(boxes->bounds);
    *boxes = (scene_boxes){0};
}

static void step(double *centre, double *velocity, double most) {
    if (fabs(*centre + *velocity) > most) *velocity = -*velocity;
    *centre += *velocity;
}

void scene_boxes_move(scene_boxes *boxes, uint64_t first, uint64_t end) {
    double most = 0.5 * boxes->edge;
    for (uint64_t i = first; i < end; ++i) {
        step(&boxes->centres[i].x, &boxes->velocity[i].x, most);
        step(&boxes->centres[i].y, &boxes->velocity[i].y, most);
        step(&boxes->centres[i].z, &boxes->velocity[i].z, most);
        set_bounds(boxes, i);
    }
}

uint64_t scene_boxes_checksum(const carom_pair *pairs, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t a = pairs[i].a, b = pairs[i].b;
        carom_random one = {a < b ? a << 32 | b : b << 32 | a};
        sum += carom_random_next(&one);
    }
    return sum;
}
