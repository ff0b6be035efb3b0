/* SPDX-License-Identifier: MIT */
/* A solid whose mesh deforms: the same faces, other positions.
 *
 * Which vertices are merged, the spanning tree, the order of vertices and triangles, closedness,
 * shells and regions follow from the connectivity and are kept. The rest is computed as by
 * carom_solid_create, in a second set of arrays beside the first. The two change places at the end,
 * so a failed update changes nothing, and the next one needs no memory. The trees keep the order of
 * their items while their boxes are tight (carom_soup_follow_on_cpu).
 *
 * Invariant: all results have the bits of a new solid. They do not depend on the order of a tree,
 * and everything else is computed from the same numbers in the same order. Where the connectivity
 * depends on positions, the solid is made anew: other vertices coincide, the mesh turned inside
 * out, or it has polygons, which are split along other diagonals. */
#include "mesh/mesh.h"
#include "mesh/mesh_report.h"
#include "solid/solid_relation.h"

/* ---- What is kept ---------------------------------------------------------------------------- */

/* Whether vertices that were merged still coincide. */
static bool still_coincide(const carom_solid *solid, const carom_mesh_view *points) {
    const uint32_t *first = solid->given.first;
    for (uint64_t v = 0; v < points->vertex_count; ++v)
        if (first[v] != v && carom_vec_compare(carom_mesh_position(points, v),
                                               carom_mesh_position(points, first[v])) != 0)
            return false;
    return true;
}

/* Whether the same vertices coincide as before. */
static carom_status has_same_vertices(carom_context *context, const carom_solid *solid,
                                      const carom_mesh_view *points, bool *same) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = points->vertex_count;
    uint32_t *first = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (first == NULL) return carom_fail_memory(context, 4 * count, "the vertices of a solid");
    CAROM_TRY(carom_mesh_find_first_equal(context, points, first));
    *same = memcmp(first, solid->given.first, count * sizeof(*first)) == 0;
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

bool carom_solid_corners_coincide(const carom_soup_view *soup, const carom_pairs *pairs) {
    for (uint64_t i = 0; i < pairs->count; ++i) {
        const uint32_t *a = soup->corners + 3 * (uint64_t)pairs->data[i].a;
        const uint32_t *b = soup->corners + 3 * (uint64_t)pairs->data[i].b;
        for (int k = 0; k < 9; ++k)
            if (a[k / 3] != b[k % 3] &&
                carom_vec_compare(carom_soup_view_position(soup, a[k / 3]),
                                  carom_soup_view_position(soup, b[k % 3])) == 0)
                return true;
    }
    return false;
}

/* Lends the connectivity to `next`, or takes it back. */
static void share_connectivity(const carom_solid *solid, carom_solid *next) {
    next->given = solid->given;
    next->ends = solid->ends;
    next->firsts = solid->firsts;
    next->roots = solid->roots;
    next->root_count = solid->root_count;
    next->region_count = solid->region_count;
    next->region_of = solid->region_of;
    next->across = solid->across;
    next->crossings = solid->crossings;
}

static void unshare_connectivity(carom_solid *next) {
    const carom_solid nothing = {0};
    share_connectivity(&nothing, next);
}

/* ---- What is computed ------------------------------------------------------------------------ */

/* The positions of the solid's vertices, in scratch of worker 0. */
static double *gather_positions(carom_context *context, const carom_solid *solid,
                                const carom_mesh_view *points) {
    uint64_t count = solid->view.vertex_count;
    double *positions = CAROM_ARENA_TAKE(carom_scratch(context, 0), double, 3 * count);
    for (uint64_t v = 0; v < count && positions != NULL; ++v)
        carom_vec_store(carom_mesh_position(points, solid->given.sources[v]), positions + 3 * v);
    return positions;
}

/* Volume, area and degenerate triangles, of the triangles as they were given: `turned` ones have
 * their corners reversed. The area's rounding depends on the bounds of all vertices. */
static carom_status measure(carom_context *context, const carom_solid *next, bool turned,
                            const carom_mesh_view *points, carom_mesh_report *report) {
    carom_mesh_view mesh = {.positions = next->view.positions,
                            .vertex_count = next->view.vertex_count,
                            .corners = next->view.corners,
                            .face_count = next->view.triangle_count};
    uint64_t corners = 3 * mesh.face_count;
    report->bounds = carom_bounds_empty();
    for (uint64_t v = 0; v < points->vertex_count; ++v)
        carom_bounds_include(&report->bounds, carom_mesh_position(points, v));
    if (turned) {
        uint32_t *given = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, corners);
        if (given == NULL) return carom_fail_memory(context, 4 * corners, "the faces of a solid");
        for (uint64_t i = 0; i < corners; i += 3) {
            given[i] = mesh.corners[i + 2];
            given[i + 1] = mesh.corners[i + 1];
            given[i + 2] = mesh.corners[i];
        }
        mesh.corners = given;
    }
    double volume;
    if (!carom_solid_prefix_sums_volume(&next->sums, mesh.face_count, &volume))
        return carom_report_faces(context, &mesh, report);
    CAROM_TRY(carom_report_area(context, &mesh, report));
    report->volume = turned ? -volume : volume;
    report->degenerate_triangles = next->view.degenerate_faces;
    return CAROM_OK;
}

/* Describes `next`, unless vertices that were apart coincide. Where all vertices belong to faces,
 * and all faces have an area, no search for equal vertices is needed: two that coincide belong to
 * two faces, which intersect there other than as neighbours. */
static carom_status describe(carom_context *context, const carom_solid *solid, carom_solid *next,
                             const carom_mesh_report *report, bool *kept) {
    carom_pairs touching = {0};
    carom_status status = carom_solid_find_touching(context, next, &touching);
    *kept = !carom_solid_corners_coincide(&next->view, &touching);
    if (status == CAROM_OK && *kept) status = carom_solid_find_regions(context, next, report);
    if (status == CAROM_OK && *kept)
        status =
            carom_solid_describe(context, next, report, &touching, carom_solid_find_plain_faces);
    carom_pairs_free(&touching);
    next->info.complement = solid->info.complement; /* after its relation to itself, as in create */
    return status;
}

/* Fills `next`; *kept: the connectivity is still right. */
static carom_status solid_follow(carom_context *context, const carom_solid *solid,
                                 const carom_mesh_view *points, carom_solid *next, bool *kept) {
    bool turned = solid->info.inside_out != solid->info.complement;
    uint64_t triangles = solid->view.triangle_count;
    carom_mesh_report report = {.shells = solid->info.shells};
    *kept = still_coincide(solid, points);
    if (!*kept) return CAROM_OK;
    double *positions = gather_positions(context, solid, points);
    if (positions == NULL)
        return carom_fail_memory(context, 24 * solid->view.vertex_count, "the corners of a solid");
    CAROM_TRY(carom_soup_follow_on_cpu(context, solid->soup, positions, &next->soup));
    carom_soup_get_view(next->soup, &next->view);
    if (solid->given.different != next->view.vertex_count || next->view.degenerate_faces != 0)
        CAROM_TRY(has_same_vertices(context, solid, points, kept));
    if (!*kept) return CAROM_OK;
    CAROM_TRY(carom_solid_prefix_sums_make(context, &next->allocator, &next->view, &next->sums));
    CAROM_TRY(measure(context, next, turned, points, &report));
    *kept = carom_solid_is_inside_out(&report) == solid->info.inside_out;
    if (!*kept) return CAROM_OK;
    if (next->represents == NULL)
        next->represents = carom_allocate(&next->allocator, triangles, sizeof(*next->represents));
    if (next->represents == NULL) return carom_fail_memory(context, triangles, "a solid");
    for (uint64_t t = 0; t < triangles; ++t)
        next->represents[t] = (uint8_t)(solid->represents[t] & ~CAROM_SOLID_PLAIN_FACE);
    next->info = (carom_solid_info){0};
    return describe(context, solid, next, &report, kept);
}

/* ---- Update ---------------------------------------------------------------------------------- */

/* Gives a solid the content of another, and that the content of the solid. */
static void exchange(carom_solid *solid, carom_solid *other) {
    carom_solid old = *solid;
    carom_allocator own = other->own;
    CAROM_ASSERT(other->spare == NULL);
    *solid = *other;
    solid->own = old.own;
    *other = old;
    other->own = own;
    other->spare = NULL;
}

/* Makes the solid anew. */
static carom_status make_anew(carom_context *context, carom_solid *solid,
                              const carom_mesh_view *points) {
    carom_mesh_view mesh = *points;
    carom_solid_def def = {.mesh = &mesh, .complement = solid->info.complement};
    carom_solid *fresh = NULL, *spare = solid->spare;
    mesh.corners = solid->given.corners;
    mesh.offsets = solid->given.offsets;
    mesh.face_count = solid->given.face_count;
    CAROM_TRY(carom_solid_make(context, &def, &fresh));
    exchange(solid, fresh);
    carom_solid_destroy(fresh);
    carom_solid_destroy(spare);
    return CAROM_OK;
}

static carom_status solid_make_spare(carom_context *context, carom_solid *solid) {
    if (solid->spare != NULL) return CAROM_OK;
    carom_solid *spare = carom_allocate(&solid->allocator, 1, sizeof(*spare));
    if (spare == NULL) return carom_fail_memory(context, sizeof(*spare), "a solid");
    *spare =
        (carom_solid){.allocator = solid->allocator, .own = solid->allocator, .base = solid->base};
    solid->spare = spare;
    return CAROM_OK;
}

/* The new positions: a view of the host without faces, or in device memory, or both. */
typedef struct new_positions {
    carom_mesh_view points; /* its positions are NULL until they are read from the device */
    carom_device_solid_given given;
} new_positions;

/* Reads positions from the device, into scratch of worker 0. */
static carom_status fetch_points(carom_context *context, new_positions *positions) {
    carom_mesh_view *points = &positions->points;
    uint64_t bytes = 3 * carom_scalar_size(points->scalar) * points->vertex_count;
    if (points->positions != NULL) return CAROM_OK;
    void *read = carom_arena_take(carom_scratch(context, 0), 1, bytes);
    if (read == NULL) return carom_fail_memory(context, bytes, "reading positions");
    CAROM_TRY(carom_cuda_read(context, read, positions->given.data, bytes));
    points->positions = read;
    return carom_mesh_check(context, points);
}

/* On the device where that is possible, else on the host. */
static carom_status solid_follow_anywhere(carom_context *context, carom_solid *solid,
                                          new_positions *positions, bool *kept,
                                          uint64_t *host_items) {
    carom_solid *next = solid->spare;
    carom_solid_followed followed = CAROM_SOLID_NOT_FOLLOWED;
    bool device = context->backend == CAROM_BACKEND_CUDA;
    if (device)
        CAROM_TRY(carom_solid_device_follow(context, solid, next, &positions->given, &followed,
                                            host_items));
    *kept = followed == CAROM_SOLID_FOLLOWED;
    if (followed != CAROM_SOLID_NOT_FOLLOWED) return CAROM_OK;
    carom_solid_device_release(next);
    CAROM_TRY(fetch_points(context, positions));
    CAROM_TRY(solid_follow(context, solid, &positions->points, next, kept));
    if (!*kept || !device) return CAROM_OK;
    *host_items = solid->view.triangle_count;
    return carom_solid_device_make(context, next);
}

/* *kept: the solid has the new positions; else it has not changed and must be made anew. */
static carom_status update_kept(carom_context *context, carom_solid *solid,
                                new_positions *positions, bool *kept, uint64_t *host_items) {
    CAROM_TRY(solid_make_spare(context, solid));
    carom_solid *next = solid->spare;
    share_connectivity(solid, next);
    carom_status status = solid_follow_anywhere(context, solid, positions, kept, host_items);
    if (status == CAROM_OK && *kept) {
        exchange(solid, next);
        solid->spare = next;
    } else {
        solid->across = next->across; /* it may be new */
        solid->crossings = next->crossings;
    }
    unshare_connectivity(next);
    return status;
}

/* host_items: triangles that the host measured. */
static carom_status update_solid(carom_context *context, carom_solid *solid,
                                 new_positions *positions, uint64_t *host_items) {
    bool kept = false;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    *host_items = 0;
    if (solid->given.offsets == NULL)
        status = update_kept(context, solid, positions, &kept, host_items);
    if (status == CAROM_OK && !kept) {
        *host_items = solid->view.triangle_count;
        status = fetch_points(context, positions);
        if (status == CAROM_OK) status = make_anew(context, solid, &positions->points);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

static carom_status check_update_count(carom_context *context, const carom_solid *solid,
                                       uint64_t count) {
    CAROM_TRY(carom_solid_check_backend(context, solid));
    if (count == solid->given.vertex_count) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the solid was made of %llu vertices, the update has %llu; make a new "
                      "solid instead",
                      (unsigned long long)solid->given.vertex_count, (unsigned long long)count);
}

/* Positions of the host as packed doubles: those of the view, or a copy in scratch of worker 0. */
static carom_status pack_positions(carom_context *context, const carom_mesh_view *points,
                                   carom_device_solid_given *given) {
    *given = (carom_device_solid_given){points->positions, .doubles = true};
    if (points->scalar == CAROM_SCALAR_FLOAT64 && carom_mesh_stride(points) == 3 * sizeof(double))
        return CAROM_OK;
    double *packed = CAROM_ARENA_TAKE(carom_scratch(context, 0), double, 3 * points->vertex_count);
    if (packed == NULL)
        return carom_fail_memory(context, 24 * points->vertex_count, "the corners of a solid");
    for (uint64_t v = 0; v < points->vertex_count; ++v)
        carom_vec_store(carom_mesh_position(points, v), packed + 3 * v);
    given->data = packed;
    return CAROM_OK;
}

carom_status carom_solid_update(carom_context *context, carom_solid *solid,
                                const carom_mesh_view *mesh) {
    uint64_t host_items;
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(solid, "solid");
    CAROM_REQUIRE_INPUT(mesh, "mesh");
    CAROM_TRY(check_update_count(context, solid, mesh->vertex_count));
    new_positions positions = {.points = {.positions = mesh->positions,
                                          .scalar = mesh->scalar,
                                          .stride = mesh->stride,
                                          .vertex_count = mesh->vertex_count}};
    CAROM_TRY(carom_mesh_check(context, &positions.points));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    if (context->backend == CAROM_BACKEND_CUDA)
        status = pack_positions(context, &positions.points, &positions.given);
    if (status == CAROM_OK) status = update_solid(context, solid, &positions, &host_items);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_cuda_solid_update(carom_context *context, carom_solid *solid,
                                     const carom_cuda_positions *positions, uint64_t *host_items) {
    uint64_t unused;
    carom_device *device;
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(solid, "solid");
    CAROM_REQUIRE(positions != NULL, CAROM_ARE_NULL("positions"));
    CAROM_REQUIRE_KNOWN(positions->scalar, CAROM_SCALAR_COUNT, "scalar type");
    CAROM_REQUIRE_INPUTS(positions->data, positions->count, "positions");
    CAROM_TRY(carom_device_of(context, "an update in device memory", &device));
    CAROM_TRY(check_update_count(context, solid, positions->count));
    new_positions all = {.points = {.scalar = positions->scalar, .vertex_count = positions->count},
                         .given = {positions->data, .on_device = true,
                                   .doubles = positions->scalar == CAROM_SCALAR_FLOAT64}};
    return update_solid(context, solid, &all, host_items != NULL ? host_items : &unused);
}
