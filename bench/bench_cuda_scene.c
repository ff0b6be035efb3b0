/* SPDX-License-Identifier: MIT */
/* Steps of scenes on the GPU, in which all objects move: hulls, balls and solids at random, and a
 * pile.
 *
 * Poses of two steps lie in device memory, and turns are taken between them; contacts, and what
 * began and ended, are left there. The same is measured with poses and contacts of the host, and on
 * the CPU with all threads. Contacts of both are compared, byte for byte, before anything is timed.
 * Times are those of a clock on the host, from the call to the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "carom/cuda.h"
#include "scenes/boxes.h"
#include "scenes/pile.h"

#define POSE_SETS      2u /* poses of steps, between which turns are taken */
#define STEPS_PER_NOTE 6u /* as fit a line */

typedef enum objects { HULLS, BALLS, PILE, SOLIDS } objects;

/* A scene on both backends, and its poses. */
typedef struct player {
    carom_context *cpu, *cuda;
    carom_hull *hull;
    carom_solid *solids[2]; /* on the CPU, on the GPU */
    scene_pile pile;
    uint64_t count;
    carom_pose *poses[POSE_SETS];
    void *device_poses[POSE_SETS];
    carom_scene *on_cpu, *on_cuda;
    carom_scene_contacts contacts[2];
    carom_cuda_scene_contacts device_contacts;
    carom_cuda_pairs begun, ended;
    uint64_t turn;
} player;

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool step_host(player *p, carom_context *context, carom_scene *scene, int k) {
    return carom_scene_move(context, scene, NULL, p->poses[p->turn++ % POSE_SETS], p->count) ==
               CAROM_OK &&
           carom_scene_step(context, scene, &p->contacts[k], NULL, NULL) == CAROM_OK;
}

static bool run_cpu(void *input) {
    player *p = input;
    return step_host(p, p->cpu, p->on_cpu, 0);
}

static bool run_host(void *input) {
    player *p = input;
    return step_host(p, p->cuda, p->on_cuda, 1);
}

static bool run_device(void *input) {
    player *p = input;
    return carom_cuda_scene_move(p->cuda, p->on_cuda, p->device_poses[p->turn++ % POSE_SETS],
                                 p->count) == CAROM_OK &&
           carom_cuda_scene_step(p->cuda, p->on_cuda, &p->device_contacts, &p->begun, &p->ended) ==
               CAROM_OK &&
           carom_cuda_finish(p->cuda) == CAROM_OK;
}

/* ---- Input ----------------------------------------------------------------------------------- */

static bool make_ball(carom_context *context, double radius, carom_hull **hull) {
    carom_shape_def def = {.shape = CAROM_SHAPE_SPHERE, .detail = 2, .size = radius};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    bool made = carom_shape_make(context, &def, &mesh) == CAROM_OK &&
                carom_mesh_get_view(mesh, &view) == CAROM_OK &&
                carom_hull_create(context, &(carom_hull_def){.mesh = &view}, hull) == CAROM_OK;
    carom_mesh_destroy(mesh);
    return made;
}

/* A torus on both backends, in a ball of that radius. */
static bool make_torus(player *p, double radius) {
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 24, .size = radius};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    const carom_solid_def solid = {.mesh = &view};
    bool made = carom_shape_make(p->cpu, &def, &mesh) == CAROM_OK &&
                carom_mesh_get_view(mesh, &view) == CAROM_OK &&
                carom_solid_create(p->cpu, &solid, &p->solids[0]) == CAROM_OK &&
                carom_solid_create(p->cuda, &solid, &p->solids[1]) == CAROM_OK;
    carom_mesh_destroy(mesh);
    return made;
}

/* Bodies in the boxes of bench_broad.c, as in bench_scene.c. */
static bool make_random(player *p, objects what) {
    scene_boxes boxes;
    carom_scene_object_def *all = calloc(p->count, sizeof(*all));
    bool fine = scene_boxes_make(p->count, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &boxes) &&
                all != NULL && make_ball(p->cuda, 1.0 + 0x1p-14, &p->hull) &&
                (what != SOLIDS || make_torus(p, boxes.half[0]));
    for (uint32_t k = 0; k < POSE_SETS && fine; ++k) {
        for (uint64_t i = 0; i < p->count; ++i) p->poses[k][i].t = boxes.centres[i];
        scene_boxes_move(&boxes, 0, p->count);
    }
    for (uint64_t i = 0; i < p->count && fine; ++i) {
        all[i].convex = (carom_convex){.kind = CAROM_CONVEX_KIND_SPHERE, .radius = boxes.half[0]};
        if (what == HULLS)
            all[i].convex =
                (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = p->hull};
        if (what == SOLIDS) all[i].kind = CAROM_SCENE_OBJECT_KIND_SOLID;
        all[i].borrowed_solid = p->solids[0];
        all[i].pose = p->poses[0][i];
    }
    fine = fine && carom_scene_add(p->cpu, p->on_cpu, all, p->count, NULL) == CAROM_OK;
    for (uint64_t i = 0; i < p->count && fine; ++i) all[i].borrowed_solid = p->solids[1];
    fine = fine && carom_scene_add(p->cuda, p->on_cuda, all, p->count, NULL) == CAROM_OK;
    scene_boxes_free(&boxes);
    free(all);
    return fine;
}

static bool make_pile(player *p) {
    if (scene_pile_make(p->cuda, p->count, SCENE_PILE_SEED, &p->pile) != CAROM_OK ||
        scene_pile_add(p->cpu, &p->pile, p->on_cpu) != CAROM_OK ||
        scene_pile_add(p->cuda, &p->pile, p->on_cuda) != CAROM_OK)
        return false;
    for (uint32_t k = 0; k < POSE_SETS; ++k) {
        memcpy(p->poses[k], p->pile.poses, p->count * sizeof(*p->poses[k]));
        scene_pile_move(&p->pile);
    }
    return true;
}

static bool make_player(player *p, objects what) {
    const carom_scene_def def = {.skip_depth = what == SOLIDS};
    bool fine = carom_scene_create(p->cpu, &def, &p->on_cpu) == CAROM_OK &&
                carom_scene_create(p->cuda, &def, &p->on_cuda) == CAROM_OK;
    for (uint32_t k = 0; k < POSE_SETS; ++k) {
        p->poses[k] = calloc(p->count, sizeof(*p->poses[k]));
        fine = fine && p->poses[k] != NULL;
    }
    fine = fine && (what == PILE ? make_pile(p) : make_random(p, what));
    for (uint32_t k = 0; k < POSE_SETS && fine; ++k) {
        uint64_t bytes = p->count * sizeof(*p->poses[k]);
        fine = carom_cuda_allocate(p->cuda, bytes, &p->device_poses[k]) == CAROM_OK &&
               carom_cuda_write(p->cuda, p->device_poses[k], p->poses[k], bytes) == CAROM_OK;
    }
    return fine;
}

static void free_player(player *p) {
    for (uint32_t k = 0; k < POSE_SETS; ++k) {
        carom_cuda_release(p->cuda, p->device_poses[k]);
        free(p->poses[k]);
    }
    for (int k = 0; k < 2; ++k) carom_scene_contacts_free(&p->contacts[k]);
    carom_cuda_scene_contacts_free(p->cuda, &p->device_contacts);
    carom_cuda_pairs_free(p->cuda, &p->begun);
    carom_cuda_pairs_free(p->cuda, &p->ended);
    carom_scene_destroy(p->on_cpu);
    carom_scene_destroy(p->on_cuda);
    scene_pile_free(&p->pile);
    for (int k = 0; k < 2; ++k) carom_solid_destroy(p->solids[k]);
    carom_hull_destroy(p->hull);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Two steps of both, which must be the same. */
static bool are_the_same(player *p) {
    for (uint32_t k = 0; k < POSE_SETS; ++k) {
        p->turn = k;
        if (!run_cpu(p)) return false;
        p->turn = k;
        if (!run_host(p)) return false;
        const carom_scene_contacts *a = &p->contacts[0], *b = &p->contacts[1];
        if (a->count != b->count ||
            (a->count != 0 && memcmp(a->data, b->data, a->count * sizeof(*a->data)) != 0))
            return false;
    }
    return true;
}

static void note_steps(bench *bench, player *p, const char *job) {
    carom_cuda_steps steps;
    carom_scene_info info;
    double all = 0.0;
    (void)carom_cuda_set_timing(p->cuda, true);
    if (!run_device(p) || carom_cuda_get_steps(p->cuda, &steps) != CAROM_OK) steps.count = 0;
    (void)carom_cuda_set_timing(p->cuda, false);
    for (uint32_t i = 0; i < steps.count; i += STEPS_PER_NOTE) {
        char line[160] = "";
        int used = 0;
        for (uint32_t k = i; k < steps.count && k < i + STEPS_PER_NOTE && used >= 0 && used < 130;
             ++k) {
            all += 1e3 * steps.milliseconds[k];
            used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.0f",
                             k == i ? "" : ", ", steps.name[k], 1e3 * steps.milliseconds[k]);
        }
        bench_note(bench, "%s, us: %s", job, line);
    }
    bench_note(bench, "%s, us on the device in all: %.0f", job, all);
    if (carom_scene_get_info(p->on_cuda, &info) != CAROM_OK) return;
    double share =
        info.contacts != 0 ? (double)p->device_contacts.host_items / (double)info.contacts : 0.0;
    bench_note(bench, "%s: %llu pairs of boxes, %llu contacts, host_items %llu, host_share %g", job,
               (unsigned long long)info.pairs, (unsigned long long)info.contacts,
               (unsigned long long)p->device_contacts.host_items, share);
}

static void measure(bench *bench, carom_context *cuda, carom_context *cpu, const char *words,
                    objects what, uint64_t count) {
    player p = {.cpu = cpu, .cuda = cuda, .count = count};
    char job[64];
    snprintf(job, sizeof(job), "%lluk %s", (unsigned long long)count / 1000, words);
    if (!make_player(&p, what)) {
        bench_note(bench, "%s failed: %s", job, carom_context_message(cuda));
    } else if (!are_the_same(&p)) {
        bench_note(bench, "%s: THE CONTACTS DIFFER, or a step failed: %s", job,
                   carom_context_message(cuda));
    } else {
        const bench_contender contenders[] = {{"in device memory", NULL, run_device, &p},
                                              {"from host to host", NULL, run_host, &p},
                                              {"cpu, all threads", NULL, run_cpu, &p}};
        bench_compare(bench, job, (double)count, contenders, 3);
        note_steps(bench, &p, job);
    }
    free_player(&p);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    carom_context *cuda, *cpu;
    def.backend = CAROM_BACKEND_CUDA;
    if (carom_context_create(&def, &cuda) != CAROM_OK) {
        bench_note(bench, "%s", carom_context_message(NULL));
        return;
    }
    def.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&def, &cpu) == CAROM_OK) {
        measure(bench, cuda, cpu, "hulls of 42 vertices", HULLS, bench->quick ? 2000 : 100000);
        measure(bench, cuda, cpu, "balls", BALLS, bench->quick ? 4000 : 1000000);
        measure(bench, cuda, cpu, "hulls in a pile", PILE, bench->quick ? 1000 : 90000);
        measure(bench, cuda, cpu, "solid tori", SOLIDS, bench->quick ? 1000 : 30000);
        carom_context_destroy(cpu);
    }
    carom_context_destroy(cuda);
}

const bench_group bench_cuda_scene = {68, "cuda_scene", "steps of scenes on the GPU", run};
