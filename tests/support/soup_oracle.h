/* SPDX-License-Identifier: MIT */
/* soup_oracle.h: two soups compared triangle by triangle, and small soups to compare.
 *
 * Nothing is shared with the search: no trees, no boxes, no frames but the written formula of a
 * pose. The exact test of two triangles has an oracle of its own (test_triangle.c). */
#ifndef CAROM_TESTS_SOUP_ORACLE_H
#define CAROM_TESTS_SOUP_ORACLE_H

#include <math.h>
#include <string.h>

#include "geom/distance_item.h"
#include "geom/face_item.h"
#include "geom/pose.h"
#include "tests/support/test.h"

#define ORACLE_MOST_VERTICES 96
#define ORACLE_MOST_FACES    320

typedef struct oracle_soup {
    double positions[ORACLE_MOST_VERTICES][3];
    float floats[ORACLE_MOST_VERTICES][3];
    uint32_t corners[ORACLE_MOST_FACES][3];
    uint32_t vertex_count, face_count;
    bool as_segments;
} oracle_soup;

static inline uint64_t oracle_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline double oracle_unit(uint64_t *state) {
    return (double)(oracle_next(state) >> 11) * 0x1p-53;
}

static inline uint32_t oracle_below(uint64_t *state, uint32_t end) {
    return (uint32_t)(oracle_next(state) % end);
}

/* Vertices on a lattice of `size` steps a side, faces between any of them: every kind of contact
 * and degeneracy is common. */
static inline void oracle_make(uint64_t *state, uint32_t faces, uint32_t size, double scale,
                               double offset, oracle_soup *soup) {
    soup->vertex_count = faces == 0 ? oracle_below(state, 3) : 3 + oracle_below(state, faces + 3);
    soup->vertex_count =
        soup->vertex_count < ORACLE_MOST_VERTICES ? soup->vertex_count : ORACLE_MOST_VERTICES;
    soup->face_count = faces;
    for (uint32_t v = 0; v < soup->vertex_count; ++v) {
        for (int k = 0; k < 3; ++k) {
            double x = (double)oracle_below(state, size) - 0.5 * (double)(size - 1);
            soup->positions[v][k] = x * scale + offset;
            soup->floats[v][k] = (float)soup->positions[v][k];
        }
    }
    for (uint32_t f = 0; f < faces; ++f)
        for (int k = 0; k < 3; ++k) soup->corners[f][k] = oracle_below(state, soup->vertex_count);
    soup->as_segments = false;
}

static inline carom_triangle oracle_triangle(const oracle_soup *soup, uint32_t face,
                                             const carom_pose *pose) {
    carom_frame frame = carom_frame_make(pose);
    carom_triangle t;
    for (int i = 0; i < 3; ++i) {
        const double *p = soup->positions[soup->corners[face][i]];
        t.corner[i] = carom_frame_apply(&frame, carom_vec(p[0], p[1], p[2]));
    }
    return t;
}

/* Faces without area, as given, take part only as segments. */
static inline bool oracle_takes_part(const oracle_soup *soup, uint32_t face) {
    carom_triangle t = oracle_triangle(soup, face, NULL);
    return soup->as_segments || !carom_face_degenerate(&t);
}

typedef struct oracle_answer {
    carom_pair pairs[ORACLE_MOST_FACES * ORACLE_MOST_FACES];
    uint64_t count;
    double distance;
    carom_pair nearest; /* when none meet */
} oracle_answer;

static inline void oracle_compare(const oracle_soup *a, const carom_pose *pose_a,
                                  const oracle_soup *b, const carom_pose *pose_b,
                                  oracle_answer *answer) {
    answer->count = 0;
    answer->distance = HUGE_VAL;
    answer->nearest = (carom_pair){CAROM_NONE, CAROM_NONE};
    for (uint32_t i = 0; i < a->face_count; ++i) {
        carom_triangle ta = oracle_triangle(a, i, pose_a);
        if (!oracle_takes_part(a, i)) continue;
        for (uint32_t j = 0; j < b->face_count; ++j) {
            if (!oracle_takes_part(b, j)) continue;
            carom_triangle tb = oracle_triangle(b, j, pose_b);
            carom_closest closest;
            if (carom_triangle_meet(&ta, &tb)) answer->pairs[answer->count++] = (carom_pair){i, j};
            carom_near_triangles(ta.corner, tb.corner, &closest);
            if (closest.distance < answer->distance) {
                answer->distance = closest.distance;
                answer->nearest = (carom_pair){i, j};
            }
        }
    }
    if (answer->count != 0) answer->distance = 0.0;
}

/* A quaternion of small whole numbers, which turns the lattice onto itself or nearly so, or any. */
static inline carom_pose oracle_pose(uint64_t *state, double scale) {
    carom_pose p;
    memset(&p, 0, sizeof(p));
    uint32_t kind = oracle_below(state, 4);
    if (kind == 1) {
        p.q.w = (double)oracle_below(state, 2);
        p.q.x = (double)oracle_below(state, 2);
        p.q.y = (double)oracle_below(state, 2);
        p.q.z = (double)oracle_below(state, 2);
    } else if (kind != 0) {
        p.q.w = oracle_unit(state) - 0.5;
        p.q.x = oracle_unit(state) - 0.5;
        p.q.y = oracle_unit(state) - 0.5;
        p.q.z = oracle_unit(state) - 0.5;
    }
    double step = kind == 3 ? oracle_unit(state) : 1.0;
    p.t.x = ((double)oracle_below(state, 9) - 4.0) * step * scale;
    p.t.y = ((double)oracle_below(state, 9) - 4.0) * step * scale;
    p.t.z = ((double)oracle_below(state, 5) - 2.0) * step * scale;
    return p;
}

#endif
