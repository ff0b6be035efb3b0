/* SPDX-License-Identifier: MIT */
/* Chazelle's polyhedron (Convex partitions of polyhedra, SIAM J. Comput. 13, 1984). Over the square
 * [0, L]^2, L = n + 1, lie the lines
 *     below: y = i, z = i x             above: x = j, z = j y + gap        (i, j = 1 .. n),
 * the two families of lines of the paraboloid z = x y, the second raised by the gap. From each
 * lower line a wedge opens down to the bottom z = -L^2, from each upper line one opens up to the
 * top z = 2 L^2. A wedge's two flat sides leave its line in the directions (0, -+w, -L^2),
 * respectively (+-w, 0, 2 L^2), so it is widest where the line is farthest from the opening: below
 * 2 w. As the sides are far steeper than the lines, lower and upper wedges stay separated by the
 * gap.
 *
 *   wall x = 0:   ___________________       the walls y = 0 and y = L
 *                |                   |      have their teeth above
 *                |___/\___/\___/\____|
 */
#include "mesh/mesh_shapes.h"

#define HALF_WIDTH 0.2
#define GAP        0.25

/* Three vertices where a wedge meets a wall: left foot, ridge, right foot. */
typedef struct tooth {
    uint32_t left, ridge, right;
} tooth;

typedef struct chazelle {
    carom_sketch *sketch;
    double length, bottom, top;
    uint32_t low[2][2], high[2][2]; /* corners of bottom and top by x, y end */
    tooth *below[2], *above[2];     /* on the walls x = 0, L; on the walls y = 0, L */
    uint32_t *corners;              /* scratch with capacity for the largest face */
} chazelle;

/* Adds a vertex, scaled to a block of width 2 around the origin. */
static uint32_t mesh_shapes_chazelle_put(chazelle *c, double x, double y, double z) {
    double size = c->sketch->def->size, scale = 2.0 * size / c->length;
    return carom_sketch_vertex(c->sketch, carom_vec(scale * x - size, scale * y - size,
                                                    size * (z / (c->length * c->length) - 0.5)));
}

static void put_vertices(chazelle *c, uint64_t n) {
    for (int end = 0; end < 2; ++end) {
        double far = end == 0 ? 0.0 : c->length;
        for (int side = 0; side < 2; ++side) {
            double y = side == 0 ? 0.0 : c->length;
            c->low[end][side] = mesh_shapes_chazelle_put(c, far, y, c->bottom);
            c->high[end][side] = mesh_shapes_chazelle_put(c, far, y, c->top);
        }
        for (uint64_t i = 0; i < n; ++i) {
            double line = (double)(i + 1), z = line * far, raised = z + GAP;
            double wide = HALF_WIDTH * (z - c->bottom) / -c->bottom;
            c->below[end][i].left = mesh_shapes_chazelle_put(c, far, line - wide, c->bottom);
            c->below[end][i].ridge = mesh_shapes_chazelle_put(c, far, line, z);
            c->below[end][i].right = mesh_shapes_chazelle_put(c, far, line + wide, c->bottom);
            wide = HALF_WIDTH * (c->top - raised) / c->top;
            c->above[end][i].left = mesh_shapes_chazelle_put(c, line - wide, far, c->top);
            c->above[end][i].ridge = mesh_shapes_chazelle_put(c, line, far, raised);
            c->above[end][i].right = mesh_shapes_chazelle_put(c, line + wide, far, c->top);
        }
    }
}

static void put_quad(chazelle *c, uint32_t p, uint32_t q, uint32_t r, uint32_t s) {
    uint32_t corners[4] = {p, q, r, s};
    carom_sketch_face(c->sketch, corners, 4);
}

/* Adds the strips of the bottom (or top) between the wedges, and the two sides of each wedge. a and
 * b are the teeth on the two walls; first and last are the corners before the first tooth and after
 * the last. */
static void put_comb(chazelle *c, uint64_t n, const tooth *a, const tooth *b,
                     const uint32_t first[2], const uint32_t last[2]) {
    uint32_t left[2] = {first[0], first[1]};
    for (uint64_t i = 0; i < n; ++i) {
        put_quad(c, left[0], a[i].left, b[i].left, left[1]);
        put_quad(c, a[i].left, a[i].ridge, b[i].ridge, b[i].left);
        put_quad(c, a[i].ridge, a[i].right, b[i].right, b[i].ridge);
        left[0] = a[i].right;
        left[1] = b[i].right;
    }
    put_quad(c, left[0], last[0], last[1], left[1]);
}

/* Adds a wall: the toothed side from corner p to q, then r and s opposite. */
static void put_wall(chazelle *c, uint64_t n, const tooth *teeth, const uint32_t p[4], bool flip) {
    uint64_t count = 0, total = 3 * n + 4;
    c->corners[count++] = p[0];
    for (uint64_t i = 0; i < n; ++i) {
        c->corners[count++] = teeth[i].left;
        c->corners[count++] = teeth[i].ridge;
        c->corners[count++] = teeth[i].right;
    }
    for (int i = 1; i < 4; ++i) c->corners[count++] = p[i];
    for (uint64_t i = 0; flip && i < total / 2; ++i) {
        uint32_t corner = c->corners[i];
        c->corners[i] = c->corners[total - 1 - i];
        c->corners[total - 1 - i] = corner;
    }
    carom_sketch_face(c->sketch, c->corners, total);
}

static void mesh_shapes_chazelle_put_faces(chazelle *c, uint64_t n) {
    uint32_t first[2] = {c->low[0][0], c->low[1][0]}, last[2] = {c->low[0][1], c->low[1][1]};
    put_comb(c, n, c->below[0], c->below[1], first, last);
    first[0] = c->high[0][0], first[1] = c->high[0][1];
    last[0] = c->high[1][0], last[1] = c->high[1][1];
    put_comb(c, n, c->above[0], c->above[1], first, last);
    for (int end = 0; end < 2; ++end) {
        uint32_t x_wall[4] = {c->low[end][0], c->low[end][1], c->high[end][1], c->high[end][0]};
        uint32_t y_wall[4] = {c->high[0][end], c->high[1][end], c->low[1][end], c->low[0][end]};
        put_wall(c, n, c->below[end], x_wall, end == 0);
        put_wall(c, n, c->above[end], y_wall, end == 0);
    }
}

carom_status carom_shape_chazelle(carom_sketch *sketch) {
    uint64_t n = sketch->def->detail;
    double lines = (double)n, faces = 6.0 * lines + 6.0;
    CAROM_TRY(carom_sketch_begin(sketch, 12.0 * lines + 8.0, 0.0, faces,
                                 4.0 * (faces - 4.0) + 4.0 * (3.0 * lines + 4.0)));
    carom_arena *scratch = carom_scratch(sketch->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    chazelle c = {.sketch = sketch, .length = lines + 1.0};
    c.bottom = -c.length * c.length;
    c.top = 2.0 * c.length * c.length;
    tooth *teeth = CAROM_ARENA_TAKE(scratch, tooth, 4 * n);
    c.corners = CAROM_ARENA_TAKE(scratch, uint32_t, 3 * n + 4);
    bool allocated = teeth != NULL && c.corners != NULL;
    for (uint64_t end = 0; end < 2 && allocated; ++end) {
        c.below[end] = teeth + end * n;
        c.above[end] = teeth + (2 + end) * n;
    }
    if (allocated) {
        put_vertices(&c, n);
        mesh_shapes_chazelle_put_faces(&c, n);
    }
    carom_arena_rewind(scratch, mark);
    return allocated ? CAROM_OK
                     : carom_fail_memory(sketch->context, 4 * n * sizeof(*teeth), "a polyhedron");
}
