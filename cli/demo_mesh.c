/* SPDX-License-Identifier: MIT */
/* The tour's stop at meshes: shapes made by formula, drawn far to near, and what inspecting them
 * finds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

/* One face as seen: its corners are points [first, first + count). */
typedef struct seen {
    double depth, light;
    uint64_t first, count;
    bool back; /* we look at its inside */
} seen;

typedef struct exhibit {
    carom_shape_def def;
    const char *words;
} exhibit;

static const exhibit exhibits[] = {
    {{.shape = CAROM_SPHERE, .detail = 3}, "Sphere: an icosahedron, subdivided."},
    {{.shape = CAROM_TORUS, .detail = 32, .polygons = true}, "Torus."},
    {{.shape = CAROM_KNOT, .detail = 160, .polygons = true}, "Knot: a tube around a torus knot."},
    {{.shape = CAROM_CHAZELLE, .detail = 5, .polygons = true},
     "Chazelle's polyhedron: wedges from both sides whose edges lie on one paraboloid."},
    {{.shape = CAROM_CLOTH, .detail = 32, .polygons = true}, "Cloth: it crosses itself."},
    {{.shape = CAROM_CHAIN, .detail = 20, .parts = 5, .polygons = true}, "Chain of rings."},
    {{.shape = CAROM_SHARDS, .parts = 40, .ratio = 0.16, .polygons = true},
     "Shattered block: convex shards."},
    {{.shape = CAROM_CYLINDER, .detail = 24, .polygons = true}, "Cylinder."},
};

static carom_vec3 position_of(const carom_mesh_view *view, uint32_t vertex) {
    const double *p = (const double *)view->positions + 3 * (uint64_t)vertex;
    return (carom_vec3){p[0], p[1], p[2]};
}

/* From above and from the right. */
static carom_vec3 turn(carom_vec3 p) {
    static const double c = 0.82, s = 0.57, up = 0.55, ahead = 0.835;
    double x = c * p.x - s * p.y, y = s * p.x + c * p.y;
    return (carom_vec3){x, ahead * p.z + up * y, up * p.z - ahead * y};
}

static int compare_depth(const void *a, const void *b) {
    double p = ((const seen *)a)->depth, q = ((const seen *)b)->depth;
    return p < q ? -1 : p > q;
}

/* Light and depth of a face from its turned corners. */
static seen look_at(const carom_vec3 *corners, uint64_t first, uint64_t count) {
    seen face = {.first = first, .count = count};
    carom_vec3 n = {0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 a = corners[i], b = corners[(i + 1) % count];
        n.x += (a.y - b.y) * (a.z + b.z);
        n.y += (a.z - b.z) * (a.x + b.x);
        n.z += (a.x - b.x) * (a.y + b.y);
        face.depth += a.z / (double)count;
    }
    double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    double towards = (0.35 * n.x + 0.6 * n.y + 0.72 * n.z) / (length > 0.0 ? length : 1.0);
    face.back = n.z < 0.0;
    face.light = face.back ? fabs(towards) : fmax(towards, 0.0);
    return face;
}

static void paint(page *page, const seen *face, const carom_vec3 *corners, double scale,
                  carom_vec3 middle, size_t colour) {
    double points[128][2];
    uint64_t count = face->count < 128 ? face->count : 128;
    for (uint64_t i = 0; i < count; ++i) {
        points[i][0] = scale * (corners[face->first + i].x - middle.x);
        points[i][1] = scale * (corners[face->first + i].y - middle.y);
    }
    page_face(page, (const double(*)[2])points, count, face->light, face->back ? 4 : colour);
}

static carom_status draw(page *page, const carom_mesh_view *view, bool closed, const char *words,
                         size_t colour) {
    uint64_t faces = view->face_count;
    uint64_t total = view->offsets != NULL ? view->offsets[faces] : 3 * faces;
    carom_vec3 *corners = malloc(total * sizeof(*corners));
    seen *order = malloc(faces * sizeof(*order));
    if (corners == NULL || order == NULL) {
        free(corners);
        free(order);
        return CAROM_NO_MEMORY;
    }
    carom_vec3 low = {HUGE_VAL, HUGE_VAL, 0.0}, high = {-HUGE_VAL, -HUGE_VAL, 0.0};
    for (uint64_t i = 0; i < total; ++i) {
        corners[i] = turn(position_of(view, view->corners[i]));
        low.x = fmin(low.x, corners[i].x);
        low.y = fmin(low.y, corners[i].y);
        high.x = fmax(high.x, corners[i].x);
        high.y = fmax(high.y, corners[i].y);
    }
    carom_vec3 middle = {0.5 * (low.x + high.x), 0.5 * (low.y + high.y), 0.0};
    double scale = 2.0 / fmax(high.x - low.x, high.y - low.y);
    for (uint64_t f = 0; f < faces; ++f) {
        uint64_t first = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        order[f] = look_at(corners + first, first, end - first);
    }
    qsort(order, faces, sizeof(*order), compare_depth);
    page_begin_picture(page);
    for (uint64_t f = 0; f < faces; ++f)
        if (!closed || !order[f].back) paint(page, &order[f], corners, scale, middle, colour);
    page_end_picture(page, words);
    free(corners);
    free(order);
    return CAROM_OK;
}

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
        if (status == CAROM_OK)
            status = draw(&demo->page, &view, reports[i].closed, exhibits[i].words, i % 4);
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

const demo_part demo_mesh = {"mesh", "shapes, and what inspecting them finds", run};
