/* SPDX-License-Identifier: MIT */
/* Times of impact of points and triangles, segments, and balls, against an oracle that advances in
 * small steps, and against published queries; conservative advancement of the same. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/advance_item.h"
#include "geom/toi_cpu.h"
#include "tests/support/models.h"
#include "tests/support/test.h"
#include "tests/support/toi_oracle.h"

/* ---- One motion ------------------------------------------------------------------------------ */

typedef struct counts {
    int hits, misses, undecided;
} counts;

static void show(const char *what, const carom_vec3 *start, const carom_vec3 *end, bool edges) {
    printf("%s, %s\n", what, edges ? "segments" : "point and triangle");
    for (int i = 0; i < 8; ++i) {
        const carom_vec3 *p = i < 4 ? &start[i] : &end[i - 4];
        printf("    {%a, %a, %a},\n", p->x, p->y, p->z);
    }
}

static carom_toi query(const carom_vec3 *start, const carom_vec3 *end, bool edges) {
    return edges ? carom_segments_toi_value(start, end)
                 : carom_point_triangle_toi_value(start, end);
}

/* The filter of every instruction set gives the verdict and the times of the item. */
static void check_fast(const carom_vec3 *start, const carom_vec3 *end, bool edges) {
    double low = 0.0, high = 0.0;
    int verdict = carom_toi_filter(start, end, edges, &low, &high);
    for (int isa = CAROM_ISA_BASELINE; isa <= (int)carom_isa_best(); ++isa) {
        const struct { carom_isa isa; } with = {(carom_isa)isa};
        double fast_low = 0.0, fast_high = 0.0;
        int fast =
            CAROM_CPU_CALL(&with, carom_toi_filter_fast)(start, end, edges, &fast_low, &fast_high);
        if (fast == verdict && (fast != CAROM_TOI_HIT || (fast_low == low && fast_high == high)))
            continue;
        show("the instruction sets differ", start, end, edges);
        fail_msg("%s: %d [%a, %a], the item %d [%a, %a]", carom_isa_name((carom_isa)isa), fast,
                 fast_low, fast_high, verdict, low, high);
    }
}

/* The last motions of each kind, with what the item says of them. */
static struct {
    carom_toi_columns motions;
    uint32_t count;
    int verdict[CAROM_TOI_COLUMNS];
    double low[CAROM_TOI_COLUMNS], high[CAROM_TOI_COLUMNS];
} recent[2];

/* The filter of several motions gives the same for each, whatever is beside it. */
static void check_lanes(const carom_vec3 *start, const carom_vec3 *end, bool edges) {
    uint32_t at = recent[edges].count++ % CAROM_TOI_COLUMNS;
    carom_toi_column_set(&recent[edges].motions, at, start, end);
    recent[edges].verdict[at] =
        carom_toi_filter(start, end, edges, &recent[edges].low[at], &recent[edges].high[at]);
    uint32_t count = at == CAROM_TOI_COLUMNS / 2 ? at + 1 : CAROM_TOI_COLUMNS;
    if (at != CAROM_TOI_COLUMNS / 2 && at != CAROM_TOI_COLUMNS - 1) return;
    for (int isa = CAROM_ISA_BASELINE; isa <= (int)carom_isa_best(); ++isa) {
        const struct { carom_isa isa; } with = {(carom_isa)isa};
        int verdict[CAROM_TOI_COLUMNS];
        double low[CAROM_TOI_COLUMNS], high[CAROM_TOI_COLUMNS];
        CAROM_CPU_CALL(&with, carom_toi_filter_lanes)
        (&recent[edges].motions, count, edges, verdict, low, high);
        for (uint32_t i = 0; i < count; ++i) {
            bool hit = verdict[i] == CAROM_TOI_HIT;
            if (verdict[i] == recent[edges].verdict[i] &&
                (!hit || (low[i] == recent[edges].low[i] && high[i] == recent[edges].high[i])))
                continue;
            carom_vec3 from[4], to[4];
            carom_toi_column_get(&recent[edges].motions, i, from, to);
            show("a lane differs", from, to, edges);
            fail_msg("%s, column %u: %d [%a, %a], the item %d [%a, %a]",
                     carom_isa_name((carom_isa)isa), i, verdict[i], low[i], high[i],
                     recent[edges].verdict[i], recent[edges].low[i], recent[edges].high[i]);
        }
    }
}

/* The exact stage, with or without the filter, gives the same answer. */
static carom_toi check_stages(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                              counts *c) {
    carom_toi toi = query(start, end, edges), exact;
    double low = 0.0, high = 0.0;
    int verdict = carom_toi_filter(start, end, edges, &low, &high);
    check_fast(start, end, edges);
    check_lanes(start, end, edges);
    carom_toi_exact(start, end, edges, &exact);
    c->undecided += verdict == CAROM_TOI_UNDECIDED;
    c->hits += exact.hit;
    c->misses += !exact.hit;
    bool agree = toi.hit == exact.hit && toi.time.lower <= exact.time.upper &&
                 exact.time.lower <= toi.time.upper;
    if (verdict != CAROM_TOI_UNDECIDED) agree = agree && (verdict == CAROM_TOI_HIT) == exact.hit;
    if (verdict == CAROM_TOI_HIT)
        agree = agree && low <= exact.time.upper && exact.time.lower <= high;
    if (!agree || exact.time.upper - exact.time.lower > 0x1p-36 ||
        toi.time.upper - toi.time.lower > 0x1p-32 || toi.time.lower < 0.0 || toi.time.upper > 1.0) {
        show("the stages differ", start, end, edges);
        fail_msg("filter %d [%.17g, %.17g], exact %d [%.17g, %.17g]", verdict, low, high, exact.hit,
                 exact.time.lower, exact.time.upper);
    }
    return exact;
}

/* `near_contact`: the shapes may be nearer than the oracle can see long before they meet. */
static void check_oracle(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                         const carom_toi *toi, bool near_contact) {
    double time = 0.0, speed = toi_oracle_speed(start, end, edges);
    bool hit = toi_oracle(start, end, edges, 0x1p-22, &time);
    /* near misses, and near contact long before the first: look closer */
    if (hit != toi->hit || (!near_contact && hit && time < toi->time.lower - 0x1p-9))
        hit = toi_oracle(start, end, edges, 0x1p-40, &time);
    bool right = hit == toi->hit;
    if (toi->hit) {
        double size = 0.0;
        for (int i = 0; i < 4; ++i)
            size = fmax(size, fmax(carom_vec_largest(start[i]), carom_vec_largest(end[i])));
        double apart = toi_oracle_distance(start, end, edges, toi->time.lower);
        right = right && apart <= speed * 0x1p-35 + size * 0x1p-50;
        right = right && time <= toi->time.upper + 0x1p-40;
        right = right && (near_contact || time >= toi->time.lower - 0x1p-9);
    }
    if (!right) {
        show("not what the oracle says", start, end, edges);
        fail_msg("%d [%.17g, %.17g], the oracle: %d %.17g", toi->hit, toi->time.lower,
                 toi->time.upper, hit, time);
    }
}

/* Whether they meet at one time, by the exact predicate of triangles. */
static bool meet(const carom_vec3 *p, bool edges) {
    carom_triangle a = {{p[0], edges ? p[1] : p[0], edges ? p[1] : p[0]}};
    carom_triangle b = {{edges ? p[2] : p[1], edges ? p[3] : p[2], p[3]}};
    return carom_triangles_meet_value(&a, &b);
}

/* What meets at the start is a hit at time 0, and only that; what meets at the end is a hit. The
 * same shapes in other words: corners and ends in another order, time backwards. */
static void check_symmetry(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                           const carom_toi *toi) {
    static const int orders[2][4] = {{0, 2, 3, 1}, {3, 2, 1, 0}};
    carom_vec3 s[4], e[4];
    for (int i = 0; i < 4; ++i) {
        s[i] = start[orders[edges][i]];
        e[i] = end[orders[edges][i]];
    }
    carom_toi other = query(s, e, edges), back = query(end, start, edges);
    if (other.hit != toi->hit || other.time.lower > toi->time.upper ||
        other.time.upper < toi->time.lower || back.hit != toi->hit ||
        (toi->hit && back.time.lower > 1.0 - toi->time.lower) ||
        meet(start, edges) != (toi->hit && toi->time.upper == 0.0) ||
        (meet(end, edges) && !toi->hit)) {
        show("another order gives another answer", start, end, edges);
        fail_msg("%d [%g, %g], %d [%g, %g], backwards %d [%g, %g]", toi->hit, toi->time.lower,
                 toi->time.upper, other.hit, other.time.lower, other.time.upper, back.hit,
                 back.time.lower, back.time.upper);
    }
}

/* ---- Motions --------------------------------------------------------------------------------- */

static double lattice(carom_random *random, uint32_t size) {
    return (double)(carom_random_next(random) % size);
}

/* Small integers: contact at vertices and edges, parallel, coplanar and degenerate motion are
 * common. */
static void lattice_motion(carom_random *random, int kind, carom_vec3 *start, carom_vec3 *end) {
    uint32_t size = 2 + kind % 5;
    carom_vec3 move = {lattice(random, 3) - 1.0, lattice(random, 3) - 1.0,
                       lattice(random, 3) - 1.0};
    for (int i = 0; i < 4; ++i) {
        start[i] = carom_vec(lattice(random, size), lattice(random, size), lattice(random, size));
        end[i] = carom_vec(lattice(random, size), lattice(random, size), lattice(random, size));
        if (kind / 5 % 6 == 1) start[i].z = end[i].z = 0.0; /* in a plane */
        if (kind / 5 % 6 == 2) end[i].z = start[i].x + 1.0, start[i].z = start[i].x; /* one moves */
        if (kind / 5 % 6 == 3 && i > 0) end[i] = carom_vec_add(start[i], move);
        if (kind / 5 % 6 == 4) start[i].y = start[i].z = end[i].y = end[i].z = 0.0; /* on a line */
        if (kind / 5 % 6 == 5 && i > 1) end[i] = start[i];
    }
}

static void lattice_motions_are_those_of_the_oracle(void **state) {
    (void)state;
    counts c = {0};
    carom_random random = {7};
    for (int i = 0; i < TEST_CASES(60000); ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        lattice_motion(&random, i / 2, start, end);
        carom_toi toi = check_stages(start, end, edges, &c);
        check_symmetry(start, end, edges, &toi);
        if (i % 32 < 2) check_oracle(start, end, edges, &toi, false);
    }
    if (TEST_MANY_CASES) {
        assert_in_range(c.hits, TEST_CASES(10000), TEST_CASES(50000));
        assert_in_range(c.undecided, TEST_CASES(2000), TEST_CASES(50000));
    }
}

static void general_motions_are_those_of_the_oracle(void **state) {
    (void)state;
    counts c = {0};
    carom_random random = {8};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j) {
                (&start[k].x)[j] = carom_random_between(&random, -1.0, 1.0);
                (&end[k].x)[j] = carom_random_between(&random, -1.0, 1.0);
            }
        carom_toi toi = check_stages(start, end, edges, &c);
        check_symmetry(start, end, edges, &toi);
        if (i % 8 < 2) check_oracle(start, end, edges, &toi, false);
    }
    if (TEST_MANY_CASES) {
        assert_in_range(c.hits, TEST_CASES(2000), TEST_CASES(18000));
        assert_in_range(c.undecided, 0, TEST_CASES(200));
    }
}

/* A corner at rest is touched by a point that arrives at it, at t = 1 or on the way, exactly; or
 * misses it by one unit in the last place. */
static void touching_is_a_hit_and_a_hair_less_is_not(void **state) {
    (void)state;
    counts c = {0};
    carom_random random = {9};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        carom_vec3 start[4], end[4];
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j)
                (&start[k].x)[j] = (double)(int64_t)(carom_random_next(&random) >> 24) * 0x1p-40;
        memcpy(end, start, sizeof(end));
        /* x = 2 is beyond the triangle, which a corner at x = 1 touches last */
        start[1].x = end[1].x = 1.0;
        for (int k = 2; k < 4; ++k) start[k].x = end[k].x = start[k].x * 0.5;
        bool on_the_way = i % 2 == 0;
        carom_vec3 from = start[1], by = {0.0, (double)(i % 7) * 0x1p-10, 0x1p-8};
        start[0] = carom_vec_sub(from, by);
        end[0] = on_the_way ? carom_vec_add(from, by) : from;
        carom_toi toi = check_stages(start, end, false, &c);
        if (!toi.hit || fabs(toi.time.lower - (on_the_way ? 0.5 : 1.0)) > 0.0) {
            show("missed", start, end, false);
            fail_msg("%d [%.17g, %.17g]", toi.hit, toi.time.lower, toi.time.upper);
        }
        start[0].x = nextafter(start[0].x, 2.0);
        end[0].x = nextafter(end[0].x, 2.0);
        toi = check_stages(start, end, false, &c);
        assert_false(toi.hit);
    }
}

/* Powers of two change nothing, down to subnormal and up to the largest doubles. */
static void scale_does_not_matter(void **state) {
    (void)state;
    static const int powers[] = {-1074, -1000, -400, -90, 90, 400, 1000, 1019};
    carom_random random = {10};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        lattice_motion(&random, i / 2, start, end);
        carom_toi toi = query(start, end, edges);
        int power = powers[i / 3 % (int)COUNT_OF(powers)];
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j) {
                (&start[k].x)[j] = ldexp((&start[k].x)[j], power);
                (&end[k].x)[j] = ldexp((&end[k].x)[j], power);
            }
        carom_toi scaled = query(start, end, edges);
        assert_int_equal(scaled.hit, toi.hit);
        assert_true(scaled.time.lower <= toi.time.upper && toi.time.lower <= scaled.time.upper);
    }
}

/* Coordinates of all sizes in one motion: the exact stage still agrees with the filter, and with
 * other orders of the points. */
static void mixed_scales_agree(void **state) {
    (void)state;
    counts c = {0};
    carom_random random = {11};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        int range = i % 3 == 0 ? 30 : i % 3 == 1 ? 90 : 600;
        lattice_motion(&random, i / 2, start, end);
        for (int k = 0; k < 4; ++k) {
            double *x = k % 2 == 0 ? &start[k].x : &end[k].x;
            int j = (int)(carom_random_next(&random) % 3);
            x[j] += ldexp(lattice(&random, 5) - 2.0,
                          -(int)(carom_random_next(&random) % (uint32_t)range));
        }
        carom_toi toi = query(start, end, edges);
        check_symmetry(start, end, edges, &toi);
        if (range < 600) (void)check_stages(start, end, edges, &c);
    }
}

/* ---- Advancement ----------------------------------------------------------------------------- */

static carom_advance advance(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                             const carom_advance_def *def) {
    return edges ? carom_segments_advance_value(start, end, def)
                 : carom_point_triangle_advance_value(start, end, def);
}

/* The extent of carom_point_triangle_advance. */
static double extent_of(const carom_vec3 *start, const carom_vec3 *end) {
    double extent = 0.0;
    for (int i = 1; i < 4; ++i) {
        extent = fmax(extent, carom_vec_largest(carom_vec_sub(start[i], start[0])));
        extent = fmax(extent, carom_vec_largest(carom_vec_sub(end[i], end[0])));
    }
    return extent;
}

typedef struct advance_counts {
    int hits, near_misses; /* near misses: came within the tolerance, and were decided exactly */
    int early;             /* hits announced before the last millionth of the time to them */
    uint64_t steps;
} advance_counts;

/* Without a separation: as the exact answer, and never late. At the time they are within the
 * tolerance, and not nearer than half of it unless they start so. */
static void check_contact(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                          const carom_toi *toi, double tolerance, advance_counts *c) {
    carom_advance_def def = {.tolerance = tolerance};
    carom_advance found = advance(start, end, edges, tolerance > 0.0 ? &def : NULL), alone;
    carom_advance_pair pair;
    carom_advance_load(start, end, edges, &pair);
    carom_advance_run(&pair, 0.0, tolerance, CAROM_ADVANCE_MOST_STEPS, &alone);
    double rounding = CAROM_ADVANCE_ROUNDING * extent_of(start, end);
    rounding += 0x1p-58 * carom_vec_largest(start[0]); /* that of the oracle */
    double most = tolerance > 0.0 ? tolerance : CAROM_ADVANCE_TOLERANCE * extent_of(start, end);
    bool right = found.hit == toi->hit && alone.hit >= toi->hit;
    if (toi->hit) {
        double apart = toi_oracle_distance(start, end, edges, found.time);
        double clamped = CAROM_TOI_WIDTH * toi_oracle_speed(start, end, edges);
        right = right && found.time <= toi->time.upper && apart <= most + clamped + 2.0 * rounding;
        c->early += found.time < toi->time.lower - 1e-6;
    } else {
        right = right && found.time == 1.0;
    }
    c->hits += found.hit;
    c->near_misses += alone.hit && !found.hit;
    c->steps += found.steps;
    if (!right) {
        show("advancement differs", start, end, edges);
        fail_msg("%d %.17g, alone %d %.17g, exact %d [%.17g, %.17g]", found.hit, found.time,
                 alone.hit, alone.time, toi->hit, toi->time.lower, toi->time.upper);
    }
}

/* With a separation: against samples of the distance, and the value at the time itself. */
static void check_separation(const carom_vec3 *start, const carom_vec3 *end, bool edges,
                             double separation, double tolerance, advance_counts *c) {
    enum { SAMPLES = 64 };
    carom_advance_def def = {.reach = separation, .tolerance = tolerance};
    carom_advance found = advance(start, end, edges, &def);
    double least = HUGE_VAL, rounding = 2.0 * CAROM_ADVANCE_ROUNDING * extent_of(start, end);
    rounding += 0x1p-58 * carom_vec_largest(start[0]); /* that of the oracle */
    for (int i = 0; i <= SAMPLES; ++i) {
        double t = (double)i / SAMPLES;
        if (found.hit && t >= found.time) break;
        least = fmin(least, toi_oracle_distance(start, end, edges, t));
    }
    double first = toi_oracle_distance(start, end, edges, 0.0);
    double then = toi_oracle_distance(start, end, edges, found.hit ? found.time : 1.0);
    bool right = least > separation - rounding;
    if (found.hit && found.time > 0.0)
        right = right && then <= separation + tolerance + rounding &&
                then >= separation + 0.5 * tolerance - rounding &&
                fabs(then - found.distance) <= rounding;
    else if (found.hit)
        right = right && first <= separation + tolerance + rounding;
    else
        right = right && found.time == 1.0 && then > separation - rounding;
    c->hits += found.hit;
    c->steps += found.steps;
    if (!right) {
        show("advancement differs from samples", start, end, edges);
        fail_msg("separation %g: %d %.17g, distance %g, least %g", separation, found.hit,
                 found.time, then, least);
    }
}

static void motions_advance_to_their_separation(void **state) {
    (void)state;
    if (!test_has_long_double()) skip();
    advance_counts exact = {0}, apart = {0};
    carom_random random = {13};
    int cases = TEST_CASES(10000);
    for (int i = 0; i < cases; ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        double far = i % 5 == 4 ? 0x1p30 : 0.0; /* from the origin: costs no digits but their own */
        if (i % 4 < 2)
            lattice_motion(&random, i / 4, start, end);
        else
            for (int k = 0; k < 8; ++k)
                for (int j = 0; j < 3; ++j)
                    (k < 4 ? &start[k].x : &end[k - 4].x)[j] =
                        far + carom_random_between(&random, -1.0, 1.0);
        carom_toi toi = query(start, end, edges);
        check_contact(start, end, edges, &toi, i % 3 == 0 ? 0.0 : 1e-4, &exact);
        check_separation(start, end, edges, i % 3 == 0 ? 0.5 : 0.01, 1e-3, &apart);
    }
    if (TEST_MANY_CASES) {
        assert_in_range(exact.hits, cases / 10, cases);
        assert_in_range(apart.hits, exact.hits / 2, cases - cases / 20);
    }
}

/* Powers of two change nothing but the distance. */
static void advancement_at_any_scale_is_the_same(void **state) {
    (void)state;
    static const int powers[] = {-1074, -1000, -400, 90, 400, 1000, 1017};
    carom_random random = {14};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        carom_vec3 start[4], end[4];
        bool edges = i % 2 == 1;
        lattice_motion(&random, i / 2, start, end);
        int power = powers[i / 3 % (int)COUNT_OF(powers)];
        carom_advance_def def = {.reach = 0.25};
        carom_advance found = advance(start, end, edges, &def);
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j) {
                (&start[k].x)[j] = ldexp((&start[k].x)[j], power);
                (&end[k].x)[j] = ldexp((&end[k].x)[j], power);
            }
        def.reach = ldexp(0.25, power);
        carom_advance scaled = advance(start, end, edges, &def);
        if (power == -1074) continue; /* a quarter of the least number is 0 */
        assert_int_equal(scaled.hit, found.hit);
        assert_int_equal(scaled.steps, found.steps);
        assert_true(scaled.time == found.time);
        assert_true(scaled.distance == ldexp(found.distance, power));
    }
}

/* ---- Published queries ----------------------------------------------------------------------- */

static const char *const sets[] = {
    "unit-tests",          "erleben-cube-cliff-edges", "erleben-sliding-spike",
    "erleben-spike-crack", "erleben-spike-wedge",      "erleben-wedge-crack"};

/* A coordinate is a quotient of two integers, both doubles. */
static double read_quotient(const char *top, const char *bottom) {
    return strtod(top, NULL) / strtod(bottom, NULL);
}

static void run_queries(const char *set, bool edges, int file, counts *c, advance_counts *advances,
                        int *wrong) {
    char name[200], line[512];
    snprintf(name, sizeof(name), "ccd-queries/%s/%s/data_0_%d.csv", set,
             edges ? "edge-edge" : "vertex-face", file);
    FILE *text = models_open_text(name);
    carom_vec3 points[8];
    int row = 0, truth = 0;
    while (fgets(line, sizeof(line), text) != NULL) {
        char *cells[8];
        if (models_cut_line(line, cells, 8) != 7) fail_msg("%s: row %d has not 7 cells", name, row);
        for (int k = 0; k < 3; ++k)
            (&points[row % 8].x)[k] = read_quotient(cells[2 * k], cells[2 * k + 1]);
        truth = atoi(cells[6]);
        if (++row % 8 != 0) continue;
        carom_toi toi = check_stages(points, points + 4, edges, c);
        check_symmetry(points, points + 4, edges, &toi);
        /* many misses are nearer than the oracle can see */
        if (toi.hit) check_oracle(points, points + 4, edges, &toi, true);
        *wrong += toi.hit != (truth != 0);
        double extent = extent_of(points, points + 4);
        check_contact(points, points + 4, edges, &toi, 0.0, &advances[0]);
        check_contact(points, points + 4, edges, &toi, 1e-6 * extent, &advances[1]);
        check_contact(points, points + 4, edges, &toi, 1e-12 * extent, &advances[2]);
        check_separation(points, points + 4, edges, 0.01 * extent, 1e-4 * extent, &advances[3]);
    }
    fclose(text);
}

static void published_queries_are_decided_right(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static const char *const tolerances[] = {"the default", "1e-6", "1e-12"};
    counts c = {0};
    advance_counts advances[4] = {{0}};
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(sets); ++i)
        for (int k = 0; k < 4; ++k) run_queries(sets[i], k / 2 == 1, k % 2, &c, advances, &wrong);
    printf("%d hits, %d misses, %d not decided by the filter\n", c.hits, c.misses, c.undecided);
    for (int i = 0; i < 3; ++i) {
        printf("advancement to %s of the extent: %d hits, %d misses came as near; %d hits are so "
               "near more than 1e-6 before; %.1f steps\n",
               tolerances[i], advances[i].hits, advances[i].near_misses, advances[i].early,
               (double)advances[i].steps / (c.hits + c.misses));
        assert_int_equal(advances[i].hits, 297);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(c.hits, 297);
    assert_int_equal(c.misses, 2527);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

/* The closed form, in 80 bits. */
static bool closed_form(const carom_ball *s, const carom_ball *e, long double *time) {
    long double a = 0.0L, b = 0.0L, c = 0.0L;
    for (int k = 0; k < 4; ++k) {
        long double from, to, sign = k < 3 ? 1.0L : -1.0L;
        if (k < 3) {
            from = (long double)(&s[1].centre.x)[k] - (&s[0].centre.x)[k];
            to = (long double)(&e[1].centre.x)[k] - (&e[0].centre.x)[k];
        } else {
            from = (long double)s[0].radius + s[1].radius;
            to = (long double)e[0].radius + e[1].radius;
        }
        long double d = to - from;
        a += sign * d * d;
        b += sign * from * d;
        c += sign * from * from;
    }
    *time = 0.0L;
    if (c <= 0.0L) return true;
    long double root = b * b - a * c; /* a t^2 + 2 b t + c */
    if (root < 0.0L) return false;
    if (b >= 0.0L && a >= 0.0L) return false;
    *time = c / (-b + sqrtl(root));
    if (*time < 0.0L) return false;
    return *time <= 1.0L;
}

static void balls_are_the_closed_form(void **state) {
    (void)state;
    carom_random random = {12};
    int hits = 0;
    for (int i = 0; i < TEST_CASES(100000); ++i) {
        carom_ball start[2], end[2];
        for (int b = 0; b < 2; ++b) {
            bool whole = i % 2 == 0;
            for (int k = 0; k < 3; ++k) {
                (&start[b].centre.x)[k] =
                    whole ? lattice(&random, 7) : carom_random_between(&random, -2.0, 2.0);
                (&end[b].centre.x)[k] =
                    whole ? lattice(&random, 7) : carom_random_between(&random, -2.0, 2.0);
            }
            start[b].radius = whole ? lattice(&random, 3) : carom_random_between(&random, 0.0, 1.0);
            end[b].radius = i % 3 == 0 ? start[b].radius : start[b].radius * 2.0;
        }
        carom_toi toi = carom_ball_toi_value(start, end);
        long double time;
        bool hit = closed_form(start, end, &time);
        hits += toi.hit;
        if (hit != toi.hit || (hit && fabsl(time - toi.time.lower) > 1e-12L))
            fail_msg("case %d: %d %.17g, the closed form: %d %.17Lg", i, toi.hit, toi.time.lower,
                     hit, time);
        assert_true(toi.time.upper - toi.time.lower <= 0x1p-36);
    }
    if (TEST_MANY_CASES) assert_in_range(hits, TEST_CASES(10000), TEST_CASES(95000));
}

static void bad_input_is_refused(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 start[4] = {{0}}, end[4] = {{0}};
    carom_ball from[2] = {{{0, 0, 0}, 1.0}, {{3, 0, 0}, 1.0}};
    carom_ball to[2] = {{{0, 0, 0}, 1.0}, {{0, 0, 0}, 1.0}};
    carom_toi toi;
    assert_ok(context, carom_ball_toi(context, from, to, &toi));
    assert_true(toi.hit && toi.time.lower <= 1.0 / 3.0 && toi.time.upper >= 1.0 / 3.0);
    carom_advance moved;
    carom_advance_def def = {.reach = -1.0};
    assert_fails(context, carom_segments_advance(context, start, end, &def, &moved),
                 CAROM_BAD_INPUT, "reach");
    def = (carom_advance_def){.tolerance = INFINITY};
    assert_fails(context, carom_segments_advance(context, start, end, &def, &moved),
                 CAROM_BAD_INPUT, "tolerance");
    end[2].y = NAN;
    assert_fails(context, carom_point_triangle_toi(context, start, end, &toi), CAROM_BAD_INPUT,
                 "point 2 at the end");
    assert_fails(context, carom_point_triangle_advance(context, start, end, NULL, &moved),
                 CAROM_BAD_INPUT, "at the end");
    assert_fails(context, carom_segments_toi(context, start, end, &toi), CAROM_BAD_INPUT, "finite");
    to[1].radius = -1.0;
    assert_fails(context, carom_ball_toi(context, from, to, &toi), CAROM_BAD_INPUT, "ball 1");
    end[2].y = 0.0;
    assert_ok(context, carom_segments_toi(context, start, end, &toi));
    assert_true(toi.hit && toi.time.upper == 0.0);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_motions_are_those_of_the_oracle),
        cmocka_unit_test(general_motions_are_those_of_the_oracle),
        cmocka_unit_test(touching_is_a_hit_and_a_hair_less_is_not),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(mixed_scales_agree),
        cmocka_unit_test(motions_advance_to_their_separation),
        cmocka_unit_test(advancement_at_any_scale_is_the_same),
        cmocka_unit_test(published_queries_are_decided_right),
        cmocka_unit_test(balls_are_the_closed_form),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
