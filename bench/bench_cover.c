/* SPDX-License-Identifier: MIT */
/* Covers from outside beside the usual method: points of the solid are divided into clusters by
 * k-means (k-means++, then Lloyd's iterations to the end), and each cluster gets its smallest
 * enclosing ball. Those balls contain the points, not all of the solid; ours are proved to contain
 * it. Notes give how far each reaches out.
 *
 * Solids: shapes, and the closed parts of a robot where $CAROM_MODELS or ../shared/models has
 * scenes/panda_robot_parts.ply.gz. The last job covers all its parts, the open ones too, with 64
 * spheres each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define SURFACE_POINTS 12000u
#define INNER_POINTS   8000u
#define MOST_ROUNDS    100 /* of Lloyd's method: it has always ended before */

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
static uint64_t sample(carom_context *context, const carom_mesh_view *v, carom_vec3 *points) {
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
    carom_soup_def def = {.mesh = *v};
    carom_bounds box;
    if (carom_mesh_bounds(context, v, &box) != CAROM_OK ||
        carom_soup_create(context, &def, &soup) != CAROM_OK)
        return count;
    uint64_t most = count + INNER_POINTS;
    for (uint64_t tries = 0; tries < 16 * INNER_POINTS && count < most; ++tries) {
        carom_vec3 q = {carom_random_between(&random, box.low.x, box.high.x),
                        carom_random_between(&random, box.low.y, box.high.y),
                        carom_random_between(&random, box.low.z, box.high.z)};
        double winding;
        if (carom_soup_winding_fractions(context, soup, &q, 1, &winding) != CAROM_OK) break;
        if (fabs(winding) >= 0.5) points[count++] = q;
    }
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

static bool cover(void *input) {
    player *p = input;
    carom_cover_def def = {.mesh = p->view, .count = p->count, .allow_open = true};
    carom_cover *made;
    carom_cover_info info;
    if (carom_cover_create(p->context, &def, &made) != CAROM_OK) return false;
    bool good = carom_cover_get_info(p->context, made, &info) == CAROM_OK;
    p->measure = info.measure;
    carom_cover_destroy(made);
    return good;
}

/* ---- Solids ---------------------------------------------------------------------------------- */

static void compare(bench *bench, carom_context *context, const char *name,
                    const carom_mesh_view *view, const uint64_t *counts, int count) {
    carom_vec3 *points = malloc((SURFACE_POINTS + INNER_POINTS) * sizeof(*points));
    if (points == NULL) abort();
    uint64_t point_count = sample(context, view, points);
    for (int i = 0; i < count; ++i) {
        char job[64];
        carom_ball *balls = malloc(counts[i] * sizeof(*balls));
        if (balls == NULL) abort();
        player ours = {.context = context, .view = *view, .count = counts[i]}, others = ours;
        others.points = points;
        others.point_count = point_count;
        others.balls = balls;
        const bench_contender contenders[2] = {{"cover", NULL, cover, &ours},
                                               {"k-means", NULL, cluster, &others}};
        snprintf(job, sizeof(job), "%s, %llu", name, (unsigned long long)counts[i]);
        bench_compare(bench, job, (double)counts[i], contenders, 2);
        if (carom_cover_measure_spheres(context, view, true, balls, counts[i], &others.measure) ==
            CAROM_OK) {
            const carom_cover_measure *a = &ours.measure, *b = &others.measure;
            bench_note(bench,
                       "%s: worst %.4g, k-means %.4g, ratio %.3f; mean %.4g, %.4g, ratio %.3f; "
                       "outside %.3f, %.3f of the volume",
                       job, a->worst, b->worst, a->worst / b->worst, a->mean, b->mean,
                       a->mean / b->mean, a->outside_volume / a->solid_volume,
                       b->outside_volume / b->solid_volume);
        }
        free(balls);
    }
    free(points);
}

static const uint64_t counts[3] = {16, 64, 256};

static void compare_shapes(bench *bench, carom_context *context) {
    static const carom_shape shapes[] = {CAROM_SHAPE_KNOT, CAROM_SHAPE_BOX, CAROM_SHAPE_CYLINDER,
                                         CAROM_SHAPE_CHAZELLE};
    for (int i = 0; i < (bench->quick ? 1 : 4); ++i) {
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_shape_def def = {.shape = shapes[i], .detail = 32};
        if (carom_shape_make(context, &def, &mesh) != CAROM_OK) continue;
        if (carom_mesh_get_view(mesh, &view) == CAROM_OK)
            compare(bench, context, carom_shape_name(shapes[i]), &view, counts,
                    bench->quick ? 1 : 3);
        carom_mesh_destroy(mesh);
    }
}

/* The faces of one part, welded; NULL: no memory. */
static carom_mesh *take_part(carom_context *context, const carom_mesh_view *all, uint32_t part) {
    carom_mesh *welded = NULL;
    carom_mesh_view one = *all;
    uint32_t *corners = malloc(3 * all->face_count * sizeof(*corners));
    if (corners == NULL) return NULL;
    one.face_count = 0;
    for (uint64_t f = 0; f < all->face_count; ++f)
        if (all->parts[f] == part)
            memcpy(corners + 3 * one.face_count++, all->corners + 3 * f, 3 * sizeof(*corners));
    one.corners = corners;
    one.parts = NULL;
    one.part_names = NULL;
    one.part_count = 0;
    one.properties = NULL;
    one.property_count = 0;
    (void)carom_mesh_weld(context, &one, &welded);
    free(corners);
    return welded;
}

typedef struct robot {
    carom_context *context;
    carom_mesh **parts;
    uint64_t count;
} robot;

static bool cover_robot(void *input) {
    const robot *r = input;
    bool good = true;
    for (uint64_t i = 0; i < r->count && good; ++i) {
        player p = {.context = r->context, .count = 64};
        good = carom_mesh_get_view(r->parts[i], &p.view) == CAROM_OK && cover(&p);
    }
    return good;
}

static void compare_parts(bench *bench, carom_context *context) {
    char path[1024];
    const char *folder = getenv("CAROM_MODELS");
    carom_mesh *mesh;
    carom_mesh_view all;
    snprintf(path, sizeof(path), "%s/scenes/panda_robot_parts.ply.gz",
             folder != NULL ? folder : "../shared/models");
    if (carom_mesh_load(context, path, &mesh) != CAROM_OK) {
        bench_note(bench, "%s is not there: parts of a robot are left out", path);
        return;
    }
    if (carom_mesh_get_view(mesh, &all) != CAROM_OK || all.offsets != NULL) {
        carom_mesh_destroy(mesh);
        return;
    }
    robot r = {context, calloc(all.part_count, sizeof(*r.parts)), 0};
    for (uint32_t i = 0; i < all.part_count && r.parts != NULL; ++i) {
        carom_mesh *part = take_part(context, &all, i);
        if (part != NULL) r.parts[r.count++] = part;
    }
    for (uint64_t i = 0; i < r.count; ++i) {
        carom_mesh_view view;
        carom_mesh_report report;
        char name[32];
        snprintf(name, sizeof(name), "panda %llu", (unsigned long long)i);
        if (carom_mesh_get_view(r.parts[i], &view) == CAROM_OK &&
            carom_mesh_inspect(context, &view, &report) == CAROM_OK && report.closed)
            compare(bench, context, name, &view, counts, 3);
    }
    const bench_contender whole = {"cover", NULL, cover_robot, &r};
    bench_compare(bench, "panda, 64 per part", 64.0 * (double)r.count, &whole, 1);
    for (uint64_t i = 0; i < r.count; ++i) carom_mesh_destroy(r.parts[i]);
    free(r.parts);
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
