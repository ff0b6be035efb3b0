// SPDX-License-Identifier: MIT
// Embree: rtcCollide on user geometry, one primitive a box, Morton build (quality LOW). Its leaves
// hand over pairs whose boxes do not meet, so boxes are tested.
#include <embree3/rtcore.h>
#include <tbb/global_control.h>

#include <vector>

#include "bench/peers/peers.h"

namespace {

struct job {
    std::vector<RTCBounds> boxes;
    std::vector<uint32_t> pairs;
};

void get_bounds(const RTCBoundsFunctionArguments *arguments) {
    const job *j = static_cast<const job *>(arguments->geometryUserPtr);
    *arguments->bounds_o = j->boxes[arguments->primID];
}

bool boxes_meet(const RTCBounds &a, const RTCBounds &b) {
    return a.lower_x <= b.upper_x && b.lower_x <= a.upper_x && a.lower_y <= b.upper_y &&
           b.lower_y <= a.upper_y && a.lower_z <= b.upper_z && b.lower_z <= a.upper_z;
}

void collect(void *user, RTCCollision *found, unsigned count) {
    job *j = static_cast<job *>(user);
    for (unsigned k = 0; k < count; ++k) {
        uint32_t a = found[k].primID0, b = found[k].primID1;
        if (a >= b || !boxes_meet(j->boxes[a], j->boxes[b])) continue; // both orders come
        j->pairs.push_back(a);
        j->pairs.push_back(b);
    }
}

} // namespace

bool peer_embree_box_pairs(const peer_boxes *boxes, peer_pairs *pairs) {
    static RTCDevice device = rtcNewDevice("threads=1,user_threads=1,set_affinity=0");
    static job j;
    if (device == nullptr) return false;
    tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    j.boxes.resize(boxes->count);
    j.pairs.clear();
    for (uint64_t i = 0; i < boxes->count; ++i) {
        const double *b = boxes->bounds + 6 * i;
        j.boxes[i] = {float(b[0]), float(b[1]), float(b[2]), 0.0f,
                      float(b[3]), float(b[4]), float(b[5]), 0.0f};
    }
    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
    rtcSetGeometryUserPrimitiveCount(geometry, unsigned(boxes->count));
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
