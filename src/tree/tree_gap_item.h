/* SPDX-License-Identifier: MIT */
/* tree_gap_item.h: the answer of a search for a distance, from what it found. CPU and GPU share it.
 */
#ifndef CAROM_SRC_TREE_TREE_GAP_ITEM_H
#define CAROM_SRC_TREE_TREE_GAP_ITEM_H

#include "geom/distance_item.h"
#include "tree/tree_posed_pair.h"

/* Of the distance of two centres and of sums of it and radii: 4 roundings of 2^-53, times 4. */
#define CAROM_TREE_GAP_ROUNDING 0x1p-49

/* Relative error of the distance of two triangles: 1e-15 of their extent, times 7. */
#define CAROM_TREE_TRIANGLE_ERROR 0x1p-47

/* A sphere of a tree by its slot, posed. */
CAROM_ITEM carom_spheres_posed carom_tree_pose_slot(const carom_tree *tree,
                                                    const carom_spheres_transform *transform,
                                                    uint32_t slot) {
    const carom_tree_leaf *leaf = &tree->leaves[slot / CAROM_TREE_WIDTH];
    uint32_t lane = slot % CAROM_TREE_WIDTH;
    return carom_spheres_pose_sphere(transform,
                                     carom_vec(leaf->x[lane], leaf->y[lane], leaf->z[lane]),
                                     leaf->radius[lane], leaf->secondary[lane], leaf->cover[lane]);
}

/* The least gaps of two inner balls, of the spheres a and b, and of two covers, which do not
 * overlap. `pending`: no gap of covers that were not looked at is less. The rest of the answer is
 * zero. */
CAROM_ITEM void carom_tree_gap_of_spheres(const carom_tree_posed_pair *posed, uint32_t a,
                                          uint32_t b, double least, double least_cover,
                                          double pending, carom_tree_gap *gap) {
    carom_spheres_posed p =
        carom_tree_pose_slot(posed->a, &posed->world.transform[0], posed->a->slots[a]);
    carom_spheres_posed r =
        carom_tree_pose_slot(posed->b, &posed->world.transform[1], posed->b->slots[b]);
    carom_vec3 apart = carom_vec_sub(r.centre, p.centre);
    double d = carom_vec_length(apart);
    double rounding = CAROM_TREE_GAP_ROUNDING * (d + p.radius + r.radius);
    double at_least = CAROM_MIN(pending, least_cover);
    double lower = at_least - CAROM_TREE_GAP_ROUNDING * (d + p.cover + r.cover);
    gap->distance.upper = least + (rounding + posed->world.slack);
    gap->distance.lower = CAROM_MAX(lower, 0.0);
    gap->distance.value = least;
    gap->sphere_a = a;
    gap->sphere_b = b;
    gap->point_a = carom_vec_add(p.centre, carom_vec_scale(apart, p.radius / d));
    gap->point_b = carom_vec_sub(r.centre, carom_vec_scale(apart, r.radius / d));
}

/* The nearest points of two triangles that do not meet, of solids that are apart; `pending` as
 * above, of surfaces. `inside`: 0, or -1 where one solid may be in the other. The rest of the
 * answer is zero. */
CAROM_ITEM void carom_tree_gap_of_faces(const carom_tree_posed_pair *posed,
                                        const carom_closest *best, uint32_t triangle_a,
                                        uint32_t triangle_b, double pending, int inside,
                                        carom_tree_gap *gap) {
    const carom_spheres_transform *transform = posed->world.transform;
    double size =
        posed->a->extent.size * transform[0].scale + posed->b->extent.size * transform[1].scale;
    double rounding = CAROM_TREE_TRIANGLE_ERROR * size + CAROM_TREE_GAP_ROUNDING * best->distance +
                      posed->world.slack;
    double lower = CAROM_MIN(pending, best->distance) - rounding;
    gap->distance.upper = best->distance + rounding;
    gap->distance.lower = inside == 0 ? CAROM_MAX(lower, 0.0) : 0.0;
    gap->distance.value = best->distance;
    gap->point_a = best->a;
    gap->point_b = best->b;
    gap->face_a = posed->a->surface.faces[triangle_a];
    gap->face_b = posed->b->surface.faces[triangle_b];
}

#endif
