/* SPDX-License-Identifier: MIT */
/* scene_share.h: the pairs of parts that a shard of a clash report has, and what they need. */
#ifndef CAROM_CLI_SCENE_SHARE_H
#define CAROM_CLI_SCENE_SHARE_H

#include "cli/scene_parts.h"
#include "cli/shard.h"

/* A share of the pairs of parts: those from `first` to before `end`, each a << 32 | b with a < b.
 * Initialise with {0}. */
typedef struct scene_share {
    uint64_t first, end;
    uint64_t count;
    uint32_t *parts;     /* that it needs: of each object of its scene */
    uint32_t *objects;   /* of each part; CAROM_NONE: not needed */
    carom_pair *ignored; /* pairs of objects */
    uint64_t ignored_count;
} scene_share;

/* Finds the share of a shard, and prepares the parts that it needs: all of them where the number of
 * the shard is 0. */
carom_status scene_share_take(cli *cli, const shard_head *shard, double clearance,
                              scene_parts *parts, scene_share *share);

/* A carom_broad_accept_fn: whether a pair of objects is the share's. */
bool scene_share_accept(void *share, uint32_t a, uint32_t b);

void scene_share_free(scene_share *share);

#endif
