/* SPDX-License-Identifier: MIT */
/* solid_update_device.h: what the GPU library does for solids whose mesh deforms, as the core sees
 * it. */
#ifndef CAROM_SRC_SOLID_SOLID_UPDATE_DEVICE_H
#define CAROM_SRC_SOLID_SOLID_UPDATE_DEVICE_H

#include "solid/solid_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an update needs of the connectivity (solid.h), and where it writes on the host. Arrays of
 * the connectivity are copied to the device once; those that are written must stay where they are
 * until the solid on the device is destroyed, which comes first. */
typedef struct carom_device_solid_faces {
    const uint32_t *first, *sources;
    const uint32_t *region_of; /* per triangle: which region; NULL: there is one */
    uint64_t given_count;      /* of vertices that updates give */
    uint32_t region_count;
    bool turned; /* triangles are those of the mesh reversed */

    double *positions;
    void *nodes; /* carom_bvh_node */
    carom_solid_sum *blocks;
} carom_device_solid_faces;

/* The positions of an update: of the host, packed doubles, or in device memory. */
typedef struct carom_device_solid_given {
    const void *data;
    bool on_device, doubles;
} carom_device_solid_given;

/* What they are like. */
typedef struct carom_device_solid_gathered {
    double low[3], high[3];
    bool finite;
    bool coincide; /* vertices that were merged have the same position */
} carom_device_solid_gathered;

/* Frames of boxes (x * scale - origin), of sums (2^exponent x) and of the area that is reported
 * (mesh_report.h). */
typedef struct carom_device_solid_frames {
    double scale, origin[3];
    int exponent;
    double half, shrink;
    int area_scale;
} carom_device_solid_frames;

/* Sums over all triangles. */
typedef struct carom_device_solid_sizes {
    double twice_area, longest, side_lengths;
    carom_solid_sum area; /* that is reported, doubled, without triangles left open */
    uint64_t open;        /* triangles whose products cancel, for the host */
} carom_device_solid_sizes;

/* Each of these waits, and must not be called while a frame is recorded. An update calls them in
 * this order; after a failure it may begin anew. */
typedef struct carom_cuda_solid_follow {
    /* Takes memory, once per solid; on failure a later call may succeed. */
    carom_status (*prepare)(carom_device *device, carom_device_solid *solid,
                            const carom_device_solid_faces *faces);
    /* Takes over packed positions, which are in device memory, or doubles of the host. */
    carom_status (*gather)(carom_device *device, carom_device_solid *solid,
                           const carom_device_solid_given *given,
                           carom_device_solid_gathered *gathered);
    /* The positions of the solid's vertices, in device memory. */
    const void *(*positions)(const carom_device_solid *solid);
    /* Refits the tree, copies positions and nodes to the host, and measures triangles; writes the
     * largest triangle of each region. */
    carom_status (*measure)(carom_device *device, carom_device_solid *solid,
                            const carom_device_solid_frames *frames,
                            carom_device_solid_sizes *sizes, uint32_t *regions);
    carom_status (*get_open)(carom_device *device, const carom_device_solid *solid, uint32_t *open,
                             uint64_t count);
    /* Computes prefix sums and copies them to the host. */
    carom_status (*sum)(carom_device *device, carom_device_solid *solid, const double centre[3],
                        int exponent, int scale);
    carom_status (*set_represents)(carom_device *device, carom_device_solid *solid,
                                   const uint8_t *represents);
    /* Joins triangles across edges (carom_solid.across), but for those touched, to regions; writes
     * the first triangles of those of `least` triangles or more, in any order. There is space for
     * one in so many triangles. */
    carom_status (*join)(carom_device *device, carom_device_solid *solid, const uint32_t *across,
                         const uint32_t *touched, uint64_t touched_count, uint32_t least,
                         uint32_t *firsts, uint64_t *first_count);
    /* Marks the triangles of some of these regions, and no others, as plain faces, and reads what
     * triangles represent then. */
    carom_status (*mark_plain)(carom_device *device, carom_device_solid *solid,
                               const uint32_t *firsts, uint64_t first_count, uint8_t *represents);
} carom_cuda_solid_follow;

#define CAROM_CUDA_SOLID_FOLLOW "carom_cuda_solid_follow_1"

#ifdef __cplusplus
}
#endif

#endif
