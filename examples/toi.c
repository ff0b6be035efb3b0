/* SPDX-License-Identifier: MIT */
/* Times of impact: a point and a triangle, a box thrown through a thin wall in one step, two rigid
 * meshes, and a cloth that is pulled through itself, or only as far as is safe. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

/* Exact: the point crosses the triangle's plane at half time, inside the triangle. */
static void point_and_triangle(void) {
    const carom_vec3 start[4] = {{0.2, 0.2, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const carom_vec3 end[4] = {{0.2, 0.2, -1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    carom_toi toi = carom_point_triangle_toi_value(start, end);
    printf("the point %s, between time %g and %g\n", toi.hit ? "hits" : "misses", toi.time.lower,
           toi.time.upper);
    /* a simulation that keeps them 0.1 apart may take this step, and no longer one */
    carom_advance_def apart = {.reach = 0.1};
    carom_advance advance = carom_point_triangle_advance_value(start, end, &apart);
    printf("it is 0.1 away at time %.4f\n", advance.time);
}

static carom_status box_and_wall(carom_context *context) {
    carom_convex wall = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.01, 5.0, 5.0}};
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.5, 0.5}};
    carom_motion thrown = {.from = {.t = {-10.0, 0.0, 0.0}},
                           .to = {.q = {0.0, 0.0, 0.0, 1.0}, .t = {10.0, 0.0, 0.0}}};
    carom_advance toi;
    carom_status status = carom_convex_advance(context, &wall, NULL, &box, &thrown, NULL, &toi);
    if (status == CAROM_OK)
        printf("the box %s the wall at time %.4f, after %llu steps\n", toi.hit ? "hits" : "misses",
               toi.time, (unsigned long long)toi.steps);
    return status;
}

static carom_status two_meshes(carom_context *context) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_soup *soup = NULL;
    carom_advance toi;
    carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS};
    carom_motion motion = {.from = {.t = {5.0, 0.0, 0.0}},
                           .to = {.q = {1.0, 1.0, 0.0, 0.0}, .t = {0.0, 0.0, 0.0}}};
    carom_status status = carom_shape_make(context, &torus, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK)
        status = carom_soup_create(context, &(carom_soup_def){.mesh = &view, .rigid = true}, &soup);
    if (status == CAROM_OK)
        status = carom_soup_cross_advance(context, soup, NULL, soup, &motion, NULL, &toi);
    if (status == CAROM_OK)
        printf("the tori %s at time %.4f, faces %u and %u\n", toi.hit ? "meet" : "miss", toi.time,
               toi.face_a, toi.face_b);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    return status;
}

/* A flat sheet is folded over: its right half goes to the left, through the left half. */
static carom_status cloth(carom_context *context) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_soup *soup = NULL;
    carom_soup_impacts impacts = {0};
    carom_soup_near_pairs near = {0};
    carom_soup_step step = {0};
    double *end = NULL;
    carom_shape_def grid = {.shape = CAROM_SHAPE_GRID, .detail = 20};
    carom_status status = carom_shape_make(context, &grid, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) {
        const double *p = view.positions;
        end = malloc(3 * view.vertex_count * sizeof(*end));
        if (end == NULL) status = CAROM_NO_MEMORY;
        for (uint64_t v = 0; v < view.vertex_count && status == CAROM_OK; ++v) {
            bool right = p[3 * v] > 0.0;
            end[3 * v] = right ? -p[3 * v] : p[3 * v];
            end[3 * v + 1] = p[3 * v + 1];
            end[3 * v + 2] = right ? -0.2 : 0.2 * (p[3 * v] < 0.0 ? -p[3 * v] : 0.0) - 0.1;
        }
    }
    if (status == CAROM_OK)
        status = carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup);
    if (status == CAROM_OK) {
        carom_mesh_view to = {.positions = end, .vertex_count = view.vertex_count};
        status = carom_soup_self_impacts(context, soup, &to, &impacts);
        /* a solver that keeps 0.01 between its layers moves all vertices by this share */
        if (status == CAROM_OK) status = carom_soup_self_safe_step(context, soup, &to, 0.01, &step);
    }
    /* and penalises what is within a radius */
    if (status == CAROM_OK) status = carom_soup_self_near(context, soup, 0.05, &near);
    if (status == CAROM_OK) {
        printf("the folded sheet has %s impacts\n", impacts.count == 0 ? "no" : "some");
        printf("it may move by %.4f of the way; %llu pairs are within 0.05 now\n", step.time,
               (unsigned long long)near.count);
    }
    carom_soup_near_pairs_free(&near);
    carom_soup_impacts_free(&impacts);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    free(end);
    return status;
}

int main(void) {
    carom_context *context;
    if (carom_context_create(NULL, &context) != CAROM_OK) return 1;
    point_and_triangle();
    carom_status status = box_and_wall(context);
    if (status == CAROM_OK) status = two_meshes(context);
    if (status == CAROM_OK) status = cloth(context);
    if (status != CAROM_OK) fprintf(stderr, "%s\n", carom_context_message(context));
    carom_context_destroy(context);
    return status == CAROM_OK ? 0 : 1;
}
