/* SPDX-License-Identifier: MIT */
/* Solids of boxes and tetrahedra on a small lattice, in any number and orientation, so that faces
 * coincide, shells cross and winding numbers are anything; some are deformed. Each solid is valid,
 * and the overlap of two is what the oracle finds in exact arithmetic, as the sum over all pairs of
 * tetrahedra. */
#include <math.h>

#include "fuzz/oracle.h"
#include "solid/solid.h"

#include "tests/support/solid_oracle.c"

#define MOST_BYTES    300
#define MOST_PARTS    4
#define MOST_VERTICES (8 * MOST_PARTS)
#define MOST_FACES    (12 * MOST_PARTS)
#define MOST_STEPS    8

typedef struct body {
    double xyz[MOST_VERTICES][3];
    uint32_t corners[3 * MOST_FACES];
    uint32_t vertices, faces;
    carom_solid *solid; /* NULL: the mesh encloses nothing, or there is none */
    carom_solid_info info;
} body;

static carom_context *contexts[2]; /* of one and of three threads; kept for the life */

/* ---- Meshes ---------------------------------------------------------------------------------- */

static void put_vertex(fuzz_bytes *bytes, body *b) {
    uint32_t packed = fuzz_below(bytes, 125);
    double *p = b->xyz[b->vertices++];
    for (int k = 0; k < 3; ++k, packed /= 5) p[k] = (double)(packed % 5);
}

static void put_face(body *b, uint32_t i, uint32_t j, uint32_t k, bool turned) {
    uint32_t *corners = b->corners + 3 * (size_t)b->faces++;
    corners[0] = i;
    corners[1] = turned ? k : j;
    corners[2] = turned ? j : k;
}

static void put_tetrahedron(fuzz_bytes *bytes, body *b, bool turned) {
    uint32_t v = b->vertices;
    for (int i = 0; i < 4; ++i) put_vertex(bytes, b);
    put_face(b, v, v + 2, v + 1, turned);
    put_face(b, v, v + 1, v + 3, turned);
    put_face(b, v + 1, v + 2, v + 3, turned);
    put_face(b, v, v + 3, v + 2, turned);
}

/* Vertex k has the bits of k as its corner's x, y, z. An extent may be zero. */
static void put_box(fuzz_bytes *bytes, body *b, bool turned) {
    static const uint32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t first = b->vertices;
    put_vertex(bytes, b);
    put_vertex(bytes, b);
    double low[3], high[3];
    memcpy(low, b->xyz[first], sizeof(low));
    memcpy(high, b->xyz[first + 1], sizeof(high));
    for (uint32_t k = 0; k < 8; ++k)
        for (int axis = 0; axis < 3; ++axis)
            b->xyz[first + k][axis] = (k >> axis & 1u) != 0 ? high[axis] : low[axis];
    b->vertices = first + 8;
    for (int q = 0; q < 6; ++q) {
        put_face(b, first + quads[q][0], first + quads[q][1], first + quads[q][2], turned);
        put_face(b, first + quads[q][0], first + quads[q][2], first + quads[q][3], turned);
    }
}

static carom_mesh_view view_of(const body *b) {
    return (carom_mesh_view){.positions = b->xyz,
                             .vertex_count = b->vertices,
                             .corners = b->corners,
                             .face_count = b->faces};
}

/* The oracle takes meshes that are not inside out. */
static void turn_for_oracle(body *b) {
    for (uint32_t f = 0; f < b->faces && b->info.inside_out; ++f) {
        uint32_t *corners = b->corners + 3 * (size_t)f, kept = corners[1];
        corners[1] = corners[2];
        corners[2] = kept;
    }
}

/* All parts are closed, so a solid can always be made of them. */
static void make(carom_context *context, fuzz_bytes *bytes, body *b) {
    uint32_t parts = 1 + fuzz_below(bytes, MOST_PARTS);
    carom_solid_destroy(b->solid);
    memset(b, 0, sizeof(*b));
    for (uint32_t i = 0; i < parts; ++i) {
        uint32_t flags = fuzz_below(bytes, 4);
        if ((flags & 1u) != 0)
            put_tetrahedron(bytes, b, flags >> 1 != 0);
        else
            put_box(bytes, b, flags >> 1 != 0);
    }
    carom_mesh_view view = view_of(b);
    carom_solid_def def = {.mesh = &view};
    FUZZ_CHECK(carom_solid_create(context, &def, &b->solid) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_solid_validate(context, b->solid));
    FUZZ_CHECK(carom_solid_get_info(b->solid, &b->info) == CAROM_OK);
    double volume = (double)solid_oracle_volume(&view);
    FUZZ_CHECK(fabs(b->info.volume - fabs(volume)) <= 1e-12 * fabs(volume));
    FUZZ_CHECK(b->info.inside_out == (volume < 0.0));
    turn_for_oracle(b);
}

/* Moves some vertices of a solid: all that is known of it is known of a new one. */
static void deform(carom_context *context, fuzz_bytes *bytes, body *b) {
    carom_solid *fresh;
    carom_solid_info updated, made;
    memset(&updated, 0, sizeof(updated));
    memset(&made, 0, sizeof(made));
    if (b->info.inside_out) return; /* the corners were turned for the oracle */
    uint32_t times = 1 + fuzz_below(bytes, 3), count = b->vertices;
    for (uint32_t i = 0; i < times; ++i) {
        uint32_t v = fuzz_below(bytes, count), kept = b->vertices;
        double from[3], to[3];
        memcpy(from, b->xyz[v], sizeof(from));
        b->vertices = v;
        put_vertex(bytes, b);
        b->vertices = kept;
        memcpy(to, b->xyz[v], sizeof(to));
        for (uint32_t w = 0; w < count; ++w) /* vertices that were merged stay together */
            if (memcmp(b->xyz[w], from, sizeof(from)) == 0) memcpy(b->xyz[w], to, sizeof(to));
    }
    carom_mesh_view view = view_of(b);
    carom_solid_def def = {.mesh = &view};
    FUZZ_CHECK(carom_solid_update(context, b->solid, &view) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_solid_validate(context, b->solid));
    FUZZ_CHECK(carom_solid_create(context, &def, &fresh) == CAROM_OK);
    FUZZ_CHECK(carom_solid_get_info(b->solid, &updated) == CAROM_OK);
    FUZZ_CHECK(carom_solid_get_info(fresh, &made) == CAROM_OK);
    b->info = updated;
    updated.bytes = made.bytes = 0;
    FUZZ_CHECK(memcmp(&updated, &made, sizeof(made)) == 0);
    carom_solid_destroy(fresh);
    turn_for_oracle(b);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void check_near(double value, quad truth, double error) {
    FUZZ_CHECK(error >= 0.0);
    FUZZ_CHECK(fabs((double)((quad)value - truth)) <= error);
}

/* The sum of forces is `sign` times that on b. */
static void check_forces(const carom_solid_vertex_forces *forces, const solid_truth *truth,
                         int sign, double size) {
    quad sum[3] = {0, 0, 0};
    double error = 0.0;
    for (uint64_t i = 0; i < forces->count; ++i) {
        const carom_solid_vertex_force *f = &forces->data[i];
        FUZZ_CHECK(i == 0 || f->vertex > f[-1].vertex);
        sum[0] += f->force.x;
        sum[1] += f->force.y;
        sum[2] += f->force.z;
        error += f->error;
    }
    for (int k = 0; k < 3; ++k)
        check_near((double)(sign * sum[k]), truth->force[k], error * (1.0 + 0x1p-40) + size);
}

static void check_overlap(carom_context *context, const body *a, const body *b,
                          const carom_pose *pose, const solid_truth *truth) {
    carom_solid_result overlap, swapped;
    carom_solid *outside;
    carom_solid_patches patches = {0};
    double size = 1e-24 * (a->info.area + b->info.area); /* of the oracle's rounding */
    FUZZ_CHECK(carom_solid_overlap(context, a->solid, NULL, b->solid, pose, NULL, &overlap) ==
               CAROM_OK);
    check_near(overlap.volume, truth->volume, overlap.volume_error + size);
    FUZZ_CHECK(overlap.by_winding == (a->info.by_winding || b->info.by_winding));
    if (!overlap.by_winding) {
        bool none =
            overlap.relation == CAROM_RELATION_APART || overlap.relation == CAROM_RELATION_TOUCHING;
        FUZZ_CHECK(none == !(truth->volume > 1e-20));
        FUZZ_CHECK(overlap.one_sided == (truth->coincident > 0));
        check_near(overlap.area, truth->area, overlap.area_error + size);
        check_near(overlap.force.x, truth->force[0], overlap.force_error + size);
        check_near(overlap.force.y, truth->force[1], overlap.force_error + size);
        check_near(overlap.force.z, truth->force[2], overlap.force_error + size);
    }
    /* The other way round. */
    FUZZ_CHECK(carom_solid_overlap(context, b->solid, pose, a->solid, NULL, NULL, &swapped) ==
               CAROM_OK);
    FUZZ_CHECK(swapped.pairs == overlap.pairs && swapped.one_sided == overlap.one_sided);
    check_near(swapped.volume, truth->volume, swapped.volume_error + size);
    FUZZ_CHECK((overlap.relation == CAROM_RELATION_APART) ==
               (swapped.relation == CAROM_RELATION_APART));
    FUZZ_CHECK((overlap.relation == CAROM_RELATION_TOUCHING) ==
               (swapped.relation == CAROM_RELATION_TOUCHING));
    FUZZ_CHECK((overlap.relation == CAROM_RELATION_OVERLAPPING) ==
               (swapped.relation == CAROM_RELATION_OVERLAPPING));
    /* With what is outside b it is the rest of a. */
    carom_solid_def def = {.mesh = (carom_mesh_view[]){view_of(b)}, .complement = true};
    FUZZ_CHECK(carom_solid_create(context, &def, &outside) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_solid_validate(context, outside));
    FUZZ_CHECK(carom_solid_overlap(context, a->solid, NULL, outside, pose, NULL, &swapped) ==
               CAROM_OK);
    double whole = a->info.volume;
    check_near(swapped.volume, (quad)whole - truth->volume,
               swapped.volume_error + 1e-14 * whole + size);
    carom_solid_destroy(outside);
    /* Pieces add up. */
    double sum = 0.0, moved = 0.0;
    FUZZ_CHECK(carom_solid_overlap_patches(context, a->solid, NULL, b->solid, pose, &patches) ==
               CAROM_OK);
    for (uint64_t i = 0; i < patches.count; ++i) {
        sum += patches.data[i].volume;
        moved += fabs(patches.data[i].volume);
    }
    FUZZ_CHECK(fabs(sum - overlap.volume) <= 1e-9 * (moved + whole));
    carom_solid_patches_free(&patches);
    /* So do the forces on vertices. */
    carom_solid_vertex_forces on_a = {0}, on_b = {0};
    FUZZ_CHECK(carom_solid_overlap_gradient(context, a->solid, NULL, b->solid, pose, &on_a,
                                            &on_b) == CAROM_OK);
    check_forces(&on_a, truth, -1, size);
    check_forces(&on_b, truth, 1, size);
    carom_solid_vertex_forces_free(&on_a);
    carom_solid_vertex_forces_free(&on_b);
}

static void check_two(carom_context *context, const body *a, const body *b, fuzz_bytes *bytes) {
    static body moved;
    carom_pose pose = {.q.w = 1.0};
    solid_truth truth;
    uint32_t packed = fuzz_below(bytes, 125);
    double by[3];
    for (int k = 0; k < 3; ++k, packed /= 5) by[k] = 0.5 * ((double)(packed % 5) - 2.0);
    pose.t = (carom_vec3){by[0], by[1], by[2]};
    moved = *b;
    for (uint32_t v = 0; v < moved.vertices; ++v)
        for (int k = 0; k < 3; ++k) moved.xyz[v][k] += by[k];
    carom_mesh_view view_a = view_of(a), view_b = view_of(&moved);
    solid_oracle(&view_a, &view_b, &truth);
    check_overlap(context, a, b, &pose, &truth);
}

static void begin(void) {
    carom_context_def one = {.threads = 1}, three = {.threads = 3};
    if (contexts[0] != NULL) return;
    FUZZ_CHECK(carom_context_create(&one, &contexts[0]) == CAROM_OK);
    FUZZ_CHECK(carom_context_create(&three, &contexts[1]) == CAROM_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    static body bodies[2];
    fuzz_bytes bytes = {input, size};
    if (size > MOST_BYTES) return 0;
    begin();
    carom_context *context = contexts[fuzz_below(&bytes, 2)];
    for (int i = 0; i < 2; ++i) make(context, &bytes, &bodies[i]);
    for (int step = 0; step < MOST_STEPS && bytes.left != 0; ++step) {
        uint32_t which = fuzz_below(&bytes, 7);
        if (which < 2)
            make(context, &bytes, &bodies[which]);
        else if (which > 4)
            deform(context, &bytes, &bodies[which - 5]);
        else if (which == 2)
            check_two(context, &bodies[0], &bodies[0], &bytes);
        else
            check_two(context, &bodies[which - 3], &bodies[4 - which], &bytes);
    }
    check_two(context, &bodies[0], &bodies[1], &bytes);
    for (int i = 0; i < 2; ++i) {
        carom_solid_destroy(bodies[i].solid);
        bodies[i].solid = NULL;
    }
    return 0;
}
