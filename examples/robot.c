/* SPDX-License-Identifier: MIT */
/* Plans a motion of an arm around a wall by RRT-Connect (Kuffner and LaValle, 2000): two trees grow
 * towards random configurations and each other. Each edge is a straight motion that is proved to be
 * free, so the whole path is. */
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOF = 4, MOST = 2000 };
static const double step = 0.3; /* radians: the longest edge */

typedef struct rrt {
    double q[MOST][DOF];
    int parent[MOST];
    int count;
} rrt;

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

/* A base, then links of 0.4 m that turn about z and y in turn, and a wall beside them. */
static carom_robot *make_robot(carom_context *context) {
    carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                             .pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.2}},
                             .half = {0.05, 0.05, 0.18}};
    carom_robot_shape wall = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                              .pose = {{1.0, 0.0, 0.0, 0.0}, {0.5, 0.0, 0.6}},
                              .half = {0.3, 0.02, 0.6}};
    carom_robot_link links[DOF + 1];
    carom_robot_joint joints[DOF];
    for (unsigned i = 0; i <= DOF; ++i) {
        links[i] = (carom_robot_link){"link", &box, 1};
        if (i == 0) continue;
        joints[i - 1] = (carom_robot_joint){.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                            .parent = i - 1,
                                            .child = i,
                                            .origin = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.4}},
                                            .axis = {0.0, i % 2 == 0, i % 2 == 1},
                                            .lower = -2.5,
                                            .upper = 2.5};
    }
    carom_robot_def def = {
        .links = links, .link_count = DOF + 1, .joints = joints, .joint_count = DOF, .spheres = 40};
    carom_robot *robot;
    must(context, carom_robot_create(context, &def, &robot));
    must(context, carom_robot_add_objects(context, robot, &wall, 1, NULL));
    return robot;
}

static double gap(const double *a, const double *b) {
    double squared = 0.0;
    for (int i = 0; i < DOF; ++i) squared += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(squared);
}

static int nearest(const rrt *tree, const double *q) {
    int best = 0;
    for (int i = 1; i < tree->count; ++i)
        if (gap(tree->q[i], q) < gap(tree->q[best], q)) best = i;
    return best;
}

static bool is_free(carom_context *context, const carom_robot *robot, const double *from,
                    const double *to) {
    carom_robot_query query = {.margin = 0.005};
    carom_robot_motion_result result;
    must(context, carom_robot_motion(context, robot, from, to, 1, &query, &result));
    return result.verdict == CAROM_ROBOT_VERDICT_FREE;
}

/* One step of a tree towards q: its new node, or -1. */
static int extend(carom_context *context, const carom_robot *robot, rrt *tree, const double *q) {
    int from = nearest(tree, q);
    double far = gap(tree->q[from], q), share = far > step ? step / far : 1.0, to[DOF];
    if (tree->count == MOST) return -1;
    for (int i = 0; i < DOF; ++i) to[i] = tree->q[from][i] + share * (q[i] - tree->q[from][i]);
    if (!is_free(context, robot, tree->q[from], to)) return -1;
    memcpy(tree->q[tree->count], to, sizeof(to));
    tree->parent[tree->count] = from;
    return tree->count++;
}

/* Steps of the other tree until it is there or blocked. */
static int connect_to(carom_context *context, const carom_robot *robot, rrt *tree,
                      const double *q) {
    for (;;) {
        int node = extend(context, robot, tree, q);
        if (node < 0 || gap(tree->q[node], q) < 1e-12) return node;
    }
}

int main(void) {
    static const double start[DOF] = {0.6, 1.2, 0.0, 0.0}, goal[DOF] = {-0.6, 1.2, 0.0, 0.0};
    static rrt trees[2];
    carom_context *context;
    must(NULL, carom_context_create(&(carom_context_def){.threads = 1}, &context));
    carom_robot *robot = make_robot(context);
    carom_random random = {1};
    int nodes = 0;
    printf("the straight motion is %s\n",
           is_free(context, robot, start, goal) ? "free" : "blocked");
    for (int k = 0; k < 2; ++k) {
        memcpy(trees[k].q[0], k == 0 ? start : goal, sizeof(start));
        trees[k].parent[0] = -1;
        trees[k].count = 1;
    }
    for (int round = 0; round < MOST && nodes == 0; ++round) {
        rrt *a = &trees[round % 2], *b = &trees[1 - round % 2];
        double q[DOF];
        for (int i = 0; i < DOF; ++i) q[i] = carom_random_between(&random, -2.5, 2.5);
        int node = extend(context, robot, a, q);
        int other = node >= 0 ? connect_to(context, robot, b, a->q[node]) : -1;
        if (other < 0) continue;
        for (int at = node; at >= 0; at = a->parent[at]) ++nodes;
        for (int at = b->parent[other]; at >= 0; at = b->parent[at]) ++nodes;
    }
    if (nodes != 0)
        printf("a path of %d configurations, each motion between them proved to be free\n", nodes);
    carom_robot_destroy(robot);
    carom_context_destroy(context);
    return nodes != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
