/* SPDX-License-Identifier: MIT */
/* Exact welding: vertices are sorted by a hash of their coordinates' bits, so that equal ones lie
 * in one run; a run is then sorted by the bits themselves. The radix sort is stable: a run begins
 * with its lowest vertex, and most runs (all equal) are in order already. A hash table would be
 * read at random places for every vertex; the sort streams. */
#include "base/item.h"
#include "base/scan.h"
#include "base/sort.h"
#include "mesh/room.h"

#define LEAST_PART ((uint64_t)1 << 13)

/* Coordinates as words that are equal when the coordinates are: -0 becomes 0. */
typedef struct point {
    uint64_t word[3];
} point;

typedef struct weld {
    carom_context *context;
    const carom_mesh_view *view;
    uint32_t *hashes;   /* sorted, with ... */
    uint32_t *order;    /* ... the vertices they belong to */
    uint32_t *first;    /* of each vertex: the lowest equal one */
    uint32_t *is_first; /* 0 or 1, then the new number */
    uint32_t *number;
    carom_mesh *mesh;
} weld;

static point read_point(const carom_mesh_view *view, uint64_t vertex) {
    const char *at = (const char *)view->positions + vertex * carom_mesh_stride(view);
    point p;
    if (view->scalar == CAROM_FLOAT32) {
        uint32_t bits[3];
        memcpy(bits, at, sizeof(bits));
        for (int i = 0; i < 3; ++i) p.word[i] = bits[i] == UINT32_C(1) << 31 ? 0 : bits[i];
    } else {
        memcpy(p.word, at, sizeof(p.word));
        for (int i = 0; i < 3; ++i)
            if (p.word[i] == UINT64_C(1) << 63) p.word[i] = 0;
    }
    return p;
}

static int compare(point a, point b) {
    for (int i = 0; i < 3; ++i)
        if (a.word[i] != b.word[i]) return a.word[i] < b.word[i] ? -1 : 1;
    return 0;
}

/* splitmix64's finaliser over the three words; the top half is the best mixed. */
static uint32_t hash_point(point p) {
    uint64_t z = 0;
    for (int i = 0; i < 3; ++i) {
        z = (z ^ p.word[i]) + UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(z >> 32);
}

static carom_status hash_range(void *argument, carom_range range) {
    weld *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        w->hashes[i] = hash_point(read_point(w->view, i));
        w->order[i] = (uint32_t)i;
    }
    return CAROM_OK;
}

/* ---- runs of one hash ------------------------------------------------------------------------ */

static bool is_before(const weld *w, uint32_t a, uint32_t b) {
    int order = compare(read_point(w->view, a), read_point(w->view, b));
    return order < 0 || (order == 0 && a < b);
}

static void sift_down(const weld *w, uint32_t *heap, uint64_t root, uint64_t count) {
    for (;;) {
        uint64_t child = 2 * root + 1;
        if (child >= count) return;
        if (child + 1 < count && is_before(w, heap[child], heap[child + 1])) ++child;
        if (!is_before(w, heap[root], heap[child])) return;
        uint32_t vertex = heap[root];
        heap[root] = heap[child];
        heap[child] = vertex;
        root = child;
    }
}

/* Heap sort, as a run that is long and mixed means that someone looked for collisions. */
static void sort_run(const weld *w, uint32_t *run, uint64_t count) {
    bool sorted = true;
    for (uint64_t i = 1; i < count && sorted; ++i) sorted = is_before(w, run[i - 1], run[i]);
    if (sorted) return;
    for (uint64_t i = count / 2; i-- > 0;) sift_down(w, run, i, count);
    for (uint64_t end = count; end-- > 1;) {
        uint32_t last = run[0];
        run[0] = run[end];
        run[end] = last;
        sift_down(w, run, 0, end);
    }
}

static void weld_run(weld *w, uint32_t *run, uint64_t count) {
    if (count > 1) sort_run(w, run, count);
    uint32_t first = run[0];
    point p = read_point(w->view, first);
    for (uint64_t i = 0; i < count; ++i) {
        point q = read_point(w->view, run[i]);
        if (compare(p, q) != 0) {
            first = run[i];
            p = q;
        }
        w->first[run[i]] = first;
        w->is_first[run[i]] = run[i] == first;
    }
}

/* A range takes the runs that begin in it. */
static carom_status weld_range(void *argument, carom_range range) {
    weld *w = argument;
    uint64_t i = range.begin, count = w->view->vertex_count;
    while (i < range.end && i > 0 && w->hashes[i] == w->hashes[i - 1]) ++i;
    while (i < range.end) {
        uint64_t end = i + 1;
        while (end < count && w->hashes[end] == w->hashes[i]) ++end;
        weld_run(w, w->order + i, end - i);
        i = end;
    }
    return CAROM_OK;
}

/* ---- the new mesh ---------------------------------------------------------------------------- */

static carom_status copy_vertices(void *argument, carom_range range) {
    weld *w = argument;
    uint64_t size = 3 * carom_scalar_size(w->view->scalar), stride = carom_mesh_stride(w->view);
    for (uint64_t i = range.begin; i < range.end; ++i)
        if (w->first[i] == i)
            memcpy((char *)w->mesh->positions + w->number[i] * size,
                   (const char *)w->view->positions + i * stride, size);
    return CAROM_OK;
}

static carom_status copy_corners(void *argument, carom_range range) {
    weld *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        w->mesh->corners[i] = w->number[w->first[w->view->corners[i]]];
    return CAROM_OK;
}

static carom_status fill(weld *w) {
    const carom_mesh_view *view = w->view;
    uint64_t corners = carom_mesh_corner_count(view);
    if (view->offsets != NULL)
        memcpy(w->mesh->offsets, view->offsets, (view->face_count + 1) * sizeof(uint64_t));
    CAROM_TRY(carom_parallel_for(w->context, view->vertex_count,
                                 carom_grain(w->context, view->vertex_count, LEAST_PART),
                                 copy_vertices, w));
    return carom_parallel_for(w->context, corners, carom_grain(w->context, corners, LEAST_PART),
                              copy_corners, w);
}

static carom_status run(weld *w, carom_mesh **mesh) {
    carom_context *context = w->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = w->view->vertex_count, grain = carom_grain(context, count, LEAST_PART);
    w->hashes = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    w->order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    w->first = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    w->is_first = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1);
    if (w->hashes == NULL || w->order == NULL || w->first == NULL || w->is_first == NULL)
        return carom_fail_memory(context, 16 * count, "welding");
    CAROM_TRY(carom_parallel_for(context, count, grain, hash_range, w));
    CAROM_TRY(carom_sort_keys(context, w->hashes, w->order, count));
    CAROM_TRY(carom_parallel_for(context, count, grain, weld_range, w));
    w->number = w->is_first;
    CAROM_TRY(carom_scan_u32(context, w->is_first, count, w->number));
    carom_mesh_room room = {.scalar = w->view->scalar,
                            .vertices = w->number[count],
                            .faces = w->view->face_count,
                            .corners = carom_mesh_corner_count(w->view),
                            .polygons = w->view->offsets != NULL};
    CAROM_TRY(carom_mesh_make_room(context, &room, &w->mesh));
    carom_status status = fill(w);
    if (status != CAROM_OK) {
        carom_mesh_destroy(w->mesh);
        return status;
    }
    *mesh = w->mesh;
    return CAROM_OK;
}

carom_status carom_mesh_weld(carom_context *context, const carom_mesh_view *view,
                             carom_mesh **mesh) {
    CAROM_REQUIRE(mesh != NULL, "the place for the mesh is NULL");
    *mesh = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    weld w = {.context = context, .view = view};
    carom_arena_mark mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_status status = run(&w, mesh);
    carom_arena_rewind(carom_scratch(context, 0), mark);
    return status;
}
