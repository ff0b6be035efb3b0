/* SPDX-License-Identifier: MIT */
/* Steps of scenes: all contacts of many convex objects that move, beside Bullet's collision world
 * on the same poses in the same run, and what the two phases of the thesis (Loi 2010, Figure 13)
 * cost as the objects get more.
 *
 * A step is: new poses, all contacts with their points, normals and depths. Each contender has its
 * own copy of the objects and a structure that it keeps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"
#include "cli/platform.h"
#include "scenes/boxes.h"
#include "scenes/pile.h"

typedef enum shape { BALLS, CUBES, HULLS, SHAPES } shape;
static const char *const shape_names[SHAPES] = {"balls", "cubes", "hulls of 42 vertices"};

/* What moves, and where to. */
typedef struct population {
    shape shape;
    uint64_t count;
    carom_vec3 *centres, *velocity;
    double edge;  /* of the room; 0: bodies move to and fro */
    double size;  /* radius or half edge */
    double reach; /* of contacts */
    uint64_t steps;
} population;

typedef struct player {
    const char *name;
    carom_context *context; /* NULL: the peer */
    carom_hull *hull;
    bool tenth; /* only the first tenth moves */
    population own;
    carom_pose *poses;
    carom_scene *scene;
    carom_scene_contacts contacts;
    void *world;
    peer_world_step_fn *step_fn;
    uint64_t found; /* contacts of the last step */
} player;

/* ---- Populations ----------------------------------------------------------------------------- */

static void population_free(population *c) {
    free(c->centres);
    free(c->velocity);
}

static bool population_take(population *c) {
    c->centres = calloc((size_t)c->count, sizeof(*c->centres));
    c->velocity = calloc((size_t)c->count, sizeof(*c->velocity));
    return c->centres != NULL && c->velocity != NULL;
}

/* The boxes of bench_broad.c, as bodies in them. */
static bool population_uniform(uint64_t count, shape shape, population *c) {
    scene_boxes boxes;
    *c = (population){.shape = shape, .count = count};
    bool made = scene_boxes_make(count, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &boxes);
    if (made && population_take(c)) {
        for (uint64_t i = 0; i < count; ++i) {
            c->centres[i] = boxes.centres[i];
            c->velocity[i] = boxes.velocity[i];
        }
        c->edge = boxes.edge;
        c->size = boxes.half[0];
    }
    scene_boxes_free(&boxes);
    return made && c->velocity != NULL;
}

#define LATTICE_EDGE 47u
#define LATTICE_GAP                                                                                \
    0x1p-6 /* between cubes of edge 1: less than the reach, but not across an edge */

/* Cubes with gaps between them: each is in contact with its six neighbours. */
static bool population_lattice(uint64_t edge, population *c) {
    *c = (population){
        .shape = CUBES, .count = edge * edge * edge, .size = 0.5, .reach = 1.25 * LATTICE_GAP};
    if (!population_take(c)) return false;
    for (uint64_t i = 0; i < c->count; ++i) {
        const uint64_t at[3] = {i % edge, i / edge % edge, i / edge / edge};
        double *p = &c->centres[i].x;
        for (int k = 0; k < 3; ++k) p[k] = (double)at[k] * (1.0 + LATTICE_GAP);
        c->velocity[i].x = (i % 2 == 0 ? 1.0 : -1.0) * 0x1p-12;
    }
    return true;
}

static void population_move(population *c, uint64_t moving) {
    double limit = 0.5 * c->edge;
    for (uint64_t i = 0; i < moving; ++i) {
        double *p = &c->centres[i].x, *v = &c->velocity[i].x;
        for (int k = 0; k < 3; ++k) {
            bool turn = c->edge > 0.0 ? fabs(p[k] + v[k]) > limit : c->steps % 2 == 1;
            if (turn) v[k] = -v[k];
            p[k] += v[k];
        }
    }
    ++c->steps;
}

/* ---- Players --------------------------------------------------------------------------------- */

static void move(void *input) {
    player *p = input;
    population_move(&p->own, p->tenth ? p->own.count / 10 : p->own.count);
}

static bool run_step(void *input) {
    player *p = input;
    uint64_t moving = p->tenth ? p->own.count / 10 : p->own.count;
    if (p->context == NULL) {
        p->found = p->step_fn(p->world, &p->own.centres[0].x, moving);
        return true;
    }
    for (uint64_t i = 0; i < moving; ++i) p->poses[i].t = p->own.centres[i];
    bool done = carom_scene_move(p->context, p->scene, NULL, p->poses, moving) == CAROM_OK &&
                carom_scene_step(p->context, p->scene, &p->contacts, NULL, NULL) == CAROM_OK;
    p->found = p->contacts.count;
    return done;
}

static carom_convex shape_of(const player *p) {
    carom_convex s = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = p->own.size};
    if (p->own.shape == CUBES)
        s = (carom_convex){.kind = CAROM_CONVEX_KIND_BOX,
                           .half = {p->own.size, p->own.size, p->own.size}};
    if (p->own.shape == HULLS)
        s = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = p->hull};
    return s;
}

static bool prepare(player *p, const carom_mesh_view *ball) {
    uint64_t count = p->own.count;
    if (p->context == NULL) {
        peer_world_prepare_fn *make =
            (peer_world_prepare_fn *)bench_peer("peer_bullet_world_prepare");
        peer_bodies bodies = {.centres = &p->own.centres[0].x,
                              .count = count,
                              .size = p->own.size,
                              .boxes = p->own.shape == CUBES,
                              .distance = p->own.reach};
        if (p->own.shape == HULLS) {
            bodies.points = ball->positions;
            bodies.point_count = ball->vertex_count;
        }
        p->step_fn = (peer_world_step_fn *)bench_peer("peer_bullet_world_step");
        p->world = make(&bodies);
        return p->world != NULL;
    }
    carom_scene_def def = {.reach = p->own.reach};
    carom_scene_object_def *objects = calloc((size_t)count, sizeof(*objects));
    p->poses = calloc((size_t)count, sizeof(*p->poses));
    bool done = objects != NULL && p->poses != NULL &&
                carom_scene_create(p->context, &def, &p->scene) == CAROM_OK;
    for (uint64_t i = 0; i < count && done; ++i) {
        objects[i].convex = shape_of(p);
        objects[i].pose.t = p->own.centres[i];
    }
    done = done && carom_scene_add(p->context, p->scene, objects, count, NULL) == CAROM_OK &&
           carom_scene_step(p->context, p->scene, &p->contacts, NULL, NULL) == CAROM_OK;
    free(objects);
    return done;
}

static void release(player *p) {
    if (p->world != NULL) ((peer_release_fn *)bench_peer("peer_bullet_world_release"))(p->world);
    carom_scene_contacts_free(&p->contacts);
    carom_scene_destroy(p->scene);
    free(p->poses);
    population_free(&p->own);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

typedef bool population_fn(uint64_t size, shape shape, population *c);

static bool make_lattice(uint64_t size, shape shape, population *c) {
    (void)shape;
    return population_lattice(size, c);
}

/* A ball of 42 vertices: 80 triangles, as in the thesis. */
static bool make_ball(carom_context *context, double radius, carom_mesh **mesh,
                      carom_mesh_view *view, carom_hull **hull) {
    carom_shape_def def = {.shape = CAROM_SHAPE_SPHERE, .detail = 2, .size = radius};
    return carom_shape_make(context, &def, mesh) == CAROM_OK &&
           carom_mesh_get_view(*mesh, view) == CAROM_OK &&
           carom_hull_create(context, &(carom_hull_def){.mesh = view}, hull) == CAROM_OK;
}

static void compare(bench *bench, carom_context *serial, carom_context *parallel, const char *words,
                    population_fn *make, uint64_t size, shape shape) {
    player players[] = {
        {.name = "carom", .context = serial},
        {.name = "carom, all threads", .context = parallel},
        {.name = "carom, all threads, a tenth moves", .context = parallel, .tenth = true},
        {.name = "Bullet"}};
    uint32_t count = bench_peer("peer_bullet_world_step") != NULL ? 4 : 3;
    bench_contender contenders[4];
    carom_mesh *mesh = NULL;
    carom_mesh_view view = {0};
    carom_hull *hull = NULL;
    char job[80];
    bool made = make_ball(serial, 1.0 + 0x1p-14, &mesh, &view, &hull);
    for (uint32_t i = 0; i < count; ++i) {
        players[i].hull = hull;
        made = made && make(size, shape, &players[i].own) && prepare(&players[i], &view);
        contenders[i] = (bench_contender){players[i].name, move, run_step, &players[i]};
    }
    snprintf(job, sizeof(job), "%s", words);
    if (made) {
        carom_scene_info info;
        bench_compare(bench, job, (double)players[0].own.count, contenders, count);
        if (carom_scene_get_info(players[0].scene, &info) == CAROM_OK)
            bench_note(bench, "%s: %llu objects, %llu pairs of boxes, %llu tested, %llu contacts",
                       job, (unsigned long long)info.live, (unsigned long long)info.pairs,
                       (unsigned long long)info.asked, (unsigned long long)info.contacts);
        if (count == 4 && players[3].found != players[0].found)
            bench_note(bench, "%s: Bullet found %llu contacts", job,
                       (unsigned long long)players[3].found);
    }
    for (uint32_t i = 0; i < count; ++i) release(&players[i]);
    carom_hull_destroy(hull);
    carom_mesh_destroy(mesh);
    platform_trim_memory();
}

/* A pile that comes to rest: nearly all of a step are contacts of hulls. */
typedef struct heap {
    carom_context *context;
    scene_pile pile;
    carom_scene *scene;
    carom_scene_contacts contacts;
} heap;

static void move_heap(void *input) {
    scene_pile_move(&((heap *)input)->pile);
}

static bool run_heap(void *input) {
    heap *h = input;
    return carom_scene_move(h->context, h->scene, NULL, h->pile.poses, h->pile.count) == CAROM_OK &&
           carom_scene_step(h->context, h->scene, &h->contacts, NULL, NULL) == CAROM_OK;
}

static bool make_heap(carom_context *context, uint64_t count, heap *h) {
    *h = (heap){.context = context};
    return scene_pile_make(context, count, SCENE_PILE_SEED, &h->pile) == CAROM_OK &&
           carom_scene_create(context, NULL, &h->scene) == CAROM_OK &&
           scene_pile_add(context, &h->pile, h->scene) == CAROM_OK &&
           carom_scene_step(context, h->scene, &h->contacts, NULL, NULL) == CAROM_OK;
}

static void compare_piles(bench *bench, carom_context *serial, carom_context *parallel,
                          uint64_t count) {
    heap heaps[2];
    char job[64];
    bool made = make_heap(serial, count, &heaps[0]);
    made = make_heap(parallel, count, &heaps[1]) && made;
    bench_contender contenders[] = {{"carom", move_heap, run_heap, &heaps[0]},
                                    {"carom, all threads", move_heap, run_heap, &heaps[1]}};
    snprintf(job, sizeof(job), "pile of %lluk hulls", (unsigned long long)count / 1000);
    carom_scene_info info;
    if (made) {
        bench_compare(bench, job, (double)count, contenders, 2);
        if (carom_scene_get_info(heaps[0].scene, &info) == CAROM_OK)
            bench_note(bench, "%s: %llu pairs of boxes, %llu tested, %llu contacts", job,
                       (unsigned long long)info.pairs, (unsigned long long)info.asked,
                       (unsigned long long)info.contacts);
    }
    for (int i = 0; i < 2; ++i) {
        carom_scene_contacts_free(&heaps[i].contacts);
        carom_scene_destroy(heaps[i].scene);
        scene_pile_free(&heaps[i].pile);
    }
}

/* Figure 13: the broad phase alone and the whole step, as the objects get more. */
typedef struct phase {
    player scene;
    scene_boxes boxes;
    carom_broad *broad;
    carom_pairs pairs;
} phase;

static void move_boxes(void *input) {
    phase *p = input;
    scene_boxes_move(&p->boxes, 0, p->boxes.count);
}

static bool run_boxes(void *input) {
    phase *p = input;
    carom_context *context = p->scene.context;
    return carom_broad_move(context, p->broad, NULL, p->boxes.bounds, p->boxes.count) == CAROM_OK &&
           carom_broad_step(context, p->broad, &p->pairs, NULL, NULL) == CAROM_OK;
}

static void thesis(bench *bench, carom_context *context, uint64_t size) {
    phase p = {.scene = {.name = "whole step", .context = context}};
    carom_mesh *mesh = NULL;
    carom_mesh_view view = {0};
    char job[64];
    bool made = make_ball(context, 1.0 + 0x1p-14, &mesh, &view, &p.scene.hull) &&
                population_uniform(size, HULLS, &p.scene.own) && prepare(&p.scene, &view) &&
                scene_boxes_make(size, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &p.boxes);
    carom_broad_def def = {.boxes = p.boxes.bounds, .box_count = size};
    made = made && carom_broad_create(context, &def, &p.broad) == CAROM_OK;
    bench_contender contenders[] = {{"whole step", move, run_step, &p.scene},
                                    {"broad phase alone", move_boxes, run_boxes, &p}};
    snprintf(job, sizeof(job), "figure 13, %lluk", (unsigned long long)size / 1000);
    if (made) bench_compare(bench, job, (double)size, contenders, 2);
    carom_hull *hull = p.scene.hull;
    release(&p.scene);
    carom_hull_destroy(hull);
    carom_mesh_destroy(mesh);
    carom_pairs_free(&p.pairs);
    carom_broad_destroy(p.broad);
    scene_boxes_free(&p.boxes);
}

static void run(bench *bench) {
    static const uint64_t sizes[] = {1000, 8000, 27000, 64000, 125000};
    carom_context_def def = *bench->def;
    carom_context *parallel, *serial;
    uint64_t size = bench->quick ? 10000 : 100000;
    if (carom_context_create(&def, &parallel) != CAROM_OK) return;
    def.threads = 1;
    if (carom_context_create(&def, &serial) == CAROM_OK) {
        peer_name_fn *name = (peer_name_fn *)bench_peer("peer_bullet_world_name");
        if (name != NULL) bench_note(bench, "%s", name());
        for (int i = 0; i < SHAPES; ++i) {
            char words[64];
            snprintf(words, sizeof(words), "%lluk %s", (unsigned long long)size / 1000,
                     shape_names[i]);
            compare(bench, serial, parallel, words, population_uniform, size, (shape)i);
        }
        compare(bench, serial, parallel, "lattice of cubes", make_lattice,
                bench->quick ? 15 : LATTICE_EDGE, CUBES);
        compare_piles(bench, serial, parallel, bench->quick ? 2000 : SCENE_PILE_COUNT);
        for (int i = 0; i < (bench->quick ? 2 : 5); ++i) thesis(bench, parallel, sizes[i]);
        carom_context_destroy(serial);
    }
    carom_context_destroy(parallel);
}

const bench_group bench_scene = {67, "scene", "all contacts of many objects, step by step", run};
