/* SPDX-License-Identifier: MIT */
/* Real models: the pairs of every mesh and every frame of the shared set agree with its truth. Most
 * of the time goes into reading files; frames beyond every eighth wait for CAROM_LONG=1.
 * One thread. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"

static carom_pairs pairs;

/* Pairs by number of common vertices, and degenerate faces. */
typedef struct counts {
    unsigned long long total, degenerate, share[4];
} counts;

static int common_vertices(const uint32_t *a, const uint32_t *b) {
    int count = 0;
    for (int i = 0; i < 3; ++i) count += a[i] == b[0] || a[i] == b[1] || a[i] == b[2];
    return count;
}

static counts counts_of(const carom_mesh_view *view) {
    counts t = {.total = pairs.count};
    for (uint64_t i = 0; i < pairs.count; ++i) {
        carom_pair p = pairs.data[i];
        if (p.a == p.b)
            ++t.degenerate;
        else
            ++t.share[common_vertices(view->corners + 3 * (uint64_t)p.a,
                                      view->corners + 3 * (uint64_t)p.b)];
    }
    return t;
}

static void assert_counts(const char *name, const carom_mesh_view *view, const counts *truth) {
    counts found = counts_of(view);
    if (memcmp(&found, truth, sizeof(found)) != 0)
        fail_msg("%s: %llu pairs, %llu degenerate, %llu %llu %llu %llu by common vertices; the "
                 "truth is %llu, %llu, %llu %llu %llu %llu",
                 name, found.total, found.degenerate, found.share[0], found.share[1],
                 found.share[2], found.share[3], truth->total, truth->degenerate, truth->share[0],
                 truth->share[1], truth->share[2], truth->share[3]);
}

static FILE *open_truth(const char *name) {
    char path[1024];
    const char *shared = test_shared_folder();
    if (shared == NULL) return NULL;
    snprintf(path, sizeof(path), "%s/models/truth/%s", shared, name);
    return fopen(path, "r");
}

/* ---- every model ----------------------------------------------------------------------------- */

/* The full list where there is one: "soups/teapot.obj" has truth/pairs/open_soups_teapot.obj.pairs
 * .gz. Returns whether there is. */
static bool compare_list(const char *file) {
    char name[600];
    snprintf(name, sizeof(name), "truth/pairs/open_%s", file);
    size_t length = strlen(name);
    if (strcmp(name + length - 3, ".gz") == 0) length -= 3;
    for (char *c = name + strlen("truth/pairs/"); *c != '\0'; ++c)
        if (*c == '/') *c = '_';
    snprintf(name + length, sizeof(name) - length, ".pairs.gz");
    FILE *in = models_open_gzip(name);
    if (in == NULL) return false;
    char line[256];
    uint64_t at = 0;
    while (fgets(line, sizeof(line), in) != NULL) {
        unsigned a, b;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%u %u", &a, &b), 2);
        if (at >= pairs.count || pairs.data[at].a != a || pairs.data[at].b != b)
            fail_msg("%s: pair %" PRIu64 " should be (%u, %u)", file, at, a, b);
        ++at;
    }
    assert_int_equal(pclose(in), 0);
    assert_int_equal(at, pairs.count);
    return true;
}

static void every_model_has_its_true_pairs(void **state) {
    (void)state;
    char line[1024];
    FILE *in = open_truth("self_intersections.csv");
    if (in == NULL) skip();
    carom_context *context = test_context(1);
    int models = 0, lists = 0;
    double seconds = 0.0;
    while (fgets(line, sizeof(line), in) != NULL) {
        char file[256];
        counts truth;
        unsigned long long vertices, triangles;
        if (sscanf(line, "\"%255[^\"]\",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu", file, &vertices,
                   &triangles, &truth.total, &truth.degenerate, &truth.share[3], &truth.share[2],
                   &truth.share[1], &truth.share[0]) != 9)
            continue;
        carom_mesh *mesh = models_load_fan(context, file);
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view};
        carom_soup *soup;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_int_equal(view.face_count, triangles);
        double start = carom_time_seconds();
        assert_ok(context, carom_soup_create(context, &def, &soup));
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        seconds += carom_time_seconds() - start;
        assert_counts(file, &view, &truth);
        lists += compare_list(file) ? 1 : 0;
        ++models;
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
    }
    fclose(in);
    print_message("%d models, %d full lists, %.2f s for all pairs\n", models, lists, seconds);
    assert_true(models >= 859 && lists >= 22);
    carom_context_destroy(context);
}

/* ---- frames ---------------------------------------------------------------------------------- */

typedef struct sequence {
    const char *name;
    int frames;
} sequence;

static const sequence sequences[] = {{"cactus_deform", 403}, {"cat_poses", 10}, {"kick", 31}};

/* The same soup all along: vertices that coincide in one frame coincide in all. */
static void check_sequence(carom_context *context, const sequence *s, const counts *truths) {
    char file[256];
    carom_mesh_view mesh_view = {0};
    carom_soup_def def = {.mesh = &mesh_view};
    carom_soup *soup;
    bool all = campaign_is_long();
    snprintf(file, sizeof(file), "sequences/%s/frame0.ply", s->name);
    carom_mesh *first = models_load_fan(context, file);
    assert_ok(context, carom_mesh_get_view(first, &mesh_view));
    assert_ok(context, carom_soup_create(context, &def, &soup));
    snprintf(file, sizeof(file), "sequences/%s/frames.f32.gz", s->name);
    FILE *in = models_open_gzip(file);
    assert_non_null(in);
    carom_mesh_view frame = mesh_view;
    uint64_t size = mesh_view.vertex_count * 3 * sizeof(float);
    float *positions = malloc(size);
    assert_non_null(positions);
    frame.positions = positions;
    frame.scalar = CAROM_SCALAR_FLOAT32;
    for (int i = 0; i < s->frames; ++i) {
        char name[64];
        carom_mesh *welded;
        carom_mesh_view view;
        assert_int_equal(fread(positions, 1, size, in), size);
        if (i % (8 * CAROM_TEST_SHARE) != 0 && !all) continue;
        assert_ok(context, carom_mesh_weld(context, &frame, &welded));
        assert_ok(context, carom_mesh_get_view(welded, &view));
        assert_int_equal(view.vertex_count, frame.vertex_count);
        carom_mesh_destroy(welded);
        assert_ok(context, carom_soup_update(context, soup, &frame));
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        snprintf(name, sizeof(name), "%s, frame %d", s->name, i);
        assert_counts(name, &mesh_view, &truths[i]);
    }
    if (all) assert_int_equal(fgetc(in), EOF);
    (void)pclose(in);
    free(positions);
    carom_soup_destroy(soup);
    carom_mesh_destroy(first);
}

static void every_frame_has_its_true_pairs(void **state) {
    (void)state;
    static counts truths[3][512];
    char line[256];
    int read = 0;
    FILE *in = open_truth("sequence_self_intersections.csv");
    if (in == NULL) skip();
    while (fgets(line, sizeof(line), in) != NULL) {
        char name[64];
        int frame;
        counts t;
        if (sscanf(line, "%63[^,],%d,%llu,%llu,%llu,%llu,%llu,%llu", name, &frame, &t.total,
                   &t.degenerate, &t.share[3], &t.share[2], &t.share[1], &t.share[0]) != 8)
            continue;
        for (size_t s = 0; s < COUNT_OF(sequences); ++s) {
            if (strcmp(name, sequences[s].name) != 0) continue;
            assert_in_range(frame, 0, sequences[s].frames - 1);
            truths[s][frame] = t;
            ++read;
        }
    }
    fclose(in);
    assert_int_equal(read, 403 + 10 + 31);
    carom_context *context = test_context(1);
    for (size_t s = 0; s < COUNT_OF(sequences); ++s)
        check_sequence(context, &sequences[s], truths[s]);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_has_its_true_pairs),
        cmocka_unit_test(every_frame_has_its_true_pairs),
    };
    int failed = cmocka_run_group_tests_name("soup_truth", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    return failed;
}
