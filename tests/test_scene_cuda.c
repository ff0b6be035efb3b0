/* SPDX-License-Identifier: MIT */
/* Scenes on the GPU give the CPU's contacts, byte for byte, step after step: all kinds of convex
 * shapes, and soups and solids, at all scales, touching and deep, with objects added, removed and
 * moved on the host and in device memory, filters, ignored pairs and a reach. Skipped where there
 * is no device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "scene/scene.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#define ROUNDS       160
#define STEPS        12u
#define OBJECTS      160u /* of a scene at first */
#define MOST_OBJECTS 600u
#define HULLS        7u
#define BALLS        400u  /* in one place: 79,800 contacts, more than there is room for at first */
#define MARBLES      1500u /* on one floor, more than are sorted by comparing all with all */

TEST_BACKENDS

/* Of meshes: steps are 10,240 in all. */
#define MESH_ROUNDS  1280
#define MESH_STEPS   8u
#define MESH_OBJECTS 14u
#define MESHES       5u

static uint64_t compared, compared_meshes, methods[CAROM_SCENE_CONTACT_METHOD_COUNT];
static uint64_t relations[CAROM_RELATION_COUNT];

static int report(void **state) {
    print_message("%llu contacts compared, %llu of meshes (%llu of faces, %llu of solids; %llu "
                  "apart, %llu touching, %llu overlapping, %llu inside)\n",
                  (unsigned long long)compared, (unsigned long long)compared_meshes,
                  (unsigned long long)methods[CAROM_SCENE_CONTACT_METHOD_FACES],
                  (unsigned long long)methods[CAROM_SCENE_CONTACT_METHOD_SOLIDS],
                  (unsigned long long)relations[CAROM_RELATION_APART],
                  (unsigned long long)relations[CAROM_RELATION_TOUCHING],
                  (unsigned long long)relations[CAROM_RELATION_OVERLAPPING],
                  (unsigned long long)(relations[CAROM_RELATION_A_INSIDE_B] +
                                       relations[CAROM_RELATION_B_INSIDE_A]));
    return tear_down(state);
}

/* ---- objects --------------------------------------------------------------------------------- */

static carom_hull *hulls[HULLS];

/* Made with the context of the device; the CPU can use them, too. */
static void make_hulls(carom_random *random) {
    static const uint32_t sizes[HULLS] = {1, 2, 3, 8, 32, 97, 64};
    carom_vec3 points[97];
    for (uint32_t h = 0; h < HULLS; ++h) {
        for (uint32_t i = 0; i < sizes[h]; ++i) {
            double x = carom_random_normal(random), y = carom_random_normal(random);
            double z = carom_random_normal(random), length = sqrt(x * x + y * y + z * z);
            points[i] = (carom_vec3){x / length, y / length, z / length};
            if (h == 3) /* a cube */
                points[i] =
                    (carom_vec3){i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5};
            double angle = 6.28318530717958648 / 32 * (i % 32);
            if (h == 6) /* a prism, whose ends have many corners */
                points[i] = (carom_vec3){cos(angle), sin(angle), i < 32 ? -0.5 : 0.5};
        }
        const carom_hull_def def = {
            .mesh = &(carom_mesh_view){.positions = points, .vertex_count = sizes[h]}};
        assert_ok(cuda, carom_hull_create(cuda, &def, &hulls[h]));
    }
}

static void free_hulls(void) {
    for (uint32_t h = 0; h < HULLS; ++h) carom_hull_destroy(hulls[h]);
}

static double some_size(carom_random *random, double size, bool lattice) {
    if (lattice) return size * 0.25 * (double)(test_below(random, 4) + 1);
    return size * carom_random_between(random, 0.1, 1.0);
}

static carom_convex some_shape(carom_random *random, double size, bool lattice) {
    carom_convex s = {.kind = (carom_convex_kind)test_below(random, CAROM_CONVEX_KIND_SUPPORT)};
    if (test_below(random, 3) == 0) s.kind = CAROM_CONVEX_KIND_HULL;
    s.half = (carom_vec3){some_size(random, size, lattice), some_size(random, size, lattice),
                          some_size(random, size, lattice)};
    if (test_below(random, 8) == 0) s.half.z = 0.0;
    s.radius = some_size(random, size, lattice);
    s.half_height = some_size(random, size, lattice);
    if (test_below(random, 4) == 0) s.margin = 0.25 * some_size(random, size, lattice);
    if (s.kind == CAROM_CONVEX_KIND_HULL) s.borrowed_hull = hulls[test_below(random, HULLS)];
    return s;
}

static carom_pose some_pose(carom_random *random, double far, double size, bool lattice) {
    carom_pose p = {{carom_random_normal(random), carom_random_normal(random),
                     carom_random_normal(random), carom_random_normal(random)},
                    {carom_random_between(random, -far, far),
                     carom_random_between(random, -far, far),
                     carom_random_between(random, -far, far)}};
    if (lattice) { /* turned by right angles: faces lie on each other */
        p.q = (carom_quat){1, (double)test_below(random, 2), 0, 0};
        p.t = (carom_vec3){rint(p.t.x / size * 2) * size / 2, rint(p.t.y / size * 2) * size / 2,
                           rint(p.t.z / size * 2) * size / 2};
    }
    if (test_below(random, 9) == 0) p.q = (carom_quat){0, 0, 0, 0};
    return p;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* Of each backend; the last two are open, of which the first has two parts far from each other. */
typedef struct mesh_things {
    carom_soup *soups[2][MESHES];
    carom_solid *solids[2][MESHES];
} mesh_things;

/* Two boxes, five sizes apart: of two parts one may be inside of a solid. */
static carom_mesh_view two_boxes(double size, carom_vec3 *positions, uint32_t *corners) {
    static const uint8_t box[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                    2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (uint32_t i = 0; i < 16; ++i)
        positions[i] = (carom_vec3){size * ((i & 1 ? 0.125 : -0.125) + (i < 8 ? 0.0 : 5.0)),
                                    size * (i & 2 ? 0.125 : -0.125), size * (i & 4 ? 0.25 : -0.25)};
    for (uint32_t i = 0; i < 72; ++i) corners[i] = box[i % 36] + (i < 36 ? 0u : 8u);
    return (carom_mesh_view){
        .positions = positions, .vertex_count = 16, .corners = corners, .face_count = 24};
}

static void make_meshes(double size, mesh_things *things) {
    const carom_shape_def shapes[MESHES] = {
        {.shape = CAROM_SHAPE_BOX, .size = 0.5 * size},
        {.shape = CAROM_SHAPE_TORUS, .detail = 5, .size = 0.5 * size},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 0, .size = 0.25 * size},
        {.shape = CAROM_SHAPE_BOX, .size = 0.5 * size},
        {.shape = CAROM_SHAPE_GRID, .detail = 2, .size = size},
    };
    memset(things, 0, sizeof(*things));
    for (uint32_t i = 0; i < MESHES; ++i) {
        carom_mesh_view view;
        carom_vec3 positions[16];
        uint32_t corners[72];
        carom_mesh *mesh = shape_mesh(cpu, &shapes[i], &view);
        if (i == 3) view = two_boxes(size, positions, corners);
        for (int k = 0; k < 2; ++k) {
            carom_context *context = k == 0 ? cpu : cuda;
            const carom_soup_def soup = {.mesh = &view, .rigid = i % 2 == 0};
            const carom_solid_def solid = {.mesh = &view};
            assert_ok(context, carom_soup_create(context, &soup, &things->soups[k][i]));
            if (i < 3)
                assert_ok(context, carom_solid_create(context, &solid, &things->solids[k][i]));
        }
        carom_mesh_destroy(mesh);
    }
}

static void free_meshes(mesh_things *things) {
    for (int k = 0; k < 2; ++k)
        for (uint32_t i = 0; i < MESHES; ++i) {
            carom_soup_destroy(things->soups[k][i]);
            carom_solid_destroy(things->solids[k][i]);
        }
}

/* ---- two scenes ------------------------------------------------------------------------------ */

/* The same scene on both backends. */
typedef struct twins {
    carom_context *contexts[2];
    carom_scene *scenes[2];
    carom_scene_contacts contacts[2];
    carom_pairs begun[2], ended[2];
    uint32_t ids[MOST_OBJECTS]; /* of live objects */
    uint32_t count;
    double far, size;
    bool lattice;
    carom_random *random;
    const mesh_things *meshes; /* NULL: of convex objects */
    uint32_t convex, solids;   /* of eight objects, and of eight others */
} twins;

static void twins_begin(twins *t, carom_scene_def def) {
    t->contexts[0] = cpu;
    t->contexts[1] = cuda;
    for (int k = 0; k < 2; ++k)
        assert_ok(t->contexts[k], carom_scene_create(t->contexts[k], &def, &t->scenes[k]));
}

static void twins_make(twins *t, double reach) {
    twins_begin(t, (carom_scene_def){.reach = reach});
}

static void twins_free(twins *t) {
    for (int k = 0; k < 2; ++k) {
        assert_valid(carom_scene_validate(t->scenes[k]));
        carom_scene_destroy(t->scenes[k]);
        carom_scene_contacts_free(&t->contacts[k]);
        carom_pairs_free(&t->begun[k]);
        carom_pairs_free(&t->ended[k]);
    }
}

/* The same object as the other backend has it. */
static void to_backend(const twins *t, int backend, carom_scene_object_def *objects,
                       uint32_t count) {
    for (uint32_t i = 0; i < count && t->meshes != NULL; ++i)
        for (uint32_t m = 0; m < MESHES; ++m) {
            carom_scene_object_def *o = &objects[i];
            if (o->borrowed_soup != NULL && o->borrowed_soup == t->meshes->soups[!backend][m])
                o->borrowed_soup = t->meshes->soups[backend][m];
            if (o->borrowed_solid != NULL && o->borrowed_solid == t->meshes->solids[!backend][m])
                o->borrowed_solid = t->meshes->solids[backend][m];
        }
}

static void add_objects(twins *t, carom_scene_object_def *objects, uint32_t count) {
    uint32_t ids[2][MOST_OBJECTS];
    assert_true(t->count + count <= MOST_OBJECTS);
    for (int k = 0; k < 2; ++k) {
        to_backend(t, k, objects, count);
        assert_ok(t->contexts[k],
                  carom_scene_add(t->contexts[k], t->scenes[k], objects, count, ids[k]));
    }
    assert_memory_equal(ids[0], ids[1], count * sizeof(ids[0][0]));
    memcpy(t->ids + t->count, ids[0], count * sizeof(ids[0][0]));
    t->count += count;
}

static void add_some(twins *t, uint32_t count) {
    carom_scene_object_def objects[MOST_OBJECTS];
    for (uint32_t i = 0; i < count; ++i) {
        objects[i] = (carom_scene_object_def){.kind = CAROM_SCENE_OBJECT_KIND_SOUP};
        if (t->meshes == NULL || test_below(t->random, 8) < t->convex) {
            objects[i].kind = CAROM_SCENE_OBJECT_KIND_CONVEX;
            objects[i].convex = some_shape(t->random, t->size, t->lattice);
        } else if (test_below(t->random, 8) < t->solids) {
            objects[i].kind = CAROM_SCENE_OBJECT_KIND_SOLID;
            objects[i].borrowed_solid = t->meshes->solids[1][test_below(t->random, 3)];
        } else {
            objects[i].borrowed_soup = t->meshes->soups[1][test_below(t->random, MESHES)];
        }
        objects[i].pose = some_pose(t->random, t->far, t->size, t->lattice);
        if (i % 5 == 0) objects[i].filter = (carom_broad_filter){1u << i % 3, 6};
    }
    add_objects(t, objects, count);
}

static void remove_some(twins *t, uint32_t count) {
    uint32_t ids[MOST_OBJECTS];
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = test_below(t->random, t->count);
        ids[i] = t->ids[at];
        t->ids[at] = t->ids[--t->count];
    }
    for (int k = 0; k < 2; ++k)
        assert_ok(t->contexts[k], carom_scene_remove(t->contexts[k], t->scenes[k], ids, count));
}

/* Moves some, one of them perhaps twice. */
static void move_some(twins *t, uint32_t count) {
    uint32_t ids[MOST_OBJECTS];
    carom_pose poses[MOST_OBJECTS];
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = t->ids[test_below(t->random, t->count)];
        poses[i] = some_pose(t->random, t->far, t->size, t->lattice);
    }
    for (int k = 0; k < 2; ++k)
        assert_ok(t->contexts[k],
                  carom_scene_move(t->contexts[k], t->scenes[k], ids, poses, count));
}

static void *to_device(const void *from, uint64_t bytes) {
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, from, bytes));
    return memory;
}

/* Moves all, on the GPU from device memory, which is freed only after the step. */
static void *move_all_on_device(twins *t) {
    carom_scene_info info;
    carom_pose poses[MOST_OBJECTS], own[MOST_OBJECTS];
    assert_ok(cuda, carom_scene_get_info(t->scenes[1], &info));
    assert_true(info.ids <= MOST_OBJECTS);
    for (uint32_t i = 0; i < info.ids; ++i) {
        poses[i] = some_pose(t->random, t->far, t->size, t->lattice);
        own[i] = poses[i];
    }
    for (uint32_t i = 0; i < t->count; ++i) own[i] = poses[t->ids[i]];
    assert_ok(cpu, carom_scene_move(cpu, t->scenes[0], t->ids, own, t->count));
    void *memory = to_device(poses, info.ids * sizeof(*poses) + 1);
    assert_ok(cuda, carom_cuda_scene_move(cuda, t->scenes[1], memory, info.ids));
    return memory;
}

static void set_some(twins *t) {
    uint32_t ids[20];
    carom_broad_filter filters[20];
    carom_pair pairs[30];
    for (uint32_t i = 0; i < 20; ++i) {
        ids[i] = t->ids[test_below(t->random, t->count)];
        filters[i] = (carom_broad_filter){test_below(t->random, 4), test_below(t->random, 8)};
    }
    const carom_scene_contacts *last = &t->contacts[0];
    for (uint32_t i = 0; i < 30; ++i) {
        pairs[i] = (carom_pair){t->ids[0], t->ids[1]};
        if (last->count == 0) continue;
        const carom_scene_contact *c = &last->data[test_below(t->random, (uint32_t)last->count)];
        bool live[2] = {false, false};
        for (uint32_t k = 0; k < t->count; ++k) {
            live[0] = live[0] || t->ids[k] == c->a;
            live[1] = live[1] || t->ids[k] == c->b;
        }
        if (live[0] && live[1]) pairs[i] = (carom_pair){c->b, c->a};
    }
    bool ignored = test_below(t->random, 3) != 0;
    for (int k = 0; k < 2; ++k) {
        assert_ok(t->contexts[k], carom_scene_set_filters(t->contexts[k], t->scenes[k], ids,
                                                          filters, COUNT_OF(ids)));
        assert_ok(t->contexts[k], carom_scene_set_ignored(t->contexts[k], t->scenes[k], pairs,
                                                          COUNT_OF(pairs), ignored));
    }
}

static void assert_same_pairs(const carom_pairs *a, const carom_pairs *b) {
    assert_int_equal(a->count, b->count);
    if (a->count != 0) assert_memory_equal(a->data, b->data, a->count * sizeof(*a->data));
}

static void compare(twins *t) {
    const carom_scene_contacts *a = &t->contacts[0], *b = &t->contacts[1];
    for (uint64_t i = 0; i < a->count && i < b->count; ++i) {
        const carom_scene_contact *c = &a->data[i], *d = &b->data[i];
        ++methods[c->method];
        if (t->meshes != NULL) ++relations[c->relation];
        if (memcmp(c, d, sizeof(*c)) == 0) continue;
        fail_msg("contact %llu: of %u and %u, %s, depth %.17g, %u points; not %u and %u, %s, "
                 "%.17g, %u",
                 (unsigned long long)i, d->a, d->b, carom_relation_name(d->relation), d->depth,
                 d->point_count, c->a, c->b, carom_relation_name(c->relation), c->depth,
                 c->point_count);
    }
    assert_int_equal(a->count, b->count);
    compared += a->count;
    compared_meshes += t->meshes != NULL ? a->count : 0;
    assert_same_pairs(&t->begun[0], &t->begun[1]);
    assert_same_pairs(&t->ended[0], &t->ended[1]);
    carom_scene_info info[2];
    for (int k = 0; k < 2; ++k)
        assert_ok(t->contexts[k], carom_scene_get_info(t->scenes[k], &info[k]));
    assert_int_equal(info[0].live, info[1].live);
    assert_int_equal(info[0].ids, info[1].ids);
    assert_int_equal(info[0].ignored, info[1].ignored);
    assert_int_equal(info[0].contacts, info[1].contacts);
    assert_true(info[1].contacts <= info[1].pairs);
}

/* A step of both by the same call. */
static void step(twins *t) {
    for (int k = 0; k < 2; ++k)
        assert_ok(t->contexts[k], carom_scene_step(t->contexts[k], t->scenes[k], &t->contacts[k],
                                                   &t->begun[k], &t->ended[k]));
    compare(t);
}

/* The pairs of a result in device memory. */
static void read_pairs(const carom_cuda_pairs *from, carom_pairs *to) {
    carom_pairs_free(to);
    to->data = malloc((from->count + 1) * sizeof(*to->data));
    assert_non_null(to->data);
    to->owner = CAROM_OWNER_CALLER;
    to->count = to->capacity = from->count;
    assert_ok(cuda, carom_cuda_read(cuda, to->data, from->data, from->count * sizeof(*to->data)));
}

/* The same with the results of the GPU in device memory. */
static void step_on_device(twins *t) {
    carom_cuda_scene_contacts contacts = {0};
    carom_cuda_pairs begun = {0}, ended = {0};
    twins seen = *t;
    assert_ok(cpu,
              carom_scene_step(cpu, t->scenes[0], &t->contacts[0], &t->begun[0], &t->ended[0]));
    assert_ok(cuda, carom_cuda_scene_step(cuda, t->scenes[1], &contacts, &begun, &ended));
    assert_ok(cuda, carom_cuda_finish(cuda));
    if (t->meshes == NULL || t->convex == 0)
        assert_int_equal(contacts.host_items, t->meshes != NULL ? contacts.count : 0);
    assert_true(contacts.host_items <= contacts.count);
    seen.contacts[0] = t->contacts[0];
    seen.begun[0] = t->begun[0];
    seen.ended[0] = t->ended[0];
    seen.contacts[1] = (carom_scene_contacts){
        .count = contacts.count, .capacity = contacts.count, .owner = CAROM_OWNER_CALLER};
    seen.contacts[1].data = malloc((contacts.count + 1) * sizeof(*seen.contacts[1].data));
    seen.begun[1] = seen.ended[1] = (carom_pairs){0};
    assert_ok(cuda, carom_cuda_read(cuda, seen.contacts[1].data, contacts.data,
                                    contacts.count * sizeof(carom_scene_contact)));
    read_pairs(&begun, &seen.begun[1]);
    read_pairs(&ended, &seen.ended[1]);
    compare(&seen);
    free(seen.contacts[1].data);
    free(seen.begun[1].data);
    free(seen.ended[1].data);
    carom_cuda_scene_contacts_free(cuda, &contacts);
    carom_cuda_pairs_free(cuda, &begun);
    carom_cuda_pairs_free(cuda, &ended);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void change_some(twins *t, void **memory) {
    uint32_t what = test_below(t->random, 16);
    if ((what & 1) != 0) move_some(t, t->count / 4);
    if ((what & 2) != 0) remove_some(t, t->count / 8);
    if ((what & 4) != 0 && t->count < MOST_OBJECTS - 60) add_some(t, 20);
    if ((what & 8) != 0) set_some(t);
    if (test_below(t->random, 3) == 0) *memory = move_all_on_device(t);
    if (test_below(t->random, 4) == 0) move_some(t, 3);
}

static void steps_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const double scales[] = {1.0, 1.0, 1e-100, 1e100, 1e-290, 1e280};
    static const double reaches[] = {0.0, 0.0625, 0.5};
    carom_random random = {2026};
    make_hulls(&random);
    for (int round = 0; round < TEST_CASES(ROUNDS); ++round) {
        double scale = scales[round % (int)COUNT_OF(scales)];
        twins t = {.random = &random, .size = scale, .lattice = round % 4 == 1};
        t.far = scale * (round % 2 == 0 ? 4.0 : 2.5);
        twins_make(&t, scale * reaches[round % 3]);
        step(&t); /* of nothing */
        add_some(&t, OBJECTS);
        for (uint32_t s = 0; s < STEPS; ++s) {
            void *memory = NULL;
            if (s != 0) change_some(&t, &memory);
            if (s % 3 == 2)
                step_on_device(&t);
            else
                step(&t);
            carom_cuda_release(cuda, memory);
        }
        remove_some(&t, t.count);
        step(&t);
        twins_free(&t);
    }
    free_hulls();
}

/* Four kinds of scenes of meshes. */
static void steps_of_meshes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const double scales[] = {1.0, 1.0, 1.0, 1e-100, 1.0, 1e100};
    static const double reaches[] = {0.0, 0.25, 0.0, 0.0625};
    static const carom_scene_def kinds[] = {
        {.skip_depth = true}, {.least_depth = false}, {.least_depth = true}, {.skip_depth = true}};
    static const uint32_t solids[] = {3, 8, 8, 0}, convex[] = {0, 4, 0, 2, 6, 0, 3, 4};
    carom_random random = {1};
    make_hulls(&random);
    for (int round = 0; round < TEST_CASES(MESH_ROUNDS); ++round) {
        double scale = scales[round % (int)COUNT_OF(scales)];
        carom_scene_def def = kinds[round % 4];
        mesh_things meshes;
        make_meshes(scale, &meshes);
        twins t = {.random = &random,
                   .size = scale,
                   .far = 1.5 * scale,
                   .lattice = round % 8 >= 4,
                   .meshes = &meshes,
                   .convex = convex[round % 8],
                   .solids = solids[round % 4]};
        def.reach = scale * reaches[round / 4 % 4];
        if (round % 32 == 0) def.skip_depth = false; /* fifty directions for each pair of faces */
        twins_begin(&t, def);
        step(&t);
        add_some(&t, def.skip_depth ? MESH_OBJECTS : MESH_OBJECTS / 2);
        for (uint32_t s = 0; s < MESH_STEPS; ++s) {
            void *memory = NULL;
            uint32_t what = test_below(&random, 16);
            if (s != 0 && (what & 1) != 0) move_some(&t, t.count / 2);
            if (s != 0 && (what & 2) != 0) remove_some(&t, t.count / 4);
            if ((what & 4) != 0 || t.count < 4) add_some(&t, 3);
            if ((what & 8) != 0) set_some(&t);
            if (test_below(&random, 3) == 0) memory = move_all_on_device(&t);
            if (test_below(&random, 4) == 0) move_some(&t, 2);
            if (s % 3 == 2)
                step_on_device(&t);
            else
                step(&t);
            carom_cuda_release(cuda, memory);
        }
        remove_some(&t, t.count);
        step(&t);
        twins_free(&t);
        free_meshes(&meshes);
    }
    free_hulls();
}

/* More contacts than there is room for at first, and an object in contact with very many. */
static void many_contacts_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {7};
    twins t = {.random = &random, .size = 1.0, .far = 0.5};
    static carom_scene_object_def objects[MARBLES];
    twins_make(&t, 0.0);
    for (uint32_t i = 0; i < BALLS; ++i)
        objects[i] =
            (carom_scene_object_def){.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 2.0},
                                     .pose = some_pose(&random, 0.5, 1.0, false)};
    add_objects(&t, objects, BALLS);
    step(&t);
    assert_int_equal(t.contacts[1].count, BALLS * (BALLS - 1) / 2);
    twins_free(&t);
    t = (twins){.random = &random, .size = 1.0, .far = 1.0};
    twins_make(&t, 0.0);
    objects[0] = (carom_scene_object_def){
        .convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {100.0, 100.0, 1.0}}};
    for (uint32_t i = 1; i < MARBLES; ++i)
        objects[i] = (carom_scene_object_def){
            .convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0},
            .pose = {.t = {2.5 * (i % 40) - 50.0, 2.5 * (double)(i / 40) - 50.0, 1.99}}};
    for (int k = 0; k < 2; ++k)
        assert_ok(t.contexts[k],
                  carom_scene_add(t.contexts[k], t.scenes[k], objects, MARBLES, NULL));
    step(&t);
    assert_int_equal(t.contacts[1].count, MARBLES - 1);
    twins_free(&t);
}

/* A step that fails has not happened. */
static void a_failed_step_has_not_happened(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {8};
    make_hulls(&random);
    twins t = {.random = &random, .size = 1.0, .far = 2.0};
    twins_make(&t, 0.0);
    add_some(&t, 40);
    step(&t);
    carom_pose poses[40];
    for (uint32_t i = 0; i < 40; ++i) poses[i] = some_pose(&random, 2.0, 1.0, false);
    poses[7].t.x = NAN;
    carom_cuda_scene_contacts contacts = {0};
    void *memory = to_device(poses, sizeof(poses));
    assert_ok(cuda, carom_cuda_scene_move(cuda, t.scenes[1], memory, 40));
    assert_fails(cuda, carom_scene_step(cuda, t.scenes[1], NULL, NULL, NULL), CAROM_BAD_INPUT,
                 "1 objects have a pose");
    assert_ok(cuda, carom_cuda_scene_step(cuda, t.scenes[1], &contacts, NULL, NULL));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 objects have a pose");
    poses[7].t.x = 0.0;
    assert_ok(cuda, carom_cuda_write(cuda, memory, poses, sizeof(poses)));
    assert_ok(cuda, carom_cuda_scene_move(cuda, t.scenes[1], memory, 40));
    assert_ok(cpu, carom_scene_move(cpu, t.scenes[0], NULL, poses, 40));
    step(&t);
    /* nor has a change that is refused; it is complete where a caller's buffer is too small */
    carom_pose bad = {.t = {INFINITY, 0, 0}};
    assert_fails(cuda, carom_scene_move(cuda, t.scenes[1], &t.ids[3], &bad, 1), CAROM_BAD_INPUT,
                 "object");
    assert_fails(cuda, carom_cuda_scene_move(cuda, t.scenes[1], memory, 39), CAROM_BAD_INPUT,
                 "39 poses");
    move_some(&t, 30);
    carom_scene_contact one;
    carom_scene_contacts small = {.data = &one, .capacity = 1, .owner = CAROM_OWNER_CALLER};
    assert_ok(cpu, carom_scene_step(cpu, t.scenes[0], &t.contacts[0], NULL, NULL));
    assert_int_equal(carom_scene_step(cuda, t.scenes[1], &small, NULL, NULL), CAROM_MORE);
    assert_int_equal(small.count, t.contacts[0].count);
    assert_memory_equal(&one, &t.contacts[0].data[0], sizeof(one));
    step(&t);
    assert_int_equal(t.begun[1].count, 0);
    carom_cuda_release(cuda, memory);
    carom_cuda_scene_contacts_free(cuda, &contacts);
    twins_free(&t);
    free_hulls();
}

/* Steps that nobody waited for are finished by the next one. */
static void steps_are_queued(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {9};
    make_hulls(&random);
    twins t = {.random = &random, .size = 1.0, .far = 2.0};
    twins_make(&t, 0.0);
    add_some(&t, 50);
    carom_cuda_scene_contacts contacts = {0};
    for (int s = 0; s < 4; ++s) {
        assert_ok(cpu, carom_scene_step(cpu, t.scenes[0], NULL, NULL, NULL));
        assert_ok(cuda, carom_cuda_scene_step(cuda, t.scenes[1], s % 2 == 0 ? &contacts : NULL,
                                              NULL, NULL));
        if (s == 1) remove_some(&t, 5);
        if (s == 2) add_some(&t, 8); /* ids are given out again, the same ones */
        move_some(&t, 10);
    }
    step(&t);
    carom_scene_info info;
    assert_ok(cuda, carom_cuda_scene_step(cuda, t.scenes[1], &contacts, NULL, NULL));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_scene_get_info(t.scenes[1], &info));
    assert_int_equal(info.contacts, contacts.count);
    assert_true(info.bytes > 0);
    carom_cuda_scene_contacts_free(cuda, &contacts);
    twins_free(&t);
    free_hulls();
}

/* What a scene of meshes does with memory that runs out. */
static carom_status work_with_meshes(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context *context;
    carom_soup *soup = NULL;
    carom_solid *solid = NULL;
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    const carom_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint32_t corners[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    const carom_mesh_view view = {
        .positions = p, .vertex_count = 4, .corners = corners, .face_count = 4};
    const carom_context_def def = {.allocator = allocator, .backend = CAROM_BACKEND_CUDA};
    const carom_scene_def scene_def = {.reach = 0.5, .skip_depth = true};
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    status = carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup);
    if (status == CAROM_OK)
        status = carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid);
    if (status == CAROM_OK) status = carom_scene_create(context, &scene_def, &scene);
    const carom_scene_object_def objects[] = {
        {.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = soup},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
         .borrowed_solid = solid,
         .pose = {.t = {0.2, 0, 0}}},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOLID,
         .borrowed_solid = solid,
         .pose = {.t = {0, 0.1, 0}}},
        {.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = soup, .pose = {.t = {1.25, 0, 0}}},
        {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.25}}};
    if (status == CAROM_OK) status = carom_scene_add(context, scene, objects, 5, NULL);
    if (status == CAROM_OK) status = carom_scene_step(context, scene, &contacts, NULL, NULL);
    if (status == CAROM_OK) assert_int_equal(contacts.count, 9);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    carom_solid_destroy(solid);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void meshes_without_memory(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    test_allocation_failures(work_with_meshes, NULL);
}

/* A step that fails among the pairs of meshes has not happened either. */
static void a_failed_step_of_meshes_has_not_happened(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {4};
    mesh_things meshes;
    make_meshes(1.0, &meshes);
    twins t = {.random = &random, .size = 1.0, .far = 1.0, .meshes = &meshes, .solids = 4};
    twins_begin(&t, (carom_scene_def){.skip_depth = true});
    add_some(&t, 8);
    step(&t);
    carom_pose poses[8];
    for (uint32_t i = 0; i < 8; ++i) poses[i] = some_pose(&random, 1.0, 1.0, false);
    poses[3].t.x = NAN;
    void *memory = to_device(poses, sizeof(poses));
    assert_ok(cuda, carom_cuda_scene_move(cuda, t.scenes[1], memory, 8));
    assert_fails(cuda, carom_scene_step(cuda, t.scenes[1], NULL, NULL, NULL), CAROM_BAD_INPUT,
                 "1 objects have a pose");
    assert_fails(cuda, carom_cuda_scene_step(cuda, t.scenes[1], NULL, NULL, NULL), CAROM_BAD_INPUT,
                 "1 objects have a pose");
    poses[3].t.x = 0.0;
    assert_ok(cuda, carom_cuda_write(cuda, memory, poses, sizeof(poses)));
    assert_ok(cuda, carom_cuda_scene_move(cuda, t.scenes[1], memory, 8));
    assert_ok(cpu, carom_scene_move(cpu, t.scenes[0], NULL, poses, 8));
    step(&t);
    /* steps that nobody waited for */
    for (int s = 0; s < 3; ++s) {
        assert_ok(cpu, carom_scene_step(cpu, t.scenes[0], NULL, NULL, NULL));
        assert_ok(cuda, carom_cuda_scene_step(cuda, t.scenes[1], NULL, NULL, NULL));
        if (s == 1) remove_some(&t, 2);
        if (s == 2) add_some(&t, 2);
        move_some(&t, 3);
    }
    step(&t);
    carom_cuda_release(cuda, memory);
    twins_free(&t);
    free_meshes(&meshes);
}

/* A soup that is updated in device memory after it was added: the host lists its triangles, so a
 * step that needs them says so, and has not happened; after an update of the host it goes on. */
static void soups_updated_in_device_memory_are_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_shape_def shape = {.shape = CAROM_SHAPE_GRID, .detail = 2, .size = 1.0};
    const carom_scene_def def = {.reach = 0.125};
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
    carom_soup *soups[2];
    carom_scene *scenes[2];
    carom_context *contexts[2] = {cpu, cuda};
    carom_scene_contacts contacts[2] = {{0}, {0}};
    carom_pairs begun = {0};
    carom_scene_info before, after;
    for (int i = 0; i < 2; ++i) {
        assert_ok(contexts[i],
                  carom_soup_create(contexts[i], &(carom_soup_def){.mesh = &view}, &soups[i]));
        assert_ok(contexts[i], carom_scene_create(contexts[i], &def, &scenes[i]));
        const carom_scene_object_def objects[2] = {
            {.kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = soups[i]},
            {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.5},
             .pose = {{1, 0, 0, 0}, {0.25, 0.25, 0.25}}}};
        assert_ok(contexts[i], carom_scene_add(contexts[i], scenes[i], objects, 2, NULL));
        assert_ok(contexts[i], carom_scene_step(contexts[i], scenes[i], &contacts[i], NULL, NULL));
    }
    assert_int_equal(contacts[0].count, 1);
    void *memory = to_device(view.positions, view.vertex_count * 3 * sizeof(double));
    const carom_cuda_positions positions = {memory, view.scalar, view.vertex_count};
    assert_ok(cuda, carom_scene_get_info(scenes[1], &before));
    assert_ok(cuda, carom_cuda_soup_update(cuda, soups[1], &positions));
    for (int i = 0; i < 2; ++i) {
        assert_fails(cuda, carom_scene_step(cuda, scenes[1], &contacts[1], NULL, NULL),
                     CAROM_UNSUPPORTED, "in device memory alone");
        assert_fails(cuda, carom_cuda_scene_step(cuda, scenes[1], NULL, NULL, NULL),
                     CAROM_UNSUPPORTED, "in device memory alone");
        assert_ok(cuda, carom_cuda_finish(cuda));
    }
    assert_ok(cuda, carom_soup_update(cuda, soups[1], &view));
    for (int i = 0; i < 2; ++i)
        assert_ok(contexts[i],
                  carom_scene_step(contexts[i], scenes[i], &contacts[i], &begun, NULL));
    assert_int_equal(begun.count, 0); /* in contact in the last step that happened, too */
    assert_int_equal(contacts[0].count, contacts[1].count);
    assert_memory_equal(contacts[0].data, contacts[1].data,
                        contacts[0].count * sizeof(*contacts[0].data));
    assert_ok(cuda, carom_scene_get_info(scenes[1], &after));
    assert_int_equal(before.contacts, after.contacts);
    carom_cuda_release(cuda, memory);
    for (int i = 0; i < 2; ++i) {
        carom_scene_destroy(scenes[i]);
        carom_soup_destroy(soups[i]);
        carom_scene_contacts_free(&contacts[i]);
    }
    carom_pairs_free(&begun);
    carom_mesh_destroy(mesh);
}

static carom_vec3 support(void *user, const carom_vec3 *d) {
    (void)user;
    return (carom_vec3){d->x > 0, 0, 0};
}

static bool accept_all(void *user, uint32_t a, uint32_t b) {
    (void)user, (void)a, (void)b;
    return true;
}

static void assert_refused(carom_scene *scene, const carom_scene_object_def *object,
                           const char *message) {
    carom_scene_info info;
    assert_fails(cuda, carom_scene_add(cuda, scene, object, 1, NULL), CAROM_UNSUPPORTED, message);
    assert_ok(cuda, carom_scene_get_info(scene, &info));
    assert_int_equal(info.live, 0);
}

static void what_cuda_cannot_do_is_said(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_vec3 point = {1, 2, 3};
    const carom_ray ray = {.direction = {1, 0, 0}};
    const carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = &point, .vertex_count = 1}};
    const carom_scene_def accepting = {.accept = accept_all};
    carom_scene_contacts contacts = {0};
    carom_cuda_frame *frame;
    carom_scene *scene, *of_cpu;
    carom_hull *hull;
    carom_soup *soup, *soup_of_cpu, *soup_by_grid;
    carom_hit hit;
    assert_fails(cuda, carom_scene_create(cuda, &accepting, &scene), CAROM_UNSUPPORTED, "accept");
    assert_ok(cuda, carom_scene_create(cuda, NULL, &scene));
    assert_ok(cpu, carom_scene_create(cpu, NULL, &of_cpu));
    assert_ok(cpu, carom_hull_create(cpu, &def, &hull));
    assert_ok(cuda, carom_soup_create(cuda, NULL, &soup));
    const carom_scene_object_def ball = {0};
    assert_ok(cpu, carom_soup_create(cpu, NULL, &soup_of_cpu));
    assert_ok(cuda, carom_soup_create(cuda, &(carom_soup_def){.method = CAROM_SOUP_METHOD_GRID},
                                      &soup_by_grid));
    const carom_scene_object_def of_soup = {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                            .borrowed_soup = soup};
    const carom_scene_object_def of_cpu_soup = {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                                .borrowed_soup = soup_of_cpu};
    const carom_scene_object_def by_grid = {.kind = CAROM_SCENE_OBJECT_KIND_SOUP,
                                            .borrowed_soup = soup_by_grid};
    const carom_scene_object_def on_cpu = {
        .convex = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull}};
    const carom_scene_object_def called = {.convex = {.kind = CAROM_CONVEX_KIND_SUPPORT,
                                                      .support = support,
                                                      .support_ball = {{0, 0, 0}, 1.0}}};
    carom_packing *packing =
        shape_packing(cpu, &(carom_shape_def){.size = 1.0}, &(carom_packing_def){.count = 10});
    carom_tree *tree;
    assert_ok(cpu, carom_tree_create(cpu, &(carom_tree_def){.packing = packing}, &tree));
    const carom_scene_object_def of_tree = {.kind = CAROM_SCENE_OBJECT_KIND_PACKING,
                                            .borrowed_tree = tree};
    const carom_scene_object_def of_both[2] = {of_soup, of_tree};
    assert_fails(cuda, carom_scene_add(cuda, scene, of_both, 2, NULL), CAROM_UNSUPPORTED,
                 "object 1 is a packing, and scenes on cuda take convex objects, soups and solids");
    assert_refused(scene, &of_tree, "object 0 is a packing");
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    assert_refused(scene, &of_cpu_soup, "object 0: the soup was made on cpu");
    assert_refused(scene, &by_grid, "");
    assert_refused(scene, &on_cpu, "the hull of object 0 was made on cpu");
    assert_refused(scene, &called, "object 0 has a support function");
    assert_fails(cuda, carom_scene_commit(cuda, scene), CAROM_UNSUPPORTED, "a query of a scene");
    assert_fails(cuda, carom_scene_query_objects(cuda, scene, &ball, 1, &contacts),
                 CAROM_UNSUPPORTED, "a query of a scene");
    assert_fails(cuda, carom_scene_cast_rays(cuda, scene, &ray, 1, &hit), CAROM_UNSUPPORTED,
                 "a query of a scene");
    assert_fails(cuda, carom_scene_closest_points(cuda, scene, &point, 1, &hit), CAROM_UNSUPPORTED,
                 "a query of a scene");
    assert_fails(cpu, carom_scene_step(cpu, scene, NULL, NULL, NULL), CAROM_UNSUPPORTED,
                 "made on cuda");
    assert_fails(cuda, carom_scene_add(cuda, of_cpu, &ball, 1, NULL), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cpu, carom_cuda_scene_step(cpu, of_cpu, NULL, NULL, NULL), CAROM_UNSUPPORTED,
                 "backend cuda");
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_fails(cuda, carom_cuda_scene_step(cuda, scene, NULL, NULL, NULL), CAROM_UNSUPPORTED,
                 "a frame is being recorded");
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    carom_cuda_frame_destroy(frame);
    carom_scene_destroy(scene);
    carom_scene_destroy(of_cpu);
    carom_soup_destroy(soup);
    carom_soup_destroy(soup_of_cpu);
    carom_soup_destroy(soup_by_grid);
    carom_hull_destroy(hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_same),
        cmocka_unit_test(steps_of_meshes_are_the_same),
        cmocka_unit_test(meshes_without_memory),
        cmocka_unit_test(a_failed_step_of_meshes_has_not_happened),
        cmocka_unit_test(soups_updated_in_device_memory_are_refused),
        cmocka_unit_test(many_contacts_are_the_same),
        cmocka_unit_test(a_failed_step_has_not_happened),
        cmocka_unit_test(steps_are_queued),
        cmocka_unit_test(what_cuda_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("scene_cuda", tests, set_up, report);
}
