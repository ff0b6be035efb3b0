/* SPDX-License-Identifier: MIT */
/* How much do two solids overlap, and which way do they push? Give it two closed meshes, or it
 * takes a torus and a ball that is moved into it. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

static carom_solid *load(carom_context *context, const char *path, carom_shape shape) {
    carom_shape_def def = {.shape = shape};
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_solid *solid;
    must(context, path != NULL ? carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh)
                               : carom_shape_make(context, &def, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    must(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid));
    carom_mesh_destroy(mesh); /* the solid has its own copy */
    return solid;
}

int main(int argc, char **argv) {
    carom_context *context;
    carom_solid_patches patches = {0};
    must(NULL, carom_context_create(NULL, &context));

    /* input, prepare */
    carom_solid *a = load(context, argc > 2 ? argv[1] : NULL, CAROM_SHAPE_TORUS);
    carom_solid *b = load(context, argc > 2 ? argv[2] : NULL, CAROM_SHAPE_SPHERE);

    /* query, result: b comes nearer, frame by frame; nothing is allocated once it is warm */
    for (int frame = 0; frame <= 4; ++frame) {
        carom_pose pose = {.t = {2.6 - 0.4 * frame, 0.0, 0.0}};
        carom_solid_query_def wanted = {.distance = true};
        carom_solid_result o;
        must(context, carom_solid_overlap(context, a, NULL, b, &pose, &wanted, &o));
        printf("x = %.1f: %s", pose.t.x, carom_relation_name(o.relation));
        if (o.relation == CAROM_RELATION_APART)
            printf(", %.6f apart\n", o.distance);
        else
            printf(", volume %.6f, pushed by (%.4f, %.4f, %.4f)\n", o.volume, o.force.x, o.force.y,
                   o.force.z);
    }

    /* where they are in contact, piece by piece */
    must(context, carom_solid_overlap_patches(context, a, NULL, b, NULL, &patches));
    for (uint64_t i = 0; i < patches.count; ++i)
        printf("a piece of %.6f around (%.3f, %.3f, %.3f)\n", patches.data[i].volume,
               patches.data[i].centroid.x, patches.data[i].centroid.y, patches.data[i].centroid.z);

    /* a ball that is squeezed: the same faces, other corners, and the answers of a new solid */
    carom_mesh *mesh;
    carom_mesh_view view;
    must(context,
         carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_SPHERE}, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    carom_solid *ball;
    must(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &ball));
    double *xyz = malloc(view.vertex_count * 3 * sizeof(*xyz));
    if (xyz == NULL) return EXIT_FAILURE;
    for (int frame = 1; frame <= 3; ++frame) {
        carom_solid_result o;
        for (uint64_t k = 0; k < 3 * view.vertex_count; ++k)
            xyz[k] = ((const double *)view.positions)[k] * (k % 3 == 2 ? 1.0 - 0.2 * frame : 1.0);
        must(context, carom_solid_update(
                          context, ball,
                          &(carom_mesh_view){.positions = xyz, .vertex_count = view.vertex_count}));
        must(context, carom_solid_overlap(context, a, NULL, ball, NULL, NULL, &o));
        printf("squeezed to %.1f: volume %.6f\n", 1.0 - 0.2 * frame, o.volume);
    }

    /* the force on each vertex: what a simulation of deforming bodies adds to its own */
    carom_solid_vertex_forces on_a = {0}, on_ball = {0};
    must(context,
         carom_solid_overlap_gradient(context, a, NULL, ball, &(carom_pose){.t = {0.9, 0.0, 0.0}},
                                      &on_a, &on_ball));
    double sum = 0.0;
    for (uint64_t i = 0; i < on_ball.count; ++i) sum += on_ball.data[i].force.x;
    printf("%llu vertices of the ball are pushed, by %.4f along x together\n",
           (unsigned long long)on_ball.count, sum);
    carom_solid_vertex_forces_free(&on_a);
    carom_solid_vertex_forces_free(&on_ball);
    free(xyz);
    carom_solid_destroy(ball);
    carom_mesh_destroy(mesh);

    carom_solid_patches_free(&patches);
    carom_solid_destroy(a);
    carom_solid_destroy(b);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
