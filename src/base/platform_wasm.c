/* SPDX-License-Identifier: MIT */
/* WASI's threads and memory, for WebAssembly in browsers and Node (js/).
 *
 * Compiled without atomics there is one thread, and nothing is locked. With atomics the memory is
 * shared between instances of the module, one per web worker. A worker cannot be started from
 * inside a call, because its start needs the event loop of its parent. So the loader (js/loader.js)
 * starts workers beforehand; each enters carom_wasm_thread with the number of its slot and stays
 * there. Starting a thread is giving a function to an idle slot.
 *
 * A thread waits by memory.atomic.wait32. The main thread of a page must not: it spins, which
 * carom_wasm_may_wait says for the calling thread.
 *
 * wasi-libc is compiled for one thread. Its allocator is the only part of it that threads of ours
 * use at the same time, and only through the functions below, under one lock. */
#include "base/platform.h"

#if defined(__wasi__)
#include <stdlib.h>

#include "carom/base.h"

#if defined(__wasm_atomics__)

/* CAROM_MOST_THREADS of a context, less the caller's own. */
#define PLATFORM_WASM_SLOTS 255
#define WAIT_FOREVER        ((int64_t)-1)

static _Thread_local bool may_wait;

static uint32_t load_word(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void store_word(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static bool replace_word(uint32_t *word, uint32_t expected, uint32_t value) {
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Returns when the word may have changed, or after that many nanoseconds. Not inlined: the first
 * compiler of Node 20's V8 (Liftoff) loses the table of functions after the instruction, so that
 * the next call through a pointer in the same function traps. */
__attribute__((noinline)) static void wait_word(uint32_t *word, uint32_t value,
                                                int64_t nanoseconds) {
    if (may_wait) (void)__builtin_wasm_memory_atomic_wait32((int *)word, (int)value, nanoseconds);
}

static void wake_word(uint32_t *word, uint32_t count) {
    (void)__builtin_wasm_memory_atomic_notify((int *)word, count);
}

/* Says whether the calling thread may sleep. */
CAROM_API void carom_wasm_may_wait(bool may);
CAROM_API void carom_wasm_may_wait(bool may) {
    may_wait = may;
}

/* ---- Slots */

enum { SLOT_ABSENT, SLOT_IDLE, SLOT_TAKEN, SLOT_RUNNING };

static struct wasm_slot {
    uint32_t state;
    carom_os_thread_fn *run;
    void *argument;
} wasm_slots[PLATFORM_WASM_SLOTS];

/* A worker's whole life; it ends with the worker. */
CAROM_API void carom_wasm_thread(uint32_t number);
CAROM_API void carom_wasm_thread(uint32_t number) {
    struct wasm_slot *slot = &wasm_slots[number % PLATFORM_WASM_SLOTS];
    may_wait = true;
    store_word(&slot->state, SLOT_IDLE);
    for (;;) {
        uint32_t state = load_word(&slot->state);
        if (state != SLOT_RUNNING) {
            wait_word(&slot->state, state, WAIT_FOREVER);
            continue;
        }
        slot->run(slot->argument);
        store_word(&slot->state, SLOT_IDLE);
        wake_word(&slot->state, UINT32_MAX);
    }
}

/* Workers that are ready. */
CAROM_API uint32_t carom_wasm_threads(void);
CAROM_API uint32_t carom_wasm_threads(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PLATFORM_WASM_SLOTS; ++i)
        count += load_word(&wasm_slots[i].state) != SLOT_ABSENT;
    return count;
}

bool carom_os_thread_start(carom_os_thread *thread, carom_os_thread_fn *run, void *argument) {
    for (uint32_t i = 0; i < PLATFORM_WASM_SLOTS; ++i) {
        struct wasm_slot *slot = &wasm_slots[i];
        if (!replace_word(&slot->state, SLOT_IDLE, SLOT_TAKEN)) continue;
        slot->run = run;
        slot->argument = argument;
        thread->handle = i;
        store_word(&slot->state, SLOT_RUNNING);
        wake_word(&slot->state, UINT32_MAX);
        return true;
    }
    return false;
}

void carom_os_thread_join(carom_os_thread *thread) {
    struct wasm_slot *slot = &wasm_slots[thread->handle];
    while (load_word(&slot->state) == SLOT_RUNNING)
        wait_word(&slot->state, SLOT_RUNNING, WAIT_FOREVER);
}

long carom_os_processors(void) {
    return 1 + (long)carom_wasm_threads();
}

/* ---- Locks: 0 free, 1 locked, 2 locked and perhaps waited for */

void carom_os_mutex_create(carom_os_mutex *mutex) {
    mutex->state = 0;
}

void carom_os_mutex_destroy(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_mutex_lock(carom_os_mutex *mutex) {
    if (replace_word(&mutex->state, 0, 1)) return;
    while (__atomic_exchange_n(&mutex->state, 2, __ATOMIC_SEQ_CST) != 0)
        wait_word(&mutex->state, 2, WAIT_FOREVER);
}

void carom_os_mutex_unlock(carom_os_mutex *mutex) {
    if (__atomic_exchange_n(&mutex->state, 0, __ATOMIC_SEQ_CST) == 2) wake_word(&mutex->state, 1);
}

void carom_os_condition_create(carom_os_condition *condition) {
    condition->round = 0;
}

void carom_os_condition_destroy(carom_os_condition *condition) {
    (void)condition;
}

static void wait_condition(carom_os_condition *condition, carom_os_mutex *mutex, int64_t wait) {
    uint32_t round = load_word(&condition->round);
    carom_os_mutex_unlock(mutex);
    wait_word(&condition->round, round, wait);
    carom_os_mutex_lock(mutex);
}

void carom_os_condition_wait(carom_os_condition *condition, carom_os_mutex *mutex) {
    wait_condition(condition, mutex, WAIT_FOREVER);
}

void carom_os_condition_wait_for(carom_os_condition *condition, carom_os_mutex *mutex,
                                 uint32_t milliseconds) {
    wait_condition(condition, mutex, (int64_t)milliseconds * 1000000);
}

static void wake_condition(carom_os_condition *condition, uint32_t count) {
    (void)__atomic_fetch_add(&condition->round, 1, __ATOMIC_SEQ_CST);
    wake_word(&condition->round, count);
}

void carom_os_condition_wake_one(carom_os_condition *condition) {
    wake_condition(condition, 1);
}

void carom_os_condition_wake_all(carom_os_condition *condition) {
    wake_condition(condition, UINT32_MAX);
}

/* 0: not begun, 1: running, 2: done. */
void carom_os_run_once(carom_os_once *once, void (*run)(void)) {
    if (replace_word(&once->state, 0, 1)) {
        run();
        store_word(&once->state, 2);
        wake_word(&once->state, UINT32_MAX);
    }
    while (load_word(&once->state) != 2) wait_word(&once->state, 1, WAIT_FOREVER);
}

#else /* one thread */

bool carom_os_thread_start(carom_os_thread *thread, carom_os_thread_fn *run, void *argument) {
    (void)thread, (void)run, (void)argument;
    return false;
}

void carom_os_thread_join(carom_os_thread *thread) {
    (void)thread;
}

long carom_os_processors(void) {
    return 1;
}

void carom_os_mutex_create(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_mutex_destroy(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_mutex_lock(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_mutex_unlock(carom_os_mutex *mutex) {
    (void)mutex;
}

void carom_os_condition_create(carom_os_condition *condition) {
    (void)condition;
}

void carom_os_condition_destroy(carom_os_condition *condition) {
    (void)condition;
}

void carom_os_condition_wait(carom_os_condition *condition, carom_os_mutex *mutex) {
    (void)condition, (void)mutex;
}

void carom_os_condition_wait_for(carom_os_condition *condition, carom_os_mutex *mutex,
                                 uint32_t milliseconds) {
    (void)condition, (void)mutex, (void)milliseconds;
}

void carom_os_condition_wake_one(carom_os_condition *condition) {
    (void)condition;
}

void carom_os_condition_wake_all(carom_os_condition *condition) {
    (void)condition;
}

void carom_os_run_once(carom_os_once *once, void (*run)(void)) {
    if (once->state != 0) return;
    once->state = 1;
    run();
}

#endif

bool carom_os_at_fork(void (*in_child)(void)) {
    (void)in_child;
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static carom_os_mutex memory_lock;

/* Memory of a module never goes back to the system, and there are no pages to align to. */
#define MOST_ALIGNMENT 64

void *carom_os_aligned_allocate(size_t alignment, size_t size) {
    carom_os_mutex_lock(&memory_lock);
    void *block = aligned_alloc(alignment < MOST_ALIGNMENT ? alignment : MOST_ALIGNMENT, size);
    carom_os_mutex_unlock(&memory_lock);
    return block;
}

void carom_os_aligned_free(void *pointer) {
    carom_os_mutex_lock(&memory_lock);
    free(pointer);
    carom_os_mutex_unlock(&memory_lock);
}

#endif
