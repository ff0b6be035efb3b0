/* SPDX-License-Identifier: MIT */
/* Tests of one oriented box against sixteen, and the traversals of two trees that use them.
 *
 * Two boxes are disjoint if one of 15 axes separates them: the three edge directions of each box,
 * or one of the nine cross products of two edge directions (Gottschalk, Lin, Manocha 1996). All
 * sixteen boxes are tested on each axis at once; after the first six axes few lanes are left, often
 * none. The test is conservative: a pair of boxes that passes costs only time, and one that is
 * rejected is apart by more than the slack, which covers all rounding. So fused operations may be
 * used, and different instruction sets may pass different pairs. */
#include "bvh/bvh_obb_cpu.h"

#include <math.h>

#include "base/simd.h"

/* ---- Projection for the build ---------------------------------------------------------------- */

/* No fused operations, so that the tree is the same on every machine. */
void CAROM_CPU(carom_obb_slabs)(const float *const points[3], uint64_t count, const float axes[9],
                                float low[3], float high[3]) {
    carom_f32v least[3], most[3];
    for (int i = 0; i < 3; ++i)
        least[i] = most[i] =
            carom_f32v_splat(points[0][0] * axes[3 * i] +
                             (points[1][0] * axes[3 * i + 1] + points[2][0] * axes[3 * i + 2]));
    uint64_t at = 0;
    for (; at + CAROM_LANES <= count; at += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(points[0] + at), y = carom_f32v_load(points[1] + at),
                   z = carom_f32v_load(points[2] + at);
        for (int i = 0; i < 3; ++i) {
            carom_f32v along = x * axes[3 * i] + (y * axes[3 * i + 1] + z * axes[3 * i + 2]);
            least[i] = carom_f32v_min(least[i], along);
            most[i] = carom_f32v_max(most[i], along);
        }
    }
    for (int i = 0; i < 3; ++i) {
        low[i] = least[i][0];
        high[i] = most[i][0];
        for (int lane = 1; lane < CAROM_LANES; ++lane) {
            low[i] = least[i][lane] < low[i] ? least[i][lane] : low[i];
            high[i] = most[i][lane] > high[i] ? most[i][lane] : high[i];
        }
        for (uint64_t k = at; k < count; ++k) {
            float along = points[0][k] * axes[3 * i] +
                          (points[1][k] * axes[3 * i + 1] + points[2][k] * axes[3 * i + 2]);
            low[i] = along < low[i] ? along : low[i];
            high[i] = along > high[i] ? along : high[i];
        }
    }
}

/* ---- Principal axes -------------------------------------------------------------------------- */

#define PARTIAL_SUMS 8u /* of a spread: lanes of the widest instruction set */
#define SPREAD_PARTS (PARTIAL_SUMS / CAROM_LANES64)

/* The sums of lanes in pairs, then of these. */
CAROM_SIMD double obb_total(const carom_f64v part[SPREAD_PARTS]) {
    double sum[PARTIAL_SUMS];
    for (uint32_t i = 0; i < SPREAD_PARTS; ++i) carom_f64v_store(sum + i * CAROM_LANES64, part[i]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

void CAROM_CPU(carom_obb_spread)(const float *const points[3], uint32_t count, carom_spread *sum) {
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    carom_f64v one[3][SPREAD_PARTS], two[6][SPREAD_PARTS];
    float last[3][PARTIAL_SUMS] = {{0}};
    memset(one, 0, sizeof(one));
    memset(two, 0, sizeof(two));
    for (uint32_t at = 0; at < count; at += PARTIAL_SUMS) {
        bool whole = count - at >= PARTIAL_SUMS;
        for (int k = 0; k < 3 && !whole; ++k) /* the others add 0 */
            memcpy(last[k], points[k] + at, (count - at) * sizeof(float));
        for (uint32_t part = 0; part < SPREAD_PARTS; ++part) {
            carom_f64v x[3];
            for (int k = 0; k < 3; ++k) {
                const float *from = whole ? points[k] + at : last[k];
                x[k] = carom_f64v_floats(from + part * CAROM_LANES64);
                one[k][part] += x[k];
            }
            for (int k = 0; k < 6; ++k) two[k][part] += x[first[k]] * x[second[k]];
        }
    }
    for (int k = 0; k < 3; ++k) sum->sum[k] += obb_total(one[k]);
    for (int k = 0; k < 6; ++k) sum->square[k] += obb_total(two[k]);
    sum->count += count;
}

/* Symmetric matrices, one per lane, and the axes that rotations have reached. */
typedef struct obb_matrices {
    carom_f64v m[3][3], v[3][3];
} obb_matrices;

CAROM_SIMD carom_i64v obb_unfinished(const obb_matrices *a) {
    carom_f64v off =
        (carom_f64v_abs(a->m[0][1]) + carom_f64v_abs(a->m[0][2])) + carom_f64v_abs(a->m[1][2]);
    carom_f64v trace =
        (carom_f64v_abs(a->m[0][0]) + carom_f64v_abs(a->m[1][1])) + carom_f64v_abs(a->m[2][2]);
    return off > CAROM_PRINCIPAL_CONVERGED * trace;
}

/* A plane rotation that makes m[p][r] 0, in the lanes that are not finished. */
CAROM_SIMD void obb_rotate(obb_matrices *a, int p, int r, carom_i64v unfinished) {
    const carom_f64v one = (carom_f64v){0} + 1.0;
    carom_i64v turned = unfinished & (carom_f64v_abs(a->m[p][r]) > 0.0);
    carom_f64v off = carom_f64v_select(turned, a->m[p][r], one);
    carom_f64v theta = (a->m[r][r] - a->m[p][p]) / (2.0 * off);
    carom_f64v tangent = 1.0 / (carom_f64v_abs(theta) + carom_f64v_sqrt(theta * theta + 1.0));
    tangent = carom_f64v_select(theta < 0.0, -tangent, tangent);
    carom_f64v c = 1.0 / carom_f64v_sqrt(tangent * tangent + 1.0), sine = tangent * c;
    for (int k = 0; k < 3; ++k) {
        carom_f64v mp = a->m[p][k], mr = a->m[r][k], vp = a->v[p][k], vr = a->v[r][k];
        a->m[p][k] = carom_f64v_select(turned, c * mp - sine * mr, mp);
        a->m[r][k] = carom_f64v_select(turned, sine * mp + c * mr, mr);
        a->v[p][k] = carom_f64v_select(turned, c * vp - sine * vr, vp);
        a->v[r][k] = carom_f64v_select(turned, sine * vp + c * vr, vr);
    }
    for (int k = 0; k < 3; ++k) {
        carom_f64v mp = a->m[k][p], mr = a->m[k][r];
        a->m[k][p] = carom_f64v_select(turned, c * mp - sine * mr, mp);
        a->m[k][r] = carom_f64v_select(turned, sine * mp + c * mr, mr);
    }
}

/* Each lane does the operations of principal.c in their order. */
CAROM_SIMD void obb_diagonalize(obb_matrices *a) {
    memset(a->v, 0, sizeof(a->v));
    for (int i = 0; i < 3; ++i) a->v[i][i] += 1.0;
    for (int sweep = 0; sweep < CAROM_PRINCIPAL_SWEEPS; ++sweep) {
        carom_i64v unfinished = obb_unfinished(a);
        if (carom_lanes_of64(unfinished) == 0) break;
        obb_rotate(a, 0, 1, unfinished);
        obb_rotate(a, 0, 2, unfinished);
        obb_rotate(a, 1, 2, unfinished);
    }
}

void CAROM_CPU(carom_obb_axes)(const carom_spread *spreads, uint32_t count, double axes[][3][3]) {
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        double lanes[9][CAROM_LANES64], m[3][CAROM_LANES64], v[3][3][CAROM_LANES64];
        for (uint32_t lane = 0; lane < CAROM_LANES64; ++lane) {
            double of[3][3];
            carom_spread_covariance(&spreads[CAROM_MIN(at + lane, count - 1)], of);
            for (int i = 0; i < 9; ++i) lanes[i][lane] = of[i / 3][i % 3];
        }
        obb_matrices a;
        for (int i = 0; i < 9; ++i) a.m[i / 3][i % 3] = carom_f64v_load(lanes[i]);
        obb_diagonalize(&a);
        for (int i = 0; i < 3; ++i) {
            carom_f64v_store(m[i], a.m[i][i]);
            for (int k = 0; k < 3; ++k) carom_f64v_store(v[i][k], a.v[i][k]);
        }
        for (uint32_t lane = 0; lane < CAROM_LANES64 && at + lane < count; ++lane) {
            int first = m[1][lane] > m[0][lane] ? 1 : 0;
            if (m[2][lane] > m[first][lane]) first = 2;
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 3; ++k) axes[at + lane][i][k] = v[(first + i) % 3][k][lane];
        }
    }
}

/* ---- Boxes of triangles ---------------------------------------------------------------------- */

/* Any axes bound a triangle; these are the best where they can be computed. */
#define LEAST_EDGE         1e-100 /* of the scaled soup: its square is not 0 */
#define BVH_OBB_LEAST_AREA 1e-200 /* the same, of a normal */
/* Of the longest edge: thinner triangles have inaccurate normals. */
#define LEAST_HEIGHT 1e-12
/* A component of a unit vector: below it, the axis is not parallel. */
#define NOT_ALONG 0.7

typedef struct bvh_obb_cpu_vec {
    carom_f64v x, y, z;
} bvh_obb_cpu_vec;

CAROM_SIMD bvh_obb_cpu_vec obb_sub(bvh_obb_cpu_vec a, bvh_obb_cpu_vec b) {
    return (bvh_obb_cpu_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

CAROM_SIMD bvh_obb_cpu_vec obb_scale(bvh_obb_cpu_vec a, carom_f64v s) {
    return (bvh_obb_cpu_vec){a.x * s, a.y * s, a.z * s};
}

CAROM_SIMD carom_f64v obb_dot(bvh_obb_cpu_vec a, bvh_obb_cpu_vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

CAROM_SIMD bvh_obb_cpu_vec obb_cross(bvh_obb_cpu_vec a, bvh_obb_cpu_vec b) {
    return (bvh_obb_cpu_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

CAROM_SIMD bvh_obb_cpu_vec obb_select(carom_i64v which, bvh_obb_cpu_vec yes, bvh_obb_cpu_vec no) {
    return (bvh_obb_cpu_vec){carom_f64v_select(which, yes.x, no.x),
                             carom_f64v_select(which, yes.y, no.y),
                             carom_f64v_select(which, yes.z, no.z)};
}

/* The axes of triangles: the longest edge, the cross product of normal and edge, and the normal;
 * arbitrary axes where these vanish. */
CAROM_SIMD void obb_triangle_axes(const bvh_obb_cpu_vec p[3], bvh_obb_cpu_vec axes[3]) {
    const carom_f64v none = {0}, one = none + 1.0;
    bvh_obb_cpu_vec edge = {none, none, none};
    carom_f64v most = none;
    for (int i = 0; i < 3; ++i) {
        bvh_obb_cpu_vec e = obb_sub(p[i == 2 ? 0 : i + 1], p[i]);
        carom_f64v squared = obb_dot(e, e);
        carom_i64v longer = squared > most;
        most = carom_f64v_select(longer, squared, most);
        edge = obb_select(longer, e, edge);
    }
    bvh_obb_cpu_vec normal = obb_cross(obb_sub(p[1], p[0]), obb_sub(p[2], p[0]));
    carom_f64v area = carom_f64v_sqrt(obb_dot(normal, normal)), length = carom_f64v_sqrt(most);
    carom_i64v is_long = length > LEAST_EDGE;
    carom_i64v is_wide = (area > LEAST_HEIGHT * most) & (area > BVH_OBB_LEAST_AREA);
    bvh_obb_cpu_vec first = {one, none, none}, second = {none, one, none};
    bvh_obb_cpu_vec x =
        obb_select(is_long, obb_scale(edge, 1.0 / carom_f64v_select(is_long, length, one)), first);
    bvh_obb_cpu_vec aside = obb_select(carom_f64v_abs(x.x) < NOT_ALONG, first, second);
    bvh_obb_cpu_vec z =
        obb_select(is_wide, obb_scale(normal, 1.0 / carom_f64v_select(is_wide, area, one)),
                   obb_cross(x, aside));
    /* The normal of a needle may be inaccurate; make it orthogonal to the edge. */
    z = obb_sub(z, obb_scale(x, obb_dot(z, x)));
    z = obb_scale(z, 1.0 / carom_f64v_sqrt(obb_dot(z, z)));
    axes[0] = x;
    axes[1] = obb_cross(z, x);
    axes[2] = z;
}

/* The boxes of triangles with these axes, in lanes from `at` on. */
CAROM_SIMD void obb_triangle_boxes(float corner[3][3][CAROM_BVH_WIDTH], carom_obb_node *node,
                                   uint32_t at) {
    carom_f32v middle[3], size = {0};
    for (int i = 0; i < 3; ++i) {
        carom_f32v low = {0}, high = {0};
        for (int c = 0; c < 3; ++c) {
            carom_f32v x = carom_f32v_load(&corner[c][0][at]),
                       y = carom_f32v_load(&corner[c][1][at]),
                       z = carom_f32v_load(&corner[c][2][at]);
            carom_f32v along = x * carom_f32v_load(&node->axis[i][0][at]) +
                               (y * carom_f32v_load(&node->axis[i][1][at]) +
                                z * carom_f32v_load(&node->axis[i][2][at]));
            low = c == 0 ? along : carom_f32v_min(low, along);
            high = c == 0 ? along : carom_f32v_max(high, along);
        }
        carom_f32v extent = 0.5f * (high - low);
        middle[i] = 0.5f * (low + high);
        size += carom_f32v_abs(middle[i]) + extent;
        carom_f32v_store(&node->extent[i][at], extent);
    }
    for (int k = 0; k < 3; ++k) {
        carom_f32v centre = (middle[0] * carom_f32v_load(&node->axis[0][k][at]) +
                             middle[1] * carom_f32v_load(&node->axis[1][k][at])) +
                            middle[2] * carom_f32v_load(&node->axis[2][k][at]);
        carom_f32v_store(&node->centre[k][at], centre);
        carom_f32v extent = carom_f32v_load(&node->extent[k][at]);
        carom_f32v_store(&node->extent[k][at], extent + CAROM_OBB_SLAB_MARGIN * size);
    }
}

void CAROM_CPU(carom_obb_triangles)(const float *const points[3], uint64_t first, uint32_t count,
                                    carom_obb_node *node) {
    float corner[3][3][CAROM_BVH_WIDTH]; /* of corner c: x, y, z; lanes past the last repeat it */
    carom_obb_node all;
    CAROM_ASSERT(count >= 1 && count <= CAROM_BVH_WIDTH);
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane)
        for (int c = 0; c < 3; ++c)
            for (int k = 0; k < 3; ++k)
                corner[c][k][lane] =
                    points[k][3 * (first + CAROM_MIN(lane, count - 1)) + (uint64_t)c];
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        bvh_obb_cpu_vec p[3], axes[3];
        for (int c = 0; c < 3; ++c)
            p[c] = (bvh_obb_cpu_vec){carom_f64v_floats(&corner[c][0][at]),
                                     carom_f64v_floats(&corner[c][1][at]),
                                     carom_f64v_floats(&corner[c][2][at])};
        obb_triangle_axes(p, axes);
        for (int i = 0; i < 3; ++i) {
            carom_f64v_store_floats(&all.axis[i][0][at], axes[i].x);
            carom_f64v_store_floats(&all.axis[i][1][at], axes[i].y);
            carom_f64v_store_floats(&all.axis[i][2][at], axes[i].z);
        }
    }
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES)
        obb_triangle_boxes(corner, &all, at);
    for (int k = 0; k < 3; ++k) {
        memcpy(node->centre[k], all.centre[k], count * sizeof(float));
        memcpy(node->extent[k], all.extent[k], count * sizeof(float));
        for (int i = 0; i < 3; ++i) memcpy(node->axis[i][k], all.axis[i][k], count * sizeof(float));
    }
}

/* ---- Loading and transforming boxes ---------------------------------------------------------- */

/* A box in the other frame: row k holds component k of its three axes and of its centre. */
typedef struct bvh_obb_cpu_moved_box {
    carom_f32x4 row[3];
    float extent[3];
} bvh_obb_cpu_moved_box;

#define AXIS(box, i, k) ((box)->row[k][i])
#define CENTRE(box, k)  ((box)->row[k][3])

static inline bvh_obb_cpu_moved_box bvh_obb_cpu_move(const carom_obb_move *m,
                                                     const carom_obb *box) {
    const carom_f32x4 factor = {1.0f, 1.0f, 1.0f, m->scale};
    carom_f32x4 from[3];
    bvh_obb_cpu_moved_box moved;
    for (int k = 0; k < 3; ++k)
        from[k] = (carom_f32x4){box->axis[0][k], box->axis[1][k], box->axis[2][k], box->centre[k]};
    for (int k = 0; k < 3; ++k) {
        carom_f32x4 turned = m->r[k][0] * from[0] + m->r[k][1] * from[1] + m->r[k][2] * from[2];
        moved.row[k] = turned * factor + (carom_f32x4){0.0f, 0.0f, 0.0f, m->t[k]};
        moved.extent[k] = box->extent[k] * m->scale;
    }
    return moved;
}

/* Centre and extents have the error of three roundings of values up to |low| + |high|, or of two
 * subnormal ones. */
#define ORIENT_ERROR 0x1p-22f
#define LEAST_FLOAT  0x1p-148f
static const carom_obb_node *bvh_obb_cpu_orient(const carom_obb_view *view,
                                                const carom_bvh_node *from, carom_obb_node *to) {
    for (int k = 0; k < 3; ++k) {
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            float low = from->low[k][lane], high = from->high[k][lane];
            bool empty = !(low <= high);
            float half_low = 0.5f * low, half_high = 0.5f * high;
            float rounding =
                ORIENT_ERROR * (fabsf(half_low) + fabsf(half_high) + fabsf(view->shift[k])) +
                LEAST_FLOAT;
            float centre = ((half_low + half_high) - view->shift[k]) * view->factor;
            float extent = ((half_high - half_low) + rounding) * view->factor;
            to->centre[k][lane] = empty ? 0.0f : centre;
            to->extent[k][lane] = empty ? CAROM_OBB_NOWHERE : extent;
            for (int i = 0; i < 3; ++i) to->axis[i][k][lane] = i == k ? 1.0f : 0.0f;
        }
    }
    return to;
}

static inline const carom_obb_node *node_of(const carom_obb_view *view, uint32_t level,
                                            uint32_t index, carom_obb_node *decoded) {
    uint64_t at = view->level_start[level] + index;
    return view->oriented != NULL ? &view->oriented[at]
                                  : bvh_obb_cpu_orient(view, &view->aligned[at], decoded);
}

/* The box of a node, as stored in its parent. */
static inline carom_obb bvh_obb_cpu_box_of(const carom_obb_view *view, uint32_t level,
                                           uint32_t index) {
    if (level + 1 == view->level_count) return view->root;
    uint32_t lane = index % CAROM_BVH_WIDTH;
    uint64_t at = view->level_start[level + 1] + index / CAROM_BVH_WIDTH;
    if (view->oriented != NULL) return carom_obb_lane(&view->oriented[at], lane);
    carom_obb_node decoded;
    return carom_obb_lane(bvh_obb_cpu_orient(view, &view->aligned[at], &decoded), lane);
}

/* ---- Separating axis test of one box with sixteen -------------------------------------------- */

/* Sixteen boxes a, each in its own axes, and one box b: r[i][j] is the cosine of the angle between
 * axis i of a and axis j of b, t[i] the displacement from a's centre to b's along axis i of a. */
typedef struct facing {
    carom_f32v r[3][3], size[3][3]; /* and its magnitude */
    carom_f32v t[3], along_b[3];
    carom_f32v extent_a[3];
} facing;

static inline void face(const carom_obb_node *node, uint32_t at, const bvh_obb_cpu_moved_box *b,
                        facing *f) {
    carom_f32v apart[3];
    for (int k = 0; k < 3; ++k) {
        apart[k] = CENTRE(b, k) - carom_f32v_load(&node->centre[k][at]);
        f->extent_a[k] = carom_f32v_load(&node->extent[k][at]);
    }
    for (int i = 0; i < 3; ++i) {
        carom_f32v x = carom_f32v_load(&node->axis[i][0][at]),
                   y = carom_f32v_load(&node->axis[i][1][at]),
                   z = carom_f32v_load(&node->axis[i][2][at]);
        f->t[i] = carom_f32v_fma(x, apart[0], carom_f32v_fma(y, apart[1], z * apart[2]));
        for (int j = 0; j < 3; ++j) {
            f->r[i][j] = carom_f32v_fma(
                x, carom_f32v_splat(AXIS(b, j, 0)),
                carom_f32v_fma(y, carom_f32v_splat(AXIS(b, j, 1)), z * AXIS(b, j, 2)));
            f->size[i][j] = carom_f32v_abs(f->r[i][j]);
        }
    }
    for (int j = 0; j < 3; ++j)
        f->along_b[j] = carom_f32v_fma(
            apart[0], carom_f32v_splat(AXIS(b, j, 0)),
            carom_f32v_fma(apart[1], carom_f32v_splat(AXIS(b, j, 1)), apart[2] * AXIS(b, j, 2)));
}

/* The gap between a and b along axis i of a, and along axis j of b; negative if they overlap there.
 */
static inline carom_f32v gap_a(const facing *f, const bvh_obb_cpu_moved_box *b, int i) {
    carom_f32v reach =
        carom_f32v_fma(f->size[i][0], carom_f32v_splat(b->extent[0]), f->extent_a[i]);
    reach = carom_f32v_fma(f->size[i][1], carom_f32v_splat(b->extent[1]), reach);
    return carom_f32v_abs(f->t[i]) -
           carom_f32v_fma(f->size[i][2], carom_f32v_splat(b->extent[2]), reach);
}

static inline carom_f32v gap_b(const facing *f, const bvh_obb_cpu_moved_box *b, int j) {
    carom_f32v reach =
        carom_f32v_fma(f->size[0][j], f->extent_a[0], carom_f32v_splat(b->extent[j]));
    reach = carom_f32v_fma(f->size[1][j], f->extent_a[1], reach);
    return carom_f32v_abs(f->along_b[j]) - carom_f32v_fma(f->size[2][j], f->extent_a[2], reach);
}

/* The lanes of the sixteen boxes that may meet b. */
static inline uint32_t meets(const carom_obb_node *node, const bvh_obb_cpu_moved_box *b,
                             float slack) {
    uint32_t lanes = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        facing f;
        face(node, at, b, &f);
        carom_f32v gap =
            carom_f32v_max(carom_f32v_max(gap_a(&f, b, 0), gap_a(&f, b, 1)), gap_a(&f, b, 2));
        gap = carom_f32v_max(carom_f32v_max(gap, gap_b(&f, b, 0)),
                             carom_f32v_max(gap_b(&f, b, 1), gap_b(&f, b, 2)));
        lanes |= carom_lanes_of(gap <= slack) << at;
    }
    return lanes;
}

/* The gap between them in a direction from a to b. */
static inline carom_f32v bvh_obb_cpu_gap_along(const facing *f, const carom_obb_node *node,
                                               uint32_t at, const bvh_obb_cpu_moved_box *b,
                                               const float *direction) {
    carom_f32v gap = carom_f32v_splat(0.0f);
    float reach_b = 0.0f;
    for (int i = 0; i < 3; ++i) {
        carom_f32v along = carom_f32v_fma(
            carom_f32v_load(&node->axis[i][0][at]), carom_f32v_splat(direction[0]),
            carom_f32v_fma(carom_f32v_load(&node->axis[i][1][at]), carom_f32v_splat(direction[1]),
                           carom_f32v_load(&node->axis[i][2][at]) * direction[2]));
        gap = carom_f32v_fma(carom_f32v_abs(along), -f->extent_a[i], gap);
        gap = carom_f32v_fma(CENTRE(b, i) - carom_f32v_load(&node->centre[i][at]),
                             carom_f32v_splat(direction[i]), gap);
        reach_b +=
            b->extent[i] * fabsf(direction[0] * AXIS(b, i, 0) + direction[1] * AXIS(b, i, 1) +
                                 direction[2] * AXIS(b, i, 2));
    }
    return gap - reach_b;
}

/* Squared distances are below this; those of slots past the last item are infinite. */
#define EMPTY_SQUARE 0x1p120f

/* Computes squared lower bounds of the distances. The gaps along the axes of one box are the
 * components of a separation vector, whose length is a lower bound; so is the gap in the given
 * direction. Returns the lanes where the bound is at most `limit`. */
static inline uint32_t nearer(const carom_obb_node *node, const bvh_obb_cpu_moved_box *b,
                              const float *direction, float slack, float limit,
                              float apart[CAROM_BVH_WIDTH]) {
    uint32_t lanes = 0;
    carom_f32v zero = {0};
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        facing f;
        face(node, at, b, &f);
        carom_f32v sum_a = zero, sum_b = zero;
        for (int i = 0; i < 3; ++i) {
            carom_f32v a = carom_f32v_max(gap_a(&f, b, i) - slack, zero);
            carom_f32v c = carom_f32v_max(gap_b(&f, b, i) - slack, zero);
            sum_a = carom_f32v_fma(a, a, sum_a);
            sum_b = carom_f32v_fma(c, c, sum_b);
        }
        carom_f32v along =
            carom_f32v_max(bvh_obb_cpu_gap_along(&f, node, at, b, direction) - slack, zero);
        carom_f32v sum = carom_f32v_max(carom_f32v_max(sum_a, sum_b), along * along);
        carom_f32v squared_limit = carom_f32v_splat(limit) * limit;
        lanes |= carom_lanes_of((sum <= squared_limit) & (sum < EMPTY_SQUARE)) << at;
        carom_f32v_store(apart + at, sum);
    }
    return lanes;
}

static inline float bvh_obb_cpu_size_of(const carom_obb *box) {
    return box->extent[0] + box->extent[1] + box->extent[2];
}

/* Whether to open a rather than b: the larger box is opened, unless it is a leaf. */
static inline bool opens_a(const carom_obb_pair *pair, const carom_obb *a, const carom_obb *b,
                           float scale_of_b) {
    if (pair->level_b == 0) return true;
    return pair->level_a != 0 && bvh_obb_cpu_size_of(a) >= bvh_obb_cpu_size_of(b) * scale_of_b;
}

/* Opens one box of a pair: returns its node, and the other box in the node's frame. */
static inline const carom_obb_node *open_box(const carom_obb_traversal *traversal,
                                             const carom_obb_pair *pair, bool of_a,
                                             const carom_obb *a, const carom_obb *b,
                                             bvh_obb_cpu_moved_box *moved,
                                             carom_obb_node *decoded) {
    *moved =
        of_a ? bvh_obb_cpu_move(&traversal->b_to_a, b) : bvh_obb_cpu_move(&traversal->a_to_b, a);
    return of_a ? node_of(&traversal->a, pair->level_a, pair->index_a, decoded)
                : node_of(&traversal->b, pair->level_b, pair->index_b, decoded);
}

/* ---- Sorting lanes by distance --------------------------------------------------------------- */

typedef struct ordered {
    float apart[CAROM_BVH_WIDTH];
    uint8_t lane[CAROM_BVH_WIDTH];
    uint32_t count;
} ordered;

/* Sorts lanes by distance, the farthest first. */
static inline void bvh_obb_cpu_put_in_order(uint32_t lanes, const float apart[CAROM_BVH_WIDTH],
                                            ordered *o) {
    o->count = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t lane = carom_bvh_lowest_lane(lanes), at = o->count++;
        for (; at > 0 && o->apart[at - 1] < apart[lane]; --at) {
            o->apart[at] = o->apart[at - 1];
            o->lane[at] = o->lane[at - 1];
        }
        o->apart[at] = apart[lane];
        o->lane[at] = (uint8_t)lane;
    }
}

/* Pushes the children of the opened box of a pair, each with the other box, in the given order.
 * `unit` converts squared distances to a's frame; 0: there are none. */
static inline void bvh_obb_cpu_push(carom_obb_traversal *traversal, carom_obb_pair pair, bool of_a,
                                    const ordered *order, float unit) {
    carom_obb_pair *top = traversal->stack + traversal->stack_count;
    uint32_t first = (of_a ? pair.index_a : pair.index_b) * CAROM_BVH_WIDTH;
    pair.level_a = (uint8_t)(pair.level_a - (of_a ? 1 : 0));
    pair.level_b = (uint8_t)(pair.level_b - (of_a ? 0 : 1));
    for (uint32_t i = 0; i < order->count; ++i) {
        top[i] = pair;
        if (of_a) top[i].index_a = first + order->lane[i];
        if (!of_a) top[i].index_b = first + order->lane[i];
        if (unit > 0.0f) top[i].apart = order->apart[i] * unit;
    }
    traversal->stack_count += order->count;
}

/* ---- Overlap query --------------------------------------------------------------------------- */

static inline void bvh_obb_cpu_emit(carom_obb_traversal *traversal, uint32_t a, uint32_t b) {
    traversal->found_a[traversal->found_count] = a;
    traversal->found_b[traversal->found_count++] = b;
}

static inline bool hand_over(carom_obb_traversal *traversal) {
    bool none = traversal->found_count == 0 && traversal->receive_blocks == NULL;
    bool go_on = none || traversal->receive(traversal);
    traversal->found_count = 0;
    return go_on;
}

/* Tests the items of two blocks: selects those that meet the other block's box, then tests each of
 * them against sixteen. */
static inline bool find_in_blocks(carom_obb_traversal *traversal, const carom_obb_pair *pair,
                                  const carom_obb *box_a, const carom_obb *box_b) {
    carom_obb_node decoded_a, decoded_b;
    const carom_obb_node *a = node_of(&traversal->a, 0, pair->index_a, &decoded_a);
    const carom_obb_node *b = node_of(&traversal->b, 0, pair->index_b, &decoded_b);
    bvh_obb_cpu_moved_box moved = bvh_obb_cpu_move(&traversal->b_to_a, box_b);
    uint32_t in_a = meets(a, &moved, traversal->slack_a);
    ++traversal->visits;
    if (in_a == 0) return true;
    moved = bvh_obb_cpu_move(&traversal->a_to_b, box_a);
    uint32_t in_b = meets(b, &moved, traversal->slack_b);
    ++traversal->visits;
    if (traversal->receive_blocks != NULL)
        return in_b == 0 ||
               traversal->receive_blocks(traversal, pair->index_a, pair->index_b, in_a, in_b);
    uint32_t first_a = pair->index_a * CAROM_BVH_WIDTH, first_b = pair->index_b * CAROM_BVH_WIDTH;
    if (__builtin_popcount(in_a) < __builtin_popcount(in_b)) {
        for (; in_a != 0; in_a &= in_a - 1) {
            carom_obb item = carom_obb_lane(a, carom_bvh_lowest_lane(in_a));
            moved = bvh_obb_cpu_move(&traversal->a_to_b, &item);
            ++traversal->visits;
            for (uint32_t hit = meets(b, &moved, traversal->slack_b) & in_b; hit != 0;
                 hit &= hit - 1)
                bvh_obb_cpu_emit(traversal, first_a + carom_bvh_lowest_lane(in_a),
                                 first_b + carom_bvh_lowest_lane(hit));
        }
    } else {
        for (; in_b != 0; in_b &= in_b - 1) {
            carom_obb item = carom_obb_lane(b, carom_bvh_lowest_lane(in_b));
            moved = bvh_obb_cpu_move(&traversal->b_to_a, &item);
            ++traversal->visits;
            for (uint32_t hit = meets(a, &moved, traversal->slack_a) & in_a; hit != 0;
                 hit &= hit - 1)
                bvh_obb_cpu_emit(traversal, first_a + carom_bvh_lowest_lane(hit),
                                 first_b + carom_bvh_lowest_lane(in_b));
        }
    }
    bool full = traversal->each_block ||
                traversal->found_count + CAROM_BVH_WIDTH * CAROM_BVH_WIDTH > CAROM_OBB_FOUND;
    return !full || hand_over(traversal);
}

/* Squared distances of the centres, without fused operations, so that the resulting order is the
 * same on every instruction set. */
static inline void centres_apart(const carom_obb_node *node, const bvh_obb_cpu_moved_box *b,
                                 float apart[CAROM_BVH_WIDTH]) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_f32v x = CENTRE(b, 0) - carom_f32v_load(&node->centre[0][at]);
        carom_f32v y = CENTRE(b, 1) - carom_f32v_load(&node->centre[1][at]);
        carom_f32v z = CENTRE(b, 2) - carom_f32v_load(&node->centre[2][at]);
        carom_f32v_store(apart + at, (x * x + y * y) + z * z);
    }
}

/* The lanes of a node that meet a box. The order is arbitrary if all pairs are wanted; else the
 * nearest comes last, so that it is popped first. */
static inline void find_in_node(const carom_obb_traversal *traversal, const carom_obb_node *node,
                                const bvh_obb_cpu_moved_box *box, float slack, ordered *order) {
    float apart[CAROM_BVH_WIDTH];
    uint32_t lanes = meets(node, box, slack);
    order->count = 0;
    if (traversal->each_block && lanes != 0) {
        centres_apart(node, box, apart);
        bvh_obb_cpu_put_in_order(lanes, apart, order);
    } else {
        for (; lanes != 0; lanes &= lanes - 1)
            order->lane[order->count++] = (uint8_t)carom_bvh_lowest_lane(lanes);
    }
}

bool CAROM_CPU(carom_obb_find)(carom_obb_traversal *traversal, uint64_t visits) {
    carom_obb_node decoded;
    ordered order;
    uint64_t last = traversal->visits + visits;
    while (traversal->stack_count > 0 && traversal->visits < last) {
        carom_obb_pair pair = traversal->stack[--traversal->stack_count];
        carom_obb a = bvh_obb_cpu_box_of(&traversal->a, pair.level_a, pair.index_a);
        carom_obb b = bvh_obb_cpu_box_of(&traversal->b, pair.level_b, pair.index_b);
        bvh_obb_cpu_moved_box moved;
        if (pair.level_a == 0 && pair.level_b == 0) {
            if (!find_in_blocks(traversal, &pair, &a, &b)) return false;
            continue;
        }
        ++traversal->visits;
        bool of_a = opens_a(&pair, &a, &b, traversal->b_to_a.scale);
        const carom_obb_node *node = open_box(traversal, &pair, of_a, &a, &b, &moved, &decoded);
        find_in_node(traversal, node, &moved, of_a ? traversal->slack_a : traversal->slack_b,
                     &order);
        bvh_obb_cpu_push(traversal, pair, of_a, &order, 0.0f);
    }
    return traversal->more || hand_over(traversal);
}

/* ---- Distance query -------------------------------------------------------------------------- */

/* The upper bound of each of sixteen boxes along a direction. */
static inline void bvh_obb_cpu_reach_along(const carom_obb_node *node, const float *direction,
                                           float reach[CAROM_BVH_WIDTH]) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_f32v sum = carom_f32v_splat(0.0f);
        for (int i = 0; i < 3; ++i) {
            carom_f32v along = carom_f32v_fma(
                carom_f32v_load(&node->axis[i][0][at]), carom_f32v_splat(direction[0]),
                carom_f32v_fma(carom_f32v_load(&node->axis[i][1][at]),
                               carom_f32v_splat(direction[1]),
                               carom_f32v_load(&node->axis[i][2][at]) * direction[2]));
            sum = carom_f32v_fma(carom_f32v_abs(along), carom_f32v_load(&node->extent[i][at]), sum);
            sum = carom_f32v_fma(carom_f32v_load(&node->centre[i][at]),
                                 carom_f32v_splat(direction[i]), sum);
        }
        carom_f32v_store(reach + at, sum);
    }
}

/* The lanes that reach at least that far. */
static inline uint32_t reaching(const float reach[CAROM_BVH_WIDTH], float least) {
    uint32_t lanes = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES)
        lanes |= carom_lanes_of(carom_f32v_load(reach + at) >= least) << at;
    return lanes;
}

/* Measures the items of two blocks. One subtraction along the direction of the nearest points shows
 * that most are too far apart; the others are tested one against sixteen, nearest first. */
static inline float measure_in_blocks(carom_obb_traversal *traversal, const carom_obb_pair *pair,
                                      const carom_obb *box_a, const carom_obb *box_b, float limit) {
    carom_obb_node decoded_a, decoded_b;
    const carom_obb_node *a = node_of(&traversal->a, 0, pair->index_a, &decoded_a);
    const carom_obb_node *b = node_of(&traversal->b, 0, pair->index_b, &decoded_b);
    float apart[CAROM_BVH_WIDTH], to_a = traversal->b_to_a.scale, to_b = traversal->a_to_b.scale;
    ordered in_b, in_a;
    bvh_obb_cpu_moved_box moved = bvh_obb_cpu_move(&traversal->b_to_a, box_b);
    uint32_t near_a = nearer(a, &moved, traversal->direction_a, traversal->slack_a, limit, apart);
    ++traversal->visits;
    if (near_a == 0) return limit;
    moved = bvh_obb_cpu_move(&traversal->a_to_b, box_a);
    bvh_obb_cpu_put_in_order(
        nearer(b, &moved, traversal->direction_b, traversal->slack_b, limit * to_b, apart), apart,
        &in_b);
    ++traversal->visits;

    float reach_a[CAROM_BVH_WIDTH], reach_b[CAROM_BVH_WIDTH], offset = 0.0f;
    bvh_obb_cpu_reach_along(a, traversal->direction_a, reach_a);
    bvh_obb_cpu_reach_along(b, traversal->direction_b, reach_b);
    for (int k = 0; k < 3; ++k) offset += traversal->direction_a[k] * traversal->b_to_a.t[k];
    while (in_b.count > 0) {
        uint32_t lane = in_b.lane[--in_b.count];
        if (in_b.apart[in_b.count] > (limit * to_b) * (limit * to_b)) break;
        float least = (offset - reach_b[lane] * to_a) - (limit + traversal->slack_a);
        uint32_t lanes = reaching(reach_a, least) & near_a;
        if (lanes == 0) continue;
        carom_obb item = carom_obb_lane(b, lane);
        moved = bvh_obb_cpu_move(&traversal->b_to_a, &item);
        lanes &= nearer(a, &moved, traversal->direction_a, traversal->slack_a, limit, apart);
        bvh_obb_cpu_put_in_order(lanes, apart, &in_a);
        ++traversal->visits;
        while (in_a.count > 0) {
            uint32_t lane_a = in_a.lane[--in_a.count];
            if (in_a.apart[in_a.count] > limit * limit) break;
            limit = traversal->measure(traversal, pair->index_a * CAROM_BVH_WIDTH + lane_a,
                                       pair->index_b * CAROM_BVH_WIDTH + lane);
        }
    }
    return limit;
}

void CAROM_CPU(carom_obb_nearest)(carom_obb_traversal *traversal, float limit, uint64_t visits) {
    carom_obb_node decoded;
    float apart[CAROM_BVH_WIDTH];
    ordered order;
    float to_a = traversal->b_to_a.scale, to_b = traversal->a_to_b.scale;
    uint64_t last = traversal->visits + visits;
    while (traversal->stack_count > 0 && traversal->visits < last) {
        carom_obb_pair pair = traversal->stack[--traversal->stack_count];
        if (pair.apart > limit * limit) continue;
        carom_obb a = bvh_obb_cpu_box_of(&traversal->a, pair.level_a, pair.index_a);
        carom_obb b = bvh_obb_cpu_box_of(&traversal->b, pair.level_b, pair.index_b);
        bvh_obb_cpu_moved_box moved;
        if (pair.level_a == 0 && pair.level_b == 0) {
            limit = measure_in_blocks(traversal, &pair, &a, &b, limit);
            continue;
        }
        ++traversal->visits;
        bool of_a = opens_a(&pair, &a, &b, to_a);
        const carom_obb_node *node = open_box(traversal, &pair, of_a, &a, &b, &moved, &decoded);
        uint32_t lanes = nearer(
            node, &moved, of_a ? traversal->direction_a : traversal->direction_b,
            of_a ? traversal->slack_a : traversal->slack_b, of_a ? limit : limit * to_b, apart);
        bvh_obb_cpu_put_in_order(lanes, apart, &order);
        bvh_obb_cpu_push(traversal, pair, of_a, &order, of_a ? 1.0f : to_a * to_a);
    }
}
