/* SPDX-License-Identifier: MIT */
/* Robots of the shared models and by formula (robot_models.h). */
#include "tests/support/robot_models.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/models.h"
#include "tests/support/test.h"

const robot_model robot_models[ROBOT_MODELS] = {
    {"scara", NULL, NULL, SCENE_ROBOT_SCARA},
    {"gantry", NULL, NULL, SCENE_ROBOT_GANTRY},
    {"chain", NULL, NULL, SCENE_ROBOT_CHAIN},
    {"ring", NULL, NULL, SCENE_ROBOT_RING},
    {"fanuc", "robots/fanuc_m10ia/fanuc.urdf", "robots/fanuc_m10ia/fanuc.srdf", 0},
    {"panda", "robots/panda/panda.urdf", "robots/panda/panda.srdf", 0},
    {"pr2", "robots/pr2/pr2.urdf", "robots/pr2/pr2_full.srdf", 0},
    {"husky", "robots/husky/husky.urdf", NULL, 0},
    {"xarm6", "robots/xarm6_gripper/xarm6_with_gripper.urdf", NULL, 0},
    {"hyq", "robots/hyq/hyq_no_sensors.urdf", "robots/hyq/hyq.srdf", 0},
};

bool robot_model_is_there(const robot_model *model) {
    return model->urdf == NULL || test_shared_folder() != NULL;
}

carom_urdf *robot_model_load(carom_context *context, const robot_model *model) {
    carom_urdf *urdf = NULL;
    char path[1024];
    if (model->urdf == NULL) {
        char *text = malloc(SCENE_ROBOT_TEXT);
        size_t length = scene_robot_write(model->formula, text, SCENE_ROBOT_TEXT);
        assert_true(length > 0);
        assert_ok(context,
                  carom_urdf_load_memory(context, text, length, "./by_formula.urdf", NULL, &urdf));
        free(text);
        return urdf;
    }
    models_path(model->urdf, path, sizeof(path));
    assert_ok(context, carom_urdf_load(context, path, NULL, &urdf));
    if (model->srdf != NULL) {
        models_path(model->srdf, path, sizeof(path));
        assert_ok(context, carom_urdf_load_srdf(context, urdf, path));
    }
    return urdf;
}

static bool has_mesh(const robot_model *model) {
    return model->urdf == NULL && model->formula == SCENE_ROBOT_RING;
}

void robot_model_write_mesh(carom_context *context, const robot_model *model) {
    carom_shape_def def = scene_robot_ring();
    carom_mesh_view view;
    carom_mesh *ring;
    if (!has_mesh(model)) return;
    assert_ok(context, carom_shape_make(context, &def, &ring));
    assert_ok(context, carom_mesh_get_view(ring, &view));
    assert_ok(context,
              carom_mesh_save(context, &view, CAROM_MESH_FORMAT_GUESS, SCENE_ROBOT_RING_FILE));
    carom_mesh_destroy(ring);
}

void robot_model_remove_mesh(const robot_model *model) {
    if (has_mesh(model)) remove(SCENE_ROBOT_RING_FILE);
}
