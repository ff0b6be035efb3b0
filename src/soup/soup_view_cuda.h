/* SPDX-License-Identifier: MIT */
/* soup_view_cuda.h: a soup in device memory, as kernels read it: those of soups and those of
 * folders that search soups. */
#ifndef CAROM_SRC_SOUP_SOUP_VIEW_CUDA_H
#define CAROM_SRC_SOUP_SOUP_VIEW_CUDA_H

#include <cfloat>
#include <mutex>

#include "bvh/bvh_cuda.h"
#include "geom/triangle_item.h"
#include "soup/soup_device.h"
#include "soup/soup_filter_error.h"

#define SOUP_CUDA_DEAD       1u /* CAROM_SOUP_DEAD and CAROM_SOUP_DEGENERATE of soup_view.h */
#define SOUP_CUDA_DEGENERATE 2u

/* Where float32 boxes of double coordinates lie: x * scale - origin, rounded outwards. */
struct box_frame {
    double scale, origin[3];
    unsigned long long low[3], high[3]; /* bounds while they are searched for: see to_ordered */
};

struct soup_cuda_side {
    const void *positions;
    const uint32_t *corners, *faces; /* faces NULL: triangles are faces */
    const uint8_t *states;
    uint32_t vertex_count, triangle_count, face_count;
    bool doubles, as_segments, moved;
    carom_frame frame;
};

/* One soup, or two: items are the triangles of the first, then those of the second. */
struct soup_cuda_view {
    soup_cuda_side a, b;
    bool cross;
    const box_frame *frame; /* NULL: all coordinates are float32 and unmoved */
};

/* Which triangle owns each vertex and edge (impacts_cuda.cu). The first query that needs it finds
 * it out, perhaps in several contexts at once; each change of the soup forgets it. */
struct soup_cuda_owners {
    std::mutex lock;
    bool there = false;
    carom_device_block block = {}; /* a byte per triangle */
};

struct carom_device_soup {
    carom_device_soup_def def; /* its pointers, to arrays of the host, are only compared */
    carom_device_block positions, corners, faces, states, items, records, boxes, thin, alone, frame;
    mutable soup_cuda_owners owners;
    carom_bvh_cuda_tree tree;
    uint32_t degenerate_faces;
    /* on the device, in front of `alone`: [0] thin triangles, [1] degenerate faces */
    carom_device_count *counts() const {
        return (carom_device_count *)alone.data;
    }
};

static __device__ inline carom_vec3 soup_cuda_load(const soup_cuda_side &s, uint32_t vertex) {
    if (s.doubles) {
        const double *p = (const double *)s.positions + 3 * (uint64_t)vertex;
        return carom_vec(p[0], p[1], p[2]);
    }
    const float *p = (const float *)s.positions + 3 * (uint64_t)vertex;
    return carom_vec((double)p[0], (double)p[1], (double)p[2]);
}

static __device__ inline carom_vec3 soup_cuda_load_posed(const soup_cuda_side &s, uint32_t vertex) {
    carom_vec3 x = soup_cuda_load(s, vertex);
    return s.moved ? carom_frame_apply(&s.frame, x) : x;
}

static __device__ inline const soup_cuda_side &soup_cuda_side_of(const soup_cuda_view &v,
                                                                 uint32_t item) {
    return item < v.a.triangle_count ? v.a : v.b;
}

static __device__ inline uint32_t soup_cuda_triangle_of(const soup_cuda_view &v, uint32_t item) {
    return item < v.a.triangle_count ? item : item - v.a.triangle_count;
}

static __device__ inline carom_triangle load_triangle(const soup_cuda_view &v, uint32_t item,
                                                      uint32_t *vertices) {
    const soup_cuda_side &s = soup_cuda_side_of(v, item);
    const uint32_t *corners = s.corners + 3 * (uint64_t)soup_cuda_triangle_of(v, item);
    carom_triangle t;
    CAROM_ASSERT(soup_cuda_triangle_of(v, item) < s.triangle_count);
    for (int i = 0; i < 3; ++i) {
        vertices[i] = corners[i];
        CAROM_ASSERT(corners[i] < s.vertex_count);
        t.corner[i] = soup_cuda_load_posed(s, corners[i]);
    }
    return t;
}

static __device__ inline uint32_t soup_cuda_face_of(const soup_cuda_view &v, uint32_t item) {
    const soup_cuda_side &s = soup_cuda_side_of(v, item);
    uint32_t triangle = soup_cuda_triangle_of(v, item);
    return s.faces != nullptr ? s.faces[triangle] : triangle;
}

static inline soup_cuda_side soup_cuda_side_of_soup(const carom_device_soup *soup) {
    soup_cuda_side s = {};
    s.positions = soup->positions.data;
    s.corners = (const uint32_t *)soup->corners.data;
    s.faces = soup->def.faces != nullptr ? (const uint32_t *)soup->faces.data : nullptr;
    s.states = (const uint8_t *)soup->states.data;
    s.vertex_count = soup->def.vertex_count;
    s.triangle_count = soup->def.triangle_count;
    s.face_count = soup->def.face_count;
    s.doubles = soup->def.doubles;
    s.as_segments = soup->def.as_segments;
    return s;
}

/* Doubles as integers of the same order. */
static __device__ inline unsigned long long to_ordered(double x) {
    unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    return bits >> 63 != 0 ? ~bits : bits | 1ull << 63;
}

static __device__ inline double from_ordered(unsigned long long bits) {
    return __longlong_as_double((long long)(bits >> 63 != 0 ? bits & ~(1ull << 63) : ~bits));
}

/* Adds what the threads of a warp have found to bounds of all. All of the warp take part. */
static __device__ inline void soup_cuda_add_bounds(double low[3], double high[3],
                                                   unsigned long long all_low[3],
                                                   unsigned long long all_high[3]) {
    for (int k = 0; k < 3; ++k) {
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
            low[k] = fmin(low[k], __shfl_xor_sync(~0u, low[k], step));
            high[k] = fmax(high[k], __shfl_xor_sync(~0u, high[k], step));
        }
        if (threadIdx.x % CAROM_WARP == 0 && low[k] <= high[k]) {
            atomicMin(&all_low[k], to_ordered(low[k]));
            atomicMax(&all_high[k], to_ordered(high[k]));
        }
    }
}

/* The bounds that were found, zero where there are none; returns the largest coordinate. */
static __device__ inline double soup_cuda_get_bounds(const unsigned long long all_low[3],
                                                     const unsigned long long all_high[3],
                                                     double low[3], double high[3]) {
    double most = 0.0;
    for (int k = 0; k < 3; ++k) {
        bool any = all_low[k] <= all_high[k];
        low[k] = any ? from_ordered(all_low[k]) : 0.0;
        high[k] = any ? from_ordered(all_high[k]) : 0.0;
        most = CAROM_MAX(CAROM_MAX(-low[k], high[k]), most);
    }
    return most;
}

/* A float at most x, or with -x at least. */
static __device__ inline float round_down(double x) {
    float f = (float)x;
    return f - (fabsf(f) * CAROM_FILTER_BOX_MARGIN + FLT_MIN);
}

#endif
