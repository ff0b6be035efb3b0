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
    carom_mesh_triangulate_def def = {.fan = true};
    models_path(file, path, sizeof(path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
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

carom_pose models_pose(carom_context *context, const double *m, double scale) {
    double rigid[12];
    carom_pose pose;
    for (int i = 0; i < 12; ++i) rigid[i] = i % 4 == 3 ? m[i] : m[i] / scale;
    assert_ok(context, carom_pose_from_matrix(context, rigid, &pose));
    return pose;
}

double *models_positions(const carom_mesh_view *view) {
    double *p = malloc(view->vertex_count * 3 * sizeof(double));
    assert_non_null(p);
    for (uint64_t i = 0; i < 3 * view->vertex_count; ++i)
        p[i] = view->scalar == CAROM_SCALAR_FLOAT32 ? (double)((const float *)view->positions)[i]
                                                    : ((const double *)view->positions)[i];
    return p;
}

double *models_move(const carom_mesh *mesh, const double *m, carom_mesh_view *view) {
    assert_int_equal(carom_mesh_get_view(mesh, view), CAROM_OK);
    double *moved = models_positions(view);
    for (uint64_t v = 0; v < view->vertex_count; ++v) {
        double p[3] = {moved[3 * v], moved[3 * v + 1], moved[3 * v + 2]};
        for (int i = 0; i < 3; ++i)
            moved[3 * v + i] =
                ((m[4 * i] * p[0] + m[4 * i + 1] * p[1]) + m[4 * i + 2] * p[2]) + m[4 * i + 3];
    }
    view->positions = moved;
    view->scalar = CAROM_SCALAR_FLOAT64;
    view->stride = 0;
    return moved;
}

bool models_next_posed_row(FILE *file, models_posed_row *row) {
    static char line[4096];
    char *cells[32];
    if (fgets(line, sizeof(line), file) == NULL) return false;
    assert_true(models_cut_line(line, cells, 32) >= 23);
    snprintf(row->pair, sizeof(row->pair), "%s", cells[0]);
    row->scale = strtod(cells[2], NULL);
    for (int i = 0; i < 12; ++i) row->m[i] = strtod(cells[3 + i], NULL);
    row->meets = strtoull(cells[15], NULL, 10) != 0;
    row->volume = strtod(cells[22], NULL);
    return true;
}
