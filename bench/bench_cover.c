/* SPDX-License-Identifier: MIT */
/* Covers from outside beside the usual method: points of the solid are divided into clusters by
 * k-means (k-means++, then Lloyd's iterations to the end), and each cluster gets its smallest
 * enclosing ball. Those balls contain the points, not all of the solid; ours are proved to contain
 * it. So notes compare with two: the enclosing balls as they are, and grown until they contain all
 * faces. They also give a bound that no cover can be below, which says something for flat solids.
 *
 * Solids: shapes, and the parts of a robot where $CAROM_MODELS or ../shared/models has
 * scenes/panda_robot_parts.ply.gz. What is covered of an open part are its faces, so clusters are
 * of points of the faces; of the others, of points of the surface and of the inside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define SURFACE_POINTS 12000u
#define INNER_POINTS   8000u
#define TRIED          8000u /* points at a time, of the box, for those of the inside */
#define MOST_ROUNDS    100   /* of Lloyd's method: it has always ended before */

typedef struct player {
    carom_context *context;
    carom_mesh_view view;
    uint64_t count;
    const carom_vec3 *points;
    uint64_t point_count;
    carom_ball *balls; /* of k-means */
    carom_cover_measure measure;
} player;

/* ---- Points of a solid ----------------------------------------------------------------------- */

static carom_vec3 position(const carom_mesh_view *v, uint64_t vertex) {
    if (v->scalar == CAROM_SCALAR_FLOAT32) {
        const float *p = (const float *)v->positions + 3 * vertex;
        return (carom_vec3){(double)p[0], (double)p[1], (double)p[2]};
    }
    const double *p = (const double *)v->positions + 3 * vertex;
    return (carom_vec3){p[0], p[1], p[2]};
}

static double area_of(const carom_vec3 *p) {
    double ux = p[1].x - p[0].x, uy = p[1].y - p[0].y, uz = p[1].z - p[0].z;
    double vx = p[2].x - p[0].x, vy = p[2].y - p[0].y, vz = p[2].z - p[0].z;
    double x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    return 0.5 * sqrt(x * x + y * y + z * z);
}

static void corners_of(const carom_mesh_view *v, uint64_t face, carom_vec3 *p) {
    for (int i = 0; i < 3; ++i) p[i] = position(v, v->corners[3 * face + (uint64_t)i]);
}

/* Random points: of the surface by area, and of the inside, in which rays tell by winding numbers.
 */
static uint64_t sample(carom_context *context, const carom_mesh_view *v, bool closed,
                       carom_vec3 *points) {
    carom_random random = {1};
    uint64_t count = 0;
    double area = 0.0, so_far = 0.0;
    carom_vec3 p[3];
    for (uint64_t f = 0; f < v->face_count; ++f) {
        corners_of(v, f, p);
        area += area_of(p);
    }
    for (uint64_t f = 0; f < v->face_count; ++f) {
        corners_of(v, f, p);
        so_far += area_of(p);
        while (count < SURFACE_POINTS && ((double)count + 0.5) * area < so_far * SURFACE_POINTS) {
            double a = carom_random_uniform(&random), b = carom_random_uniform(&random);
            if (a + b > 1.0) {
                a = 1.0 - a;
                b = 1.0 - b;
            }
            points[count++] = (carom_vec3){p[0].x + a * (p[1].x - p[0].x) + b * (p[2].x - p[0].x),
                                           p[0].y + a * (p[1].y - p[0].y) + b * (p[2].y - p[0].y),
                                           p[0].z + a * (p[1].z - p[0].z) + b * (p[2].z - p[0].z)};
        }
    }
    carom_soup *soup = NULL;
    carom_soup_def def = {.mesh = v};
    carom_bounds box;
    if (!closed) return count;
    if (carom_mesh_bounds(context, v, &box) != CAROM_OK ||
        carom_soup_create(context, &def, &soup) != CAROM_OK)
        return count;
    uint64_t most = count + INNER_POINTS;
    carom_vec3 *tried = malloc(TRIED * sizeof(*tried));
    double *windings = malloc(TRIED * sizeof(*windings));
    if (tried == NULL || windings == NULL) abort();
    for (uint64_t tries = 0; tries < 16 * INNER_POINTS && count < most; tries += TRIED) {
        for (uint64_t i = 0; i < TRIED; ++i)
            tried[i] = (carom_vec3){carom_random_between(&random, box.low.x, box.high.x),
                                    carom_random_between(&random, box.low.y, box.high.y),
                                    carom_random_between(&random, box.low.z, box.high.z)};
        if (carom_soup_winding_fractions(context, soup, tried, TRIED, windings) != CAROM_OK) break;
        for (uint64_t i = 0; i < TRIED && count < most; ++i)
            if (fabs(windings[i]) >= 0.5) points[count++] = tried[i];
    }
    free(tried);
    free(windings);
    carom_soup_destroy(soup);
    return count;
}

/* ---- k-means --------------------------------------------------------------------------------- */

static double square(const carom_vec3 *a, const carom_vec3 *b) {
    double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
    return x * x + y * y + z * z;
}

/* Centres that are far from each other, with a probability by the square of the distance (Arthur,
 * Vassilvitskii 2007). */
static void choose_centres(const player *p, carom_vec3 *centres, double *nearest) {
    carom_random random = {7};
    for (uint64_t i = 0; i < p->point_count; ++i) nearest[i] = HUGE_VAL;
    for (uint64_t k = 0; k < p->count; ++k) {
        uint64_t next = carom_random_next(&random) % p->point_count;
        double sum = 0.0;
        for (uint64_t i = 0; i < p->point_count && k > 0; ++i) sum += nearest[i];
        double left = carom_random_uniform(&random) * sum;
        for (uint64_t i = 0; i < p->point_count && k > 0; ++i)
            if ((left -= nearest[i]) < 0.0) {
                next = i;
                break;
            }
        centres[k] = p->points[next];
        for (uint64_t i = 0; i < p->point_count; ++i) {
            double d = square(&p->points[i], &centres[k]);
            nearest[i] = d < nearest[i] ? d : nearest[i];
        }
    }
}

static bool assign(const player *p, const carom_vec3 *centres, uint32_t *owners) {
    bool changed = false;
    for (uint64_t i = 0; i < p->point_count; ++i) {
        uint32_t best = 0;
        double least = HUGE_VAL;
        for (uint64_t k = 0; k < p->count; ++k) {
            double d = square(&p->points[i], &centres[k]);
            if (d < least) {
                least = d;
                best = (uint32_t)k;
            }
        }
        changed = changed || owners[i] != best;
        owners[i] = best;
    }
    return changed;
}

static void average(const player *p, const uint32_t *owners, carom_vec3 *centres) {
    for (uint64_t k = 0; k < p->count; ++k) {
        carom_vec3 sum = {0.0, 0.0, 0.0};
        double count = 0.0;
        for (uint64_t i = 0; i < p->point_count; ++i) {
            if (owners[i] != k) continue;
            sum = (carom_vec3){sum.x + p->points[i].x, sum.y + p->points[i].y,
                               sum.z + p->points[i].z};
            count += 1.0;
        }
        if (count > 0.0) centres[k] = (carom_vec3){sum.x / count, sum.y / count, sum.z / count};
    }
}

static bool cluster(void *input) {
    player *p = input;
    carom_vec3 *centres = malloc((p->count + p->point_count) * sizeof(*centres));
    double *nearest = malloc(p->point_count * sizeof(*nearest));
    uint32_t *owners = malloc(p->point_count * sizeof(*owners));
    if (centres == NULL || nearest == NULL || owners == NULL) abort();
    carom_vec3 *own = centres + p->count;
    choose_centres(p, centres, nearest);
    memset(owners, 0xFF, p->point_count * sizeof(*owners));
    for (int i = 0; i < MOST_ROUNDS && assign(p, centres, owners); ++i) average(p, owners, centres);
    for (uint64_t k = 0; k < p->count; ++k) {
        uint64_t count = 0;
        for (uint64_t i = 0; i < p->point_count; ++i)
            if (owners[i] == k) own[count++] = p->points[i];
        p->balls[k] =
            count != 0 ? carom_ball_of_points_value(own, count) : (carom_ball){centres[k], 0.0};
    }
    free(centres);
    free(nearest);
    free(owners);
    return true;
}

/* ---- Balls that cover ------------------------------------------------------------------------ */

#define PIECE                                                                                      \
    0.05 /* longest side of a piece of a face, of the root of a ball's part of the area            \
          */

/* Balls of others, grown until they contain all faces: each piece of a face that no ball contains
 * goes to the one that it sticks out of least. */
typedef struct growing {
    const carom_ball *balls;
    double *radii;
    uint64_t count;
    double longest; /* of pieces, squared */
} growing;

static void contain(growing *g, const carom_vec3 *p) {
    double least = HUGE_VAL, needed = 0.0;
    uint64_t best = 0;
    for (uint64_t k = 0; k < g->count && least > 0.0; ++k) {
        const carom_ball *ball = &g->balls[k];
        double limit = least + ball->radius, far = square(&p[0], &ball->centre);
        if (far >= limit * limit) continue;
        for (int i = 1; i < 3; ++i) far = fmax(square(&p[i], &ball->centre), far);
        double away = sqrt(far);
        if (away - ball->radius >= least) continue;
        least = away - ball->radius;
        best = k;
        needed = away;
    }
    g->radii[best] = fmax(needed, g->radii[best]);
}

static void divide_piece(growing *g, const carom_vec3 *p) {
    int longest = 0;
    for (int i = 1; i < 3; ++i)
        if (square(&p[i], &p[(i + 1) % 3]) > square(&p[longest], &p[(longest + 1) % 3]))
            longest = i;
    const carom_vec3 *a = &p[longest], *b = &p[(longest + 1) % 3], *c = &p[(longest + 2) % 3];
    if (square(a, b) <= g->longest) {
        contain(g, p);
        return;
    }
    carom_vec3 middle = {0.5 * (a->x + b->x), 0.5 * (a->y + b->y), 0.5 * (a->z + b->z)};
    const carom_vec3 first[3] = {*a, middle, *c}, second[3] = {middle, *b, *c};
    divide_piece(g, first);
    divide_piece(g, second);
}

static void grow(const player *p, carom_ball *grown) {
    double *radii = calloc(p->count, sizeof(*radii)), area = 0.0;
    carom_vec3 corners[3];
    if (radii == NULL) abort();
    for (uint64_t f = 0; f < p->view.face_count; ++f) {
        corners_of(&p->view, f, corners);
        area += area_of(corners);
    }
    growing g = {p->balls, radii, p->count, PIECE * PIECE * area / (double)p->count};
    for (uint64_t f = 0; f < p->view.face_count; ++f) {
        corners_of(&p->view, f, corners);
        divide_piece(&g, corners);
    }
    for (uint64_t k = 0; k < p->count; ++k)
        grown[k] = (carom_ball){p->balls[k].centre, fmax(radii[k], p->balls[k].radius)};
    free(radii);
}

/* ---- What no cover can do -------------------------------------------------------------------- */

#define PIXELS 400 /* along each side: areas are right to about 1 % */

/* Seen along a direction, a solid has an area A, and it lies between two planes at a distance t.
 * Spheres that cover it are discs that cover A: one of them has a radius r with n pi r^2 >= A. It
 * reaches beyond one of the planes by r - t/2 or more. */
static double least_along(const carom_mesh_view *v, double u[3][3], uint64_t n) {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    unsigned char *seen = calloc(PIXELS, PIXELS);
    carom_vec3 corners[3];
    double p[3][3], covered = 0.0;
    if (seen == NULL) abort();
    for (int pass = 0; pass < 2; ++pass)
        for (uint64_t f = 0; f < v->face_count; ++f) {
            corners_of(v, f, corners);
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 3; ++k) {
                    p[i][k] =
                        u[k][0] * corners[i].x + u[k][1] * corners[i].y + u[k][2] * corners[i].z;
                    if (pass == 0) low[k] = fmin(p[i][k], low[k]);
                    if (pass == 0) high[k] = fmax(p[i][k], high[k]);
                }
            if (pass == 0) continue;
            double scale[2] = {PIXELS / (high[0] - low[0]), PIXELS / (high[1] - low[1])};
            int from[2], to[2];
            for (int k = 0; k < 2; ++k) {
                for (int i = 0; i < 3; ++i) p[i][k] = (p[i][k] - low[k]) * scale[k];
                from[k] = (int)fmax(fmin(fmin(p[0][k], p[1][k]), p[2][k]), 0.0);
                to[k] = (int)fmin(fmax(fmax(p[0][k], p[1][k]), p[2][k]), PIXELS - 1);
            }
            for (int y = from[1]; y <= to[1]; ++y)
                for (int x = from[0]; x <= to[0]; ++x) {
                    int positive = 0, negative = 0;
                    for (int i = 0; i < 3; ++i) {
                        const double *a = p[i], *b = p[(i + 1) % 3];
                        double side =
                            (b[0] - a[0]) * (y + 0.5 - a[1]) - (b[1] - a[1]) * (x + 0.5 - a[0]);
                        positive += side > 0.0;
                        negative += side < 0.0;
                    }
                    if (positive == 0 || negative == 0) seen[y * PIXELS + x] = 1;
                }
        }
    for (int i = 0; i < PIXELS * PIXELS; ++i) covered += seen[i];
    free(seen);
    double area = covered / (PIXELS * PIXELS) * (high[0] - low[0]) * (high[1] - low[1]);
    return sqrt(area / (3.14159265358979323846 * (double)n)) - 0.5 * (high[2] - low[2]);
}

/* The best of that along the axes and across the largest face; 0: they say nothing. */
static double least_worst(const carom_mesh_view *v, uint64_t n) {
    double u[4][3][3] = {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
                         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
                         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double largest = 0.0, least = 0.0;
    carom_vec3 p[3], best[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}};
    for (uint64_t f = 0; f < v->face_count; ++f) {
        corners_of(v, f, p);
        if (area_of(p) <= largest) continue;
        largest = area_of(p);
        memcpy(best, p, sizeof(best));
    }
    double(*w)[3] = u[3];
    for (int k = 0; k < 2; ++k) { /* Gram and Schmidt */
        w[k][0] = best[k + 1].x - best[0].x;
        w[k][1] = best[k + 1].y - best[0].y;
        w[k][2] = best[k + 1].z - best[0].z;
        double along = k == 0 ? 0.0 : w[0][0] * w[1][0] + w[0][1] * w[1][1] + w[0][2] * w[1][2];
        for (int i = 0; i < 3 && k == 1; ++i) w[1][i] -= along * w[0][i];
        double length = sqrt(w[k][0] * w[k][0] + w[k][1] * w[k][1] + w[k][2] * w[k][2]);
        for (int i = 0; i < 3; ++i) w[k][i] /= length;
    }
    for (int i = 0; i < 3; ++i)
        w[2][i] = w[0][(i + 1) % 3] * w[1][(i + 2) % 3] - w[0][(i + 2) % 3] * w[1][(i + 1) % 3];
    for (int i = 0; i < 4; ++i) least = fmax(least_along(v, u[i], n), least);
    return least;
}

static bool cover(void *input) {
    player *p = input;
    carom_cover_def def = {.mesh = &p->view, .count = p->count, .allow_open = true};
    carom_cover *made;
    carom_cover_info info;
    if (carom_cover_create(p->context, &def, &made) != CAROM_OK) return false;
    bool good = carom_cover_get_info(made, &info) == CAROM_OK;
    p->measure = info.measure;
    carom_cover_destroy(made);
    return good;
}

/* ---- Solids ---------------------------------------------------------------------------------- */

#define COUNTS 3
static const uint64_t counts[COUNTS] = {16, 64, 256};
static const double wanted_worst = 2.0 / 3.0, wanted_mean = 3.0 / 4.0; /* of that of k-means */

/* For how many solids covers reach out as little as wanted, of those of one kind and count. */
typedef struct totals {
    uint32_t solids, worst, mean, grown_worst, grown_mean;
} totals;

static void count_in(totals *t, const carom_cover_measure *ours, const carom_cover_measure *raw,
                     const carom_cover_measure *grown) {
    ++t->solids;
    t->worst += ours->worst.value <= wanted_worst * raw->worst.value;
    t->mean += ours->mean <= wanted_mean * raw->mean;
    t->grown_worst += ours->worst.value <= wanted_worst * grown->worst.value;
    t->grown_mean += ours->mean <= wanted_mean * grown->mean;
}

/* Measures balls of others as they are and grown, and says how they compare. */
static void judge(bench *bench, const char *job, const player *ours, const player *others,
                  totals *totals) {
    carom_cover_measure raw, grown;
    carom_ball *balls = malloc(others->count * sizeof(*balls));
    if (balls == NULL) abort();
    grow(others, balls);
    const carom_cover_measure *m = &ours->measure;
    const carom_cover_def def = {.mesh = &ours->view, .allow_open = true};
    if (carom_cover_measure_spheres(ours->context, &def, others->balls, others->count, &raw) ==
            CAROM_OK &&
        carom_cover_measure_spheres(ours->context, &def, balls, others->count, &grown) ==
            CAROM_OK) {
        double worst = m->worst.value, of_raw = raw.worst.value, of_grown = grown.worst.value;
        bench_note(bench,
                   "%s: worst %.4g, k-means %.4g, grown %.4g, ratios %.3f, %.3f, of any cover at "
                   "least %.3f; mean %.4g, %.4g, %.4g, ratios %.3f, %.3f",
                   job, worst, of_raw, of_grown, worst / of_raw, worst / of_grown,
                   least_worst(&ours->view, ours->count) / of_raw, m->mean, raw.mean, grown.mean,
                   m->mean / raw.mean, m->mean / grown.mean);
        if (totals != NULL) count_in(totals, m, &raw, &grown);
    }
    free(balls);
}

/* `all_totals`, one for each count: each method runs once, and the seconds of covers are added to
 * `seconds`. NULL: rounds are timed. */
static void compare(bench *bench, carom_context *context, const char *name,
                    const carom_mesh_view *view, bool closed, int count, totals *all_totals,
                    double *seconds) {
    carom_vec3 *points = malloc((SURFACE_POINTS + INNER_POINTS) * sizeof(*points));
    carom_ball *balls = malloc(counts[COUNTS - 1] * sizeof(*balls));
    if (points == NULL || balls == NULL) abort();
    uint64_t point_count = sample(context, view, closed, points);
    for (int i = 0; i < count; ++i) {
        char job[64];
        player ours = {.context = context, .view = *view, .count = counts[i]}, others = ours;
        others.points = points;
        others.point_count = point_count;
        others.balls = balls;
        snprintf(job, sizeof(job), "%s, %llu", name, (unsigned long long)counts[i]);
        bool good = true;
        if (all_totals == NULL) {
            const bench_contender contenders[2] = {{"cover", NULL, cover, &ours},
                                                   {"k-means", NULL, cluster, &others}};
            bench_compare(bench, job, (double)counts[i], contenders, 2);
        } else {
            double start = carom_time_seconds();
            good = cover(&ours);
            seconds[i] += carom_time_seconds() - start;
            (void)cluster(&others);
        }
        if (good) judge(bench, job, &ours, &others, all_totals != NULL ? &all_totals[i] : NULL);
    }
    free(points);
    free(balls);
}

static void compare_shapes(bench *bench, carom_context *context) {
    static const carom_shape shapes[] = {CAROM_SHAPE_KNOT, CAROM_SHAPE_BOX, CAROM_SHAPE_CYLINDER,
                                         CAROM_SHAPE_CHAZELLE};
    for (int i = 0; i < (bench->quick ? 1 : 4); ++i) {
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_shape_def def = {.shape = shapes[i], .detail = 32};
        if (carom_shape_make(context, &def, &mesh) != CAROM_OK) continue;
        if (carom_mesh_get_view(mesh, &view) == CAROM_OK)
            compare(bench, context, carom_shape_name(shapes[i]), &view, true,
                    bench->quick ? 1 : COUNTS, NULL, NULL);
        carom_mesh_destroy(mesh);
    }
}

/* The faces of one part with their vertices alone, welded; NULL: no memory. */
static carom_mesh *take_part(carom_context *context, const carom_mesh_view *all, uint32_t part) {
    carom_mesh *welded = NULL;
    uint32_t *corners = malloc(3 * all->face_count * sizeof(*corners));
    uint32_t *indices = malloc(all->vertex_count * sizeof(*indices));
    carom_vec3 *positions = malloc(all->vertex_count * sizeof(*positions));
    if (corners == NULL || indices == NULL || positions == NULL) abort();
    carom_mesh_view one = {.positions = positions, .corners = corners};
    memset(indices, 0xFF, all->vertex_count * sizeof(*indices));
    for (uint64_t f = 0; f < all->face_count; ++f) {
        if (all->parts[f] != part) continue;
        for (int i = 0; i < 3; ++i) {
            uint32_t vertex = all->corners[3 * f + (uint64_t)i];
            if (indices[vertex] == UINT32_MAX) {
                positions[one.vertex_count] = position(all, vertex);
                indices[vertex] = (uint32_t)one.vertex_count++;
            }
            corners[3 * one.face_count + (uint64_t)i] = indices[vertex];
        }
        ++one.face_count;
    }
    (void)carom_mesh_weld(context, &one, &welded);
    free(corners);
    free(indices);
    free(positions);
    return welded;
}

static void compare_parts(bench *bench, carom_context *context) {
    char path[1024];
    const char *folder = getenv("CAROM_MODELS");
    carom_mesh *mesh;
    carom_mesh_view all;
    snprintf(path, sizeof(path), "%s/scenes/panda_robot_parts.ply.gz",
             folder != NULL ? folder : "../shared/models");
    if (carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh) != CAROM_OK) {
        bench_note(bench, "%s is not there: parts of a robot are left out", path);
        return;
    }
    if (carom_mesh_get_view(mesh, &all) != CAROM_OK || all.offsets != NULL) {
        carom_mesh_destroy(mesh);
        return;
    }
    totals all_totals[2][COUNTS] = {{{0}}};
    double seconds[COUNTS] = {0.0};
    for (uint32_t i = 0; i < all.part_count; ++i) {
        carom_mesh *part = take_part(context, &all, i);
        carom_mesh_view view;
        carom_mesh_report report;
        char name[32];
        if (part != NULL && carom_mesh_get_view(part, &view) == CAROM_OK &&
            carom_mesh_inspect(context, &view, &report) == CAROM_OK) {
            snprintf(name, sizeof(name), "panda %u%s", i, report.closed ? "" : ", open");
            compare(bench, context, name, &view, report.closed, COUNTS, all_totals[!report.closed],
                    seconds);
        }
        carom_mesh_destroy(part);
    }
    for (int open = 0; open < 2; ++open)
        for (int i = 0; i < COUNTS; ++i) {
            const totals *t = &all_totals[open][i];
            bench_note(bench,
                       "%u %s parts, %llu each: worst at most 2/3 of k-means' for %u (grown %u), "
                       "mean at most 3/4 for %u (grown %u)",
                       t->solids, open ? "open" : "closed", (unsigned long long)counts[i], t->worst,
                       t->grown_worst, t->mean, t->grown_mean);
        }
    bench_note(bench, "all %llu parts with 16, 64, 256 spheres each: %.1f s, %.1f s, %.1f s",
               (unsigned long long)all.part_count, seconds[0], seconds[1], seconds[2]);
    carom_mesh_destroy(mesh);
}

static void run(bench *bench) {
    carom_context *context;
    if (carom_context_create(bench->def, &context) != CAROM_OK) return;
    compare_shapes(bench, context);
    if (!bench->quick) compare_parts(bench, context);
    carom_context_destroy(context);
}

const bench_group bench_cover = {69, "cover", "covers from outside beside k-means", run};
