/* SPDX-License-Identifier: MIT */
/* Spheres for a wanted error: the count is doubled until the estimate of a tree is close enough to
 * the exact overlap. Each pose is found by moving a randomly turned copy along a random direction
 * until it overlaps by a random share of the volume. */
#include "cli/pack_error.h"

#include <math.h>

#define FIRST_COUNT 500u
#define MOST_COUNT  1000000u
#define LEAST_SHARE 0.01 /* of the volume that overlaps */
#define MOST_SHARE  0.10
#define BISECTIONS  60
#define TRIES       4 /* per pose: some directions have no such overlap */

typedef struct trial {
    carom_pose pose;
    double volume;
} trial;

/* One statement per number here and below, as C leaves the order of initialisers to the compiler.
 */
static carom_vec3 random_direction(carom_random *random) {
    carom_vec3 d;
    d.x = carom_random_normal(random);
    d.y = carom_random_normal(random);
    d.z = carom_random_normal(random);
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    if (!(length > 0.0)) return (carom_vec3){1.0, 0.0, 0.0};
    return (carom_vec3){d.x / length, d.y / length, d.z / length};
}

/* Finds one pose; *found is false where the direction has none. */
static carom_status find_pose(carom_context *context, const carom_solid *solid,
                              const carom_solid_info *info, double size, carom_random *random,
                              trial *t, bool *found) {
    carom_vec3 way = random_direction(random);
    double wanted = info->volume * carom_random_between(random, LEAST_SHARE, MOST_SHARE);
    double low = 0.0, high = 2.0 * size;
    t->pose.q.w = carom_random_normal(random);
    t->pose.q.x = carom_random_normal(random);
    t->pose.q.y = carom_random_normal(random);
    t->pose.q.z = carom_random_normal(random);
    *found = false;
    for (int i = 0; i < BISECTIONS && !*found; ++i) {
        double at = 0.5 * (low + high);
        carom_solid_result overlap;
        t->pose.t = (carom_vec3){way.x * at, way.y * at, way.z * at};
        carom_status status =
            carom_solid_overlap(context, solid, NULL, solid, &t->pose, NULL, &overlap);
        if (status != CAROM_OK) return status;
        t->volume = overlap.volume;
        *found = fabs(overlap.volume - wanted) <= 0.1 * wanted &&
                 overlap.volume >= LEAST_SHARE * info->volume;
        if (overlap.volume > wanted)
            low = at;
        else
            high = at;
    }
    return CAROM_OK;
}

static carom_status find_poses(carom_context *context, const carom_packing_def *def, uint64_t seed,
                               trial *trials, int *count) {
    carom_solid *solid = NULL;
    carom_solid_info info;
    carom_mesh_report report;
    carom_solid_def of_solid = {.mesh = def->mesh};
    carom_random random = {seed};
    *count = 0;
    carom_status status = carom_solid_create(context, &of_solid, &solid);
    if (status == CAROM_OK) status = carom_solid_get_info(solid, &info);
    if (status == CAROM_OK) status = carom_mesh_inspect(context, def->mesh, &report);
    for (int i = 0; i < TRIES * PACK_ERROR_POSES && *count < PACK_ERROR_POSES; ++i) {
        bool found = false;
        if (status != CAROM_OK) break;
        const carom_bounds *b = &report.bounds;
        double x = b->high.x - b->low.x, y = b->high.y - b->low.y, z = b->high.z - b->low.z;
        status = find_pose(context, solid, &info, sqrt(x * x + y * y + z * z), &random,
                           &trials[*count], &found);
        if (found) ++*count;
    }
    carom_solid_destroy(solid);
    return status;
}

static carom_status measure(carom_context *context, const carom_packing *packing,
                            const trial *trials, int count, double *error) {
    carom_tree *tree = NULL;
    carom_tree_def def = {.packing = packing};
    carom_tree_query_def query = {.skip_limits = true};
    carom_status status = carom_tree_create(context, &def, &tree);
    *error = 0.0;
    for (int i = 0; i < count && status == CAROM_OK; ++i) {
        carom_packing_overlap overlap;
        status = carom_tree_overlap(context, tree, NULL, tree, &trials[i].pose, &query, &overlap);
        if (status == CAROM_OK)
            *error += fabs(overlap.volume.value - trials[i].volume) / trials[i].volume / count;
    }
    carom_tree_destroy(tree);
    return status;
}

/* Whether more spheres are of no use, or cannot be had. */
static bool ends(const carom_packing_info *info, const carom_packing_def *def, int poses,
                 bool reached, pack_stop *stop) {
    bool fewer = info->spheres < def->count; /* than there may be: more will not help */
    *stop = poses == 0                    ? PACK_STOP_POSES
            : reached                     ? PACK_STOP_ERROR
            : !info->complete             ? PACK_STOP_SPACE
            : fewer && def->radius == 0.0 ? PACK_STOP_FILL
            : fewer                       ? PACK_STOP_RADIUS
                                          : PACK_STOP_LIMIT;
    return *stop != PACK_STOP_LIMIT || def->count >= MOST_COUNT;
}

carom_status pack_to_error(carom_context *context, const carom_packing_def *def, double wanted,
                           uint64_t seed, carom_packing **packing, double *reached,
                           pack_stop *stop) {
    trial trials[PACK_ERROR_POSES];
    int count;
    carom_packing_def one = *def;
    if (one.count == 0) one.count = FIRST_COUNT;
    *packing = NULL;
    *reached = INFINITY;
    carom_status status = find_poses(context, def, seed, trials, &count);
    while (status == CAROM_OK) {
        carom_packing_info info;
        carom_packing_destroy(*packing);
        status = carom_packing_create(context, &one, packing);
        if (status == CAROM_OK) status = carom_packing_get_info(*packing, &info);
        if (status == CAROM_OK && count != 0)
            status = measure(context, *packing, trials, count, reached);
        if (status != CAROM_OK || ends(&info, &one, count, *reached <= wanted, stop)) break;
        one.count = one.count > MOST_COUNT / 2 ? MOST_COUNT : 2 * one.count;
    }
    if (status != CAROM_OK) {
        carom_packing_destroy(*packing);
        *packing = NULL;
    }
    return status;
}
