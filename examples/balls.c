/* SPDX-License-Identifier: MIT */
/* Moves a knot through a torus and prints how much they overlap and which way they push, with the
 * most pairs of spheres that any pose could have. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

/* Packs a shape and enters its spheres in a grid. */
static carom_balls *prepare(carom_context *context, carom_shape shape) {
    carom_mesh *mesh;
    carom_packing *packing;
    carom_balls *balls;
    carom_shape_def of_shape = {.shape = shape, .detail = 24};
    carom_mesh_view view;
    carom_packing_def of_packing = {.mesh = &view, .count = 500, .fast = true};
    must(context, carom_shape_make(context, &of_shape, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    must(context, carom_packing_create(context, &of_packing, &packing));
    carom_balls_def of_balls = {.packing = packing};
    must(context, carom_balls_create(context, &of_balls, &balls));
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return balls;
}

int main(void) {
    carom_context *context;
    must(NULL, carom_context_create(NULL, &context));

    /* prepare */
    carom_balls *torus = prepare(context, CAROM_SHAPE_TORUS);
    carom_balls *knot = prepare(context, CAROM_SHAPE_KNOT);

    /* what no pose can exceed */
    carom_balls_most most;
    must(context,
         carom_balls_bound(context, torus, knot, CAROM_BALLS_PAIR_KIND_SECONDARY, NULL, &most));
    printf("at most %llu pairs in any pose\n", (unsigned long long)most.pairs);

    /* query */
    for (int step = 0; step <= 8; ++step) {
        carom_pose pose = {{1.0, 0.0, 0.0, 0.0}, {2.0 - 0.25 * step, 0.0, 0.0}};
        carom_packing_overlap o;
        must(context, carom_balls_overlap(context, torus, NULL, knot, &pose, NULL, &o));
        printf("x = %5.2f: volume %.4f in [%.4f, %.4f], force (%.3f, %.3f, %.3f), %llu pairs\n",
               pose.t.x, o.volume.value, o.volume.lower, o.volume.upper, o.force.x, o.force.y,
               o.force.z, (unsigned long long)o.pairs);
    }

    carom_balls_destroy(knot);
    carom_balls_destroy(torus);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
