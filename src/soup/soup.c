/* SPDX-License-Identifier: MIT */
/* Creating, changing and destroying a soup: its own copy of a mesh, as triangles.
 *
 * After every change carom_soup_prepare rebuilds all derived data. Nothing is updated
 * incrementally, so a soup after any sequence of changes equals a newly created one.
 *
 * A change that fails has no effect on the mesh. Adding grows all arrays, so a new soup is built
 * beside the old one and replaces it at the end. Updating and removing prepare in place, without
 * allocating. If they fail, positions and faces are as before, but the tree or grid is lost, and
 * `failed` records this until a change succeeds. */
#include "soup/soup.h"

#include "base/names.h"
#include "base/progress.h"
#include "mesh/mesh.h"
#include "soup/soup_pairs.h"

#define TRIANGLE_LIMIT   (UINT32_MAX - 64u)
#define POSITION_PADDING 16u /* bytes after the positions: SIMD loads may read past the last */
/* Bytes per triangle, with the scratch of preparing: a tree has 4 for the item, 12 for the corners
 * and 25.6 for the nodes, and is sorted in 12; the others are measured. */
#define TREE_BYTES      54u
#define RIGID_BYTES     132u
#define GRID_BYTES      120u
#define SOUP_COPY_GRAIN ((uint64_t)1 << 16) /* vertices or triangles: 0.8 MB, some 0.1 ms */

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Copies positions of a mesh, converted to the scalar type. */
static void copy_some(char *to, carom_scalar scalar, const carom_mesh_view *mesh, uint64_t begin,
                      uint64_t end) {
    uint64_t size = 3 * carom_scalar_size(scalar), stride = carom_mesh_stride(mesh);
    const char *from = (const char *)mesh->positions + begin * stride;
    if (mesh->scalar == scalar && stride == size) {
        memcpy(to, from, (end - begin) * size);
    } else if (mesh->scalar == scalar) {
        for (uint64_t i = 0; i < end - begin; ++i) memcpy(to + i * size, from + i * stride, size);
    } else { /* convert to doubles */
        for (uint64_t i = begin; i < end; ++i, to += size) {
            carom_vec3 p = carom_mesh_position(mesh, i);
            memcpy(to, &p, sizeof(p));
        }
    }
}

typedef struct position_copy {
    char *to;
    carom_scalar scalar;
    const carom_mesh_view *mesh;
} position_copy;

static carom_status soup_copy_range(void *argument, carom_range range) {
    const position_copy *copy = argument;
    copy_some(copy->to + range.begin * 3 * carom_scalar_size(copy->scalar), copy->scalar,
              copy->mesh, range.begin, range.end);
    return CAROM_OK;
}

/* Writes the positions of a mesh after the first `at` positions, followed by zero padding. */
static carom_status soup_copy_positions(carom_context *context, void *positions,
                                        carom_scalar scalar, uint64_t at,
                                        const carom_mesh_view *mesh) {
    uint64_t size = 3 * carom_scalar_size(scalar), count = mesh->vertex_count;
    position_copy copy = {(char *)positions + at * size, scalar, mesh};
    CAROM_ASSERT(count == 0 || mesh->scalar == scalar || scalar == CAROM_SCALAR_FLOAT64);
    CAROM_TRY(carom_parallel_for(context, count, SOUP_COPY_GRAIN, soup_copy_range, &copy));
    memset(copy.to + count * size, 0, POSITION_PADDING);
    return CAROM_OK;
}

static uint64_t bytes_for_positions(carom_scalar scalar, uint64_t vertices) {
    return vertices * 3 * carom_scalar_size(scalar) + POSITION_PADDING;
}

static void soup_release_arrays(carom_soup *soup) {
    const carom_allocator *allocator = &soup->allocator;
    carom_bvh_free(&soup->bvh, allocator);
    carom_obb_free(&soup->oriented, allocator);
    carom_soup_grid_free(&soup->cells, allocator);
    carom_soup_device_release(soup);
    CAROM_RELEASE_ALL(allocator, soup->slot_corners, soup->positions, soup->spare, soup->corners,
                      soup->states, soup->faces);
}

/* A mesh as triangles: the mesh itself, or a new one that must be destroyed, with the face of each
 * triangle. */
typedef struct triangles {
    carom_mesh_view view;
    carom_mesh *mesh;
    carom_numbers faces;
} triangles;

static void triangles_free(triangles *t) {
    carom_mesh_destroy(t->mesh);
    carom_numbers_free(&t->faces);
}

static carom_status check_count(carom_context *context, uint64_t count) {
    if (count > TRIANGLE_LIMIT)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "the soup has %llu triangles, at most %u can be numbered; split it",
                          (unsigned long long)count, TRIANGLE_LIMIT);
    return CAROM_OK;
}

static carom_status soup_check_mesh(carom_context *context, const carom_mesh_view *mesh) {
    carom_progress_begin(context, "checking a mesh", 0);
    return carom_progress_finish(context, carom_mesh_check(context, mesh));
}

static carom_status triangles_make(carom_context *context, const carom_mesh_view *mesh, bool fan,
                                   triangles *t) {
    *t = (triangles){.view = *mesh};
    CAROM_TRY(check_count(context, mesh->face_count)); /* before any face is read */
    CAROM_TRY(soup_check_mesh(context, mesh));
    if (mesh->offsets != NULL) {
        carom_mesh_triangulate_def def = {.fan = fan};
        CAROM_TRY(carom_mesh_triangulate(context, mesh, &def, &t->mesh, fan ? NULL : &t->faces));
        CAROM_TRY(carom_mesh_get_view(t->mesh, &t->view));
    }
    return check_count(context, t->view.face_count);
}

/* Allocates uninitialised arrays for the soup's counts. */
static carom_status soup_allocate(carom_context *context, carom_soup *soup, bool with_faces) {
    uint64_t count = soup->triangle_count;
    soup->position_bytes = bytes_for_positions(soup->scalar, soup->vertex_count);
    const carom_allocation arrays[] = {{&soup->positions, soup->position_bytes, 1},
                                       CAROM_ALLOCATION(soup->corners, 3 * count),
                                       CAROM_ALLOCATION(soup->states, count),
                                       CAROM_ALLOCATION(soup->faces, count)};
    if (!carom_allocate_all(&soup->allocator, arrays, with_faces ? 4 : 3))
        return carom_fail_memory(context, soup->position_bytes + count * 17, "a soup");
    CAROM_TRY(carom_touch_pages(context, soup->positions, soup->position_bytes));
    return carom_touch_pages(context, soup->corners, 3 * count * sizeof(*soup->corners));
}

typedef struct triangle_copy {
    const carom_soup *soup;
    const triangles *t;
    carom_soup *grown;
} triangle_copy;

/* Writes a range of the triangles of `grown`: those of the soup, then those of t. */
static carom_status copy_triangles(void *argument, carom_range range) {
    const triangle_copy *copy = argument;
    const carom_soup *soup = copy->soup;
    const triangles *t = copy->t;
    carom_soup *grown = copy->grown;
    uint64_t begin = range.begin, end = range.end;
    uint64_t first = soup->triangle_count, old = CAROM_MAX(CAROM_MIN(end, first), begin);
    uint32_t first_vertex = (uint32_t)soup->vertex_count;
    if (begin < old) {
        memcpy(grown->corners + 3 * begin, soup->corners + 3 * begin,
               (old - begin) * 3 * sizeof(*soup->corners));
        memcpy(grown->states + begin, soup->states + begin, (old - begin) * sizeof(*soup->states));
    }
    for (uint64_t i = 3 * old; i < 3 * end; ++i)
        grown->corners[i] = t->view.corners[i - 3 * first] + first_vertex;
    CAROM_ASSERT(begin <= old && old <= end && end <= grown->triangle_count);
    memset(grown->states + old, 0, end - old);
    if (grown->faces == NULL) return CAROM_OK;
    for (uint64_t i = begin; i < old; ++i) grown->faces[i] = carom_soup_face(soup, (uint32_t)i);
    for (uint64_t i = old; i < end; ++i) {
        uint64_t added = i - first;
        grown->faces[i] =
            soup->face_count + (t->faces.count != 0 ? t->faces.data[added] : (uint32_t)added);
    }
    return CAROM_OK;
}

/* Fills the arrays of `grown` with those of the soup and then those of t, which has `faces` faces.
 * Derived data is not prepared. */
static carom_status soup_append(carom_context *context, const carom_soup *soup, const triangles *t,
                                uint64_t faces, carom_soup *grown) {
    const carom_mesh_view *view = &t->view;
    uint64_t vertices = soup->vertex_count + view->vertex_count;
    uint64_t count = soup->triangle_count + view->face_count;
    if (vertices > CAROM_MESH_MOST_VERTICES || count > TRIANGLE_LIMIT)
        return carom_fail(
            context, CAROM_TOO_LARGE,
            "the soup would have %llu vertices and %llu triangles, too many to number",
            (unsigned long long)vertices, (unsigned long long)count);
    bool with_faces = soup->faces != NULL || t->faces.count != 0;
    grown->scalar = soup->positions == NULL || soup->scalar == view->scalar ? view->scalar
                                                                            : CAROM_SCALAR_FLOAT64;
    grown->vertex_count = vertices;
    grown->triangle_count = (uint32_t)count;
    grown->face_count = soup->face_count + (uint32_t)faces;
    grown->dead_faces = soup->dead_faces;
    CAROM_TRY(soup_allocate(context, grown, with_faces));
    carom_mesh_view old = {
        .positions = soup->positions, .scalar = soup->scalar, .vertex_count = soup->vertex_count};
    CAROM_TRY(soup_copy_positions(context, grown->positions, grown->scalar, 0, &old));
    CAROM_TRY(
        soup_copy_positions(context, grown->positions, grown->scalar, soup->vertex_count, view));
    CAROM_ASSERT(grown->triangle_count == count && grown->vertex_count == vertices);
    triangle_copy copy = {soup, t, grown};
    return carom_parallel_for(context, count, SOUP_COPY_GRAIN, copy_triangles, &copy);
}

/* The bytes of a soup and of the scratch that preparing it takes, about. */
static uint64_t bytes_in_all(const carom_soup *soup) {
    uint64_t each = 3 * sizeof(*soup->corners) + sizeof(*soup->states) +
                    (soup->faces != NULL ? sizeof(*soup->faces) : 0);
    if (soup->method == CAROM_SOUP_METHOD_GRID)
        each += GRID_BYTES;
    else
        each += TREE_BYTES + (soup->rigid ? RIGID_BYTES : 0);
    return soup->position_bytes + soup->triangle_count * each;
}

/* Adds a mesh to the soup, entirely or not at all. */
static carom_status soup_add_mesh(carom_context *context, carom_soup *soup,
                                  const carom_mesh_view *mesh) {
    carom_soup grown = {.allocator = soup->allocator,
                        .backend = soup->backend,
                        .degenerate = soup->degenerate,
                        .method = soup->method,
                        .grid_def = soup->grid_def,
                        .work_budget = soup->work_budget,
                        .fan = soup->fan,
                        .rigid = soup->rigid,
                        .cache = soup->cache};
    triangles t;
    carom_status status = triangles_make(context, mesh, soup->fan, &t);
    if (status == CAROM_OK) {
        uint64_t faces = soup->fan ? t.view.face_count : mesh->face_count;
        carom_progress_begin(context, "copying a mesh", 0);
        status = carom_progress_finish(context, soup_append(context, soup, &t, faces, &grown));
    }
    triangles_free(&t);
    if (status == CAROM_OK) status = carom_soup_prepare(context, &grown);
    if (status == CAROM_NO_MEMORY && grown.triangle_count != 0)
        status = carom_fail_in(context, status, "a soup of %u triangles needs about %llu bytes",
                               grown.triangle_count, (unsigned long long)bytes_in_all(&grown));
    if (status != CAROM_OK) {
        soup_release_arrays(&grown);
        return status;
    }
    soup_release_arrays(soup);
    CAROM_ASSERT(grown.failed == CAROM_OK && grown.triangle_count >= soup->triangle_count);
    *soup = grown;
    return CAROM_OK;
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

static carom_soup_cache *make_cache(const carom_allocator *allocator) {
    carom_soup_cache *cache = carom_allocate(allocator, 1, sizeof(*cache));
    if (cache == NULL) return NULL;
    atomic_init(&cache->balanced, CAROM_SOUP_BALANCED_UNKNOWN);
    atomic_init(&cache->on_cpu, NULL);
    atomic_init(&cache->on_device, NULL);
    return cache;
}

static carom_status create(carom_context *context, carom_backend backend, const carom_soup_def *def,
                           carom_soup **out) {
    carom_soup *soup = carom_allocate(&context->allocator, 1, sizeof(*soup));
    if (soup == NULL) return carom_fail_memory(context, sizeof(*soup), "a soup");
    *soup = (carom_soup){.allocator = context->allocator,
                         .backend = backend,
                         .degenerate = def->degenerate,
                         .method = def->method,
                         .grid_def = def->grid,
                         .work_budget = def->work_budget,
                         .fan = def->fan,
                         .rigid = def->rigid};
    soup->cache = make_cache(&context->allocator);
    carom_status status = soup->cache != NULL
                              ? soup_add_mesh(context, soup, carom_mesh_of_def(def->mesh))
                              : carom_fail_memory(context, sizeof(*soup->cache), "a soup");
    if (status != CAROM_OK) {
        carom_soup_destroy(soup);
        return status;
    }
    *out = soup;
    return CAROM_OK;
}

carom_status carom_soup_create_on_cpu(carom_context *context, const carom_soup_def *def,
                                      carom_soup **out) {
    *out = NULL;
    return create(context, CAROM_BACKEND_CPU, def, out);
}

carom_status carom_soup_create_on_device(carom_context *context, const carom_soup_def *def,
                                         carom_soup **out) {
    *out = NULL;
    CAROM_TRY(carom_soup_device_check_new(context, def));
    return create(context, context->backend, def, out);
}

/* A soup with the faces of another, and space for positions. */
static carom_status create_beside(carom_context *context, const carom_soup *like,
                                  carom_scalar scalar, carom_soup **out) {
    carom_soup *soup = carom_allocate(&like->allocator, 1, sizeof(*soup));
    if (soup == NULL) return carom_fail_memory(context, sizeof(*soup), "a soup");
    *soup = (carom_soup){.allocator = like->allocator,
                         .backend = CAROM_BACKEND_CPU,
                         .degenerate = like->degenerate,
                         .method = like->method,
                         .work_budget = like->work_budget,
                         .fan = like->fan,
                         .rigid = like->rigid,
                         .scalar = scalar,
                         .vertex_count = like->vertex_count,
                         .triangle_count = like->triangle_count,
                         .face_count = like->face_count,
                         .dead_faces = like->dead_faces};
    soup->cache = make_cache(&like->allocator);
    carom_status status = soup->cache != NULL
                              ? soup_allocate(context, soup, like->faces != NULL)
                              : carom_fail_memory(context, sizeof(*soup->cache), "a soup");
    if (status != CAROM_OK) {
        carom_soup_destroy(soup);
        return status;
    }
    memcpy(soup->corners, like->corners, 3 * soup->triangle_count * sizeof(*soup->corners));
    memset(soup->states, 0, soup->triangle_count);
    *out = soup;
    return CAROM_OK;
}

carom_status carom_soup_follow_on_cpu(carom_context *context, const carom_soup *like,
                                      const double *positions, carom_soup **out) {
    CAROM_ASSERT(like->faces == NULL && like->dead_faces == 0 && like->triangle_count != 0);
    if (*out == NULL) CAROM_TRY(create_beside(context, like, CAROM_SCALAR_FLOAT64, out));
    carom_soup *soup = *out;
    const carom_mesh_view points = {.positions = positions, .vertex_count = like->vertex_count};
    CAROM_ASSERT(soup->vertex_count == like->vertex_count);
    atomic_store_explicit(&soup->cache->balanced, CAROM_SOUP_BALANCED_UNKNOWN,
                          memory_order_relaxed);
    soup->degenerate = like->degenerate;
    soup->rigid = true;
    CAROM_TRY(soup_copy_positions(context, soup->positions, soup->scalar, 0, &points));
    soup->failed = like->rigid ? carom_soup_prepare_like(context, soup, like)
                               : carom_soup_prepare(context, soup);
    return soup->failed;
}

void carom_soup_get_written(carom_soup *soup, double **positions, carom_bvh_node **nodes) {
    CAROM_ASSERT(soup->backend == CAROM_BACKEND_CPU && soup->scalar == CAROM_SCALAR_FLOAT64);
    *positions = soup->positions;
    *nodes = soup->bvh.nodes;
}

void carom_soup_begin_written(carom_soup *soup, const double low[3], const double high[3]) {
    atomic_store_explicit(&soup->cache->balanced, CAROM_SOUP_BALANCED_UNKNOWN,
                          memory_order_relaxed);
    carom_soup_choose_frame(soup, low, high);
    carom_obb_free(&soup->oriented, &soup->allocator);
    soup->rigid = false;
    memset(soup->states, 0, soup->triangle_count);
    soup->degenerate_faces = 0;
    soup->failed = CAROM_OK;
}

carom_status carom_soup_create(carom_context *context, const carom_soup_def *def,
                               carom_soup **out) {
    static const carom_soup_def defaults;
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(out, "soup");
    *out = NULL;
    if (def == NULL) def = &defaults;
    CAROM_REQUIRE_KNOWN(def->degenerate, CAROM_SOUP_DEGENERATE_COUNT,
                        "treatment of degenerate faces");
    CAROM_REQUIRE_KNOWN(def->method, CAROM_SOUP_METHOD_COUNT, "method");
    CAROM_TRY(carom_grid_check(context, &def->grid));
    if (carom_soup_on_device(context)) CAROM_TRY(carom_soup_device_check_new(context, def));
    return create(context, context->backend, def, out);
}

void carom_soup_destroy(carom_soup *soup) {
    if (soup == NULL) return;
    carom_allocator allocator = soup->allocator;
    if (soup->cache != NULL) carom_soup_forget_copies(soup);
    soup_release_arrays(soup);
    carom_release(&allocator, soup->cache);
    carom_release(&allocator, soup);
}

/* ---- The same soup on the CPU ---------------------------------------------------------------- */

/* A new soup on the CPU with the faces of another, and its positions or others. */
static carom_status copy_on_cpu(carom_context *context, const carom_soup *like,
                                const void *positions, carom_soup **out) {
    carom_soup *soup;
    uint64_t bytes = 3 * carom_scalar_size(like->scalar) * like->vertex_count;
    CAROM_TRY(create_beside(context, like, like->scalar, &soup));
    CAROM_ASSERT(bytes + POSITION_PADDING == soup->position_bytes);
    if (bytes != 0) memcpy(soup->positions, positions, bytes);
    memset((char *)soup->positions + bytes, 0, POSITION_PADDING);
    if (soup->triangle_count != 0) memcpy(soup->states, like->states, soup->triangle_count);
    if (like->faces != NULL)
        memcpy(soup->faces, like->faces, soup->triangle_count * sizeof(*soup->faces));
    carom_status status = carom_soup_prepare(context, soup);
    if (status != CAROM_OK) {
        carom_soup_destroy(soup);
        return status;
    }
    *out = soup;
    return CAROM_OK;
}

/* The copy that the soup keeps, whose positions are those of the host. */
static carom_status keep_on_cpu(carom_context *context, const carom_soup *soup,
                                const carom_soup **on_cpu) {
    carom_soup *made, *other = NULL;
    *on_cpu = atomic_load_explicit(&soup->cache->on_cpu, memory_order_acquire);
    if (*on_cpu != NULL) return CAROM_OK;
    CAROM_TRY(copy_on_cpu(context, soup, soup->positions, &made));
    bool first = atomic_compare_exchange_strong_explicit(
        &soup->cache->on_cpu, &other, made, memory_order_acq_rel, memory_order_acquire);
    if (!first) carom_soup_destroy(made);
    *on_cpu = first ? made : other;
    return CAROM_OK;
}

carom_status carom_soup_lend_cpu(carom_context *context, const carom_soup *soup,
                                 const void *positions, carom_soup_loan *loan) {
    *loan = (carom_soup_loan){.soup = soup};
    if (soup->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    if (positions == NULL && !soup->stale) return keep_on_cpu(context, soup, &loan->soup);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_soup_view view = {.positions = positions};
    carom_status status = CAROM_OK;
    if (positions == NULL) status = carom_soup_get_current_view(context, soup, &view);
    if (status == CAROM_OK) status = copy_on_cpu(context, soup, view.positions, &loan->own);
    carom_arena_rewind(scratch, mark);
    loan->soup = loan->own;
    return status;
}

void carom_soup_end_loan(carom_soup_loan *loan) {
    carom_soup_destroy(loan->own);
    *loan = (carom_soup_loan){0};
}

void carom_soup_forget_copies(carom_soup *soup) {
    carom_soup_destroy(atomic_exchange_explicit(&soup->cache->on_cpu, NULL, memory_order_acq_rel));
    carom_soup_device_destroy(
        atomic_exchange_explicit(&soup->cache->on_device, NULL, memory_order_acq_rel));
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Prepares in place and records a failure. */
static carom_status prepare_again(carom_context *context, carom_soup *soup) {
    soup->failed = carom_soup_prepare(context, soup);
    return soup->failed;
}

/* Exchanges the positions with the spare ones. */
static void exchange_positions(carom_soup *soup, carom_scalar *scalar) {
    CAROM_ASSERT(soup->spare != NULL);
    void *positions = soup->positions;
    uint64_t bytes = soup->position_bytes;
    carom_scalar old = soup->scalar;
    soup->positions = soup->spare;
    soup->position_bytes = soup->spare_bytes;
    soup->scalar = *scalar;
    soup->spare = positions;
    soup->spare_bytes = bytes;
    *scalar = old;
}

static carom_status make_spare(carom_context *context, carom_soup *soup, uint64_t bytes) {
    if (bytes <= soup->spare_bytes) return CAROM_OK;
    void *spare = carom_allocate(&soup->allocator, 1, bytes);
    if (spare == NULL) return carom_fail_memory(context, bytes, "the positions of a soup");
    carom_release(&soup->allocator, soup->spare);
    soup->spare = spare;
    CAROM_ASSERT(bytes > soup->spare_bytes);
    soup->spare_bytes = bytes;
    return CAROM_OK;
}

carom_status carom_soup_update(carom_context *context, carom_soup *soup,
                               const carom_mesh_view *mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_INPUT(mesh, "mesh");
    CAROM_TRY(carom_soup_check_backend(context, soup));
    if (mesh->vertex_count != soup->vertex_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the soup has %llu vertices, the update %llu; make a new soup instead",
                          (unsigned long long)soup->vertex_count,
                          (unsigned long long)mesh->vertex_count);
    carom_mesh_view points = *mesh; /* without faces */
    points.corners = NULL;
    points.offsets = NULL;
    points.face_count = 0;
    CAROM_TRY(soup_check_mesh(context, &points));
    CAROM_TRY(make_spare(context, soup, bytes_for_positions(points.scalar, points.vertex_count)));
    carom_progress_begin(context, "copying a mesh", 0);
    CAROM_TRY(carom_progress_finish(
        context, soup_copy_positions(context, soup->spare, points.scalar, 0, &points)));
    exchange_positions(soup, &points.scalar);
    soup->stale = false; /* an update replaces all positions */
    carom_status status = prepare_again(context, soup);
    if (status != CAROM_OK) exchange_positions(soup, &points.scalar);
    return status;
}

carom_status carom_soup_add(carom_context *context, carom_soup *soup, const carom_mesh_view *mesh,
                            uint32_t *first) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_INPUT(mesh, "mesh");
    CAROM_TRY(carom_soup_check_backend(context, soup));
    uint32_t face_count = soup->face_count;
    if (soup->stale) CAROM_TRY(carom_soup_device_fetch(context, soup));
    CAROM_TRY(soup_add_mesh(context, soup, mesh));
    if (first != NULL) *first = face_count;
    return CAROM_OK;
}

/* Sets the bits `on` and clears the bits `off` of the triangles of faces that have all of `if_set`
 * and none of `if_clear`; returns how many such faces there are. */
static uint32_t mark_faces(carom_soup *soup, const uint32_t *faces, uint64_t count, uint8_t if_set,
                           uint8_t if_clear, uint8_t on, uint8_t off) {
    uint32_t marked = 0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_soup_span span = carom_soup_span_of(soup, faces[i]);
        CAROM_ASSERT(span.first < span.end);
        uint8_t state = soup->states[span.first];
        if ((state & if_set) != if_set || (state & if_clear) != 0) continue;
        ++marked;
        for (uint32_t t = span.first; t < span.end; ++t)
            soup->states[t] = (uint8_t)((soup->states[t] | on) & ~off);
    }
    return marked;
}

carom_status carom_soup_remove(carom_context *context, carom_soup *soup, const uint32_t *faces,
                               uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_INPUTS(faces, count, "faces");
    CAROM_TRY(carom_soup_check_backend(context, soup));
    for (uint64_t i = 0; i < count; ++i)
        if (faces[i] >= soup->face_count)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "face %u cannot be removed, the soup has %u", faces[i],
                              soup->face_count);
    const uint8_t leaving = CAROM_SOUP_DEAD | CAROM_SOUP_LEAVING;
    uint32_t died = mark_faces(soup, faces, count, 0, CAROM_SOUP_DEAD, leaving, 0);
    carom_status status = prepare_again(context, soup);
    bool done = status == CAROM_OK;
    (void)mark_faces(soup, faces, count, leaving, 0, 0, done ? CAROM_SOUP_LEAVING : leaving);
    if (done) soup->dead_faces += died;
    CAROM_ASSERT(soup->dead_faces <= soup->face_count);
    return status;
}

carom_status carom_soup_get_info(const carom_soup *soup, carom_soup_info *info) {
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_OUTPUT(info, "info");
    uint64_t bytes =
        sizeof(*soup) + sizeof(*soup->cache) + carom_soup_device_bytes_of(soup->device) +
        carom_bvh_bytes(&soup->bvh) + carom_obb_bytes(&soup->oriented) + soup->position_bytes +
        soup->spare_bytes + soup->triangle_count * (3 * sizeof(uint32_t) + 1) +
        (soup->faces != NULL ? soup->triangle_count * sizeof(uint32_t) : 0) +
        soup->slot_capacity * 3 * sizeof(uint32_t) + carom_grid_bytes(&soup->cells.grid) +
        soup->cells.capacity * (3 * sizeof(uint32_t) + sizeof(carom_ball));
    const carom_soup *on_cpu = atomic_load_explicit(&soup->cache->on_cpu, memory_order_acquire);
    carom_soup_info of_cpu = {0};
    if (on_cpu != NULL) CAROM_TRY(carom_soup_get_info(on_cpu, &of_cpu));
    bytes += of_cpu.bytes + carom_soup_device_bytes_of(atomic_load_explicit(&soup->cache->on_device,
                                                                            memory_order_acquire));
    *info = (carom_soup_info){.faces = soup->face_count,
                              .live = soup->face_count - soup->dead_faces,
                              .triangles = soup->triangle_count,
                              .degenerate_faces = soup->degenerate_faces,
                              .bytes = bytes};
    return CAROM_OK;
}

carom_status carom_soup_check_any(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(carom_context_require_cpu(context, "this query of a soup"));
    return carom_soup_check_on_cpu(context, soup);
}

carom_status carom_soup_check_on_cpu(carom_context *context, const carom_soup *soup) {
    if (soup->backend != CAROM_BACKEND_CPU) {
        CAROM_TRY(carom_context_require_cpu(context, "this query of a soup"));
        CAROM_TRY(carom_soup_check_backend(context, soup));
    }
    if (soup->failed == CAROM_OK) return CAROM_OK;
    return carom_fail(context, soup->failed,
                      "the soup lost its %s when a change of it failed (%s) and has to be changed "
                      "again; removing no faces will do",
                      soup->method == CAROM_SOUP_METHOD_GRID ? "grid" : "tree",
                      carom_status_name(soup->failed));
}

carom_status carom_soup_check_method(carom_context *context, const carom_soup *soup) {
    if (soup->method != CAROM_SOUP_METHOD_GRID) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "a soup made with method GRID has no tree for this query; make it with "
                      "method AUTO or TREE");
}

carom_status carom_soup_check_ready(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(carom_soup_check_method(context, soup));
    return carom_soup_check_any(context, soup);
}

void carom_soup_get_view(const carom_soup *soup, carom_soup_view *view) {
    *view = (carom_soup_view){.positions = soup->positions,
                              .scalar = soup->scalar,
                              .triangle_count = soup->triangle_count,
                              .face_count = soup->face_count,
                              .vertex_count = soup->vertex_count,
                              .corners = soup->corners,
                              .states = soup->states,
                              .faces = soup->faces,
                              .as_segments = soup->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT,
                              .degenerate_faces = soup->degenerate_faces,
                              .scale = soup->scale,
                              .origin = soup->origin,
                              .bounds = soup->bounds,
                              .lowest = soup->lowest,
                              .highest = soup->highest,
                              .bvh = &soup->bvh,
                              .device = soup->device,
                              .slot_corners = soup->slot_corners};
}

CAROM_ENUM_NAMES(carom_soup_degenerate, CAROM_SOUP_DEGENERATE_COUNT, "alone", "as-segment");
CAROM_ENUM_NAMES(carom_soup_method, CAROM_SOUP_METHOD_COUNT, "auto", "tree", "grid");
