/* SPDX-License-Identifier: MIT */
/* Winding numbers of the triangles in a box tree.
 *
 * Exact: a ray is cast upwards from the point, and each face it crosses counts with the sign of its
 * orientation. The point is perturbed symbolically by (epsilon, epsilon^2) across the ray, so the
 * ray never passes through an edge or a corner, and exact signs decide every crossing (simulation
 * of simplicity: Edelsbrunner, Muecke 1990). Points on a face are detected first, exactly.
 *
 * Generalised: the sum of the signed solid angles of all triangles over 4 pi, which is the winding
 * number where the mesh is balanced and close to it where it has holes (Jacobson, Kavan,
 * Sorkine-Hornung 2013). Nodes that are far enough away count by their moments, triangles nearby by
 * their solid angles (bvh_winding_cpu.c). A node is far enough away when the bound of its error is
 * a small part of its area over the square of its distance. The bounds are added up; if the sum
 * exceeds CAROM_BVH_FRACTION_ERROR, the point is evaluated again with a smaller part. */
#include "bvh/bvh_winding.h"

#include <float.h>

#include "base/math.h"
#include "bvh/bvh_cpu.h"
#include "bvh/bvh_fraction_item.h"
#include "bvh/bvh_winding_item.h"
#include "geom/length.h"

/* ---- Exact winding number -------------------------------------------------------------------- */

typedef struct bvh_winding_count {
    const carom_bvh_faces *faces;
    carom_vec3 point;
    int32_t winding;
    bool on_face;
} bvh_winding_count;

static bool count_found(carom_bvh_found *found) {
    bvh_winding_count *c = found->user;
    for (uint32_t i = 0; i < found->count && !c->on_face; ++i) {
        carom_triangle t;
        (void)c->faces->triangle(c->faces->user, found->b[i], &t);
        c->winding += carom_winding_face(&t, c->point, &c->on_face);
    }
    found->count = 0;
    return !c->on_face;
}

bool carom_bvh_winding(carom_context *context, const carom_bvh_faces *faces, carom_vec3 point,
                       carom_bvh_found *found, int32_t *winding) {
    bvh_winding_count c = {.faces = faces, .point = point};
    carom_box box = carom_winding_box(carom_bvh_to_frame(faces, point));
    found->count = 0;
    found->visits = 0;
    found->flush = count_found;
    found->user = &c;
    if (CAROM_CPU_CALL(context, carom_bvh_find_box)(faces->bvh, &box, 0, found))
        (void)count_found(found);
    *winding = c.winding;
    return !c.on_face;
}

/* ---- Moments --------------------------------------------------------------------------------- */

/* The moments of one set, in the order of the rows of carom_bvh_moments. */
typedef struct moment {
    double value[CAROM_BVH_MOMENTS];
} moment;

#define BVH_WINDING_NODES_PER_RANGE 64u /* nodes or blocks per range: a thousand triangles */
#define BVH_WINDING_ROUND_UP                                                                       \
    (1.0 + 0x1p-40) /* of a bound: far more than the roundings of its sums */

static carom_vec3 vec_at(const double *value) {
    return carom_vec(value[0], value[1], value[2]);
}

static void bvh_winding_add_vec(double *value, carom_vec3 v) {
    value[0] += v.x;
    value[1] += v.y;
    value[2] += v.z;
}

/* The six different products of two vectors, symmetrised: xx, yy, zz, xy, xz, yz. */
static void bvh_winding_multiply(carom_vec3 a, carom_vec3 b, double factor, double out[6]) {
    out[0] += factor * (a.x * b.x);
    out[1] += factor * (a.y * b.y);
    out[2] += factor * (a.z * b.z);
    out[3] += factor * (0.5 * (a.x * b.y + a.y * b.x));
    out[4] += factor * (0.5 * (a.x * b.z + a.z * b.x));
    out[5] += factor * (0.5 * (a.y * b.z + a.z * b.y));
}

/* The ten different products of a vector and a symmetric matrix, symmetrised. */
static void multiply_matrix(carom_vec3 a, const double m[6], double factor, double out[10]) {
    const double third = factor / 3.0;
    out[0] += factor * (a.x * m[0]);
    out[1] += factor * (a.y * m[1]);
    out[2] += factor * (a.z * m[2]);
    out[3] += third * (a.y * m[0] + 2.0 * (a.x * m[3]));
    out[4] += third * (a.z * m[0] + 2.0 * (a.x * m[4]));
    out[5] += third * (a.x * m[1] + 2.0 * (a.y * m[3]));
    out[6] += third * (a.z * m[1] + 2.0 * (a.y * m[5]));
    out[7] += third * (a.x * m[2] + 2.0 * (a.z * m[4]));
    out[8] += third * (a.y * m[2] + 2.0 * (a.z * m[5]));
    out[9] += third * (a.x * m[5] + a.y * m[4] + a.z * m[3]);
}

/* Loads the triangles of a block; those without area become points. */
static void load_block(const carom_bvh_faces *faces, uint32_t block, carom_bvh_corners *corners) {
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        uint32_t slot = block * CAROM_BVH_WIDTH + lane;
        carom_triangle t;
        bool some = slot < faces->bvh->item_count && faces->triangle(faces->user, slot, &t);
        for (int i = 0; i < 3; ++i) {
            carom_vec3 p = {0.0, 0.0, 0.0};
            if (some) p = carom_bvh_to_frame(faces, t.corner[i]);
            corners->row[3 * i][lane] = p.x;
            corners->row[3 * i + 1][lane] = p.y;
            corners->row[3 * i + 2][lane] = p.z;
        }
    }
}

/* A triangle of a block, with its area vector. */
typedef struct flat {
    carom_vec3 corner[3], centre, normal;
    double area;
} flat;

static flat flat_at(const carom_bvh_corners *corners, uint32_t lane) {
    flat f;
    for (int i = 0; i < 3; ++i)
        f.corner[i] = carom_vec(corners->row[3 * i][lane], corners->row[3 * i + 1][lane],
                                corners->row[3 * i + 2][lane]);
    carom_vec3 u = carom_vec_sub(f.corner[1], f.corner[0]);
    carom_vec3 v = carom_vec_sub(f.corner[2], f.corner[0]);
    f.normal = carom_vec_scale(carom_vec_cross(u, v), 0.5);
    f.area = carom_vec_length(f.normal);
    f.centre = carom_vec_add(f.corner[0], carom_vec_scale(carom_vec_add(u, v), 1.0 / 3.0));
    return f;
}

/* Adds a triangle to the moments about a fixed centre. The integral of d d over a triangle is its
 * area times c c and a twelfth of the products of its corners about c, c its own centre. That of
 * |d|^3 is at most the mean over the corners, as |d|^3 is convex. */
static void add_flat(moment *m, const flat *f) {
    carom_vec3 centre = vec_at(m->value), at = carom_vec_sub(f->centre, centre);
    double products[6] = {0.0};
    bvh_winding_multiply(at, at, 1.0, products);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 arm = carom_vec_sub(f->corner[i], f->centre);
        bvh_winding_multiply(arm, arm, 1.0 / 12.0, products);
        double away = carom_vec_length(carom_vec_sub(f->corner[i], centre));
        m->value[CAROM_BVH_RADIUS] =
            CAROM_MAX(away * BVH_WINDING_ROUND_UP, m->value[CAROM_BVH_RADIUS]);
        m->value[CAROM_BVH_SPREAD] += f->area / 3.0 * (away * away * away) * BVH_WINDING_ROUND_UP;
    }
    bvh_winding_add_vec(m->value + CAROM_BVH_NORMAL, f->normal);
    bvh_winding_multiply(f->normal, at, 1.0, m->value + CAROM_BVH_FIRST);
    multiply_matrix(f->normal, products, 1.0, m->value + CAROM_BVH_SECOND);
}

static moment moment_of_block(const carom_bvh_corners *corners) {
    moment m = {{0.0}};
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        flat f = flat_at(corners, lane);
        m.value[CAROM_BVH_AREA] += f.area;
        bvh_winding_add_vec(m.value, carom_vec_scale(f.centre, f.area));
    }
    if (!(m.value[CAROM_BVH_AREA] > 0.0)) return (moment){{0.0}};
    for (int k = 0; k < 3; ++k) m.value[k] /= m.value[CAROM_BVH_AREA];
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        flat f = flat_at(corners, lane);
        if (f.area > 0.0) add_flat(&m, &f);
    }
    return m;
}

/* Adds the moments of a child, moved to the centre of its parent. For the spread this is the
 * triangle inequality of the 3-norm. */
static void add_child(moment *m, const moment *child) {
    carom_vec3 by = carom_vec_sub(vec_at(child->value), vec_at(m->value));
    double products[6] = {0.0}, away = carom_vec_length(by), area = child->value[CAROM_BVH_AREA];
    double reach = (child->value[CAROM_BVH_RADIUS] + away) * BVH_WINDING_ROUND_UP;
    CAROM_ASSERT(area > 0.0 && child->value[CAROM_BVH_SPREAD] >= 0.0);
    double norm = carom_cbrt(child->value[CAROM_BVH_SPREAD]) + away * carom_cbrt(area);
    carom_vec3 normal = vec_at(child->value + CAROM_BVH_NORMAL);
    bvh_winding_multiply(by, by, 1.0, products);
    bvh_winding_add_vec(m->value + CAROM_BVH_NORMAL, normal);
    for (int k = CAROM_BVH_FIRST; k < CAROM_BVH_AREA; ++k) m->value[k] += child->value[k];
    bvh_winding_multiply(normal, by, 1.0, m->value + CAROM_BVH_FIRST);
    multiply_matrix(by, child->value + CAROM_BVH_FIRST, 2.0, m->value + CAROM_BVH_SECOND);
    multiply_matrix(normal, products, 1.0, m->value + CAROM_BVH_SECOND);
    m->value[CAROM_BVH_RADIUS] = CAROM_MAX(reach, m->value[CAROM_BVH_RADIUS]);
    m->value[CAROM_BVH_SPREAD] += norm * norm * norm * BVH_WINDING_ROUND_UP;
}

static moment moment_at(const carom_bvh_moments *moments, uint32_t lane) {
    moment m;
    for (int k = 0; k < CAROM_BVH_MOMENTS; ++k) m.value[k] = moments->row[k][lane];
    return m;
}

/* The moments of a node from those of its children. */
static moment moment_of_node(const carom_bvh_moments *children) {
    moment m = {{0.0}};
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        moment child = moment_at(children, lane);
        m.value[CAROM_BVH_AREA] += child.value[CAROM_BVH_AREA];
        bvh_winding_add_vec(m.value,
                            carom_vec_scale(vec_at(child.value), child.value[CAROM_BVH_AREA]));
    }
    if (!(m.value[CAROM_BVH_AREA] > 0.0)) return (moment){{0.0}};
    for (int k = 0; k < 3; ++k) m.value[k] /= m.value[CAROM_BVH_AREA];
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        moment child = moment_at(children, lane);
        if (child.value[CAROM_BVH_AREA] > 0.0) add_child(&m, &child);
    }
    return m;
}

typedef struct bvh_winding_summing {
    const carom_bvh_faces *faces;
    carom_bvh_field *field;
    uint32_t level;
} bvh_winding_summing;

static uint64_t moment_count(const carom_bvh *bvh) {
    uint64_t count = 1;
    for (uint32_t level = 1; level < bvh->level_count; ++level) count += bvh->node_count[level];
    return count;
}

static uint64_t moments_of(const carom_bvh *bvh, uint32_t level, uint32_t index) {
    if (level == bvh->level_count) return moment_count(bvh) - 1;
    CAROM_ASSERT(level >= 1 && level < bvh->level_count && index < bvh->node_count[level]);
    return bvh->level_start[level] - bvh->node_count[0] + index;
}

uint64_t carom_bvh_field_first(const carom_bvh *bvh, uint32_t level) {
    return moments_of(bvh, level, 0);
}

uint64_t carom_bvh_field_nodes(const carom_bvh *bvh) {
    return moment_count(bvh);
}

static carom_status load_blocks(void *argument, carom_range range) {
    const bvh_winding_summing *s = argument;
    for (uint64_t block = range.begin; block < range.end; ++block)
        load_block(s->faces, (uint32_t)block, &s->field->corners[block]);
    return CAROM_OK;
}

static carom_status sum_level(void *argument, carom_range range) {
    const bvh_winding_summing *s = argument;
    const carom_bvh *bvh = s->faces->bvh;
    carom_bvh_moments *moments = s->field->moments;
    uint32_t below = bvh->node_count[s->level - 1];
    for (uint64_t node = range.begin; node < range.end; ++node) {
        carom_bvh_moments *to = moments + moments_of(bvh, s->level, (uint32_t)node);
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            uint64_t child = node * CAROM_BVH_WIDTH + lane;
            moment m = {{0.0}};
            if (child < below && s->level == 1) m = moment_of_block(&s->field->corners[child]);
            if (child < below && s->level > 1)
                m = moment_of_node(moments + moments_of(bvh, s->level - 1, (uint32_t)child));
            for (int k = 0; k < CAROM_BVH_MOMENTS; ++k) to->row[k][lane] = m.value[k];
        }
    }
    return CAROM_OK;
}

carom_status carom_bvh_field_make(carom_context *context, carom_arena *arena,
                                  const carom_bvh_faces *faces, carom_bvh_field *field) {
    const carom_bvh *bvh = faces->bvh;
    uint64_t blocks = bvh->level_count != 0 ? bvh->node_count[0] : 0, nodes = moment_count(bvh);
    field->corners = CAROM_ARENA_TAKE(arena, carom_bvh_corners, blocks);
    field->moments = CAROM_ARENA_TAKE(arena, carom_bvh_moments, nodes);
    if (field->corners == NULL || field->moments == NULL)
        return carom_fail_memory(context,
                                 blocks * sizeof(*field->corners) + nodes * sizeof(*field->moments),
                                 "winding numbers");
    bvh_winding_summing s = {faces, field, 0};
    CAROM_TRY(carom_parallel_for(context, blocks, BVH_WINDING_NODES_PER_RANGE, load_blocks, &s));
    for (s.level = 1; s.level <= bvh->level_count; ++s.level) {
        uint32_t count = s.level < bvh->level_count ? bvh->node_count[s.level] : 1;
        CAROM_TRY(carom_parallel_for(context, count, BVH_WINDING_NODES_PER_RANGE, sum_level, &s));
    }
    return CAROM_OK;
}

/* ---- Generalised winding number -------------------------------------------------------------- */

/* Evaluates with one tolerance; *error is the bound of the error. */
static double evaluate(carom_context *context, const carom_bvh *bvh, const carom_bvh_field *field,
                       const double point[3], double tolerance, double *error) {
    struct {
        uint32_t level, index;
    } stack[(CAROM_BVH_LEVELS + 1) * CAROM_BVH_WIDTH];
    carom_bvh_angles sum;
    uint32_t count = 0;
    memset(&sum, 0, sizeof(sum));
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) sum.real[lane] = 1.0;
    stack[count].level = bvh->level_count;
    stack[count++].index = 0;
    while (count > 0) {
        uint32_t level = stack[--count].level, index = stack[count].index;
        CAROM_ASSERT(level <= bvh->level_count);
        if (level == 0) {
            CAROM_CPU_CALL(context, carom_bvh_add_near)(&field->corners[index], point, &sum);
            continue;
        }
        uint32_t lanes = CAROM_CPU_CALL(context, carom_bvh_add_far)(
            field->moments + moments_of(bvh, level, index), point, tolerance, &sum);
        for (; lanes != 0; lanes &= lanes - 1) {
            CAROM_ASSERT(count < (CAROM_BVH_LEVELS + 1) * CAROM_BVH_WIDTH);
            stack[count].level = level - 1;
            stack[count++].index = index * CAROM_BVH_WIDTH + (uint32_t)__builtin_ctz(lanes);
        }
    }
    carom_bvh_total total = carom_bvh_total_begin();
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane)
        carom_bvh_total_add(&total, sum.far[lane], sum.error[lane], sum.real[lane],
                            sum.imaginary[lane], sum.turns[lane]);
    return carom_bvh_total_fraction(&total, error);
}

double carom_bvh_winding_fraction(carom_context *context, const carom_bvh_faces *faces,
                                  const carom_bvh_field *field, carom_vec3 point) {
    carom_vec3 p = carom_bvh_to_frame(faces, point);
    const double at[3] = {p.x, p.y, p.z};
    double tolerance = CAROM_BVH_FIRST_TOLERANCE, error = 0.0, fraction = 0.0;
    if (faces->bvh->level_count == 0 || !carom_vec_within(p, CAROM_WINDING_FARTHEST)) return 0.0;
    for (int i = 1; i <= CAROM_BVH_MOST_TRIES; ++i, tolerance *= CAROM_BVH_NEXT_TRY) {
        if (i == CAROM_BVH_MOST_TRIES) tolerance = 0.0;
        fraction = evaluate(context, faces->bvh, field, at, tolerance, &error);
        if (error <= CAROM_BVH_FRACTION_ERROR) break;
    }
    return fraction;
}
