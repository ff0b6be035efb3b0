/* SPDX-License-Identifier: MIT */
/* query_engines.h: the engines that answer `carom query`: what each prepares, and its answers for
 * one pose or for many. */
#ifndef CAROM_CLI_QUERY_ENGINES_H
#define CAROM_CLI_QUERY_ENGINES_H

#include "cli/query_show.h"

enum { QUERY_EXACT, QUERY_TREE, QUERY_BALLS, QUERY_ENGINES };

/* "exact", "tree", "balls"; NULL for others. */
const char *query_engine_name(int engine);

/* What is to be answered. */
typedef struct query_question {
    int engine;
    bool patches;         /* the pieces of the overlap, too */
    double time_budget;   /* seconds, of a tree; 0: none */
    const pose_arg *pose; /* of B */
} query_question;

/* What queries take, of the last frame; NULL: not made yet. Initialise with {0}. */
typedef struct query_prepared {
    carom_solid *solids[2];
    carom_tree *trees[2];
    carom_balls *balls[2];
    bool moved; /* A, since the last query */
} query_prepared;

void query_prepared_free(query_prepared *made);

/* Makes what the engine takes, or has it follow A. answer->prepare_s grows; where a solid is
 * refused, answer->refused says which. */
carom_status query_prepare(cli *cli, const query_question *question, const query_body bodies[2],
                           query_prepared *made, query_answer *answer);

/* Answers for question->pose, as often as answer->query wants. */
carom_status query_answer_one(cli *cli, const query_question *question, const query_body bodies[2],
                              const query_prepared *made, query_answer *answer);

/* Answers for each of `count` poses, without patches; question->pose has no part. The answers are
 * those of query_answer_one, bit for bit. */
carom_status query_answer_all(cli *cli, const query_question *question, const query_body bodies[2],
                              const query_prepared *made, const carom_pose *poses, uint64_t count,
                              query_answer *answers);

#endif
