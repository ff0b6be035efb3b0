/* SPDX-License-Identifier: MIT */
/* Searches of two sphere trees.
 *
 * Overlap: pairs of nodes, from the roots down, depth first. Of a pair of nodes the guest's lanes
 * are brought to the host's frame; host lanes that meet the guest's ball are compared with all
 * sixteen at a time; pairs of lanes that meet are the next pairs of nodes. Of two leaves, pairs of
 * spheres go to a batch that computes their lenses in doubles.
 *
 * Distance: pairs of balls; the larger one is replaced by its children, nearest first. What cannot
 * be nearer than the best so far is left out. Both gaps, of inner balls and of covers, are sought
 * at once.
 *
 * Comparisons are in float32 with a margin, so that nothing is missed; doubles decide. */
#include "tree/tree_cpu.h"

#include "base/simd.h"

#define VECTORS (CAROM_TREE_WIDTH / CAROM_LANES)

/* A node's ball and itself. */
typedef struct ball {
    float x, y, z, radius;
    uint32_t node;
} ball;

/* Sixteen balls in the host's frame. */
typedef struct lanes {
    float x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
} lanes;

/* ---- Guests in the host's frame -------------------------------------------------------------- */

CAROM_SIMD void pose_lanes(const carom_tree_search *s, const carom_tree_node *node, lanes *to) {
    const float *m = s->turn;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(&node->x[i]), y = carom_f32v_load(&node->y[i]);
        carom_f32v z = carom_f32v_load(&node->z[i]);
        carom_f32v_store(&to->x[i], m[0] * x + m[1] * y + m[2] * z + s->move[0]);
        carom_f32v_store(&to->y[i], m[3] * x + m[4] * y + m[5] * z + s->move[1]);
        carom_f32v_store(&to->z[i], m[6] * x + m[7] * y + m[8] * z + s->move[2]);
    }
}

/* Lanes whose balls of the given radii, times `scale`, may meet a ball; the margin is in its
 * radius. */
CAROM_SIMD carom_lanes meet(const float *x, const float *y, const float *z, const float *radius,
                            float scale, const ball *b) {
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

/* carom_pack_pose_sphere for the lanes of a leaf. */
static const carom_tree_posed *pose_leaf(carom_tree_side *side, uint32_t leaf) {
    carom_tree_posed *to =
        side->cache != NULL ? &side->cache[leaf % CAROM_TREE_POSED] : &side->posed;
    if (to->leaf == leaf) return to;
    const carom_tree_leaf *from = &side->tree->leaves[leaf];
    const carom_pack_place *place = side->place;
    const double *r = place->frame.r;
    to->leaf = leaf;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(&from->x[i]) * place->scale;
        carom_f64v y = carom_f64v_load(&from->y[i]) * place->scale;
        carom_f64v z = carom_f64v_load(&from->z[i]) * place->scale;
        carom_f64v cover = carom_f64v_load(&from->cover[i]);
        carom_f64v_store(&to->x[i], ((r[0] * x + r[1] * y) + r[2] * z) + place->frame.t.x);
        carom_f64v_store(&to->y[i], ((r[3] * x + r[4] * y) + r[5] * z) + place->frame.t.y);
        carom_f64v_store(&to->z[i], ((r[6] * x + r[7] * y) + r[8] * z) + place->frame.t.z);
        carom_f64v_store(&to->radius[i], carom_f64v_load(&from->radius[i]) * place->scale);
        carom_f64v_store(&to->secondary[i], carom_f64v_load(&from->secondary[i]) * place->scale);
        carom_f64v_store(&to->cover[i],
                         (cover * place->scale + 2.0 * place->slack) * (1.0 + 0x1p-50));
    }
    return to;
}

/* Appends lanes of a posed leaf to one side of a batch; radii only where they are needed. */
CAROM_SIMD void append_lanes(carom_pack_side *to, uint32_t at, const carom_tree_posed *from,
                             carom_lanes set, bool radii) {
#if CAROM_LANES == 16
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += 8) {
        carom_lanes some = set >> i & 0xFFu;
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
CAROM_SIMD void append_lane(carom_pack_side *to, uint32_t at, const carom_tree_posed *from,
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

static void mark_inner(carom_tree_search *s, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!(s->batch->inner[i] > 0.0)) continue;
        mark_slot(&s->host, s->host_slots[i]);
        mark_slot(&s->guest, s->guest_slots[i]);
    }
}

/* The direction from a sphere to its nearest face, in the world. */
static carom_vec3 outward_of(const carom_tree_side *side, uint32_t slot) {
    const float *d = side->tree->outward + 3 * (uint64_t)slot;
    return carom_frame_turn(&side->place->frame,
                            carom_vec((double)d[0], (double)d[1], (double)d[2]));
}

/* Adds the directions of pairs, each with a weight between -1 and 1 (tree.h). */
static void add_flipped(carom_tree_search *s, uint32_t count) {
    const carom_pack_side *a = &s->batch->a, *b = &s->batch->b;
    for (uint32_t i = 0; i < count; ++i) {
        carom_ball ball_a = {carom_vec(a->x[i], a->y[i], a->z[i]), a->secondary[i]};
        carom_ball ball_b = {carom_vec(b->x[i], b->y[i], b->z[i]), b->secondary[i]};
        carom_pack_term term;
        if (!carom_pack_pair(&ball_a, &ball_b, s->meeting->pivot, &term)) continue;
        carom_vec3 of_host = outward_of(&s->host, s->host_slots[i]);
        carom_vec3 of_guest = outward_of(&s->guest, s->guest_slots[i]);
        carom_vec3 way =
            s->swapped ? carom_vec_sub(of_guest, of_host) : carom_vec_sub(of_host, of_guest);
        carom_vec3 apart = carom_vec_sub(ball_b.centre, ball_a.centre);
        double weight = carom_tree_flip_weight(apart, way);
        term.direction = carom_vec_scale(term.direction, weight);
        carom_pack_add_vec(s->flipped, term.direction, &s->meeting->scales.direction);
    }
}

static void flush(carom_tree_search *s) {
    uint32_t count = s->batch->count;
    s->candidates += count;
    CAROM_CPU(carom_pack_batch_add)(s->batch, s->meeting, s->bounds, &s->totals);
    if (s->slots) mark_inner(s, count);
    if (s->flip) add_flipped(s, count);
    if (!s->narrow) return;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t units = (uint64_t)(int64_t)(s->batch->inner[i] * s->units);
        s->host.sums[s->host_slots[i]] += units;
        s->guest.sums[s->guest_slots[i]] += units;
    }
}

/* Clears the sums of a leaf at its first pair. */
static inline void begin_sums(carom_tree_side *side, uint32_t leaf) {
    if (side->marks[leaf].summed != 0) return;
    side->marks[leaf].summed = 1;
    memset(&side->sums[leaf * CAROM_TREE_WIDTH], 0, CAROM_TREE_WIDTH * sizeof(*side->sums));
}

CAROM_SIMD void add_slots(carom_tree_search *s, uint32_t host_leaf, uint32_t lane,
                          uint32_t guest_leaf, carom_lanes set) {
    uint32_t at = s->batch->count, first = guest_leaf * CAROM_TREE_WIDTH;
    if (s->narrow) {
        begin_sums(&s->host, host_leaf);
        begin_sums(&s->guest, guest_leaf);
    }
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_lanes some = set >> i & ((1u << CAROM_LANES) - 1u);
        at += carom_lanes_list(some, first + i, &s->guest_slots[at]);
    }
    carom_u32v slot = carom_u32v_splat(host_leaf * CAROM_TREE_WIDTH + lane);
    for (uint32_t i = s->batch->count; i < at; i += CAROM_LANES)
        carom_u32v_store(&s->host_slots[i], slot);
}

/* Gives a host sphere with guest spheres to the batch. */
CAROM_SIMD void add_pairs(carom_tree_search *s, uint32_t host_leaf, uint32_t lane,
                          uint32_t guest_leaf, carom_lanes set) {
    carom_pack_batch *batch = s->batch;
    uint32_t count = (uint32_t)__builtin_popcount(set);
    if (batch->count + CAROM_TREE_WIDTH > CAROM_PACK_BATCH) flush(s);
    const carom_tree_posed *h = pose_leaf(&s->host, host_leaf);
    const carom_tree_posed *g = pose_leaf(&s->guest, guest_leaf);
    if (s->narrow || s->slots || s->flip) add_slots(s, host_leaf, lane, guest_leaf, set);
    append_lane(s->swapped ? &batch->b : &batch->a, batch->count, h, lane, count, s->bounds);
    append_lanes(s->swapped ? &batch->a : &batch->b, batch->count, g, set, s->bounds);
    batch->count += count;
}

/* Sets the flags of a host sphere and of guest spheres whose covers surely or perhaps meet it. */
static void set_flags(carom_tree_search *s, uint32_t host_leaf, uint32_t lane, uint32_t guest_leaf,
                      carom_lanes sure, carom_lanes perhaps) {
    uint16_t *host = &s->host.marks[host_leaf].flagged;
    uint16_t *guest = &s->guest.marks[guest_leaf].flagged;
    if (sure != 0) {
        *host |= (uint16_t)(1u << lane);
        *guest |= (uint16_t)sure;
    }
    perhaps &= ~sure;
    for (; perhaps != 0; perhaps &= perhaps - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(perhaps);
        if ((*host >> lane & 1) != 0 && (*guest >> other & 1) != 0) continue;
        const carom_tree_posed *h = pose_leaf(&s->host, host_leaf);
        const carom_tree_posed *g = pose_leaf(&s->guest, guest_leaf);
        carom_pack_posed a = {carom_vec(h->x[lane], h->y[lane], h->z[lane]), 0.0, 0.0,
                              h->cover[lane]};
        carom_pack_posed b = {carom_vec(g->x[other], g->y[other], g->z[other]), 0.0, 0.0,
                              g->cover[other]};
        if (!carom_pack_covers_meet(&a, &b)) continue;
        *host |= (uint16_t)(1u << lane);
        *guest |= (uint16_t)(1u << other);
    }
}

/* Marks what is inside. Covers of the host's lane and of guests in the set may meet. */
CAROM_SIMD void set_inside(carom_tree_search *s, uint32_t host_leaf, uint32_t lane,
                           uint32_t guest_leaf, const lanes *at, carom_lanes set) {
    uint32_t host = s->host.tree->inner_count + host_leaf;
    const carom_tree_node *h = &s->host.tree->nodes[host];
    const carom_tree_node *g = &s->guest.tree->nodes[s->guest.tree->inner_count + guest_leaf];
    const float *guest_depth = s->guest.tree->leaves[guest_leaf].depth;
    float depth = s->host.tree->leaves[host_leaf].depth[lane] - s->margin;
    float cover = h->cover[lane] + s->margin, scale = s->scale, less = scale * (1.0f - 0x1p-20f);
    carom_lanes holds_host = 0, held = 0;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(&at->x[i]) - h->x[lane];
        carom_f32v y = carom_f32v_load(&at->y[i]) - h->y[lane];
        carom_f32v z = carom_f32v_load(&at->z[i]) - h->z[lane], zero = carom_f32v_splat(0.0f);
        carom_f32v apart = x * x + y * y + z * z;
        carom_f32v spare = carom_f32v_load(&guest_depth[i]) * less - cover;
        carom_f32v room = depth - carom_f32v_load(&g->cover[i]) * scale;
        holds_host |= carom_lanes_of((spare > zero) & (apart <= spare * spare)) << i;
        held |= carom_lanes_of((room > zero) & (apart <= room * room)) << i;
    }
    carom_tree_marks *mh = &s->host.marks[host_leaf], *mg = &s->guest.marks[guest_leaf];
    uint16_t bit = (uint16_t)(1u << lane);
    if ((holds_host & set) != 0) mh->inside |= bit;
    mg->inside |= (uint16_t)(held & set);
    mg->marked |= (uint16_t)(set & ~holds_host);
    if ((set & ~held) != 0) mh->marked |= bit;
}

/* Two leaves; `set` are the host's lanes that meet the guest's ball. */
static void visit_leaves(carom_tree_search *s, uint32_t host, uint32_t guest, carom_lanes set) {
    const carom_tree_node *h = &s->host.tree->nodes[host], *g = &s->guest.tree->nodes[guest];
    uint32_t host_leaf = host - s->host.tree->inner_count;
    uint32_t guest_leaf = guest - s->guest.tree->inner_count;
    bool odd = s->host.tree->odd_covers || s->guest.tree->odd_covers;
    lanes at;
    pose_lanes(s, g, &at);
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        ball b = {h->x[lane], h->y[lane], h->z[lane], h->reach[lane] + s->margin, 0};
        carom_lanes pairs = meet(at.x, at.y, at.z, g->reach, s->scale, &b);
        if (pairs != 0) add_pairs(s, host_leaf, lane, guest_leaf, pairs);
        if (!s->bounds) continue;
        b.radius = h->cover[lane] + s->margin;
        carom_lanes perhaps = meet(at.x, at.y, at.z, g->cover, s->scale, &b);
        if (perhaps == 0) continue;
        /* Both radii were rounded up, by less than the margin, and distances are off by it. */
        b.radius = h->cover[lane] - 4.0f * s->margin;
        carom_lanes sure =
            b.radius > 0.0f && !odd ? meet(at.x, at.y, at.z, g->cover, s->scale, &b) : 0;
        set_flags(s, host_leaf, lane, guest_leaf, sure, perhaps);
        if (s->narrow) set_inside(s, host_leaf, lane, guest_leaf, &at, perhaps);
    }
}

/* Marks a node that is taken as a whole. */
static void take_whole(carom_tree_side *side, uint32_t node) {
    if (side->coarse[node] != 0) return;
    side->coarse[node] = 1;
    side->coarse_volume += side->tree->volumes[node];
}

/* Takes two nodes as a whole, as if the shares below were spread evenly over their balls: the
 * densities of both times the lens. */
static void visit_whole(carom_tree_search *s, const ball *host, const ball *guest) {
    s->whole = true;
    take_whole(&s->host, host->node);
    take_whole(&s->guest, guest->node);
    double back = 1.0 / s->to_frame, cube = CAROM_PI * 4.0 / 3.0 * back * back * back;
    double rh = (double)host->radius, rg = (double)guest->radius;
    double size_h = s->host.place->scale, size_g = s->guest.place->scale;
    double density = s->host.tree->volumes[host->node] * (size_h * size_h * size_h) /
                     (cube * rh * rh * rh) * s->guest.tree->volumes[guest->node] *
                     (size_g * size_g * size_g) / (cube * rg * rg * rg);
    carom_vec3 apart =
        carom_vec((double)guest->x - (double)host->x, (double)guest->y - (double)host->y,
                  (double)guest->z - (double)host->z);
    double d = carom_vec_length(apart);
    carom_lens_shape lens = carom_lens_at(rh, rg, d);
    s->rest.volume += lens.volume * back * back * back * density;
    double pull = d > 0.0 ? lens.area * back * back * density / d : 0.0;
    s->rest.force = carom_vec_add(s->rest.force, carom_vec_scale(apart, pull));
}

/* Two nodes with their balls, which meet, `level` steps below the roots. */
static void visit(carom_tree_search *s, const ball *host, const ball *guest, uint32_t level) {
    /* Level 0, the roots as a whole, is the least answer: it is given when a budget is over, too.
     */
    if (s->levels != 0 && (s->stopped || carom_tree_must_stop(s))) return;
    const carom_tree_node *h = &s->host.tree->nodes[host->node];
    const carom_tree_node *g = &s->guest.tree->nodes[guest->node];
    bool host_leaf = carom_tree_is_leaf(s->host.tree, host->node);
    bool guest_leaf = carom_tree_is_leaf(s->guest.tree, guest->node);
    const float *host_radii = s->bounds ? h->cover : h->reach;
    const float *guest_radii = s->bounds ? g->cover : g->reach;
    if (level >= s->levels && !(host_leaf && guest_leaf)) {
        visit_whole(s, host, guest);
        return;
    }
    ++s->visits;
    lanes at;
    if (host_leaf && !guest_leaf) { /* the guest's children alone */
        ball wide = {host->x, host->y, host->z, host->radius + s->margin, 0};
        pose_lanes(s, g, &at);
        carom_lanes set = meet(at.x, at.y, at.z, guest_radii, s->scale, &wide);
        for (; set != 0; set &= set - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(set);
            ball next = {at.x[lane], at.y[lane], at.z[lane], guest_radii[lane] * s->scale,
                         g->child[lane]};
            visit(s, host, &next, level + 1);
        }
        return;
    }
    ball wide = {guest->x, guest->y, guest->z, guest->radius + s->margin, 0};
    carom_lanes set = meet(h->x, h->y, h->z, host_radii, 1.0f, &wide);
    if (host_leaf) {
        visit_leaves(s, host->node, guest->node, set);
        return;
    }
    if (!guest_leaf) pose_lanes(s, g, &at);
    for (; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        ball next = {h->x[lane], h->y[lane], h->z[lane], host_radii[lane], h->child[lane]};
        if (guest_leaf) { /* the host's children alone */
            visit(s, &next, guest, level + 1);
            continue;
        }
        ball near = next;
        near.radius += s->margin;
        carom_lanes pairs = meet(at.x, at.y, at.z, guest_radii, s->scale, &near);
        for (; pairs != 0; pairs &= pairs - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(pairs);
            ball child = {at.x[other], at.y[other], at.z[other], guest_radii[other] * s->scale,
                          g->child[other]};
            visit(s, &next, &child, level + 1);
        }
    }
}

/* The ball of a root; the guest's is in the host's frame. */
static ball root(const carom_tree_search *s, bool guest, double radius) {
    const carom_tree *tree = guest ? s->guest.tree : s->host.tree;
    float x = (float)tree->centre.x, y = (float)tree->centre.y, z = (float)tree->centre.z;
    const float *m = s->turn;
    ball b = {x, y, z, (float)radius * (1.0f + 0x1p-20f), 0};
    if (!guest) return b;
    b.x = m[0] * x + m[1] * y + m[2] * z + s->move[0];
    b.y = m[3] * x + m[4] * y + m[5] * z + s->move[1];
    b.z = m[6] * x + m[7] * y + m[8] * z + s->move[2];
    b.radius *= s->scale;
    return b;
}

void CAROM_CPU(carom_tree_search_overlap)(carom_tree_search *s) {
    s->batch->count = 0;
    if (s->apart) return;
    const carom_tree *h = s->host.tree, *g = s->guest.tree;
    ball host = root(s, false, s->bounds ? h->cover : h->reach);
    ball guest = root(s, true, s->bounds ? g->cover : g->reach);
    visit(s, &host, &guest, 0);
    if (!s->stopped) flush(s);
}

/* ---- Distance -------------------------------------------------------------------------------- */

/* A node or a sphere. */
typedef struct piece {
    float x, y, z, radius, cover; /* with the margin in neither radius */
    uint32_t node;                /* CAROM_TREE_NONE: a sphere */
    uint32_t leaf, lane;          /* of a sphere */
} piece;

/* Sets the limits after a gap was found. */
static void set_limits(carom_tree_search *s) {
    double least = s->least * s->to_frame - s->offset;
    double cover = s->least_cover * s->to_frame - s->offset;
    s->limit = least > 0x1p100 ? HUGE_VALF : (float)least + s->margin;
    s->limit_cover = s->least_cover <= 0.0 ? -HUGE_VALF
                     : cover > 0x1p100     ? HUGE_VALF
                                           : (float)cover + s->margin;
}

/* Two spheres, in doubles. */
static void meet_spheres(carom_tree_search *s, const piece *host, const piece *guest) {
    const carom_tree_posed *h = pose_leaf(&s->host, host->leaf);
    const carom_tree_posed *g = pose_leaf(&s->guest, guest->leaf);
    uint32_t i = host->lane, j = guest->lane;
    uint32_t a = s->host.tree->nodes[s->host.tree->inner_count + host->leaf].child[i];
    uint32_t b = s->guest.tree->nodes[s->guest.tree->inner_count + guest->leaf].child[j];
    carom_vec3 apart = carom_vec(g->x[j] - h->x[i], g->y[j] - h->y[i], g->z[j] - h->z[i]);
    double d = carom_vec_length(apart), gap = d - (h->radius[i] + g->radius[j]);
    double cover = d - (h->cover[i] + g->cover[j]);
    ++s->candidates;
    if (s->any) {
        double volume = 0.0, error = 0.0;
        s->found = carom_pack_inner(carom_vec_dot(apart, apart), d, h->radius[i], g->radius[j],
                                    s->meeting->slack, &volume, &error) &&
                   volume > error;
        return;
    }
    s->found = gap <= 0.0;
    if (s->swapped) {
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
    set_limits(s);
}

static void approach(carom_tree_search *s, const piece *host, const piece *guest);

/* Replaces one of two pieces by its children, nearest first. */
static void expand(carom_tree_search *s, const piece *host, const piece *guest, bool of_guest) {
    const piece *whole = of_guest ? guest : host, *other = of_guest ? host : guest;
    const carom_tree *tree = of_guest ? s->guest.tree : s->host.tree;
    const carom_tree_node *node = &tree->nodes[whole->node];
    bool leaf = carom_tree_is_leaf(tree, whole->node);
    float scale = of_guest ? s->scale : 1.0f, sign = of_guest ? 1.0f : -1.0f;
    const float *x = node->x, *y = node->y, *z = node->z;
    bool covers = s->limit_cover > -HUGE_VALF;
    lanes at;
    ++s->visits;
    if (of_guest) {
        pose_lanes(s, node, &at);
        x = at.x;
        y = at.y;
        z = at.z;
    }
    float gap[CAROM_TREE_WIDTH], cover[CAROM_TREE_WIDTH];
    carom_lanes set = 0;
    for (uint32_t i = 0; i < CAROM_TREE_WIDTH; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&x[i]) - other->x, dy = carom_f32v_load(&y[i]) - other->y;
        carom_f32v dz = carom_f32v_load(&z[i]) - other->z, d;
        /* A lower bound of the distance of the centres, less the offset. */
        if (s->far)
            d = sign * (dx * s->toward[0] + dy * s->toward[1] + dz * s->toward[2]);
        else
            d = carom_f32v_sqrt(dx * dx + dy * dy + dz * dz);
        d -= s->margin;
        carom_f32v g = d - carom_f32v_load(&node->radius[i]) * scale - other->radius;
        carom_f32v_store(&gap[i], g);
        carom_i32v near = g <= s->limit;
        if (covers) {
            carom_f32v c = d - carom_f32v_load(&node->cover[i]) * scale - other->cover;
            carom_f32v_store(&cover[i], c);
            near |= c <= s->limit_cover;
        }
        set |= carom_lanes_of(near) << i;
    }
    while (set != 0) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        for (carom_lanes rest = set & (set - 1); rest != 0; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(rest);
            if (gap[i] < gap[lane]) lane = i;
        }
        set &= ~(1u << lane);
        if (!(gap[lane] <= s->limit) && !(covers && cover[lane] <= s->limit_cover)) continue;
        if (s->least < HUGE_VAL && (s->stopped || carom_tree_must_stop(s))) {
            double pending = covers ? (double)cover[lane] : -HUGE_VAL;
            s->pending = CAROM_MIN(pending, s->pending);
            continue;
        }
        piece part = {x[lane],
                      y[lane],
                      z[lane],
                      node->radius[lane] * scale,
                      node->cover[lane] * scale,
                      leaf ? CAROM_TREE_NONE : node->child[lane],
                      leaf ? whole->node - tree->inner_count : 0,
                      lane};
        if (of_guest)
            approach(s, host, &part);
        else
            approach(s, &part, guest);
    }
}

static void approach(carom_tree_search *s, const piece *host, const piece *guest) {
    if (s->found) return;
    if (host->node == CAROM_TREE_NONE && guest->node == CAROM_TREE_NONE)
        meet_spheres(s, host, guest);
    else
        expand(s, host, guest,
               host->node == CAROM_TREE_NONE ||
                   (guest->node != CAROM_TREE_NONE && guest->radius > host->radius));
}

void CAROM_CPU(carom_tree_search_gap)(carom_tree_search *s) {
    const carom_tree *h = s->host.tree, *g = s->guest.tree;
    ball a = root(s, false, h->radius), b = root(s, true, g->radius);
    piece host = {a.x, a.y, a.z, a.radius, (float)h->cover, 0, 0, 0};
    piece guest = {b.x, b.y, b.z, b.radius, (float)g->cover * s->scale, 0, 0, 0};
    set_limits(s);
    approach(s, &host, &guest);
}
