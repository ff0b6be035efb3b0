/* SPDX-License-Identifier: MIT */
#include "tests/support/mesh_points.h"

#include "tests/support/test.h"

static carom_vec3 mesh_points_corner(const carom_mesh_view *view, uint64_t vertex) {
    const float *f = (const float *)view->positions + 3 * vertex;
    const double *d = (const double *)view->positions + 3 * vertex;
    return view->scalar == CAROM_SCALAR_FLOAT32
               ? (carom_vec3){(double)f[0], (double)f[1], (double)f[2]}
               : (carom_vec3){d[0], d[1], d[2]};
}

carom_vec3 mesh_any_point(carom_random *random, const carom_mesh_view *view) {
    uint64_t face = carom_random_next(random) % view->face_count;
    uint64_t first = view->offsets != NULL ? view->offsets[face] : 3 * face;
    uint32_t kind = test_below(random, 3);
    double s = kind == 0 ? 0.0 : kind == 1 ? 0.5 : carom_random_uniform(random);
    double t = kind == 2 ? carom_random_uniform(random) * (1.0 - s) : 0.0;
    carom_vec3 a = mesh_points_corner(view, view->corners[first]), b, c;
    b = mesh_points_corner(view, view->corners[first + 1]);
    c = mesh_points_corner(view, view->corners[first + 2]);
    return (carom_vec3){a.x + s * (b.x - a.x) + t * (c.x - a.x),
                        a.y + s * (b.y - a.y) + t * (c.y - a.y),
                        a.z + s * (b.z - a.z) + t * (c.z - a.z)};
}
