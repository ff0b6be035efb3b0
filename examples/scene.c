/* SPDX-License-Identifier: MIT */
/* scene.c: boxes fall onto the ground. carom finds the contacts; two lines of physics per contact
 * keep boxes from moving into each other. stack.c has a real solver. */
#include <carom/carom.h>
#include <stdio.h>

#define BOXES 10
#define DT    (1.0 / 60.0)

int main(void) {
    carom_context *context = NULL;
    carom_scene *scene = NULL;
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0};
    carom_pose poses[BOXES + 1] = {{.t = {0.0, 0.0, -1.0}}}; /* the first is the ground */
    double speeds[BOXES + 1] = {0.0};                        /* upwards */

    /* prepare */
    carom_scene_object_def objects[BOXES + 1];
    for (int i = 0; i <= BOXES; ++i) {
        double half = i == 0 ? 50.0 : 0.5;
        if (i > 0) poses[i].t = (carom_vec3){0.1 * (i % 3), 0.0, 1.5 * i};
        objects[i] = (carom_scene_object_def){
            .convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {half, half, i == 0 ? 1.0 : 0.5}},
            .pose = poses[i]};
    }
    if (carom_context_create(NULL, &context) || carom_scene_create(context, NULL, &scene) ||
        carom_scene_add(context, scene, objects, BOXES + 1, NULL))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;

    /* steps: move what falls, then find all contacts */
    for (int step = 1; step <= 300; ++step) {
        for (int i = 1; i <= BOXES; ++i) poses[i].t.z += (speeds[i] -= 9.81 * DT) * DT;
        if (carom_scene_move(context, scene, NULL, poses, BOXES + 1) ||
            carom_scene_step(context, scene, &contacts, &begun, NULL))
            return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
        for (uint64_t i = 0; i < begun.count; ++i)
            printf("%.2f s: %u and %u touch\n", step * DT, begun.data[i].a, begun.data[i].b);
        for (uint64_t i = 0; i < contacts.count; ++i) { /* sorted: from the ground upwards */
            const carom_scene_contact *c = &contacts.data[i];
            poses[c->b].t.z += c->normal.z * c->depth;
            if (speeds[c->b] < speeds[c->a]) speeds[c->b] = speeds[c->a];
        }
    }

    /* query: what is seen from above? */
    carom_ray ray = {.origin = {0.0, 0.0, 99.0}, .direction = {0.0, 0.0, -1.0}};
    carom_hit hit;
    if (carom_scene_cast_rays(context, scene, &ray, 1, &hit))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("box %u is on top, %.2f high\n", hit.id, 99.0 - hit.distance);

    carom_pairs_free(&begun);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    carom_context_destroy(context);
    return 0;
}
