/* SPDX-License-Identifier: MIT */
/* Robots: any bytes either get one message that names the file and a line, or are a robot of finite
 * numbers whose elements lie link by link. The first byte selects what is read; the same text is
 * then read as SRDF. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "robot/robot_urdf.h"

static bool is_finite(const carom_pose *p) {
    return isfinite(p->t.x) && isfinite(p->t.y) && isfinite(p->t.z) && isfinite(p->q.w) &&
           isfinite(p->q.x) && isfinite(p->q.y) && isfinite(p->q.z);
}

static void check_joints(const carom_urdf_view *v) {
    for (uint32_t i = 0; i < v->joint_count; ++i) {
        const carom_urdf_joint *j = &v->joints[i];
        FUZZ_CHECK(fabs(j->value) <= 1e100 && j->lower <= j->upper && is_finite(&j->origin));
        FUZZ_CHECK(j->parent < v->link_count && j->child < v->link_count);
        FUZZ_CHECK(v->links[j->child].parent == j->parent);
        FUZZ_CHECK(j->mimic == CAROM_NONE || j->mimic < v->joint_count);
    }
}

static void check_robot(carom_urdf *robot) {
    uint32_t elements = 0;
    carom_urdf_view v;
    FUZZ_CHECK(carom_urdf_get_view(robot, &v) == CAROM_OK);
    for (uint32_t i = 0; i < v.link_count; ++i) {
        const carom_urdf_link *l = &v.links[i];
        FUZZ_CHECK(l->first == elements);
        elements += l->count;
        FUZZ_CHECK(l->parent == CAROM_NONE || l->parent < v.link_count);
        FUZZ_CHECK(strlen(l->name) < CAROM_URDF_NAME_SIZE &&
                   carom_urdf_find_link(robot, l->name) == i);
        FUZZ_CHECK(is_finite(&l->in_world) && is_finite(&l->in_parent));
    }
    FUZZ_CHECK(elements == v.element_count);
    for (uint32_t i = 0; i < elements; ++i) {
        const carom_urdf_element *e = &v.elements[i];
        const carom_urdf_link *l = &v.links[e->link];
        FUZZ_CHECK(i >= l->first && i < l->first + l->count && is_finite(&e->origin));
        FUZZ_CHECK(e->file == NULL || *e->file != '\0');
    }
    check_joints(&v);
    for (uint64_t i = 0; i < v.disabled_count; ++i)
        FUZZ_CHECK(v.disabled[i].a < v.link_count && v.disabled[i].b < v.link_count);
    FUZZ_CHECK(v.unknown_count <= CAROM_URDF_MOST_UNKNOWN);
}

/* Files of meshes are looked for beside a file that is in no folder of this machine: a name is
 * refused or not found, and none is opened. */
static void check_files(carom_context *context, const carom_urdf *robot) {
    carom_urdf_view v;
    FUZZ_CHECK(carom_urdf_get_view(robot, &v) == CAROM_OK);
    for (uint32_t i = 0; i < v.element_count; ++i) {
        char path[CAROM_URDF_PATH_SIZE];
        if (v.elements[i].file == NULL) continue;
        carom_status status =
            carom_urdf_find_file(context, robot, v.elements[i].file, path, sizeof(path));
        FUZZ_CHECK(status == CAROM_BAD_FILE || status == CAROM_IO);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    const char *text = (const char *)bytes + 1;
    carom_context *context;
    carom_context_def one = {.threads = 1};
    carom_urdf *robot;
    carom_urdf_def def = {.visual = (bytes[0] & 1) != 0,
                          .joints = (bytes[0] & 2) != 0 ? "j=0.5" : NULL,
                          .packages = (bytes[0] & 4) != 0 ? "p=/nowhere/p\nq=/nowhere" : NULL,
                          .package_path = (bytes[0] & 8) != 0 ? "/nowhere/a::/nowhere/b/" : NULL};
    FUZZ_CHECK(carom_context_create(&one, &context) == CAROM_OK);
    carom_status status =
        carom_urdf_load_memory(context, text, size - 1, "/nowhere/f", &def, &robot);
    const char *message = carom_context_message(context);
    FUZZ_CHECK((status == CAROM_OK) == (robot != NULL));
    FUZZ_CHECK(status != CAROM_BAD_FILE || strncmp(message, "/nowhere/f:", 11) == 0);
    if (status == CAROM_OK) {
        check_files(context, robot);
        status = carom_urdf_load_srdf_memory(context, robot, text, size - 1, "g");
        FUZZ_CHECK(status == CAROM_OK || strncmp(carom_context_message(context), "g:", 2) == 0);
        check_robot(robot);
    }
    carom_urdf_destroy(robot);
    carom_context_destroy(context);
    return 0;
}
