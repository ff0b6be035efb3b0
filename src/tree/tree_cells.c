/* SPDX-License-Identifier: MIT */
/* Building the octree of a solid. Cells are divided best first: the one whose share of the solid is
 * known least. The planes of a cell follow from the triangles that meet its ball; runs of triangles
 * that are small against the cell are taken as a whole, by their cylinders (tree_surface.h), so
 * that the cost of a cell does not depend on the mesh. The part of the ball beyond a plane has no
 * surface in it and is convex: one point tells whether it is inside.
 *
 * A plane cuts a unit cube in a volume that is piecewise cubic: Scardovelli and Zaleski, Analytical
 * Relations Connecting Linear Interfaces and Volume Fractions in Rectangular Grids (2000). */
#include "tree/tree_cells.h"

#include <float.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/context.h"
#include "base/progress.h"
#include "geom/box.h"
#include "geom/distance_item.h"
#include "geom/length.h"
#include "tree/tree.h"

/* ---- Planes that cut cubes ------------------------------------------------------------------- */

/* Smaller coordinates of a normal, of the sum of all three, are taken as 0, and the plane is moved
 * by them instead: the cubic pieces divide by them. That widens the bounds of a share by as much,
 * which is far below what planes in a cell are apart. */
#define TREE_SLOPE_MIN 0x1p-16

/* Upper bound of the error of a share. The last piece has terms of size 1, off by some 2^-52, which
 * are divided by 6 m0 m1 m2, where m0 >= TREE_SLOPE_MIN and, as m0 + m1 > m2, the other two are at
 * least 1/4: 2^-52 2^16 16 / 6 < 2^-34. Terms of the piece before it are at most 8 m1^3, and
 * m1 <= 1/2, so that it is more precise; the others do not divide by m0. */
#define TREE_CUT_ERROR 0x1p-34

carom_tree_cut carom_tree_cut_make(const double normal[3], double side) {
    double a = fabs(normal[0]), b = fabs(normal[1]), c = fabs(normal[2]), t;
    if (a > b) t = a, a = b, b = t;
    if (b > c) t = b, b = c, c = t;
    if (a > b) t = a, a = b, b = t;
    double sum = a + b + c;
    carom_tree_cut cut = {{a / sum, b / sum, c / sum}, 0.0, 0.5 * side * sum};
    if (cut.m[0] < TREE_SLOPE_MIN) {
        cut.least = cut.m[0];
        cut.m[1] /= 1.0 - cut.least;
        cut.m[2] /= 1.0 - cut.least;
        cut.m[0] = 0.0;
    }
    /* A cell without a surface has the normal 0, and planes that do not meet the cube. */
    CAROM_ASSERT(!(sum > 0.0) || (cut.m[0] <= cut.m[1] && cut.m[1] <= cut.m[2] &&
                                  fabs(cut.m[0] + cut.m[1] + cut.m[2] - 1.0) < CAROM_TREE_SLACK));
    return cut;
}

/* The volume of the unit cube where m x < at, for `at` up to 1/2. */
static double half_share(const double m[3], double at) {
    double both = m[0] + m[1], cubic = 6.0 * m[0] * m[1] * m[2];
    double s1 = m[0] * m[0] * (m[0] - 3.0 * at), s2 = m[1] * m[1] * (m[1] - 3.0 * at);
    if (at < m[0]) return at * at * at / cubic;
    if (at < m[1]) return (at * (at - m[0]) + m[0] * m[0] / 3.0) / (2.0 * m[1] * m[2]);
    if (at < CAROM_MIN(both, m[2])) return (at * at * (3.0 * both - at) + s1 + s2) / cubic;
    if (both <= m[2]) return (2.0 * at - both) / (2.0 * m[2]);
    return (at * at * (3.0 - 2.0 * at) + s1 + s2 + m[2] * m[2] * (m[2] - 3.0 * at)) / cubic;
}

/* Bounds of the share of the cube below a plane at `at` from its centre. */
static double share_below(const carom_tree_cut *cut, double at, bool upper) {
    double whole = 0.5 * at / cut->reach + 0.5;
    if (!(whole > 0.0)) return 0.0; /* exactly: the plane does not meet the cube */
    if (whole >= 1.0) return 1.0;
    if (cut->least > 0.0) whole = (whole - (upper ? 0.0 : cut->least)) / (1.0 - cut->least);
    whole = whole < 0.0 ? 0.0 : whole > 1.0 ? 1.0 : whole;
    double share = whole <= 0.5 ? half_share(cut->m, whole) : 1.0 - half_share(cut->m, 1.0 - whole);
    share += upper ? TREE_CUT_ERROR : -TREE_CUT_ERROR;
    return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}

void carom_tree_cut_share(const carom_tree_cut *cut, double low, double high, uint32_t bits,
                          double *least, double *most) {
    double below = share_below(cut, low, false);
    double not_above =
        low == high && (below == 0.0 || below == 1.0) ? below : share_below(cut, high, true);
    double above = 1.0 - not_above, between = not_above - below;
    bool in_below = (bits & CAROM_TREE_CELL_BELOW) != 0;
    bool in_above = (bits & CAROM_TREE_CELL_ABOVE) != 0;
    *least = (in_below ? below : 0.0) + (in_above ? above : 0.0);
    *most = *least + CAROM_MAX(between, 0.0);
    *most = CAROM_MIN(*most, 1.0);
    CAROM_ASSERT(*least >= 0.0 && *least <= *most);
}

/* ---- Triangles of a ball --------------------------------------------------------------------- */

/* Runs of triangles are taken as a whole where radius and half the height of their cylinder are
 * together at most this, in radii of the cell's ball: planes are then farther apart than those of
 * the triangles by twice this at most, and a cell sees some 32^2 runs. */
#define TREE_RUN_RADIUS (1.0 / 32.0)

/* Planes are moved apart by this, in units of the frame or of the surface's radius, if that is
 * larger. The origin is at most TREE_ORIGIN_MAX units away, so that rounding to doubles and
 * bringing points to the packing's coordinates and back are off by some 2^-53 2^20 = 2^-33.
 * Surfaces of larger origins get no cells. */
#define TREE_PLANE_MARGIN 0x1p-24
#define TREE_ORIGIN_MAX   0x1p+20

/* A triangle of a span below this, in radii of the ball, is taken as it is: cutting its plane with
 * the ball would narrow the span by less than that. */
#define TREE_SPAN_MIN 0.25

/* Areas below this, in units of the frame, have no direction: squares of their coordinates are
 * still 2^600 above the least double. */
#define TREE_AREA_MIN 0x1p-200

/* Twice the area of a triangle, of the square of its longest side: the normal of a thinner one, off
 * by more than 2^-53 2^20 = 2^-33, is not used. */
#define TREE_NEEDLE_AREA 0x1p-20

/* The length of the sum of all areas in a ball, of the sum of their lengths: where it is less,
 * sheets face each other, and the largest area alone tells the normal. */
#define TREE_NORMAL_AGREEMENT 0.25

/* A plane that is farther from the centre than this, in radii of the ball, leaves a cap of less
 * than 2e-4 of the ball's volume: whether that is inside is not worth a ray. */
#define TREE_CAP_PLANE 0.99

/* Radii and sides are larger by this part than they need to be, for all roundings. */
#define TREE_CELL_ROUNDING 0x1p-20

/* A cylinder of the surface: one triangle on level 0. */
typedef struct tree_cells_cylinder {
    uint32_t level, index;
} tree_cells_cylinder;
CAROM_ARRAY(run_array, tree_cells_cylinder);
CAROM_ARRAY(tree_cells_cell_array, carom_tree_cell);

typedef struct tree_cells_cube {
    carom_vec3 centre;
    double side;
} tree_cells_cube;
CAROM_ARRAY(cube_array, tree_cells_cube);

typedef struct tree_cells_builder {
    carom_context *context;
    const carom_tree_surface *surface;
    carom_vec3 origin;
    int shift;
    double scale, margin;
    carom_spheres_transform identity;
    run_array runs; /* of the cell at hand */
    tree_cells_cell_array cells;
    cube_array cubes; /* of cells */
    uint32_t *queue;  /* cells with no children: a heap, the least known first */
    double *keys;     /* of cells: the volume that is not known */
    uint32_t queued;
} tree_cells_builder;

static carom_vec3 tree_cells_corner_of(const tree_cells_builder *b, uint32_t triangle,
                                       uint32_t corner) {
    const carom_tree_surface *s = b->surface;
    carom_vec3 x = s->vertices[s->corners[3 * (uint64_t)triangle + corner]];
    return carom_vec_scale(carom_vec_sub(x, b->origin), b->scale);
}

/* The part of a line that something covers. */
typedef struct tree_cells_span {
    double low, high;
} tree_cells_span;

/* Lists what meets the ball, below a node. */
static bool tree_cells_collect(tree_cells_builder *b, uint32_t level, uint32_t index,
                               carom_vec3 centre, double radius) {
    const carom_tree_cylinders *node = &b->surface->nodes[b->surface->level_start[level] + index];
    for (uint32_t lane = 0; lane < CAROM_TREE_CYLINDERS; ++lane) {
        double x = (double)node->x[lane] - centre.x, y = (double)node->y[lane] - centre.y;
        double z = (double)node->z[lane] - centre.z;
        double r = (double)node->radius[lane], h = (double)node->height[lane];
        double reach = radius + r + h;
        if (!(x * x + y * y + z * z <= reach * reach)) continue; /* NaN past the end */
        tree_cells_cylinder next = {level, index * CAROM_TREE_CYLINDERS + lane};
        if (level == 0) {
            carom_vec3 t[3];
            carom_closest closest;
            for (uint32_t k = 0; k < 3; ++k) t[k] = tree_cells_corner_of(b, next.index, k);
            carom_near_point_triangle(centre, t, &closest);
            if (!(closest.distance <= radius)) continue;
        }
        if (level == 0 || r + h <= TREE_RUN_RADIUS * radius) {
            if (!run_array_push(&b->runs, &b->context->allocator, next)) return false;
        } else if (!tree_cells_collect(b, level - 1, next.index, centre, radius)) {
            return false;
        }
    }
    return true;
}

/* Twice the area of a triangle, or the axis of a cylinder times its square of radius. */
static carom_vec3 tree_cells_area_of(const tree_cells_builder *b, tree_cells_cylinder r) {
    if (r.level == 0) {
        carom_vec3 p = tree_cells_corner_of(b, r.index, 0);
        return carom_vec_cross(carom_vec_sub(tree_cells_corner_of(b, r.index, 1), p),
                               carom_vec_sub(tree_cells_corner_of(b, r.index, 2), p));
    }
    const carom_tree_cylinders *node =
        &b->surface->nodes[b->surface->level_start[r.level] + r.index / CAROM_TREE_CYLINDERS];
    uint32_t lane = r.index % CAROM_TREE_CYLINDERS;
    double size = 2.0 * (double)node->radius[lane] * (double)node->radius[lane];
    return carom_vec((double)node->axis_x[lane] * size, (double)node->axis_y[lane] * size,
                     (double)node->axis_z[lane] * size);
}

/* Where a triangle within a ball is along a normal. */
static tree_cells_span span_of_triangle(const tree_cells_builder *b, uint32_t triangle,
                                        carom_vec3 centre, double radius, carom_vec3 n) {
    carom_vec3 d[3];
    tree_cells_span s = {HUGE_VAL, -HUGE_VAL};
    for (uint32_t k = 0; k < 3; ++k) {
        d[k] = carom_vec_sub(tree_cells_corner_of(b, triangle, k), centre);
        double at = carom_vec_dot(d[k], n);
        s.low = CAROM_MIN(at, s.low);
        s.high = CAROM_MAX(at, s.high);
    }
    if (s.low >= -radius && s.high <= radius && s.high - s.low < TREE_SPAN_MIN * radius) return s;
    /* A large one: its plane cuts the ball in a disc. */
    carom_vec3 normal = carom_vec_cross(carom_vec_sub(d[1], d[0]), carom_vec_sub(d[2], d[0]));
    double length = carom_vec_length(normal);
    if (!(length > TREE_AREA_MIN)) return s;
    normal = carom_vec_scale(normal, 1.0 / length);
    double off = carom_vec_dot(normal, d[0]), c = carom_vec_dot(normal, n);
    double left = radius * radius - off * off, sine = carom_vec_dot(n, n) - c * c;
    double wide = sqrt(CAROM_MAX(left, 0.0)) * sqrt(CAROM_MAX(sine, 0.0)) + b->margin;
    /* Normals of needles are not precise. */
    double longest = 0.0;
    for (int k = 0; k < 3; ++k) {
        double size = carom_vec_length(carom_vec_sub(d[k], d[k < 2 ? k + 1 : 0]));
        longest = CAROM_MAX(size, longest);
    }
    if (length < TREE_NEEDLE_AREA * longest * longest) return s;
    s.low = CAROM_MAX(c * off - wide, s.low);
    s.high = CAROM_MIN(c * off + wide, s.high);
    return s;
}

static tree_cells_span span_of_run(const tree_cells_builder *b, tree_cells_cylinder r,
                                   carom_vec3 centre, double radius, carom_vec3 n) {
    if (r.level == 0) return span_of_triangle(b, r.index, centre, radius, n);
    const carom_tree_cylinders *node =
        &b->surface->nodes[b->surface->level_start[r.level] + r.index / CAROM_TREE_CYLINDERS];
    uint32_t lane = r.index % CAROM_TREE_CYLINDERS;
    carom_vec3 d = carom_vec((double)node->x[lane] - centre.x, (double)node->y[lane] - centre.y,
                             (double)node->z[lane] - centre.z);
    carom_vec3 axis = carom_vec((double)node->axis_x[lane], (double)node->axis_y[lane],
                                (double)node->axis_z[lane]);
    axis = carom_vec_scale(axis, 1.0 / carom_vec_length(axis));
    double at = carom_vec_dot(d, n), c = carom_vec_dot(axis, n);
    double sine = carom_vec_dot(n, n) - c * c;
    double half = (double)node->height[lane] * fabs(c) +
                  (double)node->radius[lane] * sqrt(CAROM_MAX(sine, 0.0)) + b->margin;
    return (tree_cells_span){at - half, at + half};
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Whether a point is inside, where the planes of the cell above or a ray tell; else -1. */
static int tree_cells_find_inside(const tree_cells_builder *b, const carom_tree_cell *parent,
                                  const tree_cells_cube *at, carom_vec3 point) {
    if (parent != NULL) {
        carom_vec3 n = carom_vec((double)parent->normal[0], (double)parent->normal[1],
                                 (double)parent->normal[2]);
        double along = carom_vec_dot(n, carom_vec_sub(point, at->centre));
        if (along < (double)parent->low - b->margin)
            return (parent->child & CAROM_TREE_CELL_BELOW) != 0;
        if (along > (double)parent->high + b->margin)
            return (parent->child & CAROM_TREE_CELL_ABOVE) != 0;
    }
    carom_vec3 x = carom_vec_add(b->origin, carom_vec_scale(point, 1.0 / b->scale));
    return carom_tree_surface_inside(b->surface, &b->identity, b->origin, b->shift, x);
}

/* The normal: the mean of what the ball contains, so that the planes are close. Where sheets face
 * each other it cancels, and the largest triangle's is taken. */
static carom_vec3 choose_normal(const tree_cells_builder *b, double radius) {
    carom_vec3 sum = {0.0, 0.0, 0.0}, largest = {0.0, 0.0, 1.0};
    double all = 0.0, most = 0.0;
    for (uint64_t i = 0; i < b->runs.count; ++i) {
        carom_vec3 area = tree_cells_area_of(b, b->runs.data[i]);
        double size = carom_vec_length(area), limit = radius * radius;
        if (!(size > TREE_AREA_MIN)) continue;
        if (size > limit) area = carom_vec_scale(area, limit / size);
        size = CAROM_MIN(size, limit);
        all += size;
        sum = carom_vec_add(sum, area);
        if (size > most) {
            most = size;
            largest = area;
        }
    }
    double length = carom_vec_length(sum);
    if (!(length >= TREE_NORMAL_AGREEMENT * all && length > 0.0)) {
        sum = largest;
        length = carom_vec_length(largest);
    }
    return carom_vec_scale(sum, 1.0 / length);
}

/* Bounds of the solid's share of a cube around the centre of a cell, within its ball. */
static void measure_cell(const carom_tree_cell *cell, double side, double *least, double *most) {
    const double normal[3] = {(double)cell->normal[0], (double)cell->normal[1],
                              (double)cell->normal[2]};
    carom_tree_cut cut = carom_tree_cut_make(normal, side);
    carom_tree_cut_share(&cut, (double)cell->low, (double)cell->high, cell->child, least, most);
}

/* Finds the planes of a cell and its share of the solid. */
static bool fit_cell(tree_cells_builder *b, const carom_tree_cell *parent,
                     const tree_cells_cube *parent_at, const tree_cells_cube *at,
                     carom_tree_cell *cell) {
    double radius = CAROM_TREE_CELL_REACH * at->side * (1.0 + TREE_CELL_ROUNDING) + 2.0 * b->margin;
    double least, most;
    *cell = (carom_tree_cell){{0.0f, 0.0f, 0.0f}, HUGE_VALF, HUGE_VALF, 0.0f, 1.0f, 0};
    b->runs.count = 0;
    if (!tree_cells_collect(b, b->surface->level_count - 1, 0, at->centre, radius)) return false;
    if (b->runs.count == 0) {
        int inside = tree_cells_find_inside(b, parent, parent_at, at->centre);
        if (inside < 0) { /* not known: there are no planes */
            cell->low = -HUGE_VALF;
            return true;
        }
        cell->least = cell->most = (float)inside;
        cell->child = inside == 1 ? CAROM_TREE_CELL_BELOW : 0;
        return true;
    }
    carom_vec3 n = choose_normal(b, radius);
    cell->normal[0] = (float)n.x;
    cell->normal[1] = (float)n.y;
    cell->normal[2] = (float)n.z;
    n = carom_vec((double)cell->normal[0], (double)cell->normal[1], (double)cell->normal[2]);
    tree_cells_span all = {HUGE_VAL, -HUGE_VAL};
    for (uint64_t i = 0; i < b->runs.count; ++i) {
        tree_cells_span s = span_of_run(b, b->runs.data[i], at->centre, radius, n);
        all.low = CAROM_MIN(s.low, all.low);
        all.high = CAROM_MAX(s.high, all.high);
    }
    all.low -= b->margin;
    all.high += b->margin;
    const double ends[2] = {all.low, -all.high};
    for (int k = 0; k < 2; ++k) {
        bool known = ends[k] > -TREE_CAP_PLANE * radius;
        double by = 0.5 * (ends[k] - radius);
        int inside = -1;
        if (known)
            inside = tree_cells_find_inside(
                b, parent, parent_at,
                carom_vec_add(at->centre, carom_vec_scale(n, k == 0 ? by : -by)));
        if (k == 0) cell->low = inside < 0 ? -HUGE_VALF : carom_float_down(all.low, 0.0);
        if (k == 1) cell->high = inside < 0 ? HUGE_VALF : carom_float_up(all.high, 0.0);
        if (inside == 1) cell->child |= k == 0 ? CAROM_TREE_CELL_BELOW : CAROM_TREE_CELL_ABOVE;
    }
    CAROM_ASSERT(cell->low <= cell->high);
    measure_cell(cell, at->side, &least, &most);
    cell->least = carom_float_down(least, 0.0);
    cell->most = carom_float_up(most, 0.0);
    return true;
}

/* ---- The queue ------------------------------------------------------------------------------- */

static bool tree_cells_before(const tree_cells_builder *b, uint32_t i, uint32_t k) {
    return b->keys[i] > b->keys[k] || (b->keys[i] == b->keys[k] && i < k);
}

static void tree_cells_push(tree_cells_builder *b, uint32_t cell) {
    uint32_t at = b->queued++;
    for (; at > 0 && tree_cells_before(b, cell, b->queue[(at - 1) / 2]); at = (at - 1) / 2)
        b->queue[at] = b->queue[(at - 1) / 2];
    b->queue[at] = cell;
}

static uint32_t tree_cells_pop(tree_cells_builder *b) {
    CAROM_ASSERT(b->queued != 0);
    uint32_t first = b->queue[0], last = b->queue[--b->queued], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < b->queued; at = child) {
        if (child + 1 < b->queued && tree_cells_before(b, b->queue[child + 1], b->queue[child]))
            ++child;
        if (!tree_cells_before(b, b->queue[child], last)) break;
        b->queue[at] = b->queue[child];
    }
    b->queue[at] = last;
    return first;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* What is not known of a cell is measured in a cube of this many sides: that is where a cube of
 * half the side may be, if its centre is in the cell. */
#define TREE_KEY_SIDES 1.5

static bool add_cell(tree_cells_builder *b, uint32_t parent, const tree_cells_cube *at) {
    carom_tree_cell cell, above;
    tree_cells_cube above_at = {{0.0, 0.0, 0.0}, 0.0};
    bool some = b->cells.count != 0;
    if (some) {
        above = b->cells.data[parent];
        above_at = b->cubes.data[parent];
    }
    if (!fit_cell(b, some ? &above : NULL, &above_at, at, &cell)) return false;
    uint32_t index = (uint32_t)b->cells.count;
    double least, most;
    measure_cell(&cell, TREE_KEY_SIDES * at->side, &least, &most);
    b->keys[index] = (most - least) * at->side * at->side * at->side;
    b->cells.data[b->cells.count++] = cell;
    b->cubes.data[b->cubes.count++] = *at;
    if (b->keys[index] > 0.0) tree_cells_push(b, index);
    return true;
}

/* The shares of cells with children: children come after their parents. */
static void sum_shares(tree_cells_builder *b) {
    for (uint64_t i = b->cells.count; i-- > 0;) {
        carom_tree_cell *cell = &b->cells.data[i];
        uint32_t first = carom_tree_cell_child(cell);
        if (first == 0) continue;
        double least = 0.0, most = 0.0;
        for (uint32_t k = 0; k < 8; ++k) {
            least += 0.125 * (double)b->cells.data[first + k].least;
            most += 0.125 * (double)b->cells.data[first + k].most;
        }
        float low = carom_float_down(least, 0.0), high = carom_float_up(most, 0.0);
        /* Both are bounds of one share: they have a number in common. */
        CAROM_ASSERT(low <= cell->most && cell->least <= high);
        cell->least = CAROM_MAX(low, cell->least);
        cell->most = CAROM_MIN(high, cell->most);
    }
}

/* Divisions, of eight cells each, between two looks at the progress callback: some milliseconds,
 * where 3 us are spent per sphere or cell. */
#define TREE_PROGRESS_DIVISIONS 256u

static carom_status tree_cells_build(tree_cells_builder *b, const carom_tree_cells *cells,
                                     uint32_t most) {
    const tree_cells_cube root = {cells->centre, cells->side};
    uint32_t since = 0;
    if (!add_cell(b, 0, &root)) return CAROM_NO_MEMORY;
    while (b->queued != 0 && b->cells.count + 8 <= most) {
        uint32_t at = tree_cells_pop(b);
        tree_cells_cube above = b->cubes.data[at];
        /* The queue has cells without children only, the least known first. */
        CAROM_ASSERT(carom_tree_cell_child(&b->cells.data[at]) == 0);
        CAROM_ASSERT(b->queued == 0 || b->keys[at] >= b->keys[b->queue[0]]);
        b->cells.data[at].child |= (uint32_t)b->cells.count << CAROM_TREE_CELL_SHIFT;
        for (uint32_t k = 0; k < 8; ++k) {
            tree_cells_cube child = {carom_tree_cell_centre(above.centre, above.side, k),
                                     0.5 * above.side};
            if (!add_cell(b, at, &child)) return CAROM_NO_MEMORY;
        }
        CAROM_ASSERT(b->cells.count % 8 == 1 && b->cells.count <= most);
        if (++since % TREE_PROGRESS_DIVISIONS == 0) CAROM_TRY(carom_progress_look(b->context));
    }
    sum_shares(b);
    return CAROM_OK;
}

void carom_tree_cells_set_cube(const carom_tree_surface *surface, carom_tree_cells *cells) {
    cells->centre = surface->centre;
    cells->side = 2.0 * surface->radius * (1.0 + TREE_CELL_ROUNDING);
}

carom_status carom_tree_cells_make(carom_context *context, const carom_tree_surface *surface,
                                   carom_vec3 origin, int shift, uint32_t most,
                                   carom_tree_cells *cells) {
    const carom_allocator *allocator = &context->allocator;
    tree_cells_builder b = {
        .context = context, .surface = surface, .origin = origin, .shift = shift};
    b.scale = carom_power_of_two(shift);
    b.margin = TREE_PLANE_MARGIN * CAROM_MAX(1.0, surface->radius);
    b.identity = (carom_spheres_transform){.frame = carom_frame_make(NULL), .scale = 1.0};
    carom_tree_cells_set_cube(surface, cells);
    if (!carom_vec_within(carom_vec_scale(origin, b.scale), TREE_ORIGIN_MAX) ||
        !(cells->side > 0.0))
        return CAROM_OK;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    b.queue = CAROM_ARENA_TAKE(scratch, uint32_t, most);
    b.keys = CAROM_ARENA_TAKE(scratch, double, most);
    b.cubes.data = CAROM_ARENA_TAKE(scratch, tree_cells_cube, most);
    b.cells.data = CAROM_ARENA_TAKE(scratch, carom_tree_cell, most);
    carom_status status = CAROM_NO_MEMORY;
    if (b.queue != NULL && b.keys != NULL && b.cubes.data != NULL && b.cells.data != NULL) {
        carom_progress_begin(context, "dividing a solid into cells", 0);
        status = carom_progress_finish(context, tree_cells_build(&b, cells, most));
    }
    if (status == CAROM_OK) {
        cells->cells = carom_allocate(allocator, b.cells.count, sizeof(*cells->cells));
        if (cells->cells == NULL) status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK) {
        cells->count = (uint32_t)b.cells.count;
        memcpy(cells->cells, b.cells.data, b.cells.count * sizeof(*cells->cells));
    }
    run_array_release(&b.runs, allocator);
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_NO_MEMORY)
        return carom_fail_memory(context, (uint64_t)most * sizeof(carom_tree_cell), "cells");
    return status;
}

/* ---- Invariants ------------------------------------------------------------------------------ */

const char *carom_tree_cells_validate(const carom_tree_cells *cells) {
    uint32_t next = 1;
    if (cells->count == 0) return NULL;
    if (!carom_vec_finite(cells->centre) || !(cells->side > 0.0 && cells->side <= TREE_ORIGIN_MAX))
        return "cells: the root is not a cube";
    for (uint32_t i = 0; i < cells->count; ++i) {
        const carom_tree_cell *c = &cells->cells[i];
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(c->normal[k]) <= 1.0f + CAROM_TREE_FLOAT_SLACK))
                return "cells: a normal is longer than 1";
        if (!(c->low <= c->high)) return "cells: planes are not in order";
        if (!(c->least >= 0.0f && c->least <= c->most && c->most <= 1.0f))
            return "cells: a share is not in 0 to 1";
        uint32_t first = carom_tree_cell_child(c);
        if (first == 0) continue;
        if (first <= i || first > cells->count - 8 || cells->count < 9 || (first - 1) % 8 != 0)
            return "cells: children do not come after their parent";
        ++next;
    }
    return (cells->count - 1) / 8 == next - 1 && (cells->count - 1) % 8 == 0
               ? NULL
               : "cells: not every cell has one parent";
}
