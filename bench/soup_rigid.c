/* SPDX-License-Identifier: MIT */
/* Two rigid meshes, prepared once, queried at many poses. One run of a contender is all poses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/soup.h"

/* Beyond this number, which takes seconds, only ours. */
#define MOST_PAIRS_FOR_PEERS 1000000

typedef struct player {
    const char *name;
    carom_context *context;
    const soup_input *input;
    const soup_poses *poses;
    uint32_t pose_count;
    carom_soup *soup; /* ours */
    carom_pairs pairs;
    void *prepared; /* a peer's */
    peer_prepare_fn *prepare;
    peer_release_fn *release;
    peer_any_fn *any;
    peer_cross_count_fn *cross_count;
    peer_distance_fn *distance;
    uint64_t expected;            /* poses in contact, or pairs */
    double distances[SOUP_POSES]; /* the last answer's */
    const double *right_distances;
    double worst; /* difference from these */
} player;

/* ---- ours ------------------------------------------------------------------------------------ */

static bool run_prepare(void *input) {
    player *p = input;
    carom_soup *soup;
    carom_soup_def def = {.mesh = &p->input->view, .rigid = true};
    bool done = carom_soup_create(p->context, &def, &soup) == CAROM_OK;
    carom_soup_destroy(soup);
    return done;
}

static bool run_any(void *input) {
    player *p = input;
    uint64_t colliding = 0;
    for (uint32_t k = 0; k < p->pose_count; ++k) {
        bool any;
        if (carom_soup_cross_meet(p->context, p->soup, NULL, p->soup, &p->poses->poses[k], &any) !=
            CAROM_OK)
            return false;
        colliding += any;
    }
    return colliding == p->expected;
}

static bool run_pairs(void *input) {
    player *p = input;
    uint64_t pairs = 0;
    for (uint32_t k = 0; k < p->pose_count; ++k) {
        if (carom_soup_cross_pairs(p->context, p->soup, NULL, p->soup, &p->poses->poses[k],
                                   &p->pairs) != CAROM_OK)
            return false;
        pairs += p->pairs.count;
    }
    return pairs == p->expected;
}

static bool run_distance(void *input) {
    player *p = input;
    for (uint32_t k = 0; k < p->pose_count; ++k) {
        carom_soup_gap gap;
        if (carom_soup_cross_distance(p->context, p->soup, NULL, p->soup, &p->poses->poses[k], 0.0,
                                      &gap) != CAROM_OK)
            return false;
        p->distances[k] = gap.distance;
    }
    return true;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static bool run_peer_prepare(void *input) {
    player *p = input;
    void *prepared = p->prepare(&p->input->raw);
    if (prepared != NULL) p->release(prepared);
    return prepared != NULL;
}

static bool run_peer_any(void *input) {
    player *p = input;
    uint64_t colliding = 0;
    for (uint32_t k = 0; k < p->pose_count; ++k)
        colliding += p->any(p->prepared, p->poses->matrices[k]);
    return colliding == p->expected;
}

static bool run_peer_pairs(void *input) {
    player *p = input;
    uint64_t pairs = 0;
    for (uint32_t k = 0; k < p->pose_count; ++k)
        pairs += p->cross_count(p->prepared, p->poses->matrices[k]);
    return pairs == p->expected;
}

/* A millionth of the mesh's size off is another answer; smaller differences are rounding, and the
 * note says how large they were. */
static bool run_peer_distance(void *input) {
    player *p = input;
    for (uint32_t k = 0; k < p->pose_count; ++k) {
        p->distances[k] = p->distance(p->prepared, p->poses->matrices[k]);
        double off = fabs(p->distances[k] - p->right_distances[k]);
        if (off > p->worst) p->worst = off;
    }
    return p->worst < 1e-6 * p->input->size;
}

/* ---- one set of poses ------------------------------------------------------------------------ */

static bool find_peer(player *p, const char *name, const soup_input *input) {
    static const char *const parts[] = {"prepare", "release", "any", "cross_count", "distance"};
    bench_peer_fn *found[5];
    char symbol[64];
    for (int i = 0; i < 5; ++i) {
        snprintf(symbol, sizeof(symbol), "peer_%s_%s", name, parts[i]);
        found[i] = bench_peer(symbol);
    }
    p->input = input;
    p->prepare = (peer_prepare_fn *)found[0];
    p->release = (peer_release_fn *)found[1];
    p->any = (peer_any_fn *)found[2];
    p->cross_count = (peer_cross_count_fn *)found[3];
    p->distance = (peer_distance_fn *)found[4];
    if (p->prepare != NULL) p->prepared = p->prepare(&input->raw);
    return p->prepared != NULL;
}

static void note_microseconds(bench *bench, uint32_t first_row, uint32_t poses) {
    char text[160];
    int length = snprintf(text, sizeof(text), "microseconds a pose:");
    for (uint32_t i = first_row; i < bench->row_count; ++i)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s %.1f%s",
                           bench->rows[i].contender, 1e6 * bench->rows[i].cpu_seconds / poses,
                           i + 1 < bench->row_count ? "," : "");
    bench_note(bench, "%s", text);
}

typedef struct pose_set {
    const char *name;
    double first_gap, last_gap;
    uint64_t colliding, pairs;
} pose_set;

/* players: ours, then those peers that are there. */
static void measure_poses(bench *bench, player *players, uint32_t count, const pose_set *set,
                          const soup_poses *poses) {
    char job[64];
    bench_contender contenders[3];
    uint32_t any = 0, pairs = 0, distance = 0, row;
    for (uint32_t i = 0; i < count; ++i) {
        players[i].poses = poses;
        players[i].pose_count = SOUP_POSES;
        players[i].right_distances = players[0].distances;
        players[i].worst = 0.0;
        players[i].expected = set->colliding;
        if (i == 0 || players[i].any != NULL)
            contenders[any++] = (bench_contender){players[i].name, NULL,
                                                  i == 0 ? run_any : run_peer_any, &players[i]};
    }
    snprintf(job, sizeof(job), "%s any", set->name);
    row = bench->row_count;
    bench_compare(bench, job, SOUP_POSES, contenders, any);
    note_microseconds(bench, row, SOUP_POSES);

    for (uint32_t i = 0; i < count; ++i) {
        players[i].expected = set->pairs;
        if (i == 0 || players[i].cross_count != NULL)
            contenders[pairs++] = (bench_contender){
                players[i].name, NULL, i == 0 ? run_pairs : run_peer_pairs, &players[i]};
    }
    snprintf(job, sizeof(job), "%s all pairs", set->name);
    row = bench->row_count;
    bench_compare(bench, job, SOUP_POSES, contenders, pairs);
    note_microseconds(bench, row, SOUP_POSES);

    for (uint32_t i = 0; i < count; ++i)
        if (i == 0 || players[i].distance != NULL)
            contenders[distance++] = (bench_contender){
                players[i].name, NULL, i == 0 ? run_distance : run_peer_distance, &players[i]};
    snprintf(job, sizeof(job), "%s distance", set->name);
    row = bench->row_count;
    bench_compare(bench, job, SOUP_POSES, contenders, distance);
    note_microseconds(bench, row, SOUP_POSES);
    for (uint32_t i = 1; i < count; ++i)
        if (players[i].distance != NULL)
            bench_note(bench, "%s: distances differ by at most %.1e", players[i].name,
                       players[i].worst);
}

static void measure_preparation(bench *bench, player *players, uint32_t count, const char *model) {
    char job[64];
    bench_contender contenders[3];
    for (uint32_t i = 0; i < count; ++i)
        contenders[i] = (bench_contender){players[i].name, NULL,
                                          i == 0 ? run_prepare : run_peer_prepare, &players[i]};
    snprintf(job, sizeof(job), "%s prepare", model);
    bench_compare(bench, job, (double)players[0].input->raw.triangle_count, contenders, count);
}

/* Ours and the peers that can take the mesh; returns their number, 0 on failure. */
static uint32_t gather(carom_context *context, const soup_input *input, player *players) {
    uint32_t count = 1;
    players[0] = (player){.name = "carom", .context = context, .input = input};
    carom_soup_def def = {.mesh = &input->view, .rigid = true};
    if (carom_soup_create(context, &def, &players[0].soup) != CAROM_OK) return 0;
    players[count] = (player){.name = "FCL, OBBRSS"};
    count += find_peer(&players[count], "fcl", input);
    players[count] = (player){.name = "CGAL"};
    count += find_peer(&players[count], "cgal", input);
    return count;
}

static void dismiss(player *players, uint32_t count) {
    carom_soup_destroy(players[0].soup);
    carom_pairs_free(&players[0].pairs);
    for (uint32_t i = 1; i < count; ++i) players[i].release(players[i].prepared);
}

void soup_bench_rigid(bench *bench, carom_context *context) {
    static const char *const models[] = {"bunny", "armadillo"};
    static const pose_set sets[][2] = {
        {{"bunny", 0.2, -0.1, 16, 2787}, {"bunny_deep", 0.0, -0.5, 143, 105334}},
        {{"armadillo", 0.2, -0.1, 10, 1711}, {"armadillo_deep", 0.0, -0.5, 112, 73254}},
    };
    player *players = calloc(3, sizeof(*players));
    soup_poses *poses = malloc(sizeof(*poses));
    for (int m = 0; m < 2 && players != NULL && poses != NULL; ++m) {
        soup_input input;
        if (!soup_input_load(context, models[m], &input)) continue;
        uint32_t count = gather(context, &input, players);
        if (count != 0) {
            measure_preparation(bench, players, count, models[m]);
            for (int s = 0; s < 2; ++s) {
                char file[64];
                soup_poses_make(&input, sets[m][s].first_gap, sets[m][s].last_gap, poses);
                snprintf(file, sizeof(file), "j4_%s.csv", sets[m][s].name);
                double off = soup_poses_compare(poses, file);
                if (!(off < 1e-9)) bench_note(bench, "poses differ from %s by %g", file, off);
                measure_poses(bench, players, count, &sets[m][s], poses);
            }
            dismiss(players, count);
        }
        soup_input_free(&input);
    }
    free(players);
    free(poses);
}

/* ---- Chazelle's polyhedra -------------------------------------------------------------------- */

void soup_bench_chazelle(bench *bench, carom_context *context) {
    static const uint64_t details[] = {16, 64, 256, 512};
    player *players = calloc(3, sizeof(*players));
    soup_poses *poses = malloc(sizeof(*poses));
    /* A quarter turn about z, a little aside: wedges of one cross all wedges of the other. */
    if (poses != NULL) {
        double half = sqrt(0.5);
        poses->poses[0] = (carom_pose){.q.w = half, .q.z = half, .t = {0.003, 0.005, 0.01}};
        double matrix[12] = {0.0, -1.0, 0.0, 0.003, 1.0, 0.0, 0.0, 0.005, 0.0, 0.0, 1.0, 0.01};
        for (int i = 0; i < 12; ++i) poses->matrices[0][i] = matrix[i];
    }
    for (size_t i = 0; i < (bench->quick ? 3u : 4u) && players != NULL && poses != NULL; ++i) {
        soup_input input;
        carom_shape_def def = {
            .shape = CAROM_SHAPE_CHAZELLE, .detail = details[i], .scalar = CAROM_SCALAR_FLOAT32};
        if (!soup_input_make(context, &def, &input)) continue;
        uint32_t count = gather(context, &input, players);
        if (count != 0 && carom_soup_cross_pairs(context, players[0].soup, NULL, players[0].soup,
                                                 &poses->poses[0], &players[0].pairs) == CAROM_OK) {
            char job[64];
            bench_contender contenders[3];
            uint32_t able = 0, row = bench->row_count;
            uint64_t pairs = players[0].pairs.count;
            for (uint32_t k = 0; k < count; ++k) {
                players[k].poses = poses;
                players[k].pose_count = 1;
                players[k].expected = pairs;
                if (k == 0 || (players[k].cross_count != NULL && pairs <= MOST_PAIRS_FOR_PEERS))
                    contenders[able++] = (bench_contender){
                        players[k].name, NULL, k == 0 ? run_pairs : run_peer_pairs, &players[k]};
            }
            snprintf(job, sizeof(job), "chazelle %llu all pairs", (unsigned long long)details[i]);
            bench_at_size(bench, "chazelle, all pairs", (double)input.raw.triangle_count);
            bench_compare(bench, job, (double)pairs, contenders, able);
            bench_note(bench, "growth: %llu triangles each, %llu pairs, %.1f ns a pair",
                       (unsigned long long)input.raw.triangle_count, (unsigned long long)pairs,
                       1e9 * bench->rows[row].cpu_seconds / (double)pairs);
        }
        if (count != 0) dismiss(players, count);
        soup_input_free(&input);
    }
    free(players);
    free(poses);
}
