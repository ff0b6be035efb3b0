/* SPDX-License-Identifier: MIT */
/* A cover from outside: balls are fitted to points of the solid (cover_fit.c); cells prove
 * that they contain all of it (spheres_shares.c). Cells that stick out of their balls become points
 * of the next fit; what still sticks out after the last one makes the balls larger. Then the cover
 * is measured (cover_measure.c). */
#include "cover/cover.h"
#include "mesh/mesh.h"

#include <float.h>
#include <stdlib.h>

#include "base/power.h"
#include "base/progress.h"
#include "geom/box.h"
#include "spheres/spheres.h"

#define COVER_DEFAULT_COUNT 64u /* spheres, as cover.h says */

/* What is observed below: as in cover_fit.c; "(scatter)" is a difference that means nothing.
 */

/* Edge of the finest cells of the proof: this part of how far balls reach out, times the root of
 * their number. A ball's surface is then divided into about as many cells for any number. No more
 * than the most, of how far balls reach out, so that cells add at most a tenth to it. Observed:
 * half and twice as good (scatter), half in 1.2 times the time. */
#define COVER_CELL_EDGE 0.002
#define COVER_MOST_EDGE 0.0625

/* Units of centres: no finer edge is used, also where balls reach out by nothing. The division
 * ends at 17 units (spheres_shares.c). */
#define COVER_LEAST_UNITS 4.0

/* How much larger balls may become, of how far they reach out, for fewer cells: half of the
 * tolerance of the measure. Observed: 0 and 0.03 as good (scatter). */
#define COVER_GROWTH 0.01

/* Fits after which cells prove; and those at the beginning in which balls may move to other
 * regions: in the others they only converge, so that what they do not move stays covered. Observed:
 * 2 and 8 fits as good (scatter), 2 in 0.9 times the time, 8 in 1.2. */
#define COVER_FITS        4
#define COVER_MOVING_FITS 2

/* Edges of the cells before the proof, which only tell what points have missed, times those of the
 * proof: at first, and later. Observed: 1 to 8 and 1 to 4 as good (scatter). */
#define COVER_FIRST_EDGE 4.0
#define COVER_LATER_EDGE 2.0

/* Cells become points of the next fit where their centres are this near to the limit of their ball,
 * or beyond; of how far balls reach out. A ball that moves so far leaves them. Observed: 0 and 0.1
 * as good (scatter). */
#define COVER_POINT_DEPTH 0.03

CAROM_RESULT_DEFINE_FREE(carom_cover_spheres);
CAROM_RESULT_FILL(carom_cover_spheres);

CAROM_ARRAY(point_array, carom_vec3);

/* One cover at work, in the frame. */
typedef struct covering {
    carom_context *context;
    const carom_cover_def *def;
    carom_spheres_mesh mesh;
    double volume; /* of the solid, in the caller's units */
    carom_cover_fitting *fitting;
    carom_spheres_ball *sites, *balls; /* with the limits as radii; those of the cover */
    double *limits, *covers;
    uint32_t count;
    carom_spheres_cell_array cells;
    point_array added;
    bool skip_volume; /* that of the solid is not asked for */
} covering;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Lists the centres of cells that stick out of their balls, or are no more than `near` within. */
static bool cover_list_points(covering *c, double near) {
    double scale = carom_power_of_two(c->mesh.shift);
    c->added.count = 0;
    for (uint64_t i = 0; i < c->cells.count; ++i) {
        const carom_packing_cell *cell = &c->cells.data[i];
        const carom_spheres_ball *ball = &c->sites[cell->sphere];
        double half = 0.5 * cell->edge * scale;
        carom_vec3 p = carom_vec_scale(carom_vec_sub(cell->low, c->mesh.origin), scale);
        p = carom_vec_add(p, carom_vec(half, half, half));
        carom_vec3 away = carom_vec_sub(p, carom_vec(ball->x, ball->y, ball->z));
        if (carom_vec_length(away) < c->limits[cell->sphere] - near) continue;
        if (!point_array_push(&c->added, &c->context->allocator, p)) return false;
    }
    return true;
}

/* Divides the solid into cells of these balls, `coarse` times larger than for the proof.
 * `faces_only`: where the mesh is open, without those inside. */
static carom_status make_cells(covering *c, const carom_cover_fit *fit, double coarse,
                               bool faces_only) {
    double part = COVER_CELL_EDGE * sqrt((double)fit->count);
    double finest = CAROM_MAX(CAROM_MIN(coarse * part, COVER_MOST_EDGE) * fit->outside,
                              COVER_LEAST_UNITS * c->mesh.unit);
    c->count = fit->count;
    for (uint32_t k = 0; k < fit->count; ++k) {
        carom_vec3 p = carom_spheres_mesh_round(&c->mesh, fit->centres[k]);
        double wide = fit->radii[k] + COVER_GROWTH * fit->outside;
        c->limits[k] = CAROM_MIN(wide, fit->allowed[k]);
        CAROM_ASSERT(fit->radii[k] <= c->limits[k]);
        c->sites[k] = (carom_spheres_ball){p.x, p.y, p.z, c->limits[k]};
    }
    c->cells.count = 0;
    return carom_spheres_cover_cells(&c->mesh, c->sites, c->limits, c->count, finest, faces_only,
                                     c->covers, &c->cells);
}

/* Finds balls and cells. The first cells only tell what the points have missed. */
static carom_status cover_fit(covering *c, uint32_t count) {
    carom_cover_fit fit;
    CAROM_TRY(carom_cover_fit_balls(c->fitting, count, &fit));
    for (int i = 0;; ++i) {
        CAROM_TRY(make_cells(c, &fit,
                             i == 0           ? COVER_FIRST_EDGE
                             : i < COVER_FITS ? COVER_LATER_EDGE
                                              : 1.0,
                             i < COVER_FITS - 1));
        carom_progress_add(c->context, 0, 1);
        if (i == COVER_FITS) return CAROM_OK;
        if (!cover_list_points(c, COVER_POINT_DEPTH * fit.outside))
            return carom_fail_memory(c->context, c->cells.count * sizeof(carom_vec3),
                                     "points of a cover");
        if (c->added.count == 0) continue;
        CAROM_TRY(carom_cover_fit_more(c->fitting, c->added.data, c->added.count,
                                       i < COVER_MOVING_FITS, &fit));
    }
}

/* ---- Spheres --------------------------------------------------------------------------------- */

typedef struct cover_ranked {
    carom_spheres_ball ball;
    uint32_t index;
} cover_ranked;

static int cover_larger_first(const void *a, const void *b) {
    const cover_ranked *c = a, *d = b;
    if (c->ball.radius != d->ball.radius) return c->ball.radius > d->ball.radius ? -1 : 1;
    return (c->index > d->index) - (c->index < d->index);
}

/* Sorts the balls by their radii, without those that have no cell, and numbers the cells anew. */
static carom_status sort_balls(covering *c) {
    carom_arena *scratch = carom_scratch(c->context, 0);
    cover_ranked *order = CAROM_ARENA_TAKE(scratch, cover_ranked, c->count);
    uint32_t *rank_of = CAROM_ARENA_TAKE(scratch, uint32_t, c->count), count = 0;
    if (order == NULL || rank_of == NULL)
        return carom_fail_memory(c->context, c->count * sizeof(*order), "spheres of a cover");
    for (uint32_t k = 0; k < c->count; ++k) {
        if (!(c->covers[k] > 0.0)) continue;
        carom_spheres_ball ball = c->sites[k];
        ball.radius = (double)carom_float_up(c->covers[k], 0.0);
        order[count++] = (cover_ranked){ball, k};
    }
    if (count > 1) qsort(order, count, sizeof(*order), cover_larger_first);
    for (uint32_t k = 0; k < count; ++k) {
        c->balls[k] = order[k].ball;
        rank_of[order[k].index] = k;
    }
    c->count = count;
    for (uint64_t i = 0; i < c->cells.count; ++i) {
        CAROM_ASSERT(c->covers[c->cells.data[i].sphere] > 0.0); /* it has a rank */
        c->cells.data[i].sphere = rank_of[c->cells.data[i].sphere];
    }
    return CAROM_OK;
}

static carom_cover_measure measure_of(const carom_spheres_mesh *mesh, const carom_cover_outside *o,
                                      double solid_volume) {
    double back = carom_power_of_two(-mesh->shift), volume = o->volume * (back * back * back);
    carom_cover_measure measure = {.worst = {.lower = o->worst_lower * back,
                                             .value = o->worst * back,
                                             .upper = o->worst * back},
                                   .mean = o->mean * back,
                                   .volume = volume,
                                   .solid_volume = solid_volume};
    if (solid_volume > 0.0) measure.outside_volume = volume - solid_volume;
    return measure;
}

static carom_status find_volume(const carom_spheres_mesh *mesh, double *volume) {
    *volume = mesh->balanced ? mesh->report_volume : 0.0;
    if (!mesh->balanced || mesh->plain) return CAROM_OK;
    CAROM_TRY(carom_spheres_solid_volume(mesh, volume));
    double back = carom_power_of_two(-mesh->shift);
    *volume *= back * back * back;
    return CAROM_OK;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static carom_status cover_check_def(carom_context *context, const carom_cover_def *def) {
    if (!(def->distance >= 0.0 && def->distance <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "distance is %g: it must be finite and not negative", def->distance);
    if (!(def->margin >= 0.0 && def->margin <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "margin is %g: it must be finite and not negative", def->margin);
    if (def->count > CAROM_COVER_MOST_SPHERES)
        return carom_fail(context, CAROM_BAD_INPUT, "%llu spheres are more than %d",
                          (unsigned long long)def->count, CAROM_COVER_MOST_SPHERES);
    return CAROM_OK;
}

/* Makes the result: the balls with the margin, measured, and the cells. */
static carom_status cover_finish(covering *c, carom_cover *cover) {
    carom_cover_info *info = &cover->info;
    const carom_spheres_mesh *mesh = &c->mesh;
    double scale = carom_power_of_two(mesh->shift), back = carom_power_of_two(-mesh->shift);
    double margin = (double)carom_float_up(c->def->margin * scale, 0.0);
    CAROM_TRY(sort_balls(c));
    for (uint32_t k = 0; k < c->count; ++k)
        c->balls[k].radius = (double)carom_float_up(c->balls[k].radius, -margin);
    carom_cover_outside outside;
    CAROM_TRY(carom_cover_measure_union(mesh, carom_cover_fit_field(c->fitting), c->balls, c->count,
                                        &outside));
    *info = (carom_cover_info){.spheres = c->count,
                               .measure = measure_of(mesh, &outside, c->volume),
                               .margin = c->def->margin,
                               .bounds = {carom_spheres_mesh_restore(mesh, mesh->low),
                                          carom_spheres_mesh_restore(mesh, mesh->high)},
                               .origin = mesh->origin,
                               .inside_out = mesh->inside_out,
                               .cells = c->cells.count};
    info->complete =
        c->def->distance == 0.0 || info->measure.worst.upper <= c->def->distance + c->def->margin;
    cover->spheres = carom_allocate(&cover->allocator, c->count, sizeof(*cover->spheres));
    if (cover->spheres == NULL)
        return carom_fail_memory(c->context, c->count * sizeof(*cover->spheres),
                                 "spheres of a cover");
    for (uint32_t k = 0; k < c->count; ++k) {
        const carom_spheres_ball *b = &c->balls[k];
        carom_vec3 p = carom_spheres_mesh_restore(mesh, carom_vec(b->x, b->y, b->z));
        cover->spheres[k] = (carom_ball){p, b->radius * back};
    }
    if (!c->def->keep_cells) return CAROM_OK;
    cover->cells = c->cells.data;
    cover->cell_count = c->cells.count;
    c->cells = (carom_spheres_cell_array){0};
    return CAROM_OK;
}

static void empty(carom_cover *cover) {
    carom_release(&cover->allocator, cover->spheres);
    carom_release(&cover->allocator, cover->cells);
    *cover = (carom_cover){.allocator = cover->allocator};
}

/* A cover by up to `count` balls. */
static carom_status try_count(covering *c, uint32_t count, carom_cover *cover) {
    carom_context *context = c->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    c->sites = CAROM_ARENA_TAKE(scratch, carom_spheres_ball, 2 * (uint64_t)count);
    c->limits = CAROM_ARENA_TAKE(scratch, double, 2 * (uint64_t)count);
    if (c->sites == NULL || c->limits == NULL)
        return carom_fail_memory(context, 2 * count * sizeof(*c->sites), "spheres of a cover");
    c->balls = c->sites + count;
    c->covers = c->limits + count;
    CAROM_TRY(carom_cover_fit_begin(&c->mesh, count, &c->fitting));
    CAROM_TRY(cover_fit(c, count));
    CAROM_TRY(cover_finish(c, cover));
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* The search for the least number of balls: the factor after a number that sufficed, before one did
 * not, and after one that did not, before one did. How far balls reach out falls about with the
 * root of their number (observed: from 0.059 of the longest side for 32 balls to 0.021 for 256), so
 * these change it by 11 and 14 %. It ends when the number is known up to a part of it, which
 * changes how far balls reach out by 3 %, less than the scatter of the search; or after some
 * covers: from 1 ball twelve steps of the rise lead to 62. */
#define COVER_FALL            0.8
#define COVER_RISE            1.3
#define COVER_COUNT_TOLERANCE 0.05
#define COVER_TRIES           12
#define COVER_GUESS_RATIO     4u /* of the limits with which a first number is looked for */

/* A number of balls to begin with where a distance is the goal: what the greedy method needs. */
static carom_status guess_count(covering *c, uint32_t most, uint32_t *count) {
    carom_arena *scratch = carom_scratch(c->context, 0);
    double outside = c->def->distance * carom_power_of_two(c->mesh.shift);
    for (uint32_t limit = COVER_DEFAULT_COUNT;; limit *= COVER_GUESS_RATIO) {
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        limit = CAROM_MIN(limit, most);
        CAROM_TRY(carom_cover_fit_begin(&c->mesh, limit, &c->fitting));
        CAROM_TRY(carom_cover_fit_count(c->fitting, outside, count));
        CAROM_ASSERT(*count >= 1 && *count <= limit + 1);
        carom_arena_rewind(scratch, mark);
        if (*count <= limit || limit == most) break;
    }
    *count = CAROM_MAX(CAROM_MIN(*count, most), 1);
    return CAROM_OK;
}

/* As few balls as reach out no farther than the goal: by bisection, though more balls may by
 * chance reach out farther. */
static carom_status search_count(covering *c, uint32_t most, carom_cover *cover) {
    uint32_t low = 0, high = 0, count;
    CAROM_TRY(guess_count(c, most, &count));
    for (int i = 0; i < COVER_TRIES; ++i) {
        carom_cover trial = {.allocator = cover->allocator};
        carom_status status = try_count(c, count, &trial);
        if (status != CAROM_OK) {
            empty(&trial);
            return status;
        }
        bool reached = trial.info.complete;
        if (reached || high == 0) { /* or the best so far that does not */
            empty(cover);
            *cover = trial;
        } else {
            empty(&trial);
        }
        if (reached)
            high = count;
        else
            low = CAROM_MAX(count, low);
        CAROM_ASSERT(count <= most && (high == 0 || low < high));
        if (!reached && count == most) break;
        if (high != 0 && (double)(high - low) <= 1.0 + COVER_COUNT_TOLERANCE * (double)high) break;
        if (high == 0)
            count = CAROM_MIN((uint32_t)(COVER_RISE * (double)count) + 1, most);
        else
            count =
                low == 0 ? CAROM_MAX((uint32_t)(COVER_FALL * (double)high), 1) : (low + high) / 2;
    }
    return CAROM_OK;
}

static carom_status make_cover(covering *c, carom_cover *cover) {
    const carom_cover_def *def = c->def;
    CAROM_TRY(carom_spheres_mesh_make(c->context, carom_mesh_of_def(def->mesh), def->allow_open,
                                      &c->mesh));
    if (!c->skip_volume) CAROM_TRY(find_volume(&c->mesh, &c->volume));
    if (def->distance > 0.0)
        return search_count(c, (uint32_t)(def->count != 0 ? def->count : CAROM_COVER_MOST_SPHERES),
                            cover);
    return try_count(c, (uint32_t)(def->count != 0 ? def->count : COVER_DEFAULT_COUNT), cover);
}

static carom_status create_cover(carom_context *context, const carom_cover_def *def,
                                 bool skip_volume, carom_cover **cover) {
    CAROM_TRY(carom_context_require_cpu(context, "a cover"));
    CAROM_TRY(cover_check_def(context, def));
    carom_cover *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a cover");
    *made = (carom_cover){.allocator = context->allocator};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    covering c = {.context = context, .def = def, .skip_volume = skip_volume};
    carom_progress_begin(context, "covering a solid", def->distance > 0.0 ? 0 : COVER_FITS + 1);
    carom_status status = make_cover(&c, made);
    status = carom_progress_finish(context, status);
    carom_spheres_cell_array_release(&c.cells, &context->allocator);
    point_array_release(&c.added, &context->allocator);
    carom_spheres_mesh_free(&c.mesh);
    carom_arena_rewind(scratch, mark);
    if (status != CAROM_OK) {
        carom_cover_destroy(made);
        return status;
    }
    *cover = made;
    return CAROM_OK;
}

carom_status carom_cover_create(carom_context *context, const carom_cover_def *def,
                                carom_cover **cover) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(cover, "cover");
    CAROM_REQUIRE_INPUT(def, "definition");
    *cover = NULL;
    return create_cover(context, def, false, cover);
}

carom_status carom_cover_create_without_volume(carom_context *context, const carom_cover_def *def,
                                               carom_cover **cover) {
    *cover = NULL;
    return create_cover(context, def, true, cover);
}

void carom_cover_destroy(carom_cover *cover) {
    if (cover == NULL) return;
    carom_allocator allocator = cover->allocator;
    empty(cover);
    carom_release(&allocator, cover);
}

/* ---- Results --------------------------------------------------------------------------------- */

carom_status carom_cover_get_info(const carom_cover *cover, carom_cover_info *info) {
    CAROM_REQUIRE_INPUT(cover, "cover");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = cover->info;
    info->bytes = sizeof(*cover) + cover->info.spheres * sizeof(*cover->spheres) +
                  cover->cell_count * sizeof(*cover->cells);
    return CAROM_OK;
}

carom_status carom_cover_list_spheres(carom_context *context, const carom_cover *cover,
                                      carom_cover_spheres *spheres) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(cover, "cover");
    CAROM_REQUIRE_RESULT(spheres, "spheres");
    uint64_t writable;
    CAROM_TRY(carom_cover_spheres_begin(context, &context->allocator, spheres, cover->info.spheres,
                                        &writable));
    if (writable != 0) memcpy(spheres->data, cover->spheres, writable * sizeof(*cover->spheres));
    return carom_cover_spheres_end(spheres);
}

carom_status carom_cover_list_cells(carom_context *context, const carom_cover *cover,
                                    carom_packing_cells *cells) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(cover, "cover");
    CAROM_REQUIRE_RESULT(cells, "cells");
    uint64_t writable;
    CAROM_TRY(carom_packing_cells_begin(context, &context->allocator, cells, cover->cell_count,
                                        &writable));
    if (writable != 0) memcpy(cells->data, cover->cells, writable * sizeof(*cover->cells));
    return carom_packing_cells_end(cells);
}

/* ---- Measure --------------------------------------------------------------------------------- */

static carom_status load_spheres(const carom_spheres_mesh *mesh, const carom_ball *spheres,
                                 uint64_t count, carom_spheres_ball *balls) {
    double scale = carom_power_of_two(mesh->shift);
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 p = carom_vec_scale(carom_vec_sub(spheres[i].centre, mesh->origin), scale);
        double radius = spheres[i].radius * scale;
        if (!(fabs(p.x) < CAROM_SPHERES_FRAME_SIZE && fabs(p.y) < CAROM_SPHERES_FRAME_SIZE &&
              fabs(p.z) < CAROM_SPHERES_FRAME_SIZE && radius >= 0.0 &&
              radius < CAROM_SPHERES_FRAME_SIZE))
            return carom_fail(mesh->context, CAROM_BAD_INPUT,
                              "sphere %llu has the radius %g around (%g, %g, %g), which is not a "
                              "sphere near the mesh",
                              (unsigned long long)i, spheres[i].radius, spheres[i].centre.x,
                              spheres[i].centre.y, spheres[i].centre.z);
        balls[i] = (carom_spheres_ball){p.x, p.y, p.z, radius};
    }
    return CAROM_OK;
}

static carom_status cover_measure(carom_context *context, carom_spheres_mesh *mesh,
                                  const carom_ball *spheres, uint64_t count,
                                  carom_cover_measure *measure) {
    carom_spheres_ball *balls =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_spheres_ball, count);
    carom_cover_outside outside;
    carom_cover_field field;
    double volume;
    if (balls == NULL)
        return carom_fail_memory(context, count * sizeof(*balls), "spheres to measure");
    CAROM_TRY(load_spheres(mesh, spheres, count, balls));
    if (!mesh->balanced) CAROM_TRY(carom_cover_fit_make_field(mesh, (uint32_t)count, &field));
    CAROM_TRY(carom_cover_measure_union(mesh, &field, balls, (uint32_t)count, &outside));
    CAROM_TRY(find_volume(mesh, &volume));
    *measure = measure_of(mesh, &outside, volume);
    return CAROM_OK;
}

carom_status carom_cover_measure_spheres(carom_context *context, const carom_cover_def *def,
                                         const carom_ball *spheres, uint64_t count,
                                         carom_cover_measure *result) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(def != NULL && def->mesh != NULL, CAROM_IS_NULL("mesh"));
    CAROM_REQUIRE_INPUTS(spheres, count, "spheres");
    CAROM_REQUIRE_OUTPUT(result, "measures");
    CAROM_TRY(carom_context_require_cpu(context, "a cover"));
    if (count > CAROM_COVER_MOST_SPHERES)
        return carom_fail(context, CAROM_BAD_INPUT, "%llu spheres are more than %d",
                          (unsigned long long)count, CAROM_COVER_MOST_SPHERES);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_spheres_mesh prepared = {0};
    carom_status status = carom_spheres_mesh_make(context, def->mesh, def->allow_open, &prepared);
    if (status == CAROM_OK) status = cover_measure(context, &prepared, spheres, count, result);
    carom_spheres_mesh_free(&prepared);
    carom_arena_rewind(scratch, mark);
    return status;
}
