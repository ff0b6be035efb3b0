/* SPDX-License-Identifier: MIT */
/* Builds a field (robot_field.h), level by level: the distances of all cells of a level, then
 * bricks instead of those cells that are near faces, as long as all of these fit. Each brick is
 * computed by itself, so the number of threads has no effect.
 *
 * Sides are known for cells that no face passes. Where the distance of one centre exceeds how far
 * another one is, no face lies between the two, and both are on one side; the first centre of each
 * such group sends a ray. */
#include "base/progress.h"
#include "base/threads.h"
#include "geom/length.h"
#include "robot/robot.h"

#define FIELD_COARSE     8.0 /* cells along the longest side of the faces' box */
#define FIELD_BORDER     1.0 /* cells around the box */
#define FIELD_MOST_LEVEL 6u  /* 8 x 4^6 cells along a side: distances keep most of their bits */

/* A cell whose distance is below this many half diagonals is divided: 1 would leave bounds that are
 * off by all of the distance. */
#define FIELD_NEAR 1.25

/* Of half a side: how far the corners of a cell are from its centre, rounded up. */
#define FIELD_HALF_DIAGONAL 0.8661

/* Smaller bodies have none: floats would underflow. */
#define FIELD_LEAST_SIZE 0x1p-60

/* Of the lengths that take part: errors of distances, of centres and of offsets from them. */
#define FIELD_ERROR 0x1p-40

typedef struct field_brick {
    carom_vec3 low;
    double limit; /* no cell's centre is farther from the faces */
    int side;     /* of all cells; 0: not known */
} field_brick;

typedef struct field_build {
    carom_context *context;
    const carom_robot_part *parts;
    uint32_t part_count;
    carom_robot_field *field;
    field_brick *bricks;
    uint32_t begin;   /* bricks of this level: from here */
    double cell_side; /* of this level */
} field_build;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A distance that is no more than that of a point, and less by at most the tolerance: where many
 * faces are nearly as near as the nearest, few of them are looked at. */
static double field_distance(const field_build *b, carom_vec3 p, double limit) {
    double tolerance = CAROM_ROBOT_FIELD_TOLERANCE * b->cell_side, best = limit;
    for (uint32_t i = 0; i < b->part_count; ++i)
        best = carom_robot_tree_point_distance(&b->parts[i].tree, p, best, tolerance);
    best -= tolerance;
    return CAROM_MAX(best, 0.0);
}

static bool field_inside(const carom_robot_part *parts, uint32_t count, carom_vec3 p) {
    for (uint32_t i = 0; i < count; ++i)
        if (parts[i].closed && parts[i].sign * carom_robot_tree_winding(&parts[i].tree, p) >= 1)
            return true;
    return false;
}

static carom_vec3 field_centre(carom_vec3 low, double side, uint32_t i, uint32_t j, uint32_t k) {
    return carom_vec(low.x + side * ((double)i + 0.5), low.y + side * ((double)j + 0.5),
                     low.z + side * ((double)k + 0.5));
}

static float field_value(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

static uint32_t field_word(double d, bool inside) {
    float value = (float)d;
    uint32_t word;
    if (inside) value = -value;
    memcpy(&word, &value, sizeof(word));
    CAROM_ASSERT((word & CAROM_ROBOT_FIELD_IS_BRICK) != CAROM_ROBOT_FIELD_IS_BRICK);
    return word;
}

/* Whether a distance is surely larger than a length. */
static bool field_exceeds(const carom_robot_field *f, double d, double length) {
    return d * (1.0 - CAROM_ROBOT_FIELD_SLACK) >
           length * (1.0 + CAROM_ROBOT_FIELD_SLACK) + f->error;
}

/* Computes the cells of a block, the coarse grid or a brick, in the order of their indices. */
static void field_fill(const field_build *b, uint32_t *cells, const uint32_t *size,
                       const field_brick *at) {
    const carom_robot_field *f = b->field;
    double side = b->cell_side;
    const uint32_t step[3] = {1, size[0], size[0] * size[1]};
    for (uint32_t k = 0; k < size[2]; ++k)
        for (uint32_t j = 0; j < size[1]; ++j)
            for (uint32_t i = 0; i < size[0]; ++i) {
                const uint32_t index[3] = {i, j, k};
                uint32_t cell = k * step[2] + j * step[1] + i;
                carom_vec3 centre = field_centre(at->low, side, i, j, k);
                double d = field_distance(b, centre, at->limit);
                int known = at->side;
                if (f->closed && known == 0 && field_exceeds(f, d, 0.87 * side)) {
                    for (int axis = 0; axis < 3 && known == 0; ++axis) {
                        if (index[axis] == 0) continue;
                        double value = (double)field_value(cells[cell - step[axis]]);
                        if (!field_exceeds(f, fabs(value), 0.87 * side)) continue;
                        if (field_exceeds(f, CAROM_MAX(d, fabs(value)), side))
                            known = value < 0.0 ? 1 : -1;
                    }
                    if (known == 0) known = field_inside(b->parts, b->part_count, centre) ? 1 : -1;
                }
                cells[cell] = field_word(d, known == 1);
            }
}

static carom_status field_range(void *argument, carom_range range) {
    static const uint32_t size[3] = {CAROM_ROBOT_FIELD_SIDE, CAROM_ROBOT_FIELD_SIDE,
                                     CAROM_ROBOT_FIELD_SIDE};
    const field_build *b = argument;
    uint32_t *bricks = b->field->cells + carom_robot_field_top(b->field);
    for (uint64_t i = b->begin + range.begin; i < b->begin + range.end; ++i)
        field_fill(b, bricks + i * CAROM_ROBOT_FIELD_BRICK, size, &b->bricks[i]);
    return CAROM_OK;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Puts bricks instead of near cells of a block; counts them where `commit` is false. */
static uint32_t field_divide(const field_build *b, uint32_t *cells, const uint32_t *size,
                             carom_vec3 low, uint32_t next, bool commit) {
    double half = FIELD_HALF_DIAGONAL * b->cell_side, child = 0.25 * b->cell_side;
    uint32_t count = 0;
    for (uint32_t cell = 0; cell < size[0] * size[1] * size[2]; ++cell) {
        double value = (double)field_value(cells[cell]), d = fabs(value);
        if (d >= FIELD_NEAR * half) continue;
        ++count;
        if (!commit) continue;
        uint32_t i = cell % size[0], j = cell / size[0] % size[1], k = cell / size[0] / size[1];
        bool is_known = b->field->closed && field_exceeds(b->field, d, 0.87 * b->cell_side);
        b->bricks[next] = (field_brick){
            carom_vec(low.x + b->cell_side * (double)i, low.y + b->cell_side * (double)j,
                      low.z + b->cell_side * (double)k),
            (d + half) * (1.0 + CAROM_ROBOT_FIELD_SLACK) + b->field->error + 2.0 * child,
            !is_known     ? 0
            : value < 0.0 ? 1
                          : -1};
        cells[cell] = CAROM_ROBOT_FIELD_IS_BRICK | next++;
    }
    return count;
}

/* Divides near cells of bricks [begin, end), or of the coarse grid where `begin` is `end`. */
static uint32_t field_divide_level(const field_build *b, uint32_t end, bool commit) {
    static const uint32_t size[3] = {CAROM_ROBOT_FIELD_SIDE, CAROM_ROBOT_FIELD_SIDE,
                                     CAROM_ROBOT_FIELD_SIDE};
    carom_robot_field *f = b->field;
    uint32_t *bricks = f->cells + carom_robot_field_top(f), count = 0;
    if (b->begin == end) return field_divide(b, f->cells, f->size, f->low, end, commit);
    for (uint32_t i = b->begin; i < end; ++i)
        count += field_divide(b, bricks + (uint64_t)i * CAROM_ROBOT_FIELD_BRICK, size,
                              b->bricks[i].low, end + count, commit);
    return count;
}

static carom_status field_levels(field_build *b, uint32_t most) {
    carom_robot_field *f = b->field;
    const field_brick all = {f->low, HUGE_VAL, 0};
    uint32_t end = 0;
    b->cell_side = f->side;
    field_fill(b, f->cells, f->size, &all);
    for (uint32_t level = 0; level < FIELD_MOST_LEVEL; ++level) {
        uint32_t count = field_divide_level(b, end, false);
        if (count == 0 || count > most - end) break;
        (void)field_divide_level(b, end, true);
        b->begin = end;
        end += count;
        b->cell_side *= 0.25;
        CAROM_TRY(carom_parallel_for(b->context, count, 4, field_range, b));
        CAROM_TRY(carom_progress_look(b->context));
    }
    f->brick_count = end;
    return CAROM_OK;
}

/* The box of all faces, the grid around it; false where a body is too small for floats. */
static bool field_frame(const field_build *b) {
    carom_robot_field *f = b->field;
    double size = 0.0, largest = 0.0;
    for (int k = 0; k < 3; ++k) {
        f->box_low[k] = HUGE_VAL;
        f->box_high[k] = -HUGE_VAL;
    }
    for (uint32_t i = 0; i < b->part_count; ++i) {
        const carom_robot_tree *t = &b->parts[i].tree;
        if (t->item_count == 0) continue;
        f->closed |= b->parts[i].closed;
        largest = CAROM_MAX(t->largest, largest);
        for (int k = 0; k < 3; ++k) {
            f->box_low[k] = CAROM_MIN(t->nodes[0].low[k], f->box_low[k]);
            f->box_high[k] = CAROM_MAX(t->nodes[0].high[k], f->box_high[k]);
        }
    }
    for (int k = 0; k < 3; ++k) size = CAROM_MAX(f->box_high[k] - f->box_low[k], size);
    if (!(size > FIELD_LEAST_SIZE && size > largest * 0x1p-20)) return false;
    f->side = size / FIELD_COARSE;
    f->error = FIELD_ERROR * (largest + 2.0 * size);
    double border = FIELD_BORDER * f->side;
    f->low = carom_vec(f->box_low[0] - border, f->box_low[1] - border, f->box_low[2] - border);
    for (int k = 0; k < 3; ++k)
        f->size[k] =
            (uint32_t)((f->box_high[k] - f->box_low[k]) / f->side + 2.0 * FIELD_BORDER) + 1;
    return true;
}

carom_status carom_robot_field_make(carom_context *context, const carom_allocator *allocator,
                                    const carom_robot_part *parts, uint32_t part_count,
                                    uint64_t cells, carom_robot_field *field) {
    carom_robot_field made = {0};
    field_build b = {.context = context, .parts = parts, .part_count = part_count, .field = &made};
    *field = made;
    uint64_t most = CAROM_MIN(cells / CAROM_ROBOT_FIELD_BRICK, CAROM_ROBOT_FIELD_MOST);
    if (!field_frame(&b)) return CAROM_OK;
    uint64_t top = carom_robot_field_top(&made), used = top;
    made.cells =
        carom_allocate(allocator, top + most * CAROM_ROBOT_FIELD_BRICK, sizeof(*made.cells));
    b.bricks = carom_allocate(allocator, most + 1, sizeof(*b.bricks));
    carom_status status = CAROM_OK;
    if (made.cells == NULL || b.bricks == NULL)
        status = carom_fail_memory(context, cells * sizeof(*made.cells), "distances of a body");
    if (status == CAROM_OK) status = field_levels(&b, (uint32_t)most);
    used += (uint64_t)made.brick_count * CAROM_ROBOT_FIELD_BRICK;
    uint32_t *kept = NULL;
    if (status == CAROM_OK) {
        kept = carom_allocate(allocator, used, sizeof(*kept));
        if (kept == NULL)
            status = carom_fail_memory(context, used * sizeof(*kept), "distances of a body");
        else
            memcpy(kept, made.cells, used * sizeof(*kept));
    }
    CAROM_RELEASE_ALL(allocator, made.cells, b.bricks);
    if (status != CAROM_OK) return status;
    made.cells = kept;
    *field = made;
    return CAROM_OK;
}

void carom_robot_field_free(const carom_allocator *allocator, carom_robot_field *field) {
    carom_release(allocator, field->cells);
    *field = (carom_robot_field){0};
}

uint64_t carom_robot_field_count(const carom_robot_field *field) {
    return field->cells == NULL ? 0
                                : carom_robot_field_top(field) +
                                      (uint64_t)field->brick_count * CAROM_ROBOT_FIELD_BRICK;
}

/* ---- Invariants ------------------------------------------------------------------------------ */

/* What look-ups rely on: bricks follow the one with their cell, and distances are numbers. */
const char *carom_robot_field_validate(const carom_robot_field *f) {
    uint64_t top = carom_robot_field_top(f), count = carom_robot_field_count(f), next = 0;
    if (f->cells == NULL) return NULL;
    if (!(f->side > 0.0) || !(f->error >= 0.0) || top == 0)
        return "robot: distances of a body have no grid";
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t word = f->cells[i];
        if ((word & CAROM_ROBOT_FIELD_IS_BRICK) != CAROM_ROBOT_FIELD_IS_BRICK) continue;
        if ((word & CAROM_ROBOT_FIELD_MOST) != next++ || word >> 31 != 0)
            return "robot: bricks of distances are not in order";
        if (i >= top && (i - top) / CAROM_ROBOT_FIELD_BRICK >= next - 1)
            return "robot: bricks of distances are not in order";
    }
    return next == f->brick_count ? NULL : "robot: a brick of distances has no cell";
}
