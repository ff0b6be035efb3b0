/* SPDX-License-Identifier: MIT */
/* Each shape has a binary tree of boxes in its own frame, split at the median of the longest side.
 * Two trees are compared by the separating axes of two boxes (Gottschalk, Lin, Manocha 1996):
 * an axis of length at most 1 on which the boxes are apart by more than the reach proves that
 * they are. */
#include "tests/support/robot_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

typedef long double real;
#define PI_L 3.14159265358979323846264338327950288L

#define SEARCH_SLACK                                                                               \
    1e-9 /* metres, for lengths of up to 1e3: 1e3 2^-53 times some 1e3 operations */
#define SEARCH_LEAST 1e-100 /* of the square of a direction: no square of a gap underflows */
#define SEARCH_LEAF  2      /* triangles */
#define SEARCH_DEPTH 128 /* of the stack: one more node per level and tree, and these are halved */

typedef struct search_node {
    double centre[3], half[3];
    uint32_t first, count; /* triangles of a leaf; count 0: nodes `first` and `first + 1` */
} search_node;

typedef struct search_shape {
    robot_oracle_shape faces;
    double (*corners)[3][3]; /* of the faces, to leave pairs out */
    search_node *nodes;
    uint32_t node_count;
    real (*points)[3]; /* one of each connected component */
    uint64_t point_count;
    int sign; /* of winding numbers inside */
} search_shape;

typedef struct search_body {
    search_shape *shapes;
    uint64_t count;
    double centre[3], radius; /* a ball that contains it, in its own frame */
} search_body;

struct robot_search {
    const carom_robot_def *def;
    search_body *links, *objects;
    uint32_t object_count;
    uint8_t *allowed, *object_allowed; /* links^2; links times objects */
    const carom_robot_joint **above;   /* of each link */
    uint32_t *order, *columns;         /* links, parents first; numbers of joints */
    robot_oracle_frame *frames;
    double (*centres)[3]; /* of the balls, where the links are */
};

/* ---- Trees ----------------------------------------------------------------------------------- */

typedef struct search_key {
    double at;
    uint32_t triangle;
} search_key;

static int compare_keys(const void *a, const void *b) {
    const search_key *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->triangle < y->triangle ? -1 : 1;
}

/* The box of triangles, with their radii. */
static void set_box(const robot_oracle_shape *s, const search_key *keys, uint32_t count,
                    search_node *node) {
    for (int k = 0; k < 3; ++k) {
        real low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < count; ++i)
            for (int c = 0; c < 3; ++c) {
                uint32_t t = keys[i].triangle;
                low = fminl(low, s->triangles[t][c][k] - s->radii[t]);
                high = fmaxl(high, s->triangles[t][c][k] + s->radii[t]);
            }
        node->centre[k] = (double)((low + high) / 2);
        node->half[k] = (double)((high - low) / 2);
    }
}

/* Sorts the triangles of the node and splits them; leaves are in the order of *done. */
static void split(search_shape *s, uint32_t at, search_key *keys, uint32_t count, uint32_t *order,
                  uint32_t *done) {
    search_node *n = &s->nodes[at];
    set_box(&s->faces, keys, count, n);
    if (count <= SEARCH_LEAF) {
        n->first = *done;
        n->count = count;
        for (uint32_t i = 0; i < count; ++i) order[(*done)++] = keys[i].triangle;
        return;
    }
    int axis = n->half[0] > n->half[1] ? 0 : 1;
    if (n->half[2] > n->half[axis]) axis = 2;
    for (uint32_t i = 0; i < count; ++i) {
        const real(*t)[3] = (const real(*)[3])s->faces.triangles[keys[i].triangle];
        keys[i].at = (double)(t[0][axis] + t[1][axis] + t[2][axis]);
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    uint32_t left = s->node_count;
    n->first = left;
    n->count = 0;
    s->node_count += 2;
    split(s, left, keys, count / 2, order, done);
    split(s, left + 1, keys + count / 2, count - count / 2, order, done);
}

static void build_tree(search_shape *s) {
    uint32_t count = (uint32_t)s->faces.count, done = 0;
    if (count == 0) return;
    search_key *keys = calloc(count, sizeof(*keys));
    uint32_t *order = calloc(count, sizeof(*order));
    robot_oracle_shape sorted = s->faces;
    s->nodes = calloc(2 * (size_t)count, sizeof(*s->nodes));
    sorted.triangles = calloc(count + 1, sizeof(*sorted.triangles));
    sorted.radii = calloc(count + 1, sizeof(*sorted.radii));
    for (uint32_t i = 0; i < count; ++i) keys[i].triangle = i;
    s->node_count = 1;
    split(s, 0, keys, count, order, &done);
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(sorted.triangles[i], s->faces.triangles[order[i]], sizeof(sorted.triangles[i]));
        sorted.radii[i] = s->faces.radii[order[i]];
    }
    robot_oracle_shape_free(&s->faces);
    s->faces = sorted;
    s->corners = calloc(count, sizeof(*s->corners));
    for (uint32_t i = 0; i < 9 * count; ++i)
        s->corners[i / 9][i / 3 % 3][i % 3] = (double)sorted.triangles[i / 9][i / 3 % 3][i % 3];
    free(keys);
    free(order);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Whether each edge is passed as often in one direction as in the other. */
static bool is_balanced(const carom_mesh_view *m) {
    uint64_t count = 3 * m->face_count, kept = 0;
    uint64_t *edges = calloc(2 * count + 1, sizeof(*edges)), *back = edges + count;
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t a = m->corners[i], b = m->corners[i % 3 == 2 ? i - 2 : i + 1];
        if (a == b) continue;
        edges[kept] = a << 32 | b;
        back[kept++] = b << 32 | a;
    }
    qsort(edges, kept, sizeof(*edges), compare_edges);
    qsort(back, kept, sizeof(*back), compare_edges);
    bool same = kept != 0 && memcmp(edges, back, kept * sizeof(*edges)) == 0;
    free(edges);
    return same;
}

static uint32_t root_of(uint32_t *parents, uint32_t v) {
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
}

/* A corner of each connected component of a mesh. */
static void list_components(const carom_mesh_view *m, search_shape *s) {
    uint32_t *parents = calloc(m->vertex_count + 1, sizeof(*parents));
    uint8_t *seen = calloc(m->vertex_count + 1, 1);
    for (uint32_t v = 0; v < m->vertex_count; ++v) parents[v] = v;
    for (uint64_t i = 0; i < 3 * m->face_count; ++i)
        parents[root_of(parents, m->corners[i])] = root_of(parents, m->corners[i - i % 3]);
    s->points = calloc(m->face_count + 1, sizeof(*s->points));
    for (uint64_t i = 0; i < m->face_count; ++i) {
        uint32_t root = root_of(parents, m->corners[3 * i]);
        if (seen[root]) continue;
        seen[root] = 1;
        memcpy(s->points[s->point_count++], s->faces.triangles[i][0], sizeof(*s->points));
    }
    free(parents);
    free(seen);
}

static int sign_of_volume(const robot_oracle_shape *s) {
    real sum = 0;
    for (uint64_t i = 0; i < s->count; ++i) {
        const real *a = s->triangles[i][0], *b = s->triangles[i][1], *c = s->triangles[i][2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

static void make_shape(const carom_robot_shape *from, search_shape *s) {
    memset(s, 0, sizeof(*s));
    robot_oracle_shape_make(from, NULL, &s->faces);
    s->sign = 1;
    if (from->kind == CAROM_ROBOT_SHAPE_KIND_MESH) {
        s->sign = sign_of_volume(&s->faces);
        s->faces.closed = s->sign != 0 && is_balanced(from->mesh);
        list_components(from->mesh, s);
    } else {
        s->point_count = from->kind == CAROM_ROBOT_SHAPE_KIND_BALLS ? s->faces.count : 1;
        s->points = calloc(s->point_count + 1, sizeof(*s->points));
        for (uint64_t i = 0; i < s->point_count; ++i)
            memcpy(s->points[i], s->faces.triangles[i][0], sizeof(*s->points));
    }
    build_tree(s);
}

/* The ball about the box of all shapes. */
static void make_body(const carom_robot_shape *from, uint64_t count, search_body *body) {
    *body = (search_body){.shapes = calloc(count + 1, sizeof(*body->shapes)), .count = count};
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (uint64_t i = 0; i < count; ++i) {
        search_shape *s = &body->shapes[i];
        make_shape(&from[i], s);
        for (int k = 0; k < 3 && s->node_count != 0; ++k) {
            low[k] = fmin(low[k], s->nodes[0].centre[k] - s->nodes[0].half[k]);
            high[k] = fmax(high[k], s->nodes[0].centre[k] + s->nodes[0].half[k]);
        }
    }
    double squares = 0.0;
    for (int k = 0; k < 3 && low[0] <= high[0]; ++k) {
        body->centre[k] = 0.5 * (low[k] + high[k]);
        squares += 0.25 * (high[k] - low[k]) * (high[k] - low[k]);
    }
    body->radius = low[0] <= high[0] ? sqrt(squares) : -HUGE_VAL;
}

static void free_body(search_body *body) {
    for (uint64_t i = 0; i < body->count; ++i) {
        robot_oracle_shape_free(&body->shapes[i].faces);
        free(body->shapes[i].corners);
        free(body->shapes[i].nodes);
        free(body->shapes[i].points);
    }
    free(body->shapes);
}

/* ---- Robot ----------------------------------------------------------------------------------- */

robot_search *robot_search_create(const carom_robot_def *def) {
    uint32_t n = def->link_count, column = 0, ordered = 0;
    robot_search *s = calloc(1, sizeof(*s));
    *s = (robot_search){.def = def,
                        .links = calloc(n + 1, sizeof(*s->links)),
                        .allowed = robot_oracle_allowed(def),
                        .above = calloc(n + 1, sizeof(*s->above)),
                        .order = calloc(n + 1, sizeof(*s->order)),
                        .columns = calloc(def->joint_count + 1, sizeof(*s->columns)),
                        .frames = calloc(n + 1, sizeof(*s->frames)),
                        .centres = calloc(n + 1, sizeof(*s->centres))};
    for (uint32_t i = 0; i < n; ++i)
        make_body(def->links[i].shapes, def->links[i].shape_count, &s->links[i]);
    for (uint32_t i = 0; i < def->joint_count; ++i) {
        const carom_robot_joint *j = &def->joints[i];
        s->above[j->child] = j;
        if (j->kind != CAROM_ROBOT_JOINT_KIND_FIXED && !j->mimics) s->columns[i] = column++;
    }
    uint8_t *is_ordered = calloc(n + 1, 1);
    while (ordered < n)
        for (uint32_t i = 0; i < n; ++i)
            if (!is_ordered[i] && (s->above[i] == NULL || is_ordered[s->above[i]->parent])) {
                is_ordered[i] = 1;
                s->order[ordered++] = i;
            }
    free(is_ordered);
    return s;
}

void robot_search_set_objects(robot_search *s, const carom_robot_shape *objects, uint32_t count) {
    for (uint32_t i = 0; i < s->object_count; ++i) free_body(&s->objects[i]);
    free(s->objects);
    s->objects = calloc(count + 1, sizeof(*s->objects));
    s->object_count = count;
    for (uint32_t i = 0; i < count; ++i) make_body(&objects[i], 1, &s->objects[i]);
    free(s->object_allowed);
    s->object_allowed = calloc((size_t)s->def->link_count * count + 1, 1);
}

void robot_search_allow_object(robot_search *s, uint32_t link, uint32_t object) {
    s->object_allowed[(size_t)link * s->object_count + object] = 1;
}

void robot_search_destroy(robot_search *s) {
    robot_search_set_objects(s, NULL, 0);
    for (uint32_t i = 0; i < s->def->link_count; ++i) free_body(&s->links[i]);
    free(s->objects);
    free(s->links);
    free(s->allowed);
    free(s->object_allowed);
    free(s->above);
    free(s->order);
    free(s->columns);
    free(s->frames);
    free(s->centres);
    free(s);
}

static double value_of(const robot_search *s, const double *q, const carom_robot_joint *j) {
    const carom_robot_joint *joints = s->def->joints;
    if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED) return 0.0;
    if (j->mimics) return value_of(s, q, &joints[j->mimic]) * j->multiplier + j->offset;
    return q[s->columns[j - joints]];
}

void robot_search_move(robot_search *s, const double *q) {
    static const robot_oracle_frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (uint32_t i = 0; i < s->def->link_count; ++i) {
        uint32_t link = s->order[i];
        const carom_robot_joint *j = s->above[link];
        s->frames[link] =
            j == NULL ? identity : robot_oracle_move(&s->frames[j->parent], j, value_of(s, q, j));
        const double *c = s->links[link].centre;
        const real from[3] = {c[0], c[1], c[2]};
        real to[3];
        robot_oracle_apply(&s->frames[link], from, to);
        for (int k = 0; k < 3; ++k) s->centres[link][k] = (double)to[k];
    }
}

double robot_search_extent(const robot_search *s) {
    double most = 0.0;
    for (uint32_t i = 0; i < s->def->link_count; ++i) {
        const double *c = s->centres[i];
        if (s->links[i].count == 0) continue;
        most = fmax(most, sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + s->links[i].radius);
    }
    return most;
}

/* ---- Two trees ------------------------------------------------------------------------------- */

/* Where b is, seen from a; in long doubles for faces, in doubles for boxes. */
typedef struct search_view {
    robot_oracle_frame frame;
    double r[9], t[3], sizes[9]; /* sizes: of the elements of r */
} search_view;

static search_view view_of(const robot_oracle_frame *a, const robot_oracle_frame *b) {
    search_view v;
    for (int i = 0; i < 3; ++i) {
        real t = 0;
        for (int k = 0; k < 3; ++k) {
            real sum = 0;
            for (int m = 0; m < 3; ++m) sum += a->r[3 * m + i] * b->r[3 * m + k];
            v.frame.r[3 * i + k] = sum;
            v.r[3 * i + k] = (double)sum;
            v.sizes[3 * i + k] = fabs((double)sum);
            t += a->r[3 * k + i] * (b->t[k] - a->t[k]);
        }
        v.frame.t[i] = t;
        v.t[i] = (double)t;
    }
    return v;
}

/* Whether a separating axis shows that boxes are farther apart than the reach. */
static bool are_apart(const search_node *a, const search_node *b, const search_view *v,
                      double reach) {
    const double *r = v->r, *f = v->sizes, *ha = a->half, *hb = b->half;
    double t[3];
    for (int i = 0; i < 3; ++i) {
        t[i] = r[3 * i] * b->centre[0] + r[3 * i + 1] * b->centre[1] + r[3 * i + 2] * b->centre[2] +
               v->t[i] - a->centre[i];
        if (fabs(t[i]) - ha[i] - f[3 * i] * hb[0] - f[3 * i + 1] * hb[1] - f[3 * i + 2] * hb[2] >
            reach)
            return true;
    }
    for (int k = 0; k < 3; ++k)
        if (fabs(t[0] * r[k] + t[1] * r[3 + k] + t[2] * r[6 + k]) - hb[k] - f[k] * ha[0] -
                f[3 + k] * ha[1] - f[6 + k] * ha[2] >
            reach)
            return true;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            double gap = fabs(t[i2] * r[3 * i1 + k] - t[i1] * r[3 * i2 + k]);
            gap -= ha[i1] * f[3 * i2 + k] + ha[i2] * f[3 * i1 + k];
            gap -= hb[k1] * f[3 * i + k2] + hb[k2] * f[3 * i + k1];
            if (gap > reach) return true;
        }
    return false;
}

/* Whether the two are farther apart than the reach along a direction, which need not be of length
 * 1. */
static inline bool part(const double (*s)[3], const double (*t)[3], const double *d, double reach) {
    double p[3], q[3], squares = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int c = 0; c < 3; ++c) {
        p[c] = d[0] * s[c][0] + d[1] * s[c][1] + d[2] * s[c][2];
        q[c] = d[0] * t[c][0] + d[1] * t[c][1] + d[2] * t[c][2];
    }
    double low_p = p[0] < p[1] ? p[0] : p[1], high_p = p[0] < p[1] ? p[1] : p[0];
    double low_q = q[0] < q[1] ? q[0] : q[1], high_q = q[0] < q[1] ? q[1] : q[0];
    low_p = low_p < p[2] ? low_p : p[2];
    high_p = high_p > p[2] ? high_p : p[2];
    low_q = low_q < q[2] ? low_q : q[2];
    high_q = high_q > q[2] ? high_q : q[2];
    double gap = low_q > high_p ? low_q - high_p : low_p - high_q;
    return gap > 0.0 && squares > SEARCH_LEAST && gap * gap > reach * reach * squares;
}

static inline void search_cross(const double *u, const double *v, double *to) {
    to[0] = u[1] * v[2] - u[2] * v[1];
    to[1] = u[2] * v[0] - u[0] * v[2];
    to[2] = u[0] * v[1] - u[1] * v[0];
}

/* Whether a direction shows that two triangles are farther apart than the reach: between their
 * first corners, across either, or across an edge of each. Doubles round far less than
 * SEARCH_SLACK, which the reach contains, and whatever the direction is, a gap along it is a
 * proof. */
static bool triangles_apart(const double (*s)[3], const double (*t)[3], double reach) {
    double own[3][3], other[3][3], e[3][3], f[3][3], d[3];
    for (int c = 0; c < 3; ++c)
        for (int k = 0; k < 3; ++k) { /* from a corner, so that numbers are small */
            own[c][k] = s[c][k] - s[0][k];
            other[c][k] = t[c][k] - s[0][k];
            e[c][k] = s[(c + 1) % 3][k] - s[c][k];
            f[c][k] = t[(c + 1) % 3][k] - t[c][k];
        }
    const double(*a)[3] = (const double(*)[3])own, (*b)[3] = (const double(*)[3])other;
    if (part(a, b, other[0], reach)) return true;
    search_cross(e[0], e[1], d);
    if (part(a, b, d, reach)) return true;
    search_cross(f[0], f[1], d);
    if (part(a, b, d, reach)) return true;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            search_cross(e[i], f[k], d);
            if (part(a, b, d, reach)) return true;
        }
    return false;
}

/* The triangles that no direction shows to be apart, in long doubles. */
static bool leaves_within(const search_shape *a, const search_node *na, const search_shape *b,
                          const search_node *nb, const search_view *v, real reach) {
    for (uint32_t k = nb->first; k < nb->first + nb->count; ++k) {
        double moved[3][3];
        for (int c = 0; c < 3; ++c) {
            const double *p = b->corners[k][c];
            for (int i = 0; i < 3; ++i)
                moved[c][i] =
                    v->r[3 * i] * p[0] + v->r[3 * i + 1] * p[1] + v->r[3 * i + 2] * p[2] + v->t[i];
        }
        for (uint32_t i = na->first; i < na->first + na->count; ++i) {
            real radii = a->faces.radii[i] + b->faces.radii[k], t[3][3];
            if (triangles_apart((const double(*)[3])a->corners[i], (const double(*)[3])moved,
                                (double)(reach + radii) + SEARCH_SLACK))
                continue;
            for (int c = 0; c < 3; ++c)
                robot_oracle_apply(&v->frame, b->faces.triangles[k][c], t[c]);
            if (robot_oracle_triangles(a->faces.triangles[i], t) - radii <= reach) return true;
        }
    }
    return false;
}

static bool faces_within(const search_shape *a, const search_shape *b, const search_view *v,
                         real reach) {
    uint32_t stack[SEARCH_DEPTH][2];
    int depth = 0;
    if (a->node_count == 0 || b->node_count == 0) return false;
    stack[depth][0] = stack[depth][1] = 0;
    ++depth;
    while (depth > 0) {
        --depth;
        uint32_t x = stack[depth][0], y = stack[depth][1];
        const search_node *na = &a->nodes[x], *nb = &b->nodes[y];
        if (are_apart(na, nb, v, (double)reach + SEARCH_SLACK)) continue;
        if (na->count != 0 && nb->count != 0) {
            if (leaves_within(a, na, b, nb, v, reach)) return true;
            continue;
        }
        bool first =
            nb->count != 0 || (na->count == 0 && na->half[0] + na->half[1] + na->half[2] >
                                                     nb->half[0] + nb->half[1] + nb->half[2]);
        assert_true(depth + 2 <= SEARCH_DEPTH);
        for (uint32_t i = 0; i < 2; ++i, ++depth) {
            stack[depth][0] = first ? na->first + i : x;
            stack[depth][1] = first ? y : nb->first + i;
        }
    }
    return false;
}

/* ---- Inside ---------------------------------------------------------------------------------- */

/* The winding number about a point by the triangles that a ray along an axis crosses: from inside
 * out is 1, from outside in is -1. False where it passes too near to an edge. */
static bool count_crossings(const search_shape *s, const real *p, int axis, int *winding) {
    const int ax = axis, ay = (axis + 1) % 3, az = (axis + 2) % 3;
    uint32_t stack[SEARCH_DEPTH];
    int depth = 0;
    *winding = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const search_node *n = &s->nodes[stack[--depth]];
        if (fabs((double)p[ay] - n->centre[ay]) > n->half[ay] + SEARCH_SLACK ||
            fabs((double)p[az] - n->centre[az]) > n->half[az] + SEARCH_SLACK ||
            (double)p[ax] - n->centre[ax] > n->half[ax] + SEARCH_SLACK)
            continue;
        if (n->count == 0) {
            assert_true(depth + 2 <= SEARCH_DEPTH);
            stack[depth++] = n->first;
            stack[depth++] = n->first + 1;
            continue;
        }
        for (uint32_t i = n->first; i < n->first + n->count; ++i) {
            real(*t)[3] = s->faces.triangles[i], w[3], sum = 0, x = 0, size = 0;
            for (int c = 0; c < 3; ++c) {
                const real *u = t[(c + 1) % 3], *v = t[(c + 2) % 3];
                w[c] = (u[ay] - p[ay]) * (v[az] - p[az]) - (u[az] - p[az]) * (v[ay] - p[ay]);
                sum += w[c];
                x += w[c] * (t[c][ax] - p[ax]);
                size = fmaxl(size, fabsl(u[ay] - p[ay]) + fabsl(u[az] - p[az]));
            }
            if ((w[0] > 0 || w[1] > 0 || w[2] > 0) && (w[0] < 0 || w[1] < 0 || w[2] < 0)) {
                real least = fminl(fabsl(w[0]), fminl(fabsl(w[1]), fabsl(w[2])));
                if (least > 1e-15L * size * size) continue; /* beside it for certain */
            }
            for (int c = 0; c < 3; ++c)
                if (fabsl(w[c]) <= 1e-15L * size * size) return false;
            if (x / sum > 0) *winding += sum > 0 ? 1 : -1;
        }
    }
    return true;
}

/* Solid angles of all faces decide where all three rays pass too near to edges. */
static bool is_inside(const search_shape *s, const real *p) {
    int winding;
    if (s->node_count == 0) return false;
    for (int k = 0; k < 3; ++k)
        if (fabs((double)p[k] - s->nodes[0].centre[k]) > s->nodes[0].half[k] + SEARCH_SLACK)
            return false;
    for (int axis = 0; axis < 3; ++axis)
        if (count_crossings(s, p, axis, &winding)) return s->sign * winding >= 1;
    return s->sign * robot_oracle_angle(&s->faces, p) > 2 * PI_L;
}

/* Whether a point of b is inside of a. */
static bool encloses(const search_shape *a, const search_shape *b, const search_view *v) {
    for (uint64_t i = 0; i < b->point_count && a->faces.closed; ++i) {
        real p[3];
        robot_oracle_apply(&v->frame, b->points[i], p);
        if (is_inside(a, p)) return true;
    }
    return false;
}

static bool bodies_within(const search_body *a, const robot_oracle_frame *fa, const search_body *b,
                          const robot_oracle_frame *fb, real reach) {
    search_view v = view_of(fa, fb), back = view_of(fb, fa);
    for (uint64_t i = 0; i < a->count; ++i)
        for (uint64_t k = 0; k < b->count; ++k) {
            const search_shape *s = &a->shapes[i], *t = &b->shapes[k];
            if (s->node_count == 0 || t->node_count == 0 ||
                are_apart(&s->nodes[0], &t->nodes[0], &v, (double)reach + SEARCH_SLACK))
                continue;
            if (faces_within(s, t, &v, reach) || encloses(s, t, &v) || encloses(t, s, &back))
                return true;
        }
    return false;
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool robot_search_pair_within(const robot_search *s, const robot_search_pair *pair, real reach) {
    static const robot_oracle_frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    bool is_object = pair->with_object;
    const search_body *a = &s->links[pair->a];
    const search_body *b = is_object ? &s->objects[pair->b] : &s->links[pair->b];
    const double *x = s->centres[pair->a], *y = is_object ? b->centre : s->centres[pair->b];
    double far = a->radius + b->radius + (double)reach + SEARCH_SLACK, squares = 0.0;
    for (int k = 0; k < 3; ++k) squares += (x[k] - y[k]) * (x[k] - y[k]);
    if (reach < 0 || !(far > 0.0) || squares > far * far * (1.0 + 1e-12)) return false;
    return bodies_within(a, &s->frames[pair->a], b, is_object ? &identity : &s->frames[pair->b],
                         reach);
}

bool robot_search_any_within(const robot_search *s, real reach, robot_search_pair *pair) {
    uint32_t n = s->def->link_count;
    for (uint32_t a = 0; a < n; ++a) {
        if (s->links[a].count == 0) continue;
        for (uint32_t b = a + 1; b < n; ++b) {
            *pair = (robot_search_pair){a, b, false};
            if (!s->allowed[(size_t)a * n + b] && robot_search_pair_within(s, pair, reach))
                return true;
        }
        for (uint32_t b = 0; b < s->object_count; ++b) {
            *pair = (robot_search_pair){a, b, true};
            if (!s->object_allowed[(size_t)a * s->object_count + b] &&
                robot_search_pair_within(s, pair, reach))
                return true;
        }
    }
    return false;
}
