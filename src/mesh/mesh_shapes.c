/* SPDX-License-Identifier: MIT */
/* The table of shapes (defaults, limits), and the sketch that the generators fill. */
#include "mesh/mesh_shapes.h"

#include <inttypes.h>
#include <math.h>

#include "base/names.h"
#include "base/progress.h"

typedef struct shape_row {
    carom_shape_fn *make;
    uint64_t detail, least_detail, parts;
    double ratio, most_ratio;
    bool has_polygons; /* makes general polygons, triangulated unless polygons are wanted */
    bool below_most;   /* most_ratio itself is excluded */
} shape_row;

static const shape_row rows[CAROM_SHAPE_COUNT] = {
    [CAROM_SHAPE_SPHERE] = {carom_shape_sphere, 4, 1, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_GLOBE] = {carom_shape_globe, 32, 3, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_TORUS] = {carom_shape_torus, 48, 3, 1, 0.4, 1.0, false, true},
    [CAROM_SHAPE_BOX] = {carom_shape_box, 1, 1, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_CYLINDER] = {carom_shape_cylinder, 32, 3, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_CONE] = {carom_shape_cone, 32, 3, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_KNOT] = {carom_shape_knot, 256, 3, 1, 0.12, 1.0, false, false},
    [CAROM_SHAPE_CHAZELLE] = {carom_shape_chazelle, 8, 1, 1, 1.0, HUGE_VAL, true, false},
    [CAROM_SHAPE_CLOTH] = {carom_shape_cloth, 100, 1, 1, 1.0, HUGE_VAL, false, false},
    [CAROM_SHAPE_CHAIN] = {carom_shape_chain, 32, 3, 8, 0.2, 0.25, false, false},
    [CAROM_SHAPE_SHARDS] = {carom_shape_shards, 1, 1, 32, 0.02, 1.0, true, true},
    [CAROM_SHAPE_GRID] = {carom_shape_grid, 10, 1, 1, 1.0, HUGE_VAL, false, false},
};

CAROM_ENUM_NAMES(carom_shape, CAROM_SHAPE_COUNT, "sphere", "globe", "torus", "box", "cylinder",
                 "cone", "knot", "chazelle", "cloth", "chain", "shards", "grid");

/* ---- Sketch ---------------------------------------------------------------------------------- */

carom_status carom_shape_check_counts(carom_context *context, const carom_shape_def *def,
                                      double vertices, double faces) {
    if (vertices <= (double)CAROM_MESH_MOST_VERTICES && faces <= (double)UINT32_MAX)
        return CAROM_OK;
    return carom_fail(context, CAROM_TOO_LARGE,
                      "this %s would have %.0f vertices and %.0f faces; at most %" PRIu32
                      " of each can be numbered",
                      carom_shape_name(def->shape), vertices, faces, UINT32_MAX);
}

carom_status carom_sketch_begin(carom_sketch *sketch, double vertices, double quads, double others,
                                double other_corners) {
    bool split = !sketch->def->polygons;
    double faces = (split ? 2.0 * quads : quads) + others;
    double corners = (split ? 6.0 * quads : 4.0 * quads) + other_corners;
    CAROM_TRY(carom_shape_check_counts(sketch->context, sketch->def, vertices, faces));
    carom_mesh_allocation allocation = {.scalar = sketch->def->scalar,
                                        .vertices = (uint64_t)vertices,
                                        .faces = (uint64_t)faces,
                                        .corners = (uint64_t)corners,
                                        .polygons = corners != 3.0 * faces};
    CAROM_TRY(carom_mesh_reserve(sketch->context, &allocation, &sketch->mesh));
    if (allocation.polygons) sketch->mesh->offsets[0] = 0;
    return CAROM_OK;
}

uint32_t carom_sketch_vertex(carom_sketch *sketch, carom_vec3 p) {
    carom_mesh_put(sketch->mesh, sketch->vertices, p);
    return (uint32_t)sketch->vertices++;
}

bool carom_sketch_stop(carom_sketch *sketch) {
    return carom_progress_stop(sketch->context, 0);
}

void carom_sketch_face(carom_sketch *sketch, const uint32_t *corners, uint64_t count) {
    memcpy(sketch->mesh->corners + sketch->corners, corners, count * sizeof(*corners));
    sketch->corners += count;
    ++sketch->faces;
    if (sketch->mesh->offsets != NULL) sketch->mesh->offsets[sketch->faces] = sketch->corners;
}

void carom_sketch_triangle(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c) {
    uint32_t corners[3] = {(uint32_t)a, (uint32_t)b, (uint32_t)c};
    carom_sketch_face(sketch, corners, 3);
}

void carom_sketch_quad(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint32_t corners[4] = {(uint32_t)a, (uint32_t)b, (uint32_t)c, (uint32_t)d};
    if (sketch->def->polygons) {
        carom_sketch_face(sketch, corners, 4);
    } else {
        carom_sketch_triangle(sketch, a, b, c);
        carom_sketch_triangle(sketch, a, c, d);
    }
}

/* ---- Mesh from def --------------------------------------------------------------------------- */

/* Replaces zeros by defaults. */
static carom_shape_def complete(const carom_shape_def *def) {
    carom_shape_def full = {0};
    if (def != NULL) full = *def;
    const shape_row *row = &rows[full.shape];
    if (full.detail == 0) full.detail = row->detail;
    if (full.parts == 0) full.parts = row->parts;
    if (full.size == 0.0) full.size = 1.0;
    if (full.ratio == 0.0) full.ratio = row->ratio;
    if (full.p == 0) full.p = 2;
    if (full.q == 0) full.q = 3;
    return full;
}

/* As exponents of two, of sizes and ratios: products of two are normal numbers. */
#define SHAPES_FLOAT_BITS  60
#define SHAPES_DOUBLE_BITS 500

static carom_status mesh_shapes_check(carom_context *context, const carom_shape_def *def) {
    const shape_row *row = &rows[def->shape];
    /* Sizes and ratios whose products with one another and with counts stay in range. */
    bool narrow = def->scalar == CAROM_SCALAR_FLOAT32 || def->shape == CAROM_SHAPE_CLOTH;
    int bits = narrow ? SHAPES_FLOAT_BITS : SHAPES_DOUBLE_BITS;
    double limit = ldexp(1.0, bits), most = fmin(row->most_ratio, limit);
    if (!(def->size >= 1.0 / limit && def->size <= limit))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "size %g of a %s; it must be from 2^-%d to 2^%d%s", def->size,
                          carom_shape_name(def->shape), bits, bits, narrow ? " for float32" : "");
    if (!(def->ratio > 0.0 && def->ratio <= most) || (row->below_most && def->ratio == most))
        return carom_fail(
            context, CAROM_BAD_INPUT, "ratio %g of a %s; it must be positive and %s %g", def->ratio,
            carom_shape_name(def->shape), row->below_most ? "below" : "at most", most);
    if (def->shape == CAROM_SHAPE_CLOTH && !isfinite(def->phase))
        return carom_fail(context, CAROM_BAD_INPUT, "phase %g of a cloth; it must be finite",
                          def->phase);
    if (def->detail < row->least_detail)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "detail %" PRIu64 " of a %s; it must be at least %" PRIu64, def->detail,
                          carom_shape_name(def->shape), row->least_detail);
    uint32_t p = def->p, q = def->q;
    while (q != 0) {
        uint32_t rest = p % q;
        p = q;
        q = rest;
    }
    if (def->shape == CAROM_SHAPE_KNOT && p != 1)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a knot of %" PRIu32 " and %" PRIu32
                          " turns meets itself; they must have no common factor",
                          def->p, def->q);
    return CAROM_OK;
}

carom_status carom_shape_complete(carom_context *context, const carom_shape_def *def,
                                  carom_shape_def *full) {
    if (def != NULL) CAROM_REQUIRE_KNOWN(def->shape, CAROM_SHAPE_COUNT, "shape");
    if (def != NULL) CAROM_REQUIRE_KNOWN(def->scalar, CAROM_SCALAR_COUNT, "scalar type");
    *full = complete(def);
    return mesh_shapes_check(context, full);
}

carom_status carom_shape_make(carom_context *context, const carom_shape_def *def,
                              carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    carom_shape_def full;
    *mesh = NULL;
    CAROM_TRY(carom_shape_complete(context, def, &full));
    const shape_row *row = &rows[full.shape];
    carom_sketch sketch = {.context = context, .def = &full};
    carom_progress_begin(context, "making a shape", 0);
    carom_status status = carom_progress_finish(context, row->make(&sketch));
    if (status == CAROM_OK && row->has_polygons && !full.polygons) {
        carom_mesh *polygons = sketch.mesh;
        carom_mesh_view view;
        sketch.mesh = NULL;
        status = carom_mesh_get_view(polygons, &view);
        if (status == CAROM_OK)
            status = carom_mesh_triangulate(context, &view, NULL, &sketch.mesh, NULL);
        carom_mesh_destroy(polygons);
    }
    if (status != CAROM_OK) {
        carom_mesh_destroy(sketch.mesh);
        return status;
    }
    *mesh = sketch.mesh;
    return CAROM_OK;
}
