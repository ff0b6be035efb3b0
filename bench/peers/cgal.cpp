// SPDX-License-Identifier: MIT
// CGAL: exact predicates on a Surface_mesh (its self_intersections takes no plain soup).
#include <CGAL/AABB_face_graph_triangle_primitive.h>
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/self_intersections.h>
#include <CGAL/Rigid_triangle_mesh_collision_detection.h>
#include <CGAL/Side_of_triangle_mesh.h>
#include <CGAL/Surface_mesh.h>
#include <CGAL/version.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bench/peers/peers.h"

namespace {

using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using surface = CGAL::Surface_mesh<kernel::Point_3>;
using face = surface::Face_index;

// False where the halfedge structure cannot hold a face: then face numbers would no longer agree.
bool fill(const peer_mesh *mesh, surface *out) {
    out->reserve(surface::size_type(mesh->vertex_count), surface::size_type(mesh->vertex_count * 3),
                 surface::size_type(mesh->triangle_count));
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const float *p = mesh->positions + 3 * v;
        out->add_vertex(kernel::Point_3(double(p[0]), double(p[1]), double(p[2])));
    }
    for (uint64_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *c = mesh->corners + 3 * t;
        face f = out->add_face(surface::Vertex_index(c[0]), surface::Vertex_index(c[1]),
                               surface::Vertex_index(c[2]));
        if (f == surface::null_face()) return false;
    }
    return true;
}

using rigid = CGAL::Rigid_triangle_mesh_collision_detection<surface>;

struct prepared {
    surface mesh;
    std::unique_ptr<rigid::AABB_tree> tree;
    rigid detection;
};

} // namespace

const char *peer_cgal_name(void) {
    return "CGAL " CGAL_VERSION_STR
           ", exact predicates, Surface_mesh; -O3 -march=native -frounding-math";
}

bool peer_cgal_self_pairs(const peer_mesh *mesh, peer_pairs *pairs) {
    static std::vector<uint32_t> numbers;
    surface s;
    if (!fill(mesh, &s)) return false;
    std::vector<std::pair<face, face>> found;
    CGAL::Polygon_mesh_processing::self_intersections<CGAL::Sequential_tag>(
        s, std::back_inserter(found));
    numbers.clear();
    for (const auto &pair : found) {
        uint32_t a = pair.first, b = pair.second;
        numbers.push_back(a < b ? a : b);
        numbers.push_back(a < b ? b : a);
    }
    *pairs = peer_pairs{numbers.data(), found.size()};
    return true;
}

void *peer_cgal_prepare(const peer_mesh *mesh) {
    auto p = std::make_unique<prepared>();
    if (!fill(mesh, &p->mesh)) return nullptr;
    p->tree =
        std::make_unique<rigid::AABB_tree>(faces(p->mesh).begin(), faces(p->mesh).end(), p->mesh);
    p->tree->build();
    p->detection.add_mesh(*p->tree, p->mesh);
    p->detection.add_mesh(*p->tree, p->mesh);
    return p.release();
}

void peer_cgal_release(void *p) {
    delete static_cast<prepared *>(p);
}

bool peer_cgal_any(void *p, const double *m) {
    auto *both = static_cast<prepared *>(p);
    both->detection.set_transformation(1, kernel::Aff_transformation_3(m[0], m[1], m[2], m[3], m[4],
                                                                       m[5], m[6], m[7], m[8], m[9],
                                                                       m[10], m[11]));
    return !both->detection.get_all_intersections(0).empty();
}

// ---- points and a closed mesh
// --------------------------------------------------------------------

namespace {

using primitive = CGAL::AABB_face_graph_triangle_primitive<surface>;
using tree = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;

struct prepared_points {
    surface mesh;
    std::unique_ptr<tree> faces_tree;
    std::unique_ptr<CGAL::Side_of_triangle_mesh<surface, kernel>> side;
};

} // namespace

void *peer_cgal_points_prepare(const peer_mesh *mesh) {
    auto p = std::make_unique<prepared_points>();
    if (!fill(mesh, &p->mesh) || !CGAL::is_closed(p->mesh)) return nullptr;
    p->faces_tree = std::make_unique<tree>(faces(p->mesh).begin(), faces(p->mesh).end(), p->mesh);
    p->faces_tree->build();
    p->faces_tree->accelerate_distance_queries();
    p->side = std::make_unique<CGAL::Side_of_triangle_mesh<surface, kernel>>(*p->faces_tree);
    return p.release();
}

void peer_cgal_points_release(void *p) {
    delete static_cast<prepared_points *>(p);
}

void peer_cgal_closest_points(void *p, const double *points, uint64_t count, double *distances) {
    const auto *prepared = static_cast<const prepared_points *>(p);
    for (uint64_t i = 0; i < count; ++i) {
        kernel::Point_3 at(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
        distances[i] = std::sqrt(prepared->faces_tree->squared_distance(at));
    }
}

void peer_cgal_signed_distances(void *p, const double *points, uint64_t count, double *distances) {
    const auto *prepared = static_cast<const prepared_points *>(p);
    peer_cgal_closest_points(p, points, count, distances);
    for (uint64_t i = 0; i < count; ++i) {
        kernel::Point_3 at(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
        if ((*prepared->side)(at) == CGAL::ON_BOUNDED_SIDE) distances[i] = -distances[i];
    }
}
