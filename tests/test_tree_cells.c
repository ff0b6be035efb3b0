/* SPDX-License-Identifier: MIT */
/* The octree of a tree's solid: shares of cubes against sums over columns; planes of cells against
 * points of their balls, inside or outside by rays; volumes, and bounds of overlaps with tolerances
 * and budgets, against the exact ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"
#include "tree/tree.h"

TEST_CONTEXT(2)

/* A tree of few spheres, with more cells than it would have. */
static carom_tree *tree_of(carom_shape shape, uint32_t detail, uint32_t cells, carom_mesh **mesh,
                           double *volume) {
    carom_tree *tree = NULL;
    carom_packing *packing = packing_of_shape(context, shape, detail, 300, mesh);
    carom_mesh_view view = {0};
    carom_tree_def def = {.mesh = &view, .packing = packing};
    assert_ok(context, carom_mesh_get_view(*mesh, &view));
    assert_ok(context, carom_tree_create(context, &def, &tree));
    carom_release(&tree->allocator, tree->cells.cells);
    tree->cells = (carom_tree_cells){0};
    assert_ok(context, carom_tree_cells_make(context, &tree->surface, tree->origin, tree->shift,
                                             cells, &tree->cells));
    *volume = packing->info.volume;
    carom_packing_destroy(packing);
    return tree;
}

/* ---- Cubes ----------------------------------------------------------------------------------- */

/* The share of a cube below a plane, by columns along the steepest axis. */
static double sum_columns(const double n[3], double side, double at) {
    enum { COLUMNS = 200 };
    int axis = 0;
    for (int k = 1; k < 3; ++k)
        if (fabs(n[k]) > fabs(n[axis])) axis = k;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double sum = 0.0, step = side / COLUMNS;
    for (int i = 0; i < COLUMNS; ++i)
        for (int k = 0; k < COLUMNS; ++k) {
            double x = (i + 0.5) * step - 0.5 * side, y = (k + 0.5) * step - 0.5 * side;
            double top = (at - n[u] * x - n[v] * y) / fabs(n[axis]) + 0.5 * side;
            sum += fmin(fmax(top / side, 0.0), 1.0);
        }
    return sum / (COLUMNS * COLUMNS);
}

static void shares_of_cubes_are_volumes(void **state) {
    (void)state;
    carom_random random = {41};
    static const double sizes[5] = {0.0, 1e-9, 1e-4, 0.3, 1.0};
    for (int i = 0; i < TEST_CASES(150); ++i) {
        double n[3], length = 0.0, side = exp(carom_random_between(&random, -20.0, 3.0));
        for (int k = 0; k < 3; ++k) {
            double size =
                i % 3 == 0 ? carom_random_normal(&random) : sizes[carom_random_next(&random) % 5];
            n[k] = (carom_random_next(&random) & 1) != 0 ? size : -size;
            length += n[k] * n[k];
        }
        if (!(length > 0.01)) continue;
        for (int k = 0; k < 3; ++k) n[k] /= sqrt(length);
        double at = carom_random_between(&random, -1.0, 1.0) * side, least, most, other_least;
        double thick = i % 2 == 0 ? 0.0 : carom_random_between(&random, 0.0, 0.5) * side;
        double below = sum_columns(n, side, at), to = sum_columns(n, side, at + thick);
        carom_tree_cut cut = carom_tree_cut_make(n, side);
        const double expected[4][2] = {
            {0.0, to - below}, {below, to}, {1.0 - to, 1.0 - below}, {1.0 - (to - below), 1.0}};
        for (uint32_t bits = 0; bits < 4; ++bits) {
            carom_tree_cut_share(&cut, at, at + thick, bits, &least, &most);
            assert_true(least >= 0.0 && least <= most && most <= 1.0);
            assert_true(fabs(least - expected[bits][0]) < 3e-5);
            assert_true(fabs(most - expected[bits][1]) < 3e-5);
        }
        /* A plane is between its bounds, which are close. */
        carom_tree_cut_share(&cut, at, at, CAROM_TREE_CELL_BELOW, &least, &most);
        carom_tree_cut_share(&cut, at, at, CAROM_TREE_CELL_ABOVE, &other_least, &to);
        assert_true(most - least < 1e-4 && least + other_least <= 1.0 && most + to >= 1.0);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void check_points(const carom_tree *t, carom_random *random) {
    const carom_tree_cells *c = &t->cells;
    const carom_spheres_transform identity = {.frame = carom_frame_make(NULL), .scale = 1.0};
    typedef struct transform {
        carom_vec3 centre;
        double side;
    } transform;
    transform *cubes = malloc(c->count * sizeof(*cubes));
    uint64_t inside = 0, outside = 0, open = 0;
    assert_non_null(cubes);
    cubes[0] = (transform){c->centre, c->side};
    for (uint32_t i = 0; i < c->count; ++i) {
        const carom_tree_cell *cell = &c->cells[i];
        uint32_t first = carom_tree_cell_child(cell);
        for (uint32_t k = 0; k < 8 && first != 0; ++k)
            cubes[first + k] = (transform){
                carom_tree_cell_centre(cubes[i].centre, cubes[i].side, k), 0.5 * cubes[i].side};
        for (int n = 0; n < 4; ++n) {
            carom_vec3 d = carom_vec(carom_random_normal(random), carom_random_normal(random),
                                     carom_random_normal(random));
            double radius = CAROM_TREE_CELL_REACH * cubes[i].side;
            d = carom_vec_scale(d, radius * carom_random_uniform(random) / carom_vec_length(d));
            double along = d.x * (double)cell->normal[0] + d.y * (double)cell->normal[1] +
                           d.z * (double)cell->normal[2];
            if (along >= (double)cell->low && along <= (double)cell->high) {
                ++open;
                continue;
            }
            carom_vec3 x = carom_vec_add(cubes[i].centre, d);
            x = carom_vec_add(t->origin, carom_vec_scale(x, carom_power_of_two(-t->shift)));
            int is = carom_tree_surface_inside(&t->surface, &identity, t->origin, t->shift, x);
            uint32_t bit =
                along < (double)cell->low ? CAROM_TREE_CELL_BELOW : CAROM_TREE_CELL_ABOVE;
            assert_int_equal(is, (cell->child & bit) != 0);
            inside += is == 1;
            outside += is == 0;
        }
    }
    assert_true(inside + outside + open > 0);
    if (TEST_MANY_CASES)
        assert_true(open > 0 && inside > c->count / 256 && outside > c->count / 256);
    free(cubes);
}

static void planes_tell_inside_and_outside(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS,    CAROM_SHAPE_KNOT,
                                         CAROM_SHAPE_BOX,      CAROM_SHAPE_CONE,
                                         CAROM_SHAPE_CHAZELLE, CAROM_SHAPE_CHAIN};
    carom_random random = {42};
    for (int i = 0; i < 6; ++i) {
        carom_mesh *mesh;
        double volume;
        carom_tree *t =
            tree_of(shapes[i], i % 2 == 0 ? 0 : 96, 2000 + TEST_CASES(10000), &mesh, &volume);
        double unit = carom_power_of_two(-t->shift), side = t->cells.side * unit;
        const carom_tree_cell *root = t->cells.cells;
        assert_true(t->cells.count > 2000 && t->cells.count % 8 == 1);
        assert_valid(carom_tree_validate(t));
        check_points(t, &random);
        double cube = side * side * side;
        assert_true((double)root->least * cube <= volume * (1.0 + 1e-6));
        assert_true((double)root->most * cube >= volume * (1.0 - 1e-6));
        carom_tree_destroy(t);
        carom_mesh_destroy(mesh);
    }
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

static void tolerances_and_budgets_keep_the_bounds(void **state) {
    (void)state;
    carom_random random = {43};
    carom_mesh *mesh[2];
    carom_tree *tree[2];
    carom_solid *solid[2];
    double volume[2];
    uint64_t reached = 0, tried = 0;
    for (int i = 0; i < 2; ++i) {
        carom_mesh_view view = {0};
        carom_solid_def def = {.mesh = &view};
        tree[i] =
            tree_of(i == 0 ? CAROM_SHAPE_TORUS : CAROM_SHAPE_KNOT, 0, 16384, &mesh[i], &volume[i]);
        assert_ok(context, carom_mesh_get_view(mesh[i], &view));
        assert_ok(context, carom_solid_create(context, &def, &solid[i]));
    }
    for (int n = 0; n < TEST_CASES(150); ++n) {
        int b = n % 2;
        carom_pose pose = packing_random_pose(&random, n % 3 == 0 ? 0.6 : 1.4);
        carom_solid_result exact;
        carom_packing_overlap o, again;
        carom_work work;
        assert_ok(context,
                  carom_solid_overlap(context, solid[0], NULL, solid[b], &pose, NULL, &exact));
        for (int k = 0; k < 3; ++k) {
            carom_tree_query_def def = {.tolerance = k == 0 ? 0.8 : 0.0,
                                        .narrow_limits = k == 1,
                                        .work_budget = k == 2 ? 1 + (uint64_t)n * 10 : 0};
            assert_ok(context,
                      carom_tree_overlap(context, tree[0], NULL, tree[b], &pose, &def, &o));
            assert_ok(context, carom_context_get_work(context, &work));
            assert_true(o.volume.lower <= exact.volume + exact.volume_error);
            assert_true(o.volume.upper >= exact.volume - exact.volume_error);
            if (o.relation == CAROM_RELATION_APART) assert_true(!(exact.volume > 0.0));
            if (o.relation == CAROM_RELATION_OVERLAPPING) assert_true(exact.volume > 0.0);
            if (o.relation > CAROM_RELATION_OVERLAPPING) assert_true(o.relation == exact.relation);
            if (def.work_budget != 0) assert_true(work.visits <= def.work_budget + 16);
            assert_ok(context,
                      carom_tree_overlap(context, tree[0], NULL, tree[b], &pose, &def, &again));
            assert_memory_equal(&o, &again, sizeof(o));
            if (o.partial) {
                assert_true(o.volume.value >= o.volume.lower * (1.0 - 1e-9));
                assert_true(o.volume.value <= o.volume.upper * (1.0 + 1e-9));
            }
            if (k != 0 || b != 0 || !(exact.volume > 0.02 * volume[b])) continue;
            ++tried;
            reached += o.partial;
            if (o.partial)
                assert_true(o.volume.upper - o.volume.lower <= 0.8 * o.volume.value * (1.0 + 1e-9));
            if (!o.partial) continue;
            if (carom_vec_length(exact.force) > 0.5)
                assert_true(carom_vec_dot(o.force, exact.force) > 0.0);
        }
    }
    assert_true(tried > 0 && reached > 0);
    for (int i = 0; i < 2; ++i) {
        carom_solid_destroy(solid[i]);
        carom_tree_destroy(tree[i]);
        carom_mesh_destroy(mesh[i]);
    }
}

/* The same shape of any size, as far as trees go: 2^-200 to 2^200. Beyond, packings say so. */
static void any_size_keeps_the_bounds(void **state) {
    (void)state;
    static const double sizes[] = {1e-100, 1e-57, 1e-12, 1.0, 1e12, 1e57, 1e100};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        carom_random random = {44};
        carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .size = sizes[i]};
        carom_mesh_view view = {0};
        carom_packing_def filling = {.mesh = &view, .count = 300, .fast = true};
        carom_packing *packing;
        carom_tree *tree;
        carom_solid *solid;
        uint64_t overlapping = 0;
        carom_mesh *mesh = shape_mesh(context, &shape, &view);
        if (sizes[i] == 1e-100 || sizes[i] == 1e100) {
            assert_int_equal(carom_packing_create(context, &filling, &packing), CAROM_BAD_INPUT);
            carom_mesh_destroy(mesh);
            continue;
        }
        assert_ok(context, carom_packing_create(context, &filling, &packing));
        carom_tree_def planted = {.packing = packing, .mesh = &view};
        assert_ok(context, carom_tree_create(context, &planted, &tree));
        carom_solid_def closed = {.mesh = &view};
        assert_ok(context, carom_solid_create(context, &closed, &solid));
        for (int n = 0; n < 12; ++n) {
            carom_pose pose = packing_random_pose(&random, 1.0);
            pose.t = carom_vec_scale(pose.t, sizes[i]);
            carom_solid_result exact;
            assert_ok(context,
                      carom_solid_overlap(context, solid, NULL, solid, &pose, NULL, &exact));
            overlapping += exact.volume > 0.0;
            for (int k = 0; k < 2; ++k) {
                carom_tree_query_def def = {.tolerance = k == 0 ? 0.8 : 0.0,
                                            .narrow_limits = k == 1};
                carom_packing_overlap o;
                assert_ok(context, carom_tree_overlap(context, tree, NULL, tree, &pose, &def, &o));
                assert_true(o.volume.lower <= exact.volume + exact.volume_error);
                assert_true(o.volume.upper >= exact.volume - exact.volume_error);
                assert_true(o.volume.upper <= 8.0 * packing->info.volume);
            }
        }
        assert_true(overlapping > 3);
        carom_solid_destroy(solid);
        carom_tree_destroy(tree);
        carom_packing_destroy(packing);
        carom_mesh_destroy(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_cubes_are_volumes),
        cmocka_unit_test(planes_tell_inside_and_outside),
        cmocka_unit_test(tolerances_and_budgets_keep_the_bounds),
        cmocka_unit_test(any_size_keeps_the_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
