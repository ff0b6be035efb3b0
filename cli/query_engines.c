/* SPDX-License-Identifier: MIT */
/* The engines of carom query: exact solids, trees of spheres, and spheres on a grid. */
#include "cli/query_engines.h"

#include <math.h>
#include <stdlib.h>

#include "cli/interrupt.h"

const char *query_engine_name(int engine) {
    static const char *const names[QUERY_ENGINES] = {"exact", "tree", "balls"};
    return engine >= 0 && engine < QUERY_ENGINES ? names[engine] : NULL;
}

/* No distance is known where the solids may be apart. */
static void copy_no_gap(carom_relation relation, query_answer *answer) {
    bool overlap = relation != CAROM_RELATION_APART && relation != CAROM_RELATION_TOUCHING;
    answer->distance = overlap ? 0.0 : (double)NAN;
    answer->distance_upper = overlap ? 0.0 : HUGE_VAL;
}

void query_prepared_free(query_prepared *made) {
    for (int i = 0; i < 2; ++i) {
        carom_solid_destroy(made->solids[i]);
        carom_tree_destroy(made->trees[i]);
        carom_balls_destroy(made->balls[i]);
    }
}

/* ---- Exact queries --------------------------------------------------------------------------- */

static carom_status prepare_exact(carom_context *context, const query_body *body, bool moved,
                                  carom_solid **solid) {
    carom_solid_def def = {.mesh = &body->view};
    if (*solid == NULL) return carom_solid_create(context, &def, solid);
    return moved ? carom_solid_update(context, *solid, def.mesh) : CAROM_OK;
}

static void copy_exact(const carom_solid_result *o, const query_body bodies[2],
                       query_answer *answer) {
    /* the tolerance of carom_soup_cross_distance, for faces no larger than the meshes */
    double off = 1e-15 * (bodies[0].extent + bodies[1].extent + o->distance);
    answer->relation = carom_relation_name(o->relation);
    answer->colliding = o->relation != CAROM_RELATION_APART;
    answer->one_sided = o->one_sided;
    answer->by_winding = o->by_winding;
    answer->distance = o->distance;
    answer->distance_lower = fmax(o->distance - off, 0.0);
    answer->distance_upper = answer->colliding ? 0.0 : o->distance + off;
    if (!o->has_distance && !answer->colliding) copy_no_gap(o->relation, answer);
    answer->volume = o->volume;
    /* below zero only where the mesh encloses space with inverted orientation */
    answer->volume_lower = o->volume - o->volume_error;
    if (!o->by_winding) answer->volume_lower = fmax(answer->volume_lower, 0.0);
    answer->volume_upper = o->volume + o->volume_error;
    answer->area = o->area;
    answer->centroid = o->centroid;
    answer->force = o->force;
    answer->torque = o->torque;
    answer->centroid_error = o->centroid_error;
    answer->area_error = o->area_error;
    answer->force_error = o->force_error;
    answer->torque_error = o->torque_error;
    answer->point_a = o->point_a;
    answer->point_b = o->point_b;
}

static carom_status answer_exact(cli *cli, const query_question *question,
                                 const query_body bodies[2], const query_prepared *made,
                                 query_answer *answer) {
    carom_context *context = cli->context;
    const carom_pose *pose = &question->pose->pose;
    carom_solid_query_def def = {.distance = true};
    carom_solid *const *solids = made->solids;
    carom_solid_result o;
    carom_status status;
    do {
        repeat_start(&answer->query);
        status = carom_solid_overlap(context, solids[0], NULL, solids[1], pose, &def, &o);
    } while (repeat_goes_on(&answer->query, status));
    if (interrupt_seen()) status = CAROM_CANCELLED;
    if (status == CAROM_OK && question->patches)
        status = carom_solid_overlap_patches(context, solids[0], NULL, solids[1], pose,
                                             &answer->patches);
    if (status == CAROM_OK) copy_exact(&o, bodies, answer);
    return status;
}

static carom_status answer_all_exact(cli *cli, const query_question *question,
                                     const query_body bodies[2], const query_prepared *made,
                                     const carom_pose *poses, uint64_t count,
                                     query_answer *answers) {
    carom_solid_query_def def = {.distance = true};
    carom_solid_pair *pairs = calloc((size_t)count + 1, sizeof(*pairs));
    carom_solid_result *found = calloc((size_t)count + 1, sizeof(*found));
    carom_status status = pairs != NULL && found != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    (void)question;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i)
        pairs[i] = (carom_solid_pair){made->solids[0], made->solids[1], .pose_b = poses[i]};
    if (status == CAROM_OK)
        status = carom_solid_overlap_batch(cli->context, pairs, count, &def, found);
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i)
        copy_exact(&found[i], bodies, &answers[i]);
    free(pairs);
    free(found);
    return status;
}

/* ---- Queries of packings --------------------------------------------------------------------- */

/* The rotation and the scale of a pose for packings. */
static carom_status split_pose(cli *cli, const pose_arg *from, carom_pose *pose, double *scale) {
    *pose = from->pose;
    *scale = 0.0;
    if (!from->is_matrix) return CAROM_OK;
    const double *m = from->matrix;
    double rigid[POSE_NUMBERS];
    double det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                 m[2] * (m[4] * m[9] - m[5] * m[8]);
    *scale = cbrt(fabs(det));
    for (int i = 0; i < POSE_NUMBERS; ++i)
        rigid[i] = i % 4 == 3 || *scale == 0.0 ? m[i] : m[i] / *scale;
    return carom_pose_from_matrix(cli->context, rigid, pose);
}

static void copy_overlap(const carom_packing_overlap *o, query_answer *answer) {
    answer->estimated = true;
    answer->relation = carom_relation_name(o->relation);
    answer->colliding = o->relation != CAROM_RELATION_APART;
    answer->volume = o->volume.value;
    answer->volume_lower = o->volume.lower;
    answer->volume_upper = o->volume.upper;
    answer->centroid = o->centroid;
    answer->force = o->force;
    answer->torque = o->torque;
}

static void copy_tree(const carom_tree_result *found, query_answer *answer) {
    const carom_tree_gap *gap = &found->gap;
    copy_overlap(&found->overlap, answer);
    answer->distance = gap->distance.value;
    answer->distance_lower = gap->distance.lower;
    answer->distance_upper = gap->distance.upper;
    answer->point_a = gap->point_a;
    answer->point_b = gap->point_b;
    answer->partial = found->overlap.partial || gap->partial;
}

static carom_status prepare_tree(carom_context *context, const query_body *body, bool moved,
                                 carom_tree **tree) {
    carom_tree_def def = {.packing = body->packing};
    carom_mesh_view view;
    carom_status status = CAROM_OK;
    if (body->mesh != NULL) {
        status = carom_mesh_get_view(body->mesh, &view);
        def.mesh = &view;
    }
    if (status != CAROM_OK) return status;
    if (*tree == NULL) return carom_tree_create(context, &def, tree);
    return moved ? carom_tree_update(context, *tree, def.packing, def.mesh) : CAROM_OK;
}

/* On a GPU bounds are narrow where octrees are there. */
static carom_tree_query_def tree_def(const cli *cli, const query_question *question,
                                     const query_body bodies[2]) {
    bool octrees = bodies[0].mesh != NULL && bodies[1].mesh != NULL;
    return (carom_tree_query_def){.narrow_limits = octrees || cli->device != CAROM_BACKEND_CUDA,
                                  .time_budget = question->time_budget,
                                  .exact_distance = question->time_budget == 0.0};
}

static carom_status answer_tree(cli *cli, const query_question *question,
                                const query_body bodies[2], const query_prepared *made,
                                query_answer *answer) {
    carom_tree_query_def def = tree_def(cli, question, bodies);
    carom_tree_result found;
    carom_pose pose;
    carom_status status = split_pose(cli, question->pose, &pose, &def.scale_b);
    if (status != CAROM_OK) return status;
    do {
        repeat_start(&answer->query);
        status = carom_tree_query(cli->context, made->trees[0], NULL, made->trees[1], &pose, &def,
                                  &found);
    } while (repeat_goes_on(&answer->query, status));
    if (interrupt_seen()) status = CAROM_CANCELLED;
    if (status == CAROM_OK) copy_tree(&found, answer);
    return status;
}

static carom_status answer_all_tree(cli *cli, const query_question *question,
                                    const query_body bodies[2], const query_prepared *made,
                                    const carom_pose *poses, uint64_t count,
                                    query_answer *answers) {
    carom_tree_query_def def = tree_def(cli, question, bodies);
    carom_tree_pair *pairs = calloc((size_t)count + 1, sizeof(*pairs));
    carom_tree_result *found = calloc((size_t)count + 1, sizeof(*found));
    carom_status status = pairs != NULL && found != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i)
        pairs[i] = (carom_tree_pair){made->trees[0], made->trees[1], .pose_b = poses[i]};
    if (status == CAROM_OK)
        status = carom_tree_query_batch(cli->context, pairs, count, &def, found);
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) copy_tree(&found[i], &answers[i]);
    free(pairs);
    free(found);
    return status;
}

/* Gives the grid of A the spheres of a packing that was deformed. */
static carom_status follow_balls(carom_context *context, const carom_packing *packing,
                                 carom_balls *balls) {
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    carom_status status = carom_packing_get_info(packing, &info);
    if (status == CAROM_OK) status = carom_packing_list_spheres(context, packing, &spheres);
    if (status == CAROM_OK)
        status = carom_balls_update(context, balls, spheres.data, spheres.count, info.volume);
    carom_packing_spheres_free(&spheres);
    return status;
}

static carom_status prepare_balls(carom_context *context, const query_body *body, bool moved,
                                  carom_balls **balls) {
    carom_balls_def def = {.packing = body->packing};
    if (*balls == NULL) return carom_balls_create(context, &def, balls);
    return moved ? follow_balls(context, body->packing, *balls) : CAROM_OK;
}

static carom_status answer_balls(cli *cli, const query_question *question,
                                 const query_body bodies[2], const query_prepared *made,
                                 query_answer *answer) {
    carom_balls_query_def def = {0};
    carom_packing_overlap found;
    carom_pose pose;
    (void)bodies;
    carom_status status = split_pose(cli, question->pose, &pose, &def.scale_b);
    if (status != CAROM_OK) return status;
    do {
        repeat_start(&answer->query);
        status = carom_balls_overlap(cli->context, made->balls[0], NULL, made->balls[1], &pose,
                                     &def, &found);
    } while (repeat_goes_on(&answer->query, status));
    if (interrupt_seen()) status = CAROM_CANCELLED;
    if (status != CAROM_OK) return status;
    copy_overlap(&found, answer);
    copy_no_gap(found.relation, answer);
    return CAROM_OK;
}

static carom_status answer_all_balls(cli *cli, const query_question *question,
                                     const query_body bodies[2], const query_prepared *made,
                                     const carom_pose *poses, uint64_t count,
                                     query_answer *answers) {
    carom_balls_pair *pairs = calloc((size_t)count + 1, sizeof(*pairs));
    carom_packing_overlap *found = calloc((size_t)count + 1, sizeof(*found));
    carom_status status = pairs != NULL && found != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    (void)question, (void)bodies;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i)
        pairs[i] = (carom_balls_pair){made->balls[0], made->balls[1], .pose_b = poses[i]};
    if (status == CAROM_OK)
        status = carom_balls_overlap_batch(cli->context, pairs, count, NULL, found);
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        copy_overlap(&found[i], &answers[i]);
        copy_no_gap(found[i].relation, &answers[i]);
    }
    free(pairs);
    free(found);
    return status;
}

/* ---- All engines ----------------------------------------------------------------------------- */

carom_status query_prepare(cli *cli, const query_question *question, const query_body bodies[2],
                           query_prepared *made, query_answer *answer) {
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        bool moved = i == 0 && made->moved;
        status = question->engine == QUERY_EXACT
                     ? prepare_exact(cli->context, &bodies[i], moved, &made->solids[i])
                 : question->engine == QUERY_TREE
                     ? prepare_tree(cli->context, &bodies[i], moved, &made->trees[i])
                     : prepare_balls(cli->context, &bodies[i], moved, &made->balls[i]);
        if (status != CAROM_OK) answer->refused = i + 1;
    }
    answer->prepare_s += carom_time_seconds() - start;
    return status;
}

carom_status query_answer_one(cli *cli, const query_question *question, const query_body bodies[2],
                              const query_prepared *made, query_answer *answer) {
    typedef carom_status answer_fn(struct cli * cli, const query_question *question,
                                   const query_body bodies[2], const query_prepared *made,
                                   query_answer *answer);
    static answer_fn *const answers_of[QUERY_ENGINES] = {answer_exact, answer_tree, answer_balls};
    return answers_of[question->engine](cli, question, bodies, made, answer);
}

carom_status query_answer_all(cli *cli, const query_question *question, const query_body bodies[2],
                              const query_prepared *made, const carom_pose *poses, uint64_t count,
                              query_answer *answers) {
    typedef carom_status answer_fn(struct cli * cli, const query_question *question,
                                   const query_body bodies[2], const query_prepared *made,
                                   const carom_pose *poses, uint64_t count, query_answer *answers);
    static answer_fn *const answers_of[QUERY_ENGINES] = {answer_all_exact, answer_all_tree,
                                                         answer_all_balls};
    carom_status status =
        answers_of[question->engine](cli, question, bodies, made, poses, count, answers);
    return status == CAROM_OK && interrupt_seen() ? CAROM_CANCELLED : status;
}
