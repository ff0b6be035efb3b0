/* SPDX-License-Identifier: MIT */
/* Inner sphere trees as printed (Weller, Zachmann 2009, sections III-B and IV): the reference that
 * our trees are measured beside. No lanes, no bounds, no hints, no faces: one pair of spheres at a
 * time.
 *
 * What the paper leaves open: the traversal is depth first; of the pairs of children the nearest is
 * first; where one side is an inner sphere, the other is opened. Neural gas has at most 100 steps
 * per node, and begins at spheres chosen at random. Neighbours of a sphere are those that are
 * nearer to it than its radius. */
#include "bench/ist2009.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/paths.h"

#define GAS_STEPS 100u
#define GAS_STOP  1e-5 /* of the box: prototypes that move less have converged, as printed */
#define GAS_SEED  2009u

/* ---- Clusters -------------------------------------------------------------------------------- */

typedef struct builder {
    ist_tree *tree;
    ist_split split;
    const carom_packing_sphere *spheres;
    uint32_t *order;      /* the spheres, those of a node together */
    uint32_t *neighbours; /* of each sphere */
    uint8_t *child;       /* of each place of the order */
    uint32_t *moved;      /* scratch for as many */
    carom_ball *balls;    /* scratch */
    carom_random random;
} builder;

static double square_of(carom_vec3 a, carom_vec3 b) {
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

static void count_neighbours(builder *b, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &b->spheres[i];
        for (uint32_t k = 0; k < count; ++k) {
            double reach = 2.0 * s->radius + b->spheres[k].radius;
            b->neighbours[i] +=
                k != i && square_of(s->centre, b->spheres[k].centre) < reach * reach;
        }
    }
}

/* How a heuristic values a sphere. */
static double value_of(const builder *b, uint32_t sphere) {
    return b->split == IST_BIGGEST ? b->spheres[sphere].radius : (double)b->neighbours[sphere];
}

/* The spheres of the largest values, the lowest first where these are equal. */
static void choose_largest(const builder *b, const uint32_t *order, uint32_t count,
                           carom_vec3 w[IST_ARITY]) {
    uint32_t best[IST_ARITY], found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = found < IST_ARITY ? found++ : IST_ARITY;
        while (at > 0 && value_of(b, order[i]) > value_of(b, best[at - 1])) {
            if (at < IST_ARITY) best[at] = best[at - 1];
            --at;
        }
        if (at < IST_ARITY) best[at] = order[i];
    }
    for (uint32_t k = 0; k < IST_ARITY; ++k) w[k] = b->spheres[best[k]].centre;
}

/* Ranks by (1), prototypes moved by (3). Returns the longest way that one has moved. */
static double step_gas(const builder *b, const uint32_t *order, uint32_t count, double lambda,
                       carom_vec3 w[IST_ARITY]) {
    double sums[IST_ARITY][4] = {{0.0}}, h[IST_ARITY], longest = 0.0;
    for (uint32_t k = 0; k < IST_ARITY; ++k) h[k] = exp(-(double)k / lambda);
    for (uint32_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &b->spheres[order[i]];
        double d[IST_ARITY], volume = s->radius * s->radius * s->radius;
        for (uint32_t k = 0; k < IST_ARITY; ++k) d[k] = square_of(s->centre, w[k]);
        for (uint32_t k = 0; k < IST_ARITY; ++k) {
            uint32_t rank = 0;
            for (uint32_t j = 0; j < IST_ARITY; ++j) rank += d[j] < d[k];
            double weight = h[rank] * volume;
            sums[k][0] += weight * s->centre.x;
            sums[k][1] += weight * s->centre.y;
            sums[k][2] += weight * s->centre.z;
            sums[k][3] += weight;
        }
    }
    for (uint32_t k = 0; k < IST_ARITY; ++k) {
        if (!(sums[k][3] > 0.0)) continue;
        carom_vec3 to = {sums[k][0] / sums[k][3], sums[k][1] / sums[k][3], sums[k][2] / sums[k][3]};
        longest = fmax(longest, sqrt(square_of(to, w[k])));
        w[k] = to;
    }
    return longest;
}

static void train_gas(builder *b, const uint32_t *order, uint32_t count, double size,
                      carom_vec3 w[IST_ARITY]) {
    double first = 0.5 * IST_ARITY;
    for (uint32_t k = 0; k < IST_ARITY; ++k)
        w[k] = b->spheres[order[carom_random_next(&b->random) % count]].centre;
    for (uint32_t t = 0; t < GAS_STEPS; ++t) {
        double lambda = first * pow(0.01 / first, (double)t / GAS_STEPS);
        if (step_gas(b, order, count, lambda, w) < GAS_STOP * size) break;
    }
}

/* Sorts a range of the order by the nearest prototype; fills the ends of the parts. Equal parts
 * where all spheres are nearest to one. */
static void part(builder *b, uint32_t begin, uint32_t end, const carom_vec3 w[IST_ARITY],
                 uint32_t ends[IST_ARITY]) {
    uint32_t counts[IST_ARITY] = {0}, at = begin;
    for (uint32_t i = begin; i < end; ++i) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < IST_ARITY; ++k)
            if (square_of(b->spheres[b->order[i]].centre, w[k]) <
                square_of(b->spheres[b->order[i]].centre, w[best]))
                best = k;
        b->child[i] = (uint8_t)best;
        ++counts[best];
    }
    for (uint32_t k = 0; k < IST_ARITY; ++k)
        if (counts[k] == end - begin)
            for (uint32_t i = begin; i < end; ++i)
                b->child[i] = (uint8_t)((uint64_t)IST_ARITY * (i - begin) / (end - begin));
    for (uint32_t k = 0; k < IST_ARITY; ++k) {
        for (uint32_t i = begin; i < end; ++i)
            if (b->child[i] == k) b->moved[at++] = b->order[i];
        ends[k] = at;
    }
    memcpy(b->order + begin, b->moved + begin, (end - begin) * sizeof(*b->order));
}

/* ---- The hierarchy --------------------------------------------------------------------------- */

/* Builds the node of a range; it is wrapped: its ball is around its inner spheres. */
static uint32_t build_node(builder *b, uint32_t begin, uint32_t end) {
    uint32_t index = b->tree->count++, count = end - begin, ends[IST_ARITY];
    ist_node node = {.child_count = 0};
    carom_vec3 w[IST_ARITY];
    for (uint32_t i = begin; i < end; ++i)
        b->balls[i] = (carom_ball){b->spheres[b->order[i]].centre, b->spheres[b->order[i]].radius};
    node.ball = count == 1 ? b->balls[begin] : carom_ball_of_balls_value(b->balls + begin, count);
    if (count > 1 && count <= IST_ARITY) {
        for (uint32_t i = begin; i < end; ++i)
            node.children[node.child_count++] = build_node(b, i, i + 1);
    } else if (count > 1) {
        if (b->split == IST_NEURAL_GAS)
            train_gas(b, b->order + begin, count, 2.0 * node.ball.radius, w);
        else
            choose_largest(b, b->order + begin, count, w);
        part(b, begin, end, w, ends);
        for (uint32_t k = 0, from = begin; k < IST_ARITY; from = ends[k++]) {
            for (uint32_t i = from; i < ends[k] && index == 0; ++i)
                b->tree->cluster[b->order[i]] = (uint8_t)k;
            if (ends[k] > from) node.children[node.child_count++] = build_node(b, from, ends[k]);
        }
    }
    b->tree->nodes[index] = node;
    return index;
}

bool ist_build(const carom_packing_spheres *spheres, ist_split split, ist_tree *tree) {
    uint32_t count = (uint32_t)spheres->count;
    builder b = {.tree = tree, .split = split, .spheres = spheres->data, .random = {GAS_SEED}};
    *tree = (ist_tree){.nodes = malloc(2 * (size_t)count * sizeof(*tree->nodes)),
                       .cluster = calloc(count, 1)};
    b.order = malloc(count * sizeof(*b.order));
    b.neighbours = calloc(count, sizeof(*b.neighbours));
    b.child = malloc(count);
    b.moved = malloc(count * sizeof(*b.moved));
    b.balls = malloc(count * sizeof(*b.balls));
    bool good = count > 0 && tree->nodes != NULL && tree->cluster != NULL && b.order != NULL &&
                b.neighbours != NULL && b.child != NULL && b.moved != NULL && b.balls != NULL;
    for (uint32_t i = 0; i < count && good; ++i) b.order[i] = i;
    if (good && split == IST_NEIGHBOURS) count_neighbours(&b, count);
    if (good)
        (void)build_node(&b, 0, count); /* every node but the leaves has two children or more */
    free(b.order);
    free(b.neighbours);
    free(b.child);
    free(b.moved);
    free(b.balls);
    return good;
}

void ist_free(ist_tree *tree) {
    free(tree->nodes);
    free(tree->cluster);
    *tree = (ist_tree){.nodes = NULL};
}

/* ---- Queries --------------------------------------------------------------------------------- */

typedef struct pair {
    uint32_t a, b;
    double gap; /* between the two; negative: they overlap */
} pair;

typedef struct search {
    const ist_tree *a, *b;
    carom_vec3 axes[3], origin; /* of b */
    pair *stack;
    uint32_t count, capacity;
    uint64_t visits;
} search;

static carom_ball posed_ball(const search *s, uint32_t b) {
    const carom_ball *ball = &s->b->nodes[b].ball;
    const carom_vec3 *e = s->axes, c = ball->centre;
    return (carom_ball){{e[0].x * c.x + e[1].x * c.y + e[2].x * c.z + s->origin.x,
                         e[0].y * c.x + e[1].y * c.y + e[2].y * c.z + s->origin.y,
                         e[0].z * c.x + e[1].z * c.y + e[2].z * c.z + s->origin.z},
                        ball->radius};
}

static double gap_of(const search *s, uint32_t a, uint32_t b) {
    const carom_ball *x = &s->a->nodes[a].ball, y = posed_ball(s, b);
    return sqrt(square_of(x->centre, y.centre)) - (x->radius + y.radius);
}

static void search_open(search *s, const ist_tree *a, const ist_tree *b, const carom_pose *pose_b) {
    static const carom_vec3 units[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    *s = (search){.a = a, .b = b};
    s->origin = scene_pose_apply(pose_b, (carom_vec3){0.0, 0.0, 0.0});
    for (int k = 0; k < 3; ++k) {
        carom_vec3 end = scene_pose_apply(pose_b, units[k]);
        s->axes[k] = (carom_vec3){end.x - s->origin.x, end.y - s->origin.y, end.z - s->origin.z};
    }
}

static bool push(search *s, pair p) {
    if (s->count == s->capacity) {
        uint32_t capacity = 2 * s->capacity + 256;
        pair *stack = realloc(s->stack, capacity * sizeof(*stack));
        if (stack == NULL) return false;
        s->stack = stack;
        s->capacity = capacity;
    }
    s->stack[s->count++] = p;
    return true;
}

/* Pushes the pairs of children with a gap below `limit`, the nearest last. */
static bool open_pair(search *s, const pair *p, double limit) {
    const ist_node *x = &s->a->nodes[p->a], *y = &s->b->nodes[p->b];
    const uint32_t *of_a = x->child_count != 0 ? x->children : &p->a;
    const uint32_t *of_b = y->child_count != 0 ? y->children : &p->b;
    uint32_t count_a = x->child_count != 0 ? x->child_count : 1;
    uint32_t count_b = y->child_count != 0 ? y->child_count : 1, first = s->count;
    for (uint32_t i = 0; i < count_a; ++i)
        for (uint32_t k = 0; k < count_b; ++k) {
            pair next = {of_a[i], of_b[k], gap_of(s, of_a[i], of_b[k])};
            ++s->visits;
            if (!(next.gap < limit)) continue;
            if (!push(s, next)) return false;
            for (uint32_t at = s->count - 1; at > first && s->stack[at].gap > s->stack[at - 1].gap;
                 --at) {
                pair other = s->stack[at];
                s->stack[at] = s->stack[at - 1];
                s->stack[at - 1] = other;
            }
        }
    return true;
}

/* Takes pairs from the stack until it is empty. From the first overlap on, and where `volumes`
 * from the beginning, only what overlaps is of interest; before it, what is nearer than the nearest
 * inner spheres so far. */
static bool run(search *s, bool volumes, ist_result *r) {
    r->volume = 0.0;
    r->distance = INFINITY;
    while (s->count > 0) {
        pair p = s->stack[--s->count];
        double limit = volumes ? 0.0 : r->distance;
        if (!(p.gap < limit)) continue;
        if (s->a->nodes[p.a].child_count + s->b->nodes[p.b].child_count != 0) {
            if (!open_pair(s, &p, limit)) return false;
            continue;
        }
        if (p.gap < 0.0) {
            carom_ball b = posed_ball(s, p.b);
            r->volume += carom_ball_lens_value(&s->a->nodes[p.a].ball, &b).volume;
            volumes = true;
        }
        if (!volumes) r->distance = p.gap;
    }
    if (r->volume > 0.0) r->distance = 0.0;
    return true;
}

static bool push_roots(search *s) {
    ++s->visits;
    return push(s, (pair){0, 0, gap_of(s, 0, 0)});
}

bool ist_query_unified(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b,
                       ist_result *result) {
    search s;
    search_open(&s, a, b, pose_b);
    bool good = push_roots(&s) && run(&s, false, result);
    result->visits = s.visits;
    free(s.stack);
    return good;
}

bool ist_query_twice(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b,
                     ist_result *result) {
    search s;
    search_open(&s, a, b, pose_b);
    bool good = push_roots(&s) && run(&s, true, result);
    if (good && !(result->volume > 0.0)) good = push_roots(&s) && run(&s, false, result);
    result->visits = s.visits;
    free(s.stack);
    return good;
}
