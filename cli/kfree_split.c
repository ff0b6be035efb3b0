/* SPDX-License-Identifier: MIT */
/* Lower k by splitting long faces: the first item of future work in kDet (Weller, Debowski,
 * Zachmann 2017, section 7).
 *
 * A long face counts many others because a quarter of its length is large beside its width. Halves
 * have half the length. Triangles that count too many are bisected at their longest edge, and so
 * is every triangle that shares the edge; before that, those whose own longest edge is another one
 * are bisected there (Rivara 1984). So no vertex lies inside of an edge, closed meshes stay
 * closed, and angles do not get small. The surface stays the same but for the rounding of
 * midpoints.
 *
 * No triangle is split into parts that could be smaller than the smallest of the mesh, so that the
 * height of the grid does not grow.
 *
 * k need not fall with every round: the slivers around a pipe are all halved together, and count
 * each other until a quarter of their length is less than the pipe is wide. So rounds go on until
 * the limit of faces, and the best mesh is kept. Triangles around one vertex count each other
 * however short they are: k does not fall below the most such triangles of about one size. Where
 * the surface may move a little, kfree_remesh.c first gives it other edges, which can. */
#include "cli/kfree_split.h"

#include "cli/kfree_remesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A round splits triangles that count so much of the most that any counts. On 17 models, 0.9 led to
 * a lower k with fewer faces than 0.75 and 0.5: splitting the few worst is what lowers k. */
#define DENSE_SHARE 0.9

/* Flips may leave faces smaller than the smallest of the mesh where its diameters are within this
 * factor: six levels of the grid, as most meshes have (the mean of 100 models is 6.8). The fans of
 * cylinders and cones have one or two, and cannot be flipped without small faces at the rim. */
#define FEW_LEVELS 64.0

/* Most rounds of collapsing and flipping edges. A fan loses one spoke per round. */
#define REMESH_ROUNDS 200

typedef struct edges {
    uint32_t (*of)[3]; /* numbers of the edges of each triangle */
    uint8_t *longest;  /* of each triangle: 0, 1 or 2 */
    double *square;    /* of each triangle: of the length of its longest edge */
    bool *marked;      /* to be split */
    uint32_t *middle;  /* of each edge: the vertex there */
    edge *list;
    uint64_t count;
} edges;

static void edges_free(edges *e) {
    free(e->of);
    free(e->longest);
    free(e->square);
    free(e->marked);
    free(e->middle);
    free(e->list);
}

/* Of edges of one length the one with the lowest number is the longest, in all triangles. */
static void find_longest(const surface *s, edges *e, uint64_t face) {
    const uint32_t *c = s->corners[face], *of = e->of[face];
    uint8_t best = 0;
    double most = surface_square(s, c[1], c[2]);
    for (uint8_t i = 1; i < 3; ++i) {
        double length = surface_square(s, c[(i + 1) % 3], c[(i + 2) % 3]);
        if (length > most || (length == most && of[i] < of[best])) {
            most = length;
            best = i;
        }
    }
    e->longest[face] = best;
    e->square[face] = most;
}

static bool edges_make(const surface *s, edges *e) {
    uint64_t slots = 3 * s->face_count;
    *e = (edges){.of = malloc(s->face_count * sizeof(*e->of)),
                 .longest = malloc(s->face_count),
                 .square = malloc(s->face_count * sizeof(*e->square)),
                 .marked = calloc(slots, sizeof(*e->marked)),
                 .middle = malloc(slots * sizeof(*e->middle)),
                 .list = surface_edges(s)};
    if (e->of == NULL || e->longest == NULL || e->square == NULL || e->marked == NULL ||
        e->middle == NULL || e->list == NULL)
        return false;
    for (uint64_t i = 0; i < slots; ++i) {
        const edge *at = &e->list[i];
        if (i == 0 || at->low != at[-1].low || at->high != at[-1].high) e->count++;
        e->of[at->slot / 3][at->slot % 3] = (uint32_t)(e->count - 1);
    }
    for (uint64_t f = 0; f < s->face_count; ++f) find_longest(s, e, f);
    return true;
}

/* Marks the longest edges of dense triangles, then of all that have a marked one. Returns how
 * many edges are marked. */
static uint64_t mark(const surface *s, edges *e, const carom_numbers *counts, uint64_t least_count,
                     double least_square) {
    uint64_t marked = 0;
    bool more = true;
    for (uint64_t f = 0; f < s->face_count; ++f)
        if (counts->data[f] >= least_count && e->square[f] >= least_square)
            e->marked[e->of[f][e->longest[f]]] = true;
    while (more) { /* longer edges each time */
        more = false;
        for (uint64_t f = 0; f < s->face_count; ++f) {
            const uint32_t *of = e->of[f];
            bool *longest = &e->marked[of[e->longest[f]]];
            if (*longest || !(e->marked[of[0]] || e->marked[of[1]] || e->marked[of[2]])) continue;
            *longest = more = true;
        }
    }
    for (uint64_t i = 0; i < e->count; ++i) marked += e->marked[i];
    return marked;
}

static void add_face(surface *to, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *corner = to->corners[to->face_count++];
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

/* Bisects a triangle at its longest edge, and its halves at the others where they are marked. */
static void split_face(const surface *s, const edges *e, uint64_t face, surface *to) {
    const uint32_t *corner = s->corners[face], *of = e->of[face];
    uint32_t i = e->longest[face], j = (i + 1) % 3, l = (i + 2) % 3;
    uint32_t top = corner[i], a = corner[j], b = corner[l];
    if (!e->marked[of[i]]) {
        add_face(to, corner[0], corner[1], corner[2]);
        return;
    }
    uint32_t middle = e->middle[of[i]];
    if (e->marked[of[l]]) { /* of top and a */
        add_face(to, e->middle[of[l]], a, middle);
        add_face(to, e->middle[of[l]], middle, top);
    } else {
        add_face(to, top, a, middle);
    }
    if (e->marked[of[j]]) { /* of b and top */
        add_face(to, e->middle[of[j]], middle, b);
        add_face(to, e->middle[of[j]], top, middle);
    } else {
        add_face(to, top, middle, b);
    }
}

/* The mesh with all marked edges split. */
static bool split_marked(const surface *s, edges *e, uint64_t marked, surface *to) {
    to->positions = malloc((s->vertex_count + marked) * sizeof(*to->positions));
    to->corners = malloc(4 * s->face_count * sizeof(*to->corners));
    to->vertex_count = s->vertex_count;
    to->face_count = 0;
    if (to->positions == NULL || to->corners == NULL) return false;
    memcpy(to->positions, s->positions, s->vertex_count * sizeof(*to->positions));
    for (uint64_t i = 0; i < 3 * s->face_count; ++i) {
        const edge *at = &e->list[i];
        uint32_t number = e->of[at->slot / 3][at->slot % 3];
        if (!e->marked[number] || (i > 0 && e->of[at[-1].slot / 3][at[-1].slot % 3] == number))
            continue;
        double *p = to->positions[to->vertex_count];
        for (int k = 0; k < 3; ++k)
            p[k] = 0.5 * s->positions[at->low][k] + 0.5 * s->positions[at->high][k];
        e->middle[number] = (uint32_t)to->vertex_count++;
    }
    for (uint64_t f = 0; f < s->face_count; ++f) split_face(s, e, f, to);
    return true;
}

/* Also the pairs of faces that meet, unless NULL. */
static carom_status count(carom_context *context, const surface *s, carom_kfree *k_free,
                          carom_numbers *counts, uint64_t *pairs) {
    carom_soup *soup = NULL;
    const carom_soup_def def = {.mesh = (carom_mesh_view[]){surface_view(s)}};
    carom_status status = carom_soup_create(context, &def, &soup);
    if (status == CAROM_OK) status = carom_kfree_measure(context, soup, k_free, counts);
    if (status == CAROM_OK && pairs != NULL) status = carom_soup_self_count(context, soup, pairs);
    carom_soup_destroy(soup);
    return status;
}

/* Triangles that count so many others are to be changed. */
static uint64_t dense_count(const carom_kfree *k_free, const kfree_split_def *def) {
    uint64_t dense = (uint64_t)(DENSE_SHARE * (double)k_free->k);
    return dense > def->k ? dense : def->k;
}

/* One round: splits dense triangles. *done when there is nothing to split or too many faces would
 * come of it. */
static bool split_once(surface *s, const carom_numbers *counts, uint64_t least_count,
                       double least_square, uint64_t most, bool *done) {
    edges e;
    surface next = {NULL, NULL, 0, 0};
    bool good = edges_make(s, &e);
    uint64_t marked = good ? mark(s, &e, counts, least_count, least_square) : 0;
    *done = true;
    if (good && marked > 0) good = split_marked(s, &e, marked, &next);
    edges_free(&e);
    if (good && marked > 0 && next.face_count <= most) {
        surface_free(s);
        *s = next;
        *done = false;
    } else {
        surface_free(&next);
    }
    return good;
}

/* Whether one mesh is better for the grid than another. */
static bool is_better(const carom_kfree *a, const carom_kfree *b) {
    return a->k < b->k || (a->k == b->k && a->height < b->height);
}

/* Collapses and flips edges round by round; *s becomes the best surface on the way. */
static carom_status remesh(carom_context *context, const kfree_split_def *def, surface *s,
                           double *most_moved) {
    surface best = {NULL, NULL, 0, 0};
    carom_numbers counts = {0};
    carom_kfree k_free, best_k = {.k = UINT64_MAX};
    uint64_t pairs, pairs_before = UINT64_MAX, changed = 1;
    double *moved = calloc(s->face_count + 1, sizeof(*moved));
    carom_status status = moved != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (int round = 0; round <= REMESH_ROUNDS && changed > 0 && status == CAROM_OK; ++round) {
        status = count(context, s, &k_free, &counts, &pairs);
        if (status != CAROM_OK || pairs > pairs_before) break;
        pairs_before = pairs;
        if (is_better(&k_free, &best_k)) {
            const carom_mesh_view view = surface_view(s);
            surface_free(&best);
            best_k = k_free;
            if (!surface_copy(&view, &best)) status = CAROM_NO_MEMORY;
            for (uint64_t f = 0; f < s->face_count; ++f)
                if (moved[f] > *most_moved) *most_moved = moved[f];
        }
        const kfree_remesh_def round_def = {
            .tolerance = def->tolerance,
            .dense = dense_count(&k_free, def),
            .least = fmin(k_free.least_diameter, k_free.largest_diameter / FEW_LEVELS)};
        if (status == CAROM_OK && !kfree_remesh_round(s, moved, &counts, &round_def, &changed))
            status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK) {
        surface_free(s);
        *s = best;
    } else {
        surface_free(&best);
    }
    carom_numbers_free(&counts);
    free(moved);
    return status;
}

/* Splits round by round; *made becomes the mesh of lowest k where that is below *k. */
static carom_status split(carom_context *context, const kfree_split_def *def, uint64_t most,
                          surface *s, uint64_t *k, carom_mesh **made) {
    carom_numbers counts = {0};
    carom_kfree k_free;
    carom_status status = CAROM_OK;
    double least = -1.0; /* diameter of the mesh */
    for (bool done = false; !done && status == CAROM_OK;) {
        status = count(context, s, &k_free, &counts, NULL);
        if (status == CAROM_OK && k_free.k < *k) {
            const carom_mesh_view view = surface_view(s);
            carom_mesh_destroy(*made);
            *k = k_free.k;
            status = carom_mesh_create(context, &view, made);
        }
        if (least < 0.0) least = k_free.least_diameter;
        if (status == CAROM_OK &&
            !split_once(s, &counts, dense_count(&k_free, def), 4.0 * least * least, most, &done))
            status = CAROM_NO_MEMORY;
    }
    carom_numbers_free(&counts);
    return status;
}

carom_status kfree_split(carom_context *context, const carom_mesh_view *mesh,
                         const kfree_split_def *def, carom_mesh **made, double *moved) {
    surface s = {NULL, NULL, 0, 0};
    uint64_t most = (uint64_t)(def->growth * (double)mesh->face_count), k = UINT64_MAX;
    carom_status status = surface_copy(mesh, &s) ? CAROM_OK : CAROM_NO_MEMORY;
    *made = NULL;
    *moved = 0.0;
    if (status == CAROM_OK) status = split(context, def, most, &s, &k, made);
    surface_free(&s);
    if (status == CAROM_OK && def->remesh) { /* splitting alone is better for one mesh in twenty */
        uint64_t k_split = k;
        double remesh_moved = 0.0;
        if (!surface_copy(mesh, &s)) status = CAROM_NO_MEMORY;
        if (status == CAROM_OK) status = remesh(context, def, &s, &remesh_moved);
        if (status == CAROM_OK) status = split(context, def, most, &s, &k, made);
        if (k < k_split) *moved = remesh_moved;
        surface_free(&s);
    }
    if (status == CAROM_OK) return status;
    carom_mesh_destroy(*made);
    *made = NULL;
    return status;
}
