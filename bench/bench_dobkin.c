/* SPDX-License-Identifier: MIT */
/* The farthest vertex of a hull by Dobkin and Kirkpatrick's hierarchy (1983) beside hill climbing:
 * measured, not part of the library.
 *
 * Level 0 is the hull. Each next level is the hull of what is left when an independent set of
 * vertices of low degree is removed, until few are left. The farthest vertex of a level is that of
 * the level above or one of its neighbours in the level, so a search takes a bounded number of
 * steps per level. Both searches are given to distance queries as user functions of the same kind,
 * so that they differ in the search alone; the library's own search is beside them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define MOST_LEVELS 32
#define COARSEST    24u /* vertices that are all looked at */
#define MOST_DEGREE 8u  /* of a vertex that is removed */
#define POSES       2000u

typedef struct level {
    uint32_t count, *ids; /* of the vertices */
    uint32_t *first;      /* of each vertex of the hull: its neighbours in this level */
    uint32_t *others;     /* the neighbours */
} level;

typedef struct hierarchy {
    carom_vec3 *points;
    uint32_t count, last;
    int level_count;
    level levels[MOST_LEVELS];
    uint64_t looked; /* vertices looked at */
} hierarchy;

static double dot(const carom_vec3 *a, const carom_vec3 *b) {
    return a->x * b->x + a->y * b->y + a->z * b->z;
}

static int before(const void *a, const void *b) {
    return memcmp(a, b, sizeof(carom_vec3));
}

/* The hull of some of the points as neighbours of each point. Points are sorted by their bytes. */
static bool make_level(carom_context *context, const hierarchy *h, const carom_vec3 *some,
                       uint32_t count, level *l) {
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = some, .vertex_count = count}};
    carom_hull *hull;
    carom_mesh *mesh = NULL;
    carom_mesh_view view = {0};
    bool done = carom_hull_create(context, &def, &hull) == CAROM_OK &&
                carom_hull_to_mesh(context, hull, &mesh) == CAROM_OK &&
                carom_mesh_get_view(mesh, &view) == CAROM_OK;
    uint64_t corners = view.offsets != NULL ? view.offsets[view.face_count] : 3 * view.face_count;
    uint32_t *id_of = malloc((count + 1) * sizeof(*id_of));
    l->count = count;
    l->ids = malloc((count + 1) * sizeof(*l->ids));
    l->first = calloc(h->count + 2, sizeof(*l->first));
    l->others = malloc((corners + 1) * sizeof(*l->others));
    done = done && id_of != NULL && l->ids != NULL && l->first != NULL && l->others != NULL &&
           view.vertex_count == count;
    const carom_vec3 *v = view.positions;
    for (uint32_t i = 0; i < count && done; ++i) {
        const carom_vec3 *at = bsearch(&v[i], h->points, h->count, sizeof(*v), before);
        done = at != NULL;
        if (done) id_of[i] = l->ids[i] = (uint32_t)(at - h->points);
    }
    for (int pass = 0; pass < 2 && done; ++pass) { /* every edge is in two faces, once each way */
        for (uint64_t f = 0; f < view.face_count; ++f) {
            uint64_t begin = view.offsets != NULL ? view.offsets[f] : 3 * f;
            uint64_t end = view.offsets != NULL ? view.offsets[f + 1] : 3 * f + 3;
            for (uint64_t k = begin; k < end; ++k) {
                uint32_t a = id_of[view.corners[k]];
                uint32_t b = id_of[view.corners[k + 1 < end ? k + 1 : begin]];
                if (pass == 0)
                    ++l->first[a + 2];
                else
                    l->others[l->first[a + 1]++] = b;
            }
        }
        if (pass == 0)
            for (uint32_t i = 2; i < h->count + 2; ++i) l->first[i] += l->first[i - 1];
    }
    free(id_of);
    carom_mesh_destroy(mesh);
    carom_hull_destroy(hull);
    return done;
}

static bool make_hierarchy(carom_context *context, carom_vec3 *points, uint32_t count,
                           hierarchy *h) {
    memset(h, 0, sizeof(*h));
    carom_vec3 *some = malloc(count * sizeof(*some));
    bool *gone = malloc(count * sizeof(*gone));
    qsort(points, count, sizeof(*points), before);
    h->points = points;
    h->count = count;
    if (some != NULL) memcpy(some, points, count * sizeof(*some));
    bool done = some != NULL && gone != NULL;
    for (uint32_t left = count; done && h->level_count < MOST_LEVELS;) {
        level *l = &h->levels[h->level_count++];
        done = make_level(context, h, some, left, l);
        if (left <= COARSEST || !done) break;
        memset(gone, 0, count * sizeof(*gone));
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left; ++i) {
            uint32_t id = l->ids[i], degree = l->first[id + 1] - l->first[id];
            bool free_of = degree <= MOST_DEGREE;
            for (uint32_t k = l->first[id]; k < l->first[id + 1]; ++k)
                free_of = free_of && !gone[l->others[k]];
            gone[id] = free_of;
        }
        for (uint32_t i = 0; i < left; ++i)
            if (!gone[l->ids[i]]) some[kept++] = points[l->ids[i]];
        if (kept == left) break;
        left = kept;
    }
    free(some);
    free(gone);
    return done;
}

static void free_hierarchy(hierarchy *h) {
    for (int i = 0; i < h->level_count; ++i) {
        free(h->levels[i].ids);
        free(h->levels[i].first);
        free(h->levels[i].others);
    }
}

/* The farther of a vertex and its neighbours in a level. */
static inline uint32_t step(hierarchy *h, const level *l, const carom_vec3 *d, uint32_t at,
                            double *value) {
    uint32_t best = at;
    for (uint32_t k = l->first[at]; k < l->first[at + 1]; ++k) {
        double other = dot(&h->points[l->others[k]], d);
        if (other > *value) *value = other, best = l->others[k];
    }
    h->looked += l->first[at + 1] - l->first[at];
    return best;
}

static carom_vec3 descend(void *user, const carom_vec3 *d) {
    hierarchy *h = user;
    const level *l = &h->levels[h->level_count - 1];
    uint32_t at = l->ids[0];
    double value = dot(&h->points[at], d);
    for (uint32_t i = 1; i < l->count; ++i) {
        double other = dot(&h->points[l->ids[i]], d);
        if (other > value) value = other, at = l->ids[i];
    }
    h->looked += l->count;
    for (int i = h->level_count - 2; i >= 0; --i) at = step(h, &h->levels[i], d, at, &value);
    return h->points[at];
}

static carom_vec3 climb(void *user, const carom_vec3 *d) {
    hierarchy *h = user;
    uint32_t at = h->last;
    double value = dot(&h->points[at], d);
    for (uint32_t next; (next = step(h, &h->levels[0], d, at, &value)) != at;) at = next;
    h->last = at;
    return h->points[at];
}

typedef struct query_input {
    carom_context *context;
    carom_convex shape[2];
    const carom_pose *poses; /* of B */
    double *distances;       /* the first contender's */
    bool is_first;
    hierarchy *counted; /* of A and of B, or NULL */
    uint64_t looked, supports;
} query_input;

static bool run_distances(void *input) {
    query_input *in = input;
    double worst = 0.0;
    in->supports = 0;
    if (in->counted != NULL) in->counted[0].looked = in->counted[1].looked = 0;
    for (uint32_t i = 0; i < POSES; ++i) {
        carom_convex_result r;
        if (carom_convex_distance(in->context, &in->shape[0], NULL, &in->shape[1], &in->poses[i],
                                  NULL, &r) != CAROM_OK)
            return false;
        if (in->is_first) in->distances[i] = r.distance;
        worst = fmax(worst, fabs(r.distance - in->distances[i]));
        in->supports += r.supports;
    }
    if (in->counted != NULL) in->looked = in->counted[0].looked + in->counted[1].looked;
    return worst < 1e-9;
}

static void measure(bench *bench, carom_context *context, uint32_t count) {
    static carom_pose poses[POSES];
    static double distances[POSES];
    carom_random random = {1983};
    carom_vec3 *points = malloc(count * sizeof(*points));
    hierarchy h[2] = {{0}}; /* of A and of B, which differ in the last vertex found */
    carom_hull *hull = NULL;
    char job[64];
    for (uint32_t i = 0; i < count && points != NULL; ++i) {
        carom_vec3 p = {carom_random_normal(&random), carom_random_normal(&random),
                        carom_random_normal(&random)};
        double length = sqrt(dot(&p, &p));
        points[i] = (carom_vec3){p.x / length, p.y / length, p.z / length};
    }
    for (uint32_t i = 0; i < POSES; ++i) {
        poses[i].q = (carom_quat){carom_random_normal(&random), carom_random_normal(&random),
                                  carom_random_normal(&random), carom_random_normal(&random)};
        poses[i].t = (carom_vec3){carom_random_normal(&random), carom_random_normal(&random),
                                  carom_random_normal(&random)};
        double s = carom_random_between(&random, 2.0, 2.1) / sqrt(dot(&poses[i].t, &poses[i].t));
        poses[i].t = (carom_vec3){poses[i].t.x * s, poses[i].t.y * s, poses[i].t.z * s};
    }
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = points, .vertex_count = count}};
    if (points != NULL && make_hierarchy(context, points, count, &h[0]) &&
        carom_hull_create(context, &def, &hull) == CAROM_OK) {
        static const char *const names[] = {"carom", "user, climbing", "user, Dobkin-Kirkpatrick"};
        query_input inputs[3];
        h[1] = h[0];
        bench_contender contenders[3];
        for (int i = 0; i < 3; ++i) {
            carom_convex s = {.kind = CAROM_CONVEX_KIND_SUPPORT,
                              .support = i == 1 ? climb : descend,
                              .support_user = &h[0],
                              .support_ball = {{0.0, 0.0, 0.0}, 1.0}};
            if (i == 0) s = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
            inputs[i] = (query_input){.context = context,
                                      .shape = {s, s},
                                      .poses = poses,
                                      .distances = distances,
                                      .is_first = i == 0,
                                      .counted = i > 0 ? h : NULL};
            inputs[i].shape[1].support_user = &h[1];
            contenders[i] = (bench_contender){names[i], NULL, run_distances, &inputs[i]};
        }
        snprintf(job, sizeof(job), "%u vertices", count);
        bench_compare(bench, job, POSES, contenders, 3);
        bench_note(
            bench,
            "%s: %d levels; vertices looked at per support point: %.1f climbing, %.1f in levels",
            job, h[0].level_count, (double)inputs[1].looked / (double)inputs[1].supports,
            (double)inputs[2].looked / (double)inputs[2].supports);
    }
    carom_hull_destroy(hull);
    free_hierarchy(&h[0]);
    free(points);
}

static void run(bench *bench) {
    static const uint32_t counts[] = {162, 642, 2562, 10242, 40962};
    carom_context_def def = *bench->def;
    carom_context *context;
    def.threads = 1;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    for (int i = 0; i < (bench->quick ? 2 : 5); ++i) measure(bench, context, counts[i]);
    carom_context_destroy(context);
}

const bench_group bench_dobkin = {36, "dobkin", "hulls: Dobkin and Kirkpatrick beside climbing",
                                  run};
