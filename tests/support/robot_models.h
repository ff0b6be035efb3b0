/* SPDX-License-Identifier: MIT */
/* robot_models.h: ten robots: six of the shared models, four by formula (scenes/robots.h). */
#ifndef CAROM_TESTS_ROBOT_MODELS_H
#define CAROM_TESTS_ROBOT_MODELS_H

#include "scenes/robots.h"

typedef struct robot_model {
    const char *name, *urdf, *srdf; /* of the shared models; urdf NULL: made by formula */
    scene_robot formula;
} robot_model;

#define ROBOT_MODELS 10
extern const robot_model robot_models[ROBOT_MODELS];

/* Whether its files are there. */
bool robot_model_is_there(const robot_model *model);

/* Reads URDF and SRDF. */
carom_urdf *robot_model_load(carom_context *context, const robot_model *model);

/* Writes the mesh that a robot by formula names to the current folder, and removes it. */
void robot_model_write_mesh(carom_context *context, const robot_model *model);
void robot_model_remove_mesh(const robot_model *model);

#endif
