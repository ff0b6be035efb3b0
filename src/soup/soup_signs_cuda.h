/* SPDX-License-Identifier: MIT */
/* soup_signs_cuda.h: signed distances of points on the GPU (soup_winding.c), included by
 * soup_points_cuda.cu alone: nearest faces, and exact winding numbers or generalised ones. */
#ifndef CAROM_SRC_SOUP_SOUP_SIGNS_CUDA_H
#define CAROM_SRC_SOUP_SOUP_SIGNS_CUDA_H

#include "soup/soup_fraction_cuda.h"
#include "soup/soup_winding_cuda.h"

struct signs_arguments {
    const carom_hit *hits;
    double *distances;
    uint64_t count;
    bool fractions; /* `distances` holds generalised winding numbers */
};

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    signs_set(const carom_hit *hits, double *distances, uint64_t count, bool fractions) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    if (fractions) {
        double least = hits[i].distance;
        distances[i] = distances[i] >= 0.5 && least > 0.0 ? -least : least;
        return;
    }
    long long bits = __double_as_longlong(distances[i]);
    int32_t winding = (int32_t)(bits & 0xFFFFFFFFll);
    if (bits >> 32 != WINDING_MARK) return; /* it is a distance already */
    double distance = winding == WINDING_ON_SURFACE ? 0.0 : hits[i].distance;
    distances[i] = winding >= 1 && distance > 0.0 ? -distance : distance;
}

static carom_status signs_reserve(carom_device *, carom_device_op *) {
    return CAROM_OK;
}

static void signs_launch(carom_device *device, carom_device_op *op) {
    carom_device_clear(device, op);
}

/* Once the host has decided the last hits, which happens as earlier operations are finished. */
static carom_status signs_finish(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *, bool *again) {
    const signs_arguments *a = carom_device_arguments<signs_arguments>(op);
    *again = false;
    if (a->count == 0) return CAROM_OK;
    carom_device_launch(device, signs_set, carom_device_blocks(a->count, CAROM_BATCH_THREADS),
                        CAROM_BATCH_THREADS, a->hits, a->distances, a->count, a->fractions);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "signs of distances");
}

/* field NULL: the soup is balanced. */
static carom_status points_signed(carom_device *device, const carom_device_soup *soup,
                                  const carom_device_field *field, const carom_vec3 *points,
                                  uint64_t count, double *distances, carom_hit *hits,
                                  carom_not_farther_fn *not_farther) {
    carom_device_op op = {signs_reserve, signs_launch, signs_finish, nullptr, {}};
    if (field != nullptr)
        CAROM_DEVICE_TRY(points_fractions(device, field, points, count, distances));
    else
        CAROM_DEVICE_TRY(winding_submit(device, soup, points, count, (int32_t *)distances, 2));
    CAROM_DEVICE_TRY(points_closest(device, soup, points, count, hits, not_farther));
    *carom_device_arguments<signs_arguments>(&op) =
        signs_arguments{hits, distances, count, field != nullptr};
    return carom_device_submit(device, &op);
}

/* hits may be NULL. */
static carom_status points_signed_of_host(carom_device *device, const carom_device_soup *soup,
                                          const carom_device_field *field, const carom_vec3 *points,
                                          uint64_t count, double *distances, carom_hit *hits,
                                          carom_not_farther_fn *not_farther, uint64_t *on_host) {
    for (uint64_t at = 0; at < count; at += CAROM_BATCH_FROM_HOST) {
        uint64_t some = CAROM_MIN(count - at, (uint64_t)CAROM_BATCH_FROM_HOST);
        uint64_t row = carom_device_row(some * sizeof(*distances));
        CAROM_DEVICE_TRY(winding_begin_some(device, points + at, some, row + some * sizeof(*hits)));
        char *out = carom_device_scratch_data<char>(device, CAROM_SCRATCH_BATCH_OUTPUT);
        carom_status status =
            points_signed(device, soup, field,
                          carom_device_scratch_data<carom_vec3>(device, CAROM_SCRATCH_BATCH_INPUT),
                          some, (double *)out, (carom_hit *)(out + row), not_farther);
        if (status != CAROM_OK) carom_device_forget(device); /* the first of its operations */
        CAROM_DEVICE_TRY(status);
        CAROM_DEVICE_TRY(carom_device_finish(device));
        *on_host += device->steps.open_in_doubles;
        CAROM_DEVICE_TRY(carom_device_copy(device, distances + at, out, some * sizeof(*distances),
                                           cudaMemcpyDeviceToHost, "copying results"));
        if (hits != nullptr)
            CAROM_DEVICE_TRY(carom_device_copy(device, hits + at, out + row, some * sizeof(*hits),
                                               cudaMemcpyDeviceToHost, "copying results"));
    }
    return CAROM_OK;
}

#endif
