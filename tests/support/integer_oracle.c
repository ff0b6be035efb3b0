/* SPDX-License-Identifier: MIT */
/* Every pair of triangles by the rules of carom/soup.h, read word for word. Lattice soups fit into
 * one machine word, all others into eight. */
#include "tests/support/integer_oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIG_WORDS 1
#define BIG(name) small_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 8
#define BIG(name) large_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define MOST_SMALL 0x1p10 /* extent of coordinates: products of four stay below 2^63 */

/* A mesh as triangles. */
typedef struct triangles {
    uint64_t count;
    carom_triangle *corners;
    uint32_t (*vertices)[3];
    uint32_t *faces;
    int *dimension; /* of each: 2 triangle, 1 segment, 0 point */
} triangles;

/* How coordinates become integers. */
typedef struct unit {
    bool small;
    int base; /* all are multiples of 2^base */
} unit;

/* ---- input ----------------------------------------------------------------------------------- */

static void *take(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static carom_vec3 position(const carom_mesh_view *view, uint64_t vertex) {
    uint64_t size = view->scalar == CAROM_SCALAR_FLOAT32 ? 4 : 8;
    const char *at =
        (const char *)view->positions + vertex * (view->stride != 0 ? view->stride : 3 * size);
    carom_vec3 p;
    if (view->scalar == CAROM_SCALAR_FLOAT32) {
        float xyz[3];
        memcpy(xyz, at, sizeof(xyz));
        p = (carom_vec3){(double)xyz[0], (double)xyz[1], (double)xyz[2]};
    } else {
        memcpy(&p, at, sizeof(p));
    }
    return p;
}

static triangles triangles_make(carom_context *context, const carom_mesh_view *mesh, bool fan) {
    carom_mesh_triangulate_def def = {.fan = fan};
    carom_mesh *split;
    carom_mesh_view view;
    carom_numbers faces = {0};
    assert_ok(context, carom_mesh_triangulate(context, mesh, &def, &split, &faces));
    assert_ok(context, carom_mesh_get_view(split, &view));
    triangles t = {.count = view.face_count};
    t.corners = take(t.count, sizeof(*t.corners));
    t.vertices = take(t.count, sizeof(*t.vertices));
    t.faces = take(t.count, sizeof(*t.faces));
    t.dimension = take(t.count, sizeof(*t.dimension));
    for (uint64_t i = 0; i < t.count; ++i) {
        for (int k = 0; k < 3; ++k) {
            t.vertices[i][k] = view.corners[3 * i + (uint64_t)k];
            t.corners[i].corner[k] = position(&view, t.vertices[i][k]);
        }
        t.faces[i] = fan ? (uint32_t)i : faces.data[i];
    }
    carom_numbers_free(&faces);
    carom_mesh_destroy(split);
    return t;
}

static void triangles_free(triangles *t) {
    free(t->corners);
    free(t->vertices);
    free(t->faces);
    free(t->dimension);
}

static int lowest_bit(double x) {
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53);
    exponent -= 53;
    for (; mantissa != 0 && mantissa % 2 == 0; mantissa /= 2) ++exponent;
    return exponent;
}

static unit unit_of(const triangles *const *sets, int set_count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    unit unit = {false, INT32_MAX};
    for (int s = 0; s < set_count; ++s) {
        for (uint64_t i = 0; i < 3 * sets[s]->count; ++i) {
            const carom_vec3 *p = &sets[s]->corners[i / 3].corner[i % 3];
            const double xyz[3] = {p->x, p->y, p->z};
            for (int k = 0; k < 3; ++k) {
                low[k] = fmin(low[k], xyz[k]);
                high[k] = fmax(high[k], xyz[k]);
                if (xyz[k] == 0.0) continue;
                int bit = lowest_bit(xyz[k]);
                if (bit < unit.base) unit.base = bit;
            }
        }
    }
    if (unit.base == INT32_MAX) unit.base = 0;
    unit.small = true;
    for (int k = 0; k < 3; ++k)
        unit.small = unit.small && ldexp(high[k] - low[k], -unit.base) <= MOST_SMALL &&
                     ldexp(fmax(-low[k], high[k]), -unit.base) <= 0x1p50;
    return unit;
}

/* ---- triangles ------------------------------------------------------------------------------- */

static carom_triangle_intersection relate(unit unit, const carom_triangle *a,
                                          const carom_triangle *b) {
    return unit.small ? small_oracle(a, b, unit.base) : large_oracle(a, b, unit.base);
}

static void find_dimensions(unit unit, triangles *t) {
    for (uint64_t i = 0; i < t->count; ++i)
        t->dimension[i] = relate(unit, &t->corners[i], &t->corners[i]).dimension_a;
}

/* The signs of dot(p - c0, c1 - c0) and dot(p - c1, c1 - c0): where p of a line lies on it. */
static void along(unit unit, carom_vec3 c0, carom_vec3 c1, carom_vec3 p, int *from0, int *from1) {
    carom_triangle t = {{c0, c1, p}};
    if (unit.small) {
        small_hull h = small_hull_of(&t, unit.base);
        small_vec e = small_vec_sub(&h.p[1], &h.p[0]);
        small_vec d0 = small_vec_sub(&h.p[2], &h.p[0]), d1 = small_vec_sub(&h.p[2], &h.p[1]);
        *from0 = small_sign(small_vec_dot(&e, &d0));
        *from1 = small_sign(small_vec_dot(&e, &d1));
    } else {
        large_hull h = large_hull_of(&t, unit.base);
        large_vec e = large_vec_sub(&h.p[1], &h.p[0]);
        large_vec d0 = large_vec_sub(&h.p[2], &h.p[0]), d1 = large_vec_sub(&h.p[2], &h.p[1]);
        *from0 = large_sign(large_vec_dot(&e, &d0));
        *from1 = large_sign(large_vec_dot(&e, &d1));
    }
}

/* The sign of dot((e1 - e0) x (a - e0), (e1 - e0) x (b - e0)): whether coplanar a and b lie on one
 * side of the edge. */
static int sides_product(unit unit, carom_vec3 e0, carom_vec3 e1, carom_vec3 a, carom_vec3 b) {
    carom_triangle t = {{e0, e1, a}}, u = {{b, b, b}};
    if (unit.small) {
        small_hull h = small_hull_of(&t, unit.base), g = small_hull_of(&u, unit.base);
        small_vec e = small_vec_sub(&h.p[1], &h.p[0]), p = small_vec_sub(&h.p[2], &h.p[0]);
        small_vec q = small_vec_sub(&g.p[0], &h.p[0]);
        small_vec n = small_vec_cross(&e, &p), m = small_vec_cross(&e, &q);
        return small_sign(small_vec_dot(&n, &m));
    }
    large_hull h = large_hull_of(&t, unit.base), g = large_hull_of(&u, unit.base);
    large_vec e = large_vec_sub(&h.p[1], &h.p[0]), p = large_vec_sub(&h.p[2], &h.p[0]);
    large_vec q = large_vec_sub(&g.p[0], &h.p[0]);
    large_vec n = large_vec_cross(&e, &p), m = large_vec_cross(&e, &q);
    return large_sign(large_vec_dot(&n, &m));
}

static bool on_one_side(unit unit, carom_vec3 e0, carom_vec3 e1, carom_vec3 a, carom_vec3 b) {
    const carom_vec3 four[4] = {e0, e1, a, b};
    int turn = unit.small ? small_oracle_orient3d(four, unit.base)
                          : large_oracle_orient3d(four, unit.base);
    return turn == 0 && sides_product(unit, e0, e1, a, b) > 0;
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* Numbers of different vertices that both have, and the corners where they are first. */
static int common_of(const uint32_t *a, const uint32_t *b, int *in_a, int *in_b) {
    int count = 0;
    for (int i = 0; i < 3; ++i) {
        bool before = false;
        for (int k = 0; k < i; ++k) before = before || a[k] == a[i];
        for (int j = 0; j < 3 && !before; ++j) {
            if (a[i] != b[j]) continue;
            in_a[count] = i;
            in_b[count++] = j;
            break;
        }
    }
    return count;
}

static bool edge_meets(unit unit, const carom_triangle *a, int vertex, const carom_triangle *b) {
    carom_vec3 p = a->corner[(vertex + 1) % 3], q = a->corner[(vertex + 2) % 3];
    carom_triangle edge = {{p, q, q}};
    return relate(unit, &edge, b).dimension >= 0;
}

/* Two triangles with area. */
static bool triangles_count(unit unit, const carom_triangle *a, const carom_triangle *b, int common,
                            const int *in_a, const int *in_b) {
    switch (common) {
    case 0:
        return relate(unit, a, b).dimension >= 0;
    case 1:
        return edge_meets(unit, a, in_a[0], b) || edge_meets(unit, b, in_b[0], a);
    case 2:
        return on_one_side(unit, a->corner[in_a[0]], a->corner[in_a[1]],
                           a->corner[3 - in_a[0] - in_a[1]], b->corner[3 - in_b[0] - in_b[1]]);
    default:
        return true;
    }
}

/* One of them, at least, is a segment or a point: they count when they meet anywhere but in the
 * hull of their common vertices, which is convex as their intersection is. */
static bool segments_count(unit unit, const carom_triangle *a, const carom_triangle *b, int common,
                           const int *in_a) {
    carom_triangle_intersection r = relate(unit, a, b);
    if (common == 0) return r.dimension >= 0;
    if (common == 3) return true;
    carom_vec3 c0 = a->corner[in_a[0]], c1 = a->corner[in_a[common - 1]];
    carom_triangle hull = {{c0, c1, c1}};
    int inside = relate(unit, &hull, &hull).dimension_a;
    if (r.dimension != inside || inside == 0) return r.dimension > inside;
    bool before[2] = {false, false}, behind[2] = {false, false}; /* the hull, on its line */
    if (r.dimension_a == 2 || r.dimension_b == 2) return false;  /* it ends at its own edge */
    for (int i = 0; i < 6; ++i) {
        int from0, from1;
        along(unit, c0, c1, i < 3 ? a->corner[i] : b->corner[i - 3], &from0, &from1);
        before[i / 3] = before[i / 3] || from0 < 0;
        behind[i / 3] = behind[i / 3] || from1 > 0;
    }
    return (before[0] && before[1]) || (behind[0] && behind[1]);
}

/* ---- lists ----------------------------------------------------------------------------------- */

void oracle_free(oracle_pairs *pairs) {
    free(pairs->data);
    *pairs = (oracle_pairs){0};
}

void oracle_free_all(oracle_pairs pairs[CAROM_SOUP_DEGENERATE_COUNT]) {
    for (int i = 0; i < CAROM_SOUP_DEGENERATE_COUNT; ++i) oracle_free(&pairs[i]);
}

static void put(oracle_pairs *pairs, uint32_t a, uint32_t b) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 64;
        pairs->data = realloc(pairs->data, pairs->capacity * sizeof(*pairs->data));
        assert_non_null(pairs->data);
    }
    pairs->data[pairs->count++] = (carom_pair){a, b};
}

static int compare(const void *a, const void *b) {
    const carom_pair *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

static void tidy(oracle_pairs *pairs) {
    uint64_t kept = 0;
    if (pairs->count == 0) return;
    qsort(pairs->data, pairs->count, sizeof(*pairs->data), compare);
    for (uint64_t i = 0; i < pairs->count; ++i)
        if (kept == 0 || compare(&pairs->data[kept - 1], &pairs->data[i]) != 0)
            pairs->data[kept++] = pairs->data[i];
    pairs->count = kept;
}

/* A face without area: none of its triangles has any. */
static bool face_is_degenerate(const triangles *t, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i)
        if (t->dimension[i] == 2) return false;
    return true;
}

/* Tries a pair for both kinds of soup: with degenerate faces alone, and as segments. */
static void try_pair(unit unit, const triangles *t, uint64_t i, uint64_t j, oracle_pairs *pairs) {
    int in_a[3], in_b[3];
    const carom_triangle *a = &t->corners[i], *b = &t->corners[j];
    int common = common_of(t->vertices[i], t->vertices[j], in_a, in_b);
    bool with_area = t->dimension[i] == 2 && t->dimension[j] == 2;
    if (with_area ? triangles_count(unit, a, b, common, in_a, in_b)
                  : segments_count(unit, a, b, common, in_a)) {
        if (with_area) put(&pairs[CAROM_SOUP_DEGENERATE_ALONE], t->faces[i], t->faces[j]);
        put(&pairs[CAROM_SOUP_DEGENERATE_AS_SEGMENT], t->faces[i], t->faces[j]);
    }
}

void oracle_self(carom_context *context, const carom_mesh_view *mesh, bool fan, const bool *dead,
                 oracle_pairs pairs[CAROM_SOUP_DEGENERATE_COUNT]) {
    triangles t = triangles_make(context, mesh, fan);
    const triangles *sets[] = {&t};
    unit unit = unit_of(sets, 1);
    find_dimensions(unit, &t);
    for (int i = 0; i < CAROM_SOUP_DEGENERATE_COUNT; ++i) pairs[i].count = 0;
    for (uint64_t i = 0, end; i < t.count; i = end) {
        for (end = i + 1; end < t.count && t.faces[end] == t.faces[i];) ++end;
        if ((dead == NULL || !dead[t.faces[i]]) && face_is_degenerate(&t, i, end))
            put(&pairs[CAROM_SOUP_DEGENERATE_ALONE], t.faces[i], t.faces[i]);
    }
    for (uint64_t i = 0; i < t.count; ++i) {
        for (uint64_t j = i + 1; j < t.count; ++j) {
            if (t.faces[i] == t.faces[j]) continue;
            if (dead != NULL && (dead[t.faces[i]] || dead[t.faces[j]])) continue;
            try_pair(unit, &t, i, j, pairs);
        }
    }
    for (int i = 0; i < CAROM_SOUP_DEGENERATE_COUNT; ++i) tidy(&pairs[i]);
    triangles_free(&t);
}

void oracle_cross(carom_context *context, const carom_mesh_view *a, const carom_mesh_view *b,
                  bool fan, carom_soup_degenerate degenerate, oracle_pairs *pairs) {
    triangles ta = triangles_make(context, a, fan), tb = triangles_make(context, b, fan);
    const triangles *sets[] = {&ta, &tb};
    unit unit = unit_of(sets, 2);
    pairs->count = 0;
    for (uint64_t i = 0; i < ta.count; ++i) {
        for (uint64_t j = 0; j < tb.count; ++j) {
            carom_triangle_intersection r = relate(unit, &ta.corners[i], &tb.corners[j]);
            bool with_area = r.dimension_a == 2 && r.dimension_b == 2;
            if (r.dimension >= 0 && (with_area || degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT))
                put(pairs, ta.faces[i], tb.faces[j]);
        }
    }
    tidy(pairs);
    triangles_free(&ta);
    triangles_free(&tb);
}

void oracle_assert_equal(const carom_pairs *pairs, const oracle_pairs *expected, const char *what) {
    uint64_t least = pairs->count < expected->count ? pairs->count : expected->count;
    for (uint64_t i = 0; i < least; ++i) {
        if (compare(&pairs->data[i], &expected->data[i]) != 0)
            fail_msg("%s: pair %" PRIu64 " is (%u, %u), not (%u, %u)", what, i, pairs->data[i].a,
                     pairs->data[i].b, expected->data[i].a, expected->data[i].b);
    }
    if (pairs->count != expected->count)
        fail_msg("%s: %" PRIu64 " pairs instead of %" PRIu64, what, pairs->count, expected->count);
}
