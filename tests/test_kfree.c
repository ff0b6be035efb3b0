/* SPDX-License-Identifier: MIT */
/* How dense the faces of soups are, against counting by hand. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kfree_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"

static carom_numbers counts;

/* ---- small soups ----------------------------------------------------------------------------- */

static void query(carom_context *context, const carom_soup_def *def, carom_kfree *k) {
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, def, &soup));
    assert_ok(context, carom_kfree_measure(context, soup, k, &counts));
    carom_soup_destroy(soup);
}

/* A soup taken apart: triangles, and what is known of each face. */
#define MOST_TRIANGLES 400
typedef struct parts {
    uint32_t triangles, faces;
    uint32_t face[MOST_TRIANGLES], vertex[MOST_TRIANGLES][3];
    real3 corner[MOST_TRIANGLES][3];
    bool there[MOST_TRIANGLES]; /* takes part */
    bool face_there[MOST_TRIANGLES];
    double diameter[MOST_TRIANGLES]; /* of a face */
} parts;

static carom_vec3 position_of(const carom_mesh_view *view, uint32_t v) {
    const double *d = view->positions;
    const float *f = view->positions;
    if (view->scalar == CAROM_SCALAR_FLOAT64)
        return (carom_vec3){d[3 * v], d[3 * v + 1], d[3 * v + 2]};
    return (carom_vec3){(double)f[3 * v], (double)f[3 * v + 1], (double)f[3 * v + 2]};
}

/* A face is as large as it is alone; that again must agree with trying all balls. */
static double diameter_alone(carom_context *context, const carom_mesh_view *mesh, uint64_t face,
                             bool check) {
    uint64_t begin = mesh->offsets != NULL ? mesh->offsets[face] : 3 * face;
    uint64_t end = mesh->offsets != NULL ? mesh->offsets[face + 1] : 3 * face + 3;
    uint64_t offsets[2] = {0, end - begin};
    carom_mesh_view view = *mesh;
    carom_soup_def def = {.mesh = &view, .degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT};
    view.corners = mesh->corners + begin;
    view.offsets = offsets;
    view.face_count = 1;
    carom_kfree k;
    query(context, &def, &k);
    assert_int_equal(k.faces, 1);
    assert_int_equal(k.k, 1);
    if (check) {
        real3 p[16];
        for (uint64_t i = begin; i < end; ++i)
            p[i - begin] = real3_of(position_of(mesh, mesh->corners[i]));
        real squared = oracle_squared_diameter(p, (uint32_t)(end - begin));
        real d = k.largest_diameter;
        if (!(d * d >= squared * (1 - 1e-17L) && d * d <= squared * (1 + 0x1p-43L)))
            fail_msg("face %" PRIu64 ": diameter %.17g, not %.17g", face, k.largest_diameter,
                     (double)sqrtl(squared));
    }
    return k.largest_diameter;
}

static void take_apart(carom_context *context, const carom_soup_def *def, bool check, parts *p) {
    carom_mesh *mesh;
    carom_mesh_view view, faces;
    carom_numbers face = {0};
    carom_mesh_triangulate_def split = {.fan = def->fan};
    assert_ok(context, carom_mesh_triangulate(context, def->mesh, &split, &mesh, &face));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    faces = def->fan ? view : *def->mesh;
    p->triangles = (uint32_t)view.face_count;
    p->faces = (uint32_t)faces.face_count;
    assert_true(p->triangles <= MOST_TRIANGLES);
    memset(p->face_there, 0, sizeof(p->face_there));
    for (uint32_t t = 0; t < p->triangles; ++t) {
        p->face[t] = def->fan ? t : face.data[t];
        for (int i = 0; i < 3; ++i) {
            p->vertex[t][i] = view.corners[3 * t + (uint32_t)i];
            p->corner[t][i] = real3_of(position_of(&view, p->vertex[t][i]));
        }
        real3 n = real3_cross(real3_sub(p->corner[t][1], p->corner[t][0]),
                              real3_sub(p->corner[t][2], p->corner[t][0]));
        p->there[t] = def->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT || real3_dot(n, n) > 0;
        if (p->there[t]) p->face_there[p->face[t]] = true;
    }
    for (uint32_t f = 0; f < p->faces; ++f)
        p->diameter[f] = diameter_alone(context, &faces, f, check);
    carom_numbers_free(&face);
    carom_mesh_destroy(mesh);
}

static bool have_common(const parts *p, uint32_t a, uint32_t b) {
    for (uint32_t s = 0; s < p->triangles; ++s)
        for (uint32_t t = 0; t < p->triangles; ++t)
            for (int i = 0; i < 9 && p->face[s] == a && p->face[t] == b; ++i)
                if (p->vertex[s][i / 3] == p->vertex[t][i % 3]) return true;
    return false;
}

static bool faces_within(const parts *p, uint32_t a, uint32_t b) {
    real reach = (real)p->diameter[a] / 4;
    for (uint32_t s = 0; s < p->triangles; ++s)
        for (uint32_t t = 0; t < p->triangles; ++t)
            if (p->face[s] == a && p->face[t] == b && p->there[s] && p->there[t] &&
                oracle_within(p->corner[s], p->corner[t], reach * reach))
                return true;
    return false;
}

static void check_soup(const parts *p, const carom_kfree *k, const char *what) {
    uint64_t total = 0, most = 0, neighbours = 0, faces = 0, discs = 0;
    uint32_t worst = CAROM_NONE;
    double least = HUGE_VAL, largest = 0.0;
    assert_int_equal(counts.count, p->faces);
    for (uint32_t f = 0; f < p->faces; ++f) {
        uint32_t count = 0;
        for (uint32_t g = 0; g < p->faces && p->face_there[f]; ++g) {
            if (g == f || !p->face_there[g] || p->diameter[g] < p->diameter[f]) continue;
            if (!faces_within(p, f, g)) continue;
            ++count;
            neighbours += have_common(p, f, g) ? 1 : 0;
        }
        if (counts.data[f] != count)
            fail_msg("%s: face %u counts %u, not %u", what, f, counts.data[f], count);
        if (!p->face_there[f]) continue;
        ++faces;
        total += count;
        if (worst == CAROM_NONE || count > most) worst = f, most = count;
        if (p->diameter[f] > 0.0) least = fmin(least, p->diameter[f]);
        largest = fmax(largest, p->diameter[f]);
        uint64_t triangles = 0;
        for (uint32_t t = 0; t < p->triangles; ++t)
            triangles += p->face[t] == f && p->there[t] ? 1 : 0;
        discs += triangles < 3 ? 10 * triangles : 0;
        if (triangles >= 3) discs = UINT64_MAX / 2; /* flat or not: not tested here */
    }
    assert_int_equal(k->faces, faces);
    assert_int_equal(k->total, total);
    assert_int_equal(k->k, faces != 0 ? most + 1 : 0);
    assert_int_equal(k->worst_face, worst);
    assert_true(fabs(k->neighbours - (total != 0 ? (double)neighbours / (double)total : 0.0)) <
                1e-12);
    if (discs < UINT64_MAX / 2) assert_int_equal(k->discs, discs);
    if (faces != 0 && largest > 0.0) {
        assert_true(k->least_diameter == least && k->largest_diameter == largest);
        assert_true(fabs(k->height - log2(largest / least)) < 1e-9);
    }
}

static int order_of_numbers(const void *a, const void *b) {
    return (*(const uint32_t *)a > *(const uint32_t *)b) -
           (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* Quantiles and moments from the sorted list. */
static void check_statistics(const parts *p, const carom_kfree *k) {
    uint32_t sorted[MOST_TRIANGLES], n = 0;
    double sum = 0.0, squares = 0.0;
    for (uint32_t f = 0; f < p->faces; ++f)
        if (p->face_there[f]) sorted[n++] = counts.data[f];
    if (n == 0) return;
    qsort(sorted, n, sizeof(*sorted), order_of_numbers);
    for (uint32_t i = 0; i < n; ++i) sum += sorted[i];
    for (uint32_t i = 0; i < n; ++i) squares += (sorted[i] - sum / n) * (sorted[i] - sum / n);
    assert_true(fabs(k->mean - sum / n) < 1e-12 * (1.0 + sum));
    assert_true(fabs(k->deviation - sqrt(squares / n)) < 1e-9 * (1.0 + sum));
    static const uint32_t percents[] = {25, 50, 75, 90, 99};
    const uint32_t got[] = {k->quartile_1, k->median, k->quartile_3, k->percentile_90,
                            k->percentile_99};
    for (size_t i = 0; i < COUNT_OF(percents); ++i)
        assert_int_equal(got[i], sorted[(n * percents[i] + 99) / 100 - 1]);
    assert_int_equal(k->least, sorted[0]);
    assert_int_equal(k->most, sorted[n - 1]);
}

static const struct guise {
    double by, scale;
    bool floats;
} guises[] = {{0.0, 1.0, true},      {1e6, 1.0, false},      {1e6, 1.0, true},
              {0.0, 0x1p300, false}, {0.0, 0x1p100, true},   {-1e6, 0x1p-300, false},
              {0.0, 0x1p-149, true}, {0.0, 0x1p-900, false}, {0.0, 0x1p1000, false}};

static void lattice_soups_agree_with_the_oracle(void **state) {
    (void)state;
    static lattice_soup soup, moved;
    static parts p;
    carom_context *contexts[CAROM_ISA_COUNT];
    int context_count = test_contexts_of_isas(0, contexts, 0);
    carom_random random = {77};
    uint64_t total = 0, undecided = 0;
    for (int i = 0; i < TEST_CASES(6000); ++i) {
        carom_context *context = contexts[i % context_count];
        lattice_make(&random, &soup);
        if (soup.faces > 16 && i % 8 != 0) soup.faces = 16; /* quadratic, and then some */
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &view,
                              .fan = soup.polygons && i % 2 == 1,
                              .degenerate =
                                  (carom_soup_degenerate)(i / 2 % CAROM_SOUP_DEGENERATE_COUNT)};
        char what[128];
        snprintf(what, sizeof(what), "soup %d of kind %d", i, (int)soup.kind);
        carom_kfree k, again;
        carom_work work;
        take_apart(context, &def, i % 10 == 0, &p);
        query(context, &def, &k);
        assert_ok(context, carom_context_get_work(context, &work));
        undecided += work.undecided;
        check_soup(&p, &k, what);
        check_statistics(&p, &k);
        total += k.total;
        const struct guise *guise = &guises[(size_t)i % COUNT_OF(guises)];
        moved = soup;
        lattice_move(&moved, guise->by, guise->scale);
        view = guise->floats ? lattice_view_floats(&moved) : lattice_view(&moved);
        query(context, &def, &again);
        again.least_diameter = again.largest_diameter / guise->scale == k.largest_diameter
                                   ? k.least_diameter
                                   : again.least_diameter;
        again.largest_diameter /= guise->scale;
        if (memcmp(&k, &again, sizeof(k)) != 0)
            fail_msg("%s, (x + %g) * %g: differs", what, guise->by, guise->scale);
    }
    print_message("%" PRIu64 " counted, %" PRIu64 " within rounding of d/4\n", total, undecided);
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

/* Any doubles, small faces beside large ones. */
static void random_soups_agree_with_the_oracle(void **state) {
    (void)state;
    static lattice_soup soup;
    static parts p;
    carom_context *context = test_context(2);
    carom_random random = {78};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        lattice_make(&random, &soup);
        if (soup.faces > 20) soup.faces = 20;
        for (uint32_t v = 0; v < soup.vertices; ++v) {
            double spread = i % 2 == 0 ? 1.0 : exp2(-(double)(carom_random_next(&random) % 12));
            for (int c = 0; c < 3; ++c) {
                soup.xyz[v][c] = soup.xyz[v][c] * (i % 3 == 0 ? 1.0 : 0.25) +
                                 spread * carom_random_between(&random, 0.0, 1.0);
                if (i % 4 == 0) soup.xyz[v][c] = (double)(float)soup.xyz[v][c];
            }
        }
        carom_soup_def def = {
            .mesh =
                (carom_mesh_view[]){i % 4 == 0 ? lattice_view_floats(&soup) : lattice_view(&soup)},
            .fan = soup.polygons && i % 3 == 1,
            .degenerate = (carom_soup_degenerate)(i % CAROM_SOUP_DEGENERATE_COUNT)};
        char what[64];
        snprintf(what, sizeof(what), "random soup %d", i);
        carom_kfree k;
        take_apart(context, &def, i % 10 == 0, &p);
        for (uint32_t t = 0; t < p.triangles; ++t) /* as the engine decides: exactly */
            if (def.degenerate == CAROM_SOUP_DEGENERATE_ALONE)
                p.there[t] = p.vertex[t][0] != p.vertex[t][1] && p.vertex[t][1] != p.vertex[t][2] &&
                             p.vertex[t][0] != p.vertex[t][2];
        memset(p.face_there, 0, sizeof(p.face_there));
        for (uint32_t t = 0; t < p.triangles; ++t)
            if (p.there[t]) p.face_there[p.face[t]] = true;
        query(context, &def, &k);
        check_soup(&p, &k, what);
    }
    carom_context_destroy(context);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Faces, the corners of each and the vertices in another order; more threads, other instructions.
 */
static void no_order_shows(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 40},
        {.shape = CAROM_SHAPE_KNOT, .polygons = true},
        {.shape = CAROM_SHAPE_SHARDS, .polygons = true},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 6, .polygons = true},
        {.shape = CAROM_SHAPE_CYLINDER, .polygons = true},
        {.shape = CAROM_SHAPE_SPHERE}};
    carom_random random = {5};
    for (size_t s = 0; s < COUNT_OF(shapes); ++s) {
        carom_context *context = test_context(1);
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view};
        carom_kfree k, again;
        carom_mesh *mesh = shape_mesh(context, &shapes[s], &view);
        query(context, &def, &k);
        uint64_t faces = view.face_count, vertices = view.vertex_count;
        uint32_t *first = malloc(faces * sizeof(*first));
        memcpy(first, counts.data, faces * sizeof(*first));
        for (uint32_t threads = 2; threads <= 5; threads += 3) {
            for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
                carom_context *other = test_context_isa(threads, (carom_isa)isa);
                if (other == NULL) continue;
                query(other, &def, &again);
                assert_memory_equal(&k, &again, sizeof(k));
                assert_memory_equal(first, counts.data, faces * sizeof(*first));
                carom_context_destroy(other);
            }
        }
        /* face f of the new mesh is face order[f] of the old one; so with vertices */
        uint64_t *order = malloc(faces * sizeof(*order)), *offsets = malloc((faces + 1) * 8);
        uint32_t *new_index = malloc(vertices * sizeof(*new_index));
        double *xyz = malloc(vertices * 3 * sizeof(*xyz));
        uint64_t corner_count = view.offsets != NULL ? view.offsets[faces] : 3 * faces;
        uint32_t *corners = malloc(corner_count * sizeof(*corners));
        for (uint64_t f = 0; f < faces; ++f) {
            uint64_t other = carom_random_next(&random) % (f + 1);
            order[f] = order[other];
            order[other] = f;
        }
        for (uint32_t v = 0; v < vertices; ++v) {
            uint32_t other = (uint32_t)(carom_random_next(&random) % (v + 1u));
            new_index[v] = new_index[other];
            new_index[other] = v;
        }
        for (uint32_t v = 0; v < vertices; ++v) {
            carom_vec3 p = position_of(&view, v);
            xyz[3 * new_index[v]] = p.x;
            xyz[3 * new_index[v] + 1] = p.y;
            xyz[3 * new_index[v] + 2] = p.z;
        }
        offsets[0] = 0;
        for (uint64_t f = 0; f < faces; ++f) {
            uint64_t old = order[f];
            uint64_t begin = view.offsets != NULL ? view.offsets[old] : 3 * old;
            uint64_t end = view.offsets != NULL ? view.offsets[old + 1] : 3 * old + 3;
            uint64_t size = end - begin, turn = carom_random_next(&random) % size;
            bool reversed = carom_random_next(&random) % 2 == 0;
            for (uint64_t i = 0; i < size; ++i) {
                uint64_t from = (turn + (reversed ? size - i : i)) % size;
                corners[offsets[f] + i] = new_index[view.corners[begin + from]];
            }
            offsets[f + 1] = offsets[f] + size;
        }
        view.positions = xyz;
        view.scalar = CAROM_SCALAR_FLOAT64;
        view.stride = 0;
        view.corners = corners;
        if (view.offsets != NULL) view.offsets = offsets;
        query(context, &def, &again);
        for (uint64_t f = 0; f < faces; ++f)
            if (counts.data[f] != first[order[f]])
                fail_msg("shape %zu: face %" PRIu64 " counts %u, elsewhere %u", s, f,
                         counts.data[f], first[order[f]]);
        again.worst_face = k.worst_face; /* ties are for the lowest, whichever that is */
        again.worst_neighbours = k.worst_neighbours;
        assert_memory_equal(&k, &again, sizeof(k));
        free(corners), free(xyz), free(new_index), free(offsets), free(order), free(first);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
}

/* ---- the edges ------------------------------------------------------------------------------- */

static void flat_polygons_need_fewer_discs(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double ring[32][3];
    uint32_t corners[32];
    uint64_t offsets[2] = {0, 32};
    for (uint32_t i = 0; i < 32; ++i) { /* two to one, so that the heights are exact */
        ring[i][0] = cos(i * 0.19634954084936207);
        ring[i][1] = sin(i * 0.19634954084936207);
        ring[i][2] = 2.0 * ring[i][0];
        corners[i] = i;
    }
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = ring,
                                                     .scalar = CAROM_SCALAR_FLOAT64,
                                                     .vertex_count = 32,
                                                     .corners = corners,
                                                     .offsets = offsets,
                                                     .face_count = 1}};
    carom_kfree k;
    query(context, &def, &k);
    assert_int_equal(k.discs, 21);
    ring[7][2] += 1e-9;
    query(context, &def, &k);
    assert_int_equal(k.discs, 10 * 30);
    offsets[1] = 4;
    query(context, &def, &k);
    assert_int_equal(k.discs, 10 * 2);
    carom_context_destroy(context);
}

static void nothing_and_points_have_their_answers(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_kfree k, none = {.worst_face = CAROM_NONE};
    carom_kfree_most bounds;
    carom_soup_def def = {0};
    query(context, &def, &k);
    assert_memory_equal(&k, &none, sizeof(k));
    assert_int_equal(counts.count, 0);
    assert_ok(context, carom_kfree_bound(context, &k, &k, &bounds));
    assert_true(bounds.pairs == 0 && bounds.published == 0);

    /* a point on a triangle, a point beside it, and the triangle */
    double xyz[5][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}, {1, 1, 1}};
    uint32_t corners[9] = {0, 1, 2, 3, 3, 3, 4, 4, 4};
    def.mesh = &(carom_mesh_view){.positions = xyz,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .vertex_count = 5,
                                  .corners = corners,
                                  .face_count = 3};
    query(context, &def, &k);
    assert_int_equal(k.faces, 1);
    assert_true(k.k == 1 && k.height == 0.0);
    def.degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT;
    query(context, &def, &k);
    assert_int_equal(k.faces, 3);
    assert_int_equal(k.k, 2);
    assert_true(counts.data[0] == 0 && counts.data[1] == 1 && counts.data[2] == 0);
    assert_true(k.least_diameter == k.largest_diameter && k.neighbours == 0.0);

    /* dead faces are not there */
    carom_soup *soup;
    uint32_t dead = 1;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_soup_remove(context, soup, &dead, 1));
    assert_ok(context, carom_kfree_measure(context, soup, &k, &counts));
    assert_int_equal(k.faces, 2);
    assert_true(k.k == 1 && counts.count == 3 && counts.data[1] == 0);

    /* a caller's buffer too small */
    uint32_t two[2];
    carom_numbers small = {.data = two, .capacity = 2, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_kfree_measure(context, soup, &k, &small), CAROM_MORE);
    assert_true(small.count == 3 && k.faces == 2);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
}

static bool cancel(void *user, const char *what, double fraction) {
    (void)what;
    (void)fraction;
    return ++*(int *)user > 0;
}

static void failures_have_messages(void **state) {
    (void)state;
    int calls = 0;
    carom_context *context = test_context(1), *cancelling;
    carom_context_def cancels = {.threads = 2, .progress = cancel, .progress_user = &calls};
    double xyz[3][3] = {{0, 0, 0}, {0x1p1021, 0, 0}, {0, 1, 0}};
    uint32_t corners[3] = {0, 1, 2};
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = xyz,
                                                     .scalar = CAROM_SCALAR_FLOAT64,
                                                     .vertex_count = 3,
                                                     .corners = corners,
                                                     .face_count = 1}};
    carom_soup *soup;
    carom_kfree k;
    carom_kfree_most bounds;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_fails(context, carom_kfree_measure(context, soup, &k, NULL), CAROM_BAD_INPUT, "2^1020");
    assert_true(k.faces == 0 && k.worst_face == CAROM_NONE);
    test_asserts_begin();
    assert_int_equal(carom_kfree_measure(NULL, soup, &k, NULL), CAROM_INVALID);
    assert_int_equal(carom_kfree_measure(context, NULL, &k, NULL), CAROM_INVALID);
    assert_int_equal(carom_kfree_measure(context, soup, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_kfree_bound(context, &k, NULL, &bounds), CAROM_INVALID);
    assert_int_equal(carom_kfree_bound(context, &k, &k, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 5);
    carom_soup_destroy(soup);
    xyz[1][0] = 1.0;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_context_create(&cancels, &cancelling));
    assert_fails(cancelling, carom_kfree_measure(cancelling, soup, &k, NULL), CAROM_CANCELLED,
                 "counting near faces");
    assert_true(calls > 0);
    assert_ok(context, carom_kfree_measure(context, soup, &k, NULL));
    assert_int_equal(k.k, 1);
    carom_soup_destroy(soup);
    def.method = CAROM_SOUP_METHOD_GRID;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_fails(context, carom_kfree_measure(context, soup, &k, NULL), CAROM_UNSUPPORTED, "GRID");
    carom_soup_destroy(soup);
    carom_context_destroy(cancelling);
    carom_context_destroy(context);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct work {
    const carom_shape_def *shape;
    uint32_t threads;
} work;

static carom_status run_once(carom_allocator allocator, void *argument) {
    const work *w = argument;
    carom_context *context;
    carom_context_def def = {.allocator = allocator, .threads = w->threads};
    carom_mesh *mesh = NULL;
    carom_soup *soup = NULL;
    carom_mesh_view view = {0};
    carom_soup_def soup_def = {.mesh = &view};
    carom_numbers numbers = {0};
    carom_kfree k;
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    status = carom_shape_make(context, w->shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_soup_create(context, &soup_def, &soup);
    if (status == CAROM_OK) status = carom_kfree_measure(context, soup, &k, &numbers);
    carom_numbers_free(&numbers);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status;
}

static void allocation_failures_leak_nothing(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_SPHERE, .detail = 4},
                                             {.shape = CAROM_SHAPE_CYLINDER, .polygons = true}};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i)
        for (uint32_t threads = 1; threads <= 3; threads += 2)
            test_allocation_failures(run_once, &(work){&shapes[i], threads});
}

static void counting_allocates_nothing(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_CLOTH, .detail = 60},
                                             {.shape = CAROM_SHAPE_KNOT, .polygons = true}};
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
            carom_context *context = test_context(threads);
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_soup *soup;
            carom_kfree k;
            carom_mesh *mesh = shape_mesh(context, &shapes[i], &view);
            assert_ok(context, carom_soup_create(context, &def, &soup));
            int quiet = 0, most = threads == 1 ? 8 : 200;
            for (int round = 0; round < most && quiet < 5; ++round) {
                uint64_t before = test_malloc_count();
                assert_ok(context, carom_kfree_measure(context, soup, &k, &counts));
                quiet = test_malloc_count() == before ? quiet + 1 : 0;
            }
            assert_int_equal(quiet, 5);
            carom_soup_destroy(soup);
            carom_mesh_destroy(mesh);
            carom_context_destroy(context);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_agree_with_the_oracle),
        cmocka_unit_test(random_soups_agree_with_the_oracle),
        cmocka_unit_test(no_order_shows),
        cmocka_unit_test(flat_polygons_need_fewer_discs),
        cmocka_unit_test(nothing_and_points_have_their_answers),
        cmocka_unit_test(failures_have_messages),
        cmocka_unit_test(allocation_failures_leak_nothing),
        cmocka_unit_test(counting_allocates_nothing),
    };
    int failed = cmocka_run_group_tests_name("kfree", tests, NULL, NULL);
    carom_numbers_free(&counts);
    return failed;
}
