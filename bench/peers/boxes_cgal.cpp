// SPDX-License-Identifier: MIT
// CGAL: box_self_intersection_d, closed boxes, default cutoff.
#include <CGAL/box_intersection_d.h>

#include <vector>

#include "bench/peers/peers.h"

namespace {

using box = CGAL::Box_intersection_d::Box_d<double, 3, CGAL::Box_intersection_d::ID_EXPLICIT>;

// A box with its index as id: 56 bytes, the least that CGAL needs.
struct indexed : box {
    uint32_t index;
    indexed(double *low, double *high, uint32_t i) : box(low, high), index(i) {
    }
};

} // namespace

bool peer_cgal_box_pairs(const peer_boxes *boxes, peer_pairs *pairs) {
    static std::vector<indexed> own;
    static std::vector<uint32_t> found;
    own.clear();
    found.clear();
    own.reserve(boxes->count);
    for (uint64_t i = 0; i < boxes->count; ++i) {
        double b[6];
        for (int k = 0; k < 6; ++k) b[k] = boxes->bounds[6 * i + uint64_t(k)];
        own.emplace_back(b, b + 3, uint32_t(i));
    }
    CGAL::box_self_intersection_d(own.begin(), own.end(), [](const indexed &a, const indexed &b) {
        found.push_back(a.index < b.index ? a.index : b.index);
        found.push_back(a.index < b.index ? b.index : a.index);
    });
    *pairs = peer_pairs{found.data(), found.size() / 2};
    return true;
}
