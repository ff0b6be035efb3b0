/* SPDX-License-Identifier: MIT */
/* Soups that deform and break for many frames, by every method, equal a soup made anew each frame
 * from the faces there are: the breaking sheet of scenes/, recorded sequences, a wall that is put
 * up and taken down piece by piece. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/breaking.h"
#include "tests/support/campaign.h"
#include "tests/support/models.h"

static carom_pairs pairs, anew;

#define WAYS 4

static const char *const names[WAYS] = {"tree", "grid", "auto", "auto with a small budget"};

static void make_all(carom_context *context, const carom_mesh_view *mesh, carom_soup *soups[WAYS]) {
    static const carom_soup_method methods[WAYS] = {CAROM_SOUP_METHOD_TREE, CAROM_SOUP_METHOD_GRID,
                                                    CAROM_SOUP_METHOD_AUTO, CAROM_SOUP_METHOD_AUTO};
    for (int way = 0; way < WAYS; ++way) {
        carom_soup_def def = {
            .mesh = mesh, .method = methods[way], .work_budget = way == 3 ? 500 : 0};
        assert_ok(context, carom_soup_create(context, &def, &soups[way]));
    }
}

static void destroy_all(carom_soup *soups[WAYS]) {
    for (int way = 0; way < WAYS; ++way) carom_soup_destroy(soups[way]);
}

/* All pairs of the live faces, which keep the numbers they have. */
static void find_anew(carom_context *context, const carom_mesh_view *all, const bool *dead) {
    uint32_t *corners = malloc(3 * (all->face_count + 1) * sizeof(*corners));
    uint32_t *numbers = malloc((all->face_count + 1) * sizeof(*numbers));
    carom_mesh_view view = *all;
    carom_soup_def def = {.mesh = &view, .method = CAROM_SOUP_METHOD_TREE};
    carom_soup *soup;
    uint64_t live = 0;
    for (uint64_t f = 0; f < all->face_count; ++f) {
        if (dead[f]) continue;
        memcpy(corners + 3 * live, all->corners + 3 * f, 3 * sizeof(*corners));
        numbers[live++] = (uint32_t)f;
    }
    view.corners = corners;
    view.face_count = live;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &anew));
    for (uint64_t i = 0; i < anew.count; ++i) {
        anew.data[i].a = numbers[anew.data[i].a];
        anew.data[i].b = numbers[anew.data[i].b];
    }
    carom_soup_destroy(soup);
    free(corners);
    free(numbers);
}

static void compare_all(carom_context *context, carom_soup *const soups[WAYS], const char *what,
                        uint64_t frame) {
    for (int way = 0; way < WAYS; ++way) {
        assert_ok(context, carom_soup_self_pairs(context, soups[way], &pairs));
        if (pairs.count != anew.count ||
            (pairs.count != 0 &&
             memcmp(pairs.data, anew.data, pairs.count * sizeof(carom_pair)) != 0))
            fail_msg("%s, frame %" PRIu64 ": %" PRIu64 " pairs by %s, %" PRIu64 " anew", what,
                     frame, pairs.count, names[way], anew.count);
    }
}

/* ---- the breaking sheet ---------------------------------------------------------------------- */

static void a_breaking_sheet_equals_a_new_one(void **state) {
    (void)state;
    uint64_t frames = campaign_is_long() ? 10000 : 400, total = 0;
    carom_context *context = test_context(1);
    scene_breaking scene;
    carom_soup *soups[WAYS];
    assert_true(scene_breaking_begin(&scene, 14, frames, 6));
    carom_mesh_view all = {.positions = scene.positions,
                           .vertex_count = scene.vertex_count,
                           .corners = scene.corners[0],
                           .face_count = scene.face_count};
    make_all(context, &all, soups);
    for (uint64_t frame = 0; frame < frames; ++frame) {
        scene_breaking_step(&scene);
        uint64_t vertex = scene.first_new_vertex, face = scene.first_new_face, at;
        uint32_t corners[3 * 16 * SCENE_BREAKING_AT_ONCE];
        for (at = 0; at < 3 * (scene.face_count - face); ++at)
            corners[at] = scene.corners[face + at / 3][at % 3] - (uint32_t)vertex;
        carom_mesh_view more = {.positions = scene.positions[vertex],
                                .vertex_count = scene.vertex_count - vertex,
                                .corners = corners,
                                .face_count = scene.face_count - face};
        all.vertex_count = scene.vertex_count;
        all.face_count = scene.face_count;
        for (int way = 0; way < WAYS; ++way) {
            uint32_t first;
            assert_ok(context,
                      carom_soup_remove(context, soups[way], scene.removed, scene.removed_count));
            if (more.face_count != 0) {
                assert_ok(context, carom_soup_add(context, soups[way], &more, &first));
                assert_int_equal(first, face);
            }
            assert_ok(context, carom_soup_update(context, soups[way], &all));
        }
        find_anew(context, &all, scene.dead);
        compare_all(context, soups, "the sheet", frame);
        total += anew.count;
    }
    print_message("%" PRIu64 " frames, %" PRIu64 " pairs, %" PRIu64 " faces came and %" PRIu64
                  " were there at first\n",
                  frames, total, scene.face_count - 2 * 14 * 14, (uint64_t)(2 * 14 * 14));
    assert_true(total > 10 * frames);
    destroy_all(soups);
    scene_breaking_end(&scene);
    carom_context_destroy(context);
}

/* ---- recorded sequences ---------------------------------------------------------------------- */

static void sequences_equal_new_soups(void **state) {
    (void)state;
    static const char *const sequences[] = {"kick", "cat_poses", "cactus_deform"};
    if (test_shared_folder() == NULL) skip();
    carom_context *context = test_context(2);
    int step = campaign_is_long() ? 1 : 12;
    for (size_t s = 0; s < COUNT_OF(sequences); ++s) {
        char file[256];
        carom_mesh_view view;
        carom_soup *soups[WAYS];
        snprintf(file, sizeof(file), "sequences/%s/frames.f32.gz", sequences[s]);
        FILE *in = models_open_gzip(file);
        if (in == NULL) continue;
        snprintf(file, sizeof(file), "sequences/%s/frame0.ply", sequences[s]);
        carom_mesh *mesh = models_load_fan(context, file);
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        make_all(context, &view, soups);
        size_t size = view.vertex_count * 3 * sizeof(float);
        float *positions = malloc(size);
        bool *dead = calloc(view.face_count, sizeof(*dead));
        view.positions = positions;
        view.scalar = CAROM_SCALAR_FLOAT32;
        view.stride = 0;
        for (uint64_t frame = 0; fread(positions, 1, size, in) == size; ++frame) {
            if (frame % (uint64_t)step != 0) continue;
            for (int way = 0; way < WAYS; ++way)
                assert_ok(context, carom_soup_update(context, soups[way], &view));
            find_anew(context, &view, dead);
            compare_all(context, soups, sequences[s], frame);
        }
        (void)pclose(in);
        free(positions);
        free(dead);
        destroy_all(soups);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

/* ---- fracture -------------------------------------------------------------------------------- */

typedef struct wall {
    double (*positions)[3];
    uint32_t (*corners)[3];
    bool *dead;
    uint64_t vertices, faces;
} wall;

static void wall_add(wall *w, const carom_mesh_view *piece) {
    for (uint64_t v = 0; v < piece->vertex_count; ++v)
        for (uint64_t k = 0; k < 3; ++k)
            w->positions[w->vertices + v][k] =
                piece->scalar == CAROM_SCALAR_FLOAT32
                    ? (double)((const float *)piece->positions)[3 * v + k]
                    : ((const double *)piece->positions)[3 * v + k];
    for (uint64_t c = 0; c < 3 * piece->face_count; ++c)
        w->corners[w->faces + c / 3][c % 3] = (uint32_t)w->vertices + piece->corners[c];
    w->vertices += piece->vertex_count;
    w->faces += piece->face_count;
}

/* Pieces come one by one, all drift together a little with every frame, and go again. */
static void a_wall_comes_and_goes(void **state) {
    (void)state;
    enum { MOST = 1 << 18, PIECES = 40 };
    if (test_shared_folder() == NULL) skip();
    carom_context *context = test_context(1);
    wall w = {malloc(MOST * sizeof(*w.positions)), malloc(MOST * sizeof(*w.corners)),
              calloc(MOST, sizeof(*w.dead)), 0, 0};
    carom_soup *soups[WAYS] = {0};
    uint64_t first_face[PIECES + 1] = {0};
    int pieces = 0;
    for (int i = 0; i < 2 * PIECES; ++i) {
        char file[128], path[1024];
        carom_mesh_view view = {.positions = w.positions, .corners = w.corners[0]};
        snprintf(file, sizeof(file), "fracture/wall/wall-piece-%05d.obj", i);
        models_path(file, path, sizeof(path));
        FILE *in = i < PIECES ? fopen(path, "r") : NULL;
        if (in != NULL) {
            fclose(in);
            carom_mesh *mesh = models_load_fan(context, file);
            carom_mesh_view piece;
            assert_ok(context, carom_mesh_get_view(mesh, &piece));
            assert_true(w.vertices + piece.vertex_count < MOST &&
                        w.faces + piece.face_count < MOST);
            wall_add(&w, &piece);
            if (pieces == 0) make_all(context, &piece, soups);
            for (int way = 0; way < WAYS && pieces != 0; ++way)
                assert_ok(context, carom_soup_add(context, soups[way], &piece, NULL));
            carom_mesh_destroy(mesh);
            first_face[++pieces] = w.faces;
        } else if (pieces != 0) {
            int gone = i % pieces;
            uint32_t count = 0, *faces = malloc((w.faces + 1) * sizeof(*faces));
            for (uint64_t f = first_face[gone]; f < first_face[gone + 1]; ++f) {
                faces[count++] = (uint32_t)f;
                w.dead[f] = true;
            }
            for (int way = 0; way < WAYS; ++way)
                assert_ok(context, carom_soup_remove(context, soups[way], faces, count));
            free(faces);
        }
        if (pieces == 0) break;
        for (uint64_t v = 0; v < w.vertices; ++v)
            for (int k = 0; k < 3; ++k) w.positions[v][k] *= 0.998;
        view.vertex_count = w.vertices;
        view.face_count = w.faces;
        for (int way = 0; way < WAYS; ++way)
            assert_ok(context, carom_soup_update(context, soups[way], &view));
        find_anew(context, &view, w.dead);
        compare_all(context, soups, "the wall", (uint64_t)i);
    }
    if (pieces != 0) destroy_all(soups);
    free(w.positions);
    free(w.corners);
    free(w.dead);
    carom_context_destroy(context);
    if (pieces == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_breaking_sheet_equals_a_new_one),
        cmocka_unit_test(sequences_equal_new_soups),
        cmocka_unit_test(a_wall_comes_and_goes),
    };
    int failed = cmocka_run_group_tests_name("soup_frames", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    carom_pairs_free(&anew);
    return failed;
}
