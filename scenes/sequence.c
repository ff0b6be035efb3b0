/* SPDX-License-Identifier: MIT */
/* Where the vertices of a sequence are: parts by their poses, the cloth by a uniform bicubic
 * B-spline of its control points. A cloth of any resolution is so the same surface, and its course
 * is simulated once for few points. */
#include "scenes/sequence.h"

#include <math.h>
#include <stdlib.h>

#include "geom/pose.h"
#include "scenes/sequence_scenes.h"

const char *scene_kind_name(scene_kind kind) {
    static const char *const names[SCENE_KIND_COUNT] = {"exploding", "whirling", "bodies", "funnel",
                                                        "chair",     "breaking", "draped"};
    return kind < SCENE_KIND_COUNT ? names[kind] : "unknown";
}

bool scene_sequence_make(scene_kind kind, uint64_t triangles, uint32_t frames,
                         scene_sequence *sequence) {
    *sequence = (scene_sequence){.kind = kind, .frame_count = frames};
    scene_sequence_fill(sequence, triangles);
    return !sequence->failed && sequence->triangle_count == triangles;
}

void scene_sequence_free(scene_sequence *sequence) {
    for (uint32_t i = 0; i < sequence->part_count; ++i) free(sequence->parts[i].poses);
    free(sequence->parts);
    free(sequence->rest);
    free(sequence->corners);
    free(sequence->sheet.controls);
    *sequence = (scene_sequence){0};
}

static void put(float to[3], carom_vec3 p) {
    to[0] = (float)p.x;
    to[1] = (float)p.y;
    to[2] = (float)p.z;
}

/* Four weights that add up to 1, and the first of four control points; beyond the border the last
 * ones are repeated. */
typedef struct spline {
    double weight[4];
    uint32_t index[4];
} spline;

static spline spline_at(uint32_t i, uint32_t cells, uint32_t points) {
    double x = (double)i * (points - 1) / cells, floored = floor(x), t = x - floored;
    double s = 1.0 - t;
    int64_t first = (int64_t)floored - 1;
    spline at = {{s * s * s / 6.0, (4.0 + t * t * (3.0 * t - 6.0)) / 6.0,
                  (4.0 + s * s * (3.0 * s - 6.0)) / 6.0, t * t * t / 6.0},
                 {0}};
    for (int k = 0; k < 4; ++k) {
        int64_t index = first + k;
        at.index[k] = (uint32_t)(index < 0 ? 0 : index >= points ? points - 1 : index);
    }
    return at;
}

static void put_sheet(const scene_sheet *sheet, uint32_t frame, float (*positions)[3]) {
    uint32_t columns = sheet->points[0];
    const carom_vec3 *controls = sheet->controls + (uint64_t)frame * columns * sheet->points[1];
    float(*to)[3] = positions + sheet->first;
    for (uint32_t j = 0; j <= sheet->cells[1]; ++j) {
        spline v = spline_at(j, sheet->cells[1], sheet->points[1]);
        for (uint32_t i = 0; i <= sheet->cells[0]; ++i) {
            spline u = spline_at(i, sheet->cells[0], columns);
            carom_vec3 p = {0.0, 0.0, 0.0};
            for (int b = 0; b < 4; ++b) {
                const carom_vec3 *row = controls + (uint64_t)v.index[b] * columns;
                for (int a = 0; a < 4; ++a)
                    p = carom_vec_add(p,
                                      carom_vec_scale(row[u.index[a]], u.weight[a] * v.weight[b]));
            }
            put(*to++, p);
        }
    }
}

void scene_sequence_frame(const scene_sequence *sequence, uint32_t frame, float (*positions)[3]) {
    for (uint32_t i = 0; i < sequence->part_count; ++i) {
        const scene_part *part = &sequence->parts[i];
        carom_frame at = carom_frame_make(part->poses != NULL ? &part->poses[frame] : NULL);
        for (uint64_t v = part->first; v < part->first + part->count; ++v)
            put(positions[v], carom_frame_apply(&at, sequence->rest[v]));
    }
    if (sequence->has_sheet) put_sheet(&sequence->sheet, frame, positions);
}
