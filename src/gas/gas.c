/* SPDX-License-Identifier: MIT */
/* Creating and changing a gas: checks of the input, rules, the arrays by slot, the rebuild of all
 * that follows from them, and adding, setting and removing spheres. Invariant: a call that fails
 * leaves the gas unchanged. */
#include "gas/gas.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "geom/lens.h"

#define ALLOWED_OVERLAP 1e-9   /* of the sum of radii: rounding of the caller's positions */
#define MOST_BOXES_AWAY 1e6    /* periodic edges: mapping into the box loses 20 of 53 bits there */
#define EMPTY_RADIUS    2.5e-4 /* of the longest edge: the radius assumed without spheres */
/* Of the drift after which a body is rewritten: below it no refresh is due, by a margin far above
 * rounding. */
#define SAFE_DRIFT_SHARE 0.9
/* Ticks in which a typical sphere moves by its radius, as a power of two: see choose_tick. */
#define TICKS_PER_RADIUS 0x1p50
/* The range of a length divided by a pace (see gas.h), a hundred times wider at both ends.
 * check_tick tests more strictly. */
#define LEAST_TICK 1e-132
#define MOST_TICK  1e102

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool finite_vec(carom_vec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static carom_status gas_check_def(carom_context *context, const carom_gas_def *def) {
    if (!finite_vec(def->edges) || !(def->edges.x > 0.0) || !(def->edges.y > 0.0) ||
        !(def->edges.z > 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the box has the edges %g, %g, %g; all must be above zero and finite",
                          def->edges.x, def->edges.y, def->edges.z);
    const double least = fmin(def->edges.x, fmin(def->edges.y, def->edges.z));
    const double most = fmax(def->edges.x, fmax(def->edges.y, def->edges.z));
    if (least < CAROM_GAS_LEAST_LENGTH || most > CAROM_GAS_MOST_LENGTH)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the box has the edges %g, %g, %g; all must be from %g to %g: choose "
                          "another unit of length",
                          def->edges.x, def->edges.y, def->edges.z, CAROM_GAS_LEAST_LENGTH,
                          CAROM_GAS_MOST_LENGTH);
    if (!finite_vec(def->acceleration))
        return carom_fail(context, CAROM_BAD_INPUT, "the acceleration is not finite");
    double pull = fmax(fabs(def->acceleration.x), fabs(def->acceleration.y));
    pull = fmax(pull, fabs(def->acceleration.z));
    if (pull > CAROM_GAS_MOST_ACCELERATION)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the acceleration is %g along an axis; at most %g is possible", pull,
                          CAROM_GAS_MOST_ACCELERATION);
    if (!(def->loss >= 0.0 && def->loss <= 1.0) ||
        !(def->wall_loss >= 0.0 && def->wall_loss <= 1.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "losses are %g and %g at walls; both must be in [0, 1]", def->loss,
                          def->wall_loss);
    const double least_zero[] = {def->elastic_below, def->cell_edge, def->cutoff, def->tick};
    static const char *const names[] = {"elastic_below", "cell_edge", "cutoff", "tick"};
    for (int i = 0; i < 4; ++i)
        if (!(least_zero[i] >= 0.0) || !isfinite(least_zero[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s is %g; it must be finite and not negative", names[i],
                              least_zero[i]);
    if (def->tick != 0.0 && (def->tick < LEAST_TICK || def->tick > MOST_TICK))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "tick is %g; it must be 0, to be chosen, or from %g to %g", def->tick,
                          LEAST_TICK, MOST_TICK);
    return CAROM_OK;
}

static carom_status gas_check_sphere(carom_context *context, const carom_gas *gas,
                                     const carom_gas_sphere *sphere, uint64_t index) {
    unsigned long long which = index;
    if (!finite_vec(sphere->position) || !finite_vec(sphere->velocity) ||
        !isfinite(sphere->radius) || !isfinite(sphere->mass))
        return carom_fail(context, CAROM_BAD_INPUT, "sphere %llu has a number that is not finite",
                          which);
    if (!(sphere->radius > 0.0) || sphere->mass < 0.0)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sphere %llu has radius %g and mass %g; a radius must be above zero, a "
                          "mass not below",
                          which, sphere->radius, sphere->mass);
    if (sphere->radius < CAROM_GAS_LEAST_LENGTH)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sphere %llu has radius %g; at least %g is possible: choose another unit "
                          "of length",
                          which, sphere->radius, CAROM_GAS_LEAST_LENGTH);
    if (sphere->mass != 0.0 &&
        (sphere->mass < CAROM_GAS_LEAST_MASS || sphere->mass > CAROM_GAS_MOST_MASS))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sphere %llu has mass %g; %g to %g is possible: choose another unit of "
                          "mass",
                          which, sphere->mass, CAROM_GAS_LEAST_MASS, CAROM_GAS_MOST_MASS);
    if (fabs(sphere->velocity.x) > CAROM_GAS_MOST_SPEED ||
        fabs(sphere->velocity.y) > CAROM_GAS_MOST_SPEED ||
        fabs(sphere->velocity.z) > CAROM_GAS_MOST_SPEED)
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "sphere %llu has the velocity %g, %g, %g; at most %g is possible along an "
            "axis: choose another unit of time",
            which, sphere->velocity.x, sphere->velocity.y, sphere->velocity.z,
            CAROM_GAS_MOST_SPEED);
    if (gas->longest > CAROM_GAS_MOST_WIDTH * sphere->radius)
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "sphere %llu has radius %g in a box %g wide; doubles cannot tell positions "
            "apart there: make the box smaller",
            which, sphere->radius, gas->longest);
    const double x[3] = {sphere->position.x, sphere->position.y, sphere->position.z};
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis], slack = ALLOWED_OVERLAP * sphere->radius;
        double least = 2.0 * sphere->radius;
        if (gas->rules.periodic[axis]) least = carom_gas_least_periodic(gas, sphere->radius);
        if (edge < least)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %llu with radius %g does not fit the box, whose edge along "
                              "%c is %g; %g is needed",
                              which, sphere->radius, "xyz"[axis], edge, least);
        if (!gas->rules.periodic[axis] &&
            (x[axis] - sphere->radius < -slack || x[axis] + sphere->radius > edge + slack))
            return carom_fail(
                context, CAROM_BAD_INPUT,
                "sphere %llu at %c = %g with radius %g extends through the wall of "
                "the box, whose edge is %g; move it inside or make that axis periodic",
                which, "xyz"[axis], x[axis], sphere -> radius, edge);
        if (gas->rules.periodic[axis] && fabs(x[axis]) > MOST_BOXES_AWAY * edge)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %llu at %c = %g is more than a million boxes away", which,
                              "xyz"[axis], x[axis]);
    }
    return CAROM_OK;
}

/* Recomputes the ranges of radii, the common mass and the packing fraction after a change of the
 * set. */
static void gas_survey(carom_gas *gas) {
    double volume = 0.0;
    CAROM_ASSERT(gas->count == 0 || (gas->radius != NULL && gas->mass != NULL));
    gas->largest = 0.0;
    gas->smallest = HUGE_VAL;
    for (uint64_t i = 0; i < gas->count; ++i) {
        double r = gas->radius[i];
        gas->largest = fmax(gas->largest, r);
        gas->smallest = fmin(gas->smallest, r);
        volume += 4.0 / 3.0 * CAROM_PI * r * r * r;
    }
    if (gas->count == 0) gas->largest = gas->smallest = EMPTY_RADIUS * gas->longest;
    gas->uniform = gas->largest == gas->smallest;
    gas->common_mass = gas->count != 0 ? gas->mass[0] : 0.0;
    for (uint64_t i = 0; i < gas->count; ++i)
        if (gas->mass[i] != gas->common_mass) gas->common_mass = 0.0;
    gas->watches_speed = gas->rules.accelerated || !(gas->common_mass > 0.0);
    gas->packing = volume / (gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2]);
}

/* Checks that the tick suits these spheres. */
static carom_status check_tick(carom_context *context, const carom_gas *gas, double tolerance) {
    double pace = gas->smallest / gas->rules.tick, tick = gas->rules.tick;
    /* Without its smallest spheres a gas keeps its tick, which suited them. */
    double most = tolerance > 1.0 ? CAROM_GAS_MOST_PACE * tolerance * CAROM_GAS_MOST_WIDTH
                                  : CAROM_GAS_MOST_PACE;
    if (pace < CAROM_GAS_LEAST_PACE / tolerance || pace > most)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the tick is %g; for the smallest radius, %g, it must be from %g to %g",
                          tick, gas->smallest, gas->smallest / CAROM_GAS_MOST_PACE,
                          gas->smallest / CAROM_GAS_LEAST_PACE);
    double fall = sqrt(2.0 * gas->most_acceleration * gas->longest);
    if (fall * tick > CAROM_GAS_MOST_STEP * gas->smallest)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the acceleration, %g, is too strong for the tick: after a fall through "
                          "the box a sphere moves by more than a millionth of the smallest radius, "
                          "%g, in one tick of %g; make it weaker or the tick smaller",
                          gas->most_acceleration, gas->smallest, tick);
    return CAROM_OK;
}

carom_status carom_gas_check(carom_context *context, carom_gas *gas, double tolerance) {
    gas_survey(gas);
    if (gas->count != 0) CAROM_TRY(check_tick(context, gas, tolerance));
    for (uint64_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        if (!carom_gas_keeps_pace(gas, gas->bodies[i].v))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %u is too fast: it moves by more than a millionth of the "
                              "smallest radius, %g, in one tick of %g; slow it down or make the "
                              "gas with a smaller tick",
                              gas->records[i].label, gas->smallest, gas->rules.tick);
    }
    double overlap;
    uint32_t pair[2];
    CAROM_TRY(carom_gas_deepest(context, gas, &overlap, pair));
    if (overlap > ALLOWED_OVERLAP)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "spheres %u and %u overlap by %.3g of the sum of their radii; they may "
                          "touch at most",
                          pair[0], pair[1], overlap);
    return CAROM_OK;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static double power_of_two_below(double value) {
    int exponent;
    (void)frexp(value, &exponent);
    return ldexp(1.0, exponent - 1);
}

static void set_rules(carom_gas *gas, const carom_gas_def *def) {
    carom_gas_rules *rules = &gas->rules;
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    const double a[3] = {def->acceleration.x, def->acceleration.y, def->acceleration.z};
    *rules = (carom_gas_rules){.tick = 1.0,
                               .ticks_per_unit = 1.0,
                               .loss = def->loss,
                               .wall_loss = def->wall_loss,
                               .elastic_below = def->elastic_below};
    gas->def = *def;
    gas->def.spheres = NULL; /* the caller's */
    gas->safe_drift = HUGE_VAL;
    for (int axis = 0; axis < 3; ++axis) {
        rules->edge[axis] = edge[axis];
        rules->acceleration[axis] = a[axis];
        rules->periodic[axis] = def->periodic[axis];
        if (a[axis] != 0.0) rules->accelerated = 1;
        if (!def->periodic[axis]) rules->walls = 1;
        gas->most_acceleration = fmax(gas->most_acceleration, fabs(a[axis]));
        gas->longest = fmax(gas->longest, edge[axis]);
        if (def->periodic[axis])
            gas->safe_drift =
                fmin(gas->safe_drift, SAFE_DRIFT_SHARE * CAROM_GAS_MOST_DRIFT * edge[axis]);
    }
}

/* Chooses the tick: the time in which a typical sphere moves by its radius, divided by 2^50.
 * Position errors are then below their own rounding, and 2^61 ticks are two thousand such times. */
static void choose_tick(carom_gas *gas) {
    double tick = gas->def.tick;
    if (tick == 0.0) {
        double square = 0.0, pull = gas->most_acceleration;
        for (uint64_t i = 0; i < gas->count; ++i) {
            const double *v = gas->bodies[i].v;
            square += (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (double)gas->count;
        }
        double radius = gas->count != 0 ? gas->smallest : gas->longest;
        double unit = square > 0.0 ? radius / sqrt(square) : HUGE_VAL;
        if (pull > 0.0) unit = fmin(unit, sqrt(radius / pull));
        if (!isfinite(unit) || !(unit > 0.0)) unit = 1.0;
        tick = unit / TICKS_PER_RADIUS;
        /* Spheres may be slow, or at rest, in any unit of time. The factor 2 allows for the
         * rounding to a power of two below. */
        tick = fmax(tick, 2.0 * gas->smallest / CAROM_GAS_MOST_PACE);
        tick = fmin(tick, gas->smallest / CAROM_GAS_LEAST_PACE);
    }
    gas->rules.tick = power_of_two_below(tick);
    gas->rules.ticks_per_unit = 1.0 / gas->rules.tick;
}

/* ---- Arrays by slot -------------------------------------------------------------------------- */

carom_status carom_gas_reserve(carom_context *context, carom_gas *gas, uint64_t count,
                               uint64_t labels) {
    if (count >= CAROM_GAS_MOST_SPHERES || labels >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu spheres; at most %u are possible",
                          (unsigned long long)count, CAROM_GAS_MOST_SPHERES - 1);
    struct {
        void **pointer;
        size_t size;
    } arrays[] = {{(void **)&gas->bodies, sizeof(*gas->bodies)},
                  {(void **)&gas->records, sizeof(*gas->records)},
                  {(void **)&gas->radius, sizeof(*gas->radius)},
                  {(void **)&gas->mass, sizeof(*gas->mass)},
                  {(void **)&gas->trajectories.by_slot, sizeof(*gas->trajectories.by_slot)}};
    if (count > gas->capacity || gas->bodies == NULL) {
        uint64_t capacity = 0;
        CAROM_ASSERT(gas->count == 0 || (gas->radius != NULL && gas->mass != NULL));
        for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
            void *old = *arrays[i].pointer;
            capacity = 0;
            void *grown = carom_array_grow(&gas->allocator, old, gas->count, count, arrays[i].size,
                                           &capacity);
            if (grown == NULL) return carom_fail_memory(context, count * arrays[i].size, "spheres");
            *arrays[i].pointer = grown;
        }
        gas->capacity = capacity;
    }
    if (labels > gas->label_capacity) {
        void *grown = carom_array_grow(&gas->allocator, gas->slot_of, gas->labels, labels,
                                       sizeof(*gas->slot_of), &gas->label_capacity);
        if (grown == NULL) return carom_fail_memory(context, labels * 4, "ids of spheres");
        gas->slot_of = grown;
    }
    return CAROM_OK;
}

static void put_sphere(carom_gas *gas, uint32_t slot, const carom_gas_sphere *sphere) {
    carom_gas_body *body = &gas->bodies[slot];
    const double x[3] = {sphere->position.x, sphere->position.y, sphere->position.z};
    const double v[3] = {sphere->velocity.x, sphere->velocity.y, sphere->velocity.z};
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis];
        body->x[axis] =
            gas->rules.periodic[axis] ? x[axis] - edge * floor(x[axis] / edge) : x[axis];
        body->v[axis] = v[axis];
        body->wraps[axis] = 0;
    }
    body->t = gas->now;
    memset(body->spare, 0, sizeof(body->spare));
    gas->records[slot].prediction.repeats = 0;
    gas->records[slot].prediction.current = 0;
    gas->radius[slot] = sphere->radius;
    gas->mass[slot] = sphere->mass == 0.0 ? 1.0 : sphere->mass;
}

static void gas_append(carom_gas *gas, uint32_t label, const carom_gas_sphere *sphere) {
    uint32_t slot = (uint32_t)gas->count++;
    gas->records[slot].label = label;
    gas->records[slot].follower = CAROM_GAS_NO_SLOT; /* read with either queue, set with one */
    gas->slot_of[label] = slot;
    put_sphere(gas, slot, sphere);
}

/* Removes a sphere. The last sphere is moved to its slot. */
static void take_out(carom_gas *gas, uint32_t label) {
    uint32_t slot = gas->slot_of[label], last = (uint32_t)--gas->count;
    gas->slot_of[label] = CAROM_GAS_NO_SLOT;
    if (slot == last) return;
    gas->bodies[slot] = gas->bodies[last];
    gas->records[slot] = gas->records[last];
    gas->radius[slot] = gas->radius[last];
    gas->mass[slot] = gas->mass[last];
    gas->slot_of[gas->records[slot].label] = slot;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

/* Numbers of spheres. A body is 64 bytes, and so is a record; a second-level cache is 0.5 to 2 MiB.
 * Half or four times these numbers change the time by less than 5 %. */
#define FEWEST_SORTED     4096  /* the order in memory of smaller gases does not matter */
#define FEWEST_PREFETCHED 16384 /* the bodies fill the second-level cache */
#define FEWEST_LISTED     8192  /* the same with neighbour lists of 128 bytes */
#define FEWEST_TOGETHER   32768 /* most data are outside it */

/* Predictions per sphere between two checks of the order in memory. */
#define SORT_AFTER 2

/* Frees the arrays of radii and masses where all are equal: a twentieth of the memory of a gas. An
 * empty gas is one that a file is read into. */
static void drop_equal(carom_gas *gas) {
    if (gas->count == 0) return;
    if (gas->uniform && gas->radius != NULL) {
        carom_release(&gas->allocator, gas->radius);
        gas->radius = NULL;
    }
    if (gas->common_mass > 0.0 && gas->mass != NULL) {
        carom_release(&gas->allocator, gas->mass);
        gas->mass = NULL;
    }
}

static carom_status predict_all(carom_context *context, carom_gas *gas, uint64_t amount) {
    for (uint64_t from = 0, to; from < gas->count; from = to) {
        to = CAROM_MIN(from + CAROM_GAS_LOOK_EVERY, gas->count);
        if (!CAROM_CPU_CALL(context, carom_gas_predict_some)(gas, from, to))
            return carom_fail_memory(context, gas->count, "cells with many spheres");
        CAROM_TRY(carom_gas_look(context, from, amount));
    }
    return CAROM_OK;
}

carom_status carom_gas_rebuild(carom_context *context, carom_gas *gas, uint64_t amount) {
    gas->ready = false;
    carom_gas_queue_release(gas);
    carom_gas_cells_release(gas);
    carom_gas_lists_release(gas);
    drop_equal(gas);
    CAROM_TRY(carom_gas_sort(context, gas));
    CAROM_TRY(carom_gas_cells_create(context, gas, amount));
    gas->homes_until = gas->now - 1;
    gas->prefetch =
        gas->count >=
            (gas->method == CAROM_GAS_METHOD_NEIGHBOURS ? FEWEST_LISTED : FEWEST_PREFETCHED) &&
        gas->levels.count == 0;
    gas->predicts_together =
        gas->count >= FEWEST_TOGETHER && gas->method == CAROM_GAS_METHOD_CENTRE &&
        gas->levels.count == 0 &&
        gas->def.queue != CAROM_GAS_QUEUE_TREE; /* a heap takes one change at a time */
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) CAROM_TRY(carom_gas_lists_create(context, gas));
    for (uint64_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        gas->trajectories.by_slot[i].stamp = 0;
        gas->records[i].prediction.side = 0; /* stays 0 where there is nothing to cross */
    }
    CAROM_TRY(carom_gas_trajectories_renew(context, gas, false));
    uint64_t predictions = gas->predictions; /* the measures do not count these */
    CAROM_TRY(predict_all(context, gas, amount));
    gas->predictions = predictions;
    CAROM_TRY(carom_gas_queue_create(context, gas));
    gas->sort_after =
        gas->count < FEWEST_SORTED ? UINT64_MAX : gas->predictions + SORT_AFTER * gas->count;
    gas->ready = true;
    return CAROM_OK;
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

/* Units of progress per sphere when a gas is created: checking, filing, predicting. */
#define GAS_UNITS_PER_SPHERE 3

static carom_status fill_gas(carom_context *context, carom_gas *gas,
                             const carom_gas_sphere *spheres, uint64_t count) {
    CAROM_TRY(carom_gas_reserve(context, gas, count, count));
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        CAROM_TRY(gas_check_sphere(context, gas, &spheres[i], i));
        gas_append(gas, (uint32_t)i, &spheres[i]);
    }
    gas->labels = count;
    gas_survey(gas);
    choose_tick(gas);
    CAROM_TRY(carom_gas_check(context, gas, 1.0));
    return carom_gas_rebuild(context, gas, 1);
}

carom_status carom_gas_create(carom_context *context, const carom_gas_def *def, carom_gas **out) {
    static const carom_gas_def defaults;
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(out, "gas");
    *out = NULL;
    if (def == NULL) def = &defaults;
    uint64_t count = def->sphere_count;
    CAROM_REQUIRE_INPUTS(def->spheres, count, "spheres");
    CAROM_REQUIRE_KNOWN(def->method, CAROM_GAS_METHOD_COUNT, "method");
    CAROM_REQUIRE_KNOWN(def->queue, CAROM_GAS_QUEUE_COUNT, "queue");
    CAROM_TRY(carom_context_require_cpu(context, "a gas"));
    CAROM_TRY(gas_check_def(context, def));
    carom_gas *gas = carom_allocate(&context->allocator, 1, sizeof(*gas));
    if (gas == NULL) return carom_fail_memory(context, sizeof(*gas), "a gas");
    memset(gas, 0, sizeof(*gas));
    gas->allocator = context->allocator;
    gas->parallel_from = CAROM_GAS_PARALLEL_FROM;
    set_rules(gas, def);
    carom_progress_begin(context, "adding spheres", GAS_UNITS_PER_SPHERE * count);
    carom_status status =
        carom_progress_finish(context, fill_gas(context, gas, def->spheres, count));
    if (status != CAROM_OK) {
        carom_gas_destroy(gas);
        return status;
    }
    *out = gas;
    return CAROM_OK;
}

static void gas_release_arrays(carom_gas *gas) {
    carom_gas_queue_release(gas);
    carom_gas_cells_release(gas);
    carom_gas_lists_release(gas);
    CAROM_RELEASE_ALL(&gas->allocator, gas->bodies, gas->records, gas->radius, gas->mass,
                      gas->slot_of, gas->trajectories.by_slot);
}

void carom_gas_destroy(carom_gas *gas) {
    if (gas == NULL) return;
    carom_allocator allocator = gas->allocator;
    gas_release_arrays(gas);
    carom_release(&allocator, gas);
}

/* ---- Adding, setting and removing spheres ---------------------------------------------------- */

/* A change is made on a copy, which replaces the gas when everything has succeeded. If an
 * allocation or a check fails, or the work is cancelled, the gas itself is unchanged. Cells and
 * queue are not copied, as the change needs new ones. */
static carom_status copy_gas(carom_context *context, const carom_gas *gas, uint64_t more,
                             uint64_t more_labels, carom_gas *draft) {
    *draft = *gas;
    draft->bodies = NULL, draft->records = NULL, draft->radius = NULL, draft->mass = NULL;
    draft->slot_of = NULL;
    draft->trajectories.by_slot = NULL;
    draft->cells = (carom_gas_cells){0};
    draft->levels = (carom_gas_levels){0};
    draft->lists = (carom_gas_lists){0};
    draft->calendar = (carom_gas_calendar){0};
    draft->tree = (carom_gas_tree){0};
    draft->count = draft->capacity = draft->labels = draft->label_capacity = 0;
    CAROM_TRY(carom_gas_reserve(context, draft, gas->count + more, gas->labels + more_labels));
    draft->count = gas->count;
    draft->labels = gas->labels;
    if (gas->labels != 0) memcpy(draft->slot_of, gas->slot_of, gas->labels * sizeof(*gas->slot_of));
    if (gas->count == 0) return CAROM_OK;
    memcpy(draft->bodies, gas->bodies, gas->count * sizeof(*gas->bodies));
    memcpy(draft->records, gas->records, gas->count * sizeof(*gas->records));
    for (uint32_t i = 0; i < gas->count; ++i) {
        draft->radius[i] = carom_gas_radius(gas, i);
        draft->mass[i] = carom_gas_mass(gas, i);
    }
    return CAROM_OK;
}

typedef struct change {
    const carom_gas_sphere *spheres; /* NULL: the spheres are removed */
    const uint32_t *ids;             /* NULL: the spheres are new */
    uint64_t count;
} change;

static carom_status make_change(carom_context *context, carom_gas *draft, const change *c) {
    for (uint64_t i = 0; i < c->count; ++i) {
        if (c->ids == NULL) {
            gas_append(draft, (uint32_t)draft->labels++, &c->spheres[i]);
            continue;
        }
        uint32_t id = c->ids[i], slot = draft->slot_of[id];
        if (c->spheres == NULL && slot != CAROM_GAS_NO_SLOT)
            take_out(draft, id);
        else if (c->spheres != NULL && slot != CAROM_GAS_NO_SLOT)
            put_sphere(draft, slot, &c->spheres[i]);
        else if (c->spheres != NULL)
            gas_append(draft, id, &c->spheres[i]);
    }
    if (c->spheres != NULL)
        CAROM_TRY(carom_gas_check(context, draft, 1.0));
    else
        gas_survey(draft);
    return carom_gas_rebuild(context, draft, 1);
}

/* Applies a change. Each sphere was already checked as far as possible on its own. */
static carom_status change_gas(carom_context *context, carom_gas *gas, const change *c) {
    CAROM_TRY(carom_context_require_cpu(context, "a gas"));
    carom_gas draft;
    uint64_t more = 0, labels = c->ids == NULL ? c->count : 0;
    for (uint64_t i = 0; i < c->count && c->spheres != NULL; ++i)
        more += c->ids == NULL || gas->slot_of[c->ids[i]] == CAROM_GAS_NO_SLOT;
    carom_progress_begin(context, "adding spheres", GAS_UNITS_PER_SPHERE * (gas->count + more));
    carom_status status = copy_gas(context, gas, more, labels, &draft);
    if (status == CAROM_OK) status = make_change(context, &draft, c);
    status = carom_progress_finish(context, status);
    if (status != CAROM_OK) {
        gas_release_arrays(&draft);
        return status;
    }
    gas_release_arrays(gas);
    *gas = draft;
    return CAROM_OK;
}

carom_status carom_gas_add(carom_context *context, carom_gas *gas, const carom_gas_sphere *spheres,
                           uint64_t count, uint32_t *ids) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_INPUTS(spheres, count, "spheres");
    for (uint64_t i = 0; i < count; ++i) CAROM_TRY(gas_check_sphere(context, gas, &spheres[i], i));
    if (count == 0) return CAROM_OK;
    const uint64_t labels = gas->labels;
    CAROM_TRY(change_gas(context, gas, &(change){spheres, NULL, count}));
    for (uint64_t i = 0; i < count && ids != NULL; ++i) ids[i] = (uint32_t)(labels + i);
    return CAROM_OK;
}

carom_status carom_gas_remove(carom_context *context, carom_gas *gas, const uint32_t *ids,
                              uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_INPUTS(ids, count, "ids");
    for (uint64_t i = 0; i < count; ++i)
        if (ids[i] >= gas->labels || gas->slot_of[ids[i]] == CAROM_GAS_NO_SLOT)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "there is no sphere with the id %u to remove", ids[i]);
    if (count == 0) return CAROM_OK;
    return change_gas(context, gas, &(change){NULL, ids, count});
}

carom_status carom_gas_set(carom_context *context, carom_gas *gas, const uint32_t *ids,
                           const carom_gas_sphere *spheres, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_INPUTS(ids, count, "ids");
    CAROM_REQUIRE_INPUTS(spheres, count, "spheres");
    for (uint64_t i = 0; i < count; ++i) {
        if (ids[i] >= gas->labels)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "the id %u was never given out; carom_gas_add makes new ones",
                              ids[i]);
        CAROM_TRY(gas_check_sphere(context, gas, &spheres[i], ids[i]));
    }
    if (count == 0) return CAROM_OK;
    return change_gas(context, gas, &(change){spheres, ids, count});
}

CAROM_ENUM_NAMES(carom_gas_event_kind, CAROM_GAS_EVENT_KIND_COUNT, "pair", "wall", "none");
CAROM_ENUM_NAMES(carom_gas_method, CAROM_GAS_METHOD_COUNT, "auto", "centre", "extent",
                 "neighbours");
CAROM_ENUM_NAMES(carom_gas_queue, CAROM_GAS_QUEUE_COUNT, "calendar", "tree");
