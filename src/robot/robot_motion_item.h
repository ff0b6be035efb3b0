/* SPDX-License-Identifier: MIT */
/* robot_motion_item.h: straight motions, proved free by bounds of how far bodies move (conservative
 * advancement: Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996; Schwarzer,
 * Saha and Latombe, "Adaptive Dynamic Collision Checking for Single and Multiple Articulated
 * Robots", 2005), as items: the CPU and the GPU decide by the same text.
 *
 * While joint values change by d per unit of time, a point of a body moves no faster than the sum,
 * over the joints above it, of |d| times its greatest distance from the joint's axis: lengths of
 * all links between, and its own distance from its link's origin. Of a pair only joints between the
 * two count. An interval of half length h about t is free for a pair if the two are farther apart
 * at t than margin + speed h. Sixteen intervals are tested at a time, with radii enlarged by speed
 * h. One that covers do not decide is halved; once bodies move by less than covers reach out, the
 * exact distance decides, and what it proves around t is taken off the interval. */
#ifndef CAROM_SRC_ROBOT_ROBOT_MOTION_ITEM_H
#define CAROM_SRC_ROBOT_ROBOT_MOTION_ITEM_H

#include "robot/robot_decide_item.h"

#define CAROM_ROBOT_MOTION_INTERVALS                                                               \
    2048u /* entries of the list of a motion: 16 per halving, 60 halvings */

/* An interval that is not halved further: 2^-45 of the motion. */
#define CAROM_ROBOT_MOTION_SHORTEST 0x1p-45

/* Of |from| + |to|: what a joint value computed between the two may be off by. */
#define CAROM_ROBOT_MOTION_VALUE_ERROR 0x1p-50

/* Relative: enlargement of speeds and times, far above their roundings. */
#define CAROM_ROBOT_MOTION_SLACK 0x1p-20

/* Distances are measured up to this many times what an interval needs, so that they prove some of
 * its neighbours, too. */
#define CAROM_ROBOT_MOTION_REACH 8.0

/* From low to high; low > high: never. */
typedef struct carom_robot_times {
    double low, high;
} carom_robot_times;

CAROM_ITEM carom_robot_times carom_robot_times_of(double low, double high) {
    carom_robot_times t;
    t.low = low;
    t.high = high;
    return t;
}

/* What all motions of a call have in common. */
typedef struct carom_robot_motion_rule {
    double margin;    /* of the query */
    double tolerance; /* a motion that comes closer is open */
    double step;      /* bodies that move by less are measured exactly */
    bool covers_only;
} carom_robot_motion_rule;

/* A motion that is tested. Entry i of an array lies at i stride. */
typedef struct carom_robot_motion_state {
    const carom_robot_view *view;
    const uint32_t *order; /* of links, parents first */
    uint32_t link_count, dof;
    carom_robot_motion_rule rule;
    const double *from, *to;
    uint64_t stride;
    carom_robot_times *list;   /* the earliest last */
    carom_robot_times *proved; /* of each pair: when an exact distance proves it free */
    float *speed;              /* of each pair */
    double *one;               /* a configuration */
    carom_robot_pose *poses;   /* of links; these two one after the other */
    double margin;             /* of the query, and what joint values may be off by */
    uint32_t count;            /* of the list */
    double cut;                /* nothing after it is looked at; free before */
    double contact;            /* a collision; infinite: none */
    uint32_t pair;             /* of the cut */
    uint32_t hit;              /* the pair of the collision */
    bool unsure;               /* on a GPU: faces within rounding of the margin */
} carom_robot_motion_state;

/* What exact distances say of a pair in the middle of an interval. It depends on nothing else, so
 * that a GPU finds those of many pairs and intervals at once, before they are looked at in their
 * order. */
typedef struct carom_robot_motion_sample {
    double distance, error;
    bool known;   /* the rest is */
    bool touches; /* the pair collides */
    bool unsure;  /* on a GPU: faces within rounding of the margin */
} carom_robot_motion_sample;

/* What spheres know of the configuration in the middle of an interval. */
typedef struct carom_robot_motion_lane {
    bool beyond;           /* nothing: floats do not hold for it */
    uint32_t hit;          /* the pair whose inner balls overlap; CAROM_NONE: none */
    const uint32_t *pairs; /* those that are undecided; entry i at i stride */
    const uint32_t *lanes; /* of each the lanes that they are undecided in; NULL: all */
    uint64_t stride;
    uint32_t count, lane;
    const carom_robot_motion_sample *samples; /* of each of the pairs; NULL: none is known */
} carom_robot_motion_lane;

/* ---- Speeds ---------------------------------------------------------------------------------- */

/* How fast points of a body move against the frame of a link above it; error: what they may be off
 * by instead. */
CAROM_ITEM double carom_robot_speed_below(const carom_robot_motion_state *m, uint32_t body,
                                          uint32_t above, bool error) {
    double distance = m->view->bodies[body].largest, speed = 0.0;
    for (uint32_t at = m->view->bodies[body].link; at != above; at = m->view->links[at].parent) {
        const carom_robot_node_link *l = &m->view->links[at];
        double slid = 0.0;
        if (l->column != CAROM_NONE) {
            double u = m->from[l->column], v = m->to[l->column];
            double change =
                error ? CAROM_ROBOT_MOTION_VALUE_ERROR * (fabs(u) + fabs(v)) : fabs(v - u);
            change *= fabs(l->multiplier);
            if (error) change += CAROM_ROBOT_MOTION_VALUE_ERROR * fabs(l->offset);
            double most = CAROM_MAX(fabs(u), fabs(v)) * fabs(l->multiplier) + fabs(l->offset);
            bool slides = l->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC;
            speed += slides ? change : change * distance;
            slid = slides ? most : 0.0;
        }
        distance += carom_length(l->origin) + slid;
    }
    return speed;
}

CAROM_ITEM uint32_t carom_robot_common_link(const carom_robot_node_link *links, uint32_t a,
                                            uint32_t b) {
    while (a != b) {
        if (links[a].depth >= links[b].depth)
            a = links[a].parent;
        else
            b = links[b].parent;
    }
    return a;
}

CAROM_ITEM double carom_robot_pair_speed(const carom_robot_motion_state *m, uint32_t pair,
                                         bool error) {
    const carom_robot_plan_pair p = m->view->plan.pairs[pair];
    const carom_robot_body *bodies = m->view->bodies;
    uint32_t above = m->order[0];
    double speed = 0.0;
    if (pair < m->view->plan.self_count) {
        above = carom_robot_common_link(m->view->links, bodies[p.a].link, bodies[p.b].link);
        speed = carom_robot_speed_below(m, p.b, above, error);
    }
    speed += carom_robot_speed_below(m, p.a, above, error);
    return speed * (1.0 + CAROM_ROBOT_MOTION_SLACK);
}

/* Begins with a pair; returns what its joint values may be off by. */
CAROM_ITEM double carom_robot_motion_begin_pair(carom_robot_motion_state *m, uint32_t pair) {
    double off = carom_robot_pair_speed(m, pair, true);
    float speed = carom_float_up(carom_robot_pair_speed(m, pair, false), 0.0);
    CAROM_ASSERT(off >= 0.0 && speed >= 0.0f);
    m->speed[pair * m->stride] = speed;
    m->proved[pair * m->stride] = carom_robot_times_of(1.0, 0.0);
    return off;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

CAROM_ITEM void carom_robot_motion_cut(carom_robot_motion_state *m, double time, uint32_t pair) {
    if (time >= m->cut) return;
    m->cut = time;
    m->pair = pair;
}

CAROM_ITEM void carom_robot_motion_push(carom_robot_motion_state *m, double low, double high) {
    CAROM_ASSERT(low <= high);
    if (m->count == CAROM_ROBOT_MOTION_INTERVALS) { /* never: the cut is right all the same */
        carom_robot_motion_cut(m, low, 0);
        return;
    }
    m->list[m->count++ * m->stride] = carom_robot_times_of(low, high);
}

/* Puts the configuration of a time in `one`. */
CAROM_ITEM void carom_robot_motion_at(const carom_robot_motion_state *m, double t) {
    for (uint32_t i = 0; i < m->dof; ++i) m->one[i] = (1.0 - t) * m->from[i] + t * m->to[i];
}

/* Half the length of an interval, enlarged, as floats have it. */
CAROM_ITEM float carom_robot_motion_half(carom_robot_times v) {
    double half = 0.5 * (v.high - v.low) * (1.0 + CAROM_ROBOT_MOTION_SLACK);
    return carom_float_up(half * (1.0 + (double)CAROM_ROBOT_SLACK), 0.0);
}

/* Begins with sixteen intervals; `error` is the most of all pairs. */
CAROM_ITEM void carom_robot_motion_begin_times(carom_robot_motion_state *m, double error) {
    m->margin = m->rule.margin + error;
    m->count = 0;
    m->cut = m->contact = HUGE_VAL;
    m->pair = m->hit = 0;
    m->unsure = false;
    for (uint32_t i = CAROM_ROBOT_BLOCK; i-- > 0;)
        carom_robot_motion_push(m, i / (double)CAROM_ROBOT_BLOCK,
                                (i + 1) / (double)CAROM_ROBOT_BLOCK);
}

CAROM_ITEM void carom_robot_motion_begin(carom_robot_motion_state *m) {
    double error = 0.0;
    for (uint32_t pair = 0; pair < m->view->plan.pair_count; ++pair) {
        double off = carom_robot_motion_begin_pair(m, pair);
        error = CAROM_MAX(off, error);
    }
    carom_robot_motion_begin_times(m, error);
}

/* Takes the earliest intervals, at most a block of them; returns how many. */
CAROM_ITEM uint32_t carom_robot_motion_take(carom_robot_motion_state *m, carom_robot_times *taken) {
    uint32_t count = 0;
    while (m->count > 0 && count < CAROM_ROBOT_BLOCK) {
        carom_robot_times v = m->list[--m->count * m->stride];
        if (v.low < m->cut) taken[count++] = v;
    }
    return count;
}

/* Sorts what a round pushed, so that the earliest are last. */
CAROM_ITEM void carom_robot_motion_sort(carom_robot_motion_state *m, uint32_t first) {
    for (uint32_t i = first + 1; i < m->count; ++i) {
        carom_robot_times v = m->list[i * m->stride];
        uint32_t k = i;
        for (; k > first && m->list[(k - 1) * m->stride].low < v.low; --k)
            m->list[k * m->stride] = m->list[(k - 1) * m->stride];
        m->list[k * m->stride] = v;
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* A collision at the middle of an interval: what is left is before it. */
CAROM_ITEM void carom_robot_motion_collide(carom_robot_motion_state *m, carom_robot_times v,
                                           double middle, uint32_t pair) {
    double moved = (double)m->speed[pair * m->stride] * 0.5 * (v.high - v.low);
    if (middle < m->contact) {
        m->contact = middle;
        m->hit = pair;
    }
    if (moved <= m->rule.tolerance || v.high - v.low <= CAROM_ROBOT_MOTION_SHORTEST ||
        middle <= v.low) {
        carom_robot_motion_cut(m, v.low, pair);
        return;
    }
    carom_robot_motion_cut(m, middle, pair);
    carom_robot_motion_push(m, v.low, middle);
}

CAROM_ITEM bool carom_robot_motion_proved(const carom_robot_motion_state *m, uint32_t pair,
                                          carom_robot_times v) {
    const carom_robot_times proved = m->proved[pair * m->stride];
    return proved.low <= v.low && v.high <= proved.high;
}

/* Puts the poses of links in the middle of an interval in `poses`. */
CAROM_ITEM void carom_robot_motion_pose(carom_robot_motion_state *m, double middle) {
    carom_robot_motion_at(m, middle);
    for (uint32_t i = 0; i < m->link_count; ++i)
        carom_robot_pose_item(m->view->links, m->order[i], m->one, m->poses);
}

/* A pair at the middle of an interval, whose poses are there. It is measured up to the distance
 * that proves several times the interval. */
CAROM_ITEM carom_robot_motion_sample carom_robot_motion_sample_of(const carom_robot_motion_state *m,
                                                                  carom_robot_times v,
                                                                  uint32_t pair) {
    double half = 0.5 * (v.high - v.low) * (1.0 + CAROM_ROBOT_MOTION_SLACK);
    double speed = (double)m->speed[pair * m->stride];
    double need = m->margin + CAROM_ROBOT_MOTION_REACH * speed * half + m->rule.tolerance;
    carom_robot_motion_sample s;
    s.known = true;
    s.touches = s.unsure = false;
    s.distance = carom_robot_pair_distance_item(m->view, m->poses, pair, need, &s.error);
    if (s.distance <= m->rule.margin + 4.0 * s.error)
        s.touches =
            carom_robot_pair_collides_item(m->view, m->poses, pair, m->rule.margin, &s.unsure);
    return s;
}

/* Takes the sample of a pair at the middle of an interval; *safe becomes at most the time that it
 * proves. False: the interval ends here, for the pair collides, or is too near for it to be halved.
 */
CAROM_ITEM bool carom_robot_motion_measure(carom_robot_motion_state *m,
                                           const carom_robot_motion_sample *s, carom_robot_times v,
                                           double middle, uint32_t pair, double *safe) {
    double half = 0.5 * (v.high - v.low) * (1.0 + CAROM_ROBOT_MOTION_SLACK);
    double speed = (double)m->speed[pair * m->stride], d = s->distance, error = s->error;
    m->unsure = m->unsure || s->unsure;
    if (s->touches) {
        carom_robot_motion_collide(m, v, middle, pair);
        return false;
    }
    double clear = d - 2.0 * error - m->margin;
    if (clear <= m->rule.tolerance && clear < speed * half) {
        /* Too near to go on from here. What is before it may still be free. */
        *safe = 0.0;
        if (speed * half > m->rule.tolerance && v.high - v.low > CAROM_ROBOT_MOTION_SHORTEST)
            return true;
        carom_robot_motion_cut(m, v.low, pair);
        return false;
    }
    double time = speed > 0.0 ? clear / speed * (1.0 - CAROM_ROBOT_MOTION_SLACK) : HUGE_VAL;
    CAROM_ASSERT(time > 0.0);
    m->proved[pair * m->stride] = carom_robot_times_of(middle - time, middle + time);
    *safe = CAROM_MIN(time, *safe);
    return true;
}

/* Number e of the pairs that are undecided in a lane; CAROM_NONE: not in this one. */
CAROM_ITEM uint32_t carom_robot_motion_entry(const carom_robot_motion_lane *lane, uint32_t e) {
    if (lane->beyond) return e;
    if (lane->lanes != NULL && (lane->lanes[e] >> lane->lane & 1u) == 0) return CAROM_NONE;
    return lane->pairs[e * lane->stride];
}

/* The pairs of a lane by exact distances: what is proved free about the middle is taken off. */
CAROM_ITEM void carom_robot_motion_advance(carom_robot_motion_state *m,
                                           const carom_robot_motion_lane *lane, carom_robot_times v,
                                           double middle) {
    double half = 0.5 * (v.high - v.low) * (1.0 + CAROM_ROBOT_MOTION_SLACK), safe = half;
    uint32_t closest = 0, count = lane->beyond ? m->view->plan.pair_count : lane->count;
    bool posed = false;
    for (uint32_t e = 0; e < count; ++e) {
        uint32_t pair = carom_robot_motion_entry(lane, e);
        double before = safe;
        carom_robot_motion_sample sample;
        if (pair == CAROM_NONE || carom_robot_motion_proved(m, pair, v)) continue;
        sample.known = false;
        if (lane->samples != NULL) sample = lane->samples[e];
        if (!sample.known) {
            if (!posed) carom_robot_motion_pose(m, middle);
            posed = true;
            sample = carom_robot_motion_sample_of(m, v, pair);
        }
        if (!carom_robot_motion_measure(m, &sample, v, middle, pair, &safe)) return;
        if (safe < before) closest = pair;
    }
    if (safe >= half) return;
    if (v.high - v.low <= CAROM_ROBOT_MOTION_SHORTEST) {
        carom_robot_motion_cut(m, v.low, closest);
        return;
    }
    if (middle + safe < v.high) carom_robot_motion_push(m, middle + safe, v.high);
    if (v.low < middle - safe) carom_robot_motion_push(m, v.low, middle - safe);
}

/* The first pair of an interval that spheres leave open and no distance proves free, or CAROM_NONE;
 * *moved: how far bodies of such pairs move in half of it. */
CAROM_ITEM uint32_t carom_robot_motion_open(const carom_robot_motion_state *m,
                                            const carom_robot_motion_lane *lane,
                                            carom_robot_times v, double *moved) {
    uint32_t first = CAROM_NONE;
    *moved = 0.0;
    for (uint32_t e = 0; e < lane->count && !lane->beyond; ++e) {
        uint32_t pair = carom_robot_motion_entry(lane, e);
        if (pair == CAROM_NONE || carom_robot_motion_proved(m, pair, v)) continue;
        double by = (double)m->speed[pair * m->stride] * (0.5 * (v.high - v.low));
        *moved = CAROM_MAX(by, *moved);
        if (first == CAROM_NONE) first = pair;
    }
    return first;
}

/* What spheres leave of an interval is halved, or measured. */
CAROM_ITEM void carom_robot_motion_refine(carom_robot_motion_state *m,
                                          const carom_robot_motion_lane *lane,
                                          carom_robot_times v) {
    double middle = 0.5 * (v.low + v.high), half = 0.5 * (v.high - v.low), moved;
    if (lane->hit != CAROM_NONE) {
        carom_robot_motion_collide(m, v, middle, lane->hit);
        return;
    }
    uint32_t first = carom_robot_motion_open(m, lane, v, &moved);
    if (first == CAROM_NONE && !lane->beyond) return;
    if (m->rule.covers_only &&
        (lane->beyond || moved <= m->rule.step || half <= CAROM_ROBOT_MOTION_SHORTEST)) {
        carom_robot_motion_cut(m, v.low, lane->beyond ? 0 : first);
    } else if (lane->beyond || moved <= m->rule.step) {
        carom_robot_motion_advance(m, lane, v, middle);
    } else {
        carom_robot_motion_push(m, middle, v.high);
        carom_robot_motion_push(m, v.low, middle);
    }
}

/* ---- Result ---------------------------------------------------------------------------------- */

/* All bytes are set: they are the same in every answer. */
CAROM_ITEM void carom_robot_motion_end(const carom_robot_motion_state *m,
                                       carom_robot_motion_result *r) {
    memset(r, 0, sizeof(*r));
    r->free_until = r->contact = 1.0;
    r->a = r->b = CAROM_NONE;
    if (m->cut == HUGE_VAL) return;
    CAROM_ASSERT(m->cut >= 0.0 && m->cut <= 1.0 && m->cut <= m->contact);
    bool collides = m->contact < HUGE_VAL;
    r->verdict = collides ? CAROM_ROBOT_VERDICT_COLLIDING : CAROM_ROBOT_VERDICT_OPEN;
    r->free_until = m->cut;
    if (collides) r->contact = m->contact;
    uint32_t pair = collides ? m->hit : m->pair;
    r->a = m->view->plan.pairs[pair].a;
    r->b = m->view->plan.pairs[pair].b;
    r->with_object = pair >= m->view->plan.self_count;
}

#endif
