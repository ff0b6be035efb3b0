/* SPDX-License-Identifier: MIT */
/* digest_item.h: everything the shared items say of one input, as one number.
 *
 * C and CUDA compile this same text. Digests of single inputs are added up, so that a kernel may
 * take them in any order; a difference in one bit of one answer changes the sum. */
#ifndef CAROM_TESTS_DIGEST_ITEM_H
#define CAROM_TESTS_DIGEST_ITEM_H

#include <string.h>

#include "geom/box.h"
#include "geom/distance_item.h"
#include "geom/enclosing_ball.h"
#include "geom/face_item.h"
#include "geom/lens.h"
#include "geom/triangle_box.h"

CAROM_ITEM uint64_t digest_word(uint64_t digest, uint64_t word) {
    uint64_t z = (digest ^ word) + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

CAROM_ITEM uint64_t digest_double(uint64_t digest, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return digest_word(digest, bits);
}

CAROM_ITEM uint64_t digest_vec(uint64_t digest, carom_vec3 v) {
    return digest_double(digest_double(digest_double(digest, v.x), v.y), v.z);
}

/* Signs and relations of two triangles: the exact stage alone, and the filter before it. */
CAROM_ITEM uint64_t digest_exact(const carom_triangle *a, const carom_triangle *b) {
    carom_triangle_intersection r = carom_triangle_relate_exact(a, b);
    int sign = carom_orient3d(a->corner[0], a->corner[1], a->corner[2], b->corner[0]);
    uint64_t digest = digest_word(0, (uint64_t)r.relation);
    digest = digest_word(digest, (uint64_t)(r.dimension + 1));
    digest = digest_word(digest, (uint64_t)(r.dimension_a * 4 + r.dimension_b));
    digest = digest_word(digest, (uint64_t)r.coplanar);
    return digest_word(digest, (uint64_t)(sign + 1));
}

CAROM_ITEM uint64_t digest_filter(const carom_triangle *a, const carom_triangle *b) {
    return digest_word(1, (uint64_t)(carom_triangle_filter(a, b) + 1));
}

/* Faces of one soup, with corners that are common where they are equal. */
CAROM_ITEM uint64_t digest_face(const carom_triangle *a, const carom_triangle *b) {
    uint32_t ia[3] = {0, 1, 2}, ib[3] = {3, 4, 5};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (carom_vec_compare(a->corner[i], b->corner[j]) == 0) ib[j] = ia[i];
    int degenerate = carom_face_degenerate(a) + 2 * carom_face_degenerate(b);
    uint64_t digest = digest_word(2, (uint64_t)degenerate);
    return degenerate != 0 ? digest
                           : digest_word(digest, (uint64_t)carom_face_pair(a, ia, b, ib, 0));
}

/* What is rounded: distances, balls, boxes, the lens. */
CAROM_ITEM uint64_t digest_rounded(const carom_triangle *a, const carom_triangle *b) {
    carom_closest closest;
    carom_ball ball_a, ball_b;
    carom_lens lens;
    carom_bounds bounds;
    carom_near_triangles(a->corner, b->corner, &closest);
    carom_ball_around_triangle(a->corner, &ball_a);
    carom_ball_around_triangle(b->corner, &ball_b);
    carom_lens_of_balls(&ball_a, &ball_b, &lens);
    carom_box box = carom_box_of_triangle(b, a->corner[0]);
    bounds.low = b->corner[0];
    bounds.high = carom_vec_add(b->corner[0], carom_vec(0.5, 0.25, 0.125));
    uint64_t digest = digest_double(3, closest.distance);
    digest = digest_vec(digest_vec(digest, closest.a), closest.b);
    digest = digest_double(digest_vec(digest, ball_a.centre), ball_a.radius);
    digest = digest_double(digest_vec(digest, lens.centre), lens.volume);
    for (int i = 0; i < 3; ++i)
        digest = digest_double(digest_double(digest, (double)box.low[i]), (double)box.high[i]);
    return digest_word(digest, carom_triangle_meets_bounds(a->corner, &bounds) ? 1 : 0);
}

CAROM_ITEM uint64_t digest_pair(const carom_triangle *a, const carom_triangle *b) {
    uint64_t digest = digest_word(digest_exact(a, b), digest_filter(a, b));
    return digest_word(digest_word(digest, digest_face(a, b)), digest_rounded(a, b));
}

#endif
