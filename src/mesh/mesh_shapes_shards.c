/* SPDX-License-Identifier: MIT */
/* A block broken into convex shards: the Voronoi cells of seeded points. A cell starts as the block
 * and is cut by the bisector plane to each other point, nearest shells of a coarse grid of points
 * first, until no remaining point is near enough to cut it.
 *
 * Invariant: the cell stays closed whatever the rounding errors. A cut decides once per corner on
 * which side it lies, and makes one new corner per edge that changes sides. */
#include "base/array.h"
#include "base/item.h"
#include "base/math.h"
#include "base/progress.h"
#include "mesh/mesh_shapes.h"

CAROM_ARRAY(points, carom_vec3);
CAROM_ARRAY(numbers, uint32_t);
CAROM_ARRAY(starts, uint64_t);
CAROM_ARRAY(heights, double);

/* Faces as cycles of corners: face f is corners[ends[f - 1] .. ends[f]). */
typedef struct solid {
    points points;
    numbers corners;
    starts ends;
} solid;

/* A new corner on the edge (a, b), a < b; `next` is the crossing after it around the cut. */
typedef struct mesh_shapes_shards_crossing {
    uint32_t a, b, corner, next;
    bool used;
} mesh_shapes_shards_crossing;
CAROM_ARRAY(crossings, mesh_shapes_shards_crossing);

typedef struct shards {
    carom_sketch *sketch;
    const carom_allocator *allocator;
    carom_vec3 *seeds;
    uint64_t count;
    uint32_t *order, *cells; /* seeds sorted by cell; cell c has cells[c] .. cells[c + 1] */
    uint64_t side;           /* grid cells along an edge */
    solid cell, cut, all;
    numbers moved;   /* new indices of the old corners */
    heights heights; /* signed distances of the corners from the plane */
    crossings crossings;
} shards;

/* ---- Cutting by a plane ---------------------------------------------------------------------- */

static mesh_shapes_shards_crossing *mesh_shapes_shards_find_crossing(shards *s, uint32_t a,
                                                                     uint32_t b) {
    for (uint64_t i = 0; i < s->crossings.count; ++i)
        if (s->crossings.data[i].a == CAROM_MIN(a, b) && s->crossings.data[i].b == CAROM_MAX(a, b))
            return &s->crossings.data[i];
    return NULL;
}

static bool end_face(shards *s, solid *solid) {
    return starts_push(&solid->ends, s->allocator, solid->corners.count);
}

/* Keeps the corners below the plane and makes one crossing per edge that changes sides. */
static bool cut_corners(shards *s) {
    const solid *from = &s->cell;
    s->cut.points.count = s->crossings.count = s->moved.count = 0;
    for (uint64_t i = 0; i < from->points.count; ++i) {
        bool kept = s->heights.data[i] <= 0.0;
        if (!numbers_push(&s->moved, s->allocator,
                          kept ? (uint32_t)s->cut.points.count : UINT32_MAX))
            return false;
        if (kept && !points_push(&s->cut.points, s->allocator, from->points.data[i])) return false;
    }
    for (uint64_t f = 0, i = 0; f < from->ends.count; ++f)
        for (uint64_t begin = i; i < from->ends.data[f]; ++i) {
            uint32_t a = from->corners.data[i];
            uint32_t b = from->corners.data[i + 1 < from->ends.data[f] ? i + 1 : begin];
            bool leaves = s->moved.data[a] != UINT32_MAX && s->moved.data[b] == UINT32_MAX;
            if (!leaves) continue; /* its twin in the other face enters */
            double ha = s->heights.data[a], hb = s->heights.data[b];
            carom_vec3 p = from->points.data[a], q = from->points.data[b];
            carom_vec3 step = carom_vec_scale(carom_vec_sub(q, p), ha / (ha - hb));
            mesh_shapes_shards_crossing c = {CAROM_MIN(a, b), CAROM_MAX(a, b),
                                             (uint32_t)s->cut.points.count, 0, false};
            if (!points_push(&s->cut.points, s->allocator, carom_vec_add(p, step)) ||
                !crossings_push(&s->crossings, s->allocator, c))
                return false;
        }
    return true;
}

/* Adds what is left of one face. The face runs along the plane from the crossing where it leaves to
 * the one where it enters; the lid runs in the opposite direction. */
static bool cut_face(shards *s, uint64_t begin, uint64_t end) {
    const uint32_t *corners = s->cell.corners.data;
    uint64_t first = s->cut.corners.count, start = begin;
    while (start < end && s->moved.data[corners[start]] == UINT32_MAX) ++start;
    if (start == end) return true;
    mesh_shapes_shards_crossing *left = NULL;
    for (uint64_t k = 0; k < end - begin; ++k) {
        uint64_t i = start + k < end ? start + k : start + k - (end - begin);
        uint32_t a = corners[i], b = corners[i + 1 < end ? i + 1 : begin];
        bool a_kept = s->moved.data[a] != UINT32_MAX, b_kept = s->moved.data[b] != UINT32_MAX;
        if (a_kept && !numbers_push(&s->cut.corners, s->allocator, s->moved.data[a])) return false;
        if (a_kept == b_kept) continue;
        mesh_shapes_shards_crossing *c = mesh_shapes_shards_find_crossing(s, a, b);
        if (!numbers_push(&s->cut.corners, s->allocator, c->corner)) return false;
        if (a_kept)
            left = c;
        else
            c->next = (uint32_t)(left - s->crossings.data);
    }
    if (s->cut.corners.count - first < 3) {
        s->cut.corners.count = first;
        return true;
    }
    return end_face(s, &s->cut);
}

static bool put_lids(shards *s) {
    for (uint64_t i = 0; i < s->crossings.count; ++i) {
        uint64_t first = s->cut.corners.count;
        for (mesh_shapes_shards_crossing *c = &s->crossings.data[i]; !c->used;
             c = &s->crossings.data[c->next]) {
            c->used = true;
            if (!numbers_push(&s->cut.corners, s->allocator, c->corner)) return false;
        }
        if (s->cut.corners.count - first < 3)
            s->cut.corners.count = first;
        else if (!end_face(s, &s->cut))
            return false;
    }
    return true;
}

/* Keeps the part of s->cell nearer to a than to b. False when there is no memory. */
static bool cut_cell(shards *s, carom_vec3 a, carom_vec3 b) {
    carom_vec3 n = carom_vec_sub(b, a);
    double level = carom_vec_dot(carom_vec_scale(carom_vec_add(a, b), 0.5), n);
    bool any = false;
    s->heights.count = 0;
    for (uint64_t i = 0; i < s->cell.points.count; ++i) {
        double height = carom_vec_dot(s->cell.points.data[i], n) - level;
        any |= height > 0.0;
        if (!heights_push(&s->heights, s->allocator, height)) return false;
    }
    if (!any) return true;
    s->cut.corners.count = s->cut.ends.count = 0;
    if (!cut_corners(s)) return false;
    for (uint64_t f = 0, begin = 0; f < s->cell.ends.count; begin = s->cell.ends.data[f++])
        if (!cut_face(s, begin, s->cell.ends.data[f])) return false;
    if (!put_lids(s)) return false;
    solid swapped = s->cell;
    s->cell = s->cut;
    s->cut = swapped;
    return true;
}

/* ---- Voronoi cell ---------------------------------------------------------------------------- */

static bool start_with_block(shards *s) {
    static const uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double size = s->sketch->def->size;
    s->cell.points.count = s->cell.corners.count = s->cell.ends.count = 0;
    for (uint32_t i = 0; i < 8; ++i)
        if (!points_push(&s->cell.points, s->allocator,
                         carom_vec((i & 1) != 0 ? size : -size, (i & 2) != 0 ? size : -size,
                                   (i & 4) != 0 ? size : -size)))
            return false;
    for (int f = 0; f < 6; ++f) {
        for (int k = 0; k < 4; ++k)
            if (!numbers_push(&s->cell.corners, s->allocator, faces[f][k])) return false;
        if (!end_face(s, &s->cell)) return false;
    }
    return true;
}

static uint64_t mesh_shapes_shards_cell_along(const shards *s, double x) {
    double size = s->sketch->def->size, at = (x + size) / (2.0 * size) * (double)s->side;
    return CAROM_MIN((uint64_t)at, s->side - 1);
}

static uint64_t distance_between(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/* Cuts by the seeds of one grid cell, if it is exactly `shell` cells away from the seed's own. */
static bool cut_by_cell(shards *s, uint32_t seed, const uint64_t own[3], const uint64_t at[3],
                        uint64_t shell) {
    uint64_t away = distance_between(at[0], own[0]);
    away = CAROM_MAX(away, distance_between(at[1], own[1]));
    away = CAROM_MAX(away, distance_between(at[2], own[2]));
    if (away != shell) return true;
    uint64_t cell = (at[2] * s->side + at[1]) * s->side + at[0];
    for (uint32_t i = s->cells[cell]; i < s->cells[cell + 1]; ++i)
        if (s->order[i] != seed && !cut_cell(s, s->seeds[seed], s->seeds[s->order[i]]))
            return false;
    return true;
}

static double mesh_shapes_shards_reach_of(const shards *s, carom_vec3 seed) {
    double reach = 0.0;
    for (uint64_t i = 0; i < s->cell.points.count; ++i)
        reach = CAROM_MAX(carom_vec_length(carom_vec_sub(s->cell.points.data[i], seed)), reach);
    return reach;
}

/* A seed in shell k + 1 is at least k grid cells away, so it cuts nothing nearer than half of
 * that. */
static bool make_cell(shards *s, uint32_t seed) {
    carom_vec3 p = s->seeds[seed];
    uint64_t own[3] = {mesh_shapes_shards_cell_along(s, p.x), mesh_shapes_shards_cell_along(s, p.y),
                       mesh_shapes_shards_cell_along(s, p.z)};
    double width = 2.0 * s->sketch->def->size / (double)s->side;
    if (!start_with_block(s)) return false;
    for (uint64_t shell = 0; shell < s->side; ++shell) {
        if (shell > 0 && ((double)shell - 1.0) * width > 2.0 * mesh_shapes_shards_reach_of(s, p))
            break;
        uint64_t low[3], high[3], at[3];
        for (int i = 0; i < 3; ++i) {
            low[i] = own[i] > shell ? own[i] - shell : 0;
            high[i] = CAROM_MIN(own[i] + shell, s->side - 1);
        }
        for (at[2] = low[2]; at[2] <= high[2]; ++at[2])
            for (at[1] = low[1]; at[1] <= high[1]; ++at[1])
                for (at[0] = low[0]; at[0] <= high[0]; ++at[0])
                    if (!cut_by_cell(s, seed, own, at, shell)) return false;
    }
    return true;
}

static bool keep_cell(shards *s, carom_vec3 seed) {
    uint32_t first = (uint32_t)s->all.points.count;
    double keep = 1.0 - s->sketch->def->ratio;
    for (uint64_t i = 0; i < s->cell.points.count; ++i) {
        carom_vec3 out = carom_vec_sub(s->cell.points.data[i], seed);
        if (!points_push(&s->all.points, s->allocator,
                         carom_vec_add(seed, carom_vec_scale(out, keep))))
            return false;
    }
    for (uint64_t f = 0, i = 0; f < s->cell.ends.count; ++f) {
        for (; i < s->cell.ends.data[f]; ++i)
            if (!numbers_push(&s->all.corners, s->allocator, first + s->cell.corners.data[i]))
                return false;
        if (!end_face(s, &s->all)) return false;
    }
    return true;
}

/* ---- All cells ------------------------------------------------------------------------------- */

/* Draws the seeds and sorts them by grid cell (count, scan, fill). */
static void draw_seeds(shards *s) {
    carom_random random = {s->sketch->def->seed};
    double size = s->sketch->def->size;
    uint64_t cells = s->side * s->side * s->side;
    memset(s->cells, 0, (cells + 2) * sizeof(*s->cells));
    for (uint64_t i = 0; i < s->count; ++i) {
        carom_vec3 p;
        p.x = carom_random_between(&random, -size, size);
        p.y = carom_random_between(&random, -size, size);
        p.z = carom_random_between(&random, -size, size);
        s->seeds[i] = p;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (uint64_t i = 0; i < s->count; ++i) {
            carom_vec3 p = s->seeds[i];
            uint64_t cell = (mesh_shapes_shards_cell_along(s, p.z) * s->side +
                             mesh_shapes_shards_cell_along(s, p.y)) *
                                s->side +
                            mesh_shapes_shards_cell_along(s, p.x);
            if (pass == 0)
                ++s->cells[cell + 2];
            else
                s->order[s->cells[cell + 1]++] = (uint32_t)i;
        }
        for (uint64_t i = 1; pass == 0 && i < cells + 2; ++i) s->cells[i] += s->cells[i - 1];
    }
}

static carom_status copy_all(shards *s) {
    CAROM_TRY(carom_sketch_begin(s->sketch, (double)s->all.points.count, 0.0,
                                 (double)s->all.ends.count, (double)s->all.corners.count));
    for (uint64_t i = 0; i < s->all.points.count; ++i)
        carom_sketch_vertex(s->sketch, s->all.points.data[i]);
    for (uint64_t f = 0, i = 0; f < s->all.ends.count; i = s->all.ends.data[f++])
        carom_sketch_face(s->sketch, s->all.corners.data + i, s->all.ends.data[f] - i);
    return CAROM_OK;
}

static carom_status mesh_shapes_cut_shards(shards *s) {
    carom_context *context = s->sketch->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t cells = s->side * s->side * s->side;
    s->seeds = CAROM_ARENA_TAKE(scratch, carom_vec3, s->count);
    s->order = CAROM_ARENA_TAKE(scratch, uint32_t, s->count);
    s->cells = CAROM_ARENA_TAKE(scratch, uint32_t, cells + 2);
    bool allocated = s->seeds != NULL && s->order != NULL && s->cells != NULL;
    if (allocated) draw_seeds(s);
    for (uint64_t i = 0; i < s->count && allocated; ++i) {
        CAROM_TRY(carom_progress_look(context));
        allocated = make_cell(s, (uint32_t)i) && keep_cell(s, s->seeds[i]);
    }
    if (!allocated) return carom_fail_memory(context, 0, "a shattered block");
    return copy_all(s);
}

static void release_solid(solid *solid, const carom_allocator *allocator) {
    points_release(&solid->points, allocator);
    numbers_release(&solid->corners, allocator);
    starts_release(&solid->ends, allocator);
}

/* A cell has 15 faces and 27 corners on average. With fewer than 2^26 shards, both have 32-bit
 * indices, as the block's surface adds little. */
#define MOST_PARTS ((uint64_t)1 << 26)

carom_status carom_shape_shards(carom_sketch *sketch) {
    carom_context *context = sketch->context;
    if (sketch->def->parts > MOST_PARTS)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu shards; at most 2^26 can be numbered",
                          (unsigned long long)sketch->def->parts);
    shards s = {.sketch = sketch, .allocator = &context->allocator, .count = sketch->def->parts};
    s.side = CAROM_MAX((uint64_t)carom_cbrt((double)s.count / 2.0), 1);
    carom_arena_mark mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_status status = mesh_shapes_cut_shards(&s);
    carom_arena_rewind(carom_scratch(context, 0), mark);
    release_solid(&s.cell, s.allocator);
    release_solid(&s.cut, s.allocator);
    release_solid(&s.all, s.allocator);
    numbers_release(&s.moved, s.allocator);
    heights_release(&s.heights, s.allocator);
    crossings_release(&s.crossings, s.allocator);
    return status;
}
