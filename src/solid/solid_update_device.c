/* SPDX-License-Identifier: MIT */
/* Solids whose mesh deforms, in contexts of backend cuda: what solid_update.c computes on the host,
 * with all that is computed of every vertex and triangle on the device (solid_update_cuda.cu).
 *
 *   device   positions, bounds, whether merged vertices still coincide
 *   host     frames of boxes and sums
 *   device   pairs of faces that intersect; boxes of the tree; areas and lengths
 *   host     scales of the sums
 *   device   prefix sums
 *   host     volume, and the relation to itself by one ray per region
 *   device   where faces intersect: regions between them, of which the host samples one face each
 *
 * The host keeps the positions, the aligned tree and the prefix sums, which the device copies to
 * it: rays and whatever else queries leave to it need them. Oriented boxes are dropped.
 *
 * Pairs of faces that intersect are classified on the host, one by one. What is rare is left to it
 * altogether: faces without area, vertices that belong to no face, and a volume that the prefix
 * sums do not decide. So is the first update of a solid, which makes the arrays that this one
 * writes. */
#include "base/progress.h"
#include "mesh/mesh_report.h"
#include "solid/solid_relation.h"

static const carom_cuda_solid_follow *solid_update_table(void) {
    return carom_device_table(CAROM_CUDA_SOLID_FOLLOW);
}

/* Looseness, in that of the tree when it was copied to the device: from here on a new tree pays. */
#define UPDATE_WORN 2.0

double carom_solid_looseness(const carom_solid *solid) {
    int scale = carom_exponent(solid->view.scale);
    double extent = carom_bvh_extent(solid->view.bvh);
    extent = carom_scale_apply(carom_scale_apply(extent, -scale), solid->sums.exponent);
    return solid->side_lengths > 0.0 ? extent / solid->side_lengths : 0.0;
}

typedef struct following {
    carom_context *context;
    carom_solid *solid, *next;
    carom_device_solid_gathered gathered;
    carom_device_solid_sizes sizes;
    carom_report_frame frame; /* of the area */
    carom_mesh_report report;
    bool turned;
    uint64_t host_items;
    carom_pairs touching; /* of the positions that were gathered */
} following;

/* The number of each triangle's region, in scratch; NULL: all have one. */
static carom_status number_regions(const following *f, const uint32_t **region_of) {
    const carom_solid *solid = f->solid;
    uint32_t count = solid->view.triangle_count, next = 0;
    *region_of = NULL;
    if (solid->region_count == 1) return CAROM_OK;
    uint32_t *numbers = CAROM_ARENA_TAKE(carom_scratch(f->context, 0), uint32_t, count);
    if (numbers == NULL)
        return carom_fail_memory(f->context, 4ull * count, "the regions of a solid");
    if (solid->region_of != NULL) /* by its first triangle, which has a number by then */
        for (uint32_t t = 0; t < count; ++t)
            numbers[t] = solid->region_of[t] == t ? next++ : numbers[solid->region_of[t]];
    for (uint32_t i = 0; solid->region_of == NULL && i < solid->root_count; ++i, ++next) {
        uint32_t root = solid->roots[i], end = solid->firsts[solid->ends[root]];
        for (uint32_t t = solid->firsts[root]; t < end; ++t) numbers[t] = next;
    }
    CAROM_ASSERT(next == solid->region_count);
    *region_of = numbers;
    return CAROM_OK;
}

/* Once per solid on the device. */
static carom_status prepare(const following *f) {
    const carom_solid *solid = f->solid;
    carom_bvh_node *nodes;
    carom_device_solid_faces faces = {.first = solid->given.first,
                                      .sources = solid->given.sources,
                                      .given_count = solid->given.vertex_count,
                                      .region_count = solid->region_count,
                                      .turned = f->turned,
                                      .blocks = f->next->sums.blocks};
    carom_soup_get_written(f->next->soup, &faces.positions, &nodes);
    faces.nodes = nodes;
    CAROM_TRY(number_regions(f, &faces.region_of));
    return carom_device_pass(
        f->context, solid_update_table()->prepare(f->context->device, f->next->device, &faces));
}

/* Finds the pairs of faces that intersect other than as neighbours; *flat: a face has no area. */
static carom_status find_crossings(following *f, bool *flat) {
    const carom_solid *solid = f->solid;
    uint32_t degenerate;
    if (solid->crossings == NULL) {
        const carom_mesh_view mesh = {.positions = solid->view.positions,
                                      .vertex_count = solid->view.vertex_count,
                                      .corners = solid->view.corners,
                                      .face_count = solid->view.triangle_count};
        CAROM_TRY(carom_soup_create_on_device(f->context, &(carom_soup_def){.mesh = &mesh},
                                              &f->solid->crossings));
        f->next->crossings = f->solid->crossings;
    }
    CAROM_TRY(carom_soup_self_pairs_on_device(f->context, solid->crossings,
                                              solid_update_table()->positions(f->next->device),
                                              &degenerate, &f->touching));
    *flat = degenerate != 0;
    f->host_items += f->touching.count;
    return CAROM_OK;
}

/* Boxes and sizes, in frames that follow from the bounds. */
static carom_status measure_following(following *f) {
    carom_solid *next = f->next;
    const double *low = f->gathered.low, *high = f->gathered.high;
    f->report.bounds = (carom_bounds){.low = carom_vec(low[0], low[1], low[2]),
                                      .high = carom_vec(high[0], high[1], high[2])};
    carom_soup_begin_written(next->soup, low, high);
    carom_soup_get_view(next->soup, &next->view);
    carom_solid_prefix_sums_choose_frame(&next->sums, f->report.bounds.low, f->report.bounds.high);
    f->frame = carom_report_frame_of(&f->report.bounds, next->view.triangle_count);
    const carom_device_solid_frames frames = {
        .scale = next->view.scale,
        .origin = {next->view.origin.x, next->view.origin.y, next->view.origin.z},
        .exponent = next->sums.exponent,
        .half = f->frame.half,
        .shrink = f->frame.shrink,
        .area_scale = f->frame.scale};
    CAROM_TRY(carom_solid_reserve_regions(f->context, next));
    CAROM_TRY(carom_device_pass(f->context,
                                solid_update_table()->measure(f->context->device, next->device,
                                                              &frames, &f->sizes, next->regions)));
    next->longest = f->sizes.longest;
    next->side_lengths = f->sizes.side_lengths;
    carom_solid_prefix_sums_choose_scales(&next->sums, f->sizes.twice_area);
    return CAROM_OK;
}

static carom_status sum(following *f) {
    const carom_solid_prefix_sums *sums = &f->next->sums;
    const double centre[3] = {sums->centre.x, sums->centre.y, sums->centre.z};
    return carom_device_pass(f->context,
                             solid_update_table()->sum(f->context->device, f->next->device, centre,
                                                       sums->exponent, sums->scales[0]));
}

/* The area that is reported: with the triangles that are left to the host. */
static carom_status find_area(following *f) {
    const carom_soup_view *soup = &f->next->view;
    carom_sum area = {f->sizes.area.low, f->sizes.area.high, 0};
    uint32_t *open = CAROM_ARENA_TAKE(carom_scratch(f->context, 0), uint32_t, f->sizes.open);
    if (open == NULL)
        return carom_fail_memory(f->context, 4 * f->sizes.open, "the area of a solid");
    CAROM_TRY(carom_device_pass(
        f->context,
        solid_update_table()->get_open(f->context->device, f->next->device, open, f->sizes.open)));
    for (uint64_t i = 0; i < f->sizes.open; ++i) {
        const uint32_t *v = soup->corners + 3 * (uint64_t)open[i];
        carom_vec3 corner[3];
        for (int k = 0; k < 3; ++k)
            corner[k] = carom_soup_view_position(soup, v[f->turned ? 2 - k : k]);
        area = carom_sum_add(area, carom_report_area_precise(&f->frame, corner));
    }
    f->host_items += f->sizes.open;
    f->report.area = carom_report_area_of(&f->frame, area);
    return CAROM_OK;
}

/* A carom_solid_plain_faces_fn: regions are joined on the device, and sampled on the host. Where
 * very many faces intersect, the host does it all. */
static carom_status find_plain_faces(carom_context *context, carom_solid *solid,
                                     const carom_solid_query *query) {
    uint64_t count = 2 * solid->touch_count, regions, plain = 0;
    uint64_t triangles = solid->view.triangle_count;
    if (count > triangles) {
        CAROM_TRY(carom_solid_find_plain_faces(context, solid, query));
        return carom_device_pass(context, solid_update_table()->set_represents(
                                              context->device, solid->device, solid->represents));
    }
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t *touched = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *firsts =
        CAROM_ARENA_TAKE(scratch, uint32_t, triangles / CAROM_SOLID_LEAST_REGION + 1);
    if (touched == NULL || firsts == NULL)
        return carom_fail_memory(context, 4 * count, "the plain faces of a solid");
    CAROM_TRY(carom_solid_find_across(context, solid));
    for (uint64_t i = 0; i < solid->touch_count; ++i) {
        touched[2 * i] = solid->touches[i].a;
        touched[2 * i + 1] = solid->touches[i].b;
    }
    CAROM_TRY(carom_device_pass(
        context, solid_update_table()->join(context->device, solid->device, solid->across, touched,
                                            count, CAROM_SOLID_LEAST_REGION, firsts, &regions)));
    CAROM_ASSERT(regions <= triangles / CAROM_SOLID_LEAST_REGION);
    for (uint64_t i = 0; i < regions; ++i) {
        CAROM_TRY(carom_progress_look(context));
        if (carom_solid_is_plain_at(query, firsts[i])) firsts[plain++] = firsts[i];
    }
    return carom_device_pass(context,
                             solid_update_table()->mark_plain(context->device, solid->device,
                                                              firsts, plain, solid->represents));
}

/* Describes the next solid; the device then knows which faces are plain. */
static carom_status conclude(following *f) {
    carom_solid *next = f->next;
    uint64_t count = next->view.triangle_count;
    uint8_t *before = CAROM_ARENA_TAKE(carom_scratch(f->context, 0), uint8_t, count);
    if (before == NULL) return carom_fail_memory(f->context, count, "a solid");
    memcpy(before, next->represents, count);
    for (uint64_t t = 0; t < count; ++t)
        next->represents[t] = (uint8_t)(f->solid->represents[t] & ~CAROM_SOLID_PLAIN_FACE);
    next->info = (carom_solid_info){0};
    CAROM_TRY(carom_solid_describe(f->context, next, &f->report, &f->touching, find_plain_faces));
    next->info.complement = f->solid->info.complement; /* after its relation to itself */
    carom_solid_device_count(next);
    if (!next->plain || memcmp(before, next->represents, count) == 0) return CAROM_OK;
    return carom_device_pass(f->context, solid_update_table()->set_represents(
                                             f->context->device, next->device, next->represents));
}

static carom_status follow_gathered(following *f, carom_solid_followed *followed) {
    bool flat;
    double volume;
    *followed = CAROM_SOLID_ANEW;
    if (!f->gathered.finite) { /* the host says which */
        *followed = CAROM_SOLID_NOT_FOLLOWED;
        return CAROM_OK;
    }
    if (!f->gathered.coincide) return CAROM_OK;
    CAROM_TRY(find_crossings(f, &flat));
    if (flat) {
        *followed = CAROM_SOLID_NOT_FOLLOWED;
        return CAROM_OK;
    }
    CAROM_TRY(measure_following(f));
    if (carom_solid_corners_coincide(&f->next->view, &f->touching)) return CAROM_OK;
    if (carom_solid_looseness(f->next) > UPDATE_WORN * f->next->looseness) return CAROM_OK;
    CAROM_TRY(sum(f));
    if (!carom_solid_prefix_sums_volume(&f->next->sums, f->next->view.triangle_count, &volume)) {
        *followed = CAROM_SOLID_NOT_FOLLOWED;
        return CAROM_OK;
    }
    CAROM_TRY(find_area(f));
    f->report.volume = f->turned ? -volume : volume;
    if (carom_solid_is_inside_out(&f->report) != f->solid->info.inside_out) return CAROM_OK;
    CAROM_TRY(conclude(f));
    *followed = CAROM_SOLID_FOLLOWED;
    return CAROM_OK;
}

carom_status carom_solid_device_follow(carom_context *context, carom_solid *solid,
                                       carom_solid *next, const carom_device_solid_given *given,
                                       carom_solid_followed *followed, uint64_t *host_items) {
    following f = {.context = context,
                   .solid = solid,
                   .next = next,
                   .turned = solid->info.inside_out != solid->info.complement,
                   .report = {.shells = solid->info.shells}};
    *followed = CAROM_SOLID_NOT_FOLLOWED;
    if (next->device == NULL || solid->given.different != solid->view.vertex_count) return CAROM_OK;
    CAROM_TRY(prepare(&f));
    CAROM_TRY(carom_device_pass(
        context, solid_update_table()->gather(context->device, next->device, given, &f.gathered)));
    carom_status status = follow_gathered(&f, followed);
    carom_pairs_free(&f.touching);
    *host_items = f.host_items;
    return status;
}
