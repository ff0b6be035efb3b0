/* SPDX-License-Identifier: MIT */
/* Grids, tubes, balls, blocks and strips. Vertices are shared inside of a surface and by no two
 * surfaces. */
#include "scenes/sequence_mesh.h"

#include <stdlib.h>

#include "base/math.h"
#include "geom/vec.h"

#define TURN 6.283185307179586477 /* 2 pi */

/* Space for one more; false when there is none. */
static bool reserve(scene_sequence *s, void **array, uint64_t count, uint64_t *room, size_t size) {
    if (s->failed) return false;
    if (count < *room) return true;
    uint64_t wanted = 2 * *room + 256;
    void *larger = realloc(*array, wanted * size);
    if (larger == NULL) {
        s->failed = true;
        return false;
    }
    *array = larger;
    *room = wanted;
    return true;
}

void scene_begin_part(scene_sequence *s, carom_pose *poses) {
    uint64_t room = s->part_room;
    void *parts = s->parts;
    if (!reserve(s, &parts, s->part_count, &room, sizeof(*s->parts))) {
        free(poses);
        return;
    }
    s->parts = parts;
    s->part_room = (uint32_t)room;
    s->parts[s->part_count++] = (scene_part){s->vertex_count, 0, poses};
}

uint32_t scene_add_vertex(scene_sequence *s, carom_vec3 p) {
    void *rest = s->rest;
    if (!reserve(s, &rest, s->vertex_count, &s->vertex_room, sizeof(*s->rest))) return 0;
    s->rest = rest;
    s->rest[s->vertex_count] = p;
    ++s->parts[s->part_count - 1].count;
    return (uint32_t)s->vertex_count++;
}

void scene_add_triangle(scene_sequence *s, uint32_t a, uint32_t b, uint32_t c) {
    void *corners = s->corners;
    if (!reserve(s, &corners, s->triangle_count, &s->triangle_room, sizeof(*s->corners))) return;
    s->corners = corners;
    uint32_t *to = s->corners[s->triangle_count++];
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

static void add_cell(scene_sequence *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    scene_add_triangle(s, a, b, c);
    scene_add_triangle(s, a, c, d);
}

void scene_add_grid(scene_sequence *s, uint32_t columns, uint32_t rows, scene_surface_fn *surface,
                    const void *user) {
    uint32_t first = (uint32_t)s->vertex_count, side = columns + 1;
    for (uint32_t j = 0; j <= rows; ++j)
        for (uint32_t i = 0; i <= columns; ++i)
            (void)scene_add_vertex(s, surface(user, (double)i / columns, (double)j / rows));
    for (uint32_t j = 0; j < rows; ++j)
        for (uint32_t i = 0; i < columns; ++i) {
            uint32_t v = first + j * side + i;
            add_cell(s, v, v + 1, v + side + 1, v + side);
        }
}

void scene_add_tube(scene_sequence *s, uint32_t around, uint32_t along, bool first_pole,
                    bool last_pole, scene_surface_fn *surface, const void *user) {
    uint32_t below = 0;
    for (uint32_t j = 0; j <= along; ++j) {
        bool pole = (j == 0 && first_pole) || (j == along && last_pole);
        uint32_t row = (uint32_t)s->vertex_count;
        for (uint32_t i = 0; i < (pole ? 1 : around); ++i)
            (void)scene_add_vertex(s, surface(user, (double)i / around, (double)j / along));
        for (uint32_t i = 0; j > 0 && i < around; ++i) {
            uint32_t next = (i + 1) % around;
            if (pole)
                scene_add_triangle(s, below + i, below + next, row);
            else if (j == 1 && first_pole)
                scene_add_triangle(s, below, row + next, row + i);
            else
                add_cell(s, below + i, below + next, row + next, row + i);
        }
        below = row;
    }
}

typedef struct ball {
    carom_vec3 centre;
    double radius;
} ball;

static carom_vec3 ball_point(const void *user, double u, double v) {
    const ball *b = user;
    double side = b->radius * carom_sin(0.5 * TURN * v);
    return carom_vec_add(b->centre,
                         carom_vec(side * carom_cos(TURN * u), side * carom_sin(TURN * u),
                                   -b->radius * carom_cos(0.5 * TURN * v)));
}

void scene_add_ball(scene_sequence *s, carom_vec3 centre, double radius, uint32_t around,
                    uint32_t along) {
    ball b = {centre, radius};
    scene_add_tube(s, around, along, true, true, ball_point, &b);
}

/* The vertex of a corner of a cell on the surface of a block; made when first needed. */
typedef struct block {
    scene_sequence *s;
    const uint32_t *cells;
    scene_solid_fn *solid;
    const void *user;
    uint32_t *vertices; /* one more than the index; 0: none yet */
} block;

static uint32_t block_vertex(block *b, const uint32_t at[3]) {
    uint64_t index =
        at[0] + (uint64_t)(b->cells[0] + 1) * (at[1] + (uint64_t)(b->cells[1] + 1) * at[2]);
    if (b->vertices[index] == 0)
        b->vertices[index] =
            1 + scene_add_vertex(b->s, b->solid(b->user, (double)at[0] / b->cells[0],
                                                (double)at[1] / b->cells[1],
                                                (double)at[2] / b->cells[2]));
    return b->vertices[index] - 1;
}

void scene_add_block(scene_sequence *s, const uint32_t cells[3], scene_solid_fn *solid,
                     const void *user) {
    uint64_t count = (uint64_t)(cells[0] + 1) * (uint64_t)(cells[1] + 1) * (uint64_t)(cells[2] + 1);
    block b = {s, cells, solid, user, calloc(count, sizeof(uint32_t))};
    if (b.vertices == NULL) {
        s->failed = true;
        return;
    }
    for (int axis = 0; axis < 3; ++axis) {
        int x = (axis + 1) % 3, y = (axis + 2) % 3;
        for (uint32_t j = 0; j < 2 * cells[y]; ++j)
            for (uint32_t i = 0; i < cells[x]; ++i) {
                uint32_t corner[4], at[3];
                bool far = j >= cells[y];
                for (uint32_t c = 0; c < 4; ++c) {
                    at[axis] = far ? cells[axis] : 0;
                    at[x] = i + (c == 1 || c == 2);
                    at[y] = (far ? j - cells[y] : j) + (c >= 2);
                    corner[far ? c : 3 - c] = block_vertex(&b, at);
                }
                add_cell(s, corner[0], corner[1], corner[2], corner[3]);
            }
    }
    free(b.vertices);
}

void scene_add_strip(scene_sequence *s, uint64_t triangles, scene_surface_fn *surface,
                     const void *user) {
    uint32_t first = (uint32_t)s->vertex_count;
    if (triangles == 0) return;
    for (uint64_t i = 0; i < triangles + 2; ++i)
        (void)scene_add_vertex(
            s, surface(user, (double)i / (double)(triangles + 1), i % 2 == 0 ? 0.0 : 1.0));
    for (uint32_t i = 0; i < triangles; ++i)
        scene_add_triangle(s, first + i, first + i + 1 + i % 2, first + i + 2 - i % 2);
}
