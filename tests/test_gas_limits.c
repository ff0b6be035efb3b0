/* SPDX-License-Identifier: MIT */
/* Gases where something gives out: memory at every allocation, the disk, the patience of the
 * caller, and the doubles, with every field of a def, a sphere and a file at its extremes. A change
 * that failed has changed nothing, every call ends or can be cancelled, and what comes out is
 * finite. One thread. */
#define _XOPEN_SOURCE 700
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

#define PATH  CAROM_BINARY_DIR "/test_gas_limits.saved"
#define OTHER CAROM_BINARY_DIR "/test_gas_limits.other"

/* ---- the whole state ------------------------------------------------------------------------- */

#define STATE_BYTES  ((size_t)1 << 16)
#define STATE_EVENTS 150

/* The bytes of a save, the events that follow, and the bytes after these. */
typedef struct state {
    size_t size[2];
    unsigned char bytes[2][STATE_BYTES];
    carom_gas_event events[STATE_EVENTS];
} state;

static size_t saved_bytes(carom_context *context, const carom_gas *gas, unsigned char *bytes) {
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, PATH));
    FILE *file = fopen(PATH, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, STATE_BYTES, file);
    assert_true(size < STATE_BYTES);
    fclose(file);
    remove(PATH);
    return size;
}

/* Words 23 and 24 of a file count crossings and predictions, which are of the method. */
static void forget_work(unsigned char *bytes) {
    memset(bytes + 8 * 23, 0, 16);
}

static void take_state(carom_context *context, carom_gas *gas, state *s) {
    s->size[0] = saved_bytes(context, gas, s->bytes[0]);
    for (int i = 0; i < STATE_EVENTS; ++i)
        assert_ok(context, carom_gas_next(context, gas, 1e9, &s->events[i]));
    s->size[1] = saved_bytes(context, gas, s->bytes[1]);
    forget_work(s->bytes[0]);
    forget_work(s->bytes[1]);
}

static void assert_states_equal(const state *a, const state *b) {
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(a->size[k], b->size[k]);
        assert_memory_equal(a->bytes[k], b->bytes[k], a->size[k]);
    }
    for (int i = 0; i < STATE_EVENTS; ++i) {
        const carom_gas_event *p = &a->events[i], *q = &b->events[i];
        assert_true(p->time == q->time && p->kind == q->kind && p->a == q->a && p->b == q->b &&
                    p->index == q->index);
    }
}

/* ---- changes that fail ----------------------------------------------------------------------- */

#define SPHERES 40

typedef struct bench {
    test_memory memory;
    carom_context *context;
    carom_gas_def def;
    carom_gas_sphere spheres[SPHERES];
    int count, calls, cancel_at; /* of the progress callback; 0: never */
} bench;

static bool count_calls(void *user, const char *what, double fraction) {
    bench *b = user;
    assert_non_null(what);
    assert_true(fraction >= 0.0 && fraction <= 1.0);
    return ++b->calls == b->cancel_at;
}

static void bench_begin(bench *b, int way) {
    *b = (bench){0};
    carom_context_def def = {.threads = 1,
                             .allocator = test_allocator(&b->memory),
                             .progress = count_calls,
                             .progress_user = b,
                             .progress_interval = -1.0};
    assert_int_equal(carom_context_create(&def, &b->context), CAROM_OK);
    b->def = (carom_gas_def){.edges = {5.0, 4.0, 4.5},
                             .periodic = {true, way % 2 == 0, false},
                             .method = (carom_gas_method)(CAROM_GAS_METHOD_CENTRE + way % 3),
                             .queue = (carom_gas_queue)(way / 3 % 2)};
    b->count = gas_random_spheres((uint64_t)way, &b->def, 0.35, 1.5, SPHERES, b->spheres);
    assert_true(b->count > 20);
}

/* Always the same gas: some time behind, one dead. */
static carom_gas *bench_gas(bench *b) {
    carom_gas *gas;
    b->memory.fail_after = 0, b->cancel_at = 0;
    assert_ok(b->context,
              gas_create(b->context, &b->def, b->spheres, (uint64_t)b->count - 3, &gas));
    assert_ok(b->context, carom_gas_advance(b->context, gas, 0.5, NULL, NULL));
    assert_ok(b->context, carom_gas_remove(b->context, gas, &(uint32_t){4}, 1));
    return gas;
}

enum { ADD, SET, REMOVE, ADVANCE, OPERATIONS };

static carom_status operate(const bench *b, carom_gas *gas, int operation) {
    uint32_t ids[3] = {2, 4, 9}; /* 4 is dead */
    carom_gas_sphere at[3] = {{.radius = 0.1}, {.radius = 0.1}, {.radius = 0.1}};
    carom_gas_sphere all[SPHERES];
    carom_random random = {77};
    int living = 0;
    for (uint32_t id = 0; id < (uint32_t)b->count - 3; ++id)
        if (id != 2 && id != 4 && id != 9)
            assert_ok(b->context, carom_gas_find_sphere(b->context, gas, id, &all[living++]));
    for (int i = 0; i < 3; ++i) { /* small ones in the gaps: radii may differ by ten */
        while (!gas_random_position(&random, &b->def, all, living, &at[i])) continue;
        all[living++] = at[i];
        at[i].velocity = gas_random_velocity(&random);
    }
    switch (operation) {
    case ADD: {
        carom_gas_sphere two[2]; /* that stay where they are */
        assert_ok(b->context, carom_gas_find_sphere(b->context, gas, 2, &two[0]));
        assert_ok(b->context, carom_gas_find_sphere(b->context, gas, 9, &two[1]));
        all[living - 3] = two[0], all[living - 2] = two[1];
        living -= 1;
        while (!gas_random_position(&random, &b->def, all, living, &at[0])) continue;
        return carom_gas_add(b->context, gas, at, 1, ids);
    }
    case SET:
        return carom_gas_set(b->context, gas, ids, at, 3);
    case REMOVE:
        ids[1] = 11;
        return carom_gas_remove(b->context, gas, ids, 3);
    default:
        return carom_gas_advance(b->context, gas, 3.0, NULL, NULL);
    }
}

/* Each allocation fails in turn; then each call of the progress callback cancels in turn. */
static void failed_changes_change_nothing(void **unused) {
    (void)unused;
    static state before, after;
    uint64_t failures = 0, cancelled = 0;
    for (int way = 0; way < 6; ++way)
        for (int operation = ADD; operation <= REMOVE; ++operation) {
            bench b;
            bench_begin(&b, way);
            carom_gas *gas = bench_gas(&b);
            take_state(b.context, gas, &before);
            carom_gas_destroy(gas);
            for (int n = 1, done = 0; done < 2; ++n) {
                gas = bench_gas(&b);
                b.memory.calls = 0, b.calls = 0;
                (void)carom_context_trim(b.context);
                b.memory.fail_after = done == 0 ? (uint64_t)n : 0;
                b.cancel_at = done == 1 ? n : 0;
                carom_status status = operate(&b, gas, operation);
                b.memory.fail_after = 0, b.cancel_at = 0;
                if (status == CAROM_OK) {
                    ++done, n = 0;
                } else {
                    assert_int_equal(status, done == 0 ? CAROM_NO_MEMORY : CAROM_CANCELLED);
                    assert_true(carom_context_message(b.context)[0] != '\0');
                    take_state(b.context, gas, &after);
                    assert_states_equal(&before, &after);
                    failures += done == 0, cancelled += done == 1;
                }
                carom_gas_destroy(gas);
            }
            carom_context_destroy(b.context);
            assert_int_equal(b.memory.live, 0);
        }
    print_message("%llu failed allocations and %llu cancellations changed nothing\n",
                  (unsigned long long)failures, (unsigned long long)cancelled);
    assert_true(failures > 100 && cancelled > 30);
}

/* Going on after a failure gives what going on without it would have given. */
static void a_failed_run_goes_on(void **unused) {
    (void)unused;
    static state wanted, found;
    for (int way = 0; way < 6; ++way) {
        bench b;
        bench_begin(&b, way);
        carom_gas *gas = bench_gas(&b);
        assert_ok(b.context, carom_gas_advance(b.context, gas, 3.0, NULL, NULL));
        take_state(b.context, gas, &wanted);
        carom_gas_destroy(gas);
        for (int n = 1, done = 0; done < 2; ++n) {
            gas = bench_gas(&b);
            b.memory.calls = 0, b.calls = 0;
            b.memory.fail_after = done == 0 ? (uint64_t)n : 0;
            b.cancel_at = done == 1 ? n : 0;
            carom_status status = operate(&b, gas, ADVANCE);
            b.memory.fail_after = 0, b.cancel_at = 0;
            if (status == CAROM_OK) ++done, n = 0;
            assert_ok(b.context, carom_gas_advance(b.context, gas, 3.0, NULL, NULL));
            take_state(b.context, gas, &found);
            assert_states_equal(&wanted, &found);
            carom_gas_destroy(gas);
        }
        carom_context_destroy(b.context);
        assert_int_equal(b.memory.live, 0);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* No more than `bytes` go into a file: as good as a full disk. */
static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_leaves_the_old_file(void **unused) {
    (void)unused;
    static state before, after;
    bench b;
    bench_begin(&b, 0);
    carom_gas *gas = bench_gas(&b), *again;
    assert_ok(b.context, carom_gas_save(b.context, gas, CAROM_GAS_FORMAT_GUESS, OTHER));
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    carom_gas_sphere sphere;
    assert_ok(b.context, carom_gas_find_sphere(b.context, gas, 1, &sphere));
    sphere.velocity = (carom_vec3){0.0, 0.0, 0.0};
    assert_ok(b.context, carom_gas_set(b.context, gas, &(uint32_t){1}, &sphere, 1));
    for (rlim_t bytes = 0; bytes < 2000; bytes += 333) {
        limit_files(bytes);
        carom_status status = carom_gas_save(b.context, gas, CAROM_GAS_FORMAT_GUESS, OTHER);
        limit_files(limit.rlim_cur);
        assert_fails(b.context, status, CAROM_IO, OTHER);
        assert_int_equal(access(OTHER ".0.part", F_OK), -1);
    }
    for (int n = 1; n <= 2; ++n) { /* nor is it lost when saving is cancelled or memory is short */
        b.calls = 0, b.cancel_at = n == 1 ? 1 : 0;
        b.memory.calls = 0, b.memory.fail_after = n == 2 ? 1 : 0;
        assert_fails(b.context, carom_gas_save(b.context, gas, CAROM_GAS_FORMAT_GUESS, OTHER),
                     n == 1 ? CAROM_CANCELLED : CAROM_NO_MEMORY, n == 1 ? "cancelled" : "memory");
        b.cancel_at = 0, b.memory.fail_after = 0;
        assert_int_equal(access(OTHER ".0.part", F_OK), -1);
    }
    carom_gas_destroy(gas);
    gas = bench_gas(&b);
    take_state(b.context, gas, &before);
    assert_ok(b.context, carom_gas_load(b.context, OTHER, CAROM_GAS_FORMAT_GUESS, NULL, &again));
    take_state(b.context, again, &after);
    assert_states_equal(&before, &after);
    assert_fails(b.context, carom_gas_save(b.context, gas, CAROM_GAS_FORMAT_GUESS, OTHER ".gz"),
                 CAROM_UNSUPPORTED, ".gz");
    remove(OTHER);
    carom_gas_destroy(gas);
    carom_gas_destroy(again);
    carom_context_destroy(b.context);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The bytes of a file, saved and loaded without one: the same gas, and none but the whole. */
static void memory_holds_what_files_hold(void **unused) {
    (void)unused;
    static state before, after;
    static unsigned char file[STATE_BYTES], shifted[STATE_BYTES + 1];
    for (int way = 0; way < 6; ++way) {
        bench b;
        bench_begin(&b, way);
        carom_gas *gas = bench_gas(&b), *again = gas;
        size_t size = saved_bytes(b.context, gas, file);
        carom_gas_format format = (carom_gas_format)(way % CAROM_GAS_FORMAT_COUNT);
        carom_bytes bytes = {0};
        assert_ok(b.context, carom_gas_save_memory(b.context, gas, format, &bytes));
        assert_int_equal(bytes.count, size);
        assert_memory_equal(bytes.data, file, size);

        uint8_t few[100]; /* a caller's buffer */
        carom_bytes mine = {.data = few, .capacity = sizeof(few), .owner = CAROM_OWNER_CALLER};
        assert_int_equal(carom_gas_save_memory(b.context, gas, format, &mine), CAROM_MORE);
        assert_int_equal(mine.count, size);
        assert_memory_equal(few, file, sizeof(few));
        mine = (carom_bytes){.data = shifted + 1, .capacity = size, .owner = CAROM_OWNER_CALLER};
        assert_ok(b.context, carom_gas_save_memory(b.context, gas, format, &mine));
        assert_memory_equal(shifted + 1, file, size);

        for (size_t part = 0; part < size; part += part < 400 ? 1 : 37) {
            assert_int_equal(carom_gas_load_memory(b.context, bytes.data, part, format,
                                                   way == 0 ? NULL : "part", NULL, &again),
                             CAROM_BAD_FILE);
            const char *message = carom_context_message(b.context);
            assert_int_equal(strncmp(message, way == 0 ? "gas" : "part", way == 0 ? 3 : 4), 0);
            assert_null(again);
        }
        shifted[0] = 0;
        assert_fails(b.context,
                     carom_gas_load_memory(b.context, shifted, size + 1, format, "x", NULL, &again),
                     CAROM_BAD_FILE, "x");
        memcpy(shifted, file, size);
        shifted[size] = 0;
        assert_fails(b.context,
                     carom_gas_load_memory(b.context, shifted, size + 1, format, "x", NULL, &again),
                     CAROM_BAD_FILE, "x: byte");
        for (size_t i = 0; i < size; i += 7) { /* never a crash; perhaps another gas */
            memcpy(shifted, file, size);
            shifted[i] ^= (unsigned char)(1u << i % 8);
            carom_status status =
                carom_gas_load_memory(b.context, shifted, size, format, "x", NULL, &again);
            assert_true(status == CAROM_OK || status == CAROM_BAD_FILE);
            assert_true((status == CAROM_OK) == (again != NULL));
            carom_gas_destroy(again);
        }

        memcpy(shifted + 1, file, size); /* from any address */
        assert_ok(b.context,
                  carom_gas_load_memory(b.context, shifted + 1, size, format, NULL, NULL, &again));
        take_state(b.context, gas, &before);
        take_state(b.context, again, &after);
        assert_states_equal(&before, &after);
        carom_gas_destroy(gas);
        carom_gas_destroy(again);
        carom_bytes_free(&bytes);
        carom_context_destroy(b.context);
        assert_int_equal(b.memory.live, 0);
    }
}

/* Each allocation fails in turn; then each call of the progress callback cancels in turn. */
static void memory_may_fail(void **unused) {
    (void)unused;
    bench b;
    bench_begin(&b, 1);
    carom_gas *gas = bench_gas(&b), *again;
    carom_bytes whole = {0};
    uint64_t failures = 0, cancelled = 0;
    assert_ok(b.context, carom_gas_save_memory(b.context, gas, CAROM_GAS_FORMAT_CAROM, &whole));
    for (int loading = 0; loading < 2; ++loading)
        for (int n = 1, done = 0; done < 2; ++n) {
            carom_bytes bytes = {0};
            (void)carom_context_trim(b.context);
            b.memory.calls = 0, b.calls = 0;
            b.memory.fail_after = done == 0 ? (uint64_t)n : 0;
            b.cancel_at = done == 1 ? n : 0;
            uint64_t live = b.memory.live;
            carom_status status =
                loading != 0
                    ? carom_gas_load_memory(b.context, whole.data, whole.count,
                                            CAROM_GAS_FORMAT_CAROM, "x", NULL, &again)
                    : carom_gas_save_memory(b.context, gas, CAROM_GAS_FORMAT_CAROM, &bytes);
            b.memory.fail_after = 0, b.cancel_at = 0;
            if (loading != 0) assert_true((status == CAROM_OK) == (again != NULL));
            if (loading != 0) carom_gas_destroy(again);
            carom_bytes_free(&bytes);
            (void)carom_context_trim(b.context);
            assert_int_equal(b.memory.live, live);
            if (status == CAROM_OK) {
                ++done, n = 0;
                continue;
            }
            assert_int_equal(status, done == 0 ? CAROM_NO_MEMORY : CAROM_CANCELLED);
            failures += done == 0, cancelled += done == 1;
        }
    assert_true(failures > 2 && cancelled >= 2);
    carom_gas_destroy(gas);
    carom_bytes_free(&whole);
    carom_context_destroy(b.context);
    assert_int_equal(b.memory.live, 0);
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* The same gas in other units, by powers of two: the same events at the same times, to the bit. */
static void every_unit_gives_the_same_events(void **unused) {
    (void)unused;
    enum { EVENTS = 250 };
    static carom_gas_event wanted[EVENTS];
    carom_context *context = test_context(1);
    int last = campaign_is_long() ? 20000 : TEST_CASES(400), cases = 0, ran = 0, refused = 0;
    for (int n = 0; n < last; ++n) {
        if (!campaign_has((uint64_t)n)) continue;
        ++cases;
        carom_gas_sphere spheres[SPHERES];
        carom_gas_def def = {.edges = {5.0, 4.0, 4.5},
                             .periodic = {n % 2 == 0, n % 4 < 2, true},
                             .method = (carom_gas_method)(CAROM_GAS_METHOD_CENTRE + n % 3),
                             .loss = n % 5 == 0 ? 0.25 : 0.0,
                             .elastic_below = n % 5 == 0 ? 0.01 : 0.0,
                             .tick = 0x1p-51};
        if (n % 7 == 3) def.acceleration = (carom_vec3){0.0, 0.25, 0.0};
        int count = gas_random_spheres((uint64_t)n, &def, 0.35, 1.5, 24, spheres);
        carom_random random = {(uint64_t)n};
        int length = (int)carom_random_between(&random, -200.0, 200.0);
        int time = length + (int)carom_random_between(&random, -185.0, 185.0);
        int mass = (int)carom_random_between(&random, -300.0, 300.0);
        for (int scaled = 0; scaled < 2; ++scaled) {
            if (scaled == 1) {
                double *lengths[] = {&def.edges.x, &def.edges.y, &def.edges.z};
                for (int i = 0; i < 3; ++i) *lengths[i] = ldexp(*lengths[i], length);
                def.acceleration.y = ldexp(def.acceleration.y, length - 2 * time);
                def.elastic_below = ldexp(def.elastic_below, length - time);
                def.tick = ldexp(def.tick, time);
                for (int i = 0; i < count; ++i) {
                    carom_gas_sphere *s = &spheres[i];
                    double *x[] = {&s->position.x, &s->position.y, &s->position.z, &s->radius};
                    double *v[] = {&s->velocity.x, &s->velocity.y, &s->velocity.z};
                    for (int k = 0; k < 4; ++k) *x[k] = ldexp(*x[k], length);
                    for (int k = 0; k < 3; ++k) *v[k] = ldexp(*v[k], length - time);
                    s->mass = ldexp(s->mass == 0.0 ? 1.0 : s->mass, mass);
                }
            }
            carom_gas *gas;
            carom_status status = gas_create(context, &def, spheres, (uint64_t)count, &gas);
            if (scaled == 1 && status != CAROM_OK) {
                double radius = ldexp(0.35, length), pace = radius / def.tick;
                assert_int_equal(status, CAROM_BAD_INPUT);
                if (!(radius < 1e-59 || radius > 1e58 || pace < 1e-38 || pace > 1e68 ||
                      fabs(def.acceleration.y) > 1e99))
                    fail_msg("%s", carom_context_message(context));
                ++refused;
                break;
            }
            assert_int_equal(status, CAROM_OK);
            for (int i = 0; i < EVENTS; ++i) {
                carom_gas_event event;
                assert_ok(context, carom_gas_next(context, gas, 1e300, &event));
                if (scaled == 0) wanted[i] = event;
                if (event.kind != wanted[i].kind || event.a != wanted[i].a ||
                    event.b != wanted[i].b || event.time != ldexp(wanted[i].time, scaled * time))
                    fail_msg("case %d, event %d: kind %d of %u and %u at %g in units of 2^%d and "
                             "2^%d, else kind %d of %u and %u at %g",
                             n, i, (int)event.kind, event.a, event.b, event.time, length, time,
                             (int)wanted[i].kind, wanted[i].a, wanted[i].b, wanted[i].time);
            }
            carom_gas_measures m;
            assert_ok(context, carom_gas_measure(context, gas, &m));
            assert_true(isfinite(m.energy) && m.energy > 0.0 && isfinite(m.virial));
            gas_assert_apart(context, gas);
            carom_gas_destroy(gas);
            ran += scaled;
        }
    }
    print_message("%d gases give the same events in other units, %d units are refused\n", ran,
                  refused);
    assert_true(ran > cases / 2);
    carom_context_destroy(context);
}

/* ---- extremes -------------------------------------------------------------------------------- */

static const double extremes[] = {0.0,
                                  -0.0,
                                  5e-324,
                                  1e-310,
                                  DBL_MIN,
                                  1e-300,
                                  1e-160,
                                  1e-100,
                                  1e-59,
                                  1e-30,
                                  1e-16,
                                  1e-6,
                                  0.5,
                                  1.0,
                                  1.9,
                                  1e6,
                                  1e16,
                                  1e30,
                                  1e59,
                                  1e100,
                                  1e160,
                                  1e300,
                                  DBL_MAX,
                                  -1.0,
                                  -1e-9,
                                  -1e300,
                                  (double)INFINITY,
                                  -(double)INFINITY,
                                  (double)NAN};

/* Cancels what takes long: so many occasions are some 100 ms. */
#define PATIENCE 2000
static int calls_left;
static bool lose_patience(void *user, const char *what, double fraction) {
    (void)user, (void)what, (void)fraction;
    return calls_left > 0 && --calls_left == 0;
}

static carom_context *patient_context(void) {
    carom_context *context;
    carom_context_def def = {.threads = 1, .progress = lose_patience, .progress_interval = -1.0};
    assert_int_equal(carom_context_create(&def, &context), CAROM_OK);
    return context;
}

static bool stop_after(void *user, const carom_gas_event *event) {
    assert_true(isfinite(event->time) && event->time >= 0.0);
    return --*(int *)user == 0;
}

static void assert_finite_sphere(const carom_gas_sphere *s) {
    assert_true(isfinite(s->position.x) && isfinite(s->position.y) && isfinite(s->position.z));
    assert_true(isfinite(s->velocity.x) && isfinite(s->velocity.y) && isfinite(s->velocity.z));
    assert_true(isfinite(s->radius) && s->radius > 0.0 && isfinite(s->mass) && s->mass > 0.0);
}

/* Whatever could be made runs, ends and stays finite. */
static void exercise(carom_context *context, carom_gas *gas, carom_random *random) {
    carom_gas_measures m;
    carom_gas_info info;
    carom_gas_spheres all = {0};
    double overlap;
    assert_ok(context, carom_gas_get_info(gas, &info));
    assert_true(isfinite(info.cell_edge) && isfinite(info.model_edge) && isfinite(info.cutoff) &&
                info.tick > 0.0);
    double now = carom_gas_get_time(gas);
    const double untils[] = {now,
                             now + 1e3 * info.tick,
                             now + 0x1p53 * info.tick,
                             1e-300,
                             10.0,
                             1e30,
                             1e300,
                             DBL_MAX,
                             (double)INFINITY,
                             (double)NAN,
                             -1.0};
    for (int i = 0; i < 3; ++i) {
        int left = 100;
        double until = untils[carom_random_next(random) % COUNT_OF(untils)];
        calls_left = PATIENCE;
        carom_status status = carom_gas_advance(context, gas, until, stop_after, &left);
        calls_left = 0;
        assert_true(status == CAROM_OK || status == CAROM_UNSUPPORTED ||
                    status == CAROM_BAD_INPUT || status == CAROM_TOO_LARGE ||
                    status == CAROM_CANCELLED);
        /* What takes long because a long time was given has moved on. */
        if (status == CAROM_CANCELLED) assert_true(carom_gas_get_time(gas) > now);
        if (status != CAROM_OK) assert_true(carom_context_message(context)[0] != '\0');
        if (status == CAROM_BAD_INPUT) assert_true(!(until >= now) || until > 0x1p100 * info.tick);
        now = carom_gas_get_time(gas);
        assert_true(isfinite(now));
    }
    assert_ok(context, carom_gas_measure(context, gas, &m));
    assert_true(isfinite(m.time) && isfinite(m.energy) && isfinite(m.momentum.x) &&
                isfinite(m.mean_speed) && isfinite(m.virial) && isfinite(m.collision_rate) &&
                isfinite(m.packing_fraction) && !isnan(m.mean_free_path) && !isinf(m.z));
    assert_ok(context, carom_gas_overlap(context, gas, &overlap));
    assert_true(overlap <= 1e-8);
    assert_ok(context, carom_gas_list_spheres(context, gas, &all));
    for (uint64_t i = 0; i < all.count; ++i) assert_finite_sphere(&all.data[i]);
    carom_gas_spheres_free(&all);
    /* What it can be in, it can be saved in. */
    carom_gas *again;
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, OTHER));
    assert_ok(context, carom_gas_load(context, OTHER, CAROM_GAS_FORMAT_GUESS, NULL, &again));
    assert_true(carom_gas_get_time(again) == carom_gas_get_time(gas));
    carom_gas_destroy(again);
}

/* One to three fields of a gas of three spheres, each at an extreme. */
static void extremes_end_or_are_refused(void **unused) {
    (void)unused;
    carom_context *context = patient_context();
    int last = campaign_is_long() ? 300000 : TEST_CASES(12000), cases = 0, made = 0;
    for (int n = 0; n < last; ++n) {
        if (!campaign_has((uint64_t)n)) continue;
        ++cases;
        carom_random random = {(uint64_t)n};
        carom_gas_sphere s[3] = {
            {.position = {2.0, 2.0, 2.0}, .velocity = {1.0, 0.1, 0.0}, .radius = 0.5, .mass = 1.0},
            {.position = {5.0, 2.0, 2.0}, .velocity = {-1.0, 0.0, 0.3}, .radius = 0.5},
            {.position = {8.0, 8.0, 2.0}, .radius = 0.4, .mass = 2.0}};
        carom_gas_def def = {.edges = {10.0, 9.0, 8.0},
                             .periodic = {n % 2 != 0, n % 4 > 1, n % 8 > 3},
                             .method = (carom_gas_method)(n % CAROM_GAS_METHOD_COUNT),
                             .queue = (carom_gas_queue)(n / 3 % CAROM_GAS_QUEUE_COUNT)};
        double *fields[] = {&def.edges.x,        &def.edges.y,        &def.edges.z,
                            &def.acceleration.x, &def.acceleration.z, &def.loss,
                            &def.wall_loss,      &def.elastic_below,  &def.cell_edge,
                            &def.cutoff,         &def.tick,           &s[0].position.x,
                            &s[0].position.z,    &s[0].velocity.x,    &s[1].velocity.y,
                            &s[0].radius,        &s[0].mass,          &s[1].mass};
        int changed = 1 + n % 3;
        double unit = extremes[carom_random_next(&random) % COUNT_OF(extremes)];
        if (n % 16 == 15 && unit > 0.0 && isfinite(unit)) { /* all lengths at once */
            def.edges = (carom_vec3){10.0 * unit, 9.0 * unit, 8.0 * unit};
            for (int i = 0; i < 3; ++i) {
                carom_vec3 *x = &s[i].position;
                *x = (carom_vec3){x->x * unit, x->y * unit, x->z * unit};
                s[i].radius *= unit;
            }
        }
        for (int i = 0; i < changed; ++i)
            *fields[carom_random_next(&random) % COUNT_OF(fields)] =
                extremes[carom_random_next(&random) % COUNT_OF(extremes)];
        carom_gas *gas;
        uint64_t count = n % 32 == 31 ? 0 : 3;
        carom_status status = gas_create(context, &def, s, count, &gas);
        if (status != CAROM_OK) {
            assert_true(status == CAROM_BAD_INPUT || status == CAROM_TOO_LARGE);
            assert_true(carom_context_message(context)[0] != '\0');
            continue;
        }
        ++made;
        exercise(context, gas, &random);
        carom_gas_destroy(gas);
    }
    remove(OTHER);
    print_message("%d of %d gases with extreme numbers ran to an end\n", made, cases);
    assert_true(made > cases / 8);
    carom_context_destroy(context);
}

/* Every entry of a file, as a number and as an integer. */
static void damaged_words_end_or_are_refused(void **unused) {
    (void)unused;
    static const uint64_t entries[] = {0,
                                       1,
                                       2,
                                       UINT64_C(1) << 20,
                                       UINT64_C(1) << 31,
                                       UINT64_C(1) << 44,
                                       UINT64_C(1) << 59,
                                       UINT64_C(1) << 61,
                                       UINT64_C(1) << 62,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    static unsigned char bytes[STATE_BYTES];
    enum { HEAD = 34, SPHERE = 11, TICK = 17 };
    int made = 0, cases = 0;
    for (int way = 0; way < (campaign_is_long() ? 6 : 2); ++way) {
        bench b;
        carom_context *context = patient_context();
        bench_begin(&b, way);
        carom_gas *gas = bench_gas(&b);
        size_t size = saved_bytes(b.context, gas, bytes);
        carom_gas_destroy(gas);
        for (size_t at = 1; at < HEAD + 2 * SPHERE; ++at)
            for (size_t w = 0; w < COUNT_OF(entries) + COUNT_OF(extremes) + 40; ++w) {
                uint64_t entry, kept;
                memcpy(&kept, bytes + 8 * at, 8);
                if (w < COUNT_OF(entries)) {
                    entry = entries[w];
                } else if (w < COUNT_OF(entries) + COUNT_OF(extremes)) {
                    memcpy(&entry, &extremes[w - COUNT_OF(entries)], 8);
                } else { /* powers of two, for the tick */
                    double power =
                        ldexp(1.0, 4 * (int)(w - COUNT_OF(entries) - COUNT_OF(extremes)) - 130);
                    memcpy(&entry, &power, 8);
                    if (at != TICK) continue;
                }
                memcpy(bytes + 8 * at, &entry, 8);
                FILE *file = fopen(PATH, "wb");
                assert_non_null(file);
                assert_int_equal(fwrite(bytes, 1, size, file), size);
                fclose(file);
                memcpy(bytes + 8 * at, &kept, 8);
                carom_status status =
                    carom_gas_load(context, PATH, CAROM_GAS_FORMAT_GUESS, NULL, &gas);
                ++cases;
                if (status != CAROM_OK) {
                    assert_true(status == CAROM_BAD_FILE || status == CAROM_TOO_LARGE);
                    assert_non_null(strstr(carom_context_message(context), "saved"));
                    assert_null(gas);
                    continue;
                }
                ++made;
                carom_random random = {w};
                exercise(context, gas, &random);
                carom_gas_destroy(gas);
            }
        carom_context_destroy(context);
        carom_context_destroy(b.context);
        assert_int_equal(b.memory.live, 0);
    }
    remove(PATH);
    remove(OTHER);
    print_message("%d of %d damaged files were gases and ran to an end\n", made, cases);
    assert_true(made > 100 && made < cases);
}

/* ---- time that does not end ------------------------------------------------------------------ */

static void empty_and_resting_gases_reach_any_time(void **unused) {
    (void)unused;
    carom_context *context = test_context(1);
    carom_gas_sphere two[2] = {{.position = {1.0, 1.0, 1.0}, .radius = 0.5},
                               {.position = {2.0, 1.0, 1.0}, .radius = 0.5}};
    for (uint64_t count = 0; count <= 2; count += 2)
        for (int queue = 0; queue < 2; ++queue) {
            carom_gas_def def = {.edges = {4.0, 4.0, 4.0}, .queue = (carom_gas_queue)queue};
            carom_gas *gas, *again;
            carom_gas_event event;
            assert_ok(context, gas_create(context, &def, two, count, &gas));
            for (double until = 1.0; until < 5e15; until *= 1024.0) {
                assert_ok(context, carom_gas_next(context, gas, until, &event));
                assert_true(event.kind == CAROM_GAS_EVENT_KIND_NONE && event.time == until);
                assert_true(carom_gas_get_time(gas) == until);
            }
            assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, OTHER));
            assert_ok(context,
                      carom_gas_load(context, OTHER, CAROM_GAS_FORMAT_GUESS, NULL, &again));
            assert_true(carom_gas_get_time(again) == carom_gas_get_time(gas));
            carom_gas_destroy(again);
            assert_fails(context, carom_gas_next(context, gas, 1e300, &event), CAROM_BAD_INPUT,
                         "times up to");
            assert_fails(context, carom_gas_advance(context, gas, 1e300, NULL, NULL),
                         CAROM_BAD_INPUT, "larger tick");
            /* Life goes on where it was left. */
            double from = carom_gas_get_time(gas);
            carom_gas_sphere s = {
                .position = {3.2, 3.0, 3.0}, .velocity = {0.5, 0.0, 0.0}, .radius = 0.5};
            assert_ok(context, carom_gas_add(context, gas, &s, 1, NULL));
            assert_ok(context, carom_gas_next(context, gas, from + 1024.0, &event));
            assert_int_equal(event.kind, CAROM_GAS_EVENT_KIND_WALL);
            assert_true(fabs(event.time - from - 0.6) <= 1.0); /* as far as doubles can tell */
            carom_gas_destroy(gas);
        }
    remove(OTHER);
    carom_context_destroy(context);
}

/* At rest, whole turns of the epoch are skipped: the clock and the bodies stand as if they had been
 * waited for. */
static void skipped_time_is_waited_time(void **unused) {
    (void)unused;
    carom_context *context = test_context(1);
    carom_gas_def def = {.edges = {9.0, 9.0, 9.0}, .tick = 0x1p-62};
    carom_gas_sphere s[2] = {{.position = {2.0, 2.0, 2.0}, .radius = 0.5},
                             {.position = {6.0, 2.0, 2.0}, .radius = 0.5}};
    carom_gas *skips, *waits;
    assert_ok(context, gas_create(context, &def, s, 2, &skips));
    assert_ok(context, gas_create(context, &def, s, 2, &waits));
    double until = 77.7;
    assert_ok(context, carom_gas_advance(context, skips, until, NULL, NULL));
    for (int i = 1; i <= 777; ++i) /* too short a way to skip anything */
        assert_ok(context, carom_gas_advance(context, waits, until * i / 777.0, NULL, NULL));
    assert_true(skips->now == waits->now && skips->epochs == waits->epochs);
    for (int i = 0; i < 2; ++i) {
        assert_true(skips->bodies[i].t == waits->bodies[i].t);
        assert_memory_equal(skips->bodies[i].x, waits->bodies[i].x, sizeof(skips->bodies[i].x));
    }
    carom_gas_destroy(skips);
    carom_gas_destroy(waits);
    carom_context_destroy(context);
}

/* Spheres that all meet a wall at one tick, at the end of half a revolution of the calendar or not:
 * the tree of events is the oracle. */
static void spheres_of_one_motion_go_on(void **unused) {
    (void)unused;
    static const uint64_t counts[] = {64, 250, 256, 512, 1024};
    carom_context *context = test_context(1);
    for (size_t c = 0; c < COUNT_OF(counts); ++c)
        for (int k = 0; k < 24; ++k) {
            double height = k < 4 ? ldexp(1.0, -k) : 0.5 + 0.001 * k;
            carom_gas_sphere spheres[1024];
            carom_gas *gases[2];
            for (uint64_t i = 0; i < counts[c]; ++i)
                spheres[i] = (carom_gas_sphere){
                    .position = {0.5 + (double)(i % 16), 0.5 + (double)(i / 16), 0.25},
                    .velocity = {0.0, 0.0, 1.0},
                    .radius = 0.125,
                    .mass = 1.0};
            for (int queue = 0; queue < 2; ++queue) {
                carom_gas_def def = {.edges = {16.0, 64.0, 0.375 + height},
                                     .queue = (carom_gas_queue)queue};
                assert_ok(context, gas_create(context, &def, spheres, counts[c], &gases[queue]));
                assert_ok(context, carom_gas_advance(context, gases[queue], 3.0, NULL, NULL));
                assert_valid(carom_gas_validate(context, gases[queue]));
            }
            assert_true(gases[0]->events >= counts[c] && gases[0]->events == gases[1]->events);
            for (uint64_t i = 0; i < counts[c]; ++i) {
                const carom_gas_body *a = &gases[0]->bodies[gases[0]->slot_of[i]],
                                     *b = &gases[1]->bodies[gases[1]->slot_of[i]];
                assert_true(a->t == b->t && a->v[2] == b->v[2] && a->x[2] == b->x[2]);
            }
            for (int queue = 0; queue < 2; ++queue) carom_gas_destroy(gases[queue]);
        }
    carom_context_destroy(context);
}

static void a_tick_too_short_to_wait_for_is_told(void **unused) {
    (void)unused;
    carom_context *context = test_context(1);
    carom_gas_sphere s[2] = {
        {.position = {2.0, 2.0, 2.0}, .velocity = {1.0, 0.0, 0.0}, .radius = 0.5},
        {.position = {8.0, 2.0, 2.0}, .velocity = {-1.0, 0.0, 0.0}, .radius = 0.5}};
    carom_gas_def def = {.edges = {10.0, 10.0, 10.0}, .tick = 1e-30};
    carom_gas *gas;
    carom_gas_event event;
    assert_ok(context, gas_create(context, &def, s, 2, &gas));
    assert_fails(context, carom_gas_next(context, gas, 10.0, &event), CAROM_UNSUPPORTED,
                 "larger tick");
    double then = carom_gas_get_time(gas);
    assert_true(then > 0.0 && then < 10.0);
    carom_gas_destroy(gas);
    def.tick = 1e-300;
    assert_fails(context, gas_create(context, &def, s, 2, &gas), CAROM_BAD_INPUT, "tick");
    def.tick = 1e-100;
    assert_fails(context, gas_create(context, &def, s, 2, &gas), CAROM_BAD_INPUT, "tick");
    carom_context_destroy(context);
}

/* Falling through a periodic box a sphere gets faster without end. */
static void a_sphere_that_falls_for_ever_gets_too_fast(void **unused) {
    (void)unused;
    carom_context *context = test_context(1);
    carom_gas_sphere s = {.position = {5.0, 5.0, 5.0}, .radius = 0.5};
    for (int method = CAROM_GAS_METHOD_CENTRE; method < CAROM_GAS_METHOD_COUNT; ++method) {
        carom_gas_def def = {.edges = {10.0, 10.0, 10.0},
                             .periodic = {true, true, true},
                             .acceleration = {0.0, 0.0, -1e-6},
                             .method = (carom_gas_method)method,
                             .tick = 0x1p-14};
        carom_gas *gas;
        assert_ok(context, gas_create(context, &def, &s, 1, &gas));
        assert_fails(context, carom_gas_advance(context, gas, 1e9, NULL, NULL), CAROM_UNSUPPORTED,
                     "too fast");
        for (int i = 0; i < 50; ++i) /* and it says so at every call */
            assert_int_equal(carom_gas_advance(context, gas, 1e9, NULL, NULL), CAROM_UNSUPPORTED);
        carom_gas_destroy(gas);
        def.acceleration.z = -1e6;
        assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT,
                     "too strong");
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_changes_change_nothing),
        cmocka_unit_test(a_failed_run_goes_on),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(memory_holds_what_files_hold),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(every_unit_gives_the_same_events),
        cmocka_unit_test(extremes_end_or_are_refused),
        cmocka_unit_test(damaged_words_end_or_are_refused),
        cmocka_unit_test(empty_and_resting_gases_reach_any_time),
        cmocka_unit_test(skipped_time_is_waited_time),
        cmocka_unit_test(spheres_of_one_motion_go_on),
        cmocka_unit_test(a_tick_too_short_to_wait_for_is_told),
        cmocka_unit_test(a_sphere_that_falls_for_ever_gets_too_fast),
    };
    return cmocka_run_group_tests_name("gas limits", tests, NULL, NULL);
}
