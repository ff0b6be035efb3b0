/* SPDX-License-Identifier: MIT */
/* Closed lattice meshes. */
#include "tests/support/solids.h"

#include <string.h>

#include "tests/support/test.h"

carom_mesh_view solid_view(const solid_mesh *mesh) {
    return (carom_mesh_view){.positions = mesh->xyz,
                             .vertex_count = mesh->vertices,
                             .corners = mesh->corners,
                             .face_count = mesh->faces};
}

static uint32_t add_vertex(solid_mesh *mesh, double x, double y, double z) {
    assert_true(mesh->vertices < SOLID_MOST_VERTICES);
    double *p = mesh->xyz[mesh->vertices];
    p[0] = x, p[1] = y, p[2] = z;
    return mesh->vertices++;
}

static void add_face(solid_mesh *mesh, uint32_t a, uint32_t b, uint32_t c) {
    assert_true(mesh->faces < SOLID_MOST_FACES);
    uint32_t *corners = &mesh->corners[3 * mesh->faces++];
    corners[0] = a, corners[1] = b, corners[2] = c;
}

/* ---- boxes and cubes ------------------------------------------------------------------------- */

/* Vertex k of a box has the bits of k as its corner's x, y, z; outward. */
static const uint32_t box_quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

void solid_add_box(solid_mesh *mesh, const double low[3], const double high[3], bool cavity) {
    uint32_t first = mesh->vertices, from = mesh->faces;
    for (uint32_t k = 0; k < 8; ++k)
        add_vertex(mesh, k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1],
                   k & 4 ? high[2] : low[2]);
    for (int q = 0; q < 6; ++q) {
        const uint32_t *c = box_quads[q];
        add_face(mesh, first + c[0], first + c[1], first + c[2]);
        add_face(mesh, first + c[0], first + c[2], first + c[3]);
    }
    for (uint32_t i = 3 * from; cavity && i < 3 * mesh->faces; i += 3) {
        uint32_t swap = mesh->corners[i];
        mesh->corners[i] = mesh->corners[i + 1];
        mesh->corners[i + 1] = swap;
    }
}

static void random_box(carom_random *random, uint32_t size, double low[3], double high[3]) {
    for (int k = 0; k < 3; ++k) {
        low[k] = (double)test_below(random, size);
        high[k] = low[k] + 1 + (double)test_below(random, size);
    }
}

static void make_boxes(carom_random *random, solid_mesh *mesh) {
    double low[3], high[3];
    random_box(random, 1 + test_below(random, 8), low, high);
    solid_add_box(mesh, low, high, false);
}

/* Boxes in boxes, every second one hollow; walls of at least one. */
static void make_nested(carom_random *random, solid_mesh *mesh) {
    double low[3] = {0, 0, 0}, high[3];
    for (int k = 0; k < 3; ++k) high[k] = 4 + (double)test_below(random, 12);
    bool room = true;
    for (int depth = 0; room && depth < 5; ++depth) {
        solid_add_box(mesh, low, high, depth % 2 == 1);
        for (int k = 0; k < 3; ++k) {
            low[k] += 1 + (double)test_below(random, 2);
            high[k] -= 1 + (double)test_below(random, 2);
            room = room && low[k] < high[k];
        }
    }
}

#define CUBES 6

static bool is_cube(const bool *cubes, int x, int y, int z) {
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < CUBES && y < CUBES && z < CUBES;
    return inside && cubes[(z * CUBES + y) * CUBES + x];
}

/* Cubes along a random walk, glued where they touch. Edges and corners where two cubes meet without
 * a common face have more than two faces. */
static void make_cubes(carom_random *random, solid_mesh *mesh) {
    bool cubes[CUBES * CUBES * CUBES] = {false};
    uint32_t vertex[(CUBES + 1) * (CUBES + 1) * (CUBES + 1)];
    int at[3] = {CUBES / 2, CUBES / 2, CUBES / 2};
    double scale = 1 + (double)test_below(random, 2);
    memset(vertex, 255, sizeof(vertex));
    for (uint32_t step = 0, steps = 1 + test_below(random, 25); step < steps; ++step) {
        cubes[(at[2] * CUBES + at[1]) * CUBES + at[0]] = true;
        uint32_t way = test_below(random, 6);
        at[way / 2] += way % 2 == 0 ? 1 : -1;
        if (at[way / 2] < 0 || at[way / 2] >= CUBES) at[way / 2] = CUBES / 2;
    }
    for (int i = 0; i < CUBES * CUBES * CUBES; ++i) {
        if (!cubes[i]) continue;
        int cell[3] = {i % CUBES, i / CUBES % CUBES, i / CUBES / CUBES};
        for (int q = 0; q < 6; ++q) {
            int next[3] = {cell[0], cell[1], cell[2]};
            next[q / 2] += q % 2 == 0 ? -1 : 1;
            if (is_cube(cubes, next[0], next[1], next[2])) continue;
            uint32_t c[4];
            for (int k = 0; k < 4; ++k) {
                uint32_t bits = box_quads[q][k];
                uint32_t x = (uint32_t)cell[0] + (bits & 1),
                         y = (uint32_t)cell[1] + (bits >> 1 & 1);
                uint32_t z = (uint32_t)cell[2] + (bits >> 2), corner = (z * 7 + y) * 7 + x;
                if (vertex[corner] == UINT32_MAX)
                    vertex[corner] = add_vertex(mesh, scale * x, scale * y, scale * z);
                c[k] = vertex[corner];
            }
            uint32_t turn = test_below(random, 2); /* either diagonal */
            add_face(mesh, c[turn], c[turn + 1], c[turn + 2]);
            add_face(mesh, c[turn], c[turn + 2], c[(turn + 3) % 4]);
        }
    }
}

/* ---- hulls ----------------------------------------------------------------------------------- */

/* Six times the volume of the tetrahedron; exact on the lattice. */
static double volume_of(const solid_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = mesh->xyz[b][k] - mesh->xyz[a][k];
        v[k] = mesh->xyz[c][k] - mesh->xyz[a][k];
        w[k] = mesh->xyz[d][k] - mesh->xyz[a][k];
    }
    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
           (u[0] * v[1] - u[1] * v[0]) * w[2];
}

/* Point after point; a face goes when the new point is above it. Points in a face's plane add flat
 * neighbours, and points on an edge's line faces without area: both are part of the game. */
static bool make_hull(solid_mesh *mesh) {
    if (volume_of(mesh, 0, 1, 2, 3) == 0.0) return false;
    bool flip = volume_of(mesh, 0, 1, 2, 3) > 0.0;
    for (uint32_t k = 0; k < 4; ++k) {
        static const uint32_t sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
        const uint32_t *s = sides[k];
        add_face(mesh, s[0], s[flip ? 2 : 1], s[flip ? 1 : 2]);
    }
    for (uint32_t p = 4; p < mesh->vertices; ++p) {
        static bool seen[SOLID_MOST_FACES];
        uint32_t edges[3 * 256][2], edge_count = 0, kept = 0;
        for (uint32_t f = 0; f < mesh->faces; ++f) {
            const uint32_t *c = &mesh->corners[3 * f];
            seen[f] = volume_of(mesh, c[0], c[1], c[2], p) > 0.0;
            for (int k = 0; seen[f] && k < 3; ++k) {
                edges[edge_count][0] = c[k];
                edges[edge_count++][1] = c[(k + 1) % 3];
            }
        }
        for (uint32_t f = 0; f < mesh->faces; ++f)
            if (!seen[f]) memmove(&mesh->corners[3 * kept++], &mesh->corners[3 * f], 12);
        mesh->faces = kept;
        for (uint32_t e = 0; e < edge_count; ++e) {
            bool inner = false;
            for (uint32_t o = 0; o < edge_count && !inner; ++o)
                inner = edges[o][0] == edges[e][1] && edges[o][1] == edges[e][0];
            if (!inner) add_face(mesh, edges[e][0], edges[e][1], p);
        }
    }
    return true;
}

static void make_points(carom_random *random, solid_mesh *mesh, uint32_t count) {
    uint32_t size = 3 + test_below(random, 14);
    do {
        mesh->vertices = mesh->faces = 0;
        for (uint32_t i = 0; i < count; ++i) {
            double x = test_below(random, size), y = test_below(random, size),
                   z = test_below(random, size);
            add_vertex(mesh, x, y, z);
        }
    } while (!make_hull(mesh));
}

/* ---- prisms ---------------------------------------------------------------------------------- */

/* Over a star of lattice points around a centre: simple, mostly not convex, turned at random, in
 * some leaning. */
static void make_prism(carom_random *random, solid_mesh *mesh) {
    static const double ways[12][2] = {{2, 0},  {2, 1},  {1, 1},   {1, 2},   {0, 2},  {-1, 2},
                                       {-1, 1}, {-2, 0}, {-1, -1}, {-1, -2}, {0, -2}, {1, -1}};
    uint32_t n = 12, first = mesh->vertices;
    double height = 1 + (double)test_below(random, 6);
    double lean[2] = {(double)test_below(random, 3) - 1, (double)test_below(random, 3) - 1};
    if (test_below(random, 2) == 0) lean[0] = lean[1] = 0.0;
    for (uint32_t k = 0; k < n; ++k) {
        double reach = 1 + (double)test_below(random, 3);
        double x = 6 + ways[k][0] * reach, y = 6 + ways[k][1] * reach;
        add_vertex(mesh, x, y, 0);
        add_vertex(mesh, x + lean[0], y + lean[1], height);
    }
    uint32_t bottom = add_vertex(mesh, 6, 6, 0),
             top = add_vertex(mesh, 6 + lean[0], 6 + lean[1], height);
    for (uint32_t k = 0; k < n; ++k) {
        uint32_t a = first + 2 * k, b = first + 2 * ((k + 1) % n);
        add_face(mesh, bottom, b, a);
        add_face(mesh, top, a + 1, b + 1);
        add_face(mesh, a, b, b + 1);
        add_face(mesh, a, b + 1, a + 1);
    }
}

/* ---- any ------------------------------------------------------------------------------------- */

void solid_make_random(carom_random *random, solid_mesh *mesh) {
    mesh->vertices = mesh->faces = 0;
    switch (test_below(random, 8)) {
    case 0:
        mesh->kind = "box";
        make_boxes(random, mesh);
        break;
    case 1:
        mesh->kind = "nested";
        make_nested(random, mesh);
        break;
    case 2:
        mesh->kind = "tetrahedron";
        make_points(random, mesh, 4);
        break;
    case 3:
        mesh->kind = "hull";
        make_points(random, mesh, 5 + test_below(random, 8));
        break;
    case 4:
        mesh->kind = "large hull";
        make_points(random, mesh, 40 + test_below(random, 80));
        break;
    case 5:
        mesh->kind = "cubes";
        make_cubes(random, mesh);
        break;
    case 6:
        mesh->kind = "prism";
        make_prism(random, mesh);
        break;
    default: {
        double by[3] = {13, 0, 0};
        static solid_mesh other;
        mesh->kind = "two shells";
        make_points(random, mesh, 4 + test_below(random, 6));
        other.vertices = other.faces = 0;
        make_boxes(random, &other);
        solid_move(&other, (double[3]){17, 0, 0});
        solid_append(mesh, &other);
        solid_scale(mesh, test_below(random, 2) == 0 ? 0.5 : 1.0);
        by[0] = -4;
        solid_move(mesh, by);
        break;
    }
    }
    if (test_below(random, 2) == 0) solid_rotate(mesh, test_below(random, 24));
}

void solid_make_small(carom_random *random, uint32_t most, solid_mesh *mesh) {
    do {
        solid_make_random(random, mesh);
    } while (mesh->faces > most);
}

/* ---- changes --------------------------------------------------------------------------------- */

void solid_move(solid_mesh *mesh, const double by[3]) {
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k) mesh->xyz[v][k] += by[k];
}

void solid_scale(solid_mesh *mesh, double by) {
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k) mesh->xyz[v][k] *= by;
}

void solid_rotation(uint32_t which, int rotation[3][3]) {
    uint32_t first = which % 3,
             second = which / 3 % 2; /* where x goes, and in which order the rest */
    int sign_x = which / 6 % 2 == 0 ? 1 : -1, sign_y = which / 12 % 2 == 0 ? 1 : -1;
    uint32_t y = (first + 1 + second) % 3, z = (first + 2 - second) % 3;
    memset(rotation, 0, 9 * sizeof(int));
    rotation[first][0] = sign_x;
    rotation[y][1] = sign_y;
    rotation[z][2] = sign_x * sign_y * (second == 0 ? 1 : -1);
}

void solid_rotate(solid_mesh *mesh, uint32_t which) {
    int r[3][3];
    solid_rotation(which, r);
    for (uint32_t v = 0; v < mesh->vertices; ++v) {
        double p[3] = {mesh->xyz[v][0], mesh->xyz[v][1], mesh->xyz[v][2]};
        for (int k = 0; k < 3; ++k)
            mesh->xyz[v][k] = r[k][0] * p[0] + r[k][1] * p[1] + r[k][2] * p[2];
    }
}

void solid_flip(solid_mesh *mesh) {
    for (uint32_t f = 0; f < mesh->faces; ++f) {
        uint32_t swap = mesh->corners[3 * f];
        mesh->corners[3 * f] = mesh->corners[3 * f + 1];
        mesh->corners[3 * f + 1] = swap;
    }
}

void solid_append(solid_mesh *mesh, const solid_mesh *other) {
    uint32_t first = mesh->vertices;
    for (uint32_t v = 0; v < other->vertices; ++v)
        add_vertex(mesh, other->xyz[v][0], other->xyz[v][1], other->xyz[v][2]);
    for (uint32_t f = 0; f < other->faces; ++f) {
        const uint32_t *c = &other->corners[3 * f];
        add_face(mesh, first + c[0], first + c[1], first + c[2]);
    }
}

/* Corner k + 2 of every face with the edge from a to b, either way, gets two faces instead. */
static void split_edge(solid_mesh *mesh, uint32_t a, uint32_t b) {
    uint32_t middle = add_vertex(mesh, 0.5 * (mesh->xyz[a][0] + mesh->xyz[b][0]),
                                 0.5 * (mesh->xyz[a][1] + mesh->xyz[b][1]),
                                 0.5 * (mesh->xyz[a][2] + mesh->xyz[b][2]));
    for (uint32_t f = 0, count = mesh->faces; f < count; ++f) {
        uint32_t *c = &mesh->corners[3 * f];
        for (int k = 0; k < 3; ++k) {
            int n = (k + 1) % 3, o = (k + 2) % 3;
            if (!((c[k] == a && c[n] == b) || (c[k] == b && c[n] == a))) continue;
            add_face(mesh, middle, c[n], c[o]);
            c[n] = middle;
            break;
        }
    }
}

void solid_split(carom_random *random, solid_mesh *mesh, uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) {
        uint32_t f = test_below(random, mesh->faces), k = test_below(random, 3),
                 *c = &mesh->corners[3 * f];
        bool fine = false; /* quarters stay quarters */
        double point[3];
        for (int j = 0; j < 3; ++j) {
            const double x[3] = {mesh->xyz[c[0]][j], mesh->xyz[c[1]][j], mesh->xyz[c[2]][j]};
            double a = 2 * x[k], b = 2 * x[(k + 1) % 3];
            point[j] = 0.25 * (x[k] + x[k]) + 0.25 * (x[(k + 1) % 3] + x[(k + 2) % 3]);
            fine = fine || a != (double)(int64_t)a || b != (double)(int64_t)b;
        }
        if (fine) continue;
        if (test_below(random, 2) == 0) {
            split_edge(mesh, c[k], c[(k + 1) % 3]);
            continue;
        }
        for (int j = 0; j < 3; ++j) fine = fine || 4 * point[j] != (double)(int64_t)(4 * point[j]);
        if (fine) continue;
        uint32_t p = add_vertex(mesh, point[0], point[1], point[2]);
        uint32_t a = c[0], b = c[1], d = c[2];
        c[2] = p;
        add_face(mesh, b, d, p);
        add_face(mesh, d, a, p);
    }
}

void solid_slit(carom_random *random, solid_mesh *mesh, uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) {
        uint32_t f = test_below(random, mesh->faces), k = test_below(random, 3),
                 *c = &mesh->corners[3 * f];
        uint32_t a = c[k], b = c[(k + 1) % 3], apex = c[(k + 2) % 3];
        const double *p = mesh->xyz[a], *q = mesh->xyz[b];
        bool fine = false; /* halves stay halves */
        for (int j = 0; j < 3; ++j) fine = fine || p[j] + q[j] != (double)(int64_t)(p[j] + q[j]);
        if (fine) continue;
        uint32_t m =
            add_vertex(mesh, 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2]));
        c[(k + 1) % 3] = m;
        add_face(mesh, m, b, apex);
        add_face(mesh, a, b, m);
    }
}

void solid_unweld(solid_mesh *mesh) {
    static solid_mesh apart;
    apart.vertices = 0;
    for (uint32_t i = 0; i < 3 * mesh->faces; ++i) {
        const double *p = mesh->xyz[mesh->corners[i]];
        apart.corners[i] = add_vertex(&apart, p[0], p[1], p[2]);
    }
    apart.faces = mesh->faces;
    apart.kind = mesh->kind;
    *mesh = apart;
}

carom_pose solid_lattice_shift(carom_random *random, uint32_t most) {
    carom_pose pose = {0};
    pose.t.x = (double)test_below(random, 2 * most + 1) - most;
    pose.t.y = (double)test_below(random, 2 * most + 1) - most;
    pose.t.z = (double)test_below(random, 2 * most + 1) - most;
    return pose;
}

carom_pose solid_lattice_turn(carom_random *random, uint32_t shift) {
    carom_pose pose = solid_lattice_shift(random, shift);
    do {
        pose.q.w = (double)test_below(random, 3) - 1;
        pose.q.x = (double)test_below(random, 3) - 1;
        pose.q.y = (double)test_below(random, 3) - 1;
        pose.q.z = (double)test_below(random, 3) - 1;
    } while (pose.q.w == 0.0 && pose.q.x == 0.0 && pose.q.y == 0.0 && pose.q.z == 0.0);
    return pose;
}
