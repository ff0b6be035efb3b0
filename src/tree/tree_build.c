/* SPDX-License-Identifier: MIT */
/* Building a tree, top down: the spheres of a node are divided among its children by one of three
 * methods, down to leaves of 16; then a ball is put around the spheres of each.
 *
 * Median split halves the spheres along the longest side of their centres until there are as many
 * parts as children. Parts have 16 a^k spheres, a the arity, so that all nodes are full but those
 * on the path to the last leaf. Neural gas (Weller, Zachmann 2009, section III-B; Cottrell and
 * others 2006) moves one prototype per child: each sphere x_j ranks the prototypes by their
 * distance, and prototype i moves to the mean of all x_j with weights v_j exp(-k_ij / lambda), with
 * the volume v_j and the rank k_ij; lambda falls from a/2 to 0.01. Spheres go to the nearest
 * prototype. A Morton curve is the simplest order.
 *
 * All decisions are made on doubles with ties broken by index: the same tree on every machine. */
#include <float.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/math.h"
#include "base/progress.h"
#include "geom/box.h"
#include "geom/enclosing_ball.h"
#include "spheres/spheres_overlap.h"
#include "tree/tree.h"

typedef carom_tree_point item;

/* Lengths of a sphere, in the frame. */
typedef struct lengths {
    double radius, reach, cover, depth;
} lengths;

CAROM_ARRAY(node_array, carom_tree_node);
CAROM_ARRAY(leaf_array, carom_tree_leaf);

typedef struct tree_build_builder {
    carom_context *context;
    const carom_tree_def *def;
    const carom_packing_sphere *spheres;
    carom_tree *tree;
    uint32_t arity;
    item *items;             /* the centres, in the frame */
    lengths *lengths;        /* of each sphere */
    item *other;             /* room for a stable partition */
    carom_ball *balls;       /* room for the balls of a range */
    uint32_t *cluster;       /* of each item */
    node_array inner, outer; /* outer: the leaves */
    leaf_array leaves;
    uint32_t depth;
    double box; /* the longest side of all centres */
    uint64_t since_look;
} tree_build_builder;

#define TREE_LEAF_BIT 0x80000000u /* of a child while building: a leaf, by its own count */

/* Spheres that are divided among children between two looks at the progress callback: some
 * milliseconds, as all 4 to 5 levels take 2 us per sphere. */
#define TREE_PROGRESS_SPHERES 65536u

/* ---- Median split ---------------------------------------------------------------------------- */

static bool tree_build_before(const item *a, const item *b, int axis) {
    return a->c[axis] < b->c[axis] || (a->c[axis] == b->c[axis] && a->index < b->index);
}

static void swap(item *a, item *b) {
    item t = *a;
    *a = *b;
    *b = t;
}

/* Whether the `nth` is in sorted position: none before it comes after it, none after it before it.
 */
CAROM_TREE_CHECK bool tree_is_selected(const item *items, uint32_t count, uint32_t nth, int axis) {
    for (uint32_t i = 0; i < count; ++i)
        if (i < nth ? tree_build_before(&items[nth], &items[i], axis)
                    : tree_build_before(&items[i], &items[nth], axis))
            return false;
    return true;
}

/* Brings the `nth` smallest along an axis to its index, smaller ones before it (quickselect). */
static void select_nth(item *items, uint32_t count, uint32_t nth, int axis) {
    uint32_t low = 0, high = count; /* nth is in [low, high) */
    while (high - low > 2) {
        item *first = &items[low], *middle = &items[low + (high - low) / 2],
             *last = &items[high - 1];
        if (tree_build_before(middle, first, axis)) swap(middle, first);
        if (tree_build_before(last, first, axis)) swap(last, first);
        if (tree_build_before(last, middle, axis)) swap(last, middle);
        item pivot = *middle;
        uint32_t i = low, j = high - 1;
        for (;;) {
            while (tree_build_before(&items[i], &pivot, axis)) ++i;
            while (tree_build_before(&pivot, &items[j], axis)) --j;
            if (i >= j) break;
            swap(&items[i], &items[j]);
            ++i;
            --j;
        }
        /* [low, i) <= pivot, (j, high) >= pivot */
        if (nth <= j)
            high = j + 1;
        else
            low = i > j ? i : j + 1;
    }
    if (high - low == 2 && tree_build_before(&items[low + 1], &items[low], axis))
        swap(&items[low], &items[low + 1]);
    CAROM_ASSERT(tree_is_selected(items, count, nth, axis));
}

static int longest_axis(const item *items, uint32_t count) {
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) low[k] = high[k] = items[0].c[k];
    for (uint32_t i = 1; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            low[k] = CAROM_MIN(items[i].c[k], low[k]);
            high[k] = CAROM_MAX(items[i].c[k], high[k]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    return axis;
}

void carom_tree_split_median(carom_tree_point *items, uint32_t count, uint32_t parts,
                             uint32_t size) {
    if (parts < 2) return;
    uint32_t left = parts / 2, at = left * size;
    select_nth(items, count, at, longest_axis(items, count));
    carom_tree_split_median(items, at, left, size);
    carom_tree_split_median(items + at, count - at, parts - left, size);
}

/* The spheres of a full child of a node with that many. */
static uint32_t part_size(const tree_build_builder *b, uint32_t count) {
    uint64_t size = CAROM_TREE_WIDTH;
    while (size * b->arity < count) size *= b->arity;
    return (uint32_t)size;
}

static uint32_t split_equal(tree_build_builder *b, uint32_t begin, uint32_t end, uint32_t *cuts) {
    uint32_t count = end - begin, size = part_size(b, count), parts = (count - 1) / size + 1;
    if (b->def->method != CAROM_TREE_METHOD_MORTON)
        carom_tree_split_median(b->items + begin, count, parts, size);
    for (uint32_t i = 0; i < parts; ++i) cuts[i] = begin + i * size;
    cuts[parts] = end;
    return parts;
}

/* ---- Neural gas ------------------------------------------------------------------------------ */

#define TREE_GAS_STEPS  50   /* at most: t_max */
#define TREE_GAS_LAMBDA 0.01 /* in the end */

/* Prototypes that move by less than this, in sides of the box around all centres, have converged: a
 * leaf of a million spheres is 2,500 times as wide, (16 / 10^6)^(1/3) of the box. */
#define TREE_GAS_MOTION 1e-5

/* Where one child would have a larger share of the spheres, the median splits them instead: else
 * the depth could be that of a list. */
#define TREE_GAS_SHARE_MAX (15.0 / 16.0)

/* e^-x is taken as 0 beyond: e^-700, 1e-304, is still a normal double. */
#define TREE_EXPONENT_MAX 700.0

/* The series of five terms takes x up to this: x^6 / 720 is 2e-14. */
#define TREE_SERIES_MAX 0x1p-6

/* e^-x for x >= 0: by halving x and squaring back; right to some 1e-13. */
static double exp_minus(double x) {
    int halvings = 0;
    if (x > TREE_EXPONENT_MAX) return 0.0;
    for (; x > TREE_SERIES_MAX; x *= 0.5) ++halvings;
    double e = 1.0 - x * (1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0 * (1.0 - x / 5.0))));
    for (; halvings > 0; --halvings) e *= e;
    return e;
}

typedef struct prototypes {
    uint32_t count;
    double at[CAROM_TREE_WIDTH][3];
} prototypes;

static void squared_distances(const prototypes *p, const item *s, double *squared) {
    for (uint32_t i = 0; i < p->count; ++i) {
        double x = s->c[0] - p->at[i][0], y = s->c[1] - p->at[i][1], z = s->c[2] - p->at[i][2];
        squared[i] = (x * x + y * y) + z * z;
    }
}

/* One step; returns the square of the longest way a prototype moved. */
static double move_prototypes(prototypes *p, const tree_build_builder *b, const item *items,
                              uint32_t count, const double *weight_of_rank) {
    double sum[CAROM_TREE_WIDTH][3] = {{0}}, weight[CAROM_TREE_WIDTH] = {0}, moved = 0.0;
    for (uint32_t j = 0; j < count; ++j) {
        const item *s = &items[j];
        double squared[CAROM_TREE_WIDTH], r = b->lengths[s->index].radius, volume = r * r * r;
        squared_distances(p, s, squared);
        for (uint32_t i = 0; i < p->count; ++i) {
            uint32_t rank = 0;
            for (uint32_t k = 0; k < p->count; ++k) rank += squared[k] < squared[i];
            double w = weight_of_rank[rank] * volume;
            for (int k = 0; k < 3; ++k) sum[i][k] += w * s->c[k];
            weight[i] += w;
        }
    }
    for (uint32_t i = 0; i < p->count; ++i) {
        double way = 0.0;
        if (!(weight[i] > 0.0)) continue;
        for (int k = 0; k < 3; ++k) {
            double to = sum[i][k] / weight[i], by = to - p->at[i][k];
            way += by * by;
            p->at[i][k] = to;
        }
        moved = CAROM_MAX(way, moved);
    }
    return moved;
}

static void train_prototypes(tree_build_builder *b, const item *items, uint32_t count,
                             prototypes *p) {
    carom_random random = {b->def->seed + count};
    double start = (double)p->count / 2.0,
           ratio = carom_log(start / TREE_GAS_LAMBDA) / TREE_GAS_STEPS;
    for (uint32_t i = 0; i < p->count; ++i) {
        const item *s = &items[carom_random_next(&random) % count];
        for (int k = 0; k < 3; ++k) p->at[i][k] = s->c[k];
    }
    for (int t = 0; t < TREE_GAS_STEPS; ++t) {
        double lambda = start * exp_minus(ratio * t), weight[CAROM_TREE_WIDTH];
        for (uint32_t k = 0; k < p->count; ++k) weight[k] = exp_minus((double)k / lambda);
        double moved = move_prototypes(p, b, items, count, weight);
        if (moved <= TREE_GAS_MOTION * b->box * TREE_GAS_MOTION * b->box) break;
    }
}

/* Divides a range by the nearest prototype; 0 parts where that is of no use. */
static uint32_t split_gas(tree_build_builder *b, uint32_t begin, uint32_t end, uint32_t *cuts) {
    uint32_t count = end - begin, sizes[CAROM_TREE_WIDTH] = {0}, starts[CAROM_TREE_WIDTH];
    item *items = b->items + begin;
    prototypes p = {.count = b->arity};
    /* No more children than leaves, so that these are not all but empty. */
    uint32_t leaves = (count - 1) / CAROM_TREE_WIDTH + 1;
    p.count = CAROM_MIN(p.count, CAROM_MAX(leaves, 2));
    train_prototypes(b, items, count, &p);
    for (uint32_t j = 0; j < count; ++j) {
        double squared[CAROM_TREE_WIDTH];
        uint32_t nearest = 0;
        squared_distances(&p, &items[j], squared);
        for (uint32_t i = 1; i < p.count; ++i)
            if (squared[i] < squared[nearest]) nearest = i;
        b->cluster[j] = nearest;
        ++sizes[nearest];
    }
    uint32_t parts = 0, at = 0;
    for (uint32_t i = 0; i < p.count; ++i) {
        if (sizes[i] > TREE_GAS_SHARE_MAX * count) return 0;
        starts[i] = at;
        if (sizes[i] != 0) cuts[parts++] = begin + at;
        at += sizes[i];
    }
    cuts[parts] = end;
    for (uint32_t j = 0; j < count; ++j) b->other[starts[b->cluster[j]]++] = items[j];
    memcpy(items, b->other, count * sizeof(*items));
    return parts;
}

/* ---- Morton order ---------------------------------------------------------------------------- */

#define TREE_MORTON_BITS 21 /* of each coordinate: 63 of a code */

static int by_code(const void *a, const void *b) {
    const item *s = a, *t = b;
    if (s->code != t->code) return s->code < t->code ? -1 : 1;
    return (s->index > t->index) - (s->index < t->index);
}

static void sort_along_curve(tree_build_builder *b, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        item *s = &b->items[i];
        s->code = 0;
        for (int k = 0; k < 3; ++k) {
            /* Coordinates of the frame are within -1 .. 1. */
            uint64_t cell =
                (uint64_t)((s->c[k] + 1.0) * (double)((1 << (TREE_MORTON_BITS - 1)) - 1));
            for (int bit = 0; bit < TREE_MORTON_BITS; ++bit)
                s->code |= (cell >> bit & 1) << (3 * bit + k);
        }
    }
    qsort(b->items, count, sizeof(*b->items), by_code);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Radii are larger by this, in units of the frame: centres, whose coordinates are at most 1, are
 * rounded by sqrt(3) 2^-25. */
#define TREE_RADIUS_MARGIN 0x1p-22

static float tree_build_round_up(double radius) {
    return carom_float_up(radius + TREE_RADIUS_MARGIN, 0.0);
}

static void tree_build_set_lane(carom_tree_node *node, uint32_t lane, carom_vec3 centre,
                                double radius, double reach, double cover, uint32_t child) {
    node->x[lane] = (float)centre.x;
    node->y[lane] = (float)centre.y;
    node->z[lane] = (float)centre.z;
    node->radius[lane] = tree_build_round_up(radius);
    node->reach[lane] = tree_build_round_up(reach);
    node->cover[lane] = tree_build_round_up(cover);
    node->child[lane] = child;
    CAROM_ASSERT(node->radius[lane] <= node->reach[lane] && node->reach[lane] <= node->cover[lane]);
    /* What rounding moved the centre by is in the radius. */
    CAROM_ASSERT(fabs((double)node->x[lane] - centre.x) + fabs((double)node->y[lane] - centre.y) +
                     fabs((double)node->z[lane] - centre.z) + radius <=
                 (double)node->radius[lane]);
}

static void clear_node(carom_tree_node *node) {
    for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
        node->x[lane] = node->y[lane] = node->z[lane] = (float)NAN;
        node->radius[lane] = node->reach[lane] = node->cover[lane] = 0.0f;
        node->child[lane] = CAROM_TREE_NONE;
    }
}

/* The centre and radii of the balls around a range. */
static void tree_build_enclose(const tree_build_builder *b, uint32_t begin, uint32_t end,
                               carom_vec3 *centre, double radii[3]) {
    carom_ball ball;
    uint64_t bad;
    for (uint32_t i = begin; i < end; ++i) {
        const item *s = &b->items[i];
        b->balls[i] = (carom_ball){{s->c[0], s->c[1], s->c[2]}, b->lengths[s->index].reach};
    }
    (void)carom_ball_around_balls(b->balls + begin, end - begin, &ball, &bad);
    *centre = ball.centre;
    radii[0] = radii[1] = radii[2] = 0.0;
    for (uint32_t i = begin; i < end; ++i) {
        const lengths *s = &b->lengths[b->items[i].index];
        double apart = carom_reach(ball.centre, b->balls[i].centre);
        const double each[3] = {s->radius, s->reach, s->cover};
        for (int k = 0; k < 3; ++k) radii[k] = CAROM_MAX(apart + each[k], radii[k]);
    }
    for (int k = 0; k < 3; ++k) radii[k] *= CAROM_REACH_UP;
}

static bool tree_build_add_leaf(tree_build_builder *b, uint32_t begin, uint32_t end,
                                uint32_t *index) {
    const carom_allocator *allocator = &b->tree->allocator;
    carom_tree_node node;
    carom_tree_leaf leaf;
    clear_node(&node);
    memset(&leaf, 0, sizeof(leaf));
    for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
        leaf.x[lane] = leaf.y[lane] = leaf.z[lane] = NAN;
        if (begin + lane >= end) continue;
        const item *s = &b->items[begin + lane];
        const carom_packing_sphere *from = &b->spheres[s->index];
        const lengths *l = &b->lengths[s->index];
        tree_build_set_lane(&node, lane, carom_vec(s->c[0], s->c[1], s->c[2]), l->radius, l->reach,
                            l->cover, s->index);
        leaf.x[lane] = from->centre.x;
        leaf.y[lane] = from->centre.y;
        leaf.z[lane] = from->centre.z;
        leaf.radius[lane] = from->radius;
        leaf.secondary[lane] = from->secondary;
        leaf.cover[lane] = from->cover;

        leaf.depth[lane] = carom_float_down(l->depth - TREE_RADIUS_MARGIN, 0.0);
        leaf.void_units[lane] = carom_spheres_void_units(&b->tree->extent, from->void_volume);
    }
    *index = (uint32_t)b->outer.count | TREE_LEAF_BIT;
    return node_array_push(&b->outer, allocator, node) &&
           leaf_array_push(&b->leaves, allocator, leaf);
}

/* Whether the cuts divide a range into at least two parts, of which none is empty. */
CAROM_TREE_CHECK bool tree_is_partition(const tree_build_builder *b, uint32_t begin, uint32_t end,
                                        const uint32_t *cuts, uint32_t parts) {
    if (parts < 2 || parts > b->arity || cuts[0] != begin || cuts[parts] != end) return false;
    for (uint32_t i = 0; i < parts; ++i)
        if (cuts[i] >= cuts[i + 1]) return false;
    return true;
}

/* Whether a lane encloses the spheres of a range. */
CAROM_TREE_CHECK bool tree_lane_encloses(const tree_build_builder *b, const carom_tree_node *node,
                                         uint32_t lane, uint32_t begin, uint32_t end) {
    carom_vec3 at = carom_vec((double)node->x[lane], (double)node->y[lane], (double)node->z[lane]);
    for (uint32_t i = begin; i < end; ++i) {
        const item *s = &b->items[i];
        const lengths *l = &b->lengths[s->index];
        double apart = carom_reach(at, carom_vec(s->c[0], s->c[1], s->c[2]));
        if (apart + l->radius > (double)node->radius[lane] ||
            apart + l->reach > (double)node->reach[lane] ||
            apart + l->cover > (double)node->cover[lane])
            return false;
    }
    return true;
}

/* Adds the node of a range and all below; the children of ranges up to 16 are leaves. */
static carom_status add_node(tree_build_builder *b, uint32_t begin, uint32_t end, uint32_t depth,
                             uint32_t *index) {
    uint32_t cuts[CAROM_TREE_WIDTH + 1], parts = 0;
    b->depth = CAROM_MAX(depth, b->depth);
    if (end - begin <= CAROM_TREE_WIDTH) {
        if (tree_build_add_leaf(b, begin, end, index)) return CAROM_OK;
        return carom_fail_memory(b->context, (b->outer.count + 1) * sizeof(carom_tree_leaf),
                                 "the leaves of a tree");
    }
    b->since_look += end - begin;
    if (b->since_look > TREE_PROGRESS_SPHERES) {
        b->since_look = 0;
        CAROM_TRY(carom_progress_look(b->context));
    }
    if (b->def->method == CAROM_TREE_METHOD_NEURAL_GAS) parts = split_gas(b, begin, end, cuts);
    if (parts == 0) parts = split_equal(b, begin, end, cuts);
    CAROM_ASSERT(tree_is_partition(b, begin, end, cuts, parts));
    carom_tree_node none;
    clear_node(&none);
    uint32_t at = (uint32_t)b->inner.count;
    *index = at;
    if (!node_array_push(&b->inner, &b->tree->allocator, none))
        return carom_fail_memory(b->context, (at + 1) * sizeof(none), "the nodes of a tree");
    for (uint32_t i = 0; i < parts; ++i) {
        carom_vec3 centre;
        double radii[3];
        uint32_t child;
        tree_build_enclose(b, cuts[i], cuts[i + 1], &centre, radii);
        CAROM_TRY(add_node(b, cuts[i], cuts[i + 1], depth + 1, &child));
        tree_build_set_lane(&b->inner.data[at], i, centre, radii[0], radii[1], radii[2], child);
        CAROM_ASSERT(tree_lane_encloses(b, &b->inner.data[at], i, cuts[i], cuts[i + 1]));
    }
    return CAROM_OK;
}

/* Joins inner nodes and leaves to one array. */
static carom_status join_nodes(tree_build_builder *b, uint32_t root) {
    carom_tree *tree = b->tree;
    uint64_t inner = b->inner.count, outer = b->outer.count;
    CAROM_ASSERT((root & TREE_LEAF_BIT) != 0 ? inner == 0 && outer == 1 : root == 0);
    (void)root;
    for (uint64_t i = 0; i < inner; ++i) {
        uint32_t *child = b->inner.data[i].child;
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane)
            if (child[lane] != CAROM_TREE_NONE && (child[lane] & TREE_LEAF_BIT) != 0)
                child[lane] = (child[lane] & ~TREE_LEAF_BIT) + (uint32_t)inner;
    }
    const carom_allocation arrays[7] = {CAROM_ALLOCATION(tree->faces, outer * CAROM_TREE_WIDTH),
                                        CAROM_ALLOCATION(tree->volumes, inner + outer),
                                        CAROM_ALLOCATION(tree->moments, inner + outer),
                                        CAROM_ALLOCATION(tree->moment_lanes, inner),
                                        CAROM_ALLOCATION(tree->nodes, inner + outer),
                                        CAROM_ALLOCATION(tree->leaves, outer),
                                        CAROM_ALLOCATION(tree->slots, tree->extent.count)};
    if (!carom_allocate_all(&tree->allocator, arrays, 7))
        return carom_fail_memory(b->context, (inner + outer) * sizeof(*tree->nodes), "a tree");
    if (inner != 0) memcpy(tree->nodes, b->inner.data, inner * sizeof(*tree->nodes));
    memcpy(tree->nodes + inner, b->outer.data, outer * sizeof(*tree->nodes));
    memcpy(tree->leaves, b->leaves.data, outer * sizeof(*tree->leaves));
    uint64_t assigned = 0;
    for (uint32_t slot = 0; slot < outer * CAROM_TREE_WIDTH; ++slot) {
        uint32_t sphere = b->outer.data[slot / CAROM_TREE_WIDTH].child[slot % CAROM_TREE_WIDTH];
        tree->faces[slot] = UINT32_MAX;
        if (sphere == CAROM_TREE_NONE) continue;
        tree->slots[sphere] = slot;
        tree->faces[slot] = b->spheres[sphere].face;
        ++assigned;
    }
    CAROM_ASSERT(assigned == tree->extent.count);
    (void)assigned;
    tree->inner_count = (uint32_t)inner;
    tree->leaf_count = (uint32_t)outer;
    tree->depth = b->depth;
    return CAROM_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The frame: the middle of the bounds of all centres, rounded to float32 of their size. */
static void tree_build_choose_frame(tree_build_builder *b, uint32_t count) {
    carom_bounds bounds = carom_bounds_empty();
    for (uint32_t i = 0; i < count; ++i) carom_bounds_include(&bounds, b->spheres[i].centre);
    carom_vec3 low = bounds.low, high = bounds.high;
    b->tree->origin = carom_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y,
                                0.5 * low.z + 0.5 * high.z);
    /* The size includes the largest radius: covers may be far larger, which floats can hold. */
    double size = carom_vec_largest(carom_vec_sub(high, low)) + 2.0 * b->tree->extent.radius;
    b->tree->shift = -(carom_exponent(size) + 1);
    b->box = carom_vec_largest(carom_vec_sub(high, low)) * carom_power_of_two(b->tree->shift);
}

static void make_items(tree_build_builder *b, uint32_t count) {
    double scale = carom_power_of_two(b->tree->shift);
    carom_vec3 origin = b->tree->origin;
    for (uint32_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &b->spheres[i];
        double reach = CAROM_MAX(s->radius, s->secondary);
        if (s->cover < reach) b->tree->odd_covers = true;
        b->items[i] =
            (item){.c = {(s->centre.x - origin.x) * scale, (s->centre.y - origin.y) * scale,
                         (s->centre.z - origin.z) * scale},
                   .index = i};
        b->lengths[i] =
            (lengths){s->radius * scale, reach * scale, CAROM_MAX(s->cover, reach) * scale,
                      CAROM_MAX(s->depth, s->radius) * scale};
    }
}

static carom_status tree_build_nodes(tree_build_builder *b, uint32_t count) {
    uint32_t root;
    double radii[3];
    tree_build_choose_frame(b, count);
    make_items(b, count);
    if (b->def->method == CAROM_TREE_METHOD_MORTON) sort_along_curve(b, count);
    tree_build_enclose(b, 0, count, &b->tree->centre, radii);
    b->tree->radius = radii[0];
    b->tree->reach = radii[1];
    b->tree->cover = radii[2];
    CAROM_TRY(add_node(b, 0, count, 1, &root));
    return join_nodes(b, root);
}

carom_status carom_tree_build(carom_context *context, const carom_tree_def *def,
                              const carom_packing_sphere *spheres, carom_tree *tree) {
    uint32_t count = (uint32_t)tree->extent.count;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    tree_build_builder b = {.context = context,
                            .def = def,
                            .spheres = spheres,
                            .tree = tree,
                            .arity = tree->info.arity,
                            .items = CAROM_ARENA_TAKE(scratch, item, count),
                            .lengths = CAROM_ARENA_TAKE(scratch, lengths, count),
                            .other = CAROM_ARENA_TAKE(scratch, item, count),
                            .balls = CAROM_ARENA_TAKE(scratch, carom_ball, count),
                            .cluster = CAROM_ARENA_TAKE(scratch, uint32_t, count)};
    carom_status status = CAROM_OK;
    if (b.items == NULL || b.lengths == NULL || b.other == NULL || b.balls == NULL ||
        b.cluster == NULL)
        status =
            carom_fail_memory(context, (uint64_t)count * sizeof(item), "the spheres of a tree");
    if (status == CAROM_OK) {
        carom_progress_begin(context, "building a sphere tree", 0);
        status = carom_progress_finish(context, tree_build_nodes(&b, count));
    }
    node_array_release(&b.inner, &tree->allocator);
    node_array_release(&b.outer, &tree->allocator);
    leaf_array_release(&b.leaves, &tree->allocator);
    carom_arena_rewind(scratch, mark);
    return status;
}
