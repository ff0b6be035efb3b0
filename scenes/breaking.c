/* SPDX-License-Identifier: MIT */
/* A waving sheet. In every frame some of its faces break: each is removed and replaced by four
 * splinters. These fly through the sheet and through each other, and are removed after a while. */
#include "scenes/breaking.h"

#include <stdlib.h>
#include <string.h>

#include "base/math.h"

#define SPLINTERS     4u
#define HITS_TO_BREAK 32u /* on average, so that the sheet lasts for thousands of frames */
#define LEAST_LIFE    10u
#define LIFE_SPREAD   30u

static void *room(uint64_t count, size_t size) {
    return calloc(count > 0 ? count : 1, size);
}

bool scene_breaking_begin(scene_breaking *scene, uint32_t size, uint64_t frames, uint64_t seed) {
    uint64_t new_faces = frames * SCENE_BREAKING_AT_ONCE * SPLINTERS;
    uint64_t side = (uint64_t)size + 1, vertices = side * side + 3 * new_faces;
    uint64_t faces = 2 * (uint64_t)size * size + new_faces;
    *scene = (scene_breaking){.random = {seed}, .frames = frames};
    scene->positions = room(vertices, sizeof(*scene->positions));
    scene->rest = room(vertices, sizeof(*scene->rest));
    scene->velocity = room(vertices, sizeof(*scene->velocity));
    scene->born = room(vertices, sizeof(*scene->born));
    scene->corners = room(faces, sizeof(*scene->corners));
    scene->dead = room(faces, sizeof(*scene->dead));
    scene->dies = room(faces, sizeof(*scene->dies));
    if (scene->positions == NULL || scene->rest == NULL || scene->velocity == NULL ||
        scene->born == NULL || scene->corners == NULL || scene->dead == NULL ||
        scene->dies == NULL) {
        scene_breaking_end(scene);
        return false;
    }
    for (uint64_t i = 0; i < side * side; ++i) {
        scene->rest[i][0] = (double)(i % side) / size;
        scene->rest[i][1] = (double)(i / side) / size;
        memcpy(scene->positions[i], scene->rest[i], sizeof(scene->rest[i]));
    }
    for (uint32_t i = 0; i < size * size; ++i) {
        uint32_t v = i / size * (size + 1) + i % size;
        const uint32_t pair[2][3] = {{v, v + 1, v + size + 2}, {v, v + size + 2, v + size + 1}};
        memcpy(scene->corners[2 * (uint64_t)i], pair, sizeof(pair));
    }
    scene->vertex_count = scene->first_new_vertex = side * side;
    scene->sheet_faces = scene->first_old = 2 * (uint64_t)size * size;
    scene->face_count = scene->first_new_face = scene->sheet_faces;
    return true;
}

void scene_breaking_end(scene_breaking *scene) {
    free(scene->positions);
    free(scene->rest);
    free(scene->velocity);
    free(scene->born);
    free(scene->corners);
    free(scene->dead);
    free(scene->dies);
    *scene = (scene_breaking){0};
}

static void take_out(scene_breaking *scene, uint64_t face) {
    if (scene->dead[face]) return;
    scene->dead[face] = true;
    scene->removed[scene->removed_count++] = (uint32_t)face;
}

/* Adds a splinter near the face, half its size, with a velocity of its own. */
static void add_splinter(scene_breaking *scene, uint64_t face) {
    carom_random *random = &scene->random;
    uint64_t added = scene->face_count++;
    double velocity[3];
    for (int k = 0; k < 3; ++k) velocity[k] = 0.02 * carom_random_between(random, -1.0, 1.0);
    for (uint32_t c = 0; c < 3; ++c) {
        const double *from = scene->positions[scene->corners[face][c]];
        uint64_t vertex = scene->vertex_count++;
        scene->corners[added][c] = (uint32_t)vertex;
        scene->born[vertex] = scene->frame;
        for (int k = 0; k < 3; ++k) {
            scene->rest[vertex][k] = from[k] + 0.02 * carom_random_between(random, -1.0, 1.0);
            scene->velocity[vertex][k] =
                velocity[k] + 0.002 * carom_random_between(random, -1.0, 1.0);
        }
    }
    scene->dies[added] = scene->frame + LEAST_LIFE + carom_random_next(random) % LIFE_SPREAD;
}

static void move_all(scene_breaking *scene) {
    double time = 0.05 * (double)scene->frame;
    for (uint64_t i = 0; i < scene->vertex_count; ++i) {
        double age = (double)(scene->frame - scene->born[i]), *p = scene->positions[i];
        const double *rest = scene->rest[i], *velocity = scene->velocity[i];
        for (int k = 0; k < 3; ++k) p[k] = rest[k] + age * velocity[k];
        if (scene->born[i] != 0) continue;
        p[0] += 0.12 * carom_sin(7.0 * rest[1] + time) + 0.05 * carom_sin(31.0 * rest[0] - time);
        p[2] += 0.20 * carom_sin(5.0 * rest[0] - 0.7 * time) * carom_cos(6.0 * rest[1] + time);
    }
}

void scene_breaking_step(scene_breaking *scene) {
    if (scene->frame == scene->frames) return;
    ++scene->frame;
    scene->removed_count = 0;
    scene->first_new_vertex = scene->vertex_count;
    scene->first_new_face = scene->face_count;
    uint64_t most = 12u * SCENE_BREAKING_AT_ONCE;
    for (uint64_t f = scene->first_old; f < scene->face_count; ++f) {
        if (scene->removed_count >= most) break;
        if (scene->dies[f] != 0 && scene->dies[f] <= scene->frame) take_out(scene, f);
    }
    while (scene->first_old < scene->face_count && scene->dead[scene->first_old])
        ++scene->first_old;
    uint64_t breaks = carom_random_next(&scene->random) % (SCENE_BREAKING_AT_ONCE + 1);
    for (uint64_t i = 0; i < breaks && scene->frame % 3 != 0; ++i) {
        uint64_t face = carom_random_next(&scene->random) % scene->sheet_faces;
        if (carom_random_next(&scene->random) % HITS_TO_BREAK == 0) take_out(scene, face);
        for (uint32_t s = 0; s < SPLINTERS; ++s) add_splinter(scene, face);
    }
    move_all(scene);
}
