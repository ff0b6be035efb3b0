/* SPDX-License-Identifier: MIT */
/* Normals for smooth shading: those of the triangles at a vertex fall into groups of similar
 * direction, and each triangle takes the mean of its group there, so that sharp edges stay sharp.
 */
#include <stdlib.h>

#include "cli/display.h"
#include "cli/vector.h"

#define GROUPS 3    /* at a vertex; triangles that find none keep their own normal */
#define SHARP  0.76 /* cosine of the angle, 40 degrees, from which on an edge is sharp */

typedef struct group_set {
    carom_vec3 sums[GROUPS];
} group_set;

/* The group of a normal: the nearest that is near enough, or an empty one; GROUPS: none. */
static int group_of(const group_set *set, carom_vec3 n) {
    int best = GROUPS;
    double most = SHARP;
    for (int g = 0; g < GROUPS; ++g) {
        double near = vector_dot(vector_unit(set->sums[g]), n);
        if (near > most) best = g;
        if (near > most) most = near;
    }
    for (int g = 0; g < GROUPS && best == GROUPS; ++g)
        if (!(vector_dot(set->sums[g], set->sums[g]) > 0.0)) best = g;
    return best;
}

carom_vec3 *display_normals(const display_item *item, const carom_vec3 *points) {
    uint64_t count = display_corner_count(item);
    carom_vec3 *normals = malloc((size_t)(count + 1) * sizeof(*normals));
    group_set *sets = calloc((size_t)item->point_count + 1, sizeof(*sets));
    for (uint64_t i = 0; normals != NULL && sets != NULL && i + 3 <= count; i += 3) {
        carom_vec3 a = points[display_corner(item, i)], b = points[display_corner(item, i + 1)];
        carom_vec3 c = points[display_corner(item, i + 2)];
        carom_vec3 u = vector_unit(vector_minus(b, a)), v = vector_unit(vector_minus(c, a));
        carom_vec3 n = vector_unit(vector_cross(u, v));
        for (uint64_t k = 0; k < 3; ++k) {
            group_set *set = &sets[display_corner(item, i + k)];
            int g = group_of(set, n);
            normals[i + k] = n;
            if (g == GROUPS) continue;
            carom_vec3 *sum = &set->sums[g];
            *sum = vector_add(*sum, 1.0, n);
        }
    }
    for (uint64_t i = 0; normals != NULL && sets != NULL && i < count; ++i) {
        const group_set *set = &sets[display_corner(item, i)];
        int g = group_of(set, normals[i]);
        if (g < GROUPS && vector_dot(set->sums[g], set->sums[g]) > 0.0)
            normals[i] = vector_unit(set->sums[g]);
    }
    if (sets == NULL) {
        free(normals);
        normals = NULL;
    }
    free(sets);
    return normals;
}
