/* SPDX-License-Identifier: MIT */
/* Prints hashes of every shape, of two starts, of a gas after thousands of collisions and of all
 * sequences. scripts/check_musl.sh compares what it prints with two C libraries. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"
#include "scenes/breaking.h"
#include "scenes/gas.h"
#include "scenes/sequence.h"

static uint64_t hash_of(const void *bytes, uint64_t size) { /* FNV-1a */
    const unsigned char *data = bytes;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint64_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static void print(const char *name, const void *bytes, uint64_t size) {
    printf("%s %016llx\n", name, (unsigned long long)hash_of(bytes, size));
}

static void check(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(1);
}

static void print_shape(carom_context *context, carom_shape shape) {
    carom_shape_def def = {.shape = shape};
    carom_mesh *mesh;
    carom_mesh_view view;
    check(context, carom_shape_make(context, &def, &mesh));
    check(context, carom_mesh_get_view(mesh, &view));
    print(carom_shape_name(shape), view.positions, view.vertex_count * 3 * sizeof(double));
    carom_mesh_destroy(mesh);
}

static void print_gas(carom_context *context) {
    enum { COUNT = 500 };
    double edge = scene_gas_edge(COUNT, 0.5, 0.3);
    carom_gas_def def = {.edges = {edge, edge, edge}};
    carom_gas_sphere *start = scene_gas_lattice(COUNT, 0.5, def.edges, 5);
    if (start == NULL) exit(1);
    scene_gas_keep_inside(start, COUNT, &def);
    scene_gas_set_speed(start, COUNT, 2.0);
    print("start", start, COUNT * sizeof(*start));
    carom_gas *gas;
    carom_gas_measures measures;
    carom_gas_spheres spheres = {0};
    def.spheres = start;
    def.sphere_count = COUNT;
    check(context, carom_gas_create(context, &def, &gas));
    check(context, carom_gas_advance(context, gas, 5.0, NULL, NULL));
    check(context, carom_gas_measure(context, gas, &measures));
    check(context, carom_gas_list_spheres(context, gas, &spheres));
    printf("collisions %llu\n", (unsigned long long)measures.collisions);
    print("gas", spheres.data, spheres.count * sizeof(*spheres.data));
    carom_gas_spheres_free(&spheres);
    carom_gas_destroy(gas);
    free(start);
}

static void print_breaking(void) {
    scene_breaking scene;
    if (!scene_breaking_begin(&scene, 20, 20, 5)) exit(1);
    for (int i = 0; i < 20; ++i) scene_breaking_step(&scene);
    print("breaking", scene.positions, scene.vertex_count * sizeof(*scene.positions));
    scene_breaking_end(&scene);
}

static void print_sequence(scene_kind kind) {
    scene_sequence s;
    if (!scene_sequence_make(kind, SCENE_LEAST_TRIANGLES, 30, &s)) exit(1);
    float(*positions)[3] = malloc(s.vertex_count * sizeof(*positions));
    if (positions == NULL) exit(1);
    scene_sequence_frame(&s, 29, positions);
    print(scene_kind_name(kind), positions, s.vertex_count * sizeof(*positions));
    free(positions);
    scene_sequence_free(&s);
}

int main(void) {
    carom_context *context;
    if (carom_context_create(NULL, &context) != CAROM_OK) return 1;
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape)
        print_shape(context, (carom_shape)shape);
    print_gas(context);
    print_breaking();
    for (int kind = 0; kind < SCENE_KIND_COUNT; ++kind) print_sequence((scene_kind)kind);
    carom_context_destroy(context);
    return 0;
}
