/* SPDX-License-Identifier: MIT */
/* query_poses.h: `carom query --poses`: a table of answers, one per pose of B, or a share of it. */
#ifndef CAROM_CLI_QUERY_POSES_H
#define CAROM_CLI_QUERY_POSES_H

#include "cli/number_lines.h"
#include "cli/query_engines.h"
#include "cli/shard.h"

typedef struct query_poses {
    const char *path, *output; /* output NULL: only counted */
    const char *parts[2];      /* of A and B; NULL: all */
    uint64_t spheres;
    shard_head shard;
    bool resume;
    number_lines numbers;
    uint64_t first, count; /* the share: poses */
    bool finished;         /* its file was there */
} query_poses;

/* Reads the poses and takes the share. `paths` are the files of A and B. An exit code; what failed
 * was reported. */
int query_poses_open(cli *cli, int engine, char **paths, query_poses *poses);

/* Answers for all poses of the share, and writes them. `answer` tells the time of preparation and
 * the reason for the engine, and is told whether a failure was reported, and whether the solids
 * collide in some pose. */
carom_status query_poses_run(cli *cli, const query_question *question, const query_body bodies[2],
                             const query_prepared *made, char **paths, const query_poses *poses,
                             query_answer *answer);

void query_poses_close(query_poses *poses);

#endif
