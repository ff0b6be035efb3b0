/* SPDX-License-Identifier: MIT */
/* Sines, frames, spheres and pairs of a block of configurations (robot_cpu.h).
 *
 * Bounding balls and covers are compared with one configuration per lane: most pairs are near in
 * one of the configurations of a vector. Few of them are still near after that, in one lane
 * each, so the finer covers and the inner balls of a pair are compared with one sphere per lane.
 *
 * Sines are computed in doubles and rounded to floats: x = k pi/2 + r with |r| <= pi/4 up to
 * 2^-50, then the Taylor polynomials of degree 11 and 12, whose next terms are below 2^-36. So
 * each is right to 2^-35 before it is rounded to a float. */
#include "robot/robot_cpu.h"

#include "base/assert.h"
#include "base/simd.h"

#define LANE(array, row) (&(array)[(uint64_t)(row)*CAROM_ROBOT_BLOCK + lane])

static void sines(const double *q, double multiplier, double offset, float *sine, float *cosine) {
    for (uint32_t i = 0; i < CAROM_LANES; i += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(q + i) * multiplier + offset;
        carom_f64v k = x * CAROM_ROBOT_TWO_BY_PI + CAROM_ROBOT_TO_INTEGER;
        carom_i64v quarter = (carom_i64v)k;
        k -= CAROM_ROBOT_TO_INTEGER;
        carom_f64v r = ((x - k * CAROM_ROBOT_PI_HALF_1) - k * CAROM_ROBOT_PI_HALF_2) -
                       k * CAROM_ROBOT_PI_HALF_3;
        carom_f64v z = r * r;
        carom_f64v s = z * (-1.0 / 39916800.0) + 1.0 / 362880.0;
        s = z * s - 1.0 / 5040.0;
        s = z * s + 1.0 / 120.0;
        s = z * s - 1.0 / 6.0;
        s = r + r * (z * s);
        carom_f64v c = z * (1.0 / 479001600.0) - 1.0 / 3628800.0;
        c = z * c + 1.0 / 40320.0;
        c = z * c - 1.0 / 720.0;
        c = z * c + 1.0 / 24.0;
        c = z * c - 0.5;
        c = 1.0 + z * c;
        carom_i64v odd = -(quarter & 1);
        carom_f64v sin_x = carom_f64v_select(odd, c, s), cos_x = carom_f64v_select(odd, s, c);
        /* Signs: sin is negative for quarters 2 and 3, cos for 1 and 2. */
        carom_i64v sin_sign = (carom_i64v)((carom_u64v)(quarter & 2) << 62);
        carom_i64v cos_sign = (carom_i64v)((carom_u64v)((quarter + 1) & 2) << 62);
        carom_f64v_store_floats(sine + i, (carom_f64v)((carom_i64v)sin_x ^ sin_sign));
        carom_f64v_store_floats(cosine + i, (carom_f64v)((carom_i64v)cos_x ^ cos_sign));
    }
}

/* The frames of CAROM_LANES configurations. */
static void frames_of(const carom_robot_plan *plan, const carom_robot_block *block, uint32_t lane) {
    carom_f32v zero = {0};
    for (int row = 0; row < 12; ++row)
        carom_f32v_store(LANE(block->frames, row),
                         row == 0 || row == 4 || row == 8 ? zero + 1.0f : zero);
    for (uint32_t j = 0; j < plan->joint_count; ++j) {
        const carom_robot_plan_joint *joint = &plan->joints[j];
        const double *q = LANE(block->q, joint->column);
        const uint32_t from = 12 * joint->parent, to = 12 * (j + 1);
        carom_f32v p[12], m[9], o[3];
        for (uint32_t i = 0; i < 12; ++i) p[i] = carom_f32v_load(LANE(block->frames, from + i));
        for (int i = 0; i < 3; ++i) o[i] = carom_f32v_splat(joint->origin[i]);
        if (joint->slides) {
            float value[CAROM_LANES];
            for (uint32_t i = 0; i < CAROM_LANES; i += CAROM_LANES64)
                carom_f64v_store_floats(value + i,
                                        carom_f64v_load(q + i) * joint->multiplier + joint->offset);
            carom_f32v v = carom_f32v_load(value);
            for (int i = 0; i < 3; ++i) o[i] = o[i] + v * joint->slide[i];
            for (int i = 0; i < 9; ++i) m[i] = carom_f32v_splat(joint->a[i]);
        } else {
            float sine[CAROM_LANES], cosine[CAROM_LANES];
            sines(q, joint->multiplier, joint->offset, sine, cosine);
            carom_f32v s = carom_f32v_load(sine), c = carom_f32v_load(cosine);
            for (int i = 0; i < 9; ++i) m[i] = (joint->a[i] + s * joint->b[i]) + c * joint->c[i];
        }
        for (uint32_t i = 0; i < 3; ++i) {
            const carom_f32v *r = p + 3 * i;
            for (uint32_t k = 0; k < 3; ++k)
                carom_f32v_store(LANE(block->frames, to + 3 * i + k),
                                 (r[0] * m[k] + r[1] * m[3 + k]) + r[2] * m[6 + k]);
            carom_f32v_store(LANE(block->frames, to + 9 + i),
                             ((r[0] * o[0] + r[1] * o[1]) + r[2] * o[2]) + p[9 + i]);
        }
    }
}

/* Moves spheres [first, end) of a frame. */
static void pose_spheres(const carom_robot_plan *plan, const carom_robot_block *block,
                         uint32_t lane, uint32_t frame, uint32_t first, uint32_t end) {
    carom_f32v p[12];
    for (uint32_t i = 0; i < 12; ++i) p[i] = carom_f32v_load(LANE(block->frames, 12 * frame + i));
    for (uint32_t s = first; s < end; ++s) {
        const float *c = plan->spheres + 4 * (uint64_t)s;
        for (uint32_t i = 0; i < 3; ++i)
            carom_f32v_store(LANE(block->at, 3 * s + i),
                             ((p[3 * i] * c[0] + p[3 * i + 1] * c[1]) + p[3 * i + 2] * c[2]) +
                                 p[9 + i]);
    }
}

/* The cover of a body. */
static void pose_body(const carom_robot_plan *plan, const carom_robot_block *block, uint32_t lane,
                      uint32_t body) {
    const carom_robot_plan_body *b = &plan->bodies[body];
    if (block->posed[body]) return;
    block->posed[body] = true;
    pose_spheres(plan, block, lane, b->frame, b->first + 1, b->first + 1 + b->cover_count);
}

typedef struct robot_point {
    carom_f32v x, y, z;
} robot_point;

CAROM_SIMD robot_point robot_point_at(const carom_robot_block *block, uint32_t lane,
                                      uint32_t sphere) {
    return (robot_point){carom_f32v_load(LANE(block->at, 3 * sphere)),
                         carom_f32v_load(LANE(block->at, 3 * sphere + 1)),
                         carom_f32v_load(LANE(block->at, 3 * sphere + 2))};
}

CAROM_SIMD carom_f32v squared_between(robot_point p, robot_point q) {
    carom_f32v x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return (x * x + y * y) + z * z;
}

CAROM_SIMD float radius_of(const carom_robot_plan *plan, uint32_t sphere) {
    return plan->spheres[4 * (uint64_t)sphere + 3];
}

/* The lanes where a squared distance is not surely more than the reach. */
CAROM_SIMD carom_lanes lanes_near(carom_f32v squared, carom_f32v reach) {
    carom_f32v most = reach * reach + CAROM_ROBOT_LEAST_SQUARE;
    return carom_f32v_test_lanes(carom_f32v_test_at_most(carom_f32v_test_begin(), squared, most));
}

/* The lanes where it is surely less; a reach of at most 0 is never. */
CAROM_SIMD carom_lanes lanes_inside(carom_f32v squared, carom_f32v reach) {
    return carom_lanes_of((squared + CAROM_ROBOT_LEAST_SQUARE < reach * reach) & (reach > 0.0f));
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* The lanes where covers of two bodies are near. */
static carom_lanes covers_near(const carom_robot_plan *plan, const carom_robot_block *block,
                               uint32_t lane, const carom_robot_plan_body *a,
                               const carom_robot_plan_body *b, carom_f32v extra,
                               carom_lanes wanted) {
    carom_lanes near = 0;
    robot_point middle = robot_point_at(block, lane, b->first);
    carom_f32v with_b = extra + radius_of(plan, b->first);
    for (uint32_t i = a->first + 1; i <= a->first + a->cover_count; ++i) {
        robot_point p = robot_point_at(block, lane, i);
        float r = radius_of(plan, i);
        if ((lanes_near(squared_between(p, middle), with_b + r) & wanted & ~near) == 0) continue;
        for (uint32_t j = b->first + 1; j <= b->first + b->cover_count; ++j)
            near |= lanes_near(squared_between(p, robot_point_at(block, lane, j)),
                               extra + (r + radius_of(plan, j)));
        if ((wanted & ~near) == 0) return wanted;
    }
    return near & wanted;
}

/* ---- One sphere per lane --------------------------------------------------------------------- */

/* A body in one configuration: its frame, and the rows of one kind of its spheres. */
typedef struct robot_rows {
    float p[12];
    const float *rows;
    uint32_t count;
} robot_rows;

static robot_rows rows_of(const carom_robot_plan *plan, const carom_robot_block *block,
                          uint32_t lane, const carom_robot_plan_body *body, bool fine) {
    robot_rows r;
    for (uint32_t i = 0; i < 12; ++i) r.p[i] = *LANE(block->frames, 12 * body->frame + i);
    r.rows = plan->rows + (fine ? body->fine_rows : body->inner_rows);
    r.count = fine ? body->fine_count : body->inner_count;
    return r;
}

/* CAROM_LANES spheres from `first` on, moved by the operations of pose_spheres. */
CAROM_SIMD robot_point rows_at(const robot_rows *r, uint32_t first, carom_f32v *radius) {
    const uint32_t block = CAROM_ROBOT_BLOCK;
    const float *c = r->rows + 4 * (uint64_t)(first / block) * block + first % block, *p = r->p;
    carom_f32v x = carom_f32v_load(c), y = carom_f32v_load(c + block);
    carom_f32v z = carom_f32v_load(c + 2 * block);
    *radius = carom_f32v_load(c + 3 * block);
    return (robot_point){((p[0] * x + p[1] * y) + p[2] * z) + p[9],
                         ((p[3] * x + p[4] * y) + p[5] * z) + p[10],
                         ((p[6] * x + p[7] * y) + p[8] * z) + p[11]};
}

/* A sphere of a cover or a bounding ball in one lane. */
CAROM_SIMD robot_point robot_point_in_lane(const carom_robot_block *block, uint32_t lane,
                                           uint32_t sphere) {
    return (robot_point){carom_f32v_splat(*LANE(block->at, 3 * sphere)),
                         carom_f32v_splat(*LANE(block->at, 3 * sphere + 1)),
                         carom_f32v_splat(*LANE(block->at, 3 * sphere + 2))};
}

/* The lanes whose spheres may meet a body: those that are near the ball around it and near its
 * cover. A sphere contains a piece of its own body: where it is apart from either of the two, which
 * contain the other body, that piece is apart from that body. What an inner ball overlaps is in the
 * cover of its body. */
CAROM_SIMD carom_lanes lanes_that_may_meet(const carom_robot_plan *plan,
                                           const carom_robot_block *block, uint32_t lane,
                                           robot_point p, carom_f32v r,
                                           const carom_robot_plan_body *b, float extra) {
    float with_b = extra + radius_of(plan, b->first);
    robot_point middle = robot_point_in_lane(block, lane, b->first);
    carom_lanes left = lanes_near(squared_between(p, middle), with_b + r), some = 0;
    if (left == 0) return 0;
    for (uint32_t j = b->first + 1; j <= b->first + b->cover_count; ++j)
        some |= lanes_near(squared_between(p, robot_point_in_lane(block, lane, j)),
                           extra + (r + radius_of(plan, j)));
    return left & some;
}

/* Moves the spheres of a to block->near, and finds those that may meet b; false: none. */
static bool list_near(const carom_robot_plan *plan, const carom_robot_block *block, uint32_t lane,
                      const robot_rows *a, const carom_robot_plan_body *b, float extra) {
    carom_lanes all = 0;
    CAROM_ASSERT(a->count <= plan->most_fine);
    for (uint32_t first = 0; first < a->count; first += CAROM_LANES) {
        carom_f32v r;
        robot_point p = rows_at(a, first, &r);
        carom_lanes left = lanes_that_may_meet(plan, block, lane, p, r, b, extra);
        float *to = block->near + 4 * (uint64_t)first;
        block->near_lanes[first / CAROM_LANES] = left;
        all |= left;
        if (left == 0) continue;
        carom_f32v_store(to, p.x);
        carom_f32v_store(to + CAROM_LANES, p.y);
        carom_f32v_store(to + 2 * CAROM_LANES, p.z);
        carom_f32v_store(to + 3 * CAROM_LANES, r);
    }
    return all != 0;
}

/* Whether finer covers of two bodies are near, or their inner balls overlap, in one lane: of the
 * spheres that may meet the other body. */
CAROM_SIMD bool rows_meet(const carom_robot_plan *plan, const carom_robot_block *block,
                          uint32_t lane, const carom_robot_plan_body *a,
                          const carom_robot_plan_body *b, float extra, bool fine) {
    robot_rows ra = rows_of(plan, block, lane, a, fine), rb = rows_of(plan, block, lane, b, fine);
    if (!list_near(plan, block, lane, &ra, b, extra)) return false;
    for (uint32_t first = 0; first < rb.count; first += CAROM_LANES) {
        carom_f32v r;
        robot_point p = rows_at(&rb, first, &r);
        carom_lanes met = 0, wanted = lanes_that_may_meet(plan, block, lane, p, r, a, extra);
        for (uint32_t k = 0; k < ra.count && wanted != 0; k += CAROM_LANES) {
            const float *near = block->near + 4 * (uint64_t)k;
            for (carom_lanes left = block->near_lanes[k / CAROM_LANES]; left != 0;
                 left &= left - 1) {
                const float *c = near + __builtin_ctz(left);
                robot_point at = {carom_f32v_splat(c[0]), carom_f32v_splat(c[CAROM_LANES]),
                                  carom_f32v_splat(c[2 * CAROM_LANES])};
                carom_f32v radii = c[3 * CAROM_LANES] + r, squared = squared_between(at, p);
                met |= fine ? lanes_near(squared, extra + radii)
                            : lanes_inside(squared, radii + extra);
            }
            if ((met & wanted) != 0) return true;
        }
    }
    return false;
}

static bool fines_near(const carom_robot_plan *plan, const carom_robot_block *block, uint32_t lane,
                       const carom_robot_plan_body *a, const carom_robot_plan_body *b,
                       float extra) {
    return rows_meet(plan, block, lane, a, b, extra, true);
}

static bool inners_overlap(const carom_robot_plan *plan, const carom_robot_block *block,
                           uint32_t lane, const carom_robot_plan_body *a,
                           const carom_robot_plan_body *b) {
    return rows_meet(plan, block, lane, a, b, block->inner_margin, false);
}

CAROM_SIMD robot_point robot_point_of(const float *c) {
    return (robot_point){carom_f32v_splat(c[0]), carom_f32v_splat(c[1]), carom_f32v_splat(c[2])};
}

/* ---- Objects --------------------------------------------------------------------------------- */

CAROM_SIMD carom_f32v outside(carom_f32v x, float half) {
    return carom_f32v_max(carom_f32v_abs(x) - half, (carom_f32v){0});
}

CAROM_SIMD carom_f32v squared_to_box(const carom_robot_plan_object *o, robot_point p,
                                     const float *half) {
    const float *r = o->r;
    carom_f32v x = p.x - o->centre[0], y = p.y - o->centre[1], z = p.z - o->centre[2];
    carom_f32v u = outside((r[0] * x + r[1] * y) + r[2] * z, half[0]);
    carom_f32v v = outside((r[3] * x + r[4] * y) + r[5] * z, half[1]);
    carom_f32v w = outside((r[6] * x + r[7] * y) + r[8] * z, half[2]);
    return (u * u + v * v) + w * w;
}

/* The lanes where a sphere is near an object; a tree is near nothing. */
CAROM_SIMD carom_lanes sphere_near(const carom_robot_plan_object *o, robot_point p,
                                   carom_f32v reach) {
    carom_lanes near = 0;
    if (o->kind == CAROM_ROBOT_PLAN_BOX) return lanes_near(squared_to_box(o, p, o->half), reach);
    for (uint32_t i = 0; i < o->count; ++i)
        near |= lanes_near(squared_between(p, robot_point_of(o->balls + 5 * i)),
                           reach + o->balls[5 * i + 3]);
    return near;
}

/* The lanes where the ball around a body is near an object. */
CAROM_SIMD carom_lanes middle_near(const carom_robot_plan_object *o, robot_point p,
                                   carom_f32v reach, carom_lanes wanted) {
    wanted &= lanes_near(squared_between(p, robot_point_of(o->ball)), reach + o->ball[3]);
    if (wanted == 0 || o->kind != CAROM_ROBOT_PLAN_BOX) return wanted;
    return wanted & lanes_near(squared_to_box(o, p, o->half), reach);
}

/* The lanes where the cover of a body is near an object. */
static carom_lanes object_near(const carom_robot_plan *plan, const carom_robot_block *block,
                               uint32_t lane, const carom_robot_plan_body *a,
                               const carom_robot_plan_object *o, carom_f32v extra,
                               carom_lanes wanted) {
    carom_lanes near = 0;
    if (o->kind == CAROM_ROBOT_PLAN_TREE) return wanted;
    for (uint32_t i = a->first + 1; i <= a->first + a->cover_count; ++i) {
        near |= sphere_near(o, robot_point_at(block, lane, i), extra + radius_of(plan, i));
        if ((wanted & ~near) == 0) break;
    }
    return near & wanted;
}

/* The same of its finer cover, in one lane. */
static bool object_fine_near(const carom_robot_plan *plan, const carom_robot_block *block,
                             uint32_t lane, const carom_robot_plan_body *a,
                             const carom_robot_plan_object *o, float extra) {
    robot_rows ra = rows_of(plan, block, lane, a, true);
    if (o->kind == CAROM_ROBOT_PLAN_TREE) return true;
    for (uint32_t first = 0; first < ra.count; first += CAROM_LANES) {
        carom_f32v r;
        robot_point p = rows_at(&ra, first, &r);
        if (sphere_near(o, p, extra + r) != 0) return true;
    }
    return false;
}

/* Whether an inner ball overlaps an object, in one lane. */
static bool object_overlaps(const carom_robot_plan *plan, const carom_robot_block *block,
                            uint32_t lane, const carom_robot_plan_body *a,
                            const carom_robot_plan_object *o) {
    robot_rows ra = rows_of(plan, block, lane, a, false);
    if (o->kind == CAROM_ROBOT_PLAN_TREE) return false;
    if (o->kind == CAROM_ROBOT_PLAN_BOX && o->inner[0] < 0.0f) return false;
    for (uint32_t first = 0; first < ra.count; first += CAROM_LANES) {
        carom_f32v r;
        carom_lanes hit = 0;
        robot_point p = rows_at(&ra, first, &r);
        r += block->inner_margin;
        if (o->kind == CAROM_ROBOT_PLAN_BOX)
            hit = lanes_inside(squared_to_box(o, p, o->inner), r);
        else
            for (uint32_t k = 0; k < o->count; ++k)
                hit |= lanes_inside(squared_between(p, robot_point_of(o->balls + 5 * k)),
                                    r + o->balls[5 * k + 4]);
        if (hit != 0) return true;
    }
    return false;
}

/* ---- Block ----------------------------------------------------------------------------------- */

static void begin_lanes(const carom_robot_plan *plan, carom_robot_block *block, uint32_t lane) {
    frames_of(plan, block, lane);
    for (uint32_t i = 0; i < plan->body_count; ++i) {
        const carom_robot_plan_body *b = &plan->bodies[i];
        block->posed[i] = false;
        if (b->live) pose_spheres(plan, block, lane, b->frame, b->first, b->first + 1);
    }
}

/* A pair whose bounding balls are near: the lanes where it is undecided; those that it decides to
 * collide are added to `hit`. */
static carom_lanes test_pair(const carom_robot_plan *plan, const carom_robot_block *block,
                             uint32_t lane, uint32_t pair, carom_f32v extra, carom_lanes wanted,
                             carom_lanes *hit) {
    carom_robot_plan_pair p = plan->pairs[pair];
    const carom_robot_plan_body *a = &plan->bodies[p.a];
    const carom_robot_plan_body *b = pair < plan->self_count ? &plan->bodies[p.b] : NULL;
    const carom_robot_plan_object *o = b == NULL ? &plan->objects[p.b] : NULL;
    carom_lanes undecided = 0;
    pose_body(plan, block, lane, p.a);
    if (b != NULL) pose_body(plan, block, lane, p.b);
    wanted = b != NULL ? covers_near(plan, block, lane, a, b, extra, wanted)
                       : object_near(plan, block, lane, a, o, extra, wanted);
    if (wanted == 0) return 0;
    float extras[CAROM_LANES];
    carom_f32v_store(extras, extra);
    for (; wanted != 0; wanted &= wanted - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(wanted), at = lane + i;
        if (!(b != NULL ? fines_near(plan, block, at, a, b, extras[i])
                        : object_fine_near(plan, block, at, a, o, extras[i])))
            continue;
        carom_lanes bit = UINT32_C(1) << i;
        if (b != NULL ? inners_overlap(plan, block, at, a, b)
                      : object_overlaps(plan, block, at, a, o))
            *hit |= bit;
        else
            undecided |= bit;
    }
    return undecided;
}

/* Pairs [first, end) of bodies, or of bodies and objects. Returns the lanes that no pair decided to
 * collide. */
CAROM_SIMD carom_lanes test_pairs(const carom_robot_plan *plan, carom_robot_block *block,
                                  uint32_t lane, uint32_t first, uint32_t end, bool self,
                                  carom_lanes wanted) {
    uint32_t body = CAROM_NONE;
    robot_point middle = {0};
    float radius = 0.0f;
    for (uint32_t pair = first; pair < end && wanted != 0; ++pair) {
        carom_robot_plan_pair p = plan->pairs[pair];
        carom_f32v extra = carom_f32v_splat(block->margin);
        carom_lanes near = wanted, hit = 0;
        if (block->speed != NULL)
            extra += carom_f32v_load(block->half_time + lane) * block->speed[pair];
        if (p.a != body) { /* pairs are sorted by it */
            body = p.a;
            middle = robot_point_at(block, lane, plan->bodies[body].first);
            radius = radius_of(plan, plan->bodies[body].first);
        }
        if (self) {
            uint32_t b = plan->bodies[p.b].first;
            near &= lanes_near(squared_between(middle, robot_point_at(block, lane, b)),
                               extra + (radius + radius_of(plan, b)));
        } else {
            near = middle_near(&plan->objects[p.b], middle, extra + radius, near);
        }
        if (near == 0) continue;
        carom_lanes undecided = test_pair(plan, block, lane, pair, extra, near, &hit);
        CAROM_ASSERT(((undecided | hit) & ~wanted) == 0 && (undecided & hit) == 0);
        if (undecided != 0) {
            block->entry_pair[block->entry_count] = pair;
            block->entry_lanes[block->entry_count++] = undecided << lane;
        }
        block->hit |= hit << lane;
        wanted &= ~hit;
        for (; hit != 0; hit &= hit - 1)
            block->hit_pair[lane + (uint32_t)__builtin_ctz(hit)] = pair;
    }
    return wanted;
}

void CAROM_CPU(carom_robot_plan_check)(const carom_robot_plan *plan, carom_robot_block *block) {
    block->entry_count = 0;
    block->hit = 0;
    for (uint32_t lane = 0; lane < CAROM_ROBOT_BLOCK; lane += CAROM_LANES) {
        carom_lanes wanted = block->lanes >> lane & ((UINT32_C(1) << CAROM_LANES) - 1);
        if (wanted == 0) continue;
        begin_lanes(plan, block, lane);
        wanted = test_pairs(plan, block, lane, 0, plan->self_count, true, wanted);
        (void)test_pairs(plan, block, lane, plan->self_count, plan->pair_count, false, wanted);
    }
}

/* A lower bound of a distance, from its computed square. */
CAROM_SIMD carom_f32v gap_of(carom_f32v squared, carom_f32v radii) {
    return carom_f32v_sqrt(squared) * (1.0f - CAROM_ROBOT_SLACK) -
           radii * (1.0f + CAROM_ROBOT_SLACK);
}

/* The gap of spheres from an object that is no tree. */
CAROM_SIMD carom_f32v gap_from_object(const carom_robot_plan_object *o, robot_point p,
                                      carom_f32v r) {
    carom_f32v gap = (carom_f32v){0} + HUGE_VALF;
    if (o->kind == CAROM_ROBOT_PLAN_BOX) return gap_of(squared_to_box(o, p, o->half), r);
    for (uint32_t k = 0; k < o->count; ++k)
        gap = carom_f32v_min(gap, gap_of(squared_between(p, robot_point_of(o->balls + 5 * k)),
                                         r + o->balls[5 * k + 3]));
    return gap;
}

/* Lanes that are farther apart by their bounding balls than `most` keep that gap, so that it does
 * not depend on the other lanes. */
static carom_f32v gap_of_pair(const carom_robot_plan *plan, const carom_robot_block *block,
                              uint32_t lane, uint32_t pair, carom_f32v most) {
    carom_robot_plan_pair p = plan->pairs[pair];
    const carom_robot_plan_body *a = &plan->bodies[p.a];
    const carom_robot_plan_body *b = pair < plan->self_count ? &plan->bodies[p.b] : NULL;
    const carom_robot_plan_object *o = b == NULL ? &plan->objects[p.b] : NULL;
    robot_point middle = robot_point_at(block, lane, a->first);
    robot_point other = b != NULL ? robot_point_at(block, lane, b->first) : robot_point_of(o->ball);
    float radii = radius_of(plan, a->first) + (b != NULL ? radius_of(plan, b->first) : o->ball[3]);
    carom_f32v rough = gap_of(squared_between(middle, other), carom_f32v_splat(radii));
    if (o != NULL && o->kind == CAROM_ROBOT_PLAN_TREE) return rough;
    carom_i32v wanted = rough <= most;
    if (carom_lanes_of(wanted) == 0) return rough;
    pose_body(plan, block, lane, p.a);
    if (b != NULL) pose_body(plan, block, lane, p.b);
    carom_f32v gap = (carom_f32v){0} + HUGE_VALF;
    for (uint32_t i = a->first + 1; i <= a->first + a->cover_count; ++i) {
        robot_point at = robot_point_at(block, lane, i);
        carom_f32v r = carom_f32v_splat(radius_of(plan, i));
        if (b == NULL) gap = carom_f32v_min(gap, gap_from_object(o, at, r));
        for (uint32_t j = 0; b != NULL && j < b->cover_count; ++j)
            gap = carom_f32v_min(
                gap, gap_of(squared_between(at, robot_point_at(block, lane, b->first + 1 + j)),
                            r + radius_of(plan, b->first + 1 + j)));
    }
    gap = carom_f32v_max(gap, rough);
    return (carom_f32v)((wanted & (carom_i32v)gap) | (~wanted & (carom_i32v)rough));
}

/* The gap of a vector of spheres from all spheres of a row. */
CAROM_SIMD carom_f32v gap_from_rows(const robot_rows *rows, robot_point p, carom_f32v r) {
    carom_f32v gap = (carom_f32v){0} + HUGE_VALF;
    for (uint32_t first = 0; first < rows->count; first += CAROM_LANES) {
        carom_f32v radius;
        float at[4][CAROM_LANES];
        robot_point q = rows_at(rows, first, &radius);
        carom_f32v_store(at[0], q.x);
        carom_f32v_store(at[1], q.y);
        carom_f32v_store(at[2], q.z);
        carom_f32v_store(at[3], radius);
        for (uint32_t i = 0; i < CAROM_LANES && first + i < rows->count; ++i) {
            robot_point one = {carom_f32v_splat(at[0][i]), carom_f32v_splat(at[1][i]),
                               carom_f32v_splat(at[2][i])};
            gap = carom_f32v_min(gap, gap_of(squared_between(one, p), r + at[3][i]));
        }
    }
    return gap;
}

float CAROM_CPU(carom_robot_plan_fine_gap)(const carom_robot_plan *plan,
                                           const carom_robot_block *block, uint32_t lane,
                                           uint32_t pair) {
    carom_robot_plan_pair p = plan->pairs[pair];
    const carom_robot_plan_object *o = pair < plan->self_count ? NULL : &plan->objects[p.b];
    float least = *LANE(block->gap, pair), gaps[CAROM_LANES], fine = HUGE_VALF;
    if (o != NULL && o->kind == CAROM_ROBOT_PLAN_TREE) return least;
    robot_rows ra = rows_of(plan, block, lane, &plan->bodies[p.a], true), rb = {0};
    if (o == NULL) rb = rows_of(plan, block, lane, &plan->bodies[p.b], true);
    carom_f32v gap = (carom_f32v){0} + HUGE_VALF;
    for (uint32_t first = 0; first < ra.count; first += CAROM_LANES) {
        carom_f32v r;
        robot_point at = rows_at(&ra, first, &r);
        gap =
            carom_f32v_min(gap, o != NULL ? gap_from_object(o, at, r) : gap_from_rows(&rb, at, r));
    }
    carom_f32v_store(gaps, gap);
    for (uint32_t i = 0; i < CAROM_LANES; ++i) fine = gaps[i] < fine ? gaps[i] : fine;
    return fine > least ? fine : least;
}

void CAROM_CPU(carom_robot_plan_gaps)(const carom_robot_plan *plan, carom_robot_block *block) {
    for (uint32_t lane = 0; lane < CAROM_ROBOT_BLOCK; lane += CAROM_LANES) {
        carom_f32v most = (carom_f32v){0} + HUGE_VALF;
        if ((block->lanes >> lane & ((UINT32_C(1) << CAROM_LANES) - 1)) == 0) continue;
        begin_lanes(plan, block, lane);
        for (uint32_t pair = 0; pair < plan->pair_count; ++pair) {
            carom_f32v gap = gap_of_pair(plan, block, lane, pair, most);
            carom_f32v_store(LANE(block->gap, pair), gap);
            bool is_tree = pair >= plan->self_count &&
                           plan->objects[plan->pairs[pair].b].kind == CAROM_ROBOT_PLAN_TREE;
            if (!is_tree) most = carom_f32v_min(most, gap);
        }
    }
}
