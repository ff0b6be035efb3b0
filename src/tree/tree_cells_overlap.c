/* SPDX-License-Identifier: MIT */
/* Bounds of the overlap of two solids by their octrees. The moving solid is divided into cells. Of
 * each, bounds of two shares are known: the moving solid's own, and the fixed one's, by the planes
 * of the deepest of its cells whose ball contains the cell. Shares a and b of one cell have at
 * least a + b - 1 and at most the smaller of them in common. So a cell that is wholly inside or
 * outside of the fixed solid counts exactly; what is not known is mostly along the curve in which
 * the two surfaces meet. The cell whose bounds are farthest apart is divided first. Cells of the
 * moving octree that have no children are divided, too: their planes hold for all parts of them.
 *
 * Volumes are integers, 2^-60 of the root's, rounded outwards: so the sums are exact. */
#include "base/assert.h"
#include "tree/tree.h"
#include "tree/tree_cells.h"

/* A cell of an octree, with its cube. */
typedef struct tree_cells_overlap_step {
    carom_vec3 centre;
    double side;
    uint32_t cell;
} tree_cells_overlap_step;

/* A cell of the search. */
typedef struct tree_cells_overlap_piece {
    carom_vec3 centre; /* in the moving frame */
    double side;
    tree_cells_overlap_step own; /* of the moving octree: it or one that contains it */
    tree_cells_overlap_step field,
        start; /* of the fixed one: whose planes are used, and where to look for it */
    int64_t lower, upper;
    /* For the estimate: the moving solid's share and the volume; the planes' normal in the moving
     * frame, and where they are from the centre. */
    double own_share, volume; /* volume: of the root's */
    double normal[3], low, high;
    uint32_t bits;
    float key; /* 0: dividing it does not help */
} tree_cells_overlap_piece;

/* An entry of the queue: the largest key first. */
typedef struct tree_cells_overlap_entry {
    float key;
    uint32_t piece;
} tree_cells_overlap_entry;

typedef struct refinement {
    carom_tree_cells_search *s;
    tree_cells_overlap_piece *pieces;
    uint32_t count;
    tree_cells_overlap_entry *queue; /* a heap */
    uint32_t *unused;                /* slots of pieces that were divided */
    uint32_t queued, unused_count;
    int64_t lower, upper;
    int64_t rest;      /* their difference in cells that are not divided */
    double volume;     /* the estimate */
    carom_vec3 moment; /* of the cells that lie inside the fixed solid */
    bool some_outside;
} refinement;

/* Units of volume of the root: pieces are disjoint, so that their sums stay near this, in 63 bits.
 */
#define TREE_ROOT_UNITS 0x1p60

/* Relative error of a few products in doubles: up to 32 roundings of 2^-53. */
#define TREE_PIECE_ROUNDING 0x1p-48

/* Added to planes of a cell that are moved to a part of it, in units of the frame: coordinates are
 * at most 2^7, and some four of their roundings of 2^-53 follow. */
#define TREE_OWN_MARGIN 0x1p-44

/* The least side of a piece that is divided, of the root's: its parts have 2^18 units, so that
 * rounding to a unit is nothing to them. */
#define TREE_PIECE_SIDE_MIN 0x1p-13

/* Half the diagonal of a cube, in sides: sqrt(3)/2 < 0.8661. */
#define TREE_CUBE_RADIUS 0.8661

/* Half the step over which the volume that a plane cuts off is differentiated, in sides. */
#define TREE_FORCE_STEP 0x1p-6

/* Slots of pieces beyond the cells that may be visited: the root, and eight parts of the last
 * division, rounded up. */
#define TREE_SPARE_PIECES 16u

/* ---- One cell -------------------------------------------------------------------------------- */

static double dot3(const double n[3], carom_vec3 d) {
    return n[0] * d.x + n[1] * d.y + n[2] * d.z;
}

static void copy_normal(const carom_tree_cell *cell, double n[3]) {
    for (int k = 0; k < 3; ++k) n[k] = (double)cell->normal[k];
}

/* Bounds of the share of a cube: most are wholly below or above the planes. */
static void measure_cube(const double n[3], double side, double low, double high, uint32_t bits,
                         double *least, double *most) {
    double reach =
        0.5 * side * (fabs(n[0]) + fabs(n[1]) + fabs(n[2])) * (1.0 + TREE_PIECE_ROUNDING);
    if (low >= reach) {
        *least = *most = (double)((bits & CAROM_TREE_CELL_BELOW) != 0);
    } else if (high <= -reach) {
        *least = *most = (double)((bits & CAROM_TREE_CELL_ABOVE) != 0);
    } else {
        carom_tree_cut cut = carom_tree_cut_make(n, side);
        carom_tree_cut_share(&cut, low, high, bits, least, most);
    }
}

/* Bounds of the moving solid's share of a piece. */
static void measure_own(const refinement *r, const tree_cells_overlap_piece *p, double *least,
                        double *most) {
    const carom_tree_cell *cell = &r->s->moving->cells[p->own.cell];
    if (p->side == p->own.side) { /* the cell itself */
        *least = (double)cell->least;
        *most = (double)cell->most;
        return;
    }
    double n[3];
    copy_normal(cell, n);
    double off = dot3(n, carom_vec_sub(p->centre, p->own.centre));
    measure_cube(n, p->side, (double)cell->low - off - TREE_OWN_MARGIN,
                 (double)cell->high - off + TREE_OWN_MARGIN, cell->child, least, most);
}

/* Goes down from a cell of the fixed octree that the piece's ball is in, to the deepest whose ball
 * contains that. `start` becomes the deepest that contains it as a cube does: all parts of the
 * piece may begin there. False: not even the root's ball contains it. */
static bool tree_cells_overlap_descend(const carom_tree_cells *fixed, carom_vec3 at, double radius,
                                       tree_cells_overlap_piece *p) {
    tree_cells_overlap_step to = p->start;
    carom_vec3 d = carom_vec_sub(at, to.centre);
    double room = CAROM_TREE_CELL_REACH * to.side - radius;
    p->field = to;
    if (!(room > 0.0 && carom_vec_dot(d, d) <= room * room)) return false;
    for (;;) {
        uint32_t first = carom_tree_cell_child(&fixed->cells[to.cell]);
        if (first == 0) return true;
        uint32_t octant =
            (uint32_t)(d.x > 0.0) | (uint32_t)(d.y > 0.0) << 1 | (uint32_t)(d.z > 0.0) << 2;
        to.centre = carom_tree_cell_centre(to.centre, to.side, octant);
        to.side *= 0.5;
        to.cell = first + octant;
        d = carom_vec_sub(at, to.centre);
        room = CAROM_TREE_CELL_REACH * to.side - radius;
        if (!(room > 0.0 && carom_vec_dot(d, d) <= room * room)) return true;
        p->field = to;
        if (carom_vec_largest(d) + radius <= 0.5 * to.side) p->start = to;
    }
}

/* Bounds of the fixed solid's share of a piece; and how to estimate it. Returns whether dividing
 * the piece can tell more. */
static bool measure_field(const refinement *r, tree_cells_overlap_piece *p, double own_least,
                          double *least, double *most) {
    const carom_tree_cells_search *s = r->s;
    const double *m = s->turn;
    carom_vec3 c = p->centre;
    carom_vec3 at = carom_vec((m[0] * c.x + m[1] * c.y + m[2] * c.z) * s->scale + s->move[0],
                              (m[3] * c.x + m[4] * c.y + m[5] * c.z) * s->scale + s->move[1],
                              (m[6] * c.x + m[7] * c.y + m[8] * c.z) * s->scale + s->move[2]);
    double radius = TREE_CUBE_RADIUS * p->side * s->scale + s->slack;
    *least = 0.0;
    *most = 1.0;
    p->bits = 0;
    p->low = -HUGE_VAL;
    p->high = HUGE_VAL;
    p->normal[0] = p->normal[1] = p->normal[2] = 0.0;
    /* The solid is within the ball in the root. */
    double far = radius + 0.5 * s->fixed->side;
    carom_vec3 d = carom_vec_sub(at, s->fixed->centre);
    if (carom_vec_dot(d, d) > far * far) {
        *most = 0.0;
        return false;
    }
    if (!tree_cells_overlap_descend(s->fixed, at, radius, p)) return true;
    const carom_tree_cell *cell = &s->fixed->cells[p->field.cell];
    double n[3];
    copy_normal(cell, n);
    double off = dot3(n, carom_vec_sub(at, p->field.centre)), back = 1.0 / s->scale;
    for (int k = 0; k < 3; ++k) p->normal[k] = m[k] * n[0] + m[3 + k] * n[1] + m[6 + k] * n[2];
    p->low = ((double)cell->low - off - s->slack) * back;
    p->high = ((double)cell->high - off + s->slack) * back;
    p->bits = cell->child;
    measure_cube(p->normal, p->side, p->low, p->high, p->bits, least, most);
    /* In a cell without children, what is between the planes stays there: dividing can only tell
     * it from what is not the moving solid's. */
    return carom_tree_cell_child(cell) != 0 || (own_least < 1.0 && (*least > 0.0 || *most < 1.0));
}

/* Measures a piece, and adds what is known of it. Returns whether anything of it is left. */
static bool tree_cells_overlap_measure(refinement *r, tree_cells_overlap_piece *p) {
    double own_least, own_most, least, most;
    ++r->s->visits;
    measure_own(r, p, &own_least, &own_most);
    if (own_most <= 0.0) return false;
    bool helps = measure_field(r, p, own_least, &least, &most);
    if (most <= 0.0) {
        r->some_outside = true;
        return false;
    }
    double side = p->side / r->s->moving->side, cube = side * side * side;
    double low = own_least + least - 1.0, high = CAROM_MIN(own_most, most);
    low = least >= 1.0 ? own_least : own_least >= 1.0 ? least : CAROM_MAX(low, 0.0);
    int64_t lower = (int64_t)(low * cube * TREE_ROOT_UNITS * (1.0 - TREE_PIECE_ROUNDING));
    int64_t upper = (int64_t)(high * cube * TREE_ROOT_UNITS * (1.0 + TREE_PIECE_ROUNDING)) + 1;
    CAROM_ASSERT(own_least <= own_most && least <= most && own_most <= 1.0 && most <= 1.0);
    CAROM_ASSERT(lower >= 0 && lower <= upper);
    r->lower += lower;
    r->upper += upper;
    p->lower = lower;
    p->upper = upper;
    p->own_share = 0.5 * (own_least + own_most);
    p->volume = p->own_share * 0.5 * (least + most);
    p->volume = (p->volume < low ? low : p->volume > high ? high : p->volume) * cube;
    r->volume += p->volume;
    if (least >= 1.0) {
        r->rest += upper - lower;
        r->moment = carom_vec_add(r->moment, carom_vec_scale(p->centre, p->volume));
        return false;
    }
    if (own_least <= 0.0 && own_most >= 1.0 &&
        carom_tree_cell_child(&r->s->moving->cells[p->own.cell]) == 0)
        helps = false; /* the same with the moving planes */
    helps = helps && side >= TREE_PIECE_SIDE_MIN;
    p->key = helps ? (float)(upper - lower) : 0.0f;
    if (!helps) r->rest += upper - lower;
    return true;
}

/* ---- The queue ------------------------------------------------------------------------------- */

static bool tree_cells_overlap_before(tree_cells_overlap_entry a, tree_cells_overlap_entry b) {
    return a.key > b.key || (a.key == b.key && a.piece < b.piece);
}

static void tree_cells_overlap_push(refinement *r, uint32_t index) {
    tree_cells_overlap_entry e = {r->pieces[index].key, index};
    uint32_t at = r->queued++;
    for (; at > 0 && tree_cells_overlap_before(e, r->queue[(at - 1) / 2]); at = (at - 1) / 2)
        r->queue[at] = r->queue[(at - 1) / 2];
    r->queue[at] = e;
}

static uint32_t tree_cells_overlap_pop(refinement *r) {
    uint32_t first = r->queue[0].piece, at = 0;
    tree_cells_overlap_entry last = r->queue[--r->queued];
    for (uint32_t child; (child = 2 * at + 1) < r->queued; at = child) {
        if (child + 1 < r->queued &&
            tree_cells_overlap_before(r->queue[child + 1], r->queue[child]))
            ++child;
        if (!tree_cells_overlap_before(r->queue[child], last)) break;
        r->queue[at] = r->queue[child];
    }
    r->queue[at] = last;
    return first;
}

/* ---- The search ------------------------------------------------------------------------------ */

static uint32_t take_piece_slot(refinement *r) {
    CAROM_ASSERT(r->unused_count != 0 || r->count < r->s->most + TREE_SPARE_PIECES);
    return r->unused_count != 0 ? r->unused[--r->unused_count] : r->count++;
}

static void tree_cells_overlap_divide(refinement *r) {
    uint32_t index = tree_cells_overlap_pop(r);
    tree_cells_overlap_piece whole = r->pieces[index];
    r->unused[r->unused_count++] = index;
    CAROM_ASSERT(r->queued == 0 || whole.key >= r->queue[0].key);
    r->lower -= whole.lower;
    r->upper -= whole.upper;
    r->volume -= whole.volume;
    uint32_t first = whole.side == whole.own.side
                         ? carom_tree_cell_child(&r->s->moving->cells[whole.own.cell])
                         : 0;
    for (uint32_t k = 0; k < 8; ++k) {
        uint32_t to = take_piece_slot(r);
        tree_cells_overlap_piece *part = &r->pieces[to];
        part->centre = carom_tree_cell_centre(whole.centre, whole.side, k);
        part->side = 0.5 * whole.side;
        part->own = whole.own;
        part->start = whole.start;
        if (first != 0) part->own = (tree_cells_overlap_step){part->centre, part->side, first + k};
        if (tree_cells_overlap_measure(r, part))
            tree_cells_overlap_push(r, to);
        else
            r->unused[r->unused_count++] = to;
    }
}

/* Adds the moment of a piece, and its force on the fixed solid: the derivative, as the planes move.
 */
static void add_force(refinement *r, const tree_cells_overlap_piece *p) {
    carom_tree_cells_search *s = r->s;
    r->moment = carom_vec_add(r->moment, carom_vec_scale(p->centre, p->volume));
    bool below = (p->bits & CAROM_TREE_CELL_BELOW) != 0;
    if (!(p->low > -HUGE_VAL && p->high < HUGE_VAL) ||
        below == ((p->bits & CAROM_TREE_CELL_ABOVE) != 0))
        return;
    carom_tree_cut cut = carom_tree_cut_make(p->normal, p->side);
    double middle = 0.5 * (p->low + p->high), step = TREE_FORCE_STEP * p->side, less, more, unused;
    carom_tree_cut_share(&cut, middle - step, middle - step, CAROM_TREE_CELL_BELOW, &less, &unused);
    carom_tree_cut_share(&cut, middle + step, middle + step, CAROM_TREE_CELL_BELOW, &more, &unused);
    double pull = p->own_share * (more - less) * (p->side * p->side * p->side) / (2.0 * step);
    if (below) pull = -pull;
    carom_vec3 n = carom_vec(p->normal[0], p->normal[1], p->normal[2]);
    carom_vec3 force = carom_vec_scale(n, pull);
    carom_vec3 at = carom_vec_add(p->centre, carom_vec_scale(n, middle));
    s->force = carom_vec_add(s->force, force);
    s->torque = carom_vec_add(s->torque, carom_vec_cross(at, force));
}

/* Pieces that may be kept at once: each division makes up to seven more of eight that are visited.
 */
uint64_t carom_tree_cells_scratch(uint32_t most) {
    return ((uint64_t)most + TREE_SPARE_PIECES) *
           (sizeof(tree_cells_overlap_piece) + sizeof(tree_cells_overlap_entry) + sizeof(uint32_t));
}

/* Whether bounds are close enough. */
static bool is_close(const refinement *r) {
    return (double)(r->upper - r->lower) <= r->s->tolerance * r->volume * TREE_ROOT_UNITS;
}

/* Whether they will not be: the upper bound only falls. */
static bool is_hopeless(const refinement *r) {
    return (double)r->rest > r->s->tolerance * (double)r->upper;
}

/* Divisions, of eight cells each, between two looks at the clock; it is looked at before each of
 * the first as many, too. A cell takes 60 to 150 ns on a server processor of 2020 to 2024, so that
 * these take 1 to 2.5 us, and a look 0.1 at most. */
#define TREE_CLOCK_DIVISIONS 2u

/* Whether the next divisions, which take as long as those since the first look did, would end after
 * the deadline. */
static bool tree_cells_overlap_is_late(const carom_tree_cells_search *s, uint32_t divisions,
                                       double *begun) {
    if (!(s->deadline < HUGE_VAL) ||
        (divisions > TREE_CLOCK_DIVISIONS && divisions % TREE_CLOCK_DIVISIONS != 0))
        return false;
    double now = carom_time_seconds();
    if (divisions == 0) *begun = now;
    double each = divisions == 0 ? 0.0 : (now - *begun) / divisions;
    return now + TREE_CLOCK_DIVISIONS * each >= s->deadline;
}

/* Whether the bounds are those of the pieces in the queue and of others, which are not less than 0;
 * and whether the queue and the unused slots have each piece once. */
CAROM_TREE_CHECK bool tree_piece_sums_hold(const refinement *r) {
    int64_t lower = r->lower, upper = r->upper;
    for (uint32_t i = 0; i < r->queued; ++i) {
        const tree_cells_overlap_piece *p = &r->pieces[r->queue[i].piece];
        lower -= p->lower;
        upper -= p->upper;
    }
    return lower >= 0 && lower <= upper && r->queued + r->unused_count <= r->count &&
           r->queued + r->unused_count + 1 >= r->count;
}

void carom_tree_cells_overlap(carom_tree_cells_search *s, void *scratch) {
    refinement r = {.s = s, .pieces = scratch};
    r.queue = (tree_cells_overlap_entry *)(r.pieces + s->most + TREE_SPARE_PIECES);
    r.unused = (uint32_t *)(r.queue + s->most + TREE_SPARE_PIECES);
    tree_cells_overlap_piece root = {.centre = s->moving->centre,
                                     .side = s->moving->side,
                                     .own = {s->moving->centre, s->moving->side, 0},
                                     .start = {s->fixed->centre, s->fixed->side, 0}};
    s->force = s->torque = carom_vec(0.0, 0.0, 0.0);
    r.pieces[0] = root;
    r.count = 1;
    if (tree_cells_overlap_measure(&r, &r.pieces[0])) tree_cells_overlap_push(&r, 0);
    double begun = 0.0;
    for (uint32_t n = 0; r.queued != 0 && r.queue[0].key > 0.0f && !is_close(&r); ++n) {
        if (s->visits + 8 > s->most || (s->give_up && is_hopeless(&r)) ||
            tree_cells_overlap_is_late(s, n, &begun))
            break;
        tree_cells_overlap_divide(&r);
    }
    CAROM_ASSERT(tree_piece_sums_hold(&r));
    CAROM_ASSERT(s->visits <= CAROM_MAX(s->most, 1));
    s->reached = is_close(&r);
    s->inside = r.queued == 0 && !r.some_outside && r.lower > 0;
    for (uint32_t i = 0; i < r.queued && !s->skip_forces; ++i)
        add_force(&r, &r.pieces[r.queue[i].piece]);
    double size = s->moving->side * s->moving->side * s->moving->side;
    s->lower = (double)r.lower / TREE_ROOT_UNITS * size;
    s->upper = (double)r.upper / TREE_ROOT_UNITS * size;
    s->volume = CAROM_MAX(r.volume, 0.0) * size;
    s->moment = carom_vec_scale(r.moment, size);
}
