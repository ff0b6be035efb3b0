/* SPDX-License-Identifier: MIT */
/* Round shapes made of bands: globe, cylinder, cone, and the tubes torus, chain and knot. A band is
 * a row of quads between two rings. Rings close by their indices, so no seam has to be welded. */
#include "base/item.h"
#include "base/math.h"
#include "mesh/mesh_shapes.h"

/* Adds the band between the rings of n vertices that start at a and b. It faces outward when b lies
 * above a and the rings run counter-clockwise. */
static void put_band(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t k = i + 1 < n ? i + 1 : 0;
        carom_sketch_quad(sketch, a + i, a + k, b + k, b + i);
    }
}

static void put_ring(carom_sketch *sketch, uint64_t n, double radius, double z) {
    for (uint64_t i = 0; i < n; ++i) {
        double angle = CAROM_TURN * (double)i / (double)n;
        carom_sketch_vertex(sketch,
                            carom_vec(radius * carom_cos(angle), radius * carom_sin(angle), z));
    }
}

/* ---- Globe, cylinder, cone ------------------------------------------------------------------- */

carom_status carom_shape_globe(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail, bands = CAROM_MAX(n / 2, 2);
    double size = sketch->def->size, around = (double)n, rings = (double)bands - 1.0;
    CAROM_TRY(carom_sketch_begin(sketch, 2.0 + rings * around, (rings - 1.0) * around, 2.0 * around,
                                 6.0 * around));
    uint32_t south = carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, -size));
    for (uint64_t k = 1; k < bands && !carom_sketch_stop(sketch); ++k) {
        double angle = 0.5 * CAROM_TURN * (double)k / (double)bands;
        put_ring(sketch, n, size * carom_sin(angle), -size * carom_cos(angle));
    }
    uint32_t north = carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, size));
    uint64_t first = 1, last = 1 + (bands - 2) * n;
    for (uint64_t i = 0; i < n; ++i)
        carom_sketch_triangle(sketch, south, first + (i + 1) % n, first + i);
    for (uint64_t k = 0; k + 2 < bands && !carom_sketch_stop(sketch); ++k)
        put_band(sketch, first + k * n, first + (k + 1) * n, n);
    for (uint64_t i = 0; i < n; ++i)
        carom_sketch_triangle(sketch, last + i, last + (i + 1) % n, north);
    return CAROM_OK;
}

/* A disc over the ring at `ring`, facing up or down: one polygon, or triangles around `centre`. */
static carom_status put_disc(carom_sketch *sketch, uint64_t ring, uint64_t n, uint64_t centre,
                             bool up) {
    if (!sketch->def->polygons) {
        for (uint64_t i = 0; i < n; ++i) {
            uint64_t k = (i + 1) % n;
            carom_sketch_triangle(sketch, ring + (up ? i : k), ring + (up ? k : i), centre);
        }
        return CAROM_OK;
    }
    carom_arena *scratch = carom_scratch(sketch->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *corners = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    if (corners == NULL) return carom_fail_memory(sketch->context, 4 * n, "a disc");
    for (uint64_t i = 0; i < n; ++i) corners[i] = (uint32_t)(ring + (up ? i : n - 1 - i));
    carom_sketch_face(sketch, corners, n);
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

carom_status carom_shape_cylinder(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail;
    double around = (double)n, radius = sketch->def->size, z = radius * sketch->def->ratio;
    bool polygons = sketch->def->polygons;
    CAROM_TRY(carom_sketch_begin(sketch, 2.0 * around + (polygons ? 0.0 : 2.0), around,
                                 polygons ? 2.0 : 2.0 * around,
                                 polygons ? 2.0 * around : 6.0 * around));
    put_ring(sketch, n, radius, -z);
    put_ring(sketch, n, radius, z);
    put_band(sketch, 0, n, n);
    if (!polygons) {
        carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, -z));
        carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, z));
    }
    CAROM_TRY(put_disc(sketch, 0, n, 2 * n, false));
    return put_disc(sketch, n, n, 2 * n + 1, true);
}

carom_status carom_shape_cone(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail;
    double around = (double)n, radius = sketch->def->size, z = radius * sketch->def->ratio;
    bool polygons = sketch->def->polygons;
    CAROM_TRY(carom_sketch_begin(sketch, around + (polygons ? 1.0 : 2.0), 0.0,
                                 around + (polygons ? 1.0 : around),
                                 3.0 * around + (polygons ? around : 3.0 * around)));
    put_ring(sketch, n, radius, -z);
    uint32_t tip = carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, z));
    for (uint64_t i = 0; i < n; ++i) carom_sketch_triangle(sketch, i, (i + 1) % n, tip);
    if (!polygons) carom_sketch_vertex(sketch, carom_vec(0.0, 0.0, -z));
    return put_disc(sketch, 0, n, n + 1, false);
}

/* ---- Tubes ----------------------------------------------------------------------------------- */

/* Connects n rings of m vertices from `first` on, and the last ring with the first. The tube faces
 * outward when each ring runs from the outside of the bend over the top. */
static void put_tube(carom_sketch *sketch, uint64_t first, uint64_t n, uint64_t m) {
    for (uint64_t i = 0; i < n && !carom_sketch_stop(sketch); ++i) {
        uint64_t a = first + i * m, b = first + (i + 1 < n ? i + 1 : 0) * m;
        for (uint64_t k = 0; k < m; ++k) {
            uint64_t next = k + 1 < m ? k + 1 : 0;
            carom_sketch_quad(sketch, a + k, b + k, b + next, a + next);
        }
    }
}

/* A torus around z, or around y when `upright`, translated along x. */
static void put_torus(carom_sketch *sketch, uint64_t n, uint64_t m, bool upright, double shift) {
    double ring = sketch->def->size, tube = ring * sketch->def->ratio;
    uint64_t first = sketch->vertices;
    for (uint64_t i = 0; i < n && !carom_sketch_stop(sketch); ++i) {
        double u = CAROM_TURN * (double)i / (double)n;
        for (uint64_t k = 0; k < m; ++k) {
            double v = CAROM_TURN * (double)k / (double)m, reach = ring + tube * carom_cos(v);
            double x = reach * carom_cos(u) + shift, y = reach * carom_sin(u),
                   z = tube * carom_sin(v);
            carom_sketch_vertex(sketch, upright ? carom_vec(x, -z, y) : carom_vec(x, y, z));
        }
    }
    put_tube(sketch, first, n, m);
}

carom_status carom_shape_torus(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail, m = CAROM_MAX(n / 2, 3);
    double count = (double)n * (double)m;
    CAROM_TRY(carom_sketch_begin(sketch, count, count, 0.0, 0.0));
    put_torus(sketch, n, m, false, 0.0);
    return CAROM_OK;
}

#define CHAIN_SPACING 1.4 /* sizes of a ring */

/* With this spacing and tubes of at most a quarter, adjacent rings pass through each
 * other's holes and all others stay clear. */
carom_status carom_shape_chain(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail, m = CAROM_MAX(n / 2, 3), parts = sketch->def->parts;
    double count = (double)n * (double)m * (double)parts;
    CAROM_TRY(carom_sketch_begin(sketch, count, count, 0.0, 0.0));
    for (uint64_t i = 0; i < parts && !carom_sketch_stop(sketch); ++i)
        put_torus(sketch, n, m, i % 2 != 0,
                  CHAIN_SPACING * sketch->def->size * ((double)i - 0.5 * ((double)parts - 1.0)));
    return CAROM_OK;
}

/* Of the torus that a knot winds around, whose other radius is 1. */
#define KNOT_RADIUS 0.4

/* The knot on a torus of tube radius 0.4. The frame follows that torus's normal, so it closes
 * without a twist that would have to be distributed. */
carom_status carom_shape_knot(carom_sketch *sketch) {
    const carom_shape_def *def = sketch->def;
    uint64_t n = def->detail, m = n / 8;
    m = CAROM_MIN(CAROM_MAX(m, 6), 24);
    uint64_t least = 8 * (uint64_t)CAROM_MAX(def->p, def->q);
    if (n < least)
        return carom_fail(sketch->context, CAROM_BAD_INPUT,
                          "detail %llu of a knot; with these turns it must be at least %llu",
                          (unsigned long long)n, (unsigned long long)least);
    double count = (double)n * (double)m, p = (double)def->p, q = (double)def->q;
    CAROM_TRY(carom_sketch_begin(sketch, count, count, 0.0, 0.0));
    for (uint64_t i = 0; i < n && !carom_sketch_stop(sketch); ++i) {
        double t = CAROM_TURN * (double)i / (double)n;
        double cu = carom_cos(p * t), su = carom_sin(p * t), cv = carom_cos(q * t),
               sv = carom_sin(q * t);
        double reach = 1.0 + KNOT_RADIUS * cv;
        carom_vec3 centre = carom_vec(reach * cu, reach * su, KNOT_RADIUS * sv);
        carom_vec3 along =
            carom_vec(-KNOT_RADIUS * q * sv * cu - p * reach * su,
                      -KNOT_RADIUS * q * sv * su + p * reach * cu, KNOT_RADIUS * q * cv);
        carom_vec3 normal = carom_vec(cv * cu, cv * su, sv); /* perpendicular to `along` */
        carom_vec3 side = carom_vec_cross(normal, along);
        side = carom_vec_scale(side, 1.0 / carom_vec_length(side));
        for (uint64_t k = 0; k < m; ++k) {
            double v = CAROM_TURN * (double)k / (double)m, tube = def->ratio;
            carom_vec3 offset = carom_vec_add(carom_vec_scale(normal, tube * carom_cos(v)),
                                              carom_vec_scale(side, tube * carom_sin(v)));
            carom_sketch_vertex(sketch, carom_vec_scale(carom_vec_add(centre, offset), def->size));
        }
    }
    put_tube(sketch, 0, n, m);
    return CAROM_OK;
}
