/* SPDX-License-Identifier: MIT */
/* Verdicts, clearance and motions of robots on the GPU are the CPU's, byte for byte: small random
 * robots at all margins, in and beyond their limits, from host memory; ten robots in five worlds in
 * device memory, before and after the world changes, and in a recorded frame. CAROM_LONG=1:
 * CAROM_CASES configurations of each in each world (20,000), a tenth as many clearances and a
 * hundredth as many motions; CAROM_ROBOT=panda one robot; with CAROM_ROBOT_FILES=folder robots are
 * read from there where they have been saved. Skipped where there is no device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "robot/robot.h"
#include "tests/support/campaign.h"
#include "tests/support/robot_models.h"
#include "tests/support/robots.h"
#include "tests/support/test.h"

TEST_BACKENDS

#define SMALL 600u /* configurations of a small robot */
/* Of these, with clearance and with motions. A call takes as long as the longest of them, so a case
 * has one call of each with many, not one per query. */
#define SMALL_GAPS   288u
#define SMALL_MOVES  36u
#define PAIR_SAMPLES 400

static uint64_t compared, free_ones, open_ones, by_faces, on_host, gaps_compared, moves_compared;

static int report(void **state) {
    print_message("%llu verdicts compared: %llu free, %llu open, %llu by faces; %llu decided on "
                  "the host\n",
                  (unsigned long long)compared, (unsigned long long)free_ones,
                  (unsigned long long)open_ones, (unsigned long long)by_faces,
                  (unsigned long long)on_host);
    print_message("%llu clearances and %llu motions compared\n", (unsigned long long)gaps_compared,
                  (unsigned long long)moves_compared);
    return tear_down(state);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void assert_same_results(const carom_robot_result *expected, const carom_robot_result *found,
                                uint64_t count, const char *what) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_robot_result *e = &expected[i], *f = &found[i];
        free_ones += e->verdict == CAROM_ROBOT_VERDICT_FREE ? 1 : 0;
        open_ones += e->verdict == CAROM_ROBOT_VERDICT_OPEN ? 1 : 0;
        by_faces += e->stage == CAROM_ROBOT_STAGE_EXACT ? 1 : 0;
        if (memcmp(e, f, sizeof(*e)) == 0) continue;
        fail_msg("%s, configuration %llu: %s by %s, %u and %u, on the CPU; %s by %s, %u and %u",
                 what, (unsigned long long)i, carom_robot_verdict_name(e->verdict),
                 carom_robot_stage_name(e->stage), e->a, e->b, carom_robot_verdict_name(f->verdict),
                 carom_robot_stage_name(f->stage), f->a, f->b);
    }
    compared += count;
}

static void assert_same_gaps(const carom_robot_gap *expected, const carom_robot_gap *found,
                             uint64_t count, const char *what) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_robot_gap *e = &expected[i], *f = &found[i];
        if (memcmp(e, f, sizeof(*e)) == 0) continue;
        fail_msg("%s, clearance %llu: %.17g %.17g %.17g of %u and %u on the CPU; %.17g %.17g %.17g "
                 "of %u and %u",
                 what, (unsigned long long)i, e->distance.lower, e->distance.value,
                 e->distance.upper, e->a, e->b, f->distance.lower, f->distance.value,
                 f->distance.upper, f->a, f->b);
    }
    gaps_compared += count;
}

static void assert_same_motions(const carom_robot_motion_result *expected,
                                const carom_robot_motion_result *found, uint64_t count,
                                const char *what) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_robot_motion_result *e = &expected[i], *f = &found[i];
        if (memcmp(e, f, sizeof(*e)) == 0) continue;
        fail_msg("%s, motion %llu: %s until %.17g, %.17g, of %u and %u on the CPU; %s until %.17g, "
                 "%.17g, of %u and %u",
                 what, (unsigned long long)i, carom_robot_verdict_name(e->verdict), e->free_until,
                 e->contact, e->a, e->b, carom_robot_verdict_name(f->verdict), f->free_until,
                 f->contact, f->a, f->b);
    }
    moves_compared += count;
}

/* Configurations of which some lie on limits and quarter turns, or out of range. */
static void fill(const carom_robot *robot, uint64_t seed, bool beyond, double *q, uint64_t count) {
    carom_robot_info info;
    carom_random random = {seed};
    assert_ok(cpu, carom_robot_get_info(robot, &info));
    double *lower = malloc((info.dof + 1) * sizeof(*lower));
    double *upper = malloc((info.dof + 1) * sizeof(*upper));
    assert_ok(cpu, carom_robot_get_limits(robot, lower, upper));
    for (uint64_t i = 0; i < count * info.dof; ++i) {
        uint64_t k = i % info.dof, which = i / info.dof % 16;
        double value = carom_random_between(&random, lower[k], upper[k]);
        if (which == 1)
            value = lower[k] + (upper[k] - lower[k]) * (double)test_below(&random, 5) / 4.0;
        if (which == 2) value = 1.5707963267948966 * round(value);
        if (which == 3) value = 0.0;
        if (which == 4 && beyond) value = ldexp(value, (int)test_below(&random, 36));
        q[i] = value;
    }
    free(lower);
    free(upper);
}

/* ---- Small robots ---------------------------------------------------------------------------- */

/* Clearance and motions of the first configurations; motions from each to the one that lies
 * SMALL_MOVES further on. */
static void compare_small(const carom_robot *robot, const double *q, const carom_robot_query *query,
                          const char *what) {
    static carom_robot_gap expected[SMALL_GAPS], found[SMALL_GAPS];
    static carom_robot_motion_result expected_moves[SMALL_MOVES], found_moves[SMALL_MOVES];
    carom_robot_info info;
    carom_robot_query rough = *query;
    assert_ok(cpu, carom_robot_get_info(robot, &info));
    rough.tolerance = 1e-3;
    memset(found, 1, sizeof(found));
    memset(found_moves, 1, sizeof(found_moves));
    assert_ok(cpu, carom_robot_clearance(cpu, robot, q, SMALL_GAPS, query, expected));
    assert_ok(cuda, carom_robot_clearance(cuda, robot, q, SMALL_GAPS, query, found));
    assert_same_gaps(expected, found, SMALL_GAPS, what);
    const double *to = q + (uint64_t)SMALL_MOVES * info.dof;
    assert_ok(cpu, carom_robot_motion(cpu, robot, q, to, SMALL_MOVES, &rough, expected_moves));
    assert_ok(cuda, carom_robot_motion(cuda, robot, q, to, SMALL_MOVES, &rough, found_moves));
    assert_same_motions(expected_moves, found_moves, SMALL_MOVES, what);
}

static void small_robots_are_the_same(void **state) {
    (void)state;
    static robots_case m;
    static double q[SMALL * ROBOTS_LINKS];
    static carom_robot_result expected[SMALL], found[SMALL];
    if (cuda == NULL) skip();
    for (uint64_t seed = 1; seed <= TEST_CASES(400); ++seed) {
        carom_robot *robot;
        uint32_t ids[ROBOTS_OBJECTS];
        char what[64];
        robots_make(seed, &m);
        snprintf(what, sizeof(what), "small robot %llu", (unsigned long long)seed);
        m.def.spheres = seed % 3 == 0 ? 24 : 8;
        m.def.inner = 4;
        m.def.fine = seed % 2 == 0 ? 48 : 1;
        assert_ok(cpu, carom_robot_create(cpu, &m.def, &robot));
        assert_ok(cpu, carom_robot_add_objects(cpu, robot, m.objects, m.object_count, ids));
        fill(robot, seed, seed % 5 == 0, q, SMALL);
        for (int i = 0; i < 3; ++i) {
            const carom_robot_query query = {.margin = i == 2 ? 0.03 : 0.0, .covers_only = i == 1};
            uint64_t count = SMALL - (seed + (uint64_t)i) % 37;
            memset(expected, 0, sizeof(expected));
            memset(found, 1, sizeof(found));
            assert_ok(cpu, carom_robot_check(cpu, robot, q, count, &query, expected));
            assert_ok(cuda, carom_robot_check(cuda, robot, q, count, &query, found));
            assert_same_results(expected, found, count, what);
            if ((uint64_t)i == seed % 3) compare_small(robot, q, &query, what);
        }
        carom_robot_destroy(robot);
    }
}

/* ---- Ten robots in five worlds --------------------------------------------------------------- */

typedef struct player {
    carom_robot *robot;
    carom_cuda_robot *copy;
    double *q;
    void *device_q, *device_results, *device_gaps, *device_moves;
    carom_robot_result *expected, *found;
    carom_robot_gap *gaps, *found_gaps;
    carom_robot_motion_result *moves, *found_moves;
    uint64_t count, dof;
    char what[96];
} player;

/* How many clearances and motions are compared. */
static uint64_t gap_count(const player *p) {
    return p->count / 10;
}

static uint64_t move_count(const player *p) {
    return p->count / 100;
}

static void compare(player *p, const carom_robot_query *query) {
    assert_ok(cpu, carom_robot_check(cpu, p->robot, p->q, p->count, query, p->expected));
    assert_ok(cuda, carom_cuda_robot_check(cuda, p->copy, p->device_q, p->count, query,
                                           p->device_results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda,
              carom_cuda_read(cuda, p->found, p->device_results, p->count * sizeof(*p->found)));
    assert_same_results(p->expected, p->found, p->count, p->what);
}

/* Clearance and motions in device memory; motions from each configuration to the one after it. */
static void expect_moves(player *p, const carom_robot_query *query) {
    assert_ok(cpu, carom_robot_clearance(cpu, p->robot, p->q, gap_count(p), query, p->gaps));
    assert_ok(cpu, carom_robot_motion(cpu, p->robot, p->q, p->q + p->dof, move_count(p), query,
                                      p->moves));
}

static void queue_moves(player *p, const carom_robot_query *query) {
    const double *q = p->device_q;
    assert_ok(cuda,
              carom_cuda_robot_clearance(cuda, p->copy, q, gap_count(p), query, p->device_gaps));
    assert_ok(cuda, carom_cuda_robot_motion(cuda, p->copy, q, q + p->dof, move_count(p), query,
                                            p->device_moves));
}

static void read_moves(player *p) {
    assert_ok(cuda, carom_cuda_read(cuda, p->found_gaps, p->device_gaps,
                                    gap_count(p) * sizeof(*p->gaps)));
    assert_ok(cuda, carom_cuda_read(cuda, p->found_moves, p->device_moves,
                                    move_count(p) * sizeof(*p->moves)));
    assert_same_gaps(p->gaps, p->found_gaps, gap_count(p), p->what);
    assert_same_motions(p->moves, p->found_moves, move_count(p), p->what);
}

static void compare_moves(player *p, const carom_robot_query *query) {
    expect_moves(p, query);
    queue_moves(p, query);
    assert_ok(cuda, carom_cuda_finish(cuda));
    read_moves(p);
}

/* Two checks, clearance and motions in a recorded frame, run twice. */
static void compare_frame(player *p) {
    carom_cuda_frame *frame;
    const carom_robot_query query = {.margin = 0.002, .tolerance = 1e-3};
    assert_ok(cpu, carom_robot_check(cpu, p->robot, p->q, p->count, &query, p->expected));
    expect_moves(p, &query);
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    for (int i = 0; i < 2; ++i)
        assert_ok(cuda, carom_cuda_robot_check(cuda, p->copy, p->device_q, p->count,
                                               i == 0 ? NULL : &query, p->device_results));
    queue_moves(p, &query);
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    for (int run = 0; run < 2; ++run) {
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_ok(cuda,
                  carom_cuda_read(cuda, p->found, p->device_results, p->count * sizeof(*p->found)));
        assert_same_results(p->expected, p->found, p->count, p->what);
        read_moves(p);
    }
    carom_cuda_frame_destroy(frame);
}

static void run_world(player *p, scene_cell_kind kind, double reach) {
    static scene_cell cell;
    uint32_t ids[SCENE_CELL_OBJECTS];
    const uint64_t detail = campaign_is_long() ? 0 : 256;
    assert_ok(cpu, scene_cell_make(cpu, kind, reach, detail, &cell));
    assert_ok(cpu, carom_robot_add_objects(cpu, p->robot, cell.objects, cell.count, ids));
    assert_ok(cuda, carom_cuda_robot_update(cuda, p->copy));
    compare(p, NULL);
    compare(p, &(carom_robot_query){.covers_only = true});
    compare(p, &(carom_robot_query){.margin = 0.01});
    compare_moves(p, &(carom_robot_query){.tolerance = 1e-3});
    compare_moves(p, &(carom_robot_query){.covers_only = true, .margin = 0.01});
    compare_frame(p);
    for (uint32_t i = 0; i < cell.count; ++i)
        assert_ok(cpu, carom_robot_remove_object(cpu, p->robot, ids[i]));
    scene_cell_free(&cell);
}

static carom_robot *prepare(const robot_model *model) {
    const carom_robot_def few = {.spheres = 24, .inner = 8};
    const char *folder = getenv("CAROM_ROBOT_FILES");
    char path[1024];
    carom_robot *robot = NULL;
    carom_robot_pair_counts counts = {0};
    snprintf(path, sizeof(path), "%s/%s.robot", folder != NULL ? folder : "", model->name);
    FILE *file = folder != NULL ? fopen(path, "rb") : NULL;
    if (file != NULL) {
        fclose(file);
        assert_ok(cpu, carom_robot_load(cpu, path, CAROM_ROBOT_FORMAT_GUESS, &robot));
    } else {
        carom_urdf *urdf = robot_model_load(cpu, model);
        robot_model_write_mesh(cpu, model);
        assert_ok(cpu,
                  carom_robot_create_urdf(cpu, urdf, campaign_is_long() ? NULL : &few, &robot));
        robot_model_remove_mesh(model);
        carom_urdf_destroy(urdf);
    }
    assert_ok(cpu, carom_robot_sample_pairs(cpu, robot, PAIR_SAMPLES, 1, &counts));
    for (uint64_t i = 0; i < counts.count; ++i)
        if (counts.data[i].colliding * 10 >= 9 * PAIR_SAMPLES)
            assert_ok(cpu,
                      carom_robot_set_allowed(
                          cpu, robot, &(carom_pair){counts.data[i].a, counts.data[i].b}, 1, true));
    carom_robot_pair_counts_free(&counts);
    return robot;
}

static void run_model(const robot_model *model, uint64_t count) {
    player p = {.robot = prepare(model), .count = count};
    carom_robot_info info;
    carom_cuda_robot_info on_device;
    assert_ok(cpu, carom_robot_get_info(p.robot, &info));
    uint64_t bytes = count * info.dof * sizeof(double);
    p.dof = info.dof;
    p.gaps = calloc(gap_count(&p) + 1, sizeof(*p.gaps));
    p.found_gaps = calloc(gap_count(&p) + 1, sizeof(*p.gaps));
    p.moves = calloc(move_count(&p) + 1, sizeof(*p.moves));
    p.found_moves = calloc(move_count(&p) + 1, sizeof(*p.moves));
    assert_ok(cuda,
              carom_cuda_allocate(cuda, (gap_count(&p) + 1) * sizeof(*p.gaps), &p.device_gaps));
    assert_ok(cuda,
              carom_cuda_allocate(cuda, (move_count(&p) + 1) * sizeof(*p.moves), &p.device_moves));
    p.q = malloc(bytes + 1);
    p.expected = calloc(count, sizeof(*p.expected));
    p.found = calloc(count, sizeof(*p.found));
    fill(p.robot, 7, true, p.q, count);
    assert_ok(cuda, carom_cuda_robot_create(cuda, p.robot, &p.copy));
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &p.device_q));
    assert_ok(cuda, carom_cuda_write(cuda, p.device_q, p.q, bytes));
    assert_ok(cuda, carom_cuda_allocate(cuda, count * sizeof(*p.found), &p.device_results));
    for (int kind = 0; kind < SCENE_CELL_KIND_COUNT; ++kind) {
        snprintf(p.what, sizeof(p.what), "%s in %s", model->name,
                 scene_cell_name((scene_cell_kind)kind));
        run_world(&p, (scene_cell_kind)kind, 1.0);
    }
    assert_ok(cuda, carom_cuda_robot_get_info(p.copy, &on_device));
    assert_true(on_device.bytes > 0);
    on_host += on_device.host_items;
    if (campaign_is_long())
        print_message("%s: %llu verdicts so far, %llu decided on the host\n", model->name,
                      (unsigned long long)compared, (unsigned long long)on_device.host_items);
    carom_cuda_release(cuda, p.device_q);
    carom_cuda_release(cuda, p.device_results);
    carom_cuda_release(cuda, p.device_gaps);
    carom_cuda_release(cuda, p.device_moves);
    carom_cuda_robot_destroy(p.copy);
    carom_robot_destroy(p.robot);
    free(p.q);
    free(p.expected);
    free(p.found);
    free(p.gaps);
    free(p.found_gaps);
    free(p.moves);
    free(p.found_moves);
}

static void ten_robots_in_five_worlds(void **state) {
    (void)state;
    const char *only = getenv("CAROM_ROBOT"), *cases = getenv("CAROM_CASES");
    uint64_t count = TEST_FEW_CASES ? 100 : 700;
    if (campaign_is_long()) count = cases != NULL ? strtoull(cases, NULL, 10) : 20000;
    if (cuda == NULL) skip();
    for (uint32_t i = 0; i < ROBOT_MODELS; ++i) {
        const robot_model *model = &robot_models[i];
        bool is_quick = model->urdf == NULL && model->formula <= SCENE_ROBOT_GANTRY;
        if (!robot_model_is_there(model) || (!is_quick && !campaign_is_long())) continue;
        if (only == NULL || strcmp(only, model->name) == 0) run_model(model, count);
    }
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* A robot of one arm that turns about z, of a box. */
static carom_robot *make_boom(void) {
    const carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                   .pose = {{1.0, 0.0, 0.0, 0.0}, {0.5, 0.0, 0.0}},
                                   .half = {0.25, 0.125, 0.125}};
    const carom_robot_link links[2] = {{"base", NULL, 0}, {"boom", &box, 1}};
    const carom_robot_joint joint = {.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                     .parent = 0,
                                     .child = 1,
                                     .axis = {0.0, 0.0, 1.0},
                                     .lower = -3.0,
                                     .upper = 3.0};
    const carom_robot_def def = {.links = links,
                                 .link_count = 2,
                                 .joints = &joint,
                                 .joint_count = 1,
                                 .spheres = 8,
                                 .inner = 4};
    carom_robot *robot;
    assert_ok(cpu, carom_robot_create(cpu, &def, &robot));
    return robot;
}

#define CLOUD 2000u

static carom_robot_shape make_cloud(uint64_t seed, carom_ball *points) {
    carom_random random = {seed};
    for (uint32_t i = 0; i < CLOUD; ++i)
        points[i] = (carom_ball){{carom_random_between(&random, -1.0, 1.0),
                                  carom_random_between(&random, -1.0, 1.0),
                                  carom_random_between(&random, -1.0, 1.0)},
                                 0.0};
    return (carom_robot_shape){
        .kind = CAROM_ROBOT_SHAPE_KIND_BALLS, .balls = points, .ball_count = CLOUD, .radius = 0.02};
}

static void compare_boom(const carom_robot *robot, carom_cuda_robot *copy, const char *what) {
    double q[64];
    carom_robot_result expected[64], found[64];
    void *memory;
    memset(expected, 0, sizeof(expected)); /* what is between members, too */
    for (int i = 0; i < 64; ++i) q[i] = -3.0 + i * (6.0 / 63.0);
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(q) + sizeof(found), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, q, sizeof(q)));
    carom_robot_result *results = (carom_robot_result *)((char *)memory + sizeof(q));
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 64, NULL, results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, found, results, sizeof(found)));
    assert_ok(cpu, carom_robot_check(cpu, robot, q, 64, NULL, expected));
    assert_same_results(expected, found, 64, what);
    carom_cuda_release(cuda, memory);
}

/* Of a large world only what has changed is copied. */
static void updates_copy_what_changed(void **state) {
    (void)state;
    static carom_ball points[CLOUD];
    carom_cuda_robot *copy;
    uint32_t ids[3];
    if (cuda == NULL) skip();
    carom_robot *robot = make_boom();
    for (uint32_t i = 0; i < 3; ++i) {
        const carom_robot_shape cloud = make_cloud(1 + i, points);
        assert_ok(cpu, carom_robot_add_objects(cpu, robot, &cloud, 1, &ids[i]));
    }
    assert_ok(cuda, carom_cuda_robot_create(cuda, robot, &copy));
    uint64_t all = carom_robot_device_written(copy);
    compare_boom(robot, copy, "three clouds");
    assert_ok(cuda, carom_cuda_robot_update(cuda, copy));
    uint64_t rest = carom_robot_device_written(copy);
    assert_in_range(rest, 1, all / 10);
    compare_boom(robot, copy, "nothing changed");
    const carom_robot_shape cloud = make_cloud(9, points);
    assert_ok(cpu, carom_robot_set_object(cpu, robot, ids[1], &cloud));
    assert_ok(cuda, carom_cuda_robot_update(cuda, copy));
    assert_in_range(carom_robot_device_written(copy), rest + (all - rest) / 4,
                    rest + (all - rest) / 2);
    compare_boom(robot, copy, "a cloud replaced");
    const carom_robot_shape ball = {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.5};
    assert_ok(cpu, carom_robot_set_object(cpu, robot, ids[0], &ball));
    assert_ok(cpu, carom_robot_remove_object(cpu, robot, ids[2]));
    assert_ok(cuda, carom_cuda_robot_update(cuda, copy));
    assert_true(carom_robot_device_written(copy) <= 2 * rest);
    compare_boom(robot, copy, "a ball instead, and a cloud less");
    assert_ok(cpu, carom_robot_add_objects(cpu, robot, &cloud, 1, &ids[2]));
    assert_ok(cpu, carom_robot_attach(cpu, robot, 1, &cloud, NULL));
    assert_ok(cuda, carom_cuda_robot_update(cuda, copy));
    compare_boom(robot, copy, "a cloud in its place, and one attached");
    carom_cuda_robot_destroy(copy);
    carom_robot_destroy(robot);
}

/* ---- Left to the host ------------------------------------------------------------------------ */

static bool boom_collides(const carom_robot *robot, double q, double margin) {
    carom_robot_result result;
    const carom_robot_query query = {.margin = margin};
    assert_ok(cpu, carom_robot_check(cpu, robot, &q, 1, &query, &result));
    return result.verdict == CAROM_ROBOT_VERDICT_COLLIDING;
}

/* The least margin at which a configuration collides: its faces are as far apart, within rounding.
 */
static double least_margin(const carom_robot *robot, double q) {
    double free = 0.0, colliding = 1.0;
    assert_false(boom_collides(robot, q, free));
    assert_true(boom_collides(robot, q, colliding));
    for (double middle = 0.5; middle > free && middle < colliding;
         middle = 0.5 * (free + colliding)) {
        if (boom_collides(robot, q, middle))
            colliding = middle;
        else
            free = middle;
    }
    return colliding;
}

/* What one check leaves to the host does not overwrite what a later one has written, and motions
 * that are left to it are those of the CPU. */
static void the_last_answers_stay(void **state) {
    (void)state;
    carom_cuda_robot *copy;
    carom_cuda_robot_info info;
    carom_robot_motion_result expected, found;
    carom_robot_result result[2], at_margin[2];
    void *memory;
    if (cuda == NULL) skip();
    carom_robot *robot = make_boom();
    const carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                   .pose = {{1.0, 0.0, 0.0, 0.0}, {1.25, 0.0, 0.0}},
                                   .half = {0.25, 0.5, 0.5}};
    assert_ok(cpu, carom_robot_add_objects(cpu, robot, &box, 1, NULL));
    const double q[2] = {0.0, 1.0};
    const carom_robot_query query = {.margin = least_margin(robot, q[0])};
    assert_ok(cuda, carom_cuda_robot_create(cuda, robot, &copy));
    assert_ok(cuda, carom_cuda_allocate(cuda, 4096, &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, q, sizeof(q)));
    carom_robot_result *results = (carom_robot_result *)((char *)memory + 512);
    carom_robot_motion_result *moved = (carom_robot_motion_result *)((char *)memory + 1024);
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 2, &query, results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, at_margin, results, sizeof(at_margin)));
    assert_int_equal(at_margin[0].verdict, CAROM_ROBOT_VERDICT_COLLIDING);
    assert_ok(cuda, carom_cuda_robot_get_info(copy, &info));
    assert_int_equal(info.host_items, 1);
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 2, &query, results));
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 2, NULL, results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, result, results, sizeof(result)));
    assert_int_equal(result[0].verdict, CAROM_ROBOT_VERDICT_FREE);
    assert_int_equal(result[1].verdict, CAROM_ROBOT_VERDICT_FREE);
    /* the last one's first configuration lies where the first one's second did */
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 2, NULL, results - 1));
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 2, &query, results));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, result, results, sizeof(result)));
    assert_memory_equal(result, at_margin, sizeof(result));
    assert_ok(cpu, carom_robot_motion(cpu, robot, &q[1], &q[0], 1, &query, &expected));
    assert_ok(cuda,
              carom_cuda_robot_motion(cuda, copy, (double *)memory + 1, memory, 1, &query, moved));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, &found, moved, sizeof(found)));
    assert_same_motions(&expected, &found, 1, "at the margin");
    assert_ok(cuda, carom_cuda_robot_motion(cuda, copy, memory, memory, 1, &query, moved));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, &found, moved, sizeof(found)));
    assert_ok(cpu, carom_robot_motion(cpu, robot, q, q, 1, &query, &expected));
    assert_same_motions(&expected, &found, 1, "no motion");
    uint64_t before = info.host_items;
    assert_ok(cuda, carom_cuda_robot_get_info(copy, &info));
    assert_true(info.host_items > before + 2);
    carom_cuda_release(cuda, memory);
    carom_cuda_robot_destroy(copy);
    carom_robot_destroy(robot);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void what_cuda_cannot_do_is_said(void **state) {
    (void)state;
    static robots_case m;
    carom_robot *robot;
    carom_cuda_robot *copy;
    carom_pose poses[ROBOTS_LINKS];
    carom_robot_motion_result motion;
    carom_robot_result result;
    double q[ROBOTS_LINKS] = {0};
    void *memory;
    if (cuda == NULL) skip();
    robots_make(3, &m);
    m.def.spheres = m.def.inner = 8;
    assert_fails(cuda, carom_robot_create(cuda, &m.def, &robot), CAROM_UNSUPPORTED, "cuda");
    assert_ok(cpu, carom_robot_create(cpu, &m.def, &robot));
    assert_fails(cuda, carom_robot_poses(cuda, robot, q, 1, poses), CAROM_UNSUPPORTED, "poses");
    assert_fails(cpu, carom_cuda_robot_create(cpu, robot, &copy), CAROM_UNSUPPORTED, "cuda");
    assert_null(copy);
    assert_ok(cuda, carom_cuda_robot_create(cuda, robot, &copy));
    q[0] = NAN;
    assert_fails(cuda, carom_robot_check(cuda, robot, q, 1, NULL, &result), CAROM_BAD_INPUT, "nan");
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(q) + sizeof(result), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, q, sizeof(q)));
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 1, NULL,
                                           (carom_robot_result *)((char *)memory + sizeof(q))));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "configuration 0");
    assert_ok(cuda, carom_cuda_robot_clearance(cuda, copy, memory, 1, NULL, memory));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "configuration 0");
    assert_ok(cuda, carom_cuda_write(cuda, memory, q, sizeof(q)));
    assert_ok(cuda, carom_cuda_robot_motion(cuda, copy, memory, memory, 1, NULL,
                                            (carom_robot_motion_result *)memory));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "configuration 0");
    assert_fails(cuda, carom_robot_motion(cuda, robot, q, q, 1, NULL, &motion), CAROM_BAD_INPUT,
                 "nan");
    assert_ok(cuda, carom_cuda_robot_check(cuda, copy, memory, 0, NULL, NULL));
    assert_ok(cuda, carom_cuda_robot_clearance(cuda, copy, memory, 0, NULL, NULL));
    assert_ok(cuda, carom_cuda_robot_motion(cuda, copy, memory, memory, 0, NULL, NULL));
    assert_ok(cuda, carom_cuda_finish(cuda));
    carom_cuda_release(cuda, memory);
    carom_cuda_robot_destroy(copy);
    carom_cuda_robot_destroy(NULL);
    carom_robot_destroy(robot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_robots_are_the_same),   cmocka_unit_test(ten_robots_in_five_worlds),
        cmocka_unit_test(updates_copy_what_changed),   cmocka_unit_test(the_last_answers_stay),
        cmocka_unit_test(what_cuda_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("robot_cuda", tests, set_up, report);
}
