/* SPDX-License-Identifier: MIT */
/* Histories of soups: create, add, update and remove in any order, by every method, on a small
 * lattice, where faces touch, overlap and degenerate all the time. After each step the structure is
 * valid, and what queries answer is what the oracle finds by trying every pair in integers. */
#include <math.h>

#include "fuzz/oracle.h"
#include "soup/soup_view.h"

#include "tests/support/integer_oracle.c"

#define MOST_BYTES    600
#define MOST_STEPS    12
#define MOST_VERTICES 96
#define MOST_FACES    48
#define MOST_CORNERS  (5 * MOST_FACES)

/* What the soup should be. */
typedef struct world {
    double xyz[MOST_VERTICES][3];
    float floats[MOST_VERTICES][3];
    uint32_t corners[MOST_CORNERS];
    uint64_t offsets[MOST_FACES + 1];
    uint32_t vertices, faces;
    bool dead[MOST_CORNERS]; /* by index of the soup: triangles when it is a fan */
    bool polygons, as_floats;
    double scale, shift; /* of the lattice */
} world;

static carom_context *contexts[2]; /* of one and of three threads; kept for the life */
static carom_pairs pairs;

static carom_mesh_view view_of(world *w, uint32_t vertex, uint32_t face) {
    for (uint32_t i = vertex; i < w->vertices; ++i)
        for (int k = 0; k < 3; ++k) w->floats[i][k] = (float)w->xyz[i][k];
    return (carom_mesh_view){.positions =
                                 w->as_floats ? (const void *)w->floats[vertex] : w->xyz[vertex],
                             .scalar = w->as_floats ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64,
                             .vertex_count = w->vertices - vertex,
                             .corners = w->corners + w->offsets[face],
                             .offsets = w->polygons ? w->offsets + face : NULL,
                             .face_count = w->faces - face};
}

static uint32_t indices(const world *w, bool fan) {
    return fan ? (uint32_t)(w->offsets[w->faces] - 2 * (uint64_t)w->faces) : w->faces;
}

static void move_vertex(fuzz_bytes *bytes, world *w, uint32_t vertex) {
    uint32_t packed = fuzz_below(bytes, 125);
    for (int k = 0; k < 3; ++k, packed /= 5)
        w->xyz[vertex][k] = (double)(packed % 5) * w->scale + w->shift;
}

/* Appends a piece to the world; its view has indices of its own. */
static carom_mesh_view grow(fuzz_bytes *bytes, world *w) {
    static world piece;
    uint32_t vertices = 3 + fuzz_below(bytes, 14), faces = fuzz_below(bytes, 12), first = w->faces;
    piece = (world){.polygons = w->polygons,
                    .as_floats = fuzz_below(bytes, 2) != 0,
                    .scale = w->scale,
                    .shift = w->shift};
    piece.vertices = CAROM_MIN(vertices, MOST_VERTICES - w->vertices);
    piece.faces = piece.vertices < 3 ? 0 : CAROM_MIN(faces, MOST_FACES - w->faces);
    for (uint32_t v = 0; v < piece.vertices; ++v) {
        move_vertex(bytes, &piece, v);
        memcpy(w->xyz[w->vertices + v], piece.xyz[v], sizeof(piece.xyz[v]));
    }
    for (uint32_t f = 0; f < piece.faces; ++f) {
        uint32_t count = piece.polygons ? 3 + fuzz_below(bytes, 3) : 3;
        piece.offsets[f + 1] = piece.offsets[f] + count;
        w->offsets[first + f + 1] = w->offsets[first + f] + count;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t corner = fuzz_below(bytes, piece.vertices);
            piece.corners[piece.offsets[f] + i] = corner;
            w->corners[w->offsets[first + f] + i] = w->vertices + corner;
        }
    }
    w->vertices += piece.vertices;
    w->faces += piece.faces;
    return view_of(&piece, 0, 0);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void check_list(const carom_pairs *found, const oracle_pairs *expected) {
    FUZZ_CHECK(found->count == expected->count);
    for (uint64_t i = 0; i < expected->count; ++i)
        FUZZ_CHECK(found->data[i].a == expected->data[i].a &&
                   found->data[i].b == expected->data[i].b);
}

typedef struct stream {
    const oracle_pairs *expected;
    uint64_t seen;
} stream;

static bool check_stream(void *user, const carom_pair *some, uint64_t count) {
    stream *s = user;
    FUZZ_CHECK(count <= s->expected->count - s->seen);
    for (uint64_t i = 0; i < count; ++i, ++s->seen)
        FUZZ_CHECK(some[i].a == s->expected->data[s->seen].a &&
                   some[i].b == s->expected->data[s->seen].b);
    return false;
}

static void check_self(carom_context *context, const carom_soup *soup, world *w,
                       const carom_soup_def *def) {
    oracle_pairs all[CAROM_SOUP_DEGENERATE_COUNT] = {{0}};
    carom_mesh_view view = view_of(w, 0, 0);
    uint64_t count;
    bool any;
    oracle_self(context, &view, def->fan, w->dead, all);
    const oracle_pairs *expected = &all[def->degenerate];
    FUZZ_CHECK(carom_soup_self_pairs(context, soup, &pairs) == CAROM_OK);
    check_list(&pairs, expected);
    FUZZ_CHECK(carom_soup_self_count(context, soup, &count) == CAROM_OK);
    FUZZ_CHECK(count == expected->count);
    FUZZ_CHECK(carom_soup_self_meet(context, soup, &any) == CAROM_OK);
    FUZZ_CHECK(any == (expected->count != 0));
    stream s = {expected, 0};
    FUZZ_CHECK(carom_soup_self_each(context, soup, check_stream, &s) == CAROM_OK);
    FUZZ_CHECK(s.seen == expected->count);
    oracle_free_all(all);
}

/* With a copy of all faces by another method, moved along the lattice, so that posed corners are
 * exact. */
static void check_cross(carom_context *context, const carom_soup *soup, world *w,
                        const carom_soup_def *def, fuzz_bytes *bytes) {
    static world moved;
    carom_soup_def other_def = *def;
    carom_soup *other;
    oracle_pairs expected = {0};
    carom_pose pose = {.q.w = 1.0};
    uint32_t packed = fuzz_below(bytes, 125), flags = fuzz_below(bytes, 6);
    double by[3];
    for (int k = 0; k < 3; ++k, packed /= 5) by[k] = ((double)(packed % 5) - 2.0) * w->scale;
    pose.t = (carom_vec3){by[0], by[1], by[2]};
    moved = *w;
    moved.as_floats = false;
    for (uint32_t v = 0; v < moved.vertices; ++v)
        for (int k = 0; k < 3; ++k) moved.xyz[v][k] += by[k];
    carom_mesh_view view = view_of(w, 0, 0), moved_view = view_of(&moved, 0, 0);
    other_def.mesh = &view;
    other_def.method = (carom_soup_method)(flags % CAROM_SOUP_METHOD_COUNT);
    other_def.rigid = flags >= 3;
    FUZZ_CHECK(carom_soup_create(context, &other_def, &other) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_soup_validate(other));
    oracle_cross(context, &view, &moved_view, def->fan, def->degenerate, &expected);
    uint64_t kept = 0, count;
    bool any;
    for (uint64_t i = 0; i < expected.count; ++i)
        if (!w->dead[expected.data[i].a]) expected.data[kept++] = expected.data[i];
    expected.count = kept;
    FUZZ_CHECK(carom_soup_cross_pairs(context, soup, NULL, other, &pose, &pairs) == CAROM_OK);
    check_list(&pairs, &expected);
    FUZZ_CHECK(carom_soup_cross_meet(context, soup, NULL, other, &pose, &any) == CAROM_OK);
    FUZZ_CHECK(any == (expected.count != 0));
    FUZZ_CHECK(carom_soup_cross_count(context, soup, NULL, other, &pose, &count) == CAROM_OK);
    FUZZ_CHECK(count == expected.count);
    stream s = {&expected, 0};
    FUZZ_CHECK(carom_soup_cross_each(context, soup, NULL, other, &pose, check_stream, &s) ==
               CAROM_OK);
    FUZZ_CHECK(s.seen == expected.count);
    if (def->method != CAROM_SOUP_METHOD_GRID && other_def.method != CAROM_SOUP_METHOD_GRID) {
        carom_soup_gap gap;
        FUZZ_CHECK(carom_soup_cross_distance(context, soup, NULL, other, &pose, 0.0, &gap) ==
                   CAROM_OK);
        FUZZ_CHECK((gap.distance == 0.0) == any);
    }
    oracle_free(&expected);
    carom_soup_destroy(other);
}

/* The nearest face of a point of the lattice, against all faces; triangles only. */
static void check_points(carom_context *context, const carom_soup *soup, world *w,
                         const carom_soup_def *def, fuzz_bytes *bytes) {
    carom_vec3 point;
    carom_hit hit;
    double least = HUGE_VAL;
    uint32_t packed = fuzz_below(bytes, 125);
    if (def->method == CAROM_SOUP_METHOD_GRID || w->polygons) return;
    point.x = (double)(packed % 5) * w->scale + w->shift;
    point.y = (double)(packed / 5 % 5) * w->scale + w->shift;
    point.z = (double)(packed / 25) * w->scale + w->shift;
    for (uint32_t f = 0; f < w->faces; ++f) {
        carom_triangle t;
        carom_triangle_intersection own;
        carom_closest closest;
        for (int i = 0; i < 3; ++i)
            memcpy(&t.corner[i], w->xyz[w->corners[3 * f + (uint32_t)i]], sizeof(t.corner[i]));
        FUZZ_CHECK(carom_triangles_relate(context, &t, &t, &own) == CAROM_OK);
        if (w->dead[f]) continue;
        if (own.dimension_a < 2 && def->degenerate == CAROM_SOUP_DEGENERATE_ALONE) continue;
        FUZZ_CHECK(carom_point_triangle_distance(context, &point, &t, &closest) == CAROM_OK);
        least = closest.distance < least ? closest.distance : least;
    }
    FUZZ_CHECK(carom_soup_closest_points(context, soup, &point, 1, &hit) == CAROM_OK);
    FUZZ_CHECK(hit.distance == least || fabs(hit.distance - least) <= 1e-13 * w->scale);
    FUZZ_CHECK(hit.face == CAROM_NONE || !w->dead[hit.face]);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void add(carom_context *context, carom_soup *soup, world *w, bool fan, fuzz_bytes *bytes) {
    uint32_t first, before = indices(w, fan);
    carom_mesh_view piece = grow(bytes, w);
    FUZZ_CHECK(carom_soup_add(context, soup, &piece, &first) == CAROM_OK);
    FUZZ_CHECK(first == before);
}

/* Polygons that are not fans are split by their positions, and keep the triangles they had. */
static void update(carom_context *context, carom_soup *soup, world *w, bool fan,
                   fuzz_bytes *bytes) {
    if (w->polygons && !fan) return;
    uint32_t count = fuzz_below(bytes, 8);
    for (uint32_t i = 0; i < count && w->vertices != 0; ++i) {
        uint32_t vertex = fuzz_below(bytes, w->vertices);
        move_vertex(bytes, w, vertex);
    }
    w->as_floats = fuzz_below(bytes, 2) != 0;
    carom_mesh_view view = view_of(w, 0, 0);
    FUZZ_CHECK(carom_soup_update(context, soup, &view) == CAROM_OK);
}

static void remove_some(carom_context *context, carom_soup *soup, world *w, bool fan,
                        fuzz_bytes *bytes) {
    uint32_t faces[8], count = fuzz_below(bytes, 8), all = indices(w, fan);
    for (uint32_t i = 0; i < count && all != 0; ++i) {
        faces[i] = fuzz_below(bytes, all);
        w->dead[faces[i]] = true;
    }
    FUZZ_CHECK(carom_soup_remove(context, soup, faces, all != 0 ? count : 0) == CAROM_OK);
}

static void begin(void) {
    carom_context_def one = {.threads = 1}, three = {.threads = 3};
    if (contexts[0] != NULL) return;
    FUZZ_CHECK(carom_context_create(&one, &contexts[0]) == CAROM_OK);
    FUZZ_CHECK(carom_context_create(&three, &contexts[1]) == CAROM_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    static world w;
    static const double scales[4] = {1.0, 0.25, 0x1p40, 0x1p-60};
    fuzz_bytes bytes = {input, size};
    if (size > MOST_BYTES) return 0;
    begin();
    uint32_t flags = fuzz_below(&bytes, 256), more = fuzz_below(&bytes, 256);
    carom_context *context = contexts[flags >> 7];
    memset(&w, 0, sizeof(w));
    w.polygons = (flags >> 6 & 1u) != 0;
    w.scale = scales[more & 3u];
    w.shift = (more >> 2 & 1u) != 0 ? 7.0 * w.scale : 0.0;
    carom_soup_def def = {.method = (carom_soup_method)(flags % CAROM_SOUP_METHOD_COUNT),
                          .degenerate = (carom_soup_degenerate)(flags >> 3 & 1u),
                          .fan = (flags >> 4 & 1u) != 0,
                          .rigid = (flags >> 5 & 1u) != 0,
                          .grid = {.hash = (carom_grid_hash)(more >> 3 & 3u),
                                   .buckets = (more >> 5 & 1u) != 0 ? 3 : 0},
                          .work_budget = (more >> 6 & 1u) != 0 ? 1 : 0};
    if ((more >> 7) != 0) def.grid.cell_scale = 0.5;
    def.mesh = (carom_mesh_view[]){grow(&bytes, &w)};
    carom_soup *soup;
    FUZZ_CHECK(carom_soup_create(context, &def, &soup) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_soup_validate(soup));
    for (int step = 0; step < MOST_STEPS && bytes.left != 0; ++step) {
        uint32_t which = fuzz_below(&bytes, 6);
        if (which == 0) add(context, soup, &w, def.fan, &bytes);
        if (which == 1) update(context, soup, &w, def.fan, &bytes);
        if (which == 2) remove_some(context, soup, &w, def.fan, &bytes);
        if (which == 3) check_self(context, soup, &w, &def);
        if (which == 4) check_cross(context, soup, &w, &def, &bytes);
        if (which == 5) check_points(context, soup, &w, &def, &bytes);
        FUZZ_CHECK_VALID(carom_soup_validate(soup));
    }
    check_self(context, soup, &w, &def);
    carom_soup_destroy(soup);
    return 0;
}
