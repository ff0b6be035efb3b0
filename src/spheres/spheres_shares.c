/* SPDX-License-Identifier: MIT */
/* The division of a solid among balls, by an octree.
 *
 * A cell belongs to the ball nearest to its centre, by w (distance - radius). In a packing the
 * weight w is 1 over the root of the radius, so that larger balls have larger shares; in a cover it
 * is 1. Going down from the root, each cell takes over from its parent the triangles that may meet
 * it and the balls that may be nearest to a point of it. With the half diagonal h and the distance
 * less radius d from the cell's centre, no point of the cell is farther from a ball than w (d + h),
 * nor nearer than w (d - h): a ball is left out where its w (d - h) exceeds the least w (d + h) of
 * all. So no search structure is needed, and lists get short quickly.
 *
 * A packing takes four traversals. All but the last find how far each share reaches at least,
 * better each time; the last one adds up volumes. A cell is kept whole when it lies in its ball, or
 * when no triangle meets it and one ball alone may own it. Others are divided until
 *   - they are small against their distance from the centre of their ball, or its radius,
 *   - after the first traversal, they hardly stick out of the reach found: covers are tight,
 *   - in the last one, those that several balls may own are small against each of these.
 *
 * A cover takes one traversal, which divides cells until they are within the limit of their ball,
 * and adds up no volumes.
 *
 * Volumes of cells that meet the surface are exact up to rounding (spheres_clip_item.h); where
 * faces cross, up to the size of the cells there; and where a mesh is open, such a cell counts
 * wholly or not at all, by its centre. Sums are in fixed point, so that the order has no effect.
 *
 * The void of a share is its volume less that of its ball, plus the part of its ball that lies in
 * cells of others, of which an upper bound is added up. */
#include "spheres/spheres_shares.h"

#include "base/progress.h"
#include "base/sum_item.h"
#include "base/worker_state.h"
#include "geom/box.h"
#include "geom/orient.h"
#include "geom/triangle_box.h"
#include "spheres/spheres_clip_item.h"
#include "spheres/spheres_item.h"

/* What is observed below: packings by 2,000 balls of cheburashka, fandisk and spot, one thread;
 * with the values here their shares take 1.6 s, 3 million cells each. */

/* Level of the cells that workers take, 4,096 at most. Observed: 3 and 5 take as long. */
#define SHARES_TASK_LEVEL 4u

/* Edge of the root, 17/16: more than the solid's longest side, below 1, and its margins of up to
 * 1.2 x 0.02 and two units; and few bits, so that corners of cells are multiples of the unit. */
#define SHARES_ROOT_EDGE   1.0625
#define SHARES_ROOT_MARGIN 0.02
/* Of the margin, along y and z: a mesh that is the same along all axes is cut differently along
 * each. */
#define SHARES_MARGIN_Y 1.1
#define SHARES_MARGIN_Z 1.2
/* A factor that lowers a distance: its square and root lose less than 2^-50. */
#define SHARES_DISTANCE_DOWN (1.0 - 0x1p-48)

/* Cells have at most this many steps along an axis, and edges of 17 units at least. */
#define SHARES_MOST_STEPS  (UINT32_C(1) << 20)
#define SHARES_LEAST_UNITS 17.0

/* Volumes in the frame are below that of the root, 1.2; there are fewer cells than bytes of memory.
 */
#define SHARES_MOST_VOLUME 2.0
#define SHARES_MOST_CELLS  (UINT64_C(1) << 40)

/* Rounding of the volume in a cell, in the frame: a sum of terms below 2, one per triangle of the
 * cell, each off by some 2^-50. This is that of 50,000 triangles in one cell. */
#define SHARES_VOLUME_ROUNDING 1e-10

/* Edge of a cell against the distance of its ball's centre, or its radius. Observed: 0.25 makes
 * voids 0.7 % smaller in 1.4 times the time, 1 makes them as large in 1.1 times the time. */
#define SHARES_EDGE_RATIO 0.5

/* Edge of a cell against the radii of the balls that may own it. Volumes of shares are then off by
 * about 1 % in the mean (armadillo, 2,000 balls: 0.7 % at 0.25, 1.5 % at 0.35, 3.1 % without).
 * Observed: 0.15 makes voids 6 % smaller in twice the time with 3.5 times the cells, 0.6 makes them
 * 12 % larger in 0.75 times the time. Far away, this part of the distance counts like a radius. */
#define SHARES_OWNER_RATIO   0.3
#define SHARES_DISTANCE_PART 0.5

/* Each traversal knows better how far shares reach, and may divide farther the cells that stick out
 * of it. */
typedef struct traversal {
    double slack; /* how far a cell may stick out, times the reach */
    double tip;   /* edge against the reach: smaller cells may stick out farther */
} traversal;
/* From coarse to fine: covers are at most 6 % larger than the reach, but for tips of a tenth of it.
 */
static const traversal traversals[] = {{HUGE_VAL, 1.0}, {1.2, 0.2}, {1.1, 0.1}, {1.06, 0.1}};
#define TRAVERSALS (sizeof(traversals) / sizeof(traversals[0]))

/* Coarse shares take one traversal, with a guess of how far shares reach, in radii of their balls,
 * and a traversal of their own. Observed (bunny of 70k faces, 10,000 balls): a ninth of the cells
 * and a seventh of the time; voids are 20 % larger, covers 17 %. */
#define SHARES_COARSE_REACH 2.2
static const traversal shares_coarse = {1.5, 0.5};

/* Then edges of cells that several balls may own may be larger against their radii, but the part of
 * a ball that leaks into one cell of another is at most this part of its volume. Observed: 0.01
 * makes voids 7 % smaller in 1.15 times the time; without it they are 23 % larger. */
#define SHARES_COARSE_OWNER 2.0
#define SHARES_COARSE_LEAK  0.03

#define SHARES_DIAGONAL (2.0 * CAROM_SPHERES_HALF_DIAGONAL) /* of a cube of edge 1 */

CAROM_ARRAY(spheres_shares_number_array, uint32_t);
CAROM_ARRAY(byte_array, uint8_t);
CAROM_ARRAY(double_array, double);

/* A cell: its least corner in steps of the finest cell's edge. */
typedef struct cube {
    uint32_t x, y, z, size; /* size in steps: a power of two */
} cube;

typedef struct spheres_shares_list {
    uint64_t begin, end; /* in an array of numbers */
} spheres_shares_list;

typedef struct task {
    cube cube;
    spheres_shares_list triangles, balls;
    uint32_t owner; /* of its centre */
} task;
CAROM_ARRAY(task_array, task);

/* Sums of one share. */
typedef struct spheres_shares_totals {
    carom_sum volume, leak;
    double reach; /* a point of the share is this far from the centre, or nearly */
    double cover;
} spheres_shares_totals;

typedef struct division {
    carom_context *context;
    const carom_spheres_mesh *mesh;
    const carom_spheres_ball *balls; /* NULL: only the volume is wanted */
    uint32_t ball_count;
    carom_vec3 low;       /* of the root */
    double step;          /* edge of the finest cells */
    uint32_t steps;       /* of the root's edge */
    int scale;            /* of sums */
    uint32_t pass;        /* index of the traversal */
    bool keep;            /* cells */
    bool coarse;          /* larger cells, see SHARES_COARSE_REACH */
    const double *limits; /* covers from outside: the radius that cells of each ball are to keep to;
                             else NULL */
    double finest;        /* then: cells of this edge are not divided */
    bool faces_only;      /* and in open meshes, cells that no triangle meets are left out */
    task_array tasks;
    spheres_shares_number_array numbers; /* the lists of tasks */
    carom_triangle *triangles; /* by slot: one after the other, as they are read in no order */
    carom_spheres_site *sites; /* the balls, with the weights of their distances */
    double *reach;             /* of each share, from the traversals before */
    carom_worker_states states;
    carom_spheres_cell_array *kept; /* of each task */
} division;

typedef struct spheres_shares_worker {
    division *d;
    carom_bvh_found found;
    spheres_shares_number_array numbers; /* a stack of lists */
    byte_array masks;                    /* of the entries of a list: the children they belong to */
    double_array apart;                  /* of balls from the centres of the children */
    spheres_shares_totals *totals;
    carom_spheres_cell_array *kept; /* of the task at work */
    uint64_t cells;
    uint32_t look;
    bool no_memory, cancelled;
    uint32_t index;
} spheres_shares_worker;

/* ---- Geometry of a cell ---------------------------------------------------------------------- */

typedef struct spheres_shares_box {
    carom_vec3 low, high, centre;
    double edge, h; /* half diagonal, rounded up */
} spheres_shares_box;

static spheres_shares_box spheres_shares_box_of(const division *d, const cube *c) {
    spheres_shares_box b;
    b.edge = (double)c->size * d->step;
    b.low = carom_vec(d->low.x + (double)c->x * d->step, d->low.y + (double)c->y * d->step,
                      d->low.z + (double)c->z * d->step);
    b.high = carom_vec(b.low.x + b.edge, b.low.y + b.edge, b.low.z + b.edge);
    double half = 0.5 * b.edge;
    b.centre = carom_vec(b.low.x + half, b.low.y + half, b.low.z + half);
    b.h = half * SHARES_DIAGONAL * CAROM_SPHERES_FAR_UP;
    return b;
}

static double spheres_shares_square(double x) {
    return x * x;
}

/* The distance of the farthest corner, rounded up. */
static double far_corner(const spheres_shares_box *b, const carom_spheres_ball *ball) {
    double x = CAROM_MAX(ball->x - b->low.x, b->high.x - ball->x);
    double y = CAROM_MAX(ball->y - b->low.y, b->high.y - ball->y);
    double z = CAROM_MAX(ball->z - b->low.z, b->high.z - ball->z);
    return sqrt(spheres_shares_square(x) + spheres_shares_square(y) + spheres_shares_square(z)) *
           CAROM_SPHERES_PRODUCT_UP;
}

static double spheres_shares_axis_gap(double x, double low, double high) {
    return x < low ? low - x : x > high ? x - high : 0.0;
}

/* How deep a ball reaches into a cell, rounded up; 0: it does not meet it. Most balls do not, and
 * need no root. */
static double depth_in(const spheres_shares_box *b, const carom_spheres_ball *ball) {
    double x = spheres_shares_axis_gap(ball->x, b->low.x, b->high.x),
           y = spheres_shares_axis_gap(ball->y, b->low.y, b->high.y);
    double z = spheres_shares_axis_gap(ball->z, b->low.z, b->high.z);
    double square = spheres_shares_square(x) + spheres_shares_square(y) + spheres_shares_square(z);
    if (square > spheres_shares_square(ball->radius) * CAROM_SPHERES_FAR_UP) return 0.0;
    return CAROM_MAX(ball->radius - sqrt(square) * SHARES_DISTANCE_DOWN, 0.0);
}

/* Upper bound of the volume of the part of a ball that is in a cell: the cell; a slab across it;
 * the cap of the ball. */
static double most_in(const spheres_shares_box *b, const carom_spheres_ball *ball, double depth) {
    double most = spheres_shares_square(b->edge) * b->edge;
    double slab = SHARES_DIAGONAL * spheres_shares_square(b->edge) * depth;
    double t = CAROM_MIN(depth, ball->radius);
    double cap =
        CAROM_SPHERES_BALL_VOLUME / 4.0 * spheres_shares_square(t) * (3.0 * ball->radius - t);
    most = CAROM_MIN(slab, most);
    if (depth <= ball->radius) most = CAROM_MIN(cap, most);
    return most * CAROM_SPHERES_FAR_UP;
}

/* ---- Volume of the solid in a cell ----------------------------------------------------------- */

/* From a point on a face to one beside it, in units of the frame: some tens of roundings of
 * coordinates below 8, in a direction of no axis or diagonal. */
static const carom_vec3 shares_beside = {0x1p-45, 0x1.8p-45, 0x1.4p-45};

/* The winding number at a point that hardly ever lies on a face; then of one beside it. */
static int32_t winding_at(spheres_shares_worker *w, carom_vec3 p) {
    int32_t winding;
    const carom_spheres_mesh *mesh = w->d->mesh;
    for (int i = 0; i < 4; ++i) {
        if (carom_bvh_winding(mesh->context, &mesh->view, p, &w->found, &winding)) return winding;
        p = carom_vec_add(p, shares_beside);
    }
    return 0;
}

#define SHARES_CELLS_PER_CHECK 16u /* checked builds: one cell in so many is compared */

/* Triangles of a cell up to which trying them all is faster than a search of the tree. Observed: 10
 * and 160 take as long; lists are short. */
#define SHARES_LIST_LENGTH 40u

/* A corner with its winding number. */
typedef struct anchor {
    carom_vec3 at;
    int32_t winding;
} anchor;

/* Whether the bounds of triangle c and of the segment p q do not overlap along an axis. */
#define SHARES_BESIDE(k)                                                                           \
    ((c[0].k < p.k && c[1].k < p.k && c[2].k < p.k && c[0].k < q.k && c[1].k < q.k &&              \
      c[2].k < q.k) ||                                                                             \
     (c[0].k > p.k && c[1].k > p.k && c[2].k > p.k && c[0].k > q.k && c[1].k > q.k &&              \
      c[2].k > q.k))

/* The winding number at q, from that at p, if the segment between them lies in a box that no other
 * triangles meet. Exact: a segment that touches an edge or a corner is left to the search. */
static int32_t winding_along(spheres_shares_worker *w, carom_vec3 p, int32_t winding, carom_vec3 q,
                             spheres_shares_list triangles) {
    if (carom_vec_compare(p, q) == 0) return winding;
    if (triangles.end - triangles.begin > SHARES_LIST_LENGTH) return winding_at(w, q);
    for (uint64_t i = triangles.begin; i < triangles.end; ++i) {
        const carom_vec3 *c = w->d->triangles[w->numbers.data[i]].corner;
        if (SHARES_BESIDE(x) || SHARES_BESIDE(y) || SHARES_BESIDE(z)) continue;
        int at_p = carom_orient3d(c[0], c[1], c[2], p), at_q = carom_orient3d(c[0], c[1], c[2], q);
        if (at_p != 0 && at_p == at_q) continue;
        int a = carom_orient3d(p, q, c[0], c[1]), b = carom_orient3d(p, q, c[1], c[2]);
        int d = carom_orient3d(p, q, c[2], c[0]);
        if ((a > 0 || b > 0 || d > 0) && (a < 0 || b < 0 || d < 0)) continue; /* beside it */
        if (at_p == 0 || at_q == 0 || a == 0 || b == 0 || d == 0) return winding_at(w, q);
        winding += at_p > 0 ? 1 : -1; /* from the outside of the face to its inside */
    }
    return winding;
}

/* The same, compared with a search of the tree at some of the cells. */
static int32_t winding_from(spheres_shares_worker *w, carom_vec3 from, int32_t winding,
                            carom_vec3 to, spheres_shares_list triangles) {
    int32_t there = winding_along(w, from, winding, to, triangles);
    CAROM_ASSERT(w->look % SHARES_CELLS_PER_CHECK != 0 || there == winding_at(w, to));
    return there;
}

/* The integral of the winding number over a box; `high` is that at its highest corner. */
static double spheres_shares_integrate(spheres_shares_worker *w, const spheres_shares_box *b,
                                       spheres_shares_list triangles, int32_t high) {
    double sum = 0.0;
    for (uint64_t i = triangles.begin; i < triangles.end; ++i) {
        sum += carom_spheres_clip_term(&w->d->triangles[w->numbers.data[i]], b->low, b->high);
    }
    return sum + (double)high * (spheres_shares_square(b->edge) * b->edge);
}

/* The eight children of a cell, with their lists. */
typedef struct children {
    spheres_shares_box boxes[8];
    spheres_shares_list triangles[8], balls[8];
    uint32_t owners[8]; /* the balls nearest to their centres */
} children;

/* Puts the children's parts of a list behind one another; the masks say whose each entry is. */
static bool distribute(spheres_shares_worker *w, spheres_shares_list from,
                       spheres_shares_list to[8]) {
    const uint8_t *masks = w->masks.data;
    uint64_t count = from.end - from.begin, counts[8] = {0};
    for (uint64_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < 8; ++k) counts[k] += masks[i] >> k & 1;
    uint64_t end = w->numbers.count;
    for (uint32_t k = 0; k < 8; ++k) {
        to[k].begin = to[k].end = end;
        end += counts[k];
    }
    if (!spheres_shares_number_array_reserve(&w->numbers, &w->d->context->allocator, end))
        return false;
    for (uint64_t i = 0; i < count; ++i)
        for (uint32_t rest = masks[i]; rest != 0; rest &= rest - 1)
            w->numbers.data[to[__builtin_ctz(rest)].end++] = w->numbers.data[from.begin + i];
    for (uint32_t k = 0; k < 8; ++k) /* each part fills its range, and no other */
        CAROM_ASSERT(to[k].end == (k < 7 ? to[k + 1].begin : end));
    w->numbers.count = end;
    return true;
}

static carom_spheres_octants octants_of(const spheres_shares_box boxes[8]) {
    carom_spheres_octants o;
    for (uint32_t k = 0; k < 8; ++k) {
        o.x[k] = boxes[k].centre.x;
        o.y[k] = boxes[k].centre.y;
        o.z[k] = boxes[k].centre.z;
    }
    o.half = 0.5 * boxes[0].edge;
    o.h = boxes[0].h;
    return o;
}

/* Covers from outside: leaves out children that a triangle does not meet, though they meet its
 * plane and its bounds. Cells that are taken for a part of the surface would make balls larger. */
static void sharpen(spheres_shares_worker *w, const carom_spheres_octants *o,
                    spheres_shares_list from) {
    for (uint64_t i = from.begin; i < from.end; ++i) {
        const carom_triangle *t = &w->d->triangles[w->numbers.data[i]];
        uint8_t *mask = &w->masks.data[i - from.begin];
        for (uint32_t rest = *mask; rest != 0; rest &= rest - 1) {
            int k = __builtin_ctz(rest);
            carom_bounds cell = {{o->x[k] - o->half, o->y[k] - o->half, o->z[k] - o->half},
                                 {o->x[k] + o->half, o->y[k] + o->half, o->z[k] + o->half}};
            if (!carom_triangle_meets_bounds(t->corner, &cell)) *mask &= (uint8_t) ~(1u << k);
        }
    }
}

static bool distribute_triangles(spheres_shares_worker *w, const carom_spheres_octants *octants,
                                 spheres_shares_list from, spheres_shares_list to[8]) {
    uint64_t count = from.end - from.begin;
    if (!byte_array_reserve(&w->masks, &w->d->context->allocator, count)) return false;
    if (count != 0) CAROM_CPU_CALL(w->d->context, carom_spheres_octant_triangles)
    (w->d->triangles, w->numbers.data + from.begin, count, octants, w->masks.data);
    if (w->d->limits != NULL && count <= SHARES_LIST_LENGTH) sharpen(w, octants, from);
    return distribute(w, from, to);
}

/* The ball that owns the centre of a child is among those that may own points of the child. */
static void shares_check_owner(const spheres_shares_worker *w, spheres_shares_list balls,
                               uint32_t owner) {
    bool listed = false;
    for (uint64_t i = balls.begin; i < balls.end; ++i) listed |= w->numbers.data[i] == owner;
    CAROM_ASSERT(listed);
    (void)listed;
}

static bool distribute_balls(spheres_shares_worker *w, const carom_spheres_octants *octants,
                             spheres_shares_list from, spheres_shares_list to[8],
                             uint32_t owners[8]) {
    const carom_allocator *allocator = &w->d->context->allocator;
    uint64_t count = from.end - from.begin;
    if (!byte_array_reserve(&w->masks, allocator, count) ||
        !double_array_reserve(&w->apart, allocator, 8 * count))
        return false;
    CAROM_CPU_CALL(w->d->context, carom_spheres_octant_sites)
    (w->d->sites, w->numbers.data + from.begin, count, octants, w->apart.data, w->masks.data,
     owners);
    if (!distribute(w, from, to)) return false;
    for (uint32_t k = 0; k < 8; ++k) shares_check_owner(w, to[k], owners[k]);
    return true;
}

/* Edge of the cells, in the frame, to which cells are divided in which faces cross: the error is a
 * part of their volume, the length of the curve of crossing times the square of this. */
#define SHARES_CROSSING_EDGE 0x1p-11

/* Whether two of the triangles cross each other. */
static bool has_crossing(const spheres_shares_worker *w, spheres_shares_list triangles) {
    const carom_spheres_mesh *mesh = w->d->mesh;
    for (uint64_t i = triangles.begin; i < triangles.end; ++i) {
        uint32_t a = w->numbers.data[i];
        if (mesh->crosses[a] == 0) continue;
        for (uint64_t k = i + 1; k < triangles.end; ++k) {
            uint32_t b = w->numbers.data[k];
            if (mesh->crosses[b] != 0 && carom_spheres_mesh_cross(mesh, a, b)) return true;
        }
    }
    return false;
}

static double spheres_shares_clamp(double volume, double whole) {
    return volume < 0.0 ? 0.0 : volume > whole ? whole : volume;
}

/* The winding numbers at the corners of a box. */
typedef struct levels {
    int32_t least, most;
    bool between; /* there are others */
    int inside;   /* corners with 1 or more */
} levels;

static levels levels_of(spheres_shares_worker *w, const spheres_shares_box *b,
                        spheres_shares_list triangles, int32_t high) {
    levels l = {INT32_MAX, INT32_MIN, false, 0};
    int32_t windings[8];
    for (int i = 0; i < 8; ++i) {
        carom_vec3 corner =
            carom_vec((i & 1) != 0 ? b->high.x : b->low.x, (i & 2) != 0 ? b->high.y : b->low.y,
                      (i & 4) != 0 ? b->high.z : b->low.z);
        windings[i] = i == 7 ? high : winding_from(w, b->high, high, corner, triangles);
        l.least = CAROM_MIN(windings[i], l.least);
        l.most = CAROM_MAX(windings[i], l.most);
        l.inside += windings[i] >= 1;
    }
    for (int i = 0; i < 8; ++i)
        l.between = l.between || (windings[i] != l.least && windings[i] != l.most);
    return l;
}

static spheres_shares_box spheres_shares_part_of(const spheres_shares_box *b, int i) {
    spheres_shares_box part = {.edge = 0.5 * b->edge, .h = 0.5 * b->h};
    part.low =
        carom_vec((i & 1) != 0 ? b->centre.x : b->low.x, (i & 2) != 0 ? b->centre.y : b->low.y,
                  (i & 4) != 0 ? b->centre.z : b->low.z);
    part.high = carom_vec(part.low.x + part.edge, part.low.y + part.edge, part.low.z + part.edge);
    double half = 0.5 * part.edge;
    part.centre = carom_vec(part.low.x + half, part.low.y + half, part.low.z + half);
    return part;
}

/* The volume where the winding number is 1 or more in a box with these triangles, and with the
 * winding number `high` at its highest corner. Where there are two winding numbers, it follows from
 * the integral; else the box is divided, as it is where faces cross. */
static double solid_in(spheres_shares_worker *w, const spheres_shares_box *b,
                       spheres_shares_list triangles, int32_t high) {
    double whole = spheres_shares_square(b->edge) * b->edge;
    if (triangles.begin == triangles.end) return high >= 1 ? whole : 0.0;
    levels l = levels_of(w, b, triangles, high);
    bool finest = b->edge < SHARES_CROSSING_EDGE;
    if (!l.between && (finest || !has_crossing(w, triangles))) {
        double volume = spheres_shares_integrate(w, b, triangles, high);
        if (l.least <= 0 && l.most > l.least + 1)
            volume = (volume - l.least * whole) / (double)(l.most - l.least);
        return spheres_shares_clamp(volume, whole);
    }
    if (finest) return whole * (double)l.inside / 8.0;
    double sum = 0.0;
    uint64_t mark = w->numbers.count;
    spheres_shares_box parts[8];
    spheres_shares_list rest[8];
    for (int i = 0; i < 8; ++i) parts[i] = spheres_shares_part_of(b, i);
    carom_spheres_octants octants = octants_of(parts);
    if (!distribute_triangles(w, &octants, triangles, rest)) {
        w->no_memory = true;
        return 0.0;
    }
    for (int i = 0; i < 8; ++i) {
        int32_t part_high = winding_from(w, b->high, high, parts[i].high, triangles);
        sum += solid_in(w, &parts[i], rest[i], part_high);
    }
    w->numbers.count = mark;
    return sum;
}

static double spheres_shares_volume_of(spheres_shares_worker *w, const spheres_shares_box *b,
                                       spheres_shares_list triangles, int32_t high) {
    if (triangles.begin == triangles.end)
        return spheres_shares_square(b->edge) * b->edge; /* known to be inside */
    if (!w->d->mesh->balanced)
        return carom_spheres_mesh_inside(w->d->mesh, b->centre, &w->found)
                   ? spheres_shares_square(b->edge) * b->edge
                   : 0.0;
    if (w->d->mesh->plain) {
        double volume = spheres_shares_integrate(w, b, triangles, high),
               whole = spheres_shares_square(b->edge) * b->edge;
        CAROM_ASSERT(volume >= -SHARES_VOLUME_ROUNDING && volume <= whole + SHARES_VOLUME_ROUNDING);
        return spheres_shares_clamp(volume, whole);
    }
    return solid_in(w, b, triangles, high);
}

/* ---- Traversal ------------------------------------------------------------------------------- */

static double distance_of(const carom_spheres_ball *b, carom_vec3 p) {
    return sqrt(spheres_shares_square(p.x - b->x) + spheres_shares_square(p.y - b->y) +
                spheres_shares_square(p.z - b->z)) -
           b->radius;
}

/* Whether a cell that several balls may own is too large for one of them. Far from a ball it may be
 * larger: shares of balls in plates and needles reach far. */
static bool undecided(const spheres_shares_worker *w, const spheres_shares_box *b,
                      spheres_shares_list balls, uint32_t owner) {
    bool coarse = w->d->coarse;
    double ratio = coarse ? SHARES_COARSE_OWNER : SHARES_OWNER_RATIO;
    double whole = spheres_shares_square(b->edge) * b->edge * CAROM_SPHERES_FAR_UP;
    for (uint64_t i = balls.begin; i < balls.end; ++i) {
        uint32_t id = w->numbers.data[i];
        const carom_spheres_ball *ball = &w->d->balls[id];
        if (b->edge > ratio * ball->radius) {
            double away = distance_of(ball, b->centre) + ball->radius;
            if (b->edge > ratio * (SHARES_DISTANCE_PART * away)) return true;
        }
        double leak = SHARES_COARSE_LEAK * carom_spheres_volume(ball->radius);
        if (!coarse || id == owner || whole <= leak) continue;
        double depth = depth_in(b, ball);
        if (depth > 0.0 && most_in(b, ball, depth) > leak) return true;
    }
    return false;
}

static bool divides(const spheres_shares_worker *w, const cube *c, const spheres_shares_box *b,
                    spheres_shares_list triangles, spheres_shares_list balls, uint32_t owner) {
    const division *d = w->d;
    if (c->size == 1) return false;
    const carom_spheres_ball *ball = &d->balls[owner];
    double far = far_corner(b, ball);
    if (d->limits != NULL) return far > d->limits[owner] && b->edge > d->finest;
    if (far <= ball->radius) return false;
    bool alone = balls.end - balls.begin == 1;
    if (alone && triangles.begin == triangles.end) return false; /* wholly in the share */
    double away = distance_of(ball, b->centre) + ball->radius;
    if (b->edge > SHARES_EDGE_RATIO * CAROM_MAX(away, ball->radius)) return true;
    if (d->pass == 0) return false;
    double reach = d->reach[owner];
    const traversal *t = d->coarse ? &shares_coarse : &traversals[d->pass];
    if (far > t->slack * reach && b->edge > t->tip * reach) return true;
    return d->pass + 1 == TRAVERSALS && !alone && undecided(w, b, balls, owner);
}

/* Whether the centre of a cell that meets the surface is inside. */
static bool centre_inside(spheres_shares_worker *w, const spheres_shares_box *b,
                          spheres_shares_list triangles, int32_t high) {
    return w->d->mesh->balanced ? winding_from(w, b->high, high, b->centre, triangles) >= 1
                                : carom_spheres_mesh_inside(w->d->mesh, b->centre, &w->found);
}

static bool spheres_shares_add_leaf(spheres_shares_worker *w, const cube *c,
                                    const spheres_shares_box *b, spheres_shares_list triangles,
                                    spheres_shares_list balls, uint32_t owner, int32_t high) {
    const division *d = w->d;
    spheres_shares_totals *t = &w->totals[owner];
    const carom_spheres_ball *ball = &d->balls[owner];
    bool surface = triangles.begin < triangles.end;
    double far = far_corner(b, ball);
    if (d->pass + 1 < TRAVERSALS) {
        bool alone = !surface && balls.end - balls.begin == 1;
        double reach = alone ? far : distance_of(ball, b->centre) + ball->radius;
        if (reach > t->reach && (!surface || centre_inside(w, b, triangles, high)))
            t->reach = reach;
        t->reach = CAROM_MAX(ball->radius, t->reach);
        return true;
    }
    ++w->cells;
    t->cover = CAROM_MAX(far, t->cover);
    CAROM_ASSERT(t->cover >= distance_of(ball, b->centre) + ball->radius);
    bool shares = d->limits == NULL;
    if (shares)
        t->volume = carom_sum_add(
            t->volume, carom_sum_term(spheres_shares_volume_of(w, b, triangles, high), d->scale));
    for (uint64_t i = balls.begin; i < balls.end && shares; ++i) {
        uint32_t id = w->numbers.data[i];
        double depth = id == owner ? 0.0 : depth_in(b, &d->balls[id]);
        if (!(depth > 0.0)) continue;
        double leak = most_in(b, &d->balls[id], depth);
        w->totals[id].leak = carom_sum_add(w->totals[id].leak, carom_sum_term(leak, d->scale));
    }
    if (!d->keep) return true;
    double back = carom_power_of_two(-d->mesh->shift);
    if (!carom_spheres_cell_array_reserve(w->kept, &d->context->allocator, w->kept->count + 1))
        return false;
    carom_packing_cell *cell = &w->kept->data[w->kept->count++];
    memset(cell, 0, sizeof(*cell)); /* the padding, too */
    cell->low = carom_spheres_mesh_restore(d->mesh, b->low);
    cell->edge = (double)c->size * d->step * back;
    cell->sphere = owner;
    return true;
}

static cube spheres_shares_child_of(const cube *c, uint32_t i) {
    uint32_t half = c->size / 2;
    return (cube){c->x + ((i & 1) != 0 ? half : 0), c->y + ((i & 2) != 0 ? half : 0),
                  c->z + ((i & 4) != 0 ? half : 0), half};
}

/* Divides a cell and its lists. */
static bool divide_cell(spheres_shares_worker *w, const cube *c, spheres_shares_list triangles,
                        spheres_shares_list balls, children *to) {
    for (uint32_t i = 0; i < 8; ++i) {
        cube child = spheres_shares_child_of(c, i);
        to->boxes[i] = spheres_shares_box_of(w->d, &child);
    }
    carom_spheres_octants octants = octants_of(to->boxes);
    return distribute_triangles(w, &octants, triangles, to->triangles) &&
           distribute_balls(w, &octants, balls, to->balls, to->owners);
}

/* How deep, of the limit: a cell that is outside and yet counts keeps its ball from becoming
 * smaller than this part of the limit, which few balls do. */
#define SHARES_DEPTH_RATIO 0.9

/* Covers of open meshes: whether a cell is so deep in its ball that it may count as inside,
 * wherever it is. Generalised winding numbers take most of the time. */
static bool is_deep(const division *d, const spheres_shares_box *b, uint32_t owner) {
    return far_corner(b, &d->balls[owner]) <= SHARES_DEPTH_RATIO * d->limits[owner];
}

/* Whether a child that no triangle meets, of a cell that some meet, is outside. `from` is the
 * cell's highest corner, with its winding number; NULL where that is not known. */
static bool is_outside(spheres_shares_worker *w, const children *children, uint32_t i,
                       spheres_shares_list parents, const anchor *from) {
    const spheres_shares_list *triangles = &children->triangles[i];
    if (parents.begin == parents.end || triangles->begin < triangles->end) return false;
    carom_vec3 centre = children->boxes[i].centre;
    if (from != NULL) return winding_from(w, from->at, from->winding, centre, parents) < 1;
    const division *d = w->d;
    if (d->limits == NULL) return !carom_spheres_mesh_inside(d->mesh, centre, &w->found);
    if (d->faces_only) return true;
    if (!d->mesh->balanced && is_deep(d, &children->boxes[i], children->owners[i])) return false;
    return !carom_spheres_mesh_surely_inside(d->mesh, centre, &w->found);
}

#define SHARES_CELLS_PER_LOOK 256u /* between checks of the clock: below a millisecond */

/* `high` is the winding number at the highest corner; 0 where no triangle meets the cell, or where
 * there is none. */
static bool traverse(spheres_shares_worker *w, const cube *c, const spheres_shares_box *b,
                     spheres_shares_list triangles, spheres_shares_list balls, uint32_t owner,
                     int32_t high) {
    if (++w->look % SHARES_CELLS_PER_LOOK == 0 && carom_progress_stop(w->d->context, w->index)) {
        w->cancelled = true;
        return false;
    }
    if (!divides(w, c, b, triangles, balls, owner))
        return spheres_shares_add_leaf(w, c, b, triangles, balls, owner, high);
    uint64_t mark = w->numbers.count;
    children parts;
    const anchor corner = {b->high, high}, *from = w->d->mesh->balanced ? &corner : NULL;
    bool good = divide_cell(w, c, triangles, balls, &parts);
    for (uint32_t i = 0; i < 8 && good; ++i) {
        if (is_outside(w, &parts, i, triangles, from)) continue;
        cube child = spheres_shares_child_of(c, i);
        const spheres_shares_box *box = &parts.boxes[i];
        spheres_shares_list rest = parts.triangles[i];
        int32_t child_high = from != NULL && rest.begin < rest.end
                                 ? winding_from(w, from->at, high, box->high, triangles)
                                 : 0;
        good = traverse(w, &child, box, rest, parts.balls[i], parts.owners[i], child_high);
    }
    w->numbers.count = mark;
    return good && !w->no_memory;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The index of a cell's least corner on the Morton curve. A cell has size^3 indices from there on.
 */
static uint64_t shares_morton(const cube *c) {
    uint64_t code = 0;
    for (uint32_t i = 0; i < 21; ++i)
        code |= ((uint64_t)(c->x >> i & 1) | (uint64_t)(c->y >> i & 1) << 1 |
                 (uint64_t)(c->z >> i & 1) << 2)
                << 3 * i;
    return code;
}

/* Cells of tasks are disjoint: they come in the order of the curve. */
static void shares_check_order(const division *d, const cube *c) {
    if (d->tasks.count == 0) return;
    const cube *last = &d->tasks.data[d->tasks.count - 1].cube;
    uint64_t end = shares_morton(last) + (uint64_t)last->size * last->size * last->size;
    uint64_t begin = shares_morton(c);
    CAROM_ASSERT(end <= begin);
}

static bool add_task(spheres_shares_worker *w, const cube *c, spheres_shares_list triangles,
                     spheres_shares_list balls, uint32_t owner) {
    division *d = w->d;
    shares_check_order(d, c);
    const carom_allocator *allocator = &d->context->allocator;
    task t = {.cube = *c, .owner = owner};
    t.triangles.begin = d->numbers.count;
    t.triangles.end = t.balls.begin = t.triangles.begin + (triangles.end - triangles.begin);
    t.balls.end = t.balls.begin + (balls.end - balls.begin);
    if (!spheres_shares_number_array_reserve(&d->numbers, allocator, t.balls.end) ||
        !task_array_push(&d->tasks, allocator, t))
        return false;
    for (uint64_t i = triangles.begin; i < triangles.end; ++i)
        d->numbers.data[d->numbers.count++] = w->numbers.data[i];
    for (uint64_t i = balls.begin; i < balls.end; ++i)
        d->numbers.data[d->numbers.count++] = w->numbers.data[i];
    return true;
}

/* Goes down to the level of tasks and keeps their lists. */
static bool make_tasks(spheres_shares_worker *w, const cube *c, spheres_shares_list triangles,
                       spheres_shares_list balls, uint32_t owner, uint32_t level) {
    if (level == SHARES_TASK_LEVEL || c->size == 1) return add_task(w, c, triangles, balls, owner);
    uint64_t mark = w->numbers.count;
    children parts;
    bool good = divide_cell(w, c, triangles, balls, &parts);
    for (uint32_t i = 0; i < 8 && good; ++i) {
        if (is_outside(w, &parts, i, triangles, NULL)) continue;
        cube child = spheres_shares_child_of(c, i);
        good =
            make_tasks(w, &child, parts.triangles[i], parts.balls[i], parts.owners[i], level + 1);
    }
    w->numbers.count = mark;
    return good;
}

static carom_status run_task(void *argument, carom_range range) {
    division *d = argument;
    spheres_shares_worker *w = carom_worker_state(&d->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const task *t = &d->tasks.data[i];
        uint64_t count = t->balls.end - t->triangles.begin;
        uint64_t triangles = t->triangles.end - t->triangles.begin;
        w->numbers.count = 0;
        if (!spheres_shares_number_array_reserve(&w->numbers, &d->context->allocator, count))
            return CAROM_NO_MEMORY;
        if (count != 0)
            memcpy(w->numbers.data, d->numbers.data + t->triangles.begin,
                   count * sizeof(*w->numbers.data));
        w->numbers.count = count;
        w->kept = d->kept != NULL ? &d->kept[i] : NULL;
        spheres_shares_box b = spheres_shares_box_of(d, &t->cube);
        int32_t high = d->mesh->balanced && triangles != 0 ? winding_at(w, b.high) : 0;
        if (!traverse(w, &t->cube, &b, (spheres_shares_list){0, triangles},
                      (spheres_shares_list){triangles, count}, t->owner, high))
            return w->cancelled ? CAROM_CANCELLED : CAROM_NO_MEMORY;
        carom_progress_add(d->context, range.worker, 1);
    }
    return CAROM_OK;
}

static bool spheres_shares_begin_worker(void *user, void *state, uint32_t index) {
    division *d = user;
    spheres_shares_worker *w = state;
    w->d = d;
    w->numbers = (spheres_shares_number_array){0};
    w->masks = (byte_array){0};
    w->apart = (double_array){0};
    w->kept = NULL;
    w->cells = 0;
    w->look = 0;
    w->no_memory = w->cancelled = false;
    w->index = index;
    w->totals =
        CAROM_ARENA_TAKE(carom_scratch(d->context, index), spheres_shares_totals, d->ball_count);
    if (w->totals == NULL) return false;
    memset(w->totals, 0, d->ball_count * sizeof(*w->totals));
    return true;
}

/* Adds up what the workers found. */
static void spheres_shares_add_up(division *d, uint32_t i, spheres_shares_totals *sum) {
    *sum = (spheres_shares_totals){{0, 0, 0}, {0, 0, 0}, 0.0, 0.0};
    spheres_shares_worker *w;
    for (uint32_t k = 0; (w = carom_worker_states_next(&d->states, &k)) != NULL;) {
        const spheres_shares_totals *t = &w->totals[i];
        sum->volume = carom_sum_add(sum->volume, t->volume);
        sum->leak = carom_sum_add(sum->leak, t->leak);
        sum->reach = CAROM_MAX(t->reach, sum->reach);
        sum->cover = CAROM_MAX(t->cover, sum->cover);
    }
}

/* The lists of the root: everything. */
static carom_status spheres_shares_begin(division *d, spheres_shares_worker *w) {
    const carom_allocator *allocator = &d->context->allocator;
    uint64_t triangles = d->mesh->triangle_count, count = triangles + d->ball_count;
    bool good = spheres_shares_number_array_reserve(&w->numbers, allocator, count);
    for (uint64_t i = 0; i < count && good; ++i)
        good = spheres_shares_number_array_push(&w->numbers, allocator,
                                                (uint32_t)(i < triangles ? i : i - triangles));
    cube root = {0, 0, 0, d->steps};
    return good && make_tasks(w, &root, (spheres_shares_list){0, triangles},
                              (spheres_shares_list){triangles, count}, 0, 0)
               ? CAROM_OK
               : carom_fail_memory(d->context, count * sizeof(uint32_t), "shares of a packing");
}

/* Cells have corners at multiples of the unit of centres, which the caller's coordinates hold
 * exactly. The root's corner is an odd multiple, so that sides of cells hardly ever lie in faces of
 * the mesh. */
static void set_root(division *d) {
    const carom_spheres_mesh *mesh = d->mesh;
    double unit = mesh->unit, margin = SHARES_ROOT_MARGIN;
    d->low = carom_vec(
        (2.0 * floor((mesh->low.x - margin) / (2.0 * unit)) + 1.0) * unit,
        (2.0 * floor((mesh->low.y - margin * SHARES_MARGIN_Y) / (2.0 * unit)) + 1.0) * unit,
        (2.0 * floor((mesh->low.z - margin * SHARES_MARGIN_Z) / (2.0 * unit)) + 1.0) * unit);
    d->steps = 1;
    d->step = SHARES_ROOT_EDGE;
    while (d->steps < SHARES_MOST_STEPS && 0.5 * d->step >= SHARES_LEAST_UNITS * unit) {
        d->steps *= 2;
        d->step *= 0.5;
    }
}

static carom_status spheres_shares_collect(division *d, carom_spheres_share *shares,
                                           carom_spheres_cell_array *cells, uint64_t *cell_count) {
    spheres_shares_worker *w;
    *cell_count = 0;
    for (uint32_t k = 0; (w = carom_worker_states_next(&d->states, &k)) != NULL;)
        *cell_count += w->cells;
    for (uint32_t i = 0; i < d->ball_count; ++i) {
        spheres_shares_totals sum;
        spheres_shares_add_up(d, i, &sum);
        /* A ball may own no cell where these are coarse: what others have of it is its leak. */
        if (d->coarse) sum.cover = CAROM_MAX(d->balls[i].radius, sum.cover);
        shares[i] = (carom_spheres_share){carom_sum_value(sum.volume, d->scale),
                                          carom_sum_value(sum.leak, d->scale), sum.cover};
        CAROM_ASSERT(shares[i].volume >= 0.0 && shares[i].leak >= 0.0 && shares[i].cover >= 0.0);
    }
    if (!d->keep) return CAROM_OK;
    if (!carom_spheres_cell_array_reserve(cells, &d->context->allocator, *cell_count))
        return carom_fail_memory(d->context, *cell_count * sizeof(carom_packing_cell),
                                 "cells of a packing");
    for (uint64_t i = 0; i < d->tasks.count; ++i) {
        const carom_spheres_cell_array *from = &d->kept[i];
        if (from->count != 0)
            memcpy(cells->data + cells->count, from->data, from->count * sizeof(*from->data));
        cells->count += from->count;
    }
    CAROM_ASSERT(cells->count == *cell_count);
    return CAROM_OK;
}

static void spheres_shares_release(division *d) {
    const carom_allocator *allocator = &d->context->allocator;
    spheres_shares_worker *w;
    if (d->states.states != NULL) {
        for (uint32_t k = 0; (w = carom_worker_states_next(&d->states, &k)) != NULL;) {
            spheres_shares_number_array_release(&w->numbers, allocator);
            byte_array_release(&w->masks, allocator);
            double_array_release(&w->apart, allocator);
        }
        carom_worker_states_release(&d->states);
    }
    for (uint64_t i = 0; d->kept != NULL && i < d->tasks.count; ++i)
        carom_spheres_cell_array_release(&d->kept[i], allocator);
    task_array_release(&d->tasks, allocator);
    spheres_shares_number_array_release(&d->numbers, allocator);
}

static carom_status spheres_shares_divide(division *d, carom_spheres_share *shares,
                                          carom_spheres_cell_array *cells, uint64_t *cell_count) {
    carom_context *context = d->context;
    carom_arena *scratch = carom_scratch(context, 0);
    set_root(d);
    d->reach = CAROM_ARENA_TAKE(scratch, double, d->ball_count);
    d->sites = CAROM_ARENA_TAKE(scratch, carom_spheres_site, d->ball_count);
    if (d->reach == NULL || d->sites == NULL)
        return carom_fail_memory(context, d->ball_count * sizeof(*d->sites), "shares of a packing");
    d->triangles = CAROM_ARENA_TAKE(scratch, carom_triangle, d->mesh->triangle_count);
    if (d->triangles == NULL)
        return carom_fail_memory(context, d->mesh->triangle_count * sizeof(carom_triangle),
                                 "shares of a packing");
    for (uint32_t i = 0; i < d->mesh->triangle_count; ++i)
        d->triangles[i] = carom_spheres_mesh_triangle(d->mesh, i);
    for (uint32_t i = 0; i < d->ball_count; ++i) {
        const carom_spheres_ball *b = &d->balls[i];
        double weight = d->limits != NULL ? 1.0 : 1.0 / sqrt(b->radius);
        d->sites[i] = (carom_spheres_site){b->x, b->y, b->z, b->radius, weight};
    }
    CAROM_TRY(carom_worker_states_begin(&d->states, context, sizeof(spheres_shares_worker),
                                        spheres_shares_begin_worker, d));
    spheres_shares_worker *first = carom_worker_state(&d->states, 0);
    if (first == NULL)
        return carom_fail_memory(context, d->ball_count * sizeof(spheres_shares_totals),
                                 "shares of a packing");
    CAROM_TRY(spheres_shares_begin(d, first));
    d->pass = d->limits != NULL || d->coarse ? TRAVERSALS - 1 : 0;
    for (uint32_t i = 0; i < d->ball_count && d->coarse; ++i)
        d->reach[i] = SHARES_COARSE_REACH * d->balls[i].radius;
    carom_progress_expect(context, (TRAVERSALS - d->pass) * d->tasks.count);
    for (; d->pass + 1 < TRAVERSALS; ++d->pass) {
        CAROM_TRY(carom_parallel_for(context, d->tasks.count, 1, run_task, d));
        for (uint32_t i = 0; i < d->ball_count; ++i) {
            spheres_shares_totals sum;
            spheres_shares_add_up(d, i, &sum);
            d->reach[i] = CAROM_MAX(sum.reach, d->balls[i].radius);
        }
    }
    if (d->keep) {
        d->kept = CAROM_ARENA_TAKE(scratch, carom_spheres_cell_array, d->tasks.count);
        if (d->kept == NULL)
            return carom_fail_memory(context, d->tasks.count * sizeof(*d->kept),
                                     "cells of a packing");
        memset(d->kept, 0, d->tasks.count * sizeof(*d->kept));
    }
    CAROM_TRY(carom_parallel_for(context, d->tasks.count, 1, run_task, d));
    return spheres_shares_collect(d, shares, cells, cell_count);
}

carom_status carom_spheres_shares(const carom_spheres_mesh *mesh, const carom_spheres_ball *balls,
                                  uint32_t count, bool coarse, carom_spheres_share *shares,
                                  carom_spheres_cell_array *cells, uint64_t *cell_count) {
    carom_context *context = mesh->context;
    division d = {.context = context, .mesh = mesh, .balls = balls, .ball_count = count};
    d.keep = cells != NULL;
    d.coarse = coarse;
    d.scale = carom_sum_scale(SHARES_MOST_VOLUME, SHARES_MOST_CELLS);
    carom_progress_begin(context, "dividing space among spheres", 0);
    carom_status status = spheres_shares_divide(&d, shares, cells, cell_count);
    spheres_shares_release(&d);
    return carom_progress_finish(context, status);
}

carom_status carom_spheres_cover_cells(const carom_spheres_mesh *mesh,
                                       const carom_spheres_ball *balls, const double *limits,
                                       uint32_t count, double finest, bool faces_only,
                                       double *covers, carom_spheres_cell_array *cells) {
    carom_context *context = mesh->context;
    division d = {.context = context, .mesh = mesh, .balls = balls, .ball_count = count};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_spheres_share *shares = CAROM_ARENA_TAKE(scratch, carom_spheres_share, count);
    uint64_t cell_count;
    if (shares == NULL)
        return carom_fail_memory(context, count * sizeof(*shares), "cells of a cover");
    d.keep = true;
    d.limits = limits;
    d.finest = finest;
    d.faces_only = faces_only && !mesh->balanced;
    d.scale = carom_sum_scale(SHARES_MOST_VOLUME, SHARES_MOST_CELLS);
    carom_progress_begin(context, "covering the solid by cells", 0);
    carom_status status = spheres_shares_divide(&d, shares, cells, &cell_count);
    spheres_shares_release(&d);
    for (uint32_t i = 0; i < count && status == CAROM_OK; ++i) covers[i] = shares[i].cover;
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_spheres_solid_volume(const carom_spheres_mesh *mesh, double *volume) {
    /* One ball at the middle of the box, which owns everything. */
    carom_spheres_ball all = {0.5 * (mesh->low.x + mesh->high.x),
                              0.5 * (mesh->low.y + mesh->high.y),
                              0.5 * (mesh->low.z + mesh->high.z), 0.125};
    carom_spheres_share share;
    uint64_t cells;
    carom_arena *scratch = carom_scratch(mesh->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = carom_spheres_shares(mesh, &all, 1, false, &share, NULL, &cells);
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_OK) *volume = share.volume;
    return status;
}
