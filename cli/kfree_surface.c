/* SPDX-License-Identifier: MIT */
/* Triangles with their own corners and positions in doubles. */
#include "cli/kfree_surface.h"

#include <stdlib.h>
#include <string.h>

void surface_free(surface *s) {
    free(s->positions);
    free(s->corners);
    *s = (surface){NULL, NULL, 0, 0};
}

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

edge *surface_edges(const surface *s) {
    uint64_t slots = 3 * s->face_count;
    edge *list = malloc((slots + 1) * sizeof(*list));
    for (uint64_t slot = 0; slot < slots && list != NULL; ++slot) {
        const uint32_t *c = s->corners[slot / 3];
        uint32_t a = c[(slot + 1) % 3], b = c[(slot + 2) % 3];
        list[slot] = (edge){a < b ? a : b, a < b ? b : a, slot};
    }
    if (list != NULL) qsort(list, slots, sizeof(*list), compare_edges);
    return list;
}

double surface_square(const surface *s, uint32_t a, uint32_t b) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        double d = s->positions[a][k] - s->positions[b][k];
        sum += d * d;
    }
    return sum;
}

carom_mesh_view surface_view(const surface *s) {
    return (carom_mesh_view){.positions = s->positions,
                             .vertex_count = s->vertex_count,
                             .scalar = CAROM_SCALAR_FLOAT64,
                             .corners = s->corners != NULL ? s->corners[0] : NULL,
                             .face_count = s->face_count};
}

bool surface_copy(const carom_mesh_view *mesh, surface *s) {
    bool floats = mesh->scalar == CAROM_SCALAR_FLOAT32;
    uint64_t size = floats ? sizeof(float) : sizeof(double);
    uint64_t stride = mesh->stride != 0 ? mesh->stride : 3 * size;
    s->positions = malloc((mesh->vertex_count + 1) * sizeof(*s->positions));
    s->corners = malloc((mesh->face_count + 1) * sizeof(*s->corners));
    if (s->positions == NULL || s->corners == NULL) return false;
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const char *from = (const char *)mesh->positions + v * stride;
        float p[3];
        memcpy(floats ? (void *)p : (void *)s->positions[v], from, 3 * size);
        for (int k = 0; k < 3 && floats; ++k) s->positions[v][k] = (double)p[k];
    }
    if (mesh->face_count > 0)
        memcpy(s->corners, mesh->corners, mesh->face_count * sizeof(*s->corners));
    s->vertex_count = mesh->vertex_count;
    s->face_count = mesh->face_count;
    return true;
}
