/* SPDX-License-Identifier: MIT */
/* solid_terms.h: what two tetrahedra with a common apex have in common, in integers.
 *
 * The apex is the origin. Then the two are cones cut off by the planes of their faces, n x <= d.
 * The cones' intersection is a cone again: its rays are corners of one face, or cross products of
 * planes through edges. Along a ray u the faces are met at d / (n u), so the plane
 * (d_a n_b - d_b n_a) u = 0 parts the rays where A's face is nearer from those where B's is. Each
 * part is a fan of tetrahedra with corners u d / (n u): rational, and with volume
 * det(u0, u1, u2) d^3 / (6 (n u0) (n u1) (n u2)).
 *
 * Include it after bigint's BIG_WORDS and BIG(name) are defined, through solid_oracle.c. With
 * coordinates of k bits the largest integer has 18 (k + 2) bits. */
#include "tests/support/triangle_oracle.h"

#define TERMS_MOST_RAYS 10

typedef struct BIG(cone) {
    BIG(vec) ray[3], edge[3]; /* edge k is the plane through rays k and k + 1, inside positive */
    BIG(vec) normal;          /* of the face, away from the apex */
    BIG(int) height;          /* n x = height on the face; positive */
    int sign;                 /* of the tetrahedron; 0: flat, takes no part */
    uint64_t face;            /* of the mesh */
    double ray_double[3][3], edge_double[3][3]; /* rounded, to tell far ones apart quickly */
    double far_below[3];                        /* edge x below this is negative for certain */
} BIG(cone);

/* Rays counter-clockwise about the cone, seen from outside; side k is the plane of rays k, k + 1.
 */
typedef struct BIG(fan) {
    int count;
    BIG(vec) ray[TERMS_MOST_RAYS], side[TERMS_MOST_RAYS];
} BIG(fan);

static inline quad BIG(to_quad)(BIG(int) a) {
    bool negative = BIG(sign)(a) < 0;
    if (negative) a = BIG(negate)(a);
    quad sum = 0;
    for (int i = BIG_WORDS - 1; i >= 0; --i) sum = sum * 0x1p64 + a.word[i];
    return negative ? -sum : sum;
}

static inline BIG(vec) BIG(vec_negate)(const BIG(vec) * a) {
    BIG(vec) c;
    for (int k = 0; k < 3; ++k) c.x[k] = BIG(negate)(a->x[k]);
    return c;
}

static inline void BIG(cone_make)(const BIG(vec) corners[3], BIG(cone) * cone) {
    for (int k = 0; k < 3; ++k) cone->ray[k] = corners[k];
    BIG(vec) across = BIG(vec_cross)(&corners[0], &corners[1]);
    cone->height = BIG(vec_dot)(&across, &corners[2]);
    cone->sign = BIG(sign)(cone->height);
    if (cone->sign < 0) {
        cone->ray[1] = corners[2];
        cone->ray[2] = corners[1];
        cone->height = BIG(negate)(cone->height);
    }
    BIG(vec) u = BIG(vec_sub)(&cone->ray[1], &cone->ray[0]);
    BIG(vec) v = BIG(vec_sub)(&cone->ray[2], &cone->ray[0]);
    cone->normal = BIG(vec_cross)(&u, &v);
    for (int k = 0; k < 3; ++k) {
        cone->edge[k] = BIG(vec_cross)(&cone->ray[k], &cone->ray[(k + 1) % 3]);
        for (int i = 0; i < 3; ++i) {
            cone->ray_double[k][i] = (double)BIG(to_quad)(cone->ray[k].x[i]);
            cone->edge_double[k][i] = (double)BIG(to_quad)(cone->edge[k].x[i]);
        }
    }
}

/* `reach` bounds the rays' components. */
static inline void BIG(cone_set_reach)(BIG(cone) * cone, double reach) {
    for (int k = 0; k < 3; ++k) {
        double size = 0.0;
        for (int i = 0; i < 3; ++i) size += fabs(cone->edge_double[k][i]);
        cone->far_below[k] = -0x1p-49 * reach * size;
    }
}

static inline bool BIG(cone_is_beside)(const BIG(cone) * a, const BIG(cone) * b) {
    for (int k = 0; k < 3; ++k) {
        bool beside = true;
        for (int j = 0; j < 3 && beside; ++j) {
            double side = 0.0;
            for (int i = 0; i < 3; ++i) side += a->edge_double[k][i] * b->ray_double[j][i];
            beside = side < a->far_below[k];
        }
        if (beside) return true;
    }
    return false;
}

/* Keeps what lies on the positive side of a plane; no rays are left where that is flat. */
static inline void BIG(fan_cut)(const BIG(fan) * in, const BIG(vec) * plane, BIG(fan) * out) {
    int side[TERMS_MOST_RAYS];
    bool any = false;
    for (int i = 0; i < in->count; ++i) {
        side[i] = BIG(sign)(BIG(vec_dot)(plane, &in->ray[i]));
        any = any || side[i] > 0;
    }
    out->count = 0;
    if (!any) return;
    for (int i = 0; i < in->count; ++i) {
        int next = side[(i + 1) % in->count];
        if (side[i] >= 0) {
            out->ray[out->count] = in->ray[i];
            out->side[out->count++] = side[i] == 0 && next < 0 ? *plane : in->side[i];
        }
        if (side[i] > 0 && next < 0) {
            out->ray[out->count] = BIG(vec_cross)(&in->side[i], plane);
            out->side[out->count++] = *plane;
        } else if (side[i] < 0 && next > 0) {
            out->ray[out->count] = BIG(vec_cross)(plane, &in->side[i]);
            out->side[out->count++] = in->side[i];
        }
        if (out->count > TERMS_MOST_RAYS - 2) abort(); /* a bug in the test */
    }
}

/* The part of a fan of rays below the face of a cone. */
static inline terms_piece BIG(fan_measure)(const BIG(fan) * fan, const BIG(cone) * cone) {
    terms_piece piece = {0};
    quad at[TERMS_MOST_RAYS], position[TERMS_MOST_RAYS][3], height = BIG(to_quad)(cone->height);
    for (int i = 0; i < fan->count; ++i) {
        at[i] = height / BIG(to_quad)(BIG(vec_dot)(&cone->normal, &fan->ray[i]));
        for (int k = 0; k < 3; ++k) position[i][k] = at[i] * BIG(to_quad)(fan->ray[i].x[k]);
    }
    for (int i = 1; i + 1 < fan->count; ++i) {
        BIG(vec) across = BIG(vec_cross)(&fan->ray[0], &fan->ray[i]);
        quad volume = BIG(to_quad)(BIG(vec_dot)(&across, &fan->ray[i + 1]));
        volume *= at[0] * at[i] * at[i + 1] / 6;
        piece.volume += volume;
        for (int k = 0; k < 3; ++k)
            piece.moment[k] += volume / 4 * (position[0][k] + position[i][k] + position[i + 1][k]);
    }
    /* The moment of a cone is 3/4 of its base's centroid, the volume a third of height and area. */
    quad normal[3], square = 0;
    for (int k = 0; k < 3; ++k) {
        normal[k] = BIG(to_quad)(cone->normal.x[k]);
        square += normal[k] * normal[k];
        piece.vector[k] = 3 * piece.volume * normal[k] / height;
    }
    piece.area = 3 * piece.volume * quad_sqrt(square) / height;
    piece.share = 3 * piece.volume / height;
    for (int k = 0; k < 3; ++k) piece.first[k] = 4 * piece.moment[k] / height;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        piece.turn[k] = 4 * (piece.moment[i] * normal[j] - piece.moment[j] * normal[i]) / height;
    }
    return piece;
}

/* What the two tetrahedra have in common, with the sign of their product. */
static inline void BIG(pair_add)(const BIG(cone) * a, const BIG(cone) * b, terms_sum *sum) {
    BIG(fan) fan = {.count = 3}, cut;
    for (int k = 0; k < 3; ++k) {
        fan.ray[k] = b->ray[k];
        fan.side[k] = b->edge[k];
    }
    BIG(fan_cut)(&fan, &a->edge[0], &cut);
    BIG(fan_cut)(&cut, &a->edge[1], &fan);
    BIG(fan_cut)(&fan, &a->edge[2], &cut);
    if (cut.count < 3) return;
    BIG(vec) nearer; /* positive where B's face is */
    for (int k = 0; k < 3; ++k)
        nearer.x[k] =
            BIG(sub)(BIG(mul)(a->height, b->normal.x[k]), BIG(mul)(b->height, a->normal.x[k]));
    if (BIG(vec_is_zero)(&nearer)) {
        terms_piece piece = BIG(fan_measure)(&cut, a), same = BIG(fan_measure)(&cut, b);
        terms_add_volume(sum, &piece, a->sign * b->sign);
        terms_add_face(&sum->a, a->face, &piece, b->sign, a->sign, (quad)0.5);
        terms_add_face(&sum->b, b->face, &same, a->sign, b->sign, (quad)0.5);
        sum->coincident += piece.area;
        return;
    }
    BIG(fan_cut)(&cut, &nearer, &fan);
    if (fan.count >= 3) {
        terms_piece piece = BIG(fan_measure)(&fan, b);
        terms_add_volume(sum, &piece, a->sign * b->sign);
        terms_add_face(&sum->b, b->face, &piece, a->sign, b->sign, (quad)1);
    }
    nearer = BIG(vec_negate)(&nearer);
    BIG(fan_cut)(&cut, &nearer, &fan);
    if (fan.count >= 3) {
        terms_piece piece = BIG(fan_measure)(&fan, a);
        terms_add_volume(sum, &piece, a->sign * b->sign);
        terms_add_face(&sum->a, a->face, &piece, b->sign, a->sign, (quad)1);
    }
}

/* Cones of all faces that are not flat as seen from the apex; false when a face with area lies in a
 * plane through it: its area would be lost. */
static inline bool BIG(cones_make)(const terms_mesh *mesh, const double apex[3], int base,
                                   BIG(cone) * cones, uint64_t *count, double *reach) {
    *count = 0;
    for (uint64_t f = 0; f < mesh->triangle_count; ++f) {
        BIG(vec) corners[3];
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 3; ++i)
                corners[k].x[i] = BIG(sub)(BIG(from_double)(mesh->corners[f].x[k][i], base),
                                           BIG(from_double)(apex[i], base));
        BIG(cone) *cone = &cones[*count];
        BIG(cone_make)(corners, cone);
        cone->face = f;
        if (cone->sign == 0 && !BIG(vec_is_zero)(&cone->normal)) return false;
        *count += cone->sign != 0;
        for (int k = 0; k < 9; ++k) *reach = fmax(*reach, fabs(cone->ray_double[k / 3][k % 3]));
    }
    return true;
}

/* False: try another apex. Everything is in units of 2^base, relative to the apex. */
static inline bool BIG(terms_sum_pairs)(const terms_mesh *a, const terms_mesh *b,
                                        const double apex[3], int base, terms_sum *sum) {
    BIG(cone) *cones = malloc((a->triangle_count + b->triangle_count + 1) * sizeof(*cones));
    uint64_t count_a = 0, count_b = 0;
    double reach = 0.0;
    if (cones == NULL) abort();
    bool good = BIG(cones_make)(a, apex, base, cones, &count_a, &reach) &&
                BIG(cones_make)(b, apex, base, cones + count_a, &count_b, &reach);
    for (uint64_t i = 0; i < count_a + count_b; ++i) BIG(cone_set_reach)(&cones[i], reach);
    for (uint64_t i = 0; i < count_a && good; ++i)
        for (uint64_t j = count_a; j < count_a + count_b; ++j)
            if (!BIG(cone_is_beside)(&cones[i], &cones[j]) &&
                !BIG(cone_is_beside)(&cones[j], &cones[i]))
                BIG(pair_add)(&cones[i], &cones[j], sum);
    free(cones);
    return good;
}

#undef TERMS_MOST_RAYS
