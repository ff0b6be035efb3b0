/* SPDX-License-Identifier: MIT */
/* Times of impact: vertices and faces, edges and edges, one by one on published queries (where they
 * are) and on generated ones, beside FCL; convex hulls, beside FCL and Bullet; all impacts of one
 * frame of a cloth beside its pairs. One core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/peers.h"
#include "bench/soup.h"

/* ---- Single decisions ------------------------------------------------------------------------ */

typedef struct query {
    carom_vec3 start[4], end[4];
    bool edges, hit;
} query;

typedef struct queries {
    query *all;
    uint64_t count, capacity;
    uint64_t hits;
} queries;

static bool add_query(queries *q, const carom_vec3 *points, bool edges, bool hit) {
    if (q->count == q->capacity) {
        uint64_t capacity = 2 * q->capacity + 1024;
        query *all = realloc(q->all, capacity * sizeof(*all));
        if (all == NULL) return false;
        q->all = all;
        q->capacity = capacity;
    }
    query *to = &q->all[q->count++];
    memcpy(to->start, points, sizeof(to->start));
    memcpy(to->end, points + 4, sizeof(to->end));
    to->edges = edges;
    to->hit = hit;
    q->hits += hit;
    return true;
}

/* Eight rows per query: three quotients of integers, and the answer. */
static void read_queries(queries *q, const char *set, bool edges, int file) {
    char name[128], path[4096], line[512];
    snprintf(name, sizeof(name), "../ccd-queries/%s/%s/data_0_%d.csv", set,
             edges ? "edge-edge" : "vertex-face", file);
    soup_input_path(name, path, sizeof(path));
    FILE *text = fopen(path, "r");
    if (text == NULL) return;
    carom_vec3 points[8];
    for (int row = 0; fgets(line, sizeof(line), text) != NULL; ++row) {
        char *at = line;
        double x[7];
        for (int i = 0; i < 7; ++i) {
            x[i] = strtod(at, &at);
            at += *at == ',';
        }
        points[row % 8] = (carom_vec3){x[0] / x[1], x[2] / x[3], x[4] / x[5]};
        if (row % 8 == 7 && !add_query(q, points, edges, x[6] != 0.0)) break;
    }
    fclose(text);
}

static bool run_queries(void *input) {
    const queries *q = input;
    bool right = true;
    for (uint64_t i = 0; i < q->count; ++i) {
        const query *one = &q->all[i];
        carom_toi toi = one->edges ? carom_segments_toi_value(one->start, one->end)
                                   : carom_point_triangle_toi_value(one->start, one->end);
        right = right && toi.hit == one->hit;
    }
    return right;
}

static bool run_advances(void *input) {
    const queries *q = input;
    bool right = true;
    for (uint64_t i = 0; i < q->count; ++i) {
        const query *one = &q->all[i];
        carom_advance found = one->edges
                                  ? carom_segments_advance_value(one->start, one->end, NULL)
                                  : carom_point_triangle_advance_value(one->start, one->end, NULL);
        right = right && found.hit == one->hit;
    }
    return right;
}

/* What a peer answered. */
typedef struct peer_queries {
    const queries *q;
    peer_toi_fn *call;
    uint64_t missed, invented; /* hits, and misses reported as hits */
} peer_queries;

static bool run_peer(void *input) {
    peer_queries *p = input;
    p->missed = p->invented = 0;
    for (uint64_t i = 0; i < p->q->count; ++i) {
        const query *one = &p->q->all[i];
        double time = 0.0;
        bool hit = p->call(&one->start[0].x, &one->end[0].x, one->edges, &time);
        p->missed += one->hit && !hit;
        p->invented += hit && !one->hit;
    }
    return p->missed + p->invented == 0;
}

static void measure_queries(bench *bench, const char *name, queries *q) {
    if (q->count == 0) return;
    peer_queries fcl = {q, (peer_toi_fn *)bench_peer("peer_fcl_toi"), 0, 0};
    bench_contender contenders[3] = {{"carom", NULL, run_queries, q},
                                     {"advancement", NULL, run_advances, q},
                                     {"FCL", NULL, run_peer, &fcl}};
    uint32_t row = bench->row_count;
    bench_compare(bench, name, (double)q->count, contenders, fcl.call != NULL ? 3 : 2);
    if (fcl.call != NULL)
        bench_note(bench, "%s: FCL misses %llu of %llu hits and reports %llu of %llu misses", name,
                   (unsigned long long)fcl.missed, (unsigned long long)q->hits,
                   (unsigned long long)fcl.invented, (unsigned long long)(q->count - q->hits));
    bench_note(bench, "%s: %llu decisions, %llu hits; %.2f million per second, by advancement %.2f",
               name, (unsigned long long)q->count, (unsigned long long)q->hits,
               1e-6 * (double)q->count / bench->rows[row].cpu_seconds,
               1e-6 * (double)q->count / bench->rows[row + 1].cpu_seconds);
    free(q->all);
    *q = (queries){0};
}

static void measure_published(bench *bench) {
    static const char *const sets[] = {
        "unit-tests",          "erleben-cube-cliff-edges", "erleben-sliding-spike",
        "erleben-spike-crack", "erleben-spike-wedge",      "erleben-wedge-crack"};
    queries q = {0};
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 4; ++k) read_queries(&q, sets[i], k / 2 == 1, k % 2);
    measure_queries(bench, "published queries", &q);
}

/* Random motions, about a third of them hits; the answers are those of the first run. */
static void measure_random(bench *bench) {
    carom_random random = {1};
    queries q = {0};
    for (int i = 0; i < 20000; ++i) {
        carom_vec3 points[8];
        for (int k = 0; k < 24; ++k) (&points[0].x)[k] = carom_random_between(&random, -1.0, 1.0);
        bool edges = i % 2 == 1;
        carom_toi toi = edges ? carom_segments_toi_value(points, points + 4)
                              : carom_point_triangle_toi_value(points, points + 4);
        if (!add_query(&q, points, edges, toi.hit)) break;
    }
    measure_queries(bench, "random motions", &q);
}

/* ---- Hulls ----------------------------------------------------------------------------------- */

#define MOTIONS     1000
#define HULL_POINTS 64
#define SAMPLES     200  /* of each motion: what meets in one is a hit for sure */
#define LATE        1e-3 /* of the time, later than our answer, which is never late */

typedef struct hull_motions {
    carom_context *context;
    carom_hull *hulls[2];
    carom_mesh *meshes[2];
    carom_convex shapes[2];
    carom_convex_moving_pair all[MOTIONS];
    peer_pose peer[MOTIONS][2]; /* of b; a stays where it is */
    bool hit[MOTIONS], meets[MOTIONS];
    double time[MOTIONS];
    uint64_t steps, hits;
} hull_motions;

static carom_quat random_turn(carom_random *random) {
    double q[4], length = 0.0;
    for (int i = 0; i < 4; ++i) {
        q[i] = carom_random_normal(random);
        length += q[i] * q[i];
    }
    length = sqrt(length);
    return (carom_quat){q[0] / length, q[1] / length, q[2] / length, q[3] / length};
}

static bool make_hulls(hull_motions *m) {
    for (int i = 0; i < 2; ++i) {
        carom_vec3 points[HULL_POINTS];
        carom_random random = {100 + (uint64_t)i};
        for (int k = 0; k < HULL_POINTS; ++k) {
            double *p = &points[k].x, length = 0.0;
            for (int j = 0; j < 3; ++j) {
                p[j] = carom_random_normal(&random);
                length += p[j] * p[j];
            }
            for (int j = 0; j < 3; ++j) p[j] /= sqrt(length);
        }
        carom_hull_def def = {
            .mesh = &(carom_mesh_view){.positions = points, .vertex_count = HULL_POINTS}};
        if (carom_hull_create(m->context, &def, &m->hulls[i]) != CAROM_OK ||
            carom_hull_to_mesh(m->context, m->hulls[i], &m->meshes[i]) != CAROM_OK)
            return false;
        m->shapes[i] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = m->hulls[i]};
    }
    return true;
}

/* Turned on by less than an eighth of a turn about an axis of its own: Bullet's motions do not turn
 * farther. */
static carom_quat turned(carom_quat q, carom_random *random) {
    double angle = carom_random_between(random, -0.75, 0.75), s = sin(0.5 * angle);
    double w = cos(0.5 * angle), x = s * q.x, y = s * q.y, z = s * q.z; /* an axis of any kind */
    double length = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double t[3] = {y / length, z / length, x / length};
    return (carom_quat){w * q.w - t[0] * q.x - t[1] * q.y - t[2] * q.z,
                        w * q.x + t[0] * q.w + t[1] * q.z - t[2] * q.y,
                        w * q.y - t[0] * q.z + t[1] * q.w + t[2] * q.x,
                        w * q.z + t[0] * q.y - t[1] * q.x + t[2] * q.w};
}

/* From three away to anywhere near, or past it. */
static void make_motions(hull_motions *m) {
    carom_random random = {7};
    for (int i = 0; i < MOTIONS; ++i) {
        carom_quat from = random_turn(&random);
        carom_motion motion = {.from = {.q = from}, .to = {.q = turned(from, &random)}};
        for (int k = 0; k < 3; ++k) {
            (&motion.from.t.x)[k] = k == 0 ? -3.0 : carom_random_between(&random, -1.5, 1.5);
            (&motion.to.t.x)[k] = carom_random_between(&random, -3.0, 3.0);
        }
        m->all[i] =
            (carom_convex_moving_pair){.a = &m->shapes[0], .b = &m->shapes[1], .motion_b = motion};
        for (int k = 0; k < 2; ++k) {
            const carom_pose *p = k == 0 ? &motion.from : &motion.to;
            m->peer[i][k] = (peer_pose){{p->q.w, p->q.x, p->q.y, p->q.z}, {p->t.x, p->t.y, p->t.z}};
        }
        for (int k = 0; k <= SAMPLES && !m->meets[i]; ++k) {
            carom_pose pose;
            (void)carom_motion_evaluate(m->context, &motion, (double)k / SAMPLES, &pose);
            (void)carom_convex_meet(m->context, &m->shapes[0], NULL, &m->shapes[1], &pose, NULL,
                                    &m->meets[i]);
        }
    }
}

static bool run_hulls(void *input) {
    hull_motions *m = input;
    bool right = true;
    m->steps = m->hits = 0;
    for (int i = 0; i < MOTIONS; ++i) {
        carom_advance_def def = {.tolerance = 1e-6};
        carom_advance toi;
        if (carom_convex_advance(m->context, m->all[i].a, NULL, m->all[i].b, &m->all[i].motion_b,
                                 &def, &toi) != CAROM_OK)
            return false;
        m->hit[i] = toi.hit;
        m->time[i] = toi.time;
        m->steps += toi.steps;
        m->hits += toi.hit;
        right = right && (toi.hit || !m->meets[i]);
    }
    return right;
}

typedef struct peer_motions {
    const hull_motions *m;
    peer_hulls_toi_fn *call;
    void *prepared[2];
    uint64_t missed, invented, late;
} peer_motions;

static bool run_peer_hulls(void *input) {
    static const peer_pose rest[2] = {{{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                                      {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    peer_motions *p = input;
    p->missed = p->invented = p->late = 0;
    for (int i = 0; i < MOTIONS; ++i) {
        double time = 0.0;
        bool hit = p->call(p->prepared[0], rest, p->prepared[1], p->m->peer[i], &time);
        p->missed += p->m->meets[i] && !hit;
        p->invented += hit && !p->m->hit[i];
        p->late += hit && p->m->hit[i] && time > p->m->time[i] + LATE;
    }
    return p->missed + p->invented + p->late == 0;
}

static bool find_peer(const hull_motions *m, const char *library, peer_motions *p) {
    char symbol[64];
    *p = (peer_motions){.m = m};
    snprintf(symbol, sizeof(symbol), "peer_%s_hulls_toi", library);
    p->call = (peer_hulls_toi_fn *)bench_peer(symbol);
    snprintf(symbol, sizeof(symbol), "peer_%s_hull_prepare", library);
    peer_hull_prepare_fn *prepare = (peer_hull_prepare_fn *)bench_peer(symbol);
    if (p->call == NULL || prepare == NULL) return false;
    for (int i = 0; i < 2; ++i) {
        carom_mesh_view view;
        if (carom_mesh_get_view(m->meshes[i], &view) != CAROM_OK) return false;
        p->prepared[i] =
            prepare(&(peer_hull){view.positions, view.corners, view.vertex_count, view.face_count});
    }
    return true;
}

static void release_peer(const char *library, peer_motions *p) {
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "peer_%s_hull_release", library);
    peer_release_fn *release = (peer_release_fn *)bench_peer(symbol);
    for (int i = 0; i < 2; ++i)
        if (p->prepared[i] != NULL && release != NULL) release(p->prepared[i]);
}

static void measure_hulls(bench *bench, carom_context *context) {
    static const char *const libraries[2] = {"fcl", "bullet"};
    static const char *const names[2] = {"FCL", "Bullet (float)"};
    hull_motions *m = calloc(1, sizeof(*m));
    if (m == NULL) return;
    m->context = context;
    if (make_hulls(m)) {
        peer_motions peers[2];
        bench_contender contenders[3] = {{"carom", NULL, run_hulls, m}};
        uint32_t count = 1;
        make_motions(m);
        for (int i = 0; i < 2; ++i)
            if (find_peer(m, libraries[i], &peers[i]))
                contenders[count++] = (bench_contender){names[i], NULL, run_peer_hulls, &peers[i]};
        bench_compare(bench, "motions of hulls", MOTIONS, contenders, count);
        bench_note(bench, "motions of hulls: %d, %llu hits, %.1f steps each", MOTIONS,
                   (unsigned long long)m->hits, (double)m->steps / MOTIONS);
        for (int i = 0; i < 2; ++i) {
            if (peers[i].call != NULL)
                bench_note(
                    bench,
                    "motions of hulls: %s misses %llu hits, reports %llu misses, and is late "
                    "by more than %g in %llu",
                    names[i], (unsigned long long)peers[i].missed,
                    (unsigned long long)peers[i].invented, LATE, (unsigned long long)peers[i].late);
            release_peer(libraries[i], &peers[i]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        carom_hull_destroy(m->hulls[i]);
        carom_mesh_destroy(m->meshes[i]);
    }
    free(m);
}

/* ---- Rigid soups ----------------------------------------------------------------------------- */

#define SOUP_MOTIONS 40

typedef struct soup_motions {
    carom_context *context;
    carom_soup *soup;
    carom_motion all[SOUP_MOTIONS];
    uint64_t hits, steps;
} soup_motions;

static bool run_soups(void *input) {
    soup_motions *m = input;
    m->hits = m->steps = 0;
    for (int i = 0; i < SOUP_MOTIONS; ++i) {
        carom_advance toi;
        if (carom_soup_cross_advance(m->context, m->soup, NULL, m->soup, &m->all[i], NULL, &toi) !=
            CAROM_OK)
            return false;
        m->hits += toi.hit;
        m->steps += toi.steps;
    }
    return true;
}

/* A torus and itself, from three away to anywhere near, turning by up to half a turn. */
static void measure_soups(bench *bench, carom_context *context) {
    soup_motions m = {.context = context};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 60};
    carom_random random = {9};
    for (int i = 0; i < SOUP_MOTIONS; ++i) {
        m.all[i].to.q = random_turn(&random);
        for (int k = 0; k < 3; ++k) {
            (&m.all[i].from.t.x)[k] = k == 0 ? 3.0 : carom_random_between(&random, -1.0, 1.0);
            (&m.all[i].to.t.x)[k] = carom_random_between(&random, -3.0, 3.0);
        }
    }
    if (carom_shape_make(context, &def, &mesh) == CAROM_OK &&
        carom_mesh_get_view(mesh, &view) == CAROM_OK &&
        carom_soup_create(context, &(carom_soup_def){.mesh = &view, .rigid = true}, &m.soup) ==
            CAROM_OK) {
        bench_contender contender = {"carom", NULL, run_soups, &m};
        bench_compare(bench, "motions of tori", SOUP_MOTIONS, &contender, 1);
        bench_note(bench, "motions of tori: %llu triangles each, %d motions, %llu hits, %.1f steps",
                   (unsigned long long)view.face_count, SOUP_MOTIONS, (unsigned long long)m.hits,
                   (double)m.steps / SOUP_MOTIONS);
    }
    carom_soup_destroy(m.soup);
    carom_mesh_destroy(mesh);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct frame {
    carom_context *context;
    soup_input input;
    float *end;
    carom_mesh_view to;
    carom_soup *soup;
    carom_pairs pairs;
    carom_soup_impacts impacts;
    carom_soup_near_pairs near;
    double edge;  /* mean length */
    double reach; /* of what is near */
    double *safe; /* of each vertex */
} frame;

/* From raw arrays to the list of pairs, as a frame of a simulation needs it. */
static bool run_pairs(void *input) {
    frame *f = input;
    return carom_soup_update(f->context, f->soup, &f->input.view) == CAROM_OK &&
           carom_soup_self_pairs(f->context, f->soup, &f->pairs) == CAROM_OK;
}

static bool run_impacts(void *input) {
    frame *f = input;
    return carom_soup_self_impacts(f->context, f->soup, &f->to, &f->impacts) == CAROM_OK;
}

static bool run_first(void *input) {
    frame *f = input;
    carom_soup_impact first;
    return carom_soup_self_first_impact(f->context, f->soup, &f->to, &first) == CAROM_OK;
}

static bool run_near(void *input) {
    frame *f = input;
    return carom_soup_self_near(f->context, f->soup, f->reach, &f->near) == CAROM_OK;
}

static bool run_step(void *input) {
    frame *f = input;
    carom_soup_step step;
    return carom_soup_self_safe_step(f->context, f->soup, &f->to, 0.0, &step) == CAROM_OK;
}

static bool run_distances(void *input) {
    frame *f = input;
    return carom_soup_self_safe_distances(f->context, f->soup, f->reach, 0.0, f->safe) == CAROM_OK;
}

/* How the vertices of a sheet move. */
typedef enum frame_motion {
    MOTION_SMOOTH, /* along sines of the position, by up to `edges` edges */
    MOTION_RANDOM, /* each by `edges` mean edges in a direction of its own */
    MOTION_PHASES, /* the waves of a cloth advance, by `edges` mean edges in the mean */
    MOTION_WHOLE   /* a flat grid, by `edges` mean edges in one direction */
} frame_motion;

static const char *const motion_names[] = {"", ", at random", ", waves", ", as a whole"};

/* By how much the waves of the cloth advance so that a vertex of `detail` cells moves by one mean
 * edge in the mean, in radians times cells; measured at 224. */
#define ADVANCE_PER_EDGE (0.122694 * 224.0)

/* What is near, in mean edges: simulations keep layers of cloth a part of an edge apart. */
#define REACH_EDGES 0.25

static double mean_edge(const soup_input *input) {
    double sum = 0.0;
    for (uint64_t t = 0; t < input->raw.triangle_count; ++t)
        for (int i = 0; i < 3; ++i) {
            const float *p = input->raw.positions + 3 * input->raw.corners[3 * t + (uint64_t)i];
            const float *q =
                input->raw.positions + 3 * input->raw.corners[3 * t + (uint64_t)(i + 1) % 3];
            double x = (double)q[0] - (double)p[0], y = (double)q[1] - (double)p[1];
            double z = (double)q[2] - (double)p[2];
            sum += sqrt(x * x + y * y + z * z);
        }
    return sum / (3.0 * (double)input->raw.triangle_count);
}

/* Where vertex v ends. */
static void move_vertex(const frame *f, frame_motion motion, double length, carom_random *random,
                        uint64_t v) {
    const float *p = f->input.raw.positions + 3 * v;
    double d[3] = {0.48 * length, 0.6 * length, 0.64 * length}; /* a unit vector's multiples */
    if (motion == MOTION_SMOOTH)
        for (int k = 0; k < 3; ++k)
            d[k] = length * sin(7.0 * (double)p[(k + 1) % 3] + 3.0 * k) *
                   cos(5.0 * (double)p[(k + 2) % 3]);
    if (motion == MOTION_RANDOM) {
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            d[k] = carom_random_normal(random);
            square += d[k] * d[k];
        }
        for (int k = 0; k < 3; ++k) d[k] *= length / sqrt(square);
    }
    for (int k = 0; k < 3; ++k) f->end[3 * v + (uint64_t)k] = (float)((double)p[k] + d[k]);
}

static bool advance_waves(frame *f, carom_shape_def def, double edges) {
    soup_input later;
    def.phase = edges * ADVANCE_PER_EDGE / (double)def.detail;
    if (!soup_input_make(f->context, &def, &later)) return false;
    memcpy(f->end, later.raw.positions, 3 * f->input.raw.vertex_count * sizeof(float));
    soup_input_free(&later);
    return true;
}

static bool begin_frame(frame *f, carom_context *context, uint64_t detail, frame_motion motion,
                        double edges) {
    carom_shape_def def = {.shape = motion == MOTION_WHOLE ? CAROM_SHAPE_GRID : CAROM_SHAPE_CLOTH,
                           .detail = detail,
                           .scalar = CAROM_SCALAR_FLOAT32};
    *f = (frame){.context = context};
    if (!soup_input_make(context, &def, &f->input)) return false;
    uint64_t count = f->input.raw.vertex_count;
    f->end = malloc(3 * count * sizeof(float));
    f->safe = malloc(count * sizeof(double));
    if (f->end == NULL || f->safe == NULL) return false;
    f->edge = mean_edge(&f->input);
    f->reach = REACH_EDGES * f->edge;
    carom_random random = {7};
    double length =
        motion == MOTION_SMOOTH ? edges * f->input.size / (double)detail : edges * f->edge;
    if (motion == MOTION_PHASES) {
        if (!advance_waves(f, def, edges)) return false;
    } else {
        for (uint64_t v = 0; v < count; ++v) move_vertex(f, motion, length, &random, v);
    }
    f->to = (carom_mesh_view){
        .positions = f->end, .scalar = CAROM_SCALAR_FLOAT32, .vertex_count = count};
    return carom_soup_create(context, &(carom_soup_def){.mesh = &f->input.view}, &f->soup) ==
           CAROM_OK;
}

static void end_frame(frame *f) {
    carom_pairs_free(&f->pairs);
    carom_soup_impacts_free(&f->impacts);
    carom_soup_near_pairs_free(&f->near);
    carom_soup_destroy(f->soup);
    free(f->end);
    free(f->safe);
    soup_input_free(&f->input);
}

static void measure_frame(bench *bench, carom_context *context, uint64_t detail,
                          frame_motion motion, double edges) {
    frame f;
    char job[64];
    carom_work work = {0};
    if (begin_frame(&f, context, detail, motion, edges)) {
        bench_contender contenders[6] = {
            {"pairs", NULL, run_pairs, &f},        {"impacts", NULL, run_impacts, &f},
            {"first impact", NULL, run_first, &f}, {"safe step", NULL, run_step, &f},
            {"near", NULL, run_near, &f},          {"safe distances", NULL, run_distances, &f}};
        snprintf(
            job, sizeof(job), "%s %lluk, %g edges%s", motion == MOTION_WHOLE ? "grid" : "cloth",
            (unsigned long long)(f.input.raw.triangle_count / 1000), edges, motion_names[motion]);
        uint32_t row = bench->row_count;
        /* what is near does not depend on the motion */
        bench_compare(bench, job, (double)f.input.raw.triangle_count, contenders,
                      motion == MOTION_PHASES ? 6 : 3);
        if (run_impacts(&f) && carom_context_get_work(context, &work) == CAROM_OK)
            bench_note(bench,
                       "%s: %llu decisions, %llu in integers, %llu impacts; %.1f million decisions "
                       "per second, all other work included",
                       job, (unsigned long long)work.candidates, (unsigned long long)work.undecided,
                       (unsigned long long)f.impacts.count,
                       1e-6 * (double)work.candidates / bench->rows[row + 1].cpu_seconds);
        if (motion == MOTION_PHASES)
            bench_note(bench, "%s: %llu pairs of features are within %g mean edges", job,
                       (unsigned long long)f.near.count, REACH_EDGES);
    }
    end_frame(&f);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context;
    measure_published(bench);
    measure_random(bench);
    if (carom_context_create(&def, &context) == CAROM_OK) {
        measure_hulls(bench, context);
        measure_soups(bench, context);
        uint64_t detail = bench->quick ? 40 : 224;
        measure_frame(bench, context, detail, MOTION_SMOOTH, 0.2);
        if (!bench->quick) measure_frame(bench, context, detail, MOTION_SMOOTH, 1.0);
        for (int motion = MOTION_RANDOM; motion <= MOTION_WHOLE; ++motion)
            measure_frame(bench, context, detail, (frame_motion)motion, 1.0);
    }
    carom_context_destroy(context);
    static const char *const peers[] = {"peer_fcl_toi_name", "peer_bullet_toi_name"};
    for (int i = 0; i < 2; ++i) {
        peer_name_fn *name = (peer_name_fn *)bench_peer(peers[i]);
        if (name != NULL) bench_note(bench, "%s", name());
    }
}

const bench_group bench_toi = {46, "toi", "times of impact", run};
