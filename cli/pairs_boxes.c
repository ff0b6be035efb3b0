/* SPDX-License-Identifier: MIT */
/* carom pairs --boxes in memory: the boxes of all faces go to one broad phase, those of a second
 * mesh after those of the first, in a group of their own. */
#include "cli/pairs_boxes.h"

#include <math.h>
#include <stdlib.h>

#include "cli/meshes.h"

typedef struct box_list {
    carom_bounds *boxes;
    carom_broad_filter *filters;
    uint64_t count, first_of_b;
} box_list;

static carom_bounds box_of_face(const carom_mesh_view *view, uint64_t face,
                                const carom_pose *pose) {
    uint64_t begin = view->offsets != NULL ? view->offsets[face] : 3 * face;
    uint64_t end = view->offsets != NULL ? view->offsets[face + 1] : 3 * face + 3;
    carom_bounds box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (uint64_t c = begin; c < end; ++c) {
        uint64_t v = 3 * (uint64_t)view->corners[c];
        const double *d = view->positions;
        const float *f = view->positions;
        bool wide = view->scalar == CAROM_SCALAR_FLOAT64;
        carom_vec3 p = {wide ? d[v] : (double)f[v], wide ? d[v + 1] : (double)f[v + 1],
                        wide ? d[v + 2] : (double)f[v + 2]};
        if (pose != NULL) p = carom_pose_apply_value(pose, &p);
        box.low = (carom_vec3){fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z)};
        box.high =
            (carom_vec3){fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z)};
    }
    return box;
}

static carom_status add_mesh(cli *cli, const pairs_boxes_def *def, size_t index, box_list *list) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    const carom_pose *pose = index == 1 ? &def->pose->pose : NULL;
    carom_status status = meshes_read(cli, def->paths[index], def->from, &mesh);
    if (status == CAROM_OK && index == 1) status = pose_apply(cli, def->pose, &mesh);
    if (status == CAROM_OK && def->fan) status = meshes_triangulate(cli, true, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) {
        uint64_t count = list->count + view.face_count;
        carom_bounds *boxes = realloc(list->boxes, (count + 1) * sizeof(*boxes));
        if (boxes != NULL) list->boxes = boxes;
        carom_broad_filter *filters = realloc(list->filters, (count + 1) * sizeof(*filters));
        if (filters != NULL) list->filters = filters;
        if (boxes == NULL || filters == NULL) status = CAROM_NO_MEMORY;
        uint32_t group = index == 0 ? 1 : 2, mask = def->count == 1 ? 1 : 3 - group;
        for (uint64_t f = 0; f < view.face_count && status == CAROM_OK; ++f) {
            boxes[list->count + f] = box_of_face(&view, f, pose);
            filters[list->count + f] = (carom_broad_filter){.group = group, .mask = mask};
        }
        if (index == 0) list->first_of_b = view.face_count;
        if (status == CAROM_OK) list->count = count;
    }
    carom_mesh_destroy(mesh);
    return status;
}

carom_status pairs_boxes(cli *cli, const pairs_boxes_def *def, carom_pairs *pairs) {
    box_list list = {0};
    carom_broad *broad = NULL;
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < def->count && status == CAROM_OK; ++i)
        status = add_mesh(cli, def, i, &list);
    carom_broad_def made = {.boxes = list.boxes, .box_count = list.count, .filters = list.filters};
    if (status == CAROM_OK) status = carom_broad_create(cli->context, &made, &broad);
    if (status == CAROM_OK) status = carom_broad_pairs(cli->context, broad, pairs);
    for (uint64_t i = 0; i < pairs->count && def->count == 2; ++i)
        pairs->data[i].b -= (uint32_t)list.first_of_b;
    carom_broad_destroy(broad);
    free(list.boxes);
    free(list.filters);
    return status;
}
