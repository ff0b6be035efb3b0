/* SPDX-License-Identifier: MIT */
/* What is near in soups, safe steps and safe distances: against brute force with squared distances
 * as fractions of integers, on lattice soups of all scales; then what they promise, on seeded
 * motions and recorded sequences: no impact on the way, distances kept, contact beyond. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/test.h"

static carom_soup_near_pairs near_found, near_other;
static carom_soup_impacts impacts;

/* ---- Squared distances as fractions ---------------------------------------------------------- */

__extension__ typedef __int128 big;

typedef struct fraction {
    big top, bottom; /* bottom is positive */
} fraction;

typedef struct ivec {
    int64_t x[3];
} ivec;

static ivec iv_sub(ivec a, ivec b) {
    return (ivec){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static int64_t iv_dot(ivec a, ivec b) {
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static ivec iv_cross(ivec a, ivec b) {
    return (ivec){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                   a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static fraction smaller(fraction a, fraction b) {
    return b.top * a.bottom < a.top * b.bottom ? b : a;
}

static fraction point_segment(ivec p, ivec a, ivec b) {
    ivec u = iv_sub(b, a), w = iv_sub(p, a);
    int64_t along = iv_dot(w, u), square = iv_dot(u, u);
    if (along <= 0) return (fraction){iv_dot(w, w), 1};
    ivec v = iv_sub(p, b);
    if (along >= square) return (fraction){iv_dot(v, v), 1};
    return (fraction){(big)iv_dot(w, w) * square - (big)along * along, square};
}

static fraction point_triangle(const ivec *p) {
    fraction best = point_segment(p[0], p[1], p[2]);
    best = smaller(best, point_segment(p[0], p[2], p[3]));
    best = smaller(best, point_segment(p[0], p[3], p[1]));
    ivec n = iv_cross(iv_sub(p[2], p[1]), iv_sub(p[3], p[1]));
    int64_t square = iv_dot(n, n);
    bool inside = square > 0;
    for (int i = 0; i < 3 && inside; ++i) {
        ivec a = p[1 + i], b = p[1 + (i + 1) % 3];
        inside = iv_dot(iv_cross(iv_sub(b, a), iv_sub(p[0], a)), n) >= 0;
    }
    if (!inside) return best;
    int64_t height = iv_dot(iv_sub(p[0], p[1]), n);
    return smaller(best, (fraction){(big)height * height, square});
}

static fraction segments(const ivec *p) {
    fraction best = point_segment(p[0], p[2], p[3]);
    best = smaller(best, point_segment(p[1], p[2], p[3]));
    best = smaller(best, point_segment(p[2], p[0], p[1]));
    best = smaller(best, point_segment(p[3], p[0], p[1]));
    ivec u = iv_sub(p[1], p[0]), v = iv_sub(p[3], p[2]), w = iv_sub(p[2], p[0]);
    ivec n = iv_cross(u, v);
    int64_t square = iv_dot(n, n);
    if (square == 0) return best;
    /* the feet of the common perpendicular: s = (w x v).n / n.n, t = (w x u).n / n.n */
    int64_t s = iv_dot(iv_cross(w, v), n), t = iv_dot(iv_cross(w, u), n);
    if (s < 0 || s > square || t < 0 || t > square) return best;
    int64_t height = iv_dot(w, n);
    return smaller(best, (fraction){(big)height * height, square});
}

/* ---- Lattice soups --------------------------------------------------------------------------- */

#define MOST_VERTICES  16u
#define MOST_TRIANGLES 14u

typedef struct lattice {
    ivec at[MOST_VERTICES];
    uint32_t vertices, triangles, corners[3 * MOST_TRIANGLES];
    double scale, far;
    carom_vec3 positions[MOST_VERTICES];
    carom_mesh_view view;
} lattice;

/* Shared and repeated corners, no area, contact of all kinds; other scales, far away. */
static void make_lattice(lattice *l, carom_random *random, int number) {
    static const double scales[] = {1.0, 0x1p-332, 0x1p332, 1.0, 0x1p-1060, 0x1p1000};
    l->vertices = 5 + (uint32_t)(carom_random_next(random) % (MOST_VERTICES - 4));
    l->triangles = 1 + (uint32_t)(carom_random_next(random) % MOST_TRIANGLES);
    l->scale = scales[number % 6];
    l->far = number % 6 == 3 ? 0x1p20 : 0.0;
    for (uint32_t v = 0; v < l->vertices; ++v)
        for (int k = 0; k < 3; ++k) {
            l->at[v].x[k] = (int64_t)(carom_random_next(random) % 13);
            (&l->positions[v].x)[k] = ((double)l->at[v].x[k] + l->far) * l->scale;
        }
    for (uint32_t i = 0; i < 3 * l->triangles; ++i)
        l->corners[i] = (uint32_t)(carom_random_next(random) % l->vertices);
    l->view = (carom_mesh_view){.positions = l->positions,
                                .vertex_count = l->vertices,
                                .corners = l->corners,
                                .face_count = l->triangles};
}

/* What a soup should find: each feature once. */
typedef struct feature {
    int count; /* vertices */
    uint32_t of[3];
} feature;

static uint32_t list_features(const lattice *l, int count, feature *to) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < l->triangles; ++t)
        for (uint32_t i = 0; i < (count == 3 ? 1u : 3u); ++i) {
            const uint32_t *c = l->corners + 3 * t;
            feature f = {count, {c[i], c[(i + 1) % 3], c[(i + 2) % 3]}};
            bool known = false;
            for (uint32_t k = 0; k < n && count < 3; ++k)
                known = known ||
                        (to[k].of[0] == f.of[0] && (count == 1 || to[k].of[1] == f.of[1])) ||
                        (count == 2 && to[k].of[0] == f.of[1] && to[k].of[1] == f.of[0]);
            if (!known) to[n++] = f;
        }
    return n;
}

static bool share(const feature *a, const feature *b) {
    for (int i = 0; i < a->count; ++i)
        for (int k = 0; k < b->count; ++k)
            if (a->of[i] == b->of[k]) return true;
    return false;
}

static fraction distance_of(const lattice *a, const feature *f, const lattice *b,
                            const feature *g) {
    ivec p[4];
    int n = 0;
    const bool swap = f->count == 3;
    const lattice *first = swap ? b : a, *second = swap ? a : b;
    const feature *x = swap ? g : f, *y = swap ? f : g;
    for (int i = 0; i < x->count; ++i) p[n++] = first->at[x->of[i]];
    for (int i = 0; i < y->count; ++i) p[n++] = second->at[y->of[i]];
    return f->count == 2 ? segments(p) : point_triangle(p);
}

/* Whether d <= quarters / 4. */
static bool is_within(fraction d, int quarters) {
    return d.top * 16 <= (big)quarters * quarters * d.bottom;
}

/* Edges may be named from either end. */
static bool is_feature(const feature *f, const uint32_t *of) {
    if (f->count == 2 && f->of[0] == of[1] && f->of[1] == of[0]) return true;
    return memcmp(f->of, of, (size_t)f->count * sizeof(*of)) == 0;
}

static const carom_soup_near_pair *find_pair(const carom_soup_near_pairs *list, const feature *f,
                                             const feature *g, bool self) {
    for (uint64_t i = 0; i < list->count; ++i) {
        const carom_soup_near_pair *p = &list->data[i];
        for (int turn = 0; turn < (self ? 2 : 1); ++turn) {
            const uint32_t *x = turn == 0 ? p->a : p->b, *y = turn == 0 ? p->b : p->a;
            int of_x = 0, of_y = 0;
            for (int k = 0; k < 3; ++k) {
                of_x += x[k] != CAROM_NONE;
                of_y += y[k] != CAROM_NONE;
            }
            if (of_x != f->count || of_y != g->count) continue;
            if (is_feature(f, x) && is_feature(g, y)) return p;
        }
    }
    return NULL;
}

static void check_distance(const carom_soup_near_pair *p, fraction d, double scale, int number) {
    double exact = sqrt((double)d.top / (double)d.bottom) * scale;
    double slack = exact * 0x1p-50 + 0x1p-1070, extent = 13.0 * 9.0 * scale;
    if (p->distance.lower > exact + slack || p->distance.upper < exact - slack ||
        !(p->distance.lower <= p->distance.value && p->distance.value <= p->distance.upper) ||
        p->distance.upper - p->distance.lower > 0x1p-44 * extent + 0x1p-1070)
        fail_msg("soup %d: %a is not in [%a, %a]", number, exact, p->distance.lower,
                 p->distance.upper);
    if (d.top == 0) assert_true(p->distance.upper == 0.0);
}

/* Compares a list with all pairs of features of two kinds; returns how many are near. */
static uint64_t check_kind(const lattice *a, const lattice *b, int of_a, int of_b, int quarters,
                           const carom_soup_near_pairs *list, int number) {
    static feature fa[3 * MOST_TRIANGLES], fb[3 * MOST_TRIANGLES];
    uint32_t na = list_features(a, of_a, fa), nb = list_features(b, of_b, fb);
    uint64_t expected = 0;
    bool self = a == b;
    for (uint32_t i = 0; i < na; ++i)
        for (uint32_t k = self && of_a == of_b ? i + 1 : 0; k < nb; ++k) {
            if (self && share(&fa[i], &fb[k])) continue;
            fraction d = distance_of(a, &fa[i], b, &fb[k]);
            const carom_soup_near_pair *p = find_pair(list, &fa[i], &fb[k], self);
            bool near = is_within(d, quarters);
            if (near != (p != NULL))
                fail_msg("soup %d: a pair of %d and %d vertices is %s", number, of_a, of_b,
                         near ? "missing" : "not near");
            if (!near) continue;
            check_distance(p, d, a->scale, number);
            ++expected;
        }
    return expected;
}

static void check_lists_equal(const carom_soup_near_pairs *a, const carom_soup_near_pairs *b) {
    assert_int_equal(a->count, b->count);
    if (a->count != 0) assert_memory_equal(a->data, b->data, a->count * sizeof(*a->data));
}

static carom_soup *soup_of(carom_context *context, const carom_mesh_view *view) {
    carom_soup *soup;
    carom_soup_def def = {.mesh = view, .method = CAROM_SOUP_METHOD_TREE};
    assert_ok(context, carom_soup_create(context, &def, &soup));
    return soup;
}

static void lattice_soups_equal_brute_force(void **state) {
    (void)state;
    carom_context *one = test_context(1), *three = test_context(3);
    carom_random random = {77};
    static lattice a, b;
    uint64_t total = 0;
    int cases = TEST_CASES(campaign_is_long() ? 20000 : 2000);
    for (int i = 0; i < cases; ++i) {
        make_lattice(&a, &random, i);
        make_lattice(&b, &random, i);
        int quarters = (int)(carom_random_next(&random) % 17);
        if (!campaign_has((uint64_t)i)) continue;
        double reach = 0.25 * quarters * a.scale;
        carom_soup *x = soup_of(one, &a.view), *y = soup_of(one, &b.view);
        assert_ok(one, carom_soup_self_near(one, x, reach, &near_found));
        uint64_t expected = check_kind(&a, &a, 1, 3, quarters, &near_found, i) +
                            check_kind(&a, &a, 2, 2, quarters, &near_found, i);
        if (near_found.count != expected)
            fail_msg("soup %d: %llu pairs, %llu are near", i, (unsigned long long)near_found.count,
                     (unsigned long long)expected);
        total += expected;
        assert_ok(three, carom_soup_self_near(three, x, reach, &near_other));
        check_lists_equal(&near_found, &near_other);
        assert_ok(one, carom_soup_cross_near(one, x, NULL, y, NULL, reach, &near_found));
        expected = check_kind(&a, &b, 1, 3, quarters, &near_found, i) +
                   check_kind(&a, &b, 3, 1, quarters, &near_found, i) +
                   check_kind(&a, &b, 2, 2, quarters, &near_found, i);
        assert_int_equal(near_found.count, expected);
        carom_pose same = {.q = {1.0, 0.0, 0.0, 0.0}};
        assert_ok(three, carom_soup_cross_near(three, x, &same, y, &same, reach, &near_other));
        check_lists_equal(&near_found, &near_other);
        carom_soup_destroy(x);
        carom_soup_destroy(y);
    }
    if (TEST_ALL_CASES && !campaign_is_long()) assert_true(total > 30000);
    carom_context_destroy(one);
    carom_context_destroy(three);
}

/* ---- Motions --------------------------------------------------------------------------------- */

typedef struct motion {
    carom_vec3 *start, *end, *then;
    carom_mesh_view from, to, at; /* `at`: some time on the way */
    double largest;
} motion;

static void position_at(motion *m, double time) {
    for (uint64_t i = 0; i < 3 * m->from.vertex_count; ++i) {
        double x = (&m->start[0].x)[i], y = (&m->end[0].x)[i];
        (&m->then[0].x)[i] = x + time * (y - x);
    }
}

static void begin_motion(motion *m, const carom_mesh_view *view) {
    uint64_t bytes = (view->vertex_count + 1) * sizeof(carom_vec3);
    m->start = malloc(bytes);
    m->end = malloc(bytes);
    m->then = malloc(bytes);
    assert_true(m->start != NULL && m->end != NULL && m->then != NULL);
    m->from = (carom_mesh_view){.positions = m->start,
                                .vertex_count = view->vertex_count,
                                .corners = view->corners,
                                .face_count = view->face_count};
    m->to = m->at = m->from;
    m->to.positions = m->end;
    m->at.positions = m->then;
}

static void measure_motion(motion *m) {
    m->largest = 0.0;
    for (uint64_t i = 0; i < 3 * m->from.vertex_count; ++i) {
        m->largest = fmax(m->largest, fabs((&m->start[0].x)[i]));
        m->largest = fmax(m->largest, fabs((&m->end[0].x)[i]));
    }
}

static void end_motion(motion *m) {
    free(m->start);
    free(m->end);
    free(m->then);
}

/* Nothing is nearer than the minimum where the vertices are `then`, and nothing met on the way. */
static void check_kept(carom_context *context, const carom_soup *soup, const motion *m,
                       double minimum) {
    assert_ok(context, carom_soup_self_impacts(context, soup, &m->at, &impacts));
    assert_int_equal(impacts.count, 0);
    carom_soup *later = soup_of(context, &m->at);
    double reach = minimum > 0.0 ? nextafter(minimum, 0.0) : 0.0;
    assert_ok(context, carom_soup_self_near(context, later, reach, &near_other));
    if (near_other.count != 0)
        fail_msg("a distance of %a is left, not %a", near_other.data[0].distance.upper, minimum);
    carom_soup_destroy(later);
}

/* What a safe step promises; returns its time, or -1 where something touched at the start. */
static double check_step(carom_context *context, carom_context *other, const motion *m,
                         double minimum) {
    carom_soup *soup = soup_of(context, &m->from);
    carom_soup_step step, again;
    motion moving = *m;
    assert_ok(context, carom_soup_self_safe_step(context, soup, &m->to, minimum, &step));
    assert_ok(other, carom_soup_self_safe_step(other, soup, &m->to, minimum, &again));
    assert_memory_equal(&step, &again, sizeof(step));
    assert_true(step.time >= 0.0 && step.time <= 1.0);
    assert_true((step.limit.kind == CAROM_SOUP_IMPACT_KIND_NONE) ==
                (step.limit.face_a == CAROM_NONE));
    double raised = minimum + 0x1p-47 * m->largest;
    assert_ok(context, carom_soup_self_near(context, soup, raised, &near_found));
    bool touched = near_found.count != 0;
    if (touched) {
        assert_true(step.time == 0.0);
    } else {
        for (int i = 1; i <= 4; ++i) {
            position_at(&moving, step.time * i / 4);
            check_kept(context, soup, &moving, minimum);
        }
        assert_true(step.time > 0.0);
    }
    if (step.time < 1.0) {
        /* as near as the tolerance, and the first impact is not before */
        assert_true(step.limit.distance.upper <= raised + 0x1p-18 * m->largest);
        carom_soup_impact first;
        assert_ok(context, carom_soup_self_first_impact(context, soup, &m->to, &first));
        if (first.kind != CAROM_SOUP_IMPACT_KIND_NONE) assert_true(step.time <= first.time.upper);
    }
    carom_soup_destroy(soup);
    return touched ? -1.0 : step.time;
}

static void seeded_steps_are_safe(void **state) {
    (void)state;
    static const double scales[] = {1.0, 1e-100, 1e100, 1.0};
    carom_context *one = test_context(1), *three = test_context(3);
    carom_random random = {5};
    int cases = TEST_CASES(campaign_is_long() ? 20000 : 600), limited = 0, hits = 0;
    for (int i = 0; i < cases; ++i) {
        carom_vec3 none = {0.0, 0.0, 0.0};
        uint32_t corners[3 * 10];
        uint32_t vertices = 6 + (uint32_t)(carom_random_next(&random) % 12);
        carom_mesh_view view = {.positions = &none,
                                .vertex_count = vertices,
                                .corners = corners,
                                .face_count = 1 + carom_random_next(&random) % 10};
        for (uint64_t k = 0; k < 3 * view.face_count; ++k)
            corners[k] = (uint32_t)(k < vertices ? k : carom_random_next(&random) % vertices);
        motion m;
        begin_motion(&m, &view);
        double scale = scales[i % 4], far = i % 8 == 3 ? 1e4 : 0.0;
        for (uint64_t k = 0; k < 3 * (uint64_t)vertices; ++k) {
            double x = carom_random_between(&random, 0.0, 3.0);
            double by = carom_random_between(&random, -1.0, 1.0);
            (&m.start[0].x)[k] = (x + far) * scale;
            (&m.end[0].x)[k] = (x + by + far) * scale;
        }
        double minimum = i % 3 == 0 ? 0.0 : carom_random_between(&random, 0.0, 0.1) * scale;
        if (campaign_has((uint64_t)i)) {
            measure_motion(&m);
            double time = check_step(one, three, &m, minimum);
            limited += time > 0.0 && time < 1.0;
            carom_soup *soup = soup_of(one, &m.from);
            if (time > 0.0 && time < 0.25 && minimum == 0.0) {
                position_at(&m, 4.0 * time);
                assert_ok(one, carom_soup_self_impacts(one, soup, &m.at, &impacts));
                hits += impacts.count != 0;
            }
            carom_soup_destroy(soup);
        }
        end_motion(&m);
    }
    if (TEST_ALL_CASES && !campaign_is_long()) {
        assert_true(limited > 100);
        assert_true(hits > 10);
    }
    carom_context_destroy(one);
    carom_context_destroy(three);
}

/* ---- Safe distances -------------------------------------------------------------------------- */

/* Moves every vertex as far as it may, in seeded directions. */
static void move_safely(motion *m, const double *distances, carom_random *random) {
    for (uint64_t v = 0; v < m->from.vertex_count; ++v) {
        double d[3], square = 0.0;
        for (int k = 0; k < 3; ++k) {
            d[k] = carom_random_normal(random);
            square += d[k] * d[k];
        }
        for (int k = 0; k < 3; ++k) {
            double by = d[k] / sqrt(square) * distances[v] * (1.0 - 0x1p-50);
            (&m->then[v].x)[k] = (&m->start[v].x)[k] + by;
        }
    }
}

/* The largest that pairs allow, from the list of what is near. */
static void expect_distances(const carom_soup_near_pairs *list, uint64_t vertices, double reach,
                             double minimum, double *to) {
    for (uint64_t v = 0; v < vertices; ++v) to[v] = (reach - minimum) / 2.0;
    for (uint64_t i = 0; i < list->count; ++i) {
        const carom_soup_near_pair *p = &list->data[i];
        double most = fmax((p->distance.upper - minimum) / 2.0, 0.0);
        for (int k = 0; k < 3; ++k) {
            if (p->a[k] != CAROM_NONE) to[p->a[k]] = fmin(to[p->a[k]], most);
            if (p->b[k] != CAROM_NONE) to[p->b[k]] = fmin(to[p->b[k]], most);
        }
    }
}

static void vertices_may_move_by_their_safe_distances(void **state) {
    (void)state;
    carom_context *one = test_context(1), *three = test_context(3);
    carom_random random = {6};
    for (int i = 0; i < TEST_CASES(40); ++i) {
        double scale = i % 4 == 1 ? 1e-100 : i % 4 == 2 ? 1e100 : 1.0;
        carom_shape_def def = {.shape = i % 2 == 0 ? CAROM_SHAPE_GRID : CAROM_SHAPE_SPHERE,
                               .detail = i % 2 == 0 ? 6 : 2};
        carom_mesh *mesh;
        carom_mesh_view view;
        assert_ok(one, carom_shape_make(one, &def, &mesh));
        assert_ok(one, carom_mesh_get_view(mesh, &view));
        motion m;
        begin_motion(&m, &view);
        for (uint64_t k = 0; k < 3 * view.vertex_count; ++k)
            (&m.start[0].x)[k] =
                (((const double *)view.positions)[k] + carom_random_between(&random, -0.1, 0.1)) *
                scale;
        memcpy(m.end, m.start, view.vertex_count * sizeof(*m.end));
        measure_motion(&m);
        double reach = 0.8 * scale, minimum = i % 3 == 0 ? 0.0 : 0.01 * scale;
        double *safe = calloc(3 * view.vertex_count, sizeof(*safe));
        double *again = safe + view.vertex_count, *most = again + view.vertex_count;
        assert_non_null(safe);
        carom_soup *soup = soup_of(one, &m.from);
        assert_ok(one, carom_soup_self_safe_distances(one, soup, reach, minimum, safe));
        assert_ok(three, carom_soup_self_safe_distances(three, soup, reach, minimum, again));
        assert_memory_equal(safe, again, view.vertex_count * sizeof(*safe));
        assert_ok(one, carom_soup_self_near(one, soup, reach, &near_found));
        expect_distances(&near_found, view.vertex_count, reach, minimum, most);
        for (uint64_t v = 0; v < view.vertex_count; ++v)
            assert_true(safe[v] <= most[v] && safe[v] >= most[v] - 1e-12 * scale);
        for (int k = 0; k < 20; ++k) {
            move_safely(&m, safe, &random);
            check_kept(one, soup, &m, minimum);
        }
        /* between two soups, each vertex of one with the features of the other */
        carom_pose apart = {.t = {2.5 * scale, 0.0, 0.0}};
        assert_ok(one, carom_soup_cross_safe_distances(one, soup, NULL, soup, &apart, reach, 0.0,
                                                       safe, again));
        assert_ok(one, carom_soup_cross_near(one, soup, NULL, soup, &apart, reach, &near_found));
        for (uint64_t k = 0; k < near_found.count; ++k)
            assert_true(safe[near_found.data[k].a[0]] <= near_found.data[k].distance.upper / 2.0 &&
                        again[near_found.data[k].b[0]] <= near_found.data[k].distance.upper / 2.0);
        carom_soup_destroy(soup);
        free(safe);
        end_motion(&m);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(one);
    carom_context_destroy(three);
}

/* ---- Recorded sequences ---------------------------------------------------------------------- */

/* Frames move as they were recorded, on to `stride` frames later. */
static void check_sequence(carom_context *context, carom_context *other, const char *sequence,
                           int frames, int stride) {
    char file[200], path[1000];
    snprintf(file, sizeof(file), "sequences/%s/frame0.ply", sequence);
    models_path(file, path, sizeof(path));
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    snprintf(file, sizeof(file), "sequences/%s/frames.f32.gz", sequence);
    FILE *data = models_open_gzip(file);
    assert_non_null(data);
    motion m;
    begin_motion(&m, &view);
    uint64_t size = 3 * view.vertex_count;
    float *next = malloc(size * sizeof(float));
    assert_non_null(next);
    int checked = 0, limited = 0, beyond = 0;
    for (int frame = 0; frame <= frames; ++frame) {
        for (int k = 0; k < (frame == 0 ? 1 : stride); ++k)
            if (fread(next, sizeof(float), size, data) != size) fail_msg("%s is short", file);
        memcpy(m.start, m.end, size * sizeof(double));
        for (uint64_t i = 0; i < size; ++i) (&m.end[0].x)[i] = (double)next[i];
        if (frame == 0 || !campaign_has((uint64_t)frame)) continue;
        measure_motion(&m);
        double time = check_step(context, other, &m, 0.0);
        ++checked;
        if (!(time > 0.0 && time < 0.25)) continue;
        ++limited;
        carom_soup *soup = soup_of(context, &m.from);
        position_at(&m, 4.0 * time);
        assert_ok(context, carom_soup_self_impacts(context, soup, &m.at, &impacts));
        beyond += impacts.count != 0;
        carom_soup_destroy(soup);
    }
    printf("%s: %d motions, %d limited before 1/4, %d of them with impacts at 4 steps\n", sequence,
           checked, limited, beyond);
    free(next);
    end_motion(&m);
    pclose(data);
    carom_mesh_destroy(mesh);
}

static void sequences_step_safely(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    carom_context *one = test_context(1), *two = test_context(2);
    if (campaign_is_long()) {
        check_sequence(one, two, "cactus_deform", 402, 1);
        check_sequence(one, two, "cat_poses", 9, 1);
        check_sequence(one, two, "kick", 30, 1);
    } else {
        check_sequence(one, two, "cactus_deform", TEST_CASES(4), 10);
    }
    carom_context_destroy(one);
    carom_context_destroy(two);
}

/* Two sheets, one above the other, that pass through each other: every step is known. */
static void falling_sheets_stop_before_they_meet(void **state) {
    (void)state;
    carom_context *one = test_context(1), *two = test_context(2);
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_GRID, .detail = 8};
    assert_ok(one, carom_shape_make(one, &def, &mesh));
    assert_ok(one, carom_mesh_get_view(mesh, &view));
    motion m;
    begin_motion(&m, &view);
    for (uint64_t v = 0; v < view.vertex_count; ++v) {
        m.start[v] = ((const carom_vec3 *)view.positions)[v];
        m.end[v] = m.start[v];
        m.end[v].z -= 8.0;
    }
    carom_soup *soup = soup_of(one, &m.from), *lower;
    for (uint64_t v = 0; v < view.vertex_count; ++v) m.then[v] = m.start[v], m.then[v].z = -1.0;
    lower = soup_of(one, &m.at);
    for (int i = 0; i < 3; ++i) {
        double minimum = 0.25 * i;
        carom_soup_step step;
        assert_ok(one, carom_soup_cross_safe_step(one, soup, &m.to, lower, NULL, minimum, &step));
        double most = (1.0 - minimum) / 8.0; /* where the sheets are the minimum apart */
        assert_true(step.time < most && step.time >= most * (1.0 - 0x1p-17));
        assert_true(step.limit.distance.lower > minimum);
        carom_soup_step again;
        assert_ok(two, carom_soup_cross_safe_step(two, soup, &m.to, lower, NULL, minimum, &again));
        assert_memory_equal(&step, &again, sizeof(step));
        motion to = m;
        position_at(&to, step.time);
        assert_ok(one, carom_soup_cross_impacts(one, soup, &to.at, lower, NULL, &impacts));
        assert_int_equal(impacts.count, 0);
        position_at(&to, 4.0 * step.time);
        assert_ok(one, carom_soup_cross_impacts(one, soup, &to.at, lower, NULL, &impacts));
        assert_true(impacts.count > 0);
    }
    carom_soup_destroy(soup);
    carom_soup_destroy(lower);
    end_motion(&m);
    carom_mesh_destroy(mesh);
    carom_context_destroy(one);
    carom_context_destroy(two);
}

/* ---- Memory, instruction sets, bad input ----------------------------------------------------- */

static carom_status query_all(carom_allocator allocator, void *argument) {
    const lattice *l = argument;
    carom_context *context;
    carom_context_def def = {.threads = 2, .allocator = allocator};
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    carom_soup *soup = NULL;
    carom_soup_near_pairs pairs = {0};
    carom_soup_step step;
    double safe[2][MOST_VERTICES];
    status = carom_soup_create(context, &(carom_soup_def){.mesh = &l->view}, &soup);
    if (status == CAROM_OK) status = carom_soup_self_near(context, soup, 1.0, &pairs);
    if (status == CAROM_OK)
        status = carom_soup_cross_safe_step(context, soup, &l->view, soup, NULL, 0.5, &step);
    if (status == CAROM_OK)
        status = carom_soup_cross_safe_distances(context, soup, NULL, soup, NULL, 1.0, 0.0, safe[0],
                                                 safe[1]);
    carom_soup_near_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failures_leak_nothing(void **state) {
    (void)state;
    static lattice l;
    carom_random random = {3};
    make_lattice(&l, &random, 0);
    test_allocation_failures(query_all, &l);
    carom_context *context = test_context(1);
    carom_soup *soup = soup_of(context, &l.view);
    carom_soup_step step;
    double safe[MOST_VERTICES];
    assert_fails(context, carom_soup_self_near(context, soup, -1.0, &near_found), CAROM_BAD_INPUT,
                 "the reach is -1");
    assert_fails(context, carom_soup_self_near(context, soup, INFINITY, &near_found),
                 CAROM_BAD_INPUT, "reach");
    assert_fails(context, carom_soup_self_safe_step(context, soup, &l.view, NAN, &step),
                 CAROM_BAD_INPUT, "minimum");
    assert_fails(context, carom_soup_self_safe_distances(context, soup, 1.0, 2.0, safe),
                 CAROM_BAD_INPUT, "above the reach");
    carom_mesh_view few = l.view;
    --few.vertex_count;
    assert_fails(context, carom_soup_self_safe_step(context, soup, &few, 0.0, &step),
                 CAROM_BAD_INPUT, "vertices");
    carom_pose bad = {.t = {NAN, 0.0, 0.0}};
    assert_fails(context, carom_soup_cross_near(context, soup, &bad, soup, NULL, 0.0, &near_found),
                 CAROM_BAD_INPUT, "pose");
    l.positions[0].x = 0x1p1022;
    carom_soup *huge = soup_of(context, &l.view);
    assert_fails(context, carom_soup_self_near(context, huge, 1.0, &near_found), CAROM_BAD_INPUT,
                 "2^1020");
    carom_soup_destroy(huge);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
}

static void every_instruction_set_gives_the_same_bytes(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_CLOTH, .detail = 24};
    assert_ok(context, carom_shape_make(context, &def, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    def.phase = 0.2;
    carom_mesh *later;
    carom_mesh_view to;
    assert_ok(context, carom_shape_make(context, &def, &later));
    assert_ok(context, carom_mesh_get_view(later, &to));
    carom_soup *soup = soup_of(context, &view);
    carom_soup_step step;
    assert_ok(context, carom_soup_self_near(context, soup, 0.05, &near_found));
    assert_ok(context, carom_soup_self_safe_step(context, soup, &to, 0.0, &step));
    assert_true(near_found.count > 100);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        carom_context *with = test_context_isa(1 + (uint32_t)isa, (carom_isa)isa);
        if (with == NULL) continue;
        carom_soup_step other;
        assert_ok(with, carom_soup_self_near(with, soup, 0.05, &near_other));
        check_lists_equal(&near_found, &near_other);
        assert_ok(with, carom_soup_self_safe_step(with, soup, &to, 0.0, &other));
        assert_memory_equal(&step, &other, sizeof(step));
        carom_context_destroy(with);
    }
    /* warm queries allocate nothing */
    double *safe = malloc(view.vertex_count * sizeof(*safe));
    assert_non_null(safe);
    for (int i = 0; i < 2; ++i) {
        uint64_t before = test_malloc_count();
        assert_ok(context, carom_soup_self_near(context, soup, 0.05, &near_found));
        assert_ok(context, carom_soup_self_safe_step(context, soup, &to, 0.0, &step));
        assert_ok(context, carom_soup_self_safe_distances(context, soup, 0.05, 0.0, safe));
        if (i == 1) assert_int_equal(test_malloc_count(), before);
    }
    /* a caller's buffer */
    carom_soup_near_pair buffer[3];
    carom_soup_near_pairs mine = {.data = buffer, .capacity = 3, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_soup_self_near(context, soup, 0.05, &mine), CAROM_MORE);
    assert_int_equal(mine.count, near_found.count);
    assert_memory_equal(buffer, near_found.data, sizeof(buffer));
    free(safe);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(later);
    carom_context_destroy(context);
    carom_soup_near_pairs_free(&near_found);
    carom_soup_near_pairs_free(&near_other);
    carom_soup_impacts_free(&impacts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_equal_brute_force),
        cmocka_unit_test(seeded_steps_are_safe),
        cmocka_unit_test(vertices_may_move_by_their_safe_distances),
        cmocka_unit_test(sequences_step_safely),
        cmocka_unit_test(falling_sheets_stop_before_they_meet),
        cmocka_unit_test(failures_leak_nothing),
        cmocka_unit_test(every_instruction_set_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
