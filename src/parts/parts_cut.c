/* SPDX-License-Identifier: MIT */
/* The cut of space into parts.
 *
 * A cut divides a cube of cells into an octree of six levels. First the faces that reach into each
 * node are counted: a face that lies in one node counts there and in all above it; in the nodes of
 * finer levels, of which it covers a block, it is added to differences along the three axes, eight
 * numbers whatever the size of the block, whose sums over all axes are the counts. Then the nodes
 * are visited in Morton order, from the root: one that fits joins the part before it where both
 * fit, others are opened, unless their faces are so large that the children together would hold
 * half as many again. So parts are runs of the curve (Morton 1966), and a cut depends on the faces
 * alone. Shards are runs, too, of nearly equal weight.
 *
 * Which pairs are a part's own: the ranges of cells of two faces whose boxes overlap overlap as
 * well, and the lowest cell that they have in common belongs to exactly one part. Both faces reach
 * into it, so that part has both and finds the pair; all others that have both leave it out. */
#include <math.h>

#include "base/item.h"
#include "parts/parts.h"

/* ---- Grid ------------------------------------------------------------------------------------ */

#define PARTS_CELLS 0x1p32 /* along an axis */

void carom_parts_grid_make(const double low[3], const double high[3], double reach,
                           parts_grid *grid) {
    *grid = (parts_grid){.half = reach > 0.0 ? nextafter(0.5 * reach, HUGE_VAL) : 0.0};
    for (int a = 0; a < 3; ++a) {
        double extent = 0.5 * high[a] - 0.5 * low[a];
        grid->low[a] = 0.5 * low[a];
        grid->scale[a] = extent > 0.0 ? PARTS_CELLS / extent : 0.0;
    }
}

/* Subtraction and multiplication round monotonely, so this never decreases with x. */
static uint32_t parts_cell(const parts_grid *grid, int axis, double x) {
    double cell = (0.5 * x - grid->low[axis]) * grid->scale[axis];
    if (!(cell > 0.0)) return 0;
    return cell < PARTS_CELLS - 1.0 ? (uint32_t)cell : UINT32_MAX;
}

carom_bounds carom_parts_bounds_of(const parts_input *input, const parts_face *face) {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    const float *floats = face->positions;
    const double *doubles = face->positions;
    bool single = input->scalar == CAROM_SCALAR_FLOAT32;
    for (uint64_t c = 0; c < face->count; ++c) {
        double x[3];
        for (uint64_t a = 0; a < 3; ++a)
            x[a] = single ? (double)floats[3 * c + a] : doubles[3 * c + a];
        if (input->posed) {
            carom_vec3 p = carom_frame_apply(&input->frame, carom_vec(x[0], x[1], x[2]));
            x[0] = p.x;
            x[1] = p.y;
            x[2] = p.z;
        }
        for (int a = 0; a < 3; ++a) {
            low[a] = CAROM_MIN(x[a], low[a]);
            high[a] = CAROM_MAX(x[a], high[a]);
        }
    }
    return (carom_bounds){{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

parts_cells carom_parts_cells_of(const parts_grid *grid, const parts_input *input,
                                 const parts_face *face) {
    carom_bounds box = carom_parts_bounds_of(input, face);
    double low[3] = {box.low.x, box.low.y, box.low.z};
    double high[3] = {box.high.x, box.high.y, box.high.z};
    double half = grid->half;
    if (grid->share > 0.0) /* the sum of its edges is at least the diagonal of a box */
        half = grid->share * ((high[0] - low[0]) + (high[1] - low[1]) + (high[2] - low[2]));
    parts_cells cells;
    for (int a = 0; a < 3; ++a) {
        if (half > 0.0) { /* rounded outwards */
            low[a] = nextafter(low[a] - half, -HUGE_VAL);
            high[a] = nextafter(high[a] + half, HUGE_VAL);
        }
        cells.low[a] = parts_cell(grid, a, low[a]);
        cells.high[a] = parts_cell(grid, a, high[a]);
        CAROM_ASSERT(cells.low[a] <= cells.high[a]);
    }
    return cells;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static uint64_t parts_cube(uint64_t side) {
    return side * side * side;
}

static uint64_t parts_node(uint32_t level, const uint32_t at[3]) {
    return ((uint64_t)at[2] << level | at[1]) << level | at[0];
}

/* In a cube of one more along each axis. */
static uint64_t parts_step(uint32_t level, uint32_t x, uint32_t y, uint32_t z) {
    uint64_t side = (UINT64_C(1) << level) + 1;
    return ((uint64_t)z * side + y) * side + x;
}

carom_status carom_parts_cut_begin(parts_job *job, parts_cut *cut, uint32_t shift,
                                   const uint32_t base[3]) {
    *cut = (parts_cut){.shift = shift, .base = {base[0], base[1], base[2]}};
    uint32_t inputs = job->def->cross ? 2 : 1;
    uint64_t nodes = 0, steps = 0;
    for (uint32_t l = 0; l <= PARTS_LEVELS; ++l) {
        nodes += parts_cube(UINT64_C(1) << l);
        steps += parts_cube((UINT64_C(1) << l) + 1);
    }
    uint64_t count = inputs * (nodes + steps);
    uint32_t *counts = carom_allocate(job->allocator, count, sizeof(*counts));
    uint32_t *owners = carom_allocate(job->allocator, nodes, sizeof(*owners));
    cut->count_block = counts;
    cut->owner_block = owners;
    if (counts == NULL || owners == NULL)
        return carom_parts_fail_memory(job, (count + nodes) * sizeof(*counts), "a cut");
    memset(counts, 0, (size_t)count * sizeof(*counts));
    for (uint32_t l = 0; l <= PARTS_LEVELS; ++l) {
        for (uint32_t i = 0; i < inputs; ++i) {
            cut->counts[i][l] = counts;
            counts += parts_cube(UINT64_C(1) << l);
            cut->steps[i][l] = counts;
            counts += parts_cube((UINT64_C(1) << l) + 1);
        }
        cut->owner[l] = owners;
        owners += parts_cube(UINT64_C(1) << l);
    }
    return CAROM_OK;
}

void carom_parts_cut_release(parts_job *job, parts_cut *cut) {
    for (uint64_t p = 0; p < cut->parts.count; ++p)
        for (int i = 0; i < 2; ++i)
            carom_parts_stream_release(&job->spill, &cut->parts.data[p].faces[i]);
    parts_list_release(&cut->parts, job->allocator);
    CAROM_RELEASE_ALL(job->allocator, cut->count_block, cut->owner_block);
    *cut = (parts_cut){0};
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* The nodes of the finest level that a face reaches into; false: none in this cut. */
static bool parts_clip(const parts_cut *cut, const parts_cells *cells, uint32_t low[3],
                       uint32_t high[3]) {
    for (int a = 0; a < 3; ++a) {
        uint32_t first = cells->low[a] >> cut->shift, last = cells->high[a] >> cut->shift;
        uint32_t begin = cut->base[a], end = begin + (PARTS_SIDE - 1);
        if (last < begin || first > end) return false;
        low[a] = CAROM_MAX(first, begin) - begin;
        high[a] = CAROM_MIN(last, end) - begin;
    }
    return true;
}

void carom_parts_cut_count(parts_cut *cut, uint32_t which, const parts_cells *cells,
                           uint32_t weight) {
    uint32_t low[3], high[3], level = PARTS_LEVELS;
    if (!parts_clip(cut, cells, low, high)) return;
    while (low[0] != high[0] || low[1] != high[1] || low[2] != high[2]) {
        uint32_t *steps = cut->steps[which][level];
        for (uint32_t corner = 0; corner < 8; ++corner) {
            uint32_t at[3];
            for (uint32_t a = 0; a < 3; ++a) at[a] = corner >> a & 1 ? high[a] + 1 : low[a];
            uint32_t odd = (corner ^ corner >> 1 ^ corner >> 2) & 1;
            steps[parts_step(level, at[0], at[1], at[2])] += odd ? 0u - weight : weight;
        }
        --level;
        for (int a = 0; a < 3; ++a) {
            low[a] >>= 1;
            high[a] >>= 1;
        }
    }
    cut->counts[which][level][parts_node(level, low)] += weight;
}

/* Adds up the differences of one level. Numbers wrap around on the way; the sums are counts. */
static void parts_add_steps(uint32_t *counts, uint32_t *steps, uint32_t level) {
    uint32_t side = 1u << level;
    for (uint32_t z = 0; z < side; ++z)
        for (uint32_t y = 0; y < side; ++y)
            for (uint32_t x = 0; x < side; ++x) {
                uint32_t sum = steps[parts_step(level, x, y, z)];
                uint32_t sign[2] = {1u, UINT32_MAX};
                for (uint32_t corner = 1; corner < 8; ++corner) {
                    uint32_t i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
                    if (x < i || y < j || z < k) continue;
                    /* inclusion and exclusion: odd corners are added, even ones taken away */
                    sum +=
                        sign[(i + j + k + 1) & 1] * steps[parts_step(level, x - i, y - j, z - k)];
                }
                steps[parts_step(level, x, y, z)] = sum;
                const uint32_t at[3] = {x, y, z};
                counts[parts_node(level, at)] += sum;
            }
}

static void parts_add_counts(parts_cut *cut, uint32_t which) {
    for (uint32_t l = PARTS_LEVELS; l-- > 0;)
        for (uint32_t z = 0; z < 2u << l; ++z)
            for (uint32_t y = 0; y < 2u << l; ++y)
                for (uint32_t x = 0; x < 2u << l; ++x) {
                    const uint32_t at[3] = {x, y, z}, above[3] = {x >> 1, y >> 1, z >> 1};
                    cut->counts[which][l][parts_node(l, above)] +=
                        cut->counts[which][l + 1][parts_node(l + 1, at)];
                }
    for (uint32_t l = 0; l <= PARTS_LEVELS; ++l)
        parts_add_steps(cut->counts[which][l], cut->steps[which][l], l);
}

/* ---- Division -------------------------------------------------------------------------------- */

typedef struct parts_division {
    parts_job *job;
    parts_cut *cut;
    uint64_t most;
    uint64_t weight, total; /* of the nodes before, along the curve; of all */
    uint32_t shard, shards;
    bool every; /* shard: nodes get the numbers of their shards */
    bool open;  /* the last part may still grow */
} parts_division;

static uint64_t parts_count_of(const parts_division *d, uint32_t level, const uint32_t at[3],
                               bool *empty) {
    uint64_t node = parts_node(level, at), a = d->cut->counts[0][level][node], b = 0;
    bool cross = d->job->def->cross;
    if (cross) b = d->cut->counts[1][level][node];
    *empty = a == 0 || (cross && b == 0);
    return a + b;
}

/* The child of a node in Morton order. */
static void parts_child(const uint32_t at[3], uint32_t child, uint32_t to[3]) {
    for (uint32_t a = 0; a < 3; ++a) to[a] = 2 * at[a] + (child >> a & 1);
}

static void parts_fill(parts_cut *cut, uint32_t level, const uint32_t at[3], uint32_t part) {
    uint32_t up = PARTS_LEVELS - level, to[3];
    for (to[2] = at[2] << up; to[2] < (at[2] + 1) << up; ++to[2])
        for (to[1] = at[1] << up; to[1] < (at[1] + 1) << up; ++to[1])
            for (to[0] = at[0] << up; to[0] < (at[0] + 1) << up; ++to[0])
                cut->owner[PARTS_LEVELS][parts_node(PARTS_LEVELS, to)] = part;
}

static carom_status parts_join(parts_division *d, uint32_t level, const uint32_t at[3],
                               uint64_t count) {
    parts_list *parts = &d->cut->parts;
    bool too_many = count > d->most;
    if (!d->open || too_many || parts->data[parts->count - 1].count + count > d->most) {
        parts_part fresh = {.single = level == PARTS_LEVELS, .node = {at[0], at[1], at[2]}};
        if (!parts_list_push(parts, d->job->allocator, fresh))
            return carom_parts_fail_memory(d->job, parts->count * sizeof(fresh), "parts");
    } else {
        parts->data[parts->count - 1].single = false;
    }
    d->open = !too_many;
    parts->data[parts->count - 1].count += count;
    parts_fill(d->cut, level, at, (uint32_t)(parts->count - 1));
    return CAROM_OK;
}

/* Whether the children of a node hold few enough copies of its triangles. Opening a node of c
 * triangles to children of r c in all changes the blocks of a search from c^2 to 8 (r c / 8)^2, so
 * it is worth it up to r = 2.8; but copies take disk. */
static bool parts_is_worth(const parts_division *d, uint32_t level, const uint32_t at[3],
                           uint64_t count) {
    uint64_t sum = 0;
    for (uint32_t child = 0; child < 8; ++child) {
        uint32_t to[3];
        bool empty;
        parts_child(at, child, to);
        uint64_t part = parts_count_of(d, level + 1, to, &empty);
        if (!empty) sum += part;
    }
    return sum <= count + count / 2;
}

/* Assigns the nodes below one to parts, in Morton order. Before that the owner of a node is
 * PARTS_NONE where it is not in the shard. */
static carom_status parts_assign(parts_division *d, uint32_t level, const uint32_t at[3]) {
    bool empty, finest = level == PARTS_LEVELS;
    uint64_t count = parts_count_of(d, level, at, &empty);
    uint32_t own = d->cut->owner[level][parts_node(level, at)];
    if (empty || own == PARTS_NONE) {
        parts_fill(d->cut, level, at, PARTS_NONE);
        return CAROM_OK;
    }
    if (own != PARTS_MIXED && (finest || count <= d->most || !parts_is_worth(d, level, at, count)))
        return parts_join(d, level, at, count);
    for (uint32_t child = 0; child < 8; ++child) {
        uint32_t to[3];
        parts_child(at, child, to);
        CAROM_TRY(parts_assign(d, level + 1, to));
    }
    return CAROM_OK;
}

/* Gives the nodes of the finest level to shards, by their weight along the curve: PARTS_NONE to
 * those of others. */
static void parts_give(parts_division *d, uint32_t level, const uint32_t at[3]) {
    if (level == PARTS_LEVELS) {
        bool empty;
        uint64_t shard = d->weight * d->shards / d->total;
        d->weight += parts_count_of(d, level, at, &empty);
        uint32_t own = shard == d->shard ? 0 : PARTS_NONE;
        if (d->every) own = empty ? PARTS_NONE : (uint32_t)shard;
        d->cut->owner[level][parts_node(level, at)] = own;
        return;
    }
    for (uint32_t child = 0; child < 8; ++child) {
        uint32_t to[3];
        parts_child(at, child, to);
        parts_give(d, level + 1, to);
    }
}

/* A node is a part's when all its children are. */
static void parts_join_owners(parts_cut *cut) {
    for (uint32_t l = PARTS_LEVELS; l-- > 0;) {
        uint32_t at[3], to[3];
        for (at[2] = 0; at[2] < 1u << l; ++at[2])
            for (at[1] = 0; at[1] < 1u << l; ++at[1])
                for (at[0] = 0; at[0] < 1u << l; ++at[0]) {
                    parts_child(at, 0, to);
                    uint32_t part = cut->owner[l + 1][parts_node(l + 1, to)];
                    for (uint32_t child = 1; child < 8; ++child) {
                        parts_child(at, child, to);
                        if (cut->owner[l + 1][parts_node(l + 1, to)] != part) part = PARTS_MIXED;
                    }
                    cut->owner[l][parts_node(l, at)] = part;
                }
    }
}

/* Gives all nodes of a cut to shards. */
static void parts_give_all(parts_division *d) {
    const uint32_t root[3] = {0, 0, 0};
    uint64_t nodes = parts_cube(PARTS_SIDE);
    for (uint32_t i = 0; i < (d->job->def->cross ? 2u : 1u); ++i) {
        parts_add_counts(d->cut, i);
        for (uint64_t n = 0; n < nodes; ++n) d->total += d->cut->counts[i][PARTS_LEVELS][n];
    }
    d->total = CAROM_MAX(d->total, UINT64_C(1));
    parts_give(d, 0, root);
    parts_join_owners(d->cut);
}

static void parts_drop_counts(const parts_job *job, parts_cut *cut) {
    carom_release(job->allocator, cut->count_block);
    cut->count_block = NULL;
}

carom_status carom_parts_cut_divide(parts_job *job, parts_cut *cut, uint64_t most, uint32_t shard,
                                    uint32_t shards) {
    parts_division d = {
        .job = job, .cut = cut, .most = most, .shard = shard, .shards = CAROM_MAX(shards, 1u)};
    const uint32_t root[3] = {0, 0, 0};
    parts_give_all(&d);
    CAROM_TRY(parts_assign(&d, 0, root));
    parts_join_owners(cut);
    parts_drop_counts(job, cut);
    return CAROM_OK;
}

uint32_t *carom_parts_cut_counts(const parts_job *job, const parts_cut *cut, uint64_t *count) {
    *count = 0;
    for (uint32_t l = 0; l <= PARTS_LEVELS; ++l)
        *count += parts_cube(UINT64_C(1) << l) + parts_cube((UINT64_C(1) << l) + 1);
    *count *= job->def->cross ? 2 : 1;
    return cut->count_block;
}

carom_status carom_parts_cut_share(parts_job *job, const parts_cut *from, uint32_t shards,
                                   parts_cut *cut) {
    uint64_t count;
    parts_division d = {.job = job, .cut = cut, .shards = shards, .every = true};
    CAROM_TRY(carom_parts_cut_begin(job, cut, from->shift, from->base));
    uint32_t *counts = carom_parts_cut_counts(job, cut, &count);
    memcpy(counts, from->count_block, (size_t)count * sizeof(*counts));
    parts_give_all(&d);
    parts_drop_counts(job, cut);
    return CAROM_OK;
}

/* ---- Which parts ----------------------------------------------------------------------------- */

typedef struct parts_walk {
    const parts_cut *cut;
    uint32_t low[3], high[3];
    parts_visit_fn *visit;
    void *user;
} parts_walk;

static carom_status parts_walk_node(const parts_walk *w, uint32_t level, const uint32_t at[3]) {
    uint32_t up = PARTS_LEVELS - level;
    for (int a = 0; a < 3; ++a)
        if (at[a] < w->low[a] >> up || at[a] > w->high[a] >> up) return CAROM_OK;
    uint32_t part = w->cut->owner[level][parts_node(level, at)];
    if (part == PARTS_NONE) return CAROM_OK;
    if (part != PARTS_MIXED) return w->visit(w->user, part);
    for (uint32_t child = 0; child < 8; ++child) {
        uint32_t to[3];
        parts_child(at, child, to);
        CAROM_TRY(parts_walk_node(w, level + 1, to));
    }
    return CAROM_OK;
}

carom_status carom_parts_cut_visit(const parts_cut *cut, const parts_cells *cells,
                                   parts_visit_fn *visit, void *user) {
    parts_walk w = {.cut = cut, .visit = visit, .user = user};
    const uint32_t root[3] = {0, 0, 0};
    if (!parts_clip(cut, cells, w.low, w.high)) return CAROM_OK;
    if (w.low[0] == w.high[0] && w.low[1] == w.high[1] && w.low[2] == w.high[2]) {
        uint32_t part = cut->owner[PARTS_LEVELS][parts_node(PARTS_LEVELS, w.low)];
        return part == PARTS_NONE ? CAROM_OK : visit(user, part);
    }
    return parts_walk_node(&w, 0, root);
}

uint32_t carom_parts_cut_owner(const parts_cut *cut, const uint32_t cell[3]) {
    const parts_cells cells = {{cell[0], cell[1], cell[2]}, {cell[0], cell[1], cell[2]}};
    uint32_t low[3], high[3];
    if (!parts_clip(cut, &cells, low, high)) return PARTS_NONE;
    return cut->owner[PARTS_LEVELS][parts_node(PARTS_LEVELS, low)];
}

bool carom_parts_cut_holds(const parts_cut *cut, const parts_cells *cells, uint32_t part) {
    uint32_t low[3], high[3], level = PARTS_LEVELS;
    for (int a = 0; a < 3; ++a) { /* no cell outside of the cut's cube */
        uint32_t first = cells->low[a] >> cut->shift, last = cells->high[a] >> cut->shift;
        if (first < cut->base[a] || last > cut->base[a] + (PARTS_SIDE - 1)) return false;
        low[a] = first - cut->base[a];
        high[a] = last - cut->base[a];
    }
    /* The least node that has all cells; a smaller set of nodes is not tried. */
    for (; low[0] != high[0] || low[1] != high[1] || low[2] != high[2]; --level)
        for (int a = 0; a < 3; ++a) {
            low[a] >>= 1;
            high[a] >>= 1;
        }
    return cut->owner[level][parts_node(level, low)] == part;
}
