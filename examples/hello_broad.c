/* SPDX-License-Identifier: MIT */
/* hello_broad.c: which of three boxes overlap? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_broad *broad;
    carom_pairs pairs = {0};
    const carom_bounds boxes[3] = {
        {{0, 0, 0}, {2, 2, 2}}, {{1, 1, 1}, {3, 3, 3}}, {{5, 5, 5}, {6, 6, 6}}};
    if (carom_context_create(NULL, &context) ||
        carom_broad_create(context, &(carom_broad_def){.boxes = boxes, .box_count = 3}, &broad) ||
        carom_broad_pairs(context, broad, &pairs))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    for (uint64_t i = 0; i < pairs.count; ++i)
        printf("boxes %u and %u overlap\n", pairs.data[i].a, pairs.data[i].b);
    carom_pairs_free(&pairs);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
}
