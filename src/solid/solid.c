/* SPDX-License-Identifier: MIT */
/* A solid: a closed mesh prepared for overlap queries.
 *
 * Preparation welds equal vertices and splits polygons. It then reorders vertices and triangles
 * along a spanning tree (solid_spanning_tree.c), makes a rigid soup of them for searches, and
 * prefix sums over triangles for the parts that need no search (solid_prefix_sums.c).
 *
 * Invariant: the mesh is closed in every pose. So triangles without area are kept: a pose may round
 * some area into them. */
#include "base/progress.h"
#include "mesh/mesh.h"
#include "solid/solid_relation.h"

/* ---- Closedness check ------------------------------------------------------------------------ */

/* The index, in the mesh as given, of a vertex of the welded mesh. */
static unsigned long long number_given(const carom_mesh_view *given, const carom_mesh_view *welded,
                                       uint64_t vertex) {
    carom_vec3 p = carom_mesh_position(welded, vertex);
    for (uint64_t v = 0; v < given->vertex_count; ++v)
        if (carom_vec_compare(carom_mesh_position(given, v), p) == 0) return v;
    return vertex;
}

static carom_status solid_check_closed(carom_context *context, const carom_mesh_view *given,
                                       const carom_mesh_view *welded,
                                       const carom_mesh_report *report) {
    if (report->balanced) return CAROM_OK;
    bool open = report->open_edges != 0;
    const uint32_t *edge = open ? report->first_open_edge : report->first_inconsistent_edge;
    if (edge[0] == CAROM_NONE)
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "the mesh is not closed: some edge has more sides one way than the other");
    unsigned long long from = number_given(given, welded, edge[0]);
    unsigned long long to = number_given(given, welded, edge[1]);
    if (open)
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "the mesh is not closed: %llu edges have one face only, the first between "
            "vertices %llu and %llu; close its holes first",
            (unsigned long long)report->open_edges, from, to);
    return carom_fail(
        context, CAROM_BAD_INPUT,
        "the mesh is not consistently oriented: %llu edges are passed the same way by "
        "both faces, the first between vertices %llu and %llu; turn faces first",
        (unsigned long long)report->inconsistent_edges, from, to);
}

/* ---- Description ----------------------------------------------------------------------------- */

bool carom_solid_is_inside_out(const carom_mesh_report *report) {
    return signbit(report->volume) != 0;
}

/* Finds all pairs of faces that intersect other than as neighbours. The solid's soup treats faces
 * without area as segments, which always intersect their neighbours. Where there are any, they are
 * left out meanwhile. */
carom_status carom_solid_find_touching(carom_context *context, const carom_solid *solid,
                                       carom_pairs *touching) {
    bool degenerate = solid->view.degenerate_faces != 0;
    if (degenerate)
        CAROM_TRY(
            carom_soup_treat_degenerate_on_cpu(context, solid->soup, CAROM_SOUP_DEGENERATE_ALONE));
    CAROM_TRY(carom_soup_self_pairs_on_cpu(context, solid->soup, touching));
    if (!degenerate) return CAROM_OK;
    return carom_soup_treat_degenerate_on_cpu(context, solid->soup,
                                              CAROM_SOUP_DEGENERATE_AS_SEGMENT);
}

static void find_centroid(carom_solid *solid) {
    const carom_solid_prefix_sums *sums = &solid->sums;
    carom_solid_moments moments;
    carom_frame still = carom_frame_make(NULL);
    memset(&moments, 0, sizeof(moments));
    carom_solid_moments_add(sums, &moments, sums->block_count - 1, 1);
    carom_solid_integrals all =
        carom_solid_moments_pose(sums, &moments, &still, sums->centre, sums->exponent);
    solid->info.centroid = sums->centre;
    solid->volume = fabs(all.volume);
    if (all.volume == 0.0) return;
    carom_vec3 direction =
        carom_vec(all.moment.x / all.volume, all.moment.y / all.volume, all.moment.z / all.volume);
    solid->info.centroid =
        carom_vec_add(sums->centre, carom_vec(carom_scale_apply(direction.x, -sums->exponent),
                                              carom_scale_apply(direction.y, -sums->exponent),
                                              carom_scale_apply(direction.z, -sums->exponent)));
}

/* The bytes that a solid holds, without those on a device. */
static uint64_t solid_bytes_held(const carom_solid *solid, const carom_soup_info *soup) {
    const carom_solid_given *given = &solid->given;
    uint64_t vertices = solid->view.vertex_count, triangles = solid->view.triangle_count;
    uint64_t corners = given->offsets != NULL ? given->offsets[given->face_count] : 3 * triangles;
    uint64_t words = given->vertex_count + corners + 3 * vertices + 1 + solid->root_count +
                     solid->region_count + (solid->region_of != NULL ? triangles : 0) +
                     (solid->across != NULL ? 3 * triangles : 0);
    return sizeof(*solid) + soup->bytes + words * sizeof(uint32_t) + triangles +
           (given->offsets != NULL ? (given->face_count + 1) * sizeof(uint64_t) : 0) +
           solid->sums.block_count * CAROM_SOLID_SUMS * sizeof(carom_solid_sum) +
           solid->root_count + solid->touch_capacity * sizeof(*solid->touches);
}

carom_status carom_solid_describe(carom_context *context, carom_solid *solid,
                                  const carom_mesh_report *report, const carom_pairs *touching,
                                  carom_solid_plain_faces_fn *find_plain_faces) {
    carom_soup_info soup;
    CAROM_ASSERT(solid->region_count != 0 && solid->regions != NULL);
    CAROM_TRY(carom_soup_get_info(solid->soup, &soup));
    solid->info.vertices = solid->view.vertex_count;
    solid->info.triangles = solid->view.triangle_count;
    solid->info.degenerate_triangles = report->degenerate_triangles;
    solid->info.shells = report->shells;
    solid->info.volume = fabs(report->volume);
    solid->info.area = report->area;
    solid->info.inside_out = carom_solid_is_inside_out(report);
    find_centroid(solid);
    CAROM_ASSERT(solid->view.degenerate_faces == report->degenerate_triangles);
    for (uint64_t i = 0; i < touching->count; ++i)
        if (touching->data[i].a != touching->data[i].b) solid->info.self_intersecting = true;
    carom_status status = carom_solid_classify(context, solid, touching, find_plain_faces);
    solid->info.bytes = solid_bytes_held(solid, &soup);
    return status;
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

/* Keeps the mesh as it is given, without its positions. */
static carom_status solid_keep_given(carom_context *context, carom_solid *solid,
                                     const carom_mesh_view *mesh) {
    carom_solid_given *given = &solid->given;
    uint64_t corners = carom_mesh_corner_count(mesh);
    given->vertex_count = mesh->vertex_count;
    given->face_count = mesh->face_count;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(given->corners, corners),
                                       CAROM_ALLOCATION(given->first, mesh->vertex_count),
                                       CAROM_ALLOCATION(given->offsets, mesh->face_count + 1)};
    if (!carom_allocate_all(&solid->allocator, arrays, mesh->offsets != NULL ? 3 : 2))
        return carom_fail_memory(context, 4 * (corners + mesh->vertex_count), "a solid");
    memcpy(given->corners, mesh->corners, corners * sizeof(*given->corners));
    if (mesh->offsets != NULL)
        memcpy(given->offsets, mesh->offsets, (mesh->face_count + 1) * sizeof(*given->offsets));
    return CAROM_OK;
}

/* Turns indices of the welded mesh into those of the mesh as given: `sources` of the solid. */
static carom_status solid_find_sources(carom_context *context, carom_solid *solid,
                                       uint32_t vertices) {
    const carom_solid_given *given = &solid->given;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *lowest = CAROM_ARENA_TAKE(scratch, uint32_t, given->vertex_count), next = 0;
    if (lowest == NULL) return carom_fail_memory(context, 4 * given->vertex_count, "a solid");
    for (uint32_t v = 0; v < given->vertex_count; ++v)
        if (given->first[v] == v) lowest[next++] = v;
    solid->given.different = next;
    for (uint32_t v = 0; v < vertices; ++v) {
        CAROM_ASSERT(given->sources[v] < next);
        given->sources[v] = lowest[given->sources[v]];
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* Builds everything but the description, from a welded triangle mesh. */
static carom_status solid_build(carom_context *context, carom_solid *solid,
                                const carom_mesh_view *mesh, bool turn) {
    carom_solid_spanning_tree order;
    CAROM_TRY(carom_solid_spanning_tree_make(context, mesh, turn, &order));
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = order.positions,
                                                     .vertex_count = order.vertex_count,
                                                     .corners = order.corners,
                                                     .face_count = order.triangle_count},
                          .degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT,
                          .rigid = true};
    carom_status status = carom_soup_create_on_cpu(context, &def, &solid->soup);
    solid->ends = order.ends, order.ends = NULL;
    solid->firsts = order.firsts, order.firsts = NULL;
    solid->roots = order.roots, order.roots = NULL;
    solid->represents = order.represents, order.represents = NULL;
    solid->given.sources = order.sources, order.sources = NULL;
    solid->root_count = order.root_count;
    uint32_t vertices = order.vertex_count;
    carom_solid_spanning_tree_free(&order, &solid->allocator);
    CAROM_TRY(status);
    CAROM_TRY(solid_find_sources(context, solid, vertices));
    carom_soup_get_view(solid->soup, &solid->view);
    CAROM_ASSERT(solid->firsts[solid->view.vertex_count] == solid->view.triangle_count);
    return carom_solid_prefix_sums_make(context, &solid->allocator, &solid->view, &solid->sums);
}

static carom_status solid_create_filled(carom_context *context, const carom_solid_def *def,
                                        carom_solid *solid) {
    carom_mesh *welded = NULL, *split = NULL;
    carom_mesh_view view;
    carom_mesh_report report;
    const carom_mesh_view *mesh = carom_mesh_of_def(def->mesh);
    CAROM_TRY(carom_mesh_check(context, mesh));
    if (mesh->face_count == 0)
        return carom_fail(context, CAROM_BAD_INPUT, "the mesh has no faces and encloses nothing");
    CAROM_TRY(solid_keep_given(context, solid, mesh));
    CAROM_TRY(carom_mesh_weld_noting(context, mesh, solid->given.first, &welded));
    (void)carom_mesh_get_view(welded, &view);
    carom_status status = CAROM_OK;
    if (view.offsets != NULL) {
        status = carom_mesh_triangulate(context, &view, NULL, &split, NULL);
        if (status == CAROM_OK) (void)carom_mesh_get_view(split, &view);
    }
    if (status == CAROM_OK) status = carom_mesh_inspect(context, &view, &report);
    if (status == CAROM_OK) status = solid_check_closed(context, mesh, &view, &report);
    if (status == CAROM_OK)
        status = solid_build(context, solid, &view,
                             carom_solid_is_inside_out(&report) != def->complement);
    carom_pairs touching = {0};
    if (status == CAROM_OK) status = carom_solid_find_touching(context, solid, &touching);
    if (status == CAROM_OK) status = carom_solid_find_regions(context, solid, &report);
    if (status == CAROM_OK)
        status =
            carom_solid_describe(context, solid, &report, &touching, carom_solid_find_plain_faces);
    carom_pairs_free(&touching);
    solid->info.complement = def->complement;
    carom_mesh_destroy(welded);
    carom_mesh_destroy(split);
    return status;
}

carom_status carom_solid_make(carom_context *context, const carom_solid_def *def,
                              carom_solid **out) {
    CAROM_TRY(carom_solid_device_check_new(context));
    carom_solid *solid = carom_allocate(&context->allocator, 1, sizeof(*solid));
    if (solid == NULL) return carom_fail_memory(context, sizeof(*solid), "a solid");
    *solid = (carom_solid){.allocator = context->allocator,
                           .own = context->allocator,
                           .base = def->complement ? 1 : 0};
    carom_status status = solid_create_filled(context, def, solid);
    if (status == CAROM_OK && context->backend == CAROM_BACKEND_CUDA)
        status = carom_solid_device_make(context, solid);
    if (status != CAROM_OK) {
        carom_solid_destroy(solid);
        return status;
    }
    *out = solid;
    return CAROM_OK;
}

carom_status carom_solid_create(carom_context *context, const carom_solid_def *def,
                                carom_solid **out) {
    static const carom_solid_def defaults = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(out, "solid");
    *out = NULL;
    return carom_solid_make(context, def != NULL ? def : &defaults, out);
}

void carom_solid_release_content(carom_solid *solid) {
    carom_solid_device_release(solid);
    carom_soup_destroy(solid->soup);
    carom_soup_destroy(solid->crossings);
    CAROM_RELEASE_ALL(&solid->allocator, solid->given.offsets, solid->given.corners,
                      solid->given.first, solid->given.sources, solid->ends, solid->firsts,
                      solid->roots, solid->region_of, solid->across, solid->represents,
                      solid->sums.blocks, solid->regions, solid->sides, solid->touches);
}

void carom_solid_destroy(carom_solid *solid) {
    if (solid == NULL) return;
    carom_allocator own = solid->own;
    carom_solid_destroy(solid->spare);
    carom_solid_release_content(solid);
    carom_release(&own, solid);
}

carom_status carom_solid_get_info(const carom_solid *solid, carom_solid_info *info) {
    CAROM_REQUIRE_INPUT(solid, "solid");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = solid->info;
    if (solid->spare != NULL) info->bytes += solid->spare->info.bytes;
    if (solid->crossings == NULL) return CAROM_OK;
    carom_soup_info crossings;
    CAROM_TRY(carom_soup_get_info(solid->crossings, &crossings));
    info->bytes += crossings.bytes;
    return CAROM_OK;
}
