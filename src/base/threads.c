/* SPDX-License-Identifier: MIT */
/* A small pool of threads behind one parallel_for.
 *
 * The calling thread is worker 0 and works too; the pool has threads - 1 others, started at the
 * first call that has use for them. A round is announced by raising `round`; workers look for it
 * in a short spin, then sleep on a condition. Which worker takes which range is decided by one
 * atomic counter, so uneven ranges balance themselves.
 *
 * Invariant: outside carom_parallel_for every worker is waiting for the next round and touches
 * nothing of the context. */
#define _GNU_SOURCE
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/context.h"
#include "base/item.h"
#include "base/memory.h"

/* About 20 microseconds: longer than the gap between two loops of one query, shorter than anyone
 * would notice on a battery. */
#define SPINS 4000

struct carom_pool {
    carom_allocator allocator;
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    _Atomic uint64_t round; /* raised under the mutex */
    _Atomic uint32_t busy;  /* workers still in this round */
    bool stop;
    carom_task_fn *task;
    void *argument;
    uint32_t count; /* threads beside the caller */
    struct seat {
        carom_pool *pool;
        uint32_t worker;
        pthread_t thread;
    } seats[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static void *worker_main(void *argument) {
    struct seat *seat = argument;
    carom_pool *pool = seat->pool;
    for (uint64_t seen = 0;;) {
        for (int i = 0; i < SPINS && atomic_load(&pool->round) == seen; ++i) pause_briefly();
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->round) == seen) pthread_cond_wait(&pool->begin, &pool->mutex);
        seen = atomic_load(&pool->round);
        bool stop = pool->stop;
        pthread_mutex_unlock(&pool->mutex);
        if (stop) return NULL;
        pool->task(pool->argument, seat->worker);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->end);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

/* Starts as many of the `count` threads as the system gives; none is fine too. */
static carom_pool *pool_create(const carom_allocator *allocator, uint32_t count) {
    carom_pool *pool = carom_allocate(allocator, 1, sizeof(*pool) + count * sizeof(pool->seats[0]));
    if (pool == NULL) return NULL;
    pool->allocator = *allocator;
    pool->stop = false;
    pool->count = 0;
    atomic_init(&pool->round, 0);
    atomic_init(&pool->busy, 0);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    while (pool->count < count) {
        struct seat *seat = &pool->seats[pool->count];
        seat->pool = pool;
        seat->worker = pool->count + 1;
        if (pthread_create(&seat->thread, NULL, worker_main, seat) != 0) break;
        ++pool->count;
    }
    return pool;
}

static void pool_announce(carom_pool *pool, bool stop) {
    pthread_mutex_lock(&pool->mutex);
    pool->stop = stop;
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
}

/* A carom_run_fn: the caller's thread is worker 0. */
static void pool_run(void *user, carom_task_fn *task, void *argument, uint32_t workers) {
    carom_pool *pool = user;
    (void)workers; /* ranges are taken, not dealt: fewer threads than asked for do the same work */
    pool->task = task;
    pool->argument = argument;
    atomic_store(&pool->busy, pool->count);
    pool_announce(pool, false);
    task(argument, 0);
    for (int i = 0; i < SPINS && atomic_load(&pool->busy) != 0; ++i) pause_briefly();
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) != 0) pthread_cond_wait(&pool->end, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void carom_pool_destroy(carom_pool *pool) {
    if (pool == NULL) return;
    pool_announce(pool, true);
    for (uint32_t i = 0; i < pool->count; ++i) pthread_join(pool->seats[i].thread, NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->mutex);
    carom_allocator allocator = pool->allocator;
    carom_release(&allocator, pool);
}

uint32_t carom_processor_count(void) {
    long count = 0;
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
#endif
    if (count <= 0) count = sysconf(_SC_NPROCESSORS_ONLN);
    return (uint32_t)CAROM_MAX(1, CAROM_MIN(count, (long)CAROM_MOST_THREADS));
}

uint64_t carom_grain(const carom_context *context, uint64_t count, uint64_t least) {
    uint64_t grain = count / (context->threads * 4u) + 1;
    return CAROM_MAX(grain, least);
}

/* ---- parallel_for ---------------------------------------------------------------------------- */

typedef struct loop {
    carom_context *context;
    carom_range_fn *body;
    void *argument;
    uint64_t count, grain;
    _Atomic uint64_t next;         /* range to hand out */
    _Atomic uint64_t failed_range; /* lowest that failed, UINT64_MAX: none */
    _Atomic int failed_status;     /* of a failed range; settled under `lock` */
    atomic_flag lock;
} loop;

static void note_failure(loop *loop, uint64_t range, carom_status status) {
    while (atomic_flag_test_and_set(&loop->lock)) pause_briefly();
    if (range < atomic_load(&loop->failed_range)) {
        atomic_store(&loop->failed_range, range);
        atomic_store(&loop->failed_status, (int)status);
    }
    atomic_flag_clear(&loop->lock);
}

static void run_ranges(void *argument, uint32_t worker) {
    loop *loop = argument;
    uint64_t ranges = (loop->count - 1) / loop->grain + 1;
    while (atomic_load(&loop->failed_range) == UINT64_MAX &&
           !atomic_load(&loop->context->progress.cancelled)) {
        uint64_t range = atomic_fetch_add(&loop->next, 1);
        if (range >= ranges) return;
        uint64_t begin = range * loop->grain;
        uint64_t end = CAROM_MIN(loop->count - begin, loop->grain) + begin;
        carom_status status = loop->body(loop->argument, (carom_range){begin, end, worker});
        if (status != CAROM_OK) note_failure(loop, range, status);
    }
}

static void run_workers(carom_context *context, loop *loop) {
    bool alone = context->threads == 1 || loop->count <= loop->grain;
    if (!alone && context->run == NULL) {
        context->pool = pool_create(&context->allocator, context->threads - 1);
        if (context->pool != NULL) {
            context->run = pool_run;
            context->run_user = context->pool;
        }
    }
    if (alone || context->run == NULL)
        run_ranges(loop, 0);
    else
        context->run(context->run_user, run_ranges, loop, context->threads);
}

carom_status carom_parallel_for(carom_context *context, uint64_t count, uint64_t grain,
                                carom_range_fn *body, void *argument) {
    CAROM_REQUIRE(!context->in_parallel, "parallel_for does not nest");
    if (count == 0) return CAROM_OK;
    loop loop = {.context = context,
                 .body = body,
                 .argument = argument,
                 .count = count,
                 .grain = CAROM_MAX(grain, 1),
                 .failed_range = UINT64_MAX,
                 .lock = ATOMIC_FLAG_INIT};
    context->in_parallel = true;
    run_workers(context, &loop);
    context->in_parallel = false;

    if (atomic_exchange(&context->progress.cancelled, false))
        return carom_fail(context, CAROM_CANCELLED, "cancelled by the progress callback");
    carom_status status = (carom_status)atomic_load(&loop.failed_status);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "the scratch of a thread");
    return status;
}
