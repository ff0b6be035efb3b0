/* SPDX-License-Identifier: MIT */
/* balls_cuda.h: the grid of a packing in device memory: balls_build_cuda.cu enters spheres,
 * balls_search_cuda.h looks them up, balls_cuda.cu for overlaps and balls_pairs_cuda.cu for pairs.
 */
#ifndef CAROM_SRC_BALLS_BALLS_CUDA_H
#define CAROM_SRC_BALLS_BALLS_CUDA_H

#include "balls/balls_device.h"
#include "base/device_cuda.h"

#define REPLICAS 8u /* of what very many blocks of a query read at once or add to */

/* A grid in device memory, with positions and radii in its units. Of `v`, only `spheres` and
 * `starts` point to arrays; starts are those of entries. */
struct grid_view {
    carom_balls_view v;
    const float4 *query_spheres; /* what a lookup needs of them: position, reach */
    const float *near_radii;     /* the larger of inner and secondary radius */
    const float4 *groups;        /* balls around the positions of 32 consecutive spheres */
    const float4 *entries;       /* position, near */
    const uint4 *links;          /* rank; tag; reach */
};

struct grid_arrays {
    carom_device_block spheres, query_spheres, near_radii, groups, starts, entries, links;
};

struct carom_device_balls {
    grid_arrays arrays[2]; /* the current ones, and those that the next change fills */
    int current;
    carom_device_block view; /* REPLICAS of grid_view; where they lie never changes */
    carom_balls_view host;   /* its numbers, for launches */
    uint64_t entries, wanted;
};

/* Words of a bit per sphere, and groups of spheres. */
#define BALLS_WORD_BITS 32u

static __host__ __device__ inline uint64_t balls_cuda_words_for(uint32_t count) {
    return ((uint64_t)count + BALLS_WORD_BITS - 1u) / BALLS_WORD_BITS;
}

/* The level, and the lowest nine bits of a cell along each axis: cells of one sphere are fewer than
 * 512 along each (CAROM_BALLS_FINE_SIDE). */
#define BALLS_TAG_BITS 9u

static __device__ inline uint32_t tag_of(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    const uint32_t lowest = (1u << BALLS_TAG_BITS) - 1u;
    CAROM_ASSERT(level < 1u << (32u - 3u * BALLS_TAG_BITS));
    return (x & lowest) | (y & lowest) << BALLS_TAG_BITS | (z & lowest) << 2u * BALLS_TAG_BITS |
           level << 3u * BALLS_TAG_BITS;
}

/* A query: what balls_search_cuda.h needs of a pair of packings. */
struct query_view {
    const grid_view *grid[2];
    carom_pose pose[2];
    const carom_pose *poses[2]; /* NULL: `pose` */
    double scale[2];
    uint64_t flags; /* the first of its words */
};

/* Words of flags, a bit per sphere of both packings. */
static inline uint64_t flag_words(const carom_device_balls_query *m) {
    return balls_cuda_words_for(m->a.balls->host.count) +
           balls_cuda_words_for(m->b.balls->host.count);
}

static inline query_view view_of(const carom_device_balls_query *m) {
    query_view view = {};
    const carom_device_posed_balls *posed[2] = {&m->a, &m->b};
    for (int i = 0; i < 2; ++i) {
        view.grid[i] = (const grid_view *)posed[i]->balls->view.data;
        view.pose[i] = posed[i]->pose;
        view.poses[i] = posed[i]->poses;
        view.scale[i] = posed[i]->scale;
    }
    return view;
}

/* Counters of a query: */
enum { N_BAD, N_VISITS, BALLS_CUDA_N_CANDIDATES, N_UNDECIDED, BALLS_CUDA_N_FOUND };

/* Notes the work of a query; fails where poses do not fit. */
carom_status carom_balls_cuda_finish(carom_device *device, const carom_device_count *n);
/* Queues a search for pairs (carom_cuda_balls.search). */
carom_status carom_balls_cuda_search(carom_device *device, const carom_device_balls_query *query,
                                     carom_balls_pair_kind kind, bool any, carom_cuda_order order,
                                     carom_cuda_pairs *pairs, uint64_t *count);
carom_status carom_balls_cuda_create(carom_device *device, carom_device_balls **out);
void carom_balls_cuda_destroy(carom_device_balls *balls);
uint64_t carom_balls_cuda_bytes(const carom_device_balls *balls);
uint64_t carom_balls_cuda_entries(const carom_device_balls *balls);
carom_status carom_balls_cuda_set(carom_device *device, carom_device_balls *balls,
                                  const carom_balls_view *view,
                                  const carom_packing_sphere *spheres);

#endif
