/* SPDX-License-Identifier: MIT */
/* Robots: any bytes either get one message that names the file and a line, or are a robot of finite
 * numbers whose elements lie link by link. The first byte selects what is read; the same text is
 * then read as SRDF. */
#include <math.h>

#include "cli/urdf.h"
#include "fuzz/fuzz.h"

static bool is_finite(const carom_pose *p) {
    return isfinite(p->t.x) && isfinite(p->t.y) && isfinite(p->t.z) && isfinite(p->q.w) &&
           isfinite(p->q.x) && isfinite(p->q.y) && isfinite(p->q.z);
}

static void check_robot(urdf *robot) {
    uint32_t elements = 0;
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        const urdf_link *l = &robot->links[i];
        FUZZ_CHECK(l->first == elements);
        elements += l->count;
        FUZZ_CHECK(l->parent == URDF_NONE || l->parent < robot->link_count);
        FUZZ_CHECK(strlen(l->name) < URDF_NAME_SIZE && urdf_find_link(robot, l->name) == i);
    }
    FUZZ_CHECK(elements == robot->element_count);
    for (uint32_t i = 0; i < elements; ++i) {
        const urdf_element *e = &robot->elements[i];
        const urdf_link *l = &robot->links[e->link];
        FUZZ_CHECK(i >= l->first && i < l->first + l->count && is_finite(&e->origin));
        FUZZ_CHECK(e->file == NULL || *e->file != '\0');
    }
    for (uint32_t i = 0; i < robot->joint_count; ++i)
        FUZZ_CHECK(robot->joints[i].known && fabs(robot->joints[i].value) <= 1e100);
    FUZZ_CHECK(robot->unknown_count <= URDF_MOST_UNKNOWN);
}

static bool check_pair(void *user, uint32_t a, uint32_t b) {
    const urdf *robot = user;
    FUZZ_CHECK(a < robot->link_count && b < robot->link_count);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static urdf robot;
    uint64_t foreign;
    if (size == 0) return 0;
    const char *text = (const char *)bytes + 1;
    urdf_def def = {.path = "f",
                    .text = text,
                    .size = size - 1,
                    .visual = (bytes[0] & 1) != 0,
                    .joints = (bytes[0] & 2) != 0 ? "j=0.5" : NULL};
    carom_status status = urdf_read(&def, &robot);
    FUZZ_CHECK((status == CAROM_OK) == (robot.message[0] == '\0'));
    FUZZ_CHECK(status != CAROM_BAD_FILE || strncmp(robot.message, "f:", 2) == 0);
    if (status == CAROM_OK) {
        check_robot(&robot);
        status = urdf_read_srdf(&robot, "g", text, size - 1, check_pair, &robot, &foreign);
        FUZZ_CHECK(status == CAROM_OK || strncmp(robot.message, "g:", 2) == 0);
    }
    urdf_free(&robot);
    return 0;
}
