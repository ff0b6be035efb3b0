/* SPDX-License-Identifier: MIT */
/* Assemblies of boxes on a lattice, facing outward and inward, in, on and beside each other: every
 * answer is a sum over unit cells and unit faces, and every relation a question of which cells
 * there are. Winding numbers go from -3 to 4. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

#define SIZE  8 /* boxes are within 0 to this */
#define SHIFT 4 /* at most, along each axis */
#define GRID  (SIZE + 2 * SHIFT + 2)
#define FIRST (SHIFT + 1) /* where 0 is in the grid */

TEST_CONTEXT(1)

/* ---- assemblies ------------------------------------------------------------------------------ */

typedef struct assembly {
    solid_mesh mesh;
    struct {
        int low[3], high[3], sign;
    } boxes[8];
    int count;
    int winding[GRID][GRID][GRID]; /* of cells, as a solid has it: turned, or the complement */
    int far;                       /* of all others: 1 for a complement */
    int flip;                      /* -1: it was turned */
    bool complement;
} assembly;

static assembly a, b;

static void fill_cells(assembly *x, bool complement) {
    int64_t volume = 0;
    memset(x->winding, 0, sizeof(x->winding));
    for (int i = 0; i < x->count; ++i) {
        const int *l = x->boxes[i].low, *h = x->boxes[i].high;
        for (int p = l[0]; p < h[0]; ++p)
            for (int q = l[1]; q < h[1]; ++q)
                for (int r = l[2]; r < h[2]; ++r)
                    x->winding[FIRST + p][FIRST + q][FIRST + r] += x->boxes[i].sign;
        volume += (int64_t)x->boxes[i].sign * (h[0] - l[0]) * (h[1] - l[1]) * (h[2] - l[2]);
    }
    x->flip = volume < 0 ? -1 : 1;
    x->complement = complement;
    x->far = complement ? 1 : 0;
    int *cells = &x->winding[0][0][0];
    for (size_t i = 0; i < (size_t)GRID * GRID * GRID; ++i)
        cells[i] = complement ? 1 - x->flip * cells[i] : x->flip * cells[i];
}

/* Boxes anywhere, of which some touch, fill and hollow each other. */
static void make_assembly(carom_random *random, assembly *x, int most, int size, bool positive,
                          bool complement) {
    x->mesh.vertices = x->mesh.faces = 0;
    x->mesh.kind = "assembly";
    x->count = 1 + (int)test_below(random, (uint32_t)most);
    for (int i = 0; i < x->count; ++i) {
        double low[3], high[3];
        for (int k = 0; k < 3; ++k) {
            int s = (int)test_below(random, (uint32_t)size),
                t = (int)test_below(random, (uint32_t)size);
            int l = s < t ? s : t, h = (s < t ? t : s) + 1;
            if (i > 0 && test_below(random, 3) == 0) { /* beside or in the one before */
                const int *pl = x->boxes[i - 1].low, *ph = x->boxes[i - 1].high;
                uint32_t how = test_below(random, 3);
                if (how == 0 && ph[k] < size)
                    l = ph[k], h = l + 1 + (int)test_below(random, (uint32_t)(size - l));
                if (how == 1) l = pl[k], h = ph[k];
                if (how == 2 && pl[k] > 0) h = pl[k], l = (int)test_below(random, (uint32_t)h);
            }
            x->boxes[i].low[k] = l, x->boxes[i].high[k] = h;
            low[k] = l, high[k] = h;
        }
        bool cavity = !positive && test_below(random, 3) == 0;
        x->boxes[i].sign = cavity ? -1 : 1;
        solid_add_box(&x->mesh, low, high, cavity);
    }
    if (test_below(random, 4) == 0) solid_split(random, &x->mesh, test_below(random, 12));
    fill_cells(x, complement);
}

static int cell_of(const assembly *x, int p, int q, int r) {
    bool inside = p >= 0 && p < GRID && q >= 0 && q < GRID && r >= 0 && r < GRID;
    return inside ? x->winding[p][q][r] : x->far;
}

/* ---- the truth ------------------------------------------------------------------------------- */

typedef struct truth {
    int64_t volume, moment2[3];       /* twice the integral of x */
    double area, force[3], torque[3]; /* about the origin of the world */
    bool both, only_a, only_b;
} truth;

/* What the faces of one box of x add, where the other has these winding numbers; `by` moves x. */
static void add_faces(const assembly *x, const int by[3], const assembly *other, const int at[3],
                      bool of_b, truth *t) {
    int flip = x->complement ? -x->flip : x->flip;
    for (int i = 0; i < x->count; ++i)
        for (int k = 0; k < 3; ++k)
            for (int end = 0; end < 2; ++end) {
                int u = (k + 1) % 3, v = (k + 2) % 3, c[3], d[3];
                const int *l = x->boxes[i].low, *h = x->boxes[i].high;
                int plane = (end ? h[k] : l[k]) + by[k];
                double n = (end ? 1 : -1) * x->boxes[i].sign * flip;
                for (int p = l[u] + by[u]; p < h[u] + by[u]; ++p)
                    for (int q = l[v] + by[v]; q < h[v] + by[v]; ++q) {
                        for (int m = 0; m < 3; ++m) c[m] = FIRST - at[m];
                        c[u] += p, c[v] += q, c[k] += plane;
                        memcpy(d, c, sizeof(d));
                        --d[k];
                        double w = 0.5 * (cell_of(other, c[0], c[1], c[2]) +
                                          cell_of(other, d[0], d[1], d[2]));
                        t->area += w;
                        if (!of_b) continue;
                        double x3[3], f[3] = {0, 0, 0};
                        x3[k] = plane, x3[u] = p + 0.5, x3[v] = q + 0.5;
                        f[k] = -n * w;
                        for (int m = 0; m < 3; ++m) {
                            int r = (m + 1) % 3, s = (m + 2) % 3;
                            t->force[m] += f[m];
                            t->torque[m] += x3[r] * f[s] - x3[s] * f[r];
                        }
                    }
            }
}

/* Of b moved by whole numbers. */
static int64_t volume_at(const int by[3], truth *t) {
    int64_t volume = 0;
    for (int p = 0; p < GRID; ++p)
        for (int q = 0; q < GRID; ++q)
            for (int r = 0; r < GRID; ++r) {
                int wa = cell_of(&a, p, q, r), wb = cell_of(&b, p - by[0], q - by[1], r - by[2]);
                const int x[3] = {p - FIRST, q - FIRST, r - FIRST};
                volume += wa * wb;
                if (t == NULL) continue;
                t->both |= wa != 0 && wb != 0;
                t->only_a |= wa != 0 && wb == 0;
                t->only_b |= wa == 0 && wb != 0;
                for (int k = 0; k < 3; ++k) t->moment2[k] += wa * wb * (2 * x[k] + 1);
            }
    return volume;
}

static truth find_truth(const int by[3]) {
    static const int still[3] = {0, 0, 0};
    truth t = {0};
    t.volume = volume_at(by, &t);
    add_faces(&a, still, &b, by, false, &t);
    add_faces(&b, by, &a, still, true, &t);
    return t;
}

static bool is_by_winding(const assembly *x) {
    const int *cells = &x->winding[0][0][0];
    for (size_t i = 0; i < (size_t)GRID * GRID * GRID; ++i)
        if (cells[i] != 0 && cells[i] != 1) return true;
    return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static char name[128];

static void check_near(const char *what, double value, double expected, double most) {
    if (!(fabs(value - expected) <= most))
        fail_msg("%s: %s %.17g, not %.17g", name, what, value, expected);
}

static carom_solid *prepare(const assembly *x) {
    carom_solid *solid = solid_prepare(context, &x->mesh, x->complement);
    carom_solid_info info;
    assert_ok(context, carom_solid_get_info(solid, &info));
    if (info.by_winding != is_by_winding(x))
        fail_msg("%s: by_winding %d of %s", name, info.by_winding, x == &a ? "a" : "b");
    assert_int_equal(info.inside_out, x->flip < 0);
    return solid;
}

static carom_relation relation_of(const truth *t, bool meet) {
    if (!t->both) return meet ? CAROM_RELATION_TOUCHING : CAROM_RELATION_APART;
    if (!t->only_a) return CAROM_RELATION_A_INSIDE_B;
    return t->only_b ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_B_INSIDE_A;
}

static carom_relation check_at(const carom_solid *x, const carom_solid *y, const int by[3]) {
    carom_pose pose = {.t = {by[0], by[1], by[2]}};
    truth t = find_truth(by);
    carom_solid_result o;
    carom_solid_info info;
    assert_ok(context, carom_solid_overlap(context, x, NULL, y, &pose, NULL, &o));
    assert_ok(context, carom_solid_get_info(y, &info));
    assert_true(o.volume_error >= 0.0 && o.volume_error <= 1e-9);
    check_near("volume", o.volume, (double)t.volume, o.volume_error);
    assert_int_equal(o.by_winding, is_by_winding(&a) || is_by_winding(&b));
    carom_relation expected = relation_of(&t, o.pairs != 0);
    if (o.relation != expected)
        fail_msg("%s: %s, not %s (volume %lld, %llu pairs)", name, carom_relation_name(o.relation),
                 carom_relation_name(expected), (long long)t.volume, (unsigned long long)o.pairs);
    if (expected == CAROM_RELATION_APART) {
        assert_true(o.area == 0.0); /* faces that enclose nothing count for nothing */
        return expected;
    }
    const double found[9] = {o.force.x,  o.force.y,    o.force.z,    o.torque.x,  o.torque.y,
                             o.torque.z, o.centroid.x, o.centroid.y, o.centroid.z};
    const double c[3] = {info.centroid.x + by[0], info.centroid.y + by[1], info.centroid.z + by[2]};
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double torque = t.torque[k] - (c[i] * t.force[j] - c[j] * t.force[i]);
        /* the force is what differences of volumes say, too */
        int up[3] = {by[0], by[1], by[2]}, down[3] = {by[0], by[1], by[2]};
        ++up[k], --down[k];
        if (by[k] == 1)
            assert_true(t.force[k] == -0.5 * (double)(volume_at(up, NULL) - volume_at(down, NULL)));
        check_near("force", found[k], t.force[k], 1e-10);
        check_near("torque", found[3 + k], torque, 1e-9);
        if (t.volume != 0)
            check_near("centroid", found[6 + k], 0.5 * (double)t.moment2[k] / (double)t.volume,
                       1e-10);
    }
    check_near("area", o.area, t.area, 1e-10);
    return expected;
}

static void assemblies_are_sums_over_cells(void **state) {
    (void)state;
    uint64_t seen[CAROM_RELATION_COUNT] = {0}, negative = 0;
    for (uint64_t i = 0; i < (campaign_is_long() ? 20000 : TEST_CASES(400)); ++i) {
        carom_random random = {800000 + i};
        bool positive = i % 3 == 0;
        make_assembly(&random, &a, i % 2 == 0 ? 3 : 6, i % 5 == 0 ? 3 : SIZE, positive,
                      i % 11 == 5);
        if (i % 4 == 0 && !a.complement)
            b = a;
        else
            make_assembly(&random, &b, i % 2 == 0 ? 2 : 5, i % 7 == 0 ? 3 : SIZE, positive,
                          !a.complement && i % 11 == 7);
        snprintf(name, sizeof(name), "assembly %llu", (unsigned long long)i);
        carom_solid *x = prepare(&a), *y = prepare(&b);
        for (int k = 0; k < 3; ++k) {
            int by[3] = {0, 0, 0}, most = k == 0 ? 0 : k == 1 ? 1 : SHIFT;
            for (int m = 0; m < 3; ++m)
                by[m] = (int)test_below(&random, (uint32_t)(2 * most + 1)) - most;
            snprintf(name, sizeof(name), "assembly %llu by (%d, %d, %d)", (unsigned long long)i,
                     by[0], by[1], by[2]);
            ++seen[check_at(x, y, by)];
            negative += volume_at(by, NULL) < 0;
        }
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
    if (!TEST_MANY_CASES) return;
    for (int i = 0; i < CAROM_RELATION_COUNT; ++i) assert_true(seen[i] > 20 / CAROM_TEST_SHARE);
    assert_true(negative > 20 / CAROM_TEST_SHARE);
}

/* ---- by name --------------------------------------------------------------------------------- */

typedef struct one_box {
    int low[3], high[3], sign;
} one_box;

static void build(assembly *x, const one_box *boxes, int count) {
    x->mesh.vertices = x->mesh.faces = 0;
    x->count = count;
    for (int i = 0; i < count; ++i) {
        double low[3], high[3];
        for (int k = 0; k < 3; ++k) {
            low[k] = x->boxes[i].low[k] = boxes[i].low[k];
            high[k] = x->boxes[i].high[k] = boxes[i].high[k];
        }
        x->boxes[i].sign = boxes[i].sign;
        solid_add_box(&x->mesh, low, high, boxes[i].sign < 0);
    }
    fill_cells(x, false);
}

/* Boxes that share an edge, a corner, a face; one inside out; each with a probe in every position.
 */
static void boxes_that_touch_wind_as_they_do(void **state) {
    (void)state;
    static const one_box pairs[][2] = {
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{3, 3, 0}, {4, 4, 3}, -1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{3, 3, 3}, {4, 4, 4}, -1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{3, 0, 0}, {4, 3, 3}, -1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{3, 0, 0}, {4, 3, 3}, 1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{3, 1, 1}, {4, 2, 2}, 1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{0, 1, 1}, {2, 2, 2}, -1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{0, 1, 1}, {2, 2, 2}, 1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{0, 0, 0}, {3, 3, 3}, 1}},
        {{{0, 0, 0}, {3, 3, 3}, 1}, {{0, 0, 0}, {3, 3, 3}, -1}},
    };
    static const bool winds[] = {true, true, true, false, false, false, true, true, false};
    const one_box probe = {{0, 0, 0}, {1, 1, 1}, 1};
    for (size_t i = 0; i < COUNT_OF(pairs); ++i) {
        snprintf(name, sizeof(name), "two boxes %zu", i);
        build(&a, pairs[i], 2);
        build(&b, &probe, 1);
        assert_int_equal(is_by_winding(&a), winds[i]);
        carom_solid *x = prepare(&a), *y = prepare(&b);
        for (int k = 0; k < 125; ++k) {
            const int by[3] = {k % 5, k / 5 % 5, k / 25};
            (void)check_at(x, y, by);
        }
        carom_solid_destroy(y);
        b = a;
        y = prepare(&b);
        for (int k = 0; k < 27; ++k) { /* moved against itself */
            const int by[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            (void)check_at(x, y, by);
        }
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
}

/* Tetrahedra of opposite orientation that share a vertex and cross no edge of each other's. */
static void tetrahedra_inside_out_are_seen(void **state) {
    (void)state;
    static const double xyz[8][3] = {{0, -1, -1}, {0, 0, 0},   {1, 0, -1}, {-1, 1, 1},
                                     {-1, 1, 1},  {-1, -1, 1}, {0, 0, 0},  {0, 0, 1}};
    static const uint32_t corners[24] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3,
                                         5, 6, 4, 7, 5, 4, 7, 6, 5, 7, 4, 6};
    carom_solid_def def = {
        .mesh = &(carom_mesh_view){
            .positions = xyz, .vertex_count = 8, .corners = corners, .face_count = 8}};
    carom_solid *solid;
    carom_solid_info info;
    carom_solid_result o;
    assert_ok(context, carom_solid_create(context, &def, &solid));
    assert_ok(context, carom_solid_get_info(solid, &info));
    assert_true(info.by_winding);
    assert_ok(context, carom_solid_overlap(context, solid, NULL, solid, NULL, NULL, &o));
    assert_true(o.by_winding && o.one_sided && o.volume_error >= 0.0);
    assert_int_equal(o.relation, CAROM_RELATION_A_INSIDE_B);
    assert_true(fabs(o.force.x) + fabs(o.force.y) + fabs(o.force.z) <= 1e-14);
    carom_pose aside = {.t = {0.25, 0.125, 0}};
    assert_ok(context, carom_solid_overlap(context, solid, NULL, solid, &aside, NULL, &o));
    assert_int_equal(o.relation, CAROM_RELATION_OVERLAPPING);
    carom_solid_destroy(solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assemblies_are_sums_over_cells),
        cmocka_unit_test(boxes_that_touch_wind_as_they_do),
        cmocka_unit_test(tetrahedra_inside_out_are_seen),
    };
    return cmocka_run_group_tests_name("solid_winding", tests, set_up, tear_down);
}
