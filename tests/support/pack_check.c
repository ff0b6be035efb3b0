/* SPDX-License-Identifier: MIT */
#include "tests/support/pack_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/exact_geometry.h"

typedef long double real;

/* Relative margin of long double sums of a few products: far above 2^-64. */
#define MARGIN 1e-15L

typedef struct checker {
    const pack_claim *claim;
    pack_proof *proof;
    /* Triangles by columns of a grid in x and y, and by cells of one in space. */
    double low[3], high[3];
    int columns, cells;
    uint32_t *column_first, *column_items;
    uint32_t *cell_first, *cell_items;
} checker;

static bool fail(checker *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (c->proof->message[0] == 0)
        vsnprintf(c->proof->message, sizeof(c->proof->message), format, list);
    va_end(list);
    return false;
}

/* ---- Grids ----------------------------------------------------------------------------------- */

static int clamp_index(double x, double low, double high, int count) {
    double at = (x - low) / (high - low) * count;
    return at < 0.0 ? 0 : at >= count ? count - 1 : (int)at;
}

static double coordinate(const carom_vec3 *p, int k) {
    return k == 0 ? p->x : k == 1 ? p->y : p->z;
}

static void range_of(const checker *c, const carom_triangle *t, int k, int count, int range[2]) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 3; ++i) {
        low = fmin(low, coordinate(&t->corner[i], k));
        high = fmax(high, coordinate(&t->corner[i], k));
    }
    /* A hair wider: indices are rounded. */
    double hair = 1e-12 * (c->high[k] - c->low[k]);
    range[0] = clamp_index(low - hair, c->low[k], c->high[k], count);
    range[1] = clamp_index(high + hair, c->low[k], c->high[k], count);
}

static void make_grid(checker *c, int count, int depth, uint32_t **first, uint32_t **items) {
    uint64_t slots = (uint64_t)count * count * (depth == 3 ? count : 1);
    *first = calloc(slots + 1, sizeof(uint32_t));
    *items = NULL;
    for (int pass = 0; pass < 2; ++pass) {
        for (uint64_t t = 0; t < c->claim->triangle_count; ++t) {
            int r[3][2] = {{0, 0}, {0, 0}, {0, 0}};
            for (int k = 0; k < depth; ++k) range_of(c, &c->claim->triangles[t], k, count, r[k]);
            for (int z = r[2][0]; z <= r[2][1]; ++z)
                for (int y = r[1][0]; y <= r[1][1]; ++y)
                    for (int x = r[0][0]; x <= r[0][1]; ++x) {
                        uint64_t at = ((uint64_t)z * count + y) * count + x;
                        if (pass == 0)
                            ++(*first)[at + 1];
                        else
                            (*items)[(*first)[at]++] = (uint32_t)t;
                    }
        }
        if (pass == 0) {
            for (uint64_t i = 0; i < slots; ++i) (*first)[i + 1] += (*first)[i];
            *items = malloc(((uint64_t)(*first)[slots] + 1) * sizeof(uint32_t));
        }
    }
    memmove(*first + 1, *first, slots * sizeof(uint32_t));
    (*first)[0] = 0;
}

static void begin(checker *c, const pack_claim *claim, pack_proof *proof) {
    memset(proof, 0, sizeof(*proof));
    *c = (checker){.claim = claim, .proof = proof};
    for (int k = 0; k < 3; ++k) {
        c->low[k] = INFINITY;
        c->high[k] = -INFINITY;
        for (uint64_t t = 0; t < claim->triangle_count; ++t)
            for (int i = 0; i < 3; ++i) {
                double x = coordinate(&claim->triangles[t].corner[i], k);
                c->low[k] = fmin(x, c->low[k]);
                c->high[k] = fmax(x, c->high[k]);
            }
    }
    double size =
        fmax(fmax(c->high[0] - c->low[0], c->high[1] - c->low[1]), c->high[2] - c->low[2]);
    for (int k = 0; k < 3; ++k) { /* no side without width */
        c->low[k] -= 0.01 * size;
        c->high[k] += 0.01 * size;
    }
    double triangles = (double)claim->triangle_count;
    c->columns = (int)sqrt(triangles) + 1;
    if (c->columns > 512) c->columns = 512;
    c->cells = (int)cbrt(triangles) + 1;
    if (c->cells > 64) c->cells = 64;
    make_grid(c, c->columns, 2, &c->column_first, &c->column_items);
    make_grid(c, c->cells, 3, &c->cell_first, &c->cell_items);
}

static void end(checker *c) {
    free(c->column_first);
    free(c->column_items);
    free(c->cell_first);
    free(c->cell_items);
}

/* ---- Winding --------------------------------------------------------------------------------- */

/* Twice the area of a, b, p seen along z; *open when its sign is not certain. */
static real side_of(const carom_vec3 *a, const carom_vec3 *b, const carom_vec3 *p, bool *open) {
    real ax = (real)a->x - p->x, ay = (real)a->y - p->y;
    real bx = (real)b->x - p->x, by = (real)b->y - p->y;
    real left = ax * by, right = ay * bx;
    if (a->x == b->x && a->y == b->y) return 0.0L; /* seen along the edge: certain */
    if (fabsl(left - right) <= MARGIN * (fabsl(left) + fabsl(right))) *open = true;
    return left - right;
}

static int winding_by_angles(const checker *c, const carom_vec3 *p) {
    real sum = 0.0L;
    for (uint64_t t = 0; t < c->claim->triangle_count; ++t) {
        real v[3][3], length[3];
        for (int i = 0; i < 3; ++i) {
            const carom_vec3 *q = &c->claim->triangles[t].corner[i];
            v[i][0] = (real)q->x - p->x;
            v[i][1] = (real)q->y - p->y;
            v[i][2] = (real)q->z - p->z;
            length[i] = sqrtl(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
        }
        real det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                   v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                   v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        real dot[3];
        for (int i = 0; i < 3; ++i) {
            int k = (i + 1) % 3;
            dot[i] = v[i][0] * v[k][0] + v[i][1] * v[k][1] + v[i][2] * v[k][2];
        }
        real rest = length[0] * length[1] * length[2] + dot[0] * length[2] + dot[1] * length[0] +
                    dot[2] * length[1];
        sum += 2.0L * atan2l(det, rest);
    }
    return (int)lroundl(sum / (4.0L * 3.14159265358979323846264338L));
}

/* Counts the faces above a point; false where the ray touches an edge. */
static bool count_above(const checker *c, const carom_vec3 *p, int *result) {
    int winding = 0;
    *result = 0;
    if (p->x < c->low[0] || p->x > c->high[0] || p->y < c->low[1] || p->y > c->high[1]) return true;
    int x = clamp_index(p->x, c->low[0], c->high[0], c->columns);
    int y = clamp_index(p->y, c->low[1], c->high[1], c->columns);
    uint64_t at = (uint64_t)y * c->columns + x;
    for (uint32_t i = c->column_first[at]; i < c->column_first[at + 1]; ++i) {
        const carom_vec3 *q = c->claim->triangles[c->column_items[i]].corner;
        bool open = false;
        real a = side_of(&q[0], &q[1], p, &open), b = side_of(&q[1], &q[2], p, &open);
        real d = side_of(&q[2], &q[0], p, &open);
        if (open) {
            /* Certainly beside it all the same? */
            double low[2] = {fmin(fmin(q[0].x, q[1].x), q[2].x),
                             fmin(fmin(q[0].y, q[1].y), q[2].y)};
            double high[2] = {fmax(fmax(q[0].x, q[1].x), q[2].x),
                              fmax(fmax(q[0].y, q[1].y), q[2].y)};
            if (p->x < low[0] || p->x > high[0] || p->y < low[1] || p->y > high[1]) continue;
            return false;
        }
        if (!((a > 0 && b > 0 && d > 0) || (a < 0 && b < 0 && d < 0))) continue;
        /* Its height above the point, from areas. */
        real height =
            (b * ((real)q[0].z - p->z) + d * ((real)q[1].z - p->z) + a * ((real)q[2].z - p->z));
        real size = fabsl(b * ((real)q[0].z - p->z)) + fabsl(d * ((real)q[1].z - p->z)) +
                    fabsl(a * ((real)q[2].z - p->z));
        if (fabsl(height) <= 4.0L * MARGIN * size) return false;
        bool up = a > 0;
        if ((height > 0) == up) winding += up ? 1 : -1;
    }
    *result = winding;
    return true;
}

#define MOST_TRIES 16

/* The winding number around a point that is farther than `apart` from all faces, or on none. Rays
 * from points nearby have the same; all angles are only added up where each touches an edge. */
static int winding_at(const checker *c, const carom_vec3 *p, double apart) {
    int winding;
    for (int i = 0; i < MOST_TRIES; ++i) {
        double x = 0.618033988749895 * i, y = 0.754877666246693 * i;
        carom_vec3 q = {p->x + apart * (x - floor(x) - 0.5) * (i != 0),
                        p->y + apart * (y - floor(y) - 0.5) * (i != 0), p->z};
        if (count_above(c, &q, &winding)) return winding;
    }
    return winding_by_angles(c, p);
}

/* ---- Spheres --------------------------------------------------------------------------------- */

/* Whether two balls have no inner point in common. */
static bool disjoint(checker *c, const carom_packing_sphere *a, const carom_packing_sphere *b) {
    real x = (real)a->centre.x - b->centre.x, y = (real)a->centre.y - b->centre.y;
    real z = (real)a->centre.z - b->centre.z, r = (real)a->radius + b->radius;
    real square = x * x + y * y + z * z;
    if (square > r * r * (1.0L + MARGIN)) return true;
    if (square < r * r * (1.0L - MARGIN)) return false;
    ++c->proof->exact;
    number_reset();
    number3 d = number3_sub(number3_of(a->centre), number3_of(b->centre));
    number sum = number_add(number_of(a->radius), number_of(b->radius));
    return number_compare(number3_dot(d, d), number_mul(sum, sum)) >= 0;
}

typedef struct sorted {
    double low;
    uint64_t sphere;
} sorted;

static int by_low(const void *a, const void *b) {
    const sorted *c = a, *d = b;
    return (c->low > d->low) - (c->low < d->low);
}

static bool check_disjoint(checker *c) {
    const carom_packing_sphere *s = c->claim->spheres;
    uint64_t count = c->claim->sphere_count;
    sorted *order = malloc((count + 1) * sizeof(*order));
    bool good = true;
    /* Ends of intervals are rounded outwards. */
    for (uint64_t i = 0; i < count; ++i)
        order[i] = (sorted){nextafter(s[i].centre.x - s[i].radius, -INFINITY), i};
    qsort(order, count, sizeof(*order), by_low);
    for (uint64_t i = 0; i < count && good; ++i) {
        const carom_packing_sphere *a = &s[order[i].sphere];
        double high = nextafter(a->centre.x + a->radius, INFINITY);
        for (uint64_t k = i + 1; k < count && order[k].low <= high && good; ++k) {
            const carom_packing_sphere *b = &s[order[k].sphere];
            double sum = (a->radius + b->radius) * 1.0000001;
            if (fabs(a->centre.y - b->centre.y) > sum || fabs(a->centre.z - b->centre.z) > sum)
                continue;
            if (!disjoint(c, a, b))
                good = fail(c, "spheres %llu and %llu overlap", (unsigned long long)order[i].sphere,
                            (unsigned long long)order[k].sphere);
        }
    }
    free(order);
    return good;
}

static real dot3(const real *a, const real *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The squared distance of the origin from the segment a b. */
static real segment_square(const real *a, const real *b) {
    real u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, uu = dot3(u, u);
    real t = uu > 0 ? -dot3(a, u) / uu : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    real p[3] = {a[0] + t * u[0], a[1] + t * u[1], a[2] + t * u[2]};
    return dot3(p, p);
}

/* The squared distance of a point from a triangle, right to some 1e-17 of the extent. */
static real triangle_square(const carom_vec3 *p, const carom_triangle *t) {
    real v[3][3];
    for (int i = 0; i < 3; ++i) {
        v[i][0] = (real)t->corner[i].x - p->x;
        v[i][1] = (real)t->corner[i].y - p->y;
        v[i][2] = (real)t->corner[i].z - p->z;
    }
    real least = segment_square(v[0], v[1]);
    least = fminl(least, segment_square(v[1], v[2]));
    least = fminl(least, segment_square(v[2], v[0]));
    real u[3], w[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = v[1][k] - v[0][k];
        w[k] = v[2][k] - v[0][k];
    }
    real uu = dot3(u, u), uw = dot3(u, w), ww = dot3(w, w), det = uu * ww - uw * uw;
    if (!(det > 0)) return least;
    real au = -dot3(v[0], u), aw = -dot3(v[0], w);
    real s = (ww * au - uw * aw) / det, q = (uu * aw - uw * au) / det;
    if (!(s >= 0 && q >= 0 && s + q <= 1)) return least;
    real foot[3];
    for (int k = 0; k < 3; ++k) foot[k] = v[0][k] + s * u[k] + q * w[k];
    return fminl(least, dot3(foot, foot));
}

/* Whether a ball has no inner point on a triangle. Where the triangle is a needle the long double
 * distance may be off: the margin is wide. */
static bool clear_of(checker *c, const carom_packing_sphere *s, const carom_triangle *t) {
    real square = triangle_square(&s->centre, t), r = (real)s->radius * s->radius;
    if (square > r * (1.0L + 1e-9L)) return true;
    if (square < r * (1.0L - 1e-9L)) return false;
    ++c->proof->exact;
    number_reset();
    exact_triangle exact = exact_triangle_of(t->corner);
    ratio distance = exact_point_triangle(number3_of(s->centre), &exact);
    number radius = number_of(s->radius);
    return ratio_compare(distance, ratio_of(number_mul(radius, radius), number_of(1.0))) >= 0;
}

static bool check_inside(checker *c, uint64_t i) {
    const carom_packing_sphere *s = &c->claim->spheres[i];
    int range[3][2];
    for (int k = 0; k < 3; ++k) {
        double x = coordinate(&s->centre, k), r = s->radius * 1.0000001;
        range[k][0] = clamp_index(x - r, c->low[k], c->high[k], c->cells);
        range[k][1] = clamp_index(x + r, c->low[k], c->high[k], c->cells);
    }
    for (int z = range[2][0]; z <= range[2][1]; ++z)
        for (int y = range[1][0]; y <= range[1][1]; ++y)
            for (int x = range[0][0]; x <= range[0][1]; ++x) {
                uint64_t at = ((uint64_t)z * c->cells + y) * c->cells + x;
                for (uint32_t k = c->cell_first[at]; k < c->cell_first[at + 1]; ++k)
                    if (!clear_of(c, s, &c->claim->triangles[c->cell_items[k]]))
                        return fail(c, "sphere %llu meets triangle %u", (unsigned long long)i,
                                    c->cell_items[k]);
            }
    if (winding_at(c, &s->centre, s->radius) < 1)
        return fail(c, "sphere %llu is outside", (unsigned long long)i);
    return true;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool in_cover(checker *c, const carom_packing_cell *cell, const carom_packing_sphere *s) {
    real square = 0.0L;
    for (int k = 0; k < 3; ++k) {
        real low = (real)coordinate(&cell->low, k), at = (real)coordinate(&s->centre, k);
        real far = fmaxl(at - low, low + cell->edge - at);
        square += far * far;
    }
    real r = (real)s->cover * s->cover;
    if (square < r * (1.0L - MARGIN)) return true;
    if (square > r * (1.0L + MARGIN)) return false;
    ++c->proof->exact;
    number_reset();
    number sum = number_of(0.0), edge = number_of(cell->edge), o = number_of(s->cover);
    for (int k = 0; k < 3; ++k) {
        number low = number_of(coordinate(&cell->low, k));
        number at = number_of(coordinate(&s->centre, k));
        number a = number_sub(at, low), b = number_sub(number_add(low, edge), at);
        number far = number_compare(a, b) > 0 ? a : b;
        sum = number_add(sum, number_mul(far, far));
    }
    return number_compare(sum, number_mul(o, o)) <= 0;
}

/* Cells as nodes of octrees whose roots are cubes of the largest cell's size. */
typedef struct tree {
    checker *c;
    double base[3], edge; /* a corner of the largest cell, and its edge */
} tree;

typedef struct node {
    long long root[3];
    uint32_t x, y, z, size; /* within the root, in units of its 2^-20 */
    uint64_t cell;
} node;
#define UNITS (UINT32_C(1) << 20)

static int by_root(const void *a, const void *b) {
    const node *c = a, *d = b;
    for (int k = 0; k < 3; ++k)
        if (c->root[k] != d->root[k]) return c->root[k] < d->root[k] ? -1 : 1;
    return 0;
}

/* What no cell covers must be outside: no triangle meets it, and the winding number is at most 0.
 */
static bool check_empty(checker *c, const carom_bounds *box) {
    int range[3][2];
    for (int k = 0; k < 3; ++k) {
        double low = coordinate(&box->low, k), high = coordinate(&box->high, k);
        if (high < c->low[k] || low > c->high[k]) return true;
        range[k][0] = clamp_index(low, c->low[k], c->high[k], c->cells);
        range[k][1] = clamp_index(high, c->low[k], c->high[k], c->cells);
    }
    for (int z = range[2][0]; z <= range[2][1]; ++z)
        for (int y = range[1][0]; y <= range[1][1]; ++y)
            for (int x = range[0][0]; x <= range[0][1]; ++x) {
                uint64_t at = ((uint64_t)z * c->cells + y) * c->cells + x;
                for (uint32_t k = c->cell_first[at]; k < c->cell_first[at + 1]; ++k)
                    if (carom_triangle_meets_box_value(&c->claim->triangles[c->cell_items[k]], box))
                        return fail(c, "no cell covers a point of triangle %u: %g %g %g",
                                    c->cell_items[k], box->low.x, box->low.y, box->low.z);
            }
    carom_vec3 middle = {0.5 * (box->low.x + box->high.x), 0.5 * (box->low.y + box->high.y),
                         0.5 * (box->low.z + box->high.z)};
    if (winding_at(c, &middle, 0.5 * (box->high.x - box->low.x)) >= 1)
        return fail(c, "no cell covers %g %g %g", middle.x, middle.y, middle.z);
    return true;
}

/* Checks a cube of a root with the cells that lie in it. */
static bool check_node(const tree *t, const long long root[3], const uint32_t at[3], uint32_t size,
                       node *nodes, uint64_t count) {
    checker *c = t->c;
    if (count == 0) {
        double unit = t->edge / UNITS, edge = unit * size, low[3];
        for (int k = 0; k < 3; ++k)
            low[k] = t->base[k] + (double)root[k] * t->edge + (double)at[k] * unit;
        carom_bounds box = {{low[0], low[1], low[2]},
                            {low[0] + edge, low[1] + edge, low[2] + edge}};
        return check_empty(c, &box);
    }
    if (nodes[0].size == size)
        return count == 1 ||
               fail(c, "cells %llu and %llu overlap", (unsigned long long)nodes[0].cell,
                    (unsigned long long)nodes[1].cell);
    if (size == 1) return fail(c, "cells are finer than expected");
    uint32_t half = size / 2;
    for (uint32_t i = 0; i < 8; ++i) {
        uint32_t child[3];
        for (int k = 0; k < 3; ++k) child[k] = at[k] + ((i >> k & 1) != 0 ? half : 0);
        /* Those of this child come first. */
        uint64_t n = 0;
        for (uint64_t k = 0; k < count; ++k) {
            const node *q = &nodes[k];
            if (q->size == size) return fail(c, "cell %llu overlaps", (unsigned long long)q->cell);
            if (q->x < child[0] || q->x >= child[0] + half || q->y < child[1] ||
                q->y >= child[1] + half || q->z < child[2] || q->z >= child[2] + half)
                continue;
            node swap = nodes[n];
            nodes[n++] = nodes[k];
            nodes[k] = swap;
        }
        if (!check_node(t, root, child, half, nodes, n)) return false;
        nodes += n;
        count -= n;
    }
    return count == 0 ||
           fail(c, "cell %llu is at no node of the octree", (unsigned long long)nodes[0].cell);
}

static bool check_cells(checker *c) {
    const carom_packing_cell *cells = c->claim->cells;
    uint64_t count = c->claim->cell_count, largest = 0;
    for (uint64_t i = 0; i < count; ++i) {
        if (cells[i].sphere >= c->claim->sphere_count)
            return fail(c, "cell %llu names no sphere", (unsigned long long)i);
        if (!in_cover(c, &cells[i], &c->claim->spheres[cells[i].sphere]))
            return fail(c, "cell %llu is not in the cover of sphere %u", (unsigned long long)i,
                        cells[i].sphere);
        if (cells[i].edge > cells[largest].edge) largest = i;
    }
    if (count == 0) return fail(c, "there are no cells");
    tree t = {.c = c, .edge = cells[largest].edge};
    for (int k = 0; k < 3; ++k) t.base[k] = coordinate(&cells[largest].low, k);
    node *nodes = malloc(count * sizeof(*nodes));
    bool good = true;
    for (uint64_t i = 0; i < count && good; ++i) {
        uint32_t at[3];
        for (int k = 0; k < 3; ++k) {
            real away = ((real)coordinate(&cells[i].low, k) - t.base[k]) / t.edge;
            nodes[i].root[k] = (long long)floorl(away);
            real units = (away - floorl(away)) * UNITS;
            at[k] = (uint32_t)units;
            good = good && units == at[k];
        }
        nodes[i].x = at[0];
        nodes[i].y = at[1];
        nodes[i].z = at[2];
        real size = (real)cells[i].edge / t.edge * UNITS;
        nodes[i].size = (uint32_t)size;
        nodes[i].cell = i;
        if (!good || size != nodes[i].size)
            good = fail(c, "cell %llu is not a cube of an octree", (unsigned long long)i);
    }
    /* All roots that the mesh's box meets. */
    long long low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = (long long)floor((c->low[k] - t.base[k]) / t.edge);
        high[k] = (long long)floor((c->high[k] - t.base[k]) / t.edge);
    }
    if (good) qsort(nodes, count, sizeof(*nodes), by_root);
    node *at = nodes, *last = nodes + count;
    for (long long x = low[0]; x <= high[0] && good; ++x)
        for (long long y = low[1]; y <= high[1] && good; ++y)
            for (long long z = low[2]; z <= high[2] && good; ++z) {
                node key = {.root = {x, y, z}};
                while (at < last && by_root(at, &key) < 0) ++at;
                node *begin_of = at;
                while (at < last && by_root(at, &key) == 0) ++at;
                const uint32_t corner[3] = {0, 0, 0};
                good = check_node(&t, key.root, corner, UNITS, begin_of, (uint64_t)(at - begin_of));
            }
    free(nodes);
    return good;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

/* The part of a disc of radius r around 0 where x <= a and y <= b. */
static real disc_part(real r, real a, real b) {
    const real pi = 3.14159265358979323846264338L;
    if (a <= -r || b <= -r) return 0.0L;
    if (a > r) a = r;
    if (b > r) b = r;
    if (a * a + b * b < r * r) {
        real angle = acosl(-a / r) + asinl(b / r);
        return 0.5L * (r * r * angle + a * sqrtl(r * r - a * a) + b * sqrtl(r * r - b * b)) + a * b;
    }
    /* The corner is outside: what is beyond a and what is beyond b have nothing in common. */
    real beyond_a = r * r * acosl(fabsl(a) / r) - fabsl(a) * sqrtl(fmaxl(r * r - a * a, 0.0L));
    real beyond_b = r * r * acosl(fabsl(b) / r) - fabsl(b) * sqrtl(fmaxl(r * r - b * b, 0.0L));
    if (a >= 0.0L && b >= 0.0L) return pi * r * r - beyond_a - beyond_b;
    if (a >= 0.0L) return beyond_b;
    return b >= 0.0L ? beyond_a : 0.0L;
}

/* The area of a slice of a ball around 0, at height z, in a rectangle. */
static real slice_area(real radius, const real low[3], const real high[3], real z) {
    real square = radius * radius - z * z;
    if (square <= 0.0L) return 0.0L;
    real r = sqrtl(square);
    return disc_part(r, high[0], high[1]) - disc_part(r, low[0], high[1]) -
           disc_part(r, high[0], low[1]) + disc_part(r, low[0], low[1]);
}

static int by_value(const void *a, const void *b) {
    real x = *(const real *)a, y = *(const real *)b;
    return (x > y) - (x < y);
}

/* Nodes and weights of Gauss and Legendre for ten points, of one half. */
static const real nodes_10[5] = {0.1488743389816312108848L, 0.4333953941292471907993L,
                                 0.6794095682990244062343L, 0.8650633666889845107321L,
                                 0.9739065285171717200780L};
static const real weights_10[5] = {0.2955242247147528701739L, 0.2692667193099963550912L,
                                   0.2190863625159820439955L, 0.1494513491505805931458L,
                                   0.0666713443086881375936L};

double pack_ball_in_box(const carom_ball *ball, const carom_bounds *box) {
    real low[3], high[3], cuts[20], radius = (real)ball->radius, sum = 0.0L;
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        low[k] = (real)coordinate(&box->low, k) - (real)coordinate(&ball->centre, k);
        high[k] = (real)coordinate(&box->high, k) - (real)coordinate(&ball->centre, k);
    }
    real bottom = fmaxl(low[2], -radius), top = fminl(high[2], radius);
    if (!(bottom < top)) return 0.0;
    cuts[count++] = bottom;
    cuts[count++] = top;
    /* Between heights where the slice reaches a side or a corner, its area is smooth. */
    const real x[2] = {low[0], high[0]}, y[2] = {low[1], high[1]};
    for (int i = 0; i < 8; ++i) {
        real square = i < 2   ? x[i] * x[i]
                      : i < 4 ? y[i - 2] * y[i - 2]
                              : x[i & 1] * x[i & 1] + y[i >> 1 & 1] * y[i >> 1 & 1];
        real height = radius * radius - square;
        if (height <= 0.0L) continue;
        height = sqrtl(height);
        if (height > bottom && height < top) cuts[count++] = height;
        if (-height > bottom && -height < top) cuts[count++] = -height;
    }
    qsort(cuts, (size_t)count, sizeof(cuts[0]), by_value);
    for (int i = 0; i + 1 < count; ++i) {
        real length = cuts[i + 1] - cuts[i];
        for (int k = 0; k < 10; ++k) {
            /* z = u^2 (3 - 2 u): the roots at the ends of the interval become smooth. */
            real u = 0.5L + 0.5L * (k < 5 ? nodes_10[k] : -nodes_10[k - 5]);
            real z = cuts[i] + length * u * u * (3.0L - 2.0L * u);
            sum += 0.5L * weights_10[k % 5] * 6.0L * u * (1.0L - u) * length *
                   slice_area(radius, low, high, z);
        }
    }
    return (double)sum;
}

typedef struct polygon {
    real p[12][3];
    int count;
} polygon;

/* Keeps what is on one side: sign * (p[k] - at) >= 0. */
static void cut_polygon(polygon *g, int k, real at, real sign) {
    polygon from = *g;
    g->count = 0;
    for (int i = 0; i < from.count; ++i) {
        const real *p = from.p[i], *q = from.p[(i + 1) % from.count];
        real a = sign * (p[k] - at), b = sign * (q[k] - at);
        if (a >= 0.0L) memcpy(g->p[g->count++], p, sizeof(g->p[0]));
        if ((a < 0.0L && b > 0.0L) || (a > 0.0L && b < 0.0L)) {
            real t = a / (a - b);
            for (int m = 0; m < 3; ++m) g->p[g->count][m] = p[m] + t * (q[m] - p[m]);
            g->p[g->count++][k] = at;
        }
    }
}

/* The integral of the height above `floor` over the projection to x and y, with its sign; with
 * `height` instead of the polygon's where that is not negative. */
static real column_below(const polygon *g, real floor, real height) {
    real sum = 0.0L;
    for (int i = 1; i + 1 < g->count; ++i) {
        const real *a = g->p[0], *b = g->p[i], *c = g->p[i + 1];
        real area = 0.5L * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        sum += area * (height >= 0.0L ? height : (a[2] + b[2] + c[2]) / 3.0L - floor);
    }
    return sum;
}

/* The integral of the winding number over a box, which is the number of faces above a point, upward
 * ones less downward ones: for each triangle above the box or in it, the volume below it. */
static real integral_of_winding(const checker *c, const carom_bounds *box) {
    real sum = 0.0L;
    real width[2] = {((real)c->high[0] - c->low[0]) / c->columns,
                     ((real)c->high[1] - c->low[1]) / c->columns};
    int range[2][2];
    for (int k = 0; k < 2; ++k) {
        range[k][0] = clamp_index(coordinate(&box->low, k), c->low[k], c->high[k], c->columns);
        range[k][1] = clamp_index(coordinate(&box->high, k), c->low[k], c->high[k], c->columns);
    }
    for (int y = range[1][0]; y <= range[1][1]; ++y)
        for (int x = range[0][0]; x <= range[0][1]; ++x) {
            /* The part of the box in this column; the first and last reach to its sides. */
            real low[2] = {(real)box->low.x, (real)box->low.y};
            real high[2] = {(real)box->high.x, (real)box->high.y};
            if (x > range[0][0]) low[0] = (real)c->low[0] + x * width[0];
            if (x < range[0][1]) high[0] = (real)c->low[0] + (x + 1) * width[0];
            if (y > range[1][0]) low[1] = (real)c->low[1] + y * width[1];
            if (y < range[1][1]) high[1] = (real)c->low[1] + (y + 1) * width[1];
            uint64_t at = (uint64_t)y * c->columns + x;
            for (uint32_t i = c->column_first[at]; i < c->column_first[at + 1]; ++i) {
                const carom_vec3 *q = c->claim->triangles[c->column_items[i]].corner;
                if (q[0].z <= box->low.z && q[1].z <= box->low.z && q[2].z <= box->low.z) continue;
                polygon g = {.count = 3};
                for (int k = 0; k < 3; ++k)
                    for (int m = 0; m < 3; ++m) g.p[k][m] = (real)coordinate(&q[k], m);
                for (int m = 0; m < 2 && g.count != 0; ++m) {
                    cut_polygon(&g, m, low[m], 1.0L);
                    cut_polygon(&g, m, high[m], -1.0L);
                }
                cut_polygon(&g, 2, (real)box->low.z, 1.0L);
                if (g.count < 3) continue;
                polygon above = g;
                cut_polygon(&above, 2, (real)box->high.z, 1.0L);
                cut_polygon(&g, 2, (real)box->high.z, -1.0L);
                sum += column_below(&g, (real)box->low.z, -1.0L) +
                       column_below(&above, 0.0L, (real)box->high.z - (real)box->low.z);
            }
        }
    return sum;
}

/* Whether the bounds of a triangle overlap a box. */
static bool near_surface(const checker *c, const carom_bounds *box) {
    int range[3][2];
    for (int k = 0; k < 3; ++k) {
        range[k][0] = clamp_index(coordinate(&box->low, k), c->low[k], c->high[k], c->cells);
        range[k][1] = clamp_index(coordinate(&box->high, k), c->low[k], c->high[k], c->cells);
    }
    for (int z = range[2][0]; z <= range[2][1]; ++z)
        for (int y = range[1][0]; y <= range[1][1]; ++y)
            for (int x = range[0][0]; x <= range[0][1]; ++x) {
                uint64_t at = ((uint64_t)z * c->cells + y) * c->cells + x;
                for (uint32_t i = c->cell_first[at]; i < c->cell_first[at + 1]; ++i) {
                    const carom_triangle *t = &c->claim->triangles[c->cell_items[i]];
                    bool apart = false;
                    for (int k = 0; k < 3 && !apart; ++k) {
                        double a = coordinate(&t->corner[0], k), b = coordinate(&t->corner[1], k);
                        double d = coordinate(&t->corner[2], k);
                        apart = fmax(fmax(a, b), d) < coordinate(&box->low, k) ||
                                fmin(fmin(a, b), d) > coordinate(&box->high, k);
                    }
                    if (!apart) return true;
                }
            }
    return false;
}

/* Spheres by cells of a grid in space. */
typedef struct sphere_grid {
    int count;
    uint32_t *first, *items;
} sphere_grid;

static void sphere_range(const checker *c, const carom_packing_sphere *s, int count,
                         int range[3][2]) {
    for (int k = 0; k < 3; ++k) {
        double x = coordinate(&s->centre, k), r = s->radius * 1.0000001;
        range[k][0] = clamp_index(x - r, c->low[k], c->high[k], count);
        range[k][1] = clamp_index(x + r, c->low[k], c->high[k], count);
    }
}

static sphere_grid make_sphere_grid(const checker *c) {
    uint64_t spheres = c->claim->sphere_count;
    sphere_grid grid = {.count = (int)(2.0 * cbrt((double)spheres)) + 1};
    uint64_t n = (uint64_t)grid.count, slots = n * n * n;
    grid.first = calloc(slots + 2, sizeof(uint32_t));
    for (int pass = 0; pass < 2; ++pass) {
        for (uint64_t s = 0; s < spheres; ++s) {
            int r[3][2];
            sphere_range(c, &c->claim->spheres[s], grid.count, r);
            for (int z = r[2][0]; z <= r[2][1]; ++z)
                for (int y = r[1][0]; y <= r[1][1]; ++y)
                    for (int x = r[0][0]; x <= r[0][1]; ++x) {
                        uint64_t at = ((uint64_t)z * n + (uint64_t)y) * n + (uint64_t)x;
                        if (pass == 0)
                            ++grid.first[at + 2];
                        else
                            grid.items[grid.first[at + 1]++] = (uint32_t)s;
                    }
        }
        if (pass == 0) {
            for (uint64_t i = 0; i <= slots; ++i) grid.first[i + 1] += grid.first[i];
            grid.items = malloc(((uint64_t)grid.first[slots + 1] + 1) * sizeof(uint32_t));
        }
    }
    return grid;
}

/* Adds what balls of others have in a cell: *inflow of this share, leaks of theirs. */
static void add_foreign(const checker *c, const sphere_grid *grid, const carom_packing_cell *cell,
                        const carom_bounds *box, real *inflow, real *leaks) {
    int range[3][2];
    for (int k = 0; k < 3; ++k) {
        range[k][0] = clamp_index(coordinate(&box->low, k), c->low[k], c->high[k], grid->count);
        range[k][1] = clamp_index(coordinate(&box->high, k), c->low[k], c->high[k], grid->count);
    }
    for (int z = range[2][0]; z <= range[2][1]; ++z)
        for (int y = range[1][0]; y <= range[1][1]; ++y)
            for (int x = range[0][0]; x <= range[0][1]; ++x) {
                uint64_t n = (uint64_t)grid->count;
                uint64_t at = ((uint64_t)z * n + (uint64_t)y) * n + (uint64_t)x;
                for (uint32_t i = grid->first[at]; i < grid->first[at + 1]; ++i) {
                    uint32_t id = grid->items[i];
                    const carom_packing_sphere *s = &c->claim->spheres[id];
                    int of[3][2];
                    if (id == cell->sphere) continue;
                    sphere_range(c, s, grid->count, of);
                    /* Once, in the first cell that both have. */
                    if (x != (of[0][0] > range[0][0] ? of[0][0] : range[0][0]) ||
                        y != (of[1][0] > range[1][0] ? of[1][0] : range[1][0]) ||
                        z != (of[2][0] > range[2][0] ? of[2][0] : range[2][0]))
                        continue;
                    double square = 0.0;
                    for (int k = 0; k < 3; ++k) {
                        double p = coordinate(&s->centre, k);
                        double gap = fmax(
                            fmax(coordinate(&box->low, k) - p, p - coordinate(&box->high, k)), 0.0);
                        square += gap * gap;
                    }
                    if (square >= s->radius * s->radius) continue;
                    carom_ball ball = {s->centre, s->radius};
                    real part = (real)pack_ball_in_box(&ball, box);
                    *inflow += part;
                    leaks[id] += part;
                }
            }
}

/* Relative difference of a share recomputed from what its radius and void say: radii are float32.
 */
#define SHARE_ERROR 1e-6L

/* Recomputes all shares and voids from the cells, of a mesh whose faces do not cross. Where winding
 * numbers are 0 and 1 alone, the volume of a share is the integral of the winding number over its
 * cells. */
static bool check_shares(checker *c) {
    const pack_claim *claim = c->claim;
    sphere_grid grid = make_sphere_grid(c);
    real *volumes = calloc(3 * claim->sphere_count + 1, sizeof(real));
    real *inflow = volumes + claim->sphere_count, *leaks = inflow + claim->sphere_count;
    bool good = true, simple = true;
    for (uint64_t i = 0; i < claim->cell_count && simple; ++i) {
        const carom_packing_cell *cell = &claim->cells[i];
        carom_vec3 low = cell->low;
        carom_bounds box = {low, {low.x + cell->edge, low.y + cell->edge, low.z + cell->edge}};
        carom_vec3 middle = {low.x + 0.5 * cell->edge, low.y + 0.5 * cell->edge,
                             low.z + 0.5 * cell->edge};
        real edge = (real)cell->edge;
        if (near_surface(c, &box)) {
            volumes[cell->sphere] += integral_of_winding(c, &box);
        } else {
            int winding = winding_at(c, &middle, 0.5 * cell->edge);
            simple = winding == 0 || winding == 1;
            volumes[cell->sphere] += edge * edge * edge * winding;
        }
        add_foreign(c, &grid, cell, &box, &inflow[cell->sphere], leaks);
    }
    for (uint64_t i = 0; i < claim->sphere_count && simple && good; ++i) {
        const carom_packing_sphere *s = &claim->spheres[i];
        const real ball = 4.0L / 3.0L * 3.14159265358979323846264338L;
        real stated = ball * (real)s->secondary * s->secondary * s->secondary;
        real own = ball * (real)s->radius * s->radius * s->radius;
        real empty = volumes[i] - (own - leaks[i]) - inflow[i];
        if (fabsl(stated - volumes[i]) > SHARE_ERROR * volumes[i])
            good = fail(c, "the share of sphere %llu is %.9Lg, not %.9Lg", (unsigned long long)i,
                        volumes[i], stated);
        else if (empty > (real)s->void_volume + SHARE_ERROR * volumes[i])
            good = fail(c, "the void of sphere %llu is %.9Lg, more than %.9g",
                        (unsigned long long)i, empty, s->void_volume);
        c->proof->empty_volume += (double)empty;
    }
    c->proof->recomputed = simple;
    free(grid.first);
    free(grid.items);
    free(volumes);
    return good;
}

/* ---- The whole ------------------------------------------------------------------------------- */

bool pack_check(const pack_claim *claim, pack_proof *proof) {
    checker c;
    begin(&c, claim, proof);
    bool good = true;
    for (uint64_t i = 0; i < claim->sphere_count && good; ++i) {
        const carom_packing_sphere *s = &claim->spheres[i];
        double ball = 4.0 / 3.0 * 3.14159265358979323846;
        proof->ball_volume += ball * s->radius * s->radius * s->radius;
        proof->secondary_volume += ball * s->secondary * s->secondary * s->secondary;
        proof->mean_cover += s->cover / s->radius / (double)claim->sphere_count;
        proof->void_volume += s->void_volume;
        if (!(s->radius > 0.0) || (i > 0 && s->radius > s[-1].radius))
            good = fail(&c, "the radius of sphere %llu is not in order", (unsigned long long)i);
        if (good && claim->shares && !(s->cover >= s->radius))
            good = fail(&c, "the cover of sphere %llu is too small", (unsigned long long)i);
        good = good && check_inside(&c, i);
    }
    good = good && check_disjoint(&c) && (claim->cells == NULL || check_cells(&c));
    if (good && claim->cells != NULL && claim->shares && !claim->crosses) good = check_shares(&c);
    end(&c);
    return good;
}

bool pack_check_cover(const pack_cover_claim *claim, pack_proof *proof) {
    checker c;
    carom_packing_sphere *spheres = calloc(claim->sphere_count + 1, sizeof(*spheres));
    for (uint64_t i = 0; i < claim->sphere_count; ++i) {
        spheres[i].centre = claim->spheres[i].centre;
        spheres[i].radius = spheres[i].cover = claim->spheres[i].radius - claim->margin;
    }
    pack_claim cells = {.spheres = spheres,
                        .sphere_count = claim->sphere_count,
                        .cells = claim->cells,
                        .cell_count = claim->cell_count,
                        .triangles = claim->triangles,
                        .triangle_count = claim->triangle_count};
    begin(&c, &cells, proof);
    bool good = true;
    for (uint64_t i = 0; i < claim->sphere_count && good; ++i)
        if (!(claim->spheres[i].radius > 0.0) ||
            (i > 0 && claim->spheres[i].radius > claim->spheres[i - 1].radius))
            good = fail(&c, "the radius of sphere %llu is not in order", (unsigned long long)i);
    good = good && check_cells(&c);
    end(&c);
    free(spheres);
    return good;
}

static double outside_at(const checker *c, const carom_vec3 *p) {
    real least = INFINITY;
    for (uint64_t t = 0; t < c->claim->triangle_count; ++t)
        least = fminl(triangle_square(p, &c->claim->triangles[t]), least);
    double d = (double)sqrtl(least);
    return d > 0.0 && winding_at(c, p, d) < 1 ? d : 0.0;
}

pack_sampled pack_sample_outside(const pack_cover_claim *claim, uint64_t seed, int tries) {
    checker c;
    pack_proof proof;
    pack_claim surface = {.triangles = claim->triangles, .triangle_count = claim->triangle_count};
    begin(&c, &surface, &proof);
    carom_random random = {seed};
    pack_sampled sampled = {0};
    double area = 0.0;
    for (uint64_t i = 0; i < claim->sphere_count; ++i)
        for (int k = 0; k < tries; ++k) {
            const carom_ball *s = &claim->spheres[i];
            carom_vec3 u = {carom_random_normal(&random), carom_random_normal(&random),
                            carom_random_normal(&random)};
            double length = s->radius / sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
            if (k % 4 == 3) length *= cbrt(carom_random_uniform(&random)); /* within it */
            carom_vec3 p = {s->centre.x + u.x * length, s->centre.y + u.y * length,
                            s->centre.z + u.z * length};
            double d = outside_at(&c, &p);
            bool hidden = k % 4 == 3;
            for (uint64_t j = 0; j < claim->sphere_count && !hidden; ++j) {
                const carom_ball *o = &claim->spheres[j];
                double x = p.x - o->centre.x, y = p.y - o->centre.y, z = p.z - o->centre.z;
                hidden = j != i && x * x + y * y + z * z < o->radius * o->radius;
            }
            sampled.worst = fmax(d, sampled.worst);
            if (hidden) continue;
            sampled.mean += d * s->radius * s->radius;
            area += s->radius * s->radius;
        }
    sampled.mean /= area > 0.0 ? area : 1.0;
    end(&c);
    return sampled;
}

/* The radius of the largest empty ball around a point, by trying everything; negative in a ball. */
static double empty_at(const checker *c, const carom_vec3 *p) {
    double least = INFINITY;
    for (uint64_t i = 0; i < c->claim->sphere_count; ++i) {
        const carom_packing_sphere *s = &c->claim->spheres[i];
        double x = p->x - s->centre.x, y = p->y - s->centre.y, z = p->z - s->centre.z;
        least = fmin(sqrt(x * x + y * y + z * z) - s->radius, least);
    }
    for (uint64_t t = 0; t < c->claim->triangle_count; ++t)
        least = fmin((double)sqrtl(triangle_square(p, &c->claim->triangles[t])), least);
    return least;
}

double pack_search_empty(const pack_claim *claim, uint64_t seed, int tries) {
    checker c;
    pack_proof proof;
    begin(&c, claim, &proof);
    carom_random random = {seed};
    double best = 0.0;
    for (int i = 0; i < tries; ++i) {
        carom_vec3 p = {carom_random_between(&random, c.low[0], c.high[0]),
                        carom_random_between(&random, c.low[1], c.high[1]),
                        carom_random_between(&random, c.low[2], c.high[2])};
        double here = empty_at(&c, &p), step = fabs(here) + 0.01 * (c.high[0] - c.low[0]);
        if (here > 0.0 && winding_at(&c, &p, here) < 1) continue; /* balls are inside */
        for (int k = 0; k < 80; ++k) {
            carom_vec3 q = {p.x + step * carom_random_between(&random, -1.0, 1.0),
                            p.y + step * carom_random_between(&random, -1.0, 1.0),
                            p.z + step * carom_random_between(&random, -1.0, 1.0)};
            double there = empty_at(&c, &q);
            if (there > here && (there <= 0.0 || winding_at(&c, &q, there) >= 1)) {
                p = q;
                here = there;
            } else {
                step *= 0.9;
            }
        }
        best = fmax(here, best);
    }
    end(&c);
    return best;
}

bool pack_crosses(carom_context *context, const carom_mesh_view *view) {
    carom_mesh *welded = NULL;
    carom_soup *soup = NULL;
    carom_mesh_view mesh_view = {0};
    carom_soup_def def = {.mesh = &mesh_view};
    bool crosses = true;
    if (carom_mesh_weld(context, view, &welded) == CAROM_OK &&
        carom_mesh_get_view(welded, &mesh_view) == CAROM_OK &&
        carom_soup_create(context, &def, &soup) == CAROM_OK)
        (void)carom_soup_self_meet(context, soup, &crosses);
    carom_soup_destroy(soup);
    carom_mesh_destroy(welded);
    return crosses;
}

carom_triangle *pack_triangles(carom_context *context, const carom_mesh_view *view, uint64_t *count,
                               double *volume) {
    carom_mesh *welded = NULL, *split = NULL;
    carom_mesh_view v;
    carom_mesh_report report;
    carom_triangle *triangles = NULL;
    if (carom_mesh_weld(context, view, &welded) == CAROM_OK &&
        carom_mesh_get_view(welded, &v) == CAROM_OK &&
        carom_mesh_inspect(context, &v, &report) == CAROM_OK &&
        carom_mesh_triangulate(context, &v, NULL, &split, NULL) == CAROM_OK &&
        carom_mesh_get_view(split, &v) == CAROM_OK) {
        *count = v.face_count;
        *volume = fabs(report.volume);
        triangles = malloc((v.face_count + 1) * sizeof(*triangles));
        for (uint64_t i = 0; i < 3 * v.face_count; ++i) {
            uint64_t at = i % 3 != 0 && report.volume < 0.0 ? i / 3 * 3 + 3 - i % 3 : i;
            const char *from = (const char *)v.positions + v.corners[i] * v.stride;
            if (v.stride == 0)
                from = (const char *)v.positions +
                       v.corners[i] * (v.scalar == CAROM_SCALAR_FLOAT32 ? 12u : 24u);
            carom_vec3 p;
            if (v.scalar == CAROM_SCALAR_FLOAT32) {
                float f[3];
                memcpy(f, from, sizeof(f));
                p = (carom_vec3){(double)f[0], (double)f[1], (double)f[2]};
            } else {
                memcpy(&p, from, sizeof(p));
            }
            triangles[at / 3].corner[at % 3] = p;
        }
    }
    carom_mesh_destroy(split);
    carom_mesh_destroy(welded);
    return triangles;
}

carom_packing_cell *pack_read_cells(const char *path, uint64_t *count) {
    FILE *file = fopen(path, "r");
    carom_packing_cell *cells = NULL, c;
    uint64_t capacity = 0;
    char line[256];
    *count = 0;
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) return NULL;
    while (fgets(line, sizeof(line), file) != NULL) {
        char *at = line;
        double *const to[4] = {&c.low.x, &c.low.y, &c.low.z, &c.edge};
        for (int i = 0; i < 4; ++i, ++at) *to[i] = strtod(at, &at);
        c.sphere = (uint32_t)strtoul(at, NULL, 10);
        if (*count == capacity) {
            capacity = 2 * capacity + 1024;
            cells = realloc(cells, capacity * sizeof(*cells));
        }
        cells[(*count)++] = c;
    }
    fclose(file);
    return cells;
}
