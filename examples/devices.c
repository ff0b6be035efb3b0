/* SPDX-License-Identifier: MIT */
/* A batch of queries divided over two GPUs: a context per device, each with its own copy of the
 * spheres and its share of the poses. Work is queued on all before the first is waited for. Where
 * there is one GPU, both contexts are on it; where there is none, both are on the CPU. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

#define SHARES 2
#define POSES  1000

typedef struct share {
    carom_context *context;
    carom_balls *balls;
    bool on_gpu;
    uint64_t first, count;  /* poses */
    void *poses, *overlaps; /* in device memory */
} share;

static void check(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(1);
}

/* A context on the device of that number, else on the first, else on the CPU. */
static void open_share(share *s, uint32_t device, const carom_packing *packing) {
    const carom_context_def own = {.backend = CAROM_BACKEND_CUDA, .device = device};
    const carom_context_def first = {.backend = CAROM_BACKEND_CUDA};
    s->on_gpu = carom_context_create(&own, &s->context) == CAROM_OK ||
                carom_context_create(&first, &s->context) == CAROM_OK;
    if (!s->on_gpu) check(NULL, carom_context_create(NULL, &s->context));
    const carom_balls_def def = {.packing = packing};
    check(s->context, carom_balls_create(s->context, &def, &s->balls));
}

/* Queues a share on its GPU; the call does not wait. */
static void queue(share *s, const carom_pose *poses) {
    carom_context *c = s->context;
    if (!s->on_gpu) return;
    check(c, carom_cuda_allocate(c, s->count * sizeof(carom_pose), &s->poses));
    check(c, carom_cuda_allocate(c, s->count * sizeof(carom_packing_overlap), &s->overlaps));
    check(c, carom_cuda_write(c, s->poses, poses + s->first, s->count * sizeof(carom_pose)));
    check(c, carom_cuda_balls_overlap(c, s->balls, NULL, s->balls, s->poses, s->count, NULL,
                                      s->overlaps));
}

/* One after the other, on the CPU. */
static void compute(carom_context *c, const carom_balls *balls, const carom_pose *poses,
                    uint64_t count, carom_packing_overlap *overlaps) {
    for (uint64_t i = 0; i < count; ++i)
        check(c, carom_balls_overlap(c, balls, NULL, balls, &poses[i], NULL, &overlaps[i]));
}

/* Waits for it; a share of the CPU is computed now. */
static void finish(share *s, const carom_pose *poses, carom_packing_overlap *overlaps) {
    carom_context *c = s->context;
    carom_packing_overlap *to = overlaps + s->first;
    if (!s->on_gpu) {
        compute(c, s->balls, poses + s->first, s->count, to);
        return;
    }
    check(c, carom_cuda_finish(c));
    check(c, carom_cuda_read(c, to, s->overlaps, s->count * sizeof(*to)));
}

static void close_share(share *s) {
    carom_balls_destroy(s->balls);
    if (s->on_gpu) {
        carom_cuda_release(s->context, s->poses);
        carom_cuda_release(s->context, s->overlaps);
    }
    carom_context_destroy(s->context);
}

int main(void) {
    static carom_pose poses[POSES]; /* a torus slides through another */
    static carom_packing_overlap overlaps[POSES], alone[POSES];
    carom_context *cpu;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    share shares[SHARES] = {{.count = POSES / SHARES}, {.count = POSES - POSES / SHARES}};
    const carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS};
    check(NULL, carom_context_create(NULL, &cpu));
    check(cpu, carom_shape_make(cpu, &torus, &mesh));
    check(cpu, carom_mesh_get_view(mesh, &view));
    check(cpu, carom_packing_create(
                   cpu, &(carom_packing_def){.mesh = &view, .count = 500, .fast = true}, &packing));
    for (int i = 0; i < POSES; ++i)
        poses[i] = (carom_pose){{1.0, 0.0, 0.0, 0.0}, {8.0 * i / POSES - 4.0, 0.1, 0.2}};

    shares[1].first = shares[0].count;
    for (uint32_t i = 0; i < SHARES; ++i) open_share(&shares[i], i, packing);
    for (int i = 0; i < SHARES; ++i) queue(&shares[i], poses);
    for (int i = 0; i < SHARES; ++i) finish(&shares[i], poses, overlaps);

    /* The same in one context: the same bytes. */
    carom_balls *balls;
    check(cpu, carom_balls_create(cpu, &(carom_balls_def){.packing = packing}, &balls));
    compute(cpu, balls, poses, POSES, alone);
    int same = 0, met = 0;
    for (int i = 0; i < POSES; ++i) {
        same += overlaps[i].volume.value == alone[i].volume.value &&
                overlaps[i].pairs == alone[i].pairs;
        met += overlaps[i].pairs != 0;
    }
    for (int i = 0; i < SHARES; ++i)
        printf("share %d: %llu poses, on %s\n", i, (unsigned long long)shares[i].count,
               shares[i].on_gpu ? "a GPU" : "the CPU");
    printf("%d of %d poses overlap; %d are as in one context\n", met, POSES, same);

    for (int i = 0; i < SHARES; ++i) close_share(&shares[i]);
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    return same == POSES ? EXIT_SUCCESS : EXIT_FAILURE;
}
