/* SPDX-License-Identifier: MIT */
/* Packings as objects: their contacts, and rays and points against them.
 *
 * What a packing says is an interval. Its inner balls are in the solid that was packed, so what
 * meets one of them meets the solid; the solid is in the covers, so what meets none of them does
 * not. Two packings are compared by their trees (tree.h). Against another object, the distance
 * of each near ball's centre to that object is computed: least distance less radius is an upper
 * bound of the distance of the solid, least distance less cover a lower one.
 *
 * The depth is an interval, too: b moved by its upper end is certainly apart from a, by its lower
 * end it certainly overlaps a. Between them the spheres are too few to decide. */
#include <float.h>

#include "base/progress.h"
#include "carom/soup_points.h"
#include "convex/convex.h"
#include "scene/scene.h"
#include "tree/tree.h"

/* The ends of a depth are found to this part of it, far less than what spheres leave open. */
#define SCENE_PACK_DEPTH_PART 0x1p-10
/* Of distances to centres, relative to coordinates: a thousand roundings. */
#define SCENE_PACK_BOX_SLACK       0x1p-42
#define SCENE_PACK_BALLS_PER_RANGE 64u /* balls per range: some 20 us of work */

/* ---- The balls of a packing ------------------------------------------------------------------ */

carom_bounds carom_scene_packing_bounds(const carom_tree *tree) {
    carom_bounds b = carom_bounds_empty();
    for (uint32_t i = 0; i < tree->leaf_count; ++i)
        for (uint32_t k = 0; k < CAROM_TREE_WIDTH; ++k) {
            const carom_tree_leaf *leaf = &tree->leaves[i];
            carom_vec3 c = carom_vec(leaf->x[k], leaf->y[k], leaf->z[k]);
            if (tree->nodes[tree->inner_count + i].child[k] == CAROM_TREE_NONE) continue;
            double r =
                leaf->cover[k] + SCENE_PACK_BOX_SLACK * (leaf->cover[k] + carom_vec_largest(c));
            carom_vec3 all = carom_vec(r, r, r);
            carom_bounds_include(&b, carom_vec_sub(c, all));
            carom_bounds_include(&b, carom_vec_add(c, all));
        }
    return b;
}

/* A posed ball, and what the other object is to it. */
typedef struct scene_pack_ball {
    carom_vec3 centre;
    double radius, cover;
    uint32_t index;   /* of the sphere in the packing */
    bool inside;      /* the centre is in what the object encloses */
    double distance;  /* of the centre to the object; 0 inside */
    double error;     /* of the distance */
    carom_vec3 point; /* of the object's surface, nearest to the centre; a convex shape that
                         contains the centre gives the centre itself */
} scene_pack_ball;

static double box_distance(const carom_bounds *b, carom_vec3 p) {
    carom_vec3 d = carom_vec(CAROM_MAX(CAROM_MAX(b->low.x - p.x, p.x - b->high.x), 0.0),
                             CAROM_MAX(CAROM_MAX(b->low.y - p.y, p.y - b->high.y), 0.0),
                             CAROM_MAX(CAROM_MAX(b->low.z - p.z, p.z - b->high.z), 0.0));
    return carom_length(d);
}

/* The next ball of a packing, posed, in the order of the leaves; false: there is none. It begins
 * with *slot = 0. */
static bool scene_pack_next_ball(const carom_tree *tree, const carom_frame *f, uint64_t *slot,
                                 scene_pack_ball *ball) {
    for (; *slot < (uint64_t)tree->leaf_count * CAROM_TREE_WIDTH; ++*slot) {
        uint64_t i = *slot / CAROM_TREE_WIDTH, k = *slot % CAROM_TREE_WIDTH;
        const carom_tree_leaf *l = &tree->leaves[i];
        uint32_t index = tree->nodes[tree->inner_count + i].child[k];
        if (index == CAROM_TREE_NONE) continue;
        carom_vec3 c = carom_frame_apply(f, carom_vec(l->x[k], l->y[k], l->z[k]));
        *ball = (scene_pack_ball){
            .centre = c, .radius = l->radius[k], .cover = l->cover[k], .index = index};
        ++*slot;
        return true;
    }
    return false;
}

/* Lists the balls whose covers are at most `reach` from a box. The list has space for all. */
static uint64_t scene_pack_list_balls(const carom_scene_object *packing, const carom_bounds *box,
                                      double reach, scene_pack_ball *balls) {
    const carom_tree *tree = packing->tree;
    carom_frame f = carom_frame_make(&packing->pose);
    double slack = SCENE_PACK_BOX_SLACK *
                   (carom_vec_largest(packing->box.low) + carom_vec_largest(packing->box.high) +
                    carom_vec_largest(box->low) + carom_vec_largest(box->high) + reach);
    uint64_t count = 0, slot = 0;
    scene_pack_ball ball;
    while (scene_pack_next_ball(tree, &f, &slot, &ball)) {
        if (box_distance(box, ball.centre) > ball.cover + reach + slack) continue;
        ball.error = slack;
        balls[count++] = ball;
    }
    return count;
}

/* ---- Balls and another object ---------------------------------------------------------------- */

typedef struct balls_question {
    carom_context *context;
    const carom_scene_object *other;
    scene_pack_ball *balls;
} balls_question;

/* As in scene_query.c, workers may share the context for this. */
static carom_status query_convex_range(void *argument, carom_range range) {
    const balls_question *q = argument;
    const carom_convex point = {0};
    for (uint64_t i = range.begin; i < range.end; ++i) {
        scene_pack_ball *b = &q->balls[i];
        carom_convex_result r;
        carom_pose at = {.t = b->centre};
        CAROM_TRY(carom_convex_distance(q->context, &q->other->convex, &q->other->pose, &point, &at,
                                        NULL, &r));
        b->inside = r.relation != CAROM_RELATION_APART;
        b->distance = b->inside ? 0.0 : r.distance;
        b->error += r.error;
        b->point = b->inside ? b->centre : r.point_a;
    }
    return CAROM_OK;
}

static carom_status query_mesh(carom_context *context, const carom_scene_object *mesh,
                               scene_pack_ball *balls, uint64_t count) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_vec3 *points = CAROM_ARENA_TAKE(scratch, carom_vec3, count);
    carom_hit *hits = CAROM_ARENA_TAKE(scratch, carom_hit, count);
    int32_t *windings = CAROM_ARENA_TAKE(scratch, int32_t, count);
    if (points == NULL || hits == NULL || windings == NULL)
        return carom_fail_memory(context, count * sizeof(*hits), "spheres");
    carom_frame f = carom_frame_make(&mesh->pose);
    for (uint64_t i = 0; i < count; ++i)
        points[i] = carom_convex_turn_back(f.r, carom_vec_sub(balls[i].centre, f.t));
    CAROM_TRY(carom_soup_closest_points(context, mesh->soup, points, count, hits));
    if (mesh->solid != NULL)
        CAROM_TRY(carom_soup_winding(context, mesh->soup, points, count, windings));
    for (uint64_t i = 0; i < count; ++i) {
        scene_pack_ball *b = &balls[i];
        b->inside = mesh->solid != NULL && windings[i] != 0;
        b->distance = b->inside ? 0.0 : hits[i].face == CAROM_NONE ? HUGE_VAL : hits[i].distance;
        b->point = carom_frame_apply(&f, hits[i].point);
    }
    return CAROM_OK;
}

/* What the spheres say of a packing and another object. */
typedef struct gap {
    bool near;           /* a cover is at most the reach away */
    double lower, upper; /* bounds of the distance; the upper one is negative where an inner ball
                            certainly meets the object */
    scene_pack_ball nearest; /* with the least distance less radius; ties take the lowest index */
} gap;

static carom_status scene_pack_measure(const carom_scene_question *q,
                                       const carom_scene_object *packing,
                                       const carom_scene_object *other, gap *g) {
    carom_context *context = q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    *g = (gap){.lower = HUGE_VAL, .upper = HUGE_VAL};
    scene_pack_ball *balls =
        CAROM_ARENA_TAKE(scratch, scene_pack_ball, packing->tree->extent.count);
    if (balls == NULL)
        return carom_fail_memory(context, packing->tree->extent.count * sizeof(scene_pack_ball),
                                 "spheres");
    uint64_t count = scene_pack_list_balls(packing, &other->box, q->reach, balls);
    if (carom_scene_is_mesh(other)) {
        CAROM_TRY(query_mesh(context, other, balls, count));
    } else {
        balls_question question = {context, other, balls};
        CAROM_TRY(carom_parallel_for(context, count, SCENE_PACK_BALLS_PER_RANGE, query_convex_range,
                                     &question));
    }
    double least = HUGE_VAL;
    for (uint64_t i = 0; i < count; ++i) {
        const scene_pack_ball *b = &balls[i];
        double inner = b->distance - b->radius;
        g->lower = CAROM_MIN(g->lower, (b->distance - b->cover) - b->error);
        g->upper = CAROM_MIN(g->upper, inner + b->error);
        if (inner > least || (inner == least && b->index > g->nearest.index)) continue;
        least = inner;
        g->nearest = *b;
    }
    CAROM_ASSERT(g->lower <= g->upper); /* covers contain the inner balls */
    g->near = g->lower <= q->reach;
    return CAROM_OK;
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* What is certain of a pair with a packing. */
typedef struct scene_pack_certain {
    bool apart, overlap;
} scene_pack_certain;

static carom_status query_balls(const carom_scene_question *q, const carom_scene_object *a,
                                const carom_scene_object *b, gap *g) {
    carom_arena *scratch = carom_scratch(q->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status =
        a->tree != NULL ? scene_pack_measure(q, a, b, g) : scene_pack_measure(q, b, a, g);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* With b moved by `shift` along n. */
static carom_status query_moved(const carom_scene_question *q, const carom_scene_object *a,
                                const carom_scene_object *b, carom_vec3 n, double shift,
                                scene_pack_certain *answer) {
    carom_scene_object moved = *b;
    carom_pose pose = b->pose;
    CAROM_ASSERT(a->tree != NULL || b->tree != NULL);
    pose.t = carom_vec_add(pose.t, carom_vec_scale(n, shift));
    CAROM_TRY(carom_progress_look(q->context));
    if (a->tree != NULL && b->tree != NULL) {
        carom_tree_gap g;
        CAROM_TRY(carom_tree_distance(q->context, a->tree, &a->pose, b->tree, &pose, NULL, &g));
        *answer = (scene_pack_certain){g.distance.lower > 0.0, !(g.distance.upper > 0.0)};
    } else {
        carom_scene_question exact = *q;
        gap g;
        exact.reach = 0.0;
        carom_scene_object_set_pose(q->context, &moved, &pose);
        CAROM_TRY(query_balls(&exact, a, &moved, &g));
        *answer = (scene_pack_certain){g.lower > 0.0, g.upper < 0.0};
    }
    CAROM_ASSERT(!(answer->apart && answer->overlap));
    return CAROM_OK;
}

/* Lowers *high, a shift along n at which the pair is apart, as far as it stays so; `guess` is a
 * shift to begin with, or 0. */
static carom_status find_high(const carom_scene_question *q, const carom_scene_object *a,
                              const carom_scene_object *b, carom_vec3 n, double guess,
                              double *high) {
    double low = 0.0; /* not apart here */
    double at = guess > 0.0 && guess < *high ? guess : 0.5 * *high;
    while (*high - low > SCENE_PACK_DEPTH_PART * *high && at > low && at < *high) {
        scene_pack_certain c;
        CAROM_TRY(query_moved(q, a, b, n, at, &c));
        if (c.apart)
            *high = at;
        else
            low = at;
        at = low + 0.5 * (*high - low);
    }
    CAROM_ASSERT(low <= *high);
    return CAROM_OK;
}

/* Raises *low, a shift along n at which the pair overlaps, as far as that is certain. */
static carom_status find_low(const carom_scene_question *q, const carom_scene_object *a,
                             const carom_scene_object *b, carom_vec3 n, double high, double *low) {
    double open = high;
    while (open - *low > SCENE_PACK_DEPTH_PART * high) {
        double at = *low + 0.5 * (open - *low);
        scene_pack_certain c;
        CAROM_TRY(query_moved(q, a, b, n, at, &c));
        if (c.overlap)
            *low = at;
        else
            open = at;
    }
    CAROM_ASSERT(*low <= open && open <= high);
    return CAROM_OK;
}

/* Replaces the normal where another direction has a smaller shift at which the pair is apart: the
 * deepest sphere alone does not know the shape of what it is in. */
static carom_status find_least(const carom_scene_question *q, const carom_scene_object *a,
                               const carom_scene_object *b, carom_vec3 *normal, double *high) {
    carom_vec3 directions[CAROM_SCENE_DIRECTIONS];
    carom_scene_directions(a, b, directions);
    for (int i = 0; i < CAROM_SCENE_DIRECTIONS; ++i) {
        double less = *high - 2.0 * SCENE_PACK_DEPTH_PART * *high;
        double shift = carom_scene_clearing_shift(a, b, directions[i]);
        if (shift > less) {
            scene_pack_certain c;
            CAROM_TRY(query_moved(q, a, b, directions[i], less, &c));
            if (!c.apart) continue;
            shift = less;
        }
        CAROM_TRY(find_high(q, a, b, directions[i], 0.0, &shift));
        *high = shift;
        *normal = directions[i];
    }
    return CAROM_OK;
}

/* The rest of a contact: the depth, or how far the two may be apart or overlap where that is open.
 * `guess` is a shift to begin with, or 0; `distance` an upper bound of the distance. */
static carom_status scene_pack_finish(const carom_scene_question *q, const carom_scene_object *a,
                                      const carom_scene_object *b, double guess, double distance,
                                      carom_scene_contact *c) {
    bool certain = c->relation >= CAROM_RELATION_OVERLAPPING;
    double low = 0.0, high = carom_scene_clearing_shift(a, b, c->normal);
    if (!certain) c->error = CAROM_MAX(distance, 0.0);
    if (q->skip_depth) return CAROM_OK;
    CAROM_TRY(find_high(q, a, b, c->normal, guess, &high));
    if (!certain) {
        c->error = CAROM_MAX(c->error, high);
        return CAROM_OK;
    }
    if (c->method == CAROM_SCENE_CONTACT_METHOD_SPHERES)
        CAROM_TRY(find_least(q, a, b, &c->normal, &high));
    CAROM_TRY(find_low(q, a, b, c->normal, high, &low));
    c->depth = high;
    c->error = high - low;
    c->points[0].depth = high;
    return CAROM_OK;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

static carom_status query_two(const carom_scene_question *q, const carom_scene_object *a,
                              const carom_scene_object *b, carom_scene_contact *c,
                              bool *in_contact) {
    const carom_tree_query_def def = {.narrow_limits = true};
    carom_tree_result answer;
    CAROM_TRY(carom_tree_query(q->context, a->tree, &a->pose, b->tree, &b->pose, &def, &answer));
    const carom_packing_overlap *o = &answer.overlap;
    const carom_tree_gap *g = &answer.gap;
    c->method = CAROM_SCENE_CONTACT_METHOD_PACKINGS;
    c->relation = o->relation;
    *in_contact =
        o->relation != CAROM_RELATION_APART || (q->reach > 0.0 && g->distance.lower <= q->reach);
    if (!*in_contact) return CAROM_OK;
    c->point_count = 1;
    if (answer.has_gap) c->normal = carom_vec_unit(carom_vec_sub(g->point_b, g->point_a));
    if (o->relation == CAROM_RELATION_APART) {
        const carom_interval d = g->distance;
        c->distance = d.value;
        c->error = CAROM_MAX(d.upper - d.value, d.value - d.lower);
        c->points[0] = carom_scene_point(g->point_a, g->point_b, -d.value);
        return CAROM_OK;
    }
    c->volume = o->volume.value;
    c->volume_error =
        CAROM_MAX(o->volume.upper - o->volume.value, o->volume.value - o->volume.lower);
    double force = carom_length(o->force), guess = 0.0;
    c->points[0] = carom_scene_point(g->point_a, g->point_b, 0.0);
    if (o->relation >= CAROM_RELATION_OVERLAPPING) {
        c->normal = carom_vec_unit(o->force);
        c->points[0] = carom_scene_point(o->centroid, o->centroid, 0.0);
        if (force > 0.0) guess = o->volume.value / force;
    }
    if (carom_vec_largest(c->normal) == 0.0) c->normal = carom_scene_between(a, b);
    return scene_pack_finish(q, a, b, guess, g->distance.upper, c);
}

/* The direction in which the packing gets away from the other object, by the nearest ball; 0 where
 * that has none. */
static carom_status find_direction(const carom_scene_question *q, const scene_pack_ball *nearest,
                                   const carom_scene_object *other, carom_vec3 *direction) {
    carom_vec3 d = carom_vec_sub(nearest->centre, nearest->point);
    if (nearest->inside && other->kind == CAROM_SCENE_OBJECT_KIND_CONVEX) {
        carom_convex sphere = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = nearest->radius};
        carom_pose at = {.t = nearest->centre};
        carom_convex_result r;
        CAROM_TRY(
            carom_convex_depth(q->context, &other->convex, &other->pose, &sphere, &at, NULL, &r));
        d = r.normal;
    } else if (nearest->inside) {
        d = carom_vec_scale(d, -1.0);
    }
    *direction = carom_vec_unit(d);
    return CAROM_OK;
}

static carom_status query_other(const carom_scene_question *q, const carom_scene_object *a,
                                const carom_scene_object *b, carom_scene_contact *c,
                                bool *in_contact) {
    bool first = a->tree != NULL; /* the packing is a */
    gap g;
    c->method = CAROM_SCENE_CONTACT_METHOD_SPHERES;
    CAROM_TRY(query_balls(q, a, b, &g));
    *in_contact = g.near;
    if (!g.near) return CAROM_OK;
    bool apart = g.lower > 0.0;
    c->relation = apart           ? CAROM_RELATION_APART
                  : g.upper < 0.0 ? CAROM_RELATION_OVERLAPPING
                                  : CAROM_RELATION_TOUCHING;
    carom_vec3 away, on_ball;
    CAROM_TRY(find_direction(q, &g.nearest, first ? b : a, &away));
    c->normal = first ? carom_vec_scale(away, -1.0) : away;
    if (carom_vec_largest(c->normal) == 0.0) c->normal = carom_scene_between(a, b);
    c->point_count = 1;
    on_ball = carom_vec_sub(g.nearest.centre, carom_vec_scale(away, g.nearest.radius));
    if (c->relation == CAROM_RELATION_OVERLAPPING)
        c->points[0] = carom_scene_point(g.nearest.centre, g.nearest.centre, 0.0);
    else
        c->points[0] = first ? carom_scene_point(on_ball, g.nearest.point, 0.0)
                             : carom_scene_point(g.nearest.point, on_ball, 0.0);
    if (!apart) return scene_pack_finish(q, a, b, 0.0, g.upper, c);
    c->distance = g.upper;
    c->error = g.upper - g.lower;
    c->points[0].depth = -g.upper;
    return CAROM_OK;
}

carom_status carom_scene_narrow_packing(const carom_scene_question *q, const carom_scene_object *a,
                                        const carom_scene_object *b, carom_scene_contact *contact,
                                        bool *in_contact) {
    memset(contact, 0, sizeof(*contact));
    *in_contact = false;
    if (a->tree != NULL && b->tree != NULL)
        CAROM_TRY(query_two(q, a, b, contact, in_contact));
    else
        CAROM_TRY(query_other(q, a, b, contact, in_contact));
    if (!*in_contact) contact->normal = carom_vec(0.0, 0.0, 0.0);
    return CAROM_OK;
}

/* ---- Rays and points ------------------------------------------------------------------------- */

static bool better(double x, uint32_t index, double best, uint32_t best_index) {
    return x < best || (x == best && index < best_index);
}

carom_status carom_scene_packing_closest_point(const carom_scene_object *o, carom_vec3 point,
                                               carom_hit *hit) {
    const carom_tree *tree = o->tree;
    carom_frame f = carom_frame_make(&o->pose);
    double least = HUGE_VAL, least_cover = HUGE_VAL, radius = 0.0;
    uint32_t nearest = UINT32_MAX;
    carom_vec3 from = point;
    uint64_t slot = 0;
    scene_pack_ball ball;
    while (scene_pack_next_ball(tree, &f, &slot, &ball)) {
        double d = carom_length(carom_vec_sub(point, ball.centre));
        least_cover = CAROM_MIN(least_cover, d - ball.cover);
        if (!better(d - ball.radius, ball.index, least, nearest)) continue;
        least = d - ball.radius;
        radius = ball.radius;
        nearest = ball.index;
        from = ball.centre;
    }
    hit->distance = CAROM_MAX(least, 0.0);
    hit->error = hit->distance - CAROM_MAX(least_cover, 0.0);
    CAROM_ASSERT(hit->error >= 0.0);
    hit->point = point;
    if (!(least > 0.0)) return CAROM_OK;
    hit->normal = carom_vec_unit(carom_vec_sub(point, from));
    hit->point = carom_vec_add(from, carom_vec_scale(hit->normal, radius));
    return CAROM_OK;
}

carom_status carom_scene_packing_ray(carom_context *context, const carom_scene_object *o,
                                     const carom_ray *ray, carom_hit *hit, bool *found) {
    const carom_tree *tree = o->tree;
    carom_frame f = carom_frame_make(&o->pose);
    carom_vec3 u = carom_vec_unit(ray->direction);
    double slack =
        SCENE_PACK_BOX_SLACK * (carom_vec_largest(o->box.low) + carom_vec_largest(o->box.high) +
                                carom_vec_largest(ray->origin));
    double least_cover = HUGE_VAL;
    uint32_t first = UINT32_MAX;
    hit->distance = HUGE_VAL;
    for (uint32_t i = 0; i < tree->leaf_count; ++i)
        for (uint32_t k = 0; k < CAROM_TREE_WIDTH; ++k) {
            const carom_tree_leaf *leaf = &tree->leaves[i];
            uint32_t index = tree->nodes[tree->inner_count + i].child[k];
            if (index == CAROM_TREE_NONE) continue;
            carom_pose at = {
                .t = carom_frame_apply(&f, carom_vec(leaf->x[k], leaf->y[k], leaf->z[k]))};
            carom_vec3 d = carom_vec_sub(at.t, ray->origin);
            double beside = carom_length(carom_vec_cross(d, u)); /* of the line */
            if (beside > leaf->cover[k] + slack) continue;
            carom_convex sphere = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = leaf->cover[k]};
            carom_hit h;
            CAROM_TRY(carom_convex_cast_rays(context, &sphere, &at, ray, 1, &h));
            if (h.id == CAROM_NONE) continue;
            least_cover = CAROM_MIN(least_cover, h.distance);
            sphere.radius = leaf->radius[k];
            CAROM_TRY(carom_convex_cast_rays(context, &sphere, &at, ray, 1, &h));
            if (h.id == CAROM_NONE || !better(h.distance, index, hit->distance, first)) continue;
            *hit = h;
            first = index;
        }
    *found = first != UINT32_MAX;
    if (*found) hit->error = hit->distance - least_cover;
    return CAROM_OK;
}
