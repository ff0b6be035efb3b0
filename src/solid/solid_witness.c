/* SPDX-License-Identifier: MIT */
/* Winding numbers of all parts of space, from sample points beside faces.
 *
 * The faces of both meshes cut space into cells. Each cell has a face, each face is cut into parts
 * by the faces that intersect it, and each part has a corner: a vertex of a mesh, or the point
 * where an edge crosses a face. So the cells around these corners are all cells, except those whose
 * corners are all points where three faces cross. Such cells exist only where a mesh crosses
 * itself.
 *
 * A sample beside a corner x is x + e (y - x) + e^2 (c - x) +- e^3 n, with e > 0 infinitesimal:
 * from x along a line of the face towards y, a little towards c, then off the face along the normal
 * n. An affine function of the point has there the sign of its first nonzero value at x, y and c
 * (Edelsbrunner, Muecke, "Simulation of simplicity", 1990). If all three values are zero, the
 * function's plane is that of the face. A ray from the sample along an axis is tested against faces
 * by such functions alone, so winding numbers are exact. Invariant: the meshes are not perturbed,
 * and the cells are theirs. */
#include "solid/solid_witness.h"

#include "base/progress.h"

/* ---- Planes and points ----------------------------------------------------------------------- */

#define THROUGH_THREE 3

/* The plane through three points, or through two points and parallel to an axis. */
typedef struct solid_witness_plane {
    carom_vec3 p[3];
    int axis; /* THROUGH_THREE, or 0, 1, 2: through p[0] and p[1] */
} solid_witness_plane;

static solid_witness_plane plane_of(const carom_vec3 *face) {
    return (solid_witness_plane){{face[0], face[1], face[2]}, THROUGH_THREE};
}

static solid_witness_plane plane_along(carom_vec3 a, carom_vec3 b, int axis) {
    return (solid_witness_plane){{a, b, b}, axis};
}

static int solid_witness_side_of(const solid_witness_plane *f, carom_vec3 x) {
    return f->axis == THROUGH_THREE ? carom_orient3d(f->p[0], f->p[1], f->p[2], x)
                                    : carom_orient_along(f->p[0], f->p[1], x, f->axis);
}

/* A vertex, or the point where an edge crosses a plane. */
typedef struct node {
    carom_vec3 p, q; /* the vertex p; or a point strictly between p and q */
    solid_witness_plane cut;
    bool between;
} node;

static node solid_witness_node_at(carom_vec3 p) {
    return (node){.p = p};
}

static node node_between(carom_vec3 p, carom_vec3 q, const solid_witness_plane *cut) {
    return (node){.p = p, .q = q, .cut = *cut, .between = true};
}

/* The determinant, and an upper bound of its error. */
static double solid_witness_value(const solid_witness_plane *f, carom_vec3 x, double *error) {
    carom_vec3 u = carom_vec_sub(f->p[1], f->p[0]), w = carom_vec_sub(x, f->p[0]);
    if (f->axis == THROUGH_THREE) {
        carom_solid_plane solid_witness_plane = carom_solid_plane_make(f->p);
        return carom_solid_plane_value(&solid_witness_plane, f->p[0], x, error);
    }
    double left = f->axis == 0 ? u.y * w.z : f->axis == 1 ? u.z * w.x : u.x * w.y;
    double right = f->axis == 0 ? u.z * w.y : f->axis == 1 ? u.x * w.z : u.y * w.x;
    *error = CAROM_ORIENT2D_ERROR * (fabs(left) + fabs(right)) + CAROM_ORIENT_UNDERFLOW;
    return left - right;
}

/* ---- Exact products -------------------------------------------------------------------------- */

#define VALUE_LIMBS   (3 * CAROM_DOUBLE_LIMBS + 1)
#define PRODUCT_LIMBS (2 * VALUE_LIMBS)

/* The magnitude of a determinant as an integer of 3 n + 1 limbs. */
static void value_exact(const solid_witness_plane *f, carom_vec3 x, int base, int n, uint32_t *to) {
    uint32_t d[3][3][CAROM_DOUBLE_LIMBS], low[CAROM_DOUBLE_LIMBS],
        minor[2 * CAROM_DOUBLE_LIMBS + 1];
    const carom_vec3 *rows[3] = {&f->p[1], &x, &f->p[2]};
    double a[3], b[3];
    int n2 = 2 * n + 1, n3 = 3 * n + 1;
    bool solid = f->axis == THROUGH_THREE;
    carom_vec_store(f->p[0], a);
    for (int r = 0; r < (solid ? 3 : 2); ++r) {
        carom_vec_store(*rows[r], b);
        for (int k = 0; k < 3; ++k) {
            carom_limbs_load(a[k], base, low, n);
            carom_limbs_load(b[k], base, d[r][k], n);
            carom_limbs_add(d[r][k], low, n, 1);
        }
    }
    for (int i = 0; i < n3; ++i) to[i] = 0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (!solid && k != f->axis) continue;
        for (int l = 0; l < n2; ++l) minor[l] = 0;
        carom_limbs_add_product(minor, n2, d[0][i], n, d[1][j], n, 0);
        carom_limbs_add_product(minor, n2, d[0][j], n, d[1][i], n, 1);
        if (solid)
            carom_limbs_add_product(to, n3, minor, n2, d[2][k], n, 0);
        else
            for (int l = 0; l < n3; ++l) to[l] = carom_limbs_limb(minor, n2, l);
    }
    if (carom_limbs_sign(to, n3) < 0) carom_limbs_negate(to, n3);
}

static void solid_witness_multiply(const uint32_t *a, const uint32_t *b, int n, uint32_t *to) {
    for (int i = 0; i < 2 * n; ++i) to[i] = 0;
    for (int i = 0; i < n; ++i) {
        uint64_t carry = 0;
        if (a[i] == 0) continue;
        for (int j = 0; j < n; ++j) {
            carry += (uint64_t)a[i] * b[j] + to[i + j];
            to[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        to[i + n] = (uint32_t)carry;
    }
}

/* The sign of |f(p) h(q)| - |f(q) h(p)|. */
static int compare_exact(const solid_witness_plane *f, const solid_witness_plane *h, carom_vec3 p,
                         carom_vec3 q) {
    static const int points = 8;
    uint32_t v[4][VALUE_LIMBS], left[PRODUCT_LIMBS], right[PRODUCT_LIMBS];
    double x[24];
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(f->p[i], x + 3 * i);
        carom_vec_store(h->p[i], x + 9 + 3 * i);
    }
    carom_vec_store(p, x + 18);
    carom_vec_store(q, x + 21);
    int n, base = carom_limbs_base(x, 3 * points, &n), n3 = 3 * n + 1;
    value_exact(f, p, base, n, v[0]);
    value_exact(h, q, base, n, v[1]);
    value_exact(f, q, base, n, v[2]);
    value_exact(h, p, base, n, v[3]);
    solid_witness_multiply(v[0], v[1], n3, left);
    solid_witness_multiply(v[2], v[3], n3, right);
    for (int i = 2 * n3 - 1; i >= 0; --i)
        if (left[i] != right[i]) return left[i] > right[i] ? 1 : -1;
    return 0;
}

/* Relative, of the difference of two products: each is rounded by 2^-53, and so is the sum that
 * bounds them. */
#define WITNESS_PRODUCT_ERROR 0x1p-52
/* Factor of an error bound: more than its own ten roundings of 2^-53. */
#define WITNESS_ERROR_MARGIN (1.0 + 0x1p-48)
/* Rounding of a share and of coordinates, relative: up to eight of 2^-53. */
#define WITNESS_POSITION_ERROR 0x1p-50

static int solid_witness_compare(const solid_witness_plane *f, const solid_witness_plane *h,
                                 carom_vec3 p, carom_vec3 q) {
    double e[4], fp = fabs(solid_witness_value(f, p, &e[0])),
                 hq = fabs(solid_witness_value(h, q, &e[1]));
    double fq = fabs(solid_witness_value(f, q, &e[2])), hp = fabs(solid_witness_value(h, p, &e[3]));
    double left = fp * hq, right = fq * hp;
    /* both products, rounded, with factors that have errors e */
    double error = (fp * e[1] + e[0] * hq + e[0] * e[1]) + (fq * e[3] + e[2] * hp + e[2] * e[3]);
    error = (error + WITNESS_PRODUCT_ERROR * (left + right)) * WITNESS_ERROR_MARGIN + DBL_MIN;
    if (left - right > error) return 1;
    if (right - left > error) return -1;
    return compare_exact(f, h, p, q);
}

static int side_of_node(const solid_witness_plane *f, const node *x) {
    int at_p = solid_witness_side_of(f, x->p);
    if (!x->between) return at_p;
    int at_q = solid_witness_side_of(f, x->q);
    if (at_p == at_q || at_q == 0) return at_p;
    if (at_p == 0) return at_q;
    return at_p * solid_witness_compare(f, &x->cut, x->p, x->q);
}

/* The approximate position of a node, and an upper bound of its error along an axis. */
static carom_vec3 solid_witness_position_of(const node *x, double *off) {
    *off = 0.0;
    if (!x->between) return x->p;
    double e[2], p = fabs(solid_witness_value(&x->cut, x->p, &e[0])),
                 q = fabs(solid_witness_value(&x->cut, x->q, &e[1]));
    carom_vec3 direction = carom_vec_sub(x->q, x->p);
    double whole = p + q, share = p / whole, wrong = (e[0] + e[1]) / whole + WITNESS_POSITION_ERROR;
    if (!(wrong < 1.0)) share = 0.5, wrong = 1.0;
    carom_vec3 at = carom_vec_add(x->p, carom_vec_scale(direction, share));
    *off = wrong * carom_solid_most(direction) + WITNESS_POSITION_ERROR * carom_solid_most(x->p);
    return at;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* The sample x + e (y - x) + e^2 side (c - x), off the face given by `turn` and `axis`. */
typedef struct solid_witness_sample {
    carom_solid_key triangle;
    node x, y;
    carom_vec3 c;
    int side;       /* -1: away from c */
    int direction;  /* 1 or -1, of the ray along the axis */
    int axis, turn; /* an axis along which the projected face has area, and the sign of its normal
                       there */
    carom_vec3 at;  /* the approximate position of x */
    double off;     /* upper bound of its error */
    const carom_solid_query *query;
    int of_b;         /* whose faces are counted */
    int above, below; /* winding numbers on both sides */
} solid_witness_sample;

/* The side of a plane on which the sample lies; 0: it is the plane of the sample's face. */
static int side_of_sample(const solid_witness_plane *f, const solid_witness_sample *s) {
    int side = side_of_node(f, &s->x);
    if (side == 0) side = side_of_node(f, &s->y);
    return side != 0 ? side : s->side * solid_witness_side_of(f, s->c);
}

static bool is_beside(double a, double b, double c, double at, double off) {
    return (a > at + off && b > at + off && c > at + off) ||
           (a < at - off && b < at - off && c < at - off);
}

static void solid_witness_count_face(solid_witness_sample *s, uint32_t triangle) {
    carom_solid_face face;
    carom_solid_pose(s->query, s->of_b, triangle, &face);
    const carom_vec3 *p = face.p;
    if (s->axis != 0 && is_beside(p[0].x, p[1].x, p[2].x, s->at.x, s->off)) return;
    if (s->axis != 1 && is_beside(p[0].y, p[1].y, p[2].y, s->at.y, s->off)) return;
    if (s->axis != 2 && is_beside(p[0].z, p[1].z, p[2].z, s->at.z, s->off)) return;
    int turn = carom_orient_along(p[0], p[1], p[2], s->axis);
    if (turn == 0) return;
    for (int i = 0; i < 3; ++i) {
        solid_witness_plane edge = plane_along(p[i], p[i == 2 ? 0 : i + 1], s->axis);
        if (side_of_sample(&edge, s) != turn) return;
    }
    solid_witness_plane f = plane_of(p);
    int side = side_of_sample(&f, s);
    /* +1 when the ray leaves, which is along the normal */
    bool above = side != 0 ? side == -s->direction * turn : s->turn == -s->direction;
    bool below = side != 0 ? side == -s->direction * turn : s->turn == s->direction;
    s->above += above ? s->direction * turn : 0;
    s->below += below ? s->direction * turn : 0;
}

static double solid_witness_visit(void *user, uint32_t slot) {
    solid_witness_sample *s = user;
    uint32_t triangle = s->query->solids[s->of_b]->view.bvh->items[slot];
    if (triangle != CAROM_BVH_NONE) solid_witness_count_face(s, triangle);
    return HUGE_VAL;
}

/* Counts the winding number of a solid. The ray points away from its middle, where it crosses the
 * fewest faces. */
static void solid_witness_count(solid_witness_sample *s, int of_b, int windings[2]) {
    const carom_solid *solid = s->query->solids[of_b];
    const carom_soup_side *frame = carom_solid_side(s->query, of_b);
    double middle[3], at[3];
    carom_vec_store(
        carom_vec_scale(carom_frame_apply(&frame->frame, frame->centre), s->query->power), middle);
    carom_vec_store(s->at, at);
    s->of_b = of_b;
    s->direction = at[s->axis] < middle[s->axis] ? -1 : 1;
    s->above = s->below = solid->base;
    if (s->query->posed.extreme) {
        for (uint32_t t = 0; t < solid->view.triangle_count; ++t) solid_witness_count_face(s, t);
    } else {
        carom_vec3 direction =
            carom_vec(s->axis == 0 ? s->direction : 0, s->axis == 1 ? s->direction : 0,
                      s->axis == 2 ? s->direction : 0);
        carom_bvh_ray ray = carom_solid_ray_to_tree(s->query, of_b, s->at, direction, s->off);
        (void)CAROM_CPU_CALL(s->query->context, carom_bvh_cast)(solid->view.bvh, &ray, HUGE_VAL,
                                                                solid_witness_visit, s);
    }
    windings[0] = s->above;
    windings[1] = s->below;
}

/* ---- Faces and their cuts -------------------------------------------------------------------- */

typedef struct solid_witness_piece {
    carom_vec3 p[3];
    int axis, turn;
} solid_witness_piece;

/* Returns false if the triangle has no area. */
static bool piece_make(const carom_solid_query *query, carom_solid_key key,
                       solid_witness_piece *piece) {
    carom_solid_face face;
    carom_solid_pose(query, (int)(key >> 32), (uint32_t)key, &face);
    memcpy(piece->p, face.p, sizeof(piece->p));
    piece->axis = carom_orient_axis(face.p[0], face.p[1], face.p[2]);
    if (piece->axis < 0) return false;
    piece->turn = carom_orient_along(face.p[0], face.p[1], face.p[2], piece->axis);
    return true;
}

/* One sample in the plane of a face: from x towards y, then towards c or away from it. If it is
 * outside the face, its winding numbers are still correct, but add nothing new. */
static void solid_witness_look(carom_solid_witness *w, carom_solid_key key,
                               const solid_witness_piece *t, const node *x, const node *y,
                               carom_vec3 c, int side, bool on_face) {
    int a[2] = {0, 1}, b[2] = {0, w->alone ? 0 : 1}, of_b = (int)(key >> 32);
    if (w->stopped) return;
    solid_witness_sample s = {.triangle = key,
                              .x = *x,
                              .y = *y,
                              .c = c,
                              .side = side,
                              .axis = t->axis,
                              .turn = t->turn,
                              .query = w->query};
    s.at = solid_witness_position_of(&s.x, &s.off);
    bool known = on_face && w->plain[of_b];
    if (of_b || !known) solid_witness_count(&s, 0, a);
    if (!w->alone && (!of_b || !known)) solid_witness_count(&s, 1, b);
    w->stopped = !w->fn(w->user, key, a, b);
}

void carom_solid_witness_corner(carom_solid_witness *w, carom_solid_key key) {
    solid_witness_piece t;
    if (!piece_make(w->query, key, &t)) return;
    node x = solid_witness_node_at(t.p[0]), y = solid_witness_node_at(t.p[1]);
    solid_witness_look(w, key, &t, &x, &y, t.p[2], 1, true);
}

static int next(int i) {
    return i == 2 ? 0 : i + 1;
}

/* Samples from the point where the edge p q crosses u, if that is strictly between its ends,
 * towards q. With side 1, p q is an edge of the face, c is on the same side as the face, and the
 * sample is on the face itself. */
static void look_from_cuts(carom_solid_witness *w, carom_solid_key key,
                           const solid_witness_piece *t, carom_vec3 p, carom_vec3 q,
                           const solid_witness_piece *u, carom_vec3 c, int side) {
    solid_witness_plane f = plane_of(u->p);
    node y = solid_witness_node_at(q);
    int at_p = solid_witness_side_of(&f, p), at_q = solid_witness_side_of(&f, q);
    if (at_p * at_q < 0) {
        int left = 0, right = 0;
        for (int i = 0; i < 3; ++i) {
            int turn = carom_orient3d(p, q, u->p[i], u->p[next(i)]);
            left |= turn > 0;
            right |= turn < 0;
        }
        node x = node_between(p, q, &f);
        if (!(left && right)) solid_witness_look(w, key, t, &x, &y, c, side, side > 0);
    }
    if (at_p != 0 || at_q != 0) return;
    for (int i = 0; i < 3; ++i) { /* in the plane of u: the points where p q crosses edges of u */
        carom_vec3 r = u->p[i], s = u->p[next(i)];
        solid_witness_plane edge = plane_along(r, s, u->axis), line = plane_along(p, q, u->axis);
        if (solid_witness_side_of(&edge, p) * solid_witness_side_of(&edge, q) >= 0) continue;
        if (solid_witness_side_of(&line, r) * solid_witness_side_of(&line, s) > 0) continue;
        node x = node_between(p, q, &edge);
        solid_witness_look(w, key, t, &x, &y, c, side, side > 0);
    }
}

/* The two points where the border of a face crosses a plane; false if the plane touches one corner
 * only. */
static bool find_chord(const solid_witness_piece *t, const solid_witness_plane *f, const int s[3],
                       node ends[2]) {
    int count = 0;
    for (int i = 0; i < 3 && count < 2; ++i)
        if (s[i] == 0) ends[count++] = solid_witness_node_at(t->p[i]);
    for (int i = 0; i < 3 && count < 2; ++i)
        if (s[i] * s[next(i)] < 0) ends[count++] = node_between(t->p[i], t->p[next(i)], f);
    return count == 2;
}

static void look_along_chord(carom_solid_witness *w, carom_solid_key key,
                             const solid_witness_piece *t, const solid_witness_piece *u) {
    solid_witness_plane of_t = plane_of(t->p), of_u = plane_of(u->p);
    int s[3], r[3];
    node ends[2], others[2];
    for (int i = 0; i < 3; ++i) {
        s[i] = solid_witness_side_of(&of_u, t->p[i]);
        r[i] = solid_witness_side_of(&of_t, u->p[i]);
    }
    if (!find_chord(t, &of_u, s, ends) || !find_chord(u, &of_t, r, others)) return;
    for (int from = 0; from < 3; ++from) {
        bool seen[2] = {false, false};
        const node *x = from == 2 ? &others[0] : &ends[from];
        const node *y = from == 2 ? &others[1] : &ends[1 - from];
        for (int i = 0; i < 3; ++i) { /* one sample per side */
            if (s[i] == 0 || seen[s[i] > 0]) continue;
            seen[s[i] > 0] = true;
            solid_witness_look(w, key, t, x, y, t->p[i], 1, from != 2);
        }
    }
}

void carom_solid_witness_pair(carom_solid_witness *w, carom_solid_key a, carom_solid_key b) {
    solid_witness_piece t, u;
    if (!piece_make(w->query, a, &t) || !piece_make(w->query, b, &u)) return;
    look_along_chord(w, a, &t, &u);
    look_along_chord(w, b, &u, &t);
}

static bool is_flat_on(const solid_witness_piece *t, const solid_witness_piece *u) {
    solid_witness_plane f = plane_of(t->p);
    return solid_witness_side_of(&f, u->p[0]) == 0 && solid_witness_side_of(&f, u->p[1]) == 0 &&
           solid_witness_side_of(&f, u->p[2]) == 0;
}

static bool solid_witness_is_same(const solid_witness_piece *t, const solid_witness_piece *u) {
    for (int i = 0; i < 3; ++i) {
        bool found = false;
        for (int j = 0; j < 3; ++j) found = found || carom_vec_compare(t->p[i], u->p[j]) == 0;
        if (!found) return false;
    }
    return true;
}

/* Whether u passes through the interior of t, or ends in it. */
static bool is_cut_by(const solid_witness_piece *t, const solid_witness_piece *u) {
    solid_witness_plane f = plane_of(u->p);
    int above = 0, below = 0;
    for (int i = 0; i < 3; ++i) {
        int side = solid_witness_side_of(&f, t->p[i]);
        above += side > 0;
        below += side < 0;
    }
    return above + below == 0 ? !solid_witness_is_same(t, u) : above > 0 && below > 0;
}

/* Samples all parts into which a face is cut by the faces that share a segment or more with it:
 * along its edges, along the shared segments, and beyond the edges of coplanar faces. */
static void look_at_face(carom_solid_witness *w, const carom_solid_contact *contacts,
                         uint64_t count) {
    carom_solid_key key = contacts[0].of;
    solid_witness_piece t, u, v;
    bool cut = false;
    if (contacts[count - 1].with == CAROM_SOLID_KNOWN) return; /* sorted after all others */
    if (w->wanted != NULL && !w->wanted(w->user, key)) return;
    if (!piece_make(w->query, key, &t)) return;
    for (uint64_t i = 0; i < count && !cut; ++i)
        cut = piece_make(w->query, contacts[i].with, &u) && is_cut_by(&t, &u);
    if (!cut) {
        carom_solid_witness_corner(w, key);
        return;
    }
    for (int j = 0; j < 3; ++j) {
        carom_vec3 p = t.p[j], q = t.p[next(j)], c = t.p[next(next(j))];
        node x = solid_witness_node_at(p), y = solid_witness_node_at(q);
        solid_witness_look(w, key, &t, &x, &y, c, 1, true);
        for (uint64_t i = 0; i < count && !w->stopped; ++i)
            if (piece_make(w->query, contacts[i].with, &u))
                look_from_cuts(w, key, &t, p, q, &u, c, 1);
    }
    for (uint64_t i = 0; i < count && !w->stopped; ++i) {
        if (!piece_make(w->query, contacts[i].with, &u)) continue;
        if (!is_flat_on(&t, &u)) {
            look_along_chord(w, key, &t, &u);
            continue;
        }
        for (int j = 0; j < 3; ++j) {
            carom_vec3 p = u.p[j], q = u.p[next(j)], c = u.p[next(next(j))];
            node x = solid_witness_node_at(p), y = solid_witness_node_at(q);
            solid_witness_look(w, key, &t, &x, &y, c, -1, false);
            look_from_cuts(w, key, &t, p, q, &t, c, -1);
            for (uint64_t k = 0; k < count && !w->stopped; ++k)
                if (k != i && piece_make(w->query, contacts[k].with, &v))
                    look_from_cuts(w, key, &t, p, q, &v, c, -1);
        }
    }
}

void carom_solid_witness_contacts(carom_solid_witness *w, const carom_solid_contact *contacts,
                                  uint64_t count) {
    for (uint64_t i = 0, end; i < count && !w->stopped; i = end) {
        if (carom_progress_stop(w->query->context, 0)) return;
        for (end = i; end < count && contacts[end].of == contacts[i].of;) ++end;
        look_at_face(w, contacts + i, end - i);
    }
}

static bool solid_witness_precedes(carom_solid_contact a, carom_solid_contact b) {
    return a.of != b.of ? a.of < b.of : a.with < b.with;
}

void carom_solid_contacts_sort(carom_solid_contact *data, uint64_t count) {
    for (uint64_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) /* Shell 1959 */
        for (uint64_t i = gap; i < count; ++i) {
            carom_solid_contact one = data[i];
            uint64_t k = i;
            for (; k >= gap && solid_witness_precedes(one, data[k - gap]); k -= gap)
                data[k] = data[k - gap];
            data[k] = one;
        }
}

carom_solid_touch carom_solid_touch_of(const carom_solid_query *query, carom_solid_key a,
                                       carom_solid_key b) {
    carom_solid_touch touch = {-1, false, false};
    solid_witness_piece t, u;
    carom_triangle one, other;
    if (!piece_make(query, a, &t) || !piece_make(query, b, &u)) return touch;
    memcpy(one.corner, t.p, sizeof(t.p));
    memcpy(other.corner, u.p, sizeof(u.p));
    carom_simplex x = carom_simplex_make(&one), y = carom_simplex_make(&other);
    touch.dimension = carom_simplex_meet(&x, &y).dimension;
    if (touch.dimension != 2) return touch;
    touch.same = solid_witness_is_same(&t, &u);
    touch.opposite = t.turn != u.turn; /* coplanar, so the axis is the same */
    return touch;
}
