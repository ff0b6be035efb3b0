/* SPDX-License-Identifier: MIT */
/* Spheres look up a grid: posing, cells, filter, terms (balls_item.h).
 *
 * The steps run over a batch of spheres that are near in space. Posing is in doubles, as the posed
 * centres x' are those of the result; then x' goes to the frame of the grid, as floats. All buckets
 * of the batch are looked up before the first is scanned, so that cache misses overlap. A scan
 * compares one sphere with the columns of a block in floats, enlarged by the slack, and lists the
 * pairs that are left. Their posed spheres are then copied into columns of doubles
 * (spheres_batch_cpu.h). */
#include "balls/balls_cpu.h"

#include "base/simd.h"

#define BALLS_CPU_BLOCKS_PER_SCAN 32u /* blocks of a bucket that are scanned at a time */
#define BALLS_PREFETCH_PAIRS                                                                       \
    16u /* pairs whose spheres are fetched before they are copied: some 100 ns */
/* Grid coordinates are limited to this: grids end at 4, and the squares of distances are finite. */
#define BALLS_MOST_POSITION 0x1p20
/* Slacks that covers must overlap by in floats to meet for sure: the one that was added to the
 * reach, and two for positions and radii. */
#define BALLS_SURE_SLACKS 3.0f
#define BALLS_LINE_BYTES  64u /* of a cache line */

/* ---- Posing ---------------------------------------------------------------------------------- */

/* Stores CAROM_LANES64 doubles as floats, limited so that they stay finite. */
CAROM_SIMD void store_floats(float *to, carom_f64v v) {
    v = carom_f64v_min(carom_f64v_max(v, carom_f64v_splat(-BALLS_MOST_POSITION)),
                       carom_f64v_splat(BALLS_MOST_POSITION));
    carom_f64v_store_floats(to, v);
}

/* carom_spheres_pose_centre for CAROM_LANES64 centres. */
CAROM_SIMD void pose_some(const carom_spheres_transform *transform, carom_f64v *x, carom_f64v *y,
                          carom_f64v *z) {
    const double *r = transform->frame.r;
    carom_f64v u = *x * transform->scale, v = *y * transform->scale, w = *z * transform->scale;
    *x = ((r[0] * u + r[1] * v) + r[2] * w) + transform->frame.t.x;
    *y = ((r[3] * u + r[4] * v) + r[5] * w) + transform->frame.t.y;
    *z = ((r[6] * u + r[7] * v) + r[8] * w) + transform->frame.t.z;
}

static void balls_cpu_pose(const carom_balls_lookup *lookup, uint32_t first, uint32_t count,
                           carom_balls_worker *w) {
    const carom_balls_view *from = lookup->from;
    const carom_vec3 t = lookup->grid_transform->frame.t;
    const double *m = lookup->turn;
    w->first = first;
    for (uint32_t i = 0; i < count; i += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(&from->x[first + i]);
        carom_f64v y = carom_f64v_load(&from->y[first + i]);
        carom_f64v z = carom_f64v_load(&from->z[first + i]);
        pose_some(lookup->from_transform, &x, &y, &z);
        carom_f64v_store(&w->x[i], x);
        carom_f64v_store(&w->y[i], y);
        carom_f64v_store(&w->z[i], z);
        x -= t.x;
        y -= t.y;
        z -= t.z;
        store_floats(&w->p[0][i], m[0] * x + m[1] * y + m[2] * z - lookup->shift[0]);
        store_floats(&w->p[1][i], m[3] * x + m[4] * y + m[5] * z - lookup->shift[1]);
        store_floats(&w->p[2][i], m[6] * x + m[7] * y + m[8] * z - lookup->shift[2]);
    }
}

/* Radii in units of the grid. */
static void balls_cpu_measure(const carom_balls_lookup *lookup, uint32_t count,
                              carom_balls_worker *w) {
    const float *reach = lookup->from->reach + w->first, *near = lookup->from->near + w->first;
    double ratio = lookup->from_ratio;
    for (uint32_t i = 0; i < count; ++i) {
        w->near[i] = (float)((double)near[i] * ratio) + CAROM_BALLS_SLACK;
        w->reach[i] = (float)((double)reach[i] * ratio) + CAROM_BALLS_SLACK;
    }
    if (lookup->ratio == 1.0) { /* what the item gives, without its loops */
        for (uint32_t i = 0; i < count; ++i)
            w->least[i] = lookup->from_b ? -carom_float_below(-reach[i]) : reach[i];
    } else {
        for (uint32_t i = 0; i < count; ++i)
            w->least[i] = carom_balls_threshold(reach[i], lookup->ratio, lookup->from_b);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Lists the spheres of a batch whose centres are in the box of the grid. */
static uint32_t list_inside(const carom_balls_view *grid, uint32_t count, carom_balls_worker *w) {
    uint32_t inside = 0;
    for (uint32_t i = 0; i < count; i += CAROM_LANES) {
        carom_i32v in = (carom_i32v){0} == 0;
        for (int k = 0; k < 3; ++k) {
            carom_f32v p = carom_f32v_load(&w->p[k][i]);
            in &= (p >= grid->box_low[k]) & (p <= grid->box_high[k]);
        }
        uint32_t left = CAROM_MIN(count - i, CAROM_LANES);
        inside +=
            carom_lanes_list(carom_lanes_of(in) & (~0u >> (32 - left)), i, &w->inside[inside]);
    }
    return inside;
}

/* carom_balls_cell for CAROM_LANES spheres, also for those outside of the box. */
CAROM_SIMD carom_u32v balls_cpu_cells_of(const carom_balls_view *grid, uint32_t level, int axis,
                                         const float *p) {
    carom_f32v x = carom_f32v_min(carom_f32v_load(p), carom_f32v_splat(grid->box_high[axis]));
    carom_f32v cell = (x - grid->box_low[axis]) * grid->inverse[level];
    cell = carom_f32v_max(cell, carom_f32v_splat(0.0f));
    return (carom_u32v)carom_f32v_truncate(cell);
}

/* carom_grid_spread for CAROM_LANES numbers below 2^10. */
CAROM_SIMD carom_u32v balls_cpu_spread(carom_u32v x) {
    x &= 1023u;
    x = (x | x << 16) & 0x030000FFu;
    x = (x | x << 8) & 0x0300F00Fu;
    x = (x | x << 4) & 0x030C30C3u;
    return (x | x << 2) & 0x09249249u;
}

/* carom_grid_bucket of the cells of all spheres of a batch on a level; of other hashes than block
 * and Morton only for those inside. */
static void find_buckets(const carom_balls_view *grid, uint32_t level, uint32_t count,
                         uint32_t inside, carom_balls_worker *w) {
    const carom_grid_table *table = &grid->table;
    uint32_t last = table->bucket_count - 1;
    bool morton = table->hash == CAROM_GRID_HASH_MORTON && (last & table->bucket_count) == 0;
    if (table->block_shift == 0 && !morton) {
        for (uint32_t k = 0; k < inside; ++k) {
            uint32_t i = w->inside[k];
            w->bucket[i] = carom_grid_bucket(table, carom_balls_cell(grid, level, 0, w->p[0][i]),
                                             carom_balls_cell(grid, level, 1, w->p[1][i]),
                                             carom_balls_cell(grid, level, 2, w->p[2][i]), level);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i += CAROM_LANES) {
        carom_u32v x = balls_cpu_cells_of(grid, level, 0, &w->p[0][i]);
        carom_u32v y = balls_cpu_cells_of(grid, level, 1, &w->p[1][i]);
        carom_u32v z = balls_cpu_cells_of(grid, level, 2, &w->p[2][i]);
        if (morton) {
            x = (balls_cpu_spread(x) | balls_cpu_spread(y) << 1 | balls_cpu_spread(z) << 2) +
                level * 0x9E3779B1u;
            carom_u32v_store(&w->bucket[i], x & last);
        } else {
            carom_u32v hash = ((x >> 1) * 0x9E3779B1u ^ (y >> 1) * 0x85EBCA77u) +
                              ((z >> 1) * 0xC2B2AE3Du ^ level * 0x27D4EB2Fu);
            hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
            hash = (hash ^ hash >> 13) >> table->block_shift;
            carom_u32v_store(&w->bucket[i], hash << 3 | (x & 1u) | (y & 1u) << 1 | (z & 1u) << 2);
        }
    }
}

/* Lists the buckets that the spheres of a batch visit, one per level. */
static void list_visits(const carom_balls_lookup *lookup, uint32_t count, carom_balls_worker *w) {
    const carom_balls_view *grid = lookup->grid;
    uint32_t listed = 0, inside = list_inside(grid, count, w);
    for (uint32_t level = 0; level < grid->level_count && inside != 0; ++level) {
        float bottom = grid->bottom[level], top = grid->top[level];
        find_buckets(grid, level, count, inside, w);
        for (uint32_t k = 0; k < inside; ++k) {
            uint32_t i = w->inside[k], bucket = w->bucket[i];
            float low = CAROM_MAX(bottom, w->least[i]);
            uint32_t at = grid->starts[bucket], end = grid->starts[bucket + 1];
            CAROM_ASSERT(bucket < grid->table.bucket_count);
            w->visit[listed] = (carom_balls_visit){i, at, end, low, top};
            listed += at < end && low <= top ? 1u : 0u;
            w->visits += low <= top ? 1u : 0u;
        }
    }
    CAROM_ASSERT(listed <= w->visits && listed <= CAROM_BALLS_BATCH * CAROM_BALLS_LEVELS);
    w->visit_count = listed;
}

/* ---- Pairs that are left --------------------------------------------------------------------- */

static carom_spheres_posed balls_cpu_posed(const carom_spheres_transform *transform,
                                           const carom_balls_sphere *s) {
    return carom_spheres_pose_sphere(transform, s->centre, s->radius, s->secondary, s->cover);
}

static inline void balls_cpu_flag(uint8_t *flags, uint32_t rank) {
    __atomic_store_n(&flags[rank], 1, __ATOMIC_RELAXED);
}

/* Decides about covers that floats could not decide about. */
static void resolve_doubts(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    uint8_t *from = w->flags[lookup->from_b ? 1 : 0], *grid = w->flags[lookup->from_b ? 0 : 1];
    for (uint32_t i = 0; i < w->doubt_count; ++i) {
        uint32_t rank = w->first + w->doubt_sphere[i];
        uint32_t other = carom_balls_entry_rank(lookup->grid, w->doubt_entry[i]);
        if (__atomic_load_n(&from[rank], __ATOMIC_RELAXED) != 0 &&
            __atomic_load_n(&grid[other], __ATOMIC_RELAXED) != 0)
            continue;
        carom_spheres_posed a =
            balls_cpu_posed(lookup->from_transform, &lookup->from->spheres[rank]);
        carom_spheres_posed b =
            balls_cpu_posed(lookup->grid_transform, &lookup->grid->spheres[other]);
        ++w->undecided;
        if (!carom_spheres_covers_meet(&a, &b)) continue;
        balls_cpu_flag(from, rank);
        balls_cpu_flag(grid, other);
    }
    w->doubt_count = 0;
}

/* Poses the spheres of the grid that were copied into a batch, from `at` on; reads and writes up to
 * a vector past the end. */
static void balls_cpu_pose_side(const carom_spheres_transform *transform, carom_spheres_side *side,
                                uint32_t at, uint32_t end) {
    for (; at < end; at += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(&side->x[at]), y = carom_f64v_load(&side->y[at]),
                   z = carom_f64v_load(&side->z[at]);
        pose_some(transform, &x, &y, &z);
        carom_f64v_store(&side->x[at], x);
        carom_f64v_store(&side->y[at], y);
        carom_f64v_store(&side->z[at], z);
    }
}

/* Adds the pairs up. */
static void balls_cpu_add_up(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    carom_spheres_batch *batch = &w->batch;
    carom_spheres_side *from = lookup->from_b ? &batch->b : &batch->a;
    carom_spheres_side *grid = lookup->from_b ? &batch->a : &batch->b;
    const carom_balls_sphere *from_spheres = lookup->from->spheres + w->first,
                             *grid_spheres = lookup->grid->spheres;
    double scale = lookup->from_transform->scale, grid_scale = lookup->grid_transform->scale;
    uint32_t *ranks = w->hit_entry;
    for (uint32_t i = 0; i < w->hit_count; ++i)
        ranks[i] = carom_balls_entry_rank(lookup->grid, w->hit_entry[i]);
    for (uint32_t i = w->hit_count; i < w->hit_count + BALLS_PREFETCH_PAIRS; ++i) ranks[i] = 0;
    for (uint32_t done = 0; done < w->hit_count;) {
        uint32_t space = CAROM_SPHERES_BATCH - batch->count, begin = batch->count;
        uint32_t some = CAROM_MIN(w->hit_count - done, space);
        for (uint32_t i = 0; i < some; ++i) {
            uint32_t k = w->hit_sphere[done + i], at = begin + i;
            const carom_balls_sphere *s = &grid_spheres[ranks[done + i]];
            CAROM_ASSERT(ranks[done + i] < lookup->grid->count &&
                         w->first + k < lookup->from->count);
            __builtin_prefetch(&grid_spheres[ranks[done + i + BALLS_PREFETCH_PAIRS]]);
            from->x[at] = w->x[k];
            from->y[at] = w->y[k];
            from->z[at] = w->z[k];
            from->secondary[at] = from_spheres[k].secondary * scale;
            from->radius[at] = from_spheres[k].radius * scale;
            grid->x[at] = s->centre.x;
            grid->y[at] = s->centre.y;
            grid->z[at] = s->centre.z;
            grid->secondary[at] = s->secondary * grid_scale;
            grid->radius[at] = s->radius * grid_scale;
        }
        batch->count += some;
        done += some;
        CAROM_ASSERT(batch->count <= CAROM_SPHERES_BATCH);
        balls_cpu_pose_side(lookup->grid_transform, grid, begin, batch->count);
        if (batch->count == CAROM_SPHERES_BATCH)
            CAROM_CPU(carom_spheres_batch_add)(batch, lookup->posed, lookup->bounds, &w->totals);
    }
}

static bool balls_cpu_flush(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    w->candidates += w->hit_count;
    if (w->doubt_count != 0) resolve_doubts(lookup, w);
    if (w->found != NULL) return w->hit_count == 0 || w->found(w, lookup);
    balls_cpu_add_up(lookup, w);
    w->hit_count = 0;
    return true;
}

/* ---- Filter ---------------------------------------------------------------------------------- */

/* What a scan looks for; constant in each call. */
enum { BALLS_SCAN_NEAR, BALLS_SCAN_NEAR_AND_COVERS, BALLS_SCAN_REACHES };

/* The bits of 64 entries, from entry `first` on. */
typedef struct matches {
    uint64_t hits;        /* may be pairs */
    uint64_t sure, doubt; /* covers meet, and may meet */
    uint32_t first;
} matches;

/* Appends pairs of a sphere and entries to a list; returns its length. */
static inline uint32_t balls_cpu_append(uint64_t set, uint32_t first, uint32_t sphere,
                                        uint32_t *spheres, uint32_t *entries, uint32_t count) {
    for (; set != 0; set &= set - 1, ++count) {
        spheres[count] = sphere;
        entries[count] = first + (uint32_t)__builtin_ctzll(set);
    }
    return count;
}

/* In checked builds: covers of which floats say that they surely meet do so in doubles. */
static inline void balls_check_sure(const carom_balls_lookup *lookup, const carom_balls_worker *w,
                                    uint32_t sphere, const matches *m) {
#ifdef CAROM_CHECKS
    carom_spheres_posed a =
        balls_cpu_posed(lookup->from_transform, &lookup->from->spheres[w->first + sphere]);
    for (uint64_t set = m->sure; set != 0; set &= set - 1) {
        uint32_t at = m->first + (uint32_t)__builtin_ctzll(set);
        uint32_t rank = carom_balls_entry_rank(lookup->grid, at);
        carom_spheres_posed b =
            balls_cpu_posed(lookup->grid_transform, &lookup->grid->spheres[rank]);
        CAROM_ASSERT(carom_spheres_covers_meet(&a, &b));
    }
#else
    (void)lookup, (void)w, (void)sphere, (void)m;
#endif
}

/* Flags entries, and the sphere that looked them up. */
static inline void flag_all(const carom_balls_lookup *lookup, carom_balls_worker *w,
                            uint32_t sphere, const matches *m) {
    uint8_t *grid = w->flags[lookup->from_b ? 0 : 1];
    balls_check_sure(lookup, w, sphere, m);
    if (m->sure != 0) balls_cpu_flag(w->flags[lookup->from_b ? 1 : 0], w->first + sphere);
    for (uint64_t set = m->sure; set != 0; set &= set - 1)
        balls_cpu_flag(
            grid, carom_balls_entry_rank(lookup->grid, m->first + (uint32_t)__builtin_ctzll(set)));
}

/* Compares a sphere with entries of a bucket, at most as many as fit into the lists. Bits of 64
 * entries are collected before they are looked at: one branch that is hard to predict, not four. */
CAROM_SIMD void balls_cpu_scan(const carom_balls_lookup *lookup, carom_balls_worker *w,
                               const carom_balls_visit *v, uint32_t at, uint32_t end, int what) {
    const carom_balls_block *block = lookup->grid->blocks + at;
    uint32_t sphere = v->sphere;
    carom_f32v x = carom_f32v_splat(w->p[0][sphere]), y = carom_f32v_splat(w->p[1][sphere]),
               z = carom_f32v_splat(w->p[2][sphere]), low = carom_f32v_splat(v->low),
               high = carom_f32v_splat(v->high), near = carom_f32v_splat(w->near[sphere]),
               reach = carom_f32v_splat(w->reach[sphere]);
    bool covers_decide = lookup->grid->covers_largest && lookup->from->covers_largest;
    while (at < end && block->reach[0] >= v->low) {
        matches m = {0, 0, 0, at * CAROM_BALLS_BLOCK};
        for (uint32_t bit = 0; bit < 64 && at < end && block->reach[0] >= v->low; ++at, ++block) {
            for (uint32_t k = 0; k < CAROM_BALLS_BLOCK; k += CAROM_LANES, bit += CAROM_LANES) {
                carom_f32v dx = carom_f32v_load(&block->x[k]) - x;
                carom_f32v dy = carom_f32v_load(&block->y[k]) - y;
                carom_f32v dz = carom_f32v_load(&block->z[k]) - z;
                carom_f32v squared = carom_f32v_fma(dx, dx, carom_f32v_fma(dy, dy, dz * dz));
                carom_f32v other = carom_f32v_load(&block->reach[k]), wide = other + reach;
                carom_f32v sum =
                    what == BALLS_SCAN_REACHES ? wide : carom_f32v_load(&block->near[k]) + near;
                carom_i32v larger = (other >= low) & (other <= high);
                m.hits |= (uint64_t)carom_lanes_of(larger & (squared <= sum * sum)) << bit;
                if (what != BALLS_SCAN_NEAR_AND_COVERS) continue;
                carom_f32v sure = wide - BALLS_SURE_SLACKS * CAROM_BALLS_SLACK;
                m.doubt |= (uint64_t)carom_lanes_of(larger & (squared <= wide * wide)) << bit;
                m.sure |= (uint64_t)carom_lanes_of((sure > 0.0f) & (squared <= sure * sure)) << bit;
            }
        }
        w->hit_count =
            balls_cpu_append(m.hits, m.first, sphere, w->hit_sphere, w->hit_entry, w->hit_count);
        if (what != BALLS_SCAN_NEAR_AND_COVERS) continue;
        m.sure &= covers_decide ? m.doubt : 0;
        flag_all(lookup, w, sphere, &m);
        w->doubt_count = balls_cpu_append(m.doubt & ~m.sure, m.first, sphere, w->doubt_sphere,
                                          w->doubt_entry, w->doubt_count);
    }
}

#define SCAN_AHEAD 4u /* visits whose first block is fetched before it is scanned */

static inline void fetch(const carom_balls_block *block) {
    const char *at = (const char *)block;
    for (uint32_t line = 0; line < sizeof(*block); line += BALLS_LINE_BYTES)
        __builtin_prefetch(at + line);
}

/* Scans the buckets of all visits, a piece at a time. */
CAROM_SIMD bool balls_cpu_scan_all(const carom_balls_lookup *lookup, carom_balls_worker *w,
                                   int what) {
    for (uint32_t i = 0; i < w->visit_count; ++i) {
        const carom_balls_visit *v = &w->visit[i];
        uint32_t next = i + SCAN_AHEAD < w->visit_count ? i + SCAN_AHEAD : i;
        fetch(&lookup->grid->blocks[w->visit[next].at]);
        for (uint32_t at = v->at; at < v->end; at += BALLS_CPU_BLOCKS_PER_SCAN) {
            uint32_t most = CAROM_MAX(w->hit_count, w->doubt_count);
            if (most > CAROM_BALLS_HITS - BALLS_CPU_BLOCKS_PER_SCAN * CAROM_BALLS_BLOCK &&
                !balls_cpu_flush(lookup, w))
                return false;
            balls_cpu_scan(lookup, w, v, at, CAROM_MIN(v->end, at + BALLS_CPU_BLOCKS_PER_SCAN),
                           what);
            CAROM_ASSERT(w->hit_count <= CAROM_BALLS_HITS && w->doubt_count <= CAROM_BALLS_HITS);
        }
    }
    return true;
}

static bool scan_near(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    return balls_cpu_scan_all(lookup, w, BALLS_SCAN_NEAR);
}

static bool scan_near_and_covers(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    return balls_cpu_scan_all(lookup, w, BALLS_SCAN_NEAR_AND_COVERS);
}

static bool scan_wide(const carom_balls_lookup *lookup, carom_balls_worker *w) {
    return balls_cpu_scan_all(lookup, w, BALLS_SCAN_REACHES);
}

bool CAROM_CPU(carom_balls_look_up)(const carom_balls_lookup *lookup, uint32_t first, uint32_t end,
                                    carom_balls_worker *w) {
    CAROM_ASSERT(end <= lookup->from->count);
    for (; first < end; first += CAROM_BALLS_BATCH) {
        uint32_t count = CAROM_MIN(end - first, CAROM_BALLS_BATCH);
        w->hit_count = w->doubt_count = 0;
        balls_cpu_pose(lookup, first, count, w);
        balls_cpu_measure(lookup, count, w);
        list_visits(lookup, count, w);
        bool go_on = lookup->wide     ? scan_wide(lookup, w)
                     : lookup->bounds ? scan_near_and_covers(lookup, w)
                                      : scan_near(lookup, w);
        if (!go_on || !balls_cpu_flush(lookup, w)) return false;
    }
    return true;
}
