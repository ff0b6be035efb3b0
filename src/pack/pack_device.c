/* SPDX-License-Identifier: MIT */
/* Packing by an octree on the GPU. The rounds are those of pack_octree.c, and so are the balls: a
 * round examines the same groups of cells against the same balls, and inserts what they found in
 * the same order. The device holds cells and balls (pack_cuda.cu); what comes back are the balls
 * that each pass inserted, so that the goal, progress and cancelling are decided here. */
#include "pack/pack_device.h"

#include "base/progress.h"
#include "pack/pack_octree.h"

static const carom_cuda_pack *pack_device_table(void) {
    return carom_device_table(CAROM_CUDA_PACK);
}

carom_status carom_pack_check_device(carom_context *context, carom_packing_method method) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    CAROM_TRY(carom_context_require_table(context, pack_device_table(), "packings"));
    if (method != CAROM_PACKING_METHOD_OCTREE)
        return carom_context_require_cpu(context, "a packing by another method than the octree");
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

carom_status carom_pack_on_device(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    const carom_bvh *bvh = &mesh->bvh;
    pack_device_packer p = {
        .context = context, .device = context->device, .goal = goal, .balls = balls};
    if (!mesh->balanced)
        return carom_context_require_cpu(context, "a packing of a mesh that is not closed");
    CAROM_TRY(carom_pack_rounds_make(mesh, goal, &p.rounds));
    carom_device_pack_def def = {.mesh = {.nodes = bvh->nodes,
                                          .corners = mesh->corners,
                                          .block_count = bvh->node_count[0],
                                          .level_count = bvh->level_count,
                                          .unit = mesh->unit},
                                 .low = p.rounds.low,
                                 .unit = p.rounds.unit,
                                 .root = p.rounds.root,
                                 .last_rho = p.rounds.count != 0 ? p.rounds.rho[p.rounds.count - 1]
                                                                 : HUGE_VAL,
                                 .fast = goal->fast};
    for (uint32_t level = 0; level < bvh->level_count; ++level) {
        def.mesh.level_start[level] = bvh->level_start[level];
        def.mesh.node_count = bvh->level_start[level] + bvh->node_count[level];
    }
    carom_status status =
        carom_device_pass(context, pack_device_table()->begin(p.device, &def, &p.pack));
    if (status == CAROM_OK) status = pack_device_fill(&p, outcome);
    pack_device_table()->end(p.pack);
    return status;
}
