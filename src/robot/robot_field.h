/* SPDX-License-Identifier: MIT */
/* robot_field.h: distances from the faces of a body, in cells: those of a coarse grid, and bricks
 * of 4 x 4 x 4 smaller ones instead of each cell that is near faces, some levels deep.
 *
 * A cell has the distance d from its centre c to the nearest face, or up to a tolerance less. A
 * point p of the cell is then from d - |p - c| to d + |p - c| + tolerance away from the faces,
 * because distances change no faster than points move, and a cell no face passes is inside or
 * outside as a whole. So a look-up replaces most searches of trees, and nearly all rays. Look-ups
 * are items. */
#ifndef CAROM_SRC_ROBOT_ROBOT_FIELD_H
#define CAROM_SRC_ROBOT_ROBOT_FIELD_H

#include <math.h>
#include <string.h>

#include "geom/vec.h"

#define CAROM_ROBOT_FIELD_SIDE  4u /* cells of a brick along an axis */
#define CAROM_ROBOT_FIELD_BRICK 64u

/* Relative: distances in floats, and their comparisons, are off by less. */
#define CAROM_ROBOT_FIELD_SLACK 0x1p-20

/* Of the side of a cell: its distance may be too small by this. */
#define CAROM_ROBOT_FIELD_TOLERANCE 0.25

/* Cells farther from the faces that are looked at: so many, each so many sides farther away. */
#define CAROM_ROBOT_FIELD_STEPS 2
#define CAROM_ROBOT_FIELD_STEP  1.5

/* A cell is a float: the distance, negative where its centre is inside; or, where the exponent has
 * all bits set, the number of a brick in its lower 23 bits. */
#define CAROM_ROBOT_FIELD_IS_BRICK UINT32_C(0x7f800000)
#define CAROM_ROBOT_FIELD_MOST     UINT32_C(0x007fffff) /* bricks */

typedef struct carom_robot_field {
    uint32_t *cells;  /* of the coarse grid, x first; then bricks, each after that with its cell */
    uint32_t size[3]; /* coarse cells along each axis */
    uint32_t brick_count;
    bool closed;    /* sides are known */
    carom_vec3 low; /* a corner of the grid */
    double side;    /* of a coarse cell */
    double error;   /* bounds are off by at most this, beside CAROM_ROBOT_FIELD_SLACK */
    double box_low[3], box_high[3]; /* of the faces, with their radii */
} carom_robot_field;

/* What is known of a point. */
typedef struct carom_robot_field_bounds {
    double lower, upper; /* of its distance from the faces; lower may be negative */
    int side;            /* 1: inside, -1: outside, 0: not known */
} carom_robot_field_bounds;

CAROM_ITEM carom_robot_field_bounds carom_robot_field_bounds_of(double lower, double upper,
                                                                int side) {
    carom_robot_field_bounds b;
    b.lower = lower;
    b.upper = upper;
    b.side = side;
    return b;
}

CAROM_ITEM uint32_t carom_robot_field_top(const carom_robot_field *f) {
    return f->size[0] * f->size[1] * f->size[2];
}

/* A point beyond the grid: by the box of the faces. */
CAROM_ITEM carom_robot_field_bounds carom_robot_field_beyond(const carom_robot_field *f, double x,
                                                             double y, double z) {
    const double p[3] = {x, y, z};
    double squared = 0.0;
    for (int k = 0; k < 3; ++k) {
        double out = p[k] < f->box_low[k] ? f->box_low[k] - p[k] : p[k] - f->box_high[k];
        squared += out > 0.0 ? out * out : 0.0;
    }
    double lower = sqrt(squared) * (1.0 - CAROM_ROBOT_FIELD_SLACK) - f->error;
    return carom_robot_field_bounds_of(lower, HUGE_VAL, lower > 0.0 ? -1 : 0);
}

/* The cell of a point. */
typedef struct carom_robot_field_cell {
    double value;   /* the distance of its centre, negative where that is inside */
    double side;    /* of the cell */
    carom_vec3 off; /* of the point from the centre */
} carom_robot_field_cell;

/* Of a field that has cells; false: the point is beyond the grid. */
CAROM_ITEM bool carom_robot_field_find(const carom_robot_field *f, carom_vec3 p,
                                       carom_robot_field_cell *cell) {
    double inverse = 1.0 / f->side;
    double x = (p.x - f->low.x) * inverse, y = (p.y - f->low.y) * inverse,
           z = (p.z - f->low.z) * inverse;
    if (!(x >= 0.0 && y >= 0.0 && z >= 0.0 && x < (double)f->size[0] && y < (double)f->size[1] &&
          z < (double)f->size[2]))
        return false;
    uint32_t i = (uint32_t)x, j = (uint32_t)y, k = (uint32_t)z;
    uint32_t word = f->cells[(k * f->size[1] + j) * f->size[0] + i];
    const uint32_t *bricks = f->cells + carom_robot_field_top(f);
    double side = f->side;
    x -= (double)i;
    y -= (double)j;
    z -= (double)k;
    while ((word & CAROM_ROBOT_FIELD_IS_BRICK) == CAROM_ROBOT_FIELD_IS_BRICK) {
        const double most = (double)CAROM_ROBOT_FIELD_SIDE;
        side *= 1.0 / most;
        x *= most;
        y *= most;
        z *= most;
        i = (uint32_t)x;
        j = (uint32_t)y;
        k = (uint32_t)z;
        x -= (double)i;
        y -= (double)j;
        z -= (double)k;
        word = bricks[(uint64_t)(word & CAROM_ROBOT_FIELD_MOST) * CAROM_ROBOT_FIELD_BRICK +
                      (k * CAROM_ROBOT_FIELD_SIDE + j) * CAROM_ROBOT_FIELD_SIDE + i];
    }
    float value;
    memcpy(&value, &word, sizeof(value));
    cell->value = (double)value;
    cell->side = side;
    cell->off = carom_vec(x - 0.5, y - 0.5, z - 0.5);
    return true;
}

CAROM_ITEM carom_robot_field_bounds carom_robot_field_at(const carom_robot_field *f, carom_vec3 p) {
    carom_robot_field_cell cell;
    if (!carom_robot_field_find(f, p, &cell)) return carom_robot_field_beyond(f, p.x, p.y, p.z);
    double d = fabs(cell.value), side = cell.side;
    double dx = cell.off.x, dy = cell.off.y, dz = cell.off.z;
    double off = sqrt(dx * dx + dy * dy + dz * dz) * side;
    double slack = (d + off) * CAROM_ROBOT_FIELD_SLACK + f->error;
    bool is_known = d > 0.87 * side + slack; /* half a diagonal is 0.8661 of it */
    int side_of = !is_known ? 0 : cell.value < 0.0 ? 1 : -1;
    return carom_robot_field_bounds_of(
        (d - off) - slack, (d + off) + (slack + CAROM_ROBOT_FIELD_TOLERANCE * side), side_of);
}

/* A lower bound of the distance of a point from the faces, by cells that are farther from them.
 * Distances change no faster than points move, and nearly as fast along the line to the nearest
 * face: a cell 2 sides away near that line is off by a sixteenth of a side, where the point's own
 * cell may be off by most of one. Takes as long as seven look-ups. */
CAROM_ITEM double carom_robot_field_lower(const carom_robot_field *f, carom_vec3 p) {
    carom_robot_field_cell own, cell;
    double least = -HUGE_VAL;
    if (!carom_robot_field_find(f, p, &own)) return least;
    double g[3], squared = 0.0;
    for (int k = 0; k < 3; ++k) {
        double ends[2];
        for (int i = 0; i < 2; ++i) {
            double step = i == 0 ? -own.side : own.side;
            carom_vec3 q = carom_vec(p.x + (k == 0 ? step : 0.0), p.y + (k == 1 ? step : 0.0),
                                     p.z + (k == 2 ? step : 0.0));
            if (!carom_robot_field_find(f, q, &cell)) return least;
            ends[i] = fabs(cell.value);
        }
        g[k] = ends[1] - ends[0];
        squared += g[k] * g[k];
    }
    if (!(squared > 0.0)) return least;
    double scale = own.side / sqrt(squared);
    for (int i = 0; i < CAROM_ROBOT_FIELD_STEPS; ++i) {
        double step = CAROM_ROBOT_FIELD_STEP * scale * (double)(i + 1);
        carom_vec3 to = carom_vec(g[0] * step, g[1] * step, g[2] * step);
        if (!carom_robot_field_find(f, carom_vec_add(p, to), &cell)) break;
        carom_vec3 off =
            carom_vec_add(carom_vec_scale(cell.off, -cell.side), to); /* to its centre */
        double d = fabs(cell.value), far = sqrt(carom_vec_dot(off, off));
        double lower = (d - far) - ((d + far) * CAROM_ROBOT_FIELD_SLACK + f->error);
        least = lower > least ? lower : least;
    }
    return least;
}

#endif
