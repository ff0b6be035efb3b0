/* SPDX-License-Identifier: MIT */
/* carom info, make and convert, as a user runs them. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cli_run.h"

static void every_shape_goes_through_every_format(void **state) {
    (void)state;
    static const char *const formats[] = {"obj", "ply", "stl", "off"};
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape) {
        const char *name = carom_shape_name((carom_shape)shape);
        bool sheet = shape == CAROM_SHAPE_CLOTH || shape == CAROM_SHAPE_GRID;
        const char *format = formats[shape % 4], *other = formats[(shape + 1) % 4];
        char line[256];
        snprintf(line, sizeof(line), "make %s -o %s.%s --float32%s", name, name, format,
                 shape % 2 == 0 ? " --polygons" : "");
        if (carom(line) != 0) fail_msg("%s: %s", line, said);
        snprintf(line, sizeof(line), "convert %s.%s again.%s --weld", name, format, other);
        if (carom(line) != 0) fail_msg("%s: %s", line, said);
        snprintf(line, sizeof(line), "info %s.%s again.%s --json", name, format, other);
        if (carom(line) != 0) fail_msg("%s: %s", line, said);
        assert_said("\"meshes\": [{");
        assert_said(sheet ? "\"closed\": false" : "\"closed\": true");
        assert_true((strstr(said, sheet ? "\"closed\": true" : "\"closed\": false")) == NULL);
        assert_said("\"degenerate\": 0");
    }
}

static void info_tells_all_in_json_and_in_words(void **state) {
    (void)state;
    assert_int_equal(carom("make box --polygons -o box.obj --size 2"), 0);
    assert_said("a box of 8 vertices and 6 faces");
    assert_int_equal(carom("info box.obj --json --k"), 0);
    static const char *const keys[] = {"\"vertices\": 8",    "\"faces\": 6",
                                       "\"triangles\": 12",  "\"closed\": true",
                                       "\"volume\": 64",     "\"area\": 96",
                                       "\"degenerate\": 0",  "\"k\": 5",
                                       "\"height\": 0",      "\"open_edges\": 0",
                                       "\"shells\": 1",      "\"nonmanifold_edges\": 0",
                                       "\"duplicates\": 0",  "\"low\": [-2, -2, -2]",
                                       "\"high\": [2, 2, 2]"};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) assert_said(keys[i]);
    assert_int_equal(carom("info box.obj"), 0);
    static const char *const words[] = {"vertices", "faces",        "degenerate", "duplicate",
                                        "open",     "non-manifold", "shells",     "closed"};
    for (size_t i = 0; i < COUNT_OF(words); ++i) assert_said(words[i]);
    assert_int_equal(carom("make sphere -o ball.stl"), 0);
    assert_int_equal(carom("info --no-weld ball.stl"), 0);
    assert_said("no, there are open edges");
    assert_int_equal(carom("info ball.stl --json --no-weld"), 0);
    assert_said("\"vertices\": 3840");
    assert_said("\"volume\": null");
}

static void triangulating_by_form_and_as_fans(void **state) {
    (void)state;
    assert_int_equal(carom("make chazelle --detail 5 --polygons -o c.off"), 0);
    assert_int_equal(carom("convert c.off by_form.off --triangulate"), 0);
#ifdef CAROM_HAVE_ZLIB
    assert_int_equal(carom("convert c.off fan.ply.gz --fan"), 0);
    assert_int_equal(carom("info c.off by_form.off fan.ply.gz --json"), 0);
#else
    assert_int_equal(carom("convert c.off fan.ply --fan"), 0);
    assert_int_equal(carom("info c.off by_form.off fan.ply --json"), 0);
#endif
    const char *at = strstr(said, "\"volume\": ");
    assert_non_null(at);
    char volume[64];
    snprintf(volume, sizeof(volume), "%.*s", (int)strcspn(at, ","), at);
    for (int i = 0; i < 3; ++i) { /* the same solid three times */
        at = strstr(at, volume);
        assert_non_null(at);
        ++at;
    }
    assert_said("\"faces\": 132");
    assert_int_equal(carom("convert c.off x.off --fan --triangulate"), 2);
    assert_said("choose one");
}

static void mistakes_are_answered_in_words(void **state) {
    (void)state;
    assert_int_equal(carom("make toros -o x.ply"), 2);
    assert_said("did you mean torus?");
    assert_int_equal(carom("make torus"), 2);
    assert_said("-o FILE is missing");
    assert_int_equal(carom("make torus -o x.off --size 0"), 2);
    assert_said("--size takes a number above 0, not '0'");
    assert_int_equal(carom("make torus -o x.off --ratio -1"), 2);
    assert_said("--ratio takes a number above 0, not '-1'");
    assert_int_equal(carom("make torus -o x.ply --detail 2"), 3);
    assert_said("at least 3");
    assert_int_equal(carom("make grid -o x.ply --detail 70k"), 3);
    assert_said("numbered");
    assert_int_equal(carom("make torus -o no/such/folder/x.ply"), 3);
    assert_int_equal(carom("make torus -o x.nonsense"), 2);
    assert_said("x.nonsense: end the name in .obj, .ply");
    assert_int_equal(carom("convert nothing.ply x.dae"), 2); /* said before anything is read */
    assert_said("x.dae");
    assert_int_equal(carom("make box -o b.off"), 0);
    assert_int_equal(carom("info nothing.ply b.off"), 3);
    assert_said("b.off: off");
    assert_int_equal(carom("info nothing.ply"), 3);
    assert_said("nothing.ply");
    assert_int_equal(carom("info nothing.ply --json"), 3);
    assert_said("\"error\": ");
    assert_int_equal(carom("info"), 2);
    assert_int_equal(carom("convert nothing.ply out.ply"), 3);
    assert_int_equal(carom("make --help"), 0);
    assert_said("chazelle");
}

/* Times are what may differ; they come last. */
static void cut_times(char *text) {
    char *times = strstr(text, "\"prepare_s\"");
    assert_non_null(times);
    *times = '\0';
}

static void any_number_of_threads_says_the_same(void **state) {
    (void)state;
    static char first[SAID_SIZE];
    assert_int_equal(carom("make cloth --detail 120 -o cloth.ply"), 0);
    assert_int_equal(carom("info cloth.ply --json --threads 1"), 0);
    cut_times(said);
    memcpy(first, said, SAID_SIZE);
    assert_int_equal(carom("info cloth.ply --json --threads 8"), 0);
    cut_times(said);
    assert_string_equal(first, said);
    test_memory memory = {0}; /* linked for its count of allocations */
    assert_non_null(test_allocator(&memory).allocate);
}

int main(void) {
    if (!cli_run_begin("cli_mesh")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_goes_through_every_format),
        cmocka_unit_test(info_tells_all_in_json_and_in_words),
        cmocka_unit_test(triangulating_by_form_and_as_fans),
        cmocka_unit_test(mistakes_are_answered_in_words),
        cmocka_unit_test(any_number_of_threads_says_the_same),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_mesh", tests, NULL, NULL));
}
