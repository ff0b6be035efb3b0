/* SPDX-License-Identifier: MIT */
/* Data derived from a soup's positions: the frame of its boxes, degenerate triangles, and the tree
 * or grid.
 *
 * Decisions use the positions as given. Boxes are in float32: float32 input has exact boxes.
 * Float64 input is shifted to the centre of its bounds and, if it is very large or very small,
 * scaled by a power of two, so that its float32 boxes are tight and finite. */
#include "soup/soup.h"

#include <float.h>

#include "base/progress.h"
#include "base/simd.h"

#define GRAIN 4096u

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Computes floats low <= x <= high. The conversion error is 2^-24, the margin 2^-22. */
static void round_outwards(double x, float *low, float *high) {
    float f = (float)x, margin = fabsf(f) * 0x1p-22f + FLT_MIN;
    *low = f - margin;
    *high = f + margin;
    CAROM_ASSERT((double)*low <= x && x <= (double)*high);
}

/* The box of three corners. Vectors hold x, y, z and the next value in memory, which is ignored. */
static void box_of_floats(const float *positions, const uint32_t *corners, carom_box *box) {
    carom_f32x4 p = carom_f32x4_load(positions + 3 * (uint64_t)corners[0]),
                q = carom_f32x4_load(positions + 3 * (uint64_t)corners[1]),
                r = carom_f32x4_load(positions + 3 * (uint64_t)corners[2]);
    carom_f32x4 low = carom_f32x4_min(carom_f32x4_min(p, q), r);
    carom_f32x4 high = carom_f32x4_max(carom_f32x4_max(p, q), r);
    carom_f32x4 first = __builtin_shufflevector(low, high, 0, 1, 2, 4);
    _Static_assert(sizeof(*box) == 6 * sizeof(float), "low, then high");
    memcpy(box, &first, sizeof(first)); /* a box is stored by 16 and 8 bytes */
    memcpy(&box->high[1], (const char *)&high + sizeof(float), 2 * sizeof(float));
}

static carom_box box_of_doubles(const carom_soup *soup, const uint32_t *corners) {
    const double *positions = soup->positions;
    const double *p = positions + 3 * (uint64_t)corners[0],
                 *q = positions + 3 * (uint64_t)corners[1],
                 *r = positions + 3 * (uint64_t)corners[2];
    const double origin[3] = {soup->origin.x, soup->origin.y, soup->origin.z};
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        double low = CAROM_MIN(p[k], q[k]), high = CAROM_MAX(p[k], q[k]);
        low = CAROM_MIN(low, r[k]) * soup->scale - origin[k];
        high = CAROM_MAX(high, r[k]) * soup->scale - origin[k];
        float ignored;
        round_outwards(low, &box.low[k], &ignored);
        round_outwards(high, &ignored, &box.high[k]);
        CAROM_ASSERT(box.low[k] <= box.high[k]);
    }
    return box;
}

carom_box carom_soup_box(const carom_soup *soup, uint32_t triangle) {
    const uint32_t *corners = soup->corners + 3 * (uint64_t)triangle;
    if (!carom_soup_searched(soup, triangle)) return carom_box_empty();
    if (soup->scalar != CAROM_SCALAR_FLOAT32) return box_of_doubles(soup, corners);
    carom_box box;
    box_of_floats(soup->positions, corners, &box);
    return box;
}

void carom_soup_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                      carom_box *boxes) {
    const carom_soup *soup = user;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t triangle = items != NULL ? items[i] : first + i;
        if (soup->scalar == CAROM_SCALAR_FLOAT32 && soup->states[triangle] == 0)
            box_of_floats(soup->positions, soup->corners + 3 * (uint64_t)triangle, &boxes[i]);
        else
            boxes[i] = carom_soup_box(soup, triangle);
    }
}

/* The fourth lane is ignored here, too. */
static void find_bounds_of_floats(carom_soup *soup) {
    const float *p = soup->positions;
    carom_f32x4 low = carom_f32x4_load(p), high = low;
    for (uint64_t i = 1; i < soup->vertex_count; ++i) {
        carom_f32x4 at = carom_f32x4_load(p + 3 * i);
        low = carom_f32x4_min(low, at);
        high = carom_f32x4_max(high, at);
    }
    for (int k = 0; k < 3; ++k) {
        soup->bounds.low[k] = low[k];
        soup->bounds.high[k] = high[k];
    }
}

/* Chooses scale and origin, and computes the bounds in that frame. */
static void choose_frame(carom_soup *soup) {
    soup->origin = carom_vec(0.0, 0.0, 0.0);
    soup->scale = 1.0;
    soup->bounds = carom_box_empty();
    if (soup->vertex_count == 0) return;
    if (soup->scalar == CAROM_SCALAR_FLOAT32) {
        find_bounds_of_floats(soup);
        return;
    }
    const double *p = soup->positions;
    double low[3] = {p[0], p[1], p[2]}, high[3] = {p[0], p[1], p[2]}, most = 0.0;
    for (uint64_t i = 0; i < soup->vertex_count; ++i, p += 3) {
        for (int k = 0; k < 3; ++k) {
            low[k] = CAROM_MIN(p[k], low[k]);
            high[k] = CAROM_MAX(p[k], high[k]);
        }
    }
    for (int k = 0; k < 3; ++k) most = CAROM_MAX(CAROM_MAX(-low[k], high[k]), most);
    if (most >= 0x1p100 || (most < 0x1p-40 && most > 0.0)) {
        int exponent;
        (void)frexp(most, &exponent);
        soup->scale = ldexp(1.0, CAROM_MAX(-1022, CAROM_MIN(-exponent, 1022)));
    }
    double origin[3];
    for (int k = 0; k < 3; ++k) {
        float ignored;
        origin[k] = 0.5 * (low[k] * soup->scale + high[k] * soup->scale);
        round_outwards(low[k] * soup->scale - origin[k], &soup->bounds.low[k], &ignored);
        round_outwards(high[k] * soup->scale - origin[k], &ignored, &soup->bounds.high[k]);
    }
    soup->origin = carom_vec(origin[0], origin[1], origin[2]);
    CAROM_ASSERT(soup->bounds.low[0] <= soup->bounds.high[0]);
}

/* ---- Degenerate triangles -------------------------------------------------------------------- */

/* carom_face_has_area of three corners in floats. Lanes are y, z, x of each product's first factor,
 * and the fourth is ignored. */
static bool floats_have_area(const float *positions, const uint32_t *corners) {
    carom_f64x4 p[3];
    for (int i = 0; i < 3; ++i)
        p[i] = __builtin_convertvector(carom_f32x4_load(positions + 3 * (uint64_t)corners[i]),
                                       carom_f64x4);
    carom_f64x4 u = p[1] - p[0], v = p[2] - p[0];
    carom_f64x4 a = __builtin_shufflevector(u, u, 1, 2, 0, 0) *
                    __builtin_shufflevector(v, v, 2, 0, 1, 0),
                b = __builtin_shufflevector(u, u, 2, 0, 1, 0) *
                    __builtin_shufflevector(v, v, 1, 2, 0, 0);
    carom_f64x4 normal = a - b;
    carom_f64x4 error =
        0x1p-50 * (carom_f64x4_abs(a) + carom_f64x4_abs(b)) + CAROM_ORIENT_UNDERFLOW;
    return (carom_i64x4_lanes(carom_f64x4_abs(normal) > error) & 7u) != 0;
}

static carom_status find_degenerate(void *argument, carom_range range) {
    carom_soup *soup = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const uint32_t *corners = soup->corners + 3 * i;
        uint8_t state = soup->states[i] & (CAROM_SOUP_DEAD | CAROM_SOUP_LEAVING);
        if (soup->scalar != CAROM_SCALAR_FLOAT32 || !floats_have_area(soup->positions, corners)) {
            carom_triangle t = carom_soup_triangle(soup, corners);
            if (!carom_face_has_area(&t) && carom_face_degenerate(&t))
                state |= CAROM_SOUP_DEGENERATE;
            CAROM_ASSERT(!carom_face_has_area(&t) || !carom_face_degenerate(&t));
        }
        soup->states[i] = state;
    }
    return CAROM_OK;
}

/* Counts degenerate faces: a face is degenerate if all its triangles are. */
static uint32_t count_degenerate_faces(const carom_soup *soup) {
    uint32_t degenerate = 0;
    for (uint32_t t = 0; t < soup->triangle_count;) {
        uint32_t face = carom_soup_face(soup, t);
        bool all = true;
        for (; t < soup->triangle_count && carom_soup_face(soup, t) == face; ++t)
            all = all && soup->states[t] == CAROM_SOUP_DEGENERATE;
        degenerate += all ? 1 : 0;
        CAROM_ASSERT(t == soup->triangle_count || carom_soup_face(soup, t) > face);
    }
    return degenerate;
}

/* ---- Tree and grid --------------------------------------------------------------------------- */

static carom_status place_corners(void *argument, carom_range range) {
    carom_soup *soup = argument;
    for (uint64_t place = range.begin; place < range.end; ++place) {
        uint32_t item = soup->bvh.items[place];
        if (item == CAROM_BVH_NONE) item = 0; /* never found, but the index must be valid */
        CAROM_ASSERT(item < soup->triangle_count);
        memcpy(soup->placed + 3 * place, soup->corners + 3 * (uint64_t)item, 3 * sizeof(uint32_t));
    }
    return CAROM_OK;
}

static carom_status build_tree(carom_context *context, carom_soup *soup) {
    CAROM_TRY(carom_bvh_build(context, &soup->allocator, &soup->bvh, soup->triangle_count,
                              &soup->bounds, carom_soup_boxes, soup));
    carom_progress_add(context, 0, soup->triangle_count);
    uint64_t places =
        soup->triangle_count == 0 ? 0 : (uint64_t)soup->bvh.node_count[0] * CAROM_BVH_WIDTH;
    if (places > soup->placed_capacity) {
        carom_release(&soup->allocator, soup->placed);
        soup->placed = carom_allocate(&soup->allocator, 3 * places + 1, sizeof(uint32_t));
        soup->placed_capacity = soup->placed != NULL ? places : 0;
        if (soup->placed == NULL)
            return carom_fail_memory(context, places * 3 * sizeof(uint32_t), "a soup");
    }
    CAROM_ASSERT(places >= soup->triangle_count && places <= soup->placed_capacity);
    if (places != 0) soup->placed[3 * places] = 0; /* SIMD loads read one entry past the last */
    CAROM_TRY(carom_parallel_for(context, places, GRAIN, place_corners, soup));
    carom_progress_add(context, 0, soup->triangle_count);
    return soup->rigid ? carom_soup_prepare_rigid(context, soup) : CAROM_OK;
}

static carom_status prepare(carom_context *context, carom_soup *soup, uint32_t *degenerate_faces) {
    uint64_t count = soup->triangle_count;
    choose_frame(soup);
    CAROM_TRY(carom_parallel_for(context, count, GRAIN, find_degenerate, soup));
    *degenerate_faces = count_degenerate_faces(soup);
    carom_progress_add(context, 0, count);
    if (soup->method == CAROM_SOUP_METHOD_GRID)
        return carom_soup_grid_build(context, &soup->allocator, soup, &soup->grid_def,
                                     &soup->cells);
    return build_tree(context, soup);
}

/* Shares of the time for progress: faces, sorted boxes, sorted corners; then the oriented boxes. */
#define STEPS          3u
#define STEPS_ORIENTED 9u

carom_status carom_soup_prepare(carom_context *context, carom_soup *soup) {
    atomic_store(&soup->balanced, CAROM_SOUP_BALANCED_UNKNOWN);
    if (carom_soup_on_device(context)) return carom_soup_device_prepare(context, soup);
    uint64_t steps = STEPS + (soup->rigid ? STEPS_ORIENTED : 0);
    uint32_t degenerate_faces = 0;
    carom_progress_begin(context, "preparing a soup", steps * soup->triangle_count);
    CAROM_TRY(carom_progress_finish(context, prepare(context, soup, &degenerate_faces)));
    CAROM_ASSERT(degenerate_faces <= soup->face_count);
    soup->degenerate_faces = degenerate_faces;
    return CAROM_OK;
}
