/* SPDX-License-Identifier: MIT */
/* The checks of structures find what they are for: each invariant is broken alone, by writing one
 * member of a sound structure, and the check names it; once the member is restored, it finds
 * nothing. One thread. */
#include <math.h>
#include <string.h>

#include "balls/balls.h"
#include "broad/broad_sweep_cpu.h"
#include "convex/convex_hull.h"
#include "cover/cover.h"
#include "gas/gas_neighbour_lists.h"
#include "gas/gas_queue.h"
#include "pack/pack.h"
#include "robot/robot.h"
#include "scene/scene.h"
#include "solid/solid.h"
#include "soup/soup.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"
#include "tree/tree.h"

#define TRIANGLES 300u

TEST_CONTEXT(1)

/* Writes `value` to `target`, expects exactly these words of `check`, and restores. */
#define BREAK(target, value, check, words)                                                         \
    do {                                                                                           \
        unsigned char kept_[sizeof(target)];                                                       \
        memcpy(kept_, &(target), sizeof(target));                                                  \
        (target) = (value);                                                                        \
        expect(check, words, __LINE__);                                                            \
        memcpy(&(target), kept_, sizeof(target));                                                  \
        assert_valid(check);                                                                       \
    } while (0)

static void expect(const char *message, const char *words, int line) {
    if (message == NULL || strcmp(message, words) != 0)
        fail_msg("line %d: \"%s\" instead of \"%s\"", line, message != NULL ? message : "valid",
                 words);
}

/* Triangles of size 1 in a cube of edge 10; the last two without area; quads instead: half as
 * many. */
static carom_soup *make_soup(carom_soup_method method, bool rigid, bool quads) {
    static double xyz[3 * TRIANGLES][3];
    static uint32_t corners[3 * TRIANGLES];
    static uint64_t offsets[TRIANGLES / 2 + 1];
    carom_random random = {7};
    for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) {
        corners[i] = i;
        for (int k = 0; k < 3; ++k)
            xyz[i][k] = i % 3 == 0 ? carom_random_between(&random, 0.0, 10.0)
                                   : xyz[i - i % 3][k] + carom_random_uniform(&random);
    }
    for (uint32_t i = 3 * (TRIANGLES - 2); i < 3 * TRIANGLES; ++i) xyz[i][1] = xyz[i][2] = 1.0;
    for (uint32_t i = 0; i <= TRIANGLES / 2; ++i) offsets[i] = 4 * (uint64_t)i;
    carom_soup_def def = {.mesh =
                              &(carom_mesh_view){.positions = xyz,
                                                 .vertex_count = 3 * TRIANGLES,
                                                 .corners = corners,
                                                 .offsets = quads ? offsets : NULL,
                                                 .face_count = quads ? TRIANGLES / 2 : TRIANGLES},
                          .method = method,
                          .grid = {.buckets = 4096},
                          .rigid = rigid};
    carom_soup *soup;
    const uint32_t removed = 5;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_valid(carom_soup_validate(soup));
    assert_ok(context, carom_soup_remove(context, soup, &removed, 1));
    assert_valid(carom_soup_validate(soup));
    return soup;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static void broken_box_trees_are_found(void **state) {
    (void)state;
    carom_soup *soup = make_soup(CAROM_SOUP_METHOD_TREE, false, false);
    carom_bvh *bvh = &soup->bvh;
    carom_bvh_node *level_1 = bvh->nodes + bvh->level_start[1];
    assert_int_equal(bvh->level_count, 3);
#define CHECK carom_bvh_validate(bvh, carom_soup_boxes, soup)
    BREAK(bvh->item_count, 0, CHECK, "tree: a tree without items has levels");
    BREAK(bvh->level_count, 9, CHECK, "tree: the number of levels is out of range");
    BREAK(bvh->node_count[1], 3, CHECK, "tree: a level has the wrong number of nodes");
    BREAK(bvh->level_start[1], 3, CHECK, "tree: a level does not begin after the one below");
    BREAK(bvh->level_count, 4, CHECK, "tree: there are levels above the root");
    BREAK(bvh->level_count, 2, CHECK, "tree: the highest level has more than one node");
    BREAK(bvh->item_capacity, 1, CHECK, "bvh: the arrays are smaller than the tree");
    BREAK(bvh->node_capacity, 1, CHECK, "bvh: the arrays are smaller than the tree");
    BREAK(bvh->items[TRIANGLES], 0, CHECK, "tree: a slot past the end has an item");
    BREAK(bvh->items[0], TRIANGLES, CHECK, "tree: an item is out of range");
    BREAK(bvh->items[0], bvh->items[9], CHECK, "tree: an item is in two slots");
    BREAK(bvh->nodes[TRIANGLES / 16].low[0][15], -HUGE_VALF, CHECK,
          "bvh: a slot past the end has a box");
    BREAK(bvh->nodes[3].low[2][4], -99.0f, CHECK, "bvh: a slot does not have the box of its item");
    BREAK(level_1[1].low[0][15], -HUGE_VALF, CHECK, "bvh: a child past the end has a box");
    BREAK(level_1[0].high[1][2], level_1[0].low[1][2], CHECK,
          "bvh: a node's box does not contain those of its child");
#undef CHECK
#define CHECK carom_soup_validate(soup)
    BREAK(bvh->item_count, TRIANGLES - 1, CHECK, "soup: the tree is not over all triangles");
    BREAK(soup->slot_corners[30], soup->slot_corners[31], CHECK,
          "soup: a slot of the tree does not have the corners of its triangle");
#undef CHECK
    carom_soup_destroy(soup);
}

static void broken_oriented_trees_are_found(void **state) {
    (void)state;
    carom_soup *soup = make_soup(CAROM_SOUP_METHOD_TREE, true, false);
    carom_obb_tree *tree = &soup->oriented;
    carom_obb_node *level_1 = tree->nodes + tree->level_start[1];
    uint32_t count = tree->item_count;
    assert_int_equal(count, TRIANGLES - 3);
#define CHECK carom_soup_validate(soup)
    BREAK(tree->level_start[2], 1, CHECK, "tree: a level does not begin after the one below");
    BREAK(tree->item_capacity, 1, CHECK, "obb: the arrays are smaller than the tree");
    BREAK(tree->items[count], 3, CHECK, "tree: a slot past the end has an item");
    BREAK(tree->items[1], tree->items[2], CHECK, "tree: an item is in two slots");
    BREAK(tree->nodes[2].axis[0][1][3], 0.9f, CHECK, "obb: the axes of a box are not orthonormal");
    BREAK(tree->nodes[count / 16].extent[2][15], 0.0f, CHECK, "obb: a slot past the end has a box");
    BREAK(tree->nodes[1].extent[0][1], 0.0f, CHECK, "obb: the box of an item does not contain it");
    BREAK(level_1[0].extent[0][1], 0.0f, CHECK, "obb: a node's box does not contain its items");
    BREAK(tree->root.extent[0], 0.0f, CHECK, "obb: the root does not contain all items");
    BREAK(tree->item_count, count - 1, CHECK,
          "soup: the oriented boxes are not those of the triangles searched");
    BREAK(tree->items[0], 5, CHECK, "soup: a triangle that is left out has an oriented box");
#undef CHECK
    carom_soup_destroy(soup);
}

/* ---- Grid ------------------------------------------------------------------------------------ */

/* A bucket with at least, or exactly, `count` entries. */
static uint32_t bucket_with(const carom_grid_view *view, uint32_t count, bool exactly) {
    for (uint32_t b = 0; b < view->table.bucket_count; ++b) {
        uint32_t here = view->starts[b + 1] - view->starts[b];
        if (exactly ? here == count : here >= count) return view->starts[b];
    }
    fail_msg("there is no such bucket");
    return 0;
}

static uint32_t rank_of(const carom_grid *grid, uint32_t item) {
    uint32_t rank = 0;
    while (grid->items[rank] != item) ++rank;
    return rank;
}

static void broken_grids_are_found(void **state) {
    (void)state;
    carom_soup *soup = make_soup(CAROM_SOUP_METHOD_GRID, false, false);
    carom_grid *grid = &soup->cells.grid;
    uint32_t buckets = grid->view.table.bucket_count, total = grid->view.starts[buckets];
    uint32_t one = bucket_with(&grid->view, 1, true), two = bucket_with(&grid->view, 2, false);
    uint32_t removed = rank_of(grid, 5), rank = rank_of(grid, 17);
#define CHECK carom_soup_validate(soup)
    BREAK(grid->view.item_count, 7, CHECK, "grid: the number of items is wrong");
    BREAK(grid->bucket_capacity, 7, CHECK, "grid: the arrays are smaller than the grid");
    BREAK(grid->entry_capacity, 7, CHECK, "grid: the arrays are smaller than the grid");
    BREAK(grid->items[3], TRIANGLES, CHECK, "grid: an item is out of range");
    BREAK(grid->items[3], grid->items[4], CHECK, "grid: an item has two ranks");
    BREAK(grid->levels[removed], 0, CHECK, "grid: an item with an empty box has a level");
    BREAK(grid->boxes[8 * rank], -99.0f, CHECK, "grid: a rank does not have the box of its item");
    BREAK(grid->levels[rank], grid->levels[rank] + 1, CHECK, "grid: a rank is on the wrong level");
    BREAK(grid->view.level_mask, 0, CHECK, "grid: the mask of levels is not that of the items");
    BREAK(grid->offsets[1], 1, CHECK, "grid: the first bucket does not begin at 0");
    BREAK(grid->offsets[9], total + 1, CHECK, "grid: a bucket ends before it begins");
    BREAK(grid->ranks[two], TRIANGLES, CHECK, "grid: the rank of an entry is too high");
    BREAK(grid->ranks[two], grid->ranks[two + 1], CHECK,
          "grid: the ranks of a bucket do not ascend");
    BREAK(grid->ranks[total + 3], 1, CHECK, "grid: the padding is not zero");
    BREAK(grid->tags[total + 3], 1, CHECK, "grid: the padding is not zero");
    BREAK(grid->ranks[one], grid->ranks[one] == 0 ? 1 : 0, CHECK,
          "grid: an item is missing in the bucket of a cell");
    BREAK(grid->tags[two], grid->tags[two] ^ 1u, CHECK, "grid: the tags of an entry are wrong");
    assert_int_equal(grid->offsets[buckets], total); /* the last bucket is empty: give it one */
    BREAK(grid->offsets[buckets + 1], total + 1, CHECK,
          "grid: there are entries that belong to no cell of their item");
    BREAK(soup->cells.rank_corners[4], soup->cells.rank_corners[5], CHECK,
          "soup: a rank of the grid does not have the corners of its triangle");
    BREAK(soup->cells.balls[rank].radius, 0.0, CHECK,
          "soup: the ball of a triangle does not contain it");
#undef CHECK
    carom_soup_destroy(soup);
}

/* ---- Soup ------------------------------------------------------------------------------------ */

static void broken_soups_are_found(void **state) {
    (void)state;
    carom_soup *soup = make_soup(CAROM_SOUP_METHOD_TREE, false, false);
    double *positions = soup->positions;
#define CHECK carom_soup_validate(soup)
    BREAK(positions[100], NAN, CHECK, "soup: a position is not finite");
    BREAK(soup->corners[20], (uint32_t)soup->vertex_count, CHECK, "soup: a corner is out of range");
    BREAK(soup->face_count, 2, CHECK, "soup: triangles are faces, but the counts differ");
    BREAK(soup->states[9], CAROM_SOUP_LEAVING, CHECK,
          "soup: a triangle is still marked by a change");
    BREAK(soup->states[9], CAROM_SOUP_DEGENERATE, CHECK,
          "soup: a triangle is marked degenerate and has area, or the reverse");
    BREAK(soup->states[TRIANGLES - 1], 0, CHECK,
          "soup: a triangle is marked degenerate and has area, or the reverse");
    BREAK(soup->dead_faces, 0, CHECK, "soup: the number of removed faces is wrong");
    BREAK(soup->degenerate_faces, 0, CHECK, "soup: the number of degenerate faces is wrong");
    BREAK(soup->scale, 0.75, CHECK, "soup: the scale of the boxes is not a power of two");
    BREAK(soup->bounds.high[2], 0.0f, CHECK, "soup: a vertex is outside the bounds");
    /* A soup whose last change failed has no tree to check. */
    soup->failed = CAROM_NO_MEMORY;
    soup->bvh.items[0] = 77777;
    assert_valid(CHECK);
    carom_soup_destroy(soup);
    soup = make_soup(CAROM_SOUP_METHOD_TREE, false, true);
    BREAK(soup->faces[9], soup->faces[9] - 2, CHECK, "soup: triangles are not sorted by face");
    BREAK(soup->faces[0], 1, CHECK, "soup: a face has no triangles");
    BREAK(soup->face_count, 2, CHECK, "soup: the number of faces is wrong");
    BREAK(soup->states[11], 0, CHECK, "soup: a face is removed in part");
    carom_soup_destroy(soup);
#undef CHECK
}

/* ---- Solid ----------------------------------------------------------------------------------- */

static carom_solid *make_solid(void) {
    const carom_shape_def shape = {.shape = CAROM_SHAPE_SPHERE, .detail = 3};
    carom_solid *solid = shape_solid(context, &shape, false);
    assert_valid(carom_solid_validate(context, solid));
    return solid;
}

/* The first side of a triangle, 3 t + j, with or without its bit, that is a tree edge or not. */
static uint32_t find_side(const carom_solid *solid, bool bit, bool of_tree) {
    for (uint32_t i = 0; i < 3 * solid->view.triangle_count; ++i) {
        const uint32_t *c = solid->view.corners + i - i % 3;
        uint32_t a = c[i % 3], b = c[(i + 1) % 3], low = CAROM_MIN(a, b), high = CAROM_MAX(a, b);
        uint32_t parent = high;
        do --parent;
        while (solid->ends[parent] <= high);
        if (((solid->represents[i / 3] >> i % 3 & 1u) != 0) == bit && (parent == low) == of_tree)
            return i;
    }
    fail_msg("there is no such side");
    return 0;
}

static void broken_solids_are_found(void **state) {
    (void)state;
    carom_solid *solid = make_solid();
    carom_solid_own touch = {5, 5};
    uint32_t vertices = (uint32_t)solid->view.vertex_count, leaf = vertices - 1;
    uint32_t own = find_side(solid, true, true), second = find_side(solid, false, true),
             other = find_side(solid, false, false);
    assert_int_equal(solid->ends[leaf], vertices);
    assert_int_equal(solid->root_count, 1);
#define CHECK carom_solid_validate(context, solid)
    BREAK(solid->view.vertex_count, 3, CHECK, "solid: the view is not that of its soup");
    BREAK(solid->given.first[1], 2, CHECK,
          "solid: a vertex as given is merged with none before it");
    BREAK(solid->given.sources[1], UINT32_MAX, CHECK,
          "solid: a vertex is not made of the first of those merged");
    uint32_t region_of[4096];
    assert_true(solid->region_of == NULL && solid->view.triangle_count <= 4096);
    memset(region_of, 0xFF, sizeof(region_of));
    BREAK(solid->region_of, region_of, CHECK,
          "solid: a region does not begin with its first triangle");
    BREAK(solid->roots[0], 1, CHECK, "solid: the roots are not the vertices without a parent");
    BREAK(solid->root_count, 0, CHECK, "solid: the roots are not the vertices without a parent");
    BREAK(solid->ends[leaf], vertices + 1, CHECK,
          "solid: descendants of a vertex are not those of its parent");
    BREAK(solid->ends[0], 0, CHECK, "solid: a range of descendants is out of order");
    BREAK(solid->firsts[vertices], 3, CHECK,
          "solid: the triangles of all vertices are not all triangles");
    BREAK(solid->firsts[3], UINT32_MAX, CHECK,
          "solid: the triangles of a vertex end before they begin");
    BREAK(solid->represents[1], 16, CHECK, "solid: a triangle represents more than three sides");
    BREAK(solid->represents[other / 3], (uint8_t)(solid->represents[other / 3] | 1u << other % 3),
          CHECK, "solid: a side is represented and is no tree edge");
    BREAK(solid->represents[second / 3],
          (uint8_t)(solid->represents[second / 3] | 1u << second % 3), CHECK,
          "solid: a tree edge is represented twice");
    BREAK(solid->represents[own / 3], (uint8_t)(solid->represents[own / 3] & ~(1u << own % 3)),
          CHECK, "solid: a tree edge is not represented");
    BREAK(solid->sums.block_count, 2, CHECK, "solid: the number of prefix sums is wrong");
    BREAK(solid->sums.blocks[3 * CAROM_SOLID_SUMS + 1].low,
          solid->sums.blocks[3 * CAROM_SOLID_SUMS + 1].low + 1, CHECK,
          "solid: the prefix sums are not those of the triangles");
    BREAK(solid->region_count, 0, CHECK, "solid: there are no regions");
    BREAK(solid->regions[0], UINT32_MAX, CHECK, "solid: the triangle of a region is out of range");
    BREAK(solid->sides[0], 4, CHECK, "solid: the sides of a component have unknown bits");
    BREAK(solid->longest, 0.0, CHECK, "solid: a triangle is longer than the longest");
    carom_solid_own *touches = solid->touches;
    solid->touches = &touch;
    assert_int_equal(solid->touch_count, 0);
    BREAK(solid->touch_count, 1, CHECK, "solid: a pair of triangles that touch is out of order");
    solid->touches = touches;
    /* What breaks in its soup is found, too. */
    uint32_t first = 0;
    while (solid->firsts[first + 1] == solid->firsts[first]) ++first;
    BREAK(solid->firsts[first + 1], solid->firsts[first], CHECK,
          "solid: a triangle is not sorted by its middle corner");
    uint32_t *items = solid->soup->bvh.items;
    BREAK(items[0], items[1], CHECK, "tree: an item is in two slots");
#undef CHECK
    carom_solid_destroy(solid);
}

/* ---- Broad ----------------------------------------------------------------------------------- */

#define BOXES 60u

/* Boxes on a line, each of which meets the next two, and one empty; after a frame, the removal of
 * two of them with a frame between, and an update. */
static carom_broad *make_broad(carom_broad_method method) {
    static carom_bounds boxes[BOXES];
    static carom_broad_filter filters[BOXES];
    for (uint32_t i = 0; i < BOXES; ++i)
        boxes[i] = (carom_bounds){{i, 1.0, 2.0}, {i + (i == 9 ? -1.0 : 2.5), 2.0, 3.0}};
    carom_broad_def def = {.boxes = boxes,
                           .box_count = BOXES,
                           .filters = filters,
                           .method = method,
                           .sweep_cell = method == CAROM_BROAD_METHOD_SWEEP ? 0.25 : 0.0};
    carom_broad *broad;
    const uint32_t gone[2] = {20, 40};
    assert_ok(context, carom_broad_create(context, &def, &broad));
    assert_valid(carom_broad_validate(broad));
    for (int i = 0; i < 2; ++i) {
        assert_ok(context, carom_broad_remove(context, broad, &gone[i], 1));
        assert_valid(carom_broad_validate(broad));
        if (i == 0) assert_ok(context, carom_broad_step(context, broad, NULL, NULL, NULL));
        assert_valid(carom_broad_validate(broad));
    }
    assert_ok(context, carom_broad_commit(context, broad));
    assert_valid(carom_broad_validate(broad));
    return broad;
}

#define CHECK carom_broad_validate(broad)

static void broken_broad_phases_are_found(void **state) {
    (void)state;
    carom_broad *broad = make_broad(CAROM_BROAD_METHOD_TREE);
    BREAK(broad->capacity, 1, CHECK, "broad: there are more ids than the arrays have");
    BREAK(broad->states[3], 9, CHECK, "broad: an id has an unknown state");
    BREAK(broad->id_count, BOXES - 1, CHECK, "broad: an id that was never given out has a state");
    BREAK(broad->boxes[3].low.y, NAN, CHECK, "broad: a bound is not finite");
    BREAK(broad->boxes[20], broad->boxes[3], CHECK, "broad: an id that is not live has a box");
    BREAK(broad->filters[20].mask, 1, CHECK, "broad: an id that is not live has a filter");
    BREAK(broad->live, 3, CHECK, "broad: the number of live boxes is wrong");
    BREAK(broad->free_ids.count, broad->free_ids.capacity + 1, CHECK,
          "broad: a list is longer than its array");
    BREAK(broad->free_ids.data[0], BOXES, CHECK,
          "broad: a list has an id that was never given out");
    BREAK(broad->free_ids.data[0], 40, CHECK, "broad: a list has an id twice");
    BREAK(broad->free_ids.data[0], 3, CHECK, "broad: an id is both live and free, or neither");
    BREAK(broad->freed_ids.count, 0, CHECK, "broad: an id is both live and free, or neither");
    BREAK(broad->all_changed, true, CHECK, "broad: all ids changed, and some are on a list");
    BREAK(broad->states[3], CAROM_BROAD_LIVE | CAROM_BROAD_CHANGED, CHECK,
          "broad: a state is not that of the list of changes");
    BREAK(broad->states[3], CAROM_BROAD_LIVE | CAROM_BROAD_PENDING, CHECK,
          "broad: a state is not that of the list of changes");
    BREAK(broad->changed.data[0], 3, CHECK, "broad: a state is not that of the list of changes");
    /* The last frame. */
    uint64_t *pairs = broad->kept.data;
    assert_int_equal(pairs[0], 1);
    BREAK(broad->kept.count, broad->kept.capacity + 1, CHECK,
          "broad: a list is longer than its array");
    BREAK(pairs[0], 0, CHECK, "broad: a pair of the last frame is of no ids");
    BREAK(pairs[0], BOXES, CHECK, "broad: a pair of the last frame is of no ids");
    BREAK(pairs[1], pairs[0], CHECK, "broad: the pairs of the last frame are not sorted");
    BREAK(pairs[1], 7, CHECK, "broad: a pair of the last frame does not overlap");
    BREAK(broad->kept.count, broad->kept.count - 1, CHECK,
          "broad: a pair is missing in the last frame");
    /* What is prepared. */
    BREAK(broad->built, false, CHECK, "broad: nothing is built, and nothing failed");
    BREAK(broad->space.scale, 0.75, CHECK,
          "broad: the scale of the float32 boxes is not a power of two");
    BREAK(broad->space.plain, false, CHECK, "broad: the frame is said to be plain and is not");
    BREAK(broad->tree.item_count, 3, CHECK, "broad: the tree is not over all ids");
    BREAK(broad->boxes[3].high.x, 5.25, CHECK, "bvh: a slot does not have the box of its item");
    assert_true(broad->slots_known && broad->exact);
    BREAK(broad->slot_of[3], broad->slot_of[4], CHECK,
          "broad: the slot of an id is not where the tree has it");
    BREAK(broad->boxes[3].high.x, 5.3, CHECK,
          "broad: a box is said to be exact as float32 and is not");
    /* While changes are pending, or after a failure, nothing is prepared. */
    broad->failure = CAROM_NO_MEMORY;
    broad->tree.items[0] = 77777;
    assert_valid(CHECK);
    carom_broad_destroy(broad);
    broad = make_broad(CAROM_BROAD_METHOD_GRID);
    BREAK(broad->grid.items[3], BOXES, CHECK, "grid: an item is out of range");
    carom_broad_destroy(broad);
}

static void broken_sweeps_are_found(void **state) {
    (void)state;
    carom_broad *broad = make_broad(CAROM_BROAD_METHOD_SWEEP);
    carom_broad_sweep *sweep = &broad->sweep;
    const uint32_t low = CAROM_BROAD_SWEEP_LOW_U | CAROM_BROAD_SWEEP_LOW_V;
    uint64_t inner = 0; /* an entry in a cell that is not the lowest of its box */
    while ((sweep->owners[inner] & low) != 0) ++inner;
    assert_int_equal(sweep->axis[0], 0);
    assert_true(sweep->count > 100 && sweep->cells > 10);
    BREAK(sweep->capacity, 3, CHECK, "broad: the arrays are smaller than the sweep");
    BREAK(sweep->owners[2], BOXES, CHECK, "broad: an entry of the sweep is of no id");
    BREAK(sweep->keys[2], 0, CHECK, "broad: the entries of the sweep are not sorted");
    BREAK(sweep->rows[3][2], 9.0f, CHECK,
          "broad: an entry of the sweep does not have the coordinates of its box");
    BREAK(sweep->keys[2], sweep->keys[2] + 1, CHECK,
          "broad: the key of an entry is not that of its low end");
    BREAK(sweep->keys[sweep->count], 7, CHECK, "broad: the sweep does not end with its padding");
    BREAK(sweep->lone_cells, 99, CHECK,
          "broad: the counts of cells, entries or pairs of the sweep are wrong");
    BREAK(sweep->bound, 99, CHECK,
          "broad: the counts of cells, entries or pairs of the sweep are wrong");
    BREAK(sweep->owners[inner], sweep->owners[inner] | low, CHECK,
          "broad: the cells of the sweep do not give each overlapping pair once");
    /* The last entry in a cell of its own. */
    uint32_t *last = &sweep->keys[sweep->count - 1];
    BREAK(*last, *last + ((uint32_t)1 << sweep->key_bits), CHECK,
          "broad: a cell with one box is swept");
    carom_broad_destroy(broad);
}
#undef CHECK

/* ---- Hulls ----------------------------------------------------------------------------------- */

/* A cube with a pyramid on one side, so that faces have three and four corners; or its first
 * points. */
static carom_hull *make_hull(uint32_t count) {
    static const double points[9][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},      {0, 0, 1},
                                        {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {0.5, 0.5, 1.5}};
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = points, .vertex_count = count}};
    carom_hull *hull;
    assert_ok(context, carom_hull_create(context, &def, &hull));
    assert_valid(carom_hull_validate(hull));
    return hull;
}

#define CHECK carom_hull_validate(hull)

/* Writes a vertex wherever the hull has it. */
static void move_vertex(carom_hull *hull, uint32_t vertex, carom_vec3 to) {
    uint32_t blocks = hull->first[hull->view.count];
    hull->vertices[vertex] = to;
    for (uint32_t b = 0; b < hull->view.all_count + blocks; ++b) {
        carom_hull_block *block = b < blocks ? &hull->neighbours[b] : &hull->all[b - blocks];
        for (uint32_t lane = 0; lane < CAROM_HULL_LANES; ++lane)
            if (block->index[lane] == vertex)
                block->x[lane] = to.x, block->y[lane] = to.y, block->z[lane] = to.z;
    }
}

static void break_vertex(carom_hull *hull, uint32_t vertex, carom_vec3 to, const char *words,
                         int line) {
    carom_vec3 from = hull->vertices[vertex];
    move_vertex(hull, vertex, to);
    expect(CHECK, words, line);
    move_vertex(hull, vertex, from);
    assert_valid(CHECK);
}

static carom_vec3 middle_of(const carom_hull *hull, uint32_t a, uint32_t b) {
    const carom_vec3 *p = hull->vertices;
    return (carom_vec3){0.5 * (p[a].x + p[b].x), 0.5 * (p[a].y + p[b].y), 0.5 * (p[a].z + p[b].z)};
}

static void broken_hulls_are_found(void **state) {
    (void)state;
    carom_hull *hull = make_hull(9);
    carom_hull_view *view = &hull->view;
    carom_hull_block *own = &hull->neighbours[hull->first[2]];
    uint32_t quad = 0;
    while (hull->offsets[quad + 1] - hull->offsets[quad] != 4) ++quad;
    uint32_t *corners = hull->corners + hull->offsets[quad];
    BREAK(view->seeds, NULL, CHECK, "hull: the view is not that of its arrays");
    BREAK(hull->info.dimension, 1, CHECK,
          "hull: the number of vertices does not fit the dimension");
    BREAK(hull->info.vertices, 8, CHECK, "hull: the number of vertices is wrong");
    BREAK(hull->vertices[3].y, NAN, CHECK, "hull: a vertex is not finite");
    BREAK(hull->vertices[3].y, 1.0, CHECK, "hull: the largest coordinate is not in [1/2, 1)");
    BREAK(hull->info.faces, 3, CHECK, "hull: the number of faces does not fit the dimension");
    BREAK(hull->offsets[0], 1, CHECK, "hull: the first face does not begin at 0");
    BREAK(hull->offsets[1], 2, CHECK, "hull: a face has fewer than three corners");
    BREAK(hull->corners[4], 9, CHECK, "hull: a corner is out of range");
    BREAK(view->all_count, 1, CHECK, "hull: the number of blocks is wrong");
    BREAK(hull->all[0].index[3], 4, CHECK,
          "hull: a block does not have the coordinates of its vertices");
    BREAK(hull->all[0].y[3], 0.25, CHECK,
          "hull: a block does not have the coordinates of its vertices");
    BREAK(hull->first[0], 1, CHECK, "hull: the first block of neighbours is not 0");
    BREAK(hull->first[3], 9, CHECK, "hull: a vertex has the wrong number of neighbours");
    BREAK(own->z[7], 0.25, CHECK, "hull: a neighbour does not have the coordinates of its vertex");
    BREAK(own->index[7], 9, CHECK, "hull: a neighbour does not have the coordinates of its vertex");
    BREAK(hull->info.edges, 3, CHECK, "hull: the number of edges is wrong");
    uint32_t *simple = corners[0] < 4 ? corners : corners + 1; /* a corner of three faces */
    BREAK(*simple, 8, CHECK, "hull: a vertex has fewer faces than the hull has dimensions");
    /* A neighbour twice; then one that is no neighbour, so that another's half-edge is alone. */
    carom_hull_block kept = *own;
    own->index[0] = own->index[1], own->x[0] = own->x[1], own->y[0] = own->y[1];
    own->z[0] = own->z[1];
    expect(CHECK, "hull: a half-edge is missing among the neighbours of its vertex", __LINE__);
    *own = kept;
    carom_hull_block *next = &hull->neighbours[hull->first[hull->corners[1]]];
    uint32_t lane = 0, self = hull->corners[1];
    while (next->index[lane] != hull->corners[0]) ++lane;
    kept = *next;
    next->index[lane] = self, next->x[lane] = hull->vertices[self].x;
    next->y[lane] = hull->vertices[self].y, next->z[lane] = hull->vertices[self].z;
    expect(CHECK, "hull: a half-edge has no opposite", __LINE__);
    *next = kept;
    /* A face the wrong way round. */
    uint32_t was[4];
    memcpy(was, corners, sizeof(was));
    for (int i = 0; i < 4; ++i) corners[i] = was[3 - i];
    expect(CHECK, "hull: a half-edge belongs to two faces", __LINE__);
    memcpy(corners, was, sizeof(was));
    assert_valid(CHECK);
    break_vertex(hull, 8, (carom_vec3){0.25, 0.25, 0.125}, "hull: a vertex is not below a face",
                 __LINE__);
    break_vertex(hull, 0, (carom_vec3){-0.0625, -0.0625, -0.0625},
                 "hull: the corners of a face are in no plane", __LINE__);
    BREAK(view->outer, 0.1, CHECK, "hull: a vertex is outside the outer ball");
    BREAK(view->inner, 0.9, CHECK, "hull: the inner ball is not inside");
    BREAK(hull->info.inner_radius, 0.1, CHECK, "hull: the radii are not those of the balls");
    BREAK(view->extent, 0.9, CHECK, "hull: the extent is not that of the vertices");
    BREAK(hull->seeds[5], 9, CHECK, "hull: a seed is out of range");
    BREAK(hull->seeds[5], (hull->seeds[5] + 4) % 8, CHECK,
          "hull: a seed is not the farthest vertex in its direction");
    BREAK(hull->normals[quad].x, 0.5, CHECK, "hull: a normal is not that of its face");
    BREAK(hull->normal_blocks[0].x[1], 0.5, CHECK,
          "hull: a block does not have the normals of its faces");
    BREAK(hull->normal_blocks[0].index[1], 0, CHECK,
          "hull: a block does not have the normals of its faces");
    BREAK(hull->edges[0], 1, CHECK, "hull: an edge is numbered out of order");
    BREAK(hull->edges[2], 0, CHECK, "hull: two edges have one number");
    carom_hull_destroy(hull);
}

static void broken_flat_hulls_are_found(void **state) {
    (void)state;
    carom_hull_destroy(make_hull(1));
    carom_hull *hull = make_hull(2);
    BREAK(hull->neighbours[0], hull->neighbours[1], CHECK,
          "hull: the ends of a segment are not each other's neighbours");
    break_vertex(hull, 1, hull->vertices[0], "hull: the ends of a segment are equal", __LINE__);
    carom_hull_destroy(hull);
    hull = make_hull(4);
    const uint32_t *c = hull->corners;
    BREAK(hull->view.inner, 0.1, CHECK, "hull: a flat hull has an inner ball");
    /* Onto an edge; then towards the opposite corner, beyond the diagonal of the others. */
    break_vertex(hull, c[2], middle_of(hull, c[0], c[1]), "hull: the corners of a face are in line",
                 __LINE__);
    carom_vec3 inside = middle_of(hull, c[0], c[2]);
    inside.x = 0.5 * (inside.x + hull->vertices[c[0]].x);
    inside.y = 0.5 * (inside.y + hull->vertices[c[0]].y);
    break_vertex(hull, c[2], inside, "hull: a face is not a convex polygon", __LINE__);
    carom_hull_destroy(hull);
}
#undef CHECK

/* ---- Gas ------------------------------------------------------------------------------------- */

#define SPHERES 40u

/* A lattice of spheres with gaps, some of them moving, after a while. */
static carom_gas *make_gas(carom_gas_method method, carom_gas_queue queue, bool walls,
                           uint32_t count) {
    carom_gas_sphere spheres[SPHERES];
    carom_gas_def def = {.spheres = spheres,
                         .sphere_count = count,
                         .edges = {6.0, 6.0, 6.0},
                         .periodic = {!walls, !walls, !walls},
                         .method = method,
                         .queue = queue};
    carom_random random = {3};
    for (uint32_t i = 0; i < count; ++i) {
        spheres[i] = (carom_gas_sphere){.radius = 0.4, .mass = 1.0};
        spheres[i].position = (carom_vec3){0.7 + 1.5 * (i % 4), 0.7 + 1.5 * (i / 4 % 4),
                                           0.7 + 1.5 * (double)(i / 16)};
        spheres[i].velocity = (carom_vec3){carom_random_between(&random, -1.0, 1.0),
                                           carom_random_between(&random, -1.0, 1.0),
                                           carom_random_between(&random, -1.0, 1.0)};
    }
    carom_gas *gas;
    assert_ok(context, carom_gas_create(context, &def, &gas));
    assert_ok(context, carom_gas_advance(context, gas, 0.5, NULL, NULL));
    assert_int_equal(gas->method, method);
    assert_valid(carom_gas_validate(context, gas));
    return gas;
}

#define CHECK carom_gas_validate(context, gas)

static void broken_spheres_are_found(void **state) {
    (void)state;
    carom_gas *gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
    BREAK(gas->capacity, 3, CHECK, "gas: there are more spheres than slots");
    BREAK(gas->slot_of[7], gas->slot_of[8], CHECK, "gas: a label and its slot do not agree");
    BREAK(gas->slot_of[7], CAROM_GAS_NO_SLOT, CHECK,
          "gas: the number of spheres is not that of the labels");
    double radii[SPHERES];
    for (uint32_t i = 0; i < SPHERES; ++i) radii[i] = i == 7 ? 0.5 : 0.4;
    BREAK(gas->radius, radii, CHECK, "gas: a radius is out of range");
    BREAK(gas->uniform, false, CHECK, "gas: radii or masses differ and are not there");
    BREAK(gas->common_mass, 0.0, CHECK, "gas: radii or masses differ and are not there");
    BREAK(gas->bodies[7].v[1], NAN, CHECK, "gas: a body is not finite");
    BREAK(gas->bodies[7].t, gas->now + 1, CHECK, "gas: a body is from the future");
    carom_gas_body near = gas->bodies[8];
    near.x[0] += 0.1;
    BREAK(gas->bodies[9], near, CHECK, "gas: two spheres overlap");
    carom_gas_destroy(gas);
}

static void broken_cells_are_found(void **state) {
    (void)state;
    carom_gas *gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
    carom_gas_cells *cells = &gas->cells;
    carom_gas_cell *home = &cells->cells[carom_gas_home_index(cells, &gas->records[7].home)];
    carom_gas_cell *empty = cells->cells;
    while (carom_gas_cell_taken(empty) != 0) ++empty;
    BREAK(empty->entry[1], CAROM_GAS_LINK, CHECK, "gas: a cell has a bad link");
    BREAK(empty->entry[1], 0, CHECK, "gas: a cell is not filled from the front with slots");
    BREAK(empty->entry[0], SPHERES, CHECK, "gas: a cell is not filled from the front with slots");
    BREAK(cells->free_count, cells->free_count - 1, CHECK,
          "gas: an overflow cell is neither in use nor free");
    BREAK(gas->records[7].home.at[1], (uint16_t)cells->size[1], CHECK,
          "gas: a home is outside the cells");
    BREAK(home->entry[0], home->entry[0] == 0 ? 1 : 0, CHECK,
          "gas: a sphere is not filed once in each of its cells");
    BREAK(empty->entry[0], carom_gas_candidate(7, CAROM_GAS_HERE), CHECK,
          "gas: a cell has an entry of no sphere");
    carom_gas_destroy(gas);
    for (int extent = 0; extent < 2; ++extent) { /* one box further is the same position */
        gas = make_gas(extent ? CAROM_GAS_METHOD_EXTENT : CAROM_GAS_METHOD_CENTRE,
                       CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
        BREAK(gas->bodies[0].x[1], gas->bodies[0].x[1] + 6.0, CHECK,
              "gas: a sphere has left its cell");
        carom_gas_destroy(gas);
    }
}

static void broken_neighbour_lists_are_found(void **state) {
    (void)state;
    carom_gas *gas =
        make_gas(CAROM_GAS_METHOD_NEIGHBOURS, CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
    uint32_t *list = carom_gas_list_of(gas, 0);
    assert_true(list[0] > 1);
    uint32_t *its = carom_gas_list_of(gas, carom_gas_candidate_slot(list[list[0]]));
    BREAK(list[0], gas->lists.capacity + 1, CHECK, "gas: a neighbour list is too long");
    BREAK(gas->lists.centres[0].x[1], -5.0f, CHECK,
          "gas: a sphere has left the centre of its list");
    BREAK(list[1], carom_gas_candidate(0, CAROM_GAS_HERE), CHECK,
          "gas: a list has an entry of no sphere");
    BREAK(its[0], 0, CHECK, "gas: two spheres are not in each other's lists");
    /* Neither is in the other's list. */
    uint32_t kept[64], near = list[list[0]], count = its[0];
    memcpy(kept, its, (count + 1) * sizeof(*its));
    carom_gas_list_drop(its, carom_gas_candidate_back(near, 0));
    assert_int_equal(its[0], count - 1);
    uint32_t length = list[0];
    list[0] = length - 1;
    expect(CHECK, "gas: a neighbour is missing in a list", __LINE__);
    list[0] = length;
    memcpy(its, kept, (count + 1) * sizeof(*its));
    assert_valid(CHECK);
    carom_gas_destroy(gas);
}

static void broken_calendars_are_found(void **state) {
    (void)state;
    carom_gas *gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
    carom_gas_calendar *calendar = &gas->calendar;
    uint32_t used = 0, later = 0;
    while (calendar->heads[used] == CAROM_GAS_EMPTY) ++used;
    carom_gas_chunk *chunk = &calendar->chunks[calendar->heads[used]];
    while (gas->records[later].prediction.current) ++later;
    carom_gas_prediction *prediction = &gas->records[later].prediction;
    BREAK(prediction->physical, gas->now - 1, CHECK, "gas: a sphere was due before the present");
    BREAK(chunk->slot[0], SPHERES, CHECK, "gas: a bucket of the calendar is broken");
    BREAK(calendar->free_count, calendar->free_count + 1, CHECK,
          "gas: a chunk of the calendar is neither in use nor free");
    BREAK(calendar->entries, 3, CHECK, "gas: the number of entries of the calendar is wrong");
    BREAK(calendar->pending[2], SPHERES, CHECK, "gas: a pending slot is of no sphere");
    BREAK(gas->records[later].follower, SPHERES, CHECK,
          "gas: a follower is due before the sphere that represents it");
    BREAK(prediction->current, 1, CHECK, "gas: a sphere is not in the queue at its due time");
    /* Two more entries, both stale, in the window of the next events. */
    uint64_t tail = calendar->window_tail;
    assert_true(tail + 2 <= calendar->window_capacity);
    for (uint64_t i = tail; i < tail + 2; ++i)
        calendar->window[i] = (carom_gas_queue_entry){.time = CAROM_GAS_NEVER};
    calendar->window_tail = tail + 2;
    BREAK(calendar->window[tail].slot, SPHERES, CHECK, "gas: the window has a slot of no sphere");
    BREAK(calendar->window[tail + 1].time, 1, CHECK, "gas: the window is not sorted");
    calendar->window_tail = tail;
    assert_valid(CHECK);
    carom_gas_destroy(gas);
}

static void broken_heaps_are_found(void **state) {
    (void)state;
    carom_gas *gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_TREE, false, SPHERES);
    uint32_t last = gas->tree.heap[SPHERES - 1];
    BREAK(gas->tree.count, 3, CHECK, "gas: the heap does not hold every sphere");
    BREAK(gas->tree.heap_index[7], gas->tree.heap_index[8], CHECK,
          "gas: a sphere is not at its index in the heap");
    BREAK(gas->records[last].prediction.physical, gas->now, CHECK,
          "gas: a sphere is due before its parent in the heap");
    carom_gas_destroy(gas);
}

static void broken_predictions_are_found(void **state) {
    (void)state;
    carom_gas *gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_CALENDAR, false, SPHERES);
    carom_gas_trajectory *trajectory = &gas->trajectories.by_slot[7];
    BREAK(trajectory->radius, 0.0f, CHECK, "gas: a trajectory is narrower than its sphere");
    BREAK(trajectory->x[1], trajectory->x[1] + 0.01f, CHECK,
          "gas: a trajectory is farther from its sphere than its radius has grown");
    carom_gas_destroy(gas);
    /* Due later than the next wall or the next pair; the heap has no entries to disagree with. */
    gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_TREE, true, 1);
    carom_gas_prediction never = gas->records[0].prediction;
    never.physical = never.crossing = CAROM_GAS_NEVER;
    BREAK(gas->records[0].prediction, never, CHECK, "gas: a sphere meets a wall before it is due");
    carom_gas_destroy(gas);
    gas = make_gas(CAROM_GAS_METHOD_CENTRE, CAROM_GAS_QUEUE_TREE, false, SPHERES);
    carom_gas_record kept[SPHERES];
    carom_gas_tree tree = gas->tree;
    uint32_t in_order[SPHERES];
    memcpy(kept, gas->records, sizeof(kept));
    for (uint32_t i = 0; i < SPHERES; ++i) {
        gas->records[i].prediction.physical = gas->records[i].prediction.crossing = CAROM_GAS_NEVER;
        in_order[i] = i;
    }
    gas->tree.heap = gas->tree.heap_index = in_order;
    expect(CHECK, "gas: two spheres meet before one of them is due", __LINE__);
    memcpy(gas->records, kept, sizeof(kept));
    gas->tree = tree;
    assert_valid(CHECK);
    carom_gas_destroy(gas);
}

static void broken_covers_are_found(void **state) {
    (void)state;
    carom_cover *c;
    carom_mesh_view view = {0};
    carom_cover_def def = {.mesh = &view, .count = 3, .keep_cells = true};
    carom_shape_def of_shape = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    carom_mesh *mesh = shape_mesh(context, &of_shape, &view);
    assert_ok(context, carom_cover_create(context, &def, &c));
    assert_valid(carom_cover_validate(c));
    const char *(*check)(const carom_cover *) = carom_cover_validate;
    BREAK(c->spheres[1].centre.y, NAN, check(c), "cover: a centre is not finite");
    BREAK(c->spheres[1].radius, 0.0, check(c), "cover: a radius is not positive and finite");
    BREAK(c->spheres[1].radius, 9.0, check(c), "cover: radii do not descend");
    BREAK(c->cells[5].sphere, 3, check(c), "cover: a cell belongs to no sphere");
    BREAK(c->cells[5].edge, 9.0, check(c), "cover: a cell is not in its sphere");
    BREAK(c->info.measure.mean, 9.0, check(c), "cover: distances are not in order");
    carom_cover_destroy(c);
    carom_mesh_destroy(mesh);
}

static void broken_packings_are_found(void **state) {
    (void)state;
    const carom_packing_def def = {.count = 10, .keep_cells = true};
    const carom_shape_def box = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    carom_packing *p = shape_packing(context, &box, &def);
    const char *(*check)(const carom_packing *) = carom_packing_validate;
    assert_valid(carom_packing_validate(p));
    BREAK(p->spheres[3].centre.y, NAN, check(p), "pack: a centre is not finite");
    BREAK(p->spheres[3].radius, 0.0, check(p), "pack: a radius is not positive and finite");
    BREAK(p->spheres[3].radius, 9.0, check(p), "pack: radii do not descend");
    BREAK(p->spheres[3].cover, 0.5 * p->spheres[3].radius, check(p),
          "pack: a cover is smaller than its radius");
    BREAK(p->spheres[3].void_volume, -1.0, check(p), "pack: a share is negative");
    BREAK(p->spheres[3].centre, p->spheres[2].centre, check(p), "pack: two balls overlap");
    BREAK(p->cells[5].sphere, 10, check(p), "pack: a cell belongs to no sphere");
    BREAK(p->cells[5].edge, 0.0, check(p), "pack: a cell has no edge");
    BREAK(p->cells[5].edge, 9.0, check(p), "pack: a cell is not in its cover");
    BREAK(p->info.least_radius, 1.0, check(p), "pack: least_radius is not that of the last sphere");
    carom_packing_destroy(p);
}

static void broken_sphere_trees_are_found(void **state) {
    (void)state;
    carom_packing *p;
    carom_tree *t;
    carom_mesh_view view = {0};
    carom_packing_def def = {.mesh = &view, .count = 300};
    carom_shape_def shape = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_packing_create(context, &def, &p));
    carom_tree_def of_tree = {.packing = p, .mesh = &view};
    assert_ok(context, carom_tree_create(context, &of_tree, &t));
    carom_mesh_destroy(mesh);
    const char *(*check)(const carom_tree *) = carom_tree_validate;
    assert_valid(carom_tree_validate(t));
    uint32_t leaf = t->inner_count, leaves = t->leaf_count;
    assert_int_equal(leaves, 19);
    BREAK(t->leaf_count, 0, check(t), "tree: no leaves");
    BREAK(t->nodes[0].child[1], 0, check(t), "tree: a child does not come after its parent");
    BREAK(t->nodes[0].child[1], t->nodes[0].child[0], check(t), "tree: a node has two parents");
    BREAK(t->nodes[0].child[1], CAROM_TREE_NONE, check(t), "tree: a node has no parent");
    BREAK(t->nodes[0].radius[0], 0.01f, check(t), "tree: an inner ball is not in a node's");
    BREAK(t->nodes[0].reach[0], 0.01f, check(t), "tree: a secondary ball is not in a node's");
    BREAK(t->nodes[0].cover[0], 0.01f, check(t), "tree: a cover is not in a node's");
    BREAK(t->nodes[leaf].x[2], 9.0f, check(t), "tree: an inner ball is not in a node's");
    BREAK(t->cover, 0.01, check(t), "tree: a cover is not in the root's");
    BREAK(t->reach, 0.01, check(t), "tree: a ball is not in the root's");
    BREAK(t->depth, 0, check(t), "tree: deeper than it says");
    BREAK(t->nodes[leaf].child[2], 300, check(t), "tree: a leaf names no sphere");
    BREAK(t->nodes[leaf].child[2], t->nodes[leaf].child[1], check(t),
          "tree: a sphere is not where its slot says");
    BREAK(t->nodes[leaf].child[2], CAROM_TREE_NONE, check(t),
          "tree: a lane past the end is not empty");
    BREAK(t->leaves[0].depth[0], 0.0f, check(t), "tree: a depth is smaller than its radius");
    BREAK(t->extent.count, 299, check(t), "tree: a leaf names no sphere");
    BREAK(t->extent.count, 301, check(t), "tree: not every sphere is in one leaf");
    BREAK(t->leaves[leaves - 1].void_units[15], 1, check(t),
          "tree: a lane past the end is not empty");
    BREAK(t->outward[5], 2.0f, check(t), "tree: the direction of a sphere is longer than 1");
    carom_tree_surface *s = &t->surface;
    BREAK(s->triangle_count, 0, check(t),
          "tree: directions of spheres are there without a surface, or not with one");
    BREAK(s->node_count, 0, check(t), "surface: its nodes are not those of its triangles");
    BREAK(s->shell_count, 0, check(t), "surface: it has no shell, or more than triangles");
    BREAK(s->radius, (double)NAN, check(t), "surface: the ball around it is not finite");
    BREAK(s->radius, 0.1, check(t), "surface: a corner is not in the ball around all");
    BREAK(s->extremes[1].y, 1e9, check(t), "surface: an extreme corner is far away");
    BREAK(s->extremes[1].x, (double)NAN, check(t), "surface: an extreme corner is far away");
    BREAK(s->extremes[1].y, (double)NAN, check(t), "surface: an extreme corner is far away");
    BREAK(s->vertices[0].y, (double)NAN, check(t), "surface: a corner is far away");
    BREAK(s->vertices[0].x, 1e9, check(t), "surface: a corner is far away");
    BREAK(s->corners[4], 1u << 20, check(t), "surface: a corner names no vertex");
    BREAK(s->ring[3], 1u << 20, check(t), "surface: a ring names no triangle");
    BREAK(s->ring_start[1], 1u << 20, check(t), "surface: its rings do not have all triangles");
    BREAK(s->nodes[0].radius[1], 0.0f, check(t), "surface: a triangle is not in a cylinder");
    BREAK(s->nodes[0].axis_x[1], 3.0f, check(t), "surface: an axis is not of length 1");
    carom_tree_cell *cells = t->cells.cells;
    assert_true(t->cells.count > 100);
    BREAK(t->cells.side, 0.0, check(t), "cells: the root is not a cube");
    BREAK(cells[3].normal[1], 1.5f, check(t), "cells: a normal is longer than 1");
    BREAK(cells[3].low, (float)NAN, check(t), "cells: planes are not in order");
    BREAK(cells[3].most, 1.5f, check(t), "cells: a share is not in 0 to 1");
    BREAK(cells[0].child, 4u * t->cells.count, check(t),
          "cells: children do not come after their parent");
    BREAK(cells[0].child, cells[0].child & 3u, check(t), "cells: not every cell has one parent");
    uint32_t last = s->triangle_count / 16;
    assert_true(s->triangle_count % 16 != 0);
    BREAK(s->nodes[last].x[15], 0.0f, check(t), "surface: a lane past the end is not empty");
    carom_tree_destroy(t);
    carom_packing_destroy(p);
}

static void broken_balls_are_found(void **state) {
    (void)state;
    carom_packing *p;
    carom_balls *b;
    carom_mesh_view mesh_view = {0};
    carom_packing_def def = {.mesh = &mesh_view, .count = 30};
    carom_shape_def shape = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    carom_mesh *mesh = shape_mesh(context, &shape, &mesh_view);
    assert_ok(context, carom_packing_create(context, &def, &p));
    carom_mesh_destroy(mesh);
    carom_balls_def of_balls = {.packing = p};
    assert_ok(context, carom_balls_create(context, &of_balls, &b));
    const char *(*check)(const carom_balls *) = carom_balls_validate;
    carom_balls_grid *g = &b->grid;
    assert_valid(carom_balls_validate(b));
    BREAK(g->view.extent.count, 1, check(b), "balls: the extent is of another number of spheres");
    BREAK(g->view.level_count, 0, check(b), "balls: the number of levels is wrong");
    BREAK(g->spheres[3].index, g->spheres[4].index, check(b),
          "balls: the indices of spheres are not a permutation");
    BREAK(g->y[3], 9.0, check(b), "balls: a column of centres differs from the spheres");
    BREAK(g->reach[3], 0.0f, check(b), "balls: a reach is too small");
    BREAK(g->spheres[3].cover, 0.1 * g->spheres[3].radius, check(b),
          "balls: a cover is not the largest radius");
    BREAK(g->spheres[3].level, g->spheres[3].level + 1, check(b),
          "balls: a sphere is not on the level of its size");
    BREAK(g->starts[0], 1, check(b), "balls: the first bucket does not start at 0");
    BREAK(g->starts[1], UINT32_C(1) << 31, check(b), "balls: the starts of buckets decrease");
    BREAK(g->blocks[0].reach[0], -1.0f, check(b), "balls: a block is empty");
    BREAK(g->blocks[0].reach[15], 9.0f, check(b),
          "balls: the entries of a bucket are not in order");
    BREAK(g->blocks[0].near[0], 9.0f, check(b), "balls: an entry differs from its sphere");
    BREAK(g->entries, 1, check(b), "balls: the number of entries is wrong");
    BREAK(g->view.box_low[1], 0.5f, check(b), "balls: the box does not contain an entry");
    BREAK(g->view.inverse[0], 4.0f * g->view.inverse[0], check(b),
          "balls: a sphere is not in a bucket once");
    carom_balls_destroy(b);
    carom_packing_destroy(p);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void broken_scenes_are_found(void **state) {
    (void)state;
    carom_scene *scene;
    carom_scene_object_def balls[4];
    for (int i = 0; i < 4; ++i)
        balls[i] =
            (carom_scene_object_def){.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0},
                                     .pose = {.t = {0.5 * i, 0.0, 0.0}}};
    balls[3].pose.t.x = 9.0;
    assert_ok(context, carom_scene_create(context, NULL, &scene));
    assert_ok(context, carom_scene_add(context, scene, balls, 4, NULL));
    carom_pair pairs[2] = {{0, 3}, {1, 3}};
    assert_ok(context, carom_scene_set_ignored(context, scene, pairs, 2, true));
    assert_ok(context, carom_scene_step(context, scene, NULL, NULL, NULL));
    assert_int_equal(scene->kept.count, 3);
    assert_ok(context, carom_scene_move(context, scene, NULL, &balls[0].pose, 1));
    assert_ok(context, carom_scene_commit(context, scene));
#undef CHECK
#define CHECK carom_scene_validate(scene)
    assert_valid(CHECK);
    carom_scene_pair *pair = scene->kept.data;
    carom_scene_object *o = scene->objects;
    BREAK(scene->id_count, 9, CHECK, "scene: an object has no box");
    BREAK(scene->capacity, 1, CHECK, "scene: there are more ids than objects");
    BREAK(scene->states.data[1], 0, CHECK, "scene: an object is not live where its box is");
    BREAK(scene->states.data[1], CAROM_SCENE_LIVE, CHECK, "scene: an object has a wrong kind");
    BREAK(o[1].kind, CAROM_SCENE_OBJECT_KIND_SOUP, CHECK, "scene: an object has a wrong kind");
    BREAK(o[1].box.low.x, 7.0, CHECK, "scene: a box is not that of its object");
    BREAK(scene->live, 3, CHECK, "scene: the number of live objects is wrong");
    BREAK(scene->changed.count, 0, CHECK, "scene: the list of changed objects is wrong");
    BREAK(scene->changed.data[0], 2, CHECK, "scene: a listed object has not changed");
    BREAK(pair[0].b, 0, CHECK, "scene: a pair has wrong ids");
    BREAK(pair[1].b, 1, CHECK, "scene: the pairs are not sorted");
    BREAK(pair[1].flags, 3, CHECK, "scene: a pair has flags of a step");
    BREAK(pair[1].slot, CAROM_SCENE_NO_SLOT, CHECK,
          "scene: a pair has a slot without a contact, or the reverse");
    BREAK(pair[1].slot, 99, CHECK, "scene: a slot is out of range");
    BREAK(scene->pool.data[pair[1].slot].b, 7, CHECK, "scene: a contact is not that of its pair");
    BREAK(scene->contacts, 2, CHECK, "scene: the number of contacts is wrong");
    BREAK(scene->pool.count, 9, CHECK, "scene: a slot is neither used nor free");
    BREAK(scene->ignored.data[1], 0, CHECK, "scene: the ignored pairs are not sorted");
    carom_scene_destroy(scene);
}

static void broken_robots_are_found(void **state) {
    (void)state;
    const carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.1, 0.2, 0.3}};
    const carom_robot_link links[3] = {{"a", &box, 1}, {"b", &box, 1}, {"c", &box, 1}};
    const carom_robot_joint joints[2] = {
        {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS, .child = 1, .axis = {0.0, 0.0, 1.0}},
        {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS,
         .parent = 1,
         .child = 2,
         .axis = {0.0, 1.0, 0.0}}};
    const carom_robot_def def = {
        .links = links, .link_count = 3, .joints = joints, .joint_count = 2, .spheres = 6};
    carom_robot *robot;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, &box, 1, NULL));
    assert_valid(carom_robot_validate(robot));
    carom_robot_body *body = &robot->bodies[1];
    carom_robot_tree *tree = &body->parts[0].tree;
#undef CHECK
#define CHECK carom_robot_validate(robot)
    BREAK(robot->links[2].depth, 1, CHECK, "robot: the order of links does not follow the tree");
    BREAK(robot->links[2].column, 2, CHECK, "robot: a joint has a column that is none");
    BREAK(robot->links[2].frame, 3, CHECK, "robot: a link has a frame that is none");
    BREAK(robot->allowed.data[1], 0, CHECK, "robot: allowed pairs are not sorted");
    BREAK(tree->nodes[0].high[0], 0.0, CHECK, "robot: a node does not contain its items");
    BREAK(tree->nodes[0].first, tree->node_count, CHECK,
          "robot: a child is not a node of its tree");
    BREAK(tree->item_count, tree->item_count + 1, CHECK, "robot: an item is in no leaf");
    BREAK(tree->item_count, 0, CHECK, "robot: an empty tree has nodes");
    carom_robot_field_free(&robot->allocator, &body->field); /* anew, with bricks */
    assert_ok(context, carom_robot_field_make(context, &robot->allocator, body->parts, 1, 1 << 16,
                                              &body->field));
    BREAK(body->field.side, 0.0, CHECK, "robot: distances of a body have no grid");
    BREAK(body->field.brick_count, 0, CHECK, "robot: a brick of distances has no cell");
    uint32_t *cells = body->field.cells; /* a cell of the coarse grid that is a brick */
    while (*cells != CAROM_ROBOT_FIELD_IS_BRICK) ++cells;
    BREAK(*cells, CAROM_ROBOT_FIELD_IS_BRICK | 1, CHECK,
          "robot: bricks of distances are not in order");
    BREAK(body->cover_count, 0, CHECK, "robot: a vertex is in no sphere of its cover");
    BREAK(robot->plan.body_count, 2, CHECK, "robot: the plan has another number of bodies");
    BREAK(robot->plan_bodies[1].live, false, CHECK, "robot: the plan has a body that is none");
    BREAK(robot->plan_bodies[1].cover_count, 0, CHECK,
          "robot: the plan has another number of spheres");
    BREAK(robot->plan_spheres[7], 0.0f, CHECK, "robot: a sphere of the plan is too small");
    BREAK(robot->plan.sphere_count, 1, CHECK, "robot: the plan has too many spheres");
    BREAK(robot->objects[0].live, false, CHECK, "robot: a pair has a body that is none");
    BREAK(robot->plan_pairs[0].b, 1, CHECK, "robot: a pair is allowed and tested");
#undef CHECK
    carom_robot_destroy(robot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_box_trees_are_found),
        cmocka_unit_test(broken_oriented_trees_are_found),
        cmocka_unit_test(broken_grids_are_found),
        cmocka_unit_test(broken_soups_are_found),
        cmocka_unit_test(broken_solids_are_found),
        cmocka_unit_test(broken_broad_phases_are_found),
        cmocka_unit_test(broken_sweeps_are_found),
        cmocka_unit_test(broken_hulls_are_found),
        cmocka_unit_test(broken_flat_hulls_are_found),
        cmocka_unit_test(broken_covers_are_found),
        cmocka_unit_test(broken_packings_are_found),
        cmocka_unit_test(broken_balls_are_found),
        cmocka_unit_test(broken_sphere_trees_are_found),
        cmocka_unit_test(broken_spheres_are_found),
        cmocka_unit_test(broken_cells_are_found),
        cmocka_unit_test(broken_neighbour_lists_are_found),
        cmocka_unit_test(broken_calendars_are_found),
        cmocka_unit_test(broken_heaps_are_found),
        cmocka_unit_test(broken_predictions_are_found),
        cmocka_unit_test(broken_scenes_are_found),
        cmocka_unit_test(broken_robots_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
