/* SPDX-License-Identifier: MIT */
/* --pose: seven or twelve numbers, separated by commas. */
#include "cli/pose.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SHOWN 40u /* characters of an invalid field */

/* Reads one number up to the next comma or the end; NULL when it is not a number. */
static const char *read_field(const char *text, double *value) {
    char field[64];
    size_t length = strcspn(text, ",");
    if (length >= sizeof(field)) return NULL;
    memcpy(field, text, length);
    field[length] = '\0';
    return args_read_number(field, value) ? text + length : NULL;
}

bool pose_read(const char *text, pose_arg *pose, char *message, size_t size) {
    double number[POSE_NUMBERS];
    size_t count = 0;
    *pose = (pose_arg){0};
    if (text == NULL) return true;
    for (const char *at = text;; ++at) {
        const char *end = count < POSE_NUMBERS ? read_field(at, &number[count]) : NULL;
        if (end == NULL && count == POSE_NUMBERS) {
            snprintf(message, size, "--pose has more than 12 numbers");
            return false;
        }
        if (end == NULL) {
            size_t length = strcspn(at, ",");
            snprintf(message, size, "--pose: '%.*s' is no number",
                     (int)(length < MOST_SHOWN ? length : MOST_SHOWN), at);
            return false;
        }
        ++count;
        at = end;
        if (*at == '\0') break;
    }
    if (count == POSE_NUMBERS) {
        pose->is_matrix = true;
        memcpy(pose->matrix, number, sizeof(number));
        return true;
    }
    if (count != 7) {
        snprintf(message, size,
                 "--pose has %zu numbers; it takes 7 (%s) or 12 (a 3x4 matrix, row by row)", count,
                 POSE_VALUE);
        return false;
    }
    pose->pose = (carom_pose){.q.w = number[3],
                              .q.x = number[4],
                              .q.y = number[5],
                              .q.z = number[6],
                              .t = {number[0], number[1], number[2]}};
    if (number[3] == 0.0 && number[4] == 0.0 && number[5] == 0.0 && number[6] == 0.0) {
        snprintf(message, size, "--pose: the quaternion is zero; 1,0,0,0 turns nothing");
        return false;
    }
    return true;
}

static carom_vec3 transform(const double *m, double x, double y, double z) {
    return (carom_vec3){((m[0] * x + m[1] * y) + m[2] * z) + m[3],
                        ((m[4] * x + m[5] * y) + m[6] * z) + m[7],
                        ((m[8] * x + m[9] * y) + m[10] * z) + m[11]};
}

carom_status pose_apply(cli *cli, const pose_arg *pose, carom_mesh **mesh) {
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(*mesh, &view);
    if (status != CAROM_OK || !pose->is_matrix) return status;
    carom_vec3 *moved = malloc((view.vertex_count + 1) * sizeof(*moved));
    if (moved == NULL) return CAROM_NO_MEMORY;
    const float *floats = view.positions;
    const double *doubles = view.positions;
    for (uint64_t i = 0; i < view.vertex_count; ++i) {
        moved[i] =
            view.scalar == CAROM_SCALAR_FLOAT32
                ? transform(pose->matrix, (double)floats[3 * i], (double)floats[3 * i + 1],
                            (double)floats[3 * i + 2])
                : transform(pose->matrix, doubles[3 * i], doubles[3 * i + 1], doubles[3 * i + 2]);
    }
    view.positions = moved;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    carom_mesh *original = *mesh;
    *mesh = NULL;
    status = carom_mesh_create(cli->context, &view, mesh);
    carom_mesh_destroy(original);
    free(moved);
    return status;
}

void pose_matrix(const carom_pose *pose, double m[12]) {
    double w = pose->q.w, x = pose->q.x, y = pose->q.y, z = pose->q.z;
    double squared = w * w + x * x + y * y + z * z;
    if (squared == 0.0) w = squared = 1.0;
    double s = 2.0 / squared;
    const double r[12] = {
        1.0 - s * (y * y + z * z), s * (x * y - w * z),       s * (x * z + w * y),       pose->t.x,
        s * (x * y + w * z),       1.0 - s * (x * x + z * z), s * (y * z - w * x),       pose->t.y,
        s * (x * z - w * y),       s * (y * z + w * x),       1.0 - s * (x * x + y * y), pose->t.z};
    for (int i = 0; i < 12; ++i) m[i] = r[i];
}
