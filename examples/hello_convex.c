/* SPDX-License-Identifier: MIT */
/* hello_convex.c: how far apart are a ball and a box? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    const carom_convex ball = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0};
    const carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 1.0, 1.0}};
    const carom_pose pose = {.t = {3.0, 0.0, 0.0}};
    carom_convex_result result;
    if (carom_context_create(NULL, &context) ||
        carom_convex_distance(context, &ball, NULL, &box, &pose, NULL, &result))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("they are %.6f apart\n", result.distance);
    carom_context_destroy(context);
}
