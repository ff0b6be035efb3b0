/* SPDX-License-Identifier: MIT */
/* The demo's section on meshes: generated shapes, and the results of inspecting them. */
#include <stdio.h>

#include "cli/demo.h"
#include "cli/picture.h"

typedef struct exhibit {
    carom_shape_def def;
    const char *words;
} exhibit;

static const exhibit exhibits[] = {
    {{.shape = CAROM_SHAPE_SPHERE, .detail = 3}, "Sphere: an icosahedron, subdivided."},
    {{.shape = CAROM_SHAPE_TORUS, .detail = 32, .polygons = true}, "Torus."},
    {{.shape = CAROM_SHAPE_KNOT, .detail = 160, .polygons = true},
     "Knot: a tube around a torus knot."},
    {{.shape = CAROM_SHAPE_CHAZELLE, .detail = 5, .polygons = true},
     "Chazelle's polyhedron: wedges from both sides whose edges lie on one paraboloid."},
    {{.shape = CAROM_SHAPE_CLOTH, .detail = 32, .polygons = true}, "Cloth: it crosses itself."},
    {{.shape = CAROM_SHAPE_CHAIN, .detail = 20, .parts = 5, .polygons = true}, "Chain of rings."},
    {{.shape = CAROM_SHAPE_SHARDS, .parts = 40, .ratio = 0.16, .polygons = true},
     "Shattered block: convex shards."},
    {{.shape = CAROM_SHAPE_CYLINDER, .detail = 24, .polygons = true}, "Cylinder."},
};

static void add_row(page *page, const char *name, const carom_mesh_report *r) {
    char vertices[24], faces[24], shells[24], volume[32], area[32];
    snprintf(vertices, sizeof(vertices), "%llu", (unsigned long long)r->vertices);
    snprintf(faces, sizeof(faces), "%llu", (unsigned long long)r->faces);
    snprintf(shells, sizeof(shells), "%llu", (unsigned long long)r->shells);
    snprintf(volume, sizeof(volume), "%.15g", r->volume);
    snprintf(area, sizeof(area), "%.9g", r->area);
    const char *const cells[] = {
        name, vertices, faces, shells, r->closed ? "yes" : "no", r->closed ? volume : "", area};
    page_row(page, cells, 7);
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"shape",  "vertices", "faces", "shells",
                                        "closed", "volume",   "area"};
    enum { COUNT = sizeof(exhibits) / sizeof(exhibits[0]) };
    carom_context *context = demo->cli->context;
    carom_mesh_report reports[COUNT];
    uint64_t closed = 0, faces = 0;
    page_section(
        &demo->page, "Meshes",
        "Shapes by formula. Inspecting them counts edges and shells, finds degenerate and "
        "duplicate faces exactly, and gives the volume without any rounding but the last.");
    for (size_t i = 0; i < COUNT; ++i) {
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_status status = carom_shape_make(context, &exhibits[i].def, &mesh);
        if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
        if (status == CAROM_OK) status = carom_mesh_inspect(context, &view, &reports[i]);
        if (status == CAROM_OK) {
            picture_def look = {.closed = reports[i].closed, .colour = i % 4};
            status = picture_draw(&demo->page, &view, &look, exhibits[i].words);
        }
        carom_mesh_destroy(mesh);
        if (status != CAROM_OK) return status;
        closed += reports[i].closed;
        faces += reports[i].faces;
    }
    page_begin_table(&demo->page, heads, 7);
    for (size_t i = 0; i < COUNT; ++i)
        add_row(&demo->page, carom_shape_name(exhibits[i].def.shape), &reports[i]);
    page_end_table(&demo->page);
    snprintf(demo->result, sizeof(demo->result), "%d shapes of %llu faces, %llu of them closed",
             (int)COUNT, (unsigned long long)faces, (unsigned long long)closed);
    return CAROM_OK;
}

const demo_part demo_mesh = {20, "mesh", "shapes, and what inspecting them finds", run};
