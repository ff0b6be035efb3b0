/* SPDX-License-Identifier: MIT */
/* The broad phase from frame to frame: after any changes the pairs are those of a structure made
 * anew, and of brute force; what began and ended is the difference to the last frame; ids are never
 * moved. A million random operations in the long form. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broad/broad.h"
#include "scenes/boxes.h"
#include "tests/support/broad.h"
#include "tests/support/campaign.h"
#include "tests/support/test.h"

#define MOST 512u

/* What the structure should hold. */
typedef struct model {
    carom_bounds boxes[MOST];
    carom_broad_filter filters[MOST];
    bool live[MOST];
    uint32_t ids; /* given out */
    carom_pair last[MOST * MOST / 2], now[MOST * MOST / 2];
    uint64_t last_count, now_count;
} model;

static model m;

static int order(const carom_pair *a, const carom_pair *b) {
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b ? 1 : 0;
}

/* The pairs of `a` that are not in `b` are those of `found`. */
static void assert_difference(const carom_pair *a, uint64_t a_count, const carom_pair *b,
                              uint64_t b_count, const carom_pairs *found, const char *what) {
    uint64_t count = 0, j = 0;
    for (uint64_t i = 0; i < a_count; ++i) {
        while (j < b_count && order(&b[j], &a[i]) < 0) ++j;
        if (j < b_count && order(&b[j], &a[i]) == 0) continue;
        if (count >= found->count || order(&found->data[count], &a[i]) != 0)
            fail_msg("%s: (%u, %u) is missing", what, a[i].a, a[i].b);
        ++count;
    }
    if (count != found->count) fail_msg("%s: too many", what);
}

static bool accept_some(void *user, uint32_t a, uint32_t b) {
    assert_true(a < b);
    ++*(uint64_t *)user;
    return (a + b) % 3 != 0;
}

static uint64_t drop_refused(carom_pair *pairs, uint64_t count) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; ++i)
        if ((pairs[i].a + pairs[i].b) % 3 != 0) pairs[kept++] = pairs[i];
    return kept;
}

typedef struct course {
    carom_context *context;
    carom_broad *broad;
    carom_random random;
    broad_kind kind;
    bool accepts;
    carom_pairs pairs, begun, ended;
} course;

static uint32_t some_live(course *c) {
    for (;;) {
        uint32_t id = test_below(&c->random, m.ids);
        if (m.live[id]) return id;
    }
}

static uint32_t live_count(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m.ids; ++i) count += m.live[i] ? 1 : 0;
    return count;
}

static void move_some(course *c, uint32_t count) {
    uint32_t ids[64];
    carom_bounds boxes[64];
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = some_live(c);
        carom_bounds b = broad_box(c->kind, &c->random);
        if (test_below(&c->random, 4) != 0) { /* a little */
            double by = carom_random_between(&c->random, -0.1, 0.1);
            b = m.boxes[ids[i]];
            b.low.x += by;
            b.high.x += by;
        }
        boxes[i] = m.boxes[ids[i]] = b;
    }
    assert_ok(c->context, carom_broad_move(c->context, c->broad, ids, boxes, count));
}

static void move_all(course *c) {
    uint32_t count = 0;
    while (count < m.ids && m.live[count]) ++count; /* ids 0 to count - 1 are live */
    for (uint32_t i = 0; i < count; ++i) {
        double by = carom_random_between(&c->random, -0.05, 0.05);
        m.boxes[i].low.y += by;
        m.boxes[i].high.y += by;
    }
    assert_ok(c->context, carom_broad_move(c->context, c->broad, NULL, m.boxes, count));
}

static void add_some(course *c, uint32_t count) {
    carom_bounds boxes[64];
    uint32_t ids[64];
    broad_boxes(c->kind, &c->random, boxes, count);
    assert_ok(c->context, carom_broad_add(c->context, c->broad, boxes, count, ids));
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(ids[i] < MOST && ids[i] <= m.ids);
        if (ids[i] == m.ids) ++m.ids;
        assert_false(m.live[ids[i]]);
        m.live[ids[i]] = true;
        m.boxes[ids[i]] = boxes[i];
        m.filters[ids[i]] = (carom_broad_filter){0, 0};
    }
}

static void remove_some(course *c, uint32_t count) {
    uint32_t ids[64];
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = some_live(c);
        m.live[ids[i]] = false;
    }
    assert_ok(c->context, carom_broad_remove(c->context, c->broad, ids, count));
}

static void set_filters(course *c, uint32_t count) {
    uint32_t ids[64];
    carom_broad_filter filters[64];
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = some_live(c);
        filters[i] = (carom_broad_filter){test_below(&c->random, 8), test_below(&c->random, 8)};
        m.filters[ids[i]] = filters[i];
    }
    assert_ok(c->context, carom_broad_set_filters(c->context, c->broad, ids, filters, count));
}

static void find_expected(const course *c) {
    m.now_count = broad_brute_force(m.boxes, m.filters, m.live, m.ids, m.now);
    if (c->accepts) m.now_count = drop_refused(m.now, m.now_count);
}

static void check_frame(course *c) {
    assert_ok(c->context, carom_broad_step(c->context, c->broad, &c->pairs, &c->begun, &c->ended));
    assert_valid(carom_broad_validate(c->broad));
    find_expected(c);
    assert_int_equal(c->pairs.count, m.now_count);
    if (m.now_count != 0) assert_memory_equal(c->pairs.data, m.now, m.now_count * sizeof(*m.now));
    assert_difference(m.now, m.now_count, m.last, m.last_count, &c->begun, "begun");
    assert_difference(m.last, m.last_count, m.now, m.now_count, &c->ended, "ended");
    memcpy(m.last, m.now, sizeof(m.now));
    m.last_count = m.now_count;
}

/* An update alone: queries agree, and the frame is not advanced. */
static void check_update(course *c) {
    assert_ok(c->context, carom_broad_commit(c->context, c->broad));
    assert_valid(carom_broad_validate(c->broad));
    assert_ok(c->context, carom_broad_pairs(c->context, c->broad, &c->pairs));
    find_expected(c);
    assert_int_equal(c->pairs.count, m.now_count);
    if (m.now_count != 0) assert_memory_equal(c->pairs.data, m.now, m.now_count * sizeof(*m.now));
}

/* Returns the number of operations. */
static uint64_t one_course(carom_context *context, carom_broad_method method, broad_kind kind,
                           uint64_t seed, uint32_t frames, carom_broad_info *info) {
    uint64_t calls = 0, operations = 0;
    course c = {.context = context, .random = {seed}, .kind = kind, .accepts = seed % 4 == 3};
    memset(&m, 0, sizeof(m));
    m.ids = test_below(&c.random, 200);
    broad_boxes(kind, &c.random, m.boxes, m.ids);
    memset(m.live, true, m.ids);
    carom_broad_def def = {.boxes = m.boxes, .box_count = m.ids, .method = method};
    if (c.accepts) {
        def.accept = accept_some;
        def.accept_user = &calls;
    }
    assert_ok(context, carom_broad_create(context, &def, &c.broad));
    check_frame(&c);
    for (uint32_t frame = 0; frame < frames; ++frame) {
        for (uint32_t changes = test_below(&c.random, 4); changes != 0; --changes) {
            uint32_t count = test_below(&c.random, 2) == 0 ? 1 : 1 + test_below(&c.random, 48);
            uint32_t live = live_count(), what = test_below(&c.random, 10);
            if (what < 3 && m.ids + count < MOST) {
                add_some(&c, count);
            } else if (live > count) {
                if (what < 5)
                    remove_some(&c, count);
                else if (what == 5)
                    set_filters(&c, count);
                else if (what == 6)
                    move_all(&c);
                else
                    move_some(&c, count);
            }
            assert_valid(carom_broad_validate(c.broad));
            operations += count;
        }
        if (test_below(&c.random, 4) == 0) check_update(&c);
        if (test_below(&c.random, 8) != 0) check_frame(&c);
    }
    check_frame(&c);
    assert_ok(context, carom_broad_get_info(c.broad, info));
    assert_int_equal(info->live, live_count());
    assert_int_equal(info->ids, m.ids);
    carom_broad_destroy(c.broad);
    carom_pairs_free(&c.pairs);
    carom_pairs_free(&c.begun);
    carom_pairs_free(&c.ended);
    return operations;
}

static void random_operations_equal_brute_force(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    uint64_t operations = 0, wanted = campaign_is_long() ? 1000000 : 50000, seed = 0;
    uint64_t builds = 0, refits = 0, patches = 0;
    for (; operations < wanted; ++seed) {
        carom_broad_info info;
        /* The tree twice as often as the others. */
        static const carom_broad_method methods[] = {
            CAROM_BROAD_METHOD_TREE, CAROM_BROAD_METHOD_GRID, CAROM_BROAD_METHOD_TREE,
            CAROM_BROAD_METHOD_SWEEP};
        operations += one_course(context, methods[seed % 4], (broad_kind)(seed / 4 % BROAD_KINDS),
                                 seed, 24, &info);
        builds += info.builds;
        refits += info.refits;
        patches += info.patches;
    }
    assert_true(builds > seed && refits > seed / 4 && patches > seed); /* all ways were taken */
    carom_context_destroy(context);
}

/* Ids are given out again after a frame, not before, the most recently removed first. */
static void ids_are_stable(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_broad *broad;
    carom_random random = {1};
    uint32_t ids[4], gone[2] = {2, 0};
    carom_bounds boxes[4];
    broad_boxes(BROAD_ONE_POINT, &random, boxes, 4);
    assert_ok(context, carom_broad_create(context, NULL, &broad));
    assert_ok(context, carom_broad_add(context, broad, boxes, 4, ids));
    for (uint32_t i = 0; i < 4; ++i) assert_int_equal(ids[i], i);
    assert_ok(context, carom_broad_remove(context, broad, gone, 2));
    assert_ok(context, carom_broad_add(context, broad, boxes, 1, ids));
    assert_int_equal(ids[0], 4);
    assert_ok(context, carom_broad_step(context, broad, NULL, NULL, NULL));
    assert_ok(context, carom_broad_add(context, broad, boxes, 3, ids));
    assert_int_equal(ids[0], 0);
    assert_int_equal(ids[1], 2);
    assert_int_equal(ids[2], 5);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
}

/* The published boxes over many frames: every method, every way to update, one answer. */
static void frames_of_the_scene_agree(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    uint64_t count = campaign_is_long() ? 100000 : 3000;
    uint32_t frames = campaign_is_long() ? 100 : 40;
    for (int sizes = 0; sizes < SCENE_BOXES_COUNT; ++sizes) {
        scene_boxes scene;
        carom_broad *each[CAROM_BROAD_METHOD_COUNT];
        carom_pairs pairs = {0}, first = {0}, begun = {0}, ended = {0};
        assert_true(scene_boxes_make(count, (scene_boxes_sizes)sizes, SCENE_BOXES_SEED, &scene));
        for (int i = 0; i < CAROM_BROAD_METHOD_COUNT; ++i) {
            carom_broad_def def = {.boxes = scene.bounds, .box_count = count};
            def.method = (carom_broad_method)i;
            assert_ok(context, carom_broad_create(context, &def, &each[i]));
            assert_ok(context, carom_broad_step(context, each[i], NULL, NULL, NULL));
        }
        for (uint32_t frame = 0; frame < frames; ++frame) {
            uint64_t end = frame % 3 == 0 ? count / 10 : count, hash = 0;
            scene_boxes_move(&scene, 0, end);
            for (int i = 0; i < CAROM_BROAD_METHOD_COUNT; ++i) {
                assert_ok(context, carom_broad_move(context, each[i], NULL, scene.bounds, end));
                assert_ok(context, carom_broad_step(context, each[i], &pairs, &begun, &ended));
                uint64_t own =
                    test_hash(pairs.data, pairs.count * sizeof(*pairs.data), begun.count);
                own = test_hash(begun.data, begun.count * sizeof(*begun.data), own);
                own = test_hash(ended.data, ended.count * sizeof(*ended.data), own);
                assert_true(i == 0 || own == hash);
                hash = own;
            }
        }
        carom_broad_def def = {.boxes = scene.bounds, .box_count = count};
        carom_broad *anew;
        assert_ok(context, carom_broad_create(context, &def, &anew));
        assert_ok(context, carom_broad_pairs(context, anew, &first));
        assert_int_equal(first.count, pairs.count);
        assert_memory_equal(first.data, pairs.data, pairs.count * sizeof(*pairs.data));
        carom_broad_destroy(anew);
        for (int i = 0; i < CAROM_BROAD_METHOD_COUNT; ++i) carom_broad_destroy(each[i]);
        carom_pairs_free(&pairs);
        carom_pairs_free(&first);
        carom_pairs_free(&begun);
        carom_pairs_free(&ended);
        scene_boxes_free(&scene);
    }
    carom_context_destroy(context);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

typedef struct listener {
    uint64_t calls, cancel_at;
} listener;

static bool listen(void *user, const char *what, double fraction) {
    listener *l = user;
    assert_true(what[0] != 0 && fraction >= 0.0 && fraction <= 1.0);
    return ++l->calls == l->cancel_at;
}

/* Every call is cancelled at each call of the callback in turn; the next frame is right. */
static void calls_can_be_cancelled(void **state) {
    (void)state;
    static carom_bounds boxes[2][MOST];
    carom_random random = {12};
    listener l = {0};
    carom_context *context;
    carom_context_def context_def = {
        .threads = 1, .progress = listen, .progress_user = &l, .progress_interval = -1.0};
    assert_int_equal(carom_context_create(&context_def, &context), CAROM_OK);
    broad_boxes(BROAD_UNIFORM, &random, boxes[0], MOST);
    broad_boxes(BROAD_UNIFORM, &random, boxes[1], MOST);
    for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        carom_broad_def def = {.boxes = boxes[0], .box_count = MOST};
        carom_broad *broad = NULL;
        carom_pairs pairs = {0}, ended = {0};
        def.method = (carom_broad_method)method;
        uint64_t cancelled = 0;
        for (uint64_t at = 1; broad == NULL; ++at) {
            l = (listener){0, at};
            carom_status status = carom_broad_create(context, &def, &broad);
            assert_true(status == (broad == NULL ? CAROM_CANCELLED : CAROM_OK));
        }
        l.cancel_at = 0;
        assert_ok(context, carom_broad_step(context, broad, &pairs, NULL, NULL));
        m.last_count = broad_brute_force(boxes[0], NULL, NULL, MOST, m.last);
        m.now_count = broad_brute_force(boxes[1], NULL, NULL, MOST, m.now);
        assert_int_equal(pairs.count, m.last_count);
        assert_ok(context, carom_broad_move(context, broad, NULL, boxes[1], MOST));
        for (uint64_t at = 1;; ++at) {
            l = (listener){0, at};
            carom_status status = carom_broad_step(context, broad, &pairs, NULL, &ended);
            if (status == CAROM_OK) break;
            assert_int_equal(status, CAROM_CANCELLED);
            assert_valid(carom_broad_validate(broad));
            ++cancelled;
        }
        assert_true(cancelled >= 2);
        assert_int_equal(pairs.count, m.now_count);
        assert_memory_equal(pairs.data, m.now, m.now_count * sizeof(*m.now));
        assert_difference(m.last, m.last_count, m.now, m.now_count, &ended, "ended");
        carom_broad_destroy(broad);
        carom_pairs_free(&pairs);
        carom_pairs_free(&ended);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_equal_brute_force),
        cmocka_unit_test(ids_are_stable),
        cmocka_unit_test(frames_of_the_scene_agree),
        cmocka_unit_test(calls_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("broad_frames", tests, NULL, NULL);
}
