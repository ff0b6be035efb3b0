/* SPDX-License-Identifier: MIT */
/* The bound of method GRID: its candidates have overlapping enclosing balls, so their number is at
 * most that of overlapping balls in any pose (grid_bound.c). */
#include "geom/length.h"
#include "grid/grid_bound.h"
#include "soup/soup.h"

static carom_ball soup_bound_ball_of(const void *user, uint32_t triangle) {
    const carom_soup *soup = user;
    if (!carom_soup_searched(soup, triangle)) return (carom_ball){.radius = -1.0};
    return carom_soup_ball(soup, triangle);
}

/* The balls of all triangles, in the frame of the boxes. */
static carom_grid_balls balls_of(const carom_soup *soup) {
    return (carom_grid_balls){soup->triangle_count, soup_bound_ball_of, soup,
                              carom_exponent(soup->scale)};
}

/* b: NULL for a with itself. */
static carom_status find_bound(carom_context *context, const carom_soup *a, const carom_soup *b,
                               uint64_t *bound) {
    carom_grid_balls balls_a = balls_of(a), balls_b = balls_of(b != NULL ? b : a);
    *bound = 0;
    CAROM_TRY(carom_soup_check_any(context, a));
    if (b != NULL) CAROM_TRY(carom_soup_check_any(context, b));
    return carom_grid_bound(context, &balls_a, b != NULL ? &balls_b : NULL, bound);
}

carom_status carom_soup_cross_bound(carom_context *context, const carom_soup *a,
                                    const carom_soup *b, uint64_t *bound) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "soup");
    CAROM_REQUIRE_OUTPUT(bound, "bound");
    return find_bound(context, a, b, bound);
}

carom_status carom_soup_self_bound(carom_context *context, const carom_soup *soup,
                                   uint64_t *bound) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_OUTPUT(bound, "bound");
    return find_bound(context, soup, NULL, bound);
}
