/* SPDX-License-Identifier: MIT */
/* Making a gas: checks, rules, the arrays by slot; adding, setting and removing spheres. */
#include "gas/gas.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

#define MOST_RADIUS_RATIO 10.0
#define ALLOWED_OVERLAP   1e-9
#define MOST_WIDTH        1e15 /* of the box, in radii */

/* ---- checks ---------------------------------------------------------------------------------- */

static bool finite_vec(carom_vec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static carom_status check_def(carom_context *context, const carom_gas_def *def) {
    if (!finite_vec(def->edges) || !(def->edges.x > 0.0) || !(def->edges.y > 0.0) ||
        !(def->edges.z > 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the box has the edges %g, %g, %g; all must be above zero and finite",
                          def->edges.x, def->edges.y, def->edges.z);
    if (!finite_vec(def->acceleration))
        return carom_fail(context, CAROM_BAD_INPUT, "the acceleration is not finite");
    double pull = fmax(fabs(def->acceleration.x), fabs(def->acceleration.y));
    pull = fmax(pull, fabs(def->acceleration.z));
    if (pull > CAROM_GAS_MOST_PULL)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the acceleration is %g along an axis; at most %g is possible", pull,
                          CAROM_GAS_MOST_PULL);
    if (!(def->loss >= 0.0 && def->loss <= 1.0) ||
        !(def->wall_loss >= 0.0 && def->wall_loss <= 1.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "losses are %g and %g at walls; both must be in [0, 1]", def->loss,
                          def->wall_loss);
    const double least_zero[] = {def->elastic_below, def->cell_edge, def->reach, def->tick};
    static const char *const names[] = {"elastic_below", "cell_edge", "reach", "tick"};
    for (int i = 0; i < 4; ++i)
        if (!(least_zero[i] >= 0.0) || !isfinite(least_zero[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s is %g; it must be finite and not negative", names[i],
                              least_zero[i]);
    return CAROM_OK;
}

static carom_status check_sphere(carom_context *context, const carom_gas *gas,
                                 const carom_gas_sphere *sphere, uint64_t number) {
    unsigned long long which = number;
    if (!finite_vec(sphere->position) || !finite_vec(sphere->velocity) ||
        !isfinite(sphere->radius) || !isfinite(sphere->mass))
        return carom_fail(context, CAROM_BAD_INPUT, "sphere %llu has a number that is not finite",
                          which);
    if (!(sphere->radius > 0.0) || sphere->mass < 0.0)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sphere %llu has radius %g and mass %g; a radius must be above zero, a "
                          "mass not below",
                          which, sphere->radius, sphere->mass);
    if (gas->longest > MOST_WIDTH * sphere->radius)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sphere %llu has radius %g in a box %g wide; doubles cannot tell places "
                          "apart there: make the box smaller",
                          which, sphere->radius, gas->longest);
    const double x[3] = {sphere->position.x, sphere->position.y, sphere->position.z};
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis], slack = ALLOWED_OVERLAP * sphere->radius;
        double least = 2.0 * sphere->radius;
        if (gas->rules.periodic[axis]) least = least * 1.00001 + 1e-8 * gas->longest;
        if (edge < least)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %llu with radius %g does not fit the box, whose edge along "
                              "%c is %g; %g is needed",
                              which, sphere->radius, "xyz"[axis], edge, least);
        if (!gas->rules.periodic[axis] &&
            (x[axis] - sphere->radius < -slack || x[axis] + sphere->radius > edge + slack))
            return carom_fail(
                context, CAROM_BAD_INPUT,
                "sphere %llu at %c = %g with radius %g reaches through the wall of "
                "the box, whose edge is %g; move it inside or make that axis periodic",
                which, "xyz"[axis], x[axis], sphere -> radius, edge);
        if (gas->rules.periodic[axis] && fabs(x[axis]) > 1e6 * edge)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %llu at %c = %g is more than a million boxes away", which,
                              "xyz"[axis], x[axis]);
    }
    return CAROM_OK;
}

/* Radii, masses, packing: after any change of the set. */
static void survey(carom_gas *gas) {
    double volume = 0.0;
    gas->largest = 0.0;
    gas->smallest = HUGE_VAL;
    for (uint64_t i = 0; i < gas->count; ++i) {
        double r = gas->radius[i];
        gas->largest = fmax(gas->largest, r);
        gas->smallest = fmin(gas->smallest, r);
        volume += 4.0 / 3.0 * 3.141592653589793 * r * r * r;
    }
    if (gas->count == 0) gas->largest = gas->smallest = 0.25 * gas->longest * 1e-3;
    gas->uniform = gas->largest == gas->smallest;
    gas->common_mass = gas->count != 0 ? gas->mass[0] : 0.0;
    for (uint64_t i = 0; i < gas->count; ++i)
        if (gas->mass[i] != gas->common_mass) gas->common_mass = 0.0;
    gas->packing = volume / (gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2]);
}

carom_status carom_gas_check(carom_context *context, carom_gas *gas) {
    survey(gas);
    if (gas->largest > MOST_RADIUS_RATIO * gas->smallest * (1.0 + 1e-12))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "radii go from %g to %g; the largest may be ten times the smallest",
                          gas->smallest, gas->largest);
    for (uint64_t i = 0; i < gas->count; ++i)
        if (!carom_gas_keeps_pace(gas, gas->bodies[i].v))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "sphere %u is too fast: it moves by more than a millionth of the "
                              "smallest radius, %g, in one tick of %g; slow it down or make the "
                              "gas with a smaller tick",
                              gas->cards[i].label, gas->smallest, gas->rules.tick);
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

/* ---- rules ----------------------------------------------------------------------------------- */

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
            gas->safe_drift = fmin(gas->safe_drift, 0.9 * CAROM_GAS_MOST_DRIFT * edge[axis]);
    }
}

/* The time in which a typical sphere moves by its radius, divided by 2^50: positions are then off
 * by less than their own rounding, and 2^61 ticks are two thousand such times. */
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
        tick = unit * 0x1p-50;
    }
    tick = fmin(fmax(tick, 0x1p-900), 0x1p900);
    gas->rules.tick = power_of_two_below(tick);
    gas->rules.ticks_per_unit = 1.0 / gas->rules.tick;
}

/* ---- arrays by slot -------------------------------------------------------------------------- */

carom_status carom_gas_reserve(carom_context *context, carom_gas *gas, uint64_t count,
                               uint64_t labels) {
    if (count >= CAROM_GAS_MOST_SPHERES || labels >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu spheres; at most %u are possible",
                          (unsigned long long)count, CAROM_GAS_MOST_SPHERES - 1);
    struct {
        void **place;
        size_t size;
    } arrays[] = {{(void **)&gas->bodies, sizeof(*gas->bodies)},
                  {(void **)&gas->cards, sizeof(*gas->cards)},
                  {(void **)&gas->radius, sizeof(*gas->radius)},
                  {(void **)&gas->mass, sizeof(*gas->mass)},
                  {(void **)&gas->flights.by_slot, sizeof(*gas->flights.by_slot)}};
    if (count > gas->capacity || gas->bodies == NULL) {
        uint64_t capacity = 0;
        for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
            void *old = *arrays[i].place;
            capacity = 0;
            void *grown = carom_array_grow(&gas->allocator, old, gas->count, count, arrays[i].size,
                                           &capacity);
            if (grown == NULL) return carom_fail_memory(context, count * arrays[i].size, "spheres");
            *arrays[i].place = grown;
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
    gas->cards[slot].plan.repeats = 0;
    gas->cards[slot].plan.current = 0;
    gas->radius[slot] = sphere->radius;
    gas->mass[slot] = sphere->mass == 0.0 ? 1.0 : sphere->mass;
}

static void append(carom_gas *gas, uint32_t label, const carom_gas_sphere *sphere) {
    uint32_t slot = (uint32_t)gas->count++;
    gas->cards[slot].label = label;
    gas->slot_of[label] = slot;
    put_sphere(gas, slot, sphere);
}

/* The last sphere takes the place of the removed one. */
static void take_out(carom_gas *gas, uint32_t label) {
    uint32_t slot = gas->slot_of[label], last = (uint32_t)--gas->count;
    gas->slot_of[label] = CAROM_GAS_NO_SLOT;
    if (slot == last) return;
    gas->bodies[slot] = gas->bodies[last];
    gas->cards[slot] = gas->cards[last];
    gas->radius[slot] = gas->radius[last];
    gas->mass[slot] = gas->mass[last];
    gas->slot_of[gas->cards[slot].label] = slot;
}

/* ---- the public calls ------------------------------------------------------------------------ */

carom_status carom_gas_create(carom_context *context, const carom_gas_def *def,
                              const carom_gas_sphere *spheres, uint64_t count, carom_gas **out) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(out != NULL, "the place for the gas is NULL");
    *out = NULL;
    CAROM_REQUIRE(def != NULL, "the def is NULL: a gas needs a box");
    CAROM_REQUIRE(spheres != NULL || count == 0, "the spheres are NULL");
    CAROM_REQUIRE((unsigned)def->method < CAROM_GAS_METHOD_COUNT, "def->method is no method");
    CAROM_REQUIRE((unsigned)def->queue < CAROM_GAS_QUEUE_COUNT, "def->queue is no queue");
    CAROM_TRY(check_def(context, def));
    carom_gas *gas = carom_allocate(&context->allocator, 1, sizeof(*gas));
    if (gas == NULL) return carom_fail_memory(context, sizeof(*gas), "a gas");
    memset(gas, 0, sizeof(*gas));
    gas->allocator = context->allocator;
    set_rules(gas, def);
    carom_status status = carom_gas_reserve(context, gas, count, count);
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        status = check_sphere(context, gas, &spheres[i], i);
        if (status == CAROM_OK) append(gas, (uint32_t)i, &spheres[i]);
    }
    gas->labels = count;
    if (status == CAROM_OK) {
        survey(gas);
        choose_tick(gas);
        status = carom_gas_check(context, gas);
    }
    if (status == CAROM_OK) status = carom_gas_rebuild(context, gas);
    if (status != CAROM_OK) {
        carom_gas_destroy(gas);
        return status;
    }
    *out = gas;
    return CAROM_OK;
}

void carom_gas_destroy(carom_gas *gas) {
    if (gas == NULL) return;
    carom_allocator allocator = gas->allocator;
    carom_gas_queue_release(gas);
    carom_gas_cells_release(gas);
    carom_gas_lists_release(gas);
    carom_release(&allocator, gas->bodies);
    carom_release(&allocator, gas->cards);
    carom_release(&allocator, gas->radius);
    carom_release(&allocator, gas->mass);
    carom_release(&allocator, gas->slot_of);
    carom_release(&allocator, gas->flights.by_slot);
    carom_release(&allocator, gas);
}

/* Undoes an addition that did not pass the checks. */
static carom_status give_up_added(carom_gas *gas, uint64_t labels, carom_status status) {
    while (gas->labels > labels) take_out(gas, (uint32_t)--gas->labels);
    survey(gas);
    return status;
}

carom_status carom_gas_add(carom_context *context, carom_gas *gas, const carom_gas_sphere *spheres,
                           uint64_t count, uint32_t *ids) {
    CAROM_REQUIRE(context != NULL && gas != NULL, "the context or the gas is NULL");
    CAROM_REQUIRE(spheres != NULL || count == 0, "the spheres are NULL");
    for (uint64_t i = 0; i < count; ++i) CAROM_TRY(check_sphere(context, gas, &spheres[i], i));
    CAROM_TRY(carom_gas_reserve(context, gas, gas->count + count, gas->labels + count));
    uint64_t labels = gas->labels;
    for (uint64_t i = 0; i < count; ++i) append(gas, (uint32_t)gas->labels++, &spheres[i]);
    carom_status status = carom_gas_check(context, gas);
    if (status != CAROM_OK) return give_up_added(gas, labels, status);
    for (uint64_t i = 0; i < count && ids != NULL; ++i) ids[i] = (uint32_t)(labels + i);
    return carom_gas_rebuild(context, gas);
}

carom_status carom_gas_remove(carom_context *context, carom_gas *gas, const uint32_t *ids,
                              uint64_t count) {
    CAROM_REQUIRE(context != NULL && gas != NULL, "the context or the gas is NULL");
    CAROM_REQUIRE(ids != NULL || count == 0, "the ids are NULL");
    for (uint64_t i = 0; i < count; ++i)
        if (ids[i] >= gas->labels || gas->slot_of[ids[i]] == CAROM_GAS_NO_SLOT)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "there is no sphere with the id %u to remove", ids[i]);
    for (uint64_t i = 0; i < count; ++i)
        if (gas->slot_of[ids[i]] != CAROM_GAS_NO_SLOT) take_out(gas, ids[i]);
    survey(gas);
    return carom_gas_rebuild(context, gas);
}

carom_status carom_gas_set(carom_context *context, carom_gas *gas, const uint32_t *ids,
                           const carom_gas_sphere *spheres, uint64_t count) {
    CAROM_REQUIRE(context != NULL && gas != NULL, "the context or the gas is NULL");
    CAROM_REQUIRE((ids != NULL && spheres != NULL) || count == 0, "the ids or spheres are NULL");
    for (uint64_t i = 0; i < count; ++i) {
        if (ids[i] >= gas->labels)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "the id %u was never given out; carom_gas_add makes new ones",
                              ids[i]);
        CAROM_TRY(check_sphere(context, gas, &spheres[i], ids[i]));
    }
    CAROM_TRY(carom_gas_reserve(context, gas, gas->count + count, gas->labels));
    /* What stood before, to go back to. */
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    struct {
        carom_gas_body body;
        carom_gas_plan plan; /* it may stand in the queue */
        double radius, mass;
        bool alive;
    } *before = carom_arena_take(scratch, count, sizeof(*before));
    if (before == NULL) return carom_fail_memory(context, count * sizeof(*before), "changes");
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t slot = gas->slot_of[ids[i]];
        before[i].alive = slot != CAROM_GAS_NO_SLOT;
        if (before[i].alive) {
            before[i].body = gas->bodies[slot];
            before[i].plan = gas->cards[slot].plan;
            before[i].radius = gas->radius[slot];
            before[i].mass = gas->mass[slot];
            put_sphere(gas, slot, &spheres[i]);
        } else {
            append(gas, ids[i], &spheres[i]);
        }
    }
    carom_status status = carom_gas_check(context, gas);
    for (uint64_t i = count; status != CAROM_OK && i-- > 0;) {
        uint32_t slot = gas->slot_of[ids[i]];
        if (before[i].alive) {
            gas->bodies[slot] = before[i].body;
            gas->cards[slot].plan = before[i].plan;
            gas->radius[slot] = before[i].radius;
            gas->mass[slot] = before[i].mass;
        } else {
            take_out(gas, ids[i]);
        }
    }
    if (status != CAROM_OK) survey(gas);
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    return carom_gas_rebuild(context, gas);
}
