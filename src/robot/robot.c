/* SPDX-License-Identifier: MIT */
/* Creating and changing a robot and its world.
 *
 * Joints are read once: each link gets the joint above it, and an order in which parents come first
 * shows that they are a tree. Then shapes become parts, and parts get covers, with spheres divided
 * among links by the radius of what they cover. A change makes the plan anew; where that fails, the
 * change is undone. */
#include "robot/robot.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/names.h"
#include "base/progress.h"
#include "geom/length.h"

#define DEFAULT_SPHERES 64u /* of all covers */
#define DEFAULT_INNER   32u /* per body */
#define FINE_FACTOR     6u  /* spheres of the finer covers, for one of the covers */

/* Random configurations that say which links need the finer spheres: a pair that is undecided in
 * 1 % of them is known to a third of that. */
#define OPEN_SAMPLES 1024u

/* Of the finer spheres, what is given to links by how often spheres leave their pairs undecided;
 * the rest by size. As many balls inside as there are in all are added likewise. With neither, and
 * four finer spheres for one, an arm has 10.2 % undecided in 98 ns each, with both 5.4 % in 126 ns,
 * with six for one 4.7 % in 138 ns. More costs more than faces do. */
#define OPEN_SHARE         0.5
#define OPEN_INNER         1.0
#define ROBOT_MOST_SPHERES (UINT64_C(1) << 20)
#define ROBOT_MOST_INNER   1024u
/* Cells of the distances from links, which take a tenth of the time of their spheres, and from
 * objects, which take as long as their trees. Objects of fewer faces have none: to search their
 * trees takes no longer than a look-up. */
#define FIELD_CELLS_PER_SPHERE 2048u
#define FIELD_CELLS_PER_FACE   2u
#define FIELD_LEAST_CELLS      16384u
#define FIELD_LEAST_FACES      256u

#define WHOSE_SIZE 128u /* bytes of "link NAME" in messages */

CAROM_ENUM_NAMES(carom_robot_shape_kind, CAROM_ROBOT_SHAPE_KIND_COUNT, "mesh", "box", "sphere",
                 "capsule", "cylinder", "balls");
CAROM_ENUM_NAMES(carom_robot_joint_kind, CAROM_ROBOT_JOINT_KIND_COUNT, "fixed", "revolute",
                 "continuous", "prismatic");
CAROM_ENUM_NAMES(carom_robot_verdict, CAROM_ROBOT_VERDICT_COUNT, "free", "colliding", "open");
CAROM_ENUM_NAMES(carom_robot_format, CAROM_ROBOT_FORMAT_COUNT, "guess", "carom");
CAROM_ENUM_NAMES(carom_robot_stage, CAROM_ROBOT_STAGE_COUNT, "covers", "inner", "exact");

CAROM_RESULT_FILL(carom_robot_balls);

CAROM_RESULT_DEFINE_FREE(carom_robot_balls);

/* ---- Joints ---------------------------------------------------------------------------------- */

static bool is_mimicked(const carom_robot_joint *joints, const carom_robot_joint *j) {
    const carom_robot_joint *m = &joints[j->mimic];
    return m->kind != CAROM_ROBOT_JOINT_KIND_FIXED && !m->mimics;
}

static carom_status check_joint(carom_context *context, const carom_robot_def *def, uint32_t i) {
    const carom_robot_joint *j = &def->joints[i];
    bool moves = j->kind != CAROM_ROBOT_JOINT_KIND_FIXED;
    const double numbers[] = {j->origin.q.w, j->origin.q.x, j->origin.q.y, j->origin.q.z,
                              j->origin.t.x, j->origin.t.y, j->origin.t.z, j->axis.x,
                              j->axis.y,     j->axis.z,     j->multiplier, j->offset};
    for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); ++k)
        if (!(fabs(numbers[k]) <= CAROM_ROBOT_MOST))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "joint %u: a number is not finite, or beyond 2^40", i);
    if (j->parent >= def->link_count || j->child >= def->link_count || j->parent == j->child)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "joint %u connects links %u and %u: there are %u links", i, j->parent,
                          j->child, def->link_count);
    if (moves && !(carom_length(j->axis) > 0.0))
        return carom_fail(context, CAROM_BAD_INPUT, "joint %u moves, but its axis has length 0", i);
    if (moves && j->kind != CAROM_ROBOT_JOINT_KIND_CONTINUOUS &&
        !(j->lower <= j->upper && fabs(j->lower) <= CAROM_ROBOT_MOST &&
          fabs(j->upper) <= CAROM_ROBOT_MOST))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "joint %u: its limits are %g and %g; the lower one must not be above the "
                          "upper one, and both finite and within 2^40",
                          i, j->lower, j->upper);
    if (moves && j->mimics && (j->mimic >= def->joint_count || !is_mimicked(def->joints, j)))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "joint %u mimics joint %u, which must move and mimic none", i, j->mimic);
    return CAROM_OK;
}

/* Gives columns to the joints that have their own, in their order. */
static void number_columns(const carom_robot_def *def, carom_robot *robot) {
    for (uint32_t i = 0; i < def->joint_count; ++i) {
        const carom_robot_joint *j = &def->joints[i];
        carom_robot_node_link *link = &robot->links[j->child];
        bool endless = j->kind == CAROM_ROBOT_JOINT_KIND_CONTINUOUS;
        link->column = CAROM_NONE;
        link->multiplier = 1.0;
        link->offset = 0.0;
        link->lower = endless ? -CAROM_PI : j->lower;
        link->upper = endless ? CAROM_PI : j->upper;
        if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED || j->mimics) continue;
        robot->lower[robot->dof] = link->lower;
        robot->upper[robot->dof] = link->upper;
        link->column = robot->dof++;
    }
    for (uint32_t i = 0; i < def->joint_count; ++i) {
        const carom_robot_joint *j = &def->joints[i];
        if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED || !j->mimics) continue;
        carom_robot_node_link *link = &robot->links[j->child];
        const carom_robot_node_link *followed = &robot->links[def->joints[j->mimic].child];
        link->column = followed->column;
        link->multiplier = j->multiplier;
        link->offset = j->offset;
        /* Its own limits may be narrower than where it is moved to. */
        double u = followed->lower * j->multiplier + j->offset;
        double v = followed->upper * j->multiplier + j->offset;
        link->lower = CAROM_MIN(link->lower, CAROM_MIN(u, v));
        link->upper = CAROM_MAX(link->upper, CAROM_MAX(u, v));
    }
}

/* Sorts links so that parents come first; fails where they are no tree. */
static carom_status sort_links(carom_context *context, carom_robot *robot) {
    uint32_t count = 0, roots = 0, root = 0;
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        robot->links[i].depth = CAROM_NONE;
        if (robot->links[i].parent != CAROM_NONE) continue;
        root = i;
        ++roots;
    }
    if (roots != 1)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%u links are the child of no joint; exactly one must be, the root",
                          roots);
    robot->links[root].depth = 0;
    robot->order[count++] = root;
    /* Follow each link up to one that has a depth, then number the path on the way back. */
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        uint32_t steps = 0, at = i;
        while (robot->links[at].depth == CAROM_NONE && steps <= robot->link_count) {
            at = robot->links[at].parent;
            ++steps;
        }
        if (steps > robot->link_count)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "link %u is its own ancestor: joints must form a tree", i);
        uint32_t depth = robot->links[at].depth + steps;
        uint32_t end = count + steps;
        at = i;
        for (uint32_t k = 0; k < steps; ++k, at = robot->links[at].parent) {
            robot->links[at].depth = depth--;
            robot->order[--end] = at;
        }
        count += steps;
    }
    CAROM_ASSERT(count == robot->link_count);
    return CAROM_OK;
}

static carom_status set_joints(carom_context *context, const carom_robot_def *def,
                               carom_robot *robot) {
    if (def->joint_count + UINT64_C(1) != def->link_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%u links need %u joints, one above each link but the root; there are %u",
                          def->link_count, def->link_count - 1, def->joint_count);
    for (uint32_t i = 0; i < def->link_count; ++i) {
        const carom_robot_joint none = {0};
        carom_robot_link_set_joint(&robot->links[i], &none);
        robot->links[i].parent = robot->links[i].column = CAROM_NONE;
    }
    for (uint32_t i = 0; i < def->joint_count; ++i) {
        const carom_robot_joint *j = &def->joints[i];
        CAROM_TRY(check_joint(context, def, i));
        if (robot->links[j->child].parent != CAROM_NONE)
            return carom_fail(context, CAROM_BAD_INPUT, "link %u is the child of two joints",
                              j->child);
        carom_robot_link_set_joint(&robot->links[j->child], j);
        robot->links[j->child].parent = j->parent;
    }
    number_columns(def, robot);
    return sort_links(context, robot);
}

/* ---- Allowed pairs --------------------------------------------------------------------------- */

static void robot_sift(uint64_t *w, uint64_t at, uint64_t count) {
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && w[child + 1] > w[child]) ++child;
        if (w[at] >= w[child]) return;
        uint64_t swapped = w[at];
        w[at] = w[child];
        w[child] = swapped;
    }
}

static void sort_words(carom_robot_words *words) {
    uint64_t *w = words->data, count = words->count, kept = 0;
    for (uint64_t i = count / 2; i-- > 0;) robot_sift(w, i, count);
    for (uint64_t end = count; end > 1; --end) {
        uint64_t largest = w[0];
        w[0] = w[end - 1];
        w[end - 1] = largest;
        robot_sift(w, 0, end - 1);
    }
    for (uint64_t i = 0; i < count; ++i)
        if (i == 0 || w[i] != w[i - 1]) w[kept++] = w[i];
    for (uint64_t i = 1; i < kept; ++i) CAROM_ASSERT(w[i - 1] < w[i]);
    words->count = kept;
}

/* A copy with words added or removed. */
static carom_status changed_words(carom_context *context, const carom_allocator *allocator,
                                  const carom_robot_words *old, const uint64_t *keys,
                                  uint64_t count, bool add, carom_robot_words *made) {
    *made = (carom_robot_words){0};
    if (!carom_robot_words_reserve(made, allocator, old->count + count + 1))
        return carom_fail_memory(context, (old->count + count) * sizeof(uint64_t), "allowed pairs");
    for (uint64_t i = 0; i < old->count; ++i) made->data[made->count++] = old->data[i];
    if (add) {
        for (uint64_t i = 0; i < count; ++i) made->data[made->count++] = keys[i];
        sort_words(made);
        return CAROM_OK;
    }
    carom_robot_words removed = {0};
    if (!carom_robot_words_reserve(&removed, allocator, count + 1)) {
        carom_robot_words_release(made, allocator);
        return carom_fail_memory(context, count * sizeof(uint64_t), "allowed pairs");
    }
    for (uint64_t i = 0; i < count; ++i) removed.data[removed.count++] = keys[i];
    sort_words(&removed);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < made->count; ++i)
        if (!carom_robot_is_allowed(&removed, (uint32_t)(made->data[i] >> 32),
                                    (uint32_t)made->data[i]))
            made->data[kept++] = made->data[i];
    made->count = kept;
    carom_robot_words_release(&removed, allocator);
    return CAROM_OK;
}

static uint64_t robot_key_of(uint32_t a, uint32_t b) {
    return a < b ? carom_robot_key(a, b) : carom_robot_key(b, a);
}

static carom_status allow_first(carom_context *context, const carom_robot_def *def,
                                carom_robot *robot) {
    carom_robot_words *w = &robot->allowed;
    if (!carom_robot_words_reserve(w, &robot->allocator, def->allowed_count + def->link_count + 1))
        return carom_fail_memory(context, def->allowed_count * sizeof(uint64_t), "allowed pairs");
    for (uint64_t i = 0; i < def->allowed_count; ++i) {
        carom_pair p = def->allowed[i];
        if (p.a >= def->link_count || p.b >= def->link_count)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "allowed pair %llu is of links %u and %u: there are %u links",
                              (unsigned long long)i, p.a, p.b, def->link_count);
        w->data[w->count++] = robot_key_of(p.a, p.b);
    }
    for (uint32_t i = 0; i < def->link_count && !def->test_adjacent; ++i) {
        uint32_t above = robot->links[i].parent;
        if (def->links[i].shape_count == 0) continue;
        while (above != CAROM_NONE && def->links[above].shape_count == 0)
            above = robot->links[above].parent;
        if (above != CAROM_NONE) w->data[w->count++] = robot_key_of(i, above);
    }
    sort_words(w);
    return CAROM_OK;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static carom_status make_parts(carom_context *context, const carom_allocator *allocator,
                               const carom_robot_shape *shapes, uint64_t count, const char *whose,
                               carom_robot_body *body) {
    body->live = true;
    if (count == 0) return CAROM_OK;
    body->parts = carom_allocate(allocator, count, sizeof(*body->parts));
    if (body->parts == NULL)
        return carom_fail_memory(context, count * sizeof(*body->parts), "shapes of a link");
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_TRY(carom_robot_part_make(context, allocator, &shapes[i], whose,
                                        &body->parts[body->part_count]));
        ++body->part_count;
    }
    return CAROM_OK;
}

static const char *name_of(const carom_robot *robot, uint32_t link) {
    return robot->names + robot->name_starts[link];
}

static void say_whose(const carom_robot *robot, uint32_t link, char *text) {
    snprintf(text, WHOSE_SIZE, "link %u %.100s", link, name_of(robot, link));
}

static double size_of(const carom_robot_body *body) {
    double size = 0.0;
    for (uint32_t i = 0; i < body->part_count; ++i)
        if (body->parts[i].tree.item_count != 0) size += body->parts[i].tree.nodes[0].ball.radius;
    return size;
}

/* Distances from a link or an attached shape. */
static carom_status make_body_field(carom_context *context, const carom_robot *robot,
                                    carom_robot_body *body) {
    uint64_t spheres = (uint64_t)body->cover_count + body->fine_count;
    return carom_robot_field_make(context, &robot->allocator, body->parts, body->part_count,
                                  FIELD_CELLS_PER_SPHERE * spheres, &body->field);
}

static carom_status make_links(carom_context *context, const carom_robot_def *def,
                               carom_robot *robot) {
    char whose[WHOSE_SIZE];
    double total = 0.0;
    uint64_t spheres = def->spheres != 0 ? def->spheres : DEFAULT_SPHERES;
    for (uint32_t i = 0; i < def->link_count; ++i) {
        say_whose(robot, i, whose);
        robot->bodies[i].link = i;
        CAROM_TRY(make_parts(context, &robot->allocator, def->links[i].shapes,
                             def->links[i].shape_count, whose, &robot->bodies[i]));
        total += size_of(&robot->bodies[i]);
    }
    uint64_t fine = def->fine != 0 ? def->fine : FINE_FACTOR * spheres;
    robot->spheres_per_length = total > 0.0 ? (double)spheres / total : 0.0;
    robot->fine_per_length = total > 0.0 && fine > spheres ? (double)fine / total : 0.0;
    for (uint32_t i = 0; i < def->link_count; ++i) {
        carom_robot_body *body = &robot->bodies[i];
        if (body->part_count == 0) continue;
        double share = robot->spheres_per_length * size_of(body);
        CAROM_TRY(carom_robot_body_cover(context, &robot->allocator, body,
                                         (uint64_t)CAROM_MAX(share + 0.5, 1.0), robot->inner));
    }
    return CAROM_OK;
}

/* The share of each link in the pairs that spheres leave undecided: their sum is 1, or all are 0.
 * Pairs that are undecided in most configurations are near wherever the robot is: finer spheres
 * decide few of these. */
static carom_status weigh_links(carom_context *context, carom_robot *robot, double *shares) {
    const carom_robot_plan *plan = &robot->plan;
    uint32_t *counts =
        carom_allocate(&robot->allocator, plan->pair_count + UINT64_C(1), sizeof(*counts));
    double sum = 0.0;
    if (counts == NULL)
        return carom_fail_memory(context, plan->pair_count * sizeof(*counts), "pairs of links");
    carom_status status = carom_robot_count_open(context, robot, OPEN_SAMPLES, counts);
    for (uint32_t i = 0; i < plan->self_count && status == CAROM_OK; ++i) {
        if (counts[i] > OPEN_SAMPLES / 2) continue;
        shares[plan->pairs[i].a] += counts[i];
        shares[plan->pairs[i].b] += counts[i];
        sum += 2.0 * counts[i];
    }
    for (uint32_t i = 0; i < robot->link_count; ++i) shares[i] /= CAROM_MAX(sum, 1.0);
    carom_release(&robot->allocator, counts);
    return status;
}

/* Finer covers, more of them and more balls inside for links that are often undecided. */
static carom_status refine_links(carom_context *context, carom_robot *robot, double *shares) {
    uint32_t shaped = 0;
    double sum = 0.0, total = 0.0;
    CAROM_TRY(weigh_links(context, robot, shares));
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        shaped += robot->bodies[i].part_count != 0 ? 1 : 0;
        sum += shares[i];
        total += size_of(&robot->bodies[i]);
    }
    const double by_open = sum > 0.0 ? OPEN_SHARE : 0.0, all = robot->fine_per_length * total;
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        carom_robot_body *body = &robot->bodies[i];
        if (body->part_count == 0) continue;
        double by_size = robot->fine_per_length * size_of(body) * (1.0 - by_open);
        double inner = (double)robot->inner * (1.0 + OPEN_INNER * shares[i] * shaped);
        CAROM_TRY(carom_robot_body_refine(
            context, &robot->allocator, body, (uint64_t)(by_size + by_open * shares[i] * all),
            shares[i] > 0.0 ? (uint64_t)CAROM_MIN(inner, ROBOT_MOST_INNER) : 0));
        CAROM_TRY(make_body_field(context, robot, body));
    }
    return CAROM_OK;
}

static carom_status copy_names(carom_context *context, const carom_robot_def *def,
                               carom_robot *robot) {
    for (uint32_t i = 0; i < def->link_count; ++i) {
        robot->name_starts[i] = robot->names_size;
        robot->names_size += (def->links[i].name != NULL ? strlen(def->links[i].name) : 0) + 1;
    }
    robot->names = carom_allocate(&robot->allocator, robot->names_size, 1);
    if (robot->names == NULL) return carom_fail_memory(context, robot->names_size, "names");
    for (uint32_t i = 0; i < def->link_count; ++i) {
        const char *name = def->links[i].name != NULL ? def->links[i].name : "";
        memcpy(robot->names + robot->name_starts[i], name, strlen(name) + 1);
    }
    return CAROM_OK;
}

static carom_status make_robot(carom_context *context, const carom_robot_def *def,
                               carom_robot *robot) {
    uint32_t n = def->link_count;
    robot->link_count = n;
    robot->joint_count = def->joint_count;
    robot->inner = def->inner != 0 ? def->inner : DEFAULT_INNER;
    const carom_allocation arrays[] = {
        CAROM_ALLOCATION(robot->links, n),  CAROM_ALLOCATION(robot->order, n),
        CAROM_ALLOCATION(robot->lower, n),  CAROM_ALLOCATION(robot->upper, n),
        CAROM_ALLOCATION(robot->bodies, n), CAROM_ALLOCATION(robot->name_starts, n)};
    if (!carom_allocate_all(&robot->allocator, arrays, sizeof(arrays) / sizeof(*arrays)))
        return carom_fail_memory(context, n * sizeof(*robot->links), "links");
    memset(robot->links, 0, n * sizeof(*robot->links));
    memset(robot->bodies, 0, n * sizeof(*robot->bodies));
    robot->body_count = robot->body_capacity = n;
    CAROM_TRY(copy_names(context, def, robot));
    CAROM_TRY(set_joints(context, def, robot));
    CAROM_TRY(allow_first(context, def, robot));
    CAROM_TRY(make_links(context, def, robot));
    CAROM_TRY(carom_robot_plan_make(context, robot)); /* of covers that are not fine yet */
    double *shares = carom_allocate(&robot->allocator, n, sizeof(*shares));
    if (shares == NULL) return carom_fail_memory(context, n * sizeof(*shares), "links");
    memset(shares, 0, n * sizeof(*shares));
    carom_status status = refine_links(context, robot, shares);
    carom_release(&robot->allocator, shares);
    return status == CAROM_OK ? carom_robot_plan_make(context, robot) : status;
}

static carom_status require_shapes(const carom_robot_shape *shapes, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_robot_shape *s = &shapes[i];
        CAROM_REQUIRE_KNOWN(s->kind, CAROM_ROBOT_SHAPE_KIND_COUNT, "kind of a shape");
        CAROM_REQUIRE(s->kind != CAROM_ROBOT_SHAPE_KIND_MESH || s->mesh != NULL,
                      "the mesh of a shape is NULL");
        CAROM_REQUIRE(s->kind != CAROM_ROBOT_SHAPE_KIND_BALLS || s->balls != NULL ||
                          s->ball_count == 0,
                      "the balls of a shape are NULL");
    }
    return CAROM_OK;
}

static carom_status require_def(const carom_robot_def *def) {
    CAROM_REQUIRE(def->links != NULL && def->link_count != 0, "the robot has no links");
    CAROM_REQUIRE_INPUTS(def->joints, def->joint_count, "joints");
    CAROM_REQUIRE_INPUTS(def->allowed, def->allowed_count, "allowed pairs");
    for (uint32_t i = 0; i < def->link_count; ++i) {
        CAROM_REQUIRE_INPUTS(def->links[i].shapes, def->links[i].shape_count, "shapes of a link");
        CAROM_TRY(require_shapes(def->links[i].shapes, def->links[i].shape_count));
    }
    for (uint32_t i = 0; i < def->joint_count; ++i)
        CAROM_REQUIRE_KNOWN(def->joints[i].kind, CAROM_ROBOT_JOINT_KIND_COUNT, "kind of a joint");
    return CAROM_OK;
}

carom_status carom_robot_create(carom_context *context, const carom_robot_def *def,
                                carom_robot **robot) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(robot, "robot");
    *robot = NULL;
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_TRY(require_def(def));
    CAROM_TRY(carom_context_require_cpu(context, "a robot"));
    if (def->link_count > CAROM_ROBOT_MOST_BODIES)
        return carom_fail(context, CAROM_TOO_LARGE, "the robot has %u links, more than %u",
                          def->link_count, CAROM_ROBOT_MOST_BODIES);
    if (def->spheres > ROBOT_MOST_SPHERES || def->fine > ROBOT_MOST_SPHERES ||
        def->inner > ROBOT_MOST_INNER)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "more than 2^20 spheres of covers, or more than %u inner balls per link",
                          ROBOT_MOST_INNER);
    carom_robot *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a robot");
    *made = (carom_robot){.allocator = context->allocator};
    carom_progress_begin(context, "preparing the robot", 0);
    carom_status status = carom_progress_finish(context, make_robot(context, def, made));
    if (status != CAROM_OK) {
        carom_robot_destroy(made);
        return status;
    }
    *robot = made;
    return CAROM_OK;
}

void carom_robot_destroy(carom_robot *robot) {
    if (robot == NULL) return;
    carom_allocator allocator = robot->allocator;
    for (uint32_t i = 0; i < robot->body_count; ++i)
        carom_robot_body_free(&allocator, &robot->bodies[i]);
    for (uint32_t i = 0; i < robot->object_count; ++i)
        carom_robot_part_free(&allocator, &robot->objects[i].part);
    carom_robot_plan_free(robot);
    carom_robot_words_release(&robot->allowed, &allocator);
    carom_robot_words_release(&robot->allowed_objects, &allocator);
    CAROM_RELEASE_ALL(&allocator, robot->links, robot->order, robot->lower, robot->upper,
                      robot->bodies, robot->objects, robot->names, robot->name_starts);
    carom_release(&allocator, robot);
}

/* ---- What it consists of --------------------------------------------------------------------- */

/* The bound of the rounding in doubles of any point, within the limits. */
static double rounding_of(const carom_robot *robot) {
    double most = 0.0;
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *body = &robot->bodies[i];
        carom_robot_error e = {0};
        uint32_t path = 0;
        if (!body->live || body->cover_count == 0) continue;
        /* The bound is that of the chain; lengths are added from the root, in any order above. */
        double turn = 0.0, size = 0.0, shift = 0.0;
        for (uint32_t at = body->link; robot->links[at].parent != CAROM_NONE;
             at = robot->links[at].parent, ++path) {
            const carom_robot_node_link *l = &robot->links[at];
            double value = CAROM_MAX(fabs(l->lower), fabs(l->upper));
            double slid = l->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC ? value : 0.0;
            size += carom_length(l->origin) + slid;
        }
        turn =
            (double)path * (CAROM_ROBOT_TURN64 + 16.0 * CAROM_ROBOT_UNIT64) * CAROM_ROBOT_PRODUCTS;
        shift = (turn + CAROM_ROBOT_TURN64 + 32.0 * CAROM_ROBOT_UNIT64 * (double)(path + 1)) *
                CAROM_ROBOT_PRODUCTS * size;
        e = (carom_robot_error){turn, shift, size * CAROM_ROBOT_PRODUCTS};
        double error = carom_robot_error_of(e, body->largest, CAROM_ROBOT_UNIT64);
        most = CAROM_MAX(error, most);
    }
    return most;
}

static uint64_t part_bytes(const carom_robot_part *part) {
    return carom_robot_tree_bytes(&part->tree) + carom_robot_tree_bytes(&part->points) +
           part->hull.count * (uint64_t)sizeof(*part->hull.blocks) +
           carom_robot_field_count(&part->field) * sizeof(uint32_t);
}

carom_status carom_robot_get_info(const carom_robot *robot, carom_robot_info *info) {
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = (carom_robot_info){
        .links = robot->link_count,
        .joints = robot->joint_count,
        .dof = robot->dof,
        .bodies = robot->body_count,
        .objects = robot->object_count,
        .pairs = robot->plan.pair_count,
        .rounding = rounding_of(robot),
        .bytes = sizeof(*robot) + robot->plan_bytes + robot->names_size +
                 robot->link_count * (sizeof(*robot->links) + sizeof(*robot->order) +
                                      2 * sizeof(double) + sizeof(*robot->name_starts)) +
                 robot->body_capacity * sizeof(*robot->bodies) +
                 robot->object_capacity * sizeof(*robot->objects) +
                 (robot->allowed.capacity + robot->allowed_objects.capacity) * sizeof(uint64_t)};
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *b = &robot->bodies[i];
        if (!b->live) continue;
        info->spheres += b->cover_count;
        info->inner += b->inner_count;
        info->rough += b->rough;
        info->overhang = CAROM_MAX(b->overhang, info->overhang);
        info->fine += b->fine_count;
        info->fine_overhang = CAROM_MAX(b->fine_overhang, info->fine_overhang);
        info->bytes +=
            (b->cover_count + (uint64_t)b->inner_count + b->fine_count) * sizeof(carom_ball) +
            b->part_count * sizeof(*b->parts) +
            carom_robot_field_count(&b->field) * sizeof(uint32_t);
        for (uint32_t k = 0; k < b->part_count; ++k) {
            if (b->parts[k].tree.triangles != NULL) info->triangles += b->parts[k].tree.item_count;
            info->open_meshes += b->parts[k].open_mesh ? 1 : 0;
            info->bytes += part_bytes(&b->parts[k]);
        }
    }
    for (uint32_t i = 0; i < robot->object_count; ++i)
        info->bytes += part_bytes(&robot->objects[i].part);
    return CAROM_OK;
}

carom_status carom_robot_get_limits(const carom_robot *robot, double *lower, double *upper) {
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_OUTPUTS(lower, robot->dof, "lower limits");
    CAROM_REQUIRE_OUTPUTS(upper, robot->dof, "upper limits");
    for (uint32_t i = 0; i < robot->dof; ++i) {
        lower[i] = robot->lower[i];
        upper[i] = robot->upper[i];
    }
    return CAROM_OK;
}

const char *carom_robot_link_name(const carom_robot *robot, uint32_t link) {
    if (robot == NULL || link >= robot->link_count) {
        carom_assert_failed(__func__,
                            robot == NULL ? "the robot is NULL" : "there is no such link");
        return "";
    }
    return name_of(robot, link);
}

bool carom_robot_has_open_mesh(const carom_robot *robot, uint32_t id, bool object) {
    CAROM_REQUIRE_OR(robot != NULL, CAROM_A_POINTER_IS_NULL, false);
    if (object) return id < robot->object_count && robot->objects[id].part.open_mesh;
    bool is_open = false;
    for (uint32_t k = 0; id < robot->body_count && k < robot->bodies[id].part_count; ++k)
        is_open |= robot->bodies[id].parts[k].open_mesh;
    return is_open;
}

static carom_status list_balls(carom_context *context, const carom_ball *from, uint32_t count,
                               carom_robot_balls *balls) {
    uint64_t writable;
    CAROM_TRY(carom_robot_balls_begin(context, &context->allocator, balls, count, &writable));
    for (uint64_t i = 0; i < writable; ++i) balls->data[i] = from[i];
    return carom_robot_balls_end(balls);
}

static carom_status check_body(carom_context *context, const carom_robot *robot, uint32_t body) {
    if (body < robot->body_count && robot->bodies[body].live) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT, "there is no body %u", body);
}

static carom_status check_object(carom_context *context, const carom_robot *robot, uint32_t id) {
    if (id < robot->object_count && robot->objects[id].live) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT, "there is no object %u", id);
}

carom_status carom_robot_list_cover(carom_context *context, const carom_robot *robot, uint32_t body,
                                    carom_robot_balls *balls) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_RESULT(balls, "balls");
    CAROM_TRY(check_body(context, robot, body));
    return list_balls(context, robot->bodies[body].cover, robot->bodies[body].cover_count, balls);
}

carom_status carom_robot_list_inner(carom_context *context, const carom_robot *robot, uint32_t body,
                                    carom_robot_balls *balls) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_RESULT(balls, "balls");
    CAROM_TRY(check_body(context, robot, body));
    return list_balls(context, robot->bodies[body].inner, robot->bodies[body].inner_count, balls);
}

/* ---- Changes: objects ------------------------------------------------------------------------ */

static carom_status robot_reserve_objects(carom_context *context, carom_robot *robot,
                                          uint64_t needed) {
    if (needed > CAROM_ROBOT_MOST_BODIES)
        return carom_fail(context, CAROM_TOO_LARGE, "more than %u objects",
                          CAROM_ROBOT_MOST_BODIES);
    if (needed <= robot->object_capacity) return CAROM_OK;
    uint64_t capacity = robot->object_capacity;
    void *grown = carom_array_grow(&robot->allocator, robot->objects, robot->object_count, needed,
                                   sizeof(*robot->objects), &capacity);
    if (grown == NULL)
        return carom_fail_memory(context, needed * sizeof(*robot->objects), "objects");
    robot->objects = grown;
    robot->object_capacity = (uint32_t)capacity;
    return CAROM_OK;
}

static carom_status make_object(carom_context *context, carom_robot *robot,
                                const carom_robot_shape *shape, uint32_t number,
                                carom_robot_part *part) {
    char whose[WHOSE_SIZE];
    snprintf(whose, sizeof(whose), "object %u", number);
    CAROM_TRY(carom_robot_part_make(context, &robot->allocator, shape, whose, part));
    part->stamp = ++robot->stamps;
    if (part->tree.triangles == NULL || part->tree.item_count < FIELD_LEAST_FACES) return CAROM_OK;
    uint64_t cells = FIELD_CELLS_PER_FACE * (uint64_t)part->tree.item_count;
    carom_status status = carom_robot_field_make(context, &robot->allocator, part, 1,
                                                 CAROM_MAX(cells, FIELD_LEAST_CELLS), &part->field);
    if (status != CAROM_OK) carom_robot_part_free(&robot->allocator, part);
    return status;
}

static carom_status add_objects(carom_context *context, carom_robot *robot,
                                const carom_robot_shape *shapes, uint32_t count, uint32_t *taken) {
    uint32_t old_count = robot->object_count, next = 0, made = 0;
    carom_status status = robot_reserve_objects(context, robot, (uint64_t)old_count + count);
    for (; made < count && status == CAROM_OK; ++made) {
        while (next < robot->object_count && robot->objects[next].live) ++next;
        if (next == robot->object_count)
            robot->objects[robot->object_count++] = (carom_robot_object){0};
        status = make_object(context, robot, &shapes[made], made, &robot->objects[next].part);
        if (status != CAROM_OK) break;
        robot->objects[next].live = true;
        taken[made] = next;
    }
    if (status == CAROM_OK) status = carom_robot_plan_make(context, robot);
    if (status == CAROM_OK) return CAROM_OK;
    for (uint32_t i = 0; i < made; ++i) {
        carom_robot_part_free(&robot->allocator, &robot->objects[taken[i]].part);
        robot->objects[taken[i]].live = false;
    }
    robot->object_count = old_count;
    return status;
}

carom_status carom_robot_add_objects(carom_context *context, carom_robot *robot,
                                     const carom_robot_shape *shapes, uint32_t count,
                                     uint32_t *ids) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(shapes, count, "shapes");
    CAROM_TRY(require_shapes(shapes, count));
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    uint32_t *taken = CAROM_ARENA_TAKE(arena, uint32_t, (uint64_t)count + 1);
    carom_status status = taken == NULL ? carom_fail_memory(context, 0, "ids of objects")
                                        : add_objects(context, robot, shapes, count, taken);
    if (status == CAROM_OK && ids != NULL && count != 0) memcpy(ids, taken, count * sizeof(*ids));
    carom_arena_rewind(arena, mark);
    return status;
}

carom_status carom_robot_set_object(carom_context *context, carom_robot *robot, uint32_t id,
                                    const carom_robot_shape *shape) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUT(shape, "shape");
    CAROM_TRY(require_shapes(shape, 1));
    CAROM_TRY(check_object(context, robot, id));
    carom_robot_part made, old = robot->objects[id].part;
    CAROM_TRY(make_object(context, robot, shape, id, &made));
    robot->objects[id].part = made;
    carom_status status = carom_robot_plan_make(context, robot);
    if (status != CAROM_OK) robot->objects[id].part = old;
    carom_robot_part_free(&robot->allocator, status == CAROM_OK ? &old : &made);
    return status;
}

carom_status carom_robot_remove_object(carom_context *context, carom_robot *robot, uint32_t id) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_TRY(check_object(context, robot, id));
    robot->objects[id].live = false;
    carom_status status = carom_robot_plan_make(context, robot);
    if (status != CAROM_OK) {
        robot->objects[id].live = true;
        return status;
    }
    uint64_t kept = 0;
    carom_robot_words *w = &robot->allowed_objects;
    for (uint64_t i = 0; i < w->count; ++i)
        if ((uint32_t)w->data[i] != id) w->data[kept++] = w->data[i];
    w->count = kept;
    carom_robot_part_free(&robot->allocator, &robot->objects[id].part);
    return CAROM_OK;
}

/* ---- Changes: attached shapes ---------------------------------------------------------------- */

static carom_status reserve_body(carom_context *context, carom_robot *robot, uint32_t *body) {
    for (uint32_t i = robot->link_count; i < robot->body_count; ++i)
        if (!robot->bodies[i].live) {
            *body = i;
            return CAROM_OK;
        }
    *body = robot->body_count;
    if (robot->body_count >= CAROM_ROBOT_MOST_BODIES)
        return carom_fail(context, CAROM_TOO_LARGE, "more than %u bodies", CAROM_ROBOT_MOST_BODIES);
    if (robot->body_count < robot->body_capacity) return CAROM_OK;
    uint64_t capacity = robot->body_capacity;
    void *grown =
        carom_array_grow(&robot->allocator, robot->bodies, robot->body_count,
                         robot->body_count + UINT64_C(1), sizeof(*robot->bodies), &capacity);
    if (grown == NULL) return carom_fail_memory(context, 0, "bodies");
    robot->bodies = grown;
    robot->body_capacity = (uint32_t)capacity;
    return CAROM_OK;
}

/* Allowed pairs of a new body: those that its link has, and that with the link. */
static carom_status allow_like(carom_context *context, const carom_robot *robot, uint32_t link,
                               uint32_t body, carom_robot_words *made) {
    carom_robot_words keys = {0};
    bool fits = carom_robot_words_push(&keys, &robot->allocator, robot_key_of(link, body));
    for (uint64_t i = 0; i < robot->allowed.count && fits; ++i) {
        uint32_t a = (uint32_t)(robot->allowed.data[i] >> 32), b = (uint32_t)robot->allowed.data[i];
        if (a == link || b == link)
            fits = carom_robot_words_push(&keys, &robot->allocator,
                                          robot_key_of(a == link ? b : a, body));
    }
    carom_status status = fits ? changed_words(context, &robot->allocator, &robot->allowed,
                                               keys.data, keys.count, true, made)
                               : carom_fail_memory(context, 0, "allowed pairs");
    carom_robot_words_release(&keys, &robot->allocator);
    return status;
}

carom_status carom_robot_attach(carom_context *context, carom_robot *robot, uint32_t link,
                                const carom_robot_shape *shape, uint32_t *body) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUT(shape, "shape");
    CAROM_TRY(require_shapes(shape, 1));
    if (link >= robot->link_count)
        return carom_fail(context, CAROM_BAD_INPUT, "there is no link %u", link);
    uint32_t index = 0, old_count = robot->body_count;
    carom_robot_body made = {.link = link};
    carom_robot_words allowed = {0}, old_allowed = robot->allowed;
    CAROM_TRY(reserve_body(context, robot, &index));
    carom_status status =
        make_parts(context, &robot->allocator, shape, 1, "the attached shape", &made);
    if (status == CAROM_OK) {
        double spheres = CAROM_MIN(robot->spheres_per_length * size_of(&made), 64.0);
        status = carom_robot_body_cover(context, &robot->allocator, &made,
                                        (uint64_t)CAROM_MAX(spheres + 0.5, 4.0), robot->inner);
        double fine = CAROM_MIN(robot->fine_per_length * size_of(&made), 256.0);
        if (status == CAROM_OK)
            status = carom_robot_body_refine(context, &robot->allocator, &made, (uint64_t)fine, 0);
        if (status == CAROM_OK) status = make_body_field(context, robot, &made);
    }
    if (status == CAROM_OK) status = allow_like(context, robot, link, index, &allowed);
    if (status != CAROM_OK) {
        carom_robot_body_free(&robot->allocator, &made);
        return status;
    }
    made.stamp = ++robot->stamps;
    robot->bodies[index] = made;
    robot->body_count = CAROM_MAX(robot->body_count, index + 1);
    robot->allowed = allowed;
    status = carom_robot_plan_make(context, robot);
    if (status != CAROM_OK) {
        carom_robot_body_free(&robot->allocator, &robot->bodies[index]);
        robot->body_count = old_count;
        robot->allowed = old_allowed;
        carom_robot_words_release(&allowed, &robot->allocator);
        return status;
    }
    carom_robot_words_release(&old_allowed, &robot->allocator);
    if (body != NULL) *body = index;
    return CAROM_OK;
}

static void forget_body(carom_robot_words *w, uint32_t body, bool also_second) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < w->count; ++i)
        if ((uint32_t)(w->data[i] >> 32) != body && (!also_second || (uint32_t)w->data[i] != body))
            w->data[kept++] = w->data[i];
    w->count = kept;
}

carom_status carom_robot_detach(carom_context *context, carom_robot *robot, uint32_t body) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_TRY(check_body(context, robot, body));
    if (body < robot->link_count)
        return carom_fail(context, CAROM_BAD_INPUT, "body %u is a link, not an attached shape",
                          body);
    robot->bodies[body].live = false;
    carom_status status = carom_robot_plan_make(context, robot);
    if (status != CAROM_OK) {
        robot->bodies[body].live = true;
        return status;
    }
    forget_body(&robot->allowed, body, true);
    forget_body(&robot->allowed_objects, body, false);
    carom_robot_body_free(&robot->allocator, &robot->bodies[body]);
    return CAROM_OK;
}

/* ---- Changes: allowed pairs ------------------------------------------------------------------ */

static carom_status set_words(carom_context *context, carom_robot *robot, carom_robot_words *words,
                              const uint64_t *keys, uint64_t count, bool allowed) {
    carom_robot_words made, old = *words;
    CAROM_TRY(changed_words(context, &robot->allocator, words, keys, count, allowed, &made));
    *words = made;
    carom_status status = carom_robot_plan_make(context, robot);
    if (status != CAROM_OK) *words = old;
    carom_robot_words_release(status == CAROM_OK ? &old : &made, &robot->allocator);
    return status;
}

static carom_status set_allowed(carom_context *context, carom_robot *robot, const carom_pair *pairs,
                                uint64_t count, bool allowed, bool objects) {
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    uint64_t *keys = CAROM_ARENA_TAKE(arena, uint64_t, count + 1);
    carom_status status = keys == NULL ? carom_fail_memory(context, 0, "allowed pairs") : CAROM_OK;
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        status = check_body(context, robot, pairs[i].a);
        if (status == CAROM_OK)
            status = objects ? check_object(context, robot, pairs[i].b)
                             : check_body(context, robot, pairs[i].b);
        keys[i] = objects ? carom_robot_key(pairs[i].a, pairs[i].b)
                          : robot_key_of(pairs[i].a, pairs[i].b);
    }
    if (status == CAROM_OK)
        status = set_words(context, robot, objects ? &robot->allowed_objects : &robot->allowed,
                           keys, count, allowed);
    carom_arena_rewind(arena, mark);
    return status;
}

carom_status carom_robot_set_allowed(carom_context *context, carom_robot *robot,
                                     const carom_pair *pairs, uint64_t count, bool allowed) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    return set_allowed(context, robot, pairs, count, allowed, false);
}

carom_status carom_robot_set_object_allowed(carom_context *context, carom_robot *robot,
                                            const carom_pair *pairs, uint64_t count, bool allowed) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    return set_allowed(context, robot, pairs, count, allowed, true);
}
