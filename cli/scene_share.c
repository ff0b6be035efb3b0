/* SPDX-License-Identifier: MIT */
/* Shares of the pairs of parts. Candidates are the pairs of parts whose boxes, enlarged by the
 * clearance and more, overlap; in their order they are divided into runs of equal work, so that a
 * shard has neighbours and prepares few parts.
 *
 * Invariant: a shard is the pairs between two limits, so that every pair is in one shard, whatever
 * the candidates are; and a pair that the scene may find is a candidate, so that both its parts are
 * in the scene of its shard. */
#include "cli/scene_share.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* By how much boxes are enlarged, of the largest coordinate: far more than the scene's own bounds
 * are rounded by. */
#define SHARE_SLACK 1e-6
/* In triangles: of a pair without any, such as two balls. */
#define SHARE_LEAST_WORK 100.0

void scene_share_free(scene_share *share) {
    free(share->parts);
    free(share->objects);
    free(share->ignored);
    *share = (scene_share){0};
}

bool scene_share_accept(void *user, uint32_t a, uint32_t b) {
    const scene_share *share = user;
    uint32_t x = share->parts[a], y = share->parts[b];
    uint64_t pair = x < y ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x;
    return share->first <= pair && pair < share->end;
}

static void share_include(carom_bounds *all, const carom_bounds *box) {
    all->low = (carom_vec3){fmin(all->low.x, box->low.x), fmin(all->low.y, box->low.y),
                            fmin(all->low.z, box->low.z)};
    all->high = (carom_vec3){fmax(all->high.x, box->high.x), fmax(all->high.y, box->high.y),
                             fmax(all->high.z, box->high.z)};
}

static carom_bounds share_enlarge(const carom_bounds *box, double clearance) {
    carom_vec3 p = box->low, q = box->high;
    double largest = fmax(fmax(fmax(fabs(p.x), fabs(p.y)), fabs(p.z)),
                          fmax(fmax(fabs(q.x), fabs(q.y)), fabs(q.z)));
    double by = fmin(clearance + SHARE_SLACK * (largest + clearance), DBL_MAX / 4.0);
    return (carom_bounds){
        {fmax(p.x - by, -DBL_MAX), fmax(p.y - by, -DBL_MAX), fmax(p.z - by, -DBL_MAX)},
        {fmin(q.x + by, DBL_MAX), fmin(q.y + by, DBL_MAX), fmin(q.z + by, DBL_MAX)}};
}

/* The pairs of parts that may clash, in ascending order. What is no mesh may reach out of its box:
 * it is near all others. */
static carom_status find_candidates(cli *cli, const scene_parts *parts, double clearance,
                                    carom_pairs *pairs) {
    carom_bounds *boxes = calloc((size_t)parts->count + 1, sizeof(*boxes));
    carom_bounds all = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    carom_broad_def def = {.boxes = boxes, .box_count = parts->count};
    carom_broad *broad = NULL;
    if (boxes == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < parts->count; ++i) share_include(&all, &parts->data[i].box);
    for (uint64_t i = 0; i < parts->count; ++i)
        boxes[i] =
            share_enlarge(parts->data[i].mesh != NULL ? &parts->data[i].box : &all, clearance);
    carom_status status = carom_broad_create(cli->context, &def, &broad);
    if (status == CAROM_OK) status = carom_broad_pairs(cli->context, broad, pairs);
    carom_broad_destroy(broad);
    free(boxes);
    return status;
}

/* The work of a pair: its triangles, and something for what has none. */
static double work_of(const scene_parts *parts, carom_pair pair) {
    return SHARE_LEAST_WORK + (double)parts->data[pair.a].triangles +
           (double)parts->data[pair.b].triangles;
}

/* Where runs of equal work begin and end, and which parts the run of the shard has. */
static void take_run(const scene_parts *parts, const carom_pairs *pairs, const shard_head *shard,
                     scene_share *share, bool *needed) {
    double all = 0.0, done = 0.0;
    share->first = 0;
    share->end = shard->number == shard->count ? UINT64_MAX : 0;
    for (uint64_t i = 0; i < pairs->count; ++i) all += work_of(parts, pairs->data[i]);
    for (uint64_t i = 0; i < pairs->count; ++i) {
        carom_pair pair = pairs->data[i];
        uint64_t key = (uint64_t)pair.a << 32 | pair.b;
        uint32_t run = (uint32_t)fmin(done / all * shard->count, shard->count - 1.0);
        done += work_of(parts, pair);
        if (run + 1 < shard->number) share->first = key + 1;
        if (run + 1 <= shard->number && shard->number != shard->count) share->end = key + 1;
        if (run + 1 == shard->number) needed[pair.a] = needed[pair.b] = true;
    }
}

static carom_status keep_needed(cli *cli, scene_parts *parts, const bool *needed,
                                scene_share *share) {
    for (uint64_t i = 0; i < parts->count; ++i) {
        share->objects[i] = needed[i] ? (uint32_t)share->count : CAROM_NONE;
        if (!needed[i]) continue;
        share->parts[share->count++] = (uint32_t)i;
        carom_status status = scene_parts_prepare(cli, parts, i);
        if (status != CAROM_OK) return status;
    }
    for (uint64_t i = 0; i < parts->ignored_count; ++i) {
        uint32_t a = share->objects[parts->ignored[i].a], b = share->objects[parts->ignored[i].b];
        if (a != CAROM_NONE && b != CAROM_NONE)
            share->ignored[share->ignored_count++] = (carom_pair){a, b};
    }
    return CAROM_OK;
}

carom_status scene_share_take(cli *cli, const shard_head *shard, double clearance,
                              scene_parts *parts, scene_share *share) {
    carom_pairs pairs = {0};
    bool *needed = calloc((size_t)parts->count + 1, sizeof(*needed));
    share->parts = calloc((size_t)parts->count + 1, sizeof(*share->parts));
    share->objects = calloc((size_t)parts->count + 1, sizeof(*share->objects));
    share->ignored = calloc((size_t)parts->ignored_count + 1, sizeof(*share->ignored));
    bool room =
        needed != NULL && share->parts != NULL && share->objects != NULL && share->ignored != NULL;
    carom_status status = room ? CAROM_OK : CAROM_NO_MEMORY;
    if (status == CAROM_OK && shard->number != 0) {
        status = find_candidates(cli, parts, clearance, &pairs);
        if (status == CAROM_OK) take_run(parts, &pairs, shard, share, needed);
    } else if (status == CAROM_OK) {
        for (uint64_t i = 0; i < parts->count; ++i) needed[i] = true;
    }
    if (status == CAROM_OK) status = keep_needed(cli, parts, needed, share);
    carom_pairs_free(&pairs);
    free(needed);
    return status;
}
