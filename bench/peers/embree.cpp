// SPDX-License-Identifier: MIT
// Embree: rtcCollide on user geometry, one primitive a triangle, Morton build (quality LOW). Its
// leaves hand over pairs whose boxes do not meet, so boxes are tested first, then triangles in
// plain doubles. Pairs that share a vertex are left out, as its users do: rtcCollide's own example
// skips neighbours.
#include <embree3/rtcore.h>
#include <tbb/global_control.h>

#include <utility>
#include <vector>

#include "bench/peers/peers.h"
#include "bench/peers/triangle.h"

namespace {

struct job {
    const peer_mesh *mesh;
    std::vector<RTCBounds> boxes;
    std::vector<uint32_t> pairs;
};

void get_bounds(const RTCBoundsFunctionArguments *arguments) {
    const job *j = static_cast<const job *>(arguments->geometryUserPtr);
    *arguments->bounds_o = j->boxes[arguments->primID];
}

RTCBounds box_of(const peer_mesh *mesh, uint64_t triangle) {
    const uint32_t *c = mesh->corners + 3 * triangle;
    const float *p = mesh->positions + 3 * uint64_t(c[0]);
    RTCBounds b = {p[0], p[1], p[2], 0.0f, p[0], p[1], p[2], 0.0f};
    for (int i = 1; i < 3; ++i) {
        p = mesh->positions + 3 * uint64_t(c[i]);
        b.lower_x = p[0] < b.lower_x ? p[0] : b.lower_x;
        b.lower_y = p[1] < b.lower_y ? p[1] : b.lower_y;
        b.lower_z = p[2] < b.lower_z ? p[2] : b.lower_z;
        b.upper_x = p[0] > b.upper_x ? p[0] : b.upper_x;
        b.upper_y = p[1] > b.upper_y ? p[1] : b.upper_y;
        b.upper_z = p[2] > b.upper_z ? p[2] : b.upper_z;
    }
    return b;
}

bool boxes_meet(const RTCBounds &a, const RTCBounds &b) {
    return a.lower_x <= b.upper_x && b.lower_x <= a.upper_x && a.lower_y <= b.upper_y &&
           b.lower_y <= a.upper_y && a.lower_z <= b.upper_z && b.lower_z <= a.upper_z;
}

bool share_vertex(const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 3; ++i)
        if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2]) return true;
    return false;
}

void get_corners(const peer_mesh *mesh, const uint32_t *c, peer::point *out) {
    for (int i = 0; i < 3; ++i) {
        const float *p = mesh->positions + 3 * uint64_t(c[i]);
        out[i] = {double(p[0]), double(p[1]), double(p[2])};
    }
}

void collect(void *user, RTCCollision *found, unsigned count) {
    job *j = static_cast<job *>(user);
    for (unsigned k = 0; k < count; ++k) {
        uint32_t a = found[k].primID0, b = found[k].primID1;
        if (a >= b) continue; // both orders come
        if (!boxes_meet(j->boxes[a], j->boxes[b])) continue;
        const uint32_t *ca = j->mesh->corners + 3 * uint64_t(a);
        const uint32_t *cb = j->mesh->corners + 3 * uint64_t(b);
        if (share_vertex(ca, cb)) continue;
        peer::point ta[3], tb[3];
        get_corners(j->mesh, ca, ta);
        get_corners(j->mesh, cb, tb);
        if (!peer::triangles_meet(ta, tb)) continue;
        j->pairs.push_back(a);
        j->pairs.push_back(b);
    }
}

} // namespace

const char *peer_embree_name(void) {
    return "Embree " RTC_VERSION_STRING
           ", as packaged, Morton build; adapter and triangle test -O3 -march=native";
}

bool peer_embree_self_pairs(const peer_mesh *mesh, peer_pairs *pairs) {
    static RTCDevice device = rtcNewDevice("threads=1,user_threads=1,set_affinity=0");
    static job j;
    if (device == nullptr) return false;
    tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    j.mesh = mesh;
    j.boxes.resize(mesh->triangle_count);
    j.pairs.clear();
    for (uint64_t t = 0; t < mesh->triangle_count; ++t) j.boxes[t] = box_of(mesh, t);

    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
    rtcSetGeometryUserPrimitiveCount(geometry, unsigned(mesh->triangle_count));
    rtcSetGeometryUserData(geometry, &j);
    rtcSetGeometryBoundsFunction(geometry, get_bounds, nullptr);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    rtcCollide(scene, scene, collect, &j);
    rtcReleaseScene(scene);
    *pairs = peer_pairs{j.pairs.data(), j.pairs.size() / 2};
    return rtcGetDeviceError(device) == RTC_ERROR_NONE;
}
