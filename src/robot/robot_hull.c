/* SPDX-License-Identifier: MIT */
/* Makes the hull of a part (robot_hull.h), by the exact predicates of convex.h: all points of the
 * part are in it. */
#include <string.h>

#include "convex/convex.h"
#include "geom/scale.h"
#include "robot/robot.h"

carom_status carom_robot_hull_make(carom_context *context, const carom_allocator *allocator,
                                   carom_robot_part *part) {
    const carom_robot_tree *t = &part->tree;
    if (t->triangles == NULL || t->item_count > CAROM_ROBOT_PLANE_ITEMS) return CAROM_OK;
    const carom_mesh_view view = {.positions = t->triangles,
                                  .vertex_count = 3 * (uint64_t)t->item_count};
    const carom_hull_def def = {.mesh = &view};
    carom_hull *hull;
    CAROM_TRY(carom_hull_create(context, &def, &hull));
    const carom_hull_view *from = &hull->view;
    carom_robot_hull made = {.count = from->all_count, .round = t->radius};
    made.blocks = carom_allocate(allocator, made.count, sizeof(*made.blocks));
    for (uint32_t i = 0; i < made.count && made.blocks != NULL; ++i) {
        memset(made.blocks[i].index, 0, sizeof(made.blocks[i].index)); /* not read */
        for (uint32_t k = 0; k < CAROM_HULL_LANES; ++k) { /* as they were: by a power of two */
            made.blocks[i].x[k] = carom_scale_apply(from->all[i].x[k], from->exponent);
            made.blocks[i].y[k] = carom_scale_apply(from->all[i].y[k], from->exponent);
            made.blocks[i].z[k] = carom_scale_apply(from->all[i].z[k], from->exponent);
        }
    }
    uint64_t bytes = made.count * (uint64_t)sizeof(*made.blocks);
    carom_hull_destroy(hull);
    if (made.blocks == NULL) return carom_fail_memory(context, bytes, "the hull of a shape");
    part->hull = made;
    return CAROM_OK;
}

void carom_robot_hull_free(const carom_allocator *allocator, carom_robot_hull *hull) {
    carom_release(allocator, hull->blocks);
    *hull = (carom_robot_hull){0};
}
