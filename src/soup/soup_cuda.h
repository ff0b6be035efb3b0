/* SPDX-License-Identifier: MIT */
/* soup_cuda.h: the arrays of a soup in device memory, as the other files of the GPU library see
 * them. */
#ifndef CAROM_SRC_SOUP_SOUP_CUDA_H
#define CAROM_SRC_SOUP_SOUP_CUDA_H

#include "bvh/bvh_layout_cuda.h"
#include "soup/soup_device.h"

/* Flags of states: CAROM_SOUP_DEAD and CAROM_SOUP_DEGENERATE of soup.h. */
#define CAROM_SOUP_CUDA_DEAD       1u
#define CAROM_SOUP_CUDA_DEGENERATE 2u

/* The addresses hold from one change of the soup to the next; what they point to is prepared once
 * the work that is queued so far is done. */
struct carom_soup_cuda_arrays {
    const void *positions;           /* packed floats or doubles */
    const uint32_t *corners, *faces; /* faces NULL: triangles are faces */
    const uint8_t *states;
    uint32_t vertex_count, triangle_count, face_count;
    bool doubles, as_segments;
    const float4 *records; /* of the triangles in the order of the tree; NULL where doubles */
    const double *frame;   /* scale and origin of the tree's boxes; NULL: the identity */
    carom_bvh_cuda_tree tree;
};

carom_soup_cuda_arrays carom_soup_cuda_arrays_of(const carom_device_soup *soup);

static __device__ inline carom_vec3 carom_soup_cuda_position(const carom_soup_cuda_arrays &soup,
                                                             uint32_t vertex) {
    CAROM_ASSERT(vertex < soup.vertex_count);
    if (soup.doubles) {
        const double *p = (const double *)soup.positions + 3 * (uint64_t)vertex;
        return carom_vec(p[0], p[1], p[2]);
    }
    const float *p = (const float *)soup.positions + 3 * (uint64_t)vertex;
    return carom_vec((double)p[0], (double)p[1], (double)p[2]);
}

static __device__ inline carom_triangle carom_soup_cuda_triangle(const carom_soup_cuda_arrays &soup,
                                                                 uint32_t item) {
    carom_triangle t;
    CAROM_ASSERT(item < soup.triangle_count);
    for (int i = 0; i < 3; ++i)
        t.corner[i] = carom_soup_cuda_position(soup, soup.corners[3 * (uint64_t)item + i]);
    return t;
}

/* The triangle at a slot of the tree, which is `item`. */
static __device__ inline carom_triangle carom_soup_cuda_slot(const carom_soup_cuda_arrays &soup,
                                                             uint32_t slot, uint32_t item) {
    carom_triangle t;
    if (soup.records == nullptr) return carom_soup_cuda_triangle(soup, item);
    const float4 *record = soup.records + 3 * (uint64_t)slot;
    float4 p = record[0], q = record[1];
    t.corner[0] = carom_vec((double)p.x, (double)p.y, (double)p.z);
    t.corner[1] = carom_vec((double)p.w, (double)q.x, (double)q.y);
    t.corner[2] = carom_vec((double)q.z, (double)q.w, (double)record[2].x);
    return t;
}

static __device__ inline uint32_t carom_soup_cuda_face(const carom_soup_cuda_arrays &soup,
                                                       uint32_t item) {
    return soup.faces != nullptr ? soup.faces[item] : item;
}

/* Whether searches of one soup consider a triangle: as carom_soup_searched. */
static __device__ inline bool carom_soup_cuda_searched(const carom_soup_cuda_arrays &soup,
                                                       uint32_t item) {
    uint8_t state = soup.states[item];
    return state == 0 || (state == CAROM_SOUP_CUDA_DEGENERATE && soup.as_segments);
}

#endif
