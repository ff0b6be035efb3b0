/* SPDX-License-Identifier: MIT */
/* models.h: the shared models, where they are. */
#ifndef CAROM_TESTS_MODELS_H
#define CAROM_TESTS_MODELS_H

#include <stdio.h>

#include "tests/support/test.h"

/* The path of a model such as "soups/teapot.obj"; those of stats.tar.gz are unpacked into the build
 * folder when first needed. Needs test_shared_folder(). */
void models_path(const char *file, char *path, size_t size);

/* Opens a gzipped file of the shared folder as plain bytes; NULL when it is not there. Close with
 * pclose. */
FILE *models_open_gzip(const char *file);

/* Opens a text file of the shared models; fails the test when it is not there. */
FILE *models_open_text(const char *file);

/* Cuts a line at its commas; returns the number of cells. */
int models_cut_line(char *line, char *cells[], int most);

/* The rotation of a 3 x 4 matrix as a pose; its scale is taken out. */
carom_pose models_pose(carom_context *context, const double *m, double scale);

/* Loads, welds bit for bit and splits into fans: how the truth numbers triangles. */
carom_mesh *models_load_fan(carom_context *context, const char *file);

/* The positions of a mesh as doubles, to be freed. */
double *models_positions(const carom_mesh_view *view);

/* The same moved by a 3 x 4 matrix, in doubles; *view is then the mesh with these positions. */
double *models_move(const carom_mesh *mesh, const double *m, carom_mesh_view *view);

/* A line of truth/mesh_pairs.csv: the second mesh of a pair is scaled and moved by m. */
typedef struct models_posed_row {
    char pair[64];
    double scale, m[12], volume;
    bool meets;
} models_posed_row;

/* False after the last line. */
bool models_next_posed_row(FILE *file, models_posed_row *row);

#endif
