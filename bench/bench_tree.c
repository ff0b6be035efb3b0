/* SPDX-License-Identifier: MIT */
/* Sphere trees beside the exact overlap and distance of the meshes, and FCL's distance.
 *
 * Overlap: a torus against itself in poses that overlap by up to 10 % of its volume, and by about
 * 50 %. Distance: along a path with gaps up to 1 % of the diagonal, in steps of about 0.1 % of it.
 * Both as in Weller and Zachmann (2009), who give 2.5 ms on average for the volume with 237,000
 * spheres, and 50 us for the distance with 327,000. Meshes of up to 4 million triangles with 5,000
 * and 20,000 spheres. Deadlines: 200 poses of three pairs with time budgets, beside the estimate
 * without bounds; and by how much they are exceeded. Notes have what times do not show: how far
 * estimates are off, how wide bounds are, percentiles of single queries, nodes visited by method,
 * arity and seed, and time budgets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"

#define POSES 32    /* of overlaps */
#define PATH  256   /* poses of a path: there, and back */
#define STEP  0.001 /* of a path, of the diagonal, about; and the same in radians */

typedef struct scene {
    carom_context *context; /* of queries: one thread */
    carom_context *maker;   /* of what they are about: all threads */
    carom_mesh *mesh;
    carom_solid *solid;
    carom_soup *soup;
    carom_packing *packing;
    carom_tree *tree;
    carom_tree_query_def def;
    carom_pose poses[PATH];
    double truth[PATH];  /* volume or distance */
    double error, width; /* of the last run: means of what the estimate is off and of the bounds */
    uint64_t visits;
    bool warm; /* with hints, as along a path */
    carom_tree_hint hint;
    void *peer;
    peer_distance_fn *peer_distance;
} scene;

static double size_of(const scene *s) {
    carom_packing_info info;
    if (carom_packing_get_info(s->packing, &info) != CAROM_OK) return 0.0;
    double x = info.bounds.high.x - info.bounds.low.x, y = info.bounds.high.y - info.bounds.low.y;
    double z = info.bounds.high.z - info.bounds.low.z;
    return sqrt(x * x + y * y + z * z);
}

static carom_pose random_pose(carom_random *random, double far) {
    carom_vec3 way = {carom_random_normal(random), carom_random_normal(random),
                      carom_random_normal(random)};
    double length = sqrt(way.x * way.x + way.y * way.y + way.z * way.z);
    double by = far * carom_random_uniform(random) / (length > 0.0 ? length : 1.0);
    carom_pose pose = {{carom_random_normal(random), carom_random_normal(random),
                        carom_random_normal(random), carom_random_normal(random)},
                       {way.x * by, way.y * by, way.z * by}};
    return pose;
}

/* Finds poses whose overlap is a share in (low, high] of the volume. */
static bool find_overlaps(scene *s, double low, double high) {
    carom_random random = {7};
    carom_solid_info info;
    if (carom_solid_get_info(s->solid, &info) != CAROM_OK) return false;
    double size = size_of(s);
    for (int i = 0, tries = 0; i < POSES; ++tries) {
        carom_solid_result exact;
        carom_pose pose = random_pose(&random, size);
        if (tries > 20000 || carom_solid_overlap(s->context, s->solid, NULL, s->solid, &pose, NULL,
                                                 &exact) != CAROM_OK)
            return false;
        double share = exact.volume / info.volume;
        if (!(share > low && share <= high)) continue;
        s->poses[i] = pose;
        s->truth[i++] = exact.volume;
    }
    return true;
}

static carom_vec3 along(carom_vec3 p, carom_vec3 d, double by) {
    return (carom_vec3){p.x + d.x * by, p.y + d.y * by, p.z + d.z * by};
}

static carom_vec3 unit(carom_vec3 d) {
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return (carom_vec3){d.x / length, d.y / length, d.z / length};
}

/* Moves a pose along the line between nearest points until the gap is as wanted, about. */
static bool set_gap(scene *s, carom_pose *pose, double wanted, double *distance) {
    for (int k = 0; k < 40; ++k) {
        carom_soup_gap gap;
        if (carom_soup_cross_distance(s->context, s->soup, NULL, s->soup, pose, 0.0, &gap) !=
            CAROM_OK)
            return false;
        *distance = gap.distance;
        if (gap.distance > 0.0 && fabs(gap.distance - wanted) < 0.05 * wanted) break;
        carom_vec3 way = {gap.point_b.x - gap.point_a.x, gap.point_b.y - gap.point_a.y,
                          gap.point_b.z - gap.point_a.z};
        if (gap.distance > 0.0)
            pose->t = along(pose->t, way, (wanted - gap.distance) / gap.distance);
        else
            pose->t = along(pose->t, pose->t, 0.02); /* outwards */
    }
    return true;
}

/* A path with gaps of up to a share of the size: half of the poses there, half of them back. */
static bool find_path(scene *s, double share) {
    carom_random random = {8};
    double size = size_of(s);
    carom_pose pose = random_pose(&random, 0.0);
    pose.t = (carom_vec3){0.6 * size, 0.3 * size, 0.2 * size};
    carom_vec3 way = unit(random_pose(&random, 1.0).t), turn = unit(random_pose(&random, 1.0).t);
    double length =
        sqrt(pose.q.w * pose.q.w + pose.q.x * pose.q.x + pose.q.y * pose.q.y + pose.q.z * pose.q.z);
    for (int i = 0; i < PATH / 2; ++i) {
        double wanted = share * size * (0.55 + 0.45 * sin(0.1 * i));
        pose.t = along(pose.t, way, STEP * size);
        pose.q.x += 0.5 * STEP * length * turn.x;
        pose.q.y += 0.5 * STEP * length * turn.y;
        pose.q.z += 0.5 * STEP * length * turn.z;
        if (!set_gap(s, &pose, wanted, &s->truth[i])) return false;
        s->poses[i] = s->poses[PATH - 1 - i] = pose;
        s->truth[PATH - 1 - i] = s->truth[i];
    }
    return true;
}

/* ---- Contenders ------------------------------------------------------------------------------ */

static bool run_tree(void *input) {
    scene *s = input;
    s->error = s->width = 0.0;
    s->visits = 0;
    for (int i = 0; i < POSES; ++i) {
        carom_packing_overlap o;
        carom_work work;
        if (carom_tree_overlap(s->context, s->tree, NULL, s->tree, &s->poses[i], &s->def, &o) !=
            CAROM_OK)
            return false;
        s->error += fabs(o.volume.value - s->truth[i]) / s->truth[i] / POSES;
        s->width += (o.volume.upper - o.volume.lower) / s->truth[i] / POSES;
        if (carom_context_get_work(s->context, &work) == CAROM_OK) s->visits += work.visits;
        if (!s->def.skip_limits && !(o.volume.lower <= s->truth[i] * (1.0 + 1e-9) &&
                                     s->truth[i] <= o.volume.upper * (1.0 + 1e-9)))
            return false;
    }
    return true;
}

static bool run_solid(void *input) {
    scene *s = input;
    for (int i = 0; i < POSES; ++i) {
        carom_solid_result o;
        if (carom_solid_overlap(s->context, s->solid, NULL, s->solid, &s->poses[i], NULL, &o) !=
            CAROM_OK)
            return false;
    }
    return true;
}

static bool run_gap(void *input) {
    scene *s = input;
    double size = size_of(s);
    s->error = s->width = 0.0;
    for (int i = 0; i < PATH; ++i) {
        carom_tree_gap gap;
        carom_tree_query_def def = {.hint = s->warm ? &s->hint : NULL};
        if (carom_tree_distance(s->context, s->tree, NULL, s->tree, &s->poses[i], &def, &gap) !=
            CAROM_OK)
            return false;
        s->error += fabs(gap.distance.value / s->truth[i] - 1.0) / PATH;
        s->width += (gap.distance.upper - gap.distance.lower) / size / PATH;
        if (!(gap.distance.lower <= s->truth[i] * (1.0 + 1e-9) &&
              s->truth[i] <= gap.distance.upper * (1.0 + 1e-9)))
            return false;
    }
    return true;
}

static bool run_soup(void *input) {
    scene *s = input;
    for (int i = 0; i < PATH; ++i) {
        carom_soup_gap gap;
        if (carom_soup_cross_distance(s->context, s->soup, NULL, s->soup, &s->poses[i], 0.0,
                                      &gap) != CAROM_OK)
            return false;
    }
    return true;
}

/* The exact distance, by the tree. */
static bool run_exact(void *input) {
    scene *s = input;
    for (int i = 0; i < PATH; ++i) {
        carom_tree_gap gap;
        carom_tree_query_def def = {.hint = &s->hint, .exact_distance = true};
        if (carom_tree_distance(s->context, s->tree, NULL, s->tree, &s->poses[i], &def, &gap) !=
                CAROM_OK ||
            !(fabs(gap.distance.value - s->truth[i]) <= 1e-9 * s->truth[i]))
            return false;
    }
    return true;
}

static bool run_fcl(void *input) {
    scene *s = input;
    bool good = true;
    for (int i = 0; i < PATH; ++i) {
        const carom_quat *q = &s->poses[i].q;
        double n = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
        const carom_vec3 *t = &s->poses[i].t;
        const double m[12] = {
            1 - 2 * (q->y * q->y + q->z * q->z) / n, 2 * (q->x * q->y - q->w * q->z) / n,
            2 * (q->x * q->z + q->w * q->y) / n,     t->x,
            2 * (q->x * q->y + q->w * q->z) / n,     1 - 2 * (q->x * q->x + q->z * q->z) / n,
            2 * (q->y * q->z - q->w * q->x) / n,     t->y,
            2 * (q->x * q->z - q->w * q->y) / n,     2 * (q->y * q->z + q->w * q->x) / n,
            1 - 2 * (q->x * q->x + q->y * q->y) / n, t->z};
        double distance = s->peer_distance(s->peer, m);
        good = good && fabs(distance - s->truth[i]) <= 1e-3 * s->truth[i] + 1e-6;
    }
    return good;
}

/* ---- Single queries -------------------------------------------------------------------------- */

#define ROUNDS 60

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_gap_at(scene *s, int i) {
    carom_tree_gap gap;
    carom_tree_query_def def = {.hint = &s->hint};
    (void)carom_tree_distance(s->context, s->tree, NULL, s->tree, &s->poses[i], &def, &gap);
}

static void run_tree_at(scene *s, int i) {
    carom_packing_overlap o;
    (void)carom_tree_overlap(s->context, s->tree, NULL, s->tree, &s->poses[i], &s->def, &o);
}

/* Times of single queries, of the processor: their mean, 99.9th percentile and maximum, and the
 * first. */
static void note_times(bench *bench, const char *job, scene *s, int poses,
                       void (*one)(scene *, int)) {
    static double seconds[ROUNDS * PATH];
    double sum = 0.0, first = 0.0;
    int rounds = bench->quick ? 5 : ROUNDS, count = 0;
    s->hint = (carom_tree_hint){{0}};
    for (int n = 0; n < rounds; ++n)
        for (int i = 0; i < poses; ++i, ++count) {
            double start = bench_thread_time();
            one(s, i);
            seconds[count] = bench_thread_time() - start;
            sum += seconds[count];
            if (count == 0) first = seconds[0];
        }
    qsort(seconds, (size_t)count, sizeof(seconds[0]), by_size);
    bench_note(bench, "%s: %.1f us on average, 99.9 %% within %.1f, at most %.1f; the first %.1f",
               job, 1e6 * sum / count, 1e6 * seconds[count - 1 - count / 1000],
               1e6 * seconds[count - 1], 1e6 * first);
}

/* Random poses with a time budget. */
static void note_budget(bench *bench, scene *s, uint64_t count) {
    const double budget = 200e-6;
    carom_random random = {9};
    double size = size_of(s), most = 0.0;
    int rounds = bench->quick ? 200 : 5000, late = 0, late_by_clock = 0;
    for (int n = 0; n < rounds; ++n) {
        carom_pose pose = random_pose(&random, 0.5 * size);
        carom_tree_query_def def = {.time_budget = budget};
        carom_tree_result answer;
        double start = carom_time_seconds(), used = bench_thread_time();
        (void)carom_tree_query(s->context, s->tree, NULL, s->tree, &pose, &def, &answer);
        used = bench_thread_time() - used;
        late_by_clock += carom_time_seconds() - start > 1.1 * budget;
        late += used > 1.1 * budget;
        most = fmax(used, most);
    }
    bench_note(bench,
               "%llu spheres, a budget of 200 us: %.2f %% of queries take more than 220 us of the "
               "processor, at most %.0f; by the clock %.2f %%",
               (unsigned long long)count, 100.0 * late / rounds, 1e6 * most,
               100.0 * late_by_clock / rounds);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void compare_overlaps(bench *bench, scene *s, uint64_t count) {
    char job[64];
    scene estimate = *s, bounds = *s, narrow = *s, tolerant = *s;
    estimate.def.skip_limits = true;
    narrow.def.narrow_limits = true;
    tolerant.def.tolerance = 0.35;
    const bench_contender contenders[] = {{"estimate", NULL, run_tree, &estimate},
                                          {"bounds", NULL, run_tree, &bounds},
                                          {"narrow bounds", NULL, run_tree, &narrow},
                                          {"tolerance 0.35", NULL, run_tree, &tolerant},
                                          {"exact (solid)", NULL, run_solid, s}};
    snprintf(job, sizeof(job), "overlap to 10 %%, %llu spheres", (unsigned long long)count);
    bench_at_size(bench, "overlap", (double)count);
    bench_compare(bench, job, POSES, contenders, 5);
    note_times(bench, job, &bounds, POSES, run_tree_at);
    bench_note(bench,
               "%s: the estimate is %.3f %% off on average, bounds are %.2f of the volume apart, "
               "narrow ones %.2f",
               job, 100.0 * bounds.error, bounds.width, narrow.width);
}

static void compare_gaps(bench *bench, scene *s, uint64_t count) {
    char job[64];
    scene warm = *s, exact = *s;
    warm.warm = true;
    bench_contender contenders[5] = {{"tree, along a path", NULL, run_gap, &warm},
                                     {"tree, without a hint", NULL, run_gap, s},
                                     {"tree, exact", NULL, run_exact, &exact},
                                     {"exact (soup)", NULL, run_soup, s}};
    uint32_t used = 4;
    peer_prepare_fn *prepare = (peer_prepare_fn *)bench_peer("peer_fcl_prepare");
    peer_release_fn *release = (peer_release_fn *)bench_peer("peer_fcl_release");
    s->peer_distance = (peer_distance_fn *)bench_peer("peer_fcl_distance");
    carom_mesh_view view;
    float *positions = NULL;
    if (prepare != NULL && release != NULL && s->peer_distance != NULL &&
        carom_mesh_get_view(s->mesh, &view) == CAROM_OK)
        positions = malloc(3 * view.vertex_count * sizeof(*positions));
    if (positions != NULL) {
        const double *from = view.positions; /* shapes have doubles, without a stride */
        for (uint64_t i = 0; i < 3 * view.vertex_count; ++i) positions[i] = (float)from[i];
        peer_mesh mesh = {positions, view.corners, view.vertex_count, view.face_count};
        s->peer = prepare(&mesh);
        if (s->peer != NULL) contenders[used++] = (bench_contender){"FCL", NULL, run_fcl, s};
    }
    snprintf(job, sizeof(job), "distance to 1 %%, %llu spheres", (unsigned long long)count);
    bench_at_size(bench, "distance", (double)count);
    bench_compare(bench, job, PATH, contenders, used);
    bench_note(bench,
               "%s: %.4f %% off on average, bounds %.3f %% of the diagonal apart; without a "
               "hint %.4f, %.3f",
               job, 100.0 * warm.error, 100.0 * warm.width, 100.0 * s->error, 100.0 * s->width);
    note_times(bench, job, &warm, PATH, run_gap_at);
    if (s->peer != NULL) release(s->peer);
    s->peer = NULL;
    free(positions);
}

static void compare_seeds(bench *bench, scene *s, uint64_t count) {
    double least = HUGE_VAL, most = 0.0, sum = 0.0;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        scene other = *s;
        carom_tree_def def = {
            .packing = s->packing, .method = CAROM_TREE_METHOD_NEURAL_GAS, .seed = seed};
        if (carom_tree_create(s->context, &def, &other.tree) != CAROM_OK) return;
        (void)run_tree(&other);
        least = fmin(least, (double)other.visits);
        most = fmax(most, (double)other.visits);
        sum += (double)other.visits / 10.0;
        carom_tree_destroy(other.tree);
    }
    bench_note(bench,
               "%llu spheres, neural gas, ten seeds: nodes visited %.1f %% below to %.1f %% "
               "above the mean",
               (unsigned long long)count, 100.0 * (1.0 - least / sum), 100.0 * (most / sum - 1.0));
}

static void compare_methods(bench *bench, scene *s, uint64_t count) {
    static const uint32_t arities[] = {2, 4, 8, 16};
    for (int method = 0; method < CAROM_TREE_METHOD_COUNT; ++method) {
        for (int k = 0; k < 4; ++k) {
            scene other = *s;
            carom_tree_def def = {
                .packing = s->packing, .method = (carom_tree_method)method, .arity = arities[k]};
            double start = carom_time_seconds();
            if (carom_tree_create(s->context, &def, &other.tree) != CAROM_OK) continue;
            double built = carom_time_seconds() - start, best = HUGE_VAL;
            for (int i = 0; i < 5; ++i) {
                double begin = carom_time_seconds();
                (void)run_tree(&other);
                best = fmin(best, carom_time_seconds() - begin);
            }
            bench_note(bench,
                       "%llu spheres, %s, arity %u: built in %.2f s, %.0f nodes per query, %.3f ms",
                       (unsigned long long)count, carom_tree_method_name(def.method), arities[k],
                       built, (double)other.visits / POSES, 1e3 * best / POSES);
            carom_tree_destroy(other.tree);
        }
    }
}

static bool prepare(scene *s, uint64_t detail, uint64_t count) {
    carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .detail = detail};
    carom_mesh_view view;
    carom_solid_def of_solid = {.mesh = &view};
    carom_soup_def of_soup = {.mesh = &view, .rigid = true};
    carom_packing_def of_packing = {.mesh = &view, .count = count, .fast = true};
    carom_tree_def of_tree = {.mesh = &view};
    if (carom_shape_make(s->maker, &shape, &s->mesh) != CAROM_OK ||
        carom_mesh_get_view(s->mesh, &view) != CAROM_OK)
        return false;
    if (carom_solid_create(s->maker, &of_solid, &s->solid) != CAROM_OK ||
        carom_soup_create(s->maker, &of_soup, &s->soup) != CAROM_OK ||
        carom_packing_create(s->maker, &of_packing, &s->packing) != CAROM_OK)
        return false;
    of_tree.packing = s->packing;
    return carom_tree_create(s->maker, &of_tree, &s->tree) == CAROM_OK;
}

static void release(scene *s) {
    carom_tree_destroy(s->tree);
    carom_packing_destroy(s->packing);
    carom_soup_destroy(s->soup);
    carom_solid_destroy(s->solid);
    carom_mesh_destroy(s->mesh);
}

/* Meshes of several sizes with the same number of spheres. */
static void compare_meshes(bench *bench, carom_context *context, carom_context *maker) {
    static const uint64_t details[] = {144, 512, 1024, 2000};
    static const uint64_t counts[] = {5000, 20000};
    for (int i = 0; i < (bench->quick ? 0 : 8); ++i) {
        scene s = {.context = context, .maker = maker};
        char job[64];
        uint64_t detail = details[i / 2], count = counts[i % 2];
        if (prepare(&s, detail, count) && find_overlaps(&s, 0.001, 0.1)) {
            scene bounds = s, path = s;
            path.warm = true;
            const bench_contender overlap[] = {{"tree, bounds", NULL, run_tree, &bounds},
                                               {"exact (solid)", NULL, run_solid, &s}};
            snprintf(job, sizeof(job), "overlap, %llu triangles, %llu spheres",
                     (unsigned long long)(detail * detail), (unsigned long long)count);
            bench_compare(bench, job, POSES, overlap, 2);
            if (find_path(&path, 0.01)) {
                scene exact = path;
                const bench_contender distance[] = {{"tree, along a path", NULL, run_gap, &path},
                                                    {"tree, exact", NULL, run_exact, &exact},
                                                    {"exact (soup)", NULL, run_soup, &exact}};
                snprintf(job, sizeof(job), "distance, %llu triangles, %llu spheres",
                         (unsigned long long)(detail * detail), (unsigned long long)count);
                bench_compare(bench, job, PATH, distance, 3);
            }
        }
        release(&s);
    }
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

#define DEADLINE_POSES   200
#define DEADLINE_ROUNDS  9 /* odd: the median; a query that is interrupted has no time left */
#define DEADLINE_BUDGETS 5
#define DEADLINE_LATE    1.1

/* Two solids of the same size with trees, in poses that overlap by 0.1 to 10 % of the smaller one.
 * Each round has one query per budget and pose. No pose is repeated at once, as the second query
 * would take three quarters of the time of the first. */
typedef struct deadline_pair {
    carom_context *context;
    carom_solid *solids[2];
    carom_tree *trees[2];
    double size, volume; /* the larger diagonal, the smaller volume */
    carom_pose poses[DEADLINE_POSES];
    double truth[DEADLINE_POSES];
    /* Of each query: seconds of the processor and by the clock, and the error. */
    double used[DEADLINE_BUDGETS][DEADLINE_POSES][DEADLINE_ROUNDS];
    double clock[DEADLINE_BUDGETS][DEADLINE_POSES][DEADLINE_ROUNDS];
    double off[DEADLINE_BUDGETS][DEADLINE_POSES][DEADLINE_ROUNDS];
} deadline_pair;

/* Seconds; 0: any, and without bounds. */
static const double deadline_budgets[DEADLINE_BUDGETS] = {0.0, 50e-6, 100e-6, 200e-6, 500e-6};

/* A view of a mesh, with its box about the origin and a diagonal of 1. */
static double *deadline_normalize(carom_mesh_view *view) {
    double *to = malloc(3 * view->vertex_count * sizeof(double)), diagonal = 0.0;
    for (int k = 0; k < 3 && to != NULL; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (uint64_t i = 0; i < view->vertex_count; ++i) {
            uint64_t scalar = view->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double);
            const char *at =
                (const char *)view->positions + i * (view->stride != 0 ? view->stride : 3 * scalar);
            double x = view->scalar == CAROM_SCALAR_FLOAT32 ? (double)((const float *)at)[k]
                                                            : ((const double *)at)[k];
            to[3 * i + (uint64_t)k] = x;
            low = fmin(low, x);
            high = fmax(high, x);
        }
        for (uint64_t i = 0; i < view->vertex_count; ++i)
            to[3 * i + (uint64_t)k] -= 0.5 * (low + high);
        diagonal += (high - low) * (high - low);
    }
    for (uint64_t i = 0; to != NULL && i < 3 * view->vertex_count; ++i) to[i] /= sqrt(diagonal);
    view->positions = to;
    view->scalar = CAROM_SCALAR_FLOAT64;
    view->stride = 0;
    return to;
}

static bool deadline_prepare(deadline_pair *p, int i, carom_context *maker, const carom_mesh *mesh,
                             uint64_t count) {
    carom_mesh_view view;
    carom_packing *packing = NULL;
    carom_packing_info info = {0};
    if (mesh == NULL || carom_mesh_get_view(mesh, &view) != CAROM_OK) return false;
    double *positions = deadline_normalize(&view);
    carom_solid_def of_solid = {.mesh = &view};
    carom_packing_def of_packing = {.mesh = &view, .count = count, .fast = true};
    bool good = positions != NULL &&
                carom_solid_create(maker, &of_solid, &p->solids[i]) == CAROM_OK &&
                carom_packing_create(maker, &of_packing, &packing) == CAROM_OK;
    carom_tree_def of_tree = {.mesh = &view, .packing = packing};
    good = good && carom_tree_create(maker, &of_tree, &p->trees[i]) == CAROM_OK &&
           carom_packing_get_info(packing, &info) == CAROM_OK;
    carom_packing_destroy(packing);
    free(positions);
    p->size = 1.0;
    p->volume = i == 0 ? info.volume : fmin(p->volume, info.volume);
    return good;
}

static bool deadline_find_poses(deadline_pair *p) {
    carom_random random = {7};
    int found = 0;
    for (int tries = 0; tries < 100000 && found < DEADLINE_POSES; ++tries) {
        carom_pose pose = random_pose(&random, p->size);
        carom_solid_result exact;
        if (carom_solid_overlap(p->context, p->solids[0], NULL, p->solids[1], &pose, NULL,
                                &exact) != CAROM_OK)
            return false;
        double share = exact.volume / p->volume;
        if (!(share > 0.001 && share <= 0.1)) continue;
        p->poses[found] = pose;
        p->truth[found++] = exact.volume;
    }
    return found == DEADLINE_POSES;
}

/* One query. False: it failed, or a bound does not hold. */
static bool deadline_query(deadline_pair *p, int budget, int pose, int round) {
    carom_tree_query_def def = {.skip_limits = budget == 0,
                                .time_budget = deadline_budgets[budget]};
    double truth = p->truth[pose], used = bench_thread_time(), start = carom_time_seconds();
    carom_packing_overlap o;
    carom_status status =
        carom_tree_overlap(p->context, p->trees[0], NULL, p->trees[1], &p->poses[pose], &def, &o);
    p->clock[budget][pose][round] = carom_time_seconds() - start;
    p->used[budget][pose][round] = bench_thread_time() - used;
    p->off[budget][pose][round] = fabs(o.volume.value - truth) / truth;
    return status == CAROM_OK && (budget == 0 || (o.volume.lower <= truth * (1.0 + 1e-9) &&
                                                  truth <= o.volume.upper * (1.0 + 1e-9)));
}

static double deadline_median(const double values[DEADLINE_ROUNDS]) {
    double sorted[DEADLINE_ROUNDS];
    for (int i = 0; i < DEADLINE_ROUNDS; ++i) sorted[i] = values[i];
    qsort(sorted, DEADLINE_ROUNDS, sizeof(sorted[0]), by_size);
    return sorted[DEADLINE_ROUNDS / 2];
}

/* How long the queries of a budget took: of the processor, or by the clock. */
static void deadline_note_times(bench *bench, const char *name, const char *clock,
                                double times[DEADLINE_POSES][DEADLINE_ROUNDS], double budget) {
    static double sorted[DEADLINE_POSES * DEADLINE_ROUNDS];
    int count = 0, late = 0;
    double sum = 0.0;
    for (int i = 0; i < DEADLINE_POSES; ++i)
        for (int k = 0; k < DEADLINE_ROUNDS; ++k) {
            sorted[count++] = times[i][k];
            late += budget > 0.0 && times[i][k] > DEADLINE_LATE * budget;
            sum += times[i][k];
        }
    qsort(sorted, (size_t)count, sizeof(sorted[0]), by_size);
    bench_note(bench,
               "%s, %.0f us, %s: mean %.1f, 99.9 %% within %.1f, at most %.0f; %.2f %% over %.1f",
               name, 1e6 * budget, clock, 1e6 * sum / count, 1e6 * sorted[count - 1 - count / 1000],
               1e6 * sorted[count - 1], 100.0 * late / count, DEADLINE_LATE);
}

/* The errors of a budget; in poses whose estimate fits, beside those without bounds. */
static void deadline_note_errors(bench *bench, deadline_pair *p, const char *name, int budget) {
    double error = 0.0, fit_error = 0.0, alone_error = 0.0;
    int fits = 0;
    for (int i = 0; i < DEADLINE_POSES; ++i) {
        double off = deadline_median(p->off[budget][i]);
        error += off / DEADLINE_POSES;
        if (deadline_median(p->used[0][i]) > deadline_budgets[budget]) continue;
        ++fits;
        fit_error += off;
        alone_error += p->off[0][i][0];
    }
    if (budget == 0)
        bench_note(bench, "%s, without bounds: %.3f %% off", name, 100.0 * error);
    else
        bench_note(bench, "%s, %.0f us: %.3f %% off; where the estimate fits (%d) %.3f, alone %.3f",
                   name, 1e6 * deadline_budgets[budget], 100.0 * error, fits,
                   fits != 0 ? 100.0 * fit_error / fits : 0.0,
                   fits != 0 ? 100.0 * alone_error / fits : 0.0);
}

static void deadline_run(bench *bench, deadline_pair *p, const char *name) {
    for (int round = -1; round < DEADLINE_ROUNDS; ++round) /* the first to warm up */
        for (int k = 0; k < DEADLINE_BUDGETS; ++k)
            for (int i = 0; i < DEADLINE_POSES; ++i)
                if (!deadline_query(p, k, i, round < 0 ? 0 : round)) {
                    bench_note(bench, "%s: pose %d has a wrong bound", name, i);
                    return;
                }
    for (int k = 0; k < DEADLINE_BUDGETS; ++k) {
        deadline_note_errors(bench, p, name, k);
        deadline_note_times(bench, name, "processor", p->used[k], deadline_budgets[k]);
        if (k != 0) deadline_note_times(bench, name, "clock", p->clock[k], deadline_budgets[k]);
    }
}

static carom_mesh *deadline_mesh(carom_context *maker, const char *model, carom_shape shape) {
    char path[512];
    const char *folder = getenv("CAROM_MODELS");
    carom_mesh *mesh = NULL;
    snprintf(path, sizeof(path), "%s/watertight/%s", folder != NULL ? folder : "../shared/models",
             model);
    if (carom_mesh_load(maker, path, CAROM_MESH_FORMAT_GUESS, &mesh) == CAROM_OK) return mesh;
    carom_shape_def def = {.shape = shape, .detail = 192};
    return carom_shape_make(maker, &def, &mesh) == CAROM_OK ? mesh : NULL;
}

/* Pairs of models, or of shapes where there are none. */
static void note_deadlines(bench *bench, carom_context *context, carom_context *maker) {
    static const struct {
        const char *name, *models[2];
        carom_shape shapes[2];
    } pairs[] = {
        {"bunnies", {"bunny_70k.off.gz", "bunny_70k.off.gz"}, {CAROM_SHAPE_KNOT, CAROM_SHAPE_KNOT}},
        {"armadillo, rocker arm",
         {"armadillo_52k.off.gz", "rocker-arm.obj.gz"},
         {CAROM_SHAPE_TORUS, CAROM_SHAPE_TORUS}},
        {"dino, homer", {"dino.off", "homer.obj"}, {CAROM_SHAPE_KNOT, CAROM_SHAPE_TORUS}}};
    for (int i = 0; i < (bench->quick ? 1 : 3); ++i) {
        static deadline_pair p;
        char name[128];
        carom_mesh *meshes[2];
        p = (deadline_pair){.context = context};
        for (int k = 0; k < 2; ++k)
            meshes[k] = deadline_mesh(maker, pairs[i].models[k], pairs[i].shapes[k]);
        uint64_t spheres = bench->quick ? 1000 : 5000;
        snprintf(name, sizeof(name), "deadlines, %s", pairs[i].name);
        if (deadline_prepare(&p, 0, maker, meshes[0], spheres) &&
            deadline_prepare(&p, 1, maker, meshes[1], spheres) && deadline_find_poses(&p))
            deadline_run(bench, &p, name);
        for (int k = 0; k < 2; ++k) {
            carom_mesh_destroy(meshes[k]);
            carom_solid_destroy(p.solids[k]);
            carom_tree_destroy(p.trees[k]);
        }
    }
}

static void run(bench *bench) {
    static const uint64_t counts[] = {2000, 5000, 20000, 60000, 240000};
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context, *maker;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    if (carom_context_create(bench->def, &maker) != CAROM_OK) {
        carom_context_destroy(context);
        return;
    }
    note_deadlines(bench, context, maker);
    for (int i = 0; i < (bench->quick ? 1 : 5); ++i) {
        scene s = {.context = context, .maker = maker};
        if (prepare(&s, 192, counts[i])) {
            if (find_overlaps(&s, 0.001, 0.1)) {
                compare_overlaps(bench, &s, counts[i]);
                if (bench->quick || counts[i] == 20000) {
                    compare_methods(bench, &s, counts[i]);
                    compare_seeds(bench, &s, counts[i]);
                }
            }
            if (find_overlaps(&s, 0.45, 0.55))
                note_times(bench, "overlap of 50 %", &s, POSES, run_tree_at);
            note_budget(bench, &s, counts[i]);
            if (find_path(&s, 0.01)) compare_gaps(bench, &s, counts[i]);
        }
        release(&s);
    }
    compare_meshes(bench, context, maker);
    carom_context_destroy(maker);
    carom_context_destroy(context);
}

const bench_group bench_tree = {69, "tree", "sphere trees: overlap and distance beside exact ones",
                                run};
