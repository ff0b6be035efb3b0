/* SPDX-License-Identifier: MIT */
/* Searches of two sphere trees.
 *
 * Overlap: pairs of nodes, from the roots down, depth first. Of a pair of nodes the lanes of the
 * moving tree are brought to the fixed tree's frame; fixed lanes that meet the moving ball are
 * compared with all sixteen at a time; pairs of lanes that meet are the next pairs of nodes. Of two
 * leaves, pairs of spheres go to a batch that computes their lenses in doubles.
 *
 * Distance: branch and bound (tree_descent.h) on the balls of nodes. Both gaps, of inner balls and
 * of covers, are sought at once.
 *
 * Comparisons are in float32 with a margin, so that nothing is missed; doubles decide. The
 * hierarchy and Algorithm 1 are those of Weller and Zachmann, Inner Sphere Trees (2009). */
#include "tree/tree_cpu.h"

#include "base/assert.h"
#include "base/simd.h"

/* Sixteen balls in the fixed tree's frame. */
typedef struct tree_cpu_lanes {
    float x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
} tree_cpu_lanes;

/* ---- Lanes in one frame ---------------------------------------------------------------------- */

CAROM_SIMD void pose_lanes(const carom_tree_posed_pair *p, const float *from_x, const float *from_y,
                           const float *from_z, tree_cpu_lanes *to) {
    const float *m = p->turn;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(&from_x[i]), y = carom_f32v_load(&from_y[i]);
        carom_f32v z = carom_f32v_load(&from_z[i]);
        carom_f32v_store(&to->x[i], m[0] * x + m[1] * y + m[2] * z + p->move[0]);
        carom_f32v_store(&to->y[i], m[3] * x + m[4] * y + m[5] * z + p->move[1]);
        carom_f32v_store(&to->z[i], m[6] * x + m[7] * y + m[8] * z + p->move[2]);
    }
}

/* Lanes whose balls of the given radii, times `scale`, may meet a ball; the margin is in its
 * radius. */
CAROM_SIMD carom_lanes tree_cpu_meet(const float *x, const float *y, const float *z,
                                     const float *radius, float scale, const carom_tree_ball *b) {
    carom_lanes found = 0;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&x[i]) - b->x, dy = carom_f32v_load(&y[i]) - b->y;
        carom_f32v dz = carom_f32v_load(&z[i]) - b->z;
        carom_f32v sum = carom_f32v_load(&radius[i]) * scale + b->radius;
        found |= carom_lanes_of(dx * dx + dy * dy + dz * dz <= sum * sum) << i;
    }
    return found;
}

/* ---- Leaves in doubles ----------------------------------------------------------------------- */

/* carom_spheres_pose_sphere for the lanes of a leaf; inner radii and covers only with `bounds`. */
static const carom_tree_posed *pose_leaf(carom_tree_side *side, uint32_t leaf, bool bounds) {
    carom_tree_posed *to =
        side->cache != NULL ? &side->cache[leaf % CAROM_TREE_POSED] : &side->posed;
    CAROM_ASSERT(leaf < side->tree->leaf_count);
    if (to->leaf == leaf) return to;
    const carom_tree_leaf *from = &side->tree->leaves[leaf];
    const carom_spheres_transform *transform = side->transform;
    const double *r = transform->frame.r;
    to->leaf = leaf;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(&from->x[i]) * transform->scale;
        carom_f64v y = carom_f64v_load(&from->y[i]) * transform->scale;
        carom_f64v z = carom_f64v_load(&from->z[i]) * transform->scale;
        carom_f64v_store(&to->x[i], ((r[0] * x + r[1] * y) + r[2] * z) + transform->frame.t.x);
        carom_f64v_store(&to->y[i], ((r[3] * x + r[4] * y) + r[5] * z) + transform->frame.t.y);
        carom_f64v_store(&to->z[i], ((r[6] * x + r[7] * y) + r[8] * z) + transform->frame.t.z);
        carom_f64v_store(&to->secondary[i],
                         carom_f64v_load(&from->secondary[i]) * transform->scale);
        if (!bounds) continue;
        carom_f64v cover = carom_f64v_load(&from->cover[i]);
        carom_f64v_store(&to->radius[i], carom_f64v_load(&from->radius[i]) * transform->scale);
        carom_f64v_store(&to->cover[i],
                         (cover * transform->scale + 2.0 * transform->slack) * CAROM_SPHERES_UP);
    }
    return to;
}

/* Appends lanes of a posed leaf to one side of a batch; radii only where they are needed. */
CAROM_SIMD void append_lanes(carom_spheres_side *to, uint32_t at, const carom_tree_posed *from,
                             carom_lanes set, bool radii) {
#if CAROM_LANES == 16
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES64) {
        carom_lanes some = set >> i & ((1u << CAROM_LANES64) - 1u);
        if (some == 0) continue;
#define COLUMN(name)                                                                               \
    carom_f64v_store(&to->name[at], carom_f64v_compress(carom_f64v_load(&from->name[i]), some))
        COLUMN(x);
        COLUMN(y);
        COLUMN(z);
        COLUMN(secondary);
        if (radii) COLUMN(radius);
#undef COLUMN
        at += (uint32_t)__builtin_popcount(some);
    }
#else
    for (; set != 0; set &= set - 1, ++at) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        to->x[at] = from->x[lane];
        to->y[at] = from->y[lane];
        to->z[at] = from->z[lane];
        to->secondary[at] = from->secondary[lane];
        if (radii) to->radius[at] = from->radius[lane];
    }
#endif
}

/* Appends one lane `count` times. */
CAROM_SIMD void append_lane(carom_spheres_side *to, uint32_t at, const carom_tree_posed *from,
                            uint32_t lane, uint32_t count, bool radii) {
    for (uint32_t i = 0; i < count; i += CAROM_LANES64) {
        carom_f64v_store(&to->x[at + i], carom_f64v_splat(from->x[lane]));
        carom_f64v_store(&to->y[at + i], carom_f64v_splat(from->y[lane]));
        carom_f64v_store(&to->z[at + i], carom_f64v_splat(from->z[lane]));
        carom_f64v_store(&to->secondary[at + i], carom_f64v_splat(from->secondary[lane]));
        if (radii) carom_f64v_store(&to->radius[at + i], carom_f64v_splat(from->radius[lane]));
    }
}

/* ---- Overlap --------------------------------------------------------------------------------- */

static void mark_slot(carom_tree_side *side, uint32_t slot) {
    side->inner[slot / CAROM_TREE_WIDTH] |= (uint16_t)(1u << slot % CAROM_TREE_WIDTH);
}

static void mark_inner(carom_tree_overlap_search *s, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!(s->batch->inner[i] > 0.0)) continue;
        mark_slot(&s->fixed, s->fixed_slots[i]);
        mark_slot(&s->moving, s->moving_slots[i]);
    }
}

/* The direction from a sphere to its nearest face, in the world. */
static carom_vec3 tree_cpu_outward_of(const carom_tree_side *side, uint32_t slot) {
    const float *d = side->tree->outward + 3 * (uint64_t)slot;
    return carom_frame_turn(&side->transform->frame,
                            carom_vec((double)d[0], (double)d[1], (double)d[2]));
}

/* Adds the directions of pairs, each with a weight between -1 and 1 (tree.h). */
static void add_flipped(carom_tree_overlap_search *s, uint32_t count) {
    const carom_spheres_side *a = &s->batch->a, *b = &s->batch->b;
    for (uint32_t i = 0; i < count; ++i) {
        carom_ball ball_a = {carom_vec(a->x[i], a->y[i], a->z[i]), a->secondary[i]};
        carom_ball ball_b = {carom_vec(b->x[i], b->y[i], b->z[i]), b->secondary[i]};
        carom_spheres_term term;
        if (!carom_spheres_pair(&ball_a, &ball_b, s->posed->world.pivot, &term)) continue;
        carom_vec3 of_fixed = tree_cpu_outward_of(&s->fixed, s->fixed_slots[i]);
        carom_vec3 of_moving = tree_cpu_outward_of(&s->moving, s->moving_slots[i]);
        carom_vec3 way = s->posed->swapped ? carom_vec_sub(of_moving, of_fixed)
                                           : carom_vec_sub(of_fixed, of_moving);
        carom_vec3 apart = carom_vec_sub(ball_b.centre, ball_a.centre);
        double weight = carom_tree_flip_weight(apart, way);
        term.direction = carom_vec_scale(term.direction, weight);
        carom_spheres_add_vec(s->flipped, term.direction, &s->posed->world.scales.direction);
    }
}

static void flush(carom_tree_overlap_search *s) {
    uint32_t count = s->batch->count;
    CAROM_ASSERT(count <= CAROM_SPHERES_BATCH);
    s->budget.candidates += count;
    CAROM_CPU(carom_spheres_batch_add)(s->batch, &s->posed->world, s->bounds, &s->totals);
    if (s->slots) mark_inner(s, count);
    if (s->flip) add_flipped(s, count);
    if (!s->narrow) return;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t units = (uint64_t)(int64_t)(s->batch->inner[i] * s->units);
        CAROM_ASSERT(s->batch->inner[i] >= 0.0 && units <= CAROM_TREE_LENS_UNITS);
        s->fixed.sums[s->fixed_slots[i]] += units;
        s->moving.sums[s->moving_slots[i]] += units;
    }
}

/* Clears the sums of a leaf at its first pair. */
static inline void begin_sums(carom_tree_side *side, uint32_t leaf) {
    if (side->marks[leaf].summed != 0) return;
    side->marks[leaf].summed = 1;
    memset(&side->sums[leaf * CAROM_TREE_WIDTH], 0, CAROM_TREE_WIDTH * sizeof(*side->sums));
}

CAROM_SIMD void add_slots(carom_tree_overlap_search *s, uint32_t fixed_leaf, uint32_t lane,
                          uint32_t moving_leaf, carom_lanes set) {
    uint32_t at = s->batch->count, first = moving_leaf * CAROM_TREE_WIDTH;
    if (s->narrow) {
        begin_sums(&s->fixed, fixed_leaf);
        begin_sums(&s->moving, moving_leaf);
    }
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_lanes some = set >> i & ((1u << CAROM_LANES) - 1u);
        at += carom_lanes_list(some, first + i, &s->moving_slots[at]);
    }
    carom_u32v slot = carom_u32v_splat(fixed_leaf * CAROM_TREE_WIDTH + lane);
    for (uint32_t i = s->batch->count; i < at; i += CAROM_LANES)
        carom_u32v_store(&s->fixed_slots[i], slot);
}

/* Gives a fixed sphere with moving spheres to the batch. */
CAROM_SIMD void tree_cpu_add_pairs(carom_tree_overlap_search *s, uint32_t fixed_leaf, uint32_t lane,
                                   uint32_t moving_leaf, carom_lanes set, bool bounds) {
    carom_spheres_batch *batch = s->batch;
    uint32_t count = (uint32_t)__builtin_popcount(set);
    if (batch->count + CAROM_TREE_WIDTH > CAROM_SPHERES_BATCH) flush(s);
    const carom_tree_posed *h = pose_leaf(&s->fixed, fixed_leaf, bounds);
    const carom_tree_posed *g = pose_leaf(&s->moving, moving_leaf, bounds);
    if (s->narrow || s->slots || s->flip) add_slots(s, fixed_leaf, lane, moving_leaf, set);
    append_lane(s->posed->swapped ? &batch->b : &batch->a, batch->count, h, lane, count, bounds);
    append_lanes(s->posed->swapped ? &batch->a : &batch->b, batch->count, g, set, bounds);
    batch->count += count;
}

/* Sets the flags of a fixed sphere and of moving spheres whose covers surely or perhaps meet it. */
static void set_flags(carom_tree_overlap_search *s, uint32_t fixed_leaf, uint32_t lane,
                      uint32_t moving_leaf, carom_lanes sure, carom_lanes perhaps) {
    uint16_t *fixed = &s->fixed.marks[fixed_leaf].flagged;
    uint16_t *moving = &s->moving.marks[moving_leaf].flagged;
    if (sure != 0) {
        *fixed |= (uint16_t)(1u << lane);
        *moving |= (uint16_t)sure;
    }
    perhaps &= ~sure;
    for (; perhaps != 0; perhaps &= perhaps - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(perhaps);
        if ((*fixed >> lane & 1) != 0 && (*moving >> other & 1) != 0) continue;
        const carom_tree_posed *h = pose_leaf(&s->fixed, fixed_leaf, true);
        const carom_tree_posed *g = pose_leaf(&s->moving, moving_leaf, true);
        carom_spheres_posed a = {carom_vec(h->x[lane], h->y[lane], h->z[lane]), 0.0, 0.0,
                                 h->cover[lane]};
        carom_spheres_posed b = {carom_vec(g->x[other], g->y[other], g->z[other]), 0.0, 0.0,
                                 g->cover[other]};
        if (!carom_spheres_covers_meet(&a, &b)) continue;
        *fixed |= (uint16_t)(1u << lane);
        *moving |= (uint16_t)(1u << other);
    }
}

/* Marks what is inside. Covers of the fixed lane and of moving ones in the set may meet. */
CAROM_SIMD void set_inside(carom_tree_overlap_search *s, uint32_t fixed_leaf, uint32_t lane,
                           uint32_t moving_leaf, const tree_cpu_lanes *at, carom_lanes set) {
    uint32_t fixed = s->fixed.tree->inner_count + fixed_leaf;
    const carom_tree_node *h = &s->fixed.tree->nodes[fixed];
    const carom_tree_node *g = &s->moving.tree->nodes[s->moving.tree->inner_count + moving_leaf];
    const float *moving_depth = s->moving.tree->leaves[moving_leaf].depth;
    float depth = s->fixed.tree->leaves[fixed_leaf].depth[lane] - s->posed->margin;
    float cover = h->cover[lane] + s->posed->margin, scale = s->posed->scale,
          less = scale * (1.0f - CAROM_TREE_FLOAT_SLACK);
    carom_lanes holds_fixed = 0, held = 0;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(&at->x[i]) - h->x[lane];
        carom_f32v y = carom_f32v_load(&at->y[i]) - h->y[lane];
        carom_f32v z = carom_f32v_load(&at->z[i]) - h->z[lane], zero = carom_f32v_splat(0.0f);
        carom_f32v apart = x * x + y * y + z * z;
        carom_f32v spare = carom_f32v_load(&moving_depth[i]) * less - cover;
        carom_f32v room = depth - carom_f32v_load(&g->cover[i]) * scale;
        holds_fixed |= carom_lanes_of((spare > zero) & (apart <= spare * spare)) << i;
        held |= carom_lanes_of((room > zero) & (apart <= room * room)) << i;
    }
    carom_tree_marks *mh = &s->fixed.marks[fixed_leaf], *mg = &s->moving.marks[moving_leaf];
    uint16_t bit = (uint16_t)(1u << lane);
    if ((holds_fixed & set) != 0) mh->inside |= bit;
    mg->inside |= (uint16_t)(held & set);
    mg->marked |= (uint16_t)(set & ~holds_fixed);
    if ((set & ~held) != 0) mh->marked |= bit;
}

/* Two leaves; `set` are the fixed lanes that meet the moving ball. */
CAROM_SIMD void visit_leaves(carom_tree_overlap_search *s, uint32_t fixed, uint32_t moving,
                             carom_lanes set, bool bounds) {
    const carom_tree_node *h = &s->fixed.tree->nodes[fixed], *g = &s->moving.tree->nodes[moving];
    uint32_t fixed_leaf = fixed - s->fixed.tree->inner_count;
    uint32_t moving_leaf = moving - s->moving.tree->inner_count;
    bool odd = s->fixed.tree->odd_covers || s->moving.tree->odd_covers;
    tree_cpu_lanes at;
    pose_lanes(s->posed, g->x, g->y, g->z, &at);
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        carom_tree_ball b = {h->x[lane], h->y[lane], h->z[lane], h->reach[lane] + s->posed->margin,
                             0};
        carom_lanes pairs = tree_cpu_meet(at.x, at.y, at.z, g->reach, s->posed->scale, &b);
        if (pairs != 0) tree_cpu_add_pairs(s, fixed_leaf, lane, moving_leaf, pairs, bounds);
        if (!bounds) continue;
        b.radius = h->cover[lane] + s->posed->margin;
        carom_lanes perhaps = tree_cpu_meet(at.x, at.y, at.z, g->cover, s->posed->scale, &b);
        if (perhaps == 0) continue;
        /* Both radii were rounded up, by less than the margin, and distances are off by it. */
        b.radius = h->cover[lane] - 4.0f * s->posed->margin;
        carom_lanes sure = b.radius > 0.0f && !odd
                               ? tree_cpu_meet(at.x, at.y, at.z, g->cover, s->posed->scale, &b)
                               : 0;
        CAROM_ASSERT((sure & ~perhaps) == 0); /* the margin is on the right side */
        set_flags(s, fixed_leaf, lane, moving_leaf, sure, perhaps);
        if (s->narrow) set_inside(s, fixed_leaf, lane, moving_leaf, &at, perhaps);
    }
}

/* Marks a node that is taken as a whole. */
static void take_whole(carom_tree_side *side, uint32_t node) {
    if (side->coarse[node] != 0) return;
    side->coarse[node] = 1;
    side->coarse_volume += side->tree->volumes[node];
    /* No node is below another one of these: all are at one depth, or leaves above it. */
    CAROM_ASSERT(side->coarse_volume <= side->tree->volumes[0] * (1.0 + CAROM_TREE_SLACK));
}

/* Takes two nodes as a whole, as if the shares below were spread evenly over their balls: the
 * densities of both times the lens. */
static void visit_whole(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                        const carom_tree_ball *moving) {
    s->whole = true;
    take_whole(&s->fixed, fixed->node);
    take_whole(&s->moving, moving->node);
    double back = 1.0 / s->posed->to_frame, cube = CAROM_PI * 4.0 / 3.0 * back * back * back;
    double rh = (double)fixed->radius, rg = (double)moving->radius;
    double size_h = s->fixed.transform->scale, size_g = s->moving.transform->scale;
    double density = s->fixed.tree->volumes[fixed->node] * (size_h * size_h * size_h) /
                     (cube * rh * rh * rh) * s->moving.tree->volumes[moving->node] *
                     (size_g * size_g * size_g) / (cube * rg * rg * rg);
    carom_vec3 apart =
        carom_vec((double)moving->x - (double)fixed->x, (double)moving->y - (double)fixed->y,
                  (double)moving->z - (double)fixed->z);
    double d = carom_vec_length(apart);
    carom_lens_shape lens = carom_lens_at(rh, rg, d);
    s->rest.volume += lens.volume * back * back * back * density;
    double pull = d > 0.0 ? lens.area * back * back * density / d : 0.0;
    s->rest.force = carom_vec_add(s->rest.force, carom_vec_scale(apart, pull));
}

/* carom_tree_moment_lens of several pairs; two radii of 0 give 0, not NaN. */
CAROM_SIMD carom_f32v tree_cpu_lens(carom_f32v r, carom_f32v radius, carom_f32v d) {
    carom_f32v zero = carom_f32v_splat(0.0f);
    carom_f32v sum = radius + r, difference = carom_f32v_abs(radius - r);
    d = carom_f32v_max(carom_f32v_max(d, difference), CAROM_TREE_LEAST_APART * sum);
    carom_f32v depth = carom_f32v_max(sum - d, zero);
    carom_f32v square = d * (d + 2.0f * sum) - 3.0f * (difference * difference);
    return CAROM_TREE_LENS_FACTOR * (depth * depth) * square /
           carom_f32v_max(d, zero + CAROM_TREE_LEAST_LENGTH);
}

/* The lenses of one moment with those of sixteen lanes, times all densities. `scale` is of the
 * radii of lanes. */
CAROM_SIMD void tree_cpu_weigh(const carom_tree_moment *one, const float *x, const float *y,
                               const float *z, const carom_tree_moment_lanes *lanes, float scale,
                               float weights[CAROM_TREE_WIDTH]) {
    carom_f32v zero = carom_f32v_splat(0.0f), own = carom_f32v_splat(one->radius);
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&x[i]) - one->x, dy = carom_f32v_load(&y[i]) - one->y;
        carom_f32v dz = carom_f32v_load(&z[i]) - one->z;
        carom_f32v lens = tree_cpu_lens(own, carom_f32v_load(&lanes->radius[i]) * scale,
                                        carom_f32v_sqrt(dx * dx + dy * dy + dz * dz));
        carom_f32v density = carom_f32v_load(&lanes->density[i]) * one->density;
        carom_f32v_store(&weights[i], carom_f32v_max(lens * density, zero));
    }
}

/* Whether pairs are weighed when they are found. */
CAROM_SIMD bool tree_cpu_weighs(const carom_tree_overlap_search *s) {
    return s->frontier != NULL && s->frontier->weighed;
}

/* A moment of the moving tree in the fixed tree's frame. */
static carom_tree_moment tree_cpu_pose_moment(const carom_tree_posed_pair *p, carom_tree_moment m) {
    const float *t = p->turn;
    return (carom_tree_moment){t[0] * m.x + t[1] * m.y + t[2] * m.z + p->move[0],
                               t[3] * m.x + t[4] * m.y + t[5] * m.z + p->move[1],
                               t[6] * m.x + t[7] * m.y + t[8] * m.z + p->move[2],
                               m.radius * p->scale, m.density};
}

static carom_tree_moment tree_cpu_lane_moment(const carom_tree_moment_lanes *l, uint32_t lane) {
    return (carom_tree_moment){l->x[lane], l->y[lane], l->z[lane], l->radius[lane],
                               l->density[lane]};
}

static void tree_cpu_visit(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                           const carom_tree_ball *moving, uint32_t level);

/* Two nodes that meet, `level` steps below the roots: they are opened now, or wait. */
CAROM_SIMD void tree_cpu_follow(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                                const carom_tree_ball *moving, uint32_t level, float weight) {
    if (s->frontier == NULL) {
        tree_cpu_visit(s, fixed, moving, level);
        return;
    }
    bool fixed_leaf = carom_tree_is_leaf(s->fixed.tree, fixed->node);
    bool moving_leaf = carom_tree_is_leaf(s->moving.tree, moving->node);
    carom_tree_frontier_add(s->frontier, fixed_leaf && !moving_leaf ? fixed : moving, fixed->node,
                            moving->node, fixed_leaf && moving_leaf, weight);
}

/* A leaf of the fixed tree and an inner node of the moving one. */
static void tree_cpu_open_moving(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                                 const carom_tree_node *g, uint32_t node, const float *radii,
                                 uint32_t level) {
    carom_tree_ball wide = {fixed->x, fixed->y, fixed->z, fixed->radius + s->posed->margin, 0};
    tree_cpu_lanes at, middles;
    float weights[CAROM_TREE_WIDTH] = {0.0f};
    pose_lanes(s->posed, g->x, g->y, g->z, &at);
    carom_lanes set = tree_cpu_meet(at.x, at.y, at.z, radii, s->posed->scale, &wide);
    if (tree_cpu_weighs(s) && set != 0) {
        const carom_tree_moment_lanes *lanes = &s->moving.tree->moment_lanes[node];
        pose_lanes(s->posed, lanes->x, lanes->y, lanes->z, &middles);
        tree_cpu_weigh(&s->fixed.tree->moments[fixed->node], middles.x, middles.y, middles.z, lanes,
                       s->posed->scale, weights);
    }
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        carom_tree_ball next = {at.x[lane], at.y[lane], at.z[lane], radii[lane] * s->posed->scale,
                                g->child[lane]};
        tree_cpu_follow(s, fixed, &next, level + 1, weights[lane]);
    }
}

/* An inner node of the fixed tree and a leaf of the moving one; `set` are the fixed lanes that
 * meet it. */
static void tree_cpu_open_fixed(carom_tree_overlap_search *s, const carom_tree_node *h,
                                uint32_t node, const float *radii, const carom_tree_ball *moving,
                                carom_lanes set, uint32_t level) {
    float weights[CAROM_TREE_WIDTH] = {0.0f};
    if (tree_cpu_weighs(s) && set != 0) {
        const carom_tree_moment_lanes *lanes = &s->fixed.tree->moment_lanes[node];
        carom_tree_moment one =
            tree_cpu_pose_moment(s->posed, s->moving.tree->moments[moving->node]);
        tree_cpu_weigh(&one, lanes->x, lanes->y, lanes->z, lanes, 1.0f, weights);
    }
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        carom_tree_ball next = {h->x[lane], h->y[lane], h->z[lane], radii[lane], h->child[lane]};
        tree_cpu_follow(s, &next, moving, level + 1, weights[lane]);
    }
}

/* Two inner nodes. */
static void tree_cpu_open_both(carom_tree_overlap_search *s, uint32_t fixed, uint32_t moving,
                               carom_lanes set, uint32_t level) {
    const carom_tree_node *h = &s->fixed.tree->nodes[fixed], *g = &s->moving.tree->nodes[moving];
    const float *fixed_radii = s->bounds ? h->cover : h->reach;
    const float *moving_radii = s->bounds ? g->cover : g->reach;
    const carom_tree_moment_lanes *of_fixed = NULL, *of_moving = NULL;
    float scale = s->posed->scale, weights[CAROM_TREE_WIDTH] = {0.0f};
    tree_cpu_lanes at, posed;
    const tree_cpu_lanes *middles = &at;
    pose_lanes(s->posed, g->x, g->y, g->z, &at);
    if (tree_cpu_weighs(s)) {
        of_fixed = &s->fixed.tree->moment_lanes[fixed];
        of_moving = &s->moving.tree->moment_lanes[moving];
        pose_lanes(s->posed, of_moving->x, of_moving->y, of_moving->z, &posed);
        middles = &posed;
    }
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        carom_tree_ball next = {h->x[lane], h->y[lane], h->z[lane], fixed_radii[lane],
                                h->child[lane]};
        carom_tree_ball near = next;
        near.radius += s->posed->margin;
        carom_lanes pairs = tree_cpu_meet(at.x, at.y, at.z, moving_radii, scale, &near);
        if (pairs != 0 && of_fixed != NULL) {
            carom_tree_moment one = tree_cpu_lane_moment(of_fixed, lane);
            tree_cpu_weigh(&one, middles->x, middles->y, middles->z, of_moving, scale, weights);
        }
        for (; pairs != 0; pairs &= pairs - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(pairs);
            carom_tree_ball child = {at.x[other], at.y[other], at.z[other],
                                     moving_radii[other] * scale, g->child[other]};
            tree_cpu_follow(s, &next, &child, level + 1, weights[other]);
        }
    }
}

/* Compares the children of two nodes. */
static void tree_cpu_open(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                          const carom_tree_ball *moving, uint32_t level) {
    const carom_tree_node *h = &s->fixed.tree->nodes[fixed->node];
    const carom_tree_node *g = &s->moving.tree->nodes[moving->node];
    bool fixed_leaf = carom_tree_is_leaf(s->fixed.tree, fixed->node);
    bool moving_leaf = carom_tree_is_leaf(s->moving.tree, moving->node);
    const float *fixed_radii = s->bounds ? h->cover : h->reach;
    ++s->budget.visits;
    CAROM_ASSERT(s->budget.visits <= s->budget.most_visits);
    CAROM_ASSERT(level < s->fixed.tree->depth + s->moving.tree->depth);
    if (fixed_leaf && !moving_leaf) {
        tree_cpu_open_moving(s, fixed, g, moving->node, s->bounds ? g->cover : g->reach, level);
        return;
    }
    carom_tree_ball wide = {moving->x, moving->y, moving->z, moving->radius + s->posed->margin, 0};
    carom_lanes set = tree_cpu_meet(h->x, h->y, h->z, fixed_radii, 1.0f, &wide);
    if (fixed_leaf)
        visit_leaves(s, fixed->node, moving->node, set, s->bounds);
    else if (moving_leaf)
        tree_cpu_open_fixed(s, h, fixed->node, fixed_radii, moving, set, level);
    else
        tree_cpu_open_both(s, fixed->node, moving->node, set, level);
}

/* Two nodes with their balls, which meet, `level` steps below the roots. */
static void tree_cpu_visit(carom_tree_overlap_search *s, const carom_tree_ball *fixed,
                           const carom_tree_ball *moving, uint32_t level) {
    /* Level 0, the roots as a whole, is the least answer: it is given when a budget is over, too.
     */
    if (s->levels != 0 && (s->budget.stopped || carom_tree_must_stop(&s->budget))) return;
    if (level >= s->levels && !(carom_tree_is_leaf(s->fixed.tree, fixed->node) &&
                                carom_tree_is_leaf(s->moving.tree, moving->node)))
        visit_whole(s, fixed, moving);
    else
        tree_cpu_open(s, fixed, moving, level);
}

/* The ball of a root; the moving one's is in the fixed tree's frame. */
static carom_tree_ball tree_cpu_root(const carom_tree_posed_pair *p, bool moving, double radius) {
    const carom_tree *tree = moving ? p->moving : p->fixed;
    float x = (float)tree->centre.x, y = (float)tree->centre.y, z = (float)tree->centre.z;
    const float *m = p->turn;
    carom_tree_ball b = {x, y, z, (float)radius * (1.0f + CAROM_TREE_FLOAT_SLACK), 0};
    if (!moving) return b;
    b.x = m[0] * x + m[1] * y + m[2] * z + p->move[0];
    b.y = m[3] * x + m[4] * y + m[5] * z + p->move[1];
    b.z = m[6] * x + m[7] * y + m[8] * z + p->move[2];
    b.radius *= p->scale;
    return b;
}

/* The balls of both roots. */
static void tree_cpu_roots(const carom_tree_overlap_search *s, carom_tree_ball *fixed,
                           carom_tree_ball *moving) {
    const carom_tree *h = s->fixed.tree, *g = s->moving.tree;
    *fixed = tree_cpu_root(s->posed, false, s->bounds ? h->cover : h->reach);
    *moving = tree_cpu_root(s->posed, true, s->bounds ? g->cover : g->reach);
}

void CAROM_CPU(carom_tree_search_overlap)(carom_tree_overlap_search *s) {
    s->batch->count = 0;
    if (s->posed->apart) return;
    carom_tree_ball fixed, moving;
    tree_cpu_roots(s, &fixed, &moving);
    tree_cpu_visit(s, &fixed, &moving, 0);
    if (!s->budget.stopped) flush(s);
}

void CAROM_CPU(carom_tree_open_roots)(carom_tree_overlap_search *s) {
    carom_tree_ball fixed, moving;
    s->batch->count = 0;
    if (s->posed->apart) return;
    tree_cpu_roots(s, &fixed, &moving);
    const carom_tree_moment *h = &s->fixed.tree->moments[0];
    carom_tree_moment g = tree_cpu_pose_moment(s->posed, s->moving.tree->moments[0]);
    float density = h->density * g.density;
    /* No pair is heavier than the smaller of both as a whole. */
    float least = CAROM_MIN(h->radius, g.radius);
    s->frontier->top = carom_tree_half_power(carom_tree_moment_lens(least, least, 0.0f) * density);
    tree_cpu_follow(s, &fixed, &moving, 0, 0.0f);
}

void CAROM_CPU(carom_tree_open_pair)(carom_tree_overlap_search *s, const carom_tree_waiting *pair) {
    carom_tree_ball fixed = {pair->x, pair->y, pair->z, pair->radius, pair->fixed};
    carom_tree_ball moving = {pair->x, pair->y, pair->z, pair->radius, pair->moving};
    tree_cpu_open(s, &fixed, &moving, 0);
}

uint32_t CAROM_CPU(carom_tree_open_leaves)(carom_tree_overlap_search *s, uint32_t from,
                                           float least) {
    carom_tree_frontier *f = s->frontier;
    uint64_t most = CAROM_MIN(s->budget.most_visits, s->budget.look_at);
    CAROM_ASSERT(!s->bounds);
    for (; from < f->count; ++from) {
        carom_tree_waiting *pair = &f->pairs[from];
        if (!(pair->weight >= least)) continue; /* light, or opened before */
        if (s->budget.visits >= most) break;
        carom_tree_ball wide = {pair->x, pair->y, pair->z, pair->radius + s->posed->margin, 0};
        const carom_tree_node *h = &s->fixed.tree->nodes[pair->fixed];
        ++s->budget.visits;
        visit_leaves(s, pair->fixed, pair->moving,
                     tree_cpu_meet(h->x, h->y, h->z, h->reach, 1.0f, &wide), false);
        carom_tree_frontier_remove(f, &f->leaves, pair);
    }
    return from;
}

void CAROM_CPU(carom_tree_flush_pairs)(carom_tree_overlap_search *s) {
    flush(s);
}

/* Weighs up to sixteen pairs: carom_tree_moment_lens, times both densities. */
CAROM_SIMD void tree_cpu_weigh_some(const carom_tree_overlap_search *s, const uint32_t *pairs,
                                    uint32_t count, float weights[CAROM_TREE_WIDTH]) {
    const carom_tree_posed_pair *p = s->posed;
    tree_cpu_lanes apart = {{0}, {0}, {0}}, at;
    carom_tree_moment_lanes lanes = {.density = {0}};
    float radii[CAROM_TREE_WIDTH] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        const carom_tree_waiting *pair = &s->frontier->pairs[pairs[i]];
        const carom_tree_moment *h = &s->fixed.tree->moments[pair->fixed];
        const carom_tree_moment *g = &s->moving.tree->moments[pair->moving];
        lanes.x[i] = g->x;
        lanes.y[i] = g->y;
        lanes.z[i] = g->z;
        lanes.radius[i] = g->radius;
        lanes.density[i] = g->density * h->density;
        apart.x[i] = h->x;
        apart.y[i] = h->y;
        apart.z[i] = h->z;
        radii[i] = h->radius;
    }
    for (uint32_t i = count; i < CAROM_TREE_WIDTH; ++i)
        lanes.x[i] = lanes.y[i] = lanes.z[i] = lanes.radius[i] = 0.0f;
    pose_lanes(p, lanes.x, lanes.y, lanes.z, &at);
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&at.x[i]) - carom_f32v_load(&apart.x[i]);
        carom_f32v dy = carom_f32v_load(&at.y[i]) - carom_f32v_load(&apart.y[i]);
        carom_f32v dz = carom_f32v_load(&at.z[i]) - carom_f32v_load(&apart.z[i]);
        carom_f32v lens =
            tree_cpu_lens(carom_f32v_load(&radii[i]), carom_f32v_load(&lanes.radius[i]) * p->scale,
                          carom_f32v_sqrt(dx * dx + dy * dy + dz * dz));
        carom_f32v_store(&weights[i], carom_f32v_max(lens * carom_f32v_load(&lanes.density[i]),
                                                     carom_f32v_splat(0.0f)));
    }
}

void CAROM_CPU(carom_tree_weigh_pairs)(carom_tree_overlap_search *s, uint64_t most) {
    carom_tree_frontier *f = s->frontier;
    uint32_t some[CAROM_TREE_WIDTH], count = 0;
    float weights[CAROM_TREE_WIDTH];
    if (f->weighed) return;
    f->weighed = true;
    uint64_t waiting = f->inner.count + f->leaves.count;
    uint64_t step = 1 + waiting / most, left = 1; /* neighbours are alike: one for all of a step */
    carom_tree_queue_clear(&f->inner);
    carom_tree_queue_clear(&f->leaves);
    f->weight = 0.0;
    for (uint32_t i = 0; i < f->count; ++i) {
        if (f->pairs[i].weight >= 0.0f && --left == 0) {
            some[count++] = i;
            left = step;
        }
        if (count == 0 || (count < CAROM_TREE_WIDTH && i + 1 < f->count)) continue;
        tree_cpu_weigh_some(s, some, count, weights);
        for (uint32_t k = 0; k < count; ++k) {
            carom_tree_waiting *pair = &f->pairs[some[k]];
            bool leaves = carom_tree_is_leaf(s->fixed.tree, pair->fixed) &&
                          carom_tree_is_leaf(s->moving.tree, pair->moving);
            pair->weight = weights[k];
            carom_tree_queue_put(f, leaves ? &f->leaves : &f->inner, some[k]);
        }
        count = 0;
    }
    uint64_t weighed = f->inner.count + f->leaves.count;
    CAROM_ASSERT(step > 1 || weighed == waiting);
    if (weighed != 0) f->weight *= (double)waiting / (double)weighed;
}

/* ---- Distance -------------------------------------------------------------------------------- */

#define DESCENT(x) tree_gap_##x

typedef carom_tree_gap_search tree_gap_search;

/* A node or a sphere. */
typedef struct tree_gap_piece {
    float x, y, z, radius, cover; /* with the margin in neither radius */
    uint32_t node;                /* CAROM_TREE_NONE: a sphere */
    uint32_t leaf, lane;          /* of a sphere */
} tree_gap_piece;

/* The children of a node: lower bounds of the gaps of inner balls, and of covers. */
typedef struct tree_gap_lanes {
    const carom_tree_node *node;
    const float *x, *y, *z; /* centres in the fixed tree's frame: of the node, or `at` */
    float bounds[CAROM_TREE_WIDTH], covers[CAROM_TREE_WIDTH];
    bool has_covers; /* else no gap of covers is sought any more */
    tree_cpu_lanes at;
} tree_gap_lanes;

/* Sets the limits after a gap was found. */
static void tree_gap_set_limits(carom_tree_gap_search *s) {
    const carom_tree_posed_pair *p = s->posed;
    double least = s->least * p->to_frame - p->offset;
    double cover = s->least_cover * p->to_frame - p->offset;
    s->limit = least > CAROM_TREE_FLOAT_MAX ? HUGE_VALF : (float)least + p->margin;
    s->limit_cover = s->least_cover <= 0.0          ? -HUGE_VALF
                     : cover > CAROM_TREE_FLOAT_MAX ? HUGE_VALF
                                                    : (float)cover + p->margin;
}

CAROM_SIMD bool tree_gap_is_primitive(const tree_gap_piece *p) {
    return p->node == CAROM_TREE_NONE;
}

CAROM_SIMD bool tree_gap_has_answer(const carom_tree_gap_search *s) {
    return s->least < HUGE_VAL;
}

/* Whether floats gave lower bounds of the gaps of two spheres. */
CAROM_TREE_CHECK bool tree_gap_is_bound(const carom_tree_posed_pair *p, const tree_gap_piece *fixed,
                                        const tree_gap_piece *moving, double gap, double cover) {
    float x = moving->x - fixed->x, y = moving->y - fixed->y, z = moving->z - fixed->z;
    float d = p->far ? x * p->toward[0] + y * p->toward[1] + z * p->toward[2]
                     : sqrtf(x * x + y * y + z * z);
    d -= p->margin;
    return (double)(d - fixed->radius - moving->radius) <= gap * p->to_frame - p->offset &&
           (double)(d - fixed->cover - moving->cover) <= cover * p->to_frame - p->offset;
}

/* Two spheres, in doubles. */
static void tree_gap_measure(carom_tree_gap_search *s, const tree_gap_piece *fixed,
                             const tree_gap_piece *moving) {
    const carom_tree_posed *f = pose_leaf(&s->fixed, fixed->leaf, true);
    const carom_tree_posed *m = pose_leaf(&s->moving, moving->leaf, true);
    uint32_t i = fixed->lane, j = moving->lane;
    uint32_t a = s->fixed.tree->nodes[s->fixed.tree->inner_count + fixed->leaf].child[i];
    uint32_t b = s->moving.tree->nodes[s->moving.tree->inner_count + moving->leaf].child[j];
    carom_vec3 apart = carom_vec(m->x[j] - f->x[i], m->y[j] - f->y[i], m->z[j] - f->z[i]);
    double d = carom_vec_length(apart), gap = d - (f->radius[i] + m->radius[j]);
    double cover = d - (f->cover[i] + m->cover[j]);
    CAROM_ASSERT(a != CAROM_TREE_NONE && b != CAROM_TREE_NONE && cover <= gap);
    CAROM_ASSERT(tree_gap_is_bound(s->posed, fixed, moving, gap, cover));
    ++s->budget.candidates;
    if (s->any) {
        double volume = 0.0, error = 0.0;
        s->found = carom_spheres_inner(carom_vec_dot(apart, apart), d, f->radius[i], m->radius[j],
                                       s->posed->world.slack, &volume, &error) &&
                   volume > error;
        return;
    }
    s->found = gap <= 0.0;
    if (s->posed->swapped) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    bool first = a < s->sphere_a || (a == s->sphere_a && b < s->sphere_b);
    if (gap < s->least || (gap == s->least && first)) {
        s->least = gap;
        s->sphere_a = a;
        s->sphere_b = b;
    }
    if (cover < s->least_cover) s->least_cover = cover;
    tree_gap_set_limits(s);
}

/* Bounds the gaps of the children of a piece from another. */
CAROM_SIMD carom_lanes tree_gap_bound(const carom_tree_gap_search *s, const tree_gap_piece *whole,
                                      const tree_gap_piece *other, bool of_moving,
                                      tree_gap_lanes *l) {
    const carom_tree_posed_pair *p = s->posed;
    const carom_tree_node *node = &(of_moving ? s->moving.tree : s->fixed.tree)->nodes[whole->node];
    float scale = of_moving ? p->scale : 1.0f, sign = of_moving ? 1.0f : -1.0f;
    l->node = node;
    l->x = node->x;
    l->y = node->y;
    l->z = node->z;
    l->has_covers = s->limit_cover > -HUGE_VALF;
    if (of_moving) {
        pose_lanes(p, node->x, node->y, node->z, &l->at);
        l->x = l->at.x;
        l->y = l->at.y;
        l->z = l->at.z;
    }
    carom_lanes set = 0;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&l->x[i]) - other->x;
        carom_f32v dy = carom_f32v_load(&l->y[i]) - other->y;
        carom_f32v dz = carom_f32v_load(&l->z[i]) - other->z, d;
        /* A lower bound of the distance of the centres, less the offset. */
        if (p->far)
            d = sign * (dx * p->toward[0] + dy * p->toward[1] + dz * p->toward[2]);
        else
            d = carom_f32v_sqrt(dx * dx + dy * dy + dz * dz);
        d -= p->margin;
        carom_f32v gap = d - carom_f32v_load(&node->radius[i]) * scale - other->radius;
        carom_f32v_store(&l->bounds[i], gap);
        carom_i32v near = gap <= s->limit;
        if (l->has_covers) {
            carom_f32v cover = d - carom_f32v_load(&node->cover[i]) * scale - other->cover;
            carom_f32v_store(&l->covers[i], cover);
            near |= cover <= s->limit_cover;
        }
        set |= carom_lanes_of(near) << i;
    }
    return set;
}

CAROM_SIMD bool tree_gap_is_open(const carom_tree_gap_search *s, const tree_gap_lanes *l,
                                 uint32_t lane) {
    return l->bounds[lane] <= s->limit || (l->has_covers && l->covers[lane] <= s->limit_cover);
}

CAROM_SIMD void tree_gap_defer(carom_tree_gap_search *s, const tree_gap_lanes *l, uint32_t lane) {
    double pending = l->has_covers ? (double)l->covers[lane] : -HUGE_VAL;
    s->pending = CAROM_MIN(pending, s->pending);
}

CAROM_SIMD tree_gap_piece tree_gap_child(const carom_tree_gap_search *s,
                                         const tree_gap_piece *whole, bool of_moving,
                                         const tree_gap_lanes *l, uint32_t lane) {
    const carom_tree *tree = of_moving ? s->moving.tree : s->fixed.tree;
    bool leaf = carom_tree_is_leaf(tree, whole->node);
    CAROM_ASSERT(l->node->child[lane] != CAROM_TREE_NONE); /* lanes past the end are NaN */
    float scale = of_moving ? s->posed->scale : 1.0f;
    return (tree_gap_piece){l->x[lane],
                            l->y[lane],
                            l->z[lane],
                            l->node->radius[lane] * scale,
                            l->node->cover[lane] * scale,
                            leaf ? CAROM_TREE_NONE : l->node->child[lane],
                            leaf ? whole->node - tree->inner_count : 0,
                            lane};
}

#include "tree/tree_descent.h"

void CAROM_CPU(carom_tree_search_gap)(carom_tree_gap_search *s) {
    const carom_tree_posed_pair *p = s->posed;
    const carom_tree *f = p->fixed, *m = p->moving;
    carom_tree_ball a = tree_cpu_root(p, false, f->radius), b = tree_cpu_root(p, true, m->radius);
    tree_gap_piece fixed = {a.x, a.y, a.z, a.radius, (float)f->cover, 0, 0, 0};
    tree_gap_piece moving = {b.x, b.y, b.z, b.radius, (float)m->cover * p->scale, 0, 0, 0};
    tree_gap_set_limits(s);
    if (!s->found) tree_gap_approach(s, &fixed, &moving);
}
