/* SPDX-License-Identifier: MIT */
/* A grid over the triangles of a soup, with their enclosing balls.
 *
 * The bound of grid_bound.c is proved for these balls, because they do not depend on the pose. So
 * they are stored in doubles, in the frame of the boxes, and exceed the smallest balls by no more
 * than rounding. */
#include "base/threads.h"
#include "geom/enclosing_ball.h"
#include "soup/soup.h"

#define BALLS_PER_RANGE 4096u /* triangles with their balls */

typedef struct soup_grid_copy {
    const carom_soup *soup;
    carom_soup_grid *cells;
} soup_grid_copy;

/* Of the largest coordinate: the error of a corner in the frame is at most 2^-53 along each axis,
 * sqrt(3) of that in all; or an underflow. */
#define BALL_FRAME_ERROR     0x1p-51
#define BALL_FRAME_UNDERFLOW 0x1p-1000

carom_ball carom_soup_ball(const carom_soup *soup, uint32_t triangle) {
    carom_triangle t = carom_soup_triangle(soup, soup->corners + 3 * (uint64_t)triangle);
    double largest = 0.0;
    carom_ball ball;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = carom_vec_scale(t.corner[i], soup->scale);
        t.corner[i] = carom_vec_sub(p, soup->origin);
        double size = carom_vec_largest(t.corner[i]);
        largest = CAROM_MAX(size, largest);
    }
    carom_ball_around_triangle(t.corner, &ball);
    CAROM_ASSERT(ball.radius >= 0.0);
    if (soup->scalar != CAROM_SCALAR_FLOAT32)
        ball.radius += BALL_FRAME_ERROR * largest + BALL_FRAME_UNDERFLOW;
    return ball;
}

static carom_status soup_grid_copy_triangles(void *argument, carom_range range) {
    soup_grid_copy *p = argument;
    const carom_soup *soup = p->soup;
    for (uint64_t rank = range.begin; rank < range.end; ++rank) {
        uint32_t item = p->cells->grid.items[rank];
        CAROM_ASSERT(item < soup->triangle_count);
        memcpy(p->cells->rank_corners + 3 * rank, soup->corners + 3 * (uint64_t)item,
               3 * sizeof(uint32_t));
        if (carom_soup_searched(soup, item))
            p->cells->balls[rank] = carom_soup_ball(soup, item);
        else
            p->cells->balls[rank] = (carom_ball){{0.0, 0.0, 0.0}, 0.0};
    }
    return CAROM_OK;
}

carom_status carom_soup_grid_build(carom_context *context, const carom_allocator *allocator,
                                   const carom_soup *soup, const carom_grid_def *def,
                                   carom_soup_grid *cells) {
    carom_grid_source source = {soup->triangle_count, carom_soup_boxes, soup};
    uint64_t count = soup->triangle_count;
    CAROM_TRY(carom_grid_build(context, allocator, &cells->grid, def, NULL, &source));
    if (count > cells->capacity || cells->rank_corners == NULL) {
        cells->rank_corners = carom_grid_renew(context, allocator, cells->rank_corners,
                                               3 * count + 1, sizeof(uint32_t));
        cells->balls =
            carom_grid_renew(context, allocator, cells->balls, count, sizeof(carom_ball));
        bool made = cells->rank_corners != NULL && cells->balls != NULL;
        cells->capacity = made ? count : 0;
        if (!made) return carom_fail_memory(context, count * 44, "a soup's grid");
    }
    CAROM_ASSERT(cells->grid.view.item_count == count && cells->capacity >= count);
    cells->rank_corners[3 * count] = 0; /* SIMD loads read one entry past the last */
    soup_grid_copy p = {soup, cells};
    return carom_parallel_for(context, count, BALLS_PER_RANGE, soup_grid_copy_triangles, &p);
}

void carom_soup_grid_free(carom_soup_grid *cells, const carom_allocator *allocator) {
    carom_grid_free(&cells->grid, allocator);
    carom_release(allocator, cells->rank_corners);
    carom_release(allocator, cells->balls);
    *cells = (carom_soup_grid){0};
}
