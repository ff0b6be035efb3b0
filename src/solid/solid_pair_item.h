/* SPDX-License-Identifier: MIT */
/* solid_pair_item.h: two triangles of two solids, from their corners to the terms of the overlap
 * (solid_item.h), in steps that CPU and GPU take alike; and the triangles that are added beside
 * prefix sums. */
#ifndef CAROM_SRC_SOLID_SOLID_PAIR_ITEM_H
#define CAROM_SRC_SOLID_SOLID_PAIR_ITEM_H

#include "geom/pose.h"
#include "solid/solid_item.h"

/* Two triangles whose boxes overlap. */
typedef struct carom_solid_encounter {
    carom_solid_plane planes[2]; /* of a, of b */
    carom_solid_sides sides[2];  /* of a's corners at b's plane, of b's at a's */
    int flat;                    /* one of the two has no area */
    carom_solid_intersection_segment m;
} carom_solid_encounter;

/* 0 when doubles prove that the triangles do not meet. */
CAROM_ITEM int carom_solid_may_meet(const carom_solid_face *a, const carom_solid_face *b,
                                    carom_solid_encounter *e) {
    e->planes[1] = carom_solid_plane_make(b->p);
    if (carom_solid_find_values(b->p, &e->planes[1], a->p, &e->sides[0])) return 0;
    e->planes[0] = carom_solid_plane_make(a->p);
    return !carom_solid_find_values(a->p, &e->planes[0], b->p, &e->sides[1]);
}

/* Decides the rest, exactly: for triangles that may meet. */
CAROM_ITEM void carom_solid_decide(const carom_solid_face *a, const carom_solid_face *b,
                                   const carom_solid_params *params, carom_solid_encounter *e) {
    carom_solid_intersection_segment *m = &e->m;
    memset(m, 0, sizeof(*m));
    carom_solid_find_signs(b->p, a->p, -params->moved_sign, &e->sides[0], &m->degenerate,
                           &m->undecided);
    carom_solid_find_signs(a->p, b->p, params->moved_sign, &e->sides[1], &m->degenerate,
                           &m->undecided);
    e->flat = e->sides[0].sign[0] == 0 || e->sides[1].sign[0] == 0;
    if (e->flat) return;
    if (!carom_solid_one_side(e->sides[0].sign) && !carom_solid_one_side(e->sides[1].sign))
        carom_solid_meet(a, &e->sides[0], b, &e->sides[1], params, m);
}

/* ---- Terms of an intersection ---------------------------------------------------------------- */

/* For a triangle with area. */
CAROM_ITEM int carom_solid_is_large(const carom_solid_params *params, const carom_solid_face *f,
                                    int of_b) {
    return params->large[of_b] < HUGE_VAL && carom_solid_extent(f->p) > params->large[of_b];
}

/* The counterpart of carom_solid_add_segment for large triangles. Each side is cut at its point
 * nearest to the origin. The winding numbers at its ends count from the ends to that point
 * (solid_pair.c), and a crossing counts from its own position to that point. */
CAROM_RARE_ITEM void carom_solid_add_large(double *terms, const carom_solid_face *f,
                                           carom_vec3 normal, carom_vec3 n,
                                           const carom_solid_intersection_segment *m, int of_b,
                                           carom_vec3 origin, const carom_solid_doubt *doubt) {
    carom_solid_anchors a = carom_solid_anchors_make(f, normal, origin);
    carom_solid_add_triangle(terms, n, a.c, m->ends[of_b].x, m->ends[1 - of_b].x, 1.0, of_b, doubt);
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &m->ends[i];
        if (end->of_b == of_b)
            carom_solid_add_triangle(terms, n, a.c, end->x, a.e[end->side], (double)end->change,
                                     of_b, doubt);
    }
}

/* The terms of two triangles that meet. */
CAROM_ITEM void carom_solid_add_encounter(double *terms, const carom_solid_face *a,
                                          const carom_solid_face *b,
                                          const carom_solid_params *params,
                                          carom_solid_encounter *e) {
    const carom_solid_intersection_segment *m = &e->m;
    carom_solid_doubt doubt = carom_solid_doubt_of(m);
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_solid_face *f = of_b ? b : a;
        double inverse;
        carom_vec3 n = carom_solid_direction(f->p, &e->planes[of_b], &inverse);
        doubt.off = carom_solid_off_plane(m, of_b, inverse);
        if (carom_solid_is_large(params, f, of_b))
            carom_solid_add_large(terms, f, e->planes[of_b].normal, n, m, of_b, params->origin,
                                  &doubt);
        else
            carom_solid_add_segment(terms, f, n, m, of_b, params->origin, &doubt);
    }
    for (int i = 0; i < 2; ++i)
        if (params->summed[m->ends[i].of_b])
            carom_solid_add_gap(terms, m->ends[i].x, m->ends[i].edge, m->ends[i].lever,
                                params->rounded[m->ends[i].of_b]);
}

/* ---- Descendants of a vertex ----------------------------------------------------------------- */

/* The tree edge that side `side` of f is: the vertex below it, and the change of the winding number
 * from there on down, for a change along the side. */
CAROM_ITEM uint32_t carom_solid_link(const carom_solid_face *f, int side, int *change) {
    uint32_t from = f->v[side], to = f->v[side == 2 ? 0 : side + 1];
    if (from >= to) *change = -*change;
    return CAROM_MAX(from, to);
}

/* Finds `weight` times a whole triangle, consistent with prefix sums: by its corners before the
 * pose. */
CAROM_ITEM void carom_solid_find_posed(double *terms, const carom_vec3 *corner,
                                       const carom_frame *frame, double power,
                                       const carom_solid_params *params, int of_b, int weight) {
    carom_vec3 u = carom_vec_scale(carom_frame_apply(frame, corner[1]), power);
    carom_vec3 arm = carom_vec_sub(corner[1], corner[0]);
    carom_vec3 direction = carom_vec_sub(corner[2], corner[1]);
    arm = carom_vec_scale(carom_frame_turn(frame, arm), power);
    direction = carom_vec_scale(carom_frame_turn(frame, direction), power);
    carom_solid_find_whole(terms, carom_vec_sub(u, params->origin), arm, direction, (double)weight,
                           of_b, params->rounded[of_b]);
}

/* Finds what the other solid's winding numbers at the corners of a triangle add, where triangles
 * are added one by one: of a large one for each corner, of others, with posed and rounded corners,
 * once. False: nothing. */
CAROM_ITEM bool carom_solid_find_changed(double *terms, const carom_solid_face *f,
                                         const carom_solid_params *params, const int32_t *windings,
                                         int of_b) {
    if (!carom_solid_is_large(params, f, of_b)) {
        carom_vec3 u = carom_vec_sub(f->p[1], params->origin);
        if (windings[1] == 0) return false;
        carom_solid_find_whole(terms, u, carom_vec_sub(f->p[1], f->p[0]),
                               carom_vec_sub(f->p[2], f->p[1]), (double)windings[1], of_b, 0.0);
        return true;
    }
    /* Without area it takes no part in crossings, which terms at its corners would need. */
    if (carom_orient_axis(f->p[0], f->p[1], f->p[2]) < 0) return false;
    carom_solid_plane plane = carom_solid_plane_make(f->p);
    double inverse;
    carom_vec3 n = carom_solid_direction(f->p, &plane, &inverse);
    carom_solid_anchors a = carom_solid_anchors_make(f, plane.normal, params->origin);
    carom_solid_doubt none;
    memset(&none, 0, sizeof(none));
    for (unsigned i = 0; i < CAROM_SOLID_SLOTS; ++i) terms[i] = 0.0;
    for (int j = 0; j < 3; ++j) {
        double w = (double)windings[j];
        if (windings[j] == 0) continue;
        carom_solid_add_triangle(terms, n, a.c, a.p[j], a.e[j], w, of_b, &none);
        carom_solid_add_triangle(terms, n, a.c, a.e[j == 0 ? 2 : j - 1], a.p[j], w, of_b, &none);
    }
    return true;
}

#endif
