/* SPDX-License-Identifier: MIT */
/* Models of convex pieces, and the exact overlap of two. */
#include "tests/support/scale_solid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

carom_mesh_view model_view(const scale_model *model) {
    return (carom_mesh_view){.positions = model->point,
                             .vertex_count = model->points,
                             .corners = model->corners,
                             .face_count = model->faces};
}

static uint32_t add_point(scale_model *model, carom_vec3 p) {
    if (model->points == MODEL_MOST_POINTS) abort();
    model->point[model->points] = p;
    return model->points++;
}

static void add_triangle(scale_model *model, uint32_t a, uint32_t b, uint32_t d) {
    if (model->faces == MODEL_MOST_FACES) abort();
    uint32_t *corners = &model->corners[3 * model->faces++];
    corners[0] = a;
    corners[1] = b;
    corners[2] = d;
}

/* Corner i of a box has the high x where bit 0 is set, y bit 1, z bit 2. Each row is a face, seen
 * from outside counter-clockwise: -x, +x, -y, +y, -z, +z. */
static const uint8_t box_faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

static scale_piece *add_piece(scale_model *model, int weight, int planes) {
    if (model->pieces == MODEL_MOST_PIECES) abort();
    scale_piece *piece = &model->piece[model->pieces++];
    *piece = (scale_piece){.weight = weight, .planes = planes};
    return piece;
}

static void add_box_piece(scale_model *model, const uint32_t at[8], int weight) {
    scale_piece *piece = add_piece(model, weight, 6);
    for (int f = 0; f < 6; ++f)
        for (int i = 0; i < 3; ++i) piece->plane[f][i] = at[box_faces[f][i]];
}

static void add_box_face(scale_model *model, const uint32_t at[8], int f, bool inwards,
                         bool other_diagonal) {
    uint32_t q[4];
    for (int i = 0; i < 4; ++i) q[i] = at[box_faces[f][inwards ? 3 - i : i]];
    int s = other_diagonal ? 1 : 0;
    add_triangle(model, q[s], q[s + 1], q[s + 2]);
    add_triangle(model, q[s], q[s + 2], q[(s + 3) % 4]);
}

void model_add_box(scale_model *model, carom_vec3 low, carom_vec3 high, int weight) {
    uint32_t at[8];
    for (uint32_t i = 0; i < 8; ++i)
        at[i] = add_point(model,
                          (carom_vec3){(i & 1) != 0 ? high.x : low.x, (i & 2) != 0 ? high.y : low.y,
                                       (i & 4) != 0 ? high.z : low.z});
    add_box_piece(model, at, weight);
    for (int f = 0; f < 6; ++f) add_box_face(model, at, f, weight < 0, f % 2 != 0);
}

bool model_add_tetrahedron(scale_model *model, const carom_vec3 corner[4], int weight) {
    static const uint8_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    int side = exact_orient_3d(corner);
    uint32_t at[4];
    if (side == 0) return false;
    for (int i = 0; i < 4; ++i) at[i] = add_point(model, corner[i]);
    if (side < 0) {
        uint32_t other = at[0];
        at[0] = at[1];
        at[1] = other;
    }
    scale_piece *piece = add_piece(model, weight, 4);
    for (int f = 0; f < 4; ++f) {
        for (int i = 0; i < 3; ++i) piece->plane[f][i] = at[faces[f][i]];
        uint32_t *p = piece->plane[f];
        if (weight > 0)
            add_triangle(model, p[0], p[1], p[2]);
        else
            add_triangle(model, p[0], p[2], p[1]);
    }
    return true;
}

#define CELLS_X 3
#define CELLS_Y 2
#define CELLS_Z 2

void model_add_cells(scale_case *c, scale_model *model) {
    static const int count[3] = {CELLS_X, CELLS_Y, CELLS_Z};
    double line[3][CELLS_X + 1];
    uint32_t number[CELLS_X + 1][CELLS_Y + 1][CELLS_Z + 1];
    bool filled[CELLS_X + 2][CELLS_Y + 2][CELLS_Z + 2] = {{{false}}};
    for (int k = 0; k < 3; ++k) {
        line[k][0] = scale_between(c, -6, -1);
        for (int i = 1; i <= count[k]; ++i) line[k][i] = line[k][i - 1] + scale_between(c, 1, 4);
    }
    for (int x = 0; x <= CELLS_X; ++x)
        for (int y = 0; y <= CELLS_Y; ++y)
            for (int z = 0; z <= CELLS_Z; ++z) {
                number[x][y][z] =
                    add_point(model, (carom_vec3){line[0][x], line[1][y], line[2][z]});
                if (x < CELLS_X && y < CELLS_Y && z < CELLS_Z)
                    filled[x + 1][y + 1][z + 1] = scale_one_in(c, 2);
            }
    filled[1][1][1] = true;
    for (int cell = 0; cell < CELLS_X * CELLS_Y * CELLS_Z; ++cell) {
        int x = cell % CELLS_X, y = cell / CELLS_X % CELLS_Y, z = cell / CELLS_X / CELLS_Y;
        if (!filled[x + 1][y + 1][z + 1]) continue;
        uint32_t at[8];
        for (int i = 0; i < 8; ++i) at[i] = number[x + (i & 1)][y + (i >> 1 & 1)][z + (i >> 2)];
        add_box_piece(model, at, 1);
        const bool beside[6] = {filled[x][y + 1][z + 1], filled[x + 2][y + 1][z + 1],
                                filled[x + 1][y][z + 1], filled[x + 1][y + 2][z + 1],
                                filled[x + 1][y + 1][z], filled[x + 1][y + 1][z + 2]};
        for (int f = 0; f < 6; ++f)
            if (!beside[f]) add_box_face(model, at, f, false, scale_one_in(c, 2));
    }
}

static carom_vec3 small_point(scale_case *c, int reach) {
    carom_vec3 p;
    p.x = scale_between(c, -reach, reach);
    p.y = scale_between(c, -reach, reach);
    p.z = scale_between(c, -reach, reach);
    return p;
}

static carom_vec3 plus(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static carom_vec3 sizes(scale_case *c, int least, int most) {
    carom_vec3 p;
    p.x = scale_between(c, least, most);
    p.y = scale_between(c, least, most);
    p.z = scale_between(c, least, most);
    return p;
}

static void add_any_tetrahedron(scale_case *c, scale_model *model, int reach, int weight) {
    carom_vec3 corner[4];
    do {
        for (int i = 0; i < 4; ++i) corner[i] = small_point(c, reach);
    } while (!model_add_tetrahedron(model, corner, weight));
}

/* Two tetrahedra on either side of a common face, glued: convex or not. */
static void add_two_tetrahedra(scale_case *c, scale_model *model) {
    carom_vec3 p[4], other[4];
    for (;;) {
        for (int i = 0; i < 4; ++i) p[i] = small_point(c, 5);
        memcpy(other, p, sizeof(p));
        other[3] = small_point(c, 5);
        if (exact_orient_3d(p) * exact_orient_3d(other) < 0) break;
    }
    scale_model two = {0};
    (void)model_add_tetrahedron(&two, p, 1);
    (void)model_add_tetrahedron(&two, other, 1);
    /* The face of points 0, 1, 2 is there twice, once each way: the mesh goes without it. */
    uint32_t first = model->points;
    for (uint32_t i = 0; i < two.points; ++i) (void)add_point(model, two.point[i]);
    for (uint32_t f = 0; f < two.faces; ++f) {
        const uint32_t *corners = &two.corners[3 * f];
        bool common = true;
        for (int i = 0; i < 3; ++i) common = common && corners[i] % 4 != 3;
        if (!common)
            add_triangle(model, first + corners[0], first + corners[1], first + corners[2]);
    }
    for (uint32_t i = 0; i < two.pieces; ++i) {
        scale_piece *piece = add_piece(model, 1, 4);
        for (int k = 0; k < 12; ++k)
            piece->plane[k / 3][k % 3] = first + two.piece[i].plane[k / 3][k % 3];
    }
}

static void make_simple(scale_case *c, scale_model *model) {
    carom_vec3 low = small_point(c, 5), size = sizes(c, 1, 6);
    model->simple = true;
    switch (scale_below(c, 6)) {
    default:
        model->kind = "box";
        model_add_box(model, low, plus(low, size), 1);
        break;
    case 2:
        model->kind = "tetrahedron";
        add_any_tetrahedron(c, model, 5, 1);
        break;
    case 3:
        model->kind = "cells";
        model_add_cells(c, model);
        break;
    case 4: /* with a cavity */
        model->kind = "cavity";
        size = sizes(c, 3, 7);
        model_add_box(model, low, plus(low, size), 1);
        model_add_box(model, plus(low, (carom_vec3){1, 1, 1}),
                      plus(low, (carom_vec3){size.x - 1, size.y - 1, size.z - 1}), -1);
        break;
    case 5:
        model->kind = "two tetrahedra";
        add_two_tetrahedra(c, model);
        break;
    }
}

/* A box and a smaller one inside out that share a corner, an edge or part of a face. */
static void make_contact(scale_case *c, scale_model *model) {
    carom_vec3 low = small_point(c, 3), high = plus(low, sizes(c, 2, 5)), other = high;
    model->kind = "contact";
    model_add_box(model, low, high, 1);
    carom_vec3 end = plus(high, (carom_vec3){1, 1, 1});
    uint32_t shared = scale_below(c, 3); /* axes along which both go */
    if (shared > 0) other.z = low.z, end.z = high.z;
    if (shared > 1) other.y = low.y, end.y = low.y + 1;
    model_add_box(model, other, end, -1);
}

/* Shells anywhere, some inside out. */
static void make_winding(scale_case *c, scale_model *model) {
    if (scale_one_in(c, 4)) {
        make_contact(c, model);
        return;
    }
    uint32_t shells = 2 + scale_below(c, 2);
    model->kind = "winding";
    for (uint32_t i = 0; i < shells; ++i) {
        int weight = i > 0 && scale_one_in(c, 2) ? -1 : 1;
        carom_vec3 low = small_point(c, 5);
        /* With a corner, an edge or a plane in common with those before. */
        const carom_vec3 *at = &model->point[model->points > 0 ? scale_below(c, model->points) : 0];
        if (model->points > 0 && scale_one_in(c, 2)) low.x = at->x;
        if (model->points > 0 && scale_one_in(c, 2)) low.y = at->y;
        if (model->points > 0 && scale_one_in(c, 2)) low.z = at->z;
        if (scale_one_in(c, 3))
            add_any_tetrahedron(c, model, 5, weight);
        else
            model_add_box(model, low, plus(low, sizes(c, 1, 6)), weight);
    }
}

/* Winding numbers at points that are on no plane of the lattice. */
static void find_windings(scale_case *c, scale_model *model) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        carom_vec3 p = small_point(c, 100);
        p = (carom_vec3){p.x / 8 + 1.0 / 64, p.y / 8 + 1.0 / 128, p.z / 8 + 1.0 / 512};
        int winding = 0;
        for (uint32_t i = 0; i < model->pieces; ++i) {
            const scale_piece *piece = &model->piece[i];
            bool inside = true;
            for (int k = 0; k < piece->planes && inside; ++k) {
                const uint32_t *at = piece->plane[k];
                inside = exact_orient_3d((carom_vec3[4]){model->point[at[0]], model->point[at[1]],
                                                         model->point[at[2]], p}) < 0;
            }
            if (inside) winding += piece->weight;
        }
        if (winding < model->least) model->least = winding;
        if (winding > model->most) model->most = winding;
    }
}

void model_make(scale_case *c, bool simple, scale_model *model) {
    *model = (scale_model){.kind = ""};
    if (simple)
        make_simple(c, model);
    else
        make_winding(c, model);
    if (!simple) find_windings(c, model);
}

/* ---- moving ---------------------------------------------------------------------------------- */

bool model_offset(scale_model *model, carom_vec3 by) {
    for (uint32_t i = 0; i < model->points; ++i) {
        const double p[3] = {model->point[i].x, model->point[i].y, model->point[i].z};
        const double d[3] = {by.x, by.y, by.z};
        for (int k = 0; k < 3; ++k) {
            double s = p[k] + d[k];
            if (s - p[k] != d[k] || s - d[k] != p[k] || !(fabs(s) < 0x1p1020)) return false;
        }
    }
    for (uint32_t i = 0; i < model->points; ++i) model->point[i] = plus(model->point[i], by);
    return true;
}

bool model_by_power(scale_model *model, int kx, int ky, int kz) {
    for (uint32_t i = 0; i < model->points; ++i) {
        const carom_vec3 *p = &model->point[i];
        carom_vec3 q = {ldexp(p->x, kx), ldexp(p->y, ky), ldexp(p->z, kz)};
        if (ldexp(q.x, -kx) != p->x || ldexp(q.y, -ky) != p->y || ldexp(q.z, -kz) != p->z)
            return false;
        if (!(fabs(q.x) < 0x1p1020 && fabs(q.y) < 0x1p1020 && fabs(q.z) < 0x1p1020)) return false;
    }
    for (uint32_t i = 0; i < model->points; ++i) {
        carom_vec3 *p = &model->point[i];
        *p = (carom_vec3){ldexp(p->x, kx), ldexp(p->y, ky), ldexp(p->z, kz)};
    }
    return true;
}

/* ---- polygons in the plane of a face --------------------------------------------------------- */

#define MOST_LINES 12

/* a u + b v + c >= 0 inside. */
typedef struct cut_line {
    number a, b, c;
} cut_line;

/* Convex, counter-clockwise: side i lies on line i, corner i between lines i - 1 and i. */
typedef struct cut_polygon {
    int count;
    cut_line line[MOST_LINES];
} cut_polygon;

/* 24 times the integrals of 1, u, v, u u, u v, v v. */
typedef struct cut_moments {
    number one, u, v, uu, uv, vv;
} cut_moments;

static cut_line line_cross(const cut_line *p, const cut_line *q) {
    return (cut_line){number_sub(number_mul(p->b, q->c), number_mul(p->c, q->b)),
                      number_sub(number_mul(p->c, q->a), number_mul(p->a, q->c)),
                      number_sub(number_mul(p->a, q->b), number_mul(p->b, q->a))};
}

/* The corner at the start of side i, as (u w, v w, w) with w > 0. */
static cut_line corner_of(const cut_polygon *polygon, int i) {
    return line_cross(&polygon->line[(i + polygon->count - 1) % polygon->count], &polygon->line[i]);
}

static void polygon_cut(cut_polygon *polygon, const cut_line *line) {
    int side[MOST_LINES];
    bool inside = false, outside = false;
    for (int i = 0; i < polygon->count; ++i) {
        cut_line p = corner_of(polygon, i);
        number value = number_add(number_mul(line->a, p.a), number_mul(line->b, p.b));
        side[i] = number_add(value, number_mul(line->c, p.c)).sign;
        inside = inside || side[i] > 0;
        outside = outside || side[i] < 0;
    }
    if (!outside) return;
    cut_polygon kept = {0};
    for (int i = 0; inside && i < polygon->count; ++i) {
        int next = side[(i + 1) % polygon->count];
        if (side[i] > 0 || next > 0) kept.line[kept.count++] = polygon->line[i];
        if (side[i] > 0 && next <= 0) kept.line[kept.count++] = *line;
        if (kept.count > MOST_LINES - 2) abort(); /* a bug in the test */
    }
    *polygon = kept;
}

static void polygon_measure(const cut_polygon *polygon, cut_moments *m) {
    number u[MOST_LINES], v[MOST_LINES];
    *m = (cut_moments){{0}, {0}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < polygon->count; ++i) {
        cut_line p = corner_of(polygon, i);
        u[i] = number_div(p.a, p.c, SCALE_BITS);
        v[i] = number_div(p.b, p.c, SCALE_BITS);
    }
    for (int i = 0; i < polygon->count; ++i) {
        int j = (i + 1) % polygon->count;
        number across = number_sub(number_mul(u[i], v[j]), number_mul(u[j], v[i]));
        number su = number_add(u[i], u[j]), sv = number_add(v[i], v[j]);
        number uu = number_sub(number_mul(su, su), number_mul(u[i], u[j]));
        number vv = number_sub(number_mul(sv, sv), number_mul(v[i], v[j]));
        number uv = number_add(number_mul(su, sv),
                               number_add(number_mul(u[i], v[i]), number_mul(u[j], v[j])));
        m->one = number_add(m->one, across);
        m->u = number_add(m->u, number_mul(su, across));
        m->v = number_add(m->v, number_mul(sv, across));
        m->uu = number_add(m->uu, number_mul(uu, across));
        m->uv = number_add(m->uv, number_mul(uv, across));
        m->vv = number_add(m->vv, number_mul(vv, across));
    }
    m->one = number_mul(m->one, number_of(12.0));
    m->u = number_mul(m->u, number_of(4.0));
    m->v = number_mul(m->v, number_of(4.0));
    m->uu = number_mul(m->uu, number_of(2.0));
    m->vv = number_mul(m->vv, number_of(2.0));
}

/* ---- faces ----------------------------------------------------------------------------------- */

typedef struct cut_face {
    number3 from, u, v; /* a corner, relative to the common reference, and two sides */
    number3 normal;     /* u x v */
    const carom_vec3 *corner[3];
} cut_face;

static cut_face face_of(const scale_model *model, uint32_t f, number3 reference) {
    cut_face face;
    number3 p[3];
    for (int i = 0; i < 3; ++i) {
        face.corner[i] = &model->point[model->corners[3 * f + i]];
        p[i] = number3_sub(number3_of(*face.corner[i]), reference);
    }
    face.from = p[0];
    face.u = number3_sub(p[1], p[0]);
    face.v = number3_sub(p[2], p[0]);
    face.normal = number3_cross(face.u, face.v);
    return face;
}

typedef struct exact_plane {
    number3 point, normal; /* outwards, relative to the reference */
    int first;             /* the sign of the first component of the normal that is not 0 */
} exact_plane;

typedef struct exact_piece {
    int weight, planes;
    exact_plane plane[6];
    double low[3], high[3];
} exact_piece;

static void get_pieces(const scale_model *model, number3 reference, exact_piece *pieces) {
    for (uint32_t i = 0; i < model->pieces; ++i) {
        const scale_piece *from = &model->piece[i];
        exact_piece *to = &pieces[i];
        to->weight = from->weight;
        to->planes = from->planes;
        for (int k = 0; k < 3; ++k) to->low[k] = HUGE_VAL, to->high[k] = -HUGE_VAL;
        for (int p = 0; p < from->planes; ++p) {
            number3 corner[3];
            for (int j = 0; j < 3; ++j) {
                const carom_vec3 *at = &model->point[from->plane[p][j]];
                const double x[3] = {at->x, at->y, at->z};
                for (int k = 0; k < 3; ++k) {
                    to->low[k] = fmin(to->low[k], x[k]);
                    to->high[k] = fmax(to->high[k], x[k]);
                }
                corner[j] = number3_sub(number3_of(*at), reference);
            }
            exact_plane *plane = &to->plane[p];
            plane->point = corner[0];
            plane->normal =
                number3_cross(number3_sub(corner[1], corner[0]), number3_sub(corner[2], corner[0]));
            plane->first = 0;
            for (int k = 2; k >= 0; --k)
                if (plane->normal.x[k].sign != 0) plane->first = plane->normal.x[k].sign;
        }
    }
}

static bool boxes_apart(const cut_face *face, const exact_piece *piece) {
    for (int k = 0; k < 3; ++k) {
        double x[3];
        for (int i = 0; i < 3; ++i)
            x[i] = k == 0 ? face->corner[i]->x : k == 1 ? face->corner[i]->y : face->corner[i]->z;
        if (fmin(x[0], fmin(x[1], x[2])) > piece->high[k]) return true;
        if (fmax(x[0], fmax(x[1], x[2])) < piece->low[k]) return true;
    }
    return false;
}

/* The part of a face inside a piece that is thought of as moved by -shift (e, e^2, e^3); says
 * whether the shift mattered. */
static bool face_cut(const cut_face *face, const exact_piece *piece, int shift,
                     cut_polygon *polygon) {
    number zero = {0}, one = number_power(0), minus = number_negate(one);
    bool mattered = false;
    *polygon = (cut_polygon){3, {{zero, one, zero}, {minus, minus, one}, {one, zero, zero}}};
    for (int p = 0; p < piece->planes && polygon->count > 0; ++p) {
        const exact_plane *plane = &piece->plane[p];
        cut_line line = {
            number_negate(number3_dot(plane->normal, face->u)),
            number_negate(number3_dot(plane->normal, face->v)),
            number3_dot(plane->normal, number3_sub(plane->point, face->from)),
        };
        if (line.a.sign != 0 || line.b.sign != 0) {
            polygon_cut(polygon, &line);
            continue;
        }
        int inside = line.c.sign;
        if (inside == 0) {
            mattered = true;
            inside = -shift * plane->first;
        }
        if (inside < 0) polygon->count = 0;
    }
    return mattered;
}

/* Sums over faces; 24 or 48 times the truth, as said. */
typedef struct face_sums {
    number volume;  /* 24: of x n_x */
    number3 moment; /* 48: of x_k x_k n_k */
    number area;    /* 24 */
    number3 vector; /* 24: of n */
    number3 turn;   /* 24: of x cross n, about the reference */
} face_sums;

static number3 first_moment(const cut_face *f, const cut_moments *m) {
    return number3_add(number3_scale(f->from, m->one),
                       number3_add(number3_scale(f->u, m->u), number3_scale(f->v, m->v)));
}

static number second_moment(const cut_face *f, const cut_moments *m, int k) {
    number two = number_of(2.0), p = f->from.x[k], u = f->u.x[k], v = f->v.x[k];
    number sum = number_mul(number_mul(p, p), m->one);
    sum = number_add(sum, number_mul(two, number_mul(p, number_mul(u, m->u))));
    sum = number_add(sum, number_mul(two, number_mul(p, number_mul(v, m->v))));
    sum = number_add(sum, number_mul(number_mul(u, u), m->uu));
    sum = number_add(sum, number_mul(two, number_mul(number_mul(u, v), m->uv)));
    return number_add(sum, number_mul(number_mul(v, v), m->vv));
}

static void face_add(const cut_face *f, const cut_moments *m, int weight, face_sums *sums) {
    number w = number_of((double)weight);
    number3 first = number3_scale(first_moment(f, m), w);
    sums->volume = number_add(sums->volume, number_mul(f->normal.x[0], first.x[0]));
    for (int k = 0; k < 3; ++k) {
        number second = number_mul(w, second_moment(f, m, k));
        sums->moment.x[k] = number_add(sums->moment.x[k], number_mul(f->normal.x[k], second));
    }
    number length = number_sqrt(number3_dot(f->normal, f->normal), SCALE_BITS);
    sums->area = number_add(sums->area, number_mul(w, number_mul(length, m->one)));
    sums->vector = number3_add(sums->vector, number3_scale(f->normal, number_mul(w, m->one)));
    sums->turn = number3_add(sums->turn, number3_cross(first, f->normal));
}

static number divided(number a, double by) {
    return number_div(a, number_of(by), SCALE_BITS);
}

/* ---- a model --------------------------------------------------------------------------------- */

void model_get_measure(const scale_model *model, model_measure *measure) {
    face_sums sums = {{0}, {{{0}, {0}, {0}}}, {0}, {{{0}, {0}, {0}}}, {{{0}, {0}, {0}}}};
    number3 reference = number3_of(model->point[0]);
    const cut_moments whole = {number_of(12.0), number_of(4.0), number_of(4.0),
                               number_of(2.0),  number_of(1.0), number_of(2.0)};
    for (uint32_t f = 0; f < model->faces; ++f) {
        cut_face face = face_of(model, f, reference);
        face_add(&face, &whole, 1, &sums);
    }
    measure->volume = divided(sums.volume, 24.0);
    measure->area = divided(sums.area, 24.0);
    measure->centroid = reference;
    if (measure->volume.sign == 0) return;
    number bottom = number_mul(sums.volume, number_of(2.0));
    for (int k = 0; k < 3; ++k)
        measure->centroid.x[k] =
            number_add(reference.x[k], number_div(sums.moment.x[k], bottom, SCALE_BITS));
}

/* ---- two models ------------------------------------------------------------------------------ */

/* All faces of one inside the pieces of the other: sums for both shifts. */
static bool sum_faces(const scale_model *model, const scale_model *other, int sign,
                      number3 reference, face_sums sums[2]) {
    exact_piece pieces[MODEL_MOST_PIECES];
    bool jumps = false;
    get_pieces(other, reference, pieces);
    for (uint32_t f = 0; f < model->faces; ++f) {
        cut_face face = face_of(model, f, reference);
        if (number3_is_zero(face.normal)) continue;
        for (uint32_t i = 0; i < other->pieces; ++i) {
            cut_polygon polygon;
            cut_moments m;
            if (boxes_apart(&face, &pieces[i])) continue;
            bool mattered = face_cut(&face, &pieces[i], sign, &polygon);
            if (polygon.count > 0) {
                polygon_measure(&polygon, &m);
                face_add(&face, &m, pieces[i].weight, &sums[0]);
            }
            if (mattered) {
                jumps = true;
                (void)face_cut(&face, &pieces[i], -sign, &polygon);
                if (polygon.count > 0) polygon_measure(&polygon, &m);
            }
            if (polygon.count > 0) face_add(&face, &m, pieces[i].weight, &sums[1]);
        }
    }
    return jumps;
}

static number smallest_edge(const scale_model *model) {
    number3 low = number3_of(model->point[0]), high = low;
    for (uint32_t i = 1; i < model->points; ++i) {
        number3 p = number3_of(model->point[i]);
        for (int k = 0; k < 3; ++k) {
            if (number_compare(p.x[k], low.x[k]) < 0) low.x[k] = p.x[k];
            if (number_compare(p.x[k], high.x[k]) > 0) high.x[k] = p.x[k];
        }
    }
    number3 size = number3_sub(high, low);
    return number_add(size.x[0], number_add(size.x[1], size.x[2]));
}

void scale_get_overlap(const scale_model *a, const scale_model *b, number3 about,
                       scale_overlap *overlap) {
    face_sums from_a[2], from_b[2];
    memset(from_a, 0, sizeof(from_a));
    memset(from_b, 0, sizeof(from_b));
    /* A corner of the smaller, so that nothing large is subtracted. */
    bool a_smaller = number_compare(smallest_edge(a), smallest_edge(b)) < 0;
    number3 reference = number3_of(a_smaller ? a->point[0] : b->point[0]);
    /* With b moved by +d a face of b is inside a plane of a where n d < 0, one of a inside a plane
     * of b where n d > 0. */
    bool jumps_b = sum_faces(b, a, 1, reference, from_b);
    bool jumps_a = sum_faces(a, b, -1, reference, from_a);
    overlap->jumps = jumps_a || jumps_b;
    overlap->volume = divided(number_add(from_a[0].volume, from_b[0].volume), 24.0);
    for (int k = 0; k < 3; ++k) {
        number moment = number_add(from_a[0].moment.x[k], from_b[0].moment.x[k]);
        overlap->moment.x[k] =
            number_add(divided(moment, 48.0), number_mul(reference.x[k], overlap->volume));
    }
    number3 arm = number3_sub(reference, about);
    for (int s = 0; s < 2; ++s) {
        number3 turn = number3_add(from_b[s].turn, number3_cross(arm, from_b[s].vector));
        overlap->area[s] = divided(number_add(from_a[s].area, from_b[s].area), 24.0);
        for (int k = 0; k < 3; ++k) {
            overlap->force[s].x[k] = number_negate(divided(from_b[s].vector.x[k], 24.0));
            overlap->torque[s].x[k] = number_negate(divided(turn.x[k], 24.0));
        }
    }
}
