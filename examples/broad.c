/* SPDX-License-Identifier: MIT */
/* Which of a thousand drifting boxes touch, frame by frame, and which is in front of the camera? */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

#define BOXES 1000

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

int main(void) {
    static carom_bounds boxes[BOXES];
    carom_context *context;
    carom_broad *broad;
    carom_random random = {7};
    must(NULL, carom_context_create(NULL, &context));

    /* input, prepare */
    for (int i = 0; i < BOXES; ++i) {
        double x = carom_random_between(&random, 0, 30), y = carom_random_between(&random, 0, 30),
               z = carom_random_between(&random, 0, 30);
        boxes[i] = (carom_bounds){{x, y, z}, {x + 1, y + 1, z + 1}};
    }
    carom_broad_def def = {.boxes = boxes, .box_count = BOXES};
    must(context, carom_broad_create(context, &def, &broad));

    /* frames: the first hundred boxes move, one is added, one is removed */
    carom_pairs pairs = {0}, begun = {0}, ended = {0};
    must(context, carom_broad_step(context, broad, &pairs, NULL, NULL));
    printf("%llu pairs overlap\n", (unsigned long long)pairs.count);
    for (int frame = 0; frame < 3; ++frame) {
        uint32_t gone = 500 + (uint32_t)frame, id;
        for (int i = 0; i < 100; ++i) {
            boxes[i].low.x += 0.25;
            boxes[i].high.x += 0.25;
        }
        carom_bounds added = {{10, 10, 10}, {12, 12, 12}};
        must(context, carom_broad_move(context, broad, NULL, boxes, 100));
        must(context, carom_broad_add(context, broad, &added, 1, &id));
        must(context, carom_broad_remove(context, broad, &gone, 1));
        must(context, carom_broad_step(context, broad, &pairs, &begun, &ended));
        printf("box %u came: %llu pairs, %llu began, %llu ended\n", id,
               (unsigned long long)pairs.count, (unsigned long long)begun.count,
               (unsigned long long)ended.count);
    }

    /* queries between frames */
    carom_ray ray = {.origin = {-5, 15, 15}, .direction = {1, 0, 0}};
    carom_hit hit;
    must(context, carom_broad_cast_rays(context, broad, &ray, 1, &hit));
    if (hit.id != CAROM_NONE) printf("the ray meets box %u at t = %.3f\n", hit.id, hit.distance);

    carom_pairs_free(&pairs);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
