/* SPDX-License-Identifier: MIT */
/* Inner sphere trees as printed (Weller, Zachmann 2009, sections III-B and IV): the reference that
 * our trees are measured beside. No lanes, no bounds, no hints, no faces: one pair of spheres at a
 * time.
 *
 * What the paper leaves open: the traversal is depth first; of the pairs of children the nearest is
 * first; where one side is an inner sphere, the other is opened. Neural gas has at most 100 steps
 * per node, and begins at spheres chosen at random. Neighbours of a sphere are those that are
 * nearer to it than its radius. The volume of an object in a ball is that of the secondary spheres
 * whose centres are in it, as these have the object's volume together. */
#include "bench/ist2009.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/paths.h"

#define GAS_STEPS 100u
#define GAS_STOP  1e-5 /* of the box: prototypes that move less have converged, as printed */
#define GAS_SEED  2009u

/* Of clusters whose volume is lowered: changes per node at most, and the spheres of a cluster that
 * are tried, those that reach farthest. */
#define CHANGES_MOST 64u
#define TRIED_MOST   6u

#define QUARTER_TURN 1.57079632679489661923

/* ---- Clusters -------------------------------------------------------------------------------- */

typedef struct builder {
    ist_tree *tree;
    ist_split split;
    const carom_packing_sphere *spheres;
    uint32_t count;       /* of them */
    uint32_t *order;      /* the spheres, those of a node together */
    uint32_t *neighbours; /* of each sphere */
    uint8_t *child;       /* of each slot of the order */
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

/* Sorts a range of the order by `child`; fills the ends of the parts. */
static void sort_by_child(builder *b, uint32_t begin, uint32_t end, uint32_t ends[IST_ARITY]) {
    uint32_t at = begin;
    for (uint32_t k = 0; k < IST_ARITY; ++k) {
        for (uint32_t i = begin; i < end; ++i)
            if (b->child[i] == k) b->moved[at++] = b->order[i];
        ends[k] = at;
    }
    memcpy(b->order + begin, b->moved + begin, (end - begin) * sizeof(*b->order));
}

/* Sorts a range of the order by the nearest prototype; fills the ends of the parts. Equal parts
 * where all spheres are nearest to one. */
static void part(builder *b, uint32_t begin, uint32_t end, const carom_vec3 w[IST_ARITY],
                 uint32_t ends[IST_ARITY]) {
    uint32_t counts[IST_ARITY] = {0};
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
    sort_by_child(b, begin, end, ends);
}

/* ---- Clusters of less volume ----------------------------------------------------------------- */

#define BALL_VOLUME (8.0 / 3.0 * QUARTER_TURN) /* of radius 1 */

/* The ball around the spheres of a range that are in cluster k, as `child` says, but for the one at
 * index `without` and with that at `with`. */
static carom_ball ball_of_cluster(builder *b, uint32_t begin, uint32_t end, uint32_t k,
                                  uint32_t without, uint32_t with) {
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; ++i) {
        if ((b->child[i] != k || i == without) && i != with) continue;
        const carom_packing_sphere *s = &b->spheres[b->order[i]];
        b->balls[begin + count++] = (carom_ball){s->centre, s->radius};
    }
    return count == 0   ? (carom_ball){{0.0, 0.0, 0.0}, 0.0}
           : count == 1 ? b->balls[begin]
                        : carom_ball_of_balls_value(b->balls + begin, count);
}

/* The volume of a ball, or of its part outside of the object. */
static double cost_of(const builder *b, const carom_ball *ball) {
    double square = ball->radius * ball->radius, volume = BALL_VOLUME * square * ball->radius;
    if (b->split == IST_LEAST_VOLUME) return volume;
    for (uint32_t i = 0; i < b->count; ++i) {
        const carom_packing_sphere *s = &b->spheres[i];
        if (square_of(s->centre, ball->centre) < square)
            volume -= BALL_VOLUME * s->secondary * s->secondary * s->secondary;
    }
    return fmax(volume, 0.0);
}

typedef struct change {
    uint32_t index, to;
    double gain;
    carom_ball from_ball, to_ball;
} change;

/* The best change of a sphere of cluster k that reaches to the border of its ball. */
static void try_changes(builder *b, uint32_t begin, uint32_t end, uint32_t k,
                        const carom_ball balls[IST_ARITY], const double costs[IST_ARITY],
                        change *best) {
    uint32_t tried[TRIED_MOST], count = 0, members = 0;
    double reach[TRIED_MOST];
    for (uint32_t i = begin; i < end; ++i) {
        const carom_packing_sphere *s = &b->spheres[b->order[i]];
        if (b->child[i] != k) continue;
        ++members;
        double far = sqrt(square_of(s->centre, balls[k].centre)) + s->radius;
        uint32_t at = count < TRIED_MOST ? count++ : TRIED_MOST;
        while (at > 0 && far > reach[at - 1]) {
            if (at < TRIED_MOST) tried[at] = tried[at - 1], reach[at] = reach[at - 1];
            --at;
        }
        if (at < TRIED_MOST) tried[at] = i, reach[at] = far;
    }
    for (uint32_t i = 0; i < count && members > 1; ++i) { /* no cluster becomes empty */
        carom_ball less = ball_of_cluster(b, begin, end, k, tried[i], end);
        double gain = costs[k] - cost_of(b, &less);
        for (uint32_t to = 0; to < IST_ARITY && gain > best->gain; ++to) {
            if (to == k) continue;
            carom_ball more = ball_of_cluster(b, begin, end, to, end, tried[i]);
            double all = gain + costs[to] - cost_of(b, &more);
            if (all > best->gain) *best = (change){tried[i], to, all, less, more};
        }
    }
}

/* Changes clusters of a range, one sphere at a time, as long as that lowers their cost; then sorts
 * the range by them, as `part` does. */
static void lower_volume(builder *b, uint32_t begin, uint32_t end, uint32_t ends[IST_ARITY]) {
    carom_ball balls[IST_ARITY];
    double costs[IST_ARITY];
    for (uint32_t k = 0, from = begin; k < IST_ARITY; from = ends[k++])
        for (uint32_t i = from; i < ends[k]; ++i) b->child[i] = (uint8_t)k;
    for (uint32_t k = 0; k < IST_ARITY; ++k) {
        balls[k] = ball_of_cluster(b, begin, end, k, end, end);
        costs[k] = cost_of(b, &balls[k]);
    }
    for (uint32_t n = 0; n < CHANGES_MOST; ++n) {
        change best = {.gain = 1e-9 * (costs[0] + costs[1] + costs[2] + costs[3])};
        double least = best.gain;
        for (uint32_t k = 0; k < IST_ARITY; ++k) try_changes(b, begin, end, k, balls, costs, &best);
        if (!(best.gain > least)) break;
        uint32_t from = b->child[best.index];
        b->child[best.index] = (uint8_t)best.to;
        balls[from] = best.from_ball;
        balls[best.to] = best.to_ball;
        costs[from] = cost_of(b, &balls[from]);
        costs[best.to] = cost_of(b, &balls[best.to]);
    }
    sort_by_child(b, begin, end, ends);
}

/* ---- The hierarchy --------------------------------------------------------------------------- */

/* Builds the node of a range; it is wrapped: its ball is around its inner spheres. */
static uint32_t build_node(builder *b, uint32_t begin, uint32_t end) {
    uint32_t index = b->tree->count++, count = end - begin, ends[IST_ARITY];
    ist_node node = {.child_count = 0, .sphere = b->order[begin]};
    carom_vec3 w[IST_ARITY];
    for (uint32_t i = begin; i < end; ++i)
        b->balls[i] = (carom_ball){b->spheres[b->order[i]].centre, b->spheres[b->order[i]].radius};
    node.ball = count == 1 ? b->balls[begin] : carom_ball_of_balls_value(b->balls + begin, count);
    if (count > 1 && count <= IST_ARITY) {
        for (uint32_t i = begin; i < end; ++i)
            node.children[node.child_count++] = build_node(b, i, i + 1);
    } else if (count > 1) {
        if (b->split == IST_BIGGEST || b->split == IST_NEIGHBOURS)
            choose_largest(b, b->order + begin, count, w);
        else
            train_gas(b, b->order + begin, count, 2.0 * node.ball.radius, w);
        part(b, begin, end, w, ends);
        if (b->split >= IST_PRINTED_SPLITS) lower_volume(b, begin, end, ends);
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
    builder b = {.tree = tree,
                 .split = split,
                 .spheres = spheres->data,
                 .count = count,
                 .random = {GAS_SEED}};
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
    int sign;   /* of ist_query_force: 1 or -1 where a cone has decided for all pairs below */
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
            pair next = {of_a[i], of_b[k], gap_of(s, of_a[i], of_b[k]), p->sign};
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
    return push(s, (pair){0, 0, gap_of(s, 0, 0), 0});
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

/* ---- Directions of forces -------------------------------------------------------------------- */

static double dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double angle_between(carom_vec3 a, carom_vec3 b) {
    double c = dot(a, b) / sqrt(dot(a, a) * dot(b, b));
    return acos(fmax(-1.0, fmin(1.0, c)));
}

/* From the last node to the first, as children come after their parents. */
void ist_set_normals(ist_tree *tree, const carom_vec3 *normals) {
    for (uint32_t i = tree->count; i-- > 0;) {
        ist_node *n = &tree->nodes[i];
        carom_ball balls[IST_ARITY];
        carom_vec3 sum = {0.0, 0.0, 0.0};
        n->angle = 0.0;
        n->axis = n->child_count == 0 ? normals[n->sphere] : sum;
        n->centres = (carom_ball){n->ball.centre, 0.0};
        if (n->child_count == 0) continue;
        for (uint32_t k = 0; k < n->child_count; ++k) {
            const ist_node *child = &tree->nodes[n->children[k]];
            balls[k] = child->centres;
            sum.x += child->axis.x;
            sum.y += child->axis.y;
            sum.z += child->axis.z;
        }
        n->centres = carom_ball_of_balls_value(balls, n->child_count);
        n->axis = sum;
        for (uint32_t k = 0; k < n->child_count; ++k) {
            const ist_node *child = &tree->nodes[n->children[k]];
            bool both = dot(sum, sum) > 0.0 && dot(child->axis, child->axis) > 0.0;
            double to = both ? angle_between(sum, child->axis) + child->angle : 2.0 * QUARTER_TURN;
            n->angle = fmax(n->angle, fmin(to, 2.0 * QUARTER_TURN));
        }
    }
}

static carom_vec3 turned(const search *s, carom_vec3 v) {
    const carom_vec3 *e = s->axes;
    return (carom_vec3){e[0].x * v.x + e[1].x * v.y + e[2].x * v.z,
                        e[0].y * v.x + e[1].y * v.y + e[2].y * v.z,
                        e[0].z * v.x + e[1].z * v.y + e[2].z * v.z};
}

/* The vector from a's centre to b's, where `all` of those between the spheres below two nodes. */
static carom_vec3 apart_of(const search *s, const ist_node *x, const ist_node *y, bool all) {
    carom_vec3 from = all ? x->centres.centre : x->ball.centre;
    carom_vec3 to = turned(s, all ? y->centres.centre : y->ball.centre);
    return (carom_vec3){to.x + s->origin.x - from.x, to.y + s->origin.y - from.y,
                        to.z + s->origin.z - from.z};
}

/* 1 where all vectors from spheres of a to those of b point out of a and into b, by the cones of
 * their normals; -1 where all point the other way; 0: not known. */
static int sign_of_cones(const search *s, const pair *p) {
    const ist_node *x = &s->a->nodes[p->a], *y = &s->b->nodes[p->b];
    carom_vec3 apart = apart_of(s, x, y, true), axis_b = turned(s, y->axis);
    double far = sqrt(dot(apart, apart)), reach = x->centres.radius + y->centres.radius;
    if (!(far > reach) || !(dot(x->axis, x->axis) > 0.0) || !(dot(axis_b, axis_b) > 0.0)) return 0;
    double wide = asin(reach / far), a = angle_between(apart, x->axis);
    double b = angle_between(apart, axis_b);
    double wide_a = wide + x->angle, wide_b = wide + y->angle;
    if (a + wide_a <= QUARTER_TURN && b - wide_b >= QUARTER_TURN) return 1;
    return a - wide_a >= QUARTER_TURN && b + wide_b <= QUARTER_TURN ? -1 : 0;
}

static void add_force(const search *s, const pair *p, ist_flip flip, ist_force *f) {
    const ist_node *x = &s->a->nodes[p->a], *y = &s->b->nodes[p->b];
    carom_ball b = posed_ball(s, p->b);
    carom_vec3 apart = apart_of(s, x, y, false), of_b = turned(s, y->axis);
    double volume = carom_ball_lens_value(&x->ball, &b).volume;
    int sign = flip == IST_FLIP_NONE ? 1 : p->sign;
    ++f->pairs;
    f->by_cones += flip == IST_FLIP_CONES && sign != 0;
    if (sign == 0) sign = dot(apart, x->axis) - dot(apart, of_b) < 0.0 ? -1 : 1;
    f->flipped += sign < 0;
    volume *= sign;
    f->direction.x += volume * apart.x;
    f->direction.y += volume * apart.y;
    f->direction.z += volume * apart.z;
}

bool ist_query_force(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b, ist_flip flip,
                     ist_force *force) {
    search s;
    *force = (ist_force){.pairs = 0};
    search_open(&s, a, b, pose_b);
    bool good = push_roots(&s);
    while (s.count > 0 && good) {
        pair p = s.stack[--s.count];
        if (!(p.gap < 0.0)) continue;
        bool leaves = a->nodes[p.a].child_count + b->nodes[p.b].child_count == 0;
        if (leaves) {
            add_force(&s, &p, flip, force);
            continue;
        }
        if (flip == IST_FLIP_CONES && p.sign == 0) p.sign = sign_of_cones(&s, &p);
        good = open_pair(&s, &p, 0.0);
    }
    free(s.stack);
    return good;
}
