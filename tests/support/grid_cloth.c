/* SPDX-License-Identifier: MIT */
#include "tests/support/grid_cloth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "grid/grid.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

static carom_box box_of(const carom_mesh_view *mesh, uint64_t triangle) {
    carom_box box = carom_box_empty();
    for (int c = 0; c < 3; ++c) {
        carom_box point;
        memcpy(point.low, (const float *)mesh->positions + 3 * mesh->corners[3 * triangle + c],
               sizeof(point.low));
        memcpy(point.high, point.low, sizeof(point.high));
        box = carom_box_join(point, box);
    }
    return box;
}

void grid_cloth_make(carom_context *context, uint64_t detail, grid_cloth *cloth) {
    carom_shape_def shape = {
        .shape = CAROM_SHAPE_CLOTH, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    cloth->count = (uint32_t)view.face_count;
    cloth->boxes = malloc(cloth->count * sizeof(*cloth->boxes));
    assert_non_null(cloth->boxes);
    for (uint32_t i = 0; i < cloth->count; ++i) cloth->boxes[i] = box_of(&view, i);
    carom_mesh_destroy(mesh);
}

void grid_cloth_free(grid_cloth *cloth) {
    free(cloth->boxes);
}

static void give_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *out) {
    const carom_box *boxes = user;
    for (uint32_t i = 0; i < count; ++i) out[i] = boxes[items != NULL ? items[i] : first + i];
}

void grid_content_build(carom_context *context, const grid_cloth *cloth, carom_grid_hash hash,
                        grid_content *content) {
    carom_grid grid = {0};
    carom_grid_def def = {.hash = hash};
    carom_grid_source source = {cloth->count, give_boxes, cloth->boxes};
    assert_ok(context, carom_grid_build(context, &context->allocator, &grid, &def, NULL, &source));
    const carom_grid_view *v = &grid.view;
    uint64_t buckets = v->table.bucket_count;
    content->space = v->space;
    content->table = v->table;
    content->levels = malloc(cloth->count);
    content->starts = malloc((buckets + 1) * sizeof(*content->starts));
    content->sums = calloc(buckets, sizeof(*content->sums));
    memcpy(content->starts, v->starts, (buckets + 1) * sizeof(*content->starts));
    for (uint32_t rank = 0; rank < cloth->count; ++rank)
        content->levels[grid.items[rank]] = v->levels[rank];
    for (uint64_t b = 0; b < buckets; ++b)
        for (uint32_t at = v->starts[b]; at < v->starts[b + 1]; ++at)
            content->sums[b] += grid_entry_digest(grid.items[v->ranks[at]], v->tags[at]);
    carom_grid_free(&grid, &context->allocator);
}

void grid_content_free(grid_content *content) {
    free(content->levels);
    free(content->starts);
    free(content->sums);
}

void grid_content_check(const grid_content *content, uint32_t count, const char *name) {
    uint64_t buckets = content->table.bucket_count;
    unsigned hash = content->table.hash;
    char line[64];
    snprintf(line, sizeof(line), "%s-levels", name);
    test_golden("grid.txt", line, test_hash(content->levels, count, 0));
    snprintf(line, sizeof(line), "%s-starts-%u", name, hash);
    test_golden("grid.txt", line, test_hash_numbers(content->starts, (buckets + 1) * 4, "4", 0));
    snprintf(line, sizeof(line), "%s-buckets-%u", name, hash);
    test_golden("grid.txt", line,
                test_hash_numbers(content->sums, buckets * sizeof(*content->sums), "8", 0));
}
