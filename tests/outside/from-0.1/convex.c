/* SPDX-License-Identifier: MIT */
/* Convex shapes: a capsule falls onto a box; then the hull of some points beside it. */
#include <stdio.h>

#include "carom/carom.h"

int main(void) {
    carom_context *context;
    if (carom_context_create(NULL, &context) != CAROM_OK) return 1;

    carom_convex floor = {.kind = CAROM_CONVEX_KIND_BOX, .half = {5.0, 5.0, 0.5}};
    carom_convex capsule = {.kind = CAROM_CONVEX_KIND_CAPSULE, .radius = 0.25, .half_height = 0.5};
    carom_convex_cache cache = {0}; /* each step starts from what the last one found */
    for (int step = 0; step < 4; ++step) {
        carom_pose pose = {.t = {0.0, 0.0, 2.0 - 0.3 * step}};
        carom_convex_result r;
        if (carom_convex_depth(context, &floor, NULL, &capsule, &pose, NULL, &cache, &r) !=
            CAROM_OK)
            break;
        printf("height %.1f: %s, distance %.2f, depth %.2f\n", pose.t.z,
               carom_relation_name(r.relation), r.distance, r.depth);
    }

    static const carom_vec3 points[5] = {
        {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 0.2}};
    carom_hull_def def = {.mesh = {.positions = points, .vertex_count = 5}};
    carom_hull *hull;
    carom_hull_info info;
    carom_status status = carom_hull_create(context, &def, &hull);
    if (status == CAROM_OK) {
        carom_convex shape = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
        carom_pose pose = {.t = {0.0, 0.0, 0.75}};
        bool meet = false;
        status = carom_hull_get_info(context, hull, &info);
        if (status == CAROM_OK)
            status = carom_convex_meet(context, &floor, NULL, &shape, &pose, NULL, NULL, &meet);
        printf("the hull has %d vertices and %s the floor\n", (int)info.vertices,
               meet ? "meets" : "is above");
    }
    if (status != CAROM_OK) fprintf(stderr, "%s\n", carom_context_message(context));
    carom_hull_destroy(hull);
    carom_context_destroy(context);
    return status == CAROM_OK ? 0 : 1;
}
