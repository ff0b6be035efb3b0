/* SPDX-License-Identifier: MIT */
/* Scenes from step to step: after any operations the contacts are, byte for byte, those of a scene
 * made anew, what began and ended is the difference to the last step, and a failed step loses
 * nothing. A million operations in the long form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/support/campaign.h"
#include "tests/support/scene.h"

#define MOST 160u

static scene_things things;

/* What the scene should hold. */
typedef struct course {
    carom_context *context;
    carom_random random;
    carom_scene *scene;
    double reach, room;
    bool lattice, skip_depth;
    uint32_t kinds;
    carom_scene_object_def objects[MOST];
    bool live[MOST];
    bool ignored[MOST][MOST]; /* a < b */
    uint32_t ids;
    carom_scene_contacts contacts;
    carom_pairs begun, ended;
    bool was[MOST][MOST], is[MOST][MOST]; /* in contact */
} course;

static uint32_t below(course *c, uint32_t bound) {
    return (uint32_t)(carom_random_next(&c->random) % bound);
}

static bool some_live(course *c, uint32_t *id) {
    for (int tries = 0; tries < 100 && c->ids != 0; ++tries) {
        *id = below(c, c->ids);
        if (c->live[*id]) return true;
    }
    return false;
}

static void add_some(course *c) {
    carom_scene_object_def defs[8];
    uint32_t ids[8], count = 1 + below(c, 8);
    if (c->ids + count > MOST) return;
    for (uint32_t i = 0; i < count; ++i) {
        defs[i] = scene_object(&things, &c->random, c->room, c->lattice, c->kinds);
        if (below(c, 4) == 0) defs[i].filter = (carom_broad_filter){1u << below(c, 2), below(c, 4)};
    }
    assert_ok(c->context, carom_scene_add(c->context, c->scene, defs, count, ids));
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(ids[i] < MOST && !c->live[ids[i]]);
        if (ids[i] >= c->ids) c->ids = ids[i] + 1;
        c->objects[ids[i]] = defs[i];
        c->live[ids[i]] = true;
    }
}

static void move_some(course *c) {
    uint32_t ids[8], count = 1 + below(c, 8);
    carom_pose poses[8];
    for (uint32_t i = 0; i < count; ++i) {
        if (!some_live(c, &ids[i])) return;
        poses[i] = scene_pose(&c->random, c->room, c->lattice);
        if (below(c, 2) == 0) { /* a little */
            poses[i] = c->objects[ids[i]].pose;
            poses[i].t.x += carom_random_between(&c->random, -0.05, 0.05);
        }
    }
    assert_ok(c->context, carom_scene_move(c->context, c->scene, ids, poses, count));
    for (uint32_t i = 0; i < count; ++i) c->objects[ids[i]].pose = poses[i];
}

static void remove_one(course *c) {
    uint32_t id;
    if (!some_live(c, &id)) return;
    assert_ok(c->context, carom_scene_remove(c->context, c->scene, &id, 1));
    c->live[id] = false;
    for (uint32_t k = 0; k < MOST; ++k) c->ignored[id][k] = c->ignored[k][id] = false;
}

static void change_filter(course *c) {
    uint32_t id;
    carom_broad_filter filter = {1u << below(c, 2), below(c, 4)};
    if (!some_live(c, &id)) return;
    assert_ok(c->context, carom_scene_set_filters(c->context, c->scene, &id, &filter, 1));
    c->objects[id].filter = filter;
}

static void change_ignored(course *c) {
    carom_pair pair;
    bool ignored = below(c, 3) != 0;
    if (!some_live(c, &pair.a) || !some_live(c, &pair.b) || pair.a == pair.b) return;
    assert_ok(c->context, carom_scene_set_ignored(c->context, c->scene, &pair, 1, ignored));
    c->ignored[pair.a < pair.b ? pair.a : pair.b][pair.a < pair.b ? pair.b : pair.a] = ignored;
}

/* Compares with a scene made anew, whose ids are those of the live objects in their order. */
static void check(course *c, carom_context *other) {
    carom_scene *anew;
    carom_scene_def def = {.reach = c->reach, .skip_depth = c->skip_depth};
    uint32_t to_id[MOST], from_id[MOST], count = 0;
    carom_scene_contacts contacts = {0};
    assert_valid(carom_scene_validate(c->scene));
    assert_ok(other, carom_scene_create(other, &def, &anew));
    for (uint32_t id = 0; id < c->ids; ++id) {
        if (!c->live[id]) continue;
        assert_ok(other, carom_scene_add(other, anew, &c->objects[id], 1, &to_id[count]));
        from_id[id] = count;
        to_id[count++] = id;
    }
    for (uint32_t a = 0; a < c->ids; ++a)
        for (uint32_t b = a + 1; b < c->ids; ++b) {
            if (!c->ignored[a][b]) continue;
            carom_pair pair = {from_id[b], from_id[a]};
            assert_ok(other, carom_scene_set_ignored(other, anew, &pair, 1, true));
        }
    assert_ok(other, carom_scene_step(other, anew, &contacts, NULL, NULL));
    memcpy(c->was, c->is, sizeof(c->is));
    memset(c->is, 0, sizeof(c->is));
    assert_int_equal(contacts.count, c->contacts.count);
    for (uint64_t i = 0; i < contacts.count; ++i) {
        carom_scene_contact *contact = &contacts.data[i];
        contact->a = to_id[contact->a];
        contact->b = to_id[contact->b];
        c->is[contact->a][contact->b] = true;
        assert_memory_equal(contact, &c->contacts.data[i], sizeof(*contact));
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(anew);
}

/* What began and ended, where no id was given to another object in between. */
static void check_changes(const course *c, const bool *reused) {
    uint64_t begun = 0, ended = 0;
    for (uint32_t a = 0; a < MOST; ++a)
        for (uint32_t b = a + 1; b < MOST; ++b) {
            bool again = reused[a] || reused[b];
            if (c->is[a][b] && (!c->was[a][b] || again)) {
                assert_true(begun < c->begun.count && c->begun.data[begun].a == a &&
                            c->begun.data[begun].b == b);
                ++begun;
            }
            if (c->was[a][b] && (!c->is[a][b] || again)) {
                assert_true(ended < c->ended.count && c->ended.data[ended].a == a &&
                            c->ended.data[ended].b == b);
                ++ended;
            }
        }
    assert_int_equal(begun, c->begun.count);
    assert_int_equal(ended, c->ended.count);
}

static course *begin(uint64_t number, carom_context *context) {
    course *c = calloc(1, sizeof(*c));
    assert_non_null(c);
    c->context = context;
    c->random.state = number;
    c->lattice = number % 2 == 0;
    c->reach = number % 3 == 0 ? 0.25 : 0.0;
    c->room = number % 4 < 2 ? 4.0 : 2.5;
    uint64_t meshes = campaign_is_long() ? 25 : 5; /* each has some hundred times the work */
    c->kinds = number % meshes != 0 ? 1u : number % (2 * meshes) == 0 ? 15u : 7u;
    c->skip_depth = campaign_is_long() && number % 3 == 1;
    carom_scene_def def = {.reach = c->reach, .skip_depth = c->skip_depth};
    assert_ok(context, carom_scene_create(context, &def, &c->scene));
    return c;
}

static void end(course *c) {
    carom_scene_contacts_free(&c->contacts);
    carom_pairs_free(&c->begun);
    carom_pairs_free(&c->ended);
    carom_scene_destroy(c->scene);
    free(c);
}

static void run(uint64_t number, uint32_t steps, carom_context *context, carom_context *other) {
    static const bool none[MOST] = {false};
    course *c = begin(number, context);
    for (uint32_t step = 0; step < steps; ++step) {
        uint32_t operations = 1 + below(c, 6);
        for (uint32_t i = 0; i < operations; ++i) {
            uint32_t what = below(c, 16);
            if (what < 3 || step == 0)
                add_some(c);
            else if (what < 11)
                move_some(c);
            else if (what < 14)
                remove_one(c);
            else if (what == 14)
                change_filter(c);
            else
                change_ignored(c);
        }
        assert_ok(context, carom_scene_step(context, c->scene, &c->contacts, &c->begun, &c->ended));
        check(c, other);
        check_changes(c, none);
    }
    end(c);
}

/* With three threads, against scenes made with one. Each course has some 1,100 operations. */
static void any_history_gives_the_contacts_of_a_new_scene(void **state) {
    (void)state;
    carom_context *context = test_context(3), *other = test_context(1);
    uint64_t courses = campaign_is_long() ? 910 : TEST_CASES(10);
    for (uint64_t i = 0; i < courses; ++i)
        if (campaign_has(i)) run(i, campaign_is_long() ? 320 : 40, context, other);
    carom_context_destroy(context);
    carom_context_destroy(other);
}

/* Steps that test nothing: nothing moved, or things that are far apart. */
static void only_what_moved_is_tested(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    course *c = begin(1, context);
    carom_scene_info info;
    carom_work work;
    for (int i = 0; i < 10; ++i) add_some(c);
    assert_ok(context, carom_scene_step(context, c->scene, &c->contacts, NULL, NULL));
    assert_ok(context, carom_scene_get_info(c->scene, &info));
    assert_true(info.asked != 0 && info.contacts == c->contacts.count);
    assert_ok(context, carom_scene_step(context, c->scene, &c->contacts, &c->begun, &c->ended));
    assert_ok(context, carom_scene_get_info(c->scene, &info));
    assert_ok(context, carom_context_get_work(context, &work));
    assert_true(info.asked == 0 && work.candidates == 0);
    assert_true(info.contacts == c->contacts.count && c->begun.count == 0 && c->ended.count == 0);
    /* One object moves a little: at most its pairs are tested. */
    uint32_t id = c->contacts.data[0].a, own = 0;
    carom_pose pose = c->objects[id].pose;
    pose.t.x += 1e-3;
    assert_ok(context, carom_scene_move(context, c->scene, &id, &pose, 1));
    assert_ok(context, carom_scene_step(context, c->scene, &c->contacts, NULL, NULL));
    for (uint64_t i = 0; i < c->scene->kept.count; ++i)
        own += c->scene->kept.data[i].a == id || c->scene->kept.data[i].b == id ? 1 : 0;
    assert_ok(context, carom_scene_get_info(c->scene, &info));
    assert_true(info.asked != 0 && info.asked <= own);
    end(c);
    carom_context_destroy(context);
}

/* ---- Failures -------------------------------------------------------------------------------- */

typedef struct stopper {
    uint32_t calls, at;
} stopper;

static bool stop(void *user, const char *what, double fraction) {
    stopper *s = user;
    (void)what;
    (void)fraction;
    return ++s->calls == s->at;
}

/* Every step is cancelled at many calls, and then done: the contacts and what began and
 * ended are as if nothing had happened, also when an id is used again in between. */
static void cancelled_steps_lose_nothing(void **state) {
    (void)state;
    stopper s = {0, 0};
    carom_context_def def = {
        .threads = 1, .progress = stop, .progress_user = &s, .progress_interval = -1.0};
    carom_context *context, *other = test_context(1);
    assert_ok(NULL, carom_context_create(&def, &context));
    course *c = begin(5, context);
    uint32_t cancelled = 0, steps = TEST_CASES(12);
    for (uint32_t step = 0; step < steps; ++step) {
        bool reused[MOST] = {false};
        for (int i = 0; i < 3; ++i) add_some(c);
        move_some(c);
        remove_one(c);
        for (uint32_t at = 1;; at += 1 + at / 2) { /* where it could be cancelled, ever fewer */
            bool before[MOST];
            memcpy(before, c->live, sizeof(before));
            s = (stopper){0, at};
            carom_status status =
                carom_scene_step(context, c->scene, &c->contacts, &c->begun, &c->ended);
            s.at = 0;
            assert_valid(carom_scene_validate(c->scene));
            if (status == CAROM_OK) break;
            assert_int_equal(status, CAROM_CANCELLED);
            ++cancelled;
            if (at % 2 == 0) add_some(c); /* may take the id of the removed one */
            for (uint32_t id = 0; id < MOST; ++id)
                if (c->live[id] && !before[id]) reused[id] = true;
        }
        check(c, other);
        check_changes(c, reused);
    }
    assert_true(cancelled >= steps); /* each at least once */
    end(c);
    carom_context_destroy(context);
    carom_context_destroy(other);
}

/* A caller's buffer gets what fits; the step is complete. */
static void small_buffers_are_filled(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    course *c = begin(1, context), *d = begin(1, context);
    carom_scene_contact buffer[3];
    carom_scene_contacts few = {.data = buffer, .capacity = 3, .owner = CAROM_OWNER_CALLER};
    for (int i = 0; i < 12; ++i) {
        add_some(c);
        add_some(d);
    }
    assert_ok(context, carom_scene_step(context, c->scene, &c->contacts, NULL, NULL));
    assert_int_equal(carom_scene_step(context, d->scene, &few, &d->begun, NULL), CAROM_MORE);
    assert_true(few.count == c->contacts.count && few.count > 3);
    assert_memory_equal(buffer, c->contacts.data, sizeof(buffer));
    assert_int_equal(d->begun.count, few.count);
    assert_ok(context, carom_scene_step(context, d->scene, &d->contacts, &d->begun, NULL));
    assert_int_equal(d->begun.count, 0);
    assert_int_equal(d->contacts.count, c->contacts.count);
    end(c);
    end(d);
    carom_context_destroy(context);
}

static int set_up(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    scene_things_make(context, &things);
    carom_context_destroy(context);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scene_things_free(&things);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_history_gives_the_contacts_of_a_new_scene),
        cmocka_unit_test(only_what_moved_is_tested),
        cmocka_unit_test(cancelled_steps_lose_nothing),
        cmocka_unit_test(small_buffers_are_filled),
    };
    return cmocka_run_group_tests_name("scene_steps", tests, set_up, tear_down);
}
