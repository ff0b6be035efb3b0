/* SPDX-License-Identifier: MIT */
/* A scene that runs for long: objects are added, moved and removed without end, and memory does not
 * grow. Ten minutes in the long form, or as many seconds as CAROM_SOAK says, with the memory
 * printed from time to time. */
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"
#include "tests/support/campaign.h"
#include "tests/support/scene.h"

#define OBJECTS 400u
#define ROOM    9.0
#define SECONDS 600.0 /* of the long form, where CAROM_SOAK says nothing */
#define REPORTS 20u   /* of the long form */
/* An arena that needed more than ever holds a second block until it is rewound. */
#define SPARE_BLOCKS 8u

/* Pages of this process that are in memory; 0: not known. */
static uint64_t resident_pages(void) {
    unsigned long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%llu %llu", &all, &resident) != 2) resident = 0;
    fclose(file);
    return resident;
}

static double soak_seconds(void) {
    const char *value = getenv("CAROM_SOAK");
    double seconds = value != NULL ? strtod(value, NULL) : 0.0;
    return seconds > 0.0 ? seconds : SECONDS;
}

static carom_scene_object_def some_object(const scene_things *things, carom_random *random) {
    uint32_t kinds = carom_random_next(random) % 40 == 0 ? 15u : 1u;
    return scene_object(things, random, ROOM, carom_random_next(random) % 2 == 0, kinds);
}

/* One step: a twentieth moves, two are replaced by others. */
static void change(carom_context *context, carom_scene *scene, const scene_things *things,
                   carom_random *random, uint32_t *ids) {
    for (uint32_t i = 0; i < OBJECTS / 20; ++i) {
        carom_pose pose = scene_pose(random, ROOM, i % 2 == 0);
        uint32_t id = ids[carom_random_next(random) % OBJECTS];
        assert_ok(context, carom_scene_move(context, scene, &id, &pose, 1));
    }
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t *id = &ids[carom_random_next(random) % OBJECTS];
        carom_scene_object_def object = some_object(things, random);
        assert_ok(context, carom_scene_remove(context, scene, id, 1));
        assert_ok(context, carom_scene_add(context, scene, &object, 1, id));
    }
}

static void memory_does_not_grow(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_context *context;
    carom_context_def def = {.allocator = test_allocator(&memory), .threads = 2};
    assert_int_equal(carom_context_create(&def, &context), CAROM_OK);
    scene_things things;
    carom_random random = {1};
    carom_scene *scene;
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0}, ended = {0};
    carom_scene_info info, first = {0};
    static uint32_t ids[OBJECTS];
    uint64_t first_blocks = 0, steps = TEST_CASES(400), done = 0;
    bool timed = campaign_is_long() && campaign_has(0);
    double start = carom_time_seconds(), next = 0.0, seconds = soak_seconds();
    scene_things_make(context, &things);
    carom_scene_def of_scene = {.reach = 0.0625};
    assert_ok(context, carom_scene_create(context, &of_scene, &scene));
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        carom_scene_object_def object = some_object(&things, &random);
        assert_ok(context, carom_scene_add(context, scene, &object, 1, &ids[i]));
    }
    for (; timed ? carom_time_seconds() - start < seconds : done < steps; ++done) {
        change(context, scene, &things, &random, ids);
        assert_ok(context, carom_scene_step(context, scene, &contacts, &begun, &ended));
        assert_ok(context, carom_scene_get_info(scene, &info));
        assert_int_equal(info.live, OBJECTS);
        assert_true(info.ids <= OBJECTS + 2); /* ids are given out again */
        if (done == steps / 2) {
            first = info;
            first_blocks = memory.live;
        }
        if (!timed || carom_time_seconds() - start < next) continue;
        next += seconds / REPORTS;
        printf("%llu steps: %llu contacts, scene %llu bytes, %llu blocks, %llu pages resident\n",
               (unsigned long long)done, (unsigned long long)info.contacts,
               (unsigned long long)info.bytes, (unsigned long long)memory.live,
               (unsigned long long)resident_pages());
        fflush(stdout);
    }
    assert_valid(carom_scene_validate(scene));
    /* Arrays may have grown once more, by half, for a step with more pairs than any before. */
    if (TEST_ALL_CASES) {
        assert_true(info.bytes <= first.bytes + first.bytes / 2);
        assert_true(memory.live <= first_blocks + SPARE_BLOCKS);
    }
    carom_scene_contacts_free(&contacts);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_scene_destroy(scene);
    scene_things_free(&things);
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_does_not_grow),
    };
    return cmocka_run_group_tests_name("scene_soak", tests, NULL, NULL);
}
