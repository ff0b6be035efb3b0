/* SPDX-License-Identifier: MIT */
/* How far spheres leave the faces of a body outside.
 *
 * f(p) = min over spheres of |p - c| - r is the signed distance from the union: no point changes it
 * faster than it moves. So on a piece of a face within rho of its middle m, f lies between f(m) -
 * rho
 * and f(m) + rho. Pieces are halved at their longest side until they are decided: for the worst
 * point
 * once f(m) + rho is no more than the best point found and the tolerance, for the share once all
 * of a
 * piece is inside or outside, or too small to matter. What the work does not suffice for widens the
 * interval, so the interval always holds. */
#include "geom/length.h"
#include "robot/robot.h"

#define AUDIT_MOST_PIECES (UINT64_C(1) << 22) /* of each search */
#define AUDIT_STACK       128                 /* two per halving; 60 halvings exhaust doubles */
#define AUDIT_WORST_SHARE 0.01                /* of the worst distance: its tolerance */
#define AUDIT_WORST_SIZE  1e-6                /* of the size of the body: the same at least */
#define AUDIT_PIECE_SHARE 1e-6                /* of the area: pieces that are not halved */

/* Of the lengths that take part: far above the roundings of f and of middles. */
#define AUDIT_ROUNDING 0x1p-45

typedef struct audit_state {
    const carom_ball *spheres;
    uint64_t count, pieces;
    double rounding; /* of f */
    double lower, upper, tolerance;
    carom_vec3 point;
    double outside, undecided, smallest; /* areas */
} audit_state;

typedef struct audit_piece {
    carom_triangle t;
    carom_vec3 middle;
    double reach, f;
} audit_piece;

static double audit_f(const audit_state *s, carom_vec3 p) {
    double least = HUGE_VAL;
    for (uint64_t i = 0; i < s->count; ++i) {
        double d = carom_length(carom_vec_sub(p, s->spheres[i].centre)) - s->spheres[i].radius;
        least = CAROM_MIN(d, least);
    }
    return least;
}

static double audit_area(const carom_triangle *t) {
    carom_vec3 u = carom_vec_sub(t->corner[1], t->corner[0]);
    carom_vec3 v = carom_vec_sub(t->corner[2], t->corner[0]);
    return 0.5 * carom_length(carom_vec_cross(u, v));
}

static audit_piece audit_make(audit_state *s, const carom_triangle *t) {
    const carom_vec3 *c = t->corner;
    audit_piece p = {.t = *t};
    p.middle = carom_vec_scale(carom_vec_add(carom_vec_add(c[0], c[1]), c[2]), 1.0 / 3.0);
    for (int i = 0; i < 3; ++i) {
        double d = carom_length(carom_vec_sub(c[i], p.middle));
        p.reach = CAROM_MAX(d, p.reach);
    }
    p.f = audit_f(s, p.middle);
    ++s->pieces;
    return p;
}

/* The two halves of a triangle at its longest side. */
static void audit_halve(const carom_triangle *t, carom_triangle halves[2]) {
    int longest = 0;
    double length = -1.0;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 d = carom_vec_sub(t->corner[(i + 1) % 3], t->corner[i]);
        double squared = carom_vec_dot(d, d);
        if (squared > length) {
            length = squared;
            longest = i;
        }
    }
    int next = (longest + 1) % 3;
    carom_vec3 middle = carom_vec_scale(carom_vec_add(t->corner[longest], t->corner[next]), 0.5);
    halves[0] = halves[1] = *t;
    halves[0].corner[next] = middle;
    halves[1].corner[longest] = middle;
}

static void audit_try(audit_state *s, carom_vec3 p, double f) {
    if (f - s->rounding <= s->lower) return;
    s->lower = f - s->rounding;
    s->point = p;
}

/* Whether a triangle lies in one sphere, which is convex. */
static bool audit_is_in(const audit_state *s, const carom_triangle *t) {
    for (uint64_t i = 0; i < s->count; ++i) {
        bool inside = true;
        for (int k = 0; k < 3 && inside; ++k)
            inside =
                carom_length(carom_vec_sub(t->corner[k], s->spheres[i].centre)) + s->rounding <=
                s->spheres[i].radius;
        if (inside) return true;
    }
    return false;
}

static void audit_worst(audit_state *s, const carom_triangle *face) {
    audit_piece stack[AUDIT_STACK];
    int depth = 0;
    stack[depth++] = audit_make(s, face);
    while (depth > 0) {
        audit_piece p = stack[--depth];
        double most = p.f + p.reach + s->rounding;
        audit_try(s, p.middle, p.f);
        double enough = s->lower * (1.0 + AUDIT_WORST_SHARE) + s->tolerance;
        if (most <= enough || depth + 2 > AUDIT_STACK || s->pieces > AUDIT_MOST_PIECES) {
            if (!(most <= s->upper) && !(most > 0.0 && audit_is_in(s, &p.t))) s->upper = most;
            continue;
        }
        carom_triangle halves[2];
        audit_halve(&p.t, halves);
        stack[depth++] = audit_make(s, &halves[0]);
        stack[depth++] = audit_make(s, &halves[1]);
    }
}

static void audit_share(audit_state *s, const carom_triangle *face) {
    audit_piece stack[AUDIT_STACK];
    int depth = 0;
    stack[depth++] = audit_make(s, face);
    while (depth > 0) {
        audit_piece p = stack[--depth];
        double area = audit_area(&p.t);
        if (p.f - p.reach - s->rounding > 0.0) {
            s->outside += area;
        } else if (p.f + p.reach + s->rounding <= 0.0 || audit_is_in(s, &p.t)) {
            continue;
        } else if (area <= s->smallest || depth + 2 > AUDIT_STACK ||
                   s->pieces > AUDIT_MOST_PIECES) {
            s->undecided += area;
        } else {
            carom_triangle halves[2];
            audit_halve(&p.t, halves);
            stack[depth++] = audit_make(s, &halves[0]);
            stack[depth++] = audit_make(s, &halves[1]);
        }
    }
}

static bool audit_has_faces(const carom_robot_part *part) {
    return part->tree.triangles != NULL && part->kind != CAROM_ROBOT_SHAPE_KIND_CAPSULE;
}

static void audit_run(const carom_robot_body *body, audit_state *s, carom_robot_audit *audit) {
    for (uint32_t i = 0; i < body->part_count; ++i) {
        const carom_robot_tree *t = &body->parts[i].tree;
        if (!audit_has_faces(&body->parts[i])) continue;
        for (uint32_t k = 0; k < t->item_count; ++k) {
            audit->area += audit_area(&t->triangles[k]);
            for (int c = 0; c < 3; ++c)
                audit_try(s, t->triangles[k].corner[c], audit_f(s, t->triangles[k].corner[c]));
        }
    }
    s->smallest = audit->area * AUDIT_PIECE_SHARE;
    for (int share = 0; share < 2; ++share) {
        s->pieces = 0;
        for (uint32_t i = 0; i < body->part_count; ++i) {
            const carom_robot_tree *t = &body->parts[i].tree;
            if (!audit_has_faces(&body->parts[i])) continue;
            for (uint32_t k = 0; k < t->item_count; ++k) {
                if (share == 0)
                    audit_worst(s, &t->triangles[k]);
                else
                    audit_share(s, &t->triangles[k]);
            }
        }
    }
}

carom_status carom_robot_audit_spheres(carom_context *context, const carom_robot *robot,
                                       uint32_t body, const carom_ball *spheres, uint64_t count,
                                       carom_robot_audit *audit) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUTS(spheres, count, "spheres");
    CAROM_REQUIRE_OUTPUT(audit, "audit");
    *audit = (carom_robot_audit){0};
    if (body >= robot->body_count || !robot->bodies[body].live)
        return carom_fail(context, CAROM_BAD_INPUT, "there is no body %u", body);
    const carom_robot_body *b = &robot->bodies[body];
    audit_state s = {.spheres = spheres, .count = count};
    double far = b->largest;
    for (uint64_t i = 0; i < count; ++i) {
        if (!(carom_vec_within(spheres[i].centre, CAROM_ROBOT_MOST) && spheres[i].radius >= 0.0 &&
              spheres[i].radius <= CAROM_ROBOT_MOST))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %llu is not finite, beyond 2^40, or has a negative radius",
                              (unsigned long long)i);
        double reach = carom_length(spheres[i].centre) + spheres[i].radius;
        far = CAROM_MAX(reach, far);
    }
    s.rounding = AUDIT_ROUNDING * far;
    s.tolerance = AUDIT_WORST_SIZE * b->largest;
    for (uint32_t i = 0; i < b->part_count; ++i)
        if (!audit_has_faces(&b->parts[i]) && b->parts[i].tree.item_count != 0) ++audit->left_out;
    if (count != 0) {
        audit_run(b, &s, audit);
    } else {
        for (uint32_t i = 0; i < b->part_count; ++i)
            for (uint32_t k = 0; k < b->parts[i].tree.item_count; ++k)
                if (audit_has_faces(&b->parts[i]))
                    audit->area += audit_area(&b->parts[i].tree.triangles[k]);
        s.lower = s.upper = audit->area > 0.0 ? HUGE_VAL : 0.0;
        s.outside = audit->area;
    }
    double upper = CAROM_MAX(s.upper, s.lower);
    audit->worst = (carom_interval){s.lower, upper, upper};
    audit->point = s.point;
    if (!(audit->area > 0.0)) return CAROM_OK;
    double least = s.outside / audit->area * (1.0 - 0x1p-30);
    double most = (s.outside + s.undecided) / audit->area * (1.0 + 0x1p-30);
    most = CAROM_MIN(most, 1.0);
    audit->outside_share = (carom_interval){least, CAROM_MIN(0.5 * (least + most), 1.0), most};
    return CAROM_OK;
}
