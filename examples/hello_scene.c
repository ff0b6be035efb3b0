/* SPDX-License-Identifier: MIT */
/* hello_scene.c: how deep do a ball and a box overlap? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_scene *scene;
    carom_scene_contacts contacts = {0};
    const carom_scene_object_def objects[2] = {
        {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0}},
        {.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 1.0, 1.0}},
         .pose = {.t = {1.9, 0.0, 0.0}}}};
    if (carom_context_create(NULL, &context) || carom_scene_create(context, NULL, &scene) ||
        carom_scene_add(context, scene, objects, 2, NULL) ||
        carom_scene_step(context, scene, &contacts, NULL, NULL))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    for (uint64_t i = 0; i < contacts.count; ++i)
        printf("objects %u and %u overlap by %.6f\n", contacts.data[i].a, contacts.data[i].b,
               contacts.data[i].depth);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    carom_context_destroy(context);
}
