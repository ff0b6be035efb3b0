/* SPDX-License-Identifier: MIT */
/* Checks of a solid, from what solid.h says of it.
 *
 * The ranges [v, ends[v]) nest, and the innermost range around a vertex is that of its parent. So
 * the spanning tree is read off `ends`, and each of its edges must be represented once, by a
 * triangle that has it as a side. Prefix sums are computed again and must be the same bits. */
#include "solid/solid.h"

#include "geom/length.h"

#define SOLID_VALIDATE_NO_NODE UINT32_MAX

/* ---- Spanning tree --------------------------------------------------------------------------- */

/* Finds the parent of each vertex, SOLID_VALIDATE_NO_NODE for roots. */
static const char *find_parents(const carom_solid *solid, uint32_t *parents) {
    uint32_t count = (uint32_t)solid->view.vertex_count, root = 0, above = SOLID_VALIDATE_NO_NODE;
    for (uint32_t v = 0; v < count; ++v) {
        while (above != SOLID_VALIDATE_NO_NODE && solid->ends[above] <= v) above = parents[above];
        if (above == SOLID_VALIDATE_NO_NODE) {
            if (root == solid->root_count || solid->roots[root++] != v)
                return "solid: the roots are not the vertices without a parent";
        } else if (solid->ends[v] > solid->ends[above]) {
            return "solid: descendants of a vertex are not those of its parent";
        }
        if (solid->ends[v] <= v || solid->ends[v] > count)
            return "solid: a range of descendants is out of order";
        parents[v] = above;
        above = v;
    }
    return root == solid->root_count ? NULL
                                     : "solid: the roots are not the vertices without a parent";
}

static const char *validate_triangles(const carom_solid *solid) {
    const carom_soup_view *soup = &solid->view;
    uint32_t count = (uint32_t)soup->vertex_count;
    if (solid->firsts[0] != 0 || solid->firsts[count] != soup->triangle_count)
        return "solid: the triangles of all vertices are not all triangles";
    for (uint32_t v = 0; v < count; ++v) {
        if (solid->firsts[v] > solid->firsts[v + 1] || solid->firsts[v + 1] > soup->triangle_count)
            return "solid: the triangles of a vertex end before they begin";
        for (uint32_t t = solid->firsts[v]; t < solid->firsts[v + 1]; ++t)
            if (soup->corners[3 * (uint64_t)t + 1] != v)
                return "solid: a triangle is not sorted by its middle corner";
    }
    return NULL;
}

/* Each edge from a vertex to its parent has one triangle that represents it. */
static const char *validate_edges(const carom_solid *solid, const uint32_t *parents,
                                  uint8_t *represented) {
    const carom_soup_view *soup = &solid->view;
    memset(represented, 0, soup->vertex_count);
    for (uint32_t t = 0; t < soup->triangle_count; ++t) {
        const uint32_t *c = soup->corners + 3 * (uint64_t)t;
        if ((solid->represents[t] & ~CAROM_SOLID_PLAIN_FACE) > 7)
            return "solid: a triangle represents more than three sides";
        for (int j = 0; j < 3; ++j) {
            uint32_t a = c[j], b = c[j == 2 ? 0 : j + 1];
            uint32_t low = CAROM_MIN(a, b), high = CAROM_MAX(a, b);
            if ((solid->represents[t] >> j & 1u) == 0) continue;
            if (parents[high] != low) return "solid: a side is represented and is no tree edge";
            if (represented[high]++ != 0) return "solid: a tree edge is represented twice";
        }
    }
    for (uint64_t v = 0; v < soup->vertex_count; ++v)
        if (parents[v] != SOLID_VALIDATE_NO_NODE && represented[v] == 0)
            return "solid: a tree edge is not represented";
    return NULL;
}

static const char *validate_spanning_tree(const carom_solid *solid, carom_arena *scratch) {
    uint64_t count = solid->view.vertex_count;
    uint32_t *parents = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint8_t *represented = CAROM_ARENA_TAKE(scratch, uint8_t, count);
    if (parents == NULL || represented == NULL) return "solid: no memory to check the tree";
    const char *message = find_parents(solid, parents);
    if (message == NULL) message = validate_triangles(solid);
    if (message == NULL) message = validate_edges(solid, parents, represented);
    return message;
}

/* ---- Sums and relations ---------------------------------------------------------------------- */

static const char *validate_sums(carom_context *context, const carom_solid *solid) {
    carom_solid_prefix_sums again = {.block_count = 0};
    if (solid->sums.block_count != solid->view.triangle_count / CAROM_SOLID_BLOCK + 2)
        return "solid: the number of prefix sums is wrong";
    if (carom_solid_prefix_sums_make(context, &solid->allocator, &solid->view, &again) !=
        CAROM_OK) {
        carom_release(&solid->allocator, again.blocks);
        return "solid: no memory to check the prefix sums";
    }
    bool same = again.exponent == solid->sums.exponent && again.area == solid->sums.area &&
                memcmp(again.blocks, solid->sums.blocks,
                       again.block_count * CAROM_SOLID_SUMS * sizeof(*again.blocks)) == 0;
    carom_release(&solid->allocator, again.blocks);
    return same ? NULL : "solid: the prefix sums are not those of the triangles";
}

static const char *validate_relation(const carom_solid *solid) {
    const carom_soup_view *soup = &solid->view;
    uint32_t count = soup->triangle_count;
    if (solid->region_count == 0) return "solid: there are no regions";
    for (uint32_t i = 0; i < solid->region_count; ++i)
        if (solid->regions[i] >= count) return "solid: the triangle of a region is out of range";
    for (uint64_t i = 0; i < solid->touch_count; ++i)
        if (solid->touches[i].a >= solid->touches[i].b || solid->touches[i].b >= count)
            return "solid: a pair of triangles that touch is out of order";
    for (uint32_t i = 0; i < solid->root_count; ++i)
        if (solid->sides[i] > (CAROM_SOLID_EMPTY | CAROM_SOLID_FULL))
            return "solid: the sides of a component have unknown bits";
    for (uint32_t t = 0; t < count; ++t) {
        carom_triangle c = carom_soup_view_triangle(soup, t);
        for (int i = 0; i < 3; ++i) {
            carom_vec3 side = carom_vec_sub(c.corner[(i + 1) % 3], c.corner[i]);
            if (!carom_vec_within(side, solid->longest))
                return "solid: a triangle is longer than the longest";
        }
    }
    return NULL;
}

static const char *validate_given(const carom_solid *solid) {
    const carom_solid_given *given = &solid->given;
    for (uint64_t v = 0; v < given->vertex_count; ++v)
        if (given->first[v] > v || given->first[given->first[v]] != given->first[v])
            return "solid: a vertex as given is merged with none before it";
    for (uint64_t v = 0; v < solid->view.vertex_count; ++v)
        if (given->sources[v] >= given->vertex_count ||
            given->first[given->sources[v]] != given->sources[v])
            return "solid: a vertex is not made of the first of those merged";
    for (uint32_t t = 0; t < solid->view.triangle_count && solid->region_of != NULL; ++t)
        if (solid->region_of[t] > t || solid->region_of[solid->region_of[t]] != solid->region_of[t])
            return "solid: a region does not begin with its first triangle";
    for (uint64_t i = 0; i < 3 * (uint64_t)solid->view.triangle_count && solid->across != NULL; ++i)
        if (solid->across[i] >= solid->view.triangle_count)
            return "solid: the triangle across a side is out of range";
    return NULL;
}

static const char *validate_view(const carom_solid *solid) {
    carom_soup_view view;
    carom_soup_get_view(solid->soup, &view);
    bool same = view.positions == solid->view.positions && view.corners == solid->view.corners &&
                view.vertex_count == solid->view.vertex_count &&
                view.triangle_count == solid->view.triangle_count && view.bvh == solid->view.bvh &&
                view.scale == solid->view.scale;
    return same ? NULL : "solid: the view is not that of its soup";
}

const char *carom_solid_validate(carom_context *context, const carom_solid *solid) {
    const char *message = carom_soup_validate(solid->soup);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    if (message == NULL) message = validate_view(solid);
    if (message == NULL) message = validate_given(solid);
    if (message == NULL) message = validate_spanning_tree(solid, scratch);
    carom_arena_rewind(scratch, mark);
    if (message == NULL) message = validate_sums(context, solid);
    return message == NULL ? validate_relation(solid) : message;
}
