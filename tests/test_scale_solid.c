/* SPDX-License-Identifier: MIT */
/* The overlap of two solids, at every scale, size ratio and distance from the origin: volume,
 * centroid, area, force and torque within the errors that are told with them, and the relation,
 * against exact integrals (tests/support/scale_solid.h). One thread. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "tests/support/scale_solid.h"

/* Corners of cut faces are rounded to SCALE_BITS; up to 2^60 in size and 2^50 of offset cost three
 * times that much of a volume. */
#define ORACLE_BITS 400

/* Beyond this a value may leave the doubles and its error be infinite. */
#define SATURATES 1000 /* exponent */

/* The error of a volume may be this share of the cube around the smaller solid, beside what poses
 * are rounded by. */
#define LOOSE 1e-10

typedef struct pair {
    scale_model a, b; /* in the world */
    carom_pose pose_a, pose_b;
    scale_model mesh_a, mesh_b; /* before their poses */
    bool complement[2];         /* the space outside a, outside b */
    char what[160];
} pair;

/* ---- making pairs ---------------------------------------------------------------------------- */

typedef struct choice {
    bool simple;
    int most_ratio;  /* of sizes: 2^0 .. 2^most */
    int most_offset; /* of both from the origin: 2^0 .. 2^most of their size; 0: none */
    int most_thin;   /* one axis is shorter by up to 2^most */
    int low, high;   /* exponents of the scale */
} choice;

static carom_vec3 negative(carom_vec3 v) {
    return (carom_vec3){-v.x, -v.y, -v.z};
}

static carom_vec3 some_point(scale_case *c, const scale_model *model) {
    const carom_vec3 *p = model->point;
    return (carom_vec3){p[scale_below(c, model->points)].x, p[scale_below(c, model->points)].y,
                        p[scale_below(c, model->points)].z};
}

static carom_vec3 lattice(scale_case *c, int reach) {
    carom_vec3 p;
    p.x = scale_between(c, -reach, reach);
    p.y = scale_between(c, -reach, reach);
    p.z = scale_between(c, -reach, reach);
    return p;
}

static void make_thin(scale_case *c, int most, scale_model *model) {
    int k[3] = {0, 0, 0};
    if (most == 0 || scale_one_in(c, 3)) return;
    k[scale_below(c, 3)] = -scale_between(c, 1, most);
    if (scale_one_in(c, 3)) k[scale_below(c, 3)] = -scale_between(c, 1, most);
    (void)model_by_power(model, k[0], k[1], k[2]);
}

/* x' = z, y' = x, z' = y and such: rotations that round nothing. */
static carom_pose make_turn(scale_case *c) {
    carom_pose pose = {.q.w = 0.0};
    switch (scale_below(c, 6)) {
    case 0:
        return (carom_pose){.q.x = 1.0};
    case 1:
        return (carom_pose){.q.y = -1.0};
    case 2:
        return (carom_pose){.q.z = 2.0};
    case 3:
        return (carom_pose){.q.w = 1.0, .q.x = 1.0, .q.y = 1.0, .q.z = 1.0};
    case 4:
        return (carom_pose){.q.w = -1.0, .q.x = 1.0, .q.y = 1.0, .q.z = 1.0};
    default:
        return pose;
    }
}

static carom_vec3 turned_back(const carom_pose *pose, carom_vec3 v) {
    if (pose->q.w > 0.0) return (carom_vec3){v.y, v.z, v.x};
    if (pose->q.w < 0.0) return (carom_vec3){v.z, v.x, v.y};
    if (pose->q.x != 0.0) return (carom_vec3){v.x, -v.y, -v.z};
    if (pose->q.y != 0.0) return (carom_vec3){-v.x, v.y, -v.z};
    if (pose->q.z != 0.0) return (carom_vec3){-v.x, -v.y, v.z};
    return v;
}

/* The mesh of a model in the world, such that its pose moves it there without rounding. */
static void make_exact_pose(scale_case *c, const scale_model *world, carom_pose *pose,
                            scale_model *mesh) {
    carom_vec3 to = some_point(c, world);
    *pose = make_turn(c);
    if (!model_offset(mesh, negative(to))) to = (carom_vec3){0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < mesh->points; ++i) mesh->point[i] = turned_back(pose, mesh->point[i]);
    pose->t = to;
}

/* Any pose: the world is where it moves the mesh, rounded. Tetrahedra stay such, as long as none is
 * turned inside out; boxes would not. */
static void make_rounded_pose(scale_case *c, scale_model *world, carom_pose *pose) {
    scale_model moved = *world;
    carom_vec3 to = some_point(c, world);
    pose->q.w = carom_random_between(&c->random, -1.0, 1.0);
    pose->q.x = carom_random_between(&c->random, -1.0, 1.0);
    pose->q.y = carom_random_between(&c->random, -1.0, 1.0);
    pose->q.z = scale_one_in(c, 4) ? 0.0 : carom_random_between(&c->random, -1.0, 1.0);
    pose->t = (carom_vec3){0.7 * to.x, -0.3 * to.y, to.z};
    carom_frame frame = carom_frame_make(pose);
    for (uint32_t i = 0; i < world->points; ++i)
        moved.point[i] = carom_frame_apply(&frame, world->point[i]);
    bool good = true;
    for (uint32_t i = 0; i + 3 < world->points; i += 4)
        good = good && exact_orient_3d(&moved.point[i]) == exact_orient_3d(&world->point[i]);
    if (good)
        *world = moved;
    else
        *pose = (carom_pose){.q.w = 0.0};
}

static void make_pose(scale_case *c, scale_model *world, carom_pose *pose, scale_model *mesh) {
    *pose = (carom_pose){.q.w = 0.0};
    *mesh = *world;
    if (scale_one_in(c, 2)) return;
    bool tetrahedra = strstr(world->kind, "tetrahedr") != NULL;
    if (tetrahedra && scale_one_in(c, 2))
        make_rounded_pose(c, world, pose);
    else
        make_exact_pose(c, world, pose, mesh);
}

static void turn_inside_out(scale_model *model) {
    for (uint32_t i = 0; i < model->pieces; ++i) model->piece[i].weight *= -1;
    for (uint32_t f = 0; f < model->faces; ++f) {
        uint32_t *corners = &model->corners[3 * f], other = corners[1];
        corners[1] = corners[2];
        corners[2] = other;
    }
}

static void make_pair(scale_case *c, const choice *choice, pair *p) {
    model_make(c, choice->simple, &p->a);
    model_make(c, choice->simple || scale_one_in(c, 2), &p->b);
    if (!choice->simple && scale_one_in(c, 2)) {
        scale_model other = p->a;
        p->a = p->b;
        p->b = other;
    }
    if (scale_one_in(c, 12)) p->b = p->a; /* copies */
    /* On a lattice of 4: moved by less, b has no plane in common with a. */
    (void)model_by_power(&p->a, 2, 2, 2);
    (void)model_by_power(&p->b, 2, 2, 2);
    int thin = 0, ratio = 0, far = 0;
    if (choice->most_thin > 0) {
        make_thin(c, choice->most_thin, &p->a);
        make_thin(c, choice->most_thin, &p->b);
        thin = 1;
    }
    /* A point of one on a point of the other, or near it. */
    if (!scale_one_in(c, 8)) {
        (void)model_offset(&p->a, negative(some_point(c, &p->a)));
        (void)model_offset(&p->b, negative(some_point(c, &p->b)));
    }
    if (choice->most_ratio > 0) {
        ratio = scale_between(c, 0, choice->most_ratio);
        if (scale_one_in(c, 2)) ratio = -ratio;
        (void)model_by_power(ratio > 0 ? &p->a : &p->b, abs(ratio), abs(ratio), abs(ratio));
    }
    carom_vec3 by = lattice(c, 2);
    if (scale_one_in(c, 2)) by = lattice(c, 8);
    if (scale_one_in(c, 4)) by = scale_vec(lattice(c, 3), 2);
    (void)model_offset(scale_one_in(c, 2) ? &p->a : &p->b, by);
    if (choice->most_offset > 0) {
        for (far = scale_between(c, 0, choice->most_offset) + 4; far > 0; --far) {
            carom_vec3 offset = scale_vec(lattice(c, 2), far);
            scale_model a = p->a, b = p->b;
            if (!model_offset(&a, offset) || !model_offset(&b, offset)) continue;
            p->a = a;
            p->b = b;
            break;
        }
    }
    int k = 0;
    for (int attempt = 0; attempt < 20 && choice->low < choice->high; ++attempt) {
        scale_model a = p->a, b = p->b;
        k = scale_exponent(c, choice->low, choice->high);
        if (!model_by_power(&a, k, k, k) || !model_by_power(&b, k, k, k)) continue;
        p->a = a;
        p->b = b;
        break;
    }
    make_pose(c, &p->a, &p->pose_a, &p->mesh_a);
    make_pose(c, &p->b, &p->pose_b, &p->mesh_b);
    p->complement[0] = choice->simple && scale_one_in(c, 8);
    p->complement[1] = choice->simple && !p->complement[0] && scale_one_in(c, 8);
    (void)snprintf(p->what, sizeof(p->what),
                   "%s%s, %s%s, ratio 2^%d, thin %d, offset 2^%d, scale 2^%d",
                   p->complement[0] ? "outside of " : "", p->a.kind,
                   p->complement[1] ? "outside of " : "", p->b.kind, ratio, thin, far, k);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool leaves_doubles(number size) {
    return size.sign != 0 && number_exponent(size) >= SATURATES;
}

/* Is the truth, which is known to ORACLE_BITS of its terms, within the error of the value? `size`
 * is that of the terms: an error is infinite only where these leave the doubles. */
static bool contains(double value, double error, number truth, number size) {
    if (isnan(value) || isnan(error) || !(error >= 0.0)) return false;
    if (isinf(error)) return leaves_doubles(size);
    number bound = number_add(number_of(error), number_mul(size, number_power(-ORACLE_BITS)));
    return isfinite(value) && number_within(number_of(value), truth, bound);
}

static double component(carom_vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* How large things are: the smaller solid's longest edge, its powers, and the lever of torques. */
typedef struct magnitude {
    number length, area, volume, torque;
    number rounding; /* of poses */
} magnitude;

static number longest_edge(const scale_model *model) {
    double most = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (uint32_t i = 0; i < model->points; ++i) {
            low = fmin(low, component(model->point[i], k));
            high = fmax(high, component(model->point[i], k));
        }
        most = fmax(most, high - low);
    }
    return number_of(most);
}

static double largest(carom_vec3 v) {
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

static magnitude get_magnitude(const pair *p) {
    number a = longest_edge(&p->a), b = longest_edge(&p->b);
    magnitude m = {.length = number_compare(a, b) < 0 ? a : b};
    if (p->complement[0]) m.length = b;
    if (p->complement[1]) m.length = a;
    m.area = number_mul(m.length, m.length);
    m.volume = number_mul(m.area, m.length);
    m.torque = number_mul(m.area, number_add(b, m.length));
    double far = 0.0;
    for (uint32_t i = 0; i < p->a.points; ++i) far = fmax(far, largest(p->a.point[i]));
    for (uint32_t i = 0; i < p->b.points; ++i) far = fmax(far, largest(p->b.point[i]));
    m.rounding = number_mul(number_of(64.0), number_ulp(far));
    return m;
}

static bool far_below(number small, number large) {
    return number_compare(number_mul(number_abs(small), number_power(300)), large) < 0;
}

/* How many pairs of triangles meet, and the least squared distance where none do. */
static uint64_t count_intersecting(const pair *p, ratio *least) {
    uint64_t intersecting = 0;
    long double reach = HUGE_VALL;
    *least = ratio_of(number_of(0.0), number_power(0));
    for (uint32_t i = 0; i < p->a.faces; ++i) {
        carom_vec3 ca[3], cb[3];
        for (int k = 0; k < 3; ++k) ca[k] = p->a.point[p->a.corners[3 * i + k]];
        exact_triangle ta = exact_triangle_of(ca);
        for (uint32_t j = 0; j < p->b.faces; ++j) {
            for (int k = 0; k < 3; ++k) cb[k] = p->b.point[p->b.corners[3 * j + k]];
            long double gap = exact_box_gap(ca, 3, cb, 3);
            if (gap > 0 && (intersecting > 0 || gap * (1 - 1e-9L) > reach)) continue;
            exact_triangle tb = exact_triangle_of(cb);
            ratio squared = exact_triangles(&ta, &tb);
            intersecting += ratio_sign(squared) == 0;
            if (reach == HUGE_VALL || ratio_compare(squared, *least) < 0) {
                *least = squared;
                number root = number_sqrt(number_div(squared.top, squared.bottom, 80), 64);
                reach = number_show(root);
                reach *= reach * (1 + 1e-9L);
            }
        }
    }
    return intersecting;
}

static bool surfaces_meet(const pair *p) {
    for (uint32_t i = 0; i < p->a.faces; ++i) {
        carom_vec3 ca[3], cb[3];
        for (int k = 0; k < 3; ++k) ca[k] = p->a.point[p->a.corners[3 * i + k]];
        exact_triangle ta = exact_triangle_of(ca);
        for (uint32_t j = 0; j < p->b.faces; ++j) {
            for (int k = 0; k < 3; ++k) cb[k] = p->b.point[p->b.corners[3 * j + k]];
            if (exact_box_gap(ca, 3, cb, 3) > 0) continue;
            exact_triangle tb = exact_triangle_of(cb);
            if (ratio_sign(exact_triangles(&ta, &tb)) == 0) return true;
        }
    }
    return false;
}

/* ---- checking -------------------------------------------------------------------------------- */

static void check_relation(scale_case *c, const pair *p, const model_measure *a,
                           const model_measure *b, const scale_overlap *truth,
                           const carom_solid_result *o) {
    number rest_a = number_sub(a->volume, truth->volume);
    number rest_b = number_sub(b->volume, truth->volume);
    number least = number_compare(a->volume, b->volume) < 0 ? a->volume : b->volume;
    if (p->complement[0]) rest_a = least = b->volume; /* what is left of all space is infinite */
    if (p->complement[1]) rest_b = least = a->volume;
    carom_relation right = CAROM_RELATION_OVERLAPPING;
    if (far_below(truth->volume, least))
        right = surfaces_meet(p) ? CAROM_RELATION_TOUCHING : CAROM_RELATION_APART;
    else if (far_below(rest_a, a->volume))
        right = CAROM_RELATION_A_INSIDE_B;
    else if (far_below(rest_b, b->volume))
        right = CAROM_RELATION_B_INSIDE_A;
    scale_expect(c, o->relation == right, "relation %s, right %s; volume %g +- %g, right %g (%s)",
                 carom_relation_name(o->relation), carom_relation_name(right), o->volume,
                 o->volume_error, number_show(truth->volume), p->what);
}

/* The winding number of a model at a point; false when the point is on a plane of a piece. */
static bool winding_at(const scale_model *model, carom_vec3 p, int *winding) {
    *winding = 0;
    for (uint32_t i = 0; i < model->pieces; ++i) {
        const scale_piece *piece = &model->piece[i];
        bool inside = true;
        for (int k = 0; k < piece->planes && inside; ++k) {
            const uint32_t *at = piece->plane[k];
            int side = exact_orient_3d(
                (carom_vec3[4]){model->point[at[0]], model->point[at[1]], model->point[at[2]], p});
            if (side == 0) return false;
            inside = side < 0;
        }
        if (inside) *winding += piece->weight;
    }
    return true;
}

/* Points that are inside both, or only one, forbid relations; solids are where the winding number
 * is not 0. */
static void check_relation_by_points(scale_case *c, const pair *p, const carom_solid_result *o) {
    bool both = false, only_a = false, only_b = false;
    for (int n = 0; n < 40; ++n) {
        const scale_model *model = n % 2 == 0 ? &p->a : &p->b;
        carom_vec3 u = some_point(c, model), v = some_point(c, model), x;
        x.x = u.x + (v.x - u.x) * carom_random_uniform(&c->random);
        x.y = u.y + (v.y - u.y) * carom_random_uniform(&c->random);
        x.z = u.z + (v.z - u.z) * carom_random_uniform(&c->random);
        int in_a, in_b;
        if (!winding_at(&p->a, x, &in_a) || !winding_at(&p->b, x, &in_b)) continue;
        both = both || (in_a != 0 && in_b != 0);
        only_a = only_a || (in_a != 0 && in_b == 0);
        only_b = only_b || (in_a == 0 && in_b != 0);
    }
    bool forbidden = false;
    if (o->relation == CAROM_RELATION_APART || o->relation == CAROM_RELATION_TOUCHING)
        forbidden = both;
    if (o->relation == CAROM_RELATION_A_INSIDE_B) forbidden = only_a;
    if (o->relation == CAROM_RELATION_B_INSIDE_A) forbidden = only_b;
    scale_expect(c, !forbidden, "relation %s, but there are points in%s%s%s; volume %g +- %g (%s)",
                 carom_relation_name(o->relation), both ? " both" : "", only_a ? " a only" : "",
                 only_b ? " b only" : "", o->volume, o->volume_error, p->what);
}

static void check_volume(scale_case *c, const pair *p, const scale_overlap *truth,
                         const carom_solid_result *o, const magnitude *size) {
    scale_expect(c, contains(o->volume, o->volume_error, truth->volume, size->volume),
                 "volume %.17g +- %g, right %.17g (%s)", o->volume, o->volume_error,
                 number_show(truth->volume), p->what);
    number most = number_add(number_mul(number_of(LOOSE), size->volume), number_power(-1060));
    most = number_add(most, number_mul(size->rounding, size->area));
    if (isfinite(o->volume_error) && o->volume_error >= 0.0)
        scale_expect(c, number_compare(number_of(o->volume_error), most) <= 0,
                     "error of the volume: %.17g +- %g, right %.17g (%s)", o->volume,
                     o->volume_error, number_show(truth->volume), p->what);
}

static void check_centroid(scale_case *c, const pair *p, const scale_overlap *truth,
                           const carom_solid_result *o, const magnitude *size) {
    for (int k = 0; k < 3; ++k) {
        double got = component(o->centroid, k);
        number right = number_div(truth->moment.x[k], truth->volume, SCALE_BITS);
        double error = o->centroid_error;
        bool unknown = isinf(error) && !(fabs(o->volume) > o->volume_error);
        scale_expect(c, unknown ? isfinite(got) : contains(got, error, right, size->length),
                     "centroid[%d] %.17g +- %g, right %.17g (%s)", k, got, error,
                     number_show(right), p->what);
    }
}

static number mean(number a, number b) {
    return number_mul(number_add(a, b), number_power(-1));
}

static void check_area(scale_case *c, const pair *p, const scale_overlap *truth,
                       const carom_solid_result *o, const magnitude *size) {
    double error = o->area_error;
    number right = mean(truth->area[0], truth->area[1]);
    scale_expect(c, contains(o->area, error, right, size->area),
                 "area %.17g +- %g, right %.17g (%.17g, %.17g) (%s)", o->area, error,
                 number_show(right), number_show(truth->area[0]), number_show(truth->area[1]),
                 p->what);
}

/* The mean of both sides where the derivative jumps. */
static void check_force(scale_case *c, const pair *p, const scale_overlap *truth,
                        const carom_solid_result *o, const magnitude *size) {
    bool jumps = false;
    for (int k = 0; k < 3; ++k) {
        double force = component(o->force, k), torque = component(o->torque, k);
        number right = mean(truth->force[0].x[k], truth->force[1].x[k]);
        double error = o->force_error;
        jumps =
            jumps || !far_below(number_sub(truth->force[0].x[k], truth->force[1].x[k]), size->area);
        scale_expect(c, contains(force, error, right, size->area),
                     "force[%d] %.17g +- %g, right %.17g (%.17g, %.17g) (%s)", k, force, error,
                     number_show(right), number_show(truth->force[0].x[k]),
                     number_show(truth->force[1].x[k]), p->what);
        right = mean(truth->torque[0].x[k], truth->torque[1].x[k]);
        error = o->torque_error;
        scale_expect(c, contains(torque, error, right, size->torque),
                     "torque[%d] %.17g +- %g, right %.17g (%.17g, %.17g) (%s)", k, torque, error,
                     number_show(right), number_show(truth->torque[0].x[k]),
                     number_show(truth->torque[1].x[k]), p->what);
    }
    if (jumps) scale_expect(c, o->one_sided, "the force jumps, and it is not said (%s)", p->what);
}

static void check_contact(scale_case *c, const pair *p, const carom_solid_result *o) {
    ratio least;
    uint64_t intersecting = count_intersecting(p, &least);
    scale_expect(c, o->pairs == intersecting, "%" PRIu64 " pairs meet, right %" PRIu64 " (%s)",
                 o->pairs, intersecting, p->what);
    if (o->relation != CAROM_RELATION_APART) {
        scale_expect(c, o->distance == 0.0, "distance %g (%s)", o->distance, p->what);
        return;
    }
    double extent = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (uint32_t i = 0; i < p->a.points + p->b.points; ++i) {
            const carom_vec3 *at = i < p->a.points ? &p->a.point[i] : &p->b.point[i - p->a.points];
            low = fmin(low, component(*at, k));
            high = fmax(high, component(*at, k));
        }
        extent = fmax(extent, high - low);
    }
    number bound = number_mul(number_of(2e-15), number_of(extent));
    bound = number_add(bound, number_power(-1074));
    scale_expect(
        c, o->has_distance && isfinite(o->distance) && ratio_root_within(o->distance, least, bound),
        "distance %.17g, right %.17g (%s)", o->distance,
        number_show(number_sqrt(number_div(least.top, least.bottom, 80), 64)), p->what);
}

static void check_patches(scale_case *c, const pair *p, const carom_solid *a, const carom_solid *b,
                          const carom_solid_result *o, const magnitude *size) {
    carom_solid_patches patches = {0};
    if (!scale_ok(c,
                  carom_solid_overlap_patches(c->context, a, &p->pose_a, b, &p->pose_b, &patches)))
        return;
    double volume = 0.0;
    bool ordered = true;
    for (uint64_t i = 0; i < patches.count; ++i) {
        volume += patches.data[i].volume;
        ordered = ordered && patches.data[i].volume >= 0.0;
        if (i > 0) ordered = ordered && patches.data[i].volume <= patches.data[i - 1].volume;
    }
    scale_expect(c, ordered, "patches are not in order: %g, %g of %" PRIu64 " (%s)",
                 patches.count > 0 ? patches.data[0].volume : 0.0,
                 patches.count > 1 ? patches.data[1].volume : 0.0, patches.count, p->what);
    /* Left out are pieces within their error. */
    double bound = 20.0 * o->volume_error + 1e-12 * number_show(size->volume) + 0x1p-1060;
    scale_expect(c,
                 fabs(volume - o->volume) <= bound || (isinf(volume) && isinf(o->volume)) ||
                     fabs(o->volume) >= 0x1p1000,
                 "patches %.17g of volume %.17g +- %g (%s)", volume, o->volume, o->volume_error,
                 p->what);
    carom_solid_patches_free(&patches);
}

/* Is the winding number known to be other than 0 and 1 somewhere? */
static bool winds(const scale_model *model, int sign) {
    return sign > 0 ? model->least < 0 || model->most > 1 : model->most > 0 || model->least < -1;
}

/* What is left of a solid when the overlap is taken out; forces are the opposite ones. */
static void take_complement(const model_measure *solid, scale_overlap *o) {
    o->volume = number_sub(solid->volume, o->volume);
    for (int k = 0; k < 3; ++k) {
        number whole = number_mul(solid->centroid.x[k], solid->volume);
        o->moment.x[k] = number_sub(whole, o->moment.x[k]);
        for (int s = 0; s < 2; ++s) {
            o->force[s].x[k] = number_negate(o->force[s].x[k]);
            o->torque[s].x[k] = number_negate(o->torque[s].x[k]);
        }
    }
}

/* Torques are about the centroid of b's own mesh, moved by its pose. */
static number3 posed_centroid(const scale_model *mesh, const carom_pose *pose) {
    carom_frame frame = carom_frame_make(pose);
    model_measure measure;
    number3 to = number3_of(frame.t);
    model_get_measure(mesh, &measure);
    for (int k = 0; k < 9; ++k)
        to.x[k / 3] =
            number_add(to.x[k / 3], number_mul(number_of(frame.r[k]), measure.centroid.x[k % 3]));
    return to;
}

static void check_pair(scale_case *c, pair *p) {
    model_measure measure_a, measure_b;
    model_get_measure(&p->a, &measure_a);
    model_get_measure(&p->b, &measure_b);
    if (measure_a.volume.sign == 0 || measure_b.volume.sign == 0) return;
    carom_solid *a = NULL, *b = NULL;
    const carom_solid_def def_a = {.mesh = (carom_mesh_view[]){model_view(&p->mesh_a)},
                                   .complement = p->complement[0]};
    const carom_solid_def def_b = {.mesh = (carom_mesh_view[]){model_view(&p->mesh_b)},
                                   .complement = p->complement[1]};
    const carom_solid_query_def def = {.distance = scale_one_in(c, 6)};
    carom_solid_result o = {0};
    if (!scale_ok(c, carom_solid_create(c->context, &def_a, &a)) ||
        !scale_ok(c, carom_solid_create(c->context, &def_b, &b)) ||
        !scale_ok(c, carom_solid_overlap(c->context, a, &p->pose_a, b, &p->pose_b, &def, &o))) {
        carom_solid_destroy(a);
        carom_solid_destroy(b);
        return;
    }
    /* Meshes inside out are turned. */
    bool winds_a = winds(&p->a, measure_a.volume.sign),
         winds_b = winds(&p->b, measure_b.volume.sign);
    if (measure_a.volume.sign < 0) turn_inside_out(&p->a);
    if (measure_b.volume.sign < 0) turn_inside_out(&p->b);
    measure_a.volume = number_abs(measure_a.volume);
    measure_b.volume = number_abs(measure_b.volume);
    scale_overlap truth;
    scale_get_overlap(&p->a, &p->b, posed_centroid(&p->mesh_b, &p->pose_b), &truth);
    if (p->complement[0] || p->complement[1])
        take_complement(p->complement[0] ? &measure_b : &measure_a, &truth);
    magnitude size = get_magnitude(p);
    bool simple = p->a.simple && p->b.simple;
    bool complement = p->complement[0] || p->complement[1];
    check_volume(c, p, &truth, &o, &size);
    if (simple) check_relation(c, p, &measure_a, &measure_b, &truth, &o);
    if (!simple) check_relation_by_points(c, p, &o);
    if (!simple && (winds_a || winds_b))
        scale_expect(c, o.by_winding, "winding, and it is not said (%s)", p->what);
    number least = number_compare(measure_a.volume, measure_b.volume) < 0 ? measure_a.volume
                                                                          : measure_b.volume;
    if (complement) least = p->complement[0] ? measure_b.volume : measure_a.volume;
    if (simple && !far_below(truth.volume, least)) check_centroid(c, p, &truth, &o, &size);
    if (simple && !complement) check_area(c, p, &truth, &o, &size);
    check_force(c, p, &truth, &o, &size);
    if (def.distance) check_contact(c, p, &o);
    if (simple && scale_one_in(c, 4)) check_patches(c, p, a, b, &o, &size);
    carom_solid_destroy(a);
    carom_solid_destroy(b);
}

/* ---- what a solid says of itself ------------------------------------------------------------- */

static void check_info(scale_case *c, const scale_model *model, const char *what) {
    model_measure measure;
    carom_solid *solid = NULL;
    carom_solid_info info;
    model_get_measure(model, &measure);
    if (!scale_ok(c,
                  carom_solid_create(
                      c->context,
                      &(carom_solid_def){.mesh = (carom_mesh_view[]){model_view(model)}}, &solid)))
        return;
    scale_ok(c, carom_solid_get_info(solid, &info));
    carom_solid_destroy(solid);
    number volume = number_abs(measure.volume);
    double v = number_show(volume), area = number_show(measure.area);
    scale_expect(c,
                 isfinite(v) ? isfinite(info.volume) &&
                                   number_within(number_of(info.volume), volume,
                                                 number_add(number_mul(volume, number_of(1e-12)),
                                                            number_power(-1074)))
                             : info.volume >= DBL_MAX,
                 "volume of a solid: %.17g, right %.17g (%s)", info.volume, v, what);
    scale_expect(c,
                 isfinite(area)
                     ? isfinite(info.area) &&
                           number_within(number_of(info.area), measure.area,
                                         number_add(number_mul(measure.area, number_of(1e-12)),
                                                    number_power(-1074)))
                     : info.area >= DBL_MAX,
                 "area of a solid: %.17g, right %.17g (%s)", info.area, area, what);
    for (int k = 0; k < 3 && measure.volume.sign != 0 && model->simple; ++k) {
        double got = component(info.centroid, k), low = HUGE_VAL, high = -HUGE_VAL;
        for (uint32_t i = 0; i < model->points; ++i) {
            low = fmin(low, component(model->point[i], k));
            high = fmax(high, component(model->point[i], k));
        }
        number bound = number_mul(number_of(1e-9), number_of(high - low));
        bound = number_add(bound, number_mul(number_of(4.0), number_ulp(fmax(-low, high))));
        scale_expect(c,
                     isfinite(got) && number_within(number_of(got), measure.centroid.x[k], bound),
                     "centroid[%d] of a solid: %.17g, right %.17g (%s)", k, got,
                     number_show(measure.centroid.x[k]), what);
    }
}

/* ---- properties ------------------------------------------------------------------------------ */

static void run_choice(scale_case *c, const choice *choice) {
    pair p;
    make_pair(c, choice, &p);
    if (scale_replays()) {
        carom_mesh_view a = model_view(&p.mesh_a), b = model_view(&p.mesh_b);
        scale_print_mesh("a", &a, &p.pose_a);
        scale_print_mesh("b", &b, &p.pose_b);
    }
    check_info(c, &p.mesh_a, p.what);
    check_pair(c, &p);
}

static void ordinary(scale_case *c) {
    run_choice(c, &(choice){.simple = true});
}

static void scales(scale_case *c) {
    run_choice(c, &(choice){.simple = true, .low = -1074, .high = 1000});
}

static void ratios(scale_case *c) {
    run_choice(c, &(choice){.simple = true, .most_ratio = 60});
}

static void offsets(scale_case *c) {
    run_choice(c, &(choice){.simple = true, .most_ratio = 8, .most_offset = 50});
}

static void plates(scale_case *c) {
    run_choice(c, &(choice){.simple = true, .most_thin = 30});
}

static void everything(scale_case *c) {
    run_choice(c, &(choice){.simple = true,
                            .most_ratio = 60,
                            .most_offset = 50,
                            .most_thin = 20,
                            .low = -1000,
                            .high = 1000});
}

static void winding(scale_case *c) {
    run_choice(c, &(choice){.simple = false});
}

static void winding_everywhere(scale_case *c) {
    run_choice(c, &(choice){.simple = false, .most_ratio = 60, .low = -1000, .high = 1000});
}

#define LONGER 250

static void test_ordinary(void **state) {
    (void)state;
    scale_run("solid-ordinary", ordinary, 150, LONGER);
}

static void test_scales(void **state) {
    (void)state;
    scale_run("solid-scales", scales, 150, LONGER);
}

static void test_ratios(void **state) {
    (void)state;
    scale_run("solid-ratios", ratios, 150, LONGER);
}

static void test_offsets(void **state) {
    (void)state;
    scale_run("solid-offsets", offsets, 150, LONGER);
}

static void test_plates(void **state) {
    (void)state;
    scale_run("solid-plates", plates, 150, LONGER);
}

static void test_everything(void **state) {
    (void)state;
    scale_run("solid-everything", everything, 150, LONGER);
}

static void test_winding(void **state) {
    (void)state;
    scale_run("solid-winding", winding, 150, LONGER);
}

static void test_winding_everywhere(void **state) {
    (void)state;
    scale_run("solid-winding-everywhere", winding_everywhere, 100, LONGER);
}

int main(void) {
    if (!test_has_long_double()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary), cmocka_unit_test(test_scales),
        cmocka_unit_test(test_ratios),   cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_plates),   cmocka_unit_test(test_everything),
        cmocka_unit_test(test_winding),  cmocka_unit_test(test_winding_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
