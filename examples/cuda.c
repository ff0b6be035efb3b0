/* SPDX-License-Identifier: MIT */
/* A thousand frames of a deforming cloth on the GPU. Positions and pairs stay on the device; each
 * frame rebuilds the tree and finds all pairs of faces that meet, as one recorded graph. Without a
 * device it says so. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

#define SHAPES 4
#define FRAMES 1000

static carom_context *context;

static void check(carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(1);
}

int main(void) {
    const carom_context_def on_cuda = {.backend = CAROM_BACKEND_CUDA};
    if (carom_context_create(&on_cuda, &context) != CAROM_OK) {
        printf("%s\n", carom_context_message(NULL));
        return 0;
    }

    /* Four shapes of one cloth in device memory. In an application a simulation writes them. */
    carom_mesh *mesh[SHAPES];
    carom_mesh_view view[SHAPES];
    void *positions[SHAPES];
    carom_soup *soup = NULL;
    carom_cuda_frame *frame[SHAPES];
    carom_cuda_pairs pairs = {0};
    for (int i = 0; i < SHAPES; ++i) {
        const carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH,
                                       .detail = 200,
                                       .seed = (uint64_t)i,
                                       .scalar = CAROM_SCALAR_FLOAT32};
        check(carom_shape_make(context, &cloth, &mesh[i]));
        check(carom_mesh_get_view(mesh[i], &view[i]));
        if (i == 0) check(carom_soup_create(context, &(carom_soup_def){.mesh = &view[0]}, &soup));
        uint64_t bytes = view[i].vertex_count * 3 * sizeof(float);
        check(carom_cuda_allocate(context, bytes, &positions[i]));
        check(carom_cuda_write(context, positions[i], view[i].positions, bytes));

        /* What a frame does, recorded once. */
        check(carom_cuda_frame_begin(context));
        check(carom_cuda_soup_update(
            context, soup,
            &(carom_cuda_positions){positions[i], view[i].scalar, view[i].vertex_count}));
        check(carom_cuda_soup_self_pairs(context, soup, CAROM_CUDA_ORDER_SORTED, &pairs));
        check(carom_cuda_frame_end(context, &frame[i]));
    }

    double start = carom_time_seconds();
    for (int i = 0; i < FRAMES; ++i) {
        check(carom_cuda_frame_run(context, frame[i % SHAPES]));
        check(carom_cuda_finish(context)); /* pairs.data, on the device, has pairs.count pairs */
        if (i < SHAPES) printf("frame %d: %llu pairs\n", i, (unsigned long long)pairs.count);
    }
    printf("%d frames of %llu triangles, %.3f ms each\n", FRAMES,
           (unsigned long long)view[0].face_count, 1e3 * (carom_time_seconds() - start) / FRAMES);

    for (int i = 0; i < SHAPES; ++i) {
        carom_cuda_frame_destroy(frame[i]);
        carom_cuda_release(context, positions[i]);
        carom_mesh_destroy(mesh[i]);
    }
    carom_cuda_pairs_free(context, &pairs);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return 0;
}
