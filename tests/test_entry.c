/* SPDX-License-Identifier: MIT */
/* Entering a context: one thread at a time, in the process that created it. And how many threads a
 * context has when its def names none.
 *
 * Nothing here waits for a clock: the second thread, or the child, starts inside the progress
 * callback of a call, so that the call has certainly begun and not returned. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "tests/support/shapes.h"

/* The thread sanitizer lets no thread start in the child of a process that has several. */
#ifdef __SANITIZE_THREAD__
#define CHILD_THREADS 1
#else
#define CHILD_THREADS 3
#endif

/* ---- what the calls are given ---------------------------------------------------------------- */

static carom_mesh *mesh;
static carom_mesh_view view;
static carom_soup *soup;

static int set_up(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_shape_def shape = {.detail = 4};
    mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    carom_context_destroy(context);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    return 0;
}

static _Atomic int heard;
static char heard_message[256]; /* of the last call, by one thread at a time */

static void hear(const char *function, const char *message) {
    (void)function;
    (void)message;
    ++heard;
}

static void hear_and_keep(const char *function, const char *message) {
    hear(function, message);
    snprintf(heard_message, sizeof(heard_message), "%s", message);
}

/* Whether a context answers, with all its threads: the sphere does not cross itself. */
static bool works(carom_context *context) {
    bool any = true;
    uint64_t count = 1;
    carom_mesh_report report;
    return carom_soup_self_meet(context, soup, &any) == CAROM_OK && !any &&
           carom_soup_self_count(context, soup, &count) == CAROM_OK && count == 0 &&
           carom_mesh_inspect(context, &view, &report) == CAROM_OK &&
           report.faces == view.face_count;
}

/* ---- two threads ----------------------------------------------------------------------------- */

#ifdef CAROM_CHECKS
#define ONLY_WHERE_CHECKED
#else
#define ONLY_WHERE_CHECKED                                                                         \
    print_message("a build without CAROM_CHECKS does not notice: skipped\n");                      \
    skip()
#endif

typedef struct rendezvous {
    carom_context *context;
    void *(*other)(void *); /* what the other thread does while a call is under way */
    carom_status info, pairs;
    bool met, destroyed, nested_works;
} rendezvous;

static void *call_from_elsewhere(void *argument) {
    rendezvous *m = argument;
    carom_context_info info = {.threads = 77};
    carom_pairs pairs = {0};
    m->info = carom_context_get_info(m->context, &info);
    m->pairs = carom_soup_self_pairs(m->context, soup, &pairs);
    if (info.threads != 77 || pairs.data != NULL) m->info = CAROM_OK; /* it was answered */
    if (carom_context_message(m->context)[0] != '\0') m->info = CAROM_OK;
    carom_context_destroy(m->context); /* refused, too */
    return NULL;
}

static bool meet_once(void *user, const char *what, double fraction) {
    rendezvous *m = user;
    (void)what;
    (void)fraction;
    if (m->met) return false;
    m->met = true;
    carom_context_info info;
    m->nested_works = carom_context_get_info(m->context, &info) == CAROM_OK;
    pthread_t thread;
    if (pthread_create(&thread, NULL, m->other, m) == 0) pthread_join(thread, NULL);
    return false;
}

static void a_second_thread_is_a_callers_bug(void **state) {
    (void)state;
    ONLY_WHERE_CHECKED;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        rendezvous m = {.other = call_from_elsewhere};
        carom_context_def def = {.threads = threads, .progress = meet_once, .progress_user = &m};
        assert_ok(NULL, carom_context_create(&def, &m.context));
        heard = 0;
        carom_assert_set_handler(hear_and_keep);
        bool right = works(m.context);
        carom_assert_set_handler(NULL);
        assert_true(right && m.met && m.nested_works);
        assert_int_equal(m.info, CAROM_INVALID);
        assert_int_equal(m.pairs, CAROM_INVALID);
        assert_int_equal(heard, 4);
        /* Afterwards it is free again. */
        assert_true(works(m.context));
        carom_context_destroy(m.context);
    }
}

static carom_status enter_from_a_loop(void *argument, carom_range range) {
    carom_context_info info;
    (void)range;
    return carom_context_get_info(argument, &info);
}

/* Engines do that: scenes query distances of convex shapes. */
static void threads_of_a_loop_may_enter(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        carom_context *context = test_context(threads);
        assert_ok(context, carom_parallel_for(context, 1000, 1, enter_from_a_loop, context));
        assert_true(works(context));
        carom_context_destroy(context);
    }
}

static void *use_alone(void *argument) {
    rendezvous *m = argument;
    m->nested_works = works(m->context);
    return NULL;
}

static void threads_may_take_turns(void **state) {
    (void)state;
    rendezvous m = {.context = test_context(2)};
    for (int i = 0; i < 10; ++i) {
        pthread_t thread;
        m.nested_works = false;
        assert_int_equal(pthread_create(&thread, NULL, use_alone, &m), 0);
        pthread_join(thread, NULL);
        assert_true(m.nested_works && works(m.context));
    }
    carom_context_destroy(m.context);
}

#define CALLS_EACH 300

typedef struct rival {
    carom_context *context;
    int right, refused;
} rival;

static void *call_often(void *argument) {
    rival *r = argument;
    for (int i = 0; i < CALLS_EACH; ++i) {
        uint64_t count = 77;
        carom_status status = carom_soup_self_count(r->context, soup, &count);
        r->right += status == CAROM_OK && count == 0;
        r->refused += status == CAROM_INVALID && count == 77;
    }
    return NULL;
}

/* Whoever comes first is answered rightly, the other is refused; nothing is damaged. */
static void rivals_are_answered_or_refused(void **state) {
    (void)state;
    ONLY_WHERE_CHECKED;
    carom_context *context = test_context(2);
    rival rivals[3] = {{context, 0, 0}, {context, 0, 0}, {context, 0, 0}};
    pthread_t threads[3];
    heard = 0;
    carom_assert_set_handler(hear);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &rivals[i]), 0);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    carom_assert_set_handler(NULL);
    int right = 0, refused = 0;
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(rivals[i].right + rivals[i].refused, CALLS_EACH);
        right += rivals[i].right;
        refused += rivals[i].refused;
    }
    assert_true(right > 0);
    assert_int_equal(refused, heard);
    assert_true(works(context));
    carom_context_destroy(context);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* What a child found, as its exit status: 0, or the number of the line that was wrong. Nothing of
 * cmocka may run in it, or the tests would go on twice. */
#define EXPECT(condition)                                                                          \
    if (!(condition)) return __LINE__ & 0xff

static int create_and_work(void) {
    carom_context *own;
    carom_context_def def = {.threads = CHILD_THREADS};
    EXPECT(carom_context_create(&def, &own) == CAROM_OK);
    EXPECT(works(own));
    carom_context_destroy(own);
    return 0;
}

static int check_child(carom_context *parents) {
    bool any = false;
    heard = 0;
    carom_assert_set_handler(hear_and_keep);
    EXPECT(carom_soup_self_meet(parents, soup, &any) == CAROM_INVALID);
    EXPECT(!any && heard == 1);
    EXPECT(strstr(heard_message, "create one in the child") != NULL);
    EXPECT(strcmp(carom_context_message(parents), heard_message) == 0);
    EXPECT(carom_context_trim(parents) == CAROM_INVALID && heard == 2);
    int found = create_and_work();
    carom_context_destroy(parents);
    EXPECT(heard == 2);
    return found != 0 ? found : create_and_work();
}

static int fork_and_check(carom_context *parents, int generations) {
    pid_t child = fork();
    if (child < 0) return __LINE__ & 0xff;
    if (child == 0) {
        (void)alarm(300); /* a child that hangs is a failure, not a test that does not end */
        int found = 0;
        if (generations > 1) found = fork_and_check(parents, generations - 1);
        _exit(found != 0 ? found : check_child(parents));
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return __LINE__ & 0xff;
    return WEXITSTATUS(status);
}

static void a_child_creates_its_own_contexts(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        carom_context *unused = test_context(threads), *used = test_context(threads);
        assert_true(works(used)); /* its threads run */
        assert_int_equal(fork_and_check(unused, 1), 0);
        assert_int_equal(fork_and_check(used, 1), 0);
        assert_int_equal(fork_and_check(used, 3), 0); /* a grandchild's child */
        assert_true(works(used) && works(unused));
        carom_context_destroy(used);
        carom_context_destroy(unused);
    }
}

typedef struct forking {
    carom_context *context;
    int found;
    bool forked;
} forking;

static void *fork_elsewhere(void *argument) {
    forking *f = argument;
    f->found = fork_and_check(f->context, 1);
    return NULL;
}

static bool fork_once(void *user, const char *what, double fraction) {
    forking *f = user;
    (void)what;
    (void)fraction;
    if (f->forked) return false;
    f->forked = true;
    pthread_t thread;
    f->found = -1;
    if (pthread_create(&thread, NULL, fork_elsewhere, f) == 0) pthread_join(thread, NULL);
    return false;
}

/* The thread that was in the call does not exist in the child. */
static void a_fork_during_a_call_is_fine(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        forking f = {.found = -1};
        carom_context_def def = {.threads = threads, .progress = fork_once, .progress_user = &f};
        assert_ok(NULL, carom_context_create(&def, &f.context));
        assert_true(works(f.context));
        assert_true(f.forked);
        assert_int_equal(f.found, 0);
        carom_context_destroy(f.context);
    }
}

/* ---- CAROM_THREADS --------------------------------------------------------------------------- */

static uint32_t threads_of(uint32_t requested) {
    carom_context *context;
    carom_context_info info;
    assert_ok(NULL, carom_context_create(&(carom_context_def){.threads = requested}, &context));
    assert_ok(context, carom_context_get_info(context, &info));
    carom_context_destroy(context);
    return info.threads;
}

static void the_environment_says_how_many_threads(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t threads;
    } good[] = {{"1", 1}, {"3", 3}, {"256", 256}, {"007", 7}};
    static const char *const bad[] = {
        "0",   "257", "-1",  "+2",  " 2", "2 ",  "1.5",
        "0x4", "all", "1e2", "000", "٣",  "2,3", "18446744073709551617"};
    (void)unsetenv("CAROM_THREADS");
    uint32_t processors = threads_of(0);
    for (size_t i = 0; i < COUNT_OF(good); ++i) {
        assert_int_equal(setenv("CAROM_THREADS", good[i].text, 1), 0);
        assert_int_equal(threads_of(0), good[i].threads);
        assert_int_equal(threads_of(2), 2); /* the def is stronger */
    }
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        carom_context *context;
        char expected[128];
        snprintf(expected, sizeof(expected), "CAROM_THREADS is \"%s\" in the environment", bad[i]);
        assert_int_equal(setenv("CAROM_THREADS", bad[i], 1), 0);
        assert_fails(NULL, carom_context_create(NULL, &context), CAROM_BAD_INPUT, expected);
        assert_null(context);
        assert_int_equal(threads_of(2), 2); /* not looked at */
    }
    assert_int_equal(setenv("CAROM_THREADS", "", 1), 0);
    assert_int_equal(threads_of(0), processors);
    assert_int_equal(unsetenv("CAROM_THREADS"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_thread_is_a_callers_bug),
        cmocka_unit_test(threads_may_take_turns),
        cmocka_unit_test(threads_of_a_loop_may_enter),
        cmocka_unit_test(rivals_are_answered_or_refused),
        cmocka_unit_test(a_child_creates_its_own_contexts),
        cmocka_unit_test(a_fork_during_a_call_is_fine),
        cmocka_unit_test(the_environment_says_how_many_threads),
    };
    return cmocka_run_group_tests_name("entry", tests, set_up, tear_down);
}
