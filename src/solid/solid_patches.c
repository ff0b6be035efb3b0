/* SPDX-License-Identifier: MIT */
/* The overlap in connected pieces.
 *
 * Each connected component of the overlap's surface (solid_surface.c) encloses a volume: a positive
 * one is a piece, a negative one a void inside a piece. A void belongs to the smallest piece that
 * winds around its points, by the sum of solid angles (Van Oosterom, Strackee 1983). Points where a
 * void touches a piece decide nothing; then other points are tested. Where no winding number is
 * negative, every void lies in some piece. Elsewhere, a void that no piece winds around is a piece
 * itself.
 *
 * Where faces share an area, pieces are computed twice, with both perturbation signs of b.
 * Invariant: a piece has the same volume and centroid for both signs. So it is matched by these,
 * and its area and force are the means. */
#include "base/progress.h"
#include "solid/solid_surface.h"

#include "base/math.h"

CAROM_RESULT_FILL(carom_solid_patches);
CAROM_RESULT_DEFINE_FREE(carom_solid_patches);

typedef struct solid_patches_patch {
    carom_sum terms[CAROM_SOLID_TERMS], errors[2];
    uint64_t triangles;
    double angle;  /* solid angle that it subtends at the point tested */
    double angles; /* the sum over all points tested */
    double volume, error;
    carom_solid_precise *precise; /* NULL where doubles are accurate enough */
    uint32_t holder;              /* the patch that it is a void of, or itself */
} solid_patches_patch;

typedef struct patches {
    const carom_solid_query *query;
    carom_solid_surface pieces;
    uint32_t *numbers; /* patch indices by set; CAROM_SOLID_NONE until it is encountered */
    solid_patches_patch *data;
    uint32_t count;
    uint64_t triangles;
    int limbs;      /* of precise sums */
    carom_vec3 eye; /* the middle of a side of triangle `triangle` of patch `which` */
    uint32_t which;
    uint64_t triangle; /* counts down to the triangle wanted */
} patches;

/* ---- Sums ------------------------------------------------------------------------------------ */

static void count_chip(void *user, const carom_solid_surface_triangle *triangle) {
    patches *p = user;
    if (p->numbers[triangle->piece] == CAROM_SOLID_NONE) p->numbers[triangle->piece] = p->count++;
    ++p->triangles;
}

static void add_chip(void *user, const carom_solid_surface_triangle *triangle) {
    patches *p = user;
    solid_patches_patch *to = &p->data[p->numbers[triangle->piece]];
    const carom_solid_doubt none = {0};
    double terms[CAROM_SOLID_SLOTS] = {0};
    carom_solid_add_triangle(terms, triangle->n, triangle->c, triangle->u, triangle->v,
                             triangle->weight, triangle->of_b, &none);
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        to->terms[i] = carom_sum_add(to->terms[i], carom_sum_term(terms[i], p->query->scales[i]));
    (void)carom_solid_add_error(p->query, &to->errors[0], terms, 0);
    ++to->triangles;
}

/* ---- Multiple precision ---------------------------------------------------------------------- */

/* Error of a volume relative to it, above which it is computed again in multiple precision: pieces
 * and voids are told apart by the signs of volumes, and matched by their values to 1e-9, so that 12
 * bits of it remain. */
#define PATCH_PRECISION 0x1p-42
/* Surface triangles up to which it is, which bounds the time. */
#define PATCH_PRECISE_TRIANGLES 20000u
/* Limbs of 64 bits: 512 bits; and 2,048, as many as are ever needed (CAROM_REAL_MOST). */
#define PATCH_LIMBS      8
#define PATCH_MOST_LIMBS 32

static void add_chip_precisely(void *user, const carom_solid_surface_triangle *triangle) {
    patches *p = user;
    carom_solid_spot spots[3];
    for (int i = 0; i < 3; ++i) spots[i] = carom_solid_spot_of(&p->pieces, triangle->nodes[i]);
    carom_solid_precise_add(p->query, p->data[p->numbers[triangle->piece]].precise, p->limbs,
                            triangle->of_b, triangle->triangle, spots, (int)triangle->weight);
}

static bool solid_patches_is_weak(const patches *p) {
    bool weak = false;
    for (uint32_t i = 0; i < p->count; ++i)
        weak = weak || !(p->data[i].error <= PATCH_PRECISION * fabs(p->data[i].volume));
    return weak;
}

/* Computes volumes and their errors, in doubles or in multiple precision. */
static carom_status find_volumes(patches *p) {
    uint64_t triangles = 0;
    for (uint32_t i = 0; i < p->count; ++i) {
        solid_patches_patch *one = &p->data[i];
        triangles += one->triangles;
        one->volume = carom_solid_sum_of(p->query, one->terms, CAROM_SOLID_VOLUME);
        one->error = carom_solid_error_of(p->query, one->errors, 0);
        one->holder = i;
    }
    CAROM_ASSERT(triangles == p->triangles); /* each was added to one piece */
    if (p->triangles > PATCH_PRECISE_TRIANGLES || !solid_patches_is_weak(p)) return CAROM_OK;
    carom_solid_precise *sums = CAROM_ARENA_TAKE(p->pieces.scratch, carom_solid_precise, p->count);
    if (sums == NULL)
        return carom_fail_memory(p->query->context, p->count * sizeof(*sums), "patches");
    for (p->limbs = PATCH_LIMBS;; p->limbs = PATCH_MOST_LIMBS) {
        for (uint32_t i = 0; i < p->count; ++i) {
            p->data[i].precise = &sums[i];
            carom_solid_precise_begin(&sums[i], p->limbs);
        }
        carom_solid_each_surface_triangle(&p->pieces, add_chip_precisely, p);
        for (uint32_t i = 0; i < p->count; ++i)
            p->data[i].volume = carom_solid_precise_volume(&sums[i], p->limbs, &p->data[i].error);
        if (p->limbs == PATCH_MOST_LIMBS || !solid_patches_is_weak(p)) return CAROM_OK;
    }
}

/* ---- Voids ----------------------------------------------------------------------------------- */

/* Picks the midpoint of side u v of a triangle: these sides are on the surface. */
static void pick_chip(void *user, const carom_solid_surface_triangle *triangle) {
    patches *p = user;
    if (p->numbers[triangle->piece] != p->which || p->triangle-- != 0) return;
    p->eye = carom_vec_add(carom_vec_scale(triangle->u, 0.5), carom_vec_scale(triangle->v, 0.5));
}

/* Rotation of a unit vector by rounding, in radians: a difference, a product with 1 / size and the
 * unit vector have six roundings of 2^-53; and of the points, relative to their distance. */
#define PATCH_TURN 0x1p-50
/* Upper bound of the error of the triple product of three unit vectors, in their rotations: one for
 * each, and one of them for its own roundings. */
#define PATCH_TRIPLE_TURNS 4.0

/* The direction from the eye to a point, and an upper bound of its rotation by rounding. */
static carom_vec3 solid_patches_look_at(const patches *p, carom_vec3 x, double *turned) {
    carom_vec3 d = carom_vec_sub(x, p->eye);
    double size = carom_solid_most(d), reach = carom_solid_most(x) + carom_solid_most(p->eye);
    *turned = HUGE_VAL;
    if (!(size > 0.0)) return d;
    *turned = PATCH_TURN * (1.0 + reach / size);
    return carom_solid_unit(carom_vec_scale(d, 1.0 / size));
}

/* Adds a triangle's solid angle. If the eye may be in the triangle's plane, the triangle covers
 * nothing or, from either side, half of all directions; the mean of both sides is 0. */
static void see_chip(void *user, const carom_solid_surface_triangle *triangle) {
    patches *p = user;
    solid_patches_patch *to = &p->data[p->numbers[triangle->piece]];
    double turned[3];
    carom_vec3 a = solid_patches_look_at(p, triangle->c, &turned[0]),
               b = solid_patches_look_at(p, triangle->u, &turned[1]);
    carom_vec3 c = solid_patches_look_at(p, triangle->v, &turned[2]);
    double above = carom_vec_dot(a, carom_vec_cross(b, c));
    double below = 1.0 + carom_vec_dot(a, b) + carom_vec_dot(b, c) + carom_vec_dot(c, a);
    if (!(fabs(above) > PATCH_TRIPLE_TURNS * (turned[0] + turned[1] + turned[2]))) return;
    to->angle += 2.0 * carom_atan2(above, below) * triangle->weight;
}

/* Points of a void to test, spread over its triangles: only if the void touches a piece at all of
 * them, the mean decides. */
#define PATCH_MOST_POINTS 16u
/* The solid angle of a sphere, in steradians. */
#define PATCH_SPHERE_ANGLE (4.0 * CAROM_PI)
/* Distance of a winding number from a whole one, above which the point is on the surface, where it
 * is a half at a face and a quarter at a right edge: far more than rounding, far less than these.
 */
#define PATCH_ANGLE_TOLERANCE 0.02

/* Tests one point of a void; returns whether it touches none of the pieces. */
static bool test_point(patches *p, uint32_t which, uint64_t triangle) {
    bool clear = true;
    p->which = which;
    p->triangle = triangle;
    carom_solid_each_surface_triangle(&p->pieces, pick_chip, p);
    for (uint32_t i = 0; i < p->count; ++i) p->data[i].angle = 0.0;
    carom_solid_each_surface_triangle(&p->pieces, see_chip, p);
    for (uint32_t i = 0; i < p->count; ++i) {
        solid_patches_patch *one = &p->data[i];
        one->angles += one->angle;
        double times = one->angle / PATCH_SPHERE_ANGLE;
        if (one->volume > 0.0)
            clear = clear && fabs(times - floor(times + 0.5)) < PATCH_ANGLE_TOLERANCE;
    }
    return clear;
}

/* The smallest piece around the point tested last. */
static uint32_t solid_patches_find_around(const patches *p, uint32_t which) {
    uint32_t best = which;
    for (uint32_t i = 0; i < p->count; ++i) {
        const solid_patches_patch *other = &p->data[i];
        if (other->volume <= 0.0 || !(other->angle > 0.5 * PATCH_SPHERE_ANGLE)) continue;
        if (best == which || other->volume < p->data[best].volume) best = i;
    }
    return best;
}

static void find_holder(patches *p, uint32_t which) {
    bool plain = !p->query->solids[0]->info.by_winding && !p->query->solids[1]->info.by_winding;
    solid_patches_patch *hole = &p->data[which];
    uint32_t pieces = 0, most = which;
    for (uint32_t i = 0; i < p->count; ++i) {
        p->data[i].angles = 0.0;
        if (!(p->data[i].volume > 0.0)) continue;
        most = i;
        ++pieces;
    }
    hole->holder = which;
    if (pieces == 0) return;
    if (plain && pieces == 1) {
        hole->holder = most;
        return;
    }
    uint64_t eyes = CAROM_MIN(hole->triangles, PATCH_MOST_POINTS);
    for (uint64_t k = 0; k < eyes; ++k) {
        bool clear = test_point(p, which, k * hole->triangles / eyes);
        hole->holder = solid_patches_find_around(p, which);
        if (clear && (hole->holder != which || !plain)) return;
        if (carom_progress_stop(p->query->context, 0)) return;
    }
    /* It touches a piece at every point tested: take the piece that is around most of it. */
    for (uint32_t i = 0; i < p->count; ++i)
        if (p->data[i].volume > 0.0 && p->data[i].angles > p->data[most].angles) most = i;
    bool around = p->data[most].angles > 0.5 * PATCH_SPHERE_ANGLE * (double)eyes;
    hole->holder = plain || around ? most : which;
}

static void give_voids(patches *p) {
    for (uint32_t i = 0; i < p->count; ++i)
        if (p->data[i].volume < -p->data[i].error) find_holder(p, i);
    for (uint32_t i = 0; i < p->count; ++i) {
        solid_patches_patch *holder = &p->data[p->data[i].holder];
        if (p->data[i].holder == i) continue;
        CAROM_ASSERT(p->data[i].holder < p->count && p->data[i].volume < 0.0 &&
                     holder->volume > 0.0);
        for (unsigned k = 0; k < CAROM_SOLID_TERMS; ++k)
            holder->terms[k] = carom_sum_add(holder->terms[k], p->data[i].terms[k]);
        if (holder->precise != NULL)
            carom_solid_precise_join(holder->precise, p->data[i].precise, p->limbs);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static carom_solid_patch solid_patches_describe(const carom_solid_query *query,
                                                const carom_sum *terms) {
    double volume = carom_solid_sum_of(query, terms, CAROM_SOLID_VOLUME);
    double area = carom_solid_sum_of(query, terms, CAROM_SOLID_EXTENT);
    carom_vec3 moment = carom_solid_vector_of(query, terms, CAROM_SOLID_MOMENT);
    carom_vec3 normal = carom_solid_vector_of(query, terms, CAROM_SOLID_FORCE);
    carom_vec3 centroid = carom_vec_add(query->origin, carom_vec_scale(moment, 1.0 / volume));
    carom_solid_patch patch;
    patch.volume = carom_solid_unscale(query, volume, 3);
    patch.centroid = carom_solid_unscale_vector(query, centroid, 1);
    patch.area = carom_solid_unscale(query, area, 2);
    patch.force = carom_solid_unscale_vector(query, carom_vec_scale(normal, -1.0), 2);
    return patch;
}

static bool solid_patches_precedes(const carom_solid_patch *a, const carom_solid_patch *b) {
    if (a->volume != b->volume) return a->volume > b->volume;
    return carom_vec_compare(a->centroid, b->centroid) < 0;
}

static void sort(carom_solid_patch *data, uint64_t count) {
    for (uint64_t gap = count / 2; gap > 0; gap /= 2) /* Shell 1959 */
        for (uint64_t i = gap; i < count; ++i) {
            carom_solid_patch one = data[i];
            uint64_t k = i;
            for (; k >= gap && solid_patches_precedes(&one, &data[k - gap]); k -= gap)
                data[k] = data[k - gap];
            data[k] = one;
        }
}

/* Patches in scratch. */
typedef struct patch_list {
    carom_solid_patch *data;
    uint64_t count;
    bool one_sided;
} patch_list;

static carom_status solid_patches_list(patches *p, patch_list *out) {
    out->count = 0;
    out->data = CAROM_ARENA_TAKE(p->pieces.scratch, carom_solid_patch, p->count);
    if (out->data == NULL)
        return carom_fail_memory(p->query->context, p->count * sizeof(*out->data), "patches");
    for (uint32_t i = 0; i < p->count; ++i)
        if (p->data[i].holder == i && fabs(p->data[i].volume) > p->data[i].error)
            out->data[out->count++] =
                p->data[i].precise != NULL
                    ? carom_solid_precise_patch(p->query, p->data[i].precise, p->limbs)
                    : solid_patches_describe(p->query, p->data[i].terms);
    CAROM_ASSERT(out->count <= p->count);
    sort(out->data, out->count);
    return CAROM_OK;
}

/* ---- Means of both perturbation signs -------------------------------------------------------- */

/* Relative tolerance of the volume, and of the centroid by the edge of a cube of that volume: far
 * more than rounding, far less than the difference of pieces that are not copies of each other. */
#define PATCH_TOLERANCE 1e-9

static bool solid_patches_is_same(const carom_solid_patch *a, const carom_solid_patch *b) {
    double size = fabs(a->volume);
    carom_vec3 d = carom_vec_sub(a->centroid, b->centroid);
    double far = carom_solid_most(d), cube = far * far * far;
    return fabs(a->volume - b->volume) <= PATCH_TOLERANCE * size &&
           cube <= PATCH_TOLERANCE * PATCH_TOLERANCE * PATCH_TOLERANCE * size;
}

/* Replaces area and force by the means of both signs. */
static void add_half(carom_solid_patch *to, const carom_solid_patch *other) {
    to->area = 0.5 * to->area + 0.5 * other->area;
    to->force = carom_vec_scale(carom_vec_add(to->force, other->force), 0.5);
}

static carom_solid_patch solid_patches_sum_of(const carom_solid_patch *data, uint64_t count) {
    carom_solid_patch sum = {0};
    for (uint64_t k = 0; k < count; ++k) {
        sum.volume += data[k].volume;
        sum.area += data[k].area;
        sum.force = carom_vec_add(sum.force, data[k].force);
    }
    return sum;
}

/* Matches the pieces of both signs. Pieces that are connected for one sign and not for the other
 * are one piece, if there is only one such case: these are the unmatched pieces of both signs. */
static void solid_patches_add_other_side(patch_list *list, patch_list *other) {
    uint64_t found = 0; /* matched pieces, which come first */
    for (uint64_t i = 0; i < list->count; ++i) {
        carom_solid_patch one = list->data[i];
        uint64_t k = 0;
        while (k < other->count && !solid_patches_is_same(&one, &other->data[k])) ++k;
        if (k == other->count) continue;
        add_half(&one, &other->data[k]);
        other->data[k] = other->data[--other->count];
        list->data[i] = list->data[found];
        list->data[found++] = one;
    }
    carom_solid_patch *left = list->data + found,
                      sum = solid_patches_sum_of(left, list->count - found);
    carom_solid_patch rest = solid_patches_sum_of(other->data, other->count);
    if (list->count == found + 1) {
        add_half(left, &rest);
    } else if (list->count > found && other->count == 1 &&
               fabs(sum.volume - rest.volume) <= PATCH_TOLERANCE * fabs(rest.volume)) {
        *left = other->data[0];
        add_half(left, &sum);
        list->count = found + 1;
    }
    sort(list->data, list->count);
}

/* ---- Query ----------------------------------------------------------------------------------- */

/* Reach of the points of one patch, in sizes of the overlap, for the scales of sums. Points of the
 * overlap are within one; the first corners of faces, from which triangles are spanned, reach
 * beyond it. */
#define PATCH_REACH 8.0

static carom_status solid_patches_find(carom_solid_query *query, patch_list *out) {
    carom_context *context = query->context;
    carom_solid_accumulator acc;
    patches p = {.query = query};
    carom_solid_accumulator_begin(&acc);
    query->record = true;
    query->long_edge = 0.0; /* all crossings in double-double */
    carom_solid_query_scale(query, CAROM_MAX(CAROM_MIN(PATCH_REACH * query->space, query->reach),
                                             CAROM_SOLID_LEAST_REACH));
    CAROM_TRY(carom_solid_query_keep_changes(query, 0));
    CAROM_TRY(carom_solid_query_keep_changes(query, 1));
    CAROM_TRY(carom_solid_search_and_cast(query, &acc));
    CAROM_TRY(carom_solid_surface_make(query, &acc, &p.pieces));
    uint32_t nodes = carom_solid_node_count(&p.pieces);
    p.numbers = CAROM_ARENA_TAKE(p.pieces.scratch, uint32_t, nodes);
    if (p.numbers == NULL) return carom_fail_memory(context, nodes * 4ull, "patches");
    memset(p.numbers, 0xFF, nodes * sizeof(uint32_t));
    carom_solid_each_surface_triangle(&p.pieces, count_chip, &p);
    CAROM_TRY(carom_progress_look(context));
    p.data = CAROM_ARENA_TAKE(p.pieces.scratch, solid_patches_patch, p.count);
    if (p.data == NULL)
        return carom_fail_memory(context, p.count * sizeof(solid_patches_patch), "patches");
    if (p.count != 0) memset(p.data, 0, p.count * sizeof(solid_patches_patch));
    carom_solid_each_surface_triangle(&p.pieces, add_chip, &p);
    CAROM_TRY(find_volumes(&p));
    give_voids(&p);
    CAROM_TRY(carom_progress_look(context));
    out->one_sided = acc.one_sided;
    context->work = (carom_work){acc.visits, acc.candidates, acc.undecided};
    return solid_patches_list(&p, out);
}

static carom_status find_both(carom_solid_query *query, carom_solid_patches *out) {
    patch_list found, other;
    uint64_t space;
    CAROM_TRY(solid_patches_find(query, &found));
    if (found.one_sided) {
        query->moved_sign = -query->moved_sign;
        CAROM_TRY(solid_patches_find(query, &other));
        solid_patches_add_other_side(&found, &other);
    }
    carom_context *context = query->context;
    CAROM_TRY(carom_solid_patches_begin(context, &context->allocator, out, found.count, &space));
    if (space != 0) memcpy(out->data, found.data, space * sizeof(*out->data));
    return carom_solid_patches_end(out);
}

carom_status carom_solid_overlap_patches(carom_context *context, const carom_solid *a,
                                         const carom_pose *pose_a, const carom_solid *b,
                                         const carom_pose *pose_b, carom_solid_patches *out) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "solid");
    CAROM_REQUIRE_RESULT(out, "patches");
    carom_solid_query query;
    CAROM_TRY(carom_context_require_cpu(context, "the pieces of an overlap"));
    CAROM_TRY(carom_solid_check_backend(context, a));
    CAROM_TRY(carom_solid_check_backend(context, b));
    CAROM_TRY(carom_solid_query_begin(context, a, pose_a, b, pose_b, &query));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding pieces of an overlap", 0);
    carom_status status = carom_progress_finish(context, find_both(&query, out));
    carom_arena_rewind(scratch, mark);
    return status;
}
