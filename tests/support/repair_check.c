/* SPDX-License-Identifier: MIT */
#include "tests/support/repair_check.h"

#include <stdlib.h>
#include <string.h>

static uint64_t face_begin(const carom_mesh_view *view, uint64_t face) {
    return view->offsets != NULL ? view->offsets[face] : 3 * face;
}

static void *repair_take(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

repair_sides_count repair_count_sides(const carom_mesh_view *view, uint32_t a, uint32_t b) {
    repair_sides_count sides = {0, 0};
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = face_begin(view, f), end = face_begin(view, f + 1);
        uint32_t forward = 0, backward = 0;
        for (uint64_t c = begin; c < end; ++c) {
            uint32_t from = view->corners[c], to = view->corners[c + 1 < end ? c + 1 : begin];
            forward += from == a && to == b;
            backward += from == b && to == a;
        }
        sides.forward += forward > backward ? forward - backward : 0;
        sides.backward += backward > forward ? backward - forward : 0;
    }
    return sides;
}

static uint32_t count_kept(const carom_mesh_view *view, uint32_t a, uint32_t b) {
    repair_sides_count sides = repair_count_sides(view, a, b);
    return sides.forward + sides.backward;
}

/* Whether an earlier corner has the same two vertices at its side. */
static bool seen_before(const carom_mesh_view *view, uint64_t face, uint64_t corner, uint32_t a,
                        uint32_t b) {
    for (uint64_t f = 0; f <= face; ++f) {
        uint64_t begin = face_begin(view, f), end = face_begin(view, f + 1);
        for (uint64_t c = begin; c < end && c < corner; ++c) {
            uint32_t from = view->corners[c], to = view->corners[c + 1 < end ? c + 1 : begin];
            if ((from == a && to == b) || (from == b && to == a)) return true;
        }
    }
    return false;
}

/* Calls `visit` once for each pair of vertices that a side joins. */
typedef void edge_fn(void *user, uint32_t a, uint32_t b);
static void each_edge(const carom_mesh_view *view, edge_fn *visit, void *user) {
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = face_begin(view, f), end = face_begin(view, f + 1);
        for (uint64_t c = begin; c < end; ++c) {
            uint32_t from = view->corners[c], to = view->corners[c + 1 < end ? c + 1 : begin];
            if (from != to && !seen_before(view, f, c, from, to)) visit(user, from, to);
        }
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct edge_counter {
    const carom_mesh_view *view;
    uint64_t open;
} edge_counter;

static void count_open_edge(void *user, uint32_t a, uint32_t b) {
    edge_counter *counter = user;
    counter->open += count_kept(counter->view, a, b) == 1;
}

static uint64_t count_open_edges(const carom_mesh_view *view) {
    edge_counter counter = {view, 0};
    each_edge(view, count_open_edge, &counter);
    return counter.open;
}

static void check_loop(const carom_mesh_view *view, const carom_repair_loop *loop,
                       const uint32_t *vertices) {
    const uint32_t *v = vertices + loop->first;
    assert_true(loop->count >= (loop->closed ? 3u : 2u));
    for (uint64_t i = 0; i < loop->count; ++i) {
        if (loop->closed) assert_true(v[0] <= v[i]);
        for (uint64_t k = 0; k < i; ++k) assert_true(v[i] != v[k]);
        if (i + 1 == loop->count && !loop->closed) break;
        repair_sides_count sides =
            repair_count_sides(view, v[i], v[i + 1 < loop->count ? i + 1 : 0]);
        assert_true(sides.forward == 0 && sides.backward == 1);
    }
}

static void check_loops(const carom_mesh_view *view, const carom_repair_loops *loops,
                        const carom_numbers *vertices) {
    uint64_t edges = 0, at = 0;
    for (uint64_t i = 0; i < loops->count; ++i) {
        const carom_repair_loop *loop = &loops->data[i];
        const uint32_t *v = vertices->data;
        assert_true(loop->first == at);
        at += loop->count;
        edges += loop->closed ? loop->count : loop->count - 1;
        check_loop(view, loop, v);
        if (i == 0) continue;
        uint64_t before = loops->data[i - 1].first, now = loop->first;
        assert_true(v[before] < v[now] || (v[before] == v[now] && v[before + 1] < v[now + 1]));
    }
    assert_true(at == vertices->count);
    assert_true(edges == count_open_edges(view)); /* so each is in one loop */
}

/* ---- new faces ------------------------------------------------------------------------------- */

static void check_old_part(const carom_mesh_view *old, const carom_mesh_view *new) {
    uint64_t size = 3 * (old->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    uint64_t stride = old->stride != 0 ? old->stride : size, corners;
    assert_true(new->vertex_count == old->vertex_count &&new->scalar == old->scalar);
    for (uint64_t v = 0; v < old->vertex_count; ++v)
        assert_true(memcmp((const char *)old->positions + v * stride,
                           (const char *)new->positions + v *size, size) == 0);
    corners = face_begin(old, old->face_count);
    for (uint64_t f = 0; f <= old->face_count; ++f)
        assert_true(face_begin(old, f) == face_begin(new, f));
    assert_true(corners == 0 || memcmp(old->corners, new->corners, corners * 4) == 0);
}

static bool is_in(const uint32_t *list, uint64_t count, uint32_t number) {
    for (uint64_t i = 0; i < count; ++i)
        if (list[i] == number) return true;
    return false;
}

/* A loop of n vertices is filled by n - 2 triangles of them; the faces of all loops follow each
 * other. */
static void check_patches(const carom_mesh_view *old, const repair_closed *c) {
    uint64_t at = old->face_count, filled = 0;
    for (uint64_t i = 0; i < c->loops.count; ++i) {
        const carom_repair_loop *loop = &c->loops.data[i];
        assert_true(loop->outcome != CAROM_REPAIR_OUTCOME_LISTED);
        if (loop->outcome != CAROM_REPAIR_OUTCOME_FILLED) {
            assert_true(loop->first_face == CAROM_NONE && loop->face_count == 0);
            continue;
        }
        ++filled;
        assert_true(loop->closed && loop->first_face == at && loop->face_count == loop->count - 2);
        for (uint64_t f = at; f < at + loop->face_count; ++f) {
            const uint32_t *t = c->view.corners + face_begin(&c->view, f);
            assert_true(face_begin(&c->view, f + 1) - face_begin(&c->view, f) == 3);
            for (int k = 0; k < 3; ++k)
                assert_true(is_in(c->vertices.data + loop->first, loop->count, t[k]));
        }
        at += loop->face_count;
    }
    assert_true(at == c->view.face_count && c->result.triangles == at - old->face_count);
    assert_true(c->result.filled == filled && c->result.loops == c->loops.count);
    assert_true(c->result.left == c->loops.count - filled);
}

/* An edge of the boundary of a patch, or one of another hole or of no hole, is as it was, or has
 * now two opposite sides; a new edge has two opposite sides. */
typedef struct edge_comparison {
    const carom_mesh_view *old, *new;
} edge_comparison;

static void compare_edge(void *user, uint32_t a, uint32_t b) {
    const edge_comparison *c = user;
    repair_sides_count before = repair_count_sides(c->old, a, b);
    repair_sides_count after = repair_count_sides(c->new, a, b);
    if (before.forward == after.forward && before.backward == after.backward) return;
    assert_true(before.forward + before.backward <= 1);
    assert_true(after.forward == 1 && after.backward == 1);
}

static void check_pairs(carom_context *context, const carom_mesh_view *old,
                        const repair_closed *c) {
    oracle_pairs before[CAROM_SOUP_DEGENERATE_COUNT] = {{0}},
                 after[CAROM_SOUP_DEGENERATE_COUNT] = {{0}};
    oracle_self(context, old, false, NULL, before);
    oracle_self(context, &c->view, false, NULL, after);
    for (uint64_t i = 0; i < after[0].count; ++i)
        if (after[0].data[i].b >= old->face_count)
            fail_msg("new face %u meets face %u", after[0].data[i].b, after[0].data[i].a);
    assert_true(before[0].count == after[0].count && c->result.new_pairs == 0);
    oracle_free_all(before);
    oracle_free_all(after);
}

void repair_closed_free(repair_closed *c) {
    carom_mesh_destroy(c->mesh);
    carom_repair_loops_free(&c->loops);
    carom_numbers_free(&c->vertices);
    *c = (repair_closed){0};
}

void repair_close_checked(carom_context *context, const carom_mesh_view *view,
                          const carom_repair_def *def, repair_closed *c) {
    repair_closed_free(c);
    assert_ok(context, carom_repair_close(context, view, def, &c->mesh, &c->result, &c->loops,
                                          &c->vertices));
    assert_ok(context, carom_mesh_get_view(c->mesh, &c->view));
    assert_ok(context, carom_mesh_check(context, &c->view));
    check_loops(view, &c->loops, &c->vertices);
    check_old_part(view, &c->view);
    check_patches(view, c);
    edge_comparison edges = {view, &c->view};
    each_edge(&c->view, compare_edge, &edges);
    assert_true(c->result.open_edges == count_open_edges(&c->view));
    check_pairs(context, view, c);
}

/* ---- all triangulations ---------------------------------------------------------------------- */

typedef struct all_ways {
    carom_context *context;
    const carom_mesh_view *view;
    const uint32_t *loop;
    uint32_t count;
    bool free[REPAIR_MOST_TRIED][REPAIR_MOST_TRIED][REPAIR_MOST_TRIED];
    uint32_t chosen[REPAIR_MOST_TRIED][3], chosen_count;
    uint32_t *corners; /* of the mesh with triangles added */
} all_ways;

/* Whether the mesh with these triangles has no pair with any of them. */
static bool adds_no_pair(all_ways *w, const uint32_t (*triangles)[3], uint32_t count) {
    carom_mesh_view with = *w->view;
    oracle_pairs pairs[CAROM_SOUP_DEGENERATE_COUNT] = {{0}};
    bool good = true;
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
            w->corners[3 * (w->view->face_count + i) + (uint64_t)k] = w->loop[triangles[i][k]];
    with.corners = w->corners;
    with.face_count += count;
    oracle_self(w->context, &with, false, NULL, pairs);
    for (uint64_t i = 0; i < pairs[0].count; ++i)
        good = good && pairs[0].data[i].b < w->view->face_count;
    oracle_free_all(pairs);
    return good;
}

static bool is_diagonal_new(const all_ways *w, uint32_t i, uint32_t j) {
    repair_sides_count sides = repair_count_sides(w->view, w->loop[i], w->loop[j]);
    bool of_loop = j == i + 1 || (i == 0 && j == w->count - 1);
    return of_loop || sides.forward + sides.backward == 0;
}

/* Tries all ways to fill the intervals that are left: `todo` has pairs of ends. */
static bool try_ways(all_ways *w, uint32_t (*todo)[2], uint32_t left) {
    if (left == 0) return adds_no_pair(w, (const uint32_t(*)[3])w->chosen, w->chosen_count);
    uint32_t i = todo[left - 1][0], j = todo[left - 1][1], next[2 * REPAIR_MOST_TRIED][2];
    if (j == i + 1) return try_ways(w, todo, left - 1);
    if (!is_diagonal_new(w, i, j)) return false;
    for (uint32_t k = i + 1; k < j; ++k) {
        if (!w->free[i][k][j]) continue;
        memcpy(next, todo, sizeof(next[0]) * (left - 1));
        next[left - 1][0] = i, next[left - 1][1] = k;
        next[left][0] = k, next[left][1] = j;
        w->chosen[w->chosen_count][0] = i;
        w->chosen[w->chosen_count][1] = k;
        w->chosen[w->chosen_count++][2] = j;
        bool found = try_ways(w, next, left + 1);
        --w->chosen_count;
        if (found) return true;
    }
    return false;
}

bool repair_can_fill(carom_context *context, const carom_mesh_view *view, const uint32_t *loop,
                     uint32_t count) {
    all_ways w = {.context = context, .view = view, .loop = loop, .count = count};
    uint32_t todo[2 * REPAIR_MOST_TRIED][2] = {{0, count - 1}};
    assert_true(count <= REPAIR_MOST_TRIED && view->offsets == NULL);
    w.corners = repair_take(3 * (view->face_count + count), sizeof(*w.corners));
    memcpy(w.corners, view->corners, 3 * view->face_count * sizeof(*w.corners));
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = i + 1; k < count; ++k)
            for (uint32_t j = k + 1; j < count; ++j) {
                const uint32_t triangle[1][3] = {{i, k, j}};
                w.free[i][k][j] = adds_no_pair(&w, triangle, 1);
            }
    bool found = try_ways(&w, todo, 1);
    free(w.corners);
    return found;
}

/* ---- other lists ----------------------------------------------------------------------------- */

typedef struct edge_list {
    const carom_mesh_view *view;
    const carom_pairs *listed;
    uint64_t count;
} edge_list;

static void check_edge(void *user, uint32_t a, uint32_t b) {
    edge_list *list = user;
    carom_pair edge = {a < b ? a : b, a < b ? b : a};
    bool found = false;
    for (uint64_t i = 0; i < list->listed->count; ++i)
        found = found || memcmp(&list->listed->data[i], &edge, sizeof(edge)) == 0;
    assert_true(found == (count_kept(list->view, a, b) > 2));
    list->count += found;
}

/* The vertices that a face has beside a corner at a vertex, where the sides to them are edges. */
static bool faces_share_edge_at(const carom_mesh_view *view, uint64_t f, uint64_t g, uint32_t v) {
    for (uint64_t c = face_begin(view, f); c < face_begin(view, f + 1); ++c)
        for (uint64_t d = face_begin(view, g); d < face_begin(view, g + 1); ++d) {
            uint32_t a = view->corners[c], b = view->corners[d];
            uint64_t nf = c + 1 < face_begin(view, f + 1) ? c + 1 : face_begin(view, f);
            uint64_t ng = d + 1 < face_begin(view, g + 1) ? d + 1 : face_begin(view, g);
            uint32_t x = view->corners[nf], y = view->corners[ng];
            if (a == x || b == y) continue;
            if (((a == b && x == y) || (a == y && x == b)) && (a == v || x == v)) return true;
        }
    return false;
}

/* Whether triangles around a vertex are more than one fan: flooding from the first of them. */
static bool touches_only(const carom_mesh_view *view, uint32_t v) {
    uint8_t *at = repair_take(view->face_count, 1); /* 1: has the vertex, 2: reached */
    uint64_t first = view->face_count, left = 0;
    for (uint64_t f = 0; f < view->face_count; ++f) {
        const uint32_t *t = view->corners + 3 * f;
        bool collapsed = t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
        at[f] = !collapsed && (t[0] == v || t[1] == v || t[2] == v);
        if (at[f] == 1 && first == view->face_count) first = f;
    }
    if (first < view->face_count) at[first] = 2;
    for (bool more = true; more;) {
        more = false;
        for (uint64_t f = 0; f < view->face_count; ++f)
            for (uint64_t g = 0; g < view->face_count && at[f] == 2; ++g)
                if (at[g] == 1 && faces_share_edge_at(view, f, g, v)) at[g] = 2, more = true;
    }
    for (uint64_t f = 0; f < view->face_count; ++f) left += at[f] == 1;
    free(at);
    return left != 0;
}

static void check_vertices(const carom_mesh_view *view, const carom_numbers *vertices) {
    for (uint32_t v = 0; v < view->vertex_count; ++v) {
        bool on_edge = false;
        for (uint32_t w = 0; w < view->vertex_count && !on_edge; ++w)
            on_edge = w != v && count_kept(view, v, w) > 2;
        bool listed = is_in(vertices->data, vertices->count, v);
        assert_true(listed == (!on_edge && touches_only(view, v)));
    }
}

static bool is_collapsed(const uint32_t *t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

/* Whether two faces agree along the first edge with two sides: 1, differ: -1, have none: 0. */
static int relation(const carom_mesh_view *view, uint64_t f, uint64_t g) {
    if (is_collapsed(view->corners + 3 * f) || is_collapsed(view->corners + 3 * g)) return 0;
    for (uint64_t c = 3 * f; c < 3 * f + 3; ++c)
        for (uint64_t d = 3 * g; d < 3 * g + 3; ++d) {
            uint32_t a = view->corners[c], b = view->corners[c % 3 == 2 ? c - 2 : c + 1];
            uint32_t x = view->corners[d], y = view->corners[d % 3 == 2 ? d - 2 : d + 1];
            if (a == b || !((a == x && b == y) || (a == y && b == x))) continue;
            if (count_kept(view, a, b) == 2) return a == x ? -1 : 1;
        }
    return 0;
}

/* Colours each set by flooding; faces of the rarer colour are those that are listed. */
static void check_flipped(const carom_mesh_view *view, const carom_numbers *faces,
                          uint64_t twisted) {
    uint64_t n = view->face_count, found = 0, contradictions = 0;
    int *colour = repair_take(n, sizeof(*colour));
    uint64_t *set = repair_take(n, sizeof(*set));
    for (uint64_t root = 0; root < n; ++root) {
        uint64_t sizes[2] = {0, 0};
        bool good = true;
        if (colour[root] != 0) continue;
        colour[root] = 1;
        set[root] = root + 1;
        for (bool more = true; more;) {
            more = false;
            for (uint64_t f = 0; f < n; ++f)
                for (uint64_t g = 0; g < n && set[f] == root + 1; ++g) {
                    int r = f != g ? relation(view, f, g) : 0;
                    if (r == 0) continue;
                    if (colour[g] == 0)
                        colour[g] = r * colour[f], set[g] = root + 1, more = true;
                    else
                        good = good && colour[g] == r * colour[f];
                }
        }
        for (uint64_t f = 0; f < n; ++f)
            if (set[f] == root + 1) ++sizes[colour[f] == 1 ? 0 : 1];
        int rare = sizes[1] <= sizes[0] ? -1 : 1;
        contradictions += !good;
        for (uint64_t f = 0; f < n; ++f)
            if (set[f] == root + 1) {
                bool listed = is_in(faces->data, faces->count, (uint32_t)f);
                assert_true(listed == (good && colour[f] == rare));
                found += listed;
            }
    }
    assert_true(found == faces->count && contradictions == twisted);
    free(colour);
    free(set);
}

void repair_check_lists(carom_context *context, const carom_mesh_view *view) {
    carom_pairs edges = {0};
    carom_numbers vertices = {0}, faces = {0};
    uint64_t twisted;
    assert_true(view->offsets == NULL);
    assert_ok(context, carom_repair_list_edges(context, view, &edges));
    assert_ok(context, carom_repair_list_vertices(context, view, &vertices));
    assert_ok(context, carom_repair_list_flipped(context, view, &faces, &twisted));
    edge_list list = {view, &edges, 0};
    each_edge(view, check_edge, &list);
    assert_true(list.count == edges.count);
    check_vertices(view, &vertices);
    check_flipped(view, &faces, twisted);
    carom_pairs_free(&edges);
    carom_numbers_free(&vertices);
    carom_numbers_free(&faces);
}
