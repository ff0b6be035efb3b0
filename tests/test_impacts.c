/* SPDX-License-Identifier: MIT */
/* Impacts of soups that deform, against all vertices with all triangles and all edges with all
 * edges. CAROM_LONG=1: 20,000 soups and all frames of three sequences, ten minutes; in parts by
 * CAROM_PART. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"

static carom_soup_impacts found, other;

/* ---- Brute force ----------------------------------------------------------------------------- */

/* Triangles that move; removed ones are left out. */
typedef struct motion {
    const carom_vec3 *start, *end;
    const uint32_t *corners;
    uint32_t triangles, vertices;
    const bool *removed; /* NULL: none */
} motion;

typedef struct key {
    uint32_t v[7]; /* kind, a, b: sorted vertices */
} key;

static int compare_keys(const void *a, const void *b) {
    return memcmp(a, b, sizeof(key)); /* any order will do */
}

static int compare_numbers(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Names an impact by its vertices, in an order that does not depend on the direction of edges. */
static key key_of(uint32_t kind, const uint32_t *a, const uint32_t *b, bool self) {
    key k = {{kind}};
    memcpy(k.v + 1, a, 3 * sizeof(*a));
    memcpy(k.v + 4, b, 3 * sizeof(*b));
    qsort(k.v + 1, 3, sizeof(uint32_t), compare_numbers);
    qsort(k.v + 4, 3, sizeof(uint32_t), compare_numbers);
    if (self && kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE &&
        memcmp(k.v + 1, k.v + 4, 3 * sizeof(uint32_t)) > 0) {
        key swapped = k;
        memcpy(swapped.v + 1, k.v + 4, 3 * sizeof(uint32_t));
        memcpy(swapped.v + 4, k.v + 1, 3 * sizeof(uint32_t));
        return swapped;
    }
    return k;
}

typedef struct list {
    key *keys;
    uint64_t count, capacity;
} list;

static void push(list *l, key k) {
    if (l->count == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        l->keys = realloc(l->keys, l->capacity * sizeof(*l->keys));
        assert_non_null(l->keys);
    }
    l->keys[l->count++] = k;
}

static void sort_unique(list *l) {
    uint64_t kept = 0;
    if (l->count == 0) return;
    qsort(l->keys, l->count, sizeof(*l->keys), compare_keys);
    for (uint64_t i = 0; i < l->count; ++i)
        if (i == 0 || compare_keys(&l->keys[i], &l->keys[kept - 1]) != 0)
            l->keys[kept++] = l->keys[i];
    l->count = kept;
}

/* Vertices that a triangle uses, or edges, each once. */
static list elements(const motion *m, bool edges) {
    list l = {0};
    for (uint32_t t = 0; t < m->triangles; ++t) {
        if (m->removed != NULL && m->removed[t]) continue;
        for (uint32_t i = 0; i < 3; ++i) {
            uint32_t p = m->corners[3 * t + i], q = m->corners[3 * t + (i + 1) % 3];
            key k = {{p < q || !edges ? p : q, edges ? (p < q ? q : p) : 0}};
            push(&l, k);
        }
    }
    sort_unique(&l);
    return l;
}

static bool hits(const motion *a, const uint32_t *va, int na, const motion *b, const uint32_t *vb,
                 carom_toi *toi) {
    carom_vec3 start[4], end[4];
    for (int i = 0; i < 4; ++i) {
        start[i] = i < na ? a->start[va[i]] : b->start[vb[i - na]];
        end[i] = i < na ? a->end[va[i]] : b->end[vb[i - na]];
    }
    *toi =
        na == 1 ? carom_point_triangle_toi_value(start, end) : carom_segments_toi_value(start, end);
    return toi->hit;
}

static void note(double *first, const carom_toi *toi) {
    first[0] = fmin(first[0], toi->time.lower);
    first[1] = fmin(first[1], toi->time.upper);
}

/* Around the ways of one, two or three vertices. Most pairs have boxes that are apart: those are
 * not computed, which makes brute force ten times as fast. */
static carom_bounds way_of(const motion *m, const uint32_t *v, int count) {
    carom_bounds box = {m->start[v[0]], m->start[v[0]]};
    for (int i = 0; i < 2 * count; ++i) {
        const double *p = i % 2 == 0 ? &m->start[v[i / 2]].x : &m->end[v[i / 2]].x;
        for (int k = 0; k < 3; ++k) {
            (&box.low.x)[k] = fmin((&box.low.x)[k], p[k]);
            (&box.high.x)[k] = fmax((&box.high.x)[k], p[k]);
        }
    }
    return box;
}

static bool are_apart(const carom_bounds *a, const carom_bounds *b) {
    return a->low.x > b->high.x || b->low.x > a->high.x || a->low.y > b->high.y ||
           b->low.y > a->high.y || a->low.z > b->high.z || b->low.z > a->high.z;
}

static carom_bounds *ways_of(const motion *m, const list *edges) {
    uint64_t count = edges != NULL ? edges->count : m->triangles;
    carom_bounds *ways = malloc((count + 1) * sizeof(*ways));
    assert_non_null(ways);
    for (uint64_t i = 0; i < count; ++i)
        ways[i] = edges != NULL ? way_of(m, edges->keys[i].v, 2) : way_of(m, m->corners + 3 * i, 3);
    return ways;
}

static void vertices_with_faces(const motion *a, const motion *b, bool self, uint32_t kind,
                                list *all, double *first) {
    list points = elements(a, false);
    carom_bounds *faces = ways_of(b, NULL);
    for (uint64_t i = 0; i < points.count; ++i) {
        carom_bounds way = way_of(a, points.keys[i].v, 1);
        for (uint32_t t = 0; t < b->triangles; ++t) {
            if (are_apart(&way, &faces[t])) continue;
            const uint32_t *c = b->corners + 3 * t;
            uint32_t vertex[3] = {points.keys[i].v[0], UINT32_MAX, UINT32_MAX};
            if (b->removed != NULL && b->removed[t]) continue;
            if (self && (c[0] == vertex[0] || c[1] == vertex[0] || c[2] == vertex[0])) continue;
            carom_toi toi;
            if (!hits(a, vertex, 1, b, c, &toi)) continue;
            bool turned = kind == CAROM_SOUP_IMPACT_KIND_FACE_VERTEX;
            push(all, key_of(kind, turned ? c : vertex, turned ? vertex : c, self));
            note(first, &toi);
        }
    }
    free(faces);
    free(points.keys);
}

/* All impacts; first: the least lower and upper times. */
static list brute_force(const motion *a, const motion *b, double *first) {
    bool self = b == NULL;
    const motion *other_side = self ? a : b;
    list all = {0}, edges_a = elements(a, true), edges_b = elements(other_side, true);
    carom_bounds *ways_a = ways_of(a, &edges_a), *ways_b = ways_of(other_side, &edges_b);
    first[0] = first[1] = HUGE_VAL;
    vertices_with_faces(a, other_side, self, CAROM_SOUP_IMPACT_KIND_VERTEX_FACE, &all, first);
    if (!self) vertices_with_faces(b, a, false, CAROM_SOUP_IMPACT_KIND_FACE_VERTEX, &all, first);
    for (uint64_t i = 0; i < edges_a.count; ++i)
        for (uint64_t j = self ? i + 1 : 0; j < edges_b.count; ++j) {
            if (are_apart(&ways_a[i], &ways_b[j])) continue;
            uint32_t p[3] = {edges_a.keys[i].v[0], edges_a.keys[i].v[1], UINT32_MAX};
            uint32_t q[3] = {edges_b.keys[j].v[0], edges_b.keys[j].v[1], UINT32_MAX};
            if (self && (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1])) continue;
            carom_toi toi;
            if (!hits(a, p, 2, other_side, q, &toi)) continue;
            push(&all, key_of(CAROM_SOUP_IMPACT_KIND_EDGE_EDGE, p, q, self));
            note(first, &toi);
        }
    free(ways_a);
    free(ways_b);
    free(edges_a.keys);
    free(edges_b.keys);
    if (all.count != 0) qsort(all.keys, all.count, sizeof(key), compare_keys);
    return all;
}

static void compare(const carom_soup_impacts *impacts, const list *expected, bool self,
                    const char *what, int number) {
    list l = {0};
    for (uint64_t i = 0; i < impacts->count; ++i) {
        const carom_soup_impact *m = &impacts->data[i];
        push(&l, key_of(m->kind, m->a, m->b, self));
        assert_true(m->time.lower >= 0.0 && m->time.lower <= m->time.upper && m->time.upper <= 1.0);
    }
    if (l.count != 0) qsort(l.keys, l.count, sizeof(key), compare_keys);
    if (l.count != expected->count)
        fail_msg("%s %d: %llu impacts, brute force %llu", what, number, (unsigned long long)l.count,
                 (unsigned long long)expected->count);
    if (l.count != 0) assert_memory_equal(l.keys, expected->keys, l.count * sizeof(key));
    free(l.keys);
}

/* ---- Seeded soups ---------------------------------------------------------------------------- */

#define MOST_VERTICES  24u
#define MOST_TRIANGLES 20u

typedef struct seeded {
    carom_vec3 start[MOST_VERTICES], end[MOST_VERTICES];
    float start_f[3 * MOST_VERTICES], end_f[3 * MOST_VERTICES];
    uint32_t corners[3 * MOST_TRIANGLES];
    bool removed[MOST_TRIANGLES];
    bool floats;
    motion m;
    carom_mesh_view view, to;
} seeded;

/* Random triangles on few vertices: shared and repeated corners, no area, all kinds of contact. */
static void seed(seeded *s, carom_random *random, int number) {
    uint32_t vertices = 6 + (uint32_t)(carom_random_next(random) % (MOST_VERTICES - 6));
    uint32_t triangles = 1 + (uint32_t)(carom_random_next(random) % MOST_TRIANGLES);
    double scale = number % 5 == 4 ? 0x1p-600 : number % 5 == 3 ? 0x1p500 : 1.0;
    double far = number % 11 == 7 ? 0x1p20 : 0.0; /* from the origin, where float32 is coarse */
    s->floats = number % 3 == 0 && scale == 1.0;
    /* the largest and the least floats */
    double float_scale = number % 27 == 18 ? 0x1p123 : number % 27 == 9 ? 0x1p-146 : 1.0;
    if (float_scale != 1.0) far = 0.0;
    for (uint32_t v = 0; v < vertices; ++v)
        for (int k = 0; k < 3; ++k) {
            double x, y;
            if (number % 2 == 0) {
                x = (double)(carom_random_next(random) % 9);
                y = (double)(carom_random_next(random) % 9);
                if (carom_random_next(random) % 3 != 0) y = x + (double)(number / 2 % 2);
            } else {
                x = carom_random_between(random, 0.0, 4.0);
                y = x + carom_random_between(random, -1.0, 1.0);
            }
            x += far;
            y += far;
            float *start_f = &s->start_f[3 * v + (uint32_t)k];
            float *end_f = &s->end_f[3 * v + (uint32_t)k];
            *start_f = (float)(x * float_scale);
            *end_f = (float)(y * float_scale);
            (&s->start[v].x)[k] = s->floats ? (double)*start_f : x * scale;
            (&s->end[v].x)[k] = s->floats ? (double)*end_f : y * scale;
        }
    for (uint32_t i = 0; i < 3 * triangles; ++i)
        s->corners[i] = (uint32_t)(carom_random_next(random) % vertices);
    for (uint32_t t = 0; t < triangles; ++t)
        s->removed[t] = number % 7 == 6 && carom_random_next(random) % 4 == 0;
    s->m = (motion){s->start, s->end, s->corners, triangles, vertices, s->removed};
    s->view = (carom_mesh_view){.positions = s->floats ? (const void *)s->start_f : s->start,
                                .scalar = s->floats ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64,
                                .vertex_count = vertices,
                                .corners = s->corners,
                                .face_count = triangles};
    s->to = s->view;
    s->to.positions = s->floats ? (const void *)s->end_f : s->end;
    s->to.corners = NULL;
    s->to.face_count = 0;
}

static carom_soup *soup_of(carom_context *context, const seeded *s, int number) {
    static const carom_soup_method methods[] = {CAROM_SOUP_METHOD_AUTO, CAROM_SOUP_METHOD_TREE,
                                                CAROM_SOUP_METHOD_GRID};
    carom_soup *soup;
    carom_soup_def def = {.mesh = &s->view, .method = methods[number % 3]};
    if (carom_soup_create(context, &def, &soup) != CAROM_OK) { /* too large for a grid */
        def.method = CAROM_SOUP_METHOD_TREE;
        assert_ok(context, carom_soup_create(context, &def, &soup));
    }
    for (uint32_t t = 0; t < s->m.triangles; ++t)
        if (s->removed[t]) assert_ok(context, carom_soup_remove(context, soup, &t, 1));
    return soup;
}

static void check_first(const carom_soup_impact *impact, const double *first) {
    if (first[0] > 1.0) {
        assert_true(impact->face_a == CAROM_NONE && impact->face_b == CAROM_NONE);
        assert_int_equal(impact->kind, CAROM_SOUP_IMPACT_KIND_NONE);
        assert_string_equal(carom_soup_impact_kind_name(impact->kind), "none");
        return;
    }
    assert_true(impact->face_a != CAROM_NONE && impact->face_b != CAROM_NONE);
    assert_true(impact->kind < CAROM_SOUP_IMPACT_KIND_NONE);
    assert_true(impact->time.value == impact->time.lower);
    /* edges may be seen from their other end, which rounds times another way */
    assert_true(impact->time.lower <= first[1] && first[0] <= impact->time.upper);
}

/* The first impact is that of the list, byte for byte, whatever was left out on the way. */
static void check_first_of(const carom_soup_impacts *all, const carom_soup_impact *impact) {
    carom_soup_impact expected = {.kind = CAROM_SOUP_IMPACT_KIND_NONE,
                                  .face_a = CAROM_NONE,
                                  .face_b = CAROM_NONE,
                                  .a = {CAROM_NONE, CAROM_NONE, CAROM_NONE},
                                  .b = {CAROM_NONE, CAROM_NONE, CAROM_NONE}};
    double upper = HUGE_VAL;
    for (uint64_t i = 0; i < all->count; ++i) {
        upper = fmin(upper, all->data[i].time.upper);
        if (i == 0 || all->data[i].time.lower < expected.time.lower) expected = all->data[i];
    }
    if (all->count != 0) expected.time.upper = upper;
    assert_memory_equal(impact, &expected, sizeof(expected));
}

static void seeded_soups_equal_brute_force(void **state) {
    (void)state;
    carom_context *one = test_context(1), *three = test_context(3);
    carom_random random = {21};
    static seeded a, b;
    uint64_t total = 0;
    int cases = TEST_CASES(campaign_is_long() ? 20000 : 200);
    for (int i = 0; i < cases; ++i) {
        seed(&a, &random, i);
        seed(&b, &random, i);
        if (!campaign_has((uint64_t)i)) continue;
        carom_soup *soup = soup_of(one, &a, i), *second = soup_of(one, &b, i / 3);
        double first[2];
        carom_soup_impact impact;
        list expected = brute_force(&a.m, NULL, first);
        total += expected.count;
        assert_ok(one, carom_soup_self_impacts(one, soup, &a.to, &found));
        compare(&found, &expected, true, "self", i);
        assert_ok(one, carom_soup_self_first_impact(one, soup, &a.to, &impact));
        check_first(&impact, first);
        check_first_of(&found, &impact);
        assert_ok(three, carom_soup_self_first_impact(three, soup, &a.to, &impact));
        check_first_of(&found, &impact);
        assert_ok(three, carom_soup_self_impacts(three, soup, &a.to, &other));
        assert_int_equal(found.count, other.count);
        if (found.count != 0)
            assert_memory_equal(found.data, other.data, found.count * sizeof(*found.data));
        free(expected.keys);

        expected = brute_force(&a.m, &b.m, first);
        assert_ok(one, carom_soup_cross_impacts(one, soup, &a.to, second, &b.to, &found));
        compare(&found, &expected, false, "cross", i);
        assert_ok(one, carom_soup_cross_first_impact(one, soup, &a.to, second, &b.to, &impact));
        check_first(&impact, first);
        check_first_of(&found, &impact);
        free(expected.keys);
        motion rest = b.m;
        rest.end = rest.start;
        expected = brute_force(&a.m, &rest, first);
        assert_ok(three, carom_soup_cross_impacts(three, soup, &a.to, second, NULL, &found));
        compare(&found, &expected, false, "b at rest", i);
        free(expected.keys);
        carom_soup_destroy(soup);
        carom_soup_destroy(second);
    }
    if (TEST_MANY_CASES && !campaign_is_long()) assert_true(total > TEST_CASES(3000));
    carom_context_destroy(one);
    carom_context_destroy(three);
}

/* ---- Recorded sequences ---------------------------------------------------------------------- */

/* Every `step` frames are one motion. In parts of a campaign each has its own motions. */
static void check_frames(carom_context *context, const char *sequence, int frames, int step) {
    char file[200];
    snprintf(file, sizeof(file), "sequences/%s/frame0.ply", sequence);
    char path[1000];
    models_path(file, path, sizeof(path));
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    snprintf(file, sizeof(file), "sequences/%s/frames.f32.gz", sequence);
    FILE *data = models_open_gzip(file);
    assert_non_null(data);
    uint64_t size = 3 * view.vertex_count;
    float *now = malloc(size * sizeof(float)), *next = malloc(size * sizeof(float));
    carom_vec3 *start = malloc(size * sizeof(double)), *end = malloc(size * sizeof(double));
    assert_true(now != NULL && next != NULL && start != NULL && end != NULL);
    assert_int_equal(fread(now, sizeof(float), size, data), size);
    uint64_t total = 0;
    int checked = 0;
    for (int frame = 0; frame < frames; ++frame) {
        for (int i = 0; i < step; ++i)
            if (fread(next, sizeof(float), size, data) != size) fail_msg("%s is short", file);
        if (!campaign_has((uint64_t)frame)) {
            memcpy(now, next, size * sizeof(float));
            continue;
        }
        for (uint64_t i = 0; i < size; ++i) {
            (&start[0].x)[i] = (double)now[i];
            (&end[0].x)[i] = (double)next[i];
        }
        motion m = {
            start, end, view.corners, (uint32_t)view.face_count, (uint32_t)view.vertex_count, NULL};
        double first[2];
        list expected = brute_force(&m, NULL, first);
        carom_mesh_view from = view, to = view;
        from.positions = now;
        to.positions = next;
        from.scalar = to.scalar = CAROM_SCALAR_FLOAT32;
        from.stride = to.stride = 0;
        carom_soup *soup;
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &from}, &soup));
        assert_ok(context, carom_soup_self_impacts(context, soup, &to, &found));
        compare(&found, &expected, true, sequence, frame);
        carom_soup_impact impact;
        assert_ok(context, carom_soup_self_first_impact(context, soup, &to, &impact));
        check_first(&impact, first);
        check_first_of(&found, &impact);
        total += expected.count;
        ++checked;
        free(expected.keys);
        carom_soup_destroy(soup);
        float *swap = now;
        now = next;
        next = swap;
    }
    printf("%s: %d frames, %llu impacts\n", sequence, checked, (unsigned long long)total);
    free(now);
    free(next);
    free(start);
    free(end);
    pclose(data);
    carom_mesh_destroy(mesh);
}

static void sequences_equal_brute_force(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    carom_context *context = test_context(2);
    if (campaign_is_long()) {
        check_frames(context, "cactus_deform", 402, 1);
        check_frames(context, "cat_poses", 9, 1);
        check_frames(context, "kick", 30, 1);
    } else {
        check_frames(context, "cactus_deform", TEST_CASES(4), 10);
    }
    carom_context_destroy(context);
}

/* Points that move by 2^99 where edges are subnormal: the first search is of a time that no float
 * holds, and searches that are longer and longer must come to an end. */
static void motions_of_many_edges_end(void **state) {
    (void)state;
    const float fine = 0x1p-140f, far = 0x1p99f;
    const float at[] = {0, 0, 0, fine, 0, 0, 0, 1, 0, 5, 0, 1, 5 + fine, 0, 1, 5, 1, 1};
    float end[COUNT_OF(at)];
    const uint32_t corners[] = {0, 1, 2, 3, 4, 5};
    carom_context *context = test_context(1);
    carom_mesh_view from = {.positions = at,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .vertex_count = 6,
                            .corners = corners,
                            .face_count = 2};
    carom_mesh_view to = {
        .positions = end, .scalar = CAROM_SCALAR_FLOAT32, .vertex_count = from.vertex_count};
    carom_soup *soup;
    carom_soup_impact impact;
    memcpy(end, at, sizeof(end));
    for (int i = 0; i < 3; ++i) end[11 + 3 * i] = far; /* z of the second */
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &from}, &soup));
    assert_ok(context, carom_soup_self_first_impact(context, soup, &to, &impact));
    assert_int_equal(impact.kind, CAROM_SOUP_IMPACT_KIND_NONE);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
}

/* ---- Memory, instruction sets, bad input ----------------------------------------------------- */

static carom_mesh_view cloth(carom_context *context, carom_mesh **mesh) {
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_CLOTH, .detail = 24};
    *mesh = shape_mesh(context, &def, &view);
    return view;
}

static double *moved(const carom_mesh_view *view) {
    double *end = malloc(3 * view->vertex_count * sizeof(double));
    assert_non_null(end);
    carom_random random = {5};
    for (uint64_t i = 0; i < 3 * view->vertex_count; ++i) {
        double x = view->scalar == CAROM_SCALAR_FLOAT32
                       ? (double)((const float *)view->positions)[i]
                       : ((const double *)view->positions)[i];
        end[i] = x + carom_random_between(&random, -0.1, 0.1);
    }
    return end;
}

static void every_instruction_set_gives_the_same_bytes(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *mesh;
    carom_soup *soup;
    carom_mesh_view view = cloth(context, &mesh);
    double *end = moved(&view);
    carom_mesh_view to = {.positions = end, .vertex_count = view.vertex_count};
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(context, carom_soup_self_impacts(context, soup, &to, &found));
    assert_true(found.count > 100);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        carom_context *with = test_context_isa(1 + (uint32_t)isa, (carom_isa)isa);
        if (with == NULL) continue;
        assert_ok(with, carom_soup_self_impacts(with, soup, &to, &other));
        assert_int_equal(other.count, found.count);
        assert_memory_equal(other.data, found.data, found.count * sizeof(*found.data));
        carom_soup_impact first;
        assert_ok(with, carom_soup_self_first_impact(with, soup, &to, &first));
        check_first_of(&found, &first);
        carom_context_destroy(with);
    }
    /* warm queries allocate nothing */
    assert_ok(context, carom_soup_self_impacts(context, soup, &to, &found));
    uint64_t before = test_malloc_count();
    assert_ok(context, carom_soup_self_impacts(context, soup, &to, &found));
    assert_int_equal(test_malloc_count(), before);
    /* a caller's buffer */
    carom_soup_impact buffer[3];
    carom_soup_impacts mine = {.data = buffer, .capacity = 3, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_soup_self_impacts(context, soup, &to, &mine), CAROM_MORE);
    assert_int_equal(mine.count, found.count);
    assert_memory_equal(buffer, found.data, sizeof(buffer));
    free(end);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static carom_status query_all(carom_allocator allocator, void *argument) {
    const seeded *s = argument;
    carom_context *context;
    carom_context_def def = {.threads = 2, .allocator = allocator};
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    carom_soup *soup = NULL;
    carom_soup_impacts impacts = {0};
    carom_soup_impact first;
    status = carom_soup_create(context, &(carom_soup_def){.mesh = &s->view}, &soup);
    if (status == CAROM_OK) status = carom_soup_self_impacts(context, soup, &s->to, &impacts);
    if (status == CAROM_OK)
        status = carom_soup_cross_first_impact(context, soup, &s->to, soup, NULL, &first);
    carom_soup_impacts_free(&impacts);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failures_leak_nothing(void **state) {
    (void)state;
    static seeded s;
    carom_random random = {3};
    seed(&s, &random, 1);
    test_allocation_failures(query_all, &s);
    carom_context *context = test_context(1);
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &s.view}, &soup));
    carom_mesh_view few = s.to;
    --few.vertex_count;
    assert_fails(context, carom_soup_self_impacts(context, soup, &few, &found), CAROM_BAD_INPUT,
                 "vertices");
    s.end[2].y = NAN;
    assert_fails(context, carom_soup_cross_impacts(context, soup, NULL, soup, &s.to, &found),
                 CAROM_BAD_INPUT, "");
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    carom_soup_impacts_free(&found);
    carom_soup_impacts_free(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeded_soups_equal_brute_force),
        cmocka_unit_test(sequences_equal_brute_force),
        cmocka_unit_test(motions_of_many_edges_end),
        cmocka_unit_test(every_instruction_set_gives_the_same_bytes),
        cmocka_unit_test(failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
