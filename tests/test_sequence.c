/* SPDX-License-Identifier: MIT */
/* The frames of deforming and breaking soups: as many triangles as requested, the same bytes
 * everywhere, in any order. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/sequence.h"
#include "tests/support/test.h"

#define FRAMES 30u /* of the small sequences: shards fly from frame 20 or 25 on */

static float (*make_positions(const scene_sequence *s))[3] {
    float(*positions)[3] = malloc(s->vertex_count * sizeof(*positions));
    assert_non_null(positions);
    return positions;
}

static carom_mesh_view view_of(const scene_sequence *s, float (*positions)[3]) {
    return (carom_mesh_view){.positions = positions,
                             .vertex_count = s->vertex_count,
                             .scalar = CAROM_SCALAR_FLOAT32,
                             .corners = s->corners[0],
                             .face_count = s->triangle_count};
}

static void assert_finite(const scene_sequence *s, float (*positions)[3]) {
    for (uint64_t v = 0; v < s->vertex_count; ++v)
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(positions[v][k]) < 100.0f))
                fail_msg("%s: vertex %llu is at %g", scene_kind_name(s->kind),
                         (unsigned long long)v, (double)positions[v][k]);
}

static void frames_have_their_bytes(void **state) {
    (void)state;
    for (int kind = 0; kind < SCENE_KIND_COUNT; ++kind) {
        scene_sequence s, second;
        const scene_sequence *again = TEST_FEW_CASES ? &s : &second; /* it is simulated: seconds */
        assert_true(scene_sequence_make((scene_kind)kind, SCENE_LEAST_TRIANGLES + 777, FRAMES, &s));
        if (again == &second)
            assert_true(scene_sequence_make((scene_kind)kind, SCENE_LEAST_TRIANGLES + 777, FRAMES,
                                            &second));
        assert_int_equal(s.triangle_count, SCENE_LEAST_TRIANGLES + 777);
        assert_memory_equal(s.corners, again->corners, s.triangle_count * sizeof(*s.corners));
        float(*a)[3] = make_positions(&s), (*b)[3] = make_positions(again);
        uint64_t hash = test_hash_numbers(s.corners, s.triangle_count * sizeof(*s.corners), "4", 0);
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            scene_sequence_frame(&s, frame, a);
            scene_sequence_frame(again, FRAMES - 1 - frame, b); /* from the last to the first */
            scene_sequence_frame(again, frame, b);
            assert_finite(&s, a);
            assert_memory_equal(a, b, s.vertex_count * sizeof(*a));
            if (frame % 10 == 9)
                hash = test_hash_numbers(a, s.vertex_count * sizeof(*a), "4", hash);
        }
        test_golden("sequence.txt", scene_kind_name((scene_kind)kind), hash);
        free(a);
        free(b);
        scene_sequence_free(&s);
        if (again == &second) scene_sequence_free(&second);
    }
}

/* The rows of Table 1. */
static void sequences_have_as_many_triangles_as_requested(void **state) {
    (void)state;
    static const struct {
        scene_kind kind;
        uint64_t triangles;
    } rows[] = {{SCENE_EXPLODING, 252000}, {SCENE_WHIRLING, 92000},  {SCENE_BODIES, 146000},
                {SCENE_FUNNEL, 18000},     {SCENE_CHAIR, 40000},     {SCENE_CHAIR, 90000},
                {SCENE_CHAIR, 130000},     {SCENE_BREAKING, 38000},  {SCENE_BREAKING, 68000},
                {SCENE_BREAKING, 100000},  {SCENE_BREAKING, 120000}, {SCENE_DRAPED, 20000},
                {SCENE_DRAPED, 40000},     {SCENE_DRAPED, 90000},    {SCENE_DRAPED, 200000},
                {SCENE_DRAPED, 250000}};
    carom_context *context = test_context(1);
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(rows)); ++i) {
        scene_sequence s;
        assert_true(scene_sequence_make(rows[i].kind, rows[i].triangles, 2, &s));
        assert_int_equal(s.triangle_count, rows[i].triangles);
        float(*positions)[3] = make_positions(&s);
        scene_sequence_frame(&s, 1, positions);
        assert_finite(&s, positions);
        carom_soup *soup;
        carom_soup_info info;
        assert_ok(context,
                  carom_soup_create(
                      context,
                      &(carom_soup_def){.mesh = (carom_mesh_view[]){view_of(&s, positions)}},
                      &soup));
        assert_ok(context, carom_soup_get_info(soup, &info));
        assert_int_equal(info.degenerate_faces, 0);
        carom_soup_destroy(soup);
        free(positions);
        scene_sequence_free(&s);
    }
    carom_context_destroy(context);
}

static void any_number_is_possible(void **state) {
    (void)state;
    for (int kind = 0; kind < SCENE_KIND_COUNT; ++kind)
        for (uint64_t more = 0; more < TEST_CASES(8); ++more) {
            scene_sequence s;
            uint64_t triangles = SCENE_LEAST_TRIANGLES + 1009 * more;
            assert_true(scene_sequence_make((scene_kind)kind, triangles, 1, &s));
            assert_int_equal(s.triangle_count, triangles);
            for (uint64_t t = 0; t < triangles; ++t) {
                const uint32_t *c = s.corners[t];
                assert_true(c[0] < s.vertex_count && c[1] < s.vertex_count &&
                            c[2] < s.vertex_count);
                assert_true(c[0] != c[1] && c[1] != c[2] && c[2] != c[0]);
            }
            scene_sequence_free(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_their_bytes),
        cmocka_unit_test(sequences_have_as_many_triangles_as_requested),
        cmocka_unit_test(any_number_is_possible)};
    return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}
