/* SPDX-License-Identifier: MIT */
/* Exact welding: a hash table of the vertices seen so far, filled in file order, so that the first
 * of several equal vertices has the lowest index. In most files equal vertices are near one
 * another; then the slot and the coordinates of the first are still in the cache. Sorting by hash
 * would lose this locality.
 *
 * Threads divide the work by hash: each handles the vertices whose hash is assigned to it, again in
 * file order, with a table of its own. The result depends neither on the number of threads nor on
 * the hash, whose seed is an address so that no file can force collisions. */
#include "base/item.h"
#include "base/progress.h"
#include "base/scan.h"
#include "mesh/mesh_allocation.h"

#define LEAST_PART        ((uint64_t)1 << 13)
#define EMPTY             UINT32_MAX /* no vertex has this index */
#define AHEAD             16         /* vertices whose slots are prefetched */
#define OWN_BETWEEN_LOOKS 16384u

/* Coordinates as words that are equal when the coordinates are: -0 becomes 0. */
typedef struct point {
    uint64_t word[3];
} point;

typedef struct weld {
    carom_context *context;
    const carom_mesh_view *view;
    uint64_t seed;
    uint32_t shares;  /* number of tables, a power of two */
    uint32_t *hashes; /* per vertex */
    uint32_t *first;  /* per vertex: the lowest equal one */
    uint32_t *number; /* 1 for the first of equal vertices, else 0; then the new index */
    carom_mesh *mesh;
} weld;

/* Open addressing, at most half full, doubled when it would be more. */
typedef struct slot {
    uint32_t hash, vertex;
} slot;

typedef struct table {
    slot *slots;
    uint64_t size, count;
} table;

static inline point read_point(const carom_mesh_view *view, uint64_t vertex) {
    const void *at = carom_mesh_vertex(view, vertex);
    point p;
    if (view->scalar == CAROM_SCALAR_FLOAT32) {
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

static bool are_equal(point a, point b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2];
}

/* The finaliser of splitmix64 over the three words; its upper half is mixed best. */
static uint32_t hash_point(point p, uint64_t seed) {
    uint64_t z = seed;
    for (int i = 0; i < 3; ++i) {
        z = (z ^ p.word[i]) + UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(z >> 32);
}

static carom_status hash_range(void *argument, carom_range range) {
    weld *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        w->hashes[i] = hash_point(read_point(w->view, i), w->seed);
    carom_progress_add(w->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* ---- Hash tables ----------------------------------------------------------------------------- */

static bool make_table(table *t, carom_arena *scratch, uint64_t size) {
    t->slots = CAROM_ARENA_TAKE(scratch, slot, size);
    t->size = size;
    if (t->slots == NULL) return false;
    memset(t->slots, 0xFF, size * sizeof(*t->slots)); /* all EMPTY */
    return true;
}

/* The low bits select the table, the high bits the slot. */
static uint64_t place_of(const table *t, uint32_t hash) {
    CAROM_ASSERT(t->size != 0 && t->size <= UINT64_C(1) << 32);
    return (uint64_t)hash * t->size >> 32;
}

static uint64_t place_after(const table *t, uint64_t place) {
    return place + 1 < t->size ? place + 1 : 0;
}

static bool double_table(table *t, carom_arena *scratch) {
    table old = *t;
    if (!make_table(t, scratch, 2 * old.size)) return false;
    for (uint64_t i = 0; i < old.size; ++i) {
        if (old.slots[i].vertex == EMPTY) continue;
        uint64_t place = place_of(t, old.slots[i].hash);
        while (t->slots[place].vertex != EMPTY) place = place_after(t, place);
        t->slots[place] = old.slots[i];
        CAROM_ASSERT(place < t->size);
    }
    return true;
}

static uint32_t find_or_add(const carom_mesh_view *view, table *t, uint32_t hash, uint32_t vertex) {
    point p = read_point(view, vertex);
    for (uint64_t place = place_of(t, hash);; place = place_after(t, place)) {
        slot seen = t->slots[place];
        if (seen.vertex == EMPTY) {
            CAROM_ASSERT(2 * t->count < t->size); /* a free slot is always found */
            t->slots[place] = (slot){hash, vertex};
            ++t->count;
            return vertex;
        }
        if (seen.hash == hash && are_equal(read_point(view, seen.vertex), p)) return seen.vertex;
    }
}

static carom_status weld_share(weld *w, uint32_t share, uint32_t worker, carom_arena *scratch) {
    table t = {.count = 0};
    uint64_t count = w->view->vertex_count, own = 0;
    if (!make_table(&t, scratch, 1024)) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i) {
        if (i + AHEAD < count) __builtin_prefetch(&t.slots[place_of(&t, w->hashes[i + AHEAD])]);
        if ((w->hashes[i] & (w->shares - 1)) != share) continue;
        if (2 * t.count >= t.size && !double_table(&t, scratch)) return CAROM_NO_MEMORY;
        w->first[i] = find_or_add(w->view, &t, w->hashes[i], (uint32_t)i);
        w->number[i] = w->first[i] == i;
        CAROM_ASSERT(w->first[i] <= i && w->hashes[w->first[i]] == w->hashes[i]);
        if (++own % OWN_BETWEEN_LOOKS != 0) continue;
        carom_progress_add(w->context, worker, OWN_BETWEEN_LOOKS);
        if (carom_progress_cancelled(w->context)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static carom_status weld_shares(void *argument, carom_range range) {
    weld *w = argument;
    carom_arena *scratch = carom_scratch(w->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = weld_share(w, (uint32_t)range.begin, range.worker, scratch);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Welded mesh ----------------------------------------------------------------------------- */

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
    for (uint64_t i = range.begin; i < range.end; ++i) {
        w->mesh->corners[i] = w->number[w->first[w->view->corners[i]]];
        CAROM_ASSERT(w->mesh->corners[i] < w->mesh->vertex_count);
    }
    carom_progress_add(w->context, range.worker, range.end - range.begin);
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
    w->first = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    w->number = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1);
    if (w->hashes == NULL || w->first == NULL || w->number == NULL)
        return carom_fail_memory(context, 12 * count, "welding");
    w->seed = (uint64_t)(uintptr_t)w->hashes;
    w->shares = 1;
    while (w->shares < context->threads && w->shares * LEAST_PART < count) w->shares *= 2;
    CAROM_ASSERT((w->shares & (w->shares - 1)) == 0);
    CAROM_TRY(carom_parallel_for(context, count, grain, hash_range, w));
    CAROM_TRY(carom_parallel_for(context, w->shares, 1, weld_shares, w));
    CAROM_TRY(carom_scan_u32(context, w->number, count, w->number));
    CAROM_ASSERT(w->number[count] <= count && (count == 0) == (w->number[count] == 0));
    carom_mesh_allocation room = {.scalar = w->view->scalar,
                                  .vertices = w->number[count],
                                  .faces = w->view->face_count,
                                  .corners = carom_mesh_corner_count(w->view),
                                  .polygons = w->view->offsets != NULL};
    CAROM_TRY(carom_mesh_reserve(context, &room, &w->mesh));
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
    carom_progress_begin(context, "welding vertices",
                         2 * view->vertex_count + carom_mesh_corner_count(view));
    carom_status status = run(&w, mesh), ended = carom_progress_end(context);
    carom_arena_rewind(carom_scratch(context, 0), mark);
    if (status == CAROM_OK && ended != CAROM_OK) { /* cancelled at the last report */
        carom_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return status == CAROM_OK ? ended : status;
}
