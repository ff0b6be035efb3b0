/* SPDX-License-Identifier: MIT */
/* Checks of a soup between two calls, from what soup.h says of it.
 *
 * The mesh: corners in range, triangles in the order of their faces, states that agree with the
 * positions and with the counts. Derived data: balls contain their triangles, and the
 * tree or grid holds the boxes of all of them (bvh_validate.c, grid_validate.c). A soup whose last
 * change failed has no derived data to check. */
#include "soup/soup.h"

#include "base/power.h"
#include "geom/length.h"

static const char *validate_mesh(const carom_soup *soup) {
    for (uint64_t v = 0; v < soup->vertex_count; ++v)
        if (!carom_vec_finite(carom_soup_position(soup, (uint32_t)v)))
            return "soup: a position is not finite";
    for (uint64_t i = 0; i < 3 * (uint64_t)soup->triangle_count; ++i)
        if (soup->corners[i] >= soup->vertex_count) return "soup: a corner is out of range";
    if (soup->faces == NULL)
        return soup->face_count == soup->triangle_count
                   ? NULL
                   : "soup: triangles are faces, but the counts differ";
    for (uint32_t t = 0, next = 0; t < soup->triangle_count; ++t) {
        uint32_t face = soup->faces[t];
        if (t > 0 && face < soup->faces[t - 1]) return "soup: triangles are not sorted by face";
        if (face > next) return "soup: a face has no triangles";
        if (face == next) ++next;
        if (t + 1 == soup->triangle_count && next != soup->face_count)
            return "soup: the number of faces is wrong";
    }
    return NULL;
}

static const char *validate_states(const carom_soup *soup) {
    uint32_t dead = 0, degenerate = 0;
    for (uint32_t t = 0, first; t < soup->triangle_count;) {
        bool all = true;
        for (first = t;
             t < soup->triangle_count && carom_soup_face(soup, t) == carom_soup_face(soup, first);
             ++t) {
            uint8_t state = soup->states[t];
            carom_triangle corners = carom_soup_triangle(soup, soup->corners + 3 * (uint64_t)t);
            if ((state & ~(CAROM_SOUP_DEAD | CAROM_SOUP_DEGENERATE)) != 0)
                return "soup: a triangle is still marked by a change";
            if (((state ^ soup->states[first]) & CAROM_SOUP_DEAD) != 0)
                return "soup: a face is removed in part";
            /* A change that failed leaves the marks of positions that were taken back. */
            if (soup->failed == CAROM_OK &&
                ((state & CAROM_SOUP_DEGENERATE) != 0) != (carom_face_degenerate(&corners) != 0))
                return "soup: a triangle is marked degenerate and has area, or the reverse";
            all = all && state == CAROM_SOUP_DEGENERATE;
        }
        dead += (soup->states[first] & CAROM_SOUP_DEAD) != 0 ? 1 : 0;
        degenerate += all ? 1 : 0;
    }
    if (dead != soup->dead_faces) return "soup: the number of removed faces is wrong";
    if (soup->failed == CAROM_OK && degenerate != soup->degenerate_faces)
        return "soup: the number of degenerate faces is wrong";
    return NULL;
}

/* A vertex in the frame of the boxes, rounded. */
static carom_vec3 in_frame(const carom_soup *soup, uint32_t vertex) {
    return carom_vec_sub(carom_vec_scale(carom_soup_position(soup, vertex), soup->scale),
                         soup->origin);
}

static bool is_in_box(const carom_box *box, carom_vec3 p) {
    return (double)box->low[0] <= p.x && p.x <= (double)box->high[0] &&
           (double)box->low[1] <= p.y && p.y <= (double)box->high[1] &&
           (double)box->low[2] <= p.z && p.z <= (double)box->high[2];
}

static const char *soup_validate_frame(const carom_soup *soup) {
    if (!(soup->scale > 0.0) || soup->scale != carom_power_of_two(carom_exponent(soup->scale)))
        return "soup: the scale of the boxes is not a power of two";
    for (uint64_t v = 0; v < soup->vertex_count; ++v)
        if (!is_in_box(&soup->bounds, in_frame(soup, (uint32_t)v)))
            return "soup: a vertex is outside the bounds";
    return NULL;
}

static const char *soup_validate_tree(const carom_soup *soup) {
    if (soup->bvh.item_count != soup->triangle_count)
        return "soup: the tree is not over all triangles";
    const char *message = carom_bvh_validate(&soup->bvh, carom_soup_boxes, soup);
    if (message != NULL) return message;
    for (uint32_t slot = 0; slot < soup->bvh.item_count; ++slot)
        if (memcmp(soup->slot_corners + 3 * (uint64_t)slot,
                   soup->corners + 3 * (uint64_t)soup->bvh.items[slot], 3 * sizeof(uint32_t)) != 0)
            return "soup: a slot of the tree does not have the corners of its triangle";
    return NULL;
}

static const char *validate_oriented(const carom_soup *soup) {
    uint32_t searched = 0;
    for (uint32_t t = 0; t < soup->triangle_count; ++t)
        searched += carom_soup_searched(soup, t) ? 1 : 0;
    if (soup->oriented.item_count != searched)
        return "soup: the oriented boxes are not those of the triangles searched";
    for (uint32_t slot = 0; slot < searched; ++slot) {
        uint32_t item = soup->oriented.items[slot];
        if (item >= soup->triangle_count || !carom_soup_searched(soup, item))
            return "soup: a triangle that is left out has an oriented box";
    }
    return carom_soup_validate_rigid(soup);
}

static const char *validate_grid(const carom_soup *soup) {
    const carom_soup_grid *cells = &soup->cells;
    carom_grid_source source = {soup->triangle_count, carom_soup_boxes, soup};
    const char *message = carom_grid_validate(&cells->grid, &source);
    for (uint32_t rank = 0; rank < soup->triangle_count && message == NULL; ++rank) {
        uint32_t item = cells->grid.items[rank];
        const uint32_t *corners = cells->rank_corners + 3 * (uint64_t)rank;
        const carom_ball *ball = &cells->balls[rank];
        if (memcmp(corners, soup->corners + 3 * (uint64_t)item, 3 * sizeof(uint32_t)) != 0)
            return "soup: a rank of the grid does not have the corners of its triangle";
        for (int i = 0; i < 3 && carom_soup_searched(soup, item); ++i) {
            carom_ball corner = {in_frame(soup, corners[i]), 0.0};
            if (!carom_soup_balls_meet(ball, &corner, 0.0))
                message = "soup: the ball of a triangle does not contain it";
        }
    }
    return message;
}

const char *carom_soup_validate(const carom_soup *soup) {
    const char *message = validate_mesh(soup);
    if (message != NULL || soup->device != NULL) return message; /* the rest is on the device */
    message = validate_states(soup);
    if (message != NULL || soup->failed != CAROM_OK) return message;
    message = soup_validate_frame(soup);
    if (message != NULL) return message;
    if (soup->method == CAROM_SOUP_METHOD_GRID) return validate_grid(soup);
    message = soup_validate_tree(soup);
    return message == NULL && soup->rigid ? validate_oriented(soup) : message;
}
