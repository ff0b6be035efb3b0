/* SPDX-License-Identifier: MIT */
/* Lower k and height by collapsing and flipping edges: what splitting cannot do (kfree_split.c).
 *
 * The slivers of a fan all count each other around the vertex that they share. Flipping every
 * second spoke leaves half of them there; collapsing the short edge between two removes a pair.
 * Collapsing the edges of the smallest faces makes the least diameter larger, so that the grid has
 * fewer levels.
 *
 * Both move the surface, by a distance that is known. A collapse of v into u maps every face at v
 * linearly to the one with u in its place: no point moves by more than |u - v|. A flip replaces
 * the diagonal ab of a quadrilateral by cd. Seen along the common perpendicular of ab and cd,
 * where the quadrilateral is convex, both pairs of triangles are the same region; along it their
 * difference is largest where the diagonals cross: the distance of the lines. Each face has the
 * sum of such distances on the way to it, the largest of the faces that it was made of; so the map
 * from the first surface to the last moves no point by more than the largest sum, and it is onto:
 * this bounds the Hausdorff distance. Rounding is not counted.
 *
 * A collapse keeps the kind of surface (link condition: Dey, Edelsbrunner, Guha, Nekhayev 1999). A
 * flip needs two faces in opposite directions at the edge, and no edge cd yet. A flip lowers the
 * sum of the two diameters, a collapse the number of faces: rounds come to an end.
 *
 * In one round a vertex takes part in one change, so that all conditions can be checked in the
 * surface as it was when the round began. */
#include "cli/kfree_remesh.h"

#include "cli/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cosine of the largest angle by which the normal of a face may turn: 60 degrees. More than a right
 * angle would fold the surface; near one the next change would. */
#define LEAST_TURN_COSINE 0.5

/* Faces smaller than this multiple of the smallest are collapsed: the grid has a level for each
 * power of two, and the lowest one is empty when they are gone. */
#define SMALL_FACES 2.0

/* A flip must gain this share of the sum of diameters, so that rounding does not flip back and
 * forth. */
#define LEAST_GAIN 1e-9

#define NO_VERTEX UINT32_MAX

typedef struct candidate {
    double square; /* of the edge's length */
    uint64_t at;   /* in the list of edges: this one and the next */
    bool collapse; /* it is the shortest of a face that is dense or small */
    bool flip;     /* it is of a dense face */
} candidate;

typedef struct remesh {
    const surface *s;
    const kfree_remesh_def *def;
    double *moved;
    double scale;    /* a power of two: the largest coordinate times it is about 1 */
    double least;    /* of `def`, scaled */
    uint64_t *start; /* of each vertex, and one more: in `faces` */
    uint32_t *faces; /* around each vertex */
    uint32_t *seen;  /* of each vertex: how many faces of a star have it; 0 between two uses */
    bool *locked;    /* of each vertex: it took part in a change */
    bool *removed;   /* of each face */
    edge *edges;
    candidate *candidates;
    uint64_t candidate_count;
} remesh;

/* Scaled, so that products of normals neither overflow nor vanish. */
static carom_vec3 point_of(const remesh *r, uint32_t v) {
    const double *p = r->s->positions[v];
    return (carom_vec3){r->scale * p[0], r->scale * p[1], r->scale * p[2]};
}

static void choose_scale(remesh *r) {
    double most = 0.0;
    int exponent = 0;
    for (uint64_t i = 0; i < 3 * r->s->vertex_count; ++i)
        most = fmax(most, fabs(r->s->positions[i / 3][i % 3]));
    frexp(most, &exponent);
    r->scale = ldexp(1.0, exponent > -1000 ? -exponent : 1000); /* 2^1074 is no double */
    r->least = r->scale * r->def->least;
}

static carom_vec3 normal_of(const remesh *r, uint32_t a, uint32_t b, uint32_t c) {
    carom_vec3 p = point_of(r, a);
    return vector_cross(vector_minus(point_of(r, b), p), vector_minus(point_of(r, c), p));
}

static double length_of(carom_vec3 v) {
    return sqrt(vector_dot(v, v));
}

static double square_of(const remesh *r, uint32_t a, uint32_t b) {
    carom_vec3 d = vector_minus(point_of(r, b), point_of(r, a));
    return vector_dot(d, d);
}

/* Of the smallest ball around a triangle. */
static double diameter_of(const remesh *r, uint32_t a, uint32_t b, uint32_t c) {
    double x = square_of(r, a, b), y = square_of(r, b, c), z = square_of(r, c, a);
    double most = fmax(x, fmax(y, z));
    if (x + y + z <= 2.0 * most) return sqrt(most); /* right or obtuse */
    return sqrt(x) * sqrt(y) * sqrt(z) / length_of(normal_of(r, a, b, c));
}

static bool turns_little(carom_vec3 from, carom_vec3 to) {
    return vector_dot(from, to) > LEAST_TURN_COSINE * length_of(from) * length_of(to);
}

/* ---- one round's tables ---------------------------------------------------------------------- */

static bool make_stars(remesh *r) {
    const surface *s = r->s;
    r->start = calloc(s->vertex_count + 2, sizeof(*r->start));
    r->faces = malloc((3 * s->face_count + 1) * sizeof(*r->faces));
    if (r->start == NULL || r->faces == NULL) return false;
    for (uint64_t i = 0; i < 3 * s->face_count; ++i) r->start[s->corners[i / 3][i % 3] + 2]++;
    for (uint64_t v = 0; v < s->vertex_count; ++v) r->start[v + 2] += r->start[v + 1];
    for (uint64_t i = 0; i < 3 * s->face_count; ++i)
        r->faces[r->start[s->corners[i / 3][i % 3] + 1]++] = (uint32_t)(i / 3);
    return true;
}

/* The next edge when it is the same one and no other is: exactly two faces, in opposite
 * directions. */
static bool has_two_faces(const remesh *r, uint64_t at) {
    const edge *e = &r->edges[at];
    uint64_t slots = 3 * r->s->face_count;
    bool same_before = at > 0 && e[-1].low == e->low && e[-1].high == e->high;
    bool same_after = at + 1 < slots && e[1].low == e->low && e[1].high == e->high;
    if (same_before || !same_after || e->low == e->high) return false;
    if (at + 2 < slots && e[2].low == e->low && e[2].high == e->high) return false;
    uint32_t from = r->s->corners[e->slot / 3][(e->slot + 1) % 3];
    uint32_t other = r->s->corners[e[1].slot / 3][(e[1].slot + 1) % 3];
    return e->slot / 3 != e[1].slot / 3 && from != other;
}

static void look_at_face(const remesh *r, const carom_numbers *counts, uint64_t slot,
                         candidate *c) {
    const uint32_t *corner = r->s->corners[slot / 3];
    double least = c->square, most = c->square;
    for (uint32_t i = 0; i < 3; ++i) {
        double square = square_of(r, corner[i], corner[(i + 1) % 3]);
        least = fmin(least, square);
        most = fmax(most, square);
    }
    bool dense = counts->data[slot / 3] >= r->def->dense;
    double small = SMALL_FACES * r->least;
    if (dense) c->flip = true;
    if (c->square <= least && (dense || most < small * small)) c->collapse = true;
}

/* Short edges first. */
static int compare_candidates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool find_candidates(remesh *r, const carom_numbers *counts) {
    uint64_t slots = 3 * r->s->face_count;
    r->edges = surface_edges(r->s);
    r->candidates = malloc((slots / 2 + 1) * sizeof(*r->candidates));
    if (r->edges == NULL || r->candidates == NULL) return false;
    for (uint64_t at = 0; at + 1 < slots; ++at) {
        if (!has_two_faces(r, at)) continue;
        const edge *e = &r->edges[at];
        candidate c = {.square = square_of(r, e->low, e->high), .at = at};
        for (int i = 0; i < 2; ++i) look_at_face(r, counts, e[i].slot, &c);
        if (c.collapse || c.flip) r->candidates[r->candidate_count++] = c;
    }
    qsort(r->candidates, r->candidate_count, sizeof(*r->candidates), compare_candidates);
    return true;
}

/* ---- collapse -------------------------------------------------------------------------------- */

/* Adds to `seen` of every vertex of the faces around v, but of v itself. */
static void see_star(remesh *r, uint32_t v, uint32_t amount) {
    for (uint64_t i = r->start[v]; i < r->start[v + 1]; ++i)
        for (int k = 0; k < 3; ++k) {
            uint32_t other = r->s->corners[r->faces[i]][k];
            if (other != v) r->seen[other] += amount;
        }
}

/* Every vertex around v is free and in two of the faces around v: v is not at a boundary. */
static bool is_inside(remesh *r, uint32_t v) {
    bool good = !r->locked[v];
    see_star(r, v, 1);
    for (uint64_t i = r->start[v]; i < r->start[v + 1] && good; ++i) {
        const uint32_t *corner = r->s->corners[r->faces[i]];
        for (int k = 0; k < 3; ++k)
            if (corner[k] != v && (r->seen[corner[k]] != 2 || r->locked[corner[k]])) good = false;
    }
    see_star(r, v, UINT32_MAX); /* minus 1 */
    return good;
}

static bool has_face(const remesh *r, uint32_t v, uint32_t x, uint32_t y) {
    for (uint64_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        const uint32_t *corner = r->s->corners[r->faces[i]];
        bool with_x = corner[0] == x || corner[1] == x || corner[2] == x;
        if (with_x && (corner[0] == y || corner[1] == y || corner[2] == y)) return true;
    }
    return false;
}

/* The vertices next to both u and v are the two opposite to their edge, and no others; nor does a
 * face join these two with u and another one with v, which would fall on each other. */
static bool links_meet_in_two(remesh *r, uint32_t u, uint32_t v) {
    uint32_t first = NO_VERTEX, second = NO_VERTEX;
    bool good = true;
    see_star(r, u, 1);
    for (uint64_t i = r->start[v]; i < r->start[v + 1]; ++i)
        for (int k = 0; k < 3; ++k) {
            uint32_t x = r->s->corners[r->faces[i]][k];
            if (x == u || x == v || r->seen[x] == 0 || x == first || x == second) continue;
            if (first == NO_VERTEX)
                first = x;
            else if (second == NO_VERTEX)
                second = x;
            else
                good = false;
        }
    see_star(r, u, UINT32_MAX); /* minus 1 */
    return good && second != NO_VERTEX &&
           !(has_face(r, u, first, second) && has_face(r, v, first, second));
}

/* A face around v with u in the place of v. False for the two that vanish. */
static bool moved_face(const surface *s, uint32_t face, uint32_t u, uint32_t v, uint32_t *to) {
    bool stays = true;
    for (int k = 0; k < 3; ++k) {
        if (s->corners[face][k] == u) stays = false;
        to[k] = s->corners[face][k] == v ? u : s->corners[face][k];
    }
    return stays;
}

static bool may_collapse(remesh *r, uint32_t u, uint32_t v, double *moved) {
    const surface *s = r->s;
    if (!is_inside(r, v) || !links_meet_in_two(r, u, v)) return false;
    *moved = 0.0;
    for (uint64_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        uint32_t face = r->faces[i], to[3];
        const uint32_t *from = s->corners[face];
        *moved = fmax(*moved, r->moved[face]);
        if (!moved_face(s, face, u, v, to)) continue;
        carom_vec3 before = normal_of(r, from[0], from[1], from[2]);
        if (!turns_little(before, normal_of(r, to[0], to[1], to[2]))) return false;
        if (!(diameter_of(r, to[0], to[1], to[2]) >= r->least)) return false;
    }
    *moved += sqrt(square_of(r, u, v)) / r->scale;
    return *moved <= r->def->tolerance;
}

static bool collapse(remesh *r, uint32_t u, uint32_t v) {
    double moved;
    if (!may_collapse(r, u, v, &moved)) return false;
    for (uint64_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        uint32_t face = r->faces[i], to[3];
        for (int k = 0; k < 3; ++k) r->locked[r->s->corners[face][k]] = true;
        r->removed[face] = !moved_face(r->s, face, u, v, to);
        memcpy(r->s->corners[face], to, sizeof(to));
        r->moved[face] = moved;
    }
    return true;
}

/* ---- flip ------------------------------------------------------------------------------------ */

static bool are_joined(const remesh *r, uint32_t a, uint32_t b) {
    for (uint64_t i = r->start[a]; i < r->start[a + 1]; ++i)
        for (int k = 0; k < 3; ++k)
            if (r->s->corners[r->faces[i]][k] == b) return true;
    return false;
}

/* Faces abc and bad become adc and dbc. */
static bool flip(remesh *r, const edge *e) {
    const surface *s = r->s;
    uint32_t face[2] = {(uint32_t)(e[0].slot / 3), (uint32_t)(e[1].slot / 3)};
    uint32_t a = s->corners[face[0]][(e[0].slot + 1) % 3];
    uint32_t b = s->corners[face[0]][(e[0].slot + 2) % 3];
    uint32_t c = s->corners[face[0]][e[0].slot % 3], d = s->corners[face[1]][e[1].slot % 3];
    if (r->locked[a] || r->locked[b] || r->locked[c] || r->locked[d]) return false;
    if (c == d || are_joined(r, c, d)) return false;
    double first = diameter_of(r, a, d, c), second = diameter_of(r, d, b, c);
    double before = diameter_of(r, a, b, c) + diameter_of(r, b, a, d);
    if (!(first >= r->least && second >= r->least)) return false;
    if (!(first + second < before * (1.0 - LEAST_GAIN))) return false;
    carom_vec3 ab = vector_minus(point_of(r, b), point_of(r, a));
    carom_vec3 dc = vector_minus(point_of(r, c), point_of(r, d));
    carom_vec3 axis = vector_cross(ab, dc), across = vector_minus(point_of(r, c), point_of(r, a));
    if (!(vector_dot(normal_of(r, a, b, c), axis) > 0.0) ||
        !(vector_dot(normal_of(r, b, a, d), axis) > 0.0) ||
        !turns_little(axis, normal_of(r, a, d, c)) || !turns_little(axis, normal_of(r, d, b, c)))
        return false;
    double moved = fmax(r->moved[face[0]], r->moved[face[1]]) +
                   fabs(vector_dot(across, axis)) / length_of(axis) / r->scale;
    if (!(moved <= r->def->tolerance)) return false;
    memcpy(s->corners[face[0]], ((uint32_t[]){a, d, c}), sizeof(*s->corners));
    memcpy(s->corners[face[1]], ((uint32_t[]){d, b, c}), sizeof(*s->corners));
    for (int i = 0; i < 2; ++i) r->moved[face[i]] = moved;
    r->locked[a] = r->locked[b] = r->locked[c] = r->locked[d] = true;
    return true;
}

/* ---- the round ------------------------------------------------------------------------------- */

/* Takes out removed faces, and vertices that only they had. `seen` gets the new numbers. */
static void compact(remesh *r, surface *s) {
    uint64_t faces = 0, vertices = 0;
    for (uint64_t v = 0; v < s->vertex_count; ++v) r->seen[v] = r->start[v] == r->start[v + 1];
    for (uint64_t f = 0; f < s->face_count; ++f) {
        if (r->removed[f]) continue;
        for (int k = 0; k < 3; ++k) r->seen[s->corners[f][k]] = 1;
        r->moved[faces] = r->moved[f];
        memmove(s->corners[faces++], s->corners[f], sizeof(*s->corners));
    }
    for (uint64_t v = 0; v < s->vertex_count; ++v) {
        if (r->seen[v] == 0) continue;
        memmove(s->positions[vertices], s->positions[v], sizeof(*s->positions));
        r->seen[v] = (uint32_t)vertices++;
    }
    for (uint64_t i = 0; i < 3 * faces; ++i)
        s->corners[i / 3][i % 3] = r->seen[s->corners[i / 3][i % 3]];
    s->face_count = faces;
    s->vertex_count = vertices;
}

bool kfree_remesh_round(surface *s, double *moved, const carom_numbers *counts,
                        const kfree_remesh_def *def, uint64_t *changed) {
    remesh r = {.s = s,
                .def = def,
                .moved = moved,
                .seen = calloc(s->vertex_count + 1, sizeof(*r.seen)),
                .locked = calloc(s->vertex_count + 1, sizeof(*r.locked)),
                .removed = calloc(s->face_count + 1, sizeof(*r.removed))};
    choose_scale(&r);
    bool good = r.seen != NULL && r.locked != NULL && r.removed != NULL && make_stars(&r) &&
                find_candidates(&r, counts);
    *changed = 0;
    for (uint64_t i = 0; i < r.candidate_count && good; ++i) {
        const candidate *c = &r.candidates[i];
        const edge *e = &r.edges[c->at];
        bool done = c->collapse && (collapse(&r, e->low, e->high) || collapse(&r, e->high, e->low));
        if (!done && c->flip) done = flip(&r, e);
        if (done) ++*changed;
    }
    if (good) compact(&r, s);
    free(r.start);
    free(r.faces);
    free(r.seen);
    free(r.locked);
    free(r.removed);
    free(r.edges);
    free(r.candidates);
    return good;
}
