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
#include "pack/pack_cover.h"

#define TOLERANCE   0.02 /* of the worst distance: between its bounds */
#define LEAST_WORST 1e-9 /* of the frame: nearer is not distinguished; where a mesh is open: */
#define LEAST_STEP  0.25 /* of the grid */
#define LATITUDES   96u  /* circles per sphere for the volume; every LESS-th for distances */
#define LESS        6u
#define PER_CIRCLE  24.0 /* points of the longest circle, where distances are taken */

/* Of a circle: angles from 0 to 2 pi. */
typedef struct arc {
    double from, to;
} arc;
CAROM_ARRAY(arc_array, arc);
CAROM_ARRAY(number_array, uint32_t);

typedef struct measuring {
    carom_context *context;
    const carom_pack_mesh *mesh;
    const carom_pack_field *field; /* where the mesh is open */
    const carom_pack_ball *balls;
    uint32_t count;
    double least; /* smaller distances are not distinguished */
    double floor; /* a distance that some point has */
    /* Results of each ball. */
    double *worst, *lower, *volume, *distance, *area;
    carom_vec3 middle; /* of the mesh: the volume's terms are relative to it */
    carom_worker_states states;
} measuring;

typedef struct worker {
    carom_bvh_found found;
    arc_array arcs;
    number_array near; /* balls that meet the one at work */
    uint32_t index;
} worker;

static double square(double x) {
    return x * x;
}

static carom_vec3 centre_of(const carom_pack_ball *b) {
    return carom_vec(b->x, b->y, b->z);
}

/* ---- Distance -------------------------------------------------------------------------------- */

/* The distance from the solid, negative inside. Where it is below `limit` it need not be exact.
 * *place is where the search begins, and what it finds.
 *
 * Where a mesh is open, the inside ends at holes, far from all faces. There the distance is from
 * what is inside on the grid, and the depth is half of that on the grid. */
static double distance_at(const measuring *m, worker *w, carom_vec3 p, double limit,
                          uint32_t *place) {
    carom_pack_near near = {.count = 0, .least = HUGE_VAL};
    carom_pack_hit hit = carom_pack_mesh_search(m->mesh, p, *place, HUGE_VAL, 0.0, &near);
    *place = hit.place;
    if (hit.distance <= limit) return hit.distance;
    bool inside =
        carom_pack_mesh_bounds(m->mesh, p) && carom_pack_mesh_inside(m->mesh, p, &w->found);
    if (m->mesh->balanced) return inside ? -hit.distance : hit.distance;
    if (!inside) return CAROM_MIN(carom_pack_field_most(m->field, p), hit.distance);
    double value = 0.5 * carom_pack_field_at(m->field, p, NULL);
    return value < 0.0 ? value : 0.0;
}

/* ---- Worst ----------------------------------------------------------------------------------- */

typedef struct branch {
    const carom_pack_ball *ball;
    double best, most; /* a distance of a point of the ball; an upper bound of all others */
    uint32_t place;
} branch;

static double axis_gap(double x, double centre, double half) {
    double d = fabs(x - centre) - half;
    return d > 0.0 ? d : 0.0;
}

static bool search_cell(const measuring *m, worker *w, branch *b, carom_vec3 q, double half) {
    const carom_pack_ball *ball = b->ball;
    if (square(axis_gap(ball->x, q.x, half)) + square(axis_gap(ball->y, q.y, half)) +
            square(axis_gap(ball->z, q.z, half)) >
        square(ball->radius) * (1.0 + 0x1p-40))
        return true;
    double h = half * 1.7320508075688773, floor = CAROM_MAX(b->best, m->floor);
    double enough = floor * (1.0 + TOLERANCE) + LEAST_WORST;
    enough = CAROM_MAX(enough, m->least);
    uint32_t place = b->place;
    double d = distance_at(m, w, q, enough - h, &place);
    b->place = place;
    if (d + h <= enough) {
        double bound = d + h + CAROM_PACK_ERROR;
        b->most = CAROM_MAX(bound, b->most);
        return true;
    }
    /* The nearest point of the ball. */
    carom_vec3 away = carom_vec_sub(q, centre_of(ball));
    double length = carom_vec_length(away);
    double here = d;
    if (length > ball->radius) {
        carom_vec3 p = carom_vec_add(
            centre_of(ball), carom_vec_scale(away, ball->radius * (1.0 - 0x1p-50) / length));
        here = distance_at(m, w, p, b->best, &place);
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
static double climb(const measuring *m, worker *w, const carom_pack_ball *ball) {
    double best = 0.0;
    uint32_t place = CAROM_BVH_NONE;
    for (int i = 0; i < 26; ++i) {
        int at = i < 13 ? i : i + 1;
        carom_vec3 u = carom_vec(at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1);
        u = carom_vec_scale(u, ball->radius * (1.0 - 0x1p-50) / carom_vec_length(u));
        double d = distance_at(m, w, carom_vec_add(centre_of(ball), u), best, &place);
        best = CAROM_MAX(d, best);
    }
    return best;
}

/* ---- Volume and mean ------------------------------------------------------------------------- */

/* Leaves of the arcs [from, to] what is not in [a, b]; all within [0, 2 pi]. */
static bool cut_arcs(const measuring *m, worker *w, double a, double b) {
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

/* The arcs of the circle of ball i at height z that no other ball contains. */
static bool free_arcs(const measuring *m, worker *w, uint32_t i, double z, double rho) {
    const carom_pack_ball *ball = &m->balls[i];
    w->arcs.count = 0;
    if (!arc_array_push(&w->arcs, &m->context->allocator, (arc){0.0, 2.0 * CAROM_PI})) return false;
    for (uint64_t n = 0; n < w->near.count; ++n) {
        uint32_t k = w->near.data[n];
        const carom_pack_ball *other = &m->balls[k];
        double part = square(other->radius) - square(z - other->z);
        if (part <= 0.0) continue;
        double x = other->x - ball->x, y = other->y - ball->y, dd = x * x + y * y;
        double disc = sqrt(part);
        if (dd >= square(rho + disc)) continue;
        double d = sqrt(dd);
        if (disc >= d + rho) {
            if (dd == 0.0 && other->radius == ball->radius && other->z == ball->z && k > i)
                continue; /* the same ball: the first counts */
            w->arcs.count = 0;
            return true;
        }
        if (rho >= d + disc) continue;
        double c = (dd + square(rho) - part) / (2.0 * d * rho);
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

static bool find_near(const measuring *m, worker *w, uint32_t i) {
    const carom_pack_ball *a = &m->balls[i];
    w->near.count = 0;
    for (uint32_t k = 0; k < m->count; ++k) {
        const carom_pack_ball *b = &m->balls[k];
        if (k == i || square(a->x - b->x) + square(a->y - b->y) + square(a->z - b->z) >=
                          square(a->radius + b->radius))
            continue;
        if (!number_array_push(&w->near, &m->context->allocator, k)) return false;
    }
    return true;
}

static bool measure_surface(const measuring *m, worker *w, uint32_t i) {
    const carom_pack_ball *ball = &m->balls[i];
    double r = ball->radius, volume = 0.0, area = 0.0, sum = 0.0;
    double dt = 2.0 / LATITUDES;
    carom_vec3 c = carom_vec_sub(centre_of(ball), m->middle);
    if (!find_near(m, w, i)) return false;
    uint32_t place = CAROM_BVH_NONE;
    for (uint32_t k = 0; k < LATITUDES; ++k) {
        double t = -1.0 + ((double)k + 0.5) * dt, s = sqrt(1.0 - t * t);
        if (!free_arcs(m, w, i, ball->z + r * t, r * s)) return false;
        for (uint64_t at = 0; at < w->arcs.count; ++at) {
            double a = w->arcs.data[at].from, b = w->arcs.data[at].to, width = b - a;
            if (!(width > 0.0)) continue;
            volume +=
                s * (c.x * (carom_sin(b) - carom_sin(a)) - c.y * (carom_cos(b) - carom_cos(a))) +
                (c.z * t + r) * width;
            if (k % LESS != LESS / 2) continue;
            uint32_t points = (uint32_t)(width * s * PER_CIRCLE / (2.0 * CAROM_PI)) + 1;
            for (uint32_t p = 0; p < points; ++p) {
                double angle = a + width * ((double)p + 0.5) / (double)points;
                carom_vec3 x = carom_vec(ball->x + r * s * carom_cos(angle),
                                         ball->y + r * s * carom_sin(angle), ball->z + r * t);
                double d = distance_at(m, w, x, 0.0, &place), part = width / (double)points;
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
    measuring *m = argument;
    worker *w = carom_worker_state(&m->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) m->lower[i] = climb(m, w, &m->balls[i]);
    return CAROM_OK;
}

static carom_status measure_balls(void *argument, carom_range range) {
    measuring *m = argument;
    worker *w = carom_worker_state(&m->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        branch b = {&m->balls[i], m->lower[i], 0.0, CAROM_BVH_NONE};
        if (!search_cell(m, w, &b, centre_of(b.ball), b.ball->radius)) return CAROM_CANCELLED;
        m->worst[i] = CAROM_MAX(b.most, b.best);
        m->lower[i] = b.best;
        if (!measure_surface(m, w, (uint32_t)i)) return CAROM_NO_MEMORY;
        carom_progress_add(m->context, range.worker, 1);
    }
    return CAROM_OK;
}

static bool begin_worker(void *user, void *state, uint32_t index) {
    worker *w = state;
    (void)user;
    w->found.count = 0;
    w->arcs = (arc_array){0};
    w->near = (number_array){0};
    w->index = index;
    return true;
}

static carom_status measure_all(measuring *m, carom_pack_outside *outside) {
    CAROM_TRY(carom_parallel_for(m->context, m->count, 1, climb_balls, m));
    for (uint32_t i = 0; i < m->count; ++i) m->floor = CAROM_MAX(m->lower[i], m->floor);
    CAROM_TRY(carom_parallel_for(m->context, m->count, 1, measure_balls, m));
    *outside = (carom_pack_outside){0};
    double sum = 0.0, area = 0.0;
    for (uint32_t i = 0; i < m->count; ++i) {
        outside->worst = CAROM_MAX(m->worst[i], outside->worst);
        outside->worst_lower = CAROM_MAX(m->lower[i], outside->worst_lower);
        outside->volume += m->volume[i];
        sum += m->distance[i];
        area += m->area[i];
    }
    outside->mean = area > 0.0 ? sum / area : 0.0;
    return CAROM_OK;
}

carom_status carom_pack_measure(const carom_pack_mesh *mesh, const carom_pack_field *field,
                                const carom_pack_ball *balls, uint32_t count,
                                carom_pack_outside *outside) {
    carom_context *context = mesh->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    measuring m = {
        .context = context, .mesh = mesh, .field = field, .balls = balls, .count = count};
    double *results = CAROM_ARENA_TAKE(scratch, double, 5 * (uint64_t)count);
    if (results == NULL)
        return carom_fail_memory(context, 5 * count * sizeof(double), "measures of a cover");
    m.worst = results;
    m.lower = results + count;
    m.volume = results + 2 * (uint64_t)count;
    m.distance = results + 3 * (uint64_t)count;
    m.area = results + 4 * (uint64_t)count;
    m.least = mesh->balanced ? 0.0 : LEAST_STEP * field->step;
    m.middle = carom_vec_scale(carom_vec_add(mesh->low, mesh->high), 0.5);
    carom_status status =
        carom_worker_states_begin(&m.states, context, sizeof(worker), begin_worker, NULL);
    if (status == CAROM_OK) {
        carom_progress_begin(context, "measuring a cover", count);
        status = carom_progress_finish(context, measure_all(&m, outside));
        worker *w;
        for (uint32_t k = 0; (w = carom_worker_states_next(&m.states, &k)) != NULL;) {
            arc_array_release(&w->arcs, &context->allocator);
            number_array_release(&w->near, &context->allocator);
        }
        carom_worker_states_release(&m.states);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}
