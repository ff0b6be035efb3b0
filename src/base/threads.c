/* SPDX-License-Identifier: MIT */
/* A pool of threads for parallel_for.
 *
 * The calling thread is worker 0 and works too. The pool has threads - 1 others, started at the
 * first call that needs them. A round starts when `round` is incremented; workers spin briefly for
 * it, then sleep on a condition variable. Workers take ranges from one atomic counter, which
 * balances uneven ranges.
 *
 * Invariant: outside carom_parallel_for every worker waits for the next round and accesses nothing
 * of the context. */
#include "base/threads.h"

#include <stdatomic.h>

#include "base/item.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/progress.h"

/* About 20 microseconds: longer than the gap between two loops of one query, short enough not to
 * waste energy. */
#define SPINS 4000
/* Milliseconds between two checks of the clock by worker 0 while it waits for the others: less than
 * the interval between two calls of the progress callback. */
#define WAIT_BETWEEN_LOOKS 20

struct carom_pool {
    carom_context *context;
    carom_allocator allocator;
    carom_os_mutex mutex;
    carom_os_condition begin, end;
    _Atomic uint64_t round; /* incremented under the mutex */
    _Atomic uint32_t busy;  /* workers still in this round */
    bool stop;
    carom_task_fn *task;
    void *argument;
    uint32_t count; /* threads beside the caller */
    struct seat {
        carom_pool *pool;
        uint32_t worker;
        carom_os_thread thread;
    } seats[];
};

static void worker_main(void *argument) {
    struct seat *seat = argument;
    carom_pool *pool = seat->pool;
    for (uint64_t seen = 0;;) {
        for (int i = 0; i < SPINS && atomic_load(&pool->round) == seen; ++i) carom_os_pause();
        carom_os_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->round) == seen)
            carom_os_condition_wait(&pool->begin, &pool->mutex);
        seen = atomic_load(&pool->round);
        bool stop = pool->stop;
        carom_os_mutex_unlock(&pool->mutex);
        if (stop) return;
        pool->task(pool->argument, seat->worker);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            carom_os_mutex_lock(&pool->mutex);
            carom_os_condition_wake_one(&pool->end);
            carom_os_mutex_unlock(&pool->mutex);
        }
    }
}

/* Starts as many of the `count` threads as the system gives; none is fine too. */
static carom_pool *pool_create(carom_context *context, uint32_t count) {
    const carom_allocator *allocator = &context->allocator;
    carom_pool *pool = carom_allocate(allocator, 1, sizeof(*pool) + count * sizeof(pool->seats[0]));
    if (pool == NULL) return NULL;
    pool->context = context;
    pool->allocator = *allocator;
    pool->stop = false;
    pool->count = 0;
    atomic_init(&pool->round, 0);
    atomic_init(&pool->busy, 0);
    carom_os_mutex_create(&pool->mutex);
    carom_os_condition_create(&pool->begin);
    carom_os_condition_create(&pool->end);
    while (pool->count < count) {
        struct seat *seat = &pool->seats[pool->count];
        seat->pool = pool;
        seat->worker = pool->count + 1;
        if (!carom_os_thread_start(&seat->thread, worker_main, seat)) break;
        ++pool->count;
    }
    return pool;
}

static void pool_announce(carom_pool *pool, bool stop) {
    carom_os_mutex_lock(&pool->mutex);
    pool->stop = stop;
    atomic_fetch_add(&pool->round, 1);
    carom_os_condition_wake_all(&pool->begin);
    carom_os_mutex_unlock(&pool->mutex);
}

/* Called under the mutex: waits until the last worker signals, or for a short time when there is a
 * progress callback to call. */
static void wait_for_end(carom_pool *pool) {
    if (pool->context->progress.depth == 0) {
        carom_os_condition_wait(&pool->end, &pool->mutex);
        return;
    }
    carom_os_condition_wait_for(&pool->end, &pool->mutex, WAIT_BETWEEN_LOOKS);
    carom_os_mutex_unlock(&pool->mutex);
    carom_progress_add(pool->context, 0, 0);
    carom_os_mutex_lock(&pool->mutex);
}

/* A carom_run_fn: the caller's thread is worker 0. */
static void pool_run(void *user, carom_task_fn *task, void *argument, uint32_t workers) {
    carom_pool *pool = user;
    (void)workers; /* workers take ranges themselves: fewer threads than requested do the same
                      work */
    pool->task = task;
    pool->argument = argument;
    atomic_store(&pool->busy, pool->count);
    pool_announce(pool, false);
    task(argument, 0);
    for (int i = 0; i < SPINS && atomic_load(&pool->busy) != 0; ++i) carom_os_pause();
    carom_os_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) != 0) wait_for_end(pool);
    carom_os_mutex_unlock(&pool->mutex);
}

void carom_pool_destroy(carom_pool *pool) {
    if (pool == NULL) return;
    pool_announce(pool, true);
    for (uint32_t i = 0; i < pool->count; ++i) carom_os_thread_join(&pool->seats[i].thread);
    carom_os_condition_destroy(&pool->end);
    carom_os_condition_destroy(&pool->begin);
    carom_os_mutex_destroy(&pool->mutex);
    carom_pool_release(pool);
}

void carom_pool_release(carom_pool *pool) {
    if (pool == NULL) return;
    carom_allocator allocator = pool->allocator;
    carom_release(&allocator, pool);
}

uint32_t carom_processor_count(void) {
    long count = carom_os_processors();
    return (uint32_t)CAROM_MAX(1, CAROM_MIN(count, (long)CAROM_MOST_THREADS));
}

/* Items of one range: at a few dozen nanoseconds each a range takes milliseconds, and cancellation
 * is checked between ranges. */
#define MOST_GRAIN ((uint64_t)1 << 16)

uint64_t carom_grain(const carom_context *context, uint64_t count, uint64_t least) {
    uint64_t grain = CAROM_MIN(count / (context->threads * 4u) + 1, MOST_GRAIN);
    return CAROM_MAX(grain, least);
}

/* ---- parallel_for ---------------------------------------------------------------------------- */

typedef struct loop {
    carom_context *context;
    carom_range_fn *body;
    void *argument;
    uint64_t count, grain;
    bool counts;                   /* its items are the units of the progress */
    _Atomic uint64_t next;         /* next range */
    _Atomic uint64_t failed_range; /* lowest that failed, UINT64_MAX: none */
    _Atomic int failed_status;     /* of the lowest failed range; written under `lock` */
    atomic_flag lock;
} loop;

static void note_failure(loop *loop, uint64_t range, carom_status status) {
    while (atomic_flag_test_and_set(&loop->lock)) carom_os_pause();
    if (range < atomic_load(&loop->failed_range)) {
        atomic_store(&loop->failed_range, range);
        atomic_store(&loop->failed_status, (int)status);
    }
    atomic_flag_clear(&loop->lock);
}

static void run_ranges(loop *loop, uint32_t worker) {
    uint64_t ranges = (loop->count - 1) / loop->grain + 1;
    while (atomic_load(&loop->failed_range) == UINT64_MAX &&
           !atomic_load(&loop->context->progress.cancelled)) {
        uint64_t range = atomic_fetch_add(&loop->next, 1);
        if (range >= ranges) return;
        uint64_t begin = range * loop->grain;
        uint64_t end = CAROM_MIN(loop->count - begin, loop->grain) + begin;
        CAROM_ASSERT(begin < end && end <= loop->count && worker < loop->context->threads);
        carom_status status = loop->body(loop->argument, (carom_range){begin, end, worker});
        if (status != CAROM_OK) note_failure(loop, range, status);
        if (loop->context->progress.depth != 0)
            carom_progress_add(loop->context, worker, loop->counts ? end - begin : 0);
    }
}

/* A carom_task_fn: the ranges of one worker. */
static void work(void *argument, uint32_t worker) {
    const carom_context *before = CAROM_WORK_FOR(((loop *)argument)->context);
    run_ranges(argument, worker);
    (void)CAROM_WORK_FOR(before);
}

static void run_workers(carom_context *context, loop *loop) {
    bool alone = context->threads == 1 || loop->count <= loop->grain;
    if (!alone && context->run == NULL) {
        context->pool = pool_create(context, context->threads - 1);
        if (context->pool != NULL) {
            context->run = pool_run;
            context->run_user = context->pool;
        }
    }
    if (alone || context->run == NULL)
        work(loop, 0);
    else
        context->run(context->run_user, work, loop, context->threads);
}

static carom_status run_loop(carom_context *context, loop *loop) {
    CAROM_ASSERT(!context->in_parallel && loop->grain != 0);
    context->in_parallel = true;
    run_workers(context, loop);
    context->in_parallel = false;
    CAROM_ASSERT(atomic_load(&loop->failed_range) != UINT64_MAX ||
                 atomic_load(&loop->failed_status) == CAROM_OK);

    CAROM_TRY(carom_progress_look(context));
    carom_status status = (carom_status)atomic_load(&loop->failed_status);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "the scratch of a thread");
    return status;
}

carom_status carom_parallel_for(carom_context *context, uint64_t count, uint64_t grain,
                                carom_range_fn *body, void *argument) {
    CAROM_REQUIRE(!context->in_parallel, "parallel_for does not nest");
    if (count == 0) return carom_progress_look(context);
    loop loop = {.context = context,
                 .body = body,
                 .argument = argument,
                 .count = count,
                 .grain = CAROM_MAX(grain, 1),
                 .failed_range = UINT64_MAX,
                 .lock = ATOMIC_FLAG_INIT};
    return run_loop(context, &loop);
}

carom_status carom_parallel_phase(carom_context *context, const char *what, uint64_t count,
                                  uint64_t grain, carom_range_fn *body, void *argument) {
    CAROM_REQUIRE(!context->in_parallel, "parallel_for does not nest");
    loop loop = {.context = context,
                 .body = body,
                 .argument = argument,
                 .count = count,
                 .grain = CAROM_MAX(grain, 1),
                 .counts = true,
                 .failed_range = UINT64_MAX,
                 .lock = ATOMIC_FLAG_INIT};
    carom_progress_begin(context, what, count);
    return carom_progress_finish(context, count != 0 ? run_loop(context, &loop) : CAROM_OK);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Bytes: the smallest page, and the memory that one thread touches at a time, a huge page. */
#define SMALL_PAGE              ((uintptr_t)4096)
#define THREADS_HUGE_PAGE_BYTES ((uintptr_t)2 << 20)

/* The huge pages that memory lies in. */
typedef struct pages {
    uintptr_t first, begin, end; /* start of the first huge page; the memory */
} pages;

static carom_status touch(void *argument, carom_range range) {
    const pages *p = argument;
    for (uint64_t page = range.begin; page < range.end; ++page) {
        uintptr_t begin = CAROM_MAX(p->first + page * THREADS_HUGE_PAGE_BYTES, p->begin);
        uintptr_t end = CAROM_MIN(p->first + (page + 1) * THREADS_HUGE_PAGE_BYTES, p->end);
        for (uintptr_t at = begin; at < end; at += SMALL_PAGE) *(volatile char *)at = 0;
    }
    return CAROM_OK;
}

carom_status carom_touch_pages(carom_context *context, void *memory, uint64_t bytes) {
    uintptr_t begin = (uintptr_t)memory;
    pages p = {begin / THREADS_HUGE_PAGE_BYTES * THREADS_HUGE_PAGE_BYTES, begin, begin + bytes};
    if (context->threads == 1 || bytes < 2 * THREADS_HUGE_PAGE_BYTES) return CAROM_OK;
    return carom_parallel_for(context, (p.end - 1 - p.first) / THREADS_HUGE_PAGE_BYTES + 1, 1,
                              touch, &p);
}
