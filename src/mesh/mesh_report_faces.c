/* SPDX-License-Identifier: MIT */
/* Volume, area and degenerate faces.
 *
 * The volume is a sum of products of three coordinates. It is accumulated exactly
 * (geom/exact_sum.h), then divided and rounded once. The area needs square roots: each face's area
 * is rounded to a fixed-point number, and these are added exactly (base/sum_item.h). For the area,
 * edges are first scaled by a power of two to below 1, so that squares stay in range. Where the
 * products of a cross product cancel, as for thin faces, they are computed again in double-double
 * arithmetic. */
#include <math.h>

#include "base/double_double.h"
#include "base/item.h"
#include "base/sum_item.h"
#include "geom/exact_sum.h"
#include "geom/length.h"
#include "geom/orient.h"
#include "geom/vec.h"
#include "mesh/mesh_report.h"
#include "mesh/mesh_report_cpu.h"

#define MESH_REPORT_FACES_PER_RANGE ((uint64_t)1 << 12)
/* Cones of six products between two normalizations. */
#define NORMALIZE_MASK (((uint64_t)1 << 26) - 1)

typedef struct mesh_report_faces_share {
    carom_exact_sum volume;
    uint64_t cones; /* added to the volume */
    carom_sum area;
    uint64_t degenerate_faces, degenerate_triangles, first_degenerate;
} mesh_report_faces_share;

typedef struct faces {
    const carom_mesh_view *view;
    carom_report_frame frame;
    mesh_report_faces_share *shares;
} faces;

/* Whether three points are collinear. All three filters come first: a triangle perpendicular to one
 * or two of the coordinate planes then needs no exact arithmetic. */
static bool are_collinear(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    if (carom_orient2d_filter(a.x, a.y, b.x, b.y, c.x, c.y) != CAROM_ORIENT_UNDECIDED ||
        carom_orient2d_filter(a.y, a.z, b.y, b.z, c.y, c.z) != CAROM_ORIENT_UNDECIDED ||
        carom_orient2d_filter(a.z, a.x, b.z, b.x, c.z, c.x) != CAROM_ORIENT_UNDECIDED)
        return false;
    return carom_orient_axis(a, b, c) < 0;
}

/* Whether all corners are collinear. */
static bool is_degenerate(const carom_mesh_view *view, uint64_t begin, uint64_t end) {
    carom_vec3 a = carom_mesh_position(view, view->corners[begin]), b = a;
    uint64_t i = begin + 1;
    for (; i < end; ++i) {
        b = carom_mesh_position(view, view->corners[i]);
        if (b.x != a.x || b.y != a.y || b.z != a.z) break;
    }
    for (++i; i < end; ++i)
        if (!are_collinear(a, b, carom_mesh_position(view, view->corners[i]))) return false;
    return true;
}

static carom_vec3 edge_between(const faces *f, carom_vec3 from, carom_vec3 to) {
    carom_vec3 a = carom_vec_scale(from, f->frame.half), b = carom_vec_scale(to, f->frame.half);
    return carom_vec_scale(carom_vec_sub(b, a), f->frame.shrink);
}

/* Twice the vector area of a face, scaled, in double-double arithmetic. */
static carom_vec3 twice_area_precise(const faces *f, uint64_t begin, uint64_t end) {
    const carom_mesh_view *view = f->view;
    carom_dd edges[2][3], sum[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    double a[3], p[3];
    carom_vec_store(carom_mesh_position(view, view->corners[begin]), a);
    for (uint64_t i = begin + 1; i < end; ++i) {
        carom_dd *u = edges[i % 2], *v = edges[(i + 1) % 2];
        carom_vec_store(carom_mesh_position(view, view->corners[i]), p);
        for (int k = 0; k < 3; ++k)
            v[k] = carom_dd_scale(carom_dd_diff(p[k] * f->frame.half, a[k] * f->frame.half),
                                  f->frame.shrink);
        for (int k = 0; k < 3 && i > begin + 1; ++k) {
            int m = (k + 1) % 3, n = (k + 2) % 3;
            carom_dd minor =
                carom_dd_sub(carom_dd_multiply(u[m], v[n]), carom_dd_multiply(u[n], v[m]));
            sum[k] = carom_dd_add(sum[k], minor);
        }
    }
    return carom_vec(sum[0].high, sum[1].high, sum[2].high);
}

static void visit_face(const faces *f, mesh_report_faces_share *share, uint64_t face) {
    const carom_mesh_view *view = f->view;
    uint64_t begin = carom_mesh_offset(view, face), end = carom_mesh_offset(view, face + 1);
    uint64_t flat = 0;
    CAROM_ASSERT(end - begin >= 3);
    carom_vec3 a = carom_mesh_position(view, view->corners[begin]);
    carom_vec3 b = carom_mesh_position(view, view->corners[begin + 1]);
    carom_vec3 u = edge_between(f, a, b), twice = carom_vec(0.0, 0.0, 0.0);
    double size = 0.0;
    for (uint64_t i = begin + 2; i < end; ++i) {
        carom_vec3 c = carom_mesh_position(view, view->corners[i]);
        carom_vec3 v = edge_between(f, a, c);
        carom_exact_sum_add_determinant(&share->volume, a, b, c);
        if ((++share->cones & NORMALIZE_MASK) == 0) carom_exact_sum_normalize(&share->volume);
        flat += are_collinear(a, b, c);
        twice = carom_vec_add(twice, carom_vec_cross(u, v));
        size += carom_vec_largest(u) * carom_vec_largest(v);
        b = c;
        u = v;
    }
    if (carom_vec_largest(twice) < CAROM_REPORT_CANCELLATION * size)
        twice = twice_area_precise(f, begin, end);
    share->area =
        carom_sum_add(share->area, carom_sum_term(carom_vec_length(twice), f->frame.scale));
    CAROM_ASSERT(flat <= end - begin - 2);
    share->degenerate_triangles += flat;
    if (flat == end - begin - 2 && is_degenerate(view, begin, end)) {
        ++share->degenerate_faces;
        share->first_degenerate = CAROM_MIN(face, share->first_degenerate);
    }
}

static carom_status visit_faces(void *argument, carom_range range) {
    faces *f = argument;
    mesh_report_faces_share *share = &f->shares[range.worker];
    for (uint64_t i = range.begin; i < range.end; ++i) visit_face(f, share, i);
    carom_exact_sum_normalize(&share->volume);
    return CAROM_OK;
}

#define FACES_WHOLE_MOST  0x1p1022 /* coordinates: differences of larger ones overflow */
#define FACES_LEAST_POWER (-1000)  /* an exponent of two whose inverse does not overflow */

carom_report_frame carom_report_frame_of(const carom_bounds *bounds, uint64_t triangles) {
    carom_report_frame f = {.half = 1.0};
    double largest = 0.0, extent = 0.0;
    const double *low = &bounds->low.x, *high = &bounds->high.x;
    for (int k = 0; k < 3 && bounds->low.x <= bounds->high.x; ++k)
        largest = CAROM_MAX(CAROM_MAX(fabs(low[k]), fabs(high[k])), largest);
    f.half = largest < FACES_WHOLE_MOST ? 1.0 : 0.5;
    for (int k = 0; k < 3 && bounds->low.x <= bounds->high.x; ++k)
        extent = CAROM_MAX(high[k] * f.half - low[k] * f.half, extent);
    (void)frexp(extent, &f.power);
    f.power = CAROM_MAX(f.power, FACES_LEAST_POWER);
    f.shrink = ldexp(1.0, -f.power);
    CAROM_ASSERT(extent * f.shrink <= 1.0);
    /* Twice the area of a triangle within the cube [-1, 1]^3 is below 2^4. */
    f.scale = carom_sum_scale(8.0, triangles);
    return f;
}

/* Scales to the bounds, and reserves a share per worker. */
static carom_status mesh_report_begin(carom_context *context, faces *f, carom_mesh_report *report) {
    report->triangles = carom_mesh_corner_count(f->view) - 2 * f->view->face_count;
    f->frame = carom_report_frame_of(&report->bounds, report->triangles);
    f->shares =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), mesh_report_faces_share, context->threads);
    if (f->shares == NULL)
        return carom_fail_memory(context, context->threads * sizeof(mesh_report_faces_share),
                                 "inspecting a mesh");
    memset(f->shares, 0, context->threads * sizeof(mesh_report_faces_share));
    for (uint32_t i = 0; i < context->threads; ++i) f->shares[i].first_degenerate = CAROM_NONE;
    return CAROM_OK;
}

double carom_report_area_of(const carom_report_frame *f, carom_sum sum) {
    return ldexp(carom_sum_value(sum, f->scale), 2 * f->power - (f->half < 1.0 ? -1 : 1));
}

carom_sum carom_report_area_precise(const carom_report_frame *frame, const carom_vec3 corner[3]) {
    static const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view view = {
        .positions = corner, .vertex_count = 3, .corners = corners, .face_count = 1};
    const faces f = {.view = &view, .frame = *frame};
    return carom_sum_term(carom_vec_length(twice_area_precise(&f, 0, 3)), frame->scale);
}

carom_status carom_report_faces(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report) {
    faces f = {.view = view};
    CAROM_TRY(mesh_report_begin(context, &f, report));
    CAROM_TRY(carom_parallel_for(
        context, view->face_count,
        carom_grain(context, view->face_count, MESH_REPORT_FACES_PER_RANGE), visit_faces, &f));
    mesh_report_faces_share total = f.shares[0];
    for (uint32_t i = 1; i < context->threads; ++i) {
        const mesh_report_faces_share *share = &f.shares[i];
        carom_exact_sum_merge(&total.volume, &share->volume);
        total.area = carom_sum_add(total.area, share->area);
        total.degenerate_faces += share->degenerate_faces;
        total.degenerate_triangles += share->degenerate_triangles;
        total.first_degenerate = CAROM_MIN(share->first_degenerate, total.first_degenerate);
    }
    report->area = carom_report_area_of(&f.frame, total.area);
    report->degenerate_faces = total.degenerate_faces;
    report->degenerate_triangles = total.degenerate_triangles;
    report->first_degenerate_face = (uint32_t)total.first_degenerate;
    report->volume = carom_exact_sum_divide(&total.volume, 6);
    return CAROM_OK;
}

/* ---- The area alone -------------------------------------------------------------------------- */

#define AREAS 256u /* triangles at a time: 1 KiB for those left open */

typedef struct area_job {
    carom_context *context;
    faces *f;
    carom_report_triangles triangles;
} area_job;

static carom_status add_areas(void *argument, carom_range range) {
    const area_job *job = argument;
    const faces *f = job->f;
    carom_sum *sum = &f->shares[range.worker].area;
    uint32_t open[AREAS];
    for (uint64_t at = range.begin; at < range.end; at += AREAS) {
        uint64_t end = CAROM_MIN(at + AREAS, range.end);
        uint32_t count = CAROM_CPU_CALL(job->context, carom_report_areas)(
            &job->triangles, (uint32_t)at, (uint32_t)end, sum, open);
        for (uint32_t i = 0; i < count; ++i) {
            uint64_t begin = 3 * (uint64_t)open[i];
            carom_vec3 twice = twice_area_precise(f, begin, begin + 3);
            *sum = carom_sum_add(*sum, carom_sum_term(carom_vec_length(twice), f->frame.scale));
        }
    }
    return CAROM_OK;
}

carom_status carom_report_area(carom_context *context, const carom_mesh_view *view,
                               carom_mesh_report *report) {
    CAROM_ASSERT(view->scalar == CAROM_SCALAR_FLOAT64 && view->offsets == NULL);
    CAROM_ASSERT(carom_mesh_stride(view) == 3 * sizeof(double));
    faces f = {.view = view};
    CAROM_TRY(mesh_report_begin(context, &f, report));
    area_job job = {
        context, &f, {view->positions, view->corners, f.frame.half, f.frame.shrink, f.frame.scale}};
    CAROM_TRY(carom_parallel_for(
        context, view->face_count,
        carom_grain(context, view->face_count, MESH_REPORT_FACES_PER_RANGE), add_areas, &job));
    carom_sum total = f.shares[0].area;
    for (uint32_t i = 1; i < context->threads; ++i) total = carom_sum_add(total, f.shares[i].area);
    report->area = carom_report_area_of(&f.frame, total);
    return CAROM_OK;
}
