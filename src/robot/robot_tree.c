/* SPDX-License-Identifier: MIT */
/* The tree of a shape: built by halving at the median of the widest axis, so that its depth is that
 * of the number of items; searched for pairs within reach, for the nearest pair, and along a ray.
 * robot_tree_item.h has the searches that verdicts need. */
#include "robot/robot_tree.h"

#include <float.h>
#include <string.h>

#include "base/progress.h"
#include "base/sort.h"
#include "base/threads.h"
#include "geom/length.h"
#include "geom/orient.h"
#include "robot/robot_distance_item.h"

/* ---- Build ----------------------------------------------------------------------------------- */

typedef struct tree_build {
    const carom_triangle *triangles;
    uint32_t *order; /* of triangles; balls are sorted themselves, in the tree */
    carom_robot_tree *tree;
    struct tree_task *tasks; /* subtrees that are built side by side */
    struct tree_box *boxes;  /* of these, where balls are sorted */
    bool is_sorted; /* balls along a curve: each half is near itself, and no median needed */
    bool is_equal;  /* the radii of balls */
} tree_build;

/* From so many balls on they are sorted along a Morton curve, of 2^14 cells along each axis, with
 * their numbers in the lower bits: 100,000 points take a fifth of the time that medians take. */
#define TREE_SORTED_BALLS 16384u
#define TREE_CURVE_BITS   14
#define TREE_NUMBER_BITS  22

/* Items [first, end) of a node, and where its descendants begin: a subtree of so many items always
 * has as many nodes. */
typedef struct tree_task {
    uint32_t node, first, end, next;
} tree_task;

/* What is around items, without slack: that of a node is the one around those of its children. */
typedef struct tree_box {
    double low[3], high[3];
} tree_box;

/* Subtrees of at most so many items are built side by side: some 0.2 ms of work each. */
#define TREE_TASK_ITEMS 4096u

static carom_vec3 tree_centre_of(const tree_build *b, uint32_t item) {
    if (b->triangles == NULL) return b->tree->balls[item].centre;
    const carom_vec3 *c = b->triangles[item].corner;
    return carom_vec(c[0].x + c[1].x + c[2].x, c[0].y + c[1].y + c[2].y, c[0].z + c[1].z + c[2].z);
}

static void include_point(carom_robot_node *n, carom_vec3 p, double radius) {
    for (int k = 0; k < 3; ++k) {
        double x = carom_robot_coordinate(p, k);
        n->low[k] = CAROM_MIN(x - radius, n->low[k]);
        n->high[k] = CAROM_MAX(x + radius, n->high[k]);
    }
}

static double item_reach(const tree_build *b, uint32_t item, carom_vec3 centre) {
    const carom_vec3 *c = b->triangles[item].corner;
    double most =
        CAROM_MAX(carom_robot_squared_gap(c[0], centre), carom_robot_squared_gap(c[1], centre));
    double third = carom_robot_squared_gap(c[2], centre);
    return sqrt(CAROM_MAX(most, third)) + b->tree->radius;
}

static void box_of_balls(const carom_ball *balls, uint32_t count, double by, carom_robot_node *n) {
    for (uint32_t i = 0; i < count; ++i) include_point(n, balls[i].centre, balls[i].radius + by);
}

/* Four at once, for each waits for the one before. */
static double farthest_squared(const carom_ball *balls, uint32_t count, carom_vec3 centre) {
    double most[4] = {0.0, 0.0, 0.0, 0.0};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (uint32_t k = 0; k < 4; ++k) {
            double squared = carom_robot_squared_gap(balls[i + k].centre, centre);
            most[k] = CAROM_MAX(squared, most[k]);
        }
    for (; i < count; ++i) {
        double squared = carom_robot_squared_gap(balls[i].centre, centre);
        most[0] = CAROM_MAX(squared, most[0]);
    }
    double first = CAROM_MAX(most[0], most[1]), second = CAROM_MAX(most[2], most[3]);
    return CAROM_MAX(first, second);
}

/* The greatest reach of balls from a point. Where all radii are equal, that is of the farthest
 * centre: one root. */
static double reach_of_balls(const tree_build *b, uint32_t first, uint32_t count,
                             carom_vec3 centre) {
    const carom_ball *balls = b->tree->balls + first;
    double reach = 0.0, by = b->tree->radius;
    if (b->is_equal) return sqrt(farthest_squared(balls, count, centre)) + balls[0].radius + by;
    for (uint32_t i = 0; i < count; ++i) {
        double own = sqrt(carom_robot_squared_gap(balls[i].centre, centre)) + balls[i].radius + by;
        reach = CAROM_MAX(own, reach);
    }
    return reach;
}

/* Bounds of items [first, end), from the box around them. */
static void finish_bounds(const tree_build *b, uint32_t first, uint32_t end, carom_robot_node *n) {
    double radius = 0.0, size = 0.0;
    for (int k = 0; k < 3; ++k) {
        double most = CAROM_MAX(fabs(n->low[k]), fabs(n->high[k]));
        size = CAROM_MAX(most, size);
    }
    for (int k = 0; k < 3; ++k) {
        n->low[k] -= size * CAROM_ROBOT_TREE_SLACK;
        n->high[k] += size * CAROM_ROBOT_TREE_SLACK;
    }
    n->ball.centre = carom_vec(0.5 * (n->low[0] + n->high[0]), 0.5 * (n->low[1] + n->high[1]),
                               0.5 * (n->low[2] + n->high[2]));
    if (b->triangles == NULL) radius = reach_of_balls(b, first, end - first, n->ball.centre);
    for (uint32_t i = first; i < end && b->triangles != NULL; ++i) {
        double reach = item_reach(b, b->order[i], n->ball.centre);
        radius = CAROM_MAX(reach, radius);
    }
    n->ball.radius = radius + (radius + size) * CAROM_ROBOT_TREE_SLACK;
    CAROM_ASSERT(first < end && radius >= 0.0 && n->low[0] <= n->high[0]);
    CAROM_ASSERT(n->low[1] <= n->high[1] && n->low[2] <= n->high[2]);
}

/* The box of items [first, end), in a node. */
static void box_items(const tree_build *b, uint32_t first, uint32_t end, carom_robot_node *n) {
    const carom_robot_tree *t = b->tree;
    for (int k = 0; k < 3; ++k) {
        n->low[k] = HUGE_VAL;
        n->high[k] = -HUGE_VAL;
    }
    if (b->triangles == NULL) box_of_balls(t->balls + first, end - first, t->radius, n);
    for (uint32_t i = first; i < end && b->triangles != NULL; ++i)
        for (int c = 0; c < 3; ++c)
            include_point(n, b->triangles[b->order[i]].corner[c], t->radius);
}

static double tree_key(const tree_build *b, int64_t at, int axis) {
    if (b->triangles == NULL) return carom_robot_coordinate(b->tree->balls[at].centre, axis);
    return carom_robot_coordinate(tree_centre_of(b, b->order[at]), axis);
}

static void swap_items(const tree_build *b, int64_t i, int64_t j) {
    if (b->triangles == NULL) {
        carom_ball swapped = b->tree->balls[i];
        b->tree->balls[i] = b->tree->balls[j];
        b->tree->balls[j] = swapped;
    } else {
        uint32_t swapped = b->order[i];
        b->order[i] = b->order[j];
        b->order[j] = swapped;
    }
}

/* Moves the items below the median along an axis to the front of [first, end), the median to its
 * place. Hoare's selection, with the middle of three as pivot. */
static void select_median(const tree_build *b, uint32_t first, uint32_t end, uint32_t middle,
                          int axis) {
    int64_t low = first, high = (int64_t)end - 1;
    while (low < high) {
        double u = tree_key(b, low, axis), v = tree_key(b, low + (high - low) / 2, axis);
        double w = tree_key(b, high, axis);
        double pivot = u < v ? (v < w ? v : u < w ? w : u) : (u < w ? u : v < w ? w : v);
        int64_t i = low, j = high;
        while (i <= j) {
            while (tree_key(b, i, axis) < pivot) ++i;
            while (tree_key(b, j, axis) > pivot) --j;
            if (i > j) break;
            swap_items(b, i++, j--);
        }
        if ((int64_t)middle <= j) {
            high = j;
        } else if ((int64_t)middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

/* Nodes below the root of a tree of so many items. After so many halvings parts have m items, and
 * as many of them one more as the items do not divide into: those of 5 are divided once more. */
static uint32_t nodes_below(uint32_t count) {
    int halvings = 0;
    while (count >> halvings > CAROM_ROBOT_LEAF) ++halvings;
    uint32_t parts = UINT32_C(1) << halvings, more = count & (parts - 1);
    uint32_t leaves = parts + (count >> halvings == CAROM_ROBOT_LEAF ? more : 0);
    return 2 * leaves - 2;
}

/* Bounds a node and divides its items; those of sorted balls are bounded later. Its children come
 * next; the descendants of the second one before those of the first. Returns how many children
 * there are. */
static uint32_t build_node(const tree_build *b, const tree_task *task, tree_task *children) {
    carom_robot_node *n = &b->tree->nodes[task->node];
    uint32_t count = task->end - task->first;
    int axis = 0;
    if (!b->is_sorted) {
        box_items(b, task->first, task->end, n);
        finish_bounds(b, task->first, task->end, n);
    }
    if (count <= CAROM_ROBOT_LEAF) {
        n->first = task->first;
        n->count = count;
        return 0;
    }
    uint32_t middle = task->first + count / 2;
    if (!b->is_sorted) {
        for (int k = 1; k < 3; ++k)
            if (n->high[k] - n->low[k] > n->high[axis] - n->low[axis]) axis = k;
        select_median(b, task->first, task->end, middle, axis);
    }
    n->first = task->next;
    n->count = 0;
    uint32_t second = task->next + 2, first = second + nodes_below(task->end - middle);
    children[0] = (tree_task){n->first, task->first, middle, first};
    children[1] = (tree_task){n->first + 1, middle, task->end, second};
    return 2;
}

/* Builds all of a subtree, or, with a list, what is above subtrees of few items. Returns how many
 * of those were listed. */
static uint32_t build_below(const tree_build *b, tree_task root, tree_task *list) {
    tree_task stack[CAROM_ROBOT_STACK];
    uint32_t listed = 0;
    int depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        tree_task task = stack[--depth];
        if (list != NULL && task.end - task.first <= TREE_TASK_ITEMS) {
            list[listed++] = task;
            continue;
        }
        CAROM_ASSERT(depth + 2 <= CAROM_ROBOT_STACK);
        depth += (int)build_node(b, &task, stack + depth);
    }
    return listed;
}

/* Builds a subtree of sorted balls: boxes from below, so that each ball is put into one once.
 * Subtrees that were built take their boxes from a list, in the order of build_below. */
static tree_box build_sorted(const tree_build *b, const tree_task *task, uint32_t *listed) {
    carom_robot_node *n = &b->tree->nodes[task->node];
    tree_task children[2];
    tree_box box;
    if (listed != NULL && task->end - task->first <= TREE_TASK_ITEMS) return b->boxes[(*listed)++];
    if (build_node(b, task, children) == 0) {
        box_items(b, task->first, task->end, n);
    } else { /* halving: no deeper than CAROM_ROBOT_TREE_MOST_DEPTH */
        tree_box second = build_sorted(b, &children[1], listed);
        tree_box first = build_sorted(b, &children[0], listed);
        for (int k = 0; k < 3; ++k) {
            n->low[k] = CAROM_MIN(first.low[k], second.low[k]);
            n->high[k] = CAROM_MAX(first.high[k], second.high[k]);
        }
    }
    memcpy(box.low, n->low, sizeof(box.low));
    memcpy(box.high, n->high, sizeof(box.high));
    finish_bounds(b, task->first, task->end, n);
    return box;
}

static carom_status build_range(void *argument, carom_range range) {
    const tree_build *b = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        if (b->is_sorted)
            b->boxes[i] = build_sorted(b, &b->tasks[i], NULL);
        else
            (void)build_below(b, b->tasks[i], NULL);
    return CAROM_OK;
}

static carom_status build_nodes(carom_context *context, tree_build *b) {
    carom_robot_tree *t = b->tree;
    const tree_task root = {0, 0, t->item_count, 1};
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    uint64_t most = 2 * (uint64_t)t->item_count / TREE_TASK_ITEMS + 2;
    t->node_count = 1 + nodes_below(t->item_count);
    b->tasks = CAROM_ARENA_TAKE(arena, tree_task, most);
    b->boxes = CAROM_ARENA_TAKE(arena, tree_box, most);
    carom_status status = b->tasks == NULL || b->boxes == NULL
                              ? carom_fail_memory(context, 0, "the tree of a shape")
                              : carom_progress_look(context);
    if (status == CAROM_OK) {
        uint32_t count = build_below(b, root, b->tasks);
        CAROM_ASSERT(count <= most);
        status = carom_parallel_for(context, count, 1, build_range, b);
        uint32_t listed = 0;
        if (status == CAROM_OK && b->is_sorted) (void)build_sorted(b, &root, &listed);
    }
    carom_arena_rewind(arena, mark);
    return status;
}

void carom_robot_tree_free(const carom_allocator *allocator, carom_robot_tree *tree) {
    CAROM_RELEASE_ALL(allocator, tree->nodes, tree->triangles, tree->balls);
    *tree = (carom_robot_tree){0};
}

uint64_t carom_robot_tree_bytes(const carom_robot_tree *tree) {
    return (uint64_t)tree->node_count * sizeof(*tree->nodes) +
           (uint64_t)tree->item_count *
               (tree->triangles != NULL ? sizeof(*tree->triangles) : sizeof(*tree->balls));
}

/* The lower bits of a number, two apart. */
static uint64_t spread_bits(uint64_t x) {
    x = (x | x << 32) & UINT64_C(0x1f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x1f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

static uint64_t morton_cell(double x, double low, double per_length) {
    double cell = (x - low) * per_length, most = (double)((1 << TREE_CURVE_BITS) - 1);
    return spread_bits(cell < most ? (uint64_t)cell : (uint64_t)most);
}

/* Sorts balls along the curve through the cube of their centres. */
static carom_status sort_points_of_tree(carom_context *context, tree_build *b,
                                        const carom_ball *balls, uint32_t count) {
    carom_robot_node box = {.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                            .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    double side = 0.0;
    for (uint32_t i = 0; i < count; ++i) include_point(&box, balls[i].centre, 0.0);
    for (int k = 0; k < 3; ++k) side = CAROM_MAX(box.high[k] - box.low[k], side);
    if (!(side > DBL_MIN)) return CAROM_OK;
    double per_length = (double)(1 << TREE_CURVE_BITS) / side;
    carom_arena *arena = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(arena);
    uint64_t *words = CAROM_ARENA_TAKE(arena, uint64_t, count);
    if (words == NULL) return carom_fail_memory(context, 0, "the tree of a shape");
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 c = balls[i].centre;
        uint64_t cell = morton_cell(c.x, box.low[0], per_length) |
                        morton_cell(c.y, box.low[1], per_length) << 1 |
                        morton_cell(c.z, box.low[2], per_length) << 2;
        words[i] = cell << TREE_NUMBER_BITS | i;
    }
    carom_status status =
        carom_sort_words(context, words, count, TREE_NUMBER_BITS, 3 * TREE_CURVE_BITS);
    for (uint32_t i = 0; i < count && status == CAROM_OK; ++i)
        b->tree->balls[i] = balls[words[i] & ((UINT64_C(1) << TREE_NUMBER_BITS) - 1)];
    b->is_sorted = status == CAROM_OK;
    carom_arena_rewind(arena, mark);
    return status;
}

static carom_status tree_build_run(carom_context *context, tree_build *b, uint32_t count) {
    carom_robot_tree *t = b->tree;
    for (uint32_t i = 0; i < count && b->order != NULL; ++i) b->order[i] = i;
    b->is_equal = b->triangles == NULL;
    for (uint32_t i = 1; i < count && b->is_equal; ++i)
        b->is_equal = t->balls[i].radius == t->balls[0].radius;
    CAROM_TRY(build_nodes(context, b));
    const carom_vec3 origin = {0.0, 0.0, 0.0};
    if (b->triangles == NULL) t->largest = reach_of_balls(b, 0, count, origin);
    for (uint32_t i = 0; i < count && b->triangles != NULL; ++i) {
        t->triangles[i] = b->triangles[b->order[i]];
        double reach = item_reach(b, b->order[i], origin);
        t->largest = CAROM_MAX(reach, t->largest);
    }
    t->largest *= 1.0 + CAROM_ROBOT_TREE_SLACK;
    CAROM_ASSERT(t->node_count <= 2 * (uint64_t)count && t->nodes[0].ball.radius >= 0.0);
    return CAROM_OK;
}

carom_status carom_robot_tree_build(carom_context *context, const carom_allocator *allocator,
                                    const carom_triangle *triangles, const carom_ball *balls,
                                    uint32_t count, double radius, carom_robot_tree *tree) {
    *tree = (carom_robot_tree){.item_count = count, .radius = radius};
    if (count == 0) return CAROM_OK;
    tree_build b = {.triangles = triangles, .tree = tree};
    uint64_t nodes = 2 * (uint64_t)count;
    tree->nodes = carom_allocate(allocator, nodes, sizeof(*tree->nodes));
    if (triangles != NULL)
        tree->triangles = carom_allocate(allocator, count, sizeof(*tree->triangles));
    else
        tree->balls = carom_allocate(allocator, count, sizeof(*tree->balls));
    if (triangles != NULL) b.order = carom_allocate(allocator, count, sizeof(*b.order));
    bool has_all =
        tree->nodes != NULL &&
        (triangles != NULL ? tree->triangles != NULL && b.order != NULL : tree->balls != NULL);
    if (has_all && balls != NULL && triangles == NULL)
        memcpy(tree->balls, balls, count * sizeof(*balls));
    carom_status status =
        has_all ? CAROM_OK
                : carom_fail_memory(context, nodes * sizeof(*tree->nodes), "the tree of a shape");
    if (status == CAROM_OK && triangles == NULL && count >= TREE_SORTED_BALLS &&
        count < 1u << TREE_NUMBER_BITS)
        status = sort_points_of_tree(context, &b, balls, count);
    if (status == CAROM_OK) status = tree_build_run(context, &b, count);
    carom_release(allocator, b.order);
    if (status != CAROM_OK) carom_robot_tree_free(allocator, tree);
    return status;
}

/* ---- Searches -------------------------------------------------------------------------------- */

double carom_robot_tree_distance(const carom_robot_tree *a, const carom_robot_tree *b,
                                 const carom_frame *b_to_a, double limit) {
    return carom_robot_distance_item(a, b, b_to_a, limit);
}

double carom_robot_tree_point_distance(const carom_robot_tree *tree, carom_vec3 point, double limit,
                                       double tolerance) {
    return carom_robot_point_distance_item(tree, point, limit, tolerance);
}

bool carom_robot_tree_near(const carom_robot_tree *tree, carom_vec3 point, double reach) {
    return carom_robot_near_item(tree, point, reach);
}

int carom_robot_tree_winding(const carom_robot_tree *tree, carom_vec3 point) {
    return carom_robot_winding_item(tree, point);
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static bool node_contains(const carom_robot_node *n, carom_vec3 p, double radius) {
    for (int k = 0; k < 3; ++k)
        if (carom_robot_coordinate(p, k) - radius < n->low[k] ||
            carom_robot_coordinate(p, k) + radius > n->high[k])
            return false;
    return sqrt(carom_robot_squared_gap(p, n->ball.centre)) + radius <= n->ball.radius;
}

/* Every item is in exactly one leaf, and in all bounds above it. */
const char *carom_robot_tree_validate(const carom_robot_tree *tree) {
    uint64_t items = 0;
    uint32_t path[CAROM_ROBOT_STACK];
    uint8_t step[CAROM_ROBOT_STACK];
    int depth = 0;
    if (tree->item_count == 0)
        return tree->node_count == 0 ? NULL : "robot: an empty tree has nodes";
    path[0] = 0;
    step[0] = 0;
    while (depth >= 0) {
        const carom_robot_node *n = &tree->nodes[path[depth]];
        if (n->count != 0) {
            if (n->first != items || n->first + n->count > tree->item_count)
                return "robot: the leaves of a tree do not follow one another";
            items += n->count;
            for (uint32_t i = n->first; i < n->first + n->count; ++i) {
                carom_triangle t = carom_robot_item_triangle(tree, i);
                for (int level = 0; level <= depth; ++level)
                    for (int c = 0; c < 3; ++c)
                        if (!node_contains(&tree->nodes[path[level]], t.corner[c],
                                           carom_robot_item_radius(tree, i)))
                            return "robot: a node does not contain its items";
            }
            --depth;
        } else if (step[depth] < 2) {
            uint32_t child = n->first + step[depth]++;
            if (child >= tree->node_count) return "robot: a child is not a node of its tree";
            if (depth + 1 >= CAROM_ROBOT_TREE_MOST_DEPTH) return "robot: a tree is too deep";
            path[++depth] = child;
            step[depth] = 0;
        } else {
            --depth;
        }
    }
    return items == tree->item_count ? NULL : "robot: an item is in no leaf";
}
