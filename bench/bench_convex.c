/* SPDX-License-Identifier: MIT */
/* Convex hulls against each other, beside libccd, FCL and Bullet: whether they meet, how far, how
 * deep, in poses apart, near and penetrating; the thesis's claims; building hulls.
 *
 * Input: icoN is an icosahedron subdivided onto the unit sphere, in float32; hull32 is 32 points on
 * it. B starts three away from A and is moved along their separation until the gap is the one
 * drawn. Every query starts cold and converts its poses itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"
#include "convex/convex.h"

#define MOST_POSES 2000
#define REGIMES    3

static const char *const regimes[REGIMES] = {"apart", "near", "deep"};

typedef struct hull_pair {
    const char *name;
    carom_mesh *meshes[2];
    carom_hull *hulls[2];
    carom_convex shapes[2];
    double *positions[2];
    uint32_t *corners[2]; /* triangles */
    peer_hull peer[2];
} hull_pair;

typedef struct convex_input {
    carom_context *context;
    hull_pair *pair;
    uint32_t count;
    carom_pose pose_a[MOST_POSES], pose_b[MOST_POSES];
    peer_pose peer_a[MOST_POSES], peer_b[MOST_POSES];
    double gaps[MOST_POSES];
    double right[MOST_POSES]; /* answers */
    carom_convex_query_def def;
    uint64_t iterations, supports, wrong;
    double worst;
} convex_input;

typedef struct peer_player {
    convex_input *in;
    peer_hulls_query_fn *call;
    void *prepared[2];
    double tolerance;
    uint64_t wrong;
    double worst;
} peer_player;

/* ---- hulls ----------------------------------------------------------------------------------- */

static carom_vec3 normalised(double x, double y, double z) {
    double length = sqrt(x * x + y * y + z * z);
    return (carom_vec3){x / length, y / length, z / length};
}

/* Subdivided `levels` times; returns the number of points, which are not distinct. */
static uint32_t subdivide(carom_vec3 *p, const carom_vec3 *t, int levels) {
    if (levels == 0) {
        memcpy(p, t, 3 * sizeof(*t));
        return 3;
    }
    carom_vec3 m[3];
    for (int i = 0; i < 3; ++i) {
        int k = (i + 1) % 3;
        m[i] = normalised(t[i].x + t[k].x, t[i].y + t[k].y, t[i].z + t[k].z);
        m[i] = (carom_vec3){(double)(float)m[i].x, (double)(float)m[i].y, (double)(float)m[i].z};
    }
    uint32_t count = 0;
    carom_vec3 parts[4][3] = {
        {t[0], m[0], m[2]}, {m[0], t[1], m[1]}, {m[2], m[1], t[2]}, {m[0], m[1], m[2]}};
    for (int i = 0; i < 4; ++i) count += subdivide(p + count, parts[i], levels - 1);
    return count;
}

static uint32_t make_ico(carom_vec3 *p, int levels) {
    static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    double g = 0.5 * (1.0 + sqrt(5.0));
    double v[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                       {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    uint32_t count = 0;
    for (int f = 0; f < 20; ++f) {
        carom_vec3 t[3];
        for (int i = 0; i < 3; ++i) {
            const double *x = v[faces[f][i]];
            t[i] = normalised(x[0], x[1], x[2]);
            t[i] =
                (carom_vec3){(double)(float)t[i].x, (double)(float)t[i].y, (double)(float)t[i].z};
        }
        count += subdivide(p + count, t, levels);
    }
    return count;
}

static uint32_t make_points(carom_vec3 *p, int levels, uint64_t seed) {
    carom_random random = {seed};
    if (levels >= 0) return make_ico(p, levels);
    for (int i = 0; i < 32; ++i) {
        double x = carom_random_normal(&random), y = carom_random_normal(&random);
        p[i] = normalised(x, y, carom_random_normal(&random));
    }
    return 32;
}

static bool make_pair(carom_context *context, const char *name, int levels, hull_pair *pair) {
    static carom_vec3 points[3 * 20480];
    static const uint64_t seeds[2] = {1001, 2002};
    memset(pair, 0, sizeof(*pair));
    pair->name = name;
    for (int i = 0; i < 2; ++i) {
        carom_mesh_view view;
        carom_numbers triangles = {0};
        carom_hull_def def = {
            .mesh = &(carom_mesh_view){.positions = points,
                                       .vertex_count = make_points(points, levels, seeds[i])}};
        if (carom_hull_create(context, &def, &pair->hulls[i]) != CAROM_OK ||
            carom_hull_to_mesh(context, pair->hulls[i], &pair->meshes[i]) != CAROM_OK ||
            carom_mesh_get_view(pair->meshes[i], &view) != CAROM_OK)
            return false;
        uint64_t corners =
            view.offsets != NULL ? view.offsets[view.face_count] : 3 * view.face_count;
        pair->corners[i] = malloc(3 * corners * sizeof(uint32_t));
        if (pair->corners[i] == NULL) return false;
        uint64_t count = 0;
        for (uint64_t f = 0; f < view.face_count; ++f) {
            uint64_t begin = view.offsets != NULL ? view.offsets[f] : 3 * f;
            uint64_t end = view.offsets != NULL ? view.offsets[f + 1] : 3 * f + 3;
            for (uint64_t k = begin + 2; k < end; ++k, ++count) {
                pair->corners[i][3 * count] = view.corners[begin];
                pair->corners[i][3 * count + 1] = view.corners[k - 1];
                pair->corners[i][3 * count + 2] = view.corners[k];
            }
        }
        carom_numbers_free(&triangles);
        pair->peer[i] = (peer_hull){view.positions, pair->corners[i], view.vertex_count, count};
        pair->shapes[i] =
            (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = pair->hulls[i]};
    }
    return true;
}

static void free_pair(hull_pair *pair) {
    for (int i = 0; i < 2; ++i) {
        carom_hull_destroy(pair->hulls[i]);
        carom_mesh_destroy(pair->meshes[i]);
        free(pair->corners[i]);
    }
}

/* ---- poses ----------------------------------------------------------------------------------- */

static carom_quat any_turn(carom_random *random) {
    carom_quat q = {carom_random_normal(random), 0, 0, 0};
    q.x = carom_random_normal(random);
    q.y = carom_random_normal(random);
    q.z = carom_random_normal(random);
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (carom_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

static peer_pose peer_pose_of(const carom_pose *p) {
    return (peer_pose){{p->q.w, p->q.x, p->q.y, p->q.z}, {p->t.x, p->t.y, p->t.z}};
}

static bool make_poses(convex_input *in, int regime) {
    static const double low[REGIMES] = {0.8, -0.01, -0.5}, high[REGIMES] = {1.2, 0.01, -0.2};
    carom_random random = {777000 + (uint64_t)regime};
    const carom_convex *a = &in->pair->shapes[0], *b = &in->pair->shapes[1];
    for (uint32_t i = 0; i < in->count; ++i) {
        carom_convex_result r;
        in->pose_a[i] = (carom_pose){.q = any_turn(&random)};
        in->pose_b[i].q = any_turn(&random);
        double x = carom_random_normal(&random), y = carom_random_normal(&random);
        carom_vec3 d = normalised(x, y, carom_random_normal(&random));
        in->pose_b[i].t = (carom_vec3){3.0 * d.x, 3.0 * d.y, 3.0 * d.z};
        in->gaps[i] = carom_random_between(&random, low[regime], high[regime]);
        if (carom_convex_distance(in->context, a, &in->pose_a[i], b, &in->pose_b[i], NULL, &r) !=
            CAROM_OK)
            return false;
        double way = in->gaps[i] - r.distance;
        carom_vec3 *t = &in->pose_b[i].t;
        *t =
            (carom_vec3){t->x + way * r.normal.x, t->y + way * r.normal.y, t->z + way * r.normal.z};
        in->peer_a[i] = peer_pose_of(&in->pose_a[i]);
        in->peer_b[i] = peer_pose_of(&in->pose_b[i]);
        if (carom_convex_depth(in->context, a, &in->pose_a[i], b, &in->pose_b[i], NULL, &r) !=
            CAROM_OK)
            return false;
        in->right[i] = r.distance - r.depth;
    }
    return true;
}

/* ---- contenders ------------------------------------------------------------------------------ */

static bool run_meet(void *input) {
    convex_input *in = input;
    const carom_convex *a = &in->pair->shapes[0], *b = &in->pair->shapes[1];
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        bool meet;
        if (carom_convex_meet(in->context, a, &in->pose_a[i], b, &in->pose_b[i], &in->def, &meet) !=
            CAROM_OK)
            return false;
        wrong += meet != (in->right[i] <= 0.0);
    }
    return wrong == 0;
}

typedef carom_status query_fn(carom_context *context, const carom_convex *a,
                              const carom_pose *pose_a, const carom_convex *b,
                              const carom_pose *pose_b, const carom_convex_query_def *def,
                              carom_convex_result *result);

static bool run_query(convex_input *in, query_fn *query) {
    const carom_convex *a = &in->pair->shapes[0], *b = &in->pair->shapes[1];
    in->worst = 0.0;
    in->iterations = in->supports = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        carom_convex_result r;
        if (query(in->context, a, &in->pose_a[i], b, &in->pose_b[i], &in->def, &r) != CAROM_OK)
            return false;
        double right = query == carom_convex_distance ? fmax(in->right[i], 0.0) : in->right[i];
        in->worst = fmax(in->worst, fabs(r.distance - r.depth - right));
        in->iterations += r.iterations;
        in->supports += r.supports;
    }
    return in->worst < 1e-12;
}

static bool run_distance(void *input) {
    return run_query(input, carom_convex_distance);
}

static bool run_depth(void *input) {
    return run_query(input, carom_convex_depth);
}

static bool run_peer_meet(void *input) {
    peer_player *p = input;
    const convex_input *in = p->in;
    p->wrong = 0;
    for (uint32_t i = 0; i < in->count; ++i)
        p->wrong += (p->call(p->prepared[0], &in->peer_a[i], p->prepared[1], &in->peer_b[i]) !=
                     0.0) != (in->right[i] <= 0.0);
    return p->wrong == 0;
}

/* Distances and depths; both are positive. */
static bool run_peer_value(void *input) {
    peer_player *p = input;
    const convex_input *in = p->in;
    p->wrong = 0;
    p->worst = 0.0;
    for (uint32_t i = 0; i < in->count; ++i) {
        double value = p->call(p->prepared[0], &in->peer_a[i], p->prepared[1], &in->peer_b[i]);
        double off = fabs(value - fabs(in->right[i]));
        p->wrong += !(off <= p->tolerance);
        p->worst = fmax(p->worst, off);
    }
    return p->wrong == 0;
}

/* ---- beside peers ---------------------------------------------------------------------------- */

typedef struct peer_library {
    const char *name, *symbol;
    double tolerance; /* what its precision allows */
} peer_library;

static const peer_library libraries[] = {
    {"libccd MPR", "ccd", 1e-6}, {"FCL", "fcl", 1e-6}, {"Bullet (float)", "bullet", 1e-4}};
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

static bool find_peer(const peer_library *library, const char *question, convex_input *in,
                      peer_player *p) {
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "peer_%s_hull_%s", library->symbol, question);
    p->in = in;
    p->tolerance = library->tolerance;
    p->call = (peer_hulls_query_fn *)bench_peer(symbol);
    snprintf(symbol, sizeof(symbol), "peer_%s_hull_prepare", library->symbol);
    peer_hull_prepare_fn *prepare = (peer_hull_prepare_fn *)bench_peer(symbol);
    if (p->call == NULL || prepare == NULL) return false;
    for (int i = 0; i < 2; ++i) p->prepared[i] = prepare(&in->pair->peer[i]);
    return true;
}

static void compare(bench *bench, convex_input *in, const char *question, int regime,
                    bool (*ours)(void *), bool (*theirs)(void *)) {
    bench_contender contenders[BENCH_MOST_CONTENDERS];
    peer_player players[LIBRARIES];
    uint32_t count = 0, found[LIBRARIES];
    char job[64];
    snprintf(job, sizeof(job), "%s %s %s", in->pair->name, question, regimes[regime]);
    contenders[count++] = (bench_contender){"carom", NULL, ours, in};
    for (uint32_t i = 0; i < LIBRARIES; ++i) {
        memset(&players[i], 0, sizeof(players[i]));
        if (!find_peer(&libraries[i], question, in, &players[i])) continue;
        found[count - 1] = i;
        contenders[count++] = (bench_contender){libraries[i].name, NULL, theirs, &players[i]};
    }
    bench_compare(bench, job, (double)in->count, contenders, count);
    for (uint32_t i = 1; i < count; ++i) {
        const peer_player *p = &players[found[i - 1]];
        if (p->wrong != 0)
            bench_note(bench, "%s: %s: %llu of %u wrong, by up to %.2g", job,
                       libraries[found[i - 1]].name, (unsigned long long)p->wrong, in->count,
                       p->worst);
    }
    for (uint32_t i = 0; i < LIBRARIES; ++i) {
        char symbol[64];
        snprintf(symbol, sizeof(symbol), "peer_%s_hull_release", libraries[i].symbol);
        peer_release_fn *release = (peer_release_fn *)bench_peer(symbol);
        for (int k = 0; k < 2; ++k)
            if (players[i].prepared[k] != NULL && release != NULL) release(players[i].prepared[k]);
    }
}

static void beside_peers(bench *bench, convex_input *in) {
    for (int regime = 0; regime < REGIMES; ++regime) {
        if (!make_poses(in, regime)) return;
        compare(bench, in, "meet", regime, run_meet, run_peer_meet);
        if (regime == 1) /* distances of those that are apart */
            for (uint32_t i = 0; i < in->count; ++i)
                if (in->right[i] < 0.0) {
                    double *t = in->peer_b[i].t;
                    carom_convex_result r;
                    (void)carom_convex_depth(in->context, &in->pair->shapes[0], &in->pose_a[i],
                                             &in->pair->shapes[1], &in->pose_b[i], NULL, &r);
                    carom_vec3 *p = &in->pose_b[i].t;
                    double way = 2.0 * r.depth;
                    *p = (carom_vec3){p->x + way * r.normal.x, p->y + way * r.normal.y,
                                      p->z + way * r.normal.z};
                    t[0] = p->x, t[1] = p->y, t[2] = p->z;
                    (void)carom_convex_depth(in->context, &in->pair->shapes[0], &in->pose_a[i],
                                             &in->pair->shapes[1], &in->pose_b[i], NULL, &r);
                    in->right[i] = r.distance - r.depth;
                }
        if (regime < 2)
            compare(bench, in, "distance", regime, run_distance, run_peer_value);
        else
            compare(bench, in, "depth", regime, run_depth, run_peer_value);
        bench_note(bench, "%s %s: %.1f iterations, %.1f support points per query", in->pair->name,
                   regimes[regime], (double)in->iterations / in->count,
                   (double)in->supports / in->count);
    }
}

/* ---- warm starts ----------------------------------------------------------------------------- */

/* Each pose a small step after the one before: the hint is of the last one. */
typedef struct path_input {
    convex_input *in;
    carom_convex_hint hint;
    bool warm;
    query_fn *query;
    uint64_t iterations;
} path_input;

static bool run_path(void *input) {
    path_input *p = input;
    convex_input *in = p->in;
    carom_pose pose = in->pose_b[0];
    double start = in->pose_b[0].t.x;
    carom_convex_query_def def = {.hint = p->warm ? &p->hint : NULL};
    p->hint = (carom_convex_hint){0};
    p->iterations = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        carom_convex_result r;
        double s = 2.0 * i / in->count - 1.0;
        pose.t.x = start + 0.2 * s;
        pose.t.y = in->pose_b[0].t.y + 0.3 * s * s;
        pose.q.w = 1.0 + 0.3 * s;
        if (p->query(in->context, &in->pair->shapes[0], &in->pose_a[0], &in->pair->shapes[1], &pose,
                     &def, &r) != CAROM_OK)
            return false;
        p->iterations += r.iterations;
    }
    return true;
}

static void along_a_path(bench *bench, convex_input *in) {
    char job[64];
    if (!make_poses(in, 1)) return;
    path_input cold = {.in = in, .query = carom_convex_distance};
    path_input warm = {.in = in, .query = carom_convex_distance, .warm = true};
    bench_contender contenders[2] = {{"carom, warm", NULL, run_path, &warm},
                                     {"carom, cold", NULL, run_path, &cold}};
    snprintf(job, sizeof(job), "%s distance along a path", in->pair->name);
    bench_compare(bench, job, (double)in->count, contenders, 2);
    bench_note(bench, "%s: %.2f iterations warm, %.2f cold", job,
               (double)warm.iterations / in->count, (double)cold.iterations / in->count);
}

/* ---- the thesis's claims --------------------------------------------------------------------- */

/* Loi 2010, Figure 11: time of ISA-GJK against the number of triangles, with hill climbing and
 * without; fewer iterations than GJK; a start from four directions makes no difference. */
static void thesis(bench *bench, convex_input *in, uint64_t triangles) {
    for (int regime = 1; regime < REGIMES; ++regime) {
        char job[64];
        convex_input *all = malloc(sizeof(*all)), *four = malloc(sizeof(*four));
        if (all == NULL || four == NULL || !make_poses(in, regime)) {
            free(all);
            free(four);
            return;
        }
        memcpy(all, in, sizeof(*all));
        memcpy(four, in, sizeof(*four));
        in->def.search = CAROM_CONVEX_SEARCH_CLIMB;
        all->def.search = CAROM_CONVEX_SEARCH_ALL;
        four->def = (carom_convex_query_def){.search = CAROM_CONVEX_SEARCH_CLIMB,
                                             .start = CAROM_CONVEX_START_FOUR};
        bench_contender contenders[3] = {{"climbing", NULL, run_meet, in},
                                         {"all vertices", NULL, run_meet, all},
                                         {"climbing, four directions", NULL, run_meet, four}};
        snprintf(job, sizeof(job), "%llu triangles, %s", (unsigned long long)triangles,
                 regime == 1 ? "near" : "intersecting");
        bench_compare(bench, job, (double)in->count, contenders, 3);
        in->def = (carom_convex_query_def){0};
        free(all);
        free(four);
    }
}

static void count_iterations(bench *bench, convex_input *in) {
    const carom_convex *a = &in->pair->shapes[0], *b = &in->pair->shapes[1];
    for (int regime = 0; regime < 2; ++regime) {
        uint64_t meets = 0;
        if (!make_poses(in, regime)) return;
        for (uint32_t i = 0; i < in->count; ++i) { /* carom_convex_meet does not tell them */
            carom_convex_result r = {.iterations = 0};
            const carom_convex_question_item q = {.a = a,
                                                  .b = b,
                                                  .hull_a = carom_convex_hull_view(a),
                                                  .hull_b = carom_convex_hull_view(b),
                                                  .pose_a = &in->pose_a[i],
                                                  .pose_b = &in->pose_b[i]};
            (void)carom_convex_meet_item(&q, NULL, &r);
            meets += r.iterations;
        }
        (void)run_distance(in);
        bench_note(bench, "%s %s: iterations of ISA-GJK %.2f, of GJK %.2f", in->pair->name,
                   regimes[regime], (double)meets / in->count, (double)in->iterations / in->count);
    }
}

/* ---- building -------------------------------------------------------------------------------- */

typedef struct build_input {
    carom_context *context;
    carom_vec3 *points;
    uint64_t count;
    carom_hull_info info;
} build_input;

static bool run_build(void *input) {
    build_input *in = input;
    carom_hull *hull;
    carom_hull_def def = {
        .mesh = &(carom_mesh_view){.positions = in->points, .vertex_count = in->count}};
    if (carom_hull_create(in->context, &def, &hull) != CAROM_OK) return false;
    bool good = carom_hull_get_info(hull, &in->info) == CAROM_OK;
    carom_hull_destroy(hull);
    return good && in->info.vertices + in->info.faces == in->info.edges + 2;
}

static void building(bench *bench, carom_context *context, uint64_t count) {
    carom_random random = {31};
    build_input in = {.context = context, .count = count};
    char job[64];
    in.points = malloc(count * sizeof(*in.points));
    if (in.points == NULL) return;
    for (uint64_t i = 0; i < count;) {
        carom_vec3 p = {carom_random_between(&random, -1, 1), carom_random_between(&random, -1, 1),
                        carom_random_between(&random, -1, 1)};
        if (p.x * p.x + p.y * p.y + p.z * p.z <= 1.0) in.points[i++] = p;
    }
    bench_contender one = {"carom", NULL, run_build, &in};
    snprintf(job, sizeof(job), "hull of %llu points in a ball", (unsigned long long)count);
    bench_compare(bench, job, (double)count, &one, 1);
    bench_note(bench, "%s: %llu vertices", job, (unsigned long long)in.info.vertices);
    free(in.points);
}

static void run(bench *bench) {
    static const struct {
        const char *name;
        int levels;
    } inputs[] = {{"hull32", -1}, {"ico642", 3}, {"ico2562", 4}};
    carom_context_def def = *bench->def;
    convex_input *in = malloc(sizeof(*in));
    carom_context *context = NULL;
    hull_pair pair;
    def.threads = 1;
    if (in == NULL || carom_context_create(&def, &context) != CAROM_OK) {
        free(in);
        return;
    }
    for (uint32_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); ++i) {
        char symbol[64];
        snprintf(symbol, sizeof(symbol), "peer_%s_hull_name", libraries[i].symbol);
        peer_name_fn *name = (peer_name_fn *)bench_peer(symbol);
        if (name != NULL) bench_note(bench, "%s", name());
    }
    for (uint32_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); ++i) {
        memset(in, 0, sizeof(*in));
        in->context = context;
        in->pair = &pair;
        in->count = bench->quick ? 200 : MOST_POSES;
        if (make_pair(context, inputs[i].name, inputs[i].levels, &pair)) {
            beside_peers(bench, in);
            along_a_path(bench, in);
            count_iterations(bench, in);
        }
        free_pair(&pair);
    }
    for (int levels = 1; levels <= 5; ++levels) {
        memset(in, 0, sizeof(*in));
        in->context = context;
        in->pair = &pair;
        in->count = bench->quick ? 100 : 500;
        if (make_pair(context, "ico", levels, &pair))
            thesis(bench, in, UINT64_C(20) << (2 * levels));
        free_pair(&pair);
    }
    building(bench, context, 100000);
    if (!bench->quick) building(bench, context, 1000000);
    carom_context_destroy(context);
    free(in);
}

const bench_group bench_convex = {35, "convex", "hulls: meet, distance, depth; the thesis", run};
