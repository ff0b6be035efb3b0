/* SPDX-License-Identifier: MIT */
/* Searches in parts find the pairs of searches in memory, in the same order: lattice soups and
 * soups of all sizes of faces, in arrays and in files, self, cross and within a reach, in parts of
 * few faces, in shards, with faces that reach everywhere or lie in one point; what is wrong with a
 * file or the disk is told; no memory and no temporary file is left. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "geom/vec.h"
#include "mesh/mesh.h"
#include "tests/support/lattice.h"
#include "tests/support/models.h"

#define SOUPS      TEST_CASES(400)
#define MOST_PAIRS 1500000u

TEST_CONTEXT(2)

static carom_pairs expected;
static const carom_pair *wanted; /* the right answer: of `expected`, or made by the test */
static carom_pair *found;
static uint64_t found_count, wanted_count;

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    (void)user;
    assert_true(found_count + count <= MOST_PAIRS);
    memcpy(found + found_count, pairs, count * sizeof(*pairs));
    found_count += count;
    return false;
}

static void assert_found(const char *what) {
    if (found_count != wanted_count)
        fail_msg("%s: %" PRIu64 " pairs in parts, %" PRIu64 " in memory", what, found_count,
                 wanted_count);
    if (wanted_count != 0) assert_memory_equal(found, wanted, wanted_count * sizeof(*found));
}

static carom_soup *soup_of(const carom_parts_def *def, const carom_mesh_view *view) {
    carom_mesh *welded = NULL;
    carom_mesh_view made = *view;
    carom_soup *soup;
    if (!def->no_weld) {
        assert_ok(context, carom_mesh_weld(context, view, &welded));
        assert_ok(context, carom_mesh_get_view(welded, &made));
    }
    carom_soup_def soup_def = {.mesh = &made, .degenerate = def->degenerate, .fan = def->fan};
    assert_ok(context, carom_soup_create(context, &soup_def, &soup));
    carom_mesh_destroy(welded);
    return soup;
}

/* All pairs of boxes, each with each: of faces, or of the triangles of a fan. */
static uint64_t boxes_of(const carom_parts_def *def, const carom_mesh_view *view,
                         const carom_pose *pose, carom_bounds *boxes) {
    uint64_t count = 0;
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        uint64_t step = def->fan ? 3 : end - begin;
        for (uint64_t t = 0; def->fan ? begin + t + 2 < end : t == 0; ++t) {
            carom_bounds box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
            for (uint64_t c = 0; c < step; ++c) {
                uint64_t at = def->fan && c == 0 ? begin : begin + t + c;
                carom_vec3 p = carom_mesh_position(view, view->corners[at]);
                if (pose != NULL) p = carom_pose_apply_value(pose, &p);
                box.low =
                    carom_vec(fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z));
                box.high =
                    carom_vec(fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z));
            }
            boxes[count++] = box;
        }
    }
    return count;
}

#define MOST_BOXES 20000u

static void search_boxes_in_memory(const carom_parts_def *def) {
    static carom_bounds a[MOST_BOXES], b[MOST_BOXES];
    static carom_pair boxed[MOST_PAIRS];
    const carom_bounds *other = def->cross ? b : a;
    uint64_t count = boxes_of(def, def->a.mesh, NULL, a), others = count;
    if (def->cross) others = boxes_of(def, def->b.mesh, &def->pose_b, b);
    wanted_count = 0;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = def->cross ? 0 : i + 1; j < others; ++j)
            if (a[i].low.x <= other[j].high.x && other[j].low.x <= a[i].high.x &&
                a[i].low.y <= other[j].high.y && other[j].low.y <= a[i].high.y &&
                a[i].low.z <= other[j].high.z && other[j].low.z <= a[i].high.z) {
                assert_true(wanted_count < MOST_PAIRS);
                boxed[wanted_count++] = (carom_pair){i, j};
            }
    wanted = boxed;
}

/* The pairs of the whole, in memory. */
static void search_in_memory(const carom_parts_def *def) {
    if (def->boxes) {
        search_boxes_in_memory(def);
        return;
    }
    carom_soup *a = soup_of(def, def->a.mesh), *b = def->cross ? soup_of(def, def->b.mesh) : NULL;
    if (def->cross && def->within)
        assert_ok(context, carom_soup_cross_pairs_within(context, a, NULL, b, &def->pose_b,
                                                         def->reach, &expected));
    else if (def->cross)
        assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, &def->pose_b, &expected));
    else if (def->within)
        assert_ok(context, carom_soup_self_pairs_within(context, a, def->reach, &expected));
    else
        assert_ok(context, carom_soup_self_pairs(context, a, &expected));
    wanted = expected.data;
    wanted_count = expected.count;
    carom_soup_destroy(a);
    carom_soup_destroy(b);
}

static carom_parts_report search_in_parts(const carom_parts_def *def, const char *what) {
    carom_parts_report report;
    found_count = 0;
    carom_status status = carom_parts_pairs(context, def, receive, NULL, &report);
    if (status != CAROM_OK) fail_msg("%s: %s", what, carom_context_message(context));
    assert_int_equal(report.pairs, found_count);
    return report;
}

static int compare_pairs(const void *a, const void *b) {
    const carom_pair *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

/* The lists of all shards together, sorted: no pair is in two of them. */
static void search_in_shards(carom_parts_def def, uint32_t shards, const char *what) {
    uint64_t hash = 0;
    found_count = 0;
    for (def.shard = 0, def.shards = shards; def.shard < shards; ++def.shard) {
        carom_parts_report report;
        uint64_t before = found_count;
        assert_ok(context, carom_parts_pairs(context, &def, receive, NULL, &report));
        for (uint64_t i = before + 1; i < found_count; ++i)
            assert_true(compare_pairs(&found[i - 1], &found[i]) < 0);
        if (def.shard == 0) hash = report.hash;
        assert_true(hash == report.hash);
    }
    if (found_count != 0) qsort(found, found_count, sizeof(*found), compare_pairs);
    assert_found(what);
}

/* ---- k-freeness ------------------------------------------------------------------------------ */

static uint32_t *counted;
static uint64_t counted_faces, most_counted;

static bool receive_counts(void *user, const uint32_t *counts, uint64_t count) {
    (void)user;
    assert_true(counted_faces + count <= most_counted);
    memcpy(counted + counted_faces, counts, count * sizeof(*counts));
    counted_faces += count;
    return false;
}

/* The counts of all faces and all that follows from them are those of the whole mesh, to the last
 * byte. */
static carom_parts_report compare_kfree(const carom_parts_def *of, const char *what) {
    carom_parts_def def = *of;
    def.cross = def.within = def.boxes = false;
    carom_soup *soup = soup_of(&def, def.a.mesh);
    carom_kfree whole, parts;
    carom_numbers counts = {0};
    carom_parts_report report = {0};
    carom_status status = carom_kfree_measure(context, soup, &whole, &counts);
    counted_faces = 0;
    most_counted = counts.count;
    counted = calloc(counts.count + 1, sizeof(*counted));
    assert_non_null(counted);
    carom_status same = carom_parts_kfree(context, &def, receive_counts, NULL, &parts, &report);
    if (same != status) fail_msg("%s: %s", what, carom_context_message(context));
    if (status == CAROM_OK) {
        assert_int_equal(counted_faces, counts.count);
        for (uint64_t f = 0; f < counts.count; ++f)
            if (counted[f] != counts.data[f])
                fail_msg("%s: face %" PRIu64 " counts %u in parts, %u in memory", what, f,
                         counted[f], counts.data[f]);
        assert_memory_equal(&parts, &whole, sizeof(whole));
        assert_int_equal(report.pairs, whole.total);
    }
    free(counted);
    carom_numbers_free(&counts);
    carom_soup_destroy(soup);
    return report;
}

static void compare(carom_parts_def *def, const char *what) {
    search_in_memory(def);
    search_in_parts(def, what);
    assert_found(what);
}

/* ---- Lattice soups --------------------------------------------------------------------------- */

static void draw_def(carom_random *random, carom_parts_def *def) {
    static const uint64_t most[] = {0, 1, 2, 5, 13, 40};
    static const double reaches[] = {0.0, 0.5, 1.0, 2.5};
    def->part_faces = most[test_below(random, COUNT_OF(most))];
    def->cross = test_below(random, 3) == 0;
    def->within = test_below(random, 3) == 0;
    def->reach = reaches[test_below(random, COUNT_OF(reaches))];
    def->fan = test_below(random, 4) == 0;
    def->no_weld = test_below(random, 3) == 0;
    def->degenerate = (carom_soup_degenerate)test_below(random, CAROM_SOUP_DEGENERATE_COUNT);
    def->boxes = !def->within && test_below(random, 4) == 0;
    def->memory = CAROM_PARTS_LEAST_MEMORY;
    if (test_below(random, 2) == 0)
        def->pose_b = (carom_pose){.q = {.w = 1.0, .x = 0.5, .y = 0.25},
                                   .t = {test_below(random, 3), 0.5, 1.0}};
}

static void lattice_soups_have_the_same_pairs(void **state) {
    (void)state;
    static lattice_soup a, b, moved_a, moved_b;
    carom_random random = {53};
    for (uint32_t i = 0; i < SOUPS; ++i) {
        char what[64];
        carom_mesh_view view_a, view_b;
        carom_parts_def def = {.a.mesh = &view_a, .b.mesh = &view_b};
        draw_def(&random, &def);
        lattice_make(&random, &a);
        lattice_make(&random, &b);
        const lattice_guise *guise = lattice_disguise(&a, i, &moved_a, &view_a);
        (void)lattice_disguise(&b, i, &moved_b, &view_b);
        def.reach *= guise->scale;
        def.pose_b.t = (carom_vec3){def.pose_b.t.x * guise->scale, def.pose_b.t.y * guise->scale,
                                    def.pose_b.t.z * guise->scale};
        if (!(def.reach < 0x1p1000)) def.within = false;
        if (guise->by != 0.0 || guise->scale > 0x1p900) def.pose_b = (carom_pose){0};
        snprintf(what, sizeof(what), "lattice soup %u", i);
        compare(&def, what);
        if (i % 2 == 0) (void)compare_kfree(&def, what);
        if (i % 16 == 0) search_in_shards(def, 1 + i / 16 % 7, what);
    }
}

/* ---- Soups of all sizes of faces ------------------------------------------------------------- */

#define SEEDED 200u /* soups, each of: */
#define FACES  600u

typedef struct seeded {
    float xyz[3 * FACES][3];
    uint32_t corners[3 * FACES];
} seeded;

/* Small faces, with every so many of them as large as the whole; or all in one point, or on one
 * line, or in two places far from each other. */
static carom_mesh_view seeded_make(carom_random *random, uint32_t kind, seeded *s) {
    for (uint32_t f = 0; f < FACES; ++f) {
        double size = kind % 4 == 0 ? 0.02 : f % (kind % 4 * 20) == 0 ? 2.0 : 0.03, centre[3];
        for (int a = 0; a < 3; ++a) centre[a] = carom_random_uniform(random);
        if (kind % 5 == 1) centre[1] = centre[2] = 0.0;
        if (kind % 5 == 2) centre[0] = centre[1] = centre[2] = 0.3, size = 1e-4;
        if (kind % 5 == 3 && f % 2 == 0) centre[0] += 1e7, centre[1] += 3.0;
        for (int c = 0; c < 3; ++c) {
            for (int a = 0; a < 3; ++a)
                s->xyz[3 * f + (uint32_t)c][a] =
                    (float)(centre[a] + size * (carom_random_uniform(random) - 0.5));
            s->corners[3 * f + (uint32_t)c] = 3 * f + (uint32_t)c;
        }
        if (f > 0 && f % 7 == 0) /* neighbours */
            memcpy(s->xyz[3 * f], s->xyz[3 * f - 2], 2 * sizeof(s->xyz[0]));
    }
    return (carom_mesh_view){.positions = s->xyz,
                             .scalar = CAROM_SCALAR_FLOAT32,
                             .vertex_count = 3 * FACES,
                             .corners = s->corners,
                             .face_count = FACES};
}

static void seeded_soups_have_the_same_pairs_in_parts_and_shards(void **state) {
    (void)state;
    static seeded a, b;
    static const uint32_t shards[] = {1, 2, 3, 7};
    uint64_t most_parts = 0, most_searches = 0;
    for (uint32_t i = 0; i < TEST_CASES(SEEDED); ++i) {
        char what[64];
        carom_random random = {1000 + i};
        carom_mesh_view view_a = seeded_make(&random, i, &a), view_b = seeded_make(&random, i, &b);
        carom_parts_def def = {.a.mesh = &view_a,
                               .b.mesh = &view_b,
                               .cross = i % 3 == 2,
                               .within = i % 4 == 3 && i % 5 != 2,
                               .reach = 0.01,
                               .no_weld = i % 7 == 6,
                               .boxes = i % 4 != 3 && i % 6 == 4,
                               .memory = CAROM_PARTS_LEAST_MEMORY,
                               .part_faces = i % 5 == 2 ? 250 : 60 + 37 * (i % 11)};
        snprintf(what, sizeof(what), "seeded soup %u", i);
        search_in_memory(&def);
        carom_parts_report report = search_in_parts(&def, what);
        assert_found(what);
        assert_int_equal(report.faces_a, FACES);
        carom_parts_report counts = compare_kfree(&def, what);
        if (counts.searches - counts.parts > most_searches)
            most_searches = counts.searches - counts.parts;
        most_parts = report.parts > most_parts ? report.parts : most_parts;
        if (report.searches - report.parts > most_searches)
            most_searches = report.searches - report.parts;
        if (i % 4 == 0)
            for (uint32_t s = 0; s < COUNT_OF(shards); ++s) search_in_shards(def, shards[s], what);
    }
    if (TEST_CASES(SEEDED) >= 6) assert_true(most_parts > 9 && most_searches > 3); /* both ways */
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void save(const carom_mesh_view *view, carom_mesh_format format, const char *path) {
    assert_ok(context, carom_mesh_save(context, view, format, path));
}

static void files_have_the_pairs_of_their_meshes(void **state) {
    (void)state;
    static const struct {
        carom_shape shape;
        bool polygons;
        carom_mesh_format format;
        carom_scalar scalar;
        const char *path;
    } rows[] = {
        {CAROM_SHAPE_CLOTH, false, CAROM_MESH_FORMAT_PLY, CAROM_SCALAR_FLOAT32, "parts_a.ply"},
        {CAROM_SHAPE_CLOTH, true, CAROM_MESH_FORMAT_PLY, CAROM_SCALAR_FLOAT64, "parts_b.ply"},
        {CAROM_SHAPE_CLOTH, true, CAROM_MESH_FORMAT_PLY_BIG, CAROM_SCALAR_FLOAT32, "parts_c.ply"},
        {CAROM_SHAPE_CLOTH, false, CAROM_MESH_FORMAT_STL, CAROM_SCALAR_FLOAT32, "parts_d.stl"},
        {CAROM_SHAPE_CLOTH, true, CAROM_MESH_FORMAT_OBJ, CAROM_SCALAR_FLOAT64, "parts_e.obj"},
        {CAROM_SHAPE_CHAZELLE, true, CAROM_MESH_FORMAT_OBJ, CAROM_SCALAR_FLOAT64, "parts_f.obj"},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i += TEST_THREADS_ONLY ? 2 : 1) {
        carom_shape_def shape = {.shape = rows[i].shape,
                                 .polygons = rows[i].polygons,
                                 .scalar = rows[i].scalar,
                                 .detail = rows[i].shape == CAROM_SHAPE_CLOTH ? 40 : 12};
        carom_mesh *mesh, *read;
        carom_mesh_view view;
        assert_ok(context, carom_shape_make(context, &shape, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        save(&view, rows[i].format, rows[i].path);
        assert_ok(context, carom_mesh_load(context, rows[i].path, CAROM_MESH_FORMAT_GUESS, &read));
        assert_ok(context, carom_mesh_get_view(read, &view));
        for (uint32_t way = 0; way < 8; way += TEST_THREADS_ONLY ? 3 : 1) {
            carom_parts_def def = {.a.mesh = &view,
                                   .cross = (way & 1) != 0,
                                   .b.mesh = &view,
                                   .pose_b.t.x = 0.1,
                                   .no_weld = (way & 2) != 0,
                                   .fan = (way & 4) != 0,
                                   .memory = CAROM_PARTS_LEAST_MEMORY,
                                   .part_faces = 1 + view.face_count / 8};
            search_in_memory(&def);
            def.a = (carom_parts_input){.path = rows[i].path};
            if (way % 3 == 1) def.b = (carom_parts_input){.path = rows[i].path};
            carom_parts_report report = search_in_parts(&def, rows[i].path);
            assert_found(rows[i].path);
            assert_true(report.searches > 1 && report.bytes_spilled > 0);
            assert_int_equal(report.skipped_a, 0);
        }
        carom_mesh_destroy(read);
        carom_mesh_destroy(mesh);
        (void)remove(rows[i].path);
    }
}

static void put_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* OBJ whose pieces end in the middle of it: statements over several lines, faces before their
 * vertices, negative indices, faces with two corners. */
static void obj_is_read_in_pieces(void **state) {
    (void)state;
    const char *path = "parts_pieces.obj";
    size_t room = (size_t)24 << 20, size = 0;
    char *text = malloc(room);
    assert_non_null(text);
    size += (size_t)snprintf(text + size, room - size, "f 1 2 3\nf 1 2\n");
    for (uint32_t i = 0; size + 400 < room; ++i) {
        double x = i % 1000, y = i / 1000;
        size += (size_t)snprintf(text + size, room - size,
                                 "v %g %g 0\nv %g \\\n %g 0.25\r\nv %g %g %u.5\n# %0100u\n"
                                 "f -1 \\\n-2 -3\n",
                                 x, y, x + 1.5, y, x, y + 0.5, i % 3, i);
    }
    put_file(path, text, size);
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    carom_parts_def def = {.a.mesh = &view, .memory = CAROM_PARTS_LEAST_MEMORY};
    search_in_memory(&def);
    def.a = (carom_parts_input){.path = path};
    carom_parts_report report = search_in_parts(&def, path);
    assert_found(path);
    assert_int_equal(report.skipped_a, 1);
    assert_int_equal(report.faces_a, view.face_count);
    carom_mesh_destroy(mesh);
    /* Failures name the line of the file, not of the piece. */
    memcpy(text + size - 6, "f x y\n", 6);
    put_file(path, text, size);
    char in_memory[512];
    assert_int_equal(carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh),
                     CAROM_BAD_FILE);
    snprintf(in_memory, sizeof(in_memory), "%s", carom_context_message(context));
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_BAD_FILE,
                 in_memory);
    free(text);
    (void)remove(path);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static const char triangle_ply[] =
    "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

static carom_status search_file(const char *path) {
    carom_parts_def def = {.a.path = path};
    return carom_parts_pairs(context, &def, receive, NULL, NULL);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    const char *path = "parts_bad.ply";
    uint8_t bytes[512], head = sizeof(triangle_ply) - 1;
    const float xyz[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const uint8_t face[13] = {3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0};
    memcpy(bytes, triangle_ply, head);
    memcpy(bytes + head, xyz, sizeof(xyz));
    memcpy(bytes + head + sizeof(xyz), face, sizeof(face));
    size_t size = head + sizeof(xyz) + sizeof(face);
    put_file(path, bytes, size);
    found_count = 0;
    assert_ok(context, search_file(path));
    put_file(path, bytes, size - 1);
    assert_fails(context, search_file(path), CAROM_BAD_FILE, "the file ends inside");
    put_file(path, bytes, head + 20u);
    assert_int_equal(search_file(path), CAROM_BAD_FILE);
    bytes[size] = 7;
    put_file(path, bytes, size + 1);
    assert_fails(context, search_file(path), CAROM_BAD_FILE, "1 bytes follow the last");
    bytes[head + sizeof(xyz) + 1] = 3;
    put_file(path, bytes, size);
    assert_fails(context, search_file(path), CAROM_BAD_FILE, "face 0 names vertex 3");
    bytes[head + sizeof(xyz) + 1] = 0;
    const float nan = NAN;
    memcpy(bytes + head + 16, &nan, sizeof(nan));
    put_file(path, bytes, size);
    assert_fails(context, search_file(path), CAROM_BAD_FILE, "vertex 1 has a coordinate");
    put_file(path,
             "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
             "property float z\nend_header\n",
             100);
    assert_fails(context, search_file(path), CAROM_UNSUPPORTED, "it is text");
    put_file(path, "\x1f\x8b\x08\0\0\0\0\0", 8);
    assert_fails(context, search_file(path), CAROM_UNSUPPORTED, "it is compressed");
    (void)remove(path);
    assert_fails(context, search_file(path), CAROM_IO, "cannot be opened");
    assert_fails(context, search_file("."), CAROM_IO, "is a folder");
}

static void bad_definitions_are_refused(void **state) {
    (void)state;
    carom_parts_def def = {.memory = 1000};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_BAD_INPUT,
                 "1000 bytes of memory");
    def = (carom_parts_def){.within = true, .reach = -1.0};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_BAD_INPUT,
                 "a reach of -1");
    def = (carom_parts_def){.shard = 2, .shards = 2};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_BAD_INPUT,
                 "shard 2 of 2");
    def = (carom_parts_def){.cross = true, .pose_b.t.x = INFINITY};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_BAD_INPUT,
                 "the pose of b is not finite");
    def = (carom_parts_def){.folder = "no such folder"};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_IO,
                 "no such folder: no temporary file");
    carom_mesh_view huge = {.face_count = UINT32_MAX - 63u}; /* of which nothing is read */
    def = (carom_parts_def){.a.mesh = &huge};
    assert_fails(context, carom_parts_pairs(context, &def, receive, NULL, NULL), CAROM_TOO_LARGE,
                 "mesh: more than 4294967231 faces; their numbers have 32 bits");
    def = (carom_parts_def){0};
    found_count = 0;
    assert_ok(context, carom_parts_pairs(context, &def, receive, NULL, NULL));
    assert_int_equal(found_count, 0);
}

/* A file may not grow beyond a limit of the process: what a full disk looks like. */
static void full_disks_are_told(void **state) {
    (void)state;
    static seeded s;
    struct rlimit old, small;
    carom_random random = {7};
    carom_mesh_view view = seeded_make(&random, 0, &s);
    carom_parts_def def = {.a.mesh = &view, .part_faces = 100};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 8192;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    carom_status status = carom_parts_pairs(context, &def, receive, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_fails(context, status, CAROM_IO, "cannot grow");
}

/* ---- Memory, stopping, cancelling ------------------------------------------------------------ */

static carom_status work_with_failures(carom_allocator allocator, void *argument) {
    carom_context *made;
    carom_context_def def = {.threads = 1, .allocator = allocator};
    if (carom_context_create(&def, &made) != CAROM_OK) return CAROM_NO_MEMORY;
    found_count = 0;
    carom_kfree kfree;
    carom_status status = carom_parts_pairs(made, argument, receive, NULL, NULL);
    if (status == CAROM_OK) status = carom_parts_kfree(made, argument, NULL, NULL, &kfree, NULL);
    carom_context_destroy(made);
    return status;
}

static void allocation_failures_leak_nothing(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread: nothing for the thread sanitizer */
    static lattice_soup soup;
    carom_random random = {9};
    do lattice_make(&random, &soup);
    while (soup.faces < 9 || soup.faces > 14 || soup.kind == LATTICE_FLAT);
    carom_mesh_view view = lattice_view(&soup);
    carom_parts_def def = {.a.mesh = &view, .part_faces = 5};
    test_allocation_failures(work_with_failures, &def);
}

static bool stop_at_once(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs, (void)count;
    ++*(uint64_t *)user;
    return true;
}

static void a_receiver_can_stop(void **state) {
    (void)state;
    static seeded s;
    carom_random random = {11};
    carom_mesh_view view = seeded_make(&random, 1, &s);
    carom_parts_def def = {.a.mesh = &view, .part_faces = 100};
    uint64_t calls = 0;
    assert_ok(context, carom_parts_pairs(context, &def, stop_at_once, &calls, NULL));
    assert_int_equal(calls, 1);
    carom_kfree kfree;
    def.within = true;
    assert_fails(context, carom_parts_kfree(context, &def, NULL, NULL, &kfree, NULL),
                 CAROM_BAD_INPUT, "one whole mesh");
}

typedef struct countdown {
    uint64_t left, calls;
} countdown;

static bool count_down(void *user, const char *what, double fraction) {
    countdown *c = user;
    (void)what, (void)fraction;
    ++c->calls;
    return c->left != 0 && --c->left == 0;
}

static void every_report_can_cancel(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread: nothing for the thread sanitizer */
    static seeded s;
    carom_random random = {12};
    carom_mesh_view view = seeded_make(&random, 1, &s);
    view.face_count = 300;
    view.vertex_count = 900;
    carom_parts_def def = {.a.mesh = &view, .part_faces = 100};
    countdown c = {0, 0};
    carom_context *made;
    carom_context_def context_def = {
        .threads = 1, .progress = count_down, .progress_user = &c, .progress_interval = -1.0};
    assert_ok(NULL, carom_context_create(&context_def, &made));
    found_count = 0;
    assert_ok(made, carom_parts_pairs(made, &def, receive, NULL, NULL));
    uint64_t calls = c.calls;
    assert_true(calls > 10);
    for (uint64_t at = 1; at <= calls; at += 1 + calls / 60) {
        c = (countdown){at, 0};
        found_count = 0;
        assert_fails(made, carom_parts_pairs(made, &def, receive, NULL, NULL), CAROM_CANCELLED,
                     "cancelled");
    }
    carom_kfree kfree;
    c = (countdown){0, 0};
    assert_ok(made, carom_parts_kfree(made, &def, NULL, NULL, &kfree, NULL));
    calls = c.calls;
    for (uint64_t at = 1; at <= calls; at += 1 + calls / 60) {
        c = (countdown){at, 0};
        assert_fails(made, carom_parts_kfree(made, &def, NULL, NULL, &kfree, NULL), CAROM_CANCELLED,
                     "cancelled");
    }
    c = (countdown){0, 0};
    found_count = 0;
    assert_ok(made, carom_parts_pairs(made, &def, receive, NULL, NULL));
    carom_context_destroy(made);
}

/* A part that should fit and does not is searched in blocks: pairs of faces in one point. */
static void little_memory_is_enough(void **state) {
    (void)state;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 300};
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_shape_make(context, &shape, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    carom_parts_def def = {.a.mesh = &view, .memory = CAROM_PARTS_LEAST_MEMORY};
    search_in_memory(&def);
    carom_parts_report report = search_in_parts(&def, "cloth");
    assert_found("cloth");
    assert_true(report.parts > 1 && report.peak_bytes < def.memory);
    carom_mesh_destroy(mesh);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void models_have_the_same_pairs(void **state) {
    (void)state;
    static const char *const files[] = {"soups/teapot.obj", "soups/ogre.obj"};
    if (test_shared_folder() == NULL) skip();
    for (uint32_t i = 0; i < COUNT_OF(files); ++i) {
        char path[1024];
        carom_mesh *mesh;
        carom_mesh_view view;
        models_path(files[i], path, sizeof(path));
        if (access(path, R_OK) != 0) continue;
        assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        carom_parts_def def = {.a.mesh = &view, .part_faces = 1 + view.face_count / 9};
        search_in_memory(&def);
        def.a = (carom_parts_input){.path = path};
        search_in_parts(&def, path);
        assert_found(path);
        def.shards = 3;
        search_in_shards(def, 3, path);
        carom_mesh_destroy(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_have_the_same_pairs),
        cmocka_unit_test(seeded_soups_have_the_same_pairs_in_parts_and_shards),
        cmocka_unit_test(files_have_the_pairs_of_their_meshes),
        cmocka_unit_test(obj_is_read_in_pieces),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(full_disks_are_told),
        cmocka_unit_test(allocation_failures_leak_nothing),
        cmocka_unit_test(a_receiver_can_stop),
        cmocka_unit_test(every_report_can_cancel),
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(models_have_the_same_pairs),
    };
    found = malloc(MOST_PAIRS * sizeof(*found));
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    carom_pairs_free(&expected);
    free(found);
    return failed;
}
