/* SPDX-License-Identifier: MIT */
/* Inspection of a mesh. The vertices are inspected here; faces, edges and duplicates in
 * mesh_report_faces.c, mesh_report_edges.c and mesh_report_duplicates.c. Bounds and counts do not
 * depend on the order of evaluation; a zero bound is always reported as positive zero. */
#include "mesh/mesh_report.h"

#include <math.h>

#include "base/item.h"
#include "base/progress.h"
#include "geom/vec.h"

#define MESH_REPORT_VERTICES_PER_RANGE ((uint64_t)1 << 14)
#define MESH_REPORT_STEPS              5u /* of an inspection, for progress */

typedef struct mesh_report_share {
    carom_bounds bounds;
    uint64_t used;
    char fill[CAROM_ALIGNMENT - (sizeof(carom_bounds) + sizeof(uint64_t)) % CAROM_ALIGNMENT];
} mesh_report_share;

typedef struct vertices {
    const carom_mesh_view *view;
    _Atomic uint8_t *used;
    mesh_report_share *shares;
} vertices;

static carom_status mark_used(void *argument, carom_range range) {
    vertices *v = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        atomic_store_explicit(&v->used[v->view->corners[i]], 1, memory_order_relaxed);
    return CAROM_OK;
}

static carom_status mesh_report_visit_vertices(void *argument, carom_range range) {
    vertices *v = argument;
    mesh_report_share share = v->shares[range.worker];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_vec3 p = carom_mesh_position(v->view, i);
        carom_bounds_include(&share.bounds, p);
        share.used += atomic_load_explicit(&v->used[i], memory_order_relaxed);
    }
    v->shares[range.worker] = share;
    return CAROM_OK;
}

static carom_status report_vertices(carom_context *context, const carom_mesh_view *view,
                                    carom_mesh_report *report) {
    const carom_bounds nothing = carom_bounds_empty();
    carom_arena *scratch = carom_scratch(context, 0);
    vertices v = {.view = view};
    v.used = CAROM_ARENA_TAKE(scratch, _Atomic uint8_t, view->vertex_count);
    v.shares = CAROM_ARENA_TAKE(scratch, mesh_report_share, context->threads);
    if (v.used == NULL || v.shares == NULL)
        return carom_fail_memory(context, view->vertex_count, "inspecting a mesh");
    for (uint64_t i = 0; i < view->vertex_count; ++i) atomic_init(&v.used[i], 0);
    for (uint32_t i = 0; i < context->threads; ++i)
        v.shares[i] = (mesh_report_share){.bounds = nothing};
    uint64_t corners = carom_mesh_corner_count(view);
    CAROM_TRY(carom_parallel_for(context, corners,
                                 carom_grain(context, corners, MESH_REPORT_VERTICES_PER_RANGE),
                                 mark_used, &v));
    CAROM_TRY(
        carom_parallel_for(context, view->vertex_count,
                           carom_grain(context, view->vertex_count, MESH_REPORT_VERTICES_PER_RANGE),
                           mesh_report_visit_vertices, &v));
    report->bounds = nothing;
    report->unused_vertices = view->vertex_count;
    for (uint32_t i = 0; i < context->threads; ++i) {
        if (v.shares[i].bounds.low.x <= v.shares[i].bounds.high.x) {
            carom_bounds_include(&report->bounds, v.shares[i].bounds.low);
            carom_bounds_include(&report->bounds, v.shares[i].bounds.high);
        }
        report->unused_vertices -= v.shares[i].used;
    }
    return CAROM_OK;
}

/* Polygons that close the surface may share a diagonal of their fans. The triangles then have an
 * additional edge there, and the triangulated mesh is not closed. */
static carom_status confirm_closed(carom_context *context, const carom_mesh_view *view,
                                   carom_mesh_report *report) {
    if (!report->closed || report->triangles == report->faces) return CAROM_OK;
    carom_mesh_triangulate_def fan = {.fan = true};
    carom_mesh *triangles;
    carom_mesh_view triangle_view;
    carom_mesh_report triangle_report = {0};
    CAROM_TRY(carom_mesh_triangulate(context, view, &fan, &triangles, NULL));
    carom_status status = carom_mesh_get_view(triangles, &triangle_view);
    if (status == CAROM_OK) status = carom_report_edges(context, &triangle_view, &triangle_report);
    carom_mesh_destroy(triangles);
    report->closed = triangle_report.closed;
    return status;
}

static carom_status mesh_report_inspect(carom_context *context, const carom_mesh_view *view,
                                        carom_mesh_report *report) {
    CAROM_TRY(report_vertices(context, view, report));
    carom_progress_add(context, 0, 1);
    CAROM_TRY(carom_report_faces(context, view, report));
    carom_progress_add(context, 0, 1);
    CAROM_TRY(carom_report_edges(context, view, report));
    carom_progress_add(context, 0, 1);
    CAROM_TRY(confirm_closed(context, view, report));
    carom_progress_add(context, 0, 1);
    return carom_report_duplicates(context, view, report);
}

carom_status carom_mesh_inspect(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(report, "report");
    CAROM_TRY(carom_mesh_check(context, view));
    CAROM_TRY(carom_mesh_check_numbers(context, view, "inspected"));
    memset(report, 0, sizeof(*report)); /* padding too: equal reports are equal bytes */
    report->vertices = view->vertex_count;
    report->faces = view->face_count;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "inspecting a mesh", MESH_REPORT_STEPS);
    carom_status status =
        carom_progress_finish(context, mesh_report_inspect(context, view, report));
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_mesh_bounds(carom_context *context, const carom_mesh_view *view,
                               carom_bounds *bounds) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(bounds, "bounds");
    CAROM_TRY(carom_mesh_check(context, view));
    *bounds = carom_bounds_empty();
    for (uint64_t i = 0; i < view->vertex_count; ++i)
        carom_bounds_include(bounds, carom_mesh_position(view, i));
    return CAROM_OK;
}
