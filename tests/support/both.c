/* SPDX-License-Identifier: MIT */
#include "tests/support/both.h"

#include <math.h>

#include "tests/support/shapes.h"
#include "tests/support/test.h"

both both_create(carom_context *cpu, carom_context *cuda, const carom_soup_def *def) {
    both b = {.cpu_context = cpu,
              .cuda_context = cuda,
              .vertices = def->mesh != NULL ? def->mesh->vertex_count : 0};
    assert_ok(cpu, carom_soup_create(cpu, def, &b.cpu));
    assert_ok(cuda, carom_soup_create(cuda, def, &b.cuda));
    return b;
}

void both_destroy(both *b) {
    carom_soup_destroy(b->cpu);
    carom_soup_destroy(b->cuda);
}

void both_change(both *b, carom_random *random, lattice_soup *soup) {
    carom_mesh_view view = lattice_view(soup);
    uint32_t face = (uint32_t)(carom_random_next(random) % view.face_count);
    lattice_shake(random, soup);
    view = lattice_view(soup);
    assert_ok(b->cpu_context, carom_soup_update(b->cpu_context, b->cpu, &view));
    assert_ok(b->cuda_context, carom_soup_update(b->cuda_context, b->cuda, &view));
    assert_ok(b->cpu_context, carom_soup_remove(b->cpu_context, b->cpu, &face, 1));
    assert_ok(b->cuda_context, carom_soup_remove(b->cuda_context, b->cuda, &face, 1));
}

double both_scale(int i) {
    static const double scales[] = {1.0, 0x1p-140, 0x1p130, 3.0, 0x1p-1000, 0x1p900, 1e-100, 1e100};
    return i % 3 == 0 ? scales[i / 3 % (int)COUNT_OF(scales)] : 1.0;
}

void both_lattice_make(carom_random *random, int i, both_lattice *lattice) {
    lattice->scale = both_scale(i);
    lattice_make(random, &lattice->soup);
    bool floats = i % 2 == 0 && lattice->scale == 1.0;
    lattice->by = 0.0;
    if (i % 7 == 0 && !floats) lattice->by = i % 2 == 0 ? 0.1 : 1e10;
    lattice_move(&lattice->soup, lattice->by, lattice->scale);
    lattice->view = floats ? lattice_view_floats(&lattice->soup) : lattice_view(&lattice->soup);
    lattice->def = (carom_soup_def){.mesh = &lattice->view,
                                    .degenerate = i % 4 == 3 ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                             : CAROM_SOUP_DEGENERATE_ALONE};
}

#define UNEVEN_FACES 1000u

carom_mesh_view both_uneven(carom_random *random) {
    static float xyz[9 * UNEVEN_FACES];
    static uint32_t corners[3 * UNEVEN_FACES];
    carom_mesh_view view = {.positions = xyz,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .corners = corners,
                            .face_count = 1 + test_below(random, UNEVEN_FACES)};
    view.vertex_count = 3 * view.face_count;
    for (uint32_t f = 0; f < view.face_count; ++f) {
        double size = pow(10.0, -(double)test_below(random, 8)), centre[3];
        for (int k = 0; k < 3; ++k) centre[k] = carom_random_between(random, -1.0, 1.0);
        for (uint32_t v = 0; v < 3; ++v) {
            double thin = v == 2 && f % 3 == 0 ? 1e-6 : 1.0;
            corners[3 * f + v] = 3 * f + v;
            for (uint32_t k = 0; k < 3; ++k)
                xyz[9 * f + 3 * v + k] =
                    (float)(centre[k] +
                            (v == 0 ? 0.0 : thin * size) * carom_random_between(random, -1.0, 1.0));
        }
    }
    return view;
}

void both_cloths_make(carom_context *cpu, carom_context *cuda, both_cloths *cloths) {
    *cloths = (both_cloths){0};
    for (uint64_t i = 0; i < 2; ++i) {
        const carom_shape_def shape = {
            .shape = CAROM_SHAPE_CLOTH, .detail = 50, .seed = i, .scalar = CAROM_SCALAR_FLOAT32};
        cloths->meshes[i] = shape_mesh(cpu, &shape, &cloths->views[i]);
        uint64_t bytes = cloths->views[i].vertex_count * 3 * sizeof(float);
        assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &cloths->data[i]));
        assert_ok(cuda, carom_cuda_write(cuda, cloths->data[i], cloths->views[i].positions, bytes));
        cloths->positions[i] = (carom_cuda_positions){cloths->data[i], CAROM_SCALAR_FLOAT32,
                                                      cloths->views[i].vertex_count};
    }
}

void both_cloths_free(carom_context *cuda, both_cloths *cloths) {
    for (int i = 0; i < 2; ++i) {
        carom_cuda_release(cuda, cloths->data[i]);
        carom_mesh_destroy(cloths->meshes[i]);
    }
}
