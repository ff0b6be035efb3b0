/* SPDX-License-Identifier: MIT */
/* Files of robots: that of a small robot with some words changed and its sum made right, or cut
 * short. What is accepted is valid, and its queries stay within their arrays and end. */
#include "fuzz/oracle.h"

#include "robot/robot.h"

/* The file that is changed: made once. */
static const carom_bytes *make_file(carom_context *context) {
    static carom_bytes file;
    if (file.count != 0) return &file;
    const carom_robot_shape shapes[3] = {
        {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.5, 0.1, 0.1}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_CAPSULE, .radius = 0.1, .half_height = 0.3},
        {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.3}};
    const carom_robot_link links[3] = {
        {"a", &shapes[0], 1}, {"b", &shapes[1], 1}, {"c", &shapes[2], 1}};
    const carom_robot_joint joints[2] = {{.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                          .child = 1,
                                          .axis = {0.0, 0.0, 1.0},
                                          .lower = -1.0,
                                          .upper = 1.0},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                          .parent = 1,
                                          .child = 2,
                                          .axis = {1.0, 0.0, 0.0},
                                          .upper = 1.0}};
    const carom_robot_def def = {.links = links,
                                 .link_count = 3,
                                 .joints = joints,
                                 .joint_count = 2,
                                 .spheres = 6,
                                 .inner = 2};
    carom_robot *robot;
    FUZZ_CHECK(carom_robot_create(context, &def, &robot) == CAROM_OK);
    FUZZ_CHECK(carom_robot_add_objects(context, robot, shapes, 3, NULL) == CAROM_OK);
    FUZZ_CHECK(carom_robot_save_memory(context, robot, CAROM_ROBOT_FORMAT_GUESS, &file) ==
               CAROM_OK);
    carom_robot_destroy(robot);
    return &file;
}

static void run_queries(carom_context *context, const carom_robot *robot) {
    carom_robot_info info;
    double q[64] = {0.25, 0.5};
    carom_robot_result result;
    carom_robot_gap gap;
    FUZZ_CHECK(carom_robot_get_info(robot, &info) == CAROM_OK);
    if (info.dof > 64) return;
    (void)carom_robot_check(context, robot, q, 1, NULL, &result);
    (void)carom_robot_clearance(context, robot, q, 1, NULL, &gap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    carom_context_def def = {.threads = 1};
    carom_context *context;
    carom_robot *robot;
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    const carom_bytes *file = make_file(context);
    uint8_t *copy = malloc(file->count);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, file->data, file->count);
    uint64_t length = file->count;
    uint32_t changes = fuzz_below(&bytes, 8);
    if (changes == 7) length = fuzz_below(&bytes, 256) * 256 % (length + 1);
    for (uint32_t i = 0; i < changes; ++i) {
        uint64_t at = (fuzz_below(&bytes, 256) * 256 + fuzz_below(&bytes, 256)) % file->count;
        copy[at] = (uint8_t)fuzz_below(&bytes, 256);
    }
    if (length >= 32 && fuzz_below(&bytes, 4) != 0) {
        uint64_t sum = carom_robot_file_sum(copy + 32, length - 32), words = length / 8 - 4;
        for (int k = 0; k < 8; ++k) {
            copy[24 + k] = (uint8_t)(sum >> 8 * k);
            copy[16 + k] = (uint8_t)(words >> 8 * k);
        }
    }
    carom_status status =
        carom_robot_load_memory(context, copy, length, CAROM_ROBOT_FORMAT_GUESS, "f", &robot);
    FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_FILE || status == CAROM_TOO_LARGE ||
               status == CAROM_NO_MEMORY);
    FUZZ_CHECK((status == CAROM_OK) == (robot != NULL));
    if (robot != NULL) {
        FUZZ_CHECK_VALID(carom_robot_validate(robot));
        run_queries(context, robot);
    }
    carom_robot_destroy(robot);
    free(copy);
    carom_context_destroy(context);
    return 0;
}
