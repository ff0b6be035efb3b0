/* SPDX-License-Identifier: MIT */
/* Where a deformation of a surface carries the points inside it: moving least squares (Levin 1998;
 * Schaefer, McPhail, Warren 2006).
 *
 * For a point p the affine map x -> M x + t is taken that fits the deformation of the surface best,
 * with the weight 1 / distance^4 of each piece of it: it minimises the integral over the surface of
 * |M x + t - y|^2 / |x - p|^4, y being where x goes. An affine deformation is its own best fit, so
 * it carries all points exactly, a rigid motion among them; points near the surface go with what is
 * nearest to them, points deep inside with the mean of all sides.
 *
 * The alternatives: mean value coordinates reproduce affine maps too, but need every vertex for
 * every point; the nearest face alone is fast, but jumps where the nearest face changes, and throws
 * points deep inside about where the surface ripples.
 *
 * With W the sum of weights, x and y weighted means, M = C_yx C_xx^-1 of the covariances. They are
 * sums over triangles; a node of the tree that is far away counts by its moments, with one weight
 * for all. That keeps affine deformations exact. */
#include "pack/pack_carry.h"

#include "base/math.h"
#include "bvh/bvh_cpu.h"
#include "geom/length.h"
#include "geom/orient.h"
#include "mesh/mesh.h"

#define PACK_CARRY_NODES 64u /* per range: a thousand triangles */

/* Added to the diagonal of the covariance, relative to its trace: a flat or straight surface says
 * nothing about directions across it, which then keep their lengths. Where it is a closed surface
 * less flat than 2^-14, this changes nothing that matters. */
#define PACK_CARRY_REGULAR 0x1p-36

/* ---- Triangles ------------------------------------------------------------------------------- */

typedef struct pack_carry_loading {
    carom_pack_carry *carry;
    const carom_mesh_view *view[2]; /* before, after */
    uint32_t *corners;              /* of the triangles that faces are split into, as fans */
    uint32_t count, level;
} pack_carry_loading;

static carom_vec3 pack_carry_corner(const pack_carry_loading *l, int side, uint32_t vertex) {
    carom_vec3 p =
        carom_vec_sub(carom_mesh_position(l->view[side], vertex), l->carry->origin[side]);
    return carom_vec_scale(p, carom_power_of_two(l->carry->shift[side]));
}

static carom_triangle pack_carry_triangle(const pack_carry_loading *l, int side, uint32_t item) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i)
        t.corner[i] = pack_carry_corner(l, side, l->corners[3 * (uint64_t)item + (uint32_t)i]);
    return t;
}

static void pack_carry_boxes(const void *user, const uint32_t *items, uint32_t first,
                             uint32_t count, carom_box *boxes) {
    for (uint32_t i = 0; i < count; ++i) {
        carom_triangle t = pack_carry_triangle(user, 0, items != NULL ? items[i] : first + i);
        boxes[i] = carom_box_of_triangle(&t, carom_vec(0.0, 0.0, 0.0));
    }
}

static carom_status pack_carry_split(carom_context *context, pack_carry_loading *l) {
    const carom_mesh_view *view = l->view[0];
    uint64_t corners = carom_mesh_corner_count(view), count = corners - 2 * view->face_count;
    if (count > UINT32_MAX / 3)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu triangles are too many to carry spheres",
                          (unsigned long long)count);
    l->corners = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, 3 * count);
    if (l->corners == NULL)
        return carom_fail_memory(context, 12 * count, "a surface that carries spheres");
    uint32_t *to = l->corners;
    for (uint64_t f = 0; f < view->face_count; ++f)
        for (uint64_t k = carom_mesh_offset(view, f) + 2; k < carom_mesh_offset(view, f + 1);
             ++k, to += 3) {
            to[0] = view->corners[carom_mesh_offset(view, f)];
            to[1] = view->corners[k - 1];
            to[2] = view->corners[k];
        }
    CAROM_ASSERT(to == l->corners + 3 * count);
    l->count = (uint32_t)count;
    return CAROM_OK;
}

/* The frame of the vertices that faces use, before or after; and their bounds in it. */
static carom_box pack_carry_choose_frame(pack_carry_loading *l, int side) {
    carom_bounds bounds = carom_bounds_empty();
    for (uint64_t i = 0; i < 3 * (uint64_t)l->count; ++i)
        carom_bounds_include(&bounds, carom_mesh_position(l->view[side], l->corners[i]));
    carom_vec3 low = bounds.low, high = bounds.high;
    double size = 2.0 * carom_vec_largest(
                            carom_vec_sub(carom_vec_scale(high, 0.5), carom_vec_scale(low, 0.5)));
    l->carry->origin[side] = carom_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y,
                                       0.5 * low.z + 0.5 * high.z);
    l->carry->shift[side] = size > 0.0 ? -1 - carom_exponent(size) : 0;
    const carom_vec3 middle = {0.5, 0.5, 0.5}; /* extents are below 1 there */
    return carom_box_of_bounds(carom_vec_scale(middle, -1.0), middle, carom_vec(0.0, 0.0, 0.0));
}

/* ---- Moments --------------------------------------------------------------------------------- */

typedef struct pack_carry_moment {
    double value[CAROM_PACK_MOMENTS];
} pack_carry_moment;

static const int pack_carry_first[6] = {0, 1, 2, 0, 0, 1},
                 pack_carry_second[6] = {0, 1, 2, 1, 2, 2};

/* Adds a weight times the products of differences of means, before and after. */
static void pack_carry_add_products(pack_carry_moment *m, const double x[3], const double y[3],
                                    double weight) {
    for (int k = 0; k < 6; ++k)
        m->value[CAROM_PACK_SPREAD + k] +=
            weight * (x[pack_carry_first[k]] * x[pack_carry_second[k]]);
    for (int k = 0; k < 9; ++k) m->value[CAROM_PACK_MIXED + k] += weight * (y[k / 3] * x[k % 3]);
}

static double pack_carry_length(const double d[3]) {
    return sqrt((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
}

/* The integral of products over a triangle is its area times a twelfth of those of its corners. */
static pack_carry_moment pack_carry_moment_of(const carom_triangle *before,
                                              const carom_triangle *after) {
    pack_carry_moment m = {{0.0}};
    const carom_vec3 *p = before->corner, *q = after->corner;
    double area = 0.5 * carom_vec_length(
                            carom_vec_cross(carom_vec_sub(p[1], p[0]), carom_vec_sub(p[2], p[0])));
    double x[3][3], y[3][3];
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(p[i], x[i]);
        carom_vec_store(q[i], y[i]);
        for (int k = 0; k < 3; ++k) {
            m.value[CAROM_PACK_BEFORE + k] += x[i][k] / 3.0;
            m.value[CAROM_PACK_AFTER + k] += y[i][k] / 3.0;
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            x[i][k] -= m.value[CAROM_PACK_BEFORE + k];
            y[i][k] -= m.value[CAROM_PACK_AFTER + k];
        }
        pack_carry_add_products(&m, x[i], y[i], area / 12.0);
        m.value[CAROM_PACK_RADIUS] = CAROM_MAX(pack_carry_length(x[i]), m.value[CAROM_PACK_RADIUS]);
    }
    m.value[CAROM_PACK_AREA] = area;
    return m;
}

/* The moments of a node from those of its children. */
static pack_carry_moment pack_carry_moment_of_node(const carom_pack_moments *children) {
    pack_carry_moment m = {{0.0}};
    double *mean = m.value + CAROM_PACK_BEFORE, area = 0.0;
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        double part = children->row[CAROM_PACK_AREA][lane];
        area += part;
        for (int k = 0; k < CAROM_PACK_SPREAD; ++k) mean[k] += part * children->row[k][lane];
    }
    if (!(area > 0.0)) return (pack_carry_moment){{0.0}};
    for (int k = 0; k < CAROM_PACK_SPREAD; ++k) mean[k] /= area;
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        double part = children->row[CAROM_PACK_AREA][lane], x[3], y[3];
        if (!(part > 0.0)) continue;
        for (int k = 0; k < 3; ++k) {
            x[k] = children->row[CAROM_PACK_BEFORE + k][lane] - mean[k];
            y[k] = children->row[CAROM_PACK_AFTER + k][lane] - mean[CAROM_PACK_AFTER + k];
        }
        for (int k = CAROM_PACK_SPREAD; k < CAROM_PACK_AREA; ++k)
            m.value[k] += children->row[k][lane];
        pack_carry_add_products(&m, x, y, part);
        double reach = children->row[CAROM_PACK_RADIUS][lane] + pack_carry_length(x);
        m.value[CAROM_PACK_RADIUS] = CAROM_MAX(reach, m.value[CAROM_PACK_RADIUS]);
    }
    m.value[CAROM_PACK_AREA] = area;
    return m;
}

static carom_pack_moments *pack_carry_at(const carom_pack_carry *c, uint32_t level,
                                         uint32_t index) {
    const carom_bvh *bvh = &c->bvh;
    uint64_t start = level < bvh->level_count
                         ? bvh->level_start[level]
                         : bvh->level_start[level - 1] + bvh->node_count[level - 1];
    return c->moments + start + index;
}

static void pack_carry_load_block(const pack_carry_loading *l, uint32_t block) {
    carom_bvh_corners *corners = &l->carry->corners[block];
    const carom_bvh *bvh = &l->carry->bvh;
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        uint32_t slot = block * CAROM_BVH_WIDTH + lane;
        bool some = slot < bvh->item_count;
        uint32_t item = bvh->items[some ? slot : 0];
        carom_triangle before = pack_carry_triangle(l, 0, item);
        carom_triangle after = pack_carry_triangle(l, 1, item);
        pack_carry_moment m = {{0.0}};
        if (some) m = pack_carry_moment_of(&before, &after);
        for (int i = 0; i < 9; ++i) {
            double p[3];
            carom_vec_store(before.corner[i / 3], p);
            corners->row[i][lane] = p[i % 3];
        }
        for (int k = 0; k < CAROM_PACK_MOMENTS; ++k)
            l->carry->moments[block].row[k][lane] = m.value[k];
    }
}

static carom_status pack_carry_load(void *argument, carom_range range) {
    const pack_carry_loading *l = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) pack_carry_load_block(l, (uint32_t)i);
    return CAROM_OK;
}

static carom_status pack_carry_sum(void *argument, carom_range range) {
    const pack_carry_loading *l = argument;
    uint32_t below = l->carry->bvh.node_count[l->level - 1];
    for (uint64_t node = range.begin; node < range.end; ++node) {
        carom_pack_moments *to = pack_carry_at(l->carry, l->level, (uint32_t)node);
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            uint64_t child = node * CAROM_BVH_WIDTH + lane;
            pack_carry_moment m = {{0.0}};
            if (child < below)
                m = pack_carry_moment_of_node(
                    pack_carry_at(l->carry, l->level - 1, (uint32_t)child));
            for (int k = 0; k < CAROM_PACK_MOMENTS; ++k) to->row[k][lane] = m.value[k];
        }
    }
    return CAROM_OK;
}

carom_status carom_pack_carry_make(carom_context *context, const carom_mesh_view *before,
                                   const carom_mesh_view *after, carom_pack_carry *carry) {
    pack_carry_loading l = {.carry = carry, .view = {before, after}};
    carom_arena *scratch = carom_scratch(context, 0);
    *carry = (carom_pack_carry){.context = context};
    CAROM_ASSERT(before->face_count != 0);
    CAROM_TRY(pack_carry_split(context, &l));
    carom_box box = pack_carry_choose_frame(&l, 0);
    (void)pack_carry_choose_frame(&l, 1);
    CAROM_TRY(carom_bvh_build(context, &context->allocator, &carry->bvh, l.count, &box,
                              pack_carry_boxes, &l));
    const carom_bvh *bvh = &carry->bvh;
    uint64_t blocks = bvh->node_count[0], nodes = 1;
    for (uint32_t k = 0; k < bvh->level_count; ++k) nodes += bvh->node_count[k];
    carry->corners = CAROM_ARENA_TAKE(scratch, carom_bvh_corners, blocks);
    carry->moments = CAROM_ARENA_TAKE(scratch, carom_pack_moments, nodes);
    if (carry->corners == NULL || carry->moments == NULL)
        return carom_fail_memory(context, nodes * sizeof(*carry->moments),
                                 "a surface that carries spheres");
    CAROM_TRY(carom_parallel_for(context, blocks, PACK_CARRY_NODES, pack_carry_load, &l));
    for (l.level = 1; l.level <= bvh->level_count; ++l.level) {
        uint32_t count = l.level < bvh->level_count ? bvh->node_count[l.level] : 1;
        CAROM_TRY(carom_parallel_for(context, count, PACK_CARRY_NODES, pack_carry_sum, &l));
    }
    return CAROM_OK;
}

void carom_pack_carry_free(carom_pack_carry *carry) {
    if (carry->context != NULL) carom_bvh_free(&carry->bvh, &carry->context->allocator);
}

/* ---- Carrying -------------------------------------------------------------------------------- */

static void pack_carry_sum_up(const carom_pack_carry *c, const double point[3],
                              double sums[CAROM_PACK_SUMS]) {
    struct {
        uint32_t level, index;
    } stack[(CAROM_BVH_LEVELS + 1) * CAROM_BVH_WIDTH];
    carom_pack_sums lanes;
    uint32_t count = 1;
    memset(&lanes, 0, sizeof(lanes));
    stack[0].level = c->bvh.level_count;
    stack[0].index = 0;
    while (count > 0) {
        uint32_t level = stack[--count].level, index = stack[count].index;
        const carom_pack_moments *m = pack_carry_at(c, level, index);
        if (level == 0) {
            double squares[CAROM_BVH_WIDTH], feet[3][CAROM_BVH_WIDTH];
            CAROM_CPU_CALL(c->context, carom_spheres_feet)
            (&c->corners[index], point, (1u << CAROM_BVH_WIDTH) - 1, squares, feet);
            CAROM_CPU_CALL(c->context, carom_pack_add_near)(m, point, squares, &lanes);
            continue;
        }
        uint32_t open = CAROM_CPU_CALL(c->context, carom_pack_add_far)(m, point, &lanes);
        for (; open != 0; open &= open - 1) {
            CAROM_ASSERT(count < (CAROM_BVH_LEVELS + 1) * CAROM_BVH_WIDTH);
            stack[count].level = level - 1;
            stack[count++].index = index * CAROM_BVH_WIDTH + carom_bvh_lowest_lane(open);
        }
    }
    for (int k = 0; k < CAROM_PACK_SUMS; ++k) {
        sums[k] = 0.0;
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) sums[k] += lanes.row[k][lane];
    }
}

/* The adjugate of a symmetric matrix xx, yy, zz, xy, xz, yz, in the same order. */
static void pack_carry_adjugate(const double s[6], double a[6]) {
    a[0] = s[1] * s[2] - s[5] * s[5];
    a[1] = s[0] * s[2] - s[4] * s[4];
    a[2] = s[0] * s[1] - s[3] * s[3];
    a[3] = s[4] * s[5] - s[3] * s[2];
    a[4] = s[3] * s[5] - s[4] * s[1];
    a[5] = s[3] * s[4] - s[0] * s[5];
}

/* The matrix C_yx C_xx^-1 from weighted covariances; false: it is not finite. */
static bool pack_carry_fit(double spread[6], double mixed[9], double fit[3][3]) {
    double a[6], trace = (spread[0] + spread[1]) + spread[2];
    for (int k = 0; k < 3; ++k) {
        spread[k] += PACK_CARRY_REGULAR * trace;
        mixed[4 * k] += PACK_CARRY_REGULAR * trace;
    }
    pack_carry_adjugate(spread, a);
    double determinant = (spread[0] * a[0] + spread[3] * a[3]) + spread[4] * a[4];
    const double inverse[3][3] = {{a[0], a[3], a[4]}, {a[3], a[1], a[5]}, {a[4], a[5], a[2]}};
    bool finite = true;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            double sum = 0.0;
            for (int j = 0; j < 3; ++j) sum += mixed[3 * i + j] * inverse[j][k];
            fit[i][k] = sum / determinant;
            finite = finite && isfinite(fit[i][k]);
        }
    return finite;
}

static double pack_carry_determinant(double m[3][3]) {
    carom_vec3 a = carom_vec(m[0][0], m[0][1], m[0][2]), b = carom_vec(m[1][0], m[1][1], m[1][2]);
    return carom_vec_dot(carom_vec_cross(a, b), carom_vec(m[2][0], m[2][1], m[2][2]));
}

carom_pack_carried carom_pack_carry_point(const carom_pack_carry *c, carom_vec3 point) {
    double p[3], sums[CAROM_PACK_SUMS], spread[6], mixed[9], x[3], y[3];
    double back = carom_power_of_two(-c->shift[1]);
    carom_vec_store(
        carom_vec_scale(carom_vec_sub(point, c->origin[0]), carom_power_of_two(c->shift[0])), p);
    pack_carry_sum_up(c, p, sums);
    double weight = sums[CAROM_PACK_SUM_WEIGHT];
    for (int k = 0; k < 3; ++k) { /* means; x relative to the point */
        x[k] = sums[CAROM_PACK_SUM_BEFORE + k] / weight;
        y[k] = sums[CAROM_PACK_SUM_AFTER + k] / weight;
    }
    for (int k = 0; k < 6; ++k)
        spread[k] = sums[CAROM_PACK_SUM_SPREAD + k] / weight -
                    x[pack_carry_first[k]] * x[pack_carry_second[k]];
    for (int k = 0; k < 9; ++k)
        mixed[k] = sums[CAROM_PACK_SUM_MIXED + k] / weight - y[k / 3] * x[k % 3];
    double fit[3][3], determinant = 0.0;
    if (weight > 0.0 && pack_carry_fit(spread, mixed, fit)) {
        for (int i = 0; i < 3; ++i)
            y[i] -= (fit[i][0] * x[0] + fit[i][1] * x[1]) + fit[i][2] * x[2];
        determinant = pack_carry_determinant(fit);
    }
    carom_vec3 at = carom_vec_add(carom_vec_scale(carom_vec(y[0], y[1], y[2]), back), c->origin[1]);
    double scale = carom_cbrt(fabs(determinant)); /* a mirror image has spheres, too */
    return (carom_pack_carried){at, scale * carom_power_of_two(c->shift[0]) * back};
}
