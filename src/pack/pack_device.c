/* SPDX-License-Identifier: MIT */
/* Packing by an octree and by prototypes on the GPU. The rounds are those of pack_octree.c, and so
 * are the balls: a round examines the same groups of cells against the same balls, and inserts what
 * they found in the same order. The batches are those of pack_prototypes.c likewise. The device
 * holds cells and balls (pack_cuda.cu); what comes back are the balls that each pass inserted, so
 * that the goal, progress and cancelling are decided here. */
#include "pack/pack_device.h"

#include "base/progress.h"
#include "pack/pack_octree.h"
#include "pack/pack_prototypes_item.h"

static const carom_cuda_pack *pack_device_table(void) {
    return carom_device_table(CAROM_CUDA_PACK);
}

carom_status carom_pack_check_device(carom_context *context, carom_packing_method method) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    CAROM_TRY(carom_context_require_table(context, pack_device_table(), "packings"));
    if (method == CAROM_PACKING_METHOD_GREEDY)
        return carom_context_require_cpu(context, "a packing by the greedy method");
    return CAROM_OK;
}

typedef struct pack_device_packer {
    carom_context *context;
    carom_device *device;
    carom_device_pack *pack;
    const carom_pack_goal *goal;
    carom_pack_balls *balls;
    carom_pack_rounds rounds;
    double volume, filed; /* filed: the radius for which balls were filed */
} pack_device_packer;

static bool pack_device_done(const pack_device_packer *p) {
    return p->balls->balls.count >= p->goal->count || p->volume >= p->goal->volume;
}

/* Takes over balls that were inserted, up to the goal. */
static carom_status pack_device_take(pack_device_packer *p, const carom_device_pack_found *found) {
    uint64_t before = p->balls->balls.count;
    for (uint64_t i = 0; i < found->ball_count && !pack_device_done(p); ++i) {
        if (!carom_pack_ball_array_push(&p->balls->balls, &p->balls->allocator, found->balls[i]))
            return carom_fail_memory(p->context, found->ball_count * sizeof(*found->balls),
                                     "spheres of a packing");
        p->volume += carom_spheres_volume(found->balls[i].radius);
    }
    carom_progress_add(p->context, 0, p->balls->balls.count - before);
    return carom_progress_look(p->context);
}

static carom_status pack_device_run_round(pack_device_packer *p, uint32_t round) {
    double rho = p->rounds.rho[round];
    double enough = CAROM_MAX(rho * p->rounds.fewer, p->goal->radius);
    uint64_t groups;
    CAROM_TRY(carom_device_pass(p->context, pack_device_table()->begin_round(
                                                p->device, p->pack, rho, enough,
                                                carom_pack_group_bits(&p->rounds, rho), &groups)));
    if (groups == 0) return CAROM_OK;
    if (p->filed == 0.0 || rho < CAROM_PACK_REFILE * p->filed) {
        double cell = CAROM_MAX(CAROM_PACK_CELL_RATIO * rho, CAROM_PACK_LEAST_CELL);
        CAROM_TRY(
            carom_device_pass(p->context, pack_device_table()->file(p->device, p->pack, cell,
                                                                    CAROM_PACK_REACH_RATIO * rho)));
        p->filed = rho;
    }
    while (groups != 0 && !pack_device_done(p)) {
        carom_device_pack_found found;
        CAROM_TRY(carom_device_pass(p->context,
                                    pack_device_table()->examine(p->device, p->pack, &found)));
        CAROM_TRY(pack_device_take(p, &found));
        groups = found.groups;
    }
    return CAROM_OK;
}

static carom_status pack_device_fill(pack_device_packer *p, carom_pack_outcome *outcome) {
    for (uint32_t round = 0; round < p->rounds.count && !pack_device_done(p); ++round)
        CAROM_TRY(pack_device_run_round(p, round));
    carom_device_pack_end end;
    CAROM_TRY(
        carom_device_pass(p->context, pack_device_table()->summary(p->device, p->pack, &end)));
    double least = p->rounds.count != 0 ? p->rounds.rho[p->rounds.count - 1] : HUGE_VAL;
    double largest = CAROM_MAX(end.largest, CAROM_MAX(end.unresolved, least));
    outcome->volume = p->volume;
    outcome->empty = p->goal->fast ? HUGE_VAL : largest;
    outcome->visits = end.visits;
    return CAROM_OK;
}

/* The surface in host memory. */
static carom_device_pack_mesh pack_device_mesh(const carom_spheres_mesh *mesh) {
    const carom_bvh *bvh = &mesh->bvh;
    carom_device_pack_mesh m = {.nodes = bvh->nodes,
                                .corners = mesh->corners,
                                .block_count = bvh->node_count[0],
                                .level_count = bvh->level_count,
                                .unit = mesh->unit};
    for (uint32_t level = 0; level < bvh->level_count; ++level) {
        m.level_start[level] = bvh->level_start[level];
        m.node_count = bvh->level_start[level] + bvh->node_count[level];
    }
    return m;
}

static carom_status pack_device_begin(pack_device_packer *p, const carom_spheres_mesh *mesh,
                                      carom_device_pack_def *def) {
    if (!mesh->balanced)
        return carom_context_require_cpu(p->context, "a packing of a mesh that is not closed");
    def->mesh = pack_device_mesh(mesh);
    return carom_device_pass(p->context, pack_device_table()->begin(p->device, def, &p->pack));
}

carom_status carom_pack_on_device(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    pack_device_packer p = {
        .context = context, .device = context->device, .goal = goal, .balls = balls};
    CAROM_TRY(carom_pack_rounds_make(mesh, goal, &p.rounds));
    carom_device_pack_def def = {.low = p.rounds.low,
                                 .unit = p.rounds.unit,
                                 .root = p.rounds.root,
                                 .last_rho = p.rounds.count != 0 ? p.rounds.rho[p.rounds.count - 1]
                                                                 : HUGE_VAL,
                                 .fast = goal->fast};
    carom_status status = pack_device_begin(&p, mesh, &def);
    if (status == CAROM_OK) status = pack_device_fill(&p, outcome);
    pack_device_table()->end(p.pack);
    return status;
}

/* ---- Prototypes ------------------------------------------------------------------------------ */

static carom_status pack_device_file_for(pack_device_packer *p, double cell, double radius) {
    p->filed = radius;
    return carom_device_pass(
        p->context,
        pack_device_table()->file(p->device, p->pack, cell, CAROM_PACK_REACH_RATIO * radius));
}

static carom_status pack_device_run_batch(pack_device_packer *p, const carom_spheres_mesh *mesh,
                                          uint64_t prototypes_before, uint32_t count) {
    const carom_device_prototypes prototypes = {.low = mesh->low,
                                                .high = mesh->high,
                                                .seed = p->goal->seed,
                                                .before = prototypes_before,
                                                .count = count,
                                                .as_published = p->goal->as_published};
    double best;
    CAROM_TRY(carom_device_pass(
        p->context, pack_device_table()->climb(p->device, p->pack, &prototypes, &best)));
    if (best > 0.0 && best < CAROM_PROTOTYPE_REFILE * p->filed) {
        double cell = CAROM_MAX(CAROM_PACK_CELL_RATIO * best, CAROM_PACK_LEAST_CELL);
        CAROM_TRY(pack_device_file_for(p, cell, best));
    }
    carom_device_pack_found found;
    double enough = CAROM_MAX(CAROM_PROTOTYPE_RADIUS_RATIO * best, p->goal->radius);
    CAROM_TRY(carom_device_pass(p->context,
                                pack_device_table()->insert(p->device, p->pack, enough, &found)));
    return pack_device_take(p, &found);
}

static carom_status pack_device_run_batches(pack_device_packer *p, const carom_spheres_mesh *mesh,
                                            carom_pack_outcome *outcome) {
    uint32_t empty = 0;
    CAROM_TRY(pack_device_file_for(p, CAROM_PROTOTYPE_FILED, CAROM_PROTOTYPE_FILED));
    while (!pack_device_done(p) && empty < CAROM_PROTOTYPE_EMPTY_BATCHES) {
        uint64_t before = p->balls->balls.count;
        uint32_t count = carom_prototype_batch(before);
        CAROM_TRY(pack_device_run_batch(p, mesh, outcome->visits, count));
        empty = p->balls->balls.count > before ? 0 : empty + 1;
        outcome->visits += count;
        outcome->volume = p->volume;
    }
    return CAROM_OK;
}

carom_status carom_pack_prototypes_on_device(const carom_spheres_mesh *mesh,
                                             const carom_pack_goal *goal, carom_pack_balls *balls,
                                             carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    pack_device_packer p = {
        .context = context, .device = context->device, .goal = goal, .balls = balls};
    carom_device_pack_def def = {.fast = goal->fast}; /* no cells */
    carom_status status = pack_device_begin(&p, mesh, &def);
    if (status == CAROM_OK) status = pack_device_run_batches(&p, mesh, outcome);
    pack_device_table()->end(p.pack);
    return status;
}
