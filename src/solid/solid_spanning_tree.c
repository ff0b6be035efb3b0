/* SPDX-License-Identifier: MIT */
/* The spanning tree of a mesh's edges, along which winding numbers are propagated.
 *
 * Along an edge of one solid, the winding number w of the other solid changes only where the edge
 * crosses a face. So with w known at one vertex of a connected component, w at any other vertex is
 * the sum of changes on the path to it, and a sum over all vertices is
 *     sum of w(v) s(v) = w(root) S(root) + sum over tree edges of (change on it) S(below it),
 * where S(v) is the sum over v and its descendants. Only crossed tree edges contribute.
 *
 * The tree is grown breadth first, which keeps it shallow. Vertices are then indexed depth first.
 * Invariant: the descendants of a vertex are a range of indices. */
#include "solid/solid.h"

#include "base/progress.h"
#include "mesh/mesh.h"

#define SOLID_SPANNING_TREE_NO_NODE UINT32_MAX
#define SOLID_SPANNING_TREE_ITEMS_PER_LOOK                                                         \
    65536u /* items between two checks of the clock: some milliseconds */

typedef struct growth {
    carom_context *context;
    const carom_mesh_view *mesh;
    uint32_t *starts;  /* per vertex, its first triangle in `around`; one more entry than
                          vertices */
    uint32_t *around;  /* triangle indices by vertex */
    uint32_t *parents; /* SOLID_SPANNING_TREE_NO_NODE: a root, or a vertex without triangles */
    uint32_t *queue;   /* vertices in the order in which they were reached */
    uint32_t *sizes;   /* number of descendants of each vertex, itself included */
    uint32_t *numbers; /* new indices */
    uint32_t reached;  /* vertices in the queue */
} growth;

/* Called for each item of a long loop. The loop ends early when cancelled, and its result is not
 * used. */
static bool is_cancelled(const growth *g, uint64_t item) {
    return item % SOLID_SPANNING_TREE_ITEMS_PER_LOOK == 0 && carom_progress_stop(g->context, 0);
}

/* Finds the triangles around each vertex: count, sum up, fill. */
static void solid_spanning_tree_find_around(growth *g) {
    const carom_mesh_view *mesh = g->mesh;
    uint64_t corners = 3 * mesh->face_count;
    memset(g->starts, 0, (mesh->vertex_count + 1) * sizeof(*g->starts));
    for (uint64_t i = 0; i < corners; ++i) ++g->starts[mesh->corners[i] + 1];
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) g->starts[v + 1] += g->starts[v];
    for (uint64_t i = 0; i < corners && !is_cancelled(g, i); ++i)
        g->around[g->starts[mesh->corners[i]]++] = (uint32_t)(i / 3);
    for (uint64_t v = mesh->vertex_count; v > 0; --v) g->starts[v] = g->starts[v - 1];
    g->starts[0] = 0;
    CAROM_ASSERT(g->starts[mesh->vertex_count] <= corners);
}

/* Reaches all vertices of the component of `root`. Sizes are SOLID_SPANNING_TREE_NO_NODE until a
 * vertex is reached. */
static void grow_part(growth *g, uint32_t root) {
    uint32_t next = g->reached;
    g->queue[g->reached++] = root;
    g->sizes[root] = 1;
    for (; next < g->reached && !is_cancelled(g, next); ++next) {
        uint32_t v = g->queue[next];
        for (uint32_t i = g->starts[v]; i < g->starts[v + 1]; ++i) {
            const uint32_t *corners = g->mesh->corners + 3 * (uint64_t)g->around[i];
            for (int k = 0; k < 3; ++k) {
                if (g->sizes[corners[k]] != SOLID_SPANNING_TREE_NO_NODE) continue;
                g->sizes[corners[k]] = 1;
                g->parents[corners[k]] = v;
                CAROM_ASSERT(g->reached < g->mesh->vertex_count);
                g->queue[g->reached++] = corners[k];
            }
        }
    }
}

/* Depth-first indices without a stack. Each vertex, in the order reached, gives its children the
 * ranges after its own index; given[v] is the start of the next child's range. */
static void number(growth *g, carom_solid_spanning_tree *order) {
    uint32_t *given = order->firsts; /* unused until triangles are counted */
    for (uint32_t i = g->reached; i-- > 0;) {
        uint32_t v = g->queue[i];
        if (g->parents[v] != SOLID_SPANNING_TREE_NO_NODE) g->sizes[g->parents[v]] += g->sizes[v];
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < g->reached; ++i) {
        uint32_t v = g->queue[i], parent = g->parents[v], at;
        if (parent == SOLID_SPANNING_TREE_NO_NODE) {
            at = next;
            next += g->sizes[v];
            order->roots[order->root_count++] = at;
        } else {
            at = given[parent];
            given[parent] += g->sizes[v];
            CAROM_ASSERT(at > g->numbers[parent]);
        }
        g->numbers[v] = at;
        given[v] = at + 1;
        CAROM_ASSERT(at < g->reached && g->sizes[v] >= 1 && g->sizes[v] <= g->reached - at);
        order->ends[at] = at + g->sizes[v];
    }
}

/* Writes positions and triangles in their new order, with new indices. */
static void solid_spanning_tree_reorder(growth *g, bool turn, carom_solid_spanning_tree *order) {
    const carom_mesh_view *mesh = g->mesh;
    uint64_t count = mesh->face_count;
    uint32_t *firsts = order->firsts;
    for (uint32_t i = 0; i < g->reached; ++i) {
        uint32_t v = g->queue[i];
        carom_vec3 p = carom_mesh_position(mesh, v);
        memcpy(order->positions + 3 * (uint64_t)g->numbers[v], &p, sizeof(p));
        order->sources[g->numbers[v]] = v;
    }
    CAROM_ASSERT(g->reached <= mesh->vertex_count);
    memset(firsts, 0, ((uint64_t)g->reached + 1) * sizeof(*firsts));
    for (uint64_t t = 0; t < count; ++t) ++firsts[g->numbers[mesh->corners[3 * t + 1]] + 1];
    for (uint32_t v = 0; v < g->reached; ++v) firsts[v + 1] += firsts[v];
    for (uint64_t t = 0; t < count && !is_cancelled(g, t); ++t) {
        const uint32_t *from = mesh->corners + 3 * t;
        uint32_t *to = order->corners + 3 * (uint64_t)firsts[g->numbers[from[1]]]++;
        CAROM_ASSERT(to < order->corners + 3 * count);
        to[0] = g->numbers[from[turn ? 2 : 0]];
        to[1] = g->numbers[from[1]];
        to[2] = g->numbers[from[turn ? 0 : 2]];
    }
    for (uint32_t v = g->reached; v > 0; --v) firsts[v] = firsts[v - 1];
    firsts[0] = 0;
}

/* The first triangle that has a tree edge as a side represents this edge. */
static void give_links(growth *g, carom_solid_spanning_tree *order) {
    uint32_t *parents = g->starts; /* by new indices; the former content is no longer needed */
    uint8_t *represented = (uint8_t *)g->sizes;
    for (uint32_t i = 0; i < g->reached; ++i) {
        uint32_t v = g->queue[i], parent = g->parents[v];
        parents[g->numbers[v]] = parent == SOLID_SPANNING_TREE_NO_NODE ? SOLID_SPANNING_TREE_NO_NODE
                                                                       : g->numbers[parent];
    }
    memset(represented, 0, g->reached);
    for (uint64_t t = 0; t < order->triangle_count && !is_cancelled(g, t); ++t) {
        const uint32_t *c = order->corners + 3 * t;
        order->represents[t] = 0;
        for (int j = 0; j < 3; ++j) {
            uint32_t a = c[j], b = c[j == 2 ? 0 : j + 1];
            uint32_t low = CAROM_MIN(a, b), high = CAROM_MAX(a, b);
            if (parents[high] != low || represented[high]) continue;
            CAROM_ASSERT(high < g->reached && low < high);
            represented[high] = 1;
            order->represents[t] = (uint8_t)(order->represents[t] | 1u << j);
        }
    }
}

void carom_solid_spanning_tree_free(carom_solid_spanning_tree *order,
                                    const carom_allocator *allocator) {
    CAROM_RELEASE_ALL(allocator, order->positions, order->corners, order->ends, order->firsts,
                      order->roots, order->represents, order->sources);
    *order = (carom_solid_spanning_tree){0};
}

static bool solid_spanning_tree_allocate(carom_context *context, const carom_mesh_view *mesh,
                                         growth *g, carom_solid_spanning_tree *order) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t vertices = mesh->vertex_count, triangles = mesh->face_count;
    g->starts = CAROM_ARENA_TAKE(scratch, uint32_t, vertices + 1);
    g->around = CAROM_ARENA_TAKE(scratch, uint32_t, 3 * triangles);
    g->parents = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    g->queue = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    g->sizes = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    g->numbers = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    const carom_allocation arrays[] = {CAROM_ALLOCATION(order->positions, 3 * vertices),
                                       CAROM_ALLOCATION(order->corners, 3 * triangles),
                                       CAROM_ALLOCATION(order->ends, vertices),
                                       CAROM_ALLOCATION(order->firsts, vertices + 1),
                                       CAROM_ALLOCATION(order->roots, vertices),
                                       CAROM_ALLOCATION(order->represents, triangles),
                                       CAROM_ALLOCATION(order->sources, vertices)};
    return g->starts != NULL && g->around != NULL && g->parents != NULL && g->queue != NULL &&
           g->sizes != NULL && g->numbers != NULL &&
           carom_allocate_all(&context->allocator, arrays, sizeof(arrays) / sizeof(arrays[0]));
}

static carom_status solid_spanning_tree_make(growth *g, bool turn,
                                             carom_solid_spanning_tree *order) {
    const carom_mesh_view *mesh = g->mesh;
    if (!solid_spanning_tree_allocate(g->context, mesh, g, order))
        return carom_fail_memory(g->context, mesh->face_count * 12, "the order of a solid");
    memset(g->sizes, 0xFF, mesh->vertex_count * sizeof(*g->sizes));
    memset(g->parents, 0xFF, mesh->vertex_count * sizeof(*g->parents));
    solid_spanning_tree_find_around(g);
    CAROM_TRY(carom_progress_look(g->context));
    for (uint64_t v = 0; v < mesh->vertex_count; ++v)
        if (g->sizes[v] == SOLID_SPANNING_TREE_NO_NODE && g->starts[v] != g->starts[v + 1])
            grow_part(g, (uint32_t)v);
    CAROM_TRY(carom_progress_look(g->context));
    order->vertex_count = g->reached; /* vertices without triangles are left out */
    order->triangle_count = (uint32_t)mesh->face_count;
    number(g, order);
    CAROM_ASSERT(order->root_count <= order->vertex_count);
    CAROM_TRY(carom_progress_look(g->context));
    solid_spanning_tree_reorder(g, turn, order);
    CAROM_TRY(carom_progress_look(g->context));
    give_links(g, order);
    return CAROM_OK;
}

carom_status carom_solid_spanning_tree_make(carom_context *context, const carom_mesh_view *mesh,
                                            bool turn, carom_solid_spanning_tree *order) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    growth g = {.context = context, .mesh = mesh};
    *order = (carom_solid_spanning_tree){0};
    carom_progress_begin(context, "numbering a solid", 0);
    carom_status status = carom_progress_finish(context, solid_spanning_tree_make(&g, turn, order));
    carom_arena_rewind(scratch, mark);
    if (status != CAROM_OK) carom_solid_spanning_tree_free(order, &context->allocator);
    return status;
}
