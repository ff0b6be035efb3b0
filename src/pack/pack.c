/* SPDX-License-Identifier: MIT */
/* A packing: created from a mesh in four steps: the surface in its frame (spheres_mesh.c), spheres
 * by one of three methods (pack_octree.c, pack_voxels.c, pack_prototypes.c), the nearest face of
 * each, and the shares of space (spheres_shares.c). */
#include "pack/pack.h"
#include "mesh/mesh.h"

#include <float.h>
#include <stdlib.h>

#include "base/math.h"
#include "base/names.h"
#include "base/progress.h"
#include "geom/box.h"
#include "geom/length.h"
#include "pack/pack_octree.h"
#include "spheres/spheres_overlap_item.h"
#include "spheres/spheres_shares.h"

/* As pack.h says. 512^3 voxels take 0.5 GB. The least epsilon is a third of the gain at which a
 * climb ends (CAROM_PACK_CLIMB_GAIN): finer rounds find no larger balls. */
#define PACK_DEFAULT_SPHERES 1000u
#define DEFAULT_EPSILON      0.05
#define LEAST_EPSILON        0.001
#define DEFAULT_VOXELS       128u
#define MOST_VOXELS          512u

/* A packing is complete up to a radius where no empty ball is larger by more than this. The bound
 * is the radius of the last round, rounded up to float32 by 1e-7 of it; the rest is spare. */
#define PACK_COMPLETE_RATIO 1.0001

CAROM_ENUM_NAMES(carom_packing_method, CAROM_PACKING_METHOD_COUNT, "octree", "greedy", "prototype",
                 "protosphere");
CAROM_RESULT_DEFINE_FREE(carom_packing_spheres);
CAROM_RESULT_DEFINE_FREE(carom_packing_cells);
CAROM_RESULT_FILL(carom_packing_spheres);

/* ---- Spheres --------------------------------------------------------------------------------- */

/* Balls in the order of their radii. */
typedef struct pack_ranked {
    carom_spheres_ball ball;
    uint64_t found;
} pack_ranked;

static int pack_larger_first(const void *a, const void *b) {
    const pack_ranked *c = a, *d = b;
    if (c->ball.radius != d->ball.radius) return c->ball.radius > d->ball.radius ? -1 : 1;
    return (c->found > d->found) - (c->found < d->found);
}

typedef struct finishing {
    const carom_spheres_mesh *mesh;
    const carom_spheres_ball *balls;
    carom_packing_sphere *spheres;
} finishing;

#define SPHERES_PER_RANGE 64u /* a search of some microseconds each */

static carom_status finish_range(void *argument, carom_range range) {
    const finishing *f = argument;
    double scale = carom_power_of_two(-f->mesh->shift);
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_spheres_ball *b = &f->balls[i];
        carom_vec3 c = carom_vec(b->x, b->y, b->z);
        carom_spheres_hit hit = carom_spheres_mesh_distance(f->mesh, c, CAROM_BVH_NONE);
        CAROM_ASSERT(b->radius <= hit.distance); /* no ball reaches out of the solid */
        double depth = (double)carom_float_down(hit.distance - CAROM_SPHERES_ERROR, 0.0);
        carom_packing_sphere *to = &f->spheres[i];
        memset(to, 0, sizeof(*to)); /* the padding, too */
        to->centre = carom_spheres_mesh_restore(f->mesh, c);
        to->radius = b->radius * scale;
        to->face = f->mesh->faces[hit.slot];
        to->depth = CAROM_MAX(depth, b->radius) * scale;
    }
    return CAROM_OK;
}

/* Sorts the balls, largest first, and makes spheres of them. */
static carom_status make_spheres(carom_context *context, const carom_spheres_mesh *mesh,
                                 carom_pack_balls *balls, carom_packing *packing) {
    uint64_t count = balls->balls.count;
    carom_arena *scratch = carom_scratch(context, 0);
    pack_ranked *order = CAROM_ARENA_TAKE(scratch, pack_ranked, count);
    packing->spheres = carom_allocate(&packing->allocator, count, sizeof(*packing->spheres));
    if (order == NULL || packing->spheres == NULL)
        return carom_fail_memory(context, count * (sizeof(*order) + sizeof(*packing->spheres)),
                                 "spheres of a packing");
    for (uint64_t i = 0; i < count; ++i) order[i] = (pack_ranked){balls->balls.data[i], i};
    if (count > 1) qsort(order, count, sizeof(*order), pack_larger_first);
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_ASSERT(i == 0 || order[i].ball.radius <= order[i - 1].ball.radius);
        balls->balls.data[i] = order[i].ball;
    }
    packing->info.spheres = count;
    finishing f = {mesh, balls->balls.data, packing->spheres};
    return carom_parallel_for(context, count, SPHERES_PER_RANGE, finish_range, &f);
}

/* Where winding numbers are 0 and 1, volumes are exact up to rounding: shares sum to the solid, and
 * a ball is in its share but for what leaks into others. In the frame, where the solid's box is no
 * larger than 1. */
static void pack_check_shares(const carom_spheres_mesh *mesh, const carom_spheres_ball *balls,
                              const carom_spheres_share *shares, uint32_t count, double solid) {
    double sum = 0.0;
    if (!mesh->balanced || !mesh->plain) return;
    for (uint32_t i = 0; i < count; ++i) {
        CAROM_ASSERT(shares[i].cover >= balls[i].radius);
        CAROM_ASSERT(shares[i].volume + shares[i].leak >=
                     carom_spheres_volume(balls[i].radius) * (1.0 - CAROM_SPHERES_VOLUME_ERROR) -
                         CAROM_SPHERES_VOLUME_ERROR);
        sum += shares[i].volume;
    }
    CAROM_ASSERT(fabs(sum - solid) <= CAROM_SPHERES_VOLUME_ERROR);
}

/* Computes secondary radii, covers and voids; converts to the caller's units. */
static carom_status make_shares(carom_context *context, const carom_spheres_mesh *mesh,
                                const carom_spheres_ball *balls, bool keep, bool coarse,
                                carom_packing *packing) {
    uint32_t count = (uint32_t)packing->info.spheres;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_spheres_share *shares = CAROM_ARENA_TAKE(scratch, carom_spheres_share, count);
    carom_spheres_cell_array cells = {0};
    if (shares == NULL)
        return carom_fail_memory(context, count * sizeof(*shares), "shares of a packing");
    carom_status status = carom_spheres_shares(mesh, balls, count, coarse, shares,
                                               keep ? &cells : NULL, &packing->info.cells);
    packing->cells = cells.data;
    packing->cell_count = cells.count;
    if (status != CAROM_OK) return status;
    double back = carom_power_of_two(-mesh->shift), cube = back * back * back, volume = 0.0;
    for (uint32_t i = 0; i < count; ++i) volume += shares[i].volume;
    pack_check_shares(mesh, balls, shares, count, packing->info.volume / cube);
    if (mesh->balanced &&
        !mesh->plain) { /* the cells are smaller than those of the estimate before */
        packing->info.fill *= packing->info.volume / (volume * cube);
        packing->info.volume = volume * cube;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const carom_spheres_share *s = &shares[i];
        carom_packing_sphere *to = &packing->spheres[i];
        to->secondary = (double)(float)carom_cbrt(s->volume / CAROM_SPHERES_BALL_VOLUME) * back;
        to->cover = (double)carom_float_up(s->cover, 0.0) * back;
        double rest =
            s->volume * (1.0 + CAROM_SPHERES_VOLUME_ERROR) - carom_spheres_volume(balls[i].radius);
        rest = CAROM_MAX(rest, 0.0) + s->leak * (1.0 + CAROM_SPHERES_VOLUME_ERROR);
        to->void_volume = (double)carom_float_up(rest, 0.0) * cube;
    }
    packing->info.shares = true;
    return CAROM_OK;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static carom_status pack_check_def(carom_context *context, const carom_packing_def *def) {
    if (!(def->fill >= 0.0 && def->fill < 1.0))
        return carom_fail(context, CAROM_BAD_INPUT, "fill is %g: it must be in [0, 1)", def->fill);
    if (!(def->radius >= 0.0 && def->radius <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "radius is %g: it must be finite and not negative", def->radius);
    if (!(def->epsilon == 0.0 || (def->epsilon >= LEAST_EPSILON && def->epsilon <= 1.0)))
        return carom_fail(context, CAROM_BAD_INPUT, "epsilon is %g: it must be 0 or in [%g, 1]",
                          def->epsilon, LEAST_EPSILON);
    if (def->voxels > MOST_VOXELS)
        return carom_fail(context, CAROM_BAD_INPUT, "%u voxels are more than %u", def->voxels,
                          MOST_VOXELS);
    if (def->fill > 0.0 && def->allow_open)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "fill cannot be a goal where open meshes are allowed, as their volume "
                          "is not known: give a count or a radius");
    return CAROM_OK;
}

/* The frame, the surface, and what the info says of them. `volume`: also where faces cross. */
static carom_status pack_load(carom_context *context, const carom_mesh_view *view, bool allow_open,
                              bool volume, carom_spheres_mesh *mesh, carom_packing *packing) {
    carom_packing_info *info = &packing->info;
    CAROM_TRY(carom_spheres_mesh_make(context, view, allow_open, mesh));
    info->origin = mesh->origin;
    info->bounds.low = carom_spheres_mesh_restore(mesh, mesh->low);
    info->bounds.high = carom_spheres_mesh_restore(mesh, mesh->high);
    info->inside_out = mesh->inside_out;
    info->volume = mesh->balanced ? mesh->report_volume : 0.0;
    if (mesh->balanced && !mesh->plain && volume) {
        double scale = carom_power_of_two(mesh->shift);
        CAROM_TRY(carom_spheres_solid_volume(mesh, &info->volume));
        info->volume /= scale * scale * scale;
    }
    return CAROM_OK;
}

/* Makes spheres of the balls, with their shares, and the rest of the info but `complete`. */
static carom_status pack_finish(const carom_spheres_mesh *mesh, const carom_pack_outcome *outcome,
                                bool skip_shares, bool keep_cells, bool coarse,
                                carom_pack_balls *balls, carom_packing *packing) {
    carom_context *context = mesh->context;
    carom_packing_info *info = &packing->info;
    double scale = carom_power_of_two(mesh->shift), cube = scale * scale * scale;
    CAROM_TRY(make_spheres(context, mesh, balls, packing));
    uint64_t count = info->spheres;
    info->least_radius = count != 0 ? packing->spheres[count - 1].radius : 0.0;
    info->empty_radius = outcome->empty / scale;
    info->fill = info->volume > 0.0 ? outcome->volume / (info->volume * cube) : 0.0;
    CAROM_ASSERT(!mesh->plain ||
                 info->fill <= 1.0 + CAROM_SPHERES_VOLUME_ERROR); /* disjoint, and inside */
    if (!skip_shares && count != 0)
        CAROM_TRY(make_shares(context, mesh, balls->balls.data, keep_cells, coarse, packing));
    context->work = (carom_work){.visits = outcome->visits};
    return CAROM_OK;
}

static carom_status pack(carom_context *context, const carom_packing_def *def, bool skip_volume,
                         carom_spheres_mesh *mesh, carom_pack_balls *balls,
                         carom_packing *packing) {
    carom_packing_info *info = &packing->info;
    CAROM_TRY(pack_load(context, carom_mesh_of_def(def->mesh), def->allow_open, !skip_volume, mesh,
                        packing));
    double scale = carom_power_of_two(mesh->shift), cube = scale * scale * scale;
    info->method = def->method;
    bool any = def->count == 0 && def->fill == 0.0 && def->radius == 0.0;
    carom_pack_goal goal = {.count = any               ? PACK_DEFAULT_SPHERES
                                     : def->count != 0 ? def->count
                                                       : UINT64_MAX,
                            .volume = def->fill > 0.0 ? def->fill * info->volume * cube : HUGE_VAL,
                            .radius = def->radius * scale,
                            .epsilon = def->epsilon != 0.0 ? def->epsilon : DEFAULT_EPSILON,
                            .fast = def->fast,
                            .voxels = def->voxels != 0 ? def->voxels : DEFAULT_VOXELS,
                            .seed = def->seed,
                            .as_published = def->method == CAROM_PACKING_METHOD_PROTOSPHERE};
    carom_pack_outcome outcome = {.empty = HUGE_VAL};
    carom_progress_begin(context, "packing spheres", goal.count != UINT64_MAX ? goal.count : 0);
    carom_status status = def->method == CAROM_PACKING_METHOD_GREEDY
                              ? carom_pack_by_voxels(mesh, &goal, balls, &outcome)
                          : def->method == CAROM_PACKING_METHOD_PROTOTYPE || goal.as_published
                              ? carom_pack_by_prototypes(mesh, &goal, balls, &outcome)
                              : carom_pack_by_octree(mesh, &goal, balls, &outcome);
    status = carom_progress_finish(context, status);
    if (status != CAROM_OK) return status;
    info->complete = balls->balls.count >= goal.count || outcome.volume >= goal.volume ||
                     (def->radius > 0.0 && outcome.empty <= PACK_COMPLETE_RATIO * goal.radius);
    return pack_finish(mesh, &outcome, def->skip_shares, def->keep_cells, false, balls, packing);
}

/* A packing that is made, and what is needed only until then. */
typedef struct packing_work {
    carom_packing *made;
    carom_spheres_mesh mesh;
    carom_pack_balls balls;
    carom_arena *scratch;
    carom_arena_mark mark;
} packing_work;

static carom_status packing_begin(carom_context *context, packing_work *work) {
    *work = (packing_work){.scratch = carom_scratch(context, 0)};
    work->made = carom_allocate(&context->allocator, 1, sizeof(*work->made));
    if (work->made == NULL) return carom_fail_memory(context, sizeof(*work->made), "a packing");
    *work->made = (carom_packing){.allocator = context->allocator};
    work->mark = carom_arena_get_mark(work->scratch);
    carom_pack_balls_begin(&work->balls, &context->allocator);
    return CAROM_OK;
}

/* Hands over the packing, unless it failed. */
static carom_status packing_end(packing_work *work, carom_status status, carom_packing **packing) {
    carom_pack_balls_free(&work->balls);
    carom_spheres_mesh_free(&work->mesh);
    carom_arena_rewind(work->scratch, work->mark);
    if (status == CAROM_OK)
        *packing = work->made;
    else
        carom_packing_destroy(work->made);
    return status;
}

static carom_status create_packing(carom_context *context, const carom_packing_def *def,
                                   bool skip_volume, carom_packing **packing) {
    CAROM_TRY(carom_pack_check_device(context, def->method));
    CAROM_TRY(pack_check_def(context, def));
    packing_work work;
    CAROM_TRY(packing_begin(context, &work));
    return packing_end(&work, pack(context, def, skip_volume, &work.mesh, &work.balls, work.made),
                       packing);
}

carom_status carom_packing_create(carom_context *context, const carom_packing_def *def,
                                  carom_packing **packing) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(packing, "packing");
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_REQUIRE_KNOWN(def->method, CAROM_PACKING_METHOD_COUNT, "method");
    *packing = NULL;
    return create_packing(context, def, false, packing);
}

carom_status carom_packing_create_without_volume(carom_context *context,
                                                 const carom_packing_def *def,
                                                 carom_packing **packing) {
    CAROM_ASSERT(def->fill == 0.0);
    *packing = NULL;
    return create_packing(context, def, true, packing);
}

/* ---- Deform ---------------------------------------------------------------------------------- */

static carom_status pack_check_deform(carom_context *context, const carom_packing_deform_def *def) {
    CAROM_TRY(carom_mesh_check(context, def->before));
    if (def->after->vertex_count != def->before->vertex_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the mesh has %llu vertices before and %llu after: positions after are "
                          "those of the same vertices",
                          (unsigned long long)def->before->vertex_count,
                          (unsigned long long)def->after->vertex_count);
    return CAROM_OK;
}

static carom_status deform_packing(const carom_packing *from, const carom_packing_deform_def *def,
                                   carom_spheres_mesh *mesh, carom_pack_balls *balls,
                                   carom_packing *packing, carom_context *context) {
    carom_mesh_view after = *def->before;
    after.positions = def->after->positions;
    after.scalar = def->after->scalar;
    after.stride = def->after->stride;
    CAROM_TRY(carom_mesh_check(context, &after));
    CAROM_TRY(pack_load(context, &after, def->allow_open, true, mesh, packing));
    packing->info.method = from->info.method;
    carom_packing_deform_def whole = *def;
    carom_pack_outcome outcome;
    whole.after = &after;
    carom_progress_begin(context, "carrying spheres", from->info.spheres);
    carom_status status = carom_pack_by_carrying(mesh, from, &whole, balls, &outcome);
    CAROM_TRY(carom_progress_finish(context, status));
    CAROM_TRY(pack_finish(mesh, &outcome, def->skip_shares, def->keep_cells, !def->fine_shares,
                          balls, packing));
    packing->info.complete = packing->info.spheres >= from->info.spheres;
    return CAROM_OK;
}

carom_status carom_packing_deform(carom_context *context, const carom_packing *packing,
                                  const carom_packing_deform_def *def, carom_packing **deformed) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE_OUTPUT(deformed, "packing that is deformed");
    *deformed = NULL;
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_REQUIRE_INPUT(def->before, "mesh before");
    CAROM_REQUIRE_INPUT(def->after, "mesh after");
    CAROM_TRY(pack_check_deform(context, def));
    packing_work work;
    CAROM_TRY(packing_begin(context, &work));
    return packing_end(
        &work, deform_packing(packing, def, &work.mesh, &work.balls, work.made, context), deformed);
}

void carom_packing_destroy(carom_packing *packing) {
    if (packing == NULL) return;
    carom_allocator allocator = packing->allocator;
    carom_release(&allocator, packing->spheres);
    carom_release(&allocator, packing->cells);
    carom_release(&allocator, packing);
}

/* ---- Results --------------------------------------------------------------------------------- */

carom_status carom_packing_get_info(const carom_packing *packing, carom_packing_info *info) {
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = packing->info;
    info->bytes = sizeof(*packing) + packing->info.spheres * sizeof(*packing->spheres) +
                  packing->cell_count * sizeof(*packing->cells);
    return CAROM_OK;
}

carom_status carom_packing_list_spheres(carom_context *context, const carom_packing *packing,
                                        carom_packing_spheres *spheres) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE_RESULT(spheres, "spheres");
    uint64_t writable;
    CAROM_TRY(carom_packing_spheres_begin(context, &context->allocator, spheres,
                                          packing->info.spheres, &writable));
    if (writable != 0)
        memcpy(spheres->data, packing->spheres, writable * sizeof(*packing->spheres));
    return carom_packing_spheres_end(spheres);
}

carom_status carom_packing_list_cells(carom_context *context, const carom_packing *packing,
                                      carom_packing_cells *cells) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE_RESULT(cells, "cells");
    uint64_t writable;
    CAROM_TRY(carom_packing_cells_begin(context, &context->allocator, cells, packing->cell_count,
                                        &writable));
    if (writable != 0) memcpy(cells->data, packing->cells, writable * sizeof(*packing->cells));
    return carom_packing_cells_end(cells);
}
