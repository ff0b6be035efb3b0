/* SPDX-License-Identifier: MIT */
/* soup_rays_item.h: how a ray passes the tree of a soup, and its result but for the place of the
 * hit, as items for CPU and GPU (soup_rays.c explains the search). */
#ifndef CAROM_SRC_SOUP_SOUP_RAYS_ITEM_H
#define CAROM_SRC_SOUP_SOUP_RAYS_ITEM_H

#include "bvh/bvh_item.h"
#include "bvh/bvh_ray_item.h"
#include "geom/length.h"
#include "geom/ray_item.h"

/* Errors (carom_ray_view) in the margin of a ray: the error counts the start and a corner along one
 * axis; the others, and the box around the corner, are the reserve. */
#define CAROM_RAYS_VIEW_ERRORS 4.0

/* The ray of a view in the frame of the boxes. */
CAROM_ITEM carom_bvh_ray carom_rays_path(const carom_ray_view *view) {
    carom_bvh_ray path;
    double far = view->frame.reach;
    for (int k = 0; k < 3; ++k) {
        path.from[k] = view->start[k];
        path.direction[k] = view->unit_direction[k];
        far = CAROM_MAX(fabs(path.from[k]), far);
    }
    double margin = CAROM_RAYS_VIEW_ERRORS * view->error + CAROM_BVH_QUERY_MARGIN * far;
    path.margin = CAROM_MIN(margin, CAROM_BVH_EVERYWHERE);
    return path;
}

/* The direction between two points, of any size: no difference of quarters overflows. */
CAROM_ITEM carom_vec3 carom_rays_direction(carom_vec3 from, carom_vec3 to) {
    carom_vec3 d = carom_vec_sub(to, from);
    if (!(carom_vec_largest(d) <= 0.25 * DBL_MAX))
        d = carom_vec_sub(carom_vec_scale(to, 0.25), carom_vec_scale(from, 0.25));
    return carom_vec_unit(d);
}

/* The longer one of a normal and that of a triangle, which is the longer, the nearer its sides at
 * the first corner are to a right angle. */
CAROM_ITEM carom_vec3 carom_rays_better_normal(carom_vec3 best, const carom_triangle *t) {
    carom_vec3 n = carom_vec_cross(carom_rays_direction(t->corner[0], t->corner[1]),
                                   carom_rays_direction(t->corner[0], t->corner[2]));
    return carom_vec_dot(n, n) > carom_vec_dot(best, best) ? n : best;
}

CAROM_ITEM carom_hit carom_rays_miss(const carom_ray *ray) {
    carom_hit hit;
    hit.id = hit.face = CAROM_NONE;
    hit.distance = HUGE_VAL;
    hit.point = ray->origin;
    hit.normal = carom_vec(0.0, 0.0, 0.0);
    hit.error = 0.0;
    return hit;
}

/* A hit but for distance and point; the normal has any length and either side. */
CAROM_ITEM carom_hit carom_rays_hit(const carom_ray *ray, uint32_t face, carom_vec3 normal) {
    carom_hit hit = carom_rays_miss(ray);
    hit.id = 0;
    hit.face = face;
    hit.normal = carom_vec_unit(normal);
    if (carom_vec_dot(hit.normal, ray->direction) > 0.0)
        hit.normal = carom_vec_scale(hit.normal, -1.0);
    return hit;
}

#endif
