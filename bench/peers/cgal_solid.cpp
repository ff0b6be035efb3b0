// SPDX-License-Identifier: MIT
// CGAL: the volume of two solids' intersection, by corefinement with exact predicates.
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/corefinement.h>
#include <CGAL/Polygon_mesh_processing/measure.h>
#include <CGAL/Polygon_mesh_processing/transform.h>
#include <CGAL/Surface_mesh.h>

#include <limits>
#include <memory>

#include "bench/peers/peers.h"

namespace {

namespace processing = CGAL::Polygon_mesh_processing;
using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using surface = CGAL::Surface_mesh<kernel::Point_3>;

bool fill(const peer_mesh *mesh, surface *out) {
    out->reserve(surface::size_type(mesh->vertex_count), surface::size_type(mesh->vertex_count * 3),
                 surface::size_type(mesh->triangle_count));
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const float *p = mesh->positions + 3 * v;
        out->add_vertex(kernel::Point_3(double(p[0]), double(p[1]), double(p[2])));
    }
    for (uint64_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *c = mesh->corners + 3 * t;
        surface::Face_index f = out->add_face(
            surface::Vertex_index(c[0]), surface::Vertex_index(c[1]), surface::Vertex_index(c[2]));
        if (f == surface::null_face()) return false;
    }
    return true;
}

} // namespace

void *peer_cgal_overlap_prepare(const peer_mesh *mesh) {
    auto s = std::make_unique<surface>();
    return fill(mesh, s.get()) ? s.release() : nullptr;
}

void peer_cgal_overlap_release(void *prepared) {
    delete static_cast<surface *>(prepared);
}

// Corefinement changes its input, so copies are part of every query.
double peer_cgal_overlap(void *prepared, const double *m) {
    surface a = *static_cast<surface *>(prepared), b = a, both;
    processing::transform(kernel::Aff_transformation_3(m[0], m[1], m[2], m[3], m[4], m[5], m[6],
                                                       m[7], m[8], m[9], m[10], m[11]),
                          b);
    if (!processing::corefine_and_compute_intersection(a, b, both))
        return std::numeric_limits<double>::quiet_NaN();
    return CGAL::to_double(processing::volume(both));
}
