/* SPDX-License-Identifier: MIT */
/* All overlapping pairs of many boxes, from scratch and per frame, beside other libraries. The
 * figures of the thesis (Loi 2010) are in papers_loi2010.c.
 *
 * From scratch: bounds to pair list, everything built inside the timed call. A frame: all boxes
 * moved, then all pairs; each contender has its own copy of the scene and a structure that it
 * keeps. Answers are compared by count and checksum: from scratch before the timed rounds, frames
 * after each of them by the count of a structure of ours made anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"
#include "cli/platform.h"
#include "scenes/boxes.h"

typedef struct player {
    const char *name;
    carom_context *context; /* NULL: a peer */
    carom_broad_method method;
    bool tenth; /* only the first tenth of the boxes moves */
    peer_box_pairs_fn *pairs_fn;
    peer_box_frame_fn *frame_fn;
    const scene_boxes *scene; /* of scratch */

    scene_boxes own; /* of frames */
    carom_broad *broad;
    void *prepared;
    carom_pairs pairs, begun, ended;
    uint64_t count;   /* of the last answer */
    uint64_t checked; /* what it should be */
    const carom_pair *list;
} player;

static peer_boxes boxes_of(const scene_boxes *scene) {
    return (peer_boxes){&scene->bounds->low.x, scene->count};
}

static bool take_peer(player *p, const peer_pairs *found) {
    p->count = found->count;
    p->list = (const carom_pair *)(const void *)found->data;
    return true;
}

/* ---- from scratch ---------------------------------------------------------------------------- */

static bool query_scratch(player *p) {
    if (p->context == NULL) {
        peer_pairs found;
        peer_boxes boxes = boxes_of(p->scene);
        return p->pairs_fn(&boxes, &found) && take_peer(p, &found);
    }
    carom_broad *broad;
    carom_broad_def def = {
        .boxes = p->scene->bounds, .box_count = p->scene->count, .method = p->method};
    bool done = carom_broad_create(p->context, &def, &broad) == CAROM_OK &&
                carom_broad_pairs(p->context, broad, &p->pairs) == CAROM_OK;
    carom_broad_destroy(broad);
    p->count = p->pairs.count;
    p->list = p->pairs.data;
    return done;
}

static bool run_scratch(void *input) {
    player *p = input;
    return query_scratch(p) && p->count == p->checked;
}

/* Compares a contender's whole answer with the first's. */
static void judge(bench *bench, player *p, uint64_t *count, uint64_t *checksum) {
    if (!query_scratch(p)) p->count = 0;
    uint64_t sum = scene_boxes_checksum(p->list, p->count);
    if (*count == UINT64_MAX) {
        *count = p->count;
        *checksum = sum;
    }
    p->checked = *count;
    if (p->count == *count && sum == *checksum) return;
    bench_note(bench, "%s: %llu pairs, checksum %016llx, where %llu, %016llx", p->name,
               (unsigned long long)p->count, (unsigned long long)sum, (unsigned long long)*count,
               (unsigned long long)*checksum);
    p->checked = UINT64_MAX; /* marked as wrong */
}

#define MOST_PLAYERS 9

static uint32_t scratch_players(carom_context *serial, carom_context *parallel, player *players) {
    static const char *const names[] = {"Embree", "FCL", "Bullet", "CGAL"};
    static const char *const symbols[] = {"peer_embree_box_pairs", "peer_fcl_box_pairs",
                                          "peer_bullet_box_pairs", "peer_cgal_box_pairs"};
    const player ours[] = {
        {.name = "carom", .context = serial},
        {.name = "carom, all threads", .context = parallel},
        {.name = "carom, grid", .context = serial, .method = CAROM_BROAD_METHOD_GRID},
        {.name = "carom, sweep", .context = serial, .method = CAROM_BROAD_METHOD_SWEEP}};
    uint32_t count = 0;
    for (; count < 4; ++count) players[count] = ours[count];
    for (int i = 0; i < 4; ++i) {
        player peer = {.name = names[i], .pairs_fn = (peer_box_pairs_fn *)bench_peer(symbols[i])};
        if (peer.pairs_fn != NULL) players[count++] = peer;
    }
    return count;
}

static void scratch(bench *bench, carom_context *serial, carom_context *parallel, uint64_t size,
                    scene_boxes_sizes sizes) {
    player players[MOST_PLAYERS];
    bench_contender contenders[MOST_PLAYERS];
    scene_boxes scene;
    uint64_t pairs = UINT64_MAX, checksum = 0;
    if (!scene_boxes_make(size, sizes, SCENE_BOXES_SEED, &scene)) return;
    uint32_t count = scratch_players(serial, parallel, players);
    for (uint32_t i = 0; i < count; ++i) {
        players[i].scene = &scene;
        judge(bench, &players[i], &pairs, &checksum);
        contenders[i] = (bench_contender){players[i].name, NULL, run_scratch, &players[i]};
    }
    char job[64];
    const char *kind = sizes == SCENE_BOXES_MONO ? "mono" : "poly";
    snprintf(job, sizeof(job), "%s %lluk", kind, (unsigned long long)size / 1000);
    bench_compare(bench, job, (double)size, contenders, count);
    for (uint32_t i = 0; i < count; ++i) carom_pairs_free(&players[i].pairs);
    carom_broad_info info;
    carom_broad *broad;
    carom_broad_def def = {.boxes = scene.bounds, .box_count = size};
    if (carom_broad_create(serial, &def, &broad) == CAROM_OK &&
        carom_broad_get_info(broad, &info) == CAROM_OK)
        bench_note(bench, "%s: %llu pairs, checksum %016llx; %.1f bytes per box", job,
                   (unsigned long long)pairs, (unsigned long long)checksum,
                   (double)info.bytes / (double)size);
    carom_broad_destroy(broad);
    scene_boxes_free(&scene);
    platform_trim_memory();
}

/* ---- per frame ------------------------------------------------------------------------------- */

static void move(void *input) {
    player *p = input;
    scene_boxes_move(&p->own, 0, p->tenth ? p->own.count / 10 : p->own.count);
}

static bool run_frame(void *input) {
    player *p = input;
    if (p->context == NULL) {
        peer_pairs found;
        peer_boxes boxes = boxes_of(&p->own);
        if (p->frame_fn != NULL)
            return p->frame_fn(p->prepared, &boxes, &found) && take_peer(p, &found);
        return p->pairs_fn(&boxes, &found) && take_peer(p, &found);
    }
    uint64_t moved = p->tenth ? p->own.count / 10 : p->own.count;
    bool done = carom_broad_move(p->context, p->broad, NULL, p->own.bounds, moved) == CAROM_OK &&
                carom_broad_step(p->context, p->broad, &p->pairs, &p->begun, &p->ended) == CAROM_OK;
    p->count = p->pairs.count;
    p->list = p->pairs.data;
    return done;
}

static bool prepare_frames(player *p, peer_box_prepare_fn *prepare) {
    if (p->context == NULL) {
        peer_boxes boxes = boxes_of(&p->own);
        if (prepare != NULL) p->prepared = prepare(&boxes);
        return prepare == NULL || p->prepared != NULL;
    }
    carom_broad_def def = {.boxes = p->own.bounds, .box_count = p->own.count, .method = p->method};
    return carom_broad_create(p->context, &def, &p->broad) == CAROM_OK &&
           carom_broad_step(p->context, p->broad, &p->pairs, NULL, NULL) == CAROM_OK;
}

static void frames(bench *bench, carom_context *serial, carom_context *parallel, uint64_t size,
                   scene_boxes_sizes sizes) {
    static const char *const names[] = {"FCL", "Bullet", "Embree", "CGAL"};
    static const char *const frame_symbols[] = {"peer_fcl_box_frame", "peer_bullet_box_frame", NULL,
                                                NULL};
    static const char *const prepare_symbols[] = {"peer_fcl_box_prepare", "peer_bullet_box_prepare",
                                                  NULL, NULL};
    static const char *const release_symbols[] = {"peer_fcl_box_release", "peer_bullet_box_release",
                                                  NULL, NULL};
    static const char *const pairs_symbols[] = {NULL, NULL, "peer_embree_box_pairs",
                                                "peer_cgal_box_pairs"};
    player players[MOST_PLAYERS] = {
        {.name = "carom", .context = serial},
        {.name = "carom, a tenth moves", .context = serial, .tenth = true},
        {.name = "carom, all threads", .context = parallel},
        {.name = "carom, grid", .context = serial, .method = CAROM_BROAD_METHOD_GRID},
        {.name = "carom, sweep", .context = serial, .method = CAROM_BROAD_METHOD_SWEEP}};
    peer_release_fn *release[MOST_PLAYERS] = {NULL};
    bench_contender contenders[MOST_PLAYERS];
    uint32_t count = 5;
    bool made = true;
    for (uint32_t i = 0; i < count; ++i) {
        made = made && scene_boxes_make(size, sizes, SCENE_BOXES_SEED, &players[i].own) &&
               prepare_frames(&players[i], NULL);
    }
    for (int i = 0; i < 4 && made; ++i) {
        player *p = &players[count];
        const char *symbol = frame_symbols[i] != NULL ? frame_symbols[i] : pairs_symbols[i];
        if (bench_peer(symbol) == NULL) continue;
        *p = (player){.name = names[i]};
        if (frame_symbols[i] != NULL) {
            p->frame_fn = (peer_box_frame_fn *)bench_peer(frame_symbols[i]);
            release[count] = (peer_release_fn *)bench_peer(release_symbols[i]);
        } else {
            p->pairs_fn = (peer_box_pairs_fn *)bench_peer(pairs_symbols[i]);
        }
        made = scene_boxes_make(size, sizes, SCENE_BOXES_SEED, &p->own) &&
               prepare_frames(p, frame_symbols[i] != NULL
                                     ? (peer_box_prepare_fn *)bench_peer(prepare_symbols[i])
                                     : NULL);
        ++count;
    }
    char job[64];
    snprintf(job, sizeof(job), "%s %lluk frame", sizes == SCENE_BOXES_MONO ? "mono" : "poly",
             (unsigned long long)size / 1000);
    for (uint32_t i = 0; i < count; ++i)
        contenders[i] = (bench_contender){players[i].name, move, run_frame, &players[i]};
    if (made) bench_compare(bench, job, (double)size, contenders, count);
    uint64_t sum = made ? scene_boxes_checksum(players[0].list, players[0].count) : 0;
    for (uint32_t i = 0; i < count; ++i) {
        player *p = &players[i];
        if (made && !p->tenth && scene_boxes_checksum(p->list, p->count) != sum)
            bench_note(bench, "%s: %s found %llu pairs in the last frame, where %llu", job, p->name,
                       (unsigned long long)p->count, (unsigned long long)players[0].count);
        if (release[i] != NULL && p->prepared != NULL) release[i](p->prepared);
    }
    carom_broad_info info;
    if (made && carom_broad_get_info(players[0].broad, &info) == CAROM_OK)
        bench_note(bench,
                   "%s: %llu pairs in the last, %llu began, %llu ended; %llu builds, %llu refits; "
                   "%.1f bytes per box",
                   job, (unsigned long long)players[0].count,
                   (unsigned long long)players[0].begun.count,
                   (unsigned long long)players[0].ended.count, (unsigned long long)info.builds,
                   (unsigned long long)info.refits, (double)info.bytes / (double)size);
    for (uint32_t i = 0; i < count; ++i) {
        carom_broad_destroy(players[i].broad);
        carom_pairs_free(&players[i].pairs);
        carom_pairs_free(&players[i].begun);
        carom_pairs_free(&players[i].ended);
        scene_boxes_free(&players[i].own);
    }
    platform_trim_memory();
}

static void run(bench *bench) {
    static const char *const peers[] = {"peer_embree_name", "peer_fcl_name", "peer_bullet_name",
                                        "peer_cgal_name"};
    static const uint64_t sizes[] = {10000, 100000, 1000000};
    carom_context_def def = *bench->def;
    carom_context *parallel, *serial;
    if (carom_context_create(&def, &parallel) != CAROM_OK) return;
    def.threads = 1;
    if (carom_context_create(&def, &serial) == CAROM_OK) {
        for (int i = 0; i < 4; ++i) {
            peer_name_fn *name = (peer_name_fn *)bench_peer(peers[i]);
            if (name != NULL) bench_note(bench, "%s", name());
        }
        for (int i = 0; i < (bench->quick ? 1 : 3); ++i) {
            for (int kind = 0; kind < SCENE_BOXES_COUNT; ++kind) {
                scratch(bench, serial, parallel, sizes[i], (scene_boxes_sizes)kind);
                frames(bench, serial, parallel, sizes[i], (scene_boxes_sizes)kind);
            }
        }
        carom_context_destroy(serial);
    }
    carom_context_destroy(parallel);
}

const bench_group bench_broad = {66, "broad", "many boxes: all pairs, from scratch and per frame",
                                 run};
