/* SPDX-License-Identifier: MIT */
/* soup_distance_device.h: what the GPU library does for distances of posed soups and of pairs of
 * faces, as the core sees it. */
#ifndef CAROM_SRC_SOUP_SOUP_DISTANCE_DEVICE_H
#define CAROM_SRC_SOUP_SOUP_DISTANCE_DEVICE_H

#include "soup/soup_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Poses that are searched together. Memory grows with their number, and this many keep a device
 * busy. */
#define CAROM_DEVICE_DISTANCE_POSES 1024u

/* Poses in which faces meet: which pair of faces is named depends on the trees of the CPU, so the
 * host finds it, in arrays of the host. */
typedef struct carom_device_contact {
    carom_context *context; /* and the soups, as the query has them */
    const carom_soup *soup_a, *soup_b;
    const carom_pose *poses_a, *poses_b; /* `count` each; NULL: the identity */
    const uint8_t *meets;                /* of `count` poses: to be found */
    uint64_t count;
    const void *positions_a, *positions_b; /* as on the device; NULL: those of the host are */
    carom_soup_gap *gaps;                  /* to be set where `meets` */
} carom_device_contact;
typedef carom_status carom_device_contact_fn(const carom_device_contact *contact);

/* Two soups in `count` poses. All arrays are in device memory. */
typedef struct carom_device_distance {
    const carom_device_soup *a, *b;
    const carom_pose *poses_a, *poses_b; /* NULL: the identity */
    uint64_t count;
    double limit;                          /* infinite for none; 0 with `meet` */
    carom_soup_gap *gaps;                  /* or */
    bool *meet;                            /* whether faces meet is all that is found */
    carom_device_contact_fn *find_contact; /* called by finish */
    carom_context *context;                /* passed to it, and both soups */
    const carom_soup *soup_a, *soup_b;
    /* Whether positions of the host are not those of the device, by the time of finish. */
    const bool *stale_a, *stale_b;
} carom_device_distance;

typedef struct carom_cuda_distance {
    /* Queues. Fails at finish with CAROM_BAD_INPUT where a pose is not finite or moves a soup
     * beyond the range of doubles. */
    carom_status (*find)(carom_device *device, const carom_device_distance *query);
    /* The same with poses and results in arrays of the host, some at a time; waits, and adds to
     * *work. *bad is the first pose that is out of range, or `count`: results before it are there.
     */
    carom_status (*find_of_host)(carom_device *device, const carom_device_distance *query,
                                 uint64_t *bad, carom_work *work);
    /* Measures pairs of faces of posed soups; arrays of the host; waits. Of one soup, b.soup is
     * that of a. */
    carom_status (*gaps)(carom_device *device, const carom_device_posed *a,
                         const carom_device_posed *b, const carom_pair *pairs, uint64_t count,
                         carom_soup_gap *gaps);
} carom_cuda_distance;

#define CAROM_CUDA_DISTANCE "carom_cuda_distance_1"

#ifdef __cplusplus
}
#endif

#endif
