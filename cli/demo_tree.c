/* SPDX-License-Identifier: MIT */
/* The demo's section on sphere trees: a knot passes through a torus; volume, bounds and force along
 * its path, the exact volume beside them. */
#include <math.h>
#include <stdio.h>

#include "cli/demo.h"

#define STEPS 13

typedef struct pair {
    carom_mesh *mesh[2];
    carom_solid *solid[2];
    carom_tree *tree[2];
} pair;

static carom_status prepare(carom_context *context, pair *p) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        carom_shape_def shape = {.shape = i == 0 ? CAROM_SHAPE_TORUS : CAROM_SHAPE_KNOT,
                                 .detail = 96};
        carom_mesh_view view;
        carom_solid_def of_solid = {.mesh = &view};
        carom_packing_def of_packing = {.mesh = &view, .count = 4000, .fast = true};
        carom_packing *packing = NULL;
        status = carom_shape_make(context, &shape, &p->mesh[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(p->mesh[i], &view);
        if (status == CAROM_OK) status = carom_solid_create(context, &of_solid, &p->solid[i]);
        if (status == CAROM_OK) status = carom_packing_create(context, &of_packing, &packing);
        carom_tree_def of_tree = {.packing = packing};
        if (status == CAROM_OK) status = carom_tree_create(context, &of_tree, &p->tree[i]);
        carom_packing_destroy(packing);
    }
    return status;
}

static carom_status follow(demo *demo, const pair *p) {
    static const char *const heads[] = {"x",     "relation", "volume", "lower",
                                        "upper", "exact",    "force",  "time"};
    carom_context *context = demo->cli->context;
    double at[STEPS], lower[STEPS], volume[STEPS], upper[STEPS], exact[STEPS], slowest = 0.0;
    carom_status status = CAROM_OK;
    page_begin_table(&demo->page, heads, 8);
    for (int i = 0; i < STEPS && status == CAROM_OK; ++i) {
        char text[8][32];
        carom_pose pose = {{0.8, 0.5, 0.2, 0.1}, {2.6 - 0.2 * i, 0.1, 0.05}};
        carom_tree_query_def def = {.narrow_limits = true};
        carom_tree_result answer;
        carom_solid_result truth;
        double start = carom_time_seconds();
        status = carom_tree_query(context, p->tree[0], NULL, p->tree[1], &pose, &def, &answer);
        double seconds = carom_time_seconds() - start;
        if (status == CAROM_OK)
            status =
                carom_solid_overlap(context, p->solid[0], NULL, p->solid[1], &pose, NULL, &truth);
        if (status != CAROM_OK) break;
        const carom_packing_overlap *o = &answer.overlap;
        carom_vec3 f = o->force;
        at[i] = 1.0 + i;
        volume[i] = o->volume.value;
        lower[i] = o->volume.lower;
        upper[i] = o->volume.upper;
        exact[i] = truth.volume;
        slowest = fmax(slowest, seconds);
        snprintf(text[0], sizeof(text[0]), "%.1f", pose.t.x);
        snprintf(text[1], sizeof(text[0]), "%s", carom_relation_name(o->relation));
        snprintf(text[2], sizeof(text[0]), "%.5f", o->volume.value);
        snprintf(text[3], sizeof(text[0]), "%.5f", o->volume.lower);
        snprintf(text[4], sizeof(text[0]), "%.5f", o->volume.upper);
        snprintf(text[5], sizeof(text[0]), "%.5f", truth.volume);
        snprintf(text[6], sizeof(text[0]), "%.3f", sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
        snprintf(text[7], sizeof(text[0]), "%.0f us", 1e6 * seconds);
        const char *const cells[] = {text[0], text[1], text[2], text[3],
                                     text[4], text[5], text[6], text[7]};
        page_row(&demo->page, cells, 8);
    }
    page_end_table(&demo->page);
    if (status != CAROM_OK) return status;
    /* Axes are logarithmic: only where there is a volume. */
    int first = 0;
    while (first < STEPS - 1 && !(lower[first] > 0.0)) ++first;
    size_t count = (size_t)(STEPS - first);
    page_curve curves[] = {{"upper bound", at + first, upper + first, count},
                           {"exact", at + first, exact + first, count},
                           {"estimate", at + first, volume + first, count},
                           {"lower bound", at + first, lower + first, count}};
    page_chart(&demo->page, "A knot scrapes through a torus: the volume that they share.", "step",
               "volume", curves, 4);
    snprintf(demo->result, sizeof(demo->result),
             "overlap of 4,000 spheres each within %.1f %% of the exact one, in at most %.1f ms",
             100.0 * fabs(volume[STEPS - 1] / exact[STEPS - 1] - 1.0), 1e3 * slowest);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    pair p = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
    page_section(&demo->page, "Sphere trees",
                 "Two solids are filled with spheres, and a tree over the spheres answers how far "
                 "apart they are or how much they overlap, in a time that does not depend on the "
                 "meshes. The answer is an estimate with bounds that hold for the solids.");
    carom_status status = prepare(demo->cli->context, &p);
    if (status == CAROM_OK) status = follow(demo, &p);
    for (int i = 0; i < 2; ++i) {
        carom_tree_destroy(p.tree[i]);
        carom_solid_destroy(p.solid[i]);
        carom_mesh_destroy(p.mesh[i]);
    }
    return status;
}

const demo_part demo_tree = {69, "tree", "how much two solids overlap, from spheres", run};
