/* SPDX-License-Identifier: MIT */
/* models.h: the shared models, where they are. */
#ifndef CAROM_TESTS_MODELS_H
#define CAROM_TESTS_MODELS_H

#include <stdio.h>

#include "tests/support/test.h"

/* The path of a model such as "soups/teapot.obj"; those of stats.tar.gz are unpacked into the build
 * folder when first asked for. Needs test_shared_folder(). */
void models_path(const char *file, char *path, size_t size);

/* Opens a gzipped file of the shared folder as plain bytes; NULL when it is not there. Close with
 * pclose. */
FILE *models_open_gzip(const char *file);

/* Loads, welds bit for bit and splits into fans: how the truth numbers triangles. */
carom_mesh *models_load_fan(carom_context *context, const char *file);

#endif
