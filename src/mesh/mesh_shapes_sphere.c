/* SPDX-License-Identifier: MIT */
/* The subdivided icosahedron: each step puts the midpoint of every edge on the sphere. Each of the
 * 20 faces has a triangular grid of n steps per side. Grid points on corners and edges get the
 * index of that corner or edge point, so that faces share them. A midpoint is computed from the
 * same two points for both faces, and a + b = b + a, so there are no seams. */
#include <math.h>

#include "mesh/mesh_shapes.h"

/* In squares of half an edge: that of an edge is 4, that of the next distance of corners 10.5. */
#define JOINED_SQUARE            4.5
#define CORNERS                  12
#define EDGES                    30
#define MESH_SHAPES_SPHERE_FACES 20

typedef struct icosahedron {
    carom_vec3 corners[CORNERS];
    uint32_t faces[MESH_SHAPES_SPHERE_FACES][3];
    uint32_t edges[CORNERS][CORNERS]; /* index of the edge between two corners */
} icosahedron;

static icosahedron make_icosahedron(void) {
    static const double golden = 1.6180339887498948482;
    icosahedron ico = {0};
    double length = sqrt(1.0 + golden * golden), a = 1.0 / length, b = golden / length;
    for (int i = 0; i < 4; ++i) {
        double s = (i & 1) != 0 ? -a : a, t = (i & 2) != 0 ? -b : b;
        ico.corners[i] = carom_vec(0.0, s, t);
        ico.corners[4 + i] = carom_vec(s, t, 0.0);
        ico.corners[8 + i] = carom_vec(t, 0.0, s);
    }
    bool joined[CORNERS][CORNERS] = {{false}};
    uint32_t edges = 0, faces = 0;
    for (uint32_t i = 0; i < CORNERS; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            carom_vec3 d = carom_vec_sub(ico.corners[i], ico.corners[k]);
            joined[i][k] = joined[k][i] = carom_vec_dot(d, d) < JOINED_SQUARE * a * a;
            if (joined[i][k]) ico.edges[i][k] = ico.edges[k][i] = edges++;
        }
    for (uint32_t i = 0; i < CORNERS; ++i)
        for (uint32_t j = i + 1; j < CORNERS; ++j)
            for (uint32_t k = j + 1; k < CORNERS; ++k) {
                if (!joined[i][j] || !joined[j][k] || !joined[i][k]) continue;
                carom_vec3 normal = carom_vec_cross(ico.corners[i], ico.corners[j]);
                bool outward = carom_vec_dot(normal, ico.corners[k]) > 0.0;
                ico.faces[faces][0] = i;
                ico.faces[faces][1] = outward ? j : k;
                ico.faces[faces++][2] = outward ? k : j;
            }
    return ico;
}

/* The index of grid point (i, j) of a face, i + j <= n: i steps from its first corner towards the
 * second, j towards the third. */
static uint64_t mesh_shapes_sphere_number_of(const icosahedron *ico, uint64_t n, uint32_t face,
                                             uint64_t i, uint64_t j) {
    const uint32_t *c = ico->faces[face];
    uint64_t k = n - i - j; /* weight of the first corner */
    if (k == n) return c[0];
    if (i == n) return c[1];
    if (j == n) return c[2];
    if (i != 0 && j != 0 && k != 0) /* rows of n - 2, n - 3, ... points */
        return CORNERS + EDGES * (n - 1) + face * ((n - 1) * (n - 2) / 2) + (j - 1) * (n - 1) -
               (j - 1) * j / 2 + (i - 1);
    uint32_t from = k != 0 ? c[0] : c[1], to = j != 0 ? c[2] : c[1];
    uint64_t step = j != 0 ? j : i;
    return CORNERS + ico->edges[from][to] * (n - 1) + (from < to ? step : n - step) - 1;
}

static carom_vec3 mesh_shapes_sphere_middle(const carom_vec3 *points, uint64_t a, uint64_t b) {
    carom_vec3 sum = carom_vec_add(points[a], points[b]);
    return carom_vec_scale(sum, 1.0 / carom_vec_length(sum));
}

/* Adds the points between those `step` apart, coarse to fine. */
static void refine_face(carom_sketch *sketch, const icosahedron *ico, uint64_t n, uint32_t face,
                        carom_vec3 *points) {
    for (uint64_t step = n; step > 1; step /= 2) {
        uint64_t half = step / 2;
        for (uint64_t j = 0; j < n && !carom_sketch_stop(sketch); j += step)
            for (uint64_t i = 0; i + j < n; i += step) {
                uint64_t a = mesh_shapes_sphere_number_of(ico, n, face, i, j);
                uint64_t b = mesh_shapes_sphere_number_of(ico, n, face, i + step, j);
                uint64_t c = mesh_shapes_sphere_number_of(ico, n, face, i, j + step);
                points[mesh_shapes_sphere_number_of(ico, n, face, i + half, j)] =
                    mesh_shapes_sphere_middle(points, a, b);
                points[mesh_shapes_sphere_number_of(ico, n, face, i, j + half)] =
                    mesh_shapes_sphere_middle(points, a, c);
                points[mesh_shapes_sphere_number_of(ico, n, face, i + half, j + half)] =
                    mesh_shapes_sphere_middle(points, b, c);
            }
    }
}

static void mesh_shapes_sphere_put_faces(carom_sketch *sketch, const icosahedron *ico, uint64_t n,
                                         uint32_t face) {
    for (uint64_t j = 0; j < n && !carom_sketch_stop(sketch); ++j)
        for (uint64_t i = 0; i + j < n; ++i) {
            uint64_t b = mesh_shapes_sphere_number_of(ico, n, face, i + 1, j),
                     c = mesh_shapes_sphere_number_of(ico, n, face, i, j + 1);
            carom_sketch_triangle(sketch, mesh_shapes_sphere_number_of(ico, n, face, i, j), b, c);
            if (i + j + 1 < n)
                carom_sketch_triangle(sketch, b,
                                      mesh_shapes_sphere_number_of(ico, n, face, i + 1, j + 1), c);
        }
}

carom_status carom_shape_sphere(carom_sketch *sketch) {
    double steps = ldexp(1.0, (int)(sketch->def->detail < 64 ? sketch->def->detail - 1 : 64));
    double vertices = 10.0 * steps * steps + 2.0, faces = 20.0 * steps * steps;
    CAROM_TRY(carom_sketch_begin(sketch, vertices, 0.0, faces, 3.0 * faces));
    uint64_t n = (uint64_t)steps, count = (uint64_t)vertices;
    icosahedron ico = make_icosahedron();
    carom_arena *scratch = carom_scratch(sketch->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_vec3 *points = CAROM_ARENA_TAKE(scratch, carom_vec3, count);
    if (points == NULL)
        return carom_fail_memory(sketch->context, count * sizeof(*points), "a sphere");
    memcpy(points, ico.corners, sizeof(ico.corners));
    for (uint32_t f = 0; f < MESH_SHAPES_SPHERE_FACES; ++f) refine_face(sketch, &ico, n, f, points);
    if (carom_sketch_stop(sketch)) count = 0; /* cancelled: not all points exist */
    for (uint64_t i = 0; i < count; ++i)
        carom_sketch_vertex(sketch, carom_vec_scale(points[i], sketch->def->size));
    for (uint32_t f = 0; f < MESH_SHAPES_SPHERE_FACES; ++f)
        mesh_shapes_sphere_put_faces(sketch, &ico, n, f);
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}
