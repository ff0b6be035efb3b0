/* SPDX-License-Identifier: MIT */
/* Sums over all pairs of tetrahedra, on integers as long as the coordinates need. */
#include "tests/support/solid_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct terms_mesh {
    uint64_t triangle_count;
    struct {
        double x[3][3];
    } * corners;
} terms_mesh;

/* A cone over a piece of one face. */
typedef struct terms_piece {
    quad volume, moment[3];
    quad area, vector[3], turn[3]; /* of the piece of the face: vector area, its moment x cross n */
    quad share, first[3];          /* integrals of 1 and of x, in areas of the face, times 1/2 */
} terms_piece;

/* The part of a face inside the other mesh: integrals as in a piece. */
typedef struct terms_share {
    quad share, first[3];
} terms_share;

/* A mesh's faces inside the other. */
typedef struct terms_faces {
    quad area, vector[3], turn[3];
    terms_share *each; /* per face; NULL: not wanted */
} terms_faces;

typedef struct terms_sum {
    quad volume, moment[3], coincident;
    terms_faces a, b;
} terms_sum;

static void terms_add_volume(terms_sum *sum, const terms_piece *piece, int sign) {
    sum->volume += sign * piece->volume;
    for (int k = 0; k < 3; ++k) sum->moment[k] += sign * piece->moment[k];
}

/* `other` is the sign of the other mesh's tetrahedron: how often it covers the piece. `own` tells
 * whether the face looks away from the apex. */
static void terms_add_face(terms_faces *faces, uint64_t face, const terms_piece *piece, int other,
                           int own, quad share) {
    faces->area += share * other * piece->area;
    if (faces->each != NULL) {
        faces->each[face].share += share * other * piece->share;
        for (int k = 0; k < 3; ++k) faces->each[face].first[k] += share * other * piece->first[k];
    }
    for (int k = 0; k < 3; ++k) {
        faces->vector[k] += share * (other * own) * piece->vector[k];
        faces->turn[k] += share * (other * own) * piece->turn[k];
    }
}

#define BIG_WORDS 5
#define BIG(name) short_##name
#include "tests/support/solid_terms.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 22
#define BIG(name) long_##name
#include "tests/support/solid_terms.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 36
#define BIG(name) longest_##name
#include "tests/support/solid_terms.h"
#undef BIG_WORDS
#undef BIG

#define MOST_SHORT_BITS   15 /* 18 (k + 2) < 64 * 5, and so on */
#define MOST_LONG_BITS    75
#define MOST_LONGEST_BITS 125

static terms_mesh mesh_of(const carom_mesh_view *view) {
    assert_true(view->scalar == CAROM_SCALAR_FLOAT64 && view->stride == 0 && view->offsets == NULL);
    terms_mesh mesh = {.triangle_count = view->face_count};
    mesh.corners = malloc((view->face_count + 1) * sizeof(*mesh.corners));
    assert_non_null(mesh.corners);
    const double *positions = view->positions;
    for (uint64_t i = 0; i < 9 * view->face_count; ++i)
        mesh.corners[i / 9].x[i % 9 / 3][i % 3] = positions[3 * view->corners[i / 3] + i % 3];
    return mesh;
}

static int lowest_bit(double x) {
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53);
    exponent -= 53;
    for (; mantissa != 0 && mantissa % 2 == 0; mantissa /= 2) ++exponent;
    return exponent;
}

typedef struct extent {
    double low[3], high[3];
    int lowest; /* bit of any coordinate */
} extent;

static void extend(extent *e, const terms_mesh *mesh) {
    for (uint64_t i = 0; i < 9 * mesh->triangle_count; ++i) {
        double x = mesh->corners[i / 9].x[i % 9 / 3][i % 3];
        e->low[i % 3] = fmin(e->low[i % 3], x);
        e->high[i % 3] = fmax(e->high[i % 3], x);
        if (x == 0.0) continue;
        int bit = lowest_bit(x);
        if (bit < e->lowest) e->lowest = bit;
    }
}

static extent common_extent(const terms_mesh *a, const terms_mesh *b) {
    extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 1023}, f = e;
    extend(&e, a);
    extend(&f, b);
    for (int k = 0; k < 3; ++k) {
        e.low[k] = fmax(e.low[k], f.low[k]);
        e.high[k] = fmin(e.high[k], f.high[k]);
    }
    return e;
}

/* From apex-relative units to the world. */
static void finish(const terms_sum *sum, const double apex[3], int base, solid_truth *truth) {
    quad unit = ldexp(1.0, base), area = unit * unit, volume = area * unit;
    truth->volume = sum->volume * volume;
    truth->area = (sum->a.area + sum->b.area) * area;
    truth->coincident = sum->coincident * area;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        const quad *v = sum->b.vector;
        truth->moment[k] = sum->moment[k] * volume * unit + truth->volume * apex[k];
        truth->force[k] = -v[k] * area;
        truth->torque[k] = -(sum->b.turn[k] * volume + (apex[i] * v[j] - apex[j] * v[i]) * area);
    }
}

/* The forces on the vertices of a mesh. The force on a corner is minus the face's normal (twice its
 * area) times the integral of the corner's barycentric coordinate. */
static void finish_forces(const terms_mesh *mesh, const uint32_t *corners, const terms_share *each,
                          const double apex[3], int base, quad (*forces)[3]) {
    quad unit = ldexp(1.0, base);
    for (uint64_t f = 0; f < mesh->triangle_count; ++f) {
        double(*x)[3] = mesh->corners[f].x;
        quad u[3], v[3], r[3], n[3], square = 0, parts[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k) {
            u[k] = ((quad)x[1][k] - x[0][k]) / unit;
            v[k] = ((quad)x[2][k] - x[0][k]) / unit;
            r[k] = each[f].first[k] - each[f].share * ((quad)x[0][k] - apex[k]) / unit;
        }
        for (int k = 0; k < 3; ++k) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            n[k] = u[i] * v[j] - u[j] * v[i];
            square += n[k] * n[k];
        }
        if (!(square > 0)) continue;
        for (int k = 0; k < 3; ++k) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            parts[1] += (r[i] * v[j] - r[j] * v[i]) * n[k] / square;
            parts[2] += (u[i] * r[j] - u[j] * r[i]) * n[k] / square;
        }
        parts[0] = each[f].share - parts[1] - parts[2];
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                forces[corners[3 * f + (uint64_t)j]][k] -= parts[j] * n[k] * unit * unit;
    }
}

/* Forces on the vertices of a and of b, where they are wanted. */
static void compare(const carom_mesh_view *a, const carom_mesh_view *b, solid_truth *truth,
                    quad (*const forces[2])[3]) {
    terms_mesh mesh_a = mesh_of(a), mesh_b = mesh_of(b);
    extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 1023};
    extend(&e, &mesh_a);
    extend(&e, &mesh_b);
    double size = 0.0;
    for (int k = 0; k < 3; ++k) size = fmax(size, e.high[k] - e.low[k]);
    *truth = (solid_truth){0};
    if (!(size > 0.0)) goto done;
    carom_random random = {1};
    int base = e.lowest - 3, bits = ilogb(size) + 2 - base;
    assert_true(bits <= MOST_LONGEST_BITS);
    /* Near the middle of what the boxes have in common, so that terms are no larger than the
     * smaller solid, but on no face's plane: coordinates that are odd eighths of the unit, or of
     * 2^-20 of the size where that is coarser. */
    extent common = common_extent(&mesh_a, &mesh_b);
    double part = 0.0;
    for (int k = 0; k < 3; ++k) part = fmax(part, common.high[k] - common.low[k]);
    int step = !(part > 0.0) || base > ilogb(part) - 20 ? base : ilogb(part) - 20;
    for (int attempt = 0;; ++attempt) {
        double apex[3];
        terms_sum sum = {0};
        assert_true(attempt < 100);
        if (forces != NULL) {
            sum.a.each = calloc(a->face_count + 1, sizeof(*sum.a.each));
            sum.b.each = calloc(b->face_count + 1, sizeof(*sum.b.each));
            assert_true(sum.a.each != NULL && sum.b.each != NULL);
        }
        for (int k = 0; k < 3; ++k) {
            double middle = common.low[k] + (common.high[k] - common.low[k]) * 0.5;
            double steps = floor(ldexp(middle, -step) / 8) * 8;
            /* wider after a while, for faces that lie in one plane with all near points */
            steps += 1.0 + 2.0 * (double)(carom_random_next(&random) % (attempt < 20 ? 4 : 4096));
            apex[k] = ldexp(steps, step);
        }
        bool good =
            bits <= MOST_SHORT_BITS  ? short_terms_sum_pairs(&mesh_a, &mesh_b, apex, base, &sum)
            : bits <= MOST_LONG_BITS ? long_terms_sum_pairs(&mesh_a, &mesh_b, apex, base, &sum)
                                     : longest_terms_sum_pairs(&mesh_a, &mesh_b, apex, base, &sum);
        if (good) {
            finish(&sum, apex, base, truth);
            if (forces != NULL) {
                finish_forces(&mesh_a, a->corners, sum.a.each, apex, base, forces[0]);
                finish_forces(&mesh_b, b->corners, sum.b.each, apex, base, forces[1]);
            }
        }
        free(sum.a.each);
        free(sum.b.each);
        if (good) break;
    }
done:
    free(mesh_a.corners);
    free(mesh_b.corners);
}

void solid_oracle(const carom_mesh_view *a, const carom_mesh_view *b, solid_truth *truth) {
    compare(a, b, truth, NULL);
}

void solid_oracle_forces(const carom_mesh_view *a, const carom_mesh_view *b, solid_truth *truth,
                         quad (*on_a)[3], quad (*on_b)[3]) {
    quad(*const forces[2])[3] = {on_a, on_b};
    memset(on_a, 0, a->vertex_count * sizeof(*on_a));
    memset(on_b, 0, b->vertex_count * sizeof(*on_b));
    compare(a, b, truth, forces);
}

quad solid_oracle_volume(const carom_mesh_view *view) {
    terms_mesh mesh = mesh_of(view);
    extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 1023};
    extend(&e, &mesh);
    longest_int sum = longest_from(0);
    for (uint64_t f = 0; f < mesh.triangle_count; ++f) {
        longest_vec corners[3];
        for (int k = 0; k < 9; ++k)
            corners[k / 3].x[k % 3] =
                longest_sub(longest_from_double(mesh.corners[f].x[k / 3][k % 3], e.lowest),
                            longest_from_double(e.low[k % 3], e.lowest));
        longest_vec across = longest_vec_cross(&corners[0], &corners[1]);
        sum = longest_add(sum, longest_vec_dot(&across, &corners[2]));
    }
    free(mesh.corners);
    quad unit = ldexp(1.0, e.lowest);
    return mesh.triangle_count == 0 ? 0 : longest_to_quad(sum) / 6 * unit * unit * unit;
}
