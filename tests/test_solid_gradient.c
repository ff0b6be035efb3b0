/* SPDX-License-Identifier: MIT */
/* Forces on vertices are minus the derivatives of the overlap's volume: against exact rational
 * arithmetic, against differences of exact volumes, and against the rigid force and torque. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static solid_mesh a, b, posed_a, posed_b;

/* Both lists of an answer, reused by all tests. */
typedef struct answer {
    carom_solid_vertex_forces on_a, on_b;
} answer;

static answer found;

static void query(carom_context *by, const carom_solid *x, const carom_pose *pose_x,
                  const carom_solid *y, const carom_pose *pose_y, answer *to) {
    assert_ok(by, carom_solid_overlap_gradient(by, x, pose_x, y, pose_y, &to->on_a, &to->on_b));
}

static int tear_down_all(void **state) {
    carom_solid_vertex_forces_free(&found.on_a);
    carom_solid_vertex_forces_free(&found.on_b);
    return tear_down(state);
}

/* ---- against the oracle ---------------------------------------------------------------------- */

/* The lowest vertex in the same place, of the mesh as it was given. */
static void find_first(const solid_mesh *mesh, uint32_t *first) {
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (first[v] = 0; memcmp(mesh->xyz[first[v]], mesh->xyz[v], sizeof(*mesh->xyz)) != 0;)
            ++first[v];
}

/* Compares a list with the oracle's forces, which it uses up. `all` is the sum of their sizes,
 * `area` that of both meshes. */
static void compare_forces(const char *what, const carom_solid_vertex_forces *list,
                           const solid_mesh *mesh, quad (*truth)[3], double all, double area) {
    double own = 1e-26 * area; /* the oracle's own error */
    static uint32_t first[SOLID_MOST_VERTICES];
    find_first(mesh, first);
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        if (first[v] != v)
            for (int k = 0; k < 3; ++k) {
                truth[first[v]][k] += truth[v][k];
                truth[v][k] = 0;
            }
    for (uint64_t i = 0; i < list->count; ++i) {
        const carom_solid_vertex_force *f = &list->data[i];
        const double x[3] = {f->force.x, f->force.y, f->force.z};
        assert_true(f->vertex < mesh->vertices && (i == 0 || f->vertex > f[-1].vertex));
        for (int k = 0; k < 3; ++k) {
            double wrong = fabs((double)(truth[f->vertex][k] - x[k]));
            if (!(wrong <= f->error + own) || !(f->error <= 1e-9 * all + own))
                fail_msg("%s: vertex %u coordinate %d: %.17g, exact %.17g, off by %g, error %g of "
                         "%g",
                         what, f->vertex, k, x[k], (double)truth[f->vertex][k], wrong, f->error,
                         all);
            truth[f->vertex][k] = 0;
        }
    }
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k)
            if (fabs((double)truth[v][k]) > own)
                fail_msg("%s: vertex %u is missing: %g of %g", what, v, (double)truth[v][k], all);
}

static double size_of(quad (*forces)[3], uint32_t count) {
    quad sum = 0;
    for (uint32_t v = 0; v < count; ++v)
        for (int k = 0; k < 3; ++k) sum += forces[v][k] < 0 ? -forces[v][k] : forces[v][k];
    return (double)sum;
}

/* The meshes a and b in their poses. */
static void check(const carom_pose *pose_a, const carom_pose *pose_b, const char *what) {
    static quad on_a[SOLID_MOST_VERTICES][3], on_b[SOLID_MOST_VERTICES][3];
    solid_pose(&a, pose_a, &posed_a);
    solid_pose(&b, pose_b, &posed_b);
    carom_mesh_view view_a = solid_view(&posed_a), view_b = solid_view(&posed_b);
    solid_truth truth;
    solid_oracle_forces(&view_a, &view_b, &truth, on_a, on_b);
    carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
    query(context, x, pose_a, y, pose_b, &found);
    double all = size_of(on_a, a.vertices) + size_of(on_b, b.vertices);
    carom_solid_info info_a, info_b;
    assert_ok(context, carom_solid_get_info(x, &info_a));
    assert_ok(context, carom_solid_get_info(y, &info_b));
    double area = info_a.area + info_b.area;
    compare_forces(what, &found.on_a, &a, on_a, all, area);
    compare_forces(what, &found.on_b, &b, on_b, all, area);
    carom_solid_destroy(x);
    carom_solid_destroy(y);
}

static void lattice_solids_push_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 20000 : TEST_CASES(1000)); ++i) {
        carom_random random = {1000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 5 == 1) b = a;
        if (i % 7 == 2) solid_split(&random, &b, 1 + test_below(&random, 20));
        if (i % 7 == 3) solid_slit(&random, &a, 1 + test_below(&random, 8));
        if (i % 7 == 4) solid_unweld(&a);
        if (i % 11 == 5) solid_append(&a, &b);
        carom_pose shift = solid_lattice_shift(&random, test_below(&random, 8));
        check(NULL, &shift, solid_case(&a, &b, "shifted", i));
    }
}

static void turned_solids_push_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 4000 : TEST_CASES(160)); ++i) {
        carom_random random = {200000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 3 == 0) b = a;
        carom_pose one = solid_lattice_turn(&random, 6), other = solid_lattice_turn(&random, 6);
        if (i % 4 == 0) other = one;
        check(i % 2 == 0 ? &one : NULL, &other, solid_case(&a, &b, "turned", i));
    }
}

/* Faces far larger than the overlap: doubles are not enough. */
static void small_solids_push_large_faces(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 2000 : TEST_CASES(160)); ++i) {
        carom_random random = {300000 + i};
        solid_make_small(&random, 60, &a);
        solid_make_small(&random, 60, &b);
        int k = (int)test_below(&random, 40);
        solid_scale(&a, ldexp(1.0, k));
        carom_pose shift = solid_lattice_shift(&random, 8);
        check(NULL, &shift, solid_case(&a, &b, "small", i));
    }
}

/* ---- against differences --------------------------------------------------------------------- */

static quad exact_volume(void) {
    carom_mesh_view view_a = solid_view(&a), view_b = solid_view(&b);
    solid_truth truth;
    solid_oracle(&view_a, &view_b, &truth);
    return truth.volume;
}

/* The oracle's volume alone, of meshes in general position. */
static void forces_are_differences_of_exact_volumes(void **state) {
    (void)state;
    uint64_t compared = 0,
             cases = TEST_CASES(64) < 4 ? 4 : TEST_CASES(64); /* of 8 forces at most */
    for (uint64_t i = 0; i < cases; ++i) {
        carom_random random = {400000 + i};
        solid_make_small(&random, 24, &a);
        solid_make_small(&random, 24, &b);
        solid_mesh *const meshes[2] = {&a, &b};
        for (int m = 0; m < 2; ++m) /* off the lattice by 2^-10 and less */
            for (uint32_t v = 0; v < meshes[m]->vertices; ++v)
                for (int k = 0; k < 3; ++k)
                    meshes[m]->xyz[v][k] += ldexp((double)test_below(&random, 1u << 10), -20);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        query(context, x, NULL, y, NULL, &found);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        for (int m = 0; m < 2; ++m) {
            const carom_solid_vertex_forces *list = m == 0 ? &found.on_a : &found.on_b;
            for (uint64_t j = 0; j < list->count && j < 4; ++j) {
                const carom_solid_vertex_force *f = &list->data[j];
                const double force[3] = {f->force.x, f->force.y, f->force.z};
                int k = (int)test_below(&random, 3);
                double *at = &meshes[m]->xyz[f->vertex][k], was = *at, h = 0x1p-36;
                *at = was + h;
                quad more = exact_volume();
                *at = was - h;
                quad less = exact_volume();
                *at = was;
                double by_difference = (double)((less - more) / (2 * (quad)h));
                ++compared;
                /* the second difference is h^2 of the volume's derivatives */
                if (!(fabs(force[k] - by_difference) <= f->error + 1e-12))
                    fail_msg("%llu: force %.17g, by differences %.17g", (unsigned long long)i,
                             force[k], by_difference);
            }
        }
    }
    assert_true(compared > 10);
}

/* A smooth displacement: bends, twists and waves at once. */
static carom_vec3 displacement(const double *x, double size) {
    double u = 3.0 * x[0] / size, v = 2.0 * x[1] / size, w = 4.0 * x[2] / size;
    return (carom_vec3){sin(v + 0.3) * size, cos(w - 0.7 * u) * size, sin(u + v + w) * size};
}

/* The overlap of a solid, deformed by `by` displacements, with `other`. */
static double volume_of(carom_solid *solid, const carom_mesh_view *mesh, const double *positions,
                        double *moved, double size, double by, const carom_solid *other,
                        const carom_pose *pose) {
    carom_solid_result overlap;
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        carom_vec3 d = displacement(positions + 3 * v, size);
        moved[3 * v] = positions[3 * v] + by * d.x;
        moved[3 * v + 1] = positions[3 * v + 1] + by * d.y;
        moved[3 * v + 2] = positions[3 * v + 2] + by * d.z;
    }
    carom_mesh_view view = {.positions = moved, .vertex_count = mesh->vertex_count};
    assert_ok(context, carom_solid_update(context, solid, &view));
    assert_ok(context, carom_solid_overlap(context, solid, NULL, other, pose, NULL, &overlap));
    return overlap.volume;
}

/* A model overlaps a copy of itself, and is deformed. */
static void check_deformed(const carom_mesh *mesh, const char *what) {
    carom_mesh_view view;
    carom_mesh_report report;
    carom_solid *solid, *other;
    carom_solid_result overlap;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &other));
    double size = report.bounds.high.x - report.bounds.low.x, h = 0x1p-12, differences[2];
    carom_pose pose = {{0.9, 0.1, 0.2, 0.3}, {0.3 * size, 0.1 * size, 0.05 * size}};
    double *positions = models_positions(&view);
    double *moved = malloc(view.vertex_count * 3 * sizeof(*moved));
    assert_true(positions != NULL && moved != NULL);
    assert_ok(context, carom_solid_overlap(context, solid, NULL, other, &pose, NULL, &overlap));
    assert_true(overlap.volume > 0.0);
    query(context, solid, NULL, other, &pose, &found);
    double power = 0.0;
    for (uint64_t i = 0; i < found.on_a.count; ++i) {
        const carom_solid_vertex_force *f = &found.on_a.data[i];
        carom_vec3 d = displacement(positions + 3 * (uint64_t)f->vertex, size);
        power -= f->force.x * d.x + f->force.y * d.y + f->force.z * d.z;
    }
    for (int s = 0; s < 2; ++s) {
        double step = s == 0 ? h : 0.5 * h;
        double up = volume_of(solid, &view, positions, moved, size, step, other, &pose);
        double down = volume_of(solid, &view, positions, moved, size, -step, other, &pose);
        differences[s] = (up - down) / (2 * step);
    }
    double expected = (4 * differences[1] - differences[0]) / 3; /* without the term of h^2 */
    if (!(fabs(power - expected) <= 1e-6 * overlap.area * size))
        fail_msg("%s: %.12g, by differences %.12g", what, power, expected);
    free(positions);
    free(moved);
    carom_solid_destroy(solid);
    carom_solid_destroy(other);
}

static void deformations_change_the_volume_as_forces_say(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_SPHERE, .detail = 4},
                                             {.shape = CAROM_SHAPE_TORUS, .detail = 40},
                                             {.shape = CAROM_SHAPE_KNOT, .detail = 4000},
                                             {.shape = CAROM_SHAPE_CONE, .detail = 200},
                                             {.shape = CAROM_SHAPE_CHAZELLE, .detail = 16}};
    static const char *const models[] = {
        "bench/solid_cheburashka13k.ply", "bench/solid_bunny70k.ply",
        "bench/solid_armadillo100k.ply", "watertight/hand_closed.obj.gz", "watertight/penguin.obj"};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        carom_mesh *mesh;
        assert_ok(context, carom_shape_make(context, &shapes[i], &mesh));
        check_deformed(mesh, carom_shape_name(shapes[i].shape));
        carom_mesh_destroy(mesh);
    }
    for (size_t i = 0; i < COUNT_OF(models) && campaign_is_long(); ++i) {
        if (test_shared_folder() == NULL) break;
        carom_mesh *mesh = models_load_fan(context, models[i]);
        check_deformed(mesh, models[i]);
        carom_mesh_destroy(mesh);
    }
}

/* ---- against the rigid answer ---------------------------------------------------------------- */

static double largest(carom_vec3 v) {
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

/* The sum of a list's forces and torques about a point, and what they may be off by. */
static void sum_up(const carom_solid_vertex_forces *list, const carom_mesh_view *mesh,
                   const carom_pose *pose, carom_vec3 pivot, quad force[3], quad torque[3],
                   double *force_error, double *torque_error) {
    solid_mesh *one = calloc(1, sizeof(*one)), *posed = calloc(1, sizeof(*posed));
    assert_true(one != NULL && posed != NULL);
    for (int k = 0; k < 3; ++k) force[k] = torque[k] = 0;
    *force_error = *torque_error = 0.0;
    one->vertices = 1;
    for (uint64_t i = 0; i < list->count; ++i) {
        const carom_solid_vertex_force *f = &list->data[i];
        for (int k = 0; k < 3; ++k)
            one->xyz[0][k] =
                mesh->scalar == CAROM_SCALAR_FLOAT64
                    ? ((const double *)mesh->positions)[3 * f->vertex + (uint32_t)k]
                    : (double)((const float *)mesh->positions)[3 * f->vertex + (uint32_t)k];
        solid_pose(one, pose, posed);
        const quad x[3] = {(quad)posed->xyz[0][0] - pivot.x, (quad)posed->xyz[0][1] - pivot.y,
                           (quad)posed->xyz[0][2] - pivot.z};
        const quad push[3] = {f->force.x, f->force.y, f->force.z};
        double arm = 0.0;
        for (int k = 0; k < 3; ++k) {
            int m = (k + 1) % 3, n = (k + 2) % 3;
            force[k] += push[k];
            torque[k] += x[m] * push[n] - x[n] * push[m];
            arm += fabs((double)x[k]);
        }
        *force_error += f->error;
        *torque_error += f->error * arm + 0x1p-50 * arm * largest(f->force);
    }
    free(one);
    free(posed);
}

static void check_sum(const char *what, const quad sum[3], carom_vec3 rigid, double error) {
    const double r[3] = {rigid.x, rigid.y, rigid.z};
    for (int k = 0; k < 3; ++k)
        if (!(fabs((double)(sum[k] - r[k])) <= error))
            fail_msg("%s: sum %.17g, rigid %.17g, error %g", what, (double)sum[k], r[k], error);
}

static void check_rigid(const carom_solid *x, const carom_mesh_view *mesh_x,
                        const carom_pose *pose_x, const carom_solid *y,
                        const carom_mesh_view *mesh_y, const carom_pose *pose_y, const char *what) {
    carom_solid_result rigid;
    carom_solid_info info;
    quad force[3], torque[3];
    double force_error, torque_error;
    solid_mesh *centroid = calloc(2, sizeof(*centroid));
    assert_non_null(centroid);
    assert_ok(context, carom_solid_overlap(context, x, pose_x, y, pose_y, NULL, &rigid));
    assert_ok(context, carom_solid_get_info(y, &info));
    query(context, x, pose_x, y, pose_y, &found);
    centroid[0].vertices = 1;
    centroid[0].xyz[0][0] = info.centroid.x;
    centroid[0].xyz[0][1] = info.centroid.y;
    centroid[0].xyz[0][2] = info.centroid.z;
    solid_pose(&centroid[0], pose_y, &centroid[1]);
    carom_vec3 pivot = {centroid[1].xyz[0][0], centroid[1].xyz[0][1], centroid[1].xyz[0][2]};
    free(centroid);
    sum_up(&found.on_b, mesh_y, pose_y, pivot, force, torque, &force_error, &torque_error);
    check_sum(what, force, rigid.force, rigid.force_error + force_error);
    check_sum(what, torque, rigid.torque, rigid.torque_error + torque_error);
    sum_up(&found.on_a, mesh_x, pose_x, pivot, force, torque, &force_error, &torque_error);
    carom_vec3 opposite = {-rigid.force.x, -rigid.force.y, -rigid.force.z};
    check_sum(what, force, opposite, rigid.force_error + force_error);
    opposite = (carom_vec3){-rigid.torque.x, -rigid.torque.y, -rigid.torque.z};
    check_sum(what, torque, opposite, rigid.torque_error + torque_error);
}

#define SHAPES 6

static void make_shape(int which, carom_mesh **mesh, carom_mesh_view *view, carom_solid **solid) {
    static const carom_shape_def shapes[SHAPES] = {
        {.shape = CAROM_SHAPE_SPHERE, .detail = 3, .size = 1.0},
        {.shape = CAROM_SHAPE_TORUS, .detail = 24, .size = 1.0},
        {.shape = CAROM_SHAPE_KNOT, .detail = 64, .size = 0.8},
        {.shape = CAROM_SHAPE_BOX, .detail = 2, .size = 0.7},
        {.shape = CAROM_SHAPE_CONE, .detail = 20, .size = 0.9},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 4, .size = 1.0}};
    assert_ok(context, carom_shape_make(context, &shapes[which], mesh));
    assert_ok(context, carom_mesh_get_view(*mesh, view));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = view}, solid));
}

static carom_pose random_pose(carom_random *random, double far) {
    return (carom_pose){{carom_random_normal(random), carom_random_normal(random),
                         carom_random_normal(random), carom_random_normal(random)},
                        {far * carom_random_normal(random), far * carom_random_normal(random),
                         far * carom_random_normal(random)}};
}

static void sums_are_the_rigid_force_and_torque(void **state) {
    (void)state;
    carom_mesh *meshes[SHAPES];
    carom_mesh_view views[SHAPES];
    carom_solid *solids[SHAPES];
    carom_random random = {7};
    for (int i = 0; i < SHAPES; ++i) make_shape(i, &meshes[i], &views[i], &solids[i]);
    for (uint64_t i = 0; i < TEST_CASES(800); ++i) {
        char what[64];
        uint64_t x = test_below(&random, SHAPES), y = test_below(&random, SHAPES);
        carom_pose pose_x = random_pose(&random, i % 3 == 0 ? 1e6 : 0.3);
        carom_pose pose_y = random_pose(&random, 0.4);
        if (i % 4 == 0) pose_y.q = pose_x.q;
        pose_y.t.x += pose_x.t.x, pose_y.t.y += pose_x.t.y, pose_y.t.z += pose_x.t.z;
        if (i % 16 == 0) pose_y = pose_x;
        snprintf(what, sizeof(what), "%llu", (unsigned long long)i);
        check_rigid(solids[x], &views[x], &pose_x, solids[y], &views[y], &pose_y, what);
    }
    for (int i = 0; i < SHAPES; ++i) {
        carom_solid_destroy(solids[i]);
        carom_mesh_destroy(meshes[i]);
    }
}

/* ---- other properties ------------------------------------------------------------------------ */

static void assert_same(const answer *x, const answer *y) {
    assert_int_equal(x->on_a.count, y->on_a.count);
    assert_int_equal(x->on_b.count, y->on_b.count);
    assert_memory_equal(x->on_a.data, y->on_a.data, x->on_a.count * sizeof(*x->on_a.data));
    assert_memory_equal(x->on_b.data, y->on_b.data, x->on_b.count * sizeof(*x->on_b.data));
}

static void answers_do_not_depend_on_threads_or_instructions(void **state) {
    (void)state;
    carom_shape_def def = {.shape = CAROM_SHAPE_KNOT, .detail = 4000};
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_solid *knot;
    assert_ok(context, carom_shape_make(context, &def, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &knot));
    carom_random random = {3};
    for (uint64_t i = 0; i < 3; ++i) {
        carom_pose pose = random_pose(&random, 0.2);
        query(context, knot, NULL, knot, &pose, &found);
        assert_true(found.on_a.count > 100);
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
            for (uint32_t threads = 1; threads <= 8; threads *= 2) {
                carom_context *other = test_context_isa(threads, (carom_isa)isa);
                answer again = {{0}, {0}};
                if (other == NULL) continue;
                query(other, knot, NULL, knot, &pose, &again);
                assert_same(&found, &again);
                carom_solid_vertex_forces_free(&again.on_a);
                carom_solid_vertex_forces_free(&again.on_b);
                carom_context_destroy(other);
            }
    }
    carom_solid_destroy(knot);
    carom_mesh_destroy(mesh);
}

/* Powers of two change nothing but exponents. */
static void every_scale_has_the_same_forces(void **state) {
    (void)state;
    static const int powers[] = {-330, -100, 100, 330};
    carom_random random = {11};
    for (uint64_t i = 0; i < TEST_CASES(64); ++i) {
        answer scaled = {{0}, {0}};
        solid_make_small(&random, 80, &a);
        solid_make_small(&random, 80, &b);
        carom_pose shift = solid_lattice_shift(&random, 4);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        query(context, x, NULL, y, &shift, &found);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        int power = powers[i % COUNT_OF(powers)];
        double by = ldexp(1.0, power);
        solid_scale(&a, by);
        solid_scale(&b, by);
        shift.t = (carom_vec3){shift.t.x * by, shift.t.y * by, shift.t.z * by};
        x = solid_prepare(context, &a, false);
        y = solid_prepare(context, &b, false);
        query(context, x, NULL, y, &shift, &scaled);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        assert_int_equal(found.on_a.count, scaled.on_a.count);
        assert_int_equal(found.on_b.count, scaled.on_b.count);
        for (uint64_t k = 0; k < found.on_b.count; ++k) {
            const carom_solid_vertex_force *f = &found.on_b.data[k], *g = &scaled.on_b.data[k];
            double error = f->error + ldexp(g->error, -2 * power) + 1e-300;
            assert_int_equal(f->vertex, g->vertex);
            assert_true(fabs(f->force.x - ldexp(g->force.x, -2 * power)) <= error);
            assert_true(fabs(f->force.y - ldexp(g->force.y, -2 * power)) <= error);
            assert_true(fabs(f->force.z - ldexp(g->force.z, -2 * power)) <= error);
        }
        carom_solid_vertex_forces_free(&scaled.on_a);
        carom_solid_vertex_forces_free(&scaled.on_b);
    }
}

static void a_buffer_too_small_gets_the_true_count(void **state) {
    (void)state;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_solid *ring;
    carom_solid_vertex_force space[8];
    carom_pose beside = {.q = {.w = 1.0, .x = 1.0}, .t = {1.2, 0.0, 0.1}};
    make_shape(1, &mesh, &view, &ring);
    query(context, ring, NULL, ring, &beside, &found);
    answer small = {{.data = space, .capacity = 4, .owner = CAROM_OWNER_CALLER},
                    {.data = space + 4, .capacity = 4, .owner = CAROM_OWNER_CALLER}};
    assert_int_equal(
        carom_solid_overlap_gradient(context, ring, NULL, ring, &beside, &small.on_a, &small.on_b),
        CAROM_MORE);
    assert_int_equal(small.on_a.count, found.on_a.count);
    assert_int_equal(small.on_b.count, found.on_b.count);
    assert_memory_equal(space, found.on_a.data, 4 * sizeof(*space));
    assert_memory_equal(space + 4, found.on_b.data, 4 * sizeof(*space));
    beside.t.x = 100.0;
    query(context, ring, NULL, ring, &beside, &found);
    assert_int_equal(found.on_a.count, 0);
    assert_int_equal(found.on_b.count, 0);
    carom_solid_destroy(ring);
    carom_mesh_destroy(mesh);
}

/* A complement pushes back: what is outside grows where what is inside shrinks. */
static void complements_push_the_other_way(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TEST_CASES(200); ++i) {
        carom_random random = {500000 + i};
        answer other = {{0}, {0}};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        carom_pose pose = solid_lattice_turn(&random, 5);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        carom_solid *not_x = solid_prepare(context, &a, true);
        query(context, x, NULL, y, &pose, &found);
        query(context, not_x, NULL, y, &pose, &other);
        /* on a, whose faces are turned: the opposite */
        assert_int_equal(found.on_a.count, other.on_a.count);
        for (uint64_t k = 0; k < found.on_a.count; ++k) {
            const carom_solid_vertex_force *f = &found.on_a.data[k], *g = &other.on_a.data[k];
            double error = f->error + g->error;
            assert_int_equal(f->vertex, g->vertex);
            assert_true(fabs(f->force.x + g->force.x) <= error);
            assert_true(fabs(f->force.y + g->force.y) <= error);
            assert_true(fabs(f->force.z + g->force.z) <= error);
        }
        carom_solid_vertex_forces_free(&other.on_a);
        carom_solid_vertex_forces_free(&other.on_b);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        carom_solid_destroy(not_x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_solids_push_as_they_should),
        cmocka_unit_test(turned_solids_push_as_they_should),
        cmocka_unit_test(small_solids_push_large_faces),
        cmocka_unit_test(forces_are_differences_of_exact_volumes),
        cmocka_unit_test(deformations_change_the_volume_as_forces_say),
        cmocka_unit_test(sums_are_the_rigid_force_and_torque),
        cmocka_unit_test(answers_do_not_depend_on_threads_or_instructions),
        cmocka_unit_test(every_scale_has_the_same_forces),
        cmocka_unit_test(a_buffer_too_small_gets_the_true_count),
        cmocka_unit_test(complements_push_the_other_way),
    };
    return cmocka_run_group_tests_name("solid_gradient", tests, set_up, tear_down_all);
}
