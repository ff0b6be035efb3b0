/* SPDX-License-Identifier: MIT */
/* Exact verdicts of random configurations beside FCL, on one thread: an arm of seven joints whose
 * links are meshes, and the Panda where $CAROM_MODELS or ../shared/models has it; alone, and in a
 * knot of 190,080 triangles. FCL gets the poses of links, ours computes them. FCL finds no
 * collision where a link is wholly inside of another body: those verdicts differ, and a note counts
 * them. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"
#include "scenes/arm.h"
#include "scenes/robots.h"

#define PEER_LINKS 64u /* most links of a robot here */

typedef struct link_mesh {
    double *positions;
    uint32_t *corners;
    uint64_t vertex_count, triangle_count;
} link_mesh;

typedef struct player {
    carom_context *context;
    carom_robot *robot;
    carom_robot_info info;
    link_mesh links[PEER_LINKS];
    peer_hull hulls[PEER_LINKS + 1]; /* the last is the world */
    double *q;
    uint64_t count;
    carom_robot_result *results;
    peer_pose *poses;
    bool *colliding;
    peer_robot_check_fn *check;
    void *prepared;
} player;

/* ---- Faces of links -------------------------------------------------------------------------- */

/* Adds a mesh to that of a link. */
static bool append_mesh(link_mesh *to, const carom_mesh_view *view, const carom_pose *pose) {
    uint64_t vertices = to->vertex_count + view->vertex_count;
    uint64_t triangles = to->triangle_count + view->face_count;
    double *positions = realloc(to->positions, (3 * vertices + 1) * sizeof(*positions));
    if (positions != NULL) to->positions = positions;
    uint32_t *corners = realloc(to->corners, (3 * triangles + 1) * sizeof(*corners));
    if (corners != NULL) to->corners = corners;
    if (positions == NULL || corners == NULL || view->offsets != NULL) return false;
    for (uint64_t i = 0; i < view->vertex_count; ++i) {
        const float *f = (const float *)view->positions + 3 * i;
        const double *d = (const double *)view->positions + 3 * i;
        bool is_float = view->scalar == CAROM_SCALAR_FLOAT32;
        carom_vec3 p = {is_float ? (double)f[0] : d[0], is_float ? (double)f[1] : d[1],
                        is_float ? (double)f[2] : d[2]};
        p = carom_pose_apply_value(pose, &p);
        memcpy(positions + 3 * (to->vertex_count + i), &p, sizeof(p));
    }
    for (uint64_t i = 0; i < 3 * view->face_count; ++i)
        corners[3 * to->triangle_count + i] = (uint32_t)to->vertex_count + view->corners[i];
    to->vertex_count = vertices;
    to->triangle_count = triangles;
    return true;
}

/* A shape of the arm as a mesh: a box or a cylinder of 64 sides. */
static bool append_shape(carom_context *context, const carom_robot_shape *s, link_mesh *to) {
    bool is_box = s->kind == CAROM_ROBOT_SHAPE_KIND_BOX;
    const carom_shape_def def = {.shape = is_box ? CAROM_SHAPE_BOX : CAROM_SHAPE_CYLINDER,
                                 .detail = is_box ? 8 : 64};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    uint64_t first = to->vertex_count;
    const carom_pose identity = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    bool done = carom_shape_make(context, &def, &mesh) == CAROM_OK &&
                carom_mesh_get_view(mesh, &view) == CAROM_OK && append_mesh(to, &view, &identity);
    double x = is_box ? s->half.x : s->radius, y = is_box ? s->half.y : s->radius;
    double z = is_box ? s->half.z : s->half_height;
    for (uint64_t i = first; i < to->vertex_count && done; ++i) {
        double *p = to->positions + 3 * i;
        p[0] = p[0] * x + s->pose.t.x; /* the arm's shapes are not turned */
        p[1] = p[1] * y + s->pose.t.y;
        p[2] = p[2] * z + s->pose.t.z;
    }
    carom_mesh_destroy(mesh);
    return done;
}

/* ---- Robots ---------------------------------------------------------------------------------- */

/* The arm of scenes/arm.h with meshes as links, the same for both. */
static bool make_arm(player *p) {
    scene_arm arm;
    carom_robot_shape shapes[SCENE_ARM_JOINTS + 1];
    carom_mesh_view views[SCENE_ARM_JOINTS + 1];
    scene_arm_make(&arm);
    for (uint32_t i = 0; i <= SCENE_ARM_JOINTS; ++i) {
        link_mesh *m = &p->links[i];
        if (!append_shape(p->context, &arm.shapes[i], m)) return false;
        views[i] = (carom_mesh_view){.positions = m->positions,
                                     .vertex_count = m->vertex_count,
                                     .corners = m->corners,
                                     .face_count = m->triangle_count};
        shapes[i] = (carom_robot_shape){.mesh = &views[i]};
        arm.links[i].shapes = &shapes[i];
    }
    return carom_robot_create(p->context, &arm.def, &p->robot) == CAROM_OK;
}

static bool make_panda(player *p) {
    const char *folder = getenv("CAROM_MODELS");
    char path[1024];
    carom_urdf *urdf = NULL;
    carom_urdf_view v = {0};
    if (folder == NULL) folder = "../shared/models";
    snprintf(path, sizeof(path), "%s/robots/panda/panda.urdf", folder);
    bool done = carom_urdf_load(p->context, path, NULL, &urdf) == CAROM_OK;
    snprintf(path, sizeof(path), "%s/robots/panda/panda.srdf", folder);
    done = done && carom_urdf_load_srdf(p->context, urdf, path) == CAROM_OK &&
           carom_urdf_get_view(urdf, &v) == CAROM_OK && v.link_count <= PEER_LINKS &&
           carom_robot_create_urdf(p->context, urdf, NULL, &p->robot) == CAROM_OK;
    for (uint32_t i = 0; i < v.element_count && done; ++i) {
        carom_mesh *mesh = NULL;
        carom_mesh_view view;
        done = carom_urdf_load_mesh(p->context, urdf, i, &mesh) == CAROM_OK && mesh != NULL &&
               carom_mesh_get_view(mesh, &view) == CAROM_OK &&
               append_mesh(&p->links[v.elements[i].link], &view, &v.elements[i].origin);
        carom_mesh_destroy(mesh);
    }
    carom_urdf_destroy(urdf);
    return done;
}

static bool sample_configurations(player *p) {
    double lower[PEER_LINKS], upper[PEER_LINKS];
    carom_random random = {1};
    uint64_t dof = p->info.dof, links = p->info.links;
    carom_pose *poses = malloc(p->count * links * sizeof(*poses));
    p->q = malloc(p->count * dof * sizeof(*p->q));
    p->poses = malloc(p->count * links * sizeof(*p->poses));
    p->results = malloc(p->count * sizeof(*p->results));
    p->colliding = malloc(p->count * sizeof(*p->colliding));
    bool done = poses != NULL && p->q != NULL && p->poses != NULL && p->results != NULL &&
                p->colliding != NULL && dof <= PEER_LINKS &&
                carom_robot_get_limits(p->robot, lower, upper) == CAROM_OK;
    for (uint64_t i = 0; i < p->count * dof && done; ++i)
        p->q[i] = carom_random_between(&random, lower[i % dof], upper[i % dof]);
    done = done && carom_robot_poses(p->context, p->robot, p->q, p->count, poses) == CAROM_OK;
    for (uint64_t i = 0; i < p->count * links && done; ++i) {
        const carom_pose *f = &poses[i];
        p->poses[i] = (peer_pose){{f->q.w, f->q.x, f->q.y, f->q.z}, {f->t.x, f->t.y, f->t.z}};
    }
    free(poses);
    return done;
}

/* ---- Contenders ------------------------------------------------------------------------------ */

static bool run_ours(void *input) {
    player *p = input;
    return carom_robot_check(p->context, p->robot, p->q, p->count, NULL, p->results) == CAROM_OK;
}

static bool run_peer(void *input) {
    player *p = input;
    p->check(p->prepared, p->poses, p->count, p->colliding);
    return true;
}

/* The peer, with the pairs that ours tests; NULL: it is not there. */
static void *prepare_peer(player *p, bool has_world) {
    peer_robot_prepare_fn *prepare = (peer_robot_prepare_fn *)bench_peer("peer_fcl_robot_prepare");
    carom_robot_pair_counts pairs = {0};
    void *prepared = NULL;
    uint32_t *numbers = NULL;
    p->check = (peer_robot_check_fn *)bench_peer("peer_fcl_robot_check");
    if (prepare == NULL || p->check == NULL) return NULL;
    if (carom_robot_sample_pairs(p->context, p->robot, 1, 1, &pairs) == CAROM_OK)
        numbers = malloc((2 * pairs.count + 1) * sizeof(*numbers));
    for (uint64_t i = 0; i < pairs.count && numbers != NULL; ++i) {
        numbers[2 * i] = pairs.data[i].a;
        numbers[2 * i + 1] = pairs.data[i].b;
    }
    for (uint32_t i = 0; i < p->info.links; ++i) {
        const link_mesh *m = &p->links[i];
        p->hulls[i] = (peer_hull){m->positions, m->corners, m->vertex_count, m->triangle_count};
    }
    const peer_robot robot = {.links = p->hulls,
                              .world = has_world ? &p->hulls[PEER_LINKS] : NULL,
                              .pairs = numbers,
                              .link_count = p->info.links,
                              .pair_count = pairs.count};
    if (numbers != NULL) prepared = prepare(&robot);
    free(numbers);
    carom_robot_pair_counts_free(&pairs);
    return prepared;
}

static void compare(bench *bench, player *p, const char *name, bool has_world) {
    char job[64];
    uint64_t free_count = 0, differ[2] = {0};
    p->prepared = prepare_peer(p, has_world);
    uint32_t first = bench->row_count;
    const bench_contender both[] = {{"carom", NULL, run_ours, p}, {"FCL", NULL, run_peer, p}};
    snprintf(job, sizeof(job), "exact verdicts, %s%s", name, has_world ? " in a knot" : " alone");
    bench_compare(bench, job, (double)p->count, both, p->prepared != NULL ? 2 : 1);
    for (uint64_t i = 0; i < p->count; ++i) {
        bool is_free = p->results[i].verdict == CAROM_ROBOT_VERDICT_FREE;
        free_count += is_free ? 1 : 0;
        if (p->prepared != NULL && p->colliding[i] == is_free) ++differ[is_free ? 1 : 0];
    }
    bench_note(bench, "%s: %.1f %% free; ours %.3g us each by processor time", job,
               100.0 * (double)free_count / (double)p->count,
               1e6 * bench->rows[first].cpu_seconds / (double)p->count);
    if (p->prepared != NULL) {
        peer_release_fn *release = (peer_release_fn *)bench_peer("peer_fcl_robot_release");
        bench_note(bench,
                   "FCL %.3g us each, without kinematics; it calls %llu free that collide by ours, "
                   "and %llu the other way",
                   1e6 * bench->rows[first + 1].cpu_seconds / (double)p->count,
                   (unsigned long long)differ[0], (unsigned long long)differ[1]);
        if (release != NULL) release(p->prepared);
    }
    p->prepared = NULL;
}

static void run_robot(bench *bench, const char *name, bool (*make)(player *), double reach) {
    carom_context_def def = *bench->def;
    player *p = calloc(1, sizeof(*p));
    scene_cell *cell = calloc(1, sizeof(*cell));
    link_mesh world = {0};
    const uint64_t count = bench->quick ? 512 : 8192;
    def.threads = 1;
    bool ready = p != NULL && cell != NULL && carom_context_create(&def, &p->context) == CAROM_OK;
    if (ready) p->count = count;
    if (ready && !make(p)) {
        bench_note(bench, "%s is left out: %s", name, carom_context_message(p->context));
        ready = false;
    }
    ready =
        ready && carom_robot_get_info(p->robot, &p->info) == CAROM_OK && sample_configurations(p);
    if (ready) compare(bench, p, name, false);
    if (ready && scene_cell_make(p->context, SCENE_CELL_KIND_KNOT, reach, 0, cell) == CAROM_OK &&
        append_mesh(&world, &cell->view, &cell->objects[0].pose) &&
        carom_robot_add_objects(p->context, p->robot, cell->objects, cell->count, NULL) ==
            CAROM_OK) {
        p->hulls[PEER_LINKS] =
            (peer_hull){world.positions, world.corners, world.vertex_count, world.triangle_count};
        compare(bench, p, name, true);
    }
    for (uint32_t i = 0; i < PEER_LINKS && p != NULL; ++i) {
        free(p->links[i].positions);
        free(p->links[i].corners);
    }
    free(world.positions);
    free(world.corners);
    if (cell != NULL) scene_cell_free(cell);
    free(cell);
    if (p == NULL) return;
    carom_robot_destroy(p->robot);
    carom_context_destroy(p->context);
    free(p->q);
    free(p->poses);
    free(p->results);
    free(p->colliding);
    free(p);
}

static void run(bench *bench) {
    peer_name_fn *name = (peer_name_fn *)bench_peer("peer_fcl_robot_name");
    if (name != NULL) bench_note(bench, "%s", name());
    run_robot(bench, "arm", make_arm, 1.3);
    run_robot(bench, "Panda", make_panda, 1.2);
}

const bench_group bench_robot_peers = {68, "robot_peers", "exact verdicts of robots beside FCL",
                                       run};
