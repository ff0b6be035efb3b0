/* SPDX-License-Identifier: MIT */
/* --pose: any text gives a pose of finite numbers or a message. */
#include "fuzz/fuzz.h"

#include "cli/pose.h"

static int is_finite(double x) {
    return x - x == 0.0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1), message[256] = "";
    FUZZ_CHECK(text != NULL);
    if (size != 0) memcpy(text, bytes, size);
    text[size] = '\0';
    pose_arg pose;
    bool good = pose_read(text, &pose, message, sizeof(message));
    FUZZ_CHECK(good == (message[0] == '\0'));
    FUZZ_CHECK(strlen(message) < sizeof(message));
    const carom_pose *p = &pose.pose;
    FUZZ_CHECK(is_finite(p->q.w) && is_finite(p->q.x) && is_finite(p->q.y) && is_finite(p->q.z));
    FUZZ_CHECK(is_finite(p->t.x) && is_finite(p->t.y) && is_finite(p->t.z));
    for (int i = 0; i < POSE_NUMBERS; ++i) FUZZ_CHECK(is_finite(pose.matrix[i]));
    if (good && !pose.is_matrix)
        FUZZ_CHECK(p->q.w != 0.0 || p->q.x != 0.0 || p->q.y != 0.0 || p->q.z != 0.0);
    free(text);
    return 0;
}
