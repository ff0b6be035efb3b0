/* SPDX-License-Identifier: MIT */
/* Meshes, poses and checksums of the soup benchmarks. */
#include "bench/soup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- meshes ---------------------------------------------------------------------------------- */

static void measure(soup_input *input) {
    const float *p = input->raw.positions;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t i = 0; i < 3 * input->raw.vertex_count; ++i) {
        double x = (double)p[i];
        low[i % 3] = x < low[i % 3] ? x : low[i % 3];
        high[i % 3] = x > high[i % 3] ? x : high[i % 3];
    }
    input->centre =
        (carom_vec3){0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])};
    for (int i = 0; i < 3; ++i)
        if (high[i] - low[i] > input->size) input->size = high[i] - low[i];
}

static bool take(carom_mesh *mesh, soup_input *input) {
    *input = (soup_input){.mesh = mesh};
    if (carom_mesh_get_view(mesh, &input->view) != CAROM_OK || input->view.offsets != NULL ||
        input->view.scalar != CAROM_SCALAR_FLOAT32) {
        soup_input_free(input);
        return false;
    }
    input->raw = (peer_mesh){.positions = input->view.positions,
                             .corners = input->view.corners,
                             .vertex_count = input->view.vertex_count,
                             .triangle_count = input->view.face_count};
    measure(input);
    return true;
}

bool soup_input_make(carom_context *context, const carom_shape_def *def, soup_input *input) {
    carom_mesh *mesh;
    *input = (soup_input){0};
    return carom_shape_make(context, def, &mesh) == CAROM_OK && take(mesh, input);
}

bool soup_input_load(carom_context *context, const char *name, soup_input *input) {
    char file[64], path[4096];
    carom_mesh *mesh;
    snprintf(file, sizeof(file), "%s.ply", name);
    soup_input_path(file, path, sizeof(path));
    *input = (soup_input){0};
    return carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh) == CAROM_OK &&
           take(mesh, input);
}

void soup_input_free(soup_input *input) {
    carom_mesh_destroy(input->mesh);
    *input = (soup_input){0};
}

void soup_input_path(const char *file, char *path, size_t size) {
    const char *folder = getenv("CAROM_MODELS");
    snprintf(path, size, "%s/bench/%s", folder != NULL ? folder : "../shared/models", file);
}

/* ---- answers --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool share_vertex(const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 3; ++i)
        if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2]) return true;
    return false;
}

soup_answer soup_answer_of(const peer_mesh *mesh, const uint32_t *pairs, uint64_t count) {
    soup_answer answer = {.pairs = count};
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t a = pairs[2 * i], b = pairs[2 * i + 1];
        if (share_vertex(mesh->corners + 3 * a, mesh->corners + 3 * b)) continue;
        ++answer.apart;
        answer.checksum += mix((a << 32 | b) + 0x9E3779B97F4A7C15u);
    }
    return answer;
}

/* ---- poses ----------------------------------------------------------------------------------- */

static carom_vec3 draw_direction(carom_random *random) {
    carom_vec3 d;
    d.x = carom_random_normal(random);
    d.y = carom_random_normal(random);
    d.z = carom_random_normal(random);
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return (carom_vec3){d.x / length, d.y / length, d.z / length};
}

/* The rotation of a unit quaternion, as the library writes it. */
static void rotation_of(const carom_pose *q, double *m) {
    double w = q->q.w, x = q->q.x, y = q->q.y, z = q->q.z;
    m[0] = 1.0 - 2.0 * (y * y + z * z);
    m[1] = 2.0 * (x * y - w * z);
    m[2] = 2.0 * (x * z + w * y);
    m[4] = 2.0 * (x * y + w * z);
    m[5] = 1.0 - 2.0 * (x * x + z * z);
    m[6] = 2.0 * (y * z - w * x);
    m[8] = 2.0 * (x * z - w * y);
    m[9] = 2.0 * (y * z + w * x);
    m[10] = 1.0 - 2.0 * (x * x + y * y);
}

/* How far the mesh reaches from c in a direction. */
static double reach(const peer_mesh *mesh, carom_vec3 c, carom_vec3 d) {
    double most = -INFINITY;
    for (uint64_t v = 0; v < mesh->vertex_count; ++v) {
        const float *p = mesh->positions + 3 * v;
        double along =
            ((double)p[0] - c.x) * d.x + ((double)p[1] - c.y) * d.y + ((double)p[2] - c.z) * d.z;
        most = along > most ? along : most;
    }
    return most;
}

void soup_poses_make(const soup_input *input, double first_gap, double last_gap,
                     soup_poses *poses) {
    const peer_mesh *mesh = &input->raw;
    carom_random random = {99};
    carom_vec3 c = input->centre;
    for (int k = 0; k < SOUP_POSES; ++k) {
        carom_pose *q = &poses->poses[k];
        double *m = poses->matrices[k];
        q->q.w = carom_random_normal(&random);
        q->q.x = carom_random_normal(&random);
        q->q.y = carom_random_normal(&random);
        q->q.z = carom_random_normal(&random);
        double length =
            sqrt(((q->q.w * q->q.w + q->q.x * q->q.x) + q->q.y * q->q.y) + q->q.z * q->q.z);
        *q =
            (carom_pose){.q.w = q->q.w / length, q->q.x / length, q->q.y / length, q->q.z / length};
        rotation_of(q, m);
        carom_vec3 d = draw_direction(&random), back = {-d.x, -d.y, -d.z};
        /* The turned mesh reaches as far along -d as the mesh itself along R^T (-d). */
        carom_vec3 turned = {m[0] * back.x + m[4] * back.y + m[8] * back.z,
                             m[1] * back.x + m[5] * back.y + m[9] * back.z,
                             m[2] * back.x + m[6] * back.y + m[10] * back.z};
        double front = reach(mesh, c, d);
        double gap = first_gap + (last_gap - first_gap) * k / (SOUP_POSES - 1);
        double shift = front + reach(mesh, c, turned) + gap * (front + reach(mesh, c, back));
        q->t.x = c.x + d.x * shift - (m[0] * c.x + m[1] * c.y + m[2] * c.z);
        q->t.y = c.y + d.y * shift - (m[4] * c.x + m[5] * c.y + m[6] * c.z);
        q->t.z = c.z + d.z * shift - (m[8] * c.x + m[9] * c.y + m[10] * c.z);
        m[3] = q->t.x;
        m[7] = q->t.y;
        m[11] = q->t.z;
    }
}

double soup_poses_compare(const soup_poses *poses, const char *file) {
    char path[4096], line[1024];
    soup_input_path(file, path, sizeof(path));
    FILE *stream = fopen(path, "r");
    if (stream == NULL) return -1.0;
    double worst = fgets(line, sizeof(line), stream) != NULL ? 0.0 : HUGE_VAL; /* the heading */
    for (int k = 0; k < SOUP_POSES; ++k) {
        const char *at = fgets(line, sizeof(line), stream) != NULL ? line : "";
        for (int i = 0; i < 12; ++i) {
            char *end;
            double off = fabs(strtod(at, &end) - poses->matrices[k][i]);
            if (end == at) off = INFINITY;
            worst = off > worst ? off : worst;
            at = *end == ',' ? end + 1 : end;
        }
    }
    fclose(stream);
    return worst;
}
