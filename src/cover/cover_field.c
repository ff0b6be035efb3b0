/* SPDX-License-Identifier: MIT */
/* The signed distance from the surface on a grid.
 *
 * A node takes over the sign of the node before it in its row where that one is farther than a step
 * from the surface. The distance is 1-Lipschitz, and so is the reach of a ball as a function of its
 * radius: radius + (outside - reach) is always allowed, which carom_cover_field_radius repeats. */
#include "cover/cover_field.h"

#include <stdlib.h>

#include "base/progress.h"
#include "base/worker_state.h"

/* ---- Making ---------------------------------------------------------------------------------- */

typedef struct filling {
    const carom_spheres_mesh *mesh;
    carom_cover_field *field;
    carom_worker_states states;
} filling;

static bool begin_filling(void *user, void *state, uint32_t worker) {
    carom_bvh_found *found = state;
    (void)user;
    (void)worker;
    found->count = 0;
    return true;
}

/* Where a mesh is open, the inside may end far from all faces. Generalised winding numbers are
 * harmonic there: what one says is taken to hold for this part of the distance from the faces. By
 * Harnack's inequality a number that is not negative keeps (1 - t) / (1 + t)^2 of its value within
 * this part t, that is 0.41: no proof that it stays above 1/2, but enough for a guide. */
#define FIELD_KNOWN_PART 0.3

static carom_status cover_field_fill_rows(void *argument, carom_range range) {
    filling *f = argument;
    carom_cover_field *field = f->field;
    carom_bvh_found *found = carom_worker_state(&f->states, range.worker);
    if (found == NULL) return CAROM_NO_MEMORY;
    for (uint64_t row = range.begin; row < range.end; ++row) {
        double before = 0.0, known = -HUGE_VAL;
        bool inside = false;
        uint32_t seed = CAROM_BVH_NONE;
        carom_vec3 p =
            carom_vec(0.0, field->low[1] + (double)(row % field->counts[1]) * field->step,
                      field->low[2] + (double)(row / field->counts[1]) * field->step);
        for (uint32_t i = 0; i < field->counts[0]; ++i) {
            carom_spheres_near near = {.count = 0, .least = HUGE_VAL};
            p.x = field->low[0] + (double)i * field->step;
            carom_spheres_hit hit =
                carom_spheres_mesh_search(f->mesh, p, seed, HUGE_VAL, 0.0, &near);
            if (!carom_spheres_mesh_bounds(f->mesh, p)) {
                inside = false;
            } else if (f->mesh->balanced ? !(before > field->step) : !(p.x < known)) {
                inside = carom_spheres_mesh_inside(f->mesh, p, found);
                known = p.x + FIELD_KNOWN_PART * hit.distance;
            }
            before = hit.distance;
            seed = hit.slot;
            field->values[row * field->counts[0] + i] =
                (float)(inside ? -hit.distance : hit.distance);
        }
        if (carom_progress_stop(f->mesh->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* Where a mesh is open, the inside ends at holes, far from all faces. Two sweeps make distances
 * grow by no more than the way between neighbours, as if the hole had a face; right to some 5 %
 * (Borgefors 1986). */
static void smooth(carom_cover_field *field) {
    int64_t row = field->counts[0], plane = row * field->counts[1];
    int64_t count = plane * field->counts[2];
    for (int sweep = 0; sweep < 2; ++sweep)
        for (int64_t i = 0; i < count; ++i) {
            int64_t at = sweep == 0 ? i : count - 1 - i, side = sweep == 0 ? -1 : 1;
            float value = field->values[at];
            for (int k = 1; k < 14; ++k) { /* the thirteen neighbours before it */
                int64_t x = 1 - k % 3, y = 1 - k / 3 % 3, z = 1 - k / 9;
                if (z < 0 || (z == 0 && (y < 0 || (y == 0 && x <= 0)))) {
                    x = -x;
                    y = -y;
                    z = -z;
                }
                int64_t to_x = at % row + side * x, to_y = at % plane / row + side * y;
                int64_t to_z = at / plane + side * z;
                if (to_x < 0 || to_x >= row || to_y < 0 || to_y >= (int64_t)field->counts[1] ||
                    to_z < 0 || to_z >= (int64_t)field->counts[2])
                    continue;
                float other = field->values[to_z * plane + to_y * row + to_x];
                float way = (float)(field->step * sqrt((double)(x * x + y * y + z * z)));
                if (value > 0.0f)
                    value = CAROM_MIN((other > 0.0f ? other : 0.0f) + way, value);
                else
                    value = CAROM_MAX((other < 0.0f ? other : 0.0f) - way, value);
            }
            field->values[at] = value;
        }
}

static int farther_first(const void *a, const void *b) {
    const carom_ball *c = a, *d = b;
    if (c->radius != d->radius) return c->radius > d->radius ? -1 : 1;
    return carom_vec_compare(c->centre, d->centre);
}

/* Hollows that are kept, 64 KB; they are a handful in most solids. The first that are found are
 * kept, not the largest: a search is guided worse then, and proves as much. */
#define FIELD_MOST_PEAKS 2048u

/* How much higher a peak is than its node, of the step: on average over a cell 0.25 in a slit,
 * where distances fall along one axis, and 0.48 where they fall in all directions; at most 0.87. */
#define FIELD_PEAK_RISE 0.25

static bool is_peak(const carom_cover_field *field, uint64_t at, uint64_t row, uint64_t plane) {
    float value = field->values[at];
    for (int i = 0; i < 27; ++i) {
        uint64_t to = at + (uint64_t)(i % 3) + (uint64_t)(i / 3 % 3) * row +
                      (uint64_t)(i / 9) * plane - 1 - row - plane;
        if (field->values[to] > value || (field->values[to] == value && to < at)) return false;
    }
    return true;
}

/* The largest distance in a ball is on its surface, or a local maximum: these are few. */
static carom_status find_peaks(carom_cover_field *field) {
    uint64_t row = field->counts[0], plane = row * field->counts[1];
    carom_arena *scratch = carom_scratch(field->context, 0);
    field->peaks = CAROM_ARENA_TAKE(scratch, carom_ball, FIELD_MOST_PEAKS);
    field->peak_count = 0;
    if (field->peaks == NULL)
        return carom_fail_memory(field->context, FIELD_MOST_PEAKS * sizeof(carom_ball),
                                 "a field of distances");
    for (uint64_t z = 1; z + 1 < field->counts[2]; ++z)
        for (uint64_t y = 1; y + 1 < field->counts[1]; ++y)
            for (uint64_t x = 1; x + 1 < row; ++x) {
                uint64_t at = z * plane + y * row + x;
                double value = (double)field->values[at];
                if (!(value > field->step) || !is_peak(field, at, row, plane)) continue;
                if (field->peak_count == FIELD_MOST_PEAKS) return CAROM_OK;
                field->peaks[field->peak_count++] =
                    (carom_ball){{field->low[0] + (double)x * field->step,
                                  field->low[1] + (double)y * field->step,
                                  field->low[2] + (double)z * field->step},
                                 value + FIELD_PEAK_RISE * field->step};
            }
    if (field->peak_count > 1)
        qsort(field->peaks, field->peak_count, sizeof(carom_ball), farther_first);
    for (uint32_t i = 1; i < field->peak_count; ++i)
        CAROM_ASSERT(field->peaks[i].radius <= field->peaks[i - 1].radius);
    return CAROM_OK;
}

carom_status carom_cover_field_make(const carom_spheres_mesh *mesh, double step, double around,
                                    carom_cover_field *field) {
    carom_context *context = mesh->context;
    carom_arena *scratch = carom_scratch(context, 0);
    const double low[3] = {mesh->low.x, mesh->low.y, mesh->low.z};
    const double high[3] = {mesh->high.x, mesh->high.y, mesh->high.z};
    uint64_t count = 1;
    for (int k = 0; k < 3; ++k) {
        field->counts[k] = (uint32_t)((high[k] - low[k] + 2.0 * around) / step) + 2;
        field->low[k] = 0.5 * (low[k] + high[k]) - 0.5 * (double)(field->counts[k] - 1) * step;
        count *= field->counts[k];
    }
    field->context = context;
    field->step = step;
    field->inverse = 1.0 / step;
    field->values = CAROM_ARENA_TAKE(scratch, float, count);
    if (field->values == NULL)
        return carom_fail_memory(context, count * sizeof(float), "a field of distances");
    filling f = {.mesh = mesh, .field = field};
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    CAROM_TRY(carom_worker_states_begin(&f.states, context, sizeof(carom_bvh_found), begin_filling,
                                        NULL));
    carom_status status = carom_parallel_for(context, (uint64_t)field->counts[1] * field->counts[2],
                                             4, cover_field_fill_rows, &f);
    carom_worker_states_release(&f.states);
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_OK && !mesh->balanced) smooth(field);
    return status == CAROM_OK ? find_peaks(field) : status;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

double carom_cover_field_at(const carom_cover_field *field, carom_vec3 p, carom_vec3 *gradient) {
    const double at[3] = {p.x, p.y, p.z};
    double t[3], away = 0.0;
    uint64_t cell[3];
    for (int k = 0; k < 3; ++k) {
        double u = (at[k] - field->low[k]) * field->inverse, most = (double)(field->counts[k] - 1);
        double inside = u < 0.0 ? 0.0 : u > most ? most : u;
        double beyond = u - inside;
        away += beyond * beyond;
        uint64_t i = (uint64_t)inside;
        if (i + 1 >= field->counts[k]) i = field->counts[k] - 2;
        cell[k] = i;
        t[k] = inside - (double)i;
    }
    uint64_t row = field->counts[0], plane = row * field->counts[1];
    const float *v = field->values + cell[2] * plane + cell[1] * row + cell[0];
    double a0 = (double)v[0], a1 = (double)v[1], b0 = (double)v[row], b1 = (double)v[row + 1];
    v += plane;
    double c0 = (double)v[0], c1 = (double)v[1], d0 = (double)v[row], d1 = (double)v[row + 1];
    double a = a0 + t[0] * (a1 - a0), b = b0 + t[0] * (b1 - b0);
    double c = c0 + t[0] * (c1 - c0), d = d0 + t[0] * (d1 - d0);
    double e = a + t[1] * (b - a), f = c + t[1] * (d - c);
    if (gradient != NULL) {
        double x0 = (a1 - a0) + t[1] * ((b1 - b0) - (a1 - a0));
        double x1 = (c1 - c0) + t[1] * ((d1 - d0) - (c1 - c0));
        *gradient = carom_vec(x0 + t[2] * (x1 - x0), (b - a) + t[2] * ((d - c) - (b - a)), f - e);
    }
    double value = e + t[2] * (f - e);
    return away > 0.0 ? value + sqrt(away) * field->step : value;
}

/* Values are float32, after two sweeps sums of the ways between up to some hundred nodes. This
 * covers sixteen additions that round the same way by the most, 2^-24, or hundreds as they come. */
#define FIELD_ROUNDING (1.0 + 0x1p-20)

double carom_cover_field_most(const carom_cover_field *field, carom_vec3 p) {
    const double at[3] = {p.x, p.y, p.z};
    uint64_t cell[3], row = field->counts[0], plane = row * field->counts[1];
    double t[3], least = HUGE_VAL;
    for (int k = 0; k < 3; ++k) { /* of the nearest cell, where it is beyond the grid */
        double u = (at[k] - field->low[k]) * field->inverse, last = (double)(field->counts[k] - 2);
        cell[k] = (uint64_t)(u < 0.0 ? 0.0 : u > last ? last : u);
        t[k] = u - (double)cell[k];
    }
    for (uint64_t i = 0; i < 8; ++i) {
        uint64_t x = i & 1, y = i >> 1 & 1, z = i >> 2;
        double dx = t[0] - (double)x, dy = t[1] - (double)y, dz = t[2] - (double)z;
        double value =
            (double)field->values[(cell[2] + z) * plane + (cell[1] + y) * row + cell[0] + x];
        double most = (value > 0.0 ? value * FIELD_ROUNDING : 0.0) +
                      sqrt(dx * dx + dy * dy + dz * dz) * field->step;
        least = CAROM_MIN(most, least);
    }
    return least;
}

/* Points of a sphere, spread evenly by a spiral with the golden angle; the best ones climb. */
#define FIELD_CLIMBS 3 /* points that climb */

/* Steps of each, the first of these lengths, in radii: the point is brought back to the sphere, so
 * that it goes to where the gradient points. The factor where a step was too long. Observed (covers
 * by 64 balls, as in cover_fit.c): 1 point is 3 % worse, 6 as good; 1 step is 8 % worse, 6 as
 * good in 1.15 times the time; lengths from 1 to 4 as good; a factor of 0.6 is 14 % worse, 0.15 as
 * good. */
#define FIELD_CLIMB_STEPS 3
#define FIELD_CLIMB_STEP  2.0
#define FIELD_CLIMB_FALL  0.3

/* Cosine and sine of the golden angle, pi (3 - sqrt(5)). */
static const double golden_turn[2] = {-0.73736887807831985, 0.67549029426152362};

/* Goes along the sphere to where the distance grows. *found is relative to the centre. */
static double cover_field_climb(const carom_cover_field *field, carom_vec3 centre, double radius,
                                carom_vec3 *found, double value) {
    carom_vec3 at = *found;
    double step = FIELD_CLIMB_STEP * radius;
    for (int i = 0; i < FIELD_CLIMB_STEPS; ++i) {
        carom_vec3 g;
        (void)carom_cover_field_at(field, carom_vec_add(centre, at), &g);
        double length = carom_vec_length(g);
        if (!(length > 0.0)) break;
        carom_vec3 to = carom_vec_add(at, carom_vec_scale(g, step / length));
        double away = carom_vec_length(to);
        if (!(away > 0.0)) break;
        to = carom_vec_scale(to, radius / away);
        double there = carom_cover_field_at(field, carom_vec_add(centre, to), NULL);
        if (there > value) {
            value = there;
            at = to;
        } else {
            step *= FIELD_CLIMB_FALL;
        }
    }
    *found = at;
    return value;
}

/* The largest distance of a hollow in the ball. */
static double highest_peak(const carom_cover_field *field, carom_vec3 centre, double radius) {
    for (uint32_t i = 0; i < field->peak_count; ++i) {
        carom_vec3 d = carom_vec_sub(field->peaks[i].centre, centre);
        if (carom_vec_dot(d, d) <= radius * radius) return field->peaks[i].radius;
    }
    return -HUGE_VAL;
}

void carom_cover_spread_make(carom_cover_spread *spread) {
    double x = 1.0, y = 0.0;
    for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i) {
        double z = 1.0 - (2.0 * i + 1.0) / CAROM_COVER_SPREAD, rho = sqrt(1.0 - z * z);
        spread->x[i] = (float)(rho * x);
        spread->y[i] = (float)(rho * y);
        spread->z[i] = (float)z;
        double turned = x * golden_turn[0] - y * golden_turn[1];
        y = x * golden_turn[1] + y * golden_turn[0];
        x = turned;
    }
}

double carom_cover_field_outside(const carom_cover_field *field, const carom_cover_spread *spread,
                                 carom_vec3 centre, double radius, carom_vec3 *farthest) {
    float values[CAROM_COVER_SPREAD];
    uint32_t best[FIELD_CLIMBS] = {0};
    double most = highest_peak(field, centre, radius);
    const double c[3] = {centre.x, centre.y, centre.z};
    CAROM_CPU_CALL(field->context, carom_cover_field_values)(field, spread, c, radius, values);
    int found = 0;
    for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i) {
        if (found == FIELD_CLIMBS && !(values[i] > values[best[FIELD_CLIMBS - 1]])) continue;
        int k = found < FIELD_CLIMBS ? found++ : FIELD_CLIMBS - 1;
        for (; k > 0 && values[i] > values[best[k - 1]]; --k) best[k] = best[k - 1];
        best[k] = i;
    }
    double highest = -HUGE_VAL;
    for (int k = 0; k < FIELD_CLIMBS; ++k) {
        uint32_t i = best[k];
        carom_vec3 at = carom_vec((double)spread->x[i], (double)spread->y[i], (double)spread->z[i]);
        at = carom_vec_scale(at, radius);
        double d = cover_field_climb(field, centre, radius, &at, (double)values[i]);
        most = CAROM_MAX(d, most);
        if (farthest == NULL || d <= highest) continue;
        highest = d;
        *farthest = carom_vec_scale(at, 1.0 / radius);
    }
    return most;
}

/* A ball grows until it reaches out as far as it may, up to this part.
 * Observed, as above: nothing changes with 24 growths at most, and 4 are 2 % worse; a part of 0.005
 * is 8 % worse, 0.08 as good. */
#define FIELD_MOST_GROWTHS     12
#define FIELD_GROWTH_TOLERANCE 0.02

double carom_cover_field_radius(const carom_cover_field *field, const carom_cover_spread *spread,
                                carom_vec3 centre, double outside, double radius) {
    double least = radius;
    if (radius == 0.0) {
        double here = carom_cover_field_at(field, centre, NULL);
        radius = outside - here;
        least = outside - fabs(here); /* at holes of open meshes the sign changes suddenly */
        if (!(radius > 0.0)) return 0.0;
        if (!(least > 0.0)) least = 0.0;
    }
    for (int i = 0; i < FIELD_MOST_GROWTHS; ++i) {
        double rest = outside - carom_cover_field_outside(field, spread, centre, radius, NULL);
        if (i == 0 && rest < -FIELD_GROWTH_TOLERANCE * outside && radius > least) {
            radius = least;
            continue;
        }
        if (!(rest > FIELD_GROWTH_TOLERANCE * outside)) break;
        radius += rest;
    }
    CAROM_ASSERT(radius >= least);
    return radius;
}
