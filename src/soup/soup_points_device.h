/* SPDX-License-Identifier: MIT */
/* soup_points_device.h: what the GPU library does for queries of points and rays, as the core sees
 * it. Points, rays and results are in device memory; calls queue, and results are complete at
 * finish. */
#ifndef CAROM_SRC_SOUP_SOUP_POINTS_DEVICE_H
#define CAROM_SRC_SOUP_SOUP_POINTS_DEVICE_H

#include "carom/soup_points.h"
#include "geom/ray_item.h"
#include "soup/soup_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* carom_not_farther (nearer.h), for what doubles leave open. */
typedef bool carom_not_farther_fn(carom_vec3 point, const carom_triangle *a,
                                  const carom_triangle *b);

/* A triangle of a ray that doubles leave open. */
typedef struct carom_device_ray_open {
    uint32_t query, item, face;
    carom_ray ray;
    carom_ray_frame frame;
    carom_vec3 normal; /* of the face, of any length */
    carom_triangle triangle;
} carom_device_ray_open;

/* The first hit of a ray among these triangles, in integers where doubles do not decide. */
typedef carom_hit carom_ray_decide_fn(const carom_device_ray_open *entries, uint64_t count);

/* All faces that a ray meets among these triangles, in order. `hits` has space for `count`, *found
 * of them are written. */
typedef carom_status carom_ray_list_fn(carom_context *context, const carom_device_ray_open *entries,
                                       uint64_t count, carom_soup_ray_hit *hits, uint64_t *found);

/* Levels of the tree of a field at most, that above the root included (bvh.h, bvh_winding.h). */
#define CAROM_DEVICE_FIELD_LEVELS 10u

/* What generalised winding numbers are computed from (carom_bvh_field), on the host. */
typedef struct carom_device_field {
    const void *corners, *moments;
    uint64_t corner_bytes, moment_bytes;
    uint32_t level_count;
    uint64_t first[CAROM_DEVICE_FIELD_LEVELS]; /* node of each level from 1 to level_count */
    double scale;                              /* the frame x * scale - origin */
    carom_vec3 origin;
} carom_device_field;

typedef struct carom_cuda_points {
    carom_status (*closest)(carom_device *device, const carom_device_soup *soup,
                            const carom_vec3 *points, uint64_t count, carom_hit *hits,
                            carom_not_farther_fn *not_farther);
    /* The same with arrays of the host; waits, and adds to *on_host how many the host decided. */
    carom_status (*closest_of_host)(carom_device *device, const carom_device_soup *soup,
                                    const carom_vec3 *points, uint64_t count, carom_hit *hits,
                                    carom_not_farther_fn *not_farther, uint64_t *on_host);
    carom_status (*cast)(carom_device *device, const carom_device_soup *soup, const carom_ray *rays,
                         uint64_t count, carom_hit *hits, carom_ray_decide_fn *decide);
    carom_status (*cast_of_host)(carom_device *device, const carom_device_soup *soup,
                                 const carom_ray *rays, uint64_t count, carom_hit *hits,
                                 carom_ray_decide_fn *decide, uint64_t *on_host);
    carom_status (*winding)(carom_device *device, const carom_device_soup *soup,
                            const carom_vec3 *points, uint64_t count, int32_t *windings);
    carom_status (*winding_of_host)(carom_device *device, const carom_device_soup *soup,
                                    const carom_vec3 *points, uint64_t count, int32_t *windings);
    /* `field` NULL: the soup is balanced. Of the host's arrays `hits` may be NULL. */
    carom_status (*signed_distances)(carom_device *device, const carom_device_soup *soup,
                                     const carom_device_field *field, const carom_vec3 *points,
                                     uint64_t count, double *distances, carom_hit *hits,
                                     carom_not_farther_fn *not_farther);
    carom_status (*signed_of_host)(carom_device *device, const carom_device_soup *soup,
                                   const carom_device_field *field, const carom_vec3 *points,
                                   uint64_t count, double *distances, carom_hit *hits,
                                   carom_not_farther_fn *not_farther, uint64_t *on_host);
    /* Generalised winding numbers; copies the field, and first finishes what is queued. */
    carom_status (*fractions)(carom_device *device, const carom_device_field *field,
                              const carom_vec3 *points, uint64_t count, double *fractions);
    carom_status (*fractions_of_host)(carom_device *device, const carom_device_field *field,
                                      const carom_vec3 *points, uint64_t count, double *fractions);
    /* All faces along rays; one such search is queued at a time. */
    carom_status (*query)(carom_device *device, const carom_device_soup *soup,
                          const carom_ray *rays, uint32_t count, carom_cuda_ray_hits *hits,
                          carom_ray_list_fn *decide, carom_context *context);
    /* The same with rays of the host, of which the first is numbered `first`; waits. The hits are
     * in device memory until the next query. */
    carom_status (*query_of_host)(carom_device *device, const carom_device_soup *soup,
                                  const carom_ray *rays, uint32_t count, uint32_t first,
                                  carom_cuda_ray_hits *hits, carom_ray_list_fn *decide,
                                  carom_context *context);
    void (*ray_hits_free)(carom_cuda_ray_hits *hits);
} carom_cuda_points;

#define CAROM_CUDA_POINTS "carom_cuda_points_4"

#ifdef __cplusplus
}
#endif

#endif
