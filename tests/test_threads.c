/* SPDX-License-Identifier: MIT */
/* parallel_for, the caller's own threads, progress and cancelling. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/progress.h"
#include "base/threads.h"
#include "tests/support/test.h"

typedef struct marks {
    carom_context *context;
    uint32_t *seen; /* raised atomically */
    uint64_t count, grain, fail_from;
    _Atomic uint64_t ranges;
    uint32_t threads;
} marks;

static carom_status mark_range(void *argument, carom_range range) {
    marks *m = argument;
    assert_true(range.worker < m->threads);
    assert_true(range.begin % m->grain == 0);
    assert_true(range.end == m->count || range.end - range.begin == m->grain);
    for (uint64_t i = range.begin; i < range.end; ++i)
        __atomic_add_fetch(&m->seen[i], 1, __ATOMIC_RELAXED);
    ++m->ranges;
    return range.begin >= m->fail_from ? CAROM_BAD_INPUT : CAROM_OK;
}

static void every_item_is_visited_once(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 7, 64, 1000, 100000};
    static const uint64_t grains[] = {1, 3, 64, 5000, UINT64_MAX};
    for (uint32_t threads = 1; threads <= 9; threads += 2) {
        carom_context *context = test_context(threads);
        for (size_t c = 0; c < COUNT_OF(counts); ++c) {
            for (size_t g = 0; g < COUNT_OF(grains); ++g) {
                uint64_t count = counts[c];
                if (count / grains[g] > 20000) continue;
                marks m = {.count = count,
                           .grain = grains[g],
                           .fail_from = UINT64_MAX,
                           .threads = threads,
                           .seen = calloc(count + 1, sizeof(*m.seen))};
                assert_ok(context, carom_parallel_for(context, count, grains[g], mark_range, &m));
                for (uint64_t i = 0; i < count; ++i) assert_int_equal(m.seen[i], 1);
                assert_int_equal(m.ranges, count == 0 ? 0 : (count - 1) / grains[g] + 1);
                free(m.seen);
            }
        }
        carom_context_destroy(context);
    }
}

static void a_failing_range_stops_the_rest(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        carom_context *context = test_context(threads);
        marks m = {.count = 10000,
                   .grain = 1,
                   .fail_from = 50,
                   .threads = threads,
                   .seen = calloc(10000, sizeof(*m.seen))};
        assert_int_equal(carom_parallel_for(context, m.count, 1, mark_range, &m), CAROM_BAD_INPUT);
        assert_true(m.ranges >= 50 && m.ranges <= 50 + 2 * threads);
        free(m.seen);
        carom_context_destroy(context);
    }
}

static carom_status nested(void *argument, carom_range range) {
    marks *m = argument;
    return carom_parallel_for(m->context, range.end, 1, mark_range, m);
}

static void nesting_is_a_callers_bug(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    marks m = {.context = context};
    test_asserts_begin();
    assert_int_equal(carom_parallel_for(context, 3, 1, nested, &m), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 1);
    carom_context_destroy(context);
}

/* ---- the caller's own threads ---------------------------------------------------------------- */

typedef struct call {
    carom_task_fn *task;
    void *argument;
    uint32_t worker;
} call;

static void *call_task(void *argument) {
    call *c = argument;
    c->task(c->argument, c->worker);
    return NULL;
}

static void run_on_new_threads(void *user, carom_task_fn *task, void *argument, uint32_t workers) {
    pthread_t threads[16];
    call calls[16];
    ++*(int *)user;
    for (uint32_t i = 0; i < workers; ++i) {
        calls[i] = (call){task, argument, i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_task, &calls[i]), 0);
    }
    for (uint32_t i = 0; i < workers; ++i) pthread_join(threads[i], NULL);
}

static void run_backwards(void *user, carom_task_fn *task, void *argument, uint32_t workers) {
    ++*(int *)user;
    while (workers-- > 0) task(argument, workers);
}

static void the_caller_may_bring_threads(void **state) {
    (void)state;
    carom_run_fn *const runs[] = {run_on_new_threads, run_backwards};
    for (size_t r = 0; r < COUNT_OF(runs); ++r) {
        int calls = 0;
        carom_context *context;
        carom_context_def def = {.threads = 4, .run = runs[r], .run_user = &calls};
        assert_ok(NULL, carom_context_create(&def, &context));
        marks m = {.count = 5000,
                   .grain = 10,
                   .fail_from = UINT64_MAX,
                   .threads = 4,
                   .seen = calloc(5000, sizeof(*m.seen))};
        assert_ok(context, carom_parallel_for(context, m.count, m.grain, mark_range, &m));
        for (uint64_t i = 0; i < m.count; ++i) assert_int_equal(m.seen[i], 1);
        assert_int_equal(calls, 1);
        free(m.seen);
        carom_context_destroy(context);
    }
}

static void many_short_rounds_neither_hang_nor_race(void **state) {
    (void)state;
    carom_context *context = test_context(4);
    uint32_t seen[16] = {0};
    marks m = {.count = 16, .grain = 1, .fail_from = UINT64_MAX, .threads = 4, .seen = seen};
    for (int round = 0; round < 5000; ++round)
        assert_ok(context, carom_parallel_for(context, 16, 1, mark_range, &m));
    for (int i = 0; i < 16; ++i) assert_int_equal(seen[i], 5000);
    carom_context_destroy(context);
}

/* ---- progress -------------------------------------------------------------------------------- */

typedef struct listener {
    int calls, cancel_at;
    double last;
} listener;

static bool listen(void *user, const char *what, double fraction) {
    listener *l = user;
    assert_string_equal(what, "counting");
    assert_true(fraction >= l->last && fraction <= 1.0);
    l->last = fraction;
    return ++l->calls == l->cancel_at;
}

static carom_status work_slowly(void *argument, carom_range range) {
    double start = carom_time_seconds();
    while (carom_time_seconds() - start < 0.002) {
    }
    carom_progress_add(argument, range.worker, range.end - range.begin);
    return CAROM_OK;
}

static carom_status count_slowly(carom_context *context) {
    carom_progress_begin(context, "counting", 100);
    CAROM_TRY(carom_parallel_for(context, 100, 1, work_slowly, context));
    return carom_progress_end(context);
}

/* Of 100 ranges, each of which takes time. */
static int count_calls(uint32_t threads, double interval) {
    listener l = {0};
    carom_context *context;
    carom_context_def def = {
        .threads = threads, .progress = listen, .progress_user = &l, .progress_interval = interval};
    assert_ok(NULL, carom_context_create(&def, &context));
    assert_ok(context, count_slowly(context));
    assert_true(l.last == 1.0);
    carom_context_destroy(context);
    return l.calls;
}

static void progress_rises_to_one(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 2; ++threads) {
        assert_int_equal(count_calls(threads, 1e300), 2); /* the begin and the end */
        assert_true(count_calls(threads, -1.0) >= 2);
        assert_true(count_calls(threads, 0.0) >= 2);
    }
    /* one thread is the one that calls back */
    assert_true(count_calls(1, -1.0) >= 102);
    assert_true(count_calls(1, 0.0) >= 3); /* 0.2 s, however busy the machine is */
}

/* The second call is the end, or one before it; a third comes for certain on one thread. */
static void the_callback_can_cancel(void **state) {
    (void)state;
    for (int cancel_at = 1; cancel_at <= 3; ++cancel_at) {
        listener l = {.cancel_at = cancel_at};
        carom_context *context;
        carom_context_def def = {.threads = cancel_at < 3 ? 2 : 1,
                                 .progress = listen,
                                 .progress_user = &l,
                                 .progress_interval = -1.0};
        assert_ok(NULL, carom_context_create(&def, &context));
        assert_fails(context, count_slowly(context), CAROM_CANCELLED, "progress callback");
        assert_int_equal(l.calls, cancel_at);
        l = (listener){0}; /* the context is as good as new */
        assert_ok(context, count_slowly(context));
        carom_context_destroy(context);
    }
}

static void progress_without_a_callback_is_silent(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    assert_ok(context, count_slowly(context));
    assert_false(carom_progress_cancelled(context));
    carom_context_destroy(context);
}

/* The pages of memory that starts and ends anywhere are there, and nothing beside it changes. */
#define MASKED_WORKERS 4u

typedef struct masks {
    _Atomic uint32_t begun;
    bool interrupt_is_blocked[MASKED_WORKERS], fault_is_blocked[MASKED_WORKERS];
} masks;

/* Waits until every worker is here, so that each has one range. */
static carom_status look_at_mask(void *argument, carom_range range) {
    masks *m = argument;
    sigset_t mask;
    ++m->begun;
    while (m->begun < MASKED_WORKERS) sched_yield();
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    m->interrupt_is_blocked[range.worker] = sigismember(&mask, SIGINT) == 1;
    m->fault_is_blocked[range.worker] = sigismember(&mask, SIGSEGV) == 1;
    return CAROM_OK;
}

static void only_the_callers_thread_takes_signals(void **state) {
    (void)state;
    carom_context *context = test_context(MASKED_WORKERS);
    masks m = {0};
    assert_ok(context, carom_parallel_for(context, MASKED_WORKERS, 1, look_at_mask, &m));
    for (uint32_t i = 0; i < MASKED_WORKERS; ++i) {
        assert_int_equal(m.interrupt_is_blocked[i], i != 0);
        assert_false(m.fault_is_blocked[i]);
    }
    carom_context_destroy(context);
}

static void touching_pages_stays_inside(void **state) {
    (void)state;
    const uint64_t most = (uint64_t)9 << 20;
    unsigned char *bytes = malloc(most);
    assert_non_null(bytes);
    carom_random random = {7};
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        carom_context *context = test_context(threads);
        for (int trial = 0; trial < 20; ++trial) {
            uint64_t begin = carom_random_next(&random) % 5000;
            uint64_t size = carom_random_next(&random) % (most - begin);
            memset(bytes, 1, most);
            assert_ok(context, carom_touch_pages(context, bytes + begin, size));
            for (uint64_t i = 0; i < begin; ++i) assert_int_equal(bytes[i], 1);
            for (uint64_t i = begin + size; i < most && i < begin + size + 5000; ++i)
                assert_int_equal(bytes[i], 1);
        }
        carom_context_destroy(context);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_visited_once),
        cmocka_unit_test(a_failing_range_stops_the_rest),
        cmocka_unit_test(nesting_is_a_callers_bug),
        cmocka_unit_test(the_caller_may_bring_threads),
        cmocka_unit_test(many_short_rounds_neither_hang_nor_race),
        cmocka_unit_test(progress_rises_to_one),
        cmocka_unit_test(the_callback_can_cancel),
        cmocka_unit_test(progress_without_a_callback_is_silent),
        cmocka_unit_test(only_the_callers_thread_takes_signals),
        cmocka_unit_test(touching_pages_stays_inside),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
