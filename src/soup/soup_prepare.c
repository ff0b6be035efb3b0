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
#include "geom/length.h"
#include "geom/scale.h"
#include "soup/soup_filter_error.h"

#define AREA_GRAIN  4096u  /* triangles per range whose areas are tested */
#define STATE_GRAIN 65536u /* triangles per range whose states are read: some 10 us */

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Computes floats low <= x <= high. */
static void round_outwards(double x, float *low, float *high) {
    float f = (float)x, margin = fabsf(f) * CAROM_FILTER_BOX_MARGIN + FLT_MIN;
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
    carom_f32x4 first = carom_f32x4_three_and_one(low, high);
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

/* Of scattered triangles first the corners and then the positions have to be waited for. They are
 * fetched this many triangles before they are used, the corners twice as many: preparing a cloth of
 * 4 million triangles takes a twelfth less, one of 250,000, which the caches hold, as long. */
#define PREFETCH_TRIANGLES 32u

static void fetch_ahead(const carom_soup *soup, const uint32_t *items, uint32_t i, uint32_t count) {
    uint64_t size = 3 * (soup->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    if (i + 2 * PREFETCH_TRIANGLES < count)
        __builtin_prefetch(soup->corners + 3 * (uint64_t)items[i + 2 * PREFETCH_TRIANGLES]);
    if (i + PREFETCH_TRIANGLES >= count) return;
    const uint32_t *corners = soup->corners + 3 * (uint64_t)items[i + PREFETCH_TRIANGLES];
    for (int k = 0; k < 3; ++k)
        __builtin_prefetch((const char *)soup->positions + corners[k] * size);
}

void carom_soup_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                      carom_box *boxes) {
    const carom_soup *soup = user;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t triangle = items != NULL ? items[i] : first + i;
        if (items != NULL) fetch_ahead(soup, items, i, count);
        if (soup->scalar == CAROM_SCALAR_FLOAT32 && soup->states[triangle] == 0)
            box_of_floats(soup->positions, soup->corners + 3 * (uint64_t)triangle, &boxes[i]);
        else
            boxes[i] = carom_soup_box(soup, triangle);
    }
}

/* The positions are cut into parts, whose number does not depend on threads, and the bounds of the
 * parts joined in their order: which of two zeros is a bound does not depend on threads either. */
#define BOUNDS_PARTS        64u
#define BOUNDS_PART_MINIMUM 32768u /* vertices: some 20 us */

typedef struct bounds_search {
    const carom_soup *soup;
    uint64_t part;                                      /* vertices of a part */
    double low[BOUNDS_PARTS][3], high[BOUNDS_PARTS][3]; /* of each part */
} bounds_search;

/* The fourth lane is ignored here, too. */
static void find_bounds_of_floats(const float *p, uint64_t count, double low[3], double high[3]) {
    carom_f32x4 least = carom_f32x4_load(p), most = least;
    for (uint64_t i = 1; i < count; ++i) {
        carom_f32x4 at = carom_f32x4_load(p + 3 * i);
        least = carom_f32x4_min(least, at);
        most = carom_f32x4_max(most, at);
    }
    for (int k = 0; k < 3; ++k) {
        low[k] = (double)least[k];
        high[k] = (double)most[k];
    }
}

static void join_bounds(const double *from_low, const double *from_high, double low[3],
                        double high[3]) {
    for (int k = 0; k < 3; ++k) {
        low[k] = CAROM_MIN(low[k], from_low[k]);
        high[k] = CAROM_MAX(high[k], from_high[k]);
    }
}

static carom_status find_bounds_of_part(void *argument, carom_range range) {
    bounds_search *search = argument;
    uint64_t part = range.begin / search->part, count = range.end - range.begin;
    double low[3], high[3];
    CAROM_ASSERT(part < BOUNDS_PARTS);
    if (search->soup->scalar == CAROM_SCALAR_FLOAT32) {
        const float *positions = search->soup->positions;
        find_bounds_of_floats(positions + 3 * range.begin, count, low, high);
    } else {
        const double *p = (const double *)search->soup->positions + 3 * range.begin;
        memcpy(low, p, sizeof(low));
        memcpy(high, p, sizeof(high));
        for (uint64_t i = 1; i < count; ++i) join_bounds(p + 3 * i, p + 3 * i, low, high);
    }
    memcpy(search->low[part], low, sizeof(low));
    memcpy(search->high[part], high, sizeof(high));
    return CAROM_OK;
}

/* The bounds of all positions as given. */
static carom_status soup_prepare_find_bounds(carom_context *context, const carom_soup *soup,
                                             double low[3], double high[3]) {
    uint64_t count = soup->vertex_count;
    bounds_search search = {.soup = soup,
                            .part = CAROM_MAX(count / BOUNDS_PARTS + 1, BOUNDS_PART_MINIMUM)};
    CAROM_TRY(carom_parallel_for(context, count, search.part, find_bounds_of_part, &search));
    memcpy(low, search.low[0], sizeof(search.low[0]));
    memcpy(high, search.high[0], sizeof(search.high[0]));
    for (uint64_t part = 1; part * search.part < count; ++part)
        join_bounds(search.low[part], search.high[part], low, high);
    return CAROM_OK;
}

void carom_soup_choose_frame(carom_soup *soup, const double low[3], const double high[3]) {
    double origin[3], most = 0.0;
    soup->lowest = carom_vec(low[0], low[1], low[2]);
    soup->highest = carom_vec(high[0], high[1], high[2]);
    soup->scale = 1.0;
    for (int k = 0; k < 3; ++k) most = CAROM_MAX(CAROM_MAX(-low[k], high[k]), most);
    if (most >= CAROM_SCALE_LIMIT || (most < CAROM_SCALE_LEAST && most > 0.0)) {
        int exponent;
        (void)frexp(most, &exponent);
        soup->scale =
            ldexp(1.0, CAROM_MAX(-CAROM_EXPONENT_MOST, CAROM_MIN(-exponent, CAROM_EXPONENT_MOST)));
    }
    for (int k = 0; k < 3; ++k) {
        float ignored;
        origin[k] = 0.5 * (low[k] * soup->scale + high[k] * soup->scale);
        round_outwards(low[k] * soup->scale - origin[k], &soup->bounds.low[k], &ignored);
        round_outwards(high[k] * soup->scale - origin[k], &ignored, &soup->bounds.high[k]);
    }
    soup->origin = carom_vec(origin[0], origin[1], origin[2]);
    CAROM_ASSERT(soup->bounds.low[0] <= soup->bounds.high[0]);
}

/* Chooses scale and origin, and computes the bounds in that frame. */
static carom_status soup_prepare_find_frame(carom_context *context, carom_soup *soup) {
    soup->origin = soup->lowest = soup->highest = carom_vec(0.0, 0.0, 0.0);
    soup->scale = 1.0;
    soup->bounds = carom_box_empty();
    if (soup->vertex_count == 0) return CAROM_OK;
    double low[3], high[3];
    CAROM_TRY(soup_prepare_find_bounds(context, soup, low, high));
    if (soup->scalar != CAROM_SCALAR_FLOAT32) {
        carom_soup_choose_frame(soup, low, high);
        return CAROM_OK;
    }
    soup->lowest = carom_vec(low[0], low[1], low[2]);
    soup->highest = carom_vec(high[0], high[1], high[2]);
    for (int k = 0; k < 3; ++k) {
        soup->bounds.low[k] = (float)low[k];
        soup->bounds.high[k] = (float)high[k];
    }
    return CAROM_OK;
}

/* ---- Degenerate triangles -------------------------------------------------------------------- */

/* Whether three corners in floats surely span an area. Differences and products are rounded three
 * times in all, each by 2^-24 of the product at most, less than half of CAROM_FILTER_UNIT32, or
 * below the normal numbers by FLT_MIN; an overflow gives false. Lanes are y, z, x of each product's
 * first factor, and the fourth is ignored. */
static bool floats_have_area(const float *positions, const uint32_t *corners) {
    carom_f32x4 p = carom_f32x4_load(positions + 3 * (uint64_t)corners[0]);
    carom_f32x4 u = carom_f32x4_load(positions + 3 * (uint64_t)corners[1]) - p,
                v = carom_f32x4_load(positions + 3 * (uint64_t)corners[2]) - p;
    carom_f32x4 a = carom_f32x4_yzx(u) * carom_f32x4_zxy(v),
                b = carom_f32x4_zxy(u) * carom_f32x4_yzx(v);
    carom_f32x4 error =
        CAROM_FILTER_UNIT32 * (carom_f32x4_abs(a) + carom_f32x4_abs(b)) + CAROM_FILTER_UNDERFLOW32;
    const unsigned three = 7u; /* lanes */
    return (carom_i32x4_lanes(carom_f32x4_abs(a - b) > error) & three) != 0;
}

static carom_status soup_prepare_find_degenerate(void *argument, carom_range range) {
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

typedef struct face_count {
    const carom_soup *soup;
    _Atomic uint32_t degenerate;
} face_count;

/* Counts the degenerate faces whose first triangle is in the range: a face is degenerate if all its
 * triangles are. */
static carom_status count_degenerate_faces(void *argument, carom_range range) {
    face_count *count = argument;
    const carom_soup *soup = count->soup;
    uint32_t degenerate = 0;
    uint64_t t = range.begin;
    if (soup->faces == NULL) {
        for (; t < range.end; ++t) degenerate += soup->states[t] == CAROM_SOUP_DEGENERATE;
    } else if (t != 0) {
        while (t < range.end && soup->faces[t] == soup->faces[t - 1]) ++t;
    }
    while (t < range.end) {
        uint32_t face = soup->faces[t];
        bool all = true;
        for (; t < soup->triangle_count && soup->faces[t] == face; ++t)
            all = all && soup->states[t] == CAROM_SOUP_DEGENERATE;
        degenerate += all ? 1 : 0;
        CAROM_ASSERT(t == soup->triangle_count || soup->faces[t] > face);
    }
    if (degenerate != 0) atomic_fetch_add(&count->degenerate, degenerate);
    return CAROM_OK;
}

/* ---- Tree and grid --------------------------------------------------------------------------- */

/* carom_soup_boxes for the tree. The sorted items are those of the tree's slots; their corners,
 * which are in the cache now, are copied to the same slots. */
static void slot_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *boxes) {
    const carom_soup *soup = user;
    carom_soup_boxes(soup, items, first, count, boxes);
    if (items == NULL) return;
    uint32_t *to = soup->slot_corners + 3 * (items - soup->bvh.items);
    CAROM_ASSERT(items >= soup->bvh.items);
    for (uint32_t i = 0; i < count; ++i)
        memcpy(to + 3 * i, soup->corners + 3 * (uint64_t)items[i], 3 * sizeof(*to));
}

/* Reserves space for the corners of all slots. */
static carom_status reserve_slot_corners(carom_context *context, carom_soup *soup, uint64_t slots) {
    if (slots <= soup->slot_capacity) return CAROM_OK;
    carom_release(&soup->allocator, soup->slot_corners);
    soup->slot_corners = carom_allocate(&soup->allocator, 3 * slots + 1, sizeof(uint32_t));
    soup->slot_capacity = soup->slot_corners != NULL ? slots : 0;
    if (soup->slot_corners == NULL)
        return carom_fail_memory(context, slots * 3 * sizeof(uint32_t), "a soup");
    return carom_touch_pages(context, soup->slot_corners, slots * 3 * sizeof(uint32_t));
}

/* Surface of boxes, in that of the boxes just built: from here on building anew pays. A tree whose
 * boxes have twice the surface takes about twice as long to search. */
#define WORN_LOOSENESS 2.0

/* Builds the trees; with `like`, in the order of its trees. */
static carom_status soup_prepare_build_tree(carom_context *context, carom_soup *soup,
                                            const carom_soup *like) {
    uint64_t count = soup->triangle_count;
    uint64_t slots = (count + CAROM_BVH_WIDTH - 1) / CAROM_BVH_WIDTH * CAROM_BVH_WIDTH;
    CAROM_TRY(reserve_slot_corners(context, soup, slots));
    if (like != NULL)
        CAROM_TRY(carom_bvh_build_like(context, &soup->allocator, &soup->bvh, &like->bvh,
                                       slot_boxes, soup));
    else
        CAROM_TRY(carom_bvh_build(context, &soup->allocator, &soup->bvh, soup->triangle_count,
                                  &soup->bounds, slot_boxes, soup));
    carom_progress_add(context, 0, count);
    /* Slots past the last item are never found, but their corners must be valid. SIMD loads read
     * one entry past the last. */
    if (slots != 0)
        memset(soup->slot_corners + 3 * count, 0,
               (3 * (slots - count) + 1) * sizeof(*soup->slot_corners));
    return soup->rigid ? carom_soup_prepare_rigid(context, soup, like) : CAROM_OK;
}

static carom_status soup_prepare_all(carom_context *context, carom_soup *soup,
                                     const carom_soup *like, uint32_t *degenerate_faces) {
    uint64_t count = soup->triangle_count;
    face_count faces = {.soup = soup};
    CAROM_TRY(soup_prepare_find_frame(context, soup));
    CAROM_TRY(carom_parallel_for(context, count, AREA_GRAIN, soup_prepare_find_degenerate, soup));
    CAROM_TRY(carom_parallel_for(context, count, STATE_GRAIN, count_degenerate_faces, &faces));
    *degenerate_faces = atomic_load(&faces.degenerate);
    carom_progress_add(context, 0, count);
    if (soup->method == CAROM_SOUP_METHOD_GRID)
        return carom_soup_grid_build(context, &soup->allocator, soup, &soup->grid_def,
                                     &soup->cells);
    CAROM_TRY(soup_prepare_build_tree(context, soup, like));
    if (like != NULL && carom_obb_looseness(&soup->oriented) > WORN_LOOSENESS * soup->looseness)
        return soup_prepare_build_tree(context, soup, NULL);
    return CAROM_OK;
}

/* Shares of the time for progress: faces, sorted boxes; then the oriented boxes. */
#define SOUP_PREPARE_STEPS 2u
#define STEPS_ORIENTED     9u

static carom_status soup_prepare_run(carom_context *context, carom_soup *soup,
                                     const carom_soup *like) {
    uint64_t steps = SOUP_PREPARE_STEPS + (soup->rigid ? STEPS_ORIENTED : 0);
    uint32_t degenerate_faces = 0;
    carom_progress_begin(context, "preparing a soup", steps * soup->triangle_count);
    CAROM_TRY(
        carom_progress_finish(context, soup_prepare_all(context, soup, like, &degenerate_faces)));
    CAROM_ASSERT(degenerate_faces <= soup->face_count);
    soup->degenerate_faces = degenerate_faces;
    return CAROM_OK;
}

carom_status carom_soup_prepare(carom_context *context, carom_soup *soup) {
    atomic_store_explicit(&soup->cache->balanced, CAROM_SOUP_BALANCED_UNKNOWN,
                          memory_order_relaxed);
    carom_soup_forget_copies(soup);
    if (soup->backend == CAROM_BACKEND_CUDA) return carom_soup_device_prepare(context, soup);
    return soup_prepare_run(context, soup, NULL);
}

carom_status carom_soup_prepare_like(carom_context *context, carom_soup *soup,
                                     const carom_soup *like) {
    CAROM_ASSERT(soup->rigid && like->rigid && soup->triangle_count == like->triangle_count);
    CAROM_ASSERT(soup->backend == CAROM_BACKEND_CPU && soup->method != CAROM_SOUP_METHOD_GRID);
    carom_soup_forget_copies(soup);
    return soup_prepare_run(context, soup, like);
}

carom_status carom_soup_treat_degenerate_on_cpu(carom_context *context, carom_soup *soup,
                                                carom_soup_degenerate treatment) {
    soup->degenerate = treatment;
    return carom_bvh_refit(context, &soup->bvh, slot_boxes, soup);
}
