/* SPDX-License-Identifier: MIT */
/* Soups of few vertices at any doubles, which move to any others: what is near is what an exact
 * test of every vertex and face and every two edges finds; nothing meets on the way of a safe step,
 * nor where every vertex moves by its safe distance. */
#include <math.h>
#include <string.h>

#include "carom/carom.h"
#include "fuzz/fuzz.h"
#include "geom/within.h"

#define MOST_VERTICES  8u
#define MOST_TRIANGLES 4u

typedef struct world {
    carom_vec3 start[MOST_VERTICES], end[MOST_VERTICES], then[MOST_VERTICES];
    uint32_t corners[3 * MOST_TRIANGLES];
    carom_mesh_view from, to, at;
} world;

static carom_context *contexts[2]; /* of one and of three threads; kept for the life */
static carom_soup_near_pairs found[2];
static carom_soup_impacts impacts;

/* Any double in the range of distances, or a small integer. */
static double take_coordinate(const uint8_t **bytes, size_t *size, bool whole) {
    double wide = 0.0;
    int8_t narrow = 0;
    if (whole) {
        fuzz_take(bytes, size, &narrow, sizeof(narrow));
        return (double)(narrow % 5);
    }
    fuzz_take(bytes, size, &wide, sizeof(wide));
    return fabs(wide) <= 0x1p1000 ? wide : 1.0;
}

static void take_world(const uint8_t **bytes, size_t *size, world *w) {
    uint8_t head[2] = {0, 0};
    fuzz_take(bytes, size, head, sizeof(head));
    uint32_t vertices = 4 + head[0] % 5, triangles = 1 + head[1] % MOST_TRIANGLES;
    bool whole = (head[0] & 128) != 0;
    for (uint32_t i = 0; i < 3 * vertices; ++i) {
        (&w->start[0].x)[i] = take_coordinate(bytes, size, whole);
        (&w->end[0].x)[i] =
            (head[1] & 128) != 0 ? take_coordinate(bytes, size, whole) : (&w->start[0].x)[i];
    }
    for (uint32_t i = 0; i < 3 * triangles; ++i) {
        uint8_t corner = 0;
        fuzz_take(bytes, size, &corner, sizeof(corner));
        w->corners[i] = corner % vertices;
    }
    w->from = (carom_mesh_view){.positions = w->start,
                                .vertex_count = vertices,
                                .corners = w->corners,
                                .face_count = triangles};
    w->to = w->at = w->from;
    w->to.positions = w->end;
    w->at.positions = w->then;
}

static bool within(const world *w, const carom_soup_near_pair *p, double reach) {
    carom_triangle t[2];
    for (int side = 0; side < 2; ++side) {
        const uint32_t *of = side == 0 ? p->a : p->b;
        for (int i = 0; i < 3; ++i)
            t[side].corner[i] = w->start[of[of[i] != CAROM_NONE ? i : of[1] != CAROM_NONE ? 1 : 0]];
    }
    return carom_within_exact(&t[0], &t[1], reach);
}

/* Vertices with faces and edges that are within reach, each once. */
static uint64_t count_near(const world *w, double reach) {
    uint64_t count = 0;
    bool seen[MOST_VERTICES] = {false}, edges[MOST_VERTICES][MOST_VERTICES] = {{false}};
    uint32_t ends[3 * MOST_TRIANGLES][2], edge_count = 0;
    for (uint64_t i = 0; i < 3 * w->from.face_count; ++i) {
        uint32_t v = w->corners[i], u = w->corners[i % 3 == 2 ? i - 2 : i + 1];
        if (!edges[v][u]) {
            ends[edge_count][0] = v;
            ends[edge_count++][1] = u;
        }
        edges[v][u] = edges[u][v] = true;
        for (uint64_t t = 0; t < w->from.face_count && !seen[v]; ++t) {
            const uint32_t *c = w->corners + 3 * t;
            carom_soup_near_pair p = {.a = {v, CAROM_NONE, CAROM_NONE}, .b = {c[0], c[1], c[2]}};
            if (c[0] != v && c[1] != v && c[2] != v) count += within(w, &p, reach);
        }
        seen[v] = true;
    }
    for (uint32_t i = 0; i < edge_count; ++i)
        for (uint32_t k = i + 1; k < edge_count; ++k) {
            const uint32_t *e = ends[i], *f = ends[k];
            carom_soup_near_pair p = {.a = {e[0], e[1], CAROM_NONE}, .b = {f[0], f[1], CAROM_NONE}};
            if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1])
                count += within(w, &p, reach);
        }
    return count;
}

static void check_near(const world *w, const carom_soup *soup, double reach) {
    for (int i = 0; i < 2; ++i)
        FUZZ_CHECK(carom_soup_self_near(contexts[i], soup, reach, &found[i]) == CAROM_OK);
    FUZZ_CHECK(found[0].count == found[1].count);
    FUZZ_CHECK(found[0].count == 0 ||
               memcmp(found[0].data, found[1].data, found[0].count * sizeof(*found[0].data)) == 0);
    FUZZ_CHECK(found[0].count == count_near(w, reach));
    for (uint64_t i = 0; i < found[0].count; ++i) {
        const carom_soup_near_pair *p = &found[0].data[i];
        FUZZ_CHECK(within(w, p, reach) && within(w, p, p->distance.upper));
        FUZZ_CHECK(p->distance.lower == 0.0 || !within(w, p, nextafter(p->distance.lower, 0.0)));
        FUZZ_CHECK(p->distance.lower <= p->distance.value &&
                   p->distance.value <= p->distance.upper && p->distance.upper <= reach);
    }
}

static void check_free(const world *w, const carom_soup *soup) {
    FUZZ_CHECK(carom_soup_self_impacts(contexts[0], soup, &w->at, &impacts) == CAROM_OK);
    FUZZ_CHECK(impacts.count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static world w;
    if (contexts[0] == NULL)
        for (uint32_t i = 0; i < 2; ++i)
            FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 1 + 2 * i},
                                            &contexts[i]) == CAROM_OK);
    take_world(&bytes, &size, &w);
    double reach = fabs(take_coordinate(&bytes, &size, size < 8));
    carom_soup *soup;
    FUZZ_CHECK(carom_soup_create(contexts[0], &(carom_soup_def){.mesh = &w.from}, &soup) ==
               CAROM_OK);
    check_near(&w, soup, reach);
    carom_soup_step steps[2];
    double safe[MOST_VERTICES];
    for (int i = 0; i < 2; ++i)
        FUZZ_CHECK(carom_soup_self_safe_step(contexts[i], soup, &w.to, 0.0, &steps[i]) == CAROM_OK);
    FUZZ_CHECK(memcmp(&steps[0], &steps[1], sizeof(steps[0])) == 0);
    FUZZ_CHECK(steps[0].time >= 0.0 && steps[0].time <= 1.0);
    if (steps[0].time > 0.0) {
        for (uint64_t i = 0; i < 3 * w.from.vertex_count; ++i) {
            double x = (&w.start[0].x)[i], y = (&w.end[0].x)[i];
            (&w.then[0].x)[i] = x + steps[0].time * (y - x);
        }
        check_free(&w, soup);
    }
    FUZZ_CHECK(carom_soup_self_safe_distances(contexts[0], soup, reach, 0.0, safe) == CAROM_OK);
    bool moves = true;
    for (uint64_t v = 0; v < w.from.vertex_count; ++v) {
        w.then[v] = w.start[v];
        (&w.then[v].x)[v % 3] += v % 2 == 0 ? safe[v] : -safe[v];
        moves = moves && safe[v] > 0.0 && fabs((&w.then[v].x)[v % 3]) <= 0x1p1020;
    }
    if (moves) check_free(&w, soup);
    carom_soup_destroy(soup);
    return 0;
}
