/* SPDX-License-Identifier: MIT */
/* soup_rays_cuda.h: the functions for rays in the table of soup_points_cuda.cu. */
#ifndef CAROM_SRC_SOUP_SOUP_RAYS_CUDA_H
#define CAROM_SRC_SOUP_SOUP_RAYS_CUDA_H

#include "soup/soup_points_device.h"

carom_status carom_rays_cast(carom_device *device, const carom_device_soup *soup,
                             const carom_ray *rays, uint64_t count, carom_hit *hits,
                             carom_ray_decide_fn *decide);
carom_status carom_rays_cast_of_host(carom_device *device, const carom_device_soup *soup,
                                     const carom_ray *rays, uint64_t count, carom_hit *hits,
                                     carom_ray_decide_fn *decide, uint64_t *on_host);

carom_status carom_rays_query(carom_device *device, const carom_device_soup *soup,
                              const carom_ray *rays, uint32_t count, carom_cuda_ray_hits *hits,
                              carom_ray_list_fn *decide, carom_context *context);
carom_status carom_rays_query_of_host(carom_device *device, const carom_device_soup *soup,
                                      const carom_ray *rays, uint32_t count, uint32_t first,
                                      carom_cuda_ray_hits *hits, carom_ray_list_fn *decide,
                                      carom_context *context);
void carom_rays_free(carom_cuda_ray_hits *hits);

#endif
