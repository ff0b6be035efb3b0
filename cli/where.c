/* SPDX-License-Identifier: MIT */
/* Where pairs of faces meet, for files: coordinates as CSV, faces as coloured PLY. */
#include "cli/where.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/interrupt.h"
#include "cli/pose.h"

static carom_status find_segments(cli *cli, const where_soups *s, const carom_pairs *pairs,
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
    carom_status status = find_segments(cli, soups, pairs, &segments);
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

static carom_status write_nearest(cli *cli, const where_soups *s, const carom_pairs *pairs,
                                  output *out) {
    carom_soup_gap *gaps = malloc((pairs->count + 1) * sizeof(*gaps));
    if (gaps == NULL) return CAROM_NO_MEMORY;
    carom_status status =
        s->b == NULL ? carom_soup_self_gaps(cli->context, s->a, pairs->data, pairs->count, gaps)
                     : carom_soup_cross_gaps(cli->context, s->a, NULL, s->b, s->pose, pairs->data,
                                             pairs->count, gaps);
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
    carom_status status = find_segments(cli, soups, pairs, &segments);
    *lines = segments.count;
    for (uint64_t i = 0; i < segments.count && status == CAROM_OK && goes_on(out); ++i)
        write_line(out, segments.data[i].pair, segments.data[i].p, segments.data[i].q);
    carom_soup_segments_free(&segments);
    return status;
}

/* ---- PLY ------------------------------------------------------------------------------------- */

static void write_vertices(const carom_mesh_view *view, const carom_pose *pose, output *out) {
    bool floats = view->scalar == CAROM_SCALAR_FLOAT32;
    uint64_t stride =
        view->stride != 0 ? view->stride : 3 * (floats ? sizeof(float) : sizeof(double));
    double m[12];
    if (pose != NULL) pose_matrix(pose, m);
    for (uint64_t v = 0; v < view->vertex_count && goes_on(out); ++v) {
        const void *at = (const char *)view->positions + v * stride;
        const float *f = at;
        const double *d = at;
        double p[3], q[3];
        for (int k = 0; k < 3; ++k) p[k] = floats ? (double)f[k] : d[k];
        for (int k = 0; k < 3; ++k)
            q[k] = pose == NULL
                       ? p[k]
                       : m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3];
        fprintf(out->file, "%.17g %.17g %.17g\n", q[0], q[1], q[2]);
    }
}

static void write_faces(const carom_mesh_view *view, uint64_t first_vertex, const uint8_t *marked,
                        output *out) {
    for (uint64_t f = 0; f < view->face_count && goes_on(out); ++f) {
        uint64_t begin = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        fprintf(out->file, "%" PRIu64, end - begin);
        for (uint64_t i = begin; i < end; ++i)
            fprintf(out->file, " %" PRIu64, first_vertex + view->corners[i]);
        fputs(marked[f] != 0 ? " 220 30 30\n" : " 200 200 200\n", out->file);
    }
}

void where_mark(const carom_mesh_view *a, const carom_mesh_view *b, const carom_pose *pose,
                const uint8_t *marked, output *out) {
    uint64_t vertices = a->vertex_count + (b != NULL ? b->vertex_count : 0);
    uint64_t faces = a->face_count + (b != NULL ? b->face_count : 0);
    fprintf(out->file,
            "ply\nformat ascii 1.0\ncomment red: faces of pairs\n"
            "element vertex %" PRIu64 "\nproperty double x\nproperty double y\nproperty double z\n"
            "element face %" PRIu64 "\nproperty list uint uint vertex_indices\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n",
            vertices, faces);
    write_vertices(a, NULL, out);
    if (b != NULL) write_vertices(b, pose, out);
    write_faces(a, 0, marked, out);
    if (b != NULL) write_faces(b, a->vertex_count, marked + a->face_count, out);
}
