/* SPDX-License-Identifier: MIT */
/* soup_near.h: near faces of a soup on the GPU, for k-freeness (kfree.c). They are counted beside
 * the other searches of a soup there (soup_kfree_cuda.h), with the same arrays and tree. */
#ifndef CAROM_SRC_SOUP_SOUP_NEAR_H
#define CAROM_SRC_SOUP_SOUP_NEAR_H

#include "carom/geom.h"
#include "carom/soup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two faces whose distance doubles cannot compare with the reach of the smaller one. */
typedef struct carom_device_near {
    uint32_t face[2];
    carom_triangle triangle[2];
    double diameter[2];
} carom_device_near;

/* Near faces of a soup; arrays in device memory, until the next query. */
typedef struct carom_device_k_free {
    const double *diameters;    /* of each face; negative: it is ignored */
    const uint32_t *counts;     /* of each face, without undecided pairs */
    const uint32_t *neighbours; /* of these, with a common vertex */
    uint64_t neighbour_count;   /* their sum */
    bool beyond;                /* a coordinate is too large */
    const carom_device_near *undecided;
    uint64_t undecided_count;
} carom_device_k_free;

/* CAROM_OK if near faces of the soup can be counted on the GPU; counts them, and waits. */
carom_status carom_soup_device_check_k_free(carom_context *context, const carom_soup *soup);
carom_status carom_soup_device_k_free(carom_context *context, const carom_soup *soup,
                                      carom_device_k_free *result);

#ifdef __cplusplus
}
#endif

#endif
