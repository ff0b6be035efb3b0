/* SPDX-License-Identifier: MIT */
/* How far a union of balls reaches out of the solid.
 *
 * Worst: the distance d from the solid is 1-Lipschitz, so in a cell of half diagonal h around q it
 * is at most d(q) + h. Cells of each ball's box are divided until that is no more than a little
 * above what some point of a ball has: branch and bound. Hollows within a ball count as well.
 *
 * Volume and mean: the surface of the union consists of parts of spheres. On a circle of latitude
 * of sphere i the other balls cover arcs, which are known in closed form; what is left is
 * integrated along the arcs exactly, and over the latitudes by the midpoint rule, evenly in z,
 * which is evenly by area (Archimedes). The volume follows by the divergence theorem, (1/3) of the
 * integral of x.n. Distances are taken at points along the same arcs. */
#include "base/math.h"
#include "base/progress.h"
#include "base/sum_item.h"
#include "base/worker_state.h"
#include "cover/cover.h"

/* Between the bounds of the worst distance, of it: cover.h promises it. Observed (64 balls of
 * cheburashka, fandisk and spot): lower is 0.981 of upper; 0.005 takes 1.13 times as long for the
 * whole cover, 0.1 takes 0.9. */
#define MEASURE_TOLERANCE 0.02

/* Distances below are not distinguished, in the frame: 8,800 times the error of a distance,
 * CAROM_SPHERES_ERROR. Where a mesh is open, of the grid's step: the grid's distances are
 * no better. */
#define MEASURE_LEAST     1e-9
#define MEASURE_OPEN_STEP 0.25

/* Circles per sphere for the volume; every n-th is one on which distances are taken, at some points
 * of the longest. Observed, as above: volumes differ from those by 960 circles by up to 1e-3, with
 * 24 circles by up to 4e-3; means from those by all circles with 200 points by 1.5 %, with 12
 * points by 4 %. */
#define MEASURE_LATITUDES     96u
#define MEASURE_STRIDE        6u
#define MEASURE_CIRCLE_POINTS 24.0

/* Points on a sphere are taken this much inside, relative to its radius, so that rounding leaves
 * them in the ball; and cells are left out only where they are this much outside. */
#define MEASURE_INWARDS  (1.0 - 0x1p-50)
#define MEASURE_OUTWARDS (1.0 + 0x1p-40)

/* Of a circle: angles from 0 to 2 pi. */
typedef struct arc {
    double from, to;
} arc;
CAROM_ARRAY(arc_array, arc);
CAROM_ARRAY(cover_measure_number_array, uint32_t);

typedef struct cover_measure_measuring {
    carom_context *context;
    const carom_spheres_mesh *mesh;
    const carom_cover_field *field; /* where the mesh is open */
    const carom_spheres_ball *balls;
    uint32_t count;
    double least; /* smaller distances are not distinguished */
    double floor; /* a distance that some point has */
    /* Results of each ball. */
    double *worst, *lower, *volume, *distance, *area;
    carom_vec3 middle; /* of the mesh: the volume's terms are relative to it */
    carom_worker_states states;
} cover_measure_measuring;

typedef struct cover_measure_worker {
    carom_bvh_found found;
    arc_array arcs;
    cover_measure_number_array near; /* balls that meet the one at work */
    uint32_t index;
} cover_measure_worker;

static double cover_measure_square(double x) {
    return x * x;
}

static carom_vec3 cover_measure_centre_of(const carom_spheres_ball *b) {
    return carom_vec(b->x, b->y, b->z);
}

/* ---- Distance -------------------------------------------------------------------------------- */

/* The distance from the solid, negative inside. Where it is below `limit` it need not be exact.
 * *slot is where the search begins, and what it finds.
 *
 * Where a mesh is open, the inside ends at holes, far from all faces. There the distance is from
 * what is inside on the grid, and the depth is half of that on the grid. */
static double distance_at(const cover_measure_measuring *m, cover_measure_worker *w, carom_vec3 p,
                          double limit, uint32_t *slot) {
    carom_spheres_near near = {.count = 0, .least = HUGE_VAL};
    carom_spheres_hit hit = carom_spheres_mesh_search(m->mesh, p, *slot, HUGE_VAL, 0.0, &near);
    *slot = hit.slot;
    if (hit.distance <= limit) return hit.distance;
    bool inside =
        carom_spheres_mesh_bounds(m->mesh, p) && carom_spheres_mesh_inside(m->mesh, p, &w->found);
    if (m->mesh->balanced) return inside ? -hit.distance : hit.distance;
    if (!inside) return CAROM_MIN(carom_cover_field_most(m->field, p), hit.distance);
    double value = 0.5 * carom_cover_field_at(m->field, p, NULL);
    return value < 0.0 ? value : 0.0;
}

/* ---- Worst ----------------------------------------------------------------------------------- */

typedef struct branch {
    const carom_spheres_ball *ball;
    double best, most; /* a distance of a point of the ball; an upper bound of all others */
    uint32_t slot;
} branch;

static double cover_measure_axis_gap(double x, double centre, double half) {
    double d = fabs(x - centre) - half;
    return d > 0.0 ? d : 0.0;
}

static bool search_cell(const cover_measure_measuring *m, cover_measure_worker *w, branch *b,
                        carom_vec3 q, double half) {
    const carom_spheres_ball *ball = b->ball;
    if (cover_measure_square(cover_measure_axis_gap(ball->x, q.x, half)) +
            cover_measure_square(cover_measure_axis_gap(ball->y, q.y, half)) +
            cover_measure_square(cover_measure_axis_gap(ball->z, q.z, half)) >
        cover_measure_square(ball->radius) * MEASURE_OUTWARDS)
        return true;
    double h = half * (2.0 * CAROM_SPHERES_HALF_DIAGONAL), floor = CAROM_MAX(b->best, m->floor);
    double enough = floor * (1.0 + MEASURE_TOLERANCE) + MEASURE_LEAST;
    enough = CAROM_MAX(enough, m->least);
    uint32_t slot = b->slot;
    double d = distance_at(m, w, q, enough - h, &slot);
    b->slot = slot;
    if (d + h <= enough) {
        double bound = d + h + CAROM_SPHERES_ERROR;
        b->most = CAROM_MAX(bound, b->most);
        return true;
    }
    /* The nearest point of the ball. */
    carom_vec3 away = carom_vec_sub(q, cover_measure_centre_of(ball));
    double length = carom_vec_length(away);
    double here = d;
    if (length > ball->radius) {
        carom_vec3 p =
            carom_vec_add(cover_measure_centre_of(ball),
                          carom_vec_scale(away, ball->radius * MEASURE_INWARDS / length));
        here = distance_at(m, w, p, b->best, &slot);
    }
    if (here > b->best && here > 0.0) b->best = here;
    if (carom_progress_stop(m->context, w->index)) return false;
    for (int i = 0; i < 8; ++i) {
        double part = 0.5 * half;
        carom_vec3 c =
            carom_vec(q.x + ((i & 1) != 0 ? part : -part), q.y + ((i & 2) != 0 ? part : -part),
                      q.z + ((i & 4) != 0 ? part : -part));
        if (!search_cell(m, w, b, c, part)) return false;
    }
    return true;
}

/* A first distance: points along the axes and diagonals of the ball that climb. */
static double cover_measure_climb(const cover_measure_measuring *m, cover_measure_worker *w,
                                  const carom_spheres_ball *ball) {
    double best = 0.0;
    uint32_t slot = CAROM_BVH_NONE;
    for (int i = 0; i < 26; ++i) {
        int at = i < 13 ? i : i + 1;
        carom_vec3 u = carom_vec(at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1);
        u = carom_vec_scale(u, ball->radius * MEASURE_INWARDS / carom_vec_length(u));
        double d = distance_at(m, w, carom_vec_add(cover_measure_centre_of(ball), u), best, &slot);
        best = CAROM_MAX(d, best);
    }
    return best;
}

/* ---- Volume and mean ------------------------------------------------------------------------- */

/* Leaves of the arcs [from, to] what is not in [a, b]; all within [0, 2 pi]. */
static bool cut_arcs(const cover_measure_measuring *m, cover_measure_worker *w, double a,
                     double b) {
    uint64_t count = w->arcs.count;
    for (uint64_t i = 0; i < count; ++i) {
        arc *here = &w->arcs.data[i];
        if (b <= here->from || a >= here->to) continue;
        double end = here->to;
        bool before = a > here->from, after = b < end;
        here->to = before ? a : here->from; /* empty where nothing is left before */
        if (!after) continue;
        if (!before) {
            here->from = b;
            here->to = end;
        } else if (!arc_array_push(&w->arcs, &m->context->allocator, (arc){b, end})) {
            return false;
        }
    }
    return true;
}

/* Arcs that are left lie on the circle and do not overlap. */
static void measure_check_arcs(const cover_measure_worker *w) {
    double sum = 0.0;
    for (uint64_t i = 0; i < w->arcs.count; ++i) {
        const arc *a = &w->arcs.data[i];
        CAROM_ASSERT(a->from >= 0.0 && a->from <= a->to && a->to <= 2.0 * CAROM_PI);
        sum += a->to - a->from;
    }
    CAROM_ASSERT(sum <= 2.0 * CAROM_PI * MEASURE_OUTWARDS);
}

/* The arcs of the circle of ball i at height z that no other ball contains. */
static bool free_arcs(const cover_measure_measuring *m, cover_measure_worker *w, uint32_t i,
                      double z, double rho) {
    const carom_spheres_ball *ball = &m->balls[i];
    w->arcs.count = 0;
    if (!arc_array_push(&w->arcs, &m->context->allocator, (arc){0.0, 2.0 * CAROM_PI})) return false;
    for (uint64_t n = 0; n < w->near.count; ++n) {
        uint32_t k = w->near.data[n];
        const carom_spheres_ball *other = &m->balls[k];
        double part = cover_measure_square(other->radius) - cover_measure_square(z - other->z);
        if (part <= 0.0) continue;
        double x = other->x - ball->x, y = other->y - ball->y, dd = x * x + y * y;
        double disc = sqrt(part);
        if (dd >= cover_measure_square(rho + disc)) continue;
        double d = sqrt(dd);
        if (disc >= d + rho) {
            if (dd == 0.0 && other->radius == ball->radius && other->z == ball->z && k > i)
                continue; /* the same ball: the first counts */
            w->arcs.count = 0;
            return true;
        }
        if (rho >= d + disc) continue;
        double c = (dd + cover_measure_square(rho) - part) / (2.0 * d * rho);
        c = c > 1.0 ? 1.0 : c < -1.0 ? -1.0 : c;
        double half = carom_atan2(sqrt(1.0 - c * c), c), middle = carom_atan2(y, x);
        double from = middle - half, to = middle + half;
        if (from < 0.0) {
            from += 2.0 * CAROM_PI;
            to += 2.0 * CAROM_PI;
        }
        if (!cut_arcs(m, w, from, to) ||
            (to > 2.0 * CAROM_PI && !cut_arcs(m, w, from - 2.0 * CAROM_PI, to - 2.0 * CAROM_PI)))
            return false;
    }
    return true;
}

static bool cover_measure_find_near(const cover_measure_measuring *m, cover_measure_worker *w,
                                    uint32_t i) {
    const carom_spheres_ball *a = &m->balls[i];
    w->near.count = 0;
    for (uint32_t k = 0; k < m->count; ++k) {
        const carom_spheres_ball *b = &m->balls[k];
        if (k == i || cover_measure_square(a->x - b->x) + cover_measure_square(a->y - b->y) +
                              cover_measure_square(a->z - b->z) >=
                          cover_measure_square(a->radius + b->radius))
            continue;
        if (!cover_measure_number_array_push(&w->near, &m->context->allocator, k)) return false;
    }
    return true;
}

static bool measure_surface(const cover_measure_measuring *m, cover_measure_worker *w, uint32_t i) {
    const carom_spheres_ball *ball = &m->balls[i];
    double r = ball->radius, volume = 0.0, area = 0.0, sum = 0.0;
    double dt = 2.0 / MEASURE_LATITUDES;
    carom_vec3 c = carom_vec_sub(cover_measure_centre_of(ball), m->middle);
    if (!cover_measure_find_near(m, w, i)) return false;
    uint32_t slot = CAROM_BVH_NONE;
    for (uint32_t k = 0; k < MEASURE_LATITUDES; ++k) {
        double t = -1.0 + ((double)k + 0.5) * dt, s = sqrt(1.0 - t * t);
        if (!free_arcs(m, w, i, ball->z + r * t, r * s)) return false;
        measure_check_arcs(w);
        for (uint64_t at = 0; at < w->arcs.count; ++at) {
            double a = w->arcs.data[at].from, b = w->arcs.data[at].to, width = b - a;
            if (!(width > 0.0)) continue;
            volume +=
                s * (c.x * (carom_sin(b) - carom_sin(a)) - c.y * (carom_cos(b) - carom_cos(a))) +
                (c.z * t + r) * width;
            if (k % MEASURE_STRIDE != MEASURE_STRIDE / 2) continue;
            uint32_t points = (uint32_t)(width * s * MEASURE_CIRCLE_POINTS / (2.0 * CAROM_PI)) + 1;
            for (uint32_t p = 0; p < points; ++p) {
                double angle = a + width * ((double)p + 0.5) / (double)points;
                carom_vec3 x = carom_vec(ball->x + r * s * carom_cos(angle),
                                         ball->y + r * s * carom_sin(angle), ball->z + r * t);
                double d = distance_at(m, w, x, 0.0, &slot), part = width / (double)points;
                if (!(d > 0.0)) continue;
                sum += d * part;
                area += part;
            }
        }
    }
    m->volume[i] = volume * r * r * dt / 3.0;
    m->distance[i] = sum * r * r;
    m->area[i] = area * r * r;
    return true;
}

/* ---- All balls ------------------------------------------------------------------------------- */

static carom_status climb_balls(void *argument, carom_range range) {
    cover_measure_measuring *m = argument;
    cover_measure_worker *w = carom_worker_state(&m->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i)
        m->lower[i] = cover_measure_climb(m, w, &m->balls[i]);
    return CAROM_OK;
}

static carom_status measure_balls(void *argument, carom_range range) {
    cover_measure_measuring *m = argument;
    cover_measure_worker *w = carom_worker_state(&m->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        branch b = {&m->balls[i], m->lower[i], 0.0, CAROM_BVH_NONE};
        if (!search_cell(m, w, &b, cover_measure_centre_of(b.ball), b.ball->radius))
            return CAROM_CANCELLED;
        CAROM_ASSERT(b.best >= m->lower[i]); /* it only rises from what the climb found */
        m->worst[i] = CAROM_MAX(b.most, b.best);
        m->lower[i] = b.best;
        if (!measure_surface(m, w, (uint32_t)i)) return CAROM_NO_MEMORY;
        carom_progress_add(m->context, range.worker, 1);
    }
    return CAROM_OK;
}

static bool cover_measure_begin_worker(void *user, void *state, uint32_t index) {
    cover_measure_worker *w = state;
    (void)user;
    w->found.count = 0;
    w->arcs = (arc_array){0};
    w->near = (cover_measure_number_array){0};
    w->index = index;
    return true;
}

static carom_status cover_measure_all(cover_measure_measuring *m, carom_cover_outside *outside) {
    CAROM_TRY(carom_parallel_for(m->context, m->count, 1, climb_balls, m));
    for (uint32_t i = 0; i < m->count; ++i) m->floor = CAROM_MAX(m->lower[i], m->floor);
    CAROM_TRY(carom_parallel_for(m->context, m->count, 1, measure_balls, m));
    *outside = (carom_cover_outside){0};
    double sum = 0.0, area = 0.0;
    for (uint32_t i = 0; i < m->count; ++i) {
        outside->worst = CAROM_MAX(m->worst[i], outside->worst);
        outside->worst_lower = CAROM_MAX(m->lower[i], outside->worst_lower);
        outside->volume += m->volume[i];
        sum += m->distance[i];
        area += m->area[i];
    }
    outside->mean = area > 0.0 ? sum / area : 0.0;
    CAROM_ASSERT(outside->worst_lower <= outside->worst);
    CAROM_ASSERT(
        outside->worst <=
        CAROM_MAX(outside->worst_lower * (1.0 + MEASURE_TOLERANCE) + MEASURE_LEAST, m->least) +
            CAROM_SPHERES_ERROR);
    return CAROM_OK;
}

carom_status carom_cover_measure_union(const carom_spheres_mesh *mesh,
                                       const carom_cover_field *field,
                                       const carom_spheres_ball *balls, uint32_t count,
                                       carom_cover_outside *outside) {
    carom_context *context = mesh->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    cover_measure_measuring m = {
        .context = context, .mesh = mesh, .field = field, .balls = balls, .count = count};
    double *results = CAROM_ARENA_TAKE(scratch, double, 5 * (uint64_t)count);
    if (results == NULL)
        return carom_fail_memory(context, 5 * count * sizeof(double), "measures of a cover");
    m.worst = results;
    m.lower = results + count;
    m.volume = results + 2 * (uint64_t)count;
    m.distance = results + 3 * (uint64_t)count;
    m.area = results + 4 * (uint64_t)count;
    m.least = mesh->balanced ? 0.0 : MEASURE_OPEN_STEP * field->step;
    m.middle = carom_vec_scale(carom_vec_add(mesh->low, mesh->high), 0.5);
    carom_status status = carom_worker_states_begin(
        &m.states, context, sizeof(cover_measure_worker), cover_measure_begin_worker, NULL);
    if (status == CAROM_OK) {
        carom_progress_begin(context, "measuring a cover", count);
        status = carom_progress_finish(context, cover_measure_all(&m, outside));
        cover_measure_worker *w;
        for (uint32_t k = 0; (w = carom_worker_states_next(&m.states, &k)) != NULL;) {
            arc_array_release(&w->arcs, &context->allocator);
            cover_measure_number_array_release(&w->near, &context->allocator);
        }
        carom_worker_states_release(&m.states);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}
