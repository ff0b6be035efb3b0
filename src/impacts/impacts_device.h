/* SPDX-License-Identifier: MIT */
/* impacts_device.h: what the GPU library does for impacts, as the core sees it. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_DEVICE_H
#define CAROM_SRC_IMPACTS_IMPACTS_DEVICE_H

#include "base/device.h"
#include "geom/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_device_soup carom_device_soup; /* soup_device.h */

/* A soup in a search, and where its vertices move. */
typedef struct carom_device_way {
    const carom_device_soup *soup; /* NULL for the second of a search of one soup */
    const void *end;               /* on the device, packed; NULL: at rest */
    bool end_doubles;
    bool moved; /* by the frame; of a soup at rest */
    carom_frame frame;
} carom_device_way;

/* What is decided of a vertex and a face, or two edges. */
typedef enum carom_device_impacts_task {
    CAROM_DEVICE_IMPACTS_MEET, /* whether they meet while they move, and when */
    CAROM_DEVICE_IMPACTS_NEAR, /* whether they are within reach at the start, and their distance */
    CAROM_DEVICE_IMPACTS_STEP  /* the time until which they stay beyond reach */
} carom_device_impacts_task;

/* Four points that move, which doubles do not decide: start, end and edges as for carom_toi_of. The
 * host fills in whether they count, and the interval. */
typedef struct carom_device_motion {
    uint64_t key;
    carom_vec3 start[4], end[4];
    carom_interval time;
    int32_t edges, hit;
} carom_device_motion;

/* What a search leaves on the device, or of a search for the first on the host. */
typedef enum carom_device_impacts_form {
    CAROM_DEVICE_IMPACTS_ALL,      /* all that count, in the order of results */
    CAROM_DEVICE_IMPACTS_FIRST,    /* the one with the least lower end, and the least upper end */
    CAROM_DEVICE_IMPACTS_DISTANCES /* how far vertices may move; of task NEAR */
} carom_device_impacts_form;

typedef struct carom_device_impacts_def carom_device_impacts_def;

/* Decides motions on the host; `largest` is the largest coordinate at any time. */
typedef carom_status carom_device_decide_fn(const carom_device_impacts_def *def,
                                            carom_device_motion *motions, uint64_t count,
                                            double largest);

/* Counted by a search, on the host. */
typedef struct carom_device_impacts_work {
    uint64_t node_pairs, candidates, host_items;
    double largest; /* coordinate, where distances are found */
} carom_device_impacts_work;

struct carom_device_impacts_def {
    carom_device_way a, b;
    carom_device_impacts_task task;
    carom_device_impacts_form form;
    double reach;
    carom_device_decide_fn *decide;
    carom_context *context;
    /* Set when the search is finished; each may be NULL. Of form ALL the list, in memory of its
     * own. */
    carom_cuda_impacts *impacts;
    bool in_scratch; /* it is the context's, until the next search; `memory` stays NULL */
    carom_soup_impact *first;
    carom_device_impacts_work *work;
    double minimum, *distances[2]; /* on the device */
};

typedef struct carom_cuda_impacts_table {
    /* Memory for end positions of both soups, until the next search. */
    carom_status (*reserve_ends)(carom_device *device, const uint64_t *bytes, void **memory);
    /* Queues a search. */
    carom_status (*search)(carom_device *device, const carom_device_impacts_def *def);
    void (*free)(carom_cuda_impacts *impacts);
} carom_cuda_impacts_table;

#define CAROM_CUDA_IMPACTS "carom_cuda_impacts_1"

#ifdef __cplusplus
}
#endif

#endif
