/* SPDX-License-Identifier: MIT */
/* Seeded lattice soups. */
#include "tests/support/lattice.h"

#include "tests/support/test.h"

static void random_position(carom_random *random, uint32_t size, bool flat, double *xyz) {
    for (int k = 0; k < 3; ++k) xyz[k] = (double)test_below(random, size);
    if (flat) xyz[2] = xyz[0] + 1.0; /* askew, so that no axis is special */
}

static void add_face(lattice_soup *soup, const uint32_t *corners, uint32_t count) {
    uint64_t at = soup->offsets[soup->faces];
    for (uint32_t i = 0; i < count; ++i) soup->corners[at + i] = corners[i];
    soup->offsets[++soup->faces] = at + count;
}

static void make_loose(carom_random *random, uint32_t faces, uint32_t size, lattice_soup *soup) {
    for (uint32_t f = 0; f < faces; ++f) {
        uint32_t corners[3];
        for (int i = 0; i < 3; ++i) {
            corners[i] = soup->vertices++;
            random_position(random, size, soup->kind == LATTICE_FLAT, soup->xyz[corners[i]]);
        }
        add_face(soup, corners, 3);
    }
}

/* Corners from a pool: the same vertex may come twice in a face. */
static void make_shared(carom_random *random, uint32_t faces, uint32_t size, lattice_soup *soup) {
    if (soup->kind == LATTICE_WELDED) {
        uint32_t edge = size < 5 ? size : 4;
        for (uint32_t i = 0; i < edge * edge * edge; ++i) {
            double *xyz = soup->xyz[soup->vertices++];
            xyz[0] = i % edge;
            xyz[1] = (uint32_t)(i / edge % edge);
            xyz[2] = (uint32_t)(i / edge / edge);
        }
    } else {
        soup->vertices = 3 + test_below(random, 3 * faces);
        for (uint32_t i = 0; i < soup->vertices; ++i)
            random_position(random, size, false, soup->xyz[i]);
    }
    for (uint32_t f = 0; f < faces; ++f) {
        uint32_t corners[8], count = soup->polygons ? 3 + test_below(random, 5) : 3;
        for (uint32_t i = 0; i < count; ++i) corners[i] = test_below(random, soup->vertices);
        add_face(soup, corners, count);
    }
}

static void make_copies(carom_random *random, uint32_t faces, uint32_t size, lattice_soup *soup) {
    make_loose(random, (faces + 2) / 3, size, soup);
    while (soup->faces < faces) {
        const uint32_t *from = &soup->corners[3 * test_below(random, soup->faces)];
        uint32_t corners[3], turn = test_below(random, 3), way = test_below(random, 4);
        bool fresh = test_below(random, 2) == 0;
        for (uint32_t i = 0; i < 3; ++i) {
            uint32_t vertex = from[(turn + (way % 2 == 0 ? i : 3 - i)) % 3];
            corners[i] = vertex;
            if (!fresh && (i != 2 || way < 2)) continue; /* keeps the vertex itself */
            corners[i] = soup->vertices++;
            for (int k = 0; k < 3; ++k) soup->xyz[corners[i]][k] = soup->xyz[vertex][k];
            if (way >= 2) soup->xyz[corners[i]][test_below(random, 3)] += 1.0;
        }
        add_face(soup, corners, 3);
    }
}

/* Around a centre, one corner in each of eight directions, near or far. */
static void make_stars(carom_random *random, uint32_t faces, lattice_soup *soup) {
    static const double ways[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                      {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    for (uint32_t f = 0; f < faces; ++f) {
        uint32_t corners[8], count = 0, axis = test_below(random, 3);
        double centre[3], x[2];
        random_position(random, 3, false, centre);
        for (int way = 0; way < 8; ++way) {
            double reach = (double)test_below(random, 4);
            if (reach == 0.0 && way % 3 != 0) continue; /* never fewer than three corners */
            if (reach == 0.0) reach = 1.0;
            x[0] = ways[way][0] * reach;
            x[1] = ways[way][1] * reach;
            corners[count] = soup->vertices++;
            double *xyz = soup->xyz[corners[count++]];
            xyz[axis] = centre[axis];
            xyz[(axis + 1) % 3] = centre[(axis + 1) % 3] + x[0];
            xyz[(axis + 2) % 3] = centre[(axis + 2) % 3] + x[1];
        }
        add_face(soup, corners, count);
    }
}

void lattice_make(carom_random *random, lattice_soup *soup) {
    static const uint32_t most[] = {5, 5, 6, 6, 8, 8, 10, 12, 20, LATTICE_FACES};
    uint32_t faces = 2 + test_below(random, most[test_below(random, COUNT_OF(most))] - 1);
    uint32_t size = 2 + test_below(random, 5);
    soup->kind = (lattice_kind)test_below(random, LATTICE_KINDS);
    soup->faces = soup->vertices = 0;
    soup->offsets[0] = 0;
    soup->polygons = soup->kind == LATTICE_POLYGONS || soup->kind == LATTICE_STARS;
    switch (soup->kind) {
    case LATTICE_LOOSE:
    case LATTICE_FLAT:
        make_loose(random, faces, size, soup);
        break;
    case LATTICE_COPIES:
        make_copies(random, faces, size, soup);
        break;
    case LATTICE_STARS:
        make_stars(random, faces / 2 + 1, soup);
        break;
    default:
        make_shared(random, soup->polygons ? faces / 2 + 1 : faces, size, soup);
    }
}

void lattice_shake(carom_random *random, lattice_soup *soup) {
    uint32_t size = 2 + test_below(random, 4);
    for (uint32_t i = 0; i < soup->vertices; ++i)
        random_position(random, size, false, soup->xyz[i]);
}

void lattice_move(lattice_soup *soup, double by, double scale) {
    for (uint32_t i = 0; i < soup->vertices; ++i)
        for (int k = 0; k < 3; ++k) soup->xyz[i][k] = (soup->xyz[i][k] + by) * scale;
}

carom_mesh_view lattice_view(const lattice_soup *soup) {
    return (carom_mesh_view){.positions = soup->xyz,
                             .vertex_count = soup->vertices,
                             .corners = soup->corners,
                             .offsets = soup->polygons ? soup->offsets : NULL,
                             .face_count = soup->faces};
}

carom_mesh_view lattice_view_floats(lattice_soup *soup) {
    carom_mesh_view view = lattice_view(soup);
    for (uint32_t i = 0; i < soup->vertices; ++i) {
        for (int k = 0; k < 3; ++k) {
            soup->floats[i][k] = (float)soup->xyz[i][k];
            assert_true((double)soup->floats[i][k] == soup->xyz[i][k]);
        }
    }
    view.positions = soup->floats;
    view.scalar = CAROM_SCALAR_FLOAT32;
    return view;
}

const lattice_guise *lattice_disguise(const lattice_soup *soup, uint32_t number,
                                      lattice_soup *moved, carom_mesh_view *view) {
    static const lattice_guise guises[] = {
        {0.0, 1.0, true},       {1e6, 1.0, false},       {1e6, 1.0, true},
        {0.0, 0x1p300, false},  {0.0, 0x1p-300, false},  {0.0, 0x1p100, true},
        {0.0, 0x1p-100, true},  {-1e6, 0x1p-300, false}, {0.0, 0x1p-1074, false},
        {0.0, 0x1p1020, false}, {0.0, 0x1p-149, true},   {-3.0, 0x1p124, true},
    };
    const lattice_guise *guise = &guises[number % COUNT_OF(guises)];
    *moved = *soup;
    lattice_move(moved, guise->by, guise->scale);
    *view = guise->floats ? lattice_view_floats(moved) : lattice_view(moved);
    return guise;
}
