/* SPDX-License-Identifier: MIT */
/* What a query or a frame leaves for the next one changes the time, never the answer: caches of
 * convex pairs, hints of trees, frames of the broad phase and steps of scenes are filled in one
 * pose and used in another, from near to 1e15 sizes away and back, and compared with what knows
 * nothing. A million convex answers in the long form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convex/convex.h"
#include "tests/support/campaign.h"
#include "tests/support/convex_pairs.h"
#include "tests/support/scene.h"

SCENE_THINGS(1)

static double any(carom_random *random, double low, double high) {
    return carom_random_between(random, low, high);
}

/* Up to 10^digits times `size` away, in any direction and turned. */
static carom_pose away(carom_random *random, double size, double digits) {
    double far = size * pow(10.0, any(random, -1.0, digits));
    carom_pose pose = {.q = {carom_random_normal(random), carom_random_normal(random),
                             carom_random_normal(random), carom_random_normal(random)}};
    pose.t = (carom_vec3){far * any(random, -1.0, 1.0), far * any(random, -1.0, 1.0),
                          far * any(random, -1.0, 1.0)};
    return pose;
}

/* ---- convex caches --------------------------------------------------------------------------- */

static double signed_distance(const carom_convex_result *r) {
    return r->distance - r->depth;
}

static void fill(carom_random *random, const convex_case *c, const carom_pose *pose,
                 carom_convex_hint *cache) {
    const carom_convex_query_def def = {.hint = cache};
    carom_convex_result r;
    bool meet;
    uint64_t which = carom_random_next(random) % 3;
    if (which == 0)
        assert_ok(context, carom_convex_meet(context, &c->a.convex, &c->pose_a, &c->b.convex, pose,
                                             &def, &meet));
    else
        assert_ok(context, (which == 1 ? carom_convex_distance : carom_convex_depth)(
                               context, &c->a.convex, &c->pose_a, &c->b.convex, pose, &def, &r));
}

/* Warm and cold answers of all questions agree within their errors, and the warm one is proved by
 * the oracle as a cold one is. */
static void compare(const convex_case *c, const carom_convex_hint *filled) {
    const carom_convex *a = &c->a.convex, *b = &c->b.convex;
    carom_convex_hint cache = *filled;
    const carom_convex_query_def def = {.hint = &cache};
    carom_convex_result warm, cold, again;
    const char *why = "";
    bool meets[2];
    assert_ok(context, carom_convex_depth(context, a, &c->pose_a, b, &c->pose_b, &def, &warm));
    assert_ok(context, carom_convex_depth(context, a, &c->pose_a, b, &c->pose_b, NULL, &cold));
    cache = *filled;
    assert_ok(context, carom_convex_distance(context, a, &c->pose_a, b, &c->pose_b, &def, &again));
    cache = *filled;
    assert_ok(context, carom_convex_meet(context, a, &c->pose_a, b, &c->pose_b, &def, &meets[0]));
    assert_ok(context, carom_convex_meet(context, a, &c->pose_a, b, &c->pose_b, NULL, &meets[1]));
    double off = fabs(signed_distance(&warm) - signed_distance(&cold));
    double allowed = warm.error + cold.error;
    bool wrong = off > allowed;
    if (!wrong && again.distance > 0.0 && fabs(again.distance - cold.distance) > allowed)
        wrong = true, why = "the distance alone";
    /* Only shapes that are apart by about e may be said to meet or not. */
    double e = convex_tolerance(&c->a, &c->pose_a, &c->b, &c->pose_b);
    if (!wrong && meets[0] != meets[1] && fabs(signed_distance(&cold) - e) > allowed)
        wrong = true, why = "one meets, the other does not";
    if (!wrong) {
        oracle_shape oa = oracle_posed_shape(a, &c->a.view, &c->pose_a);
        oracle_shape ob = oracle_posed_shape(b, &c->b.view, &c->pose_b);
        double scale = oracle_scale(&oa, &ob);
        wrong = oracle_refute(&oa, &ob, &warm, &why) * scale > 1e-12 * scale + warm.error;
    }
    if (wrong)
        fail_msg("seed %llu, case %llu (%s, %s): warm %.17g, cold %.17g, errors %g: %s",
                 (unsigned long long)c->seed, (unsigned long long)c->number,
                 carom_convex_kind_name(a->kind), carom_convex_kind_name(b->kind),
                 signed_distance(&warm), signed_distance(&cold), allowed, why);
}

static void convex_caches_change_no_answer(void **state) {
    (void)state;
    enum { ROUNDS = 4 };
    uint64_t cases = campaign_is_long() ? 1000000 / ROUNDS : TEST_CASES(2500);
    for (uint64_t i = 0; i < cases; ++i) {
        if (!campaign_has(i)) continue;
        carom_random random = {i};
        carom_convex_hint cache = {0};
        convex_case c;
        convex_case_make(context, 31, i, &c);
        if (i % 3 == 1) convex_case_scale(context, &c, i % 2 == 0 ? -660 : 660); /* 1e-200, 1e200 */
        double size = convex_size(&c.a) + convex_size(&c.b);
        for (int round = 0; round < ROUNDS; ++round) {
            carom_pose far = away(&random, size, round == 0 ? 15.0 : any(&random, 0.0, 15.0));
            fill(&random, &c, &far, &cache);
            if (i % 3 != 1) {
                compare(&c, &cache);
            } else { /* beyond the oracle's range: against the cold answer alone */
                const carom_convex_query_def def = {.hint = &cache};
                carom_convex_result warm, cold;
                assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                      &c.pose_b, &def, &warm));
                assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                      &c.pose_b, NULL, &cold));
                assert_true(fabs(signed_distance(&warm) - signed_distance(&cold)) <=
                            warm.error + cold.error);
            }
        }
        convex_case_free(&c);
    }
}

/* Not even what no query wrote, or a query of other shapes. */
static void caches_of_anything_change_no_answer(void **state) {
    (void)state;
    carom_convex_hint other = {0};
    for (uint64_t i = 0; i < TEST_CASES(4000); ++i) {
        carom_random random = {i + 5};
        carom_convex_hint cache;
        convex_case c;
        convex_case_make(context, 32, i, &c);
        compare(&c, &other);
        memset(&cache, (int)(i % 256), sizeof(cache));
        compare(&c, &cache);
        carom_convex_learned learned = {.count = (uint32_t)(i % 6),
                                        .seed_a = (uint32_t)carom_random_next(&random),
                                        .seed_b = (uint32_t)(i % 50)};
        double *numbers = &learned.direction.x;
        for (int k = 0; k < 27; ++k)
            numbers[k] = ldexp(any(&random, -1.0, 1.0), k % 9 == 0 ? -400 : 0);
        carom_convex_write_hint(&learned, &cache);
        compare(&c, &cache);
        other = (carom_convex_hint){0};
        fill(&random, &c, &c.pose_b, &other);
        convex_case_free(&c);
    }
}

typedef struct user_box {
    carom_vec3 half;
} user_box;

static carom_vec3 user_box_support(void *user, const carom_vec3 *d) {
    const user_box *box = user;
    return (carom_vec3){d->x < 0.0 ? -box->half.x : box->half.x,
                        d->y < 0.0 ? -box->half.y : box->half.y,
                        d->z < 0.0 ? -box->half.z : box->half.z};
}

static void caches_of_user_functions_change_no_answer(void **state) {
    (void)state;
    user_box box = {{1.0, 0.5, 0.25}};
    carom_convex a = {.kind = CAROM_CONVEX_KIND_SUPPORT,
                      .support = user_box_support,
                      .support_user = &box,
                      .support_ball = {.radius = 1.2}};
    carom_convex b = {.kind = CAROM_CONVEX_KIND_CYLINDER, .radius = 0.5, .half_height = 1.0};
    carom_convex_hint cache = {0};
    const carom_convex_query_def def = {.hint = &cache};
    carom_random random = {8};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        carom_convex_result warm, cold;
        carom_pose pose = away(&random, 1.0, 12.0);
        assert_ok(context, carom_convex_depth(context, &a, NULL, &b, &pose, &def, &warm));
        pose = away(&random, 1.0, 0.5);
        assert_ok(context, carom_convex_depth(context, &a, NULL, &b, &pose, &def, &warm));
        assert_ok(context, carom_convex_depth(context, &a, NULL, &b, &pose, NULL, &cold));
        assert_true(fabs(signed_distance(&warm) - signed_distance(&cold)) <=
                    warm.error + cold.error);
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static carom_tree *make_tree(uint32_t mesh) {
    carom_mesh_view view;
    carom_packing *packing;
    carom_tree *tree;
    assert_ok(context, carom_mesh_get_view(things.meshes[mesh], &view));
    carom_packing_def pack = {.mesh = &view, .count = 100};
    assert_ok(context, carom_packing_create(context, &pack, &packing));
    carom_tree_def def = {.packing = packing, .mesh = &view};
    assert_ok(context, carom_tree_create(context, &def, &tree));
    carom_packing_destroy(packing);
    return tree;
}

static carom_tree_gap tree_gap(const carom_tree *a, const carom_tree *b, const carom_pose *pose,
                               carom_tree_hint *hint, bool exact) {
    carom_tree_query_def def = {.hint = hint, .exact_distance = exact};
    carom_tree_gap gap;
    assert_ok(context, carom_tree_distance(context, a, NULL, b, pose, &def, &gap));
    return gap;
}

static void tree_hints_change_no_answer(void **state) {
    (void)state;
    enum { TREES = 3 };
    carom_random random = {77};
    carom_tree *faces[TREES];
    carom_tree_hint hint = {0};
    for (uint32_t i = 0; i < TREES; ++i) faces[i] = make_tree(i);
    int64_t queries = campaign_is_long() ? 100000 : TEST_CASES(1500);
    for (int64_t n = 0; n < queries; ++n) {
        bool balls = n % 4 == 0;
        carom_tree **trees = balls ? things.trees : faces;
        const carom_tree *a = trees[n / 4 % TREES], *b = trees[n / 12 % TREES];
        carom_pose pose = away(&random, 1.0, any(&random, 0.0, 15.0));
        (void)tree_gap(a, b, &pose, &hint, n % 5 == 0);
        pose = away(&random, 1.0, 0.7);
        carom_tree_hint copy = hint;
        carom_tree_gap cold = tree_gap(a, b, &pose, NULL, true);
        carom_tree_gap exact = tree_gap(a, b, &pose, &copy, true);
        carom_tree_gap warm = tree_gap(a, b, &pose, &hint, false);
        assert_true(exact.distance.lower == cold.distance.lower &&
                    exact.distance.upper == cold.distance.upper &&
                    exact.distance.value == cold.distance.value);
        if (balls)
            assert_true(warm.distance.lower == cold.distance.lower &&
                        warm.distance.upper == cold.distance.upper);
        assert_true(warm.distance.lower <= cold.distance.upper &&
                    cold.distance.lower <= warm.distance.upper);
    }
    for (uint32_t i = 0; i < TREES; ++i) carom_tree_destroy(faces[i]);
}

/* ---- broad phase and scenes ------------------------------------------------------------------ */

enum { BOXES = 60, OBJECTS = 30 };

static void any_boxes(carom_random *random, double digits, carom_bounds *boxes) {
    for (int i = 0; i < BOXES; ++i) {
        carom_vec3 t = away(random, 3.0, digits).t;
        double half = any(random, 0.0, 1.0);
        boxes[i].low = (carom_vec3){t.x - half, t.y - half, t.z - half};
        boxes[i].high = (carom_vec3){t.x + half, t.y + half, t.z + half};
    }
}

static void broad_frames_change_no_answer(void **state) {
    (void)state;
    carom_random random = {4};
    int frames = campaign_is_long() ? 10000 : TEST_CASES(200);
    for (int method = 0; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        carom_bounds boxes[BOXES];
        carom_broad *broad;
        carom_pairs pairs = {0}, cold = {0};
        any_boxes(&random, 0.0, boxes);
        carom_broad_def def = {
            .boxes = boxes, .box_count = BOXES, .method = (carom_broad_method)method};
        assert_ok(context, carom_broad_create(context, &def, &broad));
        for (int frame = 0; frame < frames; ++frame) {
            carom_broad *anew;
            uint64_t moved = frame % 3 == 0 ? 5 : BOXES; /* few are searched alone */
            carom_bounds next[BOXES];
            any_boxes(&random, frame % 2 == 0 ? 15.0 : 0.0, next);
            memcpy(boxes, next, moved * sizeof(*boxes));
            assert_ok(context, carom_broad_move(context, broad, NULL, boxes, moved));
            assert_ok(context, carom_broad_step(context, broad, &pairs, NULL, NULL));
            assert_ok(context, carom_broad_create(context, &def, &anew));
            assert_ok(context, carom_broad_pairs(context, anew, &cold));
            assert_int_equal(pairs.count, cold.count);
            if (cold.count != 0)
                assert_memory_equal(pairs.data, cold.data, cold.count * sizeof(*cold.data));
            carom_broad_destroy(anew);
        }
        carom_pairs_free(&pairs);
        carom_pairs_free(&cold);
        carom_broad_destroy(broad);
    }
}

static void scene_steps_change_no_answer(void **state) {
    (void)state;
    carom_random random = {6};
    int steps = campaign_is_long() ? 5000 : TEST_CASES(60);
    carom_scene_object_def objects[OBJECTS];
    for (uint32_t i = 0; i < OBJECTS; ++i)
        objects[i] = scene_object(&things, &random, 2.5, false, i % 3 == 0 ? 15u : 1u);
    carom_scene *scene = scene_make(context, objects, OBJECTS, 0.125);
    carom_scene_contacts contacts = {0}, cold = {0};
    for (int step = 0; step < steps; ++step) {
        for (uint32_t i = 0; i < OBJECTS; ++i) {
            if (carom_random_next(&random) % 3 == 0) continue; /* stays */
            objects[i].pose = step % 2 == 0 ? away(&random, 1.0, any(&random, 0.0, 12.0))
                                            : scene_pose(&random, 2.5, i % 2 == 0);
            assert_ok(context, carom_scene_move(context, scene, &i, &objects[i].pose, 1));
        }
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        carom_scene *anew = scene_make(context, objects, OBJECTS, 0.125);
        assert_ok(context, carom_scene_step(context, anew, &cold, NULL, NULL));
        assert_int_equal(contacts.count, cold.count);
        if (cold.count != 0)
            assert_memory_equal(contacts.data, cold.data, cold.count * sizeof(*cold.data));
        carom_scene_destroy(anew);
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_contacts_free(&cold);
    carom_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_caches_change_no_answer),
        cmocka_unit_test(caches_of_anything_change_no_answer),
        cmocka_unit_test(caches_of_user_functions_change_no_answer),
        cmocka_unit_test(tree_hints_change_no_answer),
        cmocka_unit_test(broad_frames_change_no_answer),
        cmocka_unit_test(scene_steps_change_no_answer),
    };
    return cmocka_run_group_tests_name("hints", tests, set_up, tear_down);
}
