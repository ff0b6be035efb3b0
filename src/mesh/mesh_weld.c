/* SPDX-License-Identifier: MIT */
/* Exact welding: a hash table of the vertices seen so far, filled in file order, so that the first
 * of several equal vertices has the lowest index. In most files equal vertices are near one
 * another; then the slot and the coordinates of the first are still in the cache. Sorting by hash
 * would lose this locality.
 *
 * Threads divide the work by hash: each handles the vertices whose hash is assigned to it, again in
 * file order, with a table of its own. The result depends neither on the number of threads nor on
 * the hash, whose seed is an address so that no file can force collisions.
 *
 * Welding by parts gives each part vertices of its own first, and then takes the part of a vertex
 * for a fourth coordinate. */
#include <inttypes.h>

#include "base/item.h"
#include "base/progress.h"
#include "base/scan.h"
#include "mesh/mesh_allocation.h"

#define MESH_WELD_VERTICES_PER_RANGE ((uint64_t)1 << 13)
#define EMPTY                        UINT32_MAX /* no vertex has this index */
#define MESH_WELD_PREFETCH_VERTICES  16         /* vertices whose slots are prefetched */
#define OWN_BETWEEN_LOOKS            16384u

/* Coordinates as words that are equal when the coordinates are: -0 becomes 0. */
typedef struct mesh_weld_point {
    uint64_t word[3];
} mesh_weld_point;

typedef struct weld {
    carom_context *context;
    const carom_mesh_view *view;
    const uint32_t *part_of; /* per vertex; NULL: parts do not matter */
    const uint32_t *origin;  /* per vertex after the first `given`: the one it is a copy of */
    uint64_t given;
    uint64_t seed;
    uint32_t shares;  /* number of tables, a power of two */
    uint32_t *hashes; /* per vertex */
    uint32_t *first;  /* per vertex: the lowest equal one; the caller's, or NULL: scratch */
    uint32_t *index;  /* 1 for the first of equal vertices, else 0; then the new index */
    carom_mesh *mesh;
} weld;

/* Open addressing, at most half full, doubled when it would be more. */
typedef struct mesh_weld_slot {
    uint32_t hash, vertex;
} mesh_weld_slot;

typedef struct mesh_weld_table {
    mesh_weld_slot *slots;
    uint64_t size, count;
} mesh_weld_table;

static inline mesh_weld_point read_point(const carom_mesh_view *view, uint64_t vertex) {
    const void *at = carom_mesh_vertex(view, vertex);
    mesh_weld_point p;
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

static bool mesh_weld_are_equal(mesh_weld_point a, mesh_weld_point b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2];
}

/* The finaliser of splitmix64 over the three words; its upper half is mixed best. */
static uint32_t hash_point(mesh_weld_point p, uint64_t seed) {
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
        w->hashes[i] = hash_point(read_point(w->view, i),
                                  w->part_of != NULL ? w->seed + w->part_of[i] : w->seed);
    carom_progress_add(w->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* ---- Hash tables ----------------------------------------------------------------------------- */

static bool make_table(mesh_weld_table *t, carom_arena *scratch, uint64_t size) {
    t->slots = CAROM_ARENA_TAKE(scratch, mesh_weld_slot, size);
    t->size = size;
    if (t->slots == NULL) return false;
    memset(t->slots, 0xFF, size * sizeof(*t->slots)); /* all EMPTY */
    return true;
}

/* The low bits select the table, the high bits the slot. */
static uint64_t mesh_weld_slot_of(const mesh_weld_table *t, uint32_t hash) {
    CAROM_ASSERT(t->size != 0 && t->size <= UINT64_C(1) << 32);
    return (uint64_t)hash * t->size >> 32;
}

static uint64_t slot_after(const mesh_weld_table *t, uint64_t slot) {
    return slot + 1 < t->size ? slot + 1 : 0;
}

static bool double_table(mesh_weld_table *t, carom_arena *scratch) {
    mesh_weld_table old = *t;
    if (!make_table(t, scratch, 2 * old.size)) return false;
    for (uint64_t i = 0; i < old.size; ++i) {
        if (old.slots[i].vertex == EMPTY) continue;
        uint64_t slot = mesh_weld_slot_of(t, old.slots[i].hash);
        while (t->slots[slot].vertex != EMPTY) slot = slot_after(t, slot);
        t->slots[slot] = old.slots[i];
        CAROM_ASSERT(slot < t->size);
    }
    return true;
}

static uint32_t find_or_add(const weld *w, mesh_weld_table *t, uint32_t hash, uint32_t vertex) {
    const carom_mesh_view *view = w->view;
    mesh_weld_point p = read_point(view, vertex);
    for (uint64_t slot = mesh_weld_slot_of(t, hash);; slot = slot_after(t, slot)) {
        mesh_weld_slot seen = t->slots[slot];
        if (seen.vertex == EMPTY) {
            CAROM_ASSERT(2 * t->count < t->size); /* a free slot is always found */
            t->slots[slot] = (mesh_weld_slot){hash, vertex};
            ++t->count;
            return vertex;
        }
        if (seen.hash == hash && mesh_weld_are_equal(read_point(view, seen.vertex), p) &&
            (w->part_of == NULL || w->part_of[seen.vertex] == w->part_of[vertex]))
            return seen.vertex;
    }
}

#define WELD_FIRST_TABLE 1024 /* entries at first; it grows */

static carom_status weld_share(weld *w, uint32_t share, uint32_t worker, carom_arena *scratch) {
    mesh_weld_table t = {.count = 0};
    uint64_t count = w->view->vertex_count, own = 0;
    if (!make_table(&t, scratch, WELD_FIRST_TABLE)) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i) {
        if (i + MESH_WELD_PREFETCH_VERTICES < count)
            __builtin_prefetch(
                &t.slots[mesh_weld_slot_of(&t, w->hashes[i + MESH_WELD_PREFETCH_VERTICES])]);
        if ((w->hashes[i] & (w->shares - 1)) != share) continue;
        if (2 * t.count >= t.size && !double_table(&t, scratch)) return CAROM_NO_MEMORY;
        w->first[i] = find_or_add(w, &t, w->hashes[i], (uint32_t)i);
        w->index[i] = w->first[i] == i;
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
            memcpy((char *)w->mesh->positions + w->index[i] * size,
                   (const char *)w->view->positions + i * stride, size);
    return CAROM_OK;
}

static carom_status mesh_weld_copy_corners(void *argument, carom_range range) {
    weld *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        w->mesh->corners[i] = w->index[w->first[w->view->corners[i]]];
        CAROM_ASSERT(w->mesh->corners[i] < w->mesh->vertex_count);
    }
    carom_progress_add(w->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* A vertex has the properties of the first of those that it was made of. */
static bool mesh_weld_copy_properties(weld *w) {
    if (w->view->property_count == 0) return true;
    carom_arena *scratch = carom_scratch(w->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *from = CAROM_ARENA_TAKE(scratch, uint32_t, w->mesh->vertex_count);
    for (uint64_t i = 0; i < w->view->vertex_count && from != NULL; ++i)
        if (w->first[i] == i)
            from[w->index[i]] = i < w->given ? (uint32_t)i : w->origin[i - w->given];
    bool copied = from != NULL && carom_mesh_copy_properties(w->mesh, w->view, from, NULL);
    carom_arena_rewind(scratch, mark);
    return copied;
}

static carom_status mesh_weld_fill(weld *w) {
    const carom_mesh_view *view = w->view;
    uint64_t corners = carom_mesh_corner_count(view);
    if (view->offsets != NULL)
        memcpy(w->mesh->offsets, view->offsets, (view->face_count + 1) * sizeof(uint64_t));
    if (view->parts != NULL && view->face_count != 0)
        memcpy(w->mesh->parts, view->parts, view->face_count * sizeof(uint32_t));
    if (!carom_mesh_copy_names(w->mesh, view) || !mesh_weld_copy_properties(w))
        return carom_fail_memory(w->context, 32 * view->part_count + 8 * view->vertex_count,
                                 "parts and properties");
    CAROM_TRY(carom_parallel_for(
        w->context, view->vertex_count,
        carom_grain(w->context, view->vertex_count, MESH_WELD_VERTICES_PER_RANGE), copy_vertices,
        w));
    return carom_parallel_for(w->context, corners,
                              carom_grain(w->context, corners, MESH_WELD_VERTICES_PER_RANGE),
                              mesh_weld_copy_corners, w);
}

/* Finds the first of equal vertices, and new indices. */
static carom_status mesh_weld_find_first(weld *w) {
    carom_context *context = w->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = w->view->vertex_count,
             grain = carom_grain(context, count, MESH_WELD_VERTICES_PER_RANGE);
    w->hashes = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (w->first == NULL) w->first = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    w->index = CAROM_ARENA_TAKE(scratch, uint32_t, count + 1);
    if (w->hashes == NULL || w->first == NULL || w->index == NULL)
        return carom_fail_memory(context, 12 * count, "welding");
    w->seed = (uint64_t)(uintptr_t)w->hashes;
    w->shares = 1;
    while (w->shares < context->threads && w->shares * MESH_WELD_VERTICES_PER_RANGE < count)
        w->shares *= 2;
    CAROM_ASSERT((w->shares & (w->shares - 1)) == 0);
    CAROM_TRY(carom_parallel_for(context, count, grain, hash_range, w));
    return carom_parallel_for(context, w->shares, 1, weld_shares, w);
}

static carom_status mesh_weld_vertices(weld *w, carom_mesh **mesh) {
    carom_context *context = w->context;
    uint64_t count = w->view->vertex_count;
    CAROM_TRY(mesh_weld_find_first(w));
    CAROM_TRY(carom_scan_u32(context, w->index, count, w->index));
    CAROM_ASSERT(w->index[count] <= count && (count == 0) == (w->index[count] == 0));
    carom_mesh_allocation space = {.scalar = w->view->scalar,
                                   .vertices = w->index[count],
                                   .faces = w->view->face_count,
                                   .corners = carom_mesh_corner_count(w->view),
                                   .polygons = w->view->offsets != NULL,
                                   .parts = w->view->parts != NULL};
    CAROM_TRY(carom_mesh_reserve(context, &space, &w->mesh));
    carom_status status = mesh_weld_fill(w);
    if (status != CAROM_OK) {
        carom_mesh_destroy(w->mesh);
        return status;
    }
    *mesh = w->mesh;
    return CAROM_OK;
}

static carom_status mesh_weld_run(weld *w, carom_mesh **mesh) {
    carom_context *context = w->context;
    const carom_mesh_view *view = w->view;
    carom_arena_mark mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_progress_begin(context, "welding vertices",
                         2 * view->vertex_count + carom_mesh_corner_count(view));
    carom_status status = mesh_weld_vertices(w, mesh), ended = carom_progress_end(context);
    carom_arena_rewind(carom_scratch(context, 0), mark);
    if (status == CAROM_OK && ended != CAROM_OK) { /* cancelled at the last report */
        carom_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return status == CAROM_OK ? ended : status;
}

carom_status carom_mesh_weld_noting(carom_context *context, const carom_mesh_view *view,
                                    uint32_t *first, carom_mesh **mesh) {
    weld w = {.context = context, .view = view, .given = view->vertex_count, .first = first};
    *mesh = NULL;
    return mesh_weld_run(&w, mesh);
}

carom_status carom_mesh_find_first_equal(carom_context *context, const carom_mesh_view *view,
                                         uint32_t *first) {
    weld w = {.context = context, .view = view, .given = view->vertex_count, .first = first};
    carom_arena_mark mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_progress_begin(context, "welding vertices", 2 * view->vertex_count);
    carom_status status = carom_progress_finish(context, mesh_weld_find_first(&w));
    carom_arena_rewind(carom_scratch(context, 0), mark);
    return status;
}

carom_status carom_mesh_weld(carom_context *context, const carom_mesh_view *view,
                             carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    *mesh = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    return carom_mesh_weld_noting(context, view, NULL, mesh);
}

/* ---- Parts apart ----------------------------------------------------------------------------- */

#define NO_PART UINT32_MAX /* of a vertex that no face uses */

/* Arrays of a view in which every vertex is used by one part. */
typedef struct separation {
    uint32_t *begins;  /* per part and one more: its range in `faces` */
    uint32_t *faces;   /* by part */
    uint32_t *latest;  /* per vertex: the latest part that used it */
    uint32_t *copy;    /* per vertex: its index for that part */
    uint32_t *part_of; /* per vertex and copy */
    uint32_t *origin;  /* per copy: the vertex */
    uint32_t *corners;
} separation;

/* Lists the faces of each part, in their order. */
static void mesh_weld_list_faces(const carom_mesh_view *view, separation *s) {
    memset(s->begins, 0, (view->part_count + 1) * sizeof(*s->begins));
    for (uint64_t f = 0; f < view->face_count; ++f) ++s->begins[view->parts[f] + 1];
    for (uint64_t p = 0; p < view->part_count; ++p) s->begins[p + 1] += s->begins[p];
    for (uint64_t f = 0; f < view->face_count; ++f)
        s->faces[s->begins[view->parts[f]]++] = (uint32_t)f;
    for (uint64_t p = view->part_count; p > 0; --p) s->begins[p] = s->begins[p - 1];
    s->begins[0] = 0;
}

/* Gives the corners of each part vertices of their own; returns the number of copies. part_of and
 * origin have room for one copy per corner. */
static uint64_t separate(const carom_mesh_view *view, separation *s) {
    uint64_t copies = 0;
    memset(s->latest, 0xFF, view->vertex_count * sizeof(*s->latest)); /* all NO_PART */
    memset(s->part_of, 0xFF, view->vertex_count * sizeof(*s->part_of));
    for (uint32_t p = 0; p < view->part_count; ++p)
        for (uint64_t i = s->begins[p]; i < s->begins[p + 1]; ++i) {
            uint64_t end = carom_mesh_offset(view, (uint64_t)s->faces[i] + 1);
            for (uint64_t c = carom_mesh_offset(view, s->faces[i]); c < end; ++c) {
                uint32_t v = view->corners[c];
                if (s->latest[v] == NO_PART) {
                    s->copy[v] = v;
                    s->part_of[v] = p;
                } else if (s->latest[v] != p) {
                    s->copy[v] = (uint32_t)(view->vertex_count + copies);
                    s->part_of[view->vertex_count + copies] = p;
                    s->origin[copies++] = v;
                }
                s->latest[v] = p;
                s->corners[c] = s->copy[v];
            }
        }
    return copies;
}

static carom_status weld_separated(carom_context *context, const carom_mesh_view *view,
                                   carom_arena *scratch, carom_mesh **mesh) {
    uint64_t vertices = view->vertex_count, corners = carom_mesh_corner_count(view);
    uint64_t size = 3 * carom_scalar_size(view->scalar), stride = carom_mesh_stride(view);
    separation s = {.begins = CAROM_ARENA_TAKE(scratch, uint32_t, view->part_count + 1),
                    .faces = CAROM_ARENA_TAKE(scratch, uint32_t, view->face_count),
                    .latest = CAROM_ARENA_TAKE(scratch, uint32_t, vertices),
                    .copy = CAROM_ARENA_TAKE(scratch, uint32_t, vertices),
                    .part_of = CAROM_ARENA_TAKE(scratch, uint32_t, vertices + corners),
                    .origin = CAROM_ARENA_TAKE(scratch, uint32_t, corners),
                    .corners = CAROM_ARENA_TAKE(scratch, uint32_t, corners)};
    if (s.begins == NULL || s.faces == NULL || s.latest == NULL || s.copy == NULL ||
        s.part_of == NULL || s.origin == NULL || s.corners == NULL)
        return carom_fail_memory(context, 12 * (vertices + corners), "welding by parts");
    mesh_weld_list_faces(view, &s);
    uint64_t copies = separate(view, &s);
    carom_mesh_view apart = *view;
    apart.corners = s.corners;
    if (copies != 0) {
        if (vertices + copies > CAROM_MESH_MOST_VERTICES)
            return carom_fail(context, CAROM_TOO_LARGE,
                              "%" PRIu64 " vertices and %" PRIu64
                              " copies for other parts; a mesh has at most %" PRIu32,
                              vertices, copies, CAROM_MESH_MOST_VERTICES);
        double *positions = CAROM_ARENA_TAKE(scratch, double, 3 * (vertices + copies));
        if (positions == NULL)
            return carom_fail_memory(context, (vertices + copies) * size, "welding by parts");
        for (uint64_t i = 0; i < vertices + copies; ++i) {
            uint64_t from = i < vertices ? i : s.origin[i - vertices];
            memcpy((char *)positions + i * size, (const char *)view->positions + from * stride,
                   size);
        }
        apart.positions = positions;
        apart.stride = size;
        apart.vertex_count = vertices + copies;
    }
    weld w = {.context = context,
              .view = &apart,
              .part_of = s.part_of,
              .origin = s.origin,
              .given = vertices};
    return mesh_weld_run(&w, mesh);
}

carom_status carom_mesh_weld_parts(carom_context *context, const carom_mesh_view *view,
                                   carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    *mesh = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    if (view->parts == NULL) return carom_mesh_weld_noting(context, view, NULL, mesh);
    CAROM_TRY(carom_mesh_check_numbers(context, view, "welded by parts"));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = weld_separated(context, view, scratch, mesh);
    carom_arena_rewind(scratch, mark);
    return status;
}
