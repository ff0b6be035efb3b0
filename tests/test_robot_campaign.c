/* SPDX-License-Identifier: MIT */
/* Ten robots in five worlds: verdicts, intervals of clearance and motions against robot_search.h,
 * whose kinematics are its own, in long doubles. A configuration that is free has no two bodies
 * within the margin; of one that collides the named pair is. Both ends of an interval are
 * tested the same way. All bytes are the same for 1, 2 and 16 threads and for every instruction
 * set.
 *
 * Six robots are those of the shared models, four are made by formula (scenes/robots.h). Without
 * CAROM_LONG=1 two of these and few configurations. With it CAROM_CASES configurations in all
 * (10,000,000), a thousandth of them for clearance and a hundredth as motions; CAROM_PART=3/16 runs
 * one share of sixteen, CAROM_ROBOT=panda one robot. With CAROM_ROBOT_FILES=folder robots are read
 * from there where another share has saved them. Each robot in each world prints what was found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/robot_models.h"
#include "tests/support/robot_oracle.h"
#include "tests/support/robot_search.h"
#include "tests/support/robots.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

enum {
    BLOCK = 500,           /* configurations of a block */
    MOTIONS = BLOCK / 100, /* motions of a block, where half a unit or more is due */
    GAPS = 4,              /* configurations of a block whose clearance is measured */
    TIMES = 8,             /* at which a motion is tested */
    MOST_DOF = 256,
    OBJECT_SAMPLES = 40, /* for links and objects that collide in nearly every configuration */
    PAIR_SAMPLES = 400   /* for pairs that collide in nearly every configuration */
};
#define CLOSEST 1e-9L /* metres: no bound of rounding may exceed it */

/* A robot and all that the search is made from. */
typedef struct robot_case {
    const char *name;
    carom_urdf *urdf;
    carom_robot *robot;
    carom_robot_def def;
    carom_robot_link *links;
    carom_robot_joint *joints;
    carom_robot_shape *shapes;
    carom_mesh **meshes;
    carom_mesh_view *views;
    double **positions; /* of the views */
    carom_pair *allowed;
    uint32_t shape_count, dof;
    double lower[MOST_DOF], upper[MOST_DOF], rounding;
    robot_search *search;
} robot_case;

/* ---- Robots ---------------------------------------------------------------------------------- */

/* The mesh in doubles, as the oracle reads it. */
static void load_mesh(robot_case *c, uint32_t element) {
    carom_mesh_view view;
    assert_ok(context, carom_urdf_load_mesh(context, c->urdf, element, &c->meshes[element]));
    assert_ok(context, carom_mesh_get_view(c->meshes[element], &view));
    assert_null(view.offsets);
    c->positions[element] = models_positions(&view);
    c->views[element] = (carom_mesh_view){.positions = c->positions[element],
                                          .vertex_count = view.vertex_count,
                                          .corners = view.corners,
                                          .face_count = view.face_count};
}

static void set_shape(robot_case *c, const carom_urdf_element *e, uint32_t index) {
    carom_robot_shape *s = &c->shapes[index];
    *s = (carom_robot_shape){.pose = e->origin};
    if (e->file != NULL) {
        load_mesh(c, index);
        s->mesh = &c->views[index];
        return;
    }
    s->kind = e->shape.kind == CAROM_CONVEX_KIND_BOX      ? CAROM_ROBOT_SHAPE_KIND_BOX
              : e->shape.kind == CAROM_CONVEX_KIND_SPHERE ? CAROM_ROBOT_SHAPE_KIND_SPHERE
                                                          : CAROM_ROBOT_SHAPE_KIND_CYLINDER;
    s->half = e->shape.half;
    s->radius = e->shape.radius;
    s->half_height = e->shape.half_height;
}

/* The robot as its file describes it, read anew from the view. No mimic mimics another here. */
static void describe(robot_case *c) {
    carom_urdf_view v;
    assert_ok(context, carom_urdf_get_view(c->urdf, &v));
    c->links = calloc(v.link_count + 1, sizeof(*c->links));
    c->joints = calloc(v.joint_count + 1, sizeof(*c->joints));
    c->shapes = calloc(v.element_count + 1, sizeof(*c->shapes));
    c->meshes = calloc(v.element_count + 1, sizeof(*c->meshes));
    c->views = calloc(v.element_count + 1, sizeof(*c->views));
    c->positions = calloc(v.element_count + 1, sizeof(*c->positions));
    c->shape_count = v.element_count;
    for (uint32_t i = 0; i < v.element_count; ++i) set_shape(c, &v.elements[i], i);
    for (uint32_t i = 0; i < v.link_count; ++i)
        c->links[i] = (carom_robot_link){.name = v.links[i].name,
                                         .shapes = c->shapes + v.links[i].first,
                                         .shape_count = v.links[i].count};
    for (uint32_t i = 0; i < v.joint_count; ++i) {
        const carom_urdf_joint *j = &v.joints[i];
        assert_true(j->mimic == CAROM_NONE || v.joints[j->mimic].mimic == CAROM_NONE);
        c->joints[i] = (carom_robot_joint){.kind = j->kind,
                                           .parent = j->parent,
                                           .child = j->child,
                                           .origin = j->origin,
                                           .axis = j->axis,
                                           .lower = j->lower,
                                           .upper = j->upper,
                                           .mimics = j->mimic != CAROM_NONE,
                                           .mimic = j->mimic,
                                           .multiplier = j->multiplier,
                                           .offset = j->offset};
    }
    c->def = (carom_robot_def){.links = c->links,
                               .link_count = v.link_count,
                               .joints = c->joints,
                               .joint_count = v.joint_count};
}

/* Allows the pairs of the SRDF file and those that nearly always collide, which would leave nothing
 * to test. */
static void allow_pairs(robot_case *c) {
    carom_urdf_view v;
    carom_robot_pair_counts counts = {0};
    assert_ok(context, carom_urdf_get_view(c->urdf, &v));
    assert_ok(context, carom_robot_sample_pairs(context, c->robot, PAIR_SAMPLES, 1, &counts));
    c->allowed = calloc(v.disabled_count + counts.count + 1, sizeof(*c->allowed));
    for (uint64_t i = 0; i < v.disabled_count; ++i)
        c->allowed[c->def.allowed_count++] = v.disabled[i];
    for (uint64_t i = 0; i < counts.count; ++i) {
        carom_pair pair = {counts.data[i].a, counts.data[i].b};
        if (counts.data[i].colliding * 10 < 9 * PAIR_SAMPLES) continue;
        c->allowed[c->def.allowed_count++] = pair;
        assert_ok(context, carom_robot_set_allowed(context, c->robot, &pair, 1, true));
    }
    c->def.allowed = c->allowed;
    carom_robot_pair_counts_free(&counts);
}

/* Prepares the robot, or reads it as another share has prepared it; saved under another name first,
 * so that none reads half a file. */
static void prepare(robot_case *c, const carom_robot_def *def) {
    const char *folder = getenv("CAROM_ROBOT_FILES");
    char path[1024], own[1100];
    snprintf(path, sizeof(path), "%s/%s.robot", folder != NULL ? folder : "", c->name);
    snprintf(own, sizeof(own), "%s.%llx", path, (unsigned long long)(uintptr_t)&path);
    FILE *file = folder != NULL ? fopen(path, "rb") : NULL;
    if (file != NULL) {
        fclose(file);
        assert_ok(context, carom_robot_load(context, path, CAROM_ROBOT_FORMAT_GUESS, &c->robot));
        return;
    }
    assert_ok(context, carom_robot_create_urdf(context, c->urdf, def, &c->robot));
    if (folder == NULL) return;
    assert_ok(context, carom_robot_save(context, c->robot, CAROM_ROBOT_FORMAT_CAROM, own));
    assert_int_equal(rename(own, path), 0);
}

static void open_case(const robot_model *from, robot_case *c) {
    /* The small share needs no good covers. */
    const carom_robot_def few = {.spheres = 12, .inner = 4};
    carom_robot_info info;
    memset(c, 0, sizeof(*c));
    c->name = from->name;
    c->urdf = robot_model_load(context, from);
    robot_model_write_mesh(context, from);
    describe(c);
    prepare(c, campaign_is_long() ? NULL : &few);
    robot_model_remove_mesh(from);
    allow_pairs(c);
    assert_ok(context, carom_robot_get_info(c->robot, &info));
    c->dof = info.dof;
    c->rounding = info.rounding;
    assert_true(c->dof <= MOST_DOF && 4.0 * info.rounding < (double)CLOSEST);
    assert_ok(context, carom_robot_get_limits(c->robot, c->lower, c->upper));
    c->search = robot_search_create(&c->def);
}

static void close_case(robot_case *c) {
    for (uint32_t i = 0; i < c->shape_count; ++i) {
        free(c->positions[i]);
        carom_mesh_destroy(c->meshes[i]);
    }
    robot_search_destroy(c->search);
    carom_robot_destroy(c->robot);
    carom_urdf_destroy(c->urdf);
    free(c->links);
    free(c->joints);
    free(c->shapes);
    free(c->meshes);
    free(c->views);
    free(c->positions);
    free(c->allowed);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

typedef struct counts {
    uint64_t configurations, free, stages[CAROM_ROBOT_STAGE_COUNT], gaps;
    uint64_t motions, of_motions[CAROM_ROBOT_VERDICT_COUNT];
} counts;

typedef struct block {
    robot_case *c;
    const char *world;
    uint64_t seed;
    double q[BLOCK * MOST_DOF], to[MOTIONS * MOST_DOF];
    carom_robot_query query;
    carom_robot_result results[BLOCK];
    carom_robot_gap gaps[GAPS];
    carom_robot_motion_result motions[MOTIONS];
} block;

static const char *block_name(const block *b) {
    static char text[128];
    snprintf(text, sizeof(text), "%s in %s, block %llu", b->c->name, b->world,
             (unsigned long long)b->seed);
    return text;
}

/* Most configurations are anywhere within the limits, some near to the one before, some on a limit
 * or on multiples of a quarter turn. */
static void fill_block(block *b, uint64_t count) {
    uint32_t dof = b->c->dof;
    carom_random random = {b->seed + 1};
    for (uint64_t i = 0; i < count * dof; ++i) {
        uint64_t k = i % dof, which = i / dof % 16;
        double low = b->c->lower[k], high = b->c->upper[k];
        double value = carom_random_between(&random, low, high);
        if (which == 1) value = low + (high - low) * (double)(carom_random_next(&random) % 5) / 4.0;
        if (which == 2) value = 0.5 * round(2.0 * value);
        if (which == 3 && i >= dof) value = b->q[i - dof] + 1e-3 * (value - b->q[i - dof]);
        b->q[i] = value;
    }
    for (uint32_t i = 0; i < MOTIONS * dof; ++i) {
        uint32_t k = i % dof;
        double far = i / dof % 2 == 0 ? 0.05 : 0.4;
        double value = carom_random_between(&random, b->c->lower[k], b->c->upper[k]);
        b->to[i] = b->q[i] + far * (value - b->q[i]);
    }
}

static void query_block(carom_context *with, block *b, uint64_t count, uint64_t motions,
                        uint64_t gaps) {
    memset(b->results, 0, sizeof(b->results));
    memset(b->gaps, 0, sizeof(b->gaps));
    memset(b->motions, 0, sizeof(b->motions));
    assert_ok(with, carom_robot_check(with, b->c->robot, b->q, count, &b->query, b->results));
    assert_ok(with, carom_robot_clearance(with, b->c->robot, b->q, gaps, NULL, b->gaps));
    assert_ok(with,
              carom_robot_motion(with, b->c->robot, b->q, b->to, motions, &b->query, b->motions));
}

static void check_results(block *b, uint64_t count, counts *n) {
    long double margin = b->query.margin, slack = 4 * (long double)b->c->rounding;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_robot_result *r = &b->results[i];
        robot_search_pair pair = {r->a, r->b, r->with_object}, found;
        robot_search_move(b->c->search, b->q + i * b->c->dof);
        assert_true(r->verdict != CAROM_ROBOT_VERDICT_OPEN);
        if (r->verdict == CAROM_ROBOT_VERDICT_FREE) {
            if (robot_search_any_within(b->c->search, margin, &found))
                fail_msg("%s, configuration %llu: free by %s, but %u and %u%s collide",
                         block_name(b), (unsigned long long)i, carom_robot_stage_name(r->stage),
                         found.a, found.b, found.with_object ? " (an object)" : "");
        } else if (!robot_search_pair_within(b->c->search, &pair, margin + slack)) {
            fail_msg("%s, configuration %llu: %u and %u%s collide by %s, but they do not",
                     block_name(b), (unsigned long long)i, r->a, r->b,
                     r->with_object ? " (an object)" : "", carom_robot_stage_name(r->stage));
        }
        n->free += r->verdict == CAROM_ROBOT_VERDICT_FREE ? 1 : 0;
        ++n->stages[r->stage];
    }
    n->configurations += count;
}

/* The distance is in [lower, upper]: nothing is nearer than lower, and the pair no farther than
 * upper. */
static void check_gaps(block *b, uint64_t gaps, counts *n) {
    for (uint64_t i = 0; i < gaps; ++i) {
        const carom_robot_gap *g = &b->gaps[i];
        robot_search_pair pair = {g->a, g->b, g->with_object}, found;
        long double lower = g->distance.lower, upper = g->distance.upper;
        robot_search_move(b->c->search, b->q + i * b->c->dof);
        if (lower > 0 && robot_search_any_within(b->c->search, lower - 1e-17L, &found))
            fail_msg("%s, configuration %llu: clearance from %.17Lg, but %u and %u are nearer",
                     block_name(b), (unsigned long long)i, lower, found.a, found.b);
        ++n->gaps;
        if (g->a == CAROM_NONE) continue;
        if (!robot_search_pair_within(b->c->search, &pair, upper + 1e-17L))
            fail_msg("%s, configuration %llu: clearance to %.17Lg, but %u and %u are farther",
                     block_name(b), (unsigned long long)i, upper, g->a, g->b);
        if (!(lower <= upper && upper - lower < 8 * (long double)b->c->rounding + 1e-12L))
            fail_msg("%s, configuration %llu: clearance from %.17Lg to %.17Lg, with a rounding of "
                     "%.3g",
                     block_name(b), (unsigned long long)i, lower, upper, b->c->rounding);
    }
}

static void move_to(const block *b, uint64_t motion, double t) {
    double q[MOST_DOF];
    uint32_t dof = b->c->dof;
    for (uint32_t k = 0; k < dof; ++k)
        q[k] = (1.0 - t) * b->q[motion * dof + k] + t * b->to[motion * dof + k];
    robot_search_move(b->c->search, q);
}

/* Free before free_until at some times, and colliding where it says. */
static void check_motions(block *b, uint64_t motions, counts *n) {
    long double margin = b->query.margin, slack = 4 * (long double)b->c->rounding;
    for (uint64_t i = 0; i < motions; ++i) {
        const carom_robot_motion_result *r = &b->motions[i];
        robot_search_pair pair = {r->a, r->b, r->with_object}, found;
        assert_true(r->free_until >= 0.0 && r->free_until <= r->contact && r->contact <= 1.0);
        assert_true(r->verdict != CAROM_ROBOT_VERDICT_FREE || r->free_until == 1.0);
        for (int step = 0; step < TIMES && r->free_until > 0.0; ++step) {
            double t = r->free_until * (step + 0.5) / TIMES;
            move_to(b, i, t);
            if (robot_search_any_within(b->c->search, margin, &found))
                fail_msg("%s, motion %llu: %s until %.17g, but at %.17g %u and %u collide",
                         block_name(b), (unsigned long long)i, carom_robot_verdict_name(r->verdict),
                         r->free_until, t, found.a, found.b);
        }
        ++n->of_motions[r->verdict];
        ++n->motions;
        if (r->verdict != CAROM_ROBOT_VERDICT_COLLIDING) continue;
        move_to(b, i, r->contact);
        /* The time is rounded, here and there. */
        if (!robot_search_pair_within(b->c->search, &pair, margin + slack + 1e-12L))
            fail_msg("%s, motion %llu: %u and %u%s collide at %.17g, but they do not",
                     block_name(b), (unsigned long long)i, r->a, r->b,
                     r->with_object ? " (an object)" : "", r->contact);
    }
}

/* ---- Campaign -------------------------------------------------------------------------------- */

#define MOST_CONTEXTS 10

typedef struct campaign {
    carom_context *contexts[MOST_CONTEXTS]; /* instruction sets, then 2 and 16 threads */
    int context_count, isa_count;
    uint64_t blocks; /* of each robot in each world */
    uint64_t number; /* of blocks so far, over all */
    counts total;
} campaign;

static void run_block(campaign *run, block *b, uint64_t index, counts *n) {
    static block again;
    uint64_t count = campaign_is_long() ? BLOCK : 40, motions = campaign_is_long() ? MOTIONS : 2;
    uint64_t gaps = campaign_is_long() ? index % 8 == 0 ? GAPS : 0 : 2;
    b->seed = run->number;
    b->query = (carom_robot_query){.margin = index % 4 == 3 ? 0.01 : 0.0};
    fill_block(b, count);
    query_block(context, b, count, motions, gaps);
    check_results(b, count, n);
    check_gaps(b, gaps, n);
    check_motions(b, motions, n);
    /* Threads of many shares side by side wait for one another, so they run less often. */
    int again_by = index % 64 == 0 ? run->context_count : index % 8 == 0 ? run->isa_count : 0;
    for (int i = 0; i < again_by; ++i) {
        memcpy(&again, b, sizeof(again));
        query_block(run->contexts[i], &again, count, motions, gaps);
        assert_memory_equal(again.results, b->results, sizeof(b->results));
        assert_memory_equal(again.gaps, b->gaps, sizeof(b->gaps));
        assert_memory_equal(again.motions, b->motions, sizeof(b->motions));
    }
}

/* Allows links and objects that nearly always collide, such as a base that stands in a wall. */
static void allow_objects(block *b, uint32_t count, const uint32_t *ids) {
    robot_case *c = b->c;
    fill_block(b, OBJECT_SAMPLES);
    for (uint32_t link = 0; link < c->def.link_count; ++link)
        for (uint32_t i = 0; i < count && c->links[link].shape_count != 0; ++i) {
            const robot_search_pair pair = {link, i, true};
            uint32_t met = 0;
            for (uint32_t k = 0; k < OBJECT_SAMPLES; ++k) {
                robot_search_move(c->search, b->q + (size_t)k * c->dof);
                met += robot_search_pair_within(c->search, &pair, 0) ? 1 : 0;
                if (10 * (k + 1 - met) > OBJECT_SAMPLES) break;
            }
            if (10 * met < 9 * OBJECT_SAMPLES) continue;
            robot_search_allow_object(c->search, link, i);
            assert_ok(context, carom_robot_set_object_allowed(
                                   context, c->robot, &(carom_pair){link, ids[i]}, 1, true));
        }
}

static void run_world(campaign *run, robot_case *c, scene_cell_kind kind, double reach) {
    static scene_cell cell;
    static block b;
    counts n = {0};
    uint32_t ids[SCENE_CELL_OBJECTS];
    double *positions = NULL;
    assert_ok(context, scene_cell_make(context, kind, reach, campaign_is_long() ? 0 : 128, &cell));
    if (cell.mesh != NULL) { /* the oracle reads doubles */
        positions = models_positions(&cell.view);
        cell.view.positions = positions;
        cell.view.scalar = CAROM_SCALAR_FLOAT64;
        cell.view.stride = 0;
    }
    assert_ok(context, carom_robot_add_objects(context, c->robot, cell.objects, cell.count, ids));
    robot_search_set_objects(c->search, cell.objects, cell.count);
    b = (block){.c = c, .world = scene_cell_name(kind)};
    allow_objects(&b, cell.count, ids);
    for (uint64_t i = 0; i < run->blocks; ++i, ++run->number)
        if (campaign_has(run->number)) run_block(run, &b, i, &n);
    for (uint32_t i = 0; i < cell.count; ++i)
        assert_ok(context, carom_robot_remove_object(context, c->robot, ids[i]));
    scene_cell_free(&cell);
    free(positions);
    run->total.configurations += n.configurations;
    run->total.motions += n.motions;
    run->total.gaps += n.gaps;
    if (campaign_is_long())
        print_message("%s, %s: %llu configurations, %llu free, %llu %llu %llu by stage; "
                      "%llu motions, %llu free, %llu colliding; %llu distances\n",
                      c->name, b.world, (unsigned long long)n.configurations,
                      (unsigned long long)n.free, (unsigned long long)n.stages[0],
                      (unsigned long long)n.stages[1], (unsigned long long)n.stages[2],
                      (unsigned long long)n.motions, (unsigned long long)n.of_motions[0],
                      (unsigned long long)n.of_motions[1], (unsigned long long)n.gaps);
}

static uint64_t blocks_of_each(void) {
    const char *cases = getenv("CAROM_CASES");
    uint64_t all = cases != NULL ? strtoull(cases, NULL, 10) : 10000000;
    uint64_t each = (uint64_t)BLOCK * (uint64_t)ROBOT_MODELS * SCENE_CELL_KIND_COUNT;
    return campaign_is_long() ? (all + each - 1) / each : 1;
}

static void ten_robots_in_five_worlds(void **state) {
    (void)state;
    if (!test_has_long_double() || !TEST_MANY_CASES) skip();
    campaign run = {.blocks = blocks_of_each()};
    uint32_t count = campaign_is_long() ? ROBOT_MODELS : 2;
    const char *only = getenv("CAROM_ROBOT");
    run.isa_count = run.context_count = test_contexts_of_isas(1, run.contexts, 0);
    run.contexts[run.context_count++] = test_context(2);
    run.contexts[run.context_count++] = test_context(16);
    assert_true(run.context_count <= MOST_CONTEXTS);
    for (uint32_t i = 0; i < count; ++i) {
        static robot_case c;
        static const double zero[MOST_DOF];
        if (!robot_model_is_there(&robot_models[i])) continue;
        if (only != NULL && strcmp(only, robot_models[i].name) != 0) continue;
        open_case(&robot_models[i], &c);
        robot_search_move(c.search, zero);
        double reach = robot_search_extent(c.search);
        for (int kind = 0; kind < SCENE_CELL_KIND_COUNT; ++kind)
            run_world(&run, &c, (scene_cell_kind)kind, reach);
        close_case(&c);
    }
    for (int i = 0; i < run.context_count; ++i) carom_context_destroy(run.contexts[i]);
    if (campaign_is_long())
        print_message("all: %llu configurations, %llu motions, %llu distances\n",
                      (unsigned long long)run.total.configurations,
                      (unsigned long long)run.total.motions, (unsigned long long)run.total.gaps);
}

/* The search itself, against all triangles of small robots. */
static void the_search_is_the_slow_oracle(void **state) {
    (void)state;
    static robots_case m;
    if (!test_has_long_double() || !campaign_has(0)) skip();
    for (uint64_t seed = 1; seed <= TEST_CASES(160); ++seed) {
        robot_oracle oracle;
        carom_random random = {seed};
        robots_make(seed, &m);
        robot_oracle_create(&m.def, m.objects, m.object_count, &m.open, &oracle);
        robot_search *search = robot_search_create(&m.def);
        robot_search_set_objects(search, m.objects, m.object_count);
        for (int i = 0; i < 6; ++i) {
            double q[ROBOTS_LINKS];
            robot_search_pair pair;
            robots_configuration(&m, &random, q);
            long double d = robot_oracle_distance(&oracle, q);
            robot_search_move(search, q);
            assert_true(isinf(d) || robot_search_any_within(search, d + 1e-15L, &pair));
            assert_true(d == 0 ||
                        !robot_search_any_within(search, isinf(d) ? 1e3L : d - 1e-15L, &pair));
            if (d > 0 || !robot_search_any_within(search, 0, &pair)) continue;
            assert_true(robot_oracle_pair(&oracle, q, pair.a, pair.b, pair.with_object) == 0);
        }
        robot_search_destroy(search);
        robot_oracle_destroy(&oracle);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_search_is_the_slow_oracle),
                                       cmocka_unit_test(ten_robots_in_five_worlds)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
