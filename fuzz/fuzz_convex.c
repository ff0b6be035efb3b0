/* SPDX-License-Identifier: MIT */
/* Any two convex shapes in any poses: the call ends within its bound, gives finite numbers, and its
 * three questions do not contradict each other. Hulls are valid. */
#include <math.h>
#include <string.h>

#include "convex/convex_hull.h"
#include "fuzz/fuzz.h"

#define MOST_POINTS 24

static carom_context *context;

typedef struct any_shape {
    carom_convex convex;
    carom_hull *hull;
    carom_pose pose;
} any_shape;

/* Sizes from one byte, powers of two and zero, or all eight. */
static double take_number(const uint8_t **bytes, size_t *size, bool lattice) {
    double value = 0.0;
    uint8_t byte = 0;
    if (!lattice) {
        fuzz_take(bytes, size, &value, sizeof(value));
        return isfinite(value) ? value : 0.0;
    }
    fuzz_take(bytes, size, &byte, 1);
    return (double)(byte % 9) - 4.0;
}

static void take_shape(const uint8_t **bytes, size_t *size, any_shape *s) {
    uint8_t head[2] = {0, 0};
    fuzz_take(bytes, size, head, sizeof(head));
    bool lattice = head[1] % 2 == 0;
    memset(s, 0, sizeof(*s));
    carom_convex *c = &s->convex;
    c->kind = (carom_convex_kind)(head[0] % CAROM_CONVEX_KIND_SUPPORT);
    if (c->kind == CAROM_CONVEX_KIND_HULL) {
        carom_vec3 points[MOST_POINTS];
        uint32_t count = 1 + head[1] / 2 % MOST_POINTS;
        for (uint32_t i = 0; i < count; ++i) {
            points[i].x = take_number(bytes, size, lattice);
            points[i].y = take_number(bytes, size, lattice);
            points[i].z = take_number(bytes, size, lattice);
        }
        carom_hull_def def = {.mesh =
                                  &(carom_mesh_view){.positions = points, .vertex_count = count}};
        if (carom_hull_create(context, &def, &s->hull) != CAROM_OK) /* beyond 1e300 */
            c->kind = CAROM_CONVEX_KIND_POINT;
        else
            FUZZ_CHECK_VALID(carom_hull_validate(s->hull));
        c->borrowed_hull = s->hull;
    } else {
        c->half.x = fabs(take_number(bytes, size, lattice));
        c->half.y = fabs(take_number(bytes, size, lattice));
        c->half.z = fabs(take_number(bytes, size, lattice));
        c->radius = fabs(take_number(bytes, size, lattice));
        c->half_height = fabs(take_number(bytes, size, lattice));
    }
    if (head[1] & 128) c->margin = fabs(take_number(bytes, size, lattice));
    double *q = &s->pose.q.w, *t = &s->pose.t.x;
    for (int i = 0; i < 4; ++i) q[i] = take_number(bytes, size, lattice);
    for (int i = 0; i < 3; ++i) t[i] = take_number(bytes, size, lattice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    any_shape a, b;
    carom_convex_result r, d;
    carom_convex_most most;
    carom_convex_manifold m;
    bool meet = false;
    if (context == NULL)
        FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 1}, &context) == CAROM_OK);
    take_shape(&bytes, &size, &a);
    take_shape(&bytes, &size, &b);
    carom_status status =
        carom_convex_depth(context, &a.convex, &a.pose, &b.convex, &b.pose, NULL, &r);
    FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_INPUT);
    if (status == CAROM_OK) {
        FUZZ_CHECK(carom_convex_meet(context, &a.convex, &a.pose, &b.convex, &b.pose, NULL,
                                     &meet) == CAROM_OK);
        FUZZ_CHECK(carom_convex_distance(context, &a.convex, &a.pose, &b.convex, &b.pose, NULL,
                                         &d) == CAROM_OK);
        FUZZ_CHECK(carom_convex_bound(context, &a.convex, &b.convex, &most) == CAROM_OK);
        FUZZ_CHECK(carom_convex_contacts(context, &a.convex, &a.pose, &b.convex, &b.pose, 0.0, NULL,
                                         &m) == CAROM_OK);
        FUZZ_CHECK(isfinite(r.distance) && isfinite(r.depth) && isfinite(r.error));
        FUZZ_CHECK(r.distance >= 0.0 && r.depth >= 0.0 && r.error >= 0.0);
        FUZZ_CHECK(isfinite(r.normal.x) && isfinite(r.normal.y) && isfinite(r.normal.z));
        FUZZ_CHECK(isfinite(r.point_a.x) && isfinite(r.point_b.x));
        FUZZ_CHECK(r.iterations <= most.depth_iterations && r.supports <= most.depth_supports);
        FUZZ_CHECK(d.iterations <= most.distance_iterations);
        FUZZ_CHECK(r.relation != CAROM_RELATION_OVERLAPPING || meet);
        FUZZ_CHECK((r.relation == CAROM_RELATION_APART) == (d.relation == CAROM_RELATION_APART));
    }
    carom_hull_destroy(a.hull);
    carom_hull_destroy(b.hull);
    return 0;
}
