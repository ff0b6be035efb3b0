/* SPDX-License-Identifier: MIT */
/* Finding and loading the shared models. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/models.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void unpack_stats(void) {
    struct stat info;
    char command[2400];
    if (stat(CAROM_BINARY_DIR "/models/stats", &info) == 0) return;
    /* another test may do the same at this moment: the first to rename wins */
    snprintf(command, sizeof(command),
             "cd '%s' && mkdir models.%ld && tar xzf '%s/models/stats.tar.gz' -C models.%ld && "
             "{ mv -T models.%ld models 2>/dev/null || rm -r models.%ld; }",
             CAROM_BINARY_DIR, (long)getpid(), test_shared_folder(), (long)getpid(), (long)getpid(),
             (long)getpid());
    assert_int_equal(system(command), 0);
}

void models_path(const char *file, char *path, size_t size) {
    if (strncmp(file, "stats/", 6) == 0) {
        unpack_stats();
        snprintf(path, size, CAROM_BINARY_DIR "/models/%s", file);
    } else {
        snprintf(path, size, "%s/models/%s", test_shared_folder(), file);
    }
}

FILE *models_open_gzip(const char *file) {
    char path[1024], command[1100];
    snprintf(path, sizeof(path), "%s/models/%s", test_shared_folder(), file);
    if (access(path, R_OK) != 0) return NULL;
    snprintf(command, sizeof(command), "gzip -dc '%s'", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    return pipe;
}

carom_mesh *models_load_fan(carom_context *context, const char *file) {
    char path[1024];
    carom_mesh *mesh, *welded, *fan;
    carom_mesh_view view;
    carom_triangulate_def def = {.fan = true};
    models_path(file, path, sizeof(path));
    assert_ok(context, carom_mesh_load(context, path, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_weld(context, &view, &welded));
    assert_ok(context, carom_mesh_get_view(welded, &view));
    assert_ok(context, carom_mesh_triangulate(context, &view, &def, &fan, NULL));
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(welded);
    return fan;
}

FILE *models_open_text(const char *path) {
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s/models/%s", test_shared_folder(), path);
    FILE *file = fopen(whole, "r");
    assert_non_null(file);
    return file;
}

int models_cut_line(char *line, char *cells[], int most) {
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && count < most;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = '\0';
        cells[count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

/* Shepperd 1978. */
carom_pose models_pose(const double *m, double scale) {
    double r[3][3];
    carom_pose p = {.t = {m[3], m[7], m[11]}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) r[i][k] = m[4 * i + k] / scale;
    double w = 1 + r[0][0] + r[1][1] + r[2][2], x = 1 + r[0][0] - r[1][1] - r[2][2];
    double y = 1 - r[0][0] + r[1][1] - r[2][2], z = 1 - r[0][0] - r[1][1] + r[2][2];
    if (w >= x && w >= y && w >= z) {
        p.w = w, p.x = r[2][1] - r[1][2], p.y = r[0][2] - r[2][0], p.z = r[1][0] - r[0][1];
    } else if (x >= y && x >= z) {
        p.w = r[2][1] - r[1][2], p.x = x, p.y = r[0][1] + r[1][0], p.z = r[0][2] + r[2][0];
    } else if (y >= z) {
        p.w = r[0][2] - r[2][0], p.x = r[0][1] + r[1][0], p.y = y, p.z = r[1][2] + r[2][1];
    } else {
        p.w = r[1][0] - r[0][1], p.x = r[0][2] + r[2][0], p.y = r[1][2] + r[2][1], p.z = z;
    }
    return p;
}
