/* SPDX-License-Identifier: MIT */
/* Integrals over ranges of triangles, as differences of prefix sums.
 *
 * All integrands are polynomials of the corners, evaluated in double-double and added in fixed
 * point with 120 bits below their total (solid_prefix_sums_cpu.c). Invariant: the sum over a range
 * is the exact difference of two prefix sums. Sums are shifted to a new origin in double-double, so
 * a small part of a large mesh, far from its centre, is as accurate as if it had been integrated
 * there. */
#include "solid/solid_prefix_sums.h"

#include <float.h>

#include "base/progress.h"
#include "base/threads.h"
#include "solid/solid_prefix_sums_cpu.h"

#define SOLID_PREFIX_SUMS_DOUBLE(x) carom_dd_make(x, 0.0)

/* Magnitude of an integral, in areas of the mesh. Coordinates are scaled to at most 1: the largest,
 * (y_0 + y_1 + y_2)_i (y . n), is below 3 sqrt(3), and a winding number of a few is left room. */
#define PREFIX_REACH            32.0
#define PREFIX_BLOCKS_PER_RANGE 256u /* of a loop: some 0.1 ms */
/* Area, where all triangles are degenerate: scales must be finite, and 128 bits below it are. */
#define PREFIX_LEAST_AREA 0x1p-900

/* ---- Construction ---------------------------------------------------------------------------- */

void carom_solid_prefix_sums_choose_frame(carom_solid_prefix_sums *sums, carom_vec3 low,
                                          carom_vec3 high) {
    sums->centre = carom_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y,
                             0.5 * low.z + 0.5 * high.z);
    double extent = CAROM_MAX(CAROM_MAX(high.x - low.x, high.y - low.y), high.z - low.z);
    extent = CAROM_MIN(extent, DBL_MAX);
    carom_scale_range range = carom_scale_range_add(carom_scale_range_empty(), extent);
    sums->exponent = extent > 0.0 ? -range.high : 0;
    CAROM_ASSERT(extent >= 0.0);
}

void carom_solid_prefix_sums_choose_scales(carom_solid_prefix_sums *sums, double twice_area) {
    sums->area = 0.5 * twice_area + PREFIX_LEAST_AREA;
    for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i)
        sums->scales[i] = carom_sum_scale(PREFIX_REACH * sums->area, 1);
    CAROM_ASSERT(sums->scales[0] >= CAROM_SUM_LANES_SCALE);
}

typedef struct prefix_job {
    carom_context *context;
    const carom_soup_view *soup;
    carom_solid_prefix_sums *sums;
    double *areas; /* of each part, doubled */
} prefix_job;

static carom_status solid_prefix_sums_measure(void *argument, carom_range range) {
    const prefix_job *job = argument;
    double areas[CAROM_SOLID_PART], area = 0.0;
    CAROM_CPU_CALL(job->context, carom_solid_double_areas)
    (job->soup, job->sums->exponent, range.begin, range.end, areas);
    for (uint64_t i = 0; i < range.end - range.begin; ++i) area += areas[i];
    job->areas[range.begin / CAROM_SOLID_PART] = area;
    return CAROM_OK;
}

/* Writes the sums over each block of a range, with those of the blocks of this range before it,
 * where the prefix sum after it will be. */
static carom_status solid_prefix_sums_integrate(void *argument, carom_range range) {
    const prefix_job *job = argument;
    carom_solid_sum *to = job->sums->blocks + CAROM_SOLID_SUMS * (range.begin + 1);
    uint64_t count = CAROM_SOLID_SUMS * (range.end - range.begin);
    CAROM_CPU_CALL(job->context, carom_solid_integrate_blocks)
    (job->sums, job->soup, range.begin, range.end, to);
    for (uint64_t i = CAROM_SOLID_SUMS; i < count; ++i)
        carom_solid_add_sum(&to[i], to[i - CAROM_SOLID_SUMS]);
    carom_progress_add(job->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* Adds the sums before a range, which are its last ones before the range before it was added, one
 * range after the other: `totals`. */
typedef struct prefix_totals {
    carom_solid_prefix_sums *sums;
    const carom_solid_sum *totals;
} prefix_totals;

static carom_status solid_prefix_sums_raise(void *argument, carom_range range) {
    const prefix_totals *job = argument;
    uint64_t part = range.begin / PREFIX_BLOCKS_PER_RANGE;
    const carom_solid_sum *before = job->totals + CAROM_SOLID_SUMS * part;
    carom_solid_sum *to = job->sums->blocks + CAROM_SOLID_SUMS * (range.begin + 1);
    for (uint64_t i = 0; part != 0 && i < CAROM_SOLID_SUMS * (range.end - range.begin); ++i)
        carom_solid_add_sum(&to[i], before[i % CAROM_SOLID_SUMS]);
    return CAROM_OK;
}

/* Turns sums within ranges into prefix sums. */
static carom_status solid_prefix_sums_join(carom_context *context, carom_solid_prefix_sums *sums) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = sums->block_count - 1;
    uint64_t parts = (count + PREFIX_BLOCKS_PER_RANGE - 1) / PREFIX_BLOCKS_PER_RANGE;
    carom_solid_sum *totals = CAROM_ARENA_TAKE(scratch, carom_solid_sum, CAROM_SOLID_SUMS * parts);
    if (totals == NULL)
        return carom_fail_memory(context, CAROM_SOLID_SUMS * parts * sizeof(*totals), "a solid");
    memset(sums->blocks, 0, CAROM_SOLID_SUMS * sizeof(*sums->blocks));
    memset(totals, 0, CAROM_SOLID_SUMS * sizeof(*totals));
    for (uint64_t i = CAROM_SOLID_SUMS; i < CAROM_SOLID_SUMS * parts; ++i) {
        uint64_t last = i / CAROM_SOLID_SUMS * PREFIX_BLOCKS_PER_RANGE; /* block of range before */
        totals[i] = totals[i - CAROM_SOLID_SUMS];
        carom_solid_add_sum(&totals[i],
                            sums->blocks[CAROM_SOLID_SUMS * last + i % CAROM_SOLID_SUMS]);
    }
    prefix_totals job = {sums, totals};
    return carom_parallel_for(context, count, PREFIX_BLOCKS_PER_RANGE, solid_prefix_sums_raise,
                              &job);
}

static carom_status solid_prefix_sums_fill(carom_context *context, const carom_soup_view *soup,
                                           carom_solid_prefix_sums *sums) {
    uint64_t parts = soup->triangle_count / CAROM_SOLID_PART + 1;
    double *areas = CAROM_ARENA_TAKE(carom_scratch(context, 0), double, parts);
    if (areas == NULL) return carom_fail_memory(context, parts * sizeof(*areas), "a solid");
    prefix_job job = {context, soup, sums, areas};
    carom_solid_prefix_sums_choose_frame(sums, soup->lowest, soup->highest);
    CAROM_TRY(carom_parallel_for(context, soup->triangle_count, CAROM_SOLID_PART,
                                 solid_prefix_sums_measure, &job));
    double area = 0.0;
    for (uint64_t i = 0; i * CAROM_SOLID_PART < soup->triangle_count; ++i) area += areas[i];
    carom_solid_prefix_sums_choose_scales(sums, area);
    CAROM_TRY(carom_parallel_for(context, sums->block_count - 1, PREFIX_BLOCKS_PER_RANGE,
                                 solid_prefix_sums_integrate, &job));
    return solid_prefix_sums_join(context, sums);
}

carom_status carom_solid_prefix_sums_make(carom_context *context, const carom_allocator *allocator,
                                          const carom_soup_view *soup,
                                          carom_solid_prefix_sums *sums) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = soup->triangle_count;
    sums->block_count = count / CAROM_SOLID_BLOCK + 2;
    if (sums->blocks == NULL)
        sums->blocks =
            carom_allocate(allocator, sums->block_count, CAROM_SOLID_SUMS * sizeof(*sums->blocks));
    if (sums->blocks == NULL)
        return carom_fail_memory(
            context, sums->block_count * CAROM_SOLID_SUMS * sizeof(*sums->blocks), "a solid");
    carom_progress_begin(context, "integrating a solid", sums->block_count);
    carom_status status =
        carom_progress_finish(context, solid_prefix_sums_fill(context, soup, sums));
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Volume ---------------------------------------------------------------------------------- */

/* Error of sum . normal of one triangle in double-double. Coordinates y are at most 1/2, so sides
 * are at most 1, a coordinate of the normal, twice an area in a square of side 1, too, and the
 * operations lose less than 2^-103 of their operands: u and v 2^-103, their products 3 of these, a
 * normal 7, the sum of three corners 3, a product of both, at most 3/2, 3/2 * 7 + 3 + 3/2 = 15, and
 * three of them 45 of these, 2^-97.5. */
#define PREFIX_TRIANGLE_ERROR 0x1p-96
/* Roundings of fixed point to half a unit: two terms each for three sums. */
#define PREFIX_TRIANGLE_UNITS 3u
/* Bits of the sum: far more than the 53 of a double, the 4 of the divisor and one for rounding. */
#define PREFIX_LEAST_BITS 70
/* Range of a volume, and of its power of two, in which scaling does not round. */
#define PREFIX_MOST_VOLUME 0x1p900

/* A positive sum divided by nine, as the nearest double: the quotient's lowest bit stands for all
 * bits below. */
static double divide_by_nine(carom_sum sum, int scale) {
    uint64_t words[4] = {sum.high >> 32, sum.high & UINT32_MAX, sum.low >> 32,
                         sum.low & UINT32_MAX};
    uint64_t rest = 0;
    for (int i = 0; i < 4; ++i) {
        uint64_t all = rest << 32 | words[i];
        words[i] = all / 9;
        rest = all % 9;
    }
    carom_sum quotient = {words[2] << 32 | words[3] | (rest != 0 ? 1u : 0u),
                          words[0] << 32 | words[1], 0};
    return carom_sum_value(quotient, scale);
}

bool carom_solid_prefix_sums_volume(const carom_solid_prefix_sums *sums, uint64_t triangles,
                                    double *volume) {
    /* 9 V is the sum over triangles of (y_0 + y_1 + y_2) . n. */
    const carom_solid_sum *last = sums->blocks + CAROM_SOLID_SUMS * (sums->block_count - 1);
    int scale = sums->scales[CAROM_SOLID_FIRST], power = -3 * sums->exponent;
    carom_sum all = {0, 0, 0}, units = {PREFIX_TRIANGLE_UNITS * triangles, 0, 0};
    for (unsigned i = 0; i < 3; ++i)
        all = carom_sum_add(all, carom_solid_weigh(last[CAROM_SOLID_FIRST + 4 * i], 1));
    bool negative = all.high >> 63 != 0;
    if (negative) all = carom_sum_negate(all);
    carom_sum error =
        carom_sum_add(units, carom_sum_term(PREFIX_TRIANGLE_ERROR * (double)triangles, scale));
    carom_sum least = carom_sum_add(all, carom_sum_negate(error));
    carom_sum most = carom_sum_add(all, error);
    if (error.spoiled != 0 || least.high >> 63 != 0 || most.high >> 63 != 0) return false;
    if (carom_bit_count(least.high) + 64 < PREFIX_LEAST_BITS) return false;
    double low = divide_by_nine(least, scale), high = divide_by_nine(most, scale);
    double value = carom_scale_apply(low, power), size = fabs(value);
    *volume = negative ? -value : value;
    return low == high && low > 1.0 / PREFIX_MOST_VOLUME && size > 1.0 / PREFIX_MOST_VOLUME &&
           size < PREFIX_MOST_VOLUME;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

void carom_solid_moments_add(const carom_solid_prefix_sums *sums, carom_solid_moments *moments,
                             uint64_t block, int weight) {
    const carom_solid_sum *from = sums->blocks + CAROM_SOLID_SUMS * block;
    CAROM_ASSERT(block < sums->block_count);
    for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i)
        moments->sums[i] = carom_sum_add(moments->sums[i], carom_solid_weigh(from[i], weight));
}

static carom_dd solid_prefix_sums_value(const carom_solid_prefix_sums *sums,
                                        const carom_solid_moments *moments, unsigned i) {
    int scale = sums->scales[i];
    double high = carom_sum_value(moments->sums[i], scale);
    carom_sum rest = carom_sum_add(moments->sums[i], carom_sum_negate(carom_sum_term(high, scale)));
    return carom_dd_make(high, carom_sum_value(rest, scale));
}

/* The integrals in the body's own axes, about a point at some shift from its centre. */
typedef struct shifted {
    double normal[3], first[3][3], second[3], area;
} shifted;

static shifted solid_prefix_sums_shift(const carom_solid_prefix_sums *sums,
                                       const carom_solid_moments *moments, const double by[3]) {
    shifted s;
    carom_dd normal[3], first[3][3], trace = SOLID_PREFIX_SUMS_DOUBLE(0.0),
                                     along = SOLID_PREFIX_SUMS_DOUBLE(0.0), d[3];
    const carom_dd three = SOLID_PREFIX_SUMS_DOUBLE(3.0);
    for (unsigned i = 0; i < 3; ++i) {
        d[i] = SOLID_PREFIX_SUMS_DOUBLE(by[i]);
        normal[i] = solid_prefix_sums_value(sums, moments, CAROM_SOLID_NORMAL + i);
        s.normal[i] = normal[i].high;
        along = carom_dd_add(along, carom_dd_multiply(d[i], normal[i]));
        for (unsigned j = 0; j < 3; ++j)
            first[i][j] = solid_prefix_sums_value(sums, moments, CAROM_SOLID_FIRST + 3 * i + j);
        trace = carom_dd_add(trace, first[i][i]);
    }
    /* With first and second three times the integrals F and S:
     *   F'_ij = F_ij - d_i n_j,  S'_i = S_i - d_i tr F - (F d)_i + d_i (d . n). */
    for (unsigned i = 0; i < 3; ++i) {
        carom_dd second = solid_prefix_sums_value(sums, moments, CAROM_SOLID_SECOND + i);
        second = carom_dd_sub(second, carom_dd_multiply(d[i], trace));
        for (unsigned j = 0; j < 3; ++j) {
            carom_dd lever = carom_dd_multiply(three, normal[j]);
            second = carom_dd_sub(second, carom_dd_multiply(first[i][j], d[j]));
            s.first[i][j] = carom_dd_sub(first[i][j], carom_dd_multiply(d[i], lever)).high / 3.0;
        }
        carom_dd last = carom_dd_multiply(carom_dd_multiply(three, d[i]), along);
        s.second[i] = carom_dd_add(second, last).high / 3.0;
    }
    s.area = solid_prefix_sums_value(sums, moments, CAROM_SOLID_AREA).high;
    return s;
}

/* The vector from the posed centre to a point, in the unit of y, rounded once: far from the world's
 * origin, the rounding of a posed point would displace the whole solid. */
static carom_vec3 way_from(const carom_solid_prefix_sums *sums, const carom_frame *frame,
                           carom_vec3 to) {
    const double *r = frame->r;
    const double c[3] = {sums->centre.x, sums->centre.y, sums->centre.z};
    const double t[3] = {frame->t.x, frame->t.y, frame->t.z}, p[3] = {to.x, to.y, to.z};
    double direction[3];
    for (int i = 0; i < 3; ++i) {
        carom_dd sum = carom_dd_diff(carom_scale_apply(p[i], sums->exponent),
                                     carom_scale_apply(t[i], sums->exponent));
        for (int k = 0; k < 3; ++k)
            sum = carom_dd_sub(sum, carom_dd_multiply(SOLID_PREFIX_SUMS_DOUBLE(r[3 * i + k]),
                                                      SOLID_PREFIX_SUMS_DOUBLE(carom_scale_apply(
                                                          c[k], sums->exponent))));
        direction[i] = sum.high;
    }
    return carom_vec(direction[0], direction[1], direction[2]);
}

/* Error factors, relative, with e = 2^-53. The matrix is orthonormal to 16 e, and its determinant
 * is 1 to 40 e, by which the transformed mesh is larger or smaller. This and the roundings of the
 * products with the matrix are less than PREFIX_TURN_ERROR of the integrals, and a quarter of that
 * of a volume. Before that, double-double has lost less than PREFIX_DD_ERROR of the areas times the
 * reach of coordinates, and fixed point less than PREFIX_FIXED_ERROR of the whole mesh's area. The
 * shift was rounded to PREFIX_SHIFT_ERROR of its length, which displaces everything. */
#define PREFIX_TURN_ERROR  0x1p-47
#define PREFIX_DD_ERROR    0x1p-94
#define PREFIX_FIXED_ERROR 0x1p-100
#define PREFIX_SHIFT_ERROR 0x1p-50

static double magnitude(const double *x, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += fabs(x[i]);
    return sum;
}

static void bound_errors(const carom_solid_prefix_sums *sums, const shifted *s, const double by[3],
                         const double rest[3], double k, carom_solid_integrals *out) {
    double far = 1.0 + magnitude(by, 3), normal = magnitude(s->normal, 3);
    double first = magnitude(s->first[0], 9), second = magnitude(s->second, 3);
    double trace = fabs(s->first[0][0]) + fabs(s->first[1][1]) + fabs(s->first[2][2]);
    double moved =
        PREFIX_SHIFT_ERROR * magnitude(by, 3) + 4.0 * magnitude(rest, 3) * PREFIX_TURN_ERROR;
    double lost = PREFIX_DD_ERROR * fabs(s->area) + PREFIX_FIXED_ERROR * sums->area;
    double two = k * k, three = two * k;
    out->volume_error = (PREFIX_TURN_ERROR * 0.25 * trace + moved * normal + lost * far) * three;
    out->moment_error =
        (PREFIX_TURN_ERROR * second + moved * (first + normal) * 2.0 + lost * far * far) * three *
        k;
    out->area_error = (PREFIX_TURN_ERROR * fabs(s->area) + lost) * two;
    out->normal_error = (PREFIX_TURN_ERROR * normal + lost) * two;
    out->turn_error = (PREFIX_TURN_ERROR * first + moved * normal + lost * far) * three;
}

carom_solid_integrals carom_solid_moments_pose(const carom_solid_prefix_sums *sums,
                                               const carom_solid_moments *moments,
                                               const carom_frame *frame, carom_vec3 origin,
                                               int exponent) {
    const double *r = frame->r;
    /* The origin in the body's frame, rounded; the remainder is `rest`. */
    carom_vec3 direction = way_from(sums, frame, origin);
    carom_vec3 body = carom_vec((r[0] * direction.x + r[3] * direction.y) + r[6] * direction.z,
                                (r[1] * direction.x + r[4] * direction.y) + r[7] * direction.z,
                                (r[2] * direction.x + r[5] * direction.y) + r[8] * direction.z);
    double by[3] = {body.x, body.y, body.z};
    shifted s = solid_prefix_sums_shift(sums, moments, by);
    carom_vec3 back = carom_vec_sub(carom_frame_turn(frame, body), direction);
    double rest[3] = {back.x, back.y, back.z};
    double n[3], f[3][3], half[3][3], along = 0.0, q[3];
    /* Rotation invariants are taken from before the rotation. */
    double trace = (s.first[0][0] + s.first[1][1]) + s.first[2][2];
    for (int i = 0; i < 3; ++i) {
        n[i] = (r[3 * i] * s.normal[0] + r[3 * i + 1] * s.normal[1]) + r[3 * i + 2] * s.normal[2];
        for (int j = 0; j < 3; ++j)
            half[i][j] = (r[3 * i] * s.first[0][j] + r[3 * i + 1] * s.first[1][j]) +
                         r[3 * i + 2] * s.first[2][j];
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f[i][j] =
                (half[i][0] * r[3 * j] + half[i][1] * r[3 * j + 1]) + half[i][2] * r[3 * j + 2];
    for (int i = 0; i < 3; ++i) along += rest[i] * n[i];
    for (int i = 0; i < 3; ++i) {
        q[i] = (r[3 * i] * s.second[0] + r[3 * i + 1] * s.second[1]) + r[3 * i + 2] * s.second[2];
        q[i] += rest[i] * trace + rest[i] * along +
                ((f[i][0] * rest[0] + f[i][1] * rest[1]) + f[i][2] * rest[2]);
    }
    /* From the unit of y to that of x, and to the caller's unit. */
    double k = carom_scale_apply(1.0, exponent - sums->exponent);
    carom_solid_integrals out;
    out.volume = (trace + along) / 3.0 * k * k * k;
    out.moment = carom_vec_scale(carom_vec(q[0], q[1], q[2]), 0.25 * k * k * k * k);
    out.area = s.area * k * k;
    out.normal = carom_vec_scale(carom_vec(n[0], n[1], n[2]), k * k);
    out.turn = carom_vec((f[1][2] - f[2][1]) + (rest[1] * n[2] - rest[2] * n[1]),
                         (f[2][0] - f[0][2]) + (rest[2] * n[0] - rest[0] * n[2]),
                         (f[0][1] - f[1][0]) + (rest[0] * n[1] - rest[1] * n[0]));
    out.turn = carom_vec_scale(out.turn, k * k * k);
    bound_errors(sums, &s, by, rest, k, &out);
    CAROM_ASSERT(!(out.volume_error < 0.0) && !(out.area_error < 0.0));
    return out;
}
