/* SPDX-License-Identifier: MIT */
/* Shapes of square cells: box, grid, cloth. */
#include "base/math.h"
#include "mesh/mesh_shapes.h"

/* ---- Box ------------------------------------------------------------------------------------- */

/* The index of lattice point p on the surface of an n x n x n box: bottom, rings, top. */
static uint64_t mesh_shapes_flat_number_of(uint64_t n, const uint64_t p[3]) {
    uint64_t i = p[0], j = p[1], k = p[2], side = n + 1, start = side * side;
    if (k == 0) return j * side + i;
    start += (k - 1) * 4 * n;
    if (k == n) return start + j * side + i;
    if (j == 0) return start + i;
    if (i == n) return start + n + j;
    if (j == n) return start + 3 * n - i;
    return start + 4 * n - j;
}

/* Adds one of the six sides: cells along the two axes after `axis`, at its low or high end. */
static void put_side(carom_sketch *sketch, uint64_t n, int axis, bool high) {
    static const uint64_t steps[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (uint64_t b = 0; b < n && !carom_sketch_stop(sketch); ++b)
        for (uint64_t a = 0; a < n; ++a) {
            uint64_t corners[4];
            for (int s = 0; s < 4; ++s) {
                uint64_t p[3];
                p[axis] = high ? n : 0;
                p[u] = a + steps[s][0];
                p[v] = b + steps[s][1];
                corners[s] = mesh_shapes_flat_number_of(n, p);
            }
            if (high)
                carom_sketch_quad(sketch, corners[0], corners[1], corners[2], corners[3]);
            else
                carom_sketch_quad(sketch, corners[0], corners[3], corners[2], corners[1]);
        }
}

carom_status carom_shape_box(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail;
    double cells = (double)n * (double)n, size = sketch->def->size;
    CAROM_TRY(carom_sketch_begin(sketch, 6.0 * cells + 2.0, 6.0 * cells, 0.0, 0.0));
    for (uint64_t k = 0; k <= n && !carom_sketch_stop(sketch); ++k)
        for (uint64_t j = 0; j <= n; ++j) {
            bool inside = k != 0 && k != n && j != 0 && j != n; /* then only the two ends */
            for (uint64_t i = 0; i <= n; i += inside ? n : 1) {
                uint64_t p[3] = {i, j, k};
                double x = 2.0 * (double)i / (double)n - 1.0, y = 2.0 * (double)j / (double)n - 1.0;
                double z = 2.0 * (double)k / (double)n - 1.0;
                carom_mesh_put(sketch->mesh, mesh_shapes_flat_number_of(n, p),
                               carom_vec(size * x, size * y, size * z));
            }
        }
    for (int axis = 0; axis < 3; ++axis) {
        put_side(sketch, n, axis, false);
        put_side(sketch, n, axis, true);
    }
    return CAROM_OK;
}

/* ---- Sheets ---------------------------------------------------------------------------------- */

/* Allocates (n + 1)^2 vertices and adds all cells; vertex (i, j) has index j (n + 1) + i. */
static carom_status begin_sheet(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail, row = n + 1;
    double side = (double)n, cells = side * side;
    CAROM_TRY(carom_sketch_begin(sketch, (side + 1.0) * (side + 1.0), cells, 0.0, 0.0));
    for (uint64_t j = 0; j < n && !carom_sketch_stop(sketch); ++j)
        for (uint64_t i = 0; i < n; ++i) {
            uint64_t v = j * row + i;
            carom_sketch_quad(sketch, v, v + 1, v + row + 1, v + row);
        }
    return CAROM_OK;
}

carom_status carom_shape_grid(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail;
    double size = sketch->def->size;
    CAROM_TRY(begin_sheet(sketch));
    for (uint64_t j = 0; j <= n && !carom_sketch_stop(sketch); ++j)
        for (uint64_t i = 0; i <= n; ++i)
            carom_sketch_vertex(sketch, carom_vec(size * (2.0 * (double)i / (double)n - 1.0),
                                                  size * (2.0 * (double)j / (double)n - 1.0), 0.0));
    return CAROM_OK;
}

#define WAVES 24

typedef struct wave {
    double x, y, height, phase; /* frequency along u and v */
    carom_vec3 direction;
} wave;

typedef struct cloth {
    carom_sketch *sketch; /* the vertices go there, */
    carom_vec3 *to;       /* or, where it is NULL, here, from row `first` on */
    uint64_t first, detail;
    double size;
    wave waves[WAVES];
} cloth;

/* Of the waves: frequencies, in turns per size of the cloth times 2 pi; the height of one whose
 * frequency is 1, so that all are as steep; and the seed by default. */
#define CLOTH_LEAST_FREQUENCY 2.0
#define CLOTH_MOST_FREQUENCY  10.0
#define CLOTH_WAVE_HEIGHT     0.10
#define CLOTH_SEED            12345

static void draw_waves(wave *waves, uint64_t seed, double advance) {
    carom_random random = {seed};
    for (int k = 0; k < WAVES; ++k) {
        double frequency =
            carom_random_between(&random, CLOTH_LEAST_FREQUENCY, CLOTH_MOST_FREQUENCY);
        double angle = carom_random_between(&random, 0.0, CAROM_TURN);
        carom_vec3 d;
        d.x = carom_random_normal(&random);
        d.y = carom_random_normal(&random);
        d.z = carom_random_normal(&random);
        double length = carom_vec_length(d);
        waves[k] = (wave){.x = frequency * carom_cos(angle),
                          .y = frequency * carom_sin(angle),
                          .height = CLOTH_WAVE_HEIGHT / frequency,
                          .phase = carom_random_between(&random, 0.0, CAROM_TURN) + advance,
                          .direction = carom_vec(d.x / length, d.y / length, d.z / length)};
    }
}

/* Rounds through memory: gcc 12 drops a conversion to float and back where it combines two of them
 * into one vector operation. */
static double round_to_float(double x) {
    volatile float f = (float)x;
    return (double)f;
}

static carom_vec3 cloth_vertex(const cloth *c, uint64_t i, uint64_t j) {
    double u = (double)i / (double)c->detail, v = (double)j / (double)c->detail;
    carom_vec3 p = carom_vec(u, v, 0.0);
    for (int k = 0; k < WAVES; ++k) {
        const wave *w = &c->waves[k];
        double s = w->height * carom_sin(CAROM_TURN * (w->x * u + w->y * v) + w->phase);
        p = carom_vec_add(p, carom_vec_scale(w->direction, s));
    }
    p = carom_vec_scale(p, c->size);
    return carom_vec(round_to_float(p.x), round_to_float(p.y), round_to_float(p.z));
}

static carom_status lay_rows(void *argument, carom_range range) {
    const cloth *c = argument;
    uint64_t row = c->detail + 1;
    for (uint64_t j = range.begin; j < range.end; ++j)
        for (uint64_t i = 0; i < row; ++i) {
            carom_vec3 p = cloth_vertex(c, i, c->first + j);
            if (c->sketch != NULL)
                carom_mesh_put(c->sketch->mesh, j * row + i, p);
            else
                c->to[j * row + i] = p;
        }
    return CAROM_OK;
}

static void cloth_begin(cloth *c, const carom_shape_def *def) {
    c->detail = def->detail;
    c->size = def->size;
    draw_waves(c->waves, def->seed != 0 ? def->seed : CLOTH_SEED, def->phase);
}

carom_status carom_shape_cloth(carom_sketch *sketch) {
    cloth c = {.sketch = sketch};
    cloth_begin(&c, sketch->def);
    CAROM_TRY(begin_sheet(sketch));
    return carom_parallel_for(sketch->context, sketch->def->detail + 1, 1, lay_rows, &c);
}

carom_status carom_shape_cloth_rows(carom_context *context, const carom_shape_def *def,
                                    uint64_t first, uint64_t count, carom_vec3 *to) {
    cloth c = {.to = to, .first = first};
    cloth_begin(&c, def);
    return carom_parallel_for(context, count, 1, lay_rows, &c);
}
