/* SPDX-License-Identifier: MIT */
/* The vector loops of the search for covers: distances on a grid, farthest points, deepest balls.
 * In float32: they guide a search, and nothing is proved by them. */
#include "cover/cover_field_cpu.h"

#include <math.h>

#include "base/simd.h"

void CAROM_CPU(carom_cover_field_values)(const carom_cover_field *field,
                                         const carom_cover_spread *spread, const double centre[3],
                                         double radius, float values[CAROM_COVER_SPREAD]) {
    float t[3][CAROM_COVER_SPREAD], away[CAROM_COVER_SPREAD];
    int32_t at[CAROM_COVER_SPREAD];
    const float *const unit[3] = {spread->x, spread->y, spread->z};
    int32_t stride = 1;
    const int32_t row = (int32_t)field->counts[0], plane = row * (int32_t)field->counts[1];
    for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i) {
        at[i] = 0;
        away[i] = 0.0f;
    }
    for (int k = 0; k < 3; ++k) {
        float from = (float)((centre[k] - field->low[k]) * field->inverse);
        float size = (float)(radius * field->inverse), most = (float)(field->counts[k] - 1);
        float last = most - 1.0f;
        for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i) {
            float u = from + size * unit[k][i];
            float inside = u < 0.0f ? 0.0f : u;
            inside = inside > most ? most : inside;
            float beyond = u - inside, cell = inside > last ? last : inside;
            int32_t index = (int32_t)cell;
            away[i] += beyond * beyond;
            t[k][i] = inside - (float)index;
            at[i] += index * stride;
        }
        stride = k == 0 ? row : plane;
    }
    float step = (float)field->step;
    const float *v = field->values;
    for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i) {
        int32_t j = at[i];
        float a0 = v[j], a1 = v[j + 1], b0 = v[j + row], b1 = v[j + row + 1];
        float c0 = v[j + plane], c1 = v[j + plane + 1];
        float d0 = v[j + plane + row], d1 = v[j + plane + row + 1];
        float a = a0 + t[0][i] * (a1 - a0), b = b0 + t[0][i] * (b1 - b0);
        float c = c0 + t[0][i] * (c1 - c0), d = d0 + t[0][i] * (d1 - d0);
        float e = a + t[1][i] * (b - a), f = c + t[1][i] * (d - c);
        values[i] = e + t[2][i] * (f - e);
    }
    for (uint32_t i = 0; i < CAROM_COVER_SPREAD; ++i)
        if (away[i] > 0.0f) values[i] += sqrtf(away[i]) * step;
}

static inline carom_f32v cover_field_cpu_choose(carom_i32v comparison, carom_f32v yes,
                                                carom_f32v no) {
    return (carom_f32v)(((carom_i32v)yes & comparison) | ((carom_i32v)no & ~comparison));
}

float CAROM_CPU(carom_cover_farthest)(const carom_cover_floats *points, uint64_t begin,
                                      uint64_t end, const float c[3]) {
    const carom_f32v cx = carom_f32v_splat(c[0]), cy = carom_f32v_splat(c[1]);
    const carom_f32v cz = carom_f32v_splat(c[2]);
    carom_f32v most = carom_f32v_splat(0.0f);
    float result = 0.0f, lanes[CAROM_LANES];
    uint64_t i = begin;
    for (; i + CAROM_LANES <= end; i += CAROM_LANES) {
        carom_f32v x = carom_f32v_load(points->x + i) - cx, y = carom_f32v_load(points->y + i) - cy;
        carom_f32v z = carom_f32v_load(points->z + i) - cz;
        most = carom_f32v_max(x * x + y * y + z * z, most);
    }
    carom_f32v_store(lanes, most);
    for (uint32_t k = 0; k < CAROM_LANES; ++k) result = lanes[k] > result ? lanes[k] : result;
    for (; i < end; ++i) {
        float x = points->x[i] - c[0], y = points->y[i] - c[1], z = points->z[i] - c[2];
        float d = x * x + y * y + z * z;
        result = d > result ? d : result;
    }
    return result;
}

void CAROM_CPU(carom_cover_deepest)(const carom_cover_floats *points, uint64_t begin, uint64_t end,
                                    const carom_cover_floats *balls, uint32_t ball_count,
                                    uint32_t *owners, float *first, float *second) {
    for (uint64_t i = begin; i < end; i += CAROM_LANES) {
        carom_f32v px = carom_f32v_load(points->x + i), py = carom_f32v_load(points->y + i);
        carom_f32v pz = carom_f32v_load(points->z + i);
        carom_f32v best = carom_f32v_splat(HUGE_VALF), next = best;
        carom_u32v owner = carom_u32v_splat(0);
        for (uint32_t k = 0; k < ball_count; ++k) {
            carom_f32v x = px - balls->x[k], y = py - balls->y[k], z = pz - balls->z[k];
            carom_f32v d = carom_f32v_sqrt(x * x + y * y + z * z) - balls->radius[k];
            carom_i32v deeper = d < best;
            next = cover_field_cpu_choose(deeper, best, carom_f32v_min(d, next));
            best = cover_field_cpu_choose(deeper, d, best);
            owner = (carom_u32v)(((carom_i32v)carom_u32v_splat(k) & deeper) |
                                 ((carom_i32v)owner & ~deeper));
        }
        carom_f32v_store(first + i, best);
        carom_f32v_store(second + i, next);
        carom_u32v_store(owners + i, owner);
    }
}
