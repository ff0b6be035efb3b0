/* SPDX-License-Identifier: MIT */
/* The frames in which the trees of two posed soups are searched.
 *
 * Each tree has its own frame, y = 2^e (x - c), in which the soup is about as large as [-1, 1]^3. A
 * box of b is transformed into a's frame by y_a = k R y_b + T, with R = Ra^T Rb, k = 2^(ea - eb),
 * T = 2^ea Ra^T ((Rb cb + tb) - (Ra ca + ta)), and a box of a into b's by the inverse.
 *
 * Why nothing is missed. Decisions are made on the rounded x'. Let e = 2^-53, X the largest
 * coordinates. A posed corner differs from the exact R x + t by at most 8 e (3 X + |t|), and by
 * 2^-1072 if it underflows; Ra and Rb are orthonormal to 16 e; T and c are rounded sums of the same
 * terms. So faces that meet, or are d apart, in x' do so in a's frame up to
 *     m = 2^ea (256 e (Xa + Xb + |ta| + |tb|) + 2^-1064).
 * The search itself is in float32. Every value in it is a sum of few products, bounded by
 * S = 4 (1 + k) + 2 |T|. The errors are at most 15 for transforming a box, 5 for the product of
 * axes, 7 for projections and 36 for an edge product, in units of 2^-24 S. The slack is
 * m + 2^-17 S, twice their sum; in b's frame it is divided by k.
 *
 * Where k, T or m leave the range of float32, boxes cannot be used: the posed pair is extreme, and
 * queries compare all triangles of a with all of b (soup_each.c). */
#include "soup/soup_posed_pair.h"

#include "geom/length.h"
#include "soup/soup.h"

/* As exponents of two and as lengths, of distances and of the ratio of sizes: their squares and the
 * products of both fit float32, of up to 2^127. */
#define POSED_EXPONENT_LIMIT 50
#define POSED_LENGTH_LIMIT   0x1p50

/* In units of the sizes of both soups: from this distance on the slack, 2^-16 of it, is above 1/256
 * of the sizes, so that boxes hardly tell which triangles are nearest. */
#define POSED_NEAREST_DISTANCE 256.0

/* Of S above: twice the sum of the errors of the search in float32, 63 times 2^-24. */
#define POSED_SEARCH_ERROR 0x1p-17

/* As an exponent of two, of the factor that makes a soup about 1 in size: the factor is a normal
 * float, with room for products. */
#define POSED_FACTOR_LIMIT 120
/* As an exponent of two, of the ratio of sizes: the same for its inverse. A ratio beyond
 * POSED_EXPONENT_LIMIT is not used. */
#define POSED_RATIO_LIMIT 100

/* In lengths of a's frame: a limit beyond it excludes nothing that a box of POSED_LENGTH_LIMIT
 * reaches. The least is what a limit of zero becomes, far below the slack of any search. */
#define POSED_LIMIT_MOST  0x1p60
#define POSED_LIMIT_LEAST 0x1p-60f

/* Lengths of which a direction is made: their inverse is a normal number. */
#define POSED_DIRECTION_LEAST 0x1p-900
#define POSED_DIRECTION_MOST  0x1p900
/* A factor: a direction is shorter than 1 despite the roundings of its length, of the quotient and
 * of the product, some 4 unit roundoffs. */
#define POSED_DIRECTION_DOWN (1.0 - 0x1p-50)

/* ---- Frame of one soup ----------------------------------------------------------------------- */

/* The frame of boxes: y = ((x scale - origin) - shift) factor. The shift is a float, the factor a
 * power of two. */
typedef struct unit_frame {
    float shift[3];
    int factor; /* exponent */
} unit_frame;

static unit_frame unit_frame_of(const carom_soup *soup) {
    unit_frame u = {{0}, 0};
    double most = 0.0;
    if (!(soup->bounds.low[0] <= soup->bounds.high[0])) return u;
    for (int k = 0; k < 3; ++k) {
        double low = (double)soup->bounds.low[k], high = (double)soup->bounds.high[k];
        u.shift[k] = (float)(0.5 * (low + high));
        double half = CAROM_MAX(high - (double)u.shift[k], (double)u.shift[k] - low);
        most = CAROM_MAX(half, most);
    }
    if (most > 0.0) u.factor = CAROM_MIN(-carom_exponent(most) - 1, POSED_FACTOR_LIMIT);
    return u;
}

typedef struct soup_posed_pair_corners_of {
    const carom_soup *soup;
    double shift[3], factor;
} soup_posed_pair_corners_of;

static void corners_in_frame(const void *user, const uint32_t *items, uint32_t count,
                             carom_vec3 (*corners)[3]) {
    const soup_posed_pair_corners_of *c = user;
    const carom_soup *soup = c->soup;
    for (uint32_t i = 0; i < count; ++i) {
        carom_soup_fetch_ahead(soup, items, i, count);
        carom_triangle t = carom_soup_triangle(soup, soup->corners + 3 * (uint64_t)items[i]);
        for (int k = 0; k < 3; ++k) {
            carom_vec3 p = t.corner[k];
            corners[i][k] =
                carom_vec(((p.x * soup->scale - soup->origin.x) - c->shift[0]) * c->factor,
                          ((p.y * soup->scale - soup->origin.y) - c->shift[1]) * c->factor,
                          ((p.z * soup->scale - soup->origin.z) - c->shift[2]) * c->factor);
        }
    }
}

static soup_posed_pair_corners_of corners_begin(const carom_soup *soup) {
    unit_frame u = unit_frame_of(soup);
    soup_posed_pair_corners_of c = {.soup = soup, .factor = carom_power_of_two(u.factor)};
    for (int k = 0; k < 3; ++k) c.shift[k] = (double)u.shift[k];
    return c;
}

const char *carom_soup_validate_rigid(const carom_soup *soup) {
    soup_posed_pair_corners_of c = corners_begin(soup);
    return carom_obb_validate(&soup->oriented, soup->triangle_count, corners_in_frame, &c);
}

carom_status carom_soup_prepare_rigid(carom_context *context, carom_soup *soup,
                                      const carom_soup *like) {
    uint32_t count = 0;
    carom_obb_tree *tree = &soup->oriented;
    for (uint32_t t = 0; t < soup->triangle_count; ++t)
        count += carom_soup_searched(soup, t) ? 1u : 0u;
    CAROM_TRY(carom_obb_reserve(context, &soup->allocator, tree, count));
    soup_posed_pair_corners_of c = corners_begin(soup);
    CAROM_ASSERT(tree->item_count == count && count <= soup->triangle_count);
    if (like != NULL) {
        CAROM_ASSERT(like->oriented.item_count == count);
        if (count != 0) memcpy(tree->items, like->oriented.items, count * sizeof(*tree->items));
        soup->looseness = like->looseness;
        return carom_obb_refit(context, tree, corners_in_frame, &c);
    }
    for (uint32_t t = 0, at = 0; t < soup->triangle_count; ++t)
        if (carom_soup_searched(soup, t)) tree->items[at++] = t;
    CAROM_TRY(carom_obb_build(context, tree, corners_in_frame, &c));
    soup->looseness = carom_obb_looseness(tree);
    return CAROM_OK;
}

/* ---- One side -------------------------------------------------------------------------------- */

carom_status carom_soup_check_pose(carom_context *context, const carom_pose *pose,
                                   const char *whose) {
    if (pose == NULL) return CAROM_OK;
    const double all[7] = {pose->q.w, pose->q.x, pose->q.y, pose->q.z,
                           pose->t.x, pose->t.y, pose->t.z};
    for (int i = 0; i < 7; ++i)
        if (!isfinite(all[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s holds %g; quaternion and translation must be finite", whose,
                              all[i]);
    return CAROM_OK;
}

static carom_status make_side(carom_context *context, const carom_soup *soup,
                              const carom_pose *pose, const char *whose, carom_soup_side *side) {
    CAROM_TRY(carom_soup_check_on_cpu(context, soup));
    CAROM_TRY(carom_soup_check_pose(context, pose, whose));
    unit_frame u = unit_frame_of(soup);
    side->soup = soup;
    carom_soup_get_view(soup, &side->view);
    side->first = 0;
    side->end = soup->triangle_count;
    side->frame = carom_frame_make(pose);
    if (soup->method == CAROM_SOUP_METHOD_GRID) {
        side->items = NULL;
        memset(&side->tree, 0, sizeof(side->tree));
    } else if (soup->rigid) {
        side->items = soup->oriented.items;
        carom_obb_view_of_tree(&soup->oriented, &side->tree);
    } else {
        side->items = soup->bvh.items;
        carom_obb_view_of_bvh(&soup->bvh, u.shift, (float)carom_power_of_two(u.factor),
                              &side->tree);
    }
    int scale = carom_exponent(soup->scale);
    side->exponent = scale + u.factor;
    side->centre = carom_vec(carom_scale_apply((double)u.shift[0] + soup->origin.x, -scale),
                             carom_scale_apply((double)u.shift[1] + soup->origin.y, -scale),
                             carom_scale_apply((double)u.shift[2] + soup->origin.z, -scale));
    side->largest = carom_vec_largest(side->centre) + carom_scale_apply(1.0, -side->exponent);
    const carom_frame *f = &side->frame;
    for (int row = 0; row < 3; ++row) {
        const double *r = f->r + 3 * row;
        double reach = (fabs(r[0]) + fabs(r[1]) + fabs(r[2])) * side->largest;
        if (!(reach + carom_vec_largest(f->t) <= DBL_MAX) && soup->vertex_count != 0)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s moves the soup beyond the range of doubles; scale it down first",
                              whose);
    }
    return CAROM_OK;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

static carom_obb_move move_make(double r[3][3], const double t[3], double scale) {
    carom_obb_move move;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) move.r[i][k] = (float)r[i][k];
        move.t[i] = (float)t[i];
    }
    move.scale = (float)scale;
    return move;
}

static void soup_posed_pair_relate(carom_soup_posed_pair *p) {
    const carom_soup_side *a = &p->a, *b = &p->b;
    const double *ra = a->frame.r, *rb = b->frame.r;
    double r[3][3], back[3][3], t[3], t_back[3], size = 0.0;
    carom_vec3 offset = carom_vec_sub(carom_frame_apply(&b->frame, b->centre),
                                      carom_frame_apply(&a->frame, a->centre));
    int ratio = a->exponent - b->exponent;
    double k =
        carom_power_of_two(CAROM_MAX(CAROM_MIN(ratio, POSED_RATIO_LIMIT), -POSED_RATIO_LIMIT));
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            back[j][i] = r[i][j] = (ra[i] * rb[j] + ra[3 + i] * rb[3 + j]) + ra[6 + i] * rb[6 + j];
        t[i] = carom_scale_apply((ra[i] * offset.x + ra[3 + i] * offset.y) + ra[6 + i] * offset.z,
                                 a->exponent);
        size += fabs(t[i]);
    }
    for (int i = 0; i < 3; ++i)
        t_back[i] = -((r[0][i] * t[0] + r[1][i] * t[1]) + r[2][i] * t[2]) / k;
    double rounding = carom_scale_apply(carom_soup_pose_rounding(a, b), a->exponent);
    double slack = rounding + POSED_SEARCH_ERROR * (4.0 * (1.0 + k) + 2.0 * size);
    p->extreme = !(ratio >= -POSED_EXPONENT_LIMIT && ratio <= POSED_EXPONENT_LIMIT &&
                   size <= POSED_LENGTH_LIMIT && size / k <= POSED_LENGTH_LIMIT &&
                   rounding <= POSED_LENGTH_LIMIT && rounding / k <= POSED_LENGTH_LIMIT);
    p->far = size > POSED_NEAREST_DISTANCE * (1.0 + k);
    p->offset = offset;
    if (p->extreme) return;
    p->b_to_a = move_make(r, t, k);
    p->a_to_b = move_make(back, t_back, 1.0 / k);
    p->slack_a = (float)(slack * (1.0 + CAROM_SOUP_FLOAT_MARGIN));
    p->slack_b = (float)(slack / k * (1.0 + CAROM_SOUP_FLOAT_MARGIN));
}

carom_status carom_soup_pose(carom_context *context, const carom_soup *a, const carom_pose *pose_a,
                             const carom_soup *b, const carom_pose *pose_b,
                             carom_soup_posed_pair *posed) {
    CAROM_TRY(make_side(context, a, pose_a, "the pose of a", &posed->a));
    CAROM_TRY(make_side(context, b, pose_b, "the pose of b", &posed->b));
    soup_posed_pair_relate(posed);
    return CAROM_OK;
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Triangles [first, ...) of a soup, as the items 0, 1, ... of a tree. */
typedef struct window {
    const carom_soup *soup;
    uint32_t first;
} window;

static void window_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                         carom_box *boxes) {
    const window *w = user;
    if (items == NULL) carom_soup_boxes(w->soup, NULL, w->first + first, count, boxes);
    for (uint32_t i = 0; items != NULL && i < count; ++i)
        boxes[i] = carom_soup_box(w->soup, w->first + items[i]);
}

/* Scratch for a tree over any number of the soup's triangles. A level has a sixteenth of the nodes
 * of the level below, rounded up. */
static carom_status reserve_bvh(carom_context *context, const carom_soup *soup, carom_bvh *bvh) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = soup->triangle_count, slots = count + CAROM_BVH_WIDTH;
    uint64_t nodes = count / (CAROM_BVH_WIDTH - 1) + CAROM_BVH_LEVELS;
    bvh->items = CAROM_ARENA_TAKE(scratch, uint32_t, slots);
    bvh->nodes = CAROM_ARENA_TAKE(scratch, carom_bvh_node, nodes);
    if (bvh->items == NULL || bvh->nodes == NULL)
        return carom_fail_memory(context, nodes * sizeof(*bvh->nodes), "a box tree");
    bvh->item_capacity = slots;
    bvh->node_capacity = nodes;
    return CAROM_OK;
}

carom_status carom_soup_pose_window(carom_context *context, carom_soup_posed_pair *posed,
                                    carom_bvh *bvh, uint32_t first, uint32_t end) {
    carom_soup_side *a = &posed->a;
    const carom_soup *soup = a->soup;
    window w = {soup, first};
    carom_box bounds = carom_box_empty();
    if (bvh->item_capacity == 0) CAROM_TRY(reserve_bvh(context, soup, bvh));
    for (uint32_t t = first; t < end; ++t) {
        carom_box box = carom_soup_box(soup, t);
        if (box.low[0] <= box.high[0]) bounds = carom_box_join(box, bounds);
    }
    CAROM_TRY(
        carom_bvh_build(context, &soup->allocator, bvh, end - first, &bounds, window_boxes, &w));
    for (uint64_t i = 0; i < (uint64_t)bvh->node_count[0] * CAROM_BVH_WIDTH; ++i)
        if (bvh->items[i] != CAROM_BVH_NONE) bvh->items[i] += first;
    unit_frame u = unit_frame_of(soup);
    carom_obb_view_of_bvh(bvh, u.shift, (float)carom_power_of_two(u.factor), &a->tree);
    a->items = bvh->items;
    a->first = first;
    a->end = end;
    return CAROM_OK;
}

void carom_soup_begin_traversal(const carom_soup_posed_pair *posed,
                                carom_obb_traversal *traversal) {
    traversal->a = posed->a.tree;
    traversal->b = posed->b.tree;
    traversal->b_to_a = posed->b_to_a;
    traversal->a_to_b = posed->a_to_b;
    traversal->slack_a = posed->slack_a;
    traversal->slack_b = posed->slack_b;
    carom_obb_traversal_begin(traversal);
}

/* ---- Searches for the nearest --------------------------------------------------------------- */

float carom_soup_limit_of(const carom_soup_posed_pair *posed, double distance) {
    double scaled =
        carom_scale_apply(distance, posed->a.exponent) * (1.0 + CAROM_SOUP_LIMIT_MARGIN);
    return scaled < POSED_LIMIT_MOST ? (float)scaled + POSED_LIMIT_LEAST : HUGE_VALF;
}

carom_vec3 carom_soup_direction_of(carom_vec3 offset) {
    double length = carom_length(offset);
    if (!(length > POSED_DIRECTION_LEAST && length < POSED_DIRECTION_MOST))
        return carom_vec(0.0, 0.0, 0.0);
    return carom_vec_scale(offset, POSED_DIRECTION_DOWN / length);
}

void carom_soup_set_direction(carom_obb_traversal *traversal, const carom_soup_posed_pair *posed,
                              carom_vec3 offset) {
    const double *ra = posed->a.frame.r, *rb = posed->b.frame.r;
    carom_vec3 u = carom_vec_scale(carom_soup_direction_of(offset), 1.0 - CAROM_SOUP_FLOAT_MARGIN);
    for (int k = 0; k < 3; ++k) {
        traversal->direction_a[k] = (float)((ra[k] * u.x + ra[3 + k] * u.y) + ra[6 + k] * u.z);
        traversal->direction_b[k] = (float)-((rb[k] * u.x + rb[3 + k] * u.y) + rb[6 + k] * u.z);
    }
}
