/* SPDX-License-Identifier: MIT */
/* A soup's own copy of its mesh, as triangles: made, changed and freed.
 *
 * Whatever changes, everything derived is made anew by carom_soup_prepare: nothing is patched, so a
 * soup after any history equals one made from scratch. */
#include "soup/soup.h"

#include "mesh/mesh.h"

#define MOST_TRIANGLES (UINT32_MAX - 64u)
#define PADDING        16u /* bytes behind the positions, so that vectors may read past the last */

/* ---- create and destroy ---------------------------------------------------------------------- */

static void copy_positions(carom_soup *soup, uint64_t at, const carom_mesh_view *mesh) {
    uint64_t size = 3 * carom_scalar_size(soup->scalar), stride = carom_mesh_stride(mesh);
    char *to = (char *)soup->positions + at * size;
    if (mesh->vertex_count == 0) return;
    if (mesh->scalar == soup->scalar && stride == size) {
        memcpy(to, mesh->positions, mesh->vertex_count * size);
    } else if (mesh->scalar == soup->scalar) {
        for (uint64_t i = 0; i < mesh->vertex_count; ++i)
            memcpy(to + i * size, (const char *)mesh->positions + i * stride, size);
    } else { /* into doubles */
        for (uint64_t i = 0; i < mesh->vertex_count; ++i) {
            carom_vec3 p = carom_mesh_position(mesh, i);
            memcpy(to + i * size, &p, sizeof(p));
        }
    }
    memset((char *)soup->positions + soup->vertex_count * size, 0, PADDING);
}

/* Room for this many vertices of `scalar` and triangles, what is there kept. */
static carom_status reserve(carom_context *context, carom_soup *soup, carom_scalar scalar,
                            uint64_t vertices, uint64_t triangles, bool with_faces) {
    const carom_allocator *allocator = &soup->allocator;
    if (vertices > soup->vertex_capacity || scalar != soup->scalar || soup->positions == NULL) {
        void *positions =
            carom_allocate(allocator, 1, vertices * 3 * carom_scalar_size(scalar) + PADDING);
        if (positions == NULL)
            return carom_fail_memory(context, vertices * 3 * carom_scalar_size(scalar), "a soup");
        carom_mesh_view old = {.positions = soup->positions,
                               .scalar = soup->scalar,
                               .vertex_count = soup->vertex_count};
        void *freed = soup->positions;
        soup->positions = positions;
        soup->scalar = scalar;
        soup->vertex_capacity = vertices;
        copy_positions(soup, 0, &old);
        carom_release(allocator, freed);
    }
    bool lacks_faces = with_faces && soup->faces == NULL;
    if (triangles > soup->triangle_capacity || lacks_faces || soup->corners == NULL) {
        uint64_t room = CAROM_MAX(triangles, soup->triangle_capacity);
        uint32_t *corners = carom_allocate(allocator, room, 3 * sizeof(*corners));
        uint8_t *states = carom_allocate(allocator, room, sizeof(*states));
        uint32_t *faces = with_faces ? carom_allocate(allocator, room, sizeof(*faces)) : NULL;
        if (corners == NULL || states == NULL || (with_faces && faces == NULL)) {
            carom_release(allocator, corners);
            carom_release(allocator, states);
            carom_release(allocator, faces);
            return carom_fail_memory(context, room * 4 * sizeof(*corners), "a soup");
        }
        uint64_t count = soup->triangle_count;
        if (count != 0) {
            memcpy(corners, soup->corners, count * 3 * sizeof(*corners));
            memcpy(states, soup->states, count * sizeof(*states));
        }
        for (uint64_t t = 0; with_faces && t < count; ++t)
            faces[t] = carom_soup_face(soup, (uint32_t)t);
        carom_release(allocator, soup->corners);
        carom_release(allocator, soup->states);
        carom_release(allocator, soup->faces);
        soup->corners = corners;
        soup->states = states;
        soup->faces = faces;
        soup->triangle_capacity = room;
    }
    return CAROM_OK;
}

/* A mesh as triangles: itself, or a new one that must be destroyed, with the face of each. */
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
    if (count > MOST_TRIANGLES)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "the soup has %llu triangles, at most %u can be numbered; split it",
                          (unsigned long long)count, MOST_TRIANGLES);
    return CAROM_OK;
}

static carom_status triangles_make(carom_context *context, const carom_mesh_view *mesh, bool fan,
                                   triangles *t) {
    *t = (triangles){.view = *mesh};
    CAROM_TRY(check_count(context, mesh->face_count)); /* before any is read */
    CAROM_TRY(carom_mesh_check(context, mesh));
    if (mesh->offsets != NULL) {
        carom_triangulate_def def = {.fan = fan};
        CAROM_TRY(carom_mesh_triangulate(context, mesh, &def, &t->mesh, fan ? NULL : &t->faces));
        CAROM_TRY(carom_mesh_get_view(t->mesh, &t->view));
    }
    return check_count(context, t->view.face_count);
}

/* Appends triangles to what is there. */
static carom_status append(carom_context *context, carom_soup *soup, const triangles *t,
                           uint64_t face_count) {
    const carom_mesh_view *view = &t->view;
    uint64_t vertices = soup->vertex_count + view->vertex_count;
    uint64_t count = soup->triangle_count + view->face_count;
    if (vertices > CAROM_MESH_MOST_VERTICES || count > MOST_TRIANGLES)
        return carom_fail(
            context, CAROM_TOO_LARGE,
            "the soup would have %llu vertices and %llu triangles, too many to number",
            (unsigned long long)vertices, (unsigned long long)count);
    bool with_faces = soup->faces != NULL || t->faces.count != 0;
    carom_scalar scalar =
        soup->positions == NULL || soup->scalar == view->scalar ? view->scalar : CAROM_FLOAT64;
    CAROM_TRY(reserve(context, soup, scalar, vertices, count, with_faces));
    uint32_t first_vertex = (uint32_t)soup->vertex_count, first = soup->triangle_count;
    soup->vertex_count = vertices;
    copy_positions(soup, first_vertex, view);
    uint32_t *corners = soup->corners + 3 * (uint64_t)first;
    for (uint64_t i = 0; i < 3 * view->face_count; ++i)
        corners[i] = view->corners[i] + first_vertex;
    memset(soup->states + first, 0, view->face_count);
    for (uint64_t i = 0; with_faces && i < view->face_count; ++i)
        soup->faces[first + i] =
            soup->face_count + (t->faces.count != 0 ? t->faces.data[i] : (uint32_t)i);
    soup->triangle_count = (uint32_t)count;
    soup->face_count += (uint32_t)face_count;
    return CAROM_OK;
}

carom_status carom_soup_create(carom_context *context, const carom_soup_def *def,
                               carom_soup **out) {
    static const carom_soup_def defaults;
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(out != NULL, "the place for the soup is NULL");
    *out = NULL;
    if (def == NULL) def = &defaults;
    CAROM_REQUIRE((unsigned)def->degenerate < CAROM_DEGENERATE_COUNT,
                  "def->degenerate is no such choice");
    CAROM_REQUIRE((unsigned)def->method < CAROM_SOUP_METHOD_COUNT, "def->method is no such choice");
    CAROM_TRY(carom_grid_check(context, &def->grid));
    carom_soup *soup = carom_allocate(&context->allocator, 1, sizeof(*soup));
    if (soup == NULL) return carom_fail_memory(context, sizeof(*soup), "a soup");
    *soup = (carom_soup){.allocator = context->allocator,
                         .degenerate = def->degenerate,
                         .method = def->method,
                         .grid_def = def->grid,
                         .work_budget = def->work_budget,
                         .fan = def->fan,
                         .rigid = def->rigid};
    triangles t;
    carom_status status = triangles_make(context, &def->mesh, def->fan, &t);
    if (status == CAROM_OK)
        status = append(context, soup, &t, def->fan ? t.view.face_count : def->mesh.face_count);
    triangles_free(&t);
    if (status == CAROM_OK) status = carom_soup_prepare(context, soup);
    if (status != CAROM_OK) {
        carom_soup_destroy(soup);
        return status;
    }
    *out = soup;
    return CAROM_OK;
}

void carom_soup_destroy(carom_soup *soup) {
    if (soup == NULL) return;
    carom_allocator allocator = soup->allocator;
    carom_bvh_free(&soup->bvh, &allocator);
    carom_obb_free(&soup->oriented, &allocator);
    carom_soup_grid_free(&soup->cells, &allocator);
    carom_release(&allocator, soup->placed);
    carom_release(&allocator, soup->positions);
    carom_release(&allocator, soup->corners);
    carom_release(&allocator, soup->states);
    carom_release(&allocator, soup->faces);
    carom_release(&allocator, soup);
}

/* ---- change ---------------------------------------------------------------------------------- */

carom_status carom_soup_update(carom_context *context, carom_soup *soup,
                               const carom_mesh_view *mesh) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(mesh != NULL, "the mesh is NULL");
    if (mesh->vertex_count != soup->vertex_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the soup has %llu vertices, the update %llu; make a new soup instead",
                          (unsigned long long)soup->vertex_count,
                          (unsigned long long)mesh->vertex_count);
    carom_mesh_view points = *mesh; /* without faces */
    points.corners = NULL;
    points.offsets = NULL;
    points.face_count = 0;
    CAROM_TRY(carom_mesh_check(context, &points));
    if (points.scalar != soup->scalar)
        CAROM_TRY(reserve(context, soup, points.scalar, soup->vertex_count, soup->triangle_count,
                          soup->faces != NULL));
    copy_positions(soup, 0, &points);
    return carom_soup_prepare(context, soup);
}

carom_status carom_soup_add(carom_context *context, carom_soup *soup, const carom_mesh_view *mesh,
                            uint32_t *first) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(mesh != NULL, "the mesh is NULL");
    uint32_t face_count = soup->face_count;
    triangles t;
    carom_status status = triangles_make(context, mesh, soup->fan, &t);
    if (status == CAROM_OK)
        status = append(context, soup, &t, soup->fan ? t.view.face_count : mesh->face_count);
    triangles_free(&t);
    CAROM_TRY(status);
    if (first != NULL) *first = face_count;
    return carom_soup_prepare(context, soup);
}

/* The first triangle of a face, or of the next one there is: triangles are in the order of faces.
 */
static uint32_t first_triangle(const carom_soup *soup, uint32_t face) {
    if (soup->faces == NULL) return face;
    uint32_t low = 0, high = soup->triangle_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (soup->faces[middle] < face)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

carom_status carom_soup_remove(carom_context *context, carom_soup *soup, const uint32_t *faces,
                               uint64_t count) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(faces != NULL || count == 0, "the faces are NULL");
    for (uint64_t i = 0; i < count; ++i)
        if (faces[i] >= soup->face_count)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "face %u cannot be removed, the soup has %u", faces[i],
                              soup->face_count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t t = first_triangle(soup, faces[i]);
        if (soup->states[t] & CAROM_SOUP_DEAD) continue;
        ++soup->dead_faces;
        for (; t < soup->triangle_count && carom_soup_face(soup, t) == faces[i]; ++t)
            soup->states[t] |= CAROM_SOUP_DEAD;
    }
    return carom_soup_prepare(context, soup);
}

carom_status carom_soup_get_info(carom_context *context, const carom_soup *soup,
                                 carom_soup_info *info) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(info != NULL, "the place for the info is NULL");
    uint64_t bytes =
        sizeof(*soup) + carom_bvh_bytes(&soup->bvh) + carom_obb_bytes(&soup->oriented) +
        soup->vertex_capacity * 3 * carom_scalar_size(soup->scalar) +
        soup->triangle_capacity * (3 * sizeof(uint32_t) + 1) +
        (soup->faces != NULL ? soup->triangle_capacity * sizeof(uint32_t) : 0) +
        soup->placed_capacity * 3 * sizeof(uint32_t) + carom_grid_bytes(&soup->cells.grid) +
        soup->cells.capacity * (3 * sizeof(uint32_t) + sizeof(carom_ball));
    *info = (carom_soup_info){.faces = soup->face_count,
                              .live = soup->face_count - soup->dead_faces,
                              .triangles = soup->triangle_count,
                              .degenerate_faces = soup->degenerate_faces,
                              .bytes = bytes};
    return CAROM_OK;
}

carom_status carom_soup_check_any(carom_context *context, const carom_soup *soup) {
    if (soup->ready) return CAROM_OK;
    return carom_fail(context, CAROM_NO_MEMORY,
                      "the soup lost its %s when memory ran out in a change; update it again",
                      soup->method == CAROM_SOUP_GRID ? "grid" : "tree");
}

carom_status carom_soup_check_ready(carom_context *context, const carom_soup *soup) {
    if (soup->method == CAROM_SOUP_GRID)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "a soup made with method GRID has no tree for this query; make it with "
                          "method AUTO or TREE");
    return carom_soup_check_any(context, soup);
}
