/* SPDX-License-Identifier: MIT */
/* Where pairs of faces meet, for files: coordinates as CSV, faces as coloured PLY. */
#include "cli/where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/pose.h"

carom_status where_find_segments(cli *cli, const where_soups *s, const carom_pairs *pairs,
                                 carom_soup_segments *segments) {
    if (s->b == NULL)
        return carom_soup_self_segments(cli->context, s->a, pairs->data, pairs->count, segments);
    return carom_soup_cross_segments(cli->context, s->a, NULL, s->b, s->pose, pairs->data,
                                     pairs->count, segments);
}

static bool is_pair(carom_pair a, carom_pair b) {
    return a.a == b.a && a.b == b.b;
}

carom_status where_keep_crossing(cli *cli, const where_soups *soups, carom_pairs *pairs) {
    carom_soup_segments segments = {0};
    carom_status status = where_find_segments(cli, soups, pairs, &segments);
    uint64_t kept = 0, at = 0;
    for (uint64_t i = 0; i < pairs->count && status == CAROM_OK; ++i) {
        bool crossing = false;
        carom_pair pair = pairs->data[i];
        for (; at < segments.count && is_pair(segments.data[at].pair, pair); ++at)
            crossing = crossing || segments.data[at].crossing;
        if (crossing && pair.a == pair.b && soups->b == NULL) crossing = false;
        if (crossing) pairs->data[kept++] = pair;
    }
    if (status == CAROM_OK) pairs->count = kept;
    carom_soup_segments_free(&segments);
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_line(output *out, carom_pair pair, carom_vec3 p, carom_vec3 q) {
    fprintf(out->file, "%" PRIu32 ",%" PRIu32 ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", pair.a,
            pair.b, p.x, p.y, p.z, q.x, q.y, q.z);
}

static bool goes_on(const output *out) {
    return !interrupt_seen() && ferror(out->file) == 0;
}

carom_status where_find_gaps(cli *cli, const where_soups *s, const carom_pairs *pairs,
                             carom_soup_gap *gaps) {
    if (s->b == NULL)
        return carom_soup_self_gaps(cli->context, s->a, pairs->data, pairs->count, gaps);
    return carom_soup_cross_gaps(cli->context, s->a, NULL, s->b, s->pose, pairs->data, pairs->count,
                                 gaps);
}

static carom_status write_nearest(cli *cli, const where_soups *s, const carom_pairs *pairs,
                                  output *out) {
    carom_soup_gap *gaps = malloc((pairs->count + 1) * sizeof(*gaps));
    if (gaps == NULL) return CAROM_NO_MEMORY;
    carom_status status = where_find_gaps(cli, s, pairs, gaps);
    for (uint64_t i = 0; i < pairs->count && status == CAROM_OK && goes_on(out); ++i)
        write_line(out, pairs->data[i], gaps[i].point_a, gaps[i].point_b);
    free(gaps);
    return status;
}

carom_status where_write(cli *cli, const where_soups *soups, const carom_pairs *pairs, bool nearest,
                         output *out, uint64_t *lines) {
    carom_soup_segments segments = {0};
    *lines = pairs->count;
    if (nearest) return write_nearest(cli, soups, pairs, out);
    carom_status status = where_find_segments(cli, soups, pairs, &segments);
    *lines = segments.count;
    for (uint64_t i = 0; i < segments.count && status == CAROM_OK && goes_on(out); ++i)
        write_line(out, segments.data[i].pair, segments.data[i].p, segments.data[i].q);
    carom_soup_segments_free(&segments);
    return status;
}

/* ---- PLY ------------------------------------------------------------------------------------- */

/* Both meshes as one. */
typedef struct marked_mesh {
    double *points;
    float *floats;
    uint32_t *corners;
    uint64_t *offsets;
    uint8_t *colours[3];
    uint64_t vertices, faces;
} marked_mesh;

static carom_vec3 point_of(const carom_mesh_view *view, uint64_t vertex, const double *matrix) {
    bool floats = view->scalar == CAROM_SCALAR_FLOAT32;
    uint64_t stride =
        view->stride != 0 ? view->stride : 3 * (floats ? sizeof(float) : sizeof(double));
    const void *at = (const char *)view->positions + vertex * stride;
    const float *f = at;
    const double *x = at;
    carom_vec3 p = floats ? (carom_vec3){(double)f[0], (double)f[1], (double)f[2]}
                          : (carom_vec3){x[0], x[1], x[2]};
    return matrix != NULL ? display_posed(matrix, p) : p;
}

static void append(marked_mesh *m, const carom_mesh_view *view, const double *matrix,
                   const uint8_t *marked) {
    static const uint8_t red[3] = {220, 30, 30}, grey[3] = {200, 200, 200};
    uint64_t first = m->vertices;
    for (uint64_t v = 0; v < view->vertex_count; ++v) {
        carom_vec3 p = point_of(view, v, matrix);
        memcpy(&m->points[3 * m->vertices++], &p, sizeof(p));
    }
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        uint64_t to = m->offsets[m->faces];
        for (uint64_t i = begin; i < end; ++i)
            m->corners[to++] = (uint32_t)(first + view->corners[i]);
        for (int k = 0; k < 3; ++k)
            m->colours[k][m->faces] = marked[m->faces] != 0 ? red[k] : grey[k];
        m->offsets[++m->faces] = to;
    }
}

static bool begin_marked(marked_mesh *m, uint64_t vertices, uint64_t faces, uint64_t corners) {
    m->points = malloc((size_t)(3 * vertices + 1) * sizeof(*m->points));
    m->floats = malloc((size_t)(3 * vertices + 1) * sizeof(*m->floats));
    m->corners = malloc((size_t)(corners + 1) * sizeof(*m->corners));
    m->offsets = calloc((size_t)faces + 1, sizeof(*m->offsets));
    bool good = m->points != NULL && m->floats != NULL && m->corners != NULL && m->offsets != NULL;
    for (int k = 0; k < 3; ++k) {
        m->colours[k] = malloc((size_t)faces + 1);
        good = good && m->colours[k] != NULL;
    }
    return good;
}

static uint64_t corner_count(const carom_mesh_view *view) {
    return view->offsets != NULL ? view->offsets[view->face_count] : 3 * view->face_count;
}

carom_status where_mark(cli *cli, const carom_mesh_view *a, const carom_mesh_view *b,
                        const carom_pose *pose, const uint8_t *marked, carom_mesh **made) {
    static const char *const names[3] = {"red", "green", "blue"};
    marked_mesh m = {0};
    carom_mesh_property properties[3];
    bool floats =
        a->scalar == CAROM_SCALAR_FLOAT32 && (b == NULL || b->scalar == CAROM_SCALAR_FLOAT32);
    double matrix[12];
    carom_status status = CAROM_NO_MEMORY;
    if (begin_marked(&m, a->vertex_count + (b != NULL ? b->vertex_count : 0),
                     a->face_count + (b != NULL ? b->face_count : 0),
                     corner_count(a) + (b != NULL ? corner_count(b) : 0))) {
        append(&m, a, NULL, marked);
        pose_matrix(pose, matrix);
        if (b != NULL) append(&m, b, matrix, marked);
        for (uint64_t i = 0; i < 3 * m.vertices; ++i) m.floats[i] = (float)m.points[i];
        for (int k = 0; k < 3; ++k)
            properties[k] =
                (carom_mesh_property){names[k], true, CAROM_MESH_PROPERTY_TYPE_UINT8, m.colours[k]};
        carom_mesh_view view = {.positions = floats ? (void *)m.floats : (void *)m.points,
                                .scalar = floats ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64,
                                .vertex_count = m.vertices,
                                .corners = m.corners,
                                .offsets = m.offsets,
                                .face_count = m.faces,
                                .properties = properties,
                                .property_count = 3};
        status = carom_mesh_create(cli->context, &view, made);
    }
    free(m.points);
    free(m.floats);
    free(m.corners);
    free(m.offsets);
    for (int k = 0; k < 3; ++k) free(m.colours[k]);
    return status;
}
