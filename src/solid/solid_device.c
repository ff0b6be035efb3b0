/* SPDX-License-Identifier: MIT */
/* Solids of contexts of backend cuda. The GPU finds the faces that meet and adds up their terms
 * (solid_cuda.cu), for one query or for many at a time. Here its sums become an accumulator, and
 * what it listed for the CPU is done: the intersection of faces in degenerate position. Where
 * triangles are added one by one, the GPU does that, too; it is given the winding numbers of the
 * components' first vertices, as the CPU casts the rays.
 *
 * A solid is prepared on the CPU as ever; what searches need is copied to the device. */
#include "base/progress.h"
#include "geom/length.h"
#include "solid/solid_query.h"

static const carom_cuda_solid *solid_device_table(void) {
    return carom_device_table(CAROM_CUDA_SOLID);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

carom_status carom_solid_device_check_new(carom_context *context) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    return carom_context_require_table(context, solid_device_table(), "solids");
}

carom_status carom_solid_device_make(carom_context *context, carom_solid *solid) {
    const carom_soup_view *soup = &solid->view;
    const carom_bvh *bvh = soup->bvh;
    carom_device_solid_arrays arrays = {
        .positions = soup->positions,
        .corners = soup->corners,
        .ends = solid->ends,
        .firsts = solid->firsts,
        .represents = solid->represents,
        .blocks = solid->sums.blocks,
        .vertex_count = soup->vertex_count,
        .triangle_count = soup->triangle_count,
        .block_count = solid->sums.block_count,
        .tree = {.nodes = bvh->nodes,
                 .items = bvh->items,
                 .level_count = bvh->level_count,
                 .block_count = bvh->level_count != 0 ? bvh->node_count[0] : 0,
                 .scale = soup->scale,
                 .origin = {soup->origin.x, soup->origin.y, soup->origin.z}}};
    CAROM_ASSERT(soup->scalar == CAROM_SCALAR_FLOAT64);
    for (uint32_t level = 0; level < bvh->level_count; ++level) {
        arrays.tree.level_start[level] = bvh->level_start[level];
        arrays.tree.node_count = bvh->level_start[level] + bvh->node_count[level];
    }
    CAROM_TRY(carom_device_pass(
        context, solid_device_table()->create(context->device, &arrays, &solid->device)));
    carom_solid_device_count(solid);
    solid->looseness = carom_solid_looseness(solid);
    return CAROM_OK;
}

void carom_solid_device_count(carom_solid *solid) {
    solid->info.bytes += solid_device_table()->bytes(solid->device);
}

void carom_solid_device_release(carom_solid *solid) {
    if (solid->device == NULL) return;
    solid_device_table()->destroy(solid->device);
    solid->device = NULL;
}

carom_status carom_solid_check_backend(carom_context *context, const carom_solid *solid) {
    return carom_context_require_made(context, carom_backend_of(solid->device), "the solid");
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Errors of a move in float32, relative to the numbers it is summed from: far more than the ten
 * roundings of 2^-24 that it has. And of a pose in doubles, relative to world coordinates. */
#define DEVICE_MOVE_ERROR 0x1p-18
#define DEVICE_POSE_ERROR 0x1p-44
/* Components of a moved point: three products of up to the reach, and the shift. */
#define DEVICE_MOVE_PRODUCTS 4.0
/* Range of what float32 can express, with room for products of two within 2^-126 to 2^127: the
 * ratio of both scales and its inverse, and lengths in the frame of a tree. */
#define DEVICE_MOST_RATIO   0x1p40
#define DEVICE_MOST_LENGTH  0x1p60
#define DEVICE_LEAST_LENGTH 0x1p-100

/* From the frame of one tree to that of the other. False when float32 cannot express it. */
static bool make_move(const carom_soup_side *from, const carom_soup_side *to,
                      carom_device_move *move) {
    const carom_soup_view *f = &from->view, *t = &to->view;
    const double *rf = from->frame.r, *rt = to->frame.r;
    carom_vec3 centre = carom_vec_scale(f->origin, 1.0 / f->scale); /* where from's boxes are 0 */
    carom_vec3 way = carom_vec_sub(carom_frame_apply(&from->frame, centre), to->frame.t);
    const double origin[3] = {t->origin.x, t->origin.y, t->origin.z};
    double ratio = t->scale / f->scale, size = 0.0, reach = 0.0;
    for (int k = 0; k < 3; ++k)
        reach = CAROM_MAX(
            reach, CAROM_MAX(fabs((double)f->bounds.low[k]), fabs((double)f->bounds.high[k])));
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            move->turn[i][j] =
                (float)(ratio * ((rt[i] * rf[j] + rt[3 + i] * rf[3 + j]) + rt[6 + i] * rf[6 + j]));
        double shift = t->scale * ((rt[i] * way.x + rt[3 + i] * way.y) + rt[6 + i] * way.z);
        move->shift[i] = (float)(shift - origin[i]);
        size = CAROM_MAX(size, fabs(shift) + fabs(origin[i]));
    }
    double world = (from->largest + to->largest) +
                   (carom_vec_largest(from->frame.t) + carom_vec_largest(to->frame.t));
    double slack = DEVICE_MOVE_ERROR * (size + DEVICE_MOVE_PRODUCTS * ratio * reach) +
                   DEVICE_POSE_ERROR * t->scale * (world + carom_vec_largest(way));
    move->slack = (float)slack;
    return ratio > 1.0 / DEVICE_MOST_RATIO && ratio < DEVICE_MOST_RATIO &&
           slack < DEVICE_MOST_LENGTH && slack >= DEVICE_LEAST_LENGTH && reach < DEVICE_MOST_LENGTH;
}

bool carom_solid_device_can(const carom_solid_query *query) {
    carom_device_move unused;
    return query->solids[0]->device != NULL && query->consider == carom_solid_consider &&
           !query->record && !query->wide && !query->posed.extreme &&
           make_move(&query->posed.b, &query->posed.a, &unused) &&
           make_move(&query->posed.a, &query->posed.b, &unused);
}

static void solid_device_describe(const carom_solid_query *query, carom_device_overlap *to) {
    memset(to, 0, sizeof(*to));
    for (int of_b = 0; of_b < 2; ++of_b) {
        to->solids[of_b] = query->solids[of_b]->device;
        to->frames[of_b] = carom_solid_side(query, of_b)->frame;
        to->by_winding[of_b] = query->solids[of_b]->info.by_winding;
        to->error_units[of_b] = query->error_units[of_b];
    }
    to->power = query->power;
    to->params = carom_solid_params_of(query);
    memcpy(to->bounds, query->bounds, sizeof(to->bounds));
    memcpy(to->scales, query->scales, sizeof(to->scales));
    (void)make_move(&query->posed.b, &query->posed.a, &to->b_to_a);
    (void)make_move(&query->posed.a, &query->posed.b, &to->a_to_b);
}

static carom_sum solid_device_sum_of(carom_solid_sum sum) {
    return (carom_sum){sum.low, sum.high, 0};
}

static void read_accumulator(const carom_device_accumulator *from, carom_solid_accumulator *to) {
    double low[3], high[3];
    carom_solid_accumulator_begin(to);
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        to->terms[i] = solid_device_sum_of(from->terms[i]);
    for (int k = 0; k < 2; ++k) {
        to->errors[k] = solid_device_sum_of(from->errors[k]);
        to->swept[k] = solid_device_sum_of(from->swept[k]);
        for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i)
            to->moments[k].sums[i] = solid_device_sum_of(from->moments[k][i]);
    }
    if (from->high[0] != 0) {
        for (int k = 0; k < 3; ++k) {
            low[k] = carom_solid_from_ordered(~from->low[k]);
            high[k] = carom_solid_from_ordered(from->high[k]);
        }
        to->low = carom_vec(low[0], low[1], low[2]);
        to->high = carom_vec(high[0], high[1], high[2]);
    }
    to->span = from->span != 0 ? carom_solid_from_ordered(from->span) : 0.0;
    to->pairs = from->pairs;
    to->undecided = from->undecided;
    to->added = from->added;
    to->any_volume = (from->flags & CAROM_DEVICE_ANY_VOLUME) != 0;
    to->too_large = (from->flags & CAROM_DEVICE_TOO_LARGE) != 0;
    to->crossing = (from->flags & CAROM_DEVICE_CROSSING) != 0;
    to->plain_crossing = (from->flags & CAROM_DEVICE_PLAIN) != 0;
    to->moved[0] = (from->flags & CAROM_DEVICE_MOVED_A) != 0;
    to->moved[1] = (from->flags & CAROM_DEVICE_MOVED_B) != 0;
    memcpy(to->crossed, from->crossed, sizeof(to->crossed));
}

/* What the GPU listed for the CPU, added to the accumulators of the queries. */
static carom_status add_lists(carom_context *context, const carom_solid_query *const *queries,
                              carom_solid_accumulator *const *accs,
                              const carom_device_found *found) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_device_encounter *degenerate =
        CAROM_ARENA_TAKE(scratch, carom_device_encounter, found->degenerate);
    if (degenerate == NULL)
        return carom_fail_memory(context, found->degenerate * sizeof(*degenerate),
                                 "faces that meet");
    CAROM_TRY(carom_device_pass(context, solid_device_table()->get_degenerate(
                                             context->device, degenerate, found->degenerate)));
    for (uint64_t i = 0; i < found->degenerate; ++i) {
        const carom_device_encounter *e = &degenerate[i];
        carom_solid_face a, b;
        if (i % CAROM_SOLID_PER_LOOK == 0) CAROM_TRY(carom_progress_look(context));
        carom_solid_pose(queries[e->query], 0, e->a, &a);
        carom_solid_pose(queries[e->query], 1, e->b, &b);
        carom_solid_relate(accs[e->query], &a, &b);
    }
    return CAROM_OK;
}

/* The roots of solids whose triangles are added one by one. */
static carom_status list_roots(carom_context *context, const carom_solid_query *const *queries,
                               uint32_t count, carom_device_link **roots, uint32_t *root_count) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < 2 * count; ++i)
        if (queries[i / 2]->changes[i % 2] != NULL)
            most += queries[i / 2]->solids[i % 2]->root_count;
    *root_count = 0;
    *roots = CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_device_link, most);
    if (*roots == NULL) return carom_fail_memory(context, most * sizeof(**roots), "components");
    for (uint32_t i = 0; i < 2 * count; ++i) {
        const carom_solid_query *query = queries[i / 2];
        const int of_b = (int)(i % 2);
        for (uint32_t k = 0; query->changes[of_b] != NULL && k < query->solids[of_b]->root_count;
             ++k) {
            uint32_t vertex = query->solids[of_b]->roots[k];
            int winding = carom_solid_winding(query, of_b, vertex);
            if (winding != 0)
                (*roots)[(*root_count)++] =
                    (carom_device_link){i / 2, (uint32_t)of_b, vertex, winding};
        }
    }
    return carom_progress_look(context);
}

carom_status carom_solid_device_search(carom_context *context,
                                       const carom_solid_query *const *queries, uint32_t count,
                                       carom_solid_accumulator *const *accs) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_overlap *described = CAROM_ARENA_TAKE(scratch, carom_device_overlap, count);
    carom_device_accumulator *sums = CAROM_ARENA_TAKE(scratch, carom_device_accumulator, count);
    carom_device_found found;
    if (count == 0) return CAROM_OK;
    if (described == NULL || sums == NULL)
        return carom_fail_memory(context, count * (sizeof(*sums) + sizeof(*described)), "queries");
    for (uint32_t i = 0; i < count; ++i) solid_device_describe(queries[i], &described[i]);
    carom_device_link *roots;
    uint32_t root_count;
    CAROM_TRY(list_roots(context, queries, count, &roots, &root_count));
    carom_status status =
        carom_device_pass(context, solid_device_table()->search(context->device, described, count,
                                                                roots, root_count, sums, &found));
    for (uint32_t i = 0; status == CAROM_OK && i < count; ++i) {
        read_accumulator(&sums[i], accs[i]);
        for (int of_b = 0; of_b < 2; ++of_b)
            accs[i]->one_by_one[of_b] = queries[i]->changes[of_b] != NULL;
    }
    if (status == CAROM_OK) status = add_lists(context, queries, accs, &found);
    accs[0]->visits += found.node_pairs; /* of all of them */
    accs[0]->candidates += found.candidates;
    carom_arena_rewind(scratch, mark);
    return status;
}
