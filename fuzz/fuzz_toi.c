/* SPDX-License-Identifier: MIT */
/* Four points of any doubles that move to any others: the exact stage and the filter agree, and so
 * do other orders of the points and the motion backwards; what meets at the start or the end, by
 * the exact predicate of triangles, is a hit then. Advancement agrees and is never late. */
#include <math.h>

#include "carom/geom.h"
#include "fuzz/fuzz.h"
#include "geom/toi_item.h"

/* One coordinate: any double, any float, a small integer, or a double of moderate size. */
static double take_coordinate(const uint8_t **bytes, size_t *size, int how) {
    double wide = 0.0;
    float narrow = 0.0f;
    int8_t whole = 0;
    switch (how) {
    case 0:
        fuzz_take(bytes, size, &wide, sizeof(wide));
        return isfinite(wide) ? wide : 0.0;
    case 1:
        fuzz_take(bytes, size, &narrow, sizeof(narrow));
        return isfinite(narrow) ? (double)narrow : 0.0;
    case 2:
        fuzz_take(bytes, size, &whole, sizeof(whole));
        return (double)whole;
    default:
        fuzz_take(bytes, size, &wide, sizeof(wide));
        return isfinite(wide) && fabs(wide) < 1e6 && fabs(wide) > 1e-6 ? wide : 1.0;
    }
}

static carom_toi query(const carom_vec3 *start, const carom_vec3 *end, int edges) {
    return edges ? carom_segments_toi_value(start, end)
                 : carom_point_triangle_toi_value(start, end);
}

static bool meet(const carom_vec3 *p, int edges) {
    carom_triangle a = {{p[0], edges ? p[1] : p[0], edges ? p[1] : p[0]}};
    carom_triangle b = {{edges ? p[2] : p[1], edges ? p[3] : p[2], p[3]}};
    return carom_triangles_meet_value(&a, &b);
}

static void check_advance(const carom_vec3 *start, const carom_vec3 *end, int edges,
                          const carom_toi *toi) {
    for (int i = 0; i < 24; ++i)
        if (!(fabs((i < 12 ? &start[0].x : &end[0].x)[i % 12]) <= 0x1p1020)) return;
    carom_advance_def def = {.most_steps = 1000};
    carom_advance advance = edges ? carom_segments_advance_value(start, end, &def)
                                  : carom_point_triangle_advance_value(start, end, &def);
    FUZZ_CHECK(advance.hit == toi->hit || toi->time.upper - toi->time.lower == 1.0);
    FUZZ_CHECK(advance.time >= 0.0 && advance.time <= 1.0 && advance.distance >= 0.0);
    FUZZ_CHECK(!toi->hit || advance.time <= toi->time.lower);
    /* a separation is reached no later */
    if (!(advance.distance <= 0x1p1020)) return;
    def.reach = advance.distance;
    carom_advance apart = edges ? carom_segments_advance_value(start, end, &def)
                                : carom_point_triangle_advance_value(start, end, &def);
    FUZZ_CHECK(!toi->hit || apart.hit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const int orders[2][4] = {{0, 2, 3, 1}, {3, 2, 1, 0}};
    uint8_t head[2];
    carom_vec3 start[4], end[4], s[4], e[4];
    fuzz_take(&bytes, &size, head, sizeof(head));
    int edges = head[0] % 2, how = head[0] / 2 % 4;
    for (int i = 0; i < 12; ++i) (&start[0].x)[i] = take_coordinate(&bytes, &size, how);
    for (int i = 0; i < 12; ++i)
        (&end[0].x)[i] =
            (head[1] >> i % 8 & 1) != 0 ? (&start[0].x)[i] : take_coordinate(&bytes, &size, how);
    carom_toi toi = query(start, end, edges), exact;
    FUZZ_CHECK(toi.time.lower >= 0.0 && toi.time.lower <= toi.time.upper && toi.time.upper <= 1.0);
    check_advance(start, end, edges, &toi);
    carom_toi_exact(start, end, edges, &exact);
    FUZZ_CHECK(toi.time.lower <= exact.time.upper && exact.time.lower <= toi.time.upper);
    for (int i = 0; i < 4; ++i) {
        s[i] = start[orders[edges][i]];
        e[i] = end[orders[edges][i]];
    }
    carom_toi other = query(s, e, edges), back = query(end, start, edges);
    FUZZ_CHECK(other.time.lower <= toi.time.upper && toi.time.lower <= other.time.upper);
    FUZZ_CHECK(!meet(end, edges) || toi.hit);
    FUZZ_CHECK(!meet(start, edges) || (toi.hit && toi.time.lower == 0.0));
    if (how == 0) return 0; /* with all exponents a doubtful answer may be a hit */
    FUZZ_CHECK(toi.hit == exact.hit && toi.hit == other.hit && toi.hit == back.hit);
    FUZZ_CHECK(meet(start, edges) == (toi.hit && toi.time.upper == 0.0));
    FUZZ_CHECK(!toi.hit || back.time.lower <= 1.0 - toi.time.lower);
    return 0;
}
