/* SPDX-License-Identifier: MIT */
/* hello.cpp: one query of each engine in C++17, without exceptions and without freeing anything. */
#include <carom/carom.hpp>
#include <cstdio>

namespace {

carom::context context;

template <class T> void print(const char *what, const carom::result<T> &r, double value) {
    if (r)
        std::printf("%s: %.6f\n", what, value);
    else
        std::printf("%s: %s\n", what, context.message());
}

void print(const char *what, carom_status status, uint64_t count) {
    if (status == CAROM_OK)
        std::printf("%s: %llu\n", what, static_cast<unsigned long long>(count));
    else
        std::printf("%s: %s\n", what, context.message());
}

carom::mesh make(carom_shape shape) {
    carom_shape_def def{};
    def.shape = shape;
    def.detail = 24;
    return *carom::shape_make(context, def);
}

void soups() {
    carom::mesh cloth = make(CAROM_SHAPE_CLOTH);
    carom_mesh_view view = cloth.get_view();
    carom_soup_def def{};
    def.mesh = &view;
    auto soup = carom::soup::create(context, def);
    carom::pairs pairs;
    carom_status status = soup->self_pairs(context, pairs);
    print("pairs of faces that meet", status, pairs.size());
    uint64_t neighbours = 0;
    for (const carom_pair &pair : pairs) neighbours += pair.b == pair.a + 1;
    print("of these, neighbours by number", status, neighbours);
    const carom_vec3 points[2] = {{0.0, 0.0, 5.0}, {0.0, 0.0, 9.0}};
    carom_hit hits[2];
    status = soup->closest_points(context, points, hits);
    print("the nearest face", status, hits[0].face);
    auto kfree = soup->kfree_measure(context);
    print("k", kfree, static_cast<double>(kfree->k));
}

void solids() {
    carom::mesh torus = make(CAROM_SHAPE_TORUS);
    carom_mesh_view view = torus.get_view();
    carom_pose moved{};
    moved.t.x = 1.0;

    carom_solid_def of_solid{};
    of_solid.mesh = &view;
    auto solid = carom::solid::create(context, of_solid);
    auto exact = solid->overlap(context, {}, *solid, moved);
    print("overlap of solids", exact, exact->volume);

    carom_packing_def of_packing{};
    of_packing.mesh = &view;
    of_packing.count = 64;
    auto packing = carom::packing::create(context, of_packing);
    carom::packing_spheres spheres;
    carom_status status = packing->list_spheres(context, spheres);
    print("spheres", status, spheres.size());

    carom_cover_def of_cover{};
    of_cover.mesh = &view;
    of_cover.count = 8;
    auto cover = carom::cover::create(context, of_cover);
    auto info = cover->get_info();
    print("cover reaches out by", info, info->measure.worst.upper);

    carom_tree_def of_tree{};
    of_tree.packing = packing->get();
    auto tree = carom::tree::create(context, of_tree);
    auto by_tree = tree->overlap(context, {}, *tree, moved);
    carom_balls_def of_balls{};
    of_balls.packing = packing->get();
    auto balls = carom::balls::create(context, of_balls);
    auto by_balls = balls->overlap(context, {}, *balls, moved);
    print("by trees", by_tree, by_tree->volume.value);
    print("by balls", by_balls, by_balls->volume.value);
}

void many() {
    carom_bounds boxes[2] = {{{0, 0, 0}, {2, 2, 2}}, {{1, 1, 1}, {3, 3, 3}}};
    auto broad = carom::broad::create(context);
    uint32_t ids[2];
    carom::pairs pairs, begun, ended;
    carom_status status = broad->add(context, boxes, ids);
    if (status == CAROM_OK) status = broad->step(context, pairs, begun, ended);
    print("pairs of boxes", status, begun.size());

    carom_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_mesh_view view{};
    view.positions = corners;
    view.vertex_count = 4;
    carom_hull_def of_hull{};
    of_hull.mesh = &view;
    auto hull = carom::hull::create(context, of_hull);
    carom_pose moved{};
    moved.t.x = 3.0;
    auto gap = carom::convex_distance(context, hull->shape(), {}, hull->shape(), moved);
    print("distance of hulls", gap, gap->distance);

    carom_scene_object_def objects[2] = {};
    objects[0].convex = objects[1].convex = hull->shape();
    objects[1].pose.t.x = 0.25;
    auto scene = carom::scene::create(context);
    carom::scene_contacts contacts;
    status = scene->add(context, objects);
    if (status == CAROM_OK) status = scene->step(context, contacts);
    print("contacts", status, contacts.size());

    carom_gas_sphere spheres[2] = {{{2, 5, 5}, {1, 0, 0}, 0.5, 1}, {{8, 5, 5}, {0, 0, 0}, 0.5, 1}};
    carom_gas_def of_gas{};
    of_gas.spheres = spheres;
    of_gas.sphere_count = 2;
    of_gas.edges = {10, 10, 10};
    auto gas = carom::gas::create(context, of_gas);
    uint64_t events = 0;
    status = gas->advance(context, 20.0, [&](const carom_gas_event &) { return ++events == 100; });
    print("collisions", status, events);
}

} // namespace

int main() {
    auto made = carom::context::create();
    context = std::move(made.value);
    if (!made) return std::puts(context.message()), 1;
    soups();
    solids();
    many();
    carom::mesh missing = *carom::mesh::load(context, "no-such-file.ply");
    std::printf("%s, as it should: %s\n", missing ? "read" : "refused", context.message());
    return missing ? 1 : 0;
}
