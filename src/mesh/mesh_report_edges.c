/* SPDX-License-Identifier: MIT */
/* Edges and shells.
 *
 * Edges: every side is put into a list by its lower vertex and its direction (count, scan, fill).
 * Each short list is sorted by the other vertex, so that the sides of one edge are adjacent.
 * Threads fill the lists in any order; sorting makes the result deterministic. Two sides of one
 * face that run in both directions along an edge enclose no area there (a collapsed triangle, a
 * slit to a hole) and cancel.
 *
 * Shells: lock-free union-find over faces (Anderson, Woll 1991). Invariant: a root may only become
 * the child of a lower root. So there are no cycles, and the final roots are the lowest faces of
 * the shells, whatever the order of the unions. */
#include "base/item.h"
#include "base/scan.h"
#include "mesh/mesh_report.h"

#define MESH_EDGES_FACES_PER_RANGE ((uint64_t)1 << 12)
#define NO_FACE                    UINT32_MAX
#define NO_EDGE                    UINT64_MAX

/* The first edge of each kind is stored as low << 32 + high, so that the minimum over all
 * shares is the first; NO_EDGE: none. */
typedef struct mesh_report_edges_share {
    uint64_t edges, open, nonmanifold, inconsistent, unbalanced;
    uint64_t first_open, first_nonmanifold, first_inconsistent;
} mesh_report_edges_share;

typedef struct edges {
    const carom_mesh_view *view;
    uint32_t *starts;          /* first side of list 2 v + backward; after filling, its end */
    _Atomic uint32_t *cursors; /* the same while counting and filling */
    uint64_t *sides;           /* other vertex << 32 | face */
    _Atomic uint32_t *parents;
    _Atomic uint8_t *has_edge; /* per face: some side was not cancelled */
    mesh_report_edges_share *shares;
} edges;

/* ---- Shells ---------------------------------------------------------------------------------- */

static uint32_t find_root(_Atomic uint32_t *parents, uint32_t face) {
    for (;;) {
        uint32_t parent = atomic_load_explicit(&parents[face], memory_order_relaxed);
        if (parent == face) return face;
        uint32_t above = atomic_load_explicit(&parents[parent], memory_order_relaxed);
        if (above == parent) return parent;
        /* Path halving. If another thread was faster, the failed exchange does no harm. */
        atomic_compare_exchange_weak_explicit(&parents[face], &parent, above, memory_order_relaxed,
                                              memory_order_relaxed);
        face = above;
    }
}

static void mesh_report_edges_join(_Atomic uint32_t *parents, uint32_t a, uint32_t b) {
    for (;;) {
        a = find_root(parents, a);
        b = find_root(parents, b);
        if (a == b) return;
        uint32_t low = CAROM_MIN(a, b), high = CAROM_MAX(a, b), expected = high;
        if (atomic_compare_exchange_strong_explicit(&parents[high], &expected, low,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

/* ---- Lists of sides -------------------------------------------------------------------------- */

/* The index of the list for a side from a to b. */
static uint64_t list_of(uint32_t a, uint32_t b) {
    return a < b ? 2 * (uint64_t)a : 2 * (uint64_t)b + 1;
}

/* Counts the sides of each list, or writes them to their positions. */
static inline carom_status list_sides(edges *e, carom_range range, bool write) {
    for (uint64_t f = range.begin; f < range.end; ++f) {
        uint64_t begin = carom_mesh_offset(e->view, f), end = carom_mesh_offset(e->view, f + 1);
        uint32_t a = e->view->corners[end - 1];
        for (uint64_t i = begin; i < end; ++i) {
            uint32_t b = e->view->corners[i];
            if (a != b) {
                uint32_t at =
                    atomic_fetch_add_explicit(&e->cursors[list_of(a, b)], 1, memory_order_relaxed);
                if (write) e->sides[at] = (uint64_t)CAROM_MAX(a, b) << 32 | f;
            }
            a = b;
        }
    }
    return CAROM_OK;
}

static carom_status count_sides(void *argument, carom_range range) {
    return list_sides(argument, range, false);
}

static carom_status fill_sides(void *argument, carom_range range) {
    return list_sides(argument, range, true);
}

/* ---- Edges from lists ------------------------------------------------------------------------ */

static void mesh_report_edges_sift_down(uint64_t *heap, uint64_t root, uint64_t count) {
    uint64_t word = heap[root];
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && heap[child] < heap[child + 1]) ++child;
        if (heap[child] <= word) break;
        heap[root] = heap[child];
    }
    heap[root] = word;
}

static void sort_list(uint64_t *words, uint64_t count) {
    if (count <= 32) {
        for (uint64_t i = 1; i < count; ++i) {
            uint64_t word = words[i], k = i;
            for (; k > 0 && words[k - 1] > word; --k) words[k] = words[k - 1];
            words[k] = word;
        }
        return;
    }
    for (uint64_t i = count / 2; i-- > 0;) mesh_report_edges_sift_down(words, i, count);
    for (uint64_t end = count; end-- > 1;) {
        uint64_t last = words[0];
        words[0] = words[end];
        words[end] = last;
        mesh_report_edges_sift_down(words, 0, end);
    }
}

static void note_edge(mesh_report_edges_share *share, uint64_t edge, uint64_t forward,
                      uint64_t backward) {
    uint64_t sides = forward + backward;
    uint64_t excess = forward > backward ? forward - backward : backward - forward;
    ++share->edges;
    share->unbalanced += excess != 0;
    if (sides == 1) {
        ++share->open;
        share->first_open = CAROM_MIN(edge, share->first_open);
    }
    if (sides > 2) {
        ++share->nonmanifold;
        share->first_nonmanifold = CAROM_MIN(edge, share->first_nonmanifold);
    }
    if (excess >= 2) {
        ++share->inconsistent;
        share->first_inconsistent = CAROM_MIN(edge, share->first_inconsistent);
    }
}

static bool ends(const edges *e, uint64_t at, uint64_t end, uint64_t other) {
    return at == end || e->sides[at] >> 32 != other;
}

static void visit_vertex(edges *e, mesh_report_edges_share *share, uint64_t vertex) {
    uint64_t list = 2 * vertex;
    uint64_t a = list == 0 ? 0 : e->starts[list - 1], a_end = e->starts[list];
    uint64_t b = a_end, b_end = e->starts[list + 1];
    sort_list(e->sides + a, a_end - a);
    sort_list(e->sides + b, b_end - b);
    while (a < a_end || b < b_end) {
        uint64_t other = UINT32_MAX, forward = 0, backward = 0;
        if (a < a_end) other = e->sides[a] >> 32;
        if (b < b_end) other = CAROM_MIN(e->sides[b] >> 32, other);
        uint32_t first = NO_FACE;
        while (!(ends(e, a, a_end, other) && ends(e, b, b_end, other))) {
            uint64_t x = ends(e, a, a_end, other) ? UINT64_MAX : e->sides[a];
            uint64_t y = ends(e, b, b_end, other) ? UINT64_MAX : e->sides[b];
            a += x <= y;
            b += y <= x;
            if (x == y) continue; /* two sides of one face, opposite directions: cancel */
            forward += x < y;
            backward += y < x;
            uint32_t face = (uint32_t)CAROM_MIN(x, y);
            atomic_store_explicit(&e->has_edge[face], 1, memory_order_relaxed);
            if (first == NO_FACE) first = face;
            mesh_report_edges_join(e->parents, first, face);
        }
        if (first != NO_FACE) note_edge(share, vertex << 32 | other, forward, backward);
    }
}

static carom_status mesh_report_edges_visit_vertices(void *argument, carom_range range) {
    edges *e = argument;
    mesh_report_edges_share share = e->shares[range.worker];
    for (uint64_t i = range.begin; i < range.end; ++i) visit_vertex(e, &share, i);
    e->shares[range.worker] = share;
    return CAROM_OK;
}

static carom_status find_edges(carom_context *context, edges *e) {
    uint64_t lists = 2 * e->view->vertex_count, faces = e->view->face_count;
    uint64_t grain = carom_grain(context, faces, MESH_EDGES_FACES_PER_RANGE);
    for (uint64_t i = 0; i < lists; ++i) atomic_init(&e->cursors[i], 0);
    for (uint64_t i = 0; i < faces; ++i) {
        atomic_init(&e->parents[i], (uint32_t)i);
        atomic_init(&e->has_edge[i], 0);
    }
    CAROM_TRY(carom_parallel_for(context, faces, grain, count_sides, e));
    for (uint64_t i = 0; i < lists; ++i) e->starts[i] = atomic_load(&e->cursors[i]);
    CAROM_TRY(carom_scan_u32(context, e->starts, lists, e->starts));
    for (uint64_t i = 0; i < lists; ++i) atomic_store(&e->cursors[i], e->starts[i]);
    CAROM_TRY(carom_parallel_for(context, faces, grain, fill_sides, e));
    for (uint64_t i = 0; i < lists; ++i) e->starts[i] = atomic_load(&e->cursors[i]);
    return carom_parallel_for(
        context, e->view->vertex_count,
        carom_grain(context, e->view->vertex_count, MESH_EDGES_FACES_PER_RANGE),
        mesh_report_edges_visit_vertices, e);
}

static void split_edge(uint64_t edge, uint32_t vertices[2]) {
    vertices[0] = edge == NO_EDGE ? CAROM_NONE : (uint32_t)(edge >> 32);
    vertices[1] = edge == NO_EDGE ? CAROM_NONE : (uint32_t)edge;
}

static void mesh_report_edges_add_up(const edges *e, uint32_t threads, carom_mesh_report *report) {
    mesh_report_edges_share total = e->shares[0];
    for (uint32_t i = 1; i < threads; ++i) {
        const mesh_report_edges_share *share = &e->shares[i];
        total.edges += share->edges;
        total.open += share->open;
        total.nonmanifold += share->nonmanifold;
        total.inconsistent += share->inconsistent;
        total.unbalanced += share->unbalanced;
        total.first_open = CAROM_MIN(share->first_open, total.first_open);
        total.first_nonmanifold = CAROM_MIN(share->first_nonmanifold, total.first_nonmanifold);
        total.first_inconsistent = CAROM_MIN(share->first_inconsistent, total.first_inconsistent);
    }
    report->edges = total.edges;
    report->open_edges = total.open;
    report->nonmanifold_edges = total.nonmanifold;
    report->inconsistent_edges = total.inconsistent;
    report->oriented = total.inconsistent == 0;
    report->balanced = total.unbalanced == 0;
    report->closed = report->balanced && total.nonmanifold == 0 && total.edges != 0;
    split_edge(total.first_open, report->first_open_edge);
    split_edge(total.first_nonmanifold, report->first_nonmanifold_edge);
    split_edge(total.first_inconsistent, report->first_inconsistent_edge);
    for (uint64_t f = 0; f < e->view->face_count; ++f)
        report->shells += atomic_load(&e->parents[f]) == f && atomic_load(&e->has_edge[f]) != 0;
}

carom_status carom_report_edges(carom_context *context, const carom_mesh_view *view,
                                carom_mesh_report *report) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t corners = carom_mesh_corner_count(view), lists = 2 * view->vertex_count;
    edges e = {.view = view};
    e.starts = CAROM_ARENA_TAKE(scratch, uint32_t, lists + 1);
    e.cursors = CAROM_ARENA_TAKE(scratch, _Atomic uint32_t, lists);
    e.sides = CAROM_ARENA_TAKE(scratch, uint64_t, corners);
    e.parents = CAROM_ARENA_TAKE(scratch, _Atomic uint32_t, view->face_count);
    e.has_edge = CAROM_ARENA_TAKE(scratch, _Atomic uint8_t, view->face_count);
    e.shares = CAROM_ARENA_TAKE(scratch, mesh_report_edges_share, context->threads);
    if (e.starts == NULL || e.cursors == NULL || e.sides == NULL || e.parents == NULL ||
        e.has_edge == NULL || e.shares == NULL)
        return carom_fail_memory(context, 8 * lists + 8 * corners, "the edges of a mesh");
    for (uint32_t i = 0; i < context->threads; ++i)
        e.shares[i] = (mesh_report_edges_share){
            .first_open = NO_EDGE, .first_nonmanifold = NO_EDGE, .first_inconsistent = NO_EDGE};
    CAROM_TRY(find_edges(context, &e));
    mesh_report_edges_add_up(&e, context->threads, report);
    return CAROM_OK;
}
