/* SPDX-License-Identifier: MIT */
/* Directions along which one mesh may get out of another by a short way. No list has the best one
 * of all pairs; these are the ones that designers would try first:
 *
 *   principal axes   of the corners of both meshes and of the curve in which they cross, and their
 *                    opposites: a rod goes out sideways, a plate across its plane
 *   face normals     of the largest areas of each mesh: out through a wall of a, or away from one
 *                    of b's
 *   axes             of the world, and their opposites
 *
 * Directions that are nearly equal are listed once. Corners are scaled by a power of two, so that
 * results scale with the input exactly. */
#include "geom/length.h"
#include "geom/principal.h"
#include "scene/scene.h"
#include "soup/soup_view.h"

#define SCENE_SAME_DIRECTION 0x1p-20 /* 1 - cosine: directions 0.08 degrees apart are one */
#define SCENE_SAME_NORMAL    0x1p-9  /* the same, 3.6 degrees: faces of one wall of a round part */
#define SCENE_MOST_NORMALS   32u     /* of one mesh, whose areas are summed up */
#define SCENE_LARGEST        6u      /* of these, the ones that are tried: those of a box */
#define SCENE_MOST_TRIANGLES 4096u   /* that are looked at, evenly among all: some 0.2 ms */

void carom_scene_candidates_add(carom_scene_candidates *list, carom_vec3 direction) {
    carom_vec3 n = carom_vec_unit(direction);
    if (carom_vec_largest(n) == 0.0 || list->count == CAROM_SCENE_MOST_CANDIDATES) return;
    for (uint32_t i = 0; i < list->count; ++i)
        if (carom_vec_dot(list->data[i], n) >= 1.0 - SCENE_SAME_DIRECTION) return;
    list->data[list->count++] = n;
}

static void scene_add_both(carom_scene_candidates *list, carom_vec3 direction) {
    carom_scene_candidates_add(list, direction);
    carom_scene_candidates_add(list, carom_vec_scale(direction, -1.0));
}

/* ---- Principal axes -------------------------------------------------------------------------- */

/* Sums over points relative to one of them, in units of a power of two. */
typedef struct scene_spread {
    carom_vec3 origin;
    double unit;
    carom_spread sums;
} scene_spread;

static void scene_spread_add(scene_spread *s, carom_vec3 p) {
    carom_vec3 v = carom_vec_scale(carom_vec_sub(p, s->origin), s->unit);
    carom_spread_add(&s->sums, v.x, v.y, v.z);
}

static void scene_add_axes(carom_scene_candidates *list, const scene_spread *s) {
    if (s->sums.count < 2) return;
    double axes[3][3];
    carom_spread_axes(&s->sums, axes);
    for (int i = 0; i < 3; ++i) scene_add_both(list, carom_vec(axes[i][0], axes[i][1], axes[i][2]));
}

/* As an exponent of two, of units: they and their inverses are normal numbers. */
#define SCENE_UNIT_EXPONENT 1000

/* A power of two by which lengths of that size become about 1. */
static double scene_unit_of(const carom_bounds *box) {
    double extent =
        (box->high.x - box->low.x) + (box->high.y - box->low.y) + (box->high.z - box->low.z);
    if (!(extent > 0.0)) return 1.0;
    int exponent = carom_exponent(extent);
    return carom_power_of_two(
        CAROM_MAX(CAROM_MIN(-exponent, SCENE_UNIT_EXPONENT), -SCENE_UNIT_EXPONENT));
}

static void scene_add_corners(carom_scene_candidates *list, const carom_scene_object *o) {
    carom_soup_view view;
    carom_frame f = carom_frame_make(&o->pose);
    carom_soup_get_view(o->soup, &view);
    if (view.vertex_count == 0) return;
    scene_spread s = {.origin = carom_soup_view_position(&view, 0), .unit = scene_unit_of(&o->box)};
    uint64_t step = view.vertex_count / SCENE_MOST_TRIANGLES + 1;
    scene_spread_add(&s, s.origin);
    for (uint64_t v = step; v < view.vertex_count; v += step)
        scene_spread_add(&s, carom_soup_view_position(&view, (uint32_t)v));
    carom_scene_candidates own = {.count = 0};
    scene_add_axes(&own, &s);
    for (uint32_t i = 0; i < own.count; ++i)
        carom_scene_candidates_add(list, carom_frame_turn(&f, own.data[i]));
}

static void scene_add_curve(carom_scene_candidates *list, const carom_scene_object *a,
                            const carom_soup_segments *curve) {
    if (curve->count == 0) return;
    scene_spread s = {.origin = curve->data[0].p, .unit = scene_unit_of(&a->box)};
    for (uint64_t i = 0; i < curve->count; ++i) {
        scene_spread_add(&s, curve->data[i].p);
        scene_spread_add(&s, curve->data[i].q);
    }
    scene_add_axes(list, &s);
}

/* ---- Face normals ---------------------------------------------------------------------------- */

typedef struct scene_wall {
    carom_vec3 sum; /* of the normals, as long as twice the areas */
    double area;
} scene_wall;

static void scene_wall_add(scene_wall *walls, uint32_t *count, carom_vec3 normal, double area) {
    for (uint32_t i = 0; i < *count; ++i) {
        double along = carom_vec_dot(walls[i].sum, normal);
        if (along < (1.0 - SCENE_SAME_NORMAL) * carom_vec_length(walls[i].sum) * area) continue;
        walls[i].sum = carom_vec_add(walls[i].sum, normal);
        walls[i].area += area;
        return;
    }
    if (*count < SCENE_MOST_NORMALS) walls[(*count)++] = (scene_wall){normal, area};
}

/* The normals of the largest areas of a mesh, times `sign`. */
static void scene_add_normals(carom_scene_candidates *list, const carom_scene_object *o,
                              double sign) {
    scene_wall walls[SCENE_MOST_NORMALS];
    uint32_t count = 0;
    carom_soup_view view;
    carom_frame f = carom_frame_make(&o->pose);
    carom_soup_get_view(o->soup, &view);
    double unit = scene_unit_of(&o->box);
    uint64_t step = view.triangle_count / SCENE_MOST_TRIANGLES + 1;
    for (uint64_t i = 0; i < view.triangle_count; i += step) {
        carom_triangle t = carom_soup_view_triangle(&view, i);
        carom_vec3 u = carom_vec_scale(carom_vec_sub(t.corner[1], t.corner[0]), unit);
        carom_vec3 v = carom_vec_scale(carom_vec_sub(t.corner[2], t.corner[0]), unit);
        carom_vec3 n = carom_vec_cross(u, v);
        double area = carom_vec_length(n);
        if (area > 0.0) scene_wall_add(walls, &count, n, area);
    }
    for (uint32_t k = 0; k < SCENE_LARGEST && k < count; ++k) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < count; ++i)
            if (walls[i].area > walls[best].area) best = i;
        scene_wall swap = walls[k];
        walls[k] = walls[best];
        walls[best] = swap;
        carom_scene_candidates_add(list, carom_vec_scale(carom_frame_turn(&f, walls[k].sum), sign));
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

carom_vec3 carom_scene_between(const carom_scene_object *a, const carom_scene_object *b) {
    const carom_bounds *x = &a->box, *y = &b->box;
    carom_vec3 from = carom_vec(0.5 * x->low.x + 0.5 * x->high.x, 0.5 * x->low.y + 0.5 * x->high.y,
                                0.5 * x->low.z + 0.5 * x->high.z);
    carom_vec3 to = carom_vec(0.5 * y->low.x + 0.5 * y->high.x, 0.5 * y->low.y + 0.5 * y->high.y,
                              0.5 * y->low.z + 0.5 * y->high.z);
    carom_vec3 n = carom_vec_unit(carom_vec_sub(to, from));
    return carom_vec_largest(n) == 0.0 ? carom_vec(1.0, 0.0, 0.0) : n;
}

void carom_scene_directions(const carom_scene_object *a, const carom_scene_object *b,
                            carom_vec3 *directions) {
    for (int i = 1; i < CAROM_SCENE_DIRECTIONS; ++i) {
        directions[i] = carom_vec(0.0, 0.0, 0.0);
        (&directions[i].x)[(i - 1) / 2] = i % 2 == 1 ? 1.0 : -1.0;
    }
    directions[0] = carom_scene_between(a, b);
}

void carom_scene_candidates_find(const carom_scene_object *a, const carom_scene_object *b,
                                 const carom_soup_segments *curve, carom_scene_candidates *list) {
    carom_vec3 directions[CAROM_SCENE_DIRECTIONS];
    scene_add_corners(list, a);
    scene_add_corners(list, b);
    scene_add_curve(list, a, curve);
    scene_add_normals(list, a, 1.0);
    scene_add_normals(list, b, -1.0);
    carom_scene_directions(a, b, directions);
    for (int i = 0; i < CAROM_SCENE_DIRECTIONS; ++i)
        carom_scene_candidates_add(list, directions[i]);
}
