/* SPDX-License-Identifier: MIT */
/* Robots: random configurations of the arm of scenes/arm.h, on one thread: covers alone and
 * exactly, alone and among 20 boxes, clearance, and motions of 1 rad within the limits: all of
 * them, and those that keep 2 cm from everything. The exact verdicts are compared with
 * clearance: a free configuration has a distance above 0, a colliding one has none. Then verdicts
 * by threads, and a point cloud that is replaced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "scenes/arm.h"

#define MOTION_LENGTH    1.0  /* radians: the root of the sum of the squares of all joints' */
#define MOTION_CLEARANCE 0.02 /* metres */

#define CLOUD_POINTS 100000u
#define CLOUD_RADIUS 0.01 /* metres */

typedef struct player {
    carom_context *context;
    carom_robot *robot;
    const double *from, *to;
    double *kept_from, *kept_to; /* motions that keep their distance */
    uint64_t count;
    carom_robot_query query;
    carom_robot_result *results;
    carom_robot_gap *gaps;
    carom_robot_motion_result *motions;
} player;

static bool run_check(void *input) {
    player *p = input;
    return carom_robot_check(p->context, p->robot, p->from, p->count, &p->query, p->results) ==
           CAROM_OK;
}

static bool run_clearance(void *input) {
    player *p = input;
    if (carom_robot_clearance(p->context, p->robot, p->from, p->count, &p->query, p->gaps) !=
        CAROM_OK)
        return false;
    for (uint64_t i = 0; i < p->count && !p->query.covers_only; ++i)
        if ((p->gaps[i].distance.lower > 0.0) !=
            (p->results[i].verdict == CAROM_ROBOT_VERDICT_FREE))
            return false;
    return true;
}

static bool run_motion(void *input) {
    player *p = input;
    return carom_robot_motion(p->context, p->robot, p->from, p->to, p->count, &p->query,
                              p->motions) == CAROM_OK;
}

/* The motions that are free with a margin, of those that are wanted. */
static uint64_t keep_clear(player *p) {
    const size_t size = SCENE_ARM_JOINTS * sizeof(double);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < p->count; ++i) {
        if (p->motions[i].verdict != CAROM_ROBOT_VERDICT_FREE) continue;
        memcpy(p->kept_from + kept * SCENE_ARM_JOINTS, p->from + i * SCENE_ARM_JOINTS, size);
        memcpy(p->kept_to + kept++ * SCENE_ARM_JOINTS, p->to + i * SCENE_ARM_JOINTS, size);
    }
    return kept;
}

static void compare_motions(bench *bench, const player *p, const char *world) {
    char job[64];
    player few = *p, clear = *p;
    few.count = clear.count = p->count / 16;
    const bench_contender all = {"certified", NULL, run_motion, &few};
    const bench_contender kept = {"certified", NULL, run_motion, &clear};
    snprintf(job, sizeof(job), "motions, %s", world);
    bench_compare(bench, job, (double)few.count, &all, 1);
    clear.query.margin = MOTION_CLEARANCE;
    if (!run_motion(&clear)) return;
    clear.query.margin = 0.0;
    clear.count = keep_clear(&clear);
    clear.from = clear.kept_from;
    clear.to = clear.kept_to;
    snprintf(job, sizeof(job), "clear motions, %s", world);
    if (clear.count != 0) bench_compare(bench, job, (double)clear.count, &kept, 1);
}

static void compare(bench *bench, player *p, const char *world) {
    char job[64];
    uint64_t stages[CAROM_ROBOT_STAGE_COUNT] = {0}, open = 0;
    player covers = *p, exact = *p;
    covers.query.covers_only = true;
    const bench_contender checks[] = {{"covers alone", NULL, run_check, &covers},
                                      {"exact", NULL, run_check, &exact}};
    snprintf(job, sizeof(job), "configurations, %s", world);
    bench_compare(bench, job, (double)p->count, checks, 2);
    (void)run_check(&covers);
    for (uint64_t i = 0; i < p->count; ++i)
        open += p->results[i].verdict == CAROM_ROBOT_VERDICT_OPEN ? 1 : 0;
    (void)run_check(&exact);
    for (uint64_t i = 0; i < p->count; ++i) ++stages[p->results[i].stage];
    bench_note(bench,
               "%s: covers leave %.1f %% open; exact: %.1f %% by covers, %.1f %% by inner balls",
               job, 100.0 * (double)open / (double)p->count,
               100.0 * (double)stages[CAROM_ROBOT_STAGE_COVERS] / (double)p->count,
               100.0 * (double)stages[CAROM_ROBOT_STAGE_INNER] / (double)p->count);
    covers.count = exact.count = p->count / 16; /* exact distances take a thousand times as long */
    const bench_contender gaps[] = {{"covers alone", NULL, run_clearance, &covers},
                                    {"exact", NULL, run_clearance, &exact}};
    snprintf(job, sizeof(job), "clearance, %s", world);
    bench_compare(bench, job, (double)covers.count, gaps, 2);
    double widest = 0.0;
    if (run_clearance(&covers))
        for (uint64_t i = 0; i < covers.count; ++i)
            widest = fmax(widest, p->gaps[i].distance.upper - p->gaps[i].distance.lower);
    bench_note(bench, "%s: intervals by covers are %.4f m wide at most", job, widest);
    compare_motions(bench, p, world);
}

static void make_motion(carom_random *random, const double *lower, const double *upper,
                        double *from, double *to) {
    double squared = 0.0;
    for (uint32_t k = 0; k < SCENE_ARM_JOINTS; ++k) {
        from[k] = carom_random_between(random, lower[k], upper[k]);
        to[k] = carom_random_between(random, -1.0, 1.0);
        squared += to[k] * to[k];
    }
    for (uint32_t k = 0; k < SCENE_ARM_JOINTS; ++k)
        to[k] = fmin(fmax(from[k] + to[k] * (MOTION_LENGTH / sqrt(squared)), lower[k]), upper[k]);
}

/* Exact verdicts with more and more threads: what they share is the robot alone. */
static void compare_threads(bench *bench, const player *p) {
    static const char *const names[] = {"1 thread", "2 threads", "4 threads", "8 threads",
                                        "16 threads"};
    bench_contender contenders[5];
    player players[5];
    uint32_t count = 0;
    carom_context_info all;
    carom_context_def def = *bench->def;
    if (carom_context_create(&def, &players[0].context) != CAROM_OK) return;
    if (carom_context_get_info(players[0].context, &all) != CAROM_OK) all.threads = 1;
    carom_context_destroy(players[0].context);
    for (uint32_t threads = 1; threads <= 16 && threads <= all.threads; threads *= 2) {
        players[count] = *p;
        def.threads = threads;
        if (carom_context_create(&def, &players[count].context) != CAROM_OK) break;
        contenders[count] = (bench_contender){names[count], NULL, run_check, &players[count]};
        ++count;
    }
    bench_compare(bench, "exact verdicts, 20 boxes, by threads", (double)p->count, contenders,
                  count);
    for (uint32_t i = 0; i < count; ++i) carom_context_destroy(players[i].context);
}

/* A point cloud that is replaced between two calls, as a camera gives a new one. */
typedef struct cloud {
    carom_context *context;
    carom_robot *robot;
    carom_ball *points; /* of two clouds, which take turns */
    uint32_t id, turn;
} cloud;

static bool run_cloud(void *input) {
    cloud *c = input;
    const carom_robot_shape shape = {.kind = CAROM_ROBOT_SHAPE_KIND_BALLS,
                                     .balls = c->points + (c->turn++ % 2) * CLOUD_POINTS,
                                     .ball_count = CLOUD_POINTS,
                                     .radius = CLOUD_RADIUS};
    return carom_robot_set_object(c->context, c->robot, c->id, &shape) == CAROM_OK;
}

static void compare_clouds(bench *bench, carom_robot *robot) {
    carom_context_def def = *bench->def;
    cloud one = {.robot = robot}, all = {.robot = robot};
    carom_random random = {1};
    const carom_robot_shape none = {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE};
    one.points = all.points = malloc(2 * CLOUD_POINTS * sizeof(*one.points));
    for (uint32_t i = 0; one.points != NULL && i < 2 * CLOUD_POINTS; ++i)
        one.points[i] = (carom_ball){{carom_random_between(&random, -1.0, 1.0),
                                      carom_random_between(&random, -1.0, 1.0),
                                      i % 3 == 0 ? 0.8 : carom_random_between(&random, -1.0, 1.0)},
                                     0.0};
    bool ready = one.points != NULL && carom_context_create(&def, &all.context) == CAROM_OK;
    def.threads = 1;
    ready = ready && carom_context_create(&def, &one.context) == CAROM_OK &&
            carom_robot_add_objects(one.context, robot, &none, 1, &one.id) == CAROM_OK;
    all.id = one.id;
    const bench_contender both[] = {{"1 thread", NULL, run_cloud, &one},
                                    {"all threads", NULL, run_cloud, &all}};
    if (ready) bench_compare(bench, "100,000 points replaced", CLOUD_POINTS, both, 2);
    carom_context_destroy(one.context);
    carom_context_destroy(all.context);
    free(one.points);
}

static void run(bench *bench) {
    const uint64_t count = bench->quick ? 2048 : 32768, values = count * SCENE_ARM_JOINTS;
    carom_context_def def = *bench->def;
    scene_arm arm;
    player p = {.count = count};
    carom_random random = {1};
    double *from = malloc(values * sizeof(*from)), *to = malloc(values * sizeof(*to));
    double *kept = malloc(values / 8 * sizeof(*kept));
    double lower[SCENE_ARM_JOINTS], upper[SCENE_ARM_JOINTS];
    p.results = malloc(count * sizeof(*p.results));
    p.gaps = malloc(count * sizeof(*p.gaps));
    p.motions = malloc(count * sizeof(*p.motions));
    def.threads = 1;
    scene_arm_make(&arm);
    bool ready = from != NULL && to != NULL && kept != NULL && p.results != NULL &&
                 p.gaps != NULL && p.motions != NULL &&
                 carom_context_create(&def, &p.context) == CAROM_OK &&
                 carom_robot_create(p.context, &arm.def, &p.robot) == CAROM_OK &&
                 carom_robot_get_limits(p.robot, lower, upper) == CAROM_OK;
    for (uint64_t i = 0; i < count && ready; ++i)
        make_motion(&random, lower, upper, from + i * SCENE_ARM_JOINTS, to + i * SCENE_ARM_JOINTS);
    p.from = from;
    p.to = to;
    p.kept_from = kept;
    p.kept_to = kept + values / 16;
    if (ready) compare(bench, &p, "alone");
    if (ready && carom_robot_add_objects(p.context, p.robot, arm.objects, SCENE_ARM_OBJECTS,
                                         NULL) == CAROM_OK) {
        compare(bench, &p, "20 boxes");
        compare_threads(bench, &p);
        compare_clouds(bench, p.robot);
    }
    carom_robot_destroy(p.robot);
    carom_context_destroy(p.context);
    free(from);
    free(to);
    free(kept);
    free(p.results);
    free(p.gaps);
    free(p.motions);
}

const bench_group bench_robot = {68, "robot", "configurations and motions of a robot", run};
